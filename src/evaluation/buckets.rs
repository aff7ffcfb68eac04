//! Strict scores by four properties of a mention and of its sentence.
//!
//! The properties and their intervals are those of "Win-Win Cooperation", Eq. 23 and Table 5, after Fu et al. 2020. A
//! predicted mention goes by its own length and label as a gold one does; the sentence's properties are those of its
//! words and its gold mentions. Ours, where the paper is silent: words that are no mention in training have a label
//! consistency of 0, and nested mentions all count for the density, which may exceed 1 then (XL).

use super::{Consistency, Counts, Judged};

/// Names of the four rows.
const ROWS: [&str; 4] = ["XS", "S", "L", "XL"];

/// Greatest values of XS, S and L, in tokens.
const ENTITY_LENGTH: [f64; 3] = [1.0, 2.0, 4.0];
const TEXT_LENGTH: [f64; 3] = [7.0, 16.0, 31.0];
/// Greatest values of XS, S and L.
const LABEL_CONSISTENCY: [f64; 3] = [0.1, 0.5, 0.9];
const ENTITY_DENSITY: [f64; 3] = [0.01, 0.025, 0.05];

/// Counts of one property, from the smallest values to the greatest. The rows add up to the micro counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bucketed {
    counts: [Counts; ROWS.len()],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Buckets {
    /// eLen: tokens of the mention (1, 2, 3-4, more).
    pub entity_length: Bucketed,
    /// tLen: tokens of the sentence (to 7, 16, 31, more).
    pub text_length: Bucketed,
    /// eCon: [`Consistency`] of the mention's words and label (to .1, .5, .9, 1); `None` without training mentions.
    pub label_consistency: Option<Bucketed>,
    /// eDen: gold mentions for each token of the sentence (to .01, .025, .05, more).
    pub entity_density: Bucketed,
}

impl Buckets {
    /// Counts over all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>, consistency: &Consistency<'_>) -> Self {
        let label_consistency = (!consistency.is_empty()).then(Bucketed::default);
        let mut buckets = Self { label_consistency, ..Self::default() };
        for sentence in sentences {
            let tokens = sentence.words.len() as f64;
            let density = sentence.gold_set().len() as f64 / tokens.max(1.0);
            for (span, label, counts) in sentence.strict() {
                buckets.entity_length.add(span.width_tokens() as f64, ENTITY_LENGTH, counts);
                buckets.text_length.add(tokens, TEXT_LENGTH, counts);
                buckets.entity_density.add(density, ENTITY_DENSITY, counts);
                if let Some(bucketed) = &mut buckets.label_consistency {
                    let surface = sentence.words.get(span.range()).unwrap_or_default();
                    bucketed.add(consistency.share(surface, label), LABEL_CONSISTENCY, counts);
                }
            }
        }
        buckets
    }
}

impl Buckets {
    /// Of each property, by the paper's name.
    pub fn properties(&self) -> [(&'static str, Option<Bucketed>); 4] {
        [
            ("eLen", Some(self.entity_length)),
            ("tLen", Some(self.text_length)),
            ("eCon", self.label_consistency),
            ("eDen", Some(self.entity_density)),
        ]
    }
}

impl Bucketed {
    /// `XS`, `S`, `L`, `XL` with their counts.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Counts)> {
        ROWS.into_iter().zip(self.counts)
    }

    fn add(&mut self, value: f64, greatest: [f64; 3], counts: Counts) {
        let bounds = greatest.into_iter().chain([f64::INFINITY]);
        if let Some((_, total)) = bounds.zip(&mut self.counts).find(|(bound, _)| value <= *bound) {
            *total += counts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::counts;
    use super::*;
    use crate::annotation::{LabelId, Span};

    fn row(bucketed: Bucketed) -> String {
        let shown = bucketed.rows().filter(|(_, c)| *c != Counts::default());
        let shown =
            shown.map(|(name, c)| format!("{name} {}/{}/{}", c.true_positives, c.false_positives, c.false_negatives));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn each_mention_counts_once_for_each_property() {
        let words: Vec<String> = (0..40).map(|i| format!("w{i}")).collect();
        let mention = |s, e, label| (Span::from_range(s..e).unwrap(), LabelId(label));
        // In training w0 is labelled 1 once and 2 once; w2 w3 always 1.
        let training = [mention(0, 1, 1), mention(0, 1, 2), mention(2, 4, 1)];
        let consistency = Consistency::of([(words.as_slice(), training.as_slice())]);
        // In a sentence of 40 words 1 gold mention is a density of .025; in one of 7 words 2 are .29.
        let gold = [mention(0, 1, 1)];
        let predicted = [mention(0, 1, 2), mention(2, 4, 1), mention(5, 10, 1)];
        let long = Judged { words: &words, gold: &gold, predicted: &predicted, first_words: None, candidates: 0 };
        let gold = [mention(2, 4, 1), mention(2, 4, 2)];
        let short = Judged { words: &words[..7], gold: &gold, predicted: &gold, first_words: None, candidates: 0 };
        let buckets = Buckets::of([long, short], &consistency);
        assert_eq!(row(buckets.entity_length), "XS 0/1/1, S 2/1/0, XL 0/1/0");
        assert_eq!(row(buckets.text_length), "XS 2/0/0, XL 0/3/1");
        assert_eq!(row(buckets.label_consistency.unwrap()), "XS 1/1/0, S 0/1/1, XL 1/1/0");
        assert_eq!(row(buckets.entity_density), "S 0/3/1, XL 2/0/0");
        assert_eq!(Buckets::of([long], &Consistency::default()).label_consistency, None);
    }

    #[test]
    fn the_upper_end_of_an_interval_belongs_to_it() {
        let mut bucketed = Bucketed::default();
        for value in [0.0, 1.0 / 10.0, 0.1001, 5.0 / 10.0, 9.0 / 10.0, 1.0, 7.0] {
            bucketed.add(value, LABEL_CONSISTENCY, counts(1, 0, 0));
        }
        assert_eq!(row(bucketed), "XS 2/0/0, S 2/0/0, L 1/0/0, XL 2/0/0");
    }
}
