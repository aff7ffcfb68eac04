//! `nestling predict`: suggestions for a project, or a filter over a file.

use super::args::{Predict, SplitName};
use super::output::{Ending, Progress, answer, say, stop_flag};
use super::{CliError, json as fields};
use crate::annotation::ModelId;
use crate::session::{Home, Input, PredictReport, Project, SessionError, filter};
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Predict) -> Result<Ending, CliError> {
    match (&args.project, &args.model) {
        (Some(project), model) => in_project(args, project, model.as_deref()),
        (None, Some(model)) => through_filter(args, Path::new(model)),
        (None, None) => Err(CliError::Usage {
            message: "name a project, or a model's folder with --model to filter a file through".to_owned(),
        }),
    }
}

/// Reads a model's number.
pub(super) fn model_id(text: &str) -> Result<ModelId, CliError> {
    let message = format!("a model of a project is named by its number, not {text:?}; `nestling info` lists them");
    text.parse().map(ModelId).map_err(|_| CliError::Usage { message })
}

fn in_project(args: &Predict, path: &Path, model: Option<&str>) -> Result<Ending, CliError> {
    let model = model.map(model_id).transpose()?;
    let mut project = Project::open(&Home::find(), path)?;
    let part = args.split.unwrap_or(SplitName::Pool).part();
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let shown = &mut |done, total| progress.show(done, total, "sentences");
    let report = project.predict_now(part, model, args.threads, &cancel, shown)?;
    drop(progress);
    project.close()?;
    let text = format!("Stored {} suggestions for {} sentences", report.suggestions, report.sentences);
    answer(args.common, &to_json(&report), &text)?;
    Ok(Ending::Whole)
}

fn through_filter(args: &Predict, model: &Path) -> Result<Ending, CliError> {
    if args.common.json && args.output == "-" {
        let message = "with --json the standard output is for the report; name a file with --output".to_owned();
        return Err(CliError::Usage { message });
    }
    let input = if args.input == "-" {
        Input::stream("standard input", std::io::stdin())
    } else {
        Input::file(Path::new(&args.input))
    };
    let input = input.map_err(SessionError::from)?;
    let cancel = stop_flag();
    let report = if args.output == "-" {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let report = filter(model, args.threads, &args.format, input, &mut out, &cancel)?;
        out.flush().map_err(CliError::Output)?;
        report
    } else {
        into_file(Path::new(&args.output), |out| filter(model, args.threads, &args.format, input, out, &cancel))?
    };
    let mut json = to_json(&report.predicted);
    if let Value::Object(object) = &mut json {
        object.insert("documents".to_owned(), report.documents.into());
        object.insert("warnings".to_owned(), fields::warnings(&report.warnings));
    }
    if !args.common.json {
        report.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    }
    let text = format!("{} mentions in {} sentences", report.predicted.suggestions, report.predicted.sentences);
    if args.output == "-" {
        if !args.common.quiet {
            say(&text);
        }
    } else {
        answer(args.common, &json, &text)?;
    }
    Ok(Ending::of_losses(report.warnings.len()))
}

/// Writes a file that appears whole or not at all.
fn into_file<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T, SessionError>) -> Result<T, CliError> {
    let io = |source| SessionError::Io { doing: "write the file", source, path: PathBuf::from(path) };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
    let mut out = BufWriter::new(file.as_file());
    let value = write(&mut out)?;
    out.flush().map_err(io)?;
    drop(out);
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(value)
}

fn to_json(report: &PredictReport) -> Value {
    let per_sec = (report.wall_secs > 0.0).then(|| report.sentences as f64 / report.wall_secs);
    json!({
        "sentences": report.sentences,
        "suggestions": report.suggestions,
        "wall_secs": report.wall_secs,
        "sentences_per_sec": per_sec,
        "candidates": { "neh": report.heads, "span": report.candidates },
    })
}
