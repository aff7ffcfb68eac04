//! Models, of which a project knows little: their weights lie beside it.

use crate::annotation::ModelId;

/// A model snapshot as the project knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelRecord {
    pub id: ModelId,
    /// What is remembered of the snapshot, JSON.
    pub manifest: String,
    /// SHA-256 of the snapshot's manifest.json in hexadecimal digits; `None` for a model of an older program.
    pub manifest_sha256: Option<String>,
    /// Since 1970, UTC.
    pub created_ms: i64,
}
