//! The training loop.
//!
//! A training has one part or several; see [`super::plan`].

mod dev;
mod keeping;
mod own_labels;

use super::beginning::{choose, device, from_encoder, from_snapshot};
use super::checkpoint::{self, Checkpoints, Keeper, Mentions, OwnLabels, Place, State};
use super::model::{Model, Pass, Prepared, Work};
use super::parts::{Cost, PartTimes, timed};
use super::plan::Plan;
use super::sealed;
use super::snapshot::{self, Manifest, Outcome, Snapshot, snapshot_manifest};
use super::{Config, Dataset, Event, Example, Settings, TrainError, peak_memory_mb, stop_if_cancelled};
use crate::annotation::{LabelId, ModelId, ProjectId, Span};
use crate::disk::is_there;
use crate::encoder::{Definition, Encoders};
use crate::model::{HeadFilter, Samples, architecture};
use crate::nn::batches::{self, Size};
use crate::nn::{AdamW, AdamWConfig, LinearSchedule, NnError, Rng, RngState, Threads, Vars};
use candle_core::Tensor;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dev::Best;
pub use dev::ENOUGH_DEV;

/// Sentences of a batch when dev is scored.
const DEV_BATCH: usize = 32;

/// What to train, and where to put it.
#[derive(Clone, Debug)]
pub struct TrainRequest {
    pub dataset: Arc<Dataset>,
    pub config: Config,
    /// Where the encoder that the configuration names is found.
    pub encoders: Encoders,
    /// A snapshot whose weights the training begins with, instead of the encoder's; with them come its architecture, its
    /// encoder and the features of its words. Its labels must be those of the data, in their order: the output layer's rows
    /// are taken over by their places.
    pub start: Option<Snapshot>,
    /// The snapshot's final folder; it must not exist.
    pub snapshot: PathBuf,
    /// The model that this one follows, for the record.
    pub parent: Option<ModelId>,
    /// For which it trains, for the record.
    pub project: Option<ProjectId>,
    /// The complete sentences that there are, where the data set has not all of them.
    pub of_sentences: Option<usize>,
    /// Where the training keeps its state; `None` for one that can't be resumed.
    pub checkpoints: Option<Checkpoints>,
}

/// An interrupted training, and where its model goes.
#[derive(Clone, Debug)]
pub struct ResumeRequest {
    pub checkpoints: Checkpoints,
    /// The snapshot's final folder. One that is there already has to be the training's own, which had come to its end.
    pub snapshot: PathBuf,
    /// For which it trains. A training of an older program does not say so of itself.
    pub project: Option<ProjectId>,
    pub threads: Option<usize>,
}

/// A finished training.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    pub snapshot: PathBuf,
    /// SHA-256 of the snapshot's manifest.json.
    pub manifest_sha256: String,
    /// All that is known of the model; also in the snapshot.
    pub manifest: Manifest,
    /// Since it was begun or resumed, without scoring on dev; nothing where it had come to its end before.
    pub cost: Cost,
}

impl Trained {
    /// The model that was trained, and no other.
    pub fn as_snapshot(&self) -> Snapshot {
        Snapshot { folder: self.snapshot.clone(), manifest_sha256: Some(self.manifest_sha256.clone()) }
    }
}

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
        return Err(TrainError::SnapshotExists(request.snapshot.clone()));
    }
    Run::start(request, cancel)?.run_to_end(&request.snapshot, on_event)
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
            return Err(TrainError::SnapshotExists(request.snapshot.clone()));
        }
        let snapshot::Opened { manifest, manifest_sha256, .. } = snapshot::open(&Snapshot::any(&request.snapshot))?;
        let (snapshot, cost) = (request.snapshot.clone(), Cost::default());
        return Ok(Trained { snapshot, manifest, manifest_sha256, cost });
    }
    Run::resume(request, cancel)?.run_to_end(&request.snapshot, on_event)
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

/// The state of a training.
struct Run<'a> {
    cancel: &'a AtomicBool,
    dataset: Arc<Dataset>,
    settings: Settings,
    vars: Vars,
    model: Model,
    adam: AdamW,
    pass: Pass,
    /// Dropout and samples.
    noise: Rng,
    threads: Threads,
    /// Those that persons have labelled, and behind them those that the model has.
    train: Vec<Prepared>,
    /// What an epoch sees: numbers of `train`, some of them more than once.
    lesson: Vec<usize>,
    /// Of each sentence of the lesson.
    sizes: Vec<Size>,
    dev: Vec<Prepared>,
    plan: Plan,
    /// Words of the sentences that the model may label itself.
    unlabelled: Vec<Vec<String>>,
    /// Its labels in the part that is under way.
    own: Option<OwnLabels>,
    /// What it began with, as long as it is to begin anew.
    start: Option<Weights>,
    /// The mean of the models of the parts with its own labels that are over.
    mean: Option<Weights>,
    place: Place,
    step: usize,
    step_secs: f64,
    dev_secs: f64,
    begun: Instant,
    /// Of before the training was interrupted.
    earlier_secs: f64,
    /// Of an epoch with the labels of persons alone.
    samples: Samples,
    best: Option<Best>,
    parent: Option<ModelId>,
    project: Option<ProjectId>,
    /// The complete sentences that there were.
    of_sentences: usize,
    keeper: Option<Keeper>,
    /// Why it does not run on what was asked for.
    note: Option<String>,
}

type Weights = BTreeMap<String, Tensor>;

impl<'a> Run<'a> {
    fn start(request: &TrainRequest, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let (dataset, config) = (&request.dataset, &request.config);
        let sentences = config.limit.map_or(dataset.train().len(), |limit| limit.min(dataset.train().len()));
        if sentences == 0 {
            return Err(TrainError::NothingToLearn("a complete sentence"));
        }
        if dataset.labels().is_empty() {
            return Err(TrainError::NothingToLearn("a label"));
        }
        let (processor, note) = config.processor();
        let unlabelled = dataset.unlabelled().len() + dataset.train().len() - sentences;
        let (definition, settings, mut vars) = match &request.start {
            None => from_encoder(request, sentences, unlabelled, processor)?,
            Some(start) => from_snapshot(request, start, sentences, processor)?,
        };
        vars.move_to(&device(processor)?);
        let order = Rng::new(settings.seed, "order").state();
        let mut run = Self::prepare(Arc::clone(dataset), settings, &definition, vars, config.threads, order, cancel)?;
        (run.parent, run.project, run.note) = (request.parent, request.project.clone(), note);
        run.of_sentences = request.of_sentences.unwrap_or(dataset.train().len());
        if run.plan.last_part() > 0 {
            run.start = Some(run.vars.copy_out()?);
        }
        run.keeper = request.checkpoints.clone().map(|plan| Keeper::new(plan, 0));
        Ok(run)
    }

    fn resume(request: &ResumeRequest, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let folder = &request.checkpoints.folder;
        let checkpoint::Opened { dataset, state, settings, definition, weights, moments, best, own, start, mean } =
            checkpoint::open(folder)?;
        if request.project.is_some() && state.project.is_some() && request.project != state.project {
            return Err(TrainError::OtherTraining { path: folder.clone() });
        }
        let mut vars = Vars::trainable(settings.seed, &device(settings.processor)?);
        vars.stock(weights);
        vars.take_only_stock();
        let (dataset, order) = (Arc::new(dataset), state.place.order);
        let prepared = Self::prepare(dataset, settings, &definition, vars, request.threads, order, cancel);
        let mut run = prepared.map_err(|error| match error {
            TrainError::Cancelled | TrainError::Damaged { .. } => error,
            unfit => sealed::damaged(unfit, folder),
        })?;
        run.check_state(&state, own.as_ref(), folder)?;
        run.adam = AdamW::restore(adamw(&run.settings), state.adam_steps, &moments.into_iter().collect())?;
        run.adam.check_fits(&run.vars).map_err(|error| sealed::damaged(error, folder))?;
        run.noise = Rng::from_state(state.noise);
        run.best = state.best.map(|(epoch, dev)| Best { epoch, dev, weights: best });
        (run.place, run.step, run.samples) = (state.place, state.step, state.samples);
        (run.step_secs, run.earlier_secs, run.parent) = (state.step_secs, state.wall_secs, state.parent);
        (run.project, run.of_sentences) = (request.project.clone().or(state.project), state.of_sentences);
        run.keeper = Some(Keeper::new(request.checkpoints.clone(), run.step));
        (run.start, run.mean) = (start, mean);
        if let Some(own) = own {
            run.learn_from_own(own)?;
        }
        Ok(run)
    }

    /// What was kept has to be a place in this training.
    fn check_state(&self, state: &State, own: Option<&OwnLabels>, folder: &Path) -> Result<(), TrainError> {
        let Place { epoch, batch, .. } = state.place;
        let damaged = |reason: &str| Err(sealed::damaged(reason, folder));
        if !(1..=self.settings.all_epochs()).contains(&epoch)
            || batch > self.plan.batches(epoch)
            || state.step != (1..epoch).map(|epoch| self.plan.batches(epoch)).sum::<usize>() + batch
        {
            return damaged("it stands where the training has no step");
        }
        let Some(own) = own else { return Ok(()) };
        if own.part > self.plan.last_part() || own.labels.len() != self.plan.unlabelled_of(own.part).len() {
            return damaged("it labels other sentences than the training was to");
        }
        let words = self.words_to_label(own.part).map(<[String]>::len);
        let is_outside = |(words, labels): (usize, &Mentions)| labels.iter().any(|(span, _)| span.end().get() > words);
        match words.zip(&own.labels).any(is_outside) {
            true => damaged("it labels words that are not there"),
            false => Ok(()),
        }
    }

    /// Builds the model of `vars` and makes the sentences ready.
    fn prepare(
        dataset: Arc<Dataset>,
        settings: Settings,
        definition: &Definition,
        mut vars: Vars,
        threads: Option<usize>,
        order: RngState,
        cancel: &'a AtomicBool,
    ) -> Result<Self, TrainError> {
        let begun = Instant::now();
        let labels = dataset.labels().iter().map(|(id, _)| *id).collect();
        let model = Model::build(&mut vars, definition.clone(), &settings, labels)?;
        fn parts(example: &Example) -> (&[String], &[(Span, LabelId)]) {
            (&example.tokens, &example.gold)
        }
        let threads = Threads::new("train", threads)?;
        let mut times = PartTimes::default();
        let (chosen, unlabelled) = choose(&dataset, &settings);
        let chosen = chosen.into_iter().map(parts);
        let mut train = timed(&mut times.subwords, || model.prepare_all(chosen, cancel))?;
        let mut dev = timed(&mut times.subwords, || model.prepare_all(dataset.dev().iter().map(parts), cancel))?;
        for sentences in [&mut train, &mut dev] {
            timed(&mut times.encoder, || model.keep_states(sentences, &threads, cancel))?;
        }
        Ok(Self {
            cancel,
            adam: AdamW::new(adamw(&settings)),
            pass: Pass::starting_with(times, &settings),
            noise: Rng::new(settings.seed, "noise"),
            threads,
            sizes: train.iter().map(Prepared::size).collect(),
            lesson: (0..train.len()).collect(),
            plan: Plan::new(&settings, train.len(), unlabelled.len()),
            unlabelled,
            own: None,
            start: None,
            mean: None,
            dataset,
            settings,
            vars,
            model,
            train,
            dev,
            place: Place { epoch: 1, batch: 0, loss_sum: 0.0, order },
            step: 0,
            step_secs: 0.0,
            dev_secs: 0.0,
            begun,
            earlier_secs: 0.0,
            samples: Samples::default(),
            best: None,
            parent: None,
            project: None,
            of_sentences: 0,
            keeper: None,
            note: None,
        })
    }

    fn run_to_end(mut self, snapshot: &Path, on_event: &mut dyn FnMut(Event)) -> Result<Trained, TrainError> {
        if let Some(message) = self.note.take() {
            on_event(Event::OnCpu { message });
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
        while self.place.epoch <= self.settings.all_epochs() {
            let part = self.part();
            if part > self.own.as_ref().map_or(0, |own| own.part) {
                self.begin_anew(part, on_event)?;
            }
            self.epoch(on_event)?;
        }
        on_event(Event::Saving);
        let cost = Cost {
            times: self.pass.times,
            words: self.train.iter().take(self.plan.labelled()).map(|p| p.sentence.len()).sum(),
            positions: self.train.iter().take(self.plan.labelled()).map(Prepared::positions).sum(),
        };
        let (manifest, manifest_sha256) = self.finish(snapshot)?;
        Ok(Trained { snapshot: snapshot.to_owned(), manifest, manifest_sha256, cost })
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

    fn work(&self) -> Work<'_> {
        let (filter, floor) = (HeadFilter::AtLeast(self.settings.threshold), f32::INFINITY);
        Work { threads: &self.threads, filter, batch_size: DEV_BATCH, acquire: None, floor, cancel: self.cancel }
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
        self.place = Place { epoch: epoch + 1, batch: 0, loss_sum: 0.0, order: order.state() };
        on_event(Event::EpochDone { epoch, epochs, mean_loss, dev, best });
        self.keep_if_due(on_event)
    }

    /// One step on a batch, which is worked on in parts when it is long, and so are very long sentences.
    ///
    /// The parts' losses are weighted by their words. For the heads that is the loss of the whole batch; the loss of the
    /// spans becomes a mean of the parts' means.
    fn take_step(&mut self, batch: &[usize]) -> Result<f32, TrainError> {
        let (factor, is_counted) = (self.rate(), self.part() == 0);
        let most = self.model.most.train;
        let parts = batches::parts(&self.sizes, batch, most);
        let Self { threads, train, lesson, model, noise, adam, pass, vars, samples, step, cancel, .. } = self;
        let sentences = |numbers: &[usize]| -> Vec<&Prepared> {
            numbers.iter().filter_map(|&i| train.get(*lesson.get(i)?)).collect()
        };
        let all_words = sentences(batch).iter().map(|p| p.sentence.len()).sum::<usize>() as f64;
        let loss = threads.run(|| -> Result<f32, TrainError> {
            let mut value = 0.0;
            pass.gradients.clear();
            let part_of = |numbers: &Vec<usize>| match sentences(numbers).as_slice() {
                [long] if long.positions() > most => model.lessons(long).into_iter().map(Learnt::Part).collect(),
                all => vec![Learnt::Whole(all.to_vec())],
            };
            for part in parts.iter().flat_map(part_of) {
                stop_if_cancelled(cancel)?;
                let batch = match &part {
                    Learnt::Whole(sentences) => model.batch(sentences),
                    Learnt::Part(part) => model.batch(&[part]),
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

    fn finish(self, folder: &Path) -> Result<(Manifest, String), TrainError> {
        let wall_secs = self.wall_secs();
        let (mut best_epoch, mut dev) = (self.settings.all_epochs(), None);
        if let Some(best) = self.best {
            if let Some(weights) = &best.weights {
                self.vars.copy_in(weights)?;
            }
            (best_epoch, dev) = (best.epoch, best.dev);
        }
        self.vars.check_finite().map_err(|_| TrainError::NotFinite { step: self.step })?;
        let seen = self.plan.seen() as f64;
        let count = |f: fn(&Prepared) -> usize| self.train.iter().take(self.plan.labelled()).map(f).sum();
        let outcome = Outcome {
            train_sentences: self.plan.labelled(),
            of_sentences: self.of_sentences,
            best_epoch,
            dev,
            wall_secs,
            sentences_per_sec: seen / self.step_secs.max(1e-9),
            peak_memory_mb: peak_memory_mb(),
            samples: self.samples,
            too_wide_mentions: count(|p| p.sentence.unlearnable().too_wide),
            doubled_mentions: count(|p| p.sentence.unlearnable().doubled),
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
        let weights = self.vars.values();
        let sha256 = snapshot::write(folder, &manifest, self.model.definition(), &weights, self.cancel)?;
        Ok((manifest, sha256))
    }
}

/// What is learnt from in one pass.
enum Learnt<'a> {
    Whole(Vec<&'a Prepared>),
    /// Of a sentence that is too long for one.
    Part(Prepared),
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
