//! For tests: whether gradients are slopes.

use super::Rng;
use candle_core::{Device, Tensor, Var};

/// Numbers of about the size 1, the same for a seed.
pub(crate) fn random(shape: &[usize], seed: u64) -> Var {
    let mut rng = Rng::new(seed, "slopes");
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| rng.normal()).collect();
    Var::from_vec(values, shape, &Device::Cpu).unwrap()
}

/// Compares the gradients of a weighted sum of what `f` makes of the inputs with differences, number by number.
///
/// `f` must be smooth within a hundredth of the inputs, and give the same whenever it is called.
pub(crate) fn assert_slopes(inputs: &[&Var], f: impl Fn(&[&Tensor]) -> Tensor) {
    let tensors: Vec<&Tensor> = inputs.iter().map(|input| input.as_tensor()).collect();
    let weighted = || {
        let y = f(&tensors);
        let weights: Vec<f32> = (0..y.elem_count()).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        (&y * Tensor::from_vec(weights, y.shape(), y.device()).unwrap()).unwrap()
    };
    let sum = || weighted().flatten_all().unwrap().to_vec1::<f32>().unwrap().iter().map(|x| f64::from(*x)).sum::<f64>();
    let gradients = weighted().sum_all().unwrap().backward().unwrap();
    for (number, input) in inputs.iter().enumerate() {
        let gradient = gradients.get(input.as_tensor()).map(|g| g.flatten_all().unwrap().to_vec1::<f32>().unwrap());
        let gradient = gradient.unwrap_or_else(|| panic!("input {number} has no gradient"));
        let before = input.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let set =
            |values: Vec<f32>| input.set(&Tensor::from_vec(values, input.dims(), input.device()).unwrap()).unwrap();
        for at in 0..before.len() {
            let moved = |by: f32| {
                let mut values = before.clone();
                values[at] += by;
                set(values);
                sum()
            };
            let step = 1e-2;
            let slope = (moved(step) - moved(-step)) / f64::from(2.0 * step);
            let off = (slope - f64::from(gradient[at])).abs();
            assert!(off < 1e-2 * slope.abs().max(1.0), "input {number}[{at}]: {slope} {}", gradient[at]);
        }
        set(before);
    }
}
