//! Words and sentence borders that reading an exported file does not find as they were: formats that hold the text
//! alone leave both to the reader.
//!
//! Places are counted in bytes that are no white space, since exports may change that.

use crate::format::{DocumentView, ImportedDocument, Loss, LossKind};
use crate::text::TextRange;
use crate::wording::counted;

/// Where words and sentences of texts are, one text after the other.
#[derive(Default)]
pub(in crate::session) struct Places {
    tokens: Vec<(usize, usize)>,
    sentence_starts: Vec<usize>,
    /// Of all texts so far.
    length: usize,
}

impl Places {
    pub(in crate::session) fn add(&mut self, document: &ImportedDocument) {
        let sentences = document.sentences.iter().map(|sentence| sentence.tokens.as_slice());
        self.add_text(&document.text, 0, sentences);
    }

    fn add_view(&mut self, view: &DocumentView<'_>) {
        for sentence in &view.sentences {
            self.add_text(sentence.text, sentence.start(), std::iter::once(sentence.tokens));
            self.length += visible(sentence.gap);
        }
    }

    /// `tokens` are ranges of a text in which `text` begins at `start`.
    fn add_text<'t>(&mut self, text: &str, start: usize, sentences: impl Iterator<Item = &'t [TextRange]>) {
        let (mut at, mut place) = (0, self.length);
        let mut place_of = |byte: usize| {
            let to = byte.saturating_sub(start);
            place += text.get(at..to).map_or(0, visible);
            at = to.max(at);
            place
        };
        for tokens in sentences {
            for (number, token) in tokens.iter().enumerate() {
                let from = place_of(token.start().get());
                self.tokens.push((from, place_of(token.end().get())));
                if number == 0 {
                    self.sentence_starts.push(from);
                }
            }
        }
        self.length += visible(text);
    }
}

fn visible(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum()
}

/// What of each document is not found as it was.
pub(in crate::session) fn losses<'c>(documents: impl Iterator<Item = DocumentView<'c>>, found: &Places) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut expected = Places::default();
    for (number, view) in (1..).zip(documents) {
        let start = expected.length;
        (expected.tokens, expected.sentence_starts) = (Vec::new(), Vec::new());
        expected.add_view(&view);
        let texts = view.sentences.iter().flat_map(|s| s.tokens).map(|token| token.of(view.text));
        let is_new = |token: &(usize, usize)| found.tokens.binary_search(token).is_err();
        let changed: Vec<&str> =
            expected.tokens.iter().zip(texts).filter(|(place, _)| is_new(place)).map(|(_, text)| text).collect();
        let loss = |words: String, kind| Loss {
            document: view.name.to_owned(),
            document_number: number,
            sentence: None,
            words,
            label: None,
            fragments: None,
            kind,
        };
        if let Some(first) = changed.first() {
            losses
                .push(loss(format!("{}, first {first}", counted(changed.len(), "token", "tokens")), LossKind::Tokens));
        }
        let starts = |places: &[usize]| {
            let from = places.partition_point(|place| *place <= start);
            let to = places.partition_point(|place| *place < expected.length);
            places.get(from..to.max(from)).unwrap_or_default().to_vec()
        };
        let (was, is) = (starts(&expected.sentence_starts), starts(&found.sentence_starts));
        let differing = was.iter().filter(|place| is.binary_search(place).is_err()).count()
            + is.iter().filter(|place| was.binary_search(place).is_err()).count();
        if differing > 0 {
            losses.push(loss(counted(differing, "sentence border", "sentence borders"), LossKind::SentenceBorders));
        }
    }
    losses
}
