//! Sets of sentences that are copied and joined as fast as memory is: a bit for each id.

use super::SentenceId;
use std::collections::BTreeSet;

/// Ids below this have a bit: a mebibyte for all of them. A file may name others.
const BITS: u32 = 1 << 23;

/// Some sentences.
#[derive(Clone, Debug, Default)]
pub struct SentenceSet {
    /// By id, 64 in each.
    bits: Vec<u64>,
    /// Those of ids that have no bit.
    far: BTreeSet<SentenceId>,
}

impl SentenceSet {
    pub fn len(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() + self.far.len()
    }

    pub fn is_empty(&self) -> bool {
        self.far.is_empty() && self.bits.iter().all(|bits| *bits == 0)
    }

    pub fn contains(&self, id: SentenceId) -> bool {
        match Self::bit(id) {
            Some((at, bit)) => self.bits.get(at).is_some_and(|bits| bits & bit != 0),
            None => self.far.contains(&id),
        }
    }

    /// False where it was in already.
    pub fn insert(&mut self, id: SentenceId) -> bool {
        let Some((at, bit)) = Self::bit(id) else { return self.far.insert(id) };
        if at >= self.bits.len() {
            self.bits.resize(at + 1, 0);
        }
        let Some(bits) = self.bits.get_mut(at) else { return false };
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    pub fn remove(&mut self, id: SentenceId) {
        match Self::bit(id) {
            Some((at, bit)) => self.bits.get_mut(at).into_iter().for_each(|bits| *bits &= !bit),
            None => {
                self.far.remove(&id);
            }
        }
    }

    /// Takes in all of another set.
    pub fn join(&mut self, other: &Self) {
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, more)| *bits |= more);
        self.far.extend(&other.far);
    }

    fn bit(id: SentenceId) -> Option<(usize, u64)> {
        (id.0 < BITS).then(|| ((id.0 / u64::BITS) as usize, 1 << (id.0 % u64::BITS)))
    }
}

/// Of the same sentences, whatever was in them before.
impl PartialEq for SentenceSet {
    fn eq(&self, other: &Self) -> bool {
        let (short, long) = if self.bits.len() < other.bits.len() { (self, other) } else { (other, self) };
        let (same, rest) = long.bits.split_at(short.bits.len());
        same == short.bits && rest.iter().all(|bits| *bits == 0) && self.far == other.far
    }
}

impl Eq for SentenceSet {}

impl Extend<SentenceId> for SentenceSet {
    fn extend<I: IntoIterator<Item = SentenceId>>(&mut self, ids: I) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl FromIterator<SentenceId> for SentenceSet {
    fn from_iter<I: IntoIterator<Item = SentenceId>>(ids: I) -> Self {
        let mut set = Self::default();
        set.extend(ids);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[u32]) -> SentenceSet {
        ids.iter().copied().map(SentenceId).collect()
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_not_taken_out() {
        let far = BITS + 7;
        let mut some = set(&[0, 63, 64, far]);
        assert!([0, 63, 64, far].iter().all(|id| some.contains(SentenceId(*id))));
        assert!([1, 65, 1000, far + 1].iter().all(|id| !some.contains(SentenceId(*id))));
        assert_eq!((some.len(), some.insert(SentenceId(63)), some.insert(SentenceId(200))), (4, false, true));
        [200, far, 9_999].iter().for_each(|id| some.remove(SentenceId(*id)));
        assert_eq!((some.clone(), some.len()), (set(&[0, 63, 64]), 3), "room that is left makes no difference");
        some.join(&set(&[1, 64, 300, far]));
        assert_eq!(some, set(&[0, 1, 63, 64, 300, far]));
        assert!(SentenceSet::default().is_empty() && !some.is_empty() && set(&[]) == SentenceSet::default());
    }
}
