//! An open project: commands in, events out. The window and the command line do everything through this module.
//!
//! ```text
//! Command ─> plan ─> Transaction ─> Corpus (memory) ─> Writer (disk) ─> SaveState
//!                                      │
//!                                      └─> Learner: trainer thread, predictor thread ─> Event
//! ```
//!
//! Its rooms: [`project`] is what is open, how it is changed and saved; [`learner`] trains and predicts; [`import`] and
//! [`export`] are for files; [`analysis`] tells of the work and of the models, [`figures`] puts it into files; [`standalone`] needs no project.
//!
//! # Invariants
//! - An edit is applied in memory and sent to the writer in one step; what the writer has not acknowledged is shown as
//!   not saved.
//! - A [`Project`] never waits: not for a disk, a model, or a look at all of a large corpus. What takes long it hands to a
//!   [`Task`] with a snapshot of what that reads. Only opening, making and closing one waits, and what works on a snapshot
//!   ([`ExportView`], what [`Project::kept_models`] and [`Project::forecasting`] return): these are for [`Task`]s.
//! - All that a caller can wait for is a [`Driver`]'s: `…_now`, `import`, `flush`. It is for the command line, experiments
//!   and tests; the window does not name it (`tests/layering.rs`).
//! - What a model says is dropped when another model has become current meanwhile.
//! - Suggestions become gold only by a command of a person.
//!
//! Deliberately absent: words for people beyond error messages, and anything of a screen.

mod analysis;
mod error;
mod export;
mod faults;
mod figures;
mod files;
mod home;
mod import;
mod learner;
mod logging;
mod project;
mod standalone;
mod task;

pub use analysis::agenda::RankRequest;
pub use analysis::anchoring::{Agreement, Anchoring};
pub use analysis::costs::{Cost as DecisionCost, Costs, Decision, Decisions};
pub use analysis::curve::{CurveBasis, LearningCurve, MeasuredPoint, next_point_in_words};
pub use analysis::gold::LookAgainRequest;
pub use analysis::look_again::{FOLDS, doubt_in_words};
pub use error::SessionError;
pub use export::{ExportReceipt, ExportRequest, ExportView, ExportWhat};
pub use faults::{HowEnded, LastEnd, keep_unsaved, report_faults, take_last_end};
pub use figures::{
    Breakdown, Evaluated, FigureFile, PropertyDifferences, bucket_differences, figure_files, write_figures,
};
pub use files::{write_text, write_whole};
pub use home::Home;
pub use import::reading::{ImportAs, Incoming, ReadRequest, asking_format, read_files, read_files_watched};
pub use import::sample::open_sample;
pub use import::{ImportHow, ImportReceipt, Imported};
pub use learner::dataset::Part;
pub use learner::evaluating::{EvaluateReport, EvaluateRequest, JudgedSuggestion};
pub use learner::foreground::{PredictReport, TrainReport};
pub use learner::models::KeptModel;
pub use learner::names::{NameKind, NameLabel};
pub use learner::span_picture::{SpanPicture, SpanPoint};
pub use learner::strange::Strange;
pub use logging::{LOG_LEVELS, log_path, start_log};
pub use project::activity::now_ms;
pub use project::aside::BLIND_SENTENCES;
pub use project::check::{CheckReport, check_project, rescue_project};
pub use project::chosen_options::{ChosenOptions, OptionOf};
pub use project::command::{Command, Outcome, Suggested};
pub use project::driver::{Driver, NothingCame};
pub use project::finding::DocumentRow;
pub use project::language::{Misfit, encoder_in_words};
pub use project::settings::{Order, Setting, Settings, background_threads, cores};
pub use project::shown::Withheld;
pub use project::status::{
    Counts, Event, FailedWork, Failure, LearnerState, LearnerStatus, ModelInfo, Predicting, SaveState, TrainingProgress,
};
pub use project::{NewProject, Project};
pub use standalone::adapt::{AdaptReport, AdaptRequest, adapt_encoder};
pub use standalone::convert::{ConvertReceipt, ConvertRequest, convert};
pub use standalone::distill::{DistillReport, DistillRequest, distill_encoder};
pub use standalone::filter::{FilterReport, FilterRequest, filter};
pub use standalone::pretrain::{NamedCorpus, PretrainReport, PretrainRequest, pretrain_encoder};
pub use task::{DroppedElsewhere, Task, TaskLost, Waker};

// What experiments do as an open project does it.
pub(crate) use analysis::agenda::{AHEAD, dropout_passes};
pub(crate) use error::stopped;
pub(crate) use files::temporary_folder;
pub(crate) use learner::dataset::{
    discontinuous, freeze, gold_examples, gold_sentences, labels, may_be_offered, words,
};
pub(crate) use learner::model_folder::{directory as model_directory, remove_all as remove_models};
pub(crate) use learner::trainer::lower_priority;

// What callers name of the layers below.
pub use crate::active::{Besides, Choice, Doubt, Finding, Forecast, Measure, NextPoint, Proposal, Strategy, Why};
pub use crate::adapt::{Config as AdaptConfig, Event as AdaptEvent, Record as AdaptRecord};
pub use crate::distill::{Config as DistillConfig, Event as DistillEvent, Record as DistillRecord};
pub use crate::encoder::{EncoderInfo, Encoders, Fetching, Hub, Repository};
pub use crate::format::{Input, Loss, Receipt, Warning, formats};
pub use crate::nn::{NnError, kernels::InstructionSet};
pub use crate::pretrain::{PretrainSettings, Record as PretrainRecord};
pub use crate::store::WhyReadOnly;
pub use crate::store::{FileNews, LogLine, Rescued, Watch};
pub use crate::text::Language;
pub use crate::train::{
    Config, Cost, ENOUGH_DEV, Event as TrainEvent, Interrupted, Manifest, PredictOptions, resident_memory_mb,
};
