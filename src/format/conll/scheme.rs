//! What the prefixes of tags mean: found out for reading, and put on for writing.

use crate::annotation::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    Iob1,
    Iob2,
    Bioes,
    Bilou,
    Io,
}

impl Scheme {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Iob1, Self::Iob2, Self::Bioes, Self::Bilou, Self::Io].into_iter().find(|s| s.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Iob1 => "iob1",
            Self::Iob2 => "iob2",
            Self::Bioes => "bioes",
            Self::Bilou => "bilou",
            Self::Io => "io",
        }
    }

    /// The tags of one column; the spans must not overlap.
    pub(super) fn encode(self, tokens: usize, spans: &[(Span, &str)]) -> Vec<String> {
        let mut tags = vec!["O".to_owned(); tokens];
        for (span, label) in spans {
            let touches = spans.iter().any(|(other, of)| of == label && other.end() == span.start());
            for (at, tag) in tags.iter_mut().enumerate().take(span.end().get()).skip(span.start().get()) {
                let (first, last) = (at == span.start().get(), at == span.last().get());
                let prefix = match (self, first, last) {
                    (Self::Bioes, true, true) => 'S',
                    (Self::Bilou, true, true) => 'U',
                    (Self::Bioes, false, true) => 'E',
                    (Self::Bilou, false, true) => 'L',
                    (Self::Iob1, true, _) if touches => 'B',
                    (Self::Iob1 | Self::Io, ..) => 'I',
                    (_, true, _) => 'B',
                    _ => 'I',
                };
                *tag = format!("{prefix}-{label}");
            }
        }
        tags
    }
}

/// Prefix and label; `None` for `O` and for tags without a prefix.
pub(super) fn parts(tag: &str) -> Option<(char, &str)> {
    let (prefix, label) = tag.split_once('-')?;
    let mut letters = prefix.chars();
    let letter = letters.next().filter(|c| "BIESLU".contains(*c))?;
    (letters.next().is_none() && !label.is_empty()).then_some((letter, label))
}

/// What is counted to tell the scheme.
#[derive(Default, Debug)]
pub(super) struct Evidence {
    es: usize,
    lu: usize,
    bare: usize,
    begins: usize,
    /// `B-` where nothing of the label goes before.
    begins_alone: usize,
    /// `I-` where nothing of the label goes before.
    inside_alone: usize,
}

impl Evidence {
    /// Tags of one column of one sentence.
    pub(super) fn add(&mut self, tags: &[&str]) {
        let mut before = None;
        for tag in tags {
            let now = parts(tag);
            let alone = before != now.map(|(_, label)| label);
            match now {
                Some(('B', _)) => {
                    self.begins += 1;
                    self.begins_alone += usize::from(alone);
                }
                Some(('I', _)) => self.inside_alone += usize::from(alone),
                Some(('E' | 'S', _)) => self.es += 1,
                Some(_) => self.lu += 1,
                None if *tag != "O" => self.bare += 1,
                None => {}
            }
            before = now.map(|(_, label)| label);
        }
    }

    pub(super) fn scheme(&self) -> Scheme {
        match self {
            Self { es, lu, .. } if *es > *lu => Scheme::Bioes,
            Self { lu, .. } if *lu > 0 => Scheme::Bilou,
            Self { bare, begins: 0, inside_alone: 0, .. } if *bare > 0 => Scheme::Io,
            // Where `B-` stands only between neighbours, spans begin with `I-`.
            Self { begins_alone: 0, inside_alone, .. } if *inside_alone > 0 => Scheme::Iob1,
            _ => Scheme::Iob2,
        }
    }
}

/// Positions whose tag can't follow the one before, or can't end there.
pub(super) fn faults(scheme: Scheme, tags: &[&str]) -> Vec<usize> {
    let at = |at: Option<usize>| at.and_then(|at| tags.get(at)).and_then(|tag| parts(tag));
    let fault = |position: &usize| {
        let (before, next) = (at(position.checked_sub(1)), at(Some(position + 1)));
        let Some((prefix, label)) = at(Some(*position)) else { return false };
        let open = before.is_some_and(|(p, l)| l == label && matches!(p, 'B' | 'I'));
        let goes_on = next.is_some_and(|(p, l)| l == label && matches!(p, 'I' | 'E' | 'L'));
        match (scheme, prefix) {
            (Scheme::Iob2, 'I') => !open,
            (Scheme::Iob1, 'B') => !open,
            (Scheme::Iob1 | Scheme::Io, 'I') | (Scheme::Iob2, 'B') => false,
            (Scheme::Bioes | Scheme::Bilou, 'B') => !goes_on,
            (Scheme::Bioes | Scheme::Bilou, 'I') => !open || !goes_on,
            (Scheme::Bioes, 'E') | (Scheme::Bilou, 'L') => !open,
            (Scheme::Bioes, 'S') | (Scheme::Bilou, 'U') => false,
            _ => true,
        }
    };
    (0..tags.len()).filter(fault).collect()
}
