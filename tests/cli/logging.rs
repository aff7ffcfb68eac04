//! The log of the program itself.

use super::*;

#[test]
fn the_log_is_written_when_it_is_asked_for() {
    let place = Place::new();
    let log = place.path("home/log/nestling.log");
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    assert!(!log.exists(), "nothing went wrong");
    place.json(0, &["info", "p.nestling", "--log", "info"]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("INFO") && text.contains("the program has started"), "{text}");
    let before = text.len();
    place.json(0, &["info", "p.nestling", "--log", "off"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap().len(), before);
    assert!(place.refused(&["info", "p.nestling", "--log", "loud"]).contains("debug"), "the levels are named");
}

#[test]
fn the_environment_may_ask_for_the_log() {
    let place = Place::new();
    let run = |level: &str| {
        Command::new(env!("CARGO_BIN_EXE_nestling"))
            .args(["new", &format!("{level}.nestling"), "--labels", "PER"])
            .current_dir(place.dir.path())
            .env("NESTLING_HOME", place.path("home"))
            .env("NESTLING_LOG", level)
            .output()
            .unwrap()
    };
    assert_eq!(run("info").status.code(), Some(0));
    assert_eq!(run("loud").status.code(), Some(0), "a level that is unknown is no reason to do nothing");
    let text = std::fs::read_to_string(place.path("home/log/nestling.log")).unwrap();
    assert!(text.contains("the program has started") && text.contains("loud"), "{text}");
}

#[test]
fn where_no_log_can_be_written_all_else_is_done() {
    let place = Place::new();
    std::fs::create_dir(place.path("home")).unwrap();
    place.write("home/log", "a file where the folder should be");
    place.json(0, &["new", "p.nestling", "--labels", "PER", "--log", "trace"]);
    assert_eq!(place.json(0, &["info", "p.nestling", "--log", "trace"])["labels"][0]["name"], "PER");
}
