//! What lies beside a project and is no file of its own: links, pipes, folders, other people's files.

use super::*;
use std::os::unix::fs::symlink;

/// As a guard against waiting for ever: a pipe without a writer blocks who opens it.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = crossbeam_channel::bounded(1);
    std::thread::Builder::new().name("within a minute".to_owned()).spawn(move || sender.send(work())).unwrap();
    result.recv_timeout(std::time::Duration::from_secs(60)).unwrap()
}

/// A closed project and a precious file elsewhere.
fn closed() -> (TempDir, PathBuf, PathBuf) {
    let (_, path, dir) = Project::new().reopen();
    let precious = dir.path().join("elsewhere");
    fs::write(&precious, "precious\n").unwrap();
    (dir, path, precious)
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn nothing_but_a_file_is_taken_for_a_part_of_a_project() {
    for end in [".lock", "-wal", "-shm", "-journal"] {
        for found in ["a link", "a dangling link", "a pipe", "a folder"] {
            let (dir, path, precious) = closed();
            let companion = PathBuf::from(format!("{}{end}", path.display()));
            match found {
                "a link" => symlink(&precious, &companion).unwrap(),
                "a dangling link" => symlink(dir.path().join("none"), &companion).unwrap(),
                "a pipe" => make_pipe(&companion),
                _ => fs::create_dir(&companion).unwrap(),
            }
            let (names, before) = (files(dir.path()), fs::read(&path).unwrap());
            let project = path.clone();
            let errors = within_a_minute(move || {
                let opened = [Store::open(&project), Store::open_to_read(&project)].map(|opened| opened.map(drop));
                let rescued = rescue(&project).map(drop);
                let _nobody = is_locked(&project);
                [opened[0].as_ref().err(), opened[1].as_ref().err(), rescued.as_ref().err()]
                    .map(|error| error.map(ToString::to_string))
            });
            for error in errors {
                let error = error.unwrap_or_else(|| panic!("{found} as {end} was taken"));
                let kind = found.strip_prefix("a dangling ").map_or(found.to_owned(), |kind| format!("a {kind}"));
                assert!(error.contains(&kind) && error.contains(end) && error.contains("left alone"), "{error}");
            }
            assert_eq!((files(dir.path()), fs::read(&path).unwrap()), (names, before), "{found} as {end}");
            assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n");
        }
    }
}

#[test]
fn a_file_that_is_no_lock_is_neither_written_nor_removed() {
    let (dir, path, precious) = closed();
    let lock = dir.path().join("p.nestling.lock");
    for text in ["precious\n", "12 things to buy\n"] {
        fs::write(&precious, text).unwrap();
        fs::hard_link(&precious, &lock).unwrap();
        let error = Store::open(&path).map(drop).unwrap_err().to_string();
        assert!(error.contains("no lock of a project") && error.contains("p.nestling.lock"), "{error}");
        assert_eq!(fs::read_to_string(&lock).unwrap(), text);
        fs::remove_file(&lock).unwrap();
    }
    // One that a crash left is taken over, and so is one of an older program and an empty one.
    for text in ["4711\n1700000000000\nanna\n", ""] {
        fs::write(&lock, text).unwrap();
        drop(Store::open(&path).unwrap());
        assert!(!lock.exists());
    }
}

#[test]
fn a_project_is_a_file_and_a_link_to_one_is_that_file() {
    let (dir, path, _) = closed();
    let pipe = dir.path().join("pipe.nestling");
    make_pipe(&pipe);
    let opened =
        within_a_minute(move || [Store::open(&pipe), Store::open_to_read(&pipe)].map(|opened| opened.map(drop)));
    for error in opened.map(Result::unwrap_err) {
        assert!(error.to_string().contains("a pipe or a device where a project file belongs"), "{error}");
    }

    let elsewhere = TempDir::new().unwrap();
    let link = elsewhere.path().join("link.nestling");
    symlink(&path, &link).unwrap();
    let store = Store::open(&link).unwrap();
    assert_eq!(store.path().file_name(), path.file_name());
    assert_eq!(files(elsewhere.path()), ["link.nestling"]);
    assert!(is_locked(&link) && is_locked(&path), "whichever name it is looked for under");
    assert!(matches!(Store::open(&path), Err(StoreError::Locked { .. })));
    drop(store);
    symlink(dir.path().join("none"), elsewhere.path().join("dangling.nestling")).unwrap();
    assert!(matches!(Store::open(&elsewhere.path().join("dangling.nestling")), Err(StoreError::Missing { .. })));

    // Through a folder that is a link a project is opened as through any other.
    let folder = elsewhere.path().join("folder");
    symlink(dir.path(), &folder).unwrap();
    assert_eq!(Store::open(&folder.join("p.nestling")).unwrap().load().unwrap().corpus.sentence_count(), 3);
}

#[test]
fn a_new_project_and_a_copy_are_made_through_no_link() {
    let (dir, path, precious) = closed();
    let store = Store::open(&path).unwrap();
    for (name, target) in [("to.nestling", precious.clone()), ("dangling.nestling", dir.path().join("none"))] {
        let link = dir.path().join(name);
        symlink(&target, &link).unwrap();
        assert!(matches!(Store::create(&link, &NewProject::default()), Err(StoreError::Exists { .. })));
        assert!(matches!(store.save_copy(&link), Err(StoreError::Exists { .. })));
    }
    assert!(!dir.path().join("none").exists());
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious\n");
}

#[test]
fn a_copy_is_made_of_an_old_file_whatever_has_its_name() {
    for found in ["a link", "another file", "another project"] {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("p.nestling");
        let fixture = |version| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/store/version-{version}.nestling"))
        };
        fs::copy(fixture(1), &path).unwrap();
        let name = dir.path().join("p.version-1.nestling");
        match found {
            "a link" => symlink(dir.path().join("none"), &name).unwrap(),
            "another file" => fs::write(&name, "notes").unwrap(),
            _ => {
                fs::copy(fixture(1), &name).unwrap();
                let db = rusqlite::Connection::open(&name).unwrap();
                db.execute_batch("UPDATE project SET revision = revision + 1; PRAGMA wal_checkpoint(TRUNCATE)")
                    .unwrap();
            }
        }
        drop(Store::open(&path).unwrap());
        let copy = dir.path().join("p.version-1-2.nestling");
        let db = rusqlite::Connection::open(&copy).unwrap();
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 1, "{found}");
    }
}
