//! What separates the cells of a row.

use super::blocks::blocks;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    Tabs,
    Blanks,
}

impl Separator {
    /// Without white space around the cells. Blanks are ASCII: a no-break space belongs to its word.
    pub(super) fn split(self, line: &str) -> Vec<&str> {
        match self {
            Self::Tabs => line.split('\t').map(str::trim).collect(),
            Self::Blanks => line.split_ascii_whitespace().map(str::trim).collect(),
        }
    }

    /// Tabs, unless more rows are alike at blanks.
    pub(super) fn find(text: &str) -> (Self, usize) {
        let share = |separator: Self| {
            let (count, rows, total) = most_common_count(text, separator);
            (count, if count > 1 { rows as f64 / total.max(1) as f64 } else { 0.0 })
        };
        let ((tabs, alike_at_tabs), (blanks, alike_at_blanks)) = (share(Self::Tabs), share(Self::Blanks));
        let is_tabs = alike_at_tabs >= 0.95 || (alike_at_tabs > 0.0 && alike_at_tabs >= alike_at_blanks);
        if is_tabs { (Self::Tabs, tabs) } else { (Self::Blanks, blanks) }
    }
}

/// Counts of cells, to find the number of columns.
fn most_common_count(text: &str, separator: Separator) -> (usize, usize, usize) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let lines = || blocks(text).flat_map(|block| block.lines).map(|(_, line)| line);
    for line in lines().filter(|line| !line.starts_with('#')) {
        *counts.entry(separator.split(line).len()).or_default() += 1;
    }
    if counts.is_empty() {
        // Words that begin with `#` alone; comments have no tabs.
        for line in lines().filter(|line| line.contains('\t')) {
            *counts.entry(separator.split(line).len()).or_default() += 1;
        }
    }
    let total = counts.values().sum();
    // Of two counts that are as common, the smaller one.
    let most = counts.iter().rev().max_by_key(|(_, rows)| **rows);
    most.map_or((0, 0, total), |(count, rows)| (*count, *rows, total))
}
