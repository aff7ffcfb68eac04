//! The one source of randomness: initial weights, dropout, shuffles, sampled candidates.

use super::kernels::DropMask;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Where a generator stands; two generators of one state give the same numbers for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RngState {
    pub key: [u8; 32],
    pub stream: u64,
    pub word_pos: u128,
}

/// ChaCha with 8 rounds: the same numbers on every platform.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// Generators of one seed and different purposes give unrelated numbers, so that, for example, another batch size
    /// leaves the initial weights as they are.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut inner = ChaCha8Rng::seed_from_u64(seed);
        inner.set_stream(fnv1a(purpose.as_bytes()));
        Self(inner)
    }

    pub fn from_state(state: RngState) -> Self {
        let mut inner = ChaCha8Rng::from_seed(state.key);
        inner.set_stream(state.stream);
        inner.set_word_pos(state.word_pos);
        Self(inner)
    }

    pub fn state(&self) -> RngState {
        RngState { key: self.0.get_seed(), stream: self.0.get_stream(), word_pos: self.0.get_word_pos() }
    }

    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Uniform in [0, 1), in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1u32 << 24) as f32
    }

    /// Uniform below `n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of a 64 by 64 bit product: its bias is below 2^-32 for any count of things in memory.
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Standard normal (Box-Muller; both halves of a pair would tie the state to parity, so one is dropped).
    pub fn normal(&mut self) -> f32 {
        let radius = (-2.0 * f64::from(1.0 - self.unit()).ln()).sqrt();
        (radius * (std::f64::consts::TAU * f64::from(self.unit())).cos()) as f32
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Whether a forward pass drops units, and from which numbers.
#[derive(Debug)]
pub enum Mode<'a> {
    Train(&'a mut Rng),
    Predict,
}

impl Mode<'_> {
    /// The share of units to drop and the generator to draw them from, when there is something to drop.
    pub fn dropout(&mut self, p: f32) -> Option<(f32, &mut Rng)> {
        match self {
            Self::Train(rng) if p > 0.0 => Some((p.min(0.99), rng)),
            _ => None,
        }
    }

    /// The mask of a dropout.
    pub fn mask(&mut self, p: f32) -> DropMask {
        self.dropout(p).map_or(DropMask::NONE, |(p, rng)| DropMask::new(p, rng.bits()))
    }
}

/// SplitMix64 (Steele et al. 2014): neighbouring numbers give unrelated ones. For draws that stay the same whatever else is
/// drawn.
pub fn splitmix64(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// 64-bit FNV-1a: a fixed function, unlike the standard library's hashers.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_state_goes_on_where_it_was() {
        let mut rng = Rng::new(7, "dropout");
        for _ in 0..13 {
            rng.bits();
        }
        let mut again = Rng::from_state(rng.state());
        assert_eq!((0..70).map(|_| rng.bits()).collect::<Vec<_>>(), (0..70).map(|_| again.bits()).collect::<Vec<_>>());
    }

    #[test]
    fn seeds_and_purposes_differ() {
        let first = |seed, purpose| Rng::new(seed, purpose).bits();
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_eq!(first(1, "a"), first(1, "a"));
    }

    #[test]
    fn numbers_have_the_right_moments() {
        let mut rng = Rng::new(3, "test");
        let n = 20_000;
        let draws: Vec<f32> = (0..n).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f32>() / n as f32;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / n as f32;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let mut counts = [0usize; 5];
        for _ in 0..n {
            counts[rng.below(5)] += 1;
        }
        assert!(counts.iter().all(|c| c.abs_diff(n / 5) < 300), "{counts:?}");
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<usize> = (0..50).collect();
        Rng::new(1, "shuffle").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
