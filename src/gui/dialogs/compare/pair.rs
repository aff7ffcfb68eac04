//! Two variants against each other: how sure the better one is better, and the sentences in which they differ.

use super::super::explain;
use super::super::scored::difference_in_words;
use super::kept::Shown;
use super::words::name_of;
use crate::evaluation::F1Difference;
use crate::experiments::{Comparison, Differing, Variant};
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::elided;
use crate::gui::widgets::parts;
use crate::gui::widgets::sentence::{Content, Typesetter, paint_words};
use crate::gui::widgets::table::{Column, Row, Table, TableState, cell_place, cell_text};
use crate::session::{Project, Task, Waker};
use crate::text::tokenize;
use crate::wording::counted;
use eframe::egui::{Align, Color32, CursorIcon, Label, Role, Sense, Ui, WidgetInfo, pos2};
use std::sync::Arc;

/// More of them scroll.
const MOST_ROWS: usize = 8;
/// Words that are set for a row; more don't fit into the widest one.
const MOST_WORDS: usize = 40;
/// Characters that a screen reader says of a sentence.
const MOST_SPOKEN: usize = 80;
/// Room for what one of the two found.
const FOUND: f32 = 220.0;

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
    differing: Vec<Differing>,
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
        explain(
            ui,
            "Beside each sentence is what one of the two found there and the other, with the same seed, did not; and \
             whether that is right.",
        );
        let names = [name_of(first), name_of(second)];
        let [first, second] = names.each_ref().map(|name| Column::text(name, FOUND).unsorted());
        let columns = [Column::rest("Sentence").unsorted(), first, second];
        let table = Table {
            id: "differing",
            columns: &columns,
            rows,
            row_height: size::LABEL_ROW,
            height,
            keeps_height: false,
        };
        table.show(ui, &mut self.table, |row| {
            if let Some(differing) = made.differing.get(row.index()) {
                show_row(row, differing, &names, project, context);
            }
        });
    }
}

fn show_row(
    row: &mut Row<'_, '_, '_>,
    differing: &Differing,
    names: &[String; 2],
    project: &Project,
    context: &mut DialogContext<'_>,
) {
    let (corpus, id) = (project.corpus(), differing.sentence);
    let found = [0, 1].map(|which| found_in_words(differing, which, project));
    let sentence = corpus.sentence(id);
    let response = match sentence {
        Some(sentence) => {
            let content = Content::plain(corpus, sentence, 0..MOST_WORDS);
            row.lead(id.0, Sense::click(), |ui| paint(ui, context.typesetter, &content, theme::tokens(ui).text))
        }
        None => row.lead(id.0, Sense::hover(), |ui| {
            cell_text(ui, "This sentence is no longer in the project", Align::Min, theme::tokens(ui).text_faint);
        }),
    };
    for found in &found {
        row.cell(|ui| {
            let content = Content::foreign(found, &tokenize(found), &[]);
            paint(ui, context.typesetter, &content, theme::tokens(ui).text_dim);
        });
    }
    let told: Vec<String> = names.iter().zip(&found).map(|(name, found)| format!("{name}: {found}")).collect();
    let spoken = match sentence {
        Some(sentence) => {
            let words: String = corpus.sentence_text(sentence).chars().take(MOST_SPOKEN).collect();
            format!("go to sentence {}: {words}; {}", id.0 + 1, told.join("; "))
        }
        None => format!("a sentence that is no longer in the project; {}", told.join("; ")),
    };
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &spoken));
    let response = response.on_hover_text(told.join("\n"));
    if sentence.is_some() && response.on_hover_cursor(CursorIcon::PointingHand).clicked() {
        context.actions.extend([UiAction::GoTo(id), UiAction::CloseDialog]);
    }
}

/// What one of the two found that the other did not: "ORG the Harbour Board (right) · LOC Ven (wrong, 2 of 3 seeds)".
fn found_in_words(differing: &Differing, which: usize, project: &Project) -> String {
    let labels = project.corpus().labels();
    let found = differing.found.iter().filter_map(|found| {
        let seeds = found.alone.get(which).copied().filter(|seeds| *seeds > 0)?;
        let label = labels.get(found.label).map_or("a deleted label", |label| &label.name);
        let judged = if found.is_gold { "right" } else { "wrong" };
        let of = match differing.seeds {
            1 => String::new(),
            all => format!(", {seeds} of {all} seeds"),
        };
        Some(format!("{label} {} ({judged}{of})", found.words))
    });
    let found: Vec<String> = found.collect();
    if found.is_empty() { "–".to_owned() } else { found.join(" · ") }
}

fn paint(ui: &Ui, typesetter: &mut Typesetter, content: &Content, color: Color32) {
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
