//! `nestling compare`

use super::analyses::object;
use super::args::{Compare, SplitName};
use super::output::{Ending, Progress, answer, open_to_read, stop_flag};
use super::table::Table;
use super::train::tell as tell_training;
use super::{CliError, json as fields};
use crate::evaluation::{Counts, F1Difference};
use crate::experiments::{CompareEvent, CompareRequest, ComparedRun, Comparison, Spread, Subject, Variant, compare};
use crate::model::finders;
use crate::session::{ENOUGH_DEV, Part, SessionError};
use crate::wording::counted;
use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// Columns of the table that fit a terminal; the files of `--output` have all.
const SHOWN: [&str; 10] = ["F1", "±", "P", "R", "nested", "flat", "train s", "predict s", "train MB", "parameters"];

pub(super) fn run(args: &Compare) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let mut config = project.settings().config();
    let named = [("epochs", args.epochs.map(|n| n.to_string())), ("limit", args.limit.map(|n| n.to_string()))];
    args.tuning.apply(named, &mut config)?;
    let all = || finders().map(|architecture| architecture.id().to_owned()).collect();
    let named = if args.architectures.is_empty() { all() } else { args.architectures.clone() };
    let values = |(key, values): &(String, String)| (key.clone(), values.split(',').map(str::to_owned).collect());
    let request = CompareRequest {
        variants: Variant::sweep(&named, &args.vary.iter().map(values).collect::<Vec<_>>()),
        seeds: args.seeds.clone(),
        config,
        part: args.split.map(|split| split.part()),
        output: args.output.clone(),
        resume: args.resume,
    };
    let subject = Subject::of(project.corpus(), project.encoders(), request.part)?;
    let cancel = stop_flag();
    let mut progress = Progress::start(args.common);
    let compared = compare(&subject, &request, &cancel, &mut |event| tell(&mut progress, event));
    if let (Err(SessionError::Stopped), Some(folder)) = (&compared, &args.output) {
        progress.note(&format!("kept in {}; repeat the command with --resume to continue", folder.display()));
    }
    drop(progress);
    let compared = compared?;
    answer(args.common, &to_json(&compared), &to_text(&compared))?;
    Ok(Ending::Whole)
}

fn tell(progress: &mut Progress, event: CompareEvent) {
    match event {
        CompareEvent::Started { run, runs, variant, seed } => {
            progress.note(&format!("model {run} of {runs}: {variant}, seed {seed}"));
        }
        CompareEvent::Train(event) => tell_training(progress, event),
        CompareEvent::Scored { f1, .. } => progress.note(&format!("F1 {}", fields::score(f1))),
    }
}

fn part_name(part: Part) -> &'static str {
    SplitName::value_variants().iter().find(|split| split.part() == part).map_or("", |split| split.name())
}

/// Every two variants, the one named first first.
fn pairs<'a>(compared: &'a Comparison) -> Vec<(&'a Variant, &'a Variant, F1Difference)> {
    let variants = compared.variants();
    let later = |(place, first): (usize, &&'a Variant)| {
        let first = *first;
        let others: Vec<&'a Variant> = variants.iter().skip(place + 1).copied().collect();
        others.into_iter().filter_map(move |second| Some((first, second, compared.difference(first, second)?)))
    };
    variants.iter().enumerate().flat_map(later).collect()
}

fn to_json(compared: &Comparison) -> Value {
    let spread = |Spread { mean, deviation }: Spread| json!({ "mean": mean, "deviation": deviation });
    let row = |variant: &Variant| {
        json!({
            "architecture": variant.architecture,
            "settings": variant.settings.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect::<Map<_, _>>(),
            "f1": spread(compared.f1(variant)),
            "train_secs": spread(compared.spread(variant, |run| Some(run.cost.train_secs))),
            "score_secs": spread(compared.spread(variant, |run| Some(run.cost.score_secs))),
            "peak_memory_mb": spread(compared.spread(variant, |run| run.cost.peak_memory_mb)),
            "predict_memory_mb": spread(compared.spread(variant, |run| run.cost.predict_memory_mb)),
            "nesting": object(compared.nesting(variant).rows()),
            "length": object(compared.lengths(variant).rows()),
            "runs": runs_json(compared, variant),
        })
    };
    let difference = |(first, second, of): (&Variant, &Variant, F1Difference)| {
        json!({
            "first": first.to_string(),
            "second": second.to_string(),
            "f1_difference": of.difference,
            "low": of.interval.low,
            "high": of.interval.high,
            "p": of.p,
        })
    };
    json!({
        "split": part_name(compared.part()),
        "sentences": compared.sentences().len(),
        "architectures": compared.variants().into_iter().map(row).collect::<Vec<_>>(),
        "differences": pairs(compared).into_iter().map(difference).collect::<Vec<_>>(),
    })
}

fn runs_json(compared: &Comparison, variant: &Variant) -> Vec<Value> {
    let runs = compared.runs().filter(|run| run.variant == *variant);
    let run = |(run, (_, micro)): (&ComparedRun, (u64, Counts))| {
        json!({
            "seed": run.seed,
            "micro": fields::counts(micro),
            "train_sentences": run.cost.train_sentences,
            "unlearnable_mentions": run.cost.unlearnable_mentions,
            "epochs": run.cost.epochs,
            "best_epoch": run.cost.best_epoch,
            "train_secs": run.cost.train_secs,
            "sentences_per_sec": run.cost.sentences_per_sec,
            "score_secs": run.cost.score_secs,
            "peak_memory_mb": run.cost.peak_memory_mb,
            "predict_memory_mb": run.cost.predict_memory_mb,
            "parameters": run.cost.parameters,
        })
    };
    runs.zip(compared.micro(variant)).map(run).collect()
}

fn to_text(compared: &Comparison) -> String {
    let full = compared.table();
    let shown: Vec<usize> =
        SHOWN.iter().filter_map(|title| full.columns.iter().position(|column| column.title == *title)).collect();
    let title = |place: &usize| full.columns.get(*place).map(|column| column.title.clone()).unwrap_or_default();
    let mut table = Table::new(std::iter::once(String::new()).chain(shown.iter().map(title)));
    for row in &full.rows {
        let cell = |place: &usize| match (full.columns.get(*place), row.figures.get(*place)) {
            (Some(column), Some(figure @ Some(_))) => column.text(*figure),
            _ => "–".to_owned(),
        };
        table.row(&row.variant.to_string(), shown.iter().map(cell));
    }
    let seeds = compared.runs().count() / compared.variants().len().max(1);
    let of = counted(compared.sentences().len(), "sentence", "sentences");
    let mut text = format!(
        "{table}Strict micro-F1 on {of} of {}; means over {}\n",
        part_name(compared.part()),
        counted(seeds, "seed", "seeds")
    );
    let pairs = pairs(compared);
    if !pairs.is_empty() {
        let mut table = Table::new(["paired bootstrap", "F1", "95 % from", "to", "p"]);
        for (first, second, F1Difference { difference, interval, p }) in pairs {
            let figures = [difference, interval.low, interval.high].map(|f1| format!("{f1:+.4}"));
            table.row(&format!("{second} − {first}"), figures.into_iter().chain([format!("{p:.3}")]));
        }
        text += &format!("\n{table}");
    }
    if compared.part() == Part::Dev && compared.sentences().len() >= ENOUGH_DEV {
        text += "Dev chose the epochs, so these scores are slightly optimistic\n";
    }
    text.trim_end().to_owned()
}
