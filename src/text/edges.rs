//! Whether a place in a text is between words or inside one, without a tokeniser: to judge places that somebody else
//! has counted.

use super::scripts::is_unspaced;
use unicode_segmentation::GraphemeCursor;

/// How far to look back for the start of a grapheme cluster. Longer ones are rare, and judged wrongly.
const LOOK_BACK: usize = 64;

/// True where a cut at this byte would part letters, or digits, that people read as one word.
///
/// `AHU-|G1`, `mc|Bean` and `10|km` are no such places, nor is any between the letters of scripts that don't part words
/// with blanks, or of Korean, whose words end in particles. The inside of a character or of a grapheme cluster is one.
pub fn cuts_word(text: &str, at: usize) -> bool {
    let Some((before, after)) = text.split_at_checked(at) else { return at < text.len() };
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else { return false };
    if !(left.is_ascii() && right.is_ascii()) && is_inside_cluster(text, at) {
        return true;
    }
    // A letter may carry marks.
    let left = if left.is_ascii() || left.is_alphanumeric() { left } else { cluster_before(before).unwrap_or(left) };
    let is_free = |c| is_unspaced(c) || is_hangul(c);
    left.is_alphanumeric()
        && right.is_alphanumeric()
        && !is_free(left)
        && !is_free(right)
        && left.is_numeric() == right.is_numeric()
        && !(left.is_lowercase() && right.is_uppercase())
}

fn is_inside_cluster(text: &str, at: usize) -> bool {
    let from = text.floor_char_boundary(at.saturating_sub(LOOK_BACK));
    let Some(near) = text.get(from..) else { return false };
    GraphemeCursor::new(at - from, near.len(), true).is_boundary(near, 0) == Ok(false)
}

/// The first character of the last grapheme cluster.
fn cluster_before(text: &str) -> Option<char> {
    let near = text.get(text.floor_char_boundary(text.len().saturating_sub(LOOK_BACK))..)?;
    let start = GraphemeCursor::new(near.len(), near.len(), true).prev_boundary(near, 0).ok()??;
    near.get(start..)?.chars().next()
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with a bar at each place that cuts a word.
    fn cuts(text: &str) -> String {
        let mut shown = String::new();
        for (at, c) in text.char_indices() {
            if cuts_word(text, at) {
                shown.push('|');
            }
            shown.push(c);
        }
        shown
    }

    #[test]
    fn words_are_cut_inside_only() {
        assert_eq!(cuts("Ida's IL-2, mcBean 10km"), "I|d|a's I|L-2, m|cB|e|a|n 1|0k|m");
        assert_eq!(cuts("e\u{301}a 北京 서울에서 👍🏽"), "e|\u{301}|a 北京 서울에서 👍|🏽");
        assert_eq!(cuts("a\r\nb"), "a\r\nb");
        assert!(cuts_word("é", 1) && !cuts_word("é", 2) && !cuts_word("é", 9) && !cuts_word("", 0));
    }
}
