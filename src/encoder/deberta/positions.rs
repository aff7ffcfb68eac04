//! Relative positions: in which row of their table a distance stands, and products with all of them at once.
//!
//! A distance `r = i - j` is that from the key `j` to the query `i`. Near ones have a bucket each, far ones share buckets that
//! grow with the logarithm (mid = buckets / 2, m the farthest distance):
//!
//! ```text
//! bucket(r) = r                                                                     |r| <= mid
//! bucket(r) = sign(r) · (mid + ⌈ln(|r| / mid) / ln((m - 1) / mid) · (mid - 1)⌉)     else
//! ```

use super::config::DebertaConfig;
use crate::nn::NnError;
use candle_core::{D, Tensor};

impl DebertaConfig {
    /// The row of a distance in the table of relative positions.
    pub(in crate::encoder) fn row(&self, distance: isize) -> usize {
        let span = self.span() as isize;
        let bucket = self.buckets.map_or(distance, |buckets| bucket(distance, buckets, self.farthest));
        (bucket + span).clamp(0, 2 * span - 1).unsigned_abs()
    }
}

/// In single precision, as encoders were trained with it: a rounding up may depend on that.
fn bucket(distance: isize, buckets: usize, farthest: usize) -> isize {
    let (mid, size) = (buckets / 2, distance.unsigned_abs());
    if size <= mid {
        return distance;
    }
    let mid_real = mid as f32;
    let share = (size as f32 / mid_real).ln() / ((farthest - 1) as f32 / mid_real).ln();
    distance.signum() * ((share * (mid_real - 1.0)).ceil() as isize + mid as isize)
}

/// Which rows of the table the distances of a window of `positions` need, and of these which one each distance has: the
/// distances `1 - positions ..= positions`, of which there are two for each position.
pub(super) struct Distances {
    pub(super) first: usize,
    pub(super) count: usize,
    /// Ascending.
    pub(super) rows: Vec<u32>,
}

impl Distances {
    pub(super) fn new(config: &DebertaConfig, positions: usize) -> Self {
        let most = positions as isize;
        let rows: Vec<usize> = (1 - most..=most).map(|distance| config.row(distance)).collect();
        let first = rows.iter().copied().min().unwrap_or(0);
        let last = rows.iter().copied().max().unwrap_or(0);
        Self { first, count: last - first + 1, rows: rows.iter().map(|row| (row - first) as u32).collect() }
    }

    /// The same of what stands the other way round: for the distance `r` the row of `-r`, from `-(T - 1)` on as before.
    pub(super) fn reversed(&self) -> Vec<u32> {
        // The last distance, T, is there to make the number even, and has no opposite.
        let (_, others) = self.rows.split_last().unwrap_or((&0, &[]));
        others.iter().rev().chain(others.first()).copied().collect()
    }
}

/// From products with each distance to products with each position: `y[i, j] = x[i, T - 1 + j - i]`; `[B, heads, T, 2T]` to
/// `[B, heads, T, T]`.
///
/// Read row by row, the numbers that belong together stand one less than a row apart.
pub(super) fn by_position(x: &Tensor) -> Result<Tensor, NnError> {
    let (b, heads, t, double) = x.dims4()?;
    let flat = x.reshape((b, heads, t * double))?;
    let rows = flat.narrow(D::Minus1, t - 1, t * (double - 1))?.reshape((b, heads, t, double - 1))?;
    Ok(rows.narrow(D::Minus1, 0, t)?.contiguous()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    fn config(buckets: Option<usize>, farthest: usize) -> DebertaConfig {
        DebertaConfig {
            buckets,
            farthest,
            content_to_position: true,
            position_to_content: true,
            shares_layers: true,
            norms_positions: true,
            has_position_table: false,
            convolution: None,
        }
    }

    #[test]
    fn products_find_their_positions() {
        for t in [1usize, 2, 5] {
            let x: Vec<f32> = (0..t * 2 * t).map(|i| i as f32).collect();
            let x = Tensor::from_vec(x, (1, 1, t, 2 * t), &Device::Cpu).unwrap();
            let y = by_position(&x).unwrap().reshape((t, t)).unwrap().to_vec2::<f32>().unwrap();
            for (i, row) in y.iter().enumerate() {
                for (j, got) in row.iter().enumerate() {
                    assert_eq!(*got, (i * 2 * t + t - 1 + j - i) as f32, "{i} {j} of {t}");
                }
            }
        }
    }

    #[test]
    fn each_distance_has_its_row_and_its_opposite() {
        let config = config(Some(8), 16);
        for positions in [1isize, 3, 40] {
            let distances = Distances::new(&config, positions as usize);
            let row = |distance: isize| (config.row(distance) - distances.first) as u32;
            assert_eq!(distances.rows, (1 - positions..=positions).map(row).collect::<Vec<_>>());
            let reversed = distances.reversed();
            assert_eq!(reversed.len(), distances.rows.len());
            for (at, distance) in (1 - positions..positions).enumerate() {
                assert_eq!(reversed[at], row(-distance), "{distance} of {positions}");
            }
            assert!(distances.rows.iter().chain(&reversed).all(|row| (*row as usize) < distances.count));
        }
        assert_eq!((config.row(-99), config.row(99)), (0, 15), "beyond the table are its ends");
    }

    #[test]
    fn near_distances_have_a_row_each_and_far_ones_share() {
        let of_v3 = config(Some(256), 512);
        let rows: Vec<usize> = (0..512).map(|distance| of_v3.row(distance)).collect();
        assert!(rows.is_sorted() && rows[..=128].iter().enumerate().all(|(i, row)| *row == 256 + i));
        assert_eq!((rows[511], rows[128..].windows(2).filter(|two| two[0] == two[1]).count() > 200), (511, true));
        let plain = config(None, 6);
        assert_eq!([-7, -6, -1, 0, 5, 6].map(|distance| plain.row(distance)), [0, 0, 5, 6, 11, 11]);
    }
}
