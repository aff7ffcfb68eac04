//! `nestling evaluate`

use super::args::Evaluate;
use super::output::{Ending, answer, stop_flag};
use super::predict::model_id;
use super::{CliError, json as fields};
use crate::session::{Home, Project};
use std::fmt::Write;

pub(super) fn run(args: &Evaluate) -> Result<Ending, CliError> {
    let model = args.model.as_deref().map(model_id).transpose()?;
    let project = Project::open_to_read(&Home::find(), &args.project)?;
    let cancel = stop_flag();
    let done = project.evaluate_now(args.split.part(), model, args.threads, &cancel)?;
    let mut json = fields::evaluation(args.split.name(), done.model.0, &done.report, project.corpus());
    if let serde_json::Value::Object(object) = &mut json {
        object.insert("wall_secs".to_owned(), done.wall_secs.into());
        object.insert("discontinuous_mentions".to_owned(), done.discontinuous_mentions.into());
    }
    let mut text = format!(
        "Model {} on {} ({} sentences): {}\n",
        done.model,
        args.split.name(),
        done.report.sentences,
        fields::scores(done.report.micro)
    );
    for (id, counts) in &done.report.labels {
        let name = project.corpus().labels().get(*id).map_or("?", |l| &l.name);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:>12}: {}  ({} gold)", fields::scores(*counts), counts.support());
    }
    project.close()?;
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}
