//! `nestling simulate`

use super::args::Simulate;
use super::output::{Ending, Progress, answer, say_losses, stop_flag};
use super::table::Table;
use super::train::tell as tell_training;
use super::{CliError, json as fields};
use crate::experiments::{AboveRandom, Curve, RunRecord, SimulateEvent, SimulateReport, SimulateRequest, simulate};
use crate::session::{Config, Home, ReadRequest, SessionError};
use crate::wording::counted;
use serde_json::{Value, json};

pub(super) fn run(args: &Simulate) -> Result<Ending, CliError> {
    let mut config = Config::default();
    let named = [("encoder", args.encoder.clone()), ("architecture", args.architecture.clone())];
    args.tuning.apply(named, &mut config)?;
    let request = SimulateRequest {
        train: args.train.clone(),
        dev: args.dev.clone(),
        test: args.test.clone(),
        read: ReadRequest { format: None, options: args.options.clone() },
        strategies: args.strategies.clone(),
        pool: args.pool,
        schedule: args.schedule.clone(),
        seeds: args.seeds.clone(),
        config,
        output: args.output.clone(),
        resume: args.resume,
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let report = simulate(&Home::find(), &request, &cancel, &mut |event| tell(&mut progress, event));
    if let (Err(SessionError::Stopped), Some(folder)) = (&report, &args.output) {
        progress.note(&format!("kept in {}; repeat the call with --resume to continue", folder.display()));
    }
    drop(progress);
    let report = report?;
    let saved = args.saved.unwrap_or((
        request.schedule.first().map_or(1, |sentences| sentences + 1),
        request.schedule.last().copied().unwrap_or(1),
    ));
    if !args.common.json {
        say_losses(&report.warnings, &[], &report.notes);
    }
    answer(args.common, &to_json(&report, saved), &to_text(&report, saved))?;
    Ok(Ending::of_losses(report.warnings.len()))
}

fn tell(progress: &mut Progress, event: SimulateEvent) {
    match event {
        SimulateEvent::Started { run, runs, strategy, seed } => {
            progress.note(&format!("run {run} of {runs}: {strategy}, seed {seed}"));
        }
        SimulateEvent::Train(event @ crate::session::TrainEvent::Progress { .. }) => tell_training(progress, event),
        SimulateEvent::Train(_) => {}
        SimulateEvent::Predicted { sentences, of } => progress.show(sentences, of, "open sentences predicted"),
        SimulateEvent::Point(point) => progress.note(&format!(
            "{}, {}: F1 {:.3}, {} instead of {}, suggestions from {:.2} on, trained in {:.0} s",
            counted(point.sentences, "sentence", "sentences"),
            counted(point.tokens, "token", "tokens"),
            point.f1,
            counted(point.actions, "action", "actions"),
            point.actions_from_scratch,
            point.threshold,
            point.train_secs
        )),
    }
}

fn to_json(report: &SimulateReport, (from, to): (usize, usize)) -> Value {
    let run = |run: &RunRecord| {
        json!({
            "strategy": run.strategy,
            "seed": run.seed,
            "points": run.points,
            "annotated": run.annotated,
        })
    };
    let curves = report.curves();
    let above = |above: AboveRandom| json!({ "mean": above.mean, "low": above.low, "high": above.high });
    let curve = |curve: &Curve| {
        json!({
            "strategy": curve.strategy,
            "tokens_for_random": for_random(curve, &curves),
            "above_random": curve.above_random.map(above),
            "saved": report.saved(&curve.strategy, from, to),
        })
    };
    json!({
        "runs": report.runs.iter().map(run).collect::<Vec<_>>(),
        "curves": curves.iter().map(curve).collect::<Vec<_>>(),
        "warnings": fields::warnings(&report.warnings),
        "notes": report.notes,
    })
}

/// Tokens it takes to reach the F1 at which `random` ends, as a share of random's.
fn for_random(curve: &Curve, curves: &[Curve]) -> Option<f64> {
    let last = curves.iter().find(|curve| curve.strategy == "random")?.points.last()?;
    Some(curve.tokens_for(last.f1)? / last.tokens)
}

fn to_text(report: &SimulateReport, (from, to): (usize, usize)) -> String {
    let curves = report.curves();
    let Some(longest) = curves.iter().max_by_key(|curve| curve.points.len()) else { return String::new() };
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let mut heads = vec!["strategy".to_owned(), "runs".to_owned()];
    heads.extend(longest.points.iter().map(|point| format!("F1 at {}", point.sentences)));
    heads.extend(["points above random at equal tokens", "tokens for random's last"].map(str::to_owned));
    heads.push(format!("actions saved from {from} to {to}"));
    let mut table = Table::new(heads);
    for curve in &curves {
        let mut row = vec![curve.runs.to_string()];
        row.extend(longest.points.iter().enumerate().map(|(i, _)| match curve.points.get(i) {
            Some(point) => format!("{:.3} ({:.3} to {:.3})", point.f1, point.low, point.high),
            None => "-".to_owned(),
        }));
        row.push(curve.above_random.map_or_else(|| "-".to_owned(), in_points));
        row.extend([percent(for_random(curve, &curves)), percent(report.saved(&curve.strategy, from, to))]);
        table.row(&curve.strategy, row);
    }
    table.to_string()
}

fn in_points(AboveRandom { mean, low, high }: AboveRandom) -> String {
    format!("{:+.1} ({:+.1} to {:+.1})", 100.0 * mean, 100.0 * low, 100.0 * high)
}
