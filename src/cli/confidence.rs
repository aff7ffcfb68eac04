//! `nestling evaluate --by scores,calibration`: how sure a model is, and whether it should be.

use super::json::{name, score};
use super::table::Table;
use crate::annotation::Corpus;
use crate::evaluation::{Reliability, ScoreDistribution, density, quantile};
use crate::session::EvaluateReport;
use serde_json::{Map, Value, json};

/// Of right and of wrong predictions how many, their quantiles by the share below, and their density at equal steps from 0 to
/// 1; of all, and of each label.
pub(super) fn json_of_scores(done: &EvaluateReport, corpus: &Corpus) -> Value {
    let side = |scores: &[f32]| {
        let quantiles = ScoreDistribution::SHARES.map(|share| (share.to_string(), json!(quantile(scores, share))));
        json!({
            "count": scores.len(),
            "quantiles": quantiles.into_iter().collect::<Map<_, _>>(),
            "density": density(scores, ScoreDistribution::POINTS),
        })
    };
    let both = |of: &ScoreDistribution| json!({ "right": side(&of.right), "wrong": side(&of.wrong) });
    let labels = done.scores_by_label();
    let labels = labels.iter().map(|(label, of)| (name(*label, corpus).to_owned(), both(of)));
    let mut scores = both(&done.scores());
    if let Value::Object(scores) = &mut scores {
        scores.insert("labels".to_owned(), Value::Object(labels.collect()));
    }
    scores
}

pub(super) fn text_of_scores(done: &EvaluateReport, corpus: &Corpus) -> String {
    let shares = ScoreDistribution::SHARES.map(|share| match share {
        0.0 => "least".to_owned(),
        1.0 => "greatest".to_owned(),
        share => format!("{:.0} %", 100.0 * share),
    });
    let mut table = Table::new(["scores".to_owned(), "count".to_owned()].into_iter().chain(shares));
    let mut rows = |label: &str, of: &ScoreDistribution| {
        for (side, scores) in [("right", &of.right), ("wrong", &of.wrong)] {
            let quantiles = ScoreDistribution::SHARES.map(|share| score(quantile(scores, share)));
            table.row(&format!("{label}, {side}"), [scores.len().to_string()].into_iter().chain(quantiles));
        }
    };
    rows("all", &done.scores());
    done.scores_by_label().iter().for_each(|(label, of)| rows(name(*label, corpus), of));
    format!("{table}of predicted mentions so many per cent have a score up to this\n")
}

/// Suggestions by tenths of their scores, as the model gives them and as dev has calibrated them.
pub(super) fn json_of_calibration(done: &EvaluateReport) -> Value {
    let bins = |reliability: &Reliability| -> Vec<Value> {
        let edge = |number: usize| number as f64 / reliability.bins.len() as f64;
        let bin = |(number, bin): (usize, &crate::evaluation::ReliabilityBin)| {
            json!({
                "from": edge(number),
                "to": edge(number + 1),
                "count": bin.count,
                "score": bin.mean_score(),
                "right": bin.share_right(),
            })
        };
        reliability.bins.iter().enumerate().map(bin).collect()
    };
    let before = done.reliability();
    let after = done.calibration.zip(done.calibrated_reliability()).map(|(calibration, after)| {
        json!({
            "temperature": calibration.scale.temperature,
            "bias": calibration.scale.bias,
            "bins": bins(&after),
            "error": after.error(),
        })
    });
    json!({
        "suggestions": done.suggestions.len(),
        "bins": bins(&before),
        "error": before.error(),
        "calibrated": after,
    })
}

pub(super) fn text_of_calibration(done: &EvaluateReport) -> String {
    let (before, after) = (done.reliability(), done.calibrated_reliability());
    let head = ["score", "count", "mean score", "share right"];
    let more: &[&str] = if after.is_some() { &["calibrated: count", "mean score", "share right"] } else { &[] };
    let mut table = Table::new(head.into_iter().chain(more.iter().copied()));
    for (number, bin) in before.bins.iter().enumerate() {
        let cells = |bin: &crate::evaluation::ReliabilityBin| {
            [bin.count.to_string(), score(bin.mean_score()), score(bin.share_right())]
        };
        let calibrated = after.iter().filter_map(|after| after.bins.get(number)).flat_map(cells);
        let [from, to] = [number, number + 1].map(|edge| edge as f64 / before.bins.len() as f64);
        table.row(&format!("{from:.1}-{to:.1}"), cells(bin).into_iter().chain(calibrated));
    }
    let error = format!("expected calibration error {}", score(before.error()));
    match (done.calibration, after) {
        (Some(calibration), Some(after)) => format!(
            "{table}{error}; {} with the temperature {:.2} and the bias {:+.2} of dev\n",
            score(after.error()),
            calibration.scale.temperature,
            calibration.scale.bias
        ),
        _ => format!("{table}{error}; the model is not calibrated: there was too little on dev when it was trained\n"),
    }
}
