//! brat standoff. The files are made by hand from brat's description of its format.

use crate::helpers::*;
use crate::round_trips::{any_document, nasty_text};
use expect_test::expect;
use nestling::annotation::*;
use nestling::format::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use tempfile::TempDir;

/// Reads `a.ann` beside `a.txt`.
fn read_pair(text: impl AsRef<[u8]>, annotations: &str, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("a.txt"), text).unwrap();
    std::fs::write(dir.path().join("a.ann"), annotations).unwrap();
    read_file("brat", &dir.path().join("a.ann"), given)
}

fn shown(text: impl AsRef<[u8]>, annotations: &str, given: &[(&str, &str)]) -> String {
    match read_pair(text, annotations, given) {
        Ok(read) => without_folder(&show(&read)),
        Err(error) => without_folder(&error.to_string()),
    }
}

/// Names of the folder that a test has made are gone.
fn without_folder(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(": /") {
        Some((said, path)) => format!("{said}: {}", path.rsplit('/').next().unwrap_or_default()),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Every file that is written, by its name.
fn written(read: &Collected) -> (BTreeMap<String, String>, Receipt) {
    let dir = TempDir::new().unwrap();
    let mut out = Folder::at(dir.path());
    let Collected { labels, definitions, documents, .. } = read;
    let content = Content { labels, definitions, documents: &mut documents.iter().map(ImportedDocument::view) };
    let receipt = by_id("brat").unwrap().write(content, &Options::default(), &mut out).unwrap();
    let name = |path: &Path| path.strip_prefix(dir.path()).unwrap().display().to_string();
    let files = out.files().iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect();
    (files, receipt)
}

fn again(files: &BTreeMap<String, String>, name: &str) -> Collected {
    read_pair(&files[&format!("{name}.txt")], &files[&format!("{name}.ann")], &[]).unwrap()
}

const TEXT: &str = "Anna Berg works in the Kyoto or Aarhus labs.\nShe met the mayor of\nAarhus in May.\n";

const EVERYTHING: &str = "\
T1\tPerson 0 9\tAnna Berg
T2\tPlace 23 28;39 43\tKyoto labs
T3\tPlace 32 43\tAarhus labs
T4\tPerson 53 65;66 72\tthe mayor of Aarhus
T5\tMeeting 49 52\tmet
A1\tConfidence T1 High
M2\tNegation T3
#1\tAnnotatorNotes T1\tsure? yes
#2\tAnnotatorNotes E1\twhen?
R1\tWorks Arg1:T1 Arg2:T2
E1\tMeeting:T5 Who:T1 Whom:T4
A3\tTense E1 Past
N1\tReference T4 Wiki:Q1\tmayor
*\tAlias T2 T3
";

#[test]
fn everything_is_read_and_written_again() {
    let read = read_pair(TEXT, EVERYTHING, &[("unit", "prose")]).unwrap();
    expect![[r#"
        "a" "Anna Berg works in the Kyoto or Aarhus labs.\nShe met the mayor of\nAarhus in May.\n"
          "Anna" "Berg" "works" "in" "the" "Kyoto" "or" "Aarhus" "labs" "."
            [0..2] Person {"Confidence": "High"} "sure? yes"
            [5..6, 8..9] Place
            [7..9] Place {"Negation": ""} ""
          "She" "met" "the" "mayor" "of" "Aarhus" "in" "May" "."
            [2..6] Person
            [1..2] Meeting
        note: 1 mention is the trigger of an event: a.ann"#]]
    .assert_eq(&without_folder(&show(&read)));
    expect![[r#"
        #2	AnnotatorNotes E1	when?
        R1	Works Arg1:T1 Arg2:T2
        E1	Meeting:T5 Who:T1 Whom:T4
        A3	Tense E1 Past
        N1	Reference T4 Wiki:Q1	mayor
        *	Alias T2 T3"#]]
    .assert_eq(&read.documents[0].kept["brat"]);
    let (files, receipt) = written(&read);
    assert_eq!(receipt.losses, []);
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(|line| line.replace("M2", "A2")).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&files["a.ann"]), sorted(EVERYTHING));
    assert_eq!(files["a.txt"], TEXT);
    expect![[r#"
        [entities]
        Person
        Place

        [relations]
        Alias	Arg1:<ANY>, Arg2:<ANY>
        Works	Arg1:<ANY>, Arg2:<ANY>

        [events]
        Meeting

        [attributes]
        Confidence	Arg:<ANY>, Value:High
        Negation	Arg:<ANY>
    "#]]
    .assert_eq(&files["annotation.conf"]);
}

#[test]
fn what_names_a_mention_that_is_gone_is_listed() {
    let mut read = read_pair(TEXT, EVERYTHING, &[("unit", "prose")]).unwrap();
    for sentence in &mut read.documents[0].sentences {
        sentence.mentions.retain(|m| m.source_id.as_deref() != Some("T4"));
    }
    let (files, receipt) = written(&read);
    let losses: Vec<_> = receipt.losses.iter().map(ToString::to_string).collect();
    expect![[r##"
        a: "E1\tMeeting:T5 Who:T1 Whom:T4": it names something that is not written
        a: "N1\tReference T4 Wiki:Q1\tmayor": it names something that is not written
        a: "#2\tAnnotatorNotes E1\twhen?": it names something that is not written
        a: "A3\tTense E1 Past": it names something that is not written"##]]
    .assert_eq(&losses.join("\n"));
    assert!(files["a.ann"].contains("R1\t") && !files["a.ann"].contains("T4"));

    // Nor does a new mention get the number of the one that is gone, and with it what was said of that.
    let mut read =
        read_pair("Anna met Bo.\n", "T1\tPER 0 4\tAnna\nT2\tPER 9 11\tBo\nN1\tReference T2 Wiki:Q1\tBo\n", &[])
            .unwrap();
    read.documents[0].sentences[0].mentions[1].source_id = None;
    let (files, receipt) = written(&read);
    assert!(files["a.ann"].contains("T3\tPER 9 11\tBo\n") && !files["a.ann"].contains("N1"), "{}", files["a.ann"]);
    assert_eq!(receipt.losses.len(), 1);
}

/// A mention that is there twice is one, and what is said of either is said of it. By hand, from brat's description of its
/// standoff format: relations, events, attributes, normalisations, equivalences and notes.
#[test]
fn what_is_said_of_a_mention_that_is_there_twice_follows_it() {
    let annotations = "\
T1\tPerson 0 9\tAnna Berg
T2\tPerson 0 9\tAnna Berg
T3\tPlace 32 38\tAarhus
T3\tPlace 32 38\tAarhus
T4\tMeeting 49 52\tmet
T5\tMeeting 49 52\tmet
T3\tPerson 45 48\tShe
A1\tSure T1 High
A2\tSure T2 Low
A3\tSeen T2
#1\tAnnotatorNotes T1\tone
#2\tAnnotatorNotes T2\ttwo
R1\tIn Arg1:T2 Arg2:T3
E1\tMeeting:T5 Who:T2 Where:T3
A4\tPast E1
N1\tReference T2 Wiki:Q1\tAnna
*\tEquiv T1 T2
*\tEquiv T2 T3
";
    let read = read_pair(TEXT, annotations, &[("unit", "prose")]).unwrap();
    let (files, receipt) = written(&read);
    expect![[r#"
        "a" "Anna Berg works in the Kyoto or Aarhus labs.\nShe met the mayor of\nAarhus in May.\n"
          "Anna" "Berg" "works" "in" "the" "Kyoto" "or" "Aarhus" "labs" "."
            [0..2] Person {"Seen": "", "Sure": "High"} "one\ntwo"
            [7..8] Place
          "She" "met" "the" "mayor" "of" "Aarhus" "in" "May" "."
            [1..2] Meeting
            [0..1] Person
        note: 1 mention is the trigger of an event: a.ann
        warning: line 7: T3 is there twice; the second one was taken without its id, and what names T3 means the first: a.ann
        warning: line 2: T2 is there twice; it was kept once, as T1; what named T2 names T1 now: a.ann
        warning: line 4: T3 is there twice; it was kept once: a.ann
        warning: line 6: T5 is there twice; it was kept once, as T4; what named T5 names T4 now: a.ann
        warning: "*\tEquiv T1 T2" was left out: the mentions that it says are the same were merged: a.ann"#]].assert_eq(&without_folder(&show(&read)));
    expect![[r#"
        T1	Person 0 9	Anna Berg
        A1	Seen T1
        A2	Sure T1 High
        #1	AnnotatorNotes T1	one
        #2	AnnotatorNotes T1	two
        T3	Place 32 38	Aarhus
        T4	Meeting 49 52	met
        T5	Person 45 48	She
        R1	In Arg1:T1 Arg2:T3
        E1	Meeting:T4 Who:T1 Where:T3
        A4	Past E1
        N1	Reference T1 Wiki:Q1	Anna
        *	Equiv T1 T3
        A6	Sure T1 Low
    "#]]
    .assert_eq(&files["a.ann"]);
    assert_eq!(receipt.losses, []);
    let (again, receipt) = written(&Collected { warnings: vec![], ..again(&files, "a") });
    assert_eq!((&again["a.ann"], receipt.losses), (&files["a.ann"], vec![]));
}

#[test]
fn how_offsets_count_is_found_out() {
    let check = |text: &str, annotations: &str| shown(text, annotations, &[("unit", "lines")]);
    let shown = [
        check("💩This is an annotation.\n", "T1\tX 12 22\tannotation\n"),
        check("💩This is an annotation.\n", "T1\tX 13 23\tannotation\n"),
        check("💩This is an annotation.\n", "T1\tX 15 25\tannotation\n"),
        check("a\r\nb Anna\r\n", "T1\tX 5 9\tAnna\r\n"),
        check("a\r\nb Anna\r\n", "T1\tX 4 8\tAnna\r\n"),
        check("\u{feff}Anna\r\n💩 Berg\r\n", "T1\tX 0 4\tAnna\nT2\tX 8 12\tBerg\n"),
        check("\u{feff}Anna\n", "\u{feff}T1\tX 1 5\tAnna\n"),
        check("💩 Anna Berg\n", "T1\tX 2 6\tKim\nT2\tX 7 11\tLee\nT3\tX 90 91\tx\n"),
    ];
    expect![[r#"
        "a" "💩This is an annotation.\n"
          "💩" "This" "is" "an" "annotation" "."
            [4..5] X

        "a" "💩This is an annotation.\n"
          "💩" "This" "is" "an" "annotation" "."
            [4..5] X
        note: offsets were read as UTF-16 units: a.ann

        "a" "💩This is an annotation.\n"
          "💩" "This" "is" "an" "annotation" "."
            [4..5] X
        note: offsets were read as bytes: a.ann

        "a" "a\r\nb Anna\r\n"
          "a"
          "b" "Anna"
            [1..2] X

        "a" "a\r\nb Anna\r\n"
          "a"
          "b" "Anna"
            [1..2] X
        note: offsets were read as Unicode code points, CR LF as one: a.ann

        "a" "\u{feff}Anna\r\n💩 Berg\r\n"
          "Anna"
            [0..1] X
          "💩" "Berg"
            [1..2] X
        note: offsets were read as Unicode code points, without the byte order mark: a.ann

        "a" "\u{feff}Anna\n"
          "Anna"
            [0..1] X

        what the offsets count can't be told: 3 lines quote other words than the text has there, first line 1, which quotes "Kim"; say it with the option offsets=chars, utf16, bytes or graphemes, or check that the text is the right one: a.ann"#]]
    .assert_eq(&shown.join("\n\n"));
}

#[test]
fn a_bad_line_costs_itself_only() {
    let text = "McsBean met AHU-G1 . \nFoo\n  Bar\n";
    let annotations = "\
T1\tPER 3 7\tBean
T2\tDEV 12 15\tAHU
T3\tPER 0 4;1 3\tx
T4\tPER 3 3\t
T5\tPER 90 95\tnobody
T6\tORG 22 25;28 31\tFoo Bar
T7\tORG 11 19\tAHU-G1
T8\tORG 22 25\tBar
T9 ORG 1 2
T2\tDEV 0 2\tMr
T10\tORG 12 18;22 25\tAHU-G1 Foo
T11\tORG 12 18;22 25\tAHU-G1 Foo
A1\tkind T1
A2\tkind T1 again
what is this
R1\tIn Arg1:T1 Arg2:T2
";
    expect![[r#"
        "a" "McsBean met AHU-G1 . \nFoo\n  Bar\n"
          "Mcs" "Bean" "met" "AHU" "-" "G1" "." "Foo" "Bar" InProgress
            [1..2] PER {"kind": ""} ""
            [3..4] DEV
            [7..9] ORG
            [3..6] ORG
            [3..6, 7..8] ORG
        note: 1 token was split because a mention begins or ends inside, first "McsBean": a.ann
        note: 2 sentences were joined to those before because a mention goes across, first "Foo Bar": a.ann
        note: 1 mention began or ended with white space, which was taken off: a.ann
        warning: line 9: this is not a mention (expected T1⇥Label 0 4⇥words), got "T9 ORG 1 2"; it was left out, so its sentence is not complete: a.ann
        warning: line 10: T2 is there twice; the second one was taken without its id, and what names T2 means the first: a.ann
        warning: line 15: this is not a line of brat, got "what is this"; it was kept for a later export: a.ann
        warning: line 3: T3 quotes "x", but there is "McsB cs"; it was left out, so its sentence is not complete: a.ann
        warning: line 4: T4 is empty, outside the text, or inside a character; it was left out, so its sentence is not complete: a.ann
        warning: line 5: T5 is empty, outside the text, or inside a character; it was left out, so no sentence of the document is complete: a.ann
        warning: line 8: T8 quotes "Bar", but there is "Foo"; it was left out, so its sentence is not complete: a.ann
        warning: line 10: T2 quotes "Mr", but there is "Mc"; it was left out, so its sentence is not complete: a.ann
        warning: line 12: T11 is there twice; it was kept once, as T10; what named T11 names T10 now: a.ann"#]]
    .assert_eq(&shown(text, annotations, &[("unit", "lines")]));
}

#[test]
fn a_sentence_that_lacks_a_mention_is_not_complete_and_a_file_without_any_may_be_unread() {
    let lines = [("unit", "lines")];
    let text = "Anna met Bo.\nIt rained.\nKim left.\n";
    let check = |annotations: &str| shown(text, annotations, &lines);
    let shown = [
        check("R1\tIn Arg1:T1 Arg2:T2\n"),
        check("T1\tPER 0 4\tAnna\nT2 PER 24 27 Kim\n"),
        check("T1\tPER 0 4\tAnna\nT2\tPER\n"),
        check("T1\tPER 0 4\tAnna\nT2\tPER 13 15;14 22\tIt t rained\nT3\tPER 12 13\n"),
        check("T1\tPER 0 4\tAnna\nT1\tPER 9 11\tBo\nT3\tPER 90 93\tKim\n"),
    ];
    expect![[r#"
        "a" "Anna met Bo.\nIt rained.\nKim left.\n"
          "Anna" "met" "Bo" "." Unread
          "It" "rained" "." Unread
          "Kim" "left" "." Unread

        "a" "Anna met Bo.\nIt rained.\nKim left.\n"
          "Anna" "met" "Bo" "."
            [0..1] PER
          "It" "rained" "."
          "Kim" "left" "." InProgress
        warning: line 2: this is not a mention (expected T1⇥Label 0 4⇥words), got "T2 PER 24 27 Kim"; it was left out, so its sentence is not complete: a.ann

        "a" "Anna met Bo.\nIt rained.\nKim left.\n"
          "Anna" "met" "Bo" "." InProgress
            [0..1] PER
          "It" "rained" "." InProgress
          "Kim" "left" "." InProgress
        warning: line 2: this is not a mention (expected T1⇥Label 0 4⇥words), got "T2\tPER"; it was left out, so no sentence of the document is complete: a.ann

        "a" "Anna met Bo.\nIt rained.\nKim left.\n"
          "Anna" "met" "Bo" "."
            [0..1] PER
          "I" "t" "rained" "." InProgress
          "Kim" "left" "."
        note: 1 token was split because a mention begins or ends inside, first "It": a.ann
        warning: line 2: T2 has pieces that are empty or overlap; it was left out, so its sentence is not complete: a.ann
        warning: line 3: T3 has pieces that are empty or overlap; it was left out, so its sentence is not complete: a.ann

        "a" "Anna met Bo.\nIt rained.\nKim left.\n"
          "Anna" "met" "Bo" "." InProgress
            [0..1] PER
            [2..3] PER
          "It" "rained" "." InProgress
          "Kim" "left" "." InProgress
        warning: line 2: T1 is there twice; the second one was taken without its id, and what names T1 means the first: a.ann
        warning: line 3: T3 is empty, outside the text, or inside a character; it was left out, so no sentence of the document is complete: a.ann"#]].assert_eq(&shown.join("\n\n"));
}

#[test]
fn tokens_can_be_those_of_the_file() {
    expect![[r#"
        "a" "He 's (here) .\n"
          "He" "'s" "(here)" "."
            [0..2] X"#]]
    .assert_eq(&shown("He 's (here) .\n", "T1\tX 0 5\tHe 's\n", &[("unit", "lines"), ("tokens", "blanks")]));
}

#[test]
fn labels_come_with_titles_colours_and_keys() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    file("a.txt", "Anna\n");
    file("a.ann", "");
    file(
        "annotation.conf",
        "[entities]\n# who\nPerson\n!Thing\n\tDevice\n<X>=Person|Device\n[relations]\nIn Arg1:Person, Arg2:Device\n[events]\nMeeting Who:Person\n",
    );
    file(
        "visual.conf",
        "[labels]\nPerson | A person | Pers\nDevice | Device\n[drawing]\nSPAN_DEFAULT\tbgColor:lightgreen\nPerson\tfgColor:black, bgColor:#f80\nDevice\tbgColor:Gold\n",
    );
    file("kb_shortcuts.conf", "# keys\nP Person\nd Device\n");
    let read = read_file("brat", &dir.path().join("a.ann"), &[]).unwrap();
    let shown: Vec<_> = read.labels.iter().map(|l| format!("{l:?}")).collect();
    expect![[r#"
        ImportedLabel { name: "Person", title: "A person", color: Some(Rgb(255, 136, 0)), key: Some('p') }
        ImportedLabel { name: "Device", title: "", color: Some(Rgb(255, 215, 0)), key: Some('d') }
        ImportedLabel { name: "Meeting", title: "", color: None, key: None }"#]]
    .assert_eq(&shown.join("\n"));
    let (files, _) = written(&read);
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".conf")) {
        file(name, text);
    }
    assert_eq!(read_file("brat", &dir.path().join("a.ann"), &[]).unwrap().labels, read.labels);
}

#[test]
fn names_and_labels_that_files_cannot_have_are_changed_and_told() {
    let line = |doc: &str, label: &str, note: &str| {
        let entity = serde_json::json!({"start": 0, "end": 1, "label": label, "note": note, "attributes": {"a b": "c"}, "score": 0.5});
        serde_json::json!({"doc": doc, "tokens": ["Anna"], "entities": [entity]}).to_string()
    };
    let lines =
        [line("x/../y", "A B", "one\ntwo"), line("X/_/Y", "A_B", "a\rb"), line("", "A", ""), line("c:\\d", "A", "")];
    let (files, receipt) = written(&read("jsonl", lines.join("\n"), &[]).unwrap());
    let losses = receipt.losses.iter().map(ToString::to_string);
    let shown: Vec<String> = files.keys().cloned().chain(losses).chain(receipt.notes.clone()).collect();
    expect![[r#"
        X/_/Y-2.ann
        X/_/Y-2.txt
        _.ann
        _.txt
        annotation.conf
        c__d.ann
        c__d.txt
        kb_shortcuts.conf
        visual.conf
        x/_/y.ann
        x/_/y.txt
        x/../y, sentence 1: "Anna" (A B): the format can't spell its label, which was written in another way
        x/../y, sentence 1: "Anna" (A B): the format holds no scores, so it looks as if somebody stood for it
        x/../y, sentence 1: "Anna" (A B): the format can't hold an attribute of it
        X/_/Y, sentence 1: "Anna" (A_B): the format can't spell its label, which was written in another way
        X/_/Y, sentence 1: "Anna" (A_B): the format holds no scores, so it looks as if somebody stood for it
        X/_/Y, sentence 1: "Anna" (A_B): the format can't hold an attribute of it
        X/_/Y, sentence 1: "Anna" (A_B): the format can't hold its note
        , sentence 1: "Anna" (A): the format holds no scores, so it looks as if somebody stood for it
        , sentence 1: "Anna" (A): the format can't hold an attribute of it
        c:\d, sentence 1: "Anna" (A): the format holds no scores, so it looks as if somebody stood for it
        c:\d, sentence 1: "Anna" (A): the format can't hold an attribute of it
        the document "x/../y" was written as "x/_/y"
        the document "X/_/Y" was written as "X/_/Y-2"
        the document "" was written as "_"
        the document "c:\\d" was written as "c__d"
        the label "A B" was written as "A_B"
        the label "A_B" was written as "A_B_2""#]]
    .assert_eq(&shown.join("\n"));
    assert!(files["x/_/y.ann"].contains("#1\tAnnotatorNotes T1\tone\n#2\tAnnotatorNotes T1\ttwo\n"));
}

#[test]
fn large_documents_take_no_time() {
    let words = 24_000;
    let text = "Anna ".repeat(words);
    let line = |at: usize| format!("T{at}\tPER {} {}\tAnna Anna\n", at * 60, at * 60 + 9);
    let annotations: String = (0..2000).map(line).collect();
    let read = read_pair(&text, &annotations, &[]).unwrap();
    assert_eq!(read.documents[0].sentences.iter().map(|s| s.mentions.len()).sum::<usize>(), 2000);
}

/// Bytes and labels of all mentions but those that are lost.
fn places(document: &ImportedDocument, receipt: &Receipt) -> Vec<(Vec<Range<usize>>, String)> {
    let view = document.view();
    let lost = receipt.lost_mentions(1);
    let mut places = Vec::new();
    for sentence in &view.sentences {
        let there = |m: &&MentionView<'_>| !lost.contains(&(sentence.number, &m.fragments, m.label));
        for mention in sentence.mentions.iter().filter(there) {
            let bytes: Vec<Range<usize>> = mention.fragments.iter().filter_map(|f| sentence.bytes(f.range())).collect();
            let label = receipt.renamed_labels.get(mention.label).map_or(mention.label, String::as_str);
            places.push((bytes, label.to_owned()));
        }
    }
    places.sort_by_key(|(ranges, label)| (ranges.iter().map(|r| (r.start, r.end)).collect::<Vec<_>>(), label.clone()));
    places
}

proptest! {
    #[test]
    fn text_and_places_come_back(document in any_document()) {
        let before = Collected { documents: vec![ImportedDocument { name: "a".to_owned(), ..document }], ..Collected::default() };
        let (files, receipt) = written(&before);
        let after = again(&files, "a");
        prop_assert_eq!(&after.warnings, &vec![]);
        prop_assert_eq!(&*after.documents[0].text, &*before.documents[0].text);
        prop_assert_eq!(places(&after.documents[0], &Receipt::default()), places(&before.documents[0], &receipt));
        let (twice, receipt) = written(&Collected { documents: after.documents, ..before });
        prop_assert!(receipt.losses.iter().all(|l| !l.kind.loses_mention()), "{:?}", receipt.losses);
        prop_assert_eq!(&twice["a.txt"], &files["a.txt"]);
    }

    #[test]
    fn words_of_any_text_come_back_with_an_empty_receipt(text in nasty_text(), value in "[^\\r\\n\\t\\x00]{0,8}", note in "[a\\n é]{0,6}") {
        let mut before = match read("text", text, &[("unit", "prose")]) {
            Ok(read) => read,
            Err(_) => return Ok(()),
        };
        for sentence in &mut before.documents[0].sentences {
            let all = Span::from_range(0..sentence.tokens.len()).unwrap();
            let last = Span::from_range(sentence.tokens.len() - 1..sentence.tokens.len()).unwrap();
            for (span, label) in [(all, "A"), (all, "B"), (last, "C")] {
                sentence.mentions.push(ImportedMention {
                    fragments: span.into(),
                    label: label.to_owned(),
                    score: None,
                    attributes: Attributes::from([("k".to_owned(), value.clone())]),
                    note: note.trim_start_matches('\n').to_owned(),
                    source_id: None,
                });
            }
        }
        let (files, receipt) = written(&before);
        prop_assert_eq!(&receipt.losses, &vec![]);
        let after = again(&files, "input");
        let said = |read: &Collected| {
            let all = read.documents[0].sentences.iter().flat_map(|s| &s.mentions);
            all.map(|m| (m.label.clone(), m.attributes.clone(), m.note.clone())).collect::<std::collections::BTreeSet<_>>()
        };
        prop_assert_eq!(said(&after), said(&before));
        prop_assert_eq!(places(&after.documents[0], &receipt), places(&before.documents[0], &receipt));
    }

    #[test]
    fn any_annotations_are_read_or_refused(annotations in "(T|T1|A1|#1|E1|\\*|\t| |0|3|9|;|X|Anna|\n|AnnotatorNotes|T1){0,40}") {
        let _ = read_pair("Anna 💩 Berg.\n", &annotations, &[]);
    }
}
