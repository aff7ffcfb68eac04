//! The window's state: which page is shown, which dialog lies over it, and what tasks are on their way.

use super::keyboard_focus::KeyboardFocus;
use crate::encoder::EncoderInfo;
use crate::gui::actions::UiAction;
use crate::gui::dialogs::{AnalysesDialog, Dialog, RecentChoices, Report};
use crate::gui::files::{FilePicker, Services};
use crate::gui::panels::status::Notice;
use crate::gui::widgets::sentence::Typesetter;
use crate::gui::workspace::Workspace;
use crate::gui::{input_passes, theme};
use crate::session::{FileNews, Home, Hub, LastEnd, Project, Rescued, SaveState, SessionError, Task, take_last_end};
use eframe::egui::Context;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// What could not be saved when the window was closed.
pub(in crate::gui) type Ending = Rc<RefCell<Option<SessionError>>>;

pub struct Window {
    pub(super) home: Home,
    pub(super) services: Services,
    pub(super) screen: Screen,
    pub(super) dialog: Option<Dialog>,
    pub(super) report: Option<Report>,
    pub(super) notice: Option<Notice>,
    pub(super) typesetter: Typesetter,
    pub(super) actions: Vec<UiAction>,
    /// Read from disk by a task, at the start and after a project was opened.
    pub(super) listing: DiskListing,
    pub(super) listing_task: Option<Task<DiskListing>>,
    pub(super) title: String,
    /// That changes are not saved was told, and the next leaving gives them up.
    pub(super) warned_unsaved: bool,
    pub(super) keyboard: KeyboardFocus,
    /// What was chosen in the palette.
    pub(super) recent: RecentChoices,
    /// Of the open project, as they were left: whoever looks at a sentence comes back to them.
    pub(super) analyses: Option<Box<AnalysesDialog>>,
    pub(super) ending: Ending,
    /// What ended the program the last time; told once.
    pub(super) last_end: Option<LastEnd>,
    pub(super) reading_last_end: Option<Task<Option<LastEnd>>>,
}

pub(super) enum Screen {
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
    Workspace(Box<Workspace>),
}

/// What came of opening, making or closing a project.
#[derive(Default)]
pub(super) struct Opened {
    pub(super) project: Option<Project>,
    pub(super) trouble: Vec<SessionError>,
    /// The trouble is that the project before could not be saved.
    pub(super) is_unsaved: bool,
    /// The project is what could be read of a damaged one.
    pub(super) rescued: Option<Rescued>,
    /// What happened to the files of the project before.
    pub(super) news: Vec<FileNews>,
}

/// What the start page and the dialog for new projects need from the disk.
#[derive(Default)]
pub(super) struct DiskListing {
    pub(super) recent: Vec<PathBuf>,
    pub(super) encoders: Vec<EncoderInfo>,
    pub(super) projects_dir: PathBuf,
}

impl Window {
    /// A window at its start page, or opening `start`. Call before the first frame of `ctx`.
    pub fn new(ctx: &Context, home: Home, picker: Arc<dyn FilePicker>, start: Option<PathBuf>) -> Self {
        theme::install(ctx);
        input_passes::install(ctx);
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
            actions: start.map(UiAction::Open).into_iter().collect(),
            listing: DiskListing::default(),
            listing_task: None,
            title: String::new(),
            warned_unsaved: false,
            keyboard: KeyboardFocus::default(),
            recent: RecentChoices::default(),
            analyses: None,
            ending: Ending::default(),
            last_end: None,
            reading_last_end: None,
        };
        let waker = window.services.waker.clone();
        window.reading_last_end = Some(Task::spawn("last end", waker, move || take_last_end(&for_reading)));
        window.refresh_listing();
        window
    }

    /// Encoders come from this hub, not from the one that the environment names.
    pub fn set_hub(&mut self, hub: Hub) {
        self.services.hub = Some(hub);
    }

    /// The open project.
    pub fn workspace(&self) -> Option<&Workspace> {
        match &self.screen {
            Screen::Workspace(workspace) => Some(workspace),
            Screen::Start | Screen::Busy { .. } => None,
        }
    }

    /// For measurements, which do to a project what a person does with keys and dialogs.
    pub(in crate::gui) fn workspace_mut(&mut self) -> Option<&mut Workspace> {
        match &mut self.screen {
            Screen::Workspace(workspace) => Some(workspace),
            Screen::Start | Screen::Busy { .. } => None,
        }
    }

    pub(super) fn revision(&self) -> Option<u64> {
        self.workspace().map(|workspace| workspace.project.corpus().revision())
    }

    pub(super) fn has_unsaved(&self) -> bool {
        self.workspace().is_some_and(|d| matches!(d.project.save_state(), SaveState::Failed { .. }))
    }

    /// Files must not get into what is being written or opened, nor in the place of what is being typed.
    pub(super) fn takes_drops(&self) -> bool {
        let is_typing = self.dialog.as_ref().is_some_and(Dialog::holds_typing);
        !self.is_writing() && !is_typing && !matches!(self.screen, Screen::Busy { .. })
    }

    /// Something was typed that the project does not have yet.
    pub(super) fn holds_typing(&self) -> bool {
        self.workspace().is_some_and(|Workspace { project, view, .. }| {
            view.has_unsaved_note(project) || self.dialog.as_ref().is_some_and(|dialog| dialog.is_ahead_of(project))
        })
    }

    /// An import or an export is being written.
    pub(super) fn is_writing(&self) -> bool {
        self.workspace().is_some_and(Workspace::is_importing) || self.dialog.as_ref().is_some_and(Dialog::is_writing)
    }
}
