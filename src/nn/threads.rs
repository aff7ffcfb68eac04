//! A bound on the threads that tensor work uses.

use super::NnError;

/// A pool of its own for one model, so that a trainer and a predictor don't wait for each other's queue.
///
/// What runs inside [`Threads::run`] uses at most this many threads: matrix products and the kernels of this module
/// divide their work over the pool that they are called in. Other element-wise operations of candle run on one thread.
#[derive(Debug)]
pub struct Threads(rayon::ThreadPool);

impl Threads {
    /// `None`: as many as there are cores. The threads are called `NAME-0`, `NAME-1`, …
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn new(name: &'static str, threads: Option<usize>) -> Result<Self, NnError> {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.unwrap_or_else(cores).max(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(move |i| format!("{name}-{i}"));
        pool.build().map(Self).map_err(|e| NnError::Threads { threads, reason: e.to_string() })
    }

    pub fn count(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Runs `f` on a thread of the pool and waits for it.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.0.install(f)
    }
}
