//! The two tasks of an architecture that predicts first words, each alone and both together.
//!
//! SmartSpanNER's Tables 8 and 13 (scores) and 7 and 12 (samples): NEH finds the words that begin entities; SP classifies
//! all spans up to the max width, as if there were no first words; NEH + SP classifies those that begin with a predicted first word,
//! which is what the model does otherwise.

use super::{Counts, Judged, Report};

/// A task's score and how often the classifier was asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Task {
    pub counts: Counts,
    /// Words or spans that were classified ("inferring samples").
    pub samples: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tasks {
    /// Words that begin entities; `None` where the architecture doesn't predict them.
    pub first_words: Option<Task>,
    /// Mentions among all spans, strict.
    pub spans: Task,
    /// Mentions among the spans that begin with a predicted first word, strict; `None` where there are none predicted.
    pub both: Option<Task>,
}

impl Tasks {
    /// From the same sentences twice: with candidates of predicted first words only, and with all spans as candidates.
    pub fn of<'a>(
        filtered: impl IntoIterator<Item = Judged<'a>>,
        unfiltered: impl IntoIterator<Item = Judged<'a>>,
    ) -> Self {
        let (report, words, candidates) = score(filtered);
        let first_words = report.first_words.map(|counts| Task { counts, samples: words });
        let both = first_words.map(|_| Task { counts: report.micro, samples: candidates });
        let (report, _, candidates) = score(unfiltered);
        Self { first_words, spans: Task { counts: report.micro, samples: candidates }, both }
    }
}

/// The scores, the words, the candidates.
fn score<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> (Report, usize, usize) {
    let (mut words, mut candidates) = (0, 0);
    let counted = sentences.into_iter().inspect(|sentence| {
        words += sentence.words.len();
        candidates += sentence.candidates;
    });
    let report = Report::strict(&[], counted);
    (report, words, candidates)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, judge};
    use super::*;
    use crate::annotation::TokenIdx;

    #[test]
    fn each_task_has_its_scores_and_its_samples() {
        // Gold 0..2 and 4..5. The first words 0 and 3 let the classifier find 0..2; without them it finds 4..5 and makes up 1..2.
        let gold = [(0, 2, 1), (4, 5, 1)];
        let first_words = [TokenIdx::new(0), TokenIdx::new(3)];
        let tasks = judge(&gold, &[(0, 2, 1)], |filtered| {
            let filtered = Judged { first_words: Some(&first_words), candidates: 7, ..filtered };
            judge(&gold, &[(0, 2, 1), (1, 2, 1), (4, 5, 1)], |all| {
                Tasks::of([filtered, filtered], [Judged { first_words: Some(&first_words), candidates: 15, ..all }; 2])
            })
        });
        assert_eq!(tasks.first_words, Some(Task { counts: counts(2, 2, 2), samples: 10 }));
        assert_eq!(tasks.both, Some(Task { counts: counts(2, 0, 2), samples: 14 }));
        assert_eq!(tasks.spans, Task { counts: counts(4, 2, 0), samples: 30 });
    }

    #[test]
    fn without_heads_there_is_one_task() {
        let tasks = judge(&[(0, 2, 1)], &[], |s| Tasks::of([s], [s]));
        assert_eq!(tasks, Tasks { spans: Task { counts: counts(0, 0, 1), samples: 0 }, ..Tasks::default() });
    }
}
