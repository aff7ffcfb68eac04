//! The columns of a row, taken for what they should be: tables of old files are not checked as STRICT, and a file may
//! come from anywhere. What is not as expected is told by table, row and column.

use super::codec::Malformed;
use super::guard::Allowance;
use crate::annotation::limits::{LABEL_IDS, MENTION_IDS, MODEL_IDS, SENTENCE_IDS};
use crate::annotation::{LabelId, MentionId, ModelId, SentenceId};
use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};
use std::ops::Range;

/// Numbers that count something are below this.
const COUNTS: i64 = 1 << 40;
/// Times, in milliseconds since 1970, are not so far from it: some 9,000 years.
const TIMES: i64 = 1 << 48;

/// A value in the file that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{row}, column {column}: {problem}")]
pub(super) struct BadField {
    row: String,
    column: String,
    problem: String,
}

/// A row whose first columns are its key.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r> {
    table: &'static str,
    /// So many columns, from the first on, tell the row from others.
    key_columns: usize,
    row: &'r Row<'r>,
    allowance: &'r Allowance,
}

impl<'r> Fields<'r> {
    pub(super) fn new(table: &'static str, key_columns: usize, row: &'r Row<'r>, allowance: &'r Allowance) -> Self {
        Self { table, key_columns, row, allowance }
    }

    pub(super) fn text(&self, column: usize) -> Result<&'r str, BadField> {
        self.text_or_null(column)?.ok_or_else(|| self.unlike(column, "a text"))
    }

    pub(super) fn text_or_null(&self, column: usize) -> Result<Option<&'r str>, BadField> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => {
                self.allow(column, bytes.len())?;
                std::str::from_utf8(bytes).map(Some).map_err(|_| self.bad(column, "a text that is not UTF-8"))
            }
            _ => Err(self.unlike(column, "a text")),
        }
    }

    pub(super) fn blob(&self, column: usize) -> Result<&'r [u8], BadField> {
        self.blob_or_null(column)?.ok_or_else(|| self.unlike(column, "a blob"))
    }

    pub(super) fn blob_or_null(&self, column: usize) -> Result<Option<&'r [u8]>, BadField> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => {
                self.allow(column, bytes.len())?;
                Ok(Some(bytes))
            }
            _ => Err(self.unlike(column, "a blob")),
        }
    }

    /// Of a text or a blob.
    pub(super) fn bytes(&self, column: usize) -> Result<&'r [u8], BadField> {
        match self.value(column)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                self.allow(column, bytes.len())?;
                Ok(bytes)
            }
            _ => Err(self.unlike(column, "a text")),
        }
    }

    pub(super) fn integer(&self, column: usize) -> Result<i64, BadField> {
        match self.value(column)? {
            ValueRef::Integer(number) => Ok(number),
            _ => Err(self.unlike(column, "an integer")),
        }
    }

    pub(super) fn integer_in(&self, column: usize, range: Range<i64>) -> Result<i64, BadField> {
        let number = self.integer(column)?;
        let Range { start, end } = range;
        let is_inside = (start..end).contains(&number);
        is_inside
            .then_some(number)
            .ok_or_else(|| self.bad(column, &format!("{number}, expected a number from {start} to {}", end - 1)))
    }

    /// A number that fits.
    pub(super) fn id(&self, column: usize, end: u32) -> Result<u32, BadField> {
        let id = self.integer_in(column, 0..end.into())?;
        u32::try_from(id).map_err(|_| self.unlike(column, "an id"))
    }

    pub(super) fn sentence(&self, column: usize) -> Result<SentenceId, BadField> {
        self.id(column, SENTENCE_IDS).map(SentenceId)
    }

    pub(super) fn label(&self, column: usize) -> Result<LabelId, BadField> {
        self.id(column, LABEL_IDS).map(LabelId)
    }

    pub(super) fn model(&self, column: usize) -> Result<ModelId, BadField> {
        self.id(column, MODEL_IDS).map(ModelId)
    }

    pub(super) fn model_or_null(&self, column: usize) -> Result<Option<ModelId>, BadField> {
        match self.value(column)? {
            ValueRef::Null => Ok(None),
            _ => self.model(column).map(Some),
        }
    }

    pub(super) fn mention(&self, column: usize) -> Result<MentionId, BadField> {
        let id = self.integer_in(column, 0..MENTION_IDS.cast_signed())?;
        Ok(MentionId(id.cast_unsigned()))
    }

    /// How many of something there are.
    pub(super) fn count(&self, column: usize) -> Result<usize, BadField> {
        let count = self.integer_in(column, 0..COUNTS)?;
        usize::try_from(count).map_err(|_| self.unlike(column, "a number of things"))
    }

    /// Milliseconds since 1970, UTC.
    pub(super) fn time(&self, column: usize) -> Result<i64, BadField> {
        self.integer_in(column, -TIMES..TIMES)
    }

    /// A share, from 0 to 1.
    pub(super) fn share(&self, column: usize) -> Result<f64, BadField> {
        match self.value(column)? {
            ValueRef::Real(share) if (0.0..=1.0).contains(&share) => Ok(share),
            ValueRef::Integer(share @ 0..=1) => Ok(share as f64),
            _ => Err(self.unlike(column, "a number from 0 to 1")),
        }
    }

    pub(super) fn switch(&self, column: usize) -> Result<bool, BadField> {
        Ok(self.integer_in(column, 0..2)? == 1)
    }

    /// What is wrong with a value that was read.
    pub(super) fn because(&self, column: usize, why: Malformed) -> BadField {
        self.bad(column, why.0)
    }

    /// A value that means nothing.
    pub(super) fn unknown(&self, column: usize, expected: &str) -> BadField {
        self.unlike(column, expected)
    }

    fn value(&self, column: usize) -> Result<ValueRef<'r>, BadField> {
        self.row.get_ref(column).map_err(|error| self.bad(column, &error.to_string()))
    }

    fn allow(&self, column: usize, bytes: usize) -> Result<(), BadField> {
        let takes = self.allowance.takes(bytes);
        takes.then_some(()).ok_or_else(|| self.bad(column, "more text than the file has room for"))
    }

    fn unlike(&self, column: usize, expected: &str) -> BadField {
        let found = match self.row.get_ref(column) {
            Ok(ValueRef::Text(text)) => format!("the text {:?}", start_of(text)),
            Ok(ValueRef::Integer(number)) => number.to_string(),
            Ok(ValueRef::Real(number)) => number.to_string(),
            Ok(value) => name_of(value.data_type()).to_owned(),
            Err(error) => error.to_string(),
        };
        self.bad(column, &format!("{found}, expected {expected}"))
    }

    fn bad(&self, column: usize, problem: &str) -> BadField {
        let key = (0..self.key_columns).map(|at| match self.row.get_ref(at) {
            Ok(ValueRef::Integer(number)) => number.to_string(),
            Ok(ValueRef::Text(text)) => format!("{:?}", start_of(text)),
            _ => "?".to_owned(),
        });
        let row = format!("{} {}", self.table, key.collect::<Vec<_>>().join(" "));
        let column = self.row.as_ref().column_name(column).unwrap_or("?").to_owned();
        BadField { row: row.trim_end().to_owned(), column, problem: problem.to_owned() }
    }
}

/// As much of a text as a message can hold.
fn start_of(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(text.get(..LONGEST * 4).unwrap_or(text));
    let mut start: String = text.chars().take(LONGEST).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

fn name_of(kind: Type) -> &'static str {
    match kind {
        Type::Null => "nothing",
        Type::Integer | Type::Real => "a number",
        Type::Text => "a text",
        Type::Blob => "a blob",
    }
}
