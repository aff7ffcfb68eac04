//! `nestling costs`

use super::CliError;
use super::args::Costs as Args;
use super::output::{Ending, answer, open_to_read};
use super::table::Table;
use crate::annotation::LabelId;
use crate::session::{Agreement, Anchoring, Costs, Decision, Decisions, SessionError};
use crate::wording::counted;
use serde_json::{Map, Value, json};

pub(super) fn run(args: &Args) -> Result<Ending, CliError> {
    let project = open_to_read(&args.project)?;
    let costs = project.costs().wait().map_err(SessionError::from)??;
    let name = |label: LabelId| {
        // The log may name labels that are gone.
        project.corpus().labels().get(label).map_or_else(|| format!("label {}", label.0), |l| l.name.clone())
    };
    let (mut json, mut text) = (to_json(&costs, name), to_text(&costs, name));
    let anchoring = costs.anchoring;
    json["anchoring"] = anchoring
        .as_ref()
        .map_or(Value::Null, |found| json!({ "seen": agreement(&found.seen), "withheld": agreement(&found.withheld) }));
    if let Some(Anchoring { seen, withheld }) = anchoring {
        let told = |a: &Agreement| {
            format!(
                "{:.2} ({:.2} to {:.2}, {})",
                a.f1,
                a.band.low,
                a.band.high,
                counted(a.sentences, "sentence", "sentences")
            )
        };
        text.push_str(&format!(
            "\nAgreement with the model (F1): {} where suggestions were seen, {} where they were withheld",
            told(&seen),
            told(&withheld)
        ));
    }
    answer(args.common, &json, &text)?;
    Ok(Ending::Whole)
}

fn agreement(agreement: &Agreement) -> Value {
    let Agreement { sentences, f1, band } = agreement;
    json!({ "sentences": sentences, "f1": f1, "low": band.low, "high": band.high })
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Accept => "accept",
        Decision::Edit => "edit",
        Decision::Reject => "reject",
        Decision::Create => "create",
    }
}

fn to_json(costs: &Costs, name: impl Fn(LabelId) -> String) -> Value {
    let of = |decisions: &Decisions| {
        let mut object = Map::new();
        for decision in Decision::ALL {
            let cost = decisions.cost(decision);
            object.insert(
                word(decision).to_owned(),
                json!({ "count": cost.count, "secs": cost.secs, "presses": cost.presses }),
            );
        }
        object.insert("acceptance".to_owned(), json!(decisions.acceptance()));
        Value::Object(object)
    };
    let labels: Map<String, Value> = costs.labels.iter().map(|(label, d)| (name(*label), of(d))).collect();
    let models: Map<String, Value> = costs.models.iter().map(|(model, d)| (model.to_string(), of(d))).collect();
    json!({
        "all": of(&costs.all),
        "labels": labels,
        "models": models,
        "completed_sentences": costs.completed,
        "secs": costs.secs,
        "presses": costs.presses,
    })
}

fn to_text(costs: &Costs, name: impl Fn(LabelId) -> String) -> String {
    let heads = ["", "accept", "edit", "reject", "create", "accepted"];
    let mut table = Table::new(heads);
    let mut row = |title: &str, decisions: &Decisions| {
        let mut cells: Vec<String> = Decision::ALL
            .iter()
            .map(|decision| {
                let cost = decisions.cost(*decision);
                match cost.count {
                    0 => "-".to_owned(),
                    n => format!("{n} ({:.1} s, {:.1} keys)", cost.secs / n as f64, cost.presses / n as f64),
                }
            })
            .collect();
        cells.push(decisions.acceptance().map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share)));
        table.row(title, cells);
    };
    row("all", &costs.all);
    costs.labels.iter().for_each(|(label, decisions)| row(&name(*label), decisions));
    costs.models.iter().for_each(|(model, decisions)| row(&format!("model {model}"), decisions));
    let (hours, per) = (costs.secs / 3600.0, costs.secs / costs.completed.max(1) as f64);
    let completed = counted(costs.completed, "sentence", "sentences");
    format!("{table}{completed} completed in {hours:.1} hours of work, {per:.0} s each")
}
