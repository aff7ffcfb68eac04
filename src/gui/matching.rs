//! How well a name answers what somebody types to choose it.
//!
//! Exactly so, then names that begin so, then those whose words begin so in that order, then those with it inside, then
//! those with its letters close together: a letter or two may be left out, but letters scattered over a phrase find
//! nothing. Case, accents and punctuation don't matter.

use super::highlighter::folded;

/// The less, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank {
    kind: Kind,
    /// Words passed over, place, or letters left out.
    loose: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Exact,
    Beginning,
    Words,
    Inside,
    Letters,
}

/// Fewer letters than these are found in too many names.
const FEWEST_LETTERS: usize = 3;
/// One letter may be left out for so many that were typed.
const TYPED_FOR_ONE_LEFT_OUT: usize = 3;

/// `None` where the name does not answer; to nothing every name answers alike.
pub(super) fn rank(typed: &str, name: &str) -> Option<Rank> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Some(Rank { kind: Kind::Exact, loose: 0 });
    }
    let (wanted, words) = (words(typed), words(name));
    if wanted.is_empty() || words.is_empty() {
        return rank_whole(&typed.to_lowercase(), &name.to_lowercase());
    }
    let (all_wanted, all) = (wanted.concat(), words.concat());
    let of = |kind: Kind, loose: usize| Some(Rank { kind, loose });
    if all == all_wanted {
        return of(Kind::Exact, 0);
    }
    if all.starts_with(&all_wanted) {
        return of(Kind::Beginning, 0);
    }
    if let Some(passed) = words_passed(&wanted, &words) {
        return of(Kind::Words, passed);
    }
    if let Some(at) = words.join(" ").find(&wanted.join(" ")) {
        return of(Kind::Inside, at);
    }
    letters_left_out(&all_wanted, &words).and_then(|left_out| of(Kind::Letters, left_out))
}

/// Of names or queries that are signs alone.
fn rank_whole(typed: &str, name: &str) -> Option<Rank> {
    let kind = match name.find(typed)? {
        0 if name.len() == typed.len() => Kind::Exact,
        0 => Kind::Beginning,
        _ => Kind::Inside,
    };
    Some(Rank { kind, loose: 0 })
}

/// Words begin after signs, and where capitals do: `work_of_art` and `WorkOfArt` have three.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !is_of_word(c) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if is_of_word(c) {
            word.push(c);
        }
        before = c;
    }
    words.push(word);
    words.iter().map(|word| folded(word).collect()).filter(|word: &String| !word.is_empty()).collect()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}')
}

/// How many words are passed over where others begin as those that are wanted, in that order.
fn words_passed(wanted: &[String], words: &[String]) -> Option<usize> {
    let mut left = words.iter();
    let mut passed = 0;
    for want in wanted {
        passed += left.position(|word| word.starts_with(want.as_str()))?;
    }
    Some(passed)
}

/// How many letters lie between those that are wanted, from the beginning of a word on.
fn letters_left_out(wanted: &str, words: &[String]) -> Option<usize> {
    let count = wanted.chars().count();
    if count < FEWEST_LETTERS {
        return None;
    }
    let from = |first: usize| {
        let mut letters = words.get(first..)?.iter().flat_map(|word| word.chars());
        let mut passed = 0;
        for want in wanted.chars() {
            passed += letters.position(|letter| letter == want)?;
        }
        Some(passed).filter(|passed| *passed <= count / TYPED_FOR_ONE_LEFT_OUT)
    };
    // The first letter is that of a word.
    let begins = |first: &usize| words.get(*first).is_some_and(|word| word.chars().next() == wanted.chars().next());
    (0..words.len()).filter(begins).filter_map(from).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that answer, best first.
    fn check(typed: &str, names: &[&str], want: &[&str]) {
        let mut found: Vec<(Rank, &str)> = names.iter().filter_map(|name| Some((rank(typed, name)?, *name))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        assert_eq!(found.iter().map(|(_, name)| *name).collect::<Vec<_>>(), want, "{typed}");
    }

    #[test]
    fn what_begins_so_comes_before_what_has_it_inside() {
        check("org", &["Reorganise", "my org", "ORGAN", "Org"], &["Org", "ORGAN", "my org", "Reorganise"]);
        check("in the te", &["Open the sentence again", "Next: in the text"], &["Next: in the text"]);
        check(
            "ne te",
            &["Next: in the text", "Next: what teaches most"],
            &["Next: what teaches most", "Next: in the text"],
        );
        check("arhus", &["Århus", "A\u{30a}rhus"], &["Århus", "A\u{30a}rhus"]);
        check("work of", &["WORK_OF_ART", "WorkOfArt", "framework"], &["WORK_OF_ART", "WorkOfArt"]);
        check(
            "sentence the",
            &["Split the sentence before the word", "Open the sentence again"],
            &["Split the sentence before the word"],
        );
    }

    #[test]
    fn a_letter_may_be_left_out_and_scattered_letters_find_nothing() {
        check("dshboard", &["Dashboard"], &["Dashboard"]);
        check("flg", &["Flag for a second look"], &["Flag for a second look"]);
        check("ola", &["Open the sentence again", "Look again"], &[]);
        check("per", &["Open the sentence again", "PER"], &["PER"]);
        check("tn", &["Train now"], &[]);
    }

    #[test]
    fn signs_alone_are_names_too() {
        check("+", &["C++", "+", "+1"], &["+", "+1", "C++"]);
        check("京", &["北京", "京"], &["京", "北京"]);
        check(" ", &["a", "b"], &["a", "b"]);
    }
}
