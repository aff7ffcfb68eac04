//! Who has a project open, and why it can only be read then.

use crate::wording::utc;
use std::fmt;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Characters of a name that are told.
const MOST_OF_NAME: usize = 64;

/// Who has a project open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Holder {
    /// Of the person, as the operating system has it.
    pub name: Option<String>,
    /// Of the machine.
    pub host: Option<String>,
    pub process: Option<u32>,
    /// Since 1970, UTC.
    pub since_ms: Option<u64>,
}

/// Why a project was opened for reading only.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhyReadOnly {
    #[error("it was opened for reading")]
    AskedFor,
    #[error("it is open already, by {0}")]
    OpenElsewhere(Holder),
    #[error("the file or its folder can't be written")]
    NotWritable,
}

impl Holder {
    pub(super) fn this_process() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let name = ["USER", "USERNAME", "LOGNAME"].iter().find_map(|key| std::env::var(key).ok());
        Self {
            name: name.and_then(|name| clean(&name)),
            host: host(),
            process: Some(std::process::id()),
            since_ms: since.and_then(|s| u64::try_from(s.as_millis()).ok()),
        }
    }
}

fn host() -> Option<String> {
    let file = |path: &str| if cfg!(unix) { fs::read_to_string(path).ok() } else { None };
    let variable = |key: &str| std::env::var(key).ok();
    let found = file("/proc/sys/kernel/hostname")
        .or_else(|| file("/etc/hostname"))
        .or_else(|| ["COMPUTERNAME", "HOSTNAME", "HOST"].into_iter().find_map(variable))?;
    clean(found.lines().next()?)
}

/// A name for people, on one line; a lock may come from anybody.
pub(super) fn clean(name: &str) -> Option<String> {
    let name: String = name.trim().chars().filter(|c| !c.is_control()).take(MOST_OF_NAME).collect();
    (!name.is_empty()).then_some(name)
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("another program"))?;
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        if let Some(process) = self.process {
            write!(f, " (process {process})")?;
        }
        if let Some(ms) = self.since_ms {
            write!(f, " since {}", utc(ms))?;
        }
        Ok(())
    }
}
