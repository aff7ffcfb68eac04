//! What can go wrong in an architecture.

use super::options::OptionError;
use crate::nn::NnError;

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(transparent)]
    Nn(#[from] NnError),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("there is no architecture {id:?}; there are: {there}")]
    NoSuchArchitecture { id: String, there: String },
    #[error("a prediction came out with fewer probabilities than candidates times classes")]
    Incomplete,
    #[error(
        "a CRF takes at most {most} labels, and there are {labels}; choose each word's tag by itself (tags=softmax)"
    )]
    TooManyLabels { labels: usize, most: usize },
    #[error("the architecture finds mentions and does not label given words; use one that does")]
    LabelsNothingGiven,
    #[error("the architecture tags words and has no vectors of spans; use one that classifies spans")]
    ClassifiesNoSpans,
    #[error(
        "the architecture copies blocks of BERT's kind, and this encoder has others; choose another architecture, such \
         as smartspanner, or a BERT, RoBERTa, DistilBERT or ELECTRA encoder"
    )]
    OtherBlocks,
}

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        Self::Nn(error.into())
    }
}
