//! The keys that mean the same in every line, whatever its mentions count: each is named here alone.
//!
//! Macros, because a flattened struct would take the place of an error from its message, and time from each line.

/// A line with its own keys.
macro_rules! line {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(serde::Deserialize)]
        pub(super) struct $name {
            pub(super) doc: Option<String>,
            pub(super) gap: Option<String>,
            pub(super) status: Option<String>,
            pub(super) split: Option<String>,
            $($own)*
            #[serde(flatten)]
            other: std::collections::BTreeMap<String, serde_json::Value>,
        }
    };
}

/// A mention in a line, with its own keys.
macro_rules! mention {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(serde::Deserialize)]
        pub(super) struct $name {
            $($own)*
            pub(super) fragments: Option<Vec<(usize, usize)>>,
            #[serde(default)]
            pub(super) attributes: std::collections::BTreeMap<String, serde_json::Value>,
            #[serde(default)]
            pub(super) note: String,
            pub(super) score: Option<f32>,
            /// A text, or a number as other programs have it.
            pub(super) id: Option<serde_json::Value>,
            #[serde(flatten)]
            pub(super) other: std::collections::BTreeMap<String, serde_json::Value>,
        }
    };
}

pub(super) use {line, mention};
