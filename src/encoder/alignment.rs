//! Which subwords stand for which word, also in sentences longer than the encoder's limit.
//!
//! ```text
//! words        Aarhus            met
//! subwords     [CLS] aa ##rh ##us met [SEP]
//! position     0     1  2    3    4   5
//! place        first 1, last 3   first 4, last 4
//! ```

use std::ops::Range;

/// A stretch of a sentence that the encoder sees at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The subwords with the marks at both ends, `pieces` numbers for each position.
    pub ids: Vec<u32>,
    pub positions: usize,
}

/// Where a word's first and last subword stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordPlace {
    pub window: usize,
    pub first: usize,
    pub last: usize,
}

/// A sentence as its encoder sees it. Every word has a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alignment {
    windows: Vec<Window>,
    words: Vec<WordPlace>,
}

impl Alignment {
    /// Lays out subwords given for each word, `pieces` numbers a subword.
    ///
    /// A window holds at most `limit` positions. Windows overlap by about a quarter of that, and a word of two windows
    /// belongs to the one where it has more words around it. A word that fills more than a window by itself keeps its
    /// first subwords only.
    pub(super) fn new(words: &[Vec<u32>], marks: [&[u32]; 2], pieces: usize, limit: usize) -> Self {
        let pieces = pieces.max(1);
        let room = limit.saturating_sub(2).max(1);
        let sizes: Vec<usize> = words.iter().map(|w| (w.len() / pieces).clamp(1, room)).collect();
        let stretches = stretches(&sizes, room);
        let mut alignment =
            Self { windows: Vec::with_capacity(stretches.len()), words: Vec::with_capacity(words.len()) };
        for (i, stretch) in stretches.iter().enumerate() {
            let next = stretches.get(i + 1);
            let end = next.map_or(stretch.end, |next| (next.start + stretch.end).div_ceil(2));
            alignment.push(words, &sizes, stretch.clone(), end, marks, pieces);
        }
        alignment
    }

    /// Adds a window over the words of `stretch`; those that have no place yet and come before `end` get theirs here.
    fn push(
        &mut self,
        words: &[Vec<u32>],
        sizes: &[usize],
        stretch: Range<usize>,
        end: usize,
        marks: [&[u32]; 2],
        pieces: usize,
    ) {
        let mut ids = marks[0].to_vec();
        let mut at = 1;
        let start = stretch.start;
        for (i, (word, &size)) in words.iter().zip(sizes).enumerate().take(stretch.end).skip(start) {
            ids.extend(word.iter().take(size * pieces));
            if i == self.words.len() && i < end {
                self.words.push(WordPlace { window: self.windows.len(), first: at, last: at + size - 1 });
            }
            at += size;
        }
        ids.extend(marks[1]);
        self.windows.push(Window { ids, positions: at + 1 });
    }

    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// One place for each word.
    pub fn words(&self) -> &[WordPlace] {
        &self.words
    }

    /// Some words and the windows that they have their places in.
    pub fn part(&self, words: Range<usize>) -> Self {
        let places = self.words.get(words).unwrap_or_default();
        let windows = self.windows_of(places);
        let relative = |place: &WordPlace| WordPlace { window: place.window - windows.start, ..*place };
        let words = places.iter().map(relative).collect();
        Self { windows: self.windows.get(windows).unwrap_or_default().to_vec(), words }
    }

    /// The rows of all windows together that [`Alignment::part`] keeps.
    pub fn rows_of(&self, words: Range<usize>) -> Range<usize> {
        let windows = self.windows_of(self.words.get(words).unwrap_or_default());
        let rows = |windows: &[Window]| windows.iter().map(|window| window.positions).sum::<usize>();
        let from = rows(self.windows.get(..windows.start).unwrap_or_default());
        from..from + rows(self.windows.get(windows).unwrap_or_default())
    }

    /// The end of the longest stretch of words from `start` on whose windows have `most` positions, or of one window.
    pub fn stretch(&self, start: usize, most: usize) -> usize {
        let Some(first) = self.words.get(start).map(|place| place.window) else { return self.words.len() };
        let (mut rows, mut last) = (0, first);
        for (number, window) in self.windows.iter().enumerate().skip(first) {
            rows += window.positions;
            if rows > most && number > first {
                break;
            }
            last = number;
        }
        // Words are in the order of their windows.
        self.words.partition_point(|place| place.window <= last)
    }

    fn windows_of(&self, places: &[WordPlace]) -> Range<usize> {
        match (places.first(), places.last()) {
            (Some(first), Some(last)) => first.window..last.window + 1,
            _ => 0..0,
        }
    }

    /// Positions of all windows together: the rows that a batch has for the sentence.
    pub fn rows(&self) -> usize {
        self.windows.iter().map(|window| window.positions).sum()
    }

    /// Positions of the longest window.
    pub fn positions(&self) -> usize {
        self.windows.iter().map(|w| w.positions).max().unwrap_or(0)
    }
}

/// Ranges of words that fit `room`, each but the first beginning before the end of the one before it if it can.
fn stretches(sizes: &[usize], room: usize) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut start = 0;
    loop {
        let mut end = start;
        let mut filled = 0;
        while let Some(&size) = sizes.get(end).filter(|&&size| end == start || filled + size <= room) {
            filled += size;
            end += 1;
        }
        stretches.push(start..end);
        if end >= sizes.len() {
            return stretches;
        }
        let mut back = end;
        let mut shared = 0;
        while let Some(&size) = sizes.get(back - 1).filter(|&&size| back - 1 > start && shared + size <= room / 4) {
            shared += size;
            back -= 1;
        }
        // The word that did not fit must fit now.
        let next = sizes.get(end).copied().unwrap_or(0);
        while shared + next > room && back < end {
            shared -= sizes.get(back).copied().unwrap_or(0);
            back += 1;
        }
        start = back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARKS: [&[u32]; 2] = [&[101], &[102]];

    #[test]
    fn a_short_sentence_is_one_window() {
        let alignment = Alignment::new(&[vec![7, 8, 9], vec![5]], MARKS, 1, 512);
        assert_eq!(alignment.windows(), [Window { ids: vec![101, 7, 8, 9, 5, 102], positions: 6 }]);
        let places: Vec<_> = alignment.words().iter().map(|w| (w.first, w.last)).collect();
        assert_eq!(places, [(1, 3), (4, 4)]);
    }

    #[test]
    fn words_of_two_windows_belong_where_they_have_context() {
        let words: Vec<Vec<u32>> = (0..20).map(|i| vec![i]).collect();
        let alignment = Alignment::new(&words, MARKS, 1, 10);
        // Windows of 8 words that share 2: 0..8, 6..14, 12..20.
        assert_eq!(alignment.windows().len(), 3);
        let windows: Vec<usize> = alignment.words().iter().map(|w| w.window).collect();
        assert_eq!(windows, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_part_has_the_windows_of_its_words() {
        let words: Vec<Vec<u32>> = (0..20).map(|i| vec![i]).collect();
        let whole = Alignment::new(&words, MARKS, 1, 10);
        // Windows 0, 1 and 2 own the words 0..7, 7..13 and 13..20.
        assert_eq!(
            [whole.stretch(0, 10), whole.stretch(0, 20), whole.stretch(8, 19), whole.stretch(8, 99)],
            [7, 13, 13, 20]
        );
        assert_eq!((whole.stretch(3, 0), whole.stretch(20, 9)), (7, 20));
        let part = whole.part(8..14);
        assert_eq!(part.windows(), &whole.windows()[1..3]);
        assert_eq!(part.words().iter().map(|w| w.window).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1]);
        assert_eq!(whole.rows_of(8..14), 10..30);
        assert_eq!((whole.part(0..20), whole.rows_of(0..20)), (whole.clone(), 0..30));
        assert_eq!((whole.part(5..5).windows().len(), whole.rows_of(5..5)), (0, 0..0));
    }

    proptest! {
        #[test]
        fn every_word_has_its_subwords_within_the_limit(
            sizes in prop::collection::vec(0usize..30, 0..60), limit in 3usize..40, pieces in 1usize..4,
        ) {
            let mut next = 1000;
            let words: Vec<Vec<u32>> = sizes.iter().map(|&n| {
                next += 100;
                (0..(n.max(1) * pieces) as u32).map(|i| next + i).collect()
            }).collect();
            let marks = [vec![1; pieces], vec![2; pieces]];
            let alignment = Alignment::new(&words, [&marks[0], &marks[1]], pieces, limit);
            prop_assert_eq!(alignment.words().len(), words.len());
            for window in alignment.windows() {
                prop_assert!(window.positions <= limit);
                prop_assert_eq!(window.ids.len(), window.positions * pieces);
            }
            for (place, word) in alignment.words().iter().zip(&words) {
                let ids = &alignment.windows()[place.window].ids;
                let there = &ids[place.first * pieces..(place.last + 1) * pieces];
                prop_assert_eq!(there, &word[..there.len()]);
                prop_assert!(there.len() == word.len() || there.len() == (limit - 2) * pieces);
            }
        }
    }
}
