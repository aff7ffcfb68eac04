//! Exporting: which format, what of the project, where to; and what the format could not hold.

use super::options::{format_option, option_rows};
use super::save_path::SavePath;
use super::{DialogContext, Report, button_row, default_button, explain, field_name, modal, problem};
use crate::format::{Format, Layout, Use, formats};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::{button, combo};
use crate::session::{ExportReceipt, ExportRequest, ExportWhat, Part, Project, SessionError, Task};
use crate::wording::{counted, grouped};
use eframe::egui::{self, Label, ScrollArea, Ui};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) struct ExportDialog {
    request: ExportRequest,
    /// Those that differ from the default of the format.
    options: BTreeMap<&'static str, String>,
    /// Follows the format.
    path: SavePath,
    /// The project's file.
    project: PathBuf,
    state: ExportState,
}

enum ExportState {
    Choosing {
        failure: Option<String>,
    },
    /// It comes to nothing where a file turns out to be there that nobody said may be replaced.
    Writing(Task<Option<Result<ExportReceipt, SessionError>>>),
    Done(Box<ExportReceipt>),
}

impl ExportDialog {
    pub(crate) fn new(project: &Project) -> Self {
        let format = formats().first().map(|f| f.id().to_owned()).unwrap_or_default();
        let mut dialog = Self {
            request: ExportRequest { format, ..ExportRequest::default() },
            options: BTreeMap::new(),
            path: SavePath::default(),
            project: project.path().to_owned(),
            state: ExportState::Choosing { failure: None },
        };
        dialog.follow_format();
        dialog
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        if let ExportState::Writing(task) = &self.state
            && let Some(result) = task.poll()
        {
            self.state = match result.map_err(SessionError::from).transpose() {
                Some(Ok(Ok(receipt))) => ExportState::Done(Box::new(receipt)),
                Some(Ok(Err(error)) | Err(error)) => {
                    ExportState::Choosing { failure: Some(Report::of("", &error).text) }
                }
                None => {
                    self.path.mark_taken();
                    ExportState::Choosing { failure: None }
                }
            };
        }
        let title = if matches!(self.state, ExportState::Done(_)) { "Exported" } else { "Export" };
        let closed = modal(ctx, title, size::DIALOG_WIDTH, |ui| match &self.state {
            ExportState::Done(receipt) => done(ui, receipt, &self.path.path(), context),
            ExportState::Writing(_) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label("Writing and verifying …");
                });
            }
            ExportState::Choosing { .. } => self.choose(ui, context),
        });
        if closed && !self.is_writing() {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    /// Then it stays open: what comes of it is to be seen.
    pub(crate) fn is_writing(&self) -> bool {
        matches!(self.state, ExportState::Writing(_))
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(crate) fn wait(self) {
        if let ExportState::Writing(task) = self.state {
            // The window is gone: there is nobody to tell.
            let _written = task.wait();
        }
    }

    fn choose(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else { return };
        field_name(ui, "Format");
        let mut chosen = None;
        let current = self.format();
        combo(ui, "Format of the file", current.map_or("", |f| f.title()), 260.0, |ui| {
            for format in formats() {
                if ui.selectable_label(format.id() == self.request.format, format.title()).clicked() {
                    chosen = Some(format.id());
                }
            }
        });
        if let Some(id) = chosen {
            self.request.format = id.to_owned();
            self.options.clear();
            self.follow_format();
        }
        if let Some(lacks) = self.format().map(lacks).filter(|l| !l.is_empty()) {
            explain(ui, &format!("This format can't hold {lacks}. What is left out will be listed."));
        }
        option_rows(ui, |ui| {
            let specs = self.format().map_or(&[][..], |f| f.options());
            for spec in specs.iter().filter(|spec| spec.used != Use::Reading) {
                format_option(ui, spec, &mut self.options);
            }
        });
        field_name(ui, "What");
        self.what(ui, project);
        field_name(ui, if self.is_folder() { "Folder" } else { "File" });
        self.path.show(ui, context.services);
        let replaces = !self.is_folder() && self.path.is_taken();
        explain(
            ui,
            match (self.is_folder(), replaces) {
                (true, _) => "Several files will be written to this folder, which must be new or empty.",
                (false, true) => "This file exists. It is replaced only if the export succeeds.",
                (false, false) => "The file appears only if the export succeeds.",
            },
        );
        if let ExportState::Choosing { failure: Some(failure) } = &self.state {
            problem(ui, failure);
        }
        button_row(ui, |ui| {
            let ready = !self.path.is_empty();
            if default_button(ui, ready, self.path.button(replaces)) {
                let options = self.options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
                let request = ExportRequest { options, ..self.request.clone() };
                let (view, path) = (project.export_view(), self.path.path());
                let may_be_there = replaces || self.path.is_settled() || self.is_folder();
                let work = move || (may_be_there || !path.exists()).then(|| view.export(&request, &path));
                self.state = ExportState::Writing(Task::spawn("export", context.services.waker.clone(), work));
            }
            if button(ui, true, "Cancel").clicked() {
                context.actions.push(UiAction::CloseDialog);
            }
        });
    }

    fn what(&mut self, ui: &mut Ui, project: &Project) {
        ui.horizontal_wrapped(|ui| {
            leaves_enter(ui.radio_value(&mut self.request.what, ExportWhat::Gold, "Mentions"));
            leaves_enter(ui.radio_value(&mut self.request.what, ExportWhat::Suggestions, "Suggestions"));
            ui.add_space(size::GAP);
            ui.label("of");
            let name = |part: Option<Part>| match part {
                None => "all sentences",
                Some(Part::Train) => "training sentences",
                Some(Part::Dev) => "dev sentences",
                Some(Part::Test) => "test sentences",
                Some(Part::Blind) => "blind sentences",
                Some(Part::Pool) => "incomplete sentences",
            };
            combo(ui, "Split to export", name(self.request.split), 170.0, |ui| {
                let parts = [Part::Train, Part::Dev, Part::Test, Part::Blind, Part::Pool];
                for part in std::iter::once(None).chain(parts.map(Some)) {
                    ui.selectable_value(&mut self.request.split, part, name(part));
                }
            });
        });
        if self.request.split == Some(Part::Pool) {
            return;
        }
        let counts = project.counts();
        let others = counts.sentences - counts.complete;
        let text = format!("Also the {} not complete", counted(others, "sentence that is", "sentences that are"));
        leaves_enter(ui.checkbox(&mut self.request.all_statuses, text));
    }

    fn format(&self) -> Option<&'static dyn Format> {
        formats().iter().copied().find(|f| f.id() == self.request.format)
    }

    fn is_folder(&self) -> bool {
        self.format().is_some_and(|format| format.layout() == Layout::Folder)
    }

    fn follow_format(&mut self) {
        let ending = self.format().and_then(|f| f.extensions().first().copied()).unwrap_or("txt");
        let ending = if self.is_folder() { &self.request.format } else { ending }; // harbour-annotated.brat
        let name = self.project.file_stem().unwrap_or_default().to_string_lossy();
        // Not the project's own name: texts that were imported may lie there.
        self.path.propose(|| self.project.with_file_name(format!("{name}-annotated.{ending}")));
    }
}

/// What a format has no place for, in words.
fn lacks(format: &'static dyn Format) -> String {
    let holds = format.holds();
    if !holds.mentions {
        return "mentions".to_owned();
    }
    let parts = [
        (holds.nested, "nested mentions"),
        (holds.crossing, "crossing mentions"),
        (holds.same_span, "several labels on the same words"),
        (holds.discontinuous, "mentions in several pieces"),
        (holds.attributes, "notes and attributes"),
        (holds.text, "the original text"),
    ];
    parts.iter().filter(|(held, _)| !held).map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

fn done(ui: &mut Ui, receipt: &ExportReceipt, path: &std::path::Path, context: &mut DialogContext<'_>) {
    let tokens = theme::tokens(ui);
    let written = &receipt.written;
    let text = format!(
        "Wrote {} with {} to {}.",
        counted(written.sentences, "sentence", "sentences"),
        counted(written.mentions, "mention", "mentions"),
        path.display(),
    );
    ui.add(Label::new(theme::body(text, tokens.text)).wrap());
    if receipt.left_out > 0 {
        let left = counted(receipt.left_out, "sentence was", "sentences were");
        explain(ui, &format!("{left} left out because incomplete."));
    }
    let holds_mentions = formats().iter().any(|f| f.id() == receipt.format && f.holds().mentions);
    if written.losses.is_empty() {
        // Nothing is read back of a format without mentions, or where there was nothing to write.
        if holds_mentions && written.sentences > 0 {
            ui.label(theme::small("Verified: nothing is missing.", tokens.good));
        }
    } else {
        ui.add_space(size::GAP_SMALL);
        let text = format!("{} could not be represented", grouped(written.losses.len()));
        ui.label(theme::heading(text, tokens.warn));
        let height = ui.text_style_height(&egui::TextStyle::Small);
        let frame = egui::Frame::new().fill(tokens.warn_fill).corner_radius(theme::RADIUS_CARD).inner_margin(10);
        frame.show(ui, |ui| {
            let area = ScrollArea::vertical().max_height(240.0).auto_shrink([false, true]);
            area.show_rows(ui, height, written.losses.len(), |ui, rows| {
                for loss in written.losses.get(rows).unwrap_or_default() {
                    let text = loss.to_string();
                    ui.add(Label::new(theme::small(&text, tokens.text)).truncate()).on_hover_text(&text);
                }
            });
        });
    }
    button_row(ui, |ui| {
        if default_button(ui, true, "Close") {
            context.actions.push(UiAction::CloseDialog);
        }
        if !written.losses.is_empty() && button(ui, true, "Copy list").clicked() {
            let list: Vec<String> = written.losses.iter().map(ToString::to_string).collect();
            context.actions.push(UiAction::CopyText(list.join("\n")));
        }
    });
}
