//! What came of it: scores of every run, and what they say together.

use super::record::ComparedRun;
use super::request::Variant;
use crate::annotation::{LabelId, SentenceId, Span};
use crate::evaluation::{Counts, F1Difference, Judged, Lengths, Nesting};
use crate::session::Part;
use crate::train::Example;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All runs with the gold that they are scored on.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    part: Part,
    scored: Arc<[(SentenceId, Example)]>,
    runs: Vec<Arc<Scored>>,
}

#[derive(Clone, PartialEq, Debug)]
struct Scored {
    run: ComparedRun,
    predicted: Vec<Vec<(Span, LabelId)>>,
    /// Strict, of each sentence.
    counts: Vec<Counts>,
}

/// Mean and sample standard deviation of some figures; `None` for a mean of none, and a deviation of one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    pub mean: Option<f64>,
    pub deviation: Option<f64>,
}

impl Spread {
    fn of(figures: &[f64]) -> Self {
        let count = figures.len() as f64;
        let mean = (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / count);
        let deviation = mean
            .filter(|_| figures.len() > 1)
            .map(|mean| (figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt());
        Self { mean, deviation }
    }
}

impl Comparison {
    pub(super) fn new(part: Part, scored: Arc<[(SentenceId, Example)]>, runs: Vec<ComparedRun>) -> Self {
        let mut comparison = Self { part, scored, runs: Vec::with_capacity(runs.len()) };
        runs.into_iter().for_each(|run| comparison.add(run));
        comparison
    }

    /// Scores one more run.
    pub(super) fn add(&mut self, run: ComparedRun) {
        let predicted = run.predicted();
        let counts = self.scored.iter().zip(&predicted).map(|((_, example), said)| example.strict(said)).collect();
        self.runs.push(Arc::new(Scored { run, predicted, counts }));
    }

    /// What the models were scored on.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The sentences that were scored.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = SentenceId> {
        self.scored.iter().map(|(id, _)| *id)
    }

    /// In the order in which they were made.
    pub fn runs(&self) -> impl Iterator<Item = &ComparedRun> {
        self.runs.iter().map(|scored| &scored.run)
    }

    /// In the order in which they were named.
    pub fn variants(&self) -> Vec<&Variant> {
        let mut variants: Vec<&Variant> = Vec::new();
        for run in self.runs() {
            if !variants.contains(&&run.variant) {
                variants.push(&run.variant);
            }
        }
        variants
    }

    fn of<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = &'a Scored> {
        self.runs.iter().map(Arc::as_ref).filter(move |scored| scored.run.variant == *variant)
    }

    /// Strict counts over all labels, of each run of a variant by its seed.
    pub fn micro(&self, variant: &Variant) -> Vec<(u64, Counts)> {
        self.of(variant).map(|scored| (scored.run.seed, scored.counts.iter().copied().sum())).collect()
    }

    /// Strict micro-F1 over the seeds of a variant.
    pub fn f1(&self, variant: &Variant) -> Spread {
        Spread::of(&self.micro(variant).into_iter().filter_map(|(_, counts)| counts.f1()).collect::<Vec<f64>>())
    }

    /// Seconds that so many more models of each of these variants may take, by what kept ones took: those of the variant, or
    /// all where there are none of it. `None` without any.
    pub fn expected_secs<'a>(&self, missing: impl IntoIterator<Item = (&'a Variant, usize)>) -> Option<f64> {
        let secs = |run: &ComparedRun| run.cost.train_secs + run.cost.score_secs;
        let all = Spread::of(&self.runs().map(secs).collect::<Vec<f64>>()).mean?;
        let each = |variant: &Variant| self.spread(variant, |run| Some(secs(run))).mean.unwrap_or(all);
        Some(missing.into_iter().map(|(variant, count)| count as f64 * each(variant)).sum())
    }

    /// A figure over the seeds of a variant; runs without it don't count.
    pub fn spread(&self, variant: &Variant, figure: impl Fn(&ComparedRun) -> Option<f64>) -> Spread {
        Spread::of(&self.of(variant).filter_map(|scored| figure(&scored.run)).collect::<Vec<f64>>())
    }

    /// Counts by the length of mentions, over all seeds.
    pub fn lengths(&self, variant: &Variant) -> Lengths {
        Lengths::of(self.judged(variant))
    }

    /// Counts by how mentions nest, over all seeds.
    pub fn nesting(&self, variant: &Variant) -> Nesting {
        Nesting::of(self.judged(variant))
    }

    /// Each sentence with what each model of a variant said of it.
    fn judged<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = Judged<'a>> {
        self.of(variant).flat_map(|scored| {
            let said = self.scored.iter().zip(&scored.predicted);
            said.map(|((_, example), predicted)| Judged {
                words: &example.tokens,
                gold: &example.gold,
                predicted,
                first_words: None,
                candidates: 0,
            })
        })
    }

    /// Whether the second variant is better than the first, over the seeds that both have; `None` where they have none in
    /// common.
    pub fn difference(&self, first: &Variant, second: &Variant) -> Option<F1Difference> {
        let sums = |of: &Variant, other: &Variant| -> Vec<Counts> {
            let is_shared = |scored: &&Scored| self.of(other).any(|o| o.run.seed == scored.run.seed);
            let mut sums = vec![Counts::default(); self.scored.len()];
            for scored in self.of(of).filter(is_shared) {
                sums.iter_mut().zip(&scored.counts).for_each(|(sum, counts)| *sum += *counts);
            }
            sums
        };
        F1Difference::of(&sums(first, second), &sums(second, first))
    }

    /// The sentences in which two variants differ with the same seed, in the order of the text, and what one of them found
    /// there and the other did not.
    pub fn differing(&self, first: &Variant, second: &Variant) -> Vec<Differing> {
        let with_seed = |seed: u64| self.of(second).filter(move |scored| scored.run.seed == seed);
        let pairs: Vec<(&Scored, &Scored)> =
            self.of(first).flat_map(|a| with_seed(a.run.seed).map(move |b| (a, b))).collect();
        let all = self.scored.iter().enumerate().map(|(place, (id, example))| {
            let mut alone: BTreeMap<(Span, LabelId), [usize; 2]> = BTreeMap::new();
            for (a, b) in &pairs {
                let [a, b] = [a, b].map(|scored| scored.predicted.get(place).map_or(&[][..], Vec::as_slice));
                for (of, [own, other]) in [[a, b], [b, a]].into_iter().enumerate() {
                    for mention in own.iter().filter(|mention| !other.contains(mention)) {
                        let seeds = alone.entry(*mention).or_default();
                        seeds.get_mut(of).into_iter().for_each(|seeds| *seeds += 1);
                    }
                }
            }
            let found = alone.into_iter().map(|((span, label), alone)| Disputed {
                words: example.tokens.get(span.range()).unwrap_or_default().join(" "),
                label,
                alone,
                is_gold: example.gold.contains(&(span, label)),
            });
            Differing { sentence: *id, found: found.collect(), seeds: pairs.len() }
        });
        all.filter(|differing| !differing.found.is_empty()).collect()
    }
}

/// A sentence in which two variants differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differing {
    pub sentence: SentenceId,
    /// In the order of the words.
    pub found: Vec<Disputed>,
    /// That both have.
    pub seeds: usize,
}

/// A mention that one of two variants found where the other did not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disputed {
    pub words: String,
    pub label: LabelId,
    /// With how many seeds the first alone found it, and with how many the second alone.
    pub alone: [usize; 2],
    /// It is right.
    pub is_gold: bool,
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::record::RunCost;
    use super::*;

    pub(in crate::experiments::compare) fn run(
        architecture: &str,
        seed: u64,
        predicted: &[&[(usize, usize, u32)]],
    ) -> ComparedRun {
        let cost = RunCost {
            train_sentences: 10,
            unlearnable_mentions: 1,
            epochs: 3,
            best_epoch: 2,
            parameters: 1000,
            train_secs: 10.0 * seed as f64,
            sentences_per_sec: 80.0,
            score_secs: 1.0,
            peak_memory_mb: Some(100.0),
            predict_memory_mb: None,
        };
        let predicted: Vec<_> = predicted.iter().map(|mentions| mentions_of(mentions)).collect();
        ComparedRun::new(&Variant::new(architecture), seed, cost, &predicted)
    }

    fn mentions_of(mentions: &[(usize, usize, u32)]) -> Vec<(Span, LabelId)> {
        mentions.iter().map(|&(s, e, label)| (Span::from_range(s..e).unwrap(), LabelId(label))).collect()
    }

    pub(in crate::experiments::compare) fn comparison(runs: Vec<ComparedRun>) -> Comparison {
        let example = |gold: &[(usize, usize, u32)]| Example {
            tokens: vec!["w".to_owned(); 9],
            gold: mentions_of(gold),
            ..Example::default()
        };
        let scored = vec![(SentenceId(3), example(&[(0, 2, 1), (0, 1, 1)])), (SentenceId(4), example(&[(5, 9, 1)]))];
        Comparison::new(Part::Test, scored.into(), runs)
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread::of(&[0.5, 0.6, 0.7]);
        assert!((spread.mean.unwrap() - 0.6).abs() < 1e-12 && (spread.deviation.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(Spread::of(&[0.5]), Spread { mean: Some(0.5), deviation: None });
        assert_eq!(Spread::of(&[]), Spread { mean: None, deviation: None });
    }

    #[test]
    fn runs_of_a_variant_are_scored_together() {
        let compared = comparison(vec![
            run("a", 1, &[&[(0, 2, 1), (0, 1, 1)], &[(5, 9, 1)]]),
            run("b", 1, &[&[(0, 2, 1)], &[]]),
            run("a", 2, &[&[(0, 2, 1)], &[(5, 9, 1), (5, 6, 1)]]),
        ]);
        let (a, b) = (Variant::new("a"), Variant::new("b"));
        assert_eq!(compared.variants(), [&a, &b]);
        let f1 = compared.f1(&a);
        // 3 of 3, and 2 of 3 with one made up.
        assert!((f1.mean.unwrap() - (1.0 + 4.0 / 6.0) / 2.0).abs() < 1e-12 && f1.deviation.is_some());
        assert_eq!(compared.f1(&b), Spread { mean: Some(0.5), deviation: None });
        // Two of `a` take 15 + 1 seconds each; of `c` none is there, so one takes the mean of all three runs.
        let expected = compared.expected_secs([(&a, 2), (&Variant::new("c"), 1)]).unwrap();
        assert!((expected - (32.0 + 43.0 / 3.0)).abs() < 1e-9, "{expected}");
        assert_eq!(comparison(Vec::new()).expected_secs([(&a, 2)]), None);
        assert_eq!(compared.spread(&a, |run| Some(run.cost.train_secs)).mean, Some(15.0));
        assert_eq!(compared.nesting(&a).nested.true_positives, 1, "(0, 1) lies in (0, 2)");
        assert_eq!(compared.lengths(&a).rows().map(|(_, counts)| counts.support()).sum::<usize>(), 6);
        // Seed 1 alone is shared: b finds one of three, a all.
        assert!((compared.difference(&b, &a).unwrap().difference - 0.5).abs() < 1e-12);
        assert_eq!(compared.difference(&a, &Variant::new("c")), None);
        let differing = compared.differing(&a, &b);
        let sentences: Vec<SentenceId> = differing.iter().map(|differing| differing.sentence).collect();
        assert_eq!(sentences, [SentenceId(3), SentenceId(4)]);
        let found = |words: &str| Disputed { words: words.to_owned(), label: LabelId(1), alone: [1, 0], is_gold: true };
        assert_eq!(differing[0].found, [found("w")], "seed 1 alone is shared");
        assert_eq!((&differing[1].found[..], differing[1].seeds), (&[found("w w w w")][..], 1));
        let turned = compared.differing(&b, &a);
        assert_eq!(turned[0].found[0].alone, [0, 1]);
        assert!(compared.differing(&a, &a).is_empty());
    }
}
