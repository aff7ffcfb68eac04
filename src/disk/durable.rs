//! Files and folders that are on disk whole under their name, or not at all.
//!
//! Each is written beside its place under a hidden name, forced to the disk, renamed, and the name is forced to the
//! disk as well.
//!
//! # Invariants
//! - At any moment, be it of a crash or a power cut, the name stands for all of the new content or for what it stood for
//!   before.
//! - When a function here has returned without an error, it stands for the new content and will after a power cut. On
//!   Windows the name may still be lost then, as folders can't be forced to the disk there; never a part of the content.
//! - What is not given its name is deleted when it is dropped. A killed program leaves it behind under its hidden name.
//!
//! Deliberately absent: what may be replaced. Callers know; [`NewFile::put_new`] replaces nothing.

use super::noted::Noted as _;
use super::strangers::is_folder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How the names of files begin that nobody named otherwise.
const UNFINISHED: &str = ".tmp";

/// What a file or a folder is called until it is whole, and who may read it.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    prefix: &'static str,
    suffix: &'static str,
    is_private: bool,
}

impl Hidden {
    /// Named so that [`is_unfinished`] knows it, and only for the person whose program this is.
    pub const UNFINISHED: Self = Self::private(UNFINISHED);

    /// For the person whose program this is; others can't read it.
    pub const fn private(prefix: &'static str) -> Self {
        Self { prefix, suffix: "", is_private: true }
    }

    /// For whom any new file or folder is, which the person's umask says.
    pub const fn public(prefix: &'static str) -> Self {
        Self { prefix, suffix: "", is_private: false }
    }

    /// The end of the name, for those who go by it.
    pub const fn ending(self, suffix: &'static str) -> Self {
        Self { suffix, ..self }
    }

    /// Makes a file with a name that nothing has. The system's errors come as they are: those of tempfile's own ways to
    /// make one show the hidden name, which means nothing to people.
    fn make_file(self, folder: &Path) -> io::Result<NamedTempFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if self.is_private { 0o600 } else { 0o666 });
        self.make(folder, |path| options.open(path))
    }

    /// As [`Hidden::make_file`], a folder.
    fn make_folder(self, folder: &Path) -> io::Result<PathBuf> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "it has no permissions to set"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, if self.is_private { 0o700 } else { 0o777 });
        Ok(self.make(folder, |path| builder.create(path))?.into_temp_path().keep()?)
    }

    fn make<T>(self, folder: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<NamedTempFile<T>> {
        tempfile::Builder::new().prefix(self.prefix).suffix(self.suffix).make_in(folder, make)
    }
}

/// A file in the making, beside its place.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    place: PathBuf,
}

impl NewFile {
    /// Begins a file in the folder in which it will be.
    ///
    /// # Errors
    /// There is no such folder, or it can't be written.
    pub fn beside(place: &Path, hidden: Hidden) -> io::Result<Self> {
        let file = hidden.make_file(folder_of(place))?;
        Ok(Self { file, place: place.to_owned() })
    }

    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Where it is now. Another program part may put a file of its own there.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives it its name, in place of a file that has it.
    ///
    /// # Errors
    /// What can go wrong with a disk. The name then stands for what it stood for before, unless its folder was all that
    /// could not be forced to the disk.
    pub fn put(self) -> io::Result<()> {
        sync_file(self.file.path())?;
        self.file.persist(&self.place).map_err(|failed| failed.error)?;
        sync_folder(folder_of(&self.place))
    }

    /// Gives it its name, which nothing must have.
    ///
    /// # Errors
    /// As [`NewFile::put`], and [`io::ErrorKind::AlreadyExists`].
    pub fn put_new(self) -> io::Result<()> {
        sync_file(self.file.path())?;
        self.file.persist_noclobber(&self.place).map_err(|failed| failed.error)?;
        sync_folder(folder_of(&self.place))
    }
}

/// A folder in the making, beside its place.
#[derive(Debug)]
pub struct NewFolder {
    /// Where it is until it has its name.
    path: PathBuf,
    place: PathBuf,
}

impl NewFolder {
    /// Begins a folder in the folder in which it will be.
    ///
    /// # Errors
    /// There is no such folder, or it can't be written.
    pub fn beside(place: &Path, hidden: Hidden) -> io::Result<Self> {
        Ok(Self { path: hidden.make_folder(folder_of(place))?, place: place.to_owned() })
    }

    /// Where it is now, to be filled.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Gives it its name, which nothing but an empty folder may have: that goes.
    ///
    /// # Errors
    /// As [`put_folder`].
    pub fn put(self) -> io::Result<()> {
        put_folder(&self.path, &self.place)
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // Nothing is left under the hidden name of one that was put.
        if is_folder(&self.path) {
            fs::remove_dir_all(&self.path).noted_at("an unfinished folder stays behind", &self.path);
        }
    }
}

/// Gives a file that is whole another name in the same folder, in place of a file that has it.
///
/// # Errors
/// What can go wrong with a disk.
pub fn put_file(whole: &Path, place: &Path) -> io::Result<()> {
    sync_file(whole)?;
    fs::rename(whole, place)?;
    sync_folder(folder_of(place))
}

/// Gives a folder that is whole another name on the same disk, with all that is in it.
///
/// # Errors
/// There is a file, or a folder that is not empty; what can go wrong with a disk.
pub fn put_folder(whole: &Path, place: &Path) -> io::Result<()> {
    sync_all_in(whole)?;
    // Windows puts a folder in the place of none, not even of an empty one.
    if cfg!(windows) && is_folder(place) {
        fs::remove_dir(place)?;
    }
    fs::rename(whole, place)?;
    sync_folder(folder_of(place))
}

/// Writes a file that is not there yet, for a folder in the making: it is forced to the disk with that.
///
/// # Errors
/// There is something of this name, and what can go wrong with a disk.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(bytes)
}

/// Copies the content of a file into one that is not there yet, as [`write_new`]: not who may read or write it.
///
/// # Errors
/// As [`write_new`], and what can't be read.
pub fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut File::open(from)?, &mut File::create_new(to)?).map(drop)
}

/// Makes the names in a folder last through a power cut, where the operating system offers that: Windows opens no
/// folder for it.
///
/// # Errors
/// What can go wrong with a disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder that a file or a folder lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// True for the name of a [`Hidden::UNFINISHED`] file that was being written when the program was killed.
pub fn is_unfinished(name: &str) -> bool {
    let random = name.strip_prefix(UNFINISHED);
    random.is_some_and(|random| random.len() == 6 && random.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn sync_file(path: &Path) -> io::Result<()> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file any more"));
    }
    // Windows wants to hear of writing, elsewhere it may be forbidden.
    OpenOptions::new().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

/// Files before the folders that name them. What a link leads to is somebody else's.
fn sync_all_in(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() {
            sync_file(&entry.path())?;
        } else if kind.is_dir() {
            sync_all_in(&entry.path())?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_put_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("labels.txt");
        fs::write(&place, "old").unwrap();
        let new = NewFile::beside(&place, Hidden::UNFINISHED).unwrap();
        new.file().write_all(b"new").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"old");
        let hidden = new.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(is_unfinished(&hidden), "{hidden}");
        new.put().unwrap();
        assert_eq!((fs::read(&place).unwrap().as_slice(), names(dir.path())), (&b"new"[..], vec!["labels.txt".into()]));
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("place");
        drop(NewFile::beside(&place, Hidden::public(".new-").ending(".nestling")).unwrap());
        let folder = NewFolder::beside(&place, Hidden::public(".writing-")).unwrap();
        write_new(&folder.path().join("part"), b"a part").unwrap();
        drop(folder);
        assert_eq!(names(dir.path()), [""; 0]);
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("mine");
        let new = NewFile::beside(&place, Hidden::UNFINISHED).unwrap();
        fs::write(&place, "meanwhile").unwrap();
        assert_eq!(new.put_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&place).unwrap(), b"meanwhile");
        assert!(write_new(&place, b"").is_err() && copy_new(&place, &place).is_err());
        assert_eq!(names(dir.path()), ["mine"]);
    }

    #[test]
    fn a_folder_takes_the_place_of_an_empty_one_only() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("model");
        let filled = || {
            let new = NewFolder::beside(&place, Hidden::private(".model-")).unwrap();
            fs::create_dir(new.path().join("encoder")).unwrap();
            write_new(&new.path().join("encoder/config"), b"{}").unwrap();
            new
        };
        fs::create_dir(&place).unwrap();
        filled().put().unwrap();
        assert_eq!(fs::read(place.join("encoder/config")).unwrap(), b"{}");
        assert!(filled().put().is_err());
        assert_eq!(names(dir.path()), ["model"], "nothing is left of the other one");
        put_folder(&place, &dir.path().join("renamed")).unwrap();
        put_file(&dir.path().join("renamed/encoder/config"), &dir.path().join("renamed/encoder/old")).unwrap();
        assert_eq!(names(&dir.path().join("renamed/encoder")), ["old"]);
    }

    #[test]
    fn an_error_names_no_hidden_file() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("none/it");
        let system = fs::write(&place, "").unwrap_err();
        let file = NewFile::beside(&place, Hidden::UNFINISHED).unwrap_err();
        let folder = NewFolder::beside(&place, Hidden::UNFINISHED).unwrap_err();
        for error in [file, folder] {
            assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::NotFound, system.to_string()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_is_public() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let mode = |hidden| {
            let place = dir.path().join("file");
            NewFile::beside(&place, hidden).unwrap().put().unwrap();
            fs::metadata(&place).unwrap().permissions().mode() & 0o777
        };
        fs::write(dir.path().join("any"), "").unwrap();
        let usual = fs::metadata(dir.path().join("any")).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(Hidden::public(".a-")), mode(Hidden::private(".b-"))), (usual, 0o600));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_new_file_is_not_put() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("file");
        let new = NewFile::beside(&place, Hidden::UNFINISHED).unwrap();
        fs::remove_file(new.path()).unwrap();
        std::os::unix::fs::symlink(dir.path().join("victim"), new.path()).unwrap();
        assert!(new.put().is_err());
        assert!(place.symlink_metadata().is_err());
    }
}
