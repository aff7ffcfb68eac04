//! A project moved on without a window, as fast as its workers have something to say.

use super::Project;
use super::status::Event;
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Polls a project each time that one of its workers wakes it: what a window does with its frames.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use nestling::session::{Driver, Event, Home, Project};
/// let mut project = Project::open(&Home::find(), "sea.nestling".as_ref())?;
/// project.start_learner();
/// let minute = std::time::Duration::from_secs(60);
/// let is_idle = |project: &Project, _: &[Event]| project.learner().predicting.is_none();
/// Driver::of(&mut project).run_until(&mut project, minute, is_idle)?;
/// # Ok(())
/// # }
/// ```
pub struct Driver {
    /// Holds one wake until it is heard; more say no more.
    wakes: Receiver<()>,
}

/// The time limit passed before what was waited for came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what was waited for did not come within {} seconds", limit.as_secs_f32())]
pub struct NothingCame {
    pub limit: Duration,
}

impl Driver {
    /// Takes the place of the project's waker.
    pub fn of(project: &mut Project) -> Self {
        let (woken, wakes) = bounded(1);
        project.set_waker(Arc::new(move || {
            // A full channel says it already; without a driver nobody listens.
            let _said = woken.try_send(());
        }));
        Self { wakes }
    }

    /// Polls until `done`, which sees the project and the events of each poll, and waits for the workers in between.
    ///
    /// # Errors
    /// The limit passed first.
    pub fn run_until(
        &self,
        project: &mut Project,
        limit: Duration,
        mut done: impl FnMut(&Project, &[Event]) -> bool,
    ) -> Result<(), NothingCame> {
        let end = Instant::now() + limit;
        loop {
            // What wakes after this poll has begun is heard by the next one.
            let events = project.poll();
            if done(project, &events) {
                return Ok(());
            }
            if self.wakes.recv_deadline(end).is_err() {
                return Err(NothingCame { limit });
            }
        }
    }
}
