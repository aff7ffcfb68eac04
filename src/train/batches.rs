//! The order in which sentences are seen.

use crate::nn::Rng;

/// Batches that are sorted together: long enough for batches of like length, short enough for a new mix each epoch.
const POOL: usize = 40;

/// One epoch: every sentence once, in batches of similar length, which come in random order.
pub(super) fn epoch(lengths: &[usize], batch_size: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    rng.shuffle(&mut order);
    for pool in order.chunks_mut(POOL * batch_size) {
        pool.sort_by_key(|&i| lengths.get(i));
    }
    let mut batches: Vec<Vec<usize>> = order.chunks(batch_size).map(<[usize]>::to_vec).collect();
    rng.shuffle(&mut batches);
    batches
}

/// Batches of similar length for prediction: every sentence once, the longest first.
pub(super) fn by_length(lengths: &[usize], batch_size: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(lengths.get(i)));
    order.chunks(batch_size.max(1)).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_holds_every_sentence_once_in_batches_of_like_length() {
        let lengths: Vec<usize> = (0..103).map(|i| i * 37 % 50).collect();
        let mut rng = Rng::new(1, "order");
        let first = epoch(&lengths, 8, &mut rng);
        let mut all = first.concat();
        assert_ne!(all, epoch(&lengths, 8, &mut rng).concat());
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<_>>());
        let padding: usize = first
            .iter()
            .map(|b| {
                let longest = b.iter().map(|&i| lengths[i]).max().unwrap_or(0);
                b.iter().map(|&i| longest - lengths[i]).sum::<usize>()
            })
            .sum();
        assert!(padding < lengths.iter().sum::<usize>() / 8, "{padding}");
    }

    #[test]
    fn prediction_starts_with_the_longest() {
        assert_eq!(by_length(&[3, 9, 3, 5], 2), [vec![1, 3], vec![0, 2]]);
    }
}
