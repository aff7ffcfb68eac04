//! A sheet as a table that can be sorted.

use super::sheet::{Figure, Sheet, SheetRow};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{paint_dot, section};
use crate::gui::widgets::table::{Column, Row, Sort, Table, TableState, cell_place, cell_text};
use eframe::egui::{Align, Role, Sense, Ui, WidgetInfo, pos2};

const FIGURE: f32 = 78.0;
/// Of "F1, model 3".
const LONG_FIGURE: f32 = 104.0;
const ROW: f32 = 26.0;
/// More of them scroll.
const MOST_ROWS: usize = 14;

/// A sheet that is shown, with what is remembered of it.
pub(super) struct SheetTable {
    sheet: Sheet,
    table: TableState,
    /// The rows in the order of the table.
    order: Vec<usize>,
    sorted: Option<Sort>,
}

impl SheetTable {
    pub(super) fn new(sheet: Sheet) -> Self {
        Self { order: (0..sheet.rows.len()).collect(), sheet, table: TableState::default(), sorted: None }
    }

    pub(super) fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// The sheet under its title.
    pub(super) fn show(&mut self, ui: &mut Ui) {
        self.sort();
        let sheet = &self.sheet;
        section(ui, sheet.title);
        let heads = sheet.heads.iter().map(|head| {
            let width = if head.title.len() > 9 { LONG_FIGURE } else { FIGURE };
            Column::number(&head.title, width).meaning(head.meaning)
        });
        let columns: Vec<Column<'_>> = std::iter::once(Column::rest(sheet.first)).chain(heads).collect();
        let rows = sheet.rows.len();
        let height = rows.min(MOST_ROWS) as f32 * (ROW + ui.spacing().item_spacing.y);
        let table = Table { id: sheet.title, columns: &columns, rows, row_height: ROW, height, keeps_height: false };
        table.show(ui, &mut self.table, |row| {
            let at = self.order.get(row.index()).copied();
            if let Some((at, of)) = at.and_then(|at| Some((at, sheet.rows.get(at)?))) {
                show_row(row, at, of, sheet);
            }
        });
        ui.add_space(size::GAP);
    }

    /// As the sheet has them, if the table asks for no other order.
    fn sort(&mut self) {
        let sort = self.table.sort();
        if std::mem::replace(&mut self.sorted, sort) == sort {
            return;
        }
        self.order = (0..self.sheet.rows.len()).collect();
        let Some(sort) = sort else { return };
        let row = |at: usize| self.sheet.rows.get(at);
        let figure = |at: usize, column: usize| {
            row(at).and_then(|row| row.figures.get(column)).copied().unwrap_or(Figure::Share(None))
        };
        sort.apply(&mut self.order, |a, b| match sort.column.checked_sub(1) {
            None => row(*a).map(|row| &row.name).cmp(&row(*b).map(|row| &row.name)),
            Some(column) => figure(*a, column).compare(figure(*b, column)),
        });
    }
}

fn show_row(row: &mut Row<'_, '_, '_>, at: usize, of: &SheetRow, sheet: &Sheet) {
    let response = row.lead(at, Sense::hover(), |ui| {
        let tokens = theme::tokens(ui);
        if let Some(color) = of.color {
            let place = cell_place(ui);
            let dot = pos2(place.left() + size::DOT, place.center().y);
            paint_dot(ui.painter(), dot, theme::label_color(color, tokens), true);
            ui.add_space(3.0 * size::DOT);
        }
        cell_text(ui, &of.name, Align::Min, tokens.text);
    });
    for figure in &of.figures {
        row.cell(|ui| {
            cell_text(ui, &figure.shown(), Align::Max, theme::tokens(ui).text);
        });
    }
    let figures = sheet.heads.iter().zip(&of.figures);
    let figures: Vec<String> = figures.map(|(head, figure)| format!("{} {}", head.title, figure.shown())).collect();
    let spoken = format!("{}: {}", of.name, figures.join(", "));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
}
