//! CoNLL columns.

use crate::helpers::*;
use expect_test::expect;
use nestling::annotation::*;
use nestling::format::*;
use proptest::prelude::*;

#[test]
fn conll_2003_is_read() {
    let text = "-DOCSTART- -X- O O\r\n\r\nAnna NNP B-NP I-PER\r\nBerg NNP I-NP I-PER\r\nKim NNP I-NP B-PER\r\n\r\n-DOCSTART- -X- O O\r\n\r\n# NN B-NP O\r\nAarhus NNP B-NP I-LOC";
    expect![[r##"
        "input-1" "Anna Berg Kim\n"
          "Anna" "Berg" "Kim"
            [0..2] PER
            [2..3] PER
        "input-2" "# Aarhus\n"
          "#" "Aarhus"
            [1..2] LOC
        note: read as iob1; else set the option scheme=…: input
        note: 2 of 4 columns were not read: input"##]]
    .assert_eq(&show(&read("conll", text, &[]).unwrap()));
}

#[test]
fn every_scheme_is_found_out() {
    let check = |tags: &str| {
        let text: String = tags.split(' ').map(|tag| format!("w {tag}\n")).collect();
        let read = read("conll", text, &[]).unwrap();
        assert_eq!(read.warnings, [], "{tags}");
        let mentions = &read.documents[0].sentences[0].mentions;
        let shown: Vec<_> = mentions.iter().map(|m| format!("{:?} {}", m.fragments.hull(), m.label)).collect();
        format!("{}: {}", read.notes[0].split(';').next().unwrap(), shown.join(", "))
    };
    let shown = [
        check("I-A I-A B-A O I-A"),
        check("B-A I-A B-A O B-B"),
        check("B-A I-A E-A S-A O"),
        check("B-A I-A L-A U-A O"),
        check("PER PER O LOC"),
    ];
    expect![[r#"
        read as iob1: 0..2 A, 2..3 A, 4..5 A
        read as iob2: 0..2 A, 2..3 A, 4..5 B
        read as bioes: 0..3 A, 3..4 A
        read as bilou: 0..3 A, 3..4 A
        read as io: 0..2 PER, 3..4 LOC"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_no_break_space_belongs_to_its_token() {
    let read = read("conll", "10\u{a0}000 O\nAnna B-PER\n\n\u{3000} O\nBo B-PER\n", &[]).unwrap();
    assert_eq!(read.documents[0].text.as_ref(), "10\u{a0}000 Anna\nBo\n");
    assert_eq!(read.warnings.len(), 1, "a token of white space alone is none");
}

#[test]
fn a_tag_without_a_prefix_is_told_where_others_have_one() {
    let text = "Anna\tB-PER\nBerg\tI-PER\nof\tO\nHull\tQ-LOC\nsang\tO\n\nBo\tb-per\nLi\tb-per\n";
    expect![[r#"
        "input" "Anna Berg of Hull sang\nBo Li\n"
          "Anna" "Berg" "of" "Hull" "sang"
            [0..2] PER
            [3..4] Q-LOC
          "Bo" "Li"
            [0..1] per
            [1..2] per
        note: read as iob2; else set the option scheme=…: input
        warning: line 4: the tag "Q-LOC" has no prefix of iob2 and was read as a label of this name (line 4): input"#]]
    .assert_eq(&show(&read("conll", text, &[]).unwrap()));
}

#[test]
fn faults_are_repaired_and_reported() {
    let text = "\u{feff}# a comment\nAnna\tB-PER\nmet\tI-LOC\nKim\tNNP\tB-PER\n\n#\tO\nx\tB-\n\ny\tB-PER";
    expect![[r##"
        "input" "Anna met\n# x\ny\n"
          "Anna" "met" InProgress
            [0..1] PER
            [1..2] LOC
          "#" "x" InProgress
          "y"
            [0..1] PER
        note: read as iob2; else set the option scheme=…: input
        note: 1 line is a comment and was not read: input
        warning: line 4: the row has 3 columns, expected 2; it was left out, so the sentence is not complete: input
        warning: line 7: the tag "B-" names no label; it was left out, so the sentence is not complete: input
        warning: line 3: 1 tag doesn't follow iob2; a mention was taken to begin or end there (line 3): input"##]]
    .assert_eq(&show(&read("conll", text, &[]).unwrap()));
    let error = |text: &str, given: &[(&str, &str)]| read("conll", text, given).unwrap_err().to_string();
    expect![[r#"
        this is no CoNLL columns file (most rows have 1 column; words are expected in column 1 and tags in the last one); choose another format: input
        the option layers can't be "0"; use a whole number from 1 up
        this is no CoNLL columns file (most rows have 2 columns; words are expected in column 3 and tags in the last one); choose another format: input"#]]
    .assert_eq(
        &[error("a\nb\n", &[]), error("a O\n", &[("layers", "0")]), error("a O\n", &[("token", "3")])].join("\n"),
    );
}

#[test]
fn what_has_no_column_is_listed() {
    let line = r#"{"tokens":["a b","c","-DOCSTART-","d"],"entities":[{"start":0,"end":3,"label":"X"},{"start":0,"end":3,"label":"Y Z"},{"start":1,"end":2,"label":"X","note":"n"},{"start":2,"end":4,"label":"X"},{"start":0,"end":4,"label":"X","fragments":[[0,1],[3,4]]}]}"#;
    let document = read("jsonl", line, &[]).unwrap();
    let show = |layers: &str| {
        let (written, receipt) = write("conll", &document, &[("layers", layers)]);
        let losses = receipt.losses.iter().map(ToString::to_string);
        [written].into_iter().chain(losses).chain(receipt.notes.clone()).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        a_b	B-X
        c	I-X
        _DOCSTART-	I-X
        d	O


        input, sentence 1: "a b c -DOCSTART- d" (X): the format holds no mentions in several pieces
        input, sentence 1: "a b c -DOCSTART-" (Y Z): another label has the same words and there is no layer left for it
        input, sentence 1: "c" (X): it lies in another mention and there is no layer left for it
        input, sentence 1: "-DOCSTART- d" (X): it crosses another mention and there is no layer left for it
        input, sentence 1: "a b": white space in a token became _
        input, sentence 1: "-DOCSTART-": white space in a token became _

        a_b	B-X	B-Y_Z	O	O
        c	I-X	I-Y_Z	B-X	O
        _DOCSTART-	I-X	I-Y_Z	B-X	O
        d	O	O	I-X	O


        input, sentence 1: "a b c -DOCSTART- d" (X): the format holds no mentions in several pieces
        input, sentence 1: "a b c -DOCSTART-" (Y Z): the format can't spell its label, which was written in another way
        input, sentence 1: "c" (X): the format can't hold its note
        input, sentence 1: "a b": white space in a token became _
        input, sentence 1: "-DOCSTART-": white space in a token became _
        the label "Y Z" was written as "Y_Z""#]]
    .assert_eq(&[show("1"), show("4")].join("\n\n"));
}

proptest! {
    #[test]
    fn enough_layers_hold_every_contiguous_mention(document in crate::round_trips::any_document(), scheme in prop::sample::select(&["iob1", "iob2", "bioes", "bilou", "io"][..])) {
        let mut before = Collected { documents: vec![document], ..Collected::default() };
        prop_assume!(!before.documents[0].sentences.is_empty());
        for mention in before.documents[0].sentences.iter_mut().flat_map(|s| &mut s.mentions) {
            mention.label = mention.label.replace(|c: char| c.is_whitespace(), "_");
        }
        let given = [("layers", "9"), ("scheme", scheme)];
        let (written, receipt) = write("conll", &before, &given);
        let after = read("conll", written, &given).unwrap();
        prop_assert_eq!(&after.warnings, &vec![]);
        let lost: usize = receipt.losses.iter().filter(|l| l.kind.loses_mention()).count();
        prop_assert!(receipt.losses.iter().filter(|l| l.kind.loses_mention()).all(|l| l.kind == LossKind::Discontinuous));
        let spans = |read: &Collected| {
            let mut spans: Vec<Vec<(Fragments, String)>> = Vec::new();
            for sentence in &read.documents[0].sentences {
                let whole = sentence.mentions.iter().filter(|m| m.fragments.contiguous().is_some());
                let mut of: Vec<_> = whole.map(|m| (m.fragments.clone(), m.label.clone())).collect();
                of.sort();
                spans.push(of);
            }
            spans
        };
        prop_assert_eq!(spans(&after), spans(&before));
        let all: usize = before.documents[0].sentences.iter().map(|s| s.mentions.len()).sum();
        prop_assert_eq!(receipt.mentions + lost, all);
    }
}

#[test]
fn a_sentence_that_lacks_a_mention_is_not_complete_and_a_file_without_any_may_be_unread() {
    let check = |text: &str| show(&read("conll", text, &[]).unwrap());
    let shown = [
        check("Anna B-PER\nleft O\n\nKim B-\nleft O\n\nJens B-PER more\nleft O\n\nIt O\nrained O\n"),
        check("Anna\tB-PER\n\nKim\t\nleft\tO\n"),
        check("It O\nrained O\n\nIt\nrained O\n"),
    ];
    expect![[r#"
        "input" "Anna left\nKim left\nleft\nIt rained\n"
          "Anna" "left"
            [0..1] PER
          "Kim" "left" InProgress
          "left" InProgress
          "It" "rained"
        note: read as iob2; else set the option scheme=…: input
        warning: line 4: the tag "B-" names no label; it was left out, so the sentence is not complete: input
        warning: line 7: the row has 3 columns, expected 2; it was left out, so the sentence is not complete: input

        "input" "Anna\nKim left\n"
          "Anna"
            [0..1] PER
          "Kim" "left" InProgress
        note: read as iob2; else set the option scheme=…: input
        warning: line 3: the tag "" names no label; it was left out, so the sentence is not complete: input

        "input" "It rained\nrained\n"
          "It" "rained" Unread
          "rained" InProgress Unread
        note: read as iob2; else set the option scheme=…: input
        warning: line 4: the row has 1 column, expected 2; it was left out, so the sentence is not complete: input"#]]
    .assert_eq(&shown.join("\n\n"));
}
