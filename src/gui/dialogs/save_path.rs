//! Where a file is to be saved: a proposal until a person types or chooses a path, and whether what is there is replaced.

use super::path_check::PathCheck;
use crate::gui::files::{FileRequest, PathChange, PathField, Services};
use eframe::egui::Ui;
use std::path::PathBuf;

#[derive(Default)]
pub(super) struct SavePath {
    field: PathField,
    /// It was typed or chosen: it no longer follows what is proposed.
    is_own: bool,
    /// It was chosen in the system's dialog, which has asked whether a file may be replaced.
    is_settled: bool,
    check: PathCheck,
}

impl SavePath {
    /// Takes a proposal, unless the person has a path of their own.
    pub(super) fn propose(&mut self, path: impl FnOnce() -> PathBuf) {
        if !self.is_own {
            self.field.text = path().display().to_string();
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.field.path()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.field.text.trim().is_empty()
    }

    /// The field with its button. A proposal that is taken becomes the next free one.
    pub(super) fn show(&mut self, ui: &mut Ui, services: &Services) {
        let request = FileRequest::SaveAs(self.path());
        let change = self.field.show(ui, "File", &[("Choose …", request)], services);
        self.is_own |= change != PathChange::None;
        match change {
            PathChange::None => {}
            PathChange::Typed => self.is_settled = false,
            PathChange::Chosen => self.is_settled = true,
        }
        if let Some(free) = self.check.check(&self.path(), !self.is_own, &services.waker) {
            self.field.text = free.display().to_string();
        }
    }

    /// Something is there, as far as is known.
    pub(super) fn is_taken(&self) -> bool {
        self.check.is_taken(&self.path())
    }

    /// Something turned out to be there.
    pub(super) fn mark_taken(&mut self) {
        self.check.mark_taken(self.path());
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// What the button that writes is called, where a file `is_replaced` or not.
    pub(super) fn button(&self, is_replaced: bool) -> &'static str {
        if is_replaced && !self.is_settled { "Replace file" } else { "Write file" }
    }
}
