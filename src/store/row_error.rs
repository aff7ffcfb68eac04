//! Why rows were not written.

/// Why a change was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum RowError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A row is not there as the edit expects it.
    #[error("a row is not as the edit expects it")]
    OutOfStep,
    #[error("cancelled")]
    Cancelled,
}
