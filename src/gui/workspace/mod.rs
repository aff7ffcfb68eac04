//! An open project as the person works on it: where they are in it, what is selected, and what commands do there.
//!
//! # Invariants
//! - [`View`] is what the window remembers, [`Desk`] has it together with the project. The other files are commands of
//!   the desk, by what they are about; none of them is imported by these two.

mod dispatch;
mod editing;
mod labelling;
mod navigation;
mod note_draft;
mod notes;
mod review;
mod reviewing;
mod seen;
mod selecting;
mod selection;
mod state;
mod statuses;
mod view;

pub(super) use note_draft::NoteDraft;
pub use state::Desk;
pub(super) use state::{Leaving, Told};
pub use view::View;
pub(super) use view::{NextBy, Reveal, neighbours};
