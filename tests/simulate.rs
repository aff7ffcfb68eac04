//! Replaying a gold corpus: what comes of it, and that stopping it changes nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use nestling::experiments::{RunRecord, SentenceRecord, SimulateEvent, SimulateReport, SimulateRequest, simulate};
use nestling::session::{Config, Home, ReadRequest, SessionError, TrainEvent};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// None to three mentions, some of them nested, in different places of sentences of different lengths: starts and ends, and
/// whether they are places rather than persons.
fn sentence(i: usize) -> (Vec<String>, Vec<(usize, usize, bool)>) {
    let (person, town) = (["Anna", "Zoë", "Maja", "Jens", "Iben"][i % 5], ["Aarhus", "Lund", "Turku"][i % 3]);
    let (text, gold) = match i % 4 {
        0 => (format!("{person} met the mayor of {town}"), vec![(0, 1, false), (2, 6, false), (5, 6, true)]),
        1 => (format!("it rained in {town}"), vec![(3, 4, true)]),
        2 => ("nobody came".to_owned(), vec![]),
        _ => (format!("from {town} then {person} left"), vec![(1, 2, true), (3, 4, false)]),
    };
    let late = ["late"; 7].into_iter().take(i % 7);
    let tokens = text.split(' ').chain(late).map(str::to_owned).chain([".".to_owned(), i.to_string()]);
    (tokens.collect(), gold)
}

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

    /// The first sentences of [`sentence`], with the labels that `labels` says for PER and LOC.
    fn corpus(&self, name: &str, sentences: usize, labels: [&str; 2]) -> PathBuf {
        let line = |i: usize| {
            let (tokens, gold) = sentence(i);
            let entities = gold.iter().map(|&(start, end, is_loc)| {
                format!(r#"{{"start":{start},"end":{end},"label":"{}"}}"#, labels[usize::from(is_loc)])
            });
            let entities = entities.collect::<Vec<_>>().join(",");
            format!("{{\"tokens\":{tokens:?},\"entities\":[{entities}]}}\n")
        };
        let path = self.dir.path().join(name);
        std::fs::write(&path, (0..sentences).map(line).collect::<String>()).unwrap();
        path
    }

    fn request(&self, output: &Path, strategies: &[&str]) -> SimulateRequest {
        let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
        config.set("epochs", "12").unwrap();
        SimulateRequest {
            train: self.corpus("train.jsonl", 60, ["PER", "LOC"]),
            dev: self.corpus("dev.jsonl", 30, ["PER", "LOC"]),
            test: self.corpus("test.jsonl", 30, ["PER", "LOC"]),
            read: ReadRequest { format: None, options: vec![("end".into(), "exclusive".into())] },
            strategies: strategies.iter().map(|s| (*s).to_owned()).collect(),
            pool: Some(40),
            schedule: vec![6, 16, 30],
            seeds: vec![7],
            config,
            output: Some(output.to_owned()),
            resume: false,
        }
    }
}

fn run(place: &Place, request: &SimulateRequest) -> SimulateReport {
    simulate(&place.home, request, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// All but how long it took.
fn without_times(report: &SimulateReport) -> Vec<RunRecord> {
    let mut runs = report.runs.clone();
    runs.iter_mut().flat_map(|run| &mut run.points).for_each(|point| point.train_secs = 0.0);
    runs
}

#[test]
fn a_model_learns_and_its_suggestions_save_work() {
    let place = Place::new();
    let output = place.dir.path().join("out");
    let report = run(&place, &place.request(&output, &["random", "default"]));
    assert_eq!(report.runs.len(), 2);
    for run in &report.runs {
        assert_eq!(run.points.iter().map(|p| p.sentences).collect::<Vec<_>>(), [6, 16, 30]);
        let mut places: Vec<usize> = run.annotated.iter().map(|s| s.place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(
            (places.len(), places.last().is_some_and(|p| *p < 40)),
            (30, true),
            "each sentence of the pool once"
        );
        let [first, .., last] = run.points.as_slice() else { panic!("three points") };
        assert_eq!(first.actions, first.actions_from_scratch, "nothing was suggested");
        assert!(last.f1 > 0.9 && last.f1 >= first.f1, "{:?}", run.points);
        let saved = run.saved(17, 30).unwrap();
        assert!(saved > 0.3, "{saved}");
    }
    let both = [0, 1].map(|run| report.runs[run].saved(17, 30).unwrap());
    assert_eq!(["random", "default"].map(|strategy| report.saved(strategy, 17, 30).unwrap()), both);
    assert_eq!(report.saved("random", 17, 31), None, "no run has come as far");
    let curves = report.curves();
    assert!(curves[1].tokens_for(0.5).is_some());
    let plot = std::fs::read_to_string(output.join("curves.svg")).unwrap();
    assert!(plot.contains(">random</text>") && plot.contains(">default</text>"));
    assert!(!output.join("runs/random-7").exists(), "the project of a run that is done is thrown away");
}

#[test]
fn sentences_are_chosen_of_one_pool_and_annotated_as_their_gold_says() {
    let place = Place::new();
    let output = |name: &str| place.dir.path().join(name);
    let mut request = place.request(&output("all"), &["order", "random"]);
    request.config.set("epochs", "1").unwrap();
    (request.pool, request.schedule, request.seeds) = (None, vec![8], vec![7, 8]);
    let report = run(&place, &request);
    for run in &report.runs {
        for record in &run.annotated {
            let (tokens, gold) = sentence(record.place);
            let found = (record.tokens, record.mentions, record.actions_from_scratch);
            assert_eq!(found, (tokens.len(), gold.len(), 3 * gold.len()), "{record:?}");
        }
        let [point] = run.points.as_slice() else { panic!("one point") };
        let sum = |of: fn(&SentenceRecord) -> usize| run.annotated.iter().map(of).sum::<usize>();
        assert_eq!((point.tokens, point.mentions), (sum(|s| s.tokens), sum(|s| s.mentions)));
    }
    let places = |run: usize| report.runs[run].annotated.iter().map(|s| s.place).collect::<Vec<_>>();
    let (order, random) = ((0..8).collect::<Vec<_>>(), places(1));
    assert_eq!((places(0), places(2)), (order.clone(), order.clone()));
    assert!(random != order && places(3) != order && random != places(3), "{random:?} {:?}", places(3));

    // All of a smaller pool, to see what is in it.
    let half = SimulateRequest { pool: Some(30), schedule: vec![30], output: Some(output("half")), ..request };
    let pools = run(&place, &half).runs.into_iter().map(|mut run| {
        run.annotated.sort_unstable_by_key(|sentence| sentence.place);
        run.annotated.iter().map(|s| (s.place, s.tokens, s.mentions)).collect::<Vec<_>>()
    });
    let pools: Vec<_> = pools.collect();
    assert_eq!((&pools[0], &pools[2]), (&pools[1], &pools[3]), "strategies of one seed");
    assert_ne!(pools[0], pools[2], "each seed draws its own");
    assert!(pools.iter().all(|pool| pool.iter().map(|(place, ..)| *place).eq(0..30)));
}

#[test]
fn what_is_scored_is_the_test_file() {
    let place = Place::new();
    let mut request = place.request(&place.dir.path().join("out"), &["order"]);
    request.test = place.corpus("swapped.jsonl", 30, ["LOC", "PER"]);
    request.schedule = vec![30];
    let mut dev_f1 = Vec::new();
    let report = simulate(&place.home, &request, &AtomicBool::new(false), &mut |event| {
        if let SimulateEvent::Train(TrainEvent::EpochDone { dev: Some(dev), .. }) = event {
            dev_f1.push(dev.micro.f1().unwrap_or(0.0));
        }
    });
    let (best, f1) = (dev_f1.into_iter().fold(0.0, f64::max), report.unwrap().runs[0].points[0].f1);
    assert!(best > 0.9 && f1 < 0.1, "dev {best}, test {f1}");
}

#[test]
fn one_that_was_stopped_goes_on_to_the_same_result() {
    let place = Place::new();
    let (whole, parts) = (place.dir.path().join("whole"), place.dir.path().join("parts"));
    let want = without_times(&run(&place, &place.request(&whole, &["neh+diverse"])));

    let mut request = place.request(&parts, &["neh+diverse"]);
    let mut stops = 0;
    let report = loop {
        // Stopped at the first step after each point.
        let (cancel, mut has_point) = (AtomicBool::new(false), false);
        let ended = simulate(&place.home, &request, &cancel, &mut |event| match event {
            SimulateEvent::Point(_) => has_point = true,
            SimulateEvent::Train(_) if has_point => cancel.store(true, Ordering::Relaxed),
            _ => {}
        });
        request.resume = true;
        match ended {
            Err(SessionError::Stopped) => stops += 1,
            other => break other.unwrap(),
        }
    };
    assert_eq!(stops, 2, "after each point but the last");
    assert_eq!(without_times(&report), want);
}

/// Nothing is chosen, and no work counted, by what half of the suggestions are of an older model.
#[test]
fn one_that_was_stopped_while_it_predicts_goes_on_to_the_same_result() {
    let place = Place::new();
    let request = |output: &str| SimulateRequest {
        train: place.corpus("long.jsonl", 90, ["PER", "LOC"]),
        pool: None,
        schedule: vec![6, 12],
        ..place.request(&place.dir.path().join(output), &["random"])
    };
    let want = without_times(&run(&place, &request("whole")));
    let (cancel, mut parts) = (AtomicBool::new(false), request("parts"));
    let stopped = simulate(&place.home, &parts, &cancel, &mut |event| {
        if matches!(event, SimulateEvent::Predicted { sentences, of } if sentences < of) {
            cancel.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(stopped, Err(SessionError::Stopped)), "{stopped:?}");
    parts.resume = true;
    assert_eq!(without_times(&run(&place, &parts)), want);
}

#[test]
fn what_does_not_fit_is_refused_with_what_to_do() {
    let place = Place::new();
    let output = place.dir.path().join("out");
    let refused = |request: &SimulateRequest| {
        simulate(&place.home, request, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
    };
    let request = place.request(&output, &["random"]);
    let unknown = SimulateRequest { strategies: vec!["best".into()], ..request.clone() };
    assert!(refused(&unknown).contains(r#"there is no strategy "best""#));
    for schedule in [vec![], vec![0, 5], vec![6, 6], vec![6, 41]] {
        let bad = SimulateRequest { schedule, ..request.clone() };
        assert!(refused(&bad).contains("up to the 40 of the pool"), "{}", refused(&bad));
    }
    let short = SimulateRequest { schedule: vec![6], ..request };
    run(&place, &short);
    assert!(refused(&short).contains("--resume"));
    let other = SimulateRequest { resume: true, schedule: vec![7], ..short.clone() };
    assert!(refused(&other).contains("of other data or settings"));
    // More strategies and seeds can be added; what is done is not done again.
    let more = SimulateRequest { resume: true, strategies: vec!["random".into(), "order".into()], ..short };
    let mut trained = 0;
    let report = simulate(&place.home, &more, &AtomicBool::new(false), &mut |event| {
        trained += usize::from(matches!(event, SimulateEvent::Point(_)));
    });
    assert_eq!((report.unwrap().runs.len(), trained), (2, 1));
}
