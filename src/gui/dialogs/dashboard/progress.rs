//! How many sentences are complete, of all and of each split.

use super::super::explain;
use crate::annotation::Status;
use crate::gui::theme::{self, Tokens, size};
use crate::gui::widgets::parts::paint_dot;
use crate::session::Counts;
use crate::wording::{counted, grouped};
use eframe::egui::{
    Align, Color32, CornerRadius, Label, Layout, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2,
};

pub(super) fn show(ui: &mut Ui, counts: &Counts) {
    let tokens = theme::tokens(ui);
    if counts.sentences == 0 {
        explain(ui, "This project has no sentences yet. Import some texts.");
        return;
    }
    let share = |number: usize| number as f32 / counts.sentences as f32;
    let headline = format!(
        "{} of {} complete ({})",
        grouped(counts.complete),
        counted(counts.sentences, "sentence", "sentences"),
        percent(counts.complete, counts.sentences),
    );
    ui.add(Label::new(theme::title(&headline, tokens.text)).wrap());
    ui.add_space(size::GAP_SMALL);
    let parts = parts_of(counts, tokens);
    // What is open is what the bar leaves empty.
    let shares: Vec<_> = parts.iter().filter(|p| p.filled).map(|p| (share(p.number), p.color)).collect();
    bar(ui, size::SHARE_BAR, &shares, &headline);
    ui.add_space(size::GAP_SMALL);
    ui.horizontal_wrapped(|ui| {
        for part in parts {
            legend(ui, &part);
        }
    });
    explain(
        ui,
        &format!(
            "{} · {} · {}",
            counted(counts.documents, "document", "documents"),
            counted(counts.tokens, "word", "words"),
            counted(counts.mentions, "mention", "mentions"),
        ),
    );
    ui.add_space(size::GAP);
    for split in splits_of(counts) {
        show_split(ui, &split);
    }
}

/// Sentences in one state.
struct Part {
    number: usize,
    word: &'static str,
    color: Color32,
    /// Open ones are not.
    filled: bool,
}

fn parts_of(counts: &Counts, tokens: &Tokens) -> [Part; 4] {
    let of = |number, word, status| Part { number, word, color: theme::status_color(status, tokens), filled: true };
    [
        of(counts.complete, "complete", Status::Complete),
        of(counts.flagged, "flagged", Status::Flagged),
        of(counts.skipped, "skipped", Status::Skipped),
        Part { number: counts.untouched + counts.in_progress, word: "open", color: tokens.line_strong, filled: false },
    ]
}

fn legend(ui: &mut Ui, part: &Part) {
    let tokens = theme::tokens(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(3.0 * size::DOT, size::TEXT_SMALL + 5.0), Sense::hover());
    paint_dot(ui.painter(), rect.center(), part.color, part.filled);
    ui.add(Label::new(theme::small(format!("{} {}", grouped(part.number), part.word), tokens.text)).extend());
    ui.add_space(size::GAP);
}

struct Split {
    name: &'static str,
    what: &'static str,
    complete: usize,
    all: usize,
}

/// Those that there are.
fn splits_of(counts: &Counts) -> Vec<Split> {
    let all = [
        Split { name: "train", what: "models learn from it", complete: counts.train, all: counts.train + counts.pool },
        Split { name: "dev", what: "chooses between models", complete: counts.dev, all: counts.dev_all },
        Split { name: "test", what: "for the final test", complete: counts.test_complete, all: counts.test },
        Split { name: "blind", what: "for the learning curve", complete: counts.blind_complete, all: counts.blind },
    ];
    all.into_iter().filter(|split| split.all > 0).collect()
}

fn show_split(ui: &mut Ui, split: &Split) {
    let tokens = theme::tokens(ui);
    let numbers = format!("{} of {}", grouped(split.complete), grouped(split.all));
    ui.spacing_mut().interact_size.y = 0.0;
    ui.horizontal(|ui| {
        ui.label(theme::small(split.name, tokens.text).font(theme::bold(size::TEXT_SMALL)));
        ui.label(theme::small(split.what, tokens.text_dim));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(theme::small(&numbers, tokens.text_dim));
        });
    });
    let share = split.complete as f32 / split.all as f32;
    let spoken = format!("{}: {numbers} complete", split.name);
    bar(ui, size::THIN_BAR, &[(share, tokens.good)], &spoken);
    ui.add_space(size::GAP_SMALL);
}

/// Shares of one, side by side from the left; `spoken` is what a screen reader says.
pub(super) fn bar(ui: &mut Ui, height: f32, shares: &[(f32, Color32)], spoken: &str) -> Response {
    let tokens = theme::tokens(ui);
    let (rail, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let radius = CornerRadius::same((height / 2.0) as u8);
    ui.painter().rect_filled(rail, radius, tokens.line_strong);
    let mut left = rail.left();
    for (share, color) in shares.iter().filter(|(share, _)| *share > 0.0) {
        // What is there is seen, however little it is.
        let right = (left + (share * rail.width()).max(2.0)).min(rail.right());
        let part = Rect::from_min_max(pos2(left, rail.top()), pos2(right, rail.bottom()));
        let round = |at: f32, end: f32| if (at - end).abs() < 0.5 { radius.nw } else { 0 };
        let (start, end) = (round(left, rail.left()), round(right, rail.right()));
        ui.painter().rect_filled(part, CornerRadius { nw: start, sw: start, ne: end, se: end }, *color);
        left = right;
    }
    response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, spoken));
    response
}

/// "17 %", and never 0 or 100 where it is only nearly that.
fn percent(part: usize, all: usize) -> String {
    match (100.0 * part as f64 / all.max(1) as f64).round() {
        rounded if rounded < 1.0 && part > 0 => "under 1 %".to_owned(),
        rounded if rounded >= 100.0 && part < all => "over 99 %".to_owned(),
        rounded => format!("{rounded} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_not_rounded_to_nothing_or_all() {
        let told = [(0, 10), (1, 3), (1, 1000), (999, 1000), (7, 7), (0, 0)].map(|(part, all)| percent(part, all));
        assert_eq!(told, ["0 %", "33 %", "under 1 %", "over 99 %", "100 %", "0 %"]);
    }
}
