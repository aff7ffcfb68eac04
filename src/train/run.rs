//! The training loop.

use super::model::{ENCODER, Model, Prepared, Work};
use super::predictor::score;
use super::snapshot::{self, Manifest, Outcome};
use super::{Config, Dataset, Event, Example, Settings, TrainError, batches};
use crate::annotation::{LabelId, ModelId};
use crate::encoder::{Encoder, Encoders};
use crate::evaluation::Report;
use crate::model::{HeadFilter, Samples, architecture};
use crate::nn::{AdamW, AdamWConfig, LinearSchedule, NnError, Rng, Threads, Vars};
use candle_core::{Device, Tensor};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// From as many dev sentences on their F1 chooses the epoch and tells models apart; fewer are noise.
pub const ENOUGH_DEV: usize = 20;
/// Sentences of a batch when dev is scored.
const DEV_BATCH: usize = 32;

/// What to train, and where to put it.
#[derive(Clone, Debug)]
pub struct TrainRequest {
    pub dataset: Arc<Dataset>,
    pub config: Config,
    /// Where the encoder that the configuration names is found.
    pub encoders: Encoders,
    /// The snapshot's final folder; it must not exist.
    pub snapshot: PathBuf,
    /// The model that this one follows, for the record.
    pub parent: Option<ModelId>,
}

/// A finished training.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    pub snapshot: PathBuf,
    /// All that is known of the model; also in the snapshot.
    pub manifest: Manifest,
}

/// Trains on the caller's thread until done, with tensor work on a pool of its own, and writes the snapshot.
///
/// # Errors
/// [`TrainError::Cancelled`] within a step of the flag being set. Whatever the error, no snapshot is left behind.
pub fn train(
    request: &TrainRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Trained, TrainError> {
    let begun = Instant::now();
    if request.snapshot.exists() {
        return Err(TrainError::SnapshotExists(request.snapshot.clone()));
    }
    let mut run = Run::prepare(request, cancel)?;
    on_event(run.started());
    for epoch in 1..=run.settings.epochs {
        run.epoch(epoch, on_event)?;
    }
    on_event(Event::Saving);
    let manifest = run.finish(request, begun)?;
    Ok(Trained { snapshot: request.snapshot.clone(), manifest })
}

/// The state of a training.
struct Run<'a> {
    cancel: &'a AtomicBool,
    dataset: &'a Dataset,
    settings: Settings,
    encoder: Encoder,
    vars: Vars,
    model: Model,
    adam: AdamW,
    schedule: LinearSchedule,
    /// Order of the sentences.
    order: Rng,
    /// Dropout and samples.
    noise: Rng,
    threads: Threads,
    train: Vec<Prepared>,
    dev: Vec<Prepared>,
    step: usize,
    step_secs: f64,
    dev_secs: f64,
    samples: Samples,
    best: Option<Best>,
}

/// The epoch to keep. Its weights are copied unless it is the last.
struct Best {
    epoch: usize,
    dev: Option<Report>,
    weights: Option<BTreeMap<String, Tensor>>,
}

impl Best {
    fn f1(&self) -> f64 {
        self.dev.as_ref().and_then(|dev| dev.micro.f1()).unwrap_or(0.0)
    }
}

impl<'a> Run<'a> {
    fn prepare(request: &'a TrainRequest, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let dataset = &*request.dataset;
        let chosen = choose(dataset.train(), &request.config);
        if chosen.is_empty() {
            return Err(TrainError::NothingToLearn("a complete sentence"));
        }
        if dataset.labels().is_empty() {
            return Err(TrainError::NothingToLearn("a label"));
        }
        architecture(&request.config.architecture)?;
        let encoder = request.encoders.get(&request.config.encoder)?;
        let (pretrained, uncased) = (!encoder.weights().is_empty(), encoder.definition().is_uncased());
        let settings = request.config.resolve(chosen.len(), pretrained, uncased);
        let threads = Threads::new("train", request.config.threads)?;
        let mut vars = Vars::trainable(settings.seed, &Device::Cpu);
        vars.stock(encoder.weights().iter().map(|(name, t)| (format!("{ENCODER}.{name}"), t.clone())));
        let labels = dataset.labels().iter().map(|(id, _)| *id).collect();
        let model = Model::build(&mut vars, encoder.definition().clone(), &settings, labels)?;
        let parts = |e: &'a Example| (e.tokens.as_slice(), e.gold.as_slice());
        let train = model.prepare_all(chosen.into_iter().map(parts), cancel)?;
        let dev = model.prepare_all(dataset.dev().iter().map(parts), cancel)?;
        let steps = settings.epochs * train.len().div_ceil(settings.batch_size);
        Ok(Self {
            cancel,
            dataset,
            adam: AdamW::new(adamw(&settings)),
            schedule: LinearSchedule::new(steps, settings.warmup),
            order: Rng::new(settings.seed, "order"),
            noise: Rng::new(settings.seed, "noise"),
            settings,
            encoder,
            vars,
            model,
            threads,
            train,
            dev,
            step: 0,
            step_secs: 0.0,
            dev_secs: 0.0,
            samples: Samples::default(),
            best: None,
        })
    }

    fn steps(&self) -> usize {
        self.settings.epochs * self.train.len().div_ceil(self.settings.batch_size)
    }

    fn started(&self) -> Event {
        Event::Started {
            train_sentences: self.train.len(),
            dev_sentences: self.dev.len(),
            epochs: self.settings.epochs,
            steps: self.steps(),
            parameters: self.vars.parameters(),
        }
    }

    fn epoch(&mut self, epoch: usize, on_event: &mut dyn FnMut(Event)) -> Result<(), TrainError> {
        let lengths: Vec<usize> = self.train.iter().map(|p| p.size().positions).collect();
        let batches = batches::epoch(&lengths, self.settings.batch_size, &mut self.order);
        let (count, epochs) = (batches.len(), self.settings.epochs);
        let mut sum = 0.0;
        self.samples = Samples::default();
        for batch in batches {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(TrainError::Cancelled);
            }
            let begun = Instant::now();
            let loss = self.take_step(&batch)?;
            self.step_secs += begun.elapsed().as_secs_f64();
            sum += loss;
            let secs_left = self.secs_left(epoch);
            on_event(Event::Progress { step: self.step, steps: self.steps(), epoch, epochs, loss, secs_left });
        }
        let dev = self.score_dev(epoch)?;
        let best = self.keep_if_best(epoch, dev.clone())?;
        on_event(Event::EpochDone { epoch, epochs, mean_loss: sum / count as f32, dev, best });
        Ok(())
    }

    fn take_step(&mut self, batch: &[usize]) -> Result<f32, TrainError> {
        let Self { threads, train, model, noise, adam, vars, schedule, samples, step, .. } = self;
        let batch: Vec<&Prepared> = batch.iter().filter_map(|&i| train.get(i)).collect();
        let factor = schedule.factor(*step);
        let loss = threads.run(|| -> Result<f32, TrainError> {
            let loss = model.loss(&batch, noise)?;
            *samples += loss.samples;
            let value = loss.total.to_scalar::<f32>()?;
            if value.is_finite() {
                let grads = loss.total.backward()?;
                adam.step(vars, &grads, factor)?;
            }
            Ok(value)
        });
        self.step += 1;
        match loss {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) | Err(TrainError::Nn(NnError::NotFinite)) => Err(TrainError::NotFinite { step: self.step }),
            Err(error) => Err(error),
        }
    }

    /// Scores every epoch when the scores decide, else the last one.
    fn score_dev(&mut self, epoch: usize) -> Result<Option<Report>, TrainError> {
        let last = epoch == self.settings.epochs;
        if self.dev.is_empty() || (self.dev.len() < ENOUGH_DEV && !last) {
            return Ok(None);
        }
        let begun = Instant::now();
        let labels: Vec<LabelId> = self.dataset.labels().iter().map(|(id, _)| *id).collect();
        let threshold = self.settings.threshold;
        let work = Work {
            threads: &self.threads,
            filter: HeadFilter::AtLeast(threshold),
            batch_size: DEV_BATCH,
            cancel: self.cancel,
        };
        let report = score(&self.model, &labels, self.dataset.dev(), &self.dev, threshold, work)?;
        self.dev_secs = begun.elapsed().as_secs_f64();
        Ok(Some(report))
    }

    /// Of equally good epochs the later one is kept.
    fn keep_if_best(&mut self, epoch: usize, dev: Option<Report>) -> Result<bool, TrainError> {
        let last = epoch == self.settings.epochs;
        let decides = self.dev.len() >= ENOUGH_DEV;
        let candidate = Best { epoch, dev, weights: None };
        let better = if decides { self.best.as_ref().is_none_or(|b| candidate.f1() >= b.f1()) } else { last };
        if better {
            let weights = if last { None } else { Some(self.vars.copy_out()?) };
            self.best = Some(Best { weights, ..candidate });
        }
        Ok(better)
    }

    fn secs_left(&self, epoch: usize) -> f64 {
        let per_step = self.step_secs / self.step.max(1) as f64;
        let epochs_to_score = if self.dev.len() >= ENOUGH_DEV { self.settings.epochs + 1 - epoch } else { 0 };
        per_step * (self.steps() - self.step) as f64 + self.dev_secs * epochs_to_score as f64
    }

    fn finish(self, request: &TrainRequest, begun: Instant) -> Result<Manifest, TrainError> {
        let (mut best_epoch, mut dev) = (self.settings.epochs, None);
        if let Some(best) = self.best {
            if let Some(weights) = &best.weights {
                self.vars.copy_in(weights)?;
            }
            (best_epoch, dev) = (best.epoch, best.dev);
        }
        let seen = (self.train.len() * self.settings.epochs) as f64;
        let count = |f: fn(&Prepared) -> usize| self.train.iter().map(f).sum();
        let outcome = Outcome {
            train_sentences: self.train.len(),
            best_epoch,
            dev,
            wall_secs: begun.elapsed().as_secs_f64(),
            sentences_per_sec: seen / self.step_secs.max(1e-9),
            peak_memory_mb: peak_memory_mb(),
            samples: self.samples,
            too_wide_mentions: count(|p| p.sentence.unlearnable().too_wide),
            doubled_mentions: count(|p| p.sentence.unlearnable().doubled),
            parameters: self.vars.parameters(),
        };
        let manifest = Manifest {
            architecture_version: architecture(&self.settings.architecture)?.version(),
            settings: self.settings,
            labels: self.dataset.labels().to_vec(),
            dataset_hash: self.dataset.hash().to_owned(),
            parent: request.parent,
            outcome,
        };
        snapshot::write(&request.snapshot, &manifest, self.encoder.definition(), &self.vars.copy_out()?)?;
        Ok(manifest)
    }
}

/// The sentences to train on, in an order of their own when they are limited.
fn choose<'a>(train: &'a [Example], config: &Config) -> Vec<&'a Example> {
    let mut chosen: Vec<&Example> = train.iter().collect();
    if let Some(limit) = config.limit {
        Rng::new(config.seed, "limit").shuffle(&mut chosen);
        chosen.truncate(limit);
    }
    chosen
}

fn adamw(settings: &Settings) -> AdamWConfig {
    AdamWConfig {
        encoder_lr: settings.encoder_lr,
        head_lr: settings.head_lr,
        weight_decay: settings.weight_decay,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        max_norm: settings.clip,
    }
}

/// The most memory that the process has held so far, where the operating system says.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
