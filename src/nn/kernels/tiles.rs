//! Products of pairs of bfloat16 numbers by AMX, the matrix unit of server processors by Intel: eight tiles of 16 rows of
//! 64 bytes, and one instruction that multiplies two of them onto a third (Intel 64 and IA-32 Architectures Software
//! Developer's Manual, volume 1, chapter 18).
//!
//! The compiler knows neither the tiles nor the instructions, so each block of a product is one piece of assembly, which
//! leaves the unit as it was.

use super::WriteMode;
use super::instructions::HasAmx;
use super::panels::PANEL;
use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_permutex2var_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Rows of a tile, and numbers of 32 bits in each.
const TILE: usize = 16;
/// Rows of a block: two tiles.
const BLOCK: usize = 2 * TILE;

/// Shapes of the eight tiles: four of sums (upper left and right, lower left and right), two of the left matrix, two of
/// the panel.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    zeros: [u8; 14],
    /// Bytes of a row, sixteen places for eight tiles.
    bytes: [u16; 16],
    rows: [u8; 16],
}

impl Shapes {
    /// For blocks of so many rows in the upper and the lower tiles.
    const fn new(upper: usize, lower: usize) -> Self {
        let (u, l, all) = (upper as u8, lower as u8, TILE as u8);
        Self {
            palette: 1,
            start_row: 0,
            zeros: [0; 14],
            bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
            rows: [u, u, l, l, u, l, all, all, 0, 0, 0, 0, 0, 0, 0, 0],
        }
    }
}

/// Rows of `a`, from `a` on every `a_row` pairs, times a panel of as many pairs of rows, into 32 columns of `dst`.
///
/// # Safety
/// `a` holds `rows` rows of `panel.len() / 32` pairs, `dst` 32 numbers in each of as many rows.
pub(super) unsafe fn multiply(
    has: HasAmx,
    rows: usize,
    (a, a_row): (*const u32, usize),
    panel: &[u32],
    (dst, dst_row): (*mut f32, usize),
    write: WriteMode,
) {
    let pairs = panel.len() / PANEL;
    let (steps, rest) = (pairs / TILE, pairs % TILE);
    for row in (0..rows).step_by(BLOCK) {
        let upper = TILE.min(rows - row);
        // Where there are none in the lower tiles they do what the upper ones do, with the same result.
        let (lower, below) = match rows - row - upper {
            0 => (upper, 0),
            more => (TILE.min(more), TILE),
        };
        let shapes = Shapes::new(upper, lower);
        // SAFETY: all rows are below `rows`, all pairs of whole tiles below `pairs`; of the pairs that are left copies are
        // multiplied, with zeros up to a whole tile.
        unsafe {
            let (a, dst) = (a.add(row * a_row), dst.add(row * dst_row));
            let dst = [dst, dst.add(below * dst_row)];
            if steps > 0 {
                block(has, &shapes, steps, [a, a.add(below * a_row)], a_row, panel.as_ptr(), dst, dst_row, write);
            }
            if rest > 0 {
                let (mut left, mut right) = ([0; BLOCK * TILE], [0; TILE * PANEL]);
                for (line, to) in left.chunks_exact_mut(TILE).take(BLOCK.min(rows - row)).enumerate() {
                    let from = a.add(line * a_row + steps * TILE);
                    to[..rest].copy_from_slice(std::slice::from_raw_parts(from, rest));
                }
                right[..rest * PANEL].copy_from_slice(&panel[steps * TILE * PANEL..]);
                let write = if steps > 0 { WriteMode::Add } else { write };
                let left = left.as_ptr();
                block(has, &shapes, 1, [left, left.add(below * TILE)], TILE, right.as_ptr(), dst, dst_row, write);
            }
        }
    }
}

/// Two tiles of rows times two of columns, `steps` tiles deep; of each pair of pointers the second is the lower tiles'.
///
/// # Safety
/// What the shapes say is there.
#[expect(clippy::too_many_arguments, reason = "a piece of assembly has many operands")]
#[inline]
unsafe fn block(
    _: HasAmx,
    shapes: &Shapes,
    steps: usize,
    a: [*const u32; 2],
    a_row: usize,
    panel: *const u32,
    dst: [*mut f32; 2],
    dst_row: usize,
    write: WriteMode,
) {
    // SAFETY: it reads and writes what the caller says is there, `steps` is not 0, and it leaves the tiles empty.
    unsafe {
        asm!(
            "ldtilecfg [{shapes}]",
            "test {sum:e}, {sum:e}",
            "jz 2f",
            "tileloadd tmm0, [{upper} + {dst_row}*1]",
            "tileloadd tmm1, [{upper} + {dst_row}*1 + 64]",
            "tileloadd tmm2, [{lower} + {dst_row}*1]",
            "tileloadd tmm3, [{lower} + {dst_row}*1 + 64]",
            "2:",
            "tileloadd tmm6, [{panel} + {panel_row}*1]",
            "tileloadd tmm4, [{a} + {a_row}*1]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{panel} + {panel_row}*1 + 64]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{below} + {a_row}*1]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {a}, 64",
            "add {below}, 64",
            "add {panel}, {panel_tile}",
            "dec {steps}",
            "jnz 2b",
            "tilestored [{upper} + {dst_row}*1], tmm0",
            "tilestored [{upper} + {dst_row}*1 + 64], tmm1",
            "tilestored [{lower} + {dst_row}*1], tmm2",
            "tilestored [{lower} + {dst_row}*1 + 64], tmm3",
            "tilerelease",
            shapes = in(reg) shapes,
            sum = in(reg) u32::from(write == WriteMode::Add),
            a = inout(reg) a[0] => _,
            below = inout(reg) a[1] => _,
            a_row = in(reg) 4 * a_row,
            panel = inout(reg) panel => _,
            panel_row = in(reg) 4 * PANEL,
            panel_tile = const 4 * PANEL * TILE,
            steps = inout(reg) steps => _,
            upper = in(reg) dst[0],
            lower = in(reg) dst[1],
            dst_row = in(reg) 4 * dst_row,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}

/// Lays `rows` columns of a panel, from `column` on, by rows of as many pairs as the panel has.
pub(super) fn rows_of(_: HasAmx, panel: &[u32], column: usize, rows: usize, to: &mut Vec<u32>) {
    // SAFETY: the proof says that there are tiles, and where there are tiles there is AVX-512.
    unsafe { rows_by_avx512(panel, column, rows, to) }
}

/// See [`rows_of`].
#[target_feature(enable = "avx512f")]
fn rows_by_avx512(panel: &[u32], column: usize, rows: usize, to: &mut Vec<u32>) {
    let pairs = panel.len() / PANEL;
    to.resize(rows * pairs, 0);
    for first in (0..rows).step_by(TILE) {
        let rows = TILE.min(rows - first);
        for from in (0..pairs).step_by(TILE) {
            let count = TILE.min(pairs - from);
            if rows == TILE && count == TILE {
                let mut lines = [_mm512_setzero_si512(); TILE];
                for (i, line) in lines.iter_mut().enumerate() {
                    let piece = &panel[(from + i) * PANEL + column + first..][..TILE];
                    // SAFETY: sixteen numbers are read from as many.
                    *line = unsafe { _mm512_loadu_si512(piece.as_ptr().cast()) };
                }
                transpose(&mut lines);
                for (i, line) in lines.iter().enumerate() {
                    let piece = &mut to[(first + i) * pairs + from..][..TILE];
                    // SAFETY: sixteen numbers are written to as many.
                    unsafe { _mm512_storeu_si512(piece.as_mut_ptr().cast(), *line) };
                }
                continue;
            }
            for i in 0..count {
                let line = &panel[(from + i) * PANEL + column + first..][..rows];
                for (row, x) in line.iter().enumerate() {
                    to[(first + row) * pairs + from + i] = *x;
                }
            }
        }
    }
}

/// Sixteen rows of sixteen numbers become its columns: blocks of 8, 4, 2 and 1 trade places.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(lines: &mut [__m512i; TILE]) {
    /// For each size of blocks: where the numbers of the upper and the lower row of two come from.
    static ORDER: [[[u32; TILE]; 2]; 4] = {
        let (mut order, mut level) = ([[[0; TILE]; 2]; 4], 0);
        while level < 4 {
            let (size, mut i) = (8 >> level, 0);
            while i < TILE {
                // Bit four chooses the lower row.
                order[level][0][i] = if i & size == 0 { i } else { (i - size) | TILE } as u32;
                order[level][1][i] = if i & size == 0 { i + size } else { i | TILE } as u32;
                i += 1;
            }
            level += 1;
        }
        order
    };
    for (level, order) in ORDER.iter().enumerate() {
        let size = 8 >> level;
        // SAFETY: sixteen numbers are read from as many.
        let [upper, lower] = [0, 1].map(|i| unsafe { _mm512_loadu_si512(order[i].as_ptr().cast()) });
        for i in (0..TILE).filter(|i| i & size == 0) {
            let (a, b) = (lines[i], lines[i + size]);
            lines[i] = _mm512_permutex2var_epi32(a, upper, b);
            lines[i + size] = _mm512_permutex2var_epi32(a, lower, b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::InstructionSet;
    use super::super::testing::instruction_sets;
    use super::*;
    use proptest::prelude::*;
    use std::sync::Once;

    /// The tiles, where the machine has them; else it is said once that both tests are skipped.
    fn tiles() -> Option<HasAmx> {
        static SAID: Once = Once::new();
        SAID.call_once(|| drop(instruction_sets()));
        InstructionSet::all()
            .into_iter()
            .find_map(|set| if let InstructionSet::Amx(has) = set { Some(has) } else { None })
    }

    proptest! {
        #[test]
        fn columns_of_a_panel_become_rows(pairs in 1usize..50, column in 0usize..3, rows in 1usize..=2) {
            let Some(has) = tiles() else { return Ok(()) };
            let panel: Vec<u32> = (0..(pairs * PANEL) as u32).collect();
            let (column, rows, mut lines) = (8 * column, 8 * rows, Vec::new());
            rows_of(has, &panel, column, rows, &mut lines);
            for (row, line) in lines.chunks_exact(pairs).enumerate() {
                for (pair, x) in line.iter().enumerate() {
                    prop_assert_eq!(*x as usize, pair * PANEL + column + row);
                }
            }
        }

        #[test]
        fn a_row_of_a_product_does_not_depend_on_the_rows_beside_it(rows in 1usize..70, pairs in 1usize..40, sum: bool, seed: u32) {
            let Some(has) = tiles() else { return Ok(()) };
            // Halves of numbers between 1 and 2, drawn one after the other.
            let mut state = seed;
            let mut half = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                0x3f80 | (state >> 25)
            };
            let mut draw = |count| (0..count).map(|_| half() | (half() << 16)).collect::<Vec<u32>>();
            let (a, panel) = (draw(rows * pairs), draw(pairs * PANEL));
            let write = if sum { WriteMode::Add } else { WriteMode::Overwrite };
            let (mut all, mut alone) = (vec![1.5f32; rows * PANEL], vec![1.5f32; PANEL]);
            // SAFETY: the slices are as long as asked for.
            unsafe { multiply(has, rows, (a.as_ptr(), pairs), &panel, (all.as_mut_ptr(), PANEL), write) };
            for (a, all) in a.chunks_exact(pairs).zip(all.chunks_exact(PANEL)) {
                alone.fill(1.5);
                // SAFETY: as above.
                unsafe { multiply(has, 1, (a.as_ptr(), pairs), &panel, (alone.as_mut_ptr(), PANEL), write) };
                prop_assert_eq!(all, &alone[..]);
            }
        }
    }
}
