//! Which command of the table does what to the sentence, and what the pointer does to it.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use super::view::{NextBy, View};
use crate::annotation::{Status, TokenIdx};
use crate::gui::commands::CommandId;
use crate::gui::widgets::sentence::SentenceEvent;
use crate::session::{Command, Order};

impl Workspace {
    /// Does one of the commands of the sentence; `None` for a command that is not one.
    pub fn command(&mut self, id: CommandId) -> Option<Feedback> {
        let mut is_one = true;
        let feedback = self.minding_complete(|workspace| {
            workspace.command_of_sentence(id).unwrap_or_else(|| {
                is_one = false;
                NO_FEEDBACK
            })
        });
        is_one.then_some(feedback)
    }

    fn command_of_sentence(&mut self, id: CommandId) -> Option<Feedback> {
        if let Some(feedback) = self.look_first(id) {
            return Some(feedback);
        }
        // Left and right are those of the eye.
        let right: isize = if self.view.content().rtl { -1 } else { 1 };
        Some(match id {
            CommandId::WordBefore => self.moves(|view| view.move_cursor(-right)),
            CommandId::WordAfter => self.moves(|view| view.move_cursor(right)),
            CommandId::GrowBefore => self.moves(|view| view.grow(-right)),
            CommandId::GrowAfter => self.moves(|view| view.grow(right)),
            CommandId::FirstWord => self.moves(|view| view.set_cursor(TokenIdx::default())),
            CommandId::LastWord => self.moves(|view| view.set_cursor(TokenIdx::new(usize::MAX))),
            CommandId::Clear => self.moves(View::clear),
            CommandId::NextMark => self.moves(|view| view.pick_next(1)),
            CommandId::PreviousMark => self.moves(|view| view.pick_next(-1)),
            CommandId::Wrap => self.moves(View::wrap),
            CommandId::Accept if self.is_reviewing() => self.take_proposal(),
            CommandId::Accept => self.answer(true),
            CommandId::Reject => self.answer(false),
            CommandId::AcceptAll => self.accept_all(),
            CommandId::Remove => self.remove(),
            CommandId::EndBefore => self.move_end(false, -right),
            CommandId::EndAfter => self.move_end(false, right),
            CommandId::StartBefore => self.move_end(true, -right),
            CommandId::StartAfter => self.move_end(true, right),
            CommandId::CompleteAndNext if self.is_reviewing() => self.rule_out(),
            CommandId::Next if self.is_reviewing() => self.go_to_next_finding(),
            CommandId::LookAgain if self.view.review.is_some() && !self.is_reviewing() => self.go_on_looking(),
            CommandId::EndLookAgain => self.moves(|view| view.review = None),
            CommandId::CompleteAndNext => self.set_status_and_go(Status::Complete),
            CommandId::SkipAndNext => self.set_status_and_go(Status::Skipped),
            CommandId::Next => self.go_on(),
            CommandId::PreviousSentence => self.go_in_list(-1),
            CommandId::NextSentence => self.go_in_list(1),
            CommandId::Back => self.go_back(),
            CommandId::Flag => self.flag(),
            CommandId::Reopen => self.reopen(),
            CommandId::ShowNewSuggestions => self.show_news(),
            CommandId::Undo => self.undo_or_redo(Command::Undo, "Undone", CommandId::Redo),
            CommandId::Redo => self.undo_or_redo(Command::Redo, "Done again", CommandId::Undo),
            CommandId::TrainNow => self.change(Command::Train).map(|_| None),
            CommandId::NextByText => self.go_on_in(Order::Text),
            CommandId::NextByTeaching => self.go_on_in(Order::Teaching),
            CommandId::NextByFound => self.moves(|view| view.next_by = NextBy::Found),
            CommandId::NextByBlind => self.go_on_in(Order::Blind),
            CommandId::ShowAll => self.moves(|view| view.finder.show_all()),
            CommandId::PauseTraining => self.pause_training(),
            CommandId::StopTraining => self.change(Command::StopTraining).map(|_| None),
            CommandId::Note => self.note(),
            CommandId::JoinWords => self.join_words(),
            CommandId::SplitSentence => self.split_sentence(),
            CommandId::JoinSentences => self.join_sentences(),
            CommandId::Search => self.moves(|view| view.focus_search = true),
            _ => return None,
        })
    }

    /// What the pointer did to the sentence.
    pub fn pointer(&mut self, event: SentenceEvent) -> Feedback {
        self.minding_complete(|workspace| workspace.pointed(event))
    }

    fn pointed(&mut self, event: SentenceEvent) -> Feedback {
        match event {
            SentenceEvent::Select { from, to, done } => {
                self.view.select(from, to);
                self.view.offer_labels(done);
                NO_FEEDBACK
            }
            SentenceEvent::Extend(token) => self.moves(|view| {
                let from = view.picked_mark().map_or(view.cursor(), |m| m.hull.start());
                let anchor = view.selection().map_or(from, |s| if token < s.start() { s.last() } else { s.start() });
                view.select(anchor, token);
                view.offer_labels(true);
            }),
            SentenceEvent::Pick(id) => self.moves(|view| view.pick(id)),
            SentenceEvent::Clear => self.moves(View::clear),
            // The first click of two has picked it, unless it was on something else.
            SentenceEvent::Accept(id) if self.view.picked() != Some(id) => self.moves(|view| view.pick(id)),
            SentenceEvent::Accept(_) => self.answer(true),
        }
    }

    fn pause_training(&mut self) -> Feedback {
        let Some(progress) = self.project.learner().state.progress() else {
            return Ok(Some("No training is under way".to_owned()));
        };
        let pause = !progress.paused;
        self.change(Command::PauseTraining(pause)).map(|_| None)
    }
}
