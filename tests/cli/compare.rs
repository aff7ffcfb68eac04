//! Architectures against each other.

use super::*;

#[test]
fn architectures_are_trained_on_the_same_sentences_and_scored_on_the_same_others() {
    let place = Place::new();
    let gold = |name: &str, people: &[&str]| {
        let line = |(i, person): (usize, &&str)| {
            format!(
                "{{\"tokens\":[\"w{i}\",\"met\",\"{person}\"],\"entities\":[{{\"start\":2,\"end\":3,\"label\":\"PER\"}}]}}\n"
            )
        };
        place.write(name, &people.iter().enumerate().map(line).collect::<String>())
    };
    place.json(0, &["new", "p.nestling", "--labels", "PER", "--encoder", "small"]);
    let import = |file: &Path, split: &str| {
        let file = file.to_str().unwrap();
        place.json(0, &["import", "p.nestling", file, "--split", split, "--option", "end=exclusive"]);
    };
    import(&gold("train.jsonl", &["Anna", "Jens", "Maja", "Zoë", "Anna", "Jens", "Maja", "Zoë"]), "train");
    let compare = ["compare", "p.nestling", "--seeds", "1,2", "--epochs", "2", "--set", "self_training=0"];
    assert!(place.refused(&compare).contains("complete"), "nothing to score on");
    import(&gold("dev.jsonl", &["Anna", "Jens"]), "dev");
    assert_eq!(place.json(0, &compare)["split"], "dev");
    import(&gold("test.jsonl", &["Zoë", "Maja", "Anna"]), "test");

    let compared = place.json(0, &compare);
    assert_eq!((&compared["split"], &compared["sentences"]), (&Value::from("test"), &Value::from(3)));
    let rows = compared["architectures"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["architecture"].as_str().unwrap()).collect();
    let finders =
        nestling::model::architectures().iter().map(|it| it.id()).filter(|id| !nestling::model::labels_given(id));
    assert_eq!(ids, finders.collect::<Vec<_>>());
    for row in rows {
        let runs = row["runs"].as_array().unwrap();
        assert_eq!(runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
        assert!(runs.iter().all(|run| run["train_sentences"] == 8 && run["parameters"].as_u64() > Some(1000)), "{row}");
        assert!(runs.iter().all(|run| run["micro"]["tp"].is_u64() && run["train_secs"].as_f64() > Some(0.0)), "{row}");
        assert!(row["train_secs"]["deviation"].is_f64(), "{row}");
    }
    // The same as a training of the project with this seed, which was not changed by any of this.
    assert_eq!(place.json(0, &["models", "p.nestling"])["models"], Value::Array(Vec::new()));
    let train = ["train", "p.nestling", "--seed", "2", "--epochs", "2", "--set", "self_training=0"];
    place.json(0, &train);
    let scored = place.json(0, &["evaluate", "p.nestling", "--split", "test"]);
    assert_eq!(scored["strict"]["micro"], rows[0]["runs"][1]["micro"]);

    let one = place.json(0, &["compare", "p.nestling", "--architectures", "spanner", "--seeds", "1", "--epochs", "1"]);
    assert_eq!(one["architectures"][0]["f1"]["deviation"], Value::Null);
    let refused = place.refused(&["compare", "p.nestling", "--architectures", "spanner,crf"]);
    assert!(refused.contains("there is no architecture \"crf\""), "{refused}");
    let refused = place.refused(&["compare", "p.nestling", "--architectures", "spanner,span_typing"]);
    assert!(refused.contains("span_typing") && refused.contains("finds no mentions"), "{refused}");

    // The second differs from the first, with an interval around it.
    let pair = &compared["differences"][0];
    assert_eq!((&pair["first"], &pair["second"]), (&Value::from("smartspanner"), &Value::from("spanner")));
    assert!(pair["low"].as_f64() <= pair["f1_difference"].as_f64() && pair["p"].as_f64() > Some(0.0), "{pair}");
    assert_eq!(rows[0]["nesting"]["flat"]["tp"].as_u64().map(|_| ()), Some(()));
}

#[test]
fn a_sweep_is_kept_and_continues_where_it_stopped() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER", "--encoder", "small"]);
    let line = |n: usize| {
        format!(
            "{{\"tokens\":[\"w{n}\",\"met\",\"Anna\"],\"entities\":[{{\"start\":2,\"end\":3,\"label\":\"PER\"}}]}}\n"
        )
    };
    for (name, split) in [("train.jsonl", "train"), ("test.jsonl", "test")] {
        let file = place.write(name, &(0..6).map(line).collect::<String>());
        place.json(0, &["import", "p.nestling", file.to_str().unwrap(), "--split", split, "--option", "end=exclusive"]);
    }
    let sweep = |seeds: &str, more: &[&str]| -> Vec<String> {
        let fixed =
            ["compare", "p.nestling", "--architectures", "smartspanner", "--epochs", "2", "--vary", "w=0.1,0.5"];
        let output = ["--output", "sweep", "--seeds", seeds];
        fixed.iter().chain(&output).chain(more).map(|arg| (*arg).to_owned()).collect()
    };
    let with =
        |args: &[String], call: &dyn Fn(&[&str]) -> Value| call(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let first = with(&sweep("1", &[]), &|args| place.json(0, args));
    let rows = first["architectures"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["settings"]["w"].as_str().unwrap()).collect::<Vec<_>>(), ["0.1", "0.5"]);
    for name in ["comparison.json", "table.csv", "table.md", "f1.svg", "runs/smartspanner-w-0.5-1.json"] {
        assert!(place.path("sweep").join(name).is_file(), "{name}");
    }
    // Without --resume nothing is overwritten; with it, only the new seed is trained.
    let args = sweep("1", &[]);
    let refused = place.refused(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.contains("--resume"), "{refused}");
    let more = with(&sweep("1,2", &["--resume"]), &|args| place.json(0, args));
    let of_first = |compared: &Value| compared["architectures"][1]["runs"][0].clone();
    assert_eq!(of_first(&more), of_first(&first), "to the time that it took");
    assert_eq!(more["architectures"][0]["runs"].as_array().unwrap().len(), 2);
    let args = sweep("1", &["--resume", "--set", "sp=0.5"]);
    let refused = place.refused(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(refused.contains("other data or settings") || refused.contains("of other data"), "{refused}");
}
