//! Numbers in a file that would become ids, sizes or loops: they are bounded, and memory follows what is there.

use super::*;
use nestling::annotation::{SentenceId, limits};
use nestling::store::{Rescued, Store};

/// Refused with a message that says where; rescued with nearly all that is in it.
fn refused(sql: &str, want: &str) -> Rescued {
    let place = Place::rich().alter(sql);
    let error = place.refusal();
    assert!(error.contains(want), "{sql}: {error}");
    let report = nestling::session::check_project(&place.path()).unwrap();
    assert!(report.problems.iter().any(|problem| problem.contains(want)), "{sql}: {:?}", report.problems);
    let (rescued, _) = place.rescue();
    memory::check(sql);
    assert!(rescued.mentions >= 230, "{sql}: {rescued:?}");
    rescued
}

#[test]
fn ids_that_were_never_given_take_no_memory() {
    let place = Place::rich().alter("UPDATE project SET next_sentence = next_sentence + 134217728");
    let corpus = Store::open(&place.path()).unwrap().load().unwrap().corpus;
    assert!(corpus.next_sentence_id().0 > 134_217_728);
    place.rescue();
    // One far away, with all that belongs to it.
    let far = limits::SENTENCE_IDS - 1;
    let place = Place::rich().alter(&format!(
        "UPDATE project SET next_sentence = {};
        UPDATE sentence SET id = {far} WHERE id = 5; UPDATE mention SET sentence = {far} WHERE sentence = 5;
        UPDATE rejected SET sentence = {far} WHERE sentence = 5; UPDATE suggestion SET sentence = {far} WHERE sentence = 5",
        far + 1
    ));
    let corpus = Store::open(&place.path()).unwrap().load().unwrap().corpus;
    assert!(corpus.any_sentence(SentenceId(far)).is_some());
    assert_eq!(corpus.next_sentence_id(), SentenceId(limits::SENTENCE_IDS));
    place.rescue();
    memory::check("ids that were never given");
}

#[test]
fn ids_out_of_bounds_are_refused_with_their_place() {
    refused("UPDATE project SET next_sentence = 4294967295", "project 1, column next_sentence: 4294967295");
    refused(
        "UPDATE project SET next_mention = 9000000000000000000",
        "project 1, column next_mention: 9000000000000000000",
    );
    refused("UPDATE project SET next_label = -1", "project 1, column next_label: -1");
    refused("UPDATE project SET revision = 9223372036854775807", "project 1, column revision: 9223372036854775807");
    refused("UPDATE model SET id = 4294967295 WHERE id = 2", "model 4294967295, column id: 4294967295");
    refused("UPDATE suggestion SET model = 4294967296 WHERE sentence = 2", "suggestion 2, column model: 4294967296");
    refused(
        "UPDATE measurement SET true_positives = 9223372036854775807",
        "column true_positives: 9223372036854775807",
    );
    refused("UPDATE sentence SET id = 300000000 WHERE id = 9", "sentence 300000000, column id: 300000000");
    refused("UPDATE mention SET id = -7 WHERE sentence = 9 AND label = 0", "mention 9 -7, column id: -7");
    refused("UPDATE mention SET label = 4000000000 WHERE sentence = 9", "column label: 4000000000");
    refused(
        "UPDATE mention SET model = 4294967295 WHERE provenance = 'accepted' AND sentence = 9",
        "column model: 4294967295",
    );
    refused("UPDATE label SET id = 4294967295 WHERE id = 3", "label 4294967295, column id: 4294967295");
}

#[test]
fn a_document_id_far_away_makes_nothing_count_up_to_it() {
    let rescued = refused("UPDATE document SET id = 9000000000000000000 WHERE id = 59", "a document is missing");
    // Its sentences have lost it, and it has lost them.
    assert_eq!(rescued.documents, 59);
    assert!(
        rescued.lost.iter().any(|line| line == "3 sentences whose document 59 can't be read"),
        "{:?}",
        rescued.lost
    );
}

#[test]
fn what_the_log_names_is_bounded() {
    let names = |edits: &str| format!("UPDATE log SET inverse = '{edits}' WHERE seq = 2");
    let presence =
        |runs: &str| names(&format!(r#"[{{"edit":"set_presence","documents":{runs},"old":"there","new":"removed"}}]"#));
    let documents = "log 2, column inverse: the log names documents that no project can have";
    refused(&presence("[[0,4294967295]]"), documents);
    refused(&presence("[[7,3]]"), documents);
    refused(&names(r#"[{"edit":"set_removed","documents":[[0,4294967295]],"new":true}]"#), documents);
    let status = r#"[{"edit":"set_status","sentence":4294967295,"old":"complete","new":"flagged"}]"#;
    refused(&names(status), "log 2, column inverse: the log names a sentence that no project can have");
    let mention = r#"[{"edit":"add_mention","sentence":1,"mention":{"id":18446744073709551615,"spans":[[0,1]],"label":0,"from":"person"}}]"#;
    refused(&names(mention), "log 2, column inverse: the log names a mention that no project can have");
    let label = r##"[{"edit":"insert_label","at":0,"label":{"id":4294967295,"name":"X","color":"#000000"}}]"##;
    refused(&names(label), "log 2, column inverse: the log names a label that no project can have");
    let deep = format!("[{}", "[".repeat(100_000));
    refused(&names(&deep), "log 2, column inverse: an entry of the log is not JSON");
    // What only looks like an id is refused when it is undone; until then it takes no room.
    let place = Place::rich().alter(&presence("[[0,134217727]]"));
    Store::open(&place.path()).unwrap().load().unwrap();
    let thousand = vec!["[0,134217727]"; 1000].join(",");
    let place = Place::rich().alter(&presence(&format!("[{thousand}]")));
    let mut contents = Store::open(&place.path()).unwrap().load().unwrap();
    while let Some(undo) = contents.history.next_undo().cloned() {
        let Ok(inverse) = contents.corpus.apply(undo) else { break };
        contents.history.record(nestling::annotation::Step::Undo, inverse);
    }
    memory::check("ranges of documents");
}

#[test]
fn packed_numbers_are_bounded_by_their_sentence() {
    refused("UPDATE sentence SET tokens = x'FFFFFFFFFFFFFFFF7F' WHERE id = 9", "sentence 9, column tokens");
    refused("UPDATE sentence SET tokens = x'00FFFFFFFF0F' WHERE id = 11", "document 3: a sentence needs tokens");
    refused(
        "UPDATE mention SET end_token = 4294967294 WHERE sentence = 9 AND fragments IS NULL",
        "outside its sentence",
    );
    refused(
        "UPDATE mention SET fragments = '[[0,1],[4294967290,4294967294]]' WHERE sentence = 9 AND fragments IS NOT NULL",
        "outside its sentence",
    );
    let many = (0..200_000).map(|at| format!("[{},{}]", 2 * at, 2 * at + 1)).collect::<Vec<_>>().join(",");
    refused(
        &format!("UPDATE mention SET fragments = '[{many}]' WHERE sentence = 9 AND fragments IS NOT NULL"),
        "outside its sentence",
    );
}

#[test]
fn many_rows_of_one_kind_end_soon() {
    let count = |n: u32| format!("WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < {n})");
    let labels = format!(
        "{} INSERT INTO label SELECT i, i, 'L' || i, '', '#000000', NULL FROM n; UPDATE project SET next_label = 200000",
        count(150_000)
    );
    refused(&labels, "there are more labels than a project has room for");
    // Of one sentence; they are told apart without comparing each with each.
    let mentions = format!(
        "{} INSERT INTO mention SELECT 4, 1000 + i, i, 0, 1, NULL, NULL, '', 'person', NULL, NULL FROM n;
        {} INSERT INTO label SELECT i, i, 'L' || i, '', '#000000', NULL FROM n;
        UPDATE project SET next_label = 60000, next_mention = 100000",
        count(30_000),
        count(30_000)
    );
    let place = Place::rich().alter(&mentions);
    let corpus = Store::open(&place.path()).unwrap().load().unwrap().corpus;
    assert!(corpus.sentence(SentenceId(4)).unwrap().mentions().len() > 29_000);
    assert!(place.rescue().0.mentions > 29_000);
    let settings = format!("{} INSERT INTO setting SELECT 'key' || i, 'x' FROM n", count(50_000));
    Store::open(&Place::rich().alter(&settings).path()).unwrap().load().unwrap();
    memory::check("many rows");
}

/// Pages that are reached twice: each of the entries of an inner page leads to the same page.
#[test]
fn rows_that_are_reached_twice_are_refused() {
    let place = Place::rich();
    let db = rusqlite::Connection::open(place.path()).unwrap();
    let root: u32 =
        db.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'mention'", [], |row| row.get(0)).unwrap();
    drop(db);
    let mut bytes = place.bytes();
    let page = (root as usize - 1) * 4096;
    assert_eq!(bytes[page], 2, "an inner page");
    let cells = usize::from(u16::from_be_bytes([bytes[page + 3], bytes[page + 4]]));
    let last: [u8; 4] = bytes[page + 8..page + 12].try_into().unwrap();
    for cell in 0..cells {
        let at = page + 12 + 2 * cell;
        let start = page + usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        bytes[start..start + 4].copy_from_slice(&last);
    }
    let place = Place::with(&bytes);
    assert!(place.refusal().contains("of mention"), "{}", place.refusal());
    place.rescue();
}
