//! What a writer wrote and what it could not represent.

use super::{DocumentView, MentionView, SentenceView};
use crate::annotation::{Fragments, Kept};
use crate::text::check_text;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Receipt {
    /// Written, as the sentences are.
    pub documents: usize,
    pub sentences: usize,
    /// Written, in whole or in part.
    pub mentions: usize,
    /// Empty when reading the file back gives the same.
    pub losses: Vec<Loss>,
    /// Remarks about what changed and harms nothing, such as another name of a document.
    pub notes: Vec<String>,
    /// Labels that the format can't spell, with what was written instead.
    pub renamed_labels: BTreeMap<String, String>,
    /// Documents that are not in the file at all, by their numbers among all that were to be written; each has a loss.
    pub left_out: BTreeSet<usize>,
    pub left_out_sentences: usize,
}

/// One thing that the format has no place for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    pub document: String,
    /// Which of the documents that were to be written, from 1: names need not be unique. 0 where it is about none.
    pub document_number: usize,
    /// Of the document, from 1; none when it is about no sentence.
    pub sentence: Option<usize>,
    /// The words that it is about.
    pub words: String,
    /// Of the mention; none when the words themselves are changed.
    pub label: Option<String>,
    /// Of the mention.
    pub fragments: Option<Fragments>,
    pub kind: LossKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LossKind {
    /// The format holds no mentions.
    Mention,
    Nested,
    Crossing,
    SameSpan,
    Discontinuous,
    /// It follows another one of its label, and the scheme can't part them.
    Touching,
    /// It begins or ends with white space, or only that parts its fragments.
    WhiteSpaceEdge,
    /// The label is written in another way.
    LabelSpelling,
    Attribute,
    Note,
    Score,
    /// What the file that the document came from says besides mentions.
    Kept,
    /// A line of it that names something which is not written.
    KeptWithoutMention,
    /// A line break inside the sentence was written as a blank.
    LineBreak,
    /// White space inside a token was written as another character.
    WhiteSpaceInToken,
    /// What is said of all documents besides labels.
    Definition,
    /// A kept line would be read as something else.
    KeptLine,
    /// The whole document was left out: its text holds a character that files of the format can't.
    Character,
    /// The whole document was left out: it would have been read back differently.
    ReadsBackDifferently,
    /// How the text is split into tokens.
    Tokens,
    SentenceBorders,
}

impl LossKind {
    pub fn meaning(self) -> &'static str {
        match self {
            LossKind::Mention => "the format holds no mentions",
            LossKind::Nested => "it lies in another mention and there is no layer left for it",
            LossKind::Crossing => "it crosses another mention and there is no layer left for it",
            LossKind::SameSpan => "another label has the same words and there is no layer left for it",
            LossKind::Discontinuous => "the format holds no mentions in several pieces",
            LossKind::Touching => "the scheme can't separate it from the mention of the same label before it",
            LossKind::WhiteSpaceEdge => {
                "white space at the edge of a mention or of its pieces has no place in the format"
            }
            LossKind::LabelSpelling => "the format can't spell its label, which was written in another way",
            LossKind::Attribute => "the format can't hold an attribute of it",
            LossKind::Note => "the format can't hold its note",
            LossKind::Score => "the format holds no scores, so it looks like a confirmed mention",
            LossKind::Kept => "the format has no place for what another format's file said besides mentions",
            LossKind::KeptWithoutMention => "it names something that is not written",
            LossKind::LineBreak => "a line break in the sentence became a blank",
            LossKind::WhiteSpaceInToken => "white space in a token became _",
            LossKind::Definition => "the format has no place for what another format says of all documents",
            LossKind::KeptLine => "it would be read as something else, and was left out",
            LossKind::Character => "the document was left out: its text holds a character that the format can't",
            LossKind::ReadsBackDifferently => {
                "the document was left out: what was written of it read back differently; please report it"
            }
            LossKind::Tokens => "the format does not say how text is split into tokens; reading it splits it otherwise",
            LossKind::SentenceBorders => "the format does not say where sentences end; reading it finds other borders",
        }
    }

    /// True when the mention is not in the file at all.
    pub fn loses_mention(self) -> bool {
        use LossKind::{Crossing, Discontinuous, Mention, Nested, SameSpan, Touching, WhiteSpaceEdge};
        matches!(self, Mention | Nested | Crossing | SameSpan | Discontinuous | Touching | WhiteSpaceEdge)
    }
}

impl Receipt {
    /// True for a document that is left out, as files of plain text can't hold what is in it. In place of
    /// [`begin`](Self::begin).
    pub(super) fn leaves_out(&mut self, document: &DocumentView<'_>) -> bool {
        let Err(error) = check_text(document.text) else { return false };
        self.leave_out(document, &error.to_string(), LossKind::Character);
        true
    }

    /// Counts a document that is not written, and says why.
    pub fn leave_out(&mut self, document: &DocumentView<'_>, why: &str, kind: LossKind) {
        self.left_out.insert(self.documents + self.left_out.len() + 1);
        self.left_out_sentences += document.sentences.len();
        self.losses.push(self.loss(document, None, why, kind));
    }

    /// The number of the document that was begun or left out last.
    fn number(&self) -> usize {
        self.documents + self.left_out.len()
    }

    /// What is said of all documents by files of other formats; `own` is the id of the format that writes.
    pub(super) fn lose_definitions(&mut self, definitions: &Kept, own: &str) {
        for (name, _) in definitions.iter().filter(|(name, _)| name.split(':').next() != Some(own)) {
            self.losses.push(Loss {
                document: name.clone(),
                document_number: 0,
                sentence: None,
                words: String::new(),
                label: None,
                fragments: None,
                kind: LossKind::Definition,
            });
        }
    }

    /// Counts a document that is about to be written.
    pub(super) fn begin(&mut self, document: &DocumentView<'_>) {
        self.documents += 1;
        self.sentences += document.sentences.len();
    }

    /// Something about a mention of the document that was begun last.
    pub(super) fn lose(
        &mut self,
        document: &DocumentView<'_>,
        sentence: &SentenceView<'_>,
        mention: &MentionView<'_>,
        kind: LossKind,
    ) {
        let words = document.words(sentence, mention.fragments.hull().range());
        self.losses.push(Loss {
            label: Some(mention.label.to_owned()),
            fragments: Some(mention.fragments.clone()),
            ..self.loss(document, Some(sentence.number), words, kind)
        });
    }

    /// Something about words of the document that was begun last.
    pub(super) fn lose_words(
        &mut self,
        document: &DocumentView<'_>,
        sentence: Option<usize>,
        words: &str,
        kind: LossKind,
    ) {
        self.losses.push(self.loss(document, sentence, words, kind));
    }

    /// What is kept of other formats' files; `own` is the id of the format that writes.
    pub(super) fn lose_kept(&mut self, document: &DocumentView<'_>, own: &str) {
        for (format, text) in document.kept.iter().filter(|(format, _)| *format != own) {
            let lines = text.lines().count();
            let what = counted(lines, "line", "lines");
            self.lose_words(document, None, &format!("{what} of {format}"), LossKind::Kept);
        }
    }

    /// The mentions of a written document that are not in the file.
    pub fn lost_mentions(&self, document_number: usize) -> BTreeSet<(usize, &Fragments, &str)> {
        // Losses come in the order of the documents.
        let first = self.losses.partition_point(|loss| loss.document_number < document_number);
        let of_document = self.losses.iter().skip(first).take_while(|loss| loss.document_number == document_number);
        let lost = of_document.filter(|loss| loss.kind.loses_mention());
        lost.filter_map(|loss| Some((loss.sentence?, loss.fragments.as_ref()?, loss.label.as_deref()?))).collect()
    }

    fn loss(&self, document: &DocumentView<'_>, sentence: Option<usize>, words: &str, kind: LossKind) -> Loss {
        Loss {
            document: document.name.to_owned(),
            document_number: self.number(),
            sentence,
            words: words.to_owned(),
            label: None,
            fragments: None,
            kind,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, sentence, words, label, kind, .. } = self;
        f.write_str(document)?;
        if let Some(sentence) = sentence {
            write!(f, ", sentence {sentence}")?;
        }
        if !words.is_empty() {
            write!(f, ": {words:?}")?;
        }
        if let Some(label) = label {
            write!(f, " ({label})")?;
        }
        write!(f, ": {}", kind.meaning())
    }
}
