//! Sentences by Unicode sentence boundaries (UAX #29), joined again after an abbreviation or an initial.

use super::tokens::is_abbreviation;
use super::{TextRange, Tokens};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// What ends a sentence besides its punctuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SentenceSplit {
    /// Every line is one sentence, whatever it holds.
    Lines,
    /// Punctuation and blank lines; a single line break is white space (wrapped text).
    Prose,
}

/// The tokens of each sentence of `text`; a sentence without tokens is left out.
pub fn split_sentences(text: &str, split: SentenceSplit, tokens: Tokens) -> Vec<Vec<TextRange>> {
    let pieces = match split {
        SentenceSplit::Lines => lines(text),
        SentenceSplit::Prose => prose(text),
    };
    pieces.into_iter().map(|piece| tokens_in(text, piece, tokens)).filter(|found| !found.is_empty()).collect()
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            start..at
        })
        .collect()
}

fn prose(text: &str) -> Vec<Range<usize>> {
    let mut sentences: Vec<Range<usize>> = Vec::new();
    let mut open = false; // the last piece does not end its sentence
    for (start, piece) in text.split_sentence_bound_indices() {
        let end = start + piece.len();
        match sentences.last_mut() {
            Some(last) if open => last.end = end,
            _ => sentences.push(start..end),
        }
        let paragraph_ends = text.get(end..).is_some_and(|rest| rest.starts_with(['\n', '\r']));
        let whole = sentences.last().and_then(|s| text.get(s.clone())).unwrap_or_default();
        open = !paragraph_ends && (is_wrapped(whole) || ends_in_abbreviation(whole));
    }
    sentences
}

/// True for a piece that stops at a line break only because UAX #29 ends a paragraph there.
fn is_wrapped(piece: &str) -> bool {
    let body = piece.trim_end();
    let tail = piece.get(body.len()..).unwrap_or_default();
    let breaks = tail.matches('\n').count();
    breaks == 1 && !body.ends_with(['.', '!', '?', '。', '！', '？', '…', '"', '”', ':'])
}

fn ends_in_abbreviation(piece: &str) -> bool {
    let body = piece.trim_end();
    body.ends_with('.')
        && body
            .rsplit(char::is_whitespace)
            .next()
            .is_some_and(|word| is_abbreviation(word.trim_start_matches(['(', '"', '“'])))
}

fn tokens_in(text: &str, piece: Range<usize>, tokens: Tokens) -> Vec<TextRange> {
    let part = text.get(piece.clone()).unwrap_or_default();
    tokens
        .of(part)
        .into_iter()
        .filter_map(|t| TextRange::in_text(text, piece.start + t.start().get()..piece.start + t.end().get()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, split: SentenceSplit, want: Expect) {
        let sentences = split_sentences(text, split, Tokens::Words);
        let shown: Vec<_> =
            sentences.iter().map(|s| s.iter().map(|t| t.of(text)).collect::<Vec<_>>().join(" ")).collect();
        want.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn prose_ends_at_punctuation_and_blank_lines() {
        check(
            "Dr. Berg met J. Kahn. They spoke\nfor an hour.\n\nA headline\n\nIt rained.",
            SentenceSplit::Prose,
            expect![[r#"
                Dr. Berg met J. Kahn .
                They spoke for an hour .
                A headline
                It rained ."#]],
        );
    }

    #[test]
    fn lines_stay_lines() {
        check("One. Two.\r\n\r\nthree\n", SentenceSplit::Lines, expect!["One . Two .\nthree"]);
    }
}
