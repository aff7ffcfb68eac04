//! Working through what is doubtful in gold, one finding after the other.
//!
//! # Invariants
//! - A finding is shown only while it is about what is there: its words are the same, its mention has its label, or its
//!   words are still unmarked. What a person has mended in passing is passed over.
//! - What was settled is not shown again; what was passed by comes again after the others.
//! - Findings that took long to come wait until the person begins: nothing moves under the cursor.

use super::desk::{Desk, NOTHING, Told};
use super::widgets::sentence::MarkId;
use crate::annotation::{Corpus, Fragments, Mention, MentionId, Sentence};
use crate::session::{Command, Finding, Proposal};
use crate::wording::counted;

/// Findings with a place among them.
pub struct Review {
    doubts: Vec<Doubtful>,
    at: usize,
    is_begun: bool,
}

struct Doubtful {
    finding: Finding,
    /// Its words, as they were when it was found.
    words: String,
    settled: bool,
}

impl Review {
    /// At the first finding; `None` where there is nothing to look at.
    pub fn new(corpus: &Corpus, findings: Vec<Finding>) -> Option<Self> {
        let doubtful = |finding: Finding| {
            let words = corpus.sentence(finding.sentence).map(|s| corpus.span_text(s, finding.span).to_owned())?;
            Some(Doubtful { finding, words, settled: false })
        };
        let mut review = Self { doubts: findings.into_iter().filter_map(doubtful).collect(), at: 0, is_begun: false };
        let at = review.next_open(corpus, 0)?;
        review.at = at;
        Some(review)
    }

    pub fn finding(&self) -> Option<&Finding> {
        self.doubts.get(self.at).map(|doubtful| &doubtful.finding)
    }

    /// False while it waits for the person to begin.
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// The words that it is about.
    pub fn words(&self) -> &str {
        self.doubts.get(self.at).map_or("", |doubtful| &doubtful.words)
    }

    /// Counted from 1, of how many.
    pub fn place(&self) -> (usize, usize) {
        (self.at + 1, self.doubts.len())
    }

    /// How many wait to be looked at.
    pub fn open(&self, corpus: &Corpus) -> usize {
        self.doubts.iter().filter(|doubtful| doubtful.is_open(corpus)).count()
    }

    /// The finding is dealt with.
    pub fn settle(&mut self) {
        if let Some(doubtful) = self.doubts.get_mut(self.at) {
            doubtful.settled = true;
        }
    }

    /// Goes to the next finding that waits, from the end to the first; false where none does.
    pub fn advance(&mut self, corpus: &Corpus) -> bool {
        let next = self.next_open(corpus, self.at + 1);
        self.at = next.unwrap_or(self.at);
        next.is_some()
    }

    /// The finding is about what is there.
    pub fn holds(&self, corpus: &Corpus) -> bool {
        self.doubts.get(self.at).is_some_and(|doubtful| doubtful.holds(corpus))
    }

    fn next_open(&self, corpus: &Corpus, from: usize) -> Option<usize> {
        let count = self.doubts.len();
        let is_open = |at: &usize| self.doubts.get(*at).is_some_and(|doubtful| doubtful.is_open(corpus));
        (from..count).chain(0..from.min(count)).find(is_open)
    }
}

impl Doubtful {
    fn is_open(&self, corpus: &Corpus) -> bool {
        !self.settled && self.holds(corpus)
    }

    fn holds(&self, corpus: &Corpus) -> bool {
        let Finding { sentence, span, .. } = self.finding;
        let Some(sentence) = corpus.sentence(sentence) else { return false };
        if span.end().get() > sentence.tokens().len() || corpus.span_text(sentence, span) != self.words {
            return false;
        }
        match self.finding.proposal() {
            Some(Proposal::Mark(_)) => !sentence.mentions().iter().any(|m| m.fragments.contiguous() == Some(span)),
            _ => mention_of(sentence, &self.finding).is_some(),
        }
    }
}

impl Desk {
    /// What is doubtful in gold, to be gone through: at once, or when the person begins.
    pub(super) fn take_findings(&mut self, findings: Vec<Finding>, waits: bool) -> Told {
        self.view.review = Review::new(self.project.corpus(), findings);
        let Some(review) = &self.view.review else { return Ok(Some("Nothing stands out".to_owned())) };
        let count = counted(review.open(self.project.corpus()), "thing", "things");
        if !waits {
            self.go_on_looking()?;
        }
        Ok(Some(format!("{count} to look at again")))
    }

    /// Begins with what was found, or goes back to the finding that the person has left.
    pub(super) fn go_on_looking(&mut self) -> Told {
        let Some(review) = &mut self.view.review else { return NOTHING };
        review.is_begun = true;
        if review.holds(self.project.corpus()) {
            self.show_finding();
            NOTHING
        } else {
            self.go_to_next_finding()
        }
    }

    /// The person is at the sentence whose finding is looked at, and has not picked a suggestion there.
    pub(super) fn is_reviewing(&self) -> bool {
        let finding = self.view.review.as_ref().filter(|review| review.is_begun).and_then(Review::finding);
        let is_here = finding.is_some_and(|finding| self.view.current() == Some(finding.sentence));
        is_here && !matches!(self.view.picked(), Some(MarkId::Ghost(..)))
    }

    /// Goes to the finding and picks or selects what it is about.
    fn show_finding(&mut self) {
        let Some(finding) = self.view.review.as_ref().and_then(Review::finding).copied() else { return };
        self.view.go_to(&self.project, finding.sentence);
        match self.doubted_mention(&finding) {
            Some(id) => self.view.pick(MarkId::Gold(id)),
            None => self.view.select(finding.span.start(), finding.span.last()),
        }
    }

    /// The finding that is looked at, if it is still about what is there.
    fn finding_that_holds(&self) -> Option<Finding> {
        let review = self.view.review.as_ref().filter(|review| review.holds(self.project.corpus()))?;
        review.finding().copied()
    }

    /// The mention that a finding is about; `None` where it is about unmarked words.
    fn doubted_mention(&self, finding: &Finding) -> Option<MentionId> {
        let sentence = self.project.corpus().sentence(finding.sentence)?;
        mention_of(sentence, finding).map(|mention| mention.id)
    }

    /// Does what would settle the doubt, and goes on.
    pub(super) fn take_proposal(&mut self) -> Told {
        let Some(finding) = self.finding_that_holds() else { return self.go_to_next_finding() };
        let Finding { sentence, span, .. } = finding;
        let command = match (finding.proposal(), self.doubted_mention(&finding)) {
            (Some(Proposal::Mark(label)), _) => Command::Annotate { sentence, fragments: Fragments::from(span), label },
            (Some(Proposal::Relabel(label)), Some(mention)) => Command::Relabel { sentence, mention, label },
            (Some(Proposal::Remove), Some(mention)) => Command::Remove { sentence, mention },
            _ => return Ok(Some("There is nothing to change by itself here; change it by hand, or go on".to_owned())),
        };
        self.change(command)?;
        self.settle_and_go()
    }

    /// The person has looked, and it is as it should be: what was proposed is not proposed again.
    pub(super) fn rule_out(&mut self) -> Told {
        let proposed = self.finding_that_holds().and_then(|finding| Some((finding, finding.proposed_label()?)));
        if let Some((Finding { sentence, span, .. }, label)) = proposed {
            self.change(Command::RuleOut { sentence, span, label })?;
        }
        self.settle_and_go()
    }

    fn settle_and_go(&mut self) -> Told {
        if let Some(review) = &mut self.view.review {
            review.settle();
        }
        self.go_to_next_finding()
    }

    pub(super) fn go_to_next_finding(&mut self) -> Told {
        let Some(review) = &mut self.view.review else { return NOTHING };
        if review.advance(self.project.corpus()) {
            self.show_finding();
            return NOTHING;
        }
        self.view.review = None;
        Ok(Some("All that was doubtful has been looked at".to_owned()))
    }
}

/// The mention that a finding is about; `None` where it is about unmarked words.
fn mention_of<'s>(sentence: &'s Sentence, finding: &Finding) -> Option<&'s Mention> {
    let is_it = |m: &&Mention| m.fragments.contiguous() == Some(finding.span) && m.label == finding.label;
    sentence.mentions().iter().find(is_it)
}
