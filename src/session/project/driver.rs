//! A project that is worked on without a window: what waits is done here, and nowhere else.

use super::status::Event;
use super::{NewProject, Project};
use crate::session::{Home, SessionError};
use crate::store::FileNews;
use crossbeam_channel::{Receiver, bounded};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An open project with nobody in front of it, so that a caller may wait: for the disk, for a training, for a model. It is
/// for the command line, experiments and tests. The window has a [`Project`] alone, which never waits.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use nestling::session::{Driver, Event, Home, Project};
/// let mut project = Driver::open(&Home::find(), "sea.nestling".as_ref())?;
/// project.start_learner();
/// let minute = std::time::Duration::from_secs(60);
/// let is_idle = |project: &Project, _: &[Event]| project.learner().predicting.is_none();
/// project.run_until(minute, is_idle)?;
/// project.flush()?;
/// # Ok(())
/// # }
/// ```
pub struct Driver {
    project: Project,
    /// Holds one wake until it is heard; more say no more.
    wakes: Receiver<()>,
}

/// The time limit passed before what was waited for came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what was waited for did not come within {} seconds", limit.as_secs_f32())]
pub struct NothingCame {
    pub limit: Duration,
}

impl Deref for Driver {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl DerefMut for Driver {
    fn deref_mut(&mut self) -> &mut Project {
        &mut self.project
    }
}

impl Driver {
    /// Takes the place of the project's waker.
    pub fn of(mut project: Project) -> Self {
        let (woken, wakes) = bounded(1);
        project.set_waker(Arc::new(move || {
            // A full channel says it already; without a driver nobody listens.
            let _said = woken.try_send(());
        }));
        Self { project, wakes }
    }

    /// See [`Project::create`].
    ///
    /// # Errors
    /// See there.
    pub fn create(home: &Home, path: &Path, new: &NewProject) -> Result<Self, SessionError> {
        Project::create(home, path, new).map(Self::of)
    }

    /// See [`Project::open`].
    ///
    /// # Errors
    /// See there.
    pub fn open(home: &Home, path: &Path) -> Result<Self, SessionError> {
        Project::open(home, path).map(Self::of)
    }

    /// See [`Project::open_to_read`].
    ///
    /// # Errors
    /// See there.
    pub fn open_to_read(home: &Home, path: &Path) -> Result<Self, SessionError> {
        Project::open_to_read(home, path).map(Self::of)
    }

    /// For who has a waker of their own.
    pub fn into_project(self) -> Project {
        self.project
    }

    /// See [`Project::close`].
    ///
    /// # Errors
    /// See there.
    pub fn close(self) -> Result<(), SessionError> {
        self.project.close()
    }

    /// See [`Project::close_with_news`].
    ///
    /// # Errors
    /// See there.
    pub fn close_with_news(self) -> Result<Vec<FileNews>, SessionError> {
        self.project.close_with_news()
    }

    /// Polls until `done`, which sees the project and the events of each poll, and waits for the workers in between.
    ///
    /// # Errors
    /// The limit passed first.
    pub fn run_until(
        &mut self,
        limit: Duration,
        mut done: impl FnMut(&Project, &[Event]) -> bool,
    ) -> Result<(), NothingCame> {
        let end = Instant::now() + limit;
        loop {
            // What wakes after this poll has begun is heard by the next one.
            let events = self.project.poll();
            if done(&self.project, &events) {
                return Ok(());
            }
            if self.wakes.recv_deadline(end).is_err() {
                return Err(NothingCame { limit });
            }
        }
    }

    /// Waits until all is on disk.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub fn flush(&self) -> Result<(), SessionError> {
        self.project.flush()
    }
}
