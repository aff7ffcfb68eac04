//! Sentences with what a model found, missed and made up; a click opens one on the annotation page.

use super::super::explain;
use super::analysed::OfModel;
use crate::annotation::{Corpus, LabelId, SentenceId, Span};
use crate::gui::actions::UiAction;
use crate::gui::dialogs::DialogContext;
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use crate::gui::widgets::parts::{quiet_button, section};
use crate::gui::widgets::sentence::{Content, Emphasis, TextLayout, paint};
use crate::wording::counted;
use eframe::egui::{CursorIcon, Role, Sense, Ui, Vec2, WidgetInfo, vec2};

/// Sentences that are shown at first, and more each time somebody asks.
const AT_A_TIME: usize = 10;
/// Characters that a screen reader says of a sentence.
const MOST_SPOKEN: usize = 80;
const PAD: f32 = 8.0;

/// A sentence, and the mention in it that it is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Item {
    pub(super) sentence: SentenceId,
    pub(super) mention: Option<(Span, LabelId)>,
}

/// What is made of one once.
struct Painted {
    content: Content,
    /// For a screen reader.
    spoken: String,
}

/// A list of them under a title.
pub(super) struct SentenceList {
    title: String,
    items: Vec<Item>,
    shown: usize,
    /// Of the first ones, as far as they were shown; `None` of one that is no longer there.
    contents: Vec<Option<Painted>>,
}

impl SentenceList {
    pub(super) fn new(title: String, items: Vec<Item>) -> Self {
        Self { title, items, shown: AT_A_TIME, contents: Vec::new() }
    }

    /// `corpus` is the one that was scored.
    pub(super) fn show(&mut self, ui: &mut Ui, corpus: &Corpus, model: &OfModel, context: &mut DialogContext<'_>) {
        section(ui, &self.title);
        explain(
            ui,
            "Solid: gold. Dashed: predicted wrongly, with its probability. Click a sentence, or press Enter on it, to \
             open it on the annotation page.",
        );
        self.fill(corpus, model);
        for (at, (item, content)) in self.items.iter().zip(&self.contents).enumerate() {
            match content {
                Some(painted) => show_item(ui, at, item, painted, context),
                None => explain(ui, "A sentence that is no longer there."),
            }
        }
        let rest = self.items.len().saturating_sub(self.shown);
        if rest > 0 {
            let more = counted(rest.min(AT_A_TIME), "more sentence", "more sentences");
            if quiet_button(ui, &format!("Show {more} of {}", self.items.len())).clicked() {
                self.shown += AT_A_TIME;
            }
        }
    }

    fn fill(&mut self, corpus: &Corpus, model: &OfModel) {
        let missing = self.items.iter().take(self.shown).skip(self.contents.len());
        let contents = missing.map(|item| {
            let mentions = model.mentions(item.sentence);
            let sentence = corpus.sentence(item.sentence)?;
            let content = Content::judged(corpus, sentence, &mentions.gold, &mentions.predicted);
            let said: Vec<&str> = content.marks.iter().map(|mark| mark.spoken.as_str()).collect();
            let text: String = corpus.sentence_text(sentence).chars().take(MOST_SPOKEN).collect();
            let spoken = format!("go to sentence {}: {text}. {}", item.sentence.0 + 1, said.join(", "));
            Some(Painted { content, spoken })
        });
        let contents: Vec<Option<Painted>> = contents.collect();
        self.contents.extend(contents);
    }
}

fn show_item(ui: &mut Ui, at: usize, item: &Item, painted: &Painted, context: &mut DialogContext<'_>) {
    let Painted { content, spoken } = painted;
    let tokens = theme::tokens(ui);
    let width = (ui.available_width() - 2.0 * PAD).max(100.0).floor();
    let layout = TextLayout { width, points: size::TEXT, most_rows: usize::MAX };
    let flow = context.typesetter.set(ui, content, layout);
    let (rect, _) = ui.allocate_exact_size(vec2(width + 2.0 * PAD, flow.height + 2.0 * PAD), Sense::hover());
    let response = ui.interact(rect, ui.scope_id().with(("sentence", at)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, spoken));
    if ui.is_rect_visible(rect) {
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect, RADIUS_CONTROL, tokens.hover);
        }
        let is_meant = |mark: &crate::gui::widgets::sentence::Mark| item.mention == Some((mark.hull, mark.label));
        let emphasis = Emphasis { picked: content.marks.iter().position(is_meant), ..Emphasis::default() };
        paint(ui, content, &flow, &emphasis, rect.min + Vec2::splat(PAD));
        ui.painter().hline(rect.x_range(), rect.bottom(), (1.0, tokens.line));
    }
    if response.on_hover_cursor(CursorIcon::PointingHand).clicked() {
        context.actions.extend([UiAction::GoTo(item.sentence), UiAction::CloseDialog]);
    }
}
