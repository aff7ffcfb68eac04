//! How the first programs wrote down which trainings a simulation had asked for: as text of their own making. It is only
//! compared, so that what they began can go on.

use crate::session::Config;
use serde_json::{Map, Value as Json};

/// The settings that these programs had, by the names of now.
const KNOWN: [&str; 25] = [
    "architecture",
    "encoder",
    "effort",
    "top_layers",
    "epochs",
    "self_training",
    "self_rounds",
    "self_epochs",
    "batch_size",
    "seed",
    "limit",
    "encoder_lr",
    "head_lr",
    "warmup",
    "weight_decay",
    "clip",
    "dropout",
    "w",
    "sp",
    "max_width",
    "word_shapes",
    "threshold",
    "nesting",
    "bf16",
    "processor",
];

/// What they wrote for trainings like these; `None` where these ask for something that they did not have.
pub(super) fn text(config: &Config) -> Option<String> {
    let (asked, usual) = (config.identity(), Config::default().identity());
    let is_usual = |key: &str, json: &Json| usual.get(key).unwrap_or(&Json::Null) == json;
    if !asked.iter().all(|(key, json)| KNOWN.contains(&key.as_str()) || is_usual(key, json)) {
        return None;
    }
    let name = |key: &str| asked.get(key).and_then(Json::as_str);
    let effort = match name("effort")? {
        "heads" => "TaskHead",
        "top" => "Top",
        _ => "Full",
    };
    let processor = match name("processor") {
        None => "None",
        Some("cpu") => "Some(Cpu)",
        Some("gpu") => "Some(Gpu)",
        Some(_) => "Some(Plain)",
    };
    let nesting = if name("nesting")? == "flat" { "Flat" } else { "Nested" };
    let Config { architecture, encoder, top_layers, epochs, self_training, self_rounds, self_epochs, .. } = config;
    let Config { batch_size, seed, limit, encoder_lr, head_lr, warmup, weight_decay, clip, bf16, .. } = config;
    let (dropout, threshold) = (config.dropout as f32, real(&asked, "threshold", 0.5) as f32);
    let (w, sp) = (real(&asked, "w", 0.2), real(&asked, "sp", 0.05) as f32);
    let max_width = asked.get("max_width").and_then(Json::as_u64).unwrap_or(20);
    let word_shapes = asked.get("word_shapes").and_then(Json::as_bool);
    Some(format!(
        "Config {{ architecture: {architecture:?}, encoder: {encoder:?}, effort: {effort}, top_layers: {top_layers:?}, \
         epochs: {epochs:?}, self_training: {self_training:?}, self_rounds: {self_rounds:?}, \
         self_epochs: {self_epochs:?}, batch_size: {batch_size:?}, seed: {seed:?}, limit: {limit:?}, threads: None, \
         encoder_lr: {encoder_lr:?}, head_lr: {head_lr:?}, warmup: {warmup:?}, weight_decay: {weight_decay:?}, \
         clip: {clip:?}, dropout: {dropout:?}, head_weight: {w:?}, sampling: {sp:?}, max_width: {max_width:?}, \
         word_shapes: {word_shapes:?}, threshold: {threshold:?}, nesting: {nesting}, bf16: {bf16:?}, \
         processor: {processor} }}"
    ))
}

fn real(asked: &Map<String, Json>, key: &str, usual: f64) -> f64 {
    asked.get(key).and_then(Json::as_f64).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As they wrote it: the derived text of their settings.
    #[test]
    fn what_the_first_programs_wrote_is_recognised() {
        let usual = "Config { architecture: \"smartspanner\", encoder: \"english\", effort: Full, top_layers: 2, \
                     epochs: None, self_training: None, self_rounds: 2, self_epochs: None, batch_size: 16, seed: 42, \
                     limit: None, threads: None, encoder_lr: None, head_lr: 0.001, warmup: 0.1, weight_decay: 0.01, \
                     clip: 1.0, dropout: 0.1, head_weight: 0.2, sampling: 0.05, max_width: 20, word_shapes: None, \
                     threshold: 0.5, nesting: Nested, bf16: true, processor: None }";
        assert_eq!(text(&Config::default()).as_deref(), Some(usual));
        let mut config = Config::default();
        for (key, value) in [("w", "0.3"), ("epochs", "3"), ("effort", "heads"), ("processor", "cpu"), ("threads", "2")]
        {
            config.set(key, value).unwrap();
        }
        let other = usual
            .replace("head_weight: 0.2", "head_weight: 0.3")
            .replace("epochs: None, self_t", "epochs: Some(3), self_t")
            .replace("effort: Full", "effort: TaskHead")
            .replace("processor: None", "processor: Some(Cpu)");
        assert_eq!(text(&config), Some(other));
    }
}
