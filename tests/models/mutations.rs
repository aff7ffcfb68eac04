//! Models and checkpoints altered at random: whatever comes of it, nothing panics, memory is bounded, and no file outside
//! is touched. `NESTLING_MUTATIONS=5000` makes more of them, `NESTLING_SEED=7` others.

use super::contents;
use crate::sealed::{copy, reseal};
use crate::strangers::{Sound, predict};
use nestling::nn::Rng;
use nestling::train::{
    Checkpoints, Event, Pace, ResumeRequest, forget_peak_memory, interrupted, peak_memory_mb, remove_snapshot,
    remove_training, resume, snapshot_manifest, training_project,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What the tests of this program may have in memory beside what was there before: models here take a tenth of a megabyte.
const MOST_MB: f64 = 600.0;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    contents(folder).into_keys().collect()
}

/// Alters a file: bytes, its length, or what stands in its JSON.
fn alter(path: &Path, rng: &mut Rng) -> String {
    let mut bytes = std::fs::read(path).unwrap();
    // The header of weights tells more than their numbers.
    let end = if rng.below(4) > 0 { bytes.len().min(2000) } else { bytes.len() };
    let at = rng.below(end.max(1));
    let what = match rng.below(8) {
        0 => {
            bytes.truncate(at);
            "cut off"
        }
        1 => {
            bytes.splice(at..at, [b'0', b'9', b'-', b'"', b'{', 0xff].into_iter().take(1 + rng.below(6)));
            "with more in it"
        }
        2 | 3 => {
            // A number becomes another one.
            let digits: Vec<usize> = (0..end).filter(|i| bytes[*i].is_ascii_digit()).collect();
            if digits.is_empty() {
                return "as it was".to_owned();
            }
            let first = digits[rng.below(digits.len())];
            let last = (first..bytes.len()).find(|i| !bytes[*i].is_ascii_digit()).unwrap_or(bytes.len());
            let numbers =
                ["0", "-1", "1", "4294967295", "18446744073709551615", "1e308", "9007199254740993", "0.5", "null"];
            bytes.splice(first..last, numbers[rng.below(numbers.len())].bytes());
            "with another number"
        }
        4 => {
            let quotes: Vec<usize> = (0..end).filter(|i| bytes[*i] == b'"').collect();
            if quotes.len() < 2 {
                return "as it was".to_owned();
            }
            let from = rng.below(quotes.len() - 1);
            let texts = ["../../x", "/etc/passwd", "", "weights.safetensors", "F64", "I8", "\\u0000"];
            bytes.splice(quotes[from] + 1..quotes[from + 1], texts[rng.below(texts.len())].bytes());
            "with another text"
        }
        5 if bytes.len() > 8 => {
            let from = rng.below(bytes.len() - 8) / 4 * 4;
            let values = [f32::NAN, f32::INFINITY, 1e38, -1e38, f32::MIN_POSITIVE];
            bytes[from..from + 4].copy_from_slice(&values[rng.below(values.len())].to_le_bytes());
            "with a number that is none"
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.below(256) as u8;
            }
            "with another byte"
        }
    };
    std::fs::write(path, bytes).unwrap();
    format!("{what}, at {at}")
}

/// Alters a copy of a folder again and again; `each` does with it what the program does, and `seal` mends the hashes.
fn mutate(sound: &Path, times: u64, seal: impl Fn(&Path), each: impl Fn(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("beside"), "precious").unwrap();
    let mut rng = Rng::new(number("NESTLING_SEED", 1), "mutations");
    forget_peak_memory();
    let before = peak_memory_mb();
    for round in 0..times {
        let folder = dir.path().join("m");
        copy(sound, &folder);
        let all = files(&folder);
        let mut done = Vec::new();
        for _ in 0..1 + rng.below(2) {
            let path = &all[rng.below(all.len())];
            done.push(format!("{} {}", path.strip_prefix(&folder).unwrap().display(), alter(path, &mut rng)));
        }
        if rng.below(5) > 0 {
            seal(&folder);
        }
        let came = catch_unwind(AssertUnwindSafe(|| each(&folder)));
        assert!(came.is_ok(), "round {round}: {done:?}");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.retain(|name| name != "beside");
        assert!(left.is_empty(), "round {round}: {done:?} left {left:?}");
        let peak = peak_memory_mb().zip(before).map_or(0.0, |(now, before)| now - before);
        assert!(peak < MOST_MB, "round {round}: {done:?} took {peak} MB");
    }
    assert_eq!(std::fs::read(dir.path().join("beside")).unwrap(), b"precious");
}

#[test]
fn altered_models_harm_nothing() {
    let each = |folder: &Path| {
        drop(snapshot_manifest(folder));
        drop(predict(folder));
        drop(remove_snapshot(folder));
    };
    mutate(&Sound::get().model(), number("NESTLING_MUTATIONS", 300), reseal, each);
}

#[test]
fn altered_trainings_harm_nothing() {
    let seal = |training: &Path| {
        let checkpoints = std::fs::read_dir(training).unwrap().map(|entry| entry.unwrap().path());
        checkpoints.filter(|path| path.is_dir()).for_each(|path| reseal(&path));
    };
    let each = |folder: &Path| {
        // As it is called in a project.
        let training = folder.with_file_name("model-0001.training");
        std::fs::rename(folder, &training).unwrap();
        drop(interrupted(&training));
        drop(training_project(&training));
        let request = ResumeRequest {
            checkpoints: Checkpoints { folder: training.clone(), pace: Pace::Steps(1) },
            snapshot: training.with_file_name("model-0001"),
            project: None,
            threads: Some(1),
        };
        let (cancel, mut steps) = (AtomicBool::new(false), 0);
        let resumed = resume(&request, &cancel, &mut |event| {
            steps += usize::from(matches!(event, Event::Progress { .. }));
            cancel.store(steps > 1, Ordering::Relaxed);
        });
        if resumed.is_ok() {
            remove_snapshot(&request.snapshot).unwrap();
        }
        drop(remove_training(&training));
        if training.exists() {
            std::fs::remove_dir_all(training).unwrap();
        }
    };
    mutate(&Sound::get().training(), number("NESTLING_MUTATIONS", 300) / 2, seal, each);
}
