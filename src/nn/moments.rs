//! What AdamW remembers of each variable: the means of its gradients and of their squares.

use super::gradients::{Gradient, Rows};
use super::kernels::{self, AdamWStep, Idle};
use super::tensor_slice::change;
use super::{NnError, Variable, plain};
use candle_core::{Device, Tensor};
use std::collections::BTreeMap;

/// The moments of one variable.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Of all numbers, or of the rows that the table has a place for.
    first: Vec<f32>,
    second: Vec<f32>,
    /// Of a variable whose gradient comes by rows.
    table: Option<Table>,
    /// Both, of a variable whose gradient is a tensor; the vectors are empty then.
    tensors: Option<[Tensor; 2]>,
}

/// Which rows of a table have moments, and which still have to take which steps.
#[derive(Debug, Default)]
struct Table {
    width: usize,
    /// Where the moments of a row stand, counted in rows. Those of the others are 0: of a large vocabulary most rows never
    /// get a gradient.
    places: BTreeMap<u32, usize>,
    /// Steps since all rows were up to date.
    steps: Vec<Idle>,
    /// How many of them each row has taken.
    taken: Vec<usize>,
}

impl Moments {
    /// Both as a file has them; `rows` are the name and the numbers of the rows that they are of, where not of all.
    pub(super) fn restore([first, second]: [&Tensor; 2], rows: Option<(&str, &Tensor)>) -> Result<Self, NnError> {
        let (first, second) = (first.to_vec1()?, second.to_vec1()?);
        let table = rows.map(|(name, rows)| Table::restore(name, rows, first.len())).transpose()?;
        Ok(Self { first, second, table, tensors: None })
    }

    /// What a file has of them, by the beginnings of the names.
    pub(super) fn tensors(&self) -> Result<Vec<(&'static str, Tensor)>, NnError> {
        let on_cpu = |values: &[f32]| Tensor::from_slice(values, values.len(), &Device::Cpu);
        if let Some([first, second]) = &self.tensors {
            let flat = |tensor: &Tensor| tensor.flatten_all()?.to_device(&Device::Cpu);
            return Ok(vec![("first", flat(first)?), ("second", flat(second)?)]);
        }
        let Some(table) = &self.table else {
            return Ok(vec![("first", on_cpu(&self.first)?), ("second", on_cpu(&self.second)?)]);
        };
        // Files hold numbers of this type alone; up to 2^24 they are exact.
        let rows: Vec<f32> = table.places.keys().map(|row| *row as f32).collect();
        let in_order = |values: &[f32]| on_cpu(&table.in_order(values));
        Ok(vec![("first", in_order(&self.first)?), ("second", in_order(&self.second)?), ("rows", on_cpu(&rows)?)])
    }

    /// How many numbers they are.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether they can be those of a variable.
    pub(super) fn fits(&self, variable: &Variable) -> bool {
        match &self.table {
            Some(table) => table.fits(variable.var.dims()),
            None => self.first.len() == variable.var.elem_count(),
        }
    }

    pub(super) fn take(&mut self, variable: &Variable, gradient: &Gradient, step: AdamWStep) -> Result<(), NnError> {
        match gradient {
            Gradient::Tensor(gradient) => self.take_tensor(variable, gradient, step),
            Gradient::Dense { values, .. } => {
                self.catch_up(variable)?;
                self.spread(variable.var.elem_count());
                let (m, v) = (&mut self.first, &mut self.second);
                Ok(change(variable.var.as_tensor(), |p| kernels::adamw(p, values, m, v, step))?)
            }
            Gradient::Rows(rows) => self.take_rows(variable, rows, step),
        }
    }

    fn take_rows(&mut self, variable: &Variable, rows: &Rows, step: AdamWStep) -> Result<(), NnError> {
        let Rows { width, numbers, values } = rows;
        let table = match self.table.take() {
            Some(table) => table,
            None => Table::of_all(*width, &mut [&mut self.first, &mut self.second]),
        };
        self.table = Some(table);
        self.catch_up_rows(variable, numbers)?;
        let Some(table) = &mut self.table else { return Ok(()) };
        for row in numbers {
            let next = table.places.len();
            table.places.entry(*row).or_insert(next);
        }
        let count = table.places.len() * width;
        self.first.resize(count, 0.0);
        self.second.resize(count, 0.0);
        let moments = [self.first.as_mut_slice(), self.second.as_mut_slice()];
        let places = numbers.iter().filter_map(|row| Some((*row as usize, *table.places.get(row)?)));
        change(variable.var.as_tensor(), |p| kernels::adamw_rows(p, places, values, moments, *width, step))?;
        table.steps.push(step.idle);
        numbers.iter().for_each(|row| table.taken[*row as usize] = table.steps.len());
        Ok(())
    }

    /// Gives all of a variable's numbers, as many as `count`, moments of their own.
    fn spread(&mut self, count: usize) {
        if let Some(table) = self.table.take() {
            for values in [&mut self.first, &mut self.second] {
                let mut all = vec![0.0; count];
                for (row, place) in &table.places {
                    let (to, from) = (*row as usize * table.width, place * table.width);
                    let both = all.get_mut(to..to + table.width).zip(values.get(from..from + table.width));
                    both.into_iter().for_each(|(to, from)| to.copy_from_slice(from));
                }
                *values = all;
            }
        }
        self.first.resize(count, 0.0);
        self.second.resize(count, 0.0);
    }

    fn take_tensor(&mut self, variable: &Variable, gradient: &Tensor, step: AdamWStep) -> Result<(), NnError> {
        let p = variable.var.as_tensor();
        let moments = match self.tensors.take() {
            Some(moments) => moments,
            // As they were restored, or none yet.
            None => {
                self.spread(p.elem_count());
                let begin = |values: &mut Vec<f32>| Tensor::from_vec(std::mem::take(values), p.shape(), p.device());
                [begin(&mut self.first)?, begin(&mut self.second)?]
            }
        };
        let (moved, moments) = plain::adamw(p, gradient, moments, step)?;
        variable.var.set(&moved)?;
        self.tensors = Some(moments);
        Ok(())
    }

    pub(super) fn catch_up_rows(&mut self, variable: &Variable, rows: &[u32]) -> Result<(), NnError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let (m, v, width) = (&mut self.first, &mut self.second, table.width);
        table.taken.resize(variable.var.elem_count() / width.max(1), 0);
        let at = |row: usize| row * width..(row + 1) * width;
        change(variable.var.as_tensor(), |p| {
            for row in rows {
                let moments = table.places.get(row).map(|place| [&mut m[at(*place)], &mut v[at(*place)]]);
                let row = *row as usize;
                kernels::adamw_idle(vec![(&mut p[at(row)], moments, table.taken[row])], &table.steps);
                table.taken[row] = table.steps.len();
            }
        })?;
        Ok(())
    }

    pub(super) fn catch_up(&mut self, variable: &Variable) -> Result<(), NnError> {
        let Some(table) = self.table.as_mut().filter(|table| !table.steps.is_empty()) else { return Ok(()) };
        let width = table.width.max(1);
        let moments = self.first.chunks_exact_mut(width).zip(self.second.chunks_exact_mut(width));
        let mut moments: Vec<Option<[&mut [f32]; 2]>> = moments.map(|(m, v)| Some([m, v])).collect();
        let mut moments_of = |row: usize| moments.get_mut(*table.places.get(&(row as u32))?)?.take();
        change(variable.var.as_tensor(), |p| {
            let rows = p.chunks_exact_mut(width).zip(&table.taken).enumerate();
            let rows = rows.map(|(row, (p, taken))| (p, moments_of(row), *taken)).collect();
            kernels::adamw_idle(rows, &table.steps);
        })?;
        table.steps.clear();
        table.taken.clear();
        Ok(())
    }
}

impl Table {
    /// The numbers of rows that moments are of, as a file has them.
    fn restore(name: &str, rows: &Tensor, moments: usize) -> Result<Self, NnError> {
        let rows: Vec<f32> = rows.to_vec1()?;
        let width = moments / rows.len().max(1);
        let are_numbers = rows.iter().all(|row| *row >= 0.0 && row.fract() == 0.0) && rows.is_sorted_by(|a, b| a < b);
        if rows.is_empty() || width * rows.len() != moments || !are_numbers {
            let (expected, got) = (vec![moments], vec![rows.len()]);
            return Err(NnError::WeightShape { name: name.to_owned(), expected, got });
        }
        Ok(Self { width, places: rows.into_iter().map(|row| row as u32).zip(0..).collect(), ..Self::default() })
    }

    /// The rows that have moments in a file that has them of all.
    fn of_all(width: usize, moments: &mut [&mut Vec<f32>; 2]) -> Self {
        let mut table = Self { width, ..Self::default() };
        let width = width.max(1);
        for row in 0..moments[0].len() / width {
            let at = row * width..(row + 1) * width;
            if moments.iter().any(|values| values[at.clone()].iter().any(|x| *x != 0.0)) {
                let place = table.places.len();
                table.places.insert(row as u32, place);
                moments.iter_mut().for_each(|values| values.copy_within(at.clone(), place * width));
            }
        }
        for values in moments {
            values.truncate(table.places.len() * width);
            values.shrink_to_fit();
        }
        table
    }

    fn fits(&self, dims: &[usize]) -> bool {
        let last = self.places.keys().next_back();
        matches!(dims, [rows, width] if *width == self.width && last.is_some_and(|last| (*last as usize) < *rows))
    }

    /// Moments in the order of the rows.
    fn in_order(&self, values: &[f32]) -> Vec<f32> {
        self.places.values().flat_map(|place| &values[place * self.width..(place + 1) * self.width]).copied().collect()
    }
}
