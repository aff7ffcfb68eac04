//! Files whose tables are not ours.

use super::*;
use nestling::store::{Store, StoreError};
use rusqlite::Connection;

/// Refused by every door and not changed; what is in it is rescued, without what is not ours.
fn refused(sql: &str, want: &str) -> (usize, String) {
    let place = Place::rich().execute(sql);
    let before = place.bytes();
    let doors = [Store::open, Store::open_to_read];
    for open in doors {
        match open(&place.path()) {
            Err(StoreError::Altered { detail, .. }) => assert_eq!(detail, want),
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert!(place.bytes() == before);
    let report = nestling::session::check_project(&place.path()).unwrap();
    assert_eq!(report.problems, [want]);
    let (rescued, contents) = place.rescue();
    let db = Connection::open(&rescued.path).unwrap();
    let ours =
        "SELECT count(*) FROM sqlite_schema WHERE type = 'view' OR type = 'trigger' AND name NOT LIKE 'log_is_never_%'";
    assert_eq!(db.query_row(ours, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    memory::check(sql);
    let mentions = contents.corpus.all_sentences().map(|s| s.mentions().len()).sum();
    (mentions, rescued.lost.join("\n"))
}

/// Of the documents that were not removed.
const MENTIONS: usize = 59 * 4 + 1;

#[test]
fn a_trigger_that_deletes_what_comes_in_is_never_run() {
    let sql = "CREATE TRIGGER gone AFTER INSERT ON mention BEGIN DELETE FROM mention; END";
    let (mentions, lost) = refused(sql, "the trigger \"gone\" on mention is not ours");
    assert_eq!(mentions, MENTIONS);
    assert!(lost.starts_with("the trigger \"gone\" on mention is not ours\n"), "{lost}");
    let error = Store::open(&Place::rich().execute(sql).path()).map(drop).unwrap_err().to_string();
    assert!(error.contains("nothing of it was run") && error.contains("rescue"), "{error}");
}

#[test]
fn views_that_never_end_in_the_place_of_tables_are_never_run() {
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let sql = format!(
        "DROP TABLE project; CREATE VIEW project AS {endless} SELECT 1 AS one, i AS revision, i AS next_mention,
        i AS next_label, i AS next_sentence, '' AS id, '' AS opening FROM n WHERE i < 0"
    );
    let (mentions, _) = refused(&sql, "the view \"project\" is not ours, the table \"project\" is missing");
    assert_eq!(mentions, MENTIONS);
    let sql = format!(
        "DROP TABLE label; CREATE VIEW label AS {endless} SELECT i AS id, i AS position, 'x' || i AS name, '' AS title,
        '#000000' AS color, NULL AS key FROM n"
    );
    let want = "the view \"label\" is not ours, the index \"sqlite_autoindex_label_1\" is missing, \
                the table \"label\" is missing";
    let (mentions, lost) = refused(&sql, want);
    assert_eq!(mentions, MENTIONS);
    assert!(lost.contains("the table label can't be read") && lost.contains("which is called label-0 now"), "{lost}");
}

#[test]
fn what_lacks_costs_no_more_than_itself() {
    let is_other = |table: &str| format!("the table {table:?} is not as the program makes it");
    for (table, column) in [
        ("document", "kept"),
        ("document", "name"),
        ("document", "presence"),
        ("sentence", "split"),
        ("mention", "note"),
        ("mention", "source_id"),
        ("label", "title"),
        ("log", "presses"),
    ] {
        let sql = format!("ALTER TABLE {table} DROP COLUMN {column}");
        let (mentions, lost) = refused(&sql, &is_other(table));
        // Of a document that was removed nobody knows any more.
        let removed = if column == "presence" { 4 } else { 0 };
        assert_eq!(mentions, MENTIONS + removed, "{table}.{column}: {lost}");
        assert!(table == "log" || lost.contains(&format!("has no column {column}")), "{table}.{column}: {lost}");
    }
    for table in ["rejected", "setting", "log", "measurement", "suggestion", "model"] {
        let sql = format!("DROP TABLE {table}");
        let place = Place::rich().execute(&sql);
        assert!(place.refusal().contains(&format!("the table {table:?} is missing")), "{}", place.refusal());
        assert_eq!(place.rescue().0.mentions, MENTIONS, "{table}");
    }
    let (mentions, lost) = refused("DROP TABLE sentence", "the table \"sentence\" is missing");
    assert_eq!(mentions, 0);
    assert!(lost.contains("3 sentences of \"d0\" were cut again, without their mentions"), "{lost}");
}

#[test]
fn what_computes_is_not_asked() {
    let sql = "ALTER TABLE document ADD COLUMN endless TEXT AS (hex(zeroblob(100000)))";
    assert_eq!(refused(sql, "the table \"document\" is not as the program makes it").0, MENTIONS);
    // In the place of a column of ours.
    let sql =
        "ALTER TABLE document DROP COLUMN kept; ALTER TABLE document ADD COLUMN kept TEXT AS (hex(zeroblob(100000)))";
    assert_eq!(refused(sql, "the table \"document\" is not as the program makes it").0, MENTIONS);
    let sql = "CREATE INDEX slow ON mention (hex(zeroblob(id)))";
    assert_eq!(refused(sql, "the index \"slow\" on mention is not ours").0, MENTIONS);
}

#[test]
fn two_tables_in_one_place_are_refused() {
    let place = Place::rich().execute(
        "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'label')
        WHERE name = 'document'",
    );
    assert!(place.refusal().contains("two tables lie in the same place"), "{}", place.refusal());
    place.rescue(); // the names of labels are no texts of documents, but they could be
}

#[test]
fn an_old_file_is_looked_at_before_it_is_brought_up_to_date() {
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store/version-1.nestling");
    let place = Place::with(&std::fs::read(fixture).unwrap())
        .execute("CREATE TRIGGER gone AFTER UPDATE ON project BEGIN DELETE FROM document; END");
    let before = place.bytes();
    let want = "the trigger \"gone\" on project is not ours";
    assert!(Store::open(&place.path()).map(drop).unwrap_err().to_string().contains(want));
    assert!(place.bytes() == before);
    assert_eq!(place.rescue().0.documents, 2);
}
