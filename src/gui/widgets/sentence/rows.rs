//! Words in rows: broken in the order of reading, cut where they are wider than a row, reordered for the eye.

use super::bidi::Levels;
use super::content::Content;
use crate::gui::widgets::galleys::WordGalleys;
use crate::text::character_ends;
use eframe::egui::{Galley, Ui};
use std::ops::Range;
use std::sync::Arc;
use unicode_bidi::{BidiInfo, Level};

/// A word that shows more bytes than this is cut without being tried in one piece.
const LONGEST_UNCUT: usize = 2000;

/// How a sentence is set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TextLayout {
    pub width: f32,
    pub points: f32,
    /// Only this many rows, `usize::MAX` for all.
    pub most_rows: usize,
}

/// What is placed as one: a word, or a part of one.
pub(super) struct Atom {
    pub(super) token: usize,
    pub(super) galley: Arc<Galley>,
    pub(super) width: f32,
    pub(super) ascent: f32,
    pub(super) gap_before: bool,
    pub(super) may_break_before: bool,
}

pub(super) fn atoms(
    ui: &Ui,
    galleys: &mut WordGalleys,
    content: &Content,
    levels: &Levels,
    setting: TextLayout,
) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(content.words.len());
    for (token, word) in content.words.iter().enumerate() {
        let mirrored = levels.of_token(token).is_rtl().then(|| mirrored(&word.text)).flatten();
        let text = mirrored.as_deref().unwrap_or(&word.text);
        let whole = (text.len() <= LONGEST_UNCUT).then(|| galleys.get(ui, text, setting.points));
        if let Some(galley) = whole.filter(|galley| galley.size().x <= setting.width) {
            atoms.push(Atom {
                token,
                width: galley.size().x,
                ascent: ascent(&galley),
                galley,
                gap_before: word.gap_before,
                may_break_before: word.may_break_before,
            });
            continue;
        }
        for (number, part) in cut(ui, galleys, text, setting).into_iter().enumerate() {
            let galley = galleys.get(ui, part, setting.points);
            atoms.push(Atom {
                token,
                width: galley.size().x.min(setting.width),
                ascent: ascent(&galley),
                galley,
                gap_before: number == 0 && word.gap_before,
                may_break_before: true,
            });
        }
    }
    atoms
}

/// A word of signs alone as it is drawn where one reads from right to left: what opens there closes here. egui does that
/// for words whose letters say so. `None` where nothing changes.
fn mirrored(word: &str) -> Option<String> {
    const PAIRS: [(char, char); 8] =
        [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>'), ('«', '»'), ('‹', '›'), ('≤', '≥'), ('⟨', '⟩')];
    let other = |c: char| {
        let pair = PAIRS.iter().find(|(open, close)| c == *open || c == *close);
        pair.map(|(open, close)| if c == *open { *close } else { *open })
    };
    let is_of_signs = !word.chars().any(char::is_alphanumeric);
    let changes = is_of_signs && word.chars().any(|c| other(c).is_some());
    changes.then(|| word.chars().map(|c| other(c).unwrap_or(c)).collect())
}

/// Cuts a word into parts that fit a row, between what people see as characters; no more of them than are shown.
///
/// Cost: some ten parts are shaped for each, however long the word is.
fn cut<'w>(ui: &Ui, galleys: &mut WordGalleys, word: &'w str, setting: TextLayout) -> Vec<&'w str> {
    let bounds: Vec<usize> = character_ends(word).collect();
    let last = bounds.len().saturating_sub(1);
    let (mut parts, mut start, mut next) = (Vec::new(), 0, 0);
    let mut length = 16;
    // One more than there are rows pushes what follows out of sight, too.
    while start < word.len() && parts.len() <= setting.most_rows {
        let fits = |to: usize| {
            let part = bounds.get(to).and_then(|end| word.get(start..*end)).unwrap_or_default();
            galleys.width_uncached(ui, part, setting.points) <= setting.width
        };
        // The longest part that fits, at least one grapheme: twice what fits, from the length of the one before, until
        // something does not, then by bisection.
        let (mut low, mut high) = (next, last);
        let mut probe = (next + length).min(last);
        while low < probe {
            if !fits(probe) {
                high = probe - 1;
                break;
            }
            low = probe;
            probe = (next + 2 * (probe - next)).min(last);
        }
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        let end = bounds.get(low).copied().unwrap_or(word.len());
        parts.extend(word.get(start..end));
        length = (low - next).max(1);
        (start, next) = (end, low + 1);
    }
    parts
}

fn ascent(galley: &Galley) -> f32 {
    let glyph = galley.rows.first().and_then(|row| row.glyphs.first().map(|g| row.pos.y + g.pos.y));
    glyph.unwrap_or(galley.size().y * 0.8)
}

/// Ranges of atoms, broken in the order of reading.
pub(super) fn break_rows(atoms: &[Atom], width: f32, space: f32) -> Vec<Range<usize>> {
    let (mut rows, mut start, mut x) = (Vec::new(), 0, 0.0);
    let mut chance = None;
    let mut at = 0;
    while let Some(atom) = atoms.get(at) {
        if at > start && atom.may_break_before {
            chance = Some(at);
        }
        let gap = if at > start && atom.gap_before { space } else { 0.0 };
        if at > start && x + gap + atom.width > width + 0.5 {
            let stop = chance.unwrap_or(at);
            rows.push(start..stop);
            (start, at, x, chance) = (stop, stop, 0.0, None);
            continue;
        }
        x += gap + atom.width;
        at += 1;
    }
    if start < atoms.len() {
        rows.push(start..atoms.len());
    }
    rows
}

/// A word or a space of a row, from left to right.
pub(super) struct Placed {
    /// Index of the atom in its row; `None` for a space, which lies before the atom `next`.
    pub(super) atom: Option<usize>,
    pub(super) next: usize,
    pub(super) left: f32,
    pub(super) width: f32,
}

impl Placed {
    /// The token of a word, or the two between which a space lies.
    pub(super) fn tokens(&self, atoms: &[Atom]) -> (usize, usize) {
        let token = |at: usize| atoms.get(at).map_or(usize::MAX, |a| a.token);
        match self.atom {
            Some(at) => (token(at), token(at)),
            None => (token(self.next.wrapping_sub(1)), token(self.next)),
        }
    }
}

pub(super) fn place_row(atoms: &[Atom], levels: &Levels, space: f32, width: f32, rtl: bool) -> Vec<Placed> {
    let mut items: Vec<(Option<usize>, usize, f32, Level)> = Vec::with_capacity(atoms.len() * 2);
    for (at, atom) in atoms.iter().enumerate() {
        if at > 0 && atom.gap_before {
            items.push((None, at, space, levels.gap_before(atom.token)));
        }
        items.push((Some(at), at, atom.width, levels.of_token(atom.token)));
    }
    let item_levels: Vec<Level> = items.iter().map(|item| item.3).collect();
    let total: f32 = items.iter().map(|item| item.2).sum();
    let mut x = if rtl { (width - total).max(0.0) } else { 0.0 };
    let mut placed = Vec::with_capacity(items.len());
    for index in BidiInfo::reorder_visual(&item_levels) {
        let Some(&(atom, next, item_width, _)) = items.get(index) else { continue };
        placed.push(Placed { atom, next, left: x, width: item_width });
        x += item_width;
    }
    placed
}
