//! A project uses its own models and no others.

use super::{NEVER, Place, contents, train};
use crate::sealed::{edit_manifest, reseal};
use nestling::annotation::{LabelId, ModelId, ProjectId, SentenceId, SentenceSuggestions, Span, Suggestion};
use nestling::encoder::Encoders;
use nestling::session::{
    Command, Driver, EvaluateRequest, LearnerState, Part, PredictOptions, RankRequest, SessionError, check_project,
};
use nestling::store::{Store, Writer};
use nestling::train::{Checkpoints, Dataset, Event, Example, Pace, TrainRequest};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn predict(project: &mut Driver) -> Result<usize, SessionError> {
    let options = PredictOptions { floor: 0.0, ..PredictOptions::default() };
    let done = project.predict_now(Part::Pool, None, None, options, &NEVER, &mut |_, _| {});
    done.map(|report| report.sentences)
}

fn problems(path: &Path) -> Vec<String> {
    check_project(path).unwrap().problems
}

#[test]
fn models_of_another_project_are_neither_used_nor_deleted() {
    let place = Place::new();
    let mut chemistry = place.make("chemistry.nestling", &["CHEM", "DOSE", "ROUTE"]);
    train(&mut chemistry).unwrap();
    chemistry.close().unwrap();
    let mut places = place.make("places.nestling", &["LOC"]);
    train(&mut places).unwrap();
    places.close().unwrap();
    std::fs::remove_dir_all(place.at("places.models")).unwrap();
    std::fs::rename(place.at("chemistry.models"), place.at("places.models")).unwrap();
    let before = contents(&place.at("places.models"));

    let found = problems(&place.at("places.nestling"));
    assert!(found.iter().any(|line| line.contains("model 1") && line.contains("another project")), "{found:?}");
    let command = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_nestling"));
        let done =
            command.args(arguments).env("NESTLING_HOME", place.at("home")).current_dir(place.at("")).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    for (arguments, code) in [
        (["predict", "places.nestling", "--model", "1"].as_slice(), 2),
        (&["evaluate", "places.nestling", "--split", "train"], 2),
        (&["models", "places.nestling", "--use", "1"], 2),
        (&["check", "places.nestling"], 1),
    ] {
        let (ended, said) = command(arguments);
        assert!(ended == Some(code) && said.contains("belong to another project"), "{arguments:?}: {ended:?} {said}");
    }
    let mut project = place.open("places.nestling");
    assert!(project.notes()[0].contains("another project") && project.notes()[0].contains("train again"));
    let (first, all) = (ModelId(1), None);
    assert_eq!((project.snapshot(first), project.kept_models()().len()), (None, 0));
    let evaluation = EvaluateRequest { model: Some(first), threads: all, ..EvaluateRequest::of(Part::Train) };
    let strategy = project.settings().strategy;
    let refusals = [
        predict(&mut project).unwrap_err(),
        project.evaluate_now(evaluation, &NEVER).unwrap_err(),
        project.run(Command::UseModel(first)).unwrap_err(),
        project
            .rank_now(RankRequest { strategy, count: 3, seed: 1, threads: None }, &NEVER, &mut |_, _| {})
            .unwrap_err(),
    ];
    for refused in refusals {
        assert!(
            refused.to_string().contains("belong to another project; they were not changed; train again"),
            "{refused}"
        );
    }
    project.start_learner();
    let note = project.learner().note.clone().unwrap();
    assert!(note.contains("another project") && project.learner().current.is_none(), "{note}");
    project.run(Command::StopTraining).unwrap();
    project.close().unwrap();

    let mut project = place.open("places.nestling");
    for _ in 0..4 {
        train(&mut project).unwrap();
    }
    assert_eq!(project.models().map(|model| model.id.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(predict(&mut project).unwrap(), 4);
    project.close().unwrap();
    let after = contents(&place.at("places.models"));
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "they can be taken back");
}

#[test]
fn a_copied_or_renamed_project_goes_on_with_its_models_and_a_copy_of_another_time_does_not() {
    let place = Place::new();
    let mut project = place.make("one.nestling", &["PER", "LOC"]);
    train(&mut project).unwrap();
    project.close().unwrap();
    let copy = |from: &str, to: &str| {
        std::fs::copy(place.at(&format!("{from}.nestling")), place.at(&format!("{to}.nestling"))).unwrap();
        for (path, bytes) in contents(&place.at(&format!("{from}.models"))) {
            let below = path.strip_prefix(place.at(&format!("{from}.models"))).unwrap().to_owned();
            let path = place.at(&format!("{to}.models")).join(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    };
    copy("one", "two");
    let mut project = place.open("two.nestling");
    assert_eq!((project.notes().len(), predict(&mut project).unwrap()), (0, 4));
    train(&mut project).unwrap();
    project.close().unwrap();
    assert_eq!(problems(&place.at("two.nestling")), [""; 0]);
    // Without its models it says that there are none, as ever.
    std::fs::copy(place.at("two.nestling"), place.at("three.nestling")).unwrap();
    let mut project = place.open("three.nestling");
    let refused = predict(&mut project).unwrap_err().to_string();
    assert!(refused.contains("are not there") && project.notes().is_empty(), "{refused}");
    project.close().unwrap();

    // Both copies have trained a second model since: it is the project's, but not this copy's.
    let mut project = place.open("one.nestling");
    let seed = nestling::session::Config { seed: 7, ..super::config() };
    project.train_now(seed, &NEVER, &mut |_| {}).unwrap();
    project.close().unwrap();
    std::fs::remove_dir_all(place.at("two.models")).unwrap();
    std::fs::rename(place.at("one.models"), place.at("two.models")).unwrap();
    let mut project = place.open("two.nestling");
    let refused = predict(&mut project).unwrap_err().to_string();
    assert!(refused.contains("model 2 are not those of the model that was trained here"), "{refused}");
    assert!(project.snapshot(ModelId(1)).is_some(), "the first one is that of both");
}

#[test]
fn labels_may_be_renamed_added_and_removed_after_a_training() {
    let place = Place::new();
    let mut project = place.make("p.nestling", &["PER", "LOC", "ORG"]);
    train(&mut project).unwrap();
    let mut label = project.corpus().labels().by_name("PER").unwrap().clone();
    label.name = "PERSON".to_owned();
    project.run(Command::EditLabel { label }).unwrap();
    let org = project.corpus().labels().by_name("ORG").unwrap().id;
    project.run(Command::RemoveLabel { label: org }).unwrap();
    project.run(Command::AddLabel { name: "TIME".to_owned() }).unwrap();
    project.close().unwrap();
    assert_eq!(problems(&place.at("p.nestling")), [""; 0]);
    let mut project = place.open("p.nestling");
    assert_eq!((project.notes().len(), predict(&mut project).unwrap()), (0, 4));
}

/// Makes a project and its first model what an older program would have left.
fn make_old(place: &Place, labels: &[(u32, &str)]) {
    let folder = place.at("p.models/model-0001");
    edit_manifest(&folder, |manifest| {
        for key in ["project", "labels", "of_sentences"] {
            manifest.remove(key);
        }
    });
    let labels: Vec<_> = labels.iter().map(|(id, name)| serde_json::json!({ "id": id, "name": name })).collect();
    std::fs::write(folder.join("labels.json"), serde_json::to_vec(&labels).unwrap()).unwrap();
    reseal(&folder);
    place.sql("p.nestling", "UPDATE model SET manifest_sha256 = NULL");
}

#[test]
fn a_model_of_an_older_program_is_taken_for_the_project_s_when_it_fits() {
    let place = Place::new();
    let mut project = place.make("p.nestling", &["PER", "LOC"]);
    train(&mut project).unwrap();
    project.close().unwrap();
    let hashes = || -> Option<String> {
        let file = rusqlite::Connection::open(place.at("p.nestling")).unwrap();
        file.query_row("SELECT manifest_sha256 FROM model", [], |row| row.get(0)).unwrap()
    };
    assert!(hashes().is_some());
    for (labels, fits) in [
        ([(0, "PER"), (1, "LOC")], true),
        ([(0, "PER"), (1, "CHEM")], false),
        ([(0, "PER"), (9, "LOC")], false),
        ([(0, "PER"), (1, "LOC")], true),
    ] {
        make_old(&place, &labels);
        assert_eq!(problems(&place.at("p.nestling")).is_empty(), fits, "{labels:?}");
        let mut project = place.open("p.nestling");
        assert_eq!(predict(&mut project).is_ok(), fits, "{labels:?}");
        project.close().unwrap();
        assert_eq!(hashes().is_some(), fits, "{labels:?}");
    }
    // Another one with the same labels, of as many sentences, but of another encoder.
    place.sql(
        "p.nestling",
        r#"UPDATE model SET manifest_sha256 = NULL, manifest = replace(manifest, 'small', 'other')"#,
    );
    let mut project = place.open("p.nestling");
    assert!(predict(&mut project).unwrap_err().to_string().contains("not those of the model that was trained here"));
}

#[test]
fn an_interrupted_training_of_another_project_is_left_alone() {
    let place = Place::new();
    place.make("p.nestling", &["PER"]).close().unwrap();
    let tokens: Vec<String> = ["Anna", "met", "Zoë", "."].map(str::to_owned).to_vec();
    let gold = vec![(Span::from_range(0..1).unwrap(), LabelId(0))];
    let examples = vec![Example { tokens, gold, ..Example::default() }; 8];
    let training = place.at("p.models/model-0001.training");
    let request = TrainRequest {
        project: ProjectId::parse(&"a1".repeat(16)),
        checkpoints: Some(Checkpoints { folder: training.clone(), pace: Pace::Steps(1) }),
        ..TrainRequest::new(
            Arc::new(Dataset::freeze(vec![(LabelId(0), "PER".to_owned())], examples, Vec::new()).unwrap()),
            super::config(),
            Encoders::at(&place.at("home")),
            place.at("unused"),
        )
    };
    let request = TrainRequest { config: nestling::session::Config { batch_size: 2, ..request.config }, ..request };
    let cancel = AtomicBool::new(false);
    let stopped = nestling::train::train(&request, &cancel, &mut |event| {
        cancel.fetch_or(matches!(event, Event::Progress { step: 3, .. }), Ordering::Relaxed);
    });
    assert!(stopped.is_err());
    let before = contents(&training);
    assert!(!before.is_empty());

    let found = problems(&place.at("p.nestling"));
    assert!(found[0].contains("interrupted training belong to another project"), "{found:?}");
    let mut project = place.open("p.nestling");
    assert!(project.interrupted().is_none() && project.notes()[0].contains("another project"));
    assert!(project.resume_now(None, &NEVER, &mut |_| {}).is_err());
    project.start_learner();
    assert!(!matches!(&project.learner().state, LearnerState::Training(run) if run.model == ModelId(1)));
    project.run(Command::StopTraining).unwrap();
    project.close().unwrap();
    let mut project = place.open("p.nestling");
    assert_eq!([train(&mut project).unwrap(), train(&mut project).unwrap()], [2, 3]);
    project.close().unwrap();
    assert_eq!(contents(&training), before);
}

#[test]
fn suggestions_of_labels_that_never_were_are_told_and_taken_away() {
    let place = Place::new();
    let mut project = place.make("p.nestling", &["PER"]);
    train(&mut project).unwrap();
    assert_eq!(predict(&mut project).unwrap(), 4);
    project.close().unwrap();
    let path = place.at("p.nestling");
    let store = Store::open(&path).unwrap();
    store.load().unwrap();
    let writer = Writer::start(store, |_| {}).unwrap();
    let suggestion =
        Suggestion { span: Span::from_range(0..1).unwrap(), label: LabelId(77), score: 0.9, runner_up: None };
    let said =
        SentenceSuggestions { model: ModelId(9), heads: vec![0.9; 4], spans: vec![suggestion], acquisition: None };
    writer.suggestions(vec![(SentenceId(9), said)]).unwrap();
    writer.close().unwrap();

    let found = problems(&path);
    assert!(found.len() == 1 && found[0].contains("labels that the project never had"), "{found:?}");
    let project = place.open("p.nestling");
    assert!(project.notes()[0].contains("labels that the project never had"), "{:?}", project.notes());
    assert!(project.suggestions(SentenceId(9)).is_none_or(|said| said.spans.is_empty()));
    assert!(project.suggestions(SentenceId(8)).is_some_and(|said| said.model == ModelId(1)), "the others stay");
    project.close().unwrap();
    assert_eq!(problems(&path), [""; 0]);
}
