//! Against the formulas, one span at a time.

use super::options::{OPTIONS, Representation, Settings};
use super::sampling::draw;
use super::span_decoder::SpanDecoder;
use super::words::Vectors;
use crate::annotation::Span;
use crate::model::candidates::enumerate;
use crate::model::tagger::TagChoice;
use crate::model::{EncoderTraits, OptionValues, Sentence};
use crate::nn::{Mode, Operations, ParameterGroup, Rng, Vars};
use crate::parameter::Value;
use candle_core::{Device, Tensor, Var};

const WORD: usize = 7;
const HIDDEN: usize = 5;
const CLASSES: usize = 3;
const REPRESENTATIONS: [(&str, Representation); 3] =
    [("boundary", Representation::Boundary), ("pooling", Representation::Pooling), ("hybrid", Representation::Hybrid)];

fn settings(asked: &[(&str, Value)]) -> Settings {
    let encoder = EncoderTraits { pretrained: true, uncased: false, hidden: HIDDEN };
    let value = |name: &str| asked.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    Settings::new(&OptionValues::decide(OPTIONS, encoder, |spec| value(spec.name)).unwrap()).unwrap()
}

/// Two sentences, of which the first lies in two windows.
struct Place {
    sentences: [Sentence; 2],
    words: Var,
    cls: Var,
}

impl Place {
    fn new() -> Self {
        let mut rng = Rng::new(4, "place");
        let mut random = |rows: usize, columns: usize| {
            let values: Vec<f32> = (0..rows * columns).map(|_| rng.normal()).collect();
            Var::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
        };
        let gold: Vec<(Span, u32)> =
            [(0..2, 1), (1..2, 2), (3..6, 1)].map(|(range, class)| (Span::from_range(range).unwrap(), class)).to_vec();
        let sentence = |words: usize| Sentence::new(&vec!["x".to_owned(); words], &gold);
        Self { sentences: [sentence(9), sentence(6)], words: random(15, WORD), cls: random(3, HIDDEN) }
    }

    fn batch(&self) -> [&Sentence; 2] {
        [&self.sentences[0], &self.sentences[1]]
    }

    /// Without dropout.
    fn vectors(&self) -> Vectors {
        let words = self.words.as_tensor();
        let windows = vec![0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
        Vectors { words: words.clone(), dropped: words.clone(), cls: self.cls.as_tensor().clone(), windows }
    }
}

fn decoder(name: &'static str, dropout: f32, operations: Operations) -> (Vars, SpanDecoder) {
    let mut vars = Vars::trainable(5, &Device::Cpu);
    let settings = settings(&[("representation", Value::Choice(name)), ("max_width", Value::Whole(4))]);
    let mut scope = vars.scope("head", ParameterGroup::TaskHead);
    let decoder = SpanDecoder::new(&mut scope, [WORD, HIDDEN], CLASSES, &settings, (dropout, operations)).unwrap();
    (vars, decoder)
}

fn variable(vars: &Vars, name: &str) -> Tensor {
    vars.iter().find(|(of, _)| *of == name).unwrap().1.var.as_tensor().clone()
}

#[test]
fn spans_are_represented_as_the_equations_have_it() {
    for (name, representation) in REPRESENTATIONS {
        for operations in [Operations::ByHand, Operations::Plain] {
            let (place, (vars, decoder)) = (Place::new(), decoder(name, 0.1, operations));
            let vectors = place.vectors();
            let (rows, lists) = enumerate(&place.batch(), 4, |_| true);
            let got = decoder.probabilities(&vectors, &rows).unwrap();
            assert_eq!((lists[0].len(), got.len()), (4 * 9 - 6, (4 * 9 - 6 + 4 * 6 - 6) * CLASSES));

            let table = |name: &str| variable(&vars, name).to_vec2::<f32>().unwrap();
            let (weight, widths) = (table("head.span.output.weight"), table("head.width.weight"));
            let bias = variable(&vars, "head.span.output.bias").to_vec1::<f32>().unwrap();
            let (words, cls) = (place.words.to_vec2::<f32>().unwrap(), place.cls.to_vec2::<f32>().unwrap());
            let mut got = got.chunks_exact(CLASSES);
            for (from, spans) in [0, 9].into_iter().zip(&lists) {
                for span in spans {
                    let (i, j) = (from + span.start().get(), from + span.last().get());
                    let greatest = |d: usize| words[i..=j].iter().map(|word| word[d]).fold(f32::MIN, f32::max);
                    let greatest: Vec<f32> = (0..WORD).map(greatest).collect();
                    let (global, width) = (&cls[vectors.windows[i] as usize], &widths[span.width_tokens() - 1]);
                    let s = match representation {
                        Representation::Boundary => [&words[i], &words[j], width].map(Clone::clone).concat(),
                        Representation::Pooling => [&greatest, global, width].map(Clone::clone).concat(),
                        Representation::Hybrid => {
                            [&words[i], &words[j], &greatest, global, width].map(Clone::clone).concat()
                        }
                    };
                    assert_eq!(s.len(), weight[0].len());
                    let logit = |(row, bias): (&Vec<f32>, &f32)| -> f32 {
                        row.iter().zip(&s).map(|(w, x)| w * x).sum::<f32>() + bias
                    };
                    let exp: Vec<f32> = weight.iter().zip(&bias).map(logit).map(f32::exp).collect();
                    for (got, exp_of_class) in got.next().unwrap().iter().zip(&exp) {
                        let expected = exp_of_class / exp.iter().sum::<f32>();
                        assert!((got - expected).abs() < 1e-5, "{name} {operations:?} {span:?}: {got} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_loss_is_the_mean_cross_entropy_of_what_is_predicted() {
    let place = Place::new();
    let (rows, counts) = draw(&place.batch(), 4, 5, &mut Rng::new(2, "t"));
    assert_eq!((counts.positive, counts.negative), (6, 10));
    for (name, _) in REPRESENTATIONS {
        let losses = [Operations::ByHand, Operations::Plain].map(|operations| {
            let (_vars, decoder) = decoder(name, 0.0, operations);
            let mut rng = Rng::new(1, "no dropout");
            let loss = decoder.loss(&place.vectors(), &rows, &mut Mode::Train(&mut rng)).unwrap();
            let probabilities = decoder.probabilities(&place.vectors(), &rows).unwrap();
            let of_gold =
                probabilities.chunks_exact(CLASSES).zip(&rows.classes).map(|(row, class)| row[*class as usize]);
            let expected = -of_gold.map(f32::ln).sum::<f32>() / 16.0;
            let loss = loss.to_scalar::<f32>().unwrap();
            assert!((loss - expected).abs() < 1e-5, "{name} {operations:?}: {loss} {expected}");
            loss
        });
        assert!((losses[0] - losses[1]).abs() < 1e-5, "{name}: {losses:?}");
    }
}

#[test]
fn both_ways_of_computing_drop_and_learn_the_same() {
    let place = Place::new();
    let (rows, _) = draw(&place.batch(), 4, 20, &mut Rng::new(2, "t"));
    for (name, _) in REPRESENTATIONS {
        let gradients = [Operations::ByHand, Operations::Plain].map(|operations| {
            let (vars, decoder) = decoder(name, 0.4, operations);
            let loss = decoder.loss(&place.vectors(), &rows, &mut Mode::Train(&mut Rng::new(1, "dropout"))).unwrap();
            let store = loss.backward().unwrap();
            let numbers = |of: &Tensor| store.get(of).map(|g| g.flatten_all().unwrap().to_vec1::<f32>().unwrap());
            let mut all = numbers(place.words.as_tensor()).unwrap();
            all.extend(numbers(place.cls.as_tensor()).unwrap_or_default());
            for (name, variable) in vars.iter() {
                let gradient = numbers(variable.var.as_tensor()).unwrap_or_else(|| panic!("{name} has no gradient"));
                all.extend(gradient);
            }
            all
        });
        assert_eq!(gradients[0].len(), gradients[1].len());
        for (ours, theirs) in gradients[0].iter().zip(&gradients[1]) {
            assert!((ours - theirs).abs() < 1e-5, "{name}: {ours} {theirs}");
        }
    }
}

/// What the paper's §4.1.2 has; ε is that of all architectures.
#[test]
fn defaults() {
    let settings = settings(&[]);
    assert_eq!((settings.alpha, settings.negatives, settings.max_width), (0.1, 100, 20));
    assert_eq!((settings.representation, settings.tags), (Representation::Hybrid, TagChoice::Softmax));
}
