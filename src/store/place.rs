//! Where an open project lies at the moment, for those who want to read it beside the thread that writes.

use super::{Lost, Store, StoreError};
use crate::disk::Identity;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A handle that follows a project when it goes on in another file.
#[derive(Clone, Debug)]
pub struct Place(Arc<Mutex<Spot>>);

#[derive(Clone, Debug)]
struct Spot {
    path: PathBuf,
    file: Option<Identity>,
}

impl Place {
    pub(super) fn of(store: &Store) -> Self {
        Self(Arc::new(Mutex::new(Spot::of(store))))
    }

    pub(super) fn set(&self, store: &Store) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Spot::of(store);
    }

    pub fn path(&self) -> PathBuf {
        self.spot().path
    }

    /// Opens the project once more to read it, as it is on disk.
    ///
    /// # Errors
    /// What can't be opened any more, also because another file lies there.
    pub fn open(&self) -> Result<Store, StoreError> {
        let spot = self.spot();
        spot.check()?;
        let store = Store::open_beside_writer(&spot.path)?;
        spot.check()?;
        Ok(store)
    }

    fn spot(&self) -> Spot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Spot {
    fn of(store: &Store) -> Self {
        Self { path: store.path.clone(), file: store.same_file.as_ref().and_then(super::same_file::SameFile::file) }
    }

    fn check(&self) -> Result<(), StoreError> {
        match Identity::at(&self.path) {
            Ok(there) if there == self.file => Ok(()),
            Ok(there) => Err(taken(if there.is_none() { Lost::Gone } else { Lost::Replaced }, &self.path)),
            Err(source) => Err(StoreError::io("look at the project", source, &self.path)),
        }
    }
}

fn taken(why: Lost, path: &Path) -> StoreError {
    StoreError::TakenAway { why, path: path.to_owned() }
}
