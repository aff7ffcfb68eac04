//! The ids in lines: what a line is called, and what it names.

use std::collections::BTreeMap;
use std::ops::Range;

/// The id and what follows it, of a line such as `T1⇥Person 0 4⇥Anna`.
pub(super) fn fields(line: &str) -> (&str, &str, Option<&str>) {
    let mut fields = line.splitn(3, '\t');
    (fields.next().unwrap_or_default(), fields.next().unwrap_or_default(), fields.next())
}

/// The number of an id such as `T12`.
pub(super) fn number_of(id: &str, letter: char) -> Option<u64> {
    let digits = id.strip_prefix(letter)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The ids that a line names.
pub(super) fn references(line: &str) -> impl Iterator<Item = &str> {
    places(line).filter_map(|place| line.get(place))
}

/// The line with other ids in the place of some that it names.
pub(super) fn renamed(line: &str, names: &BTreeMap<&str, &str>) -> String {
    let mut written = String::with_capacity(line.len());
    let mut at = 0;
    for place in places(line) {
        let Some(new) = line.get(place.clone()).and_then(|id| names.get(id)) else { continue };
        written += line.get(at..place.start).unwrap_or_default();
        written += new;
        at = place.end;
    }
    written + line.get(at..).unwrap_or_default()
}

/// Where ids are that a line names.
fn places(line: &str) -> impl Iterator<Item = Range<usize>> {
    let (id, said, _) = fields(line);
    let kind = id.chars().next();
    let mut next = id.len() + 1;
    let words = said.split(' ').enumerate().map(move |(at, word)| {
        let start = next;
        next += word.len() + 1;
        (at, start, word)
    });
    words.filter_map(move |(at, start, word)| {
        let named = match kind {
            Some('E') => word.split_once(':')?.1,
            Some('R') if at > 0 => word.split_once(':')?.1,
            Some('*') if at > 0 => word,
            Some('A' | 'M' | 'N' | '#') if at == 1 => word,
            _ => return None,
        };
        let is_id = named.chars().next().is_some_and(|c| "TREAMN#".contains(c))
            && named.get(1..).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        let end = start + word.len();
        is_id.then_some(end - named.len()..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_named_and_renamed_where_they_stand() {
        let names = BTreeMap::from([("T1", "T22"), ("T3", "T4")]);
        for (line, named, want) in [
            ("R1\tIn Arg1:T1 Arg2:T2", "T1 T2", "R1\tIn Arg1:T22 Arg2:T2"),
            ("E1\tMeet:T3 Who:T1 How:E2", "T3 T1 E2", "E1\tMeet:T4 Who:T22 How:E2"),
            ("*\tEquiv T1 T2 T3", "T1 T2 T3", "*\tEquiv T22 T2 T4"),
            ("N1\tReference T1 Wiki:Q1\tT1", "T1", "N1\tReference T22 Wiki:Q1\tT1"),
            ("#1\tAnnotatorNotes T1\tsee T3", "T1", "#1\tAnnotatorNotes T22\tsee T3"),
            ("A1\tT1 T10 T1", "T10", "A1\tT1 T10 T1"),
            ("T1", "", "T1"),
        ] {
            assert_eq!(references(line).collect::<Vec<_>>().join(" "), named, "{line}");
            assert_eq!(renamed(line, &names), want);
        }
    }
}
