//! The comparison of models that goes on beside the work, whether its dialog is open or not.

use crate::experiments::{BackgroundComparison, CompareRequest, ComparisonProgress};
use crate::session::{Project, SessionError, Waker};
use crate::wording::capital;

/// One comparison at a time, and what became of the last one.
#[derive(Default)]
pub(in crate::gui) struct Comparing {
    running: Option<BackgroundComparison>,
    /// How many have ended: what is kept on disk is another one then.
    ends: usize,
    failure: Option<String>,
}

impl Comparing {
    /// Does nothing while one goes on.
    pub(in crate::gui) fn start(&mut self, project: &Project, request: CompareRequest, waker: Waker) {
        if self.running.is_none() {
            self.failure = None;
            self.running = Some(BackgroundComparison::start(project, request, waker));
        }
    }

    /// Models that are finished stay.
    pub(in crate::gui) fn cancel(&self) {
        if let Some(running) = &self.running {
            running.cancel();
        }
    }

    /// Of the one that goes on, and whether it is being cancelled.
    pub(in crate::gui) fn progress(&self) -> Option<(ComparisonProgress, bool)> {
        self.running.as_ref().map(|running| (running.progress(), running.is_cancelled()))
    }

    pub(in crate::gui) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(in crate::gui) fn ends(&self) -> usize {
        self.ends
    }

    /// Why the last one ended early.
    pub(in crate::gui) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// How one has ended, once.
    pub(in crate::gui) fn take_end(&mut self) -> Option<Result<u32, SessionError>> {
        let end = self.running.as_ref()?.poll()?;
        self.running = None;
        self.ends += 1;
        self.failure = match &end {
            Ok(_) | Err(SessionError::Stopped) => None,
            Err(error) => Some(capital(&error.to_string())),
        };
        Some(end)
    }

    /// Cancels and waits.
    pub(in crate::gui) fn stop(self) {
        if let Some(running) = self.running {
            running.stop();
        }
    }
}
