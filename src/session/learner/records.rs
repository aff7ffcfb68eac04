//! What the project file remembers of a model.

use crate::annotation::ModelId;
use crate::evaluation::{Calibration, Report, Scale};
use crate::session::project::status::ModelInfo;
use crate::store::ModelRecord;
use crate::train::Manifest;
use serde::{Deserialize, Serialize};

/// What the project file remembers of a model, so that it need not be loaded to be shown.
#[derive(Serialize, Deserialize)]
struct Remembered {
    architecture: String,
    encoder: String,
    train_sentences: usize,
    dev_f1: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dev_accuracy: Option<f64>,
    /// Temperature, error before and after.
    #[serde(default)]
    calibration: Option<(f64, f64, f64)>,
    /// Beside the temperature.
    #[serde(default)]
    bias: f64,
}

pub(in crate::session) fn info(id: ModelId, manifest: &Manifest, created_ms: i64) -> ModelInfo {
    let outcome = &manifest.outcome;
    ModelInfo {
        id,
        architecture: manifest.settings.architecture.clone(),
        encoder: manifest.settings.encoder.clone(),
        train_sentences: outcome.train_sentences,
        created_ms,
        dev_f1: outcome.dev.as_ref().and_then(Report::f1),
        dev_accuracy: outcome.dev.as_ref().and_then(Report::accuracy),
        calibration: None,
    }
}

pub(in crate::session) fn record(
    info: &ModelInfo,
    manifest_sha256: Option<String>,
) -> Result<ModelRecord, serde_json::Error> {
    let remembered = Remembered {
        architecture: info.architecture.clone(),
        encoder: info.encoder.clone(),
        train_sentences: info.train_sentences,
        dev_f1: info.dev_f1,
        dev_accuracy: info.dev_accuracy,
        calibration: info.calibration.map(|c| (c.scale.temperature, c.error_before, c.error_after)),
        bias: info.scale().bias,
    };
    Ok(ModelRecord {
        id: info.id,
        manifest: serde_json::to_string(&remembered)?,
        manifest_sha256,
        created_ms: info.created_ms,
    })
}

/// What is remembered of a model; `None` for a record of another version of the program.
pub(super) fn info_of_record(record: &ModelRecord) -> Option<ModelInfo> {
    let Remembered { architecture, encoder, train_sentences, dev_f1, dev_accuracy, calibration, bias } =
        serde_json::from_str(&record.manifest).ok()?;
    // A file may say anything: what would make no score of a score is none.
    let calibration = calibration.filter(|(temperature, ..)| *temperature > 0.0 && bias.is_finite());
    let calibration = calibration.map(|(temperature, error_before, error_after)| Calibration {
        scale: Scale { temperature, bias },
        error_before,
        error_after,
    });
    let (id, created_ms) = (record.id, record.created_ms);
    Some(ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, dev_accuracy, calibration })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> ModelInfo {
        let (architecture, encoder) = ("smartspanner".to_owned(), "small".to_owned());
        let (id, train_sentences, created_ms, dev_f1, calibration) = (ModelId(3), 20, 0, Some(0.5), None);
        let dev_accuracy = None;
        ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, dev_accuracy, calibration }
    }

    #[test]
    fn what_makes_scores_honest_is_remembered() {
        let scale = Scale { temperature: 2.0, bias: -1.0 };
        let calibration = Some(Calibration { scale, error_before: 0.2, error_after: 0.05 });
        let info = ModelInfo { calibration, ..info() };
        let mut record = record(&info, None).unwrap();
        assert_eq!(info_of_record(&record), Some(info));
        for faulty in ["0.0", "-2.0"] {
            record.manifest = record.manifest.replace("2.0", faulty);
            assert_eq!(info_of_record(&record).unwrap().calibration, None, "{faulty}");
        }
    }
}
