//! A frame of the window: what has come is taken in, then it is painted.

use super::state::{Screen, Window};
use crate::gui::acts::Act;
use crate::gui::commands::{Pressed, take_pressed};
use crate::gui::dialogs::Backstage;
use crate::gui::panels::start::StartPage;
use crate::gui::panels::{self, Stage};
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
        if let Screen::Desk(desk) = &mut self.screen {
            let events = desk.project.poll();
            desk.view.refresh(&desk.project);
            let was_filtered = desk.view.finder.is_on();
            if let Some(secs) = desk.view.finder.step(&desk.project, ctx.input(|i| i.time)) {
                ctx.request_repaint_after_secs(secs as f32);
            }
            if was_filtered && !desk.view.finder.is_on() {
                desk.view.reveal = Some(Reveal::WithNext);
            }
            if let Some(first) = desk.view.finder.take_first(desk.project.corpus()) {
                desk.go_to(first);
                desk.view.reveal = Some(Reveal::WithNext);
            }
            desk.project.look_at(desk.view.current().as_slice());
            if let Some(current) = desk.view.current() {
                desk.project.note_shown(current, desk.view.suggestions());
            }
            if ctx.input(|i| !i.events.is_empty()) {
                desk.project.note_activity(ctx.input(presses));
            }
            if let Some(secs) = next_look(desk.project.learner()) {
                ctx.request_repaint_after_secs(secs);
            }
            for event in events {
                self.tell_event(ctx, event);
            }
        }
        let owner = self.keyboard_owner(ctx);
        let open = self.desk().is_some();
        for pressed in take_pressed(ctx, owner, open) {
            match pressed {
                Pressed::Command(id) => self.act(ctx, Act::Command(id)),
                Pressed::LabelKey(key) => {
                    let label = self.desk().and_then(|desk| desk.project.corpus().labels().by_key(key));
                    if let Some(label) = label.map(|l| l.id) {
                        self.act(ctx, Act::UseLabel(label));
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
                StartPage { recent: &self.known.recent, busy: None }.show(ui, &mut self.typesetter, &mut self.acts);
            }
            Screen::Busy { what, .. } => {
                StartPage { recent: &self.known.recent, busy: Some(what) }.show(
                    ui,
                    &mut self.typesetter,
                    &mut self.acts,
                );
            }
            Screen::Desk(desk) => {
                let mut stage = Stage {
                    project: &desk.project,
                    view: &mut desk.view,
                    typesetter: &mut self.typesetter,
                    acts: &mut self.acts,
                    holds_typing,
                    dialog_open,
                    now_ms: now_ms(),
                };
                panels::top_bar::show(ui, &mut stage);
                panels::banners::show(ui, &mut stage);
                panels::review::show(ui, &mut stage);
                panels::status::show(ui, &mut stage, self.notice.as_ref());
                panels::sentences::show(ui, &mut stage);
                panels::labels::show(ui, &mut stage);
                panels::annotate::show(ui, &mut stage);
            }
        }
        let project = match &self.screen {
            Screen::Desk(desk) => Some(&desk.project),
            Screen::Start | Screen::Busy { .. } => None,
        };
        // One at a time: the keys of a report are not for the dialog below it.
        if self.report.is_none()
            && let Some(dialog) = &mut self.dialog
        {
            let (services, acts, typesetter) = (&self.services, &mut self.acts, &mut self.typesetter);
            let (encoders, recent) = (&self.home.encoders(), &mut self.recent);
            dialog.show(&ctx, &mut Backstage { project, services, encoders, acts, typesetter, recent });
        }
        if self.report.as_ref().is_some_and(|report| report.show(&ctx, &mut self.acts)) {
            self.report = None;
        }
        drop_hint(&ctx, self.takes_drops());
        if !self.acts.is_empty() {
            self.carry_out(&ctx);
            ctx.request_repaint();
        }
        self.settle_keyboard(&ctx);
    }

    fn show_title(&mut self, ctx: &Context) {
        let title = match self.desk() {
            Some(desk) if desk.project.read_only().is_some() => {
                format!("Nestling – {} (read only)", desk.project.name())
            }
            Some(desk) => format!("Nestling – {}", desk.project.name()),
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
