//! The command table: everything that a person can do with a key or from a menu, once.
//!
//! Menus, keys, the palette and the key help are all read from [`TABLE`].
//!
//! # Invariants
//! - A shortcut is named nowhere else.
//! - Letters and other single keys belong to [`Scope::Sentence`]: they act only while the sentence has the keyboard, never
//!   while somebody types in a field. `?` and the function keys act beside it, too.
//! - Letters are matched by the character that was typed, so that any keyboard layout works.
//!
//! Deliberately absent: the keys of labels (they belong to the project) and what a command does (`desk`, `window`).

use eframe::egui::{self, Event, Key, Modifiers};

/// What a person can ask for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CommandId {
    WordBefore,
    WordAfter,
    GrowBefore,
    GrowAfter,
    FirstWord,
    LastWord,
    NextMark,
    PreviousMark,
    Accept,
    AcceptAll,
    Reject,
    Remove,
    EndBefore,
    EndAfter,
    StartBefore,
    StartAfter,
    Wrap,
    Note,
    ChooseLabel,
    Clear,
    CompleteAndNext,
    SkipAndNext,
    Next,
    PreviousSentence,
    NextSentence,
    Back,
    Flag,
    Reopen,
    ShowNewSuggestions,
    LeaveSentence,
    Undo,
    Redo,
    Search,
    ShowAll,
    NextByText,
    NextByTeaching,
    NextByFound,
    NextByBlind,
    SplitWord,
    JoinWords,
    SplitSentence,
    JoinSentences,
    TrainNow,
    PauseTraining,
    StopTraining,
    LookAgain,
    EndLookAgain,
    AddLabel,
    Documents,
    Dashboard,
    History,
    Import,
    Export,
    SaveCopy,
    NewProject,
    OpenProject,
    CloseProject,
    Settings,
    ToggleTheme,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    KeyHelp,
    ShowLog,
    Palette,
}

impl CommandId {
    /// It would change the project, which can't be done in one that was opened to be read.
    pub fn changes(self) -> bool {
        use CommandId::*;
        match self {
            Accept | AcceptAll | Reject | Remove | ChooseLabel | EndBefore | EndAfter | StartBefore | StartAfter
            | CompleteAndNext | SkipAndNext | Flag | Reopen | SplitWord | JoinWords | SplitSentence | JoinSentences
            | TrainNow | PauseTraining | StopTraining | LookAgain | Undo | Redo | AddLabel | Import => true,
            WordBefore | WordAfter | GrowBefore | GrowAfter | FirstWord | LastWord | NextMark | PreviousMark | Wrap
            | Note | Clear | Next | PreviousSentence | NextSentence | Back | ShowNewSuggestions | LeaveSentence
            | Search | ShowAll | EndLookAgain | NextByText | NextByTeaching | NextByFound | NextByBlind | Settings
            | Documents | Dashboard | History | Export | SaveCopy | NewProject | OpenProject | CloseProject
            | ToggleTheme | ZoomIn | ZoomOut | ZoomReset | KeyHelp | ShowLog | Palette => false,
        }
    }

    /// Done again and again while its key is held. What decides something is not: the next one was not even seen.
    fn repeats(self) -> bool {
        use CommandId::*;
        matches!(
            self,
            WordBefore
                | WordAfter
                | GrowBefore
                | GrowAfter
                | NextMark
                | PreviousMark
                | EndBefore
                | EndAfter
                | StartBefore
                | StartAfter
                | Wrap
                | PreviousSentence
                | NextSentence
                | Back
                | Undo
                | Redo
                | ZoomIn
                | ZoomOut
        )
    }
}

/// Where a command makes sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Everywhere, with or without a project.
    Window,
    /// While a project is open.
    Project,
    /// While the sentence has the keyboard.
    Sentence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    Cursor,
    Mentions,
    Sentences,
    Segments,
    Learner,
    Project,
    Window,
}

impl Group {
    pub const ALL: [Group; 7] = [
        Group::Cursor,
        Group::Mentions,
        Group::Sentences,
        Group::Segments,
        Group::Learner,
        Group::Project,
        Group::Window,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Group::Cursor => "Words",
            Group::Mentions => "Mentions and suggestions",
            Group::Sentences => "Sentences",
            Group::Segments => "Where words and sentences end",
            Group::Learner => "The learner",
            Group::Project => "Project",
            Group::Window => "Window",
        }
    }
}

/// One way to call a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Keys {
    /// A key with exactly these modifiers.
    Press(Modifiers, Key),
    /// The same for keys that sit behind Shift on some layouts (`+`, `?`).
    Loose(Modifiers, Key),
    /// A character, as the keyboard layout makes it.
    Type(char),
}

pub struct Entry {
    pub id: CommandId,
    pub title: &'static str,
    pub group: Group,
    pub scope: Scope,
    pub keys: &'static [Keys],
}

const CTRL: Modifiers = Modifiers::COMMAND;
const ALT: Modifiers = Modifiers::ALT;
const SHIFT: Modifiers = Modifiers::SHIFT;
const NONE: Modifiers = Modifiers::NONE;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const ALT_SHIFT: Modifiers = Modifiers::ALT.plus(Modifiers::SHIFT);

macro_rules! table {
    ($($id:ident, $title:literal, $group:ident, $scope:ident, [$($keys:expr),*];)*) => {
        /// Every command, in the order of the key help.
        pub const TABLE: &[Entry] = &[$(Entry {
            id: CommandId::$id,
            title: $title,
            group: Group::$group,
            scope: Scope::$scope,
            keys: &[$($keys),*],
        }),*];
    };
}

use Keys::{Loose, Press, Type};
table! {
    WordBefore, "Word to the left", Cursor, Sentence, [Press(NONE, Key::ArrowLeft)];
    WordAfter, "Word to the right", Cursor, Sentence, [Press(NONE, Key::ArrowRight)];
    GrowBefore, "Grow the selection to the left", Cursor, Sentence, [Press(SHIFT, Key::ArrowLeft)];
    GrowAfter, "Grow the selection to the right", Cursor, Sentence, [Press(SHIFT, Key::ArrowRight)];
    FirstWord, "First word", Cursor, Sentence, [Press(NONE, Key::Home)];
    LastWord, "Last word", Cursor, Sentence, [Press(NONE, Key::End)];
    Clear, "Clear the selection", Cursor, Sentence, [Press(NONE, Key::Escape)];

    NextMark, "Next suggestion or mention", Mentions, Sentence, [Press(NONE, Key::Tab)];
    PreviousMark, "Previous suggestion or mention", Mentions, Sentence, [Press(SHIFT, Key::Tab)];
    Accept, "Accept the suggestion", Mentions, Sentence, [Press(NONE, Key::Enter)];
    AcceptAll, "Accept all sure suggestions", Mentions, Sentence, [Press(SHIFT, Key::Enter)];
    Reject, "Reject the suggestion", Mentions, Sentence, [Type('x')];
    Remove, "Remove the mention", Mentions, Sentence, [Press(NONE, Key::Delete), Press(NONE, Key::Backspace)];
    Wrap, "Wrap in a parent", Mentions, Sentence, [Press(CTRL, Key::ArrowUp)];
    EndAfter, "Move the end to the right", Mentions, Sentence, [Press(ALT, Key::ArrowRight)];
    EndBefore, "Move the end to the left", Mentions, Sentence, [Press(ALT, Key::ArrowLeft)];
    StartAfter, "Move the start to the right", Mentions, Sentence, [Press(ALT_SHIFT, Key::ArrowRight)];
    StartBefore, "Move the start to the left", Mentions, Sentence, [Press(ALT_SHIFT, Key::ArrowLeft)];
    ChooseLabel, "Choose a label by its name", Mentions, Sentence, [Press(NONE, Key::F2)];
    Note, "Note on the mention", Mentions, Project, [Press(CTRL, Key::M)];

    CompleteAndNext, "Complete, and go on", Sentences, Sentence, [Press(NONE, Key::Space)];
    Next, "Go on without completing", Sentences, Sentence, [Type('n')];
    SkipAndNext, "Skip, and go on", Sentences, Sentence, [Press(SHIFT, Key::Space)];
    Flag, "Flag for a second look", Sentences, Sentence, [Type('f')];
    Reopen, "Open the sentence again", Sentences, Sentence, [Press(CTRL, Key::R)];
    PreviousSentence, "Sentence above", Sentences, Sentence, [Press(NONE, Key::ArrowUp)];
    NextSentence, "Sentence below", Sentences, Sentence, [Press(NONE, Key::ArrowDown)];
    Back, "Back to the sentence before", Sentences, Sentence, [Press(ALT, Key::ArrowUp)];
    ShowNewSuggestions, "Show the new suggestions", Sentences, Project, [Press(NONE, Key::F5)];
    Search, "Find sentences", Sentences, Project, [Press(CTRL, Key::F)];
    ShowAll, "Show all sentences", Sentences, Project, [Press(CTRL_SHIFT, Key::F)];
    NextByText, "Next: in the text", Sentences, Project, [];
    NextByTeaching, "Next: what teaches most", Sentences, Project, [];
    NextByFound, "Next: what was found", Sentences, Project, [];
    NextByBlind, "Next: the blind set", Sentences, Project, [];

    SplitWord, "Split the word", Segments, Sentence, [Press(CTRL, Key::D)];
    JoinWords, "Join the selected words", Segments, Sentence, [Press(CTRL, Key::J)];
    SplitSentence, "Split the sentence before the word", Segments, Sentence, [Press(CTRL_SHIFT, Key::D)];
    JoinSentences, "Join with the next sentence", Segments, Sentence, [Press(CTRL_SHIFT, Key::J)];

    TrainNow, "Train now", Learner, Project, [Press(CTRL, Key::T)];
    PauseTraining, "Pause the training, or go on", Learner, Project, [Press(CTRL_SHIFT, Key::T)];
    StopTraining, "Stop the training", Learner, Project, [];
    LookAgain, "Look again at what is doubtful", Learner, Project, [Press(CTRL, Key::G)];
    EndLookAgain, "End looking again", Learner, Project, [];

    Undo, "Undo", Project, Project, [Press(CTRL, Key::Z)];
    Redo, "Redo", Project, Project, [Press(CTRL_SHIFT, Key::Z), Press(CTRL, Key::Y)];
    AddLabel, "Add a label", Project, Project, [Press(CTRL, Key::L)];
    Documents, "Documents", Project, Project, [Press(CTRL_SHIFT, Key::O)];
    Dashboard, "Dashboard", Project, Project, [Press(CTRL, Key::B)];
    History, "History: who did what", Project, Project, [Press(CTRL, Key::H)];
    Import, "Import texts", Project, Project, [Press(CTRL, Key::I)];
    Export, "Export", Project, Project, [Press(CTRL, Key::E)];
    SaveCopy, "Save a copy", Project, Project, [Press(CTRL_SHIFT, Key::S)];
    NewProject, "New project", Project, Window, [Press(CTRL, Key::N)];
    OpenProject, "Open a project", Project, Window, [Press(CTRL, Key::O)];
    CloseProject, "Close the project", Project, Project, [Press(CTRL, Key::W)];
    Settings, "Settings", Project, Window, [Press(CTRL, Key::Comma)];

    Palette, "All commands", Window, Window, [Press(CTRL, Key::K)];
    KeyHelp, "Keys", Window, Window, [Type('?'), Press(NONE, Key::F1)];
    LeaveSentence, "From the sentence to the controls and back", Window, Project, [Press(NONE, Key::F6)];
    ToggleTheme, "Light or dark", Window, Window, [Press(CTRL_SHIFT, Key::L)];
    ZoomIn, "Larger", Window, Window, [Loose(CTRL, Key::Plus), Loose(CTRL, Key::Equals)];
    ZoomOut, "Smaller", Window, Window, [Loose(CTRL, Key::Minus)];
    ZoomReset, "Normal size", Window, Window, [Press(CTRL, Key::Num0)];
    ShowLog, "Log of the program", Window, Window, [];
}

/// What ends typing in a field of several lines, where Enter begins another one. Escape does it in every field, by egui.
const END_TYPING: [Keys; 2] = [Press(CTRL, Key::Enter), Press(NONE, Key::Escape)];

/// "Ctrl+Enter or Esc".
pub fn end_typing_text() -> String {
    END_TYPING.map(Keys::text).join(" or ")
}

/// Takes the keys that end typing out of the input; true where there were some.
pub fn take_end_typing(ctx: &egui::Context) -> bool {
    ctx.input_mut(|input| {
        let count = input.events.len();
        input.events.retain(|event| !END_TYPING.iter().any(|keys| keys.matches(event)));
        input.events.len() < count
    })
}

/// The entry of a command.
pub fn entry(id: CommandId) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.id == id)
}

/// The first shortcut of a command as people write it, empty without one: "Ctrl+Shift+Z".
pub fn keys_text(id: CommandId) -> String {
    entry(id).and_then(|e| e.keys.first()).map(|keys| keys.text()).unwrap_or_default()
}

/// "Undo (Ctrl+Z)", for tooltips.
pub fn title_with_keys(id: CommandId) -> String {
    let Some(entry) = entry(id) else { return String::new() };
    match entry.keys.first() {
        Some(keys) => format!("{} ({})", entry.title, keys.text()),
        None => entry.title.to_owned(),
    }
}

impl Keys {
    pub fn text(self) -> String {
        match self {
            Keys::Type(c) => c.to_uppercase().collect(),
            Keys::Press(modifiers, key) | Keys::Loose(modifiers, key) => {
                let mut text = String::new();
                for (held, name) in [(modifiers.command, "Ctrl+"), (modifiers.alt, "Alt+"), (modifiers.shift, "Shift+")]
                {
                    text.push_str(if held { name } else { "" });
                }
                text.push_str(match key {
                    Key::ArrowLeft => "Left",
                    Key::ArrowRight => "Right",
                    Key::ArrowUp => "Up",
                    Key::ArrowDown => "Down",
                    Key::Delete => "Del",
                    Key::Escape => "Esc",
                    Key::Comma => ",",
                    Key::Plus => "+",
                    Key::Equals => "=",
                    Key::Minus => "-",
                    other => other.name(),
                });
                text
            }
        }
    }

    fn matches(self, event: &Event) -> bool {
        match (self, event) {
            (Keys::Press(want, key), Event::Key { key: got, pressed: true, modifiers, .. }) => {
                key == *got && modifiers.matches_exact(want)
            }
            (Keys::Loose(want, key), Event::Key { key: got, pressed: true, modifiers, .. }) => {
                key == *got && modifiers.matches_logically(want)
            }
            (Keys::Type(want), Event::Text(text)) => typed(text) == Some(want),
            _ => false,
        }
    }

    /// True for keys that a text field needs for itself.
    fn is_typing(self) -> bool {
        match self {
            Keys::Type(_) => true,
            Keys::Loose(modifiers, _) => !modifiers.command,
            Keys::Press(modifiers, key) => {
                let function = matches!(key, Key::F1 | Key::F5 | Key::F6);
                let editing = matches!(key, Key::Z | Key::Y) && modifiers.command;
                editing || !(modifiers.command || function)
            }
        }
    }
}

/// Who has the keyboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyboardOwner {
    /// A dialog is open: nothing but its own keys.
    Dialog,
    /// Somebody types in a field.
    TextField,
    /// The sentence on the annotation page.
    Sentence,
    /// A button, a slider, or nothing.
    Other,
}

/// What the keys of this frame ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pressed {
    Command(CommandId),
    /// A character that belongs to no command: perhaps to a label.
    LabelKey(char),
}

/// Takes the events that call commands out of the input. A key that is held decides once.
pub fn take_pressed(ctx: &egui::Context, owner: KeyboardOwner, project_open: bool) -> Vec<Pressed> {
    if owner == KeyboardOwner::Dialog {
        return Vec::new();
    }
    let allowed = |entry: &Entry, keys: Keys| match entry.scope {
        Scope::Sentence => owner == KeyboardOwner::Sentence,
        Scope::Project => project_open && (owner != KeyboardOwner::TextField || !keys.is_typing()),
        Scope::Window => owner != KeyboardOwner::TextField || !keys.is_typing(),
    };
    ctx.input_mut(|input| {
        let mut pressed = Vec::new();
        // A character comes right after its key.
        let mut is_held = false;
        input.events.retain(|event| {
            if let Event::Key { pressed: true, repeat, .. } = event {
                is_held = *repeat;
            }
            let hit = TABLE.iter().find(|e| e.keys.iter().any(|k| k.matches(event) && allowed(e, *k)));
            if let Some(hit) = hit {
                pressed.extend((!is_held || hit.id.repeats()).then_some(Pressed::Command(hit.id)));
                return false;
            }
            if let (KeyboardOwner::Sentence, Event::Text(text)) = (owner, event) {
                pressed.extend(typed(text).filter(|c| *c != ' ' && !is_held).map(Pressed::LabelKey));
                return false;
            }
            true
        });
        pressed
    })
}

/// The one character of a text event, in lower case.
fn typed(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let only = chars.next().filter(|_| chars.next().is_none())?;
    let mut lower = only.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).or(Some(only))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_command_is_there_once_and_no_key_twice() {
        let ids: HashSet<_> = TABLE.iter().map(|e| e.id).collect();
        assert_eq!(ids.len(), TABLE.len());
        let mut seen = HashSet::new();
        for keys in TABLE.iter().flat_map(|e| e.keys) {
            assert!(seen.insert(keys.text()), "{} is there twice", keys.text());
        }
    }

    #[test]
    fn single_keys_belong_to_the_sentence_or_are_harmless() {
        for entry in TABLE.iter().filter(|e| e.scope != Scope::Sentence) {
            for keys in entry.keys {
                assert!(
                    matches!(keys, Keys::Type('?')) || !matches!(keys, Keys::Type(_)),
                    "{:?} has a single key outside the sentence",
                    entry.id
                );
            }
        }
    }

    #[test]
    fn keys_read_as_people_write_them() {
        assert_eq!(keys_text(CommandId::Redo), "Ctrl+Shift+Z");
        assert_eq!(keys_text(CommandId::Reject), "X");
        assert_eq!(title_with_keys(CommandId::ZoomIn), "Larger (Ctrl++)");
        assert_eq!(keys_text(CommandId::StopTraining), "");
    }
}
