//! A distillation before its first step.

use super::comparison::SentencePair;
use super::error::{DistillError, LEAST_SENTENCES, stop_if_cancelled};
use super::keeper::CheckpointKeeper;
use super::request::DistillationRequest;
use super::run::{Distillation, STUDENT, adamw};
use super::stretches::stretches;
use super::student::{Activity, Sizes, begin};

use crate::encoder::{Alignment, Bert, Encoder, EncoderBatch, Learning, Start, Tape};
use crate::nn::{AdamW, Mode, ParameterGroup, Rng, Threads, Vars};
use candle_core::Device;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// One in so many sentences is held out, but no more than the second number.
const HELD_OUT: (usize, usize) = (50, 500);
/// Sentences by which the neurons to keep are chosen.
const SENTENCES_TO_WATCH: usize = 2000;

impl<'a> Distillation<'a> {
    pub(super) fn prepare(
        request: &'a DistillationRequest,
        keeper: CheckpointKeeper,
        cancel: &'a AtomicBool,
    ) -> Result<Self, DistillError> {
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
        let pair = |teacher| SentencePair { teacher, student: of_student.next() };
        let mut sentences: Vec<SentencePair> = alignments.into_iter().map(pair).collect();
        let (one_in, most) = HELD_OUT;
        let held_out = sentences.split_off(sentences.len() - (sentences.len() / one_in).clamp(1, most));

        let mut vars = Vars::trainable(config.seed, &Device::Cpu);
        vars.stock(student.weights().iter().map(|(name, tensor)| (format!("{STUDENT}.{name}"), tensor.clone())));
        let learning = Learning::Top(sizes.layers);
        let bert =
            Bert::new(vars.scope(STUDENT, ParameterGroup::Encoder), student.definition().config(), learning, 0.0)?;
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
}

/// A teacher's layers, which never learn.
fn frozen(teacher: &Encoder) -> Result<Bert, DistillError> {
    let weights = teacher.weights().iter().map(|(name, tensor)| (format!("teacher.{name}"), tensor.clone()));
    let mut vars = Vars::fixed(weights.collect(), &Device::Cpu);
    let scope = vars.scope("teacher", ParameterGroup::Encoder);
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
    request: &DistillationRequest,
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
