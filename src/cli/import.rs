//! `nestling import`

use super::args::{As, Import, SplitName};
use super::output::{Ending, Progress, answer, close, open, say_losses, stop_flag};
use super::{CliError, json as fields};
use crate::session::{
    ImportAs, ImportHow, Incoming, Language, Part, ReadRequest, SessionError, Task, Watch, read_files_watched,
};
use crate::wording::{counted, one_line};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How often progress is told.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

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
    let watch = Watch::cancelled_by(stop_flag());
    let mut project = open(&args.project)?;
    let incoming = read(args, &watch)?;
    let kind = args.kind.map(|kind| match kind {
        As::Gold => ImportAs::Gold,
        As::Suggestions => ImportAs::Suggestions,
        As::Text => ImportAs::Text,
    });
    let how = ImportHow { kind, split: args.split.map(SplitName::part) };
    let writing = project.start_import(incoming, how, &watch);
    let imported = follow(args, writing, &watch, 1, "sentences written")??;
    let receipt = project.finish_import(imported)?;
    let closed = close(project)?;

    let json = json!({
        "format": receipt.format,
        "formats": receipt.formats.iter().map(|(id, files)| json!({ "format": id, "files": files })).collect::<Vec<_>>(),
        "documents": receipt.documents,
        "sentences": receipt.sentences,
        "mentions": receipt.mentions,
        "suggestions": receipt.suggestions,
        "new_labels": receipt.new_labels,
        "left_out": receipt.left_out,
        "warnings": fields::warnings(&receipt.warnings),
        "notes": receipt.notes,
        "not_represented": [],
        "language": receipt.language.map(Language::code),
        "encoder": receipt.encoder,
        "better_encoder": receipt.misfit.as_ref().and_then(|misfit| misfit.better),
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
    Ok(Ending::of_losses(receipt.left_out).and(closed))
}

fn read(args: &Import, watch: &Watch) -> Result<Incoming, CliError> {
    let format = Some(args.format.clone()).filter(|f| f != "auto");
    let (files, request) = (args.input.clone(), ReadRequest { format, options: args.options.clone() });
    let for_work = watch.clone();
    let work = move || read_files_watched(&files, &request, &for_work);
    // It is polled: nobody needs to be woken.
    let reading = Task::spawn("read files", Arc::new(|| {}), work);
    Ok(follow(args, reading, watch, 1000, "kB read")??)
}

/// Waits for a piece of work and tells how far it is, `unit` of its steps as one.
fn follow<T: Send + 'static>(
    args: &Import,
    work: Task<T>,
    watch: &Watch,
    unit: usize,
    what: &str,
) -> Result<T, SessionError> {
    let mut shown = Progress::start(args.common);
    loop {
        if let Some(result) = work.wait_for(LOOK_AGAIN) {
            return Ok(result?);
        }
        let (done, total) = watch.progress();
        if total > 0 {
            shown.show(done / unit, total / unit, what);
        }
    }
}
