//! What can be set: for the project, stored in its file, and for the window.
//!
//! # Invariants
//! - There is no save button here either: what is changed holds at once.

use super::architecture::ArchitectureFields;
use super::encoders::{EncoderChange, EncoderChoice};
use super::{DialogContext, button_row, default_button, explain, field_name, modal, names, problem};
use crate::encoder::EncoderInfo;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::typing::Typing;
use crate::gui::widgets::keyboard::{keeps_enter, leaves_enter};
use crate::gui::widgets::parts::{self, button, combo, section, text_field};
use crate::model::Nesting;
use crate::session::{Besides, Command, Measure, Project, Setting, Settings, Strategy, background_threads, cores};
use crate::wording::counted;
use eframe::egui::{self, DragValue, ScrollArea, ThemePreference, Ui};
use std::num::NonZero;

pub(crate) struct SettingsDialog {
    /// As typed; taken over while it is, and when the field is left.
    author: String,
    typing: Typing,
    architecture: ArchitectureFields,
    encoder: EncoderChoice,
}

impl SettingsDialog {
    pub(crate) fn new(project: Option<&Project>, encoders: &[EncoderInfo]) -> Self {
        let settings = project.map(Project::settings);
        Self {
            author: settings.map(|s| s.author.clone()).unwrap_or_default(),
            typing: Typing::default(),
            architecture: ArchitectureFields::default(),
            encoder: EncoderChoice::new(encoders, settings.map(|s| s.encoder.clone())),
        }
    }

    /// What was read from the disk meanwhile.
    pub(crate) fn take_listing(&mut self, encoders: &[EncoderInfo]) {
        self.encoder.take_listing(encoders);
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let mut done = false;
        let closed = modal(ctx, "Settings", size::DIALOG_WIDTH, |ui| {
            let height = (ctx.content_rect().height() - 220.0).max(160.0);
            ScrollArea::vertical().max_height(height).show(ui, |ui| {
                of_window(ui, context.actions);
                if let Some(project) = context.project {
                    ui.add_space(size::GAP_SECTION);
                    let can_change = project.read_only().is_none();
                    ui.add_enabled_ui(can_change, |ui| self.of_project(ui, project, context));
                }
            });
            button_row(ui, |ui| done = default_button(ui, true, "Close"));
        });
        if closed || done {
            let typed = context.project.map(|project| self.typed(project));
            typed.into_iter().flatten().for_each(|setting| set(context.actions, setting));
            context.actions.push(UiAction::CloseDialog);
        }
    }

    /// What stands in fields of text and the project does not have yet.
    pub(crate) fn typed(&self, project: &Project) -> Vec<Setting> {
        let of_architecture = match project.read_only() {
            None => self.architecture.typed(project.settings()),
            Some(_) => Vec::new(),
        };
        self.typed_author(project).into_iter().chain(of_architecture).collect()
    }

    /// Who annotates, where it is not what the project has.
    fn typed_author(&self, project: &Project) -> Option<Setting> {
        let author = self.author.trim();
        let is_new = project.read_only().is_none() && author != project.settings().author;
        is_new.then(|| Setting::Author(author.to_owned()))
    }

    fn of_project(&mut self, ui: &mut Ui, project: &Project, context: &mut DialogContext<'_>) {
        let settings = project.settings();
        section(ui, "This project");
        field_name(ui, "Your name");
        let field = text_field(ui, "Your name", &mut self.author, 260.0);
        if field.changed() {
            self.typing.touch(ui.ctx());
        }
        if field.lost_focus() || self.typing.is_due(ui.ctx()) {
            self.typing.settle();
            self.typed_author(project).into_iter().for_each(|author| set(context.actions, author));
        }
        explain(ui, "Recorded with every edit, so that a team can see who did what.");

        field_name(ui, "“Accept all” accepts suggestions from");
        ui.horizontal(|ui| {
            let mut from = settings.accept_all_from;
            if parts::slider(ui, &mut from, 0.05..=0.95, 0.05, "Accept all from").changed() {
                set(context.actions, Setting::AcceptAllFrom(from));
            }
            ui.label(format!("{from:.2}"));
        });
        ui.add_space(size::GAP_SMALL);
        let mut by_effort = settings.threshold_by_effort;
        let title = "Let each model choose the threshold that saves the most work";
        if leaves_enter(ui.checkbox(&mut by_effort, title)).changed() {
            set(context.actions, Setting::ThresholdByEffort(by_effort));
        }
        explain(
            ui,
            "Suggestions with a score below the threshold are hidden. Moving the slider under the sentence turns \
             this off.",
        );

        let mut probes = settings.probes;
        if leaves_enter(ui.checkbox(
            &mut probes,
            "Hide suggestions in a few sentences, to check whether they \
                                                  influence me",
        ))
        .changed()
        {
            set(context.actions, Setting::Probes(probes));
        }
        explain(ui, "One in forty, once a hundred sentences are complete. The dashboard shows the result.");
        names::show(ui, project, context.actions);

        ui.add_space(size::GAP_LARGE);
        section(ui, "Training");
        trainings(ui, project, context.actions);
        teaching(ui, project, context.actions);
        self.architecture.show(ui, project, context.actions);
        flat(ui, project, context.actions);
        field_name(ui, "Encoder for the next model");
        if let Some(misfit) = project.misfit() {
            problem(ui, &format!("{}.", misfit.in_words()));
        }
        match self.encoder.show(ui, context.encoders, context.services) {
            EncoderChange::None => return,
            EncoderChange::Added => context.actions.push(UiAction::RefreshListing),
            EncoderChange::Chosen => {}
        }
        if let Some(name) = self.encoder.chosen() {
            set(context.actions, Setting::Encoder(name.to_owned()));
        }
    }
}

/// Whether mentions that the next model finds may overlap.
fn flat(ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
    let mut is_flat = project.settings().nesting == Nesting::Flat;
    if leaves_enter(ui.checkbox(&mut is_flat, "Flat: suggestions never overlap")).changed() {
        set(actions, Setting::Nesting(if is_flat { Nesting::Flat } else { Nesting::Nested }));
    }
}

fn set(actions: &mut Vec<UiAction>, setting: Setting) {
    actions.push(UiAction::Change(Command::Set(setting)));
}

/// When trainings begin, and what they may use.
fn trainings(ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
    let settings = project.settings();
    let mut by_itself = settings.auto_train;
    if leaves_enter(ui.checkbox(&mut by_itself, "Train automatically as sentences are completed")).changed() {
        set(actions, Setting::AutoTrain(by_itself));
    }
    ui.horizontal(|ui| {
        let label = ui.label("after");
        let mut every = settings.train_after_sentences;
        let field = ui.add_enabled(by_itself, DragValue::new(&mut every).range(1..=10_000)).labelled_by(label.id);
        let field = keeps_enter(field);
        if field.accessible_name("Sentences until the next training").changed() {
            set(actions, Setting::TrainAfterSentences(every));
        }
        ui.label("more complete sentences");
    });
    let limit = settings.train_sentences;
    ui.horizontal(|ui| {
        let mut is_limited = limit.is_some();
        if ui.checkbox(&mut is_limited, "Train on at most").changed() {
            let default = Settings::default().train_sentences;
            set(actions, Setting::TrainSentences(default.filter(|_| is_limited)));
        }
        let mut most = limit.or(Settings::default().train_sentences).map_or(0, NonZero::get);
        let field = ui.add_enabled(limit.is_some(), DragValue::new(&mut most).range(100..=10_000_000));
        if field.accessible_name("Sentences of a training").changed() {
            set(actions, Setting::TrainSentences(NonZero::new(most)));
        }
        ui.label("complete sentences");
    });
    explain(
        ui,
        "Your latest work first, then a sample of the rest, so that a large import doesn't cause hours of training. \
         `nestling train` uses everything.",
    );
    let mut by_own_labels = settings.self_training;
    if leaves_enter(ui.checkbox(&mut by_own_labels, "Also learn from open sentences")).changed() {
        set(actions, Setting::SelfTraining(by_own_labels));
    }
    explain(
        ui,
        "With a pretrained encoder and few complete sentences, the model labels open ones itself and learns from them. \
         That takes longer but finds more. Its labels are never shown or stored as yours.",
    );
    field_name(ui, "Processor cores for training");
    let name = |threads: Option<NonZero<usize>>| match threads {
        None => format!("All but one ({})", background_threads(None)),
        Some(n) => counted(n.get(), "core", "cores"),
    };
    combo(ui, "Processor cores for training", name(settings.threads), 180.0, |ui| {
        for threads in std::iter::once(None).chain((1..=cores()).map(NonZero::new)) {
            if ui.selectable_label(settings.threads == threads, name(threads)).clicked() {
                set(actions, Setting::Threads(threads));
            }
        }
    });
    explain(ui, "Training runs at low priority. A change takes effect with the next training.");
}

/// By what the sentence is chosen that teaches most.
fn teaching(ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
    let chosen = project.settings().strategy;
    let mut pick = |strategy: Strategy| {
        if strategy != chosen {
            set(actions, Setting::Strategy(strategy));
        }
    };
    field_name(ui, "Most informative");
    combo(ui, "Most informative", measure_words(chosen.measure), 360.0, |ui| {
        for measure in Measure::ALL {
            if ui.selectable_label(measure == chosen.measure, measure_words(measure)).clicked() {
                let besides = if measure.asks_a_model() { chosen.besides } else { Besides::Nothing };
                pick(Strategy { measure, besides });
            }
        }
    });
    if chosen.measure.asks_a_model() {
        field_name(ui, "Also consider");
        combo(ui, "Also consider", besides_words(chosen.besides), 360.0, |ui| {
            for besides in Besides::ALL {
                if ui.selectable_label(besides == chosen.besides, besides_words(besides)).clicked() {
                    pick(Strategy { besides, ..chosen });
                }
            }
        });
    }
    let Strategy { measure, besides } = Strategy::DEFAULT;
    let [measure, besides] = [measure_words(measure), besides_words(besides)].map(str::to_lowercase);
    explain(
        ui,
        &format!(
            "Used by “Next: most informative”. By default: {measure}; {besides}. Until there is a model, \
             sentences are chosen by their words alone."
        ),
    );
}

fn measure_words(measure: Measure) -> &'static str {
    match measure {
        Measure::Random => "At random",
        Measure::Order => "Text order",
        Measure::Words => "Typical words not seen yet",
        Measure::LeastConfidence => "Least confident predictions",
        Measure::Entropy => "Most uncertainty about mentions",
        Measure::Neh => "Most uncertainty about where mentions begin",
        Measure::MentionCount => "Most mentions expected",
        Measure::Bald => "Most disagreement within the model",
    }
}

fn besides_words(besides: Besides) -> &'static str {
    match besides {
        Besides::Nothing => "Nothing",
        Besides::Diverse => "Sentences unlike each other",
        Besides::Typical => "Typical words not seen yet",
        Besides::Stochastic => "Chance, so that not only outliers come up",
    }
}

fn of_window(ui: &mut Ui, actions: &mut Vec<UiAction>) {
    section(ui, "Window");
    let ctx = ui.ctx().clone();
    field_name(ui, "Colours");
    ui.horizontal(|ui| {
        let mut preference = ctx.options(|options| options.theme_preference);
        let before = preference;
        let choices = [
            (ThemePreference::System, "Follow the system"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::Dark, "Dark"),
        ];
        for (choice, title) in choices {
            leaves_enter(ui.radio_value(&mut preference, choice, title));
        }
        if preference != before {
            ctx.set_theme(preference);
        }
    });
    field_name(ui, "Size");
    ui.horizontal(|ui| {
        let tokens = theme::tokens(ui);
        for (id, title) in [(CommandId::ZoomOut, "Smaller"), (CommandId::ZoomIn, "Larger")] {
            if button(ui, true, title).on_hover_text(commands::title_with_keys(id)).clicked() {
                actions.push(UiAction::Command(id));
            }
        }
        ui.label(theme::body(format!("{:.0} %", ctx.zoom_factor() * 100.0), tokens.text_dim));
    });
}
