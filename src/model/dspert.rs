//! DSpERT: deep span representations (Zhu, Liu and Li 2023).
//!
//! A span begins as the greatest numbers of its tokens' hidden states some layers below the last, and goes up through blocks
//! of its own, copies of the encoder's, in which it attends to its tokens one layer below (Eq. 2 and 3; see
//! [`SpanTransformer`]). A classifier of two layers says what it is (Eq. 5 and 6), and learns from smoothed boundaries.
//! `docs/systems.md` says what the paper leaves open and what we chose.
//!
//! Ours: candidates are spans of words, which reach from the first token of the first word to the last token of the last;
//! the mean of the losses in place of their sum; and, unless `filter=none` asks for all of them, only spans that start at a
//! predicted first word, as in [`super::smartspanner`], whose loss and samples it has then.

mod classifier;
mod smoothing;

use super::candidates::{FirstWords, Rows, enumerate, rows_of, sample, split_up};
use super::{
    Architecture, BatchLoss, FirstWordFilter, MAX_WIDTH, ModelError, OptionDefault, OptionSpec, Prediction, Samples,
    Sentence, THRESHOLD, TaskHead, TaskHeadConfig, WORD_SHAPE_FEATURES, dropout_of_models, options,
};
use crate::annotation::Span;
use crate::encoder::{Encoded, Layers, Network, SpanBatch, SpanTransformer, WordRows, column_factors};
use crate::nn::kernels::multiply_row;
use crate::nn::{
    Gradients, Linear, Mode, NnError, Operations, Rng, Scope, as_slice, select_rows, softmax, with_gradients,
};
use crate::parameter::{Kind, Value};
use candle_core::{Tensor, Var};
use classifier::{Classifier, ClassifierGradients, Features, SoftClass, soft_class};
use smoothing::{LabelMasses, Smoothing};
use std::ops::Range;

/// L~ of Table 3.
const DEPTH: OptionSpec = OptionSpec {
    name: "depth",
    takes: Kind::Whole(0, 64),
    default: OptionDefault::Fixed(Value::Whole(3)),
    shapes_weights: true,
    help: "blocks of the span transformer, at most as many as the encoder has",
};
const FILTER: OptionSpec = OptionSpec {
    name: "filter",
    takes: Kind::Choice(&["heads", "none"]),
    default: OptionDefault::Fixed(Value::Choice("heads")),
    shapes_weights: true,
    help: "heads: only spans that start at a predicted head (faster); none: all spans",
};
/// w and sp of SmartSpanNER, which count with `filter=heads` alone.
const HEAD_WEIGHT: OptionSpec = OptionSpec {
    help: "with filter=heads: weight of the head (NEH) loss against the span loss",
    ..options::HEAD_WEIGHT
};
const SAMPLING: OptionSpec = OptionSpec {
    help: "with filter=heads: probability of training on a span that starts at no head",
    ..options::SAMPLING
};
/// ε of boundary smoothing.
const SMOOTHING: OptionSpec = OptionSpec {
    name: "smoothing",
    takes: Kind::Real(0.0, 1.0),
    default: OptionDefault::Fixed(Value::Real(0.1)),
    shapes_weights: false,
    help: "share of a mention's mass that spans with neighbouring ends get",
};
const SPAN_DROPOUT: OptionSpec = OptionSpec {
    name: "span_dropout",
    takes: Kind::Real(0.0, 0.9),
    default: OptionDefault::Fixed(Value::Real(0.4)),
    shapes_weights: false,
    help: "dropout of the classifier's inner layer",
};
/// D of boundary smoothing.
const DISTANCE: usize = 1;
/// Numbers of keys that spans have side by side where candle's operations work on them: bounds their memory, of which each
/// block takes several times that. So few in tests of this file that they work on several pieces.
const MOST_PLAIN: usize = if cfg!(test) { 1 << 10 } else { 1 << 23 };

#[derive(Debug)]
pub(super) struct DSpErt;

impl Architecture for DSpErt {
    fn id(&self) -> &'static str {
        "dspert"
    }

    fn name(&self) -> &'static str {
        "DSpERT"
    }

    fn summary(&self) -> &'static str {
        "Puts a transformer over spans on top of the encoder's blocks: finds nested mentions, slowly."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[DEPTH, FILTER, HEAD_WEIGHT, SAMPLING, SMOOTHING, SPAN_DROPOUT, MAX_WIDTH, WORD_SHAPE_FEATURES, THRESHOLD]
    }

    fn layers(&self, config: &TaskHeadConfig) -> Layers {
        Layers::LastN(config.options.whole(&DEPTH).map_or(1, |depth| depth + 1))
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let encoder = encoder.as_bert().ok_or(ModelError::OtherBlocks)?;
        let (options, hidden) = (&config.options, encoder.hidden());
        let (max_width, depth) = (options.whole(&MAX_WIDTH)?, options.whole(&DEPTH)?.min(encoder.layers()));
        let top = encoder.layers() - depth;
        let mut copies = scope.scope("spans");
        // What of the encoder stays as it is, stays so in its copy.
        let copy = |(number, block): (usize, &crate::encoder::Block)| {
            let scope = copies.scope(&format!("layer.{number}"));
            block.declare_copy(scope.frozen_if(!block.query.weight().is_variable()))
        };
        let blocks = encoder.blocks().iter().enumerate().skip(top).map(copy).collect::<Result<Vec<_>, _>>()?;
        let has_shapes = options.flag(&WORD_SHAPE_FEATURES)?;
        let mut neh = None;
        if options.choice(&FILTER)? == "heads" {
            neh = Some(Linear::uniform(scope.scope("neh"), 2 * hidden, 2)?);
        }
        Ok(Box::new(DSpErtHead {
            transformer: SpanTransformer::new(blocks, hidden, config.dropout, config.bf16),
            classifier: Classifier::new(&mut scope, hidden, max_width, config.classes, has_shapes)?,
            neh,
            smoothing: Smoothing { epsilon: options.real(&SMOOTHING)? as f32, distance: DISTANCE },
            classes: config.classes,
            max_width,
            head_weight: options.real(&HEAD_WEIGHT)?,
            sampling: options.real(&SAMPLING)? as f32,
            dropout: config.dropout,
            span_dropout: options.real(&SPAN_DROPOUT)? as f32,
            operations: config.operations,
        }))
    }
}

#[derive(Debug)]
struct DSpErtHead {
    transformer: SpanTransformer,
    classifier: Classifier,
    /// Whether a word is a first word, from its first and its last token; with `filter=heads` alone.
    neh: Option<Linear>,
    smoothing: Smoothing,
    classes: usize,
    max_width: usize,
    head_weight: f64,
    sampling: f32,
    dropout: f32,
    /// Of the classifier.
    span_dropout: f32,
    operations: Operations,
}

/// The tokens of all words of a batch, one behind the other, T of them.
struct Tokens {
    /// Hidden states `[T, H]`, one more than blocks, from low to high.
    states: Vec<Tensor>,
    /// Where each word begins, and where the last one ends.
    starts: Vec<usize>,
}

impl Tokens {
    fn new(words: &WordRows, layers: &[Tensor]) -> Result<Self, NnError> {
        let (mut rows, mut starts) = (Vec::new(), vec![0]);
        for word in words.subwords() {
            rows.extend(word.map(|row| row as u32));
            starts.push(rows.len());
        }
        let states = layers.iter().map(|layer| select_rows(layer, &rows)).collect::<Result<_, _>>()?;
        Ok(Self { states, starts })
    }

    /// The tokens of each candidate.
    fn spans(&self, rows: &Rows) -> Vec<Range<usize>> {
        let ends = rows.first.iter().zip(&rows.last);
        ends.map(|(first, last)| self.starts[*first as usize]..self.starts[*last as usize + 1]).collect()
    }
}

impl DSpErtHead {
    /// The hidden states that the transformer works with.
    fn tokens(&self, encoded: &Encoded) -> Result<Tokens, NnError> {
        let layers = encoded.layers();
        Tokens::new(encoded.words(), &layers[layers.len().saturating_sub(self.transformer.depth() + 1)..])
    }

    fn features(batch: &[&Sentence], rows: &Rows) -> Vec<Features> {
        let shapes: Vec<u32> = batch.iter().flat_map(|sentence| sentence.word_shapes().iter().copied()).collect();
        let of = |((first, last), width): ((&u32, &u32), &u32)| Features {
            width: *width as usize + 1,
            shapes: [first, last].map(|word| shapes[*word as usize]),
        };
        rows.first.iter().zip(&rows.last).zip(&rows.width).map(of).collect()
    }

    /// What each candidate is to be, its boundaries smoothed.
    fn soft_classes(&self, batch: &[&Sentence], rows: &Rows) -> Vec<SoftClass> {
        let mut all = Vec::with_capacity(rows.len());
        for (sentence, group) in batch.iter().zip(&rows.groups) {
            let is_learnt = |span: &Span| span.width_tokens() <= self.max_width;
            let spans = sentence.mentions().iter().filter_map(|mention| mention.fragments.contiguous());
            // Of two labels on a span the first is learnt, as everywhere.
            let gold: std::collections::BTreeSet<Span> = spans.filter(is_learnt).collect();
            let gold = gold.into_iter().map(|span| (span, sentence.class(span)));
            let masses: LabelMasses = self.smoothing.apply(gold, sentence.len(), self.max_width);
            for row in group.rows.clone() {
                let start = rows.first[row] as usize - group.words.start;
                let span = Span::from_range(start..start + rows.width[row] as usize + 1);
                all.push(span.map(|span| soft_class(&masses, span)).unwrap_or_default());
            }
        }
        all
    }

    /// Logits of "no first word" and "first word", `[W, 2]`.
    fn first_word_logits(&self, neh: &Linear, encoded: &Encoded, mode: &mut Mode<'_>) -> Result<Tensor, NnError> {
        let ends = encoded.ends()?;
        let words = ends.dim(0)? / 2;
        let both = Tensor::cat(&[ends.narrow(0, 0, words)?, ends.narrow(0, words, words)?], 1)?;
        neh.forward(&self.operations.dropout(&both, self.dropout, mode)?, self.operations)
    }

    /// Probability of each word to be the first of an entity, where that is predicted.
    fn first_words(&self, encoded: &Encoded) -> Result<Option<Vec<f32>>, NnError> {
        let Some(neh) = &self.neh else { return Ok(None) };
        let logits = self.first_word_logits(neh, encoded, &mut Mode::Predict)?;
        Ok(Some(softmax(&logits)?.narrow(1, 1, 1)?.flatten_all()?.to_vec1()?))
    }

    /// Mean of the candidates' losses, a scalar.
    fn span_loss(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        rows: &Rows,
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, NnError> {
        let tokens = self.tokens(encoded)?;
        let (spans, features, classes) =
            (tokens.spans(rows), Self::features(batch, rows), self.soft_classes(batch, rows));
        let spans = self.transformer.batch(&spans, mode);
        let drop = mode.mask(self.span_dropout);
        let table = self.classifier.table()?;
        let weight = 1.0 / rows.len().max(1) as f32;
        let device = table.device();
        if self.operations == Operations::Plain {
            let inputs: Vec<&Tensor> = tokens.states.iter().chain([&table]).collect();
            let mut sum = PlainGradients::of(&inputs, self.transformer.variables(), &self.classifier.variables())?;
            for part in self.plain_parts(&spans) {
                let (states, table) = sum.leaves.split_at(tokens.states.len());
                let states: Vec<Tensor> = states.iter().map(|leaf| leaf.as_tensor().clone()).collect();
                let vectors = self.transformer.forward_plain(&states, &spans, part.clone())?;
                let of = (&features[part.clone()], &classes[part.clone()]);
                let loss = self.classifier.loss_plain(&vectors, table[0].as_tensor(), of, (drop, part.start))?;
                sum.add(&(loss * f64::from(weight))?)?;
            }
            return sum.finish(&inputs);
        }
        let states = tokens.states.iter().map(as_slice).collect::<Result<Vec<_>, _>>()?;
        let states: Vec<&[f32]> = states.iter().map(|states| &**states).collect();
        let wanted: Vec<bool> = tokens.states.iter().map(Tensor::track_op).collect();
        let read = self.classifier.read(&table)?;
        let (mut learnt, mut gradients) = (ClassifierGradients::none(&read), Gradients::default());
        let head = |rows: Range<usize>, vectors: &[f32], grad: &mut [f32]| {
            let of = (&features[rows.clone()], &classes[rows.clone()]);
            Ok::<_, NnError>(read.learn(vectors, of, (drop, rows.start), weight, grad))
        };
        let each = |part: ClassifierGradients| {
            learnt.add(&part);
            Ok(())
        };
        let of_tokens = self.transformer.learn(&states, &spans, &wanted, &mut gradients, head, each)?;
        let tensor = |values, like: &Tensor| Tensor::from_vec(values, like.shape(), device);
        let mut known = Vec::new();
        for (states, grad) in tokens.states.iter().zip(of_tokens.tokens) {
            if let Some(grad) = grad {
                known.push((states.clone(), tensor(grad, states)?));
            }
        }
        for variable in self.transformer.variables() {
            known.push((variable.clone(), tensor(gradients.take(variable).0, variable)?));
        }
        known.push((table.clone(), tensor(learnt.table, &table)?));
        for (variable, grad) in self.classifier.variables().into_iter().zip(learnt.variables) {
            known.push((variable.clone(), tensor(grad, variable)?));
        }
        with_gradients(&Tensor::new(learnt.loss as f32, device)?, known, self.operations)
    }

    /// What models say of the same candidates, row after row: each is this one with its vectors multiplied by factors `[H]`,
    /// or as they are.
    fn probabilities(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        rows: &Rows,
        models: &[Option<Vec<f32>>],
    ) -> Result<Vec<Vec<f32>>, NnError> {
        let mut all: Vec<Vec<f32>> = models.iter().map(|_| Vec::with_capacity(rows.len() * self.classes)).collect();
        if rows.len() == 0 {
            return Ok(all);
        }
        let tokens = self.tokens(encoded)?;
        let (spans, features, table) = (tokens.spans(rows), Self::features(batch, rows), self.classifier.table()?);
        let spans = self.transformer.batch(&spans, &mut Mode::Predict);
        if self.operations == Operations::Plain {
            for part in self.plain_parts(&spans) {
                let vectors = self.transformer.forward_plain(&tokens.states, &spans, part.clone())?;
                for (all, factors) in all.iter_mut().zip(models) {
                    let mut vectors = vectors.clone();
                    if let Some(factors) = factors {
                        vectors =
                            vectors.broadcast_mul(&Tensor::from_slice(factors, factors.len(), table.device())?)?;
                    }
                    all.extend(self.classifier.probabilities_plain(&vectors, &table, &features[part.clone()])?);
                }
            }
            return Ok(all);
        }
        let states = tokens.states.iter().map(as_slice).collect::<Result<Vec<_>, _>>()?;
        let states: Vec<&[f32]> = states.iter().map(|states| &**states).collect();
        let read = self.classifier.read(&table)?;
        let head = |rows: Range<usize>, vectors: &[f32]| {
            let of = |factors: &Option<Vec<f32>>| {
                let Some(factors) = factors else { return read.probabilities(vectors, &features[rows.clone()]) };
                let mut vectors = vectors.to_vec();
                vectors.chunks_exact_mut(factors.len()).for_each(|vector| multiply_row(vector, factors));
                read.probabilities(&vectors, &features[rows.clone()])
            };
            Ok::<_, NnError>(models.iter().map(of).collect::<Vec<_>>())
        };
        let each = |parts: Vec<Vec<f32>>| {
            all.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
            Ok(())
        };
        self.transformer.predict(&states, &spans, head, each)?;
        Ok(all)
    }

    /// What the output layer gets of N spans in prediction, `[N, I]`; N is not 0.
    fn inner(&self, encoded: &Encoded, batch: &[&Sentence], rows: &Rows) -> Result<Tensor, NnError> {
        let tokens = self.tokens(encoded)?;
        let (spans, features, table) = (tokens.spans(rows), Self::features(batch, rows), self.classifier.table()?);
        let spans = self.transformer.batch(&spans, &mut Mode::Predict);
        if self.operations == Operations::Plain {
            let part = |part: Range<usize>| {
                let vectors = self.transformer.forward_plain(&tokens.states, &spans, part.clone())?;
                self.classifier.inner_plain(&vectors, &table, &features[part])
            };
            let parts = self.plain_parts(&spans).map(part).collect::<Result<Vec<Tensor>, NnError>>()?;
            return Ok(Tensor::cat(&parts, 0)?);
        }
        let states = tokens.states.iter().map(as_slice).collect::<Result<Vec<_>, _>>()?;
        let states: Vec<&[f32]> = states.iter().map(|states| &**states).collect();
        let (read, mut all) = (self.classifier.read(&table)?, Vec::new());
        let head = |rows: Range<usize>, vectors: &[f32]| Ok::<_, NnError>(read.inner(vectors, &features[rows]));
        let each = |part: Vec<f32>| {
            all.extend(part);
            Ok(())
        };
        self.transformer.predict(&states, &spans, head, each)?;
        let size = all.len() / rows.len().max(1);
        Ok(Tensor::from_vec(all, (rows.len(), size), table.device())?)
    }

    /// The spans in parts that candle's operations work on one after the other.
    fn plain_parts(&self, spans: &SpanBatch<'_>) -> impl Iterator<Item = Range<usize>> + use<> {
        let keys = spans.spans.iter().map(Range::len).max().unwrap_or(1) * self.transformer.hidden();
        let (most, all) = ((MOST_PLAIN / keys.max(1)).max(1), spans.spans.len());
        (0..all).step_by(most).map(move |from| from..all.min(from + most))
    }

    /// The candidates of a batch, given the probabilities of first words.
    fn candidates(
        &self,
        batch: &[&Sentence],
        first_words: Option<&[f32]>,
        filter: FirstWordFilter,
    ) -> (Rows, Vec<Vec<Span>>) {
        let may_start = |first_words: &[f32], word: usize| first_words.get(word).is_some_and(|p| filter.passes(*p));
        enumerate(batch, self.max_width, |word| first_words.is_none_or(|first_words| may_start(first_words, word)))
    }

    fn answer(
        &self,
        batch: &[&Sentence],
        first_words: Option<Vec<f32>>,
        lists: Vec<Vec<Span>>,
        probabilities: Vec<f32>,
    ) -> Result<Vec<Prediction>, ModelError> {
        let candidates = split_up(lists, self.classes, probabilities)?;
        let mut first_words = first_words.map(Vec::into_iter);
        let predictions = batch.iter().zip(candidates).map(|(sentence, candidates)| Prediction {
            first_words: first_words.as_mut().map(|all| all.take(sentence.len()).collect()),
            ..Prediction::of_candidates(candidates)
        });
        Ok(predictions.collect())
    }
}

impl TaskHead for DSpErtHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let sampling = if self.neh.is_some() { self.sampling } else { 1.0 };
        let (rows, spans) = sample(batch, self.max_width, sampling, rng);
        let mode = &mut Mode::Train(rng);
        let mut total = self.span_loss(encoded, batch, &rows, mode)?;
        let mut samples = Samples { spans, ..Samples::default() };
        if let Some(neh) = &self.neh {
            let first_words = FirstWords::of(batch, self.max_width);
            samples.first_words = first_words.counts;
            total = (total * (1.0 - self.head_weight))?;
            if !first_words.words.is_empty() {
                let logits = self.first_word_logits(neh, encoded, mode)?;
                total = (total + (first_words.loss(&logits)? * self.head_weight)?)?;
            }
        }
        Ok(BatchLoss { total, samples })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let first_words = self.first_words(encoded)?;
        let (rows, lists) = self.candidates(batch, first_words.as_deref(), filter);
        let probabilities = self.probabilities(encoded, batch, &rows, &[None])?;
        self.answer(batch, first_words, lists, probabilities.into_iter().flatten().collect())
    }

    /// Numbers of the spans' vectors are missing, not of the tokens': so the transformer runs once.
    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let (rows, lists) = self.candidates(batch, self.first_words(encoded)?.as_deref(), filter);
        let rate = dropout_of_models(self.dropout);
        let factors = |model| Some(column_factors(self.transformer.hidden(), rate, model));
        let models: Vec<_> = (0..passes).map(factors).collect();
        let probabilities = self.probabilities(encoded, batch, &rows, &models)?;
        let answer = |(model, probabilities)| {
            let first_words = self.first_words(&encoded.without_columns(rate, model)?)?;
            self.answer(batch, first_words, lists.clone(), probabilities)
        };
        probabilities.into_iter().enumerate().map(answer).collect()
    }

    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        Ok(self.inner(encoded, batch, &rows_of(batch, spans))?)
    }
}

/// A loss by candle's operations that is made piece by piece, so that of all pieces only the gradients stay.
struct PlainGradients {
    /// The inputs, each as a variable by itself.
    leaves: Vec<Var>,
    variables: Vec<Tensor>,
    value: Option<Tensor>,
    /// Of leaves and variables.
    sums: Vec<Option<Tensor>>,
}

impl PlainGradients {
    fn of(inputs: &[&Tensor], variables: Vec<&Tensor>, more: &[&Tensor]) -> Result<Self, NnError> {
        let leaves = inputs.iter().map(|input| Ok(Var::from_tensor(&input.detach())?));
        let leaves = leaves.collect::<Result<Vec<_>, NnError>>()?;
        let variables: Vec<Tensor> = variables.into_iter().chain(more.iter().copied()).cloned().collect();
        let sums = vec![None; leaves.len() + variables.len()];
        Ok(Self { leaves, variables, value: None, sums })
    }

    fn add(&mut self, loss: &Tensor) -> Result<(), NnError> {
        let store = loss.backward()?;
        let all = self.leaves.iter().map(Var::as_tensor).chain(&self.variables);
        for (sum, tensor) in self.sums.iter_mut().zip(all) {
            let Some(grad) = store.get(tensor) else { continue };
            *sum = Some(match sum.take() {
                Some(before) => (before + grad)?,
                None => grad.clone(),
            });
        }
        let loss = loss.detach();
        self.value = Some(match self.value.take() {
            Some(before) => (before + loss)?,
            None => loss,
        });
        Ok(())
    }

    fn finish(self, inputs: &[&Tensor]) -> Result<Tensor, NnError> {
        let all = inputs.iter().map(|input| (*input).clone()).chain(self.variables);
        let known = all.zip(self.sums).filter_map(|(tensor, sum)| Some((tensor, sum?))).collect();
        let device = inputs.first().map_or(candle_core::Device::Cpu, |input| input.device().clone());
        let value = self.value.map_or_else(|| Ok(Tensor::new(0f32, &device)?), Ok::<_, NnError>)?;
        with_gradients(&value, known, Operations::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Encoder, EncoderBatch, Learning, Start, Tape};
    use crate::model::{Class, EncoderTraits, OptionValues};
    use crate::nn::{ParameterGroup, Vars};
    use candle_core::Device;
    use std::path::Path;

    /// Words, and first word, end and class of each mention.
    type Labelled = (&'static str, &'static [(usize, usize, Class)]);

    const SENTENCES: [Labelled; 3] =
        [("The mayors of Aarhus met .", &[(0, 4, 1), (3, 4, 2)]), ("Boxe-sea red of qqq", &[(0, 1, 2)]), ("sea", &[])];

    /// A head above what the tiny encoder says of some sentences, as variables.
    struct Built {
        vars: Vars,
        head: Box<dyn TaskHead>,
        layers: Vec<Var>,
        batch: EncoderBatch,
        sentences: Vec<Sentence>,
    }

    fn built(depth: u64, filter: &'static str, operations: Operations) -> Built {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
        let encoder = Encoder::open(&fixture).unwrap();
        let (definition, mut vars) = (encoder.definition(), Vars::trainable(3, &Device::Cpu));
        let mut below = Vars::trainable(3, &Device::Cpu);
        below.stock(encoder.weights().iter().map(|(name, t)| (format!("e.{name}"), t.clone())));
        let scope = below.scope("e", ParameterGroup::Encoder);
        let network = Network::new(scope, definition.config(), Learning::All, 0.0).unwrap();
        let bert = network.as_bert().unwrap();
        let traits = EncoderTraits { pretrained: true, uncased: true, hidden: bert.hidden() };
        let options = OptionValues::decide(DSpErt.options(), traits, |spec| match spec.name {
            "depth" => Some(Value::Whole(depth)),
            "filter" => Some(Value::Choice(filter)),
            "max_width" => Some(Value::Whole(3)),
            _ => None,
        });
        let config = TaskHeadConfig { classes: 3, dropout: 0.1, bf16: false, operations, options: options.unwrap() };
        let head = DSpErt.build(vars.scope("head", ParameterGroup::TaskHead), &network, &config).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let aligned = SENTENCES.map(|(text, _)| definition.subwords().align(&words(text), 32).unwrap());
        let batch = EncoderBatch::new(&aligned.iter().collect::<Vec<_>>(), 1);
        let lowest = DSpErt.layers(&config).lowest(bert.layers()).unwrap();
        let (layers, mut tape) = (lowest..=bert.layers(), Tape::default());
        let layers = bert.forward_layers(&batch, Start::Words, layers, &mut Mode::Predict, &mut tape).unwrap();
        let layers = layers.iter().map(|layer| Var::from_tensor(layer).unwrap()).collect();
        let sentence = |(text, gold): Labelled| {
            let gold: Vec<_> = gold.iter().map(|(s, e, c)| (Span::from_range(*s..*e).unwrap(), *c)).collect();
            Sentence::new(&words(text), &gold)
        };
        Built { vars, head, layers, batch, sentences: SENTENCES.map(sentence).to_vec() }
    }

    impl Built {
        fn encoded(&self) -> Encoded {
            let layers = self.layers.iter().map(|layer| layer.as_tensor().clone()).collect();
            self.batch.encoded_layers(layers).unwrap()
        }

        fn sentences(&self) -> Vec<&Sentence> {
            self.sentences.iter().collect()
        }

        /// The loss, its samples, and the gradients of all variables and layers.
        fn learn(&self) -> (f32, Samples, Vec<(String, Vec<f32>)>) {
            let loss = self.head.loss(&self.encoded(), &self.sentences(), &mut Rng::new(5, "noise")).unwrap();
            let store = loss.total.backward().unwrap();
            let named = self.vars.iter().map(|(name, variable)| (name.to_owned(), variable.var.clone()));
            let layers = self.layers.iter().enumerate().map(|(i, layer)| (format!("layer {i}"), layer.clone()));
            let gradient = |(name, var): (String, Var)| {
                let gradient = store.get(var.as_tensor()).unwrap_or_else(|| panic!("{name} has no gradient"));
                (name, gradient.flatten_all().unwrap().to_vec1().unwrap())
            };
            (loss.total.to_scalar().unwrap(), loss.samples, named.chain(layers).map(gradient).collect())
        }
    }

    #[test]
    fn by_hand_and_by_candle_losses_and_gradients_are_the_same() {
        // With a limit of blocks that is beyond the encoder's two.
        for (depth, filter) in [(0, "none"), (1, "heads"), (9, "none"), (9, "heads")] {
            let [(loss, samples, ours), (plain, same, theirs)] =
                [Operations::ByHand, Operations::Plain].map(|operations| built(depth, filter, operations).learn());
            assert!((loss - plain).abs() < 1e-4 * plain.abs(), "{depth} {filter}: {loss} {plain}");
            assert_eq!(samples, same);
            // 6, 4 and 1 words, up to three wide; the gold of four words is too wide.
            let all = samples.spans.positive + samples.spans.negative;
            assert!(samples.spans.positive == 2 && if filter == "none" { all == 15 + 9 + 1 } else { all < 25 });
            for ((name, got), (_, want)) in ours.iter().zip(&theirs) {
                let size = want.iter().fold(1e-3f32, |size, x| size.max(x.abs()));
                let off = got.iter().zip(want).fold(0f32, |off, (a, b)| off.max((a - b).abs())) / size;
                assert!(off < 1e-3, "{depth} {filter}: {name} is off by {off} of {size}");
                let is_moved = got.iter().any(|x| *x != 0.0);
                assert!(is_moved, "{depth} {filter}: {name} has no gradient");
            }
        }
    }

    #[test]
    fn only_spans_of_predicted_heads_are_candidates() {
        for operations in [Operations::ByHand, Operations::Plain] {
            let built = built(2, "heads", operations);
            let (encoded, sentences) = (built.encoded(), built.sentences());
            let all = built.head.predict(&encoded, &sentences, FirstWordFilter::All).unwrap();
            assert_eq!(all.iter().map(|said| said.candidates.len()).sum::<usize>(), 15 + 9 + 1);
            let mut heads: Vec<f32> = all.iter().flat_map(|said| said.first_words.clone().unwrap()).collect();
            assert_eq!(heads.len(), 6 + 4 + 1);
            heads.sort_by(f32::total_cmp);
            let filter = FirstWordFilter::AtLeast(heads[5]);
            let some = built.head.predict(&encoded, &sentences, filter).unwrap();
            let passes = built.head.predict_with_dropout(&encoded, &sentences, filter, 2).unwrap();
            for (number, (some, all)) in some.iter().zip(&all).enumerate() {
                assert_eq!(some.first_words, all.first_words);
                let first_words = some.first_words.as_ref().unwrap();
                let expected = all.candidates.iter().filter(|(span, _)| first_words[span.start().get()] >= heads[5]);
                let (expected, got): (Vec<_>, Vec<_>) = (expected.collect(), some.candidates.iter().collect());
                assert_eq!(got.len(), expected.len());
                for ((span, got), (same, expected)) in got.iter().zip(&expected) {
                    // Candle's products of fewer rows are rounded otherwise.
                    let is_near = got.iter().zip(*expected).all(|(a, b)| (a - b).abs() < 1e-6);
                    let is_same = got == expected || (operations == Operations::Plain && is_near);
                    assert!(span == same && is_same, "{operations:?} {span:?}: {got:?} {expected:?}");
                }
                let [first, second] = [0, 1].map(|pass| &passes[pass][number].candidates);
                let spans = |candidates: &super::super::Candidates| candidates.iter().map(|c| c.0).collect::<Vec<_>>();
                assert!(spans(first) == spans(&some.candidates) && spans(second) == spans(first));
                assert!(first.is_empty() || (first != second && *first != some.candidates), "passes differ");
            }
        }
    }
}
