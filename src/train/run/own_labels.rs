//! The parts of a training in which it also learns from sentences that it has labelled itself; see [`super::super::plan`].

use super::super::error::TrainError;
use super::super::event::Event;
use super::super::model::Prepared;
use super::super::predictor::answer_all;
use super::super::state::{Mentions, OwnLabels, Weights};
use super::preparing::adamw;
use super::training::{Stage, Training};
use crate::nn::AdamW;

impl Training<'_> {
    /// Begins a part with labels that the model gives sentences itself.
    pub(super) fn begin_anew(&mut self, part: usize, on_event: &mut dyn FnMut(Event)) -> Result<(), TrainError> {
        let labels = self.label_itself(part)?;
        let mentions = labels.iter().map(Vec::len).sum();
        on_event(Event::LabelledItself { sentences: labels.len(), mentions });
        let mean = if part > 1 { Some(self.mean_with(part - 1)?) } else { None };
        let start = match std::mem::replace(&mut self.own.stage, Stage::Never) {
            Stage::Never => None,
            Stage::Before { start } => Some(start),
            Stage::During { start, .. } => start,
        };
        let labels = OwnLabels { part, labels };
        self.learn_from_own(&labels)?;
        if let Some(start) = &start {
            self.vars.copy_in(start)?;
        }
        let start = start.filter(|_| part < self.plan.last_part());
        self.own.stage = Stage::During { labels, start, mean };
        self.adam = AdamW::new(adamw(&self.settings));
        Ok(())
    }

    /// The mean of this model, that of the part number `part`, and those of the parts before.
    pub(super) fn mean_with(&self, part: usize) -> Result<Weights, TrainError> {
        match self.own.stage.mean() {
            Some(mean) => Ok(self.vars.mixed(mean, 1.0 / part as f64)?),
            None => Ok(self.vars.copy_out()?),
        }
    }

    /// The model's labels of the sentences without any that are due in a part.
    fn label_itself(&self, part: usize) -> Result<Vec<Mentions>, TrainError> {
        let words = self.words_to_label(part).map(|words| (words, [].as_slice()));
        let prepared = self.model.prepare_all(words, self.cancel)?;
        let answers = answer_all(&self.model, &prepared, self.settings.threshold(), self.work())?;
        Ok(answers.into_iter().map(|answer| answer.mentions).collect())
    }

    pub(super) fn words_to_label(&self, part: usize) -> impl Iterator<Item = &[String]> {
        self.plan.unlabelled_of(part).into_iter().filter_map(|i| self.own.unlabelled.get(i)).map(Vec::as_slice)
    }

    /// From here on an epoch holds sentences that the model has labelled, too.
    pub(super) fn learn_from_own(&mut self, own: &OwnLabels) -> Result<(), TrainError> {
        let parts = self.words_to_label(own.part).zip(own.labels.iter().map(Vec::as_slice));
        let mut more = self.model.prepare_all(parts, self.cancel)?;
        self.model.keep_states(&mut more, &self.threads, self.cancel)?;
        self.train.truncate(self.plan.labelled());
        self.train.extend(more);
        self.epoch_sentences = self.plan.epoch_sentences(own.part);
        self.sizes = self.epoch_sentences.iter().filter_map(|&i| self.train.get(i)).map(Prepared::size).collect();
        Ok(())
    }
}
