//! What lies beside a project or in its place: nothing is followed, waited for or overwritten, and what was found is said.

use super::Place;
use nestling::session::{Command, Driver, Home, NewProject};
use std::os::unix::fs::symlink;

#[test]
fn a_lock_that_is_a_link_or_a_pipe_stops_the_command_and_is_left_alone() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    let precious = place.write("precious", "export PATH=/bin\n");
    let lock = place.path("p.nestling.lock");
    symlink(&precious, &lock).unwrap();
    let said = place.refused(&["info", "p.nestling"]);
    assert!(said.contains("a link where the project's lock belongs") && said.contains("p.nestling.lock"), "{said}");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "export PATH=/bin\n");
    assert!(lock.is_symlink());
    std::fs::remove_file(&lock).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    for command in ["info", "check", "documents"] {
        assert!(place.refused(&[command, "p.nestling"]).contains("a pipe or a device"));
    }
}

#[test]
fn changes_of_another_file_are_set_aside_and_told() {
    let place = Place::new();
    let home = Home::at(place.path("home"));
    let open = Driver::create(&home, &place.path("open.nestling"), &NewProject::with_labels(["PER"]).unwrap());
    let mut open = open.unwrap();
    open.run(Command::AddLabel { name: "LOC".to_owned() }).unwrap();
    open.flush().unwrap();
    place.json(0, &["new", "p.nestling", "--labels", "GENE"]);
    for end in ["-wal", ".lock"] {
        let left = place.path(&format!("open.nestling{end}"));
        std::fs::copy(left, place.path(&format!("p.nestling{end}"))).unwrap();
    }
    let output = place.run(&["info", "p.nestling", "--json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("warning: ") && said.contains("p.nestling-wal.of-another-file-1"), "{said}");
    let info: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<_> = info["labels"].as_array().unwrap().iter().map(|label| label["name"].clone()).collect();
    assert_eq!(names, ["GENE"]);
    assert!(!place.path("p.nestling-wal").exists() && place.path("p.nestling-wal.of-another-file-1").is_file());
    open.close().unwrap();
}

#[test]
fn who_has_a_project_open_is_told_with_the_machine() {
    let place = Place::new();
    let home = Home::at(place.path("home"));
    let new = NewProject::with_labels(["PER"]).unwrap();
    let open = Driver::create(&home, &place.path("p.nestling"), &new).unwrap();
    let said = place.refused(&["documents", "p.nestling", "--exclude", "none"]);
    assert!(said.contains(&format!("(process {})", std::process::id())), "{said}");
    if let Ok(host) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        assert!(said.contains(&format!(" on {}", host.trim())), "{said}");
    }
    open.close().unwrap();
}

#[test]
fn nothing_is_written_in_the_place_of_a_link_or_a_pipe() {
    let place = Place::new();
    place.write("in.txt", "Anna met Bo.\n");
    place.json(0, &["new", "p.nestling"]);
    place.json(0, &["import", "p.nestling", "in.txt"]);
    let precious = place.write("precious", "precious\n");
    symlink(&precious, place.path("link.jsonl")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe.jsonl")).status().unwrap().success());
    for (name, found) in [("link.jsonl", "a link"), ("pipe.jsonl", "a pipe or a device")] {
        let said = place.refused(&["export", "p.nestling", "--format", "jsonl", "--output", name, "--status", "all"]);
        assert!(said.contains(found) && said.contains("never replaced"), "{said}");
    }
    assert!(place.path("link.jsonl").is_symlink());
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "precious\n");
}
