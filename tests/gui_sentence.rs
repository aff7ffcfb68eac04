//! The sentence widget on corpora made here: what it lays where, and what the pointer does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

use eframe::egui::{self, Pos2, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use nestling::annotation::{
    Attributes, Corpus, Fragments, Kept, Label, LabelId, LabelSet, Mention, MentionId, NewDocument, NewSentence,
    Provenance, Rgb, SentenceId, Span, Suggestion, TokenIdx,
};
use nestling::gui::theme;
use nestling::gui::widgets::sentence::{
    Content, Emphasis, MarkId, SentenceEvent, SentenceView, TextLayout, Typesetter,
};
use nestling::text::tokenize;

const PER: LabelId = LabelId(0);
const ORG: LabelId = LabelId(1);

/// A corpus of one sentence; mentions are lists of word ranges.
fn corpus(text: &str, mentions: &[(&[(usize, usize)], LabelId)]) -> Corpus {
    let labels = ["PER", "ORG"].iter().enumerate().map(|(id, name)| Label {
        id: LabelId(id as u32),
        name: (*name).to_owned(),
        title: String::new(),
        color: Rgb(0x56, 0xA5, 0xF5),
        key: None,
    });
    let labels = LabelSet::restore(labels.collect(), LabelId(2)).unwrap();
    let mentions = mentions.iter().enumerate().map(|(id, (ranges, label))| Mention {
        id: MentionId(id as u64),
        fragments: Fragments::new(ranges.iter().map(|&(s, e)| span(s, e)).collect()).unwrap(),
        label: *label,
        attributes: Attributes::new(),
        note: String::new(),
        provenance: Provenance::Person,
        source_id: None,
    });
    let sentence = NewSentence { tokens: tokenize(text), mentions: mentions.collect(), ..NewSentence::default() };
    let mut corpus = Corpus::new(labels, MentionId(0), 0);
    let document =
        NewDocument { name: "made up".into(), text: text.into(), kept: Kept::new(), sentences: vec![sentence] };
    corpus.add_document(document).unwrap();
    corpus
}

fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

fn ghost(start: usize, end: usize, label: LabelId, score: f32) -> Suggestion {
    Suggestion { span: span(start, end), label, score, runner_up: None }
}

struct Page {
    content: Content,
    width: f32,
    typesetter: Typesetter,
    events: Vec<SentenceEvent>,
}

impl Page {
    fn of(corpus: &Corpus, ghosts: &[Suggestion], width: f32) -> Self {
        let sentence = corpus.sentence(SentenceId(0)).unwrap();
        let content = Content::of(corpus, sentence, ghosts, &[]);
        Self { content, width, typesetter: Typesetter::default(), events: Vec::new() }
    }

    fn ui(&mut self, ui: &mut egui::Ui) {
        self.typesetter.begin_frame(ui);
        let setting = TextLayout { width: self.width, points: theme::size::TEXT_SENTENCE, most_rows: usize::MAX };
        let flow = self.typesetter.set(ui, &self.content, setting);
        let view = SentenceView {
            id: egui::Id::unique("sentence"),
            content: &self.content,
            flow: &flow,
            emphasis: Emphasis { cursor: Some(0), ..Emphasis::default() },
            takes_keyboard: true,
        };
        self.events.extend(view.show(ui).event);
    }
}

fn harness(page: Page) -> Harness<'static, Page> {
    let mut harness = Harness::builder()
        .with_size([900.0, 500.0])
        .with_step_dt(1.0 / 60.0)
        .allow_missing_glyphs()
        .with_context_setup(theme::install)
        .build_ui_state(|ui, page: &mut Page| page.ui(ui), page);
    harness.run();
    harness
}

fn rect(harness: &Harness<'_, Page>, name: &str) -> Rect {
    harness.get_by_label(name).rect()
}

fn drag(harness: &mut Harness<'_, Page>, from: Pos2, to: Pos2) {
    harness.hover_at(from);
    harness.run_steps(1);
    harness.drag_at(from);
    harness.run_steps(1);
    for step in 1..=4 {
        harness.hover_at(from + (to - from) * (step as f32 / 4.0));
        harness.run_steps(1);
    }
    harness.drop_at(to);
    harness.run();
}

const SENTENCE: &str = "The mayor of Aarhus met Anna Berg, chair of the Harbour Board.";

#[test]
fn a_drag_over_words_selects_them() {
    let mut harness = harness(Page::of(&corpus(SENTENCE, &[]), &[], 800.0));
    let (from, to) = (rect(&harness, "word 6: Anna").left_center(), rect(&harness, "word 7: Berg").center());
    drag(&mut harness, from + egui::vec2(2.0, 0.0), to);
    let last = *harness.state().events.last().unwrap();
    assert_eq!(last, SentenceEvent::Select { from: TokenIdx::new(5), to: TokenIdx::new(6), done: true });
}

#[test]
fn a_click_selects_a_word_and_a_bar_is_picked() {
    let corpus = corpus(SENTENCE, &[(&[(5, 7)], PER)]);
    let mut harness = harness(Page::of(&corpus, &[ghost(3, 4, ORG, 0.91)], 800.0));
    harness.get_by_label("word 4: Aarhus").click();
    harness.run();
    let aarhus = TokenIdx::new(3);
    assert_eq!(harness.state().events, [SentenceEvent::Select { from: aarhus, to: aarhus, done: true }]);

    harness.state_mut().events.clear();
    harness.get_by_label("mention PER: Anna Berg").click();
    harness.run();
    harness.get_by_label("suggestion ORG 0.91: Aarhus").click();
    harness.run();
    let picked = [MarkId::Mention(MentionId(0)), MarkId::Suggestion(span(3, 4), ORG)];
    assert_eq!(harness.state().events, picked.map(SentenceEvent::Pick));
}

#[test]
fn a_double_click_on_a_ghost_accepts_it() {
    let mut harness = harness(Page::of(&corpus(SENTENCE, &[]), &[ghost(3, 4, ORG, 0.91)], 800.0));
    for _ in 0..2 {
        harness.get_by_label("suggestion ORG 0.91: Aarhus").click();
        harness.run_steps(1);
    }
    harness.run();
    assert_eq!(*harness.state().events.last().unwrap(), SentenceEvent::Accept(MarkId::Suggestion(span(3, 4), ORG)));
}

#[test]
fn punctuation_stays_with_its_word() {
    let harness = harness(Page::of(&corpus(SENTENCE, &[]), &[], 800.0));
    let (berg, comma) = (rect(&harness, "word 7: Berg"), rect(&harness, "word 8: ,"));
    assert!((comma.left() - berg.right()).abs() < 0.5, "{berg} {comma}");
    let chair = rect(&harness, "word 9: chair");
    assert!(chair.left() - comma.right() > 3.0);
}

#[test]
fn no_bar_jumps_when_a_suggestion_is_accepted() {
    let ghosts = [ghost(9, 12, ORG, 0.9), ghost(7, 12, PER, 0.8), ghost(9, 12, PER, 0.7)];
    let before = Page::of(&corpus(SENTENCE, &[(&[(11, 12)], ORG)]), &ghosts, 800.0).content;
    let accepted = corpus(SENTENCE, &[(&[(11, 12)], ORG), (&[(9, 12)], ORG)]);
    let after = Page::of(&accepted, &ghosts[1..], 800.0).content;
    let lanes = |content: &Content| content.marks.iter().map(|m| (m.hull, m.label, m.lane)).collect::<Vec<_>>();
    assert_eq!(lanes(&before), lanes(&after));
}

#[test]
fn arabic_runs_from_the_right_and_its_latin_words_from_the_left() {
    let text = "زار محمد شركة Google Inc في القاهرة";
    let harness = harness(Page::of(&corpus(text, &[(&[(3, 5)], ORG)]), &[], 800.0));
    let left = |name: &str| rect(&harness, name).left();
    assert!(left("word 1: زار") > left("word 2: محمد"));
    assert!(left("word 3: شركة") > left("word 4: Google"));
    assert!(left("word 4: Google") < left("word 5: Inc"), "a Latin name reads from the left");
    let card = harness.get_by_label_contains("sentence:").rect();
    assert!((rect(&harness, "word 1: زار").right() - card.right()).abs() < 1.0, "right-aligned");
    let bar = rect(&harness, "mention ORG: Google Inc");
    let (google, inc) = (rect(&harness, "word 4: Google"), rect(&harness, "word 5: Inc"));
    assert!((bar.left() - google.left()).abs() < 0.5 && (bar.right() - inc.right()).abs() < 0.5);
}

#[test]
fn a_word_wider_than_the_row_is_cut_and_stays_inside() {
    let long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3);
    let text = format!("Die {long} tagte 北京大学在北京北京大学在北京北京大学在北京.");
    let mut page = Page::of(&corpus(&text, &[(&[(1, 2)], ORG)]), &[], 300.0);
    page.width = 300.0;
    let mut harness = harness(page);
    let content = harness.state().content.clone();
    let right = std::rc::Rc::new(std::cell::Cell::new(0.0_f32));
    let rows = std::rc::Rc::new(std::cell::Cell::new(0));
    let (r, n) = (right.clone(), rows.clone());
    harness.step();
    let mut probe = Harness::builder().allow_missing_glyphs().with_context_setup(theme::install).build_ui(move |ui| {
        let mut typesetter = Typesetter::default();
        typesetter.begin_frame(ui);
        let flow = typesetter.set(ui, &content, TextLayout { width: 300.0, points: 21.0, most_rows: usize::MAX });
        r.set(flow.pieces.iter().map(|p| p.rect.right()).fold(0.0, f32::max));
        n.set(flow.rows.len());
        assert!(flow.segments.iter().all(|s| s.bar.right() <= 301.0 && s.bar.left() >= -1.0));
    });
    probe.run();
    assert!(right.get() <= 301.0, "{}", right.get());
    assert!(rows.get() > 6, "{}", rows.get());
}

#[test]
fn a_mention_in_two_pieces_has_two_bars_of_one_lane_joined_by_a_line() {
    let corpus = corpus(SENTENCE, &[(&[(1, 2), (5, 7)], PER), (&[(3, 4)], ORG)]);
    let content = Page::of(&corpus, &[], 800.0).content;
    let mut probe = Harness::builder().with_context_setup(theme::install).build_ui(move |ui| {
        let mut typesetter = Typesetter::default();
        typesetter.begin_frame(ui);
        let flow = typesetter.set(ui, &content, TextLayout { width: 800.0, points: 21.0, most_rows: usize::MAX });
        let split = content.marks.iter().position(|m| m.fragments.len() == 2).unwrap();
        let bars: Vec<Rect> = flow.segments.iter().filter(|s| s.mark == split).map(|s| s.bar).collect();
        assert_eq!(bars.len(), 2);
        assert_eq!(bars[0].top(), bars[1].top());
        assert_eq!(flow.links.len(), 1);
        assert!(flow.links[0].from.x < flow.links[0].to.x);
        let inner = flow.segments.iter().find(|s| s.mark != split).unwrap();
        assert!(inner.bar.bottom() < bars[0].top(), "what lies in the gap is nearer to the words");
    });
    probe.run();
}

#[test]
fn a_row_has_only_the_lanes_that_it_needs() {
    let text = "Anna met Bo . ".repeat(12);
    let corpus = corpus(&text, &[(&[(0, 1)], PER), (&[(0, 3)], ORG)]);
    let content = Page::of(&corpus, &[], 300.0).content;
    let mut probe = Harness::builder().with_context_setup(theme::install).build_ui(move |ui| {
        let mut typesetter = Typesetter::default();
        typesetter.begin_frame(ui);
        let flow = typesetter.set(ui, &content, TextLayout { width: 300.0, points: 21.0, most_rows: usize::MAX });
        assert_eq!(flow.rows[0].lanes, 2);
        assert!(flow.rows[1..].iter().all(|row| row.lanes == 0));
    });
    probe.run();
}
