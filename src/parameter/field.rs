//! What the value of a parameter is in the program.

use super::{Kind, Value};
use serde_json::Value as Json;

/// A field of a [`super::parameters`] table: a value, a name, or either of them where it may be left open.
pub trait Field: Sized {
    /// As a person types it; `None` for what `kind` does not take.
    fn read(kind: Kind, text: &str) -> Option<Self>;
    /// As it is in a file; `None` for what `kind` does not take.
    fn from_json(kind: Kind, json: &Json) -> Option<Self>;
    fn to_json(&self) -> Json;
}

/// A field that is one [`Value`].
pub trait Scalar: Copy {
    fn of(value: Value) -> Option<Self>;
    fn value(self) -> Value;
}

impl<T: Scalar> Field for T {
    fn read(kind: Kind, text: &str) -> Option<Self> {
        kind.read(text).and_then(Self::of)
    }

    fn from_json(kind: Kind, json: &Json) -> Option<Self> {
        kind.from_json(json).and_then(Self::of)
    }

    fn to_json(&self) -> Json {
        self.value().to_json()
    }
}

impl<T: Scalar> Field for Option<T> {
    fn read(kind: Kind, text: &str) -> Option<Self> {
        if ["auto", "all"].contains(&text) { Some(None) } else { T::read(kind, text).map(Some) }
    }

    fn from_json(kind: Kind, json: &Json) -> Option<Self> {
        if json.is_null() { Some(None) } else { T::from_json(kind, json).map(Some) }
    }

    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }
}

impl Field for String {
    fn read(_: Kind, text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn from_json(_: Kind, json: &Json) -> Option<Self> {
        json.as_str().map(str::to_owned)
    }

    fn to_json(&self) -> Json {
        self.as_str().into()
    }
}

impl Scalar for u64 {
    fn of(value: Value) -> Option<Self> {
        if let Value::Whole(n) = value { Some(n) } else { None }
    }

    fn value(self) -> Value {
        Value::Whole(self)
    }
}

impl Scalar for usize {
    fn of(value: Value) -> Option<Self> {
        u64::of(value)?.try_into().ok()
    }

    fn value(self) -> Value {
        Value::Whole(self as u64)
    }
}

impl Scalar for f64 {
    fn of(value: Value) -> Option<Self> {
        if let Value::Real(x) = value { Some(x) } else { None }
    }

    fn value(self) -> Value {
        Value::Real(self)
    }
}

impl Scalar for bool {
    fn of(value: Value) -> Option<Self> {
        if let Value::Flag(is) = value { Some(is) } else { None }
    }

    fn value(self) -> Value {
        Value::Flag(self)
    }
}
