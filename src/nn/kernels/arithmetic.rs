//! What the kernels have in common: the sizes of their pieces, sums in lanes, and functions that vectorise.

/// Rows that one task takes at a time.
pub(super) const ROWS: usize = 32;
/// Numbers that one task of a flat pass takes at a time.
pub(super) const FLAT: usize = 1 << 15;
/// Numbers that are worked on side by side; sums are made in as many lanes on every processor.
pub const LANES: usize = 16;

/// e^x to about 1e-7 relative, without branches (Cephes' polynomial).
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5.0e-1;
    let mantissa = p * (r * r) + r + 1.0;
    mantissa * f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// Distribution function and density of the standard normal, to 1e-7 (Abramowitz and Stegun 7.1.26).
#[inline(always)]
pub(super) fn normal(x: f32) -> (f32, f32) {
    let e = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() * std::f32::consts::FRAC_1_SQRT_2);
    let p = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (0.5 + 0.5 * (1.0 - p * e).copysign(x), 0.398_942_3 * e)
}

/// A sum in [`LANES`] lanes, an order that vectorises and is the same on every processor.
#[inline(always)]
pub(super) fn lanes_sum(len: usize, f: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0f32; LANES];
    let whole = len / LANES * LANES;
    let mut at = 0;
    while at < whole {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += f(at + lane);
        }
        at += LANES;
    }
    lanes.iter().sum::<f32>() + (whole..len).map(f).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_the_normal_distribution_are_precise() {
        for i in -800..=800 {
            let x = i as f32 / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 3e-7, "exp({x})");
        }
        // From scipy.stats.norm.cdf.
        for (x, cdf) in [(-3.0, 0.001_349_898), (-0.5, 0.308_537_54), (0.0, 0.5), (1.0, 0.841_344_7), (6.0, 1.0)] {
            assert!((normal(x).0 - cdf).abs() < 2e-7, "cdf({x})");
        }
    }
}
