//! Measures the window without a screen: its own code on a real project, worked in with keys and the mouse.
//!
//! A frame is timed from what has happened (keys, pointer, workers) to the triangles for the graphics card; handing
//! these over and the card itself are not in it. Frames come sixty times a second, as on a screen, so that a training
//! beside it gets the time that it would get.

use super::files::{FilePicker, FileRequest};
use super::window::Window;
use crate::experiments::{Percentiles, UiBench, UiBenchRequest, prepare_ui_bench};
use crate::session::{Command, Home, LearnerState, SessionError, TrainingProgress, resident_memory_mb};
use eframe::egui::{
    Context, Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, RawInput, Rect, TouchPhase,
    pos2, vec2,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SIZE: [f32; 2] = [1280.0, 860.0];
const FRAME: Duration = Duration::from_micros(16_667);
/// Frames that lay out and load what every later one uses.
const WARM_UP: usize = 30;
/// How long a project may take to open, and a training to begin.
const PATIENCE: Duration = Duration::from_secs(120);

/// Nobody chooses files here.
struct NoPicker;

impl FilePicker for NoPicker {
    fn pick(&self, _request: &FileRequest) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Works in the window for so many frames and says how long they took.
///
/// # Errors
/// A project that can't be read, a temporary folder that can't be written, a training that does not begin, a stop.
pub fn bench(request: &UiBenchRequest, cancel: &AtomicBool) -> Result<UiBench, SessionError> {
    let home = Home::find();
    let (_folder, path) = prepare_ui_bench(request, &home, cancel)?;
    let mut screen = HeadlessWindow::new(home, path);
    let measured = screen.measure(request, cancel);
    screen.window.close().and(measured)
}

/// What stands for a screen.
struct HeadlessWindow {
    ctx: Context,
    window: Window,
    begun: Instant,
}

impl HeadlessWindow {
    fn new(home: Home, path: PathBuf) -> Self {
        let (ctx, begun) = (Context::default(), Instant::now());
        let window = Window::new(&ctx, home, Arc::new(NoPicker), Some(path));
        Self { ctx, window, begun }
    }

    /// One frame with what has happened; its milliseconds.
    fn frame(&mut self, events: Vec<Event>) -> f64 {
        let started = Instant::now();
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE.into())),
            time: Some(self.begun.elapsed().as_secs_f64()),
            events,
            focused: true,
            ..RawInput::default()
        };
        let window = &mut self.window;
        let mut output = self.ctx.run_ui(input, |ui| {
            window.logic(&ui.ctx().clone());
            window.ui(ui);
        });
        let triangles = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        std::hint::black_box(&triangles);
        output.textures_delta.clear(); // there is no card to take them
        started.elapsed().as_secs_f64() * 1000.0
    }

    /// A frame, and what is left of its sixtieth of a second.
    fn paced(&mut self, events: Vec<Event>) -> f64 {
        let started = Instant::now();
        let ms = self.frame(events);
        std::thread::sleep(FRAME.saturating_sub(started.elapsed()));
        ms
    }

    fn wait(&mut self, cancel: &AtomicBool, done: impl Fn(&Window) -> bool) -> Result<(), SessionError> {
        let started = Instant::now();
        while !done(&self.window) {
            self.paced(Vec::new());
            if cancel.load(Ordering::Relaxed) || started.elapsed() > PATIENCE {
                return Err(SessionError::Stopped);
            }
        }
        Ok(())
    }

    fn measure(&mut self, request: &UiBenchRequest, cancel: &AtomicBool) -> Result<UiBench, SessionError> {
        self.wait(cancel, |window| window.workspace().is_some())?;
        self.frame(Vec::new());
        let open_secs = self.begun.elapsed().as_secs_f64();
        for _ in 0..WARM_UP {
            self.paced(Vec::new());
        }
        let mut training = Training::default();
        if request.while_training {
            self.train(cancel)?;
            training.look(self.progress());
        }
        let (mut all, mut with_keys) = (Vec::with_capacity(request.frames), Vec::new());
        let started = Instant::now();
        let label_key = self.window.workspace().and_then(|d| d.project.corpus().labels().iter().find_map(|l| l.key));
        for events in script(label_key).take(request.frames) {
            if cancel.load(Ordering::Relaxed) {
                return Err(SessionError::Stopped);
            }
            let has_key = events.iter().any(|e| matches!(e, Event::Key { .. } | Event::Text(_)));
            let ms = self.paced(events);
            all.push(ms);
            if has_key {
                with_keys.push(ms);
            }
            if request.while_training {
                self.follow(&mut training, cancel)?;
            }
        }
        // On a busy machine no step may have ended yet.
        while request.while_training && training.steps == 0 && started.elapsed() < PATIENCE {
            if cancel.load(Ordering::Relaxed) {
                return Err(SessionError::Stopped);
            }
            self.paced(Vec::new());
            self.follow(&mut training, cancel)?;
        }
        let secs = started.elapsed().as_secs_f64();
        let command_ms = self.commands();
        let Some(workspace) = self.window.workspace() else { return Err(SessionError::Stopped) };
        let (corpus, counts) = (workspace.project.corpus(), workspace.project.counts());
        let suggested = corpus.sentences().filter_map(|s| workspace.project.suggestions(s.id()));
        let nothing = Percentiles { p50: 0.0, p95: 0.0, p99: 0.0, max: 0.0 };
        Ok(UiBench {
            words: counts.tokens,
            spans: counts.mentions + suggested.map(|s| s.spans.len()).sum::<usize>(),
            sentences: counts.sentences,
            frames: all.len(),
            frame_ms: Percentiles::of(all).unwrap_or(nothing),
            key_to_frame_ms: Percentiles::of(with_keys).unwrap_or(nothing),
            open_secs,
            memory_mb: resident_memory_mb(),
            training_steps_per_sec: request.while_training.then(|| training.steps as f64 / secs),
            command_ms,
        })
    }

    /// What is about much of the project, once each; without what this project has nothing for.
    fn commands(&mut self) -> Vec<(&'static str, f64)> {
        let mut all = Vec::new();
        all.extend(self.command(Command::Train).map(|ms| ("start_training", ms)));
        let _stopped = self.command(Command::StopTraining);
        let count = |window: &Window| window.workspace().map(|w| w.project.corpus().document_count());
        let before = count(&self.window);
        while let Some(ms) = self.command(Command::Undo) {
            if count(&self.window) < before {
                all.push(("undo_import", ms));
                all.extend(self.command(Command::Redo).map(|ms| ("redo_import", ms)));
                break;
            }
        }
        let documents = self.window.workspace().and_then(|w| Some(vec![w.project.corpus().documents().next()?.id]));
        if let Some(documents) = documents {
            all.extend(
                self.command(Command::ExcludeDocuments { documents: documents.clone() }).map(|ms| ("exclude", ms)),
            );
            all.extend(self.command(Command::IncludeDocuments { documents }).map(|ms| ("include", ms)));
        }
        all
    }

    /// Milliseconds until a command is carried out and shown; `None` where it is refused.
    fn command(&mut self, command: Command) -> Option<f64> {
        let started = Instant::now();
        self.window.workspace_mut()?.project.run(command).ok()?;
        self.frame(Vec::new());
        Some(started.elapsed().as_secs_f64() * 1000.0)
    }

    /// Begins a training and waits for its first step.
    fn train(&mut self, cancel: &AtomicBool) -> Result<(), SessionError> {
        self.paced(key(Modifiers::COMMAND, Key::T));
        let begun = |window: &Window| {
            window.workspace().is_some_and(|workspace| match &workspace.project.learner().state {
                LearnerState::Training(progress) => progress.step > 0,
                LearnerState::Failed(_) => true,
                LearnerState::Waiting { .. } | LearnerState::LookingAgain(_) | LearnerState::Off => false,
            })
        };
        self.wait(cancel, begun)?;
        if self.progress().is_some() { Ok(()) } else { Err(SessionError::NothingToTrainOn) }
    }

    /// Looks at the training, and begins another one where it has ended.
    fn follow(&mut self, training: &mut Training, cancel: &AtomicBool) -> Result<(), SessionError> {
        if training.look(self.progress()) {
            self.train(cancel)?;
            training.look(self.progress());
        }
        Ok(())
    }

    fn progress(&self) -> Option<TrainingProgress> {
        match &self.window.workspace()?.project.learner().state {
            LearnerState::Training(progress) => Some(progress.clone()),
            _ => None,
        }
    }
}

/// Counts the steps of one training after the other.
#[derive(Default)]
struct Training {
    steps: usize,
    seen: Option<usize>,
}

impl Training {
    /// True when the training that was seen has ended.
    fn look(&mut self, progress: Option<TrainingProgress>) -> bool {
        let now = progress.map(|p| p.step);
        if let (Some(before), Some(now)) = (self.seen, now) {
            self.steps += now.saturating_sub(before);
        }
        let ended = self.seen.is_some() && now.is_none();
        self.seen = now;
        ended
    }
}

/// What somebody does who annotates, one thing every other frame: moves, selects, labels, undoes, answers suggestions,
/// completes, points, drags, scrolls, searches.
fn script(label_key: Option<char>) -> impl Iterator<Item = Vec<Event>> {
    let press = |pressed: Key| key(Modifiers::NONE, pressed);
    let with = key;
    let typed = |text: &str| vec![Event::Text(text.to_owned())];
    let (list, page) = (pos2(130.0, 400.0), pos2(420.0, 200.0));
    let scroll = |lines: f32| {
        let delta = vec2(0.0, lines);
        let (unit, phase, modifiers) = (MouseWheelUnit::Line, TouchPhase::Move, Modifiers::NONE);
        vec![
            Event::PointerMoved(list),
            Event::MouseWheel { unit, delta, phase, modifiers, source: MouseWheelSource::Wheel },
        ]
    };
    let button = |pos: Pos2, pressed: bool| {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        vec![Event::PointerMoved(pos), Event::PointerButton { pos, button, pressed, modifiers }]
    };
    let mut actions: Vec<Vec<Event>> = vec![press(Key::ArrowDown), press(Key::ArrowRight), press(Key::ArrowRight)];
    actions.extend([with(Modifiers::SHIFT, Key::ArrowRight), with(Modifiers::SHIFT, Key::ArrowRight)]);
    actions.extend(label_key.map(|key| typed(&key.to_string())));
    actions.extend([with(Modifiers::ALT, Key::ArrowRight), with(Modifiers::COMMAND, Key::ArrowUp)]);
    actions.extend(label_key.map(|key| typed(&key.to_string())));
    actions.extend([with(Modifiers::COMMAND, Key::Z), with(Modifiers::COMMAND, Key::Z), press(Key::Tab)]);
    actions.extend([press(Key::Enter), typed("x"), with(Modifiers::SHIFT, Key::Enter), press(Key::Space)]);
    actions.extend([button(page, true), vec![Event::PointerMoved(page + vec2(90.0, 0.0))]]);
    actions.extend([button(page + vec2(160.0, 0.0), false), press(Key::Escape), typed("n")]);
    actions.extend([scroll(-40.0), scroll(-40.0), scroll(60.0), button(list, true), button(list, false)]);
    actions.extend([with(Modifiers::COMMAND, Key::F), typed("be"), typed("r"), press(Key::Enter)]);
    actions.push(with(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::F));
    actions.into_iter().cycle().flat_map(|events| [events, Vec::new()])
}

/// A key with others held, pressed and let go.
fn key(modifiers: Modifiers, key: Key) -> Vec<Event> {
    let turn = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
    let held = Event::ModifiersChanged;
    vec![held(modifiers), turn(true), turn(false), held(Modifiers::NONE)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::UiBenchProject;

    #[test]
    fn a_made_up_project_is_worked_in_beside_a_training() {
        let on = UiBenchProject::MadeUp(60);
        let encoder = Some("small".to_owned());
        let request = UiBenchRequest { on, frames: 140, encoder, while_training: true };
        let bench = bench(&request, &AtomicBool::new(false)).unwrap();
        assert_eq!((bench.sentences, bench.frames), (60, 140));
        assert!(bench.spans >= 120 && bench.words > 600, "{bench:?}");
        assert!(bench.frame_ms.p50 > 0.0 && bench.frame_ms.p50 <= bench.frame_ms.p99);
        assert!(bench.training_steps_per_sec.unwrap() > 0.0);
        let commands: Vec<&str> = bench.command_ms.iter().map(|(name, _)| *name).collect();
        // A start of a training comes first, where none is under way.
        assert!(commands.ends_with(&["undo_import", "redo_import", "exclude", "include"]), "{commands:?}");
        assert!(matches!(super::bench(&request, &AtomicBool::new(true)), Err(SessionError::Stopped)));
    }
}
