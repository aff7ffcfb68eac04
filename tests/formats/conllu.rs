//! CoNLL-U and its kin.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;

fn check(text: &str, given: &[(&str, &str)]) -> String {
    match read("conll", text, given) {
        Ok(read) => show(&read),
        Err(error) => error.to_string(),
    }
}

/// A row of ten columns.
fn row(id: &str, form: &str, misc: &str) -> String {
    format!("{id}\t{form}\t{form}\tX\t_\t_\t0\troot\t_\t{misc}\n")
}

#[test]
fn words_text_and_entities_are_read() {
    let text = [
        "# newdoc id = tale\n# global.Entity = eid-etype-head-other\n# sent_id = 1\n# text = Ana vive  en Hull.\n"
            .to_owned(),
        row("1", "Ana", "Entity=(e1-person-1)"),
        row("2", "vive", "Entity=(e2[1/2]-place-1)"),
        row("3", "en", "Entity=(e3-city-1"),
        row("4", "Hull", "SpaceAfter=No|Entity=e3)"),
        row("5", ".", "Entity=(e2[2/2]-place-1)"),
        "\n# newpar\n# text = Dámelo del ya\n".to_owned(),
        row("1-3", "Dámelo", "_"),
        row("1", "Dá", "_"),
        row("2", "me", "Entity=(e1-person-1)"),
        row("3", "lo", "_"),
        row("4-5", "del", "_"),
        row("4", "de", "_"),
        row("5", "el", "Entity=(e4-thing-1-a%2Db"),
        row("5.1", "_", "Entity=(e9-person-1)"),
        row("6", "ya", "Entity=e4)"),
        "\n# newdoc id = other\n".to_owned(),
        row("1", "Es", "SpaceAfter=No"),
        row("2", "!", "Entity=(e5-x-1"),
        row("bad", "row", "_"),
    ]
    .concat();
    expect![[r#"
        "tale" "Ana vive  en Hull.\n\nDámelo del ya\n"
          "Ana" "vive" "en" "Hull" "."
            [0..1] person {"eid": "e1", "head": "1"} ""
            [2..4] city {"eid": "e3", "head": "1"} ""
            [1..2, 4..5] place {"eid": "e2", "head": "1"} ""
          "Dá" "me" "lo" "del" "ya"
            [1..2] person {"eid": "e1", "head": "1"} ""
            [3..5] thing {"eid": "e4", "head": "1", "other": "a-b"} ""
        "other" "Es!\n"
          "Es" "!" InProgress
        note: read as CoNLL-U, with mentions from Entity= in MISC: input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS were not read: input
        note: comments were not read (sent_id): input
        note: 1 mention begins or ends inside a multiword token and was taken to cover all of it: input
        warning: line 26: the row has no number of a word; it was left out, so the sentence is not complete: input
        warning: line 25: the mention (e5-x-1 has no end in its sentence; it was left out, so the sentence is not complete: input
        warning: line 1: 1 mention consists of empty nodes alone, which are no words of the text, and was left out: input"#]]
    .assert_eq(&check(&text, &[]));
    assert!(check(&text, &[("tags", "none")]).contains("\"Ana\" \"vive\" \"en\" \"Hull\" \".\""));
    let sample = Sample { extension: "conll", bytes: text.as_bytes() };
    assert_eq!(format!("{:?}", detect("x", &sample).unwrap()), "conll (CoNLL-U)");
}

#[test]
fn tags_in_misc_and_in_columns_are_read() {
    let misc =
        [row("1", "Ada", "name=B-PER|SpaceAfter=No"), row("2", "Berg", "name=I-PER"), row("3", "sang", "name=O")]
            .concat();
    let last = [row("1", "Ada", "S-PER"), row("2", "sang", "O")].concat();
    let plus = "# global.columns = ID FORM UPOS MISC NE MWE\n1\tAda\tX\t_\tB-PER\t*\n2\ttook\tX\t_\tO\t1:LVC\n3\ta\tX\t_\tO\t*\n4\twalk\tX\t_\tO\t1;2:N\n";
    let none = [row("1", "Ada", "_"), row("2", "sang", "SpaceAfter=No")].concat();
    let untyped =
        "# global.Entity = eid-etype-head\n".to_owned() + &row("1", "Ada", "Entity=(e1--1)") + &row("2", "sang", "_");
    let shown = [
        check(&misc, &[]),
        check(&last, &[]),
        check(plus, &[]),
        check(&none, &[]),
        check(&untyped, &[]),
        check(&untyped, &[("label", "entity")]),
    ];
    expect![[r#"
        "input" "AdaBerg sang\n"
          "Ada" "Berg" "sang"
            [0..2] PER
        note: read as CoNLL-U, with mentions from name= in MISC: input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS were not read: input
        note: read as iob2; else set the option scheme=…: input

        "input" "Ada sang\n"
          "Ada" "sang"
            [0..1] PER
        note: read as CoNLL-U, with mentions from column 10 (MISC): input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS were not read: input
        note: read as bioes; else set the option scheme=…: input

        "input" "Ada took a walk\n"
          "Ada" "took" "a" "walk"
            [0..1] PER
            [1..2, 3..4] LVC
            [3..4] N
        note: read as CoNLL-U, with mentions from column 5 (NE) and column 6 (MWE): input
        note: the column UPOS was not read: input
        note: read as iob2; else set the option scheme=…: input

        "input" "Ada sang\n"
          "Ada" "sang" Unread
        note: read as CoNLL-U; nothing in it looks like mentions, so only the words were read: input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC were not read: input

        "input" "Ada sang\n"
          "Ada" "sang" InProgress
        note: read as CoNLL-U, with mentions from Entity= in MISC: input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS were not read: input
        warning: line 2: 1 mention has no type; each was left out, so its sentence is not complete; the option label=… gives them one (line 2): input

        "input" "Ada sang\n"
          "Ada" "sang"
            [0..1] entity {"eid": "e1", "head": "1"} ""
        note: read as CoNLL-U, with mentions from Entity= in MISC: input
        note: the columns LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS were not read: input"#]]
    .assert_eq(&shown.join("\n\n"));
}
