//! From a tag a token to spans, whichever scheme the tags follow.
//!
//! | scheme | begins | goes on | ends | single | outside |
//! |---|---|---|---|---|---|
//! | IOB2 | `B-X` | `I-X` | | `B-X` | `O` |
//! | IOB1 | `I-X`, or `B-X` right after another X | `I-X` | | `I-X` | `O` |
//! | BIOES, BILOU | `B-X` | `I-X` | `E-X`, `L-X` | `S-X`, `U-X` | `O` |
//! | IO | `X` | `X` | | `X` | `O` |
//!
//! One reading serves them all: a span goes on while its label does and no tag says that another begins.

use crate::annotation::Span;

/// The spans of one sentence, in the order of their starts; they never overlap.
///
/// # Errors
/// The position and text of a tag that names no label.
pub(super) fn decode<'t>(tags: &[&'t str]) -> Result<Vec<(Span, &'t str)>, (usize, &'t str)> {
    let mut spans = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut close = |open: &mut Option<(usize, &'t str)>, end: usize| {
        let span = open.take().and_then(|(start, label)| Some((Span::from_range(start..end)?, label)));
        spans.extend(span);
    };
    for (at, tag) in tags.iter().copied().enumerate() {
        if tag == "O" {
            close(&mut open, at);
            continue;
        }
        let (prefix, label) = match tag.split_once('-') {
            Some((prefix @ ("B" | "I" | "E" | "L" | "S" | "U"), label)) => (prefix, label),
            _ => ("I", tag),
        };
        if label.trim().is_empty() || matches!(tag, "B" | "I" | "E" | "L" | "S" | "U") {
            return Err((at, tag));
        }
        let goes_on = matches!(prefix, "I" | "E" | "L") && open.is_some_and(|(_, last)| last == label);
        if !goes_on {
            close(&mut open, at);
            open = Some((at, label));
        }
        if matches!(prefix, "E" | "L" | "S" | "U") {
            close(&mut open, at + 1);
        }
    }
    close(&mut open, tags.len());
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(tags: &str, want: Expect) {
        let tags: Vec<_> = tags.split(' ').collect();
        want.assert_eq(&match decode(&tags) {
            Ok(spans) => spans.iter().map(|(span, label)| format!("{span:?} {label}")).collect::<Vec<_>>().join(", "),
            Err((at, tag)) => format!("bad {tag} at {at}"),
        });
    }

    #[test]
    fn all_schemes_are_read() {
        check("B-PER I-PER B-PER O B-LOC", expect!["0..2 PER, 2..3 PER, 4..5 LOC"]);
        check("I-PER I-PER B-PER O I-LOC I-ORG", expect!["0..2 PER, 2..3 PER, 4..5 LOC, 5..6 ORG"]);
        check("B-PER I-PER E-PER S-LOC S-LOC", expect!["0..3 PER, 3..4 LOC, 4..5 LOC"]);
        check("B-PER L-PER U-LOC I-LOC", expect!["0..2 PER, 2..3 LOC, 3..4 LOC"]);
        check("PER PER O T-cell", expect!["0..2 PER, 3..4 T-cell"]);
        check("O B-cell-line", expect!["1..2 cell-line"]);
        check("O B-", expect!["bad B- at 1"]);
        check("I", expect!["bad I at 0"]);
    }
}
