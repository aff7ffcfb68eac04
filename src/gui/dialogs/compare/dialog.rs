//! The pages of the dialog, and the way from one to another.

use super::super::save_page::{Left, Savable, SavePage};
use super::super::{button_row, default_button, explain, modal, problem};
use super::kept::{Kept, Shown, config};
use super::results::Results;
use super::setup::{Asked, Setup};
use super::words::models;
use crate::experiments::CompareRequest;
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::size;
use crate::gui::widgets::parts::button;
use crate::session::Project;
use eframe::egui::{self, ScrollArea, Ui};
use std::sync::Arc;

/// The window's height but for the results.
const BESIDE_RESULTS: f32 = 230.0;

pub(crate) struct CompareDialog {
    page: Page,
    setup: Setup,
    kept: Kept,
    results: Results,
}

enum Page {
    /// Until it is known what is kept.
    Opening,
    Setup,
    Results,
    Save(Box<SavePage>),
}

impl CompareDialog {
    pub(crate) fn new(project: &Project) -> Self {
        Self { page: Page::Opening, setup: Setup::new(project), kept: Kept::default(), results: Results::default() }
    }

    /// Then it stays open: what comes of it is to be seen.
    pub(crate) fn is_writing(&self) -> bool {
        matches!(&self.page, Page::Save(page) if page.is_writing())
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(crate) fn wait(self) {
        if let Page::Save(page) = self.page {
            page.wait();
        }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let (Some(project), Some(comparing)) = (context.project, context.comparing) else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        self.kept.follow(project, comparing, &context.services.waker);
        self.turn(comparing.is_running());
        // Each page has a title of its own, so that the keyboard begins anew there.
        let closed = match self.page {
            Page::Opening => modal(ctx, "Comparisons", size::DIALOG_WIDTH, |ui| explain(ui, "Reading …")),
            Page::Setup => modal(ctx, "Compare models", size::DIALOG_WIDE, |ui| self.set_up(ui, project, context)),
            Page::Results => {
                let height = (ctx.content_rect().height() - BESIDE_RESULTS).max(200.0);
                modal(ctx, "Comparison of models", size::DASHBOARD, |ui| {
                    let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
                    // As high as it may become: growing in the middle of the window, it would move its buttons.
                    area.auto_shrink(false).show(ui, |ui| {
                        // The bar floats above what it scrolls.
                        ui.set_max_width(ui.available_width() - ui.spacing().scroll.bar_width - size::GAP_SMALL);
                        self.results.show(ui, project, &mut self.kept, context);
                    });
                    self.foot(ui, project, context);
                })
            }
            Page::Save(_) => modal(ctx, "Save comparison", size::DIALOG_WIDTH, |ui| self.save(ui, context)),
        };
        if closed && !self.is_writing() {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    /// Leaves a page that has nothing more to show.
    fn turn(&mut self, is_running: bool) {
        let has_some = is_running || !self.kept.numbers.is_empty();
        self.page = match std::mem::replace(&mut self.page, Page::Opening) {
            Page::Opening if is_running => Page::Results,
            Page::Opening if self.kept.has_read() => {
                if has_some {
                    Page::Results
                } else {
                    Page::Setup
                }
            }
            // One that was stopped before its folder was made.
            Page::Results if !has_some && self.kept.has_read() => Page::Setup,
            Page::Setup if is_running => Page::Results,
            page => page,
        };
    }

    fn set_up(&mut self, ui: &mut Ui, project: &Project, context: &mut DialogContext<'_>) {
        let can_go_back = !self.kept.numbers.is_empty();
        if let Some(failure) = context.comparing.and_then(|comparing| comparing.failure()) {
            problem(ui, failure);
        }
        match self.setup.show(ui, project, &self.kept, can_go_back) {
            Some(Asked::Start(request)) => self.start(request, context),
            Some(Asked::Leave) if can_go_back => self.page = Page::Results,
            Some(Asked::Leave) => context.actions.push(UiAction::CloseDialog),
            None => {}
        }
    }

    fn start(&mut self, request: Box<CompareRequest>, context: &mut DialogContext<'_>) {
        // The newest, once it has ended: what is begun or continued now.
        self.kept.wanted = None;
        self.results = Results::default();
        context.actions.push(UiAction::StartComparison(request));
    }

    fn save(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let Page::Save(page) = &mut self.page else { return };
        let left = page.follow().or_else(|| page.show(ui, context));
        if let Some(Left::Saved(path)) = &left {
            context.actions.push(UiAction::Notice(format!("Saved: {}", path.display())));
        }
        if left.is_some() {
            self.page = Page::Results;
        }
    }

    fn foot(&mut self, ui: &mut Ui, project: &Project, context: &mut DialogContext<'_>) {
        let is_running = context.comparing.is_some_and(|comparing| comparing.is_running());
        let shown = self.kept.shown.as_ref();
        let has_rows = shown.is_some_and(|shown| !shown.rows.is_empty());
        let can_start = !is_running && project.read_only().is_none();
        let resumed = shown.filter(|_| can_start).and_then(|shown| rest_of(shown, project));
        let (mut page, mut request) = (None, None);
        button_row(ui, |ui| {
            if default_button(ui, true, "Close") {
                context.actions.push(UiAction::CloseDialog);
            }
            if button(ui, has_rows, "Save …").clicked()
                && let Some(shown) = shown
            {
                page = Some(Page::Save(Box::new(SavePage::new(project, savables(shown)))));
            }
            let markdown = button(ui, has_rows, "Copy as Markdown");
            let tsv = button(ui, has_rows, "Copy for a spreadsheet").on_hover_text("Tab-separated");
            if let Some(shown) = shown {
                let copy = |text| [UiAction::CopyText(text), UiAction::Notice("Table copied".to_owned())];
                if markdown.clicked() {
                    context.actions.extend(copy(shown.table.markdown()));
                }
                if tsv.clicked() {
                    context.actions.extend(copy(shown.table.tsv()));
                }
            }
            if can_start && button(ui, true, "More models").clicked() {
                page = Some(Page::Setup);
            }
            if let Some((rest, missing)) = resumed {
                let resume = button(ui, true, "Resume").on_hover_text(format!("Trains {}", models(missing, missing)));
                request = resume.clicked().then_some(rest);
            }
        });
        if let Some(page) = page {
            self.page = page;
        }
        if let Some(request) = request {
            self.start(Box::new(request), context);
        }
    }
}

/// The table in three forms, and the plot.
fn savables(shown: &Shown) -> Vec<Savable> {
    let savable = |title: &str, extension: &str, text: Arc<dyn Fn() -> String + Send + Sync>| Savable {
        title: title.to_owned(),
        file: format!("comparison-{}.{extension}", shown.number),
        text,
    };
    let table = || shown.table.clone();
    let (csv, json, markdown, comparison) = (table(), table(), table(), Arc::clone(&shown.comparison));
    vec![
        savable("Table as CSV", "csv", Arc::new(move || csv.csv())),
        savable("Table as JSON", "json", Arc::new(move || format!("{:#}\n", json.json()))),
        savable("Table as Markdown", "md", Arc::new(move || markdown.markdown())),
        savable("Plot as SVG", "svg", Arc::new(move || comparison.svg())),
    ]
}

/// What a kept comparison was to have and has not, with how many models that is.
fn rest_of(shown: &Shown, project: &Project) -> Option<(CompareRequest, usize)> {
    let kept = shown.kept.as_ref().filter(|kept| kept.missing > 0)?;
    let request = CompareRequest {
        variants: kept.asked.variants.clone(),
        seeds: kept.asked.seeds.clone(),
        config: config(project, kept.limit, kept.epochs),
        part: Some(shown.comparison.part()),
        output: None,
        resume: false,
    };
    Some((request, kept.missing))
}
