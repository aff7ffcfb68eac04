//! `nestling simulate`

use super::CliError;
use super::args::Simulate;
use super::output::{Ending, Progress, answer, stop_flag};
use super::table::Table;
use super::train::tell as tell_training;
use crate::session::{
    Config, Curve, Home, ReadRequest, RunRecord, SessionError, SimulateEvent, SimulateReport, SimulateRequest, simulate,
};
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
        progress.note(&format!("kept in {}; the same call with --resume goes on from there", folder.display()));
    }
    drop(progress);
    let report = report?;
    answer(args.common, &to_json(&report), &to_text(&report))?;
    Ok(Ending::Whole)
}

fn tell(progress: &mut Progress, event: SimulateEvent) {
    match event {
        SimulateEvent::Started { run, runs, strategy, seed } => {
            progress.note(&format!("run {run} of {runs}: {strategy}, seed {seed}"));
        }
        SimulateEvent::Train(event @ crate::session::TrainEvent::Progress { .. }) => tell_training(progress, event),
        SimulateEvent::Train(_) => {}
        SimulateEvent::Point(point) => progress.note(&format!(
            "{} sentences, {} tokens: F1 {:.3}, {} actions instead of {}, suggestions from {:.2} on, trained in {:.0} s",
            point.sentences,
            point.tokens,
            point.f1,
            point.actions,
            point.actions_from_scratch,
            point.threshold,
            point.train_secs
        )),
    }
}

fn to_json(report: &SimulateReport) -> Value {
    let run = |run: &RunRecord| {
        json!({
            "strategy": run.strategy,
            "seed": run.seed,
            "points": run.points,
            "annotated": run.annotated,
        })
    };
    let curves = report.curves();
    let curve = |curve: &Curve| json!({ "strategy": curve.strategy, "tokens_for_random": for_random(curve, &curves) });
    json!({
        "runs": report.runs.iter().map(run).collect::<Vec<_>>(),
        "curves": curves.iter().map(curve).collect::<Vec<_>>(),
    })
}

/// Tokens it takes to reach the F1 at which `random` ends, as a share of random's.
fn for_random(curve: &Curve, curves: &[Curve]) -> Option<f64> {
    let last = curves.iter().find(|curve| curve.strategy == "random")?.points.last()?;
    Some(curve.tokens_for(last.f1)? / last.tokens)
}

fn to_text(report: &SimulateReport) -> String {
    let curves = report.curves();
    let Some(longest) = curves.iter().max_by_key(|curve| curve.points.len()) else { return String::new() };
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let mut heads = vec!["strategy".to_owned(), "runs".to_owned()];
    heads.extend(longest.points.iter().map(|point| format!("F1 at {}", point.sentences)));
    heads.extend(["tokens for random's last".to_owned(), "actions saved after the first".to_owned()]);
    let mut table = Table::new(heads);
    for curve in &curves {
        let mut row = vec![curve.runs.to_string()];
        row.extend(longest.points.iter().enumerate().map(|(i, _)| match curve.points.get(i) {
            Some(point) => format!("{:.3} ({:.3} to {:.3})", point.f1, point.low, point.high),
            None => "-".to_owned(),
        }));
        let later: Vec<f64> = curve.saved.iter().skip(1).copied().flatten().collect();
        let saved = (!later.is_empty()).then(|| later.iter().sum::<f64>() / later.len() as f64);
        row.extend([percent(for_random(curve, &curves)), percent(saved)]);
        table.row(&curve.strategy, row);
    }
    table.to_string()
}
