//! `nestling evaluate`

use super::analyses::{json_of, text_of};
use super::args::Evaluate;
use super::output::{Ending, answer, open_to_read, stop_flag};
use super::predict::model_id;
use super::table::Table;
use super::{CliError, json as fields};
use crate::annotation::{Corpus, ModelId};
use crate::evaluation::{Counts, F1Difference, SpanSampling};
use crate::session::{
    Breakdown, Driver, EvaluateReport, EvaluateRequest, Evaluated, PropertyDifferences, bucket_differences,
    figure_files, write_figures,
};
use crate::wording::counted;
use serde_json::{Map, Value, json};
use std::sync::atomic::AtomicBool;

pub(super) fn run(args: &Evaluate) -> Result<Ending, CliError> {
    let model = args.model.as_deref().map(model_id).transpose()?;
    let against = args.against.as_deref().map(model_id).transpose()?;
    let project = open_to_read(&args.project)?;
    check(args, &project, [model, against])?;
    let cancel = stop_flag();
    let wants = |by: Breakdown| args.by.contains(&by);
    let sampling = SpanSampling { most: args.spans, seed: args.seed, ..SpanSampling::default() };
    let request = EvaluateRequest {
        model,
        threads: args.threads,
        tasks: wants(Breakdown::Tasks),
        buckets: wants(Breakdown::Buckets),
        vectors: (wants(Breakdown::Vectors) || wants(Breakdown::Similarity)).then_some(sampling),
        exact: args.f32,
        ..EvaluateRequest::of(args.split.part())
    };
    let done = project.evaluate_now(request, &cancel)?;
    let against = against.map(|model| evaluate_other(&project, model, request, &cancel)).transpose()?;
    let parts: &[Breakdown] = if args.by.is_empty() { &[Breakdown::Label] } else { &args.by };
    let written = match &args.output {
        Some(folder) => {
            let files = figure_files(&Evaluated::new(&done, against.as_ref(), project.corpus()), parts);
            write_figures(folder, &files)?;
            files.into_iter().map(|file| folder.join(file.name).display().to_string()).collect()
        }
        None => Vec::new(),
    };
    let mut json = fields::evaluation(args.split.name(), done.model, &done.report, project.corpus());
    if let Value::Object(object) = &mut json {
        object.insert("wall_secs".to_owned(), done.wall_secs.into());
        object.insert("discontinuous_mentions".to_owned(), done.discontinuous_mentions.into());
        let parts = args.by.iter().flat_map(|by| json_of(*by, &done, project.corpus()));
        object.extend(parts.map(|(key, value)| (key.to_owned(), value)));
        if let Some(other) = &against {
            object.insert("against".to_owned(), json_against(&done, other, project.corpus()));
        }
        if !written.is_empty() {
            object.insert("files".to_owned(), json!(written));
        }
    }
    let mut text = format!(
        "Model {} on {} ({}): {}\n",
        done.model,
        args.split.name(),
        counted(done.report.sentences, "sentence", "sentences"),
        fields::in_a_line(&done.report)
    );
    for (at, by) in parts.iter().enumerate() {
        let said = parts.iter().take(at).any(|earlier| earlier == by);
        if !said {
            text.push('\n');
            text.push_str(&text_of(*by, &done, project.corpus()));
        }
    }
    if let Some(other) = &against {
        text.push('\n');
        text.push_str(&text_against(&done, other));
    }
    if !written.is_empty() {
        text += &format!("\nWritten: {}\n", written.join(", "));
    }
    project.close()?;
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

/// What can be said before anything is predicted.
fn check(args: &Evaluate, project: &Driver, models: [Option<ModelId>; 2]) -> Result<(), CliError> {
    let labels_given = |id: ModelId| project.models().any(|info| info.id == id && info.labels_given());
    let [model, against] = models;
    if let Some(model) = model.filter(|model| labels_given(*model))
        && !args.by.iter().all(|by| by.is_of_labels())
    {
        let message = format!(
            "model {model} labels given words and finds no mentions, so it has no scores of this kind; leave out --by, or name another model"
        );
        return Err(CliError::Usage { message });
    }
    if let (Some(against), Some(model)) = (against, [model, against].into_iter().flatten().find(|id| labels_given(*id)))
    {
        let message = format!(
            "model {model} labels given words and finds no mentions, so it has no F1 to compare; leave out --against {against}, or name models that find mentions"
        );
        return Err(CliError::Usage { message });
    }
    Ok(())
}

/// Another model on the same sentences, as far as it is compared.
fn evaluate_other(
    project: &Driver,
    model: ModelId,
    request: EvaluateRequest,
    cancel: &AtomicBool,
) -> Result<EvaluateReport, CliError> {
    let request = EvaluateRequest { model: Some(model), tasks: false, vectors: None, ..request };
    Ok(project.evaluate_now(request, cancel)?)
}

/// How much better the first model is than the other, by the paired bootstrap.
fn difference(done: &EvaluateReport, other: &EvaluateReport) -> Option<F1Difference> {
    let counts = |report: &EvaluateReport| report.sentences.iter().map(|(_, counts)| *counts).collect::<Vec<Counts>>();
    F1Difference::of(&counts(other), &counts(done))
}

fn json_against(done: &EvaluateReport, other: &EvaluateReport, corpus: &Corpus) -> Value {
    let of = difference(done, other);
    let buckets = done.buckets.zip(other.buckets).map(|(mine, others)| {
        let of_property = |(property, sizes): PropertyDifferences| {
            let sizes: Map<String, Value> = sizes.into_iter().map(|(size, f1)| (size.to_owned(), json!(f1))).collect();
            (property.to_owned(), Value::Object(sizes))
        };
        Value::Object(bucket_differences(&mine, &others).into_iter().map(of_property).collect())
    });
    json!({
        "model": fields::model(other.model),
        "strict": fields::strict(&other.report, corpus),
        "f1_difference": of.map(|of| of.difference),
        "low": of.map(|of| of.interval.low),
        "high": of.map(|of| of.interval.high),
        "p": of.map(|of| of.p),
        "bucket_differences": buckets,
    })
}

fn text_against(done: &EvaluateReport, other: &EvaluateReport) -> String {
    let mut text = format!("Against model {}: {}\n", other.model, fields::in_a_line(&other.report));
    if let Some(F1Difference { difference, interval, p }) = difference(done, other) {
        text += &format!(
            "F1 {difference:+.4}, 95 % from {:+.4} to {:+.4}, p {p:.3} (paired bootstrap)\n",
            interval.low, interval.high
        );
    }
    let Some((mine, others)) = done.buckets.zip(other.buckets) else { return text };
    let differences = bucket_differences(&mine, &others);
    let sizes = differences.first().map(|(_, sizes)| sizes.iter().map(|(size, _)| *size).collect::<Vec<_>>());
    let mut table = Table::new(["difference of F1"].into_iter().chain(sizes.unwrap_or_default()));
    for (property, sizes) in differences {
        let cell = |(_, f1): (&str, Option<f64>)| f1.map_or_else(|| "-".to_owned(), |f1| format!("{f1:+.4}"));
        table.row(property, sizes.into_iter().map(cell));
    }
    format!("{text}\n{table}")
}
