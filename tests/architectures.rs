//! What every architecture of the registry must do, and what training and prediction promise.
//!
//! The encoder is the tiny random one of `tests/fixtures/learner`.

#![allow(clippy::unwrap_used, reason = "a failed test says so by panicking, in helpers too")]

use candle_core::{Device, Tensor, Var};
use nestling::annotation::{Fragments, LabelId, ModelId, Span};
use nestling::encoder::{Bert, Encoder, EncoderBatch, Encoders, Learning, Network, Start, Tape, plain};
use nestling::evaluation::Report;
use nestling::model::{
    Architecture, EncoderTraits, FirstWordFilter, ModelError, OptionValues, Prediction, SampleCounts, Samples,
    Sentence, Task, TaskHead, TaskHeadConfig, Unlearnable, architecture, architectures, labels_given,
};
use nestling::nn::{
    AdamW, AdamWConfig, Gradients, Mode, Operations, ParameterGroup, Processor, Rng, Vars, as_slice, read_tensors,
};
use nestling::parameter::Value;
use nestling::train::{
    Checkpoints, Config, Cost, Dataset, Event, Example, Manifest, Pace, PredictOptions, Predictor, RankedLabels,
    ResumeRequest, SentencePrediction, TrainError, TrainRequest, Trained, evaluate, interrupted, resume, train,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Fixtures of encoders that run operation by operation.
const WITHOUT_PASSES_BY_HAND: [&str; 3] = ["modernbert", "deberta-v3", "deberta-v2"];

fn fixture() -> PathBuf {
    fixture_of("bert")
}

fn fixture_of(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/learner/tiny-{kind}"))
}

/// A folder of one's own with the tiny encoder imported, and where snapshots go.
struct Desk {
    home: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::with("bert")
    }

    /// With the tiny encoder of another kind.
    fn with(kind: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        Encoders::at(home.path()).import(&fixture_of(kind), "tiny").unwrap();
        Self { home }
    }

    fn request(&self, name: &str, architecture: &dyn Architecture, dataset: Dataset, settings: &str) -> TrainRequest {
        let mut config = Config { encoder: "tiny".to_owned(), ..Config::default() };
        config.set("architecture", architecture.id()).unwrap();
        for pair in settings.split_whitespace() {
            let (key, value) = pair.split_once('=').unwrap();
            // What not all architectures have is for those that have it.
            let is_of_all = Config::parameters().iter().any(|parameter| parameter.key == key);
            if is_of_all || architecture.options().iter().any(|spec| spec.name == key) {
                config.set(key, value).unwrap();
            }
        }
        let encoders = Encoders::at(self.home.path());
        let snapshot = self.home.path().join(name);
        let dataset = Arc::new(dataset);
        TrainRequest { parent: Some(ModelId(4)), ..TrainRequest::new(dataset, config, encoders, snapshot) }
    }

    fn train(&self, name: &str, architecture: &dyn Architecture, dataset: Dataset, settings: &str) -> Trained {
        train(&self.request(name, architecture, dataset, settings), &NEVER, &mut |_| {}).unwrap()
    }
}

fn labels() -> Vec<(LabelId, String)> {
    vec![(LabelId(2), "A".to_owned()), (LabelId(5), "B".to_owned())]
}

fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

/// What an architecture can learn of sentences: those of tags hold no mention within another.
fn seen_by(architecture: &dyn Architecture, mut examples: Vec<Example>) -> Vec<Example> {
    if architecture.task() == Task::Tags {
        for example in &mut examples {
            let is_within = |a: Span, b: Span| a != b && b.start() <= a.start() && a.end() <= b.end();
            let all = example.gold.clone();
            example.gold.retain(|(span, _)| !all.iter().any(|(other, _)| is_within(*span, *other)));
        }
    }
    examples
}

/// Those that find mentions. The others are tested by [`given_words_get_labels`].
fn finders() -> impl Iterator<Item = &'static &'static dyn Architecture> {
    architectures().iter().filter(|architecture| !labels_given(architecture.id()))
}

/// What the loss was made from: spans, or words that get tags.
fn main_samples(samples: Samples) -> SampleCounts {
    if samples.words == SampleCounts::default() { samples.spans } else { samples.words }
}

/// "box" is an A when the word three positions before it is "red", a B when it is "blue"; both colours stand in every
/// sentence, so that only the distance tells. Half of the sentences nest it in a wider mention of the other label.
fn distant(count: usize, seed: u64) -> Vec<Example> {
    let filler = ["hill", "sea", "one", "two", "tree", "road", "lamp", "fish"];
    distant_among(filler, ["red", "blue", "box", "of"], count, seed)
}

/// The same with other words.
fn distant_among(filler: [&str; 8], [red, blue, the_box, of]: [&str; 4], count: usize, seed: u64) -> Vec<Example> {
    let mut rng = Rng::new(seed, "distant");
    (0..count)
        .map(|_| {
            let mut tokens: Vec<String> = (0..9).map(|_| filler[rng.below(filler.len())].to_owned()).collect();
            let at = 4 + rng.below(4);
            let is_a = rng.below(2) == 0;
            let (near, far) = if is_a { (red, blue) } else { (blue, red) };
            let others: Vec<usize> = (0..9).filter(|&i| i != at && i + 3 != at && i != at + 1).collect();
            tokens[at] = the_box.to_owned();
            tokens[at - 3] = near.to_owned();
            tokens[others[rng.below(others.len())]] = far.to_owned();
            let (label, other) = if is_a { (LabelId(2), LabelId(5)) } else { (LabelId(5), LabelId(2)) };
            let mut gold = vec![(span(at, at + 1), label)];
            if rng.below(2) == 0 {
                tokens[at + 1] = of.to_owned();
                gold.push((span(at, at + 2), other));
            }
            Example { tokens, gold, ..Example::default() }
        })
        .collect()
}

fn dataset(train: usize, dev: usize) -> Dataset {
    Dataset::freeze(labels(), distant(train, 1), distant(dev, 2)).unwrap()
}

/// Sentences that a model has labelled itself.
fn own_sentences(manifest: &Manifest) -> usize {
    manifest.settings.self_training.map_or(0, |own| own.sentences)
}

fn weights(trained: &Trained) -> Vec<u8> {
    std::fs::read(trained.snapshot.join("weights.safetensors")).unwrap()
}

/// What the model on disk reaches.
fn scored(trained: &Trained, examples: &[Example]) -> Report {
    let predictor = Predictor::load(&trained.snapshot).unwrap();
    evaluate(&predictor, examples, PredictOptions::default(), &NEVER).unwrap()
}

fn words(examples: &[Example]) -> Vec<Vec<String>> {
    examples.iter().map(|e| e.tokens.clone()).collect()
}

/// What an architecture builds above the tiny encoder, and sentences for it.
struct Built {
    vars: Vars,
    network: Network,
    head: Box<dyn TaskHead>,
    /// The lowest of the layers that it asks for, where it asks for any.
    lowest: Option<usize>,
    config: TaskHeadConfig,
    batch: EncoderBatch,
    sentences: Vec<Sentence>,
}

impl Built {
    fn new(architecture: &dyn Architecture, operations: Operations, examples: &[Example]) -> Self {
        let usual = |name: &str| match name {
            "max_width" => Some(Value::Whole(4)),
            "sp" => Some(Value::Real(0.3)),
            _ => None,
        };
        Self::with(architecture, operations, examples, usual)
    }

    fn with(
        architecture: &dyn Architecture,
        operations: Operations,
        examples: &[Example],
        asked: impl Fn(&str) -> Option<Value>,
    ) -> Self {
        let encoder = Encoder::open(&fixture()).unwrap();
        let definition = encoder.definition();
        // It ignores case, so that the form of words is a feature.
        let traits = EncoderTraits { pretrained: true, uncased: true, hidden: definition.config().hidden };
        let config = TaskHeadConfig {
            classes: 3,
            dropout: 0.1,
            bf16: false,
            operations,
            options: OptionValues::decide(architecture.options(), traits, |spec| asked(spec.name)).unwrap(),
        };
        let mut vars = Vars::trainable(3, &Device::Cpu);
        vars.stock(encoder.weights().iter().map(|(name, t)| (format!("encoder.{name}"), t.clone())));
        let lowest = architecture.layers(&config).lowest(definition.config().layers);
        let learning = if lowest.is_some() { Learning::All } else { Learning::Top(0) };
        let scope = vars.scope("encoder", ParameterGroup::Encoder);
        let network = Network::new(scope, definition.config(), learning, 0.1).unwrap();
        let head = architecture.build(vars.scope("head", ParameterGroup::TaskHead), &network, &config).unwrap();
        let aligned: Vec<_> = examples.iter().map(|e| definition.subwords().align(&e.tokens, 32).unwrap()).collect();
        let batch = EncoderBatch::new(&aligned.iter().collect::<Vec<_>>(), 1);
        let sentence = |e: &Example| {
            let gold: Vec<_> = e.gold.iter().map(|(s, l)| (*s, if *l == LabelId(2) { 1 } else { 2 })).collect();
            Sentence::new(&e.tokens, &gold)
        };
        let sentences = examples.iter().map(sentence).collect();
        Self { vars, network, head, lowest, config, batch, sentences }
    }

    fn bert(&self) -> &Bert {
        self.network.as_bert().unwrap()
    }

    /// The layers that the architecture asks for.
    fn layers(&self, mode: &mut Mode<'_>, tape: &mut Tape) -> Vec<Tensor> {
        match self.lowest {
            None => vec![plain::static_vectors(self.bert().word_table(), &self.batch).unwrap()],
            Some(lowest) => {
                let layers = lowest..=self.network.layers();
                self.bert().forward_layers(&self.batch, Start::Words, layers, mode, tape).unwrap()
            }
        }
    }
}

#[test]
fn every_variable_gets_a_gradient_and_moves() {
    let both = [Operations::ByHand, Operations::Plain];
    for (architecture, operations) in architectures().iter().flat_map(|a| both.map(|operations| (a, operations))) {
        let built = Built::new(*architecture, operations, &distant(8, 5));
        let (Built { vars, head, lowest, batch, sentences, .. }, bert) = (&built, built.bert());
        let sentences: Vec<&Sentence> = sentences.iter().collect();
        let mut adam = AdamW::new(AdamWConfig {
            encoder_lr: 1e-3,
            head_lr: 1e-3,
            weight_decay: 0.0,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-8,
            max_norm: 1.0,
        });

        let before = vars.copy_out().unwrap();
        assert!(before.len() > if lowest.is_some() { 40 } else { 8 });
        let mut rng = Rng::new(1, "steps");
        let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
        for step in 0..3 {
            let layers = built.layers(&mut Mode::Train(&mut rng), &mut tape);
            let layers: Vec<Var> = layers.iter().map(|layer| Var::from_tensor(layer).unwrap()).collect();
            let encoded = batch.encoded_layers(layers.iter().map(|v| v.as_tensor().clone()).collect()).unwrap();
            let loss = head.loss(&encoded, &sentences, &mut rng).unwrap();
            let store = loss.total.backward().unwrap();
            gradients.clear();
            gradients.add_store(vars, &store).unwrap();
            if let Some(lowest) = *lowest {
                let grads = layers.iter().map(|layer| store.get(layer.as_tensor()).unwrap().contiguous().unwrap());
                let grads: Vec<Tensor> = grads.collect();
                let grads: Vec<_> = grads.iter().map(|grad| as_slice(grad).unwrap()).collect();
                let grads: Vec<(usize, &[f32])> = (lowest..).zip(grads.iter().map(|grad| &**grad)).collect();
                bert.backward_from(batch, &mut tape, &grads, &mut gradients).unwrap();
            }
            for (name, variable) in vars.iter() {
                let gradient = gradients.dense(variable.var.as_tensor()).unwrap_or_default();
                assert!(
                    gradient.iter().any(|g| *g != 0.0),
                    "{} {operations:?}: {name} has no gradient at step {step}",
                    architecture.id()
                );
            }
            adam.step(vars, &mut gradients, 1.0).unwrap();
        }
        adam.catch_up(vars).unwrap();
        for (name, variable) in vars.iter() {
            let moved = (variable.var.as_tensor() - &before[name])
                .unwrap()
                .abs()
                .unwrap()
                .max_all()
                .unwrap()
                .to_scalar::<f32>()
                .unwrap();
            assert!(moved > 1e-6, "{}: {name} has moved by {moved}", architecture.id());
        }
    }
}

/// What the layer with the logits makes of a vector: probabilities.
fn probabilities(vars: &Vars, architecture: &str, vector: &[f32]) -> Vec<f32> {
    let layer = match architecture {
        "locate_label" => "head.classifier.output",
        "span_typing" => "head.output",
        _ => "head.span.output",
    };
    let variable = |part: &str| {
        let named = vars.iter().find(|(name, _)| **name == format!("{layer}.{part}"));
        assert!(named.is_some(), "{architecture} has no {layer}.{part}");
        named.unwrap().1.var.as_tensor().clone()
    };
    let (weight, bias) = (variable("weight").to_vec2::<f32>().unwrap(), variable("bias").to_vec1::<f32>().unwrap());
    assert_eq!(weight[0].len(), vector.len(), "{architecture}");
    let logit = |(row, bias): (&Vec<f32>, &f32)| bias + row.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>();
    let exponents: Vec<f32> = weight.iter().zip(&bias).map(logit).map(f32::exp).collect();
    let sum: f32 = exponents.iter().sum();
    exponents.iter().map(|exponent| exponent / sum).collect()
}

/// The vectors of given spans, above what the encoder says of the sentences.
fn span_vectors(built: &Built, spans: &[Vec<Span>]) -> Result<Vec<Vec<f32>>, ModelError> {
    let encoded = built.batch.encoded_layers(built.layers(&mut Mode::Predict, &mut Tape::default())).unwrap();
    let vectors = built.head.span_vectors(&encoded, &built.sentences.iter().collect::<Vec<_>>(), spans)?;
    Ok(vectors.to_vec2::<f32>().unwrap())
}

#[test]
fn spans_are_classified_by_their_vectors_and_nothing_else() {
    let mut examples = distant(5, 4);
    // One of several windows, and one word.
    let tokens: Vec<String> = examples.iter().flat_map(|example| example.tokens.clone()).collect();
    examples.push(Example { gold: vec![(span(40, 42), LabelId(5))], tokens, ..Example::default() });
    let word = Example { tokens: vec!["box".to_owned()], gold: vec![(span(0, 1), LabelId(2))], ..Example::default() };
    examples.push(word);
    let both = [Operations::ByHand, Operations::Plain];
    for (architecture, operations) in architectures().iter().flat_map(|a| both.map(|operations| (a, operations))) {
        let (id, built) = (architecture.id(), Built::new(*architecture, operations, &examples));
        let encoded = built.batch.encoded_layers(built.layers(&mut Mode::Predict, &mut Tape::default())).unwrap();
        let sentences: Vec<&Sentence> = built.sentences.iter().collect();
        let predictions = built.head.predict(&encoded, &sentences, FirstWordFilter::All).unwrap();
        let spans: Vec<Vec<Span>> =
            predictions.iter().map(|said| said.candidates.iter().map(|(span, _)| span).collect()).collect();
        let vectors = span_vectors(&built, &spans);
        if architecture.task() == Task::Tags {
            assert!(matches!(vectors, Err(ModelError::ClassifiesNoSpans)), "{id}");
            continue;
        }
        let vectors = vectors.unwrap();
        let said: Vec<&[f32]> =
            predictions.iter().flat_map(|said| said.candidates.iter().map(|(_, row)| row)).collect();
        assert!(vectors.len() == said.len() && said.len() > 5, "{id}");
        for (vector, said) in vectors.iter().zip(said) {
            // What is given is never "none".
            let said = if labels_given(id) { &said[1..] } else { said };
            for (got, expected) in probabilities(&built.vars, id, vector).iter().zip(said) {
                assert!((got - expected).abs() < 1e-4, "{id} {operations:?}: {got} {expected}");
            }
        }
        assert_eq!(vectors, span_vectors(&built, &spans).unwrap(), "{id}: the same again");
        // Whoever keeps a sentence company.
        let mut rest = vectors.as_slice();
        for (example, spans) in examples.iter().zip(&spans) {
            let (together, after) = rest.split_at(spans.len());
            rest = after;
            let alone = Built::new(*architecture, operations, std::slice::from_ref(example));
            let alone = span_vectors(&alone, std::slice::from_ref(spans)).unwrap();
            let off = alone.concat().iter().zip(&together.concat()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(alone.len() == together.len() && off < 1e-4, "{id} {operations:?}: {off}");
        }
    }
}

#[test]
fn what_is_said_lies_in_its_sentence_and_is_probable() {
    let mut examples = distant(6, 4);
    // One of several windows, and one word.
    let tokens: Vec<String> = examples.iter().flat_map(|example| example.tokens.clone()).collect();
    examples.push(Example { gold: vec![(span(40, 42), LabelId(5))], tokens, ..Example::default() });
    examples.push(Example {
        tokens: vec!["box".to_owned()],
        gold: vec![(span(0, 1), LabelId(2))],
        ..Example::default()
    });
    for architecture in architectures() {
        let built = Built::new(*architecture, Operations::ByHand, &examples);
        let id = architecture.id();
        let sentences: Vec<&Sentence> = built.sentences.iter().collect();
        let layers = built.layers(&mut Mode::Predict, &mut Tape::default());
        let encoded = built.batch.encoded_layers(layers).unwrap();
        let predictions = built.head.predict(&encoded, &sentences, FirstWordFilter::All).unwrap();
        assert_eq!(predictions.len(), sentences.len(), "{id}");
        let is_probability = |p: f32| (-1e-5..=1.0 + 1e-5).contains(&p);
        for (prediction, sentence) in predictions.iter().zip(&sentences) {
            for (span, row) in prediction.candidates.iter() {
                assert!(span.end().get() <= sentence.len() && row.len() == built.config.classes, "{id}: {span:?}");
                assert!(row.iter().all(|p| is_probability(*p)), "{id}: {row:?}");
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{id}: {row:?}");
            }
            if let Some(first_words) = &prediction.first_words {
                assert_eq!(first_words.len(), sentence.len(), "{id}");
                assert!(first_words.iter().all(|p| is_probability(*p)), "{id}");
            }
            let mut said = BTreeSet::new();
            for found in prediction.decided.iter().flatten() {
                assert!(found.span.end().get() <= sentence.len() && found.chosen, "{id}: {found:?}");
                assert!(is_probability(found.score), "{id}: {found:?}");
                assert!((1..built.config.classes as u32).contains(&found.class), "{id}: {found:?}");
                assert!(said.insert((found.span, found.class)), "{id}: {found:?} twice");
            }
        }
        // Models that differ by dropout are asked about the same candidates.
        let passes = built.head.predict_with_dropout(&encoded, &sentences, FirstWordFilter::All, 2).unwrap();
        let spans = |predictions: &[Prediction]| -> Vec<Vec<Span>> {
            predictions.iter().map(|said| said.candidates.iter().map(|(span, _)| span).collect()).collect()
        };
        assert!(passes.len() == 2 && passes.iter().all(|pass| spans(pass) == spans(&predictions)), "{id}");
        if architecture.task() != Task::TypesOfGivenSpans {
            let given = vec![Vec::new(); sentences.len()];
            assert!(built.head.type_spans(&encoded, &sentences, &given).is_err(), "{id}");
        }
        for sentence in sentences {
            let Unlearnable { too_wide, doubled, hidden } = architecture.unlearnable(sentence, &built.config);
            assert!(too_wide + doubled + hidden <= sentence.mentions().len(), "{id}");
        }
    }
}

#[test]
fn every_kind_of_encoder_trains_all_its_weights_and_predicts() {
    let of_bert = ["roberta", "xlm-roberta", "distilbert", "electra", "electra-narrow"];
    for kind in of_bert.into_iter().chain(WITHOUT_PASSES_BY_HAND) {
        let before = Encoder::open(&fixture_of(kind)).unwrap();
        let desk = Desk::with(kind);
        let trained = desk.train(kind, architectures()[0], dataset(24, 0), "epochs=1 encoder_lr=1e-3 max_width=4");
        let after = read_tensors(&trained.snapshot.join("weights.safetensors")).unwrap();
        for (name, weight) in before.weights() {
            let moved = (&after[&format!("encoder.{name}")] - weight).unwrap().abs().unwrap();
            assert!(moved.max_all().unwrap().to_scalar::<f32>().unwrap() > 1e-6, "{kind}: {name} has not moved");
        }
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let test = words(&distant(5, 9));
        let predicted = predictor.predict(&test, PredictOptions::default(), &NEVER).unwrap();
        assert_eq!(predicted.len(), 5, "{kind}");
    }
}

#[test]
fn a_word_three_positions_away_is_learnt_only_by_the_encoder() {
    let desk = Desk::new();
    for architecture in finders() {
        let test = seen_by(*architecture, distant(200, 9));
        let f1 = |effort: &str| {
            let settings = format!("epochs=12 encoder_lr=3e-3 head_lr=3e-3 dropout=0 max_width=4 effort={effort}");
            let name = format!("{}-{effort}", architecture.id());
            let trained = desk.train(&name, *architecture, dataset(800, 0), &settings);
            let predictor = Predictor::load(&trained.snapshot).unwrap();
            evaluate(&predictor, &test, PredictOptions::default(), &NEVER).unwrap().micro.f1().unwrap()
        };
        let (full, frozen) = (f1("full"), f1("heads"));
        assert!(full >= 0.95, "{}: {full}", architecture.id());
        // A guess between two labels.
        assert!(frozen < 0.7, "{}: {frozen} with the encoder frozen", architecture.id());
    }
}

/// Words of one letter: each has two subwords with the tokenizers of these fixtures, so that a distance is one in subwords.
fn distant_letters(count: usize, seed: u64) -> Vec<Example> {
    distant_among(["c", "d", "e", "g", "h", "i", "k", "l"], ["r", "u", "t", "p"], count, seed)
}

/// Frozen, such an encoder is no test: with blocks that only add to what is there, a random one says much of other words by
/// itself (F1 of 0.95 with the one of ModernBERT). That each weight learns is tested above.
#[test]
fn encoders_without_passes_by_hand_learn_a_word_three_positions_away() {
    for kind in WITHOUT_PASSES_BY_HAND {
        let desk = Desk::with(kind);
        let settings = "epochs=12 encoder_lr=3e-3 head_lr=3e-3 dropout=0 max_width=4";
        let dataset = Dataset::freeze(labels(), distant_letters(800, 1), Vec::new()).unwrap();
        let trained = desk.train(kind, architecture("smartspanner").unwrap(), dataset, settings);
        let f1 = scored(&trained, &distant_letters(200, 9)).micro.f1().unwrap();
        assert!(f1 >= 0.95, "{kind}: {f1}");
    }
}

#[test]
fn encoders_without_passes_by_hand_carry_every_architecture_but_one() {
    for kind in WITHOUT_PASSES_BY_HAND {
        let desk = Desk::with(kind);
        for architecture in architectures() {
            let name = format!("{kind}-{}", architecture.id());
            let dataset = Dataset::freeze(labels(), distant_letters(24, 1), distant_letters(8, 2)).unwrap();
            let request = desk.request(&name, *architecture, dataset, "epochs=1 max_width=4");
            let trained = train(&request, &NEVER, &mut |_| {});
            if architecture.id() == "dspert" {
                let message = trained.unwrap_err().to_string();
                assert!(message.contains("copies blocks of BERT's kind") && message.contains("choose"), "{message}");
                continue;
            }
            let predictor = Predictor::load(&trained.unwrap().snapshot).unwrap();
            let test = words(&distant_letters(5, 9));
            assert_eq!(predictor.predict(&test, PredictOptions::default(), &NEVER).unwrap().len(), 5, "{name}");
        }
    }
}

#[test]
fn encoders_without_passes_by_hand_give_the_same_model_at_any_number_of_threads_and_efforts_leave_blocks() {
    for kind in WITHOUT_PASSES_BY_HAND {
        let desk = Desk::with(kind);
        let train = |name: &str, more: &str| {
            let dataset = Dataset::freeze(labels(), distant_letters(40, 1), distant_letters(10, 2)).unwrap();
            let settings = format!("epochs=2 max_width=4 top_layers=1 {more}");
            desk.train(&format!("{kind}-{name}"), architecture("smartspanner").unwrap(), dataset, &settings)
        };
        let first = weights(&train("first", "seed=7 threads=1"));
        assert!(first == weights(&train("wide", "seed=7 threads=3")), "{kind}: threads change the model");
        assert!(first != weights(&train("other", "seed=8 threads=1")), "{kind}: the seed has no effect");
        let encoder = Encoder::open(&fixture_of(kind)).unwrap();
        let last = format!("encoder.layer.{}.", encoder.definition().config().layers - 1);
        for effort in ["heads", "top"] {
            let trained = train(effort, &format!("effort={effort}"));
            let after = read_tensors(&trained.snapshot.join("weights.safetensors")).unwrap();
            let values = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            for (name, before) in encoder.weights() {
                let of_last = name.starts_with(&last) || (kind == "modernbert" && name == "encoder.LayerNorm.weight");
                let moved = values(&after[&format!("encoder.{name}")]) != values(before);
                assert_eq!(moved, effort == "top" && of_last, "{kind}, {effort}: {name}");
            }
        }
    }
}

#[test]
fn less_effort_leaves_the_lower_blocks_as_they_are() {
    let desk = Desk::new();
    let encoder = Encoder::open(&fixture()).unwrap();
    for (effort, moves) in [("heads", [false, false, false]), ("top", [false, false, true]), ("full", [true; 3])] {
        let settings = format!("epochs=2 max_width=4 top_layers=1 effort={effort}");
        let trained = desk.train(effort, architectures()[0], dataset(40, 0), &settings);
        assert_eq!(trained.manifest.settings.effort.id(), effort);
        let weights = read_tensors(&trained.snapshot.join("weights.safetensors")).unwrap();
        let values = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (part, moves) in ["embeddings.word", "encoder.layer.0.", "encoder.layer.1."].iter().zip(moves) {
            for (name, before) in encoder.weights().iter().filter(|(name, _)| name.starts_with(part)) {
                let moved = values(&weights[&format!("encoder.{name}")]) != values(before);
                assert_eq!(moved, moves, "{effort}: {name}");
            }
        }
        assert!(weights.len() > encoder.weights().len());
    }
}

#[test]
fn a_seed_gives_the_same_model_bit_for_bit_at_any_number_of_threads() {
    let desk = Desk::new();
    for architecture in architectures() {
        let train = |name: &str, more: &str| {
            let settings = format!("epochs=2 max_width=4 {more}");
            weights(&desk.train(&format!("{}-{name}", architecture.id()), *architecture, dataset(40, 20), &settings))
        };
        let first = train("first", "seed=7 threads=1");
        assert!(first == train("again", "seed=7 threads=1"), "{}: a second run differs", architecture.id());
        assert!(first == train("wide", "seed=7 threads=3"), "{}: threads change the model", architecture.id());
        assert!(first != train("other", "seed=8 threads=1"), "{}: the seed has no effect", architecture.id());
    }
}

/// What a GPU runs, run on the CPU.
#[test]
fn candle_s_operations_train_and_predict_as_the_passes_by_hand_do() {
    let desk = Desk::new();
    for architecture in architectures() {
        for effort in ["full", "top"] {
            let train_on = |processor: &str| {
                let settings =
                    format!("epochs=3 bf16=false int16=false top_layers=1 effort={effort} processor={processor}");
                let name = format!("{}-{effort}-{processor}", architecture.id());
                let mut losses = Vec::new();
                let request = desk.request(&name, *architecture, dataset(48, 0), &settings);
                let trained = train(&request, &NEVER, &mut |event| match event {
                    Event::Progress { loss, .. } => losses.push(loss),
                    Event::Warning { message } => panic!("{message}"),
                    _ => {}
                });
                (losses, Predictor::load(&trained.unwrap().snapshot).unwrap())
            };
            let ((by_hand, ours), (plain, theirs)) = (train_on("cpu"), train_on("plain"));
            assert_eq!(by_hand.len(), 9);
            for (a, b) in by_hand.iter().zip(&plain) {
                assert!((a - b).abs() < 1e-3 * a.abs(), "{} {effort}: {by_hand:?} {plain:?}", architecture.id());
            }
            if labels_given(architecture.id()) {
                let test = distant(20, 3);
                let [ours, theirs] = [ours, theirs].map(|p| given_labels(&p, &test));
                for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
                    let p = |ranked: &RankedLabels| ranked.iter().find(|(id, _)| *id == LabelId(2)).unwrap().1;
                    assert!((p(a) - p(b)).abs() < 1e-3, "{a:?} {b:?}");
                }
                continue;
            }
            // Of all candidates: so short a training finds few heads.
            let options = PredictOptions { floor: 0.0, use_heads: false, exact: true, ..PredictOptions::default() };
            let sentences = words(&distant(20, 3));
            let [ours, theirs] = [ours, theirs].map(|p| p.predict(&sentences, options, &NEVER).unwrap());
            for (a, b) in ours.iter().zip(&theirs) {
                assert_eq!(a.candidates, b.candidates);
                // Their order is that of scores, which may change places where they are nearly equal.
                let by_span = |said: &SentencePrediction| -> BTreeMap<(Span, LabelId), f32> {
                    said.spans.iter().map(|said| ((said.span, said.label), said.score)).collect()
                };
                let (of_a, of_b) = (by_span(a), by_span(b));
                assert!(!of_a.is_empty() && of_a.len() == a.spans.len() && of_b.len() == b.spans.len());
                assert!(of_a.keys().eq(of_b.keys()), "{} {effort}: {of_a:?} {of_b:?}", architecture.id());
                let (scores, heads) = (of_a.values().zip(of_b.values()), a.first_words.iter().zip(&b.first_words));
                scores.chain(heads).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
                assert_eq!(a.first_words.len(), b.first_words.len());
            }
        }
    }
}

#[test]
fn without_a_gpu_a_training_runs_on_the_cpu_and_says_so() {
    let desk = Desk::new();
    let request = desk.request("cpu", architectures()[0], dataset(16, 0), "epochs=1 processor=gpu");
    let mut notes = Vec::new();
    let trained = train(&request, &NEVER, &mut |event| {
        if let Event::Warning { message } = event {
            notes.push(message);
        }
    });
    let settings = trained.unwrap().manifest.settings;
    match notes.as_slice() {
        [] => assert_eq!(settings.processor, Processor::Gpu),
        [note] => {
            assert_eq!(settings.processor, Processor::Cpu);
            assert!(note.starts_with("no GPU can be used, the training runs on the CPU: "), "{note}");
        }
        more => panic!("{more:?}"),
    }
}

/// Predictions that agree up to rounding.
fn assert_same(a: &SentencePrediction, b: &SentencePrediction) {
    let close = |x: f32, y: f32| (x - y).abs() < 1e-5;
    assert!(
        a.first_words.len() == b.first_words.len()
            && a.first_words.iter().zip(&b.first_words).all(|(x, y)| close(*x, *y))
    );
    assert_eq!(a.spans.len(), b.spans.len());
    for (x, y) in a.spans.iter().zip(&b.spans) {
        assert_eq!((x.span, x.label, x.chosen), (y.span, y.label, y.chosen));
        assert!(close(x.score, y.score), "{x:?} {y:?}");
    }
}

#[test]
fn padding_order_and_batch_size_change_nothing() {
    let desk = Desk::new();
    for architecture in finders() {
        let trained =
            desk.train(architecture.id(), *architecture, dataset(100, 0), "epochs=4 max_width=4 head_lr=3e-3");
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let mut sentences = words(&distant(6, 3));
        // Longer than the encoder's 32 positions, one word, and none.
        sentences.push(sentences.concat());
        sentences.push(vec!["box".to_owned()]);
        sentences.push(Vec::new());
        let predict = |sentences: &[Vec<String>], batch_size| {
            let options = PredictOptions { batch_size, use_heads: false, ..PredictOptions::default() };
            predictor.predict(sentences, options, &NEVER).unwrap()
        };
        let together = predict(&sentences, 32);
        assert!(together.iter().map(|p| p.spans.len()).sum::<usize>() > 5, "there is something to compare");
        assert!([0, 54].contains(&together[6].first_words.len()), "a probability for each word, or none at all");
        assert_eq!(together[8], SentencePrediction::default());
        for (sentence, expected) in sentences.iter().zip(&together) {
            assert_same(&predict(std::slice::from_ref(sentence), 1)[0], expected);
        }
        sentences.reverse();
        for (turned, expected) in predict(&sentences, 4).iter().rev().zip(&together) {
            assert_same(turned, expected);
        }
    }
}

#[test]
fn candidates_start_at_heads_unless_told_otherwise() {
    let desk = Desk::new();
    for architecture in finders() {
        let trained = desk.train(
            architecture.id(),
            *architecture,
            dataset(200, 0),
            "epochs=6 max_width=3 candidate_width=3 longest_seed=3 head_lr=3e-3",
        );
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let sentences = words(&distant(5, 3));
        let count = |options| -> usize {
            let all = predictor.predict(&sentences, options, &NEVER).unwrap();
            all.iter().map(|p| p.candidates).sum()
        };
        let all = count(PredictOptions { use_heads: false, ..PredictOptions::default() });
        if architecture.id() == "locate_label" {
            // Candidates are where seeds come to, and they have a filter of their own.
            let likely = count(PredictOptions::default());
            assert!(0 < likely && likely < all && all <= 5 * (9 * 3 - 3), "{likely} of {all}");
            continue;
        }
        assert_eq!(all, 5 * (9 * 3 - 3));
        assert_eq!(count(PredictOptions { threshold: Some(0.0), ..PredictOptions::default() }), all);
        if predictor.predict(&sentences, PredictOptions::default(), &NEVER).unwrap()[0].first_words.is_empty() {
            assert_eq!(count(PredictOptions { threshold: Some(1.1), ..PredictOptions::default() }), all);
            continue; // it has no heads to start at
        }
        let likely = count(PredictOptions::default());
        assert!(0 < likely && likely < all, "{likely} of {all}");
        assert_eq!(count(PredictOptions { threshold: Some(1.1), ..PredictOptions::default() }), 0);
    }
}

#[test]
fn a_snapshot_says_what_it_is_and_loads_without_the_encoders() {
    for architecture in architectures() {
        let desk = Desk::new();
        let (train_set, dev_set) = (distant(40, 1), distant(25, 2));
        let data = Dataset::freeze(labels(), train_set, dev_set.clone()).unwrap();
        let hash = data.hash().to_owned();
        let mut events = Vec::new();
        let request = desk.request("model", *architecture, data, "epochs=3 limit=30 batch_size=8 max_width=1");
        let trained = train(&request, &NEVER, &mut |event| events.push(event)).unwrap();

        let manifest = &trained.manifest;
        let outcome = &manifest.outcome;
        assert_eq!((manifest.dataset_hash.as_str(), manifest.parent), (hash.as_str(), Some(ModelId(4))));
        assert_eq!((outcome.train_sentences, manifest.settings.epochs), (30, 3));
        assert!((1..=manifest.settings.all_epochs()).contains(&outcome.best_epoch));
        let Unlearnable { too_wide, hidden, .. } = outcome.unlearnable;
        if architecture.id() == "locate_label" || labels_given(architecture.id()) {
            assert_eq!(
                (outcome.unlearnable, outcome.mentions > 35),
                (Unlearnable::default(), true),
                "it learns from all"
            );
        } else {
            assert!(too_wide + hidden > 5, "half of the sentences have a mention of two words, with another in it");
            assert_eq!(outcome.mentions, 30 + too_wide.max(hidden));
        }
        assert!(outcome.sentences_per_sec > 0.0 && outcome.wall_secs > 0.0);
        let heads = outcome.samples.first_words;
        assert!([(0, 0), (30, 30 * 8)].contains(&(heads.positive, heads.negative)), "{heads:?}");
        let samples = main_samples(outcome.samples);
        assert!(samples.positive > 0 && (samples.negative > 0 || labels_given(architecture.id())));

        let steps = events.iter().filter(|e| matches!(e, Event::Progress { .. })).count();
        let epochs = events.iter().filter(|e| matches!(e, Event::EpochDone { dev: Some(_), .. })).count();
        assert_eq!((steps, epochs), (3 * 4, 3));
        assert!(matches!(events.first(), Some(Event::Started { train_sentences: 30, dev_sentences: 25, .. })));
        assert!(matches!(events.last(), Some(Event::Saving)));

        Encoders::at(desk.home.path()).remove("tiny").unwrap();
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        assert_eq!(predictor.manifest(), manifest);
        let report = evaluate(&predictor, &dev_set, PredictOptions::default(), &NEVER).unwrap();
        assert_eq!(Some(&report), outcome.dev.as_ref(), "a loaded model gives what the trained one gave");
        assert_eq!(report.labels.keys().copied().collect::<Vec<_>>(), [LabelId(2), LabelId(5)]);

        assert!(matches!(train(&request, &NEVER, &mut |_| {}), Err(TrainError::Exists(_))));
        for file in ["weights.safetensors", "labels.json", "encoder/vocab.txt"] {
            let path = trained.snapshot.join(file);
            let bytes = std::fs::read(&path).unwrap();
            let mut changed = bytes.clone();
            *changed.last_mut().unwrap() ^= 1;
            std::fs::write(&path, changed).unwrap();
            assert!(matches!(Predictor::load(&trained.snapshot), Err(TrainError::Damaged { .. })), "{file}");
            std::fs::remove_file(&path).unwrap();
            assert!(matches!(Predictor::load(&trained.snapshot), Err(TrainError::Damaged { .. })), "{file}");
            std::fs::write(&path, bytes).unwrap();
        }
        Predictor::load(&trained.snapshot).unwrap();
    }
}

#[test]
fn the_best_epoch_is_kept_when_dev_is_large_enough_and_else_the_last() {
    let desk = Desk::new();
    for architecture in finders() {
        let train_with = |dev: usize, seed: u64| {
            let mut scores = Vec::new();
            // A rate that grows ruinous: with most seeds less is found after the last epoch than before.
            let settings = format!("epochs=6 encoder_lr=1e-1 head_lr=1e-1 warmup=1 max_width=3 seed={seed}");
            let name = format!("{}-dev{dev}-{seed}", architecture.id());
            let request = desk.request(&name, *architecture, dataset(60, dev), &settings);
            let trained = train(&request, &NEVER, &mut |event| {
                if let Event::EpochDone { dev, .. } = event {
                    scores.push(dev);
                }
            });
            let trained = trained.unwrap();
            let outcome = &trained.manifest.outcome;
            assert_eq!(scores[outcome.best_epoch - 1], outcome.dev);
            assert_eq!(Some(scored(&trained, &distant(dev, 2))), outcome.dev, "{name}: what was written");
            (scores, outcome.best_epoch)
        };
        let f1 = |r: &Option<Report>| r.as_ref().and_then(|r| r.micro.f1()).unwrap_or(0.0);
        let with_enough = |seed: u64| {
            let (scores, best) = train_with(20, seed);
            assert!(scores.iter().all(|s| f1(s) <= f1(&scores[best - 1])));
            (seed, scores, best)
        };
        let ruined = (1..20).map(with_enough).find(|(_, _, best)| *best < 6);
        let (seed, scores, best) = ruined.expect("a seed whose best epoch is not the last");
        assert!(f1(&scores[5]) < f1(&scores[best - 1]), "{}: {scores:?}", architecture.id());
        let (scores, best) = train_with(19, seed);
        assert_eq!((best, scores.iter().filter(|s| s.is_some()).count()), (6, 1));
    }
}

#[test]
fn a_model_labels_open_sentences_itself_and_begins_anew_with_them() {
    let desk = Desk::new();
    for architecture in finders() {
        let open = words(&distant(50, 9));
        let data = dataset(30, 0).with_unlabelled(open.clone()).unwrap();
        assert_ne!(data.hash(), dataset(30, 0).hash());
        let train_with = |own: usize| {
            let name = format!("{}-{own}", architecture.id());
            let settings = format!("epochs=4 self_epochs=3 self_training={own} batch_size=10 max_width=3");
            // Two rounds, which is the default.
            let (mut progress, mut labelled) = (Vec::new(), Vec::new());
            let request = desk.request(&name, *architecture, data.clone(), &settings);
            let trained = train(&request, &NEVER, &mut |event| match event {
                Event::LabelledItself { sentences, .. } => labelled.push(sentences),
                Event::Progress { step, epoch, .. } => progress.push((step, epoch)),
                _ => {}
            });
            (trained.unwrap(), labelled, progress.last().copied().unwrap())
        };
        let (with, labelled, last) = train_with(40);
        // Three times 30 and 40 are 13 batches of ten.
        assert_eq!((labelled, last), (vec![40, 40], (4 * 3 + 2 * 3 * 13, 4 + 2 * 3)));
        let manifest = &with.manifest;
        assert_eq!((own_sentences(manifest), manifest.outcome.train_sentences), (40, 30));
        let (all, labelled, _) = train_with(1000);
        assert_eq!((own_sentences(&all.manifest), labelled), (50, vec![50, 50]), "as many as there are");
        let (without, labelled, last) = train_with(0);
        assert_eq!((labelled, last), (vec![], (12, 4)));
        assert_ne!(weights(&with), weights(&without));
    }
    let empty = dataset(3, 0).with_unlabelled(vec![vec!["a".to_owned()], Vec::new()]);
    assert!(matches!(empty, Err(TrainError::EmptySentence { sentence: 2 })));
}

#[test]
fn cancelling_stops_and_leaves_nothing() {
    let desk = Desk::new();
    for architecture in architectures() {
        let cancel = AtomicBool::new(false);
        let mut steps = 0;
        let request = desk.request("model", *architecture, dataset(100, 40), "epochs=50");
        let result = train(&request, &cancel, &mut |event| {
            if matches!(event, Event::Progress { .. }) {
                steps += 1;
                // After the last step of the first epoch: dev comes next, and must stop too.
                cancel.store(steps == 7, Ordering::Relaxed);
            }
            assert!(!matches!(event, Event::EpochDone { .. }), "dev was scored to its end");
        });
        assert!(matches!(result, Err(TrainError::Cancelled)));
        assert_eq!(steps, 7);
        let left: Vec<_> = std::fs::read_dir(desk.home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["encoders"]);
    }
}

#[test]
fn a_ruinous_learning_rate_is_reported() {
    let desk = Desk::new();
    for architecture in architectures() {
        let mut request = desk.request("model", *architecture, dataset(64, 0), "epochs=50 warmup=0");
        request.config.encoder_lr = Some(1e30);
        request.config.head_lr = 1e30;
        let result = train(&request, &NEVER, &mut |_| {});
        assert!(matches!(result, Err(TrainError::NotFinite { .. })), "{result:?}");
    }
}

#[test]
fn the_built_in_encoder_learns_from_nothing() {
    let desk = Desk::new();
    for architecture in architectures() {
        let names = ["Anna", "Bert", "Carla", "Dora"];
        let mut rng = Rng::new(1, "names");
        let mut example = |_| {
            let name = names[rng.below(4)];
            let tokens: Vec<String> = ["today", name, "walked", "home"].map(str::to_owned).to_vec();
            Example { tokens, gold: vec![(span(1, 2), LabelId(2))], ..Example::default() }
        };
        let train_set: Vec<Example> = (0..32).map(&mut example).collect();
        let data = Dataset::freeze(labels(), train_set.clone(), Vec::new()).unwrap();
        let trained =
            desk.train(architecture.id(), *architecture, data, "encoder=small epochs=12 max_width=3 batch_size=8");
        assert_eq!(
            trained.manifest.settings.options.get("word_shapes"),
            Some(Value::Flag(true)),
            "it does not see case"
        );
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let report = evaluate(&predictor, &train_set, PredictOptions::default(), &NEVER).unwrap();
        assert!(report.micro.f1().unwrap() > 0.95, "{:?}", report.micro);
    }
}

#[test]
fn training_and_predicting_go_on_side_by_side() {
    let desk = Desk::new();
    for architecture in architectures() {
        let trained = desk.train(architecture.id(), *architecture, dataset(60, 0), "epochs=3 max_width=4");
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let sentences = words(&distant(10, 4));
        let alone = predictor.predict(&sentences, PredictOptions::default(), &NEVER).unwrap();
        let name = format!("{}-second", architecture.id());
        let request = desk.request(&name, *architecture, dataset(60, 0), "epochs=3 max_width=4");
        std::thread::scope(|scope| {
            let training = scope.spawn(|| train(&request, &NEVER, &mut |_| {}).unwrap());
            for _ in 0..20 {
                let beside = predictor.predict(&sentences, PredictOptions::default(), &NEVER).unwrap();
                assert_eq!(beside, alone, "what another model learns does not show");
            }
            assert_eq!(weights(&training.join().unwrap()), weights(&trained));
        });
    }
}

#[test]
fn a_training_and_a_prediction_tell_where_their_time_goes() {
    let desk = Desk::new();
    let data = dataset(40, 25);
    let sentences: Vec<Vec<String>> = data.train().iter().map(|example| example.tokens.clone()).collect();
    let words: usize = sentences.iter().map(Vec::len).sum();
    for architecture in architectures() {
        let trained = desk.train(architecture.id(), *architecture, data.clone(), "epochs=2");
        let cost = trained.cost;
        assert!(cost.times.iter().all(|(_, time)| !time.is_zero()), "{cost:?}");
        assert!(cost.times.sum().as_secs_f64() <= trained.manifest.outcome.wall_secs, "{cost:?}");
        assert!(cost.words == words && cost.positions > words, "{cost:?}");

        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let (options, mut twice) = (PredictOptions::default(), Cost::default());
        let plain = predictor.predict(&sentences, options, &NEVER).unwrap();
        for _ in 0..2 {
            assert_eq!(predictor.predict_measured(&sentences, options, &NEVER, &mut twice).unwrap(), plain);
        }
        assert_eq!((twice.words, twice.positions), (2 * cost.words, 2 * cost.positions));
        let taken = twice.times.iter().filter(|(_, time)| !time.is_zero()).map(|(part, _)| part);
        assert_eq!(taken.collect::<Vec<_>>(), ["subwords", "encoder", "heads"]);
    }
}

#[test]
fn an_interrupted_training_gives_the_model_of_one_that_was_not() {
    let with_seed = |seed: u32| {
        format!(
            "epochs=3 limit=36 self_training=4 self_epochs=2 batch_size=8 max_width=3 word_shapes=true \
             encoder_lr=1e-1 head_lr=1e-1 warmup=1 seed={seed}"
        )
    };
    for architecture in finders() {
        let desk = Desk::new();
        // The rate grows ruinous, so that the best epoch is one before the last: with most seeds, and with which depends
        // on the processor's instructions.
        let trained = |seed: u32| {
            let request = desk.request(&format!("whole-{seed}"), *architecture, dataset(40, 25), &with_seed(seed));
            (with_seed(seed), train(&request, &NEVER, &mut |_| {}).unwrap())
        };
        let found = (1..20).map(trained).find(|(_, whole)| whole.manifest.outcome.best_epoch < 7);
        let (settings, whole) = found.expect("a seed whose best epoch is not the last");
        let (settings, outcome) = (settings.as_str(), &whole.manifest.outcome);
        assert_eq!(Some(scored(&whole, &distant(25, 2))), outcome.dev);
        // In an epoch, at its end before dev is scored, before and after the model labels four sentences itself (after 15
        // steps, and after 43), and in the last one.
        for stops in [vec![2], vec![5], vec![3, 4, 11, 14], vec![15], vec![15, 16, 42], vec![30, 43], vec![44, 70]] {
            let checkpoints = Checkpoints { folder: desk.home.path().join("t.training"), pace: Pace::Steps(1) };
            let mut request = desk.request("resumed", *architecture, dataset(40, 25), settings);
            request.checkpoints = Some(checkpoints.clone());
            let again =
                ResumeRequest { checkpoints, snapshot: request.snapshot.clone(), project: None, threads: Some(1) };
            for (i, stop) in stops.iter().enumerate() {
                let cancel = AtomicBool::new(false);
                // Stops within the step that comes next; what was kept last is the state after `stop` steps.
                let on_event = &mut |event: Event| {
                    if let Event::Progress { step, .. } = event {
                        cancel.store(step == stop + 1, Ordering::Relaxed);
                    }
                };
                let result =
                    if i == 0 { train(&request, &cancel, on_event) } else { resume(&again, &cancel, on_event) };
                assert!(matches!(result, Err(TrainError::Cancelled)), "{result:?}");
                let kept = interrupted(&again.checkpoints.folder).unwrap().unwrap();
                assert_eq!((kept.step, kept.steps, kept.train_sentences), (*stop, 71, 36));
                assert_eq!(kept.settings, whole.manifest.settings);
            }
            let mut from = None;
            let resumed = resume(&again, &NEVER, &mut |event| {
                if let Event::Started { from_step, .. } = event {
                    from = Some(from_step);
                }
            })
            .unwrap();
            assert_eq!(from, stops.last().copied());
            assert_eq!(Some(scored(&resumed, &distant(25, 2))), outcome.dev);
            assert!(weights(&resumed) == weights(&whole), "{}: stopped after {stops:?}", architecture.id());
            let without_times = |trained: &Trained| {
                let mut manifest = trained.manifest.clone();
                manifest.outcome.wall_secs = 0.0;
                manifest.outcome.sentences_per_sec = 0.0;
                manifest.outcome.peak_memory_mb = None;
                manifest
            };
            assert_eq!(without_times(&resumed), without_times(&whole));
            // One that had come to its end is not done again.
            let there = resume(&again, &NEVER, &mut |event| panic!("{event:?}")).unwrap();
            assert_eq!((&there.manifest, there.cost), (&resumed.manifest, Cost::default()));
            std::fs::remove_dir_all(&resumed.snapshot).unwrap();
            std::fs::remove_dir_all(&again.checkpoints.folder).unwrap();
        }
    }
}

#[test]
fn a_damaged_checkpoint_is_refused_and_one_that_can_t_be_written_stops_nothing() {
    let desk = Desk::new();
    let architecture = architectures()[0];
    let folder = desk.home.path().join("t.training");
    let mut request = desk.request("model", architecture, dataset(40, 0), "epochs=2");
    request.checkpoints = Some(Checkpoints { folder: folder.clone(), pace: Pace::Steps(2) });
    let cancel = AtomicBool::new(false);
    let stopped = train(&request, &cancel, &mut |event| {
        cancel.fetch_or(matches!(event, Event::Progress { step: 3, .. }), Ordering::Relaxed);
    });
    assert!(matches!(stopped, Err(TrainError::Cancelled)));
    let kept: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let again = ResumeRequest {
        checkpoints: Checkpoints { folder: folder.clone(), pace: Pace::Steps(2) },
        snapshot: request.snapshot.clone(),
        project: None,
        threads: None,
    };
    for file in ["weights.safetensors", "moments.safetensors", "config.json", "../dataset.json"] {
        let path = kept[0].join(file);
        let bytes = std::fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let at = changed.len() / 2;
        changed[at] ^= 1;
        std::fs::write(&path, changed).unwrap();
        let refused = resume(&again, &NEVER, &mut |_| {});
        assert!(
            matches!(refused, Err(TrainError::DamagedTraining { .. } | TrainError::SpanOutside { .. })),
            "{file}: {refused:?}"
        );
        std::fs::write(&path, bytes).unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(interrupted(&folder).unwrap().is_none());
    assert!(matches!(resume(&again, &NEVER, &mut |_| {}), Err(TrainError::DamagedTraining { .. })));

    std::fs::write(&folder, "in the way").unwrap();
    let mut complaints = 0;
    let trained =
        train(&request, &NEVER, &mut |event| complaints += usize::from(matches!(event, Event::NotKept { .. })));
    trained.unwrap();
    assert!(complaints > 0);
}

#[test]
fn long_sentences_are_trained_in_parts() {
    let desk = Desk::new();
    for architecture in architectures() {
        // Each of about 900 words, so that a batch is far beyond what is worked on at once.
        let long = |count: usize| -> Vec<Example> {
            let parts = (0..count).map(|i| distant(100, i as u64));
            parts
                .map(|parts| {
                    let mut whole = Example { tokens: Vec::new(), gold: Vec::new(), ..Example::default() };
                    for part in parts {
                        let from = whole.tokens.len();
                        let moved =
                            part.gold.iter().map(|(s, l)| (span(from + s.start().get(), from + s.end().get()), *l));
                        whole.gold.extend(moved);
                        whole.tokens.extend(part.tokens);
                    }
                    whole
                })
                .collect()
        };
        // As many words in mentions: a mention of two words has one of one word in it.
        let gold: usize = long(4).iter().map(|example| example.gold.len()).sum();
        let data = Dataset::freeze(labels(), long(4), long(1)).unwrap();
        let settings = "epochs=1 max_width=2 batch_size=4 threads=2";
        let trained = desk.train(architecture.id(), *architecture, data, settings);
        let samples = main_samples(trained.manifest.outcome.samples);
        let has_negatives = samples.negative > 0 || labels_given(architecture.id());
        assert!(samples.positive == gold && has_negatives, "{samples:?} of {gold}");
    }
}

/// The options of SeqLab on data with mentions within mentions, of which it says what it can't see.
#[test]
fn tags_learn_the_outermost_or_the_innermost_mentions() {
    let (desk, seqlab) = (Desk::new(), architecture("seqlab").unwrap());
    let test = distant(200, 9);
    let nested = distant(800, 1).iter().filter(|example| example.gold.len() == 2).count();
    for (tags, level) in [("crf", "innermost"), ("softmax", "outermost"), ("softmax", "innermost")] {
        let settings = format!("epochs=12 encoder_lr=3e-3 head_lr=3e-3 dropout=0 tags={tags} level={level}");
        let trained = desk.train(&format!("{tags}-{level}"), seqlab, dataset(800, 0), &settings);
        let outcome = &trained.manifest.outcome;
        assert_eq!((outcome.unlearnable.hidden, outcome.mentions), (nested, 800 + nested));
        assert_eq!(trained.manifest.sees(), format!("the {level} mentions"));
        let mut seen = test.clone();
        for example in &mut seen {
            let kept = example.gold.iter().copied();
            example.gold = match level {
                "outermost" => kept.max_by_key(|(span, _)| span.width_tokens()).into_iter().collect(),
                _ => kept.min_by_key(|(span, _)| span.width_tokens()).into_iter().collect(),
            };
        }
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let options = PredictOptions { floor: 0.0, use_heads: false, ..PredictOptions::default() };
        let f1 = evaluate(&predictor, &seen, options, &NEVER).unwrap().micro.f1().unwrap();
        assert!(f1 >= 0.95, "{tags} {level}: {f1}");
        for said in predictor.predict(&words(&test[..20]), options, &NEVER).unwrap() {
            let chosen: Vec<_> = said.spans.iter().filter(|said| said.chosen).collect();
            assert!(chosen.windows(2).all(|pair| pair[0].span.end() <= pair[1].span.start()), "tags don't overlap");
            for mention in said.spans {
                let sum = mention.score + mention.runner_up.map_or(0.0, |(_, p)| p);
                assert!(mention.score >= 0.0 && sum <= 1.0 + 1e-6, "probabilities of labels that exclude each other");
            }
        }
    }
}

/// A mention begins with "red" and ends with "blue", two to five words later.
fn bracketed(count: usize, seed: u64) -> Vec<Example> {
    let mut rng = Rng::new(seed, "bracketed");
    let filler = ["hill", "sea", "one", "two", "tree", "road", "lamp", "fish"];
    (0..count)
        .map(|_| {
            let mut tokens: Vec<String> = (0..12).map(|_| filler[rng.below(filler.len())].to_owned()).collect();
            let width = 2 + rng.below(4);
            let start = rng.below(12 - width);
            tokens[start] = "red".to_owned();
            tokens[start + width - 1] = "blue".to_owned();
            Example { tokens, gold: vec![(span(start, start + width), LabelId(2))], ..Example::default() }
        })
        .collect()
}

#[test]
fn mentions_wider_than_any_seed_are_located() {
    let (desk, locate_label) = (Desk::new(), architecture("locate_label").unwrap());
    let data = Dataset::freeze(labels(), bracketed(800, 1), Vec::new()).unwrap();
    let settings = "epochs=12 encoder_lr=3e-3 head_lr=3e-3 dropout=0 longest_seed=4";
    let trained = desk.train("wide", locate_label, data, settings);
    let test = bracketed(300, 9);
    let predictor = Predictor::load(&trained.snapshot).unwrap();
    let said = predictor.predict(&words(&test), PredictOptions::default(), &NEVER).unwrap();
    let is_wide = |example: &Example| example.gold[0].0.width_tokens() == 5;
    let wide: Vec<_> = test.iter().zip(&said).filter(|(example, _)| is_wide(example)).collect();
    let found = wide.iter().filter(|(example, said)| said.mentions() == example.gold).count();
    assert!(wide.len() > 50 && found * 10 > wide.len() * 9, "{found} of {}", wide.len());
}

#[test]
fn bundling_learns_from_tags_and_spans_by_their_weights() {
    let bundling = architecture("bundling").unwrap();
    for (operations, tags) in [(Operations::ByHand, "softmax"), (Operations::Plain, "crf")] {
        let [mixed, of_tags, of_spans] = [0.1, 1.0, 0.0].map(|alpha| {
            let asked = |name: &str| match name {
                "alpha" => Some(Value::Real(alpha)),
                "negatives" => Some(Value::Whole(7)),
                "tags" => Some(Value::Choice(if tags == "crf" { "crf" } else { "softmax" })),
                _ => None,
            };
            let built = Built::with(bundling, operations, &distant(8, 5), asked);
            let layers = built.layers(&mut Mode::Predict, &mut Tape::default());
            let encoded = built.batch.encoded_layers(layers).unwrap();
            let sentences: Vec<&Sentence> = built.sentences.iter().collect();
            let loss = built.head.loss(&encoded, &sentences, &mut Rng::new(1, "loss")).unwrap();
            let mentions: usize = sentences.iter().map(|sentence| sentence.mentions().len()).sum();
            assert_eq!(loss.samples.spans, SampleCounts { positive: mentions, negative: 8 * 7 });
            assert_eq!(loss.samples.words.positive + loss.samples.words.negative, 8 * 9);
            loss.total.to_scalar::<f32>().unwrap()
        });
        assert!((of_tags - of_spans).abs() > 1e-3, "{of_tags} {of_spans}");
        let expected = 0.1 * of_tags + 0.9 * of_spans;
        assert!((mixed - expected).abs() < 1e-5, "{operations:?}: {mixed} {expected}");
    }
}

/// Both decoders answer, and each representation tells spans apart.
#[test]
fn bundling_decodes_by_spans_or_by_tags() {
    let (desk, bundling) = (Desk::new(), architecture("bundling").unwrap());
    let test = distant(200, 9);
    let nested = distant(800, 1).iter().filter(|example| example.gold.len() == 2).count();
    for options in [
        "representation=boundary",
        "representation=pooling negatives=15",
        "decode=tags alpha=0.5",
        "decode=tags tags=crf alpha=0.5",
    ] {
        let settings = format!("epochs=12 encoder_lr=3e-3 head_lr=3e-3 dropout=0 max_width=4 {options}");
        let name = options.replace(['=', ' '], "-");
        let trained = desk.train(&name, bundling, dataset(800, 0), &settings);
        let (by_tags, mut seen) = (options.contains("decode=tags"), test.clone());
        let (sees, hidden) = if by_tags { ("the outermost mentions", nested) } else { ("mentions without gaps", 0) };
        assert_eq!((trained.manifest.sees(), trained.manifest.outcome.unlearnable.hidden), (sees, hidden));
        if by_tags {
            for example in &mut seen {
                let widest = example.gold.iter().copied().max_by_key(|(span, _)| span.width_tokens());
                example.gold = widest.into_iter().collect();
            }
        }
        let report = scored(&trained, &seen);
        assert!(report.micro.f1().unwrap() >= 0.95, "{options}: {:?}", report.micro);
        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let options = PredictOptions { floor: 0.0, dropout_passes: 2, ..PredictOptions::default() };
        for said in predictor.predict(&words(&test[..20]), options, &NEVER).unwrap() {
            assert_eq!(said.first_words.is_empty(), !by_tags, "{name}");
            let chosen: Vec<_> = said.spans.iter().filter(|said| said.chosen).collect();
            let apart = chosen.windows(2).all(|pair| pair[0].span.end() <= pair[1].span.start());
            assert!(apart || !by_tags, "{name}: tags don't overlap");
        }
    }
}

/// The labels of the gold mentions, of one sentence after the other.
fn given_labels(predictor: &Predictor, examples: &[Example]) -> Vec<Vec<RankedLabels>> {
    let given = |example: &Example| {
        let contiguous = example.gold.iter().map(|(span, _)| Fragments::from(*span));
        let all = contiguous.chain(example.discontinuous.iter().map(|(fragments, _)| fragments.clone()));
        (example.tokens.clone(), all.collect::<Vec<_>>())
    };
    let given: Vec<_> = examples.iter().map(given).collect();
    predictor.label_given(&given, PredictOptions::default(), &NEVER).unwrap()
}

/// An entity from "red" to "box" is an A, one from "box" to "red" a B; half of them are in fragments, around words that say
/// the contrary.
fn ordered(count: usize, seed: u64) -> Vec<Example> {
    let mut rng = Rng::new(seed, "ordered");
    let filler = ["hill", "sea", "one", "two"];
    let example = |_| {
        let is_a = rng.below(2) == 0;
        let [first, last] = if is_a { ["red", "box"] } else { ["box", "red"] };
        let label = if is_a { LabelId(2) } else { LabelId(5) };
        let at = 1 + rng.below(3);
        let mut tokens: Vec<String> = (0..10).map(|_| filler[rng.below(filler.len())].to_owned()).collect();
        tokens[at] = first.to_owned();
        if rng.below(2) == 0 {
            tokens[at + 2] = last.to_owned();
            return Example { tokens, gold: vec![(span(at, at + 3), label)], ..Example::default() };
        }
        (tokens[at + 2], tokens[at + 3], tokens[at + 5]) = (last.to_owned(), first.to_owned(), last.to_owned());
        (tokens[at + 1], tokens[at + 4]) = (last.to_owned(), first.to_owned());
        let fragments = Fragments::new(vec![span(at, at + 1), span(at + 5, at + 6)]).unwrap();
        Example { tokens, discontinuous: vec![(fragments, label)], ..Example::default() }
    };
    (0..count).map(example).collect()
}

#[test]
fn given_words_get_labels() {
    let (desk, typing) = (Desk::new(), architecture("span_typing").unwrap());
    let data = Dataset::freeze(labels(), ordered(400, 1), ordered(40, 2)).unwrap();
    let trained = desk.train("typing", typing, data, "epochs=12 head_lr=3e-3 self_training=30");
    let outcome = &trained.manifest.outcome;
    assert_eq!((own_sentences(&trained.manifest), outcome.unlearnable), (0, Unlearnable::default()));
    assert_eq!((outcome.mentions, outcome.samples.spans.positive), (400, 400), "those in fragments, too");
    let dev = outcome.dev.as_ref().unwrap();
    assert!(dev.labels_given && dev.f1().is_none());
    assert_eq!(Some(&scored(&trained, &ordered(40, 2))), outcome.dev.as_ref());

    let (test, predictor) = (ordered(200, 9), Predictor::load(&trained.snapshot).unwrap());
    let report = evaluate(&predictor, &test, PredictOptions::default(), &NEVER).unwrap();
    assert!(report.accuracy() >= Some(0.97) && report.micro.support() == 200, "{report:?}");
    // Asked one by one it says the same, with probabilities, and it finds nothing by itself.
    let mut right = 0;
    for (example, ranked) in test.iter().zip(given_labels(&predictor, &test)) {
        let gold = example.gold.iter().map(|(_, label)| *label);
        let gold: Vec<_> = gold.chain(example.discontinuous.iter().map(|(_, label)| *label)).collect();
        let [ranked] = ranked.as_slice() else { panic!("{ranked:?}") };
        right += usize::from(ranked[0].0 == gold[0]);
        assert!(ranked.len() == 2 && ranked[0].1 >= ranked[1].1);
        assert!((ranked.iter().map(|(_, p)| p).sum::<f32>() - 1.0).abs() < 1e-4, "{ranked:?}");
    }
    assert_eq!(right, report.micro.true_positives);
    let found = predictor.predict(&words(&test), PredictOptions::default(), &NEVER).unwrap();
    assert!(found.iter().all(|said| said.spans.is_empty()));

    // Without mentions there is nothing to learn from, and nothing breaks.
    let bare = |example: &Example| Example { tokens: example.tokens.clone(), ..Example::default() };
    let without: Vec<Example> = ordered(20, 1).iter().map(bare).collect();
    let data = Dataset::freeze(labels(), without.clone(), without).unwrap();
    assert_eq!(desk.train("nothing", typing, data, "epochs=1").manifest.outcome.dev.unwrap().accuracy(), None);
}

#[test]
fn an_interrupted_training_on_fragments_gives_the_model_of_one_that_was_not() {
    let (desk, typing) = (Desk::new(), architecture("span_typing").unwrap());
    let data = || Dataset::freeze(labels(), ordered(40, 1), ordered(25, 2)).unwrap();
    let whole = desk.train("whole", typing, data(), "epochs=3 batch_size=8");
    let checkpoints = Checkpoints { folder: desk.home.path().join("t.training"), pace: Pace::Steps(1) };
    let mut request = desk.request("resumed", typing, data(), "epochs=3 batch_size=8");
    request.checkpoints = Some(checkpoints.clone());
    let cancel = AtomicBool::new(false);
    let stopped = train(&request, &cancel, &mut |event| {
        cancel.fetch_or(matches!(event, Event::Progress { step: 7, .. }), Ordering::Relaxed);
    });
    assert!(matches!(stopped, Err(TrainError::Cancelled)));
    let again = ResumeRequest { checkpoints, snapshot: request.snapshot.clone(), project: None, threads: None };
    let resumed = resume(&again, &NEVER, &mut |_| {}).unwrap();
    assert!(weights(&resumed) == weights(&whole));
    assert_eq!(resumed.manifest.dataset_hash, whole.manifest.dataset_hash);
}
