//! The JSON that others rely on. Keys are only ever added.

use crate::annotation::{Corpus, LabelId, ModelId, SentenceId};
use crate::evaluation::{Counts, Report};
use crate::session::{Loss, Warning};
use crate::wording::one_line;
use serde_json::{Map, Value, json};

/// `{"precision":p,"recall":r,"f1":f,"tp":n,"fp":n,"fn":n}`; `null` where there is nothing to divide.
pub(super) fn counts(counts: Counts) -> Value {
    json!({
        "precision": counts.precision(),
        "recall": counts.recall(),
        "f1": counts.f1(),
        "tp": counts.true_positives,
        "fp": counts.false_positives,
        "fn": counts.false_negatives,
    })
}

/// `{"micro":{…},"labels":{"PER":{…}}}`, labels by their names.
pub(super) fn strict(report: &Report, corpus: &Corpus) -> Value {
    let labels = report.labels.iter().filter_map(|(id, c)| Some((corpus.labels().get(*id)?.name.clone(), counts(*c))));
    json!({ "micro": counts(report.micro), "labels": labels.collect::<Map<_, _>>() })
}

/// `{"accuracy":a,"right":n,"given":n}`; `null` where there is nothing to divide. Of a label: the mentions that have it.
fn accuracy(right: usize, given: usize) -> Map<String, Value> {
    let accuracy = (given > 0).then(|| right as f64 / given as f64);
    let keys = [("accuracy", json!(accuracy)), ("right", right.into()), ("given", given.into())];
    keys.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

/// A model's number, or "names" for what an encoder finds without one.
pub(super) fn model(id: ModelId) -> Value {
    if id == ModelId::NAMES { id.to_string().into() } else { id.0.into() }
}

/// The scores of a split, as `evaluate` and the `dev` of `train` have them. A model that labels given words has an accuracy
/// and no strict scores.
pub(super) fn evaluation(split: &str, id: ModelId, report: &Report, corpus: &Corpus) -> Value {
    let model = model(id);
    if report.labels_given {
        let Counts { true_positives, false_positives, .. } = report.micro;
        let mut scores = accuracy(true_positives, true_positives + false_positives);
        let of = |c: &Counts| Value::Object(accuracy(c.true_positives, c.support()));
        let labels = report.labels.iter().filter_map(|(id, c)| Some((corpus.labels().get(*id)?.name.clone(), of(c))));
        let labels = Value::Object(labels.collect());
        let keys =
            [("split", split.into()), ("sentences", report.sentences.into()), ("model", model), ("labels", labels)];
        scores.extend(keys.map(|(key, value)| (key.to_owned(), value)));
        return Value::Object(scores);
    }
    json!({
        "split": split,
        "sentences": report.sentences,
        "model": model,
        "strict": strict(report, corpus),
        "neh": report.first_words.map(counts),
    })
}

/// The name of a label; `?` of one that was deleted since.
pub(super) fn name(label: LabelId, corpus: &Corpus) -> &str {
    corpus.labels().get(label).map_or("?", |label| label.name.as_str())
}

/// The document of a sentence by its name, and which sentence of it, counted from 1.
pub(super) fn place(corpus: &Corpus, id: SentenceId) -> Option<(&str, usize)> {
    let (document, at) = corpus.place_in_document(id)?;
    Some((document.name.as_str(), at + 1))
}

/// `DOCUMENT, sentence N: TEXT`, on one line.
pub(super) fn located(corpus: &Corpus, id: SentenceId) -> String {
    let (document, number) = place(corpus, id).unwrap_or_default();
    let text = corpus.sentence(id).map_or("", |s| corpus.sentence_text(s)).replace(['\r', '\n'], " ");
    one_line(&format!("{document}, sentence {number}: {text}")).into_owned()
}

pub(super) fn warnings(warnings: &[Warning]) -> Value {
    warnings.iter().map(|w| json!({ "file": w.file, "line": w.line, "message": w.message })).collect()
}

pub(super) fn losses(losses: &[Loss]) -> Value {
    let loss = |loss: &Loss| {
        json!({
            "document": loss.document,
            "sentence": loss.sentence,
            "words": loss.words,
            "label": loss.label,
            "message": loss.kind.meaning(),
        })
    };
    losses.iter().map(loss).collect()
}

/// The scores of a model in a line: P, R and F1, or the accuracy of one that labels given words.
pub(super) fn in_a_line(report: &Report) -> String {
    match report.labels_given {
        true => format!("accuracy on given spans {}", score(report.accuracy())),
        false => scores(report.micro),
    }
}

/// `P 0.7120  R 0.6400  F1 0.6741`, or dashes where there is nothing to divide.
pub(super) fn scores(counts: Counts) -> String {
    format!("P {}  R {}  F1 {}", score(counts.precision()), score(counts.recall()), score(counts.f1()))
}

pub(super) fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| format!("{score:.4}"))
}

/// A rate; `null` where no time went by.
pub(super) fn rate(amount: f64, secs: f64) -> Option<f64> {
    (secs > 0.0).then(|| amount / secs)
}
