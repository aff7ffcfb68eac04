//! What offsets count is found out from the file: the same mentions counted in every way give the same words.

use crate::helpers::*;
use expect_test::expect;
use nestling::format::*;
use nestling::text::character_ends;
use std::ops::Range;

/// Texts with characters that count differently, and the words that are mentions.
const TEXTS: &[(&str, &[&str])] = &[
    ("😀 Ida met Bo Olm.", &["Ida", "Bo Olm"]),
    ("Zoë and 👩\u{200d}🚀 Bo Olm\r\nsaw Ida.", &["Zoë", "Bo Olm", "Ida"]),
    ("e\u{301}te\u{301} came.\r\nZoë left, Bo Olm stayed.", &["Zoë", "Bo Olm"]),
];

#[derive(Clone, Copy)]
struct Way {
    unit: &'static str,
    joins_crlf: bool,
    is_inclusive: bool,
}

impl Way {
    /// The number of a byte position, by counting what is before it.
    fn count(self, before: &str) -> usize {
        let text = if self.joins_crlf { before.replace("\r\n", "\n") } else { before.to_owned() };
        match self.unit {
            "chars" => text.chars().count(),
            "utf16" => text.encode_utf16().count(),
            "bytes" => text.len(),
            _ => character_ends(&text).count(),
        }
    }

    fn pair(self, text: &str, range: &Range<usize>) -> (usize, usize) {
        let end = self.count(&text[..range.end]) - usize::from(self.is_inclusive);
        (self.count(&text[..range.start]), end)
    }
}

fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for unit in ["chars", "utf16", "bytes", "graphemes"] {
        for (joins_crlf, is_inclusive) in [(false, false), (true, false), (false, true), (true, true)] {
            if unit != "graphemes" || joins_crlf {
                ways.push(Way { unit, joins_crlf, is_inclusive });
            }
        }
    }
    ways
}

fn ranges(text: &str, words: &[&str]) -> Vec<Range<usize>> {
    words.iter().map(|word| text.find(word).map(|at| at..at + word.len()).unwrap()).collect()
}

/// The words of all mentions.
fn words(read: &Collected) -> Vec<String> {
    let mut words = Vec::new();
    for document in &read.documents {
        let view = document.view();
        for sentence in &view.sentences {
            for mention in &sentence.mentions {
                let bytes = sentence.bytes(mention.fragments.hull().range()).unwrap();
                words.push(document.text[bytes].to_owned());
            }
        }
    }
    words
}

fn lines_of(way: Way, mention: impl Fn(&str, (usize, usize)) -> serde_json::Value, key: &str) -> String {
    let line = |(text, words): &(&str, &[&str])| {
        let mentions: Vec<_> =
            ranges(text, words).iter().map(|r| mention(&text[r.clone()], way.pair(text, r))).collect();
        serde_json::json!({"text": text, key: mentions}).to_string() + "\n"
    };
    TEXTS.iter().map(line).collect()
}

fn all_words() -> Vec<&'static str> {
    TEXTS.iter().flat_map(|(_, words)| words.iter().copied()).collect()
}

#[test]
fn every_way_of_counting_is_found_by_the_edges_of_words() {
    for way in ways() {
        let lines = lines_of(way, |_, (start, end)| serde_json::json!([start, end, "X"]), "label");
        let read = read("jsonl", lines, &[]).unwrap();
        assert_eq!(words(&read), all_words(), "{} {} {}", way.unit, way.joins_crlf, way.is_inclusive);
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        assert!(read.documents.iter().flat_map(|d| &d.sentences).all(|s| s.status.is_none()));
    }
}

#[test]
fn the_option_forces_a_unit() {
    for way in ways().into_iter().filter(|way| !way.joins_crlf || way.unit == "graphemes") {
        let lines =
            lines_of(way, |_, (start, end)| serde_json::json!({"start": start, "end": end, "label": "X"}), "spans");
        let end = if way.is_inclusive { "inclusive" } else { "exclusive" };
        let told = read("jsonl", lines, &[("offsets", way.unit), ("end", end)]).unwrap();
        assert_eq!(words(&told), all_words(), "{}", way.unit);
    }
    let line = r#"{"text":"😀 Ida met Bo Olm.","label":[[3,6,"PER"],[11,17,"PER"]]}"#;
    assert_eq!(words(&read("jsonl", line, &[("offsets", "chars")]).unwrap()), ["da", "o Olm."]);
}

#[test]
fn what_was_found_is_told_with_the_evidence() {
    let line = r#"{"text":"😀 Ida met Bo Olm.","label":[[3,6,"PER"],[11,17,"PER"]]}"#;
    let inclusive = r#"{"text":"Ida met Bo Olm. It rained.","label":[[0,2,"PER"],[8,13,"PER"]]}"#;
    let shown = [line, inclusive].map(|line| show(&read("jsonl", line, &[]).unwrap()));
    expect![[r#"
        "input-1" "😀 Ida met Bo Olm."
          "😀" "Ida" "met" "Bo" "Olm" "."
            [1..2] PER
            [3..5] PER
        note: 1 line counts characters: places were read as UTF-16 units, the end being the one after the last, because then 2 of 2 places are whole words or what is quoted there, and as Unicode code points with exclusive ends 0; else set the options offsets=chars and end=exclusive: input

        "input-1" "Ida met Bo Olm. It rained."
          "Ida" "met" "Bo" "Olm" "."
            [0..1] PER
            [2..4] PER
          "It" "rained" "."
        note: read as prose, because 1 line of 1 hold several sentences; the option unit=lines reads it the other way: input
        note: 1 line counts characters: places were read as Unicode code points, the end being the last one, because then 2 of 2 places are whole words or what is quoted there, and as Unicode code points with exclusive ends 0; else set the options offsets=chars and end=exclusive: input"#]].assert_eq(&shown.join("\n\n"));
}

#[test]
fn quotes_prove_the_counting_of_their_own_line() {
    // Two programs' exports in one file, the Chinese of which has no words to go by.
    let quote =
        |words: &str, (start, end)| serde_json::json!({"start": start, "end": end, "label": "X", "text": words});
    let text = "😀北京大学在上海。";
    let lines: Vec<String> = ["chars", "utf16", "bytes", "utf16"]
        .map(|unit| {
            let pair = Way { unit, joins_crlf: false, is_inclusive: false }.pair(text, &ranges(text, &["上海"])[0]);
            serde_json::json!({"text": text, "spans": [quote("上海", pair)]}).to_string()
        })
        .to_vec();
    let read_all = read("jsonl", lines.join("\n"), &[]).unwrap();
    assert_eq!(words(&read_all), ["上海"; 4]);
    expect![[r#"
        4 lines count characters: places were read as Unicode code points, the end being the one after the last: input
        2 lines were read as UTF-16 units, as the words that are quoted are there then, first line 2: input
        1 line was read as bytes, as the words that are quoted are there then, first line 3: input"#]]
    .assert_eq(&read_all.notes.join("\n"));

    let tokens = r#"{"text":"😀 Ida 上海","tokens":[{"text":"😀","start":0,"end":2,"id":0},{"text":"Ida","start":3,"end":6,"id":1},{"text":"上海","start":7,"end":9,"id":2}],"spans":[{"start":7,"end":9,"label":"X"}]}"#;
    let read_tokens = read("jsonl", tokens, &[]).unwrap();
    assert_eq!((words(&read_tokens), read_tokens.warnings), (vec!["上海".to_owned()], vec![]));

    let nowhere = r#"{"text":"😀 Ida met Bo.","spans":[{"start":3,"end":6,"label":"X","text":"Ida"},{"start":8,"end":10,"label":"X","text":"Bo"}]}"#;
    let read_nowhere = read("jsonl", nowhere, &[]).unwrap();
    assert_eq!(words(&read_nowhere), ["Ida"]);
    assert_eq!(read_nowhere.warnings.len(), 1, "{:?}", read_nowhere.warnings);
}

#[test]
fn what_nobody_can_tell_stops_and_names_the_option_or_is_listed() {
    let line = |unit| {
        let way = Way { unit, joins_crlf: false, is_inclusive: false };
        let (text, words) = TEXTS[0];
        let pairs: Vec<_> = ranges(text, words).iter().map(|range| way.pair(text, range)).collect();
        let mentions: Vec<_> = pairs.iter().map(|(start, end)| serde_json::json!([start, end, "X"])).collect();
        serde_json::json!({"text": text, "label": mentions}).to_string() + "\n"
    };
    // As many of the one as of the other, and nothing quoted.
    let mixed = format!("{}{}", line("chars").repeat(5), line("utf16").repeat(5));
    let error = read("jsonl", mixed, &[]).unwrap_err().to_string();
    expect!["it is unclear what the offsets count: of 20 places those that are whole words are 10 in Unicode code points, 10 in UTF-16 units, 0 in bytes and 10 in grapheme clusters; the first that is none: 3-6 (line 6); set the option offsets=chars, utf16, bytes or graphemes: input"].assert_eq(&error);
    // One that is off everywhere, among many that are not.
    let mut few = line("chars").repeat(20);
    few += r#"{"text":"Ida met Bo Olm.","label":[[1,4,"X"]]}"#;
    let few = read("jsonl", few, &[]).unwrap();
    expect![[r#"line 21: the mention 1-4 (X) is "da " (counted in Unicode code points) and begins or ends in the middle of a word, so its sentence is not complete; if places count something else, set the option offsets=chars, utf16, bytes or graphemes: input"#]].assert_eq(&few.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    assert_eq!(few.documents[20].sentences[0].status, Some(nestling::annotation::Status::InProgress));
}

#[test]
fn code_points_stay_where_nothing_contradicts_them() {
    let check = |text: &str, start: usize, end: usize| {
        let read =
            read("jsonl", serde_json::json!({"text": text, "label": [[start, end, "X"]]}).to_string(), &[]).unwrap();
        (words(&read).pop().unwrap(), read.notes[0].contains("Unicode code points"), read.warnings.len())
    };
    let found = |word: &str| (word.to_owned(), true, 0);
    // Parts of words are no contradiction; what fits another unit as well is told.
    assert_eq!(check("Annas bok 😀", 0, 4), found("Anna"));
    assert_eq!(check("😀 unhappy Ida", 4, 9), found("happy"));
    assert_eq!(check("😀 서울에서 왔다", 2, 4), found("서울"));
    assert_eq!(check("😀北京大学在上海。", 3, 5), found("大学"));
    let told = read("jsonl", r#"{"text":"😀北京大学在上海。","label":[[3,5,"X"]]}"#, &[]).unwrap().notes;
    assert!(told[0].contains("the option offsets=utf16"), "{told:?}");
}

#[test]
fn a_stream_learns_from_its_lines() {
    let plain = r#"{"text":"Ida met Bo Olm.","label":[[0,3,"X"]]}"#;
    let utf16 = r#"{"text":"😀 Ida met Bo Olm.","label":[[3,6,"X"],[11,17,"X"]]}"#;
    let chars = r#"{"text":"😀 Ida met Bo Olm.","label":[[2,5,"X"],[10,16,"X"]]}"#;
    let plain = format!("{plain}\n").repeat(8000);
    let stream = |text: String| Input::stream("input", std::io::Cursor::new(text.into_bytes())).unwrap();
    let late = read_input("jsonl", stream(format!("{plain}{utf16}\n")), &[]).unwrap();
    assert_eq!(words(&late)[8000..], ["Ida", "Bo Olm"]);
    let changed = format!("{plain}{}{}", format!("{chars}\n").repeat(2), format!("{utf16}\n").repeat(40));
    let error = read_input("jsonl", stream(changed), &[]).unwrap_err().to_string();
    assert!(error.contains("offsets=chars, utf16, bytes or graphemes"), "{error}");
}

#[test]
fn brat_is_read_in_every_way_with_quotes_and_without() {
    for (way, quotes) in ways().into_iter().flat_map(|way| [(way, true), (way, false)]) {
        for (text, names) in TEXTS {
            let line = |(at, range): (usize, &Range<usize>)| {
                let (start, end) = way.pair(text, range);
                let quoted = if quotes { format!("\t{}", &text[range.clone()]) } else { String::new() };
                format!("T{at}\tX {start} {end}{quoted}\n")
            };
            let annotations: String = (1..).zip(&ranges(text, names)).map(line).collect();
            let dir = tempfile::TempDir::new().unwrap();
            std::fs::write(dir.path().join("a.txt"), text).unwrap();
            std::fs::write(dir.path().join("a.ann"), annotations).unwrap();
            let read = read_file("brat", &dir.path().join("a.ann"), &[]).unwrap();
            assert_eq!(words(&read), *names, "{} {} {quotes}", way.unit, way.is_inclusive);
            assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        }
    }
}

#[test]
fn offsets_of_tokens_may_count_other_units() {
    let line = r#"{"text":"😀 aa a","tokens":["a","a"],"offsets":[[4,5],[6,7]],"entities":[]}"#;
    let read = read("jsonl", line, &[]).unwrap();
    let document = &read.documents[0];
    let places: Vec<_> = document.sentences[0].tokens.iter().map(|token| token.bytes()).collect();
    assert_eq!((places, read.warnings), (vec![6..7, 8..9], vec![]));
}
