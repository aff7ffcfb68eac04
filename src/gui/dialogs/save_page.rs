//! The page of a dialog that saves what it shows as a file: one of several texts.

use super::save_path::SavePath;
use super::{DialogContext, Report, button_row, default_button, explain, field_name, problem};
use crate::gui::widgets::parts::{button, combo};
use crate::session::{Project, SessionError, Task, write_text};
use eframe::egui::Ui;
use std::path::PathBuf;
use std::sync::Arc;

/// As wide as what is chosen from.
const CHOICES: f32 = 240.0;

/// A text that can be saved.
pub(super) struct Savable {
    /// "Table as CSV".
    pub(super) title: String,
    /// What the file is called that is proposed, after the project's name: "comparison-1.csv".
    pub(super) file: String,
    /// Made on the thread that writes.
    pub(super) text: Arc<dyn Fn() -> String + Send + Sync>,
}

pub(super) struct SavePage {
    savables: Vec<Savable>,
    /// Which of them.
    chosen: usize,
    /// The project's file.
    project: PathBuf,
    /// Follows what is chosen.
    path: SavePath,
    failure: Option<String>,
    /// It comes to nothing where a file turns out to be there that nobody said may be replaced.
    writing: Option<Task<Option<Result<(), SessionError>>>>,
}

/// What came of the page.
pub(super) enum Left {
    Saved(PathBuf),
    Cancelled,
}

impl SavePage {
    pub(super) fn new(project: &Project, savables: Vec<Savable>) -> Self {
        let mut page = Self {
            savables,
            chosen: 0,
            project: project.path().to_owned(),
            path: SavePath::default(),
            failure: None,
            writing: None,
        };
        page.propose();
        page
    }

    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(super) fn wait(self) {
        if let Some(task) = self.writing {
            // The window is gone: there is nobody to tell.
            let _written = task.wait();
        }
    }

    /// Where it was saved, once it is. Call each frame.
    pub(super) fn follow(&mut self) -> Option<Left> {
        let result = self.writing.as_ref()?.poll()?;
        self.writing = None;
        match result.map_err(SessionError::from).transpose() {
            Some(Ok(Ok(()))) => return Some(Left::Saved(self.path.path())),
            Some(Ok(Err(error)) | Err(error)) => self.failure = Some(Report::of("", &error).text),
            None => self.path.mark_taken(),
        }
        None
    }

    pub(super) fn show(&mut self, ui: &mut Ui, context: &DialogContext<'_>) -> Option<Left> {
        if self.is_writing() {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label("Writing …");
            });
            return None;
        }
        let Some(savable) = self.savables.get(self.chosen) else { return Some(Left::Cancelled) };
        field_name(ui, "What to save");
        let mut chosen = self.chosen;
        combo(ui, "What to save", savable.title.as_str(), CHOICES, |ui| {
            for (at, savable) in self.savables.iter().enumerate() {
                ui.selectable_value(&mut chosen, at, savable.title.as_str());
            }
        });
        if chosen != self.chosen {
            self.chosen = chosen;
            self.propose();
        }
        field_name(ui, "File");
        self.path.show(ui, context.services);
        let replaces = self.path.is_taken();
        if replaces {
            explain(ui, "This file exists and is replaced.");
        }
        if let Some(failure) = &self.failure {
            problem(ui, failure);
        }
        let mut left = None;
        button_row(ui, |ui| {
            let ready = !self.path.is_empty();
            if default_button(ui, ready, self.path.button(replaces)) {
                self.write(replaces, context);
            }
            if button(ui, true, "Back").clicked() {
                left = Some(Left::Cancelled);
            }
        });
        left
    }

    fn write(&mut self, replaces: bool, context: &DialogContext<'_>) {
        let Some(savable) = self.savables.get(self.chosen) else { return };
        self.failure = None;
        let may_be_there = replaces || self.path.is_settled();
        let (text, path) = (Arc::clone(&savable.text), self.path.path());
        let work = move || (may_be_there || !path.exists()).then(|| write_text(&path, "write the file", &text()));
        self.writing = Some(Task::spawn("save a text", context.services.waker.clone(), work));
    }

    fn propose(&mut self) {
        let Some(savable) = self.savables.get(self.chosen) else { return };
        let name = self.project.file_stem().unwrap_or_default().to_string_lossy();
        let file = format!("{name}-{}", savable.file);
        self.path.propose(|| self.project.with_file_name(file));
    }
}
