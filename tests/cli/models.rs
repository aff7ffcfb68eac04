//! The models of a project.

use super::*;

#[test]
fn another_model_is_put_to_use() {
    let place = Place::new();
    let gold: String = (0..12)
        .map(|i| format!("{{\"tokens\":[\"w{i}\",\"met\",\"Anna\"],\"entities\":[{{\"start\":2,\"end\":3,\"label\":\"PER\"}}]}}\n"))
        .collect();
    let file = place.write("gold.jsonl", &gold);
    place.json(0, &["new", "p.nestling", "--labels", "PER", "--encoder", "small"]);
    assert_eq!(place.json(0, &["models", "p.nestling"])["models"], Value::Array(Vec::new()));
    let file = file.to_str().unwrap();
    place.json(0, &["import", "p.nestling", file, "--split", "train", "--option", "end=exclusive"]);
    for seed in ["1", "2"] {
        place.json(0, &["train", "p.nestling", "--epochs", "1", "--seed", seed]);
    }
    let used = |listed: &Value| -> Vec<(u64, bool)> {
        let models = listed["models"].as_array().unwrap().iter();
        models.map(|m| (m["id"].as_u64().unwrap(), m["current"].as_bool().unwrap())).collect()
    };
    let listed = place.json(0, &["models", "p.nestling"]);
    assert_eq!(used(&listed), [(1, false), (2, true)]);
    assert!(listed["models"].as_array().unwrap().iter().all(|m| m["bytes"].as_u64() > Some(1000)), "{listed}");
    assert_eq!(used(&place.json(0, &["models", "p.nestling", "--use", "1"])), [(1, true), (2, false)]);
    assert_eq!(used(&place.json(0, &["models", "p.nestling"])), [(1, true), (2, false)]);
    assert!(place.refused(&["models", "p.nestling", "--use", "9"]).contains("9"));
    std::fs::remove_dir_all(place.path("p.models/model-0002")).unwrap();
    assert!(place.refused(&["models", "p.nestling", "--use", "2"]).contains("not there"));
    assert_eq!(place.json(0, &["models", "p.nestling"])["models"][1]["bytes"], Value::Null);
}
