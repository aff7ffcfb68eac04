//! The pages of the dialog: what is chosen with what came of it, and saving that.

use super::super::save_page::{Left, SavePage};
use super::super::{button_row, default_button, explain, modal, problem};
use super::analysed::Analysed;
use super::choice::{Choice, Chooser};
use super::results::Results;
use super::runs::{Made, Runs};
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::size;
use crate::gui::widgets::parts::button;
use crate::session::Project;
use eframe::egui::{self, Ui};
use std::sync::Arc;

/// The window's height but for the section that is shown.
const BESIDE_SECTION: f32 = 390.0;

pub(crate) struct AnalysesDialog {
    chooser: Chooser,
    runs: Runs,
    results: Option<Results>,
    save: Option<Box<SavePage>>,
}

/// What there is of the analysis that is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    None,
    Running,
    Failed,
    Made,
    /// Made, and the project has changed since.
    Outdated,
}

impl State {
    fn of(made: Option<&Made>, is_running: bool, project: &Project) -> Self {
        match made {
            _ if is_running => Self::Running,
            None => Self::None,
            Some(Err(_)) => Self::Failed,
            Some(Ok(made)) if made.corpus.revision() == project.corpus().revision() => Self::Made,
            Some(Ok(_)) => Self::Outdated,
        }
    }
}

impl AnalysesDialog {
    pub(crate) fn new(project: &Project) -> Self {
        Self { chooser: Chooser::new(project), runs: Runs::default(), results: None, save: None }
    }

    /// As it was left, with the models that are there now.
    pub(crate) fn again(self, project: &Project) -> Self {
        Self { chooser: self.chooser.looking_again(project), save: None, ..self }
    }

    /// Then it stays open: what comes of it is to be seen.
    pub(crate) fn is_writing(&self) -> bool {
        self.save.as_ref().is_some_and(|page| page.is_writing())
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(crate) fn wait(self) {
        if let Some(page) = self.save {
            page.wait();
        }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        self.chooser.follow(project);
        self.runs.follow(&context.services.waker);
        // Each page has a title of its own, so that the keyboard begins anew there.
        let closed = if self.chooser.is_looking() {
            modal(ctx, "Models", size::DIALOG_WIDTH, |ui| explain(ui, "Reading …"))
        } else if self.save.is_some() {
            modal(ctx, "Save analysis", size::DIALOG_WIDTH, |ui| self.save(ui, context))
        } else {
            let height = (ctx.content_rect().height() - BESIDE_SECTION).max(180.0);
            modal(ctx, "Analyse models", size::DASHBOARD, |ui| self.analyse(ui, height, project, context))
        };
        if closed && !self.is_writing() {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn analyse(&mut self, ui: &mut Ui, height: f32, project: &Project, context: &mut DialogContext<'_>) {
        if let Some(why) = self.chooser.blocked(project) {
            problem(ui, why);
            button_row(ui, |ui| {
                if default_button(ui, true, "Close") {
                    context.actions.push(UiAction::CloseDialog);
                }
            });
            return;
        }
        self.chooser.show(ui, project);
        ui.add_space(size::GAP_SMALL);
        let choice = self.chooser.choice(project).filter(|_| self.chooser.has_sentences(project));
        let made = choice.and_then(|choice| self.runs.made(choice)).cloned();
        let state = State::of(made.as_ref(), self.runs.is_running(), project);
        match made {
            _ if state == State::Running => explain(ui, "Analysing …"),
            None => explain(
                ui,
                "Scores the model on these sentences and shows where it is right and wrong: by label, length, nesting \
                 and bucket, which errors it makes in which sentences, how far its probabilities can be trusted, and \
                 what its vectors look like. Your project doesn't change.",
            ),
            Some(Err(failure)) => problem(ui, &failure),
            Some(Ok(analysed)) => {
                if state == State::Outdated {
                    explain(ui, "The project has changed since. This is how it was.");
                }
                self.follow(&analysed).show(ui, height, context);
            }
        }
        self.foot(ui, (choice, state), project, context);
    }

    /// The view of what was made, as it was left if it is the same.
    fn follow(&mut self, analysed: &Arc<Analysed>) -> &mut Results {
        let results = match self.results.take() {
            Some(results) if results.is_of(analysed) => results,
            Some(results) => results.with(Arc::clone(analysed)),
            None => Results::new(Arc::clone(analysed)),
        };
        self.results.insert(results)
    }

    fn foot(
        &mut self,
        ui: &mut Ui,
        (choice, state): (Option<Choice>, State),
        project: &Project,
        context: &mut DialogContext<'_>,
    ) {
        let results = self.results.as_ref().filter(|_| matches!(state, State::Made | State::Outdated));
        let can_start = choice.is_some() && state != State::Running;
        let offered = match state {
            State::None | State::Running => Some("Analyse"),
            State::Failed => Some("Try again"),
            State::Outdated => Some("Analyse again"),
            State::Made => None,
        };
        let (mut save, mut starts) = (None, false);
        button_row(ui, |ui| {
            let closes = match results {
                Some(_) => {
                    let closes = default_button(ui, true, "Close");
                    starts = offered.is_some_and(|name| button(ui, true, name).clicked());
                    closes
                }
                None => {
                    starts = offered.is_some_and(|name| default_button(ui, can_start, name));
                    button(ui, true, "Close").clicked()
                }
            };
            if closes {
                context.actions.push(UiAction::CloseDialog);
            }
            let Some(results) = results else { return };
            let has_tables = results.has_tables();
            if button(ui, has_tables, "Save …").clicked() {
                save = Some(Box::new(SavePage::new(project, results.savables())));
            }
            if button(ui, has_tables, "Copy").on_hover_text("The tables in sight, tab-separated").clicked() {
                context
                    .actions
                    .extend([UiAction::CopyText(results.text()), UiAction::Notice("Tables copied".to_owned())]);
            }
        });
        if let Some(choice) = choice.filter(|_| starts) {
            self.runs.start(choice, project);
        }
        self.save = self.save.take().or(save);
    }

    fn save(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let Some(page) = &mut self.save else { return };
        let left = page.follow().or_else(|| page.show(ui, context));
        if let Some(Left::Saved(path)) = &left {
            context.actions.push(UiAction::Notice(format!("Saved: {}", path.display())));
        }
        if left.is_some() {
            self.save = None;
        }
    }
}
