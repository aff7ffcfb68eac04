//! Round trips over nasty text.

use crate::helpers::*;
use nestling::annotation::*;
use nestling::format::*;
use nestling::text::{SentenceSplit, TextRange, Tokens, split_sentences};
use proptest::prelude::*;

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
        let content = Content { labels: &[], definitions: &Kept::new(), documents: &mut views(&corpus, Shown::Gold, |_| true) };
        by_id("jsonl").unwrap().write(content, &Options::default(), &mut OneFile(&mut out)).unwrap();
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
pub(crate) const PIECES: &[&str] = &[
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

pub(crate) fn nasty_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..40).prop_map(|pieces| pieces.concat())
}

/// A document whose tokens are not those of our tokeniser, with mentions of every kind.
pub(crate) fn any_document() -> impl Strategy<Value = ImportedDocument> {
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
