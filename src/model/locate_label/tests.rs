//! Against PyTorch's numbers, made by `tests/fixtures/learner/make_locate_label.py`.

use super::offsets::{moved, offsets};
use super::options::{OPTIONS, Settings};
use super::overlap::iou;
use super::seeds::{Drawing, Seed, pair};
use super::soft_nms::{Proposal, SoftNms};
use super::span_mlp::Computed;
use super::stages::{Lesson, Stages};
use crate::annotation::Span;
use crate::model::{Class, EncoderTraits, OptionValues};
use crate::nn::{Mode, Operations, ParameterGroup, Rng, Vars, read_tensors};
use crate::parameter::Value;
use candle_core::{Device, Tensor, Var};
use std::collections::HashMap;
use std::path::Path;

fn reference() -> HashMap<String, Tensor> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner");
    read_tensors(&folder.join("locate_label.safetensors")).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

fn span(start: f32, end: f32) -> Span {
    Span::from_range(start as usize..end as usize).unwrap()
}

#[test]
fn overlaps_and_offsets() {
    let reference = reference();
    let (ious, all_offsets) = (numbers(&reference["iou"]), reference["offsets"].to_vec2::<f32>().unwrap());
    for ((pair, expected), by) in reference["pairs"].to_vec2::<f32>().unwrap().iter().zip(ious).zip(all_offsets) {
        let (a, b) = (span(pair[0], pair[1]), span(pair[2], pair[3]));
        assert!((iou(a, b) - expected).abs() < 1e-7, "{a:?} {b:?}");
        assert_eq!(offsets(a, b).as_slice(), by);
        assert_eq!(moved(a, [by[0], by[1]], 12), Some(b));
    }
}

#[test]
fn soft_nms() {
    let reference = reference();
    let of = |name: &str| -> Vec<Vec<Proposal>> {
        let mut sentences = vec![Vec::new(); 12];
        for row in reference[name].to_vec2::<f32>().unwrap() {
            sentences[row[0] as usize].push(Proposal { span: span(row[1], row[2]), score: row[3] });
        }
        sentences
    };
    let [decay, iou, threshold] = numbers(&reference["nms"]).try_into().unwrap();
    let soft = SoftNms { decay, iou, threshold };
    for (proposals, mentions) in of("proposals").into_iter().zip(of("mentions")) {
        assert_eq!(soft.choose(proposals), mentions);
    }
}

#[test]
fn the_loss_and_its_gradients() {
    const ALPHA_1: f32 = 0.6;
    let reference = reference();
    let encoder = EncoderTraits { pretrained: true, uncased: false, hidden: 5 };
    let options = OptionValues::decide(OPTIONS, encoder, |spec| match spec.name {
        "alpha2" => Some(Value::Real(0.75)),
        "regression_weight" => Some(Value::Real(0.3)),
        _ => None,
    });
    let settings = Settings::new(&options.unwrap()).unwrap();
    let gold: [Vec<(Span, Class)>; 2] = [vec![(span(0., 2.), 1), (span(1., 6.), 2)], vec![(span(3., 4.), 2)]];
    let seeds: [&[[f32; 2]]; 2] = [
        &[[0., 2.], [0., 3.], [1., 5.], [2., 6.], [1., 6.], [4., 5.], [5., 7.], [0., 1.]],
        &[[3., 4.], [2., 4.], [0., 1.], [1., 3.]],
    ];
    let seed = |gold: &[(Span, Class)], [start, end]: [f32; 2]| {
        let span = span(start, end);
        let pair = pair(span, gold);
        let positive = pair.filter(|pair| pair.iou >= ALPHA_1);
        Seed { span, iou: pair.map_or(0.0, |pair| pair.iou), offsets: positive.map(|pair| offsets(span, pair.mention)) }
    };
    let lessons: Vec<Lesson<'_>> = [0..7, 7..11]
        .into_iter()
        .zip(&gold)
        .zip(seeds)
        .map(|((words, gold), seeds)| Lesson { words, gold, seeds: seeds.iter().map(|s| seed(gold, *s)).collect() })
        .collect();
    for operations in [Operations::ByHand, Operations::Plain] {
        let mut vars = Vars::trainable(1, &Device::Cpu);
        let is_weight = |name: &str| ["filter.", "regressor.", "classifier."].iter().any(|part| name.starts_with(part));
        let weights = reference.iter().filter(|(name, _)| is_weight(name));
        vars.stock(weights.map(|(name, weight)| (format!("head.{name}"), weight.clone())));
        vars.take_only_stock();
        let mut scope = vars.scope("head", ParameterGroup::TaskHead);
        let stages = Stages::new(&mut scope, [6, 5, 3], Computed { dropout: 0.0, bf16: false, operations }).unwrap();
        let words = Var::from_tensor(&reference["words"]).unwrap();
        let mode = &mut Mode::Train(&mut Rng::new(1, "no dropout"));
        let loss = stages.loss(words.as_tensor(), &lessons, &settings, mode).unwrap();
        let off = (loss.to_scalar::<f32>().unwrap() - reference["loss"].to_scalar::<f32>().unwrap()).abs();
        assert!(off < 1e-5, "{operations:?}: {loss}");
        let gradients = loss.backward().unwrap();
        let mut compared = 0;
        let mut compare = |name: &str, of: &Tensor| {
            let (got, want) = (numbers(gradients.get(of).unwrap()), numbers(&reference[&format!("grad.{name}")]));
            for (got, want) in got.iter().zip(&want) {
                assert!((got - want).abs() < 1e-5, "{operations:?} {name}: {got} {want}");
            }
            compared += got.len();
        };
        compare("words", words.as_tensor());
        for (name, variable) in vars.iter() {
            compare(name.trim_start_matches("head."), variable.var.as_tensor());
        }
        assert_eq!(compared, 11 * 6 + 3 * (18 * 5 + 5) + 6 * 5 + 6);
    }
}

/// What the paper's Table 6 has for GENIA.
#[test]
fn defaults() {
    let encoder = EncoderTraits { pretrained: true, uncased: true, hidden: 384 };
    let settings = Settings::new(&OptionValues::decide(OPTIONS, encoder, |_| None).unwrap()).unwrap();
    assert_eq!(settings.drawing, Drawing { least_iou: 0.7, negatives: 5 });
    assert_eq!((settings.least_iou, settings.focus, settings.regression_weight), (1.0, 1.0, 0.1));
    assert_eq!(settings.soft_nms, SoftNms { decay: 0.9, iou: 0.7, threshold: 0.45 });
    assert_eq!(settings.lengths, [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15]);
    assert_eq!((settings.longest_seed, settings.word_shapes), (15, true));
}
