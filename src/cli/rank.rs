//! `nestling rank`

use super::CliError;
use super::args::Rank;
use super::json::{located, place};
use super::output::{Ending, Progress, answer, open_to_read, stop_flag};
use super::table::Table;
use crate::session::{Choice, RankRequest, SessionError, Strategy, Why};
use serde_json::json;

pub(super) fn run(args: &Rank) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let strategy = match &args.strategy {
        Some(id) => id.parse::<Strategy>().map_err(SessionError::from)?,
        None => project.settings().strategy,
    };
    let request = RankRequest { strategy, count: args.limit, seed: args.seed, threads: args.threads };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let choices = project.rank_now(request, &cancel, &mut |done, total| progress.show(done, total, "sentences scored"));
    drop(progress);
    let choices = choices?;
    let corpus = project.corpus();
    let text_of = |choice: &Choice| corpus.sentence(choice.id).map_or("", |s| corpus.sentence_text(s));
    let rows: Vec<_> = choices
        .iter()
        .map(|choice| {
            let (document, number) = place(corpus, choice.id).unzip();
            json!({
                "document": document,
                "sentence": number,
                "id": choice.id.0,
                "score": choice.score,
                "why": why(choice.why),
                "text": text_of(choice),
            })
        })
        .collect();
    let json = json!({ "strategy": strategy.to_string(), "sentences": rows });
    let mut table = Table::new(["why", "score", "sentence"]).ending_in_text();
    for choice in &choices {
        let score = choice.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}"));
        table.row(why(choice.why), [score, located(corpus, choice.id)]);
    }
    let text = match choices.is_empty() {
        true if args.limit > 0 => "No sentence is open: all are complete or skipped.".to_owned(),
        true => String::new(),
        false => table.to_string(),
    };
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

fn why(why: Why) -> &'static str {
    match why {
        Why::Score => "score",
        Why::Random => "random",
        Why::Order => "order",
        Why::Words => "words",
    }
}
