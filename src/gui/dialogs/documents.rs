//! The documents of the project: what each of them holds, which are set aside, which are to go.

use super::{DialogContext, begin_footer, default_button, explain, modal};
use crate::annotation::DocumentId;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId, keys_text};
use crate::gui::theme::{self, size};
use crate::gui::widgets::galleys::elided;
use crate::gui::widgets::parts::{button, quiet_button};
use crate::gui::widgets::sentence::{Content, Typesetter, paint_words};
use crate::gui::widgets::table::{Column, Row, Sort, Table, TableState, cell_place, cell_text};
use crate::session::{Command, DocumentRow, Project, Task};
use crate::text::tokenize;
use crate::wording::{counted, grouped};
use eframe::egui::{
    self, Align, Align2, Button, Color32, CursorIcon, Id, Layout, Margin, Rect, Response, Role, Sense, TextEdit, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use std::collections::HashSet;

const ROW_SPACING: f32 = 2.0;
/// Rows for which there is room at least.
const FEWEST_ROWS: usize = 4;
/// The window's height but for the rows.
const BESIDE_ROWS: f32 = 350.0;
/// The column of names.
const NAME_COLUMN: usize = 0;
const NAME: Column = Column::rest("Name");
const SENTENCES: Column = Column::number("Sentences", size::NUMBER_COLUMN);
const COMPLETE: Column = Column::number("Complete", size::NUMBER_COLUMN);
const MENTIONS: Column = Column::number("Mentions", size::NUMBER_COLUMN);
const COLUMNS: [Column; 5] = [NAME, SENTENCES, COMPLETE, MENTIONS, Column::actions(size::ROW_ACTIONS)];
/// Of a project that can't be changed.
const READ_ONLY: [Column; 4] = [NAME, SENTENCES, COMPLETE, MENTIONS];

#[derive(Default)]
pub(crate) struct DocumentsDialog {
    filter: String,
    list: List,
    /// What was done here and not taken back, the latest last.
    done: Vec<String>,
    /// What was asked for at a revision: it is done when the revision is another one.
    asked: Option<(u64, String)>,
    /// The most documents that were listed: the dialog stays as high as that, so that nothing moves under the hand.
    most: usize,
    table: TableState,
}

/// The documents of a revision, counted once, and those of them that a filter lets through, in the order of the table.
#[derive(Default)]
struct List {
    made_of: Option<(u64, String, Option<Sort>, usize)>,
    /// The last answer to a filter; until there is one to what is typed now, this one holds.
    found: Found,
    /// What is being looked for.
    looking: Option<(String, Task<HashSet<DocumentId>>)>,
    by_name: ByName,
    all: Vec<DocumentRow>,
    excluded: usize,
    shown: Vec<DocumentRow>,
}

impl DocumentsDialog {
    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        let revision = project.corpus().revision();
        if let Some((_, text)) = self.asked.take_if(|(at, _)| *at != revision) {
            self.done.push(text);
        }
        self.list.follow(project, &self.filter, self.table.sort());
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
        let can_change = project.read_only().is_none();
        ui.spacing_mut().item_spacing.y = ROW_SPACING;
        let height = (self.most as f32 * (size::LIST_ROW + ROW_SPACING)).min(room);
        if self.list.shown.is_empty() {
            self.nothing(ui, height);
            ui.reset_style();
            return;
        }
        let columns: &[Column] = if can_change { &COLUMNS } else { &READ_ONLY };
        let rows = self.list.shown.len();
        let table = Table { id: "documents", columns, rows, row_height: size::LIST_ROW, height, keeps_height: true };
        table.show(ui, &mut self.table, |row| {
            let Some(document) = self.list.shown.get(row.index()) else { return };
            if let Some((verb, command)) = show_row(row, document, project, can_change, context) {
                let name = name_of(project, document.id);
                self.asked = Some((project.corpus().revision(), format!("{verb} {name}")));
                context.actions.push(UiAction::Change(command));
            }
        });
        ui.reset_style();
    }

    /// As high as a table would be.
    fn nothing(&self, ui: &mut Ui, height: f32) {
        let text = if self.list.all.is_empty() {
            "This project has no texts yet. Import some."
        } else {
            "No document matches."
        };
        let (_, place) = ui.allocate_space(vec2(ui.available_width(), size::LABEL_ROW + ROW_SPACING + height));
        let mut inside = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::top_down(Align::Min)));
        inside.label(theme::body(text, theme::tokens(ui).text_dim));
    }

    /// The keys are the dialog's: what Ctrl+Z does elsewhere is a button here.
    fn what_was_done(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let tokens = theme::tokens(ui);
        // It has its room before there is anything to tell.
        let (_, line) = ui.allocate_space(vec2(ui.available_width(), size::LIST_ROW));
        let Some(text) = self.done.last() else { return };
        let mut ui = ui.new_child(UiBuilder::new().max_rect(line).layout(Layout::right_to_left(Align::Center)));
        let undo = quiet_button(&mut ui, "Undo");
        let later = format!("{} also undoes it later", keys_text(CommandId::Undo));
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

/// Where each document stands by its name. Names stay as they are: only new documents make another order.
#[derive(Default)]
struct ByName {
    /// By the numbers of documents.
    ranks: Vec<usize>,
    sorting: Option<Task<Vec<DocumentId>>>,
}

impl ByName {
    /// Sorting many names takes longer than a frame: a thread does it.
    fn follow(&mut self, project: &Project) {
        if let Some(sorted) = self.sorting.as_ref().and_then(Task::poll) {
            self.sorting = None;
            // After a fault they stay in their own order.
            let count = sorted.as_ref().map_or(project.corpus().all_documents().len(), Vec::len);
            self.ranks = vec![usize::MAX; count];
            let sorted = sorted.unwrap_or_default();
            for (rank, id) in sorted.into_iter().enumerate() {
                self.ranks.get_mut(id.0 as usize).into_iter().for_each(|of| *of = rank);
            }
        }
        if self.ranks.len() != project.corpus().all_documents().len() && self.sorting.is_none() {
            self.sorting = Some(project.documents_by_name());
        }
    }

    fn rank(&self, id: DocumentId) -> (usize, DocumentId) {
        (self.ranks.get(id.0 as usize).copied().unwrap_or(usize::MAX), id)
    }
}

impl List {
    fn follow(&mut self, project: &Project, filter: &str, sort: Option<Sort>) {
        self.look(project, filter.trim());
        if sort.is_some_and(|sort| sort.column == NAME_COLUMN) {
            self.by_name.follow(project);
        }
        let now = (project.corpus().revision(), self.found.filter.clone(), sort, self.by_name.ranks.len());
        if self.made_of.as_ref() == Some(&now) {
            return;
        }
        if self.made_of.as_ref().is_none_or(|(counted, ..)| *counted != now.0) {
            self.all = project.documents();
            self.excluded = self.all.iter().filter(|row| row.excluded).count();
        }
        let Found { filter, documents } = &self.found;
        let is_found = |row: &&DocumentRow| filter.is_empty() || documents.contains(&row.id);
        self.shown = self.all.iter().filter(is_found).copied().collect();
        if let Some(sort) = sort {
            match sort.column {
                1 => sort.apply(&mut self.shown, |a, b| a.sentences.cmp(&b.sentences)),
                2 => sort.apply(&mut self.shown, |a, b| a.complete.cmp(&b.complete)),
                3 => sort.apply(&mut self.shown, |a, b| a.mentions.cmp(&b.mentions)),
                // Until it is known they stand in their own order.
                _ => sort.apply(&mut self.shown, |a, b| self.by_name.rank(a.id).cmp(&self.by_name.rank(b.id))),
            }
        }
        self.made_of = Some(now);
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

/// A document; what was chosen to be done with it, and how that is told afterwards.
fn show_row(
    row: &mut Row<'_, '_, '_>,
    document: &DocumentRow,
    project: &Project,
    can_change: bool,
    context: &mut DialogContext<'_>,
) -> Option<(&'static str, Command)> {
    let sense = if document.first.is_some() { Sense::click() } else { Sense::hover() };
    let name = name_of(project, document.id);
    let mut is_whole = true;
    let response = row.lead(document.id.0, sense, |ui| {
        let tokens = theme::tokens(ui);
        let color = if document.excluded { tokens.text_faint } else { tokens.text };
        let mut place = cell_place(ui);
        if document.excluded {
            let font = theme::regular(size::TEXT_SMALL);
            let at = pos2(place.right(), place.center().y);
            let said = ui.painter().text(at, Align2::RIGHT_CENTER, "excluded", font, tokens.text_faint);
            place.set_right(said.left() - size::GAP);
        }
        is_whole = paint_name(ui, context.typesetter, name, place, color);
    });
    for number in [document.sentences, document.complete, document.mentions] {
        row.cell(|ui| {
            let tokens = theme::tokens(ui);
            let color = if document.excluded { tokens.text_faint } else { tokens.text_dim };
            cell_text(ui, &grouped(number), Align::Max, color);
        });
    }
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, spoken(document, name)));
    let mut chosen = None;
    if can_change {
        row.cell(|ui| chosen = actions(ui, document, name));
    }
    if let Some(first) = document.first.filter(|_| response.clicked()) {
        context.actions.extend([UiAction::GoTo(first), UiAction::CloseDialog]);
    }
    let response = match document.first {
        Some(_) => response.on_hover_cursor(CursorIcon::PointingHand),
        None => response,
    };
    if !is_whole {
        response.on_hover_text(name);
    }
    chosen
}

fn actions(ui: &mut Ui, row: &DocumentRow, name: &str) -> Option<(&'static str, Command)> {
    let tokens = theme::tokens(ui);
    let place = ui.max_rect().with_max_x(ui.max_rect().right() - size::GAP);
    let layout = Layout::right_to_left(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().id_salt(("actions", row.id.0)).max_rect(place).layout(layout));
    ui.spacing_mut().item_spacing.x = size::GAP_SMALL;
    let mut action = |text: &str, color: Color32, help: &str| -> Response {
        let shown = Button::new(theme::small(text, color)).frame_when_inactive(false);
        ui.add(shown).accessible_name(format!("{text} {name}")).on_hover_text(help)
    };
    let help = format!("Removes it from the project. Undo ({}) restores it.", keys_text(CommandId::Undo));
    let delete = action("Delete", tokens.bad, &help).clicked();
    let other = if row.excluded {
        action("Include", tokens.accent, "Brings its sentences back.")
    } else {
        let help = "Sets it aside: its sentences are not listed, searched, trained on or exported until you include \
                    it again.";
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
