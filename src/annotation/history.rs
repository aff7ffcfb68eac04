//! Undo and redo over an append-only log.
//!
//! ```text
//! log    do A   do B   undo(B)   redo(B)   undo(B)   do C
//! undo   A      A B    A         A B       A         A C
//! redo                 B                   B         (cleared)
//! ```
//!
//! A text is stored while it is typed, piece by piece ([`Transaction::going_on`]). The log has each piece, the history one
//! step: from what was there before the first to what the last one says.
//!
//! Undo applies an inverse as a new transaction, so the log only grows; this type says which one is next. It can be
//! made again from the log after a restart by calling [`History::record`] for every entry.

use super::{Edit, Transaction};

/// How a logged transaction came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Do,
    Undo,
    Redo,
}

/// Inverses of what was done, and of what was undone.
#[derive(Debug, Default)]
pub struct History {
    undo: Vec<Transaction>,
    redo: Vec<Transaction>,
}

impl History {
    /// Takes note of an applied transaction by the inverse that applying it returned.
    pub fn record(&mut self, step: Step, inverse: Transaction) {
        match step {
            Step::Do => {
                self.redo.clear();
                if let Some(alone) = self.join(inverse) {
                    self.undo.push(alone);
                }
            }
            Step::Undo => {
                self.undo.pop();
                self.redo.push(inverse);
            }
            Step::Redo => {
                self.redo.pop();
                self.undo.push(inverse);
            }
        }
    }

    /// Makes a piece of typing one step with those before it. Gives back what is a step of its own.
    fn join(&mut self, mut inverse: Transaction) -> Option<Transaction> {
        let Some(begun) = inverse.goes_on_with().map(str::to_owned) else { return Some(inverse) };
        if let (Some(last), [Edit::ReplaceMention { sentence, old, new }]) = (self.undo.last_mut(), &*inverse.edits)
            && last.intent == begun
        {
            // Inverses: the earlier one starts where the later one leads.
            let begins_there = |edit: &&mut Edit| matches!(edit, Edit::ReplaceMention { sentence: of, old: from, .. } if of == sentence && from == new);
            if let Some(Edit::ReplaceMention { old: from, .. }) = last.edits.iter_mut().find(begins_there) {
                from.clone_from(old);
                return None;
            }
        }
        inverse.intent = begun;
        Some(inverse)
    }

    /// Inverses of all that was done and not undone, the latest first.
    pub fn done(&self) -> impl Iterator<Item = &Transaction> {
        self.undo.iter().rev()
    }

    /// The transaction that undoes the last one.
    pub fn next_undo(&self) -> Option<&Transaction> {
        self.undo.last()
    }

    /// The transaction that does the last undone one again.
    pub fn next_redo(&self) -> Option<&Transaction> {
        self.redo.last()
    }
}
