//! What models learn from and are scored on, frozen.

use crate::annotation::{Corpus, SentenceId};
use crate::encoder::Encoders;
use crate::session::{Part, SessionError, freeze, gold_sentences};
use crate::train::{Config, Dataset, Example};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// What models learn from and are scored on.
#[derive(Clone, Debug)]
pub struct Subject {
    pub(super) dataset: Arc<Dataset>,
    pub(super) part: Part,
    pub(super) scored: Arc<[(SentenceId, Example)]>,
    pub(super) encoders: Encoders,
}

impl Subject {
    /// The complete sentences of a corpus. `part`: what models are scored on; `None`: test, or dev where no test sentence is
    /// complete. Linear in the sentences.
    ///
    /// # Errors
    /// No label, nothing to train on, nothing to score on.
    pub fn of(corpus: &Corpus, encoders: Encoders, part: Option<Part>) -> Result<Self, SessionError> {
        let complete = |part| (part, gold_sentences(corpus, part));
        let (part, scored) = match part {
            Some(part) => complete(part),
            None => Some(complete(Part::Test)).filter(|(_, s)| !s.is_empty()).unwrap_or_else(|| complete(Part::Dev)),
        };
        if scored.is_empty() {
            return Err(SessionError::NothingToScore);
        }
        if corpus.labels().is_empty() {
            return Err(SessionError::NoLabels);
        }
        let dataset = Arc::new(freeze(corpus, None)?);
        if dataset.train().is_empty() {
            return Err(SessionError::NothingToTrainOn);
        }
        Ok(Self { dataset, part, scored: scored.into(), encoders })
    }

    /// What all runs of a comparison have in common.
    pub(super) fn in_common(&self, config: &Config) -> Json {
        let mut common = json!({
            "learned_from": self.dataset.hash(),
            "scored_on": scored_hash(&self.scored),
            "config": config.identity(),
        });
        let of_architectures = config.identity_of_architectures();
        if let (Json::Object(common), false) = (&mut common, of_architectures.is_empty()) {
            common.insert("options".to_owned(), of_architectures.into());
        }
        common
    }
}

/// SHA-256 of what is scored.
pub(super) fn scored_hash(scored: &[(SentenceId, Example)]) -> String {
    let mut sha = Sha256::new();
    for (id, Example { tokens, gold, .. }) in scored {
        let gold: Vec<_> = gold.iter().map(|(span, label)| (span.start().get(), span.end().get(), label.0)).collect();
        sha.update(json!([id.0, tokens, gold]).to_string());
    }
    hex::encode(sha.finalize())
}
