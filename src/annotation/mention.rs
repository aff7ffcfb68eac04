//! Labelled spans of text that somebody stands for.

use super::{LabelId, MentionId, ModelId, Span};
use std::collections::BTreeMap;

/// Names and values that travel with a mention (brat's `A` lines, a tool's features).
pub type Attributes = BTreeMap<String, String>;

/// What a file says that is no mention, by the id of its format (brat's relations and events): carried along and
/// written again by that format. Other formats list it as not represented.
pub type Kept = BTreeMap<String, String>;

/// The pieces of a mention: one for a contiguous mention, several for a discontinuous one.
///
/// Never empty, ascending, disjoint; pieces that touch are one piece.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fragments {
    first: Span,
    rest: Vec<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FragmentsError {
    #[error("a mention needs at least one fragment")]
    Empty,
    #[error("the fragments {0:?} and {1:?} of one mention overlap")]
    Overlap(Span, Span),
}

impl Fragments {
    /// # Errors
    /// No span, or two that overlap.
    pub fn new(mut spans: Vec<Span>) -> Result<Self, FragmentsError> {
        spans.sort_unstable();
        let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            match joined.last_mut() {
                Some(last) if last.overlaps(span) => return Err(FragmentsError::Overlap(*last, span)),
                Some(last) if last.end() == span.start() => *last = Span::covering(last.start(), span.last()),
                _ => joined.push(span),
            }
        }
        let mut joined = joined.into_iter();
        let first = joined.next().ok_or(FragmentsError::Empty)?;
        Ok(Self { first, rest: joined.collect() })
    }

    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// The one span of a contiguous mention.
    pub fn contiguous(&self) -> Option<Span> {
        self.rest.is_empty().then_some(self.first)
    }

    /// From the first token to the last, gaps included.
    pub fn hull(&self) -> Span {
        self.rest.last().map_or(self.first, |last| Span::covering(self.first.start(), last.last()))
    }
}

impl From<Span> for Fragments {
    fn from(span: Span) -> Self {
        Self { first: span, rest: Vec::new() }
    }
}

/// Where a mention comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Provenance {
    Person,
    Import,
    Rule,
    /// A person accepted what this model suggested.
    Accepted(ModelId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    pub id: MentionId,
    pub fragments: Fragments,
    pub label: LabelId,
    pub attributes: Attributes,
    pub note: String,
    pub provenance: Provenance,
    /// What the file that it came from calls it; what is [`Kept`] of that file names it so.
    pub source_id: Option<String>,
}

impl Mention {
    pub fn new(id: MentionId, fragments: impl Into<Fragments>, label: LabelId, provenance: Provenance) -> Self {
        let (fragments, attributes, note) = (fragments.into(), Attributes::new(), String::new());
        Self { id, fragments, label, attributes, note, provenance, source_id: None }
    }

    /// From the first token to the last, gaps included.
    pub fn hull(&self) -> Span {
        self.fragments.hull()
    }

    /// True when both mark the same tokens with the same label.
    pub fn says_the_same(&self, other: &Mention) -> bool {
        self.label == other.label && self.fragments == other.fragments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn touching_fragments_join_and_overlapping_ones_are_refused() {
        let joined = Fragments::new(vec![span(4, 6), span(0, 2), span(2, 3)]).unwrap();
        assert_eq!(joined.iter().collect::<Vec<_>>(), [span(0, 3), span(4, 6)]);
        assert_eq!(joined.hull(), span(0, 6));
        assert_eq!(Fragments::new(vec![span(0, 2), span(1, 3)]), Err(FragmentsError::Overlap(span(0, 2), span(1, 3))));
        assert_eq!(Fragments::new(vec![]), Err(FragmentsError::Empty));
    }
}
