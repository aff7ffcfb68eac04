//! The reports against their definitions, by brute force on random sentences.
//!
//! Nothing of the reports' own code is used here: a mention is a set of words with a label, and the best way to pair
//! mentions is found by trying all.

use super::testing::{Raw, counts, judge};
use super::{Analyses, Counts, ErrorKinds, Report};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

const WORDS: usize = 7;

type Mention = (BTreeSet<usize>, u32);

/// Some mentions, often several on the same words, and the same one twice now and then.
fn some() -> impl Strategy<Value = Vec<Raw>> {
    vec((0..WORDS, 1..=WORDS, 0..3_u32), 0..6).prop_map(|raw| {
        raw.into_iter().map(|(start, width, label)| (start, (start + width).min(WORDS), label)).collect()
    })
}

fn sets(raw: &[Raw]) -> Vec<Mention> {
    let distinct: BTreeSet<Mention> = raw.iter().map(|&(s, e, label)| ((s..e).collect(), label)).collect();
    distinct.into_iter().collect()
}

/// The best sum of points over all ways to pair `left` with `right` one to one; pairs of no points are none.
fn best(left: &[Mention], right: &[Mention], points: &dyn Fn(&Mention, &Mention) -> [usize; 2]) -> [usize; 2] {
    let Some((first, rest)) = left.split_first() else { return [0, 0] };
    let mut best_yet = best(rest, right, points);
    for (at, other) in right.iter().enumerate().filter(|(_, other)| points(first, other) != [0, 0]) {
        let others = [&right[..at], &right[at + 1..]].concat();
        let (here, below) = (points(first, other), best(rest, &others, points));
        best_yet = best_yet.max([here[0] + below[0], here[1] + below[1]]);
    }
    best_yet
}

fn overlap(a: &Mention, b: &Mention) -> bool {
    !a.0.is_disjoint(&b.0)
}

fn properly_in(a: &Mention, b: &Mention) -> bool {
    a.0.is_subset(&b.0) && a.0 != b.0
}

fn paired(gold: &[Mention], predicted: &[Mention], pairs: usize) -> Counts {
    counts(pairs, predicted.len() - pairs, gold.len() - pairs)
}

/// Strict counts of the mentions of which `chosen` holds.
fn strict(gold: &[Mention], predicted: &[Mention], chosen: &dyn Fn(&Mention) -> bool) -> Counts {
    let count = |list: &[Mention], other: &[Mention], in_other: bool| {
        list.iter().filter(|m| chosen(m) && other.contains(m) == in_other).count()
    };
    counts(count(gold, predicted, true), count(predicted, gold, false), count(gold, predicted, false))
}

/// Kinds of the errors in `list`: label, boundaries, both, alone.
fn kinds(list: &[Mention], other: &[Mention]) -> [usize; 4] {
    let mut kinds = [0; 4];
    let unexplained: Vec<&Mention> = other.iter().filter(|m| !list.contains(m)).collect();
    for wrong in list.iter().filter(|m| !other.contains(m)) {
        let relation = |m: &Mention| match (m.0 == wrong.0, overlap(m, wrong), m.1 == wrong.1) {
            (true, ..) => 0,
            (_, true, true) => 1,
            (_, true, false) => 2,
            _ => 3,
        };
        kinds[unexplained.iter().map(|m| relation(m)).min().unwrap_or(3)] += 1;
    }
    kinds
}

fn list(kinds: ErrorKinds) -> [usize; 4] {
    [kinds.wrong_label, kinds.wrong_boundaries, kinds.both_wrong, kinds.alone]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn reports_are_what_their_definitions_say(gold in some(), predicted in some()) {
        let (report, analyses) = judge(&gold, &predicted, |s| (Report::strict(&[], [s]), Analyses::of(&[s])));
        let (gold, predicted) = (sets(&gold), sets(&predicted));
        prop_assert_eq!(report.micro, strict(&gold, &predicted, &|_| true));
        for (label, found) in &report.labels {
            prop_assert_eq!(*found, strict(&gold, &predicted, &|m| m.1 == label.0));
        }

        let matches = analyses.matches;
        let [pairs, _] = best(&gold, &predicted, &|a, b| [usize::from(a.0 == b.0), 0]);
        prop_assert_eq!(matches.exact, paired(&gold, &predicted, pairs));
        let [pairs, _] = best(&gold, &predicted, &|a, b| [usize::from(overlap(a, b) && a.1 == b.1), 0]);
        prop_assert_eq!(matches.same_label, paired(&gold, &predicted, pairs));
        // Half points first; of equal sums the one with more equal boundaries.
        let credit = |a: &Mention, b: &Mention| match (a.0 == b.0, overlap(a, b)) {
            (true, _) => [2, 1],
            (false, true) => [1, 0],
            _ => [0, 0],
        };
        let [half_points, equal] = best(&gold, &predicted, &credit);
        prop_assert_eq!([2 * matches.partial.equal + matches.partial.overlapping, matches.partial.equal], [half_points, equal]);
        prop_assert_eq!(matches.partial.support(), gold.len());
        prop_assert_eq!(matches.partial.predicted(), predicted.len());

        let widths = [1..2, 2..3, 3..4, 4..5, 5..6, 6..11, 11..99];
        for ((name, found), widths) in analyses.lengths.rows().zip(widths) {
            let expected = strict(&gold, &predicted, &|m| widths.contains(&m.0.len()));
            prop_assert_eq!(found, expected, "{} tokens", name);
        }

        let nested = |m: &Mention| gold.iter().any(|outer| properly_in(m, outer) && gold.iter().any(|g| properly_in(g, outer)));
        let covering = |m: &Mention| gold.iter().any(|inner| properly_in(inner, m) && gold.iter().any(|g| properly_in(inner, g)));
        let nesting = analyses.nesting;
        prop_assert_eq!(nesting.nested, strict(&gold, &predicted, &nested));
        prop_assert_eq!(nesting.covering, strict(&gold, &predicted, &covering));
        prop_assert_eq!(nesting.both, strict(&gold, &predicted, &|m| nested(m) && covering(m)));
        prop_assert_eq!(nesting.flat, strict(&gold, &predicted, &|m| !nested(m) && !covering(m)));

        prop_assert_eq!(list(analyses.errors.false_positives), kinds(&predicted, &gold));
        prop_assert_eq!(list(analyses.errors.false_negatives), kinds(&gold, &predicted));
    }

    #[test]
    fn sentences_add_up_and_sides_can_be_changed(gold in some(), predicted in some()) {
        let (one, two) = judge(&gold, &predicted, |s| (Analyses::of(&[s]), Analyses::of(&[s, s])));
        let turned = judge(&predicted, &gold, |s| Analyses::of(&[s]));
        prop_assert_eq!(two.matches.exact, counts(
            2 * one.matches.exact.true_positives,
            2 * one.matches.exact.false_positives,
            2 * one.matches.exact.false_negatives,
        ));
        prop_assert_eq!(two.matches.partial.overlapping, 2 * one.matches.partial.overlapping);
        prop_assert_eq!(two.errors.false_positives.total(), 2 * one.errors.false_positives.total());
        prop_assert_eq!(turned.errors.false_positives, one.errors.false_negatives);
        prop_assert_eq!(turned.matches.exact.precision(), one.matches.exact.recall());
        prop_assert_eq!(turned.matches.same_label.precision(), one.matches.same_label.recall());
        prop_assert_eq!(turned.matches.partial.precision(), one.matches.partial.recall());
        prop_assert_eq!(turned.matches.partial.f1(), one.matches.partial.f1());
    }
}
