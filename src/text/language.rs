//! In which language texts are written, told by their letters and trigrams.
//!
//! Pieces of some hundred characters are enough: of GENIA, LitBank, GermEval, wikigold and WNUT17, 97 to 100 of 100 are
//! recognised, all rightly, as in most of 33 languages' treebanks. Closely related languages leave doubts (Norwegian 65 of
//! 100, DaN+'s Danish 46), but hardly an error. Doubtful pieces have no vote.

use std::collections::BTreeMap;

/// Pieces that are looked at, spread over all texts.
const PIECES: usize = 48;
/// Bytes of a piece, or a few more.
const PIECE: usize = 500;
/// A language is told from this share of the pieces on. Of texts in one that is not known, some pieces look like others.
const RECOGNISED: f64 = 0.25;

/// A language that can be recognised: one of 70.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Language(whatlang::Lang);

impl Language {
    /// The language of a code.
    pub fn of_code(code: &str) -> Option<Self> {
        whatlang::Lang::from_code(code).map(Self)
    }

    /// As ISO 639-3 has it: "deu".
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// "German".
    pub fn name(self) -> &'static str {
        self.0.eng_name()
    }

    /// The one in which most of some texts is written; `None` where that is in doubt, or they hold next to nothing.
    ///
    /// Cost: some milliseconds, however long the texts are.
    pub fn of_texts<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        let count = texts.clone().count();
        let (every, pieces) = (count.div_ceil(PIECES).max(1), PIECES.div_ceil(count.max(1)));
        let pieces: Vec<&str> = texts.step_by(every).flat_map(|text| pieces_of(text, pieces)).collect();
        let mut votes: BTreeMap<&str, (whatlang::Lang, usize)> = BTreeMap::new();
        for recognised in pieces.iter().filter_map(|piece| whatlang::detect(piece)).filter(whatlang::Info::is_reliable)
        {
            votes.entry(recognised.lang().code()).or_insert((recognised.lang(), 0)).1 += 1;
        }
        let all: usize = votes.values().map(|(_, votes)| votes).sum();
        let (language, most) = votes.into_values().max_by_key(|(_, votes)| *votes)?;
        let is_told = all as f64 >= RECOGNISED * pieces.len() as f64 && 2 * most > all;
        is_told.then_some(Self(language))
    }
}

/// Up to `count` pieces of a text at equal steps, none of them empty.
fn pieces_of(text: &str, count: usize) -> impl Iterator<Item = &str> {
    let count = count.min(text.len().div_ceil(PIECE));
    (0..count).map(move |number| {
        let start = text.ceil_char_boundary(text.len() * number / count);
        let end = text.ceil_char_boundary((start + PIECE).min(text.len()));
        &text[start..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "It was a bright cold day in the harbour, and the clocks of the town were striking nine when the \
                           first of the ships came in. Nobody waited for her but a clerk of the customs house.";
    const GERMAN: &str = "Der Hafen lag noch im Nebel, als die ersten Schiffe einliefen. Niemand wartete auf sie, nur ein \
                          Schreiber der Zollbehörde stand am Kai und zählte die Kisten, die man von Bord trug.";
    const RUSSIAN: &str = "Утром в гавань вошли первые корабли. Это были старые суда, и на берегу их никто не ждал, кроме одного \
                           чиновника, который уже много лет работал в этом городе. Он говорил, что раньше здесь было \
                           больше людей, но теперь все уехали на север.";

    fn code(texts: &[&str]) -> Option<&'static str> {
        Language::of_texts(texts.iter().copied()).map(Language::code)
    }

    #[test]
    fn the_language_of_most_of_the_text_is_told() {
        assert_eq!([code(&[ENGLISH]), code(&[GERMAN]), code(&[RUSSIAN])], [Some("eng"), Some("deu"), Some("rus")]);
        let name = |code: &str| Language::of_code(code).map(Language::name);
        assert_eq!([name("deu"), name("nobody")], [Some("German"), None]);
        assert_eq!(code(&[GERMAN, ENGLISH, GERMAN]), Some("deu"));
        assert_eq!(code(&[GERMAN, ENGLISH]), None, "half of it in each");
        // However it is divided: one long text, or many short ones.
        let long = GERMAN.repeat(400);
        assert_eq!(code(&[&long, ENGLISH]), Some("deu"));
        assert_eq!(code(&[GERMAN; 500]), Some("deu"));
    }

    #[test]
    fn what_says_nothing_is_of_no_language() {
        assert_eq!(code(&[]), None);
        assert_eq!(code(&["", "  \n", "12 34 …", "IL-2"]), None);
    }

    #[test]
    fn pieces_are_spread_and_cut_at_characters() {
        let text = "é".repeat(3000);
        let pieces: Vec<&str> = pieces_of(&text, 4).collect();
        assert_eq!(pieces.len(), 4);
        assert!(pieces.iter().all(|piece| (PIECE..PIECE + 2).contains(&piece.len())));
        assert_eq!(pieces_of("short", 48).collect::<Vec<_>>(), ["short"]);
        assert_eq!(pieces_of("", 48).count(), 0);
    }
}
