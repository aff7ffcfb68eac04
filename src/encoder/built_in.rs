//! The encoders inside the program: one that has read English (`assets/encoder`, with its model card), and one that starts
//! from nothing.

use super::folder::{COMPACT, CONFIG, TOKENIZER_CONFIG, VOCABULARY};
use super::{Encoder, EncoderConfig, EncoderError, EncoderInfo};
use std::path::Path;

/// The built-in encoder that is pretrained: a student of all-MiniLM-L6-v2.
pub const ENGLISH: &str = "english";

/// The built-in encoder that starts from nothing.
pub const SMALL: &str = "small";

/// All of them, the one that new projects begin with first.
pub(super) const BUILT_IN: [&str; 2] = [ENGLISH, SMALL];

const FILES: [(&str, &[u8]); 4] = [
    (CONFIG, include_bytes!("../../assets/encoder/config.json")),
    (VOCABULARY, include_bytes!("../../assets/encoder/vocab.txt")),
    (TOKENIZER_CONFIG, include_bytes!("../../assets/encoder/tokenizer_config.json")),
    (COMPACT, include_bytes!("../../assets/encoder/compact.safetensors")),
];

/// The built-in encoder of a name, if there is one.
pub(super) fn get(name: &str) -> Option<Result<Encoder, EncoderError>> {
    match name {
        ENGLISH => Some(Encoder::from_files(&FILES, Path::new(ENGLISH))),
        SMALL => Some(Encoder::small()),
        _ => None,
    }
}

/// For a list; the vocabulary is not read for that.
pub(super) fn infos() -> Result<Vec<EncoderInfo>, EncoderError> {
    let [(_, config), .., (_, weights)] = FILES;
    let info = |name: &str, display_name: &str, config: &EncoderConfig, weights: usize| EncoderInfo {
        name: name.to_owned(),
        display_name: display_name.to_owned(),
        built_in: true,
        pretrained: weights > 0,
        kind: Some(config.kind),
        hidden: config.hidden,
        layers: config.layers,
        weights_bytes: weights as u64,
        problem: None,
    };
    let english = EncoderConfig::parse(config, Path::new(ENGLISH))?;
    Ok(vec![
        info(ENGLISH, "English, built in", &english, weights.len()),
        info(SMALL, "Any language, not pretrained", &EncoderConfig::small(), 0),
    ])
}
