//! `nestling evaluate`

use super::analyses::{json_of, text_of};
use super::args::{By, Evaluate};
use super::output::{Ending, answer, open_to_read, stop_flag};
use super::predict::model_id;
use super::{CliError, json as fields};
use crate::session::EvaluateRequest;
use crate::wording::counted;

pub(super) fn run(args: &Evaluate) -> Result<Ending, CliError> {
    let model = args.model.as_deref().map(model_id).transpose()?;
    let project = open_to_read(&args.project)?;
    let cancel = stop_flag();
    let request = EvaluateRequest {
        model,
        threads: args.threads,
        tasks: args.by.contains(&By::Tasks),
        buckets: args.by.contains(&By::Buckets),
        ..EvaluateRequest::of(args.split.part())
    };
    let done = project.evaluate_now(request, &cancel)?;
    if done.report.labels_given && args.by.iter().any(|by| *by != By::Label) {
        let message = format!(
            "model {} labels given words and finds no mentions, so it has scores by label only; leave out --by, or name another model",
            done.model
        );
        return Err(CliError::Usage { message });
    }
    let mut json = fields::evaluation(args.split.name(), done.model.0, &done.report, project.corpus());
    if let serde_json::Value::Object(object) = &mut json {
        object.insert("wall_secs".to_owned(), done.wall_secs.into());
        object.insert("discontinuous_mentions".to_owned(), done.discontinuous_mentions.into());
        let parts = args.by.iter().flat_map(|by| json_of(*by, &done, project.corpus()));
        object.extend(parts.map(|(key, value)| (key.to_owned(), value)));
    }
    let mut text = format!(
        "Model {} on {} ({}): {}\n",
        done.model,
        args.split.name(),
        counted(done.report.sentences, "sentence", "sentences"),
        fields::in_a_line(&done.report)
    );
    let parts: &[By] = if args.by.is_empty() { &[By::Label] } else { &args.by };
    for (at, by) in parts.iter().enumerate() {
        let said = parts.iter().take(at).any(|earlier| earlier == by);
        if !said {
            text.push('\n');
            text.push_str(&text_of(*by, &done, project.corpus()));
        }
    }
    project.close()?;
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}
