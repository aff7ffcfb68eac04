//! JSON lines whose mentions are places in the text. The lines are made by hand from what doccano, Prodigy and spaCy say
//! of their formats.

use crate::helpers::*;
use expect_test::expect;

fn check(lines: &[&str], given: &[(&str, &str)]) -> String {
    show(&read("jsonl", lines.join("\n"), given).unwrap())
}

#[test]
fn every_shape_is_read() {
    let shown = check(
        &[
            r#"{"text":"Anna met Bo.","entities":[{"start":0,"end":4,"label":"PER"}]}"#,
            r#"{"id":7,"text":"💩 Anna met Bo. It rained.","label":[[2,6,"PER"],[11,13,"PER"]]}"#,
            r#"{"text":"Anna","labels":[[0,4,"PER"],[0,4,"PER"],[0,4,3]],"doc":"named"}"#,
            r#"{"text":"Bo","entities":[{"id":5,"start_offset":0,"end_offset":2,"label":"PER"}],"relations":[],"doc":"named"}"#,
            r#"{"text":"Anna","entities":[[0,4,"PER"]],"status":"flagged","split":"test"}"#,
            r#"{"text":"Bo left.","spans":[{"start":0,"end":2,"label":"PER","text":"Bo","score":0.5}]}"#,
            r#"{"text":"Bo left.","spans":[{"start":0,"end":7,"fragments":[[0,2],[3,7]],"label":"X","note":"?"}]}"#,
            r#"{"text":"Nothing was asked. Nobody knows."}"#,
            r#"{"text":"Nobody here.","entities":[]}"#,
            r#"{"text":"Nobody seen.","label":[]}"#,
        ],
        &[],
    );
    expect![[r#"
        "input-1" "Anna met Bo."
          "Anna" "met" "Bo" "."
            [0..1] PER
        "input-7" "💩 Anna met Bo. It rained."
          "💩" "Anna" "met" "Bo" "."
            [1..2] PER
            [3..4] PER
          "It" "rained" "."
        "named" "Anna\nBo\n"
          "Anna"
            [0..1] PER
            [0..1] 3
          "Bo"
            [0..1] PER
        "input-5" "Anna"
          "Anna" Flagged Test
            [0..1] PER
        "input-6" "Bo left."
          "Bo" "left" "."
            [0..1] PER 0.5
        "input-7" "Bo left."
          "Bo" "left" "."
            [0..2] X {} "?"
        "input-8" "Nothing was asked. Nobody knows."
          "Nothing" "was" "asked" "." Untouched
          "Nobody" "knows" "." Untouched
        "input-9" "Nobody here."
          "Nobody" "here" "."
        "input-10" "Nobody seen."
          "Nobody" "seen" "." Unread
        note: read as prose, because 2 lines of 10 hold several sentences; the option unit=lines reads it the other way: input
        note: 10 lines count characters: places were read as Unicode code points, the end being the one after the last: input
        warning: line 3: the mention 0-4 (PER) is there twice; it was kept once: input"#]].assert_eq(&shown);
}

#[test]
fn texts_of_one_id_stay_documents_of_their_own() {
    let lines =
        "{\"id\":1,\"text\":\"Anna left.\",\"label\":[[0,4,\"PER\"]]}\n{\"id\":1,\"text\":\"Bo came.\",\"label\":[]}\n";
    let read = read("jsonl", lines, &[]).unwrap();
    let texts: Vec<(&str, &str)> = read.documents.iter().map(|d| (d.name.as_str(), d.text.as_ref())).collect();
    assert_eq!(texts, [("input-1", "Anna left."), ("input-1", "Bo came.")]);
}

#[test]
fn what_prodigy_says_of_a_line_counts() {
    let words = r#""tokens":[{"text":"Anna-Bo","start":0,"end":7,"id":0},{"text":" ","start":7,"end":8,"id":1},{"text":"left.","start":8,"end":13,"id":2}]"#;
    let line = |answer: &str| {
        format!(
            r#"{{"text":"Anna-Bo left.",{words},"spans":[{{"start":0,"end":7,"token_start":0,"token_end":0,"label":"PER","score":0.9}}]{answer}}}"#
        )
    };
    let lines = [
        line(r#","answer":"accept""#),
        line(r#","answer":"reject""#),
        line(r#","answer":"ignore""#),
        line(r#","answer":"accept","_view_id":"ner""#),
        line(r#","answer":"perhaps""#),
        r#"{"text":"It rained.","spans":[],"answer":"accept"}"#.to_owned(),
        r#"{"text":"It rained.","spans":[]}"#.to_owned(),
        r#"{"text":"It rained.","tokens":[{"text":"It","start":1,"end":3,"id":0}],"spans":[]}"#.to_owned(),
    ];
    let shown = check(&lines.each_ref().map(String::as_str), &[]);
    expect![[r#"
        "input-1" "Anna-Bo left."
          "Anna-Bo" "left."
            [0..1] PER
        "input-2" "Anna-Bo left."
          "Anna-Bo" "left." Untouched
        "input-3" "Anna-Bo left."
          "Anna-Bo" "left." Skipped
        "input-4" "Anna-Bo left."
          "Anna-Bo" "left." InProgress
            [0..1] PER
        "input-5" "Anna-Bo left."
          "Anna-Bo" "left." InProgress
            [0..1] PER 0.9
        "input-6" "It rained."
          "It" "rained" "."
        "input-7" "It rained."
          "It" "rained" "." Unread
        "input-8" "It rained."
          "It" "rained" "." Unread
        note: 8 lines count characters: places were read as Unicode code points, the end being the one after the last: input
        warning: line 5: the `answer` is not accept, reject or ignore, so no sentence of the line is complete: input
        warning: line 8: `tokens` does not fit the text, which was cut into words anew: input
        warning: line 2: 2 mentions were left out because the `answer` is reject or ignore: input"#]].assert_eq(&shown);
}

#[test]
fn a_mention_that_cannot_be_placed_is_told_and_its_sentence_is_not_complete() {
    let lines = [
        r#"{"text":"Anna met Bo. It rained.","label":[[0,4,"PER"],[9,99,"PER"]]}"#,
        r#"{"text":"Anna met Bo. It rained.","spans":[{"start":0,"end":4,"label":"PER","text":"Bo"},{"start":13,"end":13,"label":"X"},{"start":14,"end":14,"label":"X"}]}"#,
        r#"{"text":"Anna met Bo. It rained.","spans":[{"start":"0","end":4,"label":"PER"}]}"#,
        r#"{"text":"Anna met Bo. It rained.","spans":[{"start":12,"end":13,"label":"PER"},{"start":9,"end":15,"label":" PER","type":"span"}]}"#,
        r#"{"text":"Anna met Bo.","label":[[0,3,""],[2,6,"X"]]}"#,
        r#"{"text":" ","label":[[0,1,"X"]]}"#,
        r#"{"label":[[0,1,"X"]]}"#,
        r#"{"text":"I am sad.","label":["sad"]}"#,
    ];
    expect![[r#"
        "input-1" "Anna met Bo. It rained."
          "Anna" "met" "Bo" "." InProgress
            [0..1] PER
          "It" "rained" "."
        "input-2" "Anna met Bo. It rained."
          "Anna" "met" "Bo" "." InProgress
          "It" "rained" "." InProgress
        "input-3" "Anna met Bo. It rained."
          "Anna" "met" "Bo" "." InProgress
          "It" "rained" "." InProgress
        "input-4" "Anna met Bo. It rained."
          "Anna" "met" "Bo" "." "It" "rained" "." InProgress
            [2..5] PER
        "input-5" "Anna met Bo."
          "An" "na" "m" "et" "Bo" "." InProgress
            [1..3] X
        "input-8" "I am sad."
          "I" "am" "sad" "." Untouched
        note: read as prose, because 4 lines of 6 hold several sentences; the option unit=lines reads it the other way: input
        note: 6 lines count characters: places were read as Unicode code points, the end being the one after the last: input
        note: 2 tokens were split because a mention begins or ends inside, first "Anna": input
        note: 1 sentence was joined to the one before because a mention goes across, first "Bo. It": input
        warning: line 1: the mention 9-99 (PER) is outside the text, which has 23 characters, or inside a character; it was left out, so its sentence is not complete: input
        warning: line 2: the mention 0-4 (PER) quotes "Bo", but there is "Anna" (counted in Unicode code points); it was left out, so its sentence is not complete: input
        warning: line 2: the mention 13-13 (X) is empty; it was left out, so its sentence is not complete: input
        warning: line 2: the mention 14-14 (X) is empty; it was left out, so its sentence is not complete: input
        warning: line 3: an entry of `spans` is not a mention (expected [0,4,"LABEL"] or {"start":0,"end":4,"label":"LABEL"}), got {"end":4,"label":"PER","start":"0"}; it was left out, so no sentence of the document is complete: input
        warning: line 4: the label " PER" was taken as "PER": input
        warning: line 4: the mention 12-13 (PER) has pieces that are empty or overlap; it was left out, so its sentence is not complete: input
        warning: line 5: the mention 0-3 () has no label; it was left out, so its sentence is not complete: input
        warning: line 5: the mention 2-6 (X) is "na m" (counted in Unicode code points) and begins or ends in the middle of a word, so its sentence is not complete; if places count something else, say it with the option offsets=chars, utf16, bytes or graphemes: input
        warning: line 6: `text` holds no words; the line was left out: input
        warning: line 7: it has neither `tokens` nor `text`; the line was left out: input
        warning: line 7: "label" means nothing here and was left out (2 lines): input
        warning: line 4: "spans.type" means nothing here and was left out (1 line): input"#]].assert_eq(&check(&lines, &[]));
}

#[test]
fn options_say_otherwise() {
    let shown = check(
        &[r#"{"text":"Anna met Bo. (It) rained.","label":[[0,3,"PER"],[13,16,"X"]]}"#],
        &[("end", "inclusive"), ("unit", "lines"), ("tokens", "blanks")],
    );
    expect![[r#"
        "input-1" "Anna met Bo. (It) rained."
          "Anna" "met" "Bo." "(It)" "rained."
            [0..1] PER
            [3..4] X
        note: 1 line counts characters: places were read as Unicode code points, the end being the last one: input"#]]
    .assert_eq(&shown);
}

#[test]
fn words_win_over_places() {
    // The first line that tells gives words: a text alone is one sentence, as in files of our own.
    let lines = [
        r#"{"text":"It rained. It poured."}"#,
        r#"{"text":"Anna left.","tokens":["Anna","left."],"entities":[{"start":0,"end":1,"label":"PER"}]}"#,
        r#"{"text":"Anna left.","label":[[0,4,"PER"]]}"#,
    ];
    expect![[r#"
        "input" "It rained. It poured.\nAnna left.\n"
          "It" "rained" "." "It" "poured" "." Untouched
          "Anna" "left."
            [0..1] PER
        "input-3" "Anna left."
          "Anna" "left" "."
            [0..1] PER
        note: read as prose, because 1 line of 2 hold several sentences; the option unit=lines reads it the other way: input
        note: whether `end` is the last token or one after it can't be told from this file: read as one after it; --option end=inclusive says otherwise: input
        note: 1 line counts characters: places were read as Unicode code points, the end being the one after the last: input"#]].assert_eq(&check(&lines, &[]));
}
