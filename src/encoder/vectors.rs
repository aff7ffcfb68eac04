//! Word vectors that somebody else has trained, from a text file of GloVe or word2vec, made into an encoder.
//!
//! ```text
//! the 0.418 0.24968 -0.41242      GloVe: a word and its numbers on each line
//! 400000 100                      word2vec: how many words there are, and numbers of each; then lines like GloVe's
//! ```
//!
//! The encoder has the vectors as its table of word embeddings, which [`Layers::Static`](super::Layers::Static) gives as they
//! are, and one block above it that has learned nothing. A word is one subword; what the file does not have is `[UNK]`, of
//! zeros. Its config.json says which file it was made from, and the file's hash: so does every model that is trained with it.
//! The file itself is not needed any more.
//!
//! # Invariants
//! - Nothing is allocated for a number in the file: lines have a bound, and so have words and vectors.
//! - A file that was not read to its end as it should be is refused, with the line.
//!
//! Deliberately absent: word2vec's binary format, and subwords of fastText.

use super::error::EncoderError;
use super::folder::{CONFIG, Definition, Encoder, TOKENIZER};
use super::{Bert, Learning};
use crate::nn::{NnError, ParameterGroup, Vars};
use candle_core::{Device, Tensor};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

/// Words that are taken, at most: files have the most frequent ones first.
const MOST_WORDS: usize = 100_000;
/// Numbers of a vector.
const MOST_NUMBERS: usize = 1024;
/// Numbers of all vectors together: 160 MB.
const MOST_ALL: usize = 40_000_000;
/// Bytes of a line, which has room for [`MOST_NUMBERS`] numbers of 40 letters.
const MOST_LINE: u64 = 1 << 16;
const MOST_WORD: usize = 256;
/// Bytes of the file; the largest ones published have six thousand million.
const MOST_BYTES: u64 = 32 << 30;

const MARKS: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const WORDS: &str = "embeddings.word_embeddings.weight";
const OTHER_FILE: &str = "choose a text file of word vectors as GloVe and word2vec have them";
/// The key of config.json that says what the encoder was made from.
const SOURCE: &str = "word_vectors";

/// Vectors in the order of the file.
struct Vectors {
    words: Vec<String>,
    /// As many numbers for each word.
    numbers: Vec<f32>,
    width: usize,
    sha256: String,
}

/// Makes an encoder of a file.
///
/// # Errors
/// A file that can't be read, or is none of vectors: with the line.
pub(super) fn open(path: &Path) -> Result<Encoder, EncoderError> {
    let vectors = Vectors::read(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    vectors.encoder(&name, path)
}

/// Whether the config.json of an encoder says that it was made of word vectors.
pub(super) fn is_of_vectors(config: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(config).is_ok_and(|config| config.contains_key(SOURCE))
}

impl Vectors {
    fn read(path: &Path) -> Result<Self, EncoderError> {
        let failed = || EncoderError::io("can't read the file", path);
        let file = File::open(path).map_err(failed())?;
        if file.metadata().map_err(failed())?.len() > MOST_BYTES {
            return Err(EncoderError::bad_file("the file is larger than any of word vectors", OTHER_FILE, path));
        }
        let mut lines = Lines { file: BufReader::new(file), hash: Sha256::new(), number: 0, path };
        let mut vectors = Self { words: Vec::new(), numbers: Vec::new(), width: 0, sha256: String::new() };
        let (mut seen, mut announced) = (HashSet::new(), None);
        while let Some(line) = lines.next()? {
            if lines.number == 1
                && let Some((words, width)) = header(&line)
            {
                announced = Some(words);
                vectors.width = lines.width(width)?;
                continue;
            }
            if vectors.is_full() {
                // The rest counts for the hash alone.
                continue;
            }
            let (word, numbers) = lines.vector(&line, vectors.width)?;
            vectors.width = numbers.len();
            if seen.insert(word.to_owned()) && !MARKS.contains(&word) {
                vectors.words.push(word.to_owned());
                vectors.numbers.extend(numbers);
            }
        }
        if vectors.words.is_empty() {
            return Err(EncoderError::bad_file("there is no vector in the file", OTHER_FILE, path));
        }
        let lines_of_words = lines.number - usize::from(announced.is_some());
        if let Some(words) = announced.filter(|words| *words != lines_of_words) {
            let problem = format!("its first line announces {words} vectors, and {lines_of_words} follow");
            return Err(EncoderError::bad_file(problem, "get the file again from where it came from", path));
        }
        Ok(Self { sha256: hex::encode(lines.hash.finalize()), ..vectors })
    }

    fn is_full(&self) -> bool {
        self.words.len() >= MOST_WORDS || self.numbers.len() + self.width > MOST_ALL
    }

    /// `name` is that of the file.
    fn encoder(self, name: &str, path: &Path) -> Result<Encoder, EncoderError> {
        let vocabulary = MARKS.len() + self.words.len();
        let heads = [4, 2, 1].into_iter().find(|heads| self.width.is_multiple_of(*heads)).unwrap_or(1);
        let config = json!({
            "model_type": "bert", "vocab_size": vocabulary, "hidden_size": self.width, "num_hidden_layers": 1,
            "num_attention_heads": heads, "intermediate_size": 2 * self.width, "max_position_embeddings": 256,
            "type_vocab_size": 1, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
            SOURCE: { "file": name, "sha256": self.sha256, "words": self.words.len() },
        });
        // Where no word has a capital letter all words are looked up in small ones.
        let is_uncased = self.words.iter().all(|word| word.chars().all(|c| !c.is_uppercase()));
        let numbers: Map<String, Value> = MARKS
            .into_iter()
            .chain(self.words.iter().map(String::as_str))
            .zip(0_u32..)
            .map(|(word, number)| (word.to_owned(), number.into()))
            .collect();
        let tokenizer = json!({
            "version": "1.0",
            "normalizer": is_uncased.then(|| json!({ "type": "Lowercase" })),
            "pre_tokenizer": null,
            "added_tokens": [],
            "model": { "type": "WordLevel", "vocab": numbers, "unk_token": "[UNK]" },
        });
        let (config, tokenizer) = (config.to_string().into_bytes(), tokenizer.to_string().into_bytes());
        let definition = Definition::from_files(&[(CONFIG, &config), (TOKENIZER, &tokenizer)], path)?;
        let mut vars = Vars::trainable(0, &Device::Cpu);
        Bert::new(vars.scope("encoder", ParameterGroup::Encoder), definition.config(), Learning::All, 0.0)?;
        let values = vars.values().into_iter();
        let mut weights: HashMap<String, Tensor> =
            values.filter_map(|(name, value)| Some((name.strip_prefix("encoder.")?.to_owned(), value))).collect();
        for name in ["embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"] {
            if let Some(table) = weights.get_mut(name) {
                *table = table.zeros_like().map_err(NnError::from)?;
            }
        }
        let table = [vec![0.0; MARKS.len() * self.width], self.numbers].concat();
        let table = Tensor::from_vec(table, (vocabulary, self.width), &Device::Cpu).map_err(NnError::from)?;
        weights.insert(WORDS.to_owned(), table);
        Ok(Encoder::new(definition, weights))
    }
}

/// How many vectors of how many numbers, where the line says so as word2vec does.
fn header(line: &str) -> Option<(usize, usize)> {
    let (words, width) = line.trim_end().split_once(' ')?;
    Some((words.parse().ok()?, width.parse().ok()?))
}

/// The lines of a file, hashed as they come.
struct Lines<'p> {
    file: BufReader<File>,
    hash: Sha256,
    /// Of the line that came last, from 1 on.
    number: usize,
    path: &'p Path,
}

impl Lines<'_> {
    /// `None` at the end.
    fn next(&mut self) -> Result<Option<String>, EncoderError> {
        let mut line = Vec::new();
        let read = self.file.by_ref().take(MOST_LINE).read_until(b'\n', &mut line);
        if read.map_err(EncoderError::io("can't read the file", self.path))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if line.len() as u64 == MOST_LINE {
            return Err(self.bad(format!("is longer than {MOST_LINE} bytes")));
        }
        self.hash.update(&line);
        while line.last().is_some_and(|byte| byte.is_ascii_whitespace()) {
            line.pop();
        }
        String::from_utf8(line).map(Some).map_err(|_| self.bad("is not UTF-8".to_owned()))
    }

    /// A word, and its numbers: as many as the line before has, where that is not 0.
    fn vector<'l>(&self, line: &'l str, width: usize) -> Result<(&'l str, Vec<f32>), EncoderError> {
        // Some words of GloVe have spaces in them.
        let fields = line.split(' ').count();
        let expected = if width == 0 { self.width(fields.saturating_sub(1))? } else { width };
        let too_few = || self.bad(format!("is not a word and {expected} numbers"));
        if fields <= expected {
            return Err(too_few());
        }
        let mut fields = line.rsplitn(expected + 1, ' ');
        let mut numbers: Vec<f32> = Vec::with_capacity(expected);
        for field in fields.by_ref().take(expected) {
            let number = field.parse().ok().filter(|number: &f32| number.is_finite());
            numbers.push(number.ok_or_else(|| {
                let shown: String = field.chars().take(40).collect();
                self.bad(format!("has {shown:?} where one of {expected} numbers is expected"))
            })?);
        }
        let word = fields.next().filter(|word| !word.is_empty()).ok_or_else(too_few)?;
        if word.len() > MOST_WORD {
            return Err(self.bad(format!("has a word of more than {MOST_WORD} bytes")));
        }
        numbers.reverse();
        Ok((word, numbers))
    }

    fn width(&self, width: usize) -> Result<usize, EncoderError> {
        let fits = (1..=MOST_NUMBERS).contains(&width);
        if fits { Ok(width) } else { Err(self.bad(format!("has no word with 1 to {MOST_NUMBERS} numbers"))) }
    }

    fn bad(&self, problem: String) -> EncoderError {
        EncoderError::bad_file(format!("line {} {problem}", self.number), OTHER_FILE, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn table(encoder: &Encoder) -> Vec<Vec<f32>> {
        encoder.weights()[WORDS].to_vec2().unwrap()
    }

    #[test]
    fn vectors_of_both_programs_become_a_table_and_words_find_theirs() {
        let glove = "the 0.5 -1\n. . 1e-2 3\nharbour 2 4\nthe 9 9\n";
        let word2vec = format!("4 2\n{glove}");
        for text in [glove, &word2vec] {
            let file = file(text.as_bytes());
            let encoder = open(file.path()).unwrap();
            assert_eq!(table(&encoder)[..4], vec![vec![0.0, 0.0]; 4], "marks are nothing");
            assert_eq!(table(&encoder)[4..], [[0.5, -1.0], [0.01, 3.0], [2.0, 4.0]], "the first of two is taken");
            let definition = encoder.definition();
            let words = ["Harbour", "the", "quay"].map(str::to_owned);
            let aligned = definition.subwords().align(&words, 256).unwrap();
            assert_eq!(aligned.windows()[0].ids, [2, 6, 4, 1, 3], "between the marks; the last word is unknown");
            assert!(definition.is_uncased());
            let config = definition.files().find(|(name, _)| *name == CONFIG).unwrap().1;
            let said: Value = serde_json::from_slice(config).unwrap();
            assert_eq!(said[SOURCE]["sha256"], hex::encode(Sha256::digest(text)));
            assert!(is_of_vectors(config) && !is_of_vectors(b"{}") && !is_of_vectors(b"[]"));
        }
        let cased = file(b"The 1 2\nthe 3 4\n");
        assert!(!open(cased.path()).unwrap().definition().is_uncased());
    }

    #[test]
    fn the_encoder_is_written_and_read_as_any_other() {
        let file = file(b"the 0.5 -1 3\nharbour 2 4 1\n");
        let (encoder, folder) = (open(file.path()).unwrap(), tempfile::tempdir().unwrap());
        encoder.write(folder.path()).unwrap();
        let read = Encoder::open(folder.path()).unwrap();
        assert_eq!(table(&read), table(&encoder));
        assert_eq!(read.definition().config(), encoder.definition().config());
    }

    #[test]
    fn what_is_no_file_of_vectors_is_refused_with_the_line() {
        let check = |text: &[u8], want: Expect| {
            let file = file(text);
            let said = open(file.path()).err().map(|e| e.to_string()).unwrap_or_default();
            want.assert_eq(said.split(';').next().unwrap());
        };
        check(b"", expect!["there is no vector in the file"]);
        check(b"\n", expect!["line 1 has no word with 1 to 1024 numbers"]);
        check(b"the\n", expect!["line 1 has no word with 1 to 1024 numbers"]);
        check(b"the 1 2\na 1\n", expect!["line 2 is not a word and 2 numbers"]);
        check(b"the 1 2\na 1 x\n", expect![[r#"line 2 has "x" where one of 2 numbers is expected"#]]);
        check(b"the 1 2\na 1 NaN\n", expect![[r#"line 2 has "NaN" where one of 2 numbers is expected"#]]);
        check(b"the 1 2\n\xff 1 2\n", expect!["line 2 is not UTF-8"]);
        check(b"3 2\nthe 1 2\n", expect!["its first line announces 3 vectors, and 1 follow"]);
        check(b"9 99999\n", expect!["line 1 has no word with 1 to 1024 numbers"]);
        check(&[b'a'; 1 << 17], expect!["line 1 is longer than 65536 bytes"]);
        check(&[&[b'a'; 300][..], b" 1 2\n"].concat(), expect!["line 1 has a word of more than 256 bytes"]);
        check(br#"{"model_type": "bert"}"#, expect![[r#"line 1 has "\"bert\"}" where one of 1 numbers is expected"#]]);
    }
}
