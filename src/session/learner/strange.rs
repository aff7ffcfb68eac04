//! Why files are not those of a model of the project.

/// Why the files under a model's number are not the project's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Strange {
    #[error("belong to another project")]
    OtherProject,
    #[error("have the label {name:?}, which the project never had")]
    OtherLabels { name: String },
    #[error("are not those of the model that was trained here")]
    OtherModel,
    #[error("are behind a link, which is not followed")]
    Link,
    #[error("don't say whose they are: {why}")]
    Unreadable { why: String },
}
