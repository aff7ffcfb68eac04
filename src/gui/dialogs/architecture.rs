//! The architecture of the next model, and a field for each of its options.
//!
//! # Invariants
//! - What can be set, what it takes and its default come from the architecture's own table.
//! - A number is taken over soon after it is typed, and when its field is left; what its option does not take is said
//!   beside it at once, and is not taken over.

use super::{explain, field_name, problem};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self, size};
use crate::gui::typing::Typing;
use crate::gui::widgets::keyboard::{keeps_enter, leaves_enter};
use crate::gui::widgets::parts::{combo, quiet_button, text_field};
use crate::model::{MAX_WIDTH, OptionDefault, OptionSpec, finders};
use crate::parameter::{Kind, Value};
use crate::session::{Command, Project, Setting, Settings};
use crate::wording::{capital, counted};
use eframe::egui::{Align, Layout, Ui, vec2};
use std::collections::BTreeMap;

/// Room for the name of an option, so that all controls begin below each other.
const NAME_WIDTH: f32 = 150.0;
const CONTROL_WIDTH: f32 = 130.0;

/// What is typed about the architecture.
#[derive(Default)]
pub(super) struct ArchitectureFields {
    /// By the names of options of the chosen architecture, what stands in their fields and the project does not have.
    texts: BTreeMap<&'static str, String>,
    typing: Typing,
}

impl ArchitectureFields {
    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        let settings = project.settings();
        self.choice(ui, settings, actions);
        explain(ui, &what_it_learns(settings));
        let mut is_left = false;
        for (spec, set) in settings.architecture_options() {
            is_left |= self.option(ui, settings, spec, set, actions);
            if spec.name == MAX_WIDTH.name {
                explain(ui, &wider(project));
            }
        }
        explain(ui, kept(settings));
        if is_left || self.typing.is_due(ui.ctx()) {
            self.take_over(settings, actions);
        }
    }

    /// Settings for what is typed, where the options take it.
    pub(super) fn typed(&self, settings: &Settings) -> Vec<Setting> {
        let typed = settings.architecture_options().filter_map(|(spec, set)| {
            let value = spec.takes.read(self.texts.get(spec.name)?.trim())?;
            (value != shown(spec, set)?).then(|| settings.set_option(spec, Some(value)))?
        });
        typed.collect()
    }

    /// What an option does not take stays in its field.
    fn take_over(&mut self, settings: &Settings, actions: &mut Vec<UiAction>) {
        self.typing.settle();
        self.typed(settings).into_iter().for_each(|setting| set(actions, setting));
        let is_taken = |spec: &OptionSpec, text: &str| spec.takes.read(text.trim()).is_some();
        for (spec, _) in settings.architecture_options() {
            if self.texts.get(spec.name).is_some_and(|text| is_taken(spec, text)) {
                self.texts.remove(spec.name);
            }
        }
    }

    fn choice(&mut self, ui: &mut Ui, settings: &Settings, actions: &mut Vec<UiAction>) {
        let name = "Architecture for the next model";
        field_name(ui, name);
        let chosen = finders().find(|architecture| architecture.id() == settings.architecture);
        let title = chosen.map_or(settings.architecture.as_str(), |it| it.name());
        combo(ui, name, title, 180.0, |ui| {
            for architecture in finders() {
                let is_chosen = architecture.id() == settings.architecture;
                let choice = ui.selectable_label(is_chosen, architecture.name()).on_hover_text(architecture.summary());
                if choice.clicked() && !is_chosen {
                    // What is typed belongs to the one that was chosen.
                    self.take_over(settings, actions);
                    self.texts.clear();
                    set(actions, Setting::Architecture(architecture.id().to_owned()));
                }
            }
        });
        explain(ui, chosen.map_or("This program does not have that architecture.", |it| it.summary()));
    }

    /// A row for one option; true when its field of text was left.
    fn option(
        &mut self,
        ui: &mut Ui,
        settings: &Settings,
        spec: &'static OptionSpec,
        is_set: Option<Value>,
        actions: &mut Vec<UiAction>,
    ) -> bool {
        let name = format!("Option {}", spec.name);
        let mut put = |value: Option<Value>| {
            settings.set_option(spec, value).into_iter().for_each(|setting| set(actions, setting));
        };
        let mut is_left = false;
        ui.add_space(size::GAP_SMALL);
        ui.horizontal(|ui| {
            let tokens = theme::tokens(ui);
            let column = vec2(NAME_WIDTH, ui.available_height());
            ui.allocate_ui_with_layout(column, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(NAME_WIDTH);
                ui.label(theme::body(spec.name, tokens.text));
            });
            match (spec.takes, spec.default) {
                (Kind::Flag, OptionDefault::Fixed(default)) => {
                    let mut is_on = is_set.unwrap_or(default) == Value::Flag(true);
                    if leaves_enter(ui.checkbox(&mut is_on, "")).accessible_name(&name).changed() {
                        put(Some(Value::Flag(is_on)));
                    }
                }
                (Kind::Flag | Kind::Choice(_), _) => {
                    combo(ui, &name, words(shown(spec, is_set)), CONTROL_WIDTH, |ui| {
                        for choice in choices(spec) {
                            let is_chosen = choice == shown(spec, is_set);
                            if ui.selectable_label(is_chosen, words(choice)).clicked() && !is_chosen {
                                put(choice);
                            }
                        }
                    });
                }
                _ => is_left = self.number(ui, &name, spec, is_set),
            }
            if is_set.is_some() || self.texts.contains_key(spec.name) {
                let default = quiet_button(ui, "Default").on_hover_text(spec.default_text());
                if default.accessible_name(format!("Default of {}", spec.name)).clicked() {
                    self.texts.remove(spec.name);
                    put(None);
                }
            }
            let refused = self.texts.get(spec.name).filter(|text| spec.takes.read(text.trim()).is_none());
            if refused.is_some() {
                problem(ui, &format!("It takes {}.", spec.takes.expected(None)));
            }
        });
        explain(ui, &meaning(spec));
        is_left
    }

    /// True when it was left.
    fn number(&mut self, ui: &mut Ui, name: &str, spec: &'static OptionSpec, is_set: Option<Value>) -> bool {
        let of_project = words(shown(spec, is_set));
        let mut text = self.texts.get(spec.name).unwrap_or(&of_project).clone();
        let field = keeps_enter(text_field(ui, name, &mut text, CONTROL_WIDTH - 20.0));
        if field.changed() {
            self.typing.touch(ui.ctx());
            match text == of_project {
                true => self.texts.remove(spec.name),
                false => self.texts.insert(spec.name, text),
            };
        }
        field.lost_focus()
    }
}

fn set(actions: &mut Vec<UiAction>, setting: Setting) {
    actions.push(UiAction::Change(Command::Set(setting)));
}

/// The value that an option has; `None` where the encoder decides.
fn shown(spec: &OptionSpec, is_set: Option<Value>) -> Option<Value> {
    match (is_set, spec.default) {
        (Some(value), _) | (None, OptionDefault::Fixed(value)) => Some(value),
        (None, OptionDefault::Auto(..)) => None,
    }
}

fn choices(spec: &OptionSpec) -> Vec<Option<Value>> {
    let open = spec.is_auto().then_some(None);
    let values: Vec<Value> = match spec.takes {
        Kind::Choice(all) => all.iter().copied().map(Value::Choice).collect(),
        _ => [true, false].map(Value::Flag).to_vec(),
    };
    open.into_iter().chain(values.into_iter().map(Some)).collect()
}

fn words(value: Option<Value>) -> String {
    match value {
        None => "auto".to_owned(),
        Some(Value::Flag(is_on)) => if is_on { "on" } else { "off" }.to_owned(),
        Some(value) => value.to_string(),
    }
}

/// What an option is for, what it takes and its default.
fn meaning(spec: &OptionSpec) -> String {
    let default = match spec.default {
        OptionDefault::Fixed(value) => words(Some(value)),
        OptionDefault::Auto(how, _) => format!("auto, on {how}"),
    };
    match spec.takes {
        Kind::Flag | Kind::Choice(_) => format!("{}. Default: {default}.", capital(spec.help)),
        takes => format!("{}: {}. Default: {default}.", capital(spec.help), takes.expected(None)),
    }
}

fn what_it_learns(settings: &Settings) -> String {
    let Some(sees) = settings.sees() else { return String::new() };
    let is_bounded = settings.architecture_options().any(|(spec, _)| spec.name == MAX_WIDTH.name);
    let width =
        if is_bounded { format!(" of up to {}", counted(settings.max_width, "word", "words")) } else { String::new() };
    format!("It learns {sees}{width}, with one label on the same words. Other mentions it can't learn.")
}

/// How many mentions of the project are too wide.
fn wider(project: &Project) -> String {
    match project.corpus().mentions_wider_than(project.settings().max_width) {
        0 => "No mention here is longer; searching for longer ones takes more time.".to_owned(),
        n => format!("{} and can't be learned.", counted(n, "mention here is longer", "mentions here are longer")),
    }
}

fn kept(settings: &Settings) -> &'static str {
    match settings.architecture_options().any(|(spec, _)| spec.name == MAX_WIDTH.name) {
        true => {
            "These take effect with the next full training. Each architecture keeps its own values; max_width is the \
             same for all."
        }
        false => "These take effect with the next full training. Each architecture keeps its own values.",
    }
}
