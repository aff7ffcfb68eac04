//! What is remembered of the sentence on screen, to find its words when it is cut anew or gone.

use crate::annotation::{Corpus, DocumentId, Sentence, SentenceId, TokenIdx};
use crate::text::TextRange;

/// Enough of a sentence to tell that its words were cut anew, and to find them when it is gone.
#[derive(Default)]
pub(super) struct LastSeen {
    of: Option<SentenceId>,
    document: Option<DocumentId>,
    place: usize,
    tokens: Vec<TextRange>,
}

impl LastSeen {
    /// The words of the sentence that was seen are others now.
    pub(super) fn is_cut_anew(&self, sentence: &Sentence) -> bool {
        self.of == Some(sentence.id()) && self.tokens != sentence.tokens()
    }

    pub(super) fn see(&mut self, corpus: &Corpus, sentence: &Sentence) {
        self.place = corpus.place(sentence.id()).unwrap_or_default();
        if self.of != Some(sentence.id()) || self.tokens != sentence.tokens() {
            (self.of, self.document) = (Some(sentence.id()), Some(sentence.document()));
            self.tokens = sentence.tokens().to_vec();
        }
    }

    /// The sentence that has the first word now, else the one that came in its place, else the last of all.
    pub(super) fn successor<'c>(&self, corpus: &'c Corpus) -> Option<&'c Sentence> {
        let first = self.tokens.first()?.start();
        let document = self.document.and_then(|id| corpus.document(id)).filter(|document| document.is_there());
        let mut there = document.into_iter().flat_map(|d| &d.sentences).filter_map(|id| corpus.sentence(*id));
        let has_it = |s: &&Sentence| s.tokens().iter().any(|token| token.start() <= first && first < token.end());
        let neighbour = || corpus.sentence_at(self.place.min(corpus.sentence_count().saturating_sub(1)));
        there.find(has_it).or_else(neighbour)
    }

    /// The first word of what was seen, as another sentence counts; its own first one where it has none of them.
    pub(super) fn first_word_in(&self, sentence: &Sentence) -> TokenIdx {
        let first = self.tokens.first().filter(|_| self.document == Some(sentence.document()));
        let at = first.and_then(|first| sentence.tokens().iter().position(|token| first.start() < token.end()));
        TokenIdx::new(at.unwrap_or_default())
    }
}
