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
    Asked, BackgroundComparison, Column, ColumnGroup, CompareEvent, CompareRequest, ComparedRun, Comparison,
    ComparisonProgress, ComparisonRow, ComparisonTable, KeptComparison, RunCost, Spread, Subject, Variant, compare,
    comparison_folder, kept_comparisons,
};
pub use simulate::{
    AboveRandom, Curve, CurvePoint, PointRecord, RunRecord, SentenceRecord, SimulateEvent, SimulateReport,
    SimulateRequest, simulate,
};
