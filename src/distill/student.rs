//! Where a student begins: which part of its teacher it is.

use super::config::Config;
use super::error::DistillError;
use crate::encoder::{Cut, Encoder, Tape};
use crate::nn::kernels::gelu_row;
use crate::nn::{NnError, as_slice};
use std::collections::HashMap;

/// How much each neuron of a block's inner layer adds to the block's sum: its mean square on some text, times the squared
/// length of what it adds.
pub(super) struct Activity(Vec<Vec<f64>>);

impl Activity {
    pub(super) fn new(blocks: usize, inner: usize) -> Self {
        Self(vec![vec![0.0; inner]; blocks])
    }

    /// Adds what a forward pass in training has left.
    pub(super) fn add(&mut self, tape: &Tape) {
        for (block, sums) in self.0.iter_mut().enumerate() {
            let mut active = vec![0f32; sums.len()];
            for row in tape.inner(block).chunks_exact(sums.len().max(1)) {
                gelu_row(row, &mut active);
                sums.iter_mut().zip(&active).for_each(|(sum, x)| *sum += f64::from(x * x));
            }
        }
    }

    /// The `count` most active neurons of a block, by their numbers.
    fn most_active(&self, teacher: &Encoder, block: usize, count: usize) -> Result<Vec<u32>, DistillError> {
        let name = format!("encoder.layer.{block}.output.dense.weight");
        let down = teacher.weights().get(&name).ok_or(NnError::MissingWeight { name })?;
        let down = as_slice(down).map_err(NnError::from)?;
        let sums = self.0.get(block).map_or(&[][..], Vec::as_slice);
        let mut lengths = vec![0f64; sums.len()];
        for row in down.chunks_exact(sums.len().max(1)) {
            lengths.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(x * x));
        }
        let weight = |i: u32| sums.get(i as usize).zip(lengths.get(i as usize)).map_or(0.0, |(a, b)| a * b);
        let mut order: Vec<u32> = (0..sums.len() as u32).collect();
        // Sorting is stable: of equals the earlier one stays.
        order.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
        order.truncate(count);
        order.sort_unstable();
        Ok(order)
    }
}

/// The sizes of a student.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sizes {
    pub layers: usize,
    pub inner: usize,
    /// The teacher's block that the last one imitates.
    pub last: usize,
}

impl Sizes {
    pub(super) fn new(config: &Config, teacher: &Encoder) -> Result<Self, DistillError> {
        let of = teacher.definition().config();
        let within = |key: &str, value: usize, least: usize, most: usize| {
            let expected = format!("a number from {least} to {most} with this teacher");
            let fits = (least..=most).contains(&value);
            if fits {
                Ok(value)
            } else {
                Err(DistillError::BadValue { key: key.to_owned(), value: value.to_string(), expected })
            }
        };
        let layers = within("layers", config.layers.unwrap_or(of.layers.div_ceil(2)), 1, of.layers)?;
        Ok(Self {
            layers,
            inner: within("inner", config.inner.unwrap_or(of.inner.div_ceil(2)), 1, of.inner)?,
            last: within("last", config.last.unwrap_or(layers), layers, of.layers)?,
        })
    }

    /// For each block of the student the number of the teacher's hidden states that it is to give.
    pub(super) fn targets(self) -> Vec<usize> {
        (1..=self.layers).map(|block| (block * self.last).div_ceil(self.layers)).collect()
    }
}

/// The part of the teacher that a student begins as; `counts` tells how often a subword is in the text.
pub(super) fn begin(
    teacher: &Encoder,
    sizes: Sizes,
    vocabulary: Option<usize>,
    activity: &Activity,
    counts: &HashMap<u32, usize>,
) -> Result<Encoder, DistillError> {
    let neurons = |block| Ok((block, activity.most_active(teacher, block, sizes.inner)?));
    let blocks = (0..sizes.layers).map(neurons).collect::<Result<_, DistillError>>()?;
    let subwords = vocabulary.map(|count| most_used(&teacher.definition().subwords().list(), counts, count));
    Ok(teacher.cut(&Cut { blocks, subwords })?)
}

/// The numbers of subwords to keep: marks and single characters, then what is in the text, the most frequent first, then
/// the rest in the teacher's order; all in that order in the end.
fn most_used(list: &[String], counts: &HashMap<u32, usize>, count: usize) -> Vec<u32> {
    let is_mark = |subword: &str| ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].contains(&subword);
    let is_reserved = |subword: &str| subword.is_empty() || subword.starts_with("[unused");
    let is_character = |subword: &str| subword.trim_start_matches("##").chars().count() == 1;
    let rank = |(number, subword): (usize, &String)| {
        let used = counts.get(&(number as u32)).copied().unwrap_or(0);
        (!is_mark(subword), !is_character(subword), std::cmp::Reverse(used), number)
    };
    let mut order: Vec<_> = list.iter().enumerate().filter(|(_, subword)| !is_reserved(subword)).map(rank).collect();
    order.sort_unstable();
    let mut kept: Vec<u32> = order.into_iter().take(count).map(|(.., number)| number as u32).collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_matched_in_proportion() {
        let sizes = |layers, last| Sizes { layers, inner: 1, last }.targets();
        assert_eq!(sizes(3, 3), [1, 2, 3]);
        assert_eq!(sizes(3, 6), [2, 4, 6]);
        assert_eq!(sizes(3, 4), [2, 3, 4]);
        assert_eq!(sizes(4, 6), [2, 3, 5, 6]);
    }

    #[test]
    fn marks_characters_and_frequent_subwords_are_kept() {
        let list: Vec<String> =
            ["[PAD]", "[unused0]", "[UNK]", "the", "cell", "##s", "##ing", "rare", "z"].map(str::to_owned).into();
        let counts = HashMap::from([(6, 5), (4, 2)]);
        assert_eq!(most_used(&list, &counts, 6), [0, 2, 4, 5, 6, 8]);
        assert_eq!(most_used(&list, &counts, 7), [0, 2, 3, 4, 5, 6, 8], "then in the teacher's order");
        assert_eq!(most_used(&list, &counts, 100).len(), 8, "reserved numbers are never kept");
    }
}
