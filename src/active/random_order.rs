//! Orders drawn at random.

use crate::annotation::SentenceId;
use crate::nn::splitmix64;
use std::cmp::Ordering;

/// Sentences in the order that a seed gives them: that of one does not depend on which others are there.
pub(super) fn in_random_order(ids: impl IntoIterator<Item = SentenceId>, seed: u64) -> Vec<SentenceId> {
    first_at_random(ids, seed, usize::MAX)
}

/// The first `count` of [`in_random_order`].
pub(super) fn first_at_random(ids: impl IntoIterator<Item = SentenceId>, seed: u64, count: usize) -> Vec<SentenceId> {
    let key = |id: SentenceId| (splitmix64(splitmix64(seed) ^ u64::from(id.0)), id);
    let mut keyed: Vec<(u64, SentenceId)> = ids.into_iter().map(key).collect();
    let first = part_first(&mut keyed, count, Ord::cmp);
    keyed.truncate(first);
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// Puts the first `count` before all others, and returns how many these are.
pub(super) fn part_first<T>(items: &mut [T], count: usize, order: impl FnMut(&T, &T) -> Ordering) -> usize {
    if count >= items.len() {
        return items.len();
    }
    items.select_nth_unstable_by(count, order);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_random_order_does_not_depend_on_the_others(ids in prop::collection::hash_set(0_u32..1000, 0..40), some in any::<u64>()) {
            let open = |keep: &dyn Fn(u32) -> bool| -> Vec<SentenceId> {
                let mut ids: Vec<u32> = ids.iter().copied().filter(|id| keep(*id)).collect();
                ids.sort_unstable();
                in_random_order(ids.into_iter().map(SentenceId), 3)
            };
            let kept = |id: u32| some >> (id % 64) & 1 == 0;
            let mut all = open(&|_| true);
            all.retain(|id| kept(id.0));
            prop_assert_eq!(all, open(&kept));
        }
    }
}
