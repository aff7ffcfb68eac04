//! Two variants against each other: how sure the better one is better, and the sentences in which they differ.

use super::super::explain;
use super::super::scored::difference_in_words;
use super::kept::Shown;
use super::words::name_of;
use crate::annotation::SentenceId;
use crate::evaluation::F1Difference;
use crate::experiments::{Comparison, Variant};
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::elided;
use crate::gui::widgets::parts;
use crate::gui::widgets::sentence::{Content, Typesetter, paint_words};
use crate::gui::widgets::table::{Column, Row, Table, TableState, cell_place, cell_text};
use crate::session::{Project, Task, Waker};
use crate::wording::counted;
use eframe::egui::{Align, CursorIcon, Label, Role, Sense, Ui, WidgetInfo, pos2};
use std::sync::Arc;

/// More of them scroll.
const MOST_ROWS: usize = 8;
/// Words that are set for a row; more don't fit into the widest one.
const MOST_WORDS: usize = 40;
/// Characters that a screen reader says of a sentence.
const MOST_SPOKEN: usize = 80;
const COLUMNS: [Column; 1] = [Column::rest("Sentence").unsorted()];

#[derive(Default)]
pub(super) struct Pair {
    /// What was made last, or is being made.
    of: Option<(Arc<Comparison>, Variant, Variant)>,
    making: Option<Task<Made>>,
    made: Option<Made>,
    table: TableState,
}

struct Made {
    difference: Option<F1Difference>,
    differing: Vec<SentenceId>,
}

impl Pair {
    /// Compares the two again where they or their runs are others. Call each frame.
    pub(super) fn follow(&mut self, shown: &Shown, selected: &[Variant], waker: &Waker) {
        let [first, second] = selected else {
            *self = Self::default();
            return;
        };
        let is_same = |(of, a, b): &(Arc<Comparison>, Variant, Variant)| {
            Arc::ptr_eq(of, &shown.comparison) && a == first && b == second
        };
        if !self.of.as_ref().is_some_and(is_same) {
            let of = (Arc::clone(&shown.comparison), first.clone(), second.clone());
            self.of = Some(of.clone());
            let work = move || {
                let (comparison, first, second) = of;
                Made {
                    difference: comparison.difference(&first, &second),
                    differing: comparison.differing(&first, &second),
                }
            };
            self.making = Some(Task::spawn("paired bootstrap", waker.clone(), work));
        }
        if let Some(made) = self.making.as_ref().and_then(Task::poll) {
            (self.made, self.making) = (made.ok(), None);
        }
    }

    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, context: &mut DialogContext<'_>) {
        let tokens = theme::tokens(ui);
        let Some((_, first, second)) = &self.of else {
            explain(ui, "Select two rows to compare them with each other.");
            return;
        };
        let Some(made) = &self.made else {
            explain(ui, "Comparing the two …");
            return;
        };
        let text = match made.difference {
            Some(difference) => difference_in_words(&name_of(first), &name_of(second), difference),
            None => "These two have no seed in common yet, or nothing to score, so they can't be compared.".to_owned(),
        };
        ui.add(Label::new(theme::body(text, tokens.text)).wrap());
        if made.difference.is_some() {
            explain(
                ui,
                "Paired bootstrap over the scored sentences, with the seeds that both have: how much the difference \
                 depends on which sentences were scored.",
            );
        }
        if made.differing.is_empty() {
            explain(ui, "Both found the same in every sentence.");
            return;
        }
        ui.add_space(size::GAP_SMALL);
        let sentences = counted(made.differing.len(), "sentence", "sentences");
        parts::section(ui, &format!("They differ in {sentences}"));
        let rows = made.differing.len();
        let height = rows.min(MOST_ROWS) as f32 * (size::LABEL_ROW + ui.spacing().item_spacing.y);
        let table = Table {
            id: "differing",
            columns: &COLUMNS,
            rows,
            row_height: size::LABEL_ROW,
            height,
            keeps_height: false,
        };
        table.show(ui, &mut self.table, |row| {
            if let Some(id) = made.differing.get(row.index()) {
                show_row(row, *id, project, context);
            }
        });
    }
}

fn show_row(row: &mut Row<'_, '_, '_>, id: SentenceId, project: &Project, context: &mut DialogContext<'_>) {
    let corpus = project.corpus();
    let Some(sentence) = corpus.sentence(id) else {
        let response = row.lead(id.0, Sense::hover(), |ui| {
            cell_text(ui, "This sentence is no longer in the project", Align::Min, theme::tokens(ui).text_faint);
        });
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, "a sentence that is no longer in the project"));
        return;
    };
    let content = Content::plain(corpus, sentence, 0..MOST_WORDS);
    let response = row.lead(id.0, Sense::click(), |ui| paint(ui, context.typesetter, &content));
    let spoken: String = corpus.sentence_text(sentence).chars().take(MOST_SPOKEN).collect();
    response
        .widget_info(|| WidgetInfo::labeled(Role::ListItem, true, format!("go to sentence {}: {spoken}", id.0 + 1)));
    if response.on_hover_cursor(CursorIcon::PointingHand).clicked() {
        context.actions.extend([UiAction::GoTo(id), UiAction::CloseDialog]);
    }
}

fn paint(ui: &Ui, typesetter: &mut Typesetter, content: &Content) {
    let color = theme::tokens(ui).text;
    let place = cell_place(ui);
    if content.can_be_cut() {
        let mut text = String::new();
        for word in &content.words {
            text.push_str(if word.gap_before && !text.is_empty() { " " } else { "" });
            text.push_str(&word.text);
        }
        let galley = elided(ui, &text, theme::regular(size::TEXT), color, place.width());
        ui.painter().galley(pos2(place.left(), place.center().y - galley.size().y / 2.0), galley, color);
        return;
    }
    // Set by our own flow: egui has no bidirectional text.
    let (flow, origin) = typesetter.set_row(ui, content, place);
    paint_words(ui, content, &flow, origin, color);
}
