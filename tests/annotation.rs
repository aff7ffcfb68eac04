//! The annotation core as a whole: transactions are all or nothing, and undo leads back to the first state.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use nestling::annotation::*;
use nestling::text::{SentenceSplit, split_sentences};
use proptest::prelude::*;

const TEXT: &str =
    "The mayor of the city of Aarhus met Anna Berg. She chairs the Harbour Board.\nIt rained 💩 all day.";

fn corpus() -> Corpus {
    let mut corpus = Corpus::new(LabelSet::default(), MentionId(0), 0);
    for name in ["PER", "LOC"] {
        let (at, label) = (corpus.labels().len(), corpus.labels().propose(name));
        corpus.apply(Transaction::new("add a label", vec![Edit::InsertLabel { at, label }])).unwrap();
    }
    let sentences = split_sentences(TEXT, SentenceSplit::Prose);
    let sentences = sentences.into_iter().map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    corpus.add_document(NewDocument { name: "d".into(), text: TEXT.into(), kept: Kept::new(), sentences }).unwrap();
    corpus
}

fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

/// All that a person can see of a corpus; its counters are left out.
fn visible(corpus: &Corpus) -> String {
    let labels: Vec<_> = corpus.labels().iter().collect();
    format!("{labels:#?}\n{:#?}\n{:#?}", corpus.documents(), corpus.sentences())
}

/// An edit that may or may not fit the state, made from random numbers.
fn edit(corpus: &Corpus, kind: u8, a: usize, b: usize, c: usize) -> Edit {
    let sentence = SentenceId((a % (corpus.sentences().len() + 1)) as u32);
    let label = LabelId((c % 4) as u32);
    let target = corpus.sentence(sentence);
    let some = target.and_then(|s| s.mentions().get(b % s.mentions().len().max(1))).cloned();
    let mention = || {
        let spans = vec![span(b % 12, b % 12 + 1 + c % 3)];
        let spans = if c.is_multiple_of(5) { vec![span(0, 1), span(3, 4 + b % 2)] } else { spans };
        Mention::new(corpus.next_mention_id(), Fragments::new(spans).unwrap(), label, Provenance::Person)
    };
    match (kind % 9, some) {
        (0 | 1, _) | (2 | 3, None) => Edit::AddMention { sentence, mention: mention() },
        (2, Some(mention)) => Edit::RemoveMention { sentence, mention },
        (3, Some(old)) => {
            let new = Mention { id: old.id, note: format!("note {b}"), ..mention() };
            Edit::ReplaceMention { sentence, old, new }
        }
        (4, _) => {
            let old = target.map(Sentence::status).unwrap_or_default();
            Edit::SetStatus { sentence, old, new: [Status::Complete, Status::Flagged, Status::Skipped][b % 3] }
        }
        (5, _) => {
            let old = target.map(Sentence::split).unwrap_or_default();
            Edit::SetSplit { sentence, old, new: [Split::Dev, Split::Test, Split::Blind][b % 3] }
        }
        (6, _) => Edit::SetRejected { sentence, span: span(b % 12, b % 12 + 1), label, new: c.is_multiple_of(2) },
        (7, _) => Edit::InsertLabel { at: b % 3, label: corpus.labels().propose(&format!("L{}", c % 5)) },
        _ => match corpus.labels().iter().nth(b % corpus.labels().len().max(1)).cloned() {
            Some(label) if c.is_multiple_of(2) => Edit::RemoveLabel { at: b % corpus.labels().len(), label },
            Some(old) => Edit::ReplaceLabel { new: Label { title: format!("title {c}"), ..old.clone() }, old },
            None => Edit::InsertLabel { at: 0, label: corpus.labels().propose("X") },
        },
    }
}

proptest! {
    #[test]
    fn random_edits_undone_give_the_first_state_and_redone_the_last(
        steps in prop::collection::vec(prop::collection::vec((any::<u8>(), 0usize..40, 0usize..40, 0usize..40), 1..4), 1..40),
    ) {
        let mut corpus = corpus();
        let first = visible(&corpus);
        let mut history = History::default();
        let mut states = vec![first.clone()];
        for step in steps {
            let edits = step.into_iter().map(|(kind, a, b, c)| edit(&corpus, kind, a, b, c)).collect();
            let before = visible(&corpus);
            match corpus.apply(Transaction::new("random", edits)) {
                Ok(inverse) => {
                    history.record(Step::Do, inverse);
                    states.push(visible(&corpus));
                }
                Err(_) => prop_assert_eq!(visible(&corpus), before, "a refused transaction changed something"),
            }
        }
        for state in states.iter().rev().skip(1) {
            let undo = history.next_undo().unwrap().clone();
            let inverse = corpus.apply(undo).unwrap();
            history.record(Step::Undo, inverse);
            prop_assert_eq!(&visible(&corpus), state);
        }
        prop_assert!(history.next_undo().is_none());
        for state in states.iter().skip(1) {
            let redo = history.next_redo().unwrap().clone();
            let inverse = corpus.apply(redo).unwrap();
            history.record(Step::Redo, inverse);
            prop_assert_eq!(&visible(&corpus), state);
        }
    }
}

#[test]
fn a_transaction_that_fails_half_way_changes_nothing() {
    let mut corpus = corpus();
    let (sentence, label) = (SentenceId(0), LabelId(0));
    let good = Mention::new(corpus.next_mention_id(), span(0, 2), label, Provenance::Person);
    let outside = Mention::new(MentionId(9), span(10, 40), label, Provenance::Person);
    let before = visible(&corpus);
    let edits = vec![Edit::AddMention { sentence, mention: good }, Edit::AddMention { sentence, mention: outside }];
    let error = corpus.apply(Transaction::new("two mentions", edits)).unwrap_err();
    assert_eq!(error, ApplyError::OutsideSentence { span: span(10, 40), tokens: 11 });
    assert_eq!(visible(&corpus), before);
}

#[test]
fn the_same_words_take_a_label_once_and_two_labels() {
    let mut corpus = corpus();
    let add = |corpus: &Corpus, label| {
        let mention = Mention::new(corpus.next_mention_id(), span(0, 2), label, Provenance::Person);
        Transaction::new("add", vec![Edit::AddMention { sentence: SentenceId(0), mention }])
    };
    corpus.apply(add(&corpus, LabelId(0))).unwrap();
    corpus.apply(add(&corpus, LabelId(1))).unwrap();
    assert_eq!(corpus.apply(add(&corpus, LabelId(0))), Err(ApplyError::SameMentionThere));
}

#[test]
fn a_label_in_use_stays() {
    let mut corpus = corpus();
    let mention = Mention::new(corpus.next_mention_id(), span(0, 2), LabelId(0), Provenance::Person);
    corpus.apply(Transaction::new("add", vec![Edit::AddMention { sentence: SentenceId(0), mention }])).unwrap();
    let label = corpus.labels().get(LabelId(0)).unwrap().clone();
    let refused = corpus.apply(Transaction::new("remove", vec![Edit::RemoveLabel { at: 0, label }]));
    assert_eq!(refused, Err(ApplyError::LabelInUse { label: "PER".into(), mentions: 1 }));
}

#[test]
fn texts_of_spans_are_raw() {
    let corpus = corpus();
    let sentence = corpus.sentence(SentenceId(0)).unwrap();
    assert_eq!(corpus.span_text(sentence, span(0, 7)), "The mayor of the city of Aarhus");
    assert_eq!(corpus.sentence_text(corpus.sentence(SentenceId(2)).unwrap()), "It rained 💩 all day.");
}
