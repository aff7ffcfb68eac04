//! Sentences that are too long for one pass.

use super::super::{Config, Event};
use super::*;
use crate::encoder::Encoders;
use crate::model::{EncoderTraits, MAX_WIDTH, architectures, finders};
use crate::nn::Processor;
use crate::parameter::Value;
use candle_core::Device;
use std::sync::atomic::AtomicBool;

mod seam;

static NEVER: AtomicBool = AtomicBool::new(false);
const WORDS: usize = 700;

/// A model that has learned nothing, on the built-in encoder that hashes words, with windows of 254 words.
fn untrained(config: Config, pretrained: bool) -> (Vars, Model) {
    let encoder = Encoders::at(std::path::Path::new("nowhere")).get("small").unwrap();
    let traits = EncoderTraits { pretrained, uncased: false, hidden: encoder.definition().config().hidden };
    let settings = config.resolve(100, 0, traits, Processor::Cpu).unwrap();
    let mut vars = Vars::trainable(3, &Device::Cpu);
    let labels = vec![LabelId(0), LabelId(1), LabelId(2)];
    let model = Model::build(&mut vars, encoder.definition().clone(), &settings, labels).unwrap();
    (vars, model)
}

/// Where the architecture has a max width.
fn wide(max_width: usize, mut config: Config) -> Config {
    config.options.prefer(&MAX_WIDTH, Value::Whole(max_width as u64));
    config
}

fn words(count: usize) -> Vec<String> {
    let mut rng = Rng::new(5, "words");
    (0..count).map(|_| format!("w{}", rng.below(300))).collect()
}

fn said(model: &Model, prepared: &[Prepared], filter: FirstWordFilter, acquire: Option<usize>) -> Vec<SentenceOutput> {
    let threads = Threads::new("test", Some(2)).unwrap();
    let work =
        PredictionWork { threads: &threads, filter, batch_size: 4, acquire, floor: 0.25, exact: false, cancel: &NEVER };
    let mut said: Vec<Option<SentenceOutput>> = prepared.iter().map(|_| None).collect();
    model.predict_all(prepared, work, &mut PartTimes::default(), |i, of| said[i] = Some(of)).unwrap();
    said.into_iter().flatten().collect()
}

#[test]
fn what_is_predicted_in_parts_is_what_is_predicted_at_once() {
    // What labels given words has none here: `seam` has a sentence of many parts for it.
    for architecture in finders() {
        for nesting in Nesting::ALL {
            let architecture = architecture.id().to_owned();
            let (_vars, mut model) = untrained(wide(5, Config { architecture, nesting, ..Config::default() }), false);
            let sentences = [words(WORDS), words(3)];
            let prepared = model.prepare_all(sentences.iter().map(|s| (s.as_slice(), [].as_slice())), &NEVER).unwrap();
            // Half of the words, whatever a model that has learned nothing says of them.
            let mut first_words =
                said(&model, &prepared, FirstWordFilter::All, None).remove(0).first_words.unwrap_or(vec![0.5]);
            first_words.sort_by(f32::total_cmp);
            let half = FirstWordFilter::AtLeast(first_words[first_words.len() / 2]);
            for (filter, acquire) in [(FirstWordFilter::All, None), (half, Some(0)), (FirstWordFilter::All, Some(2))] {
                model.most.predict = usize::MAX;
                let whole = said(&model, &prepared, filter, acquire);
                assert!(whole[0].found.len() > 20, "{} of {}", whole[0].found.len(), whole[0].candidates);
                for most in [1, 300, 600] {
                    model.most.predict = most;
                    let parts = said(&model, &prepared, filter, acquire);
                    for (whole, parts) in whole.iter().zip(&parts) {
                        assert!(whole.first_words == parts.first_words, "at most {most}");
                        assert!(whole.found == parts.found, "at most {most}");
                        assert_eq!(whole.candidates, parts.candidates);
                        let (mut a, mut b) = (whole.acquisition.clone(), parts.acquisition.clone());
                        // The one sum that goes through all first words before all candidates.
                        let off = a.disagreement.take().unwrap_or(0.0) - b.disagreement.take().unwrap_or(0.0);
                        assert!(off.abs() < 1e-4, "{off}");
                        assert_eq!(format!("{a:?}"), format!("{b:?}"), "at most {most}");
                    }
                }
            }
        }
    }
}

#[test]
fn vectors_of_spans_in_parts_are_those_at_once() {
    let span = |start: usize, end: usize| Span::from_range(start..end).unwrap();
    for architecture in architectures().iter().filter(|it| it.task() != Task::Tags) {
        let config = Config { architecture: architecture.id().to_owned(), ..Config::default() };
        let (_vars, mut model) = untrained(wide(5, config), false);
        let sentences = [words(WORDS), words(3), words(2)];
        let prepared = model.prepare_all(sentences.iter().map(|s| (s.as_slice(), [].as_slice())), &NEVER).unwrap();
        let all_over = (0..WORDS - 5).step_by(37).map(|start| span(start, start + 1 + start % 5));
        let spans = [all_over.collect(), vec![span(1, 3), span(0, 1)], Vec::new()];
        let threads = Threads::new("test", Some(2)).unwrap();
        let work = PredictionWork {
            threads: &threads,
            filter: FirstWordFilter::All,
            batch_size: 4,
            acquire: None,
            floor: 0.25,
            exact: false,
            cancel: &NEVER,
        };
        let mut vectors = |most| {
            model.most.predict = most;
            let mut all = vec![Vec::new(); sentences.len()];
            model.span_vectors(&prepared, &spans, work, |i, of| all[i] = of).unwrap();
            all
        };
        let whole = vectors(usize::MAX);
        assert!(whole.iter().zip(&spans).all(|(vectors, spans)| vectors.len() == spans.len()));
        assert!(whole[0].iter().all(|vector| vector.len() == whole[1][0].len()), "one length for all");
        assert!([1, 300].map(vectors).iter().all(|parts| *parts == whole), "{}", architecture.id());
    }
}

#[test]
fn no_part_is_longer_than_asked_for_and_all_words_are_in_one() {
    let (_vars, model) = untrained(wide(20, Config::default()), false);
    let span = |start, end| Span::from_range(start..end).unwrap();
    let mentions = |start: usize| [span(start, start + 2 + start % 9), span(start + 1, start + 11)];
    let gold: Vec<(Span, LabelId)> = (0..WORDS - 12).step_by(12).flat_map(mentions).map(|s| (s, LabelId(1))).collect();
    let sentence = words(WORDS);
    let prepared = model.prepare((sentence.as_slice(), gold.as_slice())).unwrap();
    assert!(prepared.positions() > 800);
    for most in [256, 600, 1000] {
        let stretches = [prepared.stretches(most), prepared.training_stretches(most)];
        for (stretches, is_training) in stretches.into_iter().zip([false, true]) {
            let all: Vec<usize> = stretches.iter().cloned().flatten().collect();
            assert_eq!(all, (0..WORDS).collect::<Vec<_>>());
            let parts: Vec<Prepared> = stretches.into_iter().map(|words| prepared.part(words)).collect();
            assert!(parts.len() >= 800 / most && parts.iter().all(|part| part.positions() <= most));
            // Of one window alone the rest may be shorter than a mention.
            if is_training && most > 300 {
                let mentions: usize = parts.iter().map(|p| p.sentence.mentions().len()).sum();
                assert_eq!(mentions, gold.len(), "none is parted");
            }
        }
    }
}

#[test]
fn hidden_states_that_are_kept_in_parts_are_those_kept_at_once() {
    let effort = crate::train::TrainedLayers::TaskHead;
    let (_vars, mut model) = untrained(Config { effort, ..Config::default() }, true);
    assert!(model.encoding.network().frozen_below() > 0);
    let (sentence, threads) = (words(WORDS), Threads::new("test", Some(2)).unwrap());
    let mut kept = |most| {
        model.most.predict = most;
        let mut prepared = vec![model.prepare((sentence.as_slice(), [].as_slice())).unwrap()];
        model.keep_states(&mut prepared, &threads, &NEVER).unwrap();
        prepared.remove(0)
    };
    let (whole, parts) = (kept(usize::MAX), kept(600));
    let width = model.encoding.kept_width();
    assert_eq!(whole.states.as_ref().map(FrozenStates::numbers), Some(whole.positions() * width));
    assert!(whole.states == parts.states, "the same bits");
    let part = whole.part(100..500);
    assert_eq!(part.states.map(|states| states.numbers()), Some(part.alignment.rows() * width));
}

#[test]
fn candidates_bound_how_much_is_predicted_at_a_time() {
    assert_eq!(MostPositions::new(20, 10, true).predict, batches::MOST_POSITIONS);
    assert_eq!(MostPositions::new(1000, 20, true).predict, 1677);
    assert_eq!(MostPositions::new(1000, usize::MAX, true).predict, 512);
    let [by_hand, plain] = [true, false].map(|by_hand| MostPositions::new(20, 10, by_hand));
    assert!(plain.predict < by_hand.predict && plain.train < by_hand.train);
}

#[test]
fn a_very_long_sentence_is_learnt_from_in_parts() {
    use crate::train::{Dataset, Example, TrainRequest, train};
    use std::sync::Arc;
    let dir = tempfile::tempdir().unwrap();
    // One sentence of some four thousand words, in which a name follows each "met".
    let tokens: Vec<String> = (0..4000).map(|i| ["then", "Bo", "met", "Anna", "here"][i % 5].to_owned()).collect();
    let gold = (0..800).map(|i| (Span::from_range(5 * i + 3..5 * i + 4).unwrap(), LabelId(0))).collect();
    let train_on = vec![Example { tokens, gold, ..Example::default() }];
    let dataset = Arc::new(Dataset::freeze(vec![(LabelId(0), "PER".to_owned())], train_on, Vec::new()).unwrap());
    let config = wide(3, Config { encoder: "small".to_owned(), epochs: Some(2), ..Config::default() });
    let (encoders, snapshot) = (Encoders::at(dir.path()), dir.path().join("m"));
    let request = TrainRequest::new(dataset, config, encoders, snapshot);
    let mut losses = Vec::new();
    let trained = train(&request, &NEVER, &mut |event| {
        if let Event::Progress { loss, .. } = event {
            losses.push(loss);
        }
    });
    assert_eq!(losses.len(), 2, "one step an epoch");
    assert!(losses.iter().all(|loss| loss.is_finite()));
    let samples = trained.unwrap().manifest.outcome.samples;
    assert_eq!((samples.first_words.positive, samples.first_words.negative), (800, 3200), "each word once");
}
