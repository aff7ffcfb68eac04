//! The corpus whose labels are known.

use super::request::SimulateRequest;
use crate::annotation::{Fragments, LabelId, Span};
use crate::format::{ImportedDocument, Warning};
use crate::nn::Rng;
use crate::session::SessionError;
use crate::session::{Incoming, read_files};
use std::collections::BTreeMap;
use std::path::Path;

/// Dev sentences at most, as in an open project.
const DEV_SENTENCES: usize = 200;

/// Gold mentions of a sentence, with the names of their labels.
pub(super) type Mentions = Vec<(Fragments, String)>;

/// The files of a simulation, in memory.
pub(super) struct Gold {
    train: Incoming,
    dev: Incoming,
    test: Incoming,
}

impl Gold {
    /// # Errors
    /// A file that can't be read.
    pub(super) fn read(request: &SimulateRequest) -> Result<Self, SessionError> {
        let read = |file: &Path| read_files(&[file.to_owned()], &request.read);
        let (train, mut dev, test) = (read(&request.train)?, read(&request.dev)?, read(&request.test)?);
        draw(&mut dev, DEV_SENTENCES, &mut Rng::new(0, "the dev sentences of a simulation"));
        Ok(Self { train, dev, test })
    }

    /// What the files' readers had to say: what was left out, and the rest.
    pub(super) fn told(&self) -> (Vec<Warning>, Vec<String>) {
        let parts = || [&self.train, &self.dev, &self.test].into_iter();
        let warnings = parts().flat_map(|part| part.warnings.clone()).collect();
        (warnings, parts().flat_map(|part| part.notes.clone()).collect())
    }

    pub(super) fn train_sentences(&self) -> usize {
        self.train.sentences
    }

    /// Names of all labels, in order.
    pub(super) fn labels(&self) -> Vec<String> {
        let all = [&self.train, &self.dev, &self.test].into_iter().flat_map(|part| &part.labels);
        all.map(|(name, _)| (name.clone(), ())).collect::<BTreeMap<_, _>>().into_keys().collect()
    }

    pub(super) fn dev(&self) -> Incoming {
        self.dev.clone()
    }

    pub(super) fn test(&self) -> Incoming {
        self.test.clone()
    }

    /// The sentences to annotate, drawn with a seed: without their labels, which come beside them in the order of the text.
    pub(super) fn pool(&self, sentences: Option<usize>, seed: u64) -> (Incoming, Vec<Mentions>) {
        let mut pool = self.train.clone();
        draw(&mut pool, sentences.unwrap_or(usize::MAX), &mut Rng::new(seed, "the pool of a simulation"));
        let mut gold = Vec::with_capacity(pool.sentences);
        for sentence in pool.documents.iter_mut().flat_map(|document: &mut ImportedDocument| &mut document.sentences) {
            let mentions = std::mem::take(&mut sentence.mentions).into_iter();
            gold.push(mentions.map(|mention| (mention.fragments, mention.label)).collect());
            (sentence.status, sentence.split) = (None, None);
        }
        pool.count();
        (pool, gold)
    }
}

/// Keeps as many sentences, in their order.
fn draw(incoming: &mut Incoming, count: usize, rng: &mut Rng) {
    let mut order: Vec<usize> = (0..incoming.sentences).collect();
    rng.shuffle(&mut order);
    let mut keep = vec![false; incoming.sentences];
    for number in order.into_iter().take(count) {
        if let Some(keep) = keep.get_mut(number) {
            *keep = true;
        }
    }
    let mut keep = keep.into_iter();
    for document in &mut incoming.documents {
        document.sentences.retain(|_| keep.next().unwrap_or(false));
    }
    incoming.documents.retain(|document| !document.sentences.is_empty());
    incoming.count();
}

/// The contiguous ones: others no model suggests, and a person makes them as before.
pub(super) fn spans(mentions: &[(Fragments, LabelId)]) -> Vec<(Span, LabelId)> {
    mentions.iter().filter_map(|(fragments, label)| Some((fragments.contiguous()?, *label))).collect()
}
