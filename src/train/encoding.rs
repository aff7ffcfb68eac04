//! The encoder of a model as trainer and predictor run it: which layers it leaves, which part of them never changes, and how
//! their gradients come back.

use crate::encoder::plain::{self, Origin};
use crate::encoder::{Bert, EncoderBatch, Layers, Network, Start, Tape};
use crate::nn::{Gradients, Mode, NnError, Operations, as_slice};
use candle_core::backprop::GradStore;
use candle_core::{Device, Tensor, Var};
use std::borrow::Borrow;
use std::ops::{Range, RangeInclusive};

#[derive(Debug)]
pub(super) struct Encoding {
    network: Network,
    layers: Layers,
    /// What is asked for. A network without passes by hand is computed operation by operation, whatever that is.
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
    /// What was read of the word table, where its gradient comes by rows: all others would be 0.
    words: Option<Var>,
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
    pub(super) fn new(network: Network, layers: Layers, operations: Operations) -> Self {
        Self { network, layers, operations }
    }

    /// See [`Network::with_int16`].
    #[must_use]
    pub(super) fn with_int16(self) -> Self {
        Self { network: self.network.with_int16(), ..self }
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    /// BERT's layers, where passes by hand run them.
    fn by_hand(&self) -> Option<&Bert> {
        self.network.as_bert().filter(|_| self.operations == Operations::ByHand)
    }

    /// Numbers of a row.
    pub(super) fn width(&self) -> usize {
        self.layers.width(&self.network)
    }

    /// Numbers of a row of [`FrozenStates`]; 0 where nothing is worth keeping.
    pub(super) fn kept_width(&self) -> usize {
        match self.layers.lowest(self.network.layers()) {
            Some(lowest) if self.operations == Operations::ByHand && self.network.frozen_below() > 0 => {
                self.frozen_layers(lowest).count() * self.network.hidden()
            }
            _ => 0,
        }
    }

    /// Numbers of the hidden states that never change: those from `lowest` on that are asked for, and the highest, where the
    /// learning part begins.
    fn frozen_layers(&self, lowest: usize) -> RangeInclusive<usize> {
        lowest.min(self.network.frozen_below())..=self.network.frozen_below()
    }

    /// Hidden states of what never changes in this training.
    pub(super) fn frozen_states(&self, batch: &EncoderBatch, tape: &mut Tape) -> Result<FrozenStates, NnError> {
        let blocks = self.network.layers();
        let layers = self.frozen_layers(self.layers.lowest(blocks).unwrap_or(blocks));
        let states = self.pass(batch, Start::Words, layers, &mut Mode::Predict, tape)?;
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
        let frozen = self.network.frozen_below();
        let whole =
            |layers: Vec<Tensor>, words| PassLayers { layers: layers.into_iter().map(Layer::Tensor).collect(), words };
        let Some(lowest) = self.layers.lowest(self.network.layers()) else {
            return Ok(whole(vec![plain::static_vectors(self.network.word_table(), batch)?], None));
        };
        if self.operations == Operations::Plain {
            return Ok(whole(self.pass(batch, Start::Words, lowest..=self.network.layers(), mode, tape)?, None));
        }
        let kept = match kept {
            _ if frozen == 0 => None,
            None => Some(self.frozen_states(batch, below)?),
            kept => kept,
        };
        if self.by_hand().is_none() && kept.is_none() {
            let words = Var::from_tensor(&plain::word_rows(&self.network.word_table().detach(), batch)?)?;
            let (origin, layers) = (Origin::Words(words.as_tensor()), lowest..=self.network.layers());
            return Ok(whole(self.network.forward(batch, origin, frozen, layers, mode)?, Some(words)));
        }
        let layers = self.forward(batch, kept.as_ref(), lowest, mode, tape)?;
        if self.by_hand().is_none() {
            return Ok(whole(layers, None));
        }
        let leaf = |(number, layer): (usize, Tensor)| -> Result<Layer, NnError> {
            // Where all blocks learn the embeddings may, too.
            let learns = number > frozen || frozen == 0;
            Ok(if learns { Layer::Leaf(number, Var::from_tensor(&layer)?) } else { Layer::Tensor(layer) })
        };
        let layers = (lowest..).zip(layers).map(leaf).collect::<Result<_, _>>()?;
        Ok(PassLayers { layers, words: None })
    }

    /// The layers that are asked for, `[N, H]` each, as they are predicted with.
    pub(super) fn for_prediction(
        &self,
        batch: &EncoderBatch,
        kept: Option<&FrozenStates>,
        tape: &mut Tape,
    ) -> Result<Vec<Tensor>, NnError> {
        match self.layers.lowest(self.network.layers()) {
            None => Ok(vec![plain::static_vectors(self.network.word_table(), batch)?]),
            Some(lowest) => self.forward(batch, kept, lowest, &mut Mode::Predict, tape),
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
        let (top, frozen) = (self.network.layers(), self.network.frozen_below());
        let Some((highest, others)) = kept.and_then(|kept| kept.layers.split_last()) else {
            return self.pass(batch, Start::Words, lowest..=top, mode, tape);
        };
        let shape = (batch.rows(), self.network.hidden());
        let others = others.iter().map(|layer| Ok(Tensor::from_slice(layer, shape, &Device::Cpu)?));
        let mut layers = others.collect::<Result<Vec<_>, NnError>>()?;
        let start = Start::States(frozen, highest);
        layers.extend(self.pass(batch, start, lowest.max(frozen)..=top, mode, tape)?);
        Ok(layers)
    }

    /// Hidden states of these numbers, by hand where that can be; the tape is of that.
    fn pass(
        &self,
        batch: &EncoderBatch,
        start: Start<'_>,
        layers: RangeInclusive<usize>,
        mode: &mut Mode<'_>,
        tape: &mut Tape,
    ) -> Result<Vec<Tensor>, NnError> {
        if let Some(bert) = self.by_hand() {
            return bert.forward_layers(batch, start, layers, mode, tape);
        }
        let frozen = self.network.frozen_below();
        match start {
            Start::Words => {
                let words = plain::word_rows(self.network.word_table(), batch)?;
                self.network.forward(batch, Origin::Words(&words), frozen, layers, mode)
            }
            Start::States(number, states) => {
                let shape = (batch.rows(), self.network.hidden());
                let states = Tensor::from_slice(states, shape, self.network.word_table().device())?;
                self.network.forward(batch, Origin::States(number, &states), frozen, layers, mode)
            }
        }
    }

    /// Adds the gradients of all that learns, given those of the layers. What candle finds by itself is added already.
    pub(super) fn add_gradients(
        &self,
        batch: &EncoderBatch,
        layers: &PassLayers,
        store: &GradStore,
        tape: &mut Tape,
        gradients: &mut Gradients,
    ) -> Result<(), NnError> {
        if let Some(gradient) = layers.words.as_ref().and_then(|words| store.get(words.as_tensor())) {
            let gradient = gradient.contiguous()?;
            gradients.add_rows(self.network.word_table(), batch.ids(), &as_slice(&gradient)?);
        }
        let Some(bert) = self.by_hand() else { return Ok(()) };
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
        bert.backward_from(batch, tape, &slices, gradients)
    }
}
