//! The model of a tokenizer: its subwords and their numbers, and how parts of words become those.

use super::problem::{MOST_SUBWORD_BYTES, Problem};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::HashSet;
use std::fmt;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::unigram::Unigram;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{AddedToken, ModelWrapper};

/// WordPiece takes the third power of a part's length; longer parts are unknown. BERT's own number is 100.
const MOST_PART_CHARS: usize = 512;
/// What stands before or after subwords that are no whole words.
const MOST_AFFIX_BYTES: usize = 64;
/// Subwords beside the model's.
const MOST_ADDED: usize = 1 << 16;
/// Nodes of the trie of a Unigram model, some 350 bytes each: for each subword, and of all together.
const NODES_A_SUBWORD: usize = 16;
const MOST_NODES: usize = 8 << 20;

/// As `tokenizer.json` has it. Which subwords are left out at random (`dropout`) is a matter of the training that made it.
#[derive(Deserialize)]
pub(super) struct Model {
    #[serde(rename = "type")]
    kind: Option<Kind>,
    vocab: Vocabulary,
    merges: Option<Merges>,
    unk_token: Option<String>,
    unk_id: Option<usize>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    max_input_chars_per_word: Option<u64>,
    fuse_unk: Option<bool>,
    byte_fallback: Option<bool>,
    ignore_merges: Option<bool>,
}

#[derive(Deserialize)]
enum Kind {
    #[serde(rename = "BPE")]
    Bpe,
    WordPiece,
    WordLevel,
    Unigram,
}

enum Vocabulary {
    /// Subwords with their numbers.
    Numbered(Vec<(String, u32)>),
    /// Subwords with their scores; their places are their numbers.
    Scored(Vec<(String, f64)>),
}

/// Pairs of subwords that become one, the most important first.
struct Merges(Vec<(String, String)>);

impl Model {
    pub(super) fn build(self, vocabulary: usize) -> Result<ModelWrapper, Problem> {
        let kind = match (&self.kind, &self.vocab) {
            (Some(kind), _) => kind,
            // Files of before don't say.
            (None, Vocabulary::Scored(_)) => &Kind::Unigram,
            (None, _) if self.merges.is_some() => &Kind::Bpe,
            (None, _) if self.continuing_subword_prefix.is_some() => &Kind::WordPiece,
            (None, _) => &Kind::WordLevel,
        };
        let affix = |affix: &Option<String>| affix.as_ref().map_or(0, String::len);
        let longest = affix(&self.continuing_subword_prefix).max(affix(&self.end_of_word_suffix));
        Problem::too_much("bytes of what marks parts of words", longest, MOST_AFFIX_BYTES)?;
        match (kind, self.vocab) {
            (Kind::Unigram, Vocabulary::Scored(subwords)) => {
                unigram(subwords, self.unk_id, self.byte_fallback.unwrap_or(false), vocabulary)
            }
            (Kind::WordPiece, Vocabulary::Numbered(subwords)) => {
                let chars = self.max_input_chars_per_word.and_then(|chars| usize::try_from(chars).ok());
                let unknown = self.unk_token.unwrap_or_else(|| "[UNK]".to_owned());
                let prefix = self.continuing_subword_prefix.unwrap_or_else(|| "##".to_owned());
                word_piece(subwords, unknown, prefix, chars.unwrap_or(100), vocabulary)
            }
            (Kind::WordLevel, Vocabulary::Numbered(subwords)) => {
                check_numbered(&subwords, vocabulary)?;
                let unknown = self.unk_token.unwrap_or_else(|| "<unk>".to_owned());
                let built =
                    WordLevel::builder().vocab(subwords.into_iter().collect::<Vocab>()).unk_token(unknown).build();
                Ok(built.map_err(|e| Problem::unreadable(&e))?.into())
            }
            (Kind::Bpe, Vocabulary::Numbered(subwords)) => {
                let merges = self.merges.ok_or_else(|| Problem::Model("the tokenizer has no merges".to_owned()))?;
                let more = Bpe {
                    unknown: self.unk_token,
                    prefix: self.continuing_subword_prefix,
                    suffix: self.end_of_word_suffix,
                    fuse_unknown: self.fuse_unk.unwrap_or(false),
                    byte_fallback: self.byte_fallback.unwrap_or(false),
                    ignore_merges: self.ignore_merges.unwrap_or(false),
                };
                more.build(subwords, merges.0, vocabulary)
            }
            _ => Err(Problem::Model("the tokenizer's vocabulary is of another kind than its model".to_owned())),
        }
    }
}

/// A model of BERT's kind.
pub(in super::super) fn word_piece(
    subwords: Vec<(String, u32)>,
    unknown: String,
    prefix: String,
    part_chars: usize,
    vocabulary: usize,
) -> Result<ModelWrapper, Problem> {
    check_numbered(&subwords, vocabulary)?;
    let built = WordPiece::builder()
        .vocab(subwords.into_iter().collect::<Vocab>())
        .unk_token(unknown)
        .continuing_subword_prefix(prefix)
        .max_input_chars_per_word(part_chars.min(MOST_PART_CHARS))
        .build();
    Ok(built.map_err(|e| Problem::unreadable(&e))?.into())
}

/// A model of RoBERTa's kind.
pub(in super::super) fn bpe(
    subwords: Vec<(String, u32)>,
    merges: Vec<(String, String)>,
    vocabulary: usize,
) -> Result<ModelWrapper, Problem> {
    Bpe::default().build(subwords, merges, vocabulary)
}

#[derive(Default)]
struct Bpe {
    unknown: Option<String>,
    prefix: Option<String>,
    suffix: Option<String>,
    fuse_unknown: bool,
    byte_fallback: bool,
    ignore_merges: bool,
}

impl Bpe {
    fn build(
        self,
        subwords: Vec<(String, u32)>,
        merges: Vec<(String, String)>,
        vocabulary: usize,
    ) -> Result<ModelWrapper, Problem> {
        check_numbered(&subwords, vocabulary)?;
        self.check_merges(&subwords, &merges)?;
        let mut builder = BPE::builder()
            .vocab_and_merges(subwords.into_iter().collect::<Vocab>(), merges)
            .fuse_unk(self.fuse_unknown)
            .byte_fallback(self.byte_fallback)
            .ignore_merges(self.ignore_merges);
        if let Some(unknown) = self.unknown {
            builder = builder.unk_token(unknown);
        }
        if let Some(prefix) = self.prefix {
            builder = builder.continuing_subword_prefix(prefix);
        }
        if let Some(suffix) = self.suffix {
            builder = builder.end_of_word_suffix(suffix);
        }
        Ok(builder.build().map_err(|e| Problem::unreadable(&e))?.into())
    }

    /// The library cuts as many bytes off the second subword as the prefix has, wherever that is, and writes both into a
    /// buffer of the longest subword's size.
    fn check_merges(&self, subwords: &[(String, u32)], merges: &[(String, String)]) -> Result<(), Problem> {
        let known: HashSet<&str> = subwords.iter().map(|(subword, _)| subword.as_str()).collect();
        let prefix = self.prefix.as_deref().unwrap_or("");
        let mut both = String::new();
        for (number, (left, right)) in (1..).zip(merges) {
            let lacks = |subword: &str| !known.contains(subword);
            let fits = !lacks(left)
                && !lacks(right)
                && right.strip_prefix(prefix).is_some_and(|rest| {
                    both.clear();
                    both.push_str(left);
                    both.push_str(rest);
                    !lacks(&both)
                });
            if !fits {
                let message = format!("merge {number} of the tokenizer is of subwords that its vocabulary lacks");
                return Err(Problem::Model(message));
            }
        }
        Ok(())
    }
}

fn unigram(
    subwords: Vec<(String, f64)>,
    unknown: Option<usize>,
    byte_fallback: bool,
    vocabulary: usize,
) -> Result<ModelWrapper, Problem> {
    if subwords.len() > vocabulary {
        return Err(Problem::Numbers { numbers: subwords.len(), vocabulary });
    }
    subwords.iter().try_for_each(|(subword, _)| check_subword(subword))?;
    if let Some(place) = subwords.iter().position(|(_, score)| !score.is_finite()) {
        return Err(Problem::Model(format!("the score of subword {place} of the tokenizer is not finite")));
    }
    let most = subwords.len().saturating_mul(NODES_A_SUBWORD).min(MOST_NODES);
    Problem::too_much("beginnings of subwords", beginnings(&subwords), most)?;
    Ok(Unigram::from(subwords, unknown, byte_fallback).map_err(|e| Problem::unreadable(&e))?.into())
}

/// How many beginnings the subwords have, themselves included, each counted once.
fn beginnings(subwords: &[(String, f64)]) -> usize {
    let mut sorted: Vec<&[u8]> = subwords.iter().map(|(subword, _)| subword.as_bytes()).collect();
    sorted.sort_unstable();
    let mut before: &[u8] = b"";
    let mut count = 0;
    for subword in sorted {
        let shared = subword.iter().zip(before).take_while(|(a, b)| a == b).count();
        count += subword.len() - shared;
        before = subword;
    }
    count
}

fn check_numbered(subwords: &[(String, u32)], vocabulary: usize) -> Result<(), Problem> {
    let numbers = subwords.iter().map(|(_, number)| *number as usize + 1).max().unwrap_or(0);
    if numbers > vocabulary {
        return Err(Problem::Numbers { numbers, vocabulary });
    }
    subwords.iter().try_for_each(|(subword, _)| check_subword(subword))
}

fn check_subword(subword: &str) -> Result<(), Problem> {
    Problem::too_much("bytes of a subword", subword.len(), MOST_SUBWORD_BYTES)
}

/// Subwords beside the model's, such as marks.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct AddedTokens(Vec<AddedToken>);

impl AddedTokens {
    pub(super) fn check(self) -> Result<Vec<AddedToken>, Problem> {
        Problem::too_much("added_tokens of the tokenizer", self.0.len(), MOST_ADDED)?;
        self.0.iter().try_for_each(|token| check_subword(&token.content))?;
        Ok(self.0)
    }
}

/// Reads a `vocab.json`.
///
/// # Errors
/// When it is no object of numbers, or larger than the encoder.
pub(in super::super) fn parse_vocabulary_json(json: &[u8], vocabulary: usize) -> Result<Vec<(String, u32)>, Problem> {
    super::shape::check(json, vocabulary)?;
    match serde_json::from_slice(json).map_err(|e| Problem::unreadable(&e))? {
        Vocabulary::Numbered(subwords) => Ok(subwords),
        Vocabulary::Scored(_) => Err(Problem::unreadable(&"expected an object with subwords and their numbers")),
    }
}

/// Reads a `merges.txt`.
///
/// # Errors
/// When a line does not have two subwords, or there are more lines than subwords that they could make.
pub(in super::super) fn parse_merges(text: &[u8], vocabulary: usize) -> Result<Vec<(String, String)>, Problem> {
    let text = std::str::from_utf8(text).map_err(|e| Problem::unreadable(&e))?;
    let mut pairs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || (number == 0 && line.starts_with("#version")) {
            continue;
        }
        let Some((left, right)) = line.split_once(' ') else {
            return Err(Problem::unreadable(&format!("line {} has no two subwords", number + 1)));
        };
        pairs.push((left.to_owned(), right.to_owned()));
        // Some merges are never used; more than a few a subword would be no vocabulary.
        Problem::too_much("lines of merges", pairs.len(), vocabulary.saturating_mul(4))?;
    }
    Ok(pairs)
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vocabulary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("subwords with numbers or scores")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
                let mut subwords = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    subwords.push(entry);
                }
                Ok(Vocabulary::Numbered(subwords))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vocabulary, A::Error> {
                let mut subwords = Vec::new();
                while let Some(entry) = list.next_element()? {
                    subwords.push(entry);
                }
                Ok(Vocabulary::Scored(subwords))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Merges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs: Vec<Merge> = Vec::deserialize(deserializer)?;
        Ok(Self(pairs.into_iter().map(|Merge(pair)| pair).collect()))
    }
}

/// `"a b"`, or `["a", "b"]`.
struct Merge((String, String));

impl<'de> Deserialize<'de> for Merge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Merge;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two subwords")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Merge, E> {
                let (left, right) = text.split_once(' ').ok_or_else(|| E::custom("a merge has no two subwords"))?;
                Ok(Merge((left.to_owned(), right.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge, A::Error> {
                let mut next = || list.next_element()?.ok_or_else(|| A::Error::custom("a merge has no two subwords"));
                let pair = (next()?, next()?);
                match list.next_element::<serde::de::IgnoredAny>()? {
                    None => Ok(Merge(pair)),
                    Some(_) => Err(A::Error::custom("a merge has more than two subwords")),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn built(json: Value, vocabulary: usize) -> Result<ModelWrapper, Problem> {
        serde_json::from_value::<Model>(json).map_err(|e| Problem::unreadable(&e))?.build(vocabulary)
    }

    fn refused(json: Value, want: &str) {
        let message = built(json, 10).unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    }

    #[test]
    fn models_of_before_are_known_by_what_they_have() {
        let kinds = [
            (json!({"vocab": [["<unk>", 0.0]], "unk_id": 0}), "Unigram"),
            (json!({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "continuing_subword_prefix": ""}), "BPE"),
            (json!({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}), "BPE"),
            (
                json!({"vocab": {"a": 0}, "continuing_subword_prefix": "##", "unk_token": "a", "max_input_chars_per_word": 100}),
                "WordPiece",
            ),
            (json!({"vocab": {"a": 0}, "unk_token": "a"}), "WordLevel"),
        ];
        for (json, want) in kinds {
            let got = match built(json, 10).unwrap() {
                ModelWrapper::BPE(_) => "BPE",
                ModelWrapper::WordPiece(_) => "WordPiece",
                ModelWrapper::WordLevel(_) => "WordLevel",
                ModelWrapper::Unigram(_) => "Unigram",
            };
            assert_eq!(got, want);
        }
    }

    #[test]
    fn numbers_and_merges_that_don_t_fit_are_refused() {
        refused(json!({"type": "WordLevel", "vocab": {"a": u32::MAX}}), "numbers 4,294,967,296 subwords");
        refused(json!({"type": "WordLevel", "vocab": {"a": 1u64 << 32}}), "can't be read");
        refused(json!({"type": "WordPiece", "vocab": {"a": 10}}), "numbers 11 subwords");
        refused(json!({"type": "Unigram", "vocab": vec![json!(["a", 0.0]); 11]}), "numbers 11 subwords");
        refused(json!({"type": "Unigram", "vocab": {"a": 1}}), "of another kind");
        refused(json!({"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 9}), "can't be read");
        refused(json!({"type": "Unigram", "vocab": [["a".repeat(513), 0.0]]}), "bytes of a subword");
        refused(json!({"type": "Unigram", "vocab": [["a".repeat(100), 0.0]]}), "beginnings of subwords");
        refused(json!({"type": "BPE", "vocab": {"a": 0}}), "no merges");
        // The library panics at these, or makes a text that is none.
        let bpe = |prefix: &str, merge: [&str; 2]| json!({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u{e4}": 3}, "merges": [merge], "continuing_subword_prefix": prefix});
        refused(bpe("", ["ab", "ab"]), "merge 1");
        refused(bpe("", ["a", "x"]), "merge 1");
        refused(bpe("##", ["a", "b"]), "merge 1");
        refused(bpe("x", ["a", "\u{e4}"]), "merge 1");
        refused(bpe(&"x".repeat(65), ["a", "b"]), "marks parts of words");
        refused(json!({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]}), "no two subwords");
        refused(json!({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a", "a"]]}), "more than two");
    }

    #[test]
    fn lines_of_merges_are_bounded_by_the_vocabulary() {
        let pairs = parse_merges(b"#version: 0.2\na b\n\nc d\n", 1).unwrap();
        assert_eq!(pairs.len(), 2);
        assert!(parse_merges(&b"a b\n".repeat(5), 1).is_err());
        assert!(parse_merges(b"ab\n", 1).is_err());
        assert!(parse_vocabulary_json(b"[[\"a\", 1]]", 1).is_err());
        assert_eq!(parse_vocabulary_json(b"{\"a\": 1}", 1).unwrap(), [("a".to_owned(), 1)]);
    }

    #[test]
    fn each_beginning_is_counted_once() {
        let of = |subwords: &[&str]| beginnings(&subwords.iter().map(|s| ((*s).to_owned(), 0.0)).collect::<Vec<_>>());
        assert_eq!(of(&["ab", "abc", "b", "abd", "ab", ""]), 5);
    }
}
