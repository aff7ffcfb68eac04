//! How many mentions each label has, the most frequent first.

use super::super::explain;
use crate::annotation::Label;
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::elided;
use crate::session::Project;
use crate::wording::{counted, grouped};
use eframe::egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

/// What a name may take of the width of a row.
const NAME_SHARE: f32 = 0.48;

pub(super) fn show(ui: &mut Ui, project: &Project) {
    let counts = &project.counts().mentions_by_label;
    let of = |label: &Label| counts.get(&label.id).copied().unwrap_or(0);
    let mut labels: Vec<(&Label, usize)> = project.corpus().labels().iter().map(|label| (label, of(label))).collect();
    if labels.is_empty() {
        explain(ui, "This project has no labels yet.");
        return;
    }
    // A stable sort: labels with as many mentions stay in the order of the project.
    labels.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let most = labels.first().map_or(0, |(_, number)| *number).max(1);
    ui.spacing_mut().item_spacing.y = 0.0;
    for (label, number) in labels {
        row(ui, label, number, most);
    }
}

fn row(ui: &mut Ui, label: &Label, number: usize, most: usize) {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::LABEL_ROW), Sense::hover());
    let middle = rect.center().y;
    let color = if number == 0 { tokens.text_faint } else { tokens.text };
    let font = theme::regular(size::TEXT_SMALL);
    let name = elided(ui, label.display_name(), font.clone(), color, rect.width() * NAME_SHARE);
    ui.painter().galley(pos2(rect.left(), middle - name.size().y / 2.0), name.clone(), color);
    let end = ui.painter().text(
        pos2(rect.right(), middle),
        Align2::RIGHT_CENTER,
        grouped(number),
        font,
        if number == 0 { tokens.text_faint } else { tokens.text_dim },
    );
    let left = rect.left() + rect.width() * NAME_SHARE + size::GAP;
    // Bars end where the widest number begins, so that they can be compared.
    let right = (rect.right() - size::NUMBER_COLUMN / 1.5).min(end.left() - size::GAP);
    if number > 0 && right > left {
        let width = ((right - left) * number as f32 / most as f32).max(2.0);
        let bar = Rect::from_min_size(pos2(left, middle - size::SHARE_BAR / 2.0), vec2(width, size::SHARE_BAR));
        ui.painter().rect_filled(bar, 2.5, theme::label_color(label.color, tokens));
    }
    let spoken = format!("{}: {}", label.display_name(), counted(number, "mention", "mentions"));
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    if name.elided {
        response.on_hover_text(label.display_name());
    }
}
