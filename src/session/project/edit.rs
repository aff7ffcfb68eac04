//! What a person wants done: commands become edits, and edits go to memory and to the disk in one step.

use super::Project;
use super::command::{Command, Context, Outcome, plan};
use super::settings::Setting;
use super::status::Counts;
use crate::annotation::{Corpus, Edit, Sentence, SentenceId, Split, Status, Step, Transaction};
use crate::session::learner::dataset::{goes_to_dev, leaves_enough};
use crate::session::{SessionError, now_ms};
use crate::store::{LogEntry, Stamp, VisibleSuggestions};
use std::sync::Arc;
use std::time::Instant;

impl Project {
    /// Does what a person wants, and says where it changed something.
    ///
    /// # Errors
    /// What the command is about is not there; nothing is changed then.
    pub fn run(&mut self, command: Command) -> Result<Outcome, SessionError> {
        match command {
            Command::Undo => self.travel(Step::Undo),
            Command::Redo => self.travel(Step::Redo),
            Command::Set(setting) => {
                if matches!(setting, Setting::Threshold(_)) {
                    // What a person has chosen no model changes.
                    self.set(Setting::ThresholdByEffort(false))?;
                }
                self.agenda.renew();
                // A strategy may want to know more of each sentence; the others decide which names are suggested.
                let is_encoder = matches!(setting, Setting::Encoder(_));
                let asks_anew = is_encoder
                    || matches!(setting, Setting::Strategy(_) | Setting::GeneralNames(_) | Setting::NamesAs(..));
                self.set(setting)?;
                if is_encoder {
                    self.look_for_names();
                }
                if asks_anew {
                    self.start_predicting();
                }
                self.consider_training();
                Ok(Outcome::default())
            }
            Command::SetAside { sentences } => {
                let transaction = self.set_aside(sentences)?;
                self.agenda.renew();
                self.commit(Step::Do, transaction).map(|()| Outcome::default())
            }
            Command::Train => {
                if !self.learner.is_training() && self.settings.training_paused {
                    // It was another one that was to wait.
                    self.set(Setting::TrainingPaused(false))?;
                }
                self.start_training().map(|()| Outcome::default())
            }
            Command::LookAgain { folds } => self.start_look_again(folds).map(|()| Outcome::default()),
            Command::UseModel(model) => self.go_back_to(model).map(|()| Outcome::default()),
            Command::StopTraining => {
                self.learner.stop_training();
                Ok(Outcome::default())
            }
            Command::PauseTraining(paused) => self.pause_training(paused).map(|()| Outcome::default()),
            Command::RetrySave => self.saving.retry().map(|()| Outcome::default()),
            command => self.edit(&command),
        }
    }

    fn edit(&mut self, command: &Command) -> Result<Outcome, SessionError> {
        let sentence = match command {
            Command::Accept { sentence, .. }
            | Command::Correct { sentence, .. }
            | Command::Reject { sentence, .. }
            | Command::AcceptAll { sentence, .. }
            | Command::SetStatus { sentence, .. } => Some(*sentence),
            _ => None,
        };
        let (train, dev) = (self.counts.train, self.counts.dev);
        let target = sentence.and_then(|id| self.corpus.sentence(id));
        let context = Context {
            corpus: &self.corpus,
            suggestions: sentence.and_then(|id| self.suggestions(id)),
            threshold: self.settings.threshold,
            completes_into_dev: target.is_some_and(|s| goes_to_dev(s, dev) && !self.learner.may_know(s.id()))
                && leaves_enough(train, dev)
                && !self.dev_is_given(),
        };
        let Some(plan) = plan(command, &context)? else { return Ok(Outcome::default()) };
        if !plan.transaction.edits.is_empty() {
            self.check_cuts(&plan.transaction.edits)?;
            self.commit(Step::Do, plan.transaction)?;
        }
        Ok(plan.outcome)
    }

    fn travel(&mut self, step: Step) -> Result<Outcome, SessionError> {
        let next = match step {
            Step::Undo => self.history.next_undo().ok_or(SessionError::NothingToUndo)?,
            Step::Do | Step::Redo => self.history.next_redo().ok_or(SessionError::NothingToRedo)?,
        };
        let transaction = next.clone();
        let sets_aside = |edit: &Edit| matches!(edit, Edit::SetSplit { new: Split::Blind, .. });
        if transaction.edits.iter().any(sets_aside) && self.has_learned() {
            return Err(SessionError::TooLateForBlind);
        }
        let sentence = transaction.sentence();
        let mention = transaction.edits.iter().find_map(|edit| match edit {
            Edit::AddMention { mention, .. } | Edit::ReplaceMention { new: mention, .. } => Some(mention.id),
            _ => None,
        });
        self.commit(step, transaction)?;
        Ok(Outcome { sentence, mention })
    }

    /// True when a dev split came with an import that is still there; else completed sentences make one.
    pub(in crate::session) fn dev_is_given(&self) -> bool {
        self.settings.dev_imported && self.counts.dev_all > 0
    }

    /// Takes note of an import that is on disk.
    pub(in crate::session) fn record_import(&mut self, inverse: Transaction) {
        self.history.record(Step::Do, inverse);
    }

    /// Applies a transaction in memory and sends it to the writer.
    fn commit(&mut self, step: Step, transaction: Transaction) -> Result<(), SessionError> {
        let writer = Arc::clone(self.writer()?);
        let moves_words = transaction.edits.iter().any(Edit::moves_words);
        let touched = touched(&self.corpus, &transaction.edits);
        let there = |corpus: &Corpus, count: &mut dyn FnMut(&Sentence)| {
            touched.iter().filter_map(|id| corpus.sentence(*id)).for_each(count);
        };
        let (complete_before, seen) = (self.counts.complete_for_models(), self.seen());
        let mut was_complete = Vec::new();
        there(&self.corpus, &mut |sentence| {
            self.counts.subtract(sentence);
            was_complete.extend((sentence.status() == Status::Complete).then(|| sentence.id()));
        });
        let applied = Arc::make_mut(&mut self.corpus).apply(transaction.clone());
        // Where it was refused, the sentences are as they were.
        there(&self.corpus, &mut |sentence| self.counts.add(sentence));
        self.counts.documents = self.corpus.document_count();
        let inverse = applied?;
        self.history.record(step, inverse.clone());
        let (stamp, revision) = (self.stamp(seen), self.corpus.revision());
        let edits = transaction.edits.clone();
        let changes_labels = edits.iter().any(Edit::changes_labels);
        let moves_documents = edits.iter().any(|edit| matches!(edit, Edit::SetPresence { .. }));
        if let Err(error) = writer.apply(LogEntry { step, transaction, inverse, stamp, revision }) {
            // It is done, and nobody writes it: not an edit that was refused.
            self.saving.note_unsaved(&error);
            self.segmentation += u64::from(moves_words);
            return Ok(());
        }
        if changes_labels && self.current_model().is_none() {
            self.start_predicting();
        }
        if moves_words {
            self.segmentation += 1;
            self.move_suggestions(&edits)?;
            self.start_predicting();
        } else {
            self.predict_again(was_complete.into_iter());
        }
        if moves_documents {
            self.count_without(complete_before)?;
        }
        self.consider_training();
        Ok(())
    }

    /// Takes over what an import has written.
    pub(in crate::session) fn replace_corpus(&mut self, corpus: Arc<Corpus>, counts: Counts) {
        self.counts = counts;
        self.corpus = corpus;
    }

    /// Who, when, how long, and what was seen.
    pub(in crate::session) fn stamp(&mut self, visible: Vec<VisibleSuggestions>) -> Stamp {
        let author = self.settings.author.clone();
        let (active_ms, presses) = (self.activity.take_ms(Instant::now()), self.activity.take_presses());
        Stamp { author, time_ms: now_ms(), active_ms, presses, visible }
    }
}

/// The sentences that edits change, take away or bring, each once.
fn touched(corpus: &Corpus, edits: &[Edit]) -> Vec<SentenceId> {
    let mut touched = Vec::new();
    for edit in edits {
        match edit {
            Edit::Resegment { old, new, .. } => touched.extend(old.iter().chain(new).map(|(id, _)| *id)),
            Edit::SetPresence { documents, .. } => {
                let documents = documents.iter().filter_map(|id| corpus.document(id));
                touched.extend(documents.flat_map(|document| document.sentences.iter().copied()));
            }
            edit => touched.extend(edit.sentence()),
        }
    }
    touched.sort_unstable();
    touched.dedup();
    touched
}
