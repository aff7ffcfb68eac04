//! When what somebody types is to be stored: soon, but not with every letter.

use eframe::egui::Context;

/// What is typed is stored after such a pause, and at the latest so long after its first letter.
const PAUSE_SECS: f64 = 0.6;
const MOST_SECS: f64 = 5.0;

/// Text in a field that the project does not have yet. Times are those of egui, in seconds.
#[derive(Default)]
pub struct Typing {
    first: Option<f64>,
    last: f64,
}

impl Typing {
    /// Takes note of what was typed now.
    pub(super) fn touch(&mut self, ctx: &Context) {
        self.last = ctx.input(|i| i.time);
        self.first.get_or_insert(self.last);
    }

    /// The text is stored, or as it was.
    pub(super) fn settle(&mut self) {
        self.first = None;
    }

    /// Whether it is time to store the text; where it is not yet, the window looks again then.
    pub(super) fn is_due(&self, ctx: &Context) -> bool {
        let Some(first) = self.first else { return false };
        let secs = (self.last + PAUSE_SECS).min(first + MOST_SECS) - ctx.input(|i| i.time);
        if secs > 0.0 {
            ctx.request_repaint_after_secs(secs as f32);
        }
        secs <= 0.0
    }
}
