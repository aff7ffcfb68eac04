//! Values by the ids of documents or sentences: found in one step, copied in few, in memory that follows their number and
//! not their ids.
//!
//! ```text
//! before the edit   pages  A  B  C          a copy of all of it is a copy of three pointers
//! after it          pages  A  B' C          the edit has copied one page; A and C are still those of the copy
//! ```
//!
//! Ids are handed out in order, so nearly all of them index the pages. A file may say any id: those far beyond the number
//! of values go into a tree.

use super::{DocumentId, SentenceId};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// Values that are copied together when one of them is changed while a copy is held elsewhere.
const PAGE: usize = 64;
/// The pages have so many entries for each value, at most, and so many besides.
const ENTRIES_PER_VALUE: usize = 4;
const SPARE_ENTRIES: usize = 1 << 16;

/// An id that counts from 0.
pub trait Numbered: Copy {
    fn number(self) -> u32;
    fn numbered(number: u32) -> Self;
}

impl Numbered for SentenceId {
    fn number(self) -> u32 {
        self.0
    }

    fn numbered(number: u32) -> Self {
        Self(number)
    }
}

impl Numbered for DocumentId {
    fn number(self) -> u32 {
        self.0
    }

    fn numbered(number: u32) -> Self {
        Self(number)
    }
}

/// Values by their ids. Copies share what is the same in both.
#[derive(Debug)]
pub struct ById<K, T> {
    /// Indexed by id, a page at a time.
    pages: Vec<Arc<Page<T>>>,
    /// Those beyond the pages.
    sparse: Arc<BTreeMap<u32, Arc<T>>>,
    /// Values that are in one of the two.
    filled: usize,
    keys: PhantomData<K>,
}

#[derive(Clone, Debug)]
struct Page<T>([Option<T>; PAGE]);

// Written out: what `derive` makes asks of `K` and `T` what is only asked of the pointers to them.
impl<K, T> Clone for ById<K, T> {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), sparse: self.sparse.clone(), filled: self.filled, keys: PhantomData }
    }
}

impl<K, T> Default for ById<K, T> {
    fn default() -> Self {
        Self { pages: Vec::new(), sparse: Arc::default(), filled: 0, keys: PhantomData }
    }
}

impl<K: Numbered, T: PartialEq> PartialEq for ById<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.filled == other.filled
            && self
                .iter()
                .map(|(id, value)| (id.number(), value))
                .eq(other.iter().map(|(id, value)| (id.number(), value)))
    }
}

impl<K: Numbered, T> ById<K, T> {
    pub fn len(&self) -> usize {
        self.filled
    }

    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    pub fn get(&self, id: K) -> Option<&T> {
        let at = id.number() as usize;
        match self.pages.get(at / PAGE) {
            Some(page) => page.0.get(at % PAGE)?.as_ref(),
            None if self.sparse.is_empty() => None,
            None => self.sparse.get(&id.number()).map(|value| &**value),
        }
    }

    /// In the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        let paged = self.pages.iter().flat_map(|page| page.0.iter()).zip(0..);
        let paged = paged.filter_map(|(value, number)| Some((K::numbered(number), value.as_ref()?)));
        paged.chain(self.sparse.iter().map(|(number, value)| (K::numbered(*number), &**value)))
    }

    /// In the order of the ids.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        let paged = self.pages.iter().flat_map(|page| page.0.iter()).filter_map(Option::as_ref);
        paged.chain(self.sparse.values().map(|value| &**value))
    }
}

impl<K: Numbered, T: Clone> ById<K, T> {
    /// The value, no longer shared with any copy.
    pub fn get_mut(&mut self, id: K) -> Option<&mut T> {
        self.get(id)?; // what is not there is no reason to copy a page
        let at = id.number() as usize;
        match self.pages.get_mut(at / PAGE) {
            Some(page) => Arc::make_mut(page).0.get_mut(at % PAGE)?.as_mut(),
            None => Arc::make_mut(&mut self.sparse).get_mut(&id.number()).map(Arc::make_mut),
        }
    }

    /// Puts a value in the place of the one of this id, if there was one.
    pub fn put(&mut self, id: K, value: T) {
        let at = id.number() as usize;
        if let Some(there) = self.get_mut(id) {
            *there = value;
            return;
        }
        self.filled += 1;
        if at >= self.pages.len() * PAGE {
            if at >= self.filled * ENTRIES_PER_VALUE + SPARE_ENTRIES {
                Arc::make_mut(&mut self.sparse).insert(id.number(), Arc::new(value));
                return;
            }
            self.lengthen(at / PAGE + 1);
        }
        self.put_in_page(at, value);
    }

    /// Takes a value out.
    pub fn remove(&mut self, id: K) -> Option<T> {
        self.get(id)?;
        let at = id.number() as usize;
        let removed = match self.pages.get_mut(at / PAGE) {
            Some(page) => Arc::make_mut(page).0.get_mut(at % PAGE)?.take(),
            None => Arc::make_mut(&mut self.sparse).remove(&id.number()).map(Arc::unwrap_or_clone),
        };
        self.filled -= usize::from(removed.is_some());
        removed
    }

    /// Moves what is below the end of so many pages into them.
    fn lengthen(&mut self, pages: usize) {
        // Empty ones are one page until something comes into them.
        self.pages.resize(pages, Arc::new(Page(std::array::from_fn(|_| None))));
        if self.sparse.is_empty() {
            return;
        }
        let sparse = Arc::make_mut(&mut self.sparse);
        let beyond = sparse.split_off(&((pages * PAGE) as u32));
        for (number, value) in std::mem::replace(sparse, beyond) {
            self.put_in_page(number as usize, Arc::unwrap_or_clone(value));
        }
    }

    /// Does nothing beyond the pages.
    fn put_in_page(&mut self, at: usize, value: T) {
        let page = self.pages.get_mut(at / PAGE).map(Arc::make_mut);
        if let Some(entry) = page.and_then(|page| page.0.get_mut(at % PAGE)) {
            *entry = Some(value);
        }
    }
}

impl<K: Numbered, T: Clone> Extend<(K, T)> for ById<K, T> {
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, values: I) {
        values.into_iter().for_each(|(id, value)| self.put(id, value));
    }
}

impl<K: Numbered, T: Clone> FromIterator<(K, T)> for ById<K, T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(values: I) -> Self {
        let mut all = Self::default();
        all.extend(values);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbers = ById<SentenceId, u32>;

    fn numbers(ids: impl IntoIterator<Item = u32>) -> Numbers {
        ids.into_iter().map(|id| (SentenceId(id), id)).collect()
    }

    fn values(numbers: &Numbers) -> Vec<u32> {
        assert!(numbers.iter().all(|(id, value)| id.0 == *value));
        numbers.values().copied().collect()
    }

    #[test]
    fn ids_far_beyond_the_number_of_values_take_no_room() {
        let mut all = numbers([0, 3, 200_000_000, 70_000]);
        assert!(all.pages.len() * PAGE <= 4 * ENTRIES_PER_VALUE + SPARE_ENTRIES + PAGE);
        assert_eq!(values(&all), [0, 3, 70_000, 200_000_000]);
        assert_eq!((all.get(SentenceId(4)), all.get(SentenceId(199_999_999))), (None, None));
        assert_eq!([200_000_000, 3, 5].map(|id| all.remove(SentenceId(id))), [Some(200_000_000), Some(3), None]);
        assert_eq!((values(&all), all.len()), (vec![0, 70_000], 2));
    }

    #[test]
    fn what_was_far_away_is_found_when_the_others_have_come() {
        let far = SPARE_ENTRIES as u32 + 50_000;
        let mut all = numbers([far]);
        assert!(all.pages.is_empty());
        all.extend((0..far).map(|id| (SentenceId(id), id)));
        assert_eq!((all.get(SentenceId(far)), all.len()), (Some(&far), far as usize + 1));
        all.put(SentenceId(far + 1), far + 1);
        assert!(all.sparse.is_empty());
        assert_eq!((all.get(SentenceId(far)), all.values().next_back()), (Some(&far), Some(&(far + 1))));
    }

    #[test]
    fn a_change_copies_one_page_of_what_is_held_elsewhere() {
        let far = 200_000_000;
        let mut all = numbers((0..10_000).chain([far, far + 1]));
        let held = all.clone();
        *all.get_mut(SentenceId(5_000)).unwrap() += 1;
        *all.get_mut(SentenceId(far)).unwrap() += 1;
        all.put(SentenceId(10_000), 10_000);
        assert_eq!(all.remove(SentenceId(9_000)), Some(9_000));
        assert_eq!(values(&held), (0..10_000).chain([far, far + 1]).collect::<Vec<_>>());
        let pages = all.pages.iter().zip(&held.pages);
        let copied: Vec<usize> = pages.zip(0..).filter(|((a, b), _)| !Arc::ptr_eq(a, b)).map(|(_, at)| at).collect();
        assert_eq!(copied, [5_000 / PAGE, 9_000 / PAGE, 10_000 / PAGE]);
        let is_same = |id: u32| Arc::ptr_eq(&all.sparse[&id], &held.sparse[&id]);
        assert_eq!([far, far + 1].map(is_same), [false, true]);
        assert!(all.get_mut(SentenceId(77_777_777)).is_none() && all != held && held == held.clone());
    }
}
