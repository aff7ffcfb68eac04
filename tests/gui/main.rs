//! The window without a window: the main job played through with keys and the mouse.
//!
//! Everything that a person sees is found by the name that a screen reader says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

#[path = "../hub/server.rs"]
#[allow(dead_code, reason = "shared with tests that ask more of it")]
mod hub;

#[path = "../names/knowing.rs"]
#[allow(dead_code, reason = "shared with tests that ask more of it")]
mod knowing;

mod analysing;
mod annotating;
mod comparing;
mod dashboard;
mod dialogs;
mod documents;
mod errors;
mod files;
mod finding;
mod fixture;
mod looking_again;
mod main_job;
mod names;
mod pointer;
mod projects;
mod reading;
mod segments;
mod settings;
mod suggestions;
