//! Carrying out what panels, dialogs and keys ask for.

use super::opening::{open_as_can_be, remember};
use super::state::{Screen, Window};
use crate::gui::acts::Act;
use crate::gui::commands::CommandId;
use crate::gui::dialogs::{
    CopyDialog, Dialog, DocumentsDialog, ExportDialog, HistoryDialog, KeyHelp, LabelDialog, LookAgainDialog,
    OpenDialog, Palette, SettingsDialog, SplitWordDialog,
};
use crate::gui::workspace::Reveal;
use crate::session::{NewProject, Project};
use eframe::egui::{Context, Theme};

impl Window {
    pub(super) fn carry_out(&mut self, ctx: &Context) {
        for act in std::mem::take(&mut self.acts) {
            self.act(ctx, act);
        }
    }

    pub(super) fn act(&mut self, ctx: &Context, act: Act) {
        if self.is_writing() && !act.is_harmless() {
            return;
        }
        if let Some(why) = self.desk().and_then(|desk| desk.project.read_only()).filter(|_| act.changes()) {
            let text = format!("Nothing can be changed here: {why}");
            self.notify(ctx, text, true);
            return;
        }
        match act {
            Act::Command(id) => self.command(ctx, id),
            Act::OpenSample => self.open_sample(),
            Act::LookAround => self.look_around(),
            Act::Create { path, labels, encoder, then_import } => {
                let home = self.home.clone();
                self.start_work(format!("Making {} …", path.display()), then_import, move || {
                    if let Some(folder) = path.parent() {
                        // A folder that can't be made is told by the project that can't be written there.
                        let _made = std::fs::create_dir_all(folder);
                    }
                    let new = NewProject { encoder, ..NewProject::with_labels(labels)? };
                    let project = Project::create(&home, &path, &new)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            Act::Open(path) => {
                let home = self.home.clone();
                self.start_work(format!("Opening {} …", path.display()), Vec::new(), move || {
                    let project = open_as_can_be(&home, &path)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            Act::Rescue(path) => self.rescue(path),
            Act::ImportFrom(paths) if self.desk().is_some() => self.import(&paths),
            Act::ImportFrom(paths) => self.new_project(paths),
            Act::CopyText(text) => ctx.copy_text(text),
            Act::Notice(text) => self.notify(ctx, text, false),
            Act::FileNewsRead => {
                if let Screen::Desk(desk) = &mut self.screen {
                    desk.project.dismiss_file_news();
                }
            }
            Act::CloseDialog => self.dialog = None,
            act => self.act_on_desk(ctx, act),
        }
    }

    fn act_on_desk(&mut self, ctx: &Context, act: Act) {
        let before = self.revision();
        let Screen::Desk(desk) = &mut self.screen else { return };
        let told = match act {
            Act::Change(command) => desk.change(command).map(|_| None),
            Act::Sentence(event) => desk.pointer(event),
            Act::KeepNote { has_ended } => desk.keep_note(has_ended),
            Act::UseLabel(label) => {
                let told = desk.use_label(label);
                return self.tell_edit(ctx, before, told);
            }
            Act::GoTo(id) => {
                desk.go_to(id);
                desk.view.reveal = Some(Reveal::Row);
                Ok(None)
            }
            Act::Import { incoming, how, watch } => {
                desk.start_import(*incoming, how, watch);
                Ok(None)
            }
            Act::EditLabel(id) => {
                let corpus = desk.project.corpus();
                let label = corpus.labels().get(id);
                self.dialog = label.map(|label| Dialog::Label(LabelDialog::edit(corpus, label)));
                Ok(None)
            }
            _ => Ok(None),
        };
        self.tell(ctx, told);
    }

    fn command(&mut self, ctx: &Context, id: CommandId) {
        if let Screen::Desk(desk) = &mut self.screen
            && let Some(told) = desk.command(id)
        {
            self.tell(ctx, told);
            return;
        }
        match id {
            CommandId::NewProject => self.new_project(Vec::new()),
            CommandId::OpenProject => self.dialog = Some(Dialog::Open(OpenDialog::default())),
            CommandId::CloseProject => self.close_project(),
            CommandId::KeyHelp => self.dialog = Some(Dialog::KeyHelp(KeyHelp)),
            CommandId::Settings => {
                let project = self.desk().map(|desk| &desk.project);
                let dialog = SettingsDialog::new(project, &self.known.encoders);
                self.dialog = Some(Dialog::Settings(Box::new(dialog)));
            }
            CommandId::ChooseLabel if self.desk().is_some() => {
                self.dialog = Some(Dialog::Palette(Palette::of_labels()));
            }
            CommandId::Palette => self.dialog = Some(Dialog::Palette(Palette::default())),
            CommandId::AddLabel if self.desk().is_some() => {
                self.dialog = Some(Dialog::Label(LabelDialog::new_label()));
            }
            CommandId::Documents if self.desk().is_some() => {
                self.dialog = Some(Dialog::Documents(DocumentsDialog::new()));
            }
            CommandId::LookAgain if self.desk().is_some() => {
                self.dialog = Some(Dialog::LookAgain(LookAgainDialog::default()));
            }
            CommandId::History if self.desk().is_some() => {
                let current = self.desk().and_then(|desk| desk.view.current());
                self.dialog = Some(Dialog::History(HistoryDialog::new(current)));
            }
            CommandId::Dashboard if self.desk().is_some() => {
                self.dialog = Some(Dialog::Dashboard(Box::default()));
            }
            CommandId::Import => self.import(&[]),
            CommandId::Export => {
                let dialog = self.desk().map(|desk| ExportDialog::new(&desk.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Export);
            }
            CommandId::SaveCopy => {
                let dialog = self.desk().map(|desk| CopyDialog::new(&desk.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Copy);
            }
            CommandId::SplitWord => {
                let Some(desk) = self.desk() else { return };
                match SplitWordDialog::new(&desk.project, &desk.view) {
                    Some(dialog) => self.dialog = Some(Dialog::SplitWord(dialog)),
                    None => self.tell(ctx, Ok(Some("This word has one character and can't be split".to_owned()))),
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
