//! The line at the foot: saved or not, whose suggestions, what the learner does.

use super::{PanelContext, age, next_training, origin};
use crate::annotation::ModelId;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, Tokens, size};
use crate::gui::widgets::parts::{self, quiet_button};
use crate::session::{
    Command, FailedWork, Failure, LearnerState, ModelInfo, Project, SaveState, Setting, TrainingProgress,
};
use crate::wording::{counted, grouped};
use eframe::egui::{self, Align, Label, Layout, Margin, Panel, Ui};

/// A passing message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    pub text: String,
    pub is_error: bool,
    /// In egui's time, in seconds.
    pub until: f64,
    /// The revision of the corpus that it speaks of; the next edit makes it old.
    pub revision: Option<u64>,
    /// It tells of an edit, which can be taken back.
    pub offers_undo: bool,
}

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>, notice: Option<&Notice>) {
    let tokens = theme::tokens(ui);
    let frame = egui::Frame::new().fill(tokens.panel).inner_margin(Margin::symmetric(16, 0));
    Panel::bottom("status line").exact_size(size::STATUS_LINE).frame(frame).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            saved(ui, panel, tokens);
            ui.add_space(size::GAP);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                learner(ui, panel);
                comparison(ui, panel);
                ui.add_space(size::GAP_LARGE);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| match notice {
                    Some(notice) => {
                        let color = if notice.is_error { tokens.bad } else { tokens.accent };
                        let undo = CommandId::Undo;
                        let title = undo.title();
                        let help = commands::title_with_keys(undo);
                        if notice.offers_undo && quiet_button(ui, title).on_hover_text(help).clicked() {
                            panel.request(UiAction::Command(undo));
                        }
                        let text = ui.add(Label::new(theme::small(&notice.text, color)).truncate());
                        text.on_hover_text(&notice.text);
                    }
                    None => {
                        misfit(ui, panel);
                        model(ui, panel, tokens);
                    }
                });
            });
        });
    });
}

fn saved(ui: &mut Ui, panel: &PanelContext<'_>, tokens: &Tokens) {
    let (text, color) = match panel.project.save_state() {
        _ if !panel.can_change() => ("Read-only".to_owned(), tokens.warn),
        SaveState::AllSaved | SaveState::Saving { .. } if panel.holds_typing => {
            ("Typing, not saved yet".to_owned(), tokens.text_dim)
        }
        SaveState::AllSaved => ("All saved".to_owned(), tokens.good),
        SaveState::Saving { waiting } => (format!("Saving {}", grouped(waiting)), tokens.text_dim),
        SaveState::Failed { .. } => ("Not saved".to_owned(), tokens.bad),
    };
    ui.label(theme::small(text, color).font(theme::bold(size::TEXT_SMALL)));
}

fn model(ui: &mut Ui, panel: &PanelContext<'_>, tokens: &Tokens) {
    let learner = panel.project.learner();
    // What is on screen may be of an older model than the one in use, until it is left.
    let older = panel.view.model().filter(|id| learner.current.as_ref().is_none_or(|current| current.id != *id));
    let info = match older {
        Some(id) => panel.project.models().find(|info| info.id == id),
        None => learner.current.clone(),
    };
    let mut text = match (&info, older) {
        (Some(info), _) => describe(info, panel.now_ms),
        (None, Some(id)) => format!("Suggestions: {}", origin(id)),
        (None, None) if learner.names => format!("Suggestions: {}", origin(ModelId::NAMES)),
        (None, None) => "No model yet".to_owned(),
    };
    if let (Some(_), Some(current)) = (older, &learner.current) {
        text = format!("{text} · now using model {}", current.id);
    }
    let label = ui.add(Label::new(theme::small(text, tokens.text_dim)).truncate());
    if let Some(info) = &info {
        label.on_hover_text(format!("{} with encoder {}", info.architecture, info.encoder));
    }
    if let Some(note) = learner.note.as_ref().filter(|_| learner.state.progress().is_none()) {
        ui.add(Label::new(theme::small(note, tokens.warn)).truncate()).on_hover_text(note);
    }
}

/// Models start from an encoder that has not read the language of the texts.
fn misfit(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let Some(misfit) = panel.project.misfit().filter(|_| panel.can_change()) else { return };
    let Some(better) = misfit.better else { return };
    let tokens = theme::tokens(ui);
    let text = format!("{} does not know {}", misfit.encoder, misfit.language.name());
    ui.add(Label::new(theme::small(text, tokens.warn)).truncate()).on_hover_text(misfit.in_words());
    let help = format!("{}. A click starts the next models from it", misfit.in_words());
    if quiet_button(ui, &format!("Switch to {better}")).on_hover_text(help).clicked() {
        panel.request(UiAction::Change(Command::Set(Setting::Encoder(better.to_owned()))));
    }
}

fn describe(info: &ModelInfo, now_ms: i64) -> String {
    let score = info.dev_f1.map(|f1| format!(" · dev F1 {f1:.2}")).unwrap_or_default();
    format!(
        "Suggestions: model {} · {} · {} old{score}",
        info.id,
        counted(info.train_sentences, "sentence", "sentences"),
        age(info.created_ms, now_ms),
    )
}

/// What the learner does, from the right.
fn learner(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    if !panel.can_change() {
        ui.label(theme::small("Training is off", tokens.text_dim));
        return;
    }
    let learner = panel.project.learner();
    match &learner.state {
        LearnerState::Training(progress) => training(ui, panel, progress, &what_trains(progress)),
        LearnerState::LookingAgain(progress) => {
            let of = counted(progress.train_sentences, "sentence", "sentences");
            training(ui, panel, progress, &format!("Preparing a review of {of}"));
        }
        LearnerState::Failed(Failure { what, message }) => {
            train_now(ui, panel);
            let what = match what {
                FailedWork::Training => "Training failed",
                FailedWork::Predicting => "No suggestions",
            };
            let text = theme::small(format!("{what}: {message}"), tokens.bad);
            ui.add(Label::new(text).truncate()).on_hover_text(message);
        }
        LearnerState::Waiting { sentences_to_go } => {
            train_now(ui, panel);
            ui.label(theme::small(waiting(*sentences_to_go, panel.project), tokens.text_dim));
        }
        LearnerState::Off => {
            train_now(ui, panel);
            let on = quiet_button(ui, "Train automatically");
            if on.on_hover_text("Train as sentences are completed").clicked() {
                panel.request(UiAction::Change(Command::Set(Setting::AutoTrain(true))));
            }
        }
    }
    if let Some(predicting) = panel.project.learner().predicting {
        let text = format!("predicting {} of {}", grouped(predicting.done), grouped(predicting.total));
        ui.label(theme::small(text, tokens.text_faint));
    }
}

/// A comparison of models that goes on; a click shows it.
fn comparison(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let Some((progress, _)) = panel.comparing.progress() else { return };
    let text = match progress.run {
        0 => "Comparing models".to_owned(),
        run => format!("Comparing models: {run} of {}", progress.runs),
    };
    let help = commands::title_with_keys(CommandId::CompareModels);
    if quiet_button(ui, &text).on_hover_text(help).clicked() {
        panel.request(UiAction::Command(CommandId::CompareModels));
    }
}

fn waiting(to_go: usize, project: &Project) -> String {
    let which = next_training(project);
    match to_go {
        0 => format!("The {which} training starts soon"),
        n => format!("{} until the {which} training", counted(n, "more complete sentence", "more complete sentences")),
    }
}

fn train_now(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let title = CommandId::TrainNow.title();
    if quiet_button(ui, title).on_hover_text(commands::title_with_keys(CommandId::TrainNow)).clicked() {
        panel.request(UiAction::Command(CommandId::TrainNow));
    }
}

fn training(ui: &mut Ui, panel: &mut PanelContext<'_>, progress: &TrainingProgress, what: &str) {
    let tokens = theme::tokens(ui);
    if quiet_button(ui, "Stop").on_hover_text("Stop training; your annotations stay").clicked() {
        panel.request(UiAction::Command(CommandId::StopTraining));
    }
    let pause = quiet_button(ui, if progress.paused { "Resume" } else { "Pause" });
    if pause.on_hover_text(commands::title_with_keys(CommandId::PauseTraining)).clicked() {
        panel.request(UiAction::Command(CommandId::PauseTraining));
    }
    if let Some(why) = &progress.not_kept {
        let help = format!("If you close Nestling now, this training starts over: {why}");
        ui.label(theme::small("can't be resumed", tokens.warn)).on_hover_text(help);
    }
    if !progress.warnings.is_empty() {
        ui.label(theme::small("warning", tokens.warn)).on_hover_text(progress.warnings.join("\n"));
    }
    match progress.secs_left {
        _ if progress.paused => {
            ui.label(theme::small("paused", tokens.warn));
        }
        Some(secs) => {
            let left = if secs >= 90.0 { format!("{:.0} min left", secs / 60.0) } else { format!("{secs:.0} s left") };
            ui.label(theme::small(left, tokens.text_dim));
        }
        None => {}
    }
    parts::progress(ui, 150.0, progress.fraction());
    let label = ui.add(Label::new(theme::small(what, tokens.text)).truncate());
    if let Some(why) = why_some(progress) {
        label.on_hover_text(why);
    }
}

fn what_trains(progress: &TrainingProgress) -> String {
    let sentences = match (progress.train_sentences, progress.of_sentences) {
        (all, of) if all >= of => counted(all, "sentence", "sentences"),
        (some, of) => format!("{} of {}", grouped(some), counted(of, "sentence", "sentences")),
    };
    match progress.epoch {
        0 => format!("Training model {} on {sentences}", progress.model),
        epoch => format!("Training model {} on {sentences} · epoch {epoch} of {}", progress.model, progress.epochs),
    }
}

/// Why a training does not take all, and how it would.
fn why_some(progress: &TrainingProgress) -> Option<&'static str> {
    (progress.train_sentences < progress.of_sentences).then_some(
        "Training in the window uses your latest work and a sample of the rest. The settings say how many sentences; \
         `nestling train` uses all.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::ModelId;

    #[test]
    fn a_training_says_how_many_sentences_it_takes_of_how_many() {
        let progress = |train_sentences, of_sentences, epoch| TrainingProgress {
            model: ModelId(3),
            train_sentences,
            of_sentences,
            epoch,
            epochs: 10,
            step: 0,
            steps: 0,
            secs_left: None,
            paused: false,
            not_kept: None,
            warnings: Vec::new(),
        };
        let some = progress(5_000, 585_008, 2);
        assert_eq!(what_trains(&some), "Training model 3 on 5,000 of 585,008 sentences · epoch 2 of 10");
        assert!(why_some(&some).is_some());
        let all = progress(40, 40, 0);
        assert_eq!((what_trains(&all).as_str(), why_some(&all)), ("Training model 3 on 40 sentences", None));
    }
}
