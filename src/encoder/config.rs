//! The numbers that say how an encoder is built, read from `config.json`.

use super::config_file::ConfigFile;
use super::deberta::DebertaConfig;
use super::error::OTHER_ENCODER;
use super::kind::{HASHED, Kind};
use super::modern_bert::ModernBertConfig;
use super::shapes::Shapes;
use super::{EncoderError, HashedWords};
use std::path::Path;

/// Positions of a window, however many an encoder has: what attention takes grows with their square.
const MOST_POSITIONS: usize = 2048;
/// The same for encoders without passes by hand, which keep all products of attention until the way back.
const MOST_PLAIN_POSITIONS: usize = 512;
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

/// Which blocks an encoder has, and the numbers that blocks of its kind alone have.
#[derive(Clone, PartialEq, Debug)]
pub enum Blocks {
    Bert,
    ModernBert(ModernBertConfig),
    Deberta(DebertaConfig),
}

/// An encoder's shape.
#[derive(Clone, PartialEq, Debug)]
pub struct EncoderConfig {
    /// What its files call things; the numbers below are all that the forward pass needs.
    pub kind: Kind,
    pub blocks: Blocks,
    pub pieces: Pieces,
    pub vocabulary: usize,
    /// Width of the embedding tables. Where it is not `hidden`, a linear layer makes it so.
    pub embedding: usize,
    /// H, a multiple of `attention_heads`.
    pub hidden: usize,
    pub layers: usize,
    pub attention_heads: usize,
    /// Width of the inner layer of a block's feed-forward part; of one with a gate, after it.
    pub inner: usize,
    /// Rows of the table of positions, where there is one; positions that an encoder has learned from.
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
        let file = ConfigFile::parse(json, path)?;
        let kind = file.kind()?;
        let keys = kind.keys();
        file.only(keys.activation, "gelu")?;
        file.only("is_decoder", false)?;
        if kind.has_blocks_of_bert() {
            file.only("position_embedding_type", "absolute")?;
        }
        let hidden = file.number(keys.hidden, 1, 16_384)?;
        let attention_heads = file.number(keys.attention_heads, 1, 1024)?;
        if !hidden.is_multiple_of(attention_heads) {
            return file.bad(format!(
                "{} {hidden} is not a multiple of {} {attention_heads}",
                keys.hidden, keys.attention_heads
            ));
        }
        let vocabulary = file.number("vocab_size", 1, 4_000_000)?;
        // RoBERTa numbers positions from the one after that of padding.
        let position_offset = match kind {
            Kind::Roberta => 1 + file.number_or("pad_token_id", 0, 1 << 16, Some(1))?,
            Kind::Bert | Kind::DistilBert | Kind::Electra | Kind::ModernBert | Kind::Deberta => 0,
        };
        let layers = file.number(keys.layers, 1, 256)?;
        // A word needs a place between the two marks.
        let max_positions = file.number("max_position_embeddings", position_offset + 3, 1 << 20)?;
        let head = hidden / attention_heads;
        let config = Self {
            kind,
            blocks: match kind {
                Kind::ModernBert => Blocks::ModernBert(ModernBertConfig::parse(&file, layers, head)?),
                Kind::Deberta => Blocks::Deberta(DebertaConfig::parse(&file, head, max_positions)?),
                Kind::Bert | Kind::Roberta | Kind::DistilBert | Kind::Electra => Blocks::Bert,
            },
            pieces: if file.is_hashed() { hashed_pieces(&file, vocabulary)? } else { Pieces::Tokenizer },
            vocabulary,
            embedding: match kind {
                Kind::Electra => file.number_or("embedding_size", 1, 16_384, Some(128))?,
                Kind::Deberta => file.number_or("embedding_size", 1, 16_384, Some(hidden))?,
                Kind::Bert | Kind::Roberta | Kind::DistilBert | Kind::ModernBert => hidden,
            },
            hidden,
            layers,
            attention_heads,
            inner: file.number(keys.inner, 1, 131_072)?,
            max_positions,
            position_offset,
            token_types: match kind {
                Kind::DistilBert | Kind::ModernBert => 0,
                Kind::Deberta => file.number_or("type_vocab_size", 0, 1024, Some(0))?,
                Kind::Bert | Kind::Roberta | Kind::Electra => file.number_or("type_vocab_size", 1, 1024, Some(2))?,
            },
            norm_eps: match kind {
                Kind::ModernBert => file.norm_eps("norm_eps", 1e-5)?,
                Kind::Deberta => file.norm_eps("layer_norm_eps", 1e-7)?,
                Kind::Bert | Kind::Roberta | Kind::DistilBert | Kind::Electra => {
                    file.norm_eps("layer_norm_eps", 1e-12)?
                }
            },
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
            blocks: Blocks::Bert,
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

    /// Names and shapes of the weights that [`Network`](super::Network) declares.
    pub(super) fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let mut shapes = Shapes::default();
        shapes.matrix("embeddings.word_embeddings", self.vocabulary, self.embedding);
        match &self.blocks {
            Blocks::Bert => {
                shapes.matrix("embeddings.position_embeddings", self.max_positions, self.embedding);
                self.add_token_types(&mut shapes);
                shapes.norm("embeddings.LayerNorm", self.embedding);
                if self.embedding != self.hidden {
                    shapes.dense("embeddings_project", self.embedding, self.hidden);
                }
                (0..self.layers).for_each(|block| self.add_block(block, &mut shapes));
            }
            Blocks::ModernBert(of) => of.add_shapes(self.hidden, self.inner, &mut shapes),
            Blocks::Deberta(of) => {
                if of.has_position_table {
                    shapes.matrix("embeddings.position_embeddings", self.max_positions, self.embedding);
                }
                self.add_token_types(&mut shapes);
                if self.embedding != self.hidden {
                    shapes.matrix("embeddings.projection", self.hidden, self.embedding);
                }
                shapes.norm("embeddings.LayerNorm", self.hidden);
                for block in 0..self.layers {
                    self.add_block(block, &mut shapes);
                    of.add_block_shapes(block, self.hidden, &mut shapes);
                }
                of.add_shapes(self.hidden, &mut shapes);
            }
        }
        shapes.list()
    }

    fn add_token_types(&self, shapes: &mut Shapes) {
        if self.token_types > 0 {
            shapes.matrix("embeddings.token_type_embeddings", self.token_types, self.embedding);
        }
    }

    /// One of BERT's.
    fn add_block(&self, block: usize, shapes: &mut Shapes) {
        let (h, inner) = (self.hidden, self.inner);
        let name = |part: &str| format!("encoder.layer.{block}.{part}");
        for layer in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
            shapes.dense(&name(layer), h, h);
        }
        shapes.dense(&name("intermediate.dense"), h, inner);
        shapes.dense(&name("output.dense"), inner, h);
        for norm in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.norm(&name(norm), h);
        }
    }

    /// How many numbers the weights are.
    pub(super) fn parameters(&self) -> u64 {
        let size = |shape: &[usize]| shape.iter().fold(1u64, |size, n| size.saturating_mul(*n as u64));
        self.shapes().iter().fold(0, |sum, (_, shape)| sum.saturating_add(size(shape)))
    }

    /// How many positions a window can have.
    pub fn usable_positions(&self) -> usize {
        let most = if self.has_passes_by_hand() { MOST_POSITIONS } else { MOST_PLAIN_POSITIONS };
        self.max_positions.saturating_sub(self.position_offset).min(most)
    }

    /// Whether there are passes written by hand, and what is built on them: blocks of spans, students.
    pub fn has_passes_by_hand(&self) -> bool {
        self.kind.has_blocks_of_bert()
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

fn hashed_pieces(file: &ConfigFile<'_>, vocabulary: usize) -> Result<Pieces, EncoderError> {
    let buckets = file.number("hash_buckets", 1, 1 << 20)?;
    let expected = HashedWords::vocabulary(buckets);
    if vocabulary != expected {
        return file.bad(format!("vocab_size is {vocabulary}, expected {expected} with {buckets} hash_buckets"));
    }
    Ok(Pieces::Hashed { buckets })
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
            &[("model_type", "t5".into())],
            expect![[
                r#"the model type is "t5", but only "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "roberta" or "xlm-roberta" works here; choose another encoder: m/config.json"#
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
