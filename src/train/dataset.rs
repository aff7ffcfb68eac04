//! What a training learns from, frozen.

use super::error::TrainError;
use crate::annotation::{Fragments, LabelId, Span};
use crate::evaluation::{Counts, Judged};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;

/// A complete sentence: everything outside its mentions is known to be outside.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Example {
    pub tokens: Vec<String>,
    /// Mentions without gaps.
    pub gold: Vec<(Span, LabelId)>,
    /// Mentions in fragments, for architectures that label given words: others neither learn from them nor are scored on them.
    pub discontinuous: Vec<(Fragments, LabelId)>,
}

impl Example {
    /// Strict counts of predicted mentions.
    pub fn strict(&self, predicted: &[(Span, LabelId)]) -> Counts {
        Judged { words: &self.tokens, gold: &self.gold, predicted, first_words: None, candidates: 0 }.counts()
    }
}

/// Labels, complete sentences, and others of which no label is known; checked once.
///
/// No sentence is empty, every mention lies in its sentence and has a listed label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dataset {
    labels: Vec<(LabelId, String)>,
    train: Vec<Example>,
    dev: Vec<Example>,
    unlabelled: Vec<Vec<String>>,
    hash: String,
}

impl Dataset {
    /// # Errors
    /// What breaks an invariant; sentences are counted from 1, through train and then dev.
    pub fn freeze(labels: Vec<(LabelId, String)>, train: Vec<Example>, dev: Vec<Example>) -> Result<Self, TrainError> {
        let mut known = HashSet::new();
        if let Some((label, _)) = labels.iter().find(|(label, _)| !known.insert(*label)) {
            return Err(TrainError::LabelTwice { label: *label });
        }
        for (sentence, example) in (1..).zip(train.iter().chain(&dev)) {
            let words = example.tokens.len();
            if words == 0 {
                return Err(TrainError::EmptySentence { sentence });
            }
            let hulls = example.discontinuous.iter().map(|(fragments, label)| (fragments.hull(), *label));
            for (span, label) in example.gold.iter().copied().chain(hulls) {
                if span.end().get() > words {
                    return Err(TrainError::SpanOutside { sentence, span, words });
                }
                if !known.contains(&label) {
                    return Err(TrainError::NoSuchLabel { sentence, label });
                }
            }
        }
        let hash = hash(&labels, &train, &dev, &[]);
        Ok(Self { labels, train, dev, unlabelled: Vec::new(), hash })
    }

    /// Adds sentences without labels, which a model may label itself.
    ///
    /// # Errors
    /// When one is empty; they are counted from 1.
    pub fn with_unlabelled(self, unlabelled: Vec<Vec<String>>) -> Result<Self, TrainError> {
        if let Some((sentence, _)) = (1..).zip(&unlabelled).find(|(_, words)| words.is_empty()) {
            return Err(TrainError::EmptySentence { sentence });
        }
        let hash = hash(&self.labels, &self.train, &self.dev, &unlabelled);
        Ok(Self { unlabelled, hash, ..self })
    }

    pub fn labels(&self) -> &[(LabelId, String)] {
        &self.labels
    }

    pub fn train(&self) -> &[Example] {
        &self.train
    }

    pub fn dev(&self) -> &[Example] {
        &self.dev
    }

    pub fn unlabelled(&self) -> &[Vec<String>] {
        &self.unlabelled
    }

    /// SHA-256 of the whole content, in hexadecimal digits. The order of a sentence's mentions does not matter, and one without
    /// mentions in fragments counts as it did before there were such.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

fn hash(labels: &[(LabelId, String)], train: &[Example], dev: &[Example], unlabelled: &[Vec<String>]) -> String {
    let mut sha = Sha256::new();
    let number = |sha: &mut Sha256, n: usize| sha.update((n as u64).to_le_bytes());
    let text = |sha: &mut Sha256, text: &str| {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text.as_bytes());
    };
    number(&mut sha, labels.len());
    for (id, name) in labels {
        number(&mut sha, id.0 as usize);
        text(&mut sha, name);
    }
    for split in [train, dev] {
        number(&mut sha, split.len());
        for example in split {
            number(&mut sha, example.tokens.len());
            example.tokens.iter().for_each(|token| text(&mut sha, token));
            let mut gold = example.gold.clone();
            gold.sort_unstable();
            number(&mut sha, gold.len());
            for (span, label) in gold {
                for n in [span.start().get(), span.end().get(), label.0 as usize] {
                    number(&mut sha, n);
                }
            }
            if !example.discontinuous.is_empty() {
                let mut discontinuous: Vec<_> = example.discontinuous.iter().collect();
                discontinuous.sort_unstable();
                // No number of words, so that it can't be the next sentence.
                number(&mut sha, usize::MAX);
                number(&mut sha, discontinuous.len());
                for (fragments, label) in discontinuous {
                    number(&mut sha, fragments.iter().count());
                    for fragment in fragments.iter() {
                        number(&mut sha, fragment.start().get());
                        number(&mut sha, fragment.end().get());
                    }
                    number(&mut sha, label.0 as usize);
                }
            }
        }
    }
    for sentence in unlabelled {
        number(&mut sha, sentence.len());
        sentence.iter().for_each(|token| text(&mut sha, token));
    }
    hex::encode(sha.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn example(words: &str, gold: &[(usize, usize, u32)]) -> Example {
        let gold = gold.iter().map(|&(s, e, l)| (Span::from_range(s..e).unwrap(), LabelId(l))).collect();
        Example { tokens: words.split_whitespace().map(str::to_owned).collect(), gold, ..Example::default() }
    }

    fn labels() -> Vec<(LabelId, String)> {
        vec![(LabelId(0), "PER".to_owned()), (LabelId(3), "ORG".to_owned())]
    }

    #[test]
    fn the_hash_follows_the_content() {
        let freeze = |train| Dataset::freeze(labels(), train, Vec::new()).unwrap().hash().to_owned();
        let one = freeze(vec![example("a bc", &[(0, 1, 0), (1, 2, 3)])]);
        assert_eq!(one.len(), 64);
        assert_eq!(one, freeze(vec![example("a bc", &[(1, 2, 3), (0, 1, 0)])]));
        assert_ne!(one, freeze(vec![example("ab c", &[(0, 1, 0), (1, 2, 3)])]));
        assert_ne!(one, freeze(vec![example("a bc", &[(0, 1, 0)])]));
        let as_dev = Dataset::freeze(labels(), Vec::new(), vec![example("a bc", &[(0, 1, 0), (1, 2, 3)])]).unwrap();
        assert_ne!(one, as_dev.hash());
    }

    #[test]
    fn mentions_in_fragments_are_content_and_without_them_the_hash_is_that_of_before() {
        let hash = |train: Example| Dataset::freeze(labels(), vec![train], Vec::new()).unwrap().hash().to_owned();
        let whole = example("a b c", &[(1, 2, 3)]);
        expect!["3ad58e0750026c3a7dce8f900a1813b343ec959befc26c0ed8f7899088040d62"].assert_eq(&hash(whole.clone()));
        let fragments = |spans: &[(usize, usize)]| {
            Fragments::new(spans.iter().map(|&(start, end)| Span::from_range(start..end).unwrap()).collect()).unwrap()
        };
        let with = |label| {
            hash(Example { discontinuous: vec![(fragments(&[(0, 1), (2, 3)]), LabelId(label))], ..whole.clone() })
        };
        assert!(with(0) != hash(whole.clone()) && with(0) != with(3));
        let outside = Example { discontinuous: vec![(fragments(&[(0, 1), (2, 4)]), LabelId(0))], ..whole };
        refused(vec![outside], expect!["sentence 1 has a mention 0..4, but only 3 words"]);
    }

    fn refused(train: Vec<Example>, want: Expect) {
        want.assert_eq(&Dataset::freeze(labels(), vec![], train).unwrap_err().to_string());
    }

    #[test]
    fn what_can_t_be_learnt_from_is_refused() {
        refused(vec![example("a", &[]), example("", &[])], expect!["sentence 2 of the data set holds no words"]);
        refused(vec![example("a b", &[(1, 3, 0)])], expect!["sentence 1 has a mention 1..3, but only 2 words"]);
        refused(
            vec![example("a b", &[(0, 1, 1)])],
            expect!["sentence 1 has a mention with the label number 1, which the data set does not list"],
        );
    }
}
