//! Rows put together: the greatest or mean values of stretches of rows, which may overlap.

use super::fused::{like, slice};
use super::kernels::{add_row, add_scaled_row};
use super::tensor_slice::as_slice;
use super::{NnError, Operations, u32_tensor};
use candle_core::{CpuStorage, CustomOp1, DType, Layout, Shape, Tensor};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of `x` `[N, H]` by their numbers, `[M, H]`.
///
/// # Errors
/// When a number is not below N.
pub fn select_rows(x: &Tensor, numbers: &[u32]) -> Result<Tensor, NnError> {
    Ok(x.index_select(&u32_tensor(numbers, x.device())?, 0)?)
}

/// For each of S stretches of the rows of `x` `[N, H]` the greatest value of each column, `[S, H]`. The gradient goes to the
/// first row that has it.
///
/// # Errors
/// When a stretch is empty or goes beyond N.
pub fn segment_max(x: &Tensor, segments: &[Range<usize>], operations: Operations) -> Result<Tensor, NnError> {
    check(x, segments, "segment_max")?;
    match operations {
        Operations::ByHand => Ok(x.contiguous()?.apply_op1(Pool::new(segments, Kind::Max))?),
        Operations::Plain => plain_max(x, segments),
    }
}

/// As [`segment_max`] with means.
///
/// # Errors
/// See [`segment_max`].
pub fn segment_mean(x: &Tensor, segments: &[Range<usize>], operations: Operations) -> Result<Tensor, NnError> {
    check(x, segments, "segment_mean")?;
    match operations {
        Operations::ByHand => Ok(x.contiguous()?.apply_op1(Pool::new(segments, Kind::Mean))?),
        Operations::Plain => plain_mean(x, segments),
    }
}

fn check(x: &Tensor, segments: &[Range<usize>], op: &'static str) -> Result<(), NnError> {
    let (n, _) = x.dims2()?;
    let fits = segments.iter().all(|segment| segment.start < segment.end && segment.end <= n);
    if fits { Ok(()) } else { Err(NnError::shapes(op, &[x])) }
}

fn plain_max(x: &Tensor, segments: &[Range<usize>]) -> Result<Tensor, NnError> {
    let ((_, h), s) = (x.dims2()?, segments.len());
    let longest = segments.iter().map(Range::len).max().unwrap_or(0);
    if s == 0 {
        return Ok(x.narrow(0, 0, 0)?);
    }
    // A short stretch has its first row again where it has no other; which row wins is found without gradients, so that it
    // counts once.
    let rows = |segment: &Range<usize>| {
        let (start, len) = (segment.start, segment.len());
        (0..longest).map(move |i| (start + if i < len { i } else { 0 }) as u32)
    };
    let rows: Vec<u32> = segments.iter().flat_map(rows).collect();
    let winners = select_rows(&x.detach(), &rows)?.reshape((s, longest, h))?.argmax(1)?;
    let rows = Tensor::from_vec(rows, (s, longest), x.device())?;
    Ok(x.gather(&rows.gather(&winners, 1)?.contiguous()?, 0)?)
}

fn plain_mean(x: &Tensor, segments: &[Range<usize>]) -> Result<Tensor, NnError> {
    let (_, h) = x.dims2()?;
    let rows: Vec<u32> = segments.iter().flat_map(|segment| segment.clone().map(|row| row as u32)).collect();
    let of = |(number, segment): (u32, &Range<usize>)| std::iter::repeat_n(number, segment.len());
    let owners: Vec<u32> = (0..).zip(segments).flat_map(of).collect();
    let shares: Vec<f32> = segments.iter().map(|segment| 1.0 / segment.len() as f32).collect();
    let sums = Tensor::zeros((segments.len(), h), DType::F32, x.device())?;
    if rows.is_empty() {
        return Ok(sums);
    }
    let sums = sums.index_add(&u32_tensor(&owners, x.device())?, &select_rows(x, &rows)?, 0)?;
    Ok(sums.broadcast_mul(&Tensor::from_vec(shares, (segments.len(), 1), x.device())?)?)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Max,
    Mean,
}

struct Pool {
    segments: Vec<Range<usize>>,
    kind: Kind,
}

impl Pool {
    fn new(segments: &[Range<usize>], kind: Kind) -> Self {
        Self { segments: segments.to_vec(), kind }
    }

    fn row(&self, x: &[f32], h: usize, segment: &Range<usize>, y: &mut [f32]) {
        let mut rows = x[segment.start * h..segment.end * h].chunks_exact(h);
        match self.kind {
            Kind::Max => {
                y.copy_from_slice(rows.next().unwrap_or_default());
                for row in rows {
                    y.iter_mut().zip(row).for_each(|(y, x)| *y = if *x > *y { *x } else { *y });
                }
            }
            Kind::Mean => {
                rows.for_each(|row| add_row(y, row));
                let share = 1.0 / segment.len() as f32;
                y.iter_mut().for_each(|y| *y *= share);
            }
        }
    }
}

impl CustomOp1 for Pool {
    fn name(&self) -> &'static str {
        "nestling-segments"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        let (_, h) = layout.shape().dims2()?;
        let (x, mut y) = (slice(x, layout)?, vec![0f32; self.segments.len() * h]);
        let work = y.par_chunks_mut(h.max(1)).zip(&self.segments);
        work.with_min_len(64).for_each(|(y, segment)| self.row(x, h, segment, y));
        Ok((CpuStorage::F32(y), Shape::from((self.segments.len(), h))))
    }

    fn bwd(&self, x: &Tensor, y: &Tensor, grad: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let (n, h) = x.dims2()?;
        let (grad, mut dx) = (grad.contiguous()?, vec![0f32; n * h]);
        {
            let (x, y, grad) = (as_slice(x)?, as_slice(y)?, as_slice(&grad)?);
            let rows = y.chunks_exact(h.max(1)).zip(grad.chunks_exact(h.max(1))).zip(&self.segments);
            for ((y, grad), segment) in rows {
                if self.kind == Kind::Mean {
                    let share = 1.0 / segment.len() as f32;
                    segment.clone().for_each(|row| add_scaled_row(&mut dx[row * h..(row + 1) * h], share, grad));
                    continue;
                }
                for (column, (y, grad)) in y.iter().zip(grad).enumerate() {
                    if let Some(row) = segment.clone().find(|row| x[row * h + column] == *y) {
                        dx[row * h + column] += grad;
                    }
                }
            }
        }
        Ok(Some(like(dx, x)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::slopes::{assert_slopes, random};
    use super::*;
    use candle_core::Device;

    const BOTH: [Operations; 2] = [Operations::ByHand, Operations::Plain];
    type Pooling = fn(&Tensor, &[Range<usize>], Operations) -> Result<Tensor, NnError>;

    #[test]
    fn stretches_may_overlap_and_the_first_of_equal_rows_gets_the_gradient() {
        let x = candle_core::Var::new(&[[1f32, 5.0], [3.0, 5.0], [2.0, -1.0]], &Device::Cpu).unwrap();
        for operations in BOTH {
            let y = segment_max(&x, &[0..2, 1..3, 2..3], operations).unwrap();
            assert_eq!(y.to_vec2::<f32>().unwrap(), [[3.0, 5.0], [3.0, 5.0], [2.0, -1.0]]);
            let grad = y.sum_all().unwrap().backward().unwrap().get(&x).unwrap().to_vec2::<f32>().unwrap();
            assert_eq!(grad, [[0.0, 1.0], [2.0, 1.0], [1.0, 1.0]]);
            let y = segment_mean(&x, &[0..2, 2..3], operations).unwrap();
            assert_eq!(y.to_vec2::<f32>().unwrap(), [[2.0, 5.0], [2.0, -1.0]]);
            assert_eq!(segment_max(&x, &[], operations).unwrap().dims(), [0, 2]);
            assert_eq!(segment_mean(&x, &[], operations).unwrap().dims(), [0, 2]);
        }
    }

    #[test]
    fn gradients_are_slopes() {
        let segments = [0..1, 0..4, 2..7, 6..7, 1..3];
        for (operations, pooling) in
            BOTH.into_iter().flat_map(|o| [segment_max as Pooling, segment_mean].map(|p| (o, p)))
        {
            let x = random(&[7, 5], 3);
            assert_slopes(&[&x], |x| pooling(x[0], &segments, operations).unwrap());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = random(&[3, 2], 1);
        for segment in [0..4, 1..1] {
            let segments = std::slice::from_ref(&segment);
            assert!(segment_max(&x, segments, Operations::ByHand).is_err());
            assert!(segment_mean(&x, segments, Operations::Plain).is_err());
        }
    }
}
