//! What is wrong with a file, as far as it can be told without a person.

use super::{Contents, Store, StoreError};
use crate::wording::grouped;
use rusqlite::Row;
use std::collections::BTreeMap;

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
        self.begin_reading();
        let mut problems = Vec::new();
        self.go_through(&mut problems, "PRAGMA integrity_check", |row, problems| {
            problems.push(row.get::<_, String>(0)?);
            Ok(())
        })?;
        problems.retain(|said| said != "ok");
        // A line for each pair of tables: there may be as many rows as there are mentions.
        let mut references: BTreeMap<(String, String), usize> = BTreeMap::new();
        self.go_through(&mut problems, "PRAGMA foreign_key_check", |row, _| {
            *references.entry((row.get(0)?, row.get(2)?)).or_default() += 1;
            Ok(())
        })?;
        problems.extend(references.into_iter().map(|((from, to), count)| match count {
            1 => format!("a row of {from} names a row of {to} that there is not"),
            _ => format!("{} rows of {from} name rows of {to} that there are not", grouped(count)),
        }));
        let is_sound = problems.is_empty();
        let contents = match self.load() {
            Ok(contents) => Some(contents),
            Err(error) => {
                problems.push(problem(error)?);
                None
            }
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
            self.go_through(&mut problems, sql, |row, problems| {
                let count: i64 = row.get(0)?;
                problems.extend((count > 0).then(|| format!("{what} ({count})")));
                Ok(())
            })?;
        }
        let sql = "SELECT (SELECT revision FROM project), (SELECT max(revision) FROM log)";
        self.go_through(&mut problems, sql, |row, problems| {
            let (project, log): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
            if let Some((project, log)) = project.zip(log).filter(|(project, log)| project != log) {
                problems.push(format!("the project is at revision {project}, but its log ends at {log}"));
            }
            Ok(())
        })?;
        Ok((problems, contents))
    }

    /// Goes through the rows of a query. One that can't be answered is a problem as well.
    ///
    /// # Errors
    /// What is no fault of the file.
    fn go_through(
        &self,
        problems: &mut Vec<String>,
        sql: &str,
        mut row: impl FnMut(&Row<'_>, &mut Vec<String>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let mut rows = |problems: &mut Vec<String>| -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(next) = rows.next()? {
                row(next, problems)?;
            }
            Ok(())
        };
        if let Err(source) = rows(problems) {
            problems.push(problem(StoreError::sqlite("check the project", source, &self.path))?);
        }
        Ok(())
    }
}

/// # Errors
/// What is no fault of the file.
fn problem(error: StoreError) -> Result<String, StoreError> {
    match error {
        StoreError::Damaged { detail, .. } => Ok(detail),
        other => Err(other),
    }
}
