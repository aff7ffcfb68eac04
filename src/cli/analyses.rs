//! The parts of `nestling evaluate --by`: keys for the JSON object, tables for people.

use super::json::{counts, name, score};
use super::table::Table;
use super::{confidence, span_vectors};
use crate::annotation::{Corpus, LabelId};
use crate::evaluation::{Bucketed, Buckets, Counts, ErrorKinds, Matches, PartialCounts, Task};
use crate::model::{SampleCounts, Samples};
use crate::session::{Breakdown, EvaluateReport};
use crate::wording::grouped;
use serde_json::{Map, Value, json};

/// What one part adds to the JSON object. Labels are in `strict` always.
pub(super) fn json_of(by: Breakdown, done: &EvaluateReport, corpus: &Corpus) -> Vec<(&'static str, Value)> {
    let analyses = &done.analyses;
    match by {
        Breakdown::Label => Vec::new(),
        Breakdown::Matches => vec![
            ("exact", counts(analyses.matches.exact)),
            ("partial", partial(analyses.matches.partial)),
            ("type", counts(analyses.matches.same_label)),
        ],
        Breakdown::Length => vec![("length", object(analyses.lengths.rows()))],
        Breakdown::Nesting => vec![("nesting", object(analyses.nesting.rows()))],
        Breakdown::Errors => {
            let errors = analyses.errors;
            let sides = [("fp", errors.false_positives, "spurious"), ("fn", errors.false_negatives, "missed")];
            let sides = sides.map(|(side, kinds, alone)| (side.to_owned(), error_kinds(kinds, alone)));
            let mut sides: Map<String, Value> = sides.into_iter().collect();
            sides.insert("rates".to_owned(), rates(done.report.micro, errors.false_positives));
            vec![("errors", Value::Object(sides))]
        }
        Breakdown::Confusion => {
            let row = |(gold, predicted, count): (Option<LabelId>, Option<LabelId>, usize)| json!({ "gold": gold.map(|l| name(l, corpus)), "predicted": predicted.map(|l| name(l, corpus)), "count": count });
            vec![("confusion", analyses.confusion.rows().map(row).collect::<Vec<_>>().into())]
        }
        Breakdown::Buckets => {
            let buckets = done.buckets.map(|buckets| {
                let all = buckets.properties().map(|(name, b)| (name.to_owned(), b.map(|b| object(b.rows())).into()));
                Value::Object(all.into_iter().collect())
            });
            vec![("buckets", buckets.into())]
        }
        Breakdown::Tasks => {
            let tasks = done.tasks.map(|t| {
                json!({
                    "neh": t.first_words.map(task),
                    "sp": task(t.spans),
                    "neh_sp": t.both.map(task),
                    "trained_on": samples(done.trained_on),
                })
            });
            vec![("tasks", tasks.into())]
        }
        Breakdown::Scores => vec![("scores", confidence::json_of_scores(done, corpus))],
        Breakdown::Calibration => vec![("calibration", confidence::json_of_calibration(done))],
        Breakdown::Vectors => vec![("vectors", span_vectors::json_of_vectors(done, corpus))],
        Breakdown::Similarity => vec![("similarity", span_vectors::json_of_similarity(done))],
    }
}

/// One part as a table.
pub(super) fn text_of(by: Breakdown, done: &EvaluateReport, corpus: &Corpus) -> String {
    let analyses = &done.analyses;
    match by {
        Breakdown::Label if done.report.labels_given => accuracies(done, corpus),
        Breakdown::Label => scores("label", done.report.labels.iter().map(|(id, counts)| (name(*id, corpus), *counts))),
        Breakdown::Matches => matches(done.report.micro, analyses.matches),
        Breakdown::Length => scores("words", analyses.lengths.rows()),
        Breakdown::Nesting => {
            format!("{}nested and covering hold those that are both\n", scores("nesting", analyses.nesting.rows()))
        }
        Breakdown::Errors => errors(analyses.errors.false_positives, analyses.errors.false_negatives),
        Breakdown::Confusion => confusion(done, corpus),
        Breakdown::Buckets => done.buckets.map(|buckets| bucket_text(&buckets)).unwrap_or_default(),
        Breakdown::Tasks => {
            let tasks = done.tasks.unwrap_or_default();
            let rows = [("NEH", tasks.first_words), ("SP", Some(tasks.spans)), ("NEH + SP", tasks.both)];
            let mut table = Table::new(["task", "P", "R", "F1", "gold", "predicted", "right", "samples"]);
            for (name, task) in rows.into_iter().filter_map(|(name, task)| Some((name, task?))) {
                table.row(name, cells(task.counts).into_iter().chain([task.samples.to_string()]));
            }
            format!("{table}{}", trained_on(done.trained_on))
        }
        Breakdown::Scores => confidence::text_of_scores(done, corpus),
        Breakdown::Calibration => confidence::text_of_calibration(done),
        Breakdown::Vectors => span_vectors::text_of_vectors(done),
        Breakdown::Similarity => span_vectors::text_of_similarity(done),
    }
}

/// What an epoch of the training was made from (SmartSpanNER, Table 11).
fn samples(of: Samples) -> Value {
    let counts = |counts: SampleCounts| json!({ "positive": counts.positive, "negative": counts.negative });
    json!({ "neh": counts(of.first_words), "span": counts(of.spans), "words": counts(of.words) })
}

fn trained_on(of: Samples) -> String {
    let rows = [("heads", of.first_words), ("spans", of.spans), ("words", of.words)];
    let rows = rows.into_iter().filter(|(_, counts)| *counts != SampleCounts::default());
    let of = |(name, counts): (&str, SampleCounts)| {
        format!("{name} {} positive, {} negative", grouped(counts.positive), grouped(counts.negative))
    };
    let parts: Vec<String> = rows.map(of).collect();
    if parts.is_empty() { String::new() } else { format!("samples of a training epoch: {}\n", parts.join("; ")) }
}

/// Shares of all that is wrong (Win-Win Cooperation, Eq. 24): predictions whose boundaries alone are wrong, and whose label is.
fn rates(micro: Counts, predicted: ErrorKinds) -> Value {
    let all = micro.false_positives + micro.false_negatives;
    let share = |count: usize| (all > 0).then(|| count as f64 / all as f64);
    json!({ "boundary": share(predicted.wrong_boundaries), "type": share(predicted.wrong_label) })
}

/// Of each label how many of the given mentions that have it got it.
fn accuracies(done: &EvaluateReport, corpus: &Corpus) -> String {
    let mut table = Table::new(["label", "accuracy", "right", "given"]);
    for (id, counts) in &done.report.labels {
        let cells = [score(counts.recall()), counts.true_positives.to_string(), counts.support().to_string()];
        table.row(name(*id, corpus), cells);
    }
    table.to_string()
}

/// A row for each gold label, a column for each predicted one.
fn confusion(done: &EvaluateReport, corpus: &Corpus) -> String {
    let labels = done.report.labels.keys().copied().map(Some).chain([None]);
    let labels: Vec<Option<LabelId>> = labels.collect();
    let title = |label: Option<LabelId>| label.map_or("none", |label| name(label, corpus)).to_owned();
    let mut table = Table::new(["gold, predicted as".to_owned()].into_iter().chain(labels.iter().map(|l| title(*l))));
    for gold in &labels {
        let count = |predicted: &Option<LabelId>| match done.analyses.confusion.count(*gold, *predicted) {
            0 => "-".to_owned(),
            count => count.to_string(),
        };
        table.row(&title(*gold), labels.iter().map(count));
    }
    table.to_string()
}

/// Each row under its name.
pub(super) fn object(rows: impl IntoIterator<Item = (&'static str, Counts)>) -> Value {
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

fn scores<'a>(of: &str, rows: impl IntoIterator<Item = (&'a str, Counts)>) -> String {
    let mut table = Table::new([of, "P", "R", "F1", "gold", "predicted", "right"]);
    rows.into_iter().for_each(|(name, counts)| table.row(name, cells(counts)));
    table.to_string()
}

fn cells(of: impl Into<PartialCounts>) -> [String; 6] {
    let c: PartialCounts = of.into();
    let [gold, predicted, right] = [c.support(), c.predicted(), c.equal].map(|n| n.to_string());
    [score(c.precision()), score(c.recall()), score(c.f1()), gold, predicted, right]
}

fn matches(strict: Counts, matches: Matches) -> String {
    let mut table = Table::new(["match", "P", "R", "F1", "gold", "predicted", "right", "half"]);
    table.row("strict", cells(strict));
    table.row("exact", cells(matches.exact));
    let partial = matches.partial;
    table.row("partial", cells(partial).into_iter().chain([partial.overlapping.to_string()]));
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
    for (property, bucketed) in buckets.properties() {
        for (size, counts) in bucketed.iter().flat_map(Bucketed::rows) {
            table.row(&format!("{property} {size}"), cells(counts));
        }
    }
    match buckets.label_consistency {
        Some(_) => table.to_string(),
        None => format!("{table}no eCon: there is no mention in the training sentences\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::{LabelId, Span};
    use crate::evaluation::{Analyses, Consistency, Judged, Report, Tasks};
    use expect_test::{Expect, expect};

    /// In 0..6 lie 2..6 and 4..5, all of label 1. Found: the middle one; the inner one with label 2, the outer one
    /// without its first word, and its first two words; and 8..9, which is nothing.
    fn done() -> EvaluateReport {
        let words = vec!["word".to_owned(); 10];
        let mention = |s, e, label| (Span::from_range(s..e).unwrap(), LabelId(label));
        let gold = [mention(0, 6, 1), mention(2, 6, 1), mention(4, 5, 1)];
        let predicted =
            [(0, 2, 1), (1, 6, 1), (2, 6, 1), (4, 5, 2), (8, 9, 1)].map(|(s, e, label)| mention(s, e, label));
        let judged = [Judged { words: &words, gold: &gold, predicted: &predicted, first_words: None, candidates: 55 }];
        EvaluateReport {
            report: Report::strict(&[], judged),
            analyses: Analyses::of(&judged),
            tasks: Some(Tasks::of(judged, judged)),
            buckets: Some(Buckets::of(judged, &Consistency::default())),
            ..EvaluateReport::nothing()
        }
    }

    fn check(by: Breakdown, json: &Expect, text: &Expect) {
        let done = done();
        let said: Vec<String> =
            json_of(by, &done, &Corpus::default()).iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        json.assert_eq(&said.concat());
        text.assert_eq(&text_of(by, &done, &Corpus::default()));
    }

    #[test]
    fn every_count_is_under_its_name() {
        check(
            Breakdown::Matches,
            &expect![[r#"
                exact: {"f1":0.5,"fn":1,"fp":3,"precision":0.4,"recall":0.6666666666666666,"tp":2}
                partial: {"f1":0.625,"fn":0,"fp":2,"partial":1,"precision":0.5,"recall":0.8333333333333334,"tp":2}
                type: {"f1":0.75,"fn":0,"fp":2,"precision":0.6,"recall":1.0,"tp":3}
            "#]],
            &expect![[r#"
                match         P       R      F1  gold  predicted  right  half
                strict   0.2000  0.3333  0.2500     3          5      1
                exact    0.4000  0.6667  0.5000     3          5      2
                partial  0.5000  0.8333  0.6250     3          5      2     1
                type     0.6000  1.0000  0.7500     3          5      3
            "#]],
        );
        check(
            Breakdown::Nesting,
            &expect![[r#"
                nesting: {"both":{"f1":0.6666666666666666,"fn":0,"fp":1,"precision":0.5,"recall":1.0,"tp":1},"covering":{"f1":0.5,"fn":1,"fp":1,"precision":0.5,"recall":0.5,"tp":1},"flat":{"f1":0.0,"fn":0,"fp":1,"precision":0.0,"recall":null,"tp":0},"nested":{"f1":0.3333333333333333,"fn":1,"fp":3,"precision":0.25,"recall":0.5,"tp":1}}
            "#]],
            &expect![[r#"
                nesting        P       R      F1  gold  predicted  right
                nested    0.2500  0.5000  0.3333     2          4      1
                covering  0.5000  0.5000  0.5000     2          2      1
                both      0.5000  1.0000  0.6667     1          2      1
                flat      0.0000       -  0.0000     0          1      0
                nested and covering hold those that are both
            "#]],
        );
        check(
            Breakdown::Errors,
            &expect![[r#"
                errors: {"fn":{"both":0,"boundary":1,"missed":0,"type":1},"fp":{"both":0,"boundary":2,"spurious":1,"type":1},"rates":{"boundary":0.3333333333333333,"type":0.16666666666666666}}
            "#]],
            &expect![[r#"
                wrong                   false positives  false negatives
                label                                 1                1
                boundaries                            2                1
                both                                  0                0
                all (spurious, missed)                1                0
                together                              4                2
            "#]],
        );
        check(
            Breakdown::Tasks,
            &expect![[r#"
                tasks: {"neh":null,"neh_sp":null,"sp":{"f1":0.25,"fn":2,"fp":4,"precision":0.2,"recall":0.3333333333333333,"samples":55,"tp":1},"trained_on":{"neh":{"negative":0,"positive":0},"span":{"negative":0,"positive":0},"words":{"negative":0,"positive":0}}}
            "#]],
            &expect![[r#"
                task       P       R      F1  gold  predicted  right  samples
                SP    0.2000  0.3333  0.2500     3          5      1       55
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_said_is_null_or_said_not_to_be_there() {
        let done = done();
        let buckets = json_of(Breakdown::Buckets, &done, &Corpus::default());
        assert!(buckets.iter().all(|(_, value)| value["eCon"].is_null() && value["eDen"].is_object()));
        assert!(text_of(Breakdown::Buckets, &done, &Corpus::default()).contains("no eCon: there is no mention"));
        let lengths = json_of(Breakdown::Length, &done, &Corpus::default());
        assert!(lengths.iter().all(|(_, value)| value["3"]["f1"].is_null() && value["4"]["f1"] == 1.0), "{lengths:?}");
    }
}
