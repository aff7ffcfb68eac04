//! What is wrong with a file, as far as it can be told without a person.

use super::{Contents, Store, StoreError};

impl Store {
    /// What is wrong with the file; empty when it is sound: SQLite's own checks, every invariant of what it holds
    /// (each offset, label and id), the log, and the search index. Reads everything.
    ///
    /// # Errors
    /// A file that can't be read at all.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.check_and_load()?.0)
    }

    /// As [`Store::check`], with what the file holds where it can be read.
    ///
    /// # Errors
    /// A file that can't be read at all.
    pub fn check_and_load(&self) -> Result<(Vec<String>, Option<Contents>), StoreError> {
        let mut problems = self.rows_of("PRAGMA integrity_check", |row| row.get::<_, String>(0))?;
        problems.retain(|said| said != "ok");
        let references = self.rows_of("PRAGMA foreign_key_check", |row| {
            let (from, to): (String, String) = (row.get(0)?, row.get(2)?);
            Ok(format!("a row of {from} names a row of {to} that there is not"))
        })?;
        problems.extend(references);
        let is_sound = problems.is_empty();
        let contents = match self.load() {
            Ok(contents) => Some(contents),
            Err(StoreError::Damaged { detail, .. }) => {
                problems.push(detail);
                None
            }
            Err(error) => return Err(error),
        };
        if !is_sound {
            // Loading has allowed a waiting log to be merged into the file when it is closed.
            self.keep_log()?;
        }
        let without = "SELECT count(*) FROM sentence WHERE id NOT IN (SELECT rowid FROM search)";
        let stray = "SELECT count(*) FROM search WHERE rowid NOT IN (SELECT id FROM sentence)";
        for (sql, what) in
            [(without, "sentences can't be found by search"), (stray, "search finds sentences that are not there")]
        {
            let counted = self.rows_of(sql, |row| row.get::<_, i64>(0))?;
            problems.extend(counted.first().filter(|count| **count > 0).map(|count| format!("{what} ({count})")));
        }
        let sql = "SELECT (SELECT revision FROM project), (SELECT max(revision) FROM log)";
        let revisions = self.rows_of(sql, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?)))?;
        for (project, log) in revisions {
            if let Some(log) = log.filter(|log| *log != project) {
                problems.push(format!("the project is at revision {project}, but its log ends at {log}"));
            }
        }
        Ok((problems, contents))
    }

    fn rows_of<T>(
        &self,
        sql: &str,
        row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let failed = |source| StoreError::sqlite("check the project", source, &self.path);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map([], row).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }
}
