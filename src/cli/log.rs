//! `nestling log`

use super::CliError;
use super::args::Log;
use super::json::place;
use super::output::{Ending, answer, open_to_read};
use crate::session::LogLine;
use crate::wording::{one_line, utc};
use serde_json::json;

pub(super) fn run(args: &Log) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let lines = project.history_now(args.limit, None)?;
    let place = |line: &LogLine| line.sentence.and_then(|id| place(project.corpus(), id)).unzip();
    let rows = lines.iter().map(|line| {
        let (document, sentence) = place(line);
        json!({
            "number": line.number,
            "time_ms": line.time_ms,
            "author": line.author,
            "step": line.step,
            "what": line.intent,
            "document": document,
            "sentence": sentence,
        })
    });
    let json = json!({ "entries": rows.collect::<Vec<_>>() });
    let text = lines.iter().map(|line| {
        let at = match place(line) {
            (Some(document), Some(sentence)) => format!("  {document}, sentence {sentence}"),
            _ => String::new(),
        };
        format!("{}\n", one_line(&format!("{}  {}  {}{at}", utc(line.time_ms), line.author, line.in_words())))
    });
    let text: String = text.collect();
    let text = if text.is_empty() { "No changes yet".to_owned() } else { text };
    answer(args.common, &json, text.trim_end())?;
    Ok(Ending::Whole)
}
