//! A comparison on a thread of its own, at low priority, kept beside the project.
//!
//! # Invariants
//! - It works on a snapshot of the corpus: the project may be edited meanwhile.
//! - A run that is finished is on disk before it is told of. A stop loses the one under way and no other.

use super::comparison::Comparison;
use super::kept::{comparison_folder, find_or_make};
use super::request::{CompareRequest, Variant};
use super::run::{CompareEvent, compare};
use super::subject::Subject;
use crate::session::{Project, SessionError, Task, TaskLost, Waker, lower_priority};
use crate::train::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a training asks to be shown, at most.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// How far a comparison is.
#[derive(Clone, Debug, Default)]
pub struct ComparisonProgress {
    /// Of its folder, once that is known.
    pub number: Option<u32>,
    /// The folder is new, though others are there: their sentences or settings are not these.
    pub is_new: bool,
    /// The model being trained, counted from 1; 0 before the first.
    pub run: usize,
    pub runs: usize,
    pub variant: Option<Variant>,
    pub seed: u64,
    /// Of the training under way, counted from 1; 0 before and after it.
    pub epoch: usize,
    pub epochs: usize,
    /// Seconds that the training under way will still take.
    run_secs_left: Option<f64>,
    /// The part of the training under way that is done.
    run_done: f32,
    /// All that is finished.
    pub so_far: Option<Arc<Comparison>>,
}

impl ComparisonProgress {
    /// What is done of the whole, in [0, 1].
    pub fn fraction(&self) -> f32 {
        if self.runs == 0 {
            return 0.0;
        }
        ((self.run.saturating_sub(1) as f32 + self.run_done) / self.runs as f32).clamp(0.0, 1.0)
    }

    /// Seconds for the rest, roughly; `None` before anything is known.
    pub fn secs_left(&self) -> Option<f64> {
        let left = self.run_secs_left?;
        let done = f64::from(self.run_done);
        let by_this = (done > 0.0 && done < 1.0).then(|| left / (1.0 - done));
        let by_others = self.so_far.as_ref().zip(self.variant.as_ref());
        let each = by_others.and_then(|(so_far, variant)| so_far.expected_secs([(variant, 1)])).or(by_this)?;
        Some(left + each * self.runs.saturating_sub(self.run) as f64)
    }
}

/// A comparison under way. Dropping it cancels it.
pub struct BackgroundComparison {
    cancel: Arc<AtomicBool>,
    progress: Arc<Mutex<ComparisonProgress>>,
    task: Task<Result<u32, SessionError>>,
}

impl BackgroundComparison {
    /// Trains what `request` asks for and is not kept yet, but for its output and `resume`: runs lie in the newest folder of
    /// the project with the same sentences and settings, or in a new one. `waker` is called when there is something to show.
    pub fn start(project: &Project, request: CompareRequest, waker: Waker) -> Self {
        let (cancel, progress) =
            (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(ComparisonProgress::default())));
        let (corpus, encoders, path) = (project.snapshot_of_corpus(), project.encoders(), project.path().to_owned());
        let (stop, shown, wake) = (Arc::clone(&cancel), Arc::clone(&progress), waker.clone());
        let work = move || {
            lower_priority();
            let subject = Subject::of(&corpus, encoders, request.part)?;
            // Edits need not copy what nobody reads any more.
            drop(corpus);
            let (number, is_new) = find_or_make(&path, &subject.in_common(&request.config))?;
            change(&shown, |progress| {
                (progress.number, progress.is_new) = (Some(number), is_new && number > 1);
            });
            let request = CompareRequest { output: Some(comparison_folder(&path, number)), resume: true, ..request };
            let mut shown_last = Instant::now();
            compare(&subject, &request, &stop, &mut |event| {
                let is_step = matches!(event, CompareEvent::Train(_));
                change(&shown, |progress| take_in(progress, event));
                if !is_step || shown_last.elapsed() >= SHOW_EVERY {
                    shown_last = Instant::now();
                    wake();
                }
            })?;
            Ok(number)
        };
        Self { cancel, progress, task: Task::spawn("nestling-comparer", waker, work) }
    }

    pub fn progress(&self) -> ComparisonProgress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The run under way ends within a step and is lost; finished ones stay.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The number of its folder, once all runs are finished; [`SessionError::Stopped`] after a cancel. Never waits.
    pub fn poll(&self) -> Option<Result<u32, SessionError>> {
        self.task.poll().map(flat)
    }

    /// Cancels it and waits for its end: for the end of the program.
    pub fn stop(self) {
        self.cancel();
        // Before it ends for good, so that its temporary folder goes.
        while self.task.wait_for(Duration::from_secs(1)).is_none() {}
    }
}

impl Drop for BackgroundComparison {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn flat(result: Result<Result<u32, SessionError>, TaskLost>) -> Result<u32, SessionError> {
    result.map_err(SessionError::from).flatten()
}

fn change(progress: &Mutex<ComparisonProgress>, how: impl FnOnce(&mut ComparisonProgress)) {
    how(&mut progress.lock().unwrap_or_else(PoisonError::into_inner));
}

fn take_in(progress: &mut ComparisonProgress, event: CompareEvent) {
    match event {
        CompareEvent::Started { run, runs, variant, seed } => {
            (progress.run, progress.runs) = (run, runs);
            (progress.variant, progress.seed) = (Some(variant), seed);
            (progress.epoch, progress.epochs, progress.run_secs_left, progress.run_done) = (0, 0, None, 0.0);
        }
        CompareEvent::Train(Event::Progress { step, steps, epoch, epochs, secs_left, .. }) => {
            (progress.epoch, progress.epochs) = (epoch, epochs);
            progress.run_secs_left = Some(secs_left);
            progress.run_done = step as f32 / steps.max(1) as f32;
        }
        CompareEvent::Train(_) => {}
        CompareEvent::Scored { so_far, .. } => {
            progress.run_done = 1.0;
            progress.so_far = Some(so_far);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::{comparison, run};
    use super::*;

    #[test]
    fn the_rest_is_told_by_what_models_have_taken() {
        let mut progress = ComparisonProgress::default();
        assert_eq!((progress.fraction(), progress.secs_left()), (0.0, None));
        let started = |run| CompareEvent::Started { run, runs: 4, variant: Variant::new("a"), seed: 1 };
        let step = |step| {
            CompareEvent::Train(Event::Progress { step, steps: 10, epoch: 1, epochs: 2, loss: 1.0, secs_left: 6.0 })
        };
        take_in(&mut progress, started(1));
        take_in(&mut progress, step(4));
        // Six seconds are six tenths: each of the three others takes ten.
        assert!((progress.secs_left().unwrap() - 36.0).abs() < 1e-5 && (progress.fraction() - 0.1).abs() < 1e-6);
        let so_far = Arc::new(comparison(vec![run("a", 2, &[&[], &[]])]));
        take_in(&mut progress, CompareEvent::Scored { variant: Variant::new("a"), seed: 1, f1: None, so_far });
        assert!((progress.fraction() - 0.25).abs() < 1e-6);
        take_in(&mut progress, started(2));
        assert_eq!(progress.secs_left(), None, "nothing is known before its first step");
        take_in(&mut progress, step(5));
        // The finished one took 20 seconds and one to score.
        assert!((progress.secs_left().unwrap() - (6.0 + 2.0 * 21.0)).abs() < 1e-5);
    }
}
