//! Against a hub on this machine that does what networks and servers do.

#[path = "../../../tests/hub/server.rs"]
mod server;

use super::*;
use crate::encoder::{EncoderInfo, Encoders};
use expect_test::{Expect, expect};
use server::{COMMIT, Faults, Server};
use std::sync::atomic::Ordering;
use std::time::Instant;
use tempfile::TempDir;

/// A home, and a hub that has one of the fixtures.
struct Desk {
    home: TempDir,
    server: Server,
    hub: Hub,
}

impl Desk {
    fn new(faults: Faults) -> Self {
        Self::with("tiny-distilbert", faults)
    }

    fn with(fixture: &str, faults: Faults) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner").join(fixture);
        let server = Server::start(&folder, faults);
        let hub = Hub::new(&server.endpoint, Some("secret".to_owned()), None, Duration::from_millis(1));
        Self { home: tempfile::tempdir().unwrap(), server, hub }
    }

    fn encoders(&self) -> Encoders {
        Encoders::at(self.home.path())
    }

    fn install(&self, name: &str) -> Result<EncoderInfo, EncoderError> {
        let repository = Repository::parse(name).unwrap();
        self.encoders().install(&self.hub, &repository, "tiny", &AtomicBool::new(false), &mut |_| {})
    }

    fn message(&self, name: &str) -> String {
        let message = self.install(name).unwrap_err().to_string();
        let imported = self.encoders().list().unwrap().into_iter().filter(|info| !info.built_in).count();
        assert_eq!(imported, 0, "nothing half is in the list");
        message
            .replace(&self.server.endpoint, "HUB")
            .replace(&self.home.path().display().to_string(), "HOME")
            .replace('\\', "/")
    }

    fn downloads(&self) -> Vec<String> {
        fn below(folder: &Path, at: &str, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let entry = entry.unwrap();
                let name = format!("{at}{}", entry.file_name().to_str().unwrap());
                if entry.path().is_dir() {
                    below(&entry.path(), &format!("{name}/"), found);
                } else {
                    found.push(name);
                }
            }
        }
        let mut found = Vec::new();
        below(&self.home.path().join("downloads"), "", &mut found);
        found.sort();
        found
    }

    fn part(&self) -> PathBuf {
        self.home.path().join(format!("downloads/acme--tiny--{COMMIT}/model.safetensors.part"))
    }
}

#[test]
fn an_encoder_comes_whole_and_nothing_else_stays() {
    let desk = Desk::new(Faults::default());
    let mut told = Vec::new();
    let repository = Repository::parse("acme/tiny@v1").unwrap();
    let info = desk
        .encoders()
        .install(&desk.hub, &repository, "mine", &AtomicBool::new(false), &mut |at| told.push(at))
        .unwrap();
    assert_eq!((info.name.as_str(), info.hidden, info.layers, info.problem), ("mine", 32, 2, None));
    assert_eq!(desk.downloads(), [""; 0]);
    let in_folder = std::fs::read_dir(desk.home.path().join("encoders/mine")).unwrap().count();
    assert_eq!(in_folder, 3, "the reference numbers of the fixture are nothing that an encoder needs");
    // Progress: each file to its end, never back.
    let files: Vec<&str> = told.iter().map(|at| at.file).collect();
    assert_eq!((files.first(), files.last()), (Some(&"config.json"), Some(&"model.safetensors")));
    let weights: Vec<&Fetching> = told.iter().filter(|at| at.file == "model.safetensors").collect();
    assert!(weights.len() > 3 && weights.is_sorted_by_key(|at| at.done_bytes));
    let last = weights.last().unwrap();
    assert_eq!((Some(last.done_bytes), last.total_bytes), (last.total_bytes, Some(info.weights_bytes)));
    // The token is for the hub, not for where it keeps large files.
    for seen in desk.server.seen() {
        let expected = if seen.path.starts_with("/cdn/") { None } else { Some("Bearer secret") };
        assert_eq!((seen.authorization.as_deref(), seen.range), (expected, None), "{}", seen.path);
    }
}

#[test]
fn a_repository_s_former_name_leads_to_it() {
    let desk = Desk::new(Faults::default());
    desk.install("old-tiny").unwrap();
}

#[test]
fn a_cut_connection_is_taken_up_where_it_was_cut() {
    let desk = Desk::new(Faults { cut_at: vec![9_000, 9_001, 20_000], ..Faults::default() });
    desk.install("acme/tiny").unwrap();
    let ranges: Vec<Option<String>> = desk.server.of_weights().into_iter().map(|seen| seen.range).collect();
    let from = |at: usize| Some(format!("bytes={at}-"));
    assert_eq!(ranges, [None, from(9_000), from(9_001), from(20_000)]);
}

#[test]
fn a_fetch_that_failed_goes_on_the_next_time() {
    // Sizes and checksums come with the redirect here.
    let desk = Desk::new(Faults { cut_at: [vec![10_000], vec![0; 9]].concat(), bare_list: true, ..Faults::default() });
    expect![[r#"model.safetensors of "acme/tiny" was interrupted again and again (Peer disconnected); 10,000 bytes of it are kept: try again later to continue"#]].assert_eq(&desk.message("acme/tiny"));
    assert_eq!(std::fs::metadata(desk.part()).unwrap().len(), 10_000);
    desk.server.set(|faults| faults.cut_at.clear());
    let before = desk.server.seen().len();
    desk.install("acme/tiny").unwrap();
    let seen = desk.server.seen();
    let paths: Vec<&str> = seen[before..].iter().map(|seen| seen.path.as_str()).collect();
    assert!(!paths.iter().any(|path| path.ends_with("config.json")), "what is there is not fetched again: {paths:?}");
    assert_eq!(seen.last().unwrap().range.as_deref(), Some("bytes=10000-"));
    assert_eq!(desk.downloads(), [""; 0]);
}

#[test]
fn a_server_without_ranges_begins_anew() {
    let desk = Desk::new(Faults { cut_at: vec![9_000], no_ranges: true, ..Faults::default() });
    desk.install("acme/tiny").unwrap();
    assert_eq!(desk.server.of_weights().len(), 2);
}

#[test]
fn more_than_there_is_is_thrown_away() {
    let desk = Desk::new(Faults { bare_list: true, ..Faults::default() });
    std::fs::create_dir_all(desk.part().parent().unwrap()).unwrap();
    std::fs::write(desk.part(), vec![7; 1 << 20]).unwrap();
    desk.install("acme/tiny").unwrap();
    assert_eq!(desk.server.of_weights().len(), 2, "refused, then from the beginning");
}

#[test]
fn it_stops_at_once_also_while_nothing_comes() {
    for stall_at in [0, 10_000] {
        let desk = Desk::new(Faults { stall_at: Some(stall_at), ..Faults::default() });
        let cancel = AtomicBool::new(false);
        let repository = Repository::parse("acme/tiny").unwrap();
        let (stopped, asked) = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let is_there = || std::fs::metadata(desk.part()).is_ok_and(|part| part.len() >= stall_at as u64);
                // The limit only ends a test that would wait for ever.
                let end = Instant::now() + Duration::from_secs(120);
                while !is_there() && Instant::now() < end {
                    std::thread::sleep(Duration::from_millis(5));
                }
                cancel.store(true, Ordering::SeqCst);
                Instant::now()
            });
            let stopped = desk.encoders().install(&desk.hub, &repository, "tiny", &cancel, &mut |_| {});
            (stopped, asking.join().unwrap())
        });
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
        expect!["stopped; the download so far is kept, and fetching again continues it"]
            .assert_eq(&stopped.unwrap_err().to_string());
        assert_eq!(std::fs::metadata(desk.part()).unwrap().len(), stall_at as u64);
        desk.server.set(|faults| faults.stall_at = None);
        desk.install("acme/tiny").unwrap();
    }
}

#[test]
fn what_came_damaged_is_not_kept() {
    let desk = Desk::new(Faults { damaged: true, ..Faults::default() });
    expect![[r#"model.safetensors of "acme/tiny" arrived damaged (its checksum is not the hub's); it was discarded, try again"#]].assert_eq(&desk.message("acme/tiny"));
    assert!(!desk.part().exists());
    desk.server.set(|faults| faults.damaged = false);
    desk.install("acme/tiny").unwrap();
    // Of another size than the list says.
    let desk = Desk::new(Faults { wrong_size: true, ..Faults::default() });
    expect![[r#"model.safetensors of "acme/tiny" has 50,184 bytes, but the hub says 50,185 bytes; try again later"#]]
        .assert_eq(&desk.message("acme/tiny"));
}

#[test]
fn no_file_grows_without_end() {
    // The list says nothing of sizes.
    let bare = || Faults { bare_list: true, ..Faults::default() };
    let desk = Desk::new(Faults { endless: Some("config.json"), ..bare() });
    expect![[r#"config.json of "acme/tiny" is larger than such a file can be (more than 1,048,576 bytes); it was discarded: choose another encoder"#]].assert_eq(&desk.message("acme/tiny"));
    assert_eq!(desk.downloads(), [""; 0]);
    let desk = Desk::new(Faults { endless: Some("list"), ..bare() });
    expect!["the server is not a Hugging Face hub; check HF_ENDPOINT and whether a log-in page is in the way: HUB/api/models/acme/tiny/revision/main?blobs=true"].assert_eq(&desk.message("acme/tiny"));
    // It says more than can be, in the list or when it begins.
    for (name, bytes, is_bare) in [
        ("tokenizer.json", 1 << 40, true),
        ("tokenizer.json", 1 << 40, false),
        ("model.safetensors", 1 << 40, false),
        ("model.safetensors", u64::MAX, false),
    ] {
        let desk = Desk::new(Faults { says: Some((name, bytes)), bare_list: is_bare, ..Faults::default() });
        let message = desk.message("acme/tiny");
        assert!(message.contains("is larger than such a file can be"), "{message}");
        assert!(!desk.downloads().iter().any(|name| name.contains(".part")), "{:?}", desk.downloads());
    }
    // It says how much, and sends more.
    let desk = Desk::new(Faults { endless: Some("model.safetensors"), ..Faults::default() });
    expect![[r#"model.safetensors of "acme/tiny" has 50,185 bytes, but the hub says 50,184 bytes; try again later"#]]
        .assert_eq(&desk.message("acme/tiny"));
    assert!(!desk.part().exists());
}

#[test]
fn what_comes_packed_is_not_unpacked() {
    let desk = Desk::new(Faults { packed: Some("config.json"), bare_list: true, ..Faults::default() });
    let message = desk.message("acme/tiny");
    assert!(message.contains("the file is not JSON"), "{message}");
}

fn refused(status: u16, code: &'static str, want: Expect) {
    let desk = Desk::new(Faults { refuse: Some((status, code)), ..Faults::default() });
    want.assert_eq(&desk.message("acme/tiny"));
    assert_eq!(desk.server.seen().len(), 1, "asked once");
}

#[test]
fn what_the_hub_refuses_is_said_with_what_to_do() {
    refused(
        401,
        "GatedRepo",
        expect![[
            r#"the repository "acme/tiny" is gated; agree to its terms on its page, make a token there, and set HF_TOKEN to it: HUB/acme/tiny"#
        ]],
    );
    refused(
        401,
        "RepoNotFound",
        expect![[
            r#"the hub has no repository "acme/tiny", or does not show it; check the name, or set HF_TOKEN to a token that may read it: HUB/acme/tiny"#
        ]],
    );
    refused(
        404,
        "",
        expect![[
            r#"the hub has no repository "acme/tiny", or does not show it; check the name, or set HF_TOKEN to a token that may read it: HUB/acme/tiny"#
        ]],
    );
    refused(
        503,
        "",
        expect!["the hub answered 503; try again later: HUB/api/models/acme/tiny/revision/main?blobs=true"],
    );
    let desk = Desk::new(Faults::default());
    expect![[
        r#"the repository has no revision of that name ("acme/tiny@v9"); see which it has on its page: HUB/acme/tiny"#
    ]]
    .assert_eq(&desk.message("acme/tiny@v9"));
    expect![[r#"the hub has no repository "acme/other", or does not show it; check the name, or set HF_TOKEN to a token that may read it: HUB/acme/other"#]].assert_eq(&desk.message("acme/other"));
    desk.server.set(|faults| faults.busy_weights = Some(429));
    expect![[r#"model.safetensors of "acme/tiny" was interrupted again and again (the hub answered 429); 0 bytes of it are kept: try again later to continue"#]].assert_eq(&desk.message("acme/tiny"));
    desk.server.set(|faults| faults.busy_weights = Some(403));
    expect!["the hub answered 403; try again later: HUB/acme/tiny/resolve/0123456789abcdef0123456789abcdef01234567/model.safetensors"].assert_eq(&desk.message("acme/tiny"));
    desk.server.set(|faults| faults.page = true);
    expect!["the server is not a Hugging Face hub; check HF_ENDPOINT and whether a log-in page is in the way: HUB/api/models/acme/tiny/revision/main?blobs=true"].assert_eq(&desk.message("acme/tiny"));
}

#[test]
fn no_network() {
    let desk = Desk::new(Faults::default());
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hub = Hub::new(&format!("http://{nobody}"), None, None, Duration::from_secs(9));
    let repository = Repository::parse("acme/tiny").unwrap();
    let error = desk.encoders().install(&hub, &repository, "tiny", &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    let EncoderError::HubUnreachable { reason, .. } = &error else { panic!("{error}") };
    let message = error.to_string().replace(reason, "REASON").replace(&nobody.to_string(), "NOBODY");
    expect!["the hub can't be reached (REASON); check the connection, or get the files by other means and import their folder: http://NOBODY"].assert_eq(&message);
}

#[test]
fn what_can_t_run_here_is_refused_before_its_weights_are_fetched() {
    let desk = Desk::new(Faults::default());
    desk.server.put("config.json", Some(b"{\"model_type\": \"t5\"}".to_vec()));
    expect![[r#"the repository "acme/tiny" can't be used here: the model type is "t5", but only "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "roberta" or "xlm-roberta" works here; choose another encoder: HUB/acme/tiny/blob/0123456789abcdef0123456789abcdef01234567/config.json"#]].assert_eq(&desk.message("acme/tiny"));
    assert_eq!((desk.server.of_weights().len(), desk.downloads().len()), (0, 0));

    let desk = Desk::new(Faults::default());
    desk.server.put("tokenizer.json", None);
    expect![[r#"an encoder needs tokenizer.json, and the repository "acme/tiny" has none; fetch it by other means, write tokenizer.json with the Hugging Face libraries (AutoTokenizer.from_pretrained and save_pretrained), and import the folder"#]].assert_eq(&desk.message("acme/tiny"));
    desk.server.put("model.safetensors", None);
    expect![[r#"an encoder needs model.safetensors, and the repository "acme/tiny" has none; choose one that holds an encoder"#]].assert_eq(&desk.message("acme/tiny"));
    desk.server.put("pytorch_model.bin", Some(Vec::new()));
    expect![[r#"an encoder needs model.safetensors, and the repository "acme/tiny" has none; its pytorch_model.bin is a pickle, which can run any code when read; convert it with the Hugging Face libraries (save_pretrained writes safetensors)"#]].assert_eq(&desk.message("acme/tiny"));
    desk.server.put("config.json", None);
    expect![[
        r#"an encoder needs config.json, and the repository "acme/tiny" has none; choose one that holds an encoder"#
    ]]
    .assert_eq(&desk.message("acme/tiny"));
    assert_eq!(desk.server.seen().len(), 4, "the list says it all");
}

#[test]
fn weights_that_do_not_fit_are_not_kept() {
    let desk = Desk::new(Faults::default());
    desk.server.put("model.safetensors", Some(vec![0; 100]));
    assert!(desk.message("acme/tiny").starts_with("the repository \"acme/tiny\" can't be used here: "));
    assert_eq!(desk.downloads(), [""; 0]);
}

#[test]
fn a_name_in_use_is_refused_before_anything_is_asked() {
    let desk = Desk::new(Faults::default());
    desk.install("acme/tiny").unwrap();
    let asked = desk.server.seen().len();
    assert!(matches!(desk.install("acme/tiny"), Err(EncoderError::NameTaken(_))));
    assert_eq!(desk.server.seen().len(), asked);
}

#[test]
fn two_programs_don_t_fetch_one_encoder() {
    let desk = Desk::new(Faults::default());
    let downloads = desk.home.path().join("downloads");
    std::fs::create_dir(&downloads).unwrap();
    let path = downloads.join(format!("acme--tiny--{COMMIT}.lock"));
    let lock = Lock::take(path, &Repository::parse("acme/tiny").unwrap(), &AtomicBool::new(false)).unwrap();
    expect![[r#"another program is fetching "acme/tiny"; wait for it to end"#]].assert_eq(&desk.message("acme/tiny"));
    drop(lock);
    desk.install("acme/tiny").unwrap();
}

#[test]
fn what_the_hub_s_own_libraries_have_is_taken_from_there() {
    let desk = Desk::new(Faults::default());
    let cache = tempfile::tempdir().unwrap();
    let there = cache.path().join("models--acme--tiny");
    let snapshot = there.join("snapshots").join(COMMIT);
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::create_dir(there.join("refs")).unwrap();
    std::fs::write(there.join("refs/main"), COMMIT).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-electra");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(fixture.join(file), snapshot.join(file)).unwrap();
    }
    let hub = Hub { cache: Some(cache.path().to_owned()), ..desk.hub.clone() };
    let install = |repository: &str, name: &str| {
        let repository = Repository::parse(repository).unwrap();
        desk.encoders().install(&hub, &repository, name, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    install("acme/tiny", "by-revision");
    install(&format!("acme/tiny@{COMMIT}"), "by-commit");
    assert_eq!(desk.server.seen().len(), 0);
    std::fs::remove_file(snapshot.join("model.safetensors")).unwrap();
    install("acme/tiny", "fetched");
    assert!(desk.server.seen().len() > 3, "not whole there");
}

/// A disk that has no room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let desk = Desk::new(Faults { bare_list: true, ..Faults::default() });
    std::fs::create_dir_all(desk.part().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", desk.part()).unwrap();
    expect!["there is no room for the file; make some and fetch again to continue: No space left on device (os error 28): HOME/downloads/acme--tiny--0123456789abcdef0123456789abcdef01234567/model.safetensors.part"].assert_eq(&desk.message("acme/tiny"));
}
