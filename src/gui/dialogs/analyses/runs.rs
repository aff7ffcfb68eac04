//! Analyses under way and those that were made.

use super::analysed::Analysed;
use super::choice::Choice;
use crate::annotation::{Corpus, ModelId};
use crate::evaluation::SpanSampling;
use crate::session::{EvaluateReport, EvaluateRequest, Part, Project, SessionError, Task, TaskLost, Waker};
use crate::wording::capital;
use std::sync::Arc;

/// Those that are kept: the newest.
const MOST_MADE: usize = 8;

type Scoring = Task<Result<EvaluateReport, SessionError>>;
pub(super) type Made = Result<Arc<Analysed>, String>;

#[derive(Default)]
pub(super) struct Runs {
    running: Option<Running>,
    made: Vec<(Choice, Made)>,
}

/// One under way.
struct Running {
    choice: Choice,
    corpus: Arc<Corpus>,
    /// Of the chosen model, and of the one that it is compared with.
    scorings: Vec<Scoring>,
    /// Of those that have ended, as far as those before have.
    reports: Vec<EvaluateReport>,
    finishing: Option<Task<Analysed>>,
}

impl Runs {
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// What came of it, or why nothing did.
    pub(super) fn made(&self, choice: Choice) -> Option<&Made> {
        self.made.iter().find(|(of, _)| *of == choice).map(|(_, made)| made)
    }

    /// Scores all models of a choice on the sentences as they are now.
    pub(super) fn start(&mut self, choice: Choice, project: &Project) {
        let models = std::iter::once(choice.model).chain(choice.other);
        self.running = Some(Running {
            choice,
            corpus: project.snapshot_of_corpus(),
            scorings: models.map(|model| project.start_evaluation(request(choice.part, model, project))).collect(),
            reports: Vec::new(),
            finishing: None,
        });
    }

    /// Call each frame.
    pub(super) fn follow(&mut self, waker: &Waker) {
        let Some(running) = &mut self.running else { return };
        if let Some(made) = running.follow(waker) {
            self.made.retain(|(of, _)| *of != running.choice);
            self.made.truncate(MOST_MADE - 1);
            self.made.insert(0, (running.choice, made));
            self.running = None;
        }
    }
}

impl Running {
    fn follow(&mut self, waker: &Waker) -> Option<Made> {
        let lost = |lost: TaskLost| lost.to_string();
        if let Some(finishing) = &self.finishing {
            return Some(finishing.poll()?.map(Arc::new).map_err(lost));
        }
        while let Some(scoring) = self.scorings.get(self.reports.len()) {
            match scoring.poll()? {
                Ok(Ok(report)) => self.reports.push(report),
                Ok(Err(error)) => return Some(Err(capital(&error.to_string()))),
                Err(error) => return Some(Err(lost(error))),
            }
        }
        let mut reports = std::mem::take(&mut self.reports).into_iter();
        let (part, corpus) = (self.choice.part, Arc::clone(&self.corpus));
        if let Some(first) = reports.next() {
            let second = reports.next();
            self.scorings.clear();
            let work = move || Analysed::new(part, corpus, first, second);
            self.finishing = Some(Task::spawn("analysis", waker.clone(), work));
        }
        None
    }
}

/// All that the model has to tell.
fn request(part: Part, model: ModelId, project: &Project) -> EvaluateRequest {
    let info = project.models().find(|info| info.id == model);
    let finds = info.as_ref().is_none_or(|info| !info.labels_given());
    let has_vectors = info.is_some_and(|info| info.classifies_spans());
    EvaluateRequest {
        model: Some(model),
        threads: Some(project.settings().background_threads()),
        tasks: finds,
        buckets: finds,
        vectors: has_vectors.then(SpanSampling::default),
        ..EvaluateRequest::of(part)
    }
}
