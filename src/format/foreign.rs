//! Files of other programs, told by what is in them, and the way their content gets here.

use super::{FormatError, Input, Sample};
use crate::wording::listed;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a file is, and what to do with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foreign {
    /// After "can't be read": "a PDF".
    pub(super) what: &'static str,
    pub(super) remedy: Cow<'static, str>,
    /// Whether it holds annotations, so that it is missed where it is left out.
    pub(super) has_annotations: bool,
}

const fn data(what: &'static str, remedy: &'static str) -> Foreign {
    Foreign { what, remedy: Cow::Borrowed(remedy), has_annotations: true }
}

const fn other(what: &'static str, remedy: &'static str) -> Foreign {
    Foreign { what, remedy: Cow::Borrowed(remedy), has_annotations: false }
}

/// Refuses what is of another program.
///
/// # Errors
/// What it is, and the way.
pub(super) fn refuse(input: &Input) -> Result<(), FormatError> {
    match recognise(&input.sample()) {
        Some(foreign) => Err(foreign.error(input.file_name())),
        None => Ok(()),
    }
}

impl Foreign {
    pub(super) fn error(self, file: &str) -> FormatError {
        FormatError::Foreign {
            what: self.what,
            remedy: self.remedy,
            is_data: self.has_annotations,
            file: file.to_owned(),
        }
    }
}

const INCEPTION: &str = "in INCEpTION or WebAnno export the document as CoNLL 2002 (the layer Named entity), which is read \
                         here with --format conll";
const UNPACK: &str = "unpack it, and import the files in it";
const PLAIN: &str = "save it there as plain text (.txt, in UTF-8)";
const TABLE: Foreign = other(
    "a table",
    "save the column that holds the text as a .txt file, one text per line; from a table with a word and its tag per row, save \
     those columns by tabs with an empty line after each sentence, and name the file .conll",
);
const LINES: &str = "each element goes on a line of its own, for example with `jq -c '.[]' FILE.json > FILE.jsonl`, which \
                     is read as JSON lines";

/// What a sample is, if it is of a program that is known and not of one of our formats.
pub(super) fn recognise(sample: &Sample<'_>) -> Option<Foreign> {
    if let Some(found) = binary(sample) {
        return Some(found);
    }
    let text = sample.text();
    let start = text.trim_start();
    match start.chars().next()? {
        '<' => markup(start),
        '{' if start.starts_with("{\\rtf") => Some(other("a document of a word processor (RTF)", PLAIN)),
        '{' | '[' => json(start, &text),
        '#' if start.starts_with("#FORMAT=WebAnno TSV") => {
            Some(data("WebAnno TSV (of INCEpTION or WebAnno)", INCEPTION))
        }
        _ => lines(start),
    }
}

fn binary(sample: &Sample<'_>) -> Option<Foreign> {
    let bytes = sample.bytes;
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    match bytes {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(match () {
            () if has(b"word/document.xml") => other("a document of a word processor (.docx)", PLAIN),
            () if has(b"xl/workbook.xml") || has(b"xl/worksheets") => TABLE,
            () if has(b"ppt/") => other("slides (.pptx)", PLAIN),
            () if has(b"opendocument.spreadsheet") => TABLE,
            () if has(b"opendocument.text") => other("a document of a word processor (.odt)", PLAIN),
            () if has(b"application/epub+zip") => other("an e-book (EPUB)", PLAIN),
            () if has(b"exportedproject") => data(
                "a project of INCEpTION or WebAnno (.zip)",
                "unpack it; its folder `annotation` holds the documents in the format that was chosen for the export: \
                 choose CoNLL 2002 there (the layer Named entity), which is read here with --format conll",
            ),
            () if has(b"TypeSystem.xml") || has(b".xmi") => {
                data("an export of INCEpTION or WebAnno (.zip with UIMA CAS XMI)", INCEPTION)
            }
            () if matches!(sample.extension, "docx" | "odt") => other("a document of a word processor", PLAIN),
            () if matches!(sample.extension, "xlsx" | "ods") => TABLE,
            () => other("a ZIP archive", UNPACK),
        }),
        [b'%', b'P', b'D', b'F', ..] => {
            Some(other("a PDF", "save it as plain text (.txt), for example with `pdftotext -layout file.pdf`"))
        }
        [0xD0, 0xCF, 0x11, 0xE0, ..] => Some(other(
            "a document of an old office program (.doc, .xls)",
            "save it there as plain text (.txt, in UTF-8); of a table, the column that holds the text",
        )),
        [b'P', b'A', b'R', b'1', ..] => Some(data(
            "a Parquet table",
            "write it as JSON lines, for example with `python -c \"import pandas; pandas.read_parquet('FILE').to_json('FILE.jsonl', orient='records', lines=True)\"`; where tags are numbers, the option names says what they stand for",
        )),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xFF, 0xFF, 0xFF, 0xFF, _, _, 0, 0, ..] => Some(data(
            "an Arrow table",
            "write it as JSON lines, for example with `python -c \"import datasets; datasets.Dataset.from_file('FILE').to_json('FILE.jsonl')\"`; where tags are numbers, the option names says what they stand for",
        )),
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => Some(data(
            "a database (SQLite), as projects of this program are",
            "open a project by itself; to bring its texts into another one, export it (`nestling export PROJECT --format jsonl --output FILE.jsonl`) and import that",
        )),
        [0x78, second, ..] if (0x7800 + u32::from(*second)) % 31 == 0 && std::str::from_utf8(bytes).is_err() => {
            Some(data(
                "compressed data, as spaCy's DocBin is (.spacy)",
                "write it as JSON lines, with `python -c \"import json, spacy; from spacy.tokens import DocBin; [print(json.dumps({'text': d.text, 'spans': [{'start': s.start_char, 'end': s.end_char, 'label': s.label_} for s in [*d.ents, *(s for g in d.spans.values() for s in g)]]})) for d in DocBin().from_disk('FILE.spacy').get_docs(spacy.blank('xx').vocab)]\" > FILE.jsonl`",
            ))
        }
        [0x1F, 0x8B, ..] => {
            Some(other("a compressed file (gzip)", "unpack it with `gunzip -k FILE`, and import what is in it"))
        }
        [b'B', b'Z', b'h', ..] if has(b"1AY&SY") => Some(other("a compressed file (bzip2)", UNPACK)),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => Some(other("a compressed file (xz)", UNPACK)),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(other("a compressed file (zstd)", UNPACK)),
        [b'7', b'z', 0xBC, 0xAF, ..] | [b'R', b'a', b'r', b'!', ..] => Some(other("an archive", UNPACK)),
        [0x89, b'P', b'N', b'G', ..] | [0xFF, 0xD8, 0xFF, ..] | [b'G', b'I', b'F', b'8', ..] => {
            Some(other("a picture", "read its text with a program for that (OCR), and save it as a .txt file"))
        }
        _ if bytes.get(257..262) == Some(b"ustar") => Some(other("an archive (tar)", UNPACK)),
        _ => None,
    }
}

/// XML and HTML.
fn markup(start: &str) -> Option<Foreign> {
    let head: String = start.chars().take(4000).collect();
    let lower = head.to_lowercase();
    let has = |part: &str| head.contains(part);
    let names_itself = lower.starts_with("<?xml") || lower.starts_with("<!doctype") || lower.starts_with("<html");
    let root = head
        .get(1..)
        .and_then(|rest| rest.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next())
        .unwrap_or_default();
    let is_root = !root.is_empty()
        && root.chars().all(|c| c.is_alphanumeric() || "_:-.".contains(c))
        && start.contains(&format!("</{root}>"));
    if !names_itself && !is_root {
        return None;
    }
    Some(match () {
        () if has("http://www.omg.org/XMI") || has("<xmi:XMI") => {
            data("a UIMA CAS (XMI), as INCEpTION, WebAnno and DKPro write it", INCEPTION)
        }
        () if has("typeSystemDescription") => {
            other("a UIMA type system", "it holds no texts: import the documents that belong to it")
        }
        () if has("BioC.dtd") || (has("<collection") && has("<source>")) => data(
            "BioC XML",
            "write it as BioC JSON, as PubTator and the Python package bioc can, and that as JSON lines; the message for a BioC JSON file says how",
        ),
        () if has("source_file") && (has("apf") || has("<entity")) || has("ace_source") => data(
            "ACE annotations (APF)",
            "write its mentions as brat standoff or as JSON lines with places in the text; in APF the last character is counted, too, and tags of the .sgm file are not",
        ),
        () if has("<cons ") || has("GENIA") || has("gpml") => data(
            "GENIA XML",
            "write it as JSON lines or columns; copies of the corpus as columns (.iob2, .conll) are read",
        ),
        () if lower.contains("<tei") => data(
            "TEI XML",
            "save the text as plain text (.txt), or write its names as JSON lines with places in the text",
        ),
        () if lower.starts_with("<!doctype html") || lower.contains("<html") => {
            other("a web page (HTML)", "save it in the browser as plain text (.txt)")
        }
        () if root.eq_ignore_ascii_case("doc") || root.eq_ignore_ascii_case("article") => {
            data("a text with markup (SGML or XML)", "save the text without the markup as a .txt file")
        }
        () => other(
            "XML",
            "save the text in it as a .txt file, or write its mentions as JSON lines with places in the text",
        ),
    })
}

/// JSON that is not one of our lines.
fn json(start: &str, text: &str) -> Option<Foreign> {
    let head: String = start.chars().take(20_000).collect();
    let has = |key: &str| head.contains(&format!("\"{key}\":")) || head.contains(&format!("\"{key}\" :"));
    let is_array = start.starts_with('[');
    let after = start.get(1..).unwrap_or_default().trim_start();
    let looks_like_json = match after.chars().next() {
        Some('"') if !is_array => after.contains("\":") || after.contains("\" :"),
        Some('{') if is_array => after.get(1..).is_some_and(|rest| rest.trim_start().starts_with(['"', '}'])),
        _ => serde_json::from_str::<Value>(text.trim()).is_ok_and(|value| value.is_array() || value.is_object()),
    };
    if !looks_like_json {
        return None;
    }
    // One object a line is ours, unless its keys say whose it is.
    let first = start.lines().next().unwrap_or_default();
    let mut lines = start.lines().map(str::trim).filter(|line| !line.is_empty()).take(20);
    let are_lines = lines.all(|line| line.starts_with('{') && line.len() > 1);
    let is_line = !is_array && (are_lines || serde_json::from_str::<Value>(first).is_ok());
    let found = match () {
        () if has("%FEATURE_STRUCTURES") || has("%TYPES") || has("_referenced_fss") => {
            Some(data("a UIMA CAS (JSON), as INCEpTION writes it", INCEPTION))
        }
        () if has("from_name") && has("to_name") || (has("completions") && has("data")) => Some(data(
            "an export of Label Studio (JSON)",
            "write it as JSON lines, with `jq -c '.[] | {text: .data.text, label: [.annotations[0].result[] | select(.value.labels) | [.value.start, .value.end, .value.labels[0]]]}' FILE.json > FILE.jsonl`; its export CoNLL2003 is read, too, and holds no nested mentions",
        )),
        () if has("labels") && has("start") && has("annotator") && is_array => Some(data(
            "an export of Label Studio (JSON-MIN)",
            "write it as JSON lines, with `jq -c '.[] | {text, label: [.label[]? | [.start, .end, .labels[0]]]}' FILE.json > FILE.jsonl`",
        )),
        () if has("paragraphs") && has("sentences") && has("orth") => Some(data(
            "training data of spaCy 2 (JSON)",
            "write it as JSON lines, with `jq -c '.[].paragraphs[].sentences[] | {tokens: [.tokens[].orth], ner_tags: [.tokens[].ner]}' FILE.json > FILE.jsonl`",
        )),
        () if has("denotations") => Some(data(
            "PubAnnotation JSON",
            "write it as JSON lines, with `jq -c '{text, label: [.denotations[] | [.span.begin, .span.end, .obj]]}' FILE.json > FILE.jsonl`",
        )),
        () if has("passages") && has("documents") || has("bioctype") || (has("passages") && has("infons")) => {
            Some(data(
                "BioC JSON",
                "write it as JSON lines, with `jq -c '.documents[].passages[] | .offset as $o | {text, label: [.annotations[]? | .infons.type as $t | .locations[] | [.offset - $o, .offset - $o + .length, $t]]}' FILE.json > FILE.jsonl`; pieces of one mention become several",
            ))
        }
        () if is_array && has("tokenized_text") && has("ner") => Some(data(
            "training data of GLiNER (JSON)",
            "write it as JSON lines, with `jq -c '.[] | {tokens: .tokenized_text, entities: [.ner[] | {start: .[0], end: (.[1] + 1), label: .[2]}]}' FILE.json > FILE.jsonl`",
        )),
        () if has("span_posLabel") => Some(data(
            "SpanNER JSON",
            "write it as JSON lines, with `jq -c '.[] | {tokens: (.context | split(\" \")), entities: [.span_posLabel | to_entries[] | (.key | split(\";\") | map(tonumber)) as $p | {start: $p[0], end: ($p[1] + 1), label: .value}]}' FILE.json > FILE.jsonl`",
        )),
        () if has("span_position") && has("entity_label") => {
            Some(data("MRC JSON (a question a label)", "write it as JSON lines, all labels of a sentence on one line"))
        }
        () if is_array && has("sentence") && has("ner") && has("index") => Some(data(
            "W2NER JSON",
            "write it as JSON lines, with `jq -c '.[] | {tokens: .sentence, entities: [.ner[] | {start: .index[0], end: (.index[-1] + 1), label: .type}]}' FILE.json > FILE.jsonl`; pieces of discontinuous mentions are joined by that",
        )),
        () if is_array && has("tokens") && has("entities") && has("type") && !has("label") => Some(data(
            "SpERT JSON",
            "write it as JSON lines, with `jq -c '.[] | {tokens, entities: [.entities[] | {start, end, label: .type}]}' FILE.json > FILE.jsonl`",
        )),
        () if has("sentences") && has("ner") && (has("doc_key") || has("clusters")) => Some(data(
            "DyGIE++ or PURE JSON",
            "write it as JSON lines, a sentence a line with its tokens and entities; its places count the words of the document, the last one included",
        )),
        () if has("cells") && has("nbformat") => {
            Some(other("a notebook (Jupyter)", "save the text in it as a .txt file"))
        }
        () => None,
    };
    if found.is_some() {
        return found;
    }
    if is_line && ["tokens", "text", "doc", "nestling"].iter().any(|key| has(key)) {
        return None;
    }
    let ours = has("tokens") && (has("entities") || has("ner_tags"))
        || (has("text") || has("data")) && ["label", "labels", "spans", "entities"].iter().any(|key| has(key));
    Some(match (is_array, ours) {
        (true, true) => data("a JSON array", LINES),
        (is_array, false) if let Some(found) = other_keys(start, is_array) => found,
        (true, false) => other(
            "a JSON array",
            "each element goes on a line of its own, as an object with `text` or `tokens` (docs/formats.md), for example with `jq -c '.[] | {text: .text}' FILE.json > FILE.jsonl`",
        ),
        (false, true) => data(
            "JSON that is spread over several lines",
            "one object per line is read, for example from `jq -c . FILE.json > FILE.jsonl`",
        ),
        (false, false) => other(
            "JSON of a kind that is not known here",
            "write it as JSON lines, one object per line with `text` or `tokens` (docs/formats.md), for example with jq",
        ),
    })
}

/// JSON with keys that mean nothing here: which there are, and how those are renamed that look like a text and its mentions.
fn other_keys(start: &str, is_array: bool) -> Option<Foreign> {
    let from = start.find('{')?;
    // The first object, whatever follows it.
    let mut objects = serde_json::Deserializer::from_str(start.get(from..)?).into_iter::<Map<String, Value>>();
    let object = objects.next()?.ok()?;
    if object.is_empty() || object.contains_key("text") || object.contains_key("tokens") {
        return None;
    }
    let names: Vec<String> = object.keys().take(MOST_KEYS).map(|key| format!("`{}`", short(key))).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    if object.len() > MOST_KEYS {
        names.push("others");
    }
    let length = |value: &Value| value.as_str().map(str::len);
    let texts = object.iter().filter_map(|(key, value)| Some((key, length(value)?)));
    let text = texts.max_by_key(|(_, bytes)| *bytes).map(|(key, _)| key);
    let are_mentions = |value: &Value| {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        !items.is_empty() && items.iter().all(|item| item.is_array() || item.is_object())
    };
    let mentions = object.iter().find(|(_, value)| are_mentions(value)).map(|(key, _)| key);
    let mut remedy = format!(
        "its objects have the keys {}, and those that are read are `text` or `tokens`, and `label` or `entities` \
         (docs/formats.md), one object per line",
        listed(&names)
    );
    if let Some(text) = text {
        let label = mentions.map(|key| format!(", label: {}", of_jq(key))).unwrap_or_default();
        let each = if is_array { ".[] | " } else { "" };
        remedy += &format!(
            ": rename them, for example with `jq -c '{each}{{text: {}{label}}}' FILE > FILE.jsonl`",
            of_jq(text)
        );
    }
    let has_annotations = text.is_some() && mentions.is_some();
    Some(Foreign { what: "JSON with other keys", remedy: remedy.into(), has_annotations })
}

/// Keys that are told, at most.
const MOST_KEYS: usize = 8;

fn short(key: &str) -> String {
    key.chars().take(40).collect()
}

/// A key as `jq` takes it inside quotes of a shell.
fn of_jq(key: &str) -> String {
    let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { format!(".{key}") } else { format!(".[{}]", Value::from(key).to_string().replace('\'', "\\u0027")) }
}

/// Text in lines.
fn lines(start: &str) -> Option<Foreign> {
    if start.starts_with("@prefix") && start.contains("nif") {
        return Some(data("NIF (RDF)", INCEPTION));
    }
    let kaggle = start.lines().next().is_some_and(|line| {
        let lower = line.to_lowercase();
        lower.starts_with("sentence") && lower.contains("word") && lower.contains("tag") && lower.contains(',')
    });
    if kaggle {
        return Some(TABLE);
    }
    None
}

/// A table by tabs, which might be columns of words as well: as many tabs in each line, and no empty lines.
pub(super) fn table(sample: &Sample<'_>) -> Option<Foreign> {
    let text = sample.text();
    let lines: Vec<&str> = text.trim_end().lines().take(200).collect();
    // The last one may be cut off.
    let whole = lines.get(..lines.len().saturating_sub(1)).unwrap_or_default();
    let tabs = |line: &&str| line.matches('\t').count();
    let first = whole.first().map_or(0, tabs);
    (whole.len() >= 5 && first > 0 && whole.iter().all(|line| tabs(line) == first)).then_some(TABLE)
}
