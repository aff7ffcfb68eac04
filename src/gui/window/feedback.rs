//! What the window says in passing: what came of commands, what workers have to tell.

use super::state::{Screen, Window};
use crate::gui::panels::status::Notice;
use crate::gui::workspace::Feedback;
use crate::session::{Event, SessionError};
use crate::wording::capital;
use eframe::egui::Context;

const NOTICE_SECS: f64 = 5.0;

impl Window {
    pub(super) fn show_feedback(&mut self, ctx: &Context, feedback: Feedback) {
        let (text, is_error) = match feedback {
            Ok(None) => return,
            Ok(Some(text)) => (text, false),
            Err(error) => (capital(&error.to_string()), true),
        };
        self.notify(ctx, text, is_error);
        let revision = self.revision();
        if let Some(notice) = &mut self.notice {
            notice.revision = revision;
        }
    }

    /// Tells of an edit, and offers to take it back where there was one.
    pub(super) fn show_edit_feedback(&mut self, ctx: &Context, before: Option<u64>, feedback: Feedback) {
        let has_feedback = matches!(feedback, Ok(Some(_)));
        self.show_feedback(ctx, feedback);
        let is_edited = has_feedback && self.revision() != before;
        if let Some(notice) = self.notice.as_mut().filter(|_| is_edited) {
            notice.offers_undo = true;
        }
    }

    pub(super) fn show_event(&mut self, ctx: &Context, event: Event) {
        match event {
            Event::ModelReady(info) => {
                let text = format!("Now using model {} for suggestions", info.id);
                self.notify(ctx, text, false);
            }
            Event::ModelNotBetter { new_f1, current_f1, in_use } => {
                let text = match in_use {
                    Some(_) => format!(
                        "The new model is no better on dev ({new_f1:.2}, was {current_f1:.2}); keeping the old one"
                    ),
                    None => format!(
                        "The new model is no better on dev ({new_f1:.2}) than general names ({current_f1:.2}), which stay"
                    ),
                };
                self.notify(ctx, text, false);
            }
            Event::LookedAgain { findings, asked_models } => {
                let Screen::Workspace(workspace) = &mut self.screen else { return };
                let feedback = workspace.take_findings(findings, asked_models);
                self.show_feedback(ctx, feedback);
            }
            Event::LookAgainFailed { message } => self.notify(ctx, capital(&message), true),
            Event::TrainingStopped => self.notify(ctx, "Training stopped".to_owned(), false),
            Event::TrainingTrouble { message } => self.notify(ctx, capital(&message), true),
            Event::TrainingFailed { message } | Event::PredictionFailed { message } => {
                self.notify(ctx, capital(&message), true);
            }
            // An edit has a banner besides; a setting or a model has not.
            Event::SaveFailed { message } => self.notify(ctx, capital(&message), true),
            Event::Suggestions(_) => {} // seen on the page
        }
    }

    pub(super) fn show_end_of_comparison(&mut self, ctx: &Context, end: Result<u32, SessionError>) {
        match end {
            Ok(_) => self.notify(ctx, "The comparison of models is finished".to_owned(), false),
            Err(SessionError::Stopped) => {
                self.notify(ctx, "Comparison stopped; finished models are kept".to_owned(), false);
            }
            Err(error) => self.notify(ctx, format!("The comparison failed: {error}"), true),
        }
    }

    pub(super) fn notify(&mut self, ctx: &Context, text: String, is_error: bool) {
        let secs = if is_error { 2.0 * NOTICE_SECS } else { NOTICE_SECS };
        let until = ctx.input(|i| i.time) + secs;
        self.notice = Some(Notice { text, is_error, until, revision: None, offers_undo: false });
        ctx.request_repaint_after_secs(secs as f32 + 0.1);
    }
}
