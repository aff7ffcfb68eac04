//! An encoder as it comes from a folder.

use super::entity_heads::{self, ENTITIES, EntityHeads};
use super::error::{GET_AGAIN, OTHER_ENCODER};
use super::kind::{HASHED, Kind};
use super::tokenizer::{self, Spaces};
use super::{EncoderConfig, EncoderError, Subwords, weights};
use crate::disk::{self, Hidden, NewFolder};
use crate::nn::write_tensors;
use crate::wording;
use candle_core::Tensor;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

pub(super) const CONFIG: &str = "config.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(super) const PIECES: &str = "vocab.json";
pub(super) const MERGES: &str = "merges.txt";
/// How words are told to stand after a space; see [`Spaces`]. Written where the tokenizer marks spaces.
pub(super) const WORDS: &str = "nestling-words.json";
pub(super) const WEIGHTS: &str = "model.safetensors";
/// Weights of fewer bits; see [`super::compact`].
pub(super) const COMPACT: &str = "compact.safetensors";
/// All that can be of use; the rest of a folder is left alone.
pub(super) const FILES: [&str; 10] =
    [CONFIG, TOKENIZER, WORDS, VOCABULARY, PIECES, MERGES, TOKENIZER_CONFIG, WEIGHTS, COMPACT, ENTITIES];

/// Bytes that a file can have that is not of the encoder's weights; those of published encoders have a third of it or less.
pub(super) fn most_bytes(name: &str) -> u64 {
    match name {
        CONFIG | WORDS => 1 << 20,
        TOKENIZER_CONFIG => 8 << 20,
        ENTITIES => entity_heads::MOST_BYTES,
        _ => tokenizer::MOST_BYTES,
    }
}

/// Where files come from: the content of the one with a name, if it is there.
type Source<'a> = dyn Fn(&str) -> Result<Option<Vec<u8>>, EncoderError> + 'a;

/// All of an encoder but its weights: what a snapshot keeps beside its own weights.
#[derive(Clone, Debug)]
pub struct Definition {
    config: EncoderConfig,
    subwords: Subwords,
    uncased: bool,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Definition {
    /// Names of all files that a definition may have.
    pub const FILES: [&str; 7] = [CONFIG, TOKENIZER, WORDS, VOCABULARY, PIECES, MERGES, TOKENIZER_CONFIG];

    /// Reads config.json and tokenizer.json (or the vocabulary) of a folder.
    ///
    /// # Errors
    /// On a missing file, or one that says what can't run here.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        check_folder(folder)?;
        Self::from_source(folder, Spaces::AsInText, &|name| read_if_there(&folder.join(name), most_bytes(name)))
    }

    /// That of a model, from what `read` gives for each name, if anything; `folder` is for messages. Where nothing says
    /// how words were told to stand after a space, the model is one of the first programs'.
    ///
    /// # Errors
    /// See [`Definition::open`].
    pub fn from_bytes(folder: &Path, read: &mut dyn FnMut(&str) -> Option<Vec<u8>>) -> Result<Self, EncoderError> {
        let read = std::cell::RefCell::new(read);
        Self::from_source(folder, Spaces::BeforeEveryWord, &|name| Ok((*read.borrow_mut())(name)))
    }

    /// The same from files in memory; `folder` is for messages.
    pub(super) fn from_files(files: &[(&'static str, &[u8])], folder: &Path) -> Result<Self, EncoderError> {
        Self::from_source(folder, Spaces::AsInText, &|name| Ok(in_memory(files, name).map(<[u8]>::to_vec)))
    }

    /// `unsaid` is for a tokenizer that marks spaces, where no file says before which words.
    fn from_source(folder: &Path, unsaid: Spaces, read: &Source<'_>) -> Result<Self, EncoderError> {
        let hint = "choose a folder with an encoder in the format of Hugging Face";
        let json = read(CONFIG)?.ok_or_else(|| missing(CONFIG, hint, folder))?;
        let config = EncoderConfig::parse(&json, &folder.join(CONFIG))?;
        let mut files = vec![(CONFIG, json)];
        let subwords = match Subwords::for_hashed(&config) {
            Some(hashed) => hashed,
            None => read_subwords(folder, unsaid, read, &config, &mut files)?,
        };
        Self::new(config, subwords, files)
    }

    /// The built-in encoder that starts from nothing.
    pub(super) fn small() -> Result<Self, EncoderError> {
        let config = EncoderConfig::small();
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

    pub(super) fn write(&self, folder: &Path) -> Result<(), EncoderError> {
        for (name, bytes) in &self.files {
            write_file(&folder.join(name), bytes)?;
        }
        Ok(())
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
    entity_heads: Option<EntityHeads>,
}

impl Encoder {
    /// Reads a folder: config.json, tokenizer.json or a vocabulary, model.safetensors.
    ///
    /// # Errors
    /// See [`EncoderError`]: every way in which a folder can be unfit has a message of its own.
    pub fn open(folder: &Path) -> Result<Self, EncoderError> {
        let definition = Definition::open(folder)?;
        let there = [WEIGHTS, COMPACT].into_iter().map(|name| folder.join(name)).find(|path| path.is_file());
        let Some(path) = there else {
            let hint = weights_hint(|name| folder.join(name).is_file());
            return Err(missing(WEIGHTS, hint.unwrap_or("get it from where the encoder came from"), folder));
        };
        let bytes = read_if_there(&path, weights::most_bytes(definition.config()))?.unwrap_or_default();
        let weights = weights::read(&bytes, definition.config(), &path)?;
        Ok(Self { definition, weights, entity_heads: read_heads(folder)? })
    }

    /// The same from files in memory with compact weights; `folder` is for messages.
    pub(super) fn from_files(files: &[(&'static str, &[u8])], folder: &Path) -> Result<Self, EncoderError> {
        let definition = Definition::from_files(files, folder)?;
        let path = folder.join(COMPACT);
        let weights = weights::read(in_memory(files, COMPACT).unwrap_or_default(), definition.config(), &path)?;
        Ok(Self { definition, weights, entity_heads: heads_in_memory(files, folder)? })
    }

    pub(super) fn new(definition: Definition, weights: HashMap<String, Tensor>) -> Self {
        Self { definition, weights, entity_heads: None }
    }

    /// The same encoder with other weights, by the names that [`super::Bert`] gives them. It has no heads: they would have
    /// learned with others.
    #[must_use]
    pub fn with_weights(&self, weights: HashMap<String, Tensor>) -> Self {
        Self::new(self.definition.clone(), weights)
    }

    #[must_use]
    pub fn with_entity_heads(self, heads: EntityHeads) -> Self {
        Self { entity_heads: Some(heads), ..self }
    }

    /// Writes config.json, the tokenizer's files and model.safetensors into an empty folder, as other programs read them, and
    /// the heads if there are any.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, folder: &Path) -> Result<(), EncoderError> {
        self.definition.write(folder)?;
        let kind = self.definition.config().kind;
        let tensors: BTreeMap<String, Tensor> =
            self.weights.iter().map(|(name, tensor)| (kind.name_in_file(name), tensor.clone())).collect();
        write_tensors(&folder.join(WEIGHTS), &tensors)?;
        self.write_heads(folder)
    }

    pub(super) fn write_heads(&self, folder: &Path) -> Result<(), EncoderError> {
        let Some(heads) = &self.entity_heads else { return Ok(()) };
        write_file(&folder.join(ENTITIES), &heads.to_file()?)
    }

    /// The built-in encoder that starts from nothing.
    pub(super) fn small() -> Result<Self, EncoderError> {
        Ok(Self::new(Definition::small()?, HashMap::new()))
    }

    /// Writes a folder of its own, whole or not at all: as [`Encoder::write`] does, or [`Encoder::write_compact`], and another
    /// file beside that.
    ///
    /// # Errors
    /// When the disk refuses, or there is something at the place.
    pub fn save(&self, place: &Path, compact: bool, also: (&str, &[u8])) -> Result<(), EncoderError> {
        let parent = disk::folder_of(place);
        std::fs::create_dir_all(parent).map_err(EncoderError::io("can't make the folder", parent))?;
        let made = NewFolder::beside(place, Hidden::private(".encoder-"));
        let beside = made.map_err(EncoderError::io("can't make a folder", parent))?;
        if compact {
            self.write_compact(beside.path())?;
        } else {
            self.write(beside.path())?;
        }
        write_file(&beside.path().join(also.0), also.1)?;
        beside.put().map_err(EncoderError::io("can't name the folder", place))
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// How many numbers its weights are.
    pub fn parameters(&self) -> usize {
        self.weights.values().map(Tensor::elem_count).sum()
    }

    /// The weights by the names that [`super::Bert`] gives them; they are all there or none.
    pub fn weights(&self) -> &HashMap<String, Tensor> {
        &self.weights
    }

    /// What it learned on entities above its weights, if it did.
    pub fn entity_heads(&self) -> Option<&EntityHeads> {
        self.entity_heads.as_ref()
    }
}

/// What `nestling-words.json` says.
#[derive(serde::Serialize, serde::Deserialize)]
struct Words {
    spaces: Spaces,
}

impl Words {
    fn to_json(&self) -> Vec<u8> {
        format!("{:#}\n", serde_json::json!(self)).into_bytes()
    }
}

fn parse<'a, T: serde::Deserialize<'a>>(json: &'a [u8], path: &Path) -> Result<T, EncoderError> {
    serde_json::from_slice(json).map_err(|e| {
        let what = if e.is_data() { "the file says what can't be" } else { "the file is not JSON" };
        EncoderError::bad_file(format!("{what} ({e})"), GET_AGAIN, path)
    })
}

/// What of `tokenizer_config.json` is read.
#[derive(serde::Deserialize)]
struct TokenizerConfig {
    do_lower_case: Option<serde_json::Value>,
}

fn read_subwords(
    folder: &Path,
    unsaid: Spaces,
    read: &Source<'_>,
    config: &EncoderConfig,
    files: &mut Vec<(&'static str, Vec<u8>)>,
) -> Result<Subwords, EncoderError> {
    if let Some(json) = read(TOKENIZER)? {
        let said = read(WORDS)?.map(|json| parse::<Words>(&json, &folder.join(WORDS))).transpose()?;
        let spaces = said.map_or(unsaid, |words| words.spaces);
        let subwords = Subwords::from_json(&json, config, spaces, &folder.join(TOKENIZER))?;
        files.push((TOKENIZER, json));
        files.extend(subwords.spaces().map(|spaces| (WORDS, Words { spaces }.to_json())));
        return Ok(subwords);
    }
    if config.kind == Kind::Roberta {
        return read_byte_level(folder, read, config, files);
    }
    let text = read(VOCABULARY)?.ok_or_else(|| {
        missing_tokenizer(VOCABULARY, "get it, or tokenizer.json, from where the encoder came from", folder)
    })?;
    let settings = read(TOKENIZER_CONFIG)?;
    let said = settings.as_deref().map(|json| parse::<TokenizerConfig>(json, &folder.join(TOKENIZER_CONFIG)));
    let said = said.transpose()?;
    // Hugging Face's default where the file is missing or silent.
    let lowercase = said.and_then(|said| said.do_lower_case?.as_bool()).unwrap_or(true);
    let subwords = Subwords::from_vocabulary(&text, lowercase, config, &folder.join(VOCABULARY))?;
    files.push((VOCABULARY, text));
    files.extend(settings.map(|json| (TOKENIZER_CONFIG, json)));
    Ok(subwords)
}

/// RoBERTa's vocabulary of before tokenizer.json.
fn read_byte_level(
    folder: &Path,
    read: &Source<'_>,
    config: &EncoderConfig,
    files: &mut Vec<(&'static str, Vec<u8>)>,
) -> Result<Subwords, EncoderError> {
    let (Some(pieces), Some(merges)) = (read(PIECES)?, read(MERGES)?) else {
        let hint = "get it, or vocab.json and merges.txt, from where the encoder came from";
        return Err(missing_tokenizer(TOKENIZER, hint, folder));
    };
    let (pieces_path, merges_path) = (folder.join(PIECES), folder.join(MERGES));
    let subwords = Subwords::from_merges((&pieces, &pieces_path), (&merges, &merges_path), config)?;
    files.extend([(PIECES, pieces), (MERGES, merges)]);
    Ok(subwords)
}

fn missing_tokenizer(file: &'static str, hint: &'static str, folder: &Path) -> EncoderError {
    let is_sentence_piece =
        ["sentencepiece.bpe.model", "spiece.model", "spm.model"].iter().any(|name| folder.join(name).is_file());
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

/// Writes a file of a folder in the making.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), EncoderError> {
    disk::write_new(path, bytes).map_err(EncoderError::io("can't write the file", path))
}

/// What an encoder's folder has of heads that learned with it, if anything.
fn read_heads(folder: &Path) -> Result<Option<EntityHeads>, EncoderError> {
    let path = folder.join(ENTITIES);
    read_if_there(&path, entity_heads::MOST_BYTES)?.map(|bytes| EntityHeads::read(&bytes, &path)).transpose()
}

/// The same of files in memory; `folder` is for messages.
fn heads_in_memory(files: &[(&'static str, &[u8])], folder: &Path) -> Result<Option<EntityHeads>, EncoderError> {
    in_memory(files, ENTITIES).map(|bytes| EntityHeads::read(bytes, &folder.join(ENTITIES))).transpose()
}

/// What the trainer has to know of the heads in an encoder's folder, if there are any.
pub(super) fn read_heads_note(folder: &Path) -> Result<Option<String>, EncoderError> {
    let path = folder.join(ENTITIES);
    read_if_there(&path, entity_heads::MOST_BYTES)?.map(|bytes| EntityHeads::read_note(&bytes, &path)).transpose()
}

fn in_memory<'a>(files: &[(&'static str, &'a [u8])], name: &str) -> Option<&'a [u8]> {
    files.iter().find(|(of, _)| *of == name).map(|(_, bytes)| *bytes)
}

/// The content of a file of at most `most` bytes. A link is followed (caches are made of links), but only to a file.
fn read_if_there(path: &Path, most: u64) -> Result<Option<Vec<u8>>, EncoderError> {
    let failed = || EncoderError::io("can't read the file", path);
    let length = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => {
            let hint = "put the file itself there, as it came from where the encoder came from";
            return Err(EncoderError::bad_file("this is no file", hint, path));
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed()(e)),
    };
    let mut bytes = Vec::new();
    if length <= most {
        let file = File::open(path).map_err(failed())?;
        bytes.reserve_exact(usize::try_from(length).unwrap_or(0));
        // It may have grown since.
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed())?;
    }
    if length.max(bytes.len() as u64) > most {
        let problem =
            format!("the file has {}, but at most {} make sense", wording::bytes(length), wording::bytes(most));
        return Err(EncoderError::bad_file(problem, OTHER_ENCODER, path));
    }
    Ok(Some(bytes))
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
