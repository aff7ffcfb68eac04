//! The scores of a model, and the names of what they are about.

use crate::annotation::{Corpus, LabelId, SentenceId, Span};
use crate::evaluation::{Bucketed, Buckets};
use crate::session::EvaluateReport;

/// What figures are made of.
#[derive(Clone, Debug)]
pub struct Evaluated<'a> {
    pub report: &'a EvaluateReport,
    /// Of another model on the same sentences.
    pub against: Option<&'a EvaluateReport>,
    corpus: &'a Corpus,
}

impl<'a> Evaluated<'a> {
    pub fn new(report: &'a EvaluateReport, against: Option<&'a EvaluateReport>, corpus: &'a Corpus) -> Self {
        Self { report, against, corpus }
    }

    /// The name of a label; `?` of one that was deleted since.
    pub fn name(&self, label: LabelId) -> &'a str {
        self.corpus.labels().get(label).map_or("?", |label| label.name.as_str())
    }

    /// The document of a sentence by its name, and which sentence of it, counted from 1.
    pub fn place(&self, sentence: SentenceId) -> (&'a str, usize) {
        self.corpus.place_in_document(sentence).map_or(("", 0), |(document, at)| (document.name.as_str(), at + 1))
    }

    /// The words of a span as they stand in the text.
    pub fn words(&self, sentence: SentenceId, span: Span) -> &'a str {
        self.corpus.sentence(sentence).map_or("", |sentence| self.corpus.span_text(sentence, span))
    }
}

/// A property's name, and of each size of bucket its name and a difference.
pub type PropertyDifferences = (&'static str, Vec<(&'static str, Option<f64>)>);

/// F1 of a model less that of another, bucket by bucket, `None` where one of them has no F1 (Win-Win Cooperation, Table 6).
pub fn bucket_differences(report: &Buckets, against: &Buckets) -> Vec<PropertyDifferences> {
    let rows = |bucketed: Option<Bucketed>| bucketed.map(|it| it.rows().collect::<Vec<_>>()).unwrap_or_default();
    let of_property = |(name, mine): (&'static str, Option<Bucketed>), others: Option<Bucketed>| {
        let pairs = rows(mine).into_iter().zip(rows(others));
        (name, pairs.map(|((size, mine), (_, other))| (size, mine.f1_above(other))).collect())
    };
    let both = report.properties().into_iter().zip(against.properties());
    both.map(|(mine, (_, others))| of_property(mine, others)).collect()
}
