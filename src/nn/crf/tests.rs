//! Against all sequences of small lattices, one by one.

use super::*;
use crate::nn::{ParameterGroup, Rng, Vars};
use candle_core::Var;
use proptest::prelude::*;
use std::ops::Range;

/// BIO tags of two labels: O, B-1, I-1, B-2, I-2.
fn bio() -> AllowedTags {
    let is_inside = |tag: Tag| tag > 0 && tag.is_multiple_of(2);
    let follows = move |from: Tag, to: Tag| !is_inside(to) || from == to || from + 1 == to;
    AllowedTags::new(5, move |tag| !is_inside(tag), follows, |_| true).unwrap()
}

fn all_allowed(tags: usize) -> AllowedTags {
    AllowedTags::new(tags, |_| true, |_, _| true, |_| true).unwrap()
}

/// Forbids something at the start, between and at the stop.
fn crooked() -> AllowedTags {
    AllowedTags::new(4, |tag| tag != 2, |from, to| !matches!((from, to), (1, 1 | 3) | (2, 0)), |tag| tag != 3).unwrap()
}

/// The scores of a lattice and what is allowed in it.
#[derive(Debug)]
struct Case {
    allowed: AllowedTags,
    /// `[L, T]`
    emissions: Vec<f32>,
    /// `[T + 2, T]`
    scores: Vec<f32>,
}

impl Case {
    fn random(allowed: AllowedTags, words: usize, scale: f32, rng: &mut Rng) -> Self {
        let tags = allowed.tags();
        let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| scale * rng.normal()).collect() };
        Self { emissions: draw(words * tags), scores: draw((tags + 2) * tags), allowed }
    }

    fn words(&self) -> usize {
        self.emissions.len() / self.allowed.tags()
    }

    /// Every allowed sequence with its score, by its definition.
    fn sequences(&self) -> Vec<(Vec<Tag>, f64)> {
        let (tags, words) = (self.allowed.tags(), self.words());
        let sequence = |number: usize| (0..words).map(|word| (number / tags.pow(word as u32) % tags) as Tag).collect();
        let all = (0..tags.pow(words as u32)).map(sequence).filter(|tags: &Vec<Tag>| self.allowed.allows(tags));
        all.map(|tags| {
            let score = self.score(&tags);
            (tags, score)
        })
        .collect()
    }

    fn score(&self, sequence: &[Tag]) -> f64 {
        let tags = self.allowed.tags();
        let at = |i: usize| f64::from(self.scores[i]);
        let mut score = at(tags * tags + sequence[0] as usize);
        score += at((tags + 1) * tags + sequence[sequence.len() - 1] as usize);
        for (word, tag) in sequence.iter().enumerate() {
            score += f64::from(self.emissions[word * tags + *tag as usize]);
        }
        for pair in sequence.windows(2) {
            score += at(pair[0] as usize * tags + pair[1] as usize);
        }
        score
    }

    /// `ln` of the sum over the sequences that `has` says yes to.
    fn log_sum(&self, has: impl Fn(&[Tag]) -> bool) -> f64 {
        let sequences = self.sequences();
        let scores: Vec<f64> = sequences.iter().filter(|(tags, _)| has(tags)).map(|(_, score)| *score).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if scores.is_empty() { top } else { top + scores.iter().map(|x| (x - top).exp()).sum::<f64>().ln() }
    }

    fn probability(&self, has: impl Fn(&[Tag]) -> bool) -> f64 {
        (self.log_sum(has) - self.log_sum(|_| true)).exp()
    }

    fn with_lattice<R>(&self, f: impl FnOnce(Lattice<'_>) -> R) -> R {
        f(Lattice::new(&Transitions::new(&self.scores, &self.allowed), &self.emissions))
    }

    /// −ln of the probability of gold, and its gradients.
    fn learn(&self, gold: &[Tag], weight: f64) -> (f64, Vec<f32>, Vec<f64>) {
        let (mut emissions, mut scores) = (vec![0.0; self.emissions.len()], vec![0.0; self.scores.len()]);
        let loss = self.with_lattice(|lattice| lattice.learn(gold, weight, &mut emissions, &mut scores));
        (loss, emissions, scores)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    // With the widest, exponentials are beyond every number.
    let scales = prop::sample::select(vec![0.0f32, 1.0, 30.0, 3000.0, 1e6]);
    (0usize..4, 1usize..6, scales, 0u64..10_000).prop_map(|(kind, words, scale, seed)| {
        let allowed = match kind {
            0 => all_allowed(1),
            1 => all_allowed(3),
            2 => crooked(),
            _ => bio(),
        };
        Case::random(allowed, words.min(5), scale, &mut Rng::new(seed, "crf"))
    })
}

/// Up to the rounding of sums of such numbers.
fn near(got: f64, want: f64, scale: f64) -> bool {
    got == want || (got - want).abs() < 1e-11 * scale.max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn loss_and_gradients_are_those_of_all_sequences(case in cases(), pick in 0usize..1_000_000) {
        let sequences = case.sequences();
        let gold = &sequences[pick % sequences.len()].0;
        let largest = case.emissions.iter().chain(&case.scores).fold(0f32, |top, x| top.max(x.abs()));
        let (loss, d_emissions, d_scores) = case.learn(gold, 0.5);
        let expected = case.log_sum(|_| true) - case.score(gold);
        prop_assert!(near(loss, expected, f64::from(largest)), "{loss} {expected}");

        let tags = case.allowed.tags();
        let is = |yes: bool| f64::from(u8::from(yes));
        let counts = |has: &dyn Fn(&[Tag]) -> f64| {
            let log_sum = case.log_sum(|_| true);
            let of_all: f64 = sequences.iter().map(|(tags, score)| has(tags) * (score - log_sum).exp()).sum();
            0.5 * (of_all - has(gold))
        };
        let tolerance = 1e-6 * f64::from(largest).max(1.0);
        for (i, got) in d_emissions.iter().enumerate() {
            let want = counts(&|s| is(s[i / tags] as usize == i % tags));
            prop_assert!((f64::from(*got) - want).abs() < tolerance, "emission {i}: {got} {want}");
        }
        for (i, got) in d_scores.iter().enumerate() {
            let tag = (i % tags) as Tag;
            let want = match i / tags {
                row if row == tags => counts(&|s| is(s[0] == tag)),
                row if row > tags => counts(&|s| is(s[s.len() - 1] == tag)),
                row => counts(&|s| s.windows(2).filter(|pair| **pair == [row as Tag, tag]).count() as f64),
            };
            prop_assert!((got - want).abs() < tolerance, "score {i}: {got} {want}");
        }
    }

    #[test]
    fn the_best_sequence_is_the_best_of_all(case in cases()) {
        let best = case.with_lattice(|lattice| lattice.best());
        prop_assert!(case.allowed.allows(&best) && best.len() == case.words());
        let most = case.sequences().iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(near(case.score(&best), most, most.abs()), "{} {most}", case.score(&best));
    }

    #[test]
    fn marginals_of_tags_and_runs_are_sums_over_sequences(case in cases()) {
        // Rounding of logarithms shows in what they are logarithms of.
        let largest = case.emissions.iter().chain(&case.scores).fold(0f32, |top, x| top.max(x.abs()));
        let tolerance = 1e-7 + 1e-13 * f64::from(largest);
        let (tags, words) = (case.allowed.tags(), case.words());
        let runs: Vec<Run> = (1..tags as Tag).step_by(2).map(|begin| Run { begin, inside: (begin + 1) % tags as Tag }).collect();
        let goes_on = |tag: Tag| runs.iter().any(|run| run.inside == tag);
        case.with_lattice(|lattice| {
            let marginals = lattice.marginals();
            for (word, tag) in (0..words).flat_map(|word| (0..tags as Tag).map(move |tag| (word, tag))) {
                let (got, want) = (marginals.tag(word, tag), case.probability(|s| s[word] == tag));
                prop_assert!((got - want).abs() < tolerance, "{word} {tag}: {got} {want}");
            }
            let of_runs = marginals.runs(&runs);
            let is_run = |s: &[Tag], stretch: Range<usize>, run: Run| {
                s[stretch.start] == run.begin
                    && s[stretch.start + 1..stretch.end].iter().all(|tag| *tag == run.inside)
                    && s.get(stretch.end).is_none_or(|tag| !goes_on(*tag))
            };
            for (start, run) in (0..words).flat_map(|start| runs.iter().map(move |run| (start, *run))) {
                let begins = case.probability(|s| s[start] == run.begin);
                prop_assert!((of_runs.begins(start, run) - begins).abs() < tolerance);
                let stretches: Vec<f64> = of_runs.stretches(start, run).collect();
                prop_assert_eq!(stretches.len(), words - start);
                for (end, got) in (start + 1..).zip(stretches) {
                    let want = case.probability(|s| is_run(s, start..end, run));
                    prop_assert!((got - want).abs() < tolerance, "{start}..{end} {run:?}: {got} {want}");
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn gradients_are_slopes(words in 1usize..6, seed in 0u64..1000) {
        let mut rng = Rng::new(seed, "slopes");
        let mut case = Case::random(bio(), words, 2.0, &mut rng);
        let sequences = case.sequences();
        let gold = sequences[rng.below(sequences.len())].0.clone();
        let (_, d_emissions, d_scores) = case.learn(&gold, 1.0);
        // A power of two, so that the scores change by just that.
        let step = 1.0 / 128.0;
        for (i, expected) in d_emissions.iter().enumerate() {
            let mut at = |x: f32| { case.emissions[i] += x; case.learn(&gold, 1.0).0 };
            let slope = (at(step) - at(-2.0 * step)) / f64::from(2.0 * step);
            at(step);
            prop_assert!((slope - f64::from(*expected)).abs() < 1e-4, "emission {i}: {slope} {expected}");
        }
        for (i, expected) in d_scores.iter().enumerate() {
            let mut at = |x: f32| { case.scores[i] += x; case.learn(&gold, 1.0).0 };
            let slope = (at(step) - at(-2.0 * step)) / f64::from(2.0 * step);
            at(step);
            prop_assert!((slope - expected).abs() < 1e-4, "score {i}: {slope} {expected}");
        }
    }
}

/// A CRF whose variables hold these scores.
fn crf(vars: &mut Vars, case: &Case) -> Crf {
    let tags = case.allowed.tags();
    let stock = |name: &str, rows: Range<usize>, shape: &[usize]| {
        let values = case.scores[rows.start * tags..rows.end * tags].to_vec();
        (format!("crf.{name}"), Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
    };
    vars.stock([
        stock("transitions", 0..tags, &[tags, tags]),
        stock("start", tags..tags + 1, &[tags]),
        stock("stop", tags + 1..tags + 2, &[tags]),
    ]);
    Crf::new(vars.scope("crf", ParameterGroup::TaskHead), case.allowed.clone()).unwrap()
}

#[test]
fn the_loss_of_a_batch_is_the_mean_over_its_words_and_passes_gradients() {
    let mut rng = Rng::new(5, "batch");
    let cases: Vec<Case> = [3, 0, 1, 5].map(|words| Case::random(bio(), words, 1.5, &mut rng)).into();
    let scores = cases[0].scores.clone();
    let cases: Vec<Case> = cases.into_iter().map(|case| Case { scores: scores.clone(), ..case }).collect();
    let lens: Vec<usize> = cases.iter().map(Case::words).collect();
    let of_case = |case: &Case| match case.words() {
        0 => Vec::new(),
        _ => case.sequences()[7 % case.sequences().len()].0.clone(),
    };
    let gold: Vec<Vec<Tag>> = cases.iter().map(of_case).collect();
    let emissions: Vec<f32> = cases.iter().flat_map(|case| case.emissions.clone()).collect();
    let emissions = Var::from_vec(emissions, (9, 5), &Device::Cpu).unwrap();

    let mut vars = Vars::trainable(1, &Device::Cpu);
    let crf = crf(&mut vars, &cases[0]);
    let loss = crf.loss(emissions.as_tensor(), &lens, &gold.concat()).unwrap();
    let expected = cases.iter().zip(&gold).filter(|(case, _)| case.words() > 0);
    let expected: f64 = expected.map(|(case, gold)| case.log_sum(|_| true) - case.score(gold)).sum::<f64>() / 9.0;
    assert!((f64::from(loss.to_scalar::<f32>().unwrap()) - expected).abs() < 1e-6, "{loss} {expected}");

    let grads = (loss * 0.7).unwrap().backward().unwrap();
    let values = |tensor: &Tensor| grads.get(tensor).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let (mut of_emissions, mut of_scores) = (Vec::new(), vec![0.0; scores.len()]);
    for (case, gold) in cases.iter().zip(&gold) {
        let (_, emissions, scores) = case.learn(gold, 0.7 / 9.0);
        of_emissions.extend(emissions);
        of_scores.iter_mut().zip(scores).for_each(|(sum, x)| *sum += x as f32);
    }
    let got = [&crf.transitions, &crf.start, &crf.stop].map(values).concat();
    let near = |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(near(&values(emissions.as_tensor()), &of_emissions) && near(&got, &of_scores));

    // Each lattice is that of its own sentence.
    let lattices = crf.lattices(emissions.as_tensor(), &lens).unwrap();
    let paths: Vec<Vec<Tag>> = lattices.sentences().iter().map(Lattice::best).collect();
    assert_eq!(paths, cases.iter().map(|case| case.with_lattice(|lattice| lattice.best())).collect::<Vec<_>>());
}

#[test]
fn with_no_transitions_all_allowed_it_is_a_cross_entropy() {
    let mut rng = Rng::new(2, "cross-entropy");
    let emissions: Vec<f32> = (0..12).map(|_| 2.0 * rng.normal()).collect();
    let emissions = Tensor::from_vec(emissions, (4, 3), &Device::Cpu).unwrap();
    let mut vars = Vars::trainable(1, &Device::Cpu);
    let crf = Crf::new(vars.scope("crf", ParameterGroup::TaskHead), all_allowed(3)).unwrap();
    let gold = [2, 0, 1, 1];
    let losses = [crf.loss(&emissions, &[3, 1], &gold), crate::nn::cross_entropy(&emissions, &gold)];
    let [ours, theirs] = losses.map(|loss| loss.unwrap().to_scalar::<f32>().unwrap());
    assert!((ours - theirs).abs() < 1e-6, "{ours} {theirs}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let emissions = Tensor::zeros((2, 5), candle_core::DType::F32, &Device::Cpu).unwrap();
    let mut vars = Vars::trainable(1, &Device::Cpu);
    let crf = Crf::new(vars.scope("crf", ParameterGroup::TaskHead), bio()).unwrap();
    let refused = |lens: &[usize], gold: &[Tag]| crf.loss(&emissions, lens, gold).unwrap_err().to_string();
    assert!(crf.loss(&emissions, &[2], &[1, 2]).is_ok());
    assert_eq!(refused(&[2], &[1, 4]), "the tags to learn from take a forbidden transition");
    assert_eq!(refused(&[1, 1], &[1, 2]), "the tags to learn from take a forbidden transition");
    assert_eq!(refused(&[2], &[1, 5]), "the tags to learn from take a forbidden transition");
    assert!(refused(&[3], &[0, 0]).contains("does not fit") && refused(&[2], &[0]).contains("does not fit"));
    assert!(AllowedTags::new(2, |_| true, |from, to| from != to, |_| true).is_err());
}

#[test]
fn what_is_no_number_stays_none() {
    let mut case = Case::random(bio(), 4, 1.0, &mut Rng::new(1, "nan"));
    for bad in [f32::NAN, f32::INFINITY] {
        case.emissions[6] = bad;
        let (loss, ..) = case.learn(&[0, 0, 0, 0], 1.0);
        assert!(!loss.is_finite(), "{loss}");
        assert!(case.with_lattice(|lattice| lattice.marginals().tag(0, 0)).is_nan());
        assert_eq!(case.with_lattice(|lattice| lattice.best()).len(), 4);
    }
}
