//! `nestling bench`

mod learner;

use super::args::{Bench, BenchImport, BenchLabels, BenchRefresh, BenchUi, BenchWhat};
use super::json::rate;
use super::output::{Ending, Progress, answer, stop_flag};
use super::{CliError, Window};
use crate::experiments::{
    ImportBench, ImportBenchStep, LabelBenchRequest, Percentiles, UiBench, UiBenchProject, UiBenchRequest,
    bench_import, bench_labels, bench_refresh,
};
use crate::session::Home;
use crate::wording::counted;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn run(args: &Bench, window: Option<Window>) -> Result<Ending, CliError> {
    match &args.what {
        BenchWhat::Import(args) => import(args),
        BenchWhat::Train(args) => learner::bench_training(args),
        BenchWhat::Predict(args) => learner::bench_prediction(args),
        BenchWhat::Refresh(args) => refresh(args),
        BenchWhat::Labels(args) => labels(args),
        BenchWhat::Ui(args) => ui(args, window.ok_or(CliError::NoWindow)?),
    }
}

fn import(args: &BenchImport) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let wanted = args.sentences.get();
    let bench = bench_import(wanted, &cancel, &mut |step| tell(&mut progress, step, wanted))?;
    drop(progress);
    answer(args.common, &to_json(&bench), &to_text(&bench))?;
    Ok(Ending::Whole)
}

fn refresh(args: &BenchRefresh) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let progress = Progress::start(args.common);
    progress.note("working in a copy of the project");
    let bench = bench_refresh(&Home::find(), &args.project, &cancel)?;
    drop(progress);
    let json = json!({
        "sentences": bench.sentences,
        "complete": bench.complete,
        "learned_secs": bench.learned_secs,
        "used": bench.used,
        "dev_f1": bench.compared.map(|(new, _)| new),
        "current_dev_f1": bench.compared.map(|(_, current)| current),
        "first_suggestions_secs": bench.first_secs,
        "all_suggestions_secs": bench.all_secs,
    });
    let mut text = format!(
        "{}, {} complete with ten more\nlearned  {:.2} s\n",
        counted(bench.sentences, "sentence", "sentences"),
        bench.complete,
        bench.learned_secs
    );
    match (bench.first_secs, bench.all_secs) {
        (Some(first), Some(all)) => text += &format!("first suggestions  {first:.2} s\nall of them  {all:.2} s\n"),
        _ => {
            text += "the new model is not used";
            if let Some((new, current)) = bench.compared {
                text += &format!(": F1 {new:.3} on dev, {current:.3} before");
            }
            text.push('\n');
        }
    }
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

fn labels(args: &BenchLabels) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let progress = Progress::start(args.common);
    progress.note("learning the order of labels");
    let (sentences, questions) = (args.sentences.get(), args.questions.get());
    let request = LabelBenchRequest { sentences, encoder: args.encoder.clone(), questions };
    let bench = bench_labels(&Home::find(), &request, &cancel)?;
    drop(progress);
    let ms = bench.answer_ms;
    let json = json!({
        "encoder": args.encoder,
        "sentences": sentences,
        "mentions": bench.mentions,
        "labels": bench.labels,
        "learned_secs": bench.learned_secs,
        "questions": bench.questions,
        "answer_ms": percentiles(ms),
    });
    let text = format!(
        "{}, {}\nlearned  {:.2} s\nanswer   {:.2} ms (median), {:.2} ms (95 %), {:.2} ms (99 %), {:.2} ms (slowest)\n",
        counted(bench.mentions, "mention", "mentions"),
        counted(bench.labels, "label", "labels"),
        bench.learned_secs,
        ms.p50,
        ms.p95,
        ms.p99,
        ms.max,
    );
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

fn percentiles(ms: Percentiles) -> Value {
    json!({ "p50": ms.p50, "p95": ms.p95, "p99": ms.p99, "max": ms.max })
}

fn ui(args: &BenchUi, window: Window) -> Result<Ending, CliError> {
    let cancel = stop_flag();
    let progress = Progress::start(args.common);
    progress.note("working in the window");
    let request = UiBenchRequest {
        on: match &args.project {
            Some(project) => UiBenchProject::Copy(project.clone()),
            None => UiBenchProject::MadeUp(args.sentences.get()),
        },
        frames: args.frames.get(),
        encoder: args.encoder.clone(),
        while_training: args.while_training,
    };
    let bench = (window.bench)(&request, &cancel)?;
    drop(progress);
    answer(args.common, &ui_to_json(&bench), &ui_to_text(&bench))?;
    Ok(Ending::Whole)
}

fn ui_to_json(bench: &UiBench) -> Value {
    json!({
        "words": bench.words,
        "spans": bench.spans,
        "sentences": bench.sentences,
        "frames": bench.frames,
        "frame_ms": percentiles(bench.frame_ms),
        "key_to_frame_ms": percentiles(bench.key_to_frame_ms),
        "open_secs": bench.open_secs,
        "memory_mb": bench.memory_mb,
        "training_steps_per_sec": bench.training_steps_per_sec,
        "command_ms": bench.command_ms.iter().copied().collect::<BTreeMap<_, _>>(),
    })
}

fn ui_to_text(bench: &UiBench) -> String {
    let row = |name: &str, ms: Percentiles| {
        format!(
            "{name}  {:.2} ms (median), {:.2} ms (95 %), {:.2} ms (99 %), {:.2} ms (slowest)\n",
            ms.p50, ms.p95, ms.p99, ms.max
        )
    };
    let mut text = format!(
        "{}, {}, {}, {}\n\
         open     {:.2} s\n",
        counted(bench.sentences, "sentence", "sentences"),
        counted(bench.words, "word", "words"),
        counted(bench.spans, "mention or suggestion", "mentions and suggestions"),
        counted(bench.frames, "frame", "frames"),
        bench.open_secs,
    );
    text += &row("frame  ", bench.frame_ms);
    text += &row("key    ", bench.key_to_frame_ms);
    if let Some(memory) = bench.memory_mb {
        text += &format!("memory   {memory:.0} MB\n");
    }
    if let Some(steps) = bench.training_steps_per_sec {
        text += &format!("training {steps:.2} steps/s beside it\n");
    }
    for (command, ms) in &bench.command_ms {
        text += &format!("{:<15} {ms:.2} ms\n", command.replace('_', " "));
    }
    text
}

fn tell(progress: &mut Progress, step: ImportBenchStep, wanted: usize) {
    let doing = match step {
        ImportBenchStep::Make { written } => return progress.show(written, wanted, "sentences made"),
        ImportBenchStep::Parse => "parsing the file",
        ImportBenchStep::Store => "storing the project",
        ImportBenchStep::Open => "opening the project",
        ImportBenchStep::Search => "searching",
        ImportBenchStep::Export => "exporting",
    };
    progress.note(doing);
}

fn to_json(bench: &ImportBench) -> Value {
    json!({
        "sentences": bench.sentences,
        "mentions": bench.mentions,
        "file_mb": bench.file_mb,
        "project_mb": bench.project_mb,
        "parse_secs": bench.parse_secs,
        "parse_mb_per_sec": rate(bench.file_mb, bench.parse_secs),
        "import_secs": bench.import_secs,
        "stored_sentences_per_sec": rate(bench.sentences as f64, bench.import_secs),
        "peak_memory_mb": bench.peak_memory_mb,
        "open_secs": bench.open_secs,
        "search_ms": bench.search_ms.map(|ms| json!({ "p50": ms.p50, "p95": ms.p95, "max": ms.max })),
        "export_secs": bench.export_secs,
    })
}

fn to_text(bench: &ImportBench) -> String {
    let per_sec = |amount, secs| rate(amount, secs).map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
    let mut text = format!(
        "{}, {}, {:.1} MB of JSONL, {:.1} MB as a project\n\
         parse   {:.2} s, {} MB/s\n\
         store   {:.2} s, {} sentences/s\n\
         open    {:.2} s\n\
         export  {:.2} s\n",
        counted(bench.sentences, "sentence", "sentences"),
        counted(bench.mentions, "mention", "mentions"),
        bench.file_mb,
        bench.project_mb,
        bench.parse_secs,
        per_sec(bench.file_mb, bench.parse_secs),
        bench.import_secs,
        per_sec(bench.sentences as f64, bench.import_secs),
        bench.open_secs,
        bench.export_secs,
    );
    if let Some(ms) = bench.search_ms {
        text += &format!("search  {:.1} ms (median), {:.1} ms (95 %), {:.1} ms (slowest)\n", ms.p50, ms.p95, ms.max);
    }
    if let Some(peak) = bench.peak_memory_mb {
        text += &format!("memory  {peak:.0} MB at most, up to the end of the import\n");
    }
    text
}
