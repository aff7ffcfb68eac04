//! Values that are not of their column's kind: the file is refused by table, row and column, and rescued but for the row.

use super::*;
use nestling::annotation::*;

fn lost(sql: &str, refusal: &str, lost: &str) -> (nestling::store::Rescued, Corpus) {
    let place = Place::rich().alter(sql);
    assert!(place.refusal().contains(refusal), "{sql}: {}", place.refusal());
    // What the check can't read is a problem in its report, from which the repair starts.
    let report = nestling::session::check_project(&place.path()).unwrap();
    assert!(report.problems.iter().any(|problem| problem.contains(refusal)), "{sql}: {:?}", report.problems);
    let (rescued, contents) = place.rescue();
    assert!(rescued.lost.iter().any(|line| line.contains(lost)), "{sql}: {:?}", rescued.lost);
    (rescued, contents.corpus)
}

#[test]
fn a_row_that_is_no_row_costs_itself() {
    let check = |sql: &str, row: &str| {
        let (rescued, _) = lost(sql, row, row);
        assert!(rescued.mentions >= 232, "{sql}: {rescued:?}");
    };
    check(
        "UPDATE mention SET label = 'PER' WHERE sentence = 9 AND label = 0",
        r#"column label: the text "PER", expected an integer"#,
    );
    check("UPDATE mention SET note = NULL WHERE sentence = 9", "column note: nothing, expected a text");
    check("UPDATE mention SET note = x'00FF' WHERE sentence = 9", "column note: a blob, expected a text");
    check(
        "UPDATE mention SET note = CAST(x'4166FF' AS TEXT) WHERE sentence = 9",
        "column note: a text that is not UTF-8",
    );
    check("UPDATE mention SET start_token = 0.5 WHERE sentence = 9", "column start_token: 0.5, expected an integer");
    check("UPDATE mention SET attributes = '{\"a\":{\"b\":1}}' WHERE sentence = 9", "column attributes");
    check("UPDATE mention SET provenance = 'nobody' WHERE sentence = 9", r#"column provenance: the text "nobody""#);
    check("UPDATE rejected SET label = 'x' WHERE sentence = 10", r#"column label: the text "x""#);
    check("UPDATE sentence SET document = 'first' WHERE id = 11", r#"sentence 11, column document: the text "first""#);
    check(
        "UPDATE sentence SET tokens = 'a b c' WHERE id = 11",
        r#"sentence 11, column tokens: the text "a b c", expected a blob"#,
    );
    check("UPDATE label SET name = NULL WHERE id = 3", "label 3, column name: nothing, expected a text");
    check(
        "UPDATE setting SET value = x'07' WHERE key = 'threshold'",
        r#"setting "threshold", column value: a blob, expected a text"#,
    );
}

#[test]
fn what_of_a_row_can_be_read_is_kept() {
    let word = "column status: the text \"done\", expected a status that there is";
    let (_, corpus) = lost("UPDATE sentence SET status = 'done' WHERE id = 9", word, word);
    let sentence = corpus.any_sentence(SentenceId(9)).unwrap();
    assert_eq!((sentence.status(), sentence.mentions().len()), (Status::InProgress, 3));

    let (_, corpus) = lost(
        "UPDATE document SET name = NULL WHERE id = 2",
        "document 2, column name: nothing",
        "document 2, column name: nothing",
    );
    assert_eq!(corpus.document(DocumentId(2)).unwrap().name, "document 2");

    let (_, corpus) = lost(
        "UPDATE label SET color = 'red', position = 'first' WHERE id = 0",
        "label 0, column",
        "label 0, column position",
    );
    assert!(corpus.labels().by_name("PER").is_some());

    // One broken byte of a text costs that byte, and no offset.
    let sql = "UPDATE document SET text = CAST(replace(CAST(text AS BLOB), x'6D61796F72', x'6DFF796F72') AS TEXT) WHERE id = 1";
    let (rescued, corpus) =
        lost(sql, "document 1, column text: a text that is not UTF-8", "document 1: 1 byte of its text");
    assert!(corpus.document(DocumentId(1)).unwrap().text.starts_with("The m?yor of the city of Aarhus"));
    assert_eq!(rescued.mentions, 59 * 4 + 1);
}

#[test]
fn many_bad_rows_are_counted() {
    let place = Place::rich();
    let before = nestling::store::Store::open_to_read(&place.path()).unwrap().load().unwrap().corpus;
    let (rescued, corpus) = place.alter("UPDATE mention SET provenance = 7").rescue();
    assert_eq!(rescued.mentions, 0);
    assert!(rescued.lost.iter().any(|line| line == "and 221 more mentions of sentence"), "{:?}", rescued.lost);
    assert!(rescued.lost.len() < 40, "{}", rescued.lost.len());
    let lacks_mentions: Vec<SentenceId> =
        before.sentences().filter(|s| !s.mentions().is_empty()).map(|s| s.id()).collect();
    assert!(!lacks_mentions.is_empty());
    for id in lacks_mentions {
        let status = corpus.corpus.sentence(id).map(Sentence::status);
        assert_ne!(status, Some(Status::Complete), "{id:?} lacks mentions");
    }
}

#[test]
fn an_empty_or_missing_row_of_counters_is_told() {
    let (rescued, _) = lost("DELETE FROM project", "the table project is empty", "the history");
    assert_eq!(rescued.mentions, 59 * 4 + 1);
}

/// The history is read when a file is opened; what is in it may be made up.
#[test]
fn an_undo_that_does_not_fit_is_refused_and_changes_nothing() {
    let mention = r#"{"id":900,"spans":[[5,6]],"label":1,"from":"person"}"#;
    let unsorted = r#""mentions":[{"id":901,"spans":[[3,4]],"label":1,"from":"person"},{"id":902,"spans":[[0,1]],"label":1,"from":"person"}]"#;
    let tokens = tokens_of_sentence_1();
    let resegment = format!(
        r#"{{"edit":"resegment","document":0,"old":[{{"id":1,"tokens":{tokens},"mentions":[{{"id":3,"spans":[[2,5]],"label":2,"from":"rule"}}],"rejected":[[0,1,1]],"status":"untouched","split":"test"}}],"new":[{{"id":1,"tokens":{tokens},{unsorted},"status":"untouched","split":"test"}}]}}"#
    );
    let missing = format!(r#"{{"edit":"remove_mention","sentence":1,"mention":{mention}}}"#);
    for edits in [
        format!(r#"[{{"edit":"remove_mention","sentence":777777,"mention":{mention}}}]"#),
        format!(r#"[{{"edit":"add_mention","sentence":0,"mention":{}}}]"#, mention.replace("[5,6]", "[5,4000000000]")),
        format!(
            r#"[{{"edit":"add_mention","sentence":0,"mention":{}}}]"#,
            mention.replace(r#""label":1"#, r#""label":70"#)
        ),
        r##"[{"edit":"remove_label","at":4000000000,"label":{"id":0,"name":"PER","color":"#000000"}}]"##.to_owned(),
        r##"[{"edit":"insert_label","at":18446744073709551615,"label":{"id":9,"name":"X","color":"#000000"}}]"##
            .to_owned(),
        r#"[{"edit":"resegment","document":99,"old":[],"new":[]}]"#.to_owned(),
        r#"[{"edit":"resegment","document":0,"old":[],"new":[]}]"#.to_owned(),
        r#"[{"edit":"set_presence","documents":[[0,3],[2,9]],"old":"there","new":"removed"}]"#.to_owned(),
        r#"[{"edit":"set_presence","documents":[[0,99999999]],"old":"there","new":"removed"}]"#.to_owned(),
        // Taken back after a later one has failed, whatever the order of what it holds.
        format!("[{resegment},{missing}]"),
    ] {
        let place = Place::rich().alter(&format!(
            "DELETE FROM log WHERE seq > 1; UPDATE log SET inverse = '{edits}', step = 'do', receipt = NULL;
            UPDATE project SET revision = (SELECT max(revision) FROM log), next_mention = 1000"
        ));
        let Ok(contents) = nestling::store::Store::open(&place.path()).and_then(|store| store.load()) else {
            panic!("{edits}: {}", place.refusal());
        };
        let mut corpus = contents.corpus;
        let before: Vec<Sentence> = corpus.all_sentences().cloned().collect();
        let undo = contents.history.next_undo().unwrap().clone();
        assert!(corpus.apply(undo).is_err(), "{edits}");
        assert!(corpus.all_sentences().eq(&before), "{edits}");
    }
}

fn tokens_of_sentence_1() -> String {
    let corpus = nestling::store::Store::open(&Place::rich().path()).unwrap().load().unwrap().corpus;
    let tokens = corpus.any_sentence(SentenceId(1)).unwrap().tokens();
    let tokens: Vec<String> = tokens.iter().map(|t| format!("[{},{}]", t.start(), t.end())).collect();
    format!("[{}]", tokens.join(","))
}
