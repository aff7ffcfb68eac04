//! Where a piece between Unicode word boundaries is cut again: annotators mark what Unicode holds together.

use super::abbreviations::abbreviation;

/// Words that lose their vowel before another (French, Italian, Catalan): the apostrophe stays with them.
const ELIDED: &[&str] = &[
    "l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "un", "dell", "all", "dall",
    "nell", "sull", "coll", "quell", "quest", "sant", "bell", "tutt", "gl", "v",
];

/// Bytes of `piece` at which a new token begins, ascending, none at its ends.
pub(super) fn cuts(piece: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    let body = possessive(piece).unwrap_or(piece.len());
    if let Some(noun) = elision(piece, body) {
        cuts.push(noun);
    }
    for (at, sign) in piece.match_indices(['_', ':', '.']) {
        match sign {
            "." => cut_at_dot(piece, at, &mut cuts),
            _ if at < body => cuts.extend([at, at + 1]),
            _ => {}
        }
    }
    cuts.push(body);
    cuts.retain(|at| (1..piece.len()).contains(at));
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Where `'s` begins.
fn possessive(piece: &str) -> Option<usize> {
    piece.strip_suffix(['s', 'S'])?.strip_suffix(['\'', '’']).map(str::len).filter(|len| *len > 0)
}

/// Where the noun begins after `l'` or `dell'`.
fn elision(piece: &str, end: usize) -> Option<usize> {
    let (at, apostrophe) = piece.get(..end)?.match_indices(['\'', '’']).next()?;
    let noun = at + apostrophe.len();
    let word = piece.get(..at)?;
    let elided = ELIDED.iter().any(|e| e.eq_ignore_ascii_case(word));
    (elided && piece.get(noun..end)?.starts_with(char::is_alphabetic)).then_some(noun)
}

/// `Mr.Bean`, `J.K.Rowling` and `end.Next` lack a blank; `example.com`, `Ph.D` and `3.5` don't.
fn cut_at_dot(piece: &str, at: usize, cuts: &mut Vec<usize>) {
    let (Some(before), Some(after)) = (piece.get(..at), piece.get(at + 1..)) else { return };
    let word = before.rsplit(['.', '_', ':']).next().unwrap_or_default();
    let mut next = after.chars();
    let begins = next.next().is_some_and(char::is_uppercase)
        && next.next().is_some_and(char::is_lowercase)
        && next.next().is_some_and(char::is_alphabetic);
    if !begins {
    } else if abbreviation(word).is_some() {
        cuts.push(at + 1);
    } else if word.len() > 1 && word.chars().all(char::is_lowercase) {
        cuts.extend([at, at + 1]);
    }
}
