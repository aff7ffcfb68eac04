//! What came of an analysis: a line that sums it up, and one section at a time.

use super::super::explain;
use super::super::save_page::Savable;
use super::super::scored::{difference_in_words, part_name};
use super::analysed::{Analysed, OfModel};
use super::buckets::Buckets;
use super::errors::Errors;
use super::probabilities::Probabilities;
use super::scores;
use super::sheet::Sheet;
use super::sheet_table::SheetTable;
use super::vectors::Vectors;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::session::Breakdown;
use crate::wording::{capital, counted};
use eframe::egui::{Label, ScrollArea, Ui};
use std::sync::Arc;

const FINDS_NOTHING: &str = "This model labels given words and finds no mentions, so there are no such scores. Choose a model \
                             that finds mentions.";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Labels,
    Tasks,
    Groups,
    Buckets,
    Errors,
    Probabilities,
    Vectors,
}

const SECTIONS: [(Section, &str); 7] = [
    (Section::Labels, "Labels"),
    (Section::Tasks, "Tasks"),
    (Section::Groups, "Length and nesting"),
    (Section::Buckets, "Buckets"),
    (Section::Errors, "Errors"),
    (Section::Probabilities, "Probabilities"),
    (Section::Vectors, "Vectors"),
];

impl Section {
    /// Of one model at a time.
    fn is_of_one(self) -> bool {
        matches!(self, Self::Errors | Self::Probabilities | Self::Vectors)
    }

    /// What can be saved of it, as it is called, and whether as a picture, too.
    fn breakdowns(self) -> &'static [(Breakdown, &'static str, bool)] {
        match self {
            Self::Labels => &[(Breakdown::Label, "Scores by label", false)],
            Self::Tasks => {
                &[(Breakdown::Tasks, "Scores by task", false), (Breakdown::Matches, "Scores by kind of match", false)]
            }
            Self::Groups => {
                &[(Breakdown::Length, "Scores by length", false), (Breakdown::Nesting, "Scores by nesting", false)]
            }
            Self::Buckets => &[(Breakdown::Buckets, "F1 by bucket", true)],
            Self::Errors => &[(Breakdown::Errors, "Errors", false), (Breakdown::Confusion, "Confusion", true)],
            Self::Probabilities => {
                &[(Breakdown::Scores, "Probabilities", true), (Breakdown::Calibration, "Calibration", true)]
            }
            Self::Vectors => &[(Breakdown::Vectors, "Vectors", true), (Breakdown::Similarity, "Similarities", false)],
        }
    }
}

/// What there is of an analysis, with what is remembered of it.
pub(super) struct Results {
    analysed: Arc<Analysed>,
    section: Section,
    labels: Vec<SheetTable>,
    tasks: Vec<SheetTable>,
    groups: Vec<SheetTable>,
    buckets: Buckets,
    /// Of the chosen model, and of the one that it is compared with.
    each: Vec<OfOne>,
    /// Which of these is shown.
    at: usize,
}

/// The sections that are of one model.
struct OfOne {
    name: String,
    errors: Errors,
    probabilities: Probabilities,
    vectors: Vectors,
}

impl OfOne {
    fn new(model: &OfModel, analysed: &Analysed) -> Self {
        let labels = analysed.corpus.labels();
        Self {
            name: capital(&model.name),
            errors: Errors::new(model, labels),
            probabilities: Probabilities::new(model, labels),
            vectors: Vectors::new(model, labels),
        }
    }
}

impl Results {
    pub(super) fn new(analysed: Arc<Analysed>) -> Self {
        let labels = analysed.corpus.labels();
        let by_label = match analysed.labels_given() {
            true => scores::accuracies(&analysed, labels),
            false => scores::by_label(&analysed, labels),
        };
        let tables = |sheets: Vec<Sheet>| sheets.into_iter().map(SheetTable::new).collect();
        Self {
            section: Section::Labels,
            labels: tables(vec![by_label]),
            tasks: tables(scores::by_task(&analysed).into_iter().chain([scores::by_match(&analysed)]).collect()),
            groups: tables(vec![scores::by_length(&analysed), scores::by_nesting(&analysed)]),
            buckets: Buckets::new(&analysed),
            each: analysed.models().map(|model| OfOne::new(model, &analysed)).collect(),
            at: 0,
            analysed,
        }
    }

    /// Another analysis, in the section that was shown.
    pub(super) fn with(self, analysed: Arc<Analysed>) -> Self {
        Self { section: self.section, ..Self::new(analysed) }
    }

    pub(super) fn is_of(&self, analysed: &Arc<Analysed>) -> bool {
        Arc::ptr_eq(&self.analysed, analysed)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, height: f32, context: &mut DialogContext<'_>) {
        summary(ui, &self.analysed);
        ui.add_space(size::GAP_SMALL);
        ui.horizontal_wrapped(|ui| {
            for (section, name) in SECTIONS {
                leaves_enter(ui.selectable_value(&mut self.section, section, name));
            }
        });
        ui.separator();
        // Each section has a place of its own to be scrolled to.
        let area = ScrollArea::vertical().id_salt(self.section as usize).max_height(height).min_scrolled_height(height);
        area.auto_shrink([false, false]).show(ui, |ui| self.show_section(ui, height, context));
    }

    fn show_section(&mut self, ui: &mut Ui, height: f32, context: &mut DialogContext<'_>) {
        if !self.is_there() {
            return explain(ui, FINDS_NOTHING);
        }
        match self.section {
            Section::Labels => self.labels.iter_mut().for_each(|table| table.show(ui)),
            Section::Tasks => {
                self.tasks.iter_mut().for_each(|table| table.show(ui));
                explain(ui, ABOUT_TASKS);
            }
            Section::Groups => self.groups.iter_mut().for_each(|table| table.show(ui)),
            Section::Buckets => self.buckets.show(ui),
            Section::Errors | Section::Probabilities | Section::Vectors => {
                let height = height - self.choose_model(ui);
                let (one, model) = (self.each.get_mut(self.at), self.analysed.models().nth(self.at));
                let Some((one, model)) = one.zip(model) else { return };
                match self.section {
                    Section::Errors => one.errors.show(ui, height, model, &self.analysed.corpus, context),
                    Section::Probabilities => one.probabilities.show(ui),
                    _ => one.vectors.show(ui, model, &self.analysed.corpus, context),
                }
            }
        }
    }

    /// What is of mentions that were found is not, where none are looked for.
    fn is_there(&self) -> bool {
        let mut breakdowns = self.section.breakdowns().iter();
        !self.analysed.labels_given() || breakdowns.any(|(breakdown, ..)| breakdown.is_of_labels())
    }

    /// Which of two models a section is of; the height that this takes.
    fn choose_model(&mut self, ui: &mut Ui) -> f32 {
        if self.each.len() < 2 {
            return 0.0;
        }
        let row = ui.horizontal_wrapped(|ui| {
            for (at, one) in self.each.iter().enumerate() {
                leaves_enter(ui.selectable_value(&mut self.at, at, one.name.as_str()));
            }
        });
        row.response.rect.height() + ui.spacing().item_spacing.y
    }

    /// Of the section that is shown.
    fn sheets(&self) -> Vec<&Sheet> {
        let one = self.each.get(self.at);
        match self.section {
            _ if !self.is_there() => Vec::new(),
            Section::Labels => sheets(&self.labels),
            Section::Tasks => sheets(&self.tasks),
            Section::Groups => sheets(&self.groups),
            Section::Buckets => self.buckets.sheets(),
            Section::Errors => one.map_or_else(Vec::new, |one| one.errors.sheets()),
            Section::Probabilities => one.map_or_else(Vec::new, |one| one.probabilities.sheets()),
            Section::Vectors => one.map_or_else(Vec::new, |one| one.vectors.sheets()),
        }
    }

    pub(super) fn has_tables(&self) -> bool {
        !self.sheets().is_empty()
    }

    /// The tables of the section that is shown, for a spreadsheet.
    pub(super) fn text(&self) -> String {
        let texts: Vec<String> =
            self.sheets().into_iter().map(|sheet| format!("{}\n{}", sheet.title, sheet.tsv())).collect();
        texts.join("\n")
    }

    /// What of the section that is shown can be saved.
    pub(super) fn savables(&self) -> Vec<Savable> {
        let at = if self.section.is_of_one() { self.at } else { 0 };
        let Some(model) = self.analysed.models().nth(at) else { return Vec::new() };
        let has_plane = model.report.vectors.as_ref().is_some_and(|picture| picture.shown.is_some());
        let mut savables = Vec::new();
        for (by, title, has_picture) in self.section.breakdowns().iter().copied() {
            let has_picture = has_picture && (by != Breakdown::Vectors || has_plane);
            for extension in ["csv", "svg"].into_iter().take(1 + usize::from(has_picture)) {
                let analysed = Arc::clone(&self.analysed);
                savables.push(Savable {
                    title: format!("{title} as {}", extension.to_uppercase()),
                    file: format!("model-{}-{}.{extension}", model.id, by.id()),
                    text: Arc::new(move || analysed.file(at, by, extension)),
                });
            }
        }
        savables
    }
}

fn sheets(tables: &[SheetTable]) -> Vec<&Sheet> {
    tables.iter().map(SheetTable::sheet).collect()
}

const ABOUT_TASKS: &str = "NEH finds the words that begin mentions. SP classifies all spans up to the greatest width, as \
                           if there were no such words. NEH + SP classifies those that begin with a predicted one: what \
                           the model does. Samples are the words and spans that it was asked about.";

/// On what which model has which score; and how sure the difference of two is.
fn summary(ui: &mut Ui, analysed: &Analysed) {
    let tokens = theme::tokens(ui);
    let percent = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", 100.0 * share));
    let of_model = |model: &OfModel| {
        let report = &model.report.report;
        let counts = report.micro;
        match report.labels_given {
            true => format!("accuracy {}", percent(report.accuracy())),
            false => format!(
                "F1 {} (precision {}, recall {})",
                percent(report.f1()),
                percent(counts.precision()),
                percent(counts.recall())
            ),
        }
    };
    let first = &analysed.first;
    let sentences = counted(first.report.report.sentences, "sentence", "sentences");
    let on = part_name(analysed.part);
    let text = format!("{} on {sentences} of {on}: {}", capital(&first.name), of_model(first));
    ui.add(Label::new(theme::heading(text, tokens.text)).wrap());
    if let Some(second) = &analysed.second {
        let difference = analysed.difference.map(|of| difference_in_words(&second.name, &first.name, of));
        let text =
            format!("{}: {}. {}", capital(&second.name), of_model(second), capital(&difference.unwrap_or_default()));
        ui.add(Label::new(theme::small(text, tokens.text)).wrap());
    }
    let left_out = first.report.discontinuous_mentions;
    if left_out > 0 {
        let mentions = counted(left_out, "mention of several fragments is", "mentions of several fragments are");
        explain(ui, &format!("{mentions} left out: models don't find such mentions."));
    }
}
