//! What is one token though it is full of punctuation: web and mail addresses, `@names`, `#tags`.

use super::scripts::is_unspaced;
use std::ops::Range;

/// Their ranges in bytes: ascending, disjoint, on character boundaries. Linear.
pub(super) fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut done = 0;
    for (at, sign) in text.match_indices(['.', ':', '@', '#']) {
        if at < done {
            continue;
        }
        let (Some(before), Some(after)) = (text.get(done..at), text.get(at + 1..)) else { continue };
        let range = match sign {
            ":" if after.starts_with("//") => with_scheme(before, after),
            "." => with_www(before, after),
            "@" => mail(before, after).or_else(|| name(before, after)),
            "#" => tag(before, after),
            _ => None,
        };
        if let Some((back, forth)) = range {
            found.push(at - back..at + 1 + forth);
            done = at + 1 + forth;
        }
    }
    found
}

/// How many bytes before and after the sign belong to it.
type Reach = Option<(usize, usize)>;

const LONGEST_SCHEME: usize = 12;

fn with_scheme(before: &str, after: &str) -> Reach {
    let scheme = back(before, |c| c.is_ascii_alphabetic());
    let forth = url_len(after);
    ((1..=LONGEST_SCHEME).contains(&scheme) && forth > "//".len()).then_some((scheme, forth))
}

fn with_www(before: &str, after: &str) -> Reach {
    let www = before.len().checked_sub(3)?;
    let begins = before.get(www..)?.eq_ignore_ascii_case("www")
        && !before.get(..www)?.ends_with(|c: char| c.is_alphanumeric() || c == '.');
    (begins && after.starts_with(|c: char| c.is_alphanumeric())).then(|| (3, url_len(after)))
}

fn mail(before: &str, after: &str) -> Reach {
    let local = back(before, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-'));
    let local = before.get(before.len() - local..)?.trim_start_matches(['.', '-', '+', '%']).len();
    let domain = forth(after, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    let domain = after.get(..domain)?.trim_end_matches(['.', '-']);
    let (_, last) = domain.rsplit_once('.')?;
    let whole = local > 0 && last.len() >= 2 && last.bytes().all(|b| b.is_ascii_alphabetic());
    whole.then_some((local, domain.len()))
}

fn name(before: &str, after: &str) -> Reach {
    let len = forth(after, |c| c == '_' || c.is_ascii_alphanumeric());
    (len > 0 && !before.ends_with(|c: char| c.is_alphanumeric() || c == '@')).then_some((0, len))
}

fn tag(before: &str, after: &str) -> Reach {
    let len = forth(after, |c| c == '_' || c.is_alphanumeric() && !is_unspaced(c));
    let has_letter = after.get(..len)?.contains(char::is_alphabetic);
    (has_letter && !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '&' | '/'))).then_some((0, len))
}

fn back(before: &str, belongs: impl Fn(char) -> bool) -> usize {
    before.len() - before.trim_end_matches(belongs).len()
}

fn forth(after: &str, belongs: impl Fn(char) -> bool) -> usize {
    after.len() - after.trim_start_matches(belongs).len()
}

/// Up to a blank, a quote or a script that needs no blank, without the punctuation of the sentence around it.
fn url_len(rest: &str) -> usize {
    let belongs = |c: char| {
        !c.is_whitespace()
            && !c.is_control()
            && !is_unspaced(c)
            && !matches!(c, '<' | '>' | '"' | '`' | '{' | '}' | '|' | '\\' | '^' | '«' | '»' | '\u{2018}'..='\u{201f}')
            && !matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}')
    };
    let mut url = rest.get(..forth(rest, belongs)).unwrap_or_default();
    let (mut opened, mut closed) = (url.matches(['(', '[']).count(), url.matches([')', ']']).count());
    while let Some(last) = url.chars().next_back() {
        match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '…' | '*' => {}
            ')' | ']' if closed > opened => closed -= 1,
            '(' | '[' => opened -= 1,
            _ => break,
        }
        url = url.get(..url.len() - last.len_utf8()).unwrap_or_default();
    }
    url.len()
}
