//! What the window remembers of the annotation page and the project does not: where the person is, what is selected.
//!
//! # Invariants
//! - Suggestions on screen are a copy taken when the person came to the sentence. Newer ones wait
//!   ([`View::has_news`]) until the person goes on or asks for them: nothing moves under the cursor. Only where there
//!   was nothing to see do they appear at once.
//! - Cursor, selection and picked mark always lie inside the current sentence. When its words are cut anew, what was
//!   selected is let go and the suggestions are those that went along with the words; when it is gone, the person is at
//!   the sentence that has its words now, else at a neighbour.
//!
//! Deliberately absent: annotations. They are the project's, and change by commands only.

use super::last_seen::LastSeen;
use super::note_draft::NoteDraft;
use super::review_queue::ReviewQueue;
use super::selection::{Selection, Sight, Unseen};
use crate::annotation::{
    Corpus, Fragments, LabelId, LabelSet, Mention, ModelId, Sentence, SentenceId, SentenceSuggestions, Span,
    Suggestion, TokenIdx,
};
use crate::gui::finder::Finder;
use crate::gui::widgets::sentence::{Content, Mark, MarkId};
use crate::session::{Order, Project, Suggested};

/// How many steps can be gone back.
const MOST_STEPS: usize = 200;

/// Where the person is and what is selected.
#[derive(Default)]
pub struct View {
    current: Option<SentenceId>,
    /// Where the current sentence was when it was last seen.
    last_seen: LastSeen,
    /// What was on screen when the person came here.
    suggestions: Option<SentenceSuggestions>,
    has_news: bool,
    pub(super) content: Content,
    content_key: Option<ContentKey>,

    pub(super) selection: Selection,
    /// Whether the person can have seen what is selected.
    pub(super) sight: Sight,
    /// The cursor was moved by a key: it is to be brought into sight.
    pub(super) follows_cursor: bool,

    /// The sentences that the person came from, the latest last.
    trail: Vec<SentenceId>,
    pub next_by: NextBy,
    /// The next sentence is being chosen, and to be gone to when it is.
    pub(super) awaits_next: bool,
    /// Doubtful gold that is being gone through.
    pub review: Option<ReviewQueue>,
    pub finder: Finder,
    /// The list is to show the current sentence.
    pub reveal: Option<Reveal>,
    pub focus_search: bool,
    pub focus_note: bool,
    pub note: NoteDraft,
}

/// Where "go on" goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextBy {
    /// In an order that the project knows, and remembers.
    Order(Order),
    /// To the next one of the list, which shows what was searched for.
    Found,
}

impl Default for NextBy {
    fn default() -> Self {
        NextBy::Order(Order::Text)
    }
}

/// How much of the list is to be in sight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reveal {
    /// The row alone: somebody has clicked it, and it is not to move away under the pointer.
    Row,
    /// The row and some on both sides, so that what comes next is seen.
    WithNext,
}

/// What the content was made of.
#[derive(Clone, Copy, PartialEq)]
struct ContentKey {
    sentence: SentenceId,
    revision: u64,
    model: Option<ModelId>,
    threshold: f32,
}

impl View {
    /// On a project that was just opened, where it was left.
    pub fn on(project: &Project) -> Self {
        let settings = project.settings();
        let mut view = Self { next_by: NextBy::Order(settings.order), ..Self::default() };
        match settings.place.filter(|id| project.corpus().sentence(*id).is_some()) {
            Some(place) => view.go_to(project, place),
            None => view.refresh(project),
        }
        view
    }

    pub fn current(&self) -> Option<SentenceId> {
        self.current
    }

    pub fn sentence<'p>(&self, project: &'p Project) -> Option<&'p Sentence> {
        project.corpus().sentence(self.current?)
    }

    pub fn content(&self) -> &Content {
        &self.content
    }

    pub fn cursor(&self) -> TokenIdx {
        self.selection.cursor()
    }

    pub fn picked(&self) -> Option<MarkId> {
        self.selection.mark()
    }

    pub fn picked_mark(&self) -> Option<&Mark> {
        self.content.mark(self.picked()?)
    }

    pub fn picked_mention<'p>(&self, project: &'p Project) -> Option<&'p Mention> {
        match self.picked()? {
            MarkId::Mention(id) => self.sentence(project)?.mention(id),
            MarkId::Suggestion(..) => None,
        }
    }

    /// What a model said of the sentence, as it was when the person came here.
    pub fn suggestions(&self) -> Option<&SentenceSuggestions> {
        self.suggestions.as_ref()
    }

    /// The suggestion behind a mark, as it was when the person came here.
    pub fn suggestion(&self, span: Span, label: LabelId) -> Option<&Suggestion> {
        self.suggestions.as_ref()?.spans.iter().find(|s| s.span == span && s.label == label)
    }

    /// A suggestion as it is on screen.
    pub fn suggested_as(&self, span: Span, label: LabelId) -> Suggested {
        Suggested { span, label, model: self.model().unwrap_or(ModelId::FROM_FILE) }
    }

    /// The model that made the suggestions on screen.
    pub fn model(&self) -> Option<ModelId> {
        self.suggestions.as_ref().map(|s| s.model)
    }

    /// How many suggestions the model made here, shown or not.
    pub fn suggested(&self) -> usize {
        self.suggestions.as_ref().map_or(0, |s| s.spans.len())
    }

    /// How many suggestions here are hidden for their score alone.
    pub fn below(&self, sentence: &Sentence, labels: &LabelSet, threshold: f32) -> usize {
        let all = visible(self.suggestions.as_ref(), sentence, labels, 0.0);
        all.iter().filter(|s| s.score < threshold).count()
    }

    pub fn suggestion_marks(&self) -> impl Iterator<Item = &Mark> {
        self.content.marks.iter().filter(|m| m.is_suggestion())
    }

    /// Newer suggestions wait to be shown.
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    pub fn selection(&self) -> Option<Span> {
        self.selection.words()
    }

    /// The selection was made with the mouse: labels are offered beside it.
    pub fn offers_labels(&self) -> bool {
        self.selection.offers_labels()
    }

    /// The words that a label would be put on: the selection, else the word at the cursor.
    pub fn target(&self) -> Option<Span> {
        let words = self.content.words.len();
        let span = self.selection().unwrap_or_else(|| Span::covering(self.cursor(), self.cursor()));
        (span.end().get() <= words).then_some(span)
    }

    /// The words that a label is for: those of what is picked, else those that one would be put on.
    pub fn given(&self) -> Option<Fragments> {
        match self.picked_mark() {
            Some(mark) => Fragments::new(mark.fragments.clone()).ok(),
            None => self.target().map(Fragments::from),
        }
    }

    /// The first word of what is picked or selected, else the one at the cursor.
    pub fn first_word(&self) -> TokenIdx {
        let span = self.picked_mark().map(|m| m.hull).or(self.selection());
        span.map_or(self.cursor(), |span| span.start())
    }

    /// Goes to a sentence; a cursor at its first word, nothing selected.
    pub fn go_to(&mut self, project: &Project, id: SentenceId) {
        if let Some(from) = self.current.filter(|from| *from != id) {
            let too_many = (self.trail.len() + 1).saturating_sub(MOST_STEPS);
            self.trail.drain(..too_many);
            self.trail.push(from);
        }
        self.arrive(project, id);
    }

    /// Goes back to where the person was before, past what is no longer there; false where there is nothing.
    pub fn go_back(&mut self, project: &Project) -> bool {
        while let Some(id) = self.trail.pop() {
            if self.current != Some(id) && project.corpus().sentence(id).is_some() {
                self.arrive(project, id);
                return true;
            }
        }
        false
    }

    fn arrive(&mut self, project: &Project, id: SentenceId) {
        self.current = Some(id);
        (self.selection, self.sight) = (Selection::default(), Sight::Seen);
        self.show_latest(project);
        self.awaits_next = false;
        self.reveal = Some(Reveal::WithNext);
    }

    /// Shows the newest suggestions.
    pub fn show_latest(&mut self, project: &Project) {
        self.suggestions = self.current.and_then(|id| project.suggestions(id)).cloned();
        self.has_news = false;
        self.content_key = None;
        self.refresh(project);
    }

    /// Brings the content up to the project; call each frame.
    pub fn refresh(&mut self, project: &Project) {
        let before = (self.current, self.picked(), self.selection());
        self.follow_project(project);
        let had_selected = before.1.is_some() || before.2.is_some();
        if had_selected && before != (self.current, self.picked(), self.selection()) {
            self.sight = Sight::Replaced { shown_in: None };
        }
    }

    fn follow_project(&mut self, project: &Project) {
        let corpus = project.corpus();
        if self.current.is_none_or(|id| corpus.sentence(id).is_none()) {
            self.find_a_place(corpus);
        }
        let Some(sentence) = self.sentence(project) else {
            self.let_go();
            self.content = Content::default();
            self.content_key = None;
            return;
        };
        if self.last_seen.is_cut_anew(sentence) {
            // Its spans count other words now.
            self.let_go();
            self.suggestions = project.suggestions(sentence.id()).cloned();
            self.content_key = None;
        }
        self.last_seen.see(corpus, sentence);
        let threshold = project.settings().threshold;
        self.take_or_announce(project, sentence, threshold);
        let model = self.suggestions.as_ref().map(|s| s.model);
        let content_key = ContentKey { sentence: sentence.id(), revision: corpus.revision(), model, threshold };
        if self.content_key == Some(content_key) {
            return;
        }
        let suggestions = visible(self.suggestions.as_ref(), sentence, corpus.labels(), threshold);
        let heads = self.suggestions.as_ref().map_or(&[][..], |s| &s.heads);
        self.content = Content::of(corpus, sentence, &suggestions, heads);
        self.content_key = Some(content_key);
        self.stay_inside();
    }

    /// For somebody who has no sentence, or whose sentence is gone: was joined, taken back, or its document removed.
    fn find_a_place(&mut self, corpus: &Corpus) {
        let near = self.current.and_then(|_| self.last_seen.successor(corpus));
        let here = near.or_else(|| corpus.sentences().find(|s| s.status().waits())).or(corpus.sentence_at(0));
        self.selection =
            Selection::Cursor(here.map(|sentence| self.last_seen.first_word_in(sentence)).unwrap_or_default());
        self.current = here.map(Sentence::id);
        self.suggestions = None;
        self.reveal = Some(Reveal::WithNext);
    }

    /// Newer suggestions appear at once where there is nothing to disturb, and wait elsewhere.
    fn take_or_announce(&mut self, project: &Project, sentence: &Sentence, threshold: f32) {
        let latest = project.suggestions(sentence.id());
        if latest == self.suggestions.as_ref() {
            self.has_news = false;
            return;
        }
        if latest.is_none() {
            // They are withheld from now on, or no longer wanted: those on screen could not be accepted.
            (self.suggestions, self.content_key, self.has_news) = (None, None, false);
            return;
        }
        if visible(self.suggestions.as_ref(), sentence, project.corpus().labels(), threshold).is_empty()
            && self.picked().is_none()
        {
            self.suggestions = latest.cloned();
            self.content_key = None;
        } else {
            self.has_news = true;
        }
    }

    pub(super) fn stay_inside(&mut self) {
        self.selection = self.selection.inside(&self.content);
    }

    /// Lets go what is selected, for the person wants it so.
    pub fn clear(&mut self) {
        self.let_go();
        self.sight = Sight::Seen;
    }

    fn let_go(&mut self) {
        self.selection = Selection::Cursor(self.cursor());
    }

    /// True once after the cursor was moved.
    pub fn take_follow(&mut self) -> bool {
        std::mem::take(&mut self.follows_cursor)
    }

    /// Brings what is selected into sight.
    pub fn follow(&mut self) {
        self.follows_cursor = true;
    }

    /// Why the person can't have seen what is selected; `None` where they can, or have selected it just now.
    pub fn unseen(&self) -> Option<Unseen> {
        self.sight.unseen()
    }

    /// What is selected was painted, in sight or not.
    pub fn was_painted(&mut self, is_in_sight: bool, frame: u64) {
        self.sight.was_painted(is_in_sight, frame);
    }
}

fn visible(
    suggestions: Option<&SentenceSuggestions>,
    sentence: &Sentence,
    labels: &LabelSet,
    threshold: f32,
) -> Vec<Suggestion> {
    suggestions.map(|s| s.visible(sentence, labels, threshold).cloned().collect()).unwrap_or_default()
}

/// The sentences beside one in its document.
pub(in crate::gui) fn neighbours<'c>(
    corpus: &'c Corpus,
    sentence: &Sentence,
) -> (Option<&'c Sentence>, Option<&'c Sentence>) {
    let Some((document, at)) = corpus.place_in_document(sentence.id()) else { return (None, None) };
    let near = |at: Option<usize>| document.sentences.get(at?).and_then(|id| corpus.sentence(*id));
    (near(at.checked_sub(1)), near(Some(at + 1)))
}
