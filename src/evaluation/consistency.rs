//! How consistently the training data labels what is written the same.

use crate::annotation::{LabelId, Span};
use std::collections::{BTreeMap, HashMap};

/// Labels of the mentions of training, by the words that they consist of.
///
/// Label consistency (eCon, Fu et al. 2020; printed as the label's frequency in Eq. 23c of the Win-Win Cooperation paper,
/// whose text describes this): the share of a surface string's training mentions that carry the label. Words are compared
/// as they are written.
#[derive(Clone, Debug, Default)]
pub struct Consistency<'a> {
    mentions: HashMap<&'a [String], BTreeMap<LabelId, usize>>,
}

impl<'a> Consistency<'a> {
    /// From the words and gold mentions of the training sentences.
    pub fn of(training: impl IntoIterator<Item = (&'a [String], &'a [(Span, LabelId)])>) -> Self {
        let mut mentions: HashMap<&[String], BTreeMap<LabelId, usize>> = HashMap::new();
        for (words, gold) in training {
            for (surface, label) in gold.iter().filter_map(|(span, label)| Some((words.get(span.range())?, label))) {
                *mentions.entry(surface).or_default().entry(*label).or_default() += 1;
            }
        }
        Self { mentions }
    }

    /// True when training has no mention at all, so that nothing can be said.
    pub fn is_empty(&self) -> bool {
        self.mentions.is_empty()
    }

    /// Share in [0, 1]; 0 for words that are never a mention in training.
    pub fn share(&self, surface: &[String], label: LabelId) -> f64 {
        let Some(labels) = self.mentions.get(surface) else { return 0.0 };
        let all: usize = labels.values().sum();
        labels.get(&label).copied().unwrap_or(0) as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_label_among_mentions_of_the_same_words() {
        let words = ["rain", "in", "New", "York", "Rain"].map(str::to_owned);
        let span = |s, e| Span::from_range(s..e).unwrap();
        let (weather, place, never) = (LabelId(1), LabelId(2), LabelId(3));
        let (one, other) = ([(span(0, 1), weather), (span(2, 4), place)], [(span(0, 1), place), (span(8, 9), place)]);
        let training = [&one, &one, &one, &other].map(|gold| (words.as_slice(), gold.as_slice()));
        let consistency = Consistency::of(training);
        let share = |from: usize, to: usize, label| consistency.share(&words[from..to], label);
        assert_eq!((share(0, 1, weather), share(0, 1, place), share(0, 1, never)), (0.75, 0.25, 0.0));
        assert_eq!((share(2, 4, place), share(2, 3, place), share(4, 5, weather)), (1.0, 0.0, 0.0));
        assert!(Consistency::default().is_empty() && !consistency.is_empty());
    }
}
