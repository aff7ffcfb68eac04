//! The adaptation itself.

use super::config::Config;
use super::error::{AdaptError, LEAST_SENTENCES, stop_if_cancelled};
use super::head::WordHead;
use super::masking::{Masked, TextSubwords, mask};
use super::record::{RECORD, Record};
use crate::disk::is_there;
use crate::encoder::{Alignment, Bert, Encoder, Learning, Start, Tape, stretches};
use crate::nn::batches::{self, Size};
use crate::nn::{
    AdamW, AdamWConfig, Gradients, LinearSchedule, Mode, NnError, ParameterGroup, Rng, Threads, Vars, as_slice,
    u32_tensor,
};
use candle_core::{Device, Tensor, Var};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const WARMUP: f64 = 0.1;
/// Of the head, which begins knowing nothing.
const HEAD_RATE: f64 = 1e-3;
/// One in so many sentences is held out, but no more than the second number.
const HELD_OUT: (usize, usize) = (50, 500);
/// The prefixes of the variables.
const ENCODER: &str = "encoder";
const HEAD: &str = "head";

/// What to adapt to what, and where to.
#[derive(Clone, Debug)]
pub struct AdaptationRequest {
    pub encoder: Encoder,
    /// What the record calls it.
    pub base: String,
    /// The words of each sentence.
    pub sentences: Vec<Vec<String>>,
    pub config: Config,
    /// The new encoder's folder; it must not exist.
    pub output: PathBuf,
}

/// How far an adaptation is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    Started {
        sentences: usize,
        subwords: usize,
        steps: usize,
    },
    /// After every step; `loss` is that of the last batch.
    Progress {
        step: usize,
        steps: usize,
        loss: f64,
        secs_left: f64,
    },
    /// The loss on sentences that are not learned from; epoch 0 is before anything is learned.
    EpochDone {
        epoch: usize,
        loss: f64,
    },
}

/// Adapts on the caller's thread until done, with tensor work on a pool of its own, and writes the encoder's folder. Heads
/// that learned entities with the encoder are kept: what it learns here changes its vectors little.
///
/// # Errors
/// An encoder or text that can't be used; [`AdaptError::Cancelled`] soon after the flag is set. Whatever the error, no encoder
/// is left behind.
pub fn adapt(
    request: &AdaptationRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record, AdaptError> {
    if is_there(&request.output) {
        return Err(AdaptError::Exists(request.output.clone()));
    }
    let mut run = Adaptation::prepare(request, cancel)?;
    run.learn(on_event)?;
    let record = run.record();
    let json = serde_json::to_string_pretty(&record)? + "\n";
    run.adapted().save(&request.output, request.config.compact, (RECORD, json.as_bytes()))?;
    Ok(record)
}

/// The state of an adaptation.
struct Adaptation<'a> {
    request: &'a AdaptationRequest,
    cancel: &'a AtomicBool,
    threads: Threads,
    /// As it began.
    encoder: Encoder,
    bert: Bert,
    head: WordHead,
    vars: Vars,
    adam: AdamW,
    /// Those to learn from.
    sentences: Vec<Alignment>,
    words: usize,
    held_out: Vec<Alignment>,
    subwords: TextSubwords,
    /// What stands for a word that is left out.
    mask: u32,
    tape: Tape,
    gradients: Gradients,
    losses: Vec<f64>,
}

impl<'a> Adaptation<'a> {
    fn prepare(request: &'a AdaptationRequest, cancel: &'a AtomicBool) -> Result<Self, AdaptError> {
        let config = &request.config;
        let definition = request.encoder.definition();
        if request.encoder.weights().is_empty() {
            return Err(AdaptError::NotPretrained);
        }
        if !definition.config().has_passes_by_hand() {
            return Err(AdaptError::OtherBlocks { encoder: definition.config().kind.name() });
        }
        let mask = definition.subwords().mask().ok_or(AdaptError::NoVocabulary)?;
        let threads = Threads::new("adapt", config.threads)?;
        let mut texts: Vec<&[String]> = request.sentences.iter().flat_map(|words| stretches(words)).collect();
        if texts.len() < LEAST_SENTENCES {
            return Err(AdaptError::TooLittleText(texts.len()));
        }
        Rng::new(config.seed, "texts").shuffle(&mut texts);
        let limit = definition.config().usable_positions();
        let align = |words: &&[String]| {
            stop_if_cancelled(cancel)?;
            Ok::<_, AdaptError>(definition.subwords().align(words, limit)?)
        };
        let mut sentences: Vec<Alignment> = threads.run(|| texts.par_iter().map(align).collect::<Result<_, _>>())?;
        let subwords = TextSubwords::of(&sentences);
        let (one_in, most) = HELD_OUT;
        let held_out = sentences.split_off(sentences.len() - (sentences.len() / one_in).clamp(1, most));

        let encoder = if config.compact { request.encoder.rounded()? } else { request.encoder.clone() };
        let mut vars = Vars::trainable(config.seed, &Device::Cpu);
        vars.stock(encoder.weights().iter().map(|(name, tensor)| (format!("{ENCODER}.{name}"), tensor.clone())));
        let shape = encoder.definition().config();
        let scope = vars.scope(ENCODER, ParameterGroup::Encoder);
        let bert = Bert::new(scope, shape, Learning::Top(shape.layers), 0.0)?.with_bf16();
        let numbers = u32_tensor(subwords.numbers(), &Device::Cpu)?;
        let vectors = bert.word_table().index_select(&numbers, 0).map_err(NnError::from)?;
        let head = WordHead::new(vars.scope(HEAD, ParameterGroup::TaskHead), shape.hidden, &vectors)?;
        Ok(Self {
            request,
            cancel,
            threads,
            bert,
            head,
            vars,
            adam: AdamW::new(adamw(config.rate)),
            words: texts[..sentences.len()].iter().map(|words| words.len()).sum(),
            sentences,
            held_out,
            subwords,
            mask,
            encoder,
            tape: Tape::default(),
            gradients: Gradients::default(),
            losses: Vec::new(),
        })
    }

    fn steps_an_epoch(&self) -> usize {
        self.sentences.len().div_ceil(self.request.config.batch_size)
    }

    fn learn(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), AdaptError> {
        let (config, steps) = (&self.request.config, self.request.config.epochs * self.steps_an_epoch());
        let (sentences, subwords) = (self.sentences.len(), self.subwords.numbers().len());
        on_event(Event::Started { sentences, subwords, steps });
        self.score(on_event)?;
        let schedule = LinearSchedule::new(steps, WARMUP);
        let sizes: Vec<Size> = self.sentences.iter().map(|s| Size { longest: s.positions(), all: s.rows() }).collect();
        let (mut step, begun) = (0, Instant::now());
        for epoch in 0..config.epochs {
            let mut rng = Rng::new(config.seed, &format!("epoch {epoch}"));
            for numbers in batches::epoch(&sizes, config.batch_size, &mut rng) {
                stop_if_cancelled(self.cancel)?;
                let batch: Vec<&Alignment> = numbers.iter().filter_map(|number| self.sentences.get(*number)).collect();
                let masked = mask(&batch, &self.subwords, self.mask, config.masked, &mut rng);
                let loss = self.take_step(&masked, schedule.factor(step)).map_err(|error| match error {
                    NnError::NotFinite => AdaptError::NotFinite(step),
                    error => error.into(),
                })?;
                step += 1;
                let secs_left = begun.elapsed().as_secs_f64() / step as f64 * (steps - step) as f64;
                on_event(Event::Progress { step, steps, loss, secs_left });
            }
            self.score(on_event)?;
        }
        Ok(())
    }

    fn take_step(&mut self, masked: &Masked, factor: f64) -> Result<f64, NnError> {
        let Self { threads, bert, head, vars, adam, tape, gradients, .. } = self;
        threads.run(|| {
            let hidden = Var::from_tensor(&hidden_rows(bert, masked, tape)?)?;
            let loss = head.loss(hidden.as_tensor(), &masked.classes)?;
            let value = f64::from(loss.to_scalar::<f32>()?);
            if !value.is_finite() {
                return Err(NnError::NotFinite);
            }
            let store = loss.backward()?;
            gradients.clear();
            gradients.add_store(vars, &store)?;
            if let Some(grad) = store.get(hidden.as_tensor()) {
                let grad = spread(&as_slice(grad)?, &masked.rows, masked.batch.rows(), bert.hidden());
                bert.backward(&masked.batch, tape, &grad, gradients)?;
            }
            adam.step(vars, gradients, factor)?;
            Ok(value)
        })
    }

    /// The loss on what is held out, with the same words left out each time.
    fn score(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), AdaptError> {
        let config = &self.request.config;
        let mut rng = Rng::new(config.seed, "held out");
        let (mut sum, mut count) = (0.0, 0);
        for sentences in self.held_out.chunks(config.batch_size) {
            stop_if_cancelled(self.cancel)?;
            let batch: Vec<&Alignment> = sentences.iter().collect();
            let masked = mask(&batch, &self.subwords, self.mask, config.masked, &mut rng);
            let (bert, head, tape) = (&self.bert, &self.head, &mut self.tape);
            let loss = self.threads.run(|| {
                let hidden = hidden_rows(bert, &masked, tape)?;
                Ok::<_, NnError>(head.loss(&hidden, &masked.classes)?.to_scalar::<f32>()?)
            })?;
            sum += f64::from(loss) * masked.classes.len() as f64;
            count += masked.classes.len();
        }
        let loss = sum / count.max(1) as f64;
        on_event(Event::EpochDone { epoch: self.losses.len(), loss });
        self.losses.push(loss);
        Ok(())
    }

    fn adapted(&self) -> Encoder {
        let prefix = format!("{ENCODER}.");
        let weights = self.vars.values().into_iter();
        let weights = weights.filter_map(|(name, tensor)| Some((name.strip_prefix(&prefix)?.to_owned(), tensor)));
        let adapted = self.encoder.with_weights(weights.collect());
        match self.encoder.entity_heads() {
            Some(heads) => adapted.with_entity_heads(heads.clone()),
            None => adapted,
        }
    }

    fn record(&self) -> Record {
        let config = &self.request.config;
        Record {
            base: self.request.base.clone(),
            parameters: self.encoder.parameters(),
            compact: config.compact,
            epochs: config.epochs,
            batch_size: config.batch_size,
            rate: config.rate,
            masked: config.masked,
            seed: config.seed,
            sentences: self.sentences.len(),
            words: self.words,
            subwords: self.subwords.numbers().len(),
            held_out: self.held_out.len(),
            losses: self.losses.clone(),
            text_hash: text_hash(&self.request.sentences),
        }
    }
}

/// The last hidden states of the rows that are asked for, `[N, H]`.
fn hidden_rows(bert: &Bert, masked: &Masked, tape: &mut Tape) -> Result<Tensor, NnError> {
    let mode = &mut Mode::Train(&mut Rng::new(0, "no dropout"));
    bert.forward(&masked.batch, Start::Words, mode, tape)?;
    let (states, h) = (tape.states(bert.layers()), bert.hidden());
    let rows: Vec<f32> = masked.rows.iter().flat_map(|row| &states[*row as usize * h..][..h]).copied().collect();
    Ok(Tensor::from_vec(rows, (masked.rows.len(), h), &Device::Cpu)?)
}

/// Rows of `h` numbers at their places among `count`, 0 elsewhere.
fn spread(rows: &[f32], places: &[u32], count: usize, h: usize) -> Vec<f32> {
    let mut all = vec![0.0; count * h];
    for (row, place) in rows.chunks(h).zip(places) {
        all[*place as usize * h..][..h].copy_from_slice(row);
    }
    all
}

fn text_hash(sentences: &[Vec<String>]) -> String {
    let mut sha = Sha256::new();
    for sentence in sentences {
        sha.update(sentence.len().to_le_bytes());
        for word in sentence {
            sha.update(word);
            sha.update([0]);
        }
    }
    hex::encode(sha.finalize())
}

fn adamw(rate: f64) -> AdamWConfig {
    AdamWConfig {
        encoder_lr: rate,
        head_lr: HEAD_RATE,
        weight_decay: 0.01,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        max_norm: 1.0,
    }
}
