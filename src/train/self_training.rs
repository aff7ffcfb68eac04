//! How a model learns from sentences that it labels itself; see [`super::plan`].

use crate::parameter::Kind;
use serde_json::{Map, Value as Json};

/// Sentences that a model may label itself, at most.
pub(super) const SENTENCES: Kind = Kind::Whole(0, 1_000_000_000);
pub(super) const ROUNDS: Kind = Kind::Whole(1, 10);
pub(super) const EPOCHS: Kind = Kind::Whole(1, 10_000);

/// Of a model that also learns from sentences that it labels itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelfTraining {
    /// Sentences without labels that the model labels after the epochs with labels of persons alone, to begin anew and learn
    /// from them, too; at least one.
    pub sentences: usize,
    /// How often it does so, each time with others.
    pub rounds: usize,
    /// Epochs that follow each time.
    pub epochs: usize,
}

impl SelfTraining {
    /// Epochs of all rounds.
    pub fn all_epochs(self) -> usize {
        self.rounds * self.epochs
    }

    /// Sentences of all rounds.
    pub(super) fn all_sentences(self) -> usize {
        self.rounds * self.sentences
    }

    /// As three settings of a model; all are 0 where it labels none itself.
    pub(super) fn write(this: Option<Self>, settings: &mut Map<String, Json>) {
        let (sentences, rounds, epochs) = this.map_or((0, 0, 0), |own| (own.sentences, own.rounds, own.epochs));
        let rows = [("self_training", sentences), ("self_rounds", rounds), ("self_epochs", epochs)];
        settings.extend(rows.map(|(key, number)| (key.to_owned(), number.into())));
    }

    /// What settings say of it. Models of before say nothing, and later ones had rounds and epochs also where they labelled
    /// none themselves.
    ///
    /// # Errors
    /// The first setting that no training can have had.
    pub(super) fn read(settings: &Map<String, Json>) -> Result<Option<Self>, &'static str> {
        let number = |key: &'static str, takes: Kind| match settings.get(key) {
            None => Ok(0),
            Some(json) if json.as_u64() == Some(0) => Ok(0),
            Some(json) => takes.from_json(json).and_then(|_| json.as_u64()?.try_into().ok()).ok_or(key),
        };
        let sentences = number("self_training", SENTENCES)?;
        let (rounds, epochs) = (number("self_rounds", ROUNDS)?, number("self_epochs", EPOCHS)?);
        Ok((sentences > 0).then_some(Self { sentences, rounds, epochs }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: Json) -> Result<Option<SelfTraining>, &'static str> {
        SelfTraining::read(json.as_object().unwrap())
    }

    #[test]
    fn it_is_three_settings_on_disk() {
        let own = Some(SelfTraining { sentences: 300, rounds: 2, epochs: 16 });
        for this in [own, None] {
            let mut settings = Map::new();
            SelfTraining::write(this, &mut settings);
            assert_eq!(read(Json::Object(settings)), Ok(this));
        }
        assert_eq!(read(json!({})), Ok(None), "a model of before");
        assert_eq!(read(json!({ "self_training": 0, "self_rounds": 2, "self_epochs": 16 })), Ok(None));
        assert_eq!(read(json!({ "self_training": 3, "self_rounds": 11 })), Err("self_rounds"));
        assert_eq!(read(json!({ "self_training": -1 })), Err("self_training"));
    }
}
