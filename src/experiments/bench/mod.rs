//! Measures the real code in a temporary folder: what importing, training and predicting cost, and what the window is to
//! be measured on.

mod labels;
mod learner;
mod refresh;
mod synthetic;
mod ui;

pub use labels::{LabelBench, LabelBenchRequest, bench_labels};
pub use learner::{
    PredictBench, PredictBenchRequest, PredictBenchStep, TrainBench, TrainBenchRequest, bench_predict, bench_train,
};
pub use refresh::{RefreshBench, bench_refresh};
pub use ui::{UiBench, UiBenchProject, UiBenchRequest, prepare_ui_bench};

use crate::session::temporary_folder;
use crate::session::{
    Driver, ExportRequest, Home, ImportAs, ImportHow, Incoming, NewProject, ReadRequest, SessionError, read_files,
    write_whole,
};
use crate::train::peak_memory_mb;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Sentences whose words are searched.
const SEARCHED_SENTENCES: usize = 50;

/// What is measured, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportBenchStep {
    /// Making the corpus; not measured.
    Make {
        written: usize,
    },
    Parse,
    Store,
    Open,
    Search,
    Export,
}

/// What an import costs.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportBench {
    pub sentences: usize,
    pub mentions: usize,
    /// Of the JSONL file.
    pub file_mb: f64,
    /// From the file to documents in memory.
    pub parse_secs: f64,
    /// From documents in memory to a closed project file.
    pub import_secs: f64,
    /// Of the project file.
    pub project_mb: f64,
    /// The most that the process has held up to the end of the import, where the operating system says.
    pub peak_memory_mb: Option<f64>,
    /// From a project file to a project that can be worked on.
    pub open_secs: f64,
    pub search_ms: Option<Percentiles>,
    /// All sentences to JSONL, read back and compared.
    pub export_secs: f64,
}

/// Of many times of the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Percentiles {
    /// `None` of nothing.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |percent: usize| values.get((values.len() * percent).div_ceil(100).checked_sub(1)?).copied();
        Some(Self { p50: at(50)?, p95: at(95)?, p99: at(99)?, max: at(100)? })
    }
}

const MB: f64 = 1_000_000.0;

/// Makes a corpus of so many sentences, imports it, opens the project again, and exports it.
///
/// # Errors
/// A temporary folder that can't be written or is too small, a stop.
pub fn bench_import(
    sentences: usize,
    cancel: &AtomicBool,
    on_step: &mut dyn FnMut(ImportBenchStep),
) -> Result<ImportBench, SessionError> {
    let folder = temporary_folder()?;
    let (home, corpus) = (Home::at(folder.path()), folder.path().join("corpus.jsonl"));
    let (file, output) = (folder.path().join("bench.nestling"), folder.path().join("export.jsonl"));
    let mut begin = |step| {
        on_step(step);
        not_stopped(cancel).map(|()| Instant::now())
    };

    make(&corpus, sentences, |written| begin(ImportBenchStep::Make { written }).is_ok())?;
    let mut project = Driver::create(&home, &file, &NewProject::default())?;

    let started = begin(ImportBenchStep::Parse)?;
    let incoming = read_made(&corpus)?;
    let parse_secs = started.elapsed().as_secs_f64();

    let started = begin(ImportBenchStep::Store)?;
    let receipt = project.import(incoming, ImportHow { kind: Some(ImportAs::Gold), split: None })?;
    project.close()?;
    let import_secs = started.elapsed().as_secs_f64();
    let peak_memory_mb = peak_memory_mb();

    let started = begin(ImportBenchStep::Open)?;
    let project = Driver::open(&home, &file)?;
    let open_secs = started.elapsed().as_secs_f64();

    begin(ImportBenchStep::Search)?;
    let search_ms = Percentiles::of(search(&project)?);

    let started = begin(ImportBenchStep::Export)?;
    let everything = ExportRequest { format: "jsonl".to_owned(), all_statuses: true, ..ExportRequest::default() };
    project.export_view().export(&everything, &output)?;
    let export_secs = started.elapsed().as_secs_f64();
    project.close()?;

    Ok(ImportBench {
        sentences: receipt.sentences,
        mentions: receipt.mentions,
        file_mb: size_mb(&corpus)?,
        parse_secs,
        import_secs,
        project_mb: size_mb(&file)?,
        peak_memory_mb,
        open_secs,
        search_ms,
        export_secs,
    })
}

fn not_stopped(cancel: &AtomicBool) -> Result<(), SessionError> {
    if cancel.load(Ordering::Relaxed) { Err(SessionError::Stopped) } else { Ok(()) }
}

/// The vocabulary and the writer's buffer are all that is held; both are gone when the import begins.
fn make(path: &Path, sentences: usize, go_on: impl FnMut(usize) -> bool) -> Result<(), SessionError> {
    write_whole(path, |out| {
        let io = |source| SessionError::Io { doing: "write the corpus", source, path: path.to_owned() };
        if synthetic::write(sentences, out, go_on).map_err(io)? { Ok(()) } else { Err(SessionError::Stopped) }
    })
}

fn read_made(path: &Path) -> Result<Incoming, SessionError> {
    let options = vec![("end".to_owned(), "exclusive".to_owned())];
    read_files(&[path.to_owned()], &ReadRequest { format: Some("jsonl".to_owned()), options })
}

/// Milliseconds of each of many searches: for single words, for two in a row, and for the first letter of one, which
/// finds a large part of all sentences.
fn search(project: &Driver) -> Result<Vec<f64>, SessionError> {
    let corpus = project.corpus();
    let apart = (corpus.sentence_count() / SEARCHED_SENTENCES).max(1);
    let mut times = Vec::with_capacity(3 * SEARCHED_SENTENCES);
    for sentence in corpus.sentences().step_by(apart).take(SEARCHED_SENTENCES) {
        let words: Vec<&str> = corpus.words(sentence).take(2).collect();
        let letter = words.first().and_then(|word| word.chars().next()).map(String::from);
        for query in words.first().map(|word| (*word).to_owned()).into_iter().chain([words.join(" ")]).chain(letter) {
            let started = Instant::now();
            project.search_now(&query)?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Ok(times)
}

fn size_mb(path: &Path) -> Result<f64, SessionError> {
    let failed = |source| SessionError::Io { doing: "look at the file", source, path: path.to_owned() };
    Ok(std::fs::metadata(path).map_err(failed)?.len() as f64 / MB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let of = |n: u32| Percentiles::of((1..=n).rev().map(f64::from).collect());
        assert_eq!(of(0), None);
        assert_eq!(of(1), Some(Percentiles { p50: 1.0, p95: 1.0, p99: 1.0, max: 1.0 }));
        assert_eq!(of(100), Some(Percentiles { p50: 50.0, p95: 95.0, p99: 99.0, max: 100.0 }));
    }

    #[test]
    fn steps_come_in_order_and_a_stop_is_told() {
        let (cancel, mut steps) = (AtomicBool::new(false), Vec::new());
        let bench = bench_import(120, &cancel, &mut |step| steps.push(step)).unwrap();
        assert_eq!((bench.sentences, bench.mentions), (120, 360));
        use ImportBenchStep::*;
        assert_eq!(steps, [Make { written: 100 }, Parse, Store, Open, Search, Export]);
        cancel.store(true, Ordering::Relaxed);
        assert!(matches!(bench_import(120, &cancel, &mut |_| {}), Err(SessionError::Stopped)));
    }
}
