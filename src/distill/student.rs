//! Where a student begins: which part of its teacher it is.

use super::config::Config;
use super::error::DistillError;
use crate::encoder::{Cut, Encoder, Tape};
use crate::nn::kernels::gelu_row;
use crate::nn::{NnError, as_slice};

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

/// The part of the teacher that a student begins as, with these of its subwords, or with all.
pub(super) fn begin(
    teacher: &Encoder,
    sizes: Sizes,
    subwords: Option<Vec<u32>>,
    activity: &Activity,
) -> Result<Encoder, DistillError> {
    let neurons = |block| Ok((block, activity.most_active(teacher, block, sizes.inner)?));
    let blocks = (0..sizes.layers).map(neurons).collect::<Result<_, DistillError>>()?;
    Ok(teacher.cut(&Cut { blocks, subwords })?)
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
}
