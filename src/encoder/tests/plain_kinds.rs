//! Encoders without passes by hand against transformers (`tests/fixtures/learner/make_plain_kinds.py`).

use super::{batch, changed_kind, fixtures, greatest, spaced, with_weights, without_padding, words};
use crate::encoder::plain::{Origin, word_rows};
use crate::encoder::{Blocks, Cut, Definition, Encoder, EncoderBatch, EncoderError, Encoders, Learning, Network};
use crate::nn::{Mode, NnError, Operations, ParameterGroup, Rng, Vars, read_tensors};
use candle_core::{Device, Tensor};
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;

const KINDS: [&str; 3] = ["tiny-modernbert", "tiny-deberta-v3", "tiny-deberta-v2"];

const BOTH: [Operations; 2] = [Operations::Plain, Operations::ByHand];

/// The words of the script.
fn sentences() -> [Vec<String>; 3] {
    [
        words("The mayor of Aarhus did n't agree ."),
        words("Zürich , co-operation ( 1,204 ) harbours \u{201c}Åland\u{201d} …"),
        words("the old lamp by the sea and the red boats of the harbour by the old wall in 1998 ."),
    ]
}

struct Opened {
    encoder: Encoder,
    vars: Vars,
    network: Network,
    batch: EncoderBatch,
}

impl Opened {
    fn new(folder: &Path, learning: Learning, p: f32, sentences: &[Vec<String>]) -> Self {
        let encoder = Encoder::open(folder).unwrap();
        let mut vars = Vars::trainable(1, &Device::Cpu);
        vars.stock(encoder.weights().iter().map(|(name, t)| (format!("e.{name}"), t.clone())));
        let scope = vars.scope("e", ParameterGroup::Encoder);
        let network = Network::new(scope, encoder.definition().config(), learning, p).unwrap();
        vars.check_all_taken().unwrap();
        let batch = batch(&encoder, sentences);
        Self { encoder, vars, network, batch }
    }

    fn of(kind: &str) -> Self {
        Self::new(&fixtures().join(kind), Learning::All, 0.0, &sentences())
    }

    /// With words that all stand after a space, as transformers takes them.
    fn spaced(kind: &str) -> Self {
        Self::new(spaced(kind).path(), Learning::All, 0.0, &sentences())
    }

    fn computed_by(self, operations: Operations) -> Self {
        Self { network: self.network.computed_by(operations), ..self }
    }

    fn layers(&self, first: usize, layers: RangeInclusive<usize>, mode: &mut Mode) -> Result<Vec<Tensor>, NnError> {
        let words = word_rows(self.network.word_table(), &self.batch)?;
        self.network.forward(&self.batch, Origin::Words(&words), first, layers, mode)
    }

    fn last(&self, mode: &mut Mode) -> Tensor {
        let top = self.network.layers();
        self.layers(0, top..=top, mode).unwrap().pop().unwrap()
    }
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn subwords_words_and_hidden_states_are_those_of_transformers() {
    for kind in KINDS {
        let reference = read_tensors(&fixtures().join(kind).join("reference.safetensors")).unwrap();
        let opened = Opened::spaced(kind);
        let ids = without_padding(&opened.batch, &reference["ids"].unsqueeze(2).unwrap());
        let ids: Vec<i64> = ids.flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(opened.batch.ids().iter().map(|id| i64::from(*id)).collect::<Vec<_>>(), ids, "{kind}");
        let of_words = without_padding(&opened.batch, &reference["words"].unsqueeze(2).unwrap());
        let of_words: Vec<i64> = of_words.flatten_all().unwrap().to_vec1().unwrap();
        let rows = opened.batch.words();
        for sentence in rows.sentences() {
            for (number, word) in sentence.clone().enumerate() {
                let subwords = rows.subwords()[word].clone();
                assert!(of_words[subwords].iter().all(|of| *of == number as i64), "{kind}: word {number}");
            }
        }
        assert_eq!(of_words.iter().filter(|of| **of < 0).count(), 2 * rows.sentences().len(), "{kind}: marks alone");
        let expected = without_padding(&opened.batch, &reference["hidden"]);
        let mut opened = opened;
        for operations in BOTH {
            opened = opened.computed_by(operations);
            let off = greatest(&(opened.last(&mut Mode::Predict) - &expected).unwrap());
            assert!(off < 1e-5, "{kind} {operations:?}: hidden states are off by {off}");
        }
    }
}

#[test]
fn gradients_of_all_variables_are_pytorch_s() {
    for (kind, operations) in KINDS.into_iter().flat_map(|kind| BOTH.map(|operations| (kind, operations))) {
        let reference = read_tensors(&fixtures().join(kind).join("reference.safetensors")).unwrap();
        let opened = Opened::spaced(kind).computed_by(operations);
        let hidden = opened.last(&mut Mode::Train(&mut Rng::new(1, "none")));
        let factors = without_padding(&opened.batch, &reference["factors"]);
        let store = (hidden * factors).unwrap().sum_all().unwrap().backward().unwrap();
        let of_file = opened.encoder.definition().config().kind;
        let mut seen = BTreeSet::new();
        for (name, variable) in opened.vars.iter() {
            let in_file = of_file.name_in_file(name.strip_prefix("e.").unwrap());
            let gradient = store.get(variable.var.as_tensor());
            let gradient = gradient.unwrap_or_else(|| panic!("{kind}: {name} has no gradient"));
            let gradient = gradient.reshape((gradient.dim(0).unwrap(), ())).unwrap();
            let (rows, columns) = gradient.dims2().unwrap();
            let factors = |count: usize| (0..count).map(|i| (1 + i % 5) as f32).collect::<Vec<_>>();
            let (of_columns, of_rows) = (factors(columns), factors(rows));
            let of_columns = Tensor::from_vec(of_columns, (columns, 1), &Device::Cpu).unwrap();
            let of_rows = Tensor::from_vec(of_rows, (1, rows), &Device::Cpu).unwrap();
            let sums = |of: &Tensor| [of.matmul(&of_columns).unwrap(), of_rows.matmul(of).unwrap()];
            // Much of a sum may cancel: it is as exact as what was added up is great.
            let (sums, terms) = (sums(&gradient), sums(&gradient.abs().unwrap()));
            for ((of, got), terms) in ["rows", "columns"].into_iter().zip(sums).zip(terms) {
                let expected = &reference[&format!("{of}.{in_file}")];
                let off = greatest(&(got.flatten_all().unwrap() - expected).unwrap());
                let (size, terms) = (greatest(expected), greatest(&terms));
                // A query meets this bias in the logits of all positions alike, which a softmax does not see.
                let is_unseen = name.ends_with("pos_key_proj.bias");
                assert!(is_unseen == (size < 1e-2), "{kind}: {of} of {name}: {size}");
                assert!(
                    off < 2e-6 * terms.max(10.0),
                    "{kind} {operations:?}: {of} of {name} are off by {off}, of {terms} added up"
                );
                seen.insert(format!("{of}.{in_file}"));
            }
        }
        let expected = reference.keys().filter(|key| key.starts_with("rows.") || key.starts_with("columns."));
        assert_eq!(expected.filter(|key| !seen.contains(*key)).count(), 0, "{kind}");
    }
}

#[test]
fn distances_are_in_the_buckets_of_transformers() {
    let reference = read_tensors(&fixtures().join("tiny-deberta-v3/reference.safetensors")).unwrap();
    let Blocks::Deberta(config) =
        Definition::open(&fixtures().join("tiny-deberta-v3")).unwrap().config().blocks.clone()
    else {
        panic!("no DeBERTa");
    };
    for (buckets, farthest) in [(256isize, 512), (8, 64)] {
        let config = crate::encoder::DebertaConfig { buckets: Some(buckets as usize), farthest, ..config.clone() };
        let expected: Vec<i64> = reference[&format!("buckets.{buckets}")].to_vec1().unwrap();
        for (distance, bucket) in (-700isize..=700).zip(expected) {
            let row = (bucket as isize + buckets).clamp(0, 2 * buckets - 1);
            assert_eq!(config.row(distance), row as usize, "{distance} of {buckets}");
        }
    }
}

#[test]
fn company_in_a_batch_changes_no_answer() {
    for kind in KINDS {
        let together = Opened::of(kind);
        let all = together.last(&mut Mode::Predict);
        for (sentence, rows) in sentences().iter().zip(together.batch.windows()) {
            let alone = Opened::new(&fixtures().join(kind), Learning::All, 0.0, std::slice::from_ref(sentence));
            let own = all.narrow(0, rows.start, rows.len()).unwrap();
            let off = greatest(&(alone.last(&mut Mode::Predict) - own).unwrap());
            assert!(off < 2e-6, "{kind}: {off}");
        }
    }
}

#[test]
fn all_words_of_a_long_sentence_have_a_place_and_windows_are_no_longer_than_learnt() {
    for kind in KINDS {
        let long: Vec<String> = (0..90).map(|i| ["by", "the", "sea"][i % 3].to_owned()).collect();
        let opened = Opened::new(&fixtures().join(kind), Learning::All, 0.0, &[long]);
        assert!(opened.batch.windows().len() > 2 && opened.batch.longest() <= 64, "{kind}");
        let states = opened.last(&mut Mode::Predict);
        assert_eq!((states.dims2().unwrap().0, opened.batch.words().words()), (opened.batch.rows(), 90), "{kind}");
        // However many positions an encoder has, a pass has few enough.
        let folder =
            changed_config(kind, &[("max_position_embeddings", json!(8192)), ("position_biased_input", json!(false))]);
        assert_eq!(Definition::open(folder.path()).unwrap().config().usable_positions(), 512, "{kind}");
    }
}

#[test]
fn passes_can_begin_in_the_middle_and_leave_inner_layers() {
    for kind in KINDS {
        let opened = Opened::of(kind);
        let top = opened.network.layers();
        let all = opened.layers(0, 0..=top, &mut Mode::Predict).unwrap();
        assert_eq!(all.len(), top + 1);
        for start in 0..=top {
            let got = opened.layers(0, start..=top, &mut Mode::Predict).unwrap();
            assert!(got.iter().zip(&all[start..]).all(|(a, b)| numbers(a) == numbers(b)), "{kind} from {start}");
            let origin = Origin::States(start, &all[start]);
            let got = opened.network.forward(&opened.batch, origin, 0, start..=top, &mut Mode::Predict).unwrap();
            assert_eq!(got.len(), top + 1 - start);
            assert!(got.iter().zip(&all[start..]).all(|(a, b)| numbers(a) == numbers(b)), "{kind} from {start}");
        }
    }
}

#[test]
fn a_prediction_keeps_nothing_for_gradients() {
    for kind in KINDS {
        let opened = Opened::of(kind);
        let store = opened.last(&mut Mode::Predict).sum_all().unwrap().backward().unwrap();
        assert!(opened.vars.iter().all(|(_, v)| store.get(v.var.as_tensor()).is_none()), "{kind}");
    }
}

#[test]
fn what_does_not_learn_is_no_variable_and_has_no_dropout() {
    for kind in KINDS {
        let of = |learning| Opened::new(&fixtures().join(kind), learning, 0.5, &sentences());
        let (all, top, none) = (of(Learning::All), of(Learning::Top(1)), of(Learning::Top(0)));
        let blocks = all.network.layers();
        assert_eq!([&all, &top, &none].map(|opened| opened.network.frozen_below()), [0, blocks - 1, blocks]);
        assert_eq!(none.vars.iter().count(), 0, "{kind}");
        let is_of_last = |name: &str| {
            let last = format!("e.encoder.layer.{}.", blocks - 1);
            name.starts_with(&last) || (kind == "tiny-modernbert" && name == "e.encoder.LayerNorm.weight")
        };
        let expected: Vec<&str> = all.vars.iter().map(|(name, _)| name).filter(|name| is_of_last(name)).collect();
        assert_eq!(top.vars.iter().map(|(name, _)| name).collect::<Vec<_>>(), expected, "{kind}");
        let states = |mode: &mut Mode| top.layers(blocks - 1, 0..=blocks, mode).unwrap();
        let (train, predict) = (states(&mut Mode::Train(&mut Rng::new(3, "dropout"))), states(&mut Mode::Predict));
        for (number, (train, predict)) in train.iter().zip(&predict).enumerate() {
            assert_eq!(numbers(train) == numbers(predict), number < blocks, "{kind}: {number}");
        }
        let store = train[blocks].sqr().unwrap().sum_all().unwrap().backward().unwrap();
        assert!(top.vars.iter().all(|(_, v)| store.get(v.var.as_tensor()).is_some()), "{kind}");
    }
}

#[test]
fn dropout_is_drawn_at_every_place_and_is_that_of_the_generator() {
    for kind in KINDS {
        let opened = Opened::new(&fixtures().join(kind), Learning::All, 0.3, &sentences());
        let train = |opened: &Opened, seed| opened.last(&mut Mode::Train(&mut Rng::new(seed, "dropout")));
        let plain = train(&opened, 1);
        assert!(numbers(&train(&opened, 1)) == numbers(&plain), "{kind}: the same");
        assert!(numbers(&train(&opened, 2)) != numbers(&plain), "{kind}: another");
        let by_hand = train(&opened.computed_by(Operations::ByHand), 1);
        let off = greatest(&(by_hand - plain).unwrap());
        assert!(off < 1e-4, "{kind}: both ways draw the same, but for {off}");
    }
}

/// The fixture with other values in config.json.
fn changed_config(kind: &str, changes: &[(&str, Value)]) -> tempfile::TempDir {
    changed_kind(kind, |folder| {
        let path = folder.join("config.json");
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for (key, value) in changes {
            json[*key] = value.clone();
        }
        std::fs::write(path, json.to_string()).unwrap();
    })
}

#[test]
fn configs_as_they_were_first_published_say_the_same() {
    let now = Definition::open(&fixtures().join("tiny-modernbert")).unwrap().config().clone();
    let then = changed_config(
        "tiny-modernbert",
        &[
            ("layer_types", Value::Null),
            ("rope_parameters", Value::Null),
            ("global_attn_every_n_layers", json!(3)),
            ("global_rope_theta", json!(160_000.0)),
            ("local_rope_theta", json!(10_000.0)),
            ("position_embedding_type", json!("absolute")),
        ],
    );
    assert_eq!(Definition::open(then.path()).unwrap().config(), &now);
    let other =
        changed_config("tiny-modernbert", &[("layer_types", Value::Null), ("global_attn_every_n_layers", json!(2))]);
    let Blocks::ModernBert(other) = Definition::open(other.path()).unwrap().config().blocks.clone() else { panic!() };
    assert_eq!(other.global, [true, false, true, false]);
    let now = Definition::open(&fixtures().join("tiny-deberta-v3")).unwrap().config().clone();
    let then = changed_config(
        "tiny-deberta-v3",
        &[("pos_att_type", json!("P2C|c2p")), ("max_relative_positions", Value::Null)],
    );
    assert_eq!(Definition::open(then.path()).unwrap().config(), &now);
}

#[test]
fn each_number_of_a_config_shows_in_the_hidden_states() {
    let changes = [
        ("tiny-modernbert", "local_attention", json!(8)),
        ("tiny-modernbert", "norm_eps", json!(0.1)),
        (
            "tiny-modernbert",
            "layer_types",
            json!(["full_attention", "full_attention", "sliding_attention", "full_attention"]),
        ),
        ("tiny-modernbert", "rope_parameters", json!({"full_attention": {"rope_theta": 100.0}})),
        ("tiny-modernbert", "rope_parameters", json!({"sliding_attention": {"rope_theta": 100.0}})),
        ("tiny-modernbert", "num_attention_heads", json!(2)),
        ("tiny-deberta-v3", "max_relative_positions", json!(20)),
        ("tiny-deberta-v3", "pos_att_type", json!("c2p")),
        ("tiny-deberta-v3", "pos_att_type", json!(["p2c"])),
        ("tiny-deberta-v3", "norm_rel_ebd", json!("none")),
        ("tiny-deberta-v3", "layer_norm_eps", json!(0.1)),
        ("tiny-deberta-v2", "conv_act", json!("tanh")),
        ("tiny-deberta-v2", "conv_kernel_size", json!(0)),
        ("tiny-deberta-v2", "position_biased_input", json!(false)),
        ("tiny-deberta-v2", "type_vocab_size", json!(0)),
        ("tiny-deberta-v2", "share_att_key", json!(true)),
    ];
    for (kind, key, value) in changes {
        let before = Opened::of(kind).last(&mut Mode::Predict);
        let folder = changed_config(kind, &[(key, value.clone())]);
        let after = Opened::new(folder.path(), Learning::All, 0.0, &sentences()).last(&mut Mode::Predict);
        assert!(greatest(&(after - before).unwrap()) > 1e-3, "{key} {value} of {kind}");
    }
}

#[test]
fn a_definition_is_whole_by_its_files_alone_and_lists_say_the_kind() {
    for (kind, id, blocks) in [
        ("tiny-modernbert", "modernbert", 4),
        ("tiny-deberta-v3", "deberta-v2", 2),
        ("tiny-deberta-v2", "deberta-v2", 2),
    ] {
        let definition = Definition::open(&fixtures().join(kind)).unwrap();
        assert!(!definition.is_uncased() && !definition.config().has_passes_by_hand(), "{kind}");
        let home = tempfile::tempdir().unwrap();
        let encoders = Encoders::at(home.path());
        let info = encoders.import(&fixtures().join(kind), "copy").unwrap();
        assert_eq!((info.kind.unwrap().id(), info.hidden, info.layers, info.problem), (id, 32, blocks, None));
        let copy = tempfile::tempdir().unwrap();
        let encoder = encoders.get("copy").unwrap();
        encoder.write(copy.path()).unwrap();
        let again = Encoder::open(copy.path()).unwrap();
        assert_eq!(again.definition().config(), definition.config());
        let values = |encoder: &Encoder| -> HashMap<String, Vec<f32>> {
            encoder.weights().iter().map(|(name, t)| (name.clone(), numbers(t))).collect()
        };
        assert!(values(&again) == values(&encoder), "{kind}: what is written is read again");
    }
}

#[test]
fn what_is_built_on_bert_s_blocks_is_refused() {
    for kind in KINDS {
        let encoder = Encoder::open(&fixtures().join(kind)).unwrap();
        let cut = Cut { blocks: vec![(0, vec![0, 1])], subwords: None };
        assert!(matches!(encoder.cut(&cut), Err(EncoderError::Cut(_))), "{kind}");
        let compact = tempfile::tempdir().unwrap();
        encoder.write_compact(compact.path()).unwrap();
        let compact = Encoder::open(compact.path()).unwrap();
        assert_eq!(compact.weights().len(), encoder.weights().len(), "{kind}: but it can be compact");
    }
}

#[test]
fn what_can_t_run_here_is_refused() {
    let refused = |kind: &str, changes: &[(&str, Value)]| {
        let folder = changed_config(kind, changes);
        let message = Encoder::open(folder.path()).unwrap_err().to_string();
        message.replace(&folder.path().display().to_string(), "DIR").replace('\\', "/")
    };
    let modern = |key: &str, value: Value| refused("tiny-modernbert", &[(key, value)]);
    let deberta = |key: &str, value: Value| refused("tiny-deberta-v3", &[(key, value)]);
    expect![[r#"norm_bias is true, but only false works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("norm_bias", json!(true)));
    expect![[r#"attention_bias is true, but only false works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("attention_bias", json!(true)));
    expect![[r#"hidden_activation is "silu", but only "gelu" works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("hidden_activation", json!("silu")));
    expect![[r#"layer_types has 1 entries, expected one for each of num_hidden_layers 4; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&modern("layer_types", json!(["full_attention"])));
    expect![[r#"a block of layer_types is "chunked", but only "full_attention" or "sliding_attention" works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("layer_types", json!(["full_attention", "chunked", "full_attention", "full_attention"])));
    expect![[r#"rope_type is "yarn", but only "default" works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("rope_parameters", json!({"full_attention": {"rope_type": "yarn", "rope_theta": 1e4}})));
    expect![[r#"rope_theta is 0.0, expected a number between 2 and 1000000000000; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&modern("rope_parameters", json!({"sliding_attention": {"rope_theta": 0.0}})));
    expect![[r#"hidden_size is 1 a head, expected an even number for rotary positions; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&modern("num_attention_heads", json!(32)));
    expect![[r#"local_attention is 0, expected a whole number from 2 to 1048576; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&modern("local_attention", json!(0)));
    expect![[r#"global_attn_every_n_layers is 0, expected a whole number from 1 to 256; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&modern("global_attn_every_n_layers", json!(0)));
    expect![[r#"head_dim is 16, but only 8 works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&modern("head_dim", json!(16)));
    expect![[r#"relative_attention is false, but only true works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&deberta("relative_attention", json!(false)));
    expect![[r#"pos_att_type is "c2p|p2p", but only "c2p", "p2c" or both works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&deberta("pos_att_type", json!("c2p|p2p")));
    expect![[
        r#"pos_att_type is missing, but only "c2p", "p2c" or both works here; choose another encoder: DIR/config.json"#
    ]]
    .assert_eq(&deberta("pos_att_type", Value::Null));
    expect![[r#"norm_rel_ebd is "batch_norm", but only "layer_norm" or "none" works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&deberta("norm_rel_ebd", json!("batch_norm")));
    expect![[r#"conv_kernel_size is 4, but only an odd number works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&deberta("conv_kernel_size", json!(4)));
    expect![[r#"conv_kernel_size is 99, expected a whole number from 1 to 31; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&deberta("conv_kernel_size", json!(99)));
    expect![[r#"conv_groups is 2, but only 1 works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&refused("tiny-deberta-v2", &[("conv_groups", json!(2))]));
    expect![[r#"max_relative_positions 64 leaves no room for 1024 position_buckets; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&deberta("position_buckets", json!(1024)));
    expect![[r#"position_buckets is 1, expected a whole number from 2 to 65536; get the file again from where the encoder came from: DIR/config.json"#]]
        .assert_eq(&deberta("position_buckets", json!(1)));
    expect![[r#"the weight "encoder.rel_embeddings.weight" has the shape [16, 32], but config.json says [128, 32]; get both files from the same encoder: DIR/model.safetensors"#]]
        .assert_eq(&deberta("position_buckets", json!(-1)));
    let folder = changed_kind("tiny-modernbert", |folder| {
        with_weights(folder, |tensors| drop(tensors.remove("model.layers.2.mlp.Wi.weight")));
    });
    assert!(
        Encoder::open(folder.path())
            .unwrap_err()
            .to_string()
            .starts_with("the weight \"layers.2.mlp.Wi.weight\" is missing")
    );
    let folder = changed_kind("tiny-deberta-v3", |folder| {
        std::fs::rename(folder.join("tokenizer.json"), folder.join("spm.model")).unwrap();
    });
    let message = Encoder::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("its vocabulary is SentencePiece's") && message.contains("tokenizer.json"), "{message}");
}
