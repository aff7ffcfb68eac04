//! How good the models became, and what more sentences would bring.

use crate::active::{Forecast, NextPoint, Point};
use crate::annotation::{ModelId, Split};
use crate::evaluation::Counts;
use crate::session::project::Project;
use crate::session::project::driver::Driver;
use crate::store::Measurement;
use crate::wording::grouped;
use std::collections::HashMap;

/// Sentences that a forecast is about.
const MORE_SENTENCES: usize = 100;

/// What a learning curve was measured on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CurveBasis {
    /// Sentences that were set aside at random before anything was learned.
    Blind,
    /// There is no blind set, or not enough of it is complete. Dev chooses epochs and models, so that scores on it are a
    /// little too good.
    Dev,
}

/// A model on the curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeasuredPoint {
    pub model: ModelId,
    /// Since 1970, UTC.
    pub time_ms: i64,
    pub train_sentences: usize,
    pub train_tokens: usize,
    /// Sentences that were scored.
    pub sentences: usize,
    /// Strict micro-F1 and a band of 95 % around it, in [0, 1].
    pub f1: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct LearningCurve {
    pub basis: CurveBasis,
    /// By the number of sentences that were learned from.
    pub points: Vec<MeasuredPoint>,
    /// `None` where there are too few points to tell.
    pub forecast: Option<Forecast>,
    /// The same, asked the other way round.
    pub next_point: Option<NextPoint>,
}

impl Project {
    /// How often a model was measured: the curve is another one when this is.
    pub fn measured(&self) -> usize {
        self.measurements().len()
    }

    /// Makes the honest curve where there is one, see [`CurveBasis`], away from the project: the forecast takes a while.
    pub fn forecasting(&self) -> impl FnOnce() -> LearningCurve + Send + 'static + use<> {
        let on = |split| self.measurements().iter().filter(move |m| m.split == split);
        let (basis, split) = match on(Split::Blind).next() {
            Some(_) => (CurveBasis::Blind, Split::Blind),
            None => (CurveBasis::Dev, Split::Dev),
        };
        let mut points: Vec<MeasuredPoint> = on(split)
            .map(|m| {
                let Measurement { true_positives, false_positives, false_negatives, .. } = *m;
                let counts = Counts { true_positives, false_positives, false_negatives };
                MeasuredPoint {
                    model: m.model,
                    time_ms: m.time_ms,
                    train_sentences: m.train_sentences,
                    train_tokens: m.train_tokens,
                    sentences: m.sentences,
                    f1: counts.f1().unwrap_or(0.0),
                    low: m.low,
                    high: m.high,
                }
            })
            .collect();
        points.sort_by_key(|p| (p.train_sentences, p.model));
        // Models of another kind are on another curve.
        let kinds: HashMap<ModelId, (String, String)> =
            self.models().map(|info| (info.id, (info.encoder, info.architecture))).collect();
        let last = points.iter().max_by_key(|p| p.model).and_then(|p| kinds.get(&p.model));
        let alike = points.iter().filter(|p| kinds.get(&p.model) == last);
        let curve: Vec<Point> = alike.map(|p| (p.train_sentences as f64, p.f1)).collect();
        move || {
            let (forecast, next_point) = (Forecast::of(&curve, MORE_SENTENCES), NextPoint::of(&curve));
            LearningCurve { basis, points, forecast, next_point }
        }
    }
}

impl Driver {
    /// See [`Project::forecasting`].
    pub fn learning_curve(&self) -> LearningCurve {
        self.forecasting()()
    }
}

/// "The next point of F1 takes about 180 more sentences, in nine of ten cases between 60 and 900".
pub fn next_point_in_words(next: &NextPoint) -> String {
    let few = |least: Option<usize>| least.map_or_else(|| "many".to_owned(), roughly);
    let case = match next.most {
        Some(most) => format!("between {} and {}", few(next.least), roughly(most)),
        None => format!("{} or more, or it never comes", few(next.least)),
    };
    match next.about {
        Some(about) => {
            format!("The next point of F1 takes about {} more sentences, in nine of ten cases {case}", roughly(about))
        }
        None => {
            format!("Even {} times as many sentences would not bring the next point of F1", NextPoint::FARTHEST)
        }
    }
}

/// With two digits that mean something.
fn roughly(number: usize) -> String {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    grouped((number + unit / 2) / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_next_point_is_told_as_roughly_as_it_is_known() {
        let said = |about, least, most| next_point_in_words(&NextPoint { about, least, most });
        expect!["The next point of F1 takes about 180 more sentences, in nine of ten cases between 7 and 1,300"]
            .assert_eq(&said(Some(183), Some(7), Some(1262)));
        expect![
            "The next point of F1 takes about 99 more sentences, in nine of ten cases 62 or more, or it never comes"
        ]
        .assert_eq(&said(Some(99), Some(62), None));
        expect!["Even 10 times as many sentences would not bring the next point of F1"].assert_eq(&said(
            None,
            Some(5),
            None,
        ));
    }
}
