//! Where sentences stand in the text: document by document, in the order of their ids.
//!
//! ```text
//! documents      0 (3 sentences)   1 (excluded)   2 (2 sentences)
//! counted        3                 0              2
//! sentence       a b c             d e            f g
//! in document    0 1 2             0 1            0 1
//! in the text    0 1 2             -              3 4
//! ```
//!
//! A sentence's place is that in its document, behind all sentences of the documents before it that are there. These are
//! summed up in a binary indexed tree (Fenwick 1994): a document goes or comes in as many steps as the number of documents
//! has bits, whatever the number of sentences.

use super::{ById, DocumentId, SentenceId};
use std::sync::Arc;

/// The order of the text. A copy shares what is the same in both.
#[derive(Clone, Debug, Default)]
pub(super) struct TextOrder {
    /// Where each sentence stands in its document, also in those that are not there.
    in_document: ById<SentenceId, u32>,
    /// How many sentences each document has in the text: 0 where it is not there.
    counted: Arc<Vec<u32>>,
    /// Node `n`, counted from 1, has the sum of the `n & -n` documents up to number `n - 1`.
    sums: Arc<Vec<u32>>,
    total: usize,
}

impl TextOrder {
    /// Sentences of all documents that are there.
    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// Where a sentence stands in its document.
    pub(super) fn in_document(&self, id: SentenceId) -> Option<usize> {
        self.in_document.get(id).map(|at| *at as usize)
    }

    /// Where a sentence of a document that is there stands in the text.
    pub(super) fn place(&self, document: DocumentId, id: SentenceId) -> Option<usize> {
        Some(self.before(document) + self.in_document(id)?)
    }

    /// The document that has a place in the text, and which of its sentences it is.
    pub(super) fn at(&self, place: usize) -> Option<(DocumentId, usize)> {
        if place >= self.total {
            return None;
        }
        // Goes down the tree: `document` have fewer sentences than `place` before it.
        let (mut document, mut left) = (0, place);
        let mut step = self.sums.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if let Some(sum) = self.sums.get(document + step - 1).map(|sum| *sum as usize).filter(|sum| *sum <= left) {
                document += step;
                left -= sum;
            }
            step /= 2;
        }
        Some((DocumentId(u32::try_from(document).ok()?), left))
    }

    /// Takes in a new document, the next one; `is_there` where its sentences are in the text.
    pub(super) fn push(&mut self, sentences: &[SentenceId], is_there: bool) {
        self.number(sentences, 0);
        let (counted, node) = (if is_there { sentences.len() as u32 } else { 0 }, self.counted.len() + 1);
        // The nodes that this one sums up are there.
        let (mut sum, mut below) = (counted, node - 1);
        while below > node - lowest_bit(node) {
            sum += self.sums.get(below - 1).copied().unwrap_or(0);
            below -= lowest_bit(below);
        }
        Arc::make_mut(&mut self.counted).push(counted);
        Arc::make_mut(&mut self.sums).push(sum);
        self.total += counted as usize;
    }

    /// After a document has so many sentences in the text: 0 where it is not there.
    pub(super) fn count(&mut self, document: DocumentId, sentences: usize) {
        let (at, sentences) = (document.0 as usize, sentences as u32);
        let Some(counted) = Arc::make_mut(&mut self.counted).get_mut(at) else { return };
        let before = std::mem::replace(counted, sentences);
        self.total = self.total + sentences as usize - before as usize;
        let sums = Arc::make_mut(&mut self.sums);
        let mut node = at + 1;
        while let Some(sum) = sums.get_mut(node - 1) {
            *sum = *sum + sentences - before;
            node += lowest_bit(node);
        }
    }

    /// Forgets sentences that are no longer in a document.
    pub(super) fn forget(&mut self, sentences: impl Iterator<Item = SentenceId>) {
        for id in sentences {
            self.in_document.remove(id);
        }
    }

    /// Numbers sentences of a document, from this one on.
    pub(super) fn number(&mut self, sentences: &[SentenceId], from: usize) {
        for (id, at) in sentences.iter().zip(0_u32..).skip(from) {
            self.in_document.put(*id, at);
        }
    }

    /// Sentences in the text before a document.
    fn before(&self, document: DocumentId) -> usize {
        let (mut sum, mut node) = (0, document.0 as usize);
        while node > 0 {
            sum += self.sums.get(node - 1).map_or(0, |sum| *sum as usize);
            node -= lowest_bit(node);
        }
        sum
    }
}

fn lowest_bit(node: usize) -> usize {
    node & node.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Documents of these numbers of sentences, and whether each is there.
    fn check(documents: &[(usize, bool)], changes: &[(usize, bool)]) {
        let (mut order, mut next) = (TextOrder::default(), 0);
        let mut all: Vec<(Vec<SentenceId>, bool)> = Vec::new();
        for (count, is_there) in documents {
            let ids: Vec<SentenceId> = (next..).map(SentenceId).take(*count).collect();
            next += *count as u32;
            order.push(&ids, *is_there);
            all.push((ids, *is_there));
        }
        let count = all.len().max(1);
        let changes = changes.iter().map(|(at, is_there)| (at % count, *is_there));
        for (at, is_there) in std::iter::once((usize::MAX, true)).chain(changes) {
            if let Some((ids, was)) = all.get_mut(at) {
                order.count(DocumentId(at as u32), if is_there { ids.len() } else { 0 });
                *was = is_there;
            }
            let there = all.iter().zip(0..).filter(|((_, is_there), _)| *is_there);
            let text: Vec<(DocumentId, usize, SentenceId)> = there
                .flat_map(|((ids, _), document)| {
                    ids.iter().zip(0..).map(move |(id, at)| (DocumentId(document), at, *id))
                })
                .collect();
            assert_eq!(order.len(), text.len());
            for (place, (document, at, id)) in text.iter().enumerate() {
                assert_eq!(order.place(*document, *id), Some(place));
                assert_eq!(order.at(place), Some((*document, *at)));
            }
            assert_eq!(order.at(text.len()), None);
        }
    }

    #[test]
    fn nothing_has_no_places() {
        check(&[], &[]);
        check(&[(0, true), (0, true), (2, true), (0, false)], &[(2, false), (2, true)]);
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_documents_that_are_there(
            documents in prop::collection::vec((0_usize..5, any::<bool>()), 1..20),
            changes in prop::collection::vec((0_usize..20, any::<bool>()), 0..12),
        ) {
            check(&documents, &changes);
        }
    }
}
