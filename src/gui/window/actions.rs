//! Carrying out what panels, dialogs and keys ask for.

use super::opening::{open_as_can_be, remember};
use super::state::{Screen, Window};
use crate::disk::Noted as _;
use crate::gui::actions::UiAction;
use crate::gui::commands::CommandId;
use crate::gui::dialogs::{
    CopyDialog, Dialog, DocumentsDialog, ExportDialog, HistoryDialog, KeyHelp, LabelDialog, LookAgainDialog,
    OpenDialog, Palette, Report, SettingsDialog, SplitWordDialog,
};
use crate::gui::workspace::Reveal;
use crate::session::{NewProject, Project, log_path};
use eframe::egui::{Context, Theme};

impl Window {
    pub(super) fn carry_out(&mut self, ctx: &Context) {
        for action in std::mem::take(&mut self.actions) {
            self.perform(ctx, action);
        }
    }

    pub(super) fn perform(&mut self, ctx: &Context, action: UiAction) {
        if self.is_writing() && !action.is_harmless() {
            return;
        }
        if let Some(why) =
            self.workspace().and_then(|workspace| workspace.project.read_only()).filter(|_| action.changes())
        {
            let text = format!("Nothing can be changed here: {why}");
            self.notify(ctx, text, true);
            return;
        }
        match action {
            UiAction::Command(id) => self.command(ctx, id),
            UiAction::OpenSample => self.open_sample(),
            UiAction::RefreshListing => self.refresh_listing(),
            UiAction::Create { path, labels, encoder, then_import } => {
                let home = self.home.clone();
                self.start_work(format!("Making {} …", path.display()), then_import, move || {
                    if let Some(folder) = path.parent() {
                        // A folder that can't be made is told by the project that can't be written there.
                        std::fs::create_dir_all(folder).noted_at("the project can't be made there", folder);
                    }
                    let new = NewProject { encoder, ..NewProject::with_labels(labels)? };
                    let project = Project::create(&home, &path, &new)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            UiAction::Open(path) => {
                let home = self.home.clone();
                self.start_work(format!("Opening {} …", path.display()), Vec::new(), move || {
                    let project = open_as_can_be(&home, &path)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            UiAction::Rescue(path) => self.rescue(path),
            UiAction::ImportFrom(paths) if self.workspace().is_some() => self.import(&paths),
            UiAction::ImportFrom(paths) => self.new_project(paths),
            UiAction::CopyText(text) => ctx.copy_text(text),
            UiAction::Notice(text) => self.notify(ctx, text, false),
            UiAction::FileNewsRead => {
                if let Screen::Workspace(workspace) = &mut self.screen {
                    workspace.project.dismiss_file_news();
                }
            }
            UiAction::CloseDialog => self.dialog = None,
            action => self.perform_on_workspace(ctx, action),
        }
    }

    fn perform_on_workspace(&mut self, ctx: &Context, action: UiAction) {
        let before = self.revision();
        let Screen::Workspace(workspace) = &mut self.screen else { return };
        let feedback = match action {
            UiAction::Change(command) => workspace.change(command).map(|_| None),
            UiAction::Sentence(event) => workspace.pointer(event),
            UiAction::KeepNote { has_ended } => workspace.keep_note(has_ended),
            UiAction::UseLabel(label) => {
                let feedback = workspace.use_label(label);
                return self.show_edit_feedback(ctx, before, feedback);
            }
            UiAction::GoTo(id) => {
                workspace.go_to(id);
                workspace.view.reveal = Some(Reveal::Row);
                Ok(None)
            }
            UiAction::Import { incoming, how, watch } => {
                workspace.start_import(*incoming, how, watch);
                Ok(None)
            }
            UiAction::EditLabel(id) => {
                let corpus = workspace.project.corpus();
                let label = corpus.labels().get(id);
                self.dialog = label.map(|label| Dialog::Label(LabelDialog::edit(label)));
                Ok(None)
            }
            _ => Ok(None),
        };
        self.show_feedback(ctx, feedback);
    }

    fn command(&mut self, ctx: &Context, id: CommandId) {
        if let Screen::Workspace(workspace) = &mut self.screen
            && let Some(feedback) = workspace.command(id)
        {
            self.show_feedback(ctx, feedback);
            return;
        }
        match id {
            CommandId::NewProject => self.new_project(Vec::new()),
            CommandId::OpenProject => self.dialog = Some(Dialog::Open(OpenDialog::default())),
            CommandId::CloseProject => self.close_project(),
            CommandId::KeyHelp => self.dialog = Some(Dialog::KeyHelp(KeyHelp)),
            CommandId::ShowLog => self.report = Some(Report::of_log(&log_path(&self.home))),
            CommandId::Settings => {
                let project = self.workspace().map(|workspace| &workspace.project);
                let dialog = SettingsDialog::new(project, &self.listing.encoders);
                self.dialog = Some(Dialog::Settings(Box::new(dialog)));
            }
            CommandId::ChooseLabel if self.workspace().is_some() => {
                self.dialog = Some(Dialog::Palette(Palette::of_labels()));
            }
            CommandId::Palette => self.dialog = Some(Dialog::Palette(Palette::default())),
            CommandId::AddLabel if self.workspace().is_some() => {
                self.dialog = Some(Dialog::Label(LabelDialog::new_label()));
            }
            CommandId::Documents if self.workspace().is_some() => {
                self.dialog = Some(Dialog::Documents(DocumentsDialog::new()));
            }
            CommandId::LookAgain if self.workspace().is_some() => {
                self.dialog = Some(Dialog::LookAgain(LookAgainDialog::default()));
            }
            CommandId::History if self.workspace().is_some() => {
                let current = self.workspace().and_then(|workspace| workspace.view.current());
                self.dialog = Some(Dialog::History(HistoryDialog::new(current)));
            }
            CommandId::Dashboard if self.workspace().is_some() => {
                self.dialog = Some(Dialog::Dashboard(Box::default()));
            }
            CommandId::Import => self.import(&[]),
            CommandId::Export => {
                let dialog = self.workspace().map(|workspace| ExportDialog::new(&workspace.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Export);
            }
            CommandId::SaveCopy => {
                let dialog = self.workspace().map(|workspace| CopyDialog::new(&workspace.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Copy);
            }
            CommandId::SplitWord => {
                let Some(workspace) = self.workspace() else { return };
                match SplitWordDialog::new(&workspace.project, &workspace.view) {
                    Some(dialog) => self.dialog = Some(Dialog::SplitWord(dialog)),
                    None => {
                        self.show_feedback(ctx, Ok(Some("This word has one character and can't be split".to_owned())))
                    }
                }
            }
            CommandId::ToggleTheme => {
                let other = if ctx.theme() == Theme::Dark { Theme::Light } else { Theme::Dark };
                ctx.set_theme(other);
            }
            CommandId::ZoomIn => ctx.set_zoom_factor((ctx.zoom_factor() + 0.1).min(3.0)),
            CommandId::ZoomOut => ctx.set_zoom_factor((ctx.zoom_factor() - 0.1).max(0.5)),
            CommandId::ZoomReset => ctx.set_zoom_factor(1.0),
            CommandId::LeaveSentence => self.leave_sentence(ctx),
            _ => {}
        }
    }
}
