//! The dashboard: how far the annotation is, how good the models became, and what more sentences would bring.
//!
//! # Invariants
//! - What can't be known is said, with what would be needed to know it; no figure stands in for another one.
//! - Like all dialogs it changes nothing: setting aside and going on are asked for by `UiAction`s.

mod blind;
mod costs;
mod curve;
mod dialog;
mod labels;
mod models;
mod progress;
mod scores;
mod table;

pub(crate) use dialog::DashboardDialog;
