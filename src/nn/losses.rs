//! Losses of single numbers, composed of candle's operations: they pass gradients on any device.

use super::{NnError, softplus};
use candle_core::Tensor;

/// Smooth L1 of each number, with the bend at 1 (Girshick 2015): `d² / 2` where `|d| < 1`, else `|d| - 1/2`, for
/// `d = predicted - target`; all of one shape.
///
/// # Errors
/// On shapes that don't fit.
pub fn smooth_l1(predicted: &Tensor, target: &Tensor) -> Result<Tensor, NnError> {
    let distance = (predicted - target)?.abs()?;
    // With `c = min(|d|, 1)` held fast, `c · (|d| - c / 2)` has the right value and the slope `c`.
    let bent = distance.detach().minimum(1f64)?;
    Ok((&bent * (distance - (&bent * 0.5)?)?)?)
}

/// Focal loss of each of N binary decisions (Lin et al. 2017): `-(1 - q)^γ · ln q`, where `q` is the probability of what is
/// true; `logits` `[N]`, and `targets` `[N]` 1 for what is, 0 for what is not.
///
/// # Errors
/// On shapes that don't fit.
pub fn binary_focal_loss(logits: &Tensor, targets: &Tensor, gamma: f64) -> Result<Tensor, NnError> {
    let towards = (logits * targets.affine(2.0, -1.0)?)?;
    // ln q = -softplus(-z) and ln(1 - q) = -softplus(z): no probability is ever rounded to 0 or 1.
    let others = (softplus(&towards)? * -gamma)?.exp()?;
    Ok((others * softplus(&towards.neg()?)?)?)
}

#[cfg(test)]
mod tests {
    use super::super::slopes::{assert_slopes, random};
    use super::*;
    use candle_core::Device;

    fn assert_near(got: &Tensor, expected: &[f32]) {
        for (got, expected) in got.to_vec1::<f32>().unwrap().iter().zip(expected) {
            assert!((got - expected).abs() < 1e-5 * expected.abs().max(1.0), "{got} {expected}");
        }
    }

    /// Reference: `torch.nn.functional.smooth_l1_loss(…, reduction="none")`, which is the formula.
    #[test]
    fn small_distances_count_squared_and_large_ones_as_they_are() {
        let predicted = Tensor::new(&[0f32, 1.5, -3.0, 2.0], &Device::Cpu).unwrap();
        let target = Tensor::new(&[0.5f32, 1.5, 1.0, 1.0], &Device::Cpu).unwrap();
        assert_near(&smooth_l1(&predicted, &target).unwrap(), &[0.125, 0.0, 3.5, 0.5]);
        let target = random(&[9], 5);
        assert_slopes(&[&random(&[9], 4)], |x| smooth_l1(x[0], target.as_tensor()).unwrap());
    }

    #[test]
    fn what_is_well_decided_hardly_counts() {
        let logits = Tensor::new(&[0f32, 0.0, 2.0, -200.0, 200.0], &Device::Cpu).unwrap();
        let targets = Tensor::new(&[1f32, 0.0, 1.0, 1.0, 1.0], &Device::Cpu).unwrap();
        let q: f32 = 1.0 / (1.0 + (-2f32).exp());
        let half = 0.25 * 2f32.ln();
        let expected = [half, half, -(1.0 - q).powi(2) * q.ln(), 200.0, 0.0];
        assert_near(&binary_focal_loss(&logits, &targets, 2.0).unwrap(), &expected);
        let targets = Tensor::new(&[1f32, 0.0, 0.0, 1.0, 1.0, 0.0], &Device::Cpu).unwrap();
        assert_slopes(&[&random(&[6], 8)], |x| binary_focal_loss(x[0], &targets, 2.0).unwrap());
    }
}
