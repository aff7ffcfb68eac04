//! Keeping the work of a project whose path was taken away while it was open: in a copy, where it goes on.
//!
//! # Invariants
//! - What came in the place of the project is neither written nor removed, nor is what lies beside it, but for what this
//!   process has put there itself.
//! - The copy is on disk before anything is said of it.

use super::file::Access;
use super::lock::lock_path;
use super::news::Lost;
use super::paths::{log_path, models_dir};
use super::same_file::Look;
use super::{Store, StoreError, leftover};
use crate::disk::{Hidden, NewFolder, Noted as _, folder_of};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Ends the name of a copy, before a number.
const KEPT: &str = "kept";

impl Store {
    /// Whether the path stands for the file that is open.
    ///
    /// # Errors
    /// What the file system can't tell at this moment.
    pub(super) fn look(&self) -> Result<Look, StoreError> {
        let Some(file) = &self.same_file else { return Ok(Look::Ours) };
        let look = file.look(&self.path).map_err(|source| StoreError::io("look at the project", source, &self.path))?;
        if look != Look::Touched {
            return Ok(look);
        }
        // Another program has written it, which may be one that does so by the rules.
        let known = if self.openings.is_empty() { &self.opened_as } else { &self.openings };
        let found = leftover::opening_without_log(&self.path);
        let is_ours = found.is_ok_and(|found| found.is_some_and(|found| known.contains(&found)));
        Ok(if is_ours { Look::Touched } else { Look::Lost(Lost::Overwritten) })
    }

    /// Lets `write` make a project file in the first place that takes it, puts the models beside it, and opens it.
    ///
    /// # Errors
    /// [`StoreError::Homeless`]: there is no such place at the moment.
    pub(super) fn keep_elsewhere(
        &self,
        why: Lost,
        write: impl Fn(&Path) -> Result<(), StoreError>,
    ) -> Result<Store, StoreError> {
        let beside = folder_of(&self.path).to_owned();
        let mut first = None;
        for folder in std::iter::once(&beside).chain(&self.refuges) {
            let is_refuge = *folder != beside;
            match self.keep_in(folder, is_refuge, &write) {
                Ok(kept) => return Ok(kept.with_refuges(self.refuges.clone())),
                Err(error) => _ = first.get_or_insert(error),
            }
        }
        let nowhere = StoreError::NoFolder { path: beside };
        let (cause, path) = (Box::new(first.unwrap_or(nowhere)), self.path.clone());
        Err(StoreError::Homeless { why, cause, path })
    }

    fn keep_in(
        &self,
        folder: &Path,
        is_refuge: bool,
        write: &dyn Fn(&Path) -> Result<(), StoreError>,
    ) -> Result<Store, StoreError> {
        if is_refuge {
            fs::create_dir_all(folder)
                .map_err(|source| StoreError::io("make a folder for your work", source, folder))?;
        }
        let mut names = kept_names(&self.path).map(|name| folder.join(name));
        let to = loop {
            let Some(to) = names.find(|to| is_free(to)) else {
                return Err(StoreError::Exists { path: folder.to_owned() });
            };
            match write(&to) {
                Err(StoreError::Exists { .. }) => {} // made meanwhile
                written => break written.map(|()| to)?,
            }
        };
        let kept = Store::open(&to)?;
        // Models can be made again: they are no reason to lose the rest.
        let carried = carry_models(&models_dir(&self.path), &models_dir(&to));
        carried.noted_at("its models are not taken along", &self.path);
        Ok(kept)
    }

    /// Lets go of a file whose work is kept elsewhere.
    pub(super) fn abandon(self) {
        let (file, path) = (self.same_file.clone(), self.path.clone());
        self.keep_log_if_possible(); // nothing is merged into a file that may be another one
        drop(self);
        if let Some(file) = file {
            file.remove_leftovers(&path);
        }
    }

    /// Lets go of a file whose work could not be kept. Its log may be all that is left of it.
    pub(super) fn give_up(mut self) {
        self.keep_log_if_possible();
        let has_its_log = self.same_file.as_ref().is_some_and(|file| file.has_its_log(&self.path));
        if has_its_log && leftover::set_log_aside(&self.path).is_err() {
            // The lock tells the next one to open what lies there that the log is not its own.
            if let Access::Write { lock } = &mut self.access {
                lock.stay();
            }
        }
    }
}

/// `sea.kept.nestling`, `sea.kept-2.nestling`, … for `sea.nestling` and for each of these.
fn kept_names(project: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = Path::new(project.file_stem().unwrap_or_default());
    let is_number = |end: &str| end.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    let is_kept = |end: &str| end.strip_prefix(KEPT).is_some_and(|rest| rest.is_empty() || is_number(rest));
    let is_copy = stem.extension().and_then(|end| end.to_str()).is_some_and(is_kept);
    let first = if is_copy { stem.file_stem().unwrap_or_default() } else { stem.as_os_str() }.to_owned();
    (1..10_000).map(move |n| {
        let mut name = first.clone();
        name.push(if n == 1 { format!(".{KEPT}.nestling") } else { format!(".{KEPT}-{n}.nestling") });
        name.into()
    })
}

/// Neither a file of this name nor what would belong to one.
fn is_free(project: &Path) -> bool {
    let companions = [log_path(project), lock_path(project), models_dir(project)];
    companions.iter().map(PathBuf::as_path).chain([project]).all(|path| path.symlink_metadata().is_err())
}

/// Takes the models of a project along: their folders, whose files are never changed, so that a second name for each is
/// enough where the file system has such. What is there already stays. Links and unfinished trainings are left alone.
///
/// # Errors
/// What can go wrong with a disk.
pub fn carry_models(from: &Path, to: &Path) -> io::Result<()> {
    if !is_folder(from) {
        return Ok(());
    }
    for model in fs::read_dir(from)? {
        let model = model?.file_name();
        let number = model.to_str().and_then(|name| name.strip_prefix("model-"));
        let is_model = number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
        let (old, new) = (from.join(&model), to.join(&model));
        if !is_model || !is_folder(&old) || new.symlink_metadata().is_ok() {
            continue;
        }
        fs::create_dir_all(to)?;
        let unfinished = NewFolder::beside(&new, Hidden::public(".carrying-"))?;
        link_all(&old, unfinished.path(), FOLDERS_DEEP)?;
        unfinished.put()?;
    }
    Ok(())
}

/// Folders within folders that a model has at most.
const FOLDERS_DEEP: usize = 3;

/// Into an empty folder.
fn link_all(from: &Path, to: &Path, deep: usize) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (old, new, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_file() {
            fs::hard_link(&old, &new).or_else(|_| fs::copy(&old, &new).map(drop))?;
        } else if kind.is_dir() && deep > 1 {
            fs::create_dir(&new)?;
            link_all(&old, &new, deep - 1)?;
        }
    }
    Ok(())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_numbered_from_the_first_name() {
        for name in ["sea.nestling", "sea.kept.nestling", "sea.kept-12.nestling"] {
            let names: Vec<_> = kept_names(&Path::new("folder").join(name)).take(2).collect();
            assert_eq!(names, [PathBuf::from("sea.kept.nestling"), PathBuf::from("sea.kept-2.nestling")]);
        }
        let name = |path: &str| kept_names(Path::new(path)).next().unwrap();
        assert_eq!(name("my.keptsake.nestling"), PathBuf::from("my.keptsake.kept.nestling"));
        assert_eq!(name("a.version-1.nestling"), PathBuf::from("a.version-1.kept.nestling"));
    }

    #[test]
    fn models_are_taken_along_once_and_links_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("sea.models"), dir.path().join("sea.kept.models"));
        carry_models(&from, &to).unwrap();
        assert!(!to.exists());
        fs::create_dir_all(from.join("model-0001/encoder")).unwrap();
        fs::create_dir_all(from.join("model-0007.training")).unwrap();
        fs::write(from.join("model-0001/weights"), "w").unwrap();
        fs::write(from.join("model-0001/encoder/config"), "c").unwrap();
        fs::write(from.join("note"), "n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), from.join("model-0002")).unwrap();
        carry_models(&from, &to).unwrap();
        carry_models(&from, &to).unwrap();
        let names: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["model-0001"]);
        assert_eq!(fs::read_to_string(to.join("model-0001/weights")).unwrap(), "w");
        assert_eq!(fs::read_to_string(to.join("model-0001/encoder/config")).unwrap(), "c");
        assert!(from.join("model-0001/weights").is_file());
    }
}
