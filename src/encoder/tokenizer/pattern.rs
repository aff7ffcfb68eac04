//! Patterns that texts are replaced and split by.
//!
//! The library hands them to `fancy-regex`, which backtracks where a pattern looks around or back, and breaks texts into
//! nothing where a pattern matches nothing. What is let through matches one character or more, and is matched in linear
//! time, but for GPT-2's `(?!\S)`, which stands in an alternative without groups.

use super::problem::Problem;
use serde::Deserialize;
use std::iter::Peekable;
use std::str::Chars;

const MOST_PATTERN_CHARS: usize = 512;
/// Groups and classes within each other.
const MOST_DEPTH: usize = 8;
/// Of a counted repetition.
const MOST_REPEATED: usize = 64;
const NOT_AFTER_SPACE: &str = r"(?!\S)";

/// As `tokenizer.json` has it.
#[derive(Deserialize, Debug)]
pub(super) enum Pattern {
    String(String),
    Regex(String),
}

impl Pattern {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let (text, is_regex) = match self {
            Self::String(text) => (text, false),
            Self::Regex(text) => (text, true),
        };
        let refused = |problem| Problem::Pattern { pattern: text.chars().take(60).collect(), problem };
        if text.chars().count() > MOST_PATTERN_CHARS {
            return Err(refused("is longer than 512 characters"));
        }
        let least = if is_regex { least(text).map_err(refused)? } else { text.len() };
        if least == 0 { Err(refused("can match nothing, expected one character or more")) } else { Ok(()) }
    }
}

/// The fewest characters that a regex matches.
fn least(regex: &str) -> Result<usize, &'static str> {
    let mut reader = Reader { rest: regex.chars().peekable() };
    let least = reader.alternatives(0)?;
    if reader.rest.peek().is_some() { Err("has a bracket too many") } else { Ok(least) }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn alternatives(&mut self, depth: usize) -> Result<usize, &'static str> {
        if depth > MOST_DEPTH {
            return Err("has too many groups within each other");
        }
        let mut least = self.sequence(depth)?;
        while self.take('|') {
            least = least.min(self.sequence(depth)?);
        }
        Ok(least)
    }

    fn sequence(&mut self, depth: usize) -> Result<usize, &'static str> {
        let (mut least, mut has_groups, mut looks_ahead) = (0usize, false, false);
        while let Some(c) = self.rest.peek().copied().filter(|c| !matches!(c, '|' | ')')) {
            if c == '(' && self.looks_ahead() {
                self.rest.nth(NOT_AFTER_SPACE.len() - 1);
                if depth > 0 || self.is_repeated() {
                    return Err("looks ahead within a group");
                }
                looks_ahead = true;
                continue;
            }
            has_groups |= c == '(';
            let one = self.atom(depth)?;
            least = least.saturating_add(self.repeated(one, c == '(')?);
        }
        if looks_ahead && has_groups { Err("looks ahead beside a group") } else { Ok(least) }
    }

    fn looks_ahead(&self) -> bool {
        self.rest.clone().take(NOT_AFTER_SPACE.len()).eq(NOT_AFTER_SPACE.chars())
    }

    fn atom(&mut self, depth: usize) -> Result<usize, &'static str> {
        match self.rest.next() {
            Some('(') => {
                if self.take('?') {
                    // `(?:…)` and `(?i:…)`: all else looks around, names, or changes what follows.
                    let _without_case = self.take('i');
                    if !self.take(':') {
                        return Err("looks around or ahead, which can take for ever");
                    }
                }
                let least = self.alternatives(depth + 1)?;
                if self.take(')') { Ok(least) } else { Err("has a bracket too few") }
            }
            Some('[') => self.class(0),
            Some('\\') => self.escape(),
            Some('^' | '$') => {
                if self.is_repeated() {
                    Err("repeats nothing")
                } else {
                    Ok(0)
                }
            }
            Some('*' | '+' | '?' | '{') => Err("repeats nothing"),
            Some(_) => Ok(1),
            None => Err("ends too early"),
        }
    }

    fn escape(&mut self) -> Result<usize, &'static str> {
        match self.rest.next() {
            Some('d' | 'D' | 's' | 'S' | 'w' | 'W' | 'n' | 'r' | 't') => Ok(1),
            Some('p' | 'P') => {
                if self.take('{') {
                    self.up_to('}')?;
                } else {
                    self.rest.next();
                }
                Ok(1)
            }
            Some('x' | 'u') => {
                if self.take('{') {
                    self.up_to('}')?;
                }
                // Without brackets digits follow, which count as more than they are: that only makes the bound looser.
                Ok(1)
            }
            Some(c) if c.is_ascii_punctuation() || c == ' ' => Ok(1),
            _ => Err("has an escape that looks around or back, or is unknown"),
        }
    }

    /// What follows a `[`.
    fn class(&mut self, depth: usize) -> Result<usize, &'static str> {
        if depth > MOST_DEPTH {
            return Err("has too many classes within each other");
        }
        self.take('^');
        // A bracket that comes first is one of the class.
        self.take(']');
        loop {
            match self.rest.next() {
                Some(']') => return Ok(1),
                Some('[') => drop(self.class(depth + 1)?),
                Some('\\') => drop(self.rest.next().ok_or("ends too early")?),
                Some(_) => {}
                None => return Err("has a bracket too few"),
            }
        }
    }

    /// What comes of `one` by the repetition that may follow.
    fn repeated(&mut self, one: usize, is_group: bool) -> Result<usize, &'static str> {
        let least = match self.rest.peek() {
            Some('*' | '?') => 0,
            Some('+') => one,
            Some('{') => {
                self.rest.next();
                let within = self.up_to('}')?;
                let (from, to) = within.split_once(',').unwrap_or((&within, &within));
                let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n <= MOST_REPEATED);
                let from = number(from).ok_or("repeats something by no number up to 64")?;
                if !to.is_empty() && number(to).is_none() {
                    return Err("repeats something by no number up to 64");
                }
                if is_group {
                    return Err("repeats a group by a number");
                }
                return self.once(one.saturating_mul(from));
            }
            _ => return Ok(one),
        };
        self.rest.next();
        self.once(least)
    }

    /// After a repetition: as few as possible is fine, a further repetition is not.
    fn once(&mut self, least: usize) -> Result<usize, &'static str> {
        self.take('?');
        if self.is_repeated() { Err("repeats a repetition") } else { Ok(least) }
    }

    fn is_repeated(&mut self) -> bool {
        matches!(self.rest.peek(), Some('*' | '+' | '?' | '{'))
    }

    fn take(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    fn up_to(&mut self, end: char) -> Result<String, &'static str> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(c) if c == end => return Ok(text),
                Some(c) => text.push(c),
                None => return Err("has a bracket too few"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_real_tokenizers_are_let_through() {
        for regex in [
            " {2,}",
            r"\s+",
            r"[^\s\p{L}\p{N}]+",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
            r"[\[\]]|[]a]",
            "(ab|c)+",
            "^ ",
        ] {
            let pattern = Pattern::Regex(regex.to_owned());
            assert!(pattern.check().is_ok(), "{regex}: {:?}", pattern.check());
        }
        assert!(Pattern::String("``".to_owned()).check().is_ok());
    }

    #[test]
    fn what_matches_nothing_or_looks_around_is_refused() {
        for regex in [
            "",
            "a*",
            "a?",
            "(a|)",
            "a{0,3}",
            "^",
            "(?=a)",
            "(?<=a)b",
            r"(a)\1",
            r"\b",
            "(?>a+)",
            "a++",
            "a{1}{64}",
            "a{65}",
            "a{9999999999999999999999}",
            "(a{64}){64}",
            "(",
            ")",
            "[",
            "[a",
            "a{",
            "*",
            r"\",
            r"(\s+(?!\S))+",
            r"(a+)+(?!\S)",
            "(?P<n>a)",
            "(?i)a",
            "a|",
            "(((((((((a)))))))))",
        ] {
            assert!(Pattern::Regex(regex.to_owned()).check().is_err(), "{regex}");
        }
        assert!(Pattern::String(String::new()).check().is_err());
        assert!(Pattern::String("a".repeat(513)).check().is_err());
    }

    #[test]
    fn what_is_let_through_never_matches_nothing() {
        // Against the library's own matcher, on pieces put together at random.
        let pieces = [
            "a", "b?", "[ab]*", "(?:a|b)", "(?:a|b)*", " ", r"\s+", "|", r"\p{L}", "{2}", "+", "(", ")", "^", "$", ".",
        ];
        let mut rng = crate::nn::Rng::new(7, "patterns");
        let (mut let_through, texts) = (0, ["", "a", "ab ba", "  ", "\n\nab", "ä b"]);
        for _ in 0..4000 {
            let regex: String = (0..1 + rng.below(5)).map(|_| pieces[rng.below(pieces.len())]).collect();
            if Pattern::Regex(regex.clone()).check().is_err() {
                continue;
            }
            let Ok(compiled) = tokenizers::normalizers::Replace::new(
                tokenizers::normalizers::replace::ReplacePattern::Regex(regex.clone()),
                "x",
            ) else {
                continue;
            };
            let_through += 1;
            for text in texts {
                let mut string = tokenizers::NormalizedString::from(text);
                tokenizers::Normalizer::normalize(&compiled, &mut string).unwrap();
                // Replacing nothing would add a character beside each that is there.
                assert!(string.get().chars().count() <= text.chars().count(), "{regex:?} on {text:?}");
            }
        }
        assert!(let_through > 300, "{let_through}");
    }
}
