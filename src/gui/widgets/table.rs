//! A table: columns that can be sorted by and made wider, above rows of which only those in sight are made.
//!
//! # Invariants
//! - The table draws and remembers; it never sorts. Whoever shows rows orders them when [`TableState::sort`] changes, not
//!   in every frame.
//! - All columns together are as wide as the table, whatever is dragged: what one of them gets, its neighbour gives.
//! - A header is a button. Tab leads to one row, the one where the keyboard was, and from there Up, Down, Home and End
//!   lead to the others, those out of sight too.

use super::galleys::elided;
use super::parts::{Icon, paint_icon};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use eframe::egui::{
    Align, Color32, CursorIcon, EventFilter, FontId, Id, Key, Layout, Rect, Response, Role, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};
use egui_extras::{TableBuilder, TableRow};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

/// Least width of a column.
const LEAST: f32 = 36.0;
/// What the arrow beside a title takes.
const ARROW: f32 = 16.0;

/// A column and what stands above it.
#[derive(Clone, Copy, Debug)]
pub struct Column<'t> {
    title: &'t str,
    /// What the title stands for, shown where the pointer rests on it; empty where it says enough.
    meaning: &'t str,
    /// At first, in points; `None` for what the others leave.
    width: Option<f32>,
    align: Align,
    sorts: bool,
}

impl<'t> Column<'t> {
    pub const fn text(title: &'t str, width: f32) -> Self {
        Self { title, meaning: "", width: Some(width), align: Align::Min, sorts: true }
    }

    /// Its cells end at the right.
    pub const fn number(title: &'t str, width: f32) -> Self {
        Self { title, meaning: "", width: Some(width), align: Align::Max, sorts: true }
    }

    /// Text that takes the width that the other columns leave; a table has one of these.
    pub const fn rest(title: &'t str) -> Self {
        Self { title, meaning: "", width: None, align: Align::Min, sorts: true }
    }

    /// For the buttons of a row.
    pub const fn actions(width: f32) -> Self {
        Self { title: "", meaning: "", width: Some(width), align: Align::Max, sorts: false }
    }

    /// With what its title stands for.
    #[must_use]
    pub const fn meaning(self, meaning: &'t str) -> Self {
        Self { meaning, ..self }
    }

    /// In the order in which it comes, whatever is clicked.
    #[must_use]
    pub const fn unsorted(self) -> Self {
        Self { sorts: false, ..self }
    }
}

/// The order of the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sort {
    /// From 0.
    pub column: usize,
    pub is_descending: bool,
}

impl Sort {
    /// Brings rows into this order; those that are alike keep theirs.
    pub fn apply<T>(self, rows: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
        if self.is_descending {
            rows.sort_by(|a, b| compare(b, a));
        } else {
            rows.sort_by(compare);
        }
    }
}

/// What is remembered of a table while it is open.
#[derive(Default)]
pub struct TableState {
    sort: Option<Sort>,
    /// Of all columns, once one of them was dragged.
    widths: Vec<f32>,
    /// The row that had the keyboard.
    current: usize,
    /// The row that is to have it.
    goes_to: Option<usize>,
    /// The rows that were made in the frame before.
    seen: Range<usize>,
    is_shown: bool,
}

impl TableState {
    /// `None`: as the rows came.
    pub fn sort(&self) -> Option<Sort> {
        self.sort
    }

    /// By a column upwards, then downwards, then as the rows came.
    fn sort_by(&mut self, column: usize) {
        self.sort = match self.sort {
            Some(Sort { column: by, is_descending: false }) if by == column => {
                Some(Sort { column, is_descending: true })
            }
            Some(Sort { column: by, is_descending: true }) if by == column => None,
            Some(_) | None => Some(Sort { column, is_descending: false }),
        };
    }

    /// The widths of all columns, which are `room` together.
    fn widths_in(&self, columns: &[Column<'_>], room: f32) -> Vec<f32> {
        let stored = |at: usize| self.widths.get(at).copied();
        let width = |(at, column): (usize, &Column<'_>)| column.width.map_or(0.0, |width| stored(at).unwrap_or(width));
        let mut widths: Vec<f32> = columns.iter().enumerate().map(width).collect();
        let others: f32 = widths.iter().sum();
        let rest = columns.iter().position(|column| column.width.is_none());
        if let Some(rest) = rest.and_then(|at| widths.get_mut(at)) {
            *rest = (room - others).max(LEAST);
        }
        widths
    }

    /// Moves the border at the right of a column.
    fn drag(&mut self, column: usize, by: f32, mut widths: Vec<f32>) {
        if let Some([left, right]) = widths.get_mut(column..column + 2) {
            let by = by.clamp((LEAST - *left).min(0.0), (*right - LEAST).max(0.0));
            *left += by;
            *right -= by;
            self.widths = widths;
        }
    }
}

/// A table to be shown.
pub struct Table<'t> {
    pub id: &'static str,
    pub columns: &'t [Column<'t>],
    pub rows: usize,
    pub row_height: f32,
    /// Of all rows in sight.
    pub height: f32,
    /// As high as that with fewer rows, too.
    pub keeps_height: bool,
}

impl Table<'_> {
    /// Makes the rows in sight, each with [`Row::lead`] and a [`Row::cell`] for every further column.
    pub fn show(self, ui: &mut Ui, state: &mut TableState, mut add_row: impl FnMut(&mut Row<'_, '_, '_>)) {
        let id = ui.scope_id().with(self.id);
        let spacing = ui.spacing().item_spacing.x;
        let width = ui.available_width() - ui.spacing().scroll.allocated_width();
        let room = width - spacing * self.columns.len().saturating_sub(1) as f32;
        let widths = state.widths_in(self.columns, room);
        let left = ui.cursor().left();
        borders(ui, id, state, &widths);
        let mut builder = TableBuilder::new(ui)
            .id_salt(self.id)
            .cell_layout(Layout::left_to_right(Align::Center))
            .animate_scrolling(false)
            .auto_shrink([false, !self.keeps_height])
            .min_scrolled_height(self.height)
            .max_scroll_height(self.height);
        for width in &widths {
            builder = builder.column(egui_extras::Column::exact(*width));
        }
        if !std::mem::replace(&mut state.is_shown, true) {
            // Not where another one was when it was closed.
            builder = builder.vertical_scroll_offset(0.0);
        }
        state.goes_to = state.goes_to.filter(|row| *row < self.rows);
        if let Some(row) = state.goes_to {
            builder = builder.scroll_to_row(row, None);
        }
        let table = builder.header(size::LABEL_ROW, |mut header| {
            for (at, column) in self.columns.iter().enumerate() {
                header.col(|ui| head(ui, at, column, state));
            }
        });
        let before = std::mem::take(&mut state.seen);
        // Where that row is out of sight, Tab leads to the first one that is not.
        let tab = if before.contains(&state.current) { state.current } else { before.start };
        table.body(|mut body| {
            let sight = body.ui_mut().clip_rect();
            body.rows(self.row_height, self.rows, |row| {
                let index = row.index();
                let start = if state.seen.is_empty() { index } else { state.seen.start };
                state.seen = start..index + 1;
                add_row(&mut Row { row, table: id, left, width, sight, rows: self.rows, tab, state });
            });
        });
    }
}

/// What the borders between columns are dragged by: the gaps between the titles.
fn borders(ui: &mut Ui, id: Id, state: &mut TableState, widths: &[f32]) {
    let tokens = theme::tokens(ui);
    let (top, spacing) = (ui.cursor().top(), ui.spacing().item_spacing.x);
    let mut x = ui.cursor().left() - spacing / 2.0;
    for (column, width) in widths.iter().enumerate().take(widths.len().saturating_sub(1)) {
        x += width + spacing;
        let border = Rect::from_center_size(pos2(x, top + size::LABEL_ROW / 2.0), vec2(spacing, size::LABEL_ROW));
        // Not for the keyboard, which has nothing to do here.
        let response = ui.interact(border, id.with(("border", column)), Sense::DRAG);
        let is_held = response.hovered() || response.dragged();
        let color = if is_held { tokens.accent } else { tokens.line };
        ui.painter().vline(x, border.y_range().shrink(7.0), Stroke::new(1.0, color));
        if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged()) {
            state.drag(column, pointer.x - x, widths.to_vec());
        }
        response.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
    }
}

fn head(ui: &mut Ui, at: usize, column: &Column<'_>, state: &mut TableState) {
    if column.title.is_empty() {
        return;
    }
    let tokens = theme::tokens(ui);
    let place = ui.max_rect();
    let sort = state.sort.filter(|sort| sort.column == at);
    let mut color = tokens.text_dim;
    if column.sorts {
        let response = ui.interact(place, ui.scope_id().with("sort"), Sense::click());
        if response.hovered() || response.has_focus() {
            color = tokens.text;
        }
        let order = match sort {
            None => "",
            Some(Sort { is_descending: false, .. }) => ", ascending",
            Some(Sort { is_descending: true, .. }) => ", descending",
        };
        let spoken = format!("Sort by {}{order}", column.title.to_lowercase());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spoken));
        let response = response.on_hover_cursor(CursorIcon::PointingHand);
        if response.clicked() {
            state.sort_by(at);
        }
        if !column.meaning.is_empty() {
            response.on_hover_text(column.meaning);
        }
    }
    let arrow = if sort.is_some() { ARROW } else { 0.0 };
    let pad = if at == 0 { size::GAP } else { 0.0 };
    let font = theme::bold(size::TEXT_SMALL);
    let galley = elided(ui, column.title, font, color, place.width() - arrow - pad);
    let left = match column.align {
        Align::Min | Align::Center => place.left() + pad,
        Align::Max => place.right() - arrow - galley.size().x,
    };
    let middle = place.center().y;
    if let Some(sort) = sort {
        let icon = if sort.is_descending { Icon::Down } else { Icon::Up };
        paint_icon(ui.painter(), pos2(left + galley.size().x + ARROW / 2.0, middle), icon, tokens.accent);
    }
    ui.painter().galley(pos2(left, middle - galley.size().y / 2.0), galley, color);
}

/// A row that is being made.
pub struct Row<'r, 'a, 'b> {
    row: TableRow<'a, 'b>,
    table: Id,
    left: f32,
    width: f32,
    /// The part of the screen where rows show.
    sight: Rect,
    rows: usize,
    /// The row that Tab leads to.
    tab: usize,
    state: &'r mut TableState,
}

impl Row<'_, '_, '_> {
    /// From 0, in the order of the table.
    pub fn index(&self) -> usize {
        self.row.index()
    }

    /// Paints the row as one that is selected. Call it before its cells are made.
    pub fn select(&mut self, is_selected: bool) {
        self.row.set_selected(is_selected);
    }

    /// The first cell, and the row as one thing: what the returned response is of. `id` tells it from other rows, also
    /// when it has moved.
    pub fn lead(&mut self, id: impl Hash + Debug, sense: Sense, content: impl FnOnce(&mut Ui)) -> Response {
        let index = self.row.index();
        let whole = self.left..=self.left + self.width;
        let (id, sight, last) = (self.table.with(("row", id)), self.sight, self.rows.saturating_sub(1));
        let sense = if index == self.tab { sense } else { sense.difference(Sense::FOCUSABLE) };
        let state = &mut *self.state;
        let mut response = None;
        self.row.set_hovered(false);
        self.row.col(|ui| {
            let cell = ui.clip_rect();
            let place = Rect::from_x_y_ranges(whole.clone(), ui.max_rect().y_range());
            ui.set_clip_rect(sight);
            let row = ui.interact(place, id, sense);
            // Also where the pointer is on one of the row's buttons.
            if ui.rect_contains_pointer(place) || row.has_focus() {
                ui.painter().rect_filled(place, RADIUS_CONTROL, theme::tokens(ui).hover);
            }
            ui.set_clip_rect(cell);
            if state.goes_to == Some(index) {
                row.request_focus();
                (state.current, state.goes_to) = (index, None);
            } else if row.has_focus() {
                // Once in a frame: whoever gets the keyboard now has not seen the key.
                (state.current, state.goes_to) = (index, where_to(ui, &row, index, last).or(state.goes_to));
            }
            response = Some(row);
            ui.add_space(size::GAP);
            content(ui);
        });
        response.unwrap_or_else(|| self.row.response())
    }

    /// The next cell.
    pub fn cell(&mut self, content: impl FnOnce(&mut Ui)) {
        self.row.col(content);
    }
}

/// Where the arrow keys lead from a row that has the keyboard.
fn where_to(ui: &Ui, row: &Response, index: usize, last: usize) -> Option<usize> {
    let keys = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(row.id, keys));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    let to = if pressed(Key::ArrowDown) {
        (index + 1).min(last)
    } else if pressed(Key::ArrowUp) {
        index.saturating_sub(1)
    } else if pressed(Key::Home) {
        0
    } else if pressed(Key::End) {
        last
    } else {
        index
    };
    (to != index).then_some(to)
}

/// What is left of a cell.
pub fn cell_place(ui: &Ui) -> Rect {
    ui.max_rect().with_min_x(ui.cursor().left())
}

/// A line of text in a cell, ending in "…" where it has no room: false then.
pub fn cell_text(ui: &Ui, text: &str, align: Align, color: Color32) -> bool {
    cell_text_in(ui, text, theme::regular(size::TEXT_SMALL), align, color)
}

/// As [`cell_text`], in another font.
pub fn cell_text_in(ui: &Ui, text: &str, font: FontId, align: Align, color: Color32) -> bool {
    let place = cell_place(ui);
    let galley = elided(ui, text, font, color, place.width());
    let left = match align {
        Align::Min | Align::Center => place.left(),
        Align::Max => place.right() - galley.size().x,
    };
    let is_whole = !galley.elided;
    ui.painter().galley(pos2(left, place.center().y - galley.size().y / 2.0), galley, color);
    is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_sorts_up_down_and_not_at_all() {
        let mut state = TableState::default();
        let sort = |column, is_descending| Some(Sort { column, is_descending });
        for expected in [sort(1, false), sort(1, true), None, sort(1, false)] {
            state.sort_by(1);
            assert_eq!(state.sort(), expected);
        }
        state.sort_by(0);
        assert_eq!(state.sort(), sort(0, false), "another column begins upwards");
        let mut rows = [(1, 'a'), (0, 'b'), (1, 'c')];
        let by_number = |a: &(i32, char), b: &(i32, char)| a.0.cmp(&b.0);
        Sort { column: 0, is_descending: false }.apply(&mut rows, by_number);
        assert_eq!(rows, [(0, 'b'), (1, 'a'), (1, 'c')]);
        Sort { column: 0, is_descending: true }.apply(&mut rows, by_number);
        assert_eq!(rows, [(1, 'a'), (1, 'c'), (0, 'b')], "what is alike keeps its order");
    }

    #[test]
    fn what_is_dragged_changes_two_columns_and_no_more() {
        let columns = [Column::rest("Name"), Column::number("A", 80.0), Column::number("B", 80.0)];
        let mut state = TableState::default();
        assert_eq!(state.widths_in(&columns, 400.0), [240.0, 80.0, 80.0]);
        state.drag(1, 30.0, state.widths_in(&columns, 400.0));
        assert_eq!(state.widths_in(&columns, 400.0), [240.0, 110.0, 50.0]);
        state.drag(1, 30.0, state.widths_in(&columns, 400.0));
        assert_eq!(state.widths_in(&columns, 400.0), [240.0, 124.0, LEAST], "a column stays in sight");
        state.drag(0, -40.0, state.widths_in(&columns, 400.0));
        assert_eq!(state.widths_in(&columns, 400.0), [200.0, 164.0, LEAST]);
        assert_eq!(state.widths_in(&columns, 500.0), [300.0, 164.0, LEAST], "a wider window widens the rest");
    }
}
