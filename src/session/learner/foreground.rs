//! Work that a caller waits for: what the command line does where the window has its background threads.

use super::in_use::NewFiles;
use super::{model_folder, records};
use crate::annotation::{ModelId, Sentence, SentenceId};
use crate::session::analysis::agenda::dropout_passes;
use crate::session::error::stopped;
use crate::session::learner::dataset::{discontinuous, words};
use crate::session::learner::predictor::suggestions;
use crate::session::learner::trainer::{self, Finished, TrainingJob, TrainingTask};
use crate::session::project::driver::Driver;
use crate::session::project::settings::Setting;
use crate::session::project::status::ModelInfo;
use crate::session::{Part, SessionError, now_ms};
use crate::train::{Config, Event, Interrupted, Manifest, PredictOptions, TrainError, interrupted};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Sentences that are predicted and stored at a time.
const CHUNK: usize = 64;

/// What a training in the foreground did.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainReport {
    pub model: ModelId,
    pub snapshot: PathBuf,
    pub manifest: Manifest,
    /// Gold mentions of several fragments, which the model does not see.
    pub discontinuous_mentions: usize,
    /// Why nothing is known of how good it is on dev and the blind set.
    pub unscored: Option<String>,
}

/// What a prediction stored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictReport {
    pub sentences: usize,
    pub suggestions: usize,
    pub wall_secs: f64,
    pub candidates: usize,
    /// Words taken for heads.
    pub heads: usize,
    /// It was told to stop before the end; what was stored up to then stays.
    pub stopped: bool,
    /// Sentences that were left alone, since suggestions of a file wait there for an answer.
    pub kept: usize,
}

impl Driver {
    /// Trains on what is complete and makes the model current, unless it labels given words only.
    ///
    /// # Errors
    /// Nothing to train on, an encoder that is not there, a stop: nothing is changed then.
    pub fn train_now(
        &mut self,
        config: Config,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<TrainReport, SessionError> {
        config.check()?;
        let job = self.training_job(config)?;
        self.train_in_foreground(job, cancel, on_event)
    }

    /// Goes on with the newest training that was interrupted, on the labels that it began with, and makes its model
    /// current.
    ///
    /// # Errors
    /// No interrupted training, one that can't be read, a stop: nothing is changed then.
    pub fn resume_now(
        &mut self,
        threads: Option<usize>,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<TrainReport, SessionError> {
        let model = self.interrupted_training().ok_or(SessionError::NothingToResume)?;
        let job = self.resuming_job(model, threads);
        self.train_in_foreground(job, cancel, on_event)
    }

    /// The newest training that was interrupted and can go on.
    pub fn interrupted(&self) -> Option<Interrupted> {
        let folder = self.models_dir().join(model_folder::training_directory(self.interrupted_training()?));
        interrupted(&folder).ok().flatten()
    }

    fn train_in_foreground(
        &mut self,
        job: TrainingJob,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<TrainReport, SessionError> {
        self.note_learned();
        let is_new = matches!(job.task, TrainingTask::New { .. });
        let Finished { model, trained, scores, leftovers, .. } =
            trainer::run_alone(job, cancel, on_event).map_err(stopped)?;
        let info = ModelInfo { calibration: scores.calibration, ..records::info(model, &trained.manifest, now_ms()) };
        let cleanup = self.add_model(&info, NewFiles::of(&trained, leftovers), true)?;
        if info.labels_given() {
            // It suggests nothing: the model in use stays, and so does what the next training is to be like.
            self.flush()?;
            let _done = cleanup.wait();
            return Ok(TrainReport {
                unscored: None,
                model,
                snapshot: trained.snapshot,
                discontinuous_mentions: 0,
                manifest: trained.manifest,
            });
        }
        self.take_scores(&scores, true)?;
        // Later trainings start where this one did.
        let (settings, before) = (&trained.manifest.settings, self.settings().clone());
        let max_width = settings.max_width().unwrap_or(before.max_width);
        let changes = [
            (settings.encoder != before.encoder, Setting::Encoder(settings.encoder.clone())),
            (settings.architecture != before.architecture, Setting::Architecture(settings.architecture.clone())),
            // One that was begun earlier knows nothing of what was set since.
            (is_new && settings.nesting != before.nesting, Setting::Nesting(settings.nesting)),
            (is_new && max_width != before.max_width, Setting::MaxWidth(max_width)),
        ];
        for (_, setting) in changes.into_iter().filter(|(is_change, _)| *is_change) {
            self.set(setting)?;
        }
        let complete = self.counts().complete_for_models();
        self.set(Setting::LastTrainedSentences(complete))?;
        // One that the window had let wait is none any more.
        self.set(Setting::TrainingPaused(false))?;
        self.flush()?;
        // A program that ends here would end it, too. Whether it could delete all does not matter.
        let _done = cleanup.wait();
        Ok(TrainReport {
            unscored: scores.failure,
            model,
            snapshot: trained.snapshot,
            discontinuous_mentions: discontinuous(self.corpus(), Part::Train),
            manifest: trained.manifest,
        })
    }

    /// Stores suggestions for a part of the project.
    ///
    /// # Errors
    /// No model, a damaged one, a stop before anything was stored.
    pub fn predict_now(
        &mut self,
        part: Part,
        model: Option<ModelId>,
        threads: Option<usize>,
        options: PredictOptions,
        cancel: &AtomicBool,
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<PredictReport, SessionError> {
        let (id, predictor) = self.load_model(model, threads)?;
        let dropout_passes = options.dropout_passes.max(dropout_passes(self.settings().strategy));
        let options = PredictOptions { dropout_passes, ..options };
        let scale = self.models().find(|info| info.id == id).map(|info| info.scale()).unwrap_or_default();
        let all = self.corpus().sentences().filter(|s| part.holds(s) && !s.tokens().is_empty());
        let (kept, chosen): (Vec<&Sentence>, Vec<&Sentence>) = all.partition(|s| self.has_open_from_file(s));
        let mut report = PredictReport { kept: kept.len(), ..PredictReport::default() };
        let ids: Vec<SentenceId> = chosen.into_iter().map(Sentence::id).collect();
        let started = Instant::now();
        for chunk in ids.chunks(CHUNK) {
            let of = |id: &SentenceId| Some((*id, words(self.corpus(), self.corpus().sentence(*id)?)));
            let (chunk, texts): (Vec<SentenceId>, Vec<Vec<String>>) = chunk.iter().filter_map(of).unzip();
            let predictions = match predictor.predict(&texts, options, cancel) {
                Err(TrainError::Cancelled) if report.sentences > 0 => {
                    report.stopped = true;
                    break;
                }
                other => other.map_err(stopped)?,
            };
            let threshold = predictor.threshold(options);
            let mut batch = Vec::with_capacity(chunk.len());
            for (sentence, prediction) in chunk.into_iter().zip(predictions) {
                report.candidates += prediction.candidates;
                report.heads += prediction.first_words_from(threshold);
                let said = suggestions(id, scale, prediction);
                report.suggestions += said.spans.len();
                batch.push((sentence, said));
            }
            report.sentences += batch.len();
            self.store_suggestions(batch)?;
            on_progress(report.sentences, ids.len());
        }
        report.wall_secs = started.elapsed().as_secs_f64();
        self.flush()?;
        Ok(report)
    }
}
