//! The card under the sentence: how many suggestions, of which model, or why there are none.

use super::{PanelContext, next_training, origin};
use crate::annotation::{ModelId, Sentence, Status};
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{self, primary_button, quiet_button};
use crate::session::{Command, FailedWork, LearnerState, Project, Setting, Withheld};
use crate::wording::{capital, counted};
use eframe::egui::{self, Align, Layout, Ui, vec2};

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence) {
    let tokens = theme::tokens(ui);
    parts::card(tokens).inner_margin(egui::Margin::symmetric(18, 14)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let shown = panel.view.suggestion_marks().count();
        let row = vec2(ui.available_width(), 26.0);
        ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), |ui| {
            if withheld(panel, sentence).is_none() {
                threshold(ui, panel);
                ui.add_space(size::GAP_LARGE);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(theme::heading(headline(panel, sentence, shown), tokens.text)).truncate());
            });
        });
        if panel.view.has_news() {
            news(ui, panel);
        }
        ui.add_space(2.0);
        if shown == 0 && !panel.view.has_news() {
            ui.add(egui::Label::new(theme::small(why_none(panel, sentence), tokens.text_dim)).wrap());
        } else if shown > 0 && panel.view.model() == Some(ModelId::NAMES) && panel.project.learner().names {
            let text = "Known from other texts, not learned from you.";
            ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
        }
        actions(ui, panel, shown);
    });
}

/// Newer suggestions wait, so that nothing moves under the cursor.
fn news(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let fill = theme::mix(tokens.card, tokens.accent, 0.12);
    let frame =
        parts::banner(fill, theme::mix(tokens.card, tokens.accent, 0.4)).inner_margin(egui::Margin::symmetric(10, 4));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(theme::small("New suggestions are ready", tokens.text));
            let keys = commands::keys_text(CommandId::ShowNewSuggestions);
            if quiet_button(ui, &format!("Show ({keys})")).clicked() {
                panel.request(UiAction::Command(CommandId::ShowNewSuggestions));
            }
        });
    });
}

/// Why suggestions are withheld; of a probe only where there are some.
fn withheld(panel: &PanelContext<'_>, sentence: &Sentence) -> Option<Withheld> {
    let has_model = panel.project.learner().current.is_some();
    panel.project.withheld(sentence.id()).filter(|why| has_model || *why == Withheld::Blind)
}

fn headline(panel: &PanelContext<'_>, sentence: &Sentence, shown: usize) -> String {
    match (panel.view.model(), shown) {
        _ if withheld(panel, sentence).is_some() => "Suggestions hidden on purpose".to_owned(),
        (None, _) => "No suggestions".to_owned(),
        (Some(model), 0) => format!("No suggestions from {}", origin(model)),
        (Some(model), _) => format!("{} from {}", counted(shown, "suggestion", "suggestions"), origin(model)),
    }
}

/// Why the sentence has no suggestions on screen.
fn why_none(panel: &PanelContext<'_>, sentence: &Sentence) -> String {
    let project = panel.project;
    let learner = project.learner();
    match withheld(panel, sentence) {
        Some(Withheld::Blind) => {
            return "This sentence belongs to the blind set, which shows how good the models really are. You annotate \
                    it without suggestions, and no model learns from it."
                .to_owned();
        }
        Some(Withheld::Probe) => {
            return "In a few sentences the model's suggestions are hidden, to check whether they influence you (see \
                    Settings)."
                .to_owned();
        }
        None => {}
    }
    if !panel.can_change() && panel.view.model().is_none() {
        return "A read-only project gets no new suggestions.".to_owned();
    }
    if learner.current.is_none() && panel.view.model().is_none() && !learner.names {
        return match &learner.state {
            LearnerState::Training(progress) => format!(
                "The first model is training on {}.",
                counted(progress.train_sentences, "sentence", "sentences")
            ),
            LearnerState::Failed(failure) => match failure.what {
                FailedWork::Training => "The last training failed; see the status line.".to_owned(),
                FailedWork::Predicting => "Nothing can be suggested; see the status line.".to_owned(),
            },
            LearnerState::Waiting { .. } | LearnerState::LookingAgain(_) | LearnerState::Off => first_training(project),
        };
    }
    if panel.view.model().is_none() {
        return match learner.predicting {
            Some(_) if learner.names => "Still looking for names; this sentence will be reached soon.".to_owned(),
            None if learner.names => format!("No names were looked for here. {}", first_training(project)),
            Some(_) => "The model is still working through the sentences and will get to this one.".to_owned(),
            None if sentence.status() == Status::Complete => {
                "The model only predicts sentences that are not complete.".to_owned()
            }
            None => "The model hasn't read this sentence yet.".to_owned(),
        };
    }
    let (made, threshold) = (panel.view.suggested(), project.settings().threshold);
    if sentence.status() == Status::Complete && made > 0 {
        return "This sentence is complete, so its remaining suggestions are hidden. Reopen it to see them.".to_owned();
    }
    let below = panel.view.below(sentence, panel.project.corpus().labels(), threshold);
    match (made, below) {
        (0, _) if panel.view.model() == Some(ModelId::NAMES) => {
            format!("No names were found here. {}", first_training(project))
        }
        (0, _) => "The model found nothing here.".to_owned(),
        (_, 0) => "You have answered all suggestions.".to_owned(),
        (_, n) => format!("{} below the threshold of {threshold:.2}.", counted(n, "suggestion is", "suggestions are")),
    }
}

fn first_training(project: &Project) -> String {
    // One that was trained and not used found less than is suggested now.
    let why = match project.models().next() {
        None => "No model yet.",
        Some(_) => "No model of yours finds more yet.",
    };
    let which = next_training(project);
    match project.learner().state {
        LearnerState::Waiting { sentences_to_go } if sentences_to_go > 0 => format!(
            "{why} The {which} training starts automatically after {}.",
            counted(sentences_to_go, "more complete sentence", "more complete sentences"),
        ),
        LearnerState::LookingAgain(_) => format!("{why} The {which} training waits until the review is prepared."),
        LearnerState::Off => format!("{why} Start training once some sentences are complete."),
        LearnerState::Training(_) => format!("{why} A training is under way."),
        LearnerState::Waiting { .. } | LearnerState::Failed(_) => {
            format!("{why} The {which} training starts soon.")
        }
    }
}

fn threshold(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let mut value = panel.project.settings().threshold;
    ui.label(theme::body(format!("{value:.2}"), tokens.text_dim));
    let slider = |ui: &mut Ui| parts::slider(ui, &mut value, 0.05..=0.95, 0.05, "Minimum score of suggestions");
    let response = ui.add_enabled_ui(panel.can_change(), slider).inner;
    let response = response.on_hover_text("Suggestions with a lower score are hidden");
    if response.changed() {
        panel.request(UiAction::Change(Command::Set(Setting::Threshold(value))));
    }
    ui.label(theme::small("from", tokens.text_faint));
}

/// What can be done now: buttons, each with its key.
fn actions(ui: &mut Ui, panel: &mut PanelContext<'_>, shown: usize) {
    let sure = panel.project.settings().accept_all_from;
    let can_change = panel.can_change();
    if shown > 0 {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(size::GAP_SMALL, size::GAP_SMALL);
            action(ui, panel, CommandId::NextMark, "next suggestion");
            if can_change {
                action(ui, panel, CommandId::Accept, "accept");
                action(ui, panel, CommandId::Reject, "reject");
                action(ui, panel, CommandId::AcceptAll, &format!("accept all from {sure:.2}"));
            }
        });
    }
    let row = vec2(ui.available_width(), 34.0);
    ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), |ui| {
        let keys = commands::keys_text(CommandId::CompleteAndNext);
        let complete = primary_button(ui, can_change, "Complete and go to next");
        if complete.on_hover_text(format!("All mentions in this sentence are marked ({keys})")).clicked() {
            panel.request(UiAction::Command(CommandId::CompleteAndNext));
        }
        ui.spacing_mut().item_spacing.x = size::GAP_SMALL;
        if can_change {
            action(ui, panel, CommandId::SkipAndNext, "skip");
        }
        action(ui, panel, CommandId::Next, "next sentence");
    });
}

/// A button that says what it does and by which key.
fn action(ui: &mut Ui, panel: &mut PanelContext<'_>, id: CommandId, does: &str) {
    let tokens = theme::tokens(ui);
    let format = |font, color| egui::TextFormat::simple(font, color);
    let mut text = egui::text::LayoutJob::default();
    text.append(&capital(does), 0.0, format(theme::regular(size::TEXT_SMALL), tokens.text));
    text.append(&commands::keys_text(id), 7.0, format(theme::regular(size::TEXT_SMALL), tokens.text_faint));
    let action = ui.add(egui::Button::new(text).min_size(vec2(0.0, 28.0))).accessible_name(does);
    if action.on_hover_text(commands::title_with_keys(id)).clicked() {
        panel.request(UiAction::Command(id));
    }
}
