//! `nestling encoders install` from outside, against a hub on this machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]
#![allow(dead_code, reason = "the server is shared with tests that ask more of it")]

#[path = "hub/server.rs"]
mod server;

use serde_json::Value;
use server::{Faults, Server};
use std::path::Path;
use std::process::{Command, Output};

struct Place {
    dir: tempfile::TempDir,
    server: Server,
}

impl Place {
    fn new(faults: Faults) -> Self {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-roberta");
        Self { dir: tempfile::tempdir().unwrap(), server: Server::start(&fixture, faults) }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nestling"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("NESTLING_HOME", self.dir.path().join("home"))
            .env("HF_HOME", self.dir.path().join("hf"))
            .env("HF_ENDPOINT", &self.server.endpoint)
            .env_remove("HF_TOKEN")
            .env("NO_PROXY", "127.0.0.1");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json", "--quiet"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        assert_eq!(stderr, "");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The names of all that are there, built in or installed.
    fn encoders(&self) -> Vec<String> {
        let listed = self.json(&["encoders"]);
        listed["encoders"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn an_encoder_is_installed_and_trained_from() {
    let place = Place::new(Faults { cut_at: vec![5_000], ..Faults::default() });
    let installed = place.json(&["encoders", "install", "acme/tiny"]);
    assert_eq!((&installed["name"], &installed["hidden"]), (&"tiny".into(), &32.into()));
    assert_eq!(place.server.of_weights().len(), 2, "cut once");
    assert!(place.encoders().contains(&"tiny".to_owned()));
    let lines =
        "{\"tokens\":[\"Anna\",\"met\",\"Bo\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n".repeat(4);
    std::fs::write(place.dir.path().join("in.jsonl"), lines).unwrap();
    place.json(&["new", "p.nestling", "--encoder", "tiny"]);
    place.json(&["import", "p.nestling", "in.jsonl"]);
    let trained = place.json(&["train", "p.nestling", "--epochs", "1"]);
    assert_eq!(trained["encoder"], "tiny");
    place.json(&["predict", "p.nestling"]);
}

#[test]
fn what_can_t_be_had_is_refused() {
    let place = Place::new(Faults::default());
    let message = place.refused(&["encoders", "install", "acme"]);
    assert!(message.contains("the hub has no repository \"acme\""), "{message}");
    let message = place.refused(&["encoders", "install", "acme/tiny/x"]);
    assert!(message.contains("OWNER/NAME@REVISION"), "{message}");
    let message = place.refused(&["encoders", "install", "acme/tiny", "--name", "small"]);
    assert!(message.contains("built in"), "{message}");
    let before = place.encoders();
    place.server.set(|faults| faults.damaged = true);
    let message = place.refused(&["encoders", "install", "acme/tiny"]);
    assert!(message.contains("arrived damaged"), "{message}");
    assert_eq!(place.encoders(), before);
}

#[test]
fn a_token_comes_from_the_environment_or_the_file() {
    let place = Place::new(Faults::default());
    let authorization = || place.server.seen().last().unwrap().authorization.clone();
    place.refused(&["encoders", "install", "acme/other"]);
    assert_eq!(authorization(), None);
    std::fs::create_dir(place.dir.path().join("hf")).unwrap();
    std::fs::write(place.dir.path().join("hf/token"), "kept\n").unwrap();
    place.refused(&["encoders", "install", "acme/other"]);
    assert_eq!(authorization().as_deref(), Some("Bearer kept"));
    place.command(&["encoders", "install", "acme/other"]).env("HF_TOKEN", "said").output().unwrap();
    assert_eq!(authorization().as_deref(), Some("Bearer said"));
}

#[cfg(unix)]
#[test]
fn it_is_interrupted_and_goes_on() {
    use server::COMMIT;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let place = Place::new(Faults { stall_at: Some(20_000), ..Faults::default() });
    let mut command = place.command(&["encoders", "install", "acme/tiny"]);
    let child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let part = place.dir.path().join(format!("home/downloads/acme--tiny--{COMMIT}/model.safetensors.part"));
    let is_there = || std::fs::metadata(&part).is_ok_and(|part| part.len() == 20_000);
    // The limit only ends a test that would wait for ever; what follows fails then.
    let end = Instant::now() + Duration::from_secs(120);
    while !is_there() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("the download so far is kept"), "{message}");
    place.server.set(|faults| faults.stall_at = None);
    place.json(&["encoders", "install", "acme/tiny", "--name", "later"]);
    assert_eq!(place.server.of_weights().last().unwrap().range.as_deref(), Some("bytes=20000-"));
}
