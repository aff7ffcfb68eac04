//! Windows side by side, as candle's operations need them.

use super::EncoderBatch;
use crate::nn::{NnError, u32_tensor};
use candle_core::{Device, Tensor};

/// Takes rows that lie one behind the other, `[N, H]`, to sentences of like length, `[B, T, H]`, and back.
pub(super) struct Padding {
    pub(super) lens: Vec<usize>,
    pub(super) longest: usize,
    /// For each of B · T places a row; what it is where there is none does not matter.
    rows: Tensor,
    /// For each row its place.
    places: Tensor,
}

impl Padding {
    pub(super) fn new(batch: &EncoderBatch, device: &Device) -> Result<Self, NnError> {
        let longest = batch.longest();
        let (mut rows, mut places) = (vec![0u32; batch.windows().len() * longest], Vec::with_capacity(batch.rows()));
        for (window, range) in batch.windows().iter().enumerate() {
            for (i, row) in range.clone().enumerate() {
                rows[window * longest + i] = row as u32;
                places.push((window * longest + i) as u32);
            }
        }
        let lens = batch.windows().iter().map(ExactSizeIterator::len).collect();
        Ok(Self { lens, longest, rows: u32_tensor(&rows, device)?, places: u32_tensor(&places, device)? })
    }

    pub(super) fn add(&self, x: &Tensor) -> Result<Tensor, NnError> {
        let (_, h) = x.dims2()?;
        Ok(x.index_select(&self.rows, 0)?.reshape((self.lens.len(), self.longest, h))?)
    }

    pub(super) fn remove(&self, x: &Tensor) -> Result<Tensor, NnError> {
        let (b, t, h) = x.dims3()?;
        Ok(x.reshape((b * t, h))?.index_select(&self.places, 0)?)
    }

    /// What is added to the scores of attention, `[B, 1, 1, T]`: nothing for a position, so much less for none that it is
    /// not seen.
    pub(super) fn shut_out(&self) -> Result<Tensor, NnError> {
        Ok(self.there()?.affine(1e9, -1e9)?.reshape((self.lens.len(), 1, 1, self.longest))?)
    }

    /// The same where positions see those alone that are at most `reach` away, `[B, 1, T, T]`; or `[B, 1, 1, T]` where none
    /// is farther.
    pub(super) fn shut_out_beyond(&self, reach: usize) -> Result<Tensor, NnError> {
        let (b, t) = (self.lens.len(), self.longest);
        if t <= reach + 1 {
            return self.shut_out();
        }
        let of = |(i, j): (usize, usize), len: usize| if i.abs_diff(j) <= reach && j < len { 0f32 } else { -1e9 };
        let each = self.lens.iter().flat_map(|&len| (0..t).flat_map(move |i| (0..t).map(move |j| of((i, j), len))));
        Ok(Tensor::from_vec(each.collect::<Vec<_>>(), (b, 1, t, t), self.rows.device())?)
    }

    /// 1 for a position and 0 for none, `[B, T]`.
    pub(super) fn there(&self) -> Result<Tensor, NnError> {
        let t = self.longest;
        let each = self.lens.iter().flat_map(|&len| (0..t).map(move |i| f32::from(u8::from(i < len))));
        Ok(Tensor::from_vec(each.collect::<Vec<_>>(), (self.lens.len(), t), self.rows.device())?)
    }
}
