//! Which errors a model makes: of which kind, and which labels it takes for which; each cell leads to its sentences.

use super::super::{column, explain};
use super::analysed::OfModel;
use super::scores::name_and_color;
use super::sentences::{Item, SentenceList};
use super::sheet::{Figure, Head, Sheet, SheetRow};
use crate::annotation::{Corpus, LabelId, LabelSet};
use crate::evaluation::ErrorKind;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, size};
use crate::gui::widgets::heat_map::{HeatCell, HeatMap, HeatMapState};
use crate::gui::widgets::parts::section;
use crate::wording::{counted, grouped};
use eframe::egui::{Align, Layout, ScrollArea, Ui, vec2};

/// What the matrix may take of the width, where the sentences stand beside it.
const MATRIX_SHARE: f32 = 0.5;
const NAMES: f32 = 120.0;
const KIND_NAMES: f32 = 190.0;
const KIND_CELL: f32 = 84.0;
const SIDES: [&str; 2] = ["Predicted", "Gold"];

/// What is selected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selected {
    Kind(ErrorKind, bool),
    Pair(Option<LabelId>, Option<LabelId>),
}

pub(super) struct Errors {
    /// `None` of a model that labels given words: no boundary can be wrong.
    kinds: Option<Grid>,
    confusion: Grid,
    /// Of the rows and columns; `None` for no mention.
    labels: Vec<Option<LabelId>>,
    selected: Option<Selected>,
    list: Option<SentenceList>,
}

/// A sheet of counts that is shown as a heat map.
struct Grid {
    sheet: Sheet,
    columns: Vec<String>,
    rows: Vec<String>,
    state: HeatMapState,
}

impl Grid {
    fn new(title: &'static str, first: &'static str, columns: Vec<String>, rows: Vec<(String, Vec<usize>)>) -> Self {
        let heads = columns.iter().map(|column| Head::new(column.clone(), "")).collect();
        let names = rows.iter().map(|(name, _)| name.clone()).collect();
        let row = |(name, counts): (String, Vec<usize>)| {
            let figures = counts.into_iter().map(Figure::Count).collect();
            SheetRow { name, color: None, figures }
        };
        let rows = rows.into_iter().map(row).collect();
        Self { sheet: Sheet { title, first, heads, rows }, columns, rows: names, state: HeatMapState::default() }
    }
}

impl Errors {
    pub(super) fn new(model: &OfModel, labels: &LabelSet) -> Self {
        let errors = model.report.analyses.errors;
        let kinds = ErrorKind::ALL.map(|kind| {
            let counts = vec![errors.false_positives.count(kind), errors.false_negatives.count(kind)];
            (kind_name(kind).to_owned(), counts)
        });
        let mut all: Vec<Option<LabelId>> = model.report.report.labels.keys().copied().map(Some).collect();
        all.push(None);
        let names: Vec<String> = all.iter().map(|label| name(labels, *label)).collect();
        let confusion = &model.report.analyses.confusion;
        let rows = all.iter().zip(&names).map(|(gold, name)| {
            (name.clone(), all.iter().map(|predicted| confusion.count(*gold, *predicted)).collect())
        });
        let rows = rows.collect();
        let kinds = Grid::new("Kinds of errors", "What is wrong", SIDES.map(str::to_owned).into(), kinds.into());
        Self {
            kinds: (!model.report.report.labels_given).then_some(kinds),
            confusion: Grid::new("Confusion of labels", "Gold", names, rows),
            labels: all,
            selected: None,
            list: None,
        }
    }

    pub(super) fn sheets(&self) -> Vec<&Sheet> {
        self.kinds.iter().chain([&self.confusion]).map(|grid| &grid.sheet).collect()
    }

    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        height: f32,
        model: &OfModel,
        corpus: &Corpus,
        context: &mut DialogContext<'_>,
    ) {
        if ui.available_width() < size::TWO_COLUMNS {
            self.grids(ui, model, corpus.labels());
            ui.add_space(size::GAP_LARGE);
            self.sentences(ui, model, corpus, context);
            return;
        }
        let wide = NAMES + (size::HEAT_CELL + 3.0) * self.labels.len() as f32 + size::GAP_LARGE;
        let kinds = KIND_NAMES + 2.0 * (KIND_CELL + 3.0);
        let left = wide.max(kinds).min(MATRIX_SHARE * ui.available_width());
        let right = ui.available_width() - left - size::GAP_LARGE;
        let height = (height - size::GAP).max(120.0);
        let down = Layout::top_down(Align::Min);
        ui.horizontal_top(|ui| {
            ui.allocate_ui_with_layout(vec2(left, height), down, |ui| {
                column(ui, "grids", height, |ui| self.grids(ui, model, corpus.labels()));
            });
            ui.add_space(size::GAP_LARGE - ui.spacing().item_spacing.x);
            ui.allocate_ui_with_layout(vec2(right, height), down, |ui| {
                column(ui, "sentences", height, |ui| self.sentences(ui, model, corpus, context));
            });
        });
    }

    fn grids(&mut self, ui: &mut Ui, model: &OfModel, labels: &LabelSet) {
        let clicked = self.kinds.as_mut().and_then(|kinds| show_kinds(ui, kinds, self.selected));
        section(ui, self.confusion.sheet.title);
        explain(ui, "Rows: gold. Columns: predicted on the same words. None: no mention with just these boundaries.");
        let clicked = clicked.or(self.show_confusion(ui));
        if let Some(selected) = clicked {
            self.selected = Some(selected);
            self.list = Some(list_of(selected, model, labels));
        }
    }

    fn show_confusion(&mut self, ui: &mut Ui) -> Option<Selected> {
        let tokens = theme::tokens(ui);
        let labels = &self.labels;
        let Grid { sheet, columns, rows, state } = &mut self.confusion;
        // What is right is no error, however often.
        let most = most(sheet, |row, column| row != column);
        let at = |row: usize, column: usize| Some(Selected::Pair(*labels.get(row)?, *labels.get(column)?));
        let selected = place_of(sheet, self.selected, at);
        let name = |at: usize| rows.get(at).map_or("", String::as_str);
        let cell = |row: usize, column: usize| {
            let count = count(sheet, row, column);
            HeatCell {
                text: if count == 0 { "·".to_owned() } else { grouped(count) },
                note: String::new(),
                fill: if row == column { tokens.hover } else { theme::heat(count as f32 / most, tokens) },
                spoken: format!("gold {}, predicted {}: {}", name(row), name(column), grouped(count)),
                leads: count > 0,
            }
        };
        let cell_size = vec2(size::HEAT_CELL, size::LABEL_ROW);
        let map = HeatMap { id: "confusion", columns, rows, names: NAMES, cell: cell_size };
        let area = ScrollArea::horizontal().id_salt("confusion");
        let (row, column) = area.show(ui, |ui| map.show(ui, state, selected, cell)).inner?;
        at(row, column)
    }

    fn sentences(&mut self, ui: &mut Ui, model: &OfModel, corpus: &Corpus, context: &mut DialogContext<'_>) {
        match &mut self.list {
            Some(list) => list.show(ui, corpus, model, context),
            None => explain(ui, "Click a number to see its sentences."),
        }
    }
}

fn show_kinds(ui: &mut Ui, kinds: &mut Grid, selected: Option<Selected>) -> Option<Selected> {
    let tokens = theme::tokens(ui);
    let Grid { sheet, columns, rows, state } = kinds;
    section(ui, sheet.title);
    let most = most(sheet, |_, _| true);
    let at = |row: usize, column: usize| Some(Selected::Kind(*ErrorKind::ALL.get(row)?, column == 0));
    let selected = place_of(sheet, selected, at);
    let cell = |row: usize, column: usize| {
        let count = count(sheet, row, column);
        let (kind, is_predicted) = (ErrorKind::ALL.get(row).copied().unwrap_or(ErrorKind::Alone), column == 0);
        HeatCell {
            text: grouped(count),
            note: String::new(),
            fill: theme::heat(count as f32 / most, tokens),
            spoken: title_of_kind(kind, is_predicted, count),
            leads: count > 0,
        }
    };
    let cell_size = vec2(KIND_CELL, size::LABEL_ROW);
    let map = HeatMap { id: "kinds of errors", columns, rows, names: KIND_NAMES, cell: cell_size };
    let clicked = map.show(ui, state, selected, cell);
    ui.add_space(size::GAP);
    let (row, column) = clicked?;
    at(row, column)
}

fn count(sheet: &Sheet, row: usize, column: usize) -> usize {
    match sheet.rows.get(row).and_then(|row| row.figures.get(column)) {
        Some(Figure::Count(count)) => *count,
        _ => 0,
    }
}

fn places(sheet: &Sheet) -> impl Iterator<Item = (usize, usize)> {
    let columns = sheet.heads.len();
    (0..sheet.rows.len()).flat_map(move |row| (0..columns).map(move |column| (row, column)))
}

/// The greatest count of some cells, and one at least.
fn most(sheet: &Sheet, is_one: impl Fn(usize, usize) -> bool) -> f32 {
    let counts =
        places(sheet).filter(|(row, column)| is_one(*row, *column)).map(|(row, column)| count(sheet, row, column));
    counts.max().unwrap_or(0).max(1) as f32
}

fn place_of(
    sheet: &Sheet,
    selected: Option<Selected>,
    at: impl Fn(usize, usize) -> Option<Selected>,
) -> Option<(usize, usize)> {
    selected.and_then(|selected| places(sheet).find(|(row, column)| at(*row, *column) == Some(selected)))
}

fn list_of(selected: Selected, model: &OfModel, labels: &LabelSet) -> SentenceList {
    let (title, items): (String, Vec<Item>) = match selected {
        Selected::Kind(kind, is_predicted) => {
            let wrong =
                model.report.wrong.iter().filter(|(_, wrong)| wrong.kind == kind && wrong.is_predicted == is_predicted);
            let items: Vec<Item> = wrong
                .map(|(sentence, wrong)| Item { sentence: *sentence, mention: Some((wrong.span, wrong.label)) })
                .collect();
            (title_of_kind(kind, is_predicted, items.len()), items)
        }
        Selected::Pair(gold, predicted) => {
            let pairs = model.report.paired.iter().filter(|(_, pair)| (pair.gold, pair.predicted) == (gold, predicted));
            let items: Vec<Item> = pairs
                .map(|(sentence, pair)| {
                    let label = gold.or(predicted);
                    Item { sentence: *sentence, mention: label.map(|label| (pair.span, label)) }
                })
                .collect();
            (title_of_pair(gold, predicted, items.len(), labels), items)
        }
    };
    SentenceList::new(title, items)
}

fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Label => "wrong label",
        ErrorKind::Boundaries => "wrong boundaries",
        ErrorKind::Both => "wrong label and boundaries",
        ErrorKind::Alone => "spurious, or missed",
    }
}

/// "3 predictions with the wrong label", "1 gold mention that was missed".
fn title_of_kind(kind: ErrorKind, is_predicted: bool, count: usize) -> String {
    let mentions = match is_predicted {
        true => counted(count, "prediction", "predictions"),
        false => counted(count, "gold mention", "gold mentions"),
    };
    match (kind, is_predicted) {
        (ErrorKind::Label, true) => format!("{mentions} with a wrong label"),
        (ErrorKind::Boundaries, true) => format!("{mentions} with wrong boundaries"),
        (ErrorKind::Both, true) => format!("{mentions} with a wrong label and wrong boundaries"),
        (ErrorKind::Alone, true) => format!("{mentions} where there is no missed mention"),
        (ErrorKind::Label, false) => format!("{mentions} found with a wrong label"),
        (ErrorKind::Boundaries, false) => format!("{mentions} found with wrong boundaries"),
        (ErrorKind::Both, false) => format!("{mentions} found with a wrong label and wrong boundaries"),
        (ErrorKind::Alone, false) => format!("{mentions} missed"),
    }
}

fn title_of_pair(gold: Option<LabelId>, predicted: Option<LabelId>, count: usize, labels: &LabelSet) -> String {
    let name = |label| name(labels, Some(label));
    match (gold, predicted) {
        (Some(gold), Some(predicted)) if gold == predicted => format!("{} found {}", name(gold), times(count)),
        (Some(gold), Some(predicted)) => format!("{} labelled as {} {}", name(gold), name(predicted), times(count)),
        (Some(gold), None) => format!("{} not found with its boundaries {}", name(gold), times(count)),
        (None, Some(predicted)) => {
            format!("{} predicted where none has these boundaries {}", name(predicted), times(count))
        }
        (None, None) => String::new(),
    }
}

fn times(count: usize) -> String {
    counted(count, "time", "times")
}

fn name(labels: &LabelSet, label: Option<LabelId>) -> String {
    label.map_or_else(|| "none".to_owned(), |label| name_and_color(labels, label).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_what_a_cell_holds() {
        assert_eq!(title_of_kind(ErrorKind::Alone, false, 1), "1 gold mention missed");
        assert_eq!(title_of_kind(ErrorKind::Label, true, 3), "3 predictions with a wrong label");
        let labels = LabelSet::default();
        let gone = title_of_pair(Some(LabelId(7)), None, 2, &labels);
        assert_eq!(gone, "a deleted label not found with its boundaries 2 times");
    }
}
