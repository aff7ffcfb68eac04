//! Which labels of several corpora mean the same.

use super::error::PretrainError;
use std::collections::BTreeMap;
use std::path::Path;

/// Stands for every corpus.
const ANY: &str = "*";

/// Merged labels by corpus and label; a rule for a corpus comes before one for all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabelMap {
    rules: BTreeMap<(String, String), String>,
}

impl LabelMap {
    /// Reads lines of a corpus (or `*`), a label and the merged label, with tabs between them; those that are empty or begin
    /// with `#` say nothing. `path` is for messages.
    ///
    /// # Errors
    /// The first line that is none of these, or that contradicts another.
    pub fn read(text: &str, path: &Path) -> Result<Self, PretrainError> {
        let mut rules = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
            let [corpus, label, merged] = fields.as_slice() else { return Err(bad_line(line, text, path)) };
            if fields.iter().any(|field| field.is_empty()) {
                return Err(bad_line(line, text, path));
            }
            let before = rules.insert(((*corpus).to_owned(), (*label).to_owned()), (*merged).to_owned());
            if before.is_some_and(|before| before != *merged) {
                return Err(PretrainError::LabelTwice { line, label: (*label).to_owned(), path: path.to_owned() });
            }
        }
        Ok(Self { rules })
    }

    /// What a label of a corpus is called in the union.
    pub(super) fn name(&self, corpus: &str, label: &str) -> String {
        self.merged(corpus, label).map_or_else(|| format!("{corpus}:{label}"), str::to_owned)
    }

    /// What a label of a corpus is merged into, if it is.
    pub(super) fn merged(&self, corpus: &str, label: &str) -> Option<&str> {
        let rule = |corpus: &str| self.rules.get(&(corpus.to_owned(), label.to_owned()));
        rule(corpus).or_else(|| rule(ANY)).map(String::as_str)
    }
}

fn bad_line(line: usize, text: &str, path: &Path) -> PretrainError {
    PretrainError::BadLine { line, text: text.to_owned(), path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[test]
    fn labels_are_merged_by_the_most_exact_rule_and_else_keep_their_corpus() {
        let text = "# the same\n*\tPER\tperson\n\nnovels\tPER\tcharacter\nnews\tperson\tperson\n*\tPER\tperson\n";
        let map = LabelMap::read(text, Path::new("labels.tsv")).unwrap();
        let names = [("news", "PER"), ("novels", "PER"), ("news", "person"), ("novels", "person"), ("news", "LOC")]
            .map(|(corpus, label)| map.name(corpus, label));
        assert_eq!(names, ["person", "character", "person", "novels:person", "news:LOC"]);
    }

    #[test]
    fn lines_that_say_nothing_are_refused() {
        let refused = |text: &str, want: Expect| {
            want.assert_eq(&LabelMap::read(text, Path::new("labels.tsv")).unwrap_err().to_string());
        };
        let line = expect![[
            r#"line 2 of the table of labels is not a corpus (or *), a label and a merged label with tabs between them: "* PER person": labels.tsv"#
        ]];
        refused("*\tPER\tperson\n* PER person\n", line);
        let line = expect![[
            r#"line 1 of the table of labels is not a corpus (or *), a label and a merged label with tabs between them: "*\tPER\t": labels.tsv"#
        ]];
        refused("*\tPER\t\n", line);
        let line = expect![[
            r#"line 2 of the table of labels says something else of "PER" than an earlier one; delete one of them: labels.tsv"#
        ]];
        refused("a\tPER\tperson\na\tPER\tman\n", line);
    }
}
