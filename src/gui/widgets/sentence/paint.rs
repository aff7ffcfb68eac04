//! How a sentence looks: shades, words, underlines of probable heads, bars, suggestions, tags.
//!
//! Deliberately absent: where things lie (`flow`) and what the pointer does (`mod`).

use super::content::{Content, Mark};
use super::flow::{Flow, Segment};
use crate::gui::theme::{self, RADIUS_WORD, Tokens, size};
use crate::gui::widgets::galleys::elided;
use eframe::egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};
use std::ops::Range;

/// A word less probable than this as a head is not underlined.
const LEAST_HEAD: f32 = 0.15;
const RING: f32 = 3.5;

/// What of a sentence is marked out at the moment.
#[derive(Clone, Debug, Default)]
pub struct Emphasis {
    /// The words under a selection.
    pub selected: Range<usize>,
    /// The word that the keyboard is at.
    pub cursor: Option<usize>,
    /// Index of the ringed mark.
    pub picked: Option<usize>,
    pub hovered_word: Option<usize>,
    pub hovered_mark: Option<usize>,
    /// The sentence has the keyboard.
    pub focused: bool,
}

/// Paints a sentence with its left upper corner at `origin`.
pub fn paint(ui: &Ui, content: &Content, flow: &Flow, emphasis: &Emphasis, origin: Pos2) {
    let tokens = theme::tokens(ui);
    let brush = Brush { ui, painter: ui.painter(), tokens, content, flow, by: origin.to_vec2() };
    if let Some(mark) = emphasis.picked.and_then(|at| content.marks.get(at)) {
        for fragment in &mark.fragments {
            brush.shade(fragment.range(), tokens.shade);
        }
    }
    if !emphasis.selected.is_empty() {
        brush.shade(emphasis.selected.clone(), tokens.shade_strong);
    }
    if let Some(word) = emphasis.hovered_word.filter(|w| !emphasis.selected.contains(w)) {
        brush.shade(word..word + 1, tokens.hover);
    }
    if let Some(cursor) = emphasis.cursor {
        brush.cursor(cursor, emphasis.focused);
    }
    brush.words(tokens.text);
    brush.heads();
    for link in &flow.links {
        if let Some(mark) = content.marks.get(link.mark) {
            let color = theme::label_color(mark.color, tokens);
            let line = [link.from + brush.by, link.to + brush.by];
            brush.painter.extend(Shape::dotted_line(&line, color, 5.0, 0.9));
        }
    }
    for segment in &flow.segments {
        if let Some(mark) = content.marks.get(segment.mark) {
            let (picked, hovered) =
                (emphasis.picked == Some(segment.mark), emphasis.hovered_mark == Some(segment.mark));
            brush.segment(segment, mark, picked, hovered);
        }
    }
}

/// Paints words alone, in one colour.
pub fn paint_words(ui: &Ui, content: &Content, flow: &Flow, origin: Pos2, color: Color32) {
    let tokens = theme::tokens(ui);
    Brush { ui, painter: ui.painter(), tokens, content, flow, by: origin.to_vec2() }.words(color);
}

struct Brush<'a> {
    ui: &'a Ui,
    painter: &'a Painter,
    tokens: &'static Tokens,
    content: &'a Content,
    flow: &'a Flow,
    by: Vec2,
}

impl Brush<'_> {
    fn words(&self, color: Color32) {
        for piece in &self.flow.pieces {
            if self.ui.is_rect_visible(piece.rect.translate(self.by)) {
                self.painter.galley(piece.text_at + self.by, piece.galley.clone(), color);
            }
        }
    }

    /// Words and the white space between them, one rounded area for each run of a row.
    fn shade(&self, words: Range<usize>, color: Color32) {
        for rect in self.runs(words) {
            self.painter.rect_filled(rect.expand2(vec2(2.5, 1.0)), RADIUS_WORD, color);
        }
    }

    fn runs(&self, words: Range<usize>) -> Vec<Rect> {
        let mut pieces: Vec<_> = self.flow.pieces.iter().filter(|p| words.contains(&p.token)).collect();
        pieces.sort_by(|a, b| (a.row, a.rect.left()).partial_cmp(&(b.row, b.rect.left())).unwrap_or(a.row.cmp(&b.row)));
        let mut runs: Vec<(usize, Rect)> = Vec::new();
        for piece in pieces {
            let between = |last: &Rect| {
                let (from, to) = (last.right(), piece.rect.left());
                let other = |p: &super::flow::Piece| {
                    p.row == piece.row && p.rect.left() >= from - 0.5 && p.rect.right() <= to + 0.5
                };
                self.flow.pieces.iter().any(|p| other(p) && !words.contains(&p.token))
            };
            match runs.last_mut() {
                Some((row, last)) if *row == piece.row && !between(last) => *last = last.union(piece.rect),
                _ => runs.push((piece.row, piece.rect)),
            }
        }
        runs.into_iter().map(|(_, rect)| rect.translate(self.by)).collect()
    }

    fn cursor(&self, word: usize, focused: bool) {
        let color = if focused { self.tokens.accent } else { self.tokens.line_strong };
        for rect in self.flow.rects_of(word) {
            let rect = rect.translate(self.by).expand2(vec2(2.5, 1.0));
            self.painter.rect_stroke(rect, RADIUS_WORD, Stroke::new(1.5, color), StrokeKind::Outside);
        }
    }

    /// An underline where an entity probably begins, stronger where surer.
    fn heads(&self) {
        for piece in &self.flow.pieces {
            let Some(&probability) = self.content.heads.get(piece.token).filter(|p| **p >= LEAST_HEAD) else {
                continue;
            };
            let rect = piece.rect.translate(self.by);
            let line = Rect::from_min_size(pos2(rect.left(), rect.bottom() + 2.0), vec2(rect.width(), size::HEAD_LINE));
            let color = theme::mix(self.tokens.card, self.tokens.accent, 0.2 + 0.7 * probability);
            self.painter.rect_filled(line, size::HEAD_LINE / 2.0, color);
        }
    }

    fn segment(&self, segment: &Segment, mark: &Mark, picked: bool, hovered: bool) {
        let bar = segment.bar.translate(self.by);
        if !self.ui.is_rect_visible(bar.expand(size::LANE)) {
            return;
        }
        let color = theme::label_color(mark.color, self.tokens);
        if hovered && !picked {
            let halo = theme::mix(self.tokens.card, color, 0.3);
            self.painter.rect_filled(bar.expand(2.5), bar.height(), halo);
        }
        if mark.is_suggestion() {
            let fill = theme::mix(self.tokens.card, color, 0.08);
            self.painter.rect_filled(bar, bar.height() / 2.0, fill);
            let outline = stadium(bar.shrink(0.5));
            self.painter.extend(Shape::dashed_line(&outline, Stroke::new(1.4, color), 4.5, 3.0));
        } else {
            self.painter.rect_filled(bar, bar.height() / 2.0, color);
        }
        if picked {
            let ring = Stroke::new(1.5, self.tokens.text);
            self.painter.rect_stroke(bar.expand(RING - 1.0), bar.height(), ring, StrokeKind::Outside);
        }
        if segment.tagged {
            self.tag(segment, mark, bar, color, picked);
        }
    }

    fn tag(&self, segment: &Segment, mark: &Mark, bar: Rect, color: Color32, picked: bool) {
        let color = if segment.first { color } else { theme::mix(self.tokens.card, color, 0.75) };
        let (text, font) = (segment.tag_text(mark), theme::bold(size::TEXT_TAG));
        let galley = elided(self.ui, &text, font, color, segment.widest_tag());
        let top = bar.bottom() + if picked { 3.0 } else { 1.5 };
        let left = if self.flow.rtl { bar.right() - galley.size().x - 1.0 } else { bar.left() + 1.5 };
        self.painter.galley(pos2(left, top), galley, color);
    }
}

/// The outline of a rectangle whose short ends are half circles, as a closed path.
fn stadium(rect: Rect) -> Vec<Pos2> {
    let radius = (rect.height() / 2.0).min(rect.width() / 2.0);
    let arc = |center: Pos2, from: f32| {
        (0..=6).map(move |step| {
            let angle = from + std::f32::consts::PI * step as f32 / 6.0;
            center + radius * vec2(angle.sin(), -angle.cos())
        })
    };
    let (left, right) = (rect.left() + radius, rect.right() - radius);
    let start = pos2(left, rect.top());
    let mut path = vec![start];
    path.extend(arc(pos2(right, rect.center().y), 0.0));
    path.extend(arc(pos2(left, rect.center().y), std::f32::consts::PI));
    path.push(start);
    path
}
