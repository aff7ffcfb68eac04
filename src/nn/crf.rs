//! Linear-chain conditional random field (Lafferty et al. 2001): the tags of a sentence are chosen together.
//!
//! A sequence of tags scores what its words give (emissions), its transitions, its start and its stop; see [`Lattice`] for
//! what is made of that. Forbidden transitions have no probability, whatever they score, and learn nothing.
//!
//! It works on the CPU, where few numbers are worth the way: emissions that lie elsewhere are copied, their gradients copied
//! back.

mod allowed;
mod lattice;
mod steps;
#[cfg(test)]
mod tests;

pub use allowed::{AllowedTags, Tag};
pub use lattice::{Lattice, Marginals, Run, RunMarginals};

use super::fused::{like, slice};
use super::{Init, NnError, Scope, as_slice};
use candle_core::{CpuStorage, CustomOp2, Device, Layout, Shape, Tensor};
use lattice::Transitions;
use rayon::prelude::*;
use std::sync::Mutex;

/// Pieces of a batch that are worked on side by side, however many threads there are: each has gradients of its own of all
/// transitions.
const PIECES: usize = 8;

/// The transitions of T tags, all 0 at first: then the words' tags depend on each other only by what is forbidden.
#[derive(Debug)]
pub struct Crf {
    /// `[T, T]`, from a row's tag to a column's.
    transitions: Tensor,
    /// `[T]`
    start: Tensor,
    /// `[T]`
    stop: Tensor,
    allowed: AllowedTags,
}

impl Crf {
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, allowed: AllowedTags) -> Result<Self, NnError> {
        let tags = allowed.tags();
        Ok(Self {
            transitions: scope.declare("transitions", &[tags, tags], Init::Zeros)?,
            start: scope.declare("start", &[tags], Init::Zeros)?,
            stop: scope.declare("stop", &[tags], Init::Zeros)?,
            allowed,
        })
    }

    /// `[T + 2, T]`: transitions, start, stop.
    fn scores(&self) -> Result<Tensor, NnError> {
        let rows = [&self.transitions, &self.start.unsqueeze(0)?, &self.stop.unsqueeze(0)?];
        Ok(Tensor::cat(&rows, 0)?.to_device(&Device::Cpu)?)
    }

    fn check(&self, emissions: &Tensor, lens: &[usize]) -> Result<(), NnError> {
        let (words, tags) = emissions.dims2()?;
        if tags == self.allowed.tags() && words == lens.iter().sum::<usize>() {
            return Ok(());
        }
        Err(NnError::shapes("crf", &[emissions, &self.transitions]))
    }

    /// −ln of the probabilities of the gold sequences, summed and divided by the number of words W: a mean over words, as is a
    /// cross-entropy. `emissions` `[W, T]` of sentences of `lens` words, one behind the other; `gold` W tags.
    ///
    /// # Errors
    /// On shapes that don't fit; when gold is forbidden.
    pub fn loss(&self, emissions: &Tensor, lens: &[usize], gold: &[Tag]) -> Result<Tensor, NnError> {
        self.check(emissions, lens)?;
        if gold.len() != emissions.dim(0)? {
            return Err(NnError::shapes("crf", &[emissions]));
        }
        let mut rest = gold;
        for len in lens {
            let (tags, after) = rest.split_at(*len);
            if !self.allowed.allows(tags) {
                return Err(NnError::ForbiddenTags);
            }
            rest = after;
        }
        let loss = CrfLoss {
            lens: lens.to_vec(),
            gold: gold.to_vec(),
            allowed: self.allowed.clone(),
            gradients: Mutex::new(None),
        };
        let on_cpu = emissions.to_device(&Device::Cpu)?.contiguous()?;
        Ok(on_cpu.apply_op2(&self.scores()?, loss)?.to_device(emissions.device())?)
    }

    /// For decoding and probabilities; `emissions` `[W, T]` of sentences of `lens` words, one behind the other.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn lattices(&self, emissions: &Tensor, lens: &[usize]) -> Result<Lattices, NnError> {
        self.check(emissions, lens)?;
        let scores = self.scores()?;
        let transitions = Transitions::new(&as_slice(&scores)?, &self.allowed);
        Ok(Lattices { transitions, emissions: emissions.flatten_all()?.to_vec1()?, lens: lens.to_vec() })
    }
}

/// The sequences of the sentences of a batch.
#[derive(Debug)]
pub struct Lattices {
    transitions: Transitions,
    /// `[W, T]`
    emissions: Vec<f32>,
    lens: Vec<usize>,
}

impl Lattices {
    /// One for each sentence.
    pub fn sentences(&self) -> Vec<Lattice<'_>> {
        let (tags, mut rest) = (self.transitions.tags(), self.emissions.as_slice());
        let mut next = |len: &usize| {
            let (own, after) = rest.split_at(len * tags);
            rest = after;
            Lattice::new(&self.transitions, own)
        };
        self.lens.iter().map(&mut next).collect()
    }
}

/// Negative log-likelihood a word: an operation on the emissions `[W, T]` and the scores of transitions `[T + 2, T]`.
struct CrfLoss {
    lens: Vec<usize>,
    gold: Vec<Tag>,
    allowed: AllowedTags,
    /// Of both inputs.
    gradients: Mutex<Option<[Vec<f32>; 2]>>,
}

impl CrfLoss {
    fn run(&self, emissions: &[f32], scores: &[f32]) -> (f64, [Vec<f32>; 2]) {
        let (tags, transitions) = (self.allowed.tags(), Transitions::new(scores, &self.allowed));
        let each = 1.0 / self.gold.len().max(1) as f64;
        let mut d_emissions = vec![0.0; emissions.len()];
        let (mut work, mut gold) = (Vec::with_capacity(self.lens.len()), self.gold.as_slice());
        let (mut emissions, mut rest) = (emissions, d_emissions.as_mut_slice());
        for len in &self.lens {
            let (own, after) = emissions.split_at(len * tags);
            let (grads, rest_after) = std::mem::take(&mut rest).split_at_mut(len * tags);
            let (own_gold, gold_after) = gold.split_at(*len);
            work.push((Lattice::new(&transitions, own), own_gold, grads));
            (emissions, rest, gold) = (after, rest_after, gold_after);
        }
        let learn = |piece: Vec<(Lattice<'_>, &[Tag], &mut [f32])>| {
            let (mut loss, mut d_scores) = (0.0, vec![0.0; scores.len()]);
            for (lattice, gold, grads) in piece {
                loss += lattice.learn(gold, each, grads, &mut d_scores);
            }
            (loss, d_scores)
        };
        let sentences = self.lens.len().div_ceil(PIECES).max(1);
        let learnt: Vec<(f64, Vec<f64>)> = work.into_par_iter().chunks(sentences).map(learn).collect();
        let (mut loss, mut d_scores) = (0.0, vec![0.0; scores.len()]);
        for (own, d_own) in learnt {
            loss += own;
            d_scores.iter_mut().zip(d_own).for_each(|(sum, x)| *sum += x);
        }
        (loss * each, [d_emissions, d_scores.into_iter().map(|x| x as f32).collect()])
    }
}

impl CustomOp2 for CrfLoss {
    fn name(&self) -> &'static str {
        "nestling-crf-loss"
    }

    fn cpu_fwd(
        &self,
        emissions: &CpuStorage,
        emissions_layout: &Layout,
        scores: &CpuStorage,
        scores_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (loss, gradients) = self.run(slice(emissions, emissions_layout)?, slice(scores, scores_layout)?);
        if let Ok(mut place) = self.gradients.lock() {
            *place = Some(gradients);
        }
        Ok((CpuStorage::F32(vec![loss as f32]), Shape::from(())))
    }

    fn bwd(
        &self,
        emissions: &Tensor,
        scores: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let factor = as_slice(&grad.contiguous()?)?.first().copied().unwrap_or(0.0);
        let Some([d_emissions, d_scores]) = self.gradients.lock().ok().and_then(|mut place| place.take()) else {
            candle_core::bail!("a loss of tags can be differentiated once");
        };
        let scaled = |values: Vec<f32>, input| like(values.into_iter().map(|x| x * factor).collect(), input);
        Ok((Some(scaled(d_emissions, emissions)?), Some(scaled(d_scores, scores)?)))
    }
}
