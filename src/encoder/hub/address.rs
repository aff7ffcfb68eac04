//! Where the hub is, and what it answers with.

use super::reply::ResponseHead;
use super::repository::{ENDPOINT, Repository};
use crate::encoder::EncoderError;
use directories::BaseDirs;
use std::path::PathBuf;
use std::time::Duration;
use ureq::Agent;

/// Where encoders are published, and how to get at them.
#[derive(Clone, Debug)]
pub struct Hub {
    pub(super) endpoint: String,
    pub(super) token: Option<String>,
    /// Where the hub's own libraries keep what they have fetched.
    pub(super) cache: Option<PathBuf>,
    /// Waits this long before the first of the further tries, and twice as long before each that follows.
    pub(super) retry_wait: Duration,
    pub(super) agent: Agent,
}

impl Hub {
    /// As the environment says, with the names of the hub's own libraries: `HF_ENDPOINT`, `HF_TOKEN` (or the file `token`
    /// of `HF_HOME`), and `HF_HOME` (or `~/.cache/huggingface`) with what they have fetched.
    pub fn from_environment() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let home = variable("HF_HOME").map(PathBuf::from).or_else(|| {
            let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
            let cache = cache.or_else(|| BaseDirs::new().map(|dirs| dirs.home_dir().join(".cache")));
            cache.map(|cache| cache.join("huggingface"))
        });
        let kept_token = || std::fs::read_to_string(home.as_ref()?.join("token")).ok();
        let token = variable("HF_TOKEN").or_else(kept_token).map(|token| token.trim().to_owned());
        let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned());
        let cache = home.map(|home| home.join("hub"));
        Self::new(&endpoint, token.filter(|token| !token.is_empty()), cache, Duration::from_secs(1))
    }

    /// Another hub, without a token.
    pub fn at(endpoint: &str) -> Self {
        Self::new(endpoint, None, None, Duration::from_secs(1))
    }

    pub(super) fn new(endpoint: &str, token: Option<String>, cache: Option<PathBuf>, retry_wait: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .timeout_per_read(Some(Duration::from_secs(30)))
            .user_agent(concat!("nestling/", env!("CARGO_PKG_VERSION")))
            .build();
        let endpoint = endpoint.trim().trim_end_matches('/').to_owned();
        Self { endpoint, token, cache, retry_wait, agent: config.into() }
    }

    /// What a status other than success means.
    pub(super) fn refusal(&self, head: &ResponseHead, repository: &Repository, url: &str) -> EncoderError {
        let name = repository.to_string();
        let page = format!("{}/{}", self.endpoint, repository.id());
        match (head.status, head.header("x-error-code")) {
            (401 | 403, Some("GatedRepo")) => EncoderError::Gated { name, page },
            (404, Some("RevisionNotFound")) => EncoderError::NoSuchRevision { name, page },
            // The hub does not tell whether one exists that it does not show.
            (401 | 403, _) | (404, None | Some("RepoNotFound" | "")) => EncoderError::NoSuchRepository { name, page },
            (status, _) => EncoderError::HubAnswered { status, url: url.to_owned() },
        }
    }

    pub(super) fn unreachable(&self, reason: String) -> EncoderError {
        EncoderError::HubUnreachable { reason, endpoint: self.endpoint.clone() }
    }
}
