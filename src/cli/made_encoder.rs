//! What is said of an encoder that was made.

use super::args::Common;
use super::output::{Ending, answer, say_losses};
use super::{CliError, json as fields};
use crate::session::Warning;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Where it is, what could not be read, what was decided, and its record; in words `text` and the first of these.
pub(super) fn answer_made(
    common: Common,
    output: &Path,
    (warnings, notes): (&[Warning], &[String]),
    record: &impl Serialize,
    text: &str,
) -> Result<Ending, CliError> {
    if !common.json {
        say_losses(warnings, &[], notes);
    }
    let mut json = json!({ "output": output, "warnings": fields::warnings(warnings), "notes": notes });
    if let (Value::Object(object), Ok(Value::Object(record))) = (&mut json, serde_json::to_value(record)) {
        object.extend(record);
    }
    answer(common, &json, text)?;
    Ok(Ending::of_losses(warnings.len()))
}
