//! The life of both workers as an open project sees it. What they do is made up, and goes on when a test says so.

use super::in_use::NewFiles;
use super::predictor::{Model, PredictorThread};
use super::source::Source;
use super::*;
use crate::annotation::{Acquisition, SentenceSuggestions, Status, TokenIdx};
use crate::session::{
    Command, Driver, Event, Home, ImportHow, ModelInfo, NewProject, NothingCame, Order, Project, ReadRequest, Setting,
    Waker, read_files,
};
use crate::text::ByteIdx;
use crate::train::{PredictOptions, SentencePrediction, TrainError};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends a test that would wait for ever.
const LONG: Duration = Duration::from_secs(600);

/// A model whose answers name it: every head probability is the number of its snapshot's folder.
struct MadeUp {
    number: f32,
    stage: Stage,
}

/// The thread's side of a test: it says what it is asked, and waits for leave.
#[derive(Clone)]
struct Stage {
    asked: Sender<Asked>,
    leave: Receiver<Leave>,
}

#[derive(Debug, PartialEq)]
enum Asked {
    Load(String),
    Predict { model: f32, sentences: usize },
}

#[derive(PartialEq)]
enum Leave {
    Go,
    Panic,
}

impl Stage {
    fn say(&self, asked: Asked) -> Result<(), TrainError> {
        // Without a test at the other end there is nothing to wait for.
        let gone = |_| TrainError::Cancelled;
        self.asked.send(asked).map_err(|_| TrainError::Cancelled)?;
        assert!(self.leave.recv().map_err(gone)? == Leave::Go, "on purpose");
        Ok(())
    }

    fn load(&self, source: &Source) -> Result<MadeUp, TrainError> {
        let Source::Model(_, snapshot) = source else { panic!("no model is asked") };
        let name = snapshot.folder.file_name().unwrap().to_str().unwrap().to_owned();
        let number = name.strip_prefix("model-").unwrap().parse().unwrap();
        self.say(Asked::Load(name))?;
        Ok(MadeUp { number, stage: self.clone() })
    }
}

impl Model for MadeUp {
    fn predict(
        &self,
        sentences: &[Vec<String>],
        options: PredictOptions,
        _: &AtomicBool,
    ) -> Result<Vec<SentencePrediction>, TrainError> {
        self.stage.say(Asked::Predict { model: self.number, sentences: sentences.len() })?;
        let disagreement = (options.dropout_passes > 0).then_some(0.5);
        let said = |words: &Vec<String>| SentencePrediction {
            first_words: vec![self.number; words.len()],
            acquisition: Acquisition { disagreement, ..Acquisition::default() },
            ..SentencePrediction::default()
        };
        Ok(sentences.iter().map(said).collect())
    }
}

/// An open project of 40 sentences without mentions, and the test's side of its predictor.
struct Desk {
    _dir: tempfile::TempDir,
    project: Driver,
    asked: Receiver<Asked>,
    leave: Sender<Leave>,
    stage: Stage,
}

impl Desk {
    fn new() -> Self {
        Self::of(40)
    }

    fn of(sentences: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        let new = NewProject::with_labels(["PER"]).unwrap();
        let mut project = Driver::create(&home, &dir.path().join("p.nestling"), &new).unwrap();
        let file = dir.path().join("in.txt");
        std::fs::write(&file, "Anna met the mayor-elect .\n".repeat(sentences)).unwrap();
        let options = [("unit".to_owned(), "lines".to_owned())].into();
        let incoming = read_files(&[file], &ReadRequest { format: None, options }).unwrap();
        project.import(incoming, ImportHow::default()).unwrap();
        let (told, asked) = bounded(64);
        let (leave, let_go) = bounded(64);
        let stage = Stage { asked: told, leave: let_go };
        Self { _dir: dir, project, asked, leave, stage }
    }

    /// Gives the project a thread with the made-up models, and a first one of them.
    fn predicting() -> Self {
        let mut desk = Self::new();
        desk.start_thread(desk.project.waker());
        desk.add_model(1);
        desk.project.start_learner();
        desk.project.poll();
        desk
    }

    fn start_thread(&mut self, waker: Waker) {
        let stage = self.stage.clone();
        let thread = PredictorThread::start_with(move |source| stage.load(source), waker).unwrap();
        self.project.learner.asking.use_thread(thread);
    }

    fn add_model(&mut self, number: u32) {
        let id = ModelId(number);
        std::fs::create_dir_all(self.project.models_dir().join(model_folder::directory(id))).unwrap();
        let (architecture, encoder) = ("made-up".to_owned(), "small".to_owned());
        let info = ModelInfo {
            id,
            architecture,
            encoder,
            train_sentences: 9,
            created_ms: 0,
            dev_f1: None,
            dev_accuracy: None,
            calibration: None,
        };
        let (manifest_sha256, labels, leftovers) = ("made up".to_owned(), Vec::new(), Vec::new());
        let files = NewFiles { manifest_sha256, labels, leftovers };
        self.project.add_model(&info, files, true).unwrap();
    }

    fn next_asked(&self) -> Asked {
        self.asked.recv_timeout(LONG).unwrap()
    }

    /// Lets the predictor go on until it has nothing more to do, and returns what it was asked meanwhile.
    fn let_all_go(&mut self) -> Vec<Asked> {
        let Self { project, leave, asked, .. } = self;
        let mut all = Vec::new();
        project
            .run_until(LONG, |project, _| {
                all.extend(asked.try_iter());
                while leave.len() < 8 {
                    leave.send(Leave::Go).unwrap();
                }
                project.learner().predicting.is_none()
            })
            .unwrap();
        all.extend(asked.try_iter());
        all
    }

    fn wait_for(&mut self, mut wanted: impl FnMut(&Event) -> bool) -> Vec<Event> {
        let mut all = Vec::new();
        let done = |_: &Project, events: &[Event]| {
            all.extend_from_slice(events);
            events.iter().any(&mut wanted)
        };
        self.project.run_until(LONG, done).unwrap();
        all
    }

    /// Everything that is suggested is said by this model of the words that are there now.
    fn assert_all_said_by(&self, model: u32) {
        for sentence in self.project.corpus().sentences() {
            let said = self.project.suggestions(sentence.id()).unwrap();
            assert_eq!(said.model, ModelId(model));
            assert_eq!(said.heads, vec![model as f32; sentence.tokens().len()], "{:?}", sentence.id());
        }
    }

    /// Labels can be set, and are saved.
    fn assert_usable(&mut self) {
        let complete = self.project.counts().complete;
        let next = self.project.next_sentence(SentenceId(0), Order::Text).unwrap();
        self.project.run(Command::SetStatus { sentence: next, status: Status::Complete }).unwrap();
        assert_eq!(self.project.counts().complete, complete + 1);
        self.project.flush().unwrap();
    }
}

fn load(name: &str) -> Asked {
    Asked::Load(name.to_owned())
}

#[test]
fn every_sentence_is_predicted_once_by_a_model_that_is_loaded_once() {
    let mut desk = Desk::predicting();
    let predict = |sentences| Asked::Predict { model: 1.0, sentences };
    assert_eq!(desk.let_all_go(), [load("model-0001"), predict(16), predict(16), predict(8)]);
    desk.assert_all_said_by(1);
}

#[test]
fn a_strategy_by_disagreement_has_all_predicted_again_with_dropout() {
    let mut desk = Desk::predicting();
    desk.let_all_go();
    let disagree = |project: &Project| {
        let said = project.corpus().sentences().filter_map(|s| project.suggestions(s.id())?.acquisition.as_ref());
        said.filter(|said| said.disagreement.is_some()).count()
    };
    assert_eq!(disagree(&desk.project), 0);
    desk.project.run(Command::Set(Setting::Strategy("bald+diverse".parse().unwrap()))).unwrap();
    assert_eq!(desk.let_all_go().len(), 3);
    assert_eq!(disagree(&desk.project), 40);
    desk.project.run(Command::Set(Setting::Strategy("neh".parse().unwrap()))).unwrap();
    assert!(desk.let_all_go().is_empty(), "what was said is enough for it");
}

#[test]
fn what_no_model_has_seen_is_predicted_before_what_an_older_one_has() {
    let mut desk = Desk::new();
    desk.project.run(Command::Set(Setting::Strategy("order".parse().unwrap()))).unwrap();
    // The first 32 come next in the text.
    let said = SentenceSuggestions { model: ModelId(1), heads: Vec::new(), spans: Vec::new(), acquisition: None };
    desk.project.store_suggestions((32..36).map(|n| (SentenceId(n), said.clone())).collect()).unwrap();
    desk.add_model(2);
    desk.project.learner.is_on = true;
    desk.project.start_predicting();
    let order = desk.project.learner.asking.take(40);
    assert_eq!(order[..32], (0..32).map(SentenceId).collect::<Vec<_>>());
    let rest: Vec<HashSet<SentenceId>> = order[32..].chunks(4).map(|part| part.iter().copied().collect()).collect();
    assert_eq!(rest, [(36..40).map(SentenceId).collect(), (32..36).map(SentenceId).collect::<HashSet<_>>()]);
}

#[test]
fn what_an_older_model_says_late_is_dropped_and_the_newer_one_is_loaded() {
    let mut desk = Desk::predicting();
    assert_eq!(desk.next_asked(), load("model-0001"));
    desk.leave.send(Leave::Go).unwrap();
    assert!(matches!(desk.next_asked(), Asked::Predict { model: 1.0, .. }));
    desk.add_model(2);
    desk.leave.send(Leave::Go).unwrap();
    // The second batch of the first model is under way too; nothing of either may show.
    assert!(matches!(desk.next_asked(), Asked::Predict { model: 1.0, .. }));
    assert!(desk.project.poll().iter().all(|event| !matches!(event, Event::Suggestions(_))));
    assert!(desk.project.stored_suggestions().is_empty());
    let asked = desk.let_all_go();
    assert_eq!(asked[0], load("model-0002"));
    let counted = asked.iter().filter_map(|asked| match asked {
        Asked::Predict { model: 2.0, sentences } => Some(*sentences),
        _ => None,
    });
    assert_eq!(counted.sum::<usize>(), 40);
    desk.assert_all_said_by(2);
}

#[test]
fn what_is_said_of_words_as_they_were_is_asked_again() {
    let mut desk = Desk::predicting();
    desk.next_asked();
    desk.leave.send(Leave::Go).unwrap();
    assert!(matches!(desk.next_asked(), Asked::Predict { .. }));
    let sentence = desk.project.corpus().sentence(SentenceId(3)).unwrap();
    let token = sentence.tokens().iter().position(|t| t.end().get() - t.start().get() > 3).unwrap();
    let at = ByteIdx::new(sentence.tokens()[token].start().get() + 2);
    let before = sentence.tokens().len();
    desk.project.run(Command::SplitToken { sentence: SentenceId(3), token: TokenIdx::new(token), at }).unwrap();
    assert_eq!(desk.project.corpus().sentence(SentenceId(3)).unwrap().tokens().len(), before + 1);
    let asked = desk.let_all_go();
    assert!(asked.iter().all(|asked| !matches!(asked, Asked::Load(_))), "the model is the same: {asked:?}");
    desk.assert_all_said_by(1);
}

#[test]
fn a_large_project_is_put_in_order_by_another_thread() {
    let mut desk = Desk::of(10_000);
    desk.project.look_at(&[SentenceId(7)]);
    desk.start_thread(desk.project.waker());
    desk.add_model(1);
    desk.project.start_learner();
    assert!(desk.project.learner.ordering.is_some());
    desk.project.run_until(LONG, |project, _| project.learner.ordering.is_none()).unwrap();
    assert_eq!(desk.next_asked(), load("model-0001"));
    assert_eq!(desk.project.learner().predicting.map(|predicting| predicting.total), Some(10_000));
    let mut all = desk.project.learner.asking.take(10_000);
    assert!((10_000 - 3 * super::predictor::BATCH..10_000).contains(&all.len()), "but for those under way");
    all.sort_unstable();
    all.dedup();
    assert!(all.len() >= 10_000 - 3 * super::predictor::BATCH, "each once");
}

#[test]
fn a_panic_in_a_prediction_stops_it_until_there_is_another_model() {
    let mut desk = Desk::predicting();
    desk.next_asked();
    desk.leave.send(Leave::Go).unwrap();
    desk.next_asked();
    desk.leave.send(Leave::Panic).unwrap();
    desk.wait_for(|event| matches!(event, Event::PredictionFailed { message } if message.contains("report it")));
    assert!(matches!(desk.project.learner().state, LearnerState::Failed(_)));
    desk.assert_usable();
    // The batch that was under way behind it loads the model anew.
    assert!(desk.let_all_go().contains(&load("model-0001")));
    desk.add_model(2);
    assert!(desk.let_all_go().contains(&load("model-0002")));
    let said = desk.project.stored_suggestions().values();
    assert_eq!(said.filter(|said| said.model == ModelId(2)).count(), 39, "all that are not complete");
}

#[test]
fn a_thread_that_is_gone_is_told_and_the_next_model_starts_another() {
    let mut desk = Desk::new();
    // The end of the stage that the thread holds tells when it is gone.
    let (held, gone) = bounded::<()>(0);
    desk.start_thread(Arc::new(move || {
        let _held = &held;
        panic!("on purpose");
    }));
    desk.add_model(1);
    desk.project.start_learner();
    desk.project.poll();
    desk.next_asked();
    (0..2).for_each(|_| desk.leave.send(Leave::Go).unwrap());
    assert!(gone.recv_timeout(LONG).is_err_and(|e| e.is_disconnected()));
    let failed = |events: &[Event]| events.iter().any(|e| matches!(e, Event::PredictionFailed { .. }));
    assert!(failed(&desk.project.poll()));
    assert!(desk.project.learner().predicting.is_none(), "{:?}", desk.project.learner());
    assert!(!failed(&desk.project.poll()), "told once");
    desk.assert_usable();
    assert!(!desk.project.learner.asking.has_thread());
    desk.start_thread(desk.project.waker());
    desk.add_model(2);
    assert!(desk.let_all_go().contains(&load("model-0002")));
}

#[test]
fn dropping_the_thread_s_end_stops_what_it_does() {
    struct Endless;
    impl Model for Endless {
        fn predict(
            &self,
            _: &[Vec<String>],
            _: PredictOptions,
            cancel: &AtomicBool,
        ) -> Result<Vec<SentencePrediction>, TrainError> {
            while !cancel.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Err(TrainError::Cancelled)
        }
    }
    let mut desk = Desk::new();
    let (begun, begins) = bounded(1);
    let load = move |_: &Source| {
        begun.send(()).unwrap();
        Ok(Endless)
    };
    desk.project.learner.asking.use_thread(PredictorThread::start_with(load, Arc::new(|| {})).unwrap());
    desk.add_model(1);
    desk.project.start_learner();
    desk.project.poll();
    begins.recv_timeout(LONG).unwrap();
    desk.project.learner.stop();
    // The thread held the other end.
    assert!(begins.recv_timeout(LONG).is_err_and(|e| e.is_disconnected()));
}

#[test]
fn a_panic_in_a_training_costs_no_label_and_a_new_one_can_start() {
    let mut desk = Desk::new();
    (0..6).for_each(|_| desk.assert_usable());
    let run =
        |desk: &Desk| TrainingRun::start_with(ModelId(1), (6, 6), desk.project.waker(), |_, _| panic!("on purpose"));
    desk.project.learner.training = Some(UnderWay { run: run(&desk), full: None, ended: None, fetching: None });
    desk.wait_for(|event| matches!(event, Event::TrainingFailed { message } if message.contains("report it")));
    assert!(matches!(desk.project.learner().state, LearnerState::Failed(_)), "{:?}", desk.project.learner());
    assert_eq!(desk.project.counts().complete, 6);
    desk.assert_usable();
    desk.project.run(Command::Train).unwrap();
    assert!(matches!(desk.project.learner().state, LearnerState::Training(_)), "the failure is behind it");
    assert!(matches!(desk.project.run(Command::Train), Err(SessionError::TrainingAlready)));
    desk.project.run(Command::StopTraining).unwrap();
    desk.wait_for(|event| matches!(event, Event::TrainingStopped));
    assert!(matches!(desk.project.learner().state, LearnerState::Waiting { .. }));
    assert!(desk.project.current_model().is_none());
    desk.project.close().unwrap();
}

#[test]
fn a_driver_says_when_nothing_came() {
    let mut desk = Desk::new();
    let limit = Duration::from_millis(1);
    let came = desk.project.run_until(limit, |_, events| !events.is_empty());
    assert_eq!(came, Err(NothingCame { limit }));
}
