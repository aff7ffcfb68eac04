//! What the parts are taught by (§2.5). Each loss is the mean over its own examples, as in the authors' program, where the
//! paper adds them up.

use crate::nn::{NnError, binary_focal_loss, log_softmax, smooth_l1};
use candle_core::{Device, Tensor};

/// γ of Eq. 12.
const FOCUS: f64 = 2.0;

fn column(values: &[f32], device: &Device) -> Result<Tensor, NnError> {
    Ok(Tensor::from_slice(values, values.len(), device)?)
}

/// Eq. 12: focal loss of N seeds; `logits` `[N]`, and of each seed whether it is positive (1 or 0) and its weight.
pub(super) fn filter_loss(logits: &Tensor, positive: &[f32], weights: &[f32]) -> Result<Tensor, NnError> {
    let device = logits.device();
    let losses = binary_focal_loss(logits, &column(positive, device)?, FOCUS)?;
    Ok((losses * column(weights, device)?)?.mean_all()?)
}

/// Eq. 13 to 15 for N positive seeds: `predicted` and the true offsets `[N, 2]`, and the widths of their mentions in words.
///
/// Boundaries are taken as they are predicted, not rounded, and ends are exclusive: with inclusive ones Eq. 15 is 0/0 for a
/// mention of one word. Measured from the mention they are off by `a` and `b`, so that what seed and mention share is
/// `width - max(a, 0) - max(-b, 0)`, and what both span `width + max(-a, 0) + max(b, 0)`.
pub(super) fn regression_loss(predicted: &Tensor, offsets: &[[f32; 2]], widths: &[f32]) -> Result<Tensor, NnError> {
    let device = predicted.device();
    let offsets = Tensor::from_slice(offsets.as_flattened(), (offsets.len(), 2), device)?;
    let by_boundary = smooth_l1(predicted, &offsets)?.sum(1)?;
    let off = (predicted - offsets)?;
    let (a, b) = (off.narrow(1, 0, 1)?.squeeze(1)?, off.narrow(1, 1, 1)?.squeeze(1)?);
    let width = column(widths, device)?;
    let shared = ((&width - a.relu()?)? - b.neg()?.relu()?)?;
    let spanned = ((&width + a.neg()?.relu()?)? + b.relu()?)?;
    let overlap = (shared / spanned)?.affine(-1.0, 1.0)?;
    Ok((by_boundary + overlap)?.mean_all()?)
}

/// Eq. 16: weighted cross-entropy of N moved spans; `logits` `[N, C]`, a class below C and a weight for each.
pub(super) fn classifier_loss(logits: &Tensor, classes: &[u32], weights: &[f32]) -> Result<Tensor, NnError> {
    let device = logits.device();
    let classes = Tensor::from_slice(classes, (classes.len(), 1), device)?;
    let losses = log_softmax(logits)?.gather(&classes, 1)?.squeeze(1)?.neg()?;
    Ok((losses * column(weights, device)?)?.mean_all()?)
}
