//! Values that people set by name, such as `epochs=10`: what one takes, and a table that declares many at once.
//!
//! # Invariants
//! - What a parameter takes and what it is by default stands once, in its row of a [`table`]; parsing, messages, help and
//!   JSON come from there.
//!
//! Deliberately absent: what any of them means, and what is decided where one is left open.

mod field;
mod table;

pub use field::{Field, Scalar};
pub(crate) use table::parameters;
pub use table::{Parameter, Put};

use serde_json::Value as Json;
use std::fmt;

/// What a parameter takes. Ends are included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Whole(u64, u64),
    Real(f64, f64),
    /// Above 0 and up to 1; with an example.
    Rate(&'static str),
    /// A finite number above 0.
    Positive,
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text: the name of something that is looked up later.
    Name,
}

/// A value other than a name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Whole(u64),
    Real(f64),
    Flag(bool),
    Choice(&'static str),
}

impl Kind {
    /// Any whole number from `least` on.
    pub const fn from(least: u64) -> Self {
        Self::Whole(least, u64::MAX)
    }

    /// As a person types it; `None` for what it does not take, and for every name.
    pub fn read(self, text: &str) -> Option<Value> {
        let value = match self {
            Self::Whole(..) => Value::Whole(text.parse().ok()?),
            Self::Real(..) | Self::Rate(_) | Self::Positive => Value::Real(text.parse().ok()?),
            Self::Flag => Value::Flag(text.parse().ok()?),
            Self::Choice(words) => Value::Choice(words.iter().find(|word| **word == text)?),
            Self::Name => return None,
        };
        self.takes(value).then_some(value)
    }

    /// As it is in a file; `None` for what it does not take, and for every name.
    pub fn from_json(self, json: &Json) -> Option<Value> {
        let value = match self {
            Self::Whole(..) => Value::Whole(json.as_u64()?),
            Self::Real(..) | Self::Rate(_) | Self::Positive => Value::Real(json.as_f64()?),
            Self::Flag => Value::Flag(json.as_bool()?),
            Self::Choice(_) => self.read(json.as_str()?)?,
            Self::Name => return None,
        };
        self.takes(value).then_some(value)
    }

    pub fn takes(self, value: Value) -> bool {
        match (self, value) {
            (Self::Whole(least, most), Value::Whole(n)) => (least..=most).contains(&n),
            (Self::Real(least, most), Value::Real(x)) => (least..=most).contains(&x),
            (Self::Rate(_), Value::Real(x)) => x > 0.0 && x <= 1.0,
            (Self::Positive, Value::Real(x)) => x > 0.0 && x.is_finite(),
            (Self::Choice(words), Value::Choice(word)) => words.contains(&word),
            (Self::Flag, Value::Flag(_)) => true,
            _ => false,
        }
    }

    /// What a message says that it takes; `open` is the word for "decide", where it may be left open.
    pub fn expected(self, open: Option<&str>) -> String {
        let words = |words: &[&str]| match words.iter().copied().chain(open).collect::<Vec<_>>().as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
            all => all.concat(),
        };
        match self {
            Self::Whole(least, u64::MAX) => format!("a whole number from {least}"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Real(least, most) => format!("a number from {least} to {most}"),
            Self::Rate(such_as) => format!("a learning rate above 0 and up to 1, such as {such_as}"),
            Self::Positive => "a number above 0".to_owned(),
            Self::Flag => words(&["true", "false"]),
            Self::Choice(all) => words(all),
            Self::Name => "a name".to_owned(),
        }
    }
}

impl Value {
    pub fn to_json(self) -> Json {
        match self {
            Self::Whole(n) => n.into(),
            Self::Real(x) => x.into(),
            Self::Flag(is) => is.into(),
            Self::Choice(word) => word.into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Flag(is) => is.fmt(f),
            Self::Choice(word) => word.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const WORDS: Kind = Kind::Choice(&["cpu", "gpu"]);

    #[test]
    fn a_kind_takes_what_lies_within_its_ends() {
        let whole = Kind::Whole(1, 20);
        assert_eq!(
            ["0", "1", "20", "21", "2.0", "-1"].map(|text| whole.read(text).is_some()),
            [false, true, true, false, false, false]
        );
        assert_eq!(
            ["0", "1", "1.5", "NaN", "inf"].map(|text| Kind::Real(0.0, 1.0).read(text).is_some()),
            [true, true, false, false, false]
        );
        assert_eq!(["0", "1e-4", "1.1"].map(|text| Kind::Rate("1e-4").read(text).is_some()), [false, true, false]);
        assert_eq!(["0", "7", "inf"].map(|text| Kind::Positive.read(text).is_some()), [false, true, false]);
        assert_eq!((WORDS.read("gpu"), WORDS.read("tpu")), (Some(Value::Choice("gpu")), None));
        assert_eq!((Kind::Flag.read("true"), Kind::Flag.read("1")), (Some(Value::Flag(true)), None));
        assert_eq!(Kind::from(0).read(&u64::MAX.to_string()), Some(Value::Whole(u64::MAX)));
    }

    #[test]
    fn a_value_goes_through_json_and_a_stranger_s_does_not() {
        for (kind, value) in [
            (Kind::from(0), Value::Whole(1 << 60)),
            (Kind::Real(0.0, 1.0), Value::Real(0.05)),
            (Kind::Flag, Value::Flag(false)),
            (WORDS, Value::Choice("cpu")),
        ] {
            assert_eq!(kind.from_json(&value.to_json()), Some(value));
            for other in [json!(null), json!(-1), json!([1]), json!("no")] {
                assert_eq!(kind.from_json(&other), None, "{kind:?} {other}");
            }
        }
    }

    #[test]
    fn messages_list_words_and_how_to_leave_it_open() {
        assert_eq!(WORDS.expected(None), "cpu or gpu");
        assert_eq!(Kind::Flag.expected(Some("auto")), "true, false or auto");
        assert_eq!(Kind::from(1).expected(None), "a whole number from 1");
        assert_eq!(Kind::Real(0.0, 0.9).expected(None), "a number from 0 to 0.9");
    }
}
