//! The names of the files and folders of snapshots and checkpoints.

/// Written last: it has the hashes of all others.
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const CONFIG: &str = "config.json";
pub(super) const WEIGHTS: &str = "weights.safetensors";
/// The folder of an encoder's definition.
pub(super) const ENCODER: &str = "encoder";
/// How the hidden name of a folder begins while it is written; a kill can leave one behind.
pub(super) const HALF_WRITTEN: &str = ".model-";

pub(super) const LABELS: &str = "labels.json";
/// All files of a snapshot but the manifest and the encoder's.
pub(super) const SNAPSHOT: [&str; 3] = [WEIGHTS, CONFIG, LABELS];

/// Beside the checkpoints of a training.
pub(super) const DATASET: &str = "dataset.json";
pub(super) const MOMENTS: &str = "moments.safetensors";
pub(super) const BEST: &str = "best.safetensors";
pub(super) const START: &str = "start.safetensors";
pub(super) const MEAN: &str = "mean.safetensors";
pub(super) const OWN: &str = "own.json";
/// All files of a checkpoint but the manifest and the encoder's.
pub(super) const CHECKPOINT: [&str; 7] = [WEIGHTS, MOMENTS, BEST, START, MEAN, OWN, CONFIG];

/// The name of a checkpoint's folder.
pub(super) fn checkpoint_name(step: usize, epoch: usize) -> String {
    format!("{step:08}-{epoch:04}")
}

/// True for what a checkpoint's folder is called: step and epoch.
pub(super) fn is_checkpoint_name(name: &str) -> bool {
    let digits = |part: &str, least: usize| part.len() >= least && part.bytes().all(|b| b.is_ascii_digit());
    name.split_once('-').is_some_and(|(step, epoch)| digits(step, 8) && digits(epoch, 4))
}

/// True for the hidden name of a folder that is being written, or was when the program was killed.
pub fn is_half_written(name: &str) -> bool {
    name.strip_prefix(HALF_WRITTEN)
        .is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}
