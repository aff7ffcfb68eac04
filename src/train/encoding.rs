//! The encoder of a model as trainer and predictor run it: which layers it leaves, which part of them never changes, and how
//! their gradients come back.

use crate::encoder::{Bert, EncoderBatch, Layers, Start, Tape, plain};
use crate::nn::{Gradients, Mode, NnError, Operations, as_slice};
use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor, Var};
use std::borrow::Borrow;
use std::ops::{Range, RangeInclusive};

#[derive(Debug)]
pub(super) struct Encoding {
    bert: Bert,
    layers: Layers,
    operations: Operations,
}

/// Hidden states that never change in a training, those that are asked for and the highest, from low to high: N rows of H
/// numbers each.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FrozenStates {
    layers: Vec<Vec<f32>>,
}

impl FrozenStates {
    /// How many numbers are kept.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        self.layers.iter().map(Vec::len).sum()
    }

    /// Some rows, of `all` that there are.
    pub(super) fn part(&self, rows: Range<usize>, all: usize) -> Option<Self> {
        let part = |layer: &Vec<f32>| {
            let h = layer.len() / all.max(1);
            layer.get(rows.start * h..rows.end * h).map(<[f32]>::to_vec)
        };
        Some(Self { layers: self.layers.iter().map(part).collect::<Option<_>>()? })
    }

    /// The rows of several, one behind the other.
    pub(super) fn joined<S: Borrow<Self>>(parts: &[S]) -> Self {
        let count = parts.first().map_or(0, |first| first.borrow().layers.len());
        let of = |number: usize| -> Vec<&[f32]> {
            parts.iter().filter_map(|part| part.borrow().layers.get(number)).map(Vec::as_slice).collect()
        };
        Self { layers: (0..count).map(|number| of(number).concat()).collect() }
    }
}

/// The layers that a training pass gives, and which of them have gradients that the encoder's backward pass by hand begins with.
pub(super) struct PassLayers {
    layers: Vec<Layer>,
}

enum Layer {
    /// Whose gradient goes nowhere, or by itself where it belongs.
    Tensor(Tensor),
    /// Hidden states of a number.
    Leaf(usize, Var),
}

impl PassLayers {
    /// `[N, H]` each, from low to high.
    pub(super) fn layers(&self) -> Vec<Tensor> {
        let tensor = |layer: &Layer| match layer {
            Layer::Tensor(tensor) => tensor.clone(),
            Layer::Leaf(_, leaf) => leaf.as_tensor().clone(),
        };
        self.layers.iter().map(tensor).collect()
    }
}

impl Encoding {
    pub(super) fn new(bert: Bert, layers: Layers, operations: Operations) -> Self {
        Self { bert, layers, operations }
    }

    pub(super) fn bert(&self) -> &Bert {
        &self.bert
    }

    /// Numbers of a row.
    pub(super) fn width(&self) -> usize {
        self.layers.width(&self.bert)
    }

    /// Numbers of a row of [`FrozenStates`]; 0 where nothing is worth keeping.
    pub(super) fn kept_width(&self) -> usize {
        match self.layers.lowest(self.bert.layers()) {
            Some(lowest) if self.operations == Operations::ByHand && self.bert.frozen_below() > 0 => {
                self.frozen_layers(lowest).count() * self.bert.hidden()
            }
            _ => 0,
        }
    }

    /// Numbers of the hidden states that never change: those from `lowest` on that are asked for, and the highest, where the
    /// learning part begins.
    fn frozen_layers(&self, lowest: usize) -> RangeInclusive<usize> {
        lowest.min(self.bert.frozen_below())..=self.bert.frozen_below()
    }

    /// Hidden states of what never changes in this training.
    pub(super) fn frozen_states(&self, batch: &EncoderBatch, tape: &mut Tape) -> Result<FrozenStates, NnError> {
        let layers = self.frozen_layers(self.layers.lowest(self.bert.layers()).unwrap_or(self.bert.layers()));
        let states = self.bert.forward_layers(batch, Start::Words, layers, &mut Mode::Predict, tape)?;
        let values = states.iter().map(|state| Ok(as_slice(state)?.to_vec())).collect::<Result<_, NnError>>()?;
        Ok(FrozenStates { layers: values })
    }

    /// The layers that are asked for, with dropout in what learns. `kept` is what is known of those that never change; the
    /// tapes are of what learns and of what does not.
    pub(super) fn for_training(
        &self,
        batch: &EncoderBatch,
        kept: Option<FrozenStates>,
        mode: &mut Mode<'_>,
        [tape, below]: [&mut Tape; 2],
    ) -> Result<PassLayers, NnError> {
        let frozen = self.bert.frozen_below();
        let whole = |layers: Vec<Tensor>| PassLayers { layers: layers.into_iter().map(Layer::Tensor).collect() };
        let Some(lowest) = self.layers.lowest(self.bert.layers()) else {
            return Ok(whole(vec![plain::static_vectors(&self.bert, batch)?]));
        };
        if self.operations == Operations::Plain {
            let layers = lowest..=self.bert.layers();
            return Ok(whole(plain::forward_layers(&self.bert, batch, frozen, layers, mode)?));
        }
        let kept = match kept {
            _ if frozen == 0 => None,
            None => Some(self.frozen_states(batch, below)?),
            kept => kept,
        };
        let layers = self.forward(batch, kept.as_ref(), lowest, mode, tape)?;
        let leaf = |(number, layer): (usize, Tensor)| -> Result<Layer, NnError> {
            // Where all blocks learn the embeddings may, too.
            let learns = number > frozen || frozen == 0;
            Ok(if learns { Layer::Leaf(number, Var::from_tensor(&layer)?) } else { Layer::Tensor(layer) })
        };
        Ok(PassLayers { layers: (lowest..).zip(layers).map(leaf).collect::<Result<_, _>>()? })
    }

    /// The layers that are asked for, `[N, H]` each, as they are predicted with.
    pub(super) fn for_prediction(
        &self,
        batch: &EncoderBatch,
        kept: Option<&FrozenStates>,
        tape: &mut Tape,
    ) -> Result<Vec<Tensor>, NnError> {
        let Some(lowest) = self.layers.lowest(self.bert.layers()) else {
            return Ok(vec![plain::static_vectors(&self.bert, batch)?]);
        };
        match self.operations {
            Operations::Plain => {
                let (first, layers) = (self.bert.frozen_below(), lowest..=self.bert.layers());
                plain::forward_layers(&self.bert, batch, first, layers, &mut Mode::Predict)
            }
            Operations::ByHand => self.forward(batch, kept, lowest, &mut Mode::Predict, tape),
        }
    }

    /// The layers from `lowest` on, those that never change as they are `kept`.
    fn forward(
        &self,
        batch: &EncoderBatch,
        kept: Option<&FrozenStates>,
        lowest: usize,
        mode: &mut Mode<'_>,
        tape: &mut Tape,
    ) -> Result<Vec<Tensor>, NnError> {
        let (top, frozen) = (self.bert.layers(), self.bert.frozen_below());
        let Some((highest, others)) = kept.and_then(|kept| kept.layers.split_last()) else {
            return self.bert.forward_layers(batch, Start::Words, lowest..=top, mode, tape);
        };
        let shape = (batch.rows(), self.bert.hidden());
        let others = others.iter().map(|layer| Ok(Tensor::from_slice(layer, shape, &Device::Cpu)?));
        let mut layers = others.collect::<Result<Vec<_>, NnError>>()?;
        let start = Start::States(frozen, highest);
        layers.extend(self.bert.forward_layers(batch, start, lowest.max(frozen)..=top, mode, tape)?);
        Ok(layers)
    }

    /// Adds the gradients of all that learns, given those of the layers.
    pub(super) fn add_gradients(
        &self,
        batch: &EncoderBatch,
        layers: &PassLayers,
        store: &GradStore,
        tape: &mut Tape,
        gradients: &mut Gradients,
    ) -> Result<(), NnError> {
        let of = |layer: &Layer| match layer {
            Layer::Leaf(number, leaf) => store.get(leaf.as_tensor()).map(|grad| (*number, grad)),
            Layer::Tensor(_) => None,
        };
        let grads = layers.layers.iter().filter_map(of);
        let grads = grads.map(|(number, grad)| Ok((number, grad.contiguous()?)));
        let grads = grads.collect::<Result<Vec<(usize, Tensor)>, NnError>>()?;
        let slices = grads.iter().map(|(number, grad)| Ok((*number, as_slice(grad)?)));
        let slices = slices.collect::<Result<Vec<_>, NnError>>()?;
        let slices: Vec<(usize, &[f32])> = slices.iter().map(|(number, grad)| (*number, &**grad)).collect();
        if slices.is_empty() {
            return Ok(());
        }
        self.bert.backward_from(batch, tape, &slices, gradients)
    }
}
