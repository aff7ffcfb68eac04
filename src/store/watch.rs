//! How far a long piece of work is, and whether it is still wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shared by those who do a piece of work and those who wait for it: all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    done: Arc<AtomicUsize>,
    total: Arc<AtomicUsize>,
    found: Arc<AtomicUsize>,
}

impl Watch {
    /// Cancelled also by whoever raises `flag`.
    pub fn cancelled_by(flag: Arc<AtomicBool>) -> Self {
        Self { cancelled: flag, ..Self::default() }
    }

    /// Asks for the work to end soon, with nothing changed.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Raised when the work is cancelled.
    pub fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }

    /// The next part of the work begins; `total` is 0 where nobody knows how long it is.
    pub fn begin(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    pub fn advance(&self, by: usize) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }

    /// How much is done, of how much.
    pub fn progress(&self) -> (usize, usize) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }

    /// So many more sentences were found.
    pub fn find(&self, sentences: usize) {
        self.found.fetch_add(sentences, Ordering::Relaxed);
    }

    /// Sentences that were found until now.
    pub fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }
}
