//! One GET with its redirects, each a request of its own that the host's gate judges anew.

use crate::location;
use caisson_sdk::http::{Request, Response};
use caisson_sdk::{ToolError, call};
use std::time::Duration;

const MAX_REDIRECTS: usize = 3;
/// Each wait: to connect, for the first byte, within the body.
const PATIENCE: Duration = Duration::from_secs(20);
const ACCEPT: &str = "text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, */*;q=0.5";

/// What a server answered.
#[derive(Debug)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: String,
    pub status: u16,
    /// The header as it is; empty where there is none.
    pub content_type: String,
    pub body: Vec<u8>,
    /// Whether there was more of it than was read.
    pub cut: bool,
}

pub fn fetch(url: &str, max_bytes: usize) -> Result<Fetched, ToolError> {
    let mut url = location::absolute(url)
        .ok_or_else(|| {
            ToolError::invalid_arguments(format!(
                "`{}` is no web address; write it whole, such as `https://example.com/page`",
                shown(url)
            ))
        })?
        .to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let response = get(&url)?;
        match redirect(&response, &url)? {
            Some(next) => {
                call::progress(0.0, None, Some("following a redirect"));
                url = next;
            }
            None => return read(response, url, max_bytes),
        }
    }
    Err(ToolError::failed(format!(
        "more than {MAX_REDIRECTS} redirects, the last to `{}`; fetch that one if it is what you want",
        shown(&url)
    )))
}

fn get(url: &str) -> Result<Response, ToolError> {
    let request = Request::get(url)
        .header("accept", ACCEPT)
        .header("accept-language", "en, *;q=0.5")
        // What is not asked for is not sent: there is no decompressor in here.
        .header("accept-encoding", "identity")
        .header("user-agent", "caisson-web-fetch/0.1")
        .timeout(PATIENCE);
    request.send().map_err(|error| {
        if !error.message().contains("gate refused") {
            return error;
        }
        ToolError::new(
            error.reason(),
            format!(
                "{}. The tenant's settings of the plugin `web` decide which hosts may be fetched: `policy` (`allow_all` or \
                 `allow_domains`), `allowed_domains`, `blocked_domains`; addresses that are not public are refused whatever they say",
                error.message()
            ),
        )
    })
}

fn redirect(response: &Response, url: &str) -> Result<Option<String>, ToolError> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(to) = response.header("location") else { return Ok(None) };
    let next = location::join(url, to).and_then(|next| location::absolute(&next).map(ToOwned::to_owned));
    let next = next.ok_or_else(|| {
        ToolError::failed(format!("`{}` redirects to `{}`, which is no web address", shown(url), shown(to)))
    })?;
    Ok(Some(next))
}

fn read(mut response: Response, url: String, max_bytes: usize) -> Result<Fetched, ToolError> {
    let status = response.status;
    if !response.is_success() {
        let at = shown(&url);
        return Err(match status {
            404 | 410 => ToolError::not_found(format!(
                "`{at}` answered {status}: there is no such page; check the address or search for it"
            )),
            401 | 403 => ToolError::unavailable(format!(
                "`{at}` answered {status}: it wants a login, or keeps programs out; try another source"
            )),
            429 => {
                let error =
                    ToolError::unavailable(format!("`{at}` answered 429: too many requests; wait before the next"));
                let wait =
                    response.header("retry-after").and_then(|wait| wait.trim().parse().ok()).map(Duration::from_secs);
                wait.map_or(error.clone(), |wait| error.retry_after(wait))
            }
            500..=599 => {
                ToolError::unavailable(format!("`{at}` answered {status}: the server has a fault; try again later"))
            }
            _ => ToolError::failed(format!("`{at}` answered {status}, which is no page")),
        });
    }
    let coding = response.header("content-encoding").map(str::trim).filter(|coding| !coding.is_empty());
    if let Some(coding) = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(ToolError::failed(format!(
            "`{}` came compressed ({}) though plain was asked for; try another source",
            shown(&url),
            shown(coding)
        )));
    }
    let content_type = response.header("content-type").unwrap_or_default().to_owned();
    let (body, cut) = response.read(max_bytes)?;
    Ok(Fetched { url, status, content_type, body, cut })
}

/// Text from outside in a message: short and without control characters.
pub fn shown(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
