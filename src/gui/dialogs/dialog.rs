//! The dialog that is open, whichever it is.

use super::{
    AnalysesDialog, CompareDialog, CopyDialog, DashboardDialog, DialogContext, DocumentsDialog, ExportDialog,
    HistoryDialog, ImportDialog, KeyHelp, LabelDialog, LookAgainDialog, NewProjectDialog, OpenDialog, Palette,
    SettingsDialog, SplitWordDialog,
};
use crate::session::Project;
use eframe::egui;

pub(in crate::gui) enum Dialog {
    NewProject(Box<NewProjectDialog>),
    Open(OpenDialog),
    Import(Box<ImportDialog>),
    Export(Box<ExportDialog>),
    Analyses(Box<AnalysesDialog>),
    Compare(Box<CompareDialog>),
    Copy(Box<CopyDialog>),
    Documents(Box<DocumentsDialog>),
    Dashboard(Box<DashboardDialog>),
    History(HistoryDialog),
    SplitWord(SplitWordDialog),
    Label(LabelDialog),
    LookAgain(LookAgainDialog),
    Settings(Box<SettingsDialog>),
    KeyHelp(KeyHelp),
    Palette(Palette),
}

impl Dialog {
    /// It writes a file, and is to stay until that is done. An import is written by the project.
    pub(in crate::gui) fn is_writing(&self) -> bool {
        match self {
            Dialog::Analyses(dialog) => dialog.is_writing(),
            Dialog::Compare(dialog) => dialog.is_writing(),
            Dialog::Export(dialog) => dialog.is_writing(),
            Dialog::Copy(dialog) => dialog.is_writing(),
            Dialog::NewProject(_)
            | Dialog::Open(_)
            | Dialog::Import(_)
            | Dialog::Documents(_)
            | Dialog::Dashboard(_)
            | Dialog::History(_)
            | Dialog::SplitWord(_)
            | Dialog::Label(_)
            | Dialog::LookAgain(_)
            | Dialog::Settings(_)
            | Dialog::KeyHelp(_)
            | Dialog::Palette(_) => false,
        }
    }

    /// Another dialog in its place would lose what a person has typed.
    pub(in crate::gui) fn holds_typing(&self) -> bool {
        match self {
            Dialog::Label(_)
            | Dialog::Settings(_)
            | Dialog::Export(_)
            | Dialog::Analyses(_)
            | Dialog::Compare(_)
            | Dialog::Copy(_) => true,
            // A dropped file is what these are for, or takes nothing from them.
            Dialog::NewProject(_)
            | Dialog::Open(_)
            | Dialog::Import(_)
            | Dialog::Documents(_)
            | Dialog::Dashboard(_)
            | Dialog::History(_)
            | Dialog::SplitWord(_)
            | Dialog::LookAgain(_)
            | Dialog::KeyHelp(_)
            | Dialog::Palette(_) => false,
        }
    }

    /// Something was typed in it that the project does not have yet.
    pub(in crate::gui) fn is_ahead_of(&self, project: &Project) -> bool {
        match self {
            Dialog::Label(dialog) => dialog.is_ahead_of(project),
            Dialog::Settings(dialog) => !dialog.typed(project).is_empty(),
            Dialog::NewProject(_)
            | Dialog::Open(_)
            | Dialog::Import(_)
            | Dialog::Export(_)
            | Dialog::Analyses(_)
            | Dialog::Compare(_)
            | Dialog::Copy(_)
            | Dialog::Documents(_)
            | Dialog::Dashboard(_)
            | Dialog::History(_)
            | Dialog::SplitWord(_)
            | Dialog::LookAgain(_)
            | Dialog::KeyHelp(_)
            | Dialog::Palette(_) => false,
        }
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(in crate::gui) fn wait(self) {
        match self {
            Dialog::Analyses(dialog) => dialog.wait(),
            Dialog::Compare(dialog) => dialog.wait(),
            Dialog::Export(dialog) => dialog.wait(),
            Dialog::Copy(dialog) => dialog.wait(),
            Dialog::NewProject(_)
            | Dialog::Open(_)
            | Dialog::Import(_)
            | Dialog::Documents(_)
            | Dialog::Dashboard(_)
            | Dialog::History(_)
            | Dialog::SplitWord(_)
            | Dialog::Label(_)
            | Dialog::LookAgain(_)
            | Dialog::Settings(_)
            | Dialog::KeyHelp(_)
            | Dialog::Palette(_) => {}
        }
    }

    pub(in crate::gui) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        match self {
            Dialog::NewProject(dialog) => dialog.show(ctx, context),
            Dialog::Open(dialog) => dialog.show(ctx, context),
            Dialog::Import(dialog) => dialog.show(ctx, context),
            Dialog::Export(dialog) => dialog.show(ctx, context),
            Dialog::Analyses(dialog) => dialog.show(ctx, context),
            Dialog::Compare(dialog) => dialog.show(ctx, context),
            Dialog::Copy(dialog) => dialog.show(ctx, context),
            Dialog::Documents(dialog) => dialog.show(ctx, context),
            Dialog::Dashboard(dialog) => dialog.show(ctx, context),
            Dialog::History(dialog) => dialog.show(ctx, context),
            Dialog::SplitWord(dialog) => dialog.show(ctx, context),
            Dialog::Label(dialog) => dialog.show(ctx, context),
            Dialog::LookAgain(dialog) => dialog.show(ctx, context),
            Dialog::Settings(dialog) => dialog.show(ctx, context),
            Dialog::KeyHelp(dialog) => dialog.show(ctx, context),
            Dialog::Palette(dialog) => dialog.show(ctx, context),
        }
    }
}
