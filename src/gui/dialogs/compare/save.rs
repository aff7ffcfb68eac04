//! Saving a comparison as a file.

use super::super::save_path::SavePath;
use super::super::{Report, button_row, default_button, explain, field_name, problem};
use super::kept::Shown;
use crate::experiments::{Comparison, ComparisonTable};
use crate::gui::dialogs::DialogContext;
use crate::gui::widgets::parts::{button, combo};
use crate::session::{Project, SessionError, Task, write_text};
use eframe::egui::Ui;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileKind {
    Csv,
    Json,
    Markdown,
    Svg,
}

impl FileKind {
    const ALL: [Self; 4] = [Self::Csv, Self::Json, Self::Markdown, Self::Svg];

    /// Its name, and how files of it end.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Csv => ("Table as CSV", "csv"),
            Self::Json => ("Table as JSON", "json"),
            Self::Markdown => ("Table as Markdown", "md"),
            Self::Svg => ("Plot as SVG", "svg"),
        }
    }

    fn text(self, comparison: &Comparison, table: &ComparisonTable) -> String {
        match self {
            Self::Csv => table.csv(),
            Self::Json => format!("{:#}\n", table.json()),
            Self::Markdown => table.markdown(),
            Self::Svg => comparison.svg(),
        }
    }
}

pub(super) struct SavePage {
    kind: FileKind,
    comparison: Arc<Comparison>,
    table: ComparisonTable,
    number: u32,
    /// The project's file.
    project: PathBuf,
    /// Follows the kind.
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
    pub(super) fn new(project: &Project, shown: &Shown) -> Self {
        let mut page = Self {
            kind: FileKind::Csv,
            comparison: Arc::clone(&shown.comparison),
            table: shown.table.clone(),
            number: shown.number,
            project: project.path().to_owned(),
            path: SavePath::default(),
            failure: None,
            writing: None,
        };
        page.follow_kind();
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
        field_name(ui, "What to save");
        let mut kind = self.kind;
        combo(ui, "What to save", kind.names().0, 200.0, |ui| {
            for choice in FileKind::ALL {
                ui.selectable_value(&mut kind, choice, choice.names().0);
            }
        });
        if kind != self.kind {
            self.kind = kind;
            self.follow_kind();
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
                self.failure = None;
                let may_be_there = replaces || self.path.is_settled();
                let (kind, path) = (self.kind, self.path.path());
                let (comparison, table) = (Arc::clone(&self.comparison), self.table.clone());
                let work = move || {
                    (may_be_there || !path.exists())
                        .then(|| write_text(&path, "write the file", &kind.text(&comparison, &table)))
                };
                self.writing = Some(Task::spawn("save a comparison", context.services.waker.clone(), work));
            }
            if button(ui, true, "Back").clicked() {
                left = Some(Left::Cancelled);
            }
        });
        left
    }

    fn follow_kind(&mut self) {
        let name = self.project.file_stem().unwrap_or_default().to_string_lossy();
        let file = format!("{name}-comparison-{}.{}", self.number, self.kind.names().1);
        self.path.propose(|| self.project.with_file_name(file));
    }
}
