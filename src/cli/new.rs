//! `nestling new`

use super::CliError;
use super::args::New;
use super::output::{Ending, answer};
use crate::session::{Driver, Home, NewProject};
use crate::wording::{counted, one_line};
use serde_json::json;

pub(super) fn run(args: &New) -> Result<Ending, CliError> {
    let home = Home::find();
    let mut new = NewProject::with_labels(&args.labels)?;
    if let Some(name) = &args.encoder {
        home.encoders().get(name).map_err(crate::session::SessionError::from)?;
        new.encoder = Some(name.clone());
    }
    let project = Driver::create(&home, &args.project, &new)?;
    let labels: Vec<String> = project.corpus().labels().iter().map(|l| l.name.clone()).collect();
    let (encoder, is_automatic) = (project.settings().encoder.clone(), project.encoder_is_automatic());
    project.close()?;
    let json = json!({
        "project": args.project,
        "labels": labels,
        "encoder": encoder,
        "encoder_is_automatic": is_automatic,
    });
    let by_language = if is_automatic { ", or the one that has read the language of what you import" } else { "" };
    let text = format!(
        "Made {} with {}; encoder: {encoder}{by_language}",
        args.project.display(),
        counted(labels.len(), "label", "labels")
    );
    answer(args.common, &json, &one_line(&text))?;
    Ok(Ending::Whole)
}
