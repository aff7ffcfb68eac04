//! Words to numbers.

use super::error::{GET_AGAIN, OTHER_ENCODER};
use super::kind::Marks;
use super::tokenizer::{self, MOST_CHARS, Problem, SPACE, Spaces, Splitter, Tokenizer};
use super::{Alignment, EncoderConfig, EncoderError, HashedWords, Pieces};
use std::path::Path;
use std::sync::Arc;
use tokenizers::ModelWrapper;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

/// What to do about a tokenizer that does not go with the rest.
const SAME_ENCODER: &str = "get tokenizer and config.json from the same encoder";
/// What masked words are called, in BERT's vocabularies and in RoBERTa's.
const MASKS: [&str; 2] = ["[MASK]", "<mask>"];
/// Words that are taken apart together; what the library makes of them is large.
const WORDS_AT_A_TIME: usize = 256;

/// How one encoder takes words apart.
#[derive(Clone, Debug)]
pub enum Subwords {
    /// Shared: a large vocabulary takes hundreds of megabytes.
    Tokenizer(Arc<Tokenized>),
    Hashed(HashedWords),
}

/// A checked tokenizer, and the numbers of its marks.
#[derive(Clone, Debug)]
pub struct Tokenized {
    pub(super) tokenizer: Tokenizer,
    cls: u32,
    sep: u32,
    unk: u32,
    /// What stands for a word that is left out; the mark for unknown ones where there is no such mark.
    mask: u32,
    /// Which words stand after a space, where the tokenizer marks spaces.
    spaces: Option<Spaces>,
    /// The mark of a space by itself, which no word is to begin with.
    bare_space: Option<u32>,
}

impl Subwords {
    /// From the bytes of a `tokenizer.json`; `path` is for messages.
    pub(super) fn from_json(
        json: &[u8],
        config: &EncoderConfig,
        spaces: Spaces,
        path: &Path,
    ) -> Result<Self, EncoderError> {
        let tokenizer = tokenizer::read(json, config.vocabulary).map_err(|e| refused(&e, path))?;
        Self::new(tokenizer, config, spaces, path)
    }

    /// From the bytes of a `vocab.txt`, one subword a line.
    pub(super) fn from_vocabulary(
        text: &[u8],
        lowercase: bool,
        config: &EncoderConfig,
        path: &Path,
    ) -> Result<Self, EncoderError> {
        let built = || {
            let breaks = text.iter().filter(|byte| **byte == b'\n').count();
            let lines = breaks + usize::from(!text.is_empty() && !text.ends_with(b"\n"));
            if lines > config.vocabulary {
                return Err(Problem::Numbers { numbers: lines, vocabulary: config.vocabulary });
            }
            let numbered = WordPiece::read_bytes(text).map_err(|e| Problem::unreadable(&e))?;
            let numbered = numbered.into_iter().collect();
            let model = tokenizer::word_piece(numbered, "[UNK]".to_owned(), "##".to_owned(), 100, config.vocabulary)?;
            let bert = BertNormalizer::new(true, true, None, lowercase);
            tokenizer::build(model, Some(bert.into()), Some(BertPreTokenizer.into()), Vec::new())
        };
        Self::new(built().map_err(|e| refused(&e, path))?, config, Spaces::AsInText, path)
    }

    /// From the bytes of a `vocab.json`, which numbers subwords of bytes, and a `merges.txt`, two subwords a line.
    pub(super) fn from_merges(
        (pieces, pieces_path): (&[u8], &Path),
        (merges, merges_path): (&[u8], &Path),
        config: &EncoderConfig,
    ) -> Result<Self, EncoderError> {
        let pieces =
            tokenizer::parse_vocabulary_json(pieces, config.vocabulary).map_err(|e| refused(&e, pieces_path))?;
        let pairs = tokenizer::parse_merges(merges, config.vocabulary).map_err(|e| refused(&e, merges_path))?;
        let built = tokenizer::bpe(pieces, pairs, config.vocabulary)
            .and_then(|model| tokenizer::build(model, None, Some(ByteLevel::default().into()), Vec::new()));
        let built = built.map_err(|e| match e {
            Problem::Numbers { .. } => refused(&e, pieces_path),
            _ => refused(&e, merges_path),
        });
        Self::new(built?, config, Spaces::AsInText, pieces_path)
    }

    fn new(
        mut tokenizer: Tokenizer,
        config: &EncoderConfig,
        spaces: Spaces,
        path: &Path,
    ) -> Result<Self, EncoderError> {
        // The number of subwords is not enough: there may be gaps between their numbers.
        let vocabulary = tokenizer.get_vocab(true);
        let numbers = vocabulary.values().max().map_or(0, |last| *last as usize + 1);
        if numbers > config.vocabulary {
            return Err(refused(&Problem::Numbers { numbers, vocabulary: config.vocabulary }, path));
        }
        let splitter = tokenizer.get_pre_tokenizer().cloned();
        let mark = splitter.as_ref().and_then(Splitter::mark);
        // Some files have normalizers mark the spaces.
        let mark = mark.or_else(|| matches!(tokenizer.get_model(), ModelWrapper::Unigram(_)).then_some(SPACE));
        let number_of_mark = |mark: char| vocabulary.get(mark.encode_utf8(&mut [0; 4]) as &str).copied();
        let bare_space = mark.filter(|_| spaces == Spaces::AsInText).and_then(number_of_mark);
        let spaces_said = mark.map(|_| spaces);
        tokenizer.with_pre_tokenizer(splitter.map(|splitter| splitter.for_words(spaces)));
        let number = |mark: &str| vocabulary.get(mark).copied();
        let [own, other] = config.kind.marks();
        let numbers_of = |[cls, sep, unk]: Marks| Some((number(cls)?, number(sep)?, number(unk)?));
        let (cls, sep, unk) = numbers_of(own).or_else(|| numbers_of(other)).ok_or_else(|| {
            let missing = own.into_iter().find(|mark| number(mark).is_none()).unwrap_or_default();
            let [own, other] = [own, other].map(|[cls, sep, unk]| format!("{cls}, {sep} and {unk}"));
            let problem = format!("the tokenizer has no {missing}, expected {own}, or {other}");
            EncoderError::bad_file(problem, SAME_ENCODER, path)
        })?;
        let mask = MASKS.into_iter().find_map(number).unwrap_or(unk);
        let subwords =
            Self::Tokenizer(Arc::new(Tokenized { tokenizer, cls, sep, unk, mask, spaces: spaces_said, bare_space }));
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
            Self::Tokenizer(_) => 1,
            Self::Hashed(_) => HashedWords::PIECES,
        }
    }

    /// What stands for a word that is left out; `None` where words have no subwords of a vocabulary.
    pub fn mask(&self) -> Option<u32> {
        if let Self::Tokenizer(of) = self { Some(of.mask) } else { None }
    }

    /// Which words are told to stand after a space, where the tokenizer marks spaces.
    pub(super) fn spaces(&self) -> Option<Spaces> {
        if let Self::Tokenizer(of) = self { of.spaces } else { None }
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
            Self::Tokenizer(of) => [vec![of.cls], vec![of.sep]],
            Self::Hashed(_) => HashedWords::MARKS.map(|mark| mark.to_vec()),
        };
        Ok(Alignment::new(&self.ids(words)?, [&marks[0], &marks[1]], self.pieces(), limit))
    }

    /// At least one subword for each word.
    fn ids(&self, words: &[String]) -> Result<Vec<Vec<u32>>, EncoderError> {
        let of = match self {
            Self::Hashed(hashed) => return Ok(words.iter().map(|word| hashed.ids(word)).collect()),
            Self::Tokenizer(of) => of,
        };
        let mut ids: Vec<Vec<u32>> = vec![Vec::new(); words.len()];
        for (words, ids) in words.chunks(WORDS_AT_A_TIME).zip(ids.chunks_mut(WORDS_AT_A_TIME)) {
            let words: Vec<&str> = words.iter().map(|word| beginning(word)).collect();
            // Not `encode_fast`, which leaves out to which word a subword belongs.
            let encode = || of.tokenizer.encode(words, false).map_err(|e| Problem::Fault(e.to_string()));
            let encoding = tokenizer::caught(encode).map_err(|e| match e {
                Problem::Fault(reason) => EncoderError::Subwords(reason),
                other => EncoderError::Subwords(other.to_string()),
            })?;
            for (id, word) in encoding.get_ids().iter().zip(encoding.get_word_ids()) {
                if let Some(pieces) = word.and_then(|w| ids.get_mut(w as usize)) {
                    pieces.push(*id);
                }
            }
        }
        for pieces in &mut ids {
            if let Some(space) = of.bare_space {
                drop_spaces(pieces, space);
            }
            if pieces.is_empty() {
                pieces.push(of.unk);
            }
        }
        Ok(ids)
    }
}

/// Drops the marks of a space that a word begins with, where more than these is left of it. The rest is what the model
/// makes of the word without them: the best way through all of a word is the best one through each of its parts.
fn drop_spaces(pieces: &mut Vec<u32>, space: u32) {
    let marks = pieces.iter().take_while(|piece| **piece == space).count();
    pieces.drain(..marks.min(pieces.len().saturating_sub(1)));
}

/// As much of a word as is looked at.
fn beginning(word: &str) -> &str {
    if word.len() <= MOST_CHARS {
        return word;
    }
    word.char_indices().nth(MOST_CHARS).map_or(word, |(end, _)| &word[..end])
}

fn refused(problem: &Problem, path: &Path) -> EncoderError {
    let hint = match problem {
        Problem::Numbers { .. } => SAME_ENCODER,
        Problem::Unreadable(_) => GET_AGAIN,
        _ => OTHER_ENCODER,
    };
    EncoderError::bad_file(problem.to_string(), hint, path)
}
