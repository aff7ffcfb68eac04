//! Which columns are words and which are tags: as the options say, else as the whole file looks.
//!
//! # Invariants
//! - Columns that look like tags are all taken, or the person is asked.
//! - What can be neither words nor tags is never taken for them unasked.

use super::blocks::blocks;
use super::options::{LAYERS, TAGS, TOKEN, number};
use super::profile::{Column, Kind, Profile, is_name_of_tags, is_name_of_words};
use super::separator::Separator;
use crate::format::tags::{is_filler, is_o};
use crate::format::{FormatError, Options};
use crate::wording::{counted, listed};

/// More columns than any file of tags has: with so many, lines are sentences or worse.
const MOST_COLUMNS: usize = 1000;

/// Where things stand in a row.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    pub(super) count: Count,
    pub(super) token: usize,
    pub(super) tags: Vec<usize>,
    /// The tags are brackets, `(PERSON*`.
    pub(super) are_brackets: bool,
    /// The first row names the columns.
    pub(super) has_header: bool,
    /// What the person should know.
    pub(super) notes: Vec<String>,
    /// What looks like tags and is not read.
    pub(super) unread_tags: Option<String>,
}

/// How many cells a row has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    Exactly(usize),
    AtLeast(usize),
}

impl Count {
    pub(super) fn fits(self, cells: &[&str]) -> bool {
        match self {
            Self::Exactly(count) => cells.len() >= count && cells.iter().skip(count).all(|cell| cell.is_empty()),
            Self::AtLeast(count) => cells.len() >= count,
        }
    }

    pub(super) fn get(self) -> usize {
        match self {
            Self::Exactly(count) | Self::AtLeast(count) => count,
        }
    }
}

/// What is asked for, in columns from 0.
pub(super) struct Asked {
    /// How many of the last columns are tags.
    pub(super) layers: Option<usize>,
    /// Empty for none.
    pub(super) tags: Option<Vec<usize>>,
    pub(super) token: Option<usize>,
}

impl Asked {
    pub(super) fn of(options: &Options) -> Result<Self, FormatError> {
        let given = |spec| if options.value(spec) == "auto" { Ok(None) } else { number(options, spec).map(Some) };
        let tags = match options.value(&TAGS) {
            "auto" => None,
            "none" => Some(Vec::new()),
            columns => {
                let columns = columns.split(',').map(|column| column.trim().parse().ok().filter(|n: &usize| *n > 0));
                let bad = || FormatError::BadOption {
                    key: TAGS.key,
                    value: options.value(&TAGS).to_owned(),
                    allowed: "use columns, counted from 1, such as 4 or 3,4, or none".to_owned(),
                };
                Some(columns.map(|column| column.map(|n| n - 1)).collect::<Option<Vec<usize>>>().ok_or_else(bad)?)
            }
        };
        Ok(Self { layers: given(&LAYERS)?, tags, token: given(&TOKEN)?.map(|column| column - 1) })
    }
}

impl Layout {
    /// # Errors
    /// No columns; no way to tell them apart.
    pub(super) fn find(text: &str, options: &Options, file: &str) -> Result<Self, FormatError> {
        let asked = Asked::of(options)?;
        let (separator, count) = Separator::find(text);
        if count == 0 {
            return Err(FormatError::NoSentence { file: file.to_owned() });
        }
        let wrong = |found: String| FormatError::WrongFormat { format: "CoNLL columns", found, file: file.to_owned() };
        if count > MOST_COLUMNS {
            return Err(wrong(format!("most rows have {}", counted(count, "column", "columns"))));
        }
        let profile = Profile::of(text, separator, count);
        if asked.tags.is_none() && asked.token.is_none() && asked.layers.is_none() && is_ontonotes(text) {
            return Ok(Self::ontonotes(separator));
        }
        let last = asked.layers.map(|layers| (count.saturating_sub(layers)..count).collect::<Vec<_>>());
        let told = asked.tags.clone().or(last);
        let needed = told.iter().flatten().chain(&asked.token).max().map_or(2, |column| column + 1);
        let is_clash = asked.token.is_some_and(|token| told.iter().flatten().any(|tag| *tag == token));
        if needed > count
            || is_clash
            || asked.layers.is_some_and(|layers| layers >= count)
            || (count < 2 && told != Some(Vec::new()))
        {
            return Err(wrong(format!(
                "most rows have {}; words are expected in column {} and tags in {}",
                counted(count, "column", "columns"),
                asked.token.unwrap_or(0) + 1,
                match (&asked.tags, asked.layers) {
                    (Some(tags), _) => format!("column {}", numbers(tags)),
                    (None, None | Some(1)) => "the last one".to_owned(),
                    (None, Some(layers)) => format!("the last {layers}"),
                }
            )));
        }
        let doubt = |why: &str| FormatError::NeedsOption {
            why: format!("{why}: {}", profile.shown()),
            option: "tags=… (their columns from 1, such as tags=4 or tags=3,4; tags=none reads the words alone) and token=… (the column of the words)",
            file: file.to_owned(),
        };
        let mut layout = Self {
            separator,
            // Where rows differ much, those that have the columns which are meant will do.
            count: if told.is_some() && profile.regular * 5 < profile.rows * 4 {
                Count::AtLeast(needed)
            } else {
                Count::Exactly(count)
            },
            token: 0,
            tags: Vec::new(),
            are_brackets: false,
            has_header: profile.header.is_some(),
            notes: Vec::new(),
            unread_tags: None,
        };
        if told.is_none() && profile.regular * 10 < profile.rows * 7 {
            return Err(doubt(&format!(
                "only {} of {} rows have {}",
                profile.regular,
                profile.rows,
                counted(count, "column", "columns")
            )));
        }
        let chosen = choose_tags(&profile, asked.token).map_err(|why| doubt(&why));
        layout.tags = match (told, chosen) {
            (Some(told), chosen) => {
                let missed = |column: &usize| !told.contains(column) && asked.token != Some(*column);
                let missed: Vec<usize> = chosen.unwrap_or_default().into_iter().filter(missed).collect();
                if !missed.is_empty() && asked.tags.is_none() {
                    layout.unread_tags = Some(format!(
                        "{} not read, as the option layers says",
                        if let [one] = missed.as_slice() {
                            format!("column {} looks like tags and was", one + 1)
                        } else {
                            format!("columns {} look like tags and were", numbers(&missed))
                        }
                    ));
                }
                told
            }
            (None, chosen) => chosen?,
        };
        layout.are_brackets = layout.tags.iter().any(|tag| kind(&profile, *tag) == Kind::Brackets);
        layout.token = match asked.token {
            Some(token) => token,
            None => choose_token(&profile, &layout.tags).ok_or_else(|| doubt("no column looks like words"))?,
        };
        if asked.token.is_none() && asked.tags.is_none() && is_unsure_of(&profile, &layout) {
            return Err(doubt("it is unclear which column holds the words"));
        }
        layout.tell(&profile, asked.token.is_some(), asked.tags.is_some() || asked.layers.is_some());
        if asked.tags.is_none()
            && asked.layers.is_none()
            && let Some((a, b)) = alike(text, &layout)
        {
            return Err(doubt(&format!(
                "columns {} and {} hold mostly the same tags, as where two people or programs gave them",
                a + 1,
                b + 1
            )));
        }
        Ok(layout)
    }

    /// Rows of CoNLL-2011 and CoNLL-2012, which differ in how many verbs a sentence has.
    fn ontonotes(separator: Separator) -> Self {
        Self {
            separator,
            count: Count::AtLeast(11),
            token: 3,
            tags: vec![10],
            are_brackets: true,
            has_header: false,
            notes: vec![
                "read as OntoNotes (CoNLL-2012): words and named entities; parts of speech, parses, arguments of verbs \
                 and coreference were not read"
                    .to_owned(),
            ],
            unread_tags: None,
        }
    }

    fn tell(&mut self, profile: &Profile, is_token_told: bool, are_tags_told: bool) {
        if self.token > 0 && !is_token_told {
            self.notes.push(format!("the words are in column {}; else set the option token=…", self.token + 1));
        }
        let is_usual = self.tags.iter().copied().eq([profile.columns.len() - 1]);
        if !is_usual && !are_tags_told && !self.tags.is_empty() {
            self.notes.push(format!(
                "the tags are in {}; else set the option tags=…",
                match self.tags.as_slice() {
                    [one] => format!("column {}", one + 1),
                    several => format!("columns {}, a layer each", numbers(several)),
                }
            ));
        }
        if self.has_header {
            self.notes.push("the first row names the columns and was not read".to_owned());
        }
        let columns = profile.columns.len();
        let unread = columns.saturating_sub(self.tags.len() + 1);
        if unread > 0 {
            let plural = if unread == 1 { "column was" } else { "columns were" };
            self.notes.push(format!("{unread} of {columns} {plural} not read"));
        }
    }
}

/// The sample looks like columns of tags: rows that fit, and all rows.
pub(super) fn survey(text: &str) -> Option<(usize, usize)> {
    if is_ontonotes(text) {
        return Some((1, 1));
    }
    let (separator, count) = Separator::find(text);
    if !(2..=MOST_COLUMNS).contains(&count) {
        return None;
    }
    let profile = Profile::of(text, separator, count);
    let tags = choose_tags(&profile, None).ok()?;
    let column = tags.last().and_then(|tag| profile.columns.get(*tag))?;
    let is_few = column.rows() < 5 && matches!(column.kind(), Kind::Labels);
    let fits = if matches!(column.kind(), Kind::Brackets | Kind::Labels) { column.rows() } else { column.tags() };
    (!is_few).then(|| (fits.min(profile.regular), profile.rows))
}

/// True for rows of words that have no tags: sentences between blank lines, in columns by tabs.
pub(super) fn are_columns_without_tags(text: &str) -> bool {
    let (separator, count) = Separator::find(text);
    if separator != Separator::Tabs || !(2..=MOST_COLUMNS).contains(&count) {
        return false;
    }
    let profile = Profile::of(text, separator, count);
    profile.rows >= 10
        && profile.regular * 20 >= profile.rows * 19
        && profile.has_blank_lines
        && profile.columns.iter().all(|column| column.different() > 0)
}

fn is_ontonotes(text: &str) -> bool {
    let mut rows = text.lines().skip_while(|line| !line.starts_with("#begin document")).skip(1);
    let row = rows.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let cells: Vec<&str> = row.map(|row| row.split_ascii_whitespace().collect()).unwrap_or_default();
    let is_number = |at: usize| cells.get(at).is_some_and(|cell| cell.parse::<usize>().is_ok());
    cells.len() >= 11 && is_number(1) && is_number(2)
}

fn kind(profile: &Profile, column: usize) -> Kind {
    profile.columns.get(column).map_or(Kind::Empty, Column::kind)
}

/// All columns that look like tags.
fn choose_tags(profile: &Profile, token: Option<usize>) -> Result<Vec<usize>, String> {
    let are_tags = |column| matches!(kind(profile, column), Kind::Tags | Kind::Chunks | Kind::Outside);
    // Where all others are tags, the first column is words, even if they look like something else.
    let token = token.or_else(|| (1..profile.columns.len()).all(are_tags).then_some(0));
    let of = |wanted: &[Kind]| -> Vec<usize> {
        let columns = (0..profile.columns.len()).filter(|column| Some(*column) != token);
        columns.filter(|column| wanted.contains(&kind(profile, *column))).collect()
    };
    let named: Vec<usize> = profile
        .header
        .iter()
        .flat_map(|names| names.iter().enumerate().filter(|(_, name)| is_name_of_tags(name)).map(|(at, _)| at))
        .collect();
    let (tags, brackets, labels) = (of(&[Kind::Tags]), of(&[Kind::Brackets]), of(&[Kind::Labels]));
    if !tags.is_empty() || !brackets.is_empty() {
        if !brackets.is_empty() && (brackets.len() > 1 || !tags.is_empty()) {
            return Err("several columns look like tags, of different kinds".to_owned());
        }
        if !labels.is_empty() {
            let all: Vec<usize> = of(&[Kind::Tags, Kind::Brackets, Kind::Labels]);
            return Err(format!("columns {} may all be tags", numbers(&all)));
        }
        return Ok(if brackets.is_empty() { of(&[Kind::Tags, Kind::Outside]) } else { brackets });
    }
    for found in [of(&[Kind::Chunks]), labels, of(&[Kind::Outside])] {
        let is_sure =
            found.last().is_some_and(|last| *last + 1 == profile.columns.len() || named.contains(last) || *last == 0);
        if is_sure {
            return Ok(found);
        }
    }
    Err(match named.is_empty() {
        true => "no column looks like tags".to_owned(),
        false => format!("column {} is named like tags and does not look like them", numbers(&named)),
    })
}

/// The first column that looks like words.
fn choose_token(profile: &Profile, tags: &[usize]) -> Option<usize> {
    let named = profile.header.as_ref().and_then(|names| names.iter().position(|name| is_name_of_words(name)));
    let free = || (0..profile.columns.len()).filter(|column| !tags.contains(column));
    let is_constant = |column: &usize| profile.columns.get(*column).is_some_and(Column::is_constant);
    named
        .filter(|column| !tags.contains(column))
        .or_else(|| free().find(|column| kind(profile, *column) == Kind::Words && !is_constant(column)))
        .or_else(|| free().find(|column| kind(profile, *column) == Kind::Words))
        .or_else(|| free().find(|column| !matches!(kind(profile, *column), Kind::Empty | Kind::Numbers)))
        .or_else(|| free().find(|column| kind(profile, *column) != Kind::Empty))
        .or_else(|| free().next())
}

/// Another column has many more different words than the one that was chosen.
fn is_unsure_of(profile: &Profile, layout: &Layout) -> bool {
    if profile.header.is_some() {
        return false;
    }
    let different = |column: usize| profile.columns.get(column).map_or(0, Column::different);
    let rows = profile.columns.get(layout.token).map_or(0, Column::rows);
    let others =
        (0..profile.columns.len()).filter(|column| *column != layout.token && kind(profile, *column) == Kind::Words);
    let others = others.filter(|column| !layout.tags.contains(column));
    rows >= 50 && others.map(different).max().is_some_and(|most| most > 2 * different(layout.token))
}

/// Two columns that mark mostly the same.
fn alike(text: &str, layout: &Layout) -> Option<(usize, usize)> {
    if layout.tags.len() < 2 || layout.are_brackets {
        return None;
    }
    let pairs: Vec<(usize, usize)> = layout
        .tags
        .iter()
        .enumerate()
        .flat_map(|(at, a)| layout.tags.iter().skip(at + 1).map(move |b| (*a, *b)))
        .collect();
    let mut counts = vec![(0usize, 0usize); pairs.len()];
    for (_, line) in blocks(text).flat_map(|block| block.lines) {
        let cells = layout.separator.split(line);
        if !layout.count.fits(&cells) {
            continue;
        }
        for ((a, b), (same, either)) in pairs.iter().zip(&mut counts) {
            let cell = |at: usize| cells.get(at).copied().filter(|cell| !is_o(cell) && !is_filler(cell));
            let (a, b) = (cell(*a), cell(*b));
            *same += usize::from(a.is_some() && a == b);
            *either += usize::from(a.is_some() || b.is_some());
        }
    }
    let found = pairs.into_iter().zip(counts).find(|(_, (same, either))| *either >= 10 && same * 5 >= either * 3);
    found.map(|(pair, _)| pair)
}

/// "3 and 4", from 1.
fn numbers(columns: &[usize]) -> String {
    let names: Vec<String> = columns.iter().map(|column| (column + 1).to_string()).collect();
    listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
}
