//! Words as an annotator expects them: Unicode word boundaries (UAX #29), with these changes.
//!
//! Whole, though Unicode cuts them:
//! - web and mail addresses, `@names`, `#tags`; times (`10:30`); `C++`, `C#`, `.NET`, `US$`, `'n'`;
//! - the dot of an abbreviation, an initial or an ordinal number stays with it (`Dr.`, `z.B.`, `J.`, `3. Oktober`);
//! - repeated punctuation is one token (`...`, `--`, `!!`).
//!
//! Cut, though Unicode leaves them whole:
//! - a possessive `'s`, so that "Anna" can be marked in "Anna's"; an elided article, so that the noun can (`l'|homme`,
//!   `dell'|arte`); other apostrophes stay inside (`don't`, `O'Brien`);
//! - at `_` and `:` (gene and file names, Swedish `EU:s`), and where a blank is missing after a dot (`Mr.|Bean`);
//! - scripts without blanks into grapheme clusters, katakana too, so that any span of them can be marked. Korean parts
//!   its words with blanks and keeps them; a mention whose edge falls inside a word cuts it.
//!
//! Hyphens and slashes are tokens of their own (`AHU|-|G1`, `km|/|h`), since nested mentions often end there; numbers
//! and their units stay as they are written (`1,000.50`, `10km`, `5|%`). A piece without anything visible (a zero-width
//! space, a byte order mark, a control character) is no token, and none begins or ends inside a grapheme cluster.

use super::abbreviations::{Abbreviation, abbreviation, is_ordinal, likes_to_begin};
use super::inside::cuts;
use super::scripts::is_unspaced;
use super::web::addresses;
use super::{ByteIdx, TextRange};
use std::ops::Range;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// The tokens of `text`: non-empty, ascending, disjoint, on grapheme cluster boundaries.
///
/// Linear in the length of the text.
pub fn tokenize(text: &str) -> Vec<TextRange> {
    let mut tokenizer = Tokenizer { text, tokens: Vec::with_capacity(text.len() / 5) };
    let mut at = 0;
    for address in addresses(text) {
        if address.start >= at && is_boundary(text, address.start) && is_boundary(text, address.end) {
            tokenizer.words(at..address.start);
            tokenizer.push(address.clone());
            at = address.end;
        }
    }
    tokenizer.words(at..text.len());
    tokenizer.tokens
}

/// What is between blanks, for a text that was tokenised before (`He 's here .`): split at Unicode white space only.
/// Whoever tokenised it made a token of each piece, also of one without anything visible (a control character); only a
/// byte order mark at the start belongs to none.
pub fn tokenize_blanks(text: &str) -> Vec<TextRange> {
    let mut start = 0;
    let mut tokens = Vec::new();
    let parts = |(at, c): &(usize, char)| c.is_whitespace() || (*at == 0 && *c == '\u{feff}');
    for (at, c) in text.char_indices().filter(parts).chain([(text.len(), ' ')]) {
        tokens.extend(TextRange::in_text(text, start..at));
        start = at + c.len_utf8();
    }
    tokens
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tokens {
    /// Words and punctuation, see [`tokenize`].
    #[default]
    Words,
    /// Whatever stands between blanks, see [`tokenize_blanks`].
    Blanks,
}

impl Tokens {
    pub fn of(self, text: &str) -> Vec<TextRange> {
        match self {
            Self::Words => tokenize(text),
            Self::Blanks => tokenize_blanks(text),
        }
    }
}

/// Where the characters end that people see (UAX #29 grapheme clusters), in bytes; the last one is the text's end.
pub fn character_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.grapheme_indices(true).map(|(at, character)| at + character.len())
}

struct Tokenizer<'t> {
    text: &'t str,
    tokens: Vec<TextRange>,
}

impl Tokenizer<'_> {
    fn push(&mut self, range: Range<usize>) {
        self.tokens.extend(TextRange::in_text(self.text, range));
    }

    /// Tokens of a part of the text that begins and ends at cluster boundaries.
    fn words(&mut self, part: Range<usize>) {
        let text = self.text;
        let Some(words) = text.get(part.clone()) else { return };
        let mut start = part.start;
        for (at, word) in words.split_word_bound_indices() {
            let end = part.start + at + word.len();
            // A word boundary inside a cluster is none here; what a piece has taken beyond its end is done.
            if end <= start || !text.get(start..).is_some_and(|rest| is_boundary(rest, end - start)) {
                continue;
            }
            start = self.piece(start..end);
        }
    }

    /// Takes a piece between word boundaries, and perhaps more; returns where the next one starts.
    fn piece(&mut self, range: Range<usize>) -> usize {
        let (Some(piece), Some(after)) = (self.text.get(range.clone()), self.text.get(range.end..)) else {
            return range.end;
        };
        let first = piece.chars().next().unwrap_or(' ');
        // What is taken beyond the piece ends between characters, too: `C++` with an accent on the last plus is cut.
        let is_whole = |more: &usize| {
            let rest = self.text.get(range.start..).unwrap_or_default();
            is_boundary(rest, piece.len() + *more)
        };
        if first.is_ascii_alphanumeric() {
            self.parts(piece, range.start);
        } else if is_unspaced(first) {
            self.clusters(range.clone());
        } else if let Some(more) = self.belongs_to_last(piece, range.start, after).filter(is_whole) {
            self.grow_last(range.end + more);
            return range.end + more;
        } else if let Some(more) = begins_more(self.before(range.start), piece, after).filter(is_whole) {
            self.push(range.start..range.end + more);
            return range.end + more;
        } else if piece.chars().any(is_visible) {
            self.parts(piece, range.start);
        }
        range.end
    }

    fn clusters(&mut self, range: Range<usize>) {
        let mut at = range.start;
        for cluster in self.text.get(range).unwrap_or_default().graphemes(true) {
            self.push(at..at + cluster.len());
            at += cluster.len();
        }
    }

    fn parts(&mut self, piece: &str, start: usize) {
        let mut from = 0;
        if piece.contains(['_', ':', '.', '\'', '’']) {
            for to in cuts(piece) {
                if is_boundary(piece, to) {
                    self.push(start + from..start + to);
                    from = to;
                }
            }
        }
        self.push(start + from..start + piece.len());
    }

    fn before(&self, at: usize) -> &str {
        self.text.get(..at).unwrap_or_default()
    }

    /// Whether `piece` goes on the token right before it, and how many bytes after `piece` do as well.
    fn belongs_to_last(&self, piece: &str, start: usize, after: &str) -> Option<usize> {
        let sign = piece.chars().next().filter(|c| piece.len() == c.len_utf8() && !c.is_alphanumeric())?;
        let last = self.tokens.last().filter(|last| last.end().get() == start)?.of(self.text);
        let belongs = match sign {
            // Only runs begin with two of these, so that a long one need not be read again for each of its signs.
            _ if is_repeated(sign) && last.ends_with(sign) => last.chars().take(2).all(|c| c == sign),
            '.' => !after.starts_with('.') && self.takes_dot(last, after),
            '$' => last.len() <= 3 && last.bytes().all(|b| b.is_ascii_uppercase()),
            '#' => is_one_capital(last) && !after.starts_with(char::is_alphanumeric),
            '+' if after.starts_with('+') && !after.starts_with("++") && last.chars().all(char::is_alphabetic) => {
                return Some(1);
            }
            ':' => return minutes(last, after),
            _ => false,
        };
        belongs.then_some(0)
    }

    fn takes_dot(&self, word: &str, after: &str) -> bool {
        let next = first_word(after);
        match abbreviation(word) {
            Some(Abbreviation::BeforeNumber) => next.starts_with(char::is_numeric),
            // `vitamin C. The`: a letter at the end of its sentence is no initial.
            Some(Abbreviation::MayEnd) if word.chars().count() == 1 => !next.is_empty() && !likes_to_begin(next),
            Some(_) => true,
            None if word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()) => {
                let before = self.tokens.iter().rev().nth(1).map_or("", |t| t.of(self.text));
                after.starts_with(' ') && is_ordinal(before, word, next)
            }
            None => word.chars().count() == 1 && word.starts_with(char::is_lowercase) && self.is_spaced_letter(after),
        }
    }

    /// `z. B.`, `i. d. R.`: single letters with dots on either side.
    fn is_spaced_letter(&self, after: &str) -> bool {
        let mut next = after.trim_start_matches([' ', '\u{a0}', '\u{202f}']).chars();
        let goes_on = next.next().is_some_and(char::is_alphabetic) && next.next() == Some('.');
        let before = self.tokens.iter().rev().nth(1).map_or("", |t| t.of(self.text));
        goes_on || before.ends_with('.') && before.chars().count() == 2 && before.starts_with(char::is_alphabetic)
    }

    fn grow_last(&mut self, end: usize) {
        if let Some(last) = self.tokens.last_mut() {
            *last = TextRange::new(last.start(), ByteIdx::new(end)).unwrap_or(*last);
        }
    }
}

/// `.NET`, `.5` and `'n'`: how much a sign takes of what follows it.
fn begins_more(before: &str, piece: &str, after: &str) -> Option<usize> {
    match piece {
        "." if stands_apart(before) => {
            let word = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            let len = after.len() - word.len();
            let begins = after.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
            (begins && is_boundary(after, len)).then_some(len)
        }
        "'" | "’" | "‘" if stands_apart(before) => {
            ["n'", "n’"].iter().find(|n| after.starts_with(*n)).and_then(|n| {
                let ends = after.get(n.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
                ends.then_some(n.len())
            })
        }
        _ => None,
    }
}

fn stands_apart(before: &str) -> bool {
    !before.ends_with(|c: char| !c.is_whitespace() && !matches!(c, '(' | '[' | '$' | '€' | '£' | '/' | '-'))
}

/// `10:30`: digits on both sides of a colon; how many of them follow it.
fn minutes(last: &str, after: &str) -> Option<usize> {
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_time = last.ends_with(|c: char| c.is_ascii_digit()) && digits == 2;
    (is_time && is_boundary(after, digits) && !after.get(digits..)?.starts_with(char::is_alphabetic)).then_some(digits)
}

fn is_repeated(sign: char) -> bool {
    matches!(sign, '.' | '-' | '!' | '?' | '=' | '*' | '~' | '\'' | '`' | '…')
}

fn is_one_capital(word: &str) -> bool {
    word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The letters and digits after some blanks.
pub(super) fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

fn is_visible(c: char) -> bool {
    let invisible = c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !invisible
}

/// True where no grapheme cluster is cut. Looks back over the clusters of emoji and flags before `at`, so hand in a
/// text that begins close by.
fn is_boundary(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let plain = |at: usize| bytes.get(at).is_none_or(|b| b.is_ascii() && !b.is_ascii_control());
    at == 0
        || plain(at - 1) && plain(at)
        || text.is_char_boundary(at) && GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0) == Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, want: Expect) {
        want.assert_eq(&tokenize(text).iter().map(|t| t.of(text)).collect::<Vec<_>>().join("|"));
    }

    #[test]
    fn words_and_their_punctuation() {
        check(
            "Dr. Anna Berg's IL-2 cost $3.5, don't you?",
            expect!["Dr.|Anna|Berg|'s|IL|-|2|cost|$|3.5|,|don't|you|?"],
        );
        check(
            "AHU-G1 NF_kB\u{200b}x, mid-1990s state-of-the-art",
            expect!["AHU|-|G1|NF|_|kB|x|,|mid|-|1990s|state|-|of|-|the|-|art"],
        );
        check("\u{feff}Text: Berlin,  Germany.\r\n", expect!["Text|:|Berlin|,|Germany|."]);
        check("e\u{301}te\u{301} 💩This", expect!["été|💩|This"]);
        check(
            "He said: “Wait…” (or [so]) -- and/or ... «oui»!! 'Yes'",
            expect!["He|said|:|“|Wait|…|”|(|or|[|so|]|)|--|and|/|or|...|«|oui|»|!!|'|Yes|'"],
        );
        check(
            "C++, C# and .NET; CD4+ cells, 1,2-dichloroethane, NF-kB",
            expect!["C++|,|C#|and|.NET|;|CD4|+|cells|,|1,2|-|dichloroethane|,|NF|-|kB"],
        );
    }

    #[test]
    fn apostrophes() {
        check(
            "Anna’s don’t O'Brien rock 'n' roll the Joneses' '90s",
            expect!["Anna|’s|don’t|O'Brien|rock|'n'|roll|the|Joneses|'|'|90s"],
        );
        check(
            "l'homme d'Angelo dell’arte L’Oréal aujourd'hui qu'il",
            expect!["l'|homme|d'|Angelo|dell’|arte|L’|Oréal|aujourd'hui|qu'|il"],
        );
    }

    #[test]
    fn numbers_money_and_times() {
        check(
            "$3.5m €5 5 € US$ 7 A$5 5% 10km 5°C 1,000.50 1 000 .5",
            expect!["$|3.5m|€|5|5|€|US$|7|A$|5|5|%|10km|5|°|C|1,000.50|1|000|.5"],
        );
        check(
            "12.05.2024 at 10:30, 3-1, km/h, 3:16:20 a:b EU:s",
            expect!["12.05.2024|at|10:30|,|3|-|1|,|km|/|h|,|3:16:20|a|:|b|EU|:|s"],
        );
        check(
            "Am 3. Oktober, den 12. maj, im 20. Jahrhundert. It was 12. Then",
            expect!["Am|3.|Oktober|,|den|12.|maj|,|im|20.|Jahrhundert|.|It|was|12|.|Then"],
        );
    }

    #[test]
    fn addresses_names_and_tags() {
        check(
            "See https://a.org/b_(c)?d=1, www.x.dk/y. or (http://z.com)!",
            expect!["See|https://a.org/b_(c)?d=1|,|www.x.dk/y|.|or|(|http://z.com|)|!"],
        );
        check(
            "Mail j.doe+x@mail.example.com. #tag @user_1: #1 a@b C#m 去https://a.cn/b看",
            expect!["Mail|j.doe+x@mail.example.com|.|#tag|@user_1|:|#|1|a|@|b|C|#|m|去|https://a.cn/b|看"],
        );
    }

    #[test]
    fn abbreviations_and_initials() {
        check(
            "Mr.Bean met J. K. Rowling and J.K.Rowling in the U.S. with Ph.D. students.",
            expect!["Mr.|Bean|met|J.|K.|Rowling|and|J.K.|Rowling|in|the|U.S.|with|Ph.D.|students|."],
        );
        check(
            "z.B. und z. B. bzw. d. h. M. Dupont, f.eks. den ca. 5",
            expect!["z.B.|und|z.|B.|bzw.|d.|h.|M.|Dupont|,|f.eks.|den|ca.|5"],
        );
        check("vitamin C. The NF kappa B.", expect!["vitamin|C|.|The|NF|kappa|B|."]);
        check(
            "No. 5? No. It ended.Next came example.com etc... vol. 3.",
            expect!["No.|5|?|No|.|It|ended|.|Next|came|example.com|etc|...|vol.|3|."],
        );
    }

    #[test]
    fn scripts_without_blanks_come_in_clusters_and_others_whole() {
        check("北京大学在北京2008年", expect!["北|京|大|学|在|北|京|2008|年"]);
        check("コーヒーを飲む。ｶﾞｽ", expect!["コ|ー|ヒ|ー|を|飲|む|。|ｶﾞ|ｽ"]);
        check("น้ำตก กำลัง ๑๒ ພາສາ ភាសាខ្មែរ မြန်မာ", expect!["น้ำ|ต|ก|กำ|ลั|ง|๑๒|ພ|າ|ສ|າ|ភា|សា|ខ្មែ|រ|မြ|န်|မ|ာ"]);
        check(
            "서울에서 만났다. كِتَاب، שלום־עליכם हिन्दी भाषा।",
            expect!["서울에서|만났다|.|كِتَاب|،|שלום|־|עליכם|हिन्दी|भाषा|।"],
        );
        check("👩\u{200d}🚀🇩🇰🇩🇪👍🏽", expect!["👩‍🚀|🇩🇰|🇩🇪|👍🏽"]);
    }

    #[test]
    fn blanks_part_what_was_tokenised_before() {
        let text = "He 's\u{a0}here\u{3000}. \u{200b} Mr.Bean\r\n北京 ";
        let tokens: Vec<_> = tokenize_blanks(text).iter().map(|t| t.of(text)).collect();
        assert_eq!(tokens, ["He", "'s", "here", ".", "\u{200b}", "Mr.Bean", "北京"]);
    }

    #[test]
    fn a_letter_keeps_its_marks() {
        let ends: Vec<_> = character_ends("e\u{301}a👩\u{200d}👩").collect();
        assert_eq!(ends, [3, 4, 15]);
    }

    proptest! {
        #[test]
        fn tokens_ascend_on_cluster_boundaries_and_leave_out_only_what_is_invisible(
            text in "(\\PC|[ \\r\\n\\t_.:@#+'$-]|[a-dwB1]|\u{200b}|\u{301}|ำ|👩\u{200d}|🇩|\u{600}|न्){0,60}"
        ) {
            let tokens = tokenize(&text);
            let ends: Vec<usize> = [0].into_iter().chain(character_ends(&text)).collect();
            let mut at = 0;
            for token in &tokens {
                prop_assert!(token.start().get() >= at && !token.of(&text).is_empty());
                prop_assert!(!text[at..token.start().get()].chars().any(is_visible));
                at = token.end().get();
                prop_assert!(ends.binary_search(&token.start().get()).is_ok() && ends.binary_search(&at).is_ok());
            }
            prop_assert!(!text[at..].chars().any(is_visible));
        }
    }
}
