//! Working through what is doubtful in gold, one finding after the other.
//!
//! # Invariants
//! - Findings that took long to come wait until the person begins: nothing moves under the cursor.

use super::review_queue::{ReviewQueue, mention_of};
use super::state::{Feedback, NO_FEEDBACK, Workspace};
use crate::annotation::{Fragments, MentionId};
use crate::gui::widgets::sentence::MarkId;
use crate::session::{Command, Finding, Proposal};
use crate::wording::counted;

impl Workspace {
    /// What is doubtful in gold, to be gone through: at once, or when the person begins.
    pub(in crate::gui) fn take_findings(&mut self, findings: Vec<Finding>, waits: bool) -> Feedback {
        self.view.review = ReviewQueue::new(self.project.corpus(), findings);
        let Some(review) = &self.view.review else { return Ok(Some("Nothing doubtful found".to_owned())) };
        let count = counted(review.open(self.project.corpus()), "finding", "findings");
        if !waits {
            self.go_on_looking()?;
        }
        Ok(Some(format!("{count} to review")))
    }

    /// Begins with what was found, or goes back to the finding that the person has left.
    pub(in crate::gui) fn go_on_looking(&mut self) -> Feedback {
        let Some(review) = &mut self.view.review else { return NO_FEEDBACK };
        review.begin();
        if review.holds(self.project.corpus()) {
            self.show_finding();
            NO_FEEDBACK
        } else {
            self.go_to_next_finding()
        }
    }

    /// The person is at the sentence whose finding is looked at, and has not picked a suggestion there.
    pub(in crate::gui) fn is_reviewing(&self) -> bool {
        let finding = self.view.review.as_ref().filter(|review| review.is_begun()).and_then(ReviewQueue::finding);
        let is_here = finding.is_some_and(|finding| self.view.current() == Some(finding.sentence));
        is_here && !matches!(self.view.picked(), Some(MarkId::Suggestion(..)))
    }

    /// Goes to the finding and picks or selects what it is about.
    fn show_finding(&mut self) {
        let Some(finding) = self.view.review.as_ref().and_then(ReviewQueue::finding).copied() else { return };
        self.view.go_to(&self.project, finding.sentence);
        match self.doubted_mention(&finding) {
            Some(id) => self.view.pick(MarkId::Mention(id)),
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
    pub(super) fn take_proposal(&mut self) -> Feedback {
        let Some(finding) = self.finding_that_holds() else { return self.go_to_next_finding() };
        let Finding { sentence, span, .. } = finding;
        let command = match (finding.proposal(), self.doubted_mention(&finding)) {
            (Some(Proposal::Mark(label)), _) => Command::Annotate { sentence, fragments: Fragments::from(span), label },
            (Some(Proposal::Relabel(label)), Some(mention)) => Command::Relabel { sentence, mention, label },
            (Some(Proposal::Remove), Some(mention)) => Command::Remove { sentence, mention },
            _ => return Ok(Some("There is no automatic change here; edit it by hand, or continue".to_owned())),
        };
        self.change(command)?;
        self.settle_and_go()
    }

    /// The person has looked, and it is as it should be: what was proposed is not proposed again.
    pub(super) fn rule_out(&mut self) -> Feedback {
        let proposed = self.finding_that_holds().and_then(|finding| Some((finding, finding.proposed_label()?)));
        if let Some((Finding { sentence, span, .. }, label)) = proposed {
            self.change(Command::RuleOut { sentence, span, label })?;
        }
        self.settle_and_go()
    }

    fn settle_and_go(&mut self) -> Feedback {
        if let Some(review) = &mut self.view.review {
            review.settle();
        }
        self.go_to_next_finding()
    }

    pub(super) fn go_to_next_finding(&mut self) -> Feedback {
        let Some(review) = &mut self.view.review else { return NO_FEEDBACK };
        if review.advance(self.project.corpus()) {
            self.show_finding();
            return NO_FEEDBACK;
        }
        self.view.review = None;
        Ok(Some("Review finished".to_owned()))
    }
}
