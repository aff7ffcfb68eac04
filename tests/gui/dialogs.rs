//! Every dialog by keyboard alone: where it begins, where Tab leads, what Enter and Escape do, and that the keyboard is
//! the sentence's again afterwards.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers, Popup, Rect, Role};
use egui_kittest::kittest::{By, NodeT, Queryable};
use nestling::gui::commands::TABLE;
use nestling::session::{ImportHow, SaveState};

/// More controls than any dialog has.
const MOST_TABS: usize = 60;
const CROSS: &str = "Close (Esc)";

/// The control that has the keyboard.
#[derive(Clone, PartialEq, Debug)]
struct Control {
    name: String,
    role: Role,
    rect: Rect,
    /// Which node it is.
    id: String,
    /// Where it was once the next one had the keyboard: a dialog scrolls to what has it.
    rect_before_next: Rect,
}

fn focused(page: &Page) -> Option<Control> {
    // Where nothing has the keyboard, the tree says the window.
    let has_keyboard = By::new().predicate(|node| node.is_focused() && node.role() != Role::Window);
    let node = page.harness.query(has_keyboard)?;
    let access = node.accesskit_node();
    let name = access.label().or(access.value()).unwrap_or_default();
    // Without numbers: how long ago something was changes while the test goes on.
    let name = name.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (rect, id) = (node.rect(), format!("{:?}", access.id()));
    Some(Control { name, role: access.role(), rect, id, rect_before_next: rect })
}

fn focused_in(page: &Page, dialog: &str) -> Control {
    focused(page).ok_or(dialog).expect("a control has the keyboard")
}

fn has_dialog(page: &Page) -> bool {
    page.shows(CROSS)
}

/// Runs a command by its full title, and waits for what its dialog reads.
fn call(page: &mut Page, title: &str) {
    page.wait("the disk", |page| page.see(|workspace| workspace.project.save_state()) == SaveState::AllSaved);
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", title);
    page.key(Key::Enter);
    page.wait("what the dialog reads", |page| !page.is_open() || !page.shows("Reading …"));
}

/// Where Tab leads, from where the dialog begins until it comes round.
fn walk(page: &mut Page, dialog: &str) -> Vec<Control> {
    let mut first = focused_in(page, dialog);
    let mut visited = vec![first.clone()];
    let mut has_grown = false;
    loop {
        page.key(Key::Tab);
        let now = focused_in(page, dialog);
        if let Some(last) = visited.last_mut() {
            let is_last = By::new().predicate(|node| format!("{:?}", node.id()) == last.id);
            last.rect_before_next = page.harness.query(is_last).map_or(last.rect, |node| node.rect());
        }
        if now.name == first.name && now.role == first.role && now.rect.intersects(first.rect) {
            return visited;
        }
        if visited.len() == MOST_TABS && !has_grown {
            // What the dialog waited for has come meanwhile and moved its controls.
            (has_grown, first, visited) = (true, now.clone(), Vec::new());
        }
        visited.push(now);
        assert!(visited.len() <= MOST_TABS, "{dialog} never comes round: {visited:#?}");
    }
}

/// Walks through a dialog both ways and looks for what a person expects.
fn check_walk(page: &mut Page, dialog: &str, default: &str) {
    let there = walk(page, dialog);
    let names: Vec<&str> = there.iter().map(|control| control.name.as_str()).collect();
    let default: String = default.chars().filter(|c| !c.is_ascii_digit()).collect();
    assert!(names.contains(&default.as_str()), "{dialog}: {default} is not among {names:?}");
    assert!(names.contains(&CROSS), "{dialog}: it can't be closed by Tab: {names:?}");
    for pair in there.windows(2) {
        let (a, b) = (pair[0].rect_before_next, pair[1].rect);
        let beside = a.y_range().contains(b.center().y) && b.y_range().contains(a.center().y);
        assert!(!beside || a.left() < b.left(), "{dialog}: {} comes before {}", pair[0].name, pair[1].name);
    }
    for control in there.iter().rev() {
        page.press(Modifiers::SHIFT, Key::Tab);
        assert_eq!(focused_in(page, dialog).name, control.name, "{dialog}: back");
    }
}

/// The label key marks the word at the cursor: the keyboard is the sentence's.
fn check_back_on_page(page: &mut Page, after: &str) {
    let before = page.mentions(page.current()).len();
    page.key(Key::End);
    page.character("p");
    assert_eq!(page.mentions(page.current()).len(), before + 1, "after {after} the keyboard is the sentence's");
    page.press(Modifiers::COMMAND, Key::Z);
}

/// The dialogs that commands open, and the buttons that do what they are for.
const DEFAULTS: [(&str, &str); 15] = [
    ("Split word", "Split"),
    ("Review doubtful annotations", "Start review"),
    ("Analyse models", "Close"),
    ("Compare models", "Close"),
    ("Add label", "Add"),
    ("Documents", "Done"),
    ("Dashboard", CROSS),
    ("History", CROSS),
    ("Import texts", "Read"),
    ("Export", "Write file"),
    ("Save a copy", "Save copy"),
    ("New project", "Create project"),
    ("Open project", "Open"),
    ("Settings", "Close"),
    ("Program log", "Close"),
];

#[test]
fn every_dialog_is_walked_through_by_tab_and_left_by_escape() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.key(Key::Space);
    page.key(Key::ArrowUp);
    let mut met = 0;
    for entry in TABLE {
        if matches!(entry.title, "Close project" | "All commands" | "Choose label by name" | "Train now") {
            continue;
        }
        // From the same place: the second word, with nothing selected; and with something complete to look at again.
        if page.see(|workspace| workspace.project.counts().complete) == 0 {
            page.key(Key::Space);
        }
        page.keys(&[Key::Escape, Key::Home, Key::ArrowRight]);
        call(&mut page, entry.title);
        if !has_dialog(&page) {
            assert!(!DEFAULTS.iter().any(|(title, _)| *title == entry.title), "{} has a dialog", entry.title);
            continue;
        }
        let default = DEFAULTS.iter().find(|(title, _)| *title == entry.title).map_or(CROSS, |(_, default)| default);
        let button = page.harness.get_all_by_role_and_label(Role::Button, default).next().unwrap();
        if button.accesskit_node().is_disabled() {
            // There is a field that has to be filled in first, and it has the keyboard.
            page.character("NEW");
        }
        check_walk(&mut page, entry.title, default);
        page.key(Key::Escape);
        assert!(!has_dialog(&page), "{} goes by Escape", entry.title);
        check_back_on_page(&mut page, entry.title);
        met += 1;
    }
    assert_eq!(met, DEFAULTS.len() + 1, "and the keys");
}

#[test]
fn every_dialog_gives_the_keyboard_back_however_it_is_closed() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    for (title, _) in DEFAULTS {
        for way in ["cross", "key on the cross"] {
            page.keys(&[Key::Escape, Key::Home, Key::ArrowRight]);
            call(&mut page, title);
            match way {
                "cross" => {
                    page.harness.hover_at(eframe::egui::pos2(8.0, 850.0));
                    page.harness.drag_at(eframe::egui::pos2(8.0, 850.0));
                    page.harness.drop_at(eframe::egui::pos2(8.0, 850.0));
                    page.step();
                    assert!(has_dialog(&page), "a slip of the pointer beside {title} ends nothing");
                    page.click(CROSS);
                }
                _ => {
                    page.harness.get_by_label(CROSS).focus();
                    page.step();
                    page.key(Key::Enter);
                }
            }
            assert!(!has_dialog(&page), "{title} goes by {way}");
            check_back_on_page(&mut page, &format!("{title} by {way}"));
        }
    }
}

#[test]
fn enter_creates_a_project_whose_name_was_typed_over_the_proposal() {
    let fixture = Fixture::new();
    let mut page = fixture.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.press(Modifiers::COMMAND, Key::N);
    assert!(page.field("Name").is_focused());
    // What is selected is typed over.
    page.type_into("Name", "Ferry news");
    assert!(page.field("File").value().unwrap().ends_with("Ferry news.nestling"));
    page.key(Key::Tab);
    assert!(page.field("File").is_focused(), "the field, before the button at its right");
    let file = fixture.path("ferry.nestling");
    page.type_into("File", &file.display().to_string());
    page.keys(&[Key::Tab, Key::Tab]);
    assert!(page.field("Labels").is_focused());
    page.key(Key::Enter);
    assert!(page.shows("Create project"), "Enter begins a line there");
    page.type_into("Labels", "GENE");
    page.press(Modifiers::COMMAND, Key::Enter);
    page.wait("the project", Page::is_open);
    assert!(file.exists());
    assert_eq!(
        page.see(|workspace| workspace.project.corpus().labels().iter().map(|l| l.name.clone()).collect::<Vec<_>>()),
        ["GENE"]
    );
}

#[test]
fn enter_goes_through_an_import_and_an_export() {
    let fixture = Fixture::new();
    let more = fixture.write("more.txt", "One more came .\n");
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    page.type_into("Files", &more.display().to_string());
    page.key(Key::Enter);
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    check_walk(&mut page, "the preview", "Import 1 sentence");
    page.key(Key::Enter);
    page.wait("the import", |page| page.shows("Annotate"));
    check_walk(&mut page, "what came of the import", "Annotate");
    page.key(Key::Enter);
    assert!(!has_dialog(&page));
    page.press(Modifiers::COMMAND, Key::E);
    assert_eq!(focused_in(&page, "export").role, Role::ComboBox, "the first field");
    page.key(Key::Tab);
    page.key(Key::Enter);
    page.wait("the export", |page| page.shows("Exported"));
    check_walk(&mut page, "what came of the export", "Close");
    page.key(Key::Enter);
    assert!(!has_dialog(&page));
    check_back_on_page(&mut page, "an export");
}

#[test]
fn enter_saves_a_label_and_a_choice_leaves_it_to_the_dialog() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.click("edit label PER");
    check_walk(&mut page, "a label", "Save");
    assert!(page.field("Name in files").is_focused());
    page.type_into("Name in files", "PERSON");
    page.key(Key::Enter);
    assert!(page.shows("label PERSON"));
    check_back_on_page(&mut page, "a label");

    page.press(Modifiers::COMMAND, Key::G);
    page.key(Key::Tab);
    page.key(Key::Space);
    assert!(page.shows("No sentence is complete yet."), "chosen, and still there");
    page.key(Key::Enter);
    assert!(has_dialog(&page), "what can't be done is not done");
    page.key(Key::Escape);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.key(Key::Enter);
    assert!(!has_dialog(&page), "a choice leaves Enter to the dialog");
}

#[test]
fn a_report_begins_at_its_default_button() {
    let fixture = Fixture::new();
    let broken = fixture.write("broken.nestling", "this is no project");
    let mut page = fixture.window(Some(&broken));
    page.wait("the report", |page| page.shows("Something went wrong"));
    assert_eq!(focused_in(&page, "a report").name, "Close");
    check_walk(&mut page, "a report", "Close");
    page.key(Key::Enter);
    assert!(!page.shows("Something went wrong"));
}

#[test]
fn enter_that_is_held_does_not_go_through_a_dialog() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.key(Key::Space);
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "review doubtful");
    page.hold(Key::Enter, None, 4);
    assert!(page.harness.query_by_role_and_label(Role::Button, "Start review").is_some(), "it asks still");
}

#[test]
fn the_keyboard_is_where_it_was_when_a_drop_down_of_a_dialog_closes() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let mut page = fixture.open(&fixture.project(&["PER"], &file, ImportHow::default()));
    page.press(Modifiers::COMMAND, Key::E);
    for way in [Key::Escape, Key::Enter] {
        page.key(Key::Space);
        page.key(Key::ArrowDown);
        page.key(way);
        assert!(has_dialog(&page), "the drop-down alone");
        let control = focused_in(&page, "export");
        assert_eq!(control.role, Role::ComboBox, "{control:?}");
    }
    page.choose("Format of the file", "Plain text");
    assert_eq!(focused_in(&page, "export").role, Role::ComboBox, "after a click");
    page.key(Key::Tab);
    assert_ne!(focused_in(&page, "export").name, "Format of the file");
}

/// The sentence has the keyboard, as a screen reader sees it.
fn is_at_sentence(page: &Page) -> bool {
    focused(page).is_some_and(|control| control.role == Role::Group && control.name.starts_with("sentence: "))
}

/// What a click has opened goes by Escape: a menu or drop-down, a dialog, the palette.
fn leave_what_opened(page: &mut Page) {
    if has_dialog(page) || Popup::is_any_open(&page.harness.ctx) || page.shows("Command") {
        page.key(Key::Escape);
    }
}

/// Everything on the page that can be clicked, by its name.
fn controls(page: &Page) -> Vec<(Role, String)> {
    let roles = [Role::Button, Role::ComboBox, Role::ListItem, Role::Slider, Role::Mark];
    let mut controls = Vec::new();
    for role in roles {
        for node in page.harness.query_all_by_role(role) {
            let access = node.accesskit_node();
            controls.extend(access.label().filter(|_| !access.is_disabled()).map(|name| (role, name)));
        }
    }
    controls
}

#[test]
fn every_control_of_the_page_gives_the_keyboard_back_when_it_is_clicked() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    let controls = controls(&page);
    assert!(controls.len() > 30, "{controls:?}");
    for (role, name) in &controls {
        page.key(Key::Escape);
        let Some(node) = page.harness.query_all_by_role(*role).find(|node| {
            node.accesskit_node().label().as_deref() == Some(name) && !node.accesskit_node().is_disabled()
        }) else {
            continue;
        };
        node.click();
        page.step();
        leave_what_opened(&mut page);
        assert!(is_at_sentence(&page), "{role:?} {name}: {:?} has the keyboard", focused(&page));
    }
}

#[test]
fn every_control_that_was_led_to_gives_the_keyboard_back_when_it_is_clicked() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    for name in ["Complete and go to next", "Menu", "Minimum score of suggestions", "Flag for a second look (F)"] {
        page.harness.get_by_label(name).focus();
        page.step();
        assert_eq!(focused(&page).unwrap().name, name, "somebody was led there");
        page.key(Key::Tab);
        assert!(!is_at_sentence(&page) && focused(&page).is_some(), "and goes on from there");
        let next = focused(&page).unwrap();
        page.harness.get_by_label(name).click();
        page.step();
        leave_what_opened(&mut page);
        assert!(is_at_sentence(&page), "after {name}, from {next:?}");
    }
}

#[test]
fn fields_and_drop_downs_of_the_page_give_the_keyboard_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    for key in [Key::Escape, Key::Enter] {
        page.press(Modifiers::COMMAND, Key::F);
        page.key(key);
        assert!(is_at_sentence(&page), "the search, by {key:?}");
    }
    page.press(Modifiers::COMMAND, Key::F);
    page.click("word 4: Aarhus");
    assert!(is_at_sentence(&page), "the search, by a click");
    page.character("l");
    page.press(Modifiers::COMMAND, Key::M);
    page.key(Key::Escape);
    assert!(is_at_sentence(&page), "a note");
    page.choose("Sentence order", "Next: text order");
    assert!(is_at_sentence(&page), "a drop-down, by a choice");
    for key in [Key::Escape, Key::Enter] {
        page.click("Menu");
        page.key(Key::ArrowDown);
        page.key(key);
        leave_what_opened(&mut page);
        assert!(is_at_sentence(&page), "the menu, by {key:?}");
    }
}

#[test]
fn the_palette_gives_the_keyboard_back_however_it_is_closed() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    for (open, query, leave) in [
        (Key::K, "", Key::Escape),
        (Key::K, "first word", Key::Enter),
        (Key::K, "no such thing", Key::Escape),
        (Key::F2, "", Key::Escape),
        (Key::F2, "per", Key::Enter),
    ] {
        for before in [None, Some(Key::ArrowDown), Some(Key::Tab), Some(Key::ArrowUp)] {
            page.press(if open == Key::K { Modifiers::COMMAND } else { Modifiers::NONE }, open);
            if !query.is_empty() {
                page.type_into(if open == Key::K { "Command" } else { "Label" }, query);
            }
            // There is one row, or the palette is left without a choice.
            before.into_iter().for_each(|key| page.key(key));
            page.key(leave);
            assert!(is_at_sentence(&page), "{query:?} {before:?} {leave:?}: {:?}", focused(&page));
        }
    }
    page.press(Modifiers::COMMAND, Key::K);
    page.harness.get_by_label("First word").click();
    page.step();
    assert!(is_at_sentence(&page), "by a click on a row");
    page.click("Menu");
    page.press(Modifiers::COMMAND, Key::K);
    assert!(!page.shows("Word and sentence boundaries"), "a menu does not lie over the palette");
    page.key(Key::Escape);
    assert!(is_at_sentence(&page));
}
