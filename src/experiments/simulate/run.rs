//! One strategy with one seed, from nothing to the end of the schedule.

use super::gold::{Gold, Mentions, spans};
use super::record::{Kept, PointRecord, RunRecord, SentenceRecord};
use super::request::SimulateRequest;
use crate::active::Strategy;
use crate::annotation::{Fragments, LabelId, Sentence, SentenceId, Status};
use crate::disk;
use crate::evaluation::CorrectionEffort;
use crate::session::{
    AHEAD, Command, Driver, EvaluateRequest, Home, ImportAs, ImportHow, NewProject, Part, Project, RankRequest,
    SessionError, Setting, Suggested, TrainEvent, TrainReport, dropout_passes, remove_models,
};
use crate::store::models_dir;
use crate::train::{Config, PredictOptions};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The project of a run, in its folder.
const FILE: &str = "run.nestling";

/// How far a simulation is.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulateEvent {
    Started {
        run: usize,
        runs: usize,
        strategy: String,
        seed: u64,
    },
    Train(TrainEvent),
    /// So many of the open sentences have suggestions of the newest model.
    Predicted {
        sentences: usize,
        of: usize,
    },
    Point(PointRecord),
}

pub(super) struct Plan<'a> {
    pub home: &'a Home,
    pub request: &'a SimulateRequest,
    pub gold: &'a Gold,
    pub kept: &'a Kept,
    pub name: &'a str,
    pub strategy: Strategy,
    pub seed: u64,
}

/// # Errors
/// See [`super::simulate`].
pub(super) fn run(
    plan: &Plan<'_>,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(SimulateEvent),
) -> Result<RunRecord, SessionError> {
    let schedule = &plan.request.schedule;
    let mut record = plan.kept.load(plan.name, plan.seed)?;
    let folder = plan.kept.work_folder(plan.name, plan.seed);
    let is_done = |record: &RunRecord| record.points.len() >= schedule.len();
    if !is_done(&record) {
        if !folder.is_dir() {
            // Without its project it has to begin again.
            record = RunRecord { strategy: plan.name.to_owned(), seed: plan.seed, ..RunRecord::default() };
        }
        let mut run = Run::open(plan, &folder, record)?;
        while let Some(&sentences) = schedule.get(run.record.points.len()) {
            run.advance(sentences, cancel, on_event)?;
        }
        record = run.record;
        run.project.close()?;
    }
    if folder.is_dir() {
        remove_project(&folder)?;
    }
    Ok(record)
}

/// Deletes the project of a run with its models. What else is in its folder stays, and the folder with it.
fn remove_project(folder: &Path) -> Result<(), SessionError> {
    remove_models(&models_dir(&folder.join(FILE)))?;
    let io = |source| SessionError::Io { doing: "delete the project of a run", source, path: folder.to_owned() };
    // With what is beside a project file.
    disk::remove_folder(folder, |name| name.starts_with("run."), |_| 0).map_err(io)
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    project: Driver,
    pool: Vec<PoolSentence>,
    record: RunRecord,
}

impl<'a> Run<'a> {
    fn open(plan: &'a Plan<'a>, folder: &Path, record: RunRecord) -> Result<Self, SessionError> {
        let file = folder.join(FILE);
        let (incoming, gold) = plan.gold.pool(plan.request.pool, plan.seed);
        let project = if record.annotated.is_empty() {
            if folder.is_dir() {
                remove_project(folder)?;
            }
            let io = |source| SessionError::Io { doing: "make the folder of a run", source, path: folder.to_owned() };
            fs::create_dir_all(folder).map_err(io)?;
            let new = NewProject {
                encoder: Some(plan.request.config.encoder.clone()),
                ..NewProject::with_labels(plan.gold.labels())?
            };
            let mut project = Driver::create(plan.home, &file, &new)?;
            // The person who is replaced can't be swayed.
            project.run(Command::Set(Setting::Probes(false)))?;
            let how = |kind, split| ImportHow { kind: Some(kind), split: Some(split) };
            project.import(incoming, how(ImportAs::Text, Part::Pool))?;
            project.import(plan.gold.dev(), how(ImportAs::Gold, Part::Dev))?;
            project.import(plan.gold.test(), how(ImportAs::Gold, Part::Test))?;
            project
        } else {
            Driver::open(plan.home, &file)?
        };
        let pool = beside(&project, gold)?;
        Ok(Self { plan, project, pool, record })
    }

    /// Annotates up to so many sentences, trains and scores.
    fn advance(
        &mut self,
        sentences: usize,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(SimulateEvent),
    ) -> Result<(), SessionError> {
        self.annotate()?;
        if self.record.annotated.len() < sentences {
            self.predict(cancel, on_event)?;
        }
        while self.record.annotated.len() < sentences {
            self.choose(AHEAD.min(sentences - self.record.annotated.len()), cancel)?;
            self.plan.kept.save(&self.record)?;
            self.annotate()?;
        }
        let config = Config { seed: self.plan.seed, ..self.plan.request.config.clone() };
        config.check_finds()?;
        let trained = self.project.train_now(config, cancel, &mut |event| on_event(SimulateEvent::Train(event)))?;
        let point = self.point(&trained, cancel)?;
        self.record.points.push(point.clone());
        self.plan.kept.save(&self.record)?;
        on_event(SimulateEvent::Point(point));
        Ok(())
    }

    /// What the model says of all that is open.
    fn predict(&mut self, cancel: &AtomicBool, on_event: &mut dyn FnMut(SimulateEvent)) -> Result<(), SessionError> {
        if self.project.current_model().is_some() {
            let dropout_passes = dropout_passes(self.plan.strategy);
            let options = PredictOptions { dropout_passes, ..PredictOptions::default() };
            let threads = self.plan.request.config.threads;
            let report =
                self.project.predict_now(Part::Pool, None, threads, options, cancel, &mut |sentences, of| {
                    on_event(SimulateEvent::Predicted { sentences, of });
                })?;
            if report.stopped {
                // What is chosen and counted next needs all of it.
                return Err(SessionError::Stopped);
            }
        }
        Ok(())
    }

    /// Chooses sentences, as many together as in an open project, and counts what it takes to make gold of what is suggested
    /// for them.
    fn choose(&mut self, count: usize, cancel: &AtomicBool) -> Result<(), SessionError> {
        let Plan { strategy, seed, .. } = *self.plan;
        let request = RankRequest { strategy, count, seed, threads: self.plan.request.config.threads };
        let before = self.record.annotated.len();
        for choice in self.project.rank_now(request, cancel, &mut |_, _| {})? {
            let Some(place) = self.pool.iter().position(|sentence| sentence.id == choice.id) else { continue };
            let Some(PoolSentence { id, gold }) = self.pool.get(place) else { continue };
            let suggested = self.project.visible_suggestions(*id);
            let suggested: Vec<_> = suggested.into_iter().map(|s| (s.span, s.label)).collect();
            let contiguous = spans(gold);
            let mut effort = CorrectionEffort::of(&contiguous, &suggested);
            effort.created += gold.len() - contiguous.len();
            self.record.annotated.push(SentenceRecord {
                place,
                tokens: self.project.corpus().sentence(*id).map_or(0, |s| s.tokens().len()),
                mentions: gold.len(),
                actions: effort.actions(),
                actions_from_scratch: effort.from_scratch(),
            });
        }
        let is_more = self.record.annotated.len() > before;
        if is_more { Ok(()) } else { Err(SessionError::TooFewOpen { there: 0, wanted: count }) }
    }

    /// Does what a person does in the window, for all that was chosen and is not complete.
    fn annotate(&mut self) -> Result<(), SessionError> {
        for sentence in &self.record.annotated {
            let Some(PoolSentence { id, gold }) = self.pool.get(sentence.place) else { continue };
            let id = *id;
            if self.project.corpus().sentence(id).is_none_or(|s| s.status() == Status::Complete) {
                continue;
            }
            for (fragments, label) in gold {
                let accepted = fragments.contiguous().and_then(|span| {
                    let model = self.project.suggestions(id)?.model;
                    let shown = self.project.visible_suggestions(id);
                    let is_there = shown.iter().any(|s| s.span == span && s.label == *label);
                    is_there.then_some(Suggested { span, label: *label, model })
                });
                let command = match accepted {
                    Some(suggested) => Command::Accept { sentence: id, suggested },
                    None => Command::Annotate { sentence: id, fragments: fragments.clone(), label: *label },
                };
                self.project.run(command)?;
            }
            self.project.run(Command::SetStatus { sentence: id, status: Status::Complete })?;
        }
        Ok(())
    }

    fn point(&self, trained: &TrainReport, cancel: &AtomicBool) -> Result<PointRecord, SessionError> {
        let (part, threads) = (Part::Test, self.plan.request.config.threads);
        let request = EvaluateRequest { model: Some(trained.model), threads, ..EvaluateRequest::of(part) };
        let scores = self.project.evaluate_now(request, cancel)?.report.micro;
        let annotated = &self.record.annotated;
        let sum = |of: fn(&SentenceRecord) -> usize| annotated.iter().map(of).sum();
        Ok(PointRecord {
            sentences: annotated.len(),
            tokens: sum(|s| s.tokens),
            mentions: sum(|s| s.mentions),
            f1: scores.f1().unwrap_or(0.0),
            precision: scores.precision(),
            recall: scores.recall(),
            actions: sum(|s| s.actions),
            actions_from_scratch: sum(|s| s.actions_from_scratch),
            threshold: self.project.settings().threshold,
            train_secs: trained.manifest.outcome.wall_secs,
        })
    }
}

/// A sentence of the pool, and what gold says of it.
struct PoolSentence {
    id: SentenceId,
    gold: Vec<(Fragments, LabelId)>,
}

/// Puts gold beside the sentences of the pool, which were imported in its order.
fn beside(project: &Project, gold: Vec<Mentions>) -> Result<Vec<PoolSentence>, SessionError> {
    let corpus = project.corpus();
    let is_pool = |s: &&Sentence| Part::Pool.holds(s) || Part::Train.holds(s);
    let label = |name: &str| corpus.labels().iter().find(|l| l.name == name).map(|l| l.id);
    let of_sentence = |mentions: Mentions| {
        let named = mentions
            .into_iter()
            .map(|(fragments, name)| Ok((fragments, label(&name).ok_or(SessionError::NoSuchLabel)?)));
        named.collect::<Result<Vec<_>, SessionError>>()
    };
    let sentences = corpus.sentences().filter(is_pool).map(Sentence::id);
    sentences.zip(gold).map(|(id, mentions)| Ok(PoolSentence { id, gold: of_sentence(mentions)? })).collect()
}
