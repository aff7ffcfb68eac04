//! The form of a word, which an encoder without case does not see.

/// Number of shapes; [`word_shape`] is below it.
pub const WORD_SHAPES: usize = 8;

/// 0 digits only, 1 some digit, 2 nothing alphanumeric, 3 lower case, 4 upper case, 5 one capital letter,
/// 6 capitalised, 7 anything else.
pub fn word_shape(word: &str) -> u32 {
    let cased = |upper: bool| {
        let mut letters = word.chars().filter(|c| c.is_uppercase() || c.is_lowercase()).peekable();
        letters.peek().is_some() && letters.all(|c| c.is_uppercase() == upper)
    };
    let mut chars = word.chars();
    let first = chars.next();
    if first.is_some() && word.chars().all(char::is_numeric) {
        0
    } else if word.chars().any(char::is_numeric) {
        1
    } else if !word.chars().any(char::is_alphanumeric) {
        2
    } else if cased(false) {
        3
    } else if cased(true) {
        if word.chars().nth(1).is_some() { 4 } else { 5 }
    } else if first.is_some_and(char::is_uppercase) && chars.all(|c| !c.is_uppercase()) {
        6
    } else {
        7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        let words = ["1984", "IL-2", "--", "house", "NATO", "I", "Aarhus", "McCoy", "北京", ""];
        assert_eq!(words.map(word_shape), [0, 1, 2, 3, 4, 5, 6, 7, 7, 2]);
    }
}
