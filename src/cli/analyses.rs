//! The parts of `nestling evaluate --by`: keys for the JSON object, tables for people.

use super::args::By;
use super::json::{counts, score};
use super::table::Table;
use crate::annotation::Corpus;
use crate::evaluation::{Bucketed, Buckets, Counts, ErrorKinds, Matches, PartialCounts, Task};
use crate::session::EvaluateReport;
use serde_json::{Value, json};

/// What one part adds to the JSON object. Labels are in `strict` always.
pub(super) fn json_of(by: By, done: &EvaluateReport) -> Vec<(&'static str, Value)> {
    let analyses = &done.analyses;
    match by {
        By::Label => Vec::new(),
        By::Matches => vec![
            ("exact", counts(analyses.matches.exact)),
            ("partial", partial(analyses.matches.partial)),
            ("type", counts(analyses.matches.same_label)),
        ],
        By::Length => vec![("length", object(analyses.lengths.rows()))],
        By::Nesting => vec![("nesting", object(nesting(done)))],
        By::Errors => {
            let errors = analyses.errors;
            let sides = [("fp", errors.false_positives, "spurious"), ("fn", errors.false_negatives, "missed")];
            let sides = sides.map(|(side, kinds, alone)| (side.to_owned(), error_kinds(kinds, alone)));
            vec![("errors", Value::Object(sides.into_iter().collect()))]
        }
        By::Buckets => {
            let buckets = done.buckets.map(|buckets| {
                let all = properties(&buckets).map(|(name, b)| (name.to_owned(), b.map(|b| object(b.rows())).into()));
                Value::Object(all.into_iter().collect())
            });
            vec![("buckets", buckets.into())]
        }
        By::Tasks => {
            let tasks = done
                .tasks
                .map(|t| json!({ "neh": t.heads.map(task), "sp": task(t.spans), "neh_sp": t.both.map(task) }));
            vec![("tasks", tasks.into())]
        }
    }
}

/// One part as a table.
pub(super) fn text_of(by: By, done: &EvaluateReport, corpus: &Corpus) -> String {
    let analyses = &done.analyses;
    match by {
        By::Label => {
            let name = |id| corpus.labels().get(id).map_or("?", |label| label.name.as_str());
            scores("label", done.report.labels.iter().map(|(id, counts)| (name(*id), *counts)))
        }
        By::Matches => matches(done.report.micro, analyses.matches),
        By::Length => scores("words", analyses.lengths.rows()),
        By::Nesting => format!("{}nested and covering hold those that are both\n", scores("nesting", nesting(done))),
        By::Errors => errors(analyses.errors.false_positives, analyses.errors.false_negatives),
        By::Buckets => done.buckets.map(|buckets| bucket_text(&buckets)).unwrap_or_default(),
        By::Tasks => {
            let tasks = done.tasks.unwrap_or_default();
            let rows = [("NEH", tasks.heads), ("SP", Some(tasks.spans)), ("NEH + SP", tasks.both)];
            let mut table = Table::new(["task", "P", "R", "F1", "gold", "predicted", "right", "samples"]);
            for (name, task) in rows.into_iter().filter_map(|(name, task)| Some((name, task?))) {
                table.row(name, cells(task.counts).into_iter().chain([task.samples.to_string()]));
            }
            table.to_string()
        }
    }
}

fn object(rows: impl IntoIterator<Item = (&'static str, Counts)>) -> Value {
    Value::Object(rows.into_iter().map(|(name, c)| (name.to_owned(), counts(c))).collect())
}

/// `tp` are those with equal boundaries, `partial` those that count half.
fn partial(c: PartialCounts) -> Value {
    json!({
        "precision": c.precision(),
        "recall": c.recall(),
        "f1": c.f1(),
        "tp": c.equal,
        "partial": c.overlapping,
        "fp": c.false_positives,
        "fn": c.false_negatives,
    })
}

fn error_kinds(kinds: ErrorKinds, alone: &str) -> Value {
    let rows = [
        ("type", kinds.wrong_label),
        ("boundary", kinds.wrong_boundaries),
        ("both", kinds.both_wrong),
        (alone, kinds.alone),
    ];
    Value::Object(rows.into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect())
}

fn task(task: Task) -> Value {
    let mut value = counts(task.counts);
    if let Value::Object(object) = &mut value {
        object.insert("samples".to_owned(), task.samples.into());
    }
    value
}

fn nesting(done: &EvaluateReport) -> [(&'static str, Counts); 4] {
    let n = done.analyses.nesting;
    [("nested", n.nested), ("covering", n.covering), ("both", n.both), ("flat", n.flat)]
}

/// Buckets by the paper's names.
fn properties(buckets: &Buckets) -> [(&'static str, Option<Bucketed>); 4] {
    [
        ("eLen", Some(buckets.entity_length)),
        ("tLen", Some(buckets.text_length)),
        ("eCon", buckets.label_consistency),
        ("eDen", Some(buckets.entity_density)),
    ]
}

fn scores<'a>(of: &str, rows: impl IntoIterator<Item = (&'a str, Counts)>) -> String {
    let mut table = Table::new([of, "P", "R", "F1", "gold", "predicted", "right"]);
    rows.into_iter().for_each(|(name, counts)| table.row(name, cells(counts)));
    table.to_string()
}

fn cells(c: Counts) -> [String; 6] {
    let [gold, predicted, right] = [c.support(), c.predicted(), c.true_positives].map(|n| n.to_string());
    [score(c.precision()), score(c.recall()), score(c.f1()), gold, predicted, right]
}

fn matches(strict: Counts, matches: Matches) -> String {
    let mut table = Table::new(["match", "P", "R", "F1", "gold", "predicted", "right", "half"]);
    table.row("strict", cells(strict));
    table.row("exact", cells(matches.exact));
    let c = matches.partial;
    let numbers = [c.support(), c.predicted(), c.equal, c.overlapping].map(|n| n.to_string());
    table.row("partial", [c.precision(), c.recall(), c.f1()].map(score).into_iter().chain(numbers));
    table.row("type", cells(matches.same_label));
    table.to_string()
}

fn errors(false_positives: ErrorKinds, false_negatives: ErrorKinds) -> String {
    let (p, n) = (false_positives, false_negatives);
    let mut table = Table::new(["wrong", "false positives", "false negatives"]);
    let mut row = |name, p: usize, n: usize| table.row(name, [p.to_string(), n.to_string()]);
    row("label", p.wrong_label, n.wrong_label);
    row("boundaries", p.wrong_boundaries, n.wrong_boundaries);
    row("both", p.both_wrong, n.both_wrong);
    row("all (spurious, missed)", p.alone, n.alone);
    row("together", p.total(), n.total());
    table.to_string()
}

fn bucket_text(buckets: &Buckets) -> String {
    let mut table = Table::new(["bucket", "P", "R", "F1", "gold", "predicted", "right"]);
    for (property, bucketed) in properties(buckets) {
        for (size, counts) in bucketed.iter().flat_map(Bucketed::rows) {
            table.row(&format!("{property} {size}"), cells(counts));
        }
    }
    match buckets.label_consistency {
        Some(_) => table.to_string(),
        None => format!("{table}no eCon: there is no mention in the training sentences\n"),
    }
}
