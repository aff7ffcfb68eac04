//! Hidden states of another BERT, that of candle-transformers, which shares no layer with ours.

use super::{EncoderBatch, built, fixtures, greatest, predicted, without_padding};
use crate::encoder::{Alignment, Bert, Blocks, Encoder, EncoderConfig, Kind, Learning, Pieces};
use crate::nn::{ParameterGroup, Rng, Vars};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert as other;
use proptest::prelude::*;
use std::collections::HashMap;

/// Windows of random subwords between marks, `inside` of them each.
pub(super) fn random_batch(inside: &[usize], config: &EncoderConfig, rng: &mut Rng) -> EncoderBatch {
    let mut id = || rng.below(config.vocabulary) as u32;
    let marks = [[id()], [id()]];
    let sentences: Vec<Vec<Vec<u32>>> = inside.iter().map(|count| (0..*count).map(|_| vec![id()]).collect()).collect();
    let aligned = |words: &Vec<Vec<u32>>| Alignment::new(words, [&marks[0], &marks[1]], 1, config.usable_positions());
    let alignments: Vec<Alignment> = sentences.iter().map(aligned).collect();
    EncoderBatch::new(&alignments.iter().collect::<Vec<_>>(), 1)
}

/// Runs both on a batch and compares every position.
fn compare(bert: &Bert, weights: &HashMap<String, Tensor>, config: &EncoderConfig, batch: &EncoderBatch) -> f32 {
    let reference = other::Config {
        vocab_size: config.vocabulary,
        hidden_size: config.hidden,
        num_hidden_layers: config.layers,
        num_attention_heads: config.attention_heads,
        intermediate_size: config.inner,
        max_position_embeddings: config.max_positions,
        type_vocab_size: config.token_types,
        layer_norm_eps: config.norm_eps,
        ..other::Config::default()
    };
    let builder = VarBuilder::from_tensors(weights.clone(), DType::F32, &Device::Cpu);
    let reference = other::BertModel::load(builder, &reference).unwrap();
    let (count, longest) = (batch.windows().len(), batch.longest());
    let (mut ids, mut mask) = (vec![0u32; count * longest], vec![0u8; count * longest]);
    for (window, rows) in batch.windows().iter().enumerate() {
        let at = window * longest..window * longest + rows.len();
        ids[at.clone()].copy_from_slice(&batch.ids()[rows.clone()]);
        // Its mask has a 1 where there is a subword.
        mask[at].fill(1);
    }
    let ids = Tensor::from_vec(ids, (count, longest), &Device::Cpu).unwrap();
    let mask = Tensor::from_vec(mask, (count, longest), &Device::Cpu).unwrap();
    let expected = reference.forward(&ids, &ids.zeros_like().unwrap(), Some(&mask)).unwrap();
    greatest(&(predicted(bert, batch) - without_padding(batch, &expected)).unwrap())
}

#[test]
fn the_fixture_s_hidden_states_are_those_of_another_program() {
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let config = encoder.definition().config();
    let (_, bert) = built(&encoder);
    let rng = &mut Rng::new(3, "batches");
    // Alone, of one length, and padded; up to the limit of 32 with its two marks, and beyond it in several windows.
    let batches: [&[usize]; 6] = [&[1], &[30], &[7, 7, 7], &[1, 2, 5, 12, 29, 30], &[30, 1], &[100, 3]];
    for inside in batches {
        let batch = random_batch(inside, config, rng);
        assert!(batch.longest() <= 32);
        let off = compare(&bert, encoder.weights(), config, &batch);
        assert!(off < 1e-5, "{inside:?}: off by {off}");
    }
}

#[test]
fn a_wrong_weight_would_show() {
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let config = encoder.definition().config();
    let (_, bert) = built(&encoder);
    let batch = random_batch(&[4, 9], config, &mut Rng::new(4, "batches"));
    let mut rng = Rng::new(5, "noise");
    for (name, weight) in encoder.weights() {
        let noise: Vec<f32> = (0..weight.elem_count()).map(|_| 0.1 * rng.normal()).collect();
        let noise = Tensor::from_vec(noise, weight.dims(), &Device::Cpu).unwrap();
        let mut changed = encoder.weights().clone();
        changed.insert(name.clone(), (weight + noise).unwrap());
        let off = compare(&bert, &changed, config, &batch);
        // A key bias shifts all scores of a row alike.
        assert!(off > 1e-4 || name.ends_with("key.bias"), "{name}: {off}");
    }
}

/// Weights for an encoder of any shape.
pub(super) fn made_up(config: &EncoderConfig, rng: &mut Rng) -> HashMap<String, Tensor> {
    config
        .shapes()
        .into_iter()
        .map(|(name, shape)| {
            // Norms multiply by about 1, matrices keep the size of what they multiply.
            let (mean, std) = match shape.as_slice() {
                [_, inputs] => (0.0, 1.0 / (*inputs as f32).sqrt()),
                _ if name.ends_with("LayerNorm.weight") => (1.0, 0.2),
                _ => (0.0, 0.3),
            };
            let count = shape.iter().product();
            let values: Vec<f32> = (0..count).map(|_| mean + std * rng.normal()).collect();
            (name, Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
        })
        .collect()
}

prop_compose! {
    pub(super) fn shapes()(
        attention_heads in prop::sample::select(vec![1usize, 2, 4]), per_head in 8usize..24, layers in 1usize..=3,
        inner in 1usize..70, vocabulary in 2usize..90, max_positions in 3usize..70, token_types in 1usize..=2,
        norm_eps in prop::sample::select(vec![1e-12, 1e-5]),
    ) -> EncoderConfig {
        let hidden = attention_heads * per_head;
        EncoderConfig {
            kind: Kind::Bert, blocks: Blocks::Bert, pieces: Pieces::Tokenizer, vocabulary, embedding: hidden, hidden, layers, attention_heads, inner,
            max_positions, position_offset: 0, token_types, norm_eps,
        }
    }
}

// Rounding shows more the fewer numbers a norm has to scale by: below eight they can be all but equal.
proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn made_up_weights_of_any_shape_give_what_another_program_gives(
        config in shapes(), inside in prop::collection::vec(1usize..80, 1..5), seed in 0u64..1000,
    ) {
        let mut rng = Rng::new(seed, "made up");
        let weights = made_up(&config, &mut rng);
        let mut vars = Vars::trainable(1, &Device::Cpu);
        vars.stock(weights.iter().map(|(name, t)| (format!("e.{name}"), t.clone())));
        let bert = Bert::new(vars.scope("e", ParameterGroup::Encoder), &config, Learning::All, 0.0).unwrap();
        let batch = random_batch(&inside, &config, &mut rng);
        let off = compare(&bert, &weights, &config, &batch);
        // Of 3,000 such cases the worst was off by 5e-6.
        prop_assert!(off < 2e-5, "off by {}", off);
    }
}
