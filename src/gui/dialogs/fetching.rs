//! An encoder from the hub, by its name.

use super::{explain, field_name, problem};
use crate::encoder::EncoderError;
use crate::gui::files::Services;
use crate::gui::widgets::keyboard::{is_entered, keeps_enter};
use crate::gui::widgets::parts::{button, progress, quiet_button, text_field};
use crate::session::{EncoderInfo, Encoders, Fetching, Hub, Repository, Task, Waker};
use crate::wording::capital;
use eframe::egui::Ui;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the window shows how far it is.
const SHOW_EVERY: Duration = Duration::from_millis(100);
const FIELD_WIDTH: f32 = 420.0;

/// The fields, and what comes of them.
#[derive(Default)]
pub(super) struct FromHub {
    repository: String,
    name: String,
    /// The name was typed: it no longer follows the repository's.
    name_is_own: bool,
    fetch: Option<Fetch>,
    failure: Option<String>,
    was_stopped: bool,
    /// What is shown was brought into sight.
    in_sight: bool,
}

/// A fetch under way. Dropping it stops it; what was fetched is kept.
struct Fetch {
    task: Task<Result<EncoderInfo, EncoderError>>,
    at: Arc<Mutex<Option<Fetching>>>,
    cancel: Arc<AtomicBool>,
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::SeqCst);
    }
}

impl Fetch {
    fn start(hub: Option<Hub>, encoders: Encoders, repository: Repository, name: String, waker: &Waker) -> Self {
        let (at, cancel) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let (for_at, for_cancel) = (at.clone(), cancel.clone());
        let work = move || {
            let hub = hub.unwrap_or_else(Hub::from_environment);
            encoders.install(&hub, &repository, &name, &for_cancel, &mut |now| {
                *for_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            })
        };
        Self { task: Task::spawn("fetch encoder", waker.clone(), work), at, cancel }
    }

    fn at(&self) -> Option<Fetching> {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromHub {
    pub(super) fn take_result(&mut self) -> Option<EncoderInfo> {
        let result = self.fetch.as_ref()?.task.poll()?;
        self.fetch = None;
        self.in_sight = false;
        match result {
            Ok(Ok(info)) => return Some(info),
            Ok(Err(EncoderError::FetchStopped)) => self.was_stopped = true,
            Ok(Err(error)) => self.failure = Some(error.to_string()),
            Err(lost) => self.failure = Some(lost.to_string()),
        }
        None
    }

    /// False when it is no longer wanted.
    pub(super) fn show(&mut self, ui: &mut Ui, encoders: &Encoders, services: &Services) -> bool {
        if let Some(fetch) = &self.fetch {
            under_way(ui, fetch, &self.name);
            return true;
        }
        field_name(ui, "Name on the hub");
        let field = keeps_enter(text_field(ui, "Name on the hub", &mut self.repository, FIELD_WIDTH));
        if field.changed() {
            self.failure = None;
            self.was_stopped = false;
            if !self.name_is_own {
                let name = Repository::parse(&self.repository).map(|repository| repository.name().to_owned());
                self.name = name.unwrap_or_default();
            }
        }
        explain(
            ui,
            "As on its page, such as sentence-transformers/all-MiniLM-L6-v2, optionally followed by @ and a \
             revision. It must be a BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, ELECTRA, ModernBERT \
             or DeBERTa model with model.safetensors. Nestling uses the network for nothing else.",
        );
        field_name(ui, "Name in Nestling");
        let named = keeps_enter(text_field(ui, "Name in Nestling", &mut self.name, 260.0));
        self.name_is_own |= named.changed();
        if let Some(failure) = &self.failure {
            problem(ui, &capital(failure));
        }
        if self.was_stopped {
            explain(ui, "Stopped. What was downloaded is kept: the next download resumes from there.");
        }
        let ready = !self.repository.trim().is_empty() && !self.name.trim().is_empty();
        let row = ui.horizontal(|ui| {
            let is_asked = ready && (is_entered(&field) || is_entered(&named));
            if button(ui, ready, "Download encoder").clicked() || is_asked {
                self.start(encoders, services);
            }
            !quiet_button(ui, "Never mind").clicked()
        });
        if !std::mem::replace(&mut self.in_sight, true) {
            row.response.scroll_to_me(None);
            if self.repository.is_empty() {
                field.request_focus();
            }
        }
        row.inner
    }

    fn start(&mut self, encoders: &Encoders, services: &Services) {
        self.failure = None;
        self.was_stopped = false;
        match Repository::parse(&self.repository) {
            Ok(repository) => {
                let (hub, name) = (services.hub.clone(), self.name.trim().to_owned());
                self.fetch = Some(Fetch::start(hub, encoders.clone(), repository, name, &services.waker));
            }
            Err(error) => self.failure = Some(error.to_string()),
        }
    }
}

fn under_way(ui: &mut Ui, fetch: &Fetch, name: &str) {
    ui.ctx().request_repaint_after(SHOW_EVERY);
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let (text, share) = match fetch.at() {
        None => (format!("Contacting the hub for {name} …"), 0.0),
        Some(Fetching { file, done_bytes, total_bytes: None }) => {
            (format!("{file}: {:.1} MB", megabytes(done_bytes)), 0.0)
        }
        Some(Fetching { file, done_bytes, total_bytes: Some(total) }) => {
            let text = format!("{file}: {:.1} of {:.1} MB", megabytes(done_bytes), megabytes(total));
            (text, done_bytes as f32 / total.max(1) as f32)
        }
    };
    ui.label(text);
    progress(ui, FIELD_WIDTH, share);
    explain(ui, "Closing this dialog also stops it. What was downloaded is kept for next time.");
    let stopping = fetch.cancel.load(Ordering::SeqCst);
    if button(ui, !stopping, if stopping { "Stopping …" } else { "Stop download" }).clicked() {
        fetch.cancel.store(true, Ordering::SeqCst);
    }
}
