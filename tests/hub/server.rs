//! A hub on this machine, as far as a client sees it: a list of files, files, redirects to where the large ones lie.

use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The commit that every revision is.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What the server does otherwise than it should.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    /// Connections that bring the weights to this byte and then close, one after the other.
    pub(crate) cut_at: Vec<usize>,
    /// Says nothing more after this byte of the weights.
    pub(crate) stall_at: Option<usize>,
    /// Sends everything from the beginning whatever is asked for.
    pub(crate) no_ranges: bool,
    /// Another byte than it should be.
    pub(crate) damaged: bool,
    /// Says that there is more than there is.
    pub(crate) wrong_size: bool,
    /// Every request is answered with this status and error code.
    pub(crate) refuse: Option<(u16, &'static str)>,
    /// Only the weights are answered with this status.
    pub(crate) busy_weights: Option<u16>,
    /// Leaves out sizes and checksums of the list.
    pub(crate) bare_list: bool,
    /// Answers with a page.
    pub(crate) page: bool,
    /// Sends this file (or the list, as "list") without saying how long it is, and without an end.
    pub(crate) endless: Option<&'static str>,
    /// Says that this file has so many bytes.
    pub(crate) says: Option<(&'static str, u64)>,
    /// Says that this file is packed, whatever was asked for.
    pub(crate) packed: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) authorization: Option<String>,
}

struct State {
    files: BTreeMap<String, Vec<u8>>,
    faults: Faults,
    seen: Vec<Seen>,
}

/// Serves the repository `acme/tiny` (and `old-tiny`, which is a former name of it) until the test ends.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) endpoint: String,
    /// Another address, where large files lie.
    cdn: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) fn start(folder: &Path, faults: Faults) -> Self {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        });
        let state = Arc::new(Mutex::new(State { files: files.collect(), faults, seen: Vec::new() }));
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [endpoint, cdn] = [0, 1].map(|i| format!("http://{}", listeners[i].local_addr().unwrap()));
        let server = Self { endpoint, cdn, state };
        for listener in listeners {
            let serving = server.clone();
            thread("listens", move || {
                for stream in listener.incoming() {
                    let serving = serving.clone();
                    thread("answers", move || {
                        // A client that goes away is no fault.
                        let _gone = serving.answer(&stream.unwrap());
                    });
                }
            });
        }
        server
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    pub(crate) fn of_weights(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path.starts_with("/cdn/")).collect()
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.state.lock().unwrap().faults);
    }

    pub(crate) fn put(&self, name: &str, content: Option<Vec<u8>>) {
        let files = &mut self.state.lock().unwrap().files;
        match content {
            Some(content) => files.insert(name.to_owned(), content),
            None => files.remove(name),
        };
    }

    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let path = lines[0].split(' ').nth(1).unwrap().to_owned();
        let headers: HashMap<String, String> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let header = |name: &str| headers.get(name).cloned();
        let seen = Seen { path: path.clone(), range: header("range"), authorization: header("authorization") };
        let (files, faults, cut_at) = {
            let mut state = self.state.lock().unwrap();
            state.seen.push(seen);
            let is_cut = path.starts_with("/cdn/") && !state.faults.cut_at.is_empty();
            let cut_at = is_cut.then(|| state.faults.cut_at.remove(0));
            (state.files.clone(), state.faults.clone(), cut_at)
        };
        if let Some((status, code)) = faults.refuse {
            return say(stream, status, &[("X-Error-Code", code.to_owned())], b"");
        }
        if faults.page {
            return say(stream, 200, &[("Content-Type", "text/html".to_owned())], b"<html>please log in</html>");
        }
        let file = match path.rsplit('/').next() {
            _ if path.starts_with("/cdn/") => "model.safetensors",
            _ if path.starts_with("/api/") => "list",
            Some("model.safetensors") => "",
            other => other.unwrap_or_default(),
        };
        if faults.endless == Some(file) {
            return endless(stream);
        }
        if let Some((_, bytes)) = faults.says.filter(|(name, _)| *name == file) {
            return announce(stream, bytes);
        }
        if faults.packed == Some(file) {
            let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
            return say(stream, 200, &[("Content-Encoding", "gzip".to_owned())], &bomb);
        }
        if let Some(rest) = path.strip_prefix("/api/models/old-tiny/") {
            return say(stream, 307, &[("Location", format!("/api/models/acme/tiny/{rest}"))], b"");
        }
        if let Some(revision) = path.strip_prefix("/api/models/acme/tiny/revision/") {
            return match revision.split('?').next() {
                Some("main" | "v1") => say(stream, 200, &[], list(&files, &faults).as_bytes()),
                _ => say(stream, 404, &[("X-Error-Code", "RevisionNotFound".to_owned())], b""),
            };
        }
        let of_repository = ["/acme/tiny", "/old-tiny"].iter().find_map(|start| path.strip_prefix(start));
        if let Some(name) = of_repository.and_then(|rest| rest.strip_prefix(&format!("/resolve/{COMMIT}/"))) {
            let Some(content) = files.get(name) else {
                return say(stream, 404, &[("X-Error-Code", "EntryNotFound".to_owned())], b"");
            };
            if name != "model.safetensors" {
                return say(stream, 200, &[("ETag", "\"0123\"".to_owned())], content);
            }
            let sum = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let headers = [
                ("Location", format!("{}/cdn/weights?signature=1", self.cdn)),
                ("X-Linked-Size", content.len().to_string()),
                ("X-Linked-ETag", format!("\"{sum}\"")),
                ("X-Repo-Commit", COMMIT.to_owned()),
            ];
            return say(stream, 302, &headers, b"moved");
        }
        if path.starts_with("/cdn/") {
            if let Some(status) = faults.busy_weights {
                return say(stream, status, &[], b"");
            }
            return weights(stream, files["model.safetensors"].clone(), header("range"), &faults, cut_at);
        }
        say(stream, 404, &[("X-Error-Code", "RepoNotFound".to_owned())], b"")
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap();
}

fn list(files: &BTreeMap<String, Vec<u8>>, faults: &Faults) -> String {
    let list = files.iter().map(|(name, content)| {
        let size = content.len() + usize::from(faults.wrong_size && name == "model.safetensors");
        let said = faults.says.filter(|(of, _)| *of == name.as_str());
        let size = said.map_or(size as u64, |(_, bytes)| bytes);
        if faults.bare_list {
            return format!("{{\"rfilename\":\"{name}\"}}");
        }
        format!("{{\"rfilename\":\"{name}\",\"size\":{size}}}")
    });
    format!("{{\"sha\":\"{COMMIT}\",\"gated\":false,\"siblings\":[{}]}}", list.collect::<Vec<_>>().join(","))
}

fn weights(
    mut stream: &TcpStream,
    mut content: Vec<u8>,
    range: Option<String>,
    faults: &Faults,
    cut_at: Option<usize>,
) -> std::io::Result<()> {
    if faults.damaged {
        *content.last_mut().unwrap() ^= 1;
    }
    let total = content.len();
    let asked = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let start = asked.filter(|_| !faults.no_ranges).unwrap_or(0);
    if start >= total {
        return say(stream, 416, &[("Content-Range", format!("bytes */{total}"))], b"");
    }
    let (status, range) = match asked.filter(|_| !faults.no_ranges) {
        Some(start) => ("206 Partial Content", format!("Content-Range: bytes {start}-{}/{total}\r\n", total - 1)),
        None => ("200 OK", String::new()),
    };
    let length = total - start;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{range}Connection: close\r\n\r\n")?;
    let end = cut_at.or(faults.stall_at).unwrap_or(total).clamp(start, total);
    // In pieces, as a network brings them.
    for piece in content[start..end].chunks(8 << 10) {
        stream.write_all(piece)?;
        std::thread::sleep(Duration::from_millis(1));
    }
    if cut_at.is_none() && faults.stall_at.is_some() {
        std::thread::sleep(Duration::from_secs(60));
    }
    Ok(())
}

/// Zeros until the client has enough, or a test has failed.
fn endless(mut stream: &TcpStream) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
    let chunk = [b"10000\r\n".as_slice(), &[b'0'; 0x10000], b"\r\n"].concat();
    for _ in 0..4096 {
        stream.write_all(&chunk)?;
    }
    Ok(())
}

/// The beginning of a long file.
fn announce(mut stream: &TcpStream, bytes: u64) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&[b'0'; 1000])
}

fn say(mut stream: &TcpStream, status: u16, headers: &[(&str, String)], body: &[u8]) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} Something\r\nContent-Length: {}\r\nConnection: close\r\n", body.len())?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(body)
}
