//! JSON lines.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;
use std::path::Path;

#[test]
fn the_golden_file_reads_and_writes_the_same_bytes() {
    let path = fixture("everything.jsonl");
    let read = read_file("jsonl", &path, &[]).unwrap();
    assert_eq!((&read.warnings, &read.notes), (&vec![], &vec![]));
    expect![[r#"
        "news-01" "\u{feff}The mayor of Grelsund 💩 met\r\nAnna  Berg. 💩 - a - b"
          "The" "mayor" "of" "Grelsund" "💩" "met" "Anna" "Berg" "." Complete Test
            [0..4] PER
            [3..4] LOC
            [3..4] GPE
            [3..6] PER
          "💩" "-" "b" Untouched
        "news-01" "left and right atrium\n"
          "left" "and" "right" "atrium" InProgress Rest
            [0..1, 3..4] ORGAN 0.75 {"sure": "no"} "ask Kim"
        "blank" " \n""#]]
    .assert_eq(&show(&read));
    let (written, receipt) = write("jsonl", &read, &[]);
    assert_eq!(written, std::fs::read_to_string(&path).unwrap());
    assert_eq!((receipt.documents, receipt.sentences, receipt.mentions), (3, 3, 5));
    assert_eq!(receipt.losses, []);
}

#[test]
fn the_examples_of_the_documentation_are_true() {
    let docs = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md")).unwrap();
    let blocks: Vec<_> = docs.split("```jsonl\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let read = read("jsonl", block, &[]).unwrap();
        let places = block.starts_with("{\"text\"").then(|| {
            "3 lines count characters: places were read as Unicode code points, the end being the one after the last: input".to_owned()
        });
        let tags = block
            .contains("\"ner_tags\"")
            .then(|| "tags were read as iob2; else set the option scheme=…: input".to_owned());
        let notes: Vec<String> = read.notes.into_iter().filter(|note| !note.starts_with("read as ")).collect();
        assert_eq!((&read.warnings, notes), (&vec![], places.into_iter().chain(tags).collect()), "{block}");
    }
    for format in formats() {
        assert!(docs.contains(&format!("| `{}` |", format.id())) && docs.contains(&format!("## `{}`", format.id())));
        for option in format.options() {
            for value in option.values {
                assert!(docs.contains(&format!("`{}={value}`", option.key)), "{}={value}", option.key);
            }
        }
    }
}

#[test]
fn a_bad_line_costs_itself_only() {
    let read = read_file("jsonl", &fixture("some_bad_lines.jsonl"), &[]).unwrap();
    expect![[r#"
        "some_bad_lines" "One good line\n"
          "One" "good" "line"
            [0..3] X
        "some_bad_lines-8" "Anna Berg"
          "An" "na" "Berg"
            [0..1] PER
        "some_bad_lines" "a b\na b c\na b\nthe last good line\n"
          "a" "b" InProgress
            [0..2] Y
          "a" "b" "c" InProgress
            [0..1] X
          "a" "b"
          "the" "last" "good" "line" Untouched
        note: 1 line counts characters: places were read as Unicode code points, the end being the one after the last: some_bad_lines.jsonl
        note: 1 token was split because a mention begins or ends inside, first "Anna": some_bad_lines.jsonl
        warning: line 2: it does not begin with {, so it is not a JSON object; the line was left out: some_bad_lines.jsonl
        warning: line 4: the JSON object is cut off; the line was left out: some_bad_lines.jsonl
        warning: line 5: invalid type: string "zero", expected a whole number (at byte 43 of the line); the line was left out: some_bad_lines.jsonl
        warning: line 6: token 1, "Bergen", is not in the text after the tokens before it; the line was left out: some_bad_lines.jsonl
        warning: line 7: `offsets` does not fit: token 1, "Berg", is not there in the text; the line was left out: some_bad_lines.jsonl
        warning: line 9: it has neither `tokens` nor `text`; the line was left out: some_bad_lines.jsonl
        warning: line 10: `tokens` is empty; the line was left out: some_bad_lines.jsonl
        warning: line 11: token 1 is empty; the line was left out: some_bad_lines.jsonl
        warning: line 12: `ner_tags` has 1 tag for 2 tokens; the line was left out: some_bad_lines.jsonl
        warning: line 13: tag 1 is "B-", which names no label; the line was left out: some_bad_lines.jsonl
        warning: line 14: the entity 0-3 (X) is outside the sentence of 2 tokens; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 14: the entity 1-2 ( ) has no label; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 14: the entity 0-2 (Y) is there twice; it was kept once: some_bad_lines.jsonl
        warning: line 15: the status "done" is unknown and was left out: some_bad_lines.jsonl
        warning: line 15: the split "training" is unknown and was left out: some_bad_lines.jsonl
        warning: line 15: the entity 0-3 (X) can't be read because the fragments 0..2 and 1..3 of one mention overlap; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 15: the label " X" was taken as "X": some_bad_lines.jsonl
        warning: line 15: the entity 0-1 ( X) has a score outside 0 to 1, which was left out: some_bad_lines.jsonl
        warning: line 16: it has both entities and ner_tags; ner_tags were left out: some_bad_lines.jsonl
        warning: line 15: "pos" means nothing here and was left out (2 lines): some_bad_lines.jsonl"#]].assert_eq(&show(&read));
}

#[test]
fn inclusive_ends_are_found_out_or_asked_for() {
    let path = fixture("inclusive.jsonl");
    let auto = read_file("jsonl", &path, &[]).unwrap();
    expect![[r#"
        "a" "The mayor of Grelsund met Anna Berg\n"
          "The" "mayor" "of" "Grelsund" "met" "Anna" "Berg"
            [0..4] PER
            [3..4] LOC
            [5..7] PER
        note: read as inclusive ends because 1 of 3 entities have start = end and none ends at the number of tokens; else set the option end=exclusive: inclusive.jsonl"#]].assert_eq(&show(&auto));
    let told = read_file("jsonl", &path, &[("end", "inclusive")]).unwrap();
    assert_eq!((told.documents, told.notes), (auto.documents.clone(), vec![]));
    let wrong = read_file("jsonl", &path, &[("end", "exclusive")]).unwrap();
    assert!(wrong.warnings[0].message.contains("the option end=inclusive"), "{}", wrong.warnings[0]);
    let (written, _) = write("jsonl", &auto, &[("end", "inclusive")]);
    assert!(written.starts_with(r#"{"nestling":1,"end":"inclusive"}"#) && written.contains(r#""start":3,"end":3,"#));
    assert_eq!(
        read("jsonl", written.clone(), &[("end", "exclusive")]).unwrap().documents,
        auto.documents,
        "the header wins"
    );

    let neither = r#"{"tokens":["a","b"],"entities":[{"start":0,"end":1,"label":"X"}]}"#;
    let told = read("jsonl", neither, &[]).unwrap().notes;
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("whether `end` is the last token or one after it can't be told"), "{}", told[0]);
    assert!(told[0].contains("--option end=inclusive"), "{}", told[0]);
    assert_eq!(read("jsonl", neither, &[("end", "exclusive")]).unwrap().notes, Vec::<String>::new());

    let both = r#"{"tokens":["a","b"],"entities":[{"start":0,"end":0,"label":"X"},{"start":0,"end":2,"label":"X"}]}"#;
    let error = read("jsonl", both, &[]).unwrap_err().to_string();
    assert!(error.contains("the option end=inclusive or end=exclusive"), "{error}");
    let two_files = format!("{written}{}", write("jsonl", &auto, &[]).0);
    let read = read("jsonl", two_files, &[]).unwrap();
    assert_eq!(read.documents, [auto.documents.clone(), auto.documents].concat());
}

#[test]
fn a_stream_is_not_read_wrongly_halfway() {
    let filler = r#"{"tokens":["Anna","Berg","sings"],"entities":[{"start":0,"end":2,"label":"PER"}]}"#;
    let late = r#"{"tokens":["Anna","sings"],"entities":[{"start":0,"end":0,"label":"PER"}]}"#;
    let text = format!("{}{late}\n", format!("{filler}\n").repeat(5000));
    let stream = Input::stream("input", std::io::Cursor::new(text.clone().into_bytes())).unwrap();
    let mut sink = Collected::default();
    let error = by_id("jsonl").unwrap().read(stream, &Options::default(), &mut sink).unwrap_err().to_string();
    assert!(error.starts_with("line 5001 ") && error.contains("the option end=inclusive"), "{error}");
    let told = Options::new([("end".into(), "exclusive".into())], &[by_id("jsonl").unwrap()]).unwrap();
    let stream = Input::stream("input", std::io::Cursor::new(text.into_bytes())).unwrap();
    by_id("jsonl").unwrap().read(stream, &told, &mut sink).unwrap();
    assert_eq!(sink.documents[0].sentences.len(), 5001);
}

#[test]
fn tags_are_read_with_their_names() {
    let path = fixture("tags.jsonl");
    let error = read_file("jsonl", &path, &[]).unwrap_err().to_string();
    assert!(error.contains("the option names=O,B-PER"), "{error}");
    let read = read_file("jsonl", &path, &[("names", "O,B-PER,I-PER,B-LOC")]).unwrap();
    expect![[r#"
        "tags" "The mayor met Anna Berg\nAarhus is far\nAarhus is far\n"
          "The" "mayor" "met" "Anna" "Berg"
            [3..5] PER
          "Aarhus" "is" "far" InProgress
            [0..1] LOC
          "Aarhus" "is" "far"
            [0..1] LOC
        note: tags were read as iob2; else set the option scheme=…: tags.jsonl
        warning: line 2: 1 of 3 tags are missing (-100), so the sentence is not complete: tags.jsonl
        warning: line 4: `ner_tags` holds 7, and the option names has fewer names; the line was left out: tags.jsonl"#]]
    .assert_eq(&show(&read));
}
