//! How much of a model learns.

/// How much of the model learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TrainedLayers {
    /// The task head alone, above an encoder that stays as it is.
    TaskHead,
    /// The encoder's last blocks, too.
    Top,
    /// Everything.
    #[default]
    Full,
}

impl TrainedLayers {
    pub const ALL: [Self; 3] = [Self::TaskHead, Self::Top, Self::Full];

    pub const fn id(self) -> &'static str {
        match self {
            Self::TaskHead => "heads",
            Self::Top => "top",
            Self::Full => "full",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.id() == id)
    }
}
