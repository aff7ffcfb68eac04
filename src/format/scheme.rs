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

use crate::annotation::Span;

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
