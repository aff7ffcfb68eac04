//! A struct of parameters, declared as a table with a row for each.

use super::{Field, Kind};
use serde_json::Value as Json;

/// What a row of a table says.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// As it is typed, and as files name it.
    pub key: &'static str,
    pub takes: Kind,
    /// As a person reads it: a value, or what is decided by default.
    pub default: String,
    pub help: &'static str,
}

impl Parameter {
    /// `text` says what is decided where it is left open, which is the default then.
    pub fn new<T: Field>(
        key: &'static str,
        takes: Kind,
        default: &T,
        text: Option<&'static str>,
        help: &'static str,
    ) -> Self {
        let default = match (text, default.to_json()) {
            (Some(text), _) => text.to_owned(),
            (None, Json::String(name)) => name,
            (None, json) => json.to_string(),
        };
        Self { key, takes, default, help }
    }
}

/// What came of setting a parameter by its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Put {
    Done,
    /// It does not take that, but this.
    Refused {
        expected: String,
        /// Whether it takes `auto`, too.
        is_open: bool,
    },
    NoSuchKey,
}

impl Put {
    /// Sets a field; what may be left open is left open by `auto`.
    pub fn into<T: Field>(field: &mut T, takes: Kind, is_open: bool, text: &str) -> Self {
        match T::read(takes, text) {
            Some(value) => {
                *field = value;
                Self::Done
            }
            None => Self::Refused { expected: takes.expected(is_open.then_some("auto")), is_open },
        }
    }
}

/// Declares a struct, its default, `parameters()` and `put`. A row is
///
/// ```text
/// field: type, what it takes, default [=> "what is decided where it is left open"], "what it means";
/// ```
///
/// The field's name is the parameter's key. What may be left open is an `Option` that is `None` by default. Fields that are no
/// parameters follow as `with { field: type }` and begin with the default of their type.
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $( $field:ident : $type:ty, $takes:expr, $default:expr $(=> $open:literal)?, $help:literal; )*
        }
        $( with { $( $more:ident : $more_type:ty ),* } )?
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $( #[doc = $help] pub $field: $type, )*
            $( $( pub $more: $more_type, )* )?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $default, )*
                    $( $( $more: <$more_type>::default(), )* )?
                }
            }
        }

        impl $name {
            /// All parameters, in the order of the table.
            pub fn parameters() -> Vec<$crate::parameter::Parameter> {
                let defaults = Self::default();
                vec![ $( $crate::parameter::Parameter::new(
                    stringify!($field),
                    $takes,
                    &defaults.$field,
                    None$(.or(Some($open)))?,
                    $help,
                ), )* ]
            }

            /// Sets one by its key.
            pub(super) fn put(&mut self, key: &str, text: &str) -> $crate::parameter::Put {
                match key {
                    $( stringify!($field) => {
                        let is_open = None::<&str>$(.or(Some($open)))?.is_some();
                        $crate::parameter::Put::into(&mut self.$field, $takes, is_open, text)
                    } )*
                    _ => $crate::parameter::Put::NoSuchKey,
                }
            }

            /// Each by its key; what is left open is null.
            pub fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
                let row = |key: &str, json| (key.to_owned(), json);
                [ $( row(stringify!($field), $crate::parameter::Field::to_json(&self.$field)), )* ].into_iter().collect()
            }
        }
    };
}

pub(crate) use parameters;
