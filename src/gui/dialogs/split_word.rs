//! Splitting a word: its characters with the gaps between them, one of which is chosen.
//!
//! # Invariants
//! - Characters are those that people see (grapheme clusters); a word is never cut inside one.
//! - A word that is read from right to left is shown so, and the arrows go where they point.

use super::{DialogContext, button_row, default_button, explain, modal};
use crate::annotation::{SentenceId, TokenIdx};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self, RADIUS_WORD, Tokens, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::button;
use crate::gui::workspace::View;
use crate::session::{Command, Project};
use crate::text::{ByteIdx, character_ends};
use eframe::egui::{
    self, Align, EventFilter, Id, Key, Layout, Rect, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use unicode_bidi::Direction;

/// Room for the pointer between two characters.
const GAP: f32 = 14.0;

pub(crate) struct SplitWordDialog {
    sentence: SentenceId,
    token: TokenIdx,
    /// Where the word begins, in the document.
    start: ByteIdx,
    word: String,
    /// Where characters end, in bytes of the word; the last one is the word's end.
    ends: Vec<usize>,
    /// Index of the character before the chosen gap.
    after: usize,
    rtl: bool,
}

impl SplitWordDialog {
    /// For the word at the cursor; `None` where there is nothing to split.
    pub(crate) fn new(project: &Project, view: &View) -> Option<Self> {
        let (sentence, token) = (view.sentence(project)?, view.first_word());
        let start = sentence.tokens().get(token.get())?.start();
        let word = project.corpus().token_text(sentence, token.get()).to_owned();
        let ends: Vec<usize> = character_ends(&word).collect();
        let last = ends.len().checked_sub(2)?;
        let rtl = unicode_bidi::get_base_direction(word.as_str()) == Direction::Rtl;
        let turn = likeliest_place(&word).and_then(|place| ends.iter().position(|end| *end == place));
        let after = turn.unwrap_or(last / 2).min(last);
        Some(Self { sentence: sentence.id(), token, start, word, ends, after, rtl })
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        if !self.is_still_there(context.project) {
            context.actions.push(UiAction::CloseDialog);
            return;
        }
        let (mut split, mut cancel) = (false, false);
        let closed = modal(ctx, "Split word", 520.0, |ui| {
            explain(ui, "Click between two characters, or go there with the arrow keys, and press Enter.");
            ui.add_space(size::GAP);
            ScrollArea::vertical().max_height(260.0).show(ui, |ui| split |= self.characters(ui));
            ui.add_space(size::GAP);
            self.preview(ui);
            button_row(ui, |ui| {
                split |= default_button(ui, true, "Split");
                cancel = button(ui, true, "Cancel").clicked();
            });
        });
        if split {
            let at = ByteIdx::new(self.start.get() + self.at(self.after));
            let command = Command::SplitToken { sentence: self.sentence, token: self.token, at };
            context.actions.extend([UiAction::CloseDialog, UiAction::Change(command)]);
        } else if closed || cancel {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn is_still_there(&self, project: Option<&Project>) -> bool {
        let corpus = project.map(Project::corpus);
        let sentence = corpus.and_then(|corpus| corpus.sentence(self.sentence));
        let token = sentence.and_then(|sentence| sentence.tokens().get(self.token.get()));
        token.is_some_and(|token| token.start() == self.start && token.bytes().len() == self.word.len())
    }

    fn follow_arrows(&mut self, ui: &Ui) {
        let (left, right, home, end) = ui.input(|i| {
            let presses = |key| i.num_presses(key) as isize;
            (presses(Key::ArrowLeft), presses(Key::ArrowRight), presses(Key::Home), presses(Key::End))
        });
        let on = if self.rtl { left - right } else { right - left };
        let last = self.ends.len().saturating_sub(2);
        self.after = self.after.saturating_add_signed(on).min(last);
        if home > 0 {
            self.after = 0;
        } else if end > 0 {
            self.after = last;
        }
    }

    /// The characters, in rows; true when a gap was clicked twice.
    fn characters(&mut self, ui: &mut Ui) -> bool {
        let tokens = theme::tokens(ui);
        let width = ui.available_width();
        let font = theme::regular(size::TEXT_HERO);
        let row_height = size::TEXT_HERO * 1.6;
        let (mut x, mut row) = (0.0, 0);
        let mut cells = Vec::with_capacity(self.ends.len());
        for at in 0..self.ends.len() {
            let text = self.word.get(self.before(at)..self.at(at)).unwrap_or_default().to_owned();
            let galley = ui.painter().layout_no_wrap(text, font.clone(), tokens.text);
            let wide = galley.size().x + GAP;
            if x + wide > width && x > 0.0 {
                (x, row) = (0.0, row + 1);
            }
            let left = if self.rtl { width - x - wide } else { x };
            cells.push((Rect::from_min_size(pos2(left, row as f32 * row_height), vec2(wide, row_height)), galley));
            x += wide;
        }
        let sense = Sense::focusable_noninteractive();
        let (area, response) = ui.allocate_exact_size(vec2(width, (row + 1) as f32 * row_height), sense);
        let response = leaves_enter(response);
        if response.has_focus() {
            self.follow_arrows(ui);
            let arrows = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|m| m.set_focus_lock_filter(response.id, arrows));
        }
        response.widget_info(|| WidgetInfo::labeled(egui::Role::Group, true, format!("characters of {}", self.word)));
        let (mut clicked, mut done) = (None, false);
        for (at, (cell, galley)) in cells.into_iter().enumerate() {
            let cell = cell.translate(area.min.to_vec2());
            let left = if self.rtl { cell.right() - galley.size().x } else { cell.left() };
            ui.painter().galley(pos2(left, cell.center().y - galley.size().y / 2.0), galley, tokens.text);
            if at + 1 == self.ends.len() {
                continue;
            }
            // The gap lies after the character, where the next one is read.
            let middle = if self.rtl { cell.left() + GAP / 2.0 } else { cell.right() - GAP / 2.0 };
            let rect = Rect::from_center_size(pos2(middle, cell.center().y), vec2(GAP + 6.0, row_height - 6.0));
            let gap = self.gap(ui, rect, at, tokens);
            if gap.clicked() {
                clicked = Some(at);
            }
            done |= gap.double_clicked();
        }
        self.after = clicked.unwrap_or(self.after);
        done
    }

    fn gap(&self, ui: &Ui, rect: Rect, at: usize, tokens: &Tokens) -> egui::Response {
        let response = ui.interact(rect, Id::unique(("gap of the word", at)), Sense::CLICK);
        let chosen = at == self.after;
        if response.hovered() && !chosen {
            ui.painter().rect_filled(rect, RADIUS_WORD, tokens.hover);
        }
        let (color, points) = match (chosen, response.hovered()) {
            (true, _) => (tokens.accent, 3.0),
            (false, true) => (tokens.text_faint, 1.5),
            (false, false) => (tokens.line_strong, 1.0),
        };
        ui.painter().vline(rect.center().x, rect.y_range().shrink(4.0), Stroke::new(points, color));
        let (left, right) = self.parts(at);
        response.widget_info(|| {
            WidgetInfo::selected(egui::Role::RadioButton, true, chosen, format!("split into {left} and {right}"))
        });
        response.on_hover_cursor(egui::CursorIcon::PointingHand)
    }

    fn preview(&self, ui: &mut Ui) {
        let tokens = theme::tokens(ui);
        let (left, right) = self.parts(self.after);
        let layout = if self.rtl { Layout::right_to_left(Align::Center) } else { Layout::left_to_right(Align::Center) };
        let row = vec2(ui.available_width(), size::LABEL_ROW);
        ui.allocate_ui_with_layout(row, layout.with_main_wrap(true), |ui| {
            for part in [left, right] {
                let frame = egui::Frame::new().fill(tokens.shade).corner_radius(RADIUS_WORD).inner_margin(4);
                frame.show(ui, |ui| ui.add(egui::Label::new(theme::heading(part, tokens.text)).truncate()));
            }
        });
    }

    fn parts(&self, after: usize) -> (&str, &str) {
        self.word.split_at_checked(self.at(after)).unwrap_or((&self.word, ""))
    }

    /// Where a character ends, in bytes of the word.
    fn at(&self, character: usize) -> usize {
        self.ends.get(character).copied().unwrap_or(self.word.len())
    }

    fn before(&self, character: usize) -> usize {
        character.checked_sub(1).map_or(0, |before| self.at(before))
    }
}

/// Where letters begin after a sign, else where a sign begins after letters: `Mr.` and `Bean`, `10` and `%`.
fn likeliest_place(word: &str) -> Option<usize> {
    let turn = |to_letters: bool| {
        let mut pairs = word.chars().zip(word.char_indices().skip(1));
        let turns = |(a, (_, b)): &(char, (usize, char))| {
            a.is_alphanumeric() != b.is_alphanumeric() && b.is_alphanumeric() == to_letters
        };
        pairs.find(turns).map(|(_, (at, _))| at)
    };
    turn(true).or_else(|| turn(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_proposed_where_letters_and_signs_meet() {
        for (word, place) in [("Mr.Bean", Some(3)), ("10%", Some(2)), ("plain", None), ("€5", Some(3)), ("", None)] {
            assert_eq!(likeliest_place(word), place, "{word}");
        }
    }
}
