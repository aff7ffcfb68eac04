//! What decisions cost a person, told from the log: how often, in seconds and in keys and buttons, for each label and model.

use super::anchoring::Anchoring;
use crate::annotation::{Edit, LabelId, MentionId, ModelId, Provenance, SentenceId, Status, Step};
use crate::session::project::Project;
use crate::session::{SessionError, Task};
use crate::store::{Logged, Store};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::AddAssign;

/// What a person does with a mention or a suggestion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Decision {
    /// Takes a suggestion as it is.
    Accept,
    /// Takes it with another label or other boundaries.
    Edit,
    /// Turns it down.
    Reject,
    /// Marks what nobody suggested.
    Create,
}

impl Decision {
    pub const ALL: [Self; 4] = [Self::Accept, Self::Edit, Self::Reject, Self::Create];
}

/// Decisions of one kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    pub count: usize,
    pub secs: f64,
    /// Keys and buttons.
    pub presses: f64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.secs += other.secs;
        self.presses += other.presses;
    }
}

/// Decisions of all kinds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decisions(BTreeMap<Decision, Cost>);

impl Decisions {
    pub fn cost(&self, decision: Decision) -> Cost {
        self.0.get(&decision).copied().unwrap_or_default()
    }

    /// Of the suggestions that were answered, those that were taken as they were; `None` where none was answered.
    pub fn acceptance(&self) -> Option<f64> {
        let answered: usize = [Decision::Accept, Decision::Edit, Decision::Reject]
            .iter()
            .map(|decision| self.cost(*decision).count)
            .sum();
        (answered > 0).then(|| self.cost(Decision::Accept).count as f64 / answered as f64)
    }

    fn add(&mut self, decision: Decision, cost: Cost) {
        *self.0.entry(decision).or_default() += cost;
    }
}

/// All that the log tells of costs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Costs {
    pub all: Decisions,
    pub labels: BTreeMap<LabelId, Decisions>,
    /// By the model whose suggestions were answered; what was created is not among these.
    pub models: BTreeMap<ModelId, Decisions>,
    /// Sentences that were completed.
    pub completed: usize,
    /// All work, reading and what was taken back included.
    pub secs: f64,
    pub presses: f64,
    /// Sentences that somebody worked on while suggestions for them were on screen.
    pub seen: HashSet<SentenceId>,
    /// Whether suggestions sway the person; `None` where it can't be told yet.
    pub anchoring: Option<Anchoring>,
}

impl Project {
    /// Reads the log on a thread of its own; what is not saved yet is not among it.
    pub fn costs(&self) -> Task<Result<Costs, SessionError>> {
        let (open, agreements) = (self.connect_again(), self.agreements());
        Task::spawn("nestling-costs", self.waker(), move || {
            let costs = read(&open()?)?;
            Ok(Costs { anchoring: Anchoring::of(&agreements(), &costs.seen), ..costs })
        })
    }
}

fn read(store: &Store) -> Result<Costs, SessionError> {
    let mut tally = Tally::default();
    store.read_log(|entry| tally.take(&entry))?;
    Ok(tally.sum())
}

/// Decisions in their order, so that undo takes back the last one.
#[derive(Default)]
struct Tally {
    done: Vec<Decided>,
    undone: Vec<Decided>,
    costs: Costs,
}

/// What one transaction decided.
#[derive(Default)]
struct Decided {
    told: Vec<Told>,
    cost: Cost,
    completed: usize,
}

/// A decision, and about what.
#[derive(Clone, Copy)]
struct Told {
    decision: Decision,
    label: LabelId,
    model: Option<ModelId>,
    /// What was made of the suggestion.
    mention: Option<MentionId>,
    /// The mention is changed, or taken away, after it was made of a suggestion: this was not right after all.
    is_later: bool,
}

impl Tally {
    fn take(&mut self, entry: &Logged) {
        let cost = Cost { count: 1, secs: entry.active_ms as f64 / 1000.0, presses: f64::from(entry.presses) };
        self.costs.secs += cost.secs;
        self.costs.presses += cost.presses;
        self.costs.seen.extend(entry.visible.iter().map(|(sentence, _)| *sentence));
        match entry.step {
            Step::Do => {
                self.undone.clear();
                let completed =
                    entry.edits.iter().filter(|e| matches!(e, Edit::SetStatus { new: Status::Complete, .. }));
                let completed = completed.count();
                self.done.push(Decided { told: told(entry), cost, completed });
            }
            Step::Undo => self.undone.extend(self.done.pop()),
            Step::Redo => self.done.extend(self.undone.pop()),
        }
    }

    fn sum(self) -> Costs {
        let Self { done, mut costs, .. } = self;
        let mut decisions: Vec<(Told, Cost)> = Vec::new();
        // Which decision a mention came of.
        let mut came_of: HashMap<MentionId, usize> = HashMap::new();
        for Decided { told, cost, completed } in done {
            costs.completed += completed;
            // Several at once ("accept all") share what it took.
            let share = 1.0 / told.len().max(1) as f64;
            let (secs, presses) = (cost.secs * share, cost.presses * share);
            for one in told {
                let first = one.mention.filter(|_| one.is_later).and_then(|mention| came_of.get(&mention));
                if let Some((first, all)) = first.and_then(|first| decisions.get_mut(*first)) {
                    (first.decision, first.label) = (one.decision, one.label);
                    *all += Cost { count: 0, secs, presses };
                    continue;
                }
                if let Some(mention) = one.mention {
                    came_of.insert(mention, decisions.len());
                }
                decisions.push((one, Cost { count: 1, secs, presses }));
            }
        }
        for (Told { decision, label, model, .. }, cost) in decisions {
            costs.all.add(decision, cost);
            costs.labels.entry(label).or_default().add(decision, cost);
            if let Some(model) = model {
                costs.models.entry(model).or_default().add(decision, cost);
            }
        }
        costs
    }
}

fn told(entry: &Logged) -> Vec<Told> {
    let edits = entry.edits.as_slice();
    let seen = |sentence| entry.visible.iter().find(|(id, _)| *id == sentence).map(|(_, model)| *model);
    let rejects = |e: &Edit| matches!(e, Edit::SetRejected { new: true, .. });
    // A mention that is made while a suggestion is turned down takes its place.
    let corrects = edits.iter().any(rejects) && edits.iter().any(|e| matches!(e, Edit::AddMention { .. }));
    let later = |decision, label, model, mention| Told {
        decision,
        label,
        model: Some(model),
        mention: Some(mention),
        is_later: true,
    };
    let one = |edit: &Edit| match edit {
        Edit::AddMention { mention, sentence } => {
            let (decision, model) = match mention.provenance {
                Provenance::Accepted(model) => (Decision::Accept, Some(model)),
                _ if corrects => (Decision::Edit, seen(*sentence)),
                _ => (Decision::Create, None),
            };
            Some(Told { decision, label: mention.label, model, mention: Some(mention.id), is_later: false })
        }
        Edit::ReplaceMention { old, new, .. } => match old.provenance {
            Provenance::Accepted(model) if (&old.fragments, old.label) != (&new.fragments, new.label) => {
                Some(later(Decision::Edit, new.label, model, old.id))
            }
            _ => None,
        },
        Edit::RemoveMention { mention, .. } => match mention.provenance {
            Provenance::Accepted(model) => Some(later(Decision::Reject, mention.label, model, mention.id)),
            _ => None,
        },
        // What no model had suggested was ruled out in looking at gold again.
        Edit::SetRejected { sentence, label, new: true, .. } if !corrects => {
            let model = Some(seen(*sentence)?);
            Some(Told { decision: Decision::Reject, label: *label, model, mention: None, is_later: false })
        }
        _ => None,
    };
    edits.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::{Mention, Span};

    const S: SentenceId = SentenceId(4);
    const M: ModelId = ModelId(2);

    fn mention(label: u32, provenance: Provenance) -> Mention {
        Mention::new(MentionId(1), Span::from_range(0..2).unwrap(), LabelId(label), provenance)
    }

    fn add(label: u32, provenance: Provenance) -> Edit {
        Edit::AddMention { sentence: S, mention: mention(label, provenance) }
    }

    fn reject(label: u32) -> Edit {
        Edit::SetRejected { sentence: S, span: Span::from_range(0..2).unwrap(), label: LabelId(label), new: true }
    }

    fn costs(entries: &[(Step, Vec<Edit>)]) -> Costs {
        let mut tally = Tally::default();
        for (step, edits) in entries {
            let (author, visible) = (String::new(), vec![(S, M)]);
            tally.take(&Logged {
                step: *step,
                edits: edits.clone(),
                author,
                time_ms: 0,
                active_ms: 3000,
                presses: 2,
                visible,
            });
        }
        tally.sum()
    }

    #[test]
    fn each_decision_is_told_from_its_edits() {
        let complete = Edit::SetStatus { sentence: S, old: Status::InProgress, new: Status::Complete };
        let all = costs(&[
            (Step::Do, vec![add(0, Provenance::Accepted(M)), add(1, Provenance::Accepted(M))]),
            (Step::Do, vec![add(1, Provenance::Person), reject(0)]),
            (Step::Do, vec![reject(0)]),
            (Step::Do, vec![add(0, Provenance::Person)]),
            (Step::Do, vec![complete]),
        ]);
        let counts = |decisions: &Decisions| Decision::ALL.map(|decision| decisions.cost(decision).count);
        assert_eq!(counts(&all.all), [2, 1, 1, 1]);
        assert_eq!(counts(&all.labels[&LabelId(1)]), [1, 1, 0, 0]);
        assert_eq!(counts(&all.models[&M]), [2, 1, 1, 0]);
        assert_eq!(all.all.acceptance(), Some(0.5));
        assert_eq!(all.all.cost(Decision::Accept), Cost { count: 2, secs: 3.0, presses: 2.0 });
        assert_eq!((all.completed, all.secs, all.presses), (1, 15.0, 10.0));
    }

    #[test]
    fn what_is_taken_back_is_no_decision_but_took_its_time() {
        let accept = vec![add(0, Provenance::Accepted(M))];
        let back = vec![Edit::RemoveMention { sentence: S, mention: mention(0, Provenance::Accepted(M)) }];
        let undone = costs(&[(Step::Do, accept.clone()), (Step::Undo, back.clone())]);
        assert_eq!((undone.all, undone.secs), (Decisions::default(), 6.0));
        let again = costs(&[(Step::Do, accept.clone()), (Step::Undo, back), (Step::Redo, accept)]);
        assert_eq!(again.all.cost(Decision::Accept).count, 1);
    }

    #[test]
    fn what_was_accepted_and_then_changed_or_removed_was_not_right() {
        let (old, new) = (mention(0, Provenance::Accepted(M)), mention(1, Provenance::Accepted(M)));
        let change = |old: &Mention, new: &Mention| {
            (Step::Do, vec![Edit::ReplaceMention { sentence: S, old: old.clone(), new: new.clone() }])
        };
        let accept = (Step::Do, vec![add(0, Provenance::Accepted(M))]);
        let remove = (Step::Do, vec![Edit::RemoveMention { sentence: S, mention: new.clone() }]);
        let counts = |costs: &Costs| Decision::ALL.map(|decision| costs.models[&M].cost(decision).count);
        // Once, whatever it took, and of the label that it ended with.
        let changed = costs(&[accept.clone(), change(&old, &new), change(&new, &old), change(&old, &new)]);
        assert_eq!(counts(&changed), [0, 1, 0, 0]);
        assert_eq!(changed.labels[&LabelId(1)].cost(Decision::Edit).secs, 12.0);
        let removed = costs(&[accept.clone(), change(&old, &new), remove.clone()]);
        assert_eq!(counts(&removed), [0, 0, 1, 0]);
        // Accepted before the log begins.
        assert_eq!(counts(&costs(&[change(&old, &new), change(&new, &old)])), [0, 1, 0, 0]);
        // An undo takes back the change alone.
        let back = (Step::Undo, remove.1.clone());
        assert_eq!(counts(&costs(&[accept, remove, back])), [1, 0, 0, 0]);
    }
}
