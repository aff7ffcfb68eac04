//! An open project with the view on it, and what the commands of the annotation page do to both.
//!
//! # Invariants
//! - Annotations change by [`Project::run`] only; everything else here moves the view.
//! - An import belongs to the project that it was started on. While it is written nothing else changes the project:
//!   the window carries out no other act, see [`Desk::is_importing`].
//!
//! Deliberately absent: painting, files, dialogs.

use super::commands::{CommandId, keys_text, title_with_keys};
use super::view::{NextBy, View};
use super::widgets::sentence::{Mark, MarkId, SentenceEvent};
use crate::annotation::{MentionId, SentenceId, Status, TokenIdx};
use crate::session::{
    Command, ImportHow, ImportReceipt, Imported, Incoming, Order, Outcome, Project, SessionError, Setting, Task,
    TaskLost, Watch,
};
use crate::wording::counted;
use std::cmp::Ordering;

pub struct Desk {
    pub project: Project,
    pub view: View,
    importing: Option<Importing>,
}

/// An import that is being written, and how to cancel it.
struct Importing {
    task: Task<Result<Imported, SessionError>>,
    watch: Watch,
}

/// A project without a view, to be closed on another thread.
pub(super) struct Leaving {
    project: Project,
    importing: Option<Importing>,
}

/// What to tell the person after a command; nothing when the page shows it.
pub(super) type Told = Result<Option<String>, SessionError>;

pub(super) const NOTHING: Told = Ok(None);

impl Desk {
    pub fn new(project: Project) -> Self {
        let view = View::on(&project);
        Self { project, view, importing: None }
    }

    /// An edit made now would make the import fail.
    pub fn is_importing(&self) -> bool {
        self.importing.is_some()
    }

    pub(super) fn start_import(&mut self, incoming: Incoming, how: ImportHow, watch: Watch) {
        if self.importing.is_none() {
            let task = self.project.start_import(incoming, how, &watch);
            self.importing = Some(Importing { task, watch });
        }
    }

    /// What became of an import, once.
    pub(super) fn take_import(&mut self) -> Option<Result<ImportReceipt, SessionError>> {
        let result = self.importing.as_ref()?.task.poll()?;
        self.importing = None;
        let done = finish(&mut self.project, result);
        self.view.refresh(&self.project);
        if done.is_ok() {
            self.go_where_work_is();
        }
        Some(done)
    }

    /// Somebody who looks at a finished sentence is taken to one that waits.
    fn go_where_work_is(&mut self) {
        let Some(sentence) = self.view.sentence(&self.project) else { return };
        if sentence.status().waits() {
            return;
        }
        if let Some(next) = self.project.next_sentence(sentence.id(), Order::Text) {
            self.go_to(next);
        }
    }

    pub(super) fn leave(mut self) -> Leaving {
        if let Some(place) = self.view.current().filter(|_| self.project.read_only().is_none()) {
            // A writer that can't take it has more to say when it is closed.
            let _ = self.project.keep_place(place);
        }
        Leaving { project: self.project, importing: self.importing }
    }

    /// Does one of the commands of the sentence; `None` for a command that is not one.
    pub fn command(&mut self, id: CommandId) -> Option<Told> {
        let mut is_one = true;
        let told = self.minding_complete(|desk| {
            desk.command_of_sentence(id).unwrap_or_else(|| {
                is_one = false;
                NOTHING
            })
        });
        is_one.then_some(told)
    }

    fn command_of_sentence(&mut self, id: CommandId) -> Option<Told> {
        if let Some(told) = self.look_first(id) {
            return Some(told);
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

    /// Changes the project and shows where.
    ///
    /// # Errors
    /// What the project refuses.
    pub fn change(&mut self, command: Command) -> Result<Outcome, SessionError> {
        let outcome = self.project.run(command)?;
        self.view.refresh(&self.project);
        Ok(outcome)
    }

    /// What the pointer did to the sentence.
    pub fn pointer(&mut self, event: SentenceEvent) -> Told {
        self.minding_complete(|desk| desk.pointed(event))
    }

    fn pointed(&mut self, event: SentenceEvent) -> Told {
        match event {
            SentenceEvent::Select { from, to, done } => {
                self.view.select(from, to);
                self.view.offers_labels = done;
                NOTHING
            }
            SentenceEvent::Extend(token) => self.moves(|view| {
                let from = view.picked_mark().map_or(view.cursor(), |m| m.hull.start());
                let anchor = view.selection().map_or(from, |s| if token < s.start() { s.last() } else { s.start() });
                view.select(anchor, token);
                view.offers_labels = true;
            }),
            SentenceEvent::Pick(id) => self.moves(|view| view.pick(id)),
            SentenceEvent::Clear => self.moves(View::clear),
            // The first click of two has picked it, unless it was on something else.
            SentenceEvent::Accept(id) if self.view.picked() != Some(id) => self.moves(|view| view.pick(id)),
            SentenceEvent::Accept(_) => self.answer(true),
        }
    }

    pub fn go_to(&mut self, id: SentenceId) {
        if self.view.current() != Some(id) {
            self.view.go_to(&self.project, id);
        }
    }

    fn moves(&mut self, how: impl FnOnce(&mut View)) -> Told {
        how(&mut self.view);
        NOTHING
    }

    pub(super) fn pick_mention(&mut self, mention: Option<MentionId>) {
        match mention {
            Some(id) => self.view.pick(MarkId::Gold(id)),
            None => self.view.clear(),
        }
    }

    /// Accepts or rejects the picked suggestion and goes to the next; picks the first when none is picked.
    fn answer(&mut self, yes: bool) -> Told {
        let Some(sentence) = self.view.current() else { return NOTHING };
        let Some(MarkId::Ghost(span, label)) = self.view.picked() else {
            let from = self.view.cursor();
            if self.view.ghosts().next().is_some() {
                self.view.pick_ghost_from(from);
            }
            return NOTHING;
        };
        let suggested = self.view.suggested_as(span, label);
        let command =
            if yes { Command::Accept { sentence, suggested } } else { Command::Reject { sentence, suggested } };
        let outcome = self.change(command)?;
        if self.view.ghosts().next().is_some() {
            self.view.pick_ghost_from(span.start());
        } else {
            self.pick_mention(outcome.mention);
        }
        NOTHING
    }

    fn accept_all(&mut self) -> Told {
        let Some(sentence) = self.view.current() else { return NOTHING };
        if self.view.has_news() {
            // The project would accept what is not on screen.
            self.view.show_latest(&self.project);
            return Ok(Some("The suggestions have changed; look at them first".to_owned()));
        }
        let min_score = self.project.settings().accept_all_from;
        let sure = |m: &&Mark| m.score.is_some_and(|s| s >= min_score);
        let count = self.view.ghosts().filter(sure).count();
        if count == 0 {
            return Ok(Some(format!("No suggestion has {min_score:.2} or more")));
        }
        self.change(Command::AcceptAll { sentence, min_score })?;
        self.view.clear();
        let from = self.view.cursor();
        self.view.pick_ghost_from(from);
        Ok(Some(format!("{} accepted", counted(count, "suggestion", "suggestions"))))
    }

    fn remove(&mut self) -> Told {
        match (self.view.current(), self.view.picked()) {
            (Some(sentence), Some(MarkId::Gold(mention))) => {
                let cursor = self.view.cursor();
                let what = self.view.picked_mark().map(|mark| mark.spoken.clone()).unwrap_or_default();
                self.change(Command::Remove { sentence, mention })?;
                self.view.set_cursor(cursor);
                Ok(Some(format!("Removed the {what} ({} brings it back)", keys_text(CommandId::Undo))))
            }
            (_, Some(MarkId::Ghost(..))) => self.answer(false),
            _ => NOTHING,
        }
    }

    fn move_end(&mut self, at_start: bool, by: isize) -> Told {
        let Some((sentence, picked)) = self.view.current().zip(self.view.picked()) else {
            return Ok(Some("Select a mention or suggestion first".to_owned()));
        };
        let in_pieces = self.view.picked_mark().is_some_and(|m| m.fragments.len() > 1);
        if in_pieces {
            return Ok(Some("This mention has several pieces; its ends can't be moved".to_owned()));
        }
        let Some(span) = self.view.moved_end(at_start, by) else { return NOTHING };
        let command = match picked {
            MarkId::Gold(mention) => Command::Resize { sentence, mention, span },
            MarkId::Ghost(suggested, label) => {
                let suggested = self.view.suggested_as(suggested, label);
                Command::Correct { sentence, suggested, to: span, label }
            }
        };
        let outcome = self.change(command)?;
        self.pick_mention(outcome.mention);
        NOTHING
    }

    /// From now on, also when the project is opened again.
    fn go_on_in(&mut self, order: Order) -> Told {
        self.view.next_by = NextBy::Order(order);
        if self.project.read_only().is_none() && self.project.settings().order != order {
            self.change(Command::Set(Setting::Order(order)))?;
        }
        NOTHING
    }

    pub(super) fn go_on(&mut self) -> Told {
        let Some(current) = self.view.current() else { return NOTHING };
        let next = match self.view.next_by {
            NextBy::Found if !self.view.finder.is_on() => {
                return Ok(Some(format!("Find something first ({})", keys_text(CommandId::Search))));
            }
            NextBy::Found => self.view.finder.next_open(self.project.corpus(), current),
            NextBy::Order(Order::Blind) if self.project.counts().blind == 0 => {
                return Ok(Some(format!("No sentence is set aside; see {}", title_with_keys(CommandId::Dashboard))));
            }
            NextBy::Order(order) => self.project.next_sentence(current, order),
        };
        match next {
            Some(next) => {
                self.view.go_to(&self.project, next);
                NOTHING
            }
            None if self.view.next_by == NextBy::Found => {
                Ok(Some("Every other sentence that was found is complete or skipped".to_owned()))
            }
            None if self.view.next_by == NextBy::Order(Order::Blind) => {
                Ok(Some("Every other sentence of the blind set is complete or skipped".to_owned()))
            }
            None => Ok(Some("Every other sentence is complete or skipped".to_owned())),
        }
    }

    fn go_in_list(&mut self, by: isize) -> Told {
        let Some(current) = self.view.current() else { return NOTHING };
        if let Some(id) = self.view.finder.step_from(self.project.corpus(), current, by) {
            self.go_to(id);
        }
        NOTHING
    }

    fn go_back(&mut self) -> Told {
        let went = self.view.go_back(&self.project);
        Ok((!went).then(|| "There is no sentence to go back to".to_owned()))
    }

    fn pause_training(&mut self) -> Told {
        let Some(progress) = self.project.learner().state.progress() else {
            return Ok(Some("No training is under way".to_owned()));
        };
        let pause = !progress.paused;
        self.change(Command::PauseTraining(pause)).map(|_| None)
    }

    fn show_news(&mut self) -> Told {
        if self.view.has_news() {
            self.view.clear();
            self.view.show_latest(&self.project);
        }
        NOTHING
    }

    /// `back` is the command that takes this one back.
    fn undo_or_redo(&mut self, command: Command, done: &str, back: CommandId) -> Told {
        let intent = match command {
            Command::Undo => self.project.undo_intent(),
            _ => self.project.redo_intent(),
        };
        let Some(intent) = intent.map(str::to_owned) else {
            return Ok(Some(
                if command == Command::Undo { "Nothing to undo" } else { "Nothing to do again" }.to_owned(),
            ));
        };
        let (documents, sentences) = self.size();
        let outcome = self.change(command)?;
        if let Some(sentence) = outcome.sentence {
            self.go_to(sentence);
            let cursor = self.view.cursor();
            self.view.set_cursor(cursor);
            self.pick_mention(outcome.mention.filter(|id| self.view.content().mark(MarkId::Gold(*id)).is_some()));
        }
        // Whole texts that come or go may be out of sight.
        let (documents_now, sentences_now) = self.size();
        let moved = counted(sentences.abs_diff(sentences_now), "sentence", "sentences");
        let more = match documents_now.cmp(&documents) {
            Ordering::Less => format!(" · {moved} taken out, {} brings them back", keys_text(back)),
            Ordering::Equal => String::new(),
            Ordering::Greater => format!(" · {moved} brought back"),
        };
        Ok(Some(format!("{done}: {intent}{more}")))
    }

    /// Documents and sentences that are there.
    fn size(&self) -> (usize, usize) {
        (self.project.corpus().document_count(), self.project.corpus().sentence_count())
    }

    fn join_words(&mut self) -> Told {
        let Some(sentence) = self.view.current() else { return NOTHING };
        let span = self.view.picked_mark().map(|m| m.hull).or(self.view.selection());
        let Some(span) = span.filter(|span| span.width_tokens() > 1) else {
            return Ok(Some("Select the words that are to be one".to_owned()));
        };
        self.change(Command::JoinTokens { sentence, span })?;
        self.moves(|view| view.set_cursor(span.start()))
    }

    fn split_sentence(&mut self) -> Told {
        let Some(sentence) = self.view.current() else { return NOTHING };
        let before = self.view.first_word();
        if before == TokenIdx::default() {
            return Ok(Some("Go to the word that is to begin the next sentence".to_owned()));
        }
        self.change(Command::SplitSentence { sentence, before })?;
        self.moves(|view| view.set_cursor(before))
    }

    fn join_sentences(&mut self) -> Told {
        let Some(sentence) = self.view.current() else { return NOTHING };
        let joint = TokenIdx::new(self.view.content().words.len());
        self.change(Command::JoinSentences { sentence })?;
        self.moves(|view| view.set_cursor(joint))
    }
}

impl Leaving {
    /// Cancels an import, writes what waits and lets go of the file.
    ///
    /// # Errors
    /// An import or changes that could not be saved.
    pub(super) fn close(mut self) -> Result<(), SessionError> {
        let imported = self.importing.take().map(|Importing { task, watch }| {
            watch.cancel();
            finish(&mut self.project, task.wait())
        });
        self.project.close()?;
        match imported {
            None | Some(Ok(_) | Err(SessionError::Stopped)) => Ok(()),
            Some(Err(error)) => Err(error),
        }
    }

    pub(super) fn path(&self) -> &std::path::Path {
        self.project.path()
    }
}

fn finish(
    project: &mut Project,
    result: Result<Result<Imported, SessionError>, TaskLost>,
) -> Result<ImportReceipt, SessionError> {
    result.map_err(SessionError::from).flatten().and_then(|imported| project.finish_import(imported))
}
