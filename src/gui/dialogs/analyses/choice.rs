//! What is analysed: sentences of which split, which model, and which other one it is compared with.

use super::super::options::option_rows;
use super::super::scored::part_name;
use super::super::{explain, field_name};
use crate::annotation::ModelId;
use crate::gui::theme::size;
use crate::gui::widgets::parts::combo;
use crate::model::architecture;
use crate::session::{ENOUGH_DEV, KeptModel, ModelInfo, Part, Project, Task};
use crate::wording::counted;
use eframe::egui::{Align, Layout, Ui, vec2};

const SPLIT: f32 = 180.0;
const MODEL: f32 = 380.0;
const GAP: f32 = 8.0;

/// What a person has chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) part: Part,
    pub(super) model: ModelId,
    /// Compared with it.
    pub(super) other: Option<ModelId>,
}

/// The fields, with what there is to choose from.
pub(super) struct Chooser {
    part: Part,
    /// `None`: the one in use, or the newest.
    model: Option<ModelId>,
    other: Option<ModelId>,
    /// Those whose files are there, the newest first; `None` until it is known.
    models: Option<Vec<ModelInfo>>,
    looking: Option<Task<Vec<KeptModel>>>,
}

impl Chooser {
    pub(super) fn new(project: &Project) -> Self {
        let none = Self { part: proposed(project), model: None, other: None, models: None, looking: None };
        none.looking_again(project)
    }

    /// The same choice; the models that are there now.
    pub(super) fn looking_again(self, project: &Project) -> Self {
        // Without any there is nothing to look for.
        let looking = project.models().next().map(|_| project.look_for_models());
        let models = looking.is_none().then(Vec::new);
        Self { models, looking, ..self }
    }

    /// Call each frame.
    pub(super) fn follow(&mut self, project: &Project) {
        if let Some(kept) = self.looking.as_ref().and_then(Task::poll) {
            self.looking = None;
            let info = |id| project.models().find(|model| model.id == id);
            self.models = Some(kept.unwrap_or_default().into_iter().filter_map(|kept| info(kept.id)).collect());
        }
    }

    pub(super) fn is_looking(&self) -> bool {
        self.looking.is_some()
    }

    /// Why nothing can be analysed, and what to do about it.
    pub(super) fn blocked(&self, project: &Project) -> Option<&'static str> {
        if self.models.as_ref().is_some_and(Vec::is_empty) {
            Some("There is no model yet. Complete some sentences, then train one (Ctrl+T).")
        } else if parts(project).iter().all(|(_, there)| *there == 0) {
            Some("There is nothing to score a model on. Complete some sentences: one in five goes to dev.")
        } else {
            None
        }
    }

    /// `None` while it isn't known which models there are, and without any.
    pub(super) fn choice(&self, project: &Project) -> Option<Choice> {
        let models = self.models.as_ref()?;
        let is_there = |id: &ModelId| models.iter().any(|model| model.id == *id);
        let in_use = project.current_model().filter(is_there);
        let model = self.model.filter(is_there).or(in_use).or(models.first().map(|model| model.id))?;
        let other = self.other.filter(|other| *other != model && is_there(other));
        Some(Choice { part: self.part, model, other })
    }

    /// The chosen split has something to score on.
    pub(super) fn has_sentences(&self, project: &Project) -> bool {
        there(project, self.part) > 0
    }

    /// Whether the chosen model finds no mentions and labels given words.
    pub(super) fn labels_given(&self, choice: Choice) -> bool {
        self.info(choice.model).is_some_and(ModelInfo::labels_given)
    }

    fn info(&self, id: ModelId) -> Option<&ModelInfo> {
        self.models.as_ref()?.iter().find(|model| model.id == id)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project) {
        let Some(choice) = self.choice(project) else { return };
        let labels_given = self.labels_given(choice);
        let Some(models) = &self.models else { return };
        let (part, model, other) = (&mut self.part, &mut self.model, &mut self.other);
        let name =
            |id: ModelId| models.iter().find(|model| model.id == id).map_or_else(String::new, |m| title(m, project));
        option_rows(ui, |ui| {
            field(ui, "Sentences of", SPLIT, part_name(choice.part), |ui| {
                for (each, there) in parts(project).into_iter().filter(|(_, there)| *there > 0) {
                    ui.selectable_value(part, each, format!("{} ({there} complete)", part_name(each)));
                }
            });
            field(ui, "Model", MODEL, &name(choice.model), |ui| {
                for each in models {
                    ui.selectable_value(model, Some(each.id), title(each, project));
                }
            });
            let comparable = |each: &&ModelInfo| each.id != choice.model && !each.labels_given() && !labels_given;
            if models.iter().any(|each| comparable(&each)) {
                let shown = choice.other.map_or_else(|| "no other model".to_owned(), name);
                field(ui, "Compared with", MODEL, &shown, |ui| {
                    ui.selectable_value(other, None, "no other model");
                    for each in models.iter().filter(comparable) {
                        ui.selectable_value(other, Some(each.id), title(each, project));
                    }
                });
            }
        });
        for caveat in caveats(choice.part, there(project, choice.part)) {
            explain(ui, &caveat);
        }
    }
}

fn field(ui: &mut Ui, name: &str, width: f32, shown: &str, choices: impl FnOnce(&mut Ui)) {
    let down = Layout::top_down(Align::Min);
    ui.allocate_ui_with_layout(vec2(width + GAP, 0.0), down, |ui| {
        field_name(ui, name);
        combo(ui, name, shown, width, choices);
    });
    ui.add_space(size::GAP_SMALL);
}

/// "Model 4: SmartSpanNER, 62 sentences (in use)".
fn title(model: &ModelInfo, project: &Project) -> String {
    let name = architecture(&model.architecture).map_or(model.architecture.as_str(), |known| known.name());
    let learned = counted(model.train_sentences, "sentence", "sentences");
    let in_use = if project.current_model() == Some(model.id) { " (in use)" } else { "" };
    format!("Model {}: {name}, {learned}{in_use}", model.id)
}

/// What can be scored on, with the complete sentences there are.
fn parts(project: &Project) -> [(Part, usize); 4] {
    let counts = project.counts();
    [
        (Part::Dev, counts.dev),
        (Part::Blind, counts.blind_complete),
        (Part::Test, counts.test_complete),
        (Part::Train, counts.train),
    ]
}

fn there(project: &Project, part: Part) -> usize {
    parts(project).into_iter().find(|(each, _)| *each == part).map_or(0, |(_, there)| there)
}

/// Dev, which is there to be looked at. Test only where a person chooses it, and the blind set where there is nothing else.
fn proposed(project: &Project) -> Part {
    let is_there = |part: &Part| there(project, *part) > 0;
    [Part::Dev, Part::Train, Part::Blind].into_iter().find(is_there).unwrap_or(Part::Dev)
}

/// What a reader of the analyses should know.
fn caveats(part: Part, scored: usize) -> Vec<String> {
    let mut caveats = Vec::new();
    if scored < ENOUGH_DEV {
        let few = counted(scored, "sentence is", "sentences are");
        caveats.push(format!("Only {few} scored. With fewer than {ENOUGH_DEV}, scores say little."));
    }
    let of_part = match part {
        Part::Dev => "Dev also chooses between models, so scores on it are slightly optimistic.",
        Part::Test => {
            "Whoever reads the errors on test and acts on them makes test a second dev set: keep it for the final score."
        }
        Part::Train => "Models learned from these sentences: scores show what they remember, not how good they are.",
        Part::Blind => {
            "Whoever reads the errors on the blind set and acts on them makes its scores optimistic: look at dev first."
        }
        Part::Pool => "",
    };
    caveats.extend((!of_part.is_empty()).then(|| of_part.to_owned()));
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_with_what_to_know_of_them() {
        assert_eq!(caveats(Part::Dev, ENOUGH_DEV).len(), 1);
        let all = caveats(Part::Test, 5);
        assert!(all[0].starts_with("Only 5 sentences are scored") && all[1].contains("second dev set"), "{all:?}");
    }
}
