//! Shaped words, kept from frame to frame.
//!
//! # Invariants
//! - A kept galley is dropped when egui rebuilds its font atlas, else it would show garbage. One constant text laid out
//!   each frame tells: its `Arc` changes when egui emptied its own cache. Whoever keeps layouts made of these galleys
//!   keys them by [`WordGalleys::epoch`].
//! - Bounded: beyond [`MOST_WORDS`] the cache starts anew.
//!
//! Deliberately absent: colours; galleys are made with a placeholder that the painter replaces.

use crate::gui::theme;
use eframe::egui::text::{LayoutJob, TextFormat, TextWrapping};
use eframe::egui::{Color32, FontId, Galley, Ui};
use std::collections::HashMap;
use std::sync::Arc;

/// About 700 bytes a word.
const MOST_WORDS: usize = 20_000;

#[derive(Default)]
pub struct WordGalleys {
    /// By font size in hundredths of a point.
    sizes: HashMap<u32, HashMap<String, Arc<Galley>>>,
    words: usize,
    canary: Option<Arc<Galley>>,
    epoch: u64,
}

impl WordGalleys {
    /// Call once at the start of each frame.
    pub fn begin_frame(&mut self, ui: &Ui) {
        let font = theme::regular(theme::size::TEXT_SENTENCE);
        let canary = ui.fonts_mut(|f| f.layout_no_wrap("Nestling".to_owned(), font, Color32::PLACEHOLDER));
        let same = self.canary.as_ref().is_some_and(|old| Arc::ptr_eq(old, &canary));
        if !same || self.words > MOST_WORDS {
            self.sizes.clear();
            self.words = 0;
            self.epoch += 1;
            self.canary = Some(canary);
        }
    }

    /// Changes when galleys that were handed out must not be painted any more.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn get(&mut self, ui: &Ui, word: &str, points: f32) -> Arc<Galley> {
        let size = (points * 100.0) as u32;
        if let Some(galley) = self.sizes.get(&size).and_then(|words| words.get(word)) {
            return galley.clone();
        }
        let galley = shape(ui, word, points);
        self.words += 1;
        self.sizes.entry(size).or_default().insert(word.to_owned(), galley.clone());
        galley
    }

    /// The width of a text that is not worth keeping.
    pub fn width_uncached(&self, ui: &Ui, text: &str, points: f32) -> f32 {
        shape(ui, text, points).size().x
    }

    /// The width of a space.
    pub fn space(&mut self, ui: &Ui, points: f32) -> f32 {
        self.get(ui, " ", points).size().x.max(points * 0.2)
    }
}

fn shape(ui: &Ui, text: &str, points: f32) -> Arc<Galley> {
    ui.fonts_mut(|f| f.layout_no_wrap(text.to_owned(), theme::regular(points), Color32::PLACEHOLDER))
}

/// One line of text that ends in "…" where it is wider than `width`.
pub fn elided(ui: &Ui, text: &str, font: FontId, color: Color32, width: f32) -> Arc<Galley> {
    elided_job(ui, LayoutJob::single_section(text.to_owned(), TextFormat::simple(font, color)), width)
}

/// The same for a text of several formats.
pub fn elided_job(ui: &Ui, mut job: LayoutJob, width: f32) -> Arc<Galley> {
    job.wrap = TextWrapping { max_width: width.max(0.0), max_rows: 1, break_anywhere: true, ..TextWrapping::default() };
    ui.fonts_mut(|f| f.layout_job(job))
}
