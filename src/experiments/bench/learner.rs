//! What training and predicting cost: the code that works in a project, on sentences of a project or made-up ones.
//!
//! # Invariants
//! - A project is opened to be read, and let go of before anything is measured. Nothing is written to it or beside it.
//! - Models are trained in a temporary folder, without dev sentences and without checkpoints: nothing but the training
//!   is measured.

use super::{make, not_stopped, read_made};
use crate::annotation::Corpus;
use crate::session::{
    Driver, Home, ImportAs, ImportHow, NewProject, Part, PredictReport, SessionError, discontinuous, gold_examples,
    labels, stopped, temporary_folder, words,
};
use crate::train::{
    Config, Cost, Dataset, Event, Manifest, PredictOptions, Predictor, Snapshot, TrainRequest, Trained,
    forget_peak_memory, peak_memory_mb, train,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Made-up sentences, where their number is left open.
const MADE_UP_SENTENCES: usize = 1000;
/// Made-up sentences that a model learns from before it is measured how it predicts.
const TAUGHT_SENTENCES: usize = 320;

/// What training to measure.
#[derive(Clone, Debug, Default)]
pub struct TrainBenchRequest {
    /// The project whose complete training sentences are learned from; `None`: made-up ones.
    pub project: Option<PathBuf>,
    /// How many, if there are as many; `None`: all of the project, or a thousand made-up ones.
    pub sentences: Option<usize>,
    /// Keys and values of [`Config::set`], for what differs from how trainings of the project begin.
    pub set: Vec<(String, String)>,
}

/// What a training costs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainBench {
    pub manifest: Manifest,
    pub cost: Cost,
    /// Gold mentions of several fragments, which models don't see.
    pub discontinuous_mentions: usize,
}

/// What prediction to measure.
#[derive(Clone, Debug, Default)]
pub struct PredictBenchRequest {
    /// The project whose sentences are predicted, with its current model if it has one; `None`: made-up ones.
    pub project: Option<PathBuf>,
    /// How many, if there are as many; `None`: all of the project, or a thousand made-up ones.
    pub sentences: Option<usize>,
    /// Encoder of a model that is trained shortly and used instead of the project's.
    pub encoder: Option<String>,
    /// For tensor work; all cores by default.
    pub threads: Option<usize>,
    pub options: PredictOptions,
}

/// What a prediction costs.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictBench {
    pub architecture: String,
    pub encoder: String,
    pub report: PredictReport,
    pub cost: Cost,
    /// Whether the model was trained for this: it knows next to nothing, and finds few heads.
    pub trained_first: bool,
    /// Since the model was loaded, where the operating system says; with what the allocator has kept of a training before.
    pub peak_memory_mb: Option<f64>,
}

/// How far the measurement of a prediction is.
#[derive(Clone, Debug, PartialEq)]
pub enum PredictBenchStep {
    /// There is no model, so one is trained; not measured.
    Train(Event),
    Predict {
        done: usize,
        total: usize,
    },
}

/// Trains on what is complete, and throws the model away.
///
/// # Errors
/// A project that can't be read, nothing to learn from, a setting or an encoder that is not there, a temporary folder
/// that can't be written, a stop.
pub fn bench_train(
    request: &TrainBenchRequest,
    home: &Home,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<TrainBench, SessionError> {
    let read = request.project.as_deref().map(|path| Read::of(path, home)).transpose()?;
    let mut config = read.as_ref().map(|read| read.config.clone()).unwrap_or_default();
    // What is measured are steps over the sentences that were asked for.
    config.self_training = Some(0);
    for (key, value) in &request.set {
        config.set(key, value)?;
    }
    if request.sentences.is_some() {
        config.limit = request.sentences;
    }
    let corpus = match read {
        Some(read) => read.corpus,
        None => made_up(request.sentences.unwrap_or(MADE_UP_SENTENCES), cancel)?,
    };
    let discontinuous_mentions = discontinuous(&corpus, Part::Train);
    let folder = temporary_folder()?;
    let Trained { manifest, cost, .. } = train_in(folder.path(), corpus, config, home, cancel, on_event)?;
    Ok(TrainBench { manifest, cost, discontinuous_mentions })
}

/// Predicts, and throws away what comes of it.
///
/// # Errors
/// A project that can't be read or has no sentences, a model that is damaged, an encoder that is not there, a temporary
/// folder that can't be written, a stop.
pub fn bench_predict(
    request: &PredictBenchRequest,
    home: &Home,
    cancel: &AtomicBool,
    on_step: &mut dyn FnMut(PredictBenchStep),
) -> Result<PredictBench, SessionError> {
    let Read { corpus, mut config, model } = match &request.project {
        Some(path) => Read::of(path, home)?,
        None => Read {
            corpus: made_up(request.sentences.unwrap_or(MADE_UP_SENTENCES), cancel)?,
            config: Config::default(),
            model: None,
        },
    };
    let sentences = choose(&corpus, request.sentences);
    drop(corpus);
    if sentences.is_empty() {
        return Err(SessionError::NothingToPredict);
    }
    let folder = temporary_folder()?;
    let (snapshot, trained_first) = match (model, &request.encoder) {
        (Some(model), None) => (model, false),
        (_, encoder) => {
            config.encoder = encoder.clone().unwrap_or(config.encoder);
            (config.epochs, config.threads) = (Some(1), request.threads);
            let taught = made_up(TAUGHT_SENTENCES, cancel)?;
            let on_event = &mut |event| on_step(PredictBenchStep::Train(event));
            let trained = train_in(folder.path(), taught, config, home, cancel, on_event)?;
            (Snapshot::any(&trained.snapshot), true)
        }
    };
    let predictor = Predictor::load_with_threads(&snapshot, request.threads)?;
    forget_peak_memory();
    let bench = predict(&predictor, &sentences, request.options, cancel, on_step)?;
    Ok(PredictBench { trained_first, ..bench })
}

fn predict(
    predictor: &Predictor,
    sentences: &[Vec<String>],
    options: PredictOptions,
    cancel: &AtomicBool,
    on_step: &mut dyn FnMut(PredictBenchStep),
) -> Result<PredictBench, SessionError> {
    let (mut report, mut cost) = (PredictReport::default(), Cost::default());
    let threshold = predictor.threshold(options);
    // As in a project: of so many sentences two batches are made, each of sentences of like length.
    for chunk in sentences.chunks(2 * options.batch_size.max(1)) {
        let started = Instant::now();
        let predictions = predictor.predict_measured(chunk, options, cancel, &mut cost).map_err(stopped)?;
        report.wall_secs += started.elapsed().as_secs_f64();
        for prediction in &predictions {
            report.candidates += prediction.candidates;
            report.heads += prediction.first_words_from(threshold);
            report.suggestions += prediction.spans.len();
        }
        report.sentences += predictions.len();
        on_step(PredictBenchStep::Predict { done: report.sentences, total: sentences.len() });
    }
    let settings = &predictor.manifest().settings;
    Ok(PredictBench {
        architecture: settings.architecture.clone(),
        encoder: settings.encoder.clone(),
        report,
        cost,
        trained_first: false,
        peak_memory_mb: peak_memory_mb(),
    })
}

/// What is needed of a project.
struct Read {
    corpus: Arc<Corpus>,
    /// How its trainings begin.
    config: Config,
    /// The current one.
    model: Option<Snapshot>,
}

impl Read {
    fn of(path: &Path, home: &Home) -> Result<Self, SessionError> {
        let project = Driver::open_to_read(home, path)?;
        let model = project.current_model().and_then(|id| project.registered(id));
        let (corpus, config) = (project.snapshot_of_corpus(), project.settings().config());
        project.close()?;
        Ok(Self { corpus, config, model })
    }
}

/// Made-up sentences, all complete.
fn made_up(sentences: usize, cancel: &AtomicBool) -> Result<Arc<Corpus>, SessionError> {
    let folder = temporary_folder()?;
    let (file, path) = (folder.path().join("corpus.jsonl"), folder.path().join("corpus.nestling"));
    make(&file, sentences, |_| not_stopped(cancel).is_ok())?;
    let mut project = Driver::create(&Home::at(folder.path()), &path, &NewProject::default())?;
    project.import(read_made(&file)?, ImportHow { kind: Some(ImportAs::Gold), split: Some(Part::Train) })?;
    let corpus = project.snapshot_of_corpus();
    project.close()?;
    not_stopped(cancel)?;
    Ok(corpus)
}

fn train_in(
    folder: &Path,
    corpus: Arc<Corpus>,
    config: Config,
    home: &Home,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Trained, SessionError> {
    config.check_finds()?;
    let labels = labels(&corpus);
    let examples = gold_examples(&corpus, Part::Train);
    drop(corpus);
    if labels.is_empty() {
        return Err(SessionError::NoLabels);
    }
    if examples.is_empty() {
        return Err(SessionError::NothingToTrainOn);
    }
    let request = TrainRequest::new(
        Arc::new(Dataset::freeze(labels, examples, Vec::new())?),
        config,
        home.encoders(),
        folder.join("model"),
    );
    train(&request, cancel, on_event).map_err(stopped)
}

/// The words of so many sentences from all over a corpus, in their order.
fn choose(corpus: &Corpus, wanted: Option<usize>) -> Vec<Vec<String>> {
    let all: Vec<_> = corpus.sentences().filter(|sentence| !sentence.tokens().is_empty()).collect();
    let chosen = wanted.unwrap_or(all.len()).min(all.len());
    (0..chosen).filter_map(|i| Some(words(corpus, all.get(i * all.len() / chosen)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn sentences_are_chosen_from_all_over() {
        let corpus = made_up(10, &AtomicBool::new(false)).unwrap();
        let all = choose(&corpus, None);
        assert_eq!((all.len(), choose(&corpus, Some(99)).len()), (10, 10));
        assert_eq!(choose(&corpus, Some(3)), [0, 3, 6].map(|i| all[i].clone()));
    }

    #[test]
    fn a_stop_is_told() {
        let (dir, cancel) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let home = Home::at(dir.path());
        let request = TrainBenchRequest { sentences: Some(40), ..TrainBenchRequest::default() };
        let stopped = bench_train(&request, &home, &cancel, &mut |event| {
            cancel.store(matches!(event, Event::Progress { step: 2, .. }), Ordering::Relaxed);
        });
        assert!(matches!(stopped, Err(SessionError::Stopped)), "{stopped:?}");
        cancel.store(false, Ordering::Relaxed);
        let request = PredictBenchRequest { sentences: Some(80), ..PredictBenchRequest::default() };
        let stopped = bench_predict(&request, &home, &cancel, &mut |step| {
            cancel.store(matches!(step, PredictBenchStep::Predict { .. }), Ordering::Relaxed);
        });
        assert!(matches!(stopped, Err(SessionError::Stopped)), "{stopped:?}");
    }
}
