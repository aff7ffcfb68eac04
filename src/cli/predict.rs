//! `nestling predict`: suggestions for a project, or a filter over a file.

use super::args::{Predict, SplitName};
use super::output::{Ending, Progress, answer, close, open, say, say_losses, stop_flag};
use super::{CliError, json as fields};
use crate::annotation::ModelId;
use crate::session::{FilterRequest, Input, PredictOptions, PredictReport, SessionError, filter, write_whole};
use crate::wording::counted;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::Path;

pub(super) fn run(args: &Predict) -> Result<Ending, CliError> {
    match (&args.project, &args.model) {
        (Some(project), model) => in_project(args, project, model.as_deref()),
        (None, Some(model)) => through_filter(args, Path::new(model)),
        (None, None) => Err(CliError::Usage {
            message: "name a project to store suggestions in, or a model's folder with --model to annotate a file"
                .to_owned(),
        }),
    }
}

/// Reads a model's number, or "names".
pub(super) fn model_id(text: &str) -> Result<ModelId, CliError> {
    if text == ModelId::NAMES.to_string() {
        return Ok(ModelId::NAMES);
    }
    let message = format!(
        "a model of a project is named by its number, not {text:?}; `nestling info` lists them, and \"names\" is what \
         the encoder finds without one"
    );
    text.parse().map(ModelId).map_err(|_| CliError::Usage { message })
}

fn options(args: &Predict) -> PredictOptions {
    PredictOptions {
        threshold: args.threshold,
        use_heads: !args.all_spans,
        exact: args.f32,
        ..PredictOptions::default()
    }
}

fn in_project(args: &Predict, path: &Path, model: Option<&str>) -> Result<Ending, CliError> {
    let model = model.map(model_id).transpose()?;
    let mut project = open(path)?;
    let part = args.split.unwrap_or(SplitName::Pool).part();
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let shown = &mut |done, total| progress.show(done, total, "sentences");
    let report = project.predict_now(part, model, args.threads, options(args), &cancel, shown)?;
    drop(progress);
    let closed = close(project)?;
    let begun = if report.stopped { "Stopped; stored" } else { "Stored" };
    let text = format!(
        "{begun} {} for {}",
        counted(report.suggestions, "suggestion", "suggestions"),
        counted(report.sentences, "sentence", "sentences")
    );
    let kept = counted(report.kept, "sentence was", "sentences were");
    let text = match report.kept {
        0 => text,
        _ => format!("{text}; {kept} left alone, because suggestions from a file still wait for an answer there"),
    };
    answer(args.common, &to_json(&report), &text)?;
    Ok(if report.stopped { Ending::WithLosses } else { closed })
}

fn through_filter(args: &Predict, model: &Path) -> Result<Ending, CliError> {
    let (input, output) = (args.input.as_deref().unwrap_or("-"), args.output.as_deref().unwrap_or("-"));
    let format = args.format.as_deref().filter(|format| *format != "auto");
    if args.common.json && output == "-" {
        let message = "with --json the standard output is for the report; name a file with --output".to_owned();
        return Err(CliError::Usage { message });
    }
    let name = if input == "-" { "standard input" } else { input };
    let input = if input == "-" { Input::stream(name, std::io::stdin()) } else { Input::file(Path::new(input)) };
    let input = input.map_err(SessionError::from)?;
    let cancel = stop_flag();
    let (threads, predict) = (args.threads, options(args));
    let request = FilterRequest { model, threads, predict, format, options: &args.options, name };
    let report = if output == "-" {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let report = filter(&request, input, &mut out, &cancel)?;
        out.flush().map_err(CliError::Output)?;
        report
    } else {
        write_whole(Path::new(output), |out| filter(&request, input, out, &cancel))?
    };
    let mut json = to_json(&report.predicted);
    if let Value::Object(object) = &mut json {
        object.insert("documents".to_owned(), report.documents.into());
        object.insert("replaced".to_owned(), report.replaced.into());
        object.insert("warnings".to_owned(), fields::warnings(&report.warnings));
        object.insert("notes".to_owned(), json!(report.notes));
    }
    if !args.common.json {
        say_losses(&report.warnings, &[], &report.notes);
    }
    let text = format!(
        "{} in {}",
        counted(report.predicted.suggestions, "mention", "mentions"),
        counted(report.predicted.sentences, "sentence", "sentences")
    );
    if output == "-" {
        if !args.common.quiet {
            say(&text);
        }
    } else {
        answer(args.common, &json, &text)?;
    }
    Ok(Ending::of_losses(report.warnings.len()))
}

/// What others rely on of a prediction.
pub(super) fn to_json(report: &PredictReport) -> Value {
    let per_sec = (report.wall_secs > 0.0).then(|| report.sentences as f64 / report.wall_secs);
    json!({
        "sentences": report.sentences,
        "suggestions": report.suggestions,
        "kept": report.kept,
        "wall_secs": report.wall_secs,
        "sentences_per_sec": per_sec,
        "stopped": report.stopped,
        "candidates": { "neh": report.heads, "span": report.candidates },
    })
}
