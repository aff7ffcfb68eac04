//! Where a file is to be written: whether there is one already, and which name is free. A thread looks.

use crate::session::{Task, Waker};
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct Place {
    seen: Seen,
    /// What was asked for, and the look that is under way.
    looking: Option<(PathBuf, Task<Seen>)>,
}

#[derive(Default)]
struct Seen {
    path: PathBuf,
    is_taken: bool,
}

impl Place {
    /// Looks where that was not done yet; call each frame. For a proposal that is taken, returns the next free one.
    pub(super) fn look(&mut self, path: &Path, is_proposal: bool, waker: &Waker) -> Option<PathBuf> {
        let mut better = None;
        if let Some((asked, task)) = &self.looking
            && let Some(result) = task.poll()
        {
            // A look that was lost has seen nothing; writing looks once more.
            self.seen = result.unwrap_or_else(|_| Seen { path: asked.clone(), is_taken: false });
            better = (asked == path && self.seen.path != path).then(|| self.seen.path.clone());
            self.looking = None;
        }
        if self.looking.is_none() && better.is_none() && self.seen.path != path {
            let asked = path.to_owned();
            let work = move || {
                let path = if is_proposal { first_free(asked) } else { asked };
                Seen { is_taken: path.exists(), path }
            };
            self.looking = Some((path.to_owned(), Task::spawn("look at a path", waker.clone(), work)));
        }
        better
    }

    /// Something of this name is there, as far as is known.
    pub(super) fn is_taken(&self, path: &Path) -> bool {
        self.seen.path == path && self.seen.is_taken
    }

    pub(super) fn know_taken(&mut self, path: PathBuf) {
        self.seen = Seen { path, is_taken: true };
    }
}

/// The path, or the first of "NAME-2.jsonl", "NAME-3.jsonl" and so on that is free.
fn first_free(path: PathBuf) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, ending) = (part(path.file_stem()), part(path.extension()));
    let others = (2..1000).map(|number| path.with_file_name(format!("{stem}-{number}.{ending}")));
    let free = std::iter::once(path.clone()).chain(others).find(|path| !path.exists());
    free.unwrap_or(path)
}
