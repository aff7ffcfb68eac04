//! Experiments: annotation replayed, models compared, and what the program's work costs.
//!
//! # Invariants
//! - They do what a person does, through an open project; no way of theirs leads around it.
//! - No project of a person is written to: they work in folders of their own, on copies.

mod bench;
mod compare;
mod kept_runs;
mod simulate;

pub use bench::{
    ImportBench, ImportBenchStep, Percentiles, PredictBench, PredictBenchRequest, PredictBenchStep, RefreshBench,
    TrainBench, TrainBenchRequest, UiBench, UiBenchProject, UiBenchRequest, bench_import, bench_predict, bench_refresh,
    bench_train, prepare_ui_bench,
};
pub use compare::{
    Column, CompareEvent, CompareRequest, ComparedRun, Comparison, ComparisonRow, ComparisonTable, RunCost, Spread,
    Subject, Variant, compare,
};
pub use simulate::{
    AboveRandom, Curve, CurvePoint, PointRecord, RunRecord, SentenceRecord, SimulateEvent, SimulateReport,
    SimulateRequest, simulate,
};
