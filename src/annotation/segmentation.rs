//! Splitting and joining tokens and sentences: the edits that do it, with the mentions moved along.
//!
//! ```text
//! split_token      Mr.Bean        ->  Mr. | Bean       mentions keep their words
//! join_tokens      Mr. | Bean     ->  Mr.Bean          only tokens that touch, and no mention may end between them
//! split_sentence   a b c d        ->  a b / c d        no mention may lie across
//! join_sentences   a b / c d      ->  a b c d          neighbours of one document
//! ```

use super::{
    Corpus, DocumentId, Edit, Fragments, LabelId, Mention, NewSentence, Sentence, SentenceId, Span, Split, Status,
};
use crate::text::{ByteIdx, TextRange};

/// Why tokens or sentences can't be split or joined there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    #[error("this sentence no longer exists; choose another one")]
    NoSentence,
    #[error("there is no such place in the sentence; choose another one")]
    NoPlace,
    #[error("white space lies between these words, so they can't be one; mark them as one mention instead")]
    Apart,
    #[error("the mention {words:?} ({label}) begins or ends between these words; change or remove it first")]
    MentionEnds { words: String, label: String },
    #[error("the mention {words:?} ({label}) lies on both sides; change or remove it first")]
    MentionAcross { words: String, label: String },
    #[error("there is no next sentence in this document")]
    NoNext,
    #[error("one of the sentences is kept for {}, the other one is not; they can't be joined", .0.id())]
    OtherSplit(Split),
}

/// Splits a token into two at a place inside it, in bytes of the document's text.
///
/// # Errors
/// No such token, or a place that is not inside it.
pub fn split_token(corpus: &Corpus, id: SentenceId, token: usize, at: ByteIdx) -> Result<Edit, SegmentError> {
    let sentence = corpus.sentence(id).ok_or(SegmentError::NoSentence)?;
    let whole = *sentence.tokens().get(token).ok_or(SegmentError::NoPlace)?;
    let is_boundary = corpus.document(sentence.document()).is_some_and(|d| d.text.is_char_boundary(at.get()));
    let parts = TextRange::new(whole.start(), at).zip(TextRange::new(at, whole.end())).filter(|_| is_boundary);
    let (left, right) = parts.ok_or(SegmentError::NoPlace)?;
    let mut new = sentence.content();
    new.tokens.splice(token..=token, [left, right]);
    // A span that holds the token holds both parts.
    new.move_spans(|start| start + usize::from(start > token), |end| end + usize::from(end > token));
    Ok(replace(sentence, vec![(id, new)]))
}

/// Joins the tokens of a span into one.
///
/// # Errors
/// Tokens that don't touch, a mention that begins or ends between them.
pub fn join_tokens(corpus: &Corpus, id: SentenceId, span: Span) -> Result<Edit, SegmentError> {
    let sentence = corpus.sentence(id).ok_or(SegmentError::NoSentence)?;
    let tokens = sentence.tokens().get(span.range()).filter(|t| t.len() > 1).ok_or(SegmentError::NoPlace)?;
    if tokens.windows(2).any(|pair| matches!(pair, [left, right] if left.end() != right.start())) {
        return Err(SegmentError::Apart);
    }
    let whole = tokens.first().zip(tokens.last()).and_then(|(f, l)| TextRange::new(f.start(), l.end()));
    let whole = whole.ok_or(SegmentError::NoPlace)?;
    let is_inside = |edge: usize| span.start().get() < edge && edge < span.end().get();
    let ends_inside = |s: Span| is_inside(s.start().get()) || is_inside(s.end().get());
    if let Some(mention) = sentence.mentions().iter().find(|m| m.fragments.iter().any(ends_inside)) {
        let (words, label) = said(corpus, sentence, mention);
        return Err(SegmentError::MentionEnds { words, label });
    }
    let mut new = sentence.content();
    new.rejected.retain(|(s, _)| !ends_inside(*s));
    new.tokens.splice(span.range(), [whole]);
    let gone = span.width_tokens() - 1;
    let moved = |edge: usize| if edge >= span.end().get() { edge - gone } else { edge };
    new.move_spans(moved, moved);
    Ok(replace(sentence, vec![(id, new)]))
}

/// Ends a sentence before a token; what follows becomes a sentence of its own, with the same status and split.
///
/// # Errors
/// No such token, the first one, or a mention that lies across.
pub fn split_sentence(corpus: &Corpus, id: SentenceId, before: usize) -> Result<Edit, SegmentError> {
    let sentence = corpus.sentence(id).ok_or(SegmentError::NoSentence)?;
    if before == 0 || before >= sentence.tokens().len() {
        return Err(SegmentError::NoPlace);
    }
    let lies_across = |s: Span| s.start().get() < before && before < s.end().get();
    if let Some(mention) = sentence.mentions().iter().find(|m| lies_across(m.hull())) {
        let (words, label) = said(corpus, sentence, mention);
        return Err(SegmentError::MentionAcross { words, label });
    }
    let mut left = sentence.content();
    left.rejected.retain(|(s, _)| !lies_across(*s));
    let mut right = NewSentence { status: left.status, split: left.split, ..NewSentence::default() };
    right.tokens = left.tokens.split_off(before);
    (left.mentions, right.mentions) = left.mentions.into_iter().partition(|m| m.hull().end().get() <= before);
    (left.rejected, right.rejected) = left.rejected.into_iter().partition(|(s, _)| s.end().get() <= before);
    right.move_spans(|start| start - before, |end| end - before);
    Ok(replace(sentence, vec![(id, left), (corpus.next_sentence_id(), right)]))
}

/// Joins a sentence with the next one of its document. The whole is complete only if both were.
///
/// # Errors
/// The last sentence of a document; two of different splits, which would let what is kept for scoring train.
pub fn join_sentences(corpus: &Corpus, id: SentenceId) -> Result<Edit, SegmentError> {
    let first = corpus.sentence(id).ok_or(SegmentError::NoSentence)?;
    let next = corpus.place(id).and_then(|place| corpus.sentence_at(place + 1));
    let second = next.filter(|next| next.document() == first.document()).ok_or(SegmentError::NoNext)?;
    if first.split() != second.split() {
        let kept = if first.split() == Split::Rest { second.split() } else { first.split() };
        return Err(SegmentError::OtherSplit(kept));
    }
    let (mut whole, mut rest) = (first.content(), second.content());
    let by = whole.tokens.len();
    rest.move_spans(|start| start + by, |end| end + by);
    whole.tokens.append(&mut rest.tokens);
    whole.mentions.append(&mut rest.mentions);
    whole.rejected.append(&mut rest.rejected);
    if whole.status != rest.status {
        whole.status = Status::InProgress;
    }
    let old = vec![(id, first.content()), (second.id(), second.content())];
    Ok(Edit::Resegment { document: first.document(), old, new: vec![(id, whole)] })
}

fn replace(sentence: &Sentence, new: Vec<(SentenceId, NewSentence)>) -> Edit {
    let document: DocumentId = sentence.document();
    Edit::Resegment { document, old: vec![(sentence.id(), sentence.content())], new }
}

/// The words of a mention and its label, for people.
fn said(corpus: &Corpus, sentence: &Sentence, mention: &Mention) -> (String, String) {
    let label = corpus.labels().get(mention.label).map_or_else(String::new, |l| l.name.clone());
    (corpus.span_text(sentence, mention.hull()).to_owned(), label)
}

impl NewSentence {
    /// Moves the edges of all spans; the order of edges stays.
    fn move_spans(&mut self, start: impl Fn(usize) -> usize, end: impl Fn(usize) -> usize) {
        let moved = |span: Span| Span::from_range(start(span.start().get())..end(span.end().get())).unwrap_or(span);
        for mention in &mut self.mentions {
            let fragments = Fragments::new(mention.fragments.iter().map(moved).collect());
            mention.fragments = fragments.unwrap_or_else(|_| mention.fragments.clone());
        }
        self.rejected = self.rejected.iter().map(|(span, label): &(Span, LabelId)| (moved(*span), *label)).collect();
    }
}
