//! `nestling export`

use super::args::{Export, SplitName, StatusFilter, What};
use super::output::{Ending, answer, open_to_read, say_losses};
use super::{CliError, json as fields};
use crate::session::{ExportRequest, ExportWhat};
use crate::wording::{counted, one_line};
use serde_json::json;

pub(super) fn run(args: &Export) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let what = match args.what {
        What::Gold => ExportWhat::Gold,
        What::Suggestions => ExportWhat::Suggestions,
    };
    // Suggestions are of sentences that are not complete.
    let by_default = if what == ExportWhat::Gold { StatusFilter::Complete } else { StatusFilter::All };
    let request = ExportRequest {
        format: args.format.clone(),
        options: args.options.clone(),
        split: args.split.map(SplitName::part),
        what,
        all_statuses: args.status.unwrap_or(by_default) == StatusFilter::All,
        strict: args.strict,
    };
    let receipt = project.export_view().export(&request, &args.output)?;
    project.close()?;

    let losses = &receipt.written.losses;
    let json = json!({
        "format": receipt.format,
        "documents": receipt.written.documents,
        "sentences": receipt.written.sentences,
        "mentions": receipt.written.mentions,
        "left_out": receipt.left_out,
        "warnings": [],
        "notes": receipt.written.notes,
        "not_represented": fields::losses(losses),
    });
    if !args.common.json {
        say_losses(&[], losses, &receipt.written.notes);
    }
    let mut text = format!(
        "Wrote {} with {} to {}",
        counted(receipt.written.sentences, "sentence", "sentences"),
        counted(receipt.written.mentions, "mention", "mentions"),
        args.output.display()
    );
    if receipt.left_out > 0 {
        text += &format!(
            "; left out {} not complete (--status all includes them)",
            counted(receipt.left_out, "sentence that is", "sentences that are")
        );
    }
    if !losses.is_empty() {
        text += &format!("; the format could not hold {}", counted(losses.len(), "annotation", "annotations"));
    }
    answer(args.common, &json, &one_line(&text))?;
    Ok(Ending::of_losses(losses.len()))
}
