//! The loop of a distillation.

use super::files::{RECORD, Record, State, checkpoint_of, fingerprint};
use super::lesson::{batch_pairs, error};
use super::student::{Activity, Sizes, begin};
use super::{DistillError, Event, Request};
use crate::disk::{Noted as _, folder_of, is_there};
use crate::encoder::{Alignment, Bert, Encoder, EncoderBatch, Learning, Start, Tape};
use crate::nn::batches::{self, Size};
use crate::nn::{
    AdamW, AdamWConfig, Gradients, LinearSchedule, Mode, NnError, Part, Rng, Threads, Vars, lend,
    read_tensors_and_note, write_tensors_and_note,
};
use candle_core::{Device, Tensor};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Fewer sentences with words are refused.
pub(super) const LEAST_SENTENCES: usize = 20;
/// One in so many sentences is held out, but no more than the second number.
const HELD_OUT: (usize, usize) = (50, 500);
/// Sentences by which the neurons to keep are chosen.
const SENTENCES_TO_WATCH: usize = 2000;
const WARMUP: f64 = 0.05;
/// Of a stretch of a sentence.
const MOST_WORDS: usize = 512;
const MOST_BYTES: usize = 16 << 10;
/// The prefix of the student's variables.
const STUDENT: &str = "student";

/// Distils on the caller's thread until done, with tensor work on a pool of its own, and writes the student's folder.
///
/// # Errors
/// [`DistillError::Interrupted`] soon after the flag is set, or [`DistillError::Cancelled`] where nothing was learned yet.
/// Whatever the error, no student is left behind; the last checkpoint is.
pub fn distill(
    request: &Request,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record, DistillError> {
    if request.output.exists() {
        return Err(DistillError::Exists(request.output.clone()));
    }
    let checkpoint = checkpoint_of(&request.output);
    match (checkpoint.exists(), request.resume) {
        (true, false) => return Err(DistillError::Unfinished(checkpoint)),
        (false, true) => return Err(DistillError::NothingToResume(checkpoint)),
        _ => {}
    }
    if request.teacher.weights().is_empty() {
        return Err(DistillError::NotPretrained);
    }
    let keeper = Keeper::new(checkpoint, fingerprint(request)?);
    let kept = if request.resume { Some(keeper.read()?) } else { None };
    let mut run = Run::prepare(request, keeper, cancel)?;
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

/// A sentence laid out for both; the student's is `None` where it is the teacher's.
struct Sentence {
    teacher: Alignment,
    student: Option<Alignment>,
}

impl Sentence {
    fn student(&self) -> &Alignment {
        self.student.as_ref().unwrap_or(&self.teacher)
    }

    fn size(&self) -> Size {
        Size { longest: self.teacher.positions(), all: self.teacher.rows() }
    }
}

/// Where the state is kept, and when it was last.
struct Keeper {
    path: PathBuf,
    fingerprint: String,
    since: Instant,
    cost: Duration,
}

impl Keeper {
    fn new(path: PathBuf, fingerprint: String) -> Self {
        Self { path, fingerprint, since: Instant::now(), cost: Duration::ZERO }
    }

    /// What was kept of this distillation before.
    fn read(&self) -> Result<(State, HashMap<String, Tensor>), DistillError> {
        let damaged = |reason: String| DistillError::Damaged { reason, path: self.path.clone() };
        let (tensors, note) = read_tensors_and_note(&self.path).map_err(|e| damaged(e.to_string()))?;
        let state: State = serde_json::from_str(&note).map_err(|e| damaged(e.to_string()))?;
        if state.fingerprint != self.fingerprint {
            return Err(DistillError::OtherDistillation(self.path.clone()));
        }
        Ok((state, tensors))
    }
}

/// The state of a distillation.
struct Run<'a> {
    request: &'a Request,
    cancel: &'a AtomicBool,
    threads: Threads,
    sizes: Sizes,
    teacher: Bert,
    /// The student as it began; its definition stays.
    student: Encoder,
    bert: Bert,
    vars: Vars,
    adam: AdamW,
    /// Those to learn from.
    sentences: Vec<Sentence>,
    words: usize,
    held_out: Vec<Sentence>,
    step: usize,
    /// Of the student as it began, and after each epoch that is over.
    errors: Vec<f64>,
    step_secs: f64,
    earlier_secs: f64,
    begun: Instant,
    keeper: Keeper,
}

impl<'a> Run<'a> {
    fn prepare(request: &'a Request, keeper: Keeper, cancel: &'a AtomicBool) -> Result<Self, DistillError> {
        let begun = Instant::now();
        let threads = Threads::new("distill", request.config.threads)?;
        let sizes = Sizes::new(&request.config, &request.teacher)?;
        let mut texts: Vec<&[String]> = request.sentences.iter().flat_map(|words| stretches(words)).collect();
        if texts.len() < LEAST_SENTENCES {
            return Err(DistillError::TooLittleText(texts.len()));
        }
        Rng::new(request.config.seed, "texts").shuffle(&mut texts);
        let teacher = frozen(&request.teacher)?;
        let alignments = align(&request.teacher, &texts, &threads, cancel)?;
        let watched = &alignments[..alignments.len().min(SENTENCES_TO_WATCH)];
        let activity = watch(&teacher, sizes.layers, watched, request, &threads, cancel)?;
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for id in alignments.iter().flat_map(Alignment::windows).flat_map(|window| &window.ids) {
            *counts.entry(*id).or_default() += 1;
        }
        let config = &request.config;
        let mut student = begin(&request.teacher, sizes, config.vocabulary, &activity, &counts)?;
        if config.compact {
            student = student.rounded()?;
        }
        let of_student = match config.vocabulary {
            None => None,
            Some(_) => Some(align(&student, &texts, &threads, cancel)?),
        };
        let mut of_student = of_student.into_iter().flatten();
        let pair = |teacher| Sentence { teacher, student: of_student.next() };
        let mut sentences: Vec<Sentence> = alignments.into_iter().map(pair).collect();
        let (one_in, most) = HELD_OUT;
        let held_out = sentences.split_off(sentences.len() - (sentences.len() / one_in).clamp(1, most));

        let mut vars = Vars::trainable(config.seed, &Device::Cpu);
        vars.stock(student.weights().iter().map(|(name, tensor)| (format!("{STUDENT}.{name}"), tensor.clone())));
        let learning = Learning::Top(sizes.layers);
        let bert = Bert::new(vars.scope(STUDENT, Part::Encoder), student.definition().config(), learning, 0.0)?;
        Ok(Self {
            request,
            cancel,
            threads,
            sizes,
            teacher,
            bert: bert.with_bf16(),
            student,
            vars,
            adam: AdamW::new(adamw(request)),
            words: texts[..sentences.len()].iter().map(|words| words.len()).sum(),
            sentences,
            held_out,
            step: 0,
            errors: Vec::new(),
            step_secs: 0.0,
            earlier_secs: 0.0,
            begun,
            keeper,
        })
    }

    fn go_on(&mut self, state: State, tensors: HashMap<String, Tensor>) -> Result<(), DistillError> {
        // Weights and moments have names that don't meet, and each side takes its own.
        self.adam = AdamW::restore(adamw(self.request), state.adam_steps, &tensors)?;
        self.vars.copy_in(&tensors.into_iter().collect())?;
        (self.step, self.errors) = (state.step, state.errors);
        (self.step_secs, self.earlier_secs) = (state.step_secs, state.wall_secs);
        Ok(())
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
        let sizes: Vec<Size> = self.sentences.iter().map(Sentence::size).collect();
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
        let mut pass = Pass::default();
        loop {
            let (epoch, done) = (self.step / self.steps_an_epoch(), self.step % self.steps_an_epoch());
            if self.errors.len() <= epoch {
                self.score(&mut pass, on_event)?;
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
                let batch = Batch::new(numbers.iter().filter_map(|&i| self.sentences.get(i)), self);
                let error = self.take_step(&batch, schedule.factor(self.step), &mut pass)?;
                self.step += 1;
                self.step_secs += begun.elapsed().as_secs_f64();
                let secs_left = self.step_secs / self.step as f64 * (self.steps() - self.step) as f64;
                on_event(Event::Progress { step: self.step, steps: self.steps(), error, secs_left });
                self.keep_if_due(on_event);
            }
        }
    }

    fn take_step(&mut self, batch: &Batch, factor: f64, pass: &mut Pass) -> Result<f64, DistillError> {
        let Self { threads, teacher, bert, vars, adam, sizes, step, .. } = self;
        let targets = sizes.targets();
        let error = threads.run(|| -> Result<f64, NnError> {
            let error = pass.compare(batch, teacher, bert, &targets)?;
            if !error.is_finite() {
                return Err(NnError::NotFinite);
            }
            pass.gradients.clear();
            let grads: Vec<(usize, &[f32])> =
                pass.grads.iter().enumerate().map(|(i, grad)| (i + 1, grad.as_slice())).collect();
            bert.backward_from(&batch.student, &mut pass.student, &grads, &mut pass.gradients)?;
            adam.step(vars, &mut pass.gradients, factor)?;
            Ok(error)
        });
        error.map_err(|error| match error {
            NnError::NotFinite => DistillError::NotFinite(*step),
            error => error.into(),
        })
    }

    /// The error on what is held out.
    fn score(&mut self, pass: &mut Pass, on_event: &mut dyn FnMut(Event)) -> Result<(), DistillError> {
        let (mut sum, mut rows) = (0.0, 0);
        let targets = self.sizes.targets();
        for sentences in self.held_out.chunks(self.request.config.batch_size) {
            // Later a stop is heard before the next step, where the state can be kept.
            if self.step == 0 {
                stop_if_cancelled(self.cancel)?;
            }
            let batch = Batch::new(sentences.iter(), self);
            let error = self.threads.run(|| pass.compare(&batch, &self.teacher, &self.bert, &targets))?;
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
        let state = State {
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
        if output.exists() {
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

/// Sentences laid out for both, and which rows stand for the same.
struct Batch {
    teacher: EncoderBatch,
    student: EncoderBatch,
    pairs: Vec<(usize, usize)>,
}

impl Batch {
    fn new<'a>(sentences: impl Iterator<Item = &'a Sentence>, run: &Run<'_>) -> Self {
        let both: Vec<(&Alignment, &Alignment)> = sentences.map(|s| (&s.teacher, s.student())).collect();
        let (teacher, student): (Vec<_>, Vec<_>) = both.iter().copied().unzip();
        let pieces = |encoder: &Encoder| encoder.definition().subwords().pieces();
        Self {
            teacher: EncoderBatch::new(&teacher, pieces(&run.request.teacher)),
            student: EncoderBatch::new(&student, pieces(&run.student)),
            pairs: batch_pairs(&both),
        }
    }
}

/// What the passes work in, one after the other.
#[derive(Default)]
struct Pass {
    teacher: Tape,
    student: Tape,
    gradients: Gradients,
    /// Of the student's hidden states, from the first block on.
    grads: Vec<Vec<f32>>,
}

impl Pass {
    /// The mean of the blocks' errors; leaves the gradients.
    fn compare(&mut self, batch: &Batch, teacher: &Bert, student: &Bert, targets: &[usize]) -> Result<f64, NnError> {
        let mode = &mut Mode::Train(&mut Rng::new(0, "no dropout"));
        student.forward(&batch.student, Start::Words, mode, &mut self.student)?;
        self.grads.resize_with(targets.len(), Vec::new);
        let (mut sum, mut below) = (0.0, None::<(usize, Tensor)>);
        for (block, (&target, grad)) in targets.iter().zip(&mut self.grads).enumerate() {
            let lent = below.as_ref().map(|(number, states)| Ok::<_, NnError>((*number, lend(states)?))).transpose()?;
            let start = lent.as_ref().map_or(Start::Words, |(number, states)| Start::States(*number, states));
            let states = teacher.forward_to(&batch.teacher, start, target, &mut Mode::Predict, &mut self.teacher)?;
            let weight = 1.0 / targets.len() as f64;
            sum += error(&lend(&states)?, self.student.states(block + 1), &batch.pairs, student.hidden(), weight, grad);
            drop(lent);
            below = Some((target, states));
        }
        Ok(sum / targets.len().max(1) as f64)
    }
}

fn adamw(request: &Request) -> AdamWConfig {
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

/// A teacher's layers, which never learn.
fn frozen(teacher: &Encoder) -> Result<Bert, DistillError> {
    let weights = teacher.weights().iter().map(|(name, tensor)| (format!("teacher.{name}"), tensor.clone()));
    let mut vars = Vars::fixed(weights.collect(), &Device::Cpu);
    let scope = vars.scope("teacher", Part::Encoder);
    Ok(Bert::new(scope, teacher.definition().config(), Learning::Top(0), 0.0)?.with_bf16())
}

fn align(
    encoder: &Encoder,
    texts: &[&[String]],
    threads: &Threads,
    cancel: &AtomicBool,
) -> Result<Vec<Alignment>, DistillError> {
    let limit = encoder.definition().config().usable_positions();
    let subwords = encoder.definition().subwords();
    let align = |words: &&[String]| {
        stop_if_cancelled(cancel)?;
        Ok(subwords.align(words, limit)?)
    };
    threads.run(|| texts.par_iter().map(align).collect())
}

/// Which neurons of the teacher's first blocks are active on some sentences.
fn watch(
    teacher: &Bert,
    blocks: usize,
    sentences: &[Alignment],
    request: &Request,
    threads: &Threads,
    cancel: &AtomicBool,
) -> Result<Activity, DistillError> {
    let definition = request.teacher.definition();
    let (mut activity, mut tape) = (Activity::new(blocks, definition.config().inner), Tape::default());
    for part in sentences.chunks(request.config.batch_size) {
        stop_if_cancelled(cancel)?;
        let batch = EncoderBatch::new(&part.iter().collect::<Vec<_>>(), definition.subwords().pieces());
        let mode = &mut Mode::Train(&mut Rng::new(0, "no dropout"));
        threads.run(|| teacher.forward_to(&batch, Start::Words, blocks, mode, &mut tape))?;
        activity.add(&tape);
    }
    Ok(activity)
}

/// A sentence, or where it is very long its parts: all of a batch is worked on together.
fn stretches(words: &[String]) -> Vec<&[String]> {
    let (mut stretches, mut rest) = (Vec::new(), words);
    while !rest.is_empty() {
        let mut chars = 0;
        let fits = |word: &&String| {
            chars += word.len();
            chars <= MOST_BYTES
        };
        let count = rest.iter().take(MOST_WORDS).take_while(fits).count().max(1);
        let (stretch, after) = rest.split_at(count);
        stretches.push(stretch);
        rest = after;
    }
    stretches
}

fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), DistillError> {
    if cancel.load(Ordering::Relaxed) { Err(DistillError::Cancelled) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_long_sentences_are_parted() {
        let words = |count: usize, bytes: usize| vec!["x".repeat(bytes); count];
        let lengths = |words: &[String]| stretches(words).iter().map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&words(0, 1)), [0; 0]);
        assert_eq!(lengths(&words(512, 9)), [512]);
        assert_eq!(lengths(&words(1100, 9)), [512, 512, 76]);
        assert_eq!(lengths(&words(3, 1 << 20)), [1, 1, 1]);
        assert_eq!(lengths(&words(40, 1024)), [16, 16, 8]);
    }
}
