//! The order in which sentences are seen, and how many at a time.

use super::Rng;

/// Batches that are sorted together: long enough for batches of like length, short enough for a new mix each epoch.
const POOL: usize = 40;
/// Positions that one pass of a prediction may have.
pub const MOST_POSITIONS: usize = 8192;

/// The same in training, where everything between input and loss is kept.
pub const MOST_TRAINING_POSITIONS: usize = 2048;

/// One epoch: every sentence once, in batches of similar length, which come in random order.
pub fn epoch(sizes: &[Size], batch_size: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    rng.shuffle(&mut order);
    for pool in order.chunks_mut(POOL * batch_size) {
        pool.sort_by_key(|&i| sizes.get(i).map(|size| size.longest));
    }
    let mut batches: Vec<Vec<usize>> = order.chunks(batch_size).map(<[usize]>::to_vec).collect();
    rng.shuffle(&mut batches);
    batches
}

/// Parts of a training batch that are worked on one after the other, in the order of the batch: long sentences need
/// memory and time, and a cancelled training stops between two parts. A sentence of more positions is a part by itself.
pub fn parts(sizes: &[Size], batch: &[usize], most_positions: usize) -> Vec<Vec<usize>> {
    grouped(sizes, batch.iter().copied(), batch.len(), most_positions)
}

/// What a sentence costs in a batch, in positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size {
    /// Of its longest window.
    pub longest: usize,
    /// Of all its windows.
    pub all: usize,
}

/// Batches of similar length for prediction: every sentence once, the longest first.
///
/// A batch holds `batch_size` sentences, or fewer where they are so long that the memory would show. A sentence of more than
/// `most_positions` is a batch by itself.
pub fn by_length(sizes: &[Size], batch_size: usize, most_positions: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(sizes.get(i)));
    grouped(sizes, order, batch_size, most_positions)
}

/// Neighbours of `order` put together while they are no more than `most` and have no more than `most_positions`. One that
/// does not fit by itself is alone.
fn grouped(
    sizes: &[Size],
    order: impl IntoIterator<Item = usize>,
    most: usize,
    most_positions: usize,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut positions = 0;
    for i in order {
        let size = sizes.get(i).map_or(0, |size| size.all);
        match groups.last_mut() {
            Some(group) if group.len() < most && positions + size <= most_positions => {
                group.push(i);
                positions += size;
            }
            _ => {
                groups.push(vec![i]);
                positions = size;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_holds_every_sentence_once_in_batches_of_like_length() {
        let lengths: Vec<usize> = (0..103).map(|i| i * 37 % 50).collect();
        let sizes: Vec<Size> = lengths.iter().map(|&longest| Size { longest, all: longest }).collect();
        let mut rng = Rng::new(1, "order");
        let first = epoch(&sizes, 8, &mut rng);
        let mut all = first.concat();
        assert_ne!(all, epoch(&sizes, 8, &mut rng).concat());
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
        let sizes = [3, 9, 3, 5, 4].map(|longest| Size { longest, all: longest });
        assert_eq!(by_length(&sizes, 2, MOST_POSITIONS), [vec![1, 3], vec![4, 0], vec![2]]);
    }

    #[test]
    fn long_sentences_come_in_small_batches() {
        let mut sizes = vec![Size { longest: 512, all: 512 }; 20];
        sizes.push(Size { longest: 512, all: 40 * 512 });
        let counts: Vec<usize> = by_length(&sizes, 32, MOST_POSITIONS).iter().map(Vec::len).collect();
        assert_eq!(counts, [1, 16, 4]);
    }

    #[test]
    fn long_batches_are_trained_in_parts() {
        let mut sizes = vec![Size { longest: 100, all: 100 }; 20];
        let batch: Vec<usize> = (0..20).rev().collect();
        assert_eq!(parts(&sizes, &batch, MOST_TRAINING_POSITIONS).as_slice(), std::slice::from_ref(&batch));
        sizes[17] = Size { longest: 512, all: 2560 };
        sizes[3] = Size { longest: 300, all: 300 };
        sizes[12] = Size { longest: 500, all: 500 };
        // One too long for any company, then as many as fit.
        let counts: Vec<usize> = parts(&sizes, &batch, MOST_TRAINING_POSITIONS).iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1, 14, 3]);
        assert_eq!(parts(&sizes, &batch, MOST_TRAINING_POSITIONS).concat(), batch);
    }
}
