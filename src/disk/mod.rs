//! Opening, reading and deleting what strangers may have put there, writing what lasts, and noting what failed.

mod durable;
mod identity;
mod noted;
mod regular;
mod strangers;

pub use durable::{
    Hidden, NewFile, NewFolder, copy_new, folder_of, is_unfinished, put_file, put_folder, sync_folder, write_new,
};
pub use identity::{Identity, look_at};
pub use noted::Noted;
pub use regular::{obstacle, open, open_with};
pub use strangers::{is_folder, is_there, read, remove_folder};
