//! Where sentences are kept: found by their ids in one step, in memory that follows their number and not their ids.
//!
//! Ids are handed out in order, so nearly all of them index a vector. A file may say any id: those far beyond the number
//! of sentences go into a tree.

use super::{Sentence, SentenceId};
use std::collections::BTreeMap;

/// The vector has so many entries for each sentence, at most, and so many besides.
const ENTRIES_PER_SENTENCE: usize = 4;
const SPARE_ENTRIES: usize = 1 << 16;

/// Sentences by their ids, and where each stands in text order.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Indexed by [`SentenceId`].
    dense: Vec<Slot>,
    /// Those beyond `dense`.
    sparse: BTreeMap<u32, Slot>,
    /// Sentences that are in one of the two.
    filled: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    /// `None` for one whose words belong to others now.
    sentence: Option<Sentence>,
    /// [`NOWHERE`] for one that is in no document that is there.
    place: u32,
}

const NOWHERE: u32 = u32::MAX;

impl Slot {
    const EMPTY: Self = Self { sentence: None, place: NOWHERE };
}

impl Slots {
    pub(super) fn get(&self, id: SentenceId) -> Option<&Sentence> {
        self.slot(id)?.sentence.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: SentenceId) -> Option<&mut Sentence> {
        self.slot_mut(id)?.sentence.as_mut()
    }

    /// Where a sentence stands in text order.
    pub(super) fn place(&self, id: SentenceId) -> Option<usize> {
        self.slot(id).map(|slot| slot.place).filter(|place| *place != NOWHERE).map(|place| place as usize)
    }

    /// Does nothing for an id without a sentence.
    pub(super) fn set_place(&mut self, id: SentenceId, place: u32) {
        if let Some(slot) = self.slot_mut(id).filter(|slot| slot.sentence.is_some()) {
            slot.place = place;
        }
    }

    pub(super) fn forget_places(&mut self) {
        self.dense.iter_mut().chain(self.sparse.values_mut()).for_each(|slot| slot.place = NOWHERE);
    }

    /// Puts a sentence in the place of the one of this id, if there was one.
    pub(super) fn put(&mut self, id: SentenceId, sentence: Sentence) {
        if let Some(slot) = self.slot_mut(id) {
            let was_there = slot.sentence.replace(sentence).is_some();
            self.filled += usize::from(!was_there);
            return;
        }
        self.filled += 1;
        let at = id.0 as usize;
        let slot = Slot { sentence: Some(sentence), place: NOWHERE };
        if at >= self.filled * ENTRIES_PER_SENTENCE + SPARE_ENTRIES {
            self.sparse.insert(id.0, slot);
            return;
        }
        self.lengthen(at + 1);
        if let Some(free) = self.dense.get_mut(at) {
            *free = slot;
        }
    }

    /// Takes a sentence out.
    pub(super) fn clear(&mut self, id: SentenceId) {
        let Some(slot) = self.slot_mut(id) else { return };
        let was_there = std::mem::replace(slot, Slot::EMPTY).sentence.is_some();
        self.filled -= usize::from(was_there);
    }

    /// By their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sentence> {
        self.dense.iter().chain(self.sparse.values()).filter_map(|slot| slot.sentence.as_ref())
    }

    /// Moves what is below `entries` into the vector.
    fn lengthen(&mut self, entries: usize) {
        self.dense.resize(entries, Slot::EMPTY);
        if self.sparse.is_empty() {
            return;
        }
        let beyond = self.sparse.split_off(&(entries as u32));
        for (id, slot) in std::mem::replace(&mut self.sparse, beyond) {
            if let Some(place) = self.dense.get_mut(id as usize) {
                *place = slot;
            }
        }
    }

    fn slot(&self, id: SentenceId) -> Option<&Slot> {
        match self.dense.get(id.0 as usize) {
            None if self.sparse.is_empty() => None,
            None => self.sparse.get(&id.0),
            slot => slot,
        }
    }

    fn slot_mut(&mut self, id: SentenceId) -> Option<&mut Slot> {
        match self.dense.get_mut(id.0 as usize) {
            None => self.sparse.get_mut(&id.0),
            slot => slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DocumentId, NewSentence};
    use super::*;

    fn sentence(id: u32) -> Sentence {
        Sentence::stored(SentenceId(id), DocumentId(0), NewSentence::default())
    }

    #[test]
    fn ids_far_beyond_the_number_of_sentences_take_no_room() {
        let mut slots = Slots::default();
        for id in [0, 3, 200_000_000, 70_000] {
            slots.put(SentenceId(id), sentence(id));
            slots.set_place(SentenceId(id), id / 2);
        }
        assert!(slots.dense.len() <= 4 * ENTRIES_PER_SENTENCE + SPARE_ENTRIES);
        assert_eq!(slots.iter().map(|s| s.id().0).collect::<Vec<_>>(), [0, 3, 70_000, 200_000_000]);
        assert_eq!(slots.place(SentenceId(200_000_000)), Some(100_000_000));
        assert_eq!((slots.place(SentenceId(4)), slots.get(SentenceId(199_999_999))), (None, None));
        slots.clear(SentenceId(200_000_000));
        slots.clear(SentenceId(3));
        assert_eq!(slots.iter().map(|s| s.id().0).collect::<Vec<_>>(), [0, 70_000]);
        assert_eq!((slots.place(SentenceId(200_000_000)), slots.filled), (None, 2));
    }

    #[test]
    fn what_was_far_away_is_found_when_the_others_have_come() {
        let mut slots = Slots::default();
        let far = SPARE_ENTRIES as u32 + 50_000;
        slots.put(SentenceId(far), sentence(far));
        slots.set_place(SentenceId(far), 7);
        assert!(slots.dense.is_empty());
        for id in 0..far {
            slots.put(SentenceId(id), sentence(id));
        }
        assert!(slots.get(SentenceId(far)).is_some_and(|s| s.id().0 == far));
        assert_eq!((slots.place(SentenceId(far)), slots.filled), (Some(7), far as usize + 1));
        slots.put(SentenceId(far + 1), sentence(far + 1));
        assert!(slots.sparse.is_empty());
        slots.forget_places();
        assert_eq!(slots.place(SentenceId(far)), None);
    }
}
