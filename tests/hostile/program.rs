//! The program itself on files from strangers, with little memory and little time.

use super::project::Place;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Of address space, with what the program reserves and never uses.
const KILOBYTES: u32 = 6 << 20;
const LONGEST: Duration = Duration::from_secs(180);

/// Exit code and standard error.
fn run(place: &Place, args: &[&str]) -> (i32, String) {
    let program = env!("CARGO_BIN_EXE_nestling");
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {KILOBYTES}; exec \"$0\" \"$@\""), program])
        .args(args)
        .current_dir(place.dir.path())
        .env("NESTLING_HOME", place.dir.path().join("home"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let listening = std::thread::Builder::new().name("listening".to_owned()).spawn(move || {
        let mut said = Vec::new();
        let _ = stderr.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let said = listening.unwrap();
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let said = said.join().unwrap();
            let code = status.code().unwrap_or_else(|| panic!("{args:?} ended by a signal: {said}"));
            assert!(code <= 2, "{args:?}: {code}: {said}");
            return (code, said);
        }
        if started.elapsed() > LONGEST {
            let _ = child.kill();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn each_command_ends_soon_in_little_memory() {
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS one, i AS revision, \
                   i AS next_mention, i AS next_label, i AS next_sentence, '' AS id, '' AS opening FROM n WHERE i < 0";
    let range = r#"[{"edit":"set_presence","documents":[[0,4294967295]],"old":"there","new":"removed"}]"#;
    let all = [
        ("an endless view", Place::rich().execute(&format!("DROP TABLE project; CREATE VIEW project AS {endless}"))),
        ("a counter far away", Place::rich().alter("UPDATE project SET next_sentence = next_sentence + 134217728")),
        ("a counter at the end", Place::rich().alter("UPDATE project SET next_sentence = 4294967295")),
        ("a range in the log", Place::rich().alter(&format!("UPDATE log SET inverse = '{range}', edits = '{range}'"))),
        ("a document far away", Place::rich().alter("UPDATE document SET id = 9000000000000000000 WHERE id = 59")),
        ("a model that wraps", Place::rich().alter("UPDATE model SET id = 4294967295 WHERE id = 2")),
        ("a text for a number", Place::rich().alter("UPDATE mention SET label = 'PER'")),
    ];
    for (what, place) in all {
        let is_read = run(&place, &["info", "p.nestling"]).0 == 0;
        assert_eq!(is_read, what == "a counter far away", "{what}");
        for args in [
            vec!["log", "p.nestling"],
            vec!["search", "p.nestling", "harbour"],
            vec!["export", "p.nestling", "--format", "jsonl", "--output", "out.jsonl"],
            vec!["check", "p.nestling"],
        ] {
            run(&place, &args);
        }
        let (code, said) = run(&place, &["check", "p.nestling", "--repair"]);
        let rescued = place.dir.path().join("p.rescued.nestling");
        assert_eq!(rescued.exists(), !is_read, "{what}: {said}");
        assert_eq!(code, i32::from(!is_read), "{what}: {said}");
        if !is_read {
            assert_eq!(run(&place, &["check", "p.rescued.nestling"]).0, 0, "{what}");
        }
    }
}
