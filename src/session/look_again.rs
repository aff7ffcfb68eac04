//! Gold that is worth a second look.

use super::dataset::{contiguous, example, labels, words};
use super::jobs::stopped;
use super::project::Project;
use super::{Part, SessionError};
use crate::active::{Finding, Held, Labelled, look_again};
use crate::annotation::{Corpus, LabelId, Sentence, SentenceId, Span, Status};
use crate::encoder::Encoders;
use crate::nn::scatter;
use crate::train::{Config, Dataset, Event, Example, PredictOptions, Predictor, TrainRequest, train};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to look at.
#[derive(Clone, Debug)]
pub struct LookAgainRequest {
    /// In so many parts the sentences are divided, and a model that learned from the others is asked about each; 0 asks no
    /// model.
    pub folds: usize,
    /// Of these trainings.
    pub config: Config,
}

impl Project {
    /// The complete sentences that train, dev among them, with what is doubtful in them; the most doubtful first.
    ///
    /// With `folds` that takes as long as so many trainings. Nothing is stored.
    ///
    /// # Errors
    /// Nothing is complete, an encoder that is not there, a stop.
    pub fn look_again_now(
        &self,
        request: &LookAgainRequest,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(usize, Event),
    ) -> Result<Vec<Finding>, SessionError> {
        let corpus = self.corpus();
        let ids = looked_at(corpus);
        if ids.is_empty() {
            return Err(SessionError::NothingToTrainOn);
        }
        let held = match request.folds {
            0 => None,
            folds => Some(held_out(corpus, &ids, folds, &request.config, &self.home.encoders(), cancel, on_event)?),
        };
        let sentences: Vec<Labelled<'_>> = ids.iter().filter_map(|id| labelled(corpus, *id)).collect();
        let held: Option<Vec<Held<'_>>> = held.as_ref().map(|held| held.iter().map(Vec::as_slice).collect());
        let found = look_again(&sentences, held.as_deref());
        // What a person has turned down once is not asked again.
        let is_rejected =
            |f: &Finding| corpus.sentence(f.sentence).is_some_and(|s| s.rejected().contains(&(f.span, f.label)));
        Ok(found.into_iter().filter(|finding| !is_rejected(finding)).collect())
    }
}

fn looked_at(corpus: &Corpus) -> Vec<SentenceId> {
    let is_gold = |s: &&Sentence| {
        let part = Part::Train.holds(s) || Part::Dev.holds(s);
        part && s.status() == Status::Complete && !s.tokens().is_empty()
    };
    corpus.sentences().filter(is_gold).map(Sentence::id).collect()
}

fn labelled(corpus: &Corpus, id: SentenceId) -> Option<Labelled<'_>> {
    let sentence = corpus.sentence(id)?;
    Some(Labelled { id, words: corpus.words(sentence).collect(), mentions: contiguous(sentence) })
}

type Said = Vec<(Span, LabelId, f32)>;

/// What a model says of each sentence that had not learned from it.
fn held_out(
    corpus: &Corpus,
    ids: &[SentenceId],
    folds: usize,
    config: &Config,
    encoders: &Encoders,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(usize, Event),
) -> Result<Vec<Said>, SessionError> {
    let fold_of = |id: &SentenceId| (scatter(u64::from(id.0)) % folds.max(2) as u64) as usize;
    let folder = super::bench::temporary_folder()?;
    let mut said: Vec<Said> = vec![Vec::new(); ids.len()];
    // Without dev the last epoch is kept, and without open sentences none is labelled by the model itself.
    let config = Config { self_training: Some(0), ..config.clone() };
    for fold in 0..folds.max(2) {
        let others = ids.iter().filter(|id| fold_of(id) != fold).filter_map(|id| corpus.sentence(*id));
        let train_on: Vec<Example> = others.map(|s| example(corpus, s)).collect();
        if train_on.is_empty() {
            continue;
        }
        let request = TrainRequest {
            dataset: Arc::new(Dataset::freeze(labels(corpus), train_on, Vec::new())?),
            config: config.clone(),
            encoders: encoders.clone(),
            start: None,
            snapshot: folder.path().join(format!("fold-{fold}")),
            parent: None,
            checkpoints: None,
        };
        let trained = train(&request, cancel, &mut |event| on_event(fold, event)).map_err(stopped)?;
        let predictor = Predictor::load_with_threads(&trained.snapshot, config.threads)?;
        let asked: Vec<usize> = (0..ids.len()).filter(|i| ids.get(*i).is_some_and(|id| fold_of(id) == fold)).collect();
        let texts = asked.iter().filter_map(|i| Some(words(corpus, corpus.sentence(*ids.get(*i)?)?)));
        let texts: Vec<Vec<String>> = texts.collect();
        let answers = predictor.predict(&texts, PredictOptions::default(), cancel).map_err(stopped)?;
        for (i, answer) in asked.into_iter().zip(answers) {
            if let Some(place) = said.get_mut(i) {
                *place = answer.spans.into_iter().map(|s| (s.span, s.label, s.score)).collect();
            }
        }
    }
    Ok(said)
}
