//! AdamW with a learning rate for each part of the model.

use super::fused::with_slice;
use super::kernels::{self, AdamWStep};
use super::{NnError, Part, Vars};
use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, Device, InplaceOp2, Layout, Tensor};
use std::cell::RefCell;
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

#[derive(Debug, Default)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

/// Decoupled weight decay (Loshchilov and Hutter 2019), in place on the CPU.
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
    pub fn step(&mut self, vars: &Vars, grads: &GradStore, factor: f64) -> Result<f64, NnError> {
        let mut moving = Vec::new();
        let mut squares = 0.0;
        for (name, variable) in vars.iter() {
            let Some(grad) = grads.get(variable.var.as_tensor()) else { continue };
            let grad = grad.contiguous()?;
            squares += with_slice(&grad, kernels::squared_norm)?;
            moving.push((name, variable, grad));
        }
        let norm = squares.sqrt();
        if !norm.is_finite() {
            return Err(NnError::NotFinite);
        }
        self.steps += 1;
        let c = self.config;
        let correct = |beta: f64| 1.0 / (1.0 - beta.powf(self.steps as f64));
        let grad_scale = if norm > c.max_norm { c.max_norm / norm } else { 1.0 };
        for (name, variable, grad) in moving {
            let base = match variable.part {
                Part::Encoder => c.encoder_lr,
                Part::Heads => c.head_lr,
            };
            let (lr, decay) = (base * factor, if variable.decays { c.weight_decay } else { 0.0 });
            let step = AdamWStep {
                grad_scale: grad_scale as f32,
                beta1: c.beta1 as f32,
                rest1: (1.0 - c.beta1) as f32,
                beta2: c.beta2 as f32,
                rest2: (1.0 - c.beta2) as f32,
                eps: c.eps as f32,
                rate: (lr * correct(c.beta1)) as f32,
                correct2: correct(c.beta2) as f32,
                keep: (1.0 - lr * decay) as f32,
            };
            let moments = self.moments.entry(name.to_owned()).or_default();
            let count = grad.elem_count();
            moments.first.resize(count, 0.0);
            moments.second.resize(count, 0.0);
            variable.var.as_tensor().inplace_op2(&grad, &Move { moments: RefCell::new(moments), step })?;
        }
        Ok(norm)
    }

    /// The moments as tensors `first.NAME` and `second.NAME`; with [`AdamW::steps`] they are the whole state.
    ///
    /// # Errors
    /// When a tensor can't be made.
    pub fn moments(&self) -> Result<BTreeMap<String, Tensor>, NnError> {
        let mut tensors = BTreeMap::new();
        for (name, m) in &self.moments {
            for (which, values) in [("first", &m.first), ("second", &m.second)] {
                let tensor = Tensor::from_slice(values, values.len(), &Device::Cpu)?;
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
            let both = Moments { first: first.to_vec1()?, second: second.to_vec1()? };
            moments.insert(name.to_owned(), both);
        }
        Ok(Self { config, moments, steps })
    }
}

struct Move<'a> {
    moments: RefCell<&'a mut Moments>,
    step: AdamWStep,
}

impl InplaceOp2 for Move<'_> {
    fn name(&self) -> &'static str {
        "nestling-adamw"
    }

    fn cpu_fwd(&self, p: &mut CpuStorage, at: &Layout, g: &CpuStorage, g_at: &Layout) -> candle_core::Result<()> {
        let (CpuStorage::F32(p), CpuStorage::F32(g)) = (p, g) else {
            candle_core::bail!("AdamW moves f32 variables only");
        };
        let (Some((from, to)), Some((g_from, g_to))) = (at.contiguous_offsets(), g_at.contiguous_offsets()) else {
            candle_core::bail!("AdamW moves contiguous variables only");
        };
        let mut moments = self.moments.borrow_mut();
        let Moments { first, second } = &mut **moments;
        kernels::adamw(&mut p[from..to], &g[g_from..g_to], first, second, self.step);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Init;

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
        vars.scope("e", Part::Encoder).declare("w", &[1, 2], Init::Ones).unwrap();
        vars.scope("h", Part::Heads).declare("b", &[2], Init::Ones).unwrap();
        vars
    }

    /// The loss Σ c · x³ with another constant for each number.
    fn grads(vars: &Vars) -> GradStore {
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
            adam.step(&vars, &grads(&vars), 1.0).unwrap();
        }
        let expected = [0.579_909_5, 1.143_110_2, 0.970_021_1, 1.030_017];
        for (got, want) in values(&vars).iter().zip(expected) {
            assert!((got - want).abs() < 2e-6, "{:?} {expected:?}", values(&vars));
        }
    }

    #[test]
    fn a_restored_optimizer_goes_on_as_the_first() {
        let (a, mut adam) = (model(), AdamW::new(CONFIG));
        for _ in 0..2 {
            adam.step(&a, &grads(&a), 0.5).unwrap();
        }
        let b = model();
        b.copy_in(&a.copy_out().unwrap()).unwrap();
        let saved = adam.moments().unwrap().into_iter().collect();
        let mut again = AdamW::restore(CONFIG, adam.steps(), &saved).unwrap();
        adam.step(&a, &grads(&a), 0.5).unwrap();
        again.step(&b, &grads(&b), 0.5).unwrap();
        assert_eq!(values(&a), values(&b));
    }

    #[test]
    fn clipping_bounds_the_gradient() {
        let vars = model();
        let mut adam = AdamW::new(AdamWConfig { max_norm: 1e-3, ..CONFIG });
        let norm = adam.step(&vars, &grads(&vars), 1.0).unwrap();
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
        assert!(matches!(adam.step(&vars, &grads(&vars), 1.0), Err(NnError::NotFinite)));
        assert_eq!(values(&vars)[1..], before[1..]);
        assert_eq!(adam.steps(), 0);
    }
}
