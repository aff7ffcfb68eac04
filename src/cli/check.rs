//! `nestling check`

use super::CliError;
use super::args::Check;
use super::output::{Ending, answer, say};
use crate::session::{check_project, rescue_project};
use crate::wording::counted;
use serde_json::json;

pub(super) fn run(args: &Check) -> Result<Ending, CliError> {
    let report = check_project(&args.project)?;
    let is_sound = report.problems.is_empty();
    let rescued = if args.repair && !is_sound { Some(rescue_project(&args.project)?) } else { None };
    let json = json!({
        "project": args.project,
        "sound": is_sound,
        "problems": report.problems,
        "notes": report.notes,
        "documents": report.documents,
        "sentences": report.sentences,
        "tokens": report.tokens,
        "mentions": report.mentions,
        "models": report.models,
        "rescued": rescued.as_ref().map(|r| json!({
            "path": r.path,
            "documents": r.documents,
            "sentences": r.sentences,
            "mentions": r.mentions,
            "lost": r.lost,
        })),
    });
    if !args.common.json {
        report.notes.iter().for_each(|note| say(&format!("note: {note}")));
        report.problems.iter().for_each(|problem| say(&format!("problem: {problem}")));
        rescued.iter().flat_map(|r| &r.lost).for_each(|line| say(&format!("not recovered: {line}")));
    }
    let text = match (&rescued, is_sound) {
        (Some(r), _) => format!(
            "Rescued {}, {}, {} into {}; the damaged project was not changed",
            counted(r.documents, "document", "documents"),
            counted(r.sentences, "sentence", "sentences"),
            counted(r.mentions, "mention", "mentions"),
            r.path.display()
        ),
        (None, true) => format!(
            "Sound: {}, {}, {}, {}, {}",
            counted(report.documents, "document", "documents"),
            counted(report.sentences, "sentence", "sentences"),
            counted(report.tokens, "token", "tokens"),
            counted(report.mentions, "mention", "mentions"),
            counted(report.models, "model", "models")
        ),
        (None, false) => format!(
            "{}; `nestling check --repair` reads what can be read into a new project",
            counted(report.problems.len(), "problem", "problems")
        ),
    };
    answer(args.common, &json, &text)?;
    Ok(if is_sound { Ending::Whole } else { Ending::WithLosses })
}
