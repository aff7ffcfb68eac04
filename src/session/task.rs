//! Work that would make a caller wait, done on a thread of its own.

use crate::disk::Noted as _;
use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Called by workers when they have something to tell; the window asks for a repaint then.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A waker that can be set after the workers have started.
#[derive(Clone, Default)]
pub(in crate::session) struct SharedWaker(Arc<Mutex<Option<Waker>>>);

impl SharedWaker {
    pub(in crate::session) fn set(&self, waker: Waker) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    pub(in crate::session) fn wake(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker();
        }
    }

    pub(in crate::session) fn as_waker(&self) -> Waker {
        let shared = self.clone();
        Arc::new(move || shared.wake())
    }
}

/// A piece of work under way. Dropping it lets the work run to its end unheard.
pub struct Task<T> {
    result: Receiver<T>,
}

/// The work ended without a result: its thread panicked or could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the work stopped without a result because of a fault in the program, or because the system had no room for a thread; \
     nothing was changed, please report it; of a fault there is a report in the folder `faults` of the program's own folder"
)]
pub struct TaskLost;

impl<T: Send + 'static> Task<T> {
    /// Runs `work` on a thread with this name, then calls `waker`.
    pub fn spawn(name: &str, waker: Waker, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, result) = bounded(1);
        let for_failure = waker.clone();
        let run = move || {
            if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
                // Nobody listens any more: the result is not wanted.
                let _unheard = sender.send(value);
            } else {
                drop(sender);
            }
            waker();
        };
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        if spawned.noted("there is no thread for the work").is_none() {
            // The sender is dropped with the work, and `poll` reports the task as lost.
            for_failure();
        }
        Self { result }
    }

    /// The result once it is there; `None` while the work goes on. Never waits.
    ///
    /// # Errors
    /// The work can't end any more.
    pub fn poll(&self) -> Option<Result<T, TaskLost>> {
        match self.result.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(TaskLost)),
        }
    }

    /// Waits for the result, but not longer than so; `None` while the work goes on.
    ///
    /// # Errors
    /// The work can't end any more.
    pub fn wait_for(&self, limit: Duration) -> Option<Result<T, TaskLost>> {
        match self.result.recv_timeout(limit) {
            Ok(value) => Some(Ok(value)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(TaskLost)),
        }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The work can't end any more.
    pub fn wait(self) -> Result<T, TaskLost> {
        self.result.recv().map_err(|_| TaskLost)
    }
}

/// A value that takes long to drop: that is done on a thread of its own, wherever the value is let go.
#[derive(Debug, Default)]
pub struct DroppedElsewhere<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> DroppedElsewhere<T> {
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// `None` if it was taken.
    pub fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    pub fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T: Send + 'static> Drop for DroppedElsewhere<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            let spawned = std::thread::Builder::new().name("nestling-drop".to_owned()).spawn(move || drop(value));
            spawned.noted("there is no thread to drop a value on");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_comes_and_a_panic_is_told() {
        let quiet: Waker = Arc::new(|| {});
        assert_eq!(Task::spawn("adds", quiet.clone(), || 1 + 1).wait(), Ok(2));
        assert_eq!(Task::spawn("fails", quiet, || -> i32 { panic!("on purpose") }).wait(), Err(TaskLost));
    }

    #[test]
    fn a_value_is_dropped_on_another_thread() {
        struct Tells(crossbeam_channel::Sender<std::thread::ThreadId>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.send(std::thread::current().id()).unwrap();
            }
        }
        let (told, hears) = bounded(2);
        drop(DroppedElsewhere::new(Tells(told.clone())));
        assert_ne!(hears.recv().unwrap(), std::thread::current().id());
        drop(DroppedElsewhere::new(Tells(told)).take());
        assert_eq!(hears.recv().unwrap(), std::thread::current().id());
    }
}
