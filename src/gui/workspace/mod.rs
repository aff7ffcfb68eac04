//! An open project as the person works on it: where they are in it, what is selected, and what commands do there.
//!
//! # Invariants
//! - [`View`] is what the window remembers, [`Workspace`] has it together with the project. What the view is made of has
//!   files of its own: `selection` is what is selected, `cursor` how that is moved, `review_queue` the doubtful findings
//!   in a row, `last_seen` and `note_draft` what their names say. `comparing` goes on beside the work and is no part of it.
//! - What commands do to view and project stands in files that end in "-ing" or are named for what they are about:
//!   `editing`, `labelling`, `navigation`, `notes`, `reviewing`, `statuses`. `dispatch` calls them; nothing imports them.

mod comparing;
mod cursor;
mod dispatch;
mod editing;
mod labelling;
mod last_seen;
mod navigation;
mod note_draft;
mod notes;
mod review_queue;
mod reviewing;
mod selection;
mod state;
mod statuses;
mod view;

pub(super) use comparing::Comparing;
pub(super) use note_draft::NoteDraft;
pub use state::Workspace;
pub(super) use state::{ClosingWorkspace, Feedback};
pub use view::View;
pub(super) use view::{NextBy, Reveal, neighbours};
