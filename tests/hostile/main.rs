//! Project files from strangers: altered with intent or damaged by accident. Whatever is in one, opening it ends soon,
//! takes no more memory than its size explains, runs nothing, and rescuing it saves what is left.
//!
//! `NESTLING_MUTATIONS=20` tries twenty times as many seeded mutations.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that can't go on fails")]

mod memory;
mod mutations;
mod numbers;
#[cfg(unix)]
mod program;
mod project;
mod schema;
mod tries;
mod values;

use project::Place;
