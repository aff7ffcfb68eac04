//! What architectures are promised that the built-in ones don't all use: inner layers, copies of blocks, answers that depend on
//! the whole sentence, words that are given, static vectors.

use super::super::super::TrainedLayers;
use super::*;
use crate::annotation::Fragments;
use crate::encoder::{Block, Encoded, Layers, Network};
use crate::model::{BatchLoss, Candidates, LabelTable, MAX_WIDTH, ModelError, OptionSpec, SampleCounts, predict_given};
use crate::nn::{Linear, Operations, Scope, cross_entropy, segment_max, segment_mean, select_rows, softmax};

/// Says of each word which label it has, from several layers, a copy of the last block's norm and query layer, and the mean of
/// the sentence.
#[derive(Debug)]
struct Probe(Layers);

#[derive(Debug)]
struct ProbeHead {
    copy: Block,
    output: Linear,
    config: TaskHeadConfig,
}

static ALL_LAYERS: Probe = Probe(Layers::From(0));
static TWO_LAYERS: Probe = Probe(Layers::LastN(2));

impl Architecture for Probe {
    fn id(&self) -> &'static str {
        "probe"
    }

    fn name(&self) -> &'static str {
        "Probe"
    }

    fn summary(&self) -> &'static str {
        "For tests."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[MAX_WIDTH]
    }

    fn layers(&self, _: &TaskHeadConfig) -> Layers {
        self.0
    }

    fn reach(&self, _: &TaskHeadConfig) -> Reach {
        Reach::Sentence
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let copy = encoder.as_bert().unwrap().blocks().last().unwrap().declare_copy(scope.scope("copy"))?;
        let output = Linear::uniform(scope.scope("output"), encoder.hidden(), config.classes)?;
        Ok(Box::new(ProbeHead { copy, output, config: config.clone() }))
    }
}

impl ProbeHead {
    /// `[W, C]`
    fn logits(&self, encoded: &Encoded) -> Result<Tensor, ModelError> {
        let (rows, operations) = (encoded.words(), self.config.operations);
        let mut sum = encoded.hidden().zeros_like()?;
        for (number, layer) in encoded.layers().iter().enumerate() {
            sum = (sum + (layer * (1.0 + number as f64))?)?;
        }
        let words = encoded.max_of_subwords(&sum, operations)?;
        let means = segment_mean(&words, rows.sentences(), operations)?;
        let owners: Vec<u32> =
            (0..).zip(rows.sentences()).flat_map(|(i, words)| words.clone().map(move |_| i)).collect();
        let words = (words + select_rows(&means, &owners)?)?;
        let words = (words + select_rows(&sum, rows.cls())?)?;
        let words = self.copy.norm.forward(&self.copy.query.forward(&words, operations)?, operations)?;
        Ok(self.output.forward(&operations.gelu(&words)?, operations)?)
    }
}

impl TaskHead for ProbeHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], _: &mut Rng) -> Result<BatchLoss, ModelError> {
        let class = |sentence: &&Sentence| -> Vec<Class> {
            (0..sentence.len()).map(|word| sentence.class(Span::from_range(word..word + 1).unwrap())).collect()
        };
        let classes: Vec<Class> = batch.iter().flat_map(class).collect();
        let spans = SampleCounts { positive: classes.len(), negative: 0 };
        let total = cross_entropy(&self.logits(encoded)?, &classes)?;
        Ok(BatchLoss { total, samples: Samples { spans, ..Samples::default() } })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        _: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let probabilities = softmax(&self.logits(encoded)?)?.flatten_all()?.to_vec1::<f32>()?;
        let mut rows = probabilities.chunks(self.config.classes);
        let one = |sentence: &&Sentence| {
            let spans = (0..sentence.len()).filter_map(|word| Span::from_range(word..word + 1)).collect();
            let table = rows.by_ref().take(sentence.len()).flatten().copied().collect();
            let candidates = Candidates::new(spans, self.config.classes, table).ok_or(ModelError::Incomplete)?;
            Ok(Prediction::of_candidates(candidates))
        };
        batch.iter().map(one).collect()
    }
}

/// The model of a probe, with what it was made of.
struct Built {
    vars: Vars,
    model: Model,
    settings: Settings,
}

fn built(probe: &'static dyn Architecture, effort: TrainedLayers, processor: Processor, vars: Option<Vars>) -> Built {
    let encoder = Encoders::at(std::path::Path::new("nowhere")).get("small").unwrap();
    let traits = EncoderTraits { pretrained: true, uncased: false, hidden: encoder.definition().config().hidden };
    let config = Config { effort, top_layers: 1, bf16: false, int16: false, ..Config::default() };
    let settings = config.resolve(100, 0, traits, processor).unwrap();
    let mut vars = vars.unwrap_or_else(|| Vars::trainable(3, &Device::Cpu));
    let labels = vec![LabelId(0), LabelId(1), LabelId(2)];
    let model = Model::build_as(probe, &mut vars, encoder.definition().clone(), &settings, labels).unwrap();
    Built { vars, model, settings }
}

/// Words of a sentence and its mentions.
type Labelled = (Vec<String>, Vec<(Span, LabelId)>);
/// A variable's gradient, where it has one.
type NamedGradient = (String, Option<Vec<f32>>);

/// Sentences in which each third word is labelled.
fn examples(lengths: &[usize]) -> Vec<Labelled> {
    let gold = |len: usize| (0..len).step_by(3).map(|i| (Span::from_range(i..i + 1).unwrap(), LabelId(i as u32 % 2)));
    lengths.iter().map(|len| (words(*len), gold(*len).collect())).collect()
}

impl Built {
    fn prepare(&self, examples: &[Labelled]) -> Vec<Prepared> {
        let parts = examples.iter().map(|(words, gold)| (words.as_slice(), gold.as_slice()));
        self.model.prepare_all(parts, &NEVER).unwrap()
    }

    /// The loss of a step and the gradient of each variable.
    fn learn(&self, prepared: &[Prepared]) -> (f32, Vec<NamedGradient>) {
        let mut pass = PassBuffers::starting_with(PartTimes::default(), &self.settings);
        let batch = self.model.batch(&prepared.iter().collect::<Vec<_>>());
        let mut rng = Rng::new(8, "noise");
        let (loss, _) = self.model.learn(&self.vars, &batch, 1.0, &mut rng, &mut pass, &NEVER).unwrap();
        let gradient = |(name, variable): (&str, &crate::nn::Variable)| {
            (name.to_owned(), pass.gradients.dense(variable.var.as_tensor()))
        };
        (loss, self.vars.iter().map(gradient).collect())
    }
}

const EFFORTS: [TrainedLayers; 3] = TrainedLayers::ALL;

#[test]
fn inner_layers_learn_by_hand_as_by_candle_s_operations() {
    for (probe, effort) in [&ALL_LAYERS, &TWO_LAYERS].into_iter().flat_map(|p| EFFORTS.map(|effort| (p, effort))) {
        let [by_hand, plain] = [Processor::Cpu, Processor::Plain].map(|p| built(probe, effort, p, None));
        let examples = examples(&[7, 1, 30]);
        let (loss, ours) = by_hand.learn(&by_hand.prepare(&examples));
        let (expected, theirs) = plain.learn(&plain.prepare(&examples));
        assert!((loss - expected).abs() < 1e-4 * expected, "{probe:?} {effort:?}: {loss} {expected}");
        assert_eq!(ours.len(), theirs.len());
        let mut from_encoder = 0;
        for ((name, ours), (_, theirs)) in ours.iter().zip(&theirs) {
            assert_eq!(ours.is_some(), theirs.is_some(), "{probe:?} {effort:?}: {name}");
            let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
            from_encoder += usize::from(name.starts_with("encoder."));
            let size = theirs.iter().fold(0f32, |size, x| size.max(x.abs()));
            let off = ours.iter().zip(theirs).fold(0f32, |off, (a, b)| off.max((a - b).abs()));
            // A key bias shifts all scores of a row alike: its gradient is rounding noise around 0.
            let bound = if name.ends_with("key.bias") { 1e-3 } else { 2e-3 * size };
            assert!(off <= bound, "{probe:?} {effort:?}: {name} is off by {off} of {size}");
        }
        assert_eq!(from_encoder > 0, effort != TrainedLayers::TaskHead);
    }
}

#[test]
fn layers_that_never_change_are_kept_and_make_no_difference() {
    for (probe, effort) in [&ALL_LAYERS, &TWO_LAYERS].into_iter().flat_map(|p| EFFORTS.map(|effort| (p, effort))) {
        let built = built(probe, effort, Processor::Cpu, None);
        let mut kept = built.prepare(&examples(&[5, 40, 12]));
        let before = built.learn(&kept);
        let threads = Threads::new("test", Some(2)).unwrap();
        built.model.keep_states(&mut kept, &threads, &NEVER).unwrap();
        assert_eq!(kept.iter().all(|p| p.states.is_some()), effort != TrainedLayers::Full);
        assert!(built.learn(&kept) == before, "{probe:?} {effort:?}");
        let again = built.prepare(&examples(&[5, 40, 12]));
        let found = |prepared: &[Prepared]| -> Vec<_> {
            said(&built.model, prepared, FirstWordFilter::All, None).into_iter().map(|said| said.found).collect()
        };
        assert!(found(&kept) == found(&again), "{probe:?} {effort:?}");
    }
}

#[test]
fn an_answer_may_depend_on_the_whole_of_a_sentence_that_is_predicted_in_parts() {
    let mut built = built(&ALL_LAYERS, TrainedLayers::Full, Processor::Cpu, None);
    let prepared = built.prepare(&[(words(WORDS), Vec::new()), (words(3), Vec::new())]);
    built.model.most.predict = usize::MAX;
    let whole = said(&built.model, &prepared, FirstWordFilter::All, Some(2));
    assert_eq!(whole[0].candidates, WORDS);
    assert!(whole[0].acquisition.disagreement.unwrap() > 0.0, "models that differ by dropout don't agree");
    for most in [1, 300, 600] {
        built.model.most.predict = most;
        let parts = said(&built.model, &prepared, FirstWordFilter::All, Some(2));
        for (whole, parts) in whole.iter().zip(&parts) {
            assert!(whole.found == parts.found && whole.candidates == parts.candidates, "at most {most}");
            assert_eq!(format!("{:?}", whole.acquisition), format!("{:?}", parts.acquisition), "at most {most}");
        }
    }
}

#[test]
fn copies_of_blocks_begin_as_these_learn_as_these_and_are_saved() {
    let before = built(&ALL_LAYERS, TrainedLayers::Full, Processor::Cpu, None);
    let blocks = before.model.encoding.network().layers();
    let values = before.vars.copy_out().unwrap();
    let numbers = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let stem = format!("encoder.encoder.layer.{}", blocks - 1);
    let copies: Vec<&String> = values.keys().filter(|name| name.starts_with("head.copy.")).collect();
    assert_eq!(copies.len(), 16);
    for name in &copies {
        let original = &values[&name.replace("head.copy", &stem)];
        assert_eq!(numbers(&values[*name]), numbers(original), "{name}");
    }
    for (name, variable) in before.vars.iter() {
        let is_of_head = name.starts_with("head.output");
        assert_eq!(variable.part == ParameterGroup::TaskHead, is_of_head, "{name}");
    }
    // One moves without the other.
    let name = "head.copy.attention.self.query.weight";
    let (_, copy) = before.vars.iter().find(|(of, _)| *of == name).unwrap();
    copy.var.set(&copy.var.affine(2.0, 1.0).unwrap()).unwrap();
    let moved = before.vars.copy_out().unwrap();
    assert_ne!(numbers(&moved[name]), numbers(&values[name]));
    let original = name.replace("head.copy", &stem);
    assert_eq!(numbers(&moved[&original]), numbers(&values[&original]));
    // What is saved is what is there again; without it there is no model.
    let saved = || moved.clone().into_iter();
    let loaded =
        built(&ALL_LAYERS, TrainedLayers::Full, Processor::Cpu, Some(Vars::fixed(saved().collect(), &Device::Cpu)));
    loaded.vars.check_all_taken().unwrap();
    assert_eq!(numbers(&loaded.vars.copy_out().unwrap()[name]), numbers(&moved[name]));
    let mut without = Vars::fixed(saved().filter(|(of, _)| of != name).collect(), &Device::Cpu);
    let (definition, labels) = (loaded.model.definition().clone(), loaded.model.labels.clone());
    let refused = Model::build_as(&ALL_LAYERS, &mut without, definition, &loaded.settings, labels).unwrap_err();
    assert!(refused.to_string().contains(name), "{refused}");
}

/// Labels given words by the greatest numbers of their static vectors.
#[derive(Debug)]
struct Typing;

#[derive(Debug)]
struct TypingHead {
    output: Linear,
}

impl Architecture for Typing {
    fn id(&self) -> &'static str {
        "typing"
    }

    fn name(&self) -> &'static str {
        "Typing"
    }

    fn summary(&self) -> &'static str {
        "For tests."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn task(&self) -> Task {
        Task::TypesOfGivenSpans
    }

    fn layers(&self, _: &TaskHeadConfig) -> Layers {
        Layers::Static
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let output = Linear::uniform(scope.scope("output"), encoder.embedding(), config.classes - 1)?;
        Ok(Box::new(TypingHead { output }))
    }
}

impl TypingHead {
    /// `[M, C - 1]` of all mentions that are given.
    fn logits(&self, encoded: &Encoded, given: &[Vec<Fragments>]) -> Result<Tensor, ModelError> {
        let words = encoded.max_of_subwords(encoded.hidden(), Operations::ByHand)?;
        let sentences = given.iter().zip(encoded.words().sentences());
        let hulls = sentences.flat_map(|(given, words)| {
            given.iter().map(|given| given.hull().range()).map(|hull| words.start + hull.start..words.start + hull.end)
        });
        let mentions = segment_max(&words, &hulls.collect::<Vec<_>>(), Operations::ByHand)?;
        Ok(self.output.forward(&mentions, Operations::ByHand)?)
    }
}

impl TaskHead for TypingHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], _: &mut Rng) -> Result<BatchLoss, ModelError> {
        let given: Vec<Vec<Fragments>> =
            batch.iter().map(|s| s.mentions().iter().map(|m| m.fragments.clone()).collect()).collect();
        let classes: Vec<Class> = batch.iter().flat_map(|s| s.mentions().iter().map(|m| m.class - 1)).collect();
        let total = cross_entropy(&self.logits(encoded, &given)?, &classes)?;
        Ok(BatchLoss { total, samples: Samples::default() })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        _: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        predict_given(self, encoded, batch)
    }

    fn type_spans(
        &self,
        encoded: &Encoded,
        _: &[&Sentence],
        given: &[Vec<Fragments>],
    ) -> Result<Vec<LabelTable>, ModelError> {
        let labels = softmax(&self.logits(encoded, given)?)?.to_vec2::<f32>()?;
        let mut rows = labels.into_iter().map(|row| [vec![0.0], row].concat());
        let table = |given: &Vec<Fragments>| {
            let rows: Vec<Vec<f32>> = rows.by_ref().take(given.len()).collect();
            LabelTable::new(4, rows.concat()).ok_or(ModelError::Incomplete)
        };
        given.iter().map(table).collect()
    }
}

#[test]
fn given_words_get_labels_from_static_vectors() {
    let built = built(&Typing, TrainedLayers::Full, Processor::Cpu, None);
    let names: Vec<&str> = built.vars.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["head.output.bias", "head.output.weight"], "the encoder is not trained");
    let mut prepared = built.prepare(&examples(&[7, 300, 30]));
    let (loss, gradients) = built.learn(&prepared);
    assert!(loss.is_finite() && gradients.iter().all(|(_, gradient)| gradient.as_ref().is_some_and(|g| g.len() > 2)));
    let threads = Threads::new("test", Some(2)).unwrap();
    built.model.keep_states(&mut prepared, &threads, &NEVER).unwrap();
    assert!(prepared.iter().all(|p| p.states.is_none()), "there is nothing to keep");

    // Every mention that is there gets one label, also in a sentence that is too long for one pass of the encoder.
    let answers = said(&built.model, &prepared, FirstWordFilter::All, None);
    for (answer, prepared) in answers.iter().zip(&prepared) {
        let spans: Vec<Span> = answer.found.iter().map(|found| found.span).collect();
        let gold: Vec<Span> = prepared.sentence.mentions().iter().map(|m| m.fragments.hull()).collect();
        assert_eq!(spans, gold);
        assert!(answer.found.iter().all(|found| found.chosen && found.class > 0));
    }
    let (words, given) = (words(30), vec![Fragments::from(Span::from_range(3..4).unwrap())]);
    let work = PredictionWork {
        threads: &threads,
        filter: FirstWordFilter::All,
        batch_size: 1,
        acquire: None,
        floor: 0.0,
        exact: false,
        cancel: &NEVER,
    };
    let table = built.model.label_given(&words, &given, work).unwrap();
    let row: Vec<f32> = table.iter().flatten().copied().collect();
    assert!(row.len() == 4 && row[0] == 0.0 && (row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    let said = answers[2].found.iter().find(|found| found.span == given[0].hull()).unwrap();
    assert_eq!(row[said.class as usize], said.score);

    let (_vars, finds) = untrained(Config::default(), false);
    let refused = finds.label_given(&words, &given, work).unwrap_err();
    assert!(refused.to_string().contains("does not label given words"), "{refused}");
}
