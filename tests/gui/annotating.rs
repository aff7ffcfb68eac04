//! Annotating by keys and by mouse.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::annotation::{SentenceId, Status};
use nestling::session::{Driver, ImportAs, ImportHow};

#[test]
fn words_are_marked_by_mouse() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let (from, to) = (page.center("word 6: Anna"), page.center("word 7: Berg"));
    page.drag(from - vec2(10.0, 0.0), to);
    let labels: Vec<_> = page.harness.query_all_by_label_contains("PER").collect();
    assert_eq!(labels.len(), 3, "labels are offered beside the selection");
    drop(labels);
    page.click("PER  P");
    assert_eq!(page.mentions(0), ["PER: Anna Berg"]);
    page.click("label ORG");
    assert_eq!(page.mentions(0), ["ORG: Anna Berg"], "a label of the panel relabels the selected mention");
    page.click("word 4: Aarhus");
    page.click("label LOC");
    page.click("mention ORG: Anna Berg");
    page.click("Remove");
    assert_eq!(page.mentions(0), ["LOC: Aarhus"]);
    page.harness.get_by_label_contains("sentence 3, untouched").click();
    page.step();
    assert_eq!(page.current(), 2);
}

#[test]
fn labels_that_do_not_fit_beside_a_selection_are_told() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let names: Vec<String> = (1..=60).map(|n| format!("LABEL-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut page = fixture.open(&fixture.project(&names, &file, ImportHow::default()));
    let (from, to) = (page.center("word 6: Anna"), page.center("word 7: Berg"));
    page.drag(from - vec2(10.0, 0.0), to);
    page.step();
    let more = page.harness.get_by_label_contains("scroll, or search by name (F2)");
    assert!(more.accesskit_node().label().unwrap().contains(" more labels"));
    more.click();
    page.step();
    page.type_into("Label", "LABEL-57");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["LABEL-57: Anna Berg"]);
}

#[test]
fn a_mention_is_wrapped_moved_removed_and_brought_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("chair of the Harbour Board of Lund\n");
    page.keys(&[Key::ArrowRight, Key::ArrowRight, Key::ArrowRight]);
    page.character("l");
    page.press(Modifiers::COMMAND, Key::ArrowUp);
    page.character("o");
    assert_eq!(page.mentions(0), ["ORG: Harbour Board", "LOC: Harbour"]);
    page.press(Modifiers::ALT.plus(Modifiers::SHIFT), Key::ArrowLeft);
    page.press(Modifiers::ALT, Key::ArrowRight);
    page.press(Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "LOC: Harbour"]);
    page.key(Key::Tab);
    page.character("p");
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "PER: Harbour"]);
    page.key(Key::Delete);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "LOC: Harbour"]);
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert_eq!(page.mentions(0), ["ORG: the Harbour Board", "PER: Harbour"]);
}

#[test]
fn a_note_is_kept_with_its_mention() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::M);
    page.type_into("Note on the mention", "really?");
    page.key(Key::Escape);
    page.step();
    let note = page.see(|d| d.project.corpus().sentence(SentenceId(0)).unwrap().mentions()[0].note.clone());
    assert_eq!(note, "really?");
}

/// The note of the first mention as the file has it, while the window has it open.
fn note_on_disk(fixture: &Fixture) -> String {
    let project = Driver::open_to_read(&fixture.home(), &fixture.path("project.nestling")).unwrap();
    let mentions = project.corpus().sentence(SentenceId(0)).unwrap().mentions();
    mentions.first().map(|mention| mention.note.clone()).unwrap_or_default()
}

#[test]
fn a_note_is_on_disk_soon_after_it_is_typed_and_undone_as_one() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::M);
    assert!(page.shows_part("Ctrl+Enter or Esc when done"), "how it ends");
    for (typed, all) in [("really?", "really?"), (" I ask", "really? I ask"), (" you", "really? I ask you")] {
        page.type_into("Note on the mention", typed);
        assert!(page.shows("Typing, not saved yet") && !page.shows("All saved"));
        page.harness.run_steps(60);
        page.wait("the disk", |page| page.shows("All saved"));
        assert_eq!(note_on_disk(&fixture), all, "nobody has left the field");
    }
    page.type_into("Note on the mention", " all");
    page.press(Modifiers::COMMAND, Key::Enter);
    page.wait("the disk", |page| page.shows("All saved"));
    assert_eq!(note_on_disk(&fixture), "really? I ask you all");
    assert!(!page.shows_part("Ctrl+Enter or Esc when done"));
    let note = |page: &Page| page.field("Note on the mention").value().unwrap_or_default();
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!((note(&page), page.mentions(0).len()), (String::new(), 1), "the whole note was one step");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert_eq!(note(&page), "really? I ask you all");
    page.close();

    let mut page = fixture.open(&fixture.path("project.nestling"));
    page.key(Key::Tab);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!((note(&page), page.mentions(0).len()), (String::new(), 1), "also when it was opened again");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);

    // A second editing is a step of its own.
    page.press(Modifiers::COMMAND, Key::M);
    page.fill("Note on the mention", "yes");
    page.harness.run_steps(60);
    page.key(Key::Escape);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(note(&page), "really? I ask you all");
}

#[test]
fn a_note_that_is_typed_without_a_pause_is_saved_now_and_then() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::M);
    for _ in 0..24 {
        page.type_into("Note on the mention", "na ");
        page.harness.run_steps(12);
    }
    page.wait("the disk", |_| note_on_disk(&fixture).starts_with("na na na"));
}

#[test]
fn a_note_that_is_being_written_outlives_its_field() {
    let fixture = Fixture::new();
    let other = fixture.empty_project("other.nestling");
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.close();
    let project = fixture.path("project.nestling");
    let kept = |note: &str, leave: &dyn Fn(&mut Page)| {
        let mut page = fixture.open(&project);
        page.key(Key::Tab);
        page.press(Modifiers::COMMAND, Key::M);
        page.fill("Note on the mention", note);
        leave(&mut page);
        page.close();
        let page = fixture.open(&project);
        let kept = page.see(|d| d.project.corpus().sentence(SentenceId(0)).unwrap().mentions()[0].note.clone());
        page.close();
        kept
    };
    assert_eq!(kept("the window is closed", &|_| {}), "the window is closed");
    let close = |page: &mut Page| {
        page.press(Modifiers::COMMAND, Key::W);
        page.wait("the start page", |page| page.shows("New project"));
    };
    assert_eq!(kept("the project is closed", &close), "the project is closed");
    let open = |page: &mut Page| {
        page.drop_file(&other);
        page.wait("the other project", |page| page.is_open() && page.project_name() == "other");
    };
    assert_eq!(kept("another one is opened", &open), "another one is opened");
    let go = |page: &mut Page| {
        page.harness.get_by_label_contains("sentence 2, untouched").click();
        page.step();
        assert_eq!(page.current(), 1);
    };
    assert_eq!(kept("the sentence is left", &go), "the sentence is left");
}

#[test]
fn a_key_that_is_held_decides_once_and_moves_on_and_on() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.hold(Key::ArrowRight, None, 4);
    assert_eq!(page.see(|workspace| workspace.view.cursor().get()), 5);
    page.hold(Key::P, Some("p"), 3);
    assert_eq!(page.mentions(0), ["PER: Anna"]);
    page.hold(Key::Space, Some(" "), 3);
    assert_eq!((page.status(0), page.status(1), page.current()), (Status::Complete, Status::Untouched, 1));
    page.hold(Key::F, Some("f"), 1);
    assert_eq!(page.status(1), Status::Flagged);
    page.hold(Key::N, Some("n"), 3);
    assert_eq!(page.current(), 2);
    page.hold(Key::ArrowUp, None, 1);
    assert_eq!(page.current(), 0);
    page.key(Key::Tab);
    page.character("l");
    page.hold(Key::O, Some("o"), 0);
    assert_eq!(page.mentions(0), ["ORG: Anna"], "a key that is pressed once is no held one");
}

#[test]
fn a_flag_goes_back_to_what_was_before_it_and_tells_when_it_is_lost() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.character("f");
    page.key(Key::Space);
    assert_eq!(page.status(0), Status::Complete);
    assert!(page.shows_part("No longer flagged"));

    page.character("f");
    page.character("f");
    assert_eq!((page.current(), page.status(1)), (1, Status::Untouched));
    page.character("f");
    page.character("p");
    page.character("f");
    assert_eq!(page.status(1), Status::InProgress, "a word was marked meanwhile");
}

#[test]
fn a_complete_sentence_stays_so_until_it_is_opened_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.key(Key::Space);
    page.key(Key::ArrowUp);
    let stays = |page: &Page, how: &str| {
        assert_eq!((page.current(), page.status(0)), (0, Status::Complete), "{how}");
        assert!(page.shows_part("This sentence is complete; to "), "{how}");
        assert!(page.shows_part("reopen it first (Ctrl+R)"), "{how}");
    };
    page.character("f");
    stays(&page, "F");
    page.press(Modifiers::SHIFT, Key::Space);
    stays(&page, "Shift+Space");
    page.click("Flag for a second look (F)");
    stays(&page, "the flag");
    page.click("skip");
    stays(&page, "the button");

    page.press(Modifiers::COMMAND, Key::R);
    assert!(page.shows_part("Reopened; no longer complete (Ctrl+Z to undo)"));
    page.character("f");
    assert_eq!(page.status(0), Status::Flagged);
    page.character("f");
    assert_eq!(page.status(0), Status::InProgress);
    for _ in 0..3 {
        page.press(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!((page.status(0), page.mentions(0).len()), (Status::Complete, 1));
}

#[test]
fn what_changes_a_complete_sentence_is_told() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.key(Key::Space);
    page.key(Key::ArrowUp);
    let told = |page: &Page, what: &str| {
        assert!(page.shows_part("the sentence stays complete") && page.shows_part("Ctrl+Z"), "{what}");
        assert_eq!(page.status(0), Status::Complete);
    };
    page.character("p");
    told(&page, "a label key");
    page.click("label ORG");
    told(&page, "a label of the panel");
    page.press(Modifiers::ALT, Key::ArrowRight);
    told(&page, "the end of a mention");
    page.key(Key::Delete);
    assert!(page.shows_part("Removed the mention ORG: The mayor (Ctrl+Z to undo)"));
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::J);
    assert!(page.shows_part("the sentence is no longer complete (Ctrl+Z to undo)"));
}

#[test]
fn tab_begins_at_the_cursor() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("a b c d e f g h\n");
    // [a] [b [c [d] e] f] [g], of which d and g are marked last.
    for (first, more) in [(0, 0), (1, 4), (2, 2), (3, 0), (6, 0)] {
        page.key(Key::Home);
        (0..first).for_each(|_| page.key(Key::ArrowRight));
        (0..more).for_each(|_| page.press(Modifiers::SHIFT, Key::ArrowRight));
        page.character("p");
        page.key(Key::Escape);
    }
    let picked = |page: &Page| {
        page.see(|workspace| workspace.view.picked_mark().map(|mark| mark.spoken.clone()).unwrap_or_default())
    };
    let walk = |page: &mut Page, modifiers: Modifiers| -> Vec<String> {
        page.key(Key::Home);
        (0..3).for_each(|_| page.key(Key::ArrowRight));
        let step = |_| {
            page.press(modifiers, Key::Tab);
            picked(page).trim_start_matches("mention PER: ").to_owned()
        };
        (0..6).map(step).collect()
    };
    assert_eq!(walk(&mut page, Modifiers::NONE), ["d", "c d e", "b c d e f", "g", "a", "d"]);
    assert_eq!(walk(&mut page, Modifiers::SHIFT), ["b c d e f", "c d e", "d", "a", "g", "b c d e f"]);
}

#[test]
fn a_flag_that_came_with_a_file_is_taken_off_with_a_word() {
    let fixture = Fixture::new();
    let file = fixture.write("some.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[],\"status\":\"flagged\"}\n");
    let how = ImportHow { kind: Some(ImportAs::Gold), split: None };
    let mut page = fixture.open(&fixture.project(&["PER"], &file, how));
    assert_eq!(page.status(0), Status::Flagged);
    page.character("f");
    assert_eq!(page.status(0), Status::InProgress);
    assert!(page.shows_part("No longer flagged; now in progress"));
}

#[test]
fn one_goes_back_the_way_one_came() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.harness.get_by_label_contains("sentence 3, untouched").click();
    page.step();
    page.key(Key::ArrowUp);
    assert_eq!(page.current(), 1);
    for current in [2, 0] {
        page.press(Modifiers::ALT, Key::ArrowUp);
        assert_eq!(page.current(), current);
    }
    page.press(Modifiers::ALT, Key::ArrowUp);
    assert_eq!(page.current(), 0);
    assert!(page.shows_part("No sentence to go back to"));
}

#[test]
fn labels_are_added_changed_and_kept_while_they_are_used() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::L);
    page.type_into("Name in files", "DATE");
    page.key(Key::Enter);
    assert!(page.shows("label DATE"));
    page.click("edit label PER");
    page.fill("Key (one character, optional)", "d");
    assert!(page.shows_part("belongs to the label \"DATE\""));
    page.fill("Key (one character, optional)", "qr");
    assert!(page.shows_part("a key is one character, and \"qr\" has several"));
    page.click("Save");
    assert!(page.shows("Save") && page.shows("Typing, not saved yet"), "it is not cut in silence");
    page.fill("Key (one character, optional)", "q");
    page.click("Save");
    page.key(Key::ArrowRight);
    page.character("q");
    assert_eq!(page.mentions(0).len(), 2);
    page.click("edit label PER");
    assert!(page.shows_part("Used by 2 mentions"));
}

#[test]
fn a_notice_on_what_was_undone_goes_with_the_next_edit() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows_part("Undone: "));
    page.key(Key::ArrowRight);
    assert!(page.shows_part("Undone: "));
    page.character("p");
    assert!(!page.shows_part("Undone: "));
}

#[test]
fn f6_leads_from_the_sentence_to_the_controls_and_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.key(Key::F6);
    page.key(Key::Tab);
    page.character("p");
    page.key(Key::Delete);
    assert!(page.mentions(0).is_empty(), "the keys are those of the controls");
    page.key(Key::F6);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn left_is_left_in_arabic_too() {
    let fixture = Fixture { foreign: true, ..Fixture::new() };
    let mut page = fixture.annotating("زار محمد القاهرة\n");
    page.key(Key::ArrowLeft);
    page.press(Modifiers::SHIFT, Key::ArrowLeft);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: محمد القاهرة"]);
}

#[test]
fn the_cursor_stays_in_sight_in_a_long_sentence() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(&format!("{}end\n", "a very long sentence ".repeat(200)));
    page.key(Key::End);
    let word = page.harness.get_by_label("word 801: end").rect();
    assert!(word.top() > 60.0 && word.bottom() < 820.0, "{word}");
    page.key(Key::Home);
    let word = page.harness.get_by_label("word 1: a").rect();
    assert!(word.top() > 60.0 && word.bottom() < 820.0, "{word}");
}

#[test]
fn the_palette_lists_and_calls_every_command() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "flag");
    page.key(Key::Enter);
    assert_eq!(page.status(0), Status::Flagged);
    page.character("?");
    assert!(page.shows("Flag for a second look"));
    page.key(Key::Escape);
    page.character("f");
    assert_eq!(page.status(0), Status::Untouched);
}

#[test]
fn a_label_is_found_by_its_name() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::SHIFT, Key::ArrowRight);
    page.key(Key::F2);
    assert!(page.shows("Label PER") && !page.shows("Flag for a second look"), "labels alone");
    page.type_into("Label", "or");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["ORG: The mayor"]);
    page.press(Modifiers::COMMAND, Key::K);
    assert!(!page.shows("Label LOC"), "commands, until something is typed");
    page.type_into("Command", "loc");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["LOC: The mayor"], "the selected mention is relabelled");
}

/// The entries of the palette, from the top.
fn entries(page: &Page) -> Vec<String> {
    let rows = page.harness.query_all_by_role(Role::MenuItem);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

#[test]
fn what_tells_entries_apart_is_matched_and_the_best_comes_first() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let project = fixture.project(&["PER", "ORG", "LOC", "LABORATORY"], &file, ImportHow::default());
    let mut page = fixture.open(&project);
    page.key(Key::F2);
    page.type_into("Label", "lab");
    assert_eq!(entries(&page), ["Label LABORATORY"], "not each of them for the word before its name");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["LABORATORY: The"]);
    for (typed, first) in [
        ("text or", "Next: text order"),
        ("label or", "Label ORG"),
        ("or", "Label ORG"),
        ("add", "Add label"),
        ("sentence before", "Split sentence before word"),
        ("exprt", "Export"),
    ] {
        page.press(Modifiers::COMMAND, Key::K);
        page.type_into("Command", typed);
        assert_eq!(entries(&page).first().map(String::as_str), Some(first), "{typed}: {:?}", entries(&page));
        page.key(Key::Escape);
    }
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "text or");
    assert!(!page.shows("Reopen sentence"));
    page.key(Key::Escape);
}

#[test]
fn what_was_chosen_last_comes_first_among_equals() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let first = |page: &mut Page| {
        page.press(Modifiers::COMMAND, Key::K);
        page.type_into("Command", "next");
        entries(page).swap_remove(0)
    };
    assert_eq!(first(&mut page), "Next suggestion or mention");
    page.key(Key::Escape);
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "next: most inf");
    page.key(Key::Enter);
    assert_eq!(first(&mut page), "Next: most informative");
}

#[test]
fn the_list_of_the_palette_grows_again_when_a_text_is_erased() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::K);
    let in_sight = |page: &Page| {
        let rows = page.harness.query_all_by_role(Role::MenuItem);
        rows.map(|row| row.rect()).filter(|rect| rect.bottom() < 640.0 && rect.height() > 20.0).count()
    };
    let (all, field) = (in_sight(&page), page.field("Command").rect());
    assert!(all >= 10, "{all}");
    page.type_into("Command", "dashboard");
    page.harness.run_steps(10);
    assert_eq!(in_sight(&page), 1);
    assert_eq!(page.field("Command").rect(), field, "the field stays where it is");
    page.press(Modifiers::COMMAND, Key::A);
    page.key(Key::Backspace);
    page.harness.run_steps(10);
    assert_eq!(in_sight(&page), all);
    page.keys(&[Key::ArrowDown; 15]);
    let current = |page: &Page| page.harness.query_all_by_role(Role::MenuItem).nth(15).unwrap().rect();
    let height = current(&page);
    assert!(height.bottom() < field.bottom() + 400.0 && height.top() > field.bottom(), "{height}: it is followed");
}

#[test]
fn a_sentence_that_is_done_is_opened_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.key(Key::Space);
    page.press(Modifiers::SHIFT, Key::Space);
    assert_eq!([page.status(0), page.status(1)], [Status::Complete, Status::Skipped]);
    assert!(page.shows_part("Skipped (Ctrl+Z to undo)"), "it may have been meant to be completed");
    assert!(!page.shows("Reopen"), "the third one is open");
    page.key(Key::ArrowUp);
    page.press(Modifiers::COMMAND, Key::R);
    page.key(Key::ArrowUp);
    page.click("Reopen");
    assert_eq!([page.status(0), page.status(1)], [Status::InProgress; 2]);
    assert_eq!((page.current(), page.mentions(0)), (0, vec!["PER: The".to_owned()]), "nothing else changes");
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(page.status(0), Status::Complete);
}
