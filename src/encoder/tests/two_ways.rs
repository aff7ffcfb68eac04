//! The passes by hand against candle's operations, and against differences.

use super::other_program::{made_up, random_batch, shapes};
use super::{EncoderBatch, greatest};
use crate::encoder::{Alignment, Bert, Blocks, EncoderConfig, HashedWords, Kind, Learning, Pieces, Start, Tape, plain};
use crate::nn::kernels::Rounding;
use crate::nn::{Gradients, Mode, ParameterGroup, Rng, Threads, Vars, as_slice};
use candle_core::{Device, Tensor};
use proptest::prelude::*;

fn build(config: &EncoderConfig, learning: Learning, p: f32, rng: &mut Rng) -> (Vars, Bert) {
    let mut vars = Vars::trainable(1, &Device::Cpu);
    vars.stock(made_up(config, rng).into_iter().map(|(name, t)| (format!("e.{name}"), t)));
    let bert = Bert::new(vars.scope("e", ParameterGroup::Encoder), config, learning, p).unwrap();
    (vars, bert)
}

/// Numbers that a scalar is made of hidden states with.
fn factors(rows: usize, columns: usize, rng: &mut Rng) -> Tensor {
    let values: Vec<f32> = (0..rows * columns).map(|_| rng.normal()).collect();
    Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
}

/// The greatest difference of a variable's gradients, relative to the greatest gradient of its kind.
fn compare(vars: &Vars, bert: &Bert, batch: &EncoderBatch, p_seed: u64, rng: &mut Rng) -> Result<(), TestCaseError> {
    let factors = factors(batch.rows(), bert.hidden(), rng);
    let mut noise = Rng::new(p_seed, "dropout");
    let states = plain::forward(bert, batch, &mut Mode::Train(&mut noise)).unwrap();
    let (last, drawn) = (states.last().unwrap(), noise.bits());
    let expected = (last * &factors).unwrap().sum_all().unwrap().backward().unwrap();

    let threads = Threads::new("two-ways", Some(3)).unwrap();
    let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
    // The buffers of an earlier pass, of another size, must not show.
    let other = EncoderBatch::new(
        &[&Alignment::new(
            &[vec![0; batch.pieces()]],
            [&vec![0; batch.pieces()]; 2].map(|mark| mark.as_slice()),
            batch.pieces(),
            3,
        )],
        batch.pieces(),
    );
    let hidden = threads.run(|| {
        bert.forward(&other, Start::Words, &mut Mode::Train(&mut Rng::new(1, "other")), &mut tape).unwrap();
        let mut noise = Rng::new(p_seed, "dropout");
        let hidden = bert.forward(batch, Start::Words, &mut Mode::Train(&mut noise), &mut tape).unwrap();
        assert_eq!(noise.bits(), drawn, "as much randomness is used");
        bert.backward(batch, &mut tape, &as_slice(&factors).unwrap(), &mut gradients).unwrap();
        hidden
    });
    let off = greatest(&(&hidden - last).unwrap());
    prop_assert!(off < 1e-4, "hidden states are off by {off}");
    for (name, variable) in vars.iter() {
        let variable = variable.var.as_tensor();
        let expected = expected.get(variable).map(|t| t.flatten_all().unwrap().to_vec1::<f32>().unwrap());
        let (Some(got), Some(expected)) = (gradients.dense(variable), expected) else {
            panic!("{name} has no gradient");
        };
        let size = expected.iter().fold(0f32, |size, x| size.max(x.abs()));
        let off = got.iter().zip(&expected).fold(0f32, |off, (a, b)| off.max((a - b).abs()));
        // A key bias shifts all scores of a row alike: its gradient is rounding noise around 0.
        let bound = if name.ends_with("key.bias") { 1e-3 } else { 1e-3 * size };
        prop_assert!(off <= bound, "{name}: off by {off} of {size}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn hidden_states_and_gradients_are_those_of_the_plain_operations(
        config in shapes(), inside in prop::collection::vec(1usize..80, 1..6), seed in 0u64..1000,
        p in prop::sample::select(vec![0.0f32, 0.1, 0.5]), top in prop::option::of(1usize..3),
        position_offset in 0usize..3, has_types in prop::bool::ANY, embedding in prop::option::of(8usize..40),
    ) {
        let config = EncoderConfig {
            position_offset,
            max_positions: config.max_positions + position_offset,
            token_types: if has_types { config.token_types } else { 0 },
            embedding: embedding.unwrap_or(config.hidden),
            ..config
        };
        let mut rng = Rng::new(seed, "two ways");
        let learning = top.map_or(Learning::All, Learning::Top);
        let (vars, bert) = build(&config, learning, p, &mut rng);
        let batch = random_batch(&inside, &config, &mut rng);
        compare(&vars, &bert, &batch, seed, &mut rng)?;
    }

    #[test]
    fn hashed_words_too(words in prop::collection::vec(1usize..9, 1..5), seed in 0u64..1000) {
        let buckets = 6;
        let config = EncoderConfig {
            kind: Kind::Bert, blocks: Blocks::Bert,
            pieces: Pieces::Hashed { buckets },
            vocabulary: HashedWords::vocabulary(buckets),
            max_positions: 16,
            position_offset: 0,
            embedding: 24,
            hidden: 24,
            inner: 20,
            layers: 2,
            attention_heads: 2,
            token_types: 1,
            norm_eps: 1e-12,
        };
        let mut rng = Rng::new(seed, "hashed");
        let (vars, bert) = build(&config, Learning::All, 0.2, &mut rng);
        let hashed = HashedWords::new(buckets);
        let alignments: Vec<Alignment> = words.iter().map(|count| {
            let words: Vec<Vec<u32>> = (0..*count).map(|i| hashed.ids(&format!("word{i}"))).collect();
            let [cls, sep] = &HashedWords::MARKS;
            Alignment::new(&words, [cls, sep], HashedWords::PIECES, 16)
        }).collect();
        let batch = EncoderBatch::new(&alignments.iter().collect::<Vec<_>>(), HashedWords::PIECES);
        compare(&vars, &bert, &batch, seed, &mut rng)?;
    }
}

fn tiny() -> (EncoderConfig, Rng) {
    let config = EncoderConfig {
        kind: Kind::Bert,
        blocks: Blocks::Bert,
        pieces: Pieces::Tokenizer,
        vocabulary: 5,
        embedding: 8,
        hidden: 8,
        layers: 2,
        attention_heads: 2,
        inner: 6,
        max_positions: 8,
        position_offset: 0,
        token_types: 2,
        norm_eps: 1e-6,
    };
    (config, Rng::new(5, "tiny"))
}

#[test]
fn gradients_are_slopes() {
    let (config, mut rng) = tiny();
    let (vars, bert) = build(&config, Learning::All, 0.0, &mut rng);
    let batch = random_batch(&[3, 1, 5], &config, &mut rng);
    let factors = factors(batch.rows(), bert.hidden(), &mut rng);
    let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
    let value = |tape: &mut Tape| -> f64 {
        let hidden = bert.forward(&batch, Start::Words, &mut Mode::Train(&mut Rng::new(1, "none")), tape).unwrap();
        as_slice(&hidden).unwrap().iter().zip(&*as_slice(&factors).unwrap()).map(|(a, b)| f64::from(a * b)).sum()
    };
    value(&mut tape);
    bert.backward(&batch, &mut tape, &as_slice(&factors).unwrap(), &mut gradients).unwrap();
    for (name, variable) in vars.iter() {
        let before = variable.var.as_tensor().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let gradient = gradients.dense(variable.var.as_tensor()).unwrap();
        // A few numbers of each variable.
        for at in (0..before.len()).step_by(before.len().div_ceil(5)) {
            let mut moved = |by: f32| {
                let mut values = before.clone();
                values[at] += by;
                let values = Tensor::from_vec(values, variable.var.dims(), &Device::Cpu).unwrap();
                variable.var.set(&values).unwrap();
                value(&mut tape)
            };
            let step = 1e-2;
            let slope = (moved(step) - moved(-step)) / f64::from(2.0 * step);
            let off = (slope - f64::from(gradient[at])).abs();
            assert!(off < 2e-2 * slope.abs().max(1.0), "{name}[{at}]: {slope} {}", gradient[at]);
        }
        let before = Tensor::from_vec(before, variable.var.dims(), &Device::Cpu).unwrap();
        variable.var.set(&before).unwrap();
    }
}

/// What rounding takes from a vector of a product, relative to its length: of a bfloat16 half the smallest step.
fn lost(rounding: Rounding) -> f32 {
    match rounding {
        Rounding::Bf16 => 1.0 / 512.0,
        Rounding::Int16 => 1.0 / 8192.0,
    }
}

#[test]
fn rounded_products_are_near_and_do_not_depend_on_threads() {
    let config = EncoderConfig {
        kind: Kind::Bert,
        blocks: Blocks::Bert,
        embedding: 64,
        position_offset: 0,
        pieces: Pieces::Tokenizer,
        vocabulary: 40,
        hidden: 64,
        layers: 3,
        attention_heads: 4,
        inner: 96,
        max_positions: 40,
        token_types: 2,
        norm_eps: 1e-12,
    };
    let mut rng = Rng::new(9, "half");
    let (vars, mut bert) = build(&config, Learning::All, 0.1, &mut rng);
    let batch = random_batch(&[3, 30, 12, 7, 25], &config, &mut rng);
    let factors = factors(batch.rows(), bert.hidden(), &mut rng);
    let run = |bert: &Bert, threads: usize| {
        let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
        let mut noise = Rng::new(2, "dropout");
        let threads = Threads::new("half", Some(threads)).unwrap();
        let hidden = threads.run(|| {
            let hidden = bert.forward(&batch, Start::Words, &mut Mode::Train(&mut noise), &mut tape).unwrap();
            bert.backward(&batch, &mut tape, &as_slice(&factors).unwrap(), &mut gradients).unwrap();
            hidden
        });
        let gradients = vars.iter().map(|(_, v)| gradients.dense(v.var.as_tensor()).unwrap()).collect::<Vec<_>>();
        (as_slice(&hidden).unwrap().to_vec(), gradients)
    };
    let (exact, exact_gradients) = run(&bert, 2);
    let distance = |a: &[f32], b: &[f32]| {
        let norm = |x: &mut dyn Iterator<Item = f32>| x.map(|x| x * x).sum::<f32>().sqrt();
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut a.iter().copied()).max(1e-3)
    };
    // On any processor, whether it is fast at it or not.
    for rounding in [Rounding::Bf16, Rounding::Int16] {
        bert.rounding = Some(rounding);
        let (rounded, gradients) = run(&bert, 2);
        assert!(rounded == run(&bert, 1).0 && gradients == run(&bert, 3).1);
        let off = distance(&exact, &rounded);
        assert!(off > 0.0 && off < 5.0 * lost(rounding), "{rounding:?}: {off}");
        for ((name, _), (exact, rounded)) in vars.iter().zip(exact_gradients.iter().zip(&gradients)) {
            let off = distance(exact, rounded);
            assert!(off < 20.0 * lost(rounding) || name.ends_with("key.bias"), "{rounding:?}, {name}: {off}");
        }
    }
}

#[test]
fn a_prediction_can_be_exact_where_others_are_rounded() {
    let (config, mut rng) = tiny();
    let config = EncoderConfig { embedding: 16, hidden: 16, inner: 32, ..config };
    let (_, mut bert) = build(&config, Learning::All, 0.1, &mut rng);
    let batch = random_batch(&[3, 6, 1], &config, &mut rng);
    let predict = |bert: &Bert, mut tape: Tape| {
        let states = bert.forward(&batch, Start::Words, &mut Mode::Predict, &mut tape).unwrap();
        as_slice(&states).unwrap().to_vec()
    };
    let want = predict(&bert, Tape::default());
    bert.rounding = Some(Rounding::Int16);
    assert!(predict(&bert, Tape::default()) != want && predict(&bert, Tape::for_prediction(false)) != want);
    assert!(predict(&bert, Tape::for_prediction(true)) == want);
}

#[test]
fn a_pass_can_begin_in_the_middle() {
    let (config, mut rng) = tiny();
    let (vars, bert) = build(&config, Learning::Top(1), 0.0, &mut rng);
    let batch = random_batch(&[3, 6], &config, &mut rng);
    let factors = factors(batch.rows(), bert.hidden(), &mut rng);
    let (mut tape, mut whole, mut upper) = (Tape::default(), Gradients::default(), Gradients::default());
    let mut noise = Rng::new(1, "none");
    let expected = bert.forward(&batch, Start::Words, &mut Mode::Train(&mut noise), &mut tape).unwrap();
    bert.backward(&batch, &mut tape, &as_slice(&factors).unwrap(), &mut whole).unwrap();
    let middle = bert.forward_to(&batch, Start::Words, 1, &mut Mode::Predict, &mut tape).unwrap();
    let start = as_slice(&middle).unwrap();
    let got = bert.forward(&batch, Start::States(1, &start), &mut Mode::Train(&mut noise), &mut tape).unwrap();
    bert.backward(&batch, &mut tape, &as_slice(&factors).unwrap(), &mut upper).unwrap();
    assert_eq!(greatest(&(got - expected).unwrap()), 0.0);
    assert_eq!(vars.iter().count(), 16, "the last block");
    for (name, variable) in vars.iter() {
        assert_eq!(whole.dense(variable.var.as_tensor()), upper.dense(variable.var.as_tensor()), "{name}");
    }
}

#[test]
fn inner_layers_are_those_of_the_plain_operations_in_prediction_too() {
    let (config, mut rng) = tiny();
    let config = EncoderConfig { layers: 5, ..config };
    let (_, bert) = build(&config, Learning::All, 0.3, &mut rng);
    let batch = random_batch(&[3, 6, 1], &config, &mut rng);
    let all = plain::forward(&bert, &batch, &mut Mode::Predict).unwrap();
    let last = bert.forward(&batch, Start::Words, &mut Mode::Predict, &mut Tape::default()).unwrap();
    let bits = |tensor: &Tensor| as_slice(tensor).unwrap().to_vec();
    // One tape for all of them: the buffers of another pass must not show.
    let mut tape = Tape::default();
    for layers in [0..=5, 5..=5, 2..=5, 4..=5, 1..=3, 0..=0, 3..=3, 0..=4] {
        let got = bert.forward_layers(&batch, Start::Words, layers.clone(), &mut Mode::Predict, &mut tape).unwrap();
        let plain = plain::forward_layers(&bert, &batch, 0, layers.clone(), &mut Mode::Predict).unwrap();
        assert_eq!((got.len(), plain.len()), (layers.clone().count(), layers.clone().count()));
        for ((number, got), plain) in layers.clone().zip(&got).zip(&plain) {
            assert!(greatest(&(got - &all[number]).unwrap()) < 1e-4, "{number} of {layers:?}");
            assert!(bits(plain) == bits(&all[number]), "{number} of {layers:?}");
        }
        if *layers.end() == 5 {
            assert!(bits(got.last().unwrap()) == bits(&last), "who asks for more gets the same last layer: {layers:?}");
        }
        let from = bits(got.first().unwrap());
        let start = Start::States(*layers.start(), &from);
        let again = bert.forward_layers(&batch, start, 0..=*layers.end(), &mut Mode::Predict, &mut tape).unwrap();
        assert!(again.iter().map(bits).eq(got.iter().map(bits)), "from the middle on: {layers:?}");
    }
}

#[test]
fn hidden_states_below_the_last_can_have_gradients_too() {
    let (config, mut rng) = tiny();
    let (vars, bert) = build(&config, Learning::All, 0.0, &mut rng);
    let batch = random_batch(&[3, 6], &config, &mut rng);
    let mut noise = Rng::new(1, "none");
    let expected = plain::forward(&bert, &batch, &mut Mode::Train(&mut noise)).unwrap();
    let mut tape = Tape::default();
    bert.forward(&batch, Start::Words, &mut Mode::Train(&mut noise), &mut tape).unwrap();
    for (number, state) in expected.iter().enumerate() {
        assert!(
            greatest(&(Tensor::from_slice(tape.states(number), state.shape(), &Device::Cpu).unwrap() - state).unwrap())
                < 1e-4
        );
    }
    for numbers in [vec![0, 1, 2], vec![0, 2], vec![1], vec![0]] {
        let factors: Vec<Tensor> = numbers.iter().map(|_| factors(batch.rows(), bert.hidden(), &mut rng)).collect();
        let sums =
            numbers.iter().zip(&factors).map(|(&i, factors)| (&expected[i] * factors).unwrap().sum_all().unwrap());
        let expected = sums.reduce(|a, b| (a + b).unwrap()).unwrap().backward().unwrap();
        let grads: Vec<Vec<f32>> = factors.iter().map(|t| as_slice(t).unwrap().to_vec()).collect();
        let grads: Vec<(usize, &[f32])> = numbers.iter().copied().zip(grads.iter().map(Vec::as_slice)).collect();
        let mut gradients = Gradients::default();
        bert.forward(&batch, Start::Words, &mut Mode::Train(&mut noise), &mut tape).unwrap();
        bert.backward_from(&batch, &mut tape, &grads, &mut gradients).unwrap();
        for (name, variable) in vars.iter() {
            let variable = variable.var.as_tensor();
            let (got, expected) = (gradients.dense(variable), expected.get(variable));
            assert_eq!(got.is_some(), expected.is_some(), "{name} of {numbers:?}");
            let (Some(got), Some(expected)) = (got, expected) else { continue };
            let off = greatest(&(Tensor::from_vec(got, expected.shape(), &Device::Cpu).unwrap() - expected).unwrap());
            assert!(off < 1e-3, "{name} of {numbers:?}: {off}");
        }
    }
    let zeros = vec![0.0; batch.rows() * bert.hidden()];
    let falling: [(usize, &[f32]); 2] = [(2, &zeros), (1, &zeros)];
    assert!(bert.backward_from(&batch, &mut tape, &falling, &mut Gradients::default()).is_err());
}

#[test]
fn a_backward_pass_needs_its_forward_pass() {
    let (config, mut rng) = tiny();
    let (_, bert) = build(&config, Learning::All, 0.0, &mut rng);
    let batch = random_batch(&[3], &config, &mut rng);
    let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
    bert.forward(&batch, Start::Words, &mut Mode::Predict, &mut tape).unwrap();
    let grad = vec![0.0; batch.rows() * bert.hidden()];
    assert!(bert.backward(&batch, &mut tape, &grad, &mut gradients).is_err());
}
