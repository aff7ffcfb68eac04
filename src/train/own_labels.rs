//! Self-training: a model labels sentences that nobody has labelled, and learns from them together with those that persons
//! have (Yarowsky 1995; with neural networks Xie et al. 2020).
//!
//! Its labels are taken as they are, without a threshold. What persons have labelled comes more often, so that the
//! model's mistakes weigh less.

/// How often a sentence that persons have labelled comes in an epoch, to once for one that the model has.
const REPEAT: usize = 3;

/// What an epoch sees of `labelled` sentences followed by `own` ones, by their numbers.
pub(super) fn lesson(labelled: usize, own: usize) -> Vec<usize> {
    let repeated = (0..REPEAT).flat_map(|_| 0..labelled);
    repeated.chain(labelled..labelled + own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_persons_come_more_often() {
        assert_eq!(lesson(2, 3), [0, 1, 0, 1, 0, 1, 2, 3, 4]);
    }
}
