//! Tables: a row for each count, span or prediction. Figures in full, shares in [0, 1].

use super::breakdown::Breakdown;
use super::evaluated::{Evaluated, bucket_differences};
use crate::annotation::{LabelId, SentenceId, Span};
use crate::evaluation::{
    Bucketed, Counts, ErrorKind, PartialCounts, Reliability, ReliabilityBin, ScoreDistribution, SpanKind, Task,
    quantile,
};
use crate::figure::Csv;
use crate::session::EvaluateReport;

const COUNTS: [&str; 6] = ["precision", "recall", "f1", "right", "predicted", "gold"];
/// Where a span is.
const PLACE: [&str; 5] = ["document", "sentence", "first_word", "last_word", "words"];

pub(super) fn table(of: &Evaluated<'_>, by: Breakdown) -> String {
    let (report, analyses) = (of.report, &of.report.analyses);
    let csv = match by {
        Breakdown::Label => counts("label", report.report.labels.iter().map(|(id, counts)| (of.name(*id), *counts))),
        Breakdown::Matches => matches(report),
        Breakdown::Length => counts("words", analyses.lengths.rows()),
        Breakdown::Nesting => counts("nesting", analyses.nesting.rows()),
        Breakdown::Buckets => buckets(of),
        Breakdown::Errors => errors(of),
        Breakdown::Confusion => confusion(of),
        Breakdown::Tasks => tasks(report),
        Breakdown::Scores => scores(of),
        Breakdown::Calibration => calibration(report),
        Breakdown::Vectors => vectors(of),
        Breakdown::Similarity => similarity(report),
    };
    csv.into_text()
}

fn cells(of: impl Into<PartialCounts>) -> impl Iterator<Item = String> {
    let of = of.into();
    let scores = [of.precision(), of.recall(), of.f1()].map(Csv::figure);
    let numbers = [of.equal, of.predicted(), of.support()].map(|number| number.to_string());
    scores.into_iter().chain(numbers)
}

fn counts<'a>(of: &str, rows: impl IntoIterator<Item = (&'a str, Counts)>) -> Csv {
    let mut csv = Csv::new([of].into_iter().chain(COUNTS));
    rows.into_iter().for_each(|(name, counts)| csv.row([name.to_owned()].into_iter().chain(cells(counts))));
    csv
}

/// Of partial match, `right` are those with equal boundaries and `half` those that only overlap.
fn matches(report: &EvaluateReport) -> Csv {
    let matches = report.analyses.matches;
    let mut csv = Csv::new(["match"].into_iter().chain(COUNTS).chain(["half"]));
    for (name, of) in [("strict", report.report.micro), ("exact", matches.exact), ("type", matches.same_label)] {
        csv.row([name.to_owned()].into_iter().chain(cells(of)).chain([String::new()]));
    }
    let of = matches.partial;
    csv.row(["partial".to_owned()].into_iter().chain(cells(of)).chain([of.overlapping.to_string()]));
    csv
}

/// With what another model has, where there is one.
fn buckets(of: &Evaluated<'_>) -> Csv {
    let Some(mine) = of.report.buckets else { return Csv::new(["property"]) };
    let against = of.against.and_then(|against| against.buckets);
    let more: &[&str] = if against.is_some() { &["against_f1", "difference"] } else { &[] };
    let mut csv = Csv::new(["property", "bucket"].into_iter().chain(COUNTS).chain(more.iter().copied()));
    let differences = against.map(|against| bucket_differences(&mine, &against));
    let others = against.map(|against| against.properties());
    for (place, (property, bucketed)) in mine.properties().into_iter().enumerate() {
        for (row, (size, counts)) in bucketed.iter().flat_map(Bucketed::rows).enumerate() {
            let names = [property, size].map(str::to_owned);
            let other = others.and_then(|others| others.get(place)?.1?.rows().nth(row)?.1.f1());
            let difference = differences.as_ref().and_then(|differences| differences.get(place)?.1.get(row)?.1);
            let compared = [other, difference].map(Csv::figure).into_iter().take(more.len());
            csv.row(names.into_iter().chain(cells(counts)).chain(compared));
        }
    }
    csv
}

/// Where a span is, in the order of [`PLACE`]; words are counted from 1.
fn place(of: &Evaluated<'_>, sentence: SentenceId, span: Span) -> [String; 5] {
    let (document, number) = of.place(sentence);
    let [first, last] = [span.start().get() + 1, span.end().get()].map(|word| word.to_string());
    [document.to_owned(), number.to_string(), first, last, of.words(sentence, span).to_owned()]
}

fn optional(of: &Evaluated<'_>, label: Option<LabelId>) -> String {
    label.map_or_else(String::new, |label| of.name(label).to_owned())
}

/// A row for each mention that is wrong.
fn errors(of: &Evaluated<'_>) -> Csv {
    let mut csv = Csv::new(PLACE.into_iter().chain(["label", "side", "wrong"]));
    for (sentence, wrong) in &*of.report.wrong {
        let side = if wrong.is_predicted { "predicted" } else { "gold" };
        let kind = match (wrong.kind, wrong.is_predicted) {
            (ErrorKind::Label, _) => "type",
            (ErrorKind::Boundaries, _) => "boundary",
            (ErrorKind::Both, _) => "both",
            (ErrorKind::Alone, true) => "spurious",
            (ErrorKind::Alone, false) => "missed",
        };
        let about = [of.name(wrong.label), side, kind].map(str::to_owned);
        csv.row(place(of, *sentence, wrong.span).into_iter().chain(about));
    }
    csv
}

fn confusion(of: &Evaluated<'_>) -> Csv {
    let mut csv = Csv::new(["gold", "predicted", "count"]);
    for (gold, predicted, count) in of.report.analyses.confusion.rows() {
        csv.row([optional(of, gold), optional(of, predicted), count.to_string()]);
    }
    csv
}

fn tasks(report: &EvaluateReport) -> Csv {
    let mut csv = Csv::new(["task"].into_iter().chain(COUNTS).chain(["samples"]));
    let tasks = report.tasks.unwrap_or_default();
    let rows = [("neh", tasks.first_words), ("sp", report.tasks.map(|tasks| tasks.spans)), ("neh_sp", tasks.both)];
    for (name, Task { counts, samples }) in rows.into_iter().filter_map(|(name, task)| Some((name, task?))) {
        csv.row([name.to_owned()].into_iter().chain(cells(counts)).chain([samples.to_string()]));
    }
    csv
}

/// All labels together first; of each the right and the wrong predictions.
fn scores(of: &Evaluated<'_>) -> Csv {
    let shares = ScoreDistribution::SHARES.map(|share| format!("q{share}"));
    let titles = ["label", "predictions", "count"].into_iter().chain(shares.iter().map(String::as_str));
    let mut csv = Csv::new(titles);
    let mut rows = |label: &str, distribution: &ScoreDistribution| {
        for (side, scores) in [("right", &distribution.right), ("wrong", &distribution.wrong)] {
            let quantiles = ScoreDistribution::SHARES.map(|share| Csv::figure(quantile(scores, share)));
            let names = [label.to_owned(), side.to_owned(), scores.len().to_string()];
            csv.row(names.into_iter().chain(quantiles));
        }
    };
    rows("", &of.report.scores());
    of.report.scores_by_label().iter().for_each(|(label, distribution)| rows(of.name(*label), distribution));
    csv
}

fn calibration(report: &EvaluateReport) -> Csv {
    let mut csv = Csv::new(["scores", "from", "to", "count", "mean_score", "share_right"]);
    let mut rows = |name: &str, reliability: &Reliability| {
        let bins = reliability.bins.len() as f64;
        for (number, bin) in reliability.bins.iter().enumerate() {
            let bounds = [number, number + 1].map(|edge| (edge as f64 / bins).to_string());
            let figures = [ReliabilityBin::mean_score, ReliabilityBin::share_right].map(|f| Csv::figure(f(*bin)));
            let count = [bin.count.to_string()];
            csv.row([name.to_owned()].into_iter().chain(bounds).chain(count).chain(figures));
        }
    };
    rows("model", &report.reliability());
    report.calibrated_reliability().iter().for_each(|reliability| rows("calibrated", reliability));
    csv
}

/// A row for each span that was drawn.
fn vectors(of: &Evaluated<'_>) -> Csv {
    let mut csv = Csv::new(PLACE.into_iter().chain(["kind", "gold", "predicted", "x", "y"]));
    for point in of.report.vectors.iter().flat_map(|picture| &picture.points) {
        let labels = [point.gold, point.predicted].map(|label| optional(of, label));
        let kind = [point.kind.id().to_owned()];
        let at = point.at.map(|number| number.to_string());
        csv.row(place(of, point.sentence, point.span).into_iter().chain(kind).chain(labels).chain(at));
    }
    csv
}

fn similarity(report: &EvaluateReport) -> Csv {
    let mut csv = Csv::new(["figure", "value", "pairs"]);
    let Some(picture) = &report.vectors else { return csv };
    for (name, mean) in picture.similarity.rows() {
        csv.row([name.to_owned(), Csv::figure(mean.mean()), mean.pairs.to_string()]);
    }
    let norms = [("entity_norm", picture.similarity.entity_norm, picture.of_kind(SpanKind::Mention).drawn)];
    norms.into_iter().for_each(|(name, norm, count)| csv.row([name.to_owned(), Csv::figure(norm), count.to_string()]));
    csv
}
