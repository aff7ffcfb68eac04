//! `nestling aside`

use super::CliError;
use super::args::Aside;
use super::output::{Ending, answer, close, open};
use crate::session::Command;
use crate::wording::counted;
use serde_json::json;

pub(super) fn run(args: &Aside) -> Result<Ending, CliError> {
    let mut project = open(&args.project)?;
    project.run(Command::SetAside { sentences: args.sentences })?;
    let blind = project.counts().blind;
    let closed = close(project)?;
    let json = json!({ "set_aside": args.sentences, "blind": blind });
    answer(
        args.common,
        &json,
        &format!("Set {} aside; the blind set has {blind}", counted(args.sentences, "sentence", "sentences")),
    )?;
    Ok(closed)
}
