//! `nestling convert`

use super::args::Convert;
use super::output::{Ending, Progress, answer, say_losses, stop_flag};
use super::{CliError, json as fields};
use crate::session::{ConvertRequest, convert};
use crate::wording::{counted, one_line};
use serde_json::json;

pub(super) fn run(args: &Convert) -> Result<Ending, CliError> {
    let request = ConvertRequest {
        from: Some(args.from.clone()).filter(|f| f != "auto"),
        to: args.to.clone(),
        options: args.options.clone(),
        strict: args.strict,
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let shown = &mut |done, total| progress.show(done, total, "files");
    let receipt = convert(&args.input, &request, &args.output, &cancel, shown)?;
    drop(progress);

    let (written, losses) = (&receipt.written, &receipt.written.losses);
    let json = json!({
        "format": receipt.format,
        "documents": written.documents,
        "sentences": written.sentences,
        "mentions": written.mentions,
        "left_out": receipt.warnings.len(),
        "warnings": fields::warnings(&receipt.warnings),
        "notes": receipt.notes,
        "not_represented": fields::losses(losses),
    });
    if !args.common.json {
        say_losses(&receipt.warnings, losses, &receipt.notes);
    }
    let mut text = format!(
        "Wrote {}, {}, {} to {}",
        counted(written.documents, "document", "documents"),
        counted(written.sentences, "sentence", "sentences"),
        counted(written.mentions, "mention", "mentions"),
        args.output.display()
    );
    if !receipt.warnings.is_empty() {
        text += &format!("; {}", counted(receipt.warnings.len(), "warning", "warnings"));
    }
    if !losses.is_empty() {
        text += &format!("; the format could not hold {}", counted(losses.len(), "annotation", "annotations"));
    }
    answer(args.common, &json, &one_line(&text))?;
    Ok(Ending::of_losses(receipt.warnings.len() + losses.len()))
}
