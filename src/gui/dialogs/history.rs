//! Who did what, and when: the log, the newest first. A click goes to the sentence.

use super::{DialogContext, explain, modal};
use crate::annotation::SentenceId;
use crate::gui::actions::UiAction;
use crate::gui::panels::age;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::table::{Column, Row, Sort, Table, TableState, cell_text};
use crate::session::{LogLine, Project, SaveState, SessionError, Task, now_ms};
use crate::wording::{capital, counted, utc};
use eframe::egui::{self, Align, Sense, WidgetInfo};
use std::cmp::{Ordering, Reverse};

/// Entries that are shown.
const MOST: usize = 500;
const ROW: f32 = 28.0;
const WHEN: Column = Column::text("When", 90.0);
const WHAT: Column = Column::text("What", 230.0);
const SENTENCE: Column = Column::rest("Sentence");
const COLUMNS: [Column; 3] = [WHEN, WHAT, SENTENCE];
/// Where somebody has given a name.
const WITH_AUTHORS: [Column; 4] = [WHEN, WHAT, Column::text("Who", 100.0), SENTENCE];

#[derive(Default)]
pub(crate) struct HistoryDialog {
    /// The sentence that the person is at.
    current: Option<SentenceId>,
    /// Only what changed it.
    of_current: bool,
    reading: Option<Task<Result<Vec<LogLine>, SessionError>>>,
    /// In the order of the table.
    lines: Vec<LogLine>,
    has_authors: bool,
    table: TableState,
    /// The order that the lines are in, once they are.
    sorted: Option<Option<Sort>>,
    failure: Option<String>,
    /// The state of the project that the lines are of: revision, whether all of it is on disk, and of what sentences.
    seen: Option<(u64, bool, bool)>,
}

impl HistoryDialog {
    pub(crate) fn new(current: Option<SentenceId>) -> Self {
        Self { current, ..Self::default() }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        self.follow(project);
        let height = (ctx.content_rect().height() - 260.0).max(120.0);
        let closed = modal(ctx, "History", 760.0, |ui| {
            if self.current.is_some() {
                leaves_enter(ui.checkbox(&mut self.of_current, "Only changes to the current sentence"));
            }
            match &self.failure {
                Some(failure) => explain(ui, failure),
                None if self.reading.is_some() && self.lines.is_empty() => explain(ui, "Reading …"),
                None if self.lines.is_empty() => explain(ui, "No changes yet."),
                None if self.lines.len() == MOST => {
                    explain(ui, &format!("The newest {}.", counted(MOST, "entry", "entries")));
                }
                None => {}
            }
            if project.save_state() != SaveState::AllSaved {
                explain(ui, "Unsaved changes are not listed yet.");
            }
            ui.add_space(size::GAP_SMALL);
            self.sort(project);
            let columns: &[Column] = if self.has_authors { &WITH_AUTHORS } else { &COLUMNS };
            let table =
                Table { id: "history", columns, rows: self.lines.len(), row_height: ROW, height, keeps_height: false };
            table.show(ui, &mut self.table, |row| {
                if let Some(line) = self.lines.get(row.index()) {
                    show_row(row, line, self.has_authors, project, context.actions);
                }
            });
        });
        if closed {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn follow(&mut self, project: &Project) {
        let is_saved = project.save_state() == SaveState::AllSaved;
        let now = Some((project.corpus().revision(), is_saved, self.of_current));
        if self.seen != now && self.reading.is_none() {
            self.seen = now;
            self.reading = Some(project.history(MOST, self.current.filter(|_| self.of_current)));
        }
        let Some(came) = self.reading.as_ref().and_then(Task::poll) else { return };
        self.reading = None;
        match came.map_err(SessionError::from).flatten() {
            Ok(lines) => {
                self.has_authors = lines.iter().any(|line| !line.author.is_empty());
                (self.lines, self.failure, self.sorted) = (lines, None, None);
            }
            Err(error) => self.failure = Some(capital(&error.to_string())),
        }
    }

    /// Brings the lines into the order that the table asks for: the newest first, if it asks for none.
    fn sort(&mut self, project: &Project) {
        let sort = self.table.sort();
        if self.sorted.replace(sort) == Some(sort) {
            return;
        }
        self.lines.sort_by_key(|line| Reverse(line.number));
        let has_authors = self.has_authors;
        if let Some(sort) = sort {
            sort.apply(&mut self.lines, |a, b| compare(a, b, sort.column, has_authors, project));
        }
    }
}

fn compare(a: &LogLine, b: &LogLine, column: usize, has_authors: bool, project: &Project) -> Ordering {
    let place = |line: &LogLine| line.sentence.and_then(|id| project.corpus().place(id));
    match (column, has_authors) {
        (0, _) => a.time_ms.cmp(&b.time_ms),
        (1, _) => a.in_words().cmp(&b.in_words()),
        (2, true) => a.author.cmp(&b.author),
        (_, _) => place(a).cmp(&place(b)),
    }
}

fn show_row(
    row: &mut Row<'_, '_, '_>,
    line: &LogLine,
    has_authors: bool,
    project: &Project,
    actions: &mut Vec<UiAction>,
) {
    let sentence = line.sentence.and_then(|id| project.corpus().sentence(id));
    let sense = if sentence.is_some() { Sense::click() } else { Sense::hover() };
    let when = format!("{} ago", age(i64::try_from(line.time_ms).unwrap_or_default(), now_ms()));
    let what = line.in_words();
    let response = row.lead(line.number, sense, |ui| {
        cell_text(ui, &when, Align::Min, theme::tokens(ui).text_dim);
    });
    row.cell(|ui| {
        cell_text(ui, &what, Align::Min, theme::tokens(ui).text);
    });
    if has_authors {
        row.cell(|ui| {
            cell_text(ui, &line.author, Align::Min, theme::tokens(ui).text_dim);
        });
    }
    row.cell(|ui| {
        let words = sentence.map_or("", |sentence| project.corpus().sentence_text(sentence));
        cell_text(ui, words, Align::Min, theme::tokens(ui).text_dim);
    });
    let spoken = format!("{what}, {when}, {}", line.author);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, sentence.is_some(), &spoken));
    if let Some(sentence) = sentence
        && response.on_hover_text(utc(line.time_ms)).clicked()
    {
        actions.extend([UiAction::GoTo(sentence.id()), UiAction::CloseDialog]);
    }
}
