//! The JSON files of a checkpoint, as they are on disk.

use crate::annotation::{Fragments, LabelId, ModelId, Span};
use crate::evaluation::Report;
use crate::model::Samples;
use crate::nn::RngState;
use crate::train::atomic_directory::{Hashes, damaged};
use crate::train::dataset::{Dataset, Example};
use crate::train::error::TrainError;
use crate::train::files::{LabelFile, MOST_COUNTED, ReportFile, SamplesFile, project_id};
use crate::train::state::{OwnLabels, TrainingPosition, TrainingState};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Raised when older programs can't read what is written.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
pub(super) struct StateFile {
    pub version: u32,
    pub architecture_version: u32,
    epoch: usize,
    batch: usize,
    loss_sum: f32,
    order: RngFile,
    step: usize,
    steps: usize,
    train_sentences: usize,
    adam_steps: u64,
    noise: RngFile,
    samples: SamplesFile,
    step_secs: f64,
    wall_secs: f64,
    best: Option<BestFile>,
    dataset_hash: String,
    parent: Option<u32>,
    // Trainings of before said neither whose they are nor of how many sentences they took theirs.
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    labels: Option<Vec<LabelFile>>,
    #[serde(default)]
    of_sentences: Option<usize>,
    pub sha256: Hashes,
}

#[derive(Serialize, Deserialize)]
struct BestFile {
    epoch: usize,
    dev: Option<ReportFile>,
}

impl StateFile {
    pub(super) fn new(
        state: &TrainingState,
        labels: &[(LabelId, String)],
        architecture_version: u32,
        sha256: Hashes,
    ) -> Self {
        let TrainingState { place, best, .. } = state;
        Self {
            version: VERSION,
            architecture_version,
            epoch: place.epoch,
            batch: place.batch,
            loss_sum: place.loss_sum,
            order: RngFile::from(place.order),
            step: state.step,
            steps: state.steps,
            train_sentences: state.train_sentences,
            adam_steps: state.adam_steps,
            noise: RngFile::from(state.noise),
            samples: SamplesFile::from(state.samples),
            step_secs: state.step_secs,
            wall_secs: state.wall_secs,
            best: best.as_ref().map(|(epoch, dev)| BestFile { epoch: *epoch, dev: dev.as_ref().map(ReportFile::from) }),
            dataset_hash: state.dataset_hash.clone(),
            parent: state.parent.map(|id| id.0),
            project: state.project.as_ref().map(ToString::to_string),
            labels: Some(LabelFile::list(labels)),
            of_sentences: Some(state.of_sentences),
            sha256,
        }
    }

    /// What it says of the labels, where it does.
    pub(super) fn labels(&self) -> Option<Vec<(LabelId, String)>> {
        self.labels.clone().map(|labels| labels.into_iter().map(LabelFile::label).collect())
    }

    /// `None` when a generator's state, a time, a count or the project's id makes no sense.
    pub(super) fn state(self) -> Option<TrainingState> {
        let is_time = |secs: f64| secs.is_finite() && secs >= 0.0;
        let counts = [self.train_sentences, self.of_sentences.unwrap_or(0), self.step, self.steps];
        let best = self.best.as_ref();
        if !is_time(self.step_secs)
            || !is_time(self.wall_secs)
            || !self.loss_sum.is_finite()
            || !counts.into_iter().all(|count| count < MOST_COUNTED)
            || self.adam_steps >= MOST_COUNTED as u64
            || !self.samples.fits()
            || !best.is_none_or(|best| best.epoch < MOST_COUNTED && best.dev.as_ref().is_none_or(ReportFile::fits))
        {
            return None;
        }
        Some(TrainingState {
            place: TrainingPosition {
                epoch: self.epoch,
                batch: self.batch,
                loss_sum: self.loss_sum,
                order: self.order.state()?,
            },
            step: self.step,
            steps: self.steps,
            train_sentences: self.train_sentences,
            of_sentences: self.of_sentences.unwrap_or(self.train_sentences),
            adam_steps: self.adam_steps,
            noise: self.noise.state()?,
            samples: Samples::from(self.samples),
            step_secs: self.step_secs,
            wall_secs: self.wall_secs,
            best: self.best.map(|best| (best.epoch, best.dev.map(Report::from))),
            dataset_hash: self.dataset_hash,
            parent: self.parent.map(ModelId),
            project: project_id(self.project)?,
        })
    }
}

/// Numbers of more than 53 bits are text, since not every reader of JSON keeps them.
#[derive(Serialize, Deserialize)]
struct RngFile {
    /// Hexadecimal digits.
    key: String,
    stream: String,
    word_pos: String,
}

impl From<RngState> for RngFile {
    fn from(state: RngState) -> Self {
        let RngState { key, stream, word_pos } = state;
        Self { key: hex::encode(key), stream: stream.to_string(), word_pos: word_pos.to_string() }
    }
}

impl RngFile {
    fn state(&self) -> Option<RngState> {
        let mut key = [0; 32];
        hex::decode_to_slice(&self.key, &mut key).ok()?;
        Some(RngState { key, stream: self.stream.parse().ok()?, word_pos: self.word_pos.parse().ok()? })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct DatasetFile {
    labels: Vec<(u32, String)>,
    train: Vec<ExampleFile>,
    dev: Vec<ExampleFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unlabelled: Vec<Vec<String>>,
}

/// The labels alone of a [`DatasetFile`].
#[derive(Deserialize)]
pub(super) struct OnlyLabels {
    labels: Vec<(u32, String)>,
}

impl OnlyLabels {
    pub(super) fn labels(self) -> Vec<(LabelId, String)> {
        self.labels.into_iter().map(|(id, name)| (LabelId(id), name)).collect()
    }
}

#[derive(Serialize, Deserialize)]
struct ExampleFile {
    tokens: Vec<String>,
    /// Start, end (exclusive), label.
    gold: Vec<(usize, usize, u32)>,
    /// Of each mention in fragments these, and its label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    discontinuous: Vec<(Vec<(usize, usize)>, u32)>,
}

impl From<&Dataset> for DatasetFile {
    fn from(dataset: &Dataset) -> Self {
        let examples = |examples: &[Example]| examples.iter().map(ExampleFile::from).collect();
        Self {
            labels: dataset.labels().iter().map(|(id, name)| (id.0, name.clone())).collect(),
            train: examples(dataset.train()),
            dev: examples(dataset.dev()),
            unlabelled: dataset.unlabelled().to_vec(),
        }
    }
}

impl From<&Example> for ExampleFile {
    fn from(example: &Example) -> Self {
        let span = |span: Span| (span.start().get(), span.end().get());
        let discontinuous = example.discontinuous.iter();
        Self {
            tokens: example.tokens.clone(),
            gold: mention_files(&example.gold),
            discontinuous: discontinuous.map(|(f, label)| (f.iter().map(span).collect(), label.0)).collect(),
        }
    }
}

fn mention_files(mentions: &[(Span, LabelId)]) -> Vec<(usize, usize, u32)> {
    mentions.iter().map(|(span, label)| (span.start().get(), span.end().get(), label.0)).collect()
}

/// `None` when one has no words.
fn mentions(files: Vec<(usize, usize, u32)>) -> Option<Vec<(Span, LabelId)>> {
    files.into_iter().map(|(start, end, label)| Some((Span::from_range(start..end)?, LabelId(label)))).collect()
}

#[derive(Serialize, Deserialize)]
pub(super) struct OwnFile {
    part: usize,
    labels: Vec<Vec<(usize, usize, u32)>>,
}

impl From<&OwnLabels> for OwnFile {
    fn from(own: &OwnLabels) -> Self {
        Self { part: own.part, labels: own.labels.iter().map(|mentions| mention_files(mentions)).collect() }
    }
}

impl OwnFile {
    /// `None` when a mention has no words.
    pub(super) fn own(self) -> Option<OwnLabels> {
        let labels = self.labels.into_iter().map(mentions).collect::<Option<_>>()?;
        Some(OwnLabels { part: self.part, labels })
    }
}

impl DatasetFile {
    pub(super) fn dataset(self, path: &Path) -> Result<Dataset, TrainError> {
        let examples = |examples: Vec<ExampleFile>| -> Option<Vec<Example>> {
            examples.into_iter().map(ExampleFile::example).collect()
        };
        let labels = self.labels.into_iter().map(|(id, name)| (LabelId(id), name)).collect();
        match (examples(self.train), examples(self.dev)) {
            (Some(train), Some(dev)) => {
                Dataset::freeze(labels, train, dev).and_then(|dataset| dataset.with_unlabelled(self.unlabelled))
            }
            _ => Err(damaged("a mention has no words", path)),
        }
    }
}

impl ExampleFile {
    fn example(self) -> Option<Example> {
        let fragments = |(spans, label): (Vec<(usize, usize)>, u32)| {
            let spans = spans.into_iter().map(|(start, end)| Span::from_range(start..end)).collect::<Option<_>>()?;
            Some((Fragments::new(spans).ok()?, LabelId(label)))
        };
        let discontinuous = self.discontinuous.into_iter().map(fragments).collect::<Option<_>>()?;
        Some(Example { tokens: self.tokens, gold: mentions(self.gold)?, discontinuous })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;

    #[test]
    fn a_generator_goes_on_through_a_file() {
        let mut rng = Rng::new(u64::MAX, "order");
        for _ in 0..1000 {
            rng.bits();
        }
        let json = serde_json::to_string(&RngFile::from(rng.state())).unwrap();
        let file: RngFile = serde_json::from_str(&json).unwrap();
        assert_eq!(file.state(), Some(rng.state()));
        let short = RngFile { key: "00".to_owned(), ..file };
        assert_eq!(short.state(), None);
    }

    #[test]
    fn a_dataset_keeps_its_hash_through_a_file() {
        let gold = vec![(Span::from_range(0..2).unwrap(), LabelId(3))];
        let words = ["Å\u{200d}", "\"\n", "c"].map(str::to_owned).to_vec();
        let pieces = [0..1, 2..3].into_iter().filter_map(Span::from_range).collect();
        let discontinuous = vec![(Fragments::new(pieces).unwrap(), LabelId(3))];
        let train = vec![Example { tokens: words, gold, discontinuous }];
        let dataset = Dataset::freeze(vec![(LabelId(3), "A".to_owned())], train.clone(), train).unwrap();
        let dataset = dataset.with_unlabelled(vec![vec!["c".to_owned()]]).unwrap();
        let json = serde_json::to_string(&DatasetFile::from(&dataset)).unwrap();
        let file: DatasetFile = serde_json::from_str(&json).unwrap();
        assert_eq!(file.dataset(Path::new("d")).unwrap(), dataset);
    }
}
