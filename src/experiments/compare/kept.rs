//! Comparisons that are kept beside a project, and reading one again without its models or the sentences of today.
//!
//! ```text
//! NAME.comparisons/1/    the first one, in a folder as `nestling compare --output` makes it
//! NAME.comparisons/2/    another one, begun when sentences or settings had changed
//! ```
//!
//! # Invariants
//! - Nothing in these folders is trusted: files are read with bounds and no link is followed. What does not fit is left out
//!   and counted, and nothing is deleted.
//! - Scores are made from the gold that is kept with the runs, so they don't change with the project.

use super::comparison::Comparison;
use super::record::{ComparedRun, run_name};
use super::request::{CompareRequest, Variant};
use super::subject::{Subject, scored_hash};
use crate::annotation::{LabelId, SentenceId, Span};
use crate::disk;
use crate::experiments::kept_runs::{RUNS, is_same, read_json, read_text, write_result};
use crate::session::{Part, SessionError};
use crate::train::{Config, Example};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What all runs have in common.
pub(super) const COMMON: &str = "comparison.json";
const SCORED: &str = "scored.json";
const ASKED: &str = "asked.json";

/// Comparisons of a project are numbered up to here.
const LAST: u32 = 9_999;
/// Runs of one comparison that are read, at most.
const MOST_RUNS: usize = 1_000;

/// The parts by their names in files.
const PARTS: [(Part, &str); 5] =
    [(Part::Train, "train"), (Part::Dev, "dev"), (Part::Test, "test"), (Part::Blind, "blind"), (Part::Pool, "pool")];

/// Which models a comparison was to have, when it was started or continued the last time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Asked {
    pub variants: Vec<Variant>,
    pub seeds: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct Scored {
    part: String,
    sentences: Vec<ScoredSentence>,
}

#[derive(Serialize, Deserialize)]
struct ScoredSentence {
    id: u32,
    words: Vec<String>,
    /// First word, first word after it, label.
    gold: Vec<(usize, usize, u32)>,
}

/// A comparison as its folder has it.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptComparison {
    pub comparison: Arc<Comparison>,
    pub asked: Asked,
    /// Training sentences, at most, and epochs, as they were asked for; `None`: all, and by the number of sentences.
    pub limit: Option<usize>,
    pub epochs: Option<usize>,
    /// Files of runs that can't be read or belong to other sentences.
    pub unread: usize,
    common: String,
}

impl KeptComparison {
    /// Linear in the files, and in the sentences for each run.
    ///
    /// # Errors
    /// No comparison, or files that can't be read or don't belong together.
    pub fn read(folder: &Path) -> Result<Self, SessionError> {
        let absent = |name: &str| SessionError::Io {
            doing: "read the comparison",
            source: ErrorKind::NotFound.into(),
            path: folder.join(name),
        };
        let common = read_text(&folder.join(COMMON))?.ok_or_else(|| absent(COMMON))?;
        let scored: Scored = read_json(&folder.join(SCORED))?.ok_or_else(|| absent(SCORED))?;
        let asked: Asked = read_json(&folder.join(ASKED))?.unwrap_or_default();
        let bad = |why: &str| SessionError::BadExperimentFile { why: why.to_owned(), path: folder.join(SCORED) };
        let part = PARTS.iter().find(|(_, name)| *name == scored.part).ok_or_else(|| bad("there is no such split"))?.0;
        let examples = scored.sentences.into_iter().map(ScoredSentence::example).collect::<Option<Vec<_>>>();
        let examples = examples.ok_or_else(|| bad("a mention lies outside its sentence"))?;
        let json: Json = serde_json::from_str(&common).unwrap_or_default();
        if json.get("scored_on").and_then(Json::as_str) != Some(&scored_hash(&examples)) {
            return Err(bad("these are not the sentences that were scored"));
        }
        let number = |key: &str| json.get("config")?.get(key)?.as_u64().and_then(|number| usize::try_from(number).ok());
        let (mut runs, unread) = read_runs(&folder.join(RUNS), examples.len());
        let place = |variant: &Variant| asked.variants.iter().position(|v| v == variant).unwrap_or(usize::MAX);
        runs.sort_by_cached_key(|run| (run.seed, place(&run.variant), run.variant.to_string()));
        Ok(Self {
            comparison: Arc::new(Comparison::new(part, examples.into(), runs)),
            limit: number("limit"),
            epochs: number("epochs"),
            asked,
            unread,
            common,
        })
    }

    /// How many of the models that were asked for are not there.
    pub fn missing(&self) -> usize {
        let is_there = |variant: &Variant, seed: u64| {
            self.comparison.runs().any(|run| run.variant == *variant && run.seed == seed)
        };
        let missing = |variant: &Variant| self.asked.seeds.iter().filter(|seed| !is_there(variant, **seed)).count();
        self.asked.variants.iter().map(missing).sum()
    }

    /// Whether more runs on these sentences with these settings belong to it.
    pub fn is_of(&self, subject: &Subject, config: &Config) -> bool {
        is_same(&self.common, &subject.in_common(config), |_| false)
    }
}

impl ScoredSentence {
    /// `None` where a mention lies outside.
    fn example(self) -> Option<(SentenceId, Example)> {
        let words = self.words.len();
        let mention =
            |(start, end, label)| Some((Span::from_range(start..end).filter(|_| end <= words)?, LabelId(label)));
        let gold = self.gold.into_iter().map(mention).collect::<Option<Vec<_>>>()?;
        Some((SentenceId(self.id), Example { tokens: self.words, gold, ..Example::default() }))
    }
}

/// The runs of so many scored sentences in a folder, and how many files are none.
fn read_runs(folder: &Path, scored: usize) -> (Vec<ComparedRun>, usize) {
    let (mut runs, mut unread) = (Vec::new(), 0);
    let entries = disk::is_folder(folder).then(|| fs::read_dir(folder).ok()).flatten();
    let names = entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    for name in names.filter(|name| name.ends_with(".json")).take(MOST_RUNS) {
        let run: Option<ComparedRun> = read_json(&folder.join(&name)).ok().flatten();
        let is_its_own =
            |run: &ComparedRun| run.is_of(scored) && name == format!("{}.json", run_name(&run.variant, run.seed));
        match run.filter(is_its_own) {
            Some(run) => runs.push(run),
            None => unread += 1,
        }
    }
    (runs, unread)
}

/// Writes down what is scored, unless that was done.
///
/// # Errors
/// What can go wrong with a disk.
pub(super) fn keep_what_is_scored(folder: &Path, subject: &Subject) -> Result<(), SessionError> {
    let path = folder.join(SCORED);
    if disk::is_there(&path) {
        return Ok(());
    }
    let part = PARTS.iter().find(|(part, _)| *part == subject.part).map_or("", |(_, name)| name).to_owned();
    let sentence = |(id, example): &(SentenceId, Example)| {
        let gold = example.gold.iter().map(|(span, label)| (span.start().get(), span.end().get(), label.0)).collect();
        ScoredSentence { id: id.0, words: example.tokens.clone(), gold }
    };
    let scored = Scored { part, sentences: subject.scored.iter().map(sentence).collect() };
    write_result(&path, &serde_json::to_string(&scored)?)
}

/// Writes down which models there are to be.
///
/// # Errors
/// What can go wrong with a disk.
pub(super) fn keep_what_was_asked(folder: &Path, request: &CompareRequest) -> Result<(), SessionError> {
    let asked = Asked { variants: request.variants.clone(), seeds: request.seeds.clone() };
    write_result(&folder.join(ASKED), &serde_json::to_string(&asked)?)
}

/// Where the comparisons of a project lie: `NAME.comparisons` beside `NAME.nestling`.
fn comparisons_dir(project: &Path) -> PathBuf {
    project.with_extension("comparisons")
}

/// The folder of one comparison of a project.
pub fn comparison_folder(project: &Path, number: u32) -> PathBuf {
    comparisons_dir(project).join(number.to_string())
}

/// The numbers of the comparisons beside a project, ascending.
pub fn kept_comparisons(project: &Path) -> Vec<u32> {
    let mut numbers = numbers(project);
    numbers.retain(|number| disk::is_there(&comparison_folder(project, *number).join(COMMON)));
    numbers
}

/// The numbers that are taken.
fn numbers(project: &Path) -> Vec<u32> {
    let folder = comparisons_dir(project);
    let entries = disk::is_folder(&folder).then(|| fs::read_dir(&folder).ok()).flatten();
    let entries = entries.into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.parse().ok().filter(|number: &u32| (1..=LAST).contains(number) && number.to_string() == name)
    };
    let mut numbers: Vec<u32> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// The comparison that more runs belong to, the newest such one, or a folder for a new one. Whether it is new.
///
/// # Errors
/// Something else in the place of the folder; what can go wrong with a disk.
pub(super) fn find_or_make(project: &Path, common: &Json) -> Result<(u32, bool), SessionError> {
    let folder = comparisons_dir(project);
    let failed = |source, path: PathBuf| SessionError::Io { doing: "make a folder for the comparison", source, path };
    if disk::is_there(&folder) && !disk::is_folder(&folder) {
        return Err(failed(io::Error::new(ErrorKind::InvalidInput, "it is a link or a file"), folder));
    }
    let numbers = numbers(project);
    let continues = |number: &&u32| {
        let folder = comparison_folder(project, **number);
        let is_safe = !disk::is_there(&folder.join(RUNS)) || disk::is_folder(&folder.join(RUNS));
        let there = read_text(&folder.join(COMMON)).ok().flatten();
        is_safe && there.is_some_and(|there| is_same(&there, common, |_| false))
    };
    if let Some(number) = numbers.iter().rev().find(continues) {
        return Ok((*number, false));
    }
    if let Err(source) = fs::create_dir(&folder)
        && source.kind() != ErrorKind::AlreadyExists
    {
        return Err(failed(source, folder));
    }
    let first = numbers.last().map_or(1, |last| last + 1);
    for number in first..=LAST {
        let path = comparison_folder(project, number);
        match fs::create_dir(&path) {
            Ok(()) => return Ok((number, true)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(source, path)),
        }
    }
    Err(failed(io::Error::new(ErrorKind::AlreadyExists, "all numbers are taken"), folder))
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::run;
    use super::*;
    use serde_json::json;

    fn common(examples: &[(SentenceId, Example)]) -> Json {
        json!({ "learned_from": "a", "scored_on": scored_hash(examples), "config": Config::default().identity() })
    }

    fn write(folder: &Path, name: &str, json: &Json) {
        fs::create_dir_all(folder.join(RUNS)).unwrap();
        fs::write(folder.join(name), json.to_string()).unwrap();
    }

    /// A folder with one scored sentence of three words, and runs.
    fn kept(folder: &Path, runs: &[ComparedRun]) {
        let words = ["Anna", "met", "Jens"].map(str::to_owned).to_vec();
        let gold = vec![(Span::from_range(0..1).unwrap(), LabelId(0))];
        let examples = [(SentenceId(7), Example { tokens: words, gold, ..Example::default() })];
        write(folder, COMMON, &common(&examples));
        let sentence = json!({ "id": 7, "words": ["Anna", "met", "Jens"], "gold": [[0, 1, 0]] });
        write(folder, SCORED, &json!({ "part": "test", "sentences": [sentence] }));
        let variants = ["b", "a"].map(Variant::new);
        write(folder, ASKED, &json!({ "variants": variants, "seeds": [1, 2] }));
        for run in runs {
            let name = format!("{RUNS}/{}.json", run_name(&run.variant, run.seed));
            write(folder, &name, &serde_json::to_value(run).unwrap());
        }
    }

    #[test]
    fn a_comparison_is_read_again_with_the_gold_of_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let right: &[&[(usize, usize, u32)]] = &[&[(0, 1, 0)]];
        kept(dir.path(), &[run("a", 1, &[&[]]), run("b", 1, right), run("b", 2, right)]);
        let kept = KeptComparison::read(dir.path()).unwrap();
        assert_eq!(kept.comparison.variants(), [&Variant::new("b"), &Variant::new("a")], "as they were asked for");
        assert_eq!(kept.comparison.f1(&Variant::new("b")).mean, Some(1.0));
        assert_eq!((kept.missing(), kept.unread, kept.limit, kept.comparison.part()), (1, 0, None, Part::Test));
        assert_eq!(kept.comparison.sentences().collect::<Vec<_>>(), [SentenceId(7)]);
    }

    #[test]
    fn what_does_not_belong_there_is_counted_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        // One of other sentences, one under the name of another, one that is no JSON.
        kept(dir.path(), &[run("a", 1, &[&[], &[]]), run("b", 1, &[&[]])]);
        fs::rename(dir.path().join("runs/b-1.json"), dir.path().join("runs/c-1.json")).unwrap();
        fs::write(dir.path().join("runs/d-1.json"), "{").unwrap();
        let kept = KeptComparison::read(dir.path()).unwrap();
        assert_eq!((kept.comparison.runs().count(), kept.unread), (0, 3));
        for gold in [json!([[0, 4, 0]]), json!([[2, 1, 0]]), json!([])] {
            let sentence = json!({ "id": 7, "words": ["Anna", "met", "Jens"], "gold": gold });
            write(dir.path(), SCORED, &json!({ "part": "test", "sentences": [sentence] }));
            assert!(KeptComparison::read(dir.path()).is_err(), "{gold}");
        }
        fs::remove_file(dir.path().join(SCORED)).unwrap();
        assert!(KeptComparison::read(dir.path()).is_err());
    }

    #[test]
    fn the_same_sentences_and_settings_continue_and_others_begin_anew() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("p.nestling");
        let [first, second] = [&[] as &[_], &[(SentenceId(1), Example::default())]].map(common);
        assert_eq!(find_or_make(&project, &first).unwrap(), (1, true));
        assert_eq!(kept_comparisons(&project), [] as [u32; 0], "nothing is kept there yet");
        write(&comparison_folder(&project, 1), COMMON, &first);
        assert_eq!(find_or_make(&project, &first).unwrap(), (1, false));
        assert_eq!(find_or_make(&project, &second).unwrap(), (2, true));
        fs::create_dir(comparisons_dir(&project).join("notes")).unwrap();
        fs::write(comparisons_dir(&project).join("3"), "somebody's").unwrap();
        assert_eq!(find_or_make(&project, &second).unwrap(), (4, true), "what is there is left alone");
        assert_eq!(kept_comparisons(&project), [1]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (project, elsewhere) = (dir.path().join("p.nestling"), dir.path().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, comparisons_dir(&project)).unwrap();
        assert!(find_or_make(&project, &common(&[])).is_err());
        assert_eq!(kept_comparisons(&project), [] as [u32; 0]);
        fs::remove_file(comparisons_dir(&project)).unwrap();
        let folder = comparison_folder(&project, 1);
        write(&folder, COMMON, &common(&[]));
        fs::remove_dir(folder.join(RUNS)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join(RUNS)).unwrap();
        assert_eq!(find_or_make(&project, &common(&[])).unwrap(), (2, true), "nothing is written through a link");
    }
}
