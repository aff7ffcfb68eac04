//! Which sentences the predictor gets next.

use crate::annotation::SentenceId;
use std::collections::{HashSet, VecDeque};

/// Sentences that wait for the current model, those on screen first.
///
/// Each is handed out once a model; a new model has a new queue.
#[derive(Debug, Default)]
pub(in crate::session) struct PredictionQueue {
    urgent: VecDeque<SentenceId>,
    rest: VecDeque<SentenceId>,
    waiting: HashSet<SentenceId>,
    total: usize,
}

impl PredictionQueue {
    /// These, in this order; one that is named twice has the earlier place.
    pub(in crate::session) fn of(sentences: Vec<SentenceId>) -> Self {
        let waiting: HashSet<SentenceId> = sentences.iter().copied().collect();
        Self { urgent: VecDeque::new(), rest: sentences.into(), total: waiting.len(), waiting }
    }

    /// Puts the sentences on screen first, if they still wait.
    pub(in crate::session) fn hurry(&mut self, visible: &[SentenceId]) {
        self.urgent = visible.iter().copied().filter(|id| self.waiting.contains(id)).collect();
    }

    /// Puts one in again: its answer came too late to be used, or it is to be answered anew.
    pub(in crate::session) fn again(&mut self, id: SentenceId) {
        if self.waiting.insert(id) {
            self.rest.push_front(id);
            self.total = self.total.max(self.waiting.len());
        }
    }

    /// All that wait, in their order; none waits any longer.
    pub(in crate::session) fn take_all(&mut self) -> Vec<SentenceId> {
        let all = self.urgent.drain(..).chain(self.rest.drain(..));
        all.filter(|id| self.waiting.remove(id)).collect()
    }

    /// The next `count` sentences, no longer waiting.
    pub(in crate::session) fn take(&mut self, count: usize) -> Vec<SentenceId> {
        let mut taken = Vec::with_capacity(count);
        while taken.len() < count {
            let Some(id) = self.urgent.pop_front().or_else(|| self.rest.pop_front()) else { break };
            if self.waiting.remove(&id) {
                taken.push(id);
            }
        }
        taken
    }

    /// How many were handed out, and how many there are in all.
    pub(in crate::session) fn progress(&self) -> (usize, usize) {
        (self.total.saturating_sub(self.waiting.len()), self.total)
    }

    pub(in crate::session) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: &[u32]) -> Vec<SentenceId> {
        numbers.iter().copied().map(SentenceId).collect()
    }

    #[test]
    fn what_comes_to_wait_later_counts_too() {
        let mut queue = PredictionQueue::default();
        queue.again(SentenceId(4));
        queue.again(SentenceId(2));
        assert_eq!(queue.progress(), (0, 2));
        assert_eq!((queue.take_all(), queue.is_empty()), (ids(&[2, 4]), true));
    }

    #[test]
    fn what_is_on_screen_comes_first_and_nothing_comes_twice() {
        let mut queue = PredictionQueue::of(ids(&[0, 1, 2, 3, 4]));
        assert_eq!(queue.take(1), ids(&[0]));
        queue.hurry(&ids(&[3, 0, 9]));
        assert_eq!(queue.take(3), ids(&[3, 1, 2]));
        queue.again(SentenceId(1));
        assert_eq!(queue.progress(), (3, 5));
        assert_eq!(queue.take(9), ids(&[1, 4]));
        assert!(queue.is_empty());
    }
}
