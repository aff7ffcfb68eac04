//! The pieces of a text by which it shall be found.
//!
//! A full-text index is fed these terms joined by blanks, and a query is split by the same rules into a phrase, so
//! that what stands in a text is found whatever its script. Case and diacritics are folded by the index.
//!
//! For SQLite's `unicode61`: its default categories drop emoji, and marks beside the Latin ones part words; with
//! `categories 'L* M* N* S* Co'` each term stays as it is here.

use super::scripts::is_unspaced;
use unicode_segmentation::UnicodeSegmentation;

/// The search terms of `text`, in its order: runs of letters and digits with their marks, single grapheme clusters of
/// scripts without blanks, and emoji. Punctuation, blanks and other symbols part terms and are none.
///
/// Linear, allocates nothing.
pub fn search_terms(text: &str) -> impl Iterator<Item = &str> {
    Terms { text, at: 0 }
}

struct Terms<'t> {
    text: &'t str,
    /// Where the clusters that are still to come begin.
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Joins its neighbours.
    Word,
    Alone,
    Separator,
}

fn kind(cluster: &str) -> Kind {
    match cluster.chars().next() {
        Some(c) if is_unspaced(c) || is_emoji(c) => Kind::Alone,
        Some(c) if c.is_alphanumeric() => Kind::Word,
        _ => Kind::Separator,
    }
}

/// Pictures, not arrows and mathematics.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

/// The grapheme cluster that begins at a byte where one does.
fn cluster_at(text: &str, at: usize) -> Option<&str> {
    match text.as_bytes().get(at..)? {
        // Between two ASCII characters a cluster always ends, but for a line end; most text is that.
        [first, second, ..] if first.is_ascii() && second.is_ascii() && *first != b'\r' => text.get(at..at + 1),
        _ => text.get(at..)?.graphemes(true).next(),
    }
}

impl<'t> Iterator for Terms<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let mut start = None; // of a word
        loop {
            let at = self.at;
            let Some(cluster) = cluster_at(self.text, at) else {
                return start.and_then(|start| self.text.get(start..));
            };
            let kind = kind(cluster);
            if kind == Kind::Word {
                start.get_or_insert(at);
            } else if let Some(start) = start {
                return self.text.get(start..at);
            }
            self.at = at + cluster.len();
            if kind == Kind::Alone {
                return Some(cluster);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, want: Expect) {
        want.assert_eq(&search_terms(text).collect::<Vec<_>>().join("|"));
    }

    #[test]
    fn terms_are_what_people_search_for() {
        check("The NF-kB factor, don't “quote” it (IL-2)!", expect!["The|NF|kB|factor|don|t|quote|it|IL|2"]);
        check("Ærø, e\u{301}te\u{301} and Ελλάδα_3", expect!["Ærø|e\u{301}te\u{301}|and|Ελλάδα|3"]);
        check("北京大学 in 北京2008年", expect!["北|京|大|学|in|北|京|2008|年"]);
        check("コーヒーを飲む", expect!["コ|ー|ヒ|ー|を|飲|む"]);
        check("น้ำตก ๑๒", expect!["น้ำ|ต|ก|๑๒"]);
        check("서울에서 만났다.", expect!["서울에서|만났다"]);
        check("हिन्दी भाषा। كِتَاب", expect!["हिन्दी|भाषा|كِتَاب"]);
        check("so💩nice 👩\u{200d}🚀🇩🇰 $5", expect!["so|💩|nice|👩\u{200d}🚀|🇩🇰|5"]);
        check(" \r\n…", expect![""]);
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_whole_text(text in "(\\PC|[ab\r\n\u{301}]|🇩🇰|👩\u{200d}🚀){0,40}") {
            let mut at = 0;
            for cluster in text.graphemes(true) {
                prop_assert_eq!(cluster_at(&text, at), Some(cluster));
                at += cluster.len();
            }
            prop_assert_eq!(cluster_at(&text, at), None);
        }

        #[test]
        fn a_line_has_the_terms_that_the_text_has_there(a in "\\PC{0,20}", b in "\\PC{0,20}") {
            let whole = format!("{a}\n{b}"); // a blank would take the marks that `b` may begin with
            let parts: Vec<&str> = search_terms(&a).chain(search_terms(&b)).collect();
            let terms: Vec<&str> = search_terms(&whole).collect();
            prop_assert_eq!(terms, parts);
        }
    }
}
