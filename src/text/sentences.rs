//! Sentences: Unicode sentence boundaries (UAX #29), joined again after abbreviations, initials, ordinal numbers and
//! `"Well?" she said`, and cut where a dash or a year begins a sentence.
//!
//! F1 of sentence ends on held-out text, the sentences of each document joined by blanks (titles without a stop, which
//! nobody can find then, included):
//!
//! | | wikigold dev (en) | litbank test (en) | genia test (en) | germeval test (de) | danplus test (da) |
//! |---|---|---|---|---|---|
//! | this module | .971 | .984 | .980 | .976 | .954 |
//! | UAX #29 (`unicode-segmentation`, `icu_segmenter`: equal) | .975 | .976 | .961 | .935 | .902 |
//! | `srx` 0.1.4 with LanguageTool's rules, told the language | .969 | .976 | .942 | .969 | .908 |
//! | `sentencex` 0.1.33, told the language | .974 | .934 | .893 | .852 | .578 |
//!
//! So no library, though on Wikipedia all are equal (195 sentences): both that know abbreviations want the language
//! and bring `regex`; `sentencex` would rather join than cut, `srx` does 2 MB a second and its rules have a licence of
//! their own. `icu_segmenter` is ten times as fast as this module with its tokens, which does about 20 MB a second.

use super::abbreviations::{Abbreviation, abbreviation, is_ordinal, likes_to_begin};
use super::tokens::first_word;
use super::wrapping::Wrapping;
use super::{TextRange, Tokens};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// What ends a sentence besides its punctuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SentenceSplit {
    /// Every line is one sentence, whatever it holds.
    Lines,
    /// Punctuation, blank lines, and single line breaks that don't wrap a line, such as that after a headline.
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
    let wrapping = Wrapping::of(text);
    let mut sentences: Vec<Range<usize>> = Vec::new();
    let (mut start, mut from) = (0, 0);
    for piece in text.split_sentence_bounds() {
        let to = from + piece.len();
        let inner = breaks_inside(piece).into_iter().map(|at| from + at);
        for end in inner.chain([to]) {
            let end = past_closing_quote(text, start, before_opening(text, end));
            let (Some(sentence), Some(rest)) = (text.get(start..end), text.get(end..)) else { continue };
            if sentence.trim_end().is_empty() {
                start = end; // so that blanks are not looked at again and again
            } else if ends_here(sentence, rest, || wrapping.is_hard_break(start + sentence.trim_end().len() - 1, rest))
            {
                sentences.push(start..end);
                start = end;
            }
        }
        from = to;
    }
    sentences.push(start..text.len());
    sentences
}

/// Breaks that Unicode does not see, because a dash or a number comes next: `. – He`, `. 1976 began`.
fn breaks_inside(piece: &str) -> Vec<usize> {
    let stops = piece.match_indices(['.', '!', '?', '…']).filter_map(|(at, stop)| {
        let after = piece.get(at + stop.len()..)?.trim_start_matches(CLOSING);
        let next = after.strip_prefix(' ')?;
        let dash = ["- ", "– ", "— "].iter().find_map(|dash| next.strip_prefix(dash));
        let begins = match dash {
            Some(spoken) => spoken.starts_with(char::is_uppercase),
            None => is_year(next) && piece.get(..at).is_some_and(|before| is_plain(last_word(before))),
        };
        begins.then(|| piece.len() - next.len())
    });
    stops.collect()
}

/// LF, CR LF and CR.
fn line_breaks(blanks: &str) -> usize {
    blanks.matches('\n').count() + blanks.matches('\r').count() - blanks.matches("\r\n").count()
}

fn is_year(text: &str) -> bool {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    digits == 4 && text.get(digits..).is_some_and(|rest| rest.starts_with(' '))
}

/// A word or year after which a dot can only be a full stop.
fn is_plain(word: &str) -> bool {
    if word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    word.chars().count() > 2 && word.chars().all(|c| c.is_lowercase()) && abbreviation(word).is_none()
}

/// Unicode leaves an opening bracket with the sentence before it where no blank parts them.
fn before_opening(text: &str, end: usize) -> usize {
    const OPENING: &[char] = &['「', '『', '（', '【', '《', '〈', '(', '[', '„'];
    let before = text.get(..end).filter(|before| before.len() < text.len()).unwrap_or_default();
    if before.ends_with(OPENING) { before.trim_end_matches(OPENING).len() } else { end }
}

/// A quote that stands between blanks after a full stop closes what was opened before.
fn past_closing_quote(text: &str, start: usize, end: usize) -> usize {
    let (Some(sentence), Some(rest)) = (text.get(start..end), text.get(end..)) else { return end };
    let after = rest.trim_start_matches(['"', '\'', '’', '”', '“', '»']);
    let quotes = rest.strip_suffix(after).unwrap_or_default();
    let apart = sentence.ends_with(' ') && !quotes.is_empty() && after.starts_with(char::is_whitespace);
    if apart && quotes.chars().all(|quote| closes(quote, sentence)) {
        text.len() - after.trim_start_matches(' ').len()
    } else {
        end
    }
}

/// True when a quote of this kind between blanks closes what the sentence, or one before it, has opened.
fn closes(quote: char, sentence: &str) -> bool {
    let near = sentence.get(sentence.floor_char_boundary(sentence.len().saturating_sub(LONGEST_QUOTE))..);
    let near = near.unwrap_or_default();
    match quote {
        '“' => near.contains('„'), // in English it opens
        '\'' => near.starts_with('\'') || near.contains(" '"),
        _ => true,
    }
}

const CLOSING: &[char] = &['"', '\'', '’', '”', '“', '»', '«', ')', ']'];
/// What no line ends with that is whole.
const GOES_ON: &[char] = &[',', ';', '-', '–', '—', '(', '[', '/', '&', '،', '、', '，', '；'];
const STOPS: &[char] = &['.', '!', '?', '。', '！', '？', '…', '"', '”', ':'];

/// Whether a sentence may end where `rest` begins; `is_hard_break` is asked where a single line break is all that says so.
fn ends_here(sentence: &str, rest: &str, is_hard_break: impl FnOnce() -> bool) -> bool {
    let body = sentence.trim_end();
    let blanks = sentence.get(body.len()..).unwrap_or_default();
    let breaks = line_breaks(blanks);
    if rest.starts_with(['\n', '\r']) || breaks > 1 || blanks.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return true;
    }
    if breaks == 1 && (is_bullet(rest) || !body.ends_with(STOPS)) {
        return is_bullet(rest) || (!body.ends_with(GOES_ON) && is_hard_break());
    }
    let next = first_word(
        rest.trim_start_matches(|c: char| c.is_whitespace() || CLOSING.contains(&c) || "([„‘-–—".contains(c)),
    );
    let quoted = body.trim_end_matches(|c: char| c.is_whitespace() || CLOSING.contains(&c));
    if quoted.ends_with(['!', '?', '.', '…']) && rest.starts_with(char::is_lowercase) {
        return false; // `"Well?" she said`
    }
    quoted.len() < body.len() || body.strip_suffix('.').is_none_or(|stem| dot_ends(stem, next))
}

/// Whether the dot after `stem` is a full stop, with `next` the word after it.
fn dot_ends(stem: &str, next: &str) -> bool {
    let word = last_word(stem);
    let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    if number {
        let before = stem.get(..stem.len() - word.len()).unwrap_or_default().trim_end();
        let listed = before.is_empty() && word.len() <= 2; // `1. Introduction`
        let parted = word.len() < 4 && next.starts_with(|c: char| c.is_ascii_digit()); // `0. 01`
        return !(listed || parted || is_ordinal(last_word(before), word, next));
    }
    match abbreviation(word) {
        Some(Abbreviation::GoesOn) => false,
        Some(Abbreviation::BeforeNumber) => !next.starts_with(char::is_numeric),
        Some(Abbreviation::MayEnd) => next.is_empty() || likes_to_begin(next),
        Some(Abbreviation::Ends) => true,
        None => word.chars().count() != 1 || !word.starts_with(char::is_lowercase), // `z. B.`
    }
}

/// The line begins an item of a list.
fn is_bullet(line: &str) -> bool {
    ["- ", "* ", "• ", "– ", "· "].iter().any(|bullet| line.starts_with(bullet))
}

/// How far back an open quote is looked for, in bytes.
const LONGEST_QUOTE: usize = 2000;

/// Longer words are no abbreviations and no numbers that matter.
const LOOK_BACK: usize = 40;

/// What follows the last blank or opening bracket.
fn last_word(text: &str) -> &str {
    let near = text.get(text.floor_char_boundary(text.len().saturating_sub(LOOK_BACK))..).unwrap_or_default();
    near.rsplit(|c: char| c.is_whitespace() || "([\"“„'’«*".contains(c)).next().unwrap_or_default()
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
    fn a_headline_stays_apart_and_wrapped_lines_go_on() {
        check(
            "Harbour opens again\nAnna met Bo at noon. It rained.",
            SentenceSplit::Prose,
            expect![[r#"
            Harbour opens again
            Anna met Bo at noon .
            It rained ."#]],
        );
        let wrapped = "Harbour opens again\r\nThe mayor met the board of the harbour of Aarhus at noon and\r\n\
            Anna Berg said that all was well, for the new quay of the\r\nHarbour was ready.\r\nMore about it:\r\nPage 3";
        check(
            wrapped,
            SentenceSplit::Prose,
            expect![[r#"
            Harbour opens again
            The mayor met the board of the harbour of Aarhus at noon and Anna Berg said that all was well , for the new quay of the Harbour was ready .
            More about it :
            Page 3"#]],
        );
        check(
            "港口重新开放\n安娜中午在港口遇见了博。下雨了。",
            SentenceSplit::Prose,
            expect![[r#"
            港 口 重 新 开 放
            安 娜 中 午 在 港 口 遇 见 了 博 。
            下 雨 了 。"#]],
        );
        let wrapped =
            "港口重新开放\n安娜中午在港口遇见了博和他的老\n朋友们他们谈了很久关于新的码头\n工程的事情。下雨了。";
        check(
            wrapped,
            SentenceSplit::Prose,
            expect![[r#"
            港 口 重 新 开 放
            安 娜 中 午 在 港 口 遇 见 了 博 和 他 的 老 朋 友 们 他 们 谈 了 很 久 关 于 新 的 码 头 工 程 的 事 情 。
            下 雨 了 。"#]],
        );
        let unwrapped =
            "It rained all day.\nShe met the mayor of\nAarhus in May.\n\nMayor steps out\nBy Anna Berg\nHe left.";
        check(
            unwrapped,
            SentenceSplit::Prose,
            expect![[r#"
                It rained all day .
                She met the mayor of Aarhus in May .
                Mayor steps out
                By Anna Berg
                He left ."#]],
        );
        check(
            "Roses,\nViolets and\nLilies\n",
            SentenceSplit::Prose,
            expect![[r#"
            Roses , Violets and
            Lilies"#]],
        );
        check(
            "Title\rAnna came. Bo left.\r",
            SentenceSplit::Prose,
            expect![[r#"
            Title
            Anna came .
            Bo left ."#]],
        );
    }

    #[test]
    fn abbreviations_initials_and_numbers_end_no_sentence() {
        check(
            "Mr. J. K. Berg of Acme Inc. Denmark paid No. 5 on Dec. 3. The U.S. Army left. The U.S. He saw it, etc. Now.",
            SentenceSplit::Prose,
            expect![[r#"
                Mr. J. K. Berg of Acme Inc. Denmark paid No. 5 on Dec. 3 .
                The U.S. Army left .
                The U.S.
                He saw it , etc.
                Now ."#]],
        );
        check(
            "Am 3. Oktober, d. h. im 20. Jahrhundert, kam z. B. Dr. Kahn mit 5 Mio. Euro. Er ging 1990. 1995 kam er.",
            SentenceSplit::Prose,
            expect![[r#"
                Am 3. Oktober , d. h. im 20. Jahrhundert , kam z. B. Dr. Kahn mit 5 Mio. Euro .
                Er ging 1990 .
                1995 kam er ."#]],
        );
        check(
            "Det var f.eks. Karen den 5. maj. Hun gik. – Ja, sagde han.",
            SentenceSplit::Prose,
            expect![[r#"
                Det var f.eks. Karen den 5. maj .
                Hun gik .
                – Ja , sagde han ."#]],
        );
        check(
            "Vitamin C. The I. It cost 0.5 km... Then 1. Introduction",
            SentenceSplit::Prose,
            expect![[r#"
            Vitamin C .
            The I .
            It cost 0.5 km ...
            Then 1 .
            Introduction"#]],
        );
    }

    #[test]
    fn quotes_stay_with_their_sentence() {
        check(
            "\"Well?\" she said. \"It rained.\" He left.",
            SentenceSplit::Prose,
            expect![[r#"
            " Well ? " she said .
            " It rained . "
            He left ."#]],
        );
        check(
            "\" It rained . \" He left . “ Why ? ” he said .",
            SentenceSplit::Prose,
            expect![[r#"
                " It rained . "
                He left .
                “ Why ? ” he said ."#]],
        );
        check(
            "„Es regnet.“ Er ging. «Il pleut.» Il part.",
            SentenceSplit::Prose,
            expect![[r#"
            „ Es regnet . “
            Er ging .
            « Il pleut . »
            Il part ."#]],
        );
    }

    #[test]
    fn lists_lines_and_other_scripts() {
        check(
            "He bought:\n- two apples\n- a pear\nand went\nhome.",
            SentenceSplit::Prose,
            expect![[r#"
            He bought :
            - two apples
            - a pear and went home ."#]],
        );
        check(
            "今天下雨。他走了！「好。」不。",
            SentenceSplit::Prose,
            expect![[r#"
                今 天 下 雨 。
                他 走 了 ！
                「 好 。 」
                不 。"#]],
        );
        check(
            "यह है। वह गया। هل ذهب؟ نعم.",
            SentenceSplit::Prose,
            expect![[r#"
            यह है ।
            वह गया ।
            هل ذهب ؟
            نعم ."#]],
        );
    }

    #[test]
    fn odd_texts_take_no_longer_than_others() {
        // Each of these once was, or nearly was, read again from its start for every piece.
        for piece in ["...", "\n", "Mr.\u{2029}", "\r\n. \" ", "\" . ", "A. ", "a@", "🇩🇰", "- . – A", "http://a("]
        {
            let text = piece.repeat(200_000 / piece.len());
            let started = std::time::Instant::now();
            split_sentences(&text, SentenceSplit::Prose, Tokens::Words);
            assert!(started.elapsed().as_secs() < 5, "{piece:?}: {:?}", started.elapsed());
        }
    }

    #[test]
    fn every_token_of_the_text_is_in_one_sentence() {
        let text = "\n\n One. \" Two!  \r\n\r\n- 3. x\u{2029}y… . – Z\n";
        let sentences = split_sentences(text, SentenceSplit::Prose, Tokens::Words).concat();
        assert_eq!(sentences, Tokens::Words.of(text));
    }

    #[test]
    fn lines_stay_lines() {
        check("One. Two.\r\n\r\nthree\n", SentenceSplit::Lines, expect!["One . Two .\nthree"]);
    }
}
