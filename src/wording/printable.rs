//! Text from strangers on a terminal: names, labels and texts may hold what a terminal takes for a command.

use std::borrow::Cow;

/// The text with what a terminal would obey spelled out, as `\u{1b}`: control characters but line breaks and tabs, and
/// the characters that turn the direction of what follows.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_command(c) && !matches!(c, '\n' | '\t'), |c| c.escape_unicode().to_string())
}

/// The same on one line: line breaks and tabs are spelled out too, so that no name looks like a line of the program.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_command, |c| match c {
        '\n' | '\r' | '\t' => c.escape_default().to_string(),
        _ => c.escape_unicode().to_string(),
    })
}

/// JSON with these characters, which can only stand inside its strings, as `\u001b`.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Those below U+0080 but U+007F are escaped already; none is above U+FFFF.
    escaped(json, is_command, |c| format!("\\u{:04x}", u32::from(c)))
}

fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            out += &escape(c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_spelled_out_and_the_rest_stays() {
        let usual = "Ærø 💩 مدينة\u{200f} 👩\u{200d}👧\ttab\nline";
        assert_eq!(printable(usual), usual);
        assert_eq!(printable("P\u{1b}[31m\u{9b}1m\u{7f}\r\u{202e}"), r"P\u{1b}[31m\u{9b}1m\u{7f}\u{d}\u{202e}");
        assert_eq!(one_line("a\nImported 9\t\u{7}"), r"a\nImported 9\t\u{7}");
        assert_eq!(printable_json("{\"a\":\"\u{9b}\u{2028}é\"}"), r#"{"a":"\u009b\u2028é"}"#);
    }
}
