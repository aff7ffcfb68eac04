//! `nestling encoders`

use super::CliError;
use super::args::{Common, EncoderAction, Encoders};
use super::output::{Ending, Progress, answer, stop_flag};
use crate::session::{EncoderInfo, Fetching, Home, Hub, Repository, SessionError};
use crate::wording::{counted, one_line};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(args: &Encoders) -> Result<Ending, CliError> {
    // They may be given before the action and after it.
    let both = |own: &Common| Common { json: args.common.json || own.json, quiet: args.common.quiet || own.quiet };
    match &args.action {
        None => list(args.common),
        Some(EncoderAction::List { common }) => list(both(common)),
        Some(EncoderAction::Import { dir, name, common }) => import(dir, name, both(common)),
        Some(EncoderAction::Install { repository, name, common }) => install(repository, name.as_deref(), both(common)),
        Some(EncoderAction::Remove { name, common }) => remove(name, both(common)),
    }
}

fn list(common: Common) -> Result<Ending, CliError> {
    let encoders = Home::find().encoders().list().map_err(SessionError::from)?;
    let json = json!({ "encoders": encoders.iter().map(to_json).collect::<Vec<_>>() });
    let text: Vec<String> = encoders.iter().map(to_text).collect();
    answer(common, &json, &text.join("\n"))?;
    Ok(Ending::Whole)
}

fn import(dir: &Path, name: &str, common: Common) -> Result<Ending, CliError> {
    let info = Home::find().encoders().import(dir, name).map_err(SessionError::from)?;
    answer(common, &to_json(&info), &format!("Imported {}", to_text(&info)))?;
    Ok(Ending::Whole)
}

fn install(repository: &str, name: Option<&str>, common: Common) -> Result<Ending, CliError> {
    let repository = Repository::parse(repository).map_err(SessionError::from)?;
    let name = name.unwrap_or(repository.name());
    let cancel = stop_flag();
    let mut progress = Progress::start(common);
    let mut tell = |at: Fetching| {
        let kilobytes = |bytes: u64| bytes.div_ceil(1000) as usize;
        let total = at.total_bytes.unwrap_or(at.done_bytes);
        progress.show(kilobytes(at.done_bytes), kilobytes(total), &format!("kB of {}", at.file));
    };
    let encoders = Home::find().encoders();
    let installed = encoders.install(&Hub::from_environment(), &repository, name, &cancel, &mut tell);
    drop(progress);
    let info = installed.map_err(SessionError::from)?;
    answer(common, &to_json(&info), &format!("Installed {}", to_text(&info)))?;
    Ok(Ending::Whole)
}

fn remove(name: &str, common: Common) -> Result<Ending, CliError> {
    Home::find().encoders().remove(name).map_err(SessionError::from)?;
    answer(common, &json!({ "removed": name }), &format!("Removed {name}"))?;
    Ok(Ending::Whole)
}

fn to_json(info: &EncoderInfo) -> Value {
    json!({
        "name": info.name,
        "display_name": info.display_name,
        "built_in": info.built_in,
        "pretrained": info.pretrained,
        "languages": info.languages,
        "card": info.card,
        "kind": info.kind.map(|kind| kind.id()),
        "hidden": info.hidden,
        "layers": info.layers,
        "weights_mb": info.weights_bytes as f64 / 1e6,
        "problem": info.problem,
    })
}

fn to_text(info: &EncoderInfo) -> String {
    let shape = format!("{} of {}", counted(info.layers, "layer", "layers"), info.hidden);
    match &info.problem {
        Some(problem) => one_line(&format!("{}: can't be used: {problem}", info.name)).into_owned(),
        None if info.built_in => format!("{}: {} ({shape})", info.name, info.display_name),
        None => {
            let kind = info.kind.map(|kind| format!("{}, ", kind.name())).unwrap_or_default();
            format!("{}: {kind}{shape}, {:.0} MB", info.name, info.weights_bytes as f64 / 1e6)
        }
    }
}
