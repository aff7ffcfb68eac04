//! Reading a text and its annotations.

use super::offsets::{Counting, Unit, to_bytes};
use super::{ID, OFFSETS, conf, fields, number_of};
use crate::annotation::{Kept, Status};
use crate::format::encoding::{decode, decode_start};
use crate::format::fit::{Lost, RawMention, fit, quotes};
use crate::format::segments::{LineEvidence, segments};
use crate::format::{FormatError, ImportedDocument, Input, Options, Sink, Warning};
use crate::text::OffsetIndex;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};

/// A `T` line.
struct TextBound<'t> {
    line: usize,
    pieces: Vec<(usize, usize)>,
    quoted: Option<&'t str>,
    mention: RawMention,
}

pub(super) fn read(input: &Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let file = input.file_name().to_owned();
    let mut conf = |name: &str| match input.beside(name) {
        Ok(found) => String::from_utf8(found.map(|found| found.bytes).unwrap_or_default()).unwrap_or_default(),
        Err(error) => {
            let message = format!("{name} was left out: {error}");
            sink.warning(Warning { file: file.clone(), line: None, message });
            String::new()
        }
    };
    let [annotation, visual, keys] = ["annotation.conf", "visual.conf", "kb_shortcuts.conf"].map(&mut conf);
    for label in conf::labels(&annotation, &visual, &keys) {
        sink.label(label);
    }
    let (text, annotations) = both(input, &file)?;
    let has_none = annotations.is_none();
    let annotations = annotations.unwrap_or_default();
    if has_none {
        sink.note(format!("there is no .ann beside it, so that it is taken as not annotated yet: {file}"));
    }
    if u32::try_from(text.len()).is_err() {
        OffsetIndex::new(&text).map_err(|source| FormatError::TooLong { source, file: file.clone() })?;
    }
    let mut warn = |line: usize, message: String| {
        sink.warning(Warning { file: file.clone(), line: Some(line), message });
    };
    let Lines { mut bounds, kept, lost: lost_starts, is_unbegun } = lines(&annotations, &mut warn);

    let unit = Unit::from_name(options.value(&OFFSETS));
    let (counting, table) = find_counting(&text, &bounds, unit, &file)?;
    let lost_at = |start: Option<usize>| match start.and_then(|start| byte_before(&table, start)) {
        Some(byte) => Lost::At(byte),
        None => Lost::Somewhere,
    };
    let mut lost: Vec<Lost> = lost_starts.into_iter().map(lost_at).collect();
    bounds.retain_mut(|bound| {
        let pieces = to_bytes(&table, &bound.pieces);
        let problem = match &pieces {
            None => Some("is empty, outside the text, or inside a character".to_owned()),
            Some(there) if bound.quoted.is_some_and(|quoted| !quotes(&text, there, quoted)) => {
                let found: Vec<_> = there.iter().filter_map(|piece| text.get(piece.clone())).collect();
                Some(format!("quotes {:?}, but there is {:?}", bound.quoted.unwrap_or_default(), found.join(" ")))
            }
            Some(_) => None,
        };
        if let Some(problem) = &problem {
            let id = bound.mention.source_id.as_deref().unwrap_or_default();
            let place = lost_at(bound.pieces.first().map(|(start, _)| *start));
            warn(bound.line, format!("{id} {problem}; {}", place.meaning()));
            lost.push(place);
        }
        bound.mention.pieces = pieces.unwrap_or_default();
        problem.is_none()
    });

    let sentences = segments(&text, options);
    let mentions: Vec<RawMention> = bounds.iter().map(|bound| bound.mention.clone()).collect();
    let mut fitted = fit(&text, &sentences, &mentions);
    for (number, why) in &fitted.left_out {
        let Some(bound) = bounds.get(*number) else { continue };
        let id = bound.mention.source_id.as_deref().unwrap_or_default();
        let (message, place) = why.of(id, &bound.mention);
        sink.warning(Warning { file: file.clone(), line: Some(bound.line), message });
        lost.extend(place);
    }
    lost.into_iter().for_each(|lost| fitted.reopen(lost));
    for sentence in &mut fitted.sentences {
        sentence.may_be_unread = is_unbegun;
        if has_none {
            sentence.status = Some(Status::Untouched);
        }
    }
    let ids: BTreeSet<&str> = mentions.iter().filter_map(|m| m.source_id.as_deref()).collect();
    let triggers = triggers(&kept).filter(|id| ids.contains(id)).collect::<BTreeSet<_>>().len();
    if triggers > 0 {
        sink.note(format!(
            "{}: {file}",
            counted(triggers, "mention is the trigger of an event", "mentions are triggers of events")
        ));
    }
    if counting.unit != Unit::Chars || counting.joins_crlf || !counting.counts_bom {
        sink.note(format!("offsets were read as {}: {file}", counting.shown()));
    }
    for note in fitted.changes.notes() {
        sink.note(format!("{note}: {file}"));
    }
    let kept = if kept.is_empty() { Kept::new() } else { Kept::from([(ID.to_owned(), kept)]) };
    let document =
        ImportedDocument { name: input.name().to_owned(), text: text.into(), kept, sentences: fitted.sentences };
    if sink.document(document).is_break() { Err(FormatError::Stopped { file }) } else { Ok(()) }
}

/// The text and the annotations, whichever of the two files was named; a text may be one that has none yet.
fn both(input: &Input, file: &str) -> Result<(String, Option<String>), FormatError> {
    let is_text = input.sample().extension == "txt";
    let Some(other) = input.with_ending(if is_text { "ann" } else { "txt" })? else {
        return match is_text {
            true => Ok((decode(input.all_bytes()?, file)?.text, None)),
            false => Err(FormatError::Missing { file: format!(".txt (beside {file})") }),
        };
    };
    let theirs = decode(other.bytes, &other.file)?;
    let ours = decode(input.all_bytes()?, file)?;
    let (text, annotations) = if is_text { (ours.text, theirs.text) } else { (theirs.text, ours.text) };
    let annotations = annotations.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(annotations);
    Ok((text, Some(annotations)))
}

/// The text is in the file itself or in the one beside it.
pub(super) fn look_at_lines(input: &Input, evidence: &mut LineEvidence) {
    if input.sample().extension == "txt" {
        evidence.add(&decode_start(input.sample().bytes));
    } else if let Ok(Some(text)) = input.with_ending("txt") {
        evidence.add(&decode_start(&text.bytes));
    }
}

/// What an `.ann` file holds.
struct Lines<'t> {
    /// The `T` lines with what is said of them.
    bounds: Vec<TextBound<'t>>,
    /// All other lines as they are.
    kept: String,
    /// Where `T` lines that were left out begin, in offsets, as far as they say it.
    lost: Vec<Option<usize>>,
    /// There is no `T` line: the file is made beside each text, and empty until somebody begins.
    is_unbegun: bool,
}

fn lines<'t>(annotations: &'t str, warn: &mut dyn FnMut(usize, String)) -> Lines<'t> {
    let numbered = || annotations.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).zip(1..);
    let mut bounds: Vec<TextBound<'t>> = Vec::new();
    let mut by_id = BTreeMap::new();
    let mut lost = Vec::new();
    for (line, number) in numbered().filter(|(line, _)| line.starts_with('T')) {
        match text_bound(line, number) {
            Some((id, bound)) if by_id.contains_key(id) => {
                warn(number, format!("{id} is there twice; the second was left out, so its sentence is not complete"));
                lost.push(bound.pieces.first().map(|(start, _)| *start));
            }
            Some((id, bound)) => {
                by_id.insert(id, bounds.len());
                bounds.push(bound);
            }
            None => {
                let start = start_of(line);
                let meaning = start.map_or(Lost::Somewhere, Lost::At).meaning();
                warn(number, format!("this is no mention (expected T1⇥Label 0 4⇥words), got {line:?}; {meaning}"));
                lost.push(start);
            }
        }
    }
    let mut kept = String::new();
    for (line, number) in numbered().filter(|(line, _)| !line.starts_with('T') && !line.trim().is_empty()) {
        let (id, said, rest) = fields(line);
        let mut words = said.splitn(3, ' ');
        let (name, target, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next());
        let mention = by_id.get(target).and_then(|at| bounds.get_mut(*at)).map(|bound| &mut bound.mention);
        match (id.chars().next(), mention) {
            (Some('A' | 'M'), Some(mention)) if !name.is_empty() && !mention.attributes.contains_key(name) => {
                mention.attributes.insert(name.to_owned(), value.unwrap_or_default().to_owned());
                continue;
            }
            (Some('#'), Some(mention)) if name == "AnnotatorNotes" && rest.is_some() => {
                if !mention.note.is_empty() {
                    mention.note.push('\n');
                }
                mention.note += rest.unwrap_or_default();
                continue;
            }
            (Some('A' | 'M' | 'R' | 'E' | 'N' | '#' | '*'), _) if line.contains('\t') => {}
            _ => warn(number, format!("this is no line of brat, got {line:?}; it was kept for a later export")),
        }
        if !kept.is_empty() {
            kept.push('\n');
        }
        kept += line;
    }
    let is_unbegun = bounds.is_empty() && lost.is_empty();
    Lines { bounds, kept, lost, is_unbegun }
}

/// Where a mention begins whose line can't be read, if it can be told: the first number after the label.
fn start_of(line: &str) -> Option<usize> {
    let said = if line.contains('\t') { fields(line).1 } else { line.split_once(' ')?.1 };
    said.split([' ', ';']).skip(1).find_map(|word| word.parse().ok())
}

/// The byte of an offset, or of the character that it is inside of.
fn byte_before(table: &[Option<usize>], offset: usize) -> Option<usize> {
    table.get(..=offset)?.iter().rev().find_map(|byte| *byte)
}

fn text_bound(line: &str, number: usize) -> Option<(&str, TextBound<'_>)> {
    let (id, said, quoted) = fields(line);
    number_of(id, 'T')?;
    let (label, offsets) = said.split_once(' ')?;
    let piece = |piece: &str| {
        let (start, end) = piece.trim().split_once(' ')?;
        Some((start.parse().ok()?, end.trim().parse().ok()?))
    };
    let pieces = offsets.split(';').map(piece).collect::<Option<Vec<_>>>()?;
    let mention = RawMention { label: label.to_owned(), source_id: Some(id.to_owned()), ..RawMention::default() };
    (!label.is_empty()).then_some((id, TextBound { line: number, pieces, quoted, mention }))
}

/// The ids of what the events of kept lines are triggered by.
fn triggers(kept: &str) -> impl Iterator<Item = &str> {
    let events = kept.lines().filter(|line| line.starts_with('E'));
    events.filter_map(|line| fields(line).1.split(' ').next()?.split_once(':').map(|(_, id)| id))
}

/// What is wrong, with the first line that shows it where most fit.
fn no_counting_fits(text: &str, quoting: &[(&TextBound<'_>, &str)], table: &[Option<usize>]) -> String {
    let fits = |bound: &TextBound<'_>, quoted| {
        to_bytes(table, &bound.pieces).is_some_and(|pieces| quotes(text, &pieces, quoted))
    };
    let mut wrong = quoting.iter().filter(|(bound, quoted)| !fits(bound, quoted));
    let first = wrong.next();
    let number = usize::from(first.is_some()) + wrong.count();
    let first = first.map(|(bound, quoted)| format!(", first line {}, which quotes {quoted:?}", bound.line));
    format!(
        "what the offsets count can't be told: {} other words than the text has there{}",
        counted(number, "line quotes", "lines quote"),
        first.unwrap_or_default()
    )
}

/// The way of counting under which all lines quote what is there, else most of them.
fn find_counting(
    text: &str,
    bounds: &[TextBound<'_>],
    unit: Option<Unit>,
    file: &str,
) -> Result<(Counting, Vec<Option<usize>>), FormatError> {
    let quoting: Vec<_> = bounds.iter().filter_map(|bound| Some((bound, bound.quoted?))).collect();
    let mut best: Option<(usize, Counting, Vec<Option<usize>>)> = None;
    for counting in Counting::all(text, unit) {
        let table = counting.table(text);
        let fits = |(bound, quoted): &&(&TextBound<'_>, &str)| {
            to_bytes(&table, &bound.pieces).is_some_and(|pieces| quotes(text, &pieces, quoted))
        };
        let matching = quoting.iter().filter(fits).count();
        if best.as_ref().is_none_or(|(most, ..)| matching > *most) {
            best = Some((matching, counting, table));
        }
        if matching == quoting.len() {
            break;
        }
    }
    match best {
        Some((matching, counting, table)) if unit.is_some() || matching * 2 >= quoting.len() => Ok((counting, table)),
        best => Err(FormatError::NeedsOption {
            why: no_counting_fits(text, &quoting, &best.map(|(.., table)| table).unwrap_or_default()),
            option: "offsets=chars, utf16 or bytes, or check that the text is the right one",
            file: file.to_owned(),
        }),
    }
}
