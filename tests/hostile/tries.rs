//! All that the program does with a file, tried on one that may be anything.

use super::memory;
use super::project::{Place, span};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use nestling::annotation::*;
use nestling::session::{self, Command, Home, Order};
use nestling::store::{Store, StoreError, rescue};
use std::time::Duration;

/// A file is done with in a second or so; a debug build on a busy machine takes longer.
const LONGEST: Duration = Duration::from_secs(180);

/// Says which file it was when a test fails, and ends the tests when one hangs.
pub(crate) struct Trying {
    what: String,
    _done: Sender<()>,
}

impl Trying {
    pub(crate) fn new(what: String) -> Self {
        let (done, is_done) = bounded::<()>(0);
        let told = what.clone();
        let watching = std::thread::Builder::new().name("watching".to_owned()).spawn(move || {
            if is_done.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                eprintln!("this takes far too long: {told}");
                std::process::abort();
            }
        });
        watching.unwrap();
        Self { what, _done: done }
    }
}

impl Drop for Trying {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("while trying: {}", self.what);
        }
    }
}

/// What came of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) tried: usize,
    pub(crate) read: usize,
    pub(crate) sound: usize,
    pub(crate) rescued: usize,
}

impl Outcomes {
    pub(crate) fn add(&mut self, other: Self) {
        self.tried += other.tried;
        self.read += other.read;
        self.sound += other.sound;
        self.rescued += other.rescued;
    }
}

/// Looks at it, rescues it, works in it.
pub(crate) fn try_all(file: &[u8], what: String) -> Outcomes {
    let _trying = Trying::new(what.clone());
    let mut outcomes = Outcomes { tried: 1, ..Outcomes::default() };
    let place = Place::with(file);
    if let Ok(store) = Store::open_to_read(&place.path()) {
        let loaded = store.load().is_ok();
        let checked = store.check();
        outcomes.read += usize::from(loaded);
        outcomes.sound += usize::from(loaded && checked.is_ok_and(|problems| problems.is_empty()));
        let _ = (store.newest_of_log(50, None), store.newest_of_log(5, Some(SentenceId(0))));
        let _ = (store.read_log(|_| ()), store.find("harbour bo"), store.find("aarhus"));
    }
    let _ = session::check_project(&place.path());
    drop(place);
    outcomes.rescued += usize::from(is_rescued(file));
    work(file, outcomes.sound > 0);
    memory::check(&what);
    outcomes
}

/// What a rescue says it has saved is there, and sound.
fn is_rescued(file: &[u8]) -> bool {
    let place = Place::with(file);
    let rescued = match rescue(&place.path()) {
        Ok(rescued) => rescued,
        Err(StoreError::BeyondRescue { .. } | StoreError::Foreign { .. } | StoreError::Newer { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    assert!(place.bytes() == file, "the damaged file was changed");
    let store = Store::open(&rescued.path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let corpus = store.load().unwrap().corpus;
    let mentions: usize = corpus.all_sentences().map(|s| s.mentions().len()).sum();
    let found = (corpus.all_documents().len(), corpus.all_sentences().count(), mentions);
    assert_eq!(found, (rescued.documents, rescued.sentences, rescued.mentions));
    assert!(rescued.lost.len() < 500, "{} lines", rescued.lost.len());
    true
}

/// As a person who opens it: looks around, undoes all, does something, closes.
fn work(file: &[u8], is_sound: bool) {
    let place = Place::with(file);
    let home = Home::at(place.dir.path().join("home"));
    let Ok(mut project) = session::Driver::open(&home, &place.path()) else { return };
    let first = project.corpus().sentences().next().map(Sentence::id);
    let _ = (project.documents().len(), project.models().count(), project.learning_curve());
    let _ = (project.history_now(20, None), project.costs().wait());
    for id in project.corpus().sentences().map(Sentence::id).take(5).collect::<Vec<_>>() {
        let _ = (project.visible_suggestions(id).len(), project.status_before_flag(id));
        let _ = project.run(Command::AcceptAll { sentence: id, min_score: 0.0 });
    }
    if let Some(first) = first {
        let _ = (project.next_sentence(first, Order::Teaching), project.next_sentence(first, Order::Text));
        let _ = project.run(Command::Annotate { sentence: first, fragments: span(0, 1).into(), label: LabelId(1) });
        let _ = project.run(Command::SetStatus { sentence: first, status: Status::Complete });
        let _ = project.run(Command::JoinSentences { sentence: first });
    }
    let _ = project.run(Command::AddLabel { name: "NEW".to_owned() });
    while project.run(Command::Undo).is_ok() {}
    while project.run(Command::Redo).is_ok() {}
    let closed = project.close();
    if is_sound && closed.is_ok() {
        // What was sound can be read again after working in it.
        Store::open(&place.path()).and_then(|store| store.load()).unwrap();
    }
}
