//! Messages of one kind, which differ in numbers and in what they quote: said once, with their count.

use std::collections::HashMap;

/// Messages of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind<'m, T> {
    /// The first few of them.
    pub first: Vec<&'m T>,
    pub count: usize,
}

/// Messages of each kind that are shown.
const SHOWN: usize = 3;

/// The kinds in the order in which they first come. `message` gives what makes the kind.
pub fn by_kind<'m, T>(items: &'m [T], message: impl Fn(&T) -> &str) -> Vec<Kind<'m, T>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kinds: Vec<Kind<'m, T>> = Vec::new();
    for item in items {
        let place = *places.entry(pattern(message(item))).or_insert(kinds.len());
        if place == kinds.len() {
            kinds.push(Kind { first: Vec::new(), count: 0 });
        }
        if let Some(kind) = kinds.get_mut(place) {
            kind.count += 1;
            if kind.first.len() < SHOWN {
                kind.first.push(item);
            }
        }
    }
    kinds
}

impl<T> Kind<'_, T> {
    /// "… and 1,204 more like this", where some are not shown.
    pub fn rest(&self) -> Option<String> {
        let rest = self.count - self.first.len();
        (rest > 0).then(|| format!("… and {} more like this", super::grouped(rest)))
    }
}

/// The message without what differs from case to case: numbers, with the letters at them (`T12`), and quotes.
pub fn pattern(message: &str) -> String {
    let mut pattern = String::with_capacity(message.len());
    let mut parts = message.split('"');
    while let Some(plain) = parts.next() {
        for word in plain.split_inclusive(|c: char| !c.is_alphanumeric()) {
            if word.contains(|c: char| c.is_numeric()) {
                pattern.push('#');
                pattern.extend(word.chars().last().filter(|c| !c.is_alphanumeric()));
            } else {
                pattern += word;
            }
        }
        if parts.next().is_some() {
            pattern.push('"');
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_numbers_and_quotes_are_of_one_kind() {
        let messages: Vec<String> = (1..=5)
            .map(|n| format!("T{n} quotes \"Ann{n} \", but there is \"x\""))
            .chain(["the label is empty".to_owned()])
            .collect();
        let kinds = by_kind(&messages, |message| message);
        let shown: Vec<_> = kinds.iter().map(|kind| (kind.count, kind.first.len(), kind.rest())).collect();
        assert_eq!(shown, [(5, 3, Some("… and 2 more like this".to_owned())), (1, 1, None)]);
        assert_eq!(pattern("line 12: \"a 1\" b"), "line #: \" b");
    }
}
