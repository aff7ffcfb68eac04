//! Tagging schemes: what the prefixes of tags mean, found out for reading, and put on for writing.
//!
//! | scheme | first token | between | last token | only token |
//! |---|---|---|---|---|
//! | `io` | `I-X` or `X` | `I-X` or `X` | `I-X` or `X` | `I-X` or `X` |
//! | `iob1` | `I-X`; `B-X` right after another X | `I-X` | `I-X` | as the first |
//! | `iob2` | `B-X` | `I-X` | `I-X` | `B-X` |
//! | `ioe1` | `I-X` | `I-X` | `I-X`; `E-X` right before another X | as the last |
//! | `ioe2` | `I-X` | `I-X` | `E-X` | `E-X` |
//! | `bioes` | `B-X` | `I-X` | `E-X` | `S-X` |
//! | `bilou` | `B-X` | `I-X` | `L-X` | `U-X` |
//! | `bmes` | `B-X` | `M-X` | `E-X` | `S-X` |
//! | `bmewo` | `B-X` | `M-X` | `E-X` | `W-X` |

use super::tags::{Notation, Tag};
use crate::annotation::Span;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    Io,
    Iob1,
    Iob2,
    Ioe1,
    Ioe2,
    Bioes,
    Bilou,
    Bmes,
    Bmewo,
    /// Tags are labels as they stand: `B-cell` is one. Read, not written.
    Plain,
}

/// What the options of formats may say.
pub(super) const SCHEMES: &[&str] =
    &["auto", "io", "iob1", "iob2", "ioe1", "ioe2", "bioes", "bilou", "bmes", "bmewo", "none"];

/// What a prefix says of its token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    Begin,
    Inside,
    End,
    Single,
}

impl Part {
    pub(super) fn of(letter: char) -> Option<Self> {
        match letter.to_ascii_uppercase() {
            'B' => Some(Self::Begin),
            'I' | 'M' => Some(Self::Inside),
            'E' | 'L' => Some(Self::End),
            'S' | 'U' | 'W' => Some(Self::Single),
            _ => None,
        }
    }
}

impl Scheme {
    /// `None` for `auto`.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        use Scheme::{Bilou, Bioes, Bmes, Bmewo, Io, Iob1, Iob2, Ioe1, Ioe2, Plain};
        [Io, Iob1, Iob2, Ioe1, Ioe2, Bioes, Bilou, Bmes, Bmewo, Plain].into_iter().find(|s| s.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Iob1 => "iob1",
            Self::Iob2 => "iob2",
            Self::Ioe1 => "ioe1",
            Self::Ioe2 => "ioe2",
            Self::Bioes => "bioes",
            Self::Bilou => "bilou",
            Self::Bmes => "bmes",
            Self::Bmewo => "bmewo",
            Self::Plain => "none",
        }
    }

    /// The prefixes that belong to it.
    pub(super) fn letters(self) -> &'static str {
        match self {
            Self::Io => "I",
            Self::Iob1 | Self::Iob2 => "BI",
            Self::Ioe1 | Self::Ioe2 => "IE",
            Self::Bioes => "BIES",
            Self::Bilou => "BILU",
            Self::Bmes => "BMES",
            Self::Bmewo => "BMEW",
            Self::Plain => "",
        }
    }

    /// The tags of one column; the spans must not overlap.
    pub(super) fn encode(self, tokens: usize, spans: &[(Span, &str)]) -> Vec<String> {
        let mut tags = vec!["O".to_owned(); tokens];
        for (span, label) in spans {
            let follows = spans.iter().any(|(other, of)| of == label && other.end() == span.start());
            let precedes = spans.iter().any(|(other, of)| of == label && other.start() == span.end());
            for (at, tag) in tags.iter_mut().enumerate().take(span.end().get()).skip(span.start().get()) {
                let (first, last) = (at == span.start().get(), at == span.last().get());
                let prefix = match (self, first, last) {
                    (Self::Bioes | Self::Bmes, true, true) => 'S',
                    (Self::Bilou, true, true) => 'U',
                    (Self::Bmewo, true, true) => 'W',
                    (Self::Bioes | Self::Bmes | Self::Bmewo, false, true) => 'E',
                    (Self::Bilou, false, true) => 'L',
                    (Self::Bmes | Self::Bmewo, false, false) => 'M',
                    (Self::Iob1, true, _) if follows => 'B',
                    (Self::Ioe1, _, true) if precedes => 'E',
                    (Self::Ioe2, _, true) => 'E',
                    (Self::Iob1 | Self::Ioe1 | Self::Ioe2 | Self::Io | Self::Plain, ..) => 'I',
                    (_, true, _) => 'B',
                    _ => 'I',
                };
                *tag = format!("{prefix}-{label}");
            }
        }
        tags
    }
}

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

    pub(super) fn has(&self, part: Part) -> bool {
        self.letters.keys().any(|letter| Part::of(*letter) == Some(part))
    }

    /// No tag says that anything is a mention.
    pub(super) fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.bare == 0 && self.nameless == 0
    }

    pub(super) fn scheme(&self) -> Scheme {
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
