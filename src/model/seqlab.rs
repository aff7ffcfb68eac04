//! SeqLab: each word gets a BIO tag, by a CRF ("BERT-CRF", SmartSpanNER's §4.2) or by a softmax of its own (SeqNER, Win-Win
//! Cooperation's §3.1.2).
//!
//! A word counts by its first subword, as BERT's own tagger has it (Devlin et al. 2019); dropout and one linear layer above it
//! give it a score for each tag (Eq. 5). The loss is a mean over words: with softmax tags of their cross-entropy (Eq. 7), with a
//! CRF of −ln of the probability of their sentence's tags, divided by its words. So one learning rate fits both.
//!
//! Tags hold no mentions that overlap. The option `level` says which ones are learnt, see [`super::tags`], and the others count as
//! hidden.
//!
//! Ours, where the papers leave it open: the CRF has transitions of its own for the start and the stop of a sentence (Eq. 8 has
//! y₀ for `[CLS]`); what BIO tags forbid has no probability; scores are exponentiated, which Eq. 8 and 9 leave out; the loss is
//! that of the gold tags (Eq. 10 prints the predicted ones); softmax tags that no mentions have are read as `conlleval` reads
//! them. Beside the final answer each span up to `candidate_width` gets the probability that tags have it as a mention, so that what is
//! nearly chosen can be shown and ranked. Word shapes stand beside the vectors for encoders that don't see case.

use super::shape_vectors::{ShapeVectors, shapes_of};
use super::tagger::{Asked, TAGS, TagAnswer, TagChoice, Tagger, likely_starts};
use super::tags::{LEVEL, Level, OUTSIDE, seen_in, unlearnable};
use super::{
    Architecture, BatchLoss, FirstWordFilter, MAX_WIDTH, ModelError, OptionSpec, OptionValues, Prediction, Reach,
    Samples, Sentence, THRESHOLD, Task, TaskHead, TaskHeadConfig, Unlearnable, WORD_SHAPE_FEATURES, dropout_of_models,
    sentence_lengths,
};
use crate::encoder::{Encoded, Network, column_factors};
use crate::nn::crf::Tag;
use crate::nn::{Mode, Operations, Rng, Scope, select_rows};
use candle_core::Tensor;

/// Not a max width: mentions of the final answer may be wider.
const CANDIDATE_WIDTH: OptionSpec = OptionSpec {
    name: "candidate_width",
    shapes_weights: false,
    help: "longest span that gets a probability, in words",
    ..MAX_WIDTH
};

#[derive(Debug)]
pub(super) struct SeqLab;

impl Architecture for SeqLab {
    fn id(&self) -> &'static str {
        "seqlab"
    }

    fn name(&self) -> &'static str {
        "SeqLab"
    }

    fn summary(&self) -> &'static str {
        "Gives each word a tag, so that its mentions never overlap."
    }

    fn version(&self) -> u32 {
        1
    }

    fn task(&self) -> Task {
        Task::Tags
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[TAGS, LEVEL, CANDIDATE_WIDTH, WORD_SHAPE_FEATURES, THRESHOLD]
    }

    fn reach(&self, _: &TaskHeadConfig) -> Reach {
        Reach::Sentence
    }

    fn unlearnable(&self, sentence: &Sentence, config: &TaskHeadConfig) -> Unlearnable {
        unlearnable(sentence, Level::of(&config.options).unwrap_or_default())
    }

    fn sees(&self, options: &OptionValues) -> &'static str {
        match Level::of(options).unwrap_or_default() {
            Level::Outermost => "the outermost mentions",
            Level::Innermost => "the innermost mentions",
        }
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let options = &config.options;
        let shapes = ShapeVectors::new(&mut scope, options.flag(&WORD_SHAPE_FEATURES)?)?;
        let size = shapes.size_with(encoder.hidden());
        let choice = TagChoice::of(options)?;
        Ok(Box::new(SeqLabTaskHead {
            tagger: Tagger::new(&mut scope, size, config.classes, choice, config.operations)?,
            shapes,
            level: Level::of(options)?,
            longest: options.whole(&CANDIDATE_WIDTH)?,
            dropout: config.dropout,
            classes: config.classes,
            operations: config.operations,
        }))
    }
}

#[derive(Debug)]
struct SeqLabTaskHead {
    tagger: Tagger,
    shapes: ShapeVectors,
    level: Level,
    /// Words of the longest span that gets a probability.
    longest: usize,
    dropout: f32,
    classes: usize,
    operations: Operations,
}

impl SeqLabTaskHead {
    /// The vectors of all words of a batch, `[W, D]`.
    fn words(&self, encoded: &Encoded, batch: &[&Sentence], mode: &mut Mode<'_>) -> Result<Tensor, ModelError> {
        let words = select_rows(encoded.hidden(), encoded.words().first())?;
        let words = self.shapes.beside(words, || shapes_of(batch))?;
        Ok(self.operations.dropout(&words, self.dropout, mode)?)
    }

    /// What is said of each sentence, and of the spans that begin at words that `starts` says yes to.
    fn answers(
        &self,
        words: &Tensor,
        batch: &[&Sentence],
        starts: &(dyn Fn(usize, usize, f32) -> bool + Sync),
    ) -> Result<Vec<TagAnswer>, ModelError> {
        self.tagger.answers(words, &sentence_lengths(batch), &Asked { longest: self.longest, starts })
    }
}

impl TaskHead for SeqLabTaskHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let tags = |sentence: &&Sentence| self.tagger.tags().encode(sentence.len(), &seen_in(sentence, self.level));
        let gold: Vec<Tag> = batch.iter().flat_map(tags).collect();
        let words = self.words(encoded, batch, &mut Mode::Train(rng))?;
        let total = self.tagger.loss(&words, &sentence_lengths(batch), &gold)?;
        let mut samples = Samples::default();
        gold.iter().for_each(|tag| samples.words.count(*tag != OUTSIDE));
        Ok(BatchLoss { total, samples })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let words = self.words(encoded, batch, &mut Mode::Predict)?;
        let answers = self.answers(&words, batch, &|_, _, p| filter.passes(p))?;
        answers.into_iter().map(|answer| answer.prediction(self.classes)).collect()
    }

    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let words = self.words(encoded, batch, &mut Mode::Predict)?;
        let (_, size) = words.dims2()?;
        let first_words = self.answers(&words, batch, &|_, _, _| false)?;
        let starts = likely_starts(&first_words, filter);
        let pass = |model| {
            let factors = column_factors(size, dropout_of_models(self.dropout), model);
            let factors = Tensor::from_vec(factors, size, words.device())?;
            let answers = self.answers(&words.broadcast_mul(&factors)?, batch, &starts)?;
            answers.into_iter().map(|answer| answer.prediction(self.classes)).collect()
        };
        (0..passes).map(pass).collect()
    }
}
