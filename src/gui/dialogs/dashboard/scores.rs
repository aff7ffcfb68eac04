//! What the model in use finds and confuses, label by label: made on a thread of its own when somebody asks for it.

use super::super::explain;
use crate::annotation::LabelId;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{button, quiet_button};
use crate::gui::widgets::table::{Column, Sort, Table, TableState, cell_text};
use crate::session::{ENOUGH_DEV, EvaluateReport, EvaluateRequest, Part, Project, SessionError, Task};
use crate::wording::{counted, grouped};
use eframe::egui::{Align, Role, Sense, Ui, WidgetInfo};
use std::cmp::Reverse;

/// Confusions that are told.
const MOST_CONFUSIONS: usize = 6;
const COLUMNS: [Column; 4] =
    [Column::rest("Label"), Column::number("F1", 56.0), Column::number("Gold", 64.0), Column::number("Found", 68.0)];
const ROW: f32 = 24.0;
/// More of them scroll.
const MOST_ROWS: usize = 12;

#[derive(Default)]
pub(super) struct ScoresCard {
    /// What it is scored on, and the work.
    scoring: Option<(Part, Task<Result<EvaluateReport, SessionError>>)>,
    scored: Option<Result<Scored, String>>,
    table: TableState,
}

/// Scores as they are shown.
struct Scored {
    part: Part,
    report: EvaluateReport,
    /// That of all labels first, the others in the order of the table.
    rows: Vec<ScoreRow>,
    sorted: Option<Sort>,
    /// What was expected and what was said instead, the most frequent first.
    confused: Vec<(Option<LabelId>, Option<LabelId>, usize)>,
}

struct ScoreRow {
    /// `None`: all labels together.
    label: Option<LabelId>,
    f1: Option<f64>,
    gold: usize,
    found: usize,
}

impl ScoresCard {
    pub(super) fn follow(&mut self) {
        let Some((part, task)) = &self.scoring else { return };
        let Some(came) = task.poll() else { return };
        self.scored = Some(match came {
            Ok(Ok(report)) => Ok(Scored::new(*part, report)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(lost) => Err(lost.to_string()),
        });
        self.scoring = None;
    }

    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        let counts = project.counts();
        let part = if counts.blind_complete >= ENOUGH_DEV { Part::Blind } else { Part::Dev };
        let there = if part == Part::Blind { counts.blind_complete } else { counts.dev };
        if self.scoring.is_some() {
            explain(ui, "Scoring the model …");
        } else if project.learner().current.is_none() || there == 0 {
            explain(ui, "No model yet, or no complete sentences that it did not learn from.");
        } else if button(ui, true, "Score the model in use").clicked() {
            self.start(project, part);
        }
        match &mut self.scored {
            None => {}
            Some(Err(message)) => explain(ui, message),
            Some(Ok(scored)) => {
                scored.sort(self.table.sort(), project);
                summary(ui, scored, &mut self.table, project);
                let id = CommandId::AnalyseModels;
                let more = quiet_button(ui, "More analyses").on_hover_text(commands::title_with_keys(id));
                if more.clicked() {
                    actions.push(UiAction::Command(id));
                }
            }
        }
    }

    fn start(&mut self, project: &Project, part: Part) {
        let threads = Some(project.settings().background_threads());
        let request = EvaluateRequest { threads, ..EvaluateRequest::of(part) };
        self.scoring = Some((part, project.start_evaluation(request)));
    }
}

impl Scored {
    fn new(part: Part, report: EvaluateReport) -> Self {
        let labels = report.report.labels.iter().map(|(label, counts)| (Some(*label), *counts));
        let all = std::iter::once((None, report.report.micro)).chain(labels);
        let rows = all.map(|(label, counts)| ScoreRow {
            label,
            f1: counts.f1(),
            gold: counts.support(),
            found: counts.true_positives,
        });
        let rows = rows.collect();
        let mut confused: Vec<_> = report.analyses.confusion.rows().filter(|(gold, said, _)| gold != said).collect();
        confused.sort_by_key(|(.., count)| Reverse(*count));
        confused.truncate(MOST_CONFUSIONS);
        Self { part, report, rows, sorted: None, confused }
    }

    /// The labels as the report has them, if the table asks for no other order.
    fn sort(&mut self, sort: Option<Sort>, project: &Project) {
        if std::mem::replace(&mut self.sorted, sort) == sort {
            return;
        }
        let Some((_, labels)) = self.rows.split_first_mut() else { return };
        labels.sort_by_key(|row| row.label);
        let name = |row: &ScoreRow| row.label.map(|label| name_of(label, project));
        let Some(sort) = sort else { return };
        sort.apply(labels, |a, b| match sort.column {
            0 => name(a).cmp(&name(b)),
            1 => a.f1.unwrap_or(-1.0).total_cmp(&b.f1.unwrap_or(-1.0)),
            2 => a.gold.cmp(&b.gold),
            _ => a.found.cmp(&b.found),
        });
    }
}

fn name_of(label: LabelId, project: &Project) -> &str {
    project.corpus().labels().get(label).map_or("?", |label| label.display_name())
}

fn score_table(ui: &mut Ui, rows: &[ScoreRow], state: &mut TableState, project: &Project) {
    let height = rows.len().min(MOST_ROWS) as f32 * (ROW + ui.spacing().item_spacing.y);
    let table =
        Table { id: "scores", columns: &COLUMNS, rows: rows.len(), row_height: ROW, height, keeps_height: false };
    table.show(ui, state, |row| {
        let Some(score) = rows.get(row.index()) else { return };
        let name = score.label.map_or("all labels", |label| name_of(label, project));
        let f1 = score.f1.map_or_else(|| "–".to_owned(), |f1| format!("{:.1}", 100.0 * f1));
        let [gold, found] = [score.gold, score.found].map(grouped);
        let response = row.lead(score.label.map(|label| label.0), Sense::hover(), |ui| {
            cell_text(ui, name, Align::Min, theme::tokens(ui).text);
        });
        let spoken = format!("{name}: F1 {f1}, {found} of {gold} found");
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
        for number in [&f1, &gold, &found] {
            row.cell(|ui| {
                cell_text(ui, number, Align::Max, theme::tokens(ui).text);
            });
        }
    });
}

fn summary(ui: &mut Ui, scored: &Scored, state: &mut TableState, project: &Project) {
    let Scored { part, report, confused, .. } = scored;
    let name = |label: LabelId| name_of(label, project);
    ui.add_space(size::GAP_SMALL);
    score_table(ui, &scored.rows, state, project);
    for &(gold, said, count) in confused {
        let times = counted(count, "time", "times");
        explain(
            ui,
            &match (gold.map(name), said.map(name)) {
                (Some(gold), Some(said)) => format!("{gold} labelled as {said} {times}"),
                (Some(gold), None) => format!("{gold} missed or found with wrong boundaries {times}"),
                (None, Some(said)) => format!("{said} found wrongly or with wrong boundaries {times}"),
                (None, None) => continue,
            },
        );
    }
    let on = if *part == Part::Blind { "the blind set" } else { "dev" };
    let caveat = match part {
        Part::Blind => "",
        _ => " These scores are slightly optimistic, since dev chooses epochs and models.",
    };
    let sentences = counted(report.report.sentences, "sentence", "sentences");
    explain(ui, &format!("Model {} on {sentences} of {on}.{caveat}", report.model));
    if let Some(calibration) = project.learner().current.as_ref().and_then(|model| model.calibration) {
        let points = |share: f64| 100.0 * share;
        explain(
            ui,
            &format!(
                "Suggestion scores were off by {:.1} points on average. They were calibrated on dev, where they are \
                 now off by {:.1}.",
                points(calibration.error_before),
                points(calibration.error_after)
            ),
        );
    }
}
