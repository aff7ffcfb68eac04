//! The command line from outside: the program is run, its exit codes and JSON are what others rely on.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod active;
mod compare;
mod evaluate;
#[cfg(unix)]
mod files;
mod kernels;
mod log;
mod logging;
mod models;
mod terminal;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home and a folder of its own for each test.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_nestling"))
            .args(args)
            .current_dir(self.dir.path())
            .env("NESTLING_HOME", self.path("home"))
            .output()
            .unwrap()
    }

    /// Runs with `--json` and expects this exit code.
    fn json(&self, code: i32, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json", "--quiet"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {stderr}"))
    }

    /// Expects exit code 2 and nothing on standard output, and returns what was complained.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn lines(file: &Path) -> Vec<Value> {
    std::fs::read_to_string(file).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn gold_goes_in_and_comes_out_again() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"tokens\":[\"Anna\",\"Berg\",\"of\",\"Aarhus\"],\"entities\":[{\"start\":0,\"end\":3,\"label\":\"PER\"},{\"start\":3,\"end\":3,\"label\":\"LOC\"}]}\n\
         {\"tokens\":[\"It\",\"rained\",\".\"],\"entities\":[]}\n",
    );
    assert_eq!(place.json(0, &["new", "p.nestling", "--labels", "PER"])["labels"][0], "PER");
    let import = place.json(0, &["import", "p.nestling", "in.jsonl", "--option", "end=inclusive", "--split", "test"]);
    assert_eq!((&import["sentences"], &import["mentions"], &import["left_out"]), (&2.into(), &2.into(), &0.into()));
    assert_eq!(import["new_labels"], serde_json::json!(["LOC"]));
    let info = place.json(0, &["info", "p.nestling"]);
    assert_eq!((&info["splits"]["test"], &info["statuses"]["complete"]), (&2.into(), &2.into()));
    let export =
        place.json(0, &["export", "p.nestling", "--format", "jsonl", "--output", "out.jsonl", "--split", "test"]);
    assert_eq!((&export["mentions"], &export["not_represented"]), (&2.into(), &serde_json::json!([])));
    let sentence = lines(&place.path("out.jsonl")).into_iter().find(|l| l["tokens"][0] == "Anna").unwrap();
    assert_eq!(sentence["entities"][0]["end"], 4, "our own ends are exclusive");
}

#[test]
fn a_bad_line_costs_that_line_and_the_exit_code() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"tokens\":[\"a\"],\"entities\":[]}\n{\"tokens\":[\n{\"tokens\":[\"b\"],\"entities\":[]}\n",
    );
    place.json(0, &["new", "p.nestling"]);
    let import = place.json(1, &["import", "p.nestling", "in.jsonl"]);
    assert_eq!((&import["sentences"], &import["warnings"][0]["line"]), (&2.into(), &2.into()));
}

#[test]
fn what_a_format_cannot_hold_is_listed_or_with_strict_not_written() {
    let place = Place::new();
    place.write("in.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n");
    place.json(0, &["new", "p.nestling"]);
    place.json(0, &["import", "p.nestling", "in.jsonl"]);
    let refused = place.refused(&["export", "p.nestling", "--format", "text", "--output", "o.txt", "--strict"]);
    assert!(refused.contains("nothing was written") && !place.path("o.txt").exists(), "{refused}");
    let export = place.json(1, &["export", "p.nestling", "--format", "text", "--output", "o.txt"]);
    assert_eq!(export["not_represented"][0]["label"], "PER");
    assert_eq!(std::fs::read_to_string(place.path("o.txt")).unwrap().trim(), "Anna");
}

/// A folder of brat with one text more, a broken line, and a relation.
fn brat_folder(place: &Place) {
    std::fs::create_dir_all(place.path("brat/sub")).unwrap();
    place.write("brat/annotation.conf", "[entities]\nPER\nLOC\n");
    place.write("brat/sub/a.txt", "Anna Berg of Aarhus\nsang.\n");
    place.write(
        "brat/sub/a.ann",
        "T7\tPER 0 19\tAnna Berg of Aarhus\nT9\tLOC 13 19\tAarhus\nR1\tIn Arg1:T7 Arg2:T9\nT10\tPER\n",
    );
    place.write("brat/b.txt", "It rained.\n");
    place.write("brat/b.ann", "");
    place.write("brat/c.txt", "Not annotated.\n");
}

#[test]
fn a_folder_is_converted_through_a_project_and_back() {
    let place = Place::new();
    brat_folder(&place);
    let convert = place.json(1, &["convert", "brat", "--to", "jsonl", "--output", "o.jsonl"]);
    assert_eq!((&convert["documents"], &convert["mentions"], &convert["left_out"]), (&3.into(), &2.into(), &1.into()));
    assert_eq!((&convert["warnings"][0]["line"], &convert["format"]), (&4.into(), &"jsonl".into()));
    assert!(convert["notes"].to_string().contains("there is no .ann beside it, so it counts as not annotated yet"));
    let refused = place.refused(&["convert", "brat", "--to", "conll", "--output", "o.conll", "--strict"]);
    assert!(refused.contains("nothing was written") && !place.path("o.conll").exists(), "{refused}");

    let back = ["convert", "o.jsonl", "--to", "brat", "--output", "back"];
    assert_eq!(place.json(0, &back)["mentions"], 2);
    let lines = std::fs::read_to_string(place.path("back/sub/a.ann")).unwrap();
    assert!(lines.starts_with("T7\tPER 0 19\t") && lines.ends_with("R1\tIn Arg1:T7 Arg2:T9\n"), "{lines}");

    place.json(0, &["new", "p.nestling"]);
    place.json(0, &["import", "p.nestling", "o.jsonl", "--as", "gold"]);
    let export = ["export", "p.nestling", "--format", "brat", "--output", "out", "--status", "all"];
    let written = place.json(0, &export);
    assert_eq!((&written["documents"], &written["mentions"]), (&3.into(), &2.into()));
    assert!(place.path("out/sub/a.txt").exists() && place.path("out/annotation.conf").exists());
    let refused = place.refused(&export);
    assert!(refused.contains("new or an empty folder"), "{refused}");
    let left: Vec<_> = std::fs::read_dir(place.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".writing")), "{left:?}");
}

#[test]
fn files_of_a_folder_are_read_once_and_options_go_where_they_are_known() {
    let place = Place::new();
    brat_folder(&place);
    place.write("t.conll", "Anna\tB-PER\n\n");
    let all = ["convert", "brat/b.ann", "brat/b.txt", "brat/annotation.conf", "brat/c.txt", "t.conll", "--to", "jsonl"];
    let options = ["--option", "tokens=blanks", "--option", "header=no", "--output", "o.jsonl"];
    let convert = place.json(0, &[&all[..], &options].concat());
    assert_eq!((&convert["documents"], &convert["sentences"]), (&3.into(), &3.into()));
    assert!(std::fs::read_to_string(place.path("o.jsonl")).unwrap().contains("[\"It\",\"rained.\"]"));
    let refused = place.refused(&[&all[..], &["--option", "nope=1", "--output", "x"]].concat());
    assert!(refused.contains("no such option \"nope\"") && refused.contains("scheme="), "{refused}");
    std::fs::create_dir(place.path("empty")).unwrap();
    let refused = place.refused(&["convert", "empty", "--to", "jsonl", "--output", "x"]);
    assert!(refused.contains("no file to be read in the folder"), "{refused}");
    let refused = place.refused(&["convert", "brat", "--from", "conll", "--to", "jsonl", "--output", "x"]);
    assert!(refused.contains("no file that ends in .conll"), "{refused}");
    assert!(!place.path("x").exists());
}

#[test]
fn refusals_say_what_to_do_and_change_nothing() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "A,B"]);
    // Who opens it leaves a new mark in the file: what the project holds is compared.
    let holds = || (place.json(0, &["info", "p.nestling"]), place.json(0, &["log", "p.nestling"]));
    let before = holds();
    let check = |args: &[&str], words: &str| {
        let message = place.refused(args);
        assert!(message.contains(words), "{args:?}: {message}");
    };
    check(&["new", "p.nestling"], "already");
    check(&["new", "q.nestling", "--labels", "A,A"], "another name");
    check(&["new", "q.nestling", "--encoder", "nope"], "there are: english, ");
    check(&["import", "p.nestling", "missing.jsonl"], "no such file");
    check(&["import", "p.nestling", ".", "--format", "nope"], "jsonl");
    check(&["convert", ".", "--to", "nope", "--output", "x"], "brat");
    check(&["info", "missing.nestling"], "no such project");
    check(&["train", "p.nestling"], "mark some as complete");
    check(&["train", "p.nestling", "--set", "lr=1"], "encoder_lr");
    check(&["evaluate", "p.nestling", "--split", "test"], "train one first");
    check(&["predict"], "--model");
    check(&["encoders", "import", ".", "--name", "x"], "config.json");
    check(&["encoders", "remove", "small"], "built in");
    check(&["encoders", "remove", "english"], "built in");
    check(&["export", "p.nestling", "--format", "nope", "--output", "x"], "jsonl");
    assert_eq!(holds(), before);
    assert!(!place.path("q.nestling").exists());
}

#[test]
fn no_output_takes_the_place_of_a_project() {
    let place = Place::new();
    place.write("in.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n");
    place.json(0, &["new", "p.nestling"]);
    place.json(0, &["import", "p.nestling", "in.jsonl"]);
    place.json(0, &["copy", "p.nestling", "renamed.jsonl"]);
    for file in ["p.nestling", "renamed.jsonl"] {
        let before = std::fs::read(place.path(file)).unwrap();
        let export: &[&str] = &["export", "p.nestling", "--format", "jsonl", "--output", file];
        let convert: &[&str] = &["convert", "in.jsonl", "--to", "conll", "--output", file];
        for args in [export, convert] {
            let refused = place.refused(args);
            assert!(refused.contains("never replaced; name another file") && refused.contains(file), "{refused}");
        }
        assert!(std::fs::read(place.path(file)).unwrap() == before, "{file} is as it was");
    }
    assert_eq!(place.json(0, &["info", "p.nestling"])["sentences"], 1);
}

#[test]
fn the_sample_trains_predicts_and_scores() {
    let place = Place::new();
    let made = place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    assert_eq!((&made["sentences"], &made["complete"]), (&143.into(), &51.into()));
    let trained = place.json(0, &["train", "s.nestling", "--epochs", "2", "--seed", "1", "--set", "self_training=0"]);
    assert_eq!((&trained["encoder"], &trained["epochs"]), (&"english".into(), &2.into()));
    assert!(trained["samples"]["neh"]["positive"].as_u64().unwrap() > 0);
    assert!(trained["sentences_per_sec"].as_f64().unwrap() > 0.0);
    let again = place.json(0, &["train", "s.nestling", "--epochs", "2", "--seed", "1", "--set", "self_training=0"]);
    let weights = |report: &Value| {
        std::fs::read(place.path(report["snapshot"].as_str().unwrap()).join("weights.safetensors")).unwrap()
    };
    assert!(weights(&trained) == weights(&again), "the same seed and labels give the same model");

    let predicted = place.json(0, &["predict", "s.nestling"]);
    assert_eq!(predicted["sentences"], 92);
    let candidates = |report: &Value| report["candidates"]["span"].as_u64().unwrap();
    let all = place.json(0, &["predict", "s.nestling", "--all-spans"]);
    let none = place.json(0, &["predict", "s.nestling", "--threshold", "1"]);
    assert!(candidates(&none) <= candidates(&predicted) && candidates(&predicted) < candidates(&all));
    assert!(place.refused(&["predict", "s.nestling", "--threshold", "2"]).contains("from 0 to 1"));
    let score = place.json(0, &["evaluate", "s.nestling", "--split", "train"]);
    assert!(score["strict"]["micro"]["fn"].is_u64() && score["strict"]["labels"]["GENE"]["f1"].is_f64());
    let info = place.json(0, &["info", "s.nestling"]);
    assert_eq!((info["models"].as_array().unwrap().len(), &info["models"][1]["current"]), (2, &true.into()));

    // A filter: two documents in, one file with one header out.
    place.write(
        "t.jsonl",
        "{\"doc\":\"a\",\"tokens\":[\"The\",\"mayor\"]}\n{\"doc\":\"b\",\"tokens\":[\"of\",\"Aarhus\"]}\n",
    );
    let snapshot = trained["snapshot"].as_str().unwrap();
    let filter = ["predict", "--model", snapshot, "--input", "t.jsonl", "--output", "o.jsonl"];
    assert_eq!(place.json(0, &filter)["sentences"], 2);
    let headers = lines(&place.path("o.jsonl")).iter().filter(|l| l["nestling"] == 1).count();
    assert_eq!((headers, lines(&place.path("o.jsonl")).len()), (1, 3));

    // Mentions that were there are told, and an option of the format is taken.
    place.write(
        "named.jsonl",
        "{\"tokens\":[\"Anna\",\"Berg\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n",
    );
    let filter = ["predict", "--model", snapshot, "--input", "named.jsonl", "--output", "o.jsonl"];
    let named = place.json(1, &[&filter[..], &["--option", "end=inclusive"]].concat());
    assert_eq!(named["replaced"], 1);
    assert_eq!(named["warnings"][0]["file"], "named.jsonl");
    assert!(named["warnings"][0]["message"].as_str().unwrap().starts_with("1 mention was left out"), "{named}");
    assert!(place.refused(&[&filter[..], &["--option", "nope=1"]].concat()).contains("end="));
    // What it is is told from the file; whatever can be read goes through.
    place.write("t.conll", "The\tO\nmayor\tB-PER\n\nof\tO\nAarhus\tB-LOC\n");
    place.write("t.txt", "The mayor of Aarhus.\n");
    place.write("t.tsv", "#FORMAT=WebAnno TSV 3.3\n\n#Text=Ada\n1-1\t0-3\tAda\t\n");
    let of = |input: &'static str| ["predict", "--model", snapshot, "--input", input, "--output", "o.jsonl"];
    let columns = place.json(1, &of("t.conll"));
    assert_eq!((&columns["sentences"], &columns["replaced"]), (&2.into(), &2.into()));
    assert!(columns["notes"][0].as_str().unwrap().contains("columns of tokens and tags"), "{columns}");
    assert_eq!(place.json(0, &of("t.txt"))["sentences"], 1);
    assert!(place.refused(&of("t.tsv")).contains("WebAnno TSV"));
    let onto = ["predict", "--model", snapshot, "--input", "t.jsonl", "--output", "s.nestling"];
    assert!(place.refused(&onto).contains("never replaced"));

    // What a model says comes in as suggestions, never as gold, and stays until it is answered.
    place.json(0, &["new", "r.nestling"]);
    place.write("said.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\",\"score\":0.9}],\"status\":\"complete\"}\n");
    let import = place.json(0, &["import", "r.nestling", "said.jsonl"]);
    assert_eq!((&import["mentions"], &import["suggestions"]), (&0.into(), &1.into()));
    assert_eq!(place.json(0, &["info", "r.nestling"])["statuses"]["untouched"], 1);
    place.write(
        "train.jsonl",
        "{\"tokens\":[\"Anna\",\"left\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n",
    );
    place.write("pool.txt", "Bo left.\n");
    place.json(0, &["import", "r.nestling", "train.jsonl", "--split", "train"]);
    place.json(0, &["import", "r.nestling", "pool.txt"]);
    place.json(0, &["train", "r.nestling", "--epochs", "1", "--set", "encoder=small"]);
    let predicted = place.json(0, &["predict", "r.nestling"]);
    assert_eq!((&predicted["kept"], &predicted["sentences"]), (&1.into(), &1.into()), "{predicted}");
}

#[test]
fn another_architecture_is_one_word_away() {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    let train = [
        "train",
        "s.nestling",
        "--architecture",
        "spanner",
        "--epochs",
        "1",
        "--limit",
        "20",
        "--set",
        "encoder=small",
    ];
    let trained = place.json(0, &[&train[..], &["--set", "nesting=flat"]].concat());
    assert_eq!((&trained["architecture"], &trained["samples"]["neh"]["positive"]), (&"spanner".into(), &0.into()));
    let predicted = place.json(0, &["predict", "s.nestling"]);
    assert_eq!(predicted["candidates"]["neh"], 0);
    assert!(predicted["candidates"]["span"].as_u64() > Some(92 * 20));
    assert!(place.json(0, &["evaluate", "s.nestling", "--split", "train"])["neh"].is_null());
    let refused = place.refused(&["train", "s.nestling", "--architecture", "crf"]);
    assert!(refused.contains("smartspanner, spanner"), "{refused}");
}

#[test]
fn a_score_is_told_by_what_is_asked_for() {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    place.json(0, &["train", "s.nestling", "--limit", "12", "--epochs", "30", "--seed", "1", "--set", "encoder=small"]);
    let evaluate = ["evaluate", "s.nestling", "--split", "train"];
    let plain = place.json(0, &evaluate);
    let by = "label,length,nesting,errors,tasks,matches,buckets,confusion";
    let mut all = place.json(0, &[&evaluate[..], &["--by", by]].concat());
    let (micro, neh) = (&plain["strict"]["micro"], &plain["neh"]);
    assert!(micro["tp"].as_u64() > Some(0) && micro["fn"].as_u64() > Some(0), "{micro}");

    // Each group of rows adds up to the strict score; what is predicted does not depend on what is asked for.
    let keys = ["tp", "fp", "fn"];
    let sum = |rows: &Value| {
        keys.map(|key| rows.as_object().unwrap().values().map(|r| r[key].as_u64().unwrap()).sum::<u64>())
    };
    let counts = |row: &Value| keys.map(|key| row[key].as_u64().unwrap());
    let total: [u64; 3] = counts(micro);
    assert_eq!(sum(&all["strict"]["labels"]), total);
    assert_eq!(sum(&all["length"]), total);
    for property in ["eLen", "tLen", "eCon", "eDen"] {
        assert_eq!(sum(&all["buckets"][property]), total, "{property}");
    }
    let nesting = ["nested", "covering", "flat", "both"].map(|group| counts(&all["nesting"][group]));
    let [nested, covering, flat, both] = nesting;
    assert_eq!([0, 1, 2].map(|i| nested[i] + covering[i] + flat[i] - both[i]), total);
    assert!(both.iter().zip(covering).all(|(b, c)| *b <= c) && covering.iter().sum::<u64>() > 0, "{nesting:?}");
    let wrong = |side: &str, alone: &str| {
        ["type", "boundary", "both", alone].map(|kind| all["errors"][side][kind].as_u64().unwrap()).iter().sum::<u64>()
    };
    assert_eq!([wrong("fp", "spurious"), wrong("fn", "missed")], [total[1], total[2]]);

    // Each gold and each predicted mention is in one cell of the confusion.
    let confusion = all["confusion"].as_array().unwrap();
    let cells = |wanted: &dyn Fn(&Value) -> bool| {
        confusion.iter().filter(|row| wanted(row)).map(|row| row["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(cells(&|row| row["gold"] == row["predicted"]), total[0]);
    assert_eq!(cells(&|row| !row["gold"].is_null()), total[0] + total[2]);
    assert_eq!(cells(&|row| !row["predicted"].is_null()), total[0] + total[1]);

    // A kinder match finds no less of the same gold.
    let (gold, tp) = (total[0] + total[2], total[0]);
    for kind in ["exact", "type"] {
        let [found, _, missed] = counts(&all[kind]);
        assert!(found >= tp && found + missed == gold, "{kind}: {}", all[kind]);
    }
    let half = all["partial"]["partial"].as_u64().unwrap();
    let [equal, _, missed] = counts(&all["partial"]);
    assert_eq!((equal, equal + half + missed), (counts(&all["exact"])[0], gold));
    assert_eq!(all["partial"]["recall"].as_f64().unwrap(), (2 * equal + half) as f64 / (2 * gold) as f64);

    // The filter of heads takes candidates away; a word is asked about once.
    let tasks = &all["tasks"];
    assert_eq!((counts(&tasks["neh"]), counts(&tasks["neh_sp"])), (counts(neh), total));
    let samples = ["neh", "neh_sp", "sp"].map(|task| tasks[task]["samples"].as_u64().unwrap());
    assert!(samples[1] < samples[2] && samples[0] < samples[2], "{samples:?}");
    assert!(counts(&tasks["sp"])[0] >= tp, "{tasks}");
    assert_eq!(counts(&tasks["sp"])[0] + counts(&tasks["sp"])[2], gold);

    // Without --by it is what it was before there were analyses.
    let added = ["length", "nesting", "errors", "tasks", "exact", "partial", "type", "buckets", "confusion"];
    let object = all.as_object_mut().unwrap();
    assert!(added.iter().all(|key| object.remove(*key).is_some()));
    object.insert("wall_secs".to_owned(), plain["wall_secs"].clone());
    assert_eq!(all, plain);

    let text = place.run(&[&evaluate[..], &["--by", "matches,tasks,matches", "--quiet"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    let heads: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(heads, ["Model", "match", "strict", "exact", "partial", "type", "task", "NEH", "SP", "NEH", "samples"]);
    let refused = place.refused(&[&evaluate[..], &["--by", "label,nope"]].concat());
    assert!(refused.contains("nope") && refused.contains("buckets"), "{refused}");
}

#[test]
fn a_folder_that_a_cut_training_left_is_passed_over() {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    std::fs::create_dir_all(place.path("s.models/model-0001")).unwrap();
    assert_eq!(place.json(0, &["train", "s.nestling", "--epochs", "1", "--set", "encoder=small"])["model"], 2);
}

#[test]
fn a_project_that_is_open_elsewhere_can_be_looked_at_searched_exported_and_copied() {
    use nestling::session::{Driver, Home};
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    place.write("a.txt", "Anna Berg met the mayor of Ålborg.\n北京大学在北京。\nShe left.\n");
    place.json(0, &["import", "p.nestling", "a.txt", "--option", "unit=lines"]);
    let open = Driver::open(&Home::at(place.path("home")), &place.path("p.nestling")).unwrap();
    assert_eq!(place.json(0, &["info", "p.nestling"])["sentences"], 3);
    let found = place.json(0, &["search", "p.nestling", "mayor OF alb"]);
    assert_eq!(found["found"], 1);
    assert_eq!(found["sentences"][0]["text"], "Anna Berg met the mayor of Ålborg.");
    assert_eq!(place.json(0, &["search", "p.nestling", "京大"])["sentences"][0]["sentence"], 2);
    assert_eq!(place.json(0, &["search", "p.nestling", "nothing"])["found"], 0);
    place.json(0, &["export", "p.nestling", "--format", "jsonl", "--output", "out.jsonl", "--status", "all"]);
    place.json(0, &["copy", "p.nestling", "copy.nestling"]);
    assert!(place.refused(&["copy", "p.nestling", "copy.nestling"]).contains("choose another name"));
    assert!(place.refused(&["import", "p.nestling", "a.txt"]).contains("open already"));
    open.close().unwrap();
    assert_eq!(place.json(0, &["info", "copy.nestling"])["sentences"], 3);
    assert_eq!(lines(&place.path("out.jsonl")).len(), 4);
    let names = std::fs::read_dir(place.dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<_> = names.filter(|n| n.contains("nestling")).collect();
    left.sort();
    assert_eq!(left, ["copy.nestling", "p.nestling"], "nothing is left beside a project");
}

#[test]
fn a_bench_of_an_import_measures_and_leaves_nothing_behind() {
    let place = Place::new();
    let bench = place.json(0, &["bench", "import", "--sentences", "200"]);
    assert_eq!((&bench["sentences"], &bench["mentions"]), (&200.into(), &600.into()));
    for key in ["file_mb", "parse_mb_per_sec", "import_secs", "stored_sentences_per_sec", "open_secs", "export_secs"] {
        assert!(bench[key].as_f64().unwrap() > 0.0, "{key}: {bench}");
    }
    assert!(bench["search_ms"]["p50"].as_f64().unwrap() > 0.0, "{bench}");
    assert_eq!(std::fs::read_dir(place.path(".")).unwrap().count(), 0);
    assert!(place.refused(&["bench", "import", "--sentences", "0"]).contains("--sentences"));
}

/// Checks the parts of a measured training or prediction against the whole, and returns those that took time.
fn parts(bench: &Value) -> Vec<&str> {
    let ms = bench["parts_ms"].as_object().unwrap();
    let (sum, whole) = (ms.values().map(|ms| ms.as_f64().unwrap()).sum::<f64>(), bench["wall_secs"].as_f64().unwrap());
    assert!((sum - 1000.0 * whole).abs() < 0.01, "the rest is what the parts leave: {bench}");
    for key in ["sentences_per_sec", "tokens_per_sec", "positions_per_sec"] {
        assert!(bench[key].as_f64().unwrap() > 0.0, "{key}: {bench}");
    }
    assert!(bench["positions_per_sec"].as_f64() > bench["tokens_per_sec"].as_f64(), "{bench}");
    ["subwords", "encoder", "heads", "backward", "optimizer", "rest"]
        .into_iter()
        .filter(|part| ms[*part].as_f64().unwrap() > 0.0)
        .collect()
}

#[test]
fn the_learner_is_measured_on_a_project_that_stays_as_it_is() {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    let files = || {
        let names = std::fs::read_dir(place.dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("s.")).collect();
        names.sort();
        (names, std::fs::read(place.path("s.nestling")).unwrap())
    };
    let before = files();
    let train = [
        "bench",
        "train",
        "--project",
        "s.nestling",
        "--sentences",
        "20",
        "--set",
        "batch_size=8",
        "--set",
        "encoder=small",
    ];
    let trained = place.json(0, &train);
    assert_eq!(parts(&trained), ["subwords", "encoder", "heads", "backward", "optimizer", "rest"]);
    assert_eq!((&trained["train_sentences"], &trained["epochs"]), (&20.into(), &1.into()));
    assert_eq!((&trained["encoder"], &trained["model"]), (&"small".into(), &Value::Null));
    assert!(trained["words"].as_u64() > Some(100) && trained["parameters"].as_u64() > Some(1000), "{trained}");
    assert!(trained["samples"]["span"]["negative"].as_u64() > Some(0), "{trained}");

    // Without a model of its own one is trained on made-up sentences first.
    let predict = ["bench", "predict", "--project", "s.nestling", "--sentences", "30", "--threads", "1"];
    let taught = place.json(0, &predict);
    assert_eq!((&taught["sentences"], &taught["trained_first"]), (&30.into(), &true.into()));
    assert!(files() == before, "nothing is written to the project or beside it");

    place.json(0, &["train", "s.nestling", "--epochs", "1", "--architecture", "spanner", "--set", "encoder=small"]);
    let before = files();
    let predicted = place.json(0, &[&predict[..], &["--batch", "4"]].concat());
    assert_eq!((&predicted["architecture"], &predicted["batch_size"]), (&"spanner".into(), &4.into()));
    assert_eq!(predicted["trained_first"], false);
    assert_eq!(parts(&predicted), ["subwords", "encoder", "heads", "rest"]);
    assert!(predicted["candidates"]["span"].as_u64() > Some(30), "{predicted}");
    // In the window, too, it may be open meanwhile.
    let open = nestling::store::Store::open(&place.path("s.nestling")).unwrap();
    assert_eq!(place.json(0, &["bench", "predict", "--project", "s.nestling"])["sentences"], 143);
    drop(open);
    assert!(files() == before, "nothing is written to the project or beside it");
}

#[test]
fn what_a_person_waits_for_after_ten_sentences_is_measured_on_a_copy() {
    let place = Place::new();
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    let refresh = ["bench", "refresh", "--project", "s.nestling"];
    assert!(place.refused(&refresh).contains("no model"));
    place.json(0, &["train", "s.nestling", "--epochs", "4", "--set", "encoder=small"]);
    let before = std::fs::read(place.path("s.nestling")).unwrap();
    let bench = place.json(0, &refresh);
    assert_eq!((&bench["sentences"], &bench["complete"]), (&143.into(), &61.into()));
    let secs = |key: &str| bench[key].as_f64();
    assert!(secs("learned_secs") > Some(0.0), "{bench}");
    // Whether the new model is better is not said here.
    if bench["used"] == true {
        assert!(secs("learned_secs") <= secs("first_suggestions_secs"), "{bench}");
        assert!(secs("first_suggestions_secs") <= secs("all_suggestions_secs"), "{bench}");
    } else {
        assert!(secs("dev_f1") < secs("current_dev_f1"), "{bench}");
    }
    assert!(std::fs::read(place.path("s.nestling")).unwrap() == before, "the project is not touched");
}

#[test]
fn the_learner_is_measured_on_made_up_sentences() {
    let place = Place::new();
    let trained =
        place.json(0, &["bench", "train", "--sentences", "32", "--architecture", "spanner", "--set", "encoder=small"]);
    assert_eq!((&trained["train_sentences"], &trained["architecture"]), (&32.into(), &"spanner".into()));
    let candidates = |more: &[&str]| {
        let bench = place.json(0, &[&["bench", "predict", "--sentences", "40"], more].concat());
        assert_eq!((parts(&bench), &bench["sentences"]), (vec!["subwords", "encoder", "heads", "rest"], &40.into()));
        bench["candidates"]["span"].as_u64().unwrap()
    };
    assert!(candidates(&[]) < candidates(&["--all-spans"]));
    let text = place.run(&["bench", "train", "--sentences", "16", "--quiet", "--set", "encoder=small"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("sentences/s") && text.contains("encoder") && text.contains("samples"), "{text}");
    assert_eq!(std::fs::read_dir(place.path(".")).unwrap().count(), 0);

    let check = |args: &[&str], wanted: &str| {
        let refused = place.refused(&[&["bench"], args].concat());
        assert!(refused.contains(wanted), "{args:?}: {refused}");
    };
    check(&["train", "--sentences", "0"], "--sentences");
    check(&["train", "--encoder", "none"], "none");
    check(&["predict", "--encoder", "none"], "none");
    check(&["train", "--set", "lr=1"], "encoder_lr");
    check(&["train", "--project", "none.nestling"], "none.nestling");
    place.json(0, &["new", "p.nestling"]);
    check(&["train", "--project", "p.nestling"], "no labels");
    check(&["predict", "--project", "p.nestling"], "import some texts");
    place.json(0, &["new", "q.nestling", "--labels", "PER"]);
    check(&["train", "--project", "q.nestling"], "mark some as complete");
}

#[test]
fn a_project_is_checked_and_what_can_be_read_of_a_damaged_one_is_rescued() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    place.write(
        "a.jsonl",
        "{\"tokens\":[\"Anna\",\"Berg\"],\"entities\":[{\"start\":0,\"end\":2,\"label\":\"PER\"}]}\n",
    );
    place.json(0, &["import", "p.nestling", "a.jsonl"]);
    let sound = place.json(0, &["check", "p.nestling", "--repair"]);
    assert_eq!((&sound["sound"], &sound["mentions"], &sound["rescued"]), (&true.into(), &1.into(), &Value::Null));

    let db = rusqlite::Connection::open(place.path("p.nestling")).unwrap();
    db.execute_batch("UPDATE mention SET end_token = 9; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    let before = std::fs::read(place.path("p.nestling")).unwrap();
    let found = place.json(1, &["check", "p.nestling"]);
    assert_eq!(found["sound"], false);
    assert!(found["problems"][0].as_str().unwrap().contains("outside its sentence"), "{found}");
    let repaired = place.json(1, &["check", "p.nestling", "--repair"]);
    assert_eq!(repaired["rescued"]["sentences"], 1);
    assert_eq!(std::fs::read(place.path("p.nestling")).unwrap(), before);
    assert_eq!(place.json(0, &["check", "p.rescued.nestling"])["sentences"], 1);
    place.write("no.nestling", "Anna\n");
    assert!(place.refused(&["check", "no.nestling"]).contains("a text file"));
}

#[test]
fn every_inability_says_what_to_do() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "X"]);
    std::fs::write(place.path("binary.txt"), b"\x7fELF\x02\0\0\x01").unwrap();
    place.write("empty.jsonl", "");
    place.write("blank.txt", " \n");
    std::fs::create_dir(place.path("nothing")).unwrap();
    place.write("cut.jsonl", "{\"tokens\":[\"a\"]}\n{\"tokens\":[\"a\",");
    place.write("x.txt", "Anna Berg met Bo.\n");
    place.write("x.ann", "T1\tPER 0 9\tAnna Berg\nT2\tPER none\nT3\tPER 50 60\tBo\n");
    let odd = r#"{"tokens":["a","b"],"entities":[{"start":0,"end":5,"label":"X"},{"start":0,"end":1,"label":"a: \"b\"|/ 💩"}]}"#;
    place.write("odd.jsonl", odd);
    let refused = |name: &str| place.refused(&["import", "p.nestling", name, "--quiet"]);
    let mut shown: Vec<String> =
        ["binary.txt", "empty.jsonl", "blank.txt", "nothing", "missing.txt"].into_iter().map(refused).collect();
    for name in ["cut.jsonl", "x.ann", "odd.jsonl"] {
        let done = place.json(1, &["import", "p.nestling", name]);
        shown.extend(done["warnings"].as_array().unwrap().iter().map(|w| format!("{} {}\n", w["line"], w["message"])));
    }
    let brat = ["export", "p.nestling", "--status", "all", "--format", "brat", "--output", "out"];
    place.json(1, &brat);
    shown.push(place.refused(&brat));
    shown.push(place.refused(&["export", "p.nestling", "--format", "jsonl", "--output", "no/such/out.jsonl"]));
    let shown = shown.concat().lines().filter(|l| !l.contains("read as")).collect::<Vec<_>>().join("\n");
    expect_test::expect![[r#"
        nestling: the format was not recognised (it is a binary file); choose one of jsonl, brat, conll, text as the format: binary.txt
        nestling: the file is empty; nothing can be imported from it: empty.jsonl
        nestling: there is no sentence in the file, only white space or invisible characters: blank.txt
        nestling: there is no file to be read in the folder; name another one, or the files themselves: nothing
        nestling: there is no such file; check the name: missing.txt
        2 "the JSON object is cut off; the line was left out"
        2 "this is not a mention (expected T1⇥Label 0 4⇥words), got \"T2\\tPER none\"; it was left out, so no sentence of the document is complete"
        3 "T3 is empty, outside the text, or inside a character; it was left out, so no sentence of the document is complete"
        1 "the entity 0-5 (X) is outside the sentence of 2 tokens; it was left out, so the sentence is not complete"
        nestling: the files need a new or an empty folder, and this one has something in it; name another one: out
        nestling: there is no such folder; make it, or choose another one: no/such"#]].assert_eq(&shown);
}

#[test]
fn an_encoder_that_can_t_be_used_is_refused_and_nothing_of_it_stays() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    let files = ["config.json", "vocab.txt", "model.safetensors"];
    // What is put in the place of one file, and a word of what is said.
    let broken: [(&str, &str, &[u8], &str); 6] = [
        ("cut", "model.safetensors", b"\x10\0\0\0\0\0\0\0{\"a\"", "cut off"),
        ("empty", "model.safetensors", b"", "is empty"),
        ("no-json", "config.json", b"{", "not JSON"),
        ("other", "config.json", b"{\"model_type\":\"t5\"}", "or \"xlm-roberta\" works here"),
        ("unnumbered", "config.json", b"{\"model_type\":\"bert\"}", "hidden_size is missing"),
        ("unmarked", "vocab.txt", b"[UNK]\nsea\n", "has no [CLS]"),
    ];
    for (folder, file, content, words) in broken {
        std::fs::create_dir(place.path(folder)).unwrap();
        for name in files {
            std::fs::copy(fixture.join(name), place.path(folder).join(name)).unwrap();
        }
        std::fs::write(place.path(folder).join(file), content).unwrap();
        let message = place.refused(&["encoders", "import", folder, "--name", "x"]);
        assert!(message.contains(words) && message.trim_end().ends_with(file), "{folder}: {message}");
    }
    let message = place.refused(&["encoders", "import", "gone", "--name", "x"]);
    assert!(message.contains("there is no such folder"), "{message}");
    let message = place.refused(&["encoders", "import", "cut/config.json", "--name", "x"]);
    assert!(message.contains("line 1 has"), "a file is read as word vectors: {message}");
    let listed = place.json(0, &["encoders"]);
    assert!(listed["encoders"].as_array().unwrap().iter().all(|encoder| encoder["name"] != "x"));
    let left = std::fs::read_dir(place.path("home/encoders")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is left behind");
    place.json(0, &["encoders", "import", fixture.to_str().unwrap(), "--name", "x"]);
}

#[test]
fn word_vectors_are_imported_and_models_keep_them() {
    let place = Place::new();
    place.write("bad.txt", "anna 1 0\nlund 1\n");
    let message = place.refused(&["encoders", "import", "bad.txt", "--name", "v"]);
    assert!(message.contains("line 2 is not a word and 2 numbers") && message.contains("bad.txt"), "{message}");
    place.write("vectors.txt", "anna 1 0 0.5\nlund -1 0 0.5\nzoe 0.9 0.1 0.5\naarhus -0.9 0.1 0.5\nleft 0 1 0\n");
    let imported = place.json(0, &["encoders", "import", "vectors.txt", "--name", "v"]);
    assert_eq!((&imported["hidden"], &imported["pretrained"]), (&3.into(), &true.into()));
    std::fs::remove_file(place.path("vectors.txt")).unwrap();

    let line = |who: &str, town: &str| {
        let entities = r#"[{"start":0,"end":1,"label":"PER"},{"start":2,"end":3,"label":"LOC"}]"#;
        format!("{{\"tokens\":[\"{who}\",\"left\",\"{town}\"],\"entities\":{entities}}}\n")
    };
    place.write("train.jsonl", &line("Anna", "Lund").repeat(20));
    place.write("test.jsonl", &line("Zoe", "Aarhus").repeat(3));
    place.json(0, &["new", "p.nestling"]);
    for split in ["train", "test"] {
        let file = format!("{split}.jsonl");
        place.json(0, &["import", "p.nestling", &file, "--option", "end=exclusive", "--split", split]);
    }
    let train = [
        "train",
        "p.nestling",
        "--architecture",
        "span_typing",
        "--epochs",
        "40",
        "--set",
        "encoder=v",
        "--set",
        "head_lr=0.01",
    ];
    let trained = place.json(0, &train);
    place.json(0, &["encoders", "remove", "v"]);
    // These words are in no sentence that was learnt from: their vectors are like those of words that are.
    let model = trained["model"].to_string();
    let score = place.json(0, &["evaluate", "p.nestling", "--split", "test", "--model", &model]);
    assert_eq!(score["accuracy"], 1.0, "{score}");
    let snapshot = place.path(trained["snapshot"].as_str().unwrap());
    let config: Value = serde_json::from_slice(&std::fs::read(snapshot.join("encoder/config.json")).unwrap()).unwrap();
    assert_eq!((&config["word_vectors"]["file"], &config["word_vectors"]["words"]), (&"vectors.txt".into(), &5.into()));
    assert_eq!(config["word_vectors"]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn extremes_go_through_every_command_of_the_learner() {
    let place = Place::new();
    let line = |tokens: &[String], mentions: &[(usize, usize, usize)], status: &str| {
        let entities = mentions
            .iter()
            .map(|(start, end, label)| serde_json::json!({ "start": start, "end": end, "label": format!("L{label}") }));
        let entities: Vec<Value> = entities.collect();
        serde_json::json!({ "tokens": tokens, "entities": entities, "status": status }).to_string()
    };
    let words = |count: usize| (0..count).map(|i| format!("word{i}")).collect::<Vec<_>>();
    let odd = ["🦀", "\u{378}", "\u{301}", "\u{200b}", "\u{10fffd}"].map(str::to_owned);
    let sentences = [
        (words(2000), vec![(0, 2, 0), (1997, 2000, 1), (1999, 2000, 1)]),
        (words(1), vec![(0, 1, 2)]),
        (odd.to_vec(), vec![(0, 5, 3)]),
        (vec!["x".repeat(5000), "ä".repeat(5000)], vec![(0, 1, 4)]),
        (words(140), vec![(5, 134, 5)]),
    ];
    let mut all: Vec<String> = sentences.iter().map(|(words, gold)| line(words, gold, "complete")).collect();
    all.extend((0..66).map(|label| line(&words(3), &[(1, 2, label)], "complete")));
    all.extend(sentences.iter().map(|(words, _)| line(words, &[], "untouched")));
    all.push(line(&[], &[], "untouched"));
    place.write("in.jsonl", &all.join("\n"));
    place.json(0, &["new", "p.nestling"]);
    let import = place.json(1, &["import", "p.nestling", "in.jsonl"]);
    assert_eq!((&import["sentences"], &import["left_out"]), (&76.into(), &1.into()));
    assert_eq!(import["new_labels"].as_array().unwrap().len(), 66);
    assert_eq!(import["warnings"][0]["line"], all.len());
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    place.json(0, &["encoders", "import", fixture.to_str().unwrap(), "--name", "tiny"]);
    for architecture in nestling::model::architectures() {
        for encoder in ["small", "tiny"] {
            let settings = [format!("architecture={}", architecture.id()), format!("encoder={encoder}")];
            let train = ["train", "p.nestling", "--epochs", "1", "--set", &settings[0], "--set", &settings[1]];
            let trained = place.json(0, &train);
            if nestling::model::labels_given(architecture.id()) {
                // It stands beside the model in use, and has an accuracy.
                assert!(trained["too_wide_mentions"] == 0 && trained["mentions"].as_u64() > Some(0), "{trained}");
                let model = trained["model"].to_string();
                let evaluate = ["evaluate", "p.nestling", "--split", "train", "--model", &model];
                let score = place.json(0, &evaluate);
                assert!(score["accuracy"].as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)), "{score}");
                assert!(score.get("strict").is_none() && score["given"].as_u64() >= score["right"].as_u64(), "{score}");
                for by in ["tasks", "length"] {
                    let refused = place.refused(&[&evaluate[..], &["--by", by]].concat());
                    assert!(refused.contains("finds no mentions"), "{refused}");
                }
                for refused in [["predict", "p.nestling", "--model", &model], ["models", "p.nestling", "--use", &model]]
                {
                    assert!(place.refused(&refused).contains("finds no mentions"));
                }
                let models = place.json(0, &["models", "p.nestling"]);
                let used = models["models"].as_array().unwrap().iter().find(|it| it["current"] == true).unwrap();
                assert_ne!(used["id"].to_string(), model);
                continue;
            }
            let info = place.json(0, &["info", "p.nestling"]);
            assert_eq!(info["architecture"], architecture.id());
            let listed: Vec<&str> = info["options"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(listed.len(), architecture.options().len(), "{info}");
            assert!(architecture.options().iter().all(|option| listed.contains(&option.name)), "{info}");
            let is_bounded = architecture.options().iter().any(|option| option.name == "max_width");
            assert_eq!(trained["too_wide_mentions"], u8::from(is_bounded), "{trained}");
            assert_eq!(place.json(0, &["predict", "p.nestling"])["sentences"], 5);
            let score = place.json(0, &["evaluate", "p.nestling", "--split", "train"]);
            assert!(score["strict"]["micro"]["fn"].as_u64().unwrap() >= 1, "{score}");
        }
    }
}

#[test]
fn documents_are_listed_excluded_included_and_deleted() {
    let place = Place::new();
    for name in ["rain", "sea", "lund"] {
        let entities = r#"[{"start":0,"end":1,"label":"PER"}]"#;
        place.write(&format!("{name}.jsonl"), &format!("{{\"tokens\":[\"Anna\",\"left\"],\"entities\":{entities}}}\n"));
    }
    place.json(0, &["new", "p.nestling"]);
    for name in ["rain.jsonl", "sea.jsonl", "lund.jsonl"] {
        place.json(0, &["import", "p.nestling", name]);
    }
    let row = |name: &str, state: &str| {
        let id = ["rain", "sea", "lund"].iter().position(|other| *other == name);
        serde_json::json!({ "id": id, "name": name, "sentences": 1, "complete": 1, "mentions": 1, "state": state })
    };
    let listed = |rows: Vec<Value>| serde_json::json!({ "documents": rows });
    let all = listed(vec![row("rain", "there"), row("sea", "there"), row("lund", "there")]);
    assert_eq!(place.json(0, &["documents", "p.nestling"]), all);

    let some = place.json(0, &["documents", "p.nestling", "--exclude", "rain", "sea"]);
    assert_eq!(some, listed(vec![row("rain", "excluded"), row("sea", "excluded"), row("lund", "there")]));
    let info = place.json(0, &["info", "p.nestling"]);
    assert_eq!((&info["documents"], &info["sentences"], &info["mentions"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(place.json(0, &["search", "p.nestling", "anna"])["found"], 1);
    let export = place.json(0, &["export", "p.nestling", "--format", "jsonl", "--output", "out.jsonl"]);
    assert_eq!((&export["documents"], &export["sentences"]), (&1.into(), &1.into()));

    let changed = ["documents", "p.nestling", "--include", "sea", "--delete", "rain", "lund"];
    let text = String::from_utf8(place.run(&changed).stdout).unwrap();
    expect_test::expect![[r#"
        document  sentences  complete  mentions  state
        sea               1         1         1  there
    "#]]
    .assert_eq(&text);
    place.json(0, &["check", "p.nestling"]);
}

#[test]
fn documents_that_cant_be_told_change_nothing() {
    let place = Place::new();
    place.write("rain.txt", "It rained .\n");
    place.write("sea.txt", "The sea .\n");
    place.json(0, &["new", "p.nestling"]);
    for name in ["rain.txt", "sea.txt", "rain.txt"] {
        place.json(0, &["import", "p.nestling", name]);
    }
    let before = place.json(0, &["documents", "p.nestling"]);
    let refused = |args: &[&str]| place.refused(&[&["documents", "p.nestling", "--exclude", "sea"], args].concat());
    let unknown = refused(&["--delete", "wind"]);
    assert!(unknown.contains("has no document \"wind\""), "{unknown}");
    let several = refused(&["--delete", "rain"]);
    assert!(several.contains("2 documents are called \"rain\"; say which one is meant"), "{several}");
    let third = refused(&["--delete", "rain#3"]);
    assert!(third.contains("has no document \"rain#3\""), "{third}");
    let twice = refused(&["--include", "sea#1"]);
    assert!(twice.contains("\"sea#1\" is named twice"), "{twice}");
    assert_eq!(place.json(0, &["documents", "p.nestling"]), before);
    let after = place.json(0, &["documents", "p.nestling", "--delete", "rain#2"]);
    assert_eq!(after["documents"].as_array().unwrap(), &before["documents"].as_array().unwrap()[..2]);
}

#[test]
fn a_small_encoder_is_distilled_from_a_large_one_and_can_be_trained_on() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    let teacher = fixture.to_str().unwrap();
    let text: String = (0..40).map(|i| format!("The mayor of town {i} met the box of the red sea .\n")).collect();
    place.write("text.txt", &text);
    place.write("settings.txt", "# small\nlayers = 2\nepochs = 2\n");
    let distill = ["distill", "--teacher", teacher, "--text", "text.txt", "--output", "student"];
    let settings = ["--config", "settings.txt", "--set", "layers=1", "--set", "batch_size=4"];
    let made = place.json(0, &[&distill[..], &settings].concat());
    assert_eq!((&made["layers"], &made["epochs"], &made["hidden"]), (&1.into(), &2.into(), &32.into()));
    let errors = made["errors"].as_array().unwrap();
    assert!(errors.len() == 3 && errors[2].as_f64() < errors[0].as_f64(), "{made}");
    assert!(place.refused(&[&distill[..], &settings].concat()).contains("already"));

    place.json(0, &["encoders", "import", "student", "--name", "student"]);
    place.json(0, &["sample", "--at", "s.nestling", "--no-window"]);
    let trained = place.json(
        0,
        &[
            "train",
            "s.nestling",
            "--epochs",
            "1",
            "--limit",
            "8",
            "--set",
            "encoder=student",
            "--set",
            "self_training=0",
        ],
    );
    assert_eq!(trained["encoder"], "student");

    let refused = |args: &[&str], expected: &str| {
        let message = place.refused(&[&["distill", "--text", "text.txt", "--output", "other"], args].concat());
        assert!(message.contains(expected), "{message}");
        assert!(!place.path("other").exists());
    };
    refused(&["--teacher", "nobody"], "small, student");
    refused(&["--teacher", "small"], "no weights");
    refused(&["--teacher", teacher, "--set", "depth=1"], "layers, inner");
    refused(&["--teacher", teacher, "--set", "layers=9"], "from 1 to 2");
    refused(&["--teacher", teacher, "--config", "none.txt"], "none.txt");
    refused(&["--teacher", teacher, "--resume"], "no interrupted distillation");
}

#[test]
fn an_encoder_is_pretrained_on_the_entities_of_files_and_projects() {
    let place = Place::new();
    let sentence = |i: usize, label: &str| {
        let (place, entities) = (
            ["town", "sea"][i % 2],
            json!([{"start": 1, "end": 2, "label": label}, {"start": 1, "end": 4, "label": "PLACE"}]),
        );
        json!({"tokens": ["The", "mayor", "of", place, "met"], "entities": entities}).to_string() + "\n"
    };
    let corpus = |sentences: usize, label: &str| (0..sentences).map(|i| sentence(i, label)).collect::<String>();
    std::fs::create_dir(place.path("news")).unwrap();
    place.write("news/train.jsonl", &corpus(20, "PER"));
    place.write("news/test.jsonl", &corpus(30, "TESTED"));
    place.write("novels.jsonl", &corpus(12, "person"));
    place.json(0, &["new", "old.nestling"]);
    place.json(0, &["import", "old.nestling", "novels.jsonl", "--split", "train"]);
    place.write("labels.tsv", "*\tPER\tperson\nbooks\tperson\tperson\n");

    let pretrain = ["pretrain", "--encoder", "small", "--labels", "labels.tsv", "--set", "batch_size=4"];
    let made = place.json(
        0,
        &[&pretrain[..], &["--entities", "news", "books=old.nestling", "--limit", "16", "--output", "made"]].concat(),
    );
    let corpora = made["corpora"].as_array().unwrap();
    let said =
        |i: usize| (corpora[i]["name"].as_str(), corpora[i]["sentences"].as_u64(), corpora[i]["of_sentences"].as_u64());
    assert_eq!([said(0), said(1)], [(Some("news"), Some(16), Some(20)), (Some("books"), Some(12), Some(12))]);
    assert_eq!(corpora[0]["files"][0]["name"], "train.jsonl");
    let labels: Vec<&str> = made["labels"].as_array().unwrap().iter().filter_map(|l| l["name"].as_str()).collect();
    assert_eq!(labels, ["books:PLACE", "news:PLACE", "person"]);
    place.json(0, &["encoders", "import", "made", "--name", "with-entities"]);
    let train = ["train", "old.nestling", "--epochs", "1", "--limit", "8", "--set", "encoder=with-entities"];
    assert_eq!(place.json(0, &train)["encoder"], "with-entities");

    place.write("blank.jsonl", "{\"tokens\": [\"No\", \"one\"], \"entities\": []}\n");
    let refused = |args: &[&str], expected: &str| {
        let message = place.refused(&[&pretrain[..], &["--output", "other"], args].concat());
        assert!(message.contains(expected), "{message}");
        assert!(!place.path("other").exists());
    };
    refused(&["--entities", "news/test.jsonl"], "test split");
    refused(&["--entities", "blank.jsonl", "news"], "no entity is marked in the 1 sentence of blank");
    refused(&["--entities", "news", "books=old.nestling", "novels.jsonl"], "novels has no such label");
    refused(&["--entities", "news", "--set", "effort=heads"], "no setting \"effort\"");
    refused(&["--entities", "nowhere.jsonl"], "nowhere.jsonl");
}

#[test]
fn an_encoder_is_adapted_to_the_text_of_files_and_projects() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    let text = |name: &str, from: usize, to: usize| {
        let text: String =
            (from..to).map(|i| format!("The mayor of town {i} met the box of the red sea .\n")).collect();
        place.write(name, &text);
    };
    std::fs::create_dir(place.path("news")).unwrap();
    text("news/train.txt", 0, 20);
    text("news/dev.txt", 20, 25);
    text("news/test.txt", 25, 40);
    text("more.txt", 40, 50);
    text("kept.txt", 50, 60);
    place.json(0, &["new", "p.nestling"]);
    place.json(0, &["import", "p.nestling", "more.txt"]);
    place.json(0, &["import", "p.nestling", "kept.txt", "--split", "test"]);

    let adapt = ["adapt", "--encoder", fixture.to_str().unwrap(), "--set", "batch_size=4", "--set", "epochs=2"];
    let made = place.json(0, &[&adapt[..], &["--text", "news", "p.nestling", "--output", "made"]].concat());
    let sentences = |made: &Value| [&made["sentences"], &made["held_out"]].map(|count| count.as_u64().unwrap());
    assert_eq!(sentences(&made), [34, 1], "train, dev and what is open, without test splits");
    assert_eq!(made["losses"].as_array().unwrap().len(), 3);
    let few = place.json(0, &[&adapt[..], &["--text", "news", "--limit", "21", "--output", "few"]].concat());
    assert_eq!(sentences(&few), [20, 1]);
    place.json(0, &["encoders", "import", "made", "--name", "adapted"]);
    assert!(place.refused(&[&adapt[..], &["--text", "news", "--output", "made"]].concat()).contains("already exists"));

    let refused = |args: &[&str], expected: &str| {
        let message = place.refused(&[&adapt[..], &["--output", "other"], args].concat());
        assert!(message.contains(expected), "{message}");
        assert!(!place.path("other").exists());
    };
    refused(&["--text", "news/test.txt"], "test split");
    refused(&["--text", "more.txt"], "only 10 sentences");
    refused(&["--text", "news", "--set", "masked=2"], "from 0.01 to 0.9");
    refused(&["--text", "nowhere.txt"], "nowhere.txt");
}

/// Ctrl-C while files are read or written.
#[cfg(unix)]
#[test]
fn an_import_that_is_stopped_changes_nothing() {
    let place = Place::new();
    place.json(0, &["new", "p.nestling", "--labels", "PER"]);
    let line = "{\"tokens\":[\"Anna\",\"left\",\"Lund\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n";
    place.write("long.jsonl", &line.repeat(300_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_nestling"))
        .args(["import", "p.nestling", "long.jsonl"])
        .current_dir(place.dir.path())
        .env("NESTLING_HOME", place.path("home"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !place.path("p.nestling.lock").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.contains("nothing was changed")), (Some(2), true), "{said}");
    assert_eq!(place.json(0, &["info", "p.nestling"])["sentences"], 0);
    place.write("short.jsonl", line);
    let formats = &place.json(0, &["import", "p.nestling", "short.jsonl"])["formats"];
    assert_eq!(*formats, serde_json::json!([{ "format": "jsonl", "files": 1 }]));
}

#[test]
fn a_command_that_is_none_is_named() {
    let place = Place::new();
    for args in [&["stats", "a.nestling"][..], &["--log", "off", "stats", "a.nestling", "--json"], &["stats", "info"]] {
        let complaint = place.refused(args);
        assert!(complaint.starts_with("nestling: there is no command \"stats\"; "), "{args:?}: {complaint}");
    }
    // What clap says of the arguments of a command stays.
    assert!(place.refused(&["info"]).contains("<PROJECT>"));
}
