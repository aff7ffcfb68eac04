//! Annotation replayed: what a strategy of choosing sentences reaches with how much work, measured on a corpus whose
//! labels are known.
//!
//! ```text
//! gold files ─> a project without labels ─> choose ─> annotate as gold says ─> train ─> score on test
//!                                             ^                                  │
//!                                             └────────── suggestions <──────────┘
//! ```
//! It is the loop of an open project: the same ranking, suggestions, threshold and training, on a project of its own. The
//! person is replaced: they do what gold says, and what that would take them is counted ([`CorrectionEffort`](crate::evaluation::CorrectionEffort)).
//!
//! # Invariants
//! - A strategy sees what is known in an open project: words, labels given so far, and what the model says.
//! - What is chosen is written down before it is labelled, and a point when it is scored. A simulation that was stopped
//!   goes on from there, to the same result.
//! - Strategies of one seed begin with the same pool.

mod curve;
mod gold;
mod older;
mod plot;
mod record;
mod request;
mod run;

pub use curve::{AboveRandom, Curve, CurvePoint};
pub use record::{PointRecord, RunRecord, SentenceRecord};
pub use request::SimulateRequest;
pub use run::SimulateEvent;

use crate::active::Strategy;
use crate::format::Warning;
use crate::session::{Home, SessionError, temporary_folder, write_text};
use gold::Gold;
use record::Kept;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What came of it: one run for each strategy and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulateReport {
    pub runs: Vec<RunRecord>,
    /// What was left out of the three files.
    pub warnings: Vec<Warning>,
    /// What else is to be known of how they were read.
    pub notes: Vec<String>,
}

impl SimulateReport {
    /// The mean of a strategy's runs, one curve for each strategy in the order asked for.
    pub fn curves(&self) -> Vec<Curve> {
        Curve::of_runs(&self.runs)
    }

    /// Share of the actions that suggestions save over the sentences from `first` to `last`, counted from 1 as they were
    /// annotated: mean of a strategy's runs that have come as far.
    pub fn saved(&self, strategy: &str, first: usize, last: usize) -> Option<f64> {
        let runs = self.runs.iter().filter(|run| run.strategy == strategy);
        let (sum, count) = runs.filter_map(|run| run.saved(first, last)).fold((0.0, 0), |(s, n), x| (s + x, n + 1));
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// Replays a gold corpus for each strategy and seed.
///
/// # Errors
/// Files that can't be read, a strategy that there is not, a schedule that does not fit, a folder that holds another
/// simulation, what can go wrong in training, a stop: what was done up to then is kept in the output's folder.
pub fn simulate(
    home: &Home,
    request: &SimulateRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(SimulateEvent),
) -> Result<SimulateReport, SessionError> {
    let strategies = request.strategies.iter().map(|id| Ok((id.as_str(), id.parse::<Strategy>()?)));
    let strategies = strategies.collect::<Result<Vec<_>, SessionError>>()?;
    request.config.check()?;
    let gold = Gold::read(request)?;
    check_schedule(request, &gold)?;
    let temporary;
    let folder = match &request.output {
        Some(folder) => folder.as_path(),
        None => {
            temporary = temporary_folder()?;
            temporary.path()
        }
    };
    let kept = Kept::open(folder, request)?;
    let (warnings, notes) = gold.told();
    let (mut report, mut number) = (SimulateReport { runs: Vec::new(), warnings, notes }, 0);
    let runs = strategies.len() * request.seeds.len();
    for &seed in &request.seeds {
        for &(name, strategy) in &strategies {
            number += 1;
            on_event(SimulateEvent::Started { run: number, runs, strategy: name.to_owned(), seed });
            let plan = run::Plan { home, request, gold: &gold, kept: &kept, name, strategy, seed };
            report.runs.push(run::run(&plan, cancel, on_event)?);
            write_plot(folder, &report)?;
        }
    }
    Ok(report)
}

fn write_plot(folder: &Path, report: &SimulateReport) -> Result<(), SessionError> {
    write_text(&folder.join("curves.svg"), "write the plot", &plot::svg(&report.curves()))
}

fn check_schedule(request: &SimulateRequest, gold: &Gold) -> Result<(), SessionError> {
    let pool = request.pool.unwrap_or(usize::MAX).min(gold.train_sentences());
    let ascends = request.schedule.is_sorted_by(|a, b| a < b) && request.schedule.first().is_some_and(|n| *n > 0);
    match request.schedule.last() {
        Some(&last) if ascends && last <= pool => Ok(()),
        _ => Err(SessionError::BadSchedule { pool }),
    }
}
