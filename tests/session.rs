//! An open project with its workers, without a window: what a person does, what comes back, what survives closing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use nestling::annotation::{MentionId, ModelId, Sentence, SentenceId, Span, Split, Status, TokenIdx};
use nestling::evaluation::{Scored, least_effort};
use nestling::nn::{Rng, read_tensors};
use nestling::session::{
    Command, Config, CurveBasis, Decision, DocumentRow, Doubt, Driver, Event, Failure, FileNews, Home, ImportHow,
    LearnerState, LookAgainRequest, NewProject, Order, Part, PredictOptions, Project, ReadRequest, SaveState, Setting,
    Suggested, Why, WhyReadOnly, Withheld, read_files,
};
use nestling::text::ByteIdx;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

struct Place {
    dir: tempfile::TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        Self { dir, home }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("p.nestling")
    }

    fn open(&self) -> Driver {
        Driver::open(&self.home, &self.path()).unwrap()
    }

    /// A project of `sentences` sentences "NAME met the mayor of TOWN ." without mentions.
    fn project(&self, sentences: usize) -> Driver {
        // What learns fastest: it is not how well it learns that is tested here.
        let new = NewProject { encoder: Some("small".to_owned()), ..NewProject::with_labels(["PER", "LOC"]).unwrap() };
        let mut project = Driver::create(&self.home, &self.path(), &new).unwrap();
        let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
        let line = |i: usize| format!("{} met the mayor of {} .\n", names[i % names.len()], towns[i % towns.len()]);
        let file = self.dir.path().join("in.txt");
        std::fs::write(&file, (0..sentences).map(line).collect::<String>()).unwrap();
        import(&mut project, &file, &[("unit", "lines")]);
        project
    }

    /// Imports complete sentences "NAME met the mayor of TOWN .", some of them without their three mentions.
    fn import_gold(&self, project: &mut Driver, split: Part, sentences: usize, is_marked: impl Fn(usize) -> bool) {
        let all =
            r#"{"start":0,"end":1,"label":"PER"},{"start":2,"end":6,"label":"PER"},{"start":5,"end":6,"label":"LOC"}"#;
        let line = |i: usize| {
            let entities = if is_marked(i) { all } else { "" };
            let (name, town) = (["Anna", "Zoë", "Maja", "Jens"][i % 4], ["Aarhus", "Lund", "Turku"][i % 3]);
            let tokens = format!(r#"["{name}","met","the","mayor","of","{town}","."]"#);
            format!("{{\"tokens\":{tokens},\"entities\":[{entities}]}}\n")
        };
        let file = self.dir.path().join(format!("{split:?}.jsonl"));
        std::fs::write(&file, (0..sentences).map(line).collect::<String>()).unwrap();
        let options = vec![("end".to_owned(), "exclusive".to_owned())];
        let incoming = read_files(&[file], &ReadRequest { format: None, options }).unwrap();
        project.import(incoming, ImportHow { split: Some(split), ..ImportHow::default() }).unwrap();
    }

    /// The same, whose models begin with an encoder that counts as pretrained: so they may label sentences themselves.
    fn project_on_tiny(&self, sentences: usize) -> Driver {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
        self.home.encoders().import(&tiny, "tiny").unwrap();
        let mut project = self.project(sentences);
        project.run(Command::Set(Setting::Encoder("tiny".into()))).unwrap();
        project
    }
}

fn import(project: &mut Driver, file: &Path, options: &[(&str, &str)]) {
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let incoming = read_files(&[file.to_owned()], &ReadRequest { format: None, options }).unwrap();
    project.import(incoming, ImportHow::default()).unwrap();
}

fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

/// Marks the three mentions of a sentence and completes it.
fn annotate(project: &mut Driver, sentence: SentenceId) {
    let label = |name: &str| project.corpus().labels().by_name(name).unwrap().id;
    let (per, loc) = (label("PER"), label("LOC"));
    for (span, label) in [(span(0, 1), per), (span(2, 6), per), (span(5, 6), loc)] {
        project.run(Command::Annotate { sentence, fragments: span.into(), label }).unwrap();
    }
    project.run(Command::SetStatus { sentence, status: Status::Complete }).unwrap();
}

/// Drives the project until `done` says so. Trainings stand back behind all else that the machine does: the limit only
/// ends a test that would wait for ever.
fn wait(project: &mut Driver, done: impl FnMut(&Project, &[Event]) -> bool) {
    let came = project.run_until(Duration::from_secs(600), done);
    came.unwrap_or_else(|error| panic!("{error}: {:?}", project.learner()));
}

#[test]
fn the_loop_of_label_train_suggest_accept_turns() {
    let place = Place::new();
    let mut project = place.project(30);
    project.start_learner();
    for number in 0..20 {
        assert!(!matches!(project.learner().state, LearnerState::Training(_)), "before 20 are complete");
        annotate(&mut project, SentenceId(number));
    }
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::ModelReady(_))));
    assert_eq!(project.learner().current.as_ref().unwrap().train_sentences, project.counts().train);

    let next = project.next_sentence(SentenceId(19), Order::Text).unwrap();
    assert_eq!(next, SentenceId(20));
    wait(&mut project, |project, _| project.suggestions(next).is_some() && project.learner().predicting.is_none());
    let suggestions: Vec<_> = project.visible_suggestions(next).into_iter().cloned().collect();
    assert!(suggestions.iter().any(|s| s.span == span(2, 6)), "{suggestions:?}");
    assert_eq!(project.suggestions(next).unwrap().heads.len(), 7);
    assert!(project.suggestions(SentenceId(3)).is_none(), "complete sentences need none");

    let first = suggestions[0].clone();
    let model = project.suggestions(next).unwrap().model;
    let rejected = Suggested { span: first.span, label: first.label, model };
    project.run(Command::Reject { sentence: next, suggested: rejected }).unwrap();
    project.run(Command::AcceptAll { sentence: next, min_score: 0.0 }).unwrap();
    assert_eq!(project.corpus().sentence(next).unwrap().mentions().len(), suggestions.len() - 1);
    assert!(project.visible_suggestions(next).is_empty(), "accepted or rejected, all of them");
    project.run(Command::Undo).unwrap();
    project.run(Command::Undo).unwrap();
    assert_eq!(project.visible_suggestions(next).len(), suggestions.len());
    assert_eq!(project.corpus().sentence(next).unwrap().status(), Status::Untouched);
    project.close().unwrap();

    // Suggestions, history and the model are there again, and nothing is predicted twice.
    let mut project = place.open();
    assert_eq!(project.visible_suggestions(next).len(), suggestions.len());
    assert!(project.redo_intent().is_some());
    project.start_learner();
    project.poll();
    assert!(project.learner().predicting.is_none(), "{:?}", project.learner());
    project.run(Command::Redo).unwrap();
    assert_eq!(project.visible_suggestions(next).len(), suggestions.len() - 1);
}

#[test]
fn ten_more_complete_sentences_refresh_the_model_in_use_and_twenty_train_anew() {
    let place = Place::new();
    let mut project = place.project(60);
    (0..6).for_each(|number| annotate(&mut project, SentenceId(number)));
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "30").unwrap();
    let first = project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap().model;
    project.start_learner();
    let effort = |project: &Project, model: ModelId| -> String {
        let config = std::fs::read_to_string(project.snapshot(model).unwrap().join("config.json")).unwrap();
        let config: serde_json::Value = serde_json::from_str(&config).unwrap();
        config["effort"].as_str().unwrap().to_owned()
    };
    // The encoder of the first model stays as it is.
    let block = |project: &Project, model: ModelId| {
        let weights = read_tensors(&project.snapshot(model).unwrap().join("weights.safetensors")).unwrap();
        weights["encoder.encoder.layer.1.output.dense.weight"].flatten_all().unwrap().to_vec1::<f32>().unwrap()
    };
    let newest = |project: &Project| project.models().map(|model| model.id).max().unwrap();
    let ready = |_: &Project, events: &[Event]| events.iter().any(|e| matches!(e, Event::ModelReady(_)));

    (6..15).for_each(|number| annotate(&mut project, SentenceId(number)));
    let LearnerState::Waiting { sentences_to_go } = project.learner().state else { panic!("{:?}", project.learner()) };
    annotate(&mut project, SentenceId(15));
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    wait(&mut project, ready);
    let quick = newest(&project);
    assert_eq!((effort(&project, first).as_str(), effort(&project, quick).as_str()), ("full", "heads"));
    let of_quick = block(&project, quick);
    assert!(block(&project, first) == of_quick, "the encoder has moved");
    assert_eq!(project.learner().current.as_ref().unwrap().id, quick, "it suggests");
    let waiting = LearnerState::Waiting { sentences_to_go: sentences_to_go - 1 };
    assert_eq!(project.learner().state, waiting, "a quick training puts the full one off");

    (16..16 + sentences_to_go as u32).for_each(|number| annotate(&mut project, SentenceId(number)));
    wait(&mut project, |project, _| matches!(project.learner().state, LearnerState::Waiting { .. }));
    let full = newest(&project);
    assert_eq!(effort(&project, full), "full");
    assert!(block(&project, full) != of_quick);
}

/// Which sentences a model may label itself: the open ones, and no others.
#[test]
fn a_training_labels_open_sentences_itself_unless_it_is_told_not_to() {
    let place = Place::new();
    let mut project = place.project_on_tiny(30);
    (0..8).for_each(|number| annotate(&mut project, SentenceId(number)));
    for number in [8, 9] {
        project.run(Command::SetStatus { sentence: SentenceId(number), status: Status::Skipped }).unwrap();
    }
    for split in [Part::Test, Part::Dev, Part::Blind] {
        let file = place.dir.path().join(format!("{split:?}.txt"));
        std::fs::write(&file, "Nobody met the mayor of Lund .").unwrap();
        let incoming = read_files(&[file], &ReadRequest::default()).unwrap();
        project.import(incoming, ImportHow { split: Some(split), ..ImportHow::default() }).unwrap();
    }
    let by_itself = |project: &mut Driver| {
        let config = Config { epochs: Some(1), self_epochs: Some(1), ..project.settings().config() };
        let report = project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap();
        report.manifest.settings.self_training.map_or(0, |own| own.sentences)
    };
    let train = project.counts().train;
    assert_eq!(by_itself(&mut project), (3 * train).min(30 - 8 - 2));
    project.run(Command::Set(Setting::SelfTraining(false))).unwrap();
    assert_eq!(by_itself(&mut project), 0);
}

#[test]
fn the_first_model_comes_from_labels_alone_and_the_one_that_labels_itself_follows_at_once() {
    let place = Place::new();
    let mut project = place.project_on_tiny(50);
    project.start_learner();
    (0..20).for_each(|number| annotate(&mut project, SentenceId(number)));
    let labelled_itself = |project: &Project, model: u32| {
        let config = std::fs::read_to_string(project.snapshot(ModelId(model)).unwrap().join("config.json")).unwrap();
        let config: serde_json::Value = serde_json::from_str(&config).unwrap();
        config["self_training"].as_u64().unwrap()
    };
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::ModelReady(_))));
    assert_eq!(labelled_itself(&project, 1), 0);
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    // Closing the project does not lose it.
    project.close().unwrap();
    let mut project = place.open();
    project.start_learner();
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    wait(&mut project, |project, _| matches!(project.learner().state, LearnerState::Waiting { .. }));
    let second = project.models().map(|model| model.id).max().unwrap();
    assert!(labelled_itself(&project, second.0) > 0);
    assert_eq!(project.models().count(), 2);
}

#[test]
fn after_a_change_of_labels_a_full_training_follows_instead_of_a_quick_one() {
    let place = Place::new();
    let mut project = place.project(60);
    (0..6).for_each(|number| annotate(&mut project, SentenceId(number)));
    let config = Config { encoder: "small".to_owned(), epochs: Some(2), ..Config::default() };
    project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    project.run(Command::AddLabel { name: "ORG".to_owned() }).unwrap();
    project.start_learner();
    (6..16).for_each(|number| annotate(&mut project, SentenceId(number)));
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    wait(&mut project, |project, _| matches!(project.learner().state, LearnerState::Waiting { .. }));
    let newest = project.models().map(|model| model.id).max().unwrap();
    let config = std::fs::read_to_string(project.snapshot(newest).unwrap().join("config.json")).unwrap();
    assert!(config.contains("\"effort\": \"full\"") || config.contains("\"effort\":\"full\""), "{config}");
}

#[test]
fn what_a_training_left_that_can_t_go_on_keeps_no_other_from_beginning() {
    let place = Place::new();
    let mut project = place.project(40);
    (0..20).for_each(|number| annotate(&mut project, SentenceId(number)));
    let left = project.models_dir().join("model-0009.training");
    project.close().unwrap();
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("dataset.json"), "{").unwrap();
    let mut project = place.open();
    project.start_learner();
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::ModelReady(_))));
    project.flush().unwrap();
}

#[test]
fn what_is_set_aside_puts_no_training_off_and_what_is_opened_again_gets_suggestions() {
    let place = Place::new();
    let mut project = place.project(60);
    project.run(Command::Set(Setting::AutoTrain(false))).unwrap();
    (0..30).for_each(|number| annotate(&mut project, SentenceId(number)));
    let more = place.dir.path().join("more.txt");
    std::fs::write(&more, "Nobody met the mayor of Lund .\n".repeat(40)).unwrap();
    import(&mut project, &more, &[("unit", "lines")]);
    let config = Config { encoder: "small".to_owned(), epochs: Some(2), ..Config::default() };
    project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    project.start_learner();
    let opened = SentenceId(3);
    wait(&mut project, |project, _| project.learner().predicting.is_none());
    assert!(project.suggestions(opened).is_none());
    project.run(Command::SetStatus { sentence: opened, status: Status::InProgress }).unwrap();
    wait(&mut project, |project, _| project.suggestions(opened).is_some());

    let document = project.corpus().sentence(opened).unwrap().document();
    project.run(Command::ExcludeDocuments { documents: vec![document] }).unwrap();
    project.run(Command::Set(Setting::AutoTrain(true))).unwrap();
    // As many as before: the one that was opened again, and twenty.
    assert_eq!(project.learner().state, LearnerState::Waiting { sentences_to_go: 21 });
    (60..71).for_each(|number| annotate(&mut project, SentenceId(number)));
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
}

#[test]
fn a_paused_training_is_still_paused_after_opening_again_and_goes_on_when_told() {
    let place = Place::new();
    let mut project = place.project(24);
    project.start_learner();
    assert!(project.run(Command::PauseTraining(true)).is_err(), "there is none");
    for number in 0..20 {
        annotate(&mut project, SentenceId(number));
    }
    let paused = |project: &Project| match &project.learner().state {
        LearnerState::Training(progress) => Some(progress.paused),
        _ => None,
    };
    project.run(Command::PauseTraining(true)).unwrap();
    assert_eq!(paused(&project), Some(true));
    project.close().unwrap();

    let mut project = place.open();
    project.start_learner();
    assert_eq!(paused(&project), Some(true), "begun again or gone on with, it waits");
    project.run(Command::PauseTraining(false)).unwrap();
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::ModelReady(_))));

    // The next one does not wait for that.
    project.run(Command::Train).unwrap();
    project.run(Command::PauseTraining(true)).unwrap();
    project.run(Command::StopTraining).unwrap();
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::TrainingStopped)));
    project.run(Command::Train).unwrap();
    assert_eq!(paused(&project), Some(false));
}

#[test]
fn closing_stops_a_training_and_opening_starts_it_again() {
    let place = Place::new();
    let mut project = place.project(40);
    (0..20).for_each(|number| annotate(&mut project, SentenceId(number)));
    project.start_learner();
    assert!(matches!(project.learner().state, LearnerState::Training(_)));
    let closing = Instant::now();
    project.close().unwrap();
    assert!(closing.elapsed() < Duration::from_secs(1), "{:?}", closing.elapsed());
    let mut project = place.open();
    assert_eq!(project.counts().complete, 20);
    project.start_learner();
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "it resumes");
    project.run(Command::StopTraining).unwrap();
    wait(&mut project, |_, events| events.contains(&Event::TrainingStopped));
    assert_eq!(project.learner().state, LearnerState::Waiting { sentences_to_go: 20 }, "not at once again");
}

#[test]
fn a_training_that_fails_says_why_and_costs_no_label() {
    let place = Place::new();
    let mut project = place.project(30);
    project.run(Command::Set(Setting::Encoder("gone".into()))).unwrap();
    project.start_learner();
    (0..20).for_each(|number| annotate(&mut project, SentenceId(number)));
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::TrainingFailed { .. })));
    let LearnerState::Failed(Failure { message, .. }) = &project.learner().state else {
        panic!("{:?}", project.learner())
    };
    assert!(message.contains("gone") && message.contains("small"), "{message}");
    project.flush().unwrap();
    assert_eq!(project.save_state(), SaveState::AllSaved);
    assert_eq!(project.counts().complete, 20);
}

#[test]
fn a_training_that_starts_by_itself_takes_some_and_one_by_command_takes_all() {
    let place = Place::new();
    let mut project = place.project(3);
    project.run(Command::Set(Setting::TrainSentences(NonZero::new(30)))).unwrap();
    place.import_gold(&mut project, Part::Train, 120, |_| true);
    annotate(&mut project, SentenceId(1));
    project.start_learner();
    let all = project.counts().train;
    assert!((120..=121).contains(&all), "{all}: the one that was annotated may be of dev");
    let LearnerState::Training(progress) = &project.learner().state else { panic!("{:?}", project.learner()) };
    assert_eq!((progress.train_sentences, progress.of_sentences), (30, all), "and that is shown from the beginning");
    wait(&mut project, |_, events| events.iter().any(|e| matches!(e, Event::ModelReady(_))));
    assert_eq!(project.learner().current.as_ref().map(|model| model.train_sentences), Some(30));
    project.run(Command::StopTraining).unwrap();
    project.close().unwrap();
    let mut project = place.open();
    let config = Config { encoder: "small".to_owned(), epochs: Some(1), ..Config::default() };
    let outcome = project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap().manifest.outcome;
    assert_eq!((outcome.train_sentences, outcome.of_sentences), (all, all));
}

#[test]
fn one_completed_sentence_in_five_or_so_goes_to_dev_for_good() {
    let place = Place::new();
    let mut project = place.project(100);
    (0..100).for_each(|number| annotate(&mut project, SentenceId(number)));
    let dev = project.counts().dev;
    assert!((10..=30).contains(&dev), "{dev}");
    let chosen = project.corpus().sentences().find(|s| s.split() == Split::Dev).unwrap().id();
    project.run(Command::SetStatus { sentence: chosen, status: Status::InProgress }).unwrap();
    project.run(Command::SetStatus { sentence: chosen, status: Status::Complete }).unwrap();
    assert_eq!(project.corpus().sentence(chosen).unwrap().split(), Split::Dev);
}

#[test]
fn a_second_opening_is_refused_and_says_who_has_it() {
    let place = Place::new();
    let project = place.project(3);
    let error = Driver::open(&place.home, &place.path()).err().unwrap().to_string();
    assert!(error.contains("open already"), "{error}");
    drop(project);
    place.open().close().unwrap();
}

/// What a person might do next, wherever the dice say; not all of it can be done.
fn anything(project: &Project, rng: &mut Rng) -> Command {
    let corpus = project.corpus();
    let sentences: Vec<_> = corpus.sentences().collect();
    let chosen = sentences[rng.below(sentences.len())];
    let (sentence, words) = (chosen.id(), chosen.tokens().len());
    let start = rng.below(words);
    let span = span(start, start + 1 + rng.below(words - start));
    let label = corpus.labels().by_name(["PER", "LOC"][rng.below(2)]).unwrap().id;
    let mention = chosen.mentions().get(rng.below(chosen.mentions().len().max(1))).map_or(MentionId(0), |m| m.id);
    let token = TokenIdx::new(start);
    match rng.below(10) {
        0 | 1 => Command::Annotate { sentence, fragments: span.into(), label },
        2 => Command::Remove { sentence, mention },
        3 => Command::Relabel { sentence, mention, label },
        4 => Command::Resize { sentence, mention, span },
        5 => Command::RuleOut { sentence, span, label },
        6 => Command::SetStatus { sentence, status: STATUSES[rng.below(STATUSES.len())] },
        7 => Command::SplitToken { sentence, token, at: ByteIdx::new(chosen.tokens()[start].start().get() + 1) },
        8 if rng.below(2) == 0 => Command::SplitSentence { sentence, before: token },
        8 => Command::JoinSentences { sentence },
        _ => Command::JoinTokens { sentence, span: Span::from_range(start..words.min(start + 2)).unwrap() },
    }
}

const STATUSES: [Status; 5] =
    [Status::Untouched, Status::InProgress, Status::Complete, Status::Skipped, Status::Flagged];

#[test]
fn random_work_undone_and_reopened_is_the_first_state() {
    let place = Place::new();
    let mut project = place.project(12);
    let first = format!("{:?}", project.corpus().sentences().collect::<Vec<_>>());
    let (mut rng, mut done) = (Rng::new(1, "random work"), BTreeMap::new());
    for _ in 0..600 {
        let (command, before) = (anything(&project, &mut rng), project.corpus().revision());
        let kind = format!("{command:?}").split(' ').next().unwrap().to_owned();
        let worked = project.run(command).is_ok() && project.corpus().revision() != before;
        *done.entry(kind).or_insert(0) += usize::from(worked);
    }
    assert!(done.len() == 10 && done.values().all(|times| *times >= 5), "{done:?}");
    let last = format!("{:?}", project.corpus().sentences().collect::<Vec<_>>());
    project.close().unwrap();
    let mut project = place.open();
    assert_eq!(format!("{:?}", project.corpus().sentences().collect::<Vec<_>>()), last);
    while !project.undo_intent().unwrap().starts_with("Import ") {
        project.run(Command::Undo).unwrap();
    }
    project.close().unwrap();
    let mut project = place.open();
    assert_eq!(format!("{:?}", project.corpus().sentences().collect::<Vec<_>>()), first);
    while project.undo_intent().is_some() {
        project.run(Command::Undo).unwrap();
    }
    assert_eq!((project.corpus().sentence_count(), project.counts().sentences), (0, 0));
    project.close().unwrap();
    let mut project = place.open();
    while project.redo_intent().is_some() {
        project.run(Command::Redo).unwrap();
    }
    assert_eq!(format!("{:?}", project.corpus().sentences().collect::<Vec<_>>()), last);
}

#[test]
fn a_label_that_is_gone_suggests_nothing() {
    let place = Place::new();
    let mut project = place.project(1);
    let file = place.dir.path().join("said.jsonl");
    let entities = r#"[{"start":0,"end":1,"label":"PER","score":0.9},{"start":1,"end":2,"label":"NEW","score":0.9}]"#;
    std::fs::write(&file, format!("{{\"tokens\":[\"Anna\",\"Berg\"],\"entities\":{entities}}}\n")).unwrap();
    import(&mut project, &file, &[]);
    let sentence = SentenceId(1);
    assert_eq!(project.visible_suggestions(sentence).len(), 2);
    let label = project.corpus().labels().by_name("NEW").unwrap().id;
    project.run(Command::RemoveLabel { label }).unwrap();
    assert_eq!(project.visible_suggestions(sentence).len(), 1);
    project.run(Command::AcceptAll { sentence, min_score: 0.0 }).unwrap();
    assert_eq!(project.corpus().sentence(sentence).unwrap().mentions().len(), 1);
}

#[test]
fn an_import_is_undone_and_nothing_before_it_is_blocked() {
    let place = Place::new();
    let mut project = place.project(2);
    project.run(Command::AddLabel { name: "ORG".into() }).unwrap();
    let file = place.dir.path().join("more.jsonl");
    let entities = r#"[{"start":0,"end":1,"label":"ORG"},{"start":1,"end":2,"label":"NEW"}]"#;
    std::fs::write(&file, format!("{{\"tokens\":[\"Anna\",\"Berg\"],\"entities\":{entities}}}\n")).unwrap();
    import(&mut project, &file, &[]);
    assert_eq!((project.counts().sentences, project.counts().mentions), (3, 2));
    // The label that the import uses was added before it: both can be undone, and done again.
    assert_eq!(project.undo_intent(), Some("Import more.jsonl"));
    project.run(Command::Undo).unwrap();
    assert_eq!((project.counts().sentences, project.counts().mentions, project.counts().documents), (2, 0, 1));
    project.run(Command::Undo).unwrap();
    assert!(project.corpus().labels().by_name("ORG").is_none());
    project.close().unwrap();
    let mut project = place.open();
    project.run(Command::Redo).unwrap();
    project.run(Command::Redo).unwrap();
    assert_eq!((project.counts().sentences, project.counts().mentions), (3, 2));
    assert!(project.corpus().labels().by_name("NEW").is_some());
    let document = project.corpus().documents().last().unwrap().id;
    project.run(Command::RemoveDocuments { documents: vec![document] }).unwrap();
    assert_eq!((project.counts().sentences, project.undo_intent()), (2, Some("Delete more")));
    project.close().unwrap();
}

#[test]
fn a_line_that_does_not_say_what_it_holds_is_not_complete() {
    let place = Place::new();
    let file = place.dir.path().join("partly.jsonl");
    let lines = [
        r#"{"tokens":["Anna","Berg"],"entities":[{"start":0,"end":2,"label":"PER"}]}"#,
        r#"{"tokens":["Nobody","here"],"entities":[]}"#,
        r#"{"tokens":["Maja","Lund"]}"#,
        r#"{"tokens":["Nobody","else"],"status":"complete"}"#,
        r#"{"tokens":["Jens","Holm"],"entities":[{"start":0,"end":1,"label":"PER"}],"status":"in_progress"}"#,
    ];
    std::fs::write(&file, lines.join("\n")).unwrap();
    for split in [None, Some(Part::Train)] {
        let new = NewProject::with_labels(["PER"]).unwrap();
        let mut project = Driver::create(&place.home, &place.path(), &new).unwrap();
        let incoming = read_files(std::slice::from_ref(&file), &ReadRequest::default()).unwrap();
        let receipt = project.import(incoming, ImportHow { split, ..ImportHow::default() }).unwrap();
        let statuses: Vec<&str> = project.corpus().sentences().map(|s| s.status().id()).collect();
        assert_eq!(statuses, ["complete", "complete", "untouched", "complete", "in_progress"]);
        let note = "2 sentences are not complete: their file says so, or not what they hold";
        assert_eq!(receipt.notes.last().map(String::as_str), Some(note));
        project.close().unwrap();
        std::fs::remove_file(place.path()).unwrap();
    }
}

#[test]
fn suggestions_go_along_when_words_are_split_and_joined() {
    let place = Place::new();
    let mut project = place.project(1);
    let file = place.dir.path().join("said.jsonl");
    let entities = r#"[{"start":0,"end":2,"label":"PER","score":0.9},{"start":3,"end":4,"label":"LOC","score":0.8},{"start":1,"end":3,"label":"LOC","score":0.7}]"#;
    let tokens = r#"["Anna","Berg","met","Mr.Bean","."]"#;
    std::fs::write(&file, format!("{{\"tokens\":{tokens},\"entities\":{entities}}}\n")).unwrap();
    import(&mut project, &file, &[]);
    let first = SentenceId(1);
    let said = |project: &Project| -> Vec<String> {
        let of = project.corpus().sentences().flat_map(|s| {
            let spans = project.visible_suggestions(s.id()).into_iter().map(|x| x.span);
            spans.map(|span| project.corpus().span_text(s, span).to_owned()).collect::<Vec<_>>()
        });
        of.collect()
    };
    let all = said(&project);
    assert_eq!(all, ["Anna Berg", "Berg met", "Mr.Bean"]);
    let sentence = project.corpus().sentence(first).unwrap();
    let at = ByteIdx::new(sentence.tokens()[3].start().get() + 3);
    project.run(Command::SplitToken { sentence: first, token: TokenIdx::new(3), at }).unwrap();
    assert_eq!(said(&project), all);
    project.run(Command::JoinTokens { sentence: first, span: span(3, 5) }).unwrap();
    // What a file has suggested can't be made again, so that it is answered before it is cut through.
    let split = Command::SplitSentence { sentence: first, before: TokenIdx::new(2) };
    let refused = project.run(split.clone()).unwrap_err().to_string();
    assert!(refused.contains("\"Berg met\"") && refused.contains("accept"), "{refused}");
    assert_eq!(said(&project), all);
    let loc = project.corpus().labels().by_name("LOC").unwrap().id;
    let suggested = Suggested { span: span(1, 3), label: loc, model: ModelId::FROM_FILE };
    project.run(Command::Reject { sentence: first, suggested }).unwrap();
    project.run(split).unwrap();
    assert_eq!(said(&project), ["Anna Berg", "Mr.Bean"]);
    project.run(Command::JoinSentences { sentence: first }).unwrap();
    assert_eq!(said(&project), ["Anna Berg", "Mr.Bean"]);
    let counts = project.counts().clone();
    project.close().unwrap();
    let project = place.open();
    assert_eq!((said(&project).len(), project.counts()), (2, &counts));
    let refused = project.corpus().sentence(first).unwrap().tokens().len();
    assert_eq!(refused, 5);
}

#[test]
fn a_label_that_a_person_changes_to_is_no_longer_rejected() {
    let place = Place::new();
    let mut project = place.project(1);
    let (sentence, labels) = (SentenceId(0), project.corpus().labels().clone());
    let (per, loc) = (labels.by_name("PER").unwrap().id, labels.by_name("LOC").unwrap().id);
    let rejected = |project: &Project| project.corpus().sentence(sentence).unwrap().rejected().clone();
    for (span, label) in [(span(0, 1), loc), (span(0, 2), loc)] {
        project.run(Command::RuleOut { sentence, span, label }).unwrap();
    }
    let marked = Command::Annotate { sentence, fragments: span(0, 1).into(), label: per };
    let mention = project.run(marked).unwrap().mention.unwrap();
    project.run(Command::Relabel { sentence, mention, label: loc }).unwrap();
    assert_eq!(rejected(&project).into_iter().collect::<Vec<_>>(), [(span(0, 2), loc)]);
    project.run(Command::Resize { sentence, mention, span: span(0, 2) }).unwrap();
    assert!(rejected(&project).is_empty());
    project.run(Command::Undo).unwrap();
    project.run(Command::Undo).unwrap();
    assert_eq!(rejected(&project).len(), 2, "undo brings both back");
    project.close().unwrap();
}

#[test]
fn reading_a_closed_project_leaves_nothing_beside_it() {
    let place = Place::new();
    place.project(3).close().unwrap();
    let project = Driver::open_to_read(&place.home, &place.path()).unwrap();
    assert_eq!(project.search_now("mayor").unwrap().len(), 3);
    project.costs().wait().unwrap().unwrap();
    project.save_copy(place.dir.path().join("copy.nestling")).wait().unwrap().unwrap();
    project.close().unwrap();
    let names = std::fs::read_dir(place.dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(".nestling")).collect();
    names.sort();
    assert_eq!(names, ["copy.nestling", "p.nestling"]);
}

/// The locks that this process has on a file, as Linux tells.
#[cfg(target_os = "linux")]
fn locks(path: &Path) -> usize {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    let process = format!(" {} ", std::process::id());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().filter(|l| l.contains("POSIX") && l.contains(&process) && l.contains(&inode)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn what_reads_beside_an_open_project_leaves_its_locks_alone() {
    let place = Place::new();
    let mut project = place.project(3);
    annotate(&mut project, SentenceId(0));
    project.flush().unwrap();
    let held = locks(&place.path());
    assert!(held > 0, "SQLite holds the file of an open project");
    project.search_now("mayor").unwrap();
    project.costs().wait().unwrap().unwrap();
    project.save_copy(place.dir.path().join("copy.nestling")).wait().unwrap().unwrap();
    let request = nestling::session::ExportRequest { format: "jsonl".to_owned(), ..Default::default() };
    let refused = project.export_view().export(&request, &place.path()).unwrap_err().to_string();
    assert!(refused.contains("never replaced"), "{refused}");
    assert_eq!(locks(&place.path()), held);
    project.close().unwrap();
}

#[test]
fn a_project_opened_to_be_read_shows_all_and_refuses_changes() {
    let place = Place::new();
    let project = place.project(3);
    project.flush().unwrap();
    let mut reading = Driver::open_to_read(&place.home, &place.path()).unwrap();
    assert!(matches!(reading.read_only(), Some(WhyReadOnly::OpenElsewhere(_))));
    assert_eq!(reading.counts().sentences, 3);
    reading.start_learner();
    let error = reading.run(Command::AddLabel { name: "X".into() }).unwrap_err().to_string();
    assert!(error.contains("can't be changed because it is open already, by "), "{error}");
    assert_eq!(reading.corpus().labels().len(), project.corpus().labels().len());
    let setting = Command::Set(Setting::Threshold(0.1));
    assert!(reading.run(setting).is_err() && reading.settings().threshold != 0.1);
    assert_eq!(reading.search_now("met").unwrap().len(), 3);
    reading.close().unwrap();
    assert_eq!(project.search_now("met").unwrap(), [SentenceId(0), SentenceId(1), SentenceId(2)]);
    let copy = place.dir.path().join("copy.nestling");
    project.save_copy(copy.clone()).wait().unwrap().unwrap();
    let copied = Driver::open(&place.home, &copy).unwrap();
    assert_eq!(copied.counts(), project.counts());
}

#[test]
fn a_brat_folder_brings_its_labels_with_their_titles_colours_and_keys() {
    let place = Place::new();
    let folder = place.dir.path().join("brat");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("a.txt", "Anna Berg met Bo.\n");
    write("a.ann", "T1\tPerson 0 9\tAnna Berg\n#1\tAnnotatorNotes T1\tthe mayor\nA1\tSure T1 no\nT2\tPet 14 16\tBo\n");
    write("annotation.conf", "[entities]\nPlace\nPerson\n[relations]\n[events]\n[attributes]\n");
    write("visual.conf", "[labels]\nPerson | A person | Pers\n[drawing]\nPerson\tbgColor:#ffccaa\n");
    write("kb_shortcuts.conf", "Q Person\nX Place\n");
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::with_labels(["Q"]).unwrap()).unwrap();
    import(&mut project, &folder, &[]);
    let labels = project.corpus().labels().iter();
    let labels: Vec<_> = labels.map(|l| format!("{} {:?} {} {:?}", l.name, l.title, l.color.to_hex(), l.key)).collect();
    expect_test::expect![[r#"
        Q "" #F07F5A Some('q')
        Place "" #56A5F5 Some('p')
        Person "A person" #FFCCAA Some('e')
        Pet "" #2FB47C Some('t')"#]]
    .assert_eq(&labels.join("\n"));
    let sentence = project.corpus().sentences().next().unwrap();
    let mention = &sentence.mentions()[0];
    assert_eq!((mention.note.as_str(), mention.source_id.as_deref()), ("the mayor", Some("T1")));
    assert_eq!(mention.attributes.get("Sure").map(String::as_str), Some("no"));
    project.close().unwrap();
    let project = place.open();
    let mention = &project.corpus().sentences().next().unwrap().mentions()[0].clone();
    assert_eq!((mention.note.as_str(), mention.source_id.as_deref()), ("the mayor", Some("T1")));
}

#[test]
fn documents_are_excluded_included_and_deleted_and_all_of_it_is_undone() {
    let place = Place::new();
    let mut project = place.project(2);
    for (name, text) in [("rain", "It rained .\n"), ("sea", "Anna lives by the sea .\nShe left .\n")] {
        let file = place.dir.path().join(format!("{name}.txt"));
        std::fs::write(&file, text).unwrap();
        import(&mut project, &file, &[("unit", "lines")]);
    }
    let sea_sentence = SentenceId(3);
    let per = project.corpus().labels().by_name("PER").unwrap().id;
    project.run(Command::Annotate { sentence: sea_sentence, fragments: span(0, 1).into(), label: per }).unwrap();
    project.run(Command::SetStatus { sentence: sea_sentence, status: Status::Complete }).unwrap();
    let shown = |project: &Project| -> Vec<String> {
        let name = |row: &DocumentRow| project.corpus().document(row.id).unwrap().name.clone();
        let state = |row: &DocumentRow| if row.excluded { " excluded" } else { "" };
        let rows = project.documents();
        let rows =
            rows.iter().map(|r| format!("{} {} {} {}{}", name(r), r.sentences, r.complete, r.mentions, state(r)));
        rows.collect()
    };
    assert_eq!(shown(&project), ["in 2 0 0", "rain 1 0 0", "sea 2 1 1"]);
    let counts = project.counts().clone();
    let named = |project: &Project, names: &[&str]| {
        project.documents_named(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    };
    let documents = named(&project, &["sea"]).unwrap();
    project.run(Command::ExcludeDocuments { documents: documents.clone() }).unwrap();
    assert_eq!(shown(&project), ["in 2 0 0", "rain 1 0 0", "sea 2 1 1 excluded"]);
    assert_eq!(project.undo_intent(), Some("Exclude sea"));
    let now = project.counts();
    assert_eq!((now.documents, now.sentences, now.complete, now.mentions), (2, 3, 0, 0));
    assert_eq!(project.search_now("Anna").unwrap(), [SentenceId(0)], "not in the one by the sea");
    assert!(project.documents().iter().all(|row| row.first != Some(sea_sentence)));
    let revision = project.corpus().revision();
    project.run(Command::ExcludeDocuments { documents: documents.clone() }).unwrap();
    assert_eq!(project.corpus().revision(), revision, "there was nothing to do");

    // Not only by undo.
    project.run(Command::AddLabel { name: "ORG".into() }).unwrap();
    project.close().unwrap();
    let mut project = place.open();
    assert!(project.run(Command::RemoveLabel { label: per }).is_err(), "it could not be included then");
    project.run(Command::IncludeDocuments { documents: documents.clone() }).unwrap();
    assert_eq!((project.counts(), project.undo_intent()), (&counts, Some("Include sea")));

    project.run(Command::ExcludeDocuments { documents }).unwrap();
    let all = named(&project, &["sea", "rain"]).unwrap();
    project.run(Command::RemoveDocuments { documents: all.clone() }).unwrap();
    assert_eq!((shown(&project).join(", ").as_str(), project.undo_intent()), ("in 2 0 0", Some("Delete 2 documents")));
    assert!(project.run(Command::IncludeDocuments { documents: all }).is_err(), "only undo brings them back");
    assert!(named(&project, &["sea"]).is_err());
    project.close().unwrap();
    let mut project = place.open();
    project.run(Command::Undo).unwrap();
    assert_eq!(shown(&project), ["in 2 0 0", "rain 1 0 0", "sea 2 1 1 excluded"], "as each of them was");
    for _ in 0..2 {
        project.run(Command::Undo).unwrap();
    }
    assert_eq!((shown(&project)[2].as_str(), project.corpus().sentence_count()), ("sea 2 1 1 excluded", 3));
    project.close().unwrap();
}

#[test]
fn what_teaches_most_goes_through_all_that_is_open_each_once() {
    let place = Place::new();
    let mut project = place.project(40);
    let set = |project: &mut Driver, n, status| {
        project.run(Command::SetStatus { sentence: SentenceId(n), status }).unwrap();
    };
    project.run(Command::SetAside { sentences: 5 }).unwrap();
    let blind: Vec<SentenceId> =
        project.corpus().sentences().filter(|s| s.split() == Split::Blind).map(|s| s.id()).collect();
    assert_eq!(blind.len(), 5);
    set(&mut project, 3, Status::Complete);
    set(&mut project, 4, Status::Skipped);
    set(&mut project, 5, Status::Flagged);
    let may_come = |project: &Project, id: SentenceId| {
        let sentence = project.corpus().sentence(id).unwrap();
        sentence.status().waits() && sentence.split() == Split::Rest
    };
    let open = project.corpus().sentences().filter(|s| may_come(&project, s.id())).count();
    let (mut at, mut shown) = (SentenceId(3), Vec::new());
    for _ in 0..open {
        at = project.next_sentence(at, Order::Teaching).unwrap();
        assert!(may_come(&project, at) && !shown.contains(&at), "{at:?} after {shown:?}");
        assert!(matches!(project.chosen(at).unwrap().why, Why::Words | Why::Random));
        shown.push(at);
    }
    // All were shown and none is done: once more.
    let again = project.next_sentence(at, Order::Teaching).unwrap();
    assert!(may_come(&project, again) && again != at);
    for sentence in shown {
        project.run(Command::SetStatus { sentence, status: Status::Complete }).unwrap();
    }
    assert_eq!(project.next_sentence(at, Order::Teaching), None);
}

#[test]
fn the_blind_set_is_gone_through_in_the_order_of_the_text() {
    let place = Place::new();
    let mut project = place.project(30);
    annotate(&mut project, SentenceId(0));
    assert_eq!(project.next_sentence(SentenceId(0), Order::Blind), None);
    project.run(Command::SetAside { sentences: 6 }).unwrap();
    let blind: Vec<SentenceId> =
        project.corpus().sentences().filter(|s| s.split() == Split::Blind).map(|s| s.id()).collect();
    let counts = project.counts();
    assert_eq!((counts.blind, counts.blind_complete, counts.blind_open, counts.free), (6, 0, 6, 23));
    let mut at = blind[2];
    for n in 3..10 {
        at = project.next_sentence(at, Order::Blind).unwrap();
        assert_eq!(at, blind[n % 6], "round, and never elsewhere");
    }
    annotate(&mut project, blind[0]);
    project.run(Command::SetStatus { sentence: blind[1], status: Status::Skipped }).unwrap();
    assert_eq!(project.next_sentence(blind[5], Order::Blind), Some(blind[2]));
    let counts = project.counts().clone();
    assert_eq!((counts.blind, counts.blind_complete, counts.blind_open), (6, 1, 4));
    project.close().unwrap();
    assert_eq!(*place.open().counts(), counts);
}

#[test]
fn a_blind_set_is_drawn_before_anything_is_learned_and_gets_no_suggestions() {
    let place = Place::new();
    let mut project = place.project(70);
    project.run(Command::SetAside { sentences: 25 }).unwrap();
    let blind: Vec<SentenceId> =
        project.corpus().sentences().filter(|s| s.split() == Split::Blind).map(|s| s.id()).collect();
    project.run(Command::Undo).unwrap();
    assert_eq!(project.counts().blind, 0);
    project.run(Command::Redo).unwrap();
    assert!(project.run(Command::SetAside { sentences: 60 }).unwrap_err().to_string().contains("only 45 sentences"));

    let others: Vec<SentenceId> =
        project.corpus().sentences().map(|s| s.id()).filter(|id| !blind.contains(id)).take(30).collect();
    blind.iter().chain(&others).for_each(|id| annotate(&mut project, *id));
    assert!(blind.iter().all(|id| project.corpus().sentence(*id).unwrap().split() == Split::Blind), "they stay there");
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "30").unwrap();
    let cancel = AtomicBool::new(false);
    let report = project.train_now(config, &cancel, &mut |_| {}).unwrap();
    assert_eq!(report.manifest.outcome.train_sentences, project.counts().train);
    let curve = project.learning_curve();
    assert_eq!((curve.basis, curve.points.len(), curve.points[0].sentences), (CurveBasis::Blind, 1, 25));
    let point = curve.points[0];
    assert!(point.low <= point.f1 && point.f1 <= point.high && point.f1 > 0.5, "{point:?}");
    assert_eq!(curve.forecast, None);

    let options = PredictOptions::default();
    project.predict_now(Part::Blind, None, None, options, &cancel, &mut |_, _| {}).unwrap();
    assert!(blind.iter().all(|id| project.suggestions(*id).is_none() && project.visible_suggestions(*id).is_empty()));
    let late = project.run(Command::SetAside { sentences: 1 }).unwrap_err().to_string();
    assert!(late.contains("a model has already learned"), "{late}");
    project.close().unwrap();
    assert_eq!(place.open().learning_curve(), curve);
}

#[test]
fn a_model_that_is_not_better_on_dev_is_kept_and_not_used() {
    let place = Place::new();
    let mut project = place.project(40);
    project.run(Command::Set(Setting::AutoTrain(false))).unwrap();
    place.import_gold(&mut project, Part::Dev, 24, |_| true);
    (0..24).for_each(|number| annotate(&mut project, SentenceId(number)));
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "30").unwrap();
    let cancel = AtomicBool::new(false);
    let good = project.train_now(config, &cancel, &mut |_| {}).unwrap().model;
    let options = PredictOptions::default();
    project.predict_now(Part::Pool, None, None, options, &cancel, &mut |_, _| {}).unwrap();
    project.start_learner();
    let label = |name: &str| project.corpus().labels().by_name(name).unwrap().id;
    let (per, loc) = (label("PER"), label("LOC"));
    let trains: Vec<_> = project.corpus().sentences().filter(|s| s.trains()).cloned().collect();
    for sentence in &trains {
        for mention in sentence.mentions() {
            let label = if mention.label == per { loc } else { per };
            project.run(Command::Relabel { sentence: sentence.id(), mention: mention.id, label }).unwrap();
        }
    }
    let in_use = |project: &Project| {
        let said: Vec<_> = (24..40).map(|number| project.suggestions(SentenceId(number)).unwrap().clone()).collect();
        (project.current_model(), project.settings().threshold, project.learner().current.clone(), said)
    };
    let before = in_use(&project);
    assert_eq!(before.0, Some(good));
    project.run(Command::Train).unwrap();
    let mut verdict = None;
    wait(&mut project, |_, events| {
        verdict = events.iter().find_map(|event| match event {
            Event::ModelNotBetter { new_f1, current_f1, .. } => Some((*new_f1, *current_f1)),
            Event::ModelReady(_) | Event::TrainingFailed { .. } => panic!("{event:?}"),
            _ => None,
        });
        verdict.is_some()
    });
    let (new_f1, current_f1) = verdict.unwrap();
    assert!(current_f1 > 0.9 && new_f1 < 0.5, "{new_f1} {current_f1}");
    assert_eq!(in_use(&project), before);
    project.flush().unwrap();
    let rejected = project.models().map(|model| model.id).max().unwrap();
    assert!(rejected > good && project.snapshot(rejected).is_some(), "{rejected:?}");
    let measured = project.learning_curve().points.into_iter().map(|point| (point.model, point.f1 > 0.9));
    assert_eq!(measured.collect::<Vec<_>>(), [(good, true), (rejected, false)]);
    project.close().unwrap();
    let mut project = place.open();
    assert_eq!(project.current_model(), Some(good));

    // One that can't be read is not compared with, and that is told.
    std::fs::write(project.snapshot(good).unwrap().join("weights.safetensors"), "").unwrap();
    project.start_learner();
    project.run(Command::Train).unwrap();
    let mut told = None;
    wait(&mut project, |_, events| {
        told = events.iter().find_map(|event| match event {
            Event::TrainingTrouble { message } => Some(message.clone()),
            Event::ModelNotBetter { .. } | Event::TrainingFailed { .. } => panic!("{event:?}"),
            _ => None,
        });
        told.is_some()
    });
    assert!(told.unwrap().starts_with(&format!("model {good}, which was in use, can't be read")));
    assert!(project.current_model() > Some(rejected));
}

#[test]
fn a_model_chooses_the_threshold_until_a_person_does() {
    let place = Place::new();
    let mut project = place.project(1);
    // Two in five of the suggestions on dev are right, whatever their score. To make these costs more than to turn the
    // others down: a person should see what is hardly likely.
    place.import_gold(&mut project, Part::Train, 60, |_| true);
    place.import_gold(&mut project, Part::Dev, 30, |number| number % 5 < 2);
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "10").unwrap();
    let cancel = AtomicBool::new(false);
    project.train_now(config.clone(), &cancel, &mut |_| {}).unwrap();
    let least = |project: &mut Driver| {
        project.predict_now(Part::Dev, None, None, PredictOptions::default(), &cancel, &mut |_, _| {}).unwrap();
        let dev: Vec<_> = project.corpus().sentences().filter(|s| s.split() == Split::Dev).collect();
        let gold = |s: &Sentence| s.mentions().iter().map(|m| (m.hull(), m.label)).collect::<Vec<_>>();
        let said = |s: &Sentence| {
            let spans = project.suggestions(s.id()).unwrap().spans.iter();
            spans.map(|said| (said.span, said.label, said.score)).collect::<Vec<_>>()
        };
        let both: Vec<_> = dev.into_iter().map(|s| (gold(s), said(s))).collect();
        let scored: Vec<Scored<'_>> = both.iter().map(|(gold, said)| (gold.as_slice(), said.as_slice())).collect();
        assert_eq!(scored.len(), 30);
        least_effort(&scored).0
    };
    assert!(project.settings().threshold_by_effort);
    let chosen = project.settings().threshold;
    assert_eq!(chosen, least(&mut project));
    assert!(chosen < 0.45, "{chosen}");
    project.run(Command::Set(Setting::Threshold(0.33))).unwrap();
    assert!(!project.settings().threshold_by_effort);
    project.train_now(config.clone(), &cancel, &mut |_| {}).unwrap();
    assert_eq!(project.settings().threshold, 0.33);
    project.run(Command::Set(Setting::ThresholdByEffort(true))).unwrap();
    project.train_now(config, &cancel, &mut |_| {}).unwrap();
    let chosen = project.settings().threshold;
    assert_eq!(chosen, least(&mut project));
    assert_ne!(chosen, 0.33);
}

#[test]
fn models_that_have_not_seen_it_are_asked_about_gold_and_trainings_wait() {
    let place = Place::new();
    let mut project = place.project(40);
    project.start_learner();
    (0..12).for_each(|number| annotate(&mut project, SentenceId(number)));
    // A wrong label on words that come nowhere else: to know it, one has to have learned what the others are.
    let file = place.dir.path().join("wrong.jsonl");
    let entities = r#"[{"start":0,"end":1,"label":"PER"},{"start":2,"end":6,"label":"LOC"}]"#;
    let tokens = r#"["Maja","met","the","mayor","of","Ystad","."]"#;
    std::fs::write(&file, format!("{{\"tokens\":{tokens},\"entities\":{entities}}}\n")).unwrap();
    import(&mut project, &file, &[("end", "exclusive")]);
    let sentence = project.corpus().sentences().last().unwrap().id();
    let per = project.corpus().labels().by_name("PER").unwrap().id;
    let request = LookAgainRequest { folds: 0, config: Config::default() };
    let by_words = project.look_again_now(&request, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    assert!(by_words.iter().all(|finding| finding.sentence != sentence), "{by_words:?}");
    project.run(Command::LookAgain { folds: 2 }).unwrap();
    assert!(matches!(project.learner().state, LearnerState::LookingAgain(_)), "{:?}", project.learner());
    (12..22).for_each(|number| annotate(&mut project, SentenceId(number)));
    let refused = project.run(Command::Train).unwrap_err().to_string();
    assert!(refused.contains("is running"), "{refused}");
    let mut found = None;
    wait(&mut project, |_, events| {
        let came = events
            .iter()
            .find_map(|e| if let Event::LookedAgain { findings, .. } = e { Some(findings.clone()) } else { None });
        found = came;
        found.is_some()
    });
    let found = found.unwrap();
    let doubt = found.iter().find(|f| f.sentence == sentence && f.span == span(2, 6)).map(|f| f.doubt);
    assert_eq!(doubt, Some(Doubt::OtherLabel { label: per }), "{found:?}");
    assert!(
        matches!(project.learner().state, LearnerState::Training(_)),
        "what waited begins: {:?}",
        project.learner()
    );

    let doubt = found.iter().find(|f| f.proposed_label().is_some()).unwrap();
    let ruled_out =
        Command::RuleOut { sentence: doubt.sentence, span: doubt.span, label: doubt.proposed_label().unwrap() };
    project.run(ruled_out).unwrap();
    assert_eq!(project.corpus().sentence(doubt.sentence).unwrap().status(), Status::Complete);
    project.flush().unwrap();
    let costs = project.costs().wait().unwrap().unwrap();
    assert_eq!(costs.all.cost(Decision::Reject).count, 0, "no suggestion was turned down");
    project.close().unwrap();
}

#[test]
fn an_import_that_is_undone_takes_no_decision_back() {
    let place = Place::new();
    let mut project = place.project(5);
    annotate(&mut project, SentenceId(0));
    project.flush().unwrap();
    let before = project.costs().wait().unwrap().unwrap();
    assert!(before.all.cost(Decision::Create).count > 0 && before.completed == 1, "{before:?}");
    let more = place.dir.path().join("more.txt");
    std::fs::write(&more, "Maja went to Lund .\n").unwrap();
    import(&mut project, &more, &[]);
    for command in [Command::Undo, Command::Redo, Command::Undo] {
        project.run(command).unwrap();
        project.flush().unwrap();
        let costs = project.costs().wait().unwrap().unwrap();
        assert_eq!((&costs.all, costs.completed), (&before.all, 1));
    }
}

#[test]
fn a_few_sentences_show_no_suggestions_to_tell_whether_these_sway() {
    let place = Place::new();
    let mut project = place.project(400);
    (0..130).for_each(|number| annotate(&mut project, SentenceId(number)));
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "3").unwrap();
    let cancel = AtomicBool::new(false);
    project.train_now(config, &cancel, &mut |_| {}).unwrap();
    let options = PredictOptions::default();
    project.predict_now(Part::Pool, None, None, options, &cancel, &mut |_, _| {}).unwrap();
    let open = || (130..400).map(SentenceId);
    let probes: Vec<SentenceId> = open().filter(|id| project.withheld(*id) == Some(Withheld::Probe)).collect();
    assert!((2..20).contains(&probes.len()), "{probes:?}");
    assert!(open().all(|id| project.suggestions(id).is_none() == probes.contains(&id)));

    let costs = project.costs().wait().unwrap().unwrap();
    assert_eq!(costs.anchoring, None, "no probe is complete");
    let others: Vec<SentenceId> = open().filter(|id| !probes.contains(id)).take(9).collect();
    for id in others.iter().chain(&probes) {
        project.look_at(&[*id]);
        annotate(&mut project, *id);
    }
    project.flush().unwrap();
    let costs = project.costs().wait().unwrap().unwrap();
    let trains = |ids: &[SentenceId]| ids.iter().filter(|id| project.corpus().sentence(**id).unwrap().trains()).count();
    let anchoring = costs.anchoring.unwrap();
    assert_eq!((anchoring.withheld.sentences, anchoring.seen.sentences), (trains(&probes), trains(&others)));
    project.run(Command::Set(Setting::Probes(false))).unwrap();
    assert!(open().all(|id| project.withheld(id).is_none()));

    // What is on screen when a person decides counts, not what is left of it: of several the last one, too.
    let mut more = open().filter(|id| !probes.contains(id) && !others.contains(id));
    let id = more.find(|id| !project.visible_suggestions(*id).is_empty()).unwrap();
    let (rejected, model) = (costs.all.cost(Decision::Reject).count, project.current_model().unwrap());
    project.look_at(&[id]);
    let said: Vec<_> = project.visible_suggestions(id).iter().map(|s| (s.span, s.label)).collect();
    for &(span, label) in &said {
        project.run(Command::Reject { sentence: id, suggested: Suggested { span, label, model } }).unwrap();
    }
    project.flush().unwrap();
    let costs = project.costs().wait().unwrap().unwrap();
    assert_eq!(costs.all.cost(Decision::Reject).count, rejected + said.len());
    assert!(costs.seen.contains(&id) && project.visible_suggestions(id).is_empty());
}

/// Another project takes the place of an open one, by another file or over the same one.
#[cfg(unix)]
#[test]
fn the_work_goes_on_when_the_file_of_an_open_project_is_taken_away() {
    for overwritten in [false, true] {
        let place = Place::new();
        let mut project = place.project(3);
        project.run(Command::Set(Setting::AcceptAllFrom(0.75))).unwrap();
        annotate(&mut project, SentenceId(0));
        project.flush().unwrap();
        let other = place.dir.path().join("other.nestling");
        let new = NewProject::with_labels(["GENE"]).unwrap();
        Driver::create(&place.home, &other, &new).unwrap().close().unwrap();
        let bytes = std::fs::read(&other).unwrap();
        if overwritten {
            std::fs::write(place.path(), &bytes).unwrap();
        } else {
            std::fs::rename(&other, place.path()).unwrap();
        }

        annotate(&mut project, SentenceId(1));
        let minute = Duration::from_secs(60);
        project.run_until(minute, |project, _| !project.file_news().is_empty()).unwrap();
        let kept = place.dir.path().join("p.kept.nestling");
        assert_eq!((project.path(), project.name().as_str()), (kept.as_path(), "p.kept"));
        assert_eq!(project.models_dir(), place.dir.path().join("p.kept.models"));
        let FileNews::MovedOn { to, .. } = &project.file_news()[0] else { panic!("{:?}", project.file_news()) };
        assert_eq!(to, &kept);
        project.run_until(minute, |project, _| project.save_state() == SaveState::AllSaved).unwrap();
        assert_eq!(project.search_now("met the mayor").unwrap().len(), 3);
        annotate(&mut project, SentenceId(2));
        let mentions = project.counts().mentions;
        assert!(project.undo_intent().is_some());
        project.dismiss_file_news();
        assert_eq!(project.close_with_news().unwrap(), []);

        assert_eq!(std::fs::read(place.path()).unwrap(), bytes, "the other file is as it came");
        let project = Driver::open(&place.home, &kept).unwrap();
        assert_eq!((project.counts().mentions, project.counts().complete), (mentions, 3));
        assert_eq!(project.settings().accept_all_from, 0.75);
        assert_eq!(project.settings().encoder, "small");
        let start = Instant::now();
        while place.home.recent_projects().first() != Some(&kept) {
            assert!(start.elapsed() < minute, "the list of recent projects leads to the file of before");
            std::thread::sleep(Duration::from_millis(10));
        }
        project.close().unwrap();
        assert_eq!(nestling::session::check_project(&kept).unwrap().problems, Vec::<String>::new());
    }
}

/// What is noticed no earlier than when the project is closed is told by closing it.
#[cfg(unix)]
#[test]
fn closing_a_project_whose_file_is_gone_keeps_the_work_and_says_where() {
    for overwritten in [false, true] {
        let place = Place::new();
        let mut project = place.project(2);
        project.flush().unwrap();
        annotate(&mut project, SentenceId(0));
        if overwritten {
            std::fs::write(place.path(), "no project at all").unwrap();
        } else {
            std::fs::remove_file(place.path()).unwrap();
        }
        let news = project.close_with_news().unwrap();
        let kept = news[0].moved_to().unwrap().to_owned();
        let project = Driver::open(&place.home, &kept).unwrap();
        assert_eq!(project.counts().complete, 1);
        project.close().unwrap();
    }
}

#[test]
fn labels_of_marked_words_come_in_the_order_of_their_probability() {
    let place = Place::new();
    let mut project = place.project(12);
    // One that has vectors for these words.
    project.run(Command::Set(Setting::Encoder("english".into()))).unwrap();
    let ids: Vec<SentenceId> = project.corpus().sentences().map(Sentence::id).collect();
    let label = |project: &Driver, name: &str| project.corpus().labels().by_name(name).unwrap().id;
    let (per, loc) = (label(&project, "PER"), label(&project, "LOC"));
    // Marked, but not complete: what stands outside of mentions need not be known.
    for &sentence in &ids[..10] {
        for (span, label) in [(span(0, 1), per), (span(2, 6), per), (span(5, 6), loc)] {
            project.run(Command::Annotate { sentence, fragments: span.into(), label }).unwrap();
        }
    }
    let (name, town) = (span(0, 1).into(), span(5, 6).into());
    assert!(project.label_order(ids[11], &town).is_none());
    project.start_learner();
    for (given, expected) in [(&town, loc), (&name, per), (&town, loc)] {
        project.ask_label_order(ids[11], given);
        wait(&mut project, |project, _| project.label_order(ids[11], given).is_some());
        let ranked = project.label_order(ids[11], given).unwrap();
        assert!(ranked.len() == 2 && ranked[0].0 == expected, "{ranked:?}");
        assert!((ranked.iter().map(|(_, p)| p).sum::<f32>() - 1.0).abs() < 1e-4, "{ranked:?}");
        assert!(project.label_order(ids[10], given).is_none(), "of the words that were asked about alone");
    }
    // It is no model of the project.
    assert!(project.models().next().is_none() && project.current_model().is_none());
    assert!(ids.iter().all(|id| project.suggestions(*id).is_none()));
    // Other words now: what was said does not hold.
    let at = ByteIdx::new(project.corpus().sentence(ids[11]).unwrap().tokens()[5].start().get() + 2);
    project.run(Command::SplitToken { sentence: ids[11], token: TokenIdx::new(5), at }).unwrap();
    assert!(project.label_order(ids[11], &town).is_none());
    project.close().unwrap();
}

#[test]
fn word_vectors_order_labels_where_the_encoder_knows_no_words() {
    let place = Place::new();
    let mut project = place.project(12);
    let vectors: String = [("anna", "1 0"), ("zoë", "1 0.1"), ("maja", "0.9 0"), ("jens", "0.9 0.1")]
        .into_iter()
        .chain([("aarhus", "-1 0"), ("lund", "-1 0.1"), ("turku", "-0.9 0")])
        .chain([("met", "0 1"), ("the", "0 0.9"), ("mayor", "0.1 1"), ("of", "0.1 0.9"), (".", "0 -1")])
        .map(|(word, numbers)| format!("{word} {numbers} 0.5\n"))
        .collect();
    let file = place.dir.path().join("vectors.txt");
    std::fs::write(&file, vectors).unwrap();
    place.home.encoders().import(&file, "vectors").unwrap();
    let ids: Vec<SentenceId> = project.corpus().sentences().map(Sentence::id).collect();
    for &sentence in &ids[..10] {
        annotate(&mut project, sentence);
    }
    let loc = project.corpus().labels().by_name("LOC").unwrap().id;
    project.run(Command::Set(Setting::TrainAfterSentences(1000))).unwrap();
    project.start_learner();
    let town = span(5, 6).into();
    project.ask_label_order(ids[11], &town);
    wait(&mut project, |project, _| project.label_order(ids[11], &town).is_some());
    let ranked = project.label_order(ids[11], &town).unwrap();
    assert!(ranked.len() == 2 && ranked[0].0 == loc, "{ranked:?}");
    assert_eq!(project.settings().encoder, "small", "models of the project begin with what was chosen");
    project.close().unwrap();
}
