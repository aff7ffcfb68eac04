//! Who makes suggestions.

use super::names::Names;
use crate::annotation::ModelId;
use crate::train::{Predictor, Snapshot, TrainError};
use std::sync::Arc;

/// What makes suggestions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::session) enum Source {
    Model(ModelId, Snapshot),
    /// What the encoder knows, before there is a model.
    Names(Arc<Names>),
}

impl Source {
    /// What its suggestions are told by.
    pub(in crate::session) fn id(&self) -> ModelId {
        match self {
            Self::Model(id, _) => *id,
            Self::Names(_) => ModelId::NAMES,
        }
    }

    /// # Errors
    /// See [`Predictor::load_with_threads`] and [`Predictor::of_entities`].
    pub(super) fn load(&self, threads: Option<usize>) -> Result<Predictor, TrainError> {
        match self {
            Self::Model(_, snapshot) => Predictor::load_with_threads(snapshot, threads),
            Self::Names(names) => names.load(threads),
        }
    }
}
