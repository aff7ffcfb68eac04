//! Products of whole numbers of 16 bits by `vpmaddwd` of AVX2, which multiplies eight pairs at once: two thirds more
//! products a cycle than fused multiplication and addition of `f32`.

use super::View;
use super::WriteMode;
use super::instructions::HasAvx2;
use super::int16_panels::WIDTH;
use super::panels::Left;
use std::arch::x86_64::{
    __m256, __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_add_epi32, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256,
    _mm256_storeu_ps,
};

/// Some rows of one panel of a product; each sum is multiplied by the scales of its row and of its column.
///
/// # Safety
/// Rows and steps of `a`, which lie side by side or a panel apart, the panel's pairs for each step, and 16 columns of each row of `dst` lie in their slices; there is
/// a scale for each row and column.
pub(super) unsafe fn multiply(
    _: HasAvx2,
    a: (Left<'_>, &[f32]),
    panel: (&[u32], &[f32; WIDTH]),
    dst: (&mut [f32], View),
    write: WriteMode,
) {
    // SAFETY: the proof says that the processor has what the function is compiled for; for the rest see the caller.
    unsafe { all_rows(a, panel, dst, write) }
}

/// # Safety
/// See [`multiply`].
#[target_feature(enable = "avx2,fma")]
unsafe fn all_rows(a: (Left<'_>, &[f32]), panel: (&[u32], &[f32; WIDTH]), dst: (&mut [f32], View), write: WriteMode) {
    let dst = (dst.0.as_mut_ptr(), dst.1);
    // SAFETY: as the caller says; each row that is asked for has a scale, and lies after those that are done.
    unsafe {
        let done = rows_of::<4>(0, a, panel, dst, write);
        rows_of::<1>(done, a, panel, dst, write);
    }
}

/// As many rows from `first` on as make groups of `R`; returns how many.
///
/// # Safety
/// See [`multiply`].
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn rows_of<const R: usize>(
    first: usize,
    (a, scales): (Left<'_>, &[f32]),
    panel: (&[u32], &[f32; WIDTH]),
    dst: (*mut f32, View),
    write: WriteMode,
) -> usize {
    let groups = scales[first..].as_chunks::<R>().0;
    for (i, scales) in groups.iter().enumerate() {
        let row = first + i * R;
        // SAFETY: as the caller says.
        unsafe {
            if a.step == 1 {
                some_rows::<R, 1>(row, a, scales, panel, dst, write);
            } else {
                some_rows::<R, WIDTH>(row, a, scales, panel, dst, write);
            }
        }
    }
    groups.len() * R
}

/// `R` rows from `row`, whose steps lie `STEP` pairs apart.
///
/// # Safety
/// See [`multiply`].
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn some_rows<const R: usize, const STEP: usize>(
    row: usize,
    a: Left<'_>,
    scales: &[f32; R],
    (panel, columns): (&[u32], &[f32; WIDTH]),
    (dst, view): (*mut f32, View),
    write: WriteMode,
) {
    // SAFETY: as the caller says.
    unsafe {
        let (mut a_row, mut b) = (a.data.as_ptr().add(a.at + row * a.row), panel.as_ptr());
        let dst = dst.add(view.at + row * view.row);
        for r in 0..R {
            _mm_prefetch::<_MM_HINT_T0>(dst.add(r * view.row).cast());
        }
        let mut sums = [[_mm256_setzero_si256(); 2]; R];
        // Two pairs at a time: on older processors decoding is what takes longest.
        for _ in 0..panel.len() / WIDTH / 2 {
            step(&mut sums, a_row, a.row, b);
            step(&mut sums, a_row.add(STEP), a.row, b.add(WIDTH));
            (a_row, b) = (a_row.add(2 * STEP), b.add(2 * WIDTH));
        }
        if panel.len() / WIDTH % 2 == 1 {
            step(&mut sums, a_row, a.row, b);
        }
        let columns = [_mm256_loadu_ps(columns.as_ptr()), _mm256_loadu_ps(columns.as_ptr().add(WIDTH / 2))];
        for (r, (sums, scale)) in sums.iter().zip(scales).enumerate() {
            for (half, (sum, column)) in sums.iter().zip(columns).enumerate() {
                let to = dst.add(r * view.row + half * WIDTH / 2);
                let scale = _mm256_mul_ps(_mm256_set1_ps(*scale), column);
                let product: __m256 = _mm256_mul_ps(_mm256_cvtepi32_ps(*sum), scale);
                let product = match write {
                    WriteMode::Overwrite => product,
                    WriteMode::Add => _mm256_add_ps(_mm256_loadu_ps(to), product),
                };
                _mm256_storeu_ps(to, product);
            }
        }
    }
}

/// Adds the products of a pair of each row with sixteen of the panel.
///
/// # Safety
/// `a` holds a pair in each of `R` rows, which lie `row` apart, and `b` sixteen.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn step<const R: usize>(sums: &mut [[__m256i; 2]; R], a: *const u32, row: usize, b: *const u32) {
    // SAFETY: as the caller says.
    unsafe {
        let (first, second) = (_mm256_loadu_si256(b.cast()), _mm256_loadu_si256(b.add(WIDTH / 2).cast()));
        for (r, sums) in sums.iter_mut().enumerate() {
            let a = _mm256_set1_epi32(*a.add(r * row) as i32);
            sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(a, first));
            sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(a, second));
        }
    }
}
