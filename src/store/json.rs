//! Edits and visible suggestions as the log spells them in JSON.
//!
//! ```json
//! [{"edit":"add_mention","sentence":4,"mention":{"id":17,"spans":[[0,6]],"label":0,"from":"person"}}]
//! ```
//!
//! Part of the file format: keys are never renamed, only added with a default.

use super::codec::Malformed;
use super::names;
use super::stamp::VisibleSuggestions;
use crate::annotation::limits::{DOCUMENT_IDS, LABEL_IDS, MENTION_IDS, MODEL_IDS, SENTENCE_IDS};
use crate::annotation::{
    Attributes, DocumentId, DocumentIds, Edit, Fragments, Label, LabelId, Mention, MentionId, ModelId, NewSentence,
    Presence, Rgb, SentenceId, Span, Split, Status,
};
use crate::text::{ByteIdx, TextRange};
use serde::{Deserialize, Serialize};

/// The edits of a transaction.
pub(super) fn write_edits(edits: &[Edit]) -> serde_json::Result<String> {
    serde_json::to_string(&edits.iter().map(EditJson::from).collect::<Vec<_>>())
}

pub(super) fn read_edits(json: &str) -> Result<Vec<Edit>, Malformed> {
    let edits: Vec<EditJson> = serde_json::from_str(json).map_err(|_| Malformed("an entry of the log is not JSON"))?;
    edits.into_iter().map(Edit::try_from).collect()
}

pub(super) fn write_visible(visible: &[VisibleSuggestions]) -> serde_json::Result<String> {
    let rows = visible.iter().map(|v| VisibleJson {
        sentence: v.sentence.0,
        model: v.model.0,
        spans: v.spans.iter().map(|s| (s.span.start().get(), s.span.end().get(), s.label.0, s.score)).collect(),
    });
    serde_json::to_string(&rows.collect::<Vec<_>>())
}

/// Whose suggestions were on screen.
pub(super) fn read_visible(json: &str) -> Result<Vec<(SentenceId, ModelId)>, Malformed> {
    let rows: Vec<VisibleJson> =
        serde_json::from_str(json).map_err(|_| Malformed("an entry of the log is not JSON"))?;
    rows.into_iter().map(|row| Ok((sentence_id(row.sentence)?, model_id(row.model)?))).collect()
}

/// `[[start,end],…]`
pub(super) fn write_fragments(fragments: &Fragments) -> serde_json::Result<String> {
    serde_json::to_string(&pairs(fragments))
}

pub(super) fn read_fragments(json: &str) -> Result<Fragments, Malformed> {
    let spans: Vec<(usize, usize)> =
        serde_json::from_str(json).map_err(|_| Malformed("the fragments of a mention are no JSON"))?;
    to_fragments(&spans)
}

#[derive(Serialize, Deserialize)]
struct VisibleJson {
    sentence: u32,
    model: u32,
    /// Start, end, label, score.
    spans: Vec<(usize, usize, u32, f32)>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
enum EditJson {
    AddMention {
        sentence: u32,
        mention: MentionJson,
    },
    RemoveMention {
        sentence: u32,
        mention: MentionJson,
    },
    ReplaceMention {
        sentence: u32,
        old: MentionJson,
        new: MentionJson,
    },
    SetStatus {
        sentence: u32,
        old: String,
        new: String,
    },
    SetSplit {
        sentence: u32,
        old: String,
        new: String,
    },
    SetRejected {
        sentence: u32,
        span: (usize, usize),
        label: u32,
        new: bool,
    },
    InsertLabel {
        at: usize,
        label: LabelJson,
    },
    RemoveLabel {
        at: usize,
        label: LabelJson,
    },
    ReplaceLabel {
        old: LabelJson,
        new: LabelJson,
    },
    Resegment {
        document: u32,
        old: Vec<SentenceJson>,
        new: Vec<SentenceJson>,
    },
    SetPresence {
        documents: Vec<(u32, u32)>,
        old: String,
        new: String,
    },
    /// As version 2 had it, which knew of no excluded documents; only read.
    SetRemoved {
        documents: Vec<(u32, u32)>,
        new: bool,
    },
}

#[derive(Serialize, Deserialize)]
struct SentenceJson {
    id: u32,
    /// Bytes of the document: start, end.
    tokens: Vec<(usize, usize)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<MentionJson>,
    /// Start, end, label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rejected: Vec<(usize, usize, u32)>,
    status: String,
    split: String,
}

#[derive(Serialize, Deserialize)]
struct MentionJson {
    id: u64,
    spans: Vec<(usize, usize)>,
    label: u32,
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    attributes: Attributes,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    note: String,
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct LabelJson {
    id: u32,
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    color: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<char>,
}

const STATUS: Malformed = Malformed("the log names a status that there is not");
const SPLIT: Malformed = Malformed("the log names a split that there is not");
const PRESENCE: Malformed = Malformed("the log says of a document what there is not");

impl From<&Edit> for EditJson {
    fn from(edit: &Edit) -> Self {
        match edit {
            Edit::AddMention { sentence, mention } => {
                Self::AddMention { sentence: sentence.0, mention: mention.into() }
            }
            Edit::RemoveMention { sentence, mention } => {
                Self::RemoveMention { sentence: sentence.0, mention: mention.into() }
            }
            Edit::ReplaceMention { sentence, old, new } => {
                Self::ReplaceMention { sentence: sentence.0, old: old.into(), new: new.into() }
            }
            Edit::SetStatus { sentence, old, new } => {
                Self::SetStatus { sentence: sentence.0, old: old.id().to_owned(), new: new.id().to_owned() }
            }
            Edit::SetSplit { sentence, old, new } => {
                Self::SetSplit { sentence: sentence.0, old: old.id().to_owned(), new: new.id().to_owned() }
            }
            Edit::SetRejected { sentence, span, label, new } => Self::SetRejected {
                sentence: sentence.0,
                span: (span.start().get(), span.end().get()),
                label: label.0,
                new: *new,
            },
            Edit::InsertLabel { at, label } => Self::InsertLabel { at: *at, label: label.into() },
            Edit::RemoveLabel { at, label } => Self::RemoveLabel { at: *at, label: label.into() },
            Edit::ReplaceLabel { old, new } => Self::ReplaceLabel { old: old.into(), new: new.into() },
            Edit::Resegment { document, old, new } => Self::Resegment {
                document: document.0,
                old: old.iter().map(SentenceJson::from).collect(),
                new: new.iter().map(SentenceJson::from).collect(),
            },
            Edit::SetPresence { documents, old, new } => Self::SetPresence {
                documents: documents.runs().to_vec(),
                old: old.id().to_owned(),
                new: new.id().to_owned(),
            },
        }
    }
}

impl TryFrom<EditJson> for Edit {
    type Error = Malformed;

    fn try_from(edit: EditJson) -> Result<Self, Malformed> {
        Ok(match edit {
            EditJson::AddMention { sentence, mention } => {
                Self::AddMention { sentence: sentence_id(sentence)?, mention: mention.try_into()? }
            }
            EditJson::RemoveMention { sentence, mention } => {
                Self::RemoveMention { sentence: sentence_id(sentence)?, mention: mention.try_into()? }
            }
            EditJson::ReplaceMention { sentence, old, new } => {
                Self::ReplaceMention { sentence: sentence_id(sentence)?, old: old.try_into()?, new: new.try_into()? }
            }
            EditJson::SetStatus { sentence, old, new } => Self::SetStatus {
                sentence: sentence_id(sentence)?,
                old: Status::from_id(&old).ok_or(STATUS)?,
                new: Status::from_id(&new).ok_or(STATUS)?,
            },
            EditJson::SetSplit { sentence, old, new } => Self::SetSplit {
                sentence: sentence_id(sentence)?,
                old: Split::from_id(&old).ok_or(SPLIT)?,
                new: Split::from_id(&new).ok_or(SPLIT)?,
            },
            EditJson::SetRejected { sentence, span, label, new } => Self::SetRejected {
                sentence: sentence_id(sentence)?,
                span: to_span(span)?,
                label: label_id(label)?,
                new,
            },
            EditJson::InsertLabel { at, label } => Self::InsertLabel { at, label: label.try_into()? },
            EditJson::RemoveLabel { at, label } => Self::RemoveLabel { at, label: label.try_into()? },
            EditJson::ReplaceLabel { old, new } => Self::ReplaceLabel { old: old.try_into()?, new: new.try_into()? },
            EditJson::Resegment { document, old, new } => Self::Resegment {
                document: document_id(document)?,
                old: old.into_iter().map(SentenceJson::read).collect::<Result<_, _>>()?,
                new: new.into_iter().map(SentenceJson::read).collect::<Result<_, _>>()?,
            },
            EditJson::SetPresence { documents, old, new } => Self::SetPresence {
                documents: self::documents(documents)?,
                old: Presence::from_id(&old).ok_or(PRESENCE)?,
                new: Presence::from_id(&new).ok_or(PRESENCE)?,
            },
            EditJson::SetRemoved { documents, new } => {
                let (there, removed) = (Presence::There, Presence::Removed);
                let (old, new) = if new { (there, removed) } else { (removed, there) };
                Self::SetPresence { documents: self::documents(documents)?, old, new }
            }
        })
    }
}

/// Each run of ids is its first and last one: an import can bring 50,000 documents.
fn documents(runs: Vec<(u32, u32)>) -> Result<DocumentIds, Malformed> {
    let are_documents = runs.iter().all(|(_, last)| *last < DOCUMENT_IDS);
    let ids = if are_documents { DocumentIds::from_runs(runs) } else { None };
    ids.ok_or(Malformed("the log names documents that no project can have"))
}

fn document_id(id: u32) -> Result<DocumentId, Malformed> {
    let is_one = id < DOCUMENT_IDS;
    is_one.then_some(DocumentId(id)).ok_or(Malformed("the log names a document that no project can have"))
}

fn sentence_id(id: u32) -> Result<SentenceId, Malformed> {
    let is_one = id < SENTENCE_IDS;
    is_one.then_some(SentenceId(id)).ok_or(Malformed("the log names a sentence that no project can have"))
}

fn label_id(id: u32) -> Result<LabelId, Malformed> {
    (id < LABEL_IDS).then_some(LabelId(id)).ok_or(Malformed("the log names a label that no project can have"))
}

fn model_id(id: u32) -> Result<ModelId, Malformed> {
    (id < MODEL_IDS).then_some(ModelId(id)).ok_or(Malformed("the log names a model that no project can have"))
}

impl From<&(SentenceId, NewSentence)> for SentenceJson {
    fn from((id, sentence): &(SentenceId, NewSentence)) -> Self {
        Self {
            id: id.0,
            tokens: sentence.tokens.iter().map(|t| (t.start().get(), t.end().get())).collect(),
            mentions: sentence.mentions.iter().map(MentionJson::from).collect(),
            rejected: sentence.rejected.iter().map(|(s, l)| (s.start().get(), s.end().get(), l.0)).collect(),
            status: sentence.status.id().to_owned(),
            split: sentence.split.id().to_owned(),
        }
    }
}

impl SentenceJson {
    fn read(self) -> Result<(SentenceId, NewSentence), Malformed> {
        let token = |(start, end)| {
            TextRange::new(ByteIdx::new(start), ByteIdx::new(end)).ok_or(Malformed("a token in the log is empty"))
        };
        let rejected = self.rejected.into_iter().map(|(s, e, label)| Ok((to_span((s, e))?, label_id(label)?)));
        let sentence = NewSentence {
            tokens: self.tokens.into_iter().map(token).collect::<Result<_, _>>()?,
            mentions: self.mentions.into_iter().map(Mention::try_from).collect::<Result<_, _>>()?,
            rejected: rejected.collect::<Result<_, Malformed>>()?,
            status: Status::from_id(&self.status).ok_or(STATUS)?,
            split: Split::from_id(&self.split).ok_or(SPLIT)?,
        };
        Ok((sentence_id(self.id)?, sentence))
    }
}

impl From<&Mention> for MentionJson {
    fn from(mention: &Mention) -> Self {
        let (from, model) = names::of_provenance(&mention.provenance);
        Self {
            id: mention.id.0,
            spans: pairs(&mention.fragments),
            label: mention.label.0,
            attributes: mention.attributes.clone(),
            note: mention.note.clone(),
            from: from.to_owned(),
            model,
            source_id: mention.source_id.clone(),
        }
    }
}

impl TryFrom<MentionJson> for Mention {
    type Error = Malformed;

    fn try_from(m: MentionJson) -> Result<Self, Malformed> {
        if m.id >= MENTION_IDS {
            return Err(Malformed("the log names a mention that no project can have"));
        }
        if let Some(model) = m.model {
            model_id(model)?;
        }
        Ok(Self {
            id: MentionId(m.id),
            fragments: to_fragments(&m.spans)?,
            label: label_id(m.label)?,
            attributes: m.attributes,
            note: m.note,
            provenance: names::to_provenance(&m.from, m.model)
                .ok_or(Malformed("the log names an origin that there is not"))?,
            source_id: m.source_id,
        })
    }
}

impl From<&Label> for LabelJson {
    fn from(label: &Label) -> Self {
        Self {
            id: label.id.0,
            name: label.name.clone(),
            title: label.title.clone(),
            color: label.color.to_hex(),
            key: label.key,
        }
    }
}

impl TryFrom<LabelJson> for Label {
    type Error = Malformed;

    fn try_from(l: LabelJson) -> Result<Self, Malformed> {
        let color = Rgb::from_hex(&l.color).ok_or(Malformed("a colour in the log is not #RRGGBB"))?;
        Ok(Self { id: label_id(l.id)?, name: l.name, title: l.title, color, key: l.key })
    }
}

fn pairs(fragments: &Fragments) -> Vec<(usize, usize)> {
    fragments.iter().map(|s| (s.start().get(), s.end().get())).collect()
}

fn to_fragments(spans: &[(usize, usize)]) -> Result<Fragments, Malformed> {
    let spans = spans.iter().map(|&pair| to_span(pair)).collect::<Result<Vec<_>, _>>()?;
    Fragments::new(spans).map_err(|_| Malformed("the fragments of a mention are empty or overlap"))
}

fn to_span((start, end): (usize, usize)) -> Result<Span, Malformed> {
    Span::from_range(start..end).ok_or(Malformed("a span is empty"))
}
