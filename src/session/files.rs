//! Files that appear whole or not at all.

use super::SessionError;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes beside the place, and puts the file there when all of it is on disk.
///
/// # Errors
/// What `write` says, and what can go wrong with a disk. A file that was there stays as it was then.
pub fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    let io = |source| SessionError::Io { doing: "write the file", source, path: path.to_owned() };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = beside(folder).map_err(io)?;
    let mut out = BufWriter::new(file.as_file());
    let value = write(&mut out)?;
    out.flush().map_err(io)?;
    drop(out);
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(value)
}

/// A file with the permissions that any new file gets.
fn beside(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // less the person's umask
    }
    builder.prefix(".writing-").tempfile_in(folder)
}
