//! The rows of a damaged table: found by their ids, whatever lies between them, with the columns that are there.

use super::losses::Losses;
use crate::store::fields::Fields;
use crate::store::guard::{Allowance, TOO_MUCH_WORK, was_stopped};
use crate::store::load::ReadError;
use rusqlite::{Connection, Row};
use std::collections::HashSet;

/// So many ids after a break are tried one by one, as many as a broken page may hold. Beyond, the steps grow.
const ONE_BY_ONE: i64 = 100_000;
/// No id is greater, but in a file that was altered.
const LAST_ID: i64 = 1 << 30;

/// A column, what stands for it where a file has none, and the first version that has it.
pub(super) type Column = (&'static str, &'static str, i64);

/// A table of a damaged file.
pub(super) struct Table<'c> {
    connection: &'c Connection,
    allowance: &'c Allowance,
    name: &'static str,
    /// "rows of sentence"
    what: &'static str,
    key_columns: usize,
    select: String,
    /// Whether its rows have ids.
    has_ids: bool,
}

impl<'c> Table<'c> {
    /// `None` for one that is not there, or is none: that is told.
    pub(super) fn find(
        connection: &'c Connection,
        allowance: &'c Allowance,
        version: i64,
        (name, what): (&'static str, &'static str),
        key_columns: usize,
        columns: &[Column],
        losses: &mut Losses,
    ) -> Option<Self> {
        let there = columns_of(connection, name).unwrap_or_default();
        if there.is_empty() {
            losses.add(what, format!("the table {name} can't be read"));
            return None;
        }
        let has_ids = connection.prepare(&format!("SELECT rowid FROM {name} LIMIT 0")).is_ok();
        let mut list = Vec::new();
        for (column, otherwise, since) in columns {
            if there.contains(*column) {
                list.push(format!("\"{column}\""));
                continue;
            }
            if *since <= version {
                losses.add(what, format!("the table {name} has no column {column}"));
            }
            // Only what has ids is counted by them.
            let otherwise = if has_ids || !otherwise.contains("rowid") { otherwise } else { "NULL" };
            list.push(format!("{otherwise} AS \"{column}\""));
        }
        let select = format!("SELECT {} FROM {name}", list.join(", "));
        Some(Self { connection, allowance, name, what, key_columns, select, has_ids })
    }

    /// All rows that can be read; the others are told. `true` when all could be reached.
    pub(super) fn each(
        &self,
        losses: &mut Losses,
        mut read: impl FnMut(Fields<'_>, &mut Losses) -> Result<(), ReadError>,
    ) -> bool {
        let mut take = |row: &Row<'_>, losses: &mut Losses| {
            if let Err(error) = read(Fields::new(self.name, self.key_columns, row, self.allowance), losses) {
                losses.add(self.what, error.to_string());
            }
        };
        if !self.has_ids {
            let scanned = self.scan("", &[], &mut |row| take(row, losses));
            if let Err(error) = &scanned {
                losses
                    .add(self.what, format!("{}: {}, and so with all that may come after it", self.name, told(error)));
            }
            return scanned.is_ok();
        }
        let (mut from, mut reached_all) = (i64::MIN, true);
        loop {
            let mut next = None;
            let found = self.scan("WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", &[from], &mut |row| {
                next = row.get::<_, i64>(row.as_ref().column_count() - 1).ok();
                if next.is_some_and(|id| id >= from) {
                    take(row, losses);
                }
            });
            match (found, next) {
                (Ok(()), None) => return reached_all,
                // On a page that is not in order: what comes after it may be.
                (Ok(()), Some(id)) if id < from => {
                    losses.add(self.what, format!("{} {from}: rows that are not in their order", self.name));
                    (from, reached_all) = (from.saturating_add(1), false);
                }
                (Ok(()), Some(id)) => match id.checked_add(1) {
                    Some(after) => from = after,
                    None => return reached_all,
                },
                (Err(error), _) => {
                    reached_all = false;
                    let first = from.max(0);
                    let Some(behind) = self.behind_break(first).filter(|_| !was_stopped(&error)) else {
                        let line =
                            format!("{} {first}: {}, and so with all that may come after it", self.name, told(&error));
                        losses.add(self.what, line);
                        return false;
                    };
                    let rows = if behind == first + 1 { String::new() } else { format!(" to {}", behind - 1) };
                    losses.add(self.what, format!("{} {first}{rows}: {}", self.name, told(&error)));
                    from = behind;
                }
            }
        }
    }

    /// The rows of one sentence, in a table whose key begins with it; `false` when some could not be reached.
    pub(super) fn of_sentence(
        &self,
        sentence: i64,
        losses: &mut Losses,
        mut read: impl FnMut(Fields<'_>) -> Result<(), ReadError>,
    ) -> bool {
        let mut bad = Vec::new();
        let scanned = self.scan("WHERE sentence = ?1", &[sentence], &mut |row| {
            bad.extend(read(Fields::new(self.name, self.key_columns, row, self.allowance)).err());
        });
        bad.iter().for_each(|error| losses.add(self.what, error.to_string()));
        if let Err(error) = &scanned {
            losses.add(self.what, format!("the {} {sentence}: {}", self.what, told(error)));
        }
        scanned.is_ok()
    }

    /// The first id from which on rows can be reached again, or the end can.
    fn behind_break(&self, first: i64) -> Option<i64> {
        let can_be_read = |id: i64| self.scan("WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", &[id], &mut |_| ()).is_ok();
        if let Some(id) = (first + 1..=first.saturating_add(ONE_BY_ONE)).find(|id| can_be_read(*id)) {
            return Some(id);
        }
        let (mut broken, mut step) = (first.saturating_add(ONE_BY_ONE), 1);
        let mut behind = loop {
            let id = broken.saturating_add(step);
            if id > LAST_ID {
                return None;
            }
            if can_be_read(id) {
                break id;
            }
            (broken, step) = (id, step * 2);
        };
        while behind - broken > 1 {
            let middle = broken + (behind - broken) / 2;
            if can_be_read(middle) { behind = middle } else { broken = middle }
        }
        Some(behind)
    }

    fn scan(&self, which: &str, values: &[i64], each: &mut dyn FnMut(&Row<'_>)) -> rusqlite::Result<()> {
        let select = match self.has_ids {
            true => self.select.replacen(" FROM ", ", rowid FROM ", 1),
            false => self.select.clone(),
        };
        let mut statement = self.connection.prepare_cached(&format!("{select} {which}"))?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            each(row);
        }
        Ok(())
    }
}

fn told(error: &rusqlite::Error) -> String {
    if was_stopped(error) { TOO_MUCH_WORK.to_owned() } else { error.to_string() }
}

/// Those that are stored: not what is computed, and nothing of what only looks like a table.
pub(super) fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<HashSet<String>> {
    let sql = "SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name = ?1 COLLATE NOCASE AND sql NOT LIKE 'CREATE VIRTUAL%'";
    let tables: i64 = connection.query_row(sql, [table], |row| row.get(0))?;
    if tables == 0 {
        return Ok(HashSet::new());
    }
    let mut statement = connection.prepare(&format!("PRAGMA table_xinfo({table})"))?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(1)?, row.get::<_, i64>(6)?)))?;
    let mut columns = HashSet::new();
    for row in rows {
        let (name, hidden) = row?;
        if hidden == 0 {
            columns.insert(name);
        }
    }
    Ok(columns)
}
