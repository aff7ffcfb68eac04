//! A new project: where it lies, which labels, which encoder the learner starts from.

use super::encoders::{EncoderChange, EncoderChoice};
use super::path_check::PathCheck;
use super::{DialogContext, button_row, default_button, explain, field_name, modal, problem};
use crate::encoder::EncoderInfo;
use crate::gui::actions::UiAction;
use crate::gui::files::{FileRequest, PathChange, PathField};
use crate::gui::theme::size;
use crate::gui::widgets::keyboard::keeps_enter;
use crate::gui::widgets::parts::{button, text_field};
use crate::wording::counted;
use eframe::egui::{self, Margin, ScrollArea, Ui};
use std::path::{Path, PathBuf};

pub(crate) struct NewProjectDialog {
    folder: PathBuf,
    name: String,
    path: PathField,
    /// The path was typed or chosen: it no longer follows the name.
    path_is_own: bool,
    path_check: PathCheck,
    labels: String,
    encoder: EncoderChoice,
    then_import: Vec<PathBuf>,
}

impl NewProjectDialog {
    /// A project in this folder, into which files are imported afterwards.
    pub(crate) fn new(folder: &Path, encoders: &[EncoderInfo], then_import: Vec<PathBuf>) -> Self {
        let mut dialog = Self {
            folder: PathBuf::new(),
            name: "My project".to_owned(),
            path: PathField::default(),
            path_is_own: false,
            path_check: PathCheck::default(),
            labels: "PER, ORG, LOC".to_owned(),
            encoder: EncoderChoice::or_automatic(),
            then_import,
        };
        dialog.take_listing(folder, encoders);
        dialog
    }

    /// What was read from the disk meanwhile; what the person has chosen stays.
    pub(crate) fn take_listing(&mut self, folder: &Path, encoders: &[EncoderInfo]) {
        self.folder = folder.to_owned();
        self.encoder.take_listing(encoders);
        self.follow_name();
    }

    /// More files to be imported afterwards.
    pub(crate) fn take_files(&mut self, files: impl Iterator<Item = PathBuf>) {
        for file in files {
            if !self.then_import.contains(&file) {
                self.then_import.push(file);
            }
        }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        if let Some(free) = self.path_check.check(&self.full_path(), !self.path_is_own, &context.services.waker) {
            self.path.text = free.display().to_string();
        }
        let (mut create, mut cancel) = (false, false);
        let closed = modal(ctx, "New project", size::DIALOG_WIDTH, |ui| {
            let height = (ctx.content_rect().height() - 230.0).max(160.0);
            ScrollArea::vertical().max_height(height).show(ui, |ui| self.fields(ui, context));
            let trouble = self.trouble();
            if let Some(trouble) = &trouble {
                problem(ui, trouble);
            }
            button_row(ui, |ui| {
                create = default_button(ui, trouble.is_none(), "Create project");
                cancel = button(ui, true, "Cancel").clicked();
            });
        });
        if create {
            // The work that begins closes the dialog, which comes back where it fails.
            context.actions.push(UiAction::Create {
                path: self.full_path(),
                labels: self.label_names(),
                encoder: self.encoder.chosen().map(str::to_owned),
                then_import: self.then_import.clone(),
            });
        } else if closed || cancel {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn fields(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        field_name(ui, "Name");
        let name = text_field(ui, "Name", &mut self.name, f32::INFINITY);
        if name.changed() {
            self.follow_name();
        }
        field_name(ui, "File");
        let request = FileRequest::SaveAs(self.full_path());
        let change = self.path.show(ui, "File", &[("Choose …", request)], context.services);
        self.path_is_own |= change != PathChange::None;
        explain(ui, "This one file holds all texts, labels and decisions. Trained models go in a folder beside it.");

        field_name(ui, "Labels");
        let edit = egui::TextEdit::multiline(&mut self.labels)
            .id(egui::Id::unique("labels of the new project"))
            .margin(Margin::symmetric(10, 7))
            .desired_rows(2)
            .desired_width(f32::INFINITY);
        keeps_enter(ui.add(edit).accessible_name("Labels"));
        explain(
            ui,
            "Separate them with commas or line breaks. Colours and keys are chosen for you. Imports can add \
                     labels.",
        );
        if let Some(first) = self.then_import.first() {
            let name = first.file_name().unwrap_or_default().to_string_lossy();
            let more = match self.then_import.len() - 1 {
                0 => String::new(),
                more => format!(" and {}", counted(more, "other file", "other files")),
            };
            explain(ui, &format!("Then {name}{more} will be imported."));
        }

        field_name(ui, "Encoder");
        if self.encoder.show(ui, context.encoders, context.services) == EncoderChange::Added {
            context.actions.push(UiAction::RefreshListing);
        }
    }

    fn follow_name(&mut self) {
        if !self.path_is_own {
            let kept: String = self.name.trim().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
            let file = if kept.is_empty() { "project" } else { &kept };
            self.path.text = self.folder.join(format!("{file}.nestling")).display().to_string();
        }
    }

    fn full_path(&self) -> PathBuf {
        let path = self.path.path();
        if path.extension().is_some() { path } else { path.with_extension("nestling") }
    }

    fn label_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.labels.split([',', ';', '\n']).map(str::trim).filter(|n| !n.is_empty()) {
            if !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    fn trouble(&self) -> Option<String> {
        let path = self.path.path();
        if path.as_os_str().is_empty() || path.file_name().is_none() {
            return Some("Type or choose a file for the project.".to_owned());
        }
        let is_taken = self.path_check.is_taken(&self.full_path());
        is_taken.then(|| "This file already exists. Choose another name, or open it.".to_owned())
    }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.')
}
