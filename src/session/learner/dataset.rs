//! What the learner gets to see of a corpus, frozen at one revision.

use crate::annotation::{Corpus, LabelId, Sentence, SentenceId, SentenceSet, Span, Split, Status};
use crate::nn::splitmix64;
use crate::train::{Dataset, ENOUGH_DEV, Example, TrainError};
use std::collections::HashMap;

/// Open sentences that a training may label itself, at most.
const UNLABELLED_SENTENCES: usize = 6000;

/// Completed sentences for dev, at most.
const DEV_SENTENCES: usize = 200;

/// Sentences of a quick training, at most, and those that it is scored on.
const REFRESH_SENTENCES: usize = 192;
const REFRESH_DEV: usize = 60;

/// One completed sentence in so many goes to dev.
const DEV_EVERY: u64 = 5;

/// Which sentences to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Complete sentences that train.
    Train,
    Dev,
    Test,
    Blind,
    /// The rest that is not complete.
    Pool,
}

impl Part {
    /// True where whoever puts sentences into it says that they are annotated.
    pub(in crate::session) fn vouches(self) -> bool {
        matches!(self, Self::Train | Self::Dev | Self::Test)
    }

    /// True for a sentence of this part. Dev, test and blind count complete sentences or not alike; scoring looks at
    /// complete ones only.
    pub fn holds(self, sentence: &Sentence) -> bool {
        match self {
            Part::Train => sentence.trains(),
            Part::Pool => sentence.split() == Split::Rest && sentence.status() != Status::Complete,
            Part::Dev => sentence.split() == Split::Dev,
            Part::Test => sentence.split() == Split::Test,
            Part::Blind => sentence.split() == Split::Blind,
        }
    }
}

/// Whether a sentence may be the next to annotate: dev, test and the blind set are worked on in other ways.
pub(crate) fn may_be_offered(sentence: &Sentence) -> bool {
    sentence.status().waits() && sentence.split() == Split::Rest && !sentence.tokens().is_empty()
}

/// How much of what is complete a training takes. One that starts by itself should end while a person still wants it,
/// whatever was imported.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub sentences: usize,
    /// Sentences that a person has worked on, the latest first: they are taken before all others.
    pub newest: Vec<SentenceId>,
}

/// Words that a limit allows for each of its sentences. Real ones have 20 to 30.
const WORDS_A_SENTENCE: usize = 40;

/// Sentences that a limited training is scored on, at most: dev and the blind set.
const LIMITED_DEV: usize = 1000;

/// The frozen training data: complete sentences in the order of their ids, and the words of some that are open.
pub(crate) fn freeze(corpus: &Corpus, limit: Option<&Limit>) -> Result<Dataset, TrainError> {
    let train = match limit {
        Some(limit) => some_examples(corpus, Part::Train, limit.sentences, &limit.newest),
        None => gold_examples(corpus, Part::Train),
    };
    let complete = Dataset::freeze(labels(corpus), train, scored_examples(corpus, Part::Dev, limit))?;
    complete.with_unlabelled(unlabelled(corpus))
}

/// Complete sentences to score on. A limited training takes some, always the same ones.
pub(super) fn scored_examples(corpus: &Corpus, part: Part, limit: Option<&Limit>) -> Vec<Example> {
    match limit {
        Some(_) => some_examples(corpus, part, LIMITED_DEV, &[]),
        None => gold_examples(corpus, part),
    }
}

/// Of the complete sentences of a part as many as a limit allows: those that come first, in their order, and of the
/// others some that a seeded hash draws.
fn some_examples(corpus: &Corpus, part: Part, sentences: usize, first: &[SentenceId]) -> Vec<Example> {
    let ranks: HashMap<SentenceId, usize> = first.iter().copied().zip(0..).collect();
    let mut all: Vec<(usize, &Sentence)> = learnable(corpus, [part]).enumerate().collect();
    let rank = |s: &Sentence| ranks.get(&s.id()).copied().unwrap_or(usize::MAX);
    all.sort_by_cached_key(|(_, s)| (rank(s), splitmix64(u64::from(s.id().0))));
    let mut words_left = sentences.saturating_mul(WORDS_A_SENTENCE);
    let mut chosen = Vec::new();
    for (place, sentence) in all {
        if chosen.len() == sentences {
            break;
        }
        // A single one of any length is better than none.
        if let Some(left) = words_left.checked_sub(sentence.tokens().len()).or(chosen.is_empty().then_some(0)) {
            words_left = left;
            chosen.push((place, sentence));
        }
    }
    chosen.sort_by_key(|(place, _)| *place);
    chosen.into_iter().map(|(_, s)| example(corpus, s)).collect()
}

/// What a model learns and is scored on that labels given words: the complete sentences, with mentions in fragments, too.
pub(super) fn freeze_given(corpus: &Corpus) -> Result<Dataset, TrainError> {
    Dataset::freeze(labels(corpus), whole_examples(corpus, Part::Train), whole_examples(corpus, Part::Dev))
}

/// Sentences that the order of labels is learned from, at most.
const LABEL_ORDER_SENTENCES: usize = 1000;

/// Of these one in so many is held out, to see when nothing more is learned; of fewer than this many times [`ENOUGH_DEV`] none.
const HELD_OUT_EVERY: usize = 5;

/// What the order of labels is learned from: of the sentences with mentions that train, complete or not, some that a seeded hash
/// draws. What stands outside of mentions does not matter.
pub(super) fn freeze_for_label_order(corpus: &Corpus) -> Result<Dataset, TrainError> {
    let may = |s: &&Sentence| s.split() == Split::Rest && s.status() != Status::Skipped && !s.mentions().is_empty();
    let mut sentences: Vec<&Sentence> = corpus.sentences().filter(may).collect();
    sentences.sort_by_key(|s| splitmix64(u64::from(s.id().0)));
    sentences.truncate(LABEL_ORDER_SENTENCES);
    let held = sentences.len() / HELD_OUT_EVERY;
    let train = sentences.split_off(if held < ENOUGH_DEV { 0 } else { held });
    let examples = |sentences: Vec<&Sentence>| sentences.into_iter().map(|s| whole_example(corpus, s)).collect();
    Dataset::freeze(labels(corpus), examples(train), examples(sentences))
}

/// As [`gold_examples`], with mentions in fragments, too.
pub(super) fn whole_examples(corpus: &Corpus, part: Part) -> Vec<Example> {
    learnable(corpus, [part]).map(|s| whole_example(corpus, s)).collect()
}

fn whole_example(corpus: &Corpus, sentence: &Sentence) -> Example {
    let in_fragments = sentence.mentions().iter().filter(|m| m.fragments.contiguous().is_none());
    let discontinuous = in_fragments.map(|m| (m.fragments.clone(), m.label)).collect();
    Example { discontinuous, ..example(corpus, sentence) }
}

/// How many sentences a training may label itself, of so many that are open.
pub(super) fn unlabelled_count(open: usize) -> usize {
    open.min(UNLABELLED_SENTENCES)
}

/// Neither complete nor skipped, of no split, and not empty.
pub(in crate::session) fn is_open(sentence: &Sentence) -> bool {
    Part::Pool.holds(sentence) && sentence.status() != Status::Skipped && !sentence.tokens().is_empty()
}

/// Of the open sentences some that a seeded hash draws.
fn unlabelled(corpus: &Corpus) -> Vec<Vec<String>> {
    let mut open: Vec<&Sentence> = corpus.sentences().filter(|s| is_open(s)).collect();
    open.sort_by_key(|s| splitmix64(u64::from(s.id().0)));
    open.truncate(UNLABELLED_SENTENCES);
    open.into_iter().map(|sentence| words(corpus, sentence)).collect()
}

pub(crate) fn labels(corpus: &Corpus) -> Vec<(LabelId, String)> {
    corpus.labels().iter().map(|l| (l.id, l.name.clone())).collect()
}

/// What a quick training learns from: the sentences that are new to the model and some of the others, so that nothing is
/// forgotten, which others a seed says; and fewer dev sentences, the same ones each time.
pub(super) fn freeze_for_refresh(corpus: &Corpus, known: &SentenceSet, seed: u64) -> Result<Dataset, TrainError> {
    let of = |part: Part, most: usize, seed: u64, first: &dyn Fn(SentenceId) -> bool| {
        let mut all: Vec<&Sentence> = learnable(corpus, [part]).collect();
        all.sort_by_key(|s| (!first(s.id()), splitmix64(splitmix64(seed) ^ u64::from(s.id().0))));
        all.truncate(most);
        all.sort_by_key(|s| s.id());
        all.into_iter().map(|s| example(corpus, s)).collect()
    };
    let train = of(Part::Train, REFRESH_SENTENCES, seed, &|id| !known.contains(id));
    Dataset::freeze(labels(corpus), train, of(Part::Dev, REFRESH_DEV, 0, &|_| true))
}

/// The complete sentences of a part with their gold mentions. Models that find mentions see contiguous ones only.
pub(crate) fn gold_examples(corpus: &Corpus, part: Part) -> Vec<Example> {
    learnable(corpus, [part]).map(|s| example(corpus, s)).collect()
}

/// As [`gold_examples`], with the sentences they are of.
pub(crate) fn gold_sentences(corpus: &Corpus, part: Part) -> Vec<(SentenceId, Example)> {
    learnable(corpus, [part]).map(|s| (s.id(), example(corpus, s))).collect()
}

/// The complete sentences of some parts that have words, in the order of the text.
pub(in crate::session) fn learnable<const N: usize>(
    corpus: &Corpus,
    parts: [Part; N],
) -> impl Iterator<Item = &Sentence> {
    let holds = move |s: &Sentence| parts.iter().any(|part| part.holds(s));
    corpus.sentences().filter(move |s| s.status() == Status::Complete && holds(s) && !s.tokens().is_empty())
}

pub(in crate::session) fn example(corpus: &Corpus, sentence: &Sentence) -> Example {
    Example { tokens: words(corpus, sentence), gold: contiguous(sentence), ..Example::default() }
}

pub(crate) fn words(corpus: &Corpus, sentence: &Sentence) -> Vec<String> {
    corpus.words(sentence).map(str::to_owned).collect()
}

pub(in crate::session) fn contiguous(sentence: &Sentence) -> Vec<(Span, LabelId)> {
    sentence.mentions().iter().filter_map(|m| Some((m.fragments.contiguous()?, m.label))).collect()
}

/// Discontinuous mentions of the complete sentences of a part, which models that find mentions don't see.
pub(crate) fn discontinuous(corpus: &Corpus, part: Part) -> usize {
    let complete = corpus.sentences().filter(|s| s.status() == Status::Complete && part.holds(s));
    complete.flat_map(Sentence::mentions).filter(|m| m.fragments.contiguous().is_none()).count()
}

/// Nobody has touched it, and it is of no split.
pub(in crate::session) fn may_be_set_aside(sentence: &Sentence) -> bool {
    let untouched = sentence.status() == Status::Untouched && sentence.mentions().is_empty();
    untouched && sentence.split() == Split::Rest && !sentence.tokens().is_empty()
}

/// Whether a sentence goes to dev when it is completed: a seeded hash says so for one in five, until there are 200.
pub(in crate::session) fn goes_to_dev(sentence: &Sentence, dev_sentences: usize) -> bool {
    dev_sentences < DEV_SENTENCES && splitmix64(u64::from(sentence.id().0)).is_multiple_of(DEV_EVERY)
}

/// Whether enough is left to learn from when one more goes to dev: the first completed sentences of a project would else
/// all be kept aside where the draw wants it so.
pub(in crate::session) fn leaves_enough(train_sentences: usize, dev_sentences: usize) -> bool {
    train_sentences > 2 * dev_sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::active::{ChoiceRequest, Open, Strategy, choose};
    use crate::annotation::{Label, LabelSet, Mention, MentionId, NewDocument, NewSentence, Provenance, TokenIdx};
    use crate::text::{ByteIdx, TextRange};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const STATUSES: [Status; 5] =
        [Status::Untouched, Status::InProgress, Status::Complete, Status::Skipped, Status::Flagged];
    const SPLITS: [Split; 4] = [Split::Rest, Split::Dev, Split::Test, Split::Blind];

    /// Sentence n has the words "word" and n.
    fn corpus(sentences: &[(Status, Split)]) -> Corpus {
        let labels = LabelSet::default();
        let label: Label = labels.propose("PER");
        let mut corpus = Corpus::new(labels, MentionId(0), 0);
        let insert = crate::annotation::Edit::InsertLabel { at: 0, label };
        corpus.apply(crate::annotation::Transaction::new("Add", vec![insert])).unwrap();
        let (mut text, mut new) = (String::new(), Vec::new());
        for (n, &(status, split)) in sentences.iter().enumerate() {
            let mut token = |word: &str| {
                let start = text.len();
                text.push_str(word);
                let range = TextRange::new(ByteIdx::new(start), ByteIdx::new(text.len())).unwrap();
                text.push(' ');
                range
            };
            let tokens = vec![token("word"), token(&n.to_string())];
            let span = Span::new(TokenIdx::new(0), TokenIdx::new(1)).unwrap();
            let mentions = vec![Mention::new(MentionId(n as u64), span, LabelId(0), Provenance::Person)];
            new.push(NewSentence { tokens, mentions, rejected: BTreeSet::new(), status, split });
        }
        let document = NewDocument { name: "d".into(), text: text.into(), kept: Default::default(), sentences: new };
        corpus.add_document(document).unwrap();
        corpus
    }

    #[test]
    fn a_quick_training_learns_all_that_is_new_and_some_of_what_is_known() {
        let sentence = |n| (Status::Complete, if n % 5 == 0 { Split::Dev } else { Split::Rest });
        let corpus = corpus(&(0..500).map(sentence).collect::<Vec<_>>());
        let train = (0..500_u32).filter(|n| n % 5 != 0);
        let new: BTreeSet<u32> = train.clone().filter(|n| n % 40 == 7).take(10).collect();
        let known: SentenceSet = train.filter(|n| !new.contains(n)).map(SentenceId).collect();
        assert_eq!((new.len(), known.len()), (10, 390));
        let numbers = |examples: &[Example]| -> BTreeSet<u32> {
            examples.iter().map(|example| example.tokens[1].parse().unwrap()).collect()
        };
        let drawn = |seed| {
            let dataset = freeze_for_refresh(&corpus, &known, seed).unwrap();
            let (train, dev) = (numbers(dataset.train()), numbers(dataset.dev()));
            assert_eq!((dataset.train().len(), dataset.dev().len()), (192, 60));
            assert_eq!((train.len(), dev.len()), (192, 60), "each once");
            assert!(train.is_superset(&new));
            assert!(dev.iter().all(|n| n % 5 == 0) && train.iter().all(|n| n % 5 != 0));
            (train, dev)
        };
        let ((one, dev), (other, same_dev)) = (drawn(1), drawn(2));
        // Of 390 known ones 182 by chance, twice: 85 of them are the same.
        let again = one.intersection(&other).count() - new.len();
        assert!((50..130).contains(&again), "{again} known ones are drawn with both seeds");
        assert_eq!(dev, same_dev, "models are compared on the same ones");
    }

    #[test]
    fn a_limited_training_takes_what_is_newest_and_a_sample_of_the_rest() {
        let sentence = |n| (Status::Complete, if n % 5 == 0 { Split::Dev } else { Split::Rest });
        let corpus = corpus(&(0..10_000).map(sentence).collect::<Vec<_>>());
        let newest: Vec<SentenceId> = (0..40).map(|n| SentenceId(9_999 - n)).collect();
        let limit = Limit { sentences: 100, newest: newest.clone() };
        let numbers = |examples: &[Example]| -> BTreeSet<u32> {
            examples.iter().map(|example| example.tokens[1].parse().unwrap()).collect()
        };
        let dataset = freeze(&corpus, Some(&limit)).unwrap();
        let train = numbers(dataset.train());
        assert_eq!((train.len(), dataset.dev().len()), (100, LIMITED_DEV));
        assert!(newest.iter().filter(|id| id.0 % 5 != 0).all(|id| train.contains(&id.0)));
        let of_first_half = train.iter().filter(|number| **number < 5_000).count();
        assert!((15..55).contains(&of_first_half), "68 by chance, of all of the text: {of_first_half}");
        assert_eq!(freeze(&corpus, Some(&limit)).unwrap(), dataset, "the same ones each time");
        let few = Limit { sentences: 7, newest };
        assert!(numbers(freeze(&corpus, Some(&few)).unwrap().train()).into_iter().all(|number| number > 9_950));
        assert_eq!(freeze(&corpus, Some(&Limit { sentences: 9_000, ..few })).unwrap().train().len(), 8_000);
    }

    #[test]
    fn long_sentences_use_a_limit_up_sooner() {
        let mut corpus = corpus(&[]);
        let text: std::sync::Arc<str> = "a ".repeat(5_000).into();
        let token = |n: usize| TextRange::new(ByteIdx::new(2 * n), ByteIdx::new(2 * n + 1)).unwrap();
        let new = |from: usize, to: usize| NewSentence {
            tokens: (from..to).map(token).collect(),
            mentions: Vec::new(),
            rejected: BTreeSet::new(),
            status: Status::Complete,
            split: Split::Rest,
        };
        // One of 3,000 words, and twenty of 100.
        let sentences = std::iter::once(new(0, 3_000)).chain((0..20).map(|n| new(3_000 + 100 * n, 3_100 + 100 * n)));
        let sentences = sentences.collect();
        corpus.add_document(NewDocument { name: "d".into(), text, kept: Default::default(), sentences }).unwrap();
        let words = |sentences: usize, newest: &[u32]| -> Vec<usize> {
            let newest = newest.iter().copied().map(SentenceId).collect();
            let dataset = freeze(&corpus, Some(&Limit { sentences, newest })).unwrap();
            dataset.train().iter().map(|example| example.tokens.len()).collect()
        };
        assert_eq!(words(10, &[5]), [100; 4], "400 words");
        assert_eq!(words(10, &[0]), [3_000], "the newest of all, however long");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Followed by their ids, which are their last words.
        #[test]
        fn sentences_go_where_they_may_and_nowhere_else(
            sentences in prop::collection::vec((prop::sample::select(&STATUSES[..]), prop::sample::select(&SPLITS[..])), 1..60),
        ) {
            let corpus = corpus(&sentences);
            let number = |words: &[String]| words[1].parse::<usize>().unwrap();
            let dataset = freeze(&corpus, None).unwrap();
            let seen = |examples: &[Example]| -> Vec<usize> { examples.iter().map(|e| number(&e.tokens)).collect() };
            for n in seen(dataset.train()) {
                prop_assert_eq!(sentences[n], (Status::Complete, Split::Rest));
            }
            for n in seen(dataset.dev()) {
                prop_assert_eq!(sentences[n], (Status::Complete, Split::Dev));
            }
            for words in dataset.unlabelled() {
                let (status, split) = sentences[number(words)];
                prop_assert!(split == Split::Rest && status != Status::Complete && status != Status::Skipped);
            }
            let refresh = freeze_for_refresh(&corpus, &SentenceSet::default(), 1).unwrap();
            prop_assert_eq!(seen(refresh.train()), seen(dataset.train()));
            for n in seen(&gold_examples(&corpus, Part::Blind)) {
                prop_assert_eq!(sentences[n], (Status::Complete, Split::Blind));
            }
            let open: Vec<Open<'_>> =
                corpus.sentences().filter(|s| may_be_offered(s)).map(|s| Open { id: s.id(), said: None }).collect();
            let words = |id| corpus.words(corpus.sentence(id).unwrap()).collect();
            let request = ChoiceRequest { strategy: Strategy::DEFAULT, count: 99, shown: 0, seed: 1, open: &open, done: &Vec::new, words: &words };
            let learned = corpus.sentences().filter(|s| s.trains() && !s.tokens().is_empty());
            let learned: Vec<usize> = learned.map(|s| s.id().0 as usize).collect();
            prop_assert_eq!(learned, seen(dataset.train()), "what counts as known is what models learn from");
            for choice in choose(&request) {
                let (status, split) = sentences[choice.id.0 as usize];
                prop_assert!(split == Split::Rest && status.waits());
            }
        }
    }
}
