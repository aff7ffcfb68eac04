//! The finding that is looked at, above the page: what is doubtful and why, and what can be done.

use super::PanelContext;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{self, Icon, icon_button, key_cap};
use crate::session::{Doubt, Proposal, doubt_in_words};
use crate::wording::{capital, counted};
use eframe::egui::{self, Align, Label, Layout, Margin, Panel, Ui};

/// Of the words that a finding is about, so many characters are shown.
const MOST_CHARACTERS: usize = 60;

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let Some(review) = &panel.view.review else { return };
    let Some(finding) = review.finding().copied() else { return };
    let corpus = panel.project.corpus();
    let name = |label| corpus.labels().get(label).map_or("?", |l| l.display_name());
    let is_here = panel.view.current() == Some(finding.sentence);
    let is_gone = corpus.sentence(finding.sentence).is_none();
    let (is_begun, holds, (at, of)) = (review.is_begun(), review.holds(corpus), review.place());
    let words: String = review.words().chars().take(MOST_CHARACTERS).collect();
    let cut = if words.len() < review.words().len() { "…" } else { "" };
    let marked = match finding.proposal() {
        Some(Proposal::Mark(label)) => format!("“{words}{cut}” is not marked. Maybe {}?", name(label)),
        Some(Proposal::Relabel(_) | Proposal::Remove) | None => format!("“{words}{cut}” is {}.", name(finding.label)),
    };
    let sure = match finding.doubt {
        Doubt::Missing | Doubt::OtherLabel { .. } => format!(", {:.0} % sure", 100.0 * finding.weight),
        Doubt::Unlikely | Doubt::OftenOtherwise { .. } | Doubt::OftenMarked { .. } | Doubt::RareNesting { .. } => {
            String::new()
        }
    };
    let why = if !is_begun {
        format!("{} to review.", counted(review.open(corpus), "doubtful annotation", "doubtful annotations"))
    } else if holds {
        format!("{marked} {}{sure}", capital(&doubt_in_words(&finding, corpus.labels())))
    } else if is_gone {
        "The sentence no longer exists.".to_owned()
    } else {
        "You changed this. Continue when it is right.".to_owned()
    };
    let change = match finding.proposal().filter(|_| holds) {
        Some(Proposal::Mark(label)) => Some(format!("Mark as {}", name(label))),
        Some(Proposal::Relabel(label)) => Some(format!("Change to {}", name(label))),
        Some(Proposal::Remove) => Some("Remove it".to_owned()),
        None => None,
    };
    let way_on = match (is_begun, is_gone) {
        (false, _) => "Start",
        (true, true) => "Continue",
        (true, false) => "Go back",
    };
    let frame =
        egui::Frame::new().fill(theme::mix(tokens.panel, tokens.accent, 0.12)).inner_margin(Margin::symmetric(16, 8));
    Panel::top("look again").frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            let heading = if is_begun { format!("Review · {at} of {of}") } else { "Review".to_owned() };
            ui.label(theme::heading(heading, tokens.accent));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if icon_button(ui, Icon::Cross, true, "End review").clicked() {
                    panel.request(UiAction::Command(CommandId::EndLookAgain));
                }
                if is_begun && is_here {
                    answers(ui, panel, change.as_deref(), holds);
                } else {
                    go_on(ui, panel, way_on);
                }
                ui.add_space(size::GAP);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(theme::small(why, tokens.text)).wrap());
                });
            });
        });
    });
}

fn go_on(ui: &mut Ui, panel: &mut PanelContext<'_>, text: &str) {
    let id = CommandId::LookAgain;
    key_cap(ui, &commands::keys_text(id));
    if parts::primary_button(ui, true, text).clicked() {
        panel.request(UiAction::Command(id));
    }
}

/// From the right: pass by, leave as it is, change.
fn answers(ui: &mut Ui, panel: &mut PanelContext<'_>, change: Option<&str>, holds: bool) {
    let keep = if holds { "Keep as is" } else { "Continue" };
    for (text, id) in [("Later", CommandId::Next), (keep, CommandId::CompleteAndNext)] {
        key_cap(ui, &commands::keys_text(id));
        if parts::button(ui, panel.can(id), text).clicked() {
            panel.request(UiAction::Command(id));
        }
    }
    if let Some(change) = change {
        key_cap(ui, &commands::keys_text(CommandId::Accept));
        if parts::primary_button(ui, panel.can(CommandId::Accept), change).clicked() {
            panel.request(UiAction::Command(CommandId::Accept));
        }
    }
}
