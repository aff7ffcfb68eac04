//! `nestling bench train` and `nestling bench predict`

use crate::cli::args::{BenchPredict, BenchTrain};
use crate::cli::json::rate;
use crate::cli::output::{Ending, Progress, answer, stop_flag};
use crate::cli::{CliError, predict, train};
use crate::experiments::{
    PredictBench, PredictBenchRequest, PredictBenchStep, TrainBench, TrainBenchRequest, bench_predict, bench_train,
};
use crate::session::{Cost, Home, PredictOptions};
use crate::wording::counted;
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;

pub(super) fn bench_training(args: &BenchTrain) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let named = [
        ("encoder", args.encoder.clone()),
        ("architecture", args.architecture.clone()),
        ("epochs", Some(args.epochs.to_string())),
    ];
    let request = TrainBenchRequest {
        project: args.project.clone(),
        sentences: args.sentences.map(NonZeroUsize::get),
        set: args.tuning.with(named),
    };
    let bench = bench_train(&request, &Home::find(), &cancel, &mut |event| train::tell(&mut progress, event))?;
    drop(progress);
    answer(args.common, &training_to_json(&bench), &training_to_text(&bench))?;
    Ok(Ending::Whole)
}

pub(super) fn bench_prediction(args: &BenchPredict) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let batch_size = args.batch.get();
    let request = PredictBenchRequest {
        project: args.project.clone(),
        sentences: args.sentences.map(NonZeroUsize::get),
        encoder: args.encoder.clone(),
        threads: args.threads,
        options: PredictOptions {
            use_heads: !args.all_spans,
            batch_size,
            exact: args.f32,
            ..PredictOptions::default()
        },
    };
    let bench = bench_predict(&request, &Home::find(), &cancel, &mut |step| match step {
        PredictBenchStep::Train(event) => train::tell(&mut progress, event),
        PredictBenchStep::Predict { done, total } => progress.show(done, total, "sentences"),
    })?;
    drop(progress);
    answer(args.common, &prediction_to_json(&bench, batch_size), &prediction_to_text(&bench))?;
    Ok(Ending::Whole)
}

/// Milliseconds by part; what is left of the whole is the last one.
fn parts_ms(cost: &Cost, wall_secs: f64) -> Vec<(&'static str, f64)> {
    let parts = cost.times.iter().map(|(part, time)| (part, time.as_secs_f64() * 1000.0));
    let rest = (wall_secs - cost.times.sum().as_secs_f64()).max(0.0) * 1000.0;
    parts.chain([("rest", rest)]).collect()
}

fn parts_to_json(cost: &Cost, wall_secs: f64) -> Map<String, Value> {
    parts_ms(cost, wall_secs).into_iter().map(|(part, ms)| (part.to_owned(), ms.into())).collect()
}

fn parts_to_text(cost: &Cost, wall_secs: f64) -> String {
    let parts = parts_ms(cost, wall_secs);
    let all: f64 = parts.iter().map(|(_, ms)| ms).sum();
    let parts = parts.into_iter().filter(|(_, ms)| *ms > 0.0);
    parts.map(|(part, ms)| format!("{part:<10} {ms:>10.1} ms {:>5.1} %\n", 100.0 * ms / all)).collect()
}

fn memory_to_text(peak_mb: Option<f64>) -> String {
    peak_mb.map_or_else(String::new, |peak| format!("memory     {peak:.0} MB at most\n"))
}

/// Keys and values of `more`, beside those of `object`.
fn with(object: Value, more: Value) -> Value {
    match (object, more) {
        (Value::Object(mut all), Value::Object(more)) => {
            all.extend(more);
            Value::Object(all)
        }
        (object, _) => object,
    }
}

/// Words and positions a second of the training steps.
fn training_rates(bench: &TrainBench) -> (Option<f64>, Option<f64>) {
    let outcome = &bench.manifest.outcome;
    let secs_an_epoch = outcome.train_sentences as f64 / outcome.sentences_per_sec;
    (rate(bench.cost.words as f64, secs_an_epoch), rate(bench.cost.positions as f64, secs_an_epoch))
}

fn training_to_json(bench: &TrainBench) -> Value {
    let (words, positions) = training_rates(bench);
    let of_bench = json!({
        "model": null,
        "snapshot": null,
        "dev": null,
        "discontinuous_mentions": bench.discontinuous_mentions,
        "words": bench.cost.words,
        "tokens_per_sec": words,
        "positions_per_sec": positions,
        "parts_ms": parts_to_json(&bench.cost, bench.manifest.outcome.wall_secs),
    });
    with(train::manifest_to_json(&bench.manifest), of_bench)
}

fn training_to_text(bench: &TrainBench) -> String {
    let (settings, outcome) = (&bench.manifest.settings, &bench.manifest.outcome);
    let (words, positions) = training_rates(bench);
    let samples = outcome.samples;
    format!(
        "{} on {}, {}, {}, epochs: {}, {:.2} s\n\
         steps      {:.1} sentences/s, {:.0} words/s, {:.0} positions/s\n\
         {}{}\
         samples    heads: {} positive, {} negative; spans: {} positive, {} negative; words: {} positive, {} negative\n",
        settings.architecture,
        settings.encoder,
        counted(outcome.train_sentences, "sentence", "sentences"),
        counted(bench.cost.words, "word", "words"),
        settings.epochs,
        outcome.wall_secs,
        outcome.sentences_per_sec,
        words.unwrap_or_default(),
        positions.unwrap_or_default(),
        parts_to_text(&bench.cost, outcome.wall_secs),
        memory_to_text(outcome.peak_memory_mb),
        samples.first_words.positive,
        samples.first_words.negative,
        samples.spans.positive,
        samples.spans.negative,
        samples.words.positive,
        samples.words.negative,
    )
}

fn prediction_to_json(bench: &PredictBench, batch_size: usize) -> Value {
    let wall_secs = bench.report.wall_secs;
    let of_bench = json!({
        "architecture": bench.architecture,
        "encoder": bench.encoder,
        "batch_size": batch_size,
        "trained_first": bench.trained_first,
        "words": bench.cost.words,
        "tokens_per_sec": rate(bench.cost.words as f64, wall_secs),
        "positions_per_sec": rate(bench.cost.positions as f64, wall_secs),
        "peak_memory_mb": bench.peak_memory_mb,
        "parts_ms": parts_to_json(&bench.cost, wall_secs),
    });
    with(predict::to_json(&bench.report), of_bench)
}

fn prediction_to_text(bench: &PredictBench) -> String {
    let PredictBench { architecture, encoder, report, cost, trained_first, peak_memory_mb } = bench;
    let per_sec = |amount: usize| rate(amount as f64, report.wall_secs).unwrap_or_default();
    format!(
        "{architecture} on {encoder}{}, {}, {}, {:.2} s\n\
         rate       {:.1} sentences/s, {:.0} words/s, {:.0} positions/s\n\
         {}{}\
         candidates heads: {}, spans: {}\n",
        if *trained_first { " (hardly trained)" } else { "" },
        counted(report.sentences, "sentence", "sentences"),
        counted(cost.words, "word", "words"),
        report.wall_secs,
        per_sec(report.sentences),
        per_sec(cost.words),
        per_sec(cost.positions),
        parts_to_text(cost, report.wall_secs),
        memory_to_text(*peak_memory_mb),
        report.heads,
        report.candidates,
    )
}
