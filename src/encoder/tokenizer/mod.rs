//! A `tokenizer.json` from anybody: read here, checked, and only then built from the parts of the library `tokenizers`.
//!
//! The library's own reader believes the file: a length in it is allocated, a table is indexed, a panic is its way to say
//! no. So that reader is never called. What is read here is what turns words into numbers; truncation, padding, the
//! post-processor and the decoder are of no use to us and are left where they are.
//!
//! # Invariants
//! - No allocation follows a number in the file, only what is there: its bytes ([`MOST_BYTES`]), its nesting and its
//!   number of values ([`shape`]), the vocabulary that `config.json` declares.
//! - What a word costs is bounded by a multiple of its length: words are cut ([`MOST_CHARS`]), and a word that the
//!   normalizers blow up is unknown ([`Steps`]).
//! - A pattern matches at least one character, and is matched in linear time ([`pattern`]).
//! - Tables are walked once, so that no character can lead out of them ([`charsmap`]).
//!
//! Deliberately absent: kinds of parts that no encoder of BERT's family has.

mod charsmap;
mod model;
mod normalizer;
mod pattern;
mod problem;
mod shape;
mod spaces;
mod splits;
#[cfg(test)]
mod tests;

pub(super) use model::{bpe, parse_merges, parse_vocabulary_json, word_piece};
pub(super) use normalizer::Steps;
pub(super) use problem::{MOST_BYTES, MOST_CHARS, Problem};
pub(super) use spaces::{SPACE, Spaces, Splitter};

use model::{AddedTokens, Model};
use serde::Deserialize;
use splits::Splits;
use tokenizers::{
    AddedToken, DecoderWrapper, ModelWrapper, NormalizedString, Normalizer as _, PostProcessorWrapper,
    PreTokenizerWrapper, TokenizerImpl,
};

/// What words are taken apart by.
pub(super) type Tokenizer = TokenizerImpl<ModelWrapper, Steps, Splitter, PostProcessorWrapper, DecoderWrapper>;

/// What of the file is read.
#[derive(Deserialize)]
struct File {
    version: Option<String>,
    normalizer: Option<normalizer::Normalizer>,
    pre_tokenizer: Option<Splits>,
    added_tokens: Option<AddedTokens>,
    model: Model,
}

/// Reads the bytes of a `tokenizer.json`; `vocabulary` is the number of subwords that the encoder has vectors for.
///
/// # Errors
/// When it is damaged, has parts that don't work here, or asks for more than a tokenizer needs.
pub(super) fn read(json: &[u8], vocabulary: usize) -> Result<Tokenizer, Problem> {
    shape::check(json, vocabulary)?;
    let file: File = serde_json::from_slice(json).map_err(|e| Problem::unreadable(&e))?;
    if let Some(other) = file.version.filter(|version| version != "1.0") {
        return Err(Problem::unreadable(&format!("its version is not \"1.0\" but {other:?}")));
    }
    let steps = file.normalizer.map(normalizer::Normalizer::build).transpose()?;
    let splits = file.pre_tokenizer.map(Splits::build).transpose()?;
    let added = file.added_tokens.map_or_else(|| Ok(Vec::new()), AddedTokens::check)?;
    let model = file.model.build(vocabulary)?;
    build(model, steps, splits, added)
}

/// Puts checked parts together.
///
/// # Errors
/// When the library refuses them.
pub(super) fn build(
    model: ModelWrapper,
    steps: Option<Steps>,
    splits: Option<PreTokenizerWrapper>,
    mut added: Vec<AddedToken>,
) -> Result<Tokenizer, Problem> {
    caught(|| {
        if let Some(steps) = &steps {
            for token in added.iter_mut().filter(|token| token.normalized) {
                let mut text = NormalizedString::from(token.content.as_str());
                steps.normalize(&mut text).map_err(|e| Problem::unreadable(&e))?;
                // Where nothing is left of it, the library would find it everywhere.
                token.normalized = !text.is_empty();
            }
        }
        let mut tokenizer = Tokenizer::new(model);
        tokenizer.with_normalizer(steps).map_err(|e| Problem::unreadable(&e))?;
        tokenizer.with_pre_tokenizer(splits.map(Splitter::as_written));
        tokenizer.add_tokens(added).map_err(|e| Problem::unreadable(&e))?;
        // A text that happens to hold "[SEP]" is text.
        tokenizer.set_encode_special_tokens(true);
        Ok(tokenizer)
    })
}

/// Runs what the library does. What was checked should not make it panic; if it does, that is an error like any other.
///
/// # Errors
/// Those of `work`, and [`Problem::Fault`] for a panic.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    // Nothing that `work` changes is looked at after a panic: tokenizers are thrown away, or read only.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Problem::Fault(said.unwrap_or_else(|| "no reason given".to_owned())))
    })
}
