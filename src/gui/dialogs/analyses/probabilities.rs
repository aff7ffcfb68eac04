//! How far a model's probabilities can be trusted: violins of those of right and of wrong predictions, and how often
//! predictions of each probability are right.

use super::super::explain;
use super::analysed::OfModel;
use super::sheet::{Figure, Head, Sheet, SheetRow};
use super::sheet_table::SheetTable;
use super::violins::{AXIS, TICKS, Violins, axis};
use crate::annotation::LabelSet;
use crate::evaluation::{Reliability, ReliabilityBin};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::section;
use crate::wording::counted;
use eframe::egui::{Align, Align2, Label, Layout, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

const DIAGRAM: f32 = 220.0;
/// The greatest dot of the diagram.
const DOT: f32 = 9.0;

pub(super) struct Probabilities {
    violins: Violins,
    /// As they come, and as a person sees them where that differs.
    series: Vec<Series>,
    tables: Vec<SheetTable>,
}

impl Probabilities {
    pub(super) fn new(model: &OfModel, labels: &LabelSet) -> Self {
        let raw = Series { name: "As the model gives them", reliability: model.reliability };
        let calibrated =
            model.calibrated.map(|reliability| Series { name: "As you see them, calibrated on dev", reliability });
        let titles = ["Calibration of probabilities", "Calibration of scores as you see them"];
        let series: Vec<Series> = std::iter::once(raw).chain(calibrated).collect();
        let sheets = series.iter().zip(titles).map(|(series, title)| sheet(title, &series.reliability));
        let violins = Violins::new(&model.violins, labels);
        Self { violins, tables: sheets.map(SheetTable::new).collect(), series }
    }

    pub(super) fn sheets(&self) -> Vec<&Sheet> {
        self.tables.iter().map(SheetTable::sheet).collect()
    }

    pub(super) fn show(&mut self, ui: &mut Ui) {
        if self.violins.is_empty() {
            explain(ui, "The model predicts no mention in these sentences, so there are no probabilities to look at.");
            return;
        }
        let wide = ui.available_width();
        if wide < size::TWO_COLUMNS {
            self.violins.show(ui);
            self.diagram(ui);
        } else {
            let down = Layout::top_down(Align::Min);
            ui.horizontal_top(|ui| {
                let right = DIAGRAM + 2.0 * AXIS;
                ui.allocate_ui_with_layout(vec2(wide - right - size::GAP_SECTION, 0.0), down, |ui| {
                    self.violins.show(ui)
                });
                ui.add_space(size::GAP_LARGE);
                ui.allocate_ui_with_layout(vec2(right, 0.0), down, |ui| self.diagram(ui));
            });
        }
        self.violins.show_labels(ui);
        ui.add_space(size::GAP);
        self.tables.iter_mut().for_each(|table| table.show(ui));
    }

    fn diagram(&self, ui: &mut Ui) {
        section(ui, "Calibration");
        let tokens = theme::tokens(ui);
        let (place, response) = ui.allocate_exact_size(vec2(DIAGRAM + AXIS, DIAGRAM + AXIS), Sense::hover());
        let off: Vec<String> = self.series.iter().map(Series::in_words).collect();
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("calibration: {}", off.join("; "))));
        let painter = ui.painter();
        let field = Rect::from_min_max(place.min + vec2(AXIS, 6.0), place.max - vec2(8.0, AXIS));
        axis(painter, field, tokens, "probability");
        let at = |score: f64, share: f64| {
            pos2(field.left() + score as f32 * field.width(), field.bottom() - share as f32 * field.height())
        };
        for tick in TICKS {
            let text = format!("{:.0}", 100.0 * tick);
            let beside = at(0.0, tick) - vec2(4.0, 0.0);
            painter.text(beside, Align2::RIGHT_CENTER, text, theme::regular(size::TEXT_TAG), tokens.text_dim);
        }
        let diagonal = [at(0.0, 0.0), at(1.0, 1.0)];
        painter.extend(Shape::dashed_line(&diagonal, Stroke::new(1.0, tokens.text_faint), 4.0, 4.0));
        let pointer = response.hover_pos();
        let mut meant = None;
        for (series, color) in self.series.iter().zip([tokens.accent, tokens.less]) {
            let bins = series.reliability.bins;
            let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f32;
            let dot = |bin: &ReliabilityBin| Some((at(bin.mean_score()?, bin.share_right()?), *bin));
            let dots: Vec<(Pos2, ReliabilityBin)> = bins.iter().filter_map(dot).collect();
            painter.add(Shape::line(dots.iter().map(|(dot, _)| *dot).collect(), Stroke::new(1.5, color)));
            for (dot, bin) in &dots {
                let radius = (DOT * (bin.count as f32 / most).sqrt()).max(3.0);
                painter.circle(*dot, radius, color, Stroke::new(1.0, tokens.card));
                if pointer.is_some_and(|pointer| pointer.distance(*dot) <= radius + 3.0) {
                    meant = Some(bin_in_words(*bin));
                }
            }
        }
        if let Some(meant) = meant {
            response.on_hover_text_at_pointer(meant);
        }
        for (text, color) in off.iter().zip([tokens.accent, tokens.less]) {
            ui.add(Label::new(theme::small(text, color)).wrap());
        }
        explain(
            ui,
            "Upwards: how many of them are right, in percent. On the dashed line a probability says what it means; below \
             it the model is too sure.",
        );
    }
}

/// Probabilities against shares of right ones.
struct Series {
    /// "as the model gives them".
    name: &'static str,
    reliability: Reliability,
}

impl Series {
    /// "As the model gives them: off by 4.2 points on average".
    fn in_words(&self) -> String {
        let off = self.reliability.error().map_or_else(|| "–".to_owned(), |error| format!("{:.1}", 100.0 * error));
        format!("{}: off by {off} points on average", self.name)
    }
}

/// "40 predictions of 0.93 on average, 85.0 % of them right".
fn bin_in_words(bin: ReliabilityBin) -> String {
    let predictions = counted(bin.count, "prediction", "predictions");
    let (score, share) = (bin.mean_score().unwrap_or_default(), bin.share_right().unwrap_or_default());
    format!("{predictions} of {score:.2} on average, {:.1} % of them right", 100.0 * share)
}

fn sheet(title: &'static str, reliability: &Reliability) -> Sheet {
    let tenths = reliability.bins.len().max(1) as f64;
    let row = |(number, bin): (usize, &ReliabilityBin)| SheetRow {
        name: format!("{:.1} to {:.1}", number as f64 / tenths, (number + 1) as f64 / tenths),
        color: None,
        figures: vec![
            Figure::Count(bin.count),
            Figure::Count(bin.right),
            Figure::Share(bin.mean_score()),
            Figure::Share(bin.share_right()),
            Figure::Difference(bin.mean_score().zip(bin.share_right()).map(|(score, share)| score - share)),
        ],
    };
    let heads = vec![
        Head::new("Predicted", "predictions with such a probability"),
        Head::new("Right", "those that are right"),
        Head::new("Mean", "mean probability, in percent"),
        Head::new("Right %", "share of right ones, in percent"),
        Head::new("Too sure", "mean probability minus share of right ones, in points"),
    ];
    let rows = reliability.bins.iter().enumerate().map(row).collect();
    Sheet { title, first: "Probability", heads, rows }
}
