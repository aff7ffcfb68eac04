//! What `config.json` says of ModernBERT alone.

use super::super::EncoderError;
use super::super::config_file::{ConfigFile, shown};
use super::super::shapes::Shapes;
use serde_json::Value;

/// Bases of rotary positions: far from 1, where all numbers of a head would turn alike.
const THETAS: (f64, f64) = (2.0, 1e12);

/// The numbers that only ModernBERT has.
#[derive(Clone, PartialEq, Debug)]
pub struct ModernBertConfig {
    /// Of each block whether its positions see all others of their window.
    pub global: Vec<bool>,
    /// How far positions of the other blocks see, on either side.
    pub reach: usize,
    /// The base of rotary positions in global blocks, and in local ones.
    pub thetas: [f64; 2],
}

impl ModernBertConfig {
    /// For `layers` blocks with heads of `head` numbers each. Published files name the distance between global blocks; those
    /// that newer versions of transformers write list the kind of each, and keep the bases by kind.
    pub(in crate::encoder) fn parse(file: &ConfigFile<'_>, layers: usize, head: usize) -> Result<Self, EncoderError> {
        for key in ["attention_bias", "mlp_bias", "norm_bias"] {
            file.only(key, false)?;
        }
        file.only("head_dim", head)?;
        if !head.is_multiple_of(2) {
            return file.bad(format!("hidden_size is {head} a head, expected an even number for rotary positions"));
        }
        let every = file.number_or("global_attn_every_n_layers", 1, 256, Some(3))?;
        let global = match file.get("layer_types") {
            None => (0..layers).map(|block| block.is_multiple_of(every)).collect(),
            Some(types) => types_of_blocks(file, types, layers)?,
        };
        let theta = |old: &'static str, kind: &'static str, default: f64| {
            let default = file.real_or(old, THETAS, default)?;
            let Some(rope) = file.within("rope_parameters").and_then(|rope| rope.within(kind)) else {
                return Ok(default);
            };
            rope.only("rope_type", "default")?;
            rope.real_or("rope_theta", THETAS, default)
        };
        if file.get("rope_scaling").is_some() {
            return Err(file.unsupported("rope_scaling", "set".to_owned(), "none".to_owned()));
        }
        let global_theta = theta("global_rope_theta", "full_attention", 160_000.0)?;
        let local_theta = theta("local_rope_theta", "sliding_attention", 10_000.0)?;
        Ok(Self {
            global,
            reach: file.number_or("local_attention", 2, 1 << 20, Some(128))? / 2,
            thetas: [global_theta, local_theta],
        })
    }

    /// Names and shapes of all weights of the encoder but the table of words; `inner` is the width of an inner layer after
    /// its gate.
    pub(in crate::encoder) fn add_shapes(&self, hidden: usize, inner: usize, shapes: &mut Shapes) {
        shapes.scale("embeddings.LayerNorm", hidden);
        for block in 0..self.global.len() {
            let name = |part: &str| format!("encoder.layer.{block}.{part}");
            if block > 0 {
                shapes.scale(&name("attention.LayerNorm"), hidden);
            }
            shapes.matrix(&name("attention.self.qkv"), 3 * hidden, hidden);
            shapes.matrix(&name("attention.output.dense"), hidden, hidden);
            shapes.scale(&name("intermediate.LayerNorm"), hidden);
            shapes.matrix(&name("intermediate.dense"), 2 * inner, hidden);
            shapes.matrix(&name("output.dense"), hidden, inner);
        }
        shapes.scale("encoder.LayerNorm", hidden);
    }
}

fn types_of_blocks(file: &ConfigFile<'_>, types: &Value, layers: usize) -> Result<Vec<bool>, EncoderError> {
    let is_global = |of: &Value| match of.as_str() {
        Some("full_attention") => Ok(true),
        Some("sliding_attention") => Ok(false),
        _ => Err(file.unsupported(
            "a block of layer_types",
            shown(of),
            "\"full_attention\" or \"sliding_attention\"".to_owned(),
        )),
    };
    let of_blocks: &[Value] = types.as_array().map_or(&[], Vec::as_slice);
    if of_blocks.len() != layers {
        return file.bad(format!(
            "layer_types has {} entries, expected one for each of num_hidden_layers {layers}",
            of_blocks.len()
        ));
    }
    of_blocks.iter().map(is_global).collect()
}
