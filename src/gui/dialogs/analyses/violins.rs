//! Violins of probabilities: those of right predictions above a line, those of wrong ones below it; of all labels, and of each.

use super::super::explain;
use super::analysed::{Side, Violin};
use super::scores::name_and_color;
use crate::annotation::{LabelSet, Rgb};
use crate::gui::theme::{self, Tokens, size};
use crate::gui::widgets::galleys::elided;
use crate::gui::widgets::parts::{paint_dot, section};
use crate::wording::counted;
use eframe::egui::{Align2, Color32, Mesh, Painter, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

const HEIGHT: f32 = 170.0;
/// For numbers below and beside a plot.
pub(super) const AXIS: f32 = 34.0;
pub(super) const TICKS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Of the violin of one label.
const ROW: f32 = 56.0;
const NAMES: f32 = 150.0;
const COUNTS: f32 = 190.0;
const SIDES: [&str; 2] = ["right", "wrong"];

pub(super) struct Violins {
    all: Option<Named>,
    labels: Vec<Named>,
}

struct Named {
    name: String,
    color: Option<Rgb>,
    sides: [Side; 2],
    /// "12 right predictions, median 0.93", of each side.
    spoken: [String; 2],
}

impl Named {
    fn new(violin: &Violin, labels: &LabelSet) -> Self {
        let (name, color) = match violin.label {
            Some(label) => name_and_color(labels, label),
            None => ("all labels".to_owned(), None),
        };
        let spoken = [0, 1].map(|side| in_words(&violin.sides[side], SIDES[side]));
        Self { name, color, sides: violin.sides.clone(), spoken }
    }

    /// Both halves in a field, in one scale, with the middle half and the median of each.
    fn paint(&self, painter: &Painter, field: Rect, margin: f32, tokens: &Tokens) {
        let most = self.sides.iter().flat_map(|side| &side.density).copied().fold(0.0, f64::max).max(1e-9);
        let middle = field.center().y;
        for (side, up, color) in [(&self.sides[0], -1.0, tokens.accent), (&self.sides[1], 1.0, tokens.less)] {
            let half = field.height() / 2.0 - margin;
            paint_half(painter, field, side, up * half / most as f32, theme::mix(tokens.card, color, 0.7));
            if let Some(quartiles) = side.quartiles {
                marks(painter, field, quartiles, middle + up * 5.0, tokens.text);
            }
        }
        painter.hline(field.x_range(), middle, Stroke::new(1.0, tokens.line_strong));
    }
}

impl Violins {
    pub(super) fn new(violins: &[Violin], labels: &LabelSet) -> Self {
        let named = |violin: &Violin| Named::new(violin, labels);
        let all = violins.iter().find(|violin| violin.label.is_none()).map(named);
        Self { all, labels: violins.iter().filter(|violin| violin.label.is_some()).map(named).collect() }
    }

    /// Nothing was predicted.
    pub(super) fn is_empty(&self) -> bool {
        self.all.as_ref().is_none_or(|all| all.sides.iter().all(|side| side.count == 0))
    }

    /// That of all labels.
    pub(super) fn show(&self, ui: &mut Ui) {
        let Some(all) = &self.all else { return };
        section(ui, "Probabilities of right and wrong predictions");
        let tokens = theme::tokens(ui);
        let (place, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT + AXIS), Sense::hover());
        let spoken = format!("violins of probabilities: {}; {}", all.spoken[0], all.spoken[1]);
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
        let painter = ui.painter();
        let field = Rect::from_min_max(place.min + vec2(8.0, 0.0), place.max - vec2(8.0, AXIS));
        axis(painter, field, tokens, "probability");
        all.paint(painter, field, size::TEXT_SMALL + 6.0, tokens);
        let corners = [(field.left_top(), Align2::LEFT_TOP), (field.left_bottom(), Align2::LEFT_BOTTOM)];
        for ((at, align), spoken) in corners.into_iter().zip(&all.spoken) {
            painter.text(at, align, spoken, theme::regular(size::TEXT_SMALL), tokens.text);
        }
        explain(
            ui,
            "Above the line right predictions, below it wrong ones. The bar holds the middle half, the stroke is the \
             median. The further apart both are, the more the probability says.",
        );
    }

    /// That of each label, in a row; with one label it would be the same again.
    pub(super) fn show_labels(&self, ui: &mut Ui) {
        if self.labels.len() < 2 {
            return;
        }
        section(ui, "By label");
        self.labels.iter().for_each(|label| show_label(ui, label));
    }
}

fn show_label(ui: &mut Ui, label: &Named) {
    let tokens = theme::tokens(ui);
    let (place, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    response.widget_info(|| {
        let spoken = format!("{}: {}; {}", label.name, label.spoken[0], label.spoken[1]);
        WidgetInfo::labeled(Role::Image, true, spoken)
    });
    if !ui.is_rect_visible(place) {
        return;
    }
    let painter = ui.painter();
    let middle = place.center().y;
    if let Some(color) = label.color {
        paint_dot(painter, pos2(place.left() + 8.0, middle), theme::label_color(color, tokens), true);
    }
    let name = elided(ui, &label.name, theme::regular(size::TEXT), tokens.text, NAMES - 24.0);
    painter.galley(pos2(place.left() + 20.0, middle - name.size().y / 2.0), name, tokens.text);
    let field = Rect::from_min_max(place.min + vec2(NAMES, 0.0), place.max - vec2(COUNTS, 0.0));
    TICKS.iter().for_each(|tick| {
        painter.vline(field.left() + *tick as f32 * field.width(), field.y_range(), Stroke::new(1.0, tokens.line));
    });
    label.paint(painter, field, 3.0, tokens);
    for (spoken, up) in label.spoken.iter().zip([-1.0, 1.0]) {
        let said = elided(ui, spoken, theme::regular(size::TEXT_SMALL), tokens.text_dim, COUNTS - 8.0);
        let y = middle + up * ROW / 4.0 - said.size().y / 2.0;
        painter.galley(pos2(field.right() + 8.0, y), said, tokens.text_dim);
    }
}

/// "12 right predictions, median 0.93".
fn in_words(side: &Side, name: &str) -> String {
    let predictions = counted(side.count, &format!("{name} prediction"), &format!("{name} predictions"));
    match side.quartiles {
        Some([_, median, _]) => format!("{predictions}, median {median:.2}"),
        None => predictions,
    }
}

/// The density at equal steps from 0 to 1, times `scale` points, away from the middle.
fn paint_half(painter: &Painter, field: Rect, side: &Side, scale: f32, color: Color32) {
    let steps = side.density.len().saturating_sub(1).max(1) as f32;
    let middle = field.center().y;
    let mut mesh = Mesh::default();
    for (step, density) in side.density.iter().enumerate() {
        let x = field.left() + field.width() * step as f32 / steps;
        mesh.colored_vertex(pos2(x, middle), color);
        mesh.colored_vertex(pos2(x, middle + scale * *density as f32), color);
        if step > 0 {
            let last = 2 * step as u32;
            mesh.add_triangle(last - 2, last - 1, last);
            mesh.add_triangle(last - 1, last, last + 1);
        }
    }
    painter.add(Shape::mesh(mesh));
}

/// The middle half as a bar, and the median as a stroke.
fn marks(painter: &Painter, field: Rect, [low, median, high]: [f64; 3], y: f32, color: Color32) {
    let x = |share: f64| field.left() + share as f32 * field.width();
    painter.hline(x(low)..=x(high), y, Stroke::new(3.0, color));
    painter.vline(x(median), y - 4.0..=y + 4.0, Stroke::new(2.0, color));
}

/// Numbers below a plot of probabilities, lines up from them, and what they are.
pub(super) fn axis(painter: &Painter, field: Rect, tokens: &Tokens, name: &str) {
    let font = theme::regular(size::TEXT_TAG);
    for tick in TICKS {
        let x = field.left() + tick as f32 * field.width();
        painter.vline(x, field.y_range(), Stroke::new(1.0, tokens.line));
        let below = pos2(x, field.bottom() + 3.0);
        painter.text(below, Align2::CENTER_TOP, format!("{tick}"), font.clone(), tokens.text_dim);
    }
    let below = pos2(field.center().x, field.bottom() + AXIS);
    painter.text(below, Align2::CENTER_BOTTOM, name, font, tokens.text_dim);
}
