//! Trainings that are killed, closed or stopped, and go on: in a process of their own, in a project, by command.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use nestling::annotation::{LabelId, Span};
use nestling::encoder::Encoders;
use nestling::session::{Command as Order, Driver, Event as SessionEvent, Home, LearnerState, NewProject, Setting};
use nestling::train::{
    Checkpoints, Config, Dataset, Event, Example, Pace, Predictor, ResumeRequest, TrainError, TrainRequest,
    interrupted, resume, train,
};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static NEVER: AtomicBool = AtomicBool::new(false);
const CHILD: &str = "NESTLING_TRAINING_CHILD";
/// Kills, at most; the training is shorter than that many lives.
const LIVES: usize = 200;

fn dataset() -> Dataset {
    let names = ["Anna", "Bert", "Carla", "Dora", "Emil"];
    let example = |i: usize| {
        let text = format!("{} met {} in Lund {i}", names[i % 5], names[i * i % 4]);
        let gold = [(0..1, 0), (2..3, 0), (4..5, 1), (4..6, 0)];
        let gold = gold.map(|(range, label)| (Span::from_range(range).unwrap(), LabelId(label))).to_vec();
        Example { tokens: text.split(' ').map(str::to_owned).collect(), gold, ..Example::default() }
    };
    let labels = vec![(LabelId(0), "PER".to_owned()), (LabelId(1), "LOC".to_owned())];
    let complete = Dataset::freeze(labels, (0..60).map(example).collect(), (60..85).map(example).collect());
    let open = (85..100).map(|i| example(i).tokens).collect();
    complete.and_then(|complete| complete.with_unlabelled(open)).unwrap()
}

/// A training in a folder: its snapshot, and its checkpoints after every step.
fn request(folder: &Path, snapshot: &str) -> TrainRequest {
    let (dataset, encoders) = (Arc::new(dataset()), Encoders::at(folder));
    if encoders.get("tiny").is_err() {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
        encoders.import(&tiny, "tiny").unwrap();
    }
    let encoder = "tiny".to_owned();
    let (epochs, self_training, self_epochs) = (Some(6), Some(15), Some(2));
    let mut config = Config { encoder, epochs, self_training, self_epochs, batch_size: 4, ..Config::default() };
    config.set("max_width", "4").unwrap();
    let checkpoints = Some(Checkpoints { folder: folder.join("t.training"), pace: Pace::Steps(1) });
    TrainRequest { checkpoints, ..TrainRequest::new(dataset, config, encoders, folder.join(snapshot)) }
}

fn again(request: &TrainRequest) -> ResumeRequest {
    let (checkpoints, snapshot) = (request.checkpoints.clone().unwrap(), request.snapshot.clone());
    ResumeRequest { checkpoints, snapshot, project: None, threads: None }
}

/// Trains until `step` is under way, and leaves the checkpoint of the step before it.
fn interrupt_at(step: usize, request: &TrainRequest) {
    let cancel = AtomicBool::new(false);
    let stopped = train(request, &cancel, &mut |event| {
        if let Event::Progress { step: now, .. } = event {
            cancel.store(now == step, Ordering::Relaxed);
        }
    });
    assert!(matches!(stopped, Err(TrainError::Cancelled)), "{stopped:?}");
}

fn weights(snapshot: &Path) -> Vec<u8> {
    std::fs::read(snapshot.join("weights.safetensors")).unwrap()
}

#[test]
fn a_training_that_runs_out_of_patience_ends_sooner_and_resumes_to_the_same_model() {
    let dir = tempfile::tempdir().unwrap();
    let patient = |snapshot: &str| {
        let mut request = request(dir.path(), snapshot);
        (request.config.epochs, request.config.self_training, request.config.patience) = (Some(40), Some(0), 2);
        request
    };
    let (whole, mut scores) = (TrainRequest { checkpoints: None, ..patient("whole") }, Vec::new());
    let trained = train(&whole, &AtomicBool::new(false), &mut |event| {
        if let Event::EpochDone { dev: Some(dev), .. } = event {
            scores.push(dev.micro.f1().unwrap_or(0.0));
        }
    });
    let best = trained.unwrap().manifest.outcome.best_epoch;
    assert!(scores.len() < 40 && scores.len() == best + 2, "{scores:?}, the best after {best}");
    let greatest = scores.iter().copied().fold(0.0, f64::max);
    assert_eq!(scores.iter().position(|score| *score == greatest), Some(best - 1), "the first of equals: {scores:?}");

    let part = patient("part");
    interrupt_at(20, &part);
    resume(&again(&part), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(weights(&dir.path().join("part")) == weights(&dir.path().join("whole")));
}

#[test]
fn patience_ends_a_training_only_where_dev_was_scored() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = TrainRequest { checkpoints: None, ..request(dir.path(), "few") };
    (request.config.epochs, request.config.self_training, request.config.patience) = (Some(40), Some(0), 2);
    // Of 25 dev sentences every third epoch is scored.
    request.config.limit = Some(10);
    let mut scored = Vec::new();
    let trained = train(&request, &NEVER, &mut |event| {
        if let Event::EpochDone { dev, .. } = event {
            scored.push(dev.is_some());
        }
    });
    let outcome = trained.unwrap().manifest.outcome;
    assert_eq!(scored.last(), Some(&true), "{scored:?}");
    assert!(scored.iter().filter(|scored| **scored).count() >= 2, "{scored:?}");
    assert!(scored.len() == 40 || outcome.best_epoch + 2 <= scored.len(), "{scored:?}, best {}", outcome.best_epoch);
}

#[test]
fn a_training_that_is_killed_again_and_again_gives_the_same_model() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = request(dir.path(), "whole");
    whole.checkpoints = None;
    train(&whole, &NEVER, &mut |_| {}).unwrap();

    let (mut random, mut kills, mut furthest) = (0x9E37_79B9_7F4A_7C15_u64, 0, 0);
    let killed = request(dir.path(), "killed");
    let folder = &again(&killed).checkpoints.folder;
    for _ in 0..LIVES {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.by_ref().any(|line| line.contains("training")), "the child could not begin");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (random >> 33 & 0xFF)));
        child.kill().unwrap();
        child.wait().unwrap();
        let failure = lines.find(|line| line.starts_with("failed:"));
        assert_eq!(failure, None, "after {kills} kills, at step {furthest}");
        if killed.snapshot.exists() {
            break;
        }
        kills += 1;
        let step = interrupted(folder).unwrap().map_or(0, |kept| kept.step);
        assert!(step >= furthest, "step {furthest} was kept, and now {step}");
        furthest = step;
    }
    assert!(kills > 1 && furthest > 0, "killed {kills} times, last at step {furthest}");
    // What ended before the last kill is not done again; what did not, goes on.
    resume(&again(&killed), &NEVER, &mut |_| {}).unwrap();
    assert!(weights(&killed.snapshot) == weights(&whole.snapshot), "after {kills} kills");
    Predictor::load(&killed.snapshot).unwrap();
    let kept = std::fs::read_dir(folder).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    // The newest, and at most one that a kill left half done and one that it left half deleted.
    assert!(kept.count() <= 3, "checkpoints of before are deleted");
}

/// Does nothing but as a child.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let request = request(Path::new(&folder), "killed");
    let say = |line: &str| {
        let mut out = std::io::stdout();
        out.write_all(format!("{line}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    };
    let on_event = &mut |event: Event| match event {
        Event::Started { .. } => say("training"),
        Event::NotKept { message } => say(&format!("failed: {message}")),
        _ => {}
    };
    let again = again(&request);
    let has_begun = interrupted(&again.checkpoints.folder).unwrap().is_some();
    let done = if has_begun { resume(&again, &NEVER, on_event) } else { train(&request, &NEVER, on_event) };
    if let Err(error) = done {
        say(&format!("failed: {error}"));
    }
}

/// A project with the labels of [`dataset`] and an interrupted training of it, at step 20 of 286.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        let new = NewProject::with_labels(["PER", "LOC"]).unwrap();
        Driver::create(&place.home(), &place.project(), &new).unwrap().close().unwrap();
        let mut request = request(&place.home_folder(), "unused");
        request.snapshot = place.models().join("model-0001");
        request.checkpoints = Some(Checkpoints { folder: place.training(), pace: Pace::Steps(20) });
        interrupt_at(21, &request);
        place
    }

    fn home_folder(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn home(&self) -> Home {
        Home::at(self.home_folder())
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("p.nestling")
    }

    fn models(&self) -> PathBuf {
        self.dir.path().join("p.models")
    }

    fn training(&self) -> PathBuf {
        self.models().join("model-0001.training")
    }

    fn nestling(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_nestling"))
            .args(arguments)
            .env("NESTLING_HOME", self.home_folder())
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Waits for an event of the learner. Trainings stand back behind all else that the machine does: the limit only ends
    /// a test that would wait for ever.
    fn wait(project: &mut Driver, wanted: impl Fn(&SessionEvent) -> bool) {
        let begun = Instant::now();
        while !project.poll().iter().any(&wanted) {
            assert!(begun.elapsed() < Duration::from_secs(600), "{:?}", project.learner());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The weights of the same training without a stop.
fn uninterrupted(place: &Place) -> Vec<u8> {
    let mut whole = request(&place.home_folder(), "whole");
    whole.checkpoints = None;
    train(&whole, &NEVER, &mut |_| {}).unwrap();
    weights(&whole.snapshot)
}

#[test]
fn an_opened_project_goes_on_with_the_training_that_closing_interrupted() {
    let place = Place::new();
    let mut project = Driver::open(&place.home(), &place.project()).unwrap();
    assert_eq!(project.interrupted().map(|kept| (kept.step, kept.steps)), Some((20, 286)));
    project.start_learner();
    assert!(matches!(project.learner().state, LearnerState::Training(_)), "{:?}", project.learner());
    Place::wait(&mut project, |event| matches!(event, SessionEvent::ModelReady(_)));
    assert!(weights(&place.models().join("model-0001")) == uninterrupted(&place));
    assert_eq!(project.learner().current.as_ref().map(|model| model.train_sentences), Some(60));
    project.close().unwrap();
    let begun = Instant::now();
    while place.training().exists() {
        assert!(begun.elapsed() < Duration::from_secs(600), "what was kept is deleted when the model is there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_training_that_a_person_stops_does_not_come_back() {
    let place = Place::new();
    let mut project = Driver::open(&place.home(), &place.project()).unwrap();
    project.start_learner();
    project.run(Order::StopTraining).unwrap();
    Place::wait(&mut project, |event| matches!(event, SessionEvent::TrainingStopped));
    assert!(!place.training().exists());
    project.close().unwrap();
    let mut project = Driver::open(&place.home(), &place.project()).unwrap();
    project.start_learner();
    assert!(!matches!(project.learner().state, LearnerState::Training(_)));
}

#[test]
fn a_learner_that_is_off_leaves_an_interrupted_training_alone() {
    let place = Place::new();
    let mut project = Driver::open(&place.home(), &place.project()).unwrap();
    project.run(Order::Set(Setting::AutoTrain(false))).unwrap();
    project.start_learner();
    assert!(!matches!(project.learner().state, LearnerState::Training(_)));
    assert!(place.training().exists());
}

#[test]
fn the_command_goes_on_with_what_was_interrupted() {
    let place = Place::new();
    let (code, _, stderr) = place.nestling(&["train", "p.nestling", "--resume", "--epochs", "3"]);
    assert!(code == 2 && stderr.contains("--resume"), "settings are those of the training: {stderr}");
    let (_, stdout, _) = place.nestling(&["info", "p.nestling", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["unfinished_training"]["step"], 20);
    let (_, stdout, _) = place.nestling(&["info", "p.nestling"]);
    assert!(stdout.contains("kept up to step 20 of 286"), "{stdout}");

    let (code, stdout, stderr) = place.nestling(&["train", "p.nestling", "--resume", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("resuming after step 20"), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["model"], &json["epochs"], &json["train_sentences"]), (&1.into(), &10.into(), &60.into()));
    assert!(weights(&place.models().join("model-0001")) == uninterrupted(&place));
    let (code, _, stderr) = place.nestling(&["train", "p.nestling", "--resume"]);
    assert!(code == 2 && stderr.contains("no interrupted training"), "{stderr}");
}
