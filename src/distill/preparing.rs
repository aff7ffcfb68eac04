//! A distillation before its first step.

use super::comparison::SentencePair;
use super::error::{DistillError, LEAST_SENTENCES, stop_if_cancelled};
use super::keeper::CheckpointKeeper;
use super::request::DistillationRequest;
use super::run::{Distillation, STUDENT, adamw};
use super::student::{Activity, Sizes, begin};
use super::vocabulary::{Counts, VocabularyLimits, subwords_to_keep};

use crate::encoder::{Alignment, Bert, Cut, Encoder, EncoderBatch, Learning, Start, Tape, stretches};
use crate::nn::{AdamW, Mode, ParameterGroup, Rng, Threads, Vars};
use candle_core::Device;
use rayon::prelude::*;
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
        let of_language = |(number, sentences): (usize, &'a Vec<Vec<String>>)| {
            sentences.iter().flat_map(|words| stretches(words)).map(move |words| (number, words))
        };
        let mut texts: Vec<(usize, &[String])> = request.texts.iter().enumerate().flat_map(of_language).collect();
        if texts.len() < LEAST_SENTENCES {
            return Err(DistillError::TooLittleText(texts.len()));
        }
        Rng::new(request.config.seed, "texts").shuffle(&mut texts);
        let (languages, texts): (Vec<usize>, Vec<&[String]>) = texts.into_iter().unzip();
        let config = &request.config;
        let mut alignments = align(&request.teacher, &texts, &threads, cancel)?;
        let subwords = config.vocabulary.map(|count| {
            let definition = request.teacher.definition();
            let limits = VocabularyLimits {
                count,
                ideographs: config.ideographs,
                text_weight: config.text_weight,
                fixed: definition.config().position_offset,
            };
            let counts = count_by_language(&alignments, &languages, request.texts.len());
            subwords_to_keep(definition.subwords(), &counts, limits)
        });
        let (teacher, subwords) = match subwords {
            // So much is cut of a vocabulary of many languages that many words are taken apart otherwise. The teacher reads
            // them as the student does: then all positions stand for the same.
            Some(kept) if request.cuts_unigram() => {
                let teacher = with_subwords(&request.teacher, kept)?;
                alignments = align(&teacher, &texts, &threads, cancel)?;
                (teacher, None)
            }
            subwords => (request.teacher.clone(), subwords),
        };
        let layers = frozen(&teacher)?;
        let watched = &alignments[..alignments.len().min(SENTENCES_TO_WATCH)];
        let activity = watch((&layers, &teacher), sizes.layers, watched, config.batch_size, &threads, cancel)?;
        let has_other_subwords = subwords.is_some();
        let mut student = begin(&teacher, sizes, subwords, &activity)?;
        if config.compact {
            student = student.rounded()?;
        }
        let of_student = if has_other_subwords { Some(align(&student, &texts, &threads, cancel)?) } else { None };
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
            teacher: layers,
            teacher_encoder: teacher,
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

/// How often the teacher's subwords are in the text of each language.
fn count_by_language(sentences: &[Alignment], language_of: &[usize], languages: usize) -> Vec<Counts> {
    let mut counts = vec![Counts::new(); languages];
    for (sentence, language) in sentences.iter().zip(language_of) {
        let Some(counts) = counts.get_mut(*language) else { continue };
        for id in sentence.windows().iter().flat_map(|window| &window.ids) {
            *counts.entry(*id).or_default() += 1;
        }
    }
    counts
}

/// The same teacher with some of its subwords.
fn with_subwords(teacher: &Encoder, kept: Vec<u32>) -> Result<Encoder, DistillError> {
    let config = teacher.definition().config();
    let blocks = (0..config.layers).map(|block| (block, (0..config.inner as u32).collect())).collect();
    Ok(teacher.cut(&Cut { blocks, subwords: Some(kept) })?)
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
    (teacher, encoder): (&Bert, &Encoder),
    blocks: usize,
    sentences: &[Alignment],
    batch_size: usize,
    threads: &Threads,
    cancel: &AtomicBool,
) -> Result<Activity, DistillError> {
    let definition = encoder.definition();
    let (mut activity, mut tape) = (Activity::new(blocks, definition.config().inner), Tape::default());
    for part in sentences.chunks(batch_size) {
        stop_if_cancelled(cancel)?;
        let batch = EncoderBatch::new(&part.iter().collect::<Vec<_>>(), definition.subwords().pieces());
        let mode = &mut Mode::Train(&mut Rng::new(0, "no dropout"));
        threads.run(|| teacher.forward_to(&batch, Start::Words, blocks, mode, &mut tape))?;
        activity.add(&tape);
    }
    Ok(activity)
}
