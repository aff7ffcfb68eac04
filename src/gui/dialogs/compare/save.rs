//! Saving a comparison as a file.

use super::super::path_check::PathCheck;
use super::super::{Report, button_row, default_button, explain, field_name, problem};
use super::kept::Shown;
use crate::experiments::{Comparison, ComparisonTable};
use crate::gui::dialogs::DialogContext;
use crate::gui::files::{FileRequest, PathChange, PathField};
use crate::gui::widgets::parts::{button, combo};
use crate::session::{Project, SessionError, Task, write_whole};
use eframe::egui::Ui;
use std::path::{Path, PathBuf};
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
    path: PathField,
    /// The path was typed or chosen: it no longer follows the kind.
    path_is_own: bool,
    /// The path was chosen in the system's dialog, which has asked whether a file may be replaced.
    is_settled: bool,
    path_check: PathCheck,
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
            path: PathField::default(),
            path_is_own: false,
            is_settled: false,
            path_check: PathCheck::default(),
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
            None => self.path_check.mark_taken(self.path.path()),
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
        let request = FileRequest::SaveAs(self.path.path());
        let change = self.path.show(ui, "File", &[("Choose …", request)], context.services);
        self.path_is_own |= change != PathChange::None;
        match change {
            PathChange::None => {}
            PathChange::Typed => self.is_settled = false,
            PathChange::Chosen => self.is_settled = true,
        }
        let waker = &context.services.waker;
        if let Some(free) = self.path_check.check(&self.path.path(), !self.path_is_own, waker) {
            self.path.text = free.display().to_string();
        }
        let replaces = self.path_check.is_taken(&self.path.path());
        if replaces {
            explain(ui, "This file exists and is replaced.");
        }
        if let Some(failure) = &self.failure {
            problem(ui, failure);
        }
        let mut left = None;
        button_row(ui, |ui| {
            let ready = !self.path.text.trim().is_empty();
            let title = if replaces && !self.is_settled { "Replace file" } else { "Write file" };
            if default_button(ui, ready, title) {
                self.failure = None;
                let may_be_there = replaces || self.is_settled;
                let (kind, path) = (self.kind, self.path.path());
                let (comparison, table) = (Arc::clone(&self.comparison), self.table.clone());
                let work =
                    move || (may_be_there || !path.exists()).then(|| write(&path, &kind.text(&comparison, &table)));
                self.writing = Some(Task::spawn("save a comparison", waker.clone(), work));
            }
            if button(ui, true, "Back").clicked() {
                left = Some(Left::Cancelled);
            }
        });
        left
    }

    fn follow_kind(&mut self) {
        if !self.path_is_own {
            let name = self.project.file_stem().unwrap_or_default().to_string_lossy();
            let file = format!("{name}-comparison-{}.{}", self.number, self.kind.names().1);
            self.path.text = self.project.with_file_name(file).display().to_string();
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), SessionError> {
    write_whole(path, |out| {
        let failed = |source| SessionError::Io { doing: "write the file", source, path: path.to_owned() };
        out.write_all(text.as_bytes()).map_err(failed)
    })
}
