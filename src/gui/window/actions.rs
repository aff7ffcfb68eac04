//! Carrying out what panels, dialogs and keys ask for.

use super::opening::{open_as_can_be, remember};
use super::state::{Screen, Window};
use crate::annotation::LabelId;
use crate::disk::Noted as _;
use crate::gui::actions::UiAction;
use crate::gui::commands::{CommandId, Effect, Handler, Scope, WindowCommand};
use crate::gui::dialogs::{
    AnalysesDialog, CompareDialog, CopyDialog, Dialog, ExportDialog, HistoryDialog, KeyHelp, LabelDialog,
    LookAgainDialog, OpenDialog, Palette, Report, SettingsDialog, SplitWordDialog,
};
use crate::gui::workspace::{Feedback, Reveal, Workspace};
use crate::session::{NewProject, Project, log_path};
use eframe::egui::{Context, Theme};

impl Window {
    pub(super) fn carry_out(&mut self, ctx: &Context) {
        for action in std::mem::take(&mut self.actions) {
            self.perform(ctx, action);
        }
    }

    pub(super) fn perform(&mut self, ctx: &Context, action: UiAction) {
        let effect = action.effect();
        if self.is_writing() && effect != Effect::Harmless {
            return;
        }
        let read_only = self.workspace().and_then(|workspace| workspace.project.read_only());
        if let Some(why) = read_only.filter(|_| effect == Effect::Changes) {
            let text = format!("This project is read-only: {why}");
            self.notify(ctx, text, true);
            return;
        }
        match action {
            UiAction::Command(id) => self.command(ctx, id),
            UiAction::OpenSample => self.open_sample(),
            UiAction::RefreshListing => self.refresh_listing(),
            UiAction::Create { path, labels, encoder, then_import } => {
                let home = self.home.clone();
                self.start_work(format!("Creating {} …", path.display()), then_import, move || {
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
            UiAction::StartComparison(request) => {
                let waker = self.services.waker.clone();
                self.in_workspace(ctx, |it| {
                    it.comparing.start(&it.project, *request, waker);
                    Ok(None)
                });
            }
            UiAction::CancelComparison => self.in_workspace(ctx, |it| {
                it.comparing.cancel();
                Ok(None)
            }),
            UiAction::CopyText(text) => ctx.copy_text(text),
            UiAction::Notice(text) => self.notify(ctx, text, false),
            UiAction::CloseDialog => self.close_dialog(),
            UiAction::Change(command) => self.in_workspace(ctx, |it| it.change(command).map(|_| None)),
            UiAction::Sentence(event) => self.in_workspace(ctx, |it| it.pointer(event)),
            UiAction::KeepNote { has_ended } => self.in_workspace(ctx, |it| it.keep_note(has_ended)),
            UiAction::UseLabel(label) => self.use_label(ctx, label),
            UiAction::EditLabel(label) => self.edit_label(label),
            UiAction::GoTo(id) => self.in_workspace(ctx, |it| {
                it.go_to(id);
                it.view.reveal = Some(Reveal::Row);
                Ok(None)
            }),
            UiAction::Import { incoming, how, watch } => self.in_workspace(ctx, |it| {
                it.start_import(*incoming, how, watch);
                Ok(None)
            }),
            UiAction::FileNewsRead => self.in_workspace(ctx, |it| {
                it.project.dismiss_file_news();
                Ok(None)
            }),
        }
    }

    /// Does something with the open project, and tells what came of it.
    fn in_workspace(&mut self, ctx: &Context, what: impl FnOnce(&mut Workspace) -> Feedback) {
        if let Screen::Workspace(workspace) = &mut self.screen {
            let feedback = what(workspace);
            self.show_feedback(ctx, feedback);
        }
    }

    fn use_label(&mut self, ctx: &Context, label: LabelId) {
        let before = self.revision();
        if let Screen::Workspace(workspace) = &mut self.screen {
            let feedback = workspace.use_label(label);
            self.show_edit_feedback(ctx, before, feedback);
        }
    }

    fn edit_label(&mut self, label: LabelId) {
        let Some(corpus) = self.workspace().map(|workspace| workspace.project.corpus()) else { return };
        self.dialog = corpus.labels().get(label).map(LabelDialog::edit).map(Dialog::Label);
    }

    /// The labels of what is selected by their probability, where it is known.
    fn label_order(&self) -> Option<&[(LabelId, f32)]> {
        let workspace = self.workspace()?;
        workspace.project.label_order(workspace.view.current()?, &workspace.view.given()?)
    }

    /// What is about a project does nothing while none is open.
    fn command(&mut self, ctx: &Context, id: CommandId) {
        if self.workspace().is_none() && id.entry().scope != Scope::Window {
            return;
        }
        match id.handler() {
            Handler::Workspace(command) => self.in_workspace(ctx, |it| it.command(command)),
            Handler::Window(command) => self.window_command(ctx, command),
        }
    }

    fn close_dialog(&mut self) {
        if let Some(Dialog::Analyses(dialog)) = self.dialog.take() {
            self.analyses = Some(dialog);
        }
    }

    fn window_command(&mut self, ctx: &Context, command: WindowCommand) {
        match command {
            WindowCommand::NewProject => self.new_project(Vec::new()),
            WindowCommand::OpenProject => self.dialog = Some(Dialog::Open(OpenDialog::default())),
            WindowCommand::CloseProject => self.close_project(),
            WindowCommand::KeyHelp => self.dialog = Some(Dialog::KeyHelp(KeyHelp)),
            WindowCommand::ShowLog => self.report = Some(Report::of_log(&log_path(&self.home))),
            WindowCommand::Settings => {
                let project = self.workspace().map(|workspace| &workspace.project);
                let dialog = SettingsDialog::new(project, &self.listing.encoders);
                self.dialog = Some(Dialog::Settings(Box::new(dialog)));
            }
            WindowCommand::ChooseLabel => self.dialog = Some(Dialog::Palette(Palette::of_labels(self.label_order()))),
            WindowCommand::Palette => self.dialog = Some(Dialog::Palette(Palette::default())),
            WindowCommand::AddLabel => self.dialog = Some(Dialog::Label(LabelDialog::new_label())),
            WindowCommand::Documents => self.dialog = Some(Dialog::Documents(Box::default())),
            WindowCommand::LookAgain => self.look_again(ctx),
            WindowCommand::History => {
                let current = self.workspace().and_then(|workspace| workspace.view.current());
                self.dialog = Some(Dialog::History(HistoryDialog::new(current)));
            }
            WindowCommand::Dashboard => self.dialog = Some(Dialog::Dashboard(Box::default())),
            WindowCommand::AnalyseModels => {
                let left = self.analyses.take();
                let Some(project) = self.workspace().map(|workspace| &workspace.project) else { return };
                let dialog = match left {
                    Some(left) => Box::new(left.again(project)),
                    None => Box::new(AnalysesDialog::new(project)),
                };
                self.dialog = Some(Dialog::Analyses(dialog));
            }
            WindowCommand::CompareModels => {
                let dialog = self.workspace().map(|workspace| CompareDialog::new(&workspace.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Compare);
            }
            WindowCommand::Import => self.import(&[]),
            WindowCommand::Export => {
                let dialog = self.workspace().map(|workspace| ExportDialog::new(&workspace.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Export);
            }
            WindowCommand::SaveCopy => {
                let dialog = self.workspace().map(|workspace| CopyDialog::new(&workspace.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Copy);
            }
            WindowCommand::SplitWord => self.split_word(ctx),
            WindowCommand::ToggleTheme => {
                let other = if ctx.theme() == Theme::Dark { Theme::Light } else { Theme::Dark };
                ctx.set_theme(other);
            }
            WindowCommand::ZoomIn => ctx.set_zoom_factor((ctx.zoom_factor() + 0.1).min(3.0)),
            WindowCommand::ZoomOut => ctx.set_zoom_factor((ctx.zoom_factor() - 0.1).max(0.5)),
            WindowCommand::ZoomReset => ctx.set_zoom_factor(1.0),
            WindowCommand::LeaveSentence => self.leave_sentence(ctx),
        }
    }

    /// Goes back to the findings that the person has left, or asks how to look for some.
    fn look_again(&mut self, ctx: &Context) {
        let has_left = |workspace: &Workspace| workspace.view.review.is_some() && !workspace.is_reviewing();
        if self.workspace().is_some_and(has_left) {
            self.in_workspace(ctx, Workspace::go_on_looking);
        } else {
            self.dialog = Some(Dialog::LookAgain(LookAgainDialog::default()));
        }
    }

    fn split_word(&mut self, ctx: &Context) {
        let Some(workspace) = self.workspace() else { return };
        match SplitWordDialog::new(&workspace.project, &workspace.view) {
            Some(dialog) => self.dialog = Some(Dialog::SplitWord(dialog)),
            None => self.show_feedback(ctx, Ok(Some("A word of one character can't be split".to_owned()))),
        }
    }
}
