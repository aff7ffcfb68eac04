//! Span typing (SNG, "A span-level strategy"): which label a given entity has, told by its words alone. It finds nothing.
//!
//! The subwords of an entity, those of the fragments of a discontinuous one one behind the other, are vectors of the encoder's
//! table of word embeddings, which stay as they are. A bidirectional LSTM reads them to H `[T, 2S]`, with the last states
//! `h_n` of both directions; attention puts H together, and one linear layer scores the labels. The loss is the mean of
//! the cross-entropy over all entities of a batch.
//!
//! Ours: the paper leaves attention to its program, here it is `softmax(H · h_n)ᵀ H`. The entities of a batch are read together,
//! where the paper takes one at a time for 600 to 1,500 epochs. A norm in front of the LSTM gives static vectors
//! of any encoder the same size. Word shapes stand beside the vectors for encoders that don't see case. Of several labels
//! on the same words the first is learnt.
//!
//! # Scores
//! Probabilities of the labels, "none" having 0. How good they are is an accuracy on given entities, and no F1: nothing was
//! found.

use super::shape_vectors::ShapeVectors;
use super::{
    Architecture, BatchLoss, Class, FirstWordFilter, LabelTable, ModelError, OptionDefault, OptionSpec, OptionValues,
    Prediction, SampleCounts, Samples, Sentence, Task, TaskHead, TaskHeadConfig, Unlearnable, WORD_SHAPE_FEATURES,
    predict_given,
};
use crate::annotation::{Fragments, Span};
use crate::encoder::{Encoded, Layers, Network};
use crate::nn::{
    BiLstm, LayerNorm, Linear, Mode, NnError, Operations, Rng, Scope, cross_entropy, segment_max, segment_mean,
    select_rows, softmax,
};
use crate::parameter::{Kind, Value};
use candle_core::Tensor;
use std::ops::Range;

const STATE_SIZE: OptionSpec = OptionSpec {
    name: "state_size",
    takes: Kind::Whole(1, 2048),
    default: OptionDefault::Fixed(Value::Whole(128)),
    shapes_weights: true,
    help: "numbers of the LSTM's state in each direction",
};

#[derive(Debug)]
pub(super) struct SpanTyping;

impl Architecture for SpanTyping {
    fn id(&self) -> &'static str {
        "span_typing"
    }

    fn name(&self) -> &'static str {
        "Span typing"
    }

    fn summary(&self) -> &'static str {
        "Finds no mentions; says which label given words have. For the order of labels and for checks."
    }

    fn version(&self) -> u32 {
        1
    }

    fn task(&self) -> Task {
        Task::TypesOfGivenSpans
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[STATE_SIZE, WORD_SHAPE_FEATURES]
    }

    fn layers(&self, _: &TaskHeadConfig) -> Layers {
        Layers::Static
    }

    fn unlearnable(&self, sentence: &Sentence, _: &TaskHeadConfig) -> Unlearnable {
        let doubled = sentence.mentions().len() - sentence.given().len();
        Unlearnable { doubled, ..Unlearnable::default() }
    }

    fn sees(&self, _: &OptionValues) -> &'static str {
        "all mentions, one label for each"
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let (options, state) = (&config.options, config.options.whole(&STATE_SIZE)?);
        let norm = LayerNorm::new(scope.scope("norm"), encoder.embedding(), NORM_EPS)?;
        let shapes = ShapeVectors::new(&mut scope, options.flag(&WORD_SHAPE_FEATURES)?)?;
        let lstm = BiLstm::new(scope.scope("lstm"), shapes.size_with(encoder.embedding()), state)?;
        let output = Linear::uniform(scope.scope("output"), 2 * state, config.classes.saturating_sub(1))?;
        let (dropout, classes, operations) = (config.dropout, config.classes, config.operations);
        Ok(Box::new(TypingHead { norm, shapes, lstm, state, output, dropout, classes, operations }))
    }
}

/// As BERT's.
const NORM_EPS: f64 = 1e-12;

#[derive(Debug)]
struct TypingHead {
    norm: LayerNorm,
    shapes: ShapeVectors,
    lstm: BiLstm,
    /// S
    state: usize,
    output: Linear,
    dropout: f32,
    /// "None" included.
    classes: usize,
    operations: Operations,
}

/// The subwords of M entities of a batch, one entity behind the other: R rows.
#[derive(Default)]
struct Subwords {
    /// Rows of the batch.
    rows: Vec<u32>,
    /// Shapes of the words that they are of.
    shapes: Vec<u32>,
    /// The number of the entity of each, below M.
    entities: Vec<u32>,
    /// Those of each entity, never none.
    sequences: Vec<Range<usize>>,
}

impl Subwords {
    fn new(encoded: &Encoded, batch: &[&Sentence], given: &[Vec<Fragments>]) -> Self {
        let (mut all, of_words) = (Self::default(), encoded.words().subwords());
        for ((sentence, words), given) in batch.iter().zip(encoded.words().sentences()).zip(given) {
            for fragments in given {
                let (start, entity) = (all.rows.len(), all.sequences.len() as u32);
                for word in fragments.iter().flat_map(|fragment| fragment.range()) {
                    let rows = of_words.get(words.start + word).cloned().unwrap_or_default();
                    let shape = sentence.word_shapes().get(word).copied().unwrap_or_default();
                    all.shapes.extend(rows.clone().map(|_| shape));
                    all.entities.extend(rows.clone().map(|_| entity));
                    all.rows.extend(rows.map(|row| row as u32));
                }
                all.sequences.push(start..all.rows.len());
            }
        }
        all
    }
}

impl TypingHead {
    /// Scores of the labels of all entities, `[M, C - 1]`; M is not 0.
    fn logits(&self, encoded: &Encoded, subwords: &Subwords, mode: &mut Mode<'_>) -> Result<Tensor, NnError> {
        let attended = self.read(encoded, subwords, mode)?;
        self.output.forward(&self.operations.dropout(&attended, self.dropout, mode)?, self.operations)
    }

    /// What the output layer gets of all entities before dropout, `[M, 2S]`; M is not 0.
    fn read(&self, encoded: &Encoded, subwords: &Subwords, mode: &mut Mode<'_>) -> Result<Tensor, NnError> {
        let vectors = select_rows(encoded.hidden(), &subwords.rows)?;
        let x = self.norm.forward(&vectors, self.operations)?;
        let x = self.shapes.beside(x, || subwords.shapes.clone())?;
        let x = self.operations.dropout(&x, self.dropout, mode)?;
        let states = self.lstm.forward(&x, &subwords.sequences, self.operations)?;
        self.attend(&states, subwords)
    }

    /// `softmax(H · h_n)ᵀ H` of each entity, `[R, 2S]` to `[M, 2S]`.
    fn attend(&self, states: &Tensor, subwords: &Subwords) -> Result<Tensor, NnError> {
        let Subwords { entities, sequences, .. } = subwords;
        let firsts: Vec<u32> = sequences.iter().map(|sequence| sequence.start as u32).collect();
        let lasts: Vec<u32> = sequences.iter().map(|sequence| sequence.end.saturating_sub(1) as u32).collect();
        // From left to right an entity ends with its last subword, from right to left with its first.
        let right = select_rows(&states.narrow(1, 0, self.state)?.contiguous()?, &lasts)?;
        let left = select_rows(&states.narrow(1, self.state, self.state)?.contiguous()?, &firsts)?;
        let ends = Tensor::cat(&[right, left], 1)?;
        let scores = (states * select_rows(&ends, entities)?)?.sum_keepdim(1)?;
        // Less the greatest score of an entity, a constant for the gradient, so that nothing overflows.
        let greatest = segment_max(&scores.detach(), sequences, self.operations)?;
        let weights = (scores - select_rows(&greatest, entities)?)?.exp()?;
        // The number of subwords cancels out.
        let sums = segment_mean(&states.broadcast_mul(&weights)?, sequences, self.operations)?;
        Ok(sums.broadcast_div(&segment_mean(&weights, sequences, self.operations)?)?)
    }
}

impl TaskHead for TypingHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let given: Vec<Vec<Fragments>> = batch.iter().map(|sentence| sentence.given()).collect();
        let classes: Vec<Class> = batch.iter().flat_map(|sentence| sentence.first_classes()).collect();
        if classes.is_empty() {
            // Nothing to learn from, and the gradients are 0.
            let total = (self.output.bias().sum_all()? * 0.0)?;
            return Ok(BatchLoss { total, samples: Samples::default() });
        }
        let labels: Vec<u32> = classes.iter().map(|class| class.saturating_sub(1)).collect();
        let logits = self.logits(encoded, &Subwords::new(encoded, batch, &given), &mut Mode::Train(rng))?;
        let spans = SampleCounts { positive: classes.len(), negative: 0 };
        Ok(BatchLoss { total: cross_entropy(&logits, &labels)?, samples: Samples { spans, ..Samples::default() } })
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
        batch: &[&Sentence],
        given: &[Vec<Fragments>],
    ) -> Result<Vec<LabelTable>, ModelError> {
        let subwords = Subwords::new(encoded, batch, given);
        let mut rows = if subwords.sequences.is_empty() {
            Vec::new().into_iter()
        } else {
            softmax(&self.logits(encoded, &subwords, &mut Mode::Predict)?)?.to_vec2::<f32>()?.into_iter()
        };
        let mut table = |given: &Vec<Fragments>| {
            let rows = rows.by_ref().take(given.len());
            let table: Vec<f32> = rows.flat_map(|row| std::iter::once(0.0).chain(row)).collect();
            LabelTable::new(self.classes, table).ok_or(ModelError::Incomplete)
        };
        given.iter().map(&mut table).collect()
    }

    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        let given = |spans: &Vec<Span>| spans.iter().copied().map(Fragments::from).collect();
        let given: Vec<Vec<Fragments>> = spans.iter().map(given).collect();
        Ok(self.read(encoded, &Subwords::new(encoded, batch, &given), &mut Mode::Predict)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;
    use crate::nn::{ParameterGroup, Vars};
    use candle_core::Device;

    fn head(vars: &mut Vars, state: usize, operations: Operations) -> TypingHead {
        let mut scope = vars.scope("head", ParameterGroup::TaskHead);
        TypingHead {
            norm: LayerNorm::new(scope.scope("norm"), 6, NORM_EPS).unwrap(),
            shapes: ShapeVectors::new(&mut scope, false).unwrap(),
            lstm: BiLstm::new(scope.scope("lstm"), 6, state).unwrap(),
            state,
            output: Linear::uniform(scope.scope("output"), 2 * state, 3).unwrap(),
            dropout: 0.0,
            classes: 4,
            operations,
        }
    }

    /// The formula, one entity at a time with plain numbers.
    #[test]
    fn attention_is_a_softmax_over_the_subwords_of_each_entity() {
        let (state, sequences) = (2, vec![0..3, 3..4, 4..6]);
        let entities = vec![0, 0, 0, 1, 2, 2];
        let subwords = Subwords { entities, sequences: sequences.clone(), ..Subwords::default() };
        let states = crate::nn::slopes::random(&[6, 4], 3);
        let rows = states.to_vec2::<f32>().unwrap();
        for operations in [Operations::ByHand, Operations::Plain] {
            let head = head(&mut Vars::trainable(1, &Device::Cpu), state, operations);
            let attended = head.attend(states.as_tensor(), &subwords).unwrap().to_vec2::<f32>().unwrap();
            for (sequence, attended) in sequences.iter().zip(&attended) {
                let of = &rows[sequence.clone()];
                let end = [&of.last().unwrap()[..state], &of[0][state..]].concat();
                let scores: Vec<f32> = of.iter().map(|row| row.iter().zip(&end).map(|(a, b)| a * b).sum()).collect();
                let all: f32 = scores.iter().map(|score| score.exp()).sum();
                for column in 0..2 * state {
                    let expected: f32 = of.iter().zip(&scores).map(|(row, s)| row[column] * s.exp() / all).sum();
                    assert!((attended[column] - expected).abs() < 1e-5, "{operations:?}");
                }
            }
        }
    }

    #[test]
    fn gradients_of_attention_are_slopes() {
        let subwords = Subwords { entities: vec![0, 0, 1, 1, 1], sequences: vec![0..2, 2..5], ..Subwords::default() };
        for operations in [Operations::ByHand, Operations::Plain] {
            let head = head(&mut Vars::trainable(1, &Device::Cpu), 2, operations);
            let states = crate::nn::slopes::random(&[5, 4], 8);
            crate::nn::slopes::assert_slopes(&[&states], |x| head.attend(x[0], &subwords).unwrap());
        }
    }

    #[test]
    fn the_first_of_several_labels_on_the_same_words_is_learnt() {
        let span = |start, end| Span::from_range(start..end).unwrap();
        let words: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let pieces = Fragments::new(vec![span(0, 1), span(2, 3)]).unwrap();
        let mention = |fragments: Fragments, class| crate::model::GoldMention { fragments, class };
        let mentions = vec![
            mention(span(0, 3).into(), 2),
            mention(span(0, 3).into(), 1),
            mention(pieces.clone(), 3),
            mention(span(1, 2).into(), 1),
        ];
        let sentence = Sentence::with_mentions(&words, mentions);
        let given = sentence.given();
        assert!(given.len() == 3 && given.contains(&pieces));
        let classes: Vec<Class> = sentence.first_classes().collect();
        let of = |fragments: &Fragments| classes[given.iter().position(|other| other == fragments).unwrap()];
        assert_eq!([of(&span(0, 3).into()), of(&pieces), of(&span(1, 2).into())], [1, 3, 1]);
        let options = OptionValues::decide(
            SpanTyping.options(),
            crate::model::EncoderTraits { pretrained: true, uncased: true, hidden: 6 },
            |_| None,
        );
        let config = TaskHeadConfig {
            classes: 4,
            dropout: 0.0,
            bf16: false,
            operations: Operations::ByHand,
            options: options.unwrap(),
        };
        let unlearnable = SpanTyping.unlearnable(&sentence, &config);
        assert_eq!(unlearnable, Unlearnable { doubled: 1, ..Unlearnable::default() });
    }
}
