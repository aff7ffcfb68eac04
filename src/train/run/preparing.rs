//! A training before its first step: built anew, or as its newest checkpoint left it.

use super::super::beginning::{Beginning, choose, device, from_encoder, from_snapshot};
use super::super::checkpoint::{self, CheckpointKeeper};
use super::super::dataset::Dataset;
use super::super::error::TrainError;
use super::super::model::{Model, PassBuffers, Prepared};
use super::super::parameters::{Config, Settings};
use super::super::parts::{PartTimes, timed};
use super::super::plan::EpochPlan;
use super::super::request::{ResumeRequest, TrainRequest};
use super::super::state::{Mentions, OwnLabels, TrainingPosition, TrainingState, Weights};
use super::training::{BestEpoch, OwnLearning, Stage, Training};
use crate::encoder::{Definition, Encoder};
use crate::model::{Samples, architecture};
use crate::nn::{AdamW, AdamWConfig, Processor, Rng, RngState, Threads, Vars};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

impl<'a> Training<'a> {
    pub(super) fn start(request: &TrainRequest, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let (dataset, config) = (&request.dataset, &request.config);
        let mut run = Self::begin(dataset, config, cancel, |sentences, unlabelled, processor| match &request.start {
            None => {
                architecture(&config.architecture)?;
                let encoder = request.encoders.get(&config.encoder)?;
                from_encoder(config, &encoder, sentences, unlabelled, processor)
            }
            Some(start) => from_snapshot(request, start, sentences, processor),
        })?;
        (run.parent, run.project) = (request.parent, request.project.clone());
        run.of_sentences = request.of_sentences.unwrap_or(dataset.train().len());
        run.keeper = request.checkpoints.clone().map(|plan| CheckpointKeeper::new(plan, 0));
        Ok(run)
    }

    /// A training that is of no project and keeps no state, from an encoder that need not be installed.
    pub(super) fn start_on(
        encoder: &Encoder,
        dataset: &Arc<Dataset>,
        config: &Config,
        cancel: &'a AtomicBool,
    ) -> Result<Self, TrainError> {
        Self::begin(dataset, config, cancel, |sentences, unlabelled, processor| {
            from_encoder(config, encoder, sentences, unlabelled, processor)
        })
    }

    /// `beginning` gets the numbers of sentences with and without labels, and what the training runs on.
    fn begin(
        dataset: &Arc<Dataset>,
        config: &Config,
        cancel: &'a AtomicBool,
        beginning: impl FnOnce(usize, usize, Processor) -> Result<Beginning, TrainError>,
    ) -> Result<Self, TrainError> {
        let sentences = config.limit.map_or(dataset.train().len(), |limit| limit.min(dataset.train().len()));
        if sentences == 0 {
            return Err(TrainError::NothingToLearn("a complete sentence"));
        }
        if dataset.labels().is_empty() {
            return Err(TrainError::NothingToLearn("a label"));
        }
        let (processor, on_cpu) = config.possible_processor();
        let unlabelled = dataset.unlabelled().len() + dataset.train().len() - sentences;
        let Beginning { definition, settings, mut vars, warning } = beginning(sentences, unlabelled, processor)?;
        vars.move_to(&device(processor)?);
        let order = Rng::new(settings.seed, "order").state();
        let mut run = Self::prepare(Arc::clone(dataset), settings, &definition, vars, config.threads, order, cancel)?;
        run.warnings = on_cpu.into_iter().chain(warning).collect();
        run.of_sentences = dataset.train().len();
        if run.plan.last_part() > 0 {
            run.own.stage = Stage::Before { start: run.vars.copy_out()? };
        }
        Ok(run)
    }

    pub(super) fn resume(request: &ResumeRequest, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let folder = &request.checkpoints.folder;
        let checkpoint::OpenedTraining {
            dataset,
            state,
            settings,
            definition,
            weights,
            moments,
            best,
            own,
            start,
            mean,
        } = checkpoint::open(folder)?;
        if request.project.is_some() && state.project.is_some() && request.project != state.project {
            return Err(TrainError::OtherTraining { path: folder.clone() });
        }
        let mut vars = Vars::trainable(settings.seed, &device(settings.processor)?);
        vars.stock(weights);
        vars.take_only_stock();
        let (dataset, order) = (Arc::new(dataset), state.place.order);
        let prepared = Self::prepare(dataset, settings, &definition, vars, request.threads, order, cancel);
        let mut run = prepared.map_err(|error| match error {
            TrainError::Cancelled | TrainError::Processor(_) => error,
            error if error.may_pass() => error,
            unfit => checkpoint::damaged(unfit, folder),
        })?;
        run.check_state(&state, own.as_ref(), folder)?;
        let adam = AdamW::restore(adamw(&run.settings), state.adam_steps, &moments.into_iter().collect());
        run.adam = adam.map_err(|error| checkpoint::damaged(error, folder))?;
        run.adam.check_fits(&run.vars).map_err(|error| checkpoint::damaged(error, folder))?;
        // The last epoch, whose weights are not copied, is never followed by a checkpoint.
        if state.best.is_some() != best.is_some() {
            return Err(checkpoint::damaged("its best epoch has no weights, or its weights no epoch", folder));
        }
        if ![&best, &start, &mean].into_iter().flatten().all(|weights| are_of(&run.vars, weights)) {
            return Err(checkpoint::damaged("it has weights of another model", folder));
        }
        run.noise = Rng::from_state(state.noise);
        run.best = state.best.map(|(epoch, dev)| BestEpoch { epoch, dev, weights: best });
        (run.place, run.step, run.samples) = (state.place, state.step, state.samples);
        (run.step_secs, run.earlier_secs, run.parent) = (state.step_secs, state.wall_secs, state.parent);
        (run.project, run.of_sentences) = (request.project.clone().or(state.project), state.of_sentences);
        run.keeper = Some(CheckpointKeeper::new(request.checkpoints.clone(), run.step));
        if let Some(own) = &own {
            run.learn_from_own(own)?;
        }
        let stage = Stage::restore(own, start, mean, run.plan.last_part());
        let unfit = || checkpoint::damaged("its labels and weights are not those of one part of it", folder);
        run.own.stage = stage.ok_or_else(unfit)?;
        Ok(run)
    }

    /// What was kept has to be a place in this training.
    fn check_state(&self, state: &TrainingState, own: Option<&OwnLabels>, folder: &Path) -> Result<(), TrainError> {
        let TrainingPosition { epoch, batch, .. } = state.place;
        let damaged = |reason: &str| Err(checkpoint::damaged(reason, folder));
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
        let threads = Threads::new("train", threads)?;
        let mut times = PartTimes::default();
        let (chosen, unlabelled) = choose(&dataset, &settings);
        let mut train = timed(&mut times.subwords, || model.prepare_all(chosen, cancel))?;
        let mut dev = timed(&mut times.subwords, || model.prepare_all(dataset.dev(), cancel))?;
        for sentences in [&mut train, &mut dev] {
            timed(&mut times.encoder, || model.keep_states(sentences, &threads, cancel))?;
        }
        Ok(Self {
            cancel,
            adam: AdamW::new(adamw(&settings)),
            pass: PassBuffers::starting_with(times, &settings),
            noise: Rng::new(settings.seed, "noise"),
            threads,
            sizes: train.iter().map(Prepared::size).collect(),
            epoch_sentences: (0..train.len()).collect(),
            plan: EpochPlan::new(&settings, train.len(), unlabelled.len()),
            own: OwnLearning { unlabelled, stage: Stage::Never },
            dataset,
            settings,
            vars,
            model,
            train,
            dev,
            place: TrainingPosition { epoch: 1, batch: 0, loss_sum: 0.0, order },
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
            warnings: Vec::new(),
        })
    }
}

/// Whether these are copies of the variables' values, by name and shape.
fn are_of(vars: &Vars, weights: &Weights) -> bool {
    let values = vars.values();
    values.len() == weights.len()
        && values.iter().zip(weights).all(|((name, value), (of, weight))| name == of && value.dims() == weight.dims())
}

pub(super) fn adamw(settings: &Settings) -> AdamWConfig {
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
