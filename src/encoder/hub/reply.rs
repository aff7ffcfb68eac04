//! One GET, on a thread of its own, so that whoever waits for it can stop waiting at once.

use crate::encoder::EncoderError;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::io::Read as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use ureq::Agent;

/// How often it is asked whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const CHUNK_BYTES: usize = 64 << 10;

/// What a server says before the content.
#[derive(Clone, Debug)]
pub(super) struct ResponseHead {
    pub status: u16,
    headers: Vec<(String, String)>,
}

impl ResponseHead {
    /// By its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.header(name)?.trim().parse().ok()
    }
}

/// What comes of a GET, in this order: head, bytes, end. It can break off anywhere.
#[derive(Debug)]
pub(super) enum ReplyPart {
    ResponseHead(ResponseHead),
    Bytes(Vec<u8>),
    End,
    Broken { reason: String },
}

/// A GET under way. Dropping it ends it, at the latest when the server is given up.
#[derive(Debug)]
pub(super) struct Reply {
    parts: Receiver<ReplyPart>,
}

impl Reply {
    /// Redirects are not followed: what they say is wanted.
    pub(super) fn of(agent: &Agent, url: &str, headers: Vec<(&'static str, String)>) -> Self {
        let (sender, parts) = bounded(4);
        let (agent, url) = (agent.clone(), url.to_owned());
        // A thread that can't be started drops the sender, and `next` says that it broke off.
        let _started =
            std::thread::Builder::new().name("hub".to_owned()).spawn(move || get(&agent, &url, headers, &sender));
        Self { parts }
    }

    /// # Errors
    /// Stopped meanwhile.
    pub(super) fn next(&self, cancel: &AtomicBool) -> Result<ReplyPart, EncoderError> {
        loop {
            if cancel.load(Ordering::SeqCst) {
                return Err(EncoderError::FetchStopped);
            }
            match self.parts.recv_timeout(LOOK_EVERY) {
                Ok(part) => return Ok(part),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(ReplyPart::Broken { reason: "the connection was given up".to_owned() });
                }
            }
        }
    }
}

fn get(agent: &Agent, url: &str, headers: Vec<(&'static str, String)>, sender: &Sender<ReplyPart>) {
    let request = headers.into_iter().fold(agent.get(url), |request, (name, value)| request.header(name, value));
    let (head, body) = match request.call() {
        Ok(response) => response.into_parts(),
        Err(error) => {
            // Nobody listens any more where sending fails, here and below.
            let _unheard = sender.send(ReplyPart::Broken { reason: error.to_string() });
            return;
        }
    };
    let text = |value: &ureq::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    if sender.send(ReplyPart::ResponseHead(ResponseHead { status: head.status.as_u16(), headers })).is_err() {
        return;
    }
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let part = match reader.read(&mut chunk) {
            Ok(0) => ReplyPart::End,
            Ok(count) => ReplyPart::Bytes(chunk.get(..count).unwrap_or_default().to_vec()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => ReplyPart::Broken { reason: error.to_string() },
        };
        let goes_on = matches!(part, ReplyPart::Bytes(_));
        if sender.send(part).is_err() || !goes_on {
            return;
        }
    }
}
