//! The state that a person edits: labels, documents and their sentences.

use super::{ApplyError, Edit, Fragments, Kept, Label, LabelId, LabelSet, Mention, MentionId, Span, Transaction};
use crate::text::TextRange;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocumentId(pub u32);

/// Identity of a sentence in its project; sentences are numbered from 0 in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SentenceId(pub u32);

/// How far a person is with a sentence. Only `Complete` says that everything else is outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Status {
    #[default]
    Untouched,
    InProgress,
    Complete,
    Skipped,
    Flagged,
}

impl Status {
    /// The word for it in files. Part of the project file and of JSONL: never changed.
    pub fn id(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Skipped => "skipped",
            Self::Flagged => "flagged",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Untouched, Self::InProgress, Self::Complete, Self::Skipped, Self::Flagged]
            .into_iter()
            .find(|s| s.id() == id)
    }
}

/// What a sentence is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Split {
    /// Trains when complete; else it is the pool.
    #[default]
    Rest,
    Dev,
    Test,
    /// Kept aside from the start for an honest learning curve.
    Blind,
}

impl Split {
    /// The word for it in files. Part of the project file and of JSONL: never changed.
    pub fn id(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Dev => "dev",
            Self::Test => "test",
            Self::Blind => "blind",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Rest, Self::Dev, Self::Test, Self::Blind].into_iter().find(|s| s.id() == id)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    pub id: DocumentId,
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    /// In text order.
    pub sentences: Vec<SentenceId>,
}

/// One tokenised sentence and what was decided about it. Read through its methods; changed only by edits.
#[derive(Clone, PartialEq, Debug)]
pub struct Sentence {
    id: SentenceId,
    document: DocumentId,
    tokens: Vec<TextRange>,
    /// Ordered by the first token, then outer before inner.
    mentions: Vec<Mention>,
    rejected: BTreeSet<(Span, LabelId)>,
    status: Status,
    split: Split,
}

impl Sentence {
    pub fn id(&self) -> SentenceId {
        self.id
    }

    pub fn document(&self) -> DocumentId {
        self.document
    }

    /// Ranges of the document's text.
    pub fn tokens(&self) -> &[TextRange] {
        &self.tokens
    }

    /// Gold mentions, ordered by their first token, outer before inner.
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    pub fn mention(&self, id: MentionId) -> Option<&Mention> {
        self.mentions.iter().find(|m| m.id == id)
    }

    /// Suggestions that a person rejected.
    pub fn rejected(&self) -> &BTreeSet<(Span, LabelId)> {
        &self.rejected
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn split(&self) -> Split {
        self.split
    }

    /// True for a complete sentence that may train (not one of dev, test or blind).
    pub fn trains(&self) -> bool {
        self.split == Split::Rest && self.status == Status::Complete
    }

    /// True when a contiguous mention marks just these tokens with this label.
    pub fn has_mention(&self, span: Span, label: LabelId) -> bool {
        self.mentions.iter().any(|m| m.label == label && m.fragments.contiguous() == Some(span))
    }

    fn check_inside(&self, fragments: &Fragments) -> Result<(), ApplyError> {
        let (span, tokens) = (fragments.hull(), self.tokens.len());
        if span.end().get() <= tokens { Ok(()) } else { Err(ApplyError::OutsideSentence { span, tokens }) }
    }

    fn insert(&mut self, mention: Mention) {
        let key = order(&mention);
        let at = self.mentions.partition_point(|m| order(m) < key);
        self.mentions.insert(at, mention);
    }

    /// Takes out the mention that equals `expected` in all its parts.
    fn take(&mut self, expected: &Mention) -> Result<(), ApplyError> {
        let at = self.mentions.iter().position(|m| m == expected);
        at.map(|at| drop(self.mentions.remove(at))).ok_or(ApplyError::MentionChanged(expected.id))
    }
}

fn order(m: &Mention) -> (usize, std::cmp::Reverse<usize>, MentionId) {
    (m.hull().start().get(), std::cmp::Reverse(m.hull().end().get()), m.id)
}

/// A sentence on its way into a corpus.
#[derive(Clone, Debug, Default)]
pub struct NewSentence {
    pub tokens: Vec<TextRange>,
    pub mentions: Vec<Mention>,
    pub rejected: BTreeSet<(Span, LabelId)>,
    pub status: Status,
    pub split: Split,
}

/// A document on its way into a corpus.
#[derive(Clone, Debug)]
pub struct NewDocument {
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    pub sentences: Vec<NewSentence>,
}

/// Labels, documents and sentences of a project.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    labels: LabelSet,
    documents: Vec<Document>,
    /// Indexed by [`SentenceId`].
    sentences: Vec<Sentence>,
    next_mention: u64,
    revision: u64,
}

impl Corpus {
    /// An empty corpus at a revision: the start of a new project (0), or of reading a stored one.
    pub fn new(labels: LabelSet, next_mention: MentionId, revision: u64) -> Self {
        Self { labels, next_mention: next_mention.0, revision, ..Self::default() }
    }

    pub fn labels(&self) -> &LabelSet {
        &self.labels
    }

    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    pub fn document(&self, id: DocumentId) -> Option<&Document> {
        self.documents.get(id.0 as usize)
    }

    /// All sentences, in the order of their ids.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    pub fn sentence(&self, id: SentenceId) -> Option<&Sentence> {
        self.sentences.get(id.0 as usize)
    }

    /// The id that the next new mention must have.
    pub fn next_mention_id(&self) -> MentionId {
        MentionId(self.next_mention)
    }

    /// Counts applied transactions and added documents.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What a token of `sentence` says; empty where there is no such token.
    pub fn token_text(&self, sentence: &Sentence, token: usize) -> &str {
        let text = self.document(sentence.document).map_or("", |d| &d.text);
        sentence.tokens.get(token).map_or("", |range| range.of(text))
    }

    /// The words of a sentence.
    pub fn words<'c>(&'c self, sentence: &'c Sentence) -> impl Iterator<Item = &'c str> {
        let text = self.document(sentence.document).map_or("", |d| &d.text);
        sentence.tokens.iter().map(move |range| range.of(text))
    }

    /// The raw text from the first token of `span` to its last.
    pub fn span_text(&self, sentence: &Sentence, span: Span) -> &str {
        let text = self.document(sentence.document).map_or("", |d| &d.text);
        let (first, last) = (sentence.tokens.get(span.start().get()), sentence.tokens.get(span.last().get()));
        let range = first.zip(last).and_then(|(f, l)| TextRange::new(f.start(), l.end()));
        range.map_or("", |range| range.of(text))
    }

    /// The raw text from the first token to the last.
    pub fn sentence_text(&self, sentence: &Sentence) -> &str {
        Span::from_range(0..sentence.tokens.len()).map_or("", |whole| self.span_text(sentence, whole))
    }

    /// Adds a whole document with its sentences; one revision.
    ///
    /// # Errors
    /// Tokens that don't ascend, mentions outside their sentence, with unknown labels or ids in use.
    pub fn add_document(&mut self, new: NewDocument) -> Result<DocumentId, ApplyError> {
        let id = DocumentId(self.documents.len() as u32);
        let mut sentences = Vec::with_capacity(new.sentences.len());
        let (mut at, mut next_mention) = (0, self.next_mention);
        for part in new.sentences {
            let sentence_id = SentenceId((self.sentences.len() + sentences.len()) as u32);
            let NewSentence { tokens, mentions, rejected, status, split } = part;
            for token in &tokens {
                if token.start().get() < at || new.text.get(token.bytes()).is_none() {
                    return Err(ApplyError::BadTokens(new.name));
                }
                at = token.end().get();
            }
            let empty = Vec::with_capacity(mentions.len());
            let mut sentence =
                Sentence { id: sentence_id, document: id, tokens, mentions: empty, rejected, status, split };
            for mention in mentions {
                self.check_new_mention(&sentence, &mention)?;
                next_mention = next_mention.max(mention.id.0.saturating_add(1));
                sentence.insert(mention);
            }
            sentences.push(sentence);
        }
        let ids = sentences.iter().map(Sentence::id).collect();
        self.documents.push(Document { id, name: new.name, text: new.text, kept: new.kept, sentences: ids });
        self.sentences.append(&mut sentences);
        self.next_mention = next_mention;
        self.revision += 1;
        Ok(id)
    }

    /// Applies all edits or none, and returns the inverse.
    ///
    /// # Errors
    /// The first edit that does not find what it expects; nothing is changed then.
    pub fn apply(&mut self, transaction: Transaction) -> Result<Transaction, ApplyError> {
        for (done, edit) in transaction.edits.iter().enumerate() {
            if let Err(error) = self.apply_edit(edit) {
                for edit in transaction.edits.iter().take(done).rev() {
                    let taken_back = self.apply_edit(&edit.clone().inverse());
                    debug_assert!(taken_back.is_ok(), "an edit that was just applied can be taken back");
                }
                return Err(error);
            }
        }
        self.revision += 1;
        Ok(transaction.inverse())
    }

    fn apply_edit(&mut self, edit: &Edit) -> Result<(), ApplyError> {
        match edit {
            Edit::AddMention { sentence, mention } => {
                self.check_new_mention(self.known(*sentence)?, mention)?;
                self.next_mention = self.next_mention.max(mention.id.0.saturating_add(1));
                self.sentence_mut(*sentence)?.insert(mention.clone());
            }
            Edit::RemoveMention { sentence, mention } => self.sentence_mut(*sentence)?.take(mention)?,
            Edit::ReplaceMention { sentence, old, new } => self.replace_mention(*sentence, old, new)?,
            Edit::SetStatus { sentence, old, new } => {
                let target = self.sentence_mut(*sentence)?;
                expect(target.status == *old, *sentence)?;
                target.status = *new;
            }
            Edit::SetSplit { sentence, old, new } => {
                let target = self.sentence_mut(*sentence)?;
                expect(target.split == *old, *sentence)?;
                target.split = *new;
            }
            Edit::SetRejected { sentence, span, label, new } => {
                let target = self.sentence_mut(*sentence)?;
                expect(target.rejected.contains(&(*span, *label)) != *new, *sentence)?;
                if *new {
                    target.check_inside(&Fragments::from(*span))?;
                    target.rejected.insert((*span, *label));
                } else {
                    target.rejected.remove(&(*span, *label));
                }
            }
            Edit::InsertLabel { at, label } => {
                self.labels.check_unique(label)?;
                if self.labels.get(label.id).is_some() || *at > self.labels.len() {
                    return Err(ApplyError::LabelChanged(label.name.clone()));
                }
                self.labels.insert(*at, label.clone());
            }
            Edit::RemoveLabel { at, label } => self.remove_label(*at, label)?,
            Edit::ReplaceLabel { old, new } => {
                if old.id != new.id || self.labels.get(old.id) != Some(old) {
                    return Err(ApplyError::LabelChanged(old.name.clone()));
                }
                self.labels.check_unique(new)?;
                self.labels.replace(new.clone());
            }
        }
        Ok(())
    }

    fn replace_mention(&mut self, id: SentenceId, old: &Mention, new: &Mention) -> Result<(), ApplyError> {
        let sentence = self.known(id)?;
        sentence.check_inside(&new.fragments)?;
        self.labels.get(new.label).ok_or(ApplyError::NoLabel(new.label))?;
        if old.id != new.id {
            return Err(ApplyError::MentionChanged(old.id));
        }
        if sentence.mentions.iter().any(|m| m.id != old.id && m.says_the_same(new)) {
            return Err(ApplyError::SameMentionThere);
        }
        let sentence = self.sentence_mut(id)?;
        sentence.take(old)?;
        sentence.insert(new.clone());
        Ok(())
    }

    fn remove_label(&mut self, at: usize, label: &Label) -> Result<(), ApplyError> {
        if self.labels.iter().nth(at) != Some(label) {
            return Err(ApplyError::LabelChanged(label.name.clone()));
        }
        let mentions = self.sentences.iter().flat_map(|s| &s.mentions).filter(|m| m.label == label.id).count();
        if mentions > 0 {
            return Err(ApplyError::LabelInUse { label: label.name.clone(), mentions });
        }
        self.labels.remove(label.id);
        Ok(())
    }

    fn check_new_mention(&self, sentence: &Sentence, mention: &Mention) -> Result<(), ApplyError> {
        sentence.check_inside(&mention.fragments)?;
        self.labels.get(mention.label).ok_or(ApplyError::NoLabel(mention.label))?;
        if sentence.mention(mention.id).is_some() {
            return Err(ApplyError::MentionIdTaken(mention.id));
        }
        if sentence.mentions.iter().any(|m| m.says_the_same(mention)) {
            return Err(ApplyError::SameMentionThere);
        }
        Ok(())
    }

    fn known(&self, id: SentenceId) -> Result<&Sentence, ApplyError> {
        self.sentence(id).ok_or(ApplyError::NoSentence(id))
    }

    fn sentence_mut(&mut self, id: SentenceId) -> Result<&mut Sentence, ApplyError> {
        self.sentences.get_mut(id.0 as usize).ok_or(ApplyError::NoSentence(id))
    }
}

fn expect(as_expected: bool, sentence: SentenceId) -> Result<(), ApplyError> {
    if as_expected { Ok(()) } else { Err(ApplyError::SentenceChanged(sentence)) }
}
