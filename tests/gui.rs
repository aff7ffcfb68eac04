//! The window without a window: the main job played through with keys and the mouse.
//!
//! Everything that a person sees is found by the name that a screen reader says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

use eframe::egui::{DroppedFile, Event, Key, Modifiers, Pos2, Role, ViewportCommand, ViewportEvent, ViewportId, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::annotation::{SentenceId, Status};
use nestling::gui::{Desk, FilePicker, Window, Wish};
use nestling::session::{
    Command, Home, ImportAs, ImportHow, NewProject, Project, ReadRequest, SaveState, Setting, read_files,
};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Stands for the desktop's file dialog: gives what the test wants next.
#[derive(Default)]
struct Fake {
    next: Mutex<Vec<PathBuf>>,
}

impl FilePicker for Fake {
    fn pick(&self, _wish: &Wish) -> Vec<PathBuf> {
        std::mem::take(&mut self.next.lock().unwrap())
    }
}

struct Stage {
    dir: tempfile::TempDir,
    picker: Arc<Fake>,
    foreign: bool,
}

/// A file that is let go on the window.
#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

type Slot = Rc<RefCell<Option<Window>>>;

/// The window in a harness.
struct Page {
    harness: Harness<'static, Slot>,
}

impl Stage {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), picker: Arc::new(Fake::default()), foreign: false }
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A project that trains only when asked, with what a file holds.
    fn project(&self, labels: &[&str], file: &Path, how: ImportHow) -> PathBuf {
        let path = self.path("project.nestling");
        let new = NewProject::with_labels(labels).unwrap();
        let mut project = Project::create(&self.home(), &path, &new).unwrap();
        project.run(Command::Set(Setting::AutoTrain(false))).unwrap();
        project.import(read_files(&[file.to_owned()], &ReadRequest::default()).unwrap(), how).unwrap();
        project.close().unwrap();
        path
    }

    /// A second project, with nothing in it.
    fn empty_project(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let new = NewProject::with_labels(["PER"]).unwrap();
        Project::create(&self.home(), &path, &new).unwrap().close().unwrap();
        path
    }

    /// A window on a project of these sentences.
    fn annotating(&self, sentences: &str) -> Page {
        let file = self.write("story.txt", sentences);
        let project = self.project(&["PER", "ORG", "LOC"], &file, ImportHow::default());
        self.open(&project)
    }

    fn open(&self, project: &Path) -> Page {
        let mut page = self.window(Some(project));
        page.wait("the project to open", |page| page.is_open());
        page.step();
        page
    }

    fn window(&self, start: Option<&Path>) -> Page {
        let (home, picker, start) = (self.home(), self.picker.clone(), start.map(Path::to_owned));
        let slot = Slot::default();
        let made = slot.clone();
        // What the program itself says must have its glyphs; a corpus may need fonts that are not here.
        let builder = Harness::builder();
        let harness = if self.foreign { builder.allow_missing_glyphs() } else { builder }
            .with_size([1280.0, 860.0])
            .with_step_dt(1.0 / 60.0)
            .with_context_setup(move |ctx| {
                *made.borrow_mut() = Some(Window::new(ctx, home, picker, start));
            })
            .build_ui_state(
                |ui, slot: &mut Slot| {
                    if let Some(window) = slot.borrow_mut().as_mut() {
                        window.logic(&ui.ctx().clone());
                        window.ui(ui);
                    }
                },
                slot,
            );
        Page { harness }
    }
}

impl Page {
    fn step(&mut self) {
        self.harness.run_steps(3);
    }

    fn wait(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < Duration::from_secs(120), "waited too long for {what}");
            self.harness.run_steps(1);
            std::thread::sleep(Duration::from_millis(5));
        }
        self.step();
    }

    fn is_open(&self) -> bool {
        self.harness.state().borrow().as_ref().is_some_and(|window| window.desk().is_some())
    }

    fn see<R>(&self, look: impl FnOnce(&Desk) -> R) -> R {
        let slot = self.harness.state().borrow();
        look(slot.as_ref().and_then(Window::desk).expect("a project is open"))
    }

    /// The mentions of a sentence as "ORG: the Harbour Board".
    fn mentions(&self, sentence: u32) -> Vec<String> {
        self.see(|desk| {
            let corpus = desk.project.corpus();
            let sentence = corpus.sentence(SentenceId(sentence)).unwrap();
            let shown = sentence.mentions().iter().map(|m| {
                let name = &corpus.labels().get(m.label).unwrap().name;
                format!("{name}: {}", corpus.span_text(sentence, m.hull()))
            });
            shown.collect()
        })
    }

    fn status(&self, sentence: u32) -> Status {
        self.see(|desk| desk.project.corpus().sentence(SentenceId(sentence)).unwrap().status())
    }

    fn current(&self) -> u32 {
        self.see(|desk| desk.view.current().unwrap().0)
    }

    fn key(&mut self, key: Key) {
        self.press(Modifiers::NONE, key);
    }

    fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.step();
    }

    fn keys(&mut self, keys: &[Key]) {
        keys.iter().for_each(|key| self.key(*key));
    }

    fn character(&mut self, text: &str) {
        self.harness.event(Event::Text(text.to_owned()));
        self.step();
    }

    fn click(&mut self, name: &str) {
        self.harness.get_by_label(name).click();
        self.step();
    }

    fn fill(&mut self, field: &str, text: &str) {
        self.field(field).focus();
        self.step();
        self.press(Modifiers::COMMAND, Key::A);
        self.type_into(field, text);
    }

    fn type_into(&mut self, field: &str, text: &str) {
        self.field(field).type_text(text);
        self.step();
    }

    fn field<'p>(&'p self, name: &'p str) -> egui_kittest::Node<'p> {
        let fields = self.harness.get_all_by_label(name);
        let is_input = |n: &egui_kittest::Node<'_>| {
            matches!(n.accesskit_node().role(), Role::TextInput | Role::MultilineTextInput)
        };
        fields.into_iter().find(is_input).expect("a field")
    }

    fn shows(&self, name: &str) -> bool {
        self.harness.query_by_label(name).is_some()
    }

    fn shows_part(&self, name: &str) -> bool {
        self.harness.query_all_by_label_contains(name).next().is_some()
    }

    fn drag(&mut self, from: Pos2, to: Pos2) {
        self.harness.hover_at(from);
        self.harness.run_steps(1);
        self.harness.drag_at(from);
        self.harness.run_steps(1);
        for step in 1..=4 {
            self.harness.hover_at(from + (to - from) * (step as f32 / 4.0));
            self.harness.run_steps(1);
        }
        self.harness.drop_at(to);
        self.step();
    }

    fn drop_file(&mut self, path: &Path) {
        self.harness.input_mut().dropped_files.push(Arc::new(Dropped(path.to_owned())));
        self.step();
    }

    /// Presses the window's own button; true when the window stays.
    fn refuses_to_close(&mut self) -> bool {
        let viewports = &mut self.harness.input_mut().viewports;
        viewports.entry(ViewportId::ROOT).or_default().events.push(ViewportEvent::Close);
        self.harness.run_steps(1);
        let commands = self.harness.output().viewport_output.get(&ViewportId::ROOT).map(|v| v.commands.clone());
        let viewports = &mut self.harness.input_mut().viewports;
        viewports.entry(ViewportId::ROOT).or_default().events.clear();
        self.harness.run_steps(1);
        commands.unwrap_or_default().contains(&ViewportCommand::CancelClose)
    }

    fn project_name(&self) -> String {
        self.see(|desk| desk.project.name())
    }

    fn center(&self, name: &str) -> Pos2 {
        self.harness.get_by_label(name).rect().center()
    }

    fn close(self) {
        if let Some(window) = self.harness.state().borrow_mut().as_mut() {
            window.close();
        }
    }
}

const STORY: &str = "The mayor of Aarhus met Anna Berg, chair of the Harbour Board.\n\
                     It rained for three days.\n\
                     Anna Berg left for Lund.\n";

#[test]
fn the_main_job_by_keyboard_from_a_new_project_to_an_export_and_back() {
    let stage = Stage::new();
    let text = stage.write("story.txt", STORY);
    let mut page = stage.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.press(Modifiers::COMMAND, Key::N);
    page.wait("the dialog", |page| page.shows("Create the project"));
    page.fill("Name", "Ferry news");
    let project = stage.path("ferry.nestling");
    page.fill("File", &project.display().to_string());
    page.fill("Labels", "PER, ORG\nLOC");
    page.click("Create the project");
    page.wait("the project", Page::is_open);
    assert!(page.shows("This project has no texts yet"));

    page.press(Modifiers::COMMAND, Key::I);
    page.type_into("Files", &text.display().to_string());
    page.key(Key::Enter);
    page.wait("the preview", |page| page.shows("Import 3 sentences"));
    assert!(page.shows("Plain text: 1 document, 3 sentences, 0 mentions"));
    page.click("Import 3 sentences");
    page.wait("the import", |page| page.shows("Annotate"));
    page.key(Key::Enter);
    assert!(page.shows("word 4: Aarhus"));

    // The mayor of Aarhus: Aarhus first, then its parent.
    page.keys(&[Key::ArrowRight, Key::ArrowRight, Key::ArrowRight]);
    page.character("l");
    assert_eq!(page.mentions(0), ["LOC: Aarhus"]);
    page.keys(&[Key::Home]);
    for _ in 0..3 {
        page.press(Modifiers::SHIFT, Key::ArrowRight);
    }
    page.character("P");
    assert_eq!(page.mentions(0), ["PER: The mayor of Aarhus", "LOC: Aarhus"]);
    page.key(Key::Space);
    assert_eq!((page.status(0), page.current()), (Status::Complete, 1));
    page.key(Key::Space);
    page.character("n");
    assert_eq!(page.current(), 2, "no other sentence waits");

    page.press(Modifiers::COMMAND, Key::E);
    let file = stage.path("out.jsonl");
    page.fill("File", &file.display().to_string());
    page.click("Write the file");
    page.wait("the export", |page| page.shows("Read back and compared: nothing is missing."));
    assert!(page.shows("1 sentence was left out because not complete."));
    assert!(std::fs::read_to_string(&file).unwrap().contains("Aarhus"));
    page.click("Close");

    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    page.close();
    let page = stage.open(&project);
    assert_eq!(page.mentions(0), ["PER: The mayor of Aarhus", "LOC: Aarhus"]);
    assert_eq!(page.status(1), Status::Complete);
    assert_eq!(page.current(), 2, "it opens where there is something to do");
}

#[test]
fn the_main_job_by_mouse() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    let (from, to) = (page.center("word 6: Anna"), page.center("word 7: Berg"));
    page.drag(from - vec2(10.0, 0.0), to);
    let labels: Vec<_> = page.harness.query_all_by_label_contains("PER").collect();
    assert_eq!(labels.len(), 3, "labels are offered beside the selection");
    drop(labels);
    page.click("PER  P");
    assert_eq!(page.mentions(0), ["PER: Anna Berg"]);
    page.click("label ORG");
    assert_eq!(page.mentions(0), ["ORG: Anna Berg"], "a label of the panel relabels the selected mention");
    page.click("word 4: Aarhus");
    page.click("label LOC");
    page.click("mention ORG: Anna Berg");
    page.click("Remove");
    assert_eq!(page.mentions(0), ["LOC: Aarhus"]);
    page.harness.get_by_label_contains("sentence 3, untouched").click();
    page.step();
    assert_eq!(page.current(), 2);
}

#[test]
fn a_mention_is_wrapped_moved_removed_and_brought_back() {
    let stage = Stage::new();
    let mut page = stage.annotating("chair of the Harbour Board of Lund\n");
    page.keys(&[Key::ArrowRight, Key::ArrowRight, Key::ArrowRight]);
    page.character("l");
    page.press(Modifiers::COMMAND, Key::ArrowUp);
    page.character("o");
    assert_eq!(page.mentions(0), ["ORG: Harbour Board", "LOC: Harbour"]);
    page.press(Modifiers::ALT.plus(Modifiers::SHIFT), Key::ArrowLeft);
    page.press(Modifiers::ALT, Key::ArrowRight);
    page.press(Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "LOC: Harbour"]);
    page.key(Key::Tab);
    page.character("p");
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "PER: Harbour"]);
    page.key(Key::Delete);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "LOC: Harbour"]);
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "PER: Harbour"]);
}

/// One sentence with three suggestions.
fn suggesting(stage: &Stage) -> Page {
    let line = r#"{"text":"Anna Berg left Lund for the Board","tokens":["Anna","Berg","left","Lund","for","the","Board"],"entities":[{"start":0,"end":2,"label":"PER","score":0.9},{"start":3,"end":4,"label":"LOC","score":0.6},{"start":5,"end":7,"label":"ORG","score":0.85},{"start":6,"end":7,"label":"ORG","score":0.2}]}"#;
    let file = stage.write("suggested.jsonl", &format!("{line}\n"));
    let how = ImportHow { kind: Some(ImportAs::Suggestions), split: None };
    let project = stage.project(&["PER", "ORG", "LOC"], &file, how);
    stage.open(&project)
}

#[test]
fn suggestions_are_accepted_and_rejected_with_keys() {
    let stage = Stage::new();
    let mut page = suggesting(&stage);
    assert!(page.shows("suggestion PER 0.90: Anna Berg"));
    assert!(!page.shows_part("suggestion ORG 0.20"), "it is below the threshold");
    page.keys(&[Key::Tab, Key::Enter]);
    assert_eq!(page.mentions(0), ["PER: Anna Berg"]);
    page.character("x");
    assert!(!page.shows_part("suggestion LOC"), "rejected: the next one was picked after accepting");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: the Board"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows("suggestion LOC 0.60: Lund"));
}

#[test]
fn all_sure_suggestions_are_accepted_at_once_and_taken_back_at_once() {
    let stage = Stage::new();
    let mut page = suggesting(&stage);
    page.press(Modifiers::SHIFT, Key::Enter);
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: the Board"]);
    assert!(page.shows("suggestion LOC 0.60: Lund"), "it is not sure enough");
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.mentions(0).is_empty());
}

#[test]
fn another_label_on_a_suggestion_corrects_it_and_a_double_click_accepts_it() {
    let stage = Stage::new();
    let mut page = suggesting(&stage);
    page.click("suggestion LOC 0.60: Lund");
    page.character("o");
    assert_eq!(page.mentions(0), ["ORG: Lund"]);
    page.harness.run_steps(30);
    for _ in 0..2 {
        page.harness.get_by_label("suggestion PER 0.90: Anna Berg").click();
        page.harness.run_steps(1);
    }
    page.step();
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: Lund"]);
}

#[test]
fn keys_belong_to_a_field_while_somebody_types_in_it() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "p rained x");
    page.key(Key::Space);
    assert!(page.mentions(0).is_empty());
    assert_eq!((page.status(0), page.current()), (Status::Untouched, 0));
    assert!(page.shows("nothing found"));
    page.fill("Find sentences", "rained");
    assert!(page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 1);
    page.step();
    page.character("p");
    assert_eq!(page.mentions(1), ["PER: It"], "after Enter the keys are the sentence's again");
}

#[test]
fn a_note_is_kept_with_its_mention() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::M);
    page.type_into("Note on the mention", "really?");
    page.key(Key::Escape);
    page.step();
    let note = page.see(|d| d.project.corpus().sentence(SentenceId(0)).unwrap().mentions()[0].note.clone());
    assert_eq!(note, "really?");
}

#[test]
fn labels_are_added_changed_and_kept_while_they_are_used() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::L);
    page.type_into("Name in files", "DATE");
    page.key(Key::Enter);
    assert!(page.shows("label DATE"));
    page.click("change label PER");
    page.fill("Key (one character, or empty)", "d");
    assert!(page.shows_part("belongs to the label \"DATE\""));
    page.fill("Key (one character, or empty)", "q");
    page.click("Save");
    page.key(Key::ArrowRight);
    page.character("q");
    assert_eq!(page.mentions(0).len(), 2);
    page.click("change label PER");
    assert!(page.shows_part("2 mentions have this label"));
}

#[test]
fn an_error_says_what_to_do_and_the_window_goes_on() {
    let stage = Stage::new();
    let no_project = stage.write("broken.nestling", "this is no project");
    let mut page = stage.window(Some(&no_project));
    page.wait("the error", |page| page.shows("This did not work"));
    assert!(page.shows("Copy"));
    page.click("Close");
    assert!(page.shows("New project"));
}

#[test]
fn a_project_stays_open_when_another_one_can_not_be_opened() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::O);
    page.type_into("Project file", &stage.path("missing.nestling").display().to_string());
    page.key(Key::Enter);
    page.wait("the error", |page| page.shows("This did not work"));
    page.click("Close");
    assert!(page.is_open());
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn a_file_with_bad_lines_is_shown_with_all_its_warnings() {
    let stage = Stage::new();
    let file = stage.write("some.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[]}\n{broken\n");
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    *stage.picker.next.lock().unwrap() = vec![file];
    page.click("Choose …");
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    assert!(page.shows("1 warning"));
    assert!(page.shows_part("line 2"));
    page.key(Key::Escape);
    assert!(page.shows("word 1: The"));
}

#[test]
fn options_of_one_format_are_not_asked_of_another() {
    let stage = Stage::new();
    let text = stage.write("more.txt", STORY);
    let lines = stage.write("some.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[]}\n");
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    for (file, button) in [(&text, "Import 3 sentences"), (&lines, "Import 1 sentence"), (&text, "Import 3 sentences")]
    {
        *stage.picker.next.lock().unwrap() = vec![file.clone()];
        page.click("Choose …");
        page.wait("the preview", |page| page.shows(button));
    }
    page.harness.get_by_role_and_label(Role::ComboBox, "unit").click();
    page.step();
    page.click("prose");
    page.wait("the preview", |page| page.shows("Import 3 sentences"));
    *stage.picker.next.lock().unwrap() = vec![lines];
    page.click("Choose …");
    page.wait("the preview of the other", |page| page.shows("Import 1 sentence"));
}

/// Keeps the file from being written; let go, it goes on. The writer waits for five seconds.
fn hold(project: &Path) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(project).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db
}

/// A window whose import is being written, and what keeps it from its end.
fn importing(stage: &Stage) -> (Page, PathBuf, rusqlite::Connection) {
    let file = stage.write("story.txt", STORY);
    let project = stage.project(&["PER"], &file, ImportHow::default());
    let mut page = stage.open(&project);
    let held = hold(&project);
    let more = stage.write("more.txt", "One more .\n");
    page.drop_file(&more);
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    page.click("Import 1 sentence");
    assert!(page.shows("Writing …"));
    (page, project, held)
}

#[test]
fn nothing_gets_between_an_import_and_its_project() {
    let stage = Stage::new();
    let other = stage.empty_project("other.nestling");
    let (mut page, _, held) = importing(&stage);
    let more = stage.path("more.txt");
    page.drop_file(&other);
    page.drop_file(&more);
    page.key(Key::Escape);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::W);
    assert!(page.shows("Writing …"));
    drop(held);
    page.wait("the import", |page| page.shows("Annotate"));
    page.key(Key::Enter);
    assert_eq!(page.project_name(), "project");
    assert_eq!(page.see(|desk| desk.project.corpus().sentence_count()), 4);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
}

#[test]
fn closing_the_window_waits_for_an_import() {
    let stage = Stage::new();
    let (page, project, held) = importing(&stage);
    let let_go = move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    };
    let letting_go = std::thread::Builder::new().name("lets go".to_owned()).spawn(let_go).unwrap();
    page.close();
    letting_go.join().unwrap();
    let page = stage.open(&project);
    assert_eq!(page.see(|desk| desk.project.corpus().sentence_count()), 4);
}

#[test]
fn closing_the_window_waits_for_a_project_that_is_being_opened() {
    let stage = Stage::new();
    let project = stage.empty_project("empty.nestling");
    let mut page = stage.window(Some(&project));
    page.harness.run_steps(1);
    page.close();
    // Nobody holds it any more.
    Project::open(&stage.home(), &project).unwrap().close().unwrap();
}

#[test]
fn unsaved_changes_are_not_given_up_without_a_word() {
    let stage = Stage::new();
    let file = stage.write("story.txt", STORY);
    let project = stage.project(&["PER"], &file, ImportHow::default());
    let other = stage.empty_project("other.nestling");
    let mut page = stage.open(&project);
    let db = rusqlite::Connection::open(&project).unwrap();
    let break_it =
        || db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END");
    break_it().unwrap();
    let told = |page: &mut Page| {
        let told = page.shows("Some changes are not saved");
        if told {
            page.click("Close");
        }
        told && page.is_open() && page.project_name() == "project"
    };
    page.character("p");
    page.wait("the failure", |page| page.shows("Try again"));
    page.press(Modifiers::COMMAND, Key::W);
    assert!(told(&mut page), "by Ctrl+W");

    // Mended, and broken again: told again.
    for how in ["drop", "open", "new", "window"] {
        db.execute_batch("DROP TRIGGER fail").unwrap();
        page.click("Try again");
        page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
        break_it().unwrap();
        page.character("f");
        page.wait("the failure", |page| page.shows("Try again"));
        match how {
            "drop" => page.drop_file(&other),
            "open" => {
                page.press(Modifiers::COMMAND, Key::O);
                page.type_into("Project file", &other.display().to_string());
                page.key(Key::Enter);
            }
            "new" => {
                page.press(Modifiers::COMMAND, Key::N);
                page.click("Create the project");
            }
            _ => {
                assert!(page.refuses_to_close());
                assert!(told(&mut page), "by {how}");
                assert!(!page.refuses_to_close(), "told once");
                continue;
            }
        }
        assert!(told(&mut page), "by {how}");
        if page.shows("Cancel") {
            page.click("Cancel");
        }
    }
    page.drop_file(&other);
    page.wait("the other project", |page| page.is_open() && page.project_name() == "other");
}

#[test]
fn dropped_texts_are_forgotten_when_no_project_is_made_for_them() {
    let stage = Stage::new();
    let text = stage.write("more.txt", STORY);
    let project = stage.empty_project("empty.nestling");
    let mut page = stage.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.drop_file(&text);
    assert!(page.shows("Create the project"));
    page.click("Cancel");
    page.drop_file(&project);
    page.wait("the project", Page::is_open);
    assert!(page.shows("This project has no texts yet") && !page.shows("Read"), "no dialog");
    page.press(Modifiers::COMMAND, Key::W);
    page.wait("the start page", |page| page.shows("New project"));

    page.drop_file(&text);
    page.fill("File", &stage.path("made.nestling").display().to_string());
    page.click("Create the project");
    page.wait("the preview", |page| page.shows("Import 3 sentences"));
}

#[test]
fn an_export_is_said_to_be_compared_only_when_it_was() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::E);
    page.fill("File", &stage.path("out.jsonl").display().to_string());
    page.click("Write the file");
    page.wait("the export", |page| page.shows_part("3 sentences were left out"));
    assert!(!page.shows_part("Read back"));
}

#[test]
fn a_notice_on_what_was_undone_goes_with_the_next_edit() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows_part("Undone: "));
    page.key(Key::ArrowRight);
    assert!(page.shows_part("Undone: "));
    page.character("p");
    assert!(!page.shows_part("Undone: "));
}

#[test]
fn what_comes_next_is_in_sight_in_the_list() {
    let stage = Stage::new();
    let mut text = String::new();
    for number in 1..=200 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = stage.annotating(&text);
    for number in 1..60 {
        page.key(Key::ArrowDown);
        assert_eq!(page.current(), number);
        let next = format!("sentence {}, untouched", number + 3);
        let row = page.harness.get_by_label_contains(&next).rect();
        assert!(row.bottom() < 780.0, "{next}: {row}");
    }
}

#[test]
fn a_hundred_thousand_sentences_scroll_and_search() {
    let stage = Stage::new();
    let mut text = String::new();
    for number in 0..20_000 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = stage.annotating(&text);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "number 19999");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 19_999);
    let start = Instant::now();
    page.harness.run_steps(20);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?} for 20 frames", start.elapsed());
}

#[test]
fn f6_leads_from_the_sentence_to_the_controls_and_back() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.key(Key::F6);
    page.key(Key::Tab);
    page.character("p");
    page.key(Key::Delete);
    assert!(page.mentions(0).is_empty(), "the keys are those of the controls");
    page.key(Key::F6);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn left_is_left_in_arabic_too() {
    let stage = Stage { foreign: true, ..Stage::new() };
    let mut page = stage.annotating("زار محمد القاهرة\n");
    page.key(Key::ArrowLeft);
    page.press(Modifiers::SHIFT, Key::ArrowLeft);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: محمد القاهرة"]);
}

#[test]
fn the_cursor_stays_in_sight_in_a_long_sentence() {
    let stage = Stage::new();
    let mut page = stage.annotating(&format!("{}end\n", "a very long sentence ".repeat(200)));
    page.key(Key::End);
    let word = page.harness.get_by_label("word 801: end").rect();
    assert!(word.top() > 60.0 && word.bottom() < 820.0, "{word}");
    page.key(Key::Home);
    let word = page.harness.get_by_label("word 1: a").rect();
    assert!(word.top() > 60.0 && word.bottom() < 820.0, "{word}");
}

#[test]
fn the_palette_lists_and_calls_every_command() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "flag");
    page.key(Key::Enter);
    assert_eq!(page.status(0), Status::Flagged);
    page.character("?");
    assert!(page.shows("Flag for a second look"));
    page.key(Key::Escape);
    page.character("f");
    assert_eq!(page.status(0), Status::InProgress);
}

/// Trains a model in earnest, which takes some seconds.
#[test]
fn a_model_learns_suggests_and_its_news_wait_until_they_are_asked_for() {
    let stage = Stage::new();
    let mut lines = String::new();
    for name in ["Anna", "Bo", "Ida", "Kai", "Mia", "Ole", "Pia", "Tom", "Uwe", "Eva"] {
        lines.push_str(&format!(
            r#"{{"tokens":["{name}","left","Lund","."],"entities":[{{"start":0,"end":1,"label":"PER"}},{{"start":2,"end":3,"label":"LOC"}}],"status":"complete"}}"#
        ));
        lines.push('\n');
    }
    for words in [r#""Anna","saw","Lund",".""#, r#""Bo","left","Lund",".""#] {
        lines.push_str(&format!("{{\"tokens\":[{words}],\"entities\":[],\"status\":\"untouched\"}}\n"));
    }
    let file = stage.write("gold.jsonl", &lines);
    let how = ImportHow { kind: Some(ImportAs::Gold), split: None };
    let mut page = stage.open(&stage.project(&["PER", "LOC"], &file, how));
    assert_eq!(page.current(), 10);
    assert!(page.shows_part("There is no model yet"));

    page.press(Modifiers::COMMAND, Key::T);
    assert!(page.shows_part("Training model 1 on"));
    page.wait("the first model", |page| page.shows_part("Suggestions: model 1"));
    page.wait("its suggestions", |page| page.shows_part("of model 1"));
    assert!(page.see(|desk| desk.view.model().is_some()), "they appear at once where there was nothing");

    page.see(|desk| assert!(!desk.view.has_news()));
    let shown = page.see(|desk| desk.view.content().key);
    page.press(Modifiers::COMMAND, Key::T);
    page.wait("the second model", |page| {
        page.see(|desk| desk.project.learner().current.as_ref().is_some_and(|m| m.id.0 == 2))
    });
    page.wait("its suggestions", |page| {
        page.see(|desk| {
            let sentence = desk.view.current().unwrap();
            desk.project.suggestions(sentence).is_some_and(|s| s.model.0 == 2)
        })
    });
    if page.see(|desk| desk.view.has_news()) {
        assert_eq!(page.see(|desk| desk.view.content().key), shown, "nothing moves under the cursor");
        assert!(page.shows_part("New suggestions are ready"));
        page.key(Key::F5);
    }
    assert_eq!(page.see(|desk| desk.view.model().unwrap().0), 2);
}
