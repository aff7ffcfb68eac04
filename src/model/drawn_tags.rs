//! Mentions of tags that the words of a sentence choose one by one.

use super::tags::BioTags;
use crate::nn::crf::{Run, Tag};

/// A distribution of tags for each of L words. A mention is as probable as it is among tags drawn word by word and read by
/// [`BioTags::decode`], which takes an I without its beginning for one.
#[derive(Debug)]
pub(super) struct DrawnTags<'a> {
    tags: usize,
    /// `[L, T]`
    probabilities: &'a [f32],
}

impl<'a> DrawnTags<'a> {
    pub(super) fn new(tags: BioTags, probabilities: &'a [f32]) -> Self {
        Self { tags: tags.count(), probabilities }
    }

    /// The most probable tag of each word, of equal ones the one of the lowest number.
    pub(super) fn best(&self) -> Vec<Tag> {
        let best = |row: &[f32]| (1..row.len()).fold(0, |best, tag| if row[tag] > row[best] { tag } else { best });
        self.probabilities.chunks_exact(self.tags).map(|row| best(row) as Tag).collect()
    }

    fn tag(&self, word: usize, tag: Tag) -> f64 {
        f64::from(self.probabilities[word * self.tags + tag as usize])
    }

    /// Probability that a mention begins at a word.
    pub(super) fn begins(&self, word: usize, Run { begin, inside }: Run) -> f64 {
        let is_within = word.checked_sub(1).map_or(0.0, |before| self.tag(before, begin) + self.tag(before, inside));
        self.tag(word, begin) + self.tag(word, inside) * (1.0 - is_within).max(0.0)
    }

    /// Probabilities of the mentions that begin at a word: of that of one word, of two, and so on to the end of the sentence.
    pub(super) fn stretches(&self, word: usize, run: Run) -> impl Iterator<Item = f64> {
        let words = self.probabilities.len() / self.tags;
        let mut so_far = self.begins(word, run);
        (word + 1..=words).map(move |end| {
            let goes_on = if end < words { self.tag(end, run.inside) } else { 0.0 };
            let stretch = so_far * (1.0 - goes_on);
            so_far *= goes_on;
            stretch
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    /// Against the mentions of all 625 sequences.
    #[test]
    fn mentions_are_as_probable_as_among_drawn_tags() {
        let (bio, words, mut rng) = (BioTags::new(3), 4, Rng::new(3, "drawn"));
        let tags = bio.count();
        let mut rows: Vec<Vec<f32>> = (0..words).map(|_| (0..tags).map(|_| rng.unit()).collect()).collect();
        for row in &mut rows {
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        let probabilities = rows.concat();
        let drawn = DrawnTags::new(bio, &probabilities);
        let sequences: Vec<Vec<Tag>> = (0..tags.pow(4))
            .map(|number| (0..4).map(|word| (number / tags.pow(word) % tags) as Tag).collect())
            .collect();
        let probability = |sequence: &[Tag]| -> f64 {
            sequence.iter().enumerate().map(|(word, tag)| f64::from(rows[word][*tag as usize])).product()
        };
        for (class, run) in (1..).zip(bio.runs()) {
            for start in 0..words {
                let of = |end: Option<usize>| -> f64 {
                    let has = |s: &&Vec<Tag>| {
                        bio.decode(s).iter().any(|(span, c)| {
                            *c == class && span.start().get() == start && end.is_none_or(|end| span.end().get() == end)
                        })
                    };
                    sequences.iter().filter(has).map(|s| probability(s)).sum()
                };
                assert!((drawn.begins(start, run) - of(None)).abs() < 1e-6);
                let stretches: Vec<f64> = drawn.stretches(start, run).collect();
                assert_eq!(stretches.len(), words - start);
                for (end, got) in (start + 1..).zip(stretches) {
                    assert!((got - of(Some(end))).abs() < 1e-6, "{start}..{end} {class}: {got} {}", of(Some(end)));
                }
            }
        }
    }

    #[test]
    fn each_word_takes_its_most_probable_tag() {
        let probabilities = [0.1, 0.5, 0.4, 0.4, 0.2, 0.4];
        assert_eq!(DrawnTags::new(BioTags::new(2), &probabilities).best(), [1, 0]);
    }
}
