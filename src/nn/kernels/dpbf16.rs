//! Products of bfloat16 numbers by `vdpbf16ps` of AVX-512, which multiplies sixteen pairs at once.

use super::instructions::HasBf16;
use super::panels::{Left, PANEL};
use super::{View, WriteMode};
use std::arch::x86_64::{
    __m512bh, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_ps,
    _mm512_storeu_ps,
};
use std::mem::transmute;

/// Some rows of one panel of a product.
///
/// # Safety
/// Rows and steps of `a`, the panel's pairs for each step, and 32 columns of each row of `dst` lie in their slices.
pub(super) unsafe fn multiply(
    _: HasBf16,
    rows: usize,
    a: Left<'_>,
    panel: &[u32],
    dst: (&mut [f32], View),
    write: WriteMode,
) {
    // SAFETY: the proof says that the processor has what the function is compiled for; for the rest see the caller.
    unsafe { all_rows(rows, a, panel, dst, write) }
}

/// # Safety
/// See [`multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn all_rows(rows: usize, a: Left<'_>, panel: &[u32], dst: (&mut [f32], View), write: WriteMode) {
    let mut row = 0;
    // SAFETY: as the caller says; only rows below `rows` are asked for.
    unsafe {
        while rows - row >= 12 {
            some_rows::<12>(row, a, panel, dst.0.as_mut_ptr(), dst.1, write);
            row += 12;
        }
        while rows - row >= 4 {
            if rows - row >= 8 {
                some_rows::<8>(row, a, panel, dst.0.as_mut_ptr(), dst.1, write);
                row += 8;
            } else {
                some_rows::<4>(row, a, panel, dst.0.as_mut_ptr(), dst.1, write);
                row += 4;
            }
        }
        while row < rows {
            some_rows::<1>(row, a, panel, dst.0.as_mut_ptr(), dst.1, write);
            row += 1;
        }
    }
}

/// `R` rows from `row`.
///
/// # Safety
/// See [`multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn some_rows<const R: usize>(
    row: usize,
    a: Left<'_>,
    panel: &[u32],
    dst: *mut f32,
    view: View,
    write: WriteMode,
) {
    // SAFETY: as the caller says.
    unsafe {
        let a_row = a.data.as_ptr().add(a.at + row * a.row);
        let dst = dst.add(view.at + row * view.row);
        let mut sums = [[_mm512_setzero_ps(); 2]; R];
        if write == WriteMode::Add {
            for (r, sums) in sums.iter_mut().enumerate() {
                let from = dst.add(r * view.row);
                *sums = [_mm512_loadu_ps(from), _mm512_loadu_ps(from.add(16))];
            }
        }
        for i in 0..panel.len() / PANEL {
            let b = panel.as_ptr().add(i * PANEL);
            let first: __m512bh = transmute(_mm512_loadu_si512(b.cast()));
            let second: __m512bh = transmute(_mm512_loadu_si512(b.add(16).cast()));
            for (r, sums) in sums.iter_mut().enumerate() {
                let a: __m512bh = transmute(_mm512_set1_epi32(*a_row.add(r * a.row + i * a.step) as i32));
                sums[0] = _mm512_dpbf16_ps(sums[0], a, first);
                sums[1] = _mm512_dpbf16_ps(sums[1], a, second);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let to = dst.add(r * view.row);
            _mm512_storeu_ps(to, sums[0]);
            _mm512_storeu_ps(to.add(16), sums[1]);
        }
    }
}
