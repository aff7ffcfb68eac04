//! Which spans' vectors are looked at: all of a corpus would be millions.

use super::Judged;
use crate::annotation::{LabelId, Span};
use crate::nn::Rng;
use std::collections::BTreeMap;

/// How many spans are drawn, and by which seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanSampling {
    /// At most. What is compared in pairs costs the square of it.
    pub most: usize,
    /// The same one draws the same spans.
    pub seed: u64,
    /// Whether spans are drawn, too, that are neither gold nor predicted.
    pub others: bool,
}

impl Default for SpanSampling {
    fn default() -> Self {
        Self { most: 2000, seed: 42, others: true }
    }
}

/// What a span is to gold and predicted mentions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SpanKind {
    /// A gold mention, whatever was predicted.
    Mention,
    /// No gold mention, and predicted as one.
    MadeUp,
    /// Neither, and it shares words with a gold mention.
    Overlapping,
    /// Neither, and it shares none.
    Apart,
}

impl SpanKind {
    pub const ALL: [Self; 4] = [Self::Mention, Self::MadeUp, Self::Overlapping, Self::Apart];

    /// What files and the command line call it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::MadeUp => "made_up",
            Self::Overlapping => "overlapping",
            Self::Apart => "apart",
        }
    }
}

/// A span that was drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrawnSpan {
    /// Its number among the sentences.
    pub sentence: usize,
    pub span: Span,
    pub kind: SpanKind,
    /// Of several labels the first.
    pub gold: Option<LabelId>,
    /// The gold label, if that was predicted; else the first of those that were.
    pub predicted: Option<LabelId>,
}

/// How many were drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drawn {
    pub of: usize,
    pub drawn: usize,
}

/// Spans that were drawn, and from how many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpanSample {
    /// In the order of the sentences, and of each by kind and span.
    pub spans: Vec<DrawnSpan>,
    /// Sentences that they are of, of all sentences.
    pub sentences: Drawn,
    /// Of each of [`SpanKind::ALL`], in order.
    pub kinds: [Drawn; 4],
    /// Gold mentions, and spans that were predicted, that are too wide to be drawn.
    pub too_wide: usize,
}

impl SpanSample {
    /// Draws sentences until their spans are enough, so that a mention and the spans around it stay together. Of each all
    /// gold mentions and all spans that were predicted, up to the first number of words of `widest`; and of the other spans, up
    /// to the second, as many that overlap a mention, and as many that don't, where there are so many. What is too much of the last sentence is left
    /// out. Sentences without gold or predicted mentions have nothing to be near to.
    ///
    /// Cost: of each sentence its words times the width times its mentions, to count what there is.
    pub fn draw(sentences: &[Judged<'_>], widest: [usize; 2], sampling: SpanSampling) -> Self {
        let mut sample = Self::default();
        sample.sentences.of = sentences.len();
        let mut rng = Rng::new(sampling.seed, "span vectors");
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        rng.shuffle(&mut order);
        for number in order {
            let Some(sentence) = sentences.get(number) else { continue };
            let (mut spans, too_wide) = named(number, *sentence, widest[0]);
            sample.too_wide += too_wide;
            let wanted = spans.len();
            let [mut overlapping, mut apart] = others(number, *sentence, widest[1], &spans);
            for span in spans.iter().chain(&overlapping).chain(&apart) {
                sample.kinds[span.kind as usize].of += 1;
            }
            if wanted == 0 || sample.spans.len() >= sampling.most {
                continue;
            }
            for list in [&mut overlapping, &mut apart] {
                rng.shuffle(list);
                list.truncate(if sampling.others { wanted } else { 0 });
                list.sort_by_key(|drawn| drawn.span);
                spans.append(list);
            }
            spans.truncate(sampling.most - sample.spans.len());
            sample.sentences.drawn += 1;
            spans.iter().for_each(|span| sample.kinds[span.kind as usize].drawn += 1);
            sample.spans.append(&mut spans);
        }
        sample.spans.sort_by_key(|drawn| (drawn.sentence, drawn.kind, drawn.span));
        sample
    }

    pub fn of_kind(&self, kind: SpanKind) -> Drawn {
        self.kinds[kind as usize]
    }
}

/// The spans that gold or a prediction names, gold ones first, and how many more are too wide.
fn named(sentence: usize, judged: Judged<'_>, widest: usize) -> (Vec<DrawnSpan>, usize) {
    let mut spans: BTreeMap<Span, [Vec<LabelId>; 2]> = BTreeMap::new();
    for (side, mentions) in [judged.gold_set(), judged.predicted_set()].into_iter().enumerate() {
        mentions.into_iter().for_each(|(span, label)| spans.entry(span).or_default()[side].push(label));
    }
    let all = spans.len();
    spans.retain(|span, _| span.width_tokens() <= widest);
    let too_wide = all - spans.len();
    let drawn = |(span, [gold, predicted]): (Span, [Vec<LabelId>; 2])| {
        let agreed = gold.iter().find(|label| predicted.contains(label));
        let [gold_first, predicted_first] = [&gold, &predicted].map(|labels| agreed.or(labels.first()).copied());
        let kind = if gold.is_empty() { SpanKind::MadeUp } else { SpanKind::Mention };
        DrawnSpan { sentence, span, kind, gold: gold_first, predicted: predicted_first }
    };
    let mut drawn: Vec<DrawnSpan> = spans.into_iter().map(drawn).collect();
    drawn.sort_by_key(|drawn| (drawn.kind, drawn.span));
    (drawn, too_wide)
}

/// All other spans: those that overlap a gold mention, and those that don't.
fn others(sentence: usize, judged: Judged<'_>, widest: usize, named: &[DrawnSpan]) -> [Vec<DrawnSpan>; 2] {
    let words = judged.words.len();
    let mut others = [Vec::new(), Vec::new()];
    for start in 0..words {
        let spans =
            (start + 1..=words.min(start.saturating_add(widest))).filter_map(|end| Span::from_range(start..end));
        for span in spans.filter(|span| named.iter().all(|named| named.span != *span)) {
            let overlaps = judged.gold.iter().any(|(gold, _)| gold.overlaps(span));
            let (kind, place) = if overlaps { (SpanKind::Overlapping, 0) } else { (SpanKind::Apart, 1) };
            others[place].push(DrawnSpan { sentence, span, kind, gold: None, predicted: None });
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Raw, judge};
    use super::*;

    /// Of the same five words some times.
    fn draw(times: usize, gold: &[Raw], predicted: &[Raw], widest: usize, most: usize, seed: u64) -> SpanSample {
        let sampling = SpanSampling { most, seed, ..SpanSampling::default() };
        judge(gold, predicted, |sentence| SpanSample::draw(&vec![sentence; times], [widest; 2], sampling))
    }

    fn seen(sample: &SpanSample) -> Vec<String> {
        let label = |label: Option<LabelId>| label.map_or("-".to_owned(), |label| label.0.to_string());
        let one = |d: &DrawnSpan| format!("{:?} {:?} {} {}", d.span, d.kind, label(d.gold), label(d.predicted));
        sample.spans.iter().map(one).collect()
    }

    #[test]
    fn what_is_named_is_drawn_with_as_much_around_it() {
        // A mention with two labels of which one was found, one with a wrong label, one made up, and a wide one.
        let gold = [(0, 2, 1), (0, 2, 3), (3, 4, 1), (0, 5, 2)];
        let predicted = [(0, 2, 3), (3, 4, 2), (2, 3, 1)];
        let sample = draw(1, &gold, &predicted, 2, 100, 1);
        assert_eq!(seen(&sample)[..3], ["0..2 Mention 3 3", "3..4 Mention 1 2", "2..3 MadeUp - 1"]);
        // Of nine spans of one or two words six are left, all of them within the wide mention.
        assert_eq!(sample.too_wide, 1);
        assert_eq!(sample.kinds, [(2, 2), (1, 1), (6, 3), (0, 0)].map(|(of, drawn)| Drawn { of, drawn }));
        assert!(seen(&sample)[3..].iter().all(|span| span.ends_with("Overlapping - -")), "{:?}", seen(&sample));
        assert_eq!(sample.sentences, Drawn { of: 1, drawn: 1 });
    }

    #[test]
    fn no_more_are_drawn_than_asked_for_and_the_seed_says_which() {
        let (gold, predicted) = ([(0, 1, 1), (2, 4, 1)], [(0, 1, 1)]);
        let all = draw(30, &gold, &predicted, 5, 1000, 1);
        // Of fifteen spans two are mentions; two overlap them, two don't.
        assert_eq!((all.spans.len(), all.sentences), (30 * 6, Drawn { of: 30, drawn: 30 }));
        let some = draw(30, &gold, &predicted, 5, 50, 1);
        assert_eq!((some.spans.len(), some.sentences), (50, Drawn { of: 30, drawn: 9 }));
        assert_eq!(some.of_kind(SpanKind::Mention), Drawn { of: 60, drawn: 18 });
        assert_eq!(some.kinds.iter().map(|kind| kind.of).sum::<usize>(), 30 * 15, "all are counted");
        assert_eq!(some, draw(30, &gold, &predicted, 5, 50, 1));
        assert_ne!(some.spans, draw(30, &gold, &predicted, 5, 50, 2).spans);
        let mut places: Vec<(usize, Span)> = all.spans.iter().map(|drawn| (drawn.sentence, drawn.span)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), all.spans.len(), "each once");
    }

    #[test]
    fn without_mentions_there_is_nothing_to_be_near_to() {
        let sample = draw(3, &[], &[], 2, 10, 1);
        assert_eq!((sample.spans.len(), sample.of_kind(SpanKind::Apart)), (0, Drawn { of: 27, drawn: 0 }));
        assert_eq!(draw(3, &[(0, 1, 1)], &[], 2, 0, 1).spans, []);
        let sampling = SpanSampling { others: false, ..SpanSampling::default() };
        let named = judge(&[(0, 1, 1)], &[(1, 2, 1)], |sentence| SpanSample::draw(&[sentence], [2; 2], sampling));
        assert_eq!(seen(&named), ["0..1 Mention 1 -", "1..2 MadeUp - 1"]);
    }
}
