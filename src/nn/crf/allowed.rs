//! Which sequences of tags are possible.

use crate::nn::NnError;

/// Number of a tag, below T.
pub type Tag = u32;

/// Which tags may begin a sentence, follow each other and end it. T is their number.
///
/// A sentence of any length has a possible sequence: some tag may begin it, follow itself and end it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedTags {
    start: Vec<bool>,
    /// `[T, T]`, from a row's tag to a column's.
    between: Vec<bool>,
    stop: Vec<bool>,
}

impl AllowedTags {
    /// # Errors
    /// When no tag may begin a sentence, follow itself and end it.
    pub fn new(
        tags: usize,
        start: impl Fn(Tag) -> bool,
        between: impl Fn(Tag, Tag) -> bool,
        stop: impl Fn(Tag) -> bool,
    ) -> Result<Self, NnError> {
        let all = || 0..tags as Tag;
        if !all().any(|tag| start(tag) && between(tag, tag) && stop(tag)) {
            return Err(NnError::NoTagSequence);
        }
        Ok(Self {
            start: all().map(start).collect(),
            between: all()
                .flat_map(|from| all().map(move |to| (from, to)))
                .map(|(from, to)| between(from, to))
                .collect(),
            stop: all().map(stop).collect(),
        })
    }

    /// T
    pub fn tags(&self) -> usize {
        self.start.len()
    }

    /// Whether these can be the tags of a sentence.
    pub fn allows(&self, tags: &[Tag]) -> bool {
        let at = |tag: &Tag| *tag as usize;
        let (Some(first), Some(last)) = (tags.first(), tags.last()) else { return true };
        let follows = |pair: &[Tag]| self.between[at(&pair[0]) * self.tags() + at(&pair[1])];
        tags.iter().all(|tag| at(tag) < self.tags())
            && self.start[at(first)]
            && tags.windows(2).all(follows)
            && self.stop[at(last)]
    }

    /// 0 for what is allowed and −∞ for what isn't, `[T + 2, T]`: the rows of transitions, that of the start, that of the stop.
    pub(super) fn penalties(&self) -> impl Iterator<Item = f64> {
        let all = self.between.iter().chain(&self.start).chain(&self.stop);
        all.map(|allowed| if *allowed { 0.0 } else { f64::NEG_INFINITY })
    }
}
