//! The annotation core as a whole: transactions are all or nothing, and undo leads back to the first state.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use expect_test::expect;
use nestling::annotation::*;
use nestling::text::{ByteIdx, SentenceSplit, Tokens, split_sentences};
use proptest::prelude::*;

const TEXT: &str =
    "The mayor of the city of Aarhus met Anna Berg. She chairs the Harbour Board.\nIt rained 💩 all day.";

fn corpus() -> Corpus {
    let mut corpus = Corpus::new(LabelSet::default(), MentionId(0), 0);
    for name in ["PER", "LOC"] {
        let (at, label) = (corpus.labels().len(), corpus.labels().propose(name));
        corpus.apply(Transaction::new("add a label", vec![Edit::InsertLabel { at, label }])).unwrap();
    }
    let sentences = split_sentences(TEXT, SentenceSplit::Prose, Tokens::Words);
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
    format!("{labels:#?}\n{:#?}\n{:#?}", corpus.documents().collect::<Vec<_>>(), corpus.sentences().collect::<Vec<_>>())
}

/// An edit that may or may not fit the state, made from random numbers.
fn edit(corpus: &Corpus, kind: u8, a: usize, b: usize, c: usize) -> Edit {
    let sentence = SentenceId((a % (corpus.sentence_count() + 1)) as u32);
    let label = LabelId((c % 4) as u32);
    let target = corpus.sentence(sentence);
    let some = target.and_then(|s| s.mentions().get(b % s.mentions().len().max(1))).cloned();
    let mention = || {
        let spans = vec![span(b % 12, b % 12 + 1 + c % 3)];
        let spans = if c.is_multiple_of(5) { vec![span(0, 1), span(3, 4 + b % 2)] } else { spans };
        Mention::new(corpus.next_mention_id(), Fragments::new(spans).unwrap(), label, Provenance::Person)
    };
    // An edit that the corpus refuses.
    let refused = Edit::SetSplit { sentence: SentenceId(9999), old: Split::Rest, new: Split::Dev };
    match (kind % 14, some) {
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
        (8, _) => {
            let token = target.and_then(|s| s.tokens().get(b % s.tokens().len())).map_or(0, |t| t.start().get());
            let at = target.map_or(0, |s| b % s.tokens().len());
            split_token(corpus, sentence, at, ByteIdx::new(token + 1 + c % 3)).unwrap_or(refused)
        }
        (9, _) => join_tokens(corpus, sentence, span(b % 9, b % 9 + 2)).unwrap_or(refused),
        (10, _) => split_sentence(corpus, sentence, b % 9).unwrap_or(refused),
        (11, _) => join_sentences(corpus, sentence).unwrap_or(refused),
        (12, _) => {
            let old = corpus.document(DocumentId(0)).unwrap().presence;
            let others = [Presence::There, Presence::Excluded, Presence::Removed].into_iter().filter(|new| *new != old);
            let new = others.cycle().nth(if old == Presence::There { c } else { 0 }).unwrap();
            Edit::SetPresence { documents: DocumentIds::from_iter([DocumentId(0)]), old, new }
        }
        _ => match corpus.labels().iter().nth(b % corpus.labels().len().max(1)).cloned() {
            Some(label) if c.is_multiple_of(2) => Edit::RemoveLabel { at: b % corpus.labels().len(), label },
            Some(old) => Edit::ReplaceLabel { new: Label { title: format!("title {c}"), ..old.clone() }, old },
            None => Edit::InsertLabel { at: 0, label: corpus.labels().propose("X") },
        },
    }
}

/// What a corpus counts edit by edit, counted anew.
fn assert_counted(corpus: &Corpus) {
    let presence = |sentence: &Sentence| corpus.document(sentence.document()).unwrap().presence;
    let of =
        |wanted: Presence| corpus.all_sentences().filter(move |s| presence(s) == wanted).flat_map(Sentence::mentions);
    for label in (0..12).map(LabelId) {
        let used = |wanted| of(wanted).filter(|mention| mention.label == label).count();
        let used = LabelUse { there: used(Presence::There), excluded: used(Presence::Excluded) };
        assert_eq!(corpus.use_of_label(label), used, "{label:?}");
    }
    for words in 0..14 {
        let wider = of(Presence::There).filter(|mention| mention.hull().width_tokens() > words).count();
        assert_eq!(corpus.mentions_wider_than(words), wider, "{words}");
    }
    for document in corpus.all_documents().values() {
        let sentences = || corpus.all_sentences().filter(|s| s.document() == document.id);
        let complete = sentences().filter(|s| s.status() == Status::Complete).count();
        let mentions = sentences().map(|s| s.mentions().len()).sum();
        assert_eq!(corpus.tally(document.id), DocumentTally { complete, mentions });
        assert_eq!(sentences().count(), document.sentences.len());
    }
}

#[test]
fn an_edit_copies_nothing_that_is_far_from_it() {
    let mut corpus = corpus();
    let text = "Anna left. ".repeat(1000);
    for name in ["a", "b"] {
        let sentences = split_sentences(&text, SentenceSplit::Prose, Tokens::Words);
        let sentences = sentences.into_iter().map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
        let text = text.as_str().into();
        corpus.add_document(NewDocument { name: name.into(), text, kept: Kept::new(), sentences }).unwrap();
    }
    assert!(corpus.sentence_count() > 2000);
    let held = corpus.clone();
    let is_shared =
        |corpus: &Corpus, id| std::ptr::eq(corpus.any_sentence(id).unwrap(), held.any_sentence(id).unwrap());
    let edited = SentenceId(700);
    let mention = Mention::new(corpus.next_mention_id(), span(0, 1), LabelId(0), Provenance::Person);
    let (old, new) = (Status::Untouched, Status::Complete);
    let edits = vec![Edit::AddMention { sentence: edited, mention }, Edit::SetStatus { sentence: edited, old, new }];
    corpus.apply(Transaction::new("edits", edits)).unwrap();
    // It moves the places of all behind it.
    let split = split_sentence(&corpus, edited, 1).unwrap();
    corpus.apply(Transaction::new("a split", vec![split])).unwrap();
    let copied = held.sentences().filter(|s| corpus.sentence(s.id()).is_some() && !is_shared(&corpus, s.id()));
    let copied: Vec<u32> = copied.map(|s| s.id().0).collect();
    // What is around the sentence, and around the one that came by the split, which has the last id.
    let last = corpus.next_sentence_id().0;
    let is_near = |id: &u32| id.abs_diff(edited.0) < 64 || id.abs_diff(last) < 64;
    assert!(copied.contains(&edited.0) && copied.iter().all(is_near), "{copied:?}");
    // What is held is as it was.
    assert_eq!(held.sentence(edited).map(|s| (s.status(), s.mentions().len())), Some((Status::Untouched, 0)));
    assert_eq!((held.sentence_count() + 1, held.revision() + 2), (corpus.sentence_count(), corpus.revision()));
    assert!(held.sentences().zip(0..).all(|(s, place)| held.place(s.id()) == Some(place)));
    assert!(corpus.sentences().zip(0..).all(|(s, place)| corpus.place(s.id()) == Some(place)));
    assert_counted(&held);
    assert_counted(&corpus);
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
            assert_counted(&corpus);
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
    assert_eq!(refused, Err(ApplyError::LabelInUse { label: "PER".into(), used: LabelUse { there: 1, excluded: 0 } }));
}

#[test]
fn texts_of_spans_are_raw() {
    let corpus = corpus();
    let sentence = corpus.sentence(SentenceId(0)).unwrap();
    assert_eq!(corpus.span_text(sentence, span(0, 7)), "The mayor of the city of Aarhus");
    assert_eq!(corpus.sentence_text(corpus.sentence(SentenceId(2)).unwrap()), "It rained 💩 all day.");
}

fn add(corpus: &mut Corpus, sentence: u32, span: Span, label: u32) {
    let mention = Mention::new(corpus.next_mention_id(), span, LabelId(label), Provenance::Person);
    let edit = Edit::AddMention { sentence: SentenceId(sentence), mention };
    corpus.apply(Transaction::new("add", vec![edit])).unwrap();
}

/// The sentences in text order with their words, and the words of each mention.
fn show(corpus: &Corpus) -> String {
    let mut lines = Vec::new();
    for sentence in corpus.sentences() {
        let words: Vec<_> = corpus.words(sentence).collect();
        let spans: Vec<_> = sentence.mentions().iter().flat_map(|m| m.fragments.iter()).collect();
        let mentions: Vec<_> = spans.into_iter().map(|s| format!("{s:?} {}", corpus.span_text(sentence, s))).collect();
        lines.push(format!("{} {}: {}", sentence.id().0, words.join("|"), mentions.join(", ")));
    }
    lines.join("\n")
}

#[test]
fn tokens_are_split_and_joined_with_their_mentions() {
    let mut corpus = corpus();
    add(&mut corpus, 0, span(8, 10), 0);
    add(&mut corpus, 0, span(6, 7), 1);
    let first = show(&corpus);
    let at = corpus.sentence(SentenceId(0)).unwrap().tokens()[6].start().get();
    let split = split_token(&corpus, SentenceId(0), 6, ByteIdx::new(at + 2)).unwrap();
    let inverse = corpus.apply(Transaction::new("split", vec![split])).unwrap();
    expect![[r#"
        0 The|mayor|of|the|city|of|Aa|rhus|met|Anna|Berg|.: 6..8 Aarhus, 9..11 Anna Berg
        1 She|chairs|the|Harbour|Board|.: 
        2 It|rained|💩|all|day|.: "#]]
    .assert_eq(&show(&corpus));
    let joined = join_tokens(&corpus, SentenceId(0), span(6, 8)).unwrap();
    let mut other = corpus.clone();
    other.apply(Transaction::new("join", vec![joined])).unwrap();
    assert_eq!(show(&other), first);
    corpus.apply(inverse).unwrap();
    assert_eq!(show(&corpus), first);

    let refusals = [
        split_token(&corpus, SentenceId(0), 6, ByteIdx::new(at)),
        split_token(&corpus, SentenceId(2), 2, ByteIdx::new(87)),
        join_tokens(&corpus, SentenceId(0), span(8, 10)),
        join_tokens(&corpus, SentenceId(0), span(9, 11)),
        join_tokens(&corpus, SentenceId(0), span(9, 10)),
        split_sentence(&corpus, SentenceId(0), 9),
        split_sentence(&corpus, SentenceId(0), 0),
        join_sentences(&corpus, SentenceId(2)),
        join_sentences(&corpus, SentenceId(7)),
    ];
    let refusals: Vec<_> = refusals.into_iter().map(|r| r.unwrap_err().to_string()).collect();
    expect![[r#"
        there is no such place in the sentence; choose another one
        there is no such place in the sentence; choose another one
        white space lies between these words, so they can't be one; mark them as one mention instead
        the mention "Anna Berg" (PER) begins or ends between these words; change or remove it first
        there is no such place in the sentence; choose another one
        the mention "Anna Berg" (PER) lies on both sides; change or remove it first
        there is no such place in the sentence; choose another one
        there is no next sentence in this document
        this sentence no longer exists; choose another one"#]]
    .assert_eq(&refusals.join("\n"));
}

#[test]
fn sentences_are_split_and_joined_and_ids_are_not_used_again() {
    let mut corpus = corpus();
    add(&mut corpus, 0, span(8, 10), 0);
    add(&mut corpus, 1, span(3, 5), 1);
    let first = show(&corpus);
    let split = Transaction::new("split", vec![split_sentence(&corpus, SentenceId(0), 7).unwrap()]);
    let unsplit = corpus.apply(split).unwrap();
    expect![[r#"
        0 The|mayor|of|the|city|of|Aarhus: 
        3 met|Anna|Berg|.: 1..3 Anna Berg
        1 She|chairs|the|Harbour|Board|.: 3..5 Harbour Board
        2 It|rained|💩|all|day|.: "#]]
    .assert_eq(&show(&corpus));
    let joined = Transaction::new("join", vec![join_sentences(&corpus, SentenceId(3)).unwrap()]);
    let unjoin = corpus.apply(joined).unwrap();
    expect![[r#"
        0 The|mayor|of|the|city|of|Aarhus: 
        3 met|Anna|Berg|.|She|chairs|the|Harbour|Board|.: 1..3 Anna Berg, 7..9 Harbour Board
        2 It|rained|💩|all|day|.: "#]]
    .assert_eq(&show(&corpus));
    assert_eq!(
        (corpus.place(SentenceId(3)), corpus.place(SentenceId(1)), corpus.place(SentenceId(2))),
        (Some(1), None, Some(2))
    );
    corpus.apply(unjoin).unwrap();
    corpus.apply(unsplit).unwrap();
    assert_eq!(show(&corpus), first);
    let again = split_sentence(&corpus, SentenceId(2), 2).unwrap();
    corpus.apply(Transaction::new("split", vec![again])).unwrap();
    assert_eq!(corpus.sentences().last().unwrap().id(), SentenceId(4), "3 is not given again");

    let complete = Edit::SetStatus { sentence: SentenceId(0), old: Status::Untouched, new: Status::Complete };
    let dev = Edit::SetSplit { sentence: SentenceId(1), old: Split::Rest, new: Split::Dev };
    corpus.apply(Transaction::new("", vec![complete])).unwrap();
    let joined = join_sentences(&corpus, SentenceId(0)).unwrap();
    let mut other = corpus.clone();
    other.apply(Transaction::new("", vec![joined])).unwrap();
    assert_eq!(other.sentence(SentenceId(0)).unwrap().status(), Status::InProgress, "only half of it is complete");
    corpus.apply(Transaction::new("", vec![dev])).unwrap();
    assert_eq!(join_sentences(&corpus, SentenceId(0)), Err(SegmentError::OtherSplit(Split::Dev)));
}

#[test]
fn a_removed_document_comes_back_with_all_that_was_in_it() {
    let mut corpus = corpus();
    add(&mut corpus, 1, span(3, 5), 1);
    let first = show(&corpus);
    let label = corpus.labels().get(LabelId(1)).unwrap().clone();
    let remove = Transaction::new(
        "remove",
        vec![presence(Presence::There, Presence::Removed), Edit::RemoveLabel { at: 1, label }],
    );
    let back = corpus.apply(remove).unwrap();
    assert_eq!((show(&corpus).as_str(), corpus.sentence(SentenceId(1)), corpus.documents().count()), ("", None, 0));
    for new in [Presence::There, Presence::Excluded] {
        let without_its_label = Transaction::new("back", vec![presence(Presence::Removed, new)]);
        assert_eq!(corpus.apply(without_its_label), Err(ApplyError::NoLabel(LabelId(1))));
    }
    corpus.apply(back).unwrap();
    assert_eq!(show(&corpus), first);
}

#[test]
fn an_excluded_document_is_out_of_the_corpus_and_can_always_come_back() {
    let mut corpus = corpus();
    add(&mut corpus, 1, span(3, 5), 1);
    let first = show(&corpus);
    let label = corpus.labels().get(LabelId(1)).unwrap().clone();
    let exclude = Transaction::new("exclude", vec![presence(Presence::There, Presence::Excluded)]);
    corpus.apply(exclude.clone()).unwrap();
    assert_eq!((show(&corpus).as_str(), corpus.sentence_count(), corpus.place(SentenceId(1))), ("", 0, None));
    let mention = Mention::new(corpus.next_mention_id(), span(0, 1), LabelId(0), Provenance::Person);
    let edit = Edit::AddMention { sentence: SentenceId(1), mention };
    assert_eq!(corpus.apply(Transaction::new("", vec![edit])), Err(ApplyError::NoSentence(SentenceId(1))));
    assert!(corpus.apply(exclude.clone()).is_err(), "it is excluded already");

    // What it needs to come back can't go.
    let remove_label = Transaction::new("", vec![Edit::RemoveLabel { at: 1, label }]);
    let refused = corpus.apply(remove_label.clone()).unwrap_err().to_string();
    expect![[r#"the label "LOC" is used by 1 mention in excluded documents; change or remove them first"#]]
        .assert_eq(&refused);
    corpus.apply(Transaction::new("include", vec![presence(Presence::Excluded, Presence::There)])).unwrap();
    assert_eq!(show(&corpus), first);

    // A deleted one was excluded, and is so again.
    corpus.apply(exclude).unwrap();
    let delete = Transaction::new("delete", vec![presence(Presence::Excluded, Presence::Removed)]);
    let back = corpus.apply(delete).unwrap();
    let label_back = corpus.apply(remove_label).unwrap();
    corpus.apply(label_back).unwrap();
    corpus.apply(back).unwrap();
    assert_eq!(corpus.document(DocumentId(0)).unwrap().presence, Presence::Excluded);
}

fn presence(old: Presence, new: Presence) -> Edit {
    Edit::SetPresence { documents: DocumentIds::from_iter([DocumentId(0)]), old, new }
}

#[test]
fn what_is_typed_piece_by_piece_is_one_step() {
    let mut corpus = corpus();
    let id = corpus.sentences().next().unwrap().id();
    let mention =
        Mention::new(corpus.next_mention_id(), Span::from_range(0..1).unwrap(), LabelId(0), Provenance::Person);
    let mut history = History::default();
    let mut take = |transaction: Transaction, step| {
        let inverse = corpus.apply(transaction).unwrap();
        history.record(step, inverse);
        (history.next_undo().cloned(), history.done().count())
    };
    take(Transaction::new("Add", vec![Edit::AddMention { sentence: id, mention: mention.clone() }]), Step::Do);
    let says = |note: &str| Mention { note: note.to_owned(), ..mention.clone() };
    let write = |old: &str, new: &str| vec![Edit::ReplaceMention { sentence: id, old: says(old), new: says(new) }];
    take(Transaction::new("Edit a note", write("", "a")), Step::Do);
    take(Transaction::going_on("Edit a note", write("a", "ab")), Step::Do);
    let (undo, steps) = take(Transaction::going_on("Edit a note", write("ab", "abc")), Step::Do);
    let undo = undo.unwrap();
    assert_eq!((steps, &*undo.intent, &undo.edits), (2, "Edit a note", &write("abc", "")));
    take(undo, Step::Undo);

    // Where there is nothing to go on with, it is a step of its own.
    let (undo, steps) = take(Transaction::going_on("Edit a note", write("", "x")), Step::Do);
    assert_eq!((steps, undo.unwrap().intent), (2, "Edit a note".to_owned()));
}
