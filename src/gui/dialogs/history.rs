//! Who did what, and when: the log, the newest first. A click goes to the sentence.

use super::{DialogContext, explain, modal};
use crate::annotation::SentenceId;
use crate::gui::actions::UiAction;
use crate::gui::panels::age;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::session::{LogLine, Project, SaveState, SessionError, Task, now_ms};
use crate::wording::{capital, counted, utc};
use eframe::egui::{self, Align, Label, Layout, ScrollArea, Sense, Ui, WidgetInfo, vec2};

/// Entries that are shown.
const MOST: usize = 500;
const ROW: f32 = 28.0;

#[derive(Default)]
pub(crate) struct HistoryDialog {
    /// The sentence that the person is at.
    current: Option<SentenceId>,
    /// Only what changed it.
    of_current: bool,
    reading: Option<Task<Result<Vec<LogLine>, SessionError>>>,
    lines: Vec<LogLine>,
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
        let height = (ctx.content_rect().height() - 220.0).max(120.0);
        let closed = modal(ctx, "History", 760.0, |ui| {
            if self.current.is_some() {
                leaves_enter(ui.checkbox(&mut self.of_current, "Only what changed the sentence that you are at"));
            }
            match &self.failure {
                Some(failure) => explain(ui, failure),
                None if self.reading.is_some() && self.lines.is_empty() => explain(ui, "Reading …"),
                None if self.lines.is_empty() => explain(ui, "Nothing was done yet."),
                None if self.lines.len() == MOST => {
                    explain(ui, &format!("The newest {}.", counted(MOST, "entry", "entries")));
                }
                None => {}
            }
            if project.save_state() != SaveState::AllSaved {
                explain(ui, "What is not saved yet is not among it.");
            }
            ui.add_space(size::GAP_SMALL);
            let has_authors = self.lines.iter().any(|line| !line.author.is_empty());
            let area = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
            area.show_rows(ui, ROW, self.lines.len(), |ui, rows| {
                for line in self.lines.get(rows).unwrap_or_default() {
                    row(ui, line, has_authors, project, context.actions);
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
            Ok(lines) => (self.lines, self.failure) = (lines, None),
            Err(error) => self.failure = Some(capital(&error.to_string())),
        }
    }
}

fn row(ui: &mut Ui, line: &LogLine, has_authors: bool, project: &Project, actions: &mut Vec<UiAction>) {
    let tokens = theme::tokens(ui);
    let sentence = line.sentence.and_then(|id| project.corpus().sentence(id));
    let sense = if sentence.is_some() { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), sense);
    if sentence.is_some() && (response.hovered() || response.has_focus()) {
        ui.painter().rect_filled(rect, 6.0, tokens.hover);
    }
    let when = format!("{} ago", age(i64::try_from(line.time_ms).unwrap_or_default(), now_ms()));
    let what = line.in_words();
    let words = sentence.map_or("", |sentence| project.corpus().sentence_text(sentence));
    let mut inside = ui.new_child(
        egui::UiBuilder::new().max_rect(rect.shrink2(vec2(6.0, 0.0))).layout(Layout::left_to_right(Align::Center)),
    );
    // The words of the sentence have what is left.
    for (text, width, color) in [
        (when.as_str(), 90.0, tokens.text_dim),
        (line.author.as_str(), if has_authors { 100.0 } else { 0.0 }, tokens.text_dim),
        (what.as_str(), 230.0, tokens.text),
        (words, f32::INFINITY, tokens.text_dim),
    ] {
        if width == 0.0 {
            continue;
        }
        let size = vec2(width.min(inside.available_width()).max(20.0), ROW);
        inside.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_width(size.x);
            ui.add(Label::new(theme::small(text, color)).truncate().selectable(false));
        });
    }
    let spoken = format!("{what}, {when}, {}", line.author);
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, sentence.is_some(), &spoken));
    if let Some(sentence) = sentence
        && response.on_hover_text(utc(line.time_ms)).clicked()
    {
        actions.extend([UiAction::GoTo(sentence.id()), UiAction::CloseDialog]);
    }
}
