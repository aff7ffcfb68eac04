//! What a person can do to a project, and the transaction that each of these makes.

use super::settings::Setting;
use crate::annotation::{
    self, Corpus, DocumentId, DocumentIds, Edit, Fragments, Label, LabelId, Mention, MentionId, ModelId, Presence,
    Provenance, Sentence, SentenceId, SentenceSuggestions, Span, Split, Status, TokenIdx, Transaction,
};
use crate::session::SessionError;
use crate::text::{ByteIdx, check_text};
use crate::wording::{counted, grouped};
use std::collections::BTreeSet;

/// One intent. The window and the command line change a project by these only.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Marks words as a mention. With one that says the same there already: nothing changes, and that one is returned.
    Annotate {
        sentence: SentenceId,
        fragments: Fragments,
        label: LabelId,
    },
    Remove {
        sentence: SentenceId,
        mention: MentionId,
    },
    Relabel {
        sentence: SentenceId,
        mention: MentionId,
        label: LabelId,
    },
    /// Moves the ends of a mention; its other fragments, if it had any, are replaced too.
    Resize {
        sentence: SentenceId,
        mention: MentionId,
        span: Span,
    },
    SetNote {
        sentence: SentenceId,
        mention: MentionId,
        note: String,
    },
    /// The same while the note is still being written: undone together with the [`Command::SetNote`] that began it.
    GoOnWithNote {
        sentence: SentenceId,
        mention: MentionId,
        note: String,
    },
    /// Makes a suggestion a mention.
    Accept {
        sentence: SentenceId,
        suggested: Suggested,
    },
    /// Puts a mention in the place of a suggestion that is not quite right, which is rejected.
    Correct {
        sentence: SentenceId,
        suggested: Suggested,
        to: Span,
        label: LabelId,
    },
    /// Settles a doubt: the words are not to have the label. Models and looks at gold do not propose it again.
    RuleOut {
        sentence: SentenceId,
        span: Span,
        label: LabelId,
    },
    /// Hides a suggestion for good.
    Reject {
        sentence: SentenceId,
        suggested: Suggested,
    },
    /// Accepts every visible suggestion with at least this score.
    AcceptAll {
        sentence: SentenceId,
        min_score: f32,
    },
    SetStatus {
        sentence: SentenceId,
        status: Status,
    },
    /// Splits a token at a place inside it, in bytes of the document's text.
    SplitToken {
        sentence: SentenceId,
        token: TokenIdx,
        at: ByteIdx,
    },
    /// Makes the tokens of a span, which touch, one.
    JoinTokens {
        sentence: SentenceId,
        span: Span,
    },
    /// Ends a sentence before a token.
    SplitSentence {
        sentence: SentenceId,
        before: TokenIdx,
    },
    /// Joins a sentence with the next one of its document.
    JoinSentences {
        sentence: SentenceId,
    },
    /// Sets documents aside: they stay in the project, but nothing is done with what is in them.
    ExcludeDocuments {
        documents: Vec<DocumentId>,
    },
    /// Takes excluded documents in again.
    IncludeDocuments {
        documents: Vec<DocumentId>,
    },
    /// Takes documents out of the project, excluded or not. Only undo brings them back.
    RemoveDocuments {
        documents: Vec<DocumentId>,
    },
    /// Sets sentences aside at random for an honest learning curve: they are annotated without suggestions, and no model
    /// learns from them. Only before the first training.
    SetAside {
        sentences: usize,
    },
    AddLabel {
        name: String,
    },
    /// Replaces the label with the same id.
    EditLabel {
        label: Label,
    },
    RemoveLabel {
        label: LabelId,
    },
    Undo,
    Redo,
    Set(Setting),
    /// Starts a training now.
    Train,
    /// Looks at gold for what is doubtful, with the help of so many models, none of which has seen the sentences that it is
    /// asked about; of none with 0.
    LookAgain {
        folds: usize,
    },
    /// Lets a model that was kept make the suggestions from now on.
    UseModel(ModelId),
    /// Stops the training under way for good.
    StopTraining,
    /// Lets the training under way wait, or go on.
    PauseTraining(bool),
    /// Tries again to write what could not be saved.
    RetrySave,
}

/// A suggestion as it was on screen: newer ones may have come since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggested {
    pub span: Span,
    pub label: LabelId,
    pub model: ModelId,
}

/// Where a command changed something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub sentence: Option<SentenceId>,
    /// The mention that was made or changed, to be selected.
    pub mention: Option<MentionId>,
}

/// What a command needs to know besides the corpus.
pub(in crate::session) struct Context<'a> {
    pub corpus: &'a Corpus,
    pub suggestions: Option<&'a SentenceSuggestions>,
    /// Suggestions with a lower score are not on screen.
    pub threshold: f32,
    /// Whether this sentence goes to dev when it is completed.
    pub completes_into_dev: bool,
}

/// The intent of a note.
const EDIT_NOTE: &str = "Edit a note";

/// A transaction with the place to look at afterwards; no edits: nothing to do.
pub(in crate::session) struct Plan {
    pub transaction: Transaction,
    pub outcome: Outcome,
}

impl Plan {
    fn new(intent: impl Into<String>, outcome: Outcome, edits: Vec<Edit>) -> Self {
        Self { transaction: Transaction::new(intent, edits), outcome }
    }
}

/// The transaction for a command that edits the corpus; `None` for the others (undo, settings, training).
///
/// # Errors
/// A sentence, mention, label or suggestion that is not there.
pub(in crate::session) fn plan(command: &Command, context: &Context<'_>) -> Result<Option<Plan>, SessionError> {
    let corpus = context.corpus;
    check_texts(command)?;
    let plan = match command {
        Command::Annotate { sentence, fragments, label } => {
            let mention = Mention::new(corpus.next_mention_id(), fragments.clone(), *label, Provenance::Person);
            annotate(corpus, *sentence, mention, "Add")?
        }
        Command::Accept { sentence, suggested } => {
            check_suggested(context, *suggested)?;
            let Suggested { span, label, model } = *suggested;
            let mention = Mention::new(corpus.next_mention_id(), span, label, Provenance::Accepted(model));
            annotate(corpus, *sentence, mention, "Accept")?
        }
        Command::Correct { sentence, suggested, to, label } => {
            check_suggested(context, *suggested)?;
            let mention = Mention::new(corpus.next_mention_id(), *to, *label, Provenance::Person);
            let Plan { mut transaction, outcome } = annotate(corpus, *sentence, mention, "Correct to")?;
            if (suggested.span, suggested.label) != (*to, *label) {
                transaction.edits.extend(reject(corpus, *sentence, suggested.span, suggested.label)?);
            }
            Plan { transaction, outcome }
        }
        Command::AcceptAll { sentence, min_score } => accept_all(context, *sentence, *min_score)?,
        Command::Reject { sentence, suggested } => {
            check_suggested(context, *suggested)?;
            let mut edits: Vec<Edit> =
                reject(corpus, *sentence, suggested.span, suggested.label)?.into_iter().collect();
            if !edits.is_empty() {
                edits.extend(begin(known(corpus, *sentence)?));
            }
            Plan::new(format!("Reject {}", name(corpus, suggested.label)), at(*sentence), edits)
        }
        Command::RuleOut { sentence, span, label } => {
            let edits = reject(corpus, *sentence, *span, *label)?.into_iter().collect();
            Plan::new(format!("Rule out {}", name(corpus, *label)), at(*sentence), edits)
        }
        Command::Remove { sentence, mention } => {
            let (_, mention) = known_mention(corpus, *sentence, *mention)?;
            let intent = format!("Remove {}", name(corpus, mention.label));
            let mention = mention.clone();
            Plan::new(intent, at(*sentence), vec![Edit::RemoveMention { sentence: *sentence, mention }])
        }
        Command::Relabel { sentence, mention, label } => {
            let intent = format!("Change label to {}", name(corpus, *label));
            change(corpus, *sentence, *mention, intent, |new| new.label = *label)?
        }
        Command::Resize { sentence, mention, span } => {
            let intent = "Move the ends of a mention".to_owned();
            change(corpus, *sentence, *mention, intent, |new| new.fragments = Fragments::from(*span))?
        }
        Command::SetNote { sentence, mention, note } => {
            change(corpus, *sentence, *mention, EDIT_NOTE.to_owned(), |new| new.note.clone_from(note))?
        }
        Command::GoOnWithNote { sentence, mention, note } => {
            let plan = change(corpus, *sentence, *mention, String::new(), |new| new.note.clone_from(note))?;
            Plan { transaction: Transaction::going_on(EDIT_NOTE, plan.transaction.edits), ..plan }
        }
        Command::SetStatus { sentence, status } => set_status(context, *sentence, *status)?,
        Command::SplitToken { sentence, token, at } => {
            let edit = annotation::split_token(corpus, *sentence, token.get(), *at)?;
            Plan::new("Split a token", self::at(*sentence), vec![edit])
        }
        Command::JoinTokens { sentence, span } => {
            Plan::new("Join tokens", at(*sentence), vec![annotation::join_tokens(corpus, *sentence, *span)?])
        }
        Command::SplitSentence { sentence, before } => {
            let edit = annotation::split_sentence(corpus, *sentence, before.get())?;
            Plan::new("Split a sentence", at(*sentence), vec![edit])
        }
        Command::JoinSentences { sentence } => {
            Plan::new("Join sentences", at(*sentence), vec![annotation::join_sentences(corpus, *sentence)?])
        }
        Command::ExcludeDocuments { documents } => set_presence(corpus, documents, Presence::Excluded, "Exclude")?,
        Command::IncludeDocuments { documents } => set_presence(corpus, documents, Presence::There, "Include")?,
        Command::RemoveDocuments { documents } => set_presence(corpus, documents, Presence::Removed, "Delete")?,
        Command::AddLabel { name } => {
            let label = corpus.labels().propose(name);
            let intent = format!("Add the label {}", label.name);
            Plan::new(intent, Outcome::default(), vec![Edit::InsertLabel { at: corpus.labels().len(), label }])
        }
        Command::EditLabel { label } => {
            let old = corpus.labels().get(label.id).ok_or(SessionError::NoSuchLabel)?.clone();
            if old.key != label.key {
                corpus.labels().check(label)?;
            }
            let intent = format!("Change the label {}", old.name);
            let edits = if old == *label { Vec::new() } else { vec![Edit::ReplaceLabel { old, new: label.clone() }] };
            Plan::new(intent, Outcome::default(), edits)
        }
        Command::RemoveLabel { label } => {
            let at = corpus.labels().iter().position(|l| l.id == *label).ok_or(SessionError::NoSuchLabel)?;
            let label = corpus.labels().get(*label).ok_or(SessionError::NoSuchLabel)?.clone();
            Plan::new(
                format!("Remove the label {}", label.name),
                Outcome::default(),
                vec![Edit::RemoveLabel { at, label }],
            )
        }
        Command::Undo
        | Command::Redo
        | Command::SetAside { .. }
        | Command::Set(_)
        | Command::Train
        | Command::LookAgain { .. }
        | Command::UseModel(_)
        | Command::StopTraining
        | Command::PauseTraining(_)
        | Command::RetrySave => return Ok(None),
    };
    Ok(Some(plan))
}

/// What people type or paste goes through the same door as what comes from files.
fn check_texts(command: &Command) -> Result<(), SessionError> {
    let texts: &[(&'static str, &str)] = match command {
        Command::AddLabel { name } => &[("name", name)],
        Command::EditLabel { label } => &[("name", &label.name), ("title", &label.title)],
        Command::SetNote { note, .. } => &[("note", note)],
        _ => &[],
    };
    for (what, text) in texts {
        check_text(text).map_err(|source| SessionError::Forbidden { what, source })?;
    }
    Ok(())
}

fn annotate(corpus: &Corpus, id: SentenceId, mention: Mention, verb: &str) -> Result<Plan, SessionError> {
    let sentence = known(corpus, id)?;
    let intent = format!("{verb} {}", name(corpus, mention.label));
    if let Some(same) = sentence.mentions().iter().find(|m| m.says_the_same(&mention)) {
        return Ok(Plan::new(intent, Outcome { sentence: Some(id), mention: Some(same.id) }, Vec::new()));
    }
    let outcome = Outcome { sentence: Some(id), mention: Some(mention.id) };
    let mut edits: Vec<Edit> = no_longer_rejected(sentence, &mention).into_iter().collect();
    edits.push(Edit::AddMention { sentence: id, mention });
    edits.extend(begin(sentence));
    Ok(Plan::new(intent, outcome, edits))
}

fn accept_all(context: &Context<'_>, id: SentenceId, min_score: f32) -> Result<Plan, SessionError> {
    let corpus = context.corpus;
    let sentence = known(corpus, id)?;
    let mut next = corpus.next_mention_id();
    let mut edits = Vec::new();
    if let Some(suggestions) = context.suggestions {
        for suggestion in suggestions.visible(sentence, corpus.labels(), context.threshold.max(min_score)) {
            let provenance = Provenance::Accepted(suggestions.model);
            let mention = Mention::new(next, suggestion.span, suggestion.label, provenance);
            edits.push(Edit::AddMention { sentence: id, mention });
            next = MentionId(next.0.saturating_add(1));
        }
    }
    let intent = format!("Accept {}", counted(edits.len(), "suggestion", "suggestions"));
    if !edits.is_empty() {
        edits.extend(begin(sentence));
    }
    Ok(Plan::new(intent, at(id), edits))
}

fn set_status(context: &Context<'_>, id: SentenceId, status: Status) -> Result<Plan, SessionError> {
    let sentence = known(context.corpus, id)?;
    let mut edits = Vec::new();
    if sentence.status() != status {
        edits.push(Edit::SetStatus { sentence: id, old: sentence.status(), new: status });
        if status == Status::Complete && sentence.split() == Split::Rest && context.completes_into_dev {
            edits.push(Edit::SetSplit { sentence: id, old: Split::Rest, new: Split::Dev });
        }
    }
    let intent = match status {
        Status::Untouched => "Mark untouched",
        Status::InProgress => "Mark in progress",
        Status::Complete => "Mark complete",
        Status::Skipped => "Skip",
        Status::Flagged => "Flag",
    };
    Ok(Plan::new(intent, at(id), edits))
}

/// Those that are so already stay as they are.
fn set_presence(corpus: &Corpus, documents: &[DocumentId], new: Presence, verb: &str) -> Result<Plan, SessionError> {
    let mut changed = Vec::new();
    for id in documents.iter().collect::<BTreeSet<_>>() {
        let document = corpus.document(*id).filter(|d| d.presence != Presence::Removed);
        changed.extend(document.ok_or(SessionError::NoSuchDocument).map(|d| (d.presence != new).then_some(d))?);
    }
    let intent = match changed.as_slice() {
        [one] => format!("{verb} {}", one.name),
        several => format!("{verb} {} documents", grouped(several.len())),
    };
    let edits = [Presence::There, Presence::Excluded].into_iter().filter_map(|old| {
        let documents: DocumentIds = changed.iter().filter(|d| d.presence == old).map(|d| d.id).collect();
        (!documents.is_empty()).then_some(Edit::SetPresence { documents, old, new })
    });
    Ok(Plan::new(intent, Outcome::default(), edits.collect()))
}

fn change(
    corpus: &Corpus,
    id: SentenceId,
    mention: MentionId,
    intent: String,
    how: impl FnOnce(&mut Mention),
) -> Result<Plan, SessionError> {
    let (sentence, old) = known_mention(corpus, id, mention)?;
    let mut new = old.clone();
    how(&mut new);
    let mut edits = Vec::new();
    if new != *old {
        edits.extend(no_longer_rejected(sentence, &new));
        edits.push(Edit::ReplaceMention { sentence: id, old: old.clone(), new });
        edits.extend(begin(sentence));
    }
    Ok(Plan::new(intent, Outcome { sentence: Some(id), mention: Some(mention) }, edits))
}

/// What a person marks is no longer rejected.
fn no_longer_rejected(sentence: &Sentence, mention: &Mention) -> Option<Edit> {
    let (span, label) = (mention.fragments.contiguous()?, mention.label);
    let is_rejected = sentence.rejected().contains(&(span, label));
    is_rejected.then(|| Edit::SetRejected { sentence: sentence.id(), span, label, new: false })
}

/// The first thing done to an untouched sentence begins it.
fn begin(sentence: &Sentence) -> Option<Edit> {
    (sentence.status() == Status::Untouched).then(|| Edit::SetStatus {
        sentence: sentence.id(),
        old: Status::Untouched,
        new: Status::InProgress,
    })
}

/// What an older model had said can't be looked up any more.
fn check_suggested(context: &Context<'_>, suggested: Suggested) -> Result<(), SessionError> {
    let Suggested { span, label, model } = suggested;
    let refutes = |latest: &SentenceSuggestions| {
        latest.model == model && !latest.spans.iter().any(|s| s.span == span && s.label == label)
    };
    if context.suggestions.is_none_or(refutes) { Err(SessionError::NoSuchSuggestion) } else { Ok(()) }
}

/// Hides a suggestion, unless it is hidden.
fn reject(corpus: &Corpus, id: SentenceId, span: Span, label: LabelId) -> Result<Option<Edit>, SessionError> {
    let rejected = known(corpus, id)?.rejected().contains(&(span, label));
    Ok((!rejected).then_some(Edit::SetRejected { sentence: id, span, label, new: true }))
}

fn known(corpus: &Corpus, id: SentenceId) -> Result<&Sentence, SessionError> {
    corpus.sentence(id).ok_or(SessionError::NoSuchSentence)
}

fn known_mention(corpus: &Corpus, id: SentenceId, mention: MentionId) -> Result<(&Sentence, &Mention), SessionError> {
    let sentence = known(corpus, id)?;
    let mention = sentence.mention(mention).ok_or(SessionError::NoSuchMention)?;
    Ok((sentence, mention))
}

fn name(corpus: &Corpus, label: LabelId) -> &str {
    corpus.labels().get(label).map_or("a label", |l| &l.name)
}

fn at(sentence: SentenceId) -> Outcome {
    Outcome { sentence: Some(sentence), mention: None }
}
