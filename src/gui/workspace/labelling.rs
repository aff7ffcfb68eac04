//! Giving labels: to words, mentions and suggestions; and what is told of it.
//!
//! # Invariants
//! - Only what is drawn as selected is changed. What was scrolled away is brought into sight first, and what was
//!   replaced since it was drawn has to be selected again.

use super::selection::Unseen;
use super::state::{Feedback, NO_FEEDBACK, Workspace};
use crate::annotation::{Fragments, LabelId, Span, Status};
use crate::gui::commands::{CommandId, keys_text};
use crate::gui::widgets::sentence::MarkId;
use crate::session::Command;

/// Of the words that something was done to, so many characters are told.
const MOST_CHARACTERS: usize = 40;

impl Workspace {
    /// A label for what is selected: the picked mention or suggestion, else words.
    pub fn use_label(&mut self, label: LabelId) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        if let Some(unseen) = self.view.unseen() {
            return self.show_selection(unseen);
        }
        let name = self.name_of(label);
        let (command, feedback) = match self.view.picked_mark().map(|m| (m.id, m.hull, m.label)) {
            Some((MarkId::Mention(mention), hull, old)) => {
                let words = self.words_of(hull);
                if old == label {
                    return Ok(Some(format!("{words} is already {name}")));
                }
                let feedback = format!("{words} is now {name}, no longer {}", self.name_of(old));
                (Command::Relabel { sentence, mention, label }, feedback)
            }
            Some((MarkId::Suggestion(span, suggested), ..)) => {
                let words = self.words_of(span);
                let suggested = self.view.suggested_as(span, suggested);
                if suggested.label == label {
                    (Command::Accept { sentence, suggested }, format!("{words} accepted as {name}"))
                } else {
                    let feedback = format!("{words} is {name}; {} was suggested", self.name_of(suggested.label));
                    (Command::Correct { sentence, suggested, to: span, label }, feedback)
                }
            }
            None => {
                let Some(span) = self.view.target() else { return NO_FEEDBACK };
                let feedback = format!("{} is {name}", self.words_of(span));
                (Command::Annotate { sentence, fragments: Fragments::from(span), label }, feedback)
            }
        };
        let outcome = self.change(command)?;
        self.pick_mention(outcome.mention);
        let is_complete = self.view.sentence(&self.project).is_some_and(|s| s.status() == Status::Complete);
        let complete = if is_complete { " · the sentence stays complete" } else { "" };
        Ok(Some(format!("{feedback}{complete} · {} to undo", keys_text(CommandId::Undo))))
    }

    /// Edits what is picked; shows it instead, and leaves it as it is, where the person can't see it.
    pub(super) fn once_in_sight(&mut self, edit: impl FnOnce(&mut Self) -> Feedback) -> Feedback {
        let is_picked = self.view.picked().is_some() && !self.is_reviewing();
        match self.view.unseen().filter(|_| is_picked) {
            Some(unseen) => self.show_selection(unseen),
            None => edit(self),
        }
    }

    fn show_selection(&mut self, unseen: Unseen) -> Feedback {
        self.view.follow();
        let why = match unseen {
            Unseen::ScrolledAway => "The selection was out of sight, so nothing was changed; here it is",
            Unseen::Replaced => "The selection no longer exists, so nothing was changed; select it again",
        };
        Ok(Some(why.to_owned()))
    }

    fn name_of(&self, label: LabelId) -> String {
        self.project.corpus().labels().get(label).map_or("?", |l| l.display_name()).to_owned()
    }

    fn words_of(&self, span: Span) -> String {
        let corpus = self.project.corpus();
        let words = self.view.sentence(&self.project).map_or("", |sentence| corpus.span_text(sentence, span));
        let shown: String = words.chars().take(MOST_CHARACTERS).collect();
        let cut = if shown.len() < words.len() { "…" } else { "" };
        format!("“{shown}{cut}”")
    }
}
