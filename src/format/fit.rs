//! From mentions that are ranges of bytes to mentions that count the tokens of sentences.
//!
//! # Invariants
//! - Each mention that is placed covers just its bytes, without white space at the edges: where an edge falls inside a
//!   token the token is split, and where a mention crosses the border of sentences they are joined.
//! - Close to linear in text and mentions.

use crate::annotation::{Attributes, Fragments, Span, Status};
use crate::format::{ImportedMention, ImportedSentence};
use crate::text::{ByteIdx, TextRange};
use crate::wording::counted;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A mention as a file has it.
#[derive(Clone, Debug, Default)]
pub(super) struct RawMention {
    /// Bytes of the text, on character boundaries.
    pub(super) pieces: Vec<Range<usize>>,
    pub(super) label: String,
    pub(super) score: Option<f32>,
    pub(super) attributes: Attributes,
    pub(super) note: String,
    pub(super) source_id: Option<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) sentences: Vec<ImportedSentence>,
    pub(super) changes: Changes,
    /// Which mentions were left out, and why.
    pub(super) left_out: Vec<(usize, LeftOut)>,
}

/// What had to be changed so that mentions fit.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// How many tokens were split, and the first one.
    split: (usize, String),
    /// How many sentences were joined with the one before, and the first mention for which.
    joined: (usize, String),
    /// How many edges were in white space.
    trimmed: usize,
}

/// Why a mention was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum LeftOut {
    #[error("has pieces that are empty or overlap")]
    Unplaced,
    #[error("is there twice; it was kept once")]
    Twice {
        /// The number of the one that was kept. It says what both say, but for attributes of one name.
        of: usize,
    },
}

/// Where a mention was that could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    /// A byte of the text.
    At(usize),
    Somewhere,
}

impl Lost {
    /// What that means, for the end of a warning.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::At(_) => "it was left out, so its sentence is not complete",
            Self::Somewhere => "it was left out, so no sentence of the document is complete",
        }
    }
}

impl LeftOut {
    /// What to warn of a mention that is called `name`, and where it is missed.
    pub(super) fn of(self, name: &str, mention: &RawMention) -> (String, Option<Lost>) {
        let place = mention.pieces.first().map_or(Lost::Somewhere, |piece| Lost::At(piece.start));
        match self {
            Self::Twice { .. } => (format!("{name} {self}"), None),
            Self::Unplaced => (format!("{name} {self}; {}", place.meaning()), Some(place)),
        }
    }
}

impl Fitted {
    /// Sentences that lack a mention can't say that everything else is outside.
    pub(super) fn reopen(&mut self, lost: Lost) {
        let lacking = match lost {
            Lost::At(byte) => {
                let found = self.sentences.partition_point(|s| s.tokens.last().is_some_and(|t| t.end().get() <= byte));
                let at = found.min(self.sentences.len().saturating_sub(1));
                at..at + 1
            }
            Lost::Somewhere => 0..self.sentences.len(),
        };
        for sentence in self.sentences.get_mut(lacking).unwrap_or_default() {
            sentence.status = Some(Status::InProgress);
        }
    }
}

impl Changes {
    /// Those of another text, too.
    pub(super) fn add(&mut self, other: Changes) {
        let add = |(count, first): &mut (usize, String), (more, of): (usize, String)| {
            if *count == 0 {
                *first = of;
            }
            *count += more;
        };
        add(&mut self.split, other.split);
        add(&mut self.joined, other.joined);
        self.trimmed += other.trimmed;
    }

    /// What the person should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (count, first) = &self.split;
        if *count > 0 {
            notes.push(format!(
                "{} split because a mention begins or ends inside, first {first:?}",
                counted(*count, "token was", "tokens were")
            ));
        }
        let (count, first) = &self.joined;
        if *count > 0 {
            notes.push(format!(
                "{} because a mention goes across, first {first:?}",
                counted(*count, "sentence was joined to the one before", "sentences were joined to those before")
            ));
        }
        if self.trimmed > 0 {
            notes.push(format!(
                "{} or ended with white space, which was removed",
                counted(self.trimmed, "mention began", "mentions began")
            ));
        }
        notes
    }
}

/// Fits mentions into a text that was cut into sentences of tokens.
pub(super) fn fit(text: &str, sentences: &[Vec<TextRange>], mentions: &[RawMention]) -> Fitted {
    let mut fitted = Fitted::default();
    let trimmed: Vec<Vec<Range<usize>>> = mentions.iter().map(|m| fitted.trim(text, m)).collect();
    let flat = sentences.iter().zip(0..).flat_map(|(tokens, of)| tokens.iter().map(move |token| (*token, of)));
    let mut tokens: Vec<(TextRange, usize)> = flat.collect();
    add_unseen(text, &mut tokens, &trimmed);
    fitted.split_at_edges(text, &mut tokens, &trimmed);

    let spans: Vec<Option<Fragments>> = trimmed.iter().map(|pieces| place(&tokens, pieces)).collect();
    let count = tokens.last().map_or(0, |(_, of)| of + 1);
    let sentence_at = |token: usize| tokens.get(token).map_or(0, |(_, of)| *of);
    // For each sentence whether it is one with the sentence before.
    let mut goes_on = vec![0i32; count + 1];
    for (fragments, mention) in spans.iter().zip(mentions) {
        let Some(hull) = fragments.as_ref().map(Fragments::hull) else { continue };
        let (first, last) = (sentence_at(hull.start().get()), sentence_at(hull.last().get()));
        if first < last {
            *goes_on.get_mut(first + 1).unwrap_or(&mut 0) += 1;
            *goes_on.get_mut(last + 1).unwrap_or(&mut 0) -= 1;
            if fitted.changes.joined.1.is_empty() {
                fitted.changes.joined.1 = shown(text, &mention.pieces);
            }
        }
    }
    let mut open = 0;
    let mut last = None;
    let mut starts = Vec::new();
    let mut new_of = Vec::with_capacity(tokens.len());
    for (at, (token, of)) in tokens.iter().enumerate() {
        if last != Some(*of) {
            open += goes_on.iter().take(of + 1).skip(last.map_or(0, |last| last + 1)).sum::<i32>();
            if open > 0 && last.is_some() {
                fitted.changes.joined.0 += 1;
            } else {
                starts.push(at);
                fitted.sentences.push(ImportedSentence::default());
            }
            last = Some(*of);
        }
        new_of.push(starts.len() - 1);
        if let Some(sentence) = fitted.sentences.last_mut() {
            sentence.tokens.push(*token);
        }
    }
    let mut seen = HashMap::new();
    for (number, (fragments, mention)) in spans.into_iter().zip(mentions).enumerate() {
        let Some(fragments) = fragments else {
            fitted.leave_out(number, LeftOut::Unplaced);
            continue;
        };
        let of = new_of.get(fragments.hull().start().get()).copied().unwrap_or_default();
        let base = starts.get(of).copied().unwrap_or_default();
        let moved = fragments.iter().filter_map(|f| Span::from_range(f.start().get() - base..f.end().get() - base));
        let Ok(moved) = Fragments::new(moved.collect()) else {
            fitted.leave_out(number, LeftOut::Unplaced);
            continue;
        };
        let Some(sentence) = fitted.sentences.get_mut(of) else { continue };
        match seen.entry((fragments, mention.label.as_str())) {
            Entry::Vacant(free) => free.insert((number, sentence.mentions.len())),
            Entry::Occupied(same) => {
                let (first, place) = *same.get();
                if let Some(kept) = sentence.mentions.get_mut(place) {
                    kept.absorb(&mention.attributes, &mention.note);
                }
                fitted.leave_out(number, LeftOut::Twice { of: first });
                continue;
            }
        };
        sentence.mentions.push(ImportedMention {
            fragments: moved,
            label: mention.label.clone(),
            score: mention.score,
            attributes: mention.attributes.clone(),
            note: mention.note.clone(),
            source_id: mention.source_id.clone(),
        });
    }
    fitted
}

impl Fitted {
    fn leave_out(&mut self, number: usize, why: LeftOut) {
        if self.left_out.last().is_none_or(|(last, _)| *last != number) {
            self.left_out.push((number, why));
        }
    }

    /// The pieces without white space at their edges and without those that are nothing else.
    fn trim(&mut self, text: &str, mention: &RawMention) -> Vec<Range<usize>> {
        let mut is_trimmed = false;
        let mut pieces = Vec::with_capacity(mention.pieces.len());
        for piece in &mention.pieces {
            let raw = text.get(piece.clone()).unwrap_or_default();
            let start = piece.start + (raw.len() - raw.trim_start().len());
            let end = start + raw.trim().len();
            is_trimmed |= (start, end) != (piece.start, piece.end);
            if start < end {
                pieces.push(start..end);
            }
        }
        self.changes.trimmed += usize::from(is_trimmed && !pieces.is_empty());
        pieces.sort_by_key(|piece| (piece.start, piece.end));
        pieces
    }

    fn split_at_edges(&mut self, text: &str, tokens: &mut Vec<(TextRange, usize)>, mentions: &[Vec<Range<usize>>]) {
        let mut edges: Vec<usize> = mentions.iter().flatten().flat_map(|piece| [piece.start, piece.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut parts = Vec::with_capacity(tokens.len());
        for (token, of) in tokens.iter().copied() {
            let bytes = token.bytes();
            let first = edges.partition_point(|edge| *edge <= bytes.start);
            let inside = edges.iter().skip(first).copied().take_while(|edge| *edge < bytes.end);
            let mut from = bytes.start;
            for edge in inside.chain([bytes.end]) {
                parts.extend(range(from, edge).map(|part| (part, of)));
                if edge < bytes.end && from == bytes.start {
                    self.changes.split.0 += 1;
                    if self.changes.split.1.is_empty() {
                        self.changes.split.1 = token.of(text).to_owned();
                    }
                }
                from = edge;
            }
        }
        *tokens = parts;
    }
}

fn range(start: usize, end: usize) -> Option<TextRange> {
    TextRange::new(ByteIdx::new(start), ByteIdx::new(end))
}

/// Makes tokens of characters that no token covers (zero-width spaces, controls) where the edge of a mention needs it.
fn add_unseen(text: &str, tokens: &mut Vec<(TextRange, usize)>, mentions: &[Vec<Range<usize>>]) {
    let mut runs = BTreeSet::new();
    for pieces in mentions {
        for piece in pieces {
            let last = text.get(piece.clone()).and_then(|p| p.chars().next_back()).map_or(1, char::len_utf8);
            runs.extend(unseen_run(text, tokens, piece.start));
            runs.extend(unseen_run(text, tokens, piece.end - last));
        }
        for (left, right) in pieces.iter().zip(pieces.iter().skip(1)) {
            let gap = text.get(left.end..right.start).unwrap_or_default();
            let visible = gap.char_indices().find(|(_, c)| !c.is_whitespace());
            runs.extend(visible.and_then(|(at, _)| unseen_run(text, tokens, left.end + at)));
        }
    }
    if runs.is_empty() {
        return;
    }
    let old = std::mem::take(tokens);
    let mut old = old.into_iter().peekable();
    for (start, end) in runs {
        while let Some(token) = old.next_if(|(token, _)| token.start().get() < start) {
            tokens.push(token);
        }
        let of = tokens.last().or(old.peek()).map_or(0, |(_, of)| *of);
        tokens.extend(range(start, end).map(|run| (run, of)));
    }
    tokens.extend(old);
}

/// The longest run of characters around `at` that are neither white space nor in a token.
fn unseen_run(text: &str, tokens: &[(TextRange, usize)], at: usize) -> Option<(usize, usize)> {
    let next = tokens.partition_point(|(token, _)| token.end().get() <= at);
    let (after, before) = (tokens.get(next), next.checked_sub(1).and_then(|at| tokens.get(at)));
    let to = after.map_or(text.len(), |(token, _)| token.start().get());
    let from = before.map_or(0, |(token, _)| token.end().get());
    if to <= at {
        return None; // in a token
    }
    let (left, right) = (text.get(from..at)?, text.get(at..to)?);
    let start = left.rfind(char::is_whitespace).map_or(from, |found| {
        let space = left.get(found..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        from + found + space
    });
    let end = at + right.find(char::is_whitespace).unwrap_or(right.len());
    (start < end).then_some((start, end))
}

fn place(tokens: &[(TextRange, usize)], pieces: &[Range<usize>]) -> Option<Fragments> {
    let span = |piece: &Range<usize>| {
        let first = tokens.partition_point(|(token, _)| token.start().get() < piece.start);
        let end = tokens.partition_point(|(token, _)| token.end().get() <= piece.end);
        Span::from_range(first..end)
    };
    Fragments::new(pieces.iter().map(span).collect::<Option<Vec<_>>>()?).ok()
}

/// True when what a file quotes is there, whatever became of white space.
pub(super) fn quotes(text: &str, pieces: &[Range<usize>], quoted: &str) -> bool {
    let words = pieces.iter().flat_map(|piece| text.get(piece.clone()).unwrap_or_default().split_whitespace());
    words.collect::<String>() == quoted.split_whitespace().collect::<String>()
}

fn shown(text: &str, pieces: &[Range<usize>]) -> String {
    let words = pieces.iter().filter_map(|piece| text.get(piece.clone())).collect::<Vec<_>>().join(" ");
    words.chars().take(60).collect()
}
