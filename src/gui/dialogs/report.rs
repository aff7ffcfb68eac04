//! An error that stopped something: what, where, what to do, and a button that copies all of it. Also what came of
//! rescuing a damaged project, and what ended the program the last time.

use super::{button_row, default_button, modal};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self};
use crate::gui::widgets::parts::button;
use crate::session::{FileNews, HowEnded, LastEnd, Rescued, SessionError};
use crate::store::StoreError;
use crate::wording::{capital, counted};
use eframe::egui::{self, Label, ScrollArea};
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub title: String,
    pub text: String,
    /// A damaged project, of which something may be read still.
    pub damaged: Option<PathBuf>,
}

impl Report {
    /// An error with all that caused it.
    pub(crate) fn of(title: impl Into<String>, error: &dyn Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let more = deeper.to_string();
            if !text.contains(&more) {
                text = format!("{text}\n{more}");
            }
            cause = deeper.source();
        }
        Self { title: title.into(), text: capital(&text), damaged: None }
    }

    /// What went wrong while a project was opened, made or closed; `None` where nothing did.
    pub(crate) fn of_trouble(trouble: &[SessionError]) -> Option<Self> {
        let (first, more) = trouble.split_first()?;
        let mut report = Self::of("Something went wrong", first);
        for error in more {
            report.text = format!("{}\n\n{}", report.text, Self::of("", error).text);
        }
        if let SessionError::Store(StoreError::Damaged { path, .. } | StoreError::Altered { path, .. }) = first {
            report.damaged = Some(path.clone());
        }
        Some(report)
    }

    /// What happened to the files of a project that was closed; `None` where nothing did.
    pub(crate) fn of_news(news: &[FileNews]) -> Option<Self> {
        let texts: Vec<_> = news.iter().map(|news| capital(&news.to_string())).collect();
        let (title, text) = (news.first()?.heading().to_owned(), texts.join("\n\n"));
        Some(Self { title, text, damaged: None })
    }

    /// What ended the program the last time, or was lost when it ended.
    pub(crate) fn of_last_end(end: &LastEnd) -> Self {
        let title = match end.how {
            HowEnded::Fault => None,
            HowEnded::Unsaved => Some("Some changes were not saved when the window closed"),
            HowEnded::FileNews => Some("Your work is now in another file"),
        };
        if let Some(title) = title {
            return Self { title: title.to_owned(), text: capital(&end.text), damaged: None };
        }
        let text = format!(
            "This is a bug in Nestling. What was saved is safe. If you report it, send this text, but check it \
             first: it may contain words from your texts. It is stored in {}\n\n{}",
            end.path.display(),
            end.text
        );
        Self { title: "Nestling crashed last time".to_owned(), text, damaged: None }
    }

    /// Where the program's log is.
    pub(crate) fn of_log(path: &Path) -> Self {
        let text = format!(
            "Problems that stopped nothing are logged in\n{}\n\nThe log contains names of files, but no words from \
             your texts. Start Nestling with --log debug or NESTLING_LOG=debug to log more.",
            path.display()
        );
        Self { title: "Program log".to_owned(), text, damaged: None }
    }

    /// What could be read of a damaged project, and what not.
    pub(crate) fn of_rescue(rescued: &Rescued) -> Self {
        let mut text = format!(
            "Rescued {}, {} and {} into {}, which is now open. The damaged project is unchanged.",
            counted(rescued.documents, "document", "documents"),
            counted(rescued.sentences, "sentence", "sentences"),
            counted(rescued.mentions, "mention", "mentions"),
            rescued.path.display(),
        );
        if !rescued.lost.is_empty() {
            text = format!("{text}\n\nNot rescued:\n{}", rescued.lost.join("\n"));
        }
        Self { title: "Rescued".to_owned(), text, damaged: None }
    }

    /// Shows it; true when it is to be closed.
    pub(crate) fn show(&self, ctx: &egui::Context, actions: &mut Vec<UiAction>) -> bool {
        let tokens = theme::tokens_of(ctx.theme());
        let mut done = false;
        let closed = modal(ctx, &self.title, 480.0, |ui| {
            ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
                ui.add(Label::new(theme::body(&self.text, tokens.text)).wrap().selectable(true));
            });
            button_row(ui, |ui| {
                done = default_button(ui, true, "Close");
                if let Some(damaged) = &self.damaged {
                    let help = "Reads it into a new project beside it; the damaged file is not changed";
                    if button(ui, true, "Rescue what can be read").on_hover_text(help).clicked() {
                        actions.push(UiAction::Rescue(damaged.clone()));
                        done = true;
                    }
                }
                if button(ui, true, "Copy").on_hover_text("Copy the message").clicked() {
                    actions.push(UiAction::CopyText(format!("{}\n{}", self.title, self.text)));
                }
            });
        });
        closed || done
    }
}
