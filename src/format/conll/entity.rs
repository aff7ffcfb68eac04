//! `Entity=` in the column MISC of CoNLL-U, as CorefUD and GUM have it: `(e1-person-1(e2-place-2)` opens one and holds
//! another whole one, `e1)` closes. `# global.Entity = eid-etype-head-other` names the fields; `e3[1/2]` is the first of
//! two pieces of a mention.

use crate::annotation::{Attributes, Fragments, Span};

/// Mentions that are open, and pieces of mentions that are not whole.
#[derive(Debug, Default)]
pub(super) struct Entities {
    open: Vec<Open>,
    pieces: Vec<(String, Vec<Span>)>,
    pub(super) found: Vec<Found>,
    /// Lines with what could not be made a mention, and why.
    pub(super) problems: Vec<(usize, String)>,
    /// Mentions of nothing but empty nodes: words that are left out in the text.
    pub(super) unseen: usize,
}

#[derive(Debug)]
struct Open {
    content: String,
    start: usize,
    line: usize,
}

#[derive(Debug, PartialEq)]
pub(super) struct Found {
    /// Of words.
    pub(super) fragments: Fragments,
    /// Empty where the file gives no type.
    pub(super) label: String,
    pub(super) attributes: Attributes,
    pub(super) line: usize,
}

impl Entities {
    /// What a word's row says. `word` is the number of words before it; an empty node is none itself.
    pub(super) fn add(&mut self, value: &str, word: usize, is_word: bool, line: usize, names: &[String]) {
        let end = word + usize::from(is_word);
        let mut rest = value;
        while !rest.is_empty() {
            if let Some(opening) = rest.strip_prefix('(') {
                let until = opening.find(['(', ')']).unwrap_or(opening.len());
                let (content, after) = opening.split_at(until);
                self.open.push(Open { content: content.to_owned(), start: word, line });
                rest = after;
                if let Some(after) = rest.strip_prefix(')') {
                    self.close(None, end, line, names);
                    rest = after;
                }
            } else {
                let until = rest.find([')', '(']).unwrap_or(rest.len());
                let (id, after) = rest.split_at(until);
                match after.strip_prefix(')') {
                    Some(after) => {
                        self.close(Some(id), end, line, names);
                        rest = after;
                    }
                    None => {
                        self.problems
                            .push((line, format!("{id:?} in Entity={value} neither opens nor closes a mention")));
                        rest = after;
                    }
                }
            }
        }
    }

    /// The sentence ends.
    pub(super) fn end(&mut self) {
        for open in self.open.drain(..) {
            self.problems.push((open.line, format!("the mention ({} has no end in its sentence", open.content)));
        }
        for (key, _) in self.pieces.drain(..) {
            self.problems.push((0, format!("the mention {key} lacks some of its pieces")));
        }
    }

    fn close(&mut self, id: Option<&str>, end: usize, line: usize, names: &[String]) {
        let is_meant = |open: &Open| match id {
            Some(id) if !id.is_empty() => {
                open.content.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            }
            _ => true,
        };
        let Some(at) = self.open.iter().rposition(is_meant) else {
            let id = id.unwrap_or_default();
            return self.problems.push((line, format!("{id}) closes a mention that was not opened in its sentence")));
        };
        let Open { content, start, line } = self.open.remove(at);
        let fields = Fields::of(&content, names);
        let Some(span) = Span::from_range(start..end) else {
            self.unseen += 1;
            return;
        };
        let spans = match fields.piece {
            None => vec![span],
            Some((_, total)) => {
                let key = fields.key.clone();
                let mut spans = match self.pieces.iter().position(|(other, _)| *other == key) {
                    Some(at) => self.pieces.remove(at).1,
                    None => Vec::new(),
                };
                spans.push(span);
                if spans.len() < total {
                    self.pieces.push((key, spans));
                    return;
                }
                spans
            }
        };
        match Fragments::new(spans) {
            Ok(fragments) => {
                self.found.push(Found { fragments, label: fields.label, attributes: fields.attributes, line });
            }
            Err(error) => self.problems.push((line, format!("the mention {} can't be read: {error}", fields.key))),
        }
    }
}

/// `e1[1/2]-person-1` taken apart.
struct Fields {
    /// Without the number of the piece.
    key: String,
    label: String,
    attributes: Attributes,
    piece: Option<(usize, usize)>,
}

impl Fields {
    fn of(content: &str, names: &[String]) -> Self {
        let usual: Vec<String>;
        let names = if names.is_empty() {
            // CorefUD's order, or a type and a number as in older files of GUM.
            let has_id = content.split('-').next().is_some_and(|first| first.contains(|c: char| c.is_ascii_digit()));
            usual = if has_id { ["eid", "etype", "head", "other"] } else { ["etype", "GRP", "infstat", "other"] }
                .map(str::to_owned)
                .to_vec();
            &usual
        } else {
            names
        };
        let mut read = Self { key: String::new(), label: String::new(), attributes: Attributes::new(), piece: None };
        let type_name = ["etype", "entity", "type"].into_iter().find(|name| names.iter().any(|n| n == name));
        for (name, value) in names.iter().zip(content.splitn(names.len(), '-')) {
            let (value, piece) = match value.split_once('[') {
                Some((before, piece)) if before.len() < value.len() => (before, piece.strip_suffix(']')),
                _ => (value, None),
            };
            let piece = piece.and_then(|piece| piece.split_once('/'));
            if let Some((number, total)) = piece {
                read.piece = number.parse().ok().zip(total.parse().ok());
            }
            let value = unescape(value);
            if Some(name.as_str()) == type_name {
                read.label = value;
            } else if !value.is_empty() {
                if read.key.is_empty() {
                    read.key.clone_from(&value);
                }
                read.attributes.insert(name.clone(), value);
            }
        }
        read
    }
}

/// `%2D` is a hyphen: what would part fields is spelled so.
fn unescape(value: &str) -> String {
    let pairs = [
        ("%28", "("),
        ("%29", ")"),
        ("%2C", ","),
        ("%2D", "-"),
        ("%3A", ":"),
        ("%3D", "="),
        ("%7C", "|"),
        ("%25", "%"),
    ];
    pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(names: &str, values: &[&str], want: Expect) {
        let names: Vec<String> = names.split('-').filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let mut entities = Entities::default();
        for (at, value) in values.iter().enumerate() {
            entities.add(value, at, true, at + 1, &names);
        }
        entities.end();
        let found = entities
            .found
            .iter()
            .map(|f| format!("{:?} {} {:?}", f.fragments.iter().collect::<Vec<_>>(), f.label, f.attributes));
        let problems = entities.problems.iter().map(|(line, problem)| format!("line {line}: {problem}"));
        want.assert_eq(&found.chain(problems).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn mentions_nest_and_come_in_pieces() {
        check(
            "eid-etype-head-other",
            &[
                "(e1-person-1(e2-place-1-Gr%2Dx)",
                "e1)",
                "",
                "(e3[1/2]-organ-1",
                "(e4-x-1)e3[1/2])",
                "",
                "(e3[2/2]-organ-1)",
            ],
            expect![[r#"
                [0..1] place {"eid": "e2", "head": "1", "other": "Gr-x"}
                [0..2] person {"eid": "e1", "head": "1"}
                [4..5] x {"eid": "e4", "head": "1"}
                [3..5, 6..7] organ {"eid": "e3", "head": "1"}"#]],
        );
        check(
            "GRP-etype-infstat-minspan-link-identity",
            &["(12-person-giv:act-1,2-coref-Anna_Berg-Lund", "12)"],
            expect![[
                r#"[0..2] person {"GRP": "12", "identity": "Anna_Berg-Lund", "infstat": "giv:act", "link": "coref", "minspan": "1,2"}"#
            ]],
        );
        check("entity-GRP", &["(person-3", "person-3)"], expect![[r#"[0..2] person {"GRP": "3"}"#]]);
        check(
            "",
            &["(e1-person-1-)(e2--1)"],
            expect![[r#"
            [0..1] person {"eid": "e1", "head": "1"}
            [0..1]  {"eid": "e2", "head": "1"}"#]],
        );
        check(
            "",
            &["(e1-person-1", "e7)", "x"],
            expect![[r#"
            line 2: e7) closes a mention that was not opened in its sentence
            line 3: "x" in Entity=x neither opens nor closes a mention
            line 1: the mention (e1-person-1 has no end in its sentence"#]],
        );
    }
}
