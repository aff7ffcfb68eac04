//! `nestling evaluate --by vectors,similarity`: what a model sees in spans.

use super::json::{name, place, score};
use super::table::Table;
use crate::annotation::Corpus;
use crate::evaluation::{Drawn, MeanCosine, SpanKind};
use crate::session::{EvaluateReport, SpanPicture, SpanPoint};
use crate::wording::{counted, grouped};
use serde_json::{Map, Value, json};

/// What was drawn of how much, and each span with its place on the plane.
pub(super) fn json_of_vectors(done: &EvaluateReport, corpus: &Corpus) -> Value {
    let Some(picture) = &done.vectors else { return Value::Null };
    let drawn = |drawn: Drawn| json!({ "of": drawn.of, "drawn": drawn.drawn });
    let kinds = SpanKind::ALL.map(|kind| (kind.id().to_owned(), drawn(picture.of_kind(kind))));
    let point = |point: &SpanPoint| {
        let (document, number) = place(corpus, point.sentence).unwrap_or_default();
        let sentence = corpus.sentence(point.sentence);
        json!({
            "document": document,
            "sentence": number,
            "start": point.span.start().get(),
            "end": point.span.end().get(),
            "words": sentence.map(|sentence| corpus.span_text(sentence, point.span)),
            "kind": point.kind.id(),
            "gold": point.gold.map(|label| name(label, corpus)),
            "predicted": point.predicted.map(|label| name(label, corpus)),
            "x": point.at[0],
            "y": point.at[1],
        })
    };
    json!({
        "seed": picture.sampling.seed,
        "most": picture.sampling.most,
        "sentences": drawn(picture.sentences),
        "kinds": kinds.into_iter().collect::<Map<_, _>>(),
        "too_wide": picture.too_wide,
        "size": picture.size,
        "shown": picture.shown,
        "points": picture.points.iter().map(point).collect::<Vec<_>>(),
        "wall_secs": picture.wall_secs,
    })
}

pub(super) fn text_of_vectors(done: &EvaluateReport) -> String {
    let Some(picture) = &done.vectors else { return String::new() };
    let mut table = Table::new(["spans", "there are", "drawn", "right"]);
    for (kind, title) in [
        (SpanKind::Mention, "gold mentions"),
        (SpanKind::MadeUp, "made up by the model"),
        (SpanKind::Overlapping, "others that overlap a mention"),
        (SpanKind::Apart, "others that don't"),
    ] {
        let Drawn { of, drawn } = picture.of_kind(kind);
        let right = picture.points.iter().filter(|point| point.kind == kind && point.is_right()).count();
        table.row(title, [grouped(of), grouped(drawn), grouped(right)]);
    }
    let shown = match picture.shown {
        Some([x, y]) => format!(
            "the plane shows {:.1} % and {:.1} % of the variance of the mentions; --output draws it",
            100.0 * x,
            100.0 * y
        ),
        None => "with fewer than two mentions there is no plane".to_owned(),
    };
    format!("{table}{}\n{shown}\n", drawn_from(picture))
}

/// What was drawn of how much.
fn drawn_from(picture: &SpanPicture) -> String {
    let Drawn { of, drawn } = picture.sentences;
    let too_wide = match picture.too_wide {
        0 => String::new(),
        wide => format!("; {} wider than the model's max width left out", counted(wide, "mention", "mentions")),
    };
    format!(
        "vectors of {} numbers of {} from {} of {}, drawn with seed {}{too_wide}",
        grouped(picture.size),
        counted(picture.points.len(), "span", "spans"),
        grouped(drawn),
        counted(of, "sentence", "sentences"),
        picture.sampling.seed
    )
}

/// DSpERT's Tables 4 and 5.
pub(super) fn json_of_similarity(done: &EvaluateReport) -> Value {
    let Some(picture) = &done.vectors else { return Value::Null };
    let similarity = picture.similarity;
    let cosine = |mean: MeanCosine| json!({ "cosine": mean.mean(), "pairs": mean.pairs });
    let rows = similarity.rows().map(|(name, mean)| (name.to_owned(), cosine(mean)));
    let norm = ("entity_norm".to_owned(), json!(similarity.entity_norm));
    let of = [("spans", picture.points.len() as u64), ("seed", picture.sampling.seed)];
    let of = of.map(|(key, value)| (key.to_owned(), value.into()));
    Value::Object(rows.into_iter().chain([norm]).chain(of).collect())
}

pub(super) fn text_of_similarity(done: &EvaluateReport) -> String {
    let Some(picture) = &done.vectors else { return String::new() };
    let mut table = Table::new(["cosine of", "mean", "pairs"]);
    let titles = [
        "a mention and spans that share no word",
        "a mention and spans that share up to half",
        "a mention and spans that share more",
        "mentions of one label",
        "mentions of two labels",
        "a mention and what is none",
    ];
    for (title, (_, mean)) in titles.into_iter().zip(picture.similarity.rows()) {
        table.row(title, [score(mean.mean()), grouped(mean.pairs)]);
    }
    let norm = picture.similarity.entity_norm.map_or_else(|| "-".to_owned(), |norm| format!("{norm:.2}"));
    format!("{table}{}\nmean norm of a mention's vector {norm}\n", drawn_from(picture))
}
