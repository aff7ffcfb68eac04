//! What one model's answer for one sentence says of how much it would teach.

use crate::annotation::Acquisition;

/// The best candidates of a plausible first word that count for the entropy: its mentions are among these, and dozens of
/// hopeless ones would drown them.
const BEST_OF_A_HEAD: usize = 3;

/// A model's probabilities for one sentence.
#[derive(Clone, Debug)]
pub struct SentenceProbabilities<'a> {
    /// How many words the sentence has.
    pub words: usize,
    /// Probability of each word to be the first of an entity; `None` where the architecture predicts none.
    pub first_words: Option<&'a [f32]>,
    /// First word of each candidate span and the probabilities of its classes, "none" first. Those of one first word
    /// lie together.
    pub candidates: Vec<(usize, &'a [f32])>,
}

/// The acquisition scores of an answer, but for what needs more than one model.
///
/// With p the first words' probabilities and q those of the candidates' classes:
/// - least confidence `−1/W (Σᵢ ln max(pᵢ, 1 − pᵢ) + Σ_c ln max_k q_ck)`,
/// - entropy: mean of `−Σ_k q_ck ln q_ck` over the three candidates of each first word that are least likely "none",
/// - entropy of first words `1/W Σᵢ H(pᵢ)`,
/// - mentions `Σ_c (1 − q_c,none)`.
pub fn acquisition(answer: &SentenceProbabilities<'_>) -> Acquisition {
    let mut sums = AcquisitionSums::default();
    sums.add(answer);
    sums.finish()
}

/// The same for an answer that comes in parts, one after the other: what it gives does not depend on where they end.
#[derive(Clone, Debug)]
pub struct AcquisitionSums {
    words: usize,
    sure_of_first_words: f32,
    sure_of_candidates: f32,
    entropy: f32,
    best_candidates: usize,
    head_entropy: f32,
    mentions: f32,
}

impl Default for AcquisitionSums {
    fn default() -> Self {
        // What a sum of nothing is, down to its sign.
        let nothing: f32 = std::iter::empty::<f32>().sum();
        Self {
            words: 0,
            sure_of_first_words: nothing,
            sure_of_candidates: nothing,
            entropy: 0.0,
            best_candidates: 0,
            head_entropy: nothing,
            mentions: nothing,
        }
    }
}

impl AcquisitionSums {
    /// Adds a part; the candidates of one first word are all in one part.
    pub fn add(&mut self, part: &SentenceProbabilities<'_>) {
        let first_words = part.first_words.unwrap_or_default();
        let sure = |p: f32| -nats(p.max(1.0 - p));
        let best = |q: &[f32]| -nats(q.iter().copied().fold(0.0, f32::max));
        self.words += part.words;
        first_words.iter().for_each(|p| self.sure_of_first_words += sure(*p));
        part.candidates.iter().for_each(|(_, q)| self.sure_of_candidates += best(q));
        first_words.iter().for_each(|p| self.head_entropy += entropy(&[*p, 1.0 - p]));
        part.candidates.iter().for_each(|(_, q)| self.mentions += of_a_label(q));
        for of_a_head in part.candidates.chunk_by(|a, b| a.0 == b.0) {
            let mut ranked: Vec<&[f32]> = of_a_head.iter().map(|(_, q)| *q).collect();
            ranked.sort_by(|a, b| of_a_label(b).total_cmp(&of_a_label(a)));
            for q in ranked.into_iter().take(BEST_OF_A_HEAD) {
                self.entropy += entropy(q);
                self.best_candidates += 1;
            }
        }
    }

    pub fn finish(self) -> Acquisition {
        let words = self.words.max(1) as f32;
        Acquisition {
            least_confidence: (self.sure_of_first_words + self.sure_of_candidates) / words,
            entropy: self.entropy / self.best_candidates.max(1) as f32,
            head_entropy: self.head_entropy / words,
            mentions: self.mentions,
            disagreement: None,
            direction: Vec::new(),
        }
    }
}

/// What the answers of several models for the same sentence disagree on, in nats a word: for each decision the entropy of
/// the mean answer less the mean entropy of the answers (BALD). All have the same candidates.
pub fn disagreement(answers: &[SentenceProbabilities<'_>]) -> f32 {
    let words = answers.first().map_or(0, |answer| answer.words);
    disagreement_sum(answers) / words.max(1) as f32
}

/// The same in nats, which can be added for the parts of a sentence.
pub fn disagreement_sum(answers: &[SentenceProbabilities<'_>]) -> f32 {
    let Some(first) = answers.first() else { return 0.0 };
    let first_words = (0..first.words).map(|word| {
        let of = |answer: &SentenceProbabilities<'_>| {
            answer.first_words.and_then(|first_words| first_words.get(word)).map(|p| [*p, 1.0 - p])
        };
        mutual_information(answers.iter().filter_map(of))
    });
    let candidates = (0..first.candidates.len()).map(|candidate| {
        mutual_information(answers.iter().filter_map(|answer| answer.candidates.get(candidate)).map(|(_, q)| *q))
    });
    first_words.chain(candidates).sum()
}

/// Of a decision and the model that makes it.
fn mutual_information<D: AsRef<[f32]>>(distributions: impl Iterator<Item = D>) -> f32 {
    let (mut mean, mut entropies, mut count) = (Vec::new(), 0.0, 0.0);
    for distribution in distributions {
        let distribution = distribution.as_ref();
        mean.resize(distribution.len(), 0.0);
        mean.iter_mut().zip(distribution).for_each(|(sum, p)| *sum += p);
        entropies += entropy(distribution);
        count += 1.0;
    }
    if count == 0.0 {
        return 0.0;
    }
    mean.iter_mut().for_each(|p| *p /= count);
    (entropy(&mean) - entropies / count).max(0.0)
}

/// Probability that a candidate is an entity.
fn of_a_label(q: &[f32]) -> f32 {
    1.0 - q.first().copied().unwrap_or(1.0)
}

/// Natural logarithm of a probability; of 0 as of the smallest one that counts.
fn nats(p: f32) -> f32 {
    p.max(1e-6).ln()
}

fn entropy(distribution: &[f32]) -> f32 {
    -distribution.iter().map(|p| p * nats(*p)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::LN_2;

    const SURE: [f32; 3] = [0.0, 1.0, 0.0];
    const TORN: [f32; 3] = [0.5, 0.5, 0.0];

    fn about(got: f32, want: f32) {
        assert!((got - want).abs() < 1e-4, "{got} instead of {want}");
    }

    #[test]
    fn scores_by_hand() {
        let unlikely = [0.99, 0.01, 0.0];
        let first_words = [0.9, 0.5];
        let candidates = vec![(0, &SURE[..]), (0, &unlikely[..]), (1, &TORN[..])];
        let scores = acquisition(&SentenceProbabilities { words: 2, first_words: Some(&first_words), candidates });
        // -ln 0.9 = 0.10536, ln 2 = 0.69315, -ln 0.99 = 0.01005; H(0.9) = 0.32508, H(0.01) = 0.05600.
        about(scores.least_confidence, (0.105_36 + LN_2 + 0.010_05 + LN_2) / 2.0);
        about(scores.head_entropy, f32::midpoint(0.325_08, LN_2));
        about(scores.entropy, (0.0 + 0.056 + LN_2) / 3.0);
        about(scores.mentions, 1.0 + 0.01 + 0.5);
    }

    #[test]
    fn parts_give_what_the_whole_gives_bit_for_bit() {
        let mut rng = crate::nn::Rng::new(1, "answers");
        let mut distribution = || {
            let p = [rng.unit(), rng.unit(), rng.unit() + 0.1];
            p.map(|x| x / p.iter().sum::<f32>())
        };
        let table: Vec<[f32; 3]> = (0..200).map(|_| distribution()).collect();
        let first_words: Vec<f32> = table[..50].iter().map(|q| q[1]).collect();
        // Four candidates of each first word.
        let candidates = |words: std::ops::Range<usize>| {
            words
                .clone()
                .flat_map(|word| (0..4).map(move |i| (word, 4 * word + i)))
                .map(|(word, i)| (word - words.start, &table[i][..]))
                .collect()
        };
        let answer = |words: std::ops::Range<usize>| SentenceProbabilities {
            words: words.len(),
            first_words: Some(&first_words[words.clone()]),
            candidates: candidates(words),
        };
        let whole = acquisition(&answer(0..50));
        let mut sums = AcquisitionSums::default();
        for part in [0..7, 7..8, 8..8, 8..50] {
            sums.add(&answer(part));
        }
        assert_eq!(format!("{:?}", sums.finish()), format!("{whole:?}"));
    }

    #[test]
    fn of_a_head_the_three_best_candidates_count() {
        let none = [1.0, 0.0, 0.0];
        let mut candidates = vec![(4, &none[..]); 20];
        candidates.extend([(4, &TORN[..]); 3]);
        about(acquisition(&SentenceProbabilities { words: 9, first_words: None, candidates }).entropy, LN_2);
    }

    #[test]
    fn what_has_no_candidates_teaches_little() {
        let first_words = [0.0, 0.0];
        let nothing = SentenceProbabilities { words: 2, first_words: Some(&first_words), candidates: Vec::new() };
        assert_eq!(acquisition(&nothing), Acquisition::default());
        assert_eq!(disagreement(&[]), 0.0);
    }

    #[test]
    fn models_that_agree_in_doubt_don_t_disagree() {
        let answer = |first_words, q| SentenceProbabilities {
            words: 1,
            first_words: Some(first_words),
            candidates: vec![(0, q)],
        };
        let (yes, no, maybe) = ([1.0_f32], [0.0_f32], [0.5_f32]);
        about(disagreement(&[answer(&maybe, &TORN), answer(&maybe, &TORN)]), 0.0);
        about(disagreement(&[answer(&yes, &SURE), answer(&no, &SURE)]), LN_2);
    }
}
