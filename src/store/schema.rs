//! Whether the tables of a file are ours: nothing more, nothing less.
//!
//! A schema can do things. A trigger deletes mentions behind an import, a view in a table's place never ends, a column
//! is computed. So the schema of a file is compared with the one that the migrations make, before anything but the list
//! of tables is read.

use super::migrations::migrate_to;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Differences that are told, at most.
const MOST_TOLD: usize = 5;

/// What stands in the list of tables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Object {
    /// "table", "index", "trigger" or "view".
    kind: String,
    name: String,
    table: String,
    /// Without comments and white space; empty for an index that comes with its table.
    sql: Vec<String>,
}

impl Object {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |column| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
        Ok(Self { kind: text(0)?, name: text(1)?, table: text(2)?, sql: words(&text(3)?) })
    }
}

/// How the tables of a file differ from ours.
#[derive(Debug)]
pub(super) struct Differences {
    /// What is not ours, or not as we make it.
    foreign: Vec<Object>,
    /// What lacks, or is another one.
    missing: Vec<Object>,
    /// Two of the tables are one, by where they lie in the file.
    shares_pages: bool,
}

impl Differences {
    /// What is not ours, a line each: "the trigger "gone" on mention is not ours".
    pub(super) fn foreign_in_words(&self) -> impl Iterator<Item = String> + '_ {
        self.foreign.iter().map(|o| {
            let is_other = self.missing.iter().any(|m| (&m.kind, &m.name) == (&o.kind, &o.name));
            let what = if is_other { "is not as the program makes it" } else { "is not ours" };
            let on = if o.table == o.name { String::new() } else { format!(" on {}", o.table) };
            format!("the {} {:?}{on} {what}", o.kind, o.name)
        })
    }

    /// All differences in one line; `None` where there are none.
    pub(super) fn in_words(&self) -> Option<String> {
        let shares = self.shares_pages.then(|| "two tables lie in the same place".to_owned());
        let is_told = |o: &Object| self.foreign.iter().any(|f| (&f.kind, &f.name) == (&o.kind, &o.name));
        let missing = self.missing.iter().filter(|o| !is_told(o));
        let missing = missing.map(|o| format!("the {} {:?} is missing", o.kind, o.name));
        let mut lines: Vec<String> = shares.into_iter().chain(self.foreign_in_words()).chain(missing).collect();
        let more = lines.len().saturating_sub(MOST_TOLD);
        lines.truncate(MOST_TOLD);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        (!lines.is_empty()).then(|| lines.join(", "))
    }
}

/// Compares the tables of a file with those of its version.
///
/// # Errors
/// A list of tables that can't be read.
pub(super) fn compare(connection: &Connection, version: i64) -> rusqlite::Result<Differences> {
    let pages = "SELECT count(*) > count(DISTINCT rootpage) FROM sqlite_schema WHERE rootpage > 0";
    let shares_pages = connection.query_row(pages, [], |row| row.get(0))?;
    let mut missing = BTreeSet::clone(&*expected(version)?);
    let foreign = objects(connection)?.into_iter().filter(|object| !missing.remove(object)).collect();
    Ok(Differences { foreign, missing: missing.into_iter().collect(), shares_pages })
}

/// What the migrations up to a version make. Found out once: making the tables takes longer than most searches, each of
/// which opens the file.
fn expected(version: i64) -> rusqlite::Result<Arc<BTreeSet<Object>>> {
    static KNOWN: Mutex<BTreeMap<i64, Arc<BTreeSet<Object>>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(objects) = known().get(&version) {
        return Ok(Arc::clone(objects));
    }
    let mut connection = Connection::open_in_memory()?;
    migrate_to(&mut connection, version)?;
    let made: Arc<BTreeSet<Object>> = Arc::new(objects(&connection)?.into_iter().collect());
    known().insert(version, Arc::clone(&made));
    Ok(made)
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], Object::read)?;
    rows.collect()
}

/// The words and signs of a statement. SQLite keeps the text as it was typed, and changes it when a table is altered, each
/// version in its own way: comments, white space and quotes around names say nothing.
fn words(sql: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            // A quote inside is doubled: it makes two words of one, here and there alike.
            '"' | '\'' => rest.get(1..).and_then(|r| r.find(first)).map_or(rest.len(), |at| at + 2),
            c if is_of_word(c) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        match word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
            Some(name) if !name.is_empty() && name.chars().all(is_of_word) => words.push(name.to_owned()),
            _ if word.starts_with("--") || word.starts_with("/*") => {}
            _ => words.push(word.to_owned()),
        }
        rest = after.trim_start();
    }
    words
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::super::migrations::VERSION;
    use super::*;

    fn project(version: i64, change: &str) -> Option<String> {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_to(&mut connection, version).unwrap();
        connection.execute_batch(change).unwrap();
        compare(&connection, version).unwrap().in_words()
    }

    #[test]
    fn what_the_migrations_make_is_ours() {
        for version in 1..=VERSION {
            assert_eq!(project(version, ""), None, "version {version}");
        }
        // As another version of SQLite would have kept it.
        assert_eq!(words("CREATE TABLE \"a\" (b -- c\n TEXT, /* d */ e INT)"), words("CREATE TABLE a(b TEXT,e INT)"));
        assert_ne!(words("CREATE TABLE a (b TEXT)"), words("CREATE TABLE a (b TEXT CHECK (1))"));
        assert_ne!(words("CHECK (a = 'b')"), words("CHECK (a = \"b\")"));
    }

    #[test]
    fn what_is_not_ours_is_told() {
        let check = |change: &str, want: &str| assert_eq!(project(VERSION, change).as_deref(), Some(want));
        check(
            "CREATE TRIGGER gone AFTER INSERT ON mention BEGIN DELETE FROM mention; END",
            "the trigger \"gone\" on mention is not ours",
        );
        check(
            "DROP TABLE project; CREATE VIEW project AS SELECT 1 AS revision",
            "the view \"project\" is not ours, the table \"project\" is missing",
        );
        check("ALTER TABLE document DROP COLUMN kept", "the table \"document\" is not as the program makes it");
        check(
            "ALTER TABLE document ADD COLUMN evil TEXT AS (hex(text))",
            "the table \"document\" is not as the program makes it",
        );
        check("DROP TRIGGER log_is_never_changed", "the trigger \"log_is_never_changed\" is missing");
        check("CREATE INDEX mine ON sentence (status)", "the index \"mine\" on sentence is not ours");
        check("CREATE VIRTUAL TABLE other USING fts5 (a)", {
            "the table \"other\" is not ours, the table \"other_data\" is not ours, the table \"other_idx\" is not ours, \
             the table \"other_content\" is not ours, the table \"other_docsize\" is not ours, and 1 more"
        });
        check(
            "PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'label')
            WHERE name = 'document'",
            "two tables lie in the same place",
        );
    }
}
