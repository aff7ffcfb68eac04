//! Seed spans in training: the spans of certain lengths, each paired with the gold mention with which it shares most.

use super::offsets::offsets;
use super::overlap::iou;
use crate::annotation::Span;
use crate::model::Class;
use crate::nn::Rng;

/// The gold mention with which a span shares most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pair {
    pub mention: Span,
    pub class: Class,
    /// Above 0.
    pub iou: f32,
}

/// `None` when the span shares no word with any. Of equal ones the first. `gold` is ordered by span.
pub(super) fn pair(span: Span, gold: &[(Span, Class)]) -> Option<Pair> {
    let before_its_end = gold.partition_point(|(mention, _)| mention.start() < span.end());
    let shares = |&(mention, class): &(Span, Class)| Pair { mention, class, iou: iou(span, mention) };
    let pairs = gold[..before_its_end].iter().map(shares).filter(|pair| pair.iou > 0.0);
    pairs.reduce(|best, pair| if pair.iou > best.iou { pair } else { best })
}

/// Which seeds train.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Drawing {
    /// A seed that shares this much with its mention is positive (α₁).
    pub least_iou: f32,
    /// Negative seeds for each positive one.
    pub negatives: usize,
}

/// A seed that trains.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Seed {
    pub span: Span,
    /// With its mention; 0 where it shares no word with any.
    pub iou: f32,
    /// To its mention; of a negative seed `None`.
    pub offsets: Option<[f32; 2]>,
}

impl Drawing {
    /// The positive seeds of a sentence, then as many negative ones as belong to them, drawn from all.
    ///
    /// Mentions of other lengths are positive seeds of their own, which stay where they are: without them those far wider
    /// than any seed would not train. A sentence without positive seeds has as many negative ones as one with a single
    /// positive seed. `gold` is ordered by span, each span once.
    pub(super) fn draw(self, words: usize, gold: &[(Span, Class)], lengths: &[usize], rng: &mut Rng) -> Vec<Seed> {
        let seed = |span| {
            let pair = pair(span, gold);
            let mention = pair.filter(|pair| pair.iou >= self.least_iou).map(|pair| pair.mention);
            let offsets = mention.map(|mention| offsets(span, mention));
            Seed { span, iou: pair.map_or(0.0, |pair| pair.iou), offsets }
        };
        let seeds = of_lengths(words, lengths).map(seed);
        let (mut seeds, mut negative): (Vec<Seed>, Vec<Seed>) = seeds.partition(|seed| seed.offsets.is_some());
        let others = gold.iter().map(|(mention, _)| *mention).filter(|m| !lengths.contains(&m.width_tokens()));
        seeds.extend(others.map(|span| Seed { span, iou: 1.0, offsets: Some([0.0; 2]) }));
        let count = self.negatives.saturating_mul(seeds.len().max(1)).min(negative.len());
        for i in 0..count {
            let other = i + rng.below(negative.len() - i);
            negative.swap(i, other);
        }
        seeds.extend_from_slice(&negative[..count]);
        seeds
    }
}

/// The spans of these lengths in a sentence, by start.
pub(super) fn of_lengths(words: usize, lengths: &[usize]) -> impl Iterator<Item = Span> {
    (0..words).flat_map(move |start| {
        let ends = lengths.iter().map(move |length| start + length).filter(move |end| *end <= words);
        ends.filter_map(move |end| Span::from_range(start..end))
    })
}

/// Weight of an example in its loss (Eq. 11): one that shares only a part with its mention counts less, for what it is as for
/// what it is not. `focus` is η; 0 gives each the same weight.
pub(super) fn soft_weight(iou: f32, is_positive: bool, focus: f32) -> f32 {
    let clear = if is_positive { iou } else { 1.0 - iou };
    clear.powf(focus)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    fn names(seeds: &[Seed]) -> Vec<String> {
        seeds.iter().map(|seed| format!("{:?}", seed.span)).collect()
    }

    #[test]
    fn a_span_is_paired_with_the_mention_that_it_shares_most_with() {
        let gold = [(span(1, 3), 2), (span(1, 6), 1), (span(8, 9), 1)];
        let pairs = [span(1, 2), span(2, 5), span(1, 6), span(7, 8), span(6, 12), span(9, 10)].map(|s| pair(s, &gold));
        let pair = |mention, class, iou| Some(Pair { mention, class, iou });
        assert_eq!(pairs[0], pair(span(1, 3), 2, 0.5));
        assert_eq!(pairs[1], pair(span(1, 6), 1, 0.6), "3 words of 5, against 1 of 4");
        assert_eq!(pairs[2], pair(span(1, 6), 1, 1.0));
        assert_eq!(pairs[4], pair(span(8, 9), 1, 1.0 / 6.0));
        assert_eq!([pairs[3], pairs[5]], [None, None]);
        let equal = super::pair(span(1, 3), &[(span(0, 2), 1), (span(2, 4), 2)]);
        assert_eq!(equal, pair(span(0, 2), 1, 1.0 / 3.0), "the first of equal ones");
    }

    #[test]
    fn seeds_that_share_enough_are_positive_and_mentions_of_other_lengths_join_them() {
        // One of three words and one of six: no seed has as many.
        let gold = [(span(2, 5), 1), (span(4, 10), 2)];
        let drawing = Drawing { least_iou: 0.6, negatives: 0 };
        let seeds = drawing.draw(11, &gold, &[1, 2, 4], &mut Rng::new(1, "t"));
        assert_eq!(names(&seeds), ["1..5", "2..4", "2..6", "3..5", "4..8", "5..9", "6..10", "2..5", "4..10"]);
        let offsets: Vec<[f32; 2]> = seeds.iter().filter_map(|seed| seed.offsets).collect();
        assert_eq!(offsets[..4], [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]]);
        assert_eq!(offsets[4..], [[0.0, 2.0], [-1.0, 1.0], [-2.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        let ious: Vec<f32> = seeds.iter().map(|seed| seed.iou).collect();
        assert_eq!(ious, [0.75, 2.0 / 3.0, 0.75, 2.0 / 3.0, 4.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0, 1.0, 1.0]);
        let strict = Drawing { least_iou: 1.0, negatives: 0 };
        assert_eq!(names(&strict.draw(11, &gold, &[1, 2, 3, 4], &mut Rng::new(1, "t"))), ["2..5", "4..10"]);
    }

    #[test]
    fn negative_seeds_are_drawn_for_each_positive_one_and_anew_each_time() {
        let gold = [(span(2, 3), 1), (span(8, 9), 2)];
        let drawing = Drawing { least_iou: 0.7, negatives: 5 };
        let mut rng = Rng::new(1, "t");
        let mut draw = || drawing.draw(20, &gold, &[1, 2], &mut rng);
        let (first, second) = (draw(), draw());
        assert_eq!((first.len(), &first[..2]), (2 + 10, &second[..2]));
        assert_ne!(names(&first), names(&second));
        let mut spans = names(&first);
        spans.sort_unstable();
        spans.dedup();
        assert_eq!(spans.len(), 12, "each once");
        assert!(first[2..].iter().all(|seed| seed.offsets.is_none() && (seed.iou == 0.0 || seed.iou == 0.5)));
        assert_eq!(drawing.draw(20, &[], &[1, 2], &mut rng).len(), 5, "no mention, yet something to learn");
        assert_eq!(drawing.draw(2, &[], &[1, 2], &mut rng).len(), 3, "all that there are");
        assert_eq!(drawing.draw(0, &[], &[1, 2], &mut rng), []);
        let all = Drawing { least_iou: 0.7, negatives: 1000 }.draw(20, &gold, &[1, 2], &mut rng);
        assert_eq!(all.len(), 20 + 19);
    }

    #[test]
    fn each_seed_has_one_of_the_lengths() {
        let spans: Vec<String> = of_lengths(4, &[1, 3, 5]).map(|span| format!("{span:?}")).collect();
        assert_eq!(spans, ["0..1", "0..3", "1..2", "1..4", "2..3", "3..4"]);
    }

    #[test]
    fn examples_between_yes_and_no_count_less() {
        // Eq. 11 with η = 1, 2 and 0.
        assert_eq!([soft_weight(0.75, true, 1.0), soft_weight(0.25, false, 1.0)], [0.75, 0.75]);
        assert_eq!([soft_weight(0.5, true, 2.0), soft_weight(0.5, false, 2.0)], [0.25, 0.25]);
        assert_eq!([soft_weight(1.0, true, 1.0), soft_weight(0.0, false, 1.0)], [1.0, 1.0]);
        assert_eq!([soft_weight(0.7, true, 0.0), soft_weight(0.9, false, 0.0)], [1.0, 1.0]);
    }
}
