//! Dropout whose mask is a function of seed and position, so that a backward pass needs no stored mask.

use super::InstructionSet;
use super::arithmetic::FLAT;
use rayon::prelude::*;

/// Which units are dropped.
#[derive(Clone, Copy, Debug)]
pub struct DropMask {
    seed: u32,
    threshold: u32,
    scale: f32,
}

impl Default for DropMask {
    fn default() -> Self {
        Self::NONE
    }
}

impl DropMask {
    /// Drops nothing.
    pub const NONE: Self = Self { seed: 0, threshold: 0, scale: 1.0 };

    /// Drops a share `p`, in [0, 1), of the units and scales the others by `1 / (1 - p)`.
    pub fn new(p: f32, seed: u32) -> Self {
        Self { seed, threshold: (f64::from(p) * 2f64.powi(32)) as u32, scale: 1.0 / (1.0 - p) }
    }

    pub fn drops_nothing(self) -> bool {
        self.threshold == 0
    }

    /// What the unit at a position of its tensor is multiplied by.
    #[inline(always)]
    pub fn factor(self, position: usize) -> f32 {
        if hash(self.seed, position as u32) >= self.threshold { self.scale } else { 0.0 }
    }

    /// Drops `values`, which begin at position `from` of their tensor.
    pub fn apply(self, values: &mut [f32], from: usize) {
        if !self.drops_nothing() {
            drop_row(values, self, from);
        }
    }
}

dispatch! {
    fn drop_row(y: &mut [f32], mask: DropMask, from: usize) {
        for (i, y) in y.iter_mut().enumerate() {
            *y *= mask.factor(from.wrapping_add(i));
        }
    }
}

/// The finaliser of MurmurHash3 over a counter.
#[inline(always)]
fn hash(seed: u32, i: u32) -> u32 {
    let mut h = i.wrapping_mul(0x9E37_79B1) ^ seed;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Drops the values of a whole tensor.
pub fn drop_all(values: &mut [f32], mask: DropMask) {
    values.par_chunks_mut(FLAT).enumerate().for_each(|(i, piece)| mask.apply(piece, i * FLAT));
}

#[cfg(test)]
mod tests {
    use super::super::testing::instruction_sets;
    use super::*;

    #[test]
    fn all_instructions_drop_the_same_units() {
        let dropped = |set| {
            let mut values = [1f32; 100];
            drop_row::on(set, &mut values, DropMask::new(0.3, 99), usize::MAX - 40);
            values
        };
        let plain = dropped(InstructionSet::Plain);
        for set in instruction_sets() {
            assert_eq!(dropped(set), plain, "{set:?}");
        }
    }

    #[test]
    fn the_share_of_dropped_units_is_p() {
        let mut values = vec![1f32; 100_000];
        drop_all(&mut values, DropMask::new(0.3, 99));
        let dropped = values.iter().filter(|v| **v == 0.0).count();
        assert!(dropped.abs_diff(30_000) < 600, "{dropped}");
        assert!((values.iter().sum::<f32>() / 1e5 - 1.0).abs() < 0.02);
    }
}
