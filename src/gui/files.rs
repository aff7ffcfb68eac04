//! Choosing files: the system's dialog, and a field where there is none.
//!
//! # Invariants
//! - The system's dialog runs on a thread of its own; the window goes on painting.
//! - It may be missing (no desktop portal, no zenity): every path can be typed as well, and the window says so.

use super::theme;
use super::widgets::keyboard::{is_entered, keeps_enter};
use super::widgets::parts::{button, text_field};
use crate::session::{Hub, Task, Waker};
use eframe::egui::{self, Align, Layout, Ui, vec2};
use std::path::PathBuf;
use std::sync::Arc;

/// What is to be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRequest {
    /// Texts to import, several at once.
    Texts,
    Project,
    /// A folder that is there.
    Folder,
    /// Where to write, with a proposal.
    SaveAs(PathBuf),
}

/// The system's file dialog. Blocks until the person has chosen; empty for nothing.
pub trait FilePicker: Send + Sync {
    fn pick(&self, request: &FileRequest) -> Vec<PathBuf>;
}

/// The desktop's own dialog.
pub struct SystemPicker;

impl FilePicker for SystemPicker {
    fn pick(&self, request: &FileRequest) -> Vec<PathBuf> {
        let dialog = rfd::FileDialog::new();
        match request {
            FileRequest::Texts => dialog.set_title("Texts to import").pick_files().unwrap_or_default(),
            FileRequest::Project => {
                let dialog = dialog.set_title("Open project").add_filter("Nestling projects", &["nestling"]);
                dialog.pick_file().into_iter().collect()
            }
            FileRequest::Folder => dialog.set_title("Choose a folder").pick_folder().into_iter().collect(),
            FileRequest::SaveAs(proposal) => {
                let dialog = match proposal.parent() {
                    Some(folder) => dialog.set_directory(folder),
                    None => dialog,
                };
                let name = proposal.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                dialog.set_file_name(name).save_file().into_iter().collect()
            }
        }
    }
}

/// What dialogs use besides the project.
#[derive(Clone)]
pub(super) struct Services {
    pub picker: Arc<dyn FilePicker>,
    pub waker: Waker,
    /// `None`: as the environment says.
    pub hub: Option<Hub>,
}

/// A path that can be typed or chosen. Several are separated by `;`.
#[derive(Default)]
pub(super) struct PathField {
    pub text: String,
    /// Enter is for the button beside it, not for the dialog.
    pub keeps_enter: bool,
    /// Enter was pressed there.
    pub is_entered: bool,
    choosing: Option<Task<Vec<PathBuf>>>,
    chose_nothing: bool,
}

/// What happened to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PathChange {
    None,
    Typed,
    Chosen,
}

impl PathField {
    pub(super) fn several(paths: &[PathBuf]) -> Self {
        let texts: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        Self { text: texts.join("; "), ..Self::default() }
    }

    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(self.text.trim())
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.typed().map(PathBuf::from).collect()
    }

    /// Whether there is a path; cheap also where there are thousands.
    pub(super) fn has_paths(&self) -> bool {
        self.typed().next().is_some()
    }

    fn typed(&self) -> impl Iterator<Item = &str> {
        self.text.split(';').map(str::trim).filter(|p| !p.is_empty())
    }

    /// The field with a button for each request.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        name: &str,
        requests: &[(&str, FileRequest)],
        services: &Services,
    ) -> PathChange {
        let tokens = theme::tokens(ui);
        let mut change = if self.take_choice() { PathChange::Chosen } else { PathChange::None };
        let row = vec2(ui.available_width(), 34.0);
        ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), |ui| {
            for (title, request) in requests.iter().rev() {
                if button(ui, self.choosing.is_none(), title).clicked() {
                    let (picker, request) = (services.picker.clone(), request.clone());
                    let work = move || picker.pick(&request);
                    self.choosing = Some(Task::spawn("file dialog", services.waker.clone(), work));
                    self.chose_nothing = false;
                }
            }
            let width = ui.available_width();
            let mut field = text_field(ui, name, &mut self.text, width);
            if self.keeps_enter {
                field = keeps_enter(field);
                self.is_entered = is_entered(&field);
            }
            if field.changed() {
                change = PathChange::Typed;
            }
        });
        if self.chose_nothing {
            let text = "Nothing was chosen. If no dialog appeared, this desktop has no file chooser \
                        (xdg-desktop-portal or zenity): type the path instead.";
            ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
        }
        change
    }

    fn take_choice(&mut self) -> bool {
        let Some(result) = self.choosing.as_ref().and_then(Task::poll) else { return false };
        self.choosing = None;
        let paths = result.unwrap_or_default();
        self.chose_nothing = paths.is_empty();
        if paths.is_empty() {
            return false;
        }
        self.text = Self::several(&paths).text;
        true
    }
}
