//! How soon suggestions follow labels: a quick training in an open project, from the tenth more complete sentence on.

use super::not_stopped;
use crate::annotation::{SentenceId, Status};
use crate::disk;
use crate::session::{
    Command, Driver, Event, Home, Project, SessionError, Setting, may_be_offered, model_directory, temporary_folder,
};
use crate::store::{Store, models_dir};
use crate::train::snapshot_files;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// More complete sentences that start a quick training.
const LABELLED: usize = 10;
/// How often a wait looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// What a person waits for after the last of ten more complete sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshBench {
    pub sentences: usize,
    /// Complete ones, the ten included.
    pub complete: usize,
    /// Until the quick training has ended.
    pub learned_secs: f64,
    /// Whether its model is used; one that is not better on dev is not, and no suggestions follow.
    pub used: bool,
    /// F1 of the new model and of the one before on the dev sentences of a quick training, where the new one is not used.
    pub compared: Option<(f64, f64)>,
    /// Until the first suggestions of the new model are there.
    pub first_secs: Option<f64>,
    /// Until every open sentence has them.
    pub all_secs: Option<f64>,
}

/// Works on a copy of a project that has a model: accepts the suggestions for ten open sentences, completes these, and waits
/// for what the learner makes of them. No full training starts, unless the labels are not
/// those of the model.
///
/// # Errors
/// A project without a model or with fewer open sentences, a temporary folder that can't be written, a stop.
pub fn bench_refresh(home: &Home, project: &Path, cancel: &AtomicBool) -> Result<RefreshBench, SessionError> {
    let folder = temporary_folder()?;
    let path = folder.path().join("bench.nestling");
    Store::open_to_read(project)?.save_copy(&path)?;
    let copy = Driver::open(home, &path)?;
    let model = copy.learner().current.as_ref().map(|model| model.id).ok_or(SessionError::NoModel)?;
    let name = model_directory(model);
    let (from, to) = (models_dir(project).join(&name), copy.models_dir().join(&name));
    copy_snapshot(&from, &to).map_err(|source| SessionError::Io { doing: "copy the model", source, path: from })?;
    let mut copy = reopen(copy, home, &path)?;
    copy.run(Command::Set(Setting::AutoTrain(true)))?;
    copy.run(Command::Set(Setting::TrainingPaused(false)))?;
    copy.run(Command::Set(Setting::TrainAfterSentences(1_000_000)))?;
    copy.start_learner();
    // The model is loaded, and has said what it has to say.
    wait(&mut copy, cancel, |project, _| project.learner().predicting.is_none())?;

    let open: Vec<SentenceId> =
        copy.corpus().sentences().filter(|s| may_be_offered(s)).map(|s| s.id()).take(LABELLED).collect();
    if open.len() < LABELLED {
        return Err(SessionError::TooFewOpen { there: open.len(), wanted: LABELLED });
    }
    for sentence in open {
        copy.run(Command::AcceptAll { sentence, min_score: 0.5 })?;
        copy.run(Command::SetStatus { sentence, status: Status::Complete })?;
    }
    let begun = Instant::now();
    let (mut ended, mut compared) = (None, None);
    wait(&mut copy, cancel, |_, events| {
        ended = ended.or(events.iter().find_map(how_it_ended));
        compared = compared.or(events.iter().find_map(|event| match *event {
            Event::ModelNotBetter { new_f1, current_f1, .. } => Some((new_f1, current_f1)),
            _ => None,
        }));
        ended.is_some()
    })?;
    let learned_secs = begun.elapsed().as_secs_f64();
    let used = ended == Some(true);
    let (mut first_secs, mut all_secs) = (None, None);
    if used {
        let newest = copy.learner().current.as_ref().map(|model| model.id);
        let is_new = |project: &Project, id: &SentenceId| project.suggestions(*id).map(|said| said.model) == newest;
        wait(&mut copy, cancel, |project, events| {
            let came = events.iter().any(|event| match event {
                Event::Suggestions(ids) => ids.iter().any(|id| is_new(project, id)),
                _ => false,
            });
            if came && first_secs.is_none() {
                first_secs = Some(begun.elapsed().as_secs_f64());
            }
            first_secs.is_some() && project.learner().predicting.is_none()
        })?;
        all_secs = Some(begun.elapsed().as_secs_f64());
    }
    let complete = copy.corpus().sentences().filter(|s| s.status() == Status::Complete).count();
    let sentences = copy.corpus().sentences().count();
    copy.close()?;
    Ok(RefreshBench { sentences, complete, learned_secs, used, compared, first_secs, all_secs })
}

/// Whether the new model is used, once a training has ended.
fn how_it_ended(event: &Event) -> Option<bool> {
    match event {
        Event::ModelReady(_) => Some(true),
        Event::ModelNotBetter { .. } | Event::TrainingFailed { .. } | Event::TrainingStopped => Some(false),
        _ => None,
    }
}

/// Until `done` says so.
pub(super) fn wait(
    project: &mut Driver,
    cancel: &AtomicBool,
    mut done: impl FnMut(&Project, &[Event]) -> bool,
) -> Result<(), SessionError> {
    while project.run_until(LOOK, &mut done).is_err() {
        not_stopped(cancel)?;
    }
    Ok(())
}

/// So that it finds the model.
fn reopen(project: Driver, home: &Home, path: &Path) -> Result<Driver, SessionError> {
    project.close()?;
    Driver::open(home, path)
}

/// The files of a model: what else is in its folder, or behind a link, is left alone.
fn copy_snapshot(from: &Path, to: &Path) -> std::io::Result<()> {
    for name in snapshot_files() {
        let (from, to) = (from.join(&name), to.join(&name));
        if disk::is_there(&from) {
            to.parent().map(std::fs::create_dir_all).transpose()?;
            std::io::copy(&mut disk::open(&from)?, &mut std::fs::File::create_new(&to)?)?;
        }
    }
    Ok(())
}
