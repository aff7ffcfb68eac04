//! Matrix products of rounded numbers, of the kind that the processor is fast at.

use super::bf16::{bf16_matmul, bf16_matmul_transposed};
use super::int16::{int16_matmul, int16_matmul_transposed};
use super::int16_panels::{Int16Panels, Int16Rows};
use super::panels::{Panels, to_bf16};
use super::{View, WriteMode};

/// What the numbers are rounded to that a product is made of; it is summed up in `f32`, or exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Eight bits of precision.
    Bf16,
    /// Whole numbers of 16 bits, and a scale for each row and column.
    Int16,
}

impl Rounding {
    /// Whether matrices with so many columns can be the right ones of a product.
    pub fn fits(self, columns: usize) -> bool {
        match self {
            Self::Bf16 => Panels::fit(columns),
            Self::Int16 => Int16Panels::fit(columns),
        }
    }
}

/// The right matrix of a product, or the left one of a transposed product.
#[derive(Debug)]
pub enum RoundedPanels {
    Bf16(Panels),
    Int16(Int16Panels),
}

impl Default for RoundedPanels {
    fn default() -> Self {
        Self::Bf16(Panels::default())
    }
}

impl RoundedPanels {
    /// See [`Panels::stack`].
    pub fn stack(&mut self, rounding: Rounding, parts: &[(&[f32], View, usize)], columns: usize) {
        self.turn_to(rounding);
        match self {
            Self::Bf16(panels) => panels.stack(parts, columns),
            Self::Int16(panels) => panels.stack(parts, columns),
        }
    }

    /// See [`Panels::stack_transposed`].
    pub fn stack_transposed(&mut self, rounding: Rounding, parts: &[&[f32]], rows: usize) {
        self.turn_to(rounding);
        match self {
            Self::Bf16(panels) => panels.stack_transposed(parts, rows),
            Self::Int16(panels) => panels.stack_transposed(parts, rows),
        }
    }

    fn turn_to(&mut self, rounding: Rounding) {
        match (rounding, &*self) {
            (Rounding::Bf16, Self::Bf16(_)) | (Rounding::Int16, Self::Int16(_)) => {}
            (Rounding::Bf16, _) => *self = Self::Bf16(Panels::default()),
            (Rounding::Int16, _) => *self = Self::Int16(Int16Panels::default()),
        }
    }
}

/// What the left matrices of products are rounded in, one after the other.
#[derive(Debug, Default)]
pub struct RoundedRows {
    bf16: Vec<u32>,
    int16: Int16Rows,
}

/// `dst = a · b` for `a` `[N, k]`, where k is even; a number of the result depends on its row and column alone.
pub fn rounded_matmul(
    dst: (&mut [f32], View),
    (a, k): (&[f32], usize),
    b: &RoundedPanels,
    write: WriteMode,
    rows: &mut RoundedRows,
) {
    match b {
        RoundedPanels::Bf16(b) => {
            to_bf16(a, &mut rows.bf16);
            bf16_matmul(dst, &rows.bf16, b, write);
        }
        RoundedPanels::Int16(b) => {
            rows.int16.round(a, k);
            int16_matmul(dst, &rows.int16, b, write);
        }
    }
}

/// `dst = aᵀ · b` for the columns of `a` from `first` on, as many as `dst` has rows; a multiple of 16, as `first` is.
///
/// # Panics
/// When the two are not rounded alike.
pub fn rounded_matmul_transposed(
    dst: (&mut [f32], View),
    rows: usize,
    (a, first): (&RoundedPanels, usize),
    b: &RoundedPanels,
    write: WriteMode,
) {
    match (a, b) {
        (RoundedPanels::Bf16(a), RoundedPanels::Bf16(b)) => bf16_matmul_transposed(dst, rows, a, first, b, write),
        (RoundedPanels::Int16(a), RoundedPanels::Int16(b)) => int16_matmul_transposed(dst, rows, a, first, b, write),
        _ => unreachable!("both sides of a product are rounded alike"),
    }
}
