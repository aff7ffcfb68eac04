//! AdamW with a learning rate for each part of the model.

use super::kernels::{AdamWStep, Idle};
use super::moments::Moments;
use super::{Gradients, NnError, ParameterGroup, Variable, Vars};
use candle_core::Tensor;
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
    /// everything is up to date. Of a table they are those of the rows `rows.NAME` alone.
    ///
    /// # Errors
    /// When a tensor can't be made.
    pub fn moments(&self) -> Result<BTreeMap<String, Tensor>, NnError> {
        let mut tensors = BTreeMap::new();
        for (name, m) in &self.moments {
            for (which, tensor) in m.tensors()? {
                tensors.insert(format!("{which}.{name}"), tensor);
            }
        }
        Ok(tensors)
    }

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// When a first moment has no second one of the same length, or rows are none of a table.
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
            let in_file = format!("rows.{name}");
            let rows = tensors.get(&in_file).map(|rows| (in_file.as_str(), rows));
            moments.insert(name.to_owned(), Moments::restore([first, second], rows)?);
        }
        Ok(Self { config, moments, steps })
    }

    /// # Errors
    /// The first moments that are of no variable, or not as long as it.
    pub fn check_fits(&self, vars: &Vars) -> Result<(), NnError> {
        let variables: BTreeMap<&str, &Variable> = vars.iter().collect();
        for (name, moments) in &self.moments {
            let in_file = format!("first.{name}");
            let Some(variable) = variables.get(name.as_str()) else {
                return Err(NnError::WeightUnused { name: in_file });
            };
            if !moments.fits(variable) {
                let (expected, got) = (vec![variable.var.elem_count()], vec![moments.len()]);
                return Err(NnError::WeightShape { name: in_file, expected, got });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Init;
    use candle_core::Device;
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
                // An interruption, with a state as it is written now, and as it was before: of all rows.
                9 | 10 => {
                    lazy_adam.catch_up(&lazy).unwrap();
                    let of = if step == 9 { &lazy_adam } else { &dense_adam };
                    let saved = of.moments().unwrap().into_iter().collect();
                    lazy_adam = AdamW::restore(CONFIG, of.steps(), &saved).unwrap();
                    lazy_adam.check_fits(&lazy).unwrap();
                }
                _ => {}
            }
        }
        lazy_adam.catch_up(&lazy).unwrap();
        assert_eq!(values(&dense), values(&lazy));
        let (all, some) = (dense_adam.moments().unwrap(), lazy_adam.moments().unwrap());
        let numbers = |tensor: &Tensor| tensor.to_vec1::<f32>().unwrap();
        let rows: Vec<usize> = numbers(&some["rows.e.t"]).into_iter().map(|row| row as usize).collect();
        assert!(!rows.contains(&6) && rows.len() > 3, "{rows:?}: only rows that had a gradient");
        for which in ["first.e.t", "second.e.t"] {
            let all = numbers(&all[which]);
            let of_rows: Vec<f32> = rows.iter().flat_map(|row| &all[row * 19..(row + 1) * 19]).copied().collect();
            assert_eq!(of_rows, numbers(&some[which]));
            assert_eq!(all.iter().filter(|x| **x != 0.0).count(), of_rows.iter().filter(|x| **x != 0.0).count());
        }
        // A gradient for all of it: each row has moments of its own then.
        for (adam, vars, table) in [(&mut dense_adam, &dense, &dense_table), (&mut lazy_adam, &lazy, &lazy_table)] {
            let mut all = Gradients::default();
            all.add(table, &[0.5; 7 * 19]);
            adam.step(vars, &mut all, 1.0).unwrap();
        }
        assert_eq!(values(&dense), values(&lazy));
    }

    #[test]
    fn moments_of_rows_that_there_are_not_are_refused() {
        let mut vars = Vars::trainable(1, &Device::Cpu);
        vars.scope("e", ParameterGroup::Encoder).declare("t", &[7, 2], Init::Ones).unwrap();
        let refused = |rows: &[f32], moments: usize| {
            let tensor = |values: &[f32]| Tensor::from_slice(values, values.len(), &Device::Cpu).unwrap();
            let both = ["first.e.t", "second.e.t"].map(|name| (name.to_owned(), tensor(&vec![1.0; moments])));
            let saved = both.into_iter().chain([("rows.e.t".to_owned(), tensor(rows))]).collect();
            AdamW::restore(CONFIG, 1, &saved).and_then(|adam| adam.check_fits(&vars)).is_err()
        };
        assert!(!refused(&[0.0, 6.0], 4));
        for (rows, moments) in
            [(&[0.0, 7.0][..], 4), (&[1.0, 1.0], 4), (&[1.0, 0.0], 4), (&[0.5, 1.0], 4), (&[-1.0, 1.0], 4)]
        {
            assert!(refused(rows, moments), "{rows:?}");
        }
        assert!(refused(&[0.0, 1.0], 5) && refused(&[0.0, 1.0], 6) && refused(&[], 14) && refused(&[0.0, 7.0], 14));
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
