//! Errors that stop nothing, kept for whoever looks for the cause of something else later.

use std::fmt::Display;
use std::panic::Location;
use std::path::Path;

/// What went wrong is written to the program's log, instead of being thrown away.
pub trait Noted<T> {
    /// The value, where there is one. `undone` says what is not done now: "the lock stays behind". No words of a
    /// person's texts.
    fn noted(self, undone: &str) -> Option<T>;

    /// As [`Noted::noted`], for errors that don't name their file.
    fn noted_at(self, undone: &str, path: &Path) -> Option<T>;
}

impl<T, E: Display> Noted<T> for Result<T, E> {
    #[track_caller]
    fn noted(self, undone: &str) -> Option<T> {
        let at = Location::caller();
        self.map_err(|error| tracing::warn!(%at, %error, "{undone}")).ok()
    }

    #[track_caller]
    fn noted_at(self, undone: &str, path: &Path) -> Option<T> {
        let at = Location::caller();
        self.map_err(|error| tracing::warn!(%at, %error, ?path, "{undone}")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_value_is_handed_on_and_an_error_is_none() {
        let path = Path::new("models");
        assert_eq!(Ok::<_, Error>(3).noted("nothing is undone"), Some(3));
        assert_eq!(Err::<u8, _>(Error::from(ErrorKind::NotFound)).noted_at("nothing is undone", path), None);
    }
}
