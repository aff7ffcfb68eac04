//! All sequences of tags that a sentence can have, with their scores.
//!
//! The score of a sequence is the sum of its words' scores, of the transitions between them, and of its start and its stop; its
//! probability is the exponential of that, divided by the sum over all sequences. Sums are made by the forward-backward
//! algorithm in `f64`, from logarithms, so that no score that `f32` holds is too large or too small.

use super::steps::{Steps, log_sum};
use super::{AllowedTags, Tag};

/// What two tags in a row score, and one at the start and at the stop of a sentence; T tags.
#[derive(Debug)]
pub(super) struct Transitions {
    tags: usize,
    ahead: Steps,
    back: Steps,
    start: Vec<f64>,
    stop: Vec<f64>,
}

impl Transitions {
    /// From scores `[T + 2, T]`: the rows of transitions, that of the start, that of the stop.
    pub(super) fn new(scores: &[f32], allowed: &AllowedTags) -> Self {
        let tags = allowed.tags();
        let mut scores: Vec<f64> = scores.iter().zip(allowed.penalties()).map(|(x, y)| f64::from(*x) + y).collect();
        let stop = scores.split_off((tags + 1) * tags);
        let start = scores.split_off(tags * tags);
        let ahead = Steps::new(scores, tags);
        Self { tags, back: ahead.transposed(), ahead, start, stop }
    }

    pub(super) fn tags(&self) -> usize {
        self.tags
    }
}

/// The sequences of one sentence of L words.
#[derive(Clone, Copy, Debug)]
pub struct Lattice<'a> {
    transitions: &'a Transitions,
    /// `[L, T]`
    emissions: &'a [f32],
}

impl<'a> Lattice<'a> {
    pub(super) fn new(transitions: &'a Transitions, emissions: &'a [f32]) -> Self {
        Self { transitions, emissions }
    }

    /// L
    pub fn words(&self) -> usize {
        self.emissions.len() / self.transitions.tags
    }

    fn emission(&self, word: usize, tag: usize) -> f64 {
        f64::from(self.emissions[word * self.transitions.tags + tag])
    }

    fn add_emissions(&self, word: usize, scores: &mut [f64]) {
        let row = &self.emissions[word * scores.len()..][..scores.len()];
        scores.iter_mut().zip(row).for_each(|(score, x)| *score += f64::from(*x));
    }

    /// The score of a sequence of L tags; −∞ if it is forbidden.
    pub(super) fn score(&self, tags: &[Tag]) -> f64 {
        let Transitions { ahead, start, stop, .. } = self.transitions;
        let at = |tag: &Tag| *tag as usize;
        let (Some(first), Some(last)) = (tags.first(), tags.last()) else { return 0.0 };
        let words: f64 = tags.iter().enumerate().map(|(word, tag)| self.emission(word, at(tag))).sum();
        let between: f64 = tags.windows(2).map(|pair| ahead.score(at(&pair[0]), at(&pair[1]))).sum();
        words + between + start[at(first)] + stop[at(last)]
    }

    /// The most probable sequence (Viterbi); of equal ones one whose tags have low numbers.
    pub fn best(&self) -> Vec<Tag> {
        let Transitions { tags, ahead, start, stop, .. } = self.transitions;
        if self.emissions.is_empty() {
            return Vec::new();
        }
        let mut scores = start.clone();
        self.add_emissions(0, &mut scores);
        // Of each word but the first, for each tag the one before it.
        let mut before: Vec<Tag> = Vec::with_capacity(self.emissions.len());
        for word in 1..self.words() {
            let (mut best, from) = (vec![f64::NEG_INFINITY; *tags], before.len());
            before.resize(from + tags, 0);
            for (tag, (score, row)) in scores.iter().zip(ahead.rows()).enumerate() {
                for ((best, before), step) in best.iter_mut().zip(&mut before[from..]).zip(row) {
                    if score + step > *best {
                        (*best, *before) = (score + step, tag as Tag);
                    }
                }
            }
            self.add_emissions(word, &mut best);
            scores = best;
        }
        let mut last = 0;
        for (tag, score) in scores.iter().zip(stop).map(|(score, stop)| score + stop).enumerate() {
            if score > scores[last] + stop[last] {
                last = tag;
            }
        }
        let mut path = vec![last as Tag];
        for row in before.chunks_exact(*tags).rev() {
            last = row[last] as usize;
            path.push(last as Tag);
        }
        path.reverse();
        path
    }

    /// What the sequences sum to, by the forward-backward algorithm.
    pub fn marginals(self) -> Marginals<'a> {
        let Transitions { tags, ahead, back, start, stop } = self.transitions;
        let (n, words) = (self.emissions.len(), self.words());
        let (mut forward, mut backward) = (vec![0.0; n], vec![0.0; n]);
        for word in 0..words {
            let (done, rest) = forward.split_at_mut(word * tags);
            match done.len().checked_sub(*tags) {
                Some(from) => ahead.advance(&done[from..], &mut rest[..*tags]),
                None => rest[..*tags].copy_from_slice(start),
            }
            self.add_emissions(word, &mut rest[..*tags]);
        }
        let mut next = vec![0.0; *tags];
        for word in (0..words).rev() {
            let (row, done) = backward[word * tags..].split_at_mut(*tags);
            if word + 1 == words {
                row.copy_from_slice(stop);
                continue;
            }
            next.copy_from_slice(&done[..*tags]);
            self.add_emissions(word + 1, &mut next);
            back.advance(&next, row);
        }
        let last = &forward[n.saturating_sub(*tags)..];
        let log_sum = if n == 0 { 0.0 } else { log_sum(last.iter().zip(stop).map(|(x, stop)| x + stop)) };
        Marginals { lattice: self, forward, backward, log_sum }
    }

    /// −ln of the probability of the `gold` sequence. Adds `weight` times its gradients to those of the emissions, which are
    /// written, `[L, T]`, and to those of the transitions, `[T + 2, T]`: expected counts less those of gold.
    pub(super) fn learn(&self, gold: &[Tag], weight: f64, emissions: &mut [f32], transitions: &mut [f64]) -> f64 {
        let Transitions { tags, ahead, .. } = self.transitions;
        let marginals = self.marginals();
        let (between, ends) = transitions.split_at_mut(tags * tags);
        let (start, stop) = ends.split_at_mut(*tags);
        let mut probabilities = Vec::with_capacity(*tags);
        let mut next = vec![0.0; *tags];
        for (word, (tag, row)) in gold.iter().zip(emissions.chunks_exact_mut(*tags)).enumerate() {
            let tag = *tag as usize;
            probabilities.clear();
            probabilities.extend((0..*tags).map(|tag| marginals.tag(word, tag as Tag)));
            probabilities[tag] -= 1.0;
            row.iter_mut().zip(&probabilities).for_each(|(x, p)| *x = (weight * p) as f32);
            let add = |sums: &mut [f64]| sums.iter_mut().zip(&probabilities).for_each(|(sum, p)| *sum += weight * p);
            if word == 0 {
                add(start);
            }
            if word + 1 == gold.len() {
                add(stop);
            }
            let Some(before) = word.checked_sub(1) else { continue };
            next.copy_from_slice(marginals.backward(word));
            self.add_emissions(word, &mut next);
            next.iter_mut().for_each(|x| *x -= marginals.log_sum);
            ahead.add_probabilities(marginals.forward(before), &next, weight, between);
            between[gold[before] as usize * tags + tag] -= weight;
        }
        marginals.log_sum - self.score(gold)
    }
}

/// A tag that begins a run of words, and the tag of its other words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub begin: Tag,
    pub inside: Tag,
}

/// Probabilities of what sequences have in common.
#[derive(Debug)]
pub struct Marginals<'a> {
    lattice: Lattice<'a>,
    /// `[L, T]`: of all beginnings of sequences that end with a word's tag, its emission included.
    forward: Vec<f64>,
    /// `[L, T]`: of all ends of sequences after a word's tag.
    backward: Vec<f64>,
    /// Of all sequences.
    log_sum: f64,
}

impl<'a> Marginals<'a> {
    fn tags(&self) -> usize {
        self.lattice.transitions.tags
    }

    fn forward(&self, word: usize) -> &[f64] {
        &self.forward[word * self.tags()..][..self.tags()]
    }

    fn backward(&self, word: usize) -> &[f64] {
        &self.backward[word * self.tags()..][..self.tags()]
    }

    fn probability(&self, log: f64) -> f64 {
        // Rounding can lead a little above 1.
        (log - self.log_sum).exp().clamp(0.0, 1.0)
    }

    /// Probability of a tag of a word. Both must be there.
    pub fn tag(&self, word: usize, tag: Tag) -> f64 {
        let at = word * self.tags() + tag as usize;
        self.probability(self.forward[at] + self.backward[at])
    }

    /// For probabilities of whole runs, which are among `runs`.
    pub fn runs(&'a self, runs: &[Run]) -> RunMarginals<'a> {
        let Transitions { tags, back, stop, .. } = self.lattice.transitions;
        let (mut ends, mut next) = (vec![0.0; self.backward.len()], vec![0.0; *tags]);
        for (word, row) in ends.chunks_exact_mut(*tags).enumerate() {
            if word + 1 == self.lattice.words() {
                row.copy_from_slice(stop);
                continue;
            }
            next.copy_from_slice(self.backward(word + 1));
            self.lattice.add_emissions(word + 1, &mut next);
            runs.iter().for_each(|run| next[run.inside as usize] = f64::NEG_INFINITY);
            back.advance(&next, row);
        }
        RunMarginals { marginals: self, ends }
    }
}

/// Probabilities of whole runs: that a stretch of words has a run's tags, and the word behind it, if there is one, a tag that
/// no run goes on with.
#[derive(Debug)]
pub struct RunMarginals<'a> {
    marginals: &'a Marginals<'a>,
    /// `[L, T]`: of all ends of sequences after a word's tag in which no run goes on.
    ends: Vec<f64>,
}

impl RunMarginals<'_> {
    /// Probability that a run begins at a word.
    pub fn begins(&self, word: usize, run: Run) -> f64 {
        self.marginals.tag(word, run.begin)
    }

    /// Probabilities of the stretches that begin at a word: that of one word, of two, and so on to the end of the sentence.
    pub fn stretches(&self, word: usize, Run { begin, inside }: Run) -> impl Iterator<Item = f64> {
        let (marginals, lattice) = (self.marginals, self.marginals.lattice);
        let tags = marginals.tags();
        let (mut log, mut before) = (f64::NEG_INFINITY, None);
        (word..lattice.words()).map(move |last| {
            let tag = match before {
                None => begin as usize,
                Some(_) => inside as usize,
            };
            log = match before {
                None => marginals.forward(word)[tag],
                Some(before) => log + lattice.transitions.ahead.score(before, tag) + lattice.emission(last, tag),
            };
            before = Some(tag);
            marginals.probability(log + self.ends[last * tags + tag])
        })
    }
}
