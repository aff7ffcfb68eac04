//! Opening, making and closing projects, and taking files in: what the window lets a thread do.

use super::state::{DiskListing, Opened, Screen, Window};
use crate::disk::Noted as _;
use crate::gui::actions::UiAction;
use crate::gui::dialogs::{Dialog, ImportDialog, NewProjectDialog, Report};
use crate::gui::workspace::{ClosingWorkspace, Workspace};
use crate::session::{Command, FileNews, Home, Project, SessionError, Task, open_sample, rescue_project};
use crate::store::StoreError;
use crate::wording::capital;
use eframe::egui::Context;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Window {
    pub(super) fn open_sample(&mut self) {
        let home = self.home.clone();
        self.start_work("Creating the sample project …".to_owned(), Vec::new(), move || {
            let path = home.sample_path();
            let project = or_to_read(open_sample(&home, &path), &home, &path)?;
            remember(&home, project.path());
            Ok(project.into())
        });
    }

    /// Reads what can be read of a damaged project into a new one, and opens that.
    pub(super) fn rescue(&mut self, damaged: PathBuf) {
        let home = self.home.clone();
        self.start_work(format!("Rescuing {} …", damaged.display()), Vec::new(), move || {
            let rescued = rescue_project(&damaged)?;
            let project = Project::open(&home, &rescued.path)?;
            remember(&home, project.path());
            Ok(Opened { rescued: Some(rescued), ..project.into() })
        });
    }

    /// Closes what is open, then does `work`, all on a thread. When that fails, what was open is opened again.
    ///
    /// Does nothing while other work goes on, and when unsaved changes are to be looked at first.
    pub(super) fn start_work(
        &mut self,
        what: String,
        then_import: Vec<PathBuf>,
        work: impl FnOnce() -> Result<Opened, SessionError> + Send + 'static,
    ) {
        if self.refuses_to_leave() {
            return;
        }
        self.keep_what_is_typed();
        let gives_up = self.warned_unsaved;
        let old = match std::mem::replace(&mut self.screen, Screen::Start) {
            Screen::Workspace(workspace) => Some(workspace.leave()),
            Screen::Start => None,
            busy @ Screen::Busy { .. } => {
                self.screen = busy;
                return;
            }
        };
        // What was typed for a new project comes back where that can't be made.
        let kept = self.dialog.take().filter(|dialog| matches!(dialog, Dialog::NewProject(_))).map(Box::new);
        self.notice = None;
        self.analyses = None;
        let (home, waker) = (self.home.clone(), self.services.waker.clone());
        let task = Task::spawn("open project", self.services.waker.clone(), move || {
            let old_path = old.as_ref().map(|closing| closing.path().to_owned());
            let news = match old.map(ClosingWorkspace::close) {
                Some(Err(trouble)) if !gives_up => return Opened { is_unsaved: true, ..trouble.into() },
                Some(Ok(news)) => news,
                Some(Err(_)) | None => Vec::new(),
            };
            // Where the project of before went on, if it did.
            let old_path = news.iter().rev().find_map(FileNews::moved_to).map(Path::to_owned).or(old_path);
            let mut opened = work().unwrap_or_else(|trouble| {
                let mut opened = Opened::from(trouble);
                match old_path.map(|path| open_as_can_be(&home, &path)) {
                    None => {}
                    Some(Ok(project)) => opened.project = Some(project),
                    Some(Err(more)) => opened.trouble.push(more),
                }
                opened
            });
            if let Some(project) = &mut opened.project {
                // Not by who waits for the next frame: it goes through all sentences.
                project.set_waker(waker);
                project.start_learner();
            }
            Opened { news, ..opened }
        });
        self.screen = Screen::Busy { what, task, then_import, kept };
    }

    /// Takes over what stands in fields that take effect when they are left, before the project is.
    pub(super) fn keep_what_is_typed(&mut self) {
        let Screen::Workspace(workspace) = &mut self.screen else { return };
        let typed = match &self.dialog {
            Some(Dialog::Settings(dialog)) if !workspace.is_importing() => dialog.typed(&workspace.project),
            _ => Vec::new(),
        };
        // What can't be saved is told by what closes the project.
        let _kept = workspace.keep_note(true);
        for setting in typed {
            let _kept = workspace.change(Command::Set(setting));
        }
    }

    /// The card of a mention may go while its note is being written, and a dialog may cover it.
    pub(super) fn keep_note_left_behind(&mut self, ctx: &Context) {
        let is_covered = self.dialog.is_some() || self.report.is_some();
        let Screen::Workspace(workspace) = &mut self.screen else { return };
        if is_covered || workspace.has_left_note() {
            let feedback = workspace.keep_note(true);
            self.show_feedback(ctx, feedback);
        }
    }

    pub(super) fn close_project(&mut self) {
        if self.workspace().is_some() {
            self.start_work("Closing …".to_owned(), Vec::new(), || Ok(Opened::default()));
        }
    }

    pub(super) fn import(&mut self, paths: &[PathBuf]) {
        self.dialog = Some(Dialog::Import(Box::new(ImportDialog::new(paths))));
    }

    pub(super) fn new_project(&mut self, then_import: Vec<PathBuf>) {
        let DiskListing { projects_dir, encoders, .. } = &self.listing;
        self.dialog = Some(Dialog::NewProject(Box::new(NewProjectDialog::new(projects_dir, encoders, then_import))));
    }

    pub(super) fn take_results(&mut self, ctx: &Context) {
        if let Some(listing) = self.listing_task.as_ref().and_then(Task::poll) {
            self.listing = listing.unwrap_or_default();
            self.listing_task = None;
            match &mut self.dialog {
                Some(Dialog::NewProject(dialog)) => {
                    dialog.take_listing(&self.listing.projects_dir, &self.listing.encoders)
                }
                Some(Dialog::Settings(dialog)) => dialog.take_listing(&self.listing.encoders),
                Some(
                    Dialog::Open(_)
                    | Dialog::Import(_)
                    | Dialog::Export(_)
                    | Dialog::Analyses(_)
                    | Dialog::Compare(_)
                    | Dialog::Copy(_)
                    | Dialog::Documents(_)
                    | Dialog::Dashboard(_)
                    | Dialog::History(_)
                    | Dialog::SplitWord(_)
                    | Dialog::Label(_)
                    | Dialog::LookAgain(_)
                    | Dialog::KeyHelp(_)
                    | Dialog::Palette(_),
                )
                | None => {}
            }
        }
        self.take_import(ctx);
        self.report_last_end();
        let Screen::Busy { task, then_import, kept, .. } = &mut self.screen else { return };
        let Some(result) = task.poll() else { return };
        let (then_import, kept) = (std::mem::take(then_import), kept.take());
        self.screen = Screen::Start;
        let Opened { project, trouble, rescued, news, .. } =
            result.unwrap_or_else(|lost| SessionError::from(lost).into());
        if let (false, Some(dialog)) = (trouble.is_empty(), kept) {
            self.dialog = Some(*dialog);
        }
        let report = rescued.as_ref().map(Report::of_rescue).or(Report::of_trouble(&trouble));
        self.report = report.or(Report::of_news(&news)).or(self.report.take());
        if let Some(project) = project {
            let unread: Vec<String> =
                project.unread_settings().iter().map(|error| capital(&error.to_string())).collect();
            let notes: Vec<String> = project.notes().iter().map(|note| capital(note)).chain(unread).collect();
            if !notes.is_empty() {
                self.notify(ctx, notes.join(" · "), true);
            }
            self.screen = Screen::Workspace(Box::new(Workspace::new(project)));
            self.warned_unsaved = false;
            self.recent.forget_labels();
            if !then_import.is_empty() && self.report.is_none() {
                self.import(&then_import);
            }
        }
        self.refresh_listing();
        ctx.request_repaint();
    }

    /// What ended the program the last time, when there is nothing else to tell.
    fn report_last_end(&mut self) {
        if let Some(read) = self.reading_last_end.as_ref().and_then(Task::poll) {
            self.last_end = read.unwrap_or_default();
            self.reading_last_end = None;
        }
        if self.report.is_none() && !matches!(self.screen, Screen::Busy { .. }) {
            self.report = self.last_end.take().map(|end| Report::of_last_end(&end));
        }
    }

    fn take_import(&mut self, ctx: &Context) {
        let Screen::Workspace(workspace) = &mut self.screen else { return };
        let Some(done) = workspace.take_import() else { return };
        match &mut self.dialog {
            Some(Dialog::Import(_)) if matches!(done, Err(SessionError::Stopped)) => {
                self.dialog = None;
                self.notify(ctx, "The import was cancelled; nothing was imported".to_owned(), false);
            }
            Some(Dialog::Import(dialog)) => dialog.imported(done),
            _ => self.show_feedback(ctx, done.map(|_| None)),
        }
    }

    /// Reads again what the start page shows.
    pub(super) fn refresh_listing(&mut self) {
        let home = self.home.clone();
        self.listing_task = Some(Task::spawn("start page", self.services.waker.clone(), move || DiskListing {
            recent: home.recent_projects(),
            projects_dir: home.projects_dir(),
            // A folder that can't be read is told when an encoder is imported; until then there is the built-in one.
            encoders: home.encoders().list().unwrap_or_default(),
        }));
    }

    pub(super) fn take_drops(&mut self, ctx: &Context) {
        if !self.takes_drops() {
            return;
        }
        let dropped: Vec<PathBuf> =
            ctx.input(|i| i.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        let is_project = |p: &PathBuf| p.extension().is_some_and(|e| e == "nestling");
        if let Some(Dialog::NewProject(dialog)) = &mut self.dialog {
            if dropped.iter().any(is_project) {
                self.actions
                    .push(UiAction::Notice("Create or cancel the new project first, then drop a project".to_owned()));
            }
            dialog.take_files(dropped.into_iter().filter(|path| !is_project(path)));
        } else if let Some(project) = dropped.iter().find(|p| is_project(p)) {
            self.actions.push(UiAction::Open(project.clone()));
        } else if !dropped.is_empty() {
            self.actions.push(UiAction::ImportFrom(dropped));
        }
    }
}

impl From<Project> for Opened {
    fn from(project: Project) -> Self {
        Self { project: Some(project), ..Self::default() }
    }
}

impl From<SessionError> for Opened {
    fn from(trouble: SessionError) -> Self {
        Self { trouble: vec![trouble], ..Self::default() }
    }
}

/// A list of recent projects that can't be written is no reason to refuse a project.
pub(super) fn remember(home: &Home, path: &Path) {
    home.remember_recent(path).noted("the project is not among the recent ones");
}

/// Opens a project for annotation, or to be looked at where it is open elsewhere or can't be written.
pub(super) fn open_as_can_be(home: &Home, path: &Path) -> Result<Project, SessionError> {
    or_to_read(Project::open(home, path), home, path)
}

fn or_to_read(opened: Result<Project, SessionError>, home: &Home, path: &Path) -> Result<Project, SessionError> {
    match opened {
        Err(SessionError::Store(error)) if keeps_from_writing(&error) => Project::open_to_read(home, path),
        opened => opened,
    }
}

fn keeps_from_writing(error: &StoreError) -> bool {
    match error {
        StoreError::Locked { .. } | StoreError::ReadOnly { .. } => true,
        // No lock can be laid beside the file.
        StoreError::Io { source, .. } => {
            matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
        }
        _ => false,
    }
}
