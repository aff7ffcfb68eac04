//! The card of the selected mention or suggestion.

use super::{Stage, origin};
use crate::annotation::{Mention, Provenance, Sentence, Span, Suggestion};
use crate::gui::acts::Act;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{self, button, primary_button};
use crate::gui::widgets::sentence::{Content, Mark, MarkId, Setting, paint_words};
use crate::gui::workspace::NoteDraft;
use eframe::egui::{self, Align, Layout, Sense, Ui, vec2};

pub(crate) fn show(ui: &mut Ui, stage: &mut Stage<'_>) {
    let tokens = theme::tokens(ui);
    let Some(mark) = stage.view.picked_mark().cloned() else {
        nothing(ui, stage);
        return;
    };
    parts::section(ui, if mark.is_ghost() { "Selected suggestion" } else { "Selected mention" });
    ui.add_space(2.0);
    parts::card(tokens).inner_margin(egui::Margin::same(12)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let Some(sentence) = stage.view.sentence(stage.project) else { return };
        words(ui, stage, sentence, &mark);
        match mark.id {
            MarkId::Gold(_) => mention(ui, stage, &mark),
            MarkId::Ghost(span, label) => {
                let suggestion = stage.view.suggestion(span, label).cloned();
                ghost(ui, stage, &mark, suggestion.as_ref());
            }
        }
    });
}

/// The words of the mark, set like the sentence so that right-to-left scripts come out right.
fn words(ui: &mut Ui, stage: &mut Stage<'_>, sentence: &Sentence, mark: &Mark) {
    let tokens = theme::tokens(ui);
    let corpus = stage.project.corpus();
    let width = ui.available_width().floor();
    let setting = Setting { width, points: size::TEXT, most_rows: 3 };
    ui.spacing_mut().item_spacing.y = 0.0;
    for fragment in &mark.fragments {
        let content = Content::plain(corpus, sentence, fragment.range());
        let flow = stage.typesetter.set(ui, &content, setting);
        let (rect, response) = ui.allocate_exact_size(vec2(width, flow.height), Sense::hover());
        paint_words(ui, &content, &flow, rect.min, tokens.text);
        let text = corpus.span_text(sentence, *fragment);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    }
    ui.reset_style();
}

fn nothing(ui: &mut Ui, stage: &Stage<'_>) {
    let tokens = theme::tokens(ui);
    parts::section(ui, "Nothing selected");
    let text = match stage.view.selection() {
        Some(_) => "Type the key of a label to mark the selected words.".to_owned(),
        None => format!(
            "{} goes to the suggestions and mentions; the key of a label marks the word at the cursor.",
            commands::keys_text(CommandId::NextMark)
        ),
    };
    ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
}

fn label_line(ui: &mut Ui, stage: &Stage<'_>, mark: &Mark, right: &str) {
    let tokens = theme::tokens(ui);
    let color = theme::label_color(mark.color, tokens);
    let name = stage.project.corpus().labels().get(mark.label).map_or("?", |l| l.display_name());
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(theme::heading(name, color)).truncate());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(theme::small(right, tokens.text_dim)));
    });
}

fn mention(ui: &mut Ui, stage: &mut Stage<'_>, mark: &Mark) {
    let tokens = theme::tokens(ui);
    let Some(mention) = stage.view.picked_mention(stage.project).cloned() else { return };
    label_line(ui, stage, mark, "");
    let mut line = |text: String| ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
    line(made_by(&mention.provenance));
    let held = held(stage, mark);
    if !held.is_empty() {
        line(format!("holds {}: {}", held.len(), held.join(" · ")));
    }
    if mark.fragments.len() > 1 {
        line(format!("in {} pieces; the model does not learn from it", mark.fragments.len()));
    }
    for (name, value) in &mention.attributes {
        line(format!("{name}: {value}"));
    }
    note(ui, stage, &mention);
    if button(ui, stage.can_change(), "Remove").on_hover_text(commands::title_with_keys(CommandId::Remove)).clicked() {
        stage.act(Act::Command(CommandId::Remove));
    }
}

fn made_by(provenance: &Provenance) -> String {
    match provenance {
        Provenance::Person => "made by a person".to_owned(),
        Provenance::Import => "came with an import".to_owned(),
        Provenance::Rule => "made by a rule".to_owned(),
        Provenance::Accepted(model) => format!("accepted from {}", origin(*model)),
    }
}

/// The labels of the mentions inside this one.
fn held(stage: &Stage<'_>, mark: &Mark) -> Vec<String> {
    let inside = |m: &&Mark| m.id != mark.id && !m.is_ghost() && mark.hull.contains(m.hull) && m.hull != mark.hull;
    stage.view.content().marks.iter().filter(inside).map(|m| m.name.clone()).collect()
}

fn note(ui: &mut Ui, stage: &mut Stage<'_>, mention: &Mention) {
    let tokens = theme::tokens(ui);
    let can_change = stage.can_change();
    let Some(sentence) = stage.view.current() else { return };
    let draft = &mut stage.view.note;
    if draft.of != Some((sentence, mention.id)) {
        *draft = NoteDraft::of(sentence, mention);
    }
    let edit = egui::TextEdit::multiline(&mut draft.text)
        .id(egui::Id::unique("note on the mention"))
        .hint_text(theme::small("note …", tokens.text_faint))
        .font(theme::regular(size::TEXT_SMALL))
        .desired_rows(1)
        .interactive(can_change)
        .desired_width(f32::INFINITY);
    let response = ui.add(edit).accessible_name("Note on the mention");
    if std::mem::take(&mut stage.view.focus_note) {
        response.request_focus();
        // Below many labels it may be out of sight.
        response.scroll_to_me(Some(Align::Center));
    }
    let draft = &mut stage.view.note;
    if response.changed() {
        draft.typing.touch(ui.ctx());
    }
    if response.has_focus() {
        draft.is_open = true;
        let is_due = draft.typing.is_due(ui.ctx());
        let text = format!("{}: done. It is saved as you type.", commands::end_typing_text());
        ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
        if commands::take_end_typing(ui.ctx()) {
            response.surrender_focus();
        }
        if is_due {
            stage.act(Act::KeepNote { has_ended: false });
        }
    } else if draft.is_open {
        stage.act(Act::KeepNote { has_ended: true });
    } else if draft.note() != mention.note {
        // Changed elsewhere, as by an undo.
        draft.text.clone_from(&mention.note);
    }
}

fn ghost(ui: &mut Ui, stage: &mut Stage<'_>, mark: &Mark, suggestion: Option<&Suggestion>) {
    let tokens = theme::tokens(ui);
    let score = mark.score.map(|s| format!("{s:.2}")).unwrap_or_default();
    label_line(ui, stage, mark, &score);
    let labels = stage.project.corpus().labels();
    if let Some((label, score)) = suggestion.and_then(|s| s.runner_up)
        && let Some(name) = labels.get(label).map(|l| &l.name)
    {
        ui.label(theme::small(format!("next: {name} {score:.2}"), tokens.text_dim));
    }
    if let Some(crossed) = crossed(stage, mark.hull) {
        ui.label(theme::small(format!("crosses the mention {crossed}"), tokens.warn));
    }
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(size::GAP, 0.0);
        let can = stage.can_change();
        if primary_button(ui, can, "Accept").on_hover_text(commands::title_with_keys(CommandId::Accept)).clicked() {
            stage.act(Act::Command(CommandId::Accept));
        }
        if button(ui, can, "Reject").on_hover_text(commands::title_with_keys(CommandId::Reject)).clicked() {
            stage.act(Act::Command(CommandId::Reject));
        }
    });
}

fn crossed(stage: &Stage<'_>, span: Span) -> Option<String> {
    let crosses = |m: &&Mark| !m.is_ghost() && m.hull.crosses(span);
    stage.view.content().marks.iter().find(crosses).map(|m| m.name.clone())
}
