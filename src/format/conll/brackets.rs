//! Mentions in brackets, a cell a token: `(PERSON*`, `*`, `*)`, `(GPE)`. They nest.

use crate::annotation::Span;

/// The mentions of one sentence, and which cells have a bracket that none closes or opens.
pub(super) fn decode<'t>(cells: &[&'t str]) -> (Vec<(Span, &'t str)>, Vec<usize>) {
    let (mut spans, mut odd, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for (at, cell) in cells.iter().enumerate() {
        let mut rest = *cell;
        while let Some(next) = rest.chars().next() {
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
            match next {
                '(' => {
                    let end = rest.find(['(', ')', '*']).unwrap_or(rest.len());
                    let (label, after) = rest.split_at(end);
                    open.push((at, label));
                    rest = after;
                }
                ')' => match open.pop() {
                    Some((start, label)) => {
                        spans.extend(Span::from_range(start..at + 1).map(|span| (span, label)));
                    }
                    None => odd.push(at),
                },
                _ => {}
            }
        }
    }
    odd.extend(open.iter().map(|(at, _)| *at));
    spans.sort_by_key(|(span, _)| (span.start(), std::cmp::Reverse(span.end())));
    (spans, odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cells: &str) -> String {
        let (spans, odd) = decode(&cells.split(' ').collect::<Vec<_>>());
        format!("{spans:?} {odd:?}")
    }

    #[test]
    fn brackets_nest_and_may_be_odd() {
        assert_eq!(check("(PERSON* *) * (GPE)"), "[(0..2, \"PERSON\"), (3..4, \"GPE\")] []");
        assert_eq!(check("(ORG(GPE*) *)"), "[(0..2, \"ORG\"), (0..1, \"GPE\")] []");
        assert_eq!(check("(ORG* *"), "[] [0]");
        assert_eq!(check("*) (A)"), "[(1..2, \"A\")] [0]");
    }
}
