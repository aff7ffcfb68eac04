//! `nestling info`

use super::CliError;
use super::args::Info;
use super::output::{Ending, answer, open_to_read};
use crate::model::{OptionDefault, OptionSpec};
use crate::parameter;
use crate::session::{Driver, Settings};
use crate::wording::{counted, one_line};
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) fn run(args: &Info) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let counts = project.counts();
    let current = project.current_model();
    let mentions = |id| counts.mentions_by_label.get(&id).copied().unwrap_or(0);
    let labels = project.corpus().labels().iter();
    let labels = labels.map(|l| {
        json!({ "name": l.name, "title": l.title, "color": l.color.to_hex(), "key": l.key, "mentions": mentions(l.id) })
    });
    let models = project.models().map(|m| {
        json!({
            "id": m.id.0,
            "current": Some(m.id) == current,
            "architecture": m.architecture,
            "encoder": m.encoder,
            "train_sentences": m.train_sentences,
            "dev_f1": m.dev_f1,
            "dev_accuracy": m.dev_accuracy,
            "created_ms": m.created_ms,
            "snapshot": project.snapshot(m.id),
        })
    });
    let json = json!({
        "project": args.project,
        "documents": counts.documents,
        "sentences": counts.sentences,
        "tokens": counts.tokens,
        "mentions": counts.mentions,
        "statuses": {
            "untouched": counts.untouched,
            "in_progress": counts.in_progress,
            "complete": counts.complete,
            "skipped": counts.skipped,
            "flagged": counts.flagged,
        },
        "splits": {
            "train": counts.train,
            "dev": counts.dev,
            "dev_all": counts.dev_all,
            "test": counts.test,
            "test_complete": counts.test_complete,
            "blind": counts.blind,
            "blind_complete": counts.blind_complete,
            "pool": counts.pool,
        },
        "labels": labels.collect::<Vec<_>>(),
        "encoder": project.settings().encoder,
        "architecture": project.settings().architecture,
        "options": options(project.settings()),
        "models": models.collect::<Vec<_>>(),
        "unfinished_training": project.interrupted().map(|kept| json!({
            "architecture": kept.settings.architecture,
            "encoder": kept.settings.encoder,
            "train_sentences": kept.train_sentences,
            "step": kept.step,
            "steps": kept.steps,
        })),
    });
    let text = text(&project);
    project.close()?;
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

/// Each option of the architecture of the next model: its value, or how it is decided.
fn options(settings: &Settings) -> Map<String, Value> {
    let value = |spec: &OptionSpec, set: Option<parameter::Value>| match (set, spec.default) {
        (Some(value), _) | (None, OptionDefault::Fixed(value)) => value.to_json(),
        (None, OptionDefault::Auto(..)) => spec.default_text().into(),
    };
    settings.architecture_options().map(|(spec, set)| (spec.name.to_owned(), value(spec, set))).collect()
}

/// The architecture of the next model, with what is set about it: "smartspanner, w=0.4".
fn architecture(settings: &Settings) -> String {
    let set = settings.architecture_options().filter_map(|(spec, set)| Some(format!(", {}={}", spec.name, set?)));
    std::iter::once(one_line(&settings.architecture).into_owned()).chain(set).collect()
}

/// "40 dev", or with open ones among them "40 dev (12 complete)".
fn split(all: usize, name: &str, complete: usize) -> String {
    if complete == all { format!("{all} {name}") } else { format!("{all} {name} ({complete} complete)") }
}

fn text(project: &Driver) -> String {
    let c = project.counts();
    let mut text = format!(
        "{}: {}, {}, {}, {}\n\
         status: {} complete, {} in progress, {} untouched, {} skipped, {} flagged\n\
         splits: {} train, {}, {}, {}, {} pool\n\
         encoder: {}\n\
         architecture: {}\n",
        one_line(&project.name()),
        counted(c.documents, "document", "documents"),
        counted(c.sentences, "sentence", "sentences"),
        counted(c.tokens, "token", "tokens"),
        counted(c.mentions, "mention", "mentions"),
        c.complete,
        c.in_progress,
        c.untouched,
        c.skipped,
        c.flagged,
        c.train,
        split(c.dev_all, "dev", c.dev),
        split(c.test, "test", c.test_complete),
        split(c.blind, "blind", c.blind_complete),
        c.pool,
        one_line(&project.settings().encoder),
        architecture(project.settings()),
    );
    for label in project.corpus().labels().iter() {
        let mentions = c.mentions_by_label.get(&label.id).copied().unwrap_or(0);
        let key = label.key.map(|k| format!(" [{k}]")).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = writeln!(text, "label {}{key}: {}", one_line(&label.name), counted(mentions, "mention", "mentions"));
    }
    for m in project.models() {
        let (figure, value) =
            if m.labels_given() { ("accuracy on given spans of dev", m.dev_accuracy) } else { ("dev F1", m.dev_f1) };
        let dev = value.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.4}"));
        let mark = if Some(m.id) == project.current_model() { ", current" } else { "" };
        let _ = writeln!(
            text,
            "model {}: {} on {}, {}, {figure} {dev}{mark}",
            m.id,
            m.architecture,
            m.encoder,
            counted(m.train_sentences, "sentence", "sentences")
        );
    }
    if let Some(kept) = project.interrupted() {
        let _ = writeln!(
            text,
            "unfinished: a training on {}, kept up to step {} of {}; unless it is running elsewhere, \
             `nestling train PROJECT --resume` continues it",
            counted(kept.train_sentences, "sentence", "sentences"),
            kept.step,
            kept.steps
        );
    }
    text
}
