//! Reading and deleting what strangers may have put there, writing what lasts, and noting what failed.

mod durable;
mod noted;
mod strangers;

pub use durable::{
    Hidden, NewFile, NewFolder, copy_new, folder_of, is_unfinished, put_file, put_folder, sync_folder, write_new,
};
pub use noted::Noted;
pub use strangers::{is_folder, is_there, open, read, remove_folder};
