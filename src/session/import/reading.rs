//! From files to what they hold, before a project takes it in.

use crate::annotation::{Corpus, Kept, Presence, Status};
use crate::format::{
    Collected, Detected, Format, FormatError, ImportedDocument, ImportedLabel, ImportedSentence, Input, Options, Sink,
    Warning, by_id, choose_unit, detect,
};
use crate::session::import::inputs::{Found, expand, found_notes};
use crate::session::import::lengths::Lengths;
use crate::session::{Part, SessionError};
use crate::store::Watch;
use crate::text::check_text;
use crate::wording::{by_kind, counted, grouped, listed};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the mentions of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportAs {
    /// A person stands for them; sentences are complete unless the file says otherwise.
    Gold,
    /// To be reviewed.
    Suggestions,
    /// Not wanted.
    Text,
}

/// How files are to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// Format id; `None`: tell it from the file.
    pub format: Option<String>,
    pub options: Vec<(String, String)>,
}

/// What files hold, before it is taken in.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    pub format_id: &'static str,
    pub format_title: &'static str,
    /// The id and title of each format that there was, with the number of its files.
    pub formats: Vec<(&'static str, &'static str, usize)>,
    pub documents: Vec<ImportedDocument>,
    pub sentences: usize,
    pub mentions: usize,
    /// How often each label occurs, by name.
    pub labels: BTreeMap<String, usize>,
    /// What the files say of labels, used or not, each once.
    pub label_hints: Vec<ImportedLabel>,
    /// What the files say of all documents besides labels; see [`Sink::definition`].
    pub definitions: Kept,
    pub warnings: Vec<Warning>,
    /// What was found out about the files, such as their format and how ends are counted.
    pub notes: Vec<String>,
    pub files: Vec<PathBuf>,
}

/// Reads files and the files of folders into memory. With several files a bad one costs that file only and is a
/// warning.
///
/// # Errors
/// Nothing could be read; unknown formats and options.
pub fn read_files(files: &[PathBuf], request: &ReadRequest) -> Result<Incoming, SessionError> {
    read_files_watched(files, request, &Watch::default())
}

/// The same in view of somebody who may cancel it: bytes of how many, and the sentences found until now.
///
/// # Errors
/// As [`read_files`], and [`SessionError::Stopped`].
pub fn read_files_watched(files: &[PathBuf], request: &ReadRequest, watch: &Watch) -> Result<Incoming, SessionError> {
    read_in_view(files, request, &[], watch.flag(), watch, &mut |_, _| {})
}

/// The format that a file looks like: where reading it asks for an option, that is one of this format.
pub fn asking_format(files: &[PathBuf]) -> Option<&'static str> {
    let input = Input::file(files.first().filter(|file| file.is_file())?).ok()?;
    detect(input.file_name(), &input.sample()).ok().map(|detected| detected.format.id())
}

/// As [`read_files`]; options may also be for the formats of `also`.
pub(in crate::session) fn read_inputs(
    named: &[PathBuf],
    request: &ReadRequest,
    also: &[&'static dyn Format],
    cancel: &AtomicBool,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<Incoming, SessionError> {
    read_in_view(named, request, also, cancel, &Watch::default(), on_progress)
}

/// `watch` is told how far the reading is; it is cancelled by `cancel`.
fn read_in_view(
    named: &[PathBuf],
    request: &ReadRequest,
    also: &[&'static dyn Format],
    cancel: &AtomicBool,
    watch: &Watch,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<Incoming, SessionError> {
    let asked = request.format.as_deref().map(by_id).transpose()?;
    let mut incoming = Incoming { files: named.to_vec(), ..Incoming::default() };
    let mut failures = Vec::new();
    let found = expand(named, asked, &mut incoming.notes, &mut failures)?;
    let (mut files, mut told) = (Vec::with_capacity(found.len()), Vec::new());
    for mut file in found {
        if cancel.load(Ordering::Relaxed) {
            return Err(SessionError::Stopped);
        }
        let format = match file.is_unbegun {
            true => Ok(by_id(UNBEGUN)?),
            false => format_of(&mut file, asked, &request.options, &mut told),
        };
        match format {
            Ok(format) => files.push((file, format)),
            Err(error) => failures.push((file.path, error)),
        }
    }
    incoming.notes.extend(found_notes(told));
    let mut formats: Vec<&dyn Format> = also.to_vec();
    for (_, format) in &files {
        if formats.iter().all(|known| known.id() != format.id()) {
            formats.push(*format);
        }
    }
    if !formats.is_empty() && (!files.is_empty() || asked.is_some()) {
        // Each takes what it knows; what none knows is refused.
        formats.extend(asked);
        Options::new(request.options.iter().cloned(), &formats)?;
    }
    let mut request = request.clone();
    if let Some((option, note)) = choose_unit(sampled(&files), &request.options) {
        request.options.push(option);
        incoming.notes.push(note);
    }
    let total = files.len();
    let sizes = files.iter().filter_map(|(file, _)| std::fs::metadata(&file.path).ok());
    watch.begin(sizes.map(|file| file.len() as usize).sum());
    let mut gathering = Gathering {
        collected: Collected::default(),
        file: String::new(),
        labels: BTreeSet::new(),
        files_warned_of: BTreeSet::new(),
        cancel,
        watch,
    };
    for (done, (file, format)) in files.into_iter().enumerate() {
        on_progress(done, total);
        if done == 0 || format.holds().mentions {
            (incoming.format_id, incoming.format_title) = (format.id(), format.title());
        }
        gathering.file = file.path.display().to_string();
        incoming.read_as(format);
        match read_file(&file, format, &request, &mut gathering) {
            _ if cancel.load(Ordering::Relaxed) => return Err(SessionError::Stopped),
            Ok(()) => {}
            Err(error @ FormatError::BadOption { .. }) => return Err(error.into()),
            Err(error) => failures.push((file.path, error)),
        }
    }
    let Collected { labels, documents, warnings, notes, definitions } = gathering.collected;
    (incoming.label_hints, incoming.documents, incoming.warnings) = (labels, documents, warnings);
    incoming.definitions = definitions;
    incoming.notes.extend(each_kind_once(&notes, named));
    incoming.count();
    let mut lengths = Lengths::default();
    incoming.documents.iter().for_each(|document| lengths.add(document));
    incoming.notes.extend(lengths.note());
    if incoming.sentences == 0 {
        if !failures.is_empty() {
            return Err(failures.swap_remove(0).1.into());
        }
        let why = match incoming.warnings.as_slice() {
            [] => "the files are empty, or only say how others are shown".to_owned(),
            [only] => only.to_string(),
            [first, ..] => format!("the first of {} warnings: {first}", grouped(incoming.warnings.len())),
        };
        return Err(SessionError::NothingRead { why });
    }
    let failed = |(file, error): (PathBuf, FormatError)| {
        let (file, why) = (file.display().to_string(), error.to_string());
        // Both the warning and most errors end with the file.
        let why = why.strip_suffix(&format!(": {file}")).unwrap_or(&why);
        Warning { message: format!("the file was left out: {why}"), line: None, file }
    };
    incoming.warnings.extend(failures.into_iter().map(failed));
    Ok(incoming)
}

/// The format that has annotations beside texts, and knows texts that have none.
const UNBEGUN: &str = "brat";

/// What readers note of each of a thousand files, said once with the first of them.
pub(in crate::session) fn each_kind_once(notes: &[String], named: &[PathBuf]) -> Vec<String> {
    let folders: Vec<String> = named.iter().map(|path| path.display().to_string()).collect();
    // A note ends with the file that it is about.
    let without_file = |note: &String| {
        let ends = folders.iter().filter_map(|folder| note.find(&format!(": {folder}")));
        ends.min().map_or(note.len(), |end| end)
    };
    let kinds = by_kind(notes, |note| note.get(..without_file(note)).unwrap_or_default());
    kinds
        .into_iter()
        .filter_map(|kind| {
            let first = kind.first.first()?;
            Some(match kind.count - 1 {
                0 => (*first).clone(),
                more => format!("{first} (and {} more like this)", grouped(more)),
            })
        })
        .collect()
}

/// Files that are looked at before it is chosen what a line is.
const MOST_LOOKED_AT: usize = 500;

/// Files from all over the list, as they will be read.
fn sampled(files: &[(Found, &'static dyn Format)]) -> impl Iterator<Item = (&'static dyn Format, Input)> {
    let step = files.len().div_ceil(MOST_LOOKED_AT).max(1);
    files.iter().step_by(step).filter_map(|(file, format)| Some((*format, file.input().ok()?)))
}

fn format_of(
    file: &mut Found,
    asked: Option<&'static dyn Format>,
    options: &[(String, String)],
    told: &mut Vec<(PathBuf, String)>,
) -> Result<&'static dyn Format, FormatError> {
    let Some(format) = asked else {
        let Detected { format, found } = match file.detected.take() {
            Some(known) => known,
            None => file.detect()?,
        };
        told.push((file.path.clone(), found));
        return Ok(format);
    };
    let input = file.input()?;
    format.refuse_other(&input, &Options::known_to(format, options)?)?;
    let looks_like = detect(input.file_name(), &input.sample()).ok().filter(|other| other.format.holds().mentions);
    if let Some(other) = looks_like.filter(|_| format.sniff(&input.sample()).is_none()) {
        told.push((file.path.clone(), format!("it looks like {}, and is read as {}", other.found, format.title())));
    }
    Ok(format)
}

fn read_file(
    file: &Found,
    format: &dyn Format,
    request: &ReadRequest,
    sink: &mut Gathering<'_>,
) -> Result<(), FormatError> {
    let watch = sink.watch.clone();
    let input = file.input()?.heard_by(Arc::new(move |bytes| {
        watch.advance(bytes);
        !watch.is_cancelled()
    }));
    let options = Options::known_to(format, &request.options)?;
    format.read(input, &options, sink)
}

/// Keeps everything that may enter a project, labels once, until it is told to stop.
struct Gathering<'a> {
    collected: Collected,
    /// What is read.
    file: String,
    labels: BTreeSet<String>,
    /// Of which a warning is about all: documents of one folder share their configuration.
    files_warned_of: BTreeSet<String>,
    cancel: &'a AtomicBool,
    watch: &'a Watch,
}

impl Sink for Gathering<'_> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        match document.check() {
            Ok(()) => {
                self.watch.find(document.sentences.len());
                self.collected.document(document)
            }
            Err(why) => {
                self.collected.warning(Warning {
                    file: self.file.clone(),
                    line: None,
                    message: format!("the document {:?} was left out: {why}", document.name),
                });
                ControlFlow::Continue(())
            }
        }
    }

    fn definition(&mut self, name: String, text: String) {
        if let Err(why) = check_text(&text) {
            self.warning(Warning { file: name, line: None, message: format!("it was left out: {why}") });
        } else if self.collected.definitions.get(&name) != Some(&text) {
            self.collected.definition(name, text);
        }
    }

    fn label(&mut self, label: ImportedLabel) {
        if let Err(why) = check_text(&label.name).and_then(|()| check_text(&label.title)) {
            let (file, message) = (self.file.clone(), format!("the label {:?} was left out: {why}", label.name));
            return self.warning(Warning { file, line: None, message });
        }
        if self.labels.insert(label.name.clone()) {
            self.collected.label(label);
        }
    }

    fn warning(&mut self, warning: Warning) {
        if warning.line.is_none() && !self.files_warned_of.insert(format!("{warning}")) {
            return;
        }
        self.collected.warning(warning);
    }

    fn note(&mut self, note: String) {
        self.collected.note(note);
    }
}

impl Incoming {
    /// What one reader has found.
    pub(in crate::session) fn of(format: &dyn Format, read: Collected) -> Self {
        let Collected { labels: label_hints, documents, warnings, notes, definitions } = read;
        let (format_id, format_title) = (format.id(), format.title());
        let mut incoming =
            Self { format_id, format_title, label_hints, definitions, documents, warnings, notes, ..Self::default() };
        incoming.count();
        incoming
    }

    fn read_as(&mut self, format: &dyn Format) {
        match self.formats.iter_mut().find(|(id, _, _)| *id == format.id()) {
            Some((_, _, files)) => *files += 1,
            None => self.formats.push((format.id(), format.title(), 1)),
        }
    }

    /// "CoNLL columns", "CoNLL columns (3 files) and plain text (1 file)".
    pub fn formats_in_words(&self) -> String {
        match self.formats.as_slice() {
            [] => self.format_title.to_owned(),
            [(_, title, _)] => (*title).to_owned(),
            several => {
                let each =
                    |(_, title, files): &(_, &str, usize)| format!("{title} ({})", counted(*files, "file", "files"));
                let each: Vec<String> = several.iter().map(each).collect();
                listed(&each.iter().map(String::as_str).collect::<Vec<_>>())
            }
        }
    }

    pub(crate) fn count(&mut self) {
        let sentences = || self.documents.iter().flat_map(|d| &d.sentences);
        self.sentences = sentences().count();
        self.mentions = sentences().map(|s| s.mentions.len()).sum();
        let mut labels = BTreeMap::new();
        for mention in sentences().flat_map(|s| &s.mentions) {
            *labels.entry(mention.label.clone()).or_default() += 1;
        }
        self.labels = labels;
    }

    /// What to know about documents that have the names of others in the project; they are taken in all the same.
    pub fn already_there(&self, corpus: &Corpus) -> Option<String> {
        let there = corpus.all_documents().values().filter(|d| d.presence != Presence::Removed);
        let names: HashSet<&str> = there.map(|d| d.name.as_str()).collect();
        match self.documents.iter().filter(|d| names.contains(d.name.as_str())).count() {
            0 => None,
            1 => Some("1 document of this name is there already; it comes in a second time".to_owned()),
            many => Some(format!(
                "{} documents of these names are there already; they come in a second time",
                grouped(many)
            )),
        }
    }

    /// What the mentions are when nobody says: suggestions where all have a score, gold where some have none, and text
    /// where there are none, unless the files or the split that is asked for say that these sentences were looked at.
    pub fn likely_kind(&self, split: Option<Part>) -> ImportAs {
        let mut sentences = self.documents.iter().flat_map(|d| &d.sentences);
        let mut mentions = sentences.clone().flat_map(|s| &s.mentions);
        let was_read = |sentence: &ImportedSentence| match sentence.status {
            Some(status) => status != Status::Untouched,
            None => !sentence.may_be_unread,
        };
        match self.mentions {
            0 if split.is_some_and(Part::vouches) || sentences.any(was_read) => ImportAs::Gold,
            0 => ImportAs::Text,
            _ if mentions.all(|m| m.score.is_some()) => ImportAs::Suggestions,
            _ => ImportAs::Gold,
        }
    }
}
