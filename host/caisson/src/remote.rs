//! A running gateway, over its HTTP API.

use crate::args::GatewayArgs;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// A gateway and the token to speak to it with.
pub(crate) struct Gateway {
    url: String,
    token: String,
}

/// What goes along with a request.
pub(crate) enum Body {
    Json(Value),
    Component(Vec<u8>),
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Gateway {
    pub(crate) fn of(args: &GatewayArgs) -> Result<Self> {
        let Some(token) = args.token.clone() else {
            bail!("a token is needed: set CAISSON_TOKEN to the one that `caisson serve` printed, or pass --token");
        };
        let url = args.url.trim_end_matches('/').to_owned();
        if !url.starts_with("http://") {
            bail!(
                "`{url}` must begin with `http://`: this command speaks to a gateway on the same machine or through a tunnel"
            );
        }
        Ok(Self { url, token })
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Body>) -> Result<Reply> {
        let uri: Uri =
            format!("{}{path}", self.url).parse().with_context(|| format!("`{}{path}` is not a URL", self.url))?;
        let mut request =
            Request::builder().method(method).uri(uri).header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        let bytes = match body {
            Some(Body::Json(value)) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Bytes::from(value.to_string())
            }
            Some(Body::Component(component)) => {
                request = request.header(header::CONTENT_TYPE, "application/wasm");
                Bytes::from(component)
            }
            None => Bytes::new(),
        };
        let client = Client::builder(TokioExecutor::new()).build_http();
        let answer = client.request(request.body(Full::new(bytes))?).await;
        let answer = answer.with_context(|| {
            format!("no gateway answers at `{}`; start one with `caisson serve`, or name another with --url", self.url)
        })?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.context("the gateway's answer breaks off")?.to_bytes();
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into())
        };
        Ok(Reply { status, body })
    }

    /// Sends, and turns a refusal into an error with the gateway's own words.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Body>) -> Result<Value> {
        let reply = self.send(method, path, body).await?;
        if reply.status < 300 {
            return Ok(reply.body);
        }
        let detail = reply.body.get("detail").or_else(|| reply.body.get("title")).and_then(Value::as_str);
        bail!("{}", detail.map_or_else(|| format!("the gateway answered {}", reply.status), str::to_owned))
    }
}
