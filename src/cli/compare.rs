//! `nestling compare`

use super::args::{Compare, SplitName};
use super::output::{Ending, Progress, answer, open_to_read, stop_flag};
use super::table::Table;
use super::train::tell;
use super::{CliError, json as fields};
use crate::model::architectures;
use crate::session::{CompareRequest, ComparedRun, Comparison, ENOUGH_DEV, Part, Spread};
use crate::wording::counted;
use clap::ValueEnum;
use serde_json::{Value, json};

pub(super) fn run(args: &Compare) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let mut config = project.settings().config();
    let named = [("epochs", args.epochs.map(|n| n.to_string())), ("limit", args.limit.map(|n| n.to_string()))];
    args.tuning.apply(named, &mut config)?;
    let all = || architectures().iter().map(|architecture| architecture.id().to_owned()).collect();
    let request = CompareRequest {
        architectures: if args.architectures.is_empty() { all() } else { args.architectures.clone() },
        seeds: args.seeds.clone(),
        config,
        part: args.split.map(|split| split.part()),
    };
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let mut at = 0;
    let compared = project.compare_now(&request, &cancel, &mut |(run, runs), event| {
        if run != at {
            at = run;
            progress.note(&format!("model {run} of {runs}"));
        }
        tell(&mut progress, event);
    })?;
    drop(progress);
    answer(args.common, &to_json(&compared), &to_text(&compared))?;
    Ok(Ending::Whole)
}

fn part_name(part: Part) -> &'static str {
    SplitName::value_variants().iter().find(|split| split.part() == part).map_or("", |split| split.name())
}

fn f1(run: &ComparedRun) -> Option<f64> {
    run.micro.f1()
}

fn to_json(compared: &Comparison) -> Value {
    let run = |run: &ComparedRun| {
        json!({
            "seed": run.seed,
            "micro": fields::counts(run.micro),
            "train_sentences": run.train_sentences,
            "train_secs": run.train_secs,
            "sentences_per_sec": run.sentences_per_sec,
            "score_secs": run.score_secs,
            "peak_memory_mb": run.peak_memory_mb,
            "parameters": run.parameters,
        })
    };
    let spread = |Spread { mean, deviation }: Spread| json!({ "mean": mean, "deviation": deviation });
    let rows = compared.architectures().into_iter().map(|id| {
        let runs = compared.runs.iter().filter(|run| run.architecture == id);
        json!({
            "architecture": id,
            "f1": spread(compared.spread(id, f1)),
            "train_secs": spread(compared.spread(id, |run| Some(run.train_secs))),
            "score_secs": spread(compared.spread(id, |run| Some(run.score_secs))),
            "peak_memory_mb": spread(compared.spread(id, |run| run.peak_memory_mb)),
            "runs": runs.map(run).collect::<Vec<_>>(),
        })
    });
    json!({
        "split": part_name(compared.part),
        "sentences": compared.sentences,
        "architectures": rows.collect::<Vec<_>>(),
    })
}

fn to_text(compared: &Comparison) -> String {
    let mut table = Table::new(["", "F1", "deviation", "training s", "scoring s", "peak MB", "parameters"]);
    let told = |figure: Option<f64>, digits: usize| figure.map_or_else(|| "–".to_owned(), |x| format!("{x:.digits$}"));
    for id in compared.architectures() {
        let Spread { mean, deviation } = compared.spread(id, f1);
        let mean_of = |figure: fn(&ComparedRun) -> Option<f64>| compared.spread(id, figure).mean;
        let cells = [
            told(mean, 4),
            told(deviation, 4),
            told(mean_of(|run| Some(run.train_secs)), 1),
            told(mean_of(|run| Some(run.score_secs)), 2),
            told(mean_of(|run| run.peak_memory_mb), 0),
            told(mean_of(|run| Some(run.parameters as f64)), 0),
        ];
        table.row(id, cells);
    }
    let seeds = compared.runs.len() / compared.architectures().len().max(1);
    let of = counted(compared.sentences, "sentence", "sentences");
    let mut text = format!(
        "{table}Strict micro-F1 on {of} of {}; means over {}",
        part_name(compared.part),
        counted(seeds, "seed", "seeds")
    );
    if compared.part == Part::Dev && compared.sentences >= ENOUGH_DEV {
        text += "\nDev chose the epochs, so these scores are slightly optimistic";
    }
    text
}
