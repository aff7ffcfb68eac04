//! Which spans train: those of gold, and of the others so many as are drawn (Eq. 20).

use crate::model::candidates::{Rows, spans_from};
use crate::model::{SampleCounts, Sentence};
use crate::nn::Rng;

/// Gold spans up to `max_width` words, and `min(|S|, negatives)` of the |S| others of each sentence, each as likely as any other.
/// They are in order, those that begin with one word together.
///
/// One walk over all spans, which takes each negative one with the chance that it is among those that are still to be drawn
/// (Knuth's Algorithm S).
pub(super) fn draw(batch: &[&Sentence], max_width: usize, negatives: usize, rng: &mut Rng) -> (Rows, SampleCounts) {
    let (mut rows, mut counts, mut first_word) = (Rows::default(), SampleCounts::default(), 0);
    for sentence in batch {
        let spans = || (0..sentence.len()).flat_map(|start| spans_from(start, sentence.len(), max_width));
        let mut left = spans().filter(|span| sentence.class(*span) == 0).count();
        let mut wanted = left.min(negatives);
        for span in spans() {
            let class = sentence.class(span);
            if class == 0 {
                let is_drawn = rng.below(left) < wanted;
                left -= 1;
                if !is_drawn {
                    continue;
                }
                wanted -= 1;
            }
            rows.push(first_word, span);
            rows.classes.push(class);
            counts.count(class != 0);
        }
        rows.end_sentence(first_word, sentence.len());
        first_word += sentence.len();
    }
    (rows, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;
    use crate::model::Class;
    use std::collections::BTreeSet;

    fn sentence(words: usize, gold: &[(usize, usize, Class)]) -> Sentence {
        let words = vec!["x".to_owned(); words];
        let gold: Vec<_> = gold.iter().map(|&(s, e, c)| (Span::from_range(s..e).unwrap(), c)).collect();
        Sentence::new(&words, &gold)
    }

    #[test]
    fn all_of_gold_trains_and_as_many_others_as_there_may_be() {
        let (long, short) = (sentence(40, &[(3, 5, 2), (3, 4, 1), (9, 20, 1)]), sentence(3, &[(0, 1, 1)]));
        let (rows, counts) = draw(&[&long, &short], 4, 100, &mut Rng::new(1, "t"));
        // The mention of eleven words is no candidate. The short sentence has six spans, of which one is gold.
        assert_eq!(counts, SampleCounts { positive: 3, negative: 105 });
        assert_eq!((rows.len(), rows.groups[0].rows.len(), rows.groups[1].rows.len()), (108, 102, 6));
        assert_eq!((rows.groups[1].words.clone(), rows.first[102], rows.last[107]), (40..43, 40, 42));
        let spans: Vec<(u32, u32)> = rows.first.iter().copied().zip(rows.width.iter().copied()).collect();
        assert!(spans.windows(2).all(|pair| pair[0] < pair[1]), "in order, each once");
        for (i, (first, width)) in spans.iter().enumerate() {
            assert_eq!(rows.last[i], first + width);
            let gold = [(3, 1, 2), (3, 0, 1), (40, 0, 1)].iter().find(|gold| (gold.0, gold.1) == (*first, *width));
            assert_eq!(rows.classes[i], gold.map_or(0, |gold| gold.2));
        }
        assert_eq!(draw(&[&short], 4, 1, &mut Rng::new(1, "t")).1, SampleCounts { positive: 1, negative: 1 });
    }

    #[test]
    fn each_negative_span_is_drawn_as_often_as_any_other() {
        let long = sentence(100, &[(0, 1, 1)]);
        let (mut rng, mut times, mut draws) = (Rng::new(1, "t"), vec![0; 100], BTreeSet::new());
        for _ in 0..1000 {
            let (rows, counts) = draw(&[&long], 1, 10, &mut rng);
            assert_eq!(counts, SampleCounts { positive: 1, negative: 10 });
            rows.first.iter().for_each(|word| times[*word as usize] += 1);
            draws.insert(rows.first);
        }
        // Of 99 negative ones each 101 times on average.
        assert_eq!(times[0], 1000);
        assert!(times[1..].iter().all(|times| (60..145).contains(times)), "{times:?}");
        assert!(draws.len() > 990, "an epoch draws other ones than the one before");
    }
}
