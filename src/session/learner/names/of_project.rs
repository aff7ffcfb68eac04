//! The names of an open project.

use super::{KnownNames, Names};
use crate::disk::Noted as _;
use crate::session::project::Project;
use crate::session::{SessionError, Task};

impl Project {
    /// What suggests names as long as the project uses no model; `None` where a person wants none, or none have a label.
    pub(in crate::session::learner) fn names(&self) -> Option<Names> {
        let wanted = self.settings().general_names && self.current_model().is_none();
        wanted.then(|| self.names_by(&self.learner.known_names)).flatten()
    }

    fn names_by(&self, known: &KnownNames) -> Option<Names> {
        let chosen = |kind| self.settings().names_as.get(&kind).copied().unwrap_or_default();
        Names::new(self.encoders(), known, self.corpus().labels(), chosen)
    }

    /// What finds names, asked for by a person. Reads the encoder.
    ///
    /// # Errors
    /// An encoder that can't be read, or finds nothing that has a label here.
    pub(in crate::session::learner) fn find_names(&self) -> Result<Names, SessionError> {
        let encoder = &self.settings().encoder;
        let known = KnownNames::of(&self.encoders(), encoder)?;
        self.names_by(&known).ok_or_else(|| SessionError::NoNames { encoder: encoder.clone() })
    }

    /// Whether the encoder of the settings finds names of its own accord.
    pub fn knows_names(&self) -> bool {
        !self.learner.known_names.labels.is_empty()
    }

    /// Reads what the encoder of the settings has learned of entities: not for the window's thread.
    pub(in crate::session) fn read_names(&mut self) {
        self.learner.known_names = self.names_of_encoder()();
    }

    /// The same on a thread of its own, after an encoder was chosen: it may be another one of the same name. Until it is there
    /// no names are known.
    pub(in crate::session) fn look_for_names(&mut self) {
        let encoder = self.settings().encoder.clone();
        let task = Task::spawn("nestling-names", self.waker(), self.names_of_encoder());
        self.learner.known_names = KnownNames { encoder, labels: Vec::new() };
        self.learner.reading_names = Some(task);
    }

    /// Whether names that were found before are of no use any more: nothing finds them now, and there is no model that will
    /// say more.
    pub(in crate::session) fn names_are_gone(&self) -> bool {
        self.learner.is_on && self.learner.asking.source().is_none() && self.learner.reading_names.is_none()
    }

    /// Takes over what was read.
    pub(in crate::session::learner) fn take_names(&mut self) {
        let Some(read) = self.learner.reading_names.as_ref().and_then(Task::poll) else { return };
        self.learner.reading_names = None;
        if let Some(known) = read.noted("no names are suggested") {
            self.learner.known_names = known;
            self.start_predicting();
        }
    }

    /// What can't be read counts as nothing: the training that starts from it says why.
    fn names_of_encoder(&self) -> impl FnOnce() -> KnownNames + Send + use<> {
        let (encoders, encoder) = (self.encoders(), self.settings().encoder.clone());
        move || {
            let known = KnownNames::of(&encoders, &encoder).noted("no names are suggested");
            known.unwrap_or(KnownNames { encoder, labels: Vec::new() })
        }
    }
}
