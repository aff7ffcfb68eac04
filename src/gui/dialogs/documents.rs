//! The documents of the project: what each of them holds, which are set aside, which are to go.

use super::{DialogContext, begin_footer, default_button, explain, modal};
use crate::annotation::DocumentId;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId, keys_text};
use crate::gui::theme::{self, RADIUS_CONTROL, Tokens, size};
use crate::gui::widgets::galleys::elided;
use crate::gui::widgets::parts::{button, quiet_button};
use crate::gui::widgets::sentence::{Content, Typesetter, paint_words};
use crate::session::{Command, DocumentRow, Project, Task};
use crate::text::tokenize;
use crate::wording::{counted, grouped};
use eframe::egui::{
    self, Align, Align2, Button, Color32, CursorIcon, Id, Layout, Margin, Rect, Response, Role, ScrollArea, Sense,
    TextEdit, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use std::collections::HashSet;

const ROW_SPACING: f32 = 2.0;
/// Rows for which there is room at least.
const FEWEST_ROWS: usize = 4;
/// The window's height but for the rows.
const BESIDE_ROWS: f32 = 350.0;

pub(crate) struct DocumentsDialog {
    filter: String,
    list: List,
    /// What was done here and not taken back, the latest last.
    done: Vec<String>,
    /// What was asked for at a revision: it is done when the revision is another one.
    asked: Option<(u64, String)>,
    /// The most documents that were listed: the dialog stays as high as that, so that nothing moves under the hand.
    most: usize,
    /// Nothing was painted yet.
    fresh: bool,
}

/// The documents of a revision, and which of them a filter lets through.
#[derive(Default)]
struct List {
    made_of: Option<(u64, String)>,
    /// The last answer to a filter; until there is one to what is typed now, this one holds.
    found: Found,
    /// What is being looked for.
    looking: Option<(String, Task<HashSet<DocumentId>>)>,
    all: Vec<DocumentRow>,
    excluded: usize,
    shown: Vec<DocumentRow>,
}

/// Where the parts of a row are.
struct Columns {
    name: Rect,
    /// The right ends of sentences, complete ones and mentions.
    numbers: [f32; 3],
    actions: Rect,
}

impl DocumentsDialog {
    pub(crate) fn new() -> Self {
        Self { filter: String::new(), list: List::default(), done: Vec::new(), asked: None, most: 0, fresh: true }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        let revision = project.corpus().revision();
        if let Some((_, text)) = self.asked.take_if(|(at, _)| *at != revision) {
            self.done.push(text);
        }
        self.list.follow(project, &self.filter);
        self.most = self.most.max(self.list.all.len()).max(FEWEST_ROWS);
        let room = (ctx.content_rect().height() - BESIDE_ROWS).max(size::LIST_ROW * FEWEST_ROWS as f32);
        let closed = modal(ctx, "Documents", size::DIALOG_WIDE, |ui| {
            self.head(ui);
            self.rows(ui, room, project, context);
            self.what_was_done(ui, context);
            self.foot(ui, project, context);
        });
        if closed {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn head(&mut self, ui: &mut Ui) {
        let all = counted(self.list.all.len(), "document", "documents");
        explain(
            ui,
            &match self.list.excluded {
                0 => all,
                some => format!("{all}, {} excluded", grouped(some)),
            },
        );
        let edit = TextEdit::singleline(&mut self.filter)
            .id(Id::unique("name of a document"))
            .hint_text(theme::body("Find by name", theme::tokens(ui).text_faint))
            .margin(Margin::symmetric(10, 7))
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Find by name");
    }

    fn rows(&mut self, ui: &mut Ui, room: f32, project: &Project, context: &mut DialogContext<'_>) {
        let tokens = theme::tokens(ui);
        let can_change = project.read_only().is_none();
        let (head, _) = ui.allocate_exact_size(vec2(ui.available_width(), size::LABEL_ROW), Sense::hover());
        head_row(ui, &Columns::of(head, can_change), tokens);
        ui.spacing_mut().item_spacing.y = ROW_SPACING;
        let height = (self.most as f32 * (size::LIST_ROW + ROW_SPACING)).min(room);
        let area = ScrollArea::vertical().auto_shrink(false).max_height(height).min_scrolled_height(height);
        // Not where it was when another dialog was closed, perhaps days ago.
        let area = if std::mem::take(&mut self.fresh) { area.vertical_scroll_offset(0.0) } else { area };
        area.show_rows(ui, size::LIST_ROW, self.list.shown.len(), |ui, range| {
            if self.list.shown.is_empty() {
                let text = if self.list.all.is_empty() {
                    "The project has no texts yet: import some."
                } else {
                    "No document has such a name."
                };
                ui.label(theme::body(text, tokens.text_dim));
            }
            for row in self.list.shown.get(range).unwrap_or_default() {
                if let Some((verb, command)) = show_row(ui, row, project, can_change, context) {
                    let name = name_of(project, row.id);
                    self.asked = Some((project.corpus().revision(), format!("{verb} {name}")));
                    context.actions.push(UiAction::Change(command));
                }
            }
        });
        ui.reset_style();
    }

    /// The keys are the dialog's: what Ctrl+Z does elsewhere is a button here.
    fn what_was_done(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let tokens = theme::tokens(ui);
        // It has its room before there is anything to tell.
        let (_, line) = ui.allocate_space(vec2(ui.available_width(), size::LIST_ROW));
        let Some(text) = self.done.last() else { return };
        let mut ui = ui.new_child(UiBuilder::new().max_rect(line).layout(Layout::right_to_left(Align::Center)));
        let undo = quiet_button(&mut ui, "Undo");
        let later = format!("{} takes it back later", keys_text(CommandId::Undo));
        ui.label(theme::small(later, tokens.text_dim));
        let font = theme::regular(size::TEXT_SMALL);
        let galley = elided(&ui, text, font, tokens.text, ui.available_width() - size::GAP);
        let room = vec2(ui.available_width(), galley.size().y);
        let (rect, told) = ui.allocate_exact_size(room, Sense::hover());
        ui.painter().galley(rect.min, galley, tokens.text);
        told.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
        if undo.clicked() {
            self.done.pop();
            context.actions.push(UiAction::Change(Command::Undo));
        }
    }

    fn foot(&mut self, ui: &mut Ui, project: &Project, context: &mut DialogContext<'_>) {
        ui.add_space(size::GAP);
        begin_footer(ui);
        ui.horizontal(|ui| {
            let can_change = project.read_only().is_none();
            let import = button(ui, can_change, "Import texts");
            if import.on_hover_text(commands::title_with_keys(CommandId::Import)).clicked() {
                context.actions.extend([UiAction::CloseDialog, UiAction::Command(CommandId::Import)]);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if default_button(ui, true, "Done") {
                    context.actions.push(UiAction::CloseDialog);
                }
            });
        });
    }
}

/// The documents whose names hold something, or all where it is nothing.
#[derive(Default)]
struct Found {
    filter: String,
    documents: HashSet<DocumentId>,
}

impl List {
    fn follow(&mut self, project: &Project, filter: &str) {
        let revision = project.corpus().revision();
        self.look(project, filter.trim());
        if self.made_of.as_ref().is_some_and(|(of, made)| *of == revision && *made == self.found.filter) {
            return;
        }
        self.all = project.documents();
        self.excluded = self.all.iter().filter(|row| row.excluded).count();
        let Found { filter, documents } = &self.found;
        let is_found = |row: &&DocumentRow| filter.is_empty() || documents.contains(&row.id);
        self.shown = self.all.iter().filter(is_found).copied().collect();
        self.made_of = Some((revision, filter.clone()));
    }

    /// Of many names it takes longer than a frame: a thread looks.
    fn look(&mut self, project: &Project, filter: &str) {
        if let Some((asked, task)) = &self.looking
            && let Some(documents) = task.poll()
        {
            self.found = Found { filter: asked.clone(), documents: documents.unwrap_or_default() };
            self.looking = None;
        }
        if filter.is_empty() {
            (self.found, self.looking) = (Found::default(), None);
        } else if self.found.filter != filter && self.looking.as_ref().is_none_or(|(asked, _)| asked != filter) {
            self.looking = Some((filter.to_owned(), project.find_documents(filter)));
        }
    }
}

impl Columns {
    fn of(row: Rect, with_actions: bool) -> Self {
        let inside = row.shrink2(vec2(size::GAP, 0.0));
        let actions = if with_actions { size::ROW_ACTIONS } else { 0.0 };
        let right = inside.right() - actions;
        let numbers = [2.0, 1.0, 0.0].map(|column| right - column * size::NUMBER_COLUMN);
        let end_of_name = right - 3.0 * size::NUMBER_COLUMN;
        Self {
            name: Rect::from_min_max(inside.min, pos2(end_of_name, inside.bottom())),
            numbers,
            actions: Rect::from_min_max(pos2(right, inside.top()), inside.max),
        }
    }
}

fn head_row(ui: &Ui, columns: &Columns, tokens: &Tokens) {
    let font = theme::bold(size::TEXT_SMALL);
    let middle = columns.name.center().y;
    let painter = ui.painter();
    let title = |x: f32, align: Align2, text: &str| {
        painter.text(pos2(x, middle), align, text, font.clone(), tokens.text_dim);
    };
    title(columns.name.left(), Align2::LEFT_CENTER, "Name");
    for (x, text) in columns.numbers.iter().zip(["Sentences", "Complete", "Mentions"]) {
        title(*x, Align2::RIGHT_CENTER, text);
    }
}

/// A document; what was chosen to be done with it, and how that is told afterwards.
fn show_row(
    ui: &mut Ui,
    row: &DocumentRow,
    project: &Project,
    can_change: bool,
    context: &mut DialogContext<'_>,
) -> Option<(&'static str, Command)> {
    let tokens = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), size::LIST_ROW));
    let sense = if row.first.is_some() { Sense::click() } else { Sense::hover() };
    let response = ui.interact(rect, ui.scope_id().with(("document", row.id.0)), sense);
    let columns = Columns::of(rect, can_change);
    let name = name_of(project, row.id);
    // Also where the pointer is on one of the row's buttons.
    if ui.rect_contains_pointer(rect) {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, tokens.hover);
    }
    let color = if row.excluded { tokens.text_faint } else { tokens.text };
    let mut place = columns.name;
    if row.excluded {
        let font = theme::regular(size::TEXT_SMALL);
        let at = pos2(place.right() - size::GAP, place.center().y);
        let said = ui.painter().text(at, Align2::RIGHT_CENTER, "excluded", font, tokens.text_faint);
        place.set_right(said.left());
    }
    place.set_right(place.right() - size::GAP);
    let is_whole = paint_name(ui, context.typesetter, name, place, color);
    for (x, number) in columns.numbers.iter().zip([row.sentences, row.complete, row.mentions]) {
        let color = if row.excluded { tokens.text_faint } else { tokens.text_dim };
        let font = theme::regular(size::TEXT_SMALL);
        ui.painter().text(pos2(*x, rect.center().y), Align2::RIGHT_CENTER, grouped(number), font, color);
    }
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, spoken(row, name)));
    let chosen = if can_change { actions(ui, row, name, columns.actions) } else { None };
    if let Some(first) = row.first.filter(|_| response.clicked()) {
        context.actions.extend([UiAction::GoTo(first), UiAction::CloseDialog]);
    }
    let response = if row.first.is_some() { response.on_hover_cursor(CursorIcon::PointingHand) } else { response };
    if !is_whole {
        response.on_hover_text(name);
    }
    chosen
}

fn actions(ui: &mut Ui, row: &DocumentRow, name: &str, place: Rect) -> Option<(&'static str, Command)> {
    let tokens = theme::tokens(ui);
    let layout = Layout::right_to_left(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().id_salt(("actions", row.id.0)).max_rect(place).layout(layout));
    ui.spacing_mut().item_spacing.x = size::GAP_SMALL;
    let mut action = |text: &str, color: Color32, help: &str| -> Response {
        let shown = Button::new(theme::small(text, color)).frame_when_inactive(false);
        ui.add(shown).accessible_name(format!("{text} {name}")).on_hover_text(help)
    };
    let help = format!("Takes it out of the project. Undo ({}) brings it back.", keys_text(CommandId::Undo));
    let delete = action("Delete", tokens.bad, &help).clicked();
    let other = if row.excluded {
        action("Include", tokens.accent, "Takes its sentences in again.")
    } else {
        let help = "Sets it aside: its sentences are not listed, searched, learned from or exported \
                    until it is included again.";
        action("Exclude", tokens.accent, help)
    };
    let documents = vec![row.id];
    match (delete, other.clicked(), row.excluded) {
        (true, ..) => Some(("Deleted", Command::RemoveDocuments { documents })),
        (_, true, false) => Some(("Excluded", Command::ExcludeDocuments { documents })),
        (_, true, true) => Some(("Included", Command::IncludeDocuments { documents })),
        _ => None,
    }
}

/// False where not all of it has room.
fn paint_name(ui: &Ui, typesetter: &mut Typesetter, name: &str, place: Rect, color: Color32) -> bool {
    let content = Content::foreign(name, &tokenize(name), &[]);
    if content.can_be_cut() {
        let galley = elided(ui, name, theme::regular(size::TEXT), color, place.width());
        ui.painter().galley(pos2(place.left(), place.center().y - galley.size().y / 2.0), galley.clone(), color);
        return !galley.elided;
    }
    // Set by our own flow: egui has no bidirectional text.
    let (flow, origin) = typesetter.set_row(ui, &content, place);
    paint_words(ui, &content, &flow, origin, color);
    flow.pieces.len() == content.words.len()
}

fn name_of(project: &Project, id: DocumentId) -> &str {
    project.corpus().document(id).map_or("", |document| &document.name)
}

fn spoken(row: &DocumentRow, name: &str) -> String {
    let (sentences, mentions) =
        (counted(row.sentences, "sentence", "sentences"), counted(row.mentions, "mention", "mentions"));
    let state = if row.excluded { ", excluded" } else { "" };
    format!("document {name}{state}, {sentences}, {} complete, {mentions}", grouped(row.complete))
}
