//! Weights of fewer bits, as [`super::compact`] writes and [`super::weights`] reads them.
//!
//! The numbers of a group share a factor: a weight is a whole number times that. Tables of subwords have 4 bits and groups of
//! [`GROUP`], since most of an encoder's weights are there and each is but one summand of a word; other matrices have 8 bits
//! and a group for each row; what has one dimension stays as it is.
//!
//! | weight | in the file |
//! |---|---|
//! | `NAME` `[rows, columns]`, 8 bits | `NAME` of type I8 `[rows, columns]`, `NAME.scales` BF16 `[rows, 1]` |
//! | 4 bits | `NAME` of type U8 `[rows, columns / 2]`, the lower half of a byte first, `NAME.scales` BF16 `[rows, groups]` |

use crate::nn::{NnError, as_slice};
use candle_core::{Device, Tensor};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, View};
use std::borrow::Cow;

/// Numbers of a row that share a factor where they have 4 bits.
const GROUP: usize = 64;
/// Factors that are tried for a group, as shares of the one that makes its largest number the largest there is.
const SHARES: [f32; 8] = [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65];

/// The name of the factors of a weight.
pub(super) fn scales_of(name: &str) -> String {
    format!("{name}.scales")
}

/// The name of the weight that these would be the factors of.
pub(super) fn name_of_scales(scales: &str) -> Option<&str> {
    scales.strip_suffix(".scales")
}

/// The bits of a weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bits {
    Four,
    Eight,
}

impl Bits {
    fn of(name: &str, columns: usize) -> Self {
        if name.ends_with("word_embeddings.weight") && columns.is_multiple_of(GROUP) { Self::Four } else { Self::Eight }
    }

    /// The largest whole number.
    fn most(self) -> f32 {
        match self {
            Self::Four => 7.0,
            Self::Eight => 127.0,
        }
    }

    fn group(self, columns: usize) -> usize {
        match self {
            Self::Four => GROUP,
            Self::Eight => columns,
        }
    }
}

/// A tensor as the file has it: its names there and what goes under them. It is called `name` there and `our_name` here.
///
/// # Errors
/// A tensor that is not `f32` on the CPU.
pub(super) fn pack(name: &str, our_name: &str, tensor: &Tensor) -> Result<Vec<(String, PackedWeight)>, NnError> {
    let values = as_slice(tensor)?;
    let &[rows, columns] = tensor.dims() else {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let whole = PackedWeight { dtype: Dtype::F32, shape: tensor.dims().to_vec(), bytes };
        return Ok(vec![(name.to_owned(), whole)]);
    };
    let (numbers, scales) = pack_matrix(&values, our_name, [rows, columns]);
    Ok(vec![(scales_of(name), scales), (name.to_owned(), numbers)])
}

/// The numbers of the weight with a name, `[rows, columns]`, and their factors.
fn pack_matrix(values: &[f32], name: &str, [rows, columns]: [usize; 2]) -> (PackedWeight, PackedWeight) {
    let bits = Bits::of(name, columns);
    let (bytes, scales) = pack_as(values, bits, columns);
    let groups = columns / bits.group(columns).max(1);
    let scales = scales.iter().flat_map(|scale| upper_half(*scale).to_le_bytes()).collect();
    let (dtype, shape) = match bits {
        Bits::Four => (Dtype::U8, vec![rows, columns / 2]),
        Bits::Eight => (Dtype::I8, vec![rows, columns]),
    };
    let scales = PackedWeight { dtype: Dtype::BF16, shape: vec![rows, groups], bytes: scales };
    (PackedWeight { dtype, shape, bytes }, scales)
}

/// Bytes of the file, and the factor of each group.
fn pack_as(values: &[f32], bits: Bits, columns: usize) -> (Vec<u8>, Vec<f32>) {
    let (mut whole, mut scales) = (Vec::with_capacity(values.len()), Vec::new());
    for group in values.chunks(bits.group(columns).max(1)) {
        let scale = best_scale(group, bits.most());
        scales.push(scale);
        whole.extend(group.iter().map(|x| rounded(*x, scale, bits.most())));
    }
    let bytes = match bits {
        Bits::Four => {
            whole.chunks(2).map(|two| two.iter().rev().fold(0, |byte, x| byte << 4 | (*x as u8 & 15))).collect()
        }
        Bits::Eight => whole.iter().map(|x| *x as u8).collect(),
    };
    (bytes, scales)
}

/// The factor with the least squared error among those tried, as the file holds it.
fn best_scale(group: &[f32], most: f32) -> f32 {
    let largest = group.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    let error = |scale: f32| -> f64 {
        group.iter().map(|x| f64::from(x - f32::from(rounded(*x, scale, most)) * scale).powi(2)).sum()
    };
    let tried = SHARES.map(|share| of_upper_half(upper_half(share * largest / most)));
    tried.into_iter().min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(0.0)
}

/// As far down as up: so the largest number of a group gives its factor again, and what was packed once stays as it is.
fn rounded(x: f32, scale: f32, most: f32) -> i8 {
    if scale > 0.0 { (x / scale).round().clamp(-most, most) as i8 } else { 0 }
}

/// As bfloat16, rounded to the nearest.
fn upper_half(x: f32) -> u16 {
    ((x.to_bits() + 0x8000) >> 16) as u16
}

fn of_upper_half(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// Whether a weight and its factors have types that go together.
pub(super) fn is_packed(view: &TensorView<'_>, scales: &TensorView<'_>) -> bool {
    matches!(view.dtype(), Dtype::U8 | Dtype::I8) && scales.dtype() == Dtype::BF16
}

/// A weight as `f32` on the CPU; its shape is for the caller to check.
pub(super) fn unpack(view: &TensorView<'_>, scales: &TensorView<'_>) -> Result<Tensor, NnError> {
    let whole: Vec<i8> = match view.dtype() {
        Dtype::U8 => view.data().iter().flat_map(|byte| [byte << 4, *byte].map(|half| half as i8 >> 4)).collect(),
        _ => view.data().iter().map(|byte| *byte as i8).collect(),
    };
    let scales: Vec<f32> =
        scales.data().chunks_exact(2).map(|bytes| of_upper_half(u16::from_le_bytes([bytes[0], bytes[1]]))).collect();
    let rows = view.shape().first().copied().unwrap_or(0);
    let group = (whole.len() / scales.len().max(1)).max(1);
    let values: Vec<f32> = whole
        .chunks(group)
        .zip(&scales)
        .flat_map(|(group, scale)| group.iter().map(move |x| f32::from(*x) * scale))
        .collect();
    let columns = values.len() / rows.max(1);
    Ok(Tensor::from_vec(values, (rows, columns), &Device::Cpu)?)
}

/// A weight as it is in a file.
pub(super) struct PackedWeight {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl View for PackedWeight {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

    fn unpacked(bytes: &[u8], dtype: Dtype, shape: [usize; 2], scales: &[f32]) -> Vec<f32> {
        let columns = if dtype == Dtype::U8 { shape[1] / 2 } else { shape[1] };
        let view = TensorView::new(dtype, vec![shape[0], columns], bytes).unwrap();
        let halves: Vec<u8> = scales.iter().flat_map(|s| upper_half(*s).to_le_bytes()).collect();
        let scales = TensorView::new(Dtype::BF16, vec![scales.len(), 1], &halves).unwrap();
        let tensor = unpack(&view, &scales).unwrap();
        assert_eq!(tensor.dims(), shape);
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    proptest! {
        #[test]
        fn numbers_come_back_within_half_a_step_of_their_group(rows in 1usize..5, seed in 0u64..1000, size in -20i32..20) {
            let (mut rng, columns) = (Rng::new(seed, "numbers"), 2 * GROUP);
            let values: Vec<f32> = (0..rows * columns).map(|_| rng.normal() * 2f32.powi(size)).collect();
            for (bits, dtype) in [(Bits::Four, Dtype::U8), (Bits::Eight, Dtype::I8)] {
                let (bytes, scales) = pack_as(&values, bits, columns);
                let got = unpacked(&bytes, dtype, [rows, columns], &scales);
                let groups = values.chunks(bits.group(columns)).zip(got.chunks(bits.group(columns)));
                for ((values, got), scale) in groups.zip(&scales) {
                    for (x, y) in values.iter().zip(got) {
                        let cut_off = (x.abs() - bits.most() * scale).max(0.0);
                        prop_assert!((x - y).abs() <= scale * 0.501 + cut_off, "{x} {y} {scale}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_numbers_of_a_step_come_back_exactly() {
        let values: Vec<f32> = (0..GROUP).map(|i| (i % 15) as f32 - 7.0).collect();
        let (bytes, scales) = pack_as(&values, Bits::Four, GROUP);
        assert_eq!((bytes.len(), scales.as_slice()), (GROUP / 2, [1.0].as_slice()));
        assert_eq!(unpacked(&bytes, Dtype::U8, [1, GROUP], &scales), values);
        let (bytes, scales) = pack_as(&[0.0; GROUP], Bits::Four, GROUP);
        assert_eq!(unpacked(&bytes, Dtype::U8, [1, GROUP], &scales), [0.0; GROUP]);
    }
}
