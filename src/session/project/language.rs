//! Which language the texts of a project are in, and whether the encoder has read it.
//!
//! # Invariants
//! - As long as nobody has chosen an encoder, the first import whose language is recognised does, if there is no model yet. What
//!   it chose is a setting like any other from then on.
//! - An encoder that a person has chosen is never changed, only doubted: built-in ones say what they have read, of others
//!   nothing is known.

use super::Project;
use super::settings::{ENCODER, Setting};
use crate::encoder::{has_read, suited_to};
use crate::session::SessionError;
use crate::text::Language;
use std::cell::OnceCell;

/// An encoder that has not read the language of the texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    pub language: Language,
    /// The project's.
    pub encoder: String,
    /// A built-in one that has read it, if there is one.
    pub better: Option<&'static str>,
}

impl Misfit {
    fn of(language: Option<Language>, encoder: &str) -> Option<Self> {
        let language = language.filter(|language| has_read(encoder, *language) == Some(false))?;
        let better = suited_to(language).filter(|better| *better != encoder);
        Some(Self { language, encoder: encoder.to_owned(), better })
    }

    /// "The encoder english has not read German; multilingual has".
    pub fn in_words(&self) -> String {
        let better = self.better.map_or_else(String::new, |better| format!("; {better} has"));
        format!("The encoder {} has not read {}{better}", self.encoder, self.language.name())
    }
}

/// "The texts are in German; models start from the encoder multilingual", or why that does not fit.
pub fn encoder_in_words(language: Language, encoder: &str, misfit: Option<&Misfit>) -> String {
    let fits = || format!("The texts are in {}; models start from the encoder {encoder}", language.name());
    misfit.map_or_else(fits, Misfit::in_words)
}

impl Project {
    /// The language that most of the texts are in, as they were when this was first asked or something was imported; `None`
    /// where that is in doubt. The first time it takes milliseconds.
    pub fn language(&self) -> Option<Language> {
        *self.language.get_or_init(|| self.corpus.language())
    }

    /// Nobody has chosen an encoder: the language of what is imported does.
    pub fn encoder_is_automatic(&self) -> bool {
        !self.setting_rows.contains_key(ENCODER)
    }

    /// The encoder has not read the language of the texts.
    pub fn misfit(&self) -> Option<Misfit> {
        Misfit::of(self.language(), &self.settings.encoder)
    }

    /// The encoder that models would start from if texts in this language were imported, and whether it has not read that.
    pub fn encoder_for(&self, language: Option<Language>) -> (String, Option<Misfit>) {
        let chosen = language.and_then(suited_to).filter(|_| self.chooses_encoder()).map(str::to_owned);
        let encoder = chosen.unwrap_or_else(|| self.settings.encoder.clone());
        let misfit = Misfit::of(language, &encoder);
        (encoder, misfit)
    }

    /// What was imported has made this the language of the project.
    pub(in crate::session) fn follow_language(&mut self, language: Option<Language>) -> Result<(), SessionError> {
        self.language = OnceCell::from(language);
        let (encoder, _) = self.encoder_for(language);
        // Also where it stays the same: from now on it is no longer chosen by what comes next.
        if language.is_some() && self.chooses_encoder() {
            self.set(Setting::Encoder(encoder))?;
            self.look_for_names();
        }
        Ok(())
    }

    fn chooses_encoder(&self) -> bool {
        self.encoder_is_automatic() && self.models().next().is_none()
    }
}
