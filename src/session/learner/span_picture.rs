//! What a model sees in spans, on a plane and in pairs.
//!
//! All spans of a corpus would be millions, so some are drawn; what is drawn, of how many, and by which seed is said.
//! Cost: the encoder sees the sentences of the drawn spans once more, and every two vectors are compared: 2,000 spans make
//! 2 million products.

use crate::annotation::{LabelId, SentenceId, Span};
use crate::evaluation::{
    Drawn, DrawnSpan, Judged, Projection, Similarity, SpanKind, SpanSample, SpanSampling, SpanVector,
};
use crate::model::USUAL_MAX_WIDTH;
use crate::session::SessionError;
use crate::session::error::stopped;
use crate::train::{PredictOptions, Predictor};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What a model sees in spans: the vectors that it classifies them by, on a plane and in pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct SpanPicture {
    pub sampling: SpanSampling,
    /// Sentences that the spans are of, of all that were scored.
    pub sentences: Drawn,
    /// Of each of [`SpanKind::ALL`], in order.
    pub kinds: [Drawn; 4],
    /// Gold and predicted mentions that were left out, because the model can't classify spans as wide.
    pub too_wide: usize,
    /// In the order of the text.
    pub points: Vec<SpanPoint>,
    /// Share of the variance of the mentions' vectors that each axis of the plane shows, in [0, 1]; `None` with fewer than two
    /// mentions: then all points are 0.
    pub shown: Option<[f64; 2]>,
    pub similarity: Similarity,
    /// Numbers of a vector.
    pub size: usize,
    /// Of the vectors, the plane and the similarities.
    pub wall_secs: f64,
}

/// A span on the plane of greatest variance of the gold mentions' vectors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpanPoint {
    pub sentence: SentenceId,
    pub span: Span,
    pub kind: SpanKind,
    /// Of several labels the first.
    pub gold: Option<LabelId>,
    /// The gold label, if that was predicted; else the first of those that were.
    pub predicted: Option<LabelId>,
    /// Across and up.
    pub at: [f64; 2],
}

impl SpanPoint {
    /// Whether a gold mention was found with its label, or a span that is none was left alone.
    pub fn is_right(&self) -> bool {
        self.gold == self.predicted
    }
}

impl SpanPicture {
    /// Draws spans, asks for their vectors, and looks at these. The axes are those of the gold mentions, as in DSpERT's Figure 4.
    pub(super) fn of(
        predictor: &Predictor,
        ids: &[SentenceId],
        judged: &[Judged<'_>],
        sampling: SpanSampling,
        cancel: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let begun = Instant::now();
        let manifest = predictor.manifest();
        // What learns no "none" knows nothing of other spans.
        let sampling = SpanSampling { others: sampling.others && !manifest.labels_given(), ..sampling };
        let max_width = manifest.settings.max_width();
        let widest = [max_width.unwrap_or(usize::MAX), max_width.unwrap_or(USUAL_MAX_WIDTH)];
        let sample = SpanSample::draw(judged, widest, sampling);
        let of_sentence = |spans: &[DrawnSpan]| {
            let words = judged.get(spans.first()?.sentence)?.words;
            Some((words, spans.iter().map(|drawn| drawn.span).collect()))
        };
        let asked: Vec<(&[String], Vec<Span>)> =
            sample.spans.chunk_by(|a, b| a.sentence == b.sentence).filter_map(of_sentence).collect();
        let vectors = predictor.span_vectors(&asked, PredictOptions::default(), cancel).map_err(stopped)?;
        let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
        let drawn = || sample.spans.iter().zip(&vectors);
        let size = vectors.first().map_or(0, Vec::len);
        let mentions: Vec<f32> =
            drawn().filter(|(span, _)| span.kind == SpanKind::Mention).flat_map(|(_, vector)| vector.clone()).collect();
        let plane = Projection::of(&mentions, size);
        let point = |(drawn, vector): (&DrawnSpan, &Vec<f32>)| {
            let at = plane.as_ref().map_or([0.0; 2], |plane| plane.place(vector));
            let sentence = ids.get(drawn.sentence).copied()?;
            Some(SpanPoint {
                sentence,
                span: drawn.span,
                kind: drawn.kind,
                gold: drawn.gold,
                predicted: drawn.predicted,
                at,
            })
        };
        let compared: Vec<SpanVector<'_>> = drawn()
            .map(|(d, vector)| SpanVector { sentence: d.sentence, span: d.span, label: d.gold, vector })
            .collect();
        Ok(Self {
            sampling,
            sentences: sample.sentences,
            kinds: sample.kinds,
            too_wide: sample.too_wide,
            points: drawn().filter_map(point).collect(),
            shown: plane.as_ref().map(|plane| plane.shown),
            similarity: Similarity::of(&compared),
            size,
            wall_secs: begun.elapsed().as_secs_f64(),
        })
    }

    pub fn of_kind(&self, kind: SpanKind) -> Drawn {
        self.kinds[kind as usize]
    }
}
