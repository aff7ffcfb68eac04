//! What lies over the page and asks or tells something.
//!
//! # Invariants
//! - Like a panel a dialog changes nothing; it returns `UiAction`s. What takes long it does as a `Task`.
//! - Escape closes it, and nothing is lost by that but what was typed in it. For the other keys see `keyboard`: what a
//!   dialog is for is its [`default_button`], and what chooses something leaves Enter to that (`leaves_enter`).
//! - It lies below every drop-down, menu and colour picker, whatever was pressed last: in a layer of its own.

mod analyses;
mod architecture;
mod compare;
mod context;
mod copy;
mod dashboard;
mod dialog;
mod documents;
mod encoders;
mod export;
mod fetching;
mod history;
mod import;
mod key_help;
mod keyboard;
mod label;
mod layout;
mod look_again;
mod names;
mod new_project;
mod open_project;
mod options;
mod palette;
mod path_check;
mod recent;
mod report;
mod save_page;
mod save_path;
mod scored;
mod settings;
mod split_word;

pub(super) use analyses::AnalysesDialog;
pub(super) use compare::CompareDialog;
pub(super) use context::DialogContext;
pub(super) use copy::CopyDialog;
pub(super) use dashboard::DashboardDialog;
pub(super) use dialog::Dialog;
pub(super) use documents::DocumentsDialog;
pub(super) use export::ExportDialog;
pub(super) use history::HistoryDialog;
pub(super) use import::ImportDialog;
pub(super) use key_help::KeyHelp;
pub(super) use label::LabelDialog;
pub(super) use look_again::LookAgainDialog;
pub(super) use new_project::NewProjectDialog;
pub(super) use open_project::OpenDialog;
pub(super) use palette::Palette;
pub(super) use recent::RecentChoices;
pub(super) use report::Report;
pub(super) use settings::SettingsDialog;
pub(super) use split_word::SplitWordDialog;

use self::keyboard::{begin_footer, default_button};
use self::layout::{Dismissal, button_row, column, explain, field_name, modal, problem, surface};
