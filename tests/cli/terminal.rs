//! What reaches the terminal: nothing that it would obey, and many losses in few lines.

use super::*;

/// A project whose names and texts hold commands for terminals.
fn hostile(place: &Place) {
    let line = serde_json::json!({
        "doc": "d\u{1b}]0;title\u{7}\nImported 9 documents",
        "text": "Anna \u{9b}31m met \u{202e}Bo.",
        "entities": [{ "start": 0, "end": 4, "label": "P\u{1b}[31m" }],
    });
    let (name, line) = ("in\u{1b}[2J.jsonl", line.to_string());
    place.write(name, &format!("{line}\n{line} broken\u{1b}\n"));
    place.json(0, &["new", "p.nestling"]);
    let output = place.run(&["import", "p.nestling", name]);
    assert_harmless(&output, "import");
}

fn assert_harmless(output: &Output, what: &str) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(stream.clone()).unwrap();
        let obeyed = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(obeyed), "{what}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("Imported 9")), "{what}: {text}");
    }
}

#[test]
fn names_and_texts_from_strangers_are_spelled_out() {
    let place = Place::new();
    hostile(&place);
    let calls: &[&[&str]] = &[
        &["info", "p.nestling"],
        &["documents", "p.nestling"],
        &["search", "p.nestling", "anna"],
        &["log", "p.nestling"],
        &["rank", "p.nestling"],
        &["check", "p.nestling"],
        &["look-again", "p.nestling"],
        &["costs", "p.nestling"],
        &["export", "p.nestling", "--format", "conll", "--status", "all", "--output", "out\u{1b}.conll"],
        &["export", "p.nestling", "--format", "text", "--status", "all", "--output", "out.txt"],
        &["export", "p.nestling", "--format", "no\u{1b}[31m", "--output", "x"],
        &["import", "p.nestling", "gone\u{1b}[31m\nImported 9 documents"],
        &["--no-such\u{1b}[31m"],
    ];
    for call in calls {
        assert_harmless(&place.run(call), &call.join(" "));
        assert_harmless(&place.run(&[*call, &["--json"]].concat()), &call.join(" "));
    }
    let info = place.json(0, &["info", "p.nestling"]);
    let label = info["labels"][0]["name"].as_str().unwrap();
    assert!(!label.is_empty(), "{info}");
}

#[test]
fn a_thousand_losses_are_said_in_a_few_lines() {
    let place = Place::new();
    let lines: String = (0..1000)
        .map(|n| {
            format!(
                "{{\"tokens\":[\"Anna{n}\",\"left\"],\"entities\":[{{\"start\":0,\"end\":1,\"label\":\"PER\"}}]}}\n"
            )
        })
        .chain((0..500).map(|n| {
            format!("{{\"tokens\":[\"a\"],\"entities\":[{{\"start\":{n},\"end\":{n},\"label\":\"PER\"}}]}}\n")
        }))
        .collect();
    place.write("in.jsonl", &lines);
    place.json(0, &["new", "p.nestling"]);
    let output = place.run(&["import", "p.nestling", "in.jsonl", "--option", "end=exclusive"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.lines().count() < 12, "{said}");
    assert!(said.starts_with("warning: ") && said.contains("… and 497 more like this"), "{said}");

    let export = ["export", "p.nestling", "--format", "text", "--output", "out.txt"];
    let said = String::from_utf8(place.run(&export).stderr).unwrap();
    assert!(said.lines().count() < 8, "{said}");
    assert!(said.contains("the format holds no mentions\n  … and 997 more like this\n"), "{said}");
    let json = place.json(1, &export);
    assert_eq!(json["not_represented"].as_array().unwrap().len(), 1000);
}
