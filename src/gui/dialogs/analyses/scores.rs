//! The sheets of scores: by label, length, nesting and kind of match, and of the two tasks of a model that predicts
//! first words.

use super::analysed::{Analysed, OfModel};
use super::sheet::{Figure, Head, Sheet, SheetRow, score_figures, score_heads};
use crate::annotation::{LabelId, LabelSet, Rgb};
use crate::evaluation::{Counts, PartialCounts, Task};

/// Of all labels together and of each.
pub(super) fn by_label(analysed: &Analysed, labels: &LabelSet) -> Sheet {
    let of_label =
        |model: &OfModel, label: LabelId| model.report.report.labels.get(&label).copied().unwrap_or_default();
    let second = analysed.second.as_ref();
    let known = analysed.first.report.report.labels.keys().copied();
    let each = known.map(|id| {
        let (name, color) = name_and_color(labels, id);
        row(name, color, (of_label(&analysed.first, id), second.map(|second| of_label(second, id))))
    });
    let all = (analysed.first.report.report.micro, second.map(|second| second.report.report.micro));
    let rows = std::iter::once(row("all labels".to_owned(), None, all)).chain(each).collect();
    sheet(analysed, "Scores by label", "Label", rows)
}

/// Of a model that labels given words how many labels are right.
pub(super) fn accuracies(analysed: &Analysed, labels: &LabelSet) -> Sheet {
    let row = |name: String, color, accuracy, counts: Counts| SheetRow {
        name,
        color,
        figures: vec![Figure::Share(accuracy), Figure::Count(counts.true_positives), Figure::Count(counts.support())],
    };
    let report = &analysed.first.report.report;
    let all = row("all labels".to_owned(), None, report.accuracy(), report.micro);
    let each = report.labels.iter().map(|(id, counts)| {
        let (name, color) = name_and_color(labels, *id);
        row(name, color, counts.recall(), *counts)
    });
    let heads = vec![
        Head::new("Accuracy", "share of the given mentions whose label is right, in percent"),
        Head::new("Right", ""),
        Head::new("Given", "gold mentions, whose words the model was given"),
    ];
    Sheet { title: "Accuracy by label", first: "Label", heads, rows: std::iter::once(all).chain(each).collect() }
}

/// Of a label, which may be gone by now.
pub(super) fn name_and_color(labels: &LabelSet, id: LabelId) -> (String, Option<Rgb>) {
    match labels.get(id) {
        Some(label) => (label.display_name().to_owned(), Some(label.color)),
        None => ("a deleted label".to_owned(), None),
    }
}

pub(super) fn by_length(analysed: &Analysed) -> Sheet {
    let second = analysed.second.as_ref().map(|second| second.report.analyses.lengths);
    let others = second.iter().flat_map(|lengths| lengths.rows()).map(|(_, counts)| Some(counts));
    let others = others.chain(std::iter::repeat(None));
    let rows = analysed.first.report.analyses.lengths.rows().zip(others);
    let rows = rows.map(|((name, counts), other)| row(words(name), None, (counts, other)));
    sheet(analysed, "Scores by length", "Words of the mention", rows.collect())
}

fn words(name: &str) -> String {
    if name == "1" { "1 word".to_owned() } else { format!("{name} words") }
}

pub(super) fn by_nesting(analysed: &Analysed) -> Sheet {
    let groups = |model: &OfModel| model.report.analyses.nesting.rows().map(|(_, counts)| counts);
    let names = [
        "nested: inside a mention that holds others",
        "covering: around a mention inside others",
        "both",
        "flat: neither",
    ];
    let others = analysed.second.as_ref().map(|second| groups(second).map(Some)).unwrap_or_default();
    let counts = groups(&analysed.first).into_iter().zip(others);
    let rows = names.into_iter().zip(counts).map(|(name, counts)| row(name.to_owned(), None, counts));
    sheet(analysed, "Scores by nesting", "Group", rows.collect())
}

/// Strict, and with what forgives a wrong label or wrong boundaries.
pub(super) fn by_match(analysed: &Analysed) -> Sheet {
    let of = |model: &OfModel| {
        let matches = model.report.analyses.matches;
        [model.report.report.micro, matches.exact, matches.same_label]
    };
    let second = analysed.second.as_ref();
    let others = second.map(of).map(|counts| counts.map(Some)).unwrap_or_default();
    let names = ["strict: boundaries and label", "exact: boundaries", "type: an overlap and the label"];
    let counts = of(&analysed.first).into_iter().zip(others);
    let mut rows: Vec<SheetRow> =
        names.iter().zip(counts).map(|(name, counts)| row((*name).to_owned(), None, counts)).collect();
    let half = |model: &OfModel| model.report.analyses.matches.partial;
    let counts = (half(&analysed.first), second.map(half));
    rows.push(row("partial: boundaries, an overlap counts half".to_owned(), None, counts));
    sheet(analysed, "Scores by kind of match", "What counts as right", rows)
}

/// NEH, SP and both, each with its samples; `None` where they were not scored.
pub(super) fn by_task(analysed: &Analysed) -> Option<Sheet> {
    let first = analysed.first.report.tasks?;
    let second = analysed.second.as_ref().and_then(|second| second.report.tasks);
    let tasks = [
        ("NEH: words that begin mentions", first.first_words, second.and_then(|tasks| tasks.first_words)),
        ("SP: all spans", Some(first.spans), second.map(|tasks| tasks.spans)),
        ("NEH + SP: spans from such words", first.both, second.and_then(|tasks| tasks.both)),
    ];
    let with_second = second.is_some();
    let rows = tasks.into_iter().filter_map(|(name, task, other)| {
        let Task { counts, samples } = task?;
        let mut figures = score_figures(counts, None);
        figures.push(Figure::Count(samples));
        if with_second {
            figures.push(Figure::Share(other.and_then(|other| other.counts.f1())));
            figures.push(Figure::Difference(other.and_then(|other| counts.f1_above(other.counts))));
            figures.push(Figure::Count(other.map_or(0, |other| other.samples)));
        }
        Some(SheetRow { name: name.to_owned(), color: None, figures })
    });
    let rows = rows.collect();
    let mut heads = score_heads(None);
    heads.push(Head::new("Samples", "words or spans that the model was asked about"));
    if let Some(second) = analysed.second.as_ref().filter(|_| with_second) {
        heads.extend(score_heads(Some(&second.name)).into_iter().skip(6));
        heads.push(Head::new(format!("Samples, {}", second.name), "those of the model compared with"));
    }
    Some(Sheet { title: "Scores by task", first: "Task", heads, rows })
}

fn row<C: Into<PartialCounts>>(name: String, color: Option<Rgb>, (first, second): (C, Option<C>)) -> SheetRow {
    SheetRow { name, color, figures: score_figures(first, second) }
}

fn sheet(analysed: &Analysed, title: &'static str, first: &'static str, rows: Vec<SheetRow>) -> Sheet {
    Sheet { title, first, heads: score_heads(analysed.second.as_ref().map(|second| second.name.as_str())), rows }
}
