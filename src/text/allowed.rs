//! What a text may hold. Everything that enters a project is asked about here, whatever it comes from and whether it is
//! a text, a name, a label or a note.

/// The one character that no text may hold. Files of plain text can't hold it, nor most formats, and C programs end
/// there; taking it out would move every offset behind it. All others are stored untouched.
const FORBIDDEN: char = '\0';

/// A text holds a character that none may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("character {position} (line {line}) is NUL (U+0000), which no text can hold; remove it or write a blank there")]
pub struct ForbiddenCharacter {
    /// In code points, from 1.
    pub position: usize,
    /// From 1.
    pub line: usize,
}

/// # Errors
/// The first character that no text may hold.
pub fn check_text(text: &str) -> Result<(), ForbiddenCharacter> {
    let Some((before, _)) = text.split_once(FORBIDDEN) else { return Ok(()) };
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    Err(ForbiddenCharacter { position: before.chars().count() + 1, line: lines + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_told_where_it_is_and_all_else_is_taken() {
        assert_eq!(check_text("Ida\n💩\0\0"), Err(ForbiddenCharacter { position: 6, line: 2 }));
        assert_eq!(check_text("\u{1}\t\r\n\u{c}\u{1b}\u{96}\u{fffe}\u{ffff}\u{10ffff}"), Ok(()));
    }
}
