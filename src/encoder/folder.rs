//! An encoder as it comes from a folder.

use super::config::HASHED;
use super::error::GET_AGAIN;
use super::{EncoderConfig, EncoderError, HashedWords, Subwords, weights};
use candle_core::Tensor;
use std::collections::HashMap;
use std::path::Path;

pub(super) const CONFIG: &str = "config.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(super) const WEIGHTS: &str = "model.safetensors";

/// All of an encoder but its weights: what a snapshot keeps beside its own weights.
#[derive(Clone, Debug)]
pub struct Definition {
    config: EncoderConfig,
    subwords: Subwords,
    uncased: bool,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Definition {
    /// Reads config.json and tokenizer.json (or vocab.txt) of a folder.
    ///
    /// # Errors
    /// On a missing file, or one that says what can't run here.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        check_folder(folder)?;
        let path = folder.join(CONFIG);
        let hint = "choose a folder with an encoder in the format of Hugging Face";
        let json = read_if_there(&path)?.ok_or_else(|| missing(CONFIG, hint, folder))?;
        let config = EncoderConfig::parse(&json, &path)?;
        let mut files = vec![(CONFIG, json)];
        let subwords = match Subwords::for_hashed(&config) {
            Some(hashed) => hashed,
            None => read_subwords(folder, &config, &mut files)?,
        };
        Self::new(config, subwords, files)
    }

    /// The built-in encoder that starts from nothing.
    pub(super) fn small() -> Result<Self, EncoderError> {
        let config = HashedWords::config();
        let json = config.to_json().into_bytes();
        let subwords = Subwords::for_hashed(&config).ok_or_else(|| EncoderError::Subwords(HASHED.to_owned()))?;
        Self::new(config, subwords, vec![(CONFIG, json)])
    }

    fn new(
        config: EncoderConfig,
        subwords: Subwords,
        files: Vec<(&'static str, Vec<u8>)>,
    ) -> Result<Self, EncoderError> {
        let uncased = subwords.is_uncased()?;
        Ok(Self { config, subwords, uncased, files })
    }

    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    pub fn subwords(&self) -> &Subwords {
        &self.subwords
    }

    /// True when upper and lower case look the same to it.
    pub fn is_uncased(&self) -> bool {
        self.uncased
    }

    /// Names and contents of the files that [`Definition::open`] needs.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        self.files.iter().map(|(name, bytes)| (*name, bytes.as_slice()))
    }
}

/// A definition and the weights to start from; none where training starts from nothing.
#[derive(Clone, Debug)]
pub struct Encoder {
    definition: Definition,
    weights: HashMap<String, Tensor>,
}

impl Encoder {
    /// Reads a folder: config.json, tokenizer.json or vocab.txt, model.safetensors (with or without a `bert.` prefix).
    ///
    /// # Errors
    /// See [`EncoderError`]: every way in which a folder can be unfit has a message of its own.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        let definition = Definition::open(folder)?;
        let path = folder.join(WEIGHTS);
        if !path.is_file() {
            return Err(missing(WEIGHTS, weights_hint(folder), folder));
        }
        let weights = weights::read(&path, definition.config())?;
        Ok(Self { definition, weights })
    }

    /// The built-in encoder that starts from nothing.
    pub(super) fn small() -> Result<Self, EncoderError> {
        Ok(Self { definition: Definition::small()?, weights: HashMap::new() })
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The weights by Hugging Face's names without prefix; they are all there or none.
    pub fn weights(&self) -> &HashMap<String, Tensor> {
        &self.weights
    }
}

fn read_subwords(
    folder: &Path,
    config: &EncoderConfig,
    files: &mut Vec<(&'static str, Vec<u8>)>,
) -> Result<Subwords, EncoderError> {
    let path = folder.join(TOKENIZER);
    if let Some(json) = read_if_there(&path)? {
        let subwords = Subwords::from_json(&json, config, &path)?;
        files.push((TOKENIZER, json));
        return Ok(subwords);
    }
    let path = folder.join(VOCABULARY);
    let hint = "get it, or tokenizer.json, from where the encoder came from";
    let text = read_if_there(&path)?.ok_or_else(|| missing(VOCABULARY, hint, folder))?;
    let settings_path = folder.join(TOKENIZER_CONFIG);
    let settings = read_if_there(&settings_path)?;
    let said = settings.as_deref().map(serde_json::from_slice::<serde_json::Value>).transpose();
    let said =
        said.map_err(|e| EncoderError::bad_file(format!("the file is no JSON ({e})"), GET_AGAIN, &settings_path))?;
    // Hugging Face's default where the file is missing or silent.
    let lowercase = said.and_then(|json| json.get("do_lower_case")?.as_bool()).unwrap_or(true);
    let subwords = Subwords::from_vocabulary(&text, lowercase, config, &path)?;
    files.push((VOCABULARY, text));
    files.extend(settings.map(|json| (TOKENIZER_CONFIG, json)));
    Ok(subwords)
}

fn check_folder(folder: &Path) -> Result<(), EncoderError> {
    let problem = match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "this is a file",
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => "there is no such folder",
        Err(e) => return Err(EncoderError::io("can't read the folder", folder)(e)),
    };
    Err(EncoderError::NoFolder { problem, path: folder.to_owned() })
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, EncoderError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(EncoderError::io("can't read the file", path)(e)),
    }
}

fn missing(file: &'static str, hint: &'static str, folder: &Path) -> EncoderError {
    EncoderError::MissingFile { file, hint, folder: folder.to_owned() }
}

fn weights_hint(folder: &Path) -> &'static str {
    if folder.join("model.safetensors.index.json").is_file() {
        "its weights are in several files; write them as one with the Hugging Face libraries (save_pretrained with a \
         larger max_shard_size), or choose a smaller encoder"
    } else if folder.join("pytorch_model.bin").is_file() {
        "its pytorch_model.bin is a pickle, which can run any code when read; convert it with the Hugging Face libraries \
         (save_pretrained writes safetensors)"
    } else {
        "get it from where the encoder came from"
    }
}
