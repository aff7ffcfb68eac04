//! An encoder with a task head above it, as trainer and predictor both run it.

use super::error::{TrainError, stop_if_cancelled};
use super::output::{OutputPart, OutputSums, SentenceOutput};
use super::parameters::Settings;
use super::parts::{PartTimes, timed};
use crate::active::Projection;
use crate::annotation::{LabelId, Span};
use crate::encoder::{self, Alignment, Bert, Definition, EncoderBatch, Start, Tape};
use crate::model::{Class, FirstWordFilter, Nesting, Prediction, Samples, Sentence, TaskHead, architecture};
use crate::nn::batches::{self, Size};
use crate::nn::{Gradients, Mode, NnError, Operations, ParameterGroup, Rng, Threads, Vars, as_slice};
use candle_core::{Device, Tensor, Var};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

#[cfg(test)]
mod tests;

/// The prefix of the encoder's variables.
pub(super) const ENCODER: &str = "encoder";

#[derive(Debug)]
pub(super) struct Model {
    definition: Definition,
    bert: Bert,
    /// Whether the encoder runs by candle's operations.
    plain: bool,
    head: Box<dyn TaskHead>,
    max_width: usize,
    nesting: Nesting,
    labels: Vec<LabelId>,
    projection: Projection,
    pub(super) most: MostPositions,
}

/// How much is worked on at a time, in positions. What is longer is worked on in parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct MostPositions {
    pub predict: usize,
    pub train: usize,
}

impl MostPositions {
    /// Probabilities of the candidates of a pass: 128 MB.
    const MOST_PROBABILITIES: usize = 1 << 25;
    const LEAST: usize = 512;

    fn new(max_width: usize, classes: usize) -> Self {
        let fit = Self::MOST_PROBABILITIES / max_width.saturating_mul(classes).max(1);
        Self { predict: fit.clamp(Self::LEAST, batches::MOST_POSITIONS), train: batches::MOST_TRAINING_POSITIONS }
    }
}

/// Numbers of hidden states that are kept of each of the training, dev and self-labelled sentences: 512 MB.
const MOST_KEPT: usize = 1 << 27;
/// Sentences whose hidden states are computed at a time.
const KEPT_AT_A_TIME: usize = 32;

/// A sentence ready for the model.
#[derive(Debug)]
pub(super) struct Prepared {
    alignment: Alignment,
    pub sentence: Sentence,
    /// Hidden states below the first block that learns, where they are kept.
    states: Option<Vec<f32>>,
}

impl Prepared {
    /// Of all windows together.
    pub(super) fn positions(&self) -> usize {
        self.alignment.rows()
    }

    pub(super) fn size(&self) -> Size {
        Size { longest: self.alignment.positions(), all: self.positions() }
    }

    /// Some of its words, with the windows that they are in.
    fn part(&self, words: Range<usize>) -> Self {
        let numbers = |states: &Vec<f32>| {
            let (rows, h) = (self.alignment.rows_of(words.clone()), states.len() / self.positions().max(1));
            states.get(rows.start * h..rows.end * h).map(<[f32]>::to_vec)
        };
        Self {
            alignment: self.alignment.part(words.clone()),
            sentence: self.sentence.part(words.clone()),
            states: self.states.as_ref().and_then(numbers),
        }
    }

    /// Its words in stretches that are worked on one after the other, each with the windows of `most` positions, or of one.
    fn stretches(&self, most: usize) -> Vec<Range<usize>> {
        let (mut stretches, mut start) = (Vec::new(), 0);
        while start < self.sentence.len() {
            let end = self.alignment.stretch(start, most).clamp(start + 1, self.sentence.len());
            stretches.push(start..end);
            start = end;
        }
        stretches
    }

    /// The same in training, where no mention is parted if that can be.
    fn training_stretches(&self, most: usize) -> Vec<Range<usize>> {
        let (mut stretches, mut start) = (Vec::new(), 0);
        while start < self.sentence.len() {
            let end = self.alignment.stretch(start, most).clamp(start + 1, self.sentence.len());
            let end = self.sentence.border(start, end);
            stretches.push(start..end);
            start = end;
        }
        stretches
    }
}

impl Model {
    pub(super) fn build(
        vars: &mut Vars,
        definition: Definition,
        settings: &Settings,
        labels: Vec<LabelId>,
    ) -> Result<Self, TrainError> {
        let (scope, learning) = (vars.scope(ENCODER, ParameterGroup::Encoder), settings.learning());
        let bert = Bert::new(scope, definition.config(), learning, settings.dropout as f32)?;
        let bert = if settings.bf16 { bert.with_bf16() } else { bert };
        let scope = vars.scope("head", ParameterGroup::TaskHead);
        let head_config = settings.head_config(labels.len());
        let head = architecture(&settings.architecture)?.build(scope, definition.config().hidden, &head_config)?;
        let (max_width, nesting) = (settings.max_width().unwrap_or(usize::MAX), settings.nesting);
        let plain = settings.processor.operations() == Operations::Plain;
        let projection = Projection::new(definition.config().hidden);
        let most = MostPositions::new(max_width, head_config.classes);
        Ok(Self { definition, bert, plain, head, max_width, nesting, labels, projection, most })
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The label of a class other than "none".
    pub(super) fn label(&self, class: Class) -> Option<LabelId> {
        self.labels.get((class as usize).checked_sub(1)?).copied()
    }

    fn class(&self, label: LabelId) -> Option<Class> {
        Some(self.labels.iter().position(|l| *l == label)? as Class + 1)
    }

    /// Makes many sentences ready; stops when cancelled.
    pub(super) fn prepare_all<'a>(
        &self,
        sentences: impl IntoIterator<Item = (&'a [String], &'a [(Span, LabelId)])>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Prepared>, TrainError> {
        let prepare = |(words, gold)| {
            stop_if_cancelled(cancel)?;
            self.prepare(words, gold)
        };
        sentences.into_iter().map(prepare).collect()
    }

    /// Mentions of labels that the model does not know are left out.
    fn prepare(&self, words: &[String], gold: &[(Span, LabelId)]) -> Result<Prepared, TrainError> {
        let alignment = self.definition.subwords().align(words, self.definition.config().usable_positions())?;
        let gold: Vec<(Span, Class)> =
            gold.iter().filter_map(|&(span, label)| Some((span, self.class(label)?))).collect();
        Ok(Prepared { alignment, sentence: Sentence::new(words, &gold, self.max_width), states: None })
    }

    /// The vectors of subwords, which a step reads in part.
    pub(super) fn word_table(&self) -> &Tensor {
        self.bert.word_table()
    }

    /// Adds the gradients of `weight` times the loss of a batch to those of `pass`; returns that and the loss's samples.
    ///
    /// A loss that is not finite has no gradients.
    pub(super) fn learn(
        &self,
        vars: &Vars,
        batch: &Batch<'_>,
        weight: f64,
        rng: &mut Rng,
        pass: &mut PassBuffers,
        cancel: &AtomicBool,
    ) -> Result<(f32, Samples), TrainError> {
        let hidden = timed(&mut pass.times.encoder, || {
            let mode = &mut Mode::Train(rng);
            if self.plain {
                return self.forward_plain(batch, mode);
            }
            let below = self.states_below(batch, &mut pass.below)?;
            let start = below.as_ref().map_or(Start::Words, |below| Start::States(self.bert.frozen_below(), below));
            self.bert.forward(&batch.encoder, start, mode, &mut pass.tape)
        })?;
        // Where the encoder learns, its backward pass by hand begins with the gradient of this leaf.
        let encoder_learns = self.bert.frozen_below() < self.bert.layers();
        let leaf = if encoder_learns && !self.plain { Some(Var::from_tensor(&hidden)?) } else { None };
        let hidden = leaf.as_ref().map_or(&hidden, |leaf| leaf.as_tensor());
        let begun = Instant::now();
        let loss = self.head.loss(&batch.encoder.encoded(hidden.clone())?, &batch.sentences, rng)?;
        let total = (loss.total * weight)?;
        let value = total.to_scalar::<f32>()?;
        if value.is_finite() {
            stop_if_cancelled(cancel)?;
            let store = total.backward()?;
            pass.gradients.add_store(vars, &store)?;
            pass.times.task_head += begun.elapsed();
            if let Some(grad) = leaf.as_ref().and_then(|leaf| store.get(leaf.as_tensor())) {
                let grad = grad.contiguous().map_err(NnError::from)?;
                let grad = as_slice(&grad).map_err(NnError::from)?;
                let PassBuffers { tape, gradients, times, .. } = pass;
                timed(&mut times.backward, || self.bert.backward(&batch.encoder, tape, &grad, gradients))?;
            }
        }
        Ok((value, loss.samples))
    }

    /// Hidden states by operations that pass gradients by themselves. What does not learn has no dropout.
    fn forward_plain(&self, batch: &Batch<'_>, mode: &mut Mode<'_>) -> Result<Tensor, NnError> {
        let mut states = encoder::plain::forward_in_part(&self.bert, &batch.encoder, self.bert.frozen_below(), mode)?;
        states.pop().ok_or(NnError::OtherTape)
    }

    /// Hidden states of what never changes in this training; `None` where all learns.
    fn states_below(&self, batch: &Batch<'_>, tape: &mut Tape) -> Result<Option<Vec<f32>>, NnError> {
        let end = self.bert.frozen_below();
        if end == 0 {
            return Ok(None);
        }
        if let Some(kept) = batch.kept_states() {
            return Ok(Some(kept));
        }
        let states = self.bert.forward_to(&batch.encoder, Start::Words, end, &mut Mode::Predict, tape)?;
        Ok(Some(as_slice(&states)?.to_vec()))
    }

    /// Computes once what never changes in this training, as far as there is room for it.
    pub(super) fn keep_states(
        &self,
        sentences: &mut [Prepared],
        threads: &Threads,
        cancel: &AtomicBool,
    ) -> Result<(), TrainError> {
        let h = self.bert.hidden();
        let numbers: usize = sentences.iter().map(|sentence| sentence.positions() * h).sum();
        if self.plain || self.bert.frozen_below() == 0 || numbers > MOST_KEPT {
            return Ok(());
        }
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        let mut tape = Tape::default();
        for numbers in batches::by_length(&sizes, KEPT_AT_A_TIME, self.most.predict) {
            stop_if_cancelled(cancel)?;
            if let [only] = numbers.as_slice()
                && let Some(long) = sentences.get_mut(*only).filter(|long| long.positions() > self.most.predict)
            {
                let mut states = Vec::with_capacity(long.positions() * h);
                for words in long.stretches(self.most.predict) {
                    stop_if_cancelled(cancel)?;
                    let part = long.part(words);
                    let batch = self.batch(&[&part]);
                    states.extend(threads.run(|| self.states_below(&batch, &mut tape))?.unwrap_or_default());
                }
                long.states = Some(states);
                continue;
            }
            let batch = self.batch(&numbers.iter().filter_map(|&i| sentences.get(i)).collect::<Vec<_>>());
            let Some(all) = threads.run(|| self.states_below(&batch, &mut tape))? else { continue };
            let mut rest = all.as_slice();
            for i in numbers {
                let Some(sentence) = sentences.get_mut(i) else { continue };
                let (states, after) = rest.split_at(sentence.positions() * h);
                sentence.states = Some(states.to_vec());
                rest = after;
            }
        }
        Ok(())
    }

    /// Adds to `said` what is said of each sentence of a batch, of which the first words are its own.
    fn predict(
        &self,
        batch: &Batch<'_>,
        own: &[usize],
        work: PredictionWork<'_>,
        (tape, times): (&mut Tape, &mut PartTimes),
        said: &mut [OutputSums],
    ) -> Result<(), TrainError> {
        let kept = batch.kept_states();
        let start = kept.as_ref().map_or(Start::Words, |kept| Start::States(self.bert.frozen_below(), kept));
        let forward = || match self.plain {
            true => self.forward_plain(batch, &mut Mode::Predict),
            false => self.bert.forward(&batch.encoder, start, &mut Mode::Predict, tape),
        };
        let hidden = timed(&mut times.encoder, forward)?;
        let encoded = batch.encoder.encoded(hidden)?;
        timed(&mut times.task_head, || {
            let predictions = self.head.predict(&encoded, &batch.sentences, work.filter)?;
            check_finite(&predictions)?;
            let passes = match work.acquire.unwrap_or(0) {
                0 => Vec::new(),
                passes => self.head.predict_with_dropout(&encoded, &batch.sentences, work.filter, passes)?,
            };
            passes.iter().try_for_each(|predictions| check_finite(predictions))?;
            let mut passes: Vec<_> = passes.into_iter().map(Vec::into_iter).collect();
            let ends = work.acquire.map(|_| encoded.ends()).transpose()?;
            let ends = ends.map(|ends| ends.to_device(&Device::Cpu)).transpose().map_err(NnError::from)?;
            let vectors = ends.as_ref().map(as_slice).transpose().map_err(NnError::from)?;
            // Of the words' first subwords: the rows of the last ones lie below these.
            let mut rest: &[f32] = vectors.as_deref().unwrap_or_default();
            let sentences = batch.sentences.iter().zip(own).zip(said);
            for (prediction, ((sentence, own), said)) in predictions.into_iter().zip(sentences) {
                let (vectors, after) = rest.split_at(rest.len().min(sentence.len() * self.bert.hidden()));
                rest = after;
                let passes = passes.iter_mut().filter_map(Iterator::next).collect();
                said.add(OutputPart { own: *own, prediction, passes, vectors }, work.floor, &self.projection);
            }
            Ok(())
        })
    }

    /// A sentence that is too long for one pass: its words in parts, each with the words after it that candidates reach.
    fn predict_in_parts(
        &self,
        long: &Prepared,
        work: PredictionWork<'_>,
        tape: &mut Tape,
        times: &mut PartTimes,
    ) -> Result<OutputSums, TrainError> {
        let mut said = [OutputSums::default()];
        for own in long.stretches(self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let reached = long.sentence.len().min(own.end.saturating_add(self.max_width - 1));
            let part = long.part(own.start..reached);
            let batch = self.batch(&[&part]);
            work.threads.run(|| self.predict(&batch, &[own.len()], work, (&mut *tape, &mut *times), &mut said))?;
        }
        let [said] = said;
        Ok(said)
    }

    /// The parts in which a sentence is learnt from, where it is too long for one.
    pub(super) fn training_parts(&self, long: &Prepared) -> Vec<Prepared> {
        long.training_stretches(self.most.train).into_iter().map(|words| long.part(words)).collect()
    }

    pub(super) fn batch<'a>(&self, prepared: &[&'a Prepared]) -> Batch<'a> {
        let alignments: Vec<&Alignment> = prepared.iter().map(|p| &p.alignment).collect();
        let encoder = EncoderBatch::new(&alignments, self.definition.subwords().pieces());
        let states = prepared.iter().map(|p| p.states.as_deref()).collect();
        Batch { encoder, sentences: prepared.iter().map(|p| &p.sentence).collect(), states }
    }

    /// Predicts every sentence that has words and adds what it takes to `times`; `each` gets its number and what is said of
    /// it, in any order.
    pub(super) fn predict_all(
        &self,
        sentences: &[Prepared],
        work: PredictionWork<'_>,
        times: &mut PartTimes,
        mut each: impl FnMut(usize, SentenceOutput),
    ) -> Result<(), TrainError> {
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        let mut tape = Tape::default();
        for numbers in batches::by_length(&sizes, work.batch_size, self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let with_words = |i: &usize| Some((*i, sentences.get(*i).filter(|p| !p.sentence.is_empty())?));
            let (numbers, batch): (Vec<usize>, Vec<&Prepared>) = numbers.iter().filter_map(with_words).unzip();
            let said = match batch.as_slice() {
                [] => continue,
                [long] if long.positions() > self.most.predict => {
                    vec![self.predict_in_parts(long, work, &mut tape, times)?]
                }
                batch => {
                    let own: Vec<usize> = batch.iter().map(|p| p.sentence.len()).collect();
                    let mut said: Vec<OutputSums> = batch.iter().map(|_| OutputSums::default()).collect();
                    let predict = || self.predict(&self.batch(batch), &own, work, (&mut tape, times), &mut said);
                    work.threads.run(predict)?;
                    said
                }
            };
            let finish = |said: OutputSums| said.finish(self.nesting, &self.projection);
            numbers.into_iter().zip(said).for_each(|(i, said)| each(i, finish(said)));
        }
        Ok(())
    }
}

/// How a prediction is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct PredictionWork<'a> {
    pub threads: &'a Threads,
    pub filter: FirstWordFilter,
    pub batch_size: usize,
    /// Whether to say what each sentence would teach, and by how many models that differ by dropout.
    pub acquire: Option<usize>,
    /// Probability from which a candidate is worth showing though "none" is more probable.
    pub floor: f32,
    pub cancel: &'a AtomicBool,
}

/// # Errors
/// A probability that is none: finite weights can make such when they are very large.
fn check_finite(predictions: &[Prediction]) -> Result<(), TrainError> {
    let all_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    let is_finite = |prediction: &Prediction| {
        prediction.first_words.as_deref().is_none_or(all_finite)
            && prediction.candidates.iter().all(|(_, probabilities)| all_finite(probabilities))
    };
    if predictions.iter().all(is_finite) { Ok(()) } else { Err(TrainError::NoProbabilities) }
}

/// Sentences put together for one pass.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    encoder: EncoderBatch,
    sentences: Vec<&'a Sentence>,
    /// Of each sentence what was kept.
    states: Vec<Option<&'a [f32]>>,
}

impl Batch<'_> {
    pub(super) fn words(&self) -> usize {
        self.sentences.iter().map(|sentence| sentence.len()).sum()
    }

    /// Hidden states of all its sentences, when all were kept.
    fn kept_states(&self) -> Option<Vec<f32>> {
        Some(self.states.iter().copied().collect::<Option<Vec<&[f32]>>>()?.concat())
    }

    /// Rows of [`Model::word_table`] that a pass reads.
    pub(super) fn ids(&self) -> &[u32] {
        self.encoder.ids()
    }
}

/// What the passes of a training work in, one after the other.
#[derive(Debug, Default)]
pub(super) struct PassBuffers {
    tape: Tape,
    /// Of what never changes.
    below: Tape,
    pub gradients: Gradients,
    pub times: PartTimes,
}

impl PassBuffers {
    /// With the times of what was done before the first one.
    pub(super) fn starting_with(times: PartTimes, settings: &Settings) -> Self {
        let gradients = if settings.processor.operations() == Operations::Plain {
            Gradients::plain()
        } else {
            Gradients::default()
        };
        Self { times, gradients, ..Self::default() }
    }
}
