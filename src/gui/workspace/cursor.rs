//! How cursor, selection and picked mark are moved.

use super::selection::{Selection, Sight};
use super::view::View;
use crate::annotation::{Span, TokenIdx};
use crate::gui::widgets::sentence::{Mark, MarkId};

/// Where a mark lies, seen from a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RelativePosition {
    Before,
    At,
    After,
}

impl RelativePosition {
    fn of(mark: &Mark, word: TokenIdx) -> Self {
        if mark.hull.end() <= word {
            Self::Before
        } else if mark.hull.start() > word {
            Self::After
        } else {
            Self::At
        }
    }
}

impl View {
    /// Moves the cursor by words; what was selected is let go.
    pub fn move_cursor(&mut self, by: isize) {
        let from = match (self.selection().or(self.picked_mark().map(|m| m.hull)), by < 0) {
            (Some(span), true) => span.start(),
            (Some(span), false) => span.last(),
            (None, _) => self.cursor(),
        };
        self.clear();
        self.selection = Selection::Cursor(self.moved(from, by));
        self.follows_cursor = true;
    }

    pub fn set_cursor(&mut self, token: TokenIdx) {
        self.clear();
        self.selection = Selection::Cursor(token);
        self.follows_cursor = true;
        self.stay_inside();
    }

    /// Moves the free end of the selection; a picked mark becomes the selection first.
    pub fn grow(&mut self, by: isize) {
        let (anchor, cursor) = match (self.picked_mark().map(|m| m.hull), self.selection) {
            (Some(hull), _) if by < 0 => (hull.last(), hull.start()),
            (Some(hull), _) => (hull.start(), hull.last()),
            (None, Selection::Words { anchor, cursor, .. }) => (anchor, cursor),
            (None, other) => (other.cursor(), other.cursor()),
        };
        let cursor = self.moved(cursor, by);
        (self.selection, self.sight) = (Selection::Words { anchor, cursor, offers_labels: false }, Sight::Seen);
        self.follows_cursor = true;
    }

    pub fn select(&mut self, from: TokenIdx, to: TokenIdx) {
        let offers_labels = self.offers_labels();
        (self.selection, self.sight) = (Selection::Words { anchor: from, cursor: to, offers_labels }, Sight::Seen);
        self.stay_inside();
    }

    /// Whether labels are offered beside the selected words.
    pub fn offer_labels(&mut self, is_offered: bool) {
        if let Selection::Words { offers_labels, .. } = &mut self.selection {
            *offers_labels = is_offered;
        }
    }

    pub fn pick(&mut self, id: MarkId) {
        self.clear();
        if let Some(hull) = self.content.mark(id).map(|m| m.hull) {
            self.selection = Selection::Mark { id, cursor: hull.start(), stepped_from: None };
            self.follows_cursor = true;
        }
    }

    /// Picks the next mark, forwards or backwards: first those at the cursor, from inner to outer, then the next ones
    /// after it in the order of reading; backwards the same the other way round. From the end it goes on at the start.
    pub fn pick_next(&mut self, by: isize) {
        let from = self.selection.stepped_from();
        let order = self.marks_around(from);
        let Some(last) = order.len().checked_sub(1) else { return };
        let at = self.picked().and_then(|picked| order.iter().position(|(_, id)| *id == picked));
        let next = match at {
            Some(at) => (at as isize + by).rem_euclid(order.len() as isize) as usize,
            // Where there is nothing further on, it goes round.
            None if by > 0 => order.iter().position(|(place, _)| *place != RelativePosition::Before).unwrap_or(0),
            None => order.iter().rposition(|(place, _)| *place != RelativePosition::After).unwrap_or(last),
        };
        if let Some((_, id)) = order.get(next) {
            self.pick(*id);
            if let Selection::Mark { stepped_from, .. } = &mut self.selection {
                *stepped_from = Some(from);
            }
        }
    }

    /// All marks: those before a word, those on it from inner to outer, and those after it.
    fn marks_around(&self, word: TokenIdx) -> Vec<(RelativePosition, MarkId)> {
        let mut marks: Vec<(RelativePosition, &Mark)> =
            self.content.marks.iter().map(|mark| (RelativePosition::of(mark, word), mark)).collect();
        marks.sort_by_key(|(place, mark)| {
            let (start, width) = (mark.hull.start(), mark.hull.width_tokens());
            let size = if *place == RelativePosition::At { (width, 0) } else { (start.get(), usize::MAX - width) };
            (*place, size, start, mark.id)
        });
        marks.into_iter().map(|(place, mark)| (place, mark.id)).collect()
    }

    /// Picks the first suggestion at or after a word, else the first of all, else nothing.
    pub fn pick_suggestion_from(&mut self, start: TokenIdx) {
        let mut suggestions: Vec<&Mark> = self.suggestion_marks().collect();
        suggestions.sort_by_key(|m| (m.hull.start() < start, m.hull.start(), std::cmp::Reverse(m.hull.end())));
        match suggestions.first().map(|m| m.id) {
            Some(id) => self.pick(id),
            None => self.clear(),
        }
    }

    /// Selects what a parent of the picked mark or selection would cover: one word more.
    pub fn wrap(&mut self) {
        let Some(inner) = self.picked_mark().map(|m| m.hull).or(self.selection()).or(self.target()) else { return };
        let words = self.content.words.len();
        let (start, last) = (inner.start().get(), inner.last().get());
        let (from, to) = if last + 1 < words { (start, last + 1) } else { (start.saturating_sub(1), last) };
        self.select(TokenIdx::new(from), TokenIdx::new(to));
    }

    /// The span that the picked mention would have with one end moved; `None` where there is no room.
    pub fn moved_end(&self, at_start: bool, by: isize) -> Option<Span> {
        let hull = self.picked_mark()?.hull;
        let (mut start, mut end) = (hull.start().get() as isize, hull.end().get() as isize);
        if at_start {
            start += by
        } else {
            end += by
        }
        let inside = start >= 0 && end as usize <= self.content.words.len();
        Span::from_range(usize::try_from(start).ok()?..usize::try_from(end).ok()?).filter(|_| inside)
    }

    fn moved(&self, from: TokenIdx, by: isize) -> TokenIdx {
        let last = self.content.words.len().saturating_sub(1);
        TokenIdx::new(from.get().saturating_add_signed(by).min(last))
    }
}
