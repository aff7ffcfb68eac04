//! The numbers that say how an encoder is built, read from `config.json`.

use super::EncoderError;
use std::path::Path;

/// The model type that `config.json` of the built-in encoder carries.
pub(super) const HASHED: &str = "nestling-hashed";

/// How words become numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pieces {
    /// By the tokenizer of the folder: one number a subword.
    Tokenizer,
    /// By hashing parts of the word: one subword a word, of several numbers whose vectors are added.
    Hashed { buckets: usize },
}

/// A BERT encoder's shape.
#[derive(Clone, PartialEq, Debug)]
pub struct EncoderConfig {
    pub pieces: Pieces,
    pub vocabulary: usize,
    /// H, a multiple of `heads`.
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    /// Width of the inner layer of a block's feed-forward part.
    pub inner: usize,
    pub max_positions: usize,
    pub token_types: usize,
    pub norm_eps: f64,
}

/// `config.json` of the Hugging Face libraries, as far as it matters here.
#[derive(serde::Deserialize)]
struct File {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Vec<String>,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "small_eps")]
    layer_norm_eps: f64,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
    is_decoder: Option<bool>,
    hash_buckets: Option<usize>,
}

fn two() -> usize {
    2
}

fn small_eps() -> f64 {
    1e-12
}

impl EncoderConfig {
    /// Reads `config.json`; `path` is for messages.
    pub(super) fn parse(json: &[u8], path: &Path) -> Result<Self, EncoderError> {
        let bad = |reason: String| EncoderError::BadFile { reason, path: path.to_owned() };
        let unsupported = |what, got: &str, expected| {
            Err(EncoderError::Unsupported { what, got: format!("{got:?}"), expected, path: path.to_owned() })
        };
        let any: serde_json::Value = serde_json::from_slice(json).map_err(|e| bad(e.to_string()))?;
        // Asked before the rest, since other model types name their sizes otherwise.
        let kind = any.get("model_type").and_then(|v| v.as_str()).map(str::to_owned);
        match kind.as_deref() {
            None | Some("bert" | HASHED) => {}
            Some(other) => return unsupported("the model type", other, "\"bert\""),
        }
        let file: File = serde_json::from_value(any).map_err(|e| bad(e.to_string()))?;
        if file.model_type.is_none() && !file.architectures.iter().any(|a| a.starts_with("Bert")) {
            return unsupported("the model type", "", "\"bert\"");
        }
        if let Some(other) = file.hidden_act.as_deref().filter(|a| *a != "gelu") {
            return unsupported("hidden_act", other, "\"gelu\"");
        }
        if let Some(other) = file.position_embedding_type.as_deref().filter(|p| *p != "absolute") {
            return unsupported("position_embedding_type", other, "\"absolute\"");
        }
        if file.is_decoder == Some(true) {
            return unsupported("is_decoder", "true", "false");
        }
        let sizes = [
            ("vocab_size", file.vocab_size),
            ("hidden_size", file.hidden_size),
            ("num_hidden_layers", file.num_hidden_layers),
            ("num_attention_heads", file.num_attention_heads),
            ("intermediate_size", file.intermediate_size),
            ("type_vocab_size", file.type_vocab_size),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(bad(format!("{name} is 0")));
        }
        if file.max_position_embeddings < 3 {
            return Err(bad("max_position_embeddings must be 3 or more".to_owned()));
        }
        if !file.hidden_size.is_multiple_of(file.num_attention_heads) {
            let (hidden, heads) = (file.hidden_size, file.num_attention_heads);
            return Err(bad(format!("hidden_size {hidden} is no multiple of num_attention_heads {heads}")));
        }
        let pieces = match (file.model_type.as_deref(), file.hash_buckets) {
            (Some(HASHED), Some(buckets)) if buckets > 0 => Pieces::Hashed { buckets },
            (Some(HASHED), _) => return Err(bad("hash_buckets is missing or 0".to_owned())),
            _ => Pieces::Tokenizer,
        };
        Ok(Self {
            pieces,
            vocabulary: file.vocab_size,
            hidden: file.hidden_size,
            layers: file.num_hidden_layers,
            heads: file.num_attention_heads,
            inner: file.intermediate_size,
            max_positions: file.max_position_embeddings,
            token_types: file.type_vocab_size,
            norm_eps: file.layer_norm_eps,
        })
    }

    /// `config.json` of an encoder that hashes words.
    pub(super) fn to_json(&self) -> String {
        let mut json = serde_json::json!({
            "model_type": "bert",
            "vocab_size": self.vocabulary,
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
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
            &[("model_type", "roberta".into())],
            expect![[
                r#"the model type is "roberta", but only "bert" works here; choose another encoder: m/config.json"#
            ]],
        );
        check(
            &[("hidden_act", "relu".into())],
            expect![[r#"hidden_act is "relu", but only "gelu" works here; choose another encoder: m/config.json"#]],
        );
        check(
            &[("num_attention_heads", 3.into())],
            expect![
                "can't make sense of the file: hidden_size 8 is no multiple of num_attention_heads 3: m/config.json"
            ],
        );
        check(&[("hidden_size", 0.into())], expect!["can't make sense of the file: hidden_size is 0: m/config.json"]);
    }

    #[test]
    fn the_built_in_kind_survives_its_own_file() {
        let config = super::super::HashedWords::config();
        let again = EncoderConfig::parse(config.to_json().as_bytes(), Path::new("config.json")).unwrap();
        assert_eq!(again, config);
    }
}
