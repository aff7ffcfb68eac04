//! `nestling bench`

use super::CliError;
use super::args::{Bench, BenchImport, BenchWhat};
use super::output::{Ending, Progress, answer, stop_flag};
use crate::session::{ImportBench, ImportBenchStep, bench_import};
use serde_json::{Value, json};

pub(super) fn run(args: &Bench) -> Result<Ending, CliError> {
    match &args.what {
        BenchWhat::Import(args) => import(args),
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

/// A rate; `null` where no time went by.
fn rate(amount: f64, secs: f64) -> Option<f64> {
    (secs > 0.0).then(|| amount / secs)
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
        "{} sentences, {} mentions, {:.1} MB of JSONL, {:.1} MB as a project\n\
         parse   {:.2} s, {} MB/s\n\
         store   {:.2} s, {} sentences/s\n\
         open    {:.2} s\n\
         export  {:.2} s\n",
        bench.sentences,
        bench.mentions,
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
