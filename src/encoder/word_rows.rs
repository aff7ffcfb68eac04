//! Which rows of a batch stand for which word.

use super::Alignment;
use std::ops::Range;

/// Places of W words, one sentence after the other, among the N rows of a batch. A word lies within one window, also of a
/// sentence in several: what stands here of a word depends on that window alone, not on which other windows are there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WordRows {
    first: Vec<u32>,
    last: Vec<u32>,
    cls: Vec<u32>,
    sep: Vec<u32>,
    sentences: Vec<Range<usize>>,
    marks: Vec<[u32; 2]>,
}

impl WordRows {
    /// Adds the words of a sentence whose windows have these rows.
    pub(super) fn push(&mut self, alignment: &Alignment, windows: &[Range<usize>]) {
        let (words, nowhere) = (self.first.len(), 0..1);
        for place in alignment.words() {
            let window = windows.get(place.window).unwrap_or(&nowhere);
            self.first.push((window.start + place.first) as u32);
            self.last.push((window.start + place.last) as u32);
            self.cls.push(window.start as u32);
            self.sep.push(window.end.saturating_sub(1) as u32);
        }
        self.sentences.push(words..self.first.len());
        let (first, last) = (windows.first().unwrap_or(&nowhere), windows.last().unwrap_or(&nowhere));
        self.marks.push([first.start as u32, last.end.saturating_sub(1) as u32]);
    }

    /// W.
    pub fn words(&self) -> usize {
        self.first.len()
    }

    /// Words of each sentence among all words.
    pub fn sentences(&self) -> &[Range<usize>] {
        &self.sentences
    }

    /// Row of each word's first subword, `[W]`.
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// Row of each word's last subword, `[W]`.
    pub fn last(&self) -> &[u32] {
        &self.last
    }

    /// Rows of each word's subwords, at least one, `[W]`. A word too long for a window has those that are in it.
    pub fn subwords(&self) -> Vec<Range<usize>> {
        self.first.iter().zip(&self.last).map(|(first, last)| *first as usize..*last as usize + 1).collect()
    }

    /// For each word the row of `[CLS]` of the window that it lies in, `[W]`. Prefer it to [`WordRows::marks`]: a very long
    /// sentence is predicted in parts, and what is said of a word should not depend on how it was divided.
    pub fn cls(&self) -> &[u32] {
        &self.cls
    }

    /// For each word the row of `[SEP]` of the window that it lies in, `[W]`.
    pub fn sep(&self) -> &[u32] {
        &self.sep
    }

    /// For each sentence the rows of `[CLS]` of its first window and of `[SEP]` of its last one.
    pub fn marks(&self) -> &[[u32; 2]] {
        &self.marks
    }
}
