//! What is to be compared.

use super::super::options::option_rows;
use super::super::scored::part_name;
use super::super::{button_row, default_button, explain, field_name, problem};
use super::kept::{Kept, config};
use super::varied::VariedOptions;
use super::words::{duration, seeds_in_words};
use crate::experiments::CompareRequest;
use crate::gui::theme::size;
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::{button, combo, text_field};
use crate::model::{Architecture, finders};
use crate::session::{ENOUGH_DEV, Part, Project};
use crate::wording::{counted, grouped};
use eframe::egui::{Align, Layout, ScrollArea, Ui, vec2};

/// Seeds of a comparison, at most.
const MOST_SEEDS: u64 = 10;
const FIELD: f32 = 140.0;
/// Room for the fields, by which a row knows when it is full.
const FIELD_WITH_GAP: f32 = 148.0;
/// As high as the list of architectures may become.
const MOST_HEIGHT: f32 = 200.0;

/// What a person has chosen.
pub(super) struct Setup {
    /// All that find mentions, and whether each takes part.
    architectures: Vec<(&'static dyn Architecture, bool)>,
    varied: VariedOptions,
    seeds: String,
    limit: String,
    epochs: String,
    part: Part,
}

/// What was pressed.
pub(super) enum Asked {
    Start(Box<CompareRequest>),
    /// Back to what is kept, or out.
    Leave,
}

impl Setup {
    pub(super) fn new(project: &Project) -> Self {
        let part = parts(project).into_iter().find(|(_, there)| *there > 0).map_or(Part::Test, |(part, _)| part);
        Self {
            architectures: finders().map(|a| (a, true)).collect(),
            varied: VariedOptions::default(),
            seeds: "3".to_owned(),
            limit: "all".to_owned(),
            epochs: "auto".to_owned(),
            part,
        }
    }

    /// The page; `can_go_back`: there is something kept to go back to.
    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, kept: &Kept, can_go_back: bool) -> Option<Asked> {
        explain(
            ui,
            "Trains a model with each architecture and each seed on the same sentences, and scores it on others. The \
             models are discarded; your project doesn't change.",
        );
        field_name(ui, "Architectures");
        ScrollArea::vertical().max_height(MOST_HEIGHT).auto_shrink([false, true]).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for (architecture, takes_part) in &mut self.architectures {
                    leaves_enter(ui.checkbox(takes_part, architecture.name()));
                }
            });
        });
        let chosen = self.chosen();
        self.varied.show(ui, &chosen);
        self.fields(ui, project);
        let blocked = blocked(project);
        let request = self.request(project);
        ui.add_space(size::GAP_SMALL);
        match (blocked, &request) {
            (Some(why), _) => problem(ui, why),
            (None, Err(_)) if self.varied.is_wrong(&chosen) => {}
            (None, Err(why)) => problem(ui, why),
            (None, Ok(request)) => self.what_comes(ui, project, kept, request),
        }
        let mut asked = None;
        button_row(ui, |ui| {
            if blocked.is_some() {
                if default_button(ui, true, "Close") {
                    asked = Some(Asked::Leave);
                }
                return;
            }
            let starts = default_button(ui, request.is_ok(), "Start comparison");
            if let Ok(request) = request
                && starts
            {
                asked = Some(Asked::Start(Box::new(request)));
            }
            if button(ui, true, if can_go_back { "Back" } else { "Cancel" }).clicked() {
                asked = Some(Asked::Leave);
            }
        });
        asked
    }

    fn chosen(&self) -> Vec<&'static dyn Architecture> {
        self.architectures.iter().filter(|(_, takes_part)| *takes_part).map(|(architecture, _)| *architecture).collect()
    }

    fn fields(&mut self, ui: &mut Ui, project: &Project) {
        option_rows(ui, |ui| {
            let mut field = |name: &str, text: &mut String, help: &str| {
                let down = Layout::top_down(Align::Min);
                ui.allocate_ui_with_layout(vec2(FIELD_WITH_GAP, 0.0), down, |ui| {
                    field_name(ui, name);
                    text_field(ui, name, text, FIELD).on_hover_text(help);
                });
            };
            field("Seeds", &mut self.seeds, "How many, from 1 to 10, or which: 7, 8, 9");
            field("Training sentences", &mut self.limit, "all, or how many at random; the rest counts as unlabelled");
            field("Epochs", &mut self.epochs, "auto: as for other trainings, by the number of sentences");
            let down = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(vec2(FIELD_WITH_GAP, 0.0), down, |ui| {
                field_name(ui, "Scored on");
                combo(ui, "Scored on", part_name(self.part), FIELD, |ui| {
                    for (part, there) in parts(project).into_iter().filter(|(_, there)| *there > 0) {
                        let sentences = counted(there, "complete sentence", "complete sentences");
                        let text = format!("{} ({sentences})", part_name(part));
                        ui.selectable_value(&mut self.part, part, text);
                    }
                });
            });
        });
    }

    /// # Errors
    /// What can't be read, or is out of bounds, in words.
    fn request(&self, project: &Project) -> Result<CompareRequest, String> {
        let chosen = self.chosen();
        if chosen.is_empty() {
            return Err("Choose at least one architecture.".to_owned());
        }
        let variants = self.varied.variants(&chosen)?;
        let number = |text: &str, none: &str, name: &str, most: usize| match text.trim() {
            "" => Ok(None),
            text if text.eq_ignore_ascii_case(none) => Ok(None),
            text => match text.replace(',', "").parse() {
                Ok(number) if (1..=most).contains(&number) => Ok(Some(number)),
                _ => Err(format!("{name}: enter a whole number from 1 to {}, or {none}.", grouped(most))),
            },
        };
        let limit = number(&self.limit, "all", "Training sentences", usize::from(u16::MAX) * 1_000)?;
        let epochs = number(&self.epochs, "auto", "Epochs", 10_000)?;
        let seeds = seeds(&self.seeds)?;
        let config = config(project, limit, epochs);
        Ok(CompareRequest { variants, seeds, config, part: Some(self.part), output: None, resume: false })
    }

    /// How much work that is, and what its scores will be worth.
    fn what_comes(&self, ui: &mut Ui, project: &Project, kept: &Kept, request: &CompareRequest) {
        let counts = project.counts();
        let models = request.variants.len() * request.seeds.len();
        let train = request.config.limit.map_or(counts.train, |limit| limit.min(counts.train));
        let scored = parts(project).into_iter().find(|(part, _)| *part == self.part).map_or(0, |(_, there)| there);
        explain(
            ui,
            &format!(
                "{} ({} with {} {}), each trained on {} and scored on {} of {}.",
                counted(models, "model", "models"),
                match self.varied.is_empty() {
                    true => counted(request.variants.len(), "architecture", "architectures"),
                    false => counted(request.variants.len(), "variant", "variants"),
                },
                if request.seeds.len() == 1 { "seed" } else { "seeds" },
                seeds_in_words(&request.seeds),
                counted(train, "sentence", "sentences"),
                counted(scored, "sentence", "sentences"),
                part_name(self.part),
            ),
        );
        let known = kept.shown.as_ref().and_then(|shown| {
            shown.comparison.expected_secs(request.variants.iter().map(|variant| (variant, request.seeds.len())))
        });
        explain(
            ui,
            &match known {
                Some(secs) => format!(
                    "This takes roughly {}, judging by earlier comparisons. Models that are already there are not \
                     trained again.",
                    duration(secs)
                ),
                None => "How long this takes will be known once the first model trains.".to_owned(),
            },
        );
        for caveat in caveats(self.part, scored, request.seeds.len()) {
            explain(ui, &caveat);
        }
        explain(
            ui,
            "It runs in the background at low priority while you work, and continues when you close this dialog. If \
             sentences or settings have changed since an earlier comparison, a new one begins; earlier ones are kept.",
        );
    }
}

/// What can be scored on, with the complete sentences there are.
fn parts(project: &Project) -> [(Part, usize); 3] {
    let counts = project.counts();
    [(Part::Test, counts.test_complete), (Part::Dev, counts.dev), (Part::Blind, counts.blind_complete)]
}

/// Why nothing can be compared, whatever is chosen.
fn blocked(project: &Project) -> Option<&'static str> {
    let counts = project.counts();
    if project.read_only().is_some() {
        Some("This project is read-only. Comparisons are kept beside the project, so open it where it can be written.")
    } else if project.corpus().labels().is_empty() {
        Some("The project has no labels. Add some, then annotate and complete sentences.")
    } else if counts.train == 0 {
        Some("There is nothing to train on. Complete some sentences first.")
    } else if parts(project).iter().all(|(_, there)| *there == 0) {
        Some(
            "There is nothing to score on: no sentence of test, dev or the blind set is complete. One in five of the \
             sentences you complete goes to dev; a test set can be imported.",
        )
    } else {
        None
    }
}

/// What a reader of the scores should know.
pub(super) fn caveats(part: Part, scored: usize, seeds: usize) -> Vec<String> {
    let mut caveats = Vec::new();
    if scored < ENOUGH_DEV {
        let few = counted(scored, "sentence is", "sentences are");
        caveats.push(format!("Only {few} scored. With fewer than {ENOUGH_DEV}, differences say little."));
    }
    if part == Part::Dev {
        caveats.push("Dev also chooses the epoch of each model, so scores on dev are slightly optimistic.".to_owned());
    }
    if seeds == 1 {
        caveats.push("With one seed, you can't see how much of a score is luck: three or more show it.".to_owned());
    }
    caveats
}

/// A number of seeds, or the seeds themselves.
///
/// # Errors
/// What is neither, in words.
fn seeds(text: &str) -> Result<Vec<u64>, String> {
    let wrong =
        || format!("Seeds: enter how many, from 1 to {MOST_SEEDS}, or at most {MOST_SEEDS} of them, such as 7, 8, 9.");
    let numbers = text.split([',', ' ', ';']).filter(|part| !part.is_empty()).map(str::parse::<u64>);
    let mut numbers = numbers.collect::<Result<Vec<u64>, _>>().map_err(|_| wrong())?;
    if let [count] = numbers[..] {
        let is_count = (1..=MOST_SEEDS).contains(&count) && !text.contains(',');
        return if is_count {
            Ok((1..=count).collect())
        } else if text.contains(',') {
            Ok(vec![count])
        } else {
            Err(wrong())
        };
    }
    numbers.sort_unstable();
    numbers.dedup();
    let is_well = !numbers.is_empty() && numbers.len() as u64 <= MOST_SEEDS;
    if is_well { Ok(numbers) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_or_a_list() {
        let all = |text: &str| seeds(text).ok();
        assert_eq!(all("3"), Some(vec![1, 2, 3]));
        assert_eq!(all(" 9, 7 8,7"), Some(vec![7, 8, 9]));
        assert_eq!(all("42,"), Some(vec![42]), "one that is named");
        assert_eq!(all("10").map(|seeds| seeds.len()), Some(10));
        for wrong in ["", "0", "11", "a", "1,b", "-1", "1,2,3,4,5,6,7,8,9,10,11"] {
            assert!(all(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn scores_come_with_what_to_know_of_them() {
        assert_eq!(caveats(Part::Test, ENOUGH_DEV, 3), [] as [String; 0]);
        let all = caveats(Part::Dev, 5, 1);
        assert!(all[0].starts_with("Only 5 sentences are scored") && all[1].contains("optimistic") && all.len() == 3);
    }
}
