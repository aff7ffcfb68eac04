//! `nestling copy`

use super::CliError;
use super::args::Copy;
use super::output::{Ending, answer, open_to_read};
use crate::wording::one_line;
use serde_json::json;

pub(super) fn run(args: &Copy) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    project.save_copy(args.to.clone()).wait().map_err(crate::session::SessionError::from)??;
    project.close()?;
    let json = json!({ "project": args.project, "copy": args.to });
    let text = format!("Copied to {}; models are not copied; they can be trained again", args.to.display());
    answer(args.common, &json, &one_line(&text))?;
    Ok(Ending::Whole)
}
