//! What the model in use finds and confuses, label by label: made on a thread of its own when somebody asks for it.

use super::super::explain;
use super::table::cells;
use crate::annotation::LabelId;
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::button;
use crate::session::{ENOUGH_DEV, EvaluateReport, EvaluateRequest, Part, Project, SessionError, Task};
use crate::wording::{counted, grouped};
use eframe::egui::{Grid, Ui};

/// Confusions that are told.
const MOST_CONFUSIONS: usize = 6;

#[derive(Default)]
pub(super) struct ScoresCard {
    /// What it is scored on, and the work.
    scoring: Option<(Part, Task<Result<EvaluateReport, SessionError>>)>,
    scored: Option<Result<(Part, EvaluateReport), String>>,
}

impl ScoresCard {
    pub(super) fn follow(&mut self) {
        let Some((part, task)) = &self.scoring else { return };
        let Some(came) = task.poll() else { return };
        self.scored = Some(match came {
            Ok(Ok(report)) => Ok((*part, report)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(lost) => Err(lost.to_string()),
        });
        self.scoring = None;
    }

    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project) {
        let counts = project.counts();
        let part = if counts.blind_complete >= ENOUGH_DEV { Part::Blind } else { Part::Dev };
        let there = if part == Part::Blind { counts.blind_complete } else { counts.dev };
        if self.scoring.is_some() {
            explain(ui, "The model is being scored …");
        } else if project.learner().current.is_none() || there == 0 {
            explain(ui, "There is no model yet, or no complete sentence that it did not learn from.");
        } else if button(ui, true, "Score the model in use").clicked() {
            self.start(project, part);
        }
        match &self.scored {
            None => {}
            Some(Err(message)) => explain(ui, message),
            Some(Ok((part, report))) => summary(ui, *part, report, project),
        }
    }

    fn start(&mut self, project: &Project, part: Part) {
        let threads = Some(project.settings().background_threads());
        let request = EvaluateRequest { part, model: None, threads, tasks: false, buckets: false };
        self.scoring = Some((part, project.start_evaluation(request)));
    }
}

fn summary(ui: &mut Ui, part: Part, report: &EvaluateReport, project: &Project) {
    let tokens = theme::tokens(ui);
    let name = |label: LabelId| project.corpus().labels().get(label).map_or("?", |label| label.display_name());
    ui.add_space(size::GAP_SMALL);
    // Rows of text, not of buttons.
    ui.spacing_mut().interact_size.y = 0.0;
    Grid::new("scores").num_columns(4).spacing([size::GAP_LARGE, size::GAP_SMALL]).show(ui, |ui| {
        cells(ui, ["", "F1", "gold", "found"], tokens.text_dim);
        let f1 = |f1: Option<f64>| f1.map_or_else(|| "–".to_owned(), |f1| format!("{:.1}", 100.0 * f1));
        let micro = report.report.micro;
        let all = [f1(micro.f1()), grouped(micro.support()), grouped(micro.true_positives)];
        cells(ui, ["all labels", &all[0], &all[1], &all[2]], tokens.text);
        for (label, counts) in &report.report.labels {
            let row = [f1(counts.f1()), grouped(counts.support()), grouped(counts.true_positives)];
            cells(ui, [name(*label), &row[0], &row[1], &row[2]], tokens.text);
        }
    });
    let mut confused: Vec<_> = report.analyses.confusion.rows().filter(|(gold, said, _)| gold != said).collect();
    confused.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
    for (gold, said, count) in confused.into_iter().take(MOST_CONFUSIONS) {
        let times = counted(count, "time", "times");
        explain(
            ui,
            &match (gold.map(name), said.map(name)) {
                (Some(gold), Some(said)) => format!("{gold} taken for {said} {times}"),
                (Some(gold), None) => format!("{gold} missed, or found with other boundaries, {times}"),
                (None, Some(said)) => format!("{said} where there is none, or with other boundaries, {times}"),
                (None, None) => continue,
            },
        );
    }
    let on = if part == Part::Blind { "the blind set" } else { "dev" };
    let caveat =
        if part == Part::Blind { "" } else { " These are a little too good, since dev chooses epochs and models." };
    let sentences = counted(report.report.sentences, "sentence", "sentences");
    explain(ui, &format!("Model {} on {sentences} of {on}.{caveat}", report.model));
    if let Some(calibration) = project.learner().current.as_ref().and_then(|model| model.calibration) {
        let points = |share: f64| 100.0 * share;
        explain(
            ui,
            &format!(
                "The scores of suggestions were off by {:.1} points on average, and were corrected on dev; on the same \
                 sentences they are off by {:.1} now.",
                points(calibration.error_before),
                points(calibration.error_after)
            ),
        );
    }
}
