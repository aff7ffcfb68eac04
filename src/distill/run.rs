//! The loop of a distillation.

use super::comparison::{BatchPair, Comparison, SentencePair};
use super::error::{DistillError, stop_if_cancelled};
use super::files::{CheckpointState, RECORD, Record, checkpoint_of, fingerprint};
use super::keeper::CheckpointKeeper;
use super::request::{DistillationRequest, Event};
use super::student::Sizes;
use crate::disk::{Noted as _, folder_of, is_there};
use crate::encoder::{Bert, Encoder};
use crate::nn::batches::{self, Size};
use crate::nn::{AdamW, AdamWConfig, LinearSchedule, NnError, Rng, Threads, Vars, write_tensors_and_note};
use candle_core::Tensor;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WARMUP: f64 = 0.05;
/// The prefix of the student's variables.
pub(super) const STUDENT: &str = "student";

/// Distils on the caller's thread until done, with tensor work on a pool of its own, and writes the student's folder.
///
/// # Errors
/// [`DistillError::Interrupted`] soon after the flag is set, or [`DistillError::Cancelled`] where nothing was learned yet.
/// Whatever the error, no student is left behind; the last checkpoint is.
pub fn distill(
    request: &DistillationRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record, DistillError> {
    if is_there(&request.output) {
        return Err(DistillError::Exists(request.output.clone()));
    }
    let checkpoint = checkpoint_of(&request.output);
    match (is_there(&checkpoint), request.resume) {
        (true, false) => return Err(DistillError::Unfinished(checkpoint)),
        (false, true) => return Err(DistillError::NothingToResume(checkpoint)),
        _ => {}
    }
    if request.teacher.weights().is_empty() {
        return Err(DistillError::NotPretrained);
    }
    let teacher = request.teacher.definition().config();
    if !teacher.has_passes_by_hand() {
        return Err(DistillError::OtherBlocks { teacher: teacher.kind.name() });
    }
    let keeper = CheckpointKeeper::new(checkpoint, fingerprint(request)?);
    let kept = if request.resume { Some(keeper.read()?) } else { None };
    let mut run = Distillation::prepare(request, keeper, cancel)?;
    if let Some((state, tensors)) = kept {
        run.go_on(state, tensors)?;
    }
    run.learn(on_event)?;
    let record = run.write()?;
    // What is left of it would only be in the way: the student is there.
    if is_there(&run.keeper.path) {
        std::fs::remove_file(&run.keeper.path).noted_at("the checkpoint stays behind", &run.keeper.path);
    }
    Ok(record)
}

/// The state of a distillation.
pub(super) struct Distillation<'a> {
    pub(super) request: &'a DistillationRequest,
    pub(super) cancel: &'a AtomicBool,
    pub(super) threads: Threads,
    pub(super) sizes: Sizes,
    pub(super) teacher: Bert,
    /// The teacher, with the subwords that it reads words with.
    pub(super) teacher_encoder: Encoder,
    /// The student as it began; its definition stays.
    pub(super) student: Encoder,
    pub(super) bert: Bert,
    pub(super) vars: Vars,
    pub(super) adam: AdamW,
    /// Those to learn from.
    pub(super) sentences: Vec<SentencePair>,
    pub(super) words: usize,
    pub(super) held_out: Vec<SentencePair>,
    pub(super) step: usize,
    /// Of the student as it began, and after each epoch that is over.
    pub(super) errors: Vec<f64>,
    pub(super) step_secs: f64,
    pub(super) earlier_secs: f64,
    pub(super) begun: Instant,
    pub(super) keeper: CheckpointKeeper,
}

impl Distillation<'_> {
    fn go_on(&mut self, state: CheckpointState, tensors: HashMap<String, Tensor>) -> Result<(), DistillError> {
        // Weights and moments have names that don't meet, and each side takes its own.
        self.adam = AdamW::restore(adamw(self.request), state.adam_steps, &tensors)?;
        self.vars.copy_in(&tensors.into_iter().collect())?;
        (self.step, self.errors) = (state.step, state.errors);
        (self.step_secs, self.earlier_secs) = (state.step_secs, state.wall_secs);
        Ok(())
    }

    /// Teacher and student.
    fn encoders(&self) -> [&Encoder; 2] {
        [&self.teacher_encoder, &self.student]
    }

    fn steps(&self) -> usize {
        self.request.config.epochs * self.steps_an_epoch()
    }

    fn steps_an_epoch(&self) -> usize {
        self.sentences.len().div_ceil(self.request.config.batch_size)
    }

    /// The batches of an epoch, of similar length, in random order; the same whenever it is asked for.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let mut rng = Rng::new(self.request.config.seed, &format!("epoch {epoch}"));
        let sizes: Vec<Size> = self.sentences.iter().map(SentencePair::size).collect();
        batches::epoch(&sizes, self.request.config.batch_size, &mut rng)
    }

    fn learn(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), DistillError> {
        on_event(Event::Started {
            teacher_parameters: self.request.teacher.parameters(),
            parameters: self.student.parameters(),
            from_step: self.step,
            steps: self.steps(),
        });
        let schedule = LinearSchedule::new(self.steps(), WARMUP);
        let mut comparison = Comparison::default();
        loop {
            let (epoch, done) = (self.step / self.steps_an_epoch(), self.step % self.steps_an_epoch());
            if self.errors.len() <= epoch {
                self.score(&mut comparison, on_event)?;
            }
            if self.step >= self.steps() {
                return Ok(());
            }
            for numbers in self.batches(epoch).into_iter().skip(done) {
                if self.cancel.load(Ordering::Relaxed) {
                    self.keep()?;
                    return Err(DistillError::Interrupted(self.keeper.path.clone()));
                }
                let begun = Instant::now();
                let batch = BatchPair::new(numbers.iter().filter_map(|&i| self.sentences.get(i)), self.encoders());
                let error = self.take_step(&batch, schedule.factor(self.step), &mut comparison)?;
                self.step += 1;
                self.step_secs += begun.elapsed().as_secs_f64();
                let secs_left = self.step_secs / self.step as f64 * (self.steps() - self.step) as f64;
                on_event(Event::Progress { step: self.step, steps: self.steps(), error, secs_left });
                self.keep_if_due(on_event);
            }
        }
    }

    fn take_step(&mut self, batch: &BatchPair, factor: f64, comparison: &mut Comparison) -> Result<f64, DistillError> {
        let Self { threads, teacher, bert, vars, adam, sizes, step, .. } = self;
        let targets = sizes.targets();
        let error = threads.run(|| -> Result<f64, NnError> {
            let error = comparison.compare(batch, teacher, bert, &targets)?;
            if !error.is_finite() {
                return Err(NnError::NotFinite);
            }
            comparison.gradients.clear();
            let grads: Vec<(usize, &[f32])> =
                comparison.grads.iter().enumerate().map(|(i, grad)| (i + 1, grad.as_slice())).collect();
            bert.backward_from(&batch.student, &mut comparison.student, &grads, &mut comparison.gradients)?;
            adam.step(vars, &mut comparison.gradients, factor)?;
            Ok(error)
        });
        error.map_err(|error| match error {
            NnError::NotFinite => DistillError::NotFinite(*step),
            error => error.into(),
        })
    }

    /// The error on what is held out.
    fn score(&mut self, comparison: &mut Comparison, on_event: &mut dyn FnMut(Event)) -> Result<(), DistillError> {
        let (mut sum, mut rows) = (0.0, 0);
        let targets = self.sizes.targets();
        for sentences in self.held_out.chunks(self.request.config.batch_size) {
            // Later a stop is heard before the next step, where the state can be kept.
            if self.step == 0 {
                stop_if_cancelled(self.cancel)?;
            }
            let batch = BatchPair::new(sentences.iter(), self.encoders());
            let error = self.threads.run(|| comparison.compare(&batch, &self.teacher, &self.bert, &targets))?;
            sum += error * batch.pairs.len() as f64;
            rows += batch.pairs.len();
        }
        let error = sum / rows.max(1) as f64;
        on_event(Event::EpochDone { epoch: self.errors.len(), error });
        self.errors.push(error);
        Ok(())
    }

    /// Keeps the state on disk from time to time. Where that fails the distillation goes on all the same.
    fn keep_if_due(&mut self, on_event: &mut dyn FnMut(Event)) {
        let pace = Duration::from_secs(self.request.pace_secs).max(50 * self.keeper.cost);
        if self.keeper.since.elapsed() < pace || self.step == self.steps() {
            return;
        }
        let begun = Instant::now();
        let kept = self.keep();
        (self.keeper.since, self.keeper.cost) = (Instant::now(), begun.elapsed());
        match kept {
            Ok(()) => on_event(Event::Kept { step: self.step }),
            Err(error) => on_event(Event::NotKept { message: error.to_string() }),
        }
    }

    fn keep(&self) -> Result<(), DistillError> {
        let mut tensors = self.adam.moments()?;
        let learning = self.vars.iter().map(|(name, variable)| (name.to_owned(), variable.var.as_tensor().detach()));
        tensors.extend(learning);
        let state = CheckpointState {
            fingerprint: self.keeper.fingerprint.clone(),
            step: self.step,
            adam_steps: self.adam.steps(),
            errors: self.errors.clone(),
            step_secs: self.step_secs,
            wall_secs: self.wall_secs(),
        };
        let path = &self.keeper.path;
        let note = serde_json::to_string(&state)
            .map_err(|error| DistillError::io("can't write the checkpoint", path)(error.into()))?;
        let parent = folder_of(path);
        std::fs::create_dir_all(parent).map_err(DistillError::io("can't make the folder", parent))?;
        Ok(write_tensors_and_note(&self.keeper.path, &tensors, &note)?)
    }

    fn wall_secs(&self) -> f64 {
        self.earlier_secs + self.begun.elapsed().as_secs_f64()
    }

    fn record(&self) -> Record {
        let (config, shape) = (&self.request.config, self.student.definition().config());
        Record {
            teacher: self.request.teacher_name.clone(),
            teacher_layers: self.request.teacher.definition().config().layers,
            layers: shape.layers,
            inner: shape.inner,
            vocabulary: shape.vocabulary,
            ideographs: self.request.cuts_unigram().then_some(config.ideographs),
            text_weight: self.request.cuts_unigram().then_some(config.text_weight),
            hidden: shape.hidden,
            last: self.sizes.last,
            parameters: self.student.parameters(),
            epochs: config.epochs,
            batch_size: config.batch_size,
            rate: config.rate,
            seed: config.seed,
            compact: config.compact,
            sentences: self.sentences.len(),
            words: self.words,
            held_out: self.held_out.len(),
            steps: self.step,
            errors: self.errors.clone(),
            wall_secs: self.wall_secs(),
            sentences_per_sec: (self.sentences.len() * config.epochs) as f64 / self.step_secs.max(1e-9),
        }
    }

    /// Writes the student's folder.
    fn write(&self) -> Result<Record, DistillError> {
        let output = &self.request.output;
        if is_there(output) {
            return Err(DistillError::Exists(output.clone()));
        }
        let prefix = format!("{STUDENT}.");
        let weights = self.vars.values().into_iter();
        let weights = weights.filter_map(|(name, tensor)| Some((name.strip_prefix(&prefix)?.to_owned(), tensor)));
        let record = self.record();
        let json = serde_json::to_string_pretty(&record)
            .map_err(|error| DistillError::io("can't write the record", output)(error.into()))?
            + "\n";
        let student = self.student.with_weights(weights.collect());
        student.save(output, self.request.config.compact, (RECORD, json.as_bytes()))?;
        Ok(record)
    }
}

pub(super) fn adamw(request: &DistillationRequest) -> AdamWConfig {
    let rate = request.config.rate;
    AdamWConfig {
        encoder_lr: rate,
        head_lr: rate,
        weight_decay: 0.0,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        max_norm: 1.0,
    }
}
