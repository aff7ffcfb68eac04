//! Whether `end` names the last token or the one after it.
//!
//! Programs differ and files don't say, so a file without a header is searched for what only one of the two can mean:
//!
//! | in the file | exclusive | inclusive |
//! |---|---|---|
//! | `start` = `end` | an empty entity: wrong | an entity of one token |
//! | `end` = number of tokens | an entity up to the last token | outside the sentence: wrong |

use super::options::END;
use crate::format::units::Ends;
use crate::format::{FormatError, Input, Options};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::BufRead;

/// How the ends of a file are to be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Decision {
    pub(super) ends: Ends,
    /// Only the start of the file could be searched and it said nothing, so a later line may prove it wrong.
    pub(super) is_guess: bool,
    /// What the person should know about it.
    pub(super) note: Option<String>,
}

/// Takes the option, or searches the file, unless its entities count characters: those are decided on with their unit.
///
/// # Errors
/// A file that says both, or too little of one: the person has to tell.
pub(super) fn decide(input: &Input, counts_characters: bool, options: &Options) -> Result<Decision, FormatError> {
    if let Some(ends) = Ends::from_name(options.value(&END)) {
        return Ok(Decision { ends, is_guess: false, note: None });
    }
    if counts_characters {
        return Ok(Decision { ends: Ends::Exclusive, is_guess: false, note: None });
    }
    let file = input.file_name();
    let (mut lines, is_whole) = input.look()?;
    let seen = Evidence::of(&mut *lines).map_err(|error| FormatError::read(error, file))?;
    let Evidence { entities, empty, past } = seen;
    // A slip or two of an exclusive file are no evidence: in files with inclusive ends many entities are one token.
    let many_empty = empty * 20 >= entities;
    match (empty, past) {
        (0, 0) if entities > 0 => {
            let note = format!(
                "whether `end` is the last token or one after it can't be told from this file: read as one after it; \
                 --option end=inclusive says otherwise: {file}"
            );
            Ok(Decision { ends: Ends::Exclusive, is_guess: !is_whole, note: Some(note) })
        }
        (0, _) => Ok(Decision { ends: Ends::Exclusive, is_guess: !is_whole && past == 0, note: None }),
        (_, 0) if many_empty => {
            let note = format!(
                "read as inclusive ends because {empty} of {entities} entities have start = end and none ends at the \
                 number of tokens; else set the option end=exclusive: {file}"
            );
            Ok(Decision { ends: Ends::Inclusive, is_guess: false, note: Some(note) })
        }
        (_, past) if past > 0 && !many_empty => Ok(Decision { ends: Ends::Exclusive, is_guess: false, note: None }),
        _ => Err(FormatError::NeedsOption {
            why: format!(
                "whether `end` is the last token or the one after it can't be told: {empty} of {entities} entities \
                 have start = end (so inclusive), {past} end at the number of tokens (so exclusive)"
            ),
            option: "end=inclusive or end=exclusive",
            file: file.to_owned(),
        }),
    }
}

/// Counts over the lines before a header, which would settle it.
#[derive(Default)]
struct Evidence {
    entities: usize,
    /// `start` = `end`.
    empty: usize,
    /// `end` = number of tokens.
    past: usize,
}

impl Evidence {
    fn of(lines: &mut dyn BufRead) -> std::io::Result<Self> {
        let mut evidence = Self::default();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            // A line that can't be read says nothing here; reading warns of it.
            if let Ok(glance) = serde_json::from_slice::<Glance>(line.trim_ascii()) {
                if glance.nestling.is_some() {
                    break;
                }
                evidence.add(&glance);
            }
            line.clear();
        }
        Ok(evidence)
    }

    fn add(&mut self, line: &Glance) {
        let Some(tokens) = line.tokens.as_ref().map(Vec::len) else { return };
        for entity in line.entities.iter().flatten() {
            let pieces = entity.fragments.as_deref().unwrap_or_default();
            for (start, end) in pieces.iter().copied().chain([(entity.start, entity.end)]) {
                self.entities += 1;
                self.empty += usize::from(start == end);
                self.past += usize::from(start < end && end == tokens);
            }
        }
    }
}

/// The part of a line that can say something.
#[derive(Deserialize)]
struct Glance {
    nestling: Option<IgnoredAny>,
    tokens: Option<Vec<IgnoredAny>>,
    entities: Option<Vec<EntityGlance>>,
}

#[derive(Deserialize)]
struct EntityGlance {
    start: usize,
    end: usize,
    fragments: Option<Vec<(usize, usize)>>,
}
