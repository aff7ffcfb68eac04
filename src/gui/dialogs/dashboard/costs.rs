//! What decisions took: read from the log on a thread of its own when the dashboard opens.

use super::super::explain;
use super::table::cells;
use crate::gui::theme::{self, size};
use crate::session::{Anchoring, Costs, Decision, Project, SessionError, Task};
use crate::wording::{counted, grouped};
use eframe::egui::{Grid, Label, Ui};

#[derive(Default)]
pub(super) struct CostsCard {
    reading: Option<Task<Result<Costs, SessionError>>>,
    /// What came of it, once it has.
    read: Option<Result<Costs, String>>,
}

impl CostsCard {
    pub(super) fn follow(&mut self, project: &Project) {
        if self.read.is_some() {
            return;
        }
        let reading = self.reading.get_or_insert_with(|| project.costs());
        self.read = reading.poll().map(|read| match read {
            Ok(Ok(costs)) => Ok(costs),
            Ok(Err(error)) => Err(error.to_string()),
            Err(lost) => Err(lost.to_string()),
        });
    }

    pub(super) fn show(&self, ui: &mut Ui) {
        match &self.read {
            None => explain(ui, "Reading the log …"),
            Some(Err(message)) => explain(ui, message),
            Some(Ok(costs)) => summary(ui, costs),
        }
    }
}

fn summary(ui: &mut Ui, costs: &Costs) {
    let tokens = theme::tokens(ui);
    if Decision::ALL.iter().all(|decision| costs.all.cost(*decision).count == 0) {
        explain(
            ui,
            "No decisions yet. This will show how much work accepting, correcting, rejecting and adding take \
                     you.",
        );
        return;
    }
    if let Some(share) = costs.all.acceptance() {
        let line = format!("{:.0} % of the suggestions you answered were correct as they were", 100.0 * share);
        ui.add(Label::new(theme::small(line, tokens.text)).wrap());
    }
    ui.add_space(size::GAP_SMALL);
    // Rows of text, not of buttons.
    ui.spacing_mut().interact_size.y = 0.0;
    Grid::new("costs").num_columns(4).spacing([size::GAP_LARGE, size::GAP_SMALL]).show(ui, |ui| {
        cells(ui, ["", "count", "seconds each", "keys each"], tokens.text_dim);
        for decision in Decision::ALL {
            let cost = costs.all.cost(decision);
            let each = |all: f64| match cost.count {
                0 => "–".to_owned(),
                count => format!("{:.1}", all / count as f64),
            };
            cells(ui, [word(decision), &grouped(cost.count), &each(cost.secs), &each(cost.presses)], tokens.text);
        }
    });
    let sentences = counted(costs.completed, "sentence", "sentences");
    let each = costs.secs / costs.completed.max(1) as f64;
    explain(ui, &format!("{sentences} completed, {each:.0} seconds of work each, including reading."));
    if let Some(anchoring) = &costs.anchoring {
        explain(ui, &sway(anchoring));
    }
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Accept => "accepted",
        Decision::Edit => "corrected",
        Decision::Reject => "rejected",
        Decision::Create => "added by hand",
    }
}

/// Whether suggestions sway the person.
fn sway(Anchoring { seen, withheld }: &Anchoring) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    format!(
        "You agree with the model by {} % where you saw its suggestions ({}), and by {} % where they were hidden \
         ({}, between {} and {}). A large gap means that suggestions influence you.",
        percent(seen.f1),
        counted(seen.sentences, "sentence", "sentences"),
        percent(withheld.f1),
        counted(withheld.sentences, "sentence", "sentences"),
        percent(withheld.band.low),
        percent(withheld.band.high),
    )
}
