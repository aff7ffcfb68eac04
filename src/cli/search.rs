//! `nestling search`

use super::CliError;
use super::args::Search;
use super::json::place;
use super::output::{Ending, answer};
use crate::annotation::Sentence;
use crate::session::{Home, Project};
use serde_json::json;

pub(super) fn run(args: &Search) -> Result<Ending, CliError> {
    let project = Project::open_to_read(&Home::find(), &args.project)?;
    let ids = project.search_now(&args.query)?;
    let corpus = project.corpus();
    let place = |s: &Sentence| place(corpus, s.id());
    let shown: Vec<_> = ids.iter().take(args.limit).filter_map(|id| corpus.sentence(*id)).collect();
    let sentences = shown.iter().filter_map(|s| {
        let (document, number) = place(s)?;
        let (text, status) = (corpus.sentence_text(s), s.status().id());
        Some(json!({ "document": document, "sentence": number, "text": text, "status": status }))
    });
    let json = json!({ "query": args.query, "found": ids.len(), "sentences": sentences.collect::<Vec<_>>() });
    let mut lines: Vec<String> = Vec::with_capacity(shown.len() + 1);
    for s in &shown {
        let (document, number) = place(s).unwrap_or_default();
        lines.push(format!("{document}, sentence {number}: {}", corpus.sentence_text(s).replace(['\r', '\n'], " ")));
    }
    lines.push(match ids.len() {
        0 => "Nothing found".to_owned(),
        all if all > shown.len() => format!("{all} sentences, the first {} shown (--limit shows more)", shown.len()),
        all => format!("{all} sentences"),
    });
    answer(args.common, &json, &lines.join("\n"))?;
    project.close()?;
    Ok(Ending::Whole)
}
