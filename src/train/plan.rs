//! What a training learns from, part by part.
//!
//! In the first part the model learns from the sentences that persons have labelled. Where there are few, more parts may
//! follow (self-training: Yarowsky 1995; with neural networks Xie et al. 2020): the model labels sentences that nobody
//! has labelled, other ones in each part, and a model that begins anew learns from these together with those of persons.
//! The weights of the models of these parts are averaged at the end (Wortsman et al. 2022): they began with the same
//! weights, so that what lies between them is good, too.
//!
//! The model's labels are taken as they are, without a threshold. What persons have labelled comes more often, so that
//! the model's mistakes weigh less.

use super::parameters::Settings;

/// How often a sentence that persons have labelled comes in an epoch, to once for one that the model has.
const REPEAT: usize = 3;

/// What an epoch sees of labelled sentences and the model's own.
pub(super) fn sentences_an_epoch(labelled: usize, own: usize) -> usize {
    REPEAT * labelled + own
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EpochPlan {
    /// Sentences that persons have labelled.
    labelled: usize,
    /// Sentences without labels.
    unlabelled: usize,
    /// How many of them the model labels in each part but the first.
    own: usize,
    /// Parts with labels of the model.
    rounds: usize,
    epochs: usize,
    own_epochs: usize,
    batch_size: usize,
}

impl EpochPlan {
    pub(super) fn new(settings: &Settings, labelled: usize, unlabelled: usize) -> Self {
        let own = settings.self_training.filter(|_| unlabelled > 0);
        Self {
            labelled,
            unlabelled,
            own: own.map_or(0, |own| own.sentences.min(unlabelled)),
            rounds: own.map_or(0, |own| own.rounds),
            epochs: settings.epochs,
            own_epochs: own.map_or(0, |own| own.epochs),
            batch_size: settings.batch_size,
        }
    }

    /// Sentences that persons have labelled.
    pub(super) fn labelled(&self) -> usize {
        self.labelled
    }

    /// The part that an epoch belongs to: 0 is the one with the labels of persons alone. Epochs are counted from 1.
    pub(super) fn part(&self, epoch: usize) -> usize {
        let later = epoch.saturating_sub(self.epochs + 1) / self.own_epochs.max(1) + 1;
        if epoch <= self.epochs { 0 } else { later.min(self.rounds) }
    }

    /// Whether dev is scored after an epoch: after the last one of each part, and before it so often that a training scores
    /// no more sentences than it learns from.
    pub(super) fn scores_after(&self, epoch: usize, dev: usize) -> bool {
        let part = self.part(epoch);
        let end = self.epochs + part * self.own_epochs;
        let every = dev.div_ceil(self.sentences_an_epoch(part).max(1)).max(1);
        end.saturating_sub(epoch).is_multiple_of(every)
    }

    pub(super) fn last_part(&self) -> usize {
        self.rounds
    }

    /// The sentences without labels that the model labels for a part, by their numbers; where they don't suffice some
    /// come again.
    pub(super) fn unlabelled_of(&self, part: usize) -> Vec<usize> {
        let from = part.saturating_sub(1) * self.own;
        (from..from + self.own).map(|i| i % self.unlabelled.max(1)).collect()
    }

    /// What an epoch sees: the numbers of the labelled sentences, and behind them those of the model's own.
    pub(super) fn epoch_sentences(&self, part: usize) -> Vec<usize> {
        if part == 0 {
            return (0..self.labelled).collect();
        }
        let repeated = (0..REPEAT).flat_map(|_| 0..self.labelled);
        repeated.chain(self.labelled..self.labelled + self.own).collect()
    }

    fn sentences_an_epoch(&self, part: usize) -> usize {
        if part == 0 { self.labelled } else { sentences_an_epoch(self.labelled, self.own) }
    }

    fn epochs_of(&self, part: usize) -> usize {
        if part == 0 { self.epochs } else { self.own_epochs }
    }

    fn steps_of(&self, part: usize) -> usize {
        self.epochs_of(part) * self.sentences_an_epoch(part).div_ceil(self.batch_size.max(1))
    }

    /// Steps of an epoch.
    pub(super) fn batches(&self, epoch: usize) -> usize {
        self.sentences_an_epoch(self.part(epoch)).div_ceil(self.batch_size.max(1))
    }

    pub(super) fn steps(&self) -> usize {
        (0..=self.rounds).map(|part| self.steps_of(part)).sum()
    }

    /// How many steps of its part have been taken when `step` of the training have, and how many the part has.
    pub(super) fn step_in(&self, part: usize, step: usize) -> (usize, usize) {
        let before: usize = (0..part).map(|part| self.steps_of(part)).sum();
        (step.saturating_sub(before), self.steps_of(part))
    }

    /// Sentences seen before an epoch begins.
    pub(super) fn seen_before(&self, epoch: usize) -> usize {
        (1..epoch).map(|epoch| self.sentences_an_epoch(self.part(epoch))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: EpochPlan =
        EpochPlan { labelled: 2, unlabelled: 5, own: 3, rounds: 2, epochs: 4, own_epochs: 2, batch_size: 2 };

    #[test]
    fn parts_follow_each_other() {
        let parts: Vec<usize> = (1..=8).map(|epoch| PLAN.part(epoch)).collect();
        assert_eq!(parts, [0, 0, 0, 0, 1, 1, 2, 2]);
        assert_eq!((PLAN.steps(), PLAN.seen_before(9)), (4 + 2 * 5 + 2 * 5, 4 * 2 + 2 * 2 * 9));
        assert_eq!([(0, 3), (1, 4), (2, 15)].map(|(part, step)| PLAN.step_in(part, step)), [(3, 4), (0, 10), (1, 10)]);
    }

    #[test]
    fn more_dev_than_training_sentences_are_scored_after_some_epochs_only() {
        let scored = |dev| (1..=8).filter(|&epoch| PLAN.scores_after(epoch, dev)).collect::<Vec<_>>();
        assert_eq!([scored(0), scored(2)], [(1..=8).collect::<Vec<_>>(), (1..=8).collect()]);
        assert_eq!(scored(3), [2, 4, 5, 6, 7, 8], "nine sentences an epoch with the model's own");
        assert_eq!(scored(100), [4, 6, 8]);
    }

    #[test]
    fn labels_of_persons_come_more_often_and_the_model_labels_other_sentences_in_each_part() {
        assert_eq!(PLAN.epoch_sentences(0), [0, 1]);
        assert_eq!(PLAN.epoch_sentences(2), [0, 1, 0, 1, 0, 1, 2, 3, 4]);
        assert_eq!((PLAN.unlabelled_of(1), PLAN.unlabelled_of(2)), (vec![0, 1, 2], vec![3, 4, 0]));
    }

    #[test]
    fn without_other_sentences_there_is_one_part() {
        let alone = EpochPlan { unlabelled: 0, own: 0, rounds: 0, ..PLAN };
        assert_eq!((alone.part(4), alone.last_part(), alone.steps(), alone.seen_before(5)), (0, 0, 4, 8));
    }
}
