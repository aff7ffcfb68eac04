//! `nestling search`

use super::CliError;
use super::args::Search;
use super::json::{located, place};
use super::output::{Ending, answer, open_to_read};
use crate::wording::counted;
use serde_json::json;

pub(super) fn run(args: &Search) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let ids = project.search_now(&args.query)?;
    let corpus = project.corpus();
    let shown: Vec<_> = ids.iter().take(args.limit).filter_map(|id| corpus.sentence(*id)).collect();
    let sentences = shown.iter().filter_map(|s| {
        let (document, number) = place(corpus, s.id())?;
        let (text, status) = (corpus.sentence_text(s), s.status().id());
        Some(json!({ "document": document, "sentence": number, "text": text, "status": status }))
    });
    let json = json!({ "query": args.query, "found": ids.len(), "sentences": sentences.collect::<Vec<_>>() });
    let mut lines: Vec<String> = Vec::with_capacity(shown.len() + 1);
    lines.extend(shown.iter().map(|s| located(corpus, s.id())));
    lines.push(match ids.len() {
        0 => "Nothing found".to_owned(),
        all if all > shown.len() => {
            format!("{}, the first {} shown (--limit shows more)", counted(all, "sentence", "sentences"), shown.len())
        }
        all => counted(all, "sentence", "sentences"),
    });
    answer(args.common, &json, &lines.join("\n"))?;
    project.close()?;
    Ok(Ending::Whole)
}
