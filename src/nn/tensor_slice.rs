//! A tensor's numbers as a slice.

use candle_core::{CpuStorage, InplaceOp1, Layout, Storage, StorageRef, Tensor};
use std::cell::RefCell;
use std::ops::{Deref, Range};

/// The numbers of a contiguous `f32` tensor on the CPU, for as long as this lives; nobody writes them meanwhile.
#[derive(Debug)]
pub struct TensorSlice<'a> {
    storage: StorageRef<'a>,
    range: Range<usize>,
}

/// # Errors
/// When the tensor is another kind.
pub fn as_slice(tensor: &Tensor) -> candle_core::Result<TensorSlice<'_>> {
    let (storage, layout) = tensor.storage_and_layout();
    let Some((from, to)) = layout.contiguous_offsets() else {
        candle_core::bail!("the operation needs contiguous input");
    };
    match &*storage {
        Storage::Cpu(cpu) => cpu.as_slice::<f32>()?,
        _ => candle_core::bail!("the operation works on the CPU only"),
    };
    Ok(TensorSlice { storage, range: from..to })
}

impl Deref for TensorSlice<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match &*self.storage {
            Storage::Cpu(cpu) => cpu.as_slice::<f32>().map_or(&[], |all| &all[self.range.clone()]),
            _ => &[], // `as_slice` makes nothing else
        }
    }
}

/// Changes the numbers of a variable where they are.
///
/// # Errors
/// When the tensor is not a contiguous one of `f32` on the CPU.
pub(super) fn change(variable: &Tensor, f: impl FnOnce(&mut [f32])) -> candle_core::Result<()> {
    variable.inplace_op1(&Change(RefCell::new(Some(f))))
}

struct Change<F>(RefCell<Option<F>>);

impl<F: FnOnce(&mut [f32])> InplaceOp1 for Change<F> {
    fn name(&self) -> &'static str {
        "nestling-change"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        let (CpuStorage::F32(values), Some((from, to))) = (storage, layout.contiguous_offsets()) else {
            candle_core::bail!("only contiguous f32 variables can be changed in place");
        };
        if let Some(f) = self.0.take() {
            f(&mut values[from..to]);
        }
        Ok(())
    }
}
