//! What is counted of a corpus, kept up to date edit by edit.

use super::{ById, DocumentId, LabelId, LabelUse, Presence, Sentence, Status};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Numbers below this are counted in a table.
const SMALL: usize = 256;

/// What the sentences of a document hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DocumentTally {
    /// Complete sentences.
    pub complete: usize,
    pub mentions: usize,
}

/// Counts of documents and of labels. A copy shares what is the same in both.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    documents: ById<DocumentId, DocumentTally>,
    /// Not of removed documents.
    labels: Arc<HashMap<LabelId, LabelUse>>,
    /// Mentions by their number of words, gaps included; of documents that are there.
    widths: Arc<BTreeMap<usize, usize>>,
}

impl Tallies {
    pub(super) fn document(&self, id: DocumentId) -> DocumentTally {
        self.documents.get(id).copied().unwrap_or_default()
    }

    pub(super) fn use_of_label(&self, label: LabelId) -> LabelUse {
        self.labels.get(&label).copied().unwrap_or_default()
    }

    pub(super) fn wider_than(&self, words: usize) -> usize {
        self.widths.range(words.saturating_add(1)..).map(|(_, count)| count).sum()
    }

    /// Counts a sentence of a document that is there, or is not.
    pub(super) fn add(&mut self, sentence: &Sentence, presence: Presence) {
        let DocumentTally { complete, mentions } = self.document(sentence.document());
        self.documents.put(
            sentence.document(),
            DocumentTally { complete: complete + is_complete(sentence), mentions: mentions + sentence.mentions.len() },
        );
        self.count_mentions(sentence, presence, |count| *count += 1);
    }

    /// Takes a sentence out of the counts, as it was when it came in.
    pub(super) fn subtract(&mut self, sentence: &Sentence, presence: Presence) {
        let DocumentTally { complete, mentions } = self.document(sentence.document());
        self.documents.put(
            sentence.document(),
            DocumentTally {
                complete: complete.saturating_sub(is_complete(sentence)),
                mentions: mentions.saturating_sub(sentence.mentions.len()),
            },
        );
        self.count_mentions(sentence, presence, |count| *count = count.saturating_sub(1));
    }

    /// After the presence of the documents that hold these mentions has changed.
    pub(super) fn shift(&mut self, mentions: &MentionTally, old: Presence, new: Presence) {
        if mentions.labels.is_empty() {
            return;
        }
        let (labels, widths) = (Arc::make_mut(&mut self.labels), Arc::make_mut(&mut self.widths));
        for (label, moved) in &mentions.labels {
            let used = labels.entry(*label).or_default();
            count_of(used, old).into_iter().for_each(|count| *count = count.saturating_sub(*moved));
            count_of(used, new).into_iter().for_each(|count| *count += moved);
        }
        for (width, moved) in &mentions.widths {
            let count = widths.entry(*width).or_default();
            *count = if old == Presence::There { count.saturating_sub(*moved) } else { *count };
            *count += if new == Presence::There { *moved } else { 0 };
        }
    }

    fn count_mentions(&mut self, sentence: &Sentence, presence: Presence, change: impl Fn(&mut usize)) {
        if sentence.mentions.is_empty() {
            return;
        }
        let (labels, widths) = (Arc::make_mut(&mut self.labels), Arc::make_mut(&mut self.widths));
        for mention in &sentence.mentions {
            count_of(labels.entry(mention.label).or_default(), presence).into_iter().for_each(&change);
            if presence == Presence::There {
                change(widths.entry(mention.hull().width_tokens()).or_default());
            }
        }
    }
}

/// Mentions of some sentences, counted.
#[derive(Default)]
pub(super) struct MentionTally {
    labels: BTreeMap<LabelId, usize>,
    widths: BTreeMap<usize, usize>,
}

impl MentionTally {
    pub(super) fn of<'s>(sentences: impl Iterator<Item = &'s Sentence>) -> Self {
        let mut tally = Self::default();
        // Of labels and widths nearly all are small numbers, and there are hundreds of thousands of mentions.
        let (mut labels, mut widths) = ([0; SMALL], [0; SMALL]);
        for mention in sentences.flat_map(|sentence| &sentence.mentions) {
            match labels.get_mut(mention.label.0 as usize) {
                Some(count) => *count += 1,
                None => *tally.labels.entry(mention.label).or_default() += 1,
            }
            let width = mention.hull().width_tokens();
            match widths.get_mut(width) {
                Some(count) => *count += 1,
                None => *tally.widths.entry(width).or_default() += 1,
            }
        }
        tally.labels.extend((0..).map(LabelId).zip(labels).filter(|(_, count)| *count > 0));
        tally.widths.extend((0..).zip(widths).filter(|(_, count)| *count > 0));
        tally
    }

    /// Each once.
    pub(super) fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.labels.keys().copied()
    }
}

/// Where mentions of such a document are counted; nowhere those of a removed one.
fn count_of(used: &mut LabelUse, presence: Presence) -> Option<&mut usize> {
    match presence {
        Presence::There => Some(&mut used.there),
        Presence::Excluded => Some(&mut used.excluded),
        Presence::Removed => None,
    }
}

fn is_complete(sentence: &Sentence) -> usize {
    usize::from(sentence.status == Status::Complete)
}
