//! An open project: commands in, events out. The window and the command line do everything through this module.
//!
//! ```text
//! Command ─> plan ─> Transaction ─> Corpus (memory) ─> Writer (disk) ─> SaveState
//!                                      │
//!                                      └─> Learner: trainer thread, predictor thread ─> Event
//! ```
//!
//! # Invariants
//! - An edit is applied in memory and sent to the writer in one step; what the writer has not acknowledged is shown as
//!   not saved.
//! - Nothing here waits for a disk or a model but what says so (`…_now`, `import`, `flush`, `close`, [`ExportView`]);
//!   those are for the command line and for [`Task`]s.
//! - What a model says is dropped when another model has become current meanwhile.
//! - Suggestions become gold only by a command of a person.
//!
//! Deliberately absent: words for people beyond error messages, and anything of a screen.

mod activity;
mod bench;
mod check;
mod command;
mod compare;
mod convert;
mod copy;
mod costs;
mod counts;
mod curve;
mod dataset;
mod distill;
mod documents;
mod driver;
mod error;
mod export;
mod faults;
mod files;
mod filter;
mod flag;
mod history;
mod home;
mod import;
mod inputs;
mod jobs;
mod learner;
mod lengths;
mod look_again;
mod model_folder;
mod models;
mod predictor;
mod project;
mod queue;
mod ranking;
mod readback;
mod reading;
mod resegmented;
mod sample;
mod saving;
mod scoring;
mod search;
mod segments;
mod settings;
mod shown;
mod simulate;
mod status;
mod task;
mod trainer;
mod withheld;

pub use crate::store::{FileNews, LogLine, Rescued, Watch};
pub use activity::now_ms;
pub use bench::{
    ImportBench, ImportBenchStep, Percentiles, PredictBench, PredictBenchRequest, PredictBenchStep, RefreshBench,
    TrainBench, TrainBenchRequest, UiBench, UiBenchProject, UiBenchRequest, bench_import, bench_predict, bench_refresh,
    bench_train, prepare_ui_bench,
};
pub use check::{CheckReport, check_project, rescue_project};
pub use command::{Command, Outcome, Suggested};
pub use compare::{CompareRequest, ComparedRun, Comparison, Spread};
pub use convert::{ConvertReceipt, ConvertRequest, convert};
pub use costs::{Cost as DecisionCost, Costs, Decision, Decisions};
pub use curve::{BLIND_SENTENCES, CurveBasis, LearningCurve, MeasuredPoint, next_point_in_words};
pub use dataset::Part;
pub use distill::{DistillReport, DistillRequest, distill_encoder};
pub use documents::DocumentRow;
pub use driver::{Driver, NothingCame};
pub use error::SessionError;
pub use export::{ExportReceipt, ExportRequest, ExportView, ExportWhat};
pub use faults::{HowEnded, LastEnd, keep_unsaved, report_faults, take_last_end};
pub use files::write_whole;
pub use filter::{FilterReport, FilterRequest, filter};
pub use home::Home;
pub use import::{ImportAs, ImportHow, ImportReceipt, Imported};
pub use jobs::{EvaluateReport, EvaluateRequest, PredictReport, TrainReport};
pub use look_again::{FOLDS, LookAgainRequest, doubt_in_words};
pub use model_folder::Strange;
pub use models::KeptModel;
pub use project::{NewProject, Order, Project};
pub use ranking::RankRequest;
pub use reading::{Incoming, ReadRequest, asking_format, read_files, read_files_watched};
pub use sample::open_sample;
pub use settings::{Setting, Settings, background_threads, cores};
pub use simulate::{
    AboveRandom, Curve, CurvePoint, PointRecord, RunRecord, SentenceRecord, SimulateEvent, SimulateReport,
    SimulateRequest, simulate,
};
pub use status::{Counts, Event, LearnerState, LearnerStatus, ModelInfo, Predicting, SaveState, TrainingProgress};
pub use task::{Task, TaskLost, Waker};
pub use withheld::{Agreement, Anchoring, Withheld};

// What callers name of the layers below.
pub use crate::active::{Besides, Choice, Doubt, Finding, Forecast, Measure, NextPoint, Proposal, Strategy, Why};
pub use crate::distill::{Config as DistillConfig, Event as DistillEvent, Record as DistillRecord};
pub use crate::encoder::{EncoderInfo, Encoders, Fetching, Hub, Repository};
pub use crate::format::{Input, Loss, Receipt, Warning, formats};
pub use crate::nn::{NnError, kernels::InstructionSet};
pub use crate::store::WhyReadOnly;
pub use crate::train::{
    Config, Cost, ENOUGH_DEV, Event as TrainEvent, Interrupted, KEYS, Manifest, PredictOptions, resident_memory_mb,
};
