//! Spans through blocks by hand, against candle's operations, PyTorch's numbers, and themselves in other pieces.

use super::fixtures;
use crate::encoder::{Bert, Blocks, Encoder, EncoderConfig, Kind, Learning, Pieces, SpanTransformer};
use crate::nn::kernels::Rounding;
use crate::nn::{Gradients, Mode, NnError, ParameterGroup, Rng, Threads, Vars, as_slice, read_tensors};
use candle_core::{DType, Device, Tensor, Var};
use proptest::prelude::*;
use std::ops::Range;

/// The last blocks of an encoder with weights of about a size at which all parts of a block matter.
fn build(config: &EncoderConfig, depth: usize, p: f32, rng: &mut Rng) -> (Vars, SpanTransformer) {
    let (mut encoder, mut vars) = (Vars::trainable(1, &Device::Cpu), Vars::trainable(1, &Device::Cpu));
    let bert = Bert::new(encoder.scope("e", ParameterGroup::Encoder), config, Learning::All, p).unwrap();
    let mut scope = vars.scope("spans", ParameterGroup::TaskHead);
    let copy = |i: usize| bert.blocks()[i].declare_copy(scope.scope(&format!("layer.{i}"))).unwrap();
    let blocks = (config.layers - depth..config.layers).map(copy).collect();
    for (name, variable) in vars.iter() {
        let middle = if name.contains("LayerNorm.weight") { 1.0 } else { 0.0 };
        let values: Vec<f32> = (0..variable.var.elem_count()).map(|_| middle + 0.2 * rng.normal()).collect();
        variable.var.set(&Tensor::from_vec(values, variable.var.dims(), &Device::Cpu).unwrap()).unwrap();
    }
    (vars, SpanTransformer::new(blocks, config.hidden, p, false))
}

fn config(attention_heads: usize, size: usize, inner: usize, layers: usize) -> EncoderConfig {
    let hidden = attention_heads * size;
    EncoderConfig {
        kind: Kind::Bert,
        blocks: Blocks::Bert,
        pieces: Pieces::Tokenizer,
        vocabulary: 5,
        embedding: hidden,
        hidden,
        layers,
        attention_heads,
        inner,
        max_positions: 8,
        position_offset: 0,
        token_types: 2,
        norm_eps: 1e-12,
    }
}

fn random(rows: usize, columns: usize, rng: &mut Rng) -> Var {
    let values: Vec<f32> = (0..rows * columns).map(|_| rng.normal()).collect();
    Var::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
}

/// Some of the spans of up to `widest` tokens.
fn some_spans(tokens: usize, widest: usize, share: f32, rng: &mut Rng) -> Vec<Range<usize>> {
    let all = (0..tokens).flat_map(|start| (start + 1..=tokens.min(start + widest)).map(move |end| start..end));
    all.filter(|_| rng.unit() < share).collect()
}

/// What a pass in training gives for a weighted sum of the vectors.
struct Learnt {
    /// `[S, H]`
    vectors: Vec<f32>,
    /// Of the tokens' hidden states.
    tokens: Vec<Vec<f32>>,
    /// Of the variables, in order.
    variables: Vec<Vec<f32>>,
}

fn learn(
    (vars, transformer): (&Vars, &SpanTransformer),
    tokens: &[Var],
    spans: &[Range<usize>],
    factors: &Tensor,
    seed: u64,
) -> Learnt {
    let mut noise = Rng::new(seed, "dropout");
    let batch = transformer.batch(spans, &mut Mode::Train(&mut noise));
    let slices: Vec<_> = tokens.iter().map(|states| as_slice(states.as_tensor()).unwrap()).collect();
    let slices: Vec<&[f32]> = slices.iter().map(|states| &**states).collect();
    let (factors, h) = (as_slice(factors).unwrap(), transformer.hidden());
    let (mut gradients, mut vectors) = (Gradients::default(), Vec::new());
    let head = |rows: Range<usize>, vectors: &[f32], grad: &mut [f32]| {
        grad.copy_from_slice(&factors[rows.start * h..rows.end * h]);
        Ok::<_, NnError>(vectors.to_vec())
    };
    let each = |part: Vec<f32>| {
        vectors.extend(part);
        Ok(())
    };
    let wanted = vec![true; slices.len()];
    let left = transformer.learn(&slices, &batch, &wanted, &mut gradients, head, each).unwrap();
    let of = |(_, variable): (&str, &crate::nn::Variable)| {
        gradients.dense(variable.var.as_tensor()).unwrap_or_else(|| vec![0.0; variable.var.elem_count()])
    };
    Learnt { vectors, tokens: left.tokens.into_iter().flatten().collect(), variables: vars.iter().map(of).collect() }
}

/// The greatest difference, relative to the greatest number.
fn off(got: &[f32], want: &[f32]) -> f32 {
    assert_eq!(got.len(), want.len());
    let size = want.iter().fold(1e-3f32, |size, x| size.max(x.abs()));
    got.iter().zip(want).fold(0f32, |off, (a, b)| off.max((a - b).abs())) / size
}

fn assert_near(vars: &Vars, got: &Learnt, want: &Learnt, bound: f32) {
    let wrong = off(&got.vectors, &want.vectors);
    assert!(wrong < bound, "vectors are off by {wrong}");
    for (number, (got, want)) in got.tokens.iter().zip(&want.tokens).enumerate() {
        let wrong = off(got, want);
        assert!(wrong < bound, "the gradient of the tokens {number} is off by {wrong}");
    }
    for ((got, want), (name, _)) in got.variables.iter().zip(&want.variables).zip(vars.iter()) {
        // A key bias shifts all scores of a span alike: its gradient is rounding noise around 0.
        let noise = || got.iter().chain(want).fold(0f32, |most, x| most.max(x.abs()));
        let wrong = if name.ends_with("key.bias") { noise() } else { off(got, want) };
        assert!(wrong < bound, "the gradient of {name} is off by {wrong}");
    }
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn vectors_and_gradients_are_those_of_candle_s_operations(
        heads in 1usize..4, size in 3usize..20, inner in 1usize..40, depth in 0usize..4, above in 0usize..2,
        tokens in 1usize..50, widest in 1usize..9, share in prop::sample::select(vec![0.2f32, 1.0]),
        p in prop::sample::select(vec![0.0f32, 0.3]), seed in 0u64..1000,
    ) {
        let mut rng = Rng::new(seed, "spans");
        let (vars, transformer) = build(&config(heads, size, inner, depth + above), depth, p, &mut rng);
        let spans = some_spans(tokens, widest, share, &mut rng);
        prop_assume!(!spans.is_empty());
        let h = heads * size;
        let tokens: Vec<Var> = (0..=depth).map(|_| random(tokens, h, &mut rng)).collect();
        let factors = random(spans.len(), h, &mut rng).as_tensor().detach();

        let mut noise = Rng::new(seed, "dropout");
        let batch = transformer.batch(&spans, &mut Mode::Train(&mut noise));
        let states: Vec<Tensor> = tokens.iter().map(|states| states.as_tensor().clone()).collect();
        // In two parts, so that the second does not begin with the first number.
        let cut = spans.len() / 2;
        let parts = [0..cut, cut..spans.len()].into_iter().filter(|rows| !rows.is_empty());
        let parts: Vec<Tensor> = parts.map(|rows| transformer.forward_plain(&states, &batch, rows).unwrap()).collect();
        let vectors = Tensor::cat(&parts, 0).unwrap();
        let store = (&vectors * &factors).unwrap().sum_all().unwrap().backward().unwrap();
        let grad = |of: &Tensor| store.get(of).map_or_else(|| vec![0.0; of.elem_count()], values);

        let threads = Threads::new("spans", Some(3)).unwrap();
        let got = threads.run(|| learn((&vars, &transformer), &tokens, &spans, &factors, seed));
        let want = Learnt {
            vectors: values(&vectors),
            tokens: tokens.iter().map(|states| grad(states.as_tensor())).collect(),
            variables: vars.iter().map(|(_, variable)| grad(variable.var.as_tensor())).collect(),
        };
        assert_near(&vars, &got, &want, 1e-3);
        let alone = Threads::new("spans", Some(1)).unwrap();
        let again = alone.run(|| learn((&vars, &transformer), &tokens, &spans, &factors, seed));
        prop_assert!(again.variables == got.variables && again.tokens == got.tokens, "threads change the gradients");
    }
}

#[test]
fn vectors_and_gradients_are_pytorch_s() {
    let reference = read_tensors(&fixtures().join("spans.safetensors")).unwrap();
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let mut vars = Vars::trainable(1, &Device::Cpu);
    vars.stock(encoder.weights().iter().map(|(name, t)| (name.clone(), t.clone())));
    let mut other = Vars::trainable(1, &Device::Cpu);
    other.stock(encoder.weights().iter().map(|(name, t)| (format!("e.{name}"), t.clone())));
    let definition = encoder.definition().config();
    let bert = Bert::new(other.scope("e", ParameterGroup::Encoder), definition, Learning::All, 0.0).unwrap();
    let mut scope = vars.scope("encoder.layer", ParameterGroup::TaskHead);
    let copies = bert.blocks().iter().enumerate().map(|(i, b)| b.declare_copy(scope.scope(&i.to_string())).unwrap());
    let transformer = SpanTransformer::new(copies.collect(), definition.hidden, 0.0, false);
    let tokens: Vec<Var> = (0..3).map(|i| Var::from_tensor(&reference[&format!("tokens.{i}")]).unwrap()).collect();
    let spans = reference["spans"].to_vec2::<i64>().unwrap();
    let spans: Vec<Range<usize>> = spans.iter().map(|span| span[0] as usize..span[1] as usize).collect();

    let got = learn((&vars, &transformer), &tokens, &spans, &reference["factors"], 1);
    let wrong = off(&got.vectors, &values(&reference["vectors"]));
    assert!(wrong < 1e-5, "vectors are off by {wrong}");
    for (number, got) in got.tokens.iter().enumerate() {
        let wrong = off(got, &values(&reference[&format!("grad.tokens.{number}")]));
        assert!(wrong < 2e-5, "the gradient of the tokens {number} is off by {wrong}");
    }
    assert_eq!(vars.iter().count(), 2 * 16);
    for (got, (name, variable)) in got.variables.iter().zip(vars.iter()) {
        let got = Tensor::from_slice(got, variable.var.dims(), &Device::Cpu).unwrap();
        let got = match variable.var.dims() {
            [_] => got,
            _ => Tensor::cat(&[got.sum(0).unwrap(), got.sum(1).unwrap()], 0).unwrap(),
        };
        let (got, want) = (values(&got), values(&reference[&format!("grad.{name}")]));
        let size = want.iter().fold(0f32, |size, x| size.max(x.abs()));
        assert!(size > 1e-2 || name.ends_with("key.bias"), "{name}: {size}");
        let wrong = got.iter().zip(&want).fold(0f32, |off, (a, b)| off.max((a - b).abs()));
        assert!(wrong < 2e-5 * size.max(1.0), "the gradient of {name} is off by {wrong} of {size}");
    }
}

#[test]
fn pieces_shares_and_company_change_nothing() {
    let mut rng = Rng::new(3, "pieces");
    let (vars, mut transformer) = build(&config(2, 8, 24, 2), 2, 0.2, &mut rng);
    // A thousand spans: several shares.
    let spans = some_spans(130, 9, 1.0, &mut rng);
    let tokens: Vec<Var> = (0..3).map(|_| random(130, 16, &mut rng)).collect();
    let factors = random(spans.len(), 16, &mut rng).as_tensor().detach();
    let whole = learn((&vars, &transformer), &tokens, &spans, &factors, 5);
    transformer.most_kept = 1;
    let pieces = learn((&vars, &transformer), &tokens, &spans, &factors, 5);
    assert_eq!(pieces.vectors, whole.vectors);
    assert_near(&vars, &pieces, &whole, 1e-4);

    // In prediction a span's vector is the same, bit for bit, alone and among others.
    let slices: Vec<_> = tokens.iter().map(|states| as_slice(states.as_tensor()).unwrap()).collect();
    let slices: Vec<&[f32]> = slices.iter().map(|states| &**states).collect();
    let predict = |spans: &[Range<usize>]| {
        let mut vectors = Vec::new();
        let batch = transformer.batch(spans, &mut Mode::Predict);
        let head = |_: Range<usize>, part: &[f32]| Ok::<_, NnError>(part.to_vec());
        let each = |part: Vec<f32>| {
            vectors.extend(part);
            Ok(())
        };
        transformer.predict(&slices, &batch, head, each).unwrap();
        vectors
    };
    let together = predict(&spans);
    for (span, vector) in spans.iter().zip(together.chunks(16)).step_by(37) {
        assert_eq!(predict(std::slice::from_ref(span)), vector, "{span:?}");
    }
    let few: Vec<Range<usize>> = spans.iter().skip(500).step_by(3).cloned().collect();
    let expected: Vec<f32> = together.chunks(16).skip(500).step_by(3).flatten().copied().collect();
    assert_eq!(predict(&few), expected);
}

#[test]
fn half_precision_is_near_and_does_not_depend_on_threads() {
    // On any processor, whether it is fast at it or not.
    let mut rng = Rng::new(4, "halves");
    let (vars, mut transformer) = build(&config(2, 16, 64, 2), 2, 0.1, &mut rng);
    let spans = some_spans(60, 7, 1.0, &mut rng);
    let tokens: Vec<Var> = (0..3).map(|_| random(60, 32, &mut rng)).collect();
    let factors = random(spans.len(), 32, &mut rng).as_tensor().detach();
    let want = learn((&vars, &transformer), &tokens, &spans, &factors, 5);
    transformer.rounding = Some(Rounding::Bf16);
    let [got, wide] = [1, 3].map(|threads| {
        let threads = Threads::new("halves", Some(threads)).unwrap();
        threads.run(|| learn((&vars, &transformer), &tokens, &spans, &factors, 5))
    });
    assert!(got.variables == wide.variables && got.tokens == wide.tokens && got.vectors == wide.vectors);
    assert!(got.vectors != want.vectors && off(&got.vectors, &want.vectors) < 0.05);
    let all = got.variables.iter().chain(&got.tokens).zip(want.variables.iter().chain(&want.tokens));
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    for (got, want) in all.filter(|(_, want)| product(want, want) > 1e-3) {
        let cosine = product(got, want) / (product(got, got) * product(want, want)).sqrt();
        assert!(cosine > 0.99, "{cosine}");
    }
}
