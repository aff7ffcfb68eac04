//! One file, from wherever it was broken off.

use super::address::Hub;
use super::reply::{Reply, ReplyPart, ResponseHead};
use super::repository::Repository;
use crate::disk::{self, Noted as _};
use crate::encoder::EncoderError;
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often in a row a fetch may get nothing.
const TRIES: u32 = 5;
const REDIRECTS: usize = 8;

/// How far a fetch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetching {
    pub file: &'static str,
    pub done_bytes: u64,
    /// Where the hub says it.
    pub total_bytes: Option<u64>,
}

/// What the hub says of a file beforehand.
#[derive(Clone, Default, Debug)]
pub(super) struct Expected {
    pub size: Option<u64>,
    /// In lower case.
    pub sha256: Option<String>,
}

/// An answer whose redirects were followed.
pub(super) struct OpenedReply {
    pub head: ResponseHead,
    pub reply: Reply,
    pub url: String,
    expected: Expected,
}

/// Where a file comes from and goes to.
pub(super) struct Transfer<'a> {
    pub hub: &'a Hub,
    pub repository: &'a Repository,
    pub name: &'static str,
    pub url: String,
    pub path: PathBuf,
    /// Bytes that a file of its kind can have.
    pub most: u64,
}

/// Why a try ended early.
enum Trouble {
    /// Worth another try.
    Passing(String),
    Lasting(EncoderError),
}

impl From<EncoderError> for Trouble {
    fn from(error: EncoderError) -> Self {
        Self::Lasting(error)
    }
}

impl Hub {
    /// Sends a GET and follows redirects; the bytes from `from` on, where that is given.
    pub(super) fn open(
        &self,
        url: &str,
        repository: &Repository,
        from: Option<u64>,
        cancel: &AtomicBool,
    ) -> Result<OpenedReply, EncoderError> {
        let mut url = url.to_owned();
        let mut expected = Expected::default();
        for _ in 0..REDIRECTS {
            let mut headers = vec![("accept-encoding", "identity".to_owned())];
            headers.extend(from.map(|from| ("range", format!("bytes={from}-"))));
            if let Some(token) = self.token.as_ref().filter(|_| self.may_know_the_token(&url)) {
                headers.push(("authorization", format!("Bearer {token}")));
            }
            let reply = Reply::of(&self.agent, &url, headers);
            let head = match reply.next(cancel)? {
                ReplyPart::ResponseHead(head) => head,
                ReplyPart::Broken { reason } => return Err(self.unreachable(reason)),
                ReplyPart::Bytes(_) | ReplyPart::End => {
                    return Err(self.unreachable("the answer is cut off".to_owned()));
                }
            };
            // Said by the hub's own answer, before it redirects to where the content lies.
            expected.size = expected.size.or_else(|| head.number("x-linked-size"));
            let etag = || as_sha256(head.header("x-linked-etag")?.trim_matches('"'));
            expected.sha256 = expected.sha256.or_else(etag);
            if !matches!(head.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(OpenedReply { head, reply, url, expected });
            }
            let next = head.header("location").and_then(|location| redirected(&url, location));
            url = next.ok_or_else(|| EncoderError::HubAnswered { status: head.status, url: url.clone() })?;
        }
        Err(self.unreachable(format!("more than {REDIRECTS} redirects for {repository}")))
    }

    /// At the hub's own address, and never where others can read it on the way.
    fn may_know_the_token(&self, url: &str) -> bool {
        let (endpoint, own) = (origin(&self.endpoint), origin(url));
        let is_local = |host: &str| host == "localhost" || host == "127.0.0.1" || host == "[::1]";
        let is_safe = |(scheme, authority): (&str, &str)| {
            let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
            scheme == "https" || is_local(host)
        };
        endpoint == own && own.is_some_and(is_safe)
    }
}

impl Transfer<'_> {
    /// Returns at once where the file is there already.
    pub(super) fn run(
        &self,
        mut expected: Expected,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(Fetching),
    ) -> Result<(), EncoderError> {
        if self.path.is_file() {
            return Ok(());
        }
        self.check_size(expected.size)?;
        let part = self.path.with_added_extension("part");
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&part);
        let file = &mut opened.map_err(|e| not_written(e, &part))?;
        let mut in_vain = 0;
        loop {
            let before = length(file, &part)?;
            if expected.size.is_some_and(|size| before == size) {
                break;
            }
            let reason = match self.go_on(file, &part, &mut expected, cancel, tell) {
                Ok(()) => break,
                Err(Trouble::Lasting(error)) => {
                    if matches!(error, EncoderError::FetchTooLarge { .. }) {
                        // Where it stays behind, the next fetch fails in the same way.
                        std::fs::remove_file(&part).noted_at("what was fetched stays behind", &part);
                    }
                    return Err(error);
                }
                Err(Trouble::Passing(reason)) => reason,
            };
            let now = length(file, &part)?;
            in_vain = if now > before { 1 } else { in_vain + 1 };
            if in_vain >= TRIES {
                let (file, name) = (self.name, self.repository.to_string());
                return Err(EncoderError::FetchBroken { file, name, reason, done_bytes: now });
            }
            wait(self.hub.retry_wait * 2u32.pow(in_vain - 1), cancel)?;
        }
        self.check(file, &part, &expected, cancel)?;
        disk::put_file(&part, &self.path).map_err(|e| not_written(e, &part))
    }

    /// One connection, as long as it lasts.
    fn go_on(
        &self,
        file: &mut File,
        part: &Path,
        expected: &mut Expected,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(Fetching),
    ) -> Result<(), Trouble> {
        let start = length(file, part)?;
        let from = Some(start).filter(|start| *start > 0);
        let opened = match self.hub.open(&self.url, self.repository, from, cancel) {
            Err(EncoderError::HubUnreachable { reason, .. }) => return Err(Trouble::Passing(reason)),
            opened => opened?,
        };
        expected.size = expected.size.or(opened.expected.size);
        expected.sha256 = expected.sha256.take().or(opened.expected.sha256);
        let empty = |file: &mut File| match from {
            Some(_) => file.set_len(0).map_err(|e| not_written(e, part)),
            None => Ok(()),
        };
        let (mut done, total) = match opened.head.status {
            200 => {
                empty(file)?;
                (0, opened.head.number("content-length"))
            }
            206 => match content_range(&opened.head) {
                Some((first, total)) if first == start => (start, total),
                _ => {
                    empty(file)?;
                    return Err(Trouble::Passing("the server sent another part than was asked for".to_owned()));
                }
            },
            416 if start > 0 => {
                empty(file)?;
                return Err(Trouble::Passing("the server has less than was fetched before".to_owned()));
            }
            status @ (408 | 429 | 500..=599) => return Err(Trouble::Passing(format!("the hub answered {status}"))),
            // The hub says why; where it keeps large files nobody does.
            _ if opened.head.header("x-error-code").is_some() => {
                return Err(self.hub.refusal(&opened.head, self.repository, &self.url).into());
            }
            status => return Err(EncoderError::HubAnswered { status, url: self.url.clone() }.into()),
        };
        if let (Some(got), Some(size)) = (total, expected.size)
            && got != size
        {
            let (file, name) = (self.name, self.repository.to_string());
            return Err(EncoderError::FetchSize { file, name, expected: size, got }.into());
        }
        let total = expected.size.or(total);
        self.check_size(total)?;
        file.seek(SeekFrom::Start(done)).map_err(|e| not_written(e, part))?;
        tell(Fetching { file: self.name, done_bytes: done, total_bytes: total });
        loop {
            match opened.reply.next(cancel)? {
                ReplyPart::Bytes(bytes) => {
                    let before = done;
                    done = done.saturating_add(bytes.len() as u64);
                    if let Some(size) = expected.size.filter(|size| done > *size) {
                        // One byte too many, and the check that follows says so.
                        let kept = usize::try_from(size - before).unwrap_or(0) + 1;
                        file.write_all(bytes.get(..kept).unwrap_or(&bytes)).map_err(|e| not_written(e, part))?;
                        return Ok(());
                    }
                    self.check_size(Some(done))?;
                    file.write_all(&bytes).map_err(|e| not_written(e, part))?;
                    tell(Fetching { file: self.name, done_bytes: done, total_bytes: total });
                }
                ReplyPart::End if total.is_none_or(|total| done >= total) => return Ok(()),
                ReplyPart::End | ReplyPart::ResponseHead(_) => {
                    return Err(Trouble::Passing("the connection was closed".to_owned()));
                }
                ReplyPart::Broken { reason } => return Err(Trouble::Passing(reason)),
            }
        }
    }

    /// # Errors
    /// When a file of its kind has never so many bytes.
    fn check_size(&self, bytes: Option<u64>) -> Result<(), EncoderError> {
        match bytes {
            Some(bytes) if bytes > self.most => {
                let (file, name) = (self.name, self.repository.to_string());
                Err(EncoderError::FetchTooLarge { file, name, most: self.most })
            }
            _ => Ok(()),
        }
    }

    /// What is not what the hub said is thrown away.
    fn check(
        &self,
        file: &mut File,
        part: &Path,
        expected: &Expected,
        cancel: &AtomicBool,
    ) -> Result<(), EncoderError> {
        let got = length(file, part)?;
        let (of, name) = (self.name, self.repository.to_string());
        let error = match (expected.size, &expected.sha256) {
            (Some(size), _) if size != got => EncoderError::FetchSize { file: of, name, expected: size, got },
            (_, Some(sum)) if *sum != sha256(file, part, cancel)? => EncoderError::FetchDamaged { file: of, name },
            _ => return Ok(()),
        };
        // Where it stays behind, the next fetch fails in the same way.
        std::fs::remove_file(part).noted_at("what was fetched stays behind", part);
        Err(error)
    }
}

fn length(file: &File, path: &Path) -> Result<u64, EncoderError> {
    Ok(file.metadata().map_err(EncoderError::io("can't read the file", path))?.len())
}

fn not_written(error: std::io::Error, path: &Path) -> EncoderError {
    let action = if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        "there is no room for the file; make some and fetch again to continue"
    } else {
        "can't write the file"
    };
    EncoderError::io(action, path)(error)
}

pub(super) fn wait(time: Duration, cancel: &AtomicBool) -> Result<(), EncoderError> {
    let end = Instant::now() + time;
    loop {
        if cancel.load(Ordering::SeqCst) {
            return Err(EncoderError::FetchStopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

fn sha256(file: &mut File, path: &Path, cancel: &AtomicBool) -> Result<String, EncoderError> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    file.seek(SeekFrom::Start(0)).map_err(EncoderError::io("can't read the file", path))?;
    loop {
        wait(Duration::ZERO, cancel)?;
        match file.read(&mut chunk) {
            Ok(0) => return Ok(hex::encode(hasher.finalize())),
            Ok(count) => hasher.update(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(EncoderError::io("can't read the file", path)(error)),
        }
    }
}

/// Small files have another kind of tag.
pub(super) fn as_sha256(tag: &str) -> Option<String> {
    (tag.len() == 64 && tag.chars().all(|c| c.is_ascii_hexdigit())).then(|| tag.to_ascii_lowercase())
}

/// `bytes 5-9/10`: the first byte, and how many there are.
fn content_range(head: &ResponseHead) -> Option<(u64, Option<u64>)> {
    let (range, total) = head.header("content-range")?.trim().strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Scheme and host with port.
fn origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    Some((scheme, rest.split(['/', '?', '#']).next().unwrap_or(rest)))
}

/// Where a redirect leads; never from a safe address to one that is not.
fn redirected(url: &str, location: &str) -> Option<String> {
    let (scheme, authority) = origin(url)?;
    if location.starts_with("https://") || (location.starts_with("http://") && scheme != "https") {
        Some(location.to_owned())
    } else if location.starts_with("//") {
        Some(format!("{scheme}:{location}"))
    } else if location.starts_with('/') {
        Some(format!("{scheme}://{authority}{location}"))
    } else if location.contains("://") {
        None
    } else {
        Some(format!("{}/{location}", url.split(['?', '#']).next()?.rsplit_once('/')?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_where_they_may() {
        let from = |url: &str, location: &str| redirected(url, location);
        let own = "https://hub.test/a/b/resolve/1/f?x=1";
        assert_eq!(from(own, "/c?d=e://f").as_deref(), Some("https://hub.test/c?d=e://f"));
        assert_eq!(from(own, "g").as_deref(), Some("https://hub.test/a/b/resolve/1/g"));
        assert_eq!(from(own, "//cdn.test/f").as_deref(), Some("https://cdn.test/f"));
        assert_eq!(from(own, "https://cdn.test/f").as_deref(), Some("https://cdn.test/f"));
        assert_eq!(from(own, "http://cdn.test/f"), None);
        assert_eq!(from(own, "file:///etc/passwd"), None);
        assert_eq!(from("http://hub.test/x", "http://cdn.test/f").as_deref(), Some("http://cdn.test/f"));
    }

    #[test]
    fn the_token_is_for_the_hub_alone() {
        let hub = |endpoint: &str| Hub::new(endpoint, Some("t".to_owned()), None, Duration::ZERO);
        assert!(hub("https://hub.test").may_know_the_token("https://hub.test/a/b"));
        for other in
            ["https://cdn.test/a", "http://hub.test/a", "https://hub.test.evil.test/a", "https://hub.test:444/a"]
        {
            assert!(!hub("https://hub.test").may_know_the_token(other), "{other}");
        }
        assert!(!hub("http://hub.test").may_know_the_token("http://hub.test/a"));
        assert!(hub("http://127.0.0.1:81").may_know_the_token("http://127.0.0.1:81/a"));
    }
}
