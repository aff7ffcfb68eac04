//! How soon the labels of marked words are in the order of their probability: what a person waits for who marks words.

use super::refresh::wait;
use super::{Percentiles, make, not_stopped, read_made};
use crate::annotation::{Fragments, SentenceId, Span};
use crate::session::{
    Command, Driver, Event, Home, ImportAs, ImportHow, NewProject, SessionError, Setting, temporary_folder,
};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Words that are marked: one, two and so on, in turn.
const MOST_MARKED: usize = 4;
/// So that no model of the project is trained beside it.
const NEVER: usize = 1_000_000_000;

/// What to ask, and of what.
#[derive(Clone, Debug)]
pub struct LabelBenchRequest {
    /// Of the made-up project, all of them complete.
    pub sentences: usize,
    pub encoder: String,
    pub questions: usize,
}

/// How quick the order of labels is.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelBench {
    pub mentions: usize,
    pub labels: usize,
    /// From the opened project to the first answer: the small model is trained for that.
    pub learned_secs: f64,
    pub questions: usize,
    /// From marked words to the order of labels.
    pub answer_ms: Percentiles,
}

/// Makes a project in a temporary folder, lets it learn the order of labels, and asks for that of words here and there.
///
/// # Errors
/// An encoder that is not there or knows nothing of words, a temporary folder that can't be written, a stop.
pub fn bench_labels(home: &Home, request: &LabelBenchRequest, cancel: &AtomicBool) -> Result<LabelBench, SessionError> {
    let encoders = home.encoders();
    encoders.get(&request.encoder)?;
    if encoders.knowing_words(&request.encoder).is_none() {
        return Err(SessionError::NoWordVectors { encoder: request.encoder.clone() });
    }
    let folder = temporary_folder()?;
    let file = folder.path().join("corpus.jsonl");
    make(&file, request.sentences, |_| not_stopped(cancel).is_ok())?;
    let new = NewProject { encoder: Some(request.encoder.clone()), ..NewProject::default() };
    let mut project = Driver::create(home, &folder.path().join("bench.nestling"), &new)?;
    project.import(read_made(&file)?, ImportHow { kind: Some(ImportAs::Gold), split: None })?;
    project.run(Command::Set(Setting::TrainAfterSentences(NEVER)))?;
    let asked: Vec<(SentenceId, Fragments)> = {
        let sentences = project.corpus().sentences().filter(|sentence| sentence.tokens().len() > MOST_MARKED);
        let marked = |number: usize| Span::from_range(1..2 + number % MOST_MARKED).map(Fragments::from);
        let asked = sentences.enumerate().filter_map(|(number, s)| Some((s.id(), marked(number)?)));
        asked.take(request.questions + 1).collect()
    };
    let (begun, mut learned_secs, mut all) = (Instant::now(), 0.0, Vec::with_capacity(request.questions));
    project.start_learner();
    for (number, (sentence, given)) in asked.iter().enumerate() {
        let started = Instant::now();
        project.ask_label_order(*sentence, given);
        let mut is_lost = false;
        wait(&mut project, cancel, |project, events| {
            is_lost |= events.iter().any(|event| matches!(event, Event::TrainingTrouble { .. }));
            is_lost || project.label_order(*sentence, given).is_some()
        })?;
        if is_lost {
            return Err(SessionError::Stopped);
        }
        match number {
            0 => learned_secs = begun.elapsed().as_secs_f64(),
            _ => all.push(started.elapsed().as_secs_f64() * 1000.0),
        }
    }
    let bench = LabelBench {
        mentions: project.counts().mentions,
        labels: project.corpus().labels().len(),
        learned_secs,
        questions: all.len(),
        answer_ms: Percentiles::of(all).ok_or(SessionError::NothingToPredict)?,
    };
    project.close()?;
    Ok(bench)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_labels_is_learned_and_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let home = Home::at(home.path().to_owned());
        let request = LabelBenchRequest { sentences: 40, encoder: "english".to_owned(), questions: 12 };
        let bench = bench_labels(&home, &request, &AtomicBool::new(false)).unwrap();
        assert_eq!((bench.questions, bench.mentions), (12, 120));
        assert!(bench.learned_secs > 0.0 && bench.answer_ms.p50 > 0.0);
        let small = LabelBenchRequest { encoder: "small".to_owned(), ..request };
        let refused = bench_labels(&home, &small, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(refused.contains("knows nothing of words"), "{refused}");
    }
}
