//! Formats: golden files made by hand from `docs/formats.md`, round trips, and files that break other tools.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use expect_test::expect;
use nestling::annotation::*;
use nestling::format::*;
use nestling::text::{SentenceSplit, TextRange, Tokens, split_sentences};
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

// ---- JSON lines

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
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let read = read("jsonl", block, &[]).unwrap();
        assert_eq!((&read.warnings, &read.notes), (&vec![], &vec![]), "{block}");
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
        "some_bad_lines" "One good line\na b\na b c\na b\nthe last good line\n"
          "One" "good" "line"
            [0..3] X
          "a" "b" InProgress
            [0..2] Y
          "a" "b" "c" InProgress
            [0..1] X
          "a" "b"
          "the" "last" "good" "line"
        warning: line 2: it does not begin with {, so it is no JSON object; the line was left out: some_bad_lines.jsonl
        warning: line 4: the JSON object is cut off; the line was left out: some_bad_lines.jsonl
        warning: line 5: invalid type: string "zero", expected a whole number (at byte 43 of the line); the line was left out: some_bad_lines.jsonl
        warning: line 6: token 1, "Bergen", is not in the text after the tokens before it; the line was left out: some_bad_lines.jsonl
        warning: line 7: `offsets` does not fit: token 1, "Berg", is not there in the text; the line was left out: some_bad_lines.jsonl
        warning: line 8: it has entities but no `tokens` for them to count; the line was left out: some_bad_lines.jsonl
        warning: line 9: it has neither `tokens` nor `text`; the line was left out: some_bad_lines.jsonl
        warning: line 10: `tokens` is empty; the line was left out: some_bad_lines.jsonl
        warning: line 11: token 1 is empty; the line was left out: some_bad_lines.jsonl
        warning: line 12: `ner_tags` has 1 tags for 2 tokens; the line was left out: some_bad_lines.jsonl
        warning: line 13: tag 1 is "B-", which names no label; the line was left out: some_bad_lines.jsonl
        warning: line 14: the entity 0-3 (X) is outside the 2 tokens of the sentence; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 14: the entity 1-2 ( ) has no label; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 14: the entity 0-2 (Y) is there twice; it was kept once: some_bad_lines.jsonl
        warning: line 15: the status "done" is unknown and was left out: some_bad_lines.jsonl
        warning: line 15: the split "training" is unknown and was left out: some_bad_lines.jsonl
        warning: line 15: the entity 0-3 (X) can't be read because the fragments 0..2 and 1..3 of one mention overlap; it was left out, so the sentence is not complete: some_bad_lines.jsonl
        warning: line 15: the label " X" was taken as "X": some_bad_lines.jsonl
        warning: line 15: the entity 0-1 ( X) has a score outside 0 to 1, which was left out: some_bad_lines.jsonl
        warning: line 16: it has both entities and ner_tags; ner_tags were left out: some_bad_lines.jsonl
        warning: line 14: "entities.id" means nothing here and was left out (1 line): some_bad_lines.jsonl
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
        note: read as inclusive ends because 1 of 3 entities have start = end and none ends at the number of tokens; else give --option end=exclusive: inclusive.jsonl"#]].assert_eq(&show(&auto));
    let told = read_file("jsonl", &path, &[("end", "inclusive")]).unwrap();
    assert_eq!((told.documents, told.notes), (auto.documents.clone(), vec![]));
    let wrong = read_file("jsonl", &path, &[("end", "exclusive")]).unwrap();
    assert!(wrong.warnings[0].message.contains("--option end=inclusive"), "{}", wrong.warnings[0]);
    let (written, _) = write("jsonl", &auto, &[("end", "inclusive")]);
    assert!(written.starts_with(r#"{"nestling":1,"end":"inclusive"}"#) && written.contains(r#""start":3,"end":3,"#));
    assert_eq!(
        read("jsonl", written.clone(), &[("end", "exclusive")]).unwrap().documents,
        auto.documents,
        "the header wins"
    );

    let both = r#"{"tokens":["a","b"],"entities":[{"start":0,"end":0,"label":"X"},{"start":0,"end":2,"label":"X"}]}"#;
    let error = read("jsonl", both, &[]).unwrap_err().to_string();
    assert!(error.contains("--option end=inclusive or --option end=exclusive"), "{error}");
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
    assert!(error.starts_with("line 5001 ") && error.contains("--option end=inclusive"), "{error}");
    let told = Options::new([("end".into(), "exclusive".into())], &[by_id("jsonl").unwrap()]).unwrap();
    let stream = Input::stream("input", std::io::Cursor::new(text.into_bytes())).unwrap();
    by_id("jsonl").unwrap().read(stream, &told, &mut sink).unwrap();
    assert_eq!(sink.documents[0].sentences.len(), 5001);
}

#[test]
fn tags_are_read_with_their_names() {
    let path = fixture("tags.jsonl");
    let error = read_file("jsonl", &path, &[]).unwrap_err().to_string();
    assert!(error.contains("--option names=O,B-PER"), "{error}");
    let read = read_file("jsonl", &path, &[("names", "O,B-PER,I-PER,B-LOC")]).unwrap();
    expect![[r#"
        "tags" "The mayor met Anna Berg\nAarhus is far\nAarhus is far\n"
          "The" "mayor" "met" "Anna" "Berg"
            [3..5] PER
          "Aarhus" "is" "far" InProgress
            [0..1] LOC
          "Aarhus" "is" "far"
            [0..1] LOC
        warning: line 2: 1 of 3 tags are missing (-100), so the sentence is not complete: tags.jsonl
        warning: line 4: `ner_tags` holds 7, and --option names has fewer names; the line was left out: tags.jsonl"#]]
    .assert_eq(&show(&read));
}

// ---- text

#[test]
fn text_keeps_its_bytes_and_says_how_it_was_read() {
    let lines = read("text", "\u{feff}One line. \r\n\r\nzwölf 💩\n", &[]).unwrap();
    expect![[r#"
        "input" "\u{feff}One line. \r\n\r\nzwölf 💩\n"
          "One" "line" "."
          "zwölf" "💩"
        note: read as one sentence a line because 2 of 2 lines hold one sentence; else give --option unit=prose: input"#]].assert_eq(&show(&lines));
    let prose =
        "The mayor of the town of Grelsund opened the new ferry\nterminal on Monday. It rained.\n\nA headline\n";
    expect![[r#"
        "input" "The mayor of the town of Grelsund opened the new ferry\nterminal on Monday. It rained.\n\nA headline\n"
          "The" "mayor" "of" "the" "town" "of" "Grelsund" "opened" "the" "new" "ferry" "terminal" "on" "Monday" "."
          "It" "rained" "."
          "A" "headline"
        note: read as prose because 1 of 3 lines hold several sentences; else give --option unit=lines: input"#]]
    .assert_eq(&show(&read("text", prose, &[]).unwrap()));
    let told = read("text", prose, &[("unit", "lines")]).unwrap();
    assert_eq!((told.documents[0].sentences.len(), told.notes), (3, vec![]));
}

#[test]
fn utf16_text_is_converted() {
    let bytes: Vec<u8> = "\u{feff}Å ja.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = read("text", bytes, &[]).unwrap();
    assert_eq!(&*read.documents[0].text, "\u{feff}Å ja.\n");
    assert!(read.notes[0].contains("UTF-16"));
}

#[test]
fn exporting_text_lists_what_is_lost() {
    let corpus = corpus_of(&read("text", "Anna Berg\r\nmet him. She left.", &[("unit", "prose")]).unwrap());
    let mut out = Vec::new();
    let text = by_id("text").unwrap();
    let receipt = text.write(&mut views(&corpus, Shown::Gold, |_| true), &Options::default(), &mut out).unwrap();
    expect![["Anna Berg met him.\nShe left.\n"]].assert_eq(&String::from_utf8(out).unwrap());
    let losses: Vec<_> = receipt.losses.iter().map(Loss::to_string).collect();
    expect![[r#"
        input, sentence 1: "Anna Berg\r\nmet him.": a line break in the sentence became a blank
        input, sentence 1: "Anna Berg" (PER): the format holds no mentions
        input, sentence 2: "She left" (PER): the format holds no mentions"#]]
    .assert_eq(&losses.join("\n"));
    assert_eq!((receipt.documents, receipt.sentences, receipt.mentions), (1, 2, 0));
}

// ---- views of a corpus

#[test]
fn a_view_shows_the_chosen_sentences_with_gold_or_suggestions() {
    let corpus = corpus_of(&read("text", "One here. Two here. Three here.\n", &[("unit", "prose")]).unwrap());
    let spans = vec![
        Suggestion { span: Span::from_range(0..2).unwrap(), label: LabelId(0), score: 0.1, runner_up: None },
        Suggestion { span: Span::from_range(0..1).unwrap(), label: LabelId(9), score: 1.0, runner_up: None },
    ];
    let one = SentenceSuggestions { model: ModelId(1), heads: vec![], spans, entropy: None };
    let suggestions = HashMap::from([(SentenceId(2), one)]);
    let mut out = Vec::new();
    let mut shown = views(&corpus, Shown::Suggestions(&suggestions), |s| s.id() != SentenceId(1));
    by_id("jsonl").unwrap().write(&mut shown, &Options::default(), &mut out).unwrap();
    expect![[r#"
        {"nestling":1,"end":"exclusive"}
        {"doc":"input","text":"One here.","gap":" ","tokens":["One","here","."],"entities":[],"status":"untouched"}
        {"doc":"input","text":"Three here.","tokens":["Three","here","."],"entities":[{"start":0,"end":2,"label":"PER","score":0.1}],"status":"untouched"}
    "#]].assert_eq(&String::from_utf8(out).unwrap());
}

// ---- detection and refusals

#[test]
fn formats_are_told_apart() {
    let check = |name: &str, bytes: &[u8]| {
        let (_, extension) = name.rsplit_once('.').unwrap_or_default();
        match detect(name, &Sample { extension, bytes }) {
            Ok(detected) => format!("{name}: {detected:?}"),
            Err(error) => error.to_string(),
        }
    };
    let shown = [
        check("a.jsonl", b"\xEF\xBB\xBF{\"nestling\":1}\n"),
        check("a.json", b"\n{\"tokens\":[\"a\"],\"entities\":[]}\n"),
        check("a.txt", b"{\"tokens\":[\"a\"],\"ner_tags\":[0]}\n"),
        check("a.jsonl", b"{\"text\":\"a\"}\n"),
        check("a.txt", b"Anna Berg\n"),
        check("-", b"Anna Berg\n"),
        check("a.txt", b"\xFF\xFEA\0"),
        check("a.json", b"[{\"tokens\":[\"a\"]}]"),
        check("a.xml", b"<doc/>"),
        check("a.conll", b"Anna\tB-PER\n"),
        check("a.docx", b"PK\x03\x04\0\0"),
    ];
    expect![[r#"
        a.jsonl: jsonl (JSON lines of this program)
        a.json: jsonl (JSON lines with tokens)
        a.txt: jsonl (JSON lines with tokens and tags)
        a.jsonl: jsonl (JSON lines with text)
        a.txt: text (plain text)
        -: text (plain text)
        a.txt: text (plain text in UTF-16)
        the format can't be told (it is JSON of another kind); choose one of jsonl, text with --format: a.json
        the format can't be told (it is XML or HTML); choose one of jsonl, text with --format: a.xml
        the format can't be told (it ends in .conll); choose one of jsonl, text with --format: a.conll
        the format can't be told (it is a binary file); choose one of jsonl, text with --format: a.docx"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn refusals_say_what_to_do() {
    let dir = tempfile::TempDir::new().unwrap();
    let input = |name: &str| Input::file(&dir.path().join(name)).map(|_| ()).unwrap_err().to_string();
    std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    let option = |key: &str, value: &str, formats: &[&dyn Format]| {
        Options::new([(key.to_owned(), value.to_owned())], formats).unwrap_err().to_string()
    };
    let (jsonl, text) = (by_id("jsonl").unwrap(), by_id("text").unwrap());
    let shown = [
        input("missing.jsonl"),
        input("empty.jsonl"),
        input("."),
        by_id("conll").map(|_| ()).unwrap_err().to_string(),
        option("endd", "inclusive", &[jsonl, text]),
        option("end", "inclusive", &[text]),
        option("end", "maybe", &[jsonl, text]),
        read("jsonl", "Anna Berg met the mayor.\n", &[]).unwrap_err().to_string(),
        read("jsonl", "[\n {\"tokens\": [\"a\"]}\n]\n", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"tokens\":[\"Anna\",\"Be", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"nestling\":1}\n", &[]).unwrap_err().to_string(),
        read("jsonl", "{\"nestling\":2}\n", &[]).unwrap_err().to_string(),
        read("jsonl", "\n \n", &[]).unwrap_err().to_string(),
        read("text", "\u{feff}\r\n", &[]).unwrap_err().to_string(),
        read("text", b"one\nna\xEFve\n".to_vec(), &[]).unwrap_err().to_string(),
        read("text", b"a\0b\0".to_vec(), &[]).unwrap_err().to_string(),
        read("text", b"\xFF\xFEa\0b".to_vec(), &[]).unwrap_err().to_string(),
    ];
    let shown = shown.join("\n").replace(&dir.path().display().to_string(), "DIR");
    expect![[r#"
        there is no such file; check the name: DIR/missing.jsonl
        the file is empty; nothing can be imported from it: DIR/empty.jsonl
        this is a folder; choose a file in it: DIR/.
        there is no format "conll"; choose one of jsonl, text
        no such option "endd"; jsonl has end=auto|exclusive|inclusive and names=… and header=yes|no; text has unit=auto|lines|prose
        no such option "end"; text has unit=auto|lines|prose
        the option end can't be "maybe"; use one of auto, exclusive, inclusive
        this is no JSON lines file (line 1: it does not begin with {, so it is no JSON object); choose another format with --format: input
        this is no JSON lines file (line 1 begins a JSON array, not one object a line); choose another format with --format: input
        this is no JSON lines file (line 1: the JSON object is cut off); choose another format with --format: input
        there is no sentence in the file, only white space or invisible characters: input
        the file was written by a newer program (its version is 2, this program knows 1); update the program: input
        there is no sentence in the file, only white space or invisible characters: input
        there is no sentence in the file, only white space or invisible characters: input
        byte 6 (line 2) is no UTF-8; convert the file to UTF-8, for example with `iconv -f latin1 -t utf-8`: input
        byte 1 is NUL, so this is no text but a binary file or UTF-16 without its mark; save it as UTF-8 text: input
        the file is not whole UTF-16 as its first bytes say; save it as UTF-8: input"#]].assert_eq(&shown);
}

#[test]
fn a_long_document_comes_in_parts_for_who_wants_them() {
    struct Parts(Vec<(String, usize)>);
    impl Sink for Parts {
        fn document(&mut self, part: ImportedDocument) -> std::ops::ControlFlow<()> {
            self.0.push((part.text.to_string(), part.sentences.len()));
            std::ops::ControlFlow::Continue(())
        }
        fn longest_document(&self) -> usize {
            2
        }
        fn label(&mut self, _: ImportedLabel) {}
        fn warning(&mut self, _: Warning) {}
        fn note(&mut self, _: String) {}
    }
    let lines: String = ["a", "b", "c", "d", "e"].iter().map(|word| format!("{{\"tokens\":[\"{word}\"]}}\n")).collect();
    let mut sink = Parts(Vec::new());
    let input = Input::bytes("input", lines).unwrap();
    by_id("jsonl").unwrap().read(input, &Options::default(), &mut sink).unwrap();
    assert_eq!(sink.0, [("a\nb\n".to_owned(), 2), ("c\nd\n".to_owned(), 2), ("e\n".to_owned(), 1)]);
}

#[test]
fn a_sink_can_stop_a_reader() {
    struct One(usize);
    impl Sink for One {
        fn document(&mut self, _: ImportedDocument) -> std::ops::ControlFlow<()> {
            self.0 += 1;
            std::ops::ControlFlow::Break(())
        }
        fn label(&mut self, _: ImportedLabel) {}
        fn warning(&mut self, _: Warning) {}
        fn note(&mut self, _: String) {}
    }
    let mut sink = One(0);
    let input = Input::file(&fixture("everything.jsonl")).unwrap();
    let stopped = by_id("jsonl").unwrap().read(input, &Options::default(), &mut sink);
    assert!(matches!(stopped, Err(FormatError::Stopped { .. })) && sink.0 == 1);
}

// ---- round trips

proptest! {
    #[test]
    fn json_lines_hold_everything(documents in prop::collection::vec(any_document(), 0..5), inclusive: bool) {
        let before = Collected { documents, ..Collected::default() };
        let options: &[_] = if inclusive { &[("end", "inclusive")] } else { &[] };
        let (written, receipt) = write("jsonl", &before, options);
        prop_assert_eq!(receipt.losses, vec![]);
        if before.documents.is_empty() {
            return Ok(());
        }
        let after = read("jsonl", written.clone(), &[]).unwrap();
        prop_assert_eq!(&after, &before);
    }

    #[test]
    fn a_whole_corpus_comes_back_from_json_lines(text in nasty_text()) {
        prop_assume!(!split_sentences(&text, SentenceSplit::Prose, Tokens::Words).is_empty());
        let corpus = corpus_of(&read("text", text.clone(), &[("unit", "prose")]).unwrap());
        let mut out = Vec::new();
        by_id("jsonl").unwrap().write(&mut views(&corpus, Shown::Gold, |_| true), &Options::default(), &mut out).unwrap();
        let after = read("jsonl", out, &[]).unwrap();
        prop_assert_eq!(&*after.documents[0].text, &text);
        prop_assert!(after.warnings.is_empty());
        for (got, want) in after.documents[0].sentences.iter().zip(corpus.sentences()) {
            prop_assert_eq!(&got.tokens, want.tokens());
            prop_assert_eq!(got.mentions.len(), want.mentions().len());
        }
    }

    #[test]
    fn text_keeps_its_words(text in nasty_text(), prose: bool) {
        let unit = [("unit", if prose { "prose" } else { "lines" })];
        match read("text", text.clone(), &unit) {
            Ok(before) => {
                prop_assert_eq!(&*before.documents[0].text, &text);
                let (written, receipt) = write("text", &before, &[]);
                prop_assert_eq!(written.lines().count(), receipt.sentences);
                let bare = |text: &str| text.split_whitespace().collect::<String>();
                let words = |read: &Collected| {
                    let document = &read.documents[0];
                    let tokens = document.sentences.iter().flat_map(|s| &s.tokens);
                    tokens.map(|t| bare(t.of(&document.text))).collect::<String>()
                };
                prop_assert_eq!(words(&read("text", written, &[("unit", "lines")]).unwrap()), words(&before));
            }
            Err(FormatError::NoSentence { .. } | FormatError::Empty { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in formats() {
            let _ = read(format.id(), bytes.clone(), &[]);
        }
    }

    #[test]
    fn any_json_is_read_or_refused(text in r#"(\{|\}|\[|\]|,|:|"tokens"|"entities"|"start"|"end"|"label"|"ner_tags"|"a"|[0-3]|-100|\n){0,60}"#) {
        let _ = read("jsonl", text, &[]);
    }
}

/// Words and white space that break other tools.
const PIECES: &[&str] = &[
    "Anna",
    "the mayor",
    "Dr.",
    "J.",
    "💩",
    "👩\u{200d}👩\u{200d}👧",
    "👍🏽",
    "e\u{301}te\u{301}",
    "\u{feff}",
    "\u{200b}",
    "\u{ad}",
    "\u{a0}",
    "\r\n",
    "\n",
    "\r",
    "\n\n",
    "\t",
    "  ",
    " ",
    " ",
    " ",
    ".",
    ". ",
    "!",
    "北京大学在北京。",
    "กรุงเทพมหานคร",
    "مدينة القاهرة",
    "Berg's",
    "NF_kB",
    "\u{96}",
    "\u{fffd}",
    "\"quoted\"",
    "\\",
    "\u{2028}",
    "\u{85}",
    "a",
    "-",
    "- -",
];

fn nasty_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..40).prop_map(|pieces| pieces.concat())
}

/// A document whose tokens are not those of our tokeniser, with mentions of every kind.
fn any_document() -> impl Strategy<Value = ImportedDocument> {
    let cut = (any::<u8>(), any::<bool>(), any::<u16>());
    let name = prop::sample::select(&["a", "b", "", "ä \"x\"\n"][..]);
    (name, nasty_text(), prop::collection::vec(cut, 0..30)).prop_map(|(name, text, cuts)| {
        let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut places: Vec<usize> = cuts.iter().map(|(at, ..)| edges[usize::from(*at) % edges.len()]).collect();
        places.sort_unstable();
        places.dedup();
        let mut sentences = vec![ImportedSentence::default()];
        for (pair, (_, ends_sentence, seed)) in places.windows(2).zip(&cuts) {
            let last = sentences.last_mut().unwrap();
            if seed % 4 > 0 {
                last.tokens.extend(TextRange::in_text(&text, pair[0]..pair[1]));
            }
            if *ends_sentence && !last.tokens.is_empty() {
                add_mentions(last, usize::from(*seed));
                sentences.push(ImportedSentence::default());
            }
        }
        sentences.retain(|sentence| !sentence.tokens.is_empty());
        ImportedDocument { name: name.to_owned(), text: text.into(), kept: Kept::new(), sentences }
    })
}

fn add_mentions(sentence: &mut ImportedSentence, seed: usize) {
    let tokens = sentence.tokens.len();
    let span = |start: usize, end: usize| Span::from_range(start..end).unwrap();
    for at in 0..seed % 6 {
        let start = (seed + at) % tokens;
        let end = start + 1 + (seed / 7 + at) % (tokens - start);
        let fragments = match end - start {
            width if width > 2 && seed.is_multiple_of(2) => {
                Fragments::new(vec![span(start, start + 1), span(end - 1, end)]).unwrap()
            }
            _ => span(start, end).into(),
        };
        let label = ["PER", "LOC", "a label: \"x\""][at % 3].to_owned();
        if sentence.mentions.iter().any(|m| m.fragments == fragments && m.label == label) {
            continue;
        }
        let attributes = Attributes::from([("key".to_owned(), PIECES[seed % PIECES.len()].to_owned())]);
        sentence.mentions.push(ImportedMention {
            fragments,
            label,
            score: (at % 2 == 0).then(|| seed as f32 / f32::from(u16::MAX)),
            attributes: if seed.is_multiple_of(3) { attributes } else { Attributes::new() },
            note: if seed.is_multiple_of(5) { PIECES[(seed + at) % PIECES.len()].to_owned() } else { String::new() },
            source_id: None,
        });
    }
    sentence.status = [None, Some(Status::Untouched), Some(Status::Complete), Some(Status::Flagged)][seed % 4];
    sentence.split = [None, Some(Split::Rest), Some(Split::Dev), Some(Split::Test), Some(Split::Blind)][seed % 5];
}

// ---- helpers

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(name)
}

fn options(format: &str, given: &[(&str, &str)]) -> Options {
    let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Options::new(given, &[by_id(format).unwrap()]).unwrap()
}

fn read(format: &str, bytes: impl Into<Vec<u8>>, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    read_input(format, Input::bytes("input", bytes)?, given)
}

fn read_file(format: &str, path: &Path, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    read_input(format, Input::file(path)?, given)
}

fn read_input(format: &str, input: Input, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    let mut sink = Collected::default();
    by_id(format)?.read(input, &options(format, given), &mut sink)?;
    Ok(sink)
}

fn write(format: &str, read: &Collected, given: &[(&str, &str)]) -> (String, Receipt) {
    let mut out = Vec::new();
    let mut views = read.documents.iter().map(ImportedDocument::view);
    let receipt = by_id(format).unwrap().write(&mut views, &options(format, given), &mut out).unwrap();
    (String::from_utf8(out).unwrap(), receipt)
}

/// A corpus with a mention of the first two tokens in each sentence that has them.
fn corpus_of(read: &Collected) -> Corpus {
    let mut corpus = Corpus::default();
    let label = corpus.labels().propose("PER");
    corpus.apply(Transaction::new("", vec![Edit::InsertLabel { at: 0, label }])).unwrap();
    for document in &read.documents {
        let sentence = |(at, s): (usize, &ImportedSentence)| {
            let span = Span::from_range(0..2).filter(|_| s.tokens.len() > 2);
            let mention = span.map(|span| Mention::new(MentionId(at as u64), span, LabelId(0), Provenance::Import));
            NewSentence { tokens: s.tokens.clone(), mentions: mention.into_iter().collect(), ..NewSentence::default() }
        };
        let sentences = document.sentences.iter().enumerate().map(sentence).collect();
        corpus
            .add_document(NewDocument {
                name: document.name.clone(),
                text: document.text.clone(),
                kept: Kept::new(),
                sentences,
            })
            .unwrap();
    }
    corpus
}

/// Everything that was read, for people.
fn show(read: &Collected) -> String {
    let mut lines = Vec::new();
    for document in &read.documents {
        lines.push(format!("{:?} {:?}", document.name, document.text));
        for sentence in &document.sentences {
            let tokens: Vec<_> = sentence.tokens.iter().map(|t| format!("{:?}", t.of(&document.text))).collect();
            let said = [sentence.status.map(|s| format!("{s:?}")), sentence.split.map(|s| format!("{s:?}"))];
            lines.push(format!("  {} {}", tokens.join(" "), said.into_iter().flatten().collect::<Vec<_>>().join(" ")));
            for mention in &sentence.mentions {
                let spans: Vec<_> = mention.fragments.iter().collect();
                let ImportedMention { label, score, attributes, note, .. } = mention;
                let mut line = format!("    {spans:?} {label}");
                if let Some(score) = score {
                    line += &format!(" {score}");
                }
                if !attributes.is_empty() || !note.is_empty() {
                    line += &format!(" {attributes:?} {note:?}");
                }
                lines.push(line);
            }
        }
    }
    let short = |text: String| text.replace(&format!("{}/", fixture("").display()).replace("//", "/"), "");
    lines.extend(read.notes.iter().map(|note| short(format!("note: {note}"))));
    lines.extend(read.warnings.iter().map(|warning| short(format!("warning: {warning}"))));
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}
