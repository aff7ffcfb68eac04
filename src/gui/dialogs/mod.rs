//! What lies over the page and asks or tells something.
//!
//! # Invariants
//! - Like a panel a dialog changes nothing; it returns [`Act`]s. What takes long it does as a `Task`.
//! - Escape closes it, and nothing is lost by that but what was typed in it. For the other keys see `keyboard`: what a
//!   dialog is for is its [`default_button`], and what chooses something leaves Enter to that (`leaves_enter`).
//! - It lies below every drop-down, menu and colour picker, whatever was pressed last: in a layer of its own.

mod copy;
mod dashboard;
mod documents;
mod encoders;
mod export;
mod fetching;
mod history;
mod import;
mod key_help;
mod keyboard;
mod label;
mod look_again;
mod new_project;
mod open_project;
mod options;
mod palette;
mod place;
mod report;
mod settings;
mod split_word;

use self::keyboard::{Keyboard, begin_foot, default_button};
pub(super) use copy::CopyDialog;
pub(super) use dashboard::DashboardDialog;
pub(super) use documents::DocumentsDialog;
pub(super) use export::ExportDialog;
pub(super) use history::HistoryDialog;
pub(super) use import::ImportDialog;
pub(super) use key_help::KeyHelp;
pub(super) use label::LabelDialog;
pub(super) use look_again::LookAgainDialog;
pub(super) use new_project::NewProjectDialog;
pub(super) use open_project::OpenDialog;
pub(super) use palette::{Palette, Recent};
pub(super) use report::Report;
pub(super) use settings::SettingsDialog;
pub(super) use split_word::SplitWordDialog;

use super::acts::Act;
use super::files::Services;
use super::theme::{self, size};
use super::widgets::parts::{Icon, icon_button};
use super::widgets::sentence::Typesetter;
use crate::session::{Encoders, Project};
use eframe::egui::{self, Align, Align2, Area, Frame, Id, Label, Layout, Margin, Modal, Order, Ui, Vec2, vec2};

pub(super) enum Dialog {
    NewProject(Box<NewProjectDialog>),
    Open(OpenDialog),
    Import(Box<ImportDialog>),
    Export(Box<ExportDialog>),
    Copy(Box<CopyDialog>),
    Documents(DocumentsDialog),
    Dashboard(Box<DashboardDialog>),
    History(HistoryDialog),
    SplitWord(SplitWordDialog),
    Label(LabelDialog),
    LookAgain(LookAgainDialog),
    Settings(Box<SettingsDialog>),
    KeyHelp(KeyHelp),
    Palette(Palette),
}

/// What a dialog may read.
pub(super) struct Backstage<'a> {
    pub project: Option<&'a Project>,
    pub services: &'a Services,
    pub encoders: &'a Encoders,
    pub acts: &'a mut Vec<Act>,
    pub typesetter: &'a mut Typesetter,
    /// What was chosen in the palette.
    pub recent: &'a mut Recent,
}

impl Dialog {
    /// It writes a file, and is to stay until that is done. An import is written by the project.
    pub(super) fn is_writing(&self) -> bool {
        match self {
            Dialog::Export(dialog) => dialog.is_writing(),
            Dialog::Copy(dialog) => dialog.is_writing(),
            _ => false,
        }
    }

    /// Another dialog in its place would lose what a person has typed.
    pub(super) fn holds_typing(&self) -> bool {
        matches!(self, Dialog::Label(_) | Dialog::Settings(_) | Dialog::Export(_) | Dialog::Copy(_))
    }

    /// Something was typed in it that the project does not have yet.
    pub(super) fn is_ahead_of(&self, project: &Project) -> bool {
        match self {
            Dialog::Label(dialog) => dialog.is_ahead_of(project),
            Dialog::Settings(dialog) => dialog.typed_author(project).is_some(),
            _ => false,
        }
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(super) fn wait(self) {
        match self {
            Dialog::Export(dialog) => dialog.wait(),
            Dialog::Copy(dialog) => dialog.wait(),
            _ => {}
        }
    }

    pub(super) fn show(&mut self, ctx: &egui::Context, backstage: &mut Backstage<'_>) {
        match self {
            Dialog::NewProject(dialog) => dialog.show(ctx, backstage),
            Dialog::Open(dialog) => dialog.show(ctx, backstage),
            Dialog::Import(dialog) => dialog.show(ctx, backstage),
            Dialog::Export(dialog) => dialog.show(ctx, backstage),
            Dialog::Copy(dialog) => dialog.show(ctx, backstage),
            Dialog::Documents(dialog) => dialog.show(ctx, backstage),
            Dialog::Dashboard(dialog) => dialog.show(ctx, backstage),
            Dialog::History(dialog) => dialog.show(ctx, backstage),
            Dialog::SplitWord(dialog) => dialog.show(ctx, backstage),
            Dialog::Label(dialog) => dialog.show(ctx, backstage),
            Dialog::LookAgain(dialog) => dialog.show(ctx, backstage),
            Dialog::Settings(dialog) => dialog.show(ctx, backstage),
            Dialog::KeyHelp(dialog) => dialog.show(ctx, backstage),
            Dialog::Palette(dialog) => dialog.show(ctx, backstage),
        }
    }
}

/// An area over the dimmed window.
fn surface(ctx: &egui::Context, id: &str, place: (Align2, Vec2), margin: i8, content: impl FnOnce(&mut Ui)) -> Left {
    let tokens = theme::tokens_of(ctx.theme());
    let frame = Frame::window(&ctx.global_style()).inner_margin(Margin::same(margin));
    let response = Modal::new(Id::unique(id))
        .area(surface_area(id).anchor(place.0, place.1))
        .frame(frame)
        .backdrop_color(tokens.backdrop)
        .show(ctx, content);
    match (response.should_close(), response.backdrop_response.clicked()) {
        (false, _) => Left::Not,
        (true, true) => Left::ByClickBeside,
        (true, false) => Left::ByKey,
    }
}

/// How an area was left, if it was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Not,
    ByKey,
    ByClickBeside,
}

/// egui puts what was pressed above all else of its order: among popups a dialog would cover those that it opens.
fn surface_area(id: &str) -> Area {
    Modal::default_area(Id::unique(id)).order(Order::Middle)
}

/// A titled area in the middle of the dimmed window; true when it is to be closed, by Escape or the cross.
fn modal(ctx: &egui::Context, title: &str, width: f32, content: impl FnOnce(&mut Ui)) -> bool {
    let tokens = theme::tokens_of(ctx.theme());
    let keyboard = Keyboard::begin(ctx, surface_area(title).layer());
    let mut closed = false;
    let left = surface(ctx, title, (Align2::CENTER_CENTER, Vec2::ZERO), 22, |ui| {
        let room = ctx.content_rect();
        ui.set_width(width.min(room.width() - 80.0));
        ui.set_max_height(room.height() - 100.0);
        ui.horizontal(|ui| {
            ui.label(theme::title(title, tokens.text));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                closed = icon_button(ui, Icon::Cross, true, "Close (Esc)").clicked();
            });
        });
        ui.add_space(size::GAP_SMALL);
        content(ui);
    });
    keyboard.end(ctx);
    // A slip of the pointer beside it must not end what is typed or done in it.
    closed || left == Left::ByKey
}

/// The buttons at the foot of a dialog, from the right.
fn button_row(ui: &mut Ui, buttons: impl FnOnce(&mut Ui)) {
    ui.add_space(size::GAP);
    begin_foot(ui);
    let row = vec2(ui.available_width(), 36.0);
    ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), buttons);
}

/// The name of a field above it.
fn field_name(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add_space(size::GAP_SMALL);
    ui.label(theme::small(text, tokens.text_dim).font(theme::bold(size::TEXT_SMALL)));
}

fn explain(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add(Label::new(theme::small(text, tokens.text_dim)).wrap());
}

fn problem(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add(Label::new(theme::small(text, tokens.bad)).wrap());
}
