//! Which names are suggested before there is a model, and under which labels.

use super::explain;
use crate::gui::actions::UiAction;
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::combo;
use crate::session::{Command, NameKind, NameLabel, Project, Setting};
use eframe::egui::Ui;

const CHOICE: f32 = 240.0;

pub(super) fn show(ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
    if !project.knows_names() {
        return;
    }
    let settings = project.settings();
    let mut set = |setting: Setting| actions.push(UiAction::Change(Command::Set(setting)));
    let mut is_on = settings.general_names;
    if leaves_enter(ui.checkbox(&mut is_on, "Suggest general names until there is a model")).changed() {
        set(Setting::GeneralNames(is_on));
    }
    let labels = project.corpus().labels();
    let label_name = |said: NameLabel, kind: NameKind| {
        let name = said.label(kind, labels).and_then(|id| labels.get(id)).map(|label| label.name.as_str());
        match (said, name) {
            (NameLabel::Automatic, Some(name)) => format!("Automatic: {name}"),
            (NameLabel::Automatic, None) => "Automatic: no label fits".to_owned(),
            (NameLabel::Label(_), Some(name)) => name.to_owned(),
            (NameLabel::Nothing, _) | (NameLabel::Label(_), None) => "Not suggested".to_owned(),
        }
    };
    for kind in NameKind::ALL.into_iter().filter(|_| is_on) {
        let chosen = settings.names_as.get(&kind).copied().unwrap_or_default();
        ui.horizontal(|ui| {
            combo(ui, kind.name(), label_name(chosen, kind), CHOICE, |ui| {
                let labels = labels.iter().map(|label| NameLabel::Label(label.id));
                for offered in [NameLabel::Automatic, NameLabel::Nothing].into_iter().chain(labels) {
                    if ui.selectable_label(offered == chosen, label_name(offered, kind)).clicked() {
                        set(Setting::NamesAs(kind, offered));
                    }
                }
            });
            ui.label(kind.name());
        });
    }
    explain(
        ui,
        "The encoder has seen persons, organisations and places in other texts. It suggests these, and any of your labels \
         that has the same name as one it knows. It knows nothing about your other labels.",
    );
}
