//! Answers to suggestions, mentions that are removed or moved, undo, and where words and sentences end.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use crate::annotation::{MentionId, TokenIdx};
use crate::gui::commands::{CommandId, keys_text};
use crate::gui::widgets::sentence::{Mark, MarkId};
use crate::session::Command;
use crate::wording::counted;
use std::cmp::Ordering;

impl Workspace {
    pub(super) fn pick_mention(&mut self, mention: Option<MentionId>) {
        match mention {
            Some(id) => self.view.pick(MarkId::Mention(id)),
            None => self.view.clear(),
        }
    }

    /// Accepts or rejects the picked suggestion and goes to the next; picks the first when none is picked.
    pub(super) fn answer(&mut self, yes: bool) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        let Some(MarkId::Suggestion(span, label)) = self.view.picked() else {
            let from = self.view.cursor();
            if self.view.suggestion_marks().next().is_some() {
                self.view.pick_suggestion_from(from);
            }
            return NO_FEEDBACK;
        };
        let suggested = self.view.suggested_as(span, label);
        let command =
            if yes { Command::Accept { sentence, suggested } } else { Command::Reject { sentence, suggested } };
        let outcome = self.change(command)?;
        if self.view.suggestion_marks().next().is_some() {
            self.view.pick_suggestion_from(span.start());
        } else {
            self.pick_mention(outcome.mention);
        }
        NO_FEEDBACK
    }

    pub(super) fn accept_all(&mut self) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        if self.view.has_news() {
            // The project would accept what is not on screen.
            self.view.show_latest(&self.project);
            return Ok(Some("The suggestions have changed; check them first".to_owned()));
        }
        let min_score = self.project.settings().accept_all_from;
        let sure = |m: &&Mark| m.score.is_some_and(|s| s >= min_score);
        let count = self.view.suggestion_marks().filter(sure).count();
        if count == 0 {
            return Ok(Some(format!("No suggestion scores {min_score:.2} or more")));
        }
        self.change(Command::AcceptAll { sentence, min_score })?;
        self.view.clear();
        let from = self.view.cursor();
        self.view.pick_suggestion_from(from);
        Ok(Some(format!("{} accepted", counted(count, "suggestion", "suggestions"))))
    }

    pub(super) fn remove(&mut self) -> Feedback {
        match (self.view.current(), self.view.picked()) {
            (Some(sentence), Some(MarkId::Mention(mention))) => {
                let cursor = self.view.cursor();
                let what = self.view.picked_mark().map(|mark| mark.spoken.clone()).unwrap_or_default();
                self.change(Command::Remove { sentence, mention })?;
                self.view.set_cursor(cursor);
                Ok(Some(format!("Removed the {what} ({} to undo)", keys_text(CommandId::Undo))))
            }
            (_, Some(MarkId::Suggestion(..))) => self.answer(false),
            _ => NO_FEEDBACK,
        }
    }

    pub(super) fn move_end(&mut self, at_start: bool, by: isize) -> Feedback {
        let Some((sentence, picked)) = self.view.current().zip(self.view.picked()) else {
            return Ok(Some("Select a mention or suggestion first".to_owned()));
        };
        let in_pieces = self.view.picked_mark().is_some_and(|m| m.fragments.len() > 1);
        if in_pieces {
            return Ok(Some("This mention has several pieces; its ends can't be moved".to_owned()));
        }
        let Some(span) = self.view.moved_end(at_start, by) else { return NO_FEEDBACK };
        let command = match picked {
            MarkId::Mention(mention) => Command::Resize { sentence, mention, span },
            MarkId::Suggestion(suggested, label) => {
                let suggested = self.view.suggested_as(suggested, label);
                Command::Correct { sentence, suggested, to: span, label }
            }
        };
        let outcome = self.change(command)?;
        self.pick_mention(outcome.mention);
        NO_FEEDBACK
    }

    pub(super) fn undo(&mut self) -> Feedback {
        match self.project.undo_intent() {
            Some(intent) => self.go_through_history(Command::Undo, format!("Undone: {intent}"), CommandId::Redo),
            None => Ok(Some("Nothing to undo".to_owned())),
        }
    }

    pub(super) fn redo(&mut self) -> Feedback {
        match self.project.redo_intent() {
            Some(intent) => self.go_through_history(Command::Redo, format!("Redone: {intent}"), CommandId::Undo),
            None => Ok(Some("Nothing to redo".to_owned())),
        }
    }

    /// `back` is the command that takes this one back.
    fn go_through_history(&mut self, command: Command, done: String, back: CommandId) -> Feedback {
        let (documents, sentences) = self.size();
        let outcome = self.change(command)?;
        if let Some(sentence) = outcome.sentence {
            self.go_to(sentence);
            let cursor = self.view.cursor();
            self.view.set_cursor(cursor);
            self.pick_mention(outcome.mention.filter(|id| self.view.content().mark(MarkId::Mention(*id)).is_some()));
        }
        // Whole texts that come or go may be out of sight.
        let (documents_now, sentences_now) = self.size();
        let moved = counted(sentences.abs_diff(sentences_now), "sentence", "sentences");
        let more = match documents_now.cmp(&documents) {
            Ordering::Less => format!(" · {moved} removed ({} to restore)", keys_text(back)),
            Ordering::Equal => String::new(),
            Ordering::Greater => format!(" · {moved} restored"),
        };
        Ok(Some(format!("{done}{more}")))
    }

    /// Documents and sentences that are there.
    fn size(&self) -> (usize, usize) {
        (self.project.corpus().document_count(), self.project.corpus().sentence_count())
    }

    pub(super) fn join_words(&mut self) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        let span = self.view.picked_mark().map(|m| m.hull).or(self.view.selection());
        let Some(span) = span.filter(|span| span.width_tokens() > 1) else {
            return Ok(Some("Select the words to join".to_owned()));
        };
        self.change(Command::JoinTokens { sentence, span })?;
        self.moves(|view| view.set_cursor(span.start()))
    }

    pub(super) fn split_sentence(&mut self) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        let before = self.view.first_word();
        if before == TokenIdx::default() {
            return Ok(Some("Go to the word that starts the next sentence".to_owned()));
        }
        self.change(Command::SplitSentence { sentence, before })?;
        self.moves(|view| view.set_cursor(before))
    }

    pub(super) fn join_sentences(&mut self) -> Feedback {
        let Some(sentence) = self.view.current() else { return NO_FEEDBACK };
        let joint = TokenIdx::new(self.view.content().words.len());
        self.change(Command::JoinSentences { sentence })?;
        self.moves(|view| view.set_cursor(joint))
    }
}
