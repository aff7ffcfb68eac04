//! AdamW with a learning rate for each part of the model.

use super::gradients::{Gradient, Rows};
use super::kernels::{self, AdamWStep, Idle};
use super::tensor_slice::change;
use super::{Gradients, NnError, ParameterGroup, Variable, Vars, plain};
use candle_core::{Device, Tensor};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamWConfig {
    pub encoder_lr: f64,
    pub head_lr: f64,
    pub weight_decay: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    /// Gradients are scaled down to this norm, taken over all variables together.
    pub max_norm: f64,
}

/// Decoupled weight decay (Loshchilov and Hutter 2019), in place on the CPU.
///
/// A table whose gradient comes by rows takes its steps row by row, when a row is needed: what the others missed is kept
/// and done by [`AdamW::catch_up`]. The values are those of steps taken at the time, bit for bit.
#[derive(Debug)]
pub struct AdamW {
    config: AdamWConfig,
    moments: BTreeMap<String, Moments>,
    steps: u64,
}

#[derive(Debug, Default)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
    /// Of a variable whose gradient comes by rows.
    table: Option<Table>,
    /// Both, of a variable whose gradient is a tensor; the vectors are empty then.
    tensors: Option<[Tensor; 2]>,
}

/// Which rows of a table still have to take which steps.
#[derive(Debug)]
struct Table {
    width: usize,
    /// Steps since all rows were up to date.
    steps: Vec<Idle>,
    /// How many of them each row has taken.
    taken: Vec<usize>,
}

impl AdamW {
    pub fn new(config: AdamWConfig) -> Self {
        Self { config, moments: BTreeMap::new(), steps: 0 }
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves all variables that have a gradient; both learning rates are multiplied by `factor`.
    ///
    /// Returns the norm of the gradients before clipping.
    ///
    /// # Errors
    /// [`NnError::NotFinite`] when that norm is not finite; nothing has moved then.
    pub fn step(&mut self, vars: &Vars, gradients: &mut Gradients, factor: f64) -> Result<f64, NnError> {
        gradients.settle();
        let gradients: &Gradients = gradients;
        let moving = || vars.iter().filter_map(|(name, v)| Some((name, v, gradients.get(v.var.as_tensor())?)));
        let squares = moving().map(|(_, _, gradient)| gradient.squared_norm());
        let norm = squares.sum::<Result<f64, _>>()?.sqrt();
        if !norm.is_finite() {
            return Err(NnError::NotFinite);
        }
        self.steps += 1;
        let grad_scale = if norm > self.config.max_norm { self.config.max_norm / norm } else { 1.0 };
        for (name, variable, gradient) in moving() {
            let step = self.constants(variable, grad_scale, factor);
            let moments = self.moments.entry(name.to_owned()).or_default();
            moments.take(variable, gradient, step)?;
        }
        Ok(norm)
    }

    fn constants(&self, variable: &Variable, grad_scale: f64, factor: f64) -> AdamWStep {
        let c = self.config;
        let base = match variable.part {
            ParameterGroup::Encoder => c.encoder_lr,
            ParameterGroup::TaskHead => c.head_lr,
        };
        let correct = |beta: f64| 1.0 / (1.0 - beta.powf(self.steps as f64));
        let (lr, decay) = (base * factor, if variable.decays { c.weight_decay } else { 0.0 });
        let idle = Idle {
            beta1: c.beta1 as f32,
            beta2: c.beta2 as f32,
            eps: c.eps as f32,
            rate: (lr * correct(c.beta1)) as f32,
            correct2: correct(c.beta2) as f32,
            keep: (1.0 - lr * decay) as f32,
        };
        AdamWStep { grad_scale: grad_scale as f32, rest1: (1.0 - c.beta1) as f32, rest2: (1.0 - c.beta2) as f32, idle }
    }

    /// Brings rows of a table up to date, before they are read.
    ///
    /// # Errors
    /// When the table does not lie on the CPU.
    pub fn catch_up_rows(&mut self, vars: &Vars, table: &Tensor, rows: &[u32]) -> Result<(), NnError> {
        for (name, variable) in vars.iter().filter(|(_, v)| v.var.as_tensor().id() == table.id()) {
            if let Some(moments) = self.moments.get_mut(name) {
                moments.catch_up_rows(variable, rows)?;
            }
        }
        Ok(())
    }

    /// Brings all tables up to date, before a model is read as a whole.
    ///
    /// # Errors
    /// When one does not lie on the CPU.
    pub fn catch_up(&mut self, vars: &Vars) -> Result<(), NnError> {
        for (name, variable) in vars.iter() {
            if let Some(moments) = self.moments.get_mut(name) {
                moments.catch_up(variable)?;
            }
        }
        Ok(())
    }

    /// The moments as tensors `first.NAME` and `second.NAME`; with [`AdamW::steps`] they are the whole state, when
    /// everything is up to date.
    ///
    /// # Errors
    /// When a tensor can't be made.
    pub fn moments(&self) -> Result<BTreeMap<String, Tensor>, NnError> {
        let mut tensors = BTreeMap::new();
        for (name, m) in &self.moments {
            for (i, (which, values)) in [("first", &m.first), ("second", &m.second)].into_iter().enumerate() {
                let tensor = match &m.tensors {
                    Some(both) => both[i].flatten_all()?.to_device(&Device::Cpu)?,
                    None => Tensor::from_slice(values, values.len(), &Device::Cpu)?,
                };
                tensors.insert(format!("{which}.{name}"), tensor);
            }
        }
        Ok(tensors)
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// When a first moment has no second one of the same length.
    pub fn restore(config: AdamWConfig, steps: u64, tensors: &HashMap<String, Tensor>) -> Result<Self, NnError> {
        let mut moments = BTreeMap::new();
        for (key, first) in tensors {
            let Some(name) = key.strip_prefix("first.") else { continue };
            let other = format!("second.{name}");
            let second = tensors.get(&other).ok_or(NnError::MissingWeight { name: other.clone() })?;
            if first.dims() != second.dims() {
                let (expected, got) = (first.dims().to_vec(), second.dims().to_vec());
                return Err(NnError::WeightShape { name: other, expected, got });
            }
            let both = Moments { first: first.to_vec1()?, second: second.to_vec1()?, ..Moments::default() };
            moments.insert(name.to_owned(), both);
        }
        Ok(Self { config, moments, steps })
    }

    /// # Errors
    /// The first moments that are of no variable, or not as long as it.
    pub fn check_fits(&self, vars: &Vars) -> Result<(), NnError> {
        let lengths: BTreeMap<&str, usize> = vars.iter().map(|(name, v)| (name, v.var.elem_count())).collect();
        for (name, moments) in &self.moments {
            let (length, in_file) = (lengths.get(name.as_str()), format!("first.{name}"));
            match length {
                Some(length) if *length == moments.first.len() => {}
                Some(length) => {
                    let (expected, got) = (vec![*length], vec![moments.first.len()]);
                    return Err(NnError::WeightShape { name: in_file, expected, got });
                }
                None => return Err(NnError::WeightUnused { name: in_file }),
            }
        }
        Ok(())
    }
}

impl Moments {
    fn take(&mut self, variable: &Variable, gradient: &Gradient, step: AdamWStep) -> Result<(), NnError> {
        if let Gradient::Tensor(gradient) = gradient {
            return self.take_tensor(variable, gradient, step);
        }
        let count = variable.var.elem_count();
        self.first.resize(count, 0.0);
        self.second.resize(count, 0.0);
        match gradient {
            Gradient::Dense { values, .. } => {
                self.catch_up(variable)?;
                let (m, v) = (&mut self.first, &mut self.second);
                change(variable.var.as_tensor(), |p| kernels::adamw(p, values, m, v, step))?;
            }
            Gradient::Rows(Rows { width, numbers, values }) => {
                let rows = count / (*width).max(1);
                let empty = || Table { width: *width, steps: Vec::new(), taken: vec![0; rows] };
                self.table.get_or_insert_with(empty);
                self.catch_up_rows(variable, numbers)?;
                let moments = [self.first.as_mut_slice(), self.second.as_mut_slice()];
                change(variable.var.as_tensor(), |p| {
                    kernels::adamw_rows(p, numbers, values, moments, *width, step);
                })?;
                if let Some(table) = &mut self.table {
                    table.steps.push(step.idle);
                    numbers.iter().for_each(|row| table.taken[*row as usize] = table.steps.len());
                }
            }
            Gradient::Tensor(_) => {}
        }
        Ok(())
    }

    fn take_tensor(&mut self, variable: &Variable, gradient: &Tensor, step: AdamWStep) -> Result<(), NnError> {
        let p = variable.var.as_tensor();
        let moments = match self.tensors.take() {
            Some(moments) => moments,
            // As they were restored, or none yet.
            None => {
                let begin = |values: &mut Vec<f32>| {
                    values.resize(p.elem_count(), 0.0);
                    Tensor::from_vec(std::mem::take(values), p.shape(), p.device())
                };
                [begin(&mut self.first)?, begin(&mut self.second)?]
            }
        };
        let (moved, moments) = plain::adamw(p, gradient, moments, step)?;
        variable.var.set(&moved)?;
        self.tensors = Some(moments);
        Ok(())
    }

    fn catch_up_rows(&mut self, variable: &Variable, rows: &[u32]) -> Result<(), NnError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let (m, v, width) = (&mut self.first, &mut self.second, table.width);
        change(variable.var.as_tensor(), |p| {
            for row in rows.iter().map(|row| *row as usize) {
                let at = row * width..(row + 1) * width;
                let moments = [&mut m[at.clone()], &mut v[at.clone()]];
                kernels::adamw_idle(&mut p[at], moments, width, &table.steps[table.taken[row]..], |_| 0);
                table.taken[row] = table.steps.len();
            }
        })?;
        Ok(())
    }

    fn catch_up(&mut self, variable: &Variable) -> Result<(), NnError> {
        let Some(table) = self.table.take() else { return Ok(()) };
        let moments = [self.first.as_mut_slice(), self.second.as_mut_slice()];
        change(variable.var.as_tensor(), |p| {
            kernels::adamw_idle(p, moments, table.width, &table.steps, |row| table.taken[row]);
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Init;
    use candle_core::backprop::GradStore;

    const CONFIG: AdamWConfig = AdamWConfig {
        encoder_lr: 0.1,
        head_lr: 0.01,
        weight_decay: 0.5,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        max_norm: 1e9,
    };

    fn model() -> Vars {
        let mut vars = Vars::trainable(1, &Device::Cpu);
        vars.scope("e", ParameterGroup::Encoder).declare("w", &[1, 2], Init::Ones).unwrap();
        vars.scope("h", ParameterGroup::TaskHead).declare("b", &[2], Init::Ones).unwrap();
        vars
    }

    /// The loss Σ c · x³ with another constant for each number.
    fn grads(vars: &Vars) -> Gradients {
        let mut gradients = Gradients::default();
        gradients.add_store(vars, &store(vars)).unwrap();
        gradients
    }

    fn store(vars: &Vars) -> GradStore {
        let mut total = Tensor::new(0f32, &Device::Cpu).unwrap();
        for (i, (_, v)) in vars.iter().enumerate() {
            let x = v.var.as_tensor().flatten_all().unwrap();
            let c = Tensor::new(&[1f32 + i as f32, -2.0], &Device::Cpu).unwrap();
            total = (total + (x.powf(3.0).unwrap() * c).unwrap().sum_all().unwrap()).unwrap();
        }
        total.backward().unwrap()
    }

    fn values(vars: &Vars) -> Vec<f32> {
        vars.iter().flat_map(|(_, v)| v.var.flatten_all().unwrap().to_vec1::<f32>().unwrap()).collect()
    }

    /// Reference made with PyTorch 2.15:
    /// ```python
    /// e, h = (torch.ones(2, requires_grad=True) for _ in range(2))
    /// opt = torch.optim.AdamW([{"params": [e], "lr": .1, "weight_decay": .5}, {"params": [h], "lr": .01, "weight_decay": 0}])
    /// for _ in range(3):
    ///     loss = (e ** 3 * torch.tensor([1., -2.])).sum() + (h ** 3 * torch.tensor([2., -2.])).sum()
    ///     opt.zero_grad(); loss.backward(); opt.step()
    /// ```
    #[test]
    fn steps_are_as_in_pytorch() {
        let vars = model();
        let mut adam = AdamW::new(CONFIG);
        for _ in 0..3 {
            adam.step(&vars, &mut grads(&vars), 1.0).unwrap();
        }
        let expected = [0.579_909_5, 1.143_110_2, 0.970_021_1, 1.030_017];
        for (got, want) in values(&vars).iter().zip(expected) {
            assert!((got - want).abs() < 2e-6, "{:?} {expected:?}", values(&vars));
        }
    }

    #[test]
    fn tensors_take_the_steps_that_slices_take() {
        let (fast, plain) = (model(), model());
        let (mut adam, mut plain_adam) = (AdamW::new(CONFIG), AdamW::new(CONFIG));
        for step in 0..4 {
            let factor = 1.0 / f64::from(step + 1);
            adam.step(&fast, &mut grads(&fast), factor).unwrap();
            let mut gradients = Gradients::plain();
            gradients.add_store(&plain, &store(&plain)).unwrap();
            plain_adam.step(&plain, &mut gradients, factor).unwrap();
            if step == 1 {
                let saved = plain_adam.moments().unwrap().into_iter().collect();
                plain_adam = AdamW::restore(CONFIG, plain_adam.steps(), &saved).unwrap();
            }
        }
        for (got, want) in values(&plain).iter().zip(values(&fast)) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn rows_that_catch_up_are_where_dense_steps_take_them() {
        let table = || {
            let mut vars = Vars::trainable(1, &Device::Cpu);
            vars.scope("e", ParameterGroup::Encoder).declare("t", &[7, 19], Init::Normal { std: 1.0 }).unwrap();
            let tensor = vars.iter().next().unwrap().1.var.as_tensor().clone();
            (vars, tensor)
        };
        let ((dense, dense_table), (lazy, lazy_table)) = (table(), table());
        let (mut dense_adam, mut lazy_adam) = (AdamW::new(CONFIG), AdamW::new(CONFIG));
        let mut rng = crate::nn::Rng::new(3, "rows");
        for step in 0..12 {
            let rows: Vec<u32> = (0..rng.below(4)).map(|_| rng.below(6) as u32).collect();
            let values: Vec<f32> = (0..rows.len() * 19).map(|_| rng.normal()).collect();
            let mut by_rows = Gradients::default();
            by_rows.add_rows(&lazy_table, &rows, &values);
            by_rows.settle();
            let mut all = Gradients::default();
            // A step without any row is none for the table, in both.
            if let Some(values) = by_rows.dense(&lazy_table) {
                all.add(&dense_table, &values);
            }
            dense_adam.step(&dense, &mut all, 1.0 / f64::from(step + 1)).unwrap();
            lazy_adam.step(&lazy, &mut by_rows, 1.0 / f64::from(step + 1)).unwrap();
            match step {
                5 => lazy_adam.catch_up_rows(&lazy, &lazy_table, &[2, 6]).unwrap(),
                8 => lazy_adam.catch_up(&lazy).unwrap(),
                _ => {}
            }
        }
        lazy_adam.catch_up(&lazy).unwrap();
        assert_eq!(values(&dense), values(&lazy));
        let moments = |adam: &AdamW| adam.moments().unwrap()["second.e.t"].to_vec1::<f32>().unwrap();
        assert_eq!(moments(&dense_adam), moments(&lazy_adam));
    }

    #[test]
    fn a_restored_optimizer_goes_on_as_the_first() {
        let (a, mut adam) = (model(), AdamW::new(CONFIG));
        for _ in 0..2 {
            adam.step(&a, &mut grads(&a), 0.5).unwrap();
        }
        let b = model();
        b.copy_in(&a.copy_out().unwrap()).unwrap();
        let saved = adam.moments().unwrap().into_iter().collect();
        let mut again = AdamW::restore(CONFIG, adam.steps(), &saved).unwrap();
        adam.step(&a, &mut grads(&a), 0.5).unwrap();
        again.step(&b, &mut grads(&b), 0.5).unwrap();
        assert_eq!(values(&a), values(&b));
    }

    #[test]
    fn clipping_bounds_the_gradient() {
        let vars = model();
        let mut adam = AdamW::new(AdamWConfig { max_norm: 1e-3, ..CONFIG });
        let norm = adam.step(&vars, &mut grads(&vars), 1.0).unwrap();
        // Gradients at 1: 3, -6, 6, -6.
        assert!((norm - 117f64.sqrt()).abs() < 1e-5, "{norm}");
        let first: Vec<f32> = adam.moments().unwrap()["first.e.w"].to_vec1().unwrap();
        assert!((f64::from(first[0]) - 0.1 * 3.0 * 1e-3 / norm).abs() < 1e-9, "{first:?}");
    }

    #[test]
    fn a_gradient_that_is_not_finite_moves_nothing() {
        let vars = model();
        let variable = vars.iter().next().unwrap().1.var.clone();
        variable.set(&Tensor::new(&[[f32::NAN, 1.0]], &Device::Cpu).unwrap()).unwrap();
        let before = values(&vars);
        let mut adam = AdamW::new(CONFIG);
        assert!(matches!(adam.step(&vars, &mut grads(&vars), 1.0), Err(NnError::NotFinite)));
        assert_eq!(values(&vars)[1..], before[1..]);
        assert_eq!(adam.steps(), 0);
    }
}
