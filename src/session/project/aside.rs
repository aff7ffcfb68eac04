//! Setting sentences aside for a blind set.

use super::Project;
use crate::annotation::{Edit, Sentence, SentenceId, Split, Transaction};
use crate::nn::splitmix64;
use crate::session::SessionError;
use crate::session::learner::dataset::may_be_set_aside;
use crate::wording::counted;

/// Sentences that are set aside where nobody says how many: where sentences have two mentions, the band around F1 is some
/// seven points to both sides.
pub const BLIND_SENTENCES: usize = 100;

impl Project {
    /// Whether a model has learned, or is about to: what it may have seen is no blind set.
    pub(super) fn has_learned(&self) -> bool {
        self.models().next().is_some()
            || self.learner.is_training()
            // What it is to learn from is drawn already.
            || self.learner.can_go_on()
    }

    /// The transaction that sets sentences aside for an honest curve: drawn by a hash from all that nobody has touched.
    ///
    /// # Errors
    /// A model has learned already, so that what is left is no fair sample; fewer sentences than asked for.
    pub(super) fn set_aside(&self, count: usize) -> Result<Transaction, SessionError> {
        if self.has_learned() {
            return Err(SessionError::TooLateForBlind);
        }
        let untouched = self.corpus().sentences().filter(|s| may_be_set_aside(s));
        let mut free: Vec<SentenceId> = untouched.map(Sentence::id).collect();
        if free.len() < count {
            return Err(SessionError::TooFewUntouched { there: free.len(), wanted: count });
        }
        free.sort_by_key(|id| splitmix64(!u64::from(id.0)));
        let chosen = free.into_iter().take(count);
        let edits = chosen.map(|sentence| Edit::SetSplit { sentence, old: Split::Rest, new: Split::Blind }).collect();
        Ok(Transaction::new(format!("Set {} aside", counted(count, "sentence", "sentences")), edits))
    }
}
