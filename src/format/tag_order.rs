//! What the order of tags says: which [scheme](super::scheme) they follow, and which of them do not.

use super::scheme::{Part, Scheme};
use super::tags::{Notation, Tag};
use std::collections::BTreeMap;

/// What is counted to tell the scheme.
#[derive(Default, Debug)]
pub(super) struct Evidence {
    letters: BTreeMap<char, usize>,
    bare: usize,
    nameless: usize,
    /// `B-` where nothing of the label goes before.
    begins_alone: usize,
    /// `I-` where nothing of the label goes before.
    inside_alone: usize,
    /// `E-` where nothing of the label follows.
    ends_alone: usize,
}

impl Evidence {
    /// Tags of one column of one sentence.
    pub(super) fn add(&mut self, tags: &[&str], notation: &Notation) {
        let label_at = |at: Option<usize>| match at.and_then(|at| tags.get(at)).map(|tag| notation.read(tag)) {
            Some(Tag::Of(_, label) | Tag::Bare(label)) => Some(label),
            _ => None,
        };
        for (at, tag) in tags.iter().enumerate() {
            match notation.read(tag) {
                Tag::Of(letter, label) => {
                    let letter = letter.to_ascii_uppercase();
                    *self.letters.entry(letter).or_default() += 1;
                    let begins = label_at(at.checked_sub(1)) != Some(label);
                    self.begins_alone += usize::from(letter == 'B' && begins);
                    self.inside_alone += usize::from(letter == 'I' && begins);
                    self.ends_alone += usize::from(letter == 'E' && label_at(Some(at + 1)) != Some(label));
                }
                Tag::Bare(_) => self.bare += 1,
                Tag::Nameless => self.nameless += 1,
                Tag::Outside => {}
            }
        }
    }

    /// Takes what the order of the tags says, and the scheme that is asked for.
    pub(super) fn settle(&self, notation: &mut Notation, asked: Option<Scheme>) {
        notation.scheme = asked.unwrap_or_else(|| self.scheme());
        if asked.is_none() {
            (notation.has_ends, notation.has_singles) = (self.has(Part::End), self.has(Part::Single));
        }
    }

    fn has(&self, part: Part) -> bool {
        self.letters.keys().any(|letter| Part::of(*letter) == Some(part))
    }

    /// No tag says that anything is a mention.
    pub(super) fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.bare == 0 && self.nameless == 0
    }

    fn scheme(&self) -> Scheme {
        let count = |letters: &str| letters.chars().filter_map(|letter| self.letters.get(&letter)).sum::<usize>();
        match () {
            () if self.letters.is_empty() && self.bare > 0 => Scheme::Io,
            () if count("W") > 0 => Scheme::Bmewo,
            () if count("M") > 0 => Scheme::Bmes,
            () if count("E") > 0 && count("BSLU") == 0 && self.ends_alone == 0 => Scheme::Ioe1,
            () if count("E") > 0 && count("BSLU") == 0 => Scheme::Ioe2,
            () if count("ES") > count("LU") => Scheme::Bioes,
            () if count("LU") > 0 => Scheme::Bilou,
            // Where `B-` stands only between neighbours, spans begin with `I-`.
            () if self.begins_alone == 0 && self.inside_alone > 0 => Scheme::Iob1,
            () => Scheme::Iob2,
        }
    }
}

/// Positions whose tag can't follow the one before, or can't end there.
pub(super) fn faults(notation: &Notation, tags: &[&str]) -> Vec<usize> {
    let at = |at: Option<usize>| match notation.read(at.and_then(|at| tags.get(at))?) {
        Tag::Of(letter, label) => Some((Part::of(letter)?, label)),
        _ => None,
    };
    let fault = |position: &usize| {
        let (before, next) = (at(position.checked_sub(1)), at(Some(position + 1)));
        let Some((part, label)) = at(Some(*position)) else { return false };
        let open = before.is_some_and(|(p, l)| l == label && matches!(p, Part::Begin | Part::Inside));
        let goes_on = next.is_some_and(|(p, l)| l == label && matches!(p, Part::Inside | Part::End));
        let needs_end = !goes_on && notation.has_ends;
        match (notation.scheme, part) {
            (Scheme::Iob2, Part::Inside) | (Scheme::Iob1, Part::Begin) => !open,
            (Scheme::Ioe2, Part::Inside) | (Scheme::Ioe1, Part::End) => !goes_on,
            (Scheme::Iob1 | Scheme::Ioe1 | Scheme::Io, Part::Inside)
            | (Scheme::Iob2, Part::Begin)
            | (Scheme::Ioe2, Part::End) => false,
            (Scheme::Bioes | Scheme::Bilou | Scheme::Bmes | Scheme::Bmewo, part) => match part {
                Part::Begin => needs_end && notation.has_singles,
                Part::Inside => !open || needs_end,
                Part::End => !open,
                Part::Single => false,
            },
            _ => true,
        }
    };
    (0..tags.len()).filter(fault).collect()
}
