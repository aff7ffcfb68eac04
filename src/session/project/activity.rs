//! How long a person worked, which edits are stored with.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A pause longer than this is no work.
const PAUSE: Duration = Duration::from_secs(30);

/// Adds up the time between signs of life that are close to each other, and what was pressed.
#[derive(Debug)]
pub(in crate::session) struct Activity {
    last: Instant,
    worked: Duration,
    presses: u32,
}

impl Activity {
    pub(in crate::session) fn start(now: Instant) -> Self {
        Self { last: now, worked: Duration::ZERO, presses: 0 }
    }

    /// A sign of life: a key, a click, a move of the mouse.
    pub(in crate::session) fn touch(&mut self, now: Instant) {
        let gap = now.saturating_duration_since(self.last);
        if gap <= PAUSE {
            self.worked += gap;
        }
        self.last = now;
    }

    /// Keys and buttons.
    pub(in crate::session) fn press(&mut self, count: u32) {
        self.presses = self.presses.saturating_add(count);
    }

    /// What was pressed since the last call.
    pub(in crate::session) fn take_presses(&mut self) -> u32 {
        std::mem::take(&mut self.presses)
    }

    /// Milliseconds of work since the last call.
    pub(in crate::session) fn take_ms(&mut self, now: Instant) -> i64 {
        self.touch(now);
        i64::try_from(std::mem::take(&mut self.worked).as_millis()).unwrap_or(i64::MAX)
    }
}

/// Milliseconds since 1970, UTC.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_do_not_count() {
        let start = Instant::now();
        let at = |secs| start + Duration::from_secs(secs);
        let mut activity = Activity::start(start);
        activity.touch(at(5));
        activity.touch(at(100));
        assert_eq!(activity.take_ms(at(110)), 15_000);
        assert_eq!(activity.take_ms(at(111)), 1_000);
    }
}
