//! Seeded mutations: bytes of the file, values of its rows, its tables.

use super::project::{Place, loosely, rich};
use super::tries::{Outcomes, try_all};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Each kind of mutation, as many times.
const TIMES: usize = 60;

fn times() -> usize {
    let factor = std::env::var("NESTLING_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    TIMES * factor
}

/// A generator whose numbers are the same everywhere (Steele et al. 2014, SplitMix64).
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The rich project, and the files of older versions.
fn originals() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "nestling"));
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let old = paths.iter().map(|path| (name(path), std::fs::read(path).unwrap()));
    [("rich".to_owned(), rich().to_vec())].into_iter().chain(old).collect()
}

/// Half of all tries are of the rich project.
fn original<'o>(originals: &'o [(String, Vec<u8>)], chance: &mut Chance) -> &'o (String, Vec<u8>) {
    if chance.below(2) == 0 { &originals[0] } else { chance.one_of(originals) }
}

#[test]
fn bytes() {
    let (originals, mut outcomes) = (originals(), Outcomes::default());
    for seed in 0..times() as u64 {
        let mut chance = Chance(seed);
        let (name, file) = original(&originals, &mut chance);
        let (mut file, page) = (file.clone(), 4096);
        let pages = file.len() / page;
        let how = chance.below(8);
        match how {
            // Single bits and bytes, anywhere and where pages and rows begin.
            0 => (0..1 + chance.below(4)).for_each(|_| {
                let at = chance.below(file.len());
                file[at] ^= 1 << chance.below(8);
            }),
            1 => (0..1 + chance.below(30)).for_each(|_| {
                let at = chance.below(file.len());
                file[at] = chance.number() as u8;
            }),
            2 => {
                let at = 18 + chance.below(82);
                file[at] = *chance.one_of(&[0, 1, 0x7F, 0x80, 0xFF]);
            }
            3 => (0..1 + chance.below(6)).for_each(|_| {
                let at = chance.below(pages) * page + chance.below(16);
                file[at] = chance.number() as u8;
            }),
            // Pages in the place of others, so that some are reached twice and some again from below.
            4 => (0..1 + chance.below(3)).for_each(|_| {
                let (from, to) = (chance.below(pages), 1 + chance.below(pages - 1));
                let copied = file[from * page..(from + 1) * page].to_vec();
                file[to * page..(to + 1) * page].copy_from_slice(&copied);
            }),
            5 => {
                let at = 1 + chance.below(pages - 1);
                let filling = chance.number() as u8;
                file[at * page..(at + 1) * page].fill(filling);
            }
            6 => file.truncate(page + chance.below(file.len() - page)),
            // Large numbers in a row, as lengths, pointers and ids are.
            _ => (0..1 + chance.below(3)).for_each(|_| {
                let at = chance.below(file.len() - 9);
                let large = *chance.one_of(&[0xFF, 0x7F, 0x80, 0]);
                file[at..at + 1 + chance.below(9)].fill(large);
            }),
        }
        outcomes.add(try_all(&file, format!("bytes, seed {seed}, {name}, way {how}")));
    }
    eprintln!("bytes: {outcomes:?}");
    assert!(outcomes.rescued * 2 > outcomes.tried, "{outcomes:?}");
}

#[test]
fn values() {
    let (originals, mut outcomes) = (originals(), Outcomes::default());
    for seed in 0..times() as u64 {
        let mut chance = Chance(seed);
        let (name, file) = original(&originals, &mut chance);
        let place = Place::with(file);
        let mut said = Vec::new();
        for _ in 0..1 + chance.below(3) {
            let columns = columns(&place.path());
            let (table, column) = chance.one_of(&columns);
            let value = value(&mut chance);
            // All, or the one in so many that comes first.
            let which = *chance.one_of(&["", " WHERE @ = 0", " WHERE @ % 7 = 3", " WHERE @ > 50"]);
            let which = which.replace('@', key(table));
            let sql = format!("UPDATE OR IGNORE {table} SET \"{column}\" = {value}{which}");
            said.push(sql.chars().take(200).collect::<String>());
            // Some values no row can have: then it stays as it is.
            let _ = loosely(&place.path(), |db| db.execute_batch(&sql));
        }
        outcomes.add(try_all(&place.bytes(), format!("values, seed {seed}, {name}, {}", said.join("; "))));
    }
    eprintln!("values: {outcomes:?}");
    assert!(outcomes.rescued * 10 > outcomes.tried * 8, "{outcomes:?}");
}

/// Tables with their columns; those of the search index, too.
fn columns(path: &Path) -> Vec<(String, String)> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS c
        WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.name, c.cid";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// A column by which rows are chosen.
fn key(table: &str) -> &'static str {
    match table {
        "mention" | "rejected" => "sentence",
        "setting" => "length(key)",
        "measurement" => "model",
        "search_idx" => "pgno",
        "search_config" => "length(k)",
        _ => "rowid",
    }
}

fn value(chance: &mut Chance) -> String {
    let long = 1 + chance.below(200_000);
    let values = [
        "NULL".to_owned(),
        "''".to_owned(),
        "'text'".to_owned(),
        "'7'".to_owned(),
        "0.5".to_owned(),
        "9e999".to_owned(),
        "x''".to_owned(),
        "x'00FF80'".to_owned(),
        "x'FFFFFFFFFFFFFFFF7F'".to_owned(),
        "CAST(x'41FF42' AS TEXT)".to_owned(),
        "CAST(x'410042' AS TEXT)".to_owned(),
        "'[]'".to_owned(),
        "'{}'".to_owned(),
        r#"'{"a":"b"}'"#.to_owned(),
        "'[[0,4294967295]]'".to_owned(),
        r#"'[{"edit":"set_presence","documents":[[0,4294967295]],"old":"there","new":"removed"}]'"#.to_owned(),
        r#"'[{"edit":"set_status","sentence":1,"old":"untouched","new":"complete"}]'"#.to_owned(),
        format!("'{}'", "[".repeat(long)),
        format!("'{}'", "é".repeat(long / 2)),
        format!("zeroblob({long})"),
        format!("randomblob({})", long % 64),
        "rowid + 1".to_owned(),
        "-1".to_owned(),
        "0".to_owned(),
        "1".to_owned(),
        "2147483648".to_owned(),
        "4294967295".to_owned(),
        "4294967296".to_owned(),
        "134217728".to_owned(),
        "9000000000000000000".to_owned(),
        "9223372036854775807".to_owned(),
        "(-9223372036854775807 - 1)".to_owned(),
    ];
    chance.one_of(&values).clone()
}

#[test]
fn tables() {
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let shapes = [
        "CREATE TRIGGER x AFTER INSERT ON @ BEGIN DELETE FROM @; END".to_owned(),
        "CREATE TRIGGER x BEFORE UPDATE ON @ BEGIN SELECT RAISE(IGNORE); END".to_owned(),
        format!("CREATE VIEW x AS {endless} SELECT i FROM n"),
        format!("DROP TABLE @; CREATE VIEW @ AS {endless} SELECT i AS id FROM n"),
        "DROP TABLE @".to_owned(),
        "DROP TABLE @; CREATE TABLE @ (x)".to_owned(),
        "DROP TABLE @; CREATE VIRTUAL TABLE @ USING fts5 (id, name, text)".to_owned(),
        "CREATE TABLE x AS SELECT * FROM @; DROP TABLE @; ALTER TABLE x RENAME TO @".to_owned(),
        "ALTER TABLE @ RENAME TO y".to_owned(),
        "ALTER TABLE @ ADD COLUMN more TEXT AS (hex(zeroblob(1000)))".to_owned(),
        "CREATE INDEX x ON @ (1)".to_owned(),
        "CREATE TABLE x (a TEXT DEFAULT 'b')".to_owned(),
        "DROP INDEX mention_by_label".to_owned(),
        "DROP TRIGGER log_is_never_changed".to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE @ (a, b, c)' WHERE name = '@'"
            .to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER', 'TEXT') WHERE name = '@'"
            .to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = '@'".to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name = '@'".to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999999 WHERE name = '@'".to_owned(),
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 'x', tbl_name = NULL WHERE name = '@'"
            .to_owned(),
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = '@'"
            .to_owned(),
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '@'".to_owned(),
        "PRAGMA user_version = -3".to_owned(),
        "PRAGMA user_version = 2".to_owned(),
    ];
    let tables = ["project", "setting", "label", "document", "sentence", "mention", "rejected", "suggestion", "log"];
    let (originals, mut outcomes) = (originals(), Outcomes::default());
    for seed in 0..times() as u64 {
        let mut chance = Chance(seed);
        let (name, file) = original(&originals, &mut chance);
        // Each shape in turn.
        let (shape, table) = (&shapes[seed as usize % shapes.len()], chance.one_of(&tables));
        let sql = shape.replace('@', table);
        let place = Place::with(file);
        let db = Connection::open(place.path()).unwrap();
        // Some can't be done to some tables.
        let _ = db.execute_batch("PRAGMA foreign_keys = OFF").and_then(|()| db.execute_batch(&sql));
        drop(db);
        outcomes.add(try_all(&place.bytes(), format!("tables, seed {seed}, {name}, {sql}")));
    }
    eprintln!("tables: {outcomes:?}");
    assert!(outcomes.rescued * 10 > outcomes.tried * 6, "{outcomes:?}");
}
