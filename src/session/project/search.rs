//! Finding sentences by their words.

use crate::annotation::SentenceId;
use crate::session::SessionError;
use crate::session::project::Project;
use crate::session::task::Task;

impl Project {
    /// Searches on a thread of its own; hand the result to [`Project::found`].
    ///
    /// Finds sentences that hold the words of `query` in a row, the last one as the beginning of a word. Case,
    /// diacritics and punctuation don't matter; of Chinese, Japanese and Thai any piece is found.
    pub fn search(&self, query: &str) -> Task<Result<Vec<SentenceId>, SessionError>> {
        let (open, query) = (self.connect_again(), query.to_owned());
        // With a connection of its own it waits for nobody who writes.
        Task::spawn("nestling-search", self.waker.as_waker(), move || Ok(open()?.find(&query)?))
    }

    /// What a search has found that is still there, in text order.
    pub fn found(&self, mut sentences: Vec<SentenceId>) -> Vec<SentenceId> {
        sentences.retain(|id| self.corpus.place(*id).is_some());
        sentences.sort_by_key(|id| self.corpus.place(*id));
        sentences
    }

    /// Searches and waits: for the command line, not for the window.
    ///
    /// # Errors
    /// Changes that could not be saved, a damaged file.
    pub fn search_now(&self, query: &str) -> Result<Vec<SentenceId>, SessionError> {
        self.flush()?;
        Ok(self.found(self.search(query).wait()??))
    }
}
