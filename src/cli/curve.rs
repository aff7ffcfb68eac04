//! `nestling curve`

use super::CliError;
use super::args::Curve;
use super::output::{Ending, answer, open_to_read};
use super::table::Table;
use crate::session::{CurveBasis, Forecast, LearningCurve, MeasuredPoint, next_point_in_words};
use serde_json::{Value, json};

pub(super) fn run(args: &Curve) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let curve = project.learning_curve();
    let (mut json, mut text) = (to_json(&curve), to_text(&curve));
    let calibration = project.learner().current.as_ref().and_then(|model| model.calibration);
    json["calibration"] = calibration.map_or(Value::Null, |c| {
        json!({
            "temperature": c.scale.temperature,
            "bias": c.scale.bias,
            "error_before": c.error_before,
            "error_after": c.error_after,
        })
    });
    if let Some(c) = calibration {
        text.push_str(&format!(
            "\nScores are off by {:.1} points on average, {:.1} as the model gives them (temperature {:.2}, bias {:+.2})",
            100.0 * c.error_after,
            100.0 * c.error_before,
            c.scale.temperature,
            c.scale.bias
        ));
    }
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

fn to_json(curve: &LearningCurve) -> Value {
    let point = |p: &MeasuredPoint| {
        json!({
            "model": p.model.0,
            "train_sentences": p.train_sentences,
            "train_tokens": p.train_tokens,
            "sentences": p.sentences,
            "f1": p.f1,
            "low": p.low,
            "high": p.high,
        })
    };
    let forecast = |f: &Forecast| {
        json!({
            "more_sentences": f.more_sentences,
            "gain": f.gain,
            "low": f.low,
            "high": f.high,
            "little": f.is_little(),
        })
    };
    json!({
        "measured_on": match curve.basis { CurveBasis::Blind => "blind", CurveBasis::Dev => "dev" },
        "points": curve.points.iter().map(point).collect::<Vec<_>>(),
        "forecast": curve.forecast.as_ref().map(forecast),
        "next_point": curve.next_point.as_ref().map(|next| {
            json!({ "more_sentences": next.about, "least": next.least, "most": next.most })
        }),
    })
}

fn to_text(curve: &LearningCurve) -> String {
    if curve.points.is_empty() {
        return "Nothing is measured yet: that takes a training, and 20 complete sentences of the blind set or of dev"
            .to_owned();
    }
    let mut table = Table::new(["model", "sentences", "tokens", "F1", "band of 95 %", "scored on"]);
    for point in &curve.points {
        let cells = [
            point.train_sentences.to_string(),
            point.train_tokens.to_string(),
            format!("{:.3}", point.f1),
            format!("{:.3} to {:.3}", point.low, point.high),
            point.sentences.to_string(),
        ];
        table.row(&point.model.to_string(), cells);
    }
    let basis = match curve.basis {
        CurveBasis::Blind => "Measured on the blind set.",
        CurveBasis::Dev => {
            "Measured on dev, which also chooses epochs and models: slightly optimistic. `nestling aside`, before the first \
             training, sets sentences aside for an honest curve."
        }
    };
    let forecast = match &curve.forecast {
        None => "Too few points for a forecast.".to_owned(),
        Some(f) => {
            let points = |share: f64| 100.0 * share;
            let (gain, low, high) = (points(f.gain), points(f.low), points(f.high));
            let advice = if f.is_little() { "\nThat is little: look at labels again, or stop." } else { "" };
            let next = curve.next_point.as_ref().map(|next| format!("\n{}", next_point_in_words(next)));
            format!(
                "{} more sentences: about {gain:+.1} points of F1, in nine of ten cases {low:+.1} to {high:+.1}{}{advice}",
                f.more_sentences,
                next.unwrap_or_default()
            )
        }
    };
    format!("{table}{basis}\n{forecast}")
}
