//! What was found of a model, or of two on the same sentences, with all that takes time to make of it.

use crate::annotation::{Corpus, LabelId, ModelId, SentenceId, Span};
use crate::evaluation::{Counts, F1Difference, Reliability, ScoreDistribution, density, quantile};
use crate::session::{Breakdown, EvaluateReport, Evaluated, Part, figure_files};
use std::sync::Arc;

pub(super) struct Analysed {
    pub(super) part: Part,
    /// The sentences as they were scored.
    pub(super) corpus: Arc<Corpus>,
    pub(super) first: OfModel,
    /// Compared with it.
    pub(super) second: Option<OfModel>,
    /// F1 of the first minus F1 of the second.
    pub(super) difference: Option<F1Difference>,
}

pub(super) struct OfModel {
    pub(super) id: ModelId,
    /// "model 4".
    pub(super) name: String,
    pub(super) report: EvaluateReport,
    /// Of the predictions that are the model's answer: of all labels, then of each by how often it was predicted.
    pub(super) violins: Vec<Violin>,
    /// Of all suggestions, by their scores as the model gives them.
    pub(super) reliability: Reliability,
    /// By the scores that a person sees, where dev could tell what they should be.
    pub(super) calibrated: Option<Reliability>,
}

/// How the probabilities of predictions are distributed.
pub(super) struct Violin {
    /// `None`: of all labels.
    pub(super) label: Option<LabelId>,
    /// Of the right ones, and of the wrong ones.
    pub(super) sides: [Side; 2],
}

/// Probabilities of the predictions that are right, or of those that are not.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) count: usize,
    /// At equal steps from 0 to 1.
    pub(super) density: Vec<f64>,
    /// Below which a quarter, a half and three quarters of them lie.
    pub(super) quartiles: Option<[f64; 3]>,
}

/// A sentence's mentions as they were scored.
pub(super) struct Mentions {
    pub(super) gold: Vec<(Span, LabelId)>,
    /// The model's answer, with its probabilities.
    pub(super) predicted: Vec<(Span, LabelId, f32)>,
}

impl Analysed {
    /// Takes some milliseconds for a thousand sentences.
    pub(super) fn new(part: Part, corpus: Arc<Corpus>, first: EvaluateReport, second: Option<EvaluateReport>) -> Self {
        let counts =
            |report: &EvaluateReport| report.sentences.iter().map(|(_, counts)| *counts).collect::<Vec<Counts>>();
        let difference = second.as_ref().and_then(|second| F1Difference::of(&counts(second), &counts(&first)));
        Self { part, corpus, first: OfModel::new(first), second: second.map(OfModel::new), difference }
    }

    /// The model finds no mentions and labels given words.
    pub(super) fn labels_given(&self) -> bool {
        self.first.report.report.labels_given
    }

    /// A breakdown as a file: of the first or the second model; the first beside the second one.
    pub(super) fn file(&self, model: usize, by: Breakdown, extension: &str) -> String {
        let Some(of) = self.models().nth(model) else { return String::new() };
        let against = self.second.as_ref().filter(|_| model == 0).map(|second| &second.report);
        let files = figure_files(&Evaluated::new(&of.report, against, &self.corpus), &[by]);
        let file = files.into_iter().find(|file| file.name.ends_with(extension));
        file.map(|file| file.text).unwrap_or_default()
    }

    pub(super) fn models(&self) -> impl Iterator<Item = &OfModel> {
        std::iter::once(&self.first).chain(&self.second)
    }
}

impl OfModel {
    fn new(report: EvaluateReport) -> Self {
        let violins = report.scores_most_predicted_first().into_iter();
        Self {
            id: report.model,
            name: format!("model {}", report.model),
            violins: violins.map(|(label, scores)| Violin::new(label, &scores)).collect(),
            reliability: report.reliability(),
            calibrated: report.calibrated_reliability(),
            report,
        }
    }

    /// Goes through all that was found.
    pub(super) fn mentions(&self, sentence: SentenceId) -> Mentions {
        let pairs = self.report.paired.iter().filter(|(of, _)| *of == sentence);
        let suggestions = self.report.suggestions.iter().filter(|said| said.sentence == sentence && said.is_chosen);
        Mentions {
            gold: pairs.filter_map(|(_, pair)| Some((pair.span, pair.gold?))).collect(),
            predicted: suggestions.map(|said| (said.span, said.label, said.score)).collect(),
        }
    }
}

impl Violin {
    fn new(label: Option<LabelId>, scores: &ScoreDistribution) -> Self {
        Self { label, sides: [&scores.right, &scores.wrong].map(|scores| Side::new(scores)) }
    }
}

impl Side {
    fn new(scores: &[f32]) -> Self {
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| quantile(scores, share));
        let quartiles = low.zip(middle).zip(high).map(|((low, middle), high)| [low, middle, high]);
        Self { count: scores.len(), density: density(scores, ScoreDistribution::POINTS), quartiles }
    }
}
