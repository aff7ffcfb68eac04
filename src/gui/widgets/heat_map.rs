//! Numbers in a grid, each on a colour that says how great it is.
//!
//! # Invariants
//! - The number is in the cell: no colour has to be told from another one.
//! - Cells are buttons where they lead somewhere. Tab leads to one of them, the one where the keyboard was, and from
//!   there the arrow keys lead to the others, those out of sight too.

use super::galleys::elided;
use crate::gui::theme::{self, RADIUS_WORD, size};
use eframe::egui::{
    Align2, Color32, CursorIcon, EventFilter, Id, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

/// Between two cells.
const BETWEEN: f32 = 3.0;

/// One cell.
pub struct HeatCell {
    pub text: String,
    /// Below the text, smaller; may be empty.
    pub note: String,
    pub fill: Color32,
    /// What a screen reader says.
    pub spoken: String,
    /// A click on it does something.
    pub leads: bool,
}

/// A grid to be shown.
pub struct HeatMap<'t> {
    pub id: &'static str,
    /// What stands above the columns.
    pub columns: &'t [String],
    pub rows: &'t [String],
    /// Of the names at the left.
    pub names: f32,
    pub cell: Vec2,
}

/// What is remembered of a grid while it is open.
#[derive(Default)]
pub struct HeatMapState {
    /// The cell that had the keyboard, as row and column.
    current: (usize, usize),
    /// The cell that is to have it.
    goes_to: Option<(usize, usize)>,
}

impl HeatMap<'_> {
    /// The cell that was clicked. `cell` makes the one of a row and a column.
    pub fn show(
        self,
        ui: &mut Ui,
        state: &mut HeatMapState,
        selected: Option<(usize, usize)>,
        cell: impl Fn(usize, usize) -> HeatCell,
    ) -> Option<(usize, usize)> {
        let last = (self.rows.len().checked_sub(1)?, self.columns.len().checked_sub(1)?);
        state.current = (state.current.0.min(last.0), state.current.1.min(last.1));
        let step = self.cell + Vec2::splat(BETWEEN);
        let whole =
            vec2(self.names + step.x * self.columns.len() as f32, size::LABEL_ROW + step.y * self.rows.len() as f32);
        let (place, _) = ui.allocate_exact_size(whole, Sense::hover());
        self.heads(ui, place, step);
        let id = ui.scope_id().with(self.id);
        let mut clicked = None;
        for (row, column) in (0..self.rows.len()).flat_map(|row| (0..self.columns.len()).map(move |at| (row, at))) {
            let left = place.left() + self.names + step.x * column as f32;
            let top = place.top() + size::LABEL_ROW + step.y * row as f32;
            let rect = Rect::from_min_size(pos2(left, top), self.cell);
            let at = (row, column);
            let is_wanted = state.goes_to == Some(at);
            // Of a large grid only what is in sight is made, and where the keyboard is or goes.
            if !ui.is_rect_visible(rect) && !is_wanted && state.current != at {
                continue;
            }
            let response =
                show_cell(ui, rect, id.with(at), &cell(row, column), selected == Some(at), state.current == at);
            if is_wanted {
                response.request_focus();
                response.scroll_to_me(None);
                (state.current, state.goes_to) = (at, None);
            } else if response.has_focus() {
                (state.current, state.goes_to) = (at, where_to(ui, &response, at, last).or(state.goes_to));
            }
            if response.clicked() {
                (state.current, clicked) = (at, Some(at));
            }
        }
        clicked
    }

    fn heads(&self, ui: &Ui, place: Rect, step: Vec2) {
        let tokens = theme::tokens(ui);
        let font = theme::bold(size::TEXT_TAG);
        for (at, column) in self.columns.iter().enumerate() {
            let middle = place.left() + self.names + step.x * at as f32 + self.cell.x / 2.0;
            let galley = elided(ui, column, font.clone(), tokens.text_dim, self.cell.x);
            let top = place.top() + size::LABEL_ROW - BETWEEN - galley.size().y;
            ui.painter().galley(pos2(middle - galley.size().x / 2.0, top), galley, tokens.text_dim);
        }
        for (at, row) in self.rows.iter().enumerate() {
            let middle = place.top() + size::LABEL_ROW + step.y * at as f32 + self.cell.y / 2.0;
            let font = theme::regular(size::TEXT_SMALL);
            let galley = elided(ui, row, font, tokens.text, self.names - size::GAP);
            ui.painter().galley(pos2(place.left(), middle - galley.size().y / 2.0), galley, tokens.text);
        }
    }
}

fn show_cell(ui: &Ui, rect: Rect, id: Id, cell: &HeatCell, is_selected: bool, is_tab: bool) -> Response {
    let tokens = theme::tokens(ui);
    let sense = match (cell.leads, is_tab) {
        (false, false) => Sense::hover(),
        (false, true) => Sense::focusable_noninteractive(),
        (true, true) => Sense::click(),
        (true, false) => Sense::click().difference(Sense::FOCUSABLE),
    };
    let response = ui.interact(rect, id, sense);
    let painter = ui.painter();
    painter.rect_filled(rect, RADIUS_WORD, cell.fill);
    if is_selected {
        painter.rect_stroke(rect, RADIUS_WORD, Stroke::new(2.0, tokens.text), StrokeKind::Inside);
    } else if cell.leads && response.hovered() {
        painter.rect_stroke(rect, RADIUS_WORD, Stroke::new(1.0, tokens.text_dim), StrokeKind::Inside);
    }
    let (text, note) = (theme::bold(size::TEXT_SMALL), theme::regular(size::TEXT_TAG));
    if cell.note.is_empty() {
        painter.text(rect.center(), Align2::CENTER_CENTER, &cell.text, text, tokens.text);
    } else {
        painter.text(rect.center(), Align2::CENTER_BOTTOM, &cell.text, text, tokens.text);
        painter.text(rect.center(), Align2::CENTER_TOP, &cell.note, note, tokens.text);
    }
    let role = if cell.leads { Role::Button } else { Role::Label };
    response.widget_info(|| WidgetInfo::selected(role, true, is_selected, &cell.spoken));
    if cell.leads { response.on_hover_cursor(CursorIcon::PointingHand) } else { response }
}

/// Where the arrow keys lead from a cell that has the keyboard.
fn where_to(ui: &Ui, cell: &Response, at: (usize, usize), last: (usize, usize)) -> Option<(usize, usize)> {
    let keys = EventFilter { vertical_arrows: true, horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(cell.id, keys));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    let to = if pressed(Key::ArrowDown) {
        ((at.0 + 1).min(last.0), at.1)
    } else if pressed(Key::ArrowUp) {
        (at.0.saturating_sub(1), at.1)
    } else if pressed(Key::ArrowRight) {
        (at.0, (at.1 + 1).min(last.1))
    } else if pressed(Key::ArrowLeft) {
        (at.0, at.1.saturating_sub(1))
    } else {
        at
    };
    (to != at).then_some(to)
}
