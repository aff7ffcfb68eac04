//! F1 of every variant: a dot for each seed, the mean, and a bar of one standard deviation to each side of it.

use super::kept::ShownRow;
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::elided;
use eframe::egui::{Align2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

const ROW: f32 = 26.0;
/// Below the rows, for the axis.
const AXIS: f32 = 40.0;
/// Of the width, for names; and points at the right for figures.
const NAMES: f32 = 0.3;
const FIGURES: f32 = 110.0;
/// How far from a dot the pointer still means it.
const NEAR: f32 = 8.0;

pub(super) fn show(ui: &mut Ui, rows: &[&ShownRow]) {
    let tokens = theme::tokens(ui);
    let height = ROW * rows.len() as f32 + AXIS;
    let (place, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let spoken: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, figure(row))).collect();
    response.widget_info(|| {
        let text = format!("F1 of each seed with mean and standard deviation: {}", spoken.join(", "));
        WidgetInfo::labeled(Role::Image, true, text)
    });
    let left = place.left() + (NAMES * place.width()).floor();
    let field = Rect::from_min_max(pos2(left, place.top()), pos2(place.right() - FIGURES, place.bottom() - AXIS));
    let axis = Axis::around(rows.iter().flat_map(|row| row.seeds.iter().map(|(_, f1)| 100.0 * f1)));
    let x = |percent: f64| field.left() + axis.share(percent) * field.width();
    let painter = ui.painter();
    let tag = theme::regular(size::TEXT_TAG);
    for tick in axis.ticks() {
        painter.vline(x(tick), field.y_range(), Stroke::new(1.0, tokens.line));
        let text = format!("{tick:.*}", axis.digits());
        let below = pos2(x(tick), field.bottom() + 3.0);
        painter.text(below, Align2::CENTER_TOP, text, tag.clone(), tokens.text_dim);
    }
    let below = pos2(field.center().x, place.bottom());
    painter.text(below, Align2::CENTER_BOTTOM, "F1 in %", tag, tokens.text_dim);
    let pointer = response.hover_pos();
    let mut meant = None;
    for (at, row) in rows.iter().enumerate() {
        let y = field.top() + ROW * (at as f32 + 0.5);
        let font = theme::regular(size::TEXT_SMALL);
        let galley = elided(ui, &row.name, font.clone(), tokens.text, left - place.left() - size::GAP);
        let painter = ui.painter();
        painter.galley(pos2(left - size::GAP - galley.size().x, y - galley.size().y / 2.0), galley, tokens.text);
        let faint = theme::mix(tokens.card, tokens.accent, 0.55);
        for (seed, f1) in &row.seeds {
            let dot = pos2(x(100.0 * f1), y);
            painter.circle_filled(dot, size::DOT, faint);
            if pointer.is_some_and(|pointer| pointer.distance(dot) <= NEAR) {
                meant = Some(format!("{}, seed {seed}: F1 {:.2}", row.name, 100.0 * f1));
            }
        }
        let Some(mean) = row.f1.mean.map(|mean| 100.0 * mean) else { continue };
        if let Some(deviation) = row.f1.deviation.map(|deviation| 100.0 * deviation) {
            painter.hline(x(mean - deviation)..=x(mean + deviation), y, Stroke::new(2.0, tokens.accent));
        }
        painter.vline(x(mean), y - 8.0..=y + 8.0, Stroke::new(3.0, tokens.accent));
        painter.text(pos2(field.right() + size::GAP, y), Align2::LEFT_CENTER, figure(row), font, tokens.text);
    }
    if let Some(meant) = meant {
        response.on_hover_text_at_pointer(meant);
    }
}

/// "61.20 ± 0.42".
fn figure(row: &ShownRow) -> String {
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    match (row.f1.mean, row.f1.deviation) {
        (None, _) => "–".to_owned(),
        (Some(mean), None) => percent(mean),
        (Some(mean), Some(deviation)) => format!("{} ± {}", percent(mean), percent(deviation)),
    }
}

/// From a step below the least figure to a step above the greatest, in percent.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn around(figures: impl Iterator<Item = f64>) -> Self {
        let bounds = figures.fold(None, |bounds: Option<(f64, f64)>, f| {
            Some(bounds.map_or((f, f), |(low, high)| (low.min(f), high.max(f))))
        });
        let (least, most) = bounds.unwrap_or((0.0, 100.0));
        let step = [0.5, 1.0, 2.0, 5.0, 10.0].into_iter().find(|step| (most - least) / step <= 6.0).unwrap_or(20.0);
        let low = ((least / step - 0.5).floor() * step).max(0.0);
        let high = ((most / step + 0.5).ceil() * step).min(100.0).max(low + step);
        Self { low, high, step }
    }

    /// Where a figure lies on it, in [0, 1].
    fn share(&self, percent: f64) -> f32 {
        ((percent.clamp(self.low, self.high) - self.low) / (self.high - self.low)) as f32
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (low, step) = (self.low, self.step);
        let count = ((self.high - low) / step + 1e-9).floor() as usize;
        (0..=count).map(move |tick| low + step * tick as f64)
    }

    fn digits(&self) -> usize {
        if self.step < 1.0 { 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_holds_all_figures_and_ticks_at_whole_steps() {
        for all in [vec![], vec![0.0], vec![100.0], vec![65.1, 65.3], vec![10.0, 90.0]] {
            let axis = Axis::around(all.iter().copied());
            assert!(axis.low < axis.high && all.iter().all(|f1| (axis.low..=axis.high).contains(f1)), "{all:?}");
            let ticks: Vec<f64> = axis.ticks().collect();
            assert!(
                (2..=10).contains(&ticks.len()) && ticks.iter().all(|tick| *tick <= axis.high),
                "{all:?}: {ticks:?}"
            );
        }
        let axis = Axis::around([60.2, 64.9].into_iter());
        assert_eq!(axis.ticks().collect::<Vec<_>>(), [59.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0, 66.0]);
        assert!((axis.share(62.5) - 0.5).abs() < 1e-6);
    }
}
