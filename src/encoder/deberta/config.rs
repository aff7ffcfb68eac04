//! What `config.json` says of DeBERTa alone.

use super::super::EncoderError;
use super::super::config_file::{ConfigFile, shown};
use super::super::shapes::Shapes;
use serde_json::Value;

/// Relative positions on one side, however far an encoder looks.
const MOST_POSITIONS: usize = 1 << 16;

/// The numbers that only DeBERTa has.
#[derive(Clone, PartialEq, Debug)]
pub struct DebertaConfig {
    /// Buckets of relative positions on one side; without them each distance has a row of its own.
    pub buckets: Option<usize>,
    /// Distances from this one on are not told apart.
    pub farthest: usize,
    /// Whether a position's content asks where others stand, and where it stands itself is asked by theirs.
    pub content_to_position: bool,
    pub position_to_content: bool,
    /// Whether relative positions have no query and key layers of their own.
    pub shares_layers: bool,
    /// Whether their table goes through a norm.
    pub norms_positions: bool,
    /// Whether there is a table of absolute positions, too, as BERT has it.
    pub has_position_table: bool,
    /// Beside the first block, where there is one.
    pub convolution: Option<Convolution>,
}

/// A convolution over neighbouring positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convolution {
    /// Positions that it sees: odd.
    pub kernel: usize,
    /// GELU, or else the hyperbolic tangent.
    pub is_gelu: bool,
}

impl DebertaConfig {
    /// With heads of `head` numbers, for windows of `max_positions`.
    pub(in crate::encoder) fn parse(
        file: &ConfigFile<'_>,
        head: usize,
        max_positions: usize,
    ) -> Result<Self, EncoderError> {
        // Without it the class of this library would be BERT with other names; no published one is.
        if !file.flag_or("relative_attention", false)? {
            return Err(file.unsupported("relative_attention", "false".to_owned(), "true".to_owned()));
        }
        file.only("attention_head_size", head)?;
        let buckets = file.number_if_any("position_buckets", 2, MOST_POSITIONS)?;
        let farthest = file.number_if_any("max_relative_positions", 1, MOST_POSITIONS)?;
        let farthest = farthest.unwrap_or(max_positions.min(MOST_POSITIONS));
        if let Some(buckets) = buckets.filter(|buckets| farthest < buckets / 2 + 2) {
            let problem = format!("max_relative_positions {farthest} leaves no room for {buckets} position_buckets");
            return file.bad(problem);
        }
        let [content_to_position, position_to_content] = kinds_of_attention(file)?;
        Ok(Self {
            buckets,
            farthest,
            content_to_position,
            position_to_content,
            shares_layers: file.flag_or("share_att_key", false)?,
            norms_positions: norms_positions(file)?,
            has_position_table: file.flag_or("position_biased_input", true)?,
            convolution: convolution(file)?,
        })
    }

    /// Rows of the table of relative positions.
    pub fn rows(&self) -> usize {
        2 * self.span()
    }

    /// The row of distance 0.
    pub fn span(&self) -> usize {
        self.buckets.unwrap_or(self.farthest)
    }

    /// Names and shapes of what a block has beside what BERT's have.
    pub(in crate::encoder) fn add_block_shapes(&self, block: usize, hidden: usize, shapes: &mut Shapes) {
        let layers = [("pos_key_proj", self.content_to_position), ("pos_query_proj", self.position_to_content)];
        for (layer, _) in layers.into_iter().filter(|(_, is_there)| *is_there && !self.shares_layers) {
            shapes.dense(&format!("encoder.layer.{block}.attention.self.{layer}"), hidden, hidden);
        }
    }

    /// The same of the whole encoder.
    pub(in crate::encoder) fn add_shapes(&self, hidden: usize, shapes: &mut Shapes) {
        shapes.matrix("encoder.rel_embeddings", self.rows(), hidden);
        if self.norms_positions {
            shapes.norm("encoder.LayerNorm", hidden);
        }
        if let Some(convolution) = self.convolution {
            shapes.push("encoder.conv.conv.weight".to_owned(), &[hidden, hidden, convolution.kernel]);
            shapes.push("encoder.conv.conv.bias".to_owned(), &[hidden]);
            shapes.norm("encoder.conv.LayerNorm", hidden);
        }
    }
}

/// `["p2c", "c2p"]`, or `"p2c|c2p"`: whether there is c2p, and p2c.
fn kinds_of_attention(file: &ConfigFile<'_>) -> Result<[bool; 2], EncoderError> {
    let said = file.get("pos_att_type");
    let names: Vec<String> = match said {
        Some(Value::String(names)) => names.to_lowercase().split('|').map(|name| name.trim().to_owned()).collect(),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
        _ => Vec::new(),
    };
    if names.is_empty() || names.iter().any(|name| name != "c2p" && name != "p2c") {
        let got = said.map_or_else(|| "missing".to_owned(), shown);
        return Err(file.unsupported("pos_att_type", got, "\"c2p\", \"p2c\" or both".to_owned()));
    }
    Ok(["c2p", "p2c"].map(|kind| names.iter().any(|name| name == kind)))
}

fn norms_positions(file: &ConfigFile<'_>) -> Result<bool, EncoderError> {
    match file.get("norm_rel_ebd") {
        None => Ok(false),
        Some(Value::String(name)) if name == "none" => Ok(false),
        Some(Value::String(name)) if name == "layer_norm" => Ok(true),
        Some(other) => Err(file.unsupported("norm_rel_ebd", shown(other), "\"layer_norm\" or \"none\"".to_owned())),
    }
}

fn convolution(file: &ConfigFile<'_>) -> Result<Option<Convolution>, EncoderError> {
    let Some(kernel) = file.number_if_any("conv_kernel_size", 1, 31)? else { return Ok(None) };
    if kernel.is_multiple_of(2) {
        return Err(file.unsupported("conv_kernel_size", kernel.to_string(), "an odd number".to_owned()));
    }
    file.only("conv_groups", 1)?;
    let is_gelu = match file.get("conv_act") {
        None => false,
        Some(Value::String(name)) if name == "tanh" => false,
        Some(Value::String(name)) if name == "gelu" => true,
        Some(other) => return Err(file.unsupported("conv_act", shown(other), "\"tanh\" or \"gelu\"".to_owned())),
    };
    Ok(Some(Convolution { kernel, is_gelu }))
}
