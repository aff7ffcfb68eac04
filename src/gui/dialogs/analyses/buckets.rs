//! F1 by four properties of mentions and sentences, as a heat map: of one model, or of two and their difference.

use super::super::explain;
use super::analysed::{Analysed, OfModel};
use super::sheet::{Figure, Sheet, SheetRow, score_figures, score_heads};
use crate::evaluation::{self, Bucketed, Counts};
use crate::gui::theme::{self, Tokens};
use crate::gui::widgets::heat_map::{HeatCell, HeatMap, HeatMapState};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::section;
use crate::wording::{capital, counted};
use eframe::egui::{Color32, Ui, Vec2, vec2};

const CELL: Vec2 = vec2(122.0, 48.0);
const NAMES: f32 = 170.0;
const SIZES: [&str; 4] = ["XS", "S", "L", "XL"];
/// A difference of so many points of F1 has the fullest colour.
const FULL_DIFFERENCE: f64 = 0.2;

/// A property with what its sizes are, as in `docs/evaluation.md`.
struct Property {
    name: &'static str,
    sizes: [&'static str; 4],
    of: fn(&evaluation::Buckets) -> Option<Bucketed>,
}

const PROPERTIES: [Property; 4] = [
    Property {
        name: "Length of the mention",
        sizes: ["1 word", "2 words", "3-4 words", "5+ words"],
        of: |buckets| Some(buckets.entity_length),
    },
    Property {
        name: "Length of the sentence",
        sizes: ["1-7 words", "8-16 words", "17-31 words", "32+ words"],
        of: |buckets| Some(buckets.text_length),
    },
    Property {
        name: "Label consistency",
        sizes: ["0-0.1", "to 0.5", "to 0.9", "to 1"],
        of: |buckets| buckets.label_consistency,
    },
    Property {
        name: "Mentions for each word",
        sizes: ["0-0.01", "to 0.025", "to 0.05", "more"],
        of: |buckets| Some(buckets.entity_density),
    },
];

/// What is shown of two models.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Second,
    Difference,
}

pub(super) struct Buckets {
    /// Counts of the chosen model, and of the one that it is compared with.
    cells: Vec<Vec<(Counts, Option<Counts>)>>,
    rows: Vec<String>,
    properties: Vec<&'static Property>,
    names: [String; 2],
    side: Side,
    sheet: Sheet,
    state: HeatMapState,
    lacks_consistency: bool,
}

impl Buckets {
    pub(super) fn new(analysed: &Analysed) -> Self {
        let first = analysed.first.report.buckets;
        let second = analysed.second.as_ref().and_then(|second| second.report.buckets);
        let (mut cells, mut properties) = (Vec::new(), Vec::new());
        for property in &PROPERTIES {
            let Some(counts) = first.as_ref().and_then(property.of) else { continue };
            let others = second.as_ref().and_then(property.of);
            let others = others.iter().flat_map(|of| of.rows()).map(|(_, counts)| Some(counts));
            let others = others.chain(std::iter::repeat(None));
            cells.push(counts.rows().map(|(_, counts)| counts).zip(others).collect::<Vec<_>>());
            properties.push(property);
        }
        let rows = properties.iter().zip(&cells).flat_map(|(property, cells)| {
            SIZES.iter().zip(property.sizes).zip(cells).map(|((size, range), (first, second))| SheetRow {
                name: format!("{}, {size} ({range})", property.name),
                color: None,
                figures: score_figures(*first, *second),
            })
        });
        let with = analysed.second.as_ref().filter(|_| second.is_some());
        let sheet = Sheet {
            title: "Scores by bucket",
            first: "Bucket",
            heads: score_heads(with.map(|second| second.name.as_str())),
            rows: rows.collect(),
        };
        let name = |model: Option<&OfModel>| model.map(|model| capital(&model.name)).unwrap_or_default();
        Self {
            rows: properties.iter().map(|property| property.name.to_owned()).collect(),
            names: [name(Some(&analysed.first)), name(with)],
            side: if with.is_some() { Side::Difference } else { Side::First },
            lacks_consistency: first.is_some_and(|buckets| buckets.label_consistency.is_none()),
            cells,
            properties,
            sheet,
            state: HeatMapState::default(),
        }
    }

    pub(super) fn sheets(&self) -> Vec<&Sheet> {
        vec![&self.sheet]
    }

    pub(super) fn show(&mut self, ui: &mut Ui) {
        let tokens = theme::tokens(ui);
        section(ui, "F1 by bucket");
        let [first, second] = &self.names;
        if !second.is_empty() {
            ui.horizontal_wrapped(|ui| {
                for (side, name) in [(Side::Difference, "Difference"), (Side::First, first), (Side::Second, second)] {
                    leaves_enter(ui.selectable_value(&mut self.side, side, name));
                }
            });
        }
        let columns = SIZES.map(str::to_owned);
        let (cells, properties, side) = (&self.cells, &self.properties, self.side);
        let (least, most) = bounds(cells, side);
        let cell = |row: usize, column: usize| {
            let counts = cells.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default();
            let (name, range) =
                properties.get(row).map_or(("", ""), |p| (p.name, p.sizes.get(column).copied().unwrap_or("")));
            let (text, fill) = shown(counts, side, (least, most), tokens);
            let gold = counts.0.support();
            let size = SIZES.get(column).copied().unwrap_or("");
            HeatCell {
                spoken: format!(
                    "{name}, {size}, {range}: {} {text}, {}",
                    what(side),
                    counted(gold, "gold mention", "gold mentions")
                ),
                text,
                note: format!("{range} · {gold}"),
                fill,
                leads: false,
            }
        };
        let map = HeatMap { id: "buckets", columns: &columns, rows: &self.rows, names: NAMES, cell: CELL };
        map.show(ui, &mut self.state, None, cell);
        let legend = match side {
            Side::Difference => format!(
                "F1 of {first} minus F1 of {second}, in points: blue where {first} is better, orange where it is \
                 worse. Below: the range, and how many gold mentions there are."
            ),
            Side::First | Side::Second => "F1 in percent, the better the bluer. Below: the range, and how many gold \
                                           mentions there are. Few of them make a score uncertain."
                .to_owned(),
        };
        explain(ui, &legend);
        explain(
            ui,
            "Label consistency: of all mentions in training that are written the same, the share with this label; 0 for \
             words that are no mention there.",
        );
        if self.lacks_consistency {
            explain(ui, "Label consistency is left out: the training sentences have no mention.");
        }
    }
}

fn what(side: Side) -> &'static str {
    if side == Side::Difference { "difference of F1" } else { "F1" }
}

fn value((first, second): (Counts, Option<Counts>), side: Side) -> Option<f64> {
    match side {
        Side::First => first.f1(),
        Side::Second => second?.f1(),
        Side::Difference => first.f1_above(second?),
    }
}

/// The least and the greatest F1 that is shown.
fn bounds(cells: &[Vec<(Counts, Option<Counts>)>], side: Side) -> (f64, f64) {
    let all = || cells.iter().flatten().filter_map(|counts| value(*counts, side));
    (all().fold(1.0, f64::min), all().fold(0.0, f64::max))
}

/// What stands in a cell, and its colour.
fn shown(
    counts: (Counts, Option<Counts>),
    side: Side,
    (least, most): (f64, f64),
    tokens: &Tokens,
) -> (String, Color32) {
    let value = value(counts, side);
    match (value, side) {
        (None, _) => ("–".to_owned(), tokens.card),
        (Some(by), Side::Difference) => {
            (Figure::Difference(value).shown(), theme::diverging((by / FULL_DIFFERENCE) as f32, tokens))
        }
        (Some(f1), _) => {
            // The least one has some colour, too: no cell is taken for one without a score.
            let share = if most > least { (f1 - least) / (most - least) } else { 1.0 };
            (Figure::Share(value).shown(), theme::heat(0.15 + 0.85 * share as f32, tokens))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::Theme;

    #[test]
    fn cells_say_what_there_is() {
        let tokens = theme::tokens_of(Theme::Light);
        let counts = |right, missed| Counts { true_positives: right, false_positives: 0, false_negatives: missed };
        let both = (counts(1, 2), Some(counts(2, 1)));
        let text = |side| shown(both, side, (0.5, 0.8), tokens).0;
        assert_eq!([Side::First, Side::Second, Side::Difference].map(text), ["50.0", "80.0", "-30.0"]);
        let (none, color) = shown((Counts::default(), None), Side::Difference, (0.0, 1.0), tokens);
        assert_eq!((none.as_str(), color), ("–", tokens.card));
        assert_eq!(bounds(&[vec![both]], Side::First), (0.5, 0.5));
        let colors = [Side::First, Side::Difference].map(|side| shown(both, side, (0.5, 0.5), tokens).1);
        assert_ne!(colors[0], colors[1]);
    }
}
