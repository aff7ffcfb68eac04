//! Importing texts: choose files, see what they hold, say how to take them in, see what became of them.
//!
//! # Invariants
//! - Nothing is taken in before the person has seen what was read, all warnings included.
//! - While the import is written the dialog stays: an edit made meanwhile would make it fail. Cancelling it, there or
//!   while the files are read, leaves the project as it was.

use super::options::{format_option, option_rows};
use super::{DialogContext, Report, button_row, default_button, explain, field_name, modal, problem};
use crate::annotation::{Corpus, LabelSet, Rgb};
use crate::format::{ImportedSentence, Use, Warning, formats};
use crate::gui::actions::UiAction;
use crate::gui::files::{FileRequest, PathChange, PathField};
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::{button, combo, progress, section};
use crate::gui::widgets::sentence::{Content, Emphasis, TextLayout, Typesetter, paint};
use crate::session::{
    Command, DroppedElsewhere, ImportAs, ImportHow, ImportReceipt, Incoming, Language, Part, Project, ReadRequest,
    SessionError, Setting, Task, Watch, asking_format, encoder_in_words, read_files_watched,
};
use crate::wording::{counted, grouped};
use eframe::egui::{self, Label, ScrollArea, Sense, Ui, vec2};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How soon the progress is painted again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How many sentences are shown before an import.
const PREVIEW: usize = 8;

pub(crate) struct ImportDialog {
    path: PathField,
    /// `None`: told from the file.
    format: Option<&'static str>,
    /// Those that differ from the default of the format.
    options: BTreeMap<&'static str, String>,
    /// The format that the files turned out to have, and the options that they were read with.
    read_as: Option<&'static str>,
    read_with: BTreeMap<&'static str, String>,
    state: ImportState,
    how: ImportHow,
    /// Files that were dropped are read at once.
    reads_at_once: bool,
}

enum ImportState {
    Choosing {
        failure: Option<String>,
    },
    Reading(Reading),
    /// `there`: what to know about documents of the same names.
    Preview {
        incoming: DroppedElsewhere<Box<Incoming>>,
        sentences: Vec<Content>,
        there: Option<String>,
        language: Option<Language>,
    },
    Writing(Watch),
    Done(Box<ImportReceipt>),
}

/// What files hold, and what is shown of it.
struct ReadFiles {
    incoming: DroppedElsewhere<Box<Incoming>>,
    sentences: Vec<Content>,
    /// What to know about documents of the same names.
    there: Option<String>,
    /// What the mentions are, if there are any.
    kind: Option<ImportAs>,
    /// Of the texts.
    language: Option<Language>,
}

/// Why files were not read, and the format whose option the error asks for.
type ReadFailure = Box<(SessionError, Option<&'static str>)>;

/// Files that are being read. Dropping it cancels that.
struct Reading {
    task: Task<Result<ReadFiles, ReadFailure>>,
    watch: Watch,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.watch.cancel();
    }
}

impl ReadFiles {
    fn of(incoming: Incoming, before: Option<&Corpus>) -> Self {
        let no_labels = LabelSet::default();
        // For their colours.
        let sentences = preview(&incoming, before.map_or(&no_labels, Corpus::labels));
        let there = before.and_then(|corpus| incoming.already_there(corpus));
        // Without mentions the split that is chosen says more.
        let kind = (incoming.mentions > 0).then(|| incoming.likely_kind(None));
        let language = Language::of_texts(incoming.documents.iter().map(|document| &*document.text));
        Self { incoming: DroppedElsewhere::new(Box::new(incoming)), sentences, there, kind, language }
    }
}

impl ImportDialog {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        Self {
            path: PathField::several(paths),
            format: None,
            options: BTreeMap::new(),
            read_as: None,
            read_with: BTreeMap::new(),
            state: ImportState::Choosing { failure: None },
            how: ImportHow::default(),
            reads_at_once: !paths.is_empty(),
        }
    }

    /// What became of the import that this dialog has asked for.
    pub(crate) fn imported(&mut self, result: Result<ImportReceipt, SessionError>) {
        self.state = match result {
            Ok(receipt) => ImportState::Done(Box::new(receipt)),
            Err(error) => ImportState::Choosing { failure: Some(Report::of("", &error).text) },
        };
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        self.take_reading();
        if std::mem::take(&mut self.reads_at_once) {
            self.read(context);
        }
        let title = if matches!(self.state, ImportState::Done(_)) { "Imported" } else { "Import texts" };
        let closed = modal(ctx, title, size::DIALOG_WIDTH + 80.0, |ui| match &self.state {
            ImportState::Done(receipt) => done(ui, receipt, context),
            ImportState::Writing(watch) => writing(ui, watch),
            ImportState::Choosing { .. } | ImportState::Reading(_) | ImportState::Preview { .. } => {
                self.before(ui, context);
            }
        });
        if closed {
            match &self.state {
                ImportState::Writing(watch) => watch.cancel(),
                ImportState::Choosing { .. }
                | ImportState::Reading(_)
                | ImportState::Preview { .. }
                | ImportState::Done(_) => context.actions.push(UiAction::CloseDialog),
            }
        }
    }

    fn take_reading(&mut self) {
        let ImportState::Reading(reading) = &self.state else { return };
        let Some(result) = reading.task.poll() else { return };
        let result = result.map_err(|lost| Box::new((lost.into(), None))).flatten();
        self.state = match result {
            Ok(ReadFiles { incoming, sentences, there, kind, language }) => {
                self.how.kind = kind;
                self.read_as = incoming.get().map(|incoming| incoming.format_id);
                ImportState::Preview { incoming, sentences, there, language }
            }
            Err(failed) => {
                let (error, asking) = *failed;
                // The option that is asked for is one of a format that was found out.
                self.read_as = self.read_as.or(asking);
                ImportState::Choosing { failure: Some(Report::of("", &error).text) }
            }
        };
    }

    fn read(&mut self, context: &DialogContext<'_>) {
        let files = self.path.paths();
        self.read_with = self.options.clone();
        let options = self.options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let request = ReadRequest { format: self.format.map(str::to_owned), options };
        let watch = Watch::default();
        let for_work = watch.clone();
        let before = context.project.map(Project::snapshot_of_corpus);
        let work = move || match read_files_watched(&files, &request, &for_work) {
            Ok(incoming) => Ok(ReadFiles::of(incoming, before.as_deref())),
            Err(error) => Err(Box::new((error, asking_format(&files)))),
        };
        let task = Task::spawn("read files", context.services.waker.clone(), work);
        self.state = ImportState::Reading(Reading { task, watch });
    }

    /// Choosing and looking.
    fn before(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        field_name(ui, "Files or a folder");
        let path = self.path.show(
            ui,
            "Files",
            &[("Files …", FileRequest::Texts), ("Folder …", FileRequest::Folder)],
            context.services,
        );
        explain(ui, "Separate several paths with semicolons. You can also drop files on the window.");
        if path != PathChange::None {
            // Other files, perhaps of another format: it knows nothing of these options.
            self.options.clear();
            self.read_as = None;
        }
        let options = self.format_and_options(ui);
        let ready = self.path.has_paths();
        if ready && (options || path == PathChange::Chosen) {
            self.read(context);
        } else if path == PathChange::Typed {
            // What was read is no longer what the field says.
            self.state = ImportState::Choosing { failure: None };
        }
        ui.add_space(size::GAP_SMALL);
        match &self.state {
            ImportState::Choosing { failure: Some(failure) } => problem(ui, failure),
            ImportState::Reading(reading) => reading_shown(ui, &reading.watch),
            ImportState::Preview { incoming, sentences, there, language } => {
                let Some(incoming) = incoming.get() else { return };
                let notes = there.iter().cloned().chain(about_encoder(*language, context.project));
                let notes: Vec<String> = notes.collect();
                let height = (ui.ctx().content_rect().height() - 400.0).max(140.0);
                ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
                    show_preview(ui, incoming, sentences, &notes, context.typesetter);
                });
                how(ui, &mut self.how, incoming.mentions > 0);
            }
            ImportState::Choosing { failure: None } | ImportState::Writing(_) | ImportState::Done(_) => {}
        }
        self.buttons(ui, context, ready);
    }

    fn buttons(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>, ready: bool) {
        button_row(ui, |ui| {
            if let ImportState::Preview { incoming, .. } = &mut self.state {
                let sentences = incoming.get().map_or(0, |incoming| incoming.sentences);
                let text = format!("Import {}", counted(sentences, "sentence", "sentences"));
                if default_button(ui, true, &text)
                    && let Some(incoming) = incoming.take()
                {
                    let (how, watch) = (self.how, Watch::default());
                    context.actions.push(UiAction::Import { incoming, how, watch: watch.clone() });
                    self.state = ImportState::Writing(watch);
                }
            } else {
                let idle = matches!(self.state, ImportState::Choosing { .. });
                if default_button(ui, ready && idle, "Read") {
                    self.read(context);
                }
            }
            if button(ui, true, "Cancel").clicked() {
                context.actions.push(UiAction::CloseDialog);
            }
        });
    }

    /// True when something was changed.
    fn format_and_options(&mut self, ui: &mut Ui) -> bool {
        let mut changed = false;
        let before = self.format;
        option_rows(ui, |ui| {
            ui.vertical(|ui| {
                field_name(ui, "Format");
                let title = |id: &str| formats().iter().find(|f| f.id() == id).map_or("", |f| f.title());
                let shown = self.format.map_or("Detect automatically", title);
                combo(ui, "Format of the files", shown, 200.0, |ui| {
                    changed |= ui.selectable_value(&mut self.format, None, "Detect automatically").changed();
                    for format in formats() {
                        changed |= ui.selectable_value(&mut self.format, Some(format.id()), format.title()).changed();
                    }
                });
            });
            if self.format != before {
                self.options.clear();
                self.read_as = None;
            }
            let id = self.format.or(self.read_as);
            for spec in formats()
                .iter()
                .filter(|f| Some(f.id()) == id)
                .flat_map(|f| f.options())
                .filter(|o| o.used != Use::Writing)
            {
                changed |= format_option(ui, spec, &mut self.options) && self.options != self.read_with;
            }
        });
        changed
    }
}

/// In which language the texts are, and whether models will start from an encoder that has read it.
fn about_encoder(language: Option<Language>, project: Option<&Project>) -> Option<String> {
    let (language, project) = (language?, project?);
    let (encoder, misfit) = project.encoder_for(Some(language));
    let change = if misfit.is_some() { " You can change it once the texts are imported." } else { "" };
    Some(format!("{}.{change}", encoder_in_words(language, &encoder, misfit.as_ref())))
}

fn reading_shown(ui: &mut Ui, watch: &Watch) {
    let (done, total) = watch.progress();
    let more = match watch.found() {
        0 if done == total => "Looking for sentences".to_owned(),
        0 => String::new(),
        found => format!("{} so far", counted(found, "sentence", "sentences")),
    };
    under_way(ui, "Reading …", &more, watch);
}

fn writing(ui: &mut Ui, watch: &Watch) {
    let what = if watch.is_cancelled() { "Cancelling …" } else { "Writing …" };
    let more = match watch.progress() {
        (_, 0) => "Either all of it is imported or nothing".to_owned(),
        (done, total) => format!("{} of {}", grouped(done), counted(total, "sentence", "sentences")),
    };
    under_way(ui, what, &more, watch);
    button_row(ui, |ui| {
        if button(ui, !watch.is_cancelled(), "Cancel").clicked() {
            watch.cancel();
        }
    });
}

/// What goes on, and how far it is.
fn under_way(ui: &mut Ui, what: &str, more: &str, watch: &Watch) {
    ui.horizontal(|ui| {
        ui.spinner();
        ui.label(what);
    });
    let (done, total) = watch.progress();
    progress(ui, ui.available_width(), done as f32 / total.max(1) as f32);
    explain(ui, more);
    ui.ctx().request_repaint_after(LOOK_AGAIN);
}

fn show_preview(
    ui: &mut Ui,
    incoming: &Incoming,
    sentences: &[Content],
    more_notes: &[String],
    typesetter: &mut Typesetter,
) {
    let tokens = theme::tokens(ui);
    let summary = format!(
        "{}: {}, {}, {}",
        incoming.formats_in_words(),
        counted(incoming.documents.len(), "document", "documents"),
        counted(incoming.sentences, "sentence", "sentences"),
        counted(incoming.mentions, "mention", "mentions"),
    );
    section(ui, &summary);
    if !incoming.labels.is_empty() {
        let labels: Vec<String> = incoming.labels.iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect();
        explain(ui, &labels.join(" · "));
    }
    for note in incoming.notes.iter().chain(more_notes) {
        explain(ui, note);
    }
    warnings(ui, &incoming.warnings);
    ui.add_space(size::GAP_SMALL);
    let frame = egui::Frame::new().fill(tokens.card).corner_radius(theme::RADIUS_CARD).inner_margin(14);
    frame.stroke(egui::Stroke::new(1.0, tokens.line)).show(ui, |ui| {
        let width = (ui.available_width() - 4.0).floor();
        for content in sentences {
            let setting = TextLayout { width, points: size::TEXT_CONTEXT, most_rows: 6 };
            let flow = typesetter.set(ui, content, setting);
            let (rect, _) = ui.allocate_exact_size(vec2(width, flow.height + size::GAP_LARGE), Sense::hover());
            paint(ui, content, &flow, &Emphasis::default(), rect.min);
        }
        if incoming.sentences > sentences.len() {
            explain(ui, &format!("… and {} more", grouped(incoming.sentences - sentences.len())));
        }
    });
}

/// All of them, in a list of their own.
fn warnings(ui: &mut Ui, warnings: &[Warning]) {
    let tokens = theme::tokens(ui);
    if warnings.is_empty() {
        return;
    }
    ui.add_space(size::GAP_SMALL);
    ui.label(theme::heading(counted(warnings.len(), "warning", "warnings"), tokens.warn));
    let frame = egui::Frame::new().fill(tokens.warn_fill).corner_radius(theme::RADIUS_CARD).inner_margin(10);
    frame.show(ui, |ui| {
        let height = ui.text_style_height(&egui::TextStyle::Small);
        ScrollArea::vertical().id_salt("warnings").max_height(110.0).auto_shrink([false, true]).show_rows(
            ui,
            height,
            warnings.len(),
            |ui, rows| {
                for warning in warnings.get(rows).unwrap_or_default() {
                    let text = warning.to_string();
                    ui.add(Label::new(theme::small(&text, tokens.text)).truncate()).on_hover_text(&text);
                }
            },
        );
    });
}

fn how(ui: &mut Ui, how: &mut ImportHow, has_mentions: bool) {
    ui.add_space(size::GAP_SMALL);
    ui.horizontal_wrapped(|ui| {
        if has_mentions {
            ui.label("Mentions are");
            for (kind, text, help) in [
                (ImportAs::Gold, "gold", "Confirmed by a person; the sentences are complete"),
                (ImportAs::Suggestions, "suggestions", "To accept or reject one by one"),
                (ImportAs::Text, "ignored", "Only the texts are imported"),
            ] {
                leaves_enter(ui.radio_value(&mut how.kind, Some(kind), text)).on_hover_text(help);
            }
            ui.add_space(size::GAP);
        }
        ui.label("The sentences are");
        let name = |part: Option<Part>| match part {
            None => "as the file says",
            Some(Part::Train) => "complete, for training",
            Some(Part::Pool) => "to annotate",
            Some(Part::Dev) => "for choosing the model (dev)",
            Some(Part::Test) => "for the final test",
            Some(Part::Blind) => "set aside (blind)",
        };
        combo(ui, "Split of the sentences", name(how.split), 190.0, |ui| {
            let parts = [Part::Train, Part::Pool, Part::Dev, Part::Test, Part::Blind];
            for part in std::iter::once(None).chain(parts.map(Some)) {
                ui.selectable_value(&mut how.split, part, name(part));
            }
        });
    });
}

fn done(ui: &mut Ui, receipt: &ImportReceipt, context: &mut DialogContext<'_>) {
    let tokens = theme::tokens(ui);
    let text = format!(
        "Imported {} in {}, {} and {}.",
        counted(receipt.sentences, "sentence", "sentences"),
        counted(receipt.documents, "document", "documents"),
        counted(receipt.mentions, "mention", "mentions"),
        counted(receipt.suggestions, "suggestion", "suggestions"),
    );
    ui.add(Label::new(theme::body(text, tokens.text)).wrap());
    if !receipt.new_labels.is_empty() {
        explain(ui, &format!("New labels: {}", receipt.new_labels.join(", ")));
    }
    for note in &receipt.notes {
        explain(ui, note);
    }
    warnings(ui, &receipt.warnings);
    let now = context.project.and_then(Project::misfit).and_then(|misfit| misfit.better);
    button_row(ui, |ui| {
        if default_button(ui, true, "Annotate") {
            context.actions.push(UiAction::CloseDialog);
        }
        // Until it is changed.
        if let Some(better) = now.filter(|_| receipt.misfit.is_some())
            && button(ui, true, &format!("Start models from {better}")).clicked()
        {
            context.actions.push(UiAction::Change(Command::Set(Setting::Encoder(better.to_owned()))));
        }
    });
}

/// The first sentences, those with mentions before others.
fn preview(incoming: &Incoming, labels: &LabelSet) -> Vec<Content> {
    let all = || incoming.documents.iter().flat_map(|d| d.sentences.iter().map(move |s| (&d.text, s)));
    let with = all().filter(|(_, s)| !s.mentions.is_empty()).take(PREVIEW);
    let mut shown: Vec<(&str, &ImportedSentence)> = with.map(|(text, s)| (&**text, s)).collect();
    if shown.is_empty() {
        shown = all().take(PREVIEW).map(|(text, s)| (&**text, s)).collect();
    }
    let contents = shown.into_iter().map(|(text, sentence)| {
        let mentions = sentence.mentions.iter().map(|m| {
            let color = labels.by_name(&m.label).map_or_else(|| guess(&m.label, incoming, labels), |l| l.color);
            (m.fragments.iter().collect(), m.label.clone(), color)
        });
        Content::foreign(text, &sentence.tokens, &mentions.collect::<Vec<_>>())
    });
    contents.collect()
}

/// A colour for a label that the project does not have yet, and that none of its own has.
fn guess(name: &str, incoming: &Incoming, labels: &LabelSet) -> Rgb {
    let mut new = incoming.labels.keys().filter(|n| labels.by_name(n).is_none());
    theme::proposed_color(labels.len() + new.position(|n| n == name).unwrap_or(0))
}
