//! Rotary positions (Su et al. 2021): two numbers of a head are a point that turns by an angle with each position, so that a
//! query times a key knows how far they stand apart.
//!
//! ```text
//! angle(position, i) = position · θ^(-2i / d)      i in 0..d/2
//! x'[i]       = x[i] cos - x[i + d/2] sin
//! x'[i + d/2] = x[i + d/2] cos + x[i] sin
//! ```

use crate::nn::NnError;
use candle_core::{D, Device, Tensor};

/// Cosines and sines, `[T, d / 2]`.
pub(super) struct Rotary {
    cos: Tensor,
    sin: Tensor,
}

impl Rotary {
    /// Of the positions `0..positions`, for heads of `d` numbers and the base `theta`.
    pub(super) fn new(positions: usize, d: usize, theta: f64, device: &Device) -> Result<Self, NnError> {
        let half = d / 2;
        let speeds: Vec<f32> = (0..half).map(|i| 1.0 / (theta as f32).powf(2.0 * i as f32 / d as f32)).collect();
        let angles = (0..positions).flat_map(|position| speeds.iter().map(move |speed| position as f32 * speed));
        let angles = Tensor::from_vec(angles.collect::<Vec<f32>>(), (positions, half), device)?;
        Ok(Self { cos: angles.cos()?, sin: angles.sin()? })
    }

    /// Turns queries or keys, `[B, heads, T, d]`.
    pub(super) fn turn(&self, x: &Tensor) -> Result<Tensor, NnError> {
        let (.., d) = x.dims4()?;
        let (low, high) = (x.narrow(D::Minus1, 0, d / 2)?, x.narrow(D::Minus1, d / 2, d / 2)?);
        let turned =
            |a: &Tensor, b: &Tensor| Ok::<_, NnError>((a.broadcast_mul(&self.cos)?, b.broadcast_mul(&self.sin)?));
        let (low_cos, high_sin) = turned(&low, &high)?;
        let (high_cos, low_sin) = turned(&high, &low)?;
        Ok(Tensor::cat(&[(low_cos - high_sin)?, (high_cos + low_sin)?], D::Minus1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_depend_on_the_distance_alone() {
        let (positions, d) = (7, 6);
        let rotary = Rotary::new(positions, d, 100.0, &Device::Cpu).unwrap();
        let repeated = |values: [f32; 6]| {
            let all: Vec<f32> = (0..positions).flat_map(|_| values).collect();
            rotary.turn(&Tensor::from_vec(all, (1, 1, positions, d), &Device::Cpu).unwrap()).unwrap()
        };
        let queries = repeated([0.3, -1.0, 0.5, 2.0, 0.1, -0.7]);
        let keys = repeated([1.0, 0.2, -0.4, 0.9, -1.5, 0.6]);
        let products = queries.matmul(&keys.t().unwrap()).unwrap().squeeze(0).unwrap().squeeze(0).unwrap();
        let products = products.to_vec2::<f32>().unwrap();
        for (i, row) in products.iter().enumerate().skip(1) {
            for j in 1..positions {
                assert!((row[j] - products[i - 1][j - 1]).abs() < 1e-5, "{i} {j}");
            }
        }
        assert!((products[0][1] - products[1][0]).abs() > 0.1, "and on its direction");
        assert!((products[0][0] - (0.3 - 0.2 - 0.2 + 1.8 - 0.15 - 0.42)).abs() < 1e-5);
    }
}
