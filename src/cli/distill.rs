//! `nestling distill`

use super::CliError;
use super::args::Distill;
use super::made_encoder::answer_made;
use super::output::{Ending, Progress, stop_flag};
use crate::session::{DistillConfig, DistillEvent, DistillRecord, DistillRequest, Home, SessionError, distill_encoder};
use crate::wording::counted;
use std::path::Path;

pub(super) fn run(args: &Distill) -> Result<Ending, CliError> {
    let request = DistillRequest {
        teacher: args.teacher.clone(),
        texts: args.text.clone(),
        config: config(args)?,
        output: args.output.clone(),
        resume: args.resume,
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let report = distill_encoder(&Home::find(), &request, &cancel, &mut |event| tell(&mut progress, event));
    drop(progress);
    let report = report?;
    let said = (&report.warnings[..], &report.notes[..]);
    answer_made(args.common, &args.output, said, &report.record, &to_text(&report.record, &args.output))
}

/// The file's settings, then those of the call.
fn config(args: &Distill) -> Result<DistillConfig, CliError> {
    let mut config = DistillConfig::default();
    if let Some(path) = &args.config {
        let text = std::fs::read_to_string(path).map_err(|source| SessionError::Io {
            doing: "read the settings",
            source,
            path: path.clone(),
        })?;
        config.read(&text, path).map_err(SessionError::from)?;
    }
    for (key, value) in &args.set {
        config.set(key, value).map_err(SessionError::from)?;
    }
    Ok(config)
}

fn tell(progress: &mut Progress, event: DistillEvent) {
    match event {
        DistillEvent::Started { teacher_parameters, parameters, .. } => {
            let million = |count: usize| count as f64 / 1e6;
            let (teacher, student) = (million(teacher_parameters), million(parameters));
            progress.note(&format!("{student:.1} M parameters learn from {teacher:.1} M"));
        }
        DistillEvent::Progress { step, steps, error, secs_left } => {
            progress.show(step, steps, &format!("steps, error {error:.4}, {secs_left:.0} s left"));
        }
        DistillEvent::EpochDone { epoch: 0, error } => {
            progress.note(&format!("before: error {error:.4} on sentences held out"));
        }
        DistillEvent::EpochDone { epoch, error } => {
            progress.note(&format!("epoch {epoch}: error {error:.4} on sentences held out"));
        }
        DistillEvent::NotKept { message } => progress.note(&format!("warning: the state was not kept: {message}")),
        DistillEvent::Kept { .. } => {}
    }
}

fn to_text(record: &DistillRecord, output: &Path) -> String {
    let (before, after) = (record.errors.first(), record.errors.last());
    let error = before.zip(after).map_or_else(String::new, |(before, after)| {
        format!("Error against {} on sentences held out: {before:.4} before, {after:.4} after\n", record.teacher)
    });
    format!(
        "{}: {} of {}, {}, {:.1} M parameters, {}, {}, {:.0} s\n{error}\
         Use it: nestling encoders import {} --name NAME",
        output.display(),
        counted(record.layers, "layer", "layers"),
        record.hidden,
        counted(record.vocabulary, "subword", "subwords"),
        record.parameters as f64 / 1e6,
        counted(record.sentences, "sentence", "sentences"),
        counted(record.epochs, "epoch", "epochs"),
        record.wall_secs,
        output.display(),
    )
}
