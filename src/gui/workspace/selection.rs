//! What is selected in a sentence, and whether the person can have seen it.

use crate::annotation::{Span, TokenIdx};
use crate::gui::widgets::sentence::{Content, MarkId};

/// What a command is about. There is a cursor always: a selection of words has it at its free end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Selection {
    /// Nothing but the word that the cursor is on.
    Cursor(TokenIdx),
    /// Words, from where the selection began to its free end.
    Words {
        anchor: TokenIdx,
        cursor: TokenIdx,
        /// It was made with the mouse: labels are offered beside it.
        offers_labels: bool,
    },
    /// A mention or suggestion.
    Mark {
        id: MarkId,
        cursor: TokenIdx,
        /// Where the cursor was when the person began to go from mark to mark.
        stepped_from: Option<TokenIdx>,
    },
}

impl Default for Selection {
    fn default() -> Self {
        Self::Cursor(TokenIdx::default())
    }
}

impl Selection {
    pub(super) fn cursor(self) -> TokenIdx {
        match self {
            Self::Cursor(cursor) | Self::Words { cursor, .. } | Self::Mark { cursor, .. } => cursor,
        }
    }

    pub(super) fn words(self) -> Option<Span> {
        match self {
            Self::Words { anchor, cursor, .. } => Some(Span::covering(anchor, cursor)),
            Self::Cursor(_) | Self::Mark { .. } => None,
        }
    }

    pub(super) fn mark(self) -> Option<MarkId> {
        match self {
            Self::Mark { id, .. } => Some(id),
            Self::Cursor(_) | Self::Words { .. } => None,
        }
    }

    pub(super) fn offers_labels(self) -> bool {
        matches!(self, Self::Words { offers_labels: true, .. })
    }

    /// From where the person goes from mark to mark: the cursor, where they begin now.
    pub(super) fn stepped_from(self) -> TokenIdx {
        match self {
            Self::Mark { stepped_from: Some(from), .. } => from,
            other => other.cursor(),
        }
    }

    /// The same in a content that may have fewer words, or no longer has the mark.
    pub(super) fn inside(self, content: &Content) -> Self {
        let last = content.words.len().saturating_sub(1);
        let inside = |token: TokenIdx| TokenIdx::new(token.get().min(last));
        let cursor = inside(self.cursor());
        match self {
            Self::Words { anchor, offers_labels, .. } => Self::Words { anchor: inside(anchor), cursor, offers_labels },
            Self::Mark { id, stepped_from, .. } if content.mark(id).is_some() => {
                Self::Mark { id, cursor, stepped_from }
            }
            Self::Cursor(_) | Self::Mark { .. } => Self::Cursor(cursor),
        }
    }
}

/// Why the person can't see what is selected as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unseen {
    /// It is outside the part of the page that shows.
    ScrolledAway,
    /// Another thing was selected when the page was last painted, and the person has not selected this one.
    Replaced,
}

/// Whether the person can have seen what is selected, or has selected it just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Sight {
    #[default]
    Seen,
    ScrolledAway,
    Replaced {
        /// The frame that has shown that what was selected is gone.
        shown_in: Option<u64>,
    },
}

impl Sight {
    pub(super) fn unseen(self) -> Option<Unseen> {
        match self {
            Self::Seen => None,
            Self::ScrolledAway => Some(Unseen::ScrolledAway),
            Self::Replaced { .. } => Some(Unseen::Replaced),
        }
    }

    /// What is selected was painted, in sight or not.
    pub(super) fn was_painted(&mut self, is_in_sight: bool, frame: u64) {
        if let Self::Replaced { shown_in } = self
            && *shown_in.get_or_insert(frame) == frame
        {
            // What the person did before this frame was about what is gone.
            return;
        }
        *self = if is_in_sight { Self::Seen } else { Self::ScrolledAway };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::MentionId;
    use crate::gui::widgets::sentence::Word;

    fn content(words: usize) -> Content {
        let word = Word { text: "word".to_owned(), gap_before: true, may_break_before: true };
        Content { words: vec![word; words], ..Content::default() }
    }

    #[test]
    fn a_selection_lies_inside_the_sentence_and_outlives_no_mark() {
        let [two, four] = [2, 4].map(TokenIdx::new);
        let words = Selection::Words { anchor: four, cursor: two, offers_labels: true };
        assert_eq!(words.words(), Some(Span::covering(two, four)));
        let last = TokenIdx::new(1);
        let fewer = Selection::Words { anchor: last, cursor: last, offers_labels: true };
        assert_eq!(words.inside(&content(2)), fewer);
        let mark = Selection::Mark { id: MarkId::Mention(MentionId(1)), cursor: two, stepped_from: Some(four) };
        assert_eq!((mark.stepped_from(), mark.words()), (four, None));
        assert_eq!(mark.inside(&content(5)), Selection::Cursor(two), "no such mark is there");
    }

    #[test]
    fn what_was_replaced_is_seen_from_the_frame_after_the_one_that_shows_it() {
        let mut sight = Sight::Replaced { shown_in: None };
        sight.was_painted(true, 7);
        sight.was_painted(true, 7);
        assert_eq!(sight.unseen(), Some(Unseen::Replaced));
        sight.was_painted(true, 8);
        assert_eq!(sight.unseen(), None);
        sight.was_painted(false, 9);
        assert_eq!(sight.unseen(), Some(Unseen::ScrolledAway));
    }
}
