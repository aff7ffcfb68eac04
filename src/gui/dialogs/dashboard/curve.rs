//! The learning curve: how good the models became, on what that was measured, and what more sentences would bring.
//!
//! # Invariants
//! - The curve is made by a task, when there are new measurements: its forecast takes a while. Until then the one of
//!   before stays.

use super::super::explain;
use crate::gui::theme::{self, Tokens, size};
use crate::gui::widgets::parts::banner;
use crate::session::{
    Counts, CurveBasis, ENOUGH_DEV, Forecast, LearningCurve, MeasuredPoint, Project, Task, TaskLost, Waker,
    next_point_in_words,
};
use crate::wording::{counted, grouped};
use eframe::egui::{Label, Role, Sense, Ui, WidgetInfo};
use egui_plot::{AxisHints, FilledArea, GridMark, HoverPosition, Line, LineStyle, Plot, PlotPoints, Points};

const WHAT_F1_IS: &str = "F1 is 100 when a model finds every mention with its exact words and label, and nothing \
                          else. Missed and wrong mentions lower it.";
/// The name of the points in the plot: only they answer to the pointer.
const MODELS: &str = "models";
/// Between two lines across the plot, in points of F1.
const Y_STEP: f64 = 10.0;
/// Ticks below the plot, about.
const X_TICKS: f64 = 6.0;

#[derive(Default)]
pub(super) struct CurveCard {
    /// With how many measurements it was made, or is being made.
    made_of: Option<usize>,
    making: Option<Task<LearningCurve>>,
    made: Option<Result<LearningCurve, TaskLost>>,
}

impl CurveCard {
    pub(super) fn follow(&mut self, project: &Project, waker: &Waker) {
        let measured = project.measured();
        if self.made_of != Some(measured) {
            self.made_of = Some(measured);
            (self.making, self.made) = match measured {
                // Nothing is forecast of nothing.
                0 => (None, Some(Ok(project.forecasting()()))),
                _ => {
                    let task = Task::spawn("learning curve", waker.clone(), project.forecasting());
                    (Some(task), self.made.take())
                }
            };
        }
        if let Some(made) = self.making.as_ref().and_then(Task::poll) {
            (self.making, self.made) = (None, Some(made));
        }
    }

    pub(super) fn show(&self, ui: &mut Ui, project: &Project) {
        let curve = match &self.made {
            None => return explain(ui, "Computing the curve …"),
            Some(Err(lost)) => return explain(ui, &lost.to_string()),
            Some(Ok(curve)) => curve,
        };
        let tokens = theme::tokens(ui);
        let Some(last) = curve.points.last() else {
            explain(ui, &what_is_missing(project.counts()));
            explain(ui, WHAT_F1_IS);
            return;
        };
        ui.add(Label::new(theme::small(latest(last), tokens.text)).wrap());
        plot(ui, curve, last);
        explain(ui, &basis(curve, project.counts()));
        ui.add_space(size::GAP_SMALL);
        match &curve.forecast {
            Some(forecast) => {
                ui.add(Label::new(theme::heading(outlook(forecast), tokens.text)).wrap());
                if let Some(next) = &curve.next_point {
                    ui.add(Label::new(theme::body(next_point_in_words(next), tokens.text)).wrap());
                }
                if forecast.is_little() {
                    banner(tokens.warn_fill, tokens.line).show(ui, |ui| {
                        let advice = "That is little: reconsider your labels, or stop here.";
                        ui.add(Label::new(theme::small(advice, tokens.text)).wrap());
                    });
                }
            }
            None => explain(ui, &no_outlook(&curve.points)),
        }
        explain(ui, WHAT_F1_IS);
    }
}

fn what_is_missing(counts: &Counts) -> String {
    if counts.blind_complete >= ENOUGH_DEV || counts.dev >= ENOUGH_DEV {
        return "Nothing measured yet. Enough sentences to score on are complete; the next training adds the first \
                point."
            .to_owned();
    }
    let blind = if counts.blind == 0 {
        "of the blind set, which is empty".to_owned()
    } else {
        format!("of the blind set, which has {}", grouped(counts.blind_complete))
    };
    format!(
        "Nothing measured yet. This needs a trained model and {ENOUGH_DEV} complete sentences that no model learns \
         from: {blind}, or of dev, which has {} and gets one in five of the sentences you complete.",
        grouped(counts.dev)
    )
}

/// "Model 4, trained on 120 sentences: F1 61.2, with a certainty of 95 % between 55.0 and 67.1".
fn latest(point: &MeasuredPoint) -> String {
    let [f1, low, high] = [point.f1, point.low, point.high].map(percent);
    // The band is had by drawing from the scored sentences: where these are all alike it has no width, and says nothing.
    let how_sure = if high - low < 0.05 {
        let scored = counted(point.sentences, "scored sentence", "scored sentences");
        format!("; its {scored} came out alike, so the margin of error is unknown")
    } else {
        format!(", 95 % confidence interval {low:.1} to {high:.1}")
    };
    let learned = counted(point.train_sentences, "sentence", "sentences");
    format!("Model {}, trained on {learned}: F1 {f1:.1}{how_sure}", point.model)
}

fn basis(curve: &LearningCurve, counts: &Counts) -> String {
    let numbers = || curve.points.iter().map(|point| point.sentences);
    let (fewest, most) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
    let most_of_them = counted(most, "sentence", "sentences");
    let number = if fewest == most { most_of_them } else { format!("{} to {most_of_them}", grouped(fewest)) };
    match curve.basis {
        CurveBasis::Blind => format!("Measured on {number} of the blind set, which no model learned from."),
        CurveBasis::Dev => {
            let later = if counts.blind == 0 {
                ""
            } else if counts.blind_complete < ENOUGH_DEV {
                " The blind set takes over when enough of it is complete."
            } else {
                " The blind set takes over with the next training."
            };
            format!(
                "Measured on {number} of dev. Dev also decides when a training ends and which model is kept, so \
                 these scores are slightly optimistic.{later}"
            )
        }
    }
}

fn outlook(forecast: &Forecast) -> String {
    let [gain, low, high] = [forecast.gain, forecast.low, forecast.high].map(tenths);
    format!(
        "{}: about {gain:+.1} F1 points, in nine of ten cases between {low:+.1} and {high:+.1}",
        counted(forecast.more_sentences, "more sentence", "more sentences")
    )
}

fn no_outlook(points: &[MeasuredPoint]) -> String {
    let there = grouped(points.len());
    format!(
        "No forecast yet. It needs {} measured models with the same encoder ({there} so far), and the last must have \
         learned from at least {} times as many sentences as the first.",
        Forecast::FEWEST_POINTS,
        Forecast::LEAST_GROWTH,
    )
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// In percent, to a tenth, without a zero that is less than nothing.
fn tenths(share: f64) -> f64 {
    (1000.0 * share).round() / 10.0 + 0.0
}

fn plot(ui: &mut Ui, curve: &LearningCurve, last: &MeasuredPoint) {
    let tokens = theme::tokens(ui);
    let points = &curve.points;
    let ahead = curve.forecast.as_ref().map(|forecast| Ahead::of(forecast, last));
    let (x_end, y_range) = bounds(points, ahead.as_ref());
    let step = x_step(x_end);
    let x_axis = AxisHints::new_x().label(theme::small("annotated sentences", tokens.text_dim));
    let y_axis = AxisHints::new_y().label(theme::small("F1 in %", tokens.text_dim));
    let axes = [x_axis, y_axis].map(|axis| {
        let axis = axis.tick_label_font(theme::regular(size::TEXT_TAG)).tick_label_color(tokens.text_dim);
        axis.formatter(|mark, _| grouped(mark.value.max(0.0).round() as usize))
    });
    let [x_axis, y_axis] = axes;
    let response = Plot::new("learning curve")
        .height(size::PLOT)
        .sense(Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .show_crosshair(false)
        .show_grid([false, true])
        .grid_color(tokens.line)
        .grid_fade(0.0)
        .x_grid_spacer(move |input| marks(input.bounds, step))
        .y_grid_spacer(|input| marks(input.bounds, Y_STEP))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .label_formatter(|at| match at {
            HoverPosition::NearDataPoint { plot_name, index, .. } if *plot_name == MODELS => {
                points.get(*index).map(of_point)
            }
            _ => None,
        })
        .show(ui, |plot| {
            plot.set_plot_bounds_x(0.0..=x_end);
            plot.set_plot_bounds_y(y_range.0..=y_range.1);
            items(points, ahead.as_ref(), tokens, plot);
        })
        .response;
    let spoken = format!("learning curve, {}", counted(points.len(), "model", "models"));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
}

fn items<'p>(points: &[MeasuredPoint], ahead: Option<&Ahead>, tokens: &Tokens, plot: &mut egui_plot::PlotUi<'p>) {
    let band = theme::mix(tokens.card, tokens.accent, 0.2);
    let line = |name: &str, points: Vec<[f64; 2]>| {
        Line::new(name, PlotPoints::new(points)).color(tokens.accent).width(2.0).allow_hover(false)
    };
    let xs: Vec<f64> = points.iter().map(|p| p.train_sentences as f64).collect();
    let column = |of: fn(&MeasuredPoint) -> f64| -> Vec<f64> { points.iter().map(|p| percent(of(p))).collect() };
    let (lows, highs, f1) = (column(|p| p.low), column(|p| p.high), column(|p| p.f1));
    if let Some(ahead) = ahead {
        let faint = theme::mix(tokens.card, tokens.accent, 0.1);
        let (lows, highs) = ([ahead.from[1], ahead.low], [ahead.from[1], ahead.high]);
        let area = FilledArea::new("forecast band", &[ahead.from[0], ahead.to[0]], &lows, &highs).fill_color(faint);
        plot.add(area.allow_hover(false));
    }
    plot.add(FilledArea::new("band", &xs, &lows, &highs).fill_color(band).allow_hover(false));
    // Where the band has no width it would not be seen: one model, or several of as many sentences.
    for (x, (low, high)) in xs.iter().zip(lows.iter().zip(&highs)) {
        plot.line(line("", vec![[*x, *low], [*x, *high]]).color(band));
    }
    if let Some(ahead) = ahead {
        plot.line(line("forecast", vec![ahead.from, ahead.to]).style(LineStyle::dashed_dense()));
    }
    let dots: Vec<[f64; 2]> = xs.iter().zip(&f1).map(|(x, y)| [*x, *y]).collect();
    plot.line(line("F1", dots.clone()));
    plot.points(Points::new(MODELS, PlotPoints::new(dots)).color(tokens.accent).radius(size::DOT - 1.0));
}

/// The words beside a point under the pointer.
fn of_point(point: &MeasuredPoint) -> String {
    let [f1, low, high] = [point.f1, point.low, point.high].map(percent);
    let (learned, scored) = (counted(point.train_sentences, "sentence", "sentences"), grouped(point.sentences));
    format!("Model {}: F1 {f1:.1} ({low:.1} to {high:.1})\ntrained on {learned}, scored on {scored}", point.model)
}

/// Where the forecast goes from the last point, in the units of the plot.
struct Ahead {
    from: [f64; 2],
    to: [f64; 2],
    low: f64,
    high: f64,
}

impl Ahead {
    fn of(forecast: &Forecast, last: &MeasuredPoint) -> Self {
        let from = [last.train_sentences as f64, percent(last.f1)];
        let after = |gain: f64| percent(last.f1 + gain).clamp(0.0, 100.0);
        let to = [from[0] + forecast.more_sentences as f64, after(forecast.gain)];
        Self { from, to, low: after(forecast.low), high: after(forecast.high) }
    }
}

/// The end of the x axis, which begins at nothing, and both ends of the y axis, at whole steps.
fn bounds(points: &[MeasuredPoint], ahead: Option<&Ahead>) -> (f64, (f64, f64)) {
    let x_last = points.iter().map(|p| p.train_sentences).max().unwrap_or(0) as f64;
    let x_end = ahead.map_or(x_last, |ahead| ahead.to[0]);
    let lows = points.iter().map(|p| percent(p.low)).chain(ahead.map(|a| a.low));
    let highs = points.iter().map(|p| percent(p.high)).chain(ahead.map(|a| a.high));
    let low = (lows.fold(100.0, f64::min) / Y_STEP).floor() * Y_STEP;
    let high = (highs.fold(0.0, f64::max) / Y_STEP).ceil() * Y_STEP;
    // A little air, so that points at the edge and their numbers are whole.
    (x_end.max(1.0) * 1.04, (low - 2.0, high.max(low + Y_STEP) + 2.0))
}

/// One, two or five, with as many zeros as give about [`X_TICKS`] ticks.
fn x_step(end: f64) -> f64 {
    let rough = (end / X_TICKS).max(1.0);
    let unit = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * unit >= rough).unwrap_or(10.0);
    step * unit
}

fn marks((from, to): (f64, f64), step: f64) -> Vec<GridMark> {
    let first = (from / step).ceil().max(0.0);
    let values = (0..).map(|n| (first + f64::from(n)) * step).take_while(|value| *value <= to);
    values.map(|value| GridMark { value, step_size: step }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::ModelId;
    use expect_test::expect;

    fn point(train_sentences: usize, sentences: usize, f1: f64) -> MeasuredPoint {
        let (low, high) = (f1 - 0.06, f1 + 0.06);
        MeasuredPoint { model: ModelId(1), time_ms: 0, train_sentences, train_tokens: 0, sentences, f1, low, high }
    }

    #[test]
    fn it_says_what_is_missing() {
        let counts = Counts { dev: 5, ..Counts::default() };
        expect![
            "Nothing measured yet. This needs a trained model and 20 complete sentences that no model learns from: \
                 of the blind set, which is empty, or of dev, which has 5 and gets one in five of the sentences you \
                 complete."
        ]
        .assert_eq(&what_is_missing(&counts));
        let counts = Counts { blind: 100, blind_complete: 20, ..Counts::default() };
        assert!(what_is_missing(&counts).contains("the next training adds the first point"));
        expect![
            "No forecast yet. It needs 5 measured models with the same encoder (1 so far), and the last must have \
                 learned from at least 2 times as many sentences as the first."
        ]
        .assert_eq(&no_outlook(&[point(20, 25, 0.5)]));
    }

    #[test]
    fn it_says_on_what_it_was_measured() {
        let points = vec![point(20, 25, 0.4), point(60, 31, 0.5)];
        let mut curve = LearningCurve { basis: CurveBasis::Blind, points, forecast: None, next_point: None };
        let counts = Counts { blind: 100, blind_complete: 3, ..Counts::default() };
        expect!["Measured on 25 to 31 sentences of the blind set, which no model learned from."]
            .assert_eq(&basis(&curve, &counts));
        curve.basis = CurveBasis::Dev;
        expect![
            "Measured on 25 to 31 sentences of dev. Dev also decides when a training ends and which model is \
                 kept, so these scores are slightly optimistic. The blind set takes over when enough of it is \
                 complete."
        ]
        .assert_eq(&basis(&curve, &counts));
    }

    #[test]
    fn a_forecast_is_told_in_points() {
        let forecast = Forecast { more_sentences: 100, gain: 0.0043, low: -0.0001, high: 0.0117 };
        expect!["100 more sentences: about +0.4 F1 points, in nine of ten cases between +0.0 and +1.2"]
            .assert_eq(&outlook(&forecast));
        expect!["Model 1, trained on 1,200 sentences: F1 61.2, 95 % confidence interval 55.2 to 67.2"]
            .assert_eq(&latest(&point(1200, 25, 0.612)));
        let perfect = MeasuredPoint { f1: 1.0, low: 1.0, high: 1.0, ..point(100, 25, 1.0) };
        expect![
            "Model 1, trained on 100 sentences: F1 100.0; its 25 scored sentences came out alike, so the margin \
                 of error is unknown"
        ]
        .assert_eq(&latest(&perfect));
    }

    #[test]
    fn axes_end_and_tick_at_round_numbers() {
        assert_eq!([1.0, 6.0, 40.0, 220.0, 1000.0, 130_000.0].map(x_step), [1.0, 1.0, 10.0, 50.0, 200.0, 50_000.0]);
        let (x_end, (low, high)) = bounds(&[point(100, 25, 0.5)], None);
        assert!((x_end - 104.0).abs() < 1e-9 && (low, high) == (38.0, 62.0), "{x_end} {low} {high}");
        let values: Vec<f64> = marks((38.0, 62.0), Y_STEP).iter().map(|mark| mark.value).collect();
        assert_eq!(values, [40.0, 50.0, 60.0]);
    }
}
