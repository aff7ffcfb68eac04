//! Reading a text and its annotations.

use super::conf::{self, CONFIGURATION, ID};
use super::ids::{fields, number_of, references, renamed};
use crate::annotation::{Kept, Status};
use crate::format::encoding::{decode, decode_start};
use crate::format::fit::{Fitted, LeftOut, Lost, RawMention, fit, quotes};
use crate::format::segments::{LineEvidence, segments};
use crate::format::units::{Counting, Decision, Ends, Evidence, Fit, Forced, Places, SAY_OFFSETS, Said, fit as fit_of};
use crate::format::{FormatError, ImportedDocument, Input, Options, Sink, Warning};
use crate::text::OffsetIndex;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// A `T` line.
struct TextBound<'t> {
    line: usize,
    id: &'t str,
    pieces: Vec<(usize, usize)>,
    quoted: Option<&'t str>,
    mention: RawMention,
}

pub(super) fn read(input: &Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let file = input.file_name().to_owned();
    configuration(input, sink);
    let (text, annotations) = both(input, &file)?;
    let has_none = annotations.is_none();
    let annotations = annotations.unwrap_or_default();
    if has_none {
        sink.note(format!("there is no .ann beside it, so it counts as not annotated yet: {file}"));
    }
    if u32::try_from(text.len()).is_err() {
        OffsetIndex::new(&text).map_err(|source| FormatError::TooLong { source, file: file.clone() })?;
    }
    let Lines { mut bounds, kept, lost: lost_starts, is_unbegun, warnings } = lines(&annotations);
    for (line, message, is_kept) in warnings {
        let warning = Warning { file: file.clone(), line: Some(line), message };
        if is_kept { sink.kept(warning) } else { sink.warning(warning) }
    }
    let mut warn = |line: usize, message: String| {
        sink.warning(Warning { file: file.clone(), line: Some(line), message });
    };

    let forced = Forced::by(options);
    let (counting, why) = find_counting(&text, &bounds, forced, &file)?;
    let starts: Vec<(usize, usize)> = lost_starts.iter().flatten().map(|start| (*start, *start)).collect();
    let places = counting.places(&text, bounds.iter().flat_map(|bound| &bound.pieces).chain(&starts));
    let lost_at = |start: Option<usize>| start.and_then(|start| places.before(start)).map_or(Lost::Somewhere, Lost::At);
    let mut lost: Vec<Lost> = lost_starts.into_iter().map(lost_at).collect();
    bounds.retain_mut(|bound| {
        let pieces = places.pieces(&bound.pieces);
        let problem = match &pieces {
            None => Some("is empty, outside the text, or inside a character".to_owned()),
            Some(there) if bound.quoted.is_some_and(|quoted| !quotes(&text, there, quoted)) => {
                Some(format!("quotes {:?}, but there is {:?}", bound.quoted.unwrap_or_default(), words(&text, there)))
            }
            Some(_) => None,
        };
        let place = lost_at(bound.pieces.first().map(|(start, _)| *start));
        if let Some(problem) = &problem {
            warn(bound.line, format!("{} {problem}; {}", bound.id, place.meaning()));
            lost.push(place);
        }
        if let Some(there) = &pieces
            && bound.quoted.is_none()
            && forced.unit.is_none()
            && fit_of(&text, there, None) == Fit::Astride
        {
            let message = format!(
                "{} is {:?} (counted in {counting}) and begins or ends in the middle of a word, so its sentence is not \
                 complete; if offsets count something else, set the option {SAY_OFFSETS}",
                bound.id,
                words(&text, there)
            );
            warn(bound.line, message);
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
        let (mut message, place) = why.of(bound.id, &bound.mention);
        if let LeftOut::Twice { of } = why
            && let Some(first) = bounds.get(*of).filter(|first| first.id != bound.id)
        {
            message += &format!(", as {}; what named {} names {} now", first.id, bound.id, first.id);
        }
        sink.warning(Warning { file: file.clone(), line: Some(bound.line), message });
        lost.extend(place);
    }
    let (kept, said_no_more) = follow_merged(&kept, &bounds, &fitted, &annotations);
    for line in said_no_more {
        let message = format!("{line:?} was left out: the mentions that it says are the same were merged");
        sink.warning(Warning { file: file.clone(), line: None, message });
    }
    lost.into_iter().for_each(|lost| fitted.reopen(lost));
    for sentence in &mut fitted.sentences {
        sentence.may_be_unread = is_unbegun;
        if has_none {
            sentence.status = Some(Status::Untouched);
        }
    }
    let ids: BTreeSet<&str> = mentions.iter().filter_map(|m| m.source_id.as_deref()).collect();
    let triggers =
        triggers(kept.iter().map(String::as_str)).filter(|id| ids.contains(id)).collect::<BTreeSet<_>>().len();
    if triggers > 0 {
        sink.note(format!(
            "{}: {file}",
            counted(triggers, "mention is the trigger of an event", "mentions are triggers of events")
        ));
    }
    if counting != Counting::USUAL {
        let end = if counting.ends == Ends::Inclusive { ", the end being the last one" } else { "" };
        let why = why.map(|why| format!(", because {why}")).unwrap_or_default();
        sink.note(format!("offsets were read as {counting}{end}{why}: {file}"));
    }
    for note in fitted.changes.notes() {
        sink.note(format!("{note}: {file}"));
    }
    let kept = if kept.is_empty() { Kept::new() } else { Kept::from([(ID.to_owned(), kept.join("\n"))]) };
    let document =
        ImportedDocument { name: input.name().to_owned(), text: text.into(), kept, sentences: fitted.sentences };
    if sink.document(document).is_break() { Err(FormatError::Stopped { file }) } else { Ok(()) }
}

/// In bytes; what is larger is something else.
const LARGEST_CONFIGURATION: u64 = 1 << 20;

/// Hands over what the configuration says: of the folder of the document, else of the folders above it as far as the
/// document's name tells of them.
fn configuration(input: &Input, sink: &mut dyn Sink) {
    let folders: Vec<&str> = input.name().rsplit('/').skip(1).collect();
    let mut texts: [String; CONFIGURATION.len()] = Default::default();
    for (file_name, text) in CONFIGURATION.into_iter().zip(&mut texts) {
        let in_folder = |level: usize| match input.above(level, file_name, LARGEST_CONFIGURATION) {
            Ok(found) => found.map(|bytes| (level, Ok(bytes))),
            Err(error) => Some((level, Err(error.to_string()))),
        };
        let Some((level, read)) = (0..=folders.len()).find_map(in_folder) else { continue };
        match read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())) {
            Ok(found) => {
                let above = folders.iter().skip(level).rev().copied();
                let name = above.chain([file_name]).collect::<Vec<_>>().join("/");
                text.clone_from(&found);
                if !(name == "annotation.conf" && conf::names_labels_alone(&found)) {
                    sink.definition(format!("{ID}:{name}"), found);
                }
            }
            Err(why) => sink.warning(Warning {
                // The same for all documents of a folder, so that it is said once.
                file: Path::new(input.file_name()).with_file_name(file_name).display().to_string(),
                line: None,
                message: format!("the configuration was left out: {why}"),
            }),
        }
    }
    let [annotation, visual, shortcuts, _] = &texts;
    for label in conf::labels(annotation, visual, shortcuts) {
        sink.label(label);
    }
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
    kept: Vec<&'t str>,
    /// Where `T` lines that were left out begin, in offsets, as far as they say it.
    lost: Vec<Option<usize>>,
    /// There is no `T` line: the file is made beside each text, and empty until somebody begins.
    is_unbegun: bool,
    /// With the number of the line, and whether it was kept.
    warnings: Vec<(usize, String, bool)>,
}

fn lines(annotations: &str) -> Lines<'_> {
    let numbered = || annotations.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).zip(1..);
    let mut bounds: Vec<TextBound<'_>> = Vec::new();
    let mut by_id = BTreeMap::new();
    let (mut lost, mut warnings) = (Vec::new(), Vec::new());
    for (line, number) in numbered().filter(|(line, _)| line.starts_with('T')) {
        match text_bound(line, number) {
            Some(mut bound) => {
                match by_id.get(bound.id).and_then(|first| bounds.get(*first)) {
                    None => {
                        by_id.insert(bound.id, bounds.len());
                    }
                    Some(first) => {
                        // The same line again is merged with the first when both are placed.
                        if (&first.pieces, &first.mention.label) != (&bound.pieces, &bound.mention.label) {
                            let message = format!(
                                "{} is there twice; the second one was taken without its id, and what names {} means the \
                                 first",
                                bound.id, bound.id
                            );
                            warnings.push((number, message, false));
                        }
                        bound.mention.source_id = None;
                    }
                }
                bounds.push(bound);
            }
            None => {
                let start = start_of(line);
                let meaning = start.map_or(Lost::Somewhere, Lost::At).meaning();
                let message = format!("this is not a mention (expected T1⇥Label 0 4⇥words), got {line:?}; {meaning}");
                warnings.push((number, message, false));
                lost.push(start);
            }
        }
    }
    let mut kept = Vec::new();
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
            _ => {
                let message = format!("this is not a line of brat, got {line:?}; it was kept for a later export");
                warnings.push((number, message, true));
            }
        }
        kept.push(line);
    }
    let is_unbegun = bounds.is_empty() && lost.is_empty();
    Lines { bounds, kept, lost, is_unbegun, warnings }
}

/// The kept lines, saying of the mentions that others were merged with what they say of those. Attributes of merged
/// mentions for which there is no place beside those of one name are kept as lines. With the lines that say no more now
/// than that a mention is itself.
fn follow_merged(
    kept: &[&str],
    bounds: &[TextBound<'_>],
    fitted: &Fitted,
    annotations: &str,
) -> (Vec<String>, Vec<String>) {
    let mut names = BTreeMap::new();
    let mut attributes = Vec::new();
    let mut said: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for (number, why) in &fitted.left_out {
        let (LeftOut::Twice { of }, Some(merged)) = (why, bounds.get(*number)) else { continue };
        let Some(first) = bounds.get(*of) else { continue };
        if merged.id != first.id {
            names.insert(merged.id, first.id);
        }
        for (name, value) in &merged.mention.attributes {
            let own = first.mention.attributes.get(name).map(String::as_str);
            let there = own.unwrap_or_else(|| said.entry((*of, name)).or_insert(value));
            if there != value {
                attributes.push((name, first.id, value));
            }
        }
    }
    let is_itself = |(old, new): &(&str, String)| {
        *old != new && new.starts_with('*') && references(new).collect::<BTreeSet<_>>().len() == 1
    };
    let all = kept.iter().map(|line| (*line, renamed(line, &names)));
    let (said_no_more, lines): (Vec<_>, Vec<_>) = all.partition(is_itself);
    let said_no_more = said_no_more.into_iter().map(|(old, _)| old.to_owned()).collect();
    let mut lines: Vec<String> = lines.into_iter().map(|(_, new)| new).collect();
    let ids = annotations.lines().filter_map(|line| line.get(1..)?.split('\t').next()?.parse::<u64>().ok());
    let next = ids.max().unwrap_or(0).saturating_add(1);
    let attributes = attributes.into_iter().zip(next..);
    lines.extend(attributes.map(|((name, id, value), number)| {
        let gap = if value.is_empty() { "" } else { " " };
        format!("A{number}\t{name} {id}{gap}{value}")
    }));
    (lines, said_no_more)
}

fn words(text: &str, pieces: &[Range<usize>]) -> String {
    pieces.iter().filter_map(|piece| text.get(piece.clone())).collect::<Vec<_>>().join(" ")
}

/// Where a mention begins whose line can't be read, if it can be told: the first number after the label.
fn start_of(line: &str) -> Option<usize> {
    let said = if line.contains('\t') { fields(line).1 } else { line.split_once(' ')?.1 };
    said.split([' ', ';']).skip(1).find_map(|word| word.parse().ok())
}

fn text_bound(line: &str, number: usize) -> Option<TextBound<'_>> {
    let (id, said, quoted) = fields(line);
    number_of(id, 'T')?;
    let (label, offsets) = said.split_once(' ')?;
    let piece = |piece: &str| {
        let (start, end) = piece.trim().split_once(' ')?;
        Some((start.parse().ok()?, end.trim().parse().ok()?))
    };
    let pieces = offsets.split(';').map(piece).collect::<Option<Vec<_>>>()?;
    let mention = RawMention { label: label.to_owned(), source_id: Some(id.to_owned()), ..RawMention::default() };
    (!label.is_empty()).then_some(TextBound { line: number, id, pieces, quoted, mention })
}

/// The ids of what the events of kept lines are triggered by.
fn triggers<'k>(kept: impl Iterator<Item = &'k str>) -> impl Iterator<Item = &'k str> {
    let events = kept.filter(|line| line.starts_with('E'));
    events.filter_map(|line| fields(line).1.split(' ').next()?.split_once(':').map(|(_, id)| id))
}

/// How the offsets count and on what evidence: as most quotes are there.
fn find_counting(
    text: &str,
    bounds: &[TextBound<'_>],
    forced: Forced,
    file: &str,
) -> Result<(Counting, Option<String>), FormatError> {
    let said: Vec<Said<'_>> =
        bounds.iter().map(|bound| Said { pieces: bound.pieces.clone(), quoted: bound.quoted }).collect();
    let needs_option = |why| FormatError::NeedsOption {
        why,
        option: "offsets=chars, utf16, bytes or graphemes, or check that the text is the right one",
        file: file.to_owned(),
    };
    let mut decision = Decision::forced(forced);
    if said.iter().any(|said| said.quoted.is_none()) {
        let mut evidence = Evidence::new(forced);
        let first = bounds.first().map_or(0, |bound| bound.line);
        evidence.add(&|| format!("in the lines from {first} on"), text, &said);
        decision = evidence.decide().map_err(|doubt| needs_option(doubt.why))?;
    }
    let (counting, found) = decision.of_document(text, &said);
    let quoting = said.iter().filter(|said| said.quoted.is_some()).count();
    if forced.unit.is_none() && found * 2 < quoting {
        let places = counting.places(text, said.iter().flat_map(|said| &said.pieces));
        return Err(needs_option(no_counting_fits(text, bounds, &places)));
    }
    let why = decision.why.filter(|_| counting == decision.counting);
    Ok((counting, why))
}

/// What is wrong, with the first line that shows it where most fit.
fn no_counting_fits(text: &str, bounds: &[TextBound<'_>], places: &Places) -> String {
    let mut wrong = bounds.iter().filter_map(|bound| {
        let is_there = |quoted: &&str| places.pieces(&bound.pieces).is_some_and(|pieces| quotes(text, &pieces, quoted));
        bound.quoted.filter(|quoted| !is_there(quoted)).map(|quoted| (bound.line, quoted))
    });
    let first = wrong.next();
    let number = usize::from(first.is_some()) + wrong.count();
    let first = first.map(|(line, quoted)| format!(", first line {line}, which quotes {quoted:?}"));
    format!(
        "it is unclear what the offsets count: {} other words than the text has there{}",
        counted(number, "line quotes", "lines quote"),
        first.unwrap_or_default()
    )
}
