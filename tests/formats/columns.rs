//! Which columns are words and which are tags, and how tags are meant.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;

fn check(text: &str, given: &[(&str, &str)]) -> String {
    match read("conll", text, given) {
        Ok(read) => show(&read),
        Err(error) => error.to_string(),
    }
}

/// Words and mentions of each sentence, without notes.
fn mentions(text: &str, given: &[(&str, &str)]) -> String {
    let lines = check(text, given);
    lines.lines().filter(|line| line.starts_with("    ")).map(str::trim).collect::<Vec<_>>().join(", ")
}

fn sniffed(extension: &str, text: &str) -> String {
    match detect("x", &Sample { extension, bytes: text.as_bytes() }) {
        Ok(detected) => format!("{detected:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn all_columns_of_tags_are_read() {
    // A column of a depth each; a column of chunks is no layer, and neither is a part of speech.
    let nested = "The O O O\nmayor B-PER O O\nof I-PER O O\nHull I-PER B-LOC O\n\nIt O O O\n";
    expect![[r#"
        "input" "The mayor of Hull\nIt\n"
          "The" "mayor" "of" "Hull"
            [1..4] PER
            [3..4] LOC
          "It"
        note: read as iob2; else set the option scheme=…: input
        note: the tags are in columns 2, 3 and 4, a layer each; else set the option tags=…: input"#]]
    .assert_eq(&check(nested, &[]));
    assert_eq!(mentions(nested, &[("tags", "3")]), "[3..4] LOC");
    assert_eq!(mentions(nested, &[("tags", "none")]), "");
    // What is asked for goes before, and what is missed then is told.
    let told = check(nested, &[("layers", "1")]);
    assert!(
        told.contains("warning: line 1: columns 2 and 3 look like tags and were not read, as the option layers says"),
        "{told}"
    );
    let chunks = "Anna NNP B-NP B-PER\nsang VBD B-VP O\nHull NNP B-NP B-LOC\n";
    assert_eq!(mentions(chunks, &[]), "[0..1] PER, [2..3] LOC");
    assert_eq!(mentions("Anna NNP B-NP\nsang VBD B-VP\n", &[]), "[0..1] NP, [1..2] VP");
}

#[test]
fn two_columns_of_the_same_tags_are_asked_about() {
    let row = |word: &str, a: &str, b: &str| format!("{word}\t{a}\t{b}\n");
    let mut text = String::new();
    for at in 0..20 {
        text += &row("Ada", "B-PER", if at == 3 { "O" } else { "B-PER" });
        text += &row("sang", "O", "O");
    }
    let asked = check(&text, &[]);
    assert!(
        asked.contains("columns 2 and 3 hold mostly the same tags") && asked.contains("tags=4 or tags=3,4"),
        "{asked}"
    );
    assert_eq!(mentions(&text, &[("tags", "2")]).matches("PER").count(), 20);
}

#[test]
fn columns_stand_in_any_order() {
    let check = |text: &str| check(text, &[]) + "\n";
    let shown = [
        // Tags first; a numbered first column, and comments; a row that names the columns.
        check("B-PER Ada\nI-PER Berg\nO sang\n"),
        check("# a.org 2005\n1\tAda\tB-PER\tO\n2\tsang\tO\tO\n\n#\tb.org\t2006\n1\tHull\tB-LOC\tO\n2\tfell\tO\tO\n"),
        check("token\tpos\tner\nAda\tNNP\tB-PER\nsang\tVBD\tO\n"),
        // The name of a document in each row.
        check("d1\t1\tAda\tB-PER\nd1\t2\tsang\tO\n\nd1\t1\tHull\tB-LOC\nd1\t2\tfell\tO\n"),
        // One ragged row costs that row; blanks inside words and around cells.
        check("New York\tB-LOC\nAda \tB-PER\n sang\t O\nbroken\nfell\tO\n"),
    ];
    expect![[r##"
        "input" "Ada Berg sang\n"
          "Ada" "Berg" "sang"
            [0..2] PER
        note: read as iob2; else set the option scheme=…: input
        note: the words are in column 2; else set the option token=…: input
        note: the tags are in column 1; else set the option tags=…: input

        "input" "Ada sang\nHull fell\n"
          "Ada" "sang"
            [0..1] PER
          "Hull" "fell"
            [0..1] LOC
        note: read as iob2; else set the option scheme=…: input
        note: the words are in column 2; else set the option token=…: input
        note: the tags are in columns 3 and 4, a layer each; else set the option tags=…: input
        note: 1 of 4 column was not read: input
        note: 2 lines are comments and were not read: input

        "input" "Ada sang\n"
          "Ada" "sang"
            [0..1] PER
        note: read as iob2; else set the option scheme=…: input
        note: the first row names the columns and was not read: input
        note: 1 of 3 column was not read: input

        "input" "Ada sang\nHull fell\n"
          "Ada" "sang"
            [0..1] PER
          "Hull" "fell"
            [0..1] LOC
        note: read as iob2; else set the option scheme=…: input
        note: the words are in column 3; else set the option token=…: input
        note: 2 of 4 columns were not read: input

        "input" "New York Ada sang fell\n"
          "New York" "Ada" "sang" "fell" InProgress
            [0..1] LOC
            [1..2] PER
        note: read as iob2; else set the option scheme=…: input
        warning: line 4: the row has 1 column, expected 2; it was left out, so the sentence is not complete: input
    "##]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn what_can_t_be_words_or_tags_is_asked_about() {
    let parts_of_speech = "The\tDT\nmayor\tNN\nsang\tVBD\n";
    expect!["no column looks like tags: column 1 (The, mayor, sang), column 2 (DT, NN, VBD); set the option tags=… (their columns from 1, such as tags=4 or tags=3,4; tags=none reads the words alone) and token=… (the column of the words): input"].assert_eq(&check(parts_of_speech, &[]));
    let words = check(parts_of_speech, &[("tags", "none")]);
    assert!(words.starts_with("\"input\" \"The mayor sang\\n\"\n  \"The\" \"mayor\" \"sang\" Unread"), "{words}");
    // CoNLL-2009: fourteen columns, and one more for each verb.
    let verbs = |more: &str| {
        format!(
            "1\tThe\tthe\tthe\tDT\tDT\t_\t_\t2\t2\tNMOD\tNMOD\t_\t_{more}\n2\tmayor\tmayor\tmayor\tNN\tNN\t_\t_\t3\t3\tSBJ\tSBJ\t_\t_{more}\n\n"
        )
    };
    let conll_2009 = [verbs(""), verbs("\tA0"), verbs("\tA0\t_")].concat();
    assert!(check(&conll_2009, &[]).contains("rows have 14 columns: column 1 (1, 2), column 2 (The, mayor)"));
    let words = check(&conll_2009, &[("tags", "none"), ("token", "2")]);
    assert!(words.contains("The mayor\\nThe mayor\\nThe mayor\\n") && !words.contains("warning"), "{words}");
    let bad = check("Ada O\n", &[("tags", "2,x")]);
    assert_eq!(bad, "the option tags can't be \"2,x\"; use columns, counted from 1, such as 4 or 3,4, or none");
}

#[test]
fn brackets_of_ontonotes_are_read() {
    let row = |number: usize, word: &str, entity: &str, rest: &str| {
        format!("nw/a   0   {number}   {word}   NN   (NP*   -   -   -   Ada   {entity}   {rest}\n")
    };
    let text = [
        "#begin document (nw/a); part 000\n".to_owned(),
        row(0, "The", "(ORG*", "(ARG0*   (12"),
        row(1, "Bank", "*", "*   -"),
        row(2, "of", "*", "*   -"),
        row(3, "Hull", "(GPE))", "*)   12)"),
        "\n".to_owned(),
        row(0, "It", "*", "-"),
        "#end document\n#begin document (nw/b); part 001\n".to_owned(),
        row(0, "Ada", "(PERSON)", "(3)"),
        row(1, "fell", "(X*", "-"),
        "\n#end document\n".to_owned(),
    ];
    expect![[r#"
        "nw/a_000" "The Bank of Hull\nIt\n"
          "The" "Bank" "of" "Hull"
            [0..4] ORG
            [3..4] GPE
          "It"
        "nw/b_001" "Ada fell\n"
          "Ada" "fell" InProgress
            [0..1] PERSON
        note: read as OntoNotes (CoNLL-2012): words and named entities; parts of speech, parses, arguments of verbs and coreference were not read: input
        warning: line 11: the bracket "(X*" has no other one in its sentence; it was left out, so the sentence is not complete: input"#]]
    .assert_eq(&check(&text.concat(), &[]));
    assert_eq!(sniffed("txt", &text.concat()), "conll (columns of tokens and tags)");
    assert_eq!(
        mentions("Ada (PER*)\nsang *\nthe *\nBank (ORG*\nof *\nHull (LOC*))\n", &[]),
        "[0..1] PER, [3..6] ORG, [5..6] LOC"
    );
}

#[test]
fn every_scheme_gives_the_same_mentions() {
    let plain = "Ada B-PER\nBerg I-PER\nvan I-PER\nAnna B-PER\nsang O\nin O\nthe O\nBank B-ORG\n\nHull B-LOC\nYork B-LOC\nx I-LOC\n";
    let before = read("conll", plain, &[]).unwrap();
    let spans = |read: &Collected| -> Vec<String> {
        let mentions = read.documents.iter().flat_map(|d| &d.sentences).flat_map(|s| &s.mentions);
        mentions.map(|m| format!("{:?} {}", m.fragments, m.label)).collect()
    };
    for scheme in ["iob1", "iob2", "ioe1", "ioe2", "bioes", "bilou", "bmes", "bmewo"] {
        let (written, receipt) = write("conll", &before, &[("scheme", scheme)]);
        assert_eq!(receipt.losses, [], "{scheme}");
        for (text, spelling) in [
            (written.clone(), "as it is"),
            (written.to_lowercase().replace("\to\n", "\tO\n"), "in small letters"),
            (written.replace('-', "_"), "with another separator"),
            (turned(&written), "with the prefix last"),
        ] {
            let after = read("conll", text.clone(), &[]).unwrap();
            let wanted: Vec<String> = match spelling {
                "in small letters" => spans(&before).iter().map(|s| s.to_lowercase()).collect(),
                _ => spans(&before),
            };
            let found: Vec<String> = match spelling {
                "in small letters" => spans(&after).iter().map(|s| s.to_lowercase()).collect(),
                _ => spans(&after),
            };
            assert_eq!(found, wanted, "{scheme} {spelling}: {text}");
            assert!(after.notes[0].contains(&format!("read as {scheme}")), "{:?}", after.notes);
            assert_eq!(after.warnings, [], "{scheme} {spelling}");
        }
    }
}

/// `PER-B` for `B-PER`.
fn turned(columns: &str) -> String {
    let turn = |line: &str| match line.split_once('\t').and_then(|(word, tag)| Some((word, tag.split_once('-')?))) {
        Some((word, (prefix, label))) => format!("{word}\t{label}-{prefix}\n"),
        None => format!("{line}\n"),
    };
    columns.lines().map(turn).collect()
}

#[test]
fn unknown_prefixes_and_tags_without_labels_are_asked_about() {
    let odd = "Ada B-PER\nBerg Z-PER\nsang O\n";
    expect![[r#"the tag "Z-PER" begins like one of a scheme that is not known here ("Z" and the label "PER"): known are I, B, E, S (bioes), L, U (bilou), M (bmes) and W (bmewo); set the option scheme=… (none takes each tag for a label as it stands): input"#]].assert_eq(&check(odd, &[]));
    assert_eq!(mentions(odd, &[("scheme", "none")]), "[0..1] B-PER, [1..2] Z-PER");
    let bare = "BRCA1 B\ngene I\nis O\nit O\n";
    expect![[r#"the tags name no label, only where mentions begin and go on (such as "B"); set the option label=… (the label of all mentions): input"#]].assert_eq(&check(bare, &[]));
    assert_eq!(mentions(bare, &[("label", "Gene")]), "[0..2] Gene");
    let tags = r#"{"tokens":["a","b","c","d"],"ner_tags":["B-ORG","M-ORG","E-ORG","O"]}"#;
    let read_tags = read("jsonl", tags, &[]).unwrap();
    assert_eq!(read_tags.documents[0].sentences[0].mentions.len(), 1);
    assert!(read_tags.notes[0].starts_with("tags were read as bmes"), "{:?}", read_tags.notes);
    let odd = r#"{"tokens":["a","b","c"],"ner_tags":["B-ORG","Z-ORG","O"]}"#;
    assert!(read("jsonl", odd, &[]).unwrap_err().to_string().contains("set the option scheme="));
    let numbers = r#"{"tokens":["a","b","c"],"ner_tags":[1,2,0]}"#;
    let read_numbers = read("jsonl", numbers, &[("names", "O,PER_B,PER_I")]).unwrap();
    assert_eq!(read_numbers.documents[0].sentences[0].mentions.len(), 1);
}

#[test]
fn columns_are_known_wherever_their_tags_begin() {
    let outside: String = (0..300).map(|at| format!("word{at} O\n{}", if at % 10 == 9 { "\n" } else { "" })).collect();
    assert_eq!(sniffed("txt", &outside), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("txt", &(outside.clone() + "Ada B-PER\n")), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("tsv", &outside.replace(' ', "\t")), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("txt", &(outside.clone() + "one ragged row here\n")), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("txt", "Ada B-PER\nBerg I-PER\nof\nHull B-LOC\nsang O\n"), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("txt", "Ada PER\nmet O\nBo PER\nat O\nnoon O\nagain O\n"), "conll (columns of tokens and tags)");
    assert_eq!(sniffed("txt", "Ada met Bo.\nIt rained O\nall day long.\n"), "text (plain text)");
    let utf16: Vec<u8> = "\u{feff}Ada B-PER\nsang O\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let detected = detect("x.txt", &Sample { extension: "txt", bytes: &utf16 }).unwrap();
    assert_eq!(detected.format.id(), "conll");
    // The tags of a large file begin behind what is read of its start.
    let late = outside.repeat(200) + &"Ada\tB-PER\nsang\tO\n\n".replace('\t', " ").repeat(20_000);
    let input = Input::bytes("late", late).unwrap();
    assert_eq!(detect("late", &input.sample()).unwrap().format.id(), "conll");
    let prose = "It rained all day long.\n".repeat(30_000) + "Ada B-PER\n";
    let input = Input::bytes("prose", prose).unwrap();
    assert_eq!(detect("prose", &input.sample()).unwrap().format.id(), "text");
}
