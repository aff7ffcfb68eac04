//! The kinds of encoders that run here, and what each kind calls things in its files.

/// The model type that `config.json` of the built-in encoder carries.
pub(super) const HASHED: &str = "nestling-hashed";

/// Encoders whose files use the same names. What those with BERT's blocks compute differs in numbers of
/// [`super::EncoderConfig`] only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Bert,
    Roberta,
    DistilBert,
    Electra,
    ModernBert,
    /// Of version 2, which version 3 has, too.
    Deberta,
}

/// Model types of `config.json` and how the names of their classes begin: all that works here.
const TYPES: [(&str, &str, Kind); 8] = [
    ("bert", "Bert", Kind::Bert),
    ("camembert", "Camembert", Kind::Roberta),
    ("deberta-v2", "DebertaV2", Kind::Deberta),
    ("distilbert", "DistilBert", Kind::DistilBert),
    ("electra", "Electra", Kind::Electra),
    ("modernbert", "ModernBert", Kind::ModernBert),
    ("roberta", "Roberta", Kind::Roberta),
    ("xlm-roberta", "XLMRoberta", Kind::Roberta),
];

/// What a kind calls its sizes in `config.json`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub hidden: &'static str,
    pub layers: &'static str,
    pub attention_heads: &'static str,
    pub inner: &'static str,
    pub activation: &'static str,
}

/// The subwords that begin and end a sentence, and the one for what has no other.
pub(super) type Marks = [&'static str; 3];

const MARKS_OF_BERT: Marks = ["[CLS]", "[SEP]", "[UNK]"];
const MARKS_OF_ROBERTA: Marks = ["<s>", "</s>", "<unk>"];

impl Kind {
    pub(super) fn of_type(model_type: &str) -> Option<Self> {
        if model_type == HASHED {
            return Some(Self::Bert);
        }
        TYPES.iter().find(|(name, ..)| *name == model_type).map(|(.., kind)| *kind)
    }

    /// By the name of a class, such as `RobertaForMaskedLM`; files of before have no model type.
    pub(super) fn of_class(class: &str) -> Option<Self> {
        TYPES.iter().find(|(_, stem, _)| class.starts_with(stem)).map(|(.., kind)| *kind)
    }

    /// The model types that work, for messages: `"a", "b" or "c"`.
    pub(super) fn all() -> String {
        let names: Vec<String> = TYPES.iter().map(|(name, ..)| format!("{name:?}")).collect();
        let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
        format!("{} or {last}", others.join(", "))
    }

    pub(super) fn keys(self) -> Keys {
        match self {
            Self::DistilBert => Keys {
                hidden: "dim",
                layers: "n_layers",
                attention_heads: "n_heads",
                inner: "hidden_dim",
                activation: "activation",
            },
            Self::Bert | Self::Roberta | Self::Electra | Self::ModernBert | Self::Deberta => Keys {
                hidden: "hidden_size",
                layers: "num_hidden_layers",
                attention_heads: "num_attention_heads",
                inner: "intermediate_size",
                activation: if self == Self::ModernBert { "hidden_activation" } else { "hidden_act" },
            },
        }
    }

    /// Marks to look for in the tokenizer, the kind's own first: some models of one kind have the tokenizer of another.
    pub(super) fn marks(self) -> [Marks; 2] {
        match self {
            Self::Roberta => [MARKS_OF_ROBERTA, MARKS_OF_BERT],
            Self::Bert | Self::DistilBert | Self::Electra | Self::ModernBert | Self::Deberta => {
                [MARKS_OF_BERT, MARKS_OF_ROBERTA]
            }
        }
    }

    /// What models with a head put before the names of the encoder's weights.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert.",
            Self::Roberta => "roberta.",
            Self::DistilBert => "distilbert.",
            Self::Electra => "electra.",
            Self::ModernBert => "model.",
            Self::Deberta => "deberta.",
        }
    }

    /// Whether its blocks are BERT's, for which passes are written by hand.
    pub fn has_blocks_of_bert(self) -> bool {
        !matches!(self, Self::ModernBert | Self::Deberta)
    }

    /// What commands call it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
            Self::DistilBert => "distilbert",
            Self::Electra => "electra",
            Self::ModernBert => "modernbert",
            Self::Deberta => "deberta-v2",
        }
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bert => "BERT",
            Self::Roberta => "RoBERTa",
            Self::DistilBert => "DistilBERT",
            Self::Electra => "ELECTRA",
            Self::ModernBert => "ModernBERT",
            Self::Deberta => "DeBERTa",
        }
    }

    /// The name in the kind's files, without prefix, of a weight of [`super::Network`].
    pub(super) fn name_in_file(self, name: &str) -> String {
        let renamed = match self {
            Self::Bert | Self::Roberta | Self::Electra => None,
            Self::DistilBert => in_a_block(name, "transformer.layer", of_distil_bert),
            Self::ModernBert => {
                whole_name(name, &NAMES_OF_MODERN_BERT).or_else(|| in_a_block(name, "layers", of_modern_bert))
            }
            Self::Deberta => {
                whole_name(name, &NAMES_OF_DEBERTA).or_else(|| in_a_block(name, "encoder.layer", of_deberta))
            }
        };
        renamed.unwrap_or_else(|| name.to_owned())
    }
}

/// Our names and those of files, of what stands outside blocks.
const NAMES_OF_MODERN_BERT: [(&str, &str); 3] = [
    ("embeddings.word_embeddings", "embeddings.tok_embeddings"),
    ("embeddings.LayerNorm", "embeddings.norm"),
    ("encoder.LayerNorm", "final_norm"),
];
const NAMES_OF_DEBERTA: [(&str, &str); 1] = [("embeddings.projection", "embeddings.embed_proj")];

fn whole_name(name: &str, names: &[(&str, &str)]) -> Option<String> {
    let (stem, end) = name.rsplit_once('.')?;
    names.iter().find(|(ours, _)| *ours == stem).map(|(_, in_file)| format!("{in_file}.{end}"))
}

/// The name of a weight in a block, of which `part` says what is between the block's number and `weight` or `bias`.
fn in_a_block(name: &str, blocks: &str, part: fn(&str) -> Option<&'static str>) -> Option<String> {
    let (block, rest) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
    let (ours, end) = rest.rsplit_once('.')?;
    Some(format!("{blocks}.{block}.{}.{end}", part(ours)?))
}

fn of_distil_bert(part: &str) -> Option<&'static str> {
    Some(match part {
        "attention.self.query" => "attention.q_lin",
        "attention.self.key" => "attention.k_lin",
        "attention.self.value" => "attention.v_lin",
        "attention.output.dense" => "attention.out_lin",
        "attention.output.LayerNorm" => "sa_layer_norm",
        "intermediate.dense" => "ffn.lin1",
        "output.dense" => "ffn.lin2",
        "output.LayerNorm" => "output_layer_norm",
        _ => return None,
    })
}

fn of_modern_bert(part: &str) -> Option<&'static str> {
    Some(match part {
        "attention.LayerNorm" => "attn_norm",
        "attention.self.qkv" => "attn.Wqkv",
        "attention.output.dense" => "attn.Wo",
        "intermediate.LayerNorm" => "mlp_norm",
        "intermediate.dense" => "mlp.Wi",
        "output.dense" => "mlp.Wo",
        _ => return None,
    })
}

fn of_deberta(part: &str) -> Option<&'static str> {
    Some(match part {
        "attention.self.query" => "attention.self.query_proj",
        "attention.self.key" => "attention.self.key_proj",
        "attention.self.value" => "attention.self.value_proj",
        _ => return None,
    })
}
