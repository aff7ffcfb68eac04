//! The program's window: which page is shown, which dialog lies over it, and who carries out what they ask for.
//!
//! # Invariants
//! - [`Window::logic`] takes in what workers and keys bring, [`Window::ui`] paints; neither waits for anything. Files
//!   are read and projects are opened, made and closed by [`Task`]s.
//! - Acts are carried out after painting, so that one frame shows one state.

mod closing;
mod keyboard;
mod opening;
mod telling;

use self::keyboard::Keyboard;
use self::opening::open_as_can_be;
use super::Ending;
use super::acts::Act;
use super::commands::{CommandId, Pressed, take_pressed};
use super::desk::Desk;
use super::dialogs::{
    Backstage, CopyDialog, Dialog, DocumentsDialog, ExportDialog, HistoryDialog, KeyHelp, LabelDialog, LookAgainDialog,
    OpenDialog, Palette, Recent, Report, SettingsDialog, SplitWordDialog,
};
use super::files::{FilePicker, Services};
use super::panels::start::StartPage;
use super::panels::status::Notice;
use super::panels::{self, Stage, annotate};
use super::view::Reveal;
use super::widgets::sentence::Typesetter;
use crate::disk::Noted as _;
use crate::encoder::EncoderInfo;
use crate::session::{
    FileNews, Home, Hub, LastEnd, LearnerStatus, NewProject, Project, Rescued, SessionError, Task, log_path, now_ms,
    take_last_end,
};
use eframe::egui::{self, Context, Theme, Ui, ViewportCommand};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Window {
    home: Home,
    services: Services,
    screen: Screen,
    dialog: Option<Dialog>,
    report: Option<Report>,
    notice: Option<Notice>,
    typesetter: Typesetter,
    acts: Vec<Act>,
    /// Read from disk by a task, at the start and after a project was opened.
    known: Known,
    knowing: Option<Task<Known>>,
    title: String,
    /// That changes are not saved was told, and the next leaving gives them up.
    told_unsaved: bool,
    keyboard: Keyboard,
    /// What was chosen in the palette.
    recent: Recent,
    ending: Ending,
    /// What ended the program the last time; told once.
    last_end: Option<LastEnd>,
    reading_last_end: Option<Task<Option<LastEnd>>>,
}

enum Screen {
    Start,
    /// A project is being opened, made or closed.
    Busy {
        what: String,
        task: Task<Opened>,
        /// What is to be imported into the project that is made.
        then_import: Vec<PathBuf>,
        /// Comes back if it fails.
        kept: Option<Box<Dialog>>,
    },
    Desk(Box<Desk>),
}

/// What came of opening, making or closing a project.
#[derive(Default)]
struct Opened {
    project: Option<Project>,
    trouble: Vec<SessionError>,
    /// The trouble is that the project before could not be saved.
    is_unsaved: bool,
    /// The project is what could be read of a damaged one.
    rescued: Option<Rescued>,
    /// What happened to the files of the project before.
    news: Vec<FileNews>,
}

/// What the start page and the dialog for new projects need from the disk.
#[derive(Default)]
struct Known {
    recent: Vec<PathBuf>,
    encoders: Vec<EncoderInfo>,
    projects_dir: PathBuf,
}

impl Window {
    /// A window at its start page, or opening `start`. Call before the first frame of `ctx`.
    pub fn new(ctx: &Context, home: Home, picker: Arc<dyn FilePicker>, start: Option<PathBuf>) -> Self {
        super::theme::install(ctx);
        super::turns::install(ctx);
        let for_waker = ctx.clone();
        let for_reading = home.clone();
        let services = Services { picker, waker: Arc::new(move || for_waker.request_repaint()), hub: None };
        let mut window = Self {
            home,
            services,
            screen: Screen::Start,
            dialog: None,
            report: None,
            notice: None,
            typesetter: Typesetter::default(),
            acts: start.map(Act::Open).into_iter().collect(),
            known: Known::default(),
            knowing: None,
            title: String::new(),
            told_unsaved: false,
            keyboard: Keyboard::default(),
            recent: Recent::default(),
            ending: Ending::default(),
            last_end: None,
            reading_last_end: None,
        };
        let waker = window.services.waker.clone();
        window.reading_last_end = Some(Task::spawn("last end", waker, move || take_last_end(&for_reading)));
        window.look_around();
        window
    }

    /// Encoders come from this hub, not from the one that the environment names.
    pub fn set_hub(&mut self, hub: Hub) {
        self.services.hub = Some(hub);
    }

    /// The open project.
    pub fn desk(&self) -> Option<&Desk> {
        match &self.screen {
            Screen::Desk(desk) => Some(desk),
            Screen::Start | Screen::Busy { .. } => None,
        }
    }

    /// What workers, the system and the keys bring. Once a frame, before [`Window::ui`].
    pub fn logic(&mut self, ctx: &Context) {
        self.take_results(ctx);
        self.take_drops(ctx);
        self.guard_closing(ctx);
        if let Screen::Desk(desk) = &mut self.screen {
            let events = desk.project.poll();
            desk.view.refresh(&desk.project);
            let was_filtered = desk.view.finder.is_on();
            if let Some(secs) = desk.view.finder.step(&desk.project, ctx.input(|i| i.time)) {
                ctx.request_repaint_after_secs(secs as f32);
            }
            if was_filtered && !desk.view.finder.is_on() {
                desk.view.reveal = Some(Reveal::WithNext);
            }
            if let Some(first) = desk.view.finder.take_first(desk.project.corpus()) {
                desk.go_to(first);
                desk.view.reveal = Some(Reveal::WithNext);
            }
            desk.project.look_at(desk.view.current().as_slice());
            if let Some(current) = desk.view.current() {
                desk.project.note_shown(current, desk.view.suggestions());
            }
            if ctx.input(|i| !i.events.is_empty()) {
                desk.project.note_activity(ctx.input(presses));
            }
            if let Some(secs) = next_look(desk.project.learner()) {
                ctx.request_repaint_after_secs(secs);
            }
            for event in events {
                self.tell_event(ctx, event);
            }
        }
        let owner = self.keyboard_owner(ctx);
        let open = self.desk().is_some();
        for pressed in take_pressed(ctx, owner, open) {
            match pressed {
                Pressed::Command(id) => self.act(ctx, Act::Command(id)),
                Pressed::LabelKey(key) => {
                    let label = self.desk().and_then(|desk| desk.project.corpus().labels().by_key(key));
                    if let Some(label) = label.map(|l| l.id) {
                        self.act(ctx, Act::UseLabel(label));
                    }
                }
            }
        }
        self.carry_out(ctx);
        self.keep_note_left_behind(ctx);
        self.show_title(ctx);
        let (now, revision) = (ctx.input(|i| i.time), self.revision());
        self.notice.take_if(|n| n.until <= now || n.revision.is_some_and(|about| Some(about) != revision));
    }

    pub fn ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.typesetter.begin_frame(ui);
        self.close_what_a_dialog_covers(&ctx);
        let dialog_open = self.dialog.is_some() || self.report.is_some();
        let holds_typing = self.holds_typing();
        match &mut self.screen {
            Screen::Start => {
                StartPage { recent: &self.known.recent, busy: None }.show(ui, &mut self.typesetter, &mut self.acts);
            }
            Screen::Busy { what, .. } => {
                StartPage { recent: &self.known.recent, busy: Some(what) }.show(
                    ui,
                    &mut self.typesetter,
                    &mut self.acts,
                );
            }
            Screen::Desk(desk) => {
                let mut stage = Stage {
                    project: &desk.project,
                    view: &mut desk.view,
                    typesetter: &mut self.typesetter,
                    acts: &mut self.acts,
                    holds_typing,
                    dialog_open,
                    now_ms: now_ms(),
                };
                panels::top_bar::show(ui, &mut stage);
                panels::banners::show(ui, &mut stage);
                panels::review::show(ui, &mut stage);
                panels::status::show(ui, &mut stage, self.notice.as_ref());
                panels::sentences::show(ui, &mut stage);
                panels::labels::show(ui, &mut stage);
                annotate::show(ui, &mut stage);
            }
        }
        let project = match &self.screen {
            Screen::Desk(desk) => Some(&desk.project),
            Screen::Start | Screen::Busy { .. } => None,
        };
        // One at a time: the keys of a report are not for the dialog below it.
        if self.report.is_none()
            && let Some(dialog) = &mut self.dialog
        {
            let (services, acts, typesetter) = (&self.services, &mut self.acts, &mut self.typesetter);
            let (encoders, recent) = (&self.home.encoders(), &mut self.recent);
            dialog.show(&ctx, &mut Backstage { project, services, encoders, acts, typesetter, recent });
        }
        if self.report.as_ref().is_some_and(|report| report.show(&ctx, &mut self.acts)) {
            self.report = None;
        }
        drop_hint(&ctx, self.takes_drops());
        if !self.acts.is_empty() {
            self.carry_out(&ctx);
            ctx.request_repaint();
        }
        self.settle_keyboard(&ctx);
    }

    fn carry_out(&mut self, ctx: &Context) {
        for act in std::mem::take(&mut self.acts) {
            self.act(ctx, act);
        }
    }

    fn act(&mut self, ctx: &Context, act: Act) {
        if self.is_writing() && !act.is_harmless() {
            return;
        }
        if let Some(why) = self.desk().and_then(|desk| desk.project.read_only()).filter(|_| act.changes()) {
            let text = format!("Nothing can be changed here: {why}");
            self.notify(ctx, text, true);
            return;
        }
        match act {
            Act::Command(id) => self.command(ctx, id),
            Act::OpenSample => self.open_sample(),
            Act::LookAround => self.look_around(),
            Act::Create { path, labels, encoder, then_import } => {
                let home = self.home.clone();
                self.start_work(format!("Making {} …", path.display()), then_import, move || {
                    if let Some(folder) = path.parent() {
                        // A folder that can't be made is told by the project that can't be written there.
                        std::fs::create_dir_all(folder).noted_at("the project can't be made there", folder);
                    }
                    let new = NewProject { encoder, ..NewProject::with_labels(labels)? };
                    let project = Project::create(&home, &path, &new)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            Act::Open(path) => {
                let home = self.home.clone();
                self.start_work(format!("Opening {} …", path.display()), Vec::new(), move || {
                    let project = open_as_can_be(&home, &path)?;
                    remember(&home, project.path());
                    Ok(project.into())
                });
            }
            Act::Rescue(path) => self.rescue(path),
            Act::ImportFrom(paths) if self.desk().is_some() => self.import(&paths),
            Act::ImportFrom(paths) => self.new_project(paths),
            Act::CopyText(text) => ctx.copy_text(text),
            Act::Notice(text) => self.notify(ctx, text, false),
            Act::FileNewsRead => {
                if let Screen::Desk(desk) = &mut self.screen {
                    desk.project.dismiss_file_news();
                }
            }
            Act::CloseDialog => self.dialog = None,
            act => self.act_on_desk(ctx, act),
        }
    }

    fn act_on_desk(&mut self, ctx: &Context, act: Act) {
        let before = self.revision();
        let Screen::Desk(desk) = &mut self.screen else { return };
        let told = match act {
            Act::Change(command) => desk.change(command).map(|_| None),
            Act::Sentence(event) => desk.pointer(event),
            Act::KeepNote { has_ended } => desk.keep_note(has_ended),
            Act::UseLabel(label) => {
                let told = desk.use_label(label);
                return self.tell_edit(ctx, before, told);
            }
            Act::GoTo(id) => {
                desk.go_to(id);
                desk.view.reveal = Some(Reveal::Row);
                Ok(None)
            }
            Act::Import { incoming, how, watch } => {
                desk.start_import(*incoming, how, watch);
                Ok(None)
            }
            Act::EditLabel(id) => {
                let corpus = desk.project.corpus();
                let label = corpus.labels().get(id);
                self.dialog = label.map(|label| Dialog::Label(LabelDialog::edit(corpus, label)));
                Ok(None)
            }
            _ => Ok(None),
        };
        self.tell(ctx, told);
    }

    fn command(&mut self, ctx: &Context, id: CommandId) {
        if let Screen::Desk(desk) = &mut self.screen
            && let Some(told) = desk.command(id)
        {
            self.tell(ctx, told);
            return;
        }
        match id {
            CommandId::NewProject => self.new_project(Vec::new()),
            CommandId::OpenProject => self.dialog = Some(Dialog::Open(OpenDialog::default())),
            CommandId::CloseProject => self.close_project(),
            CommandId::KeyHelp => self.dialog = Some(Dialog::KeyHelp(KeyHelp)),
            CommandId::ShowLog => self.report = Some(Report::of_log(&log_path(&self.home))),
            CommandId::Settings => {
                let project = self.desk().map(|desk| &desk.project);
                let dialog = SettingsDialog::new(project, &self.known.encoders);
                self.dialog = Some(Dialog::Settings(Box::new(dialog)));
            }
            CommandId::ChooseLabel if self.desk().is_some() => {
                self.dialog = Some(Dialog::Palette(Palette::of_labels()));
            }
            CommandId::Palette => self.dialog = Some(Dialog::Palette(Palette::default())),
            CommandId::AddLabel if self.desk().is_some() => {
                self.dialog = Some(Dialog::Label(LabelDialog::new_label()));
            }
            CommandId::Documents if self.desk().is_some() => {
                self.dialog = Some(Dialog::Documents(DocumentsDialog::new()));
            }
            CommandId::LookAgain if self.desk().is_some() => {
                self.dialog = Some(Dialog::LookAgain(LookAgainDialog::default()));
            }
            CommandId::History if self.desk().is_some() => {
                let current = self.desk().and_then(|desk| desk.view.current());
                self.dialog = Some(Dialog::History(HistoryDialog::new(current)));
            }
            CommandId::Dashboard if self.desk().is_some() => {
                self.dialog = Some(Dialog::Dashboard(Box::default()));
            }
            CommandId::Import => self.import(&[]),
            CommandId::Export => {
                let dialog = self.desk().map(|desk| ExportDialog::new(&desk.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Export);
            }
            CommandId::SaveCopy => {
                let dialog = self.desk().map(|desk| CopyDialog::new(&desk.project));
                self.dialog = dialog.map(Box::new).map(Dialog::Copy);
            }
            CommandId::SplitWord => {
                let Some(desk) = self.desk() else { return };
                match SplitWordDialog::new(&desk.project, &desk.view) {
                    Some(dialog) => self.dialog = Some(Dialog::SplitWord(dialog)),
                    None => self.tell(ctx, Ok(Some("This word has one character and can't be split".to_owned()))),
                }
            }
            CommandId::ToggleTheme => {
                let other = if ctx.theme() == Theme::Dark { Theme::Light } else { Theme::Dark };
                ctx.set_theme(other);
            }
            CommandId::ZoomIn => ctx.set_zoom_factor((ctx.zoom_factor() + 0.1).min(3.0)),
            CommandId::ZoomOut => ctx.set_zoom_factor((ctx.zoom_factor() - 0.1).max(0.5)),
            CommandId::ZoomReset => ctx.set_zoom_factor(1.0),
            CommandId::LeaveSentence => self.leave_sentence(ctx),
            _ => {}
        }
    }

    fn guard_closing(&mut self, ctx: &Context) {
        self.told_unsaved &= self.has_unsaved();
        if ctx.input(|i| i.viewport().close_requested()) && self.refuses_to_leave() {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
        }
    }

    /// Files must not get into what is being written or opened, nor in the place of what is being typed.
    fn takes_drops(&self) -> bool {
        let is_typing = self.dialog.as_ref().is_some_and(Dialog::holds_typing);
        !self.is_writing() && !is_typing && !matches!(self.screen, Screen::Busy { .. })
    }

    /// Something was typed that the project does not have yet.
    fn holds_typing(&self) -> bool {
        self.desk().is_some_and(|Desk { project, view, .. }| {
            view.has_unsaved_note(project) || self.dialog.as_ref().is_some_and(|dialog| dialog.is_ahead_of(project))
        })
    }

    /// An import or an export is being written.
    fn is_writing(&self) -> bool {
        self.desk().is_some_and(Desk::is_importing) || self.dialog.as_ref().is_some_and(Dialog::is_writing)
    }

    fn show_title(&mut self, ctx: &Context) {
        let title = match self.desk() {
            Some(desk) if desk.project.read_only().is_some() => {
                format!("Nestling – {} (read only)", desk.project.name())
            }
            Some(desk) => format!("Nestling – {}", desk.project.name()),
            None => "Nestling".to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}

impl eframe::App for Window {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        Window::logic(self, ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        Window::ui(self, ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        if let Err(error) = self.close() {
            self.ending.replace(Some(error));
        }
    }
}

/// When the learner's figures are worth painting again, in seconds.
fn next_look(learner: &LearnerStatus) -> Option<f32> {
    let busy = learner.state.progress().is_some() || learner.predicting.is_some();
    match &learner.current {
        _ if busy => Some(0.25),
        Some(_) => Some(10.0), // its age
        None => None,
    }
}

/// A list of recent projects that can't be written is no reason to refuse a project.
fn remember(home: &Home, path: &Path) {
    home.remember_recent(path).noted("the project is not among the recent ones");
}

/// Keys and buttons that went down in this frame; a key that is held counts once.
fn presses(input: &egui::InputState) -> u32 {
    let is_press = |event: &&egui::Event| {
        matches!(
            event,
            egui::Event::Key { pressed: true, repeat: false, .. } | egui::Event::PointerButton { pressed: true, .. }
        )
    };
    input.events.iter().filter(is_press).count() as u32
}

/// Says that files may be let go here.
fn drop_hint(ctx: &Context, takes_drops: bool) {
    if ctx.input(|i| i.raw.hovered_files.is_empty()) {
        return;
    }
    let tokens = super::theme::tokens_of(ctx.theme());
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint"));
    let painter = ctx.layer_painter(layer);
    let rect = ctx.content_rect();
    painter.rect_filled(rect, 0.0, tokens.backdrop);
    let font = super::theme::bold(super::theme::size::TEXT_TITLE);
    let text = if takes_drops { "Drop to open or import" } else { "Finish this first, then drop" };
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, text, font, super::theme::tokens_of(Theme::Dark).text);
}
