//! Going from sentence to sentence: on, back, up and down the list.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use super::view::NextBy;
use crate::gui::commands::{CommandId, keys_text, title_with_keys};
use crate::session::{Command, Order, Setting};

impl Workspace {
    /// From now on, also when the project is opened again.
    pub(super) fn go_on_in(&mut self, order: Order) -> Feedback {
        self.view.next_by = NextBy::Order(order);
        if self.project.read_only().is_none() && self.project.settings().order != order {
            self.change(Command::Set(Setting::Order(order)))?;
        }
        NO_FEEDBACK
    }

    pub(super) fn go_on(&mut self) -> Feedback {
        let Some(current) = self.view.current() else { return NO_FEEDBACK };
        let next = match self.view.next_by {
            NextBy::Found if !self.view.finder.is_on() => {
                return Ok(Some(format!("Search for something first ({})", keys_text(CommandId::Search))));
            }
            NextBy::Found => self.view.finder.next_open(self.project.corpus(), current),
            NextBy::Order(Order::Blind) if self.project.counts().blind == 0 => {
                return Ok(Some(format!("The blind set is empty; see {}", title_with_keys(CommandId::Dashboard))));
            }
            NextBy::Order(order) => self.project.next_sentence(current, order),
        };
        self.view.awaits_next =
            next.is_none() && matches!(self.view.next_by, NextBy::Order(Order::Teaching)) && self.project.is_choosing();
        match next {
            None if self.view.awaits_next => Ok(Some("The next sentence is being chosen …".to_owned())),
            Some(next) => {
                self.view.go_to(&self.project, next);
                NO_FEEDBACK
            }
            None if self.view.next_by == NextBy::Found => {
                Ok(Some("All other sentences found are complete or skipped".to_owned()))
            }
            None if self.view.next_by == NextBy::Order(Order::Blind) => {
                Ok(Some("All other sentences of the blind set are complete or skipped".to_owned()))
            }
            None => Ok(Some("All other sentences are complete or skipped".to_owned())),
        }
    }

    /// Goes on where that waited for the next sentence to be chosen. Call each frame.
    pub(in crate::gui) fn go_on_when_chosen(&mut self) -> Feedback {
        if self.view.awaits_next && !self.project.is_choosing() { self.go_on() } else { NO_FEEDBACK }
    }

    pub(super) fn go_in_list(&mut self, by: isize) -> Feedback {
        let Some(current) = self.view.current() else { return NO_FEEDBACK };
        if let Some(id) = self.view.finder.step_from(self.project.corpus(), current, by) {
            self.go_to(id);
        }
        NO_FEEDBACK
    }

    pub(super) fn go_back(&mut self) -> Feedback {
        let went = self.view.go_back(&self.project);
        Ok((!went).then(|| "No sentence to go back to".to_owned()))
    }

    pub(super) fn show_news(&mut self) -> Feedback {
        if self.view.has_news() {
            self.view.clear();
            self.view.show_latest(&self.project);
        }
        NO_FEEDBACK
    }
}
