//! The sentences and labels of several corpora as one data set.

use super::corpus::{AnnotatedCorpus, AnnotatedSentence, content_hash};
use super::error::PretrainError;
use super::label_map::LabelMap;
use super::record::{CorpusRecord, LabelRecord};
use crate::annotation::LabelId;
use crate::nn::Rng;
use crate::train::{Dataset, Example};
use std::collections::{BTreeMap, BTreeSet};

/// What is learnt from, and what the record says of it.
pub(super) struct Union {
    pub dataset: Dataset,
    pub corpora: Vec<CorpusRecord>,
    pub labels: Vec<LabelRecord>,
}

/// Takes `limit` sentences of each corpus, drawn with the seed, or all where there are no more.
pub(super) fn union(
    corpora: &[AnnotatedCorpus],
    map: &LabelMap,
    limit: Option<usize>,
    seed: u64,
) -> Result<Union, PretrainError> {
    check_corpora(corpora)?;
    check_merged(corpora, map)?;
    let drawn: Vec<Vec<&AnnotatedSentence>> = corpora.iter().map(|corpus| draw(corpus, limit, seed)).collect();
    for (corpus, sentences) in corpora.iter().zip(&drawn) {
        if sentences.iter().all(|sentence| sentence.mentions.is_empty()) {
            return Err(PretrainError::NoEntities { name: corpus.name.clone(), sentences: sentences.len() });
        }
    }
    let named = |corpus: &AnnotatedCorpus, label: &str| map.name(&corpus.name, label);
    let mut mentions: BTreeMap<String, usize> = BTreeMap::new();
    for (corpus, sentences) in corpora.iter().zip(&drawn) {
        for (_, label) in sentences.iter().flat_map(|sentence| &sentence.mentions) {
            *mentions.entry(named(corpus, label)).or_default() += 1;
        }
    }
    let ids: BTreeMap<&str, LabelId> = mentions.keys().map(String::as_str).zip((0..).map(LabelId)).collect();
    let example = |corpus: &AnnotatedCorpus, sentence: &AnnotatedSentence| {
        let gold = sentence.mentions.iter();
        let gold = gold.filter_map(|(span, label)| Some((*span, *ids.get(named(corpus, label).as_str())?)));
        Example { tokens: sentence.words.clone(), gold: gold.collect(), ..Example::default() }
    };
    let pairs = corpora.iter().zip(&drawn);
    let train = pairs.clone().flat_map(|(corpus, drawn)| drawn.iter().map(|sentence| example(corpus, sentence)));
    let labels = ids.iter().map(|(name, id)| (*id, (*name).to_owned())).collect();
    Ok(Union {
        dataset: Dataset::freeze(labels, train.collect(), Vec::new())?,
        corpora: pairs.map(|(corpus, drawn)| describe(corpus, drawn)).collect(),
        labels: mentions.into_iter().map(|(name, mentions)| LabelRecord { name, mentions }).collect(),
    })
}

fn check_corpora(corpora: &[AnnotatedCorpus]) -> Result<(), PretrainError> {
    if corpora.is_empty() {
        return Err(PretrainError::NoCorpus);
    }
    let mut names = BTreeSet::new();
    for corpus in corpora {
        if !names.insert(&corpus.name) {
            return Err(PretrainError::NameTwice(corpus.name.clone()));
        }
        if corpus.sentences.is_empty() {
            return Err(PretrainError::NothingComplete(corpus.name.clone()));
        }
    }
    Ok(())
}

/// A label of several corpora has to be marked in all: there is no telling where else it would stand.
fn check_merged(corpora: &[AnnotatedCorpus], map: &LabelMap) -> Result<(), PretrainError> {
    let mut merged: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for corpus in corpora {
        for label in corpus.labels().filter_map(|label| map.merged(&corpus.name, label)) {
            merged.entry(label).or_default().insert(&corpus.name);
        }
    }
    for (label, marked) in merged.into_iter().filter(|(_, marked)| marked.len() > 1) {
        if let Some(lacking) = corpora.iter().find(|corpus| !marked.contains(corpus.name.as_str())) {
            return Err(PretrainError::PartlyMarked { label: label.to_owned(), lacking: lacking.name.clone() });
        }
    }
    Ok(())
}

/// Sentences of a corpus, in its order.
fn draw(corpus: &AnnotatedCorpus, limit: Option<usize>, seed: u64) -> Vec<&AnnotatedSentence> {
    let mut places: Vec<usize> = (0..corpus.sentences.len()).collect();
    if let Some(limit) = limit {
        Rng::new(seed, &format!("sentences of {}", corpus.name)).shuffle(&mut places);
        places.truncate(limit);
        places.sort_unstable();
    }
    places.into_iter().filter_map(|place| corpus.sentences.get(place)).collect()
}

fn describe(corpus: &AnnotatedCorpus, drawn: &[&AnnotatedSentence]) -> CorpusRecord {
    CorpusRecord {
        name: corpus.name.clone(),
        sentences: drawn.len(),
        of_sentences: corpus.sentences.len(),
        words: drawn.iter().map(|sentence| sentence.words.len()).sum(),
        mentions: drawn.iter().map(|sentence| sentence.mentions.len()).sum(),
        discontinuous_mentions: drawn.iter().map(|sentence| sentence.discontinuous).sum(),
        sha256: content_hash(drawn),
        files: corpus.files.clone(),
    }
}
