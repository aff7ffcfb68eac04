//! The comparison that is shown: the one that goes on, or one that is kept beside the project.

use super::words::name_of;
use crate::experiments::{
    Asked, Comparison, ComparisonTable, KeptComparison, Spread, Subject, Variant, comparison_folder, kept_comparisons,
};
use crate::gui::workspace::Comparing;
use crate::session::{Config, Project, SessionError, Task, Waker};
use crate::wording::capital;
use std::sync::Arc;

/// A comparison with all that is painted of it.
pub(super) struct Shown {
    /// Of its folder.
    pub(super) number: u32,
    pub(super) comparison: Arc<Comparison>,
    pub(super) table: ComparisonTable,
    /// In the order of the table.
    pub(super) rows: Vec<ShownRow>,
    /// The best figure of each column, where there is one that is better than another.
    pub(super) best: Vec<Option<f64>>,
    /// `None` for one that goes on.
    pub(super) kept: Option<Facts>,
}

/// A variant with its F1 by seed.
pub(super) struct ShownRow {
    pub(super) variant: Variant,
    pub(super) name: String,
    pub(super) f1: Spread,
    pub(super) seeds: Vec<(u64, f64)>,
}

/// What is known of one that was read from disk.
pub(super) struct Facts {
    pub(super) asked: Asked,
    pub(super) limit: Option<usize>,
    pub(super) epochs: Option<usize>,
    /// Models that were asked for and are not there.
    pub(super) missing: usize,
    pub(super) unread: usize,
    /// More models would be trained on the same sentences with the same settings.
    pub(super) is_current: bool,
}

#[derive(Default)]
pub(super) struct Kept {
    /// Of all that are kept, ascending.
    pub(super) numbers: Vec<u32>,
    /// The one to show; `None`: the newest.
    pub(super) wanted: Option<u32>,
    pub(super) shown: Option<Shown>,
    /// Why the one that is wanted can't be shown, with its number.
    pub(super) failure: Option<(u32, String)>,
    /// What was read last, or is being read: how many had ended, and which one was wanted.
    read: Option<(usize, Option<u32>)>,
    reading: Option<Task<Read>>,
    /// One that goes on, as it was made ready last.
    live: Option<Arc<Comparison>>,
    making: Option<Task<Shown>>,
    /// What is on disk now was read.
    has_read: bool,
}

struct Read {
    numbers: Vec<u32>,
    found: Option<(u32, Result<Shown, SessionError>)>,
}

impl Kept {
    /// Call each frame.
    pub(super) fn follow(&mut self, project: &Project, comparing: &Comparing, waker: &Waker) {
        match comparing.progress() {
            Some((progress, _)) => {
                // What is on disk is read when it has ended.
                (self.read, self.reading, self.has_read) = (None, None, false);
                self.follow_live(progress.number, progress.so_far, waker);
            }
            None => self.read_kept(project, comparing.ends(), waker),
        }
        if let Some(Ok(made)) = self.making.as_ref().and_then(Task::poll) {
            (self.shown, self.making) = (Some(made), None);
        }
    }

    /// Whether it is known what is kept.
    pub(super) fn has_read(&self) -> bool {
        self.has_read
    }

    fn follow_live(&mut self, number: Option<u32>, so_far: Option<Arc<Comparison>>, waker: &Waker) {
        let Some((number, so_far)) = number.zip(so_far) else {
            (self.shown, self.live, self.making) = (None, None, None);
            return;
        };
        let is_new = self.live.as_ref().is_none_or(|live| !Arc::ptr_eq(live, &so_far));
        if is_new && self.making.is_none() {
            self.live = Some(Arc::clone(&so_far));
            let work = move || Shown::of(number, so_far, None);
            self.making = Some(Task::spawn("comparison", waker.clone(), work));
        }
    }

    fn read_kept(&mut self, project: &Project, ends: usize, waker: &Waker) {
        if let Some(read) = self.reading.as_ref().and_then(Task::poll) {
            (self.reading, self.has_read) = (None, true);
            (self.live, self.making, self.failure) = (None, None, None);
            let Read { numbers, found } = read.unwrap_or(Read { numbers: Vec::new(), found: None });
            self.numbers = numbers;
            self.shown = None;
            match found {
                Some((_, Ok(shown))) => self.shown = Some(shown),
                Some((number, Err(error))) => self.failure = Some((number, capital(&error.to_string()))),
                None => {}
            }
        }
        let wanted = Some((ends, self.wanted));
        if self.reading.is_none() && self.read != wanted {
            self.read = wanted;
            self.reading = Some(Task::spawn("kept comparisons", waker.clone(), read(project, self.wanted)));
        }
    }
}

/// How models of a comparison are trained.
pub(super) fn config(project: &Project, limit: Option<usize>, epochs: Option<usize>) -> Config {
    let settings = project.settings();
    Config { limit, epochs, threads: Some(settings.background_threads()), ..settings.config() }
}

fn read(project: &Project, wanted: Option<u32>) -> impl FnOnce() -> Read + use<> {
    let (path, corpus, encoders) = (project.path().to_owned(), project.snapshot_of_corpus(), project.encoders());
    let common = config(project, None, None);
    move || {
        let numbers = kept_comparisons(&path);
        let number = wanted.filter(|number| numbers.contains(number)).or(numbers.last().copied());
        let show = |number| {
            let kept = KeptComparison::read(&comparison_folder(&path, number))?;
            let config = Config { limit: kept.limit, epochs: kept.epochs, ..common };
            let subject = Subject::of(&corpus, encoders, Some(kept.comparison.part()));
            let facts = Facts {
                missing: kept.missing(),
                is_current: subject.is_ok_and(|subject| kept.is_of(&subject, &config)),
                asked: kept.asked,
                limit: kept.limit,
                epochs: kept.epochs,
                unread: kept.unread,
            };
            Ok(Shown::of(number, kept.comparison, Some(facts)))
        };
        let found = number.map(|number| (number, show(number)));
        Read { numbers, found }
    }
}

impl Shown {
    /// Takes a pass over all that was predicted.
    fn of(number: u32, comparison: Arc<Comparison>, kept: Option<Facts>) -> Self {
        let table = comparison.table();
        let row = |variant: &Variant| {
            let f1 = |(seed, counts): (u64, crate::evaluation::Counts)| Some((seed, counts.f1()?));
            let seeds = comparison.micro(variant).into_iter().filter_map(f1).collect();
            ShownRow { variant: variant.clone(), name: name_of(variant), f1: comparison.f1(variant), seeds }
        };
        let rows = table.rows.iter().map(|table_row| row(&table_row.variant)).collect();
        let best = (0..table.columns.len()).map(|column| best(&table, column)).collect();
        Self { number, comparison, table, rows, best, kept }
    }
}

/// The best figure of a column, unless all are alike.
fn best(table: &ComparisonTable, column: usize) -> Option<f64> {
    let more_is_better = table.columns.get(column)?.more_is_better;
    let figures = || table.rows.iter().filter_map(|row| row.figures.get(column).copied().flatten());
    let (least, most) = (figures().min_by(f64::total_cmp)?, figures().max_by(f64::total_cmp)?);
    (least < most).then_some(if more_is_better { most } else { least })
}
