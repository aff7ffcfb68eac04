//! A bidirectional LSTM (Hochreiter and Schmidhuber 1997) over sequences of any lengths, all of them at a time.
//!
//! With gates `[i; f; g; o] = W x + U h' + b`, `c = σ(f) c' + σ(i) tanh(g)` and `h = σ(o) tanh(c)`; `h'` and `c'` are those of
//! the step before, 0 at first. What depends on the input alone is one linear layer over all rows; the recurrence is one
//! operation by hand. As many small ones it would be slow, and the walk through their gradients as deep as a sequence is long.

use super::fused::{like, slice};
use super::kernels::{View, WriteMode, matmul_divided};
use super::tensor_slice::as_slice;
use super::{Init, Linear, NnError, Operations, Scope};
use candle_core::{CpuStorage, CustomOp2, Device, Layout, Shape, Tensor};
use std::ops::Range;
use std::sync::Mutex;

/// One LSTM from left to right, one from right to left.
#[derive(Clone, Debug)]
pub struct BiLstm {
    directions: [Lstm; 2],
}

#[derive(Clone, Debug)]
struct Lstm {
    /// W `[4S, K]` and b; PyTorch has two biases, whose sum this is.
    input: Linear,
    /// U `[4S, S]`
    recurrent: Tensor,
}

impl BiLstm {
    /// From K `inputs` to S = `size` numbers in each direction; weights as PyTorch has them, uniform within `1 / √S`.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, inputs: usize, size: usize) -> Result<Self, NnError> {
        let mut direction = |name: &str| -> Result<Lstm, NnError> {
            let mut scope = scope.scope(name);
            let input = Linear::uniform_within(scope.scope("input"), inputs, 4 * size, size)?;
            let init = Init::Uniform { bound: 1.0 / (size.max(1) as f32).sqrt() };
            Ok(Lstm { input, recurrent: scope.declare("recurrent.weight", &[4 * size, size], init)? })
        };
        Ok(Self { directions: [direction("right")?, direction("left")?] })
    }

    /// `x` `[N, K]` to `[N, 2S]`: each of the disjoint `sequences` of rows from left to right beside the same from right to
    /// left. Rows of no sequence are 0.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn forward(&self, x: &Tensor, sequences: &[Range<usize>], operations: Operations) -> Result<Tensor, NnError> {
        let (n, _) = x.dims2()?;
        if !sequences.iter().all(|sequence| sequence.start <= sequence.end && sequence.end <= n) {
            return Err(NnError::shapes("lstm", &[x]));
        }
        let run = |(lstm, is_reversed): (&Lstm, bool)| -> Result<Tensor, NnError> {
            let gates = lstm.input.forward(x, operations)?;
            let recurrence = Recurrence { steps: Steps::new(sequences, is_reversed), kept: Mutex::new(None) };
            // On another device this one part of a model runs on the CPU.
            let [gates, recurrent] = [&gates, &lstm.recurrent].map(|t| t.to_device(&Device::Cpu)?.contiguous());
            Ok(gates?.apply_op2(&recurrent?, recurrence)?.to_device(x.device())?)
        };
        let [right, left] = &self.directions;
        Ok(Tensor::cat(&[run((right, false))?, run((left, true))?], 1)?)
    }
}

/// Rows of the sequences in the order in which they are seen.
struct Steps {
    /// Of each step the rows, one a sequence; the longest sequences first, so that those of a step are the first of the step
    /// before.
    rows: Vec<Vec<usize>>,
}

impl Steps {
    fn new(sequences: &[Range<usize>], is_reversed: bool) -> Self {
        let mut sequences: Vec<&Range<usize>> = sequences.iter().filter(|sequence| !sequence.is_empty()).collect();
        sequences.sort_by_key(|sequence| std::cmp::Reverse(sequence.len()));
        let longest = sequences.first().map_or(0, |sequence| sequence.len());
        let rows = |step: usize| {
            let there = sequences.iter().take_while(|sequence| step < sequence.len());
            there.map(|sequence| if is_reversed { sequence.end - 1 - step } else { sequence.start + step }).collect()
        };
        Self { rows: (0..longest).map(rows).collect() }
    }

    fn widest(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }
}

/// `h` `[N, S]` of what the input gives the gates, `[N, 4S]`, and U `[4S, S]`.
struct Recurrence {
    steps: Steps,
    kept: Mutex<Option<Kept>>,
}

/// What the way back needs.
struct Kept {
    /// σ(i), σ(f), tanh(g) and σ(o) side by side, `[N, 4S]`.
    gates: Vec<f32>,
    /// c, `[N, S]`
    cells: Vec<f32>,
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Recurrence {
    fn run(&self, input: &[f32], recurrent: &[f32], s: usize) -> (Vec<f32>, Kept) {
        let (n, widest) = (input.len() / (4 * s).max(1), self.steps.widest());
        let (mut gates, mut cells, mut y) = (vec![0f32; n * 4 * s], vec![0f32; n * s], vec![0f32; n * s]);
        let (mut h, mut c, mut sums) = (vec![0f32; widest * s], vec![0f32; widest * s], vec![0f32; widest * 4 * s]);
        let turned = View::rows(s).transposed();
        for rows in &self.steps.rows {
            let sums = &mut sums[..rows.len() * 4 * s];
            let (before, weights) = ((&h[..rows.len() * s], View::rows(s)), (recurrent, turned));
            let dims = [rows.len(), 4 * s, s];
            matmul_divided(dims, (sums, View::rows(4 * s)), before, weights, WriteMode::Overwrite);
            for (i, row) in rows.iter().enumerate() {
                let (gates, sums) = (&mut gates[row * 4 * s..(row + 1) * 4 * s], &sums[i * 4 * s..(i + 1) * 4 * s]);
                let input = &input[row * 4 * s..(row + 1) * 4 * s];
                for (at, ((gate, sum), x)) in gates.iter_mut().zip(sums).zip(input).enumerate() {
                    *gate = if at / s == 2 { (sum + x).tanh() } else { sigmoid(sum + x) };
                }
                for at in 0..s {
                    let [in_, forget, new, out] = [0, 1, 2, 3].map(|gate| gates[gate * s + at]);
                    let cell = forget * c[i * s + at] + in_ * new;
                    let hidden = out * cell.tanh();
                    (c[i * s + at], cells[row * s + at]) = (cell, cell);
                    (h[i * s + at], y[row * s + at]) = (hidden, hidden);
                }
            }
        }
        (y, Kept { gates, cells })
    }

    /// The gradients of the input's part of the gates, `[N, 4S]`, and of U.
    fn back(&self, kept: &Kept, recurrent: &[f32], y: &[f32], grad: &[f32], s: usize) -> [Vec<f32>; 2] {
        let (n, widest) = (y.len() / s.max(1), self.steps.widest());
        let (mut d_gates, mut before) = (vec![0f32; n * 4 * s], vec![0f32; n * s]);
        let (mut dh, mut dc, mut d_sums) = (vec![0f32; widest * s], vec![0f32; widest * s], vec![0f32; widest * 4 * s]);
        for (step, rows) in self.steps.rows.iter().enumerate().rev() {
            let earlier = step.checked_sub(1).and_then(|step| self.steps.rows.get(step));
            for (i, row) in rows.iter().enumerate() {
                let earlier = earlier.and_then(|rows| rows.get(i)).copied();
                if let Some(earlier) = earlier {
                    before[row * s..(row + 1) * s].copy_from_slice(&y[earlier * s..(earlier + 1) * s]);
                }
                let gates = &kept.gates[row * 4 * s..(row + 1) * 4 * s];
                for at in 0..s {
                    let [in_, forget, new, out] = [0, 1, 2, 3].map(|gate| gates[gate * s + at]);
                    let (cell, place) = (kept.cells[row * s + at].tanh(), i * s + at);
                    let d_hidden = grad[row * s + at] + dh[place];
                    let d_cell = dc[place] + d_hidden * out * (1.0 - cell * cell);
                    let cell_before = earlier.map_or(0.0, |earlier| kept.cells[earlier * s + at]);
                    dc[place] = d_cell * forget;
                    let slopes = [
                        d_cell * new * in_ * (1.0 - in_),
                        d_cell * cell_before * forget * (1.0 - forget),
                        d_cell * in_ * (1.0 - new * new),
                        d_hidden * cell * out * (1.0 - out),
                    ];
                    for (gate, slope) in slopes.into_iter().enumerate() {
                        d_gates[row * 4 * s + gate * s + at] = slope;
                        d_sums[i * 4 * s + gate * s + at] = slope;
                    }
                }
            }
            let (count, dims) = (rows.len(), [rows.len(), s, 4 * s]);
            let (d_sums, weights) = ((&d_sums[..count * 4 * s], View::rows(4 * s)), (recurrent, View::rows(s)));
            matmul_divided(dims, (&mut dh[..count * s], View::rows(s)), d_sums, weights, WriteMode::Overwrite);
        }
        let mut d_recurrent = vec![0f32; 4 * s * s];
        let (turned, rows) = (View::rows(4 * s).transposed(), View::rows(s));
        let write = WriteMode::Overwrite;
        matmul_divided([4 * s, s, n], (&mut d_recurrent, rows), (&d_gates, turned), (&before, rows), write);
        [d_gates, d_recurrent]
    }
}

impl CustomOp2 for Recurrence {
    fn name(&self) -> &'static str {
        "nestling-lstm"
    }

    fn cpu_fwd(
        &self,
        gates: &CpuStorage,
        gates_layout: &Layout,
        recurrent: &CpuStorage,
        recurrent_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let ((n, _), (_, s)) = (gates_layout.shape().dims2()?, recurrent_layout.shape().dims2()?);
        let (y, kept) = self.run(slice(gates, gates_layout)?, slice(recurrent, recurrent_layout)?, s);
        if let Ok(mut place) = self.kept.lock() {
            *place = Some(kept);
        }
        Ok((CpuStorage::F32(y), Shape::from((n, s))))
    }

    fn bwd(
        &self,
        gates: &Tensor,
        recurrent: &Tensor,
        y: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let Some(kept) = self.kept.lock().ok().and_then(|mut place| place.take()) else {
            candle_core::bail!("a pass of an LSTM can be differentiated once");
        };
        let (_, s) = y.dims2()?;
        let grad = grad.contiguous()?;
        let [d_gates, d_recurrent] = self.back(&kept, &as_slice(recurrent)?, &as_slice(y)?, &as_slice(&grad)?, s);
        Ok((Some(like(d_gates, gates)?), Some(like(d_recurrent, recurrent)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::slopes::{assert_slopes, random};
    use super::super::{ParameterGroup, Vars, sigmoid as sigmoid_of};
    use super::*;

    fn built(inputs: usize, size: usize) -> (Vars, BiLstm) {
        let mut vars = Vars::trainable(4, &Device::Cpu);
        let lstm = BiLstm::new(vars.scope("lstm", ParameterGroup::TaskHead), inputs, size).unwrap();
        (vars, lstm)
    }

    /// One sequence `[T, K]` step by step with candle's operations, `[T, S]`.
    fn step_by_step(lstm: &Lstm, x: &Tensor, is_reversed: bool) -> Tensor {
        let (t, s) = (x.dims()[0], lstm.recurrent.dims()[1]);
        let order: Vec<usize> = if is_reversed { (0..t).rev().collect() } else { (0..t).collect() };
        let zeros = Tensor::zeros((1, s), candle_core::DType::F32, &Device::Cpu).unwrap();
        let (mut h, mut c, mut all) = (zeros.clone(), zeros, vec![None; t]);
        for i in order {
            let gates = lstm.input.forward(&x.narrow(0, i, 1).unwrap(), Operations::Plain).unwrap();
            let gates = (gates + h.matmul(&lstm.recurrent.t().unwrap()).unwrap()).unwrap();
            let gate = |number: usize| gates.narrow(1, number * s, s).unwrap();
            let kept = (sigmoid_of(&gate(1)).unwrap() * &c).unwrap();
            c = (kept + (sigmoid_of(&gate(0)).unwrap() * gate(2).tanh().unwrap()).unwrap()).unwrap();
            h = (sigmoid_of(&gate(3)).unwrap() * c.tanh().unwrap()).unwrap();
            all[i] = Some(h.clone());
        }
        Tensor::cat(&all.into_iter().flatten().collect::<Vec<_>>(), 0).unwrap()
    }

    #[test]
    fn sequences_are_those_seen_alone_step_by_step() {
        let (_vars, lstm) = built(3, 5);
        let x = random(&[11, 3], 2);
        // Of different lengths, not in order of length, with a row of none and an empty one.
        let sequences = [0..2, 3..8, 8..8, 8..11];
        for operations in [Operations::ByHand, Operations::Plain] {
            let y = lstm.forward(&x, &sequences, operations).unwrap();
            assert_eq!(y.dims(), [11, 10]);
            assert_eq!(y.get(2).unwrap().to_vec1::<f32>().unwrap(), [0.0; 10]);
            for sequence in sequences.iter().filter(|sequence| !sequence.is_empty()) {
                let alone = x.narrow(0, sequence.start, sequence.len()).unwrap();
                let [right, left] = &lstm.directions;
                let expected = [step_by_step(right, &alone, false), step_by_step(left, &alone, true)];
                let expected = Tensor::cat(&expected, 1).unwrap();
                let off = (y.narrow(0, sequence.start, sequence.len()).unwrap() - expected).unwrap();
                assert!(off.abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap() < 1e-6);
            }
        }
    }

    #[test]
    fn gradients_are_slopes() {
        let (vars, lstm) = built(2, 3);
        let x = random(&[8, 2], 7);
        let variables: Vec<candle_core::Var> = vars.iter().map(|(_, variable)| variable.var.clone()).collect();
        let inputs: Vec<&candle_core::Var> = variables.iter().chain([&x]).collect();
        assert_eq!(inputs.len(), 2 * 3 + 1);
        assert_slopes(&inputs, |inputs| lstm.forward(inputs[6], &[5..8, 0..5], Operations::ByHand).unwrap());
    }
}
