//! An open project as the person works on it: where they are in it, what is selected, and what commands do there.
//!
//! # Invariants
//! - [`View`] is what the window remembers, [`Workspace`] has it together with the project. `dispatch`, `editing`,
//!   `labelling`, `navigation`, `notes`, `reviewing` and `statuses` are what commands do to both, by what they are
//!   about; they are imported by nothing.

mod dispatch;
mod editing;
mod labelling;
mod last_seen;
mod navigation;
mod note_draft;
mod notes;
mod review;
mod reviewing;
mod selecting;
mod selection;
mod state;
mod statuses;
mod view;

pub(super) use note_draft::NoteDraft;
pub use state::Workspace;
pub(super) use state::{ClosingWorkspace, Feedback};
pub use view::View;
pub(super) use view::{NextBy, Reveal, neighbours};
