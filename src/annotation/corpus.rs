//! The state that a person edits: labels, documents and their sentences.

use super::limits::{DOCUMENT_IDS, LABEL_IDS, LABELS, MENTION_IDS, SENTENCE_IDS};
use super::sentence::check_inside;
use super::tallies::{DocumentTally, MentionTally, Tallies};
use super::text_order::TextOrder;
use super::{
    ApplyError, ById, Document, DocumentId, DocumentIds, Edit, Label, LabelId, LabelSet, LabelUse, Mention, MentionId,
    NewDocument, NewSentence, Presence, Sentence, SentenceId, Span, StoredDocument, Transaction,
};
use crate::text::{Language, TextRange};
use std::collections::HashSet;
use std::sync::Arc;

/// Labels, documents and sentences of a project. A copy shares all that is not changed in one of the two, so that work on
/// another thread can hold one while a person goes on annotating.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    labels: Arc<LabelSet>,
    /// Those that are not there stay in their places.
    documents: ById<DocumentId, Document>,
    /// Also those of documents that are not there.
    sentences: ById<SentenceId, Sentence>,
    order: TextOrder,
    tallies: Tallies,
    next_sentence: u32,
    next_mention: u64,
    revision: u64,
}

impl Corpus {
    /// An empty corpus at a revision: the start of a new project (0), or of reading a stored one.
    pub fn new(labels: LabelSet, next_mention: MentionId, revision: u64) -> Self {
        Self { labels: Arc::new(labels), next_mention: next_mention.0, revision, ..Self::default() }
    }

    pub fn labels(&self) -> &LabelSet {
        &self.labels
    }

    /// The documents that are there.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = &Document> + Clone {
        self.documents.values().filter(|document| document.is_there())
    }

    /// The language that most of the texts are in; `None` where that is in doubt. Takes milliseconds.
    pub fn language(&self) -> Option<Language> {
        Language::of_texts(self.documents().map(|document| &*document.text))
    }

    /// All documents, there or not, in the order of their ids.
    pub fn all_documents(&self) -> &ById<DocumentId, Document> {
        &self.documents
    }

    /// Linear in the number of documents.
    pub fn document_count(&self) -> usize {
        self.documents().count()
    }

    /// A document, there or not.
    pub fn document(&self, id: DocumentId) -> Option<&Document> {
        self.documents.get(id)
    }

    /// All sentences in text order.
    pub fn sentences(&self) -> impl DoubleEndedIterator<Item = &Sentence> + Clone {
        let ids = self.documents().flat_map(|document| document.sentences.iter());
        ids.filter_map(|id| self.sentences.get(*id))
    }

    pub fn sentence_count(&self) -> usize {
        self.order.len()
    }

    pub fn sentence(&self, id: SentenceId) -> Option<&Sentence> {
        self.sentences.get(id).filter(|sentence| self.is_there(sentence))
    }

    /// A sentence of any document, there or not.
    pub fn any_sentence(&self, id: SentenceId) -> Option<&Sentence> {
        self.sentences.get(id)
    }

    /// The sentence at a place in text order.
    pub fn sentence_at(&self, place: usize) -> Option<&Sentence> {
        let (document, at) = self.order.at(place)?;
        self.sentences.get(*self.document(document)?.sentences.get(at)?)
    }

    /// Where a sentence stands in text order.
    pub fn place(&self, id: SentenceId) -> Option<usize> {
        self.order.place(self.sentence(id)?.document(), id)
    }

    /// The document of a sentence, and which of its sentences it is, counted from 0.
    pub fn place_in_document(&self, id: SentenceId) -> Option<(&Document, usize)> {
        Some((self.document(self.sentence(id)?.document())?, self.order.in_document(id)?))
    }

    /// All sentences that were ever there and can be there again, by their ids: for who stores them.
    pub fn all_sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.values()
    }

    /// The mentions that keep a label from being removed.
    pub fn use_of_label(&self, label: LabelId) -> LabelUse {
        self.tallies.use_of_label(label)
    }

    /// What the sentences of a document hold, whether it is there or not.
    pub fn tally(&self, document: DocumentId) -> DocumentTally {
        self.tallies.document(document)
    }

    /// Mentions of more than so many words, gaps included.
    pub fn mentions_wider_than(&self, words: usize) -> usize {
        self.tallies.wider_than(words)
    }

    /// The id that the next new mention must have.
    pub fn next_mention_id(&self) -> MentionId {
        MentionId(self.next_mention)
    }

    /// The id that the next new sentence must have.
    pub fn next_sentence_id(&self) -> SentenceId {
        SentenceId(self.next_sentence)
    }

    /// Counts applied transactions and added documents.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What a token of `sentence` says; empty where there is no such token.
    pub fn token_text(&self, sentence: &Sentence, token: usize) -> &str {
        let text = self.document(sentence.document()).map_or("", |d| &d.text);
        sentence.tokens().get(token).map_or("", |range| range.of(text))
    }

    /// The words of a sentence.
    pub fn words<'c>(&'c self, sentence: &'c Sentence) -> impl Iterator<Item = &'c str> {
        let text = self.document(sentence.document()).map_or("", |d| &d.text);
        sentence.tokens().iter().map(move |range| range.of(text))
    }

    /// The raw text from the first token of `span` to its last.
    pub fn span_text(&self, sentence: &Sentence, span: Span) -> &str {
        let text = self.document(sentence.document()).map_or("", |d| &d.text);
        let (first, last) = (sentence.tokens().get(span.start().get()), sentence.tokens().get(span.last().get()));
        let range = first.zip(last).and_then(|(f, l)| TextRange::new(f.start(), l.end()));
        range.map_or("", |range| range.of(text))
    }

    /// The raw text from the first token to the last.
    pub fn sentence_text(&self, sentence: &Sentence) -> &str {
        Span::from_range(0..sentence.tokens().len()).map_or("", |whole| self.span_text(sentence, whole))
    }

    /// Adds a whole document with its sentences; one revision.
    ///
    /// # Errors
    /// A sentence without tokens, tokens that don't ascend, mentions outside their sentence, with unknown labels or ids
    /// in use.
    pub fn add_document(&mut self, new: NewDocument) -> Result<DocumentId, ApplyError> {
        let NewDocument { name, text, kept, sentences } = new;
        self.check_room(sentences.len())?;
        let sentences = (self.next_sentence_id().0..).map(SentenceId).zip(sentences).collect();
        let id = self.restore_document(StoredDocument { name, text, kept, presence: Presence::There, sentences })?;
        self.revision += 1;
        Ok(id)
    }

    /// Puts a stored document in, as it was; the revision stays.
    ///
    /// # Errors
    /// See [`Corpus::add_document`]; also a sentence id in use.
    pub fn restore_document(&mut self, stored: StoredDocument) -> Result<DocumentId, ApplyError> {
        let id = u32::try_from(self.documents.len()).ok().filter(|id| *id < DOCUMENT_IDS).map(DocumentId);
        let id = id.ok_or(ApplyError::NoIdLeft("documents"))?;
        let StoredDocument { name, text, kept, presence, sentences } = stored;
        let (mut built, mut at) = (Vec::with_capacity(sentences.len()), 0);
        for (sentence, content) in sentences {
            at = check_tokens(&name, &text, at, &content.tokens)?;
            check_sentence_id(sentence)?;
            if self.sentences.get(sentence).is_some() {
                return Err(ApplyError::SentenceIdTaken(sentence));
            }
            // A label of a removed document may be gone.
            built.push(self.build(sentence, id, content, presence != Presence::Removed)?);
        }
        let ids: Vec<SentenceId> = built.iter().map(Sentence::id).collect();
        let mut seen = HashSet::with_capacity(ids.len());
        if let Some(twice) = ids.iter().find(|id| !seen.insert(**id)) {
            return Err(ApplyError::SentenceIdTaken(*twice));
        }
        self.order.push(&ids, presence == Presence::There);
        self.documents.put(id, Document { id, name, text, kept, sentences: ids, presence });
        built.into_iter().for_each(|sentence| self.fill(sentence, presence));
        Ok(id)
    }

    /// Takes note of sentence ids that were given before and belong to none now.
    pub fn reserve_sentence_ids(&mut self, next: SentenceId) {
        self.next_sentence = self.next_sentence.max(next.0.min(SENTENCE_IDS));
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
                self.change(*sentence, |target| {
                    target.insert(mention.clone());
                    Ok(())
                })?;
            }
            Edit::RemoveMention { sentence, mention } => self.change(*sentence, |target| target.take(mention))?,
            Edit::ReplaceMention { sentence, old, new } => self.replace_mention(*sentence, old, new)?,
            Edit::SetStatus { sentence, old, new } => self.change(*sentence, |target| {
                expect(target.status == *old, *sentence)?;
                target.status = *new;
                Ok(())
            })?,
            Edit::SetSplit { sentence, old, new } => self.change(*sentence, |target| {
                expect(target.split == *old, *sentence)?;
                target.split = *new;
                Ok(())
            })?,
            Edit::SetRejected { sentence, span, label, new } => self.change(*sentence, |target| {
                expect(target.rejected.contains(&(*span, *label)) != *new, *sentence)?;
                if *new {
                    target.check_inside(*span)?;
                    target.rejected.insert((*span, *label));
                } else {
                    target.rejected.remove(&(*span, *label));
                }
                Ok(())
            })?,
            Edit::InsertLabel { at, label } => {
                self.labels.check_unique(label)?;
                if self.labels.get(label.id).is_some() || *at > self.labels.len() {
                    return Err(ApplyError::LabelChanged(label.name.clone()));
                }
                if label.id.0 >= LABEL_IDS || self.labels.len() >= LABELS {
                    return Err(ApplyError::NoIdLeft("labels"));
                }
                Arc::make_mut(&mut self.labels).insert(*at, label.clone());
            }
            Edit::RemoveLabel { at, label } => self.remove_label(*at, label)?,
            Edit::ReplaceLabel { old, new } => {
                if old.id != new.id || self.labels.get(old.id) != Some(old) {
                    return Err(ApplyError::LabelChanged(old.name.clone()));
                }
                self.labels.check_unique(new)?;
                Arc::make_mut(&mut self.labels).replace(new.clone());
            }
            Edit::Resegment { document, old, new } => self.resegment(*document, old, new)?,
            Edit::SetPresence { documents, old, new } => self.set_presence(documents, *old, *new)?,
        }
        Ok(())
    }

    fn replace_mention(&mut self, id: SentenceId, old: &Mention, new: &Mention) -> Result<(), ApplyError> {
        let sentence = self.known(id)?;
        sentence.check_inside(new.hull())?;
        self.labels.get(new.label).ok_or(ApplyError::NoLabel(new.label))?;
        if old.id != new.id {
            return Err(ApplyError::MentionChanged(old.id));
        }
        if sentence.mentions.iter().any(|m| m.id != old.id && m.says_the_same(new)) {
            return Err(ApplyError::SameMentionThere);
        }
        self.change(id, |target| {
            target.take(old)?;
            target.insert(new.clone());
            Ok(())
        })
    }

    fn remove_label(&mut self, at: usize, label: &Label) -> Result<(), ApplyError> {
        if self.labels.iter().nth(at) != Some(label) {
            return Err(ApplyError::LabelChanged(label.name.clone()));
        }
        let used = self.use_of_label(label.id);
        if used != LabelUse::default() {
            return Err(ApplyError::LabelInUse { label: label.name.clone(), used });
        }
        Arc::make_mut(&mut self.labels).remove(label.id);
        Ok(())
    }

    /// Takes documents out of the corpus, or brings them back.
    fn set_presence(&mut self, documents: &DocumentIds, old: Presence, new: Presence) -> Result<(), ApplyError> {
        if let Some(twice) = documents.first_twice() {
            return Err(ApplyError::NoDocument(twice));
        }
        let mut changed = Vec::new();
        for id in documents.iter() {
            let document = self.document(id).ok_or(ApplyError::NoDocument(id))?;
            if document.presence != old {
                return Err(ApplyError::DocumentChanged(document.name.clone()));
            }
            changed.push(document);
        }
        let ids = changed.into_iter().flat_map(|document| &document.sentences);
        let mentions = MentionTally::of(ids.filter_map(|id| self.sentences.get(*id)));
        if old == Presence::Removed {
            // The labels of what comes back must be there.
            for label in mentions.labels() {
                self.labels.get(label).ok_or(ApplyError::NoLabel(label))?;
            }
        }
        for id in documents.iter() {
            if let Some(document) = self.documents.get_mut(id) {
                document.presence = new;
                self.order.count(id, if document.is_there() { document.sentences.len() } else { 0 });
            }
        }
        self.tallies.shift(&mentions, old, new);
        Ok(())
    }

    /// Puts sentences in the place of others of the same document that cover the same words.
    fn resegment(
        &mut self,
        id: DocumentId,
        old: &[(SentenceId, NewSentence)],
        new: &[(SentenceId, NewSentence)],
    ) -> Result<(), ApplyError> {
        let document = self.document(id).filter(|d| d.is_there()).ok_or(ApplyError::NoDocument(id))?;
        let changed = |sentence: &(SentenceId, NewSentence)| ApplyError::SentenceChanged(sentence.0);
        let first = old.first().ok_or_else(|| ApplyError::BadTokens(document.name.clone()))?;
        let is_of_it = |at: &usize| document.sentences.get(*at) == Some(&first.0);
        let at = self.order.in_document(first.0).filter(is_of_it).ok_or_else(|| changed(first))?;
        let there = document.sentences.get(at..at + old.len()).ok_or_else(|| changed(first))?;
        for (expected, there) in old.iter().zip(there) {
            let same = expected.0 == *there && self.sentences.get(*there).is_some_and(|s| s.holds(&expected.1));
            expect(same, expected.0)?;
        }
        let mut built = Vec::with_capacity(new.len());
        let mut end = 0;
        for (sentence, content) in new {
            end = check_tokens(&document.name, &document.text, end, &content.tokens)?;
            check_sentence_id(*sentence)?;
            let is_old = old.iter().any(|(id, _)| id == sentence);
            let is_taken = !is_old && self.sentences.get(*sentence).is_some();
            if is_taken || built.iter().any(|s: &Sentence| s.id() == *sentence) {
                return Err(ApplyError::SentenceIdTaken(*sentence));
            }
            built.push(self.build(*sentence, id, content.clone(), true)?);
        }
        if !covered(old).eq(covered(new)) {
            return Err(ApplyError::OtherWords(document.name.clone()));
        }
        for (sentence, _) in old {
            if let Some(gone) = self.sentences.remove(*sentence) {
                self.tallies.subtract(&gone, Presence::There);
            }
        }
        let ids: Vec<SentenceId> = built.iter().map(Sentence::id).collect();
        self.order.forget(old.iter().map(|(sentence, _)| *sentence));
        if let Some(document) = self.documents.get_mut(id) {
            document.sentences.splice(at..at + old.len(), ids);
            // Where as many have come as have gone, those behind them stay where they were.
            let end = if old.len() == new.len() { at + new.len() } else { document.sentences.len() };
            self.order.number(document.sentences.get(..end).unwrap_or_default(), at);
            self.order.count(id, document.sentences.len());
        }
        for sentence in built {
            self.fill(sentence, Presence::There);
        }
        Ok(())
    }

    /// A sentence with all that is in it checked.
    fn build(
        &self,
        id: SentenceId,
        document: DocumentId,
        content: NewSentence,
        check_labels: bool,
    ) -> Result<Sentence, ApplyError> {
        let tokens = content.tokens.len();
        for (span, _) in &content.rejected {
            check_inside(*span, tokens)?;
        }
        let (mut ids, mut said) = (HashSet::new(), HashSet::new());
        for mention in &content.mentions {
            check_inside(mention.hull(), tokens)?;
            check_mention_id(mention.id)?;
            if !ids.insert(mention.id) {
                return Err(ApplyError::MentionIdTaken(mention.id));
            }
            if check_labels {
                self.labels.get(mention.label).ok_or(ApplyError::NoLabel(mention.label))?;
                if !said.insert((mention.label, &mention.fragments)) {
                    return Err(ApplyError::SameMentionThere);
                }
            }
        }
        Ok(Sentence::stored(id, document, content))
    }

    fn check_new_mention(&self, sentence: &Sentence, mention: &Mention) -> Result<(), ApplyError> {
        sentence.check_inside(mention.hull())?;
        check_mention_id(mention.id)?;
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

    /// Changes a sentence that is there. What `how` refuses it must not have changed.
    fn change(
        &mut self,
        id: SentenceId,
        how: impl FnOnce(&mut Sentence) -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        let is_there = self.sentence(id).is_some();
        let sentence = self.sentences.get_mut(id).filter(|_| is_there).ok_or(ApplyError::NoSentence(id))?;
        self.tallies.subtract(sentence, Presence::There);
        let changed = how(sentence);
        self.tallies.add(sentence, Presence::There);
        changed
    }

    /// # Errors
    /// More new sentences than there are ids left for.
    fn check_room(&self, new_sentences: usize) -> Result<(), ApplyError> {
        let left = SENTENCE_IDS.saturating_sub(self.next_sentence) as usize;
        if new_sentences <= left { Ok(()) } else { Err(ApplyError::NoIdLeft("sentences")) }
    }

    fn is_there(&self, sentence: &Sentence) -> bool {
        self.document(sentence.document()).is_some_and(Document::is_there)
    }

    fn fill(&mut self, sentence: Sentence, presence: Presence) {
        self.reserve_sentence_ids(SentenceId(sentence.id().0.saturating_add(1)));
        let last = sentence.mentions.iter().map(|m| m.id.0).max();
        self.next_mention = self.next_mention.max(last.map_or(0, |last| last.saturating_add(1)));
        self.tallies.add(&sentence, presence);
        self.sentences.put(sentence.id(), sentence);
    }
}

fn check_sentence_id(id: SentenceId) -> Result<(), ApplyError> {
    if id.0 < SENTENCE_IDS { Ok(()) } else { Err(ApplyError::NoIdLeft("sentences")) }
}

fn check_mention_id(id: MentionId) -> Result<(), ApplyError> {
    if id.0 < MENTION_IDS { Ok(()) } else { Err(ApplyError::NoIdLeft("mentions")) }
}

fn expect(as_expected: bool, sentence: SentenceId) -> Result<(), ApplyError> {
    if as_expected { Ok(()) } else { Err(ApplyError::SentenceChanged(sentence)) }
}

/// Where the last token ends.
///
/// # Errors
/// No token, tokens that don't ascend from `at` on, or that are no part of the text.
fn check_tokens(name: &str, text: &str, mut at: usize, tokens: &[TextRange]) -> Result<usize, ApplyError> {
    let bad = || ApplyError::BadTokens(name.to_owned());
    if tokens.is_empty() {
        return Err(bad());
    }
    for token in tokens {
        if token.start().get() < at || text.get(token.bytes()).is_none() {
            return Err(bad());
        }
        at = token.end().get();
    }
    Ok(at)
}

/// The stretches of text that the tokens cover, those that touch as one.
fn covered(sentences: &[(SentenceId, NewSentence)]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut tokens = sentences.iter().flat_map(|(_, s)| &s.tokens).map(|t| (t.start().get(), t.end().get())).peekable();
    std::iter::from_fn(move || {
        let (start, mut end) = tokens.next()?;
        while let Some((_, next_end)) = tokens.next_if(|next| next.0 == end) {
            end = next_end;
        }
        Some((start, end))
    })
}
