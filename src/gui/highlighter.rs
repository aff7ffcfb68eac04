//! Where the words of a search stand in a text, to be marked there.
//!
//! The file's index finds; this only shows, and may miss what the index takes for the same (rare accents).

use crate::text::search_terms;
use std::ops::Range;

/// Bytes of a text that are looked at: more is not seen in a list.
const MOST_BYTES: usize = 4_000;

/// The terms of a query, folded: in a row, the last one as the beginning of a word.
#[derive(Default)]
pub(super) struct Highlighter {
    terms: Vec<String>,
}

impl Highlighter {
    pub(super) fn new(query: &str) -> Self {
        Self { terms: search_terms(query).map(|term| folded(term).collect()).collect() }
    }

    /// In bytes of the text, ascending, without overlap. A word that only begins so is in it whole.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if self.terms.is_empty() {
            return places;
        }
        let text = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or(text);
        let terms: Vec<Range<usize>> = search_terms(text).map(|term| place_of(text, term)).collect();
        let mut from = 0;
        while let Some(window) = terms.get(from..from + self.terms.len()) {
            let last = self.terms.len() - 1;
            let mut pairs = window.iter().zip(&self.terms).enumerate();
            let is_there =
                pairs.all(|(at, (place, want))| says(text.get(place.clone()).unwrap_or(""), want, at == last));
            match (window.first(), window.last()) {
                (Some(first), Some(end)) if is_there => {
                    places.push(first.start..end.end);
                    from += self.terms.len();
                }
                _ => from += 1,
            }
        }
        places
    }
}

fn place_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

fn says(term: &str, want: &str, as_beginning: bool) -> bool {
    let mut letters = folded(term);
    want.chars().all(|c| letters.next() == Some(c)) && (as_beginning || letters.next().is_none())
}

/// Without case and without the accents of European languages.
pub(super) fn folded(term: &str) -> impl Iterator<Item = char> + '_ {
    let is_mark = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    term.chars().flat_map(char::to_lowercase).filter(move |c| !is_mark(c)).map(plain)
}

fn plain(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' => 'i',
        'ĺ' | 'ļ' | 'ľ' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' => 's',
        'ţ' | 'ť' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, text: &str, want: &[&str]) {
        let found: Vec<&str> = Highlighter::new(query).find(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, want, "{query} in {text}");
    }

    #[test]
    fn the_words_of_a_query_are_found_in_a_row() {
        check("harbour bo", "The HARBOUR-Board, a harbour board and a harbour", &["HARBOUR-Board", "harbour board"]);
        check("arhus", "Århus, A\u{30a}rhus", &["Århus", "A\u{30a}rhus"]);
        check("arb", "harbour", &[]);
        check("京大", "北京大学", &["京大"]);
        check("", "anything", &[]);
        check("x", &"é".repeat(3_000), &[]);
    }
}
