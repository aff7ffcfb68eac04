//! Which command of the table does what to the sentence, and what the pointer does to it.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use super::view::{NextBy, View};
use crate::annotation::{Status, TokenIdx};
use crate::gui::commands::WorkspaceCommand;
use crate::gui::widgets::sentence::SentenceEvent;
use crate::session::{Command, Order};

impl Workspace {
    pub fn command(&mut self, command: WorkspaceCommand) -> Feedback {
        self.minding_complete(|workspace| workspace.carry_out(command))
    }

    fn carry_out(&mut self, command: WorkspaceCommand) -> Feedback {
        // Left and right are those of the eye.
        let right: isize = if self.view.content().rtl { -1 } else { 1 };
        match command {
            WorkspaceCommand::WordBefore => self.moves(|view| view.move_cursor(-right)),
            WorkspaceCommand::WordAfter => self.moves(|view| view.move_cursor(right)),
            WorkspaceCommand::GrowBefore => self.moves(|view| view.grow(-right)),
            WorkspaceCommand::GrowAfter => self.moves(|view| view.grow(right)),
            WorkspaceCommand::FirstWord => self.moves(|view| view.set_cursor(TokenIdx::default())),
            WorkspaceCommand::LastWord => self.moves(|view| view.set_cursor(TokenIdx::new(usize::MAX))),
            WorkspaceCommand::Clear => self.moves(View::clear),
            WorkspaceCommand::NextMark => self.moves(|view| view.pick_next(1)),
            WorkspaceCommand::PreviousMark => self.moves(|view| view.pick_next(-1)),
            WorkspaceCommand::Wrap => self.moves(View::wrap),
            WorkspaceCommand::Accept if self.is_reviewing() => self.take_proposal(),
            WorkspaceCommand::Accept => self.once_in_sight(|workspace| workspace.answer(true)),
            WorkspaceCommand::Reject => self.once_in_sight(|workspace| workspace.answer(false)),
            WorkspaceCommand::AcceptAll => self.accept_all(),
            WorkspaceCommand::Remove => self.once_in_sight(Self::remove),
            WorkspaceCommand::EndBefore => self.once_in_sight(|workspace| workspace.move_end(false, -right)),
            WorkspaceCommand::EndAfter => self.once_in_sight(|workspace| workspace.move_end(false, right)),
            WorkspaceCommand::StartBefore => self.once_in_sight(|workspace| workspace.move_end(true, -right)),
            WorkspaceCommand::StartAfter => self.once_in_sight(|workspace| workspace.move_end(true, right)),
            WorkspaceCommand::CompleteAndNext if self.is_reviewing() => self.rule_out(),
            WorkspaceCommand::Next if self.is_reviewing() => self.go_to_next_finding(),
            WorkspaceCommand::EndLookAgain => self.moves(|view| view.review = None),
            WorkspaceCommand::CompleteAndNext => self.set_status_and_go(Status::Complete),
            WorkspaceCommand::SkipAndNext => self.set_status_and_go(Status::Skipped),
            WorkspaceCommand::Next => self.go_on(),
            WorkspaceCommand::PreviousSentence => self.go_in_list(-1),
            WorkspaceCommand::NextSentence => self.go_in_list(1),
            WorkspaceCommand::Back => self.go_back(),
            WorkspaceCommand::Flag => self.flag(),
            WorkspaceCommand::Reopen => self.reopen(),
            WorkspaceCommand::ShowNewSuggestions => self.show_news(),
            WorkspaceCommand::Undo => self.undo(),
            WorkspaceCommand::Redo => self.redo(),
            WorkspaceCommand::TrainNow => self.change(Command::Train).map(|_| None),
            WorkspaceCommand::NextByText => self.go_on_in(Order::Text),
            WorkspaceCommand::NextByTeaching => self.go_on_in(Order::Teaching),
            WorkspaceCommand::NextByFound => self.moves(|view| view.next_by = NextBy::Found),
            WorkspaceCommand::NextByBlind => self.go_on_in(Order::Blind),
            WorkspaceCommand::ShowAll => self.moves(|view| view.finder.show_all()),
            WorkspaceCommand::PauseTraining => self.pause_training(),
            WorkspaceCommand::StopTraining => self.change(Command::StopTraining).map(|_| None),
            WorkspaceCommand::Note => self.note(),
            WorkspaceCommand::JoinWords => self.join_words(),
            WorkspaceCommand::SplitSentence => self.split_sentence(),
            WorkspaceCommand::JoinSentences => self.join_sentences(),
            WorkspaceCommand::Search => self.moves(|view| view.focus_search = true),
        }
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
            return Ok(Some("No training is running".to_owned()));
        };
        let pause = !progress.paused;
        self.change(Command::PauseTraining(pause)).map(|_| None)
    }
}
