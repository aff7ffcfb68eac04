//! What could not be taken along, told in few lines.

use crate::wording::grouped;
use std::collections::HashMap;

/// Lines of one kind that are told, at most; the others are counted.
const TOLD: usize = 20;

/// Lines by their kinds, in the order in which the kinds came up.
#[derive(Debug, Default)]
pub(super) struct Losses {
    groups: Vec<Group>,
    places: HashMap<&'static str, usize>,
}

#[derive(Debug)]
struct Group {
    /// What the lines are about, in the plural.
    what: &'static str,
    lines: Vec<String>,
    more: usize,
}

impl Losses {
    /// Adds a line about one of several things: "rows of sentence".
    pub(super) fn add(&mut self, what: &'static str, line: impl Into<String>) {
        let place = *self.places.entry(what).or_insert(self.groups.len());
        if place == self.groups.len() {
            self.groups.push(Group { what, lines: Vec::new(), more: 0 });
        }
        if let Some(group) = self.groups.get_mut(place) {
            if group.lines.len() < TOLD {
                group.lines.push(line.into());
            } else {
                group.more += 1;
            }
        }
    }

    /// The first line of a kind.
    pub(super) fn first(&self, what: &'static str) -> Option<&str> {
        self.groups.get(*self.places.get(what)?)?.lines.first().map(String::as_str)
    }

    pub(super) fn append(&mut self, other: Self) {
        for Group { what, lines, more } in other.groups {
            lines.into_iter().for_each(|line| self.add(what, line));
            if let Some(group) = self.places.get(what).and_then(|place| self.groups.get_mut(*place)) {
                group.more += more;
            }
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        let lines = self.groups.into_iter().flat_map(|Group { what, mut lines, more }| {
            if more > 0 {
                lines.push(format!("and {} more {what}", grouped(more)));
            }
            lines
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_of_one_kind_are_counted() {
        let mut losses = Losses::default();
        losses.add("labels", "the name of a label");
        (0..1020).for_each(|row| losses.add("rows of sentence", format!("sentence {row}")));
        assert_eq!(losses.first("rows of sentence"), Some("sentence 0"));
        let lines = losses.into_lines();
        assert_eq!((lines.len(), lines[0].as_str()), (22, "the name of a label"));
        assert_eq!((lines[20].as_str(), lines[21].as_str()), ("sentence 19", "and 1,000 more rows of sentence"));
    }
}
