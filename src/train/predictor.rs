//! A loaded snapshot and what it says of sentences.

use super::dataset::Example;
use super::error::TrainError;
use super::manifest::{Manifest, Snapshot};
use super::model::{Model, PredictionWork, Prepared};
use super::output::SentenceOutput;
use super::parts::{Cost, PartTimes, timed};
use super::snapshot;
use crate::annotation::{Acquisition, Fragments, LabelId, Span, TokenIdx};
use crate::evaluation::{Judged, Report};
use crate::model::FirstWordFilter;
use crate::nn::Threads;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// How a prediction is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PredictOptions {
    /// Probability from which a word is taken for the first word of an entity; `None`: as the model was trained.
    pub threshold: Option<f32>,
    /// Whether only such words start candidates; without, every word does.
    pub use_heads: bool,
    /// Sentences at a time: more are faster and need more memory.
    pub batch_size: usize,
    /// Probability from which a candidate is worth showing though "none" is more probable.
    pub floor: f32,
    /// Models that differ by dropout and are asked, too, for what they disagree on; 0 for none.
    pub dropout_passes: usize,
    /// Whether to compute in `f32` throughout, also where the processor is faster with rounded numbers.
    pub exact: bool,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { threshold: None, use_heads: true, batch_size: 32, floor: 0.1, dropout_passes: 0, exact: false }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoredSpan {
    pub span: Span,
    pub label: LabelId,
    /// Probability of `label`.
    pub score: f32,
    /// The next label and its probability.
    pub runner_up: Option<(LabelId, f32)>,
    /// Whether the label is more probable than "none": part of the model's final answer.
    pub chosen: bool,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct SentencePrediction {
    /// Probability of each word to be the first of an entity; empty where the architecture predicts none.
    pub first_words: Vec<f32>,
    /// Ordered by span.
    pub spans: Vec<ScoredSpan>,
    /// What it would teach.
    pub acquisition: Acquisition,
    /// How many candidates were classified.
    pub candidates: usize,
}

impl SentencePrediction {
    /// The model's final answer.
    pub fn mentions(&self) -> Vec<(Span, LabelId)> {
        self.spans.iter().filter(|s| s.chosen).map(|s| (s.span, s.label)).collect()
    }

    /// How many words are taken for first words.
    pub fn first_words_from(&self, threshold: f32) -> usize {
        self.first_words.iter().filter(|p| **p >= threshold).count()
    }
}

/// All labels with their probabilities, the most probable first.
pub type RankedLabels = Vec<(LabelId, f32)>;

/// A snapshot with weights of its own, for any thread.
#[derive(Debug)]
pub struct Predictor {
    manifest: Manifest,
    model: Model,
    threads: Threads,
}

impl Predictor {
    /// Loads any snapshot, whoever it belongs to, and checks all of it; uses all cores.
    ///
    /// # Errors
    /// When a file is missing or changed, does not fit the others, or belongs to another version of the program.
    pub fn load(folder: &Path) -> Result<Self, TrainError> {
        Self::load_with_threads(&Snapshot::any(folder), None)
    }

    /// # Errors
    /// See [`Predictor::load`]; and when another model is there than was to be.
    pub fn load_with_threads(snapshot: &Snapshot, threads: Option<usize>) -> Result<Self, TrainError> {
        let (manifest, model) = snapshot::build(snapshot::open(snapshot)?)?;
        Ok(Self::of(manifest, model, Threads::new("predict", threads)?))
    }

    /// A model that was loaded, or trained just now and is nowhere else.
    pub(super) fn of(manifest: Manifest, model: Model, threads: Threads) -> Self {
        Self { manifest, model: model.for_prediction(), threads }
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The labels that the model knows.
    pub fn labels(&self) -> Vec<LabelId> {
        self.manifest.labels.iter().map(|(id, _)| *id).collect()
    }

    /// One prediction for each sentence, in order. A sentence without words gets an empty one.
    ///
    /// # Errors
    /// [`TrainError::Cancelled`] soon after the flag is set.
    pub fn predict(
        &self,
        sentences: &[Vec<String>],
        options: PredictOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<SentencePrediction>, TrainError> {
        self.predict_measured(sentences, options, cancel, &mut Cost::default())
    }

    /// As [`Predictor::predict`]; adds what it takes to `cost`.
    ///
    /// # Errors
    /// See [`Predictor::predict`].
    pub fn predict_measured(
        &self,
        sentences: &[Vec<String>],
        options: PredictOptions,
        cancel: &AtomicBool,
        cost: &mut Cost,
    ) -> Result<Vec<SentencePrediction>, TrainError> {
        let Cost { times, words, positions } = cost;
        let parts = sentences.iter().map(|words| (words.as_slice(), [].as_slice()));
        let prepared = timed(&mut times.subwords, || self.model.prepare_all(parts, cancel))?;
        *words += sentences.iter().map(Vec::len).sum::<usize>();
        *positions += prepared.iter().map(Prepared::positions).sum::<usize>();
        let mut predictions = vec![SentencePrediction::default(); sentences.len()];
        let work = PredictionWork { acquire: Some(options.dropout_passes), ..self.work(options, cancel) };
        self.model.predict_all(&prepared, work, times, |i, said| {
            if let Some(place) = predictions.get_mut(i) {
                *place = scored(&self.model, said);
            }
        })?;
        Ok(predictions)
    }

    /// The labels of given words of each sentence, the most probable first, with their probabilities. The words must lie in
    /// their sentence, and no sentence may be without any.
    ///
    /// # Errors
    /// [`TrainError::Cancelled`] soon after the flag is set, and when the model finds mentions and labels nothing given.
    pub fn label_given(
        &self,
        sentences: &[(Vec<String>, Vec<Fragments>)],
        options: PredictOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec<RankedLabels>>, TrainError> {
        let work = self.work(options, cancel);
        let mut labelled = Vec::with_capacity(sentences.len());
        for (words, given) in sentences {
            let tables = self.model.label_given(words, given, work)?;
            labelled.push(tables.iter().map(|row| rank(&self.model, row)).collect());
        }
        Ok(labelled)
    }

    /// The vectors that given spans of each sentence are classified by, one for each span, all of a length: what the last layer
    /// gets. Spans must lie in their sentence and be no wider than the model's max width.
    ///
    /// # Errors
    /// [`TrainError::Cancelled`] soon after the flag is set, and when the model tags words and classifies no spans.
    pub fn span_vectors(
        &self,
        sentences: &[(&[String], Vec<Span>)],
        options: PredictOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec<Vec<f32>>>, TrainError> {
        let parts = sentences.iter().map(|(words, _)| (*words, [].as_slice()));
        let prepared = self.model.prepare_all(parts, cancel)?;
        let spans: Vec<Vec<Span>> = sentences.iter().map(|(_, spans)| spans.clone()).collect();
        let mut vectors = vec![Vec::new(); sentences.len()];
        self.model.span_vectors(&prepared, &spans, self.work(options, cancel), |i, of| {
            if let Some(place) = vectors.get_mut(i) {
                *place = of;
            }
        })?;
        Ok(vectors)
    }

    /// Probability from which a word is taken for the first word of an entity.
    pub fn threshold(&self, options: PredictOptions) -> f32 {
        options.threshold.unwrap_or(self.manifest.settings.threshold())
    }

    fn work<'a>(&'a self, options: PredictOptions, cancel: &'a AtomicBool) -> PredictionWork<'a> {
        let filter =
            if options.use_heads { FirstWordFilter::AtLeast(self.threshold(options)) } else { FirstWordFilter::All };
        let PredictOptions { batch_size, floor, exact, .. } = options;
        PredictionWork { threads: &self.threads, filter, batch_size, acquire: None, floor, exact, cancel }
    }
}

/// A model's final answer for a sentence whose gold mentions are known.
#[derive(Clone, PartialEq, Debug)]
pub struct FinalAnswer {
    pub mentions: Vec<(Span, LabelId)>,
    /// These with their probabilities, and the other candidates that are worth showing, ordered by span.
    pub suggestions: Vec<ScoredSpan>,
    /// Words taken for first words; `None` where the architecture predicts none.
    pub first_words: Option<Vec<TokenIdx>>,
    /// How many candidates were classified.
    pub candidates: usize,
}

impl FinalAnswer {
    pub fn judged<'a>(&'a self, example: &'a Example) -> Judged<'a> {
        Judged {
            words: &example.tokens,
            gold: &example.gold,
            predicted: &self.mentions,
            first_words: self.first_words.as_deref(),
            candidates: self.candidates,
        }
    }
}

/// One answer for each sentence, in order. A model that labels given words finds nothing; [`evaluate`] gives it those of gold.
///
/// # Errors
/// See [`Predictor::predict`].
pub fn answers(
    predictor: &Predictor,
    examples: &[Example],
    options: PredictOptions,
    cancel: &AtomicBool,
) -> Result<Vec<FinalAnswer>, TrainError> {
    let parts = examples.iter().map(|example| (example.tokens.as_slice(), [].as_slice()));
    let prepared = predictor.model.prepare_all(parts, cancel)?;
    let threshold = predictor.threshold(options);
    answer_all(&predictor.model, &prepared, threshold, predictor.work(options, cancel))
}

/// Strict scores of a model's final answers; of a model that labels given words how many labels of gold mentions are right.
///
/// # Errors
/// See [`Predictor::predict`].
pub fn evaluate(
    predictor: &Predictor,
    examples: &[Example],
    options: PredictOptions,
    cancel: &AtomicBool,
) -> Result<Report, TrainError> {
    if predictor.model.labels_given() {
        let prepared = predictor.model.prepare_all(examples, cancel)?;
        return score_given(&predictor.model, &predictor.labels(), &prepared, predictor.work(options, cancel));
    }
    let answers = answers(predictor, examples, options, cancel)?;
    Ok(Report::strict(&predictor.labels(), judge(examples, &answers)))
}

/// Predicts prepared sentences and compares with gold.
pub(super) fn score(
    model: &Model,
    labels: &[LabelId],
    examples: &[Example],
    prepared: &[Prepared],
    threshold: f32,
    work: PredictionWork<'_>,
) -> Result<Report, TrainError> {
    if model.labels_given() {
        return score_given(model, labels, prepared, work);
    }
    let answers = answer_all(model, prepared, threshold, work)?;
    Ok(Report::strict(labels, judge(examples, &answers)))
}

/// Labels the mentions of prepared sentences and compares with those that they have.
fn score_given(
    model: &Model,
    labels: &[LabelId],
    prepared: &[Prepared],
    work: PredictionWork<'_>,
) -> Result<Report, TrainError> {
    let mut said: Vec<(Vec<LabelId>, LabelId)> = Vec::new();
    model.label_all(prepared, work, |i, table| {
        let mentions = prepared.get(i).into_iter().flat_map(|prepared| prepared.sentence.mentions_of_given());
        for (mentions, row) in mentions.zip(table.iter()) {
            let gold = mentions.iter().filter_map(|mention| model.label(mention.class)).collect();
            said.extend(rank(model, row).first().map(|(label, _)| (gold, *label)));
        }
    })?;
    let said = said.iter().map(|(gold, said)| (gold.as_slice(), *said));
    Ok(Report::of_given(labels, prepared.len(), said))
}

/// The labels of a row of probabilities, the most probable first; of equal ones the first.
fn rank(model: &Model, row: &[f32]) -> RankedLabels {
    let classes = (0..).zip(row).skip(1);
    let mut ranked: RankedLabels = classes.filter_map(|(class, p)| Some((model.label(class)?, *p))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

fn judge<'a>(examples: &'a [Example], answers: &'a [FinalAnswer]) -> impl Iterator<Item = Judged<'a>> {
    examples.iter().zip(answers).map(|(example, answer)| answer.judged(example))
}

pub(super) fn answer_all(
    model: &Model,
    prepared: &[Prepared],
    threshold: f32,
    work: PredictionWork<'_>,
) -> Result<Vec<FinalAnswer>, TrainError> {
    // Of a sentence without words nothing is asked.
    let nothing =
        FinalAnswer { mentions: Vec::new(), suggestions: Vec::new(), first_words: Some(Vec::new()), candidates: 0 };
    let mut answers = vec![nothing; prepared.len()];
    model.predict_all(prepared, work, &mut PartTimes::default(), |i, said| {
        if let Some(place) = answers.get_mut(i) {
            let first_words = said.first_words.as_ref().map(|first_words| {
                let likely = first_words.iter().enumerate().filter(|(_, p)| **p >= threshold);
                likely.map(|(word, _)| TokenIdx::new(word)).collect()
            });
            let scored = scored(model, said);
            let (mentions, candidates) = (scored.mentions(), scored.candidates);
            *place = FinalAnswer { mentions, suggestions: scored.spans, first_words, candidates };
        }
    })?;
    Ok(answers)
}

fn scored(model: &Model, said: SentenceOutput) -> SentencePrediction {
    let spans = said.found.iter().filter_map(|found| {
        let runner_up = found.runner_up.and_then(|(class, p)| Some((model.label(class)?, p)));
        let (span, score, chosen) = (found.span, found.score, found.chosen);
        Some(ScoredSpan { span, label: model.label(found.class)?, score, runner_up, chosen })
    });
    SentencePrediction {
        spans: spans.collect(),
        acquisition: said.acquisition,
        candidates: said.candidates,
        first_words: said.first_words.unwrap_or_default(),
    }
}
