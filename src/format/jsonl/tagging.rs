//! How the tags in `ner_tags` are meant: of all lines, before the first one is read.

use super::line::Tag;
use super::options::{LABEL, SCHEME};
use crate::format::scheme::Scheme;
use crate::format::tag_order::Evidence;
use crate::format::tags::{Doubt, Notation, Tag as Said};
use crate::format::{FormatError, Input, Options, Sink};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::BufRead;

/// All that is looked at of a line.
#[derive(Deserialize)]
struct Tagged {
    ner_tags: Option<Vec<Tag>>,
}

/// # Errors
/// It can't be told.
pub(super) fn find(
    input: &Input,
    names: &[String],
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Notation, FormatError> {
    let asked = Scheme::from_name(options.value(&SCHEME));
    let key = b"\"ner_tags\"";
    if !input.sample().bytes.windows(key.len()).any(|window| window == key) {
        return Ok(Notation::usual(asked.unwrap_or(Scheme::Iob2)));
    }
    let file = input.file_name();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    each(input, names, &mut |tags| {
        for tag in tags {
            match counts.get_mut(*tag) {
                Some(count) => *count += 1,
                None => {
                    counts.insert((*tag).to_owned(), 1);
                }
            }
        }
    })?;
    let doubt = |doubt: Doubt| FormatError::NeedsOption {
        why: doubt.to_string(),
        option: doubt.option(),
        file: file.to_owned(),
    };
    let counts = counts.iter().map(|(tag, count)| (tag.as_str(), *count)).collect();
    let mut notation = Notation::find(&counts, asked, options.value(&LABEL)).map_err(doubt)?;
    let mut evidence = Evidence::default();
    each(input, names, &mut |tags| evidence.add(tags, &notation))?;
    let says_something = counts.keys().any(|tag| matches!(notation.read(tag), Said::Of(..) | Said::Bare(_)));
    evidence.settle(&mut notation, asked);
    if asked.is_none() && says_something {
        sink.note(format!("tags were read as {}; else set the option scheme=…: {file}", notation.shown()));
    }
    Ok(notation)
}

/// The tags of each line that has some and can be read.
fn each(input: &Input, names: &[String], take: &mut dyn FnMut(&[&str])) -> Result<(), FormatError> {
    let (mut lines, _) = input.look()?;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if lines.read_until(b'\n', &mut bytes).map_err(|error| FormatError::read(error, input.file_name()))? == 0 {
            return Ok(());
        }
        let line = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes).trim_ascii();
        let Ok(Tagged { ner_tags: Some(tags) }) = serde_json::from_slice(line) else { continue };
        let name = |tag| match tag {
            &Tag::Number(number) => {
                usize::try_from(number).ok().and_then(|at| names.get(at)).map_or("O", String::as_str)
            }
            Tag::Name(name) => name.trim(),
        };
        take(&tags.iter().map(name).collect::<Vec<_>>());
    }
}
