//! An encoder as it comes from a folder.

use super::error::GET_AGAIN;
use super::kind::{HASHED, Kind};
use super::{EncoderConfig, EncoderError, HashedWords, Subwords, weights};
use candle_core::Tensor;
use std::collections::HashMap;
use std::path::Path;

pub(super) const CONFIG: &str = "config.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(super) const PIECES: &str = "vocab.json";
pub(super) const MERGES: &str = "merges.txt";
pub(super) const WEIGHTS: &str = "model.safetensors";
/// All that can be of use; the rest of a folder is left alone.
pub(super) const FILES: [&str; 7] = [CONFIG, TOKENIZER, VOCABULARY, PIECES, MERGES, TOKENIZER_CONFIG, WEIGHTS];

/// All of an encoder but its weights: what a snapshot keeps beside its own weights.
#[derive(Clone, Debug)]
pub struct Definition {
    config: EncoderConfig,
    subwords: Subwords,
    uncased: bool,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Definition {
    /// Reads config.json and tokenizer.json (or the vocabulary) of a folder.
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
    /// Reads a folder: config.json, tokenizer.json or a vocabulary, model.safetensors.
    ///
    /// # Errors
    /// See [`EncoderError`]: every way in which a folder can be unfit has a message of its own.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        let definition = Definition::open(folder)?;
        let path = folder.join(WEIGHTS);
        if !path.is_file() {
            let hint = weights_hint(|name| folder.join(name).is_file());
            return Err(missing(WEIGHTS, hint.unwrap_or("get it from where the encoder came from"), folder));
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

    /// The weights by the names that [`super::Bert`] gives them; they are all there or none.
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
    if config.kind == Kind::Roberta {
        return read_byte_level(folder, config, files);
    }
    let path = folder.join(VOCABULARY);
    let text = read_if_there(&path)?;
    let text = text.ok_or_else(|| {
        missing_tokenizer(VOCABULARY, "get it, or tokenizer.json, from where the encoder came from", folder)
    })?;
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

/// RoBERTa's vocabulary of before tokenizer.json.
fn read_byte_level(
    folder: &Path,
    config: &EncoderConfig,
    files: &mut Vec<(&'static str, Vec<u8>)>,
) -> Result<Subwords, EncoderError> {
    let (pieces_path, merges_path) = (folder.join(PIECES), folder.join(MERGES));
    let (Some(pieces), Some(merges)) = (read_if_there(&pieces_path)?, read_if_there(&merges_path)?) else {
        let hint = "get it, or vocab.json and merges.txt, from where the encoder came from";
        return Err(missing_tokenizer(TOKENIZER, hint, folder));
    };
    let subwords = Subwords::from_merges((&pieces, &pieces_path), (&merges, &merges_path), config)?;
    files.extend([(PIECES, pieces), (MERGES, merges)]);
    Ok(subwords)
}

fn missing_tokenizer(file: &'static str, hint: &'static str, folder: &Path) -> EncoderError {
    let is_sentence_piece = ["sentencepiece.bpe.model", "spiece.model"].iter().any(|name| folder.join(name).is_file());
    let hint = if is_sentence_piece {
        "its vocabulary is SentencePiece's, which the Hugging Face libraries turn into tokenizer.json \
         (AutoTokenizer.from_pretrained and save_pretrained)"
    } else {
        hint
    };
    missing(if is_sentence_piece { TOKENIZER } else { file }, hint, folder)
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

/// What to do where there are weights of another form; `has` tells which files are there.
pub(super) fn weights_hint(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    if has("model.safetensors.index.json") {
        Some(
            "its weights are in several files; write them as one with the Hugging Face libraries (save_pretrained with \
             a larger max_shard_size), or choose a smaller encoder",
        )
    } else if has("pytorch_model.bin") {
        Some(
            "its pytorch_model.bin is a pickle, which can run any code when read; convert it with the Hugging Face \
             libraries (save_pretrained writes safetensors)",
        )
    } else {
        None
    }
}
