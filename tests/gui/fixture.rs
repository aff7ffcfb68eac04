//! The window in a harness, and what tests do to it.

use eframe::egui::epaint::text::FontInsert;
use eframe::egui::{
    DroppedFile, Event, Key, Modifiers, PointerButton, Pos2, Role, UiBuilder, ViewportCommand, ViewportEvent,
    ViewportId,
};
use egui_kittest::kittest::{NodeT, Queryable};
use egui_kittest::{Harness, HarnessBuilder};
use nestling::annotation::{SentenceId, Status};
use nestling::gui::{FilePicker, FileRequest, Window, Workspace};
use nestling::session::{Command, Driver, Home, ImportHow, NewProject, Order, ReadRequest, Setting, read_files};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) const STORY: &str = "The mayor of Aarhus met Anna Berg, chair of the Harbour Board.\n\
                     It rained for three days.\n\
                     Anna Berg left for Lund.\n";

/// Stands for the desktop's file dialog: gives what the test wants next.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) next: Mutex<Vec<PathBuf>>,
}

impl FilePicker for Fake {
    fn pick(&self, _request: &FileRequest) -> Vec<PathBuf> {
        std::mem::take(&mut self.next.lock().unwrap())
    }
}

pub(crate) struct Fixture {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) picker: Arc<Fake>,
    pub(crate) foreign: bool,
}

/// What the pointer does on its way, pressing at the first place and letting go at the last one.
pub(crate) fn dragged(way: &[Pos2]) -> Vec<Event> {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let mut events = Vec::new();
    for (at, pos) in way.iter().enumerate() {
        events.push(Event::PointerMoved(*pos));
        events.extend((at == 0).then(|| button(*pos, true)));
        events.extend((at + 1 == way.len()).then(|| button(*pos, false)));
    }
    events
}

pub(crate) fn clicked(at: Pos2) -> Vec<Event> {
    dragged(&[at])
}

/// A key that is pressed and let go, with the text that it types.
pub(crate) fn typed(key: Key, modifiers: Modifiers, text: &str) -> Vec<Event> {
    let event = |pressed| Event::Key { key, pressed, modifiers, repeat: false, physical_key: None };
    let text = Some(Event::Text(text.to_owned())).filter(|_| !text.is_empty());
    [event(true)].into_iter().chain(text).chain([event(false)]).collect()
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

pub(crate) type Slot = Rc<RefCell<Option<Window>>>;

/// The window in a harness.
pub(crate) struct Page {
    pub(crate) harness: Harness<'static, Slot>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), picker: Arc::new(Fake::default()), foreign: false }
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A project that trains only when asked, gone through in the order of the text, with what a file holds.
    pub(crate) fn project(&self, labels: &[&str], file: &Path, how: ImportHow) -> PathBuf {
        let path = self.path("project.nestling");
        let new = NewProject { encoder: Some("small".to_owned()), ..NewProject::with_labels(labels).unwrap() };
        let mut project = Driver::create(&self.home(), &path, &new).unwrap();
        for setting in [Setting::AutoTrain(false), Setting::Order(Order::Text)] {
            project.run(Command::Set(setting)).unwrap();
        }
        project.import(read_files(&[file.to_owned()], &ReadRequest::default()).unwrap(), how).unwrap();
        project.close().unwrap();
        path
    }

    /// A second project, with nothing in it.
    pub(crate) fn empty_project(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let new = NewProject::with_labels(["PER"]).unwrap();
        Driver::create(&self.home(), &path, &new).unwrap().close().unwrap();
        path
    }

    /// A window on a project of these sentences.
    pub(crate) fn annotating(&self, sentences: &str) -> Page {
        let file = self.write("story.txt", sentences);
        let project = self.project(&["PER", "ORG", "LOC"], &file, ImportHow::default());
        self.open(&project)
    }

    pub(crate) fn open(&self, project: &Path) -> Page {
        let mut page = self.window(Some(project));
        page.wait("the project to open", |page| page.is_open());
        page.step();
        page
    }

    pub(crate) fn window(&self, start: Option<&Path>) -> Page {
        // What the program itself says must have its glyphs; a corpus may need fonts that are not here.
        let builder = Harness::builder().with_size([1280.0, 860.0]);
        let builder = if self.foreign { builder.allow_missing_glyphs() } else { builder };
        self.window_in(builder, Vec::new(), start)
    }

    /// A window in a harness of the test's own making, with fonts for what the program's have no glyphs for.
    pub(crate) fn window_in(
        &self,
        builder: HarnessBuilder<Slot>,
        fonts: Vec<FontInsert>,
        start: Option<&Path>,
    ) -> Page {
        let (home, picker, start) = (self.home(), self.picker.clone(), start.map(Path::to_owned));
        let slot = Slot::default();
        let made = slot.clone();
        let harness = builder
            .with_step_dt(1.0 / 60.0)
            .with_context_setup(move |ctx| {
                *made.borrow_mut() = Some(Window::new(ctx, home, picker, start));
                fonts.into_iter().for_each(|font| ctx.add_font(font));
            })
            .build_ui_state(
                |ui, slot: &mut Slot| {
                    if let Some(window) = slot.borrow_mut().as_mut() {
                        window.logic(&ui.ctx().clone());
                        // The whole window, as in the program; the harness would leave a margin.
                        let whole = ui.ctx().content_rect();
                        ui.scope_builder(UiBuilder::new().max_rect(whole), |ui| {
                            ui.set_clip_rect(whole);
                            window.ui(ui);
                        });
                    }
                },
                slot,
            );
        Page { harness }
    }
}

impl Page {
    pub(crate) fn step(&mut self) {
        self.harness.run_steps(3);
    }

    /// Trainings stand back behind all else that the machine does: the limit only ends a test that would wait for ever.
    pub(crate) fn wait(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < Duration::from_secs(600), "waited too long for {what}");
            self.harness.run_steps(1);
            std::thread::sleep(Duration::from_millis(5));
        }
        self.step();
    }

    pub(crate) fn is_open(&self) -> bool {
        self.harness.state().borrow().as_ref().is_some_and(|window| window.workspace().is_some())
    }

    pub(crate) fn see<R>(&self, look: impl FnOnce(&Workspace) -> R) -> R {
        let slot = self.harness.state().borrow();
        look(slot.as_ref().and_then(Window::workspace).expect("a project is open"))
    }

    /// The mentions of a sentence as "ORG: the Harbour Board".
    pub(crate) fn mentions(&self, sentence: u32) -> Vec<String> {
        self.see(|workspace| {
            let corpus = workspace.project.corpus();
            let sentence = corpus.sentence(SentenceId(sentence)).unwrap();
            let shown = sentence.mentions().iter().map(|m| {
                let name = &corpus.labels().get(m.label).unwrap().name;
                format!("{name}: {}", corpus.span_text(sentence, m.hull()))
            });
            shown.collect()
        })
    }

    pub(crate) fn status(&self, sentence: u32) -> Status {
        self.see(|workspace| workspace.project.corpus().sentence(SentenceId(sentence)).unwrap().status())
    }

    pub(crate) fn current(&self) -> u32 {
        self.see(|workspace| workspace.view.current().unwrap().0)
    }

    pub(crate) fn key(&mut self, key: Key) {
        self.press(Modifiers::NONE, key);
    }

    pub(crate) fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.step();
    }

    pub(crate) fn keys(&mut self, keys: &[Key]) {
        keys.iter().for_each(|key| self.key(*key));
    }

    pub(crate) fn character(&mut self, text: &str) {
        self.harness.event(Event::Text(text.to_owned()));
        self.step();
    }

    /// Holds a key down for so many repeats, each with the character that comes with it.
    pub(crate) fn hold(&mut self, key: Key, text: Option<&str>, repeats: usize) {
        let event = |pressed| Event::Key {
            key,
            pressed,
            modifiers: Modifiers::NONE,
            repeat: false, // egui tells
            physical_key: None,
        };
        for _ in 0..=repeats {
            let events = &mut self.harness.input_mut().events;
            events.push(event(true));
            events.extend(text.map(|text| Event::Text(text.to_owned())));
            self.step();
        }
        self.harness.event(event(false));
        self.step();
    }

    pub(crate) fn click(&mut self, name: &str) {
        self.harness.get_by_label(name).click();
        self.step();
    }

    /// In a long dialog what is clicked has to be in sight.
    pub(crate) fn scroll_to(&mut self, name: &str) {
        self.harness.get_by_label(name).scroll_to_me();
        self.harness.run_steps(30);
    }

    pub(crate) fn choose(&mut self, list: &str, choice: &str) {
        self.harness.get_by_role_and_label(Role::ComboBox, list).scroll_to_me();
        self.harness.run_steps(30);
        self.harness.get_by_role_and_label(Role::ComboBox, list).click();
        self.step();
        self.click(choice);
    }

    /// What is chosen in a list.
    pub(crate) fn chosen(&self, list: &str) -> String {
        let list = self.harness.get_by_role_and_label(Role::ComboBox, list);
        list.accesskit_node().value().unwrap_or_default()
    }

    pub(crate) fn fill(&mut self, field: &str, text: &str) {
        self.field(field).focus();
        self.step();
        self.press(Modifiers::COMMAND, Key::A);
        self.type_into(field, text);
    }

    pub(crate) fn type_into(&mut self, field: &str, text: &str) {
        self.field(field).type_text(text);
        self.step();
    }

    pub(crate) fn field<'p>(&'p self, name: &'p str) -> egui_kittest::Node<'p> {
        let fields = self.harness.get_all_by_label(name);
        let is_input = |n: &egui_kittest::Node<'_>| {
            matches!(n.accesskit_node().role(), Role::TextInput | Role::MultilineTextInput)
        };
        fields.into_iter().find(is_input).expect("a field")
    }

    pub(crate) fn shows(&self, name: &str) -> bool {
        self.harness.query_by_label(name).is_some()
    }

    pub(crate) fn shows_part(&self, name: &str) -> bool {
        self.harness.query_all_by_label_contains(name).next().is_some()
    }

    pub(crate) fn drag(&mut self, from: Pos2, to: Pos2) {
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

    /// All of it in one frame, as when frames are slow.
    pub(crate) fn at_once(&mut self, events: impl IntoIterator<Item = Event>) {
        self.harness.input_mut().events.extend(events);
        self.step();
    }

    pub(crate) fn drop_file(&mut self, path: &Path) {
        self.harness.input_mut().dropped_files.push(Arc::new(Dropped(path.to_owned())));
        self.step();
    }

    /// Presses the window's own button; true when the window stays.
    pub(crate) fn refuses_to_close(&mut self) -> bool {
        let viewports = &mut self.harness.input_mut().viewports;
        viewports.entry(ViewportId::ROOT).or_default().events.push(ViewportEvent::Close);
        self.harness.run_steps(1);
        let commands = self.harness.output().viewport_output.get(&ViewportId::ROOT).map(|v| v.commands.clone());
        let viewports = &mut self.harness.input_mut().viewports;
        viewports.entry(ViewportId::ROOT).or_default().events.clear();
        self.harness.run_steps(1);
        commands.unwrap_or_default().contains(&ViewportCommand::CancelClose)
    }

    pub(crate) fn project_name(&self) -> String {
        self.see(|workspace| workspace.project.name())
    }

    pub(crate) fn center(&self, name: &str) -> Pos2 {
        self.harness.get_by_label(name).rect().center()
    }

    pub(crate) fn close(self) {
        if let Some(window) = self.harness.state().borrow_mut().as_mut() {
            window.close().unwrap();
        }
    }
}
