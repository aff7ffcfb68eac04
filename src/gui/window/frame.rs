//! A frame of the window: what has come is taken in, then it is painted.

use super::state::{Screen, Window};
use crate::gui::actions::UiAction;
use crate::gui::commands::{Pressed, take_pressed};
use crate::gui::dialogs::DialogContext;
use crate::gui::panels::start::StartPage;
use crate::gui::panels::{self, PanelContext};
use crate::gui::theme;
use crate::gui::workspace::Reveal;
use crate::session::{LearnerStatus, now_ms};
use eframe::egui::{self, Context, Theme, Ui, ViewportCommand};

impl Window {
    /// What workers, the system and the keys bring. Once a frame, before [`Window::ui`].
    pub fn logic(&mut self, ctx: &Context) {
        self.take_results(ctx);
        self.take_drops(ctx);
        self.guard_closing(ctx);
        if let Screen::Workspace(workspace) = &mut self.screen {
            let events = workspace.project.poll();
            workspace.view.refresh(&workspace.project);
            let went_on = workspace.go_on_when_chosen();
            let was_filtered = workspace.view.finder.is_on();
            if let Some(secs) = workspace.view.finder.step(&workspace.project, ctx.input(|i| i.time)) {
                ctx.request_repaint_after_secs(secs as f32);
            }
            if was_filtered && !workspace.view.finder.is_on() {
                workspace.view.reveal = Some(Reveal::WithNext);
            }
            if let Some(first) = workspace.view.finder.take_first(workspace.project.corpus()) {
                workspace.go_to(first);
                workspace.view.reveal = Some(Reveal::WithNext);
            }
            workspace.project.look_at(workspace.view.current().as_slice());
            if let Some(current) = workspace.view.current() {
                workspace.project.note_shown(current, workspace.view.suggestions());
            }
            if let (Some(current), Some(given)) = (workspace.view.current(), workspace.view.given()) {
                workspace.project.ask_label_order(current, &given);
            }
            if ctx.input(|i| !i.events.is_empty()) {
                workspace.project.note_activity(ctx.input(presses));
            }
            if let Some(secs) = next_look(workspace.project.learner()) {
                ctx.request_repaint_after_secs(secs);
            }
            let compared = workspace.comparing.take_end();
            self.show_feedback(ctx, went_on);
            if let Some(end) = compared {
                self.show_end_of_comparison(ctx, end);
            }
            for event in events {
                self.show_event(ctx, event);
            }
        }
        let owner = self.keyboard_owner(ctx);
        let open = self.workspace().is_some();
        for pressed in take_pressed(ctx, owner, open) {
            match pressed {
                Pressed::Command(id) => self.perform(ctx, UiAction::Command(id)),
                Pressed::LabelKey(key) => {
                    let label = self.workspace().and_then(|workspace| workspace.project.corpus().labels().by_key(key));
                    if let Some(label) = label.map(|l| l.id) {
                        self.perform(ctx, UiAction::UseLabel(label));
                    }
                }
            }
        }
        self.carry_out(ctx);
        self.keep_note_left_behind(ctx);
        self.show_title(ctx);
        let (now, revision) = (ctx.input(|i| i.time), self.revision());
        self.notice.take_if(|n| n.until <= now || n.revision.is_some_and(|about| Some(about) != revision));
    }

    pub fn ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.typesetter.begin_frame(ui);
        self.close_what_a_dialog_covers(&ctx);
        let dialog_open = self.dialog.is_some() || self.report.is_some();
        let holds_typing = self.holds_typing();
        match &mut self.screen {
            Screen::Start => {
                StartPage { recent: &self.listing.recent, busy: None }.show(
                    ui,
                    &mut self.typesetter,
                    &mut self.actions,
                );
            }
            Screen::Busy { what, .. } => {
                StartPage { recent: &self.listing.recent, busy: Some(what) }.show(
                    ui,
                    &mut self.typesetter,
                    &mut self.actions,
                );
            }
            Screen::Workspace(workspace) => {
                let mut panel = PanelContext {
                    project: &workspace.project,
                    comparing: &workspace.comparing,
                    view: &mut workspace.view,
                    typesetter: &mut self.typesetter,
                    actions: &mut self.actions,
                    holds_typing,
                    dialog_open,
                    now_ms: now_ms(),
                };
                panels::top_bar::show(ui, &mut panel);
                panels::banners::show(ui, &mut panel);
                panels::review::show(ui, &mut panel);
                panels::status::show(ui, &mut panel, self.notice.as_ref());
                panels::sentences::show(ui, &mut panel);
                panels::labels::show(ui, &mut panel);
                panels::annotate::show(ui, &mut panel);
            }
        }
        let (project, comparing) = match &self.screen {
            Screen::Workspace(workspace) => (Some(&workspace.project), Some(&workspace.comparing)),
            Screen::Start | Screen::Busy { .. } => (None, None),
        };
        // One at a time: the keys of a report are not for the dialog below it.
        if self.report.is_none()
            && let Some(dialog) = &mut self.dialog
        {
            let (services, actions, typesetter) = (&self.services, &mut self.actions, &mut self.typesetter);
            let (encoders, recent) = (&self.home.encoders(), &mut self.recent);
            dialog
                .show(&ctx, &mut DialogContext { project, comparing, services, encoders, actions, typesetter, recent });
        }
        if self.report.as_ref().is_some_and(|report| report.show(&ctx, &mut self.actions)) {
            self.report = None;
        }
        drop_hint(&ctx, self.takes_drops());
        if !self.actions.is_empty() {
            self.carry_out(&ctx);
            ctx.request_repaint();
        }
        self.settle_keyboard(&ctx);
    }

    fn show_title(&mut self, ctx: &Context) {
        let title = match self.workspace() {
            Some(workspace) if workspace.project.read_only().is_some() => {
                format!("Nestling – {} (read-only)", workspace.project.name())
            }
            Some(workspace) => format!("Nestling – {}", workspace.project.name()),
            None => "Nestling".to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}

impl eframe::App for Window {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        Window::logic(self, ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        Window::ui(self, ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        if let Err(error) = self.close() {
            self.ending.replace(Some(error));
        }
    }
}

/// When the learner's figures are worth painting again, in seconds.
fn next_look(learner: &LearnerStatus) -> Option<f32> {
    let busy = learner.state.progress().is_some() || learner.predicting.is_some();
    match &learner.current {
        _ if busy => Some(0.25),
        Some(_) => Some(10.0), // its age
        None => None,
    }
}

/// Keys and buttons that went down in this frame; a key that is held counts once.
fn presses(input: &egui::InputState) -> u32 {
    let is_press = |event: &&egui::Event| {
        matches!(
            event,
            egui::Event::Key { pressed: true, repeat: false, .. } | egui::Event::PointerButton { pressed: true, .. }
        )
    };
    input.events.iter().filter(is_press).count() as u32
}

/// Says that files may be let go here.
fn drop_hint(ctx: &Context, takes_drops: bool) {
    if ctx.input(|i| i.raw.hovered_files.is_empty()) {
        return;
    }
    let tokens = theme::tokens_of(ctx.theme());
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint"));
    let painter = ctx.layer_painter(layer);
    let rect = ctx.content_rect();
    painter.rect_filled(rect, 0.0, tokens.backdrop);
    let font = theme::bold(theme::size::TEXT_TITLE);
    let text = if takes_drops { "Drop to open or import" } else { "Finish this first, then drop" };
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, text, font, theme::tokens_of(Theme::Dark).text);
}
