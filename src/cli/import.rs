//! `nestling import`

use super::args::{As, Import, SplitName};
use super::output::{Ending, answer, open, say_losses};
use super::{CliError, json as fields};
use crate::session::{ImportAs, ImportHow, Part, ReadRequest, read_files};
use crate::wording::{counted, one_line};
use serde_json::json;

impl SplitName {
    pub(super) fn part(self) -> Part {
        match self {
            Self::Train => Part::Train,
            Self::Dev => Part::Dev,
            Self::Test => Part::Test,
            Self::Blind => Part::Blind,
            Self::Pool => Part::Pool,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
            Self::Blind => "blind",
            Self::Pool => "pool",
        }
    }
}

pub(super) fn run(args: &Import) -> Result<Ending, CliError> {
    let mut project = open(&args.project)?;
    let format = Some(args.format.clone()).filter(|f| f != "auto");
    let incoming = read_files(&args.input, &ReadRequest { format, options: args.options.clone() })?;
    let kind = args.kind.map(|kind| match kind {
        As::Gold => ImportAs::Gold,
        As::Suggestions => ImportAs::Suggestions,
        As::Text => ImportAs::Text,
    });
    let receipt = project.import(incoming, ImportHow { kind, split: args.split.map(SplitName::part) })?;
    project.close()?;

    let json = json!({
        "format": receipt.format,
        "documents": receipt.documents,
        "sentences": receipt.sentences,
        "mentions": receipt.mentions,
        "suggestions": receipt.suggestions,
        "new_labels": receipt.new_labels,
        "left_out": receipt.left_out,
        "warnings": fields::warnings(&receipt.warnings),
        "notes": receipt.notes,
        "not_represented": [],
    });
    if !args.common.json {
        say_losses(&receipt.warnings, &[], &receipt.notes);
    }
    let mut text = format!(
        "Imported {}, {}, {}",
        counted(receipt.documents, "document", "documents"),
        counted(receipt.sentences, "sentence", "sentences"),
        counted(receipt.mentions, "mention", "mentions")
    );
    if receipt.suggestions > 0 {
        text += &format!(", {}", counted(receipt.suggestions, "suggestion", "suggestions"));
    }
    if !receipt.new_labels.is_empty() {
        text += &format!("; new labels: {}", one_line(&receipt.new_labels.join(", ")));
    }
    if receipt.left_out > 0 {
        text += &format!("; {}", counted(receipt.left_out, "warning", "warnings"));
    }
    answer(args.common, &json, &text)?;
    Ok(Ending::of_losses(receipt.left_out))
}
