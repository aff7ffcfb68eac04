//! The numbers that say how an encoder is built, read from `config.json`.

use super::error::{GET_AGAIN, OTHER_ENCODER};
use super::kind::{HASHED, Kind};
use super::{EncoderError, HashedWords};
use serde_json::Value;
use std::path::Path;

/// Positions of a window, however many an encoder has: what attention takes grows with their square.
const MOST_POSITIONS: usize = 2048;
/// Numbers that all weights together can be; a large encoder has half a billion.
const MOST_PARAMETERS: u64 = 1 << 32;

/// How words become numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pieces {
    /// By the tokenizer of the folder: one number a subword.
    Tokenizer,
    /// By hashing parts of the word: one subword a word, of several numbers whose vectors are added.
    Hashed { buckets: usize },
}

/// An encoder's shape.
#[derive(Clone, PartialEq, Debug)]
pub struct EncoderConfig {
    /// What its files call things; the numbers below are all that the forward pass needs.
    pub kind: Kind,
    pub pieces: Pieces,
    pub vocabulary: usize,
    /// Width of the embedding tables. Where it is not `hidden`, a linear layer makes it so.
    pub embedding: usize,
    /// H, a multiple of `attention_heads`.
    pub hidden: usize,
    pub layers: usize,
    pub attention_heads: usize,
    /// Width of the inner layer of a block's feed-forward part.
    pub inner: usize,
    /// Rows of the table of positions.
    pub max_positions: usize,
    /// The row of a window's first position; those before it are not used.
    pub position_offset: usize,
    /// 0 where there is no table of token types.
    pub token_types: usize,
    pub norm_eps: f64,
}

impl EncoderConfig {
    /// Reads `config.json`; `path` is for messages.
    pub(super) fn parse(json: &[u8], path: &Path) -> Result<Self, EncoderError> {
        let json = serde_json::from_slice(json)
            .map_err(|e| EncoderError::bad_file(format!("the file is not JSON ({e})"), GET_AGAIN, path))?;
        let file = File { json, path };
        let kind = file.kind()?;
        let keys = kind.keys();
        file.check_rest(keys.activation)?;
        let hidden = file.number(keys.hidden, 1, 16_384)?;
        let attention_heads = file.number(keys.attention_heads, 1, 1024)?;
        if !hidden.is_multiple_of(attention_heads) {
            let problem =
                format!("{} {hidden} is not a multiple of {} {attention_heads}", keys.hidden, keys.attention_heads);
            return Err(EncoderError::bad_file(problem, GET_AGAIN, path));
        }
        let vocabulary = file.number("vocab_size", 1, 4_000_000)?;
        // RoBERTa numbers positions from the one after that of padding.
        let position_offset = match kind {
            Kind::Roberta => 1 + file.number_or("pad_token_id", 0, 1 << 16, Some(1))?,
            Kind::Bert | Kind::DistilBert | Kind::Electra => 0,
        };
        let config = Self {
            kind,
            pieces: if file.is_hashed() { file.hashed_pieces(vocabulary)? } else { Pieces::Tokenizer },
            vocabulary,
            embedding: match kind {
                Kind::Electra => file.number_or("embedding_size", 1, 16_384, Some(128))?,
                Kind::Bert | Kind::Roberta | Kind::DistilBert => hidden,
            },
            hidden,
            layers: file.number(keys.layers, 1, 256)?,
            attention_heads,
            inner: file.number(keys.inner, 1, 131_072)?,
            // A word needs a place between the two marks.
            max_positions: file.number("max_position_embeddings", position_offset + 3, 1 << 20)?,
            position_offset,
            token_types: match kind {
                Kind::DistilBert => 0,
                Kind::Bert | Kind::Roberta | Kind::Electra => file.number_or("type_vocab_size", 1, 1024, Some(2))?,
            },
            norm_eps: file.norm_eps()?,
        };
        if config.parameters() > MOST_PARAMETERS {
            let problem = format!(
                "it describes an encoder of {} numbers, but at most {MOST_PARAMETERS} work here",
                config.parameters()
            );
            return Err(EncoderError::bad_file(problem, OTHER_ENCODER, path));
        }
        Ok(config)
    }

    /// The shape of the built-in encoder that starts from nothing, chosen by measuring (docs/learner.md).
    pub(super) fn small() -> Self {
        let buckets = 4096;
        Self {
            kind: Kind::Bert,
            pieces: Pieces::Hashed { buckets },
            vocabulary: HashedWords::vocabulary(buckets),
            embedding: 128,
            hidden: 128,
            layers: 2,
            attention_heads: 4,
            inner: 256,
            max_positions: 256,
            position_offset: 0,
            token_types: 1,
            norm_eps: 1e-12,
        }
    }

    /// Names and shapes of the weights that [`Bert`](super::Bert) declares.
    pub(super) fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (e, h, inner) = (self.embedding, self.hidden, self.inner);
        let mut shapes = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![self.vocabulary, e]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![self.max_positions, e]),
            ("embeddings.LayerNorm.weight".to_owned(), vec![e]),
            ("embeddings.LayerNorm.bias".to_owned(), vec![e]),
        ];
        if self.token_types > 0 {
            shapes.push(("embeddings.token_type_embeddings.weight".to_owned(), vec![self.token_types, e]));
        }
        if e != h {
            shapes.push(("embeddings_project.weight".to_owned(), vec![h, e]));
            shapes.push(("embeddings_project.bias".to_owned(), vec![h]));
        }
        for i in 0..self.layers {
            let mut dense = |name: &str, inputs: usize, outputs: usize| {
                let stem = format!("encoder.layer.{i}.{name}");
                shapes.push((format!("{stem}.weight"), vec![outputs, inputs]));
                shapes.push((format!("{stem}.bias"), vec![outputs]));
            };
            for name in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
            {
                dense(name, h, h);
            }
            dense("intermediate.dense", h, inner);
            dense("output.dense", inner, h);
            for norm in ["attention.output.LayerNorm", "output.LayerNorm"] {
                for part in ["weight", "bias"] {
                    shapes.push((format!("encoder.layer.{i}.{norm}.{part}"), vec![h]));
                }
            }
        }
        shapes
    }

    /// How many numbers the weights are.
    pub(super) fn parameters(&self) -> u64 {
        let size = |shape: &[usize]| shape.iter().fold(1u64, |size, n| size.saturating_mul(*n as u64));
        self.shapes().iter().fold(0, |sum, (_, shape)| sum.saturating_add(size(shape)))
    }

    /// How many positions a window can have.
    pub fn usable_positions(&self) -> usize {
        self.max_positions.saturating_sub(self.position_offset).min(MOST_POSITIONS)
    }

    /// `config.json` of an encoder that hashes words.
    pub(super) fn to_json(&self) -> String {
        let mut json = serde_json::json!({
            "model_type": "bert",
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.attention_heads,
            "intermediate_size": self.inner,
            "max_position_embeddings": self.max_positions,
            "type_vocab_size": self.token_types,
            "layer_norm_eps": self.norm_eps,
            "hidden_act": "gelu",
        });
        if let (Pieces::Hashed { buckets }, Some(fields)) = (self.pieces, json.as_object_mut()) {
            fields.insert("model_type".to_owned(), HASHED.into());
            fields.insert("hash_buckets".to_owned(), buckets.into());
        }
        format!("{json:#}\n")
    }
}

/// `config.json` of the Hugging Face libraries, as far as it matters here.
struct File<'a> {
    json: Value,
    path: &'a Path,
}

impl File<'_> {
    /// What is there and not null.
    fn get(&self, key: &str) -> Option<&Value> {
        self.json.get(key).filter(|value| !value.is_null())
    }

    /// Asked first, since other model types name their sizes otherwise.
    fn kind(&self) -> Result<Kind, EncoderError> {
        let said = self.get("model_type");
        let kind = match said {
            Some(model_type) => model_type.as_str().and_then(Kind::of_type),
            None => {
                let classes = self.get("architectures").and_then(Value::as_array).into_iter().flatten();
                classes.filter_map(Value::as_str).find_map(Kind::of_class)
            }
        };
        let got = || said.map_or_else(|| "missing".to_owned(), shown);
        kind.ok_or_else(|| self.unsupported("the model type", got(), Kind::all()))
    }

    fn is_hashed(&self) -> bool {
        self.get("model_type").is_some_and(|model_type| model_type == HASHED)
    }

    /// Refuses what else can't run here.
    fn check_rest(&self, activation: &'static str) -> Result<(), EncoderError> {
        for (key, expected) in [(activation, "\"gelu\""), ("position_embedding_type", "\"absolute\"")] {
            if let Some(got) = self.get(key).map(shown).filter(|got| got != expected) {
                return Err(self.unsupported(key, got, expected.to_owned()));
            }
        }
        if self.get("is_decoder").is_some_and(|it| it != false) {
            return Err(self.unsupported("is_decoder", "true".to_owned(), "false".to_owned()));
        }
        Ok(())
    }

    fn unsupported(&self, what: &'static str, got: String, expected: String) -> EncoderError {
        EncoderError::Unsupported { what, got, expected, path: self.path.to_owned() }
    }

    fn number(&self, key: &'static str, least: usize, most: usize) -> Result<usize, EncoderError> {
        self.number_or(key, least, most, None)
    }

    /// The bounds are far beyond what any encoder has; they keep a damaged file from asking for all memory.
    fn number_or(
        &self,
        key: &'static str,
        least: usize,
        most: usize,
        default: Option<usize>,
    ) -> Result<usize, EncoderError> {
        let value = self.get(key);
        if let (None, Some(default)) = (value, default) {
            return Ok(default);
        }
        let number = value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        number.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
            let got = value.map_or_else(|| "missing".to_owned(), shown);
            let problem = format!("{key} is {got}, expected a whole number from {least} to {most}");
            EncoderError::bad_file(problem, GET_AGAIN, self.path)
        })
    }

    fn hashed_pieces(&self, vocabulary: usize) -> Result<Pieces, EncoderError> {
        let buckets = self.number("hash_buckets", 1, 1 << 20)?;
        let expected = HashedWords::vocabulary(buckets);
        if vocabulary != expected {
            let problem = format!("vocab_size is {vocabulary}, expected {expected} with {buckets} hash_buckets");
            return Err(EncoderError::bad_file(problem, GET_AGAIN, self.path));
        }
        Ok(Pieces::Hashed { buckets })
    }

    fn norm_eps(&self) -> Result<f64, EncoderError> {
        let Some(value) = self.json.get("layer_norm_eps") else { return Ok(1e-12) };
        value.as_f64().filter(|eps| (1e-30..1.0).contains(eps)).ok_or_else(|| {
            let problem = format!("layer_norm_eps is {}, expected a number between 0 and 1", shown(value));
            EncoderError::bad_file(problem, GET_AGAIN, self.path)
        })
    }
}

/// A value for a message, which a damaged file must not make endless.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(changes: &[(&str, serde_json::Value)], want: Expect) {
        let mut json = serde_json::json!({
            "model_type": "bert", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 12,
        });
        for (key, value) in changes {
            json[*key] = value.clone();
        }
        let parsed = EncoderConfig::parse(json.to_string().as_bytes(), Path::new("m/config.json"));
        want.assert_eq(&parsed.map_or_else(|e| e.to_string(), |c| format!("{} layers of {}", c.layers, c.hidden)));
    }

    #[test]
    fn what_can_t_run_is_refused() {
        check(&[], expect!["1 layers of 8"]);
        check(
            &[("model_type", "deberta-v2".into())],
            expect![[
                r#"the model type is "deberta-v2", but only "bert", "camembert", "distilbert", "electra", "roberta" or "xlm-roberta" works here; choose another encoder: m/config.json"#
            ]],
        );
        check(
            &[("hidden_act", "relu".into())],
            expect![[r#"hidden_act is "relu", but only "gelu" works here; choose another encoder: m/config.json"#]],
        );
        check(
            &[("num_attention_heads", 3.into())],
            expect![
                "hidden_size 8 is not a multiple of num_attention_heads 3; get the file again from where the encoder came from: m/config.json"
            ],
        );
        check(
            &[("hidden_size", 0.into())],
            expect![
                "hidden_size is 0, expected a whole number from 1 to 16384; get the file again from where the encoder came from: m/config.json"
            ],
        );
        check(
            &[("model_type", HASHED.into()), ("hash_buckets", 4.into())],
            expect![
                "vocab_size is 10, expected 22 with 4 hash_buckets; get the file again from where the encoder came from: m/config.json"
            ],
        );
    }

    #[test]
    fn the_built_in_kind_survives_its_own_file() {
        let config = EncoderConfig::small();
        let again = EncoderConfig::parse(config.to_json().as_bytes(), Path::new("config.json")).unwrap();
        assert_eq!(again, config);
    }
}
