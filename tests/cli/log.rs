//! Who did what.

use super::*;

#[test]
fn what_was_done_is_listed_with_who_did_it() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    assert_eq!(place.json(0, &["log", "p.nestling"])["entries"], Value::Array(Vec::new()));
    for name in ["one.txt", "two.txt", "three.txt"] {
        let file = place.write(name, "Anna met Jens.\n");
        place.json(0, &["import", "p.nestling", file.to_str().unwrap()]);
    }
    place.json(0, &["documents", "p.nestling", "--exclude", "two"]);
    let listed = place.json(0, &["log", "p.nestling", "--limit", "2"]);
    let entries = listed["entries"].as_array().unwrap();
    let steps: Vec<&str> = entries.iter().map(|entry| entry["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["do", "import"], "the newest first: {listed}");
    assert!(entries[0]["what"].as_str().unwrap().contains("xclude"), "{listed}");
    assert!(entries.iter().all(|e| e["author"].is_string() && e["time_ms"].as_u64() > Some(1_700_000_000_000)));
    assert_eq!((&entries[0]["number"], &entries[1]["number"]), (&Value::from(4), &Value::from(3)));
    let text = String::from_utf8(place.run(&["log", "p.nestling"]).stdout).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains(" UTC  "), "{text}");
}
