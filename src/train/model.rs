//! An encoder with a head above it, as trainer and predictor both run it.

use super::batches::{self, Size};
use super::{Effort, Settings, TrainError, stop_if_cancelled};
use crate::annotation::{LabelId, Span};
use crate::encoder::{Alignment, Bert, Definition, EncoderBatch};
use crate::model::{Class, Head, HeadFilter, Loss, Nesting, Prediction, Sentence, architecture};
use crate::nn::{Mode, Part, Rng, Threads, Vars};
use std::sync::atomic::AtomicBool;

/// The prefix of the encoder's variables.
pub(super) const ENCODER: &str = "encoder";

#[derive(Debug)]
pub(super) struct Model {
    definition: Definition,
    bert: Bert,
    head: Box<dyn Head>,
    max_width: usize,
    encoder_learns: bool,
    nesting: Nesting,
    labels: Vec<LabelId>,
}

/// A sentence ready for the model.
#[derive(Debug)]
pub(super) struct Prepared {
    alignment: Alignment,
    pub sentence: Sentence,
}

impl Prepared {
    pub(super) fn size(&self) -> Size {
        Size { positions: self.alignment.positions(), windows: self.alignment.windows().len() }
    }
}

impl Model {
    pub(super) fn build(
        vars: &mut Vars,
        definition: Definition,
        settings: &Settings,
        labels: Vec<LabelId>,
    ) -> Result<Self, TrainError> {
        let encoder_learns = settings.effort == Effort::Full;
        if !encoder_learns {
            vars.freeze(Part::Encoder);
        }
        let bert = Bert::new(vars.scope(ENCODER, Part::Encoder), definition.config(), settings.dropout)?;
        let scope = vars.scope("head", Part::Heads);
        let head_config = settings.head_config(labels.len());
        let head = architecture(&settings.architecture)?.build(scope, definition.config().hidden, &head_config)?;
        let (max_width, nesting) = (settings.max_width, settings.nesting);
        Ok(Self { definition, bert, head, max_width, encoder_learns, nesting, labels })
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn nesting(&self) -> Nesting {
        self.nesting
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
        let alignment = self.definition.subwords().align(words, self.definition.config().max_positions)?;
        let gold: Vec<(Span, Class)> =
            gold.iter().filter_map(|&(span, label)| Some((span, self.class(label)?))).collect();
        Ok(Prepared { alignment, sentence: Sentence::new(words, &gold, self.max_width) })
    }

    pub(super) fn loss(&self, batch: &[&Prepared], rng: &mut Rng) -> Result<Loss, TrainError> {
        let mut mode = if self.encoder_learns { Mode::Train(rng) } else { Mode::Predict };
        let encoded = self.encoder_batch(batch).encode(&self.bert, &mut mode)?;
        Ok(self.head.loss(&encoded, &sentences(batch), rng)?)
    }

    fn predict(&self, batch: &[&Prepared], filter: HeadFilter) -> Result<Vec<Prediction>, TrainError> {
        let encoded = self.encoder_batch(batch).encode(&self.bert, &mut Mode::Predict)?;
        Ok(self.head.predict(&encoded, &sentences(batch), filter)?)
    }

    fn encoder_batch(&self, batch: &[&Prepared]) -> EncoderBatch {
        let alignments: Vec<&Alignment> = batch.iter().map(|p| &p.alignment).collect();
        EncoderBatch::new(&alignments, self.definition.subwords().pieces())
    }

    /// Predicts every sentence that has words; `each` gets its number and its prediction, in any order.
    pub(super) fn predict_all(
        &self,
        sentences: &[Prepared],
        work: Work<'_>,
        mut each: impl FnMut(usize, Prediction),
    ) -> Result<(), TrainError> {
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        for numbers in batches::by_length(&sizes, work.batch_size) {
            stop_if_cancelled(work.cancel)?;
            let with_words = |i: &usize| Some((*i, sentences.get(*i).filter(|p| !p.sentence.is_empty())?));
            let (numbers, batch): (Vec<usize>, Vec<&Prepared>) = numbers.iter().filter_map(with_words).unzip();
            if batch.is_empty() {
                continue;
            }
            let predictions = work.threads.run(|| self.predict(&batch, work.filter))?;
            numbers.into_iter().zip(predictions).for_each(|(i, prediction)| each(i, prediction));
        }
        Ok(())
    }
}

/// How a prediction is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'a> {
    pub threads: &'a Threads,
    pub filter: HeadFilter,
    pub batch_size: usize,
    pub cancel: &'a AtomicBool,
}

fn sentences<'a>(batch: &[&'a Prepared]) -> Vec<&'a Sentence> {
    batch.iter().map(|p| &p.sentence).collect()
}
