//! Which words are left out of a sentence, and what stands for them.

use crate::encoder::{Alignment, EncoderBatch, WordPlace};
use crate::nn::Rng;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// Of ten words that are to be said, so many are replaced by the mask and one by something else; the rest stays, so that what
/// the encoder makes of words that are there counts, too (Devlin et al. 2019).
const REPLACED: f32 = 0.8;
const CHANGED: f32 = 0.1;

/// The subwords that a text has, each of which is a class.
pub(super) struct TextSubwords {
    /// In ascending order.
    numbers: Vec<u32>,
    classes: HashMap<u32, u32>,
}

impl TextSubwords {
    pub(super) fn of(sentences: &[Alignment]) -> Self {
        let mut numbers = BTreeSet::new();
        for sentence in sentences {
            sentence.words().iter().for_each(|word| numbers.extend(&ids(sentence)[rows(sentence, word)]));
        }
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let classes = numbers.iter().copied().zip(0..).collect();
        Self { numbers, classes }
    }

    /// Their numbers in the encoder's vocabulary, in the order of the classes.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }
}

/// What is to be said of a batch.
pub(super) struct Masked {
    pub(super) batch: EncoderBatch,
    /// The batch's rows whose subwords are to be said.
    pub(super) rows: Vec<u32>,
    /// The class of each.
    pub(super) classes: Vec<u32>,
}

/// Leaves words out of sentences: each with the chance `share`, and at least one of each sentence. All subwords of a word are
/// left out together, since one of them would give away the others.
pub(super) fn mask(sentences: &[&Alignment], subwords: &TextSubwords, mask: u32, share: f64, rng: &mut Rng) -> Masked {
    let mut batch = EncoderBatch::new(sentences, 1);
    let (mut asked, mut classes, mut from) = (Vec::new(), Vec::new(), 0);
    for sentence in sentences {
        let ids = ids(sentence);
        let mut words: Vec<bool> = sentence.words().iter().map(|_| f64::from(rng.unit()) < share).collect();
        if !words.contains(&true) && !words.is_empty() {
            let one = rng.below(words.len());
            words[one] = true;
        }
        for (word, _) in sentence.words().iter().zip(words).filter(|(_, is_out)| *is_out) {
            let fate = rng.unit();
            for row in rows(sentence, word) {
                let Some(class) = subwords.classes.get(&ids[row]) else { continue };
                asked.push((from + row) as u32);
                classes.push(*class);
                if fate < REPLACED {
                    batch.put(from + row, mask);
                } else if fate < REPLACED + CHANGED {
                    batch.put(from + row, subwords.numbers[rng.below(subwords.numbers.len())]);
                }
            }
        }
        from += ids.len();
    }
    Masked { batch, rows: asked, classes }
}

/// The numbers of all positions of a sentence, window after window.
fn ids(sentence: &Alignment) -> Vec<u32> {
    sentence.windows().iter().flat_map(|window| window.ids.iter().copied()).collect()
}

/// Where a word's subwords stand among these.
fn rows(sentence: &Alignment, word: &WordPlace) -> RangeInclusive<usize> {
    let from: usize = sentence.windows().iter().take(word.window).map(|window| window.positions).sum();
    from + word.first..=from + word.last
}
