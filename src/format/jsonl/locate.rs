//! Where the words of a sentence are in its text.

use crate::text::{ByteIdx, TextRange};

/// The places of `tokens` in `text`, each searched after the one before.
///
/// # Errors
/// The position of the first token that is empty or not there.
pub(super) fn locate<'t>(text: &str, tokens: impl Iterator<Item = &'t str>) -> Result<Vec<TextRange>, usize> {
    let mut at = 0;
    let mut places = Vec::with_capacity(tokens.size_hint().0);
    for (position, token) in tokens.enumerate() {
        let found = text.get(at..).and_then(|rest| rest.find(token)).ok_or(position)?;
        let start = at + found;
        at = start + token.len();
        places.push(TextRange::new(ByteIdx::new(start), ByteIdx::new(at)).ok_or(position)?);
    }
    Ok(places)
}
