//! What is found of a project's models when it is opened: whose their files are, and what they can't have said.

use super::model_folder::{self, Files, Owner, look};
use super::strange::Strange;
use crate::annotation::{Corpus, LabelId, ModelId, SentenceId, SentenceSuggestions, Suggestion, SuggestionsById};
use crate::store::ModelRecord;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What was found of the models of a project when it was opened.
#[derive(Debug, Default)]
pub(in crate::session) struct Found {
    /// The labels of the models whose files are there.
    pub files: BTreeMap<ModelId, Vec<LabelId>>,
    /// Models under whose number something else lies, and why it is not theirs.
    pub strange: BTreeMap<ModelId, Strange>,
    /// Records that learned the hash of their model's manifest.
    pub adopted: Vec<ModelRecord>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Looks for the files of all models. Those of an older program are taken for the model's when they fit in all that is
/// known of it; their hash is then put into `models`.
pub(in crate::session) fn find(folder: &Path, owner: &Owner, models: &mut Vec<ModelRecord>) -> Found {
    let mut found = Found::default();
    let is_numbered = |id: ModelId| id != ModelId::FROM_FILE && id.0 <= model_folder::LAST;
    if let Some(record) = models.iter().find(|record| !is_numbered(record.id)) {
        found
            .notes
            .push(format!("no model has the number {}; what the project file says of it is left out", record.id));
    }
    models.retain(|record| is_numbered(record.id));
    for record in models {
        match look(folder, owner, record) {
            Files::Missing => {}
            Files::Ours { manifest_sha256, labels } => {
                if record.manifest_sha256.is_none() {
                    record.manifest_sha256 = Some(manifest_sha256);
                    found.adopted.push(record.clone());
                }
                found.files.insert(record.id, labels);
            }
            Files::Strange(why) => drop(found.strange.insert(record.id, why)),
        }
    }
    let mut alike: Vec<(&Strange, Vec<String>)> = Vec::new();
    for (id, why) in &found.strange {
        match alike.iter_mut().find(|(other, _)| *other == why) {
            Some((_, ids)) => ids.push(id.to_string()),
            None => alike.push((why, vec![id.to_string()])),
        }
    }
    let at = folder.display();
    found.notes.extend(alike.into_iter().map(|(why, ids)| {
        let which = if ids.len() == 1 { "model" } else { "models" };
        format!("the files of {which} {} {why}; they were not changed; train again: {at}", ids.join(", "))
    }));
    let trainings = model_folder::strange_trainings(folder, owner);
    found.notes.extend(trainings.into_iter().map(|(path, why)| {
        format!("the files of an interrupted training {why}; they were not changed: {}", path.display())
    }));
    found
}

/// What no model of the project can have said, with what is to be known of it. Each sentence with what is left.
///
/// Suggestions that name labels which the project never had, and all else that such a model says (what came with a file
/// loses those suggestions alone); and what reaches beyond its sentence.
pub(in crate::session) fn impossible(
    suggestions: &SuggestionsById,
    corpus: &Corpus,
) -> (Vec<(SentenceId, SentenceSuggestions)>, Vec<String>) {
    let next = corpus.labels().next_id();
    let has_label = |s: &Suggestion| s.label < next && s.runner_up.is_none_or(|(label, _)| label < next);
    let faulty = suggestions.values().filter(|said| !said.spans.iter().all(has_label));
    let models: BTreeSet<ModelId> = faulty.map(|said| said.model).collect();
    let (mut without, mut strange, mut outside) = (Vec::new(), 0, 0);
    for (id, said) in suggestions.iter() {
        let is_strange = models.contains(&said.model);
        let tokens = corpus.any_sentence(id).map_or(usize::MAX, |sentence| sentence.tokens().len());
        let is_inside = |s: &Suggestion| s.span.end().get() <= tokens;
        if !is_strange && said.spans.iter().all(is_inside) && said.heads.len() <= tokens {
            continue;
        }
        let mut left = said.clone();
        if is_strange {
            // Of no model, so that the one in use says what it has to say.
            left.spans.retain(|s| said.model == ModelId::FROM_FILE && has_label(s));
            left = SentenceSuggestions { model: ModelId::FROM_FILE, heads: Vec::new(), acquisition: None, ..left };
            strange += said.spans.len() - left.spans.len();
        }
        let known = left.spans.len();
        left.spans.retain(is_inside);
        outside += known - left.spans.len();
        if left.heads.len() > tokens {
            left.heads.clear();
        }
        if left != *said {
            without.push((id, left));
        }
    }
    let note = |count: usize, why: &str| {
        (count > 0).then(|| format!("{} {why}; not shown", counted(count, "suggestion is", "suggestions are")))
    };
    let strange = note(strange, "of labels that the project never had, or by the model that named these");
    (without, strange.into_iter().chain(note(outside, "beyond the end of the sentence")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::{Span, Suggestion};

    #[test]
    fn what_names_labels_that_never_were_is_taken_away_with_all_that_its_model_said() {
        let span = Span::from_range(0..1).unwrap();
        let said = |model: u32, labels: &[u32]| SentenceSuggestions {
            model: ModelId(model),
            heads: vec![0.5],
            spans: labels
                .iter()
                .map(|label| Suggestion { span, label: LabelId(*label), score: 0.9, runner_up: None })
                .collect(),
            acquisition: None,
        };
        let project = crate::session::NewProject::with_labels(["PER", "LOC"]).unwrap();
        let corpus = Corpus::new(project.labels, crate::annotation::MentionId(0), 0);
        let all = [said(1, &[0, 1]), said(2, &[0]), said(2, &[1, 2]), said(0, &[0, 7])];
        let all: SuggestionsById = (0..).map(SentenceId).zip(all).collect();
        let (mut without, notes) = impossible(&all, &corpus);
        without.sort_by_key(|(id, _)| *id);
        let left: Vec<_> = without.iter().map(|(id, said)| (id.0, said.model.0, said.spans.len())).collect();
        assert_eq!(left, [(1, 0, 0), (2, 0, 0), (3, 0, 1)]);
        assert!(matches!(notes.as_slice(), [note] if note.starts_with("4 suggestions are")), "{notes:?}");
        let rest = SuggestionsById::from_iter([(SentenceId(0), said(1, &[0, 1]))]);
        assert_eq!(impossible(&rest, &corpus), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_reaches_beyond_its_sentence_is_taken_away() {
        let mut corpus = Corpus::new(
            crate::session::NewProject::with_labels(["PER"]).unwrap().labels,
            crate::annotation::MentionId(0),
            0,
        );
        let tokens = crate::text::tokenize("Anna left");
        let sentences = vec![crate::annotation::NewSentence { tokens, ..Default::default() }];
        let (name, text) = (String::new(), "Anna left".into());
        corpus
            .add_document(crate::annotation::NewDocument { name, text, sentences, kept: Default::default() })
            .unwrap();
        let suggestion = |range| {
            let span = Span::from_range(range).unwrap();
            Suggestion { span, label: LabelId(0), score: 0.9, runner_up: None }
        };
        let spans = vec![suggestion(0..1), suggestion(1..3)];
        let said = SentenceSuggestions { model: ModelId(1), heads: vec![0.5; 3], spans, acquisition: None };
        let (without, notes) = impossible(&SuggestionsById::from_iter([(SentenceId(0), said)]), &corpus);
        let left: Vec<_> = without.iter().map(|(_, left)| (left.spans.len(), left.heads.len())).collect();
        assert_eq!(
            (left, notes),
            (vec![(1, 0)], vec!["1 suggestion is beyond the end of the sentence; not shown".to_owned()])
        );
    }
}
