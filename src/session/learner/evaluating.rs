//! How good a model is on the complete sentences of a part, and what that comes from.

use super::source::Source;
use super::span_picture::SpanPicture;
use super::trainer::lower_priority;
use crate::annotation::{Corpus, LabelId, ModelId, SentenceId, Span};
use crate::evaluation::{
    Analyses, Buckets, Calibration, Confusion, Consistency, Counts, ErrorKind, Judged, PairedLabels, Reliability,
    Report, Scale, ScoreDistribution, SpanSampling, Tasks, WrongMention,
};
use crate::model::Samples;
use crate::session::error::stopped;
use crate::session::learner::dataset::{discontinuous, gold_examples, gold_sentences, whole_examples};
use crate::session::project::Project;
use crate::session::project::driver::Driver;
use crate::session::{Part, SessionError, Task};
use crate::train::{Example, FinalAnswer, PredictOptions, Predictor, RankedLabels, ScoredSpan, answers, evaluate};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What to score, and what to tell besides what a single prediction tells.
#[derive(Clone, Copy, Debug)]
pub struct EvaluateRequest {
    /// Its complete sentences.
    pub part: Part,
    /// The current one by default.
    pub model: Option<ModelId>,
    /// For tensor work; all cores by default.
    pub threads: Option<usize>,
    /// Whether to compute in `f32` throughout.
    pub exact: bool,
    /// Whether to score the tasks one by one: a second prediction, of all candidates.
    pub tasks: bool,
    /// Whether to make buckets: goes through the training sentences, too.
    pub buckets: bool,
    /// Which spans' vectors to look at: the encoder sees their sentences again, and every two of them are compared.
    pub vectors: Option<SpanSampling>,
}

impl EvaluateRequest {
    /// The model in use, and what costs nothing besides.
    pub fn of(part: Part) -> Self {
        Self { part, model: None, threads: None, exact: false, tasks: false, buckets: false, vectors: None }
    }
}

/// A score of a model, and where it comes from. A copy costs a few pointers and the counts.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluateReport {
    pub model: ModelId,
    pub report: Report,
    /// Of a model that labels given words, of these words: nothing but [`Analyses::confusion`].
    pub analyses: Analyses,
    /// If they were asked for.
    pub tasks: Option<Tasks>,
    /// If they were asked for. Label consistency is that of today's complete training sentences.
    pub buckets: Option<Buckets>,
    /// Of the prediction, without that for the tasks and for vectors.
    pub wall_secs: f64,
    /// Gold mentions of several fragments, which the model can't find and the score does not count.
    pub discontinuous_mentions: usize,
    /// The sentences that were scored, in the order of the text, each with its strict counts.
    pub sentences: Arc<[(SentenceId, Counts)]>,
    /// Every suggestion, those of the final answer among them, in the order of the text. Of a model that labels given words
    /// the most probable label of each gold mention without gaps.
    pub suggestions: Arc<[JudgedSuggestion]>,
    /// Every mention that strict match calls wrong, with what is wrong with it. Their kinds add up to [`Analyses::errors`].
    pub wrong: Arc<[(SentenceId, WrongMention)]>,
    /// Every span that is gold or predicted, with both labels. They add up to [`Analyses::confusion`].
    pub paired: Arc<[(SentenceId, PairedLabels)]>,
    /// What makes the model's scores honest, as its dev sentences told when it was trained; `None` where they could not tell.
    pub calibration: Option<Calibration>,
    /// If it was asked for.
    pub vectors: Option<Arc<SpanPicture>>,
    /// What an epoch of its training was made from, with the labels of persons alone.
    pub trained_on: Samples,
}

/// A suggestion for a sentence whose gold mentions are known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JudgedSuggestion {
    pub sentence: SentenceId,
    pub span: Span,
    pub label: LabelId,
    /// Probability of the label as the model gives it.
    pub score: f32,
    /// Whether it is in the model's final answer.
    pub is_chosen: bool,
    /// Whether there is a gold mention on these words with this label.
    pub is_right: bool,
}

impl EvaluateReport {
    /// Probabilities of the final answer's mentions.
    pub fn scores(&self) -> ScoreDistribution {
        let chosen = self.suggestions.iter().filter(|suggestion| suggestion.is_chosen);
        ScoreDistribution::of(chosen.map(|suggestion| (suggestion.score, suggestion.is_right)))
    }

    /// The same of all labels together first, then of each, what was predicted most before the rest.
    pub fn scores_most_predicted_first(&self) -> Vec<(Option<LabelId>, ScoreDistribution)> {
        let of_labels = self.scores_by_label().into_iter().map(|(label, scores)| (Some(label), scores));
        let mut of_labels: Vec<(Option<LabelId>, ScoreDistribution)> = of_labels.collect();
        of_labels.sort_by_key(|(_, scores)| Reverse(scores.right.len() + scores.wrong.len()));
        std::iter::once((None, self.scores())).chain(of_labels).collect()
    }

    /// The same of each label that is in the final answer.
    pub fn scores_by_label(&self) -> BTreeMap<LabelId, ScoreDistribution> {
        let mut labels: BTreeMap<LabelId, Vec<(f32, bool)>> = BTreeMap::new();
        for said in self.suggestions.iter().filter(|suggestion| suggestion.is_chosen) {
            labels.entry(said.label).or_default().push((said.score, said.is_right));
        }
        labels.into_iter().map(|(label, scores)| (label, ScoreDistribution::of(scores))).collect()
    }

    /// How often suggestions are right, by their scores as they come.
    pub fn reliability(&self) -> Reliability {
        self.reliability_with(Scale::default())
    }

    /// The same by what the model's calibration makes of them, as a person sees them; `None` without one.
    pub fn calibrated_reliability(&self) -> Option<Reliability> {
        self.calibration.map(|calibration| self.reliability_with(calibration.scale))
    }

    fn reliability_with(&self, scale: Scale) -> Reliability {
        let scores: Vec<(f32, bool)> = self.suggestions.iter().map(|s| (s.score, s.is_right)).collect();
        Reliability::of(&scores, scale)
    }

    /// The sentences in which predicted (or else gold) mentions are wrong in this way, each once, in the order of the text.
    pub fn sentences_with_error(&self, is_predicted: bool, kind: ErrorKind) -> Vec<SentenceId> {
        let holds = |wrong: &WrongMention| wrong.is_predicted == is_predicted && wrong.kind == kind;
        each_once(self.wrong.iter().filter(|(_, wrong)| holds(wrong)).map(|(sentence, _)| *sentence))
    }

    /// The sentences in which a span that has one label got another one, each once, in the order of the text.
    pub fn sentences_with_labels(&self, gold: Option<LabelId>, predicted: Option<LabelId>) -> Vec<SentenceId> {
        let holds = |pair: &PairedLabels| pair.gold == gold && pair.predicted == predicted;
        each_once(self.paired.iter().filter(|(_, pair)| holds(pair)).map(|(sentence, _)| *sentence))
    }
}

fn each_once(sentences: impl Iterator<Item = SentenceId>) -> Vec<SentenceId> {
    let mut sentences: Vec<SentenceId> = sentences.collect();
    sentences.dedup();
    sentences
}

impl Driver {
    /// Scores a model on the complete sentences of a part.
    ///
    /// # Errors
    /// No model, a damaged one, nothing complete, a stop; vectors or tasks of a model that has none.
    pub fn evaluate_now(&self, request: EvaluateRequest, cancel: &AtomicBool) -> Result<EvaluateReport, SessionError> {
        self.scoring(request)?.run(cancel)
    }
}

impl Project {
    /// Scores a model on a thread of its own, which leaves the window its time, on what is complete now.
    pub fn start_evaluation(&self, request: EvaluateRequest) -> Task<Result<EvaluateReport, SessionError>> {
        let scoring = self.scoring(request);
        Task::spawn("nestling-evaluation", self.waker(), move || {
            lower_priority();
            scoring?.run(&AtomicBool::new(false))
        })
    }

    fn scoring(&self, request: EvaluateRequest) -> Result<Scoring, SessionError> {
        let source = self.find_source(request.model)?;
        let model = source.id();
        let info = self.models().find(|info| info.id == model);
        if request.vectors.is_some() && info.as_ref().is_some_and(|info| !info.classifies_spans()) {
            return Err(SessionError::NoSpanVectors { model: model.to_string() });
        }
        let calibration = info.and_then(|info| info.calibration);
        Ok(Scoring { source, calibration, corpus: self.snapshot_of_corpus(), request })
    }
}

/// All that a score is made from.
struct Scoring {
    source: Source,
    calibration: Option<Calibration>,
    corpus: Arc<Corpus>,
    request: EvaluateRequest,
}

impl Scoring {
    fn run(self, cancel: &AtomicBool) -> Result<EvaluateReport, SessionError> {
        let Self { source, calibration, corpus, request } = self;
        let (model, predictor) = (source.id(), source.load(request.threads)?);
        let labels_given = predictor.manifest().labels_given();
        let usual = PredictOptions { exact: request.exact, ..PredictOptions::default() };
        if labels_given && (request.tasks || request.buckets) {
            return Err(SessionError::FindsNothing { model: model.to_string() });
        }
        let (ids, examples): (Vec<SentenceId>, Vec<Example>) =
            gold_sentences(&corpus, request.part).into_iter().unzip();
        if examples.is_empty() {
            return Err(SessionError::NothingToScore);
        }
        // With mentions in fragments, which it can label, too.
        let whole = labels_given.then(|| whole_examples(&corpus, request.part));
        let training = request.buckets.then(|| gold_examples(&corpus, Part::Train));
        let discontinuous_mentions = if labels_given { 0 } else { discontinuous(&corpus, request.part) };
        // Edits copy what is held elsewhere.
        drop(corpus);
        let begun = Instant::now();
        let found = if labels_given {
            labelled(&predictor, &examples, usual, cancel)?
        } else {
            answers(&predictor, &examples, usual, cancel).map_err(stopped)?
        };
        let wall_secs = begun.elapsed().as_secs_f64();
        let judged = judge(&examples, &found);
        let report = match whole {
            Some(whole) => evaluate(&predictor, &whole, usual, cancel).map_err(stopped)?,
            None => Report::strict(&predictor.labels(), judged.iter().copied()),
        };
        let mut tasks = None;
        if request.tasks {
            // Without heads nothing was filtered.
            let options = PredictOptions { use_heads: false, floor: f32::INFINITY, ..usual };
            let all = match report.first_words {
                Some(_) => answers(&predictor, &examples, options, cancel).map_err(stopped)?,
                None => found.clone(),
            };
            tasks = Some(Tasks::of(judged.iter().copied(), judge(&examples, &all)));
        }
        let buckets = training.map(|training| {
            let consistency = Consistency::of(training.iter().map(|e| (e.tokens.as_slice(), e.gold.as_slice())));
            Buckets::of(judged.iter().copied(), &consistency)
        });
        let vectors =
            request.vectors.map(|sampling| SpanPicture::of(&predictor, &ids, &judged, sampling, cancel)).transpose()?;
        let analyses = if labels_given {
            Analyses { confusion: Confusion::of(judged.iter().copied()), ..Analyses::of(&[]) }
        } else {
            Analyses::of(&judged)
        };
        let placed = || ids.iter().copied().zip(judged.iter().copied());
        Ok(EvaluateReport {
            model,
            analyses,
            report,
            tasks,
            buckets,
            wall_secs,
            discontinuous_mentions,
            sentences: placed().map(|(id, sentence)| (id, sentence.counts())).collect(),
            suggestions: suggestions(&ids, &examples, &found),
            wrong: placed().flat_map(|(id, s)| WrongMention::of(s).into_iter().map(move |wrong| (id, wrong))).collect(),
            paired: placed().flat_map(|(id, s)| PairedLabels::of(s).into_iter().map(move |pair| (id, pair))).collect(),
            calibration,
            vectors: vectors.map(Arc::new),
            trained_on: predictor.manifest().outcome.samples,
        })
    }
}

/// What a model that labels given words says of the gold mentions without gaps: their most probable labels.
fn labelled(
    predictor: &Predictor,
    examples: &[Example],
    options: PredictOptions,
    cancel: &AtomicBool,
) -> Result<Vec<FinalAnswer>, SessionError> {
    let mut spans: Vec<Vec<Span>> =
        examples.iter().map(|example| example.gold.iter().map(|(span, _)| *span).collect()).collect();
    spans.iter_mut().for_each(|spans| {
        spans.sort_unstable();
        spans.dedup();
    });
    let given = |spans: &Vec<Span>| spans.iter().copied().map(Into::into).collect();
    let asked: Vec<_> =
        examples.iter().zip(&spans).map(|(example, spans)| (example.tokens.clone(), given(spans))).collect();
    let ranked = predictor.label_given(&asked, options, cancel).map_err(stopped)?;
    let answer = |(spans, ranked): (&Vec<Span>, &Vec<RankedLabels>)| {
        let first = |(span, ranked): (&Span, &RankedLabels)| {
            let (label, score) = ranked.first().copied()?;
            Some(ScoredSpan { span: *span, label, score, runner_up: ranked.get(1).copied(), chosen: true })
        };
        let suggestions: Vec<ScoredSpan> = spans.iter().zip(ranked).filter_map(first).collect();
        let mentions = suggestions.iter().map(|said| (said.span, said.label)).collect();
        FinalAnswer { mentions, suggestions, first_words: None, candidates: spans.len() }
    };
    Ok(spans.iter().zip(&ranked).map(answer).collect())
}

fn judge<'a>(examples: &'a [Example], answers: &'a [FinalAnswer]) -> Vec<Judged<'a>> {
    examples.iter().zip(answers).map(|(example, answer)| answer.judged(example)).collect()
}

fn suggestions(ids: &[SentenceId], examples: &[Example], found: &[FinalAnswer]) -> Arc<[JudgedSuggestion]> {
    let sentences = ids.iter().zip(examples).zip(found);
    let judged = sentences.flat_map(|((id, example), answer)| {
        answer.suggestions.iter().map(|said| JudgedSuggestion {
            sentence: *id,
            span: said.span,
            label: said.label,
            score: said.score,
            is_chosen: said.chosen,
            is_right: example.gold.contains(&(said.span, said.label)),
        })
    });
    judged.collect()
}

#[cfg(test)]
impl EvaluateReport {
    /// Of a model that was asked about nothing.
    pub(crate) fn nothing() -> Self {
        Self {
            model: ModelId(1),
            report: Report::default(),
            analyses: Analyses::default(),
            tasks: None,
            buckets: None,
            wall_secs: 0.0,
            discontinuous_mentions: 0,
            sentences: Arc::default(),
            suggestions: Arc::default(),
            wrong: Arc::default(),
            paired: Arc::default(),
            calibration: None,
            vectors: None,
            trained_on: Samples::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn a_cell_leads_to_its_sentences_each_once_in_the_order_of_the_text() {
        let wrong = |sentence, is_predicted, kind| {
            (SentenceId(sentence), WrongMention { span: span(0, 1), label: LabelId(1), is_predicted, kind })
        };
        let paired = |sentence, gold: Option<u32>, predicted: Option<u32>| {
            let [gold, predicted] = [gold, predicted].map(|label| label.map(LabelId));
            (SentenceId(sentence), PairedLabels { span: span(0, 1), gold, predicted })
        };
        let report = EvaluateReport {
            wrong: [
                wrong(9, true, ErrorKind::Alone),
                wrong(9, true, ErrorKind::Alone),
                wrong(9, false, ErrorKind::Alone),
                wrong(4, true, ErrorKind::Label),
                wrong(2, true, ErrorKind::Alone),
            ]
            .into(),
            paired: [paired(9, Some(1), Some(2)), paired(9, Some(1), Some(2)), paired(4, Some(1), None)].into(),
            ..EvaluateReport::nothing()
        };
        let ids = |sentences: Vec<SentenceId>| sentences.into_iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(ids(report.sentences_with_error(true, ErrorKind::Alone)), [9, 2]);
        assert_eq!(ids(report.sentences_with_error(false, ErrorKind::Alone)), [9]);
        assert_eq!(ids(report.sentences_with_error(false, ErrorKind::Both)), [] as [u32; 0]);
        assert_eq!(ids(report.sentences_with_labels(Some(LabelId(1)), Some(LabelId(2)))), [9]);
        assert_eq!(ids(report.sentences_with_labels(Some(LabelId(1)), None)), [4]);
    }

    #[test]
    fn scores_are_of_the_final_answer_and_reliability_of_all_suggestions() {
        let said = |label, score, is_chosen, is_right| JudgedSuggestion {
            sentence: SentenceId(1),
            span: span(0, 1),
            label: LabelId(label),
            score,
            is_chosen,
            is_right,
        };
        let suggestions =
            [said(1, 0.9, true, true), said(1, 0.7, true, false), said(2, 0.8, true, true), said(2, 0.2, false, true)];
        let mut report = EvaluateReport { suggestions: suggestions.into(), ..EvaluateReport::nothing() };
        assert_eq!(report.scores(), ScoreDistribution { right: vec![0.8, 0.9], wrong: vec![0.7] });
        let of_labels = report.scores_by_label();
        assert_eq!(of_labels[&LabelId(2)], ScoreDistribution { right: vec![0.8], wrong: Vec::new() });
        assert_eq!((of_labels.len(), &of_labels[&LabelId(1)].right), (2, &vec![0.9]));
        let counts = |reliability: Reliability| reliability.bins.map(|bin| bin.count);
        assert_eq!(counts(report.reliability()).iter().sum::<usize>(), 4);
        assert_eq!(report.calibrated_reliability(), None);
        let scale = Scale { temperature: 1.0, bias: 6.0 };
        report.calibration = Some(Calibration { scale, error_before: 0.0, error_after: 0.0 });
        assert_eq!(
            counts(report.calibrated_reliability().unwrap()),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 4],
            "all are sure now"
        );
    }
}
