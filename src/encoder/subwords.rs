//! Words to numbers.

use super::error::GET_AGAIN;
use super::kind::Marks;
use super::{Alignment, EncoderConfig, EncoderError, HashedWords, Pieces};
use std::path::Path;
use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

/// What to do about a tokenizer that does not go with the rest.
const SAME_ENCODER: &str = "get tokenizer and config.json from the same encoder";

/// How one encoder takes words apart.
#[derive(Clone, Debug)]
pub enum Subwords {
    Tokenizer { tokenizer: Box<Tokenizer>, cls: u32, sep: u32, unk: u32 },
    Hashed(HashedWords),
}

impl Subwords {
    /// From the bytes of a `tokenizer.json`; `path` is for messages.
    pub(super) fn from_json(json: &[u8], config: &EncoderConfig, path: &Path) -> Result<Self, EncoderError> {
        let tokenizer = Tokenizer::from_bytes(json).map_err(|e| unreadable(&*e, path))?;
        Self::new(tokenizer, config, path)
    }

    /// From the bytes of a `vocab.txt`, one subword a line.
    pub(super) fn from_vocabulary(
        text: &[u8],
        lowercase: bool,
        config: &EncoderConfig,
        path: &Path,
    ) -> Result<Self, EncoderError> {
        let vocabulary = WordPiece::read_bytes(text).map_err(|e| unreadable(&*e, path))?;
        let model = WordPiece::builder().vocab(vocabulary).build().map_err(|e| unreadable(&*e, path))?;
        let mut tokenizer = Tokenizer::new(model);
        tokenizer
            .with_normalizer(Some(BertNormalizer::new(true, true, None, lowercase)))
            .map_err(|e| unreadable(&*e, path))?
            .with_pre_tokenizer(Some(BertPreTokenizer));
        Self::new(tokenizer, config, path)
    }

    /// From the bytes of a `vocab.json`, which numbers subwords of bytes, and a `merges.txt`, two subwords a line.
    pub(super) fn from_merges(
        (pieces, pieces_path): (&[u8], &Path),
        (merges, merges_path): (&[u8], &Path),
        config: &EncoderConfig,
    ) -> Result<Self, EncoderError> {
        let pieces: std::collections::HashMap<String, u32> =
            serde_json::from_slice(pieces).map_err(|e| unreadable(&e, pieces_path))?;
        let merges = std::str::from_utf8(merges).map_err(|e| unreadable(&e, merges_path))?;
        let mut pairs = Merges::new();
        for (number, line) in merges.lines().enumerate() {
            if line.is_empty() || (number == 0 && line.starts_with("#version")) {
                continue;
            }
            let Some((left, right)) = line.split_once(' ') else {
                return Err(unreadable(&format!("line {} has no two subwords", number + 1), merges_path));
            };
            pairs.push((left.to_owned(), right.to_owned()));
        }
        let pieces: Vocab = pieces.into_iter().collect();
        let model = BPE::builder().vocab_and_merges(pieces, pairs).build().map_err(|e| unreadable(&*e, merges_path))?;
        let mut tokenizer = Tokenizer::new(model);
        tokenizer.with_pre_tokenizer(Some(ByteLevel::default()));
        Self::new(tokenizer, config, pieces_path)
    }

    fn new(mut tokenizer: Tokenizer, config: &EncoderConfig, path: &Path) -> Result<Self, EncoderError> {
        // The number of subwords is not enough: there may be gaps between their numbers.
        let vocabulary = tokenizer.get_vocab(true);
        let numbers = vocabulary.values().max().map_or(0, |last| *last as usize + 1);
        if numbers > config.vocabulary {
            let expected = config.vocabulary;
            let problem =
                format!("the tokenizer numbers {numbers} subwords, but vocab_size of config.json says {expected}");
            return Err(EncoderError::bad_file(problem, SAME_ENCODER, path));
        }
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| unreadable(&*e, path))?;
        // A text that happens to hold "[SEP]" is text.
        tokenizer.set_encode_special_tokens(true);
        let before = tokenizer.get_pre_tokenizer().cloned();
        tokenizer.with_pre_tokenizer(before.map(after_a_space));
        let number = |mark: &str| vocabulary.get(mark).copied();
        let [own, other] = config.kind.marks();
        let numbers_of = |[cls, sep, unk]: Marks| Some((number(cls)?, number(sep)?, number(unk)?));
        let (cls, sep, unk) = numbers_of(own).or_else(|| numbers_of(other)).ok_or_else(|| {
            let missing = own.into_iter().find(|mark| number(mark).is_none()).unwrap_or_default();
            let [own, other] = [own, other].map(|[cls, sep, unk]| format!("{cls}, {sep} and {unk}"));
            let problem = format!("the tokenizer has no {missing}, expected {own}, or {other}");
            EncoderError::bad_file(problem, SAME_ENCODER, path)
        })?;
        let subwords = Self::Tokenizer { tokenizer: Box::new(tokenizer), cls, sep, unk };
        // A tokenizer that fails at what it does not know would fail in the middle of a training.
        subwords.ids(&["\u{10fffd}".to_owned(), "\u{301}".to_owned()]).map_err(|e| {
            let problem = format!("the tokenizer fails at an unknown character ({e})");
            EncoderError::bad_file(problem, SAME_ENCODER, path)
        })?;
        Ok(subwords)
    }

    pub(super) fn for_hashed(config: &EncoderConfig) -> Option<Self> {
        match config.pieces {
            Pieces::Hashed { buckets } => Some(Self::Hashed(HashedWords::new(buckets))),
            Pieces::Tokenizer => None,
        }
    }

    /// Numbers that each position of a window has.
    pub fn pieces(&self) -> usize {
        match self {
            Self::Tokenizer { .. } => 1,
            Self::Hashed(_) => HashedWords::PIECES,
        }
    }

    /// True when upper and lower case look the same to the encoder.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn is_uncased(&self) -> Result<bool, EncoderError> {
        let [upper, lower] = ["The Paris", "the paris"].map(|t| t.split(' ').map(str::to_owned).collect::<Vec<_>>());
        Ok(self.ids(&upper)? == self.ids(&lower)?)
    }

    /// Lays a sentence out for an encoder of at most `limit` positions.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn align(&self, words: &[String], limit: usize) -> Result<Alignment, EncoderError> {
        let marks: [Vec<u32>; 2] = match self {
            Self::Tokenizer { cls, sep, .. } => [vec![*cls], vec![*sep]],
            Self::Hashed(_) => HashedWords::MARKS.map(|mark| mark.to_vec()),
        };
        Ok(Alignment::new(&self.ids(words)?, [&marks[0], &marks[1]], self.pieces(), limit))
    }

    /// At least one subword for each word.
    fn ids(&self, words: &[String]) -> Result<Vec<Vec<u32>>, EncoderError> {
        let (tokenizer, unk) = match self {
            Self::Hashed(hashed) => return Ok(words.iter().map(|word| hashed.ids(word)).collect()),
            Self::Tokenizer { tokenizer, unk, .. } => (tokenizer, *unk),
        };
        // Not `encode_fast`, which leaves out to which word a subword belongs.
        let encoding = tokenizer.encode(words, false).map_err(|e| EncoderError::Subwords(e.to_string()))?;
        let mut ids: Vec<Vec<u32>> = vec![Vec::new(); words.len()];
        for (id, word) in encoding.get_ids().iter().zip(encoding.get_word_ids()) {
            if let Some(pieces) = word.and_then(|w| ids.get_mut(w as usize)) {
                pieces.push(*id);
            }
        }
        for pieces in ids.iter_mut().filter(|pieces| pieces.is_empty()) {
            pieces.push(unk);
        }
        Ok(ids)
    }
}

/// Words come one by one, and each is one after a space: tokenizers that mark the space must see it.
fn after_a_space(pre_tokenizer: PreTokenizerWrapper) -> PreTokenizerWrapper {
    match pre_tokenizer {
        PreTokenizerWrapper::ByteLevel(bytes) => bytes.add_prefix_space(true).into(),
        PreTokenizerWrapper::Metaspace(mut spaces) => {
            spaces.set_prepend_scheme(PrependScheme::Always);
            spaces.into()
        }
        PreTokenizerWrapper::Sequence(mut steps) => {
            // Steps after one that takes words apart see pieces.
            let whole = |step: &&mut PreTokenizerWrapper| !matches!(step, PreTokenizerWrapper::WhitespaceSplit(_));
            if let Some(step) = steps.as_mut().iter_mut().find(whole) {
                *step = after_a_space(step.clone());
            }
            steps.into()
        }
        other => other,
    }
}

fn unreadable(error: &dyn std::fmt::Display, path: &Path) -> EncoderError {
    EncoderError::bad_file(format!("the tokenizer can't be read ({error})"), GET_AGAIN, path)
}
