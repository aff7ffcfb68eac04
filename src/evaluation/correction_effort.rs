//! What it costs a person to make gold of suggestions, against making it from nothing.
//!
//! Counted in actions of a person: accepting a suggestion 1, another label for it 2 (choose it, choose the label), other
//! boundaries 2, rejecting it 1, a new mention 3 (mark both ends, choose the label). Each suggestion is used once, and in a
//! person's order: what is right is accepted; then, of what is left, suggestions with the right boundaries get another
//! label, those that overlap a mention of their label get other boundaries; the rest is rejected, and what is missing made.

use super::Counts;
use super::judged::set;
use super::pairing::{Equal, most_overlaps};
use crate::annotation::{LabelId, Span};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Actions for one new mention.
const CREATE: usize = 3;
/// Actions for another label or other boundaries.
const FIX: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CorrectionEffort {
    pub accepted: usize,
    pub relabelled: usize,
    pub moved: usize,
    pub rejected: usize,
    pub created: usize,
}

impl CorrectionEffort {
    /// Of one sentence: its gold mentions, and what was suggested.
    pub fn of(gold: &[(Span, LabelId)], suggested: &[(Span, LabelId)]) -> Self {
        let (gold, suggested) = (set(gold), set(suggested));
        let only = |these: &[(Span, LabelId)], those: &[(Span, LabelId)]| -> Vec<(Span, LabelId)> {
            these.iter().filter(|mention| those.binary_search(mention).is_err()).copied().collect()
        };
        let (missing, wrong) = (only(&gold, &suggested), only(&suggested, &gold));
        let spans = |mentions: &[(Span, LabelId)]| -> Vec<Span> { mentions.iter().map(|(span, _)| *span).collect() };
        let relabelled = Equal::of(&spans(&missing), &spans(&wrong)).pairs;
        // Those with equal boundaries are spoken for, as many of each span as were paired.
        let (missing, wrong) = (without_equal(&missing, &wrong), without_equal(&wrong, &missing));
        let mut labels: BTreeMap<LabelId, (Vec<Span>, Vec<Span>)> = BTreeMap::new();
        missing.iter().for_each(|(span, label)| labels.entry(*label).or_default().0.push(*span));
        wrong.iter().for_each(|(span, label)| labels.entry(*label).or_default().1.push(*span));
        let moved = labels.values().map(|(missing, wrong)| most_overlaps(missing, wrong)).sum();
        Self {
            accepted: gold.len() - only(&gold, &suggested).len(),
            relabelled,
            moved,
            rejected: wrong.len() - moved,
            created: missing.len() - moved,
        }
    }

    pub fn actions(self) -> usize {
        let Self { accepted, relabelled, moved, rejected, created } = self;
        accepted + FIX * (relabelled + moved) + rejected + CREATE * created
    }

    /// What the same gold costs without suggestions.
    pub fn from_scratch(self) -> usize {
        let Self { accepted, relabelled, moved, created, rejected: _ } = self;
        CREATE * (accepted + relabelled + moved + created)
    }

    /// Of what was suggested, what was right.
    pub fn precision(self) -> Option<f64> {
        let wrong = self.relabelled + self.moved + self.rejected;
        Counts { true_positives: self.accepted, false_positives: wrong, false_negatives: 0 }.precision()
    }
}

impl AddAssign for CorrectionEffort {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.relabelled += other.relabelled;
        self.moved += other.moved;
        self.rejected += other.rejected;
        self.created += other.created;
    }
}

/// What of `these`, in order, has no partner with equal boundaries in `those`.
fn without_equal(these: &[(Span, LabelId)], those: &[(Span, LabelId)]) -> Vec<(Span, LabelId)> {
    let mut partners: BTreeMap<Span, usize> = BTreeMap::new();
    those.iter().for_each(|(span, _)| *partners.entry(*span).or_default() += 1);
    let alone = |(span, _): &&(Span, LabelId)| match partners.get_mut(span) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    these.iter().filter(alone).copied().collect()
}

/// A sentence's gold mentions, and suggestions with their scores.
pub type Scored<'a> = (&'a [(Span, LabelId)], &'a [(Span, LabelId, f32)]);

/// The score from which suggestions are shown so that a person has least to do, of the steps 0.1, 0.15 … 0.95, and what
/// they then have to do. Of equally good ones the one nearest to 0.5.
pub fn least_effort(sentences: &[Scored<'_>]) -> (f32, CorrectionEffort) {
    let thresholds = (2..20_u8).map(|step| f32::from(step) * 0.05);
    let efforts = thresholds.map(|threshold| (threshold, effort_at(sentences, threshold)));
    let far = |threshold: f32| ((threshold - 0.5).abs() * 100.0).round() as usize;
    efforts
        .min_by_key(|(threshold, effort)| (effort.actions(), far(*threshold)))
        .unwrap_or((0.5, CorrectionEffort::default()))
}

/// What a person has to do where suggestions are shown from a score on.
pub fn effort_at(sentences: &[Scored<'_>], threshold: f32) -> CorrectionEffort {
    let mut total = CorrectionEffort::default();
    for (gold, suggested) in sentences {
        let shown: Vec<_> =
            suggested.iter().filter(|s| s.2 >= threshold).map(|(span, label, _)| (*span, *label)).collect();
        total += CorrectionEffort::of(gold, &shown);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mentions(all: &[(usize, usize, u32)]) -> Vec<(Span, LabelId)> {
        all.iter().map(|&(s, e, l)| (Span::from_range(s..e).unwrap(), LabelId(l))).collect()
    }

    #[test]
    fn each_kind_of_answer_by_hand() {
        let gold = mentions(&[(0, 2, 1), (0, 5, 2), (6, 8, 1), (9, 12, 3), (14, 15, 1)]);
        let suggested = mentions(&[(0, 2, 1), (0, 5, 3), (6, 7, 1), (10, 11, 1), (20, 21, 3)]);
        let effort = CorrectionEffort::of(&gold, &suggested);
        assert_eq!(effort, CorrectionEffort { accepted: 1, relabelled: 1, moved: 1, rejected: 2, created: 2 });
        assert_eq!((effort.actions(), effort.from_scratch()), (1 + 2 + 2 + 2 + 6, 15));
        assert_eq!(effort.precision(), Some(0.2));
    }

    #[test]
    fn a_suggestion_is_used_once() {
        let two_labels = CorrectionEffort::of(&mentions(&[(0, 2, 1), (0, 2, 2)]), &mentions(&[(0, 2, 3)]));
        assert_eq!(two_labels, CorrectionEffort { relabelled: 1, created: 1, ..CorrectionEffort::default() });
        let right_and_more =
            CorrectionEffort::of(&mentions(&[(0, 2, 1)]), &mentions(&[(0, 2, 1), (0, 2, 2), (0, 3, 1)]));
        assert_eq!(right_and_more, CorrectionEffort { accepted: 1, rejected: 2, ..CorrectionEffort::default() });
    }

    #[test]
    fn the_threshold_is_where_least_is_to_do() {
        let gold = mentions(&[(0, 1, 1), (2, 3, 1)]);
        let scored = |score: &[(usize, f32)]| -> Vec<(Span, LabelId, f32)> {
            score.iter().map(|&(s, p)| (Span::from_range(s..s + 1).unwrap(), LabelId(1), p)).collect()
        };
        // Two right ones at 0.32 and 0.9, three wrong ones below 0.3.
        let suggested = scored(&[(0, 0.9), (2, 0.32), (4, 0.25), (6, 0.25), (8, 0.25)]);
        let (threshold, effort) = least_effort(&[(&gold, &suggested)]);
        assert!((threshold - 0.3).abs() < 1e-6);
        assert_eq!(effort.actions(), 2);
        assert!((least_effort(&[]).0 - 0.5).abs() < 1e-6);
    }

    fn some() -> impl Strategy<Value = Vec<(Span, LabelId)>> {
        let mention = (0_usize..8, 1_usize..4, 0_u32..3);
        prop::collection::vec(mention, 0..8)
            .prop_map(|all| mentions(&all.into_iter().map(|(s, w, l)| (s, s + w, l)).collect::<Vec<_>>()))
    }

    proptest! {
        #[test]
        fn every_mention_and_every_suggestion_is_answered(gold in some(), suggested in some()) {
            let CorrectionEffort { accepted, relabelled, moved, rejected, created } = CorrectionEffort::of(&gold, &suggested);
            let count = |mentions: &[(Span, LabelId)]| set(mentions).len();
            prop_assert_eq!(accepted + relabelled + moved + created, count(&gold));
            prop_assert_eq!(accepted + relabelled + moved + rejected, count(&suggested));
            // Never more to do than rejecting all and making all.
            prop_assert!(CorrectionEffort::of(&gold, &suggested).actions() <= count(&suggested) + CREATE * count(&gold));
            let nothing = CorrectionEffort::of(&gold, &[]);
            prop_assert_eq!(nothing.actions(), nothing.from_scratch());
        }
    }
}
