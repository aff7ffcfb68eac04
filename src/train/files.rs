//! The JSON of snapshots and checkpoints, as it is on disk.

use super::manifest::{Manifest, Outcome};
use super::parameters::Settings;
use crate::annotation::{LabelId, ModelId, ProjectId};
use crate::evaluation::{Counts, Report};
use crate::model::{SampleCounts, Samples, Unlearnable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LabelFile {
    id: u32,
    name: String,
}

impl LabelFile {
    pub(super) fn list(labels: &[(LabelId, String)]) -> Vec<Self> {
        labels.iter().map(|(id, name)| Self { id: id.0, name: name.clone() }).collect()
    }

    pub(super) fn label(self) -> (LabelId, String) {
        (LabelId(self.id), self.name)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ManifestFile {
    pub version: u32,
    architecture: String,
    pub architecture_version: u32,
    encoder: String,
    seed: u64,
    dataset_hash: String,
    parent: Option<u32>,
    train_sentences: usize,
    epochs: usize,
    best_epoch: usize,
    dev: Option<ReportFile>,
    wall_secs: f64,
    sentences_per_sec: f64,
    peak_memory_mb: Option<f64>,
    samples: SamplesFile,
    too_wide_mentions: usize,
    doubled_mentions: usize,
    // Models of before counted neither these nor all.
    #[serde(default)]
    hidden_mentions: usize,
    #[serde(default)]
    mentions: usize,
    parameters: usize,
    // Models of before said neither whose they are nor of how many sentences they took theirs.
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    labels: Option<Vec<LabelFile>>,
    #[serde(default)]
    of_sentences: Option<usize>,
    /// Of each other file, by its name with `/` between folders.
    pub sha256: BTreeMap<String, String>,
}

impl ManifestFile {
    pub(super) fn new(version: u32, manifest: &Manifest, sha256: BTreeMap<String, String>) -> Self {
        let Manifest { settings, outcome, .. } = manifest;
        Self {
            version,
            architecture: settings.architecture.clone(),
            architecture_version: manifest.architecture_version,
            encoder: settings.encoder.clone(),
            seed: settings.seed,
            dataset_hash: manifest.dataset_hash.clone(),
            parent: manifest.parent.map(|id| id.0),
            train_sentences: outcome.train_sentences,
            epochs: settings.all_epochs(),
            best_epoch: outcome.best_epoch,
            dev: outcome.dev.as_ref().map(ReportFile::from),
            wall_secs: outcome.wall_secs,
            sentences_per_sec: outcome.sentences_per_sec,
            peak_memory_mb: outcome.peak_memory_mb,
            samples: SamplesFile::from(outcome.samples),
            too_wide_mentions: outcome.unlearnable.too_wide,
            doubled_mentions: outcome.unlearnable.doubled,
            hidden_mentions: outcome.unlearnable.hidden,
            mentions: outcome.mentions,
            parameters: outcome.parameters,
            project: manifest.project.as_ref().map(ToString::to_string),
            labels: Some(LabelFile::list(&manifest.labels)),
            of_sentences: Some(outcome.of_sentences),
            sha256,
        }
    }

    /// What it says of the labels, where it does.
    pub(super) fn labels(&self) -> Option<Vec<(LabelId, String)>> {
        self.labels.clone().map(|labels| labels.into_iter().map(LabelFile::label).collect())
    }

    /// `None` when the project's id is none, or a number can't be a count of anything.
    pub(super) fn manifest(self, settings: Settings, labels: Vec<(LabelId, String)>) -> Option<Manifest> {
        let counts = [self.train_sentences, self.of_sentences.unwrap_or(0), self.best_epoch, self.parameters];
        let of_mentions = [self.mentions, self.too_wide_mentions, self.doubled_mentions, self.hidden_mentions];
        let counts = counts.iter().chain(&of_mentions);
        if !counts.into_iter().all(|count| *count < MOST_COUNTED)
            || !self.dev.as_ref().is_none_or(ReportFile::fits)
            || !self.samples.fits()
        {
            return None;
        }
        Some(Manifest {
            project: project_id(self.project)?,
            architecture_version: self.architecture_version,
            settings,
            labels,
            dataset_hash: self.dataset_hash,
            parent: self.parent.map(ModelId),
            outcome: Outcome {
                train_sentences: self.train_sentences,
                of_sentences: self.of_sentences.unwrap_or(self.train_sentences),
                best_epoch: self.best_epoch,
                dev: self.dev.map(Report::from),
                wall_secs: self.wall_secs,
                sentences_per_sec: self.sentences_per_sec,
                peak_memory_mb: self.peak_memory_mb,
                samples: Samples::from(self.samples),
                mentions: self.mentions,
                unlearnable: Unlearnable {
                    too_wide: self.too_wide_mentions,
                    doubled: self.doubled_mentions,
                    hidden: self.hidden_mentions,
                },
                parameters: self.parameters,
            },
        })
    }
}

/// `None` for an id that is none; within, `None` where there is no id.
pub(super) fn project_id(text: Option<String>) -> Option<Option<ProjectId>> {
    match text {
        Some(text) => ProjectId::parse(&text).map(Some),
        None => Some(None),
    }
}

#[derive(Serialize, Deserialize)]
struct CountsFile {
    tp: usize,
    fp: usize,
    #[serde(rename = "fn")]
    missed: usize,
}

impl From<Counts> for CountsFile {
    fn from(c: Counts) -> Self {
        Self { tp: c.true_positives, fp: c.false_positives, missed: c.false_negatives }
    }
}

impl From<CountsFile> for Counts {
    fn from(c: CountsFile) -> Self {
        Self { true_positives: c.tp, false_positives: c.fp, false_negatives: c.missed }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ReportFile {
    sentences: usize,
    micro: CountsFile,
    /// By label id.
    labels: BTreeMap<u32, CountsFile>,
    heads: Option<CountsFile>,
    /// Of labels of given mentions alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    labels_given: bool,
}

/// What is counted in a training is below this; sums of more would not fit.
pub(super) const MOST_COUNTED: usize = 1 << 40;

impl CountsFile {
    fn fits(&self) -> bool {
        [self.tp, self.fp, self.missed].iter().all(|count| *count < MOST_COUNTED)
    }
}

impl ReportFile {
    /// Whether these can be counts of anything.
    pub(super) fn fits(&self) -> bool {
        let counts = self.labels.values().chain(&self.heads).chain([&self.micro]);
        self.sentences < MOST_COUNTED && counts.into_iter().all(CountsFile::fits)
    }
}

impl From<&Report> for ReportFile {
    fn from(r: &Report) -> Self {
        Self {
            sentences: r.sentences,
            micro: r.micro.into(),
            labels: r.labels.iter().map(|(id, counts)| (id.0, (*counts).into())).collect(),
            heads: r.first_words.map(CountsFile::from),
            labels_given: r.labels_given,
        }
    }
}

impl From<ReportFile> for Report {
    fn from(r: ReportFile) -> Self {
        Self {
            sentences: r.sentences,
            micro: r.micro.into(),
            labels: r.labels.into_iter().map(|(id, counts)| (LabelId(id), counts.into())).collect(),
            first_words: r.heads.map(Counts::from),
            labels_given: r.labels_given,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SamplesFile {
    neh: SampleCountsFile,
    span: SampleCountsFile,
    // Models of before had no tags.
    #[serde(default)]
    word: SampleCountsFile,
}

#[derive(Serialize, Deserialize, Default)]
struct SampleCountsFile {
    positive: usize,
    negative: usize,
}

impl SamplesFile {
    /// Whether these can be counts of anything.
    pub(super) fn fits(&self) -> bool {
        [&self.neh, &self.span, &self.word].iter().all(|c| c.positive < MOST_COUNTED && c.negative < MOST_COUNTED)
    }
}

impl From<Samples> for SamplesFile {
    fn from(s: Samples) -> Self {
        let file = |c: SampleCounts| SampleCountsFile { positive: c.positive, negative: c.negative };
        Self { neh: file(s.first_words), span: file(s.spans), word: file(s.words) }
    }
}

impl From<SamplesFile> for Samples {
    fn from(s: SamplesFile) -> Self {
        let counts = |c: SampleCountsFile| SampleCounts { positive: c.positive, negative: c.negative };
        Self { first_words: counts(s.neh), spans: counts(s.span), words: counts(s.word) }
    }
}
