//! What scores can be broken down by.

/// A way to look at where a score comes from. `docs/evaluation.md` says what each shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Breakdown {
    Label,
    Matches,
    Length,
    Nesting,
    Buckets,
    Errors,
    Confusion,
    Tasks,
    Scores,
    Calibration,
    Vectors,
    Similarity,
}

impl Breakdown {
    pub const ALL: [Self; 12] = [
        Self::Label,
        Self::Matches,
        Self::Length,
        Self::Nesting,
        Self::Buckets,
        Self::Errors,
        Self::Confusion,
        Self::Tasks,
        Self::Scores,
        Self::Calibration,
        Self::Vectors,
        Self::Similarity,
    ];

    /// What its files are called, and the command line calls it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Matches => "matches",
            Self::Length => "length",
            Self::Nesting => "nesting",
            Self::Buckets => "buckets",
            Self::Errors => "errors",
            Self::Confusion => "confusion",
            Self::Tasks => "tasks",
            Self::Scores => "scores",
            Self::Calibration => "calibration",
            Self::Vectors => "vectors",
            Self::Similarity => "similarity",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|breakdown| breakdown.id() == id)
    }

    /// Whether a model has it that labels given words and finds none.
    pub fn is_of_labels(self) -> bool {
        matches!(
            self,
            Self::Label | Self::Confusion | Self::Scores | Self::Calibration | Self::Vectors | Self::Similarity
        )
    }
}
