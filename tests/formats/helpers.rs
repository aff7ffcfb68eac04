//! Reading, writing and showing.

use nestling::annotation::*;
use nestling::format::*;
use std::path::{Path, PathBuf};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(name)
}

pub(crate) fn options(format: &str, given: &[(&str, &str)]) -> Options {
    let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Options::new(given, &[by_id(format).unwrap()]).unwrap()
}

pub(crate) fn read(format: &str, bytes: impl Into<Vec<u8>>, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    read_input(format, Input::bytes("input", bytes)?, given)
}

pub(crate) fn read_file(format: &str, path: &Path, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    read_input(format, Input::file(path)?, given)
}

pub(crate) fn read_input(format: &str, input: Input, given: &[(&str, &str)]) -> Result<Collected, FormatError> {
    let mut sink = Collected::default();
    by_id(format)?.read(input, &options(format, given), &mut sink)?;
    Ok(sink)
}

pub(crate) fn write(format: &str, read: &Collected, given: &[(&str, &str)]) -> (String, Receipt) {
    let mut out = Vec::new();
    let mut views = read.documents.iter().map(ImportedDocument::view);
    let content = Content { labels: &read.labels, definitions: &read.definitions, documents: &mut views };
    let receipt = by_id(format).unwrap().write(content, &options(format, given), &mut OneFile(&mut out)).unwrap();
    (String::from_utf8(out).unwrap(), receipt)
}

/// A corpus with a mention of the first two tokens in each sentence that has them.
pub(crate) fn corpus_of(read: &Collected) -> Corpus {
    let mut corpus = Corpus::default();
    let label = corpus.labels().propose("PER");
    corpus.apply(Transaction::new("", vec![Edit::InsertLabel { at: 0, label }])).unwrap();
    for document in &read.documents {
        let sentence = |(at, s): (usize, &ImportedSentence)| {
            let span = Span::from_range(0..2).filter(|_| s.tokens.len() > 2);
            let mention = span.map(|span| Mention::new(MentionId(at as u64), span, LabelId(0), Provenance::Import));
            NewSentence { tokens: s.tokens.clone(), mentions: mention.into_iter().collect(), ..NewSentence::default() }
        };
        let sentences = document.sentences.iter().enumerate().map(sentence).collect();
        corpus
            .add_document(NewDocument {
                name: document.name.clone(),
                text: document.text.clone(),
                kept: Kept::new(),
                sentences,
            })
            .unwrap();
    }
    corpus
}

/// Everything that was read, for people.
pub(crate) fn show(read: &Collected) -> String {
    let mut lines = Vec::new();
    for document in &read.documents {
        lines.push(format!("{:?} {:?}", document.name, document.text));
        for sentence in &document.sentences {
            let tokens: Vec<_> = sentence.tokens.iter().map(|t| format!("{:?}", t.of(&document.text))).collect();
            let unread = sentence.may_be_unread.then(|| "Unread".to_owned());
            let said = [sentence.status.map(|s| format!("{s:?}")), unread, sentence.split.map(|s| format!("{s:?}"))];
            lines.push(format!("  {} {}", tokens.join(" "), said.into_iter().flatten().collect::<Vec<_>>().join(" ")));
            for mention in &sentence.mentions {
                let spans: Vec<_> = mention.fragments.iter().collect();
                let ImportedMention { label, score, attributes, note, .. } = mention;
                let mut line = format!("    {spans:?} {label}");
                if let Some(score) = score {
                    line += &format!(" {score}");
                }
                if !attributes.is_empty() || !note.is_empty() {
                    line += &format!(" {attributes:?} {note:?}");
                }
                lines.push(line);
            }
        }
    }
    let short = |text: String| text.replace(&format!("{}/", fixture("").display()).replace("//", "/"), "");
    lines.extend(read.notes.iter().map(|note| short(format!("note: {note}"))));
    lines.extend(read.warnings.iter().map(|warning| short(format!("warning: {warning}"))));
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}
