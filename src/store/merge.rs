//! Merging the write-ahead log into the project file, which gets a new mark each time: so that no other state of it, such as
//! a copy that was made an hour ago, is ever taken for the file that a log belongs to.

use super::file::Access;
use super::lock::Marks;
use super::paths::log_path;
use super::same_file::Look;
use super::{Store, StoreError, leftover};
use rusqlite::Connection;
use std::fs;

/// A log that is longer is merged as soon as nobody reads from it: some 1,000 pages, as SQLite has it.
const MOST_BYTES_OF_LOG: u64 = 4 << 20;

impl Store {
    /// What is to be done once by who is going to write.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn begin_writing(&mut self) -> Result<(), StoreError> {
        let failed = |source| StoreError::sqlite("mark the project as open", source, &self.path);
        // It was read; from now on what is done with it is the program's own doing.
        self.allowance.lift();
        // Merging is for `merge` alone.
        self.connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
        self.connection.pragma_update(None, "journal_size_limit", 0).map_err(failed)?;
        self.id = self.project_id().ok();
        match self.look()? {
            // Nothing is merged into what has come in its place.
            Look::Lost(why) => Err(StoreError::TakenAway { why, path: self.path.clone() }),
            Look::Ours | Look::Touched | Look::LogTaken => self.merge(),
        }
    }

    /// # Errors
    /// As [`Store::merge`].
    pub(super) fn merge_long_log(&mut self) -> Result<(), StoreError> {
        let is_long = fs::symlink_metadata(log_path(&self.path)).is_ok_and(|m| m.len() > MOST_BYTES_OF_LOG);
        if is_long { self.merge() } else { Ok(()) }
    }

    /// Merges what can be merged without waiting for those who read. The path must be that of the file.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn merge(&mut self) -> Result<(), StoreError> {
        self.renew_opening()?;
        let merged = checkpoint(&self.connection, "PASSIVE");
        self.note_written();
        let failed = |source| StoreError::sqlite("merge the latest changes into the project", source, &self.path);
        if merged.map_err(failed)?
            && let Some(opening) = self.openings.pop()
        {
            self.openings = vec![opening];
            self.mark(&self.openings.clone())?;
        }
        Ok(())
    }

    /// Merges everything, and empties the log. False when somebody reads from it all the while.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn merge_all(&mut self) -> Result<bool, StoreError> {
        let merged = checkpoint(&self.connection, "TRUNCATE");
        self.note_written();
        merged.map_err(|source| StoreError::sqlite("make the project one file", source, &self.path))
    }

    /// Writes a new mark, unless the last one may not be in the file itself yet.
    fn renew_opening(&mut self) -> Result<(), StoreError> {
        if self.openings.len() > 1 {
            return Ok(());
        }
        let failed = |source| StoreError::sqlite("mark the project as open", source, &self.path);
        let sql = "SELECT opening, lower(hex(randomblob(16))) FROM project";
        let read = self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (old, new): (String, String) = read.map_err(failed)?;
        let mut openings = vec![old, new.clone()];
        if let Access::Write { lock } = &self.access
            && !lock.marks().openings.is_empty()
        {
            // A log that was left behind may have been merged in part.
            openings.splice(0..0, lock.marks().openings.iter().cloned());
            openings.retain(|opening| !opening.is_empty());
            openings.dedup();
            self.mark(&openings)?;
        }
        // Where nothing was known of the file, nothing is said of it before it has the mark.
        let written = self.connection.execute("UPDATE project SET opening = ?1", [new]);
        written.map_err(|source| StoreError::sqlite("mark the project as open", source, &self.path))?;
        self.openings = openings;
        Ok(())
    }

    /// Says beside the file what its mark is.
    fn mark(&mut self, openings: &[String]) -> Result<(), StoreError> {
        let file = self.same_file.as_ref().and_then(super::same_file::SameFile::file);
        let Access::Write { lock } = &mut self.access else { return Ok(()) };
        let log = leftover::log_salt(&self.path);
        let marked = lock.mark(Marks { openings: openings.to_vec(), file, log });
        marked.map_err(|source| StoreError::io("mark the project as open", source, &self.path))
    }

    /// Says beside the file how its log is marked, if that has changed: another program that writes by the rules may have
    /// made it begin anew.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn follow_log(&mut self) -> Result<(), StoreError> {
        let Access::Write { lock } = &mut self.access else { return Ok(()) };
        let (mut marks, log) = (lock.marks().clone(), leftover::log_salt(&self.path));
        if marks.openings.is_empty() || log.is_none() || log == marks.log {
            return Ok(());
        }
        marks.log = log;
        lock.mark(marks).map_err(|source| StoreError::io("mark the project as open", source, &self.path))
    }

    /// Remembers how the file is now that this process has written it.
    pub(super) fn note_written(&mut self) {
        if let Some(file) = &mut self.same_file {
            file.note_written(&self.path);
        }
    }
}

/// Whether the file has all that was in its log.
fn checkpoint(connection: &Connection, how: &str) -> rusqlite::Result<bool> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| {
        let (is_busy, frames, merged): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(!is_busy && frames == merged)
    })
}
