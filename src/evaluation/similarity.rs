//! How alike a model's vectors of spans are: what lies close together is hard to tell apart.
//!
//! "Deep Span Representations for Named Entity Recognition", Tables 4 and 5: cosine similarity of entities and the spans that
//! overlap them, by how far they do, and within and between classes; with the vectors' norms.

use crate::annotation::{LabelId, Span};

/// A span of a sentence with its gold label, `None` for none, and the vector that a model classifies it by.
#[derive(Clone, Copy, Debug)]
pub struct SpanVector<'a> {
    /// Which sentence it is of.
    pub sentence: usize,
    pub span: Span,
    pub label: Option<LabelId>,
    pub vector: &'a [f32],
}

/// A mean over pairs; `None` without any.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MeanCosine {
    sum: f64,
    pub pairs: usize,
}

impl MeanCosine {
    fn add(&mut self, cosine: f64) {
        self.sum += cosine;
        self.pairs += 1;
    }

    pub fn mean(self) -> Option<f64> {
        (self.pairs > 0).then(|| self.sum / self.pairs as f64)
    }
}

/// Cosine similarities in [-1, 1].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Similarity {
    /// Of an entity and other spans of its sentence, by the share of their words that both have (the words of both over the
    /// words of either, ours: the paper says "the proportion of the shared tokens"): 0, up to 0.5, above.
    pub apart: MeanCosine,
    pub weakly_overlapping: MeanCosine,
    pub strongly_overlapping: MeanCosine,
    /// Of two entities of one label, and of two labels, in any sentences.
    pub within_labels: MeanCosine,
    pub between_labels: MeanCosine,
    /// Of an entity and what is none.
    pub to_none: MeanCosine,
    /// Mean Euclidean norm of the entities' vectors.
    pub entity_norm: Option<f64>,
}

impl Similarity {
    /// Overlaps are looked at within sentences, classes over all spans, so that the cost grows with the square of their
    /// number: 2,000 spans are 2 million pairs.
    pub fn of(spans: &[SpanVector<'_>]) -> Self {
        let mut similarity = Self::default();
        let norms: Vec<f64> = spans.iter().map(|span| norm(span.vector)).collect();
        let entity_norms: Vec<f64> =
            spans.iter().zip(&norms).filter(|(span, _)| span.label.is_some()).map(|(_, norm)| *norm).collect();
        if !entity_norms.is_empty() {
            similarity.entity_norm = Some(entity_norms.iter().sum::<f64>() / entity_norms.len() as f64);
        }
        for (place, (first, first_norm)) in spans.iter().zip(&norms).enumerate() {
            for (second, second_norm) in spans.iter().zip(&norms).skip(place + 1) {
                if first.label.is_none() && second.label.is_none() || *first_norm == 0.0 || *second_norm == 0.0 {
                    continue;
                }
                let cosine = dot(first.vector, second.vector) / (first_norm * second_norm);
                similarity.add(first, second, cosine);
            }
        }
        similarity
    }

    /// Each mean with its name.
    pub fn rows(&self) -> [(&'static str, MeanCosine); 6] {
        [
            ("non_overlapping", self.apart),
            ("weakly_overlapping", self.weakly_overlapping),
            ("strongly_overlapping", self.strongly_overlapping),
            ("within_labels", self.within_labels),
            ("between_labels", self.between_labels),
            ("to_none", self.to_none),
        ]
    }

    fn add(&mut self, first: &SpanVector<'_>, second: &SpanVector<'_>, cosine: f64) {
        if first.sentence == second.sentence && first.span != second.span {
            let overlap = overlap(first.span, second.span);
            let group = match overlap {
                0.0 => &mut self.apart,
                ..=0.5 => &mut self.weakly_overlapping,
                _ => &mut self.strongly_overlapping,
            };
            group.add(cosine);
        }
        let group = match (first.label, second.label) {
            (Some(a), Some(b)) if a == b => &mut self.within_labels,
            (Some(_), Some(_)) => &mut self.between_labels,
            _ => &mut self.to_none,
        };
        group.add(cosine);
    }
}

/// Words of both over words of either, in [0, 1].
fn overlap(a: Span, b: Span) -> f64 {
    let shared = a.end().get().min(b.end().get()).saturating_sub(a.start().get().max(b.start().get()));
    shared as f64 / (a.width_tokens() + b.width_tokens() - shared) as f64
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn norm(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_go_to_their_groups() {
        let span = |sentence, start, end, label: Option<u32>, vector| SpanVector {
            sentence,
            span: Span::from_range(start..end).unwrap(),
            label: label.map(LabelId),
            vector,
        };
        let (right, up, both) = ([2.0, 0.0], [0.0, 1.0], [1.0, 1.0]);
        let spans = [
            span(0, 0, 4, Some(1), right.as_slice()),
            // Two of four words, three of four, none; and in another sentence.
            span(0, 0, 2, Some(2), up.as_slice()),
            span(0, 0, 3, None, both.as_slice()),
            span(0, 5, 6, None, up.as_slice()),
            span(1, 0, 4, Some(1), right.as_slice()),
        ];
        let similarity = Similarity::of(&spans);
        let close = |mean: MeanCosine, wanted: f64, pairs: usize| {
            assert!((mean.mean().unwrap() - wanted).abs() < 1e-9 && mean.pairs == pairs, "{mean:?}");
        };
        let half = 0.5_f64.sqrt();
        close(similarity.weakly_overlapping, 0.0, 1);
        close(similarity.strongly_overlapping, half, 2);
        // The last is apart from both entities of its sentence: at a right angle from one, along the other.
        close(similarity.apart, 0.5, 2);
        close(similarity.within_labels, 1.0, 1);
        close(similarity.between_labels, 0.0, 2);
        close(similarity.to_none, (3.0 * half + 1.0) / 6.0, 6);
        assert_eq!(similarity.entity_norm, Some(5.0 / 3.0));
    }

    #[test]
    fn nothing_to_compare_is_none() {
        let similarity = Similarity::of(&[]);
        assert_eq!((similarity.apart.mean(), similarity.entity_norm), (None, None));
    }
}
