//! The training loop.
//!
//! A training has one part or several; see [`super::plan`].

mod dev;
mod keeping;
mod own_labels;
mod preparing;
mod training;

use super::checkpoint;
use super::dataset::Dataset;
use super::entity_heads;
use super::error::{TrainError, stop_if_cancelled};
use super::event::Event;
use super::manifest::{Manifest, Outcome, Snapshot};
use super::memory::peak_memory_mb;
use super::model::{ENCODER, Model, PredictionWork, Prepared};
use super::parameters::Config;
use super::parts::{Cost, timed};
use super::predictor::Predictor;
use super::request::{ResumeRequest, TrainRequest, Trained};
use super::snapshot::{self, snapshot_manifest};
use super::state::TrainingPosition;
use crate::disk::is_there;
use crate::encoder::{Encoder, Encoders};
use crate::model::{FirstWordFilter, Samples, Unlearnable, architecture};
use crate::nn::batches;
use crate::nn::{LinearSchedule, NnError, Rng, Threads, Vars};
use candle_core::Device;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use training::Training;

pub use dev::ENOUGH_DEV;

/// Sentences of a batch when dev is scored.
const DEV_BATCH: usize = 32;

/// Trains on the caller's thread until done, with tensor work on a pool of its own, and writes the snapshot.
///
/// # Errors
/// [`TrainError::Cancelled`] soon after the flag is set. Whatever the error, no snapshot is left behind.
pub fn train(
    request: &TrainRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Trained, TrainError> {
    if is_there(&request.snapshot) {
        return Err(TrainError::Exists(request.snapshot.clone()));
    }
    Training::start(request, cancel)?.run_to_end(&request.snapshot, on_event)
}

/// Trains as [`train`] does, and leaves the model in memory, where `answering` will be what it is asked on: nothing is written.
///
/// # Errors
/// [`TrainError::Cancelled`] soon after the flag is set.
pub fn train_in_memory(
    dataset: Arc<Dataset>,
    config: Config,
    encoders: Encoders,
    answering: Threads,
    cancel: &AtomicBool,
) -> Result<Predictor, TrainError> {
    let request = TrainRequest::new(dataset, config, encoders, PathBuf::new());
    let mut training = Training::start(&request, cancel)?;
    training.run_epochs(&mut |_| {})?;
    let Ended { manifest, model, .. } = training.end()?;
    Ok(Predictor::of(manifest, model, answering))
}

/// Trains as [`train`] does, from an encoder that need not be installed, and gives it back as it has become, with the task head
/// that learned above it. Nothing is written. `config.encoder` is what the manifest calls it.
///
/// # Errors
/// [`TrainError::Cancelled`] soon after the flag is set.
pub fn train_encoder(
    encoder: &Encoder,
    dataset: &Arc<Dataset>,
    config: &Config,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<(Encoder, Manifest), TrainError> {
    let mut training = Training::start_on(encoder, dataset, config, cancel)?;
    training.tell_start(on_event);
    training.run_epochs(on_event)?;
    let Ended { manifest, vars, .. } = training.end()?;
    let values = vars.values().into_iter().map(|(name, tensor)| Ok((name, tensor.to_device(&Device::Cpu)?)));
    let values = values.collect::<Result<BTreeMap<_, _>, TrainError>>()?;
    let weights = values.iter().filter_map(|(name, tensor)| {
        let name = name.strip_prefix(ENCODER)?.strip_prefix('.')?;
        Some((name.to_owned(), tensor.clone()))
    });
    let heads = entity_heads::of_model(&values, &manifest)?;
    Ok((encoder.with_weights(weights.collect()).with_entity_heads(heads), manifest))
}

/// Goes on with a training from its newest checkpoint. The encoder it began with need not be there any more.
///
/// # Errors
/// As [`train`]; and when there is no checkpoint, or it is damaged or of another version of the program.
pub fn resume(
    request: &ResumeRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Trained, TrainError> {
    if is_there(&request.snapshot) {
        if !is_result_of(&request.snapshot, &request.checkpoints.folder)? {
            return Err(TrainError::Exists(request.snapshot.clone()));
        }
        let snapshot::OpenedSnapshot { manifest, manifest_sha256, .. } =
            snapshot::open(&Snapshot::any(&request.snapshot))?;
        let (snapshot, cost) = (request.snapshot.clone(), Cost::default());
        return Ok(Trained { snapshot, manifest, manifest_sha256, cost });
    }
    Training::resume(request, cancel)?.run_to_end(&request.snapshot, on_event)
}

/// Whether a snapshot is what an interrupted training had come to in the end, before it was told to anybody.
///
/// # Errors
/// A training or a snapshot that can't be read.
pub fn is_result_of(snapshot: &Path, training: &Path) -> Result<bool, TrainError> {
    let Some(kept) = checkpoint::interrupted(training)? else { return Ok(false) };
    let (manifest, _) = snapshot_manifest(snapshot)?;
    let is_of_project = kept.project.is_none() || kept.project == manifest.project;
    let theirs = (&manifest.labels, &manifest.dataset_hash, &manifest.settings);
    Ok(is_of_project && theirs == (&kept.labels, &kept.dataset_hash, &kept.settings))
}

impl Training<'_> {
    fn tell_start(&mut self, on_event: &mut dyn FnMut(Event)) {
        for message in std::mem::take(&mut self.warnings) {
            on_event(Event::Warning { message });
        }
        on_event(Event::Started {
            train_sentences: self.plan.labelled(),
            of_sentences: self.of_sentences,
            dev_sentences: self.dev.len(),
            epochs: self.settings.all_epochs(),
            from_step: self.step,
            steps: self.steps(),
            parameters: self.vars.parameters(),
        });
    }

    fn run_to_end(mut self, snapshot: &Path, on_event: &mut dyn FnMut(Event)) -> Result<Trained, TrainError> {
        self.tell_start(on_event);
        self.run_epochs(on_event)?;
        on_event(Event::Saving);
        let cost = Cost {
            times: self.pass.times,
            words: self.train.iter().take(self.plan.labelled()).map(|p| p.sentence.len()).sum(),
            positions: self.train.iter().take(self.plan.labelled()).map(Prepared::positions).sum(),
        };
        let cancel = self.cancel;
        let Ended { manifest, model, vars } = self.end()?;
        let manifest_sha256 = snapshot::write(snapshot, &manifest, model.definition(), &vars.values(), cancel)?;
        Ok(Trained { snapshot: snapshot.to_owned(), manifest, manifest_sha256, cost })
    }

    fn run_epochs(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), TrainError> {
        while self.place.epoch <= self.settings.all_epochs() && !self.has_run_out_of_patience() {
            let part = self.part();
            if part > self.own.stage.part() {
                self.begin_anew(part, on_event)?;
            }
            self.epoch(on_event)?;
        }
        Ok(())
    }

    fn steps(&self) -> usize {
        self.plan.steps()
    }

    /// The part of the training that is under way.
    fn part(&self) -> usize {
        self.plan.part(self.place.epoch)
    }

    /// What both learning rates are multiplied by in the next step.
    fn rate(&self) -> f64 {
        let (step, steps) = self.plan.step_in(self.part(), self.step);
        LinearSchedule::new(steps, self.settings.warmup).factor(step)
    }

    fn work(&self) -> PredictionWork<'_> {
        let (filter, floor) = (FirstWordFilter::AtLeast(self.settings.threshold()), f32::INFINITY);
        PredictionWork {
            threads: &self.threads,
            filter,
            batch_size: DEV_BATCH,
            acquire: None,
            floor,
            exact: false,
            cancel: self.cancel,
        }
    }

    /// What is left of the epoch in which the training stands.
    fn epoch(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), TrainError> {
        let (epoch, epochs) = (self.place.epoch, self.settings.all_epochs());
        // Drawn anew from the epoch's beginning, also by a training that is resumed in its middle.
        let mut order = Rng::from_state(self.place.order);
        let batches = batches::epoch(&self.sizes, self.settings.batch_size, &mut order);
        if self.place.batch == 0 && self.part() == 0 {
            self.samples = Samples::default();
        }
        for batch in batches.iter().skip(self.place.batch) {
            let begun = Instant::now();
            let loss = self.take_step(batch)?;
            self.step_secs += begun.elapsed().as_secs_f64();
            self.place.batch += 1;
            self.place.loss_sum += loss;
            let secs_left = self.secs_left(epoch);
            on_event(Event::Progress { step: self.step, steps: self.steps(), epoch, epochs, loss, secs_left });
            self.keep_if_due(on_event)?;
        }
        self.adam.catch_up(&self.vars)?;
        if epoch == epochs && self.part() > 1 {
            self.vars.copy_in(&self.mean_with(self.part())?)?;
        }
        let dev = self.score_dev(epoch)?;
        let best = self.keep_if_best(epoch, dev.clone())?;
        let mean_loss = self.place.loss_sum / batches.len() as f32;
        self.place = TrainingPosition { epoch: epoch + 1, batch: 0, loss_sum: 0.0, order: order.state() };
        on_event(Event::EpochDone { epoch, epochs, mean_loss, dev, best });
        self.keep_if_due(on_event)
    }

    /// One step on a batch, which is worked on in parts when it is long, and so are very long sentences.
    ///
    /// The parts' losses are weighted by their words. For the first words that is the loss of the whole batch; the loss of the
    /// spans becomes a mean of the parts' means.
    fn take_step(&mut self, batch: &[usize]) -> Result<f32, TrainError> {
        let (factor, is_counted) = (self.rate(), self.part() == 0);
        let most = self.model.most.train;
        let parts = batches::parts(&self.sizes, batch, most);
        let Self { threads, train, epoch_sentences, model, noise, adam, pass, vars, samples, step, cancel, .. } = self;
        let sentences = |numbers: &[usize]| -> Vec<&Prepared> {
            numbers.iter().filter_map(|&i| train.get(*epoch_sentences.get(i)?)).collect()
        };
        let all_words = sentences(batch).iter().map(|p| p.sentence.len()).sum::<usize>() as f64;
        let loss = threads.run(|| -> Result<f32, TrainError> {
            let mut value = 0.0;
            pass.gradients.clear();
            let part_of = |numbers: &Vec<usize>| match sentences(numbers).as_slice() {
                [long] if long.positions() > most => {
                    model.training_parts(long).into_iter().map(BatchPart::Part).collect()
                }
                all => vec![BatchPart::Whole(all.to_vec())],
            };
            for part in parts.iter().flat_map(part_of) {
                stop_if_cancelled(cancel)?;
                let batch = match &part {
                    BatchPart::Whole(sentences) => model.batch(sentences),
                    BatchPart::Part(part) => model.batch(&[part]),
                };
                timed(&mut pass.times.optimizer, || adam.catch_up_rows(vars, model.word_table(), batch.ids()))?;
                let weight = batch.words() as f64 / all_words;
                let (loss, counts) = model.learn(vars, &batch, weight, noise, pass, cancel)?;
                value += loss;
                if is_counted {
                    *samples += counts;
                }
                if !value.is_finite() {
                    return Ok(value);
                }
            }
            timed(&mut pass.times.optimizer, || adam.step(vars, &mut pass.gradients, factor))?;
            Ok(value)
        });
        *step += 1;
        match loss {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) | Err(TrainError::Nn(NnError::NotFinite)) => Err(TrainError::NotFinite { step: self.step }),
            Err(error) => Err(error),
        }
    }

    fn wall_secs(&self) -> f64 {
        self.earlier_secs + self.begun.elapsed().as_secs_f64()
    }

    fn secs_left(&self, epoch: usize) -> f64 {
        let per_step = self.step_secs / self.step.max(1) as f64;
        let epochs_to_score = (epoch..=self.settings.all_epochs()).filter(|&epoch| self.is_candidate(epoch)).count();
        per_step * (self.steps() - self.step) as f64 + self.dev_secs * epochs_to_score as f64
    }

    /// The epoch that is kept.
    fn end(self) -> Result<Ended, TrainError> {
        let wall_secs = self.wall_secs();
        let (mut best_epoch, mut dev) = (self.settings.all_epochs(), None);
        if let Some(best) = self.best {
            if let Some(weights) = &best.weights {
                self.vars.copy_in(weights)?;
            }
            (best_epoch, dev) = (best.epoch, best.dev);
        }
        self.vars.check_finite().map_err(|_| TrainError::NotFinite { step: self.step })?;
        let seen = self.plan.seen_before(self.place.epoch) as f64;
        let (mut mentions, mut unlearnable) = (0, Unlearnable::default());
        for Prepared { sentence, .. } in self.train.iter().take(self.plan.labelled()) {
            mentions += sentence.mentions().len();
            unlearnable += self.model.unlearnable(sentence);
        }
        let outcome = Outcome {
            train_sentences: self.plan.labelled(),
            of_sentences: self.of_sentences,
            best_epoch,
            dev,
            wall_secs,
            sentences_per_sec: seen / self.step_secs.max(1e-9),
            peak_memory_mb: peak_memory_mb(),
            samples: self.samples,
            mentions,
            unlearnable,
            parameters: self.vars.parameters(),
        };
        let manifest = Manifest {
            project: self.project,
            architecture_version: architecture(&self.settings.architecture)?.version(),
            settings: self.settings,
            labels: self.dataset.labels().to_vec(),
            dataset_hash: self.dataset.hash().to_owned(),
            parent: self.parent,
            outcome,
        };
        Ok(Ended { manifest, model: self.model, vars: self.vars })
    }
}

/// A training that has come to its end.
struct Ended {
    manifest: Manifest,
    model: Model,
    vars: Vars,
}

/// What is learnt from in one pass.
enum BatchPart<'a> {
    Whole(Vec<&'a Prepared>),
    /// Of a sentence that is too long for one.
    Part(Prepared),
}
