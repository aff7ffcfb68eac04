//! The command table: everything that a person can do with a key or from a menu, once.
//!
//! Menus, keys, the palette and the key help are all read from [`TABLE`]. A new command is one row of it, and one arm in
//! the place that carries it out: `window` or `workspace`, as the row says.
//!
//! # Invariants
//! - A command without a row, or a row that nobody carries out, does not compile.
//! - A shortcut is named nowhere else.
//! - Letters and other single keys belong to [`Scope::Sentence`]: they act only while the sentence has the keyboard, never
//!   while somebody types in a field. `?` and the function keys act beside it, too.
//! - Letters are matched by the character that was typed, so that any keyboard layout works.
//!
//! Deliberately absent: the keys of labels (they belong to the project) and what a command does (`workspace` and
//! `window`).

use eframe::egui::os::OperatingSystem;
use eframe::egui::{self, Event, Key, ModifierNames, Modifiers};

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
            Group::Segments => "Word and sentence boundaries",
            Group::Learner => "Training",
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

/// What a command does to the project, which says when it can be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It changes the project, which can't be done in one that was opened to be read.
    Changes,
    /// It moves the view, or opens or closes something: not while a file or an import is written.
    Reads,
    /// It neither changes, closes nor covers anything: at any time.
    Harmless,
}

/// What happens while the key of a command is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// It is done once. So is what decides something: the next one was not even seen.
    Once,
    /// It is done again and again.
    Repeats,
}

/// A row of the table.
pub struct Entry {
    pub id: CommandId,
    pub title: &'static str,
    pub group: Group,
    pub scope: Scope,
    pub effect: Effect,
    pub held: Held,
    pub keys: &'static [Keys],
}

const CTRL: Modifiers = Modifiers::COMMAND;
const ALT: Modifiers = Modifiers::ALT;
const SHIFT: Modifiers = Modifiers::SHIFT;
const NONE: Modifiers = Modifiers::NONE;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const ALT_SHIFT: Modifiers = Modifiers::ALT.plus(Modifiers::SHIFT);

/// Makes [`CommandId`], its rows and [`TABLE`].
macro_rules! commands {
    ($($id:ident, $title:literal, $group:ident, $scope:ident, $effect:ident, $held:ident, [$($keys:expr),*] => $handler:ident;)*) => {
        /// What a person can ask for.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum CommandId {
            $($id),*
        }

        impl CommandId {
            /// The command's row of the table.
            pub const fn entry(self) -> &'static Entry {
                match self {
                    $(CommandId::$id => {
                        const ENTRY: Entry = Entry {
                            id: CommandId::$id,
                            title: $title,
                            group: Group::$group,
                            scope: Scope::$scope,
                            effect: Effect::$effect,
                            held: Held::$held,
                            keys: &[$($keys),*],
                        };
                        &ENTRY
                    })*
                }
            }
        }

        /// Every command, in the order of the key help.
        pub const TABLE: &[&Entry] = &[$(CommandId::$id.entry()),*];

        handlers! { [] [] $($id $handler)* }
    };
}

/// Sorts the commands by who carries them out: each gets an enum of its own, which it can match whole.
macro_rules! handlers {
    ([$($window:ident)*] [$($workspace:ident)*] $id:ident Window $($rest:tt)*) => {
        handlers! { [$($window)* $id] [$($workspace)*] $($rest)* }
    };
    ([$($window:ident)*] [$($workspace:ident)*] $id:ident Workspace $($rest:tt)*) => {
        handlers! { [$($window)*] [$($workspace)* $id] $($rest)* }
    };
    ([$($window:ident)*] [$($workspace:ident)*]) => {
        /// What the window does: dialogs, projects, the looks of the program.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum WindowCommand {
            $($window),*
        }

        /// What is done to the open project and the view on it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum WorkspaceCommand {
            $($workspace),*
        }

        /// Who carries a command out.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Handler {
            Window(WindowCommand),
            Workspace(WorkspaceCommand),
        }

        impl CommandId {
            pub fn handler(self) -> Handler {
                match self {
                    $(CommandId::$window => Handler::Window(WindowCommand::$window),)*
                    $(CommandId::$workspace => Handler::Workspace(WorkspaceCommand::$workspace),)*
                }
            }
        }
    };
}

impl CommandId {
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// It would change the project.
    pub fn changes(self) -> bool {
        self.entry().effect == Effect::Changes
    }
}

use Keys::{Loose, Press, Type};
commands! {
    // Command, title, group, scope, effect, while its key is held, [keys] => who carries it out.
    WordBefore, "Move one word left", Cursor, Sentence, Reads, Repeats, [Press(NONE, Key::ArrowLeft)] => Workspace;
    WordAfter, "Move one word right", Cursor, Sentence, Reads, Repeats, [Press(NONE, Key::ArrowRight)] => Workspace;
    GrowBefore, "Extend selection left", Cursor, Sentence, Reads, Repeats, [Press(SHIFT, Key::ArrowLeft)] => Workspace;
    GrowAfter, "Extend selection right", Cursor, Sentence, Reads, Repeats, [Press(SHIFT, Key::ArrowRight)] => Workspace;
    FirstWord, "First word", Cursor, Sentence, Reads, Once, [Press(NONE, Key::Home)] => Workspace;
    LastWord, "Last word", Cursor, Sentence, Reads, Once, [Press(NONE, Key::End)] => Workspace;
    Clear, "Clear selection", Cursor, Sentence, Reads, Once, [Press(NONE, Key::Escape)] => Workspace;

    NextMark, "Next suggestion or mention", Mentions, Sentence, Reads, Repeats, [Press(NONE, Key::Tab)] => Workspace;
    PreviousMark, "Previous suggestion or mention", Mentions, Sentence, Reads, Repeats, [Press(SHIFT, Key::Tab)] => Workspace;
    Accept, "Accept suggestion", Mentions, Sentence, Changes, Once, [Press(NONE, Key::Enter)] => Workspace;
    AcceptAll, "Accept all confident suggestions", Mentions, Sentence, Changes, Once, [Press(SHIFT, Key::Enter)] => Workspace;
    Reject, "Reject suggestion", Mentions, Sentence, Changes, Once, [Type('x')] => Workspace;
    Remove, "Remove mention", Mentions, Sentence, Changes, Once, [Press(NONE, Key::Delete), Press(NONE, Key::Backspace)] => Workspace;
    Wrap, "Wrap in a parent", Mentions, Sentence, Reads, Repeats, [Press(CTRL, Key::ArrowUp)] => Workspace;
    EndAfter, "Move end right", Mentions, Sentence, Changes, Repeats, [Press(ALT, Key::ArrowRight)] => Workspace;
    EndBefore, "Move end left", Mentions, Sentence, Changes, Repeats, [Press(ALT, Key::ArrowLeft)] => Workspace;
    StartAfter, "Move start right", Mentions, Sentence, Changes, Repeats, [Press(ALT_SHIFT, Key::ArrowRight)] => Workspace;
    StartBefore, "Move start left", Mentions, Sentence, Changes, Repeats, [Press(ALT_SHIFT, Key::ArrowLeft)] => Workspace;
    ChooseLabel, "Choose label by name", Mentions, Sentence, Changes, Once, [Press(NONE, Key::F2)] => Window;
    Note, "Edit note", Mentions, Project, Reads, Once, [Press(CTRL, Key::M)] => Workspace;

    CompleteAndNext, "Complete and go to next", Sentences, Sentence, Changes, Once, [Press(NONE, Key::Space)] => Workspace;
    Next, "Next without completing", Sentences, Sentence, Reads, Once, [Type('n')] => Workspace;
    SkipAndNext, "Skip and go to next", Sentences, Sentence, Changes, Once, [Press(SHIFT, Key::Space)] => Workspace;
    Flag, "Flag for a second look", Sentences, Sentence, Changes, Once, [Type('f')] => Workspace;
    Reopen, "Reopen sentence", Sentences, Sentence, Changes, Once, [Press(CTRL, Key::R)] => Workspace;
    PreviousSentence, "Previous sentence in list", Sentences, Sentence, Reads, Repeats, [Press(NONE, Key::ArrowUp)] => Workspace;
    NextSentence, "Next sentence in list", Sentences, Sentence, Reads, Repeats, [Press(NONE, Key::ArrowDown)] => Workspace;
    Back, "Go back to last visited", Sentences, Sentence, Reads, Repeats, [Press(ALT, Key::ArrowUp)] => Workspace;
    ShowNewSuggestions, "Show new suggestions", Sentences, Project, Reads, Once, [Press(NONE, Key::F5)] => Workspace;
    Search, "Find sentences", Sentences, Project, Reads, Once, [Press(CTRL, Key::F)] => Workspace;
    ShowAll, "Show all sentences", Sentences, Project, Reads, Once, [Press(CTRL_SHIFT, Key::F)] => Workspace;
    NextByText, "Next: text order", Sentences, Project, Reads, Once, [] => Workspace;
    NextByTeaching, "Next: most informative", Sentences, Project, Reads, Once, [] => Workspace;
    NextByFound, "Next: search results", Sentences, Project, Reads, Once, [] => Workspace;
    NextByBlind, "Next: blind set", Sentences, Project, Reads, Once, [] => Workspace;

    SplitWord, "Split word", Segments, Sentence, Changes, Once, [Press(CTRL, Key::D)] => Window;
    JoinWords, "Join selected words", Segments, Sentence, Changes, Once, [Press(CTRL, Key::J)] => Workspace;
    SplitSentence, "Split sentence before word", Segments, Sentence, Changes, Once, [Press(CTRL_SHIFT, Key::D)] => Workspace;
    JoinSentences, "Join with next sentence", Segments, Sentence, Changes, Once, [Press(CTRL_SHIFT, Key::J)] => Workspace;

    TrainNow, "Train now", Learner, Project, Changes, Once, [Press(CTRL, Key::T)] => Workspace;
    PauseTraining, "Pause or resume training", Learner, Project, Changes, Once, [Press(CTRL_SHIFT, Key::T)] => Workspace;
    StopTraining, "Stop training", Learner, Project, Changes, Once, [] => Workspace;
    LookAgain, "Review doubtful annotations", Learner, Project, Changes, Once, [Press(CTRL, Key::G)] => Window;
    CompareModels, "Compare models", Learner, Project, Reads, Once, [Press(CTRL_SHIFT, Key::B)] => Window;
    AnalyseModels, "Analyse models", Learner, Project, Reads, Once, [Press(CTRL_SHIFT, Key::A)] => Window;
    EndLookAgain, "End review", Learner, Project, Reads, Once, [] => Workspace;

    Undo, "Undo", Project, Project, Changes, Repeats, [Press(CTRL, Key::Z)] => Workspace;
    Redo, "Redo", Project, Project, Changes, Repeats, [Press(CTRL_SHIFT, Key::Z), Press(CTRL, Key::Y)] => Workspace;
    AddLabel, "Add label", Project, Project, Changes, Once, [Press(CTRL, Key::L)] => Window;
    Documents, "Documents", Project, Project, Reads, Once, [Press(CTRL_SHIFT, Key::O)] => Window;
    Dashboard, "Dashboard", Project, Project, Reads, Once, [Press(CTRL, Key::B)] => Window;
    History, "History", Project, Project, Reads, Once, [Press(CTRL, Key::H)] => Window;
    Import, "Import texts", Project, Project, Changes, Once, [Press(CTRL, Key::I)] => Window;
    Export, "Export", Project, Project, Reads, Once, [Press(CTRL, Key::E)] => Window;
    SaveCopy, "Save a copy", Project, Project, Reads, Once, [Press(CTRL_SHIFT, Key::S)] => Window;
    NewProject, "New project", Project, Window, Reads, Once, [Press(CTRL, Key::N)] => Window;
    OpenProject, "Open project", Project, Window, Reads, Once, [Press(CTRL, Key::O)] => Window;
    CloseProject, "Close project", Project, Project, Reads, Once, [Press(CTRL, Key::W)] => Window;
    Settings, "Settings", Project, Window, Reads, Once, [Press(CTRL, Key::Comma)] => Window;

    Palette, "All commands", Window, Window, Reads, Once, [Press(CTRL, Key::K)] => Window;
    KeyHelp, "Keyboard shortcuts", Window, Window, Reads, Once, [Type('?'), Press(NONE, Key::F1)] => Window;
    LeaveSentence, "Switch between sentence and controls", Window, Project, Reads, Once, [Press(NONE, Key::F6)] => Window;
    ToggleTheme, "Switch light and dark", Window, Window, Harmless, Once, [Press(CTRL_SHIFT, Key::L)] => Window;
    ZoomIn, "Zoom in", Window, Window, Harmless, Repeats, [Loose(CTRL, Key::Plus), Loose(CTRL, Key::Equals)] => Window;
    ZoomOut, "Zoom out", Window, Window, Harmless, Repeats, [Loose(CTRL, Key::Minus)] => Window;
    ZoomReset, "Reset zoom", Window, Window, Harmless, Once, [Press(CTRL, Key::Num0)] => Window;
    ShowLog, "Program log", Window, Window, Reads, Once, [] => Window;
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

/// The first shortcut of a command as the platform writes it, empty without one: "Ctrl+Shift+Z", or "Shift+Cmd+Z".
pub fn keys_text(id: CommandId) -> String {
    id.entry().keys.first().map(|keys| keys.text()).unwrap_or_default()
}

/// "Undo (Ctrl+Z)", for tooltips.
pub fn title_with_keys(id: CommandId) -> String {
    let entry = id.entry();
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
                // The names, not the symbols of a Mac: few fonts have these.
                let is_mac = OperatingSystem::from_target_os().is_mac();
                let mut text = ModifierNames::NAMES.format(&modifiers, is_mac);
                if !text.is_empty() {
                    text.push_str(ModifierNames::NAMES.concat);
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
                pressed.extend((!is_held || hit.held == Held::Repeats).then_some(Pressed::Command(hit.id)));
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
    fn no_key_and_no_title_is_there_twice() {
        let titles: HashSet<_> = TABLE.iter().map(|e| e.title).collect();
        assert_eq!(titles.len(), TABLE.len());
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
    fn keys_read_as_the_platform_writes_them() {
        let (redo, larger) = match cfg!(target_os = "macos") {
            true => ("Shift+Cmd+Z", "Zoom in (Cmd++)"),
            false => ("Ctrl+Shift+Z", "Zoom in (Ctrl++)"),
        };
        assert_eq!(keys_text(CommandId::Redo), redo);
        assert_eq!(keys_text(CommandId::Reject), "X");
        assert_eq!(title_with_keys(CommandId::ZoomIn), larger);
        assert_eq!(keys_text(CommandId::StopTraining), "");
    }
}
