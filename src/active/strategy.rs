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
    /// Mean entropy of the best candidate spans of plausible first words.
    Entropy,
    /// Mean entropy of the decision whether a word is the first of an entity.
    Neh,
    /// Expected number of mentions.
    MentionCount,
    /// What models that differ by dropout disagree on (Houlsby et al. 2011; Gal et al. 2017).
    Bald,
    /// Typical words that are not known yet, whatever a model says.
    Words,
}

impl Measure {
    pub const ALL: [Self; 8] = [
        Self::Random,
        Self::Order,
        Self::Words,
        Self::LeastConfidence,
        Self::Entropy,
        Self::Neh,
        Self::MentionCount,
        Self::Bald,
    ];

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
            Self::Words => "words",
        }
    }

    /// Whether it looks at what a model says.
    pub fn asks_a_model(self) -> bool {
        !matches!(self, Self::Random | Self::Order | Self::Words)
    }
}

/// What is looked at besides what a model says of each sentence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Besides {
    Nothing,
    /// What is chosen together differs.
    Diverse,
    /// Sentences of typical words that are not known yet count for more.
    Typical,
    /// Chance: the higher a score ranks, the likelier (Kirsch et al. 2023).
    Stochastic,
}

impl Besides {
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Diverse, Self::Typical, Self::Stochastic];

    fn suffix(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Diverse => "+diverse",
            Self::Typical => "+typical",
            Self::Stochastic => "+stochastic",
        }
    }
}

/// A measure of what a model says, and what counts besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Strategy {
    pub measure: Measure,
    pub besides: Besides,
}

impl Strategy {
    /// What the program uses; docs/active-learning.md says why.
    pub const DEFAULT: Self = Self { measure: Measure::LeastConfidence, besides: Besides::Diverse };

    pub const RANDOM: Self = Self { measure: Measure::Random, besides: Besides::Nothing };

    /// The ids of all strategies but `default`.
    pub fn ids() -> impl Iterator<Item = String> {
        Self::all().map(|strategy| strategy.to_string())
    }

    fn all() -> impl Iterator<Item = Self> {
        let each = Besides::ALL.into_iter();
        each.flat_map(|besides| Measure::ALL.into_iter().map(move |measure| Self { measure, besides }))
            .filter(|strategy| strategy.measure.asks_a_model() || strategy.besides == Besides::Nothing)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.measure.id())?;
        f.write_str(self.besides.suffix())
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
        let there = || Self::ids().collect::<Vec<_>>().join(", ");
        Self::all()
            .find(|strategy| strategy.to_string() == id)
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
            r#"there is no strategy "random+diverse"; there are: default, random, order, words, least-confidence, entropy, neh, mention-count, bald, least-confidence+diverse, entropy+diverse, neh+diverse, mention-count+diverse, bald+diverse, least-confidence+typical, entropy+typical, neh+typical, mention-count+typical, bald+typical, least-confidence+stochastic, entropy+stochastic, neh+stochastic, mention-count+stochastic, bald+stochastic"#
        ]];
        refused.assert_eq(&"random+diverse".parse::<Strategy>().unwrap_err().to_string());
    }
}
