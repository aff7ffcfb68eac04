//! What a writer is given: documents with the chosen sentences and what to show of them, borrowed.

use crate::annotation::{
    Attributes, Corpus, Document, Fragments, Kept, Sentence, SentenceSuggestions, Split, Status, SuggestionsById,
};
use crate::text::TextRange;
use std::ops::Range;

#[derive(Clone, PartialEq, Debug)]
pub struct DocumentView<'c> {
    pub name: &'c str,
    pub text: &'c str,
    pub kept: &'c Kept,
    /// In text order, not all of the document's if some were left out.
    pub sentences: Vec<SentenceView<'c>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SentenceView<'c> {
    /// In its document, from 1, counting those that were left out.
    pub number: usize,
    /// Ranges of the document's text.
    pub tokens: &'c [TextRange],
    /// The raw text from the first token to the last; in the first sentence of a document with all that comes before.
    pub text: &'c str,
    /// The raw text between this sentence and the document's next one, left out or not.
    pub gap: &'c str,
    /// Ordered by the first token, outer before inner.
    pub mentions: Vec<MentionView<'c>>,
    /// `None` where nobody has said.
    pub status: Option<Status>,
    /// See [`ImportedSentence`](super::ImportedSentence).
    pub may_be_unread: bool,
    pub split: Option<Split>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MentionView<'c> {
    pub fragments: Fragments,
    pub label: &'c str,
    /// For a suggestion.
    pub score: Option<f32>,
    pub attributes: Option<&'c Attributes>,
    pub note: &'c str,
    /// What the file that it came from called it.
    pub source_id: Option<&'c str>,
}

/// Which mentions a view shows.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'c> {
    Gold,
    /// With their scores. One whose label is not in the project any more is left out.
    Suggestions(&'c SuggestionsById),
}

impl SentenceView<'_> {
    /// Where `text` begins in the document's text.
    pub fn start(&self) -> usize {
        self.tokens.last().map_or(0, |last| last.end().get().saturating_sub(self.text.len()))
    }

    /// The bytes of some tokens in the document's text.
    pub fn bytes(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let of = self.tokens.get(tokens)?;
        Some(of.first()?.start().get()..of.last()?.end().get())
    }
}

impl DocumentView<'_> {
    /// The raw text without the sentences that were left out.
    pub fn written_text(&self) -> String {
        match self.sentences.is_empty() {
            true => self.text.to_owned(),
            false => self.sentences.iter().flat_map(|s| [s.text, s.gap]).collect(),
        }
    }

    /// The raw text of some tokens of a sentence, with what is between them.
    pub(super) fn words(&self, sentence: &SentenceView<'_>, tokens: Range<usize>) -> &str {
        let of = sentence.tokens.get(tokens).unwrap_or_default();
        let range = of.first().zip(of.last()).and_then(|(f, l)| TextRange::new(f.start(), l.end()));
        range.map_or("", |range| range.of(self.text))
    }
}

/// The documents that have a chosen sentence, each with its chosen sentences.
pub fn views<'c>(
    corpus: &'c Corpus,
    shown: Shown<'c>,
    chosen: impl Fn(&Sentence) -> bool + 'c,
) -> impl Iterator<Item = DocumentView<'c>> + 'c {
    corpus.documents().filter_map(move |document| {
        let sentences = of_document(corpus, document, shown, &chosen);
        let view = DocumentView { name: &document.name, text: &document.text, kept: &document.kept, sentences };
        (!view.sentences.is_empty()).then_some(view)
    })
}

fn of_document<'c>(
    corpus: &'c Corpus,
    document: &'c Document,
    shown: Shown<'c>,
    chosen: &impl Fn(&Sentence) -> bool,
) -> Vec<SentenceView<'c>> {
    let all: Vec<&Sentence> = document.sentences.iter().filter_map(|id| corpus.sentence(*id)).collect();
    debug_assert_eq!(all.len(), document.sentences.len(), "a corpus has the sentences of its documents");
    let places: Vec<_> = all.iter().map(|s| s.tokens()).collect();
    let view = |(at, sentence): (usize, &&'c Sentence)| {
        let sentence: &'c Sentence = sentence;
        let (text, gap) = pieces(&document.text, &places, at);
        SentenceView {
            number: at + 1,
            tokens: sentence.tokens(),
            text,
            gap,
            mentions: match shown {
                Shown::Gold => gold(corpus, sentence),
                Shown::Suggestions(all) => all.get(sentence.id()).map_or_else(Vec::new, |s| suggested(corpus, s)),
            },
            status: Some(sentence.status()),
            may_be_unread: false,
            split: Some(sentence.split()).filter(|split| *split != Split::Rest),
        }
    };
    all.iter().enumerate().filter(|(_, sentence)| chosen(sentence)).map(view).collect()
}

fn gold<'c>(corpus: &'c Corpus, sentence: &'c Sentence) -> Vec<MentionView<'c>> {
    let mentions = sentence.mentions().iter().filter_map(|mention| {
        let label = corpus.labels().get(mention.label);
        debug_assert!(label.is_some(), "a corpus has the labels of its mentions");
        Some(MentionView {
            fragments: mention.fragments.clone(),
            label: &label?.name,
            score: None,
            attributes: Some(&mention.attributes),
            note: &mention.note,
            source_id: mention.source_id.as_deref(),
        })
    });
    mentions.collect()
}

fn suggested<'c>(corpus: &'c Corpus, suggestions: &'c SentenceSuggestions) -> Vec<MentionView<'c>> {
    let mentions = suggestions.spans.iter().filter_map(|suggestion| {
        Some(MentionView {
            fragments: suggestion.span.into(),
            label: &corpus.labels().get(suggestion.label)?.name,
            score: Some(suggestion.score),
            attributes: None,
            note: "",
            source_id: None,
        })
    });
    mentions.collect()
}

/// The raw text of the sentence at `at` and what follows it before the next one.
///
/// The pieces of all sentences, put together, are the whole text.
pub(super) fn pieces<'t>(text: &'t str, sentences: &[&[TextRange]], at: usize) -> (&'t str, &'t str) {
    let first_token = |at: usize| sentences.get(at).and_then(|s| s.first()).map(|t| t.start().get());
    let start = if at == 0 { 0 } else { first_token(at).unwrap_or_default() };
    let end = sentences.get(at).and_then(|s| s.last()).map_or(start, |t| t.end().get());
    let next = first_token(at + 1).unwrap_or(text.len());
    (text.get(start..end).unwrap_or_default(), text.get(end..next).unwrap_or_default())
}
