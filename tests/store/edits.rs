//! Any edits, undone and redone, with the file closed between: the file follows the corpus.

use super::*;
use nestling::text::ByteIdx;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_file_follows_any_edits_and_goes_back_and_forth_with_the_history(
        ops in prop::collection::vec(prop::collection::vec((0_u8..20, any::<usize>(), any::<usize>(), any::<usize>()), 1..4), 0..40),
    ) {
        let mut project = Project::new();
        // What the file held after each step that can be undone; the last one is what it holds.
        let (mut states, mut undone) = (vec![project.dump()], Vec::new());
        for op in &ops {
            match op[0] {
                (9, ..) if states.len() > 1 => {
                    prop_assert!(project.undo());
                    undone.extend(states.pop());
                    prop_assert_eq!(&project.dump(), states.last().unwrap());
                }
                (10, ..) if !undone.is_empty() => {
                    prop_assert!(project.redo());
                    states.extend(undone.pop());
                    prop_assert_eq!(&project.dump(), states.last().unwrap());
                }
                (11, ..) => project = project.open_again(),
                (9 | 10, ..) => {}
                _ if project.try_edit(op) => {
                    undone.clear();
                    states.push(project.dump());
                }
                _ => {}
            }
        }
        project = project.open_again();
        let last = project.dump();
        for state in states.iter().rev().skip(1) {
            prop_assert!(project.undo());
            prop_assert_eq!(&project.dump(), state);
        }
        // The import that all began with can be undone, too.
        prop_assert!(project.undo() && !project.undo());
        prop_assert_eq!(project.corpus.sentence_count(), 0);
        project = project.open_again();
        for state in &states {
            prop_assert!(project.redo());
            prop_assert_eq!(&project.dump(), state);
        }
        prop_assert_eq!(project.dump(), last);
    }
}

impl Project {
    /// All that the file holds, but for the log.
    fn dump(&self) -> String {
        self.writer.flush().unwrap();
        dump(&self.path)
    }

    fn open_again(self) -> Self {
        let want = self.corpus.clone();
        let (mut contents, path, dir) = self.reopen();
        assert_same(&contents.corpus, &want);
        Self::open(path, dir, &mut contents)
    }

    /// Edits that may not fit the state are tried on a copy first.
    fn try_edit(&mut self, op: &[(u8, usize, usize, usize)]) -> bool {
        let mut trial = self.corpus.clone();
        let mut edits = Vec::new();
        for &(kind, a, b, c) in op {
            let edit = edit(&trial, kind, a, b, c);
            if trial.apply(Transaction::new("", vec![edit.clone()])).is_ok() {
                edits.push(edit);
            }
        }
        let fits = !edits.is_empty();
        if fits {
            self.send(Step::Do, Transaction::new("Some edits", edits));
        }
        fits
    }
}

/// An edit that may or may not fit the state, made from random numbers.
fn edit(corpus: &Corpus, kind: u8, a: usize, b: usize, c: usize) -> Edit {
    let Some(target) = corpus.sentence_at(a % corpus.sentence_count().max(1)) else {
        // No document is there.
        let document = DocumentId((b % corpus.all_documents().len()) as u32);
        let old = corpus.document(document).unwrap().presence;
        return Edit::SetPresence { documents: DocumentIds::from_iter([document]), old, new: Presence::There };
    };
    let sentence = target.id();
    let label = LabelId((c % 5) as u32);
    let some = target.mentions().get(b % target.mentions().len().max(1)).cloned();
    let mention = |id| {
        let (start, width) = (b % 10, 1 + c % 4);
        let fragments = match c % 3 {
            0 => Fragments::new(vec![span(0, 1), span(2, 3 + b % 2), span(5, 6)]).unwrap(),
            _ => span(start, start + width).into(),
        };
        let provenance =
            [Provenance::Person, Provenance::Import, Provenance::Rule, Provenance::Accepted(ModelId(c as u32 % 1000))];
        let mut mention = Mention::new(id, fragments, label, provenance[b % 4].clone());
        if c.is_multiple_of(2) {
            mention.attributes =
                Attributes::from([("kind \"x\"".into(), format!("värde {b}")), (String::new(), "".into())]);
            mention.note = "a note\nof two lines 💩".into();
        }
        mention
    };
    // An edit that the corpus refuses.
    let refused = Edit::SetStatus { sentence: SentenceId(9999), old: Status::Untouched, new: Status::Skipped };
    match (kind, some) {
        (1, Some(mention)) => Edit::RemoveMention { sentence, mention },
        (2, Some(old)) => Edit::ReplaceMention { sentence, new: mention(old.id), old },
        (3, _) => {
            let new = [Status::Untouched, Status::InProgress, Status::Complete, Status::Skipped, Status::Flagged];
            Edit::SetStatus { sentence, old: target.status(), new: new[b % 5] }
        }
        (4, _) => {
            let new = [Split::Rest, Split::Dev, Split::Test, Split::Blind];
            Edit::SetSplit { sentence, old: target.split(), new: new[b % 4] }
        }
        (5, _) => {
            let span = span(b % 6, b % 6 + 1);
            Edit::SetRejected { sentence, span, label, new: !target.rejected().contains(&(span, label)) }
        }
        (6, _) => Edit::InsertLabel { at: b % 4, label: corpus.labels().propose(&format!("L'{}", c % 9)) },
        (7, _) if !corpus.labels().is_empty() => {
            let at = b % corpus.labels().len();
            Edit::RemoveLabel { at, label: corpus.labels().iter().nth(at).unwrap().clone() }
        }
        (8, _) if !corpus.labels().is_empty() => {
            let old = corpus.labels().iter().nth(b % corpus.labels().len()).unwrap().clone();
            let new = Label {
                name: format!("N{}", c % 4),
                title: "A title".into(),
                color: Rgb(1, 2, c as u8),
                ..old.clone()
            };
            Edit::ReplaceLabel { old, new: Label { key: new.key.filter(|_| b.is_multiple_of(2)), ..new } }
        }
        (12, _) => {
            let token = target.tokens()[b % target.tokens().len()];
            let at = ByteIdx::new(token.start().get() + 1 + c % 3);
            split_token(corpus, sentence, b % target.tokens().len(), at).unwrap_or(refused)
        }
        (13, _) => join_tokens(corpus, sentence, span(b % 8, b % 8 + 2)).unwrap_or(refused),
        (14, _) => split_sentence(corpus, sentence, b % 8).unwrap_or(refused),
        (15, _) => join_sentences(corpus, sentence).unwrap_or(refused),
        (16..=18, _) => {
            let document = corpus.all_documents().values().nth(b % corpus.all_documents().len()).unwrap();
            let new = [Presence::There, Presence::Excluded, Presence::Removed][c % 3];
            Edit::SetPresence { documents: DocumentIds::from_iter([document.id]), old: document.presence, new }
        }
        _ => Edit::AddMention { sentence, mention: mention(corpus.next_mention_id()) },
    }
}
