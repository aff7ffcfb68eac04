//! An allocator that counts what is held.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);
/// The counters are of the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Counting;

// SAFETY: all is passed on to the system's allocator; what is counted beside touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        ALL.fetch_add(layout.size(), Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that some work took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Held at a time, beyond what was held before.
    pub(crate) most: usize,
    /// Allocated, whether or not they were given back: a measure of the work.
    pub(crate) all: usize,
}

pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    // A test that failed has left nothing half done here.
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (held, all) = (HELD.load(Relaxed), ALL.load(Relaxed));
    MOST.store(held, Relaxed);
    let result = work();
    (result, Taken { most: MOST.load(Relaxed).saturating_sub(held), all: ALL.load(Relaxed) - all })
}
