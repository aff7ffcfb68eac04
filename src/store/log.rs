//! Reading the log: what was done, by whom, and what it took.

use super::fields::Fields;
use super::load::ReadError;
use super::{Store, StoreError, json, names};
use crate::annotation::{Edit, ModelId, SentenceId, Step};

/// An entry of the log. Of an import its edits are left out, which may be as many as the corpus is long.
#[derive(Clone, PartialEq, Debug)]
pub struct Logged {
    pub step: Step,
    pub edits: Vec<Edit>,
    pub author: String,
    /// Since 1970, UTC.
    pub time_ms: i64,
    /// That the person worked since the entry before, and the keys and buttons that they pressed.
    pub active_ms: i64,
    pub presses: u32,
    /// Whose suggestions were on screen, a sentence.
    pub visible: Vec<(SentenceId, ModelId)>,
}

/// An entry of the log as people read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogLine {
    /// Counted from 1, in the order in which all was done.
    pub number: i64,
    /// `do`, `undo`, `redo` or `import`.
    pub step: String,
    /// What was wanted.
    pub intent: String,
    pub author: String,
    /// Milliseconds since 1970, UTC.
    pub time_ms: u64,
    /// The first sentence that was changed; `None` for an import, and for what changes none.
    pub sentence: Option<SentenceId>,
}

impl LogLine {
    /// "Mark PER", "Undo: Mark PER".
    pub fn in_words(&self) -> String {
        match self.step.as_str() {
            "undo" => format!("Undo: {}", self.intent),
            "redo" => format!("Redo: {}", self.intent),
            _ => self.intent.clone(),
        }
    }
}

impl Store {
    /// The newest entries, the newest first; of one sentence only those that changed it, which are looked for in all.
    ///
    /// # Errors
    /// A damaged file.
    pub fn newest_of_log(&self, most: usize, of: Option<SentenceId>) -> Result<Vec<LogLine>, StoreError> {
        self.begin_reading();
        self.log_lines(most, of).map_err(|error| self.explain_read(error))
    }

    fn log_lines(&self, most: usize, of: Option<SentenceId>) -> Result<Vec<LogLine>, ReadError> {
        // An import may have as many edits as the corpus is long.
        let sql = "SELECT seq, step, intent, author, time_ms, CASE step WHEN 'import' THEN '[]' ELSE edits END AS edits
                   FROM log ORDER BY seq DESC";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut lines = Vec::new();
        while lines.len() < most
            && let Some(row) = rows.next()?
        {
            let row = Fields::new("log", 1, row, &self.allowance);
            let edits = json::read_edits(row.text(5)?).map_err(|error| row.because(5, error))?;
            let mut sentences = edits.iter().filter_map(Edit::sentence);
            let sentence = match of {
                None => sentences.next(),
                Some(of) if sentences.any(|sentence| sentence == of) => Some(of),
                Some(_) => continue,
            };
            lines.push(LogLine {
                number: row.integer(0)?,
                step: row.text(1)?.to_owned(),
                intent: row.text(2)?.to_owned(),
                author: row.text(3)?.to_owned(),
                time_ms: u64::try_from(row.time(4)?).unwrap_or_default(),
                sentence,
            });
        }
        Ok(lines)
    }

    /// Hands over the entries from the first to the last, one at a time.
    ///
    /// # Errors
    /// A damaged file.
    pub fn read_log(&self, mut each: impl FnMut(Logged)) -> Result<(), StoreError> {
        self.begin_reading();
        self.log_entries(&mut each).map_err(|error| self.explain_read(error))
    }

    fn log_entries(&self, each: &mut dyn FnMut(Logged)) -> Result<(), ReadError> {
        // An import is done and undone like every other step.
        let sql =
            "SELECT seq, CASE step WHEN 'import' THEN 'do' ELSE step END AS step,
            CASE step WHEN 'import' THEN '[]' ELSE edits END AS edits, author, time_ms, active_ms, presses, visible FROM log ORDER BY seq";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            each(entry(Fields::new("log", 1, row, &self.allowance))?);
        }
        Ok(())
    }
}

fn entry(row: Fields<'_>) -> Result<Logged, ReadError> {
    Ok(Logged {
        step: names::to_step(row.text(1)?).ok_or_else(|| row.unknown(1, "do, undo, redo or import"))?,
        edits: json::read_edits(row.text(2)?).map_err(|error| row.because(2, error))?,
        author: row.text(3)?.to_owned(),
        time_ms: row.time(4)?,
        active_ms: row.time(5)?,
        presses: row.id(6, u32::MAX)?,
        visible: json::read_visible(row.text(7)?).map_err(|error| row.because(7, error))?,
    })
}
