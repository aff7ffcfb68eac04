//! Which proposals are mentions (§2.6): Soft-NMS, after Bodla et al. 2017.
//!
//! From the best proposal on, each lowers the scores of those that share much with it; what stays above a threshold is a
//! mention. The score of a proposal is the sum of those of all seeds that came to its span, so it may be above 1. Of two that
//! cross, the worse one is dropped first.

use super::overlap::iou;
use crate::annotation::Span;
use std::cmp::Ordering;

/// A span that has a label, and a score that is no probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Proposal {
    pub span: Span,
    pub score: f32,
}

impl Proposal {
    /// The better one first, of equal ones the first in the sentence.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.span.cmp(&other.span))
    }
}

/// Eq. 18 and Algorithm 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SoftNms {
    /// Factor of the score of a proposal for each better one that it shares much with (u).
    pub decay: f32,
    /// Intersection over union from which two share much (k).
    pub iou: f32,
    /// A mention has a score above this (δ).
    pub threshold: f32,
}

impl SoftNms {
    /// The mentions among the proposals of one sentence, one for each span: the best first, with their scores as they are in
    /// the end. No two cross.
    pub(super) fn choose(self, proposals: Vec<Proposal>) -> Vec<Proposal> {
        // At most two a word are left here: spans of which no two cross form trees.
        let mut rest = without_crossing(proposals);
        let mut mentions = Vec::new();
        while let Some(best) = (0..rest.len()).min_by(|&a, &b| rest[a].order(&rest[b])) {
            let best = rest.swap_remove(best);
            if best.score <= self.threshold {
                break; // All others are as low, and nothing raises them.
            }
            for other in &mut rest {
                if iou(best.span, other.span) >= self.iou {
                    other.score *= self.decay;
                }
            }
            mentions.push(best);
        }
        mentions
    }
}

/// Those that cross no better one, the best first.
fn without_crossing(mut proposals: Vec<Proposal>) -> Vec<Proposal> {
    proposals.sort_by(Proposal::order);
    let words = proposals.iter().map(|proposal| proposal.span.end().get()).max().unwrap_or(0);
    // Of the spans kept so far: where the longest one ends that starts at a word, and starts that ends before a word.
    let (mut ends, mut starts) = (vec![0; words + 1], vec![usize::MAX; words + 1]);
    proposals.retain(|proposal| {
        let (start, end) = (proposal.span.start().get(), proposal.span.end().get());
        let crosses = (start + 1..end).any(|word| ends[word] > end || starts[word] < start);
        if !crosses {
            ends[start] = ends[start].max(end);
            starts[end] = starts[end].min(start);
        }
        !crosses
    });
    proposals
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn proposal(start: usize, end: usize, score: f32) -> Proposal {
        Proposal { span: Span::from_range(start..end).unwrap(), score }
    }

    const PLAIN: SoftNms = SoftNms { decay: 0.5, iou: 0.5, threshold: 0.4 };

    #[test]
    fn worse_ones_that_share_much_lose_each_time() {
        let all = [
            proposal(0, 4, 0.875), // the best
            proposal(0, 3, 0.75),  // IoU 3/4 with it: 0.375
            proposal(0, 2, 0.875), // IoU 2/4 with it: 0.4375, then nothing more, as 0..3 comes later
            proposal(0, 1, 0.5),   // IoU 1/4 with 0..4, 1/2 with 0..2: 0.25
            proposal(5, 6, 0.5),   // alone
            proposal(6, 7, 0.25),  // alone and too low
        ];
        let mentions = PLAIN.choose(all.to_vec());
        // 0..2 and 0..4 are equally good at first; the one that ends first comes first.
        assert_eq!(mentions, [proposal(0, 2, 0.875), proposal(5, 6, 0.5), proposal(0, 4, 0.4375)]);
        let gentle = SoftNms { decay: 1.0, ..PLAIN };
        assert_eq!(gentle.choose(all.to_vec()).len(), 5);
        assert_eq!(PLAIN.choose(Vec::new()), []);
    }

    #[test]
    fn the_best_does_not_lower_itself() {
        assert_eq!(PLAIN.choose(vec![proposal(2, 5, 0.5)]), [proposal(2, 5, 0.5)]);
    }

    #[test]
    fn an_order_that_changes_on_the_way_counts() {
        // By 0..10 (0.9) the second falls to 0.4, so that the third (0.5) comes before it and lowers it again.
        let all = [proposal(0, 10, 0.9), proposal(0, 8, 0.8), proposal(0, 4, 0.5)];
        let soft = SoftNms { decay: 0.5, iou: 0.5, threshold: 0.1 };
        assert_eq!(soft.choose(all.to_vec()), [all[0], all[2], proposal(0, 8, 0.2)]);
    }

    #[test]
    fn of_two_that_cross_the_better_one_stays() {
        let all = [proposal(0, 3, 0.7), proposal(2, 5, 0.9), proposal(4, 7, 0.6), proposal(0, 2, 0.5)];
        assert_eq!(PLAIN.choose(all.to_vec()), [all[1], all[3]]);
        // What was dropped drops nothing: 4..7 crosses 2..5, and only that crosses 0..3.
        let all = [proposal(0, 3, 0.7), proposal(2, 5, 0.6), proposal(4, 7, 0.5)];
        assert_eq!(PLAIN.choose(all.to_vec()), [all[0], all[2]]);
        let nested = [proposal(0, 6, 0.9), proposal(0, 2, 0.8), proposal(4, 6, 0.7), proposal(6, 9, 0.6)];
        assert_eq!(PLAIN.choose(nested.to_vec()), nested, "sharing a boundary is no crossing");
    }

    /// Algorithm 1 to the letter, with `[i : N]` begun behind i: taken out, lowered, put in where its score belongs.
    fn algorithm_1(soft: SoftNms, proposals: &[Proposal]) -> Vec<Proposal> {
        let mut all = proposals.to_vec();
        all.sort_by(Proposal::order);
        let mut i = 0;
        while i < all.len() {
            let behind = all.split_off(i + 1);
            for mut other in behind {
                if iou(all[i].span, other.span) >= soft.iou {
                    other.score *= soft.decay;
                }
                let place = (i + 1..all.len()).find(|&at| other.order(&all[at]).is_lt()).unwrap_or(all.len());
                all.insert(place, other);
            }
            i += 1;
        }
        all.retain(|proposal| proposal.score > soft.threshold);
        all.sort_by(Proposal::order);
        all
    }

    proptest! {
        #[test]
        fn it_is_algorithm_1(
            spans in prop::collection::btree_map((0usize..10, 1usize..9), 1u8..64, 0..30),
            decay in 1u8..8, share in 1u8..8, threshold in 0u8..64,
        ) {
            let soft = SoftNms {
                decay: f32::from(decay) / 8.0,
                iou: f32::from(share) / 8.0,
                threshold: f32::from(threshold) / 64.0,
            };
            let all = spans.into_iter().map(|((start, width), score)| {
                proposal(start, start + width, f32::from(score) / 64.0)
            });
            let all: Vec<Proposal> = all.collect();
            let kept = without_crossing(all.clone());
            for (i, a) in kept.iter().enumerate() {
                prop_assert!(kept[..i].iter().all(|b| !a.span.crosses(b.span)));
            }
            for dropped in all.iter().filter(|a| !kept.contains(a)) {
                let better = kept.iter().filter(|kept| kept.order(dropped).is_lt());
                prop_assert!(better.into_iter().any(|kept| kept.span.crosses(dropped.span)));
            }
            let mut chosen = soft.choose(all);
            chosen.sort_by(Proposal::order);
            prop_assert_eq!(chosen, algorithm_1(soft, &kept));
        }
    }
}
