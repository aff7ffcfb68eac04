//! What was found of a model, or of two on the same sentences, with all that takes time to make of it.

use crate::annotation::{Corpus, LabelId, ModelId, SentenceId, Span};
use crate::evaluation::{Counts, F1Difference, Reliability, ScoreDistribution, density};
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
    /// Of the predictions that are the model's answer.
    pub(super) distribution: ScoreDistribution,
    /// Of the right and of the wrong ones, at equal steps from 0 to 1.
    pub(super) densities: [Vec<f64>; 2],
    /// Of all suggestions, by their scores as the model gives them.
    pub(super) reliability: Reliability,
    /// By the scores that a person sees, where dev could tell what they should be.
    pub(super) calibrated: Option<Reliability>,
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
        let distribution = report.scores();
        Self {
            id: report.model,
            name: format!("model {}", report.model),
            densities: [&distribution.right, &distribution.wrong]
                .map(|scores| density(scores, ScoreDistribution::POINTS)),
            distribution,
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
