//! Names that an encoder has learned elsewhere: suggested before there is a model, under the project's own labels.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

#[path = "names/knowing.rs"]
mod knowing;

use knowing::{learn_names, words};
use nestling::annotation::{LabelId, ModelId, Provenance, SentenceId, Span};
use nestling::session::{
    Command, Driver, EvaluateRequest, Event, Home, ImportHow, LearnerState, NameKind, NameLabel, NewProject, Part,
    PredictOptions, Project, ReadRequest, SaveState, Setting, Suggested, read_files,
};
use nestling::train::Event as TrainEvent;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

struct Desk {
    dir: tempfile::TempDir,
    project: Driver,
}

impl Desk {
    /// Twelve sentences without mentions, and `gold` complete ones for dev.
    fn new(labels: &[&str], gold: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        learn_names(&home, dir.path());
        let new = NewProject {
            encoder: Some("knowing".to_owned()),
            ..NewProject::with_labels(labels.iter().copied()).unwrap()
        };
        let mut project = Driver::create(&home, &dir.path().join("p.nestling"), &new).unwrap();
        let mut import = |name: &str, lines: Vec<serde_json::Value>, how: ImportHow| {
            let file = dir.path().join(name);
            std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            let options = vec![("end".to_owned(), "exclusive".to_owned())];
            project.import(read_files(&[file], &ReadRequest { format: None, options }).unwrap(), how).unwrap();
        };
        let open = |i| serde_json::json!({ "tokens": words(i), "entities": [], "status": "untouched" });
        import("open.jsonl", (0..12).map(open).collect(), ImportHow::default());
        if gold > 0 {
            let mention = |at: usize, label: &str| serde_json::json!({ "start": at, "end": at + 1, "label": label });
            let names = [mention(0, "PER"), mention(5, "LOC")];
            let complete = |i| serde_json::json!({ "tokens": words(i), "entities": names });
            let how = ImportHow { split: Some(Part::Dev), ..ImportHow::default() };
            import("dev.jsonl", (0..gold).map(complete).collect(), how);
        }
        Self { dir, project }
    }

    /// As it is in the file.
    fn opened_again(self) -> Self {
        self.project.close().unwrap();
        let home = Home::at(self.dir.path().join("home"));
        Self { project: Driver::open(&home, &self.dir.path().join("p.nestling")).unwrap(), ..self }
    }

    fn wait(&mut self, done: impl FnMut(&Project, &[Event]) -> bool) {
        let came = self.project.run_until(Duration::from_secs(600), done);
        came.unwrap_or_else(|error| panic!("{error}: {:?}", self.project.learner()));
    }

    /// What is suggested for the first sentence, once all sentences have been asked about.
    fn names(&mut self) -> Vec<(usize, String)> {
        self.wait(|project, _| project.learner().predicting.is_none() && project.save_state() == SaveState::AllSaved);
        let labels = self.project.corpus().labels();
        let said = self.project.visible_suggestions(SentenceId(0)).into_iter();
        said.map(|s| (s.span.start().get(), labels.get(s.label).unwrap().name.clone())).collect()
    }

    /// The same after the encoder has been read anew.
    fn names_again(&mut self) -> Vec<(usize, String)> {
        self.wait(|project, _| project.learner().names);
        self.names()
    }

    fn set(&mut self, setting: Setting) {
        self.project.run(Command::Set(setting)).unwrap();
    }
}

fn said(pairs: &[(usize, &str)]) -> Vec<(usize, String)> {
    pairs.iter().map(|(at, label)| (*at, (*label).to_owned())).collect()
}

#[test]
fn names_are_suggested_under_the_labels_that_mean_them_until_a_person_says_otherwise() {
    let mut desk = Desk::new(&["Personne", "Town"], 0);
    desk.project.start_learner();
    assert!(desk.project.learner().names && desk.project.learner().current.is_none());
    assert_eq!(desk.names(), said(&[(0, "Personne")]));
    let said_of = desk.project.suggestions(SentenceId(0)).unwrap();
    assert_eq!((said_of.model, said_of.heads.len(), said_of.acquisition.is_none()), (ModelId::NAMES, 7, true));
    // Two labels of the encoder's mean the same, and both corpora mark it: what they come to is nearly certain.
    assert!(said_of.spans.iter().any(|s| s.score > 0.8), "{said_of:?}");

    // Another label while they are off counts when they are on again.
    let town = NameLabel::Label(LabelId(1));
    desk.set(Setting::GeneralNames(false));
    desk.set(Setting::NamesAs(NameKind::Place, town));
    desk.set(Setting::GeneralNames(true));
    assert_eq!(desk.names(), said(&[(0, "Personne"), (5, "Town")]));
    desk.set(Setting::NamesAs(NameKind::Person, NameLabel::Nothing));
    assert_eq!(desk.names(), said(&[(5, "Town")]));
    // A label of the same name needs nobody to say so.
    desk.project.run(Command::AddLabel { name: "Role".to_owned() }).unwrap();
    assert_eq!(desk.names(), said(&[(3, "Role"), (5, "Town")]));
    desk.set(Setting::GeneralNames(false));
    assert!(desk.names().is_empty() && !desk.project.learner().names);
    desk.set(Setting::GeneralNames(true));
    assert_eq!(desk.names(), said(&[(3, "Role"), (5, "Town")]));

    let span = Span::from_range(5..6).unwrap();
    let suggested = Suggested { span, label: LabelId(1), model: ModelId::NAMES };
    desk.project.run(Command::Accept { sentence: SentenceId(0), suggested }).unwrap();
    let sentence = desk.project.corpus().sentence(SentenceId(0)).unwrap();
    assert_eq!(sentence.mentions()[0].provenance, Provenance::Accepted(ModelId::NAMES));

    let mut desk = desk.opened_again();
    let sentence = desk.project.corpus().sentence(SentenceId(0)).unwrap();
    assert_eq!(sentence.mentions()[0].provenance, Provenance::Accepted(ModelId::NAMES));
    assert_eq!(desk.project.visible_suggestions(SentenceId(0)).len(), 1);
    desk.project.start_learner();
    desk.project.poll();
    assert!(desk.project.learner().names && desk.project.learner().predicting.is_none(), "nothing is found twice");
}

#[test]
fn another_encoder_finds_none() {
    let mut desk = Desk::new(&["PER"], 0);
    desk.project.start_learner();
    assert_eq!(desk.names(), said(&[(0, "PER")]));
    desk.set(Setting::Encoder("small".to_owned()));
    desk.wait(|project, _| !project.learner().names && project.visible_suggestions(SentenceId(0)).is_empty());
    assert!(!desk.project.knows_names());
    desk.set(Setting::Encoder("knowing".to_owned()));
    assert_eq!(desk.names_again(), said(&[(0, "PER")]));
    assert!(!Desk::new(&["Gesture"], 0).project.learner().names);
}

#[test]
fn names_are_scored_and_stored_on_demand() {
    let mut desk = Desk::new(&["PER", "LOC"], 24);
    let request = EvaluateRequest { model: Some(ModelId::NAMES), ..EvaluateRequest::of(Part::Dev) };
    let report = desk.project.evaluate_now(request, &NEVER).unwrap();
    assert_eq!((report.model, report.report.micro.support()), (ModelId::NAMES, 48));
    assert!(report.report.micro.f1().unwrap() > 0.9, "{:?}", report.report.micro);
    let names = Some(ModelId::NAMES);
    let stored =
        desk.project.predict_now(Part::Pool, names, None, PredictOptions::default(), &NEVER, &mut |_, _| {}).unwrap();
    assert_eq!((stored.sentences, stored.suggestions >= 24), (12, true), "{stored:?}");
    assert_eq!(desk.names(), said(&[(0, "PER"), (5, "LOC")]));
}

#[test]
fn heads_of_another_version_are_left_out_and_a_training_says_so() {
    let mut desk = Desk::new(&["PER", "LOC"], 24);
    let heads = desk.dir.path().join("home/encoders/knowing/entities.safetensors");
    let written = std::fs::read(&heads).unwrap();
    let key = br#"architecture_version\":"#;
    let at = written.windows(key.len()).position(|bytes| bytes == key).unwrap() + key.len();
    let mut other = written;
    other[at] = b'0';
    std::fs::write(&heads, other).unwrap();
    for sentence in (0..6).map(SentenceId) {
        desk.project.run(Command::SetStatus { sentence, status: nestling::annotation::Status::Complete }).unwrap();
    }
    let mut warnings = Vec::new();
    let mut config = desk.project.settings().config();
    config.set("epochs", "1").unwrap();
    config.set("self_training", "0").unwrap();
    let trained = desk.project.train_now(config, &NEVER, &mut |event| {
        if let TrainEvent::Warning { message } = event {
            warnings.push(message);
        }
    });
    assert_eq!(trained.unwrap().manifest.settings.encoder, "knowing");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("the heads begin anew: ") && warnings[0].contains("(smartspanner 0, "),
        "{warnings:?}"
    );
    let mut desk = desk.opened_again();
    desk.project.start_learner();
    assert!(!desk.project.knows_names() && desk.names().is_empty());
}

#[test]
fn a_model_that_finds_less_than_the_names_does_not_take_their_place() {
    let mut desk = Desk::new(&["PER", "LOC"], 24);
    // It learns that nothing is a mention, and dev says otherwise.
    for sentence in (0..6).map(SentenceId) {
        desk.project.run(Command::SetStatus { sentence, status: nestling::annotation::Status::Complete }).unwrap();
    }
    desk.set(Setting::AutoTrain(false));
    desk.project.start_learner();
    desk.project.run(Command::Train).unwrap();
    desk.wait(|project, events| {
        let is_worse = |event: &Event| match event {
            Event::ModelNotBetter { new_f1, current_f1, in_use } => new_f1 < current_f1 && in_use.is_none(),
            _ => false,
        };
        assert!(!events.iter().any(|event| matches!(event, Event::ModelReady(_))), "{events:?}");
        events.iter().any(is_worse) && !matches!(project.learner().state, LearnerState::Training(_))
    });
    assert!(desk.project.learner().names && desk.project.current_model().is_none());
    assert_eq!(desk.project.models().count(), 2, "from labels alone, and from what it labelled itself");
}
