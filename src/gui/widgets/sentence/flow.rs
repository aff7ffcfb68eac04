//! Where the words and bars of a sentence lie: an own word flow.
//!
//! ```text
//! row 0   The mayor of Aarhus met          words of one row, reordered for the eye (bidi)
//!         ===          ===                 lane 0
//!         ====================             lane 1: only as many lanes as this row needs
//! row 1   Anna Berg.
//! ```
//!
//! egui shapes a word but knows no bidirectional text, so each word is a galley of its own; rows are broken in the
//! order of reading and then reordered for the eye, white space included. A word that is wider than a row is cut.
//!
//! # Invariants
//! - Nothing is placed outside `0..width`, whatever the words are.
//! - A bar covers just the words of its fragments; where these are apart for the eye it comes in several segments.
//!
//! Deliberately absent: colours, and what the pointer does.

use super::bidi::Levels;
use super::content::{Content, Mark};
use super::rows::{Atom, Placed, TextLayout, atoms, break_rows, place_row};
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::WordGalleys;
use eframe::egui::{Color32, Galley, Pos2, Rect, Ui, pos2, vec2};
use std::ops::Range;
use std::sync::Arc;

/// A word, or a part of one that is wider than a row.
#[derive(Clone)]
pub struct Piece {
    pub token: usize,
    pub row: usize,
    /// The whole height of the words of its row.
    pub rect: Rect,
    pub text_at: Pos2,
    pub galley: Arc<Galley>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub top: f32,
    /// Where the words end and the lanes begin.
    pub foot: f32,
    pub bottom: f32,
    pub lanes: usize,
}

/// A bar, or what of it lies in one row.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub mark: usize,
    pub row: usize,
    pub bar: Rect,
    /// The mark begins here: this segment carries the full tag.
    pub first: bool,
    /// The first segment of the mark in its row: it carries a tag.
    pub tagged: bool,
    /// How wide the tag may be without running into the next bar of its lane.
    pub tag_room: f32,
    /// How wide it is; 0 where there is none.
    pub tag_width: f32,
}

impl Segment {
    /// What the tag says: where a mark goes on from another row, that it does.
    pub fn tag_text(&self, mark: &Mark) -> String {
        if self.first { mark.tag.clone() } else { format!("… {}", mark.name) }
    }

    /// How wide its tag is at most: as its bar, or more where there is room.
    pub fn widest_tag(&self) -> f32 {
        self.tag_room.max(self.bar.width())
    }

    /// The bar and the tag under it, which may be wider.
    fn holds(&self, at: Pos2, rtl: bool) -> bool {
        let (mut left, mut right) = (self.bar.left(), self.bar.right());
        if at.y > self.bar.bottom() {
            if rtl { left = left.min(right - self.tag_width) } else { right = right.max(left + self.tag_width) }
        }
        let (min, max) = (pos2(left - 2.0, self.bar.top() - 5.0), pos2(right + 2.0, self.bar.bottom() + 16.0));
        Rect::from_min_max(min, max).contains(at)
    }
}

/// The gap between two fragments of one mark, in one row.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub mark: usize,
    pub from: Pos2,
    pub to: Pos2,
}

#[derive(Clone, Default)]
pub struct Flow {
    pub pieces: Vec<Piece>,
    /// The pieces of each token.
    of_token: Vec<Range<usize>>,
    pub rows: Vec<Row>,
    pub segments: Vec<Segment>,
    pub links: Vec<Link>,
    pub width: f32,
    pub height: f32,
    pub rtl: bool,
}

impl Flow {
    pub fn new(ui: &Ui, galleys: &mut WordGalleys, content: &Content, setting: TextLayout) -> Self {
        let levels = Levels::of(content);
        let atoms = atoms(ui, galleys, content, &levels, setting);
        let rows = break_rows(&atoms, setting.width, galleys.space(ui, setting.points));
        let mut flow = Flow { width: setting.width, rtl: content.rtl, ..Flow::default() };
        flow.of_token = vec![0..0; content.words.len()];
        let mut top = 0.0;
        let space = galleys.space(ui, setting.points);
        for (number, range) in rows.into_iter().enumerate().take(setting.most_rows) {
            let row_atoms = atoms.get(range).unwrap_or_default();
            let placed = place_row(row_atoms, &levels, space, setting.width, flow.rtl);
            top = flow.add_row(content, row_atoms, &placed, number, top, setting.points);
        }
        flow.height = flow.rows.last().map_or(0.0, |row| row.bottom);
        flow.limit_tags();
        flow.measure_tags(ui, content);
        flow
    }

    /// The rectangles of a token: one, or several for one that is cut.
    pub fn rects_of(&self, token: usize) -> impl Iterator<Item = Rect> + '_ {
        let range = self.of_token.get(token).cloned().unwrap_or_default();
        self.pieces.get(range).unwrap_or_default().iter().map(|p| p.rect)
    }

    /// The row in which a token begins.
    pub fn row_of(&self, token: usize) -> Option<&Row> {
        let first = self.of_token.get(token)?.start;
        self.rows.get(self.pieces.get(first)?.row)
    }

    /// The token at a point, or the nearest one in the row of the point.
    pub fn token_at(&self, at: Pos2) -> Option<usize> {
        let row = self.rows.iter().position(|r| at.y < r.bottom).unwrap_or(self.rows.len().saturating_sub(1));
        let distance = |p: &&Piece| (p.rect.left() - at.x).max(at.x - p.rect.right()).max(0.0);
        let nearest = self.pieces.iter().filter(|p| p.row == row).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|p| p.token)
    }

    /// The token whose word is just at this point.
    pub fn word_at(&self, at: Pos2) -> Option<usize> {
        let hit = |p: &&Piece| p.rect.expand2(vec2(2.0, 0.0)).contains(at);
        self.pieces.iter().find(hit).map(|p| p.token)
    }

    /// The index of the mark whose bar or tag is at a point.
    pub fn mark_at(&self, at: Pos2) -> Option<usize> {
        self.segments.iter().find(|segment| segment.holds(at, self.rtl)).map(|segment| segment.mark)
    }

    /// Adds the words of a row and the bars under them; returns where the next row begins.
    fn add_row(
        &mut self,
        content: &Content,
        atoms: &[Atom],
        placed: &[Placed],
        number: usize,
        top: f32,
        points: f32,
    ) -> f32 {
        let ascent = atoms.iter().map(|a| a.ascent).fold(0.0, f32::max);
        let below = atoms.iter().map(|a| a.galley.size().y - a.ascent).fold(0.0, f32::max);
        let foot = top + (ascent + below).max(points * 1.3);
        for (at, atom) in atoms.iter().enumerate() {
            let Some(x) = placed.iter().find(|p| p.atom == Some(at)).map(|p| p.left) else { continue };
            let index = self.pieces.len();
            if let Some(range) = self.of_token.get_mut(atom.token) {
                *range = if range.start == range.end { index..index + 1 } else { range.start..index + 1 };
            }
            self.pieces.push(Piece {
                token: atom.token,
                row: number,
                rect: Rect::from_min_max(pos2(x, top), pos2(x + atom.width, foot)),
                text_at: pos2(x, top + ascent - atom.ascent),
                galley: atom.galley.clone(),
            });
        }
        let mut lanes = 0;
        let tokens = atoms.first().map_or(0, |a| a.token)..atoms.last().map_or(0, |a| a.token + 1);
        for (index, mark) in content.marks.iter().enumerate() {
            if mark.hull.end().get() <= tokens.start || tokens.end <= mark.hull.start().get() {
                continue;
            }
            let added = self.add_segments(index, mark, atoms, placed, number, foot);
            lanes = if added { lanes.max(mark.lane + 1) } else { lanes };
        }
        let (bottom, gap) = match lanes {
            0 if content.heads.is_empty() => (foot, points * 0.25),
            0 => (foot + size::HEAD_LINE + 2.0, points * 0.25),
            _ => (foot + size::FIRST_LANE + size::LANE * lanes as f32, size::ROW_GAP),
        };
        self.rows.push(Row { top, foot, bottom, lanes });
        bottom + gap
    }

    /// The segments and links of one mark in one row; false when the row holds none of its words.
    fn add_segments(
        &mut self,
        index: usize,
        mark: &Mark,
        atoms: &[Atom],
        placed: &[Placed],
        row: usize,
        foot: f32,
    ) -> bool {
        let top = foot + size::FIRST_LANE + size::LANE * mark.lane as f32;
        let mut runs: Vec<(f32, f32, usize)> = Vec::new(); // left, right, first token
        for fragment in &mark.fragments {
            let range = fragment.range();
            let mut open: Option<(f32, f32, usize)> = None;
            for item in placed {
                match (item.tokens(atoms), open.as_mut()) {
                    ((before, after), Some(run)) if range.contains(&before) && range.contains(&after) => {
                        if item.atom.is_some() {
                            *run = (run.0, item.left + item.width, run.2.min(before));
                        }
                    }
                    ((before, after), None) if before == after && range.contains(&before) => {
                        open = Some((item.left, item.left + item.width, before));
                    }
                    (_, Some(_)) => runs.extend(open.take()),
                    (_, None) => {}
                }
            }
            runs.extend(open);
        }
        if runs.is_empty() {
            return false;
        }
        let first_here = runs.iter().map(|r| r.2).min();
        let mut tagged = false;
        for &(left, right, token) in &runs {
            let carries = !tagged && Some(token) == first_here;
            tagged |= carries;
            let first = carries && token == mark.hull.start().get() && self.starts_here(token, row);
            let bar = Rect::from_min_max(pos2(left, top), pos2(right, top + size::BAR));
            let (tag_room, tag_width) = (f32::INFINITY, 0.0);
            self.segments.push(Segment { mark: index, row, bar, first, tagged: carries, tag_room, tag_width });
        }
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = top + size::BAR / 2.0;
        for pair in runs.windows(2) {
            if let [before, after] = pair {
                self.links.push(Link { mark: index, from: pos2(before.1, middle), to: pos2(after.0, middle) });
            }
        }
        true
    }

    fn starts_here(&self, token: usize, row: usize) -> bool {
        let first = self.of_token.get(token).and_then(|range| self.pieces.get(range.start));
        first.is_some_and(|piece| piece.row == row)
    }

    fn measure_tags(&mut self, ui: &Ui, content: &Content) {
        for segment in self.segments.iter_mut().filter(|segment| segment.tagged) {
            let Some(mark) = content.marks.get(segment.mark) else { continue };
            let (text, font) = (segment.tag_text(mark), theme::bold(size::TEXT_TAG));
            let tag = ui.fonts_mut(|f| f.layout_no_wrap(text, font, Color32::PLACEHOLDER));
            segment.tag_width = tag.size().x.min(segment.widest_tag());
        }
    }

    /// A tag may be wider than its bar, up to the next bar of the same lane.
    fn limit_tags(&mut self) {
        let bars: Vec<(usize, Rect)> = self.segments.iter().map(|s| (s.row, s.bar)).collect();
        let (rtl, width) = (self.rtl, self.width);
        for segment in &mut self.segments {
            let same_lane = bars.iter().filter(|(row, bar)| *row == segment.row && bar.top() == segment.bar.top());
            segment.tag_room = if rtl {
                let before = same_lane.map(|(_, b)| b.right()).filter(|right| *right <= segment.bar.left());
                segment.bar.right() - before.fold(0.0, f32::max) - size::GAP_SMALL
            } else {
                let after = same_lane.map(|(_, b)| b.left()).filter(|left| *left >= segment.bar.right());
                after.fold(width, f32::min) - segment.bar.left() - size::GAP_SMALL
            };
        }
    }
}
