//! Writing columns.

use super::blocks::DOCSTART;
use super::options::{LAYERS, SCHEME, number};
use crate::annotation::Span;
use crate::format::scheme::Scheme;
use crate::format::spelling::Spelling;
use crate::format::{Content, DocumentView, FormatError, LossKind, MentionView, Options, Receipt, SentenceView};
use std::io::Write;

pub(super) fn write(content: Content<'_, '_>, options: &Options, out: &mut dyn Write) -> Result<Receipt, FormatError> {
    let scheme = Scheme::from_name(options.value(&SCHEME)).unwrap_or(Scheme::Iob2);
    if scheme == Scheme::Plain {
        let allowed = "it only says how tags are read; choose a scheme to write".to_owned();
        return Err(FormatError::BadOption { key: SCHEME.key, value: "none".to_owned(), allowed });
    }
    let layers = if options.value(&LAYERS) == LAYERS.default { 1 } else { number(options, &LAYERS)? };
    let mut spelling = Spelling::new(|c| !c.is_whitespace() && !c.is_control());
    spelling.prefer(content.labels.iter().map(|label| label.name.as_str()));
    let mut receipt = Receipt::default();
    receipt.lose_definitions(content.definitions, "conll");
    let mut documents = content.documents.peekable();
    let mut several = false;
    let mut says_status = false;
    while let Some(document) = documents.next() {
        if receipt.leaves_out(&document) {
            continue;
        }
        several |= documents.peek().is_some();
        if several {
            writeln!(out, "{DOCSTART}{}\n", "\tO".repeat(layers))?;
        }
        receipt.begin(&document);
        receipt.lose_kept(&document, "conll");
        for sentence in &document.sentences {
            says_status |= sentence.status.is_some() || sentence.split.is_some();
            let columns = columns(&document, sentence, layers, scheme, &mut spelling, &mut receipt);
            for (at, token) in sentence.tokens.iter().enumerate() {
                let token = token.of(document.text);
                let word = column_word(token);
                if word != token {
                    receipt.lose_words(&document, Some(sentence.number), token, LossKind::WhiteSpaceInToken);
                }
                out.write_all(word.as_bytes())?;
                for column in &columns {
                    write!(out, "\t{}", column.get(at).map_or("O", String::as_str))?;
                }
                out.write_all(b"\n")?;
            }
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    spelling.tell(&mut receipt);
    if several {
        receipt.notes.push("the names of the documents are not in the file".to_owned());
    }
    if says_status {
        receipt.notes.push("the statuses and splits of sentences are not in the file".to_owned());
    }
    Ok(receipt)
}

/// The tags of each layer.
fn columns(
    document: &DocumentView<'_>,
    sentence: &SentenceView<'_>,
    layers: usize,
    scheme: Scheme,
    spelling: &mut Spelling,
    receipt: &mut Receipt,
) -> Vec<Vec<String>> {
    let mut placed: Vec<Vec<(Span, &str)>> = vec![Vec::new(); layers];
    let mut outer_first: Vec<&MentionView<'_>> = sentence.mentions.iter().collect();
    outer_first.sort_by_key(|m| (m.fragments.hull().start(), std::cmp::Reverse(m.fragments.hull().end())));
    for mention in outer_first {
        let Some(span) = mention.fragments.contiguous() else {
            receipt.lose(document, sentence, mention, LossKind::Discontinuous);
            continue;
        };
        let blocks = |(other, label): &(Span, &str)| {
            let touches = scheme == Scheme::Io && *label == mention.label && other.end() == span.start();
            other.overlaps(span) || touches
        };
        match placed.iter_mut().find(|layer| !layer.iter().any(blocks)) {
            Some(layer) => layer.push((span, mention.label)),
            None => {
                let outermost = placed.first().map(Vec::as_slice).unwrap_or_default();
                receipt.lose(document, sentence, mention, why(span, outermost));
                continue;
            }
        }
        receipt.mentions += 1;
        let said = [
            (mention.attributes.is_some_and(|a| !a.is_empty()), LossKind::Attribute),
            (!mention.note.is_empty(), LossKind::Note),
            (mention.score.is_some(), LossKind::Score),
            (spelling.of(mention.label) != mention.label, LossKind::LabelSpelling),
        ];
        for (_, kind) in said.into_iter().filter(|(is_lost, _)| *is_lost) {
            receipt.lose(document, sentence, mention, kind);
        }
    }
    let tags = placed.iter().map(|layer| {
        let spelled: Vec<_> = layer.iter().map(|(span, label)| (*span, spelling.of(label))).collect();
        let spans: Vec<_> = spelled.iter().map(|(span, label)| (*span, label.as_str())).collect();
        scheme.encode(sentence.tokens.len(), &spans)
    });
    tags.collect()
}

/// Why there is no place for a mention.
fn why(span: Span, placed: &[(Span, &str)]) -> LossKind {
    let others = || placed.iter().map(|(other, _)| *other);
    match () {
        () if others().any(|other| other == span) => LossKind::SameSpan,
        () if others().any(|other| other.contains(span)) => LossKind::Nested,
        () if others().any(|other| other.overlaps(span)) => LossKind::Crossing,
        () => LossKind::Touching,
    }
}

/// A token as it can stand in a column: white space and what would be read as something else becomes `_`.
pub(super) fn column_word(token: &str) -> String {
    if token == DOCSTART {
        return token.replacen('-', "_", 1);
    }
    token.chars().map(|c| if c.is_whitespace() || c == '\u{feff}' { '_' } else { c }).collect()
}
