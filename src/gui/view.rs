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

use crate::annotation::{
    Corpus, DocumentId, LabelId, LabelSet, Mention, ModelId, Sentence, SentenceId, SentenceSuggestions, Span,
    Suggestion, TokenIdx,
};
use crate::gui::finder::Finder;
use crate::gui::note::NoteDraft;
use crate::gui::review::Review;
use crate::gui::widgets::sentence::{Content, Mark, MarkId};
use crate::session::{Order, Project, Suggested};
use crate::text::TextRange;

/// How many steps can be gone back.
const MOST_STEPS: usize = 200;

/// Where the person is and what is selected.
#[derive(Default)]
pub struct View {
    current: Option<SentenceId>,
    /// Where the current sentence was when it was last seen.
    seen: Seen,
    /// What was on screen when the person came here.
    suggestions: Option<SentenceSuggestions>,
    has_news: bool,
    content: Content,
    stamp: Option<Stamp>,

    cursor: TokenIdx,
    /// The other end of a selection, inside it.
    anchor: Option<TokenIdx>,
    picked: Option<MarkId>,
    /// Where the cursor was when the person began to go from mark to mark.
    marks_from: Option<TokenIdx>,
    /// The cursor was moved by a key: it is to be brought into sight.
    follows_cursor: bool,
    /// A selection was made with the mouse: labels are offered beside it.
    pub offers_labels: bool,
    /// Why the person can't have seen what is selected.
    unseen: Option<Unseen>,
    /// The frame that has shown that what was selected is gone.
    shown_in: Option<u64>,

    /// The sentences that the person came from, the latest last.
    trail: Vec<SentenceId>,
    pub next_by: NextBy,
    /// Doubtful gold that is being gone through.
    pub review: Option<Review>,
    pub finder: Finder,
    /// The list is to show the current sentence.
    pub reveal: Option<Reveal>,
    pub focus_search: bool,
    pub focus_note: bool,
    pub note: NoteDraft,
}

/// Why the person can't see what is selected as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unseen {
    /// Scrolled away.
    OutOfSight,
    /// Another thing was selected when the page was last painted, and the person has not selected this one.
    Replaced,
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

/// Where a mark lies, seen from a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Before,
    At,
    After,
}

impl Place {
    fn of(mark: &Mark, word: TokenIdx) -> Self {
        if mark.hull.end() <= word {
            Self::Before
        } else if mark.hull.start() > word {
            Self::After
        } else {
            Self::At
        }
    }
}

/// Enough of a sentence to tell that its words were cut anew, and to find them when it is gone.
#[derive(Default)]
struct Seen {
    of: Option<SentenceId>,
    document: Option<DocumentId>,
    place: usize,
    tokens: Vec<TextRange>,
}

/// What the content was made of.
#[derive(Clone, Copy, PartialEq)]
struct Stamp {
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
        self.cursor
    }

    pub fn picked(&self) -> Option<MarkId> {
        self.picked
    }

    pub fn picked_mark(&self) -> Option<&Mark> {
        self.content.mark(self.picked?)
    }

    pub fn picked_mention<'p>(&self, project: &'p Project) -> Option<&'p Mention> {
        match self.picked? {
            MarkId::Gold(id) => self.sentence(project)?.mention(id),
            MarkId::Ghost(..) => None,
        }
    }

    /// What a model said of the sentence, as it was when the person came here.
    pub fn suggestions(&self) -> Option<&SentenceSuggestions> {
        self.suggestions.as_ref()
    }

    /// The suggestion behind a ghost, as it was when the person came here.
    pub fn suggestion(&self, span: Span, label: LabelId) -> Option<&Suggestion> {
        self.suggestions.as_ref()?.spans.iter().find(|s| s.span == span && s.label == label)
    }

    /// A ghost as it is on screen.
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

    pub fn ghosts(&self) -> impl Iterator<Item = &Mark> {
        self.content.marks.iter().filter(|m| m.is_ghost())
    }

    /// Newer suggestions wait to be shown.
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    pub fn selection(&self) -> Option<Span> {
        self.anchor.map(|anchor| Span::covering(anchor, self.cursor))
    }

    /// The words that a label would be put on: the selection, else the word at the cursor.
    pub fn target(&self) -> Option<Span> {
        let words = self.content.words.len();
        let span = self.selection().unwrap_or_else(|| Span::covering(self.cursor, self.cursor));
        (span.end().get() <= words).then_some(span)
    }

    /// The first word of what is picked or selected, else the one at the cursor.
    pub fn first_word(&self) -> TokenIdx {
        let span = self.picked_mark().map(|m| m.hull).or(self.selection());
        span.map_or(self.cursor, |span| span.start())
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
        self.cursor = TokenIdx::default();
        self.clear();
        self.show_latest(project);
        self.reveal = Some(Reveal::WithNext);
    }

    /// Shows the newest suggestions.
    pub fn show_latest(&mut self, project: &Project) {
        self.suggestions = self.current.and_then(|id| project.suggestions(id)).cloned();
        self.has_news = false;
        self.stamp = None;
        self.refresh(project);
    }

    /// Brings the content up to the project; call each frame.
    pub fn refresh(&mut self, project: &Project) {
        let before = (self.current, self.picked, self.selection());
        self.follow_project(project);
        let had_selected = before.1.is_some() || before.2.is_some();
        if had_selected && before != (self.current, self.picked, self.selection()) {
            (self.unseen, self.shown_in) = (Some(Unseen::Replaced), None);
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
            self.stamp = None;
            return;
        };
        if self.seen.of == Some(sentence.id()) && self.seen.tokens != sentence.tokens() {
            // Its spans count other words now.
            self.let_go();
            self.suggestions = project.suggestions(sentence.id()).cloned();
            self.stamp = None;
        }
        self.seen.see(corpus, sentence);
        let threshold = project.settings().threshold;
        self.take_or_announce(project, sentence, threshold);
        let model = self.suggestions.as_ref().map(|s| s.model);
        let stamp = Stamp { sentence: sentence.id(), revision: corpus.revision(), model, threshold };
        if self.stamp == Some(stamp) {
            return;
        }
        let ghosts = visible(self.suggestions.as_ref(), sentence, corpus.labels(), threshold);
        let heads = self.suggestions.as_ref().map_or(&[][..], |s| &s.heads);
        self.content = Content::of(corpus, sentence, &ghosts, heads);
        self.stamp = Some(stamp);
        self.stay_inside();
    }

    /// For somebody who has no sentence, or whose sentence is gone: was joined, taken back, or its document removed.
    fn find_a_place(&mut self, corpus: &Corpus) {
        let near = self.current.and_then(|_| self.seen.heir(corpus));
        let here = near.or_else(|| corpus.sentences().find(|s| s.status().waits())).or(corpus.sentence_at(0));
        self.let_go();
        self.cursor = here.map(|sentence| self.seen.first_word_in(sentence)).unwrap_or_default();
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
        if project.withheld(sentence.id()).is_some() {
            // From now on it shows none: those on screen could not be accepted.
            (self.suggestions, self.stamp, self.has_news) = (None, None, false);
            return;
        }
        if visible(self.suggestions.as_ref(), sentence, project.corpus().labels(), threshold).is_empty()
            && self.picked.is_none()
        {
            self.suggestions = latest.cloned();
            self.stamp = None;
        } else {
            self.has_news = latest.is_some();
        }
    }

    fn stay_inside(&mut self) {
        let last = self.content.words.len().saturating_sub(1);
        self.cursor = TokenIdx::new(self.cursor.get().min(last));
        self.anchor = self.anchor.map(|a| TokenIdx::new(a.get().min(last)));
        self.picked = self.picked.filter(|id| self.content.mark(*id).is_some());
    }

    /// Lets go what is selected, for the person wants it so.
    pub fn clear(&mut self) {
        self.let_go();
        self.unseen = None;
    }

    fn let_go(&mut self) {
        self.anchor = None;
        self.picked = None;
        self.marks_from = None;
        self.offers_labels = false;
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
        self.unseen
    }

    /// What is selected was painted, in sight or not.
    pub fn was_painted(&mut self, is_in_sight: bool, frame: u64) {
        if self.unseen == Some(Unseen::Replaced) && *self.shown_in.get_or_insert(frame) == frame {
            // What the person did before this frame was about what is gone.
            return;
        }
        self.unseen = (!is_in_sight).then_some(Unseen::OutOfSight);
    }

    /// Moves the cursor by words; what was selected is let go.
    pub fn move_cursor(&mut self, by: isize) {
        let from = match (self.selection().or(self.picked_mark().map(|m| m.hull)), by < 0) {
            (Some(span), true) => span.start(),
            (Some(span), false) => span.last(),
            (None, _) => self.cursor,
        };
        self.clear();
        self.cursor = self.moved(from, by);
        self.follows_cursor = true;
    }

    pub fn set_cursor(&mut self, token: TokenIdx) {
        self.clear();
        self.cursor = token;
        self.follows_cursor = true;
        self.stay_inside();
    }

    /// Moves the free end of the selection; a picked mark becomes the selection first.
    pub fn grow(&mut self, by: isize) {
        if let Some(hull) = self.picked_mark().map(|m| m.hull) {
            let (anchor, cursor) = if by < 0 { (hull.last(), hull.start()) } else { (hull.start(), hull.last()) };
            (self.anchor, self.cursor) = (Some(anchor), cursor);
        }
        (self.picked, self.unseen) = (None, None);
        self.offers_labels = false;
        self.anchor = self.anchor.or(Some(self.cursor));
        self.cursor = self.moved(self.cursor, by);
        self.follows_cursor = true;
    }

    pub fn select(&mut self, from: TokenIdx, to: TokenIdx) {
        (self.picked, self.unseen) = (None, None);
        (self.anchor, self.cursor) = (Some(from), to);
        self.stay_inside();
    }

    pub fn pick(&mut self, id: MarkId) {
        self.clear();
        if let Some(hull) = self.content.mark(id).map(|m| m.hull) {
            self.picked = Some(id);
            self.cursor = hull.start();
            self.follows_cursor = true;
        }
    }

    /// Picks the next mark, forwards or backwards: first those at the cursor, from inner to outer, then the next ones
    /// after it in the order of reading; backwards the same the other way round. From the end it goes on at the start.
    pub fn pick_next(&mut self, by: isize) {
        let from = self.marks_from.unwrap_or(self.cursor);
        let order = self.marks_around(from);
        let Some(last) = order.len().checked_sub(1) else { return };
        let at = self.picked.and_then(|picked| order.iter().position(|(_, id)| *id == picked));
        let next = match at {
            Some(at) => (at as isize + by).rem_euclid(order.len() as isize) as usize,
            // Where there is nothing further on, it goes round.
            None if by > 0 => order.iter().position(|(place, _)| *place != Place::Before).unwrap_or(0),
            None => order.iter().rposition(|(place, _)| *place != Place::After).unwrap_or(last),
        };
        if let Some((_, id)) = order.get(next) {
            self.pick(*id);
            self.marks_from = Some(from);
        }
    }

    /// All marks: those before a word, those on it from inner to outer, and those after it.
    fn marks_around(&self, word: TokenIdx) -> Vec<(Place, MarkId)> {
        let mut marks: Vec<(Place, &Mark)> =
            self.content.marks.iter().map(|mark| (Place::of(mark, word), mark)).collect();
        marks.sort_by_key(|(place, mark)| {
            let (start, width) = (mark.hull.start(), mark.hull.width_tokens());
            let size = if *place == Place::At { (width, 0) } else { (start.get(), usize::MAX - width) };
            (*place, size, start, mark.id)
        });
        marks.into_iter().map(|(place, mark)| (place, mark.id)).collect()
    }

    /// Picks the first suggestion at or after a word, else the first of all, else nothing.
    pub fn pick_ghost_from(&mut self, start: TokenIdx) {
        let mut ghosts: Vec<&Mark> = self.ghosts().collect();
        ghosts.sort_by_key(|m| (m.hull.start() < start, m.hull.start(), std::cmp::Reverse(m.hull.end())));
        match ghosts.first().map(|m| m.id) {
            Some(id) => self.pick(id),
            None => self.clear(),
        }
    }

    /// Selects what a parent of the picked mark or selection would cover: one word more.
    pub fn wrap(&mut self) {
        let Some(inner) = self.picked_mark().map(|m| m.hull).or(self.selection()).or(self.target()) else { return };
        let words = self.content.words.len();
        let (start, last) = (inner.start().get(), inner.last().get());
        let (from, to) = if last + 1 < words { (start, last + 1) } else { (start.saturating_sub(1), last) };
        self.select(TokenIdx::new(from), TokenIdx::new(to));
    }

    /// The span that the picked mention would have with one end moved; `None` where there is no room.
    pub fn moved_end(&self, at_start: bool, by: isize) -> Option<Span> {
        let hull = self.picked_mark()?.hull;
        let (mut start, mut end) = (hull.start().get() as isize, hull.end().get() as isize);
        if at_start {
            start += by
        } else {
            end += by
        }
        let inside = start >= 0 && end as usize <= self.content.words.len();
        Span::from_range(usize::try_from(start).ok()?..usize::try_from(end).ok()?).filter(|_| inside)
    }

    fn moved(&self, from: TokenIdx, by: isize) -> TokenIdx {
        let last = self.content.words.len().saturating_sub(1);
        TokenIdx::new(from.get().saturating_add_signed(by).min(last))
    }
}

impl Seen {
    fn see(&mut self, corpus: &Corpus, sentence: &Sentence) {
        self.place = corpus.place(sentence.id()).unwrap_or_default();
        if self.of != Some(sentence.id()) || self.tokens != sentence.tokens() {
            (self.of, self.document) = (Some(sentence.id()), Some(sentence.document()));
            self.tokens = sentence.tokens().to_vec();
        }
    }

    /// The sentence that has the first word now, else the one that came in its place, else the last of all.
    fn heir<'c>(&self, corpus: &'c Corpus) -> Option<&'c Sentence> {
        let first = self.tokens.first()?.start();
        let document = self.document.and_then(|id| corpus.document(id)).filter(|document| document.is_there());
        let mut there = document.into_iter().flat_map(|d| &d.sentences).filter_map(|id| corpus.sentence(*id));
        let has_it = |s: &&Sentence| s.tokens().iter().any(|token| token.start() <= first && first < token.end());
        let neighbour = || corpus.sentence_at(self.place.min(corpus.sentence_count().saturating_sub(1)));
        there.find(has_it).or_else(neighbour)
    }

    /// The first word of what was seen, as another sentence counts; its own first one where it has none of them.
    fn first_word_in(&self, sentence: &Sentence) -> TokenIdx {
        let first = self.tokens.first().filter(|_| self.document == Some(sentence.document()));
        let at = first.and_then(|first| sentence.tokens().iter().position(|token| first.start() < token.end()));
        TokenIdx::new(at.unwrap_or_default())
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
pub(super) fn neighbours<'c>(corpus: &'c Corpus, sentence: &Sentence) -> (Option<&'c Sentence>, Option<&'c Sentence>) {
    let Some(document) = corpus.document(sentence.document()) else { return (None, None) };
    let at = document.sentences.iter().position(|id| *id == sentence.id());
    let near = |at: Option<usize>| at.and_then(|at| document.sentences.get(at)).and_then(|id| corpus.sentence(*id));
    (near(at.and_then(|a| a.checked_sub(1))), near(at.map(|a| a + 1)))
}
