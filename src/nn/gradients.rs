//! The gradients of one step, in buffers that the next step uses again.

use super::kernels::{self, WriteMode, add_row};
use super::tensor_slice::as_slice;
use super::{NnError, Vars};
use candle_core::backprop::GradStore;
use candle_core::{Tensor, TensorId};
use std::collections::HashMap;

/// A gradient for each variable, by the tensor that it is. What is given for one of them is added up until
/// [`Gradients::clear`].
#[derive(Debug, Default)]
pub struct Gradients {
    by_variable: HashMap<TensorId, Gradient>,
    /// Whether gradients stay tensors of candle's.
    plain: bool,
}

/// The gradient of one variable.
#[derive(Debug)]
pub(super) enum Gradient {
    Dense {
        values: Vec<f32>,
        is_empty: bool,
    },
    Rows(Rows),
    /// Of a variable that lies on another device, or is treated as if it did.
    Tensor(Tensor),
}

/// Of a table of which a step sees a few rows: a gradient for each of these.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub width: usize,
    /// As they came; after [`Gradients::settle`] ascending and each once.
    pub numbers: Vec<u32>,
    pub values: Vec<f32>,
}

impl Gradients {
    /// Those that candle's operations alone work with, on whatever device; they come by [`Gradients::add_store`] only.
    pub fn plain() -> Self {
        Self { plain: true, ..Self::default() }
    }

    /// Forgets the values, not the buffers.
    pub fn clear(&mut self) {
        self.by_variable.retain(|_, gradient| !matches!(gradient, Gradient::Tensor(_)));
        for gradient in self.by_variable.values_mut() {
            match gradient {
                Gradient::Dense { is_empty, .. } => *is_empty = true,
                Gradient::Rows(rows) => {
                    rows.numbers.clear();
                    rows.values.clear();
                }
                Gradient::Tensor(_) => {}
            }
        }
    }

    /// Where the gradient of `variable` is to be written, and whether write what stands there.
    pub fn of(&mut self, variable: &Tensor) -> (&mut [f32], WriteMode) {
        let count = variable.elem_count();
        let empty = || Gradient::Dense { values: vec![0.0; count], is_empty: true };
        let gradient = self.by_variable.entry(variable.id()).or_insert_with(empty);
        if !matches!(gradient, Gradient::Dense { values, .. } if values.len() == count) {
            *gradient = empty();
        }
        match gradient {
            Gradient::Dense { values, is_empty } => {
                let write = if std::mem::take(is_empty) { WriteMode::Overwrite } else { WriteMode::Add };
                (values, write)
            }
            Gradient::Rows(_) | Gradient::Tensor(_) => (&mut [], WriteMode::Overwrite),
        }
    }

    /// Where something is to be added to the gradient of `variable`; 0 where nothing was given before.
    pub fn sum(&mut self, variable: &Tensor) -> &mut [f32] {
        let (sum, write) = self.of(variable);
        if write == WriteMode::Overwrite {
            sum.fill(0.0);
        }
        sum
    }

    /// The buffer of a variable's gradient, and whether it is to be written write, to be given back by [`Gradients::put`].
    pub fn take(&mut self, variable: &Tensor) -> (Vec<f32>, WriteMode) {
        let (values, write) = self.of(variable);
        let count = values.len();
        match self.by_variable.get_mut(&variable.id()) {
            Some(Gradient::Dense { values, .. }) => (std::mem::take(values), write),
            _ => (vec![0.0; count], write),
        }
    }

    pub fn put(&mut self, variable: &Tensor, values: Vec<f32>) {
        self.by_variable.insert(variable.id(), Gradient::Dense { values, is_empty: false });
    }

    /// Adds a gradient for all of `variable`.
    pub fn add(&mut self, variable: &Tensor, values: &[f32]) {
        match self.of(variable) {
            (sum, WriteMode::Add) => add_row(sum, values),
            (sum, WriteMode::Overwrite) => sum.copy_from_slice(values),
        }
    }

    /// Adds a gradient for some rows of the table `variable`, `[V, H]`: `values` holds H numbers for each.
    pub fn add_rows(&mut self, variable: &Tensor, numbers: &[u32], values: &[f32]) {
        let width = variable.dims().last().copied().unwrap_or(1).max(1);
        let gradient = self.by_variable.entry(variable.id()).or_insert_with(|| Gradient::Rows(Rows::default()));
        if let Gradient::Rows(rows) = gradient {
            rows.width = width;
            rows.numbers.extend(numbers);
            rows.values.extend(values);
        }
    }

    /// Adds what candle found for the variables.
    ///
    /// # Errors
    /// When a gradient does not lie on the CPU, unless these are [`Gradients::plain`].
    pub fn add_store(&mut self, vars: &Vars, store: &GradStore) -> Result<(), NnError> {
        for (_, variable) in vars.iter() {
            let variable = variable.var.as_tensor();
            let Some(gradient) = store.get(variable) else { continue };
            if self.plain {
                let sum = match self.by_variable.get(&variable.id()) {
                    Some(Gradient::Tensor(before)) => (before + gradient)?,
                    _ => gradient.clone(),
                };
                self.by_variable.insert(variable.id(), Gradient::Tensor(sum));
            } else {
                let gradient = gradient.contiguous()?;
                self.add(variable, &as_slice(&gradient)?);
            }
        }
        Ok(())
    }

    /// Adds up the gradients of rows that came more than once.
    pub(super) fn settle(&mut self) {
        for gradient in self.by_variable.values_mut() {
            if let Gradient::Rows(rows) = gradient {
                rows.settle();
            }
        }
    }

    /// What there is for a variable since the last [`Gradients::clear`].
    pub(super) fn get(&self, variable: &Tensor) -> Option<&Gradient> {
        self.by_variable.get(&variable.id()).filter(|gradient| match gradient {
            Gradient::Dense { is_empty, .. } => !is_empty,
            Gradient::Rows(rows) => !rows.numbers.is_empty(),
            Gradient::Tensor(_) => true,
        })
    }

    /// The gradient of a variable as a dense one, for looking at it.
    pub fn dense(&self, variable: &Tensor) -> Option<Vec<f32>> {
        Some(match self.get(variable)? {
            Gradient::Dense { values, .. } => values.clone(),
            Gradient::Tensor(tensor) => tensor.flatten_all().and_then(|flat| flat.to_vec1()).ok()?,
            Gradient::Rows(rows) => {
                let mut all = vec![0.0; variable.elem_count()];
                for (number, row) in rows.numbers.iter().zip(rows.values.chunks_exact(rows.width)) {
                    let at = *number as usize * rows.width;
                    add_row(&mut all[at..at + rows.width], row);
                }
                all
            }
        })
    }
}

impl Gradient {
    pub(super) fn squared_norm(&self) -> Result<f64, NnError> {
        Ok(match self {
            Self::Dense { values, .. } | Self::Rows(Rows { values, .. }) => kernels::squared_norm(values),
            Self::Tensor(tensor) => f64::from(tensor.sqr()?.sum_all()?.to_scalar::<f32>()?),
        })
    }
}

impl Rows {
    fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        // Stable: equal rows are added in the order in which they came.
        order.sort_by_key(|&i| self.numbers[i]);
        let (mut numbers, mut values): (Vec<u32>, Vec<f32>) = (Vec::new(), Vec::with_capacity(self.values.len()));
        for i in order {
            let row = &self.values[i * self.width..(i + 1) * self.width];
            if numbers.last() == Some(&self.numbers[i]) {
                let from = values.len() - self.width;
                add_row(&mut values[from..], row);
            } else {
                numbers.push(self.numbers[i]);
                values.extend(row);
            }
        }
        (self.numbers, self.values) = (numbers, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{DType, Device, Var};

    #[test]
    fn gradients_add_up_until_they_are_cleared() {
        let (a, table) = (Var::zeros(2, DType::F32, &Device::Cpu), Var::zeros((4, 2), DType::F32, &Device::Cpu));
        let (a, table) = (a.unwrap().as_tensor().clone(), table.unwrap().as_tensor().clone());
        let mut gradients = Gradients::default();
        for _ in 0..2 {
            gradients.add(&a, &[1.0, 2.0]);
            gradients.add(&a, &[1.0, 2.0]);
            gradients.add_rows(&table, &[3, 1, 3], &[1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
            gradients.settle();
            assert_eq!(gradients.dense(&a).unwrap(), [2.0, 4.0]);
            assert_eq!(gradients.dense(&table).unwrap(), [0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 5.0, 5.0]);
            gradients.clear();
            assert!(gradients.dense(&a).is_none() && gradients.dense(&table).is_none());
        }
    }
}
