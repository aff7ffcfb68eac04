//! Which sentence next, what suggestions save, how good models became, what decisions cost, what to look at again.

use super::*;

/// "NAME met the mayor of TOWN ." with a person, a person with a place inside, and a place.
fn gold(place: &Place, name: &str, sentences: usize) -> PathBuf {
    let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
    let line = |i: usize| {
        let (person, town) = (names[i % names.len()], towns[i % towns.len()]);
        format!(
            r#"{{"tokens":["{person}","met","the","mayor","of","{town}","."],"entities":[{{"start":0,"end":1,"label":"PER"}},{{"start":2,"end":6,"label":"PER"}},{{"start":5,"end":6,"label":"LOC"}}]}}"#
        ) + "\n"
    };
    place.write(name, &(0..sentences).map(line).collect::<String>())
}

/// A project with gold for the first `complete` sentences, and texts.
fn project(place: &Place, complete: usize, open: usize) {
    let (train, text) = (gold(place, "train.jsonl", complete), gold(place, "text.jsonl", open));
    place.json(0, &["new", "p.nestling", "--labels", "PER,LOC", "--encoder", "small"]);
    if open > 0 {
        let text = text.to_str().unwrap();
        place.json(0, &["import", "p.nestling", text, "--as", "text", "--split", "pool", "--option", "end=exclusive"]);
    }
    if complete > 0 {
        let train = train.to_str().unwrap();
        place.json(0, &["import", "p.nestling", train, "--split", "train", "--option", "end=exclusive"]);
    }
}

#[test]
fn sentences_are_ranked_before_and_after_there_is_a_model() {
    let place = Place::new();
    project(&place, 20, 15);
    let first = place.json(0, &["rank", "p.nestling", "--limit", "4"]);
    let rows = first["sentences"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["why"]), (4, &Value::from("words")), "{first}");
    place.json(0, &["train", "p.nestling", "--epochs", "10"]);
    for strategy in ["entropy", "bald+diverse", "default", "random", "order"] {
        let ranked = place.json(0, &["rank", "p.nestling", "--strategy", strategy, "--limit", "99"]);
        let rows = ranked["sentences"].as_array().unwrap();
        assert_eq!(rows.len(), 15, "all that is open: {ranked}");
        assert!(rows.iter().all(|row| row["document"].is_string() && row["sentence"].as_u64() >= Some(1)), "{ranked}");
        let scored = rows.iter().filter(|row| row["score"].is_f64()).count();
        assert_eq!(scored > 0, !["random", "order"].contains(&strategy), "{ranked}");
    }
    // A copy is sound without its models, and what needs one says why it is not there.
    place.json(0, &["copy", "p.nestling", "mailed.nestling"]);
    let checked = place.json(0, &["check", "mailed.nestling"]);
    assert!(checked["notes"][0].as_str().unwrap().contains("a copied project has none; train again"), "{checked}");
    let refused = place.refused(&["predict", "mailed.nestling"]);
    assert!(refused.contains("the files of model 1 are not there") && refused.contains("mailed.models"), "{refused}");
    let refused = place.refused(&["rank", "p.nestling", "--strategy", "best"]);
    assert!(refused.contains("there is no strategy \"best\"; there are: default, random"), "{refused}");
}

#[test]
fn a_corpus_is_annotated_again_as_a_person_would() {
    let place = Place::new();
    for (name, sentences) in [("train.jsonl", 30), ("dev.jsonl", 25), ("test.jsonl", 20)] {
        gold(&place, name, sentences);
    }
    let call = [
        "simulate",
        "--train",
        "train.jsonl",
        "--dev",
        "dev.jsonl",
        "--test",
        "test.jsonl",
        "--option",
        "end=exclusive",
        "--schedule",
        "5,12",
        "--seeds",
        "1",
        "--encoder",
        "small",
        "--set",
        "epochs=10",
    ];
    let report = place.json(0, &call);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["strategy"].as_str().unwrap()).collect::<Vec<_>>(), ["random", "default"]);
    for run in runs {
        let points = run["points"].as_array().unwrap();
        assert_eq!(points.len(), 2);
        for key in ["sentences", "tokens", "f1", "actions", "actions_from_scratch"] {
            assert!(points[1][key].is_number(), "{key}: {run}");
        }
        assert_eq!(points[1]["actions_from_scratch"], 12 * 9);
    }
    let curves = &report["curves"];
    assert!(curves[0]["above_random"].is_null() && curves[1]["above_random"]["mean"].is_number(), "{curves}");
    assert!((0..2).all(|i| curves[i]["saved"].is_number()), "{curves}");
    let twice = [&call[..], &["--strategies", "order", "--output", "out"]].concat();
    place.json(0, &twice);
    assert!(place.refused(&twice).contains("--resume"));
    assert_eq!(place.json(0, &[&twice[..], &["--resume"]].concat())["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_blind_set_is_set_aside_and_a_curve_begins() {
    let place = Place::new();
    project(&place, 0, 60);
    assert_eq!(place.json(0, &["aside", "p.nestling", "--sentences", "30"])["blind"], 30);
    assert_eq!(place.json(0, &["info", "p.nestling"])["splits"]["blind"], 30);
    let none = place.json(0, &["curve", "p.nestling"]);
    assert_eq!((none["points"].as_array().unwrap().len(), &none["forecast"]), (0, &Value::Null));
    assert!(place.refused(&["aside", "p.nestling", "--sentences", "31"]).contains("only 30 sentences are untouched"));

    let place = Place::new();
    project(&place, 150, 0);
    place.json(0, &["train", "p.nestling", "--epochs", "6"]);
    // No dev split came with the files: nothing is measured on what was learned from.
    assert_eq!(place.json(0, &["curve", "p.nestling"])["points"].as_array().unwrap().len(), 0);
    let dev = gold(&place, "dev.jsonl", 25);
    place.json(0, &["import", "p.nestling", dev.to_str().unwrap(), "--split", "dev", "--option", "end=exclusive"]);
    place.json(0, &["train", "p.nestling", "--epochs", "6"]);
    let curve = place.json(0, &["curve", "p.nestling"]);
    let point = &curve["points"][0];
    assert_eq!((&curve["measured_on"], &point["sentences"]), (&Value::from("dev"), &Value::from(25)), "{curve}");
    let f1 = point["f1"].as_f64().unwrap();
    assert!(point["low"].as_f64().unwrap() <= f1 && f1 <= point["high"].as_f64().unwrap() && f1 > 0.8, "{curve}");
    assert!(place.refused(&["aside", "p.nestling"]).contains("a model has already learned"));
}

#[test]
fn costs_are_told_and_gold_is_looked_at_again() {
    let place = Place::new();
    project(&place, 40, 3);
    let costs = place.json(0, &["costs", "p.nestling"]);
    assert_eq!((&costs["all"]["accept"]["count"], &costs["completed_sentences"]), (&Value::from(0), &Value::from(0)));

    let wrong =
        r#"{"tokens":["Anna","met","the","mayor","of","Turku","."],"entities":[{"start":0,"end":1,"label":"LOC"}]}"#;
    let file = place.write("wrong.jsonl", &format!("{wrong}\n"));
    place.json(0, &["import", "p.nestling", file.to_str().unwrap(), "--split", "train", "--option", "end=exclusive"]);
    let quick = place.json(0, &["look-again", "p.nestling", "--folds", "0"]);
    let findings = quick["findings"].as_array().unwrap();
    let seen: Vec<_> = findings.iter().map(|f| (f["words"].as_str().unwrap(), f["why"].as_str().unwrap())).collect();
    assert_eq!(
        seen,
        [
            ("the mayor of Turku", "the same words are marked in 13 of 14 places"),
            ("Turku", "the same words are marked in 13 of 14 places"),
            ("Anna", "the same words are PER in 10 of 11 places"),
        ]
    );
    let first = &findings[0];
    let asked = place.json(0, &["look-again", "p.nestling", "--folds", "2", "--set", "epochs=25", "--limit", "3"]);
    let findings = asked["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 3, "{asked}");
    assert!(findings.iter().any(|f| f["why"].as_str().unwrap().starts_with("a model ")), "{asked}");
    assert!(
        findings.iter().all(|f| (&f["document"], &f["sentence"]) == (&first["document"], &first["sentence"])),
        "the wrong sentence comes first: {asked}"
    );
}
