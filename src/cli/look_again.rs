//! `nestling look-again`

use super::CliError;
use super::args::LookAgain;
use super::json::{located, place};
use super::output::{Ending, Progress, answer, open_to_read, stop_flag};
use super::train::tell as tell_training;
use crate::annotation::LabelId;
use crate::session::{Config, Finding, LookAgainRequest, TrainEvent, doubt_in_words};
use crate::wording::one_line;
use serde_json::json;

pub(super) fn run(args: &LookAgain) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let mut config: Config = project.settings().config();
    args.tuning.apply([], &mut config)?;
    if args.folds == 1 {
        let message = "one fold leaves nothing to learn from; --folds takes 0 or at least 2".to_owned();
        return Err(CliError::Usage { message });
    }
    let request = LookAgainRequest { folds: args.folds, config };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let mut at = usize::MAX;
    let found = project.look_again_now(&request, &cancel, &mut |fold, event| {
        if fold != at {
            at = fold;
            progress.note(&format!(
                "model {} of {}, which does not see the sentences it is asked about",
                fold + 1,
                args.folds
            ));
        }
        if matches!(event, TrainEvent::Progress { .. }) {
            tell_training(&mut progress, event);
        }
    });
    drop(progress);
    let mut found = found?;
    let all = found.len();
    found.truncate(args.limit);
    let corpus = project.corpus();
    let name = |label: LabelId| corpus.labels().get(label).map_or("?", |l| l.name.as_str());
    let words = |f: &Finding| corpus.sentence(f.sentence).map_or("", |s| corpus.span_text(s, f.span));
    let text_of = |f: &Finding| corpus.sentence(f.sentence).map_or("", |s| corpus.sentence_text(s));
    let rows = found.iter().map(|f| {
        let (document, number) = place(corpus, f.sentence).unzip();
        json!({
            "document": document,
            "sentence": number,
            "id": f.sentence.0,
            "start": f.span.start().get(),
            "end": f.span.end().get(),
            "words": words(f),
            "label": name(f.label),
            "why": doubt_in_words(f, corpus.labels()),
            "weight": f.weight,
            "text": text_of(f),
        })
    });
    let json = json!({ "findings": rows.collect::<Vec<_>>(), "all": all });
    let lines = found.iter().map(|f| {
        let (words, label) = (words(f).replace('\n', " "), name(f.label));
        let (doubt, sentence) = (doubt_in_words(f, corpus.labels()), located(corpus, f.sentence));
        let doubted = format!("{:.2}  {words:?} {label}: {doubt}", f.weight);
        format!("{}\n      {sentence}\n", one_line(&doubted))
    });
    let mut text: String = lines.collect();
    if all > found.len() {
        text.push_str(&format!("… and {} more; see --limit", all - found.len()));
    } else if all == 0 {
        "Nothing stands out.".clone_into(&mut text);
    }
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}
