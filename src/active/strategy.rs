//! By what sentences are chosen.

use std::fmt;
use std::str::FromStr;

/// What makes a sentence worth annotating.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Measure {
    /// Nothing: drawn by the seed.
    Random,
    /// Its place in the text.
    Order,
    /// The model's surprise at its own answer, a word (Shen et al. 2018, maximum normalised log-probability).
    LeastConfidence,
    /// Mean entropy of the best candidate spans of plausible heads.
    Entropy,
    /// Mean entropy of the decision whether a word is a head.
    Neh,
    /// Expected number of mentions.
    MentionCount,
    /// What models that differ by dropout disagree on (Houlsby et al. 2011; Gal et al. 2017).
    Bald,
}

impl Measure {
    pub const ALL: [Self; 7] =
        [Self::Random, Self::Order, Self::LeastConfidence, Self::Entropy, Self::Neh, Self::MentionCount, Self::Bald];

    /// The word for it on the command line and in results.
    pub fn id(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Order => "order",
            Self::LeastConfidence => "least-confidence",
            Self::Entropy => "entropy",
            Self::Neh => "neh",
            Self::MentionCount => "mention-count",
            Self::Bald => "bald",
        }
    }

    /// Whether it looks at what a model says.
    pub fn asks_a_model(self) -> bool {
        !matches!(self, Self::Random | Self::Order)
    }
}

/// A measure, and whether what is chosen together has to be diverse.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Strategy {
    pub measure: Measure,
    pub diverse: bool,
}

impl Strategy {
    /// What the program uses; docs/active-learning.md says why.
    pub const DEFAULT: Self = Self { measure: Measure::LeastConfidence, diverse: true };

    pub const RANDOM: Self = Self { measure: Measure::Random, diverse: false };

    /// The ids of all strategies but `default`.
    pub fn ids() -> impl Iterator<Item = String> {
        let both = [false, true].into_iter();
        both.flat_map(|diverse| Measure::ALL.into_iter().map(move |measure| Self { measure, diverse }))
            .filter(|strategy| strategy.measure.asks_a_model() || !strategy.diverse)
            .map(|strategy| strategy.to_string())
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.measure.id())?;
        f.write_str(if self.diverse { "+diverse" } else { "" })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy {id:?}; there are: default, {there}")]
pub struct NoSuchStrategy {
    id: String,
    there: String,
}

impl FromStr for Strategy {
    type Err = NoSuchStrategy;

    fn from_str(id: &str) -> Result<Self, NoSuchStrategy> {
        if id == "default" {
            return Ok(Self::DEFAULT);
        }
        let (name, diverse) = id.strip_suffix("+diverse").map_or((id, false), |name| (name, true));
        let measure = Measure::ALL.into_iter().find(|measure| measure.id() == name);
        let measure = measure.filter(|measure| measure.asks_a_model() || !diverse);
        let there = || Self::ids().collect::<Vec<_>>().join(", ");
        measure
            .map(|measure| Self { measure, diverse })
            .ok_or_else(|| NoSuchStrategy { id: id.to_owned(), there: there() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn ids_come_back_and_others_are_refused() {
        for id in Strategy::ids() {
            assert_eq!(id.parse::<Strategy>().unwrap().to_string(), id);
        }
        assert_eq!("default".parse(), Ok(Strategy::DEFAULT));
        let refused = expect![[
            r#"there is no strategy "random+diverse"; there are: default, random, order, least-confidence, entropy, neh, mention-count, bald, least-confidence+diverse, entropy+diverse, neh+diverse, mention-count+diverse, bald+diverse"#
        ]];
        refused.assert_eq(&"random+diverse".parse::<Strategy>().unwrap_err().to_string());
    }
}
