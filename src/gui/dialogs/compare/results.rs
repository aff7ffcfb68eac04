//! What came of a comparison, or has come so far: table, two variants against each other, plot.

use super::super::scored::part_name;
use super::super::{explain, problem};
use super::kept::{Kept, Shown, ShownRow};
use super::pair::Pair;
use super::plot;
use super::setup::caveats;
use super::words::{duration, models, name_of};
use crate::experiments::{Column, ColumnGroup, Comparison, ComparisonProgress, Variant};
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::{self, banner, combo, quiet_button};
use crate::gui::widgets::table::{self, Row, Sort, Table, TableState, cell_text_in};
use crate::session::Project;
use crate::wording::counted;
use eframe::egui::{Align, CursorIcon, Label, Role, Sense, Ui, WidgetInfo};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

const GROUPS: [(ColumnGroup, &str); 4] = [
    (ColumnGroup::Scores, "Scores"),
    (ColumnGroup::Nesting, "F1 by nesting"),
    (ColumnGroup::Length, "F1 by length"),
    (ColumnGroup::Costs, "Costs"),
];
const FIGURE: f32 = 84.0;
/// More of them scroll.
const MOST_ROWS: usize = 10;
const PROGRESS: f32 = 200.0;

#[derive(Default)]
pub(super) struct Results {
    group: usize,
    /// Of each group.
    tables: [TableState; GROUPS.len()],
    /// What the order was made of, and the rows in it.
    ordered: Option<(Arc<Comparison>, usize, Option<Sort>)>,
    order: Vec<usize>,
    /// At most two, the one selected last at the end.
    selected: Vec<Variant>,
    /// The two best were selected, once there were two.
    has_selected: bool,
    pair: Pair,
}

impl Results {
    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, kept: &mut Kept, context: &mut DialogContext<'_>) {
        let progress = context.comparing.and_then(|comparing| comparing.progress());
        match &progress {
            Some((progress, is_cancelled)) => under_way(ui, progress, *is_cancelled, context),
            None => {
                if let Some(failure) = context.comparing.and_then(|comparing| comparing.failure()) {
                    problem(ui, failure);
                }
                choose(ui, kept);
            }
        }
        let Some(shown) = &kept.shown else { return };
        self.follow(shown, context);
        head(ui, shown, progress.is_some());
        if shown.rows.is_empty() {
            return;
        }
        ui.add_space(size::GAP_SMALL);
        ui.horizontal_wrapped(|ui| {
            for (group, (_, name)) in GROUPS.iter().enumerate() {
                leaves_enter(ui.selectable_value(&mut self.group, group, *name));
            }
        });
        self.table(ui, shown);
        ui.add_space(size::GAP_SMALL);
        self.pair.show(ui, project, context);
        ui.add_space(size::GAP);
        let ordered = self.order.iter().filter_map(|at| shown.rows.get(*at));
        plot::show(ui, &ordered.collect::<Vec<_>>());
    }

    fn follow(&mut self, shown: &Shown, context: &DialogContext<'_>) {
        if !self.has_selected && shown.rows.len() > 1 {
            let mut best: Vec<&ShownRow> = shown.rows.iter().collect();
            best.sort_by(|a, b| compare(b.f1.mean, a.f1.mean));
            self.selected = best.iter().take(2).map(|row| row.variant.clone()).collect();
            self.has_selected = true;
        }
        self.selected.retain(|variant| shown.rows.iter().any(|row| row.variant == *variant));
        self.pair.follow(shown, &self.selected, &context.services.waker);
    }

    fn table(&mut self, ui: &mut Ui, shown: &Shown) {
        let group = GROUPS.get(self.group).map_or(ColumnGroup::Scores, |(group, _)| *group);
        let columns: Vec<(usize, &Column)> =
            shown.table.columns.iter().enumerate().filter(|(_, column)| column.group == group).collect();
        self.sort(shown, &columns);
        let heads =
            columns.iter().map(|(_, column)| table::Column::number(&column.title, FIGURE).meaning(column.meaning));
        let heads: Vec<table::Column<'_>> = std::iter::once(table::Column::rest("Model")).chain(heads).collect();
        let Some(state) = self.tables.get_mut(self.group) else { return };
        let rows = self.order.len();
        let height = rows.min(MOST_ROWS) as f32 * (size::LABEL_ROW + ui.spacing().item_spacing.y);
        let id = GROUPS.get(self.group).map_or("", |(_, name)| name);
        let table = Table { id, columns: &heads, rows, row_height: size::LABEL_ROW, height, keeps_height: false };
        let mut clicked = None;
        table.show(ui, state, |row| {
            let Some(at) = self.order.get(row.index()).copied() else { return };
            let Some(variant) = shown.rows.get(at).map(|row| &row.variant) else { return };
            if show_row(row, shown, at, &columns, self.selected.contains(variant)) {
                clicked = Some(variant.clone());
            }
        });
        if let Some(variant) = clicked {
            self.toggle(variant);
        }
    }

    /// Of three the one that was selected first goes.
    fn toggle(&mut self, variant: Variant) {
        if let Some(at) = self.selected.iter().position(|selected| *selected == variant) {
            self.selected.remove(at);
        } else {
            self.selected.push(variant);
            if self.selected.len() > 2 {
                self.selected.remove(0);
            }
        }
    }

    /// As the comparison has them, if the table asks for no other order.
    fn sort(&mut self, shown: &Shown, columns: &[(usize, &Column)]) {
        let sort = self.tables.get(self.group).and_then(TableState::sort);
        let is_same = |(of, group, by): &(Arc<Comparison>, usize, Option<Sort>)| {
            Arc::ptr_eq(of, &shown.comparison) && *group == self.group && *by == sort
        };
        if self.ordered.as_ref().is_some_and(is_same) {
            return;
        }
        self.order = (0..shown.rows.len()).collect();
        let name = |at: usize| shown.rows.get(at).map(|row| &row.name);
        let figure = |at: usize, column: usize| shown.table.rows.get(at)?.figures.get(column).copied().flatten();
        if let Some(sort) = sort {
            let column = sort.column.checked_sub(1).and_then(|at| columns.get(at));
            sort.apply(&mut self.order, |a, b| match column {
                None => name(*a).cmp(&name(*b)),
                Some((column, _)) => compare(figure(*a, *column), figure(*b, *column)),
            });
        }
        self.ordered = Some((Arc::clone(&shown.comparison), self.group, sort));
    }
}

/// What has no figure is less than all that have one.
fn compare(a: Option<f64>, b: Option<f64>) -> Ordering {
    a.unwrap_or(f64::NEG_INFINITY).total_cmp(&b.unwrap_or(f64::NEG_INFINITY))
}

/// Scores in percent, costs in their units.
fn text(column: &Column, figure: Option<f64>) -> String {
    match (figure, column.group) {
        (None, _) => "–".to_owned(),
        (figure, ColumnGroup::Costs) => column.text(figure),
        (Some(share), _) => format!("{:.2}", 100.0 * share),
    }
}

/// True where it was clicked.
fn show_row(
    row: &mut Row<'_, '_, '_>,
    shown: &Shown,
    at: usize,
    columns: &[(usize, &Column)],
    is_selected: bool,
) -> bool {
    let (Some(of), Some(figures)) = (shown.rows.get(at), shown.table.rows.get(at).map(|row| &row.figures)) else {
        return false;
    };
    row.select(is_selected);
    let mut is_whole = true;
    let response = row.lead(at, Sense::click(), |ui| {
        let font = if is_selected { theme::bold(size::TEXT_SMALL) } else { theme::regular(size::TEXT_SMALL) };
        is_whole = cell_text_in(ui, &of.name, font, Align::Min, theme::tokens(ui).text);
    });
    let figure = |at: usize| figures.get(at).copied().flatten();
    for (at, column) in columns {
        let figure = figure(*at);
        let is_best = figure.is_some() && shown.best.get(*at).copied().flatten() == figure;
        row.cell(|ui| {
            let tokens = theme::tokens(ui);
            let (font, color) = match is_best {
                true => (theme::bold(size::TEXT_SMALL), tokens.good),
                false => (theme::regular(size::TEXT_SMALL), tokens.text),
            };
            cell_text_in(ui, &text(column, figure), font, Align::Max, color);
        });
    }
    let spoken: Vec<String> =
        columns.iter().map(|(at, column)| format!("{} {}", column.title, text(column, figure(*at)))).collect();
    let spoken = format!("{}: {}", of.name, spoken.join(", "));
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, is_selected, &spoken));
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    let is_clicked = response.clicked();
    if !is_whole {
        response.on_hover_text(&of.name);
    }
    is_clicked
}

/// How far it is, and how to end it.
fn under_way(ui: &mut Ui, progress: &ComparisonProgress, is_cancelled: bool, context: &mut DialogContext<'_>) {
    let tokens = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        parts::progress(ui, PROGRESS, progress.fraction());
        // Before the words: they change several times a second, and it must not move under the pointer.
        if !is_cancelled && quiet_button(ui, "Cancel comparison").on_hover_text("Finished models are kept").clicked() {
            context.actions.push(UiAction::CancelComparison);
        }
        ui.add(Label::new(theme::body(doing(progress, is_cancelled), tokens.text)));
    });
    if let Some(secs) = progress.secs_left().filter(|_| !is_cancelled) {
        explain(ui, &format!("About {} left. You can close this dialog and go on working.", duration(secs)));
    }
    if progress.is_new {
        explain(
            ui,
            "Sentences or settings differ from those of earlier comparisons, so this is a new one. Earlier ones are kept.",
        );
    }
    ui.add_space(size::GAP_SMALL);
}

fn doing(progress: &ComparisonProgress, is_cancelled: bool) -> String {
    let Some(variant) = progress.variant.as_ref().filter(|_| !is_cancelled) else {
        return if is_cancelled { "Stopping …" } else { "Collecting sentences …" }.to_owned();
    };
    let model = format!("Model {} of {}: {}, seed {}", progress.run, progress.runs, name_of(variant), progress.seed);
    match progress.epoch {
        0 => model,
        epoch => format!("{model} · epoch {epoch} of {}", progress.epochs),
    }
}

/// Which of those that are kept.
fn choose(ui: &mut Ui, kept: &mut Kept) {
    let now = kept.shown.as_ref().map(|shown| shown.number).or(kept.failure.as_ref().map(|(number, _)| *number));
    let Some(now) = now else {
        explain(ui, "Reading …");
        return;
    };
    if kept.numbers.len() > 1 {
        combo(ui, "Comparison", format!("Comparison {now}"), 180.0, |ui| {
            for number in kept.numbers.iter().rev() {
                if ui.selectable_label(*number == now, format!("Comparison {number}")).clicked() {
                    kept.wanted = Some(*number);
                }
            }
        });
    }
    if let Some((_, failure)) = &kept.failure {
        problem(ui, failure);
    }
}

fn head(ui: &mut Ui, shown: &Shown, is_running: bool) {
    let tokens = theme::tokens(ui);
    let comparison = &shown.comparison;
    let (scored, there) = (comparison.sentences().len(), comparison.runs().count());
    let seeds = comparison.runs().map(|run| run.seed).collect::<BTreeSet<u64>>().len();
    let all = there + shown.kept.as_ref().map_or(0, |kept| kept.missing);
    let text = format!(
        "Comparison {}: {}, scored on {} of {}. Scores in percent; the best of a column is bold.",
        shown.number,
        if is_running { format!("{} so far", models(there, there)) } else { models(there, all) },
        counted(scored, "sentence", "sentences"),
        part_name(comparison.part()),
    );
    explain(ui, &text);
    for caveat in caveats(comparison.part(), scored, seeds) {
        explain(ui, &caveat);
    }
    let Some(kept) = &shown.kept else { return };
    if !kept.is_current {
        banner(tokens.warn_fill, tokens.line).show(ui, |ui| {
            let text = "Sentences or settings have changed since. These figures stay as they were; more models start a \
                        new comparison.";
            ui.add(Label::new(theme::small(text, tokens.text)).wrap());
        });
    }
    if kept.unread > 0 {
        let files = counted(kept.unread, "file of this comparison", "files of this comparison");
        explain(ui, &format!("{files} couldn't be read and was left out; nothing was deleted."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_selection_replaces_the_first() {
        let mut results = Results::default();
        let select = |results: &mut Results, name: &str| {
            results.toggle(Variant::new(name));
            results.selected.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for (name, expected) in [("a", vec!["a"]), ("b", vec!["a", "b"]), ("c", vec!["b", "c"]), ("b", vec!["c"])] {
            assert_eq!(select(&mut results, name), expected);
        }
    }

    #[test]
    fn what_has_no_figure_comes_before_all_that_have_one() {
        assert_eq!(compare(None, Some(0.0)), Ordering::Less);
        assert_eq!(compare(Some(0.5), Some(0.4)), Ordering::Greater);
        assert_eq!(compare(None, None), Ordering::Equal);
    }
}
