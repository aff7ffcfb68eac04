//! The kinds of encoders that run here: one forward pass, and what each kind calls things in its files.

/// The model type that `config.json` of the built-in encoder carries.
pub(super) const HASHED: &str = "nestling-hashed";

/// Encoders whose files use the same names. What they compute differs in numbers of [`super::EncoderConfig`] only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Bert,
    Roberta,
    DistilBert,
    Electra,
}

/// Model types of `config.json` and how the names of their classes begin: all that works here.
const TYPES: [(&str, &str, Kind); 6] = [
    ("bert", "Bert", Kind::Bert),
    ("camembert", "Camembert", Kind::Roberta),
    ("distilbert", "DistilBert", Kind::DistilBert),
    ("electra", "Electra", Kind::Electra),
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
            Self::Bert | Self::Roberta | Self::Electra => Keys {
                hidden: "hidden_size",
                layers: "num_hidden_layers",
                attention_heads: "num_attention_heads",
                inner: "intermediate_size",
                activation: "hidden_act",
            },
        }
    }

    /// Marks to look for in the tokenizer, the kind's own first: some models of one kind have the tokenizer of another.
    pub(super) fn marks(self) -> [Marks; 2] {
        match self {
            Self::Roberta => [MARKS_OF_ROBERTA, MARKS_OF_BERT],
            Self::Bert | Self::DistilBert | Self::Electra => [MARKS_OF_BERT, MARKS_OF_ROBERTA],
        }
    }

    /// What models with a head put before the names of the encoder's weights.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert.",
            Self::Roberta => "roberta.",
            Self::DistilBert => "distilbert.",
            Self::Electra => "electra.",
        }
    }

    /// The name in the kind's files, without prefix, of a weight of [`super::Bert`].
    pub(super) fn name_in_file(self, name: &str) -> String {
        let renamed = || {
            let (layer, rest) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
            let (part, end) = rest.rsplit_once('.')?;
            let part = match part {
                "attention.self.query" => "attention.q_lin",
                "attention.self.key" => "attention.k_lin",
                "attention.self.value" => "attention.v_lin",
                "attention.output.dense" => "attention.out_lin",
                "attention.output.LayerNorm" => "sa_layer_norm",
                "intermediate.dense" => "ffn.lin1",
                "output.dense" => "ffn.lin2",
                "output.LayerNorm" => "output_layer_norm",
                _ => return None,
            };
            Some(format!("transformer.layer.{layer}.{part}.{end}"))
        };
        let other = if self == Self::DistilBert { renamed() } else { None };
        other.unwrap_or_else(|| name.to_owned())
    }
}
