//! Token positions and half-open token ranges.
//!
//! ```text
//! tokens     The   mayor   of    Aarhus   met
//! TokenIdx   0     1       2     3        4
//! Span       [----------- 0..4 -----------)       last() = 3
//! ```

use std::fmt;
use std::ops::Range;

/// Position of a token in its sentence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TokenIdx(u32);

impl TokenIdx {
    /// Saturates at `u32::MAX`, more tokens than any text has.
    pub fn new(value: usize) -> Self {
        Self(u32::try_from(value).unwrap_or(u32::MAX))
    }

    pub fn get(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TokenIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A non-empty half-open range of tokens of one sentence.
///
/// Ordered by start, then by end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: TokenIdx,
    end: TokenIdx,
}

impl Span {
    /// `None` unless `start < end`.
    pub fn new(start: TokenIdx, end: TokenIdx) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// `None` unless the range is non-empty.
    pub fn from_range(range: Range<usize>) -> Option<Self> {
        Self::new(TokenIdx::new(range.start), TokenIdx::new(range.end))
    }

    /// The span from `a` to `b`, both of them inside, in either order.
    pub fn covering(a: TokenIdx, b: TokenIdx) -> Self {
        let (first, last) = if a <= b { (a, b) } else { (b, a) };
        Self { start: first, end: TokenIdx(last.0.saturating_add(1)) }
    }

    pub fn start(self) -> TokenIdx {
        self.start
    }

    pub fn end(self) -> TokenIdx {
        self.end
    }

    /// The last token inside: the only inclusive view of a span.
    pub fn last(self) -> TokenIdx {
        TokenIdx(self.end.0.saturating_sub(1))
    }

    /// How many tokens it holds, at least 1.
    pub fn width_tokens(self) -> usize {
        self.end.get() - self.start.get()
    }

    pub fn range(self) -> Range<usize> {
        self.start.get()..self.end.get()
    }

    /// True when every token of `other` is in this span (an equal span too).
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn overlaps(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// True for a partial overlap: neither holds the other.
    pub fn crosses(self, other: Span) -> bool {
        self.overlaps(other) && !self.contains(other) && !other.contains(self)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
