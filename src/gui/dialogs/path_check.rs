//! Where a file is to be written: whether there is one already, and which name is free. A thread looks.

use crate::session::{Task, Waker};
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct PathCheck {
    checked: Checked,
    /// What was asked for, and the look that is under way.
    checking: Option<(PathBuf, Task<Checked>)>,
}

#[derive(Default)]
struct Checked {
    path: PathBuf,
    is_taken: bool,
}

impl PathCheck {
    /// Looks where that was not done yet; call each frame. For a proposal that is taken, returns the next free one.
    pub(super) fn check(&mut self, path: &Path, is_proposal: bool, waker: &Waker) -> Option<PathBuf> {
        let mut better = None;
        if let Some((asked, task)) = &self.checking
            && let Some(result) = task.poll()
        {
            // A look that was lost has seen nothing; writing looks once more.
            self.checked = result.unwrap_or_else(|_| Checked { path: asked.clone(), is_taken: false });
            better = (asked == path && self.checked.path != path).then(|| self.checked.path.clone());
            self.checking = None;
        }
        if self.checking.is_none() && better.is_none() && self.checked.path != path {
            let asked = path.to_owned();
            let work = move || {
                let path = if is_proposal { first_free(asked) } else { asked };
                Checked { is_taken: path.exists(), path }
            };
            self.checking = Some((path.to_owned(), Task::spawn("look at a path", waker.clone(), work)));
        }
        better
    }

    /// Something of this name is there, as far as is known.
    pub(super) fn is_taken(&self, path: &Path) -> bool {
        self.checked.path == path && self.checked.is_taken
    }

    pub(super) fn mark_taken(&mut self, path: PathBuf) {
        self.checked = Checked { path, is_taken: true };
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
