//! An encoder with a task head above it, as trainer and predictor both run it.

use super::dataset::Example;
use super::encoding::{Encoding, FrozenStates};
use super::error::{TrainError, stop_if_cancelled};
use super::output::{OutputPart, OutputSums, SentenceOutput};
use super::parameters::Settings;
use super::parts::{PartTimes, timed};
use crate::active::Projection;
use crate::annotation::{Fragments, LabelId, Span};
use crate::encoder::{Alignment, Definition, Encoded, EncoderBatch, Learning, Network, Tape};
use crate::model::{
    Architecture, Class, FirstWordFilter, GoldMention, LabelTable, ModelError, Nesting, Prediction, Reach, Samples,
    Sentence, Task, TaskHead, TaskHeadConfig, USUAL_MAX_WIDTH, Unlearnable, architecture,
};
use crate::nn::batches::{self, Size};
use crate::nn::{Gradients, Mode, NnError, Operations, ParameterGroup, Rng, Threads, Vars, as_slice};
use candle_core::{Device, Tensor};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

mod span_vectors;
#[cfg(test)]
mod tests;

/// The prefix of the encoder's variables.
pub(super) const ENCODER: &str = "encoder";

/// The prefix of the task head's variables.
pub(super) const HEAD: &str = "head";

#[derive(Debug)]
pub(super) struct Model {
    definition: Definition,
    encoding: Encoding,
    architecture: &'static dyn Architecture,
    head: Box<dyn TaskHead>,
    head_config: TaskHeadConfig,
    nesting: Nesting,
    labels: Vec<LabelId>,
    /// For each class of the head the one that it is said as; `None`: as itself.
    regrouped: Option<Vec<Class>>,
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

    fn new(max_width: usize, classes: usize, has_passes_by_hand: bool) -> Self {
        let most = match has_passes_by_hand {
            true => Self { predict: batches::MOST_POSITIONS, train: batches::MOST_TRAINING_POSITIONS },
            // In training the result of each operation is kept: some 5 MB for a position of ModernBERT-base.
            false => Self { predict: 2048, train: Self::LEAST },
        };
        let fit = Self::MOST_PROBABILITIES / max_width.saturating_mul(classes).max(1);
        Self { predict: fit.clamp(Self::LEAST, most.predict), ..most }
    }
}

/// Numbers of hidden states that are kept of each of the training, dev and self-labelled sentences: 512 MB.
const MOST_KEPT: usize = 1 << 27;
/// Sentences whose hidden states are computed at a time.
const KEPT_AT_A_TIME: usize = 32;

/// The words of a sentence, and the mentions that are known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Annotated<'a> {
    words: &'a [String],
    gold: &'a [(Span, LabelId)],
    discontinuous: &'a [(Fragments, LabelId)],
}

impl<'a> From<&'a Example> for Annotated<'a> {
    fn from(example: &'a Example) -> Self {
        Self { words: &example.tokens, gold: &example.gold, discontinuous: &example.discontinuous }
    }
}

impl<'a> From<(&'a [String], &'a [(Span, LabelId)])> for Annotated<'a> {
    fn from((words, gold): (&'a [String], &'a [(Span, LabelId)])) -> Self {
        Self { words, gold, discontinuous: &[] }
    }
}

/// A sentence ready for the model.
#[derive(Debug)]
pub(super) struct Prepared {
    alignment: Alignment,
    pub sentence: Sentence,
    /// What never changes of its hidden states, where it is kept.
    states: Option<FrozenStates>,
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
        let numbers = |states: &FrozenStates| states.part(self.alignment.rows_of(words.clone()), self.positions());
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
        Self::build_as(architecture(&settings.architecture)?, vars, definition, settings, labels)
    }

    fn build_as(
        architecture: &'static dyn Architecture,
        vars: &mut Vars,
        definition: Definition,
        settings: &Settings,
        labels: Vec<LabelId>,
    ) -> Result<Self, TrainError> {
        let head_config = settings.head_config(labels.len());
        let layers = architecture.layers(&head_config);
        let blocks = definition.config().layers;
        // What is not run does not learn.
        let learning = layers.lowest(blocks).map_or(Learning::Top(0), |_| settings.learning());
        let scope = vars.scope(ENCODER, ParameterGroup::Encoder);
        let network = Network::new(scope, definition.config(), learning, settings.dropout as f32)?;
        let network = if settings.bf16 { network.with_bf16() } else { network };
        let network = if settings.int16 { network.with_int16() } else { network };
        let network = network.computed_by(settings.processor.operations());
        let head = architecture.build(vars.scope(HEAD, ParameterGroup::TaskHead), &network, &head_config)?;
        let projection = Projection::new(layers.width(&network));
        let encoding = Encoding::new(network, layers, settings.processor.operations());
        let (max_width, by_hand) = (head_config.max_width(), definition.config().has_passes_by_hand());
        let most = MostPositions::new(max_width.unwrap_or(USUAL_MAX_WIDTH), head_config.classes, by_hand);
        let (nesting, regrouped) = (settings.nesting, None);
        Ok(Self { definition, encoding, architecture, head, head_config, nesting, labels, regrouped, projection, most })
    }

    /// For predictions alone: products of whole numbers where they are fastest, whatever the model was trained with.
    #[must_use]
    pub(super) fn for_prediction(self) -> Self {
        Self { encoding: self.encoding.with_int16(), ..self }
    }

    /// For predictions under other labels: what the model takes for one of its own is said as the label at its place, or not
    /// at all where there is none.
    #[must_use]
    pub(super) fn saying(self, labels: &[Option<LabelId>]) -> Self {
        let mut said: Vec<LabelId> = labels.iter().copied().flatten().collect();
        said.sort_unstable();
        said.dedup();
        let class = |label: &Option<LabelId>| {
            let place = label.and_then(|label| said.binary_search(&label).ok());
            place.map_or(0, |place| place as Class + 1)
        };
        let regrouped = std::iter::once(0).chain(labels.iter().map(class)).collect();
        Self { regrouped: Some(regrouped), labels: said, ..self }
    }

    /// What the architecture can't learn from.
    pub(super) fn unlearnable(&self, sentence: &Sentence) -> Unlearnable {
        self.architecture.unlearnable(sentence, &self.head_config)
    }

    /// Whether it has to be told which words are mentions.
    pub(super) fn labels_given(&self) -> bool {
        self.architecture.task() == Task::TypesOfGivenSpans
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
    pub(super) fn prepare_all<'a, A: Into<Annotated<'a>>>(
        &self,
        sentences: impl IntoIterator<Item = A>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Prepared>, TrainError> {
        let prepare = |sentence| {
            stop_if_cancelled(cancel)?;
            self.prepare(sentence)
        };
        sentences.into_iter().map(prepare).collect()
    }

    /// Mentions of labels that the model does not know are left out, and those in fragments where it has to find mentions.
    fn prepare<'a>(&self, sentence: impl Into<Annotated<'a>>) -> Result<Prepared, TrainError> {
        let Annotated { words, gold, discontinuous } = sentence.into();
        let alignment = self.definition.subwords().align(words, self.definition.config().usable_positions())?;
        let mention = |fragments, label| Some(GoldMention { fragments, class: self.class(label)? });
        let contiguous = gold.iter().filter_map(|(span, label)| mention(Fragments::from(*span), *label));
        let discontinuous = discontinuous.iter().filter(|_| self.labels_given());
        let discontinuous = discontinuous.filter_map(|(fragments, label)| mention(fragments.clone(), *label));
        let sentence = Sentence::with_mentions(words, contiguous.chain(discontinuous).collect());
        Ok(Prepared { alignment, sentence, states: None })
    }

    /// The vectors of subwords, which a step reads in part.
    pub(super) fn word_table(&self) -> &Tensor {
        self.encoding.network().word_table()
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
        let encoded = timed(&mut pass.times.encoder, || {
            let kept = batch.kept_states();
            self.encoding.for_training(&batch.encoder, kept, &mut Mode::Train(rng), [&mut pass.tape, &mut pass.below])
        })?;
        let begun = Instant::now();
        let loss = self.head.loss(&batch.encoder.encoded_layers(encoded.layers())?, &batch.sentences, rng)?;
        let total = (loss.total * weight)?;
        let value = total.to_scalar::<f32>()?;
        if value.is_finite() {
            stop_if_cancelled(cancel)?;
            let store = total.backward()?;
            pass.gradients.add_store(vars, &store)?;
            pass.times.task_head += begun.elapsed();
            let PassBuffers { tape, gradients, times, .. } = pass;
            timed(&mut times.backward, || {
                self.encoding.add_gradients(&batch.encoder, &encoded, &store, tape, gradients)
            })?;
        }
        Ok((value, loss.samples))
    }

    /// Computes once what never changes in this training, as far as there is room for it.
    pub(super) fn keep_states(
        &self,
        sentences: &mut [Prepared],
        threads: &Threads,
        cancel: &AtomicBool,
    ) -> Result<(), TrainError> {
        let width = self.encoding.kept_width();
        let numbers: usize = sentences.iter().map(|sentence| sentence.positions() * width).sum();
        if width == 0 || numbers > MOST_KEPT {
            return Ok(());
        }
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        let mut tape = Tape::default();
        for numbers in batches::by_length(&sizes, KEPT_AT_A_TIME, self.most.predict) {
            stop_if_cancelled(cancel)?;
            if let [only] = numbers.as_slice()
                && let Some(long) = sentences.get_mut(*only).filter(|long| long.positions() > self.most.predict)
            {
                let mut parts = Vec::new();
                for words in long.stretches(self.most.predict) {
                    stop_if_cancelled(cancel)?;
                    let batch = self.batch(&[&long.part(words)]).encoder;
                    parts.push(threads.run(|| self.encoding.frozen_states(&batch, &mut tape))?);
                }
                long.states = Some(FrozenStates::joined(&parts));
                continue;
            }
            let batch = self.batch(&numbers.iter().filter_map(|&i| sentences.get(i)).collect::<Vec<_>>());
            let all = threads.run(|| self.encoding.frozen_states(&batch.encoder, &mut tape))?;
            let (rows, mut from) = (batch.encoder.rows(), 0);
            for i in numbers {
                let Some(sentence) = sentences.get_mut(i) else { continue };
                let to = from + sentence.positions();
                sentence.states = all.part(from..to, rows);
                from = to;
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
        let layers = timed(&mut times.encoder, || {
            self.encoding.for_prediction(&batch.encoder, batch.kept_states().as_ref(), tape)
        })?;
        self.answer(batch, layers, own, work, times, said)
    }

    /// Adds to `said` what is said of each sentence of a batch that the encoder has seen.
    fn answer(
        &self,
        batch: &Batch<'_>,
        layers: Vec<Tensor>,
        own: &[usize],
        work: PredictionWork<'_>,
        times: &mut PartTimes,
        said: &mut [OutputSums],
    ) -> Result<(), TrainError> {
        let encoded = batch.encoder.encoded_layers(layers)?;
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
                let prediction = self.as_said(prediction);
                let (vectors, after) = rest.split_at(rest.len().min(sentence.len() * self.encoding.width()));
                rest = after;
                let passes = passes.iter_mut().filter_map(Iterator::next).map(|pass| self.as_said(pass)).collect();
                said.add(OutputPart { own: *own, prediction, passes, vectors }, work.floor, &self.projection);
            }
            Ok(())
        })
    }

    fn as_said(&self, prediction: Prediction) -> Prediction {
        match &self.regrouped {
            Some(to) => prediction.regrouped(to, self.labels.len() + 1),
            None => prediction,
        }
    }

    /// A sentence that is too long for one pass: its words in parts, each with the words after it that candidates reach; or
    /// all of them with what the encoder says of the parts, where they may reach all.
    fn predict_in_parts(
        &self,
        long: &Prepared,
        work: PredictionWork<'_>,
        tape: &mut Tape,
        times: &mut PartTimes,
    ) -> Result<OutputSums, TrainError> {
        let mut said = [OutputSums::default()];
        let reach = match self.architecture.reach(&self.head_config) {
            Reach::Words(reach) => reach,
            Reach::Sentence => {
                let layers = self.encode_in_parts(long, work, tape, times)?;
                let (batch, own) = (self.batch(&[long]), [long.sentence.len()]);
                work.threads.run(|| self.answer(&batch, layers, &own, work, times, &mut said))?;
                let [said] = said;
                return Ok(said);
            }
        };
        for own in long.stretches(self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let reached = long.sentence.len().min(own.end + reach.saturating_sub(1));
            let part = long.part(own.start..reached);
            let batch = self.batch(&[&part]);
            work.threads.run(|| self.predict(&batch, &[own.len()], work, (&mut *tape, &mut *times), &mut said))?;
        }
        let [said] = said;
        Ok(said)
    }

    /// Probabilities of the classes of given words of a sentence.
    pub(super) fn label_given(
        &self,
        words: &[String],
        given: &[Fragments],
        work: PredictionWork<'_>,
    ) -> Result<LabelTable, TrainError> {
        let prepared = self.prepare((words, [].as_slice()))?;
        let tables = self.label_batch(&[&prepared], &[given.to_vec()], work, &mut Tape::for_prediction(work.exact))?;
        tables.into_iter().next().ok_or(ModelError::Incomplete.into())
    }

    /// The same of the mentions of many sentences, whatever label they have; `each` gets a sentence's number and a row for each
    /// of its [`Sentence::given`], in any order.
    pub(super) fn label_all(
        &self,
        sentences: &[Prepared],
        work: PredictionWork<'_>,
        mut each: impl FnMut(usize, LabelTable),
    ) -> Result<(), TrainError> {
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        let mut tape = Tape::for_prediction(work.exact);
        for numbers in batches::by_length(&sizes, work.batch_size, self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let with_mentions =
                |i: &usize| Some((*i, sentences.get(*i).filter(|p| !p.sentence.mentions().is_empty())?));
            let (numbers, batch): (Vec<usize>, Vec<&Prepared>) = numbers.iter().filter_map(with_mentions).unzip();
            if batch.is_empty() {
                continue;
            }
            let given: Vec<Vec<Fragments>> = batch.iter().map(|prepared| prepared.sentence.given()).collect();
            let tables = self.label_batch(&batch, &given, work, &mut tape)?;
            numbers.into_iter().zip(tables).for_each(|(i, table)| each(i, table));
        }
        Ok(())
    }

    /// One table for each sentence of a batch, of which one that is too long for a pass is alone in its own.
    fn label_batch(
        &self,
        sentences: &[&Prepared],
        given: &[Vec<Fragments>],
        work: PredictionWork<'_>,
        tape: &mut Tape,
    ) -> Result<Vec<LabelTable>, TrainError> {
        let (batch, encoded) = self.encode(sentences, work, tape)?;
        let tables = work.threads.run(|| self.head.type_spans(&encoded, &batch.sentences, given))?;
        if tables.len() != given.len() {
            return Err(ModelError::Incomplete.into());
        }
        let is_finite = tables.iter().flat_map(LabelTable::iter).flatten().all(|p| p.is_finite());
        if is_finite { Ok(tables) } else { Err(TrainError::NoProbabilities) }
    }

    /// A batch that the encoder has seen. A sentence that is too long for a pass is alone in its own.
    fn encode<'a>(
        &self,
        sentences: &[&'a Prepared],
        work: PredictionWork<'_>,
        tape: &mut Tape,
    ) -> Result<(Batch<'a>, Encoded), TrainError> {
        let batch = self.batch(sentences);
        let layers = match sentences {
            [long] if long.positions() > self.most.predict => {
                self.encode_in_parts(long, work, tape, &mut PartTimes::default())?
            }
            _ => {
                work.threads.run(|| self.encoding.for_prediction(&batch.encoder, batch.kept_states().as_ref(), tape))?
            }
        };
        let encoded = batch.encoder.encoded_layers(layers)?;
        Ok((batch, encoded))
    }

    /// The layers of all rows of a sentence, computed part by part.
    fn encode_in_parts(
        &self,
        long: &Prepared,
        work: PredictionWork<'_>,
        tape: &mut Tape,
        times: &mut PartTimes,
    ) -> Result<Vec<Tensor>, TrainError> {
        let mut parts: Vec<Vec<Tensor>> = Vec::new();
        for words in long.stretches(self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let part = long.part(words);
            let batch = self.batch(&[&part]);
            let encode = || self.encoding.for_prediction(&batch.encoder, batch.kept_states().as_ref(), tape);
            parts.push(timed(&mut times.encoder, || work.threads.run(encode))?);
        }
        let count = parts.first().map_or(0, Vec::len);
        let layer = |number: usize| {
            let rows: Vec<&Tensor> = parts.iter().filter_map(|part| part.get(number)).collect();
            Ok(Tensor::cat(&rows, 0)?)
        };
        (0..count).map(layer).collect()
    }

    /// The parts in which a sentence is learnt from, where it is too long for one.
    pub(super) fn training_parts(&self, long: &Prepared) -> Vec<Prepared> {
        long.training_stretches(self.most.train).into_iter().map(|words| long.part(words)).collect()
    }

    pub(super) fn batch<'a>(&self, prepared: &[&'a Prepared]) -> Batch<'a> {
        let alignments: Vec<&Alignment> = prepared.iter().map(|p| &p.alignment).collect();
        let encoder = EncoderBatch::new(&alignments, self.definition.subwords().pieces());
        let states = prepared.iter().map(|p| p.states.as_ref()).collect();
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
        let mut tape = Tape::for_prediction(work.exact);
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
    /// Whether to compute in `f32` throughout.
    pub exact: bool,
    pub cancel: &'a AtomicBool,
}

/// # Errors
/// A probability that is none: finite weights can make such when they are very large.
fn check_finite(predictions: &[Prediction]) -> Result<(), TrainError> {
    let all_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    let is_finite = |prediction: &Prediction| {
        prediction.first_words.as_deref().is_none_or(all_finite)
            && prediction.candidates.iter().all(|(_, probabilities)| all_finite(probabilities))
            && prediction.decided.iter().flatten().all(|found| found.score.is_finite())
    };
    if predictions.iter().all(is_finite) { Ok(()) } else { Err(TrainError::NoProbabilities) }
}

/// Sentences put together for one pass.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    encoder: EncoderBatch,
    sentences: Vec<&'a Sentence>,
    /// Of each sentence what was kept.
    states: Vec<Option<&'a FrozenStates>>,
}

impl Batch<'_> {
    pub(super) fn words(&self) -> usize {
        self.sentences.iter().map(|sentence| sentence.len()).sum()
    }

    /// Hidden states of all its sentences, when all were kept.
    fn kept_states(&self) -> Option<FrozenStates> {
        Some(FrozenStates::joined(&self.states.iter().copied().collect::<Option<Vec<&FrozenStates>>>()?))
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
