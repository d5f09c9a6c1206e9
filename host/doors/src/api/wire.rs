//! What travels over the HTTP API: the shapes of answers, each made from what the registry shows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caisson_call::Content;
use caisson_contract::{Effect, SecretBinding};
use caisson_registry::{Answer, PluginState, PluginView, ToolView};
use caisson_scrub::CleanResult;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;

/// A tool that is offered to the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    /// Canonical name.
    #[schema(value_type = String)]
    name: Arc<str>,
    /// For people.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Arc<str>>,
    /// For models.
    #[schema(value_type = String)]
    description: Arc<str>,
    /// JSON Schema 2020-12 of the arguments, an object at the root.
    #[schema(value_type = Object)]
    parameters: Arc<serde_json::Value>,
    /// JSON Schema 2020-12 of the structured output.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<Arc<serde_json::Value>>,
    /// `read-only` or `mutating`, enforced.
    #[schema(value_type = String)]
    effect: Effect,
    /// Calling twice is as good as calling once.
    idempotent: bool,
    /// Answers at once and delivers later.
    deferred: bool,
    /// Policy groups.
    #[schema(value_type = Vec<String>)]
    groups: Arc<[String]>,
    /// The plugin it belongs to.
    #[schema(value_type = String)]
    plugin: Arc<str>,
    /// Version of the plugin.
    #[schema(value_type = String)]
    plugin_version: Arc<str>,
    /// Comes with the gateway.
    built_in: bool,
}

impl From<&ToolView> for Tool {
    fn from(view: &ToolView) -> Self {
        Self {
            name: view.name.clone(),
            title: view.title.clone(),
            description: view.description.clone(),
            parameters: view.parameters.clone(),
            returns: view.returns.clone(),
            effect: view.effect,
            idempotent: view.idempotent,
            deferred: view.deferred,
            groups: view.groups.clone(),
            plugin: view.plugin.clone(),
            plugin_version: view.plugin_version.clone(),
            built_in: view.built_in,
        }
    }
}

/// A page of tools, sorted by name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolPage {
    /// The tools.
    pub tools: Vec<Tool>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An installed plugin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plugin {
    /// Name from the manifest.
    name: String,
    /// Version from the manifest.
    version: String,
    /// BLAKE3 of the component, hex.
    digest: String,
    /// From the manifest.
    description: String,
    /// `compiling`, `serving` or `held`.
    state: &'static str,
    /// Why it is held, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What it asks for, as the manifest's `[capabilities]`.
    #[schema(value_type = Object)]
    declared: caisson_contract::Capabilities,
    /// Secrets it would like put in, as the manifest's `[credentials]`.
    #[schema(value_type = Object)]
    credentials: std::collections::BTreeMap<String, caisson_contract::Credential>,
    /// What it was granted; `null` where nothing was.
    #[schema(value_type = Option<Object>)]
    granted: Option<caisson_contract::Capabilities>,
    /// Its tools.
    tools: Vec<Tool>,
    /// Interfaces it imports, such as `wasi:http/outgoing-handler@0.2.12`.
    imports: Vec<String>,
    /// Comes with the gateway.
    built_in: bool,
    /// Bytes of the component.
    size_bytes: u64,
    /// Milliseconds since 1970.
    installed_ms: i64,
    /// Identifier of the token that installed it.
    installed_by: String,
}

impl From<PluginView> for Plugin {
    fn from(view: PluginView) -> Self {
        let (state, reason) = match view.state {
            PluginState::Compiling => ("compiling", None),
            PluginState::Serving => ("serving", None),
            PluginState::Held { reason } => ("held", Some(reason)),
        };
        Self {
            name: view.name,
            version: view.version,
            digest: view.digest,
            description: view.description,
            state,
            reason,
            declared: view.declared,
            credentials: view.credentials,
            granted: view.granted,
            tools: view.tools.iter().map(Tool::from).collect(),
            imports: view.imports,
            built_in: view.built_in,
            size_bytes: view.size_bytes,
            installed_ms: view.installed_ms,
            installed_by: view.installed_by,
        }
    }
}

/// The plugins of the tenant and those that come with the gateway.
#[derive(Serialize, ToSchema)]
pub(crate) struct Plugins {
    /// The plugins.
    pub plugins: Vec<Plugin>,
}

/// Exactly one host, scheme and port that a secret may go to.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Binding {
    /// Exact host name, lower case.
    host: String,
    /// `https` or `http`.
    scheme: String,
    /// Port.
    port: u16,
}

impl From<Binding> for SecretBinding {
    fn from(binding: Binding) -> Self {
        Self { host: binding.host, scheme: binding.scheme, port: binding.port }
    }
}

impl From<SecretBinding> for Binding {
    fn from(binding: SecretBinding) -> Self {
        Self { host: binding.host, scheme: binding.scheme, port: binding.port }
    }
}

/// How a call ended that reached its tool.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallAnswer<'a> {
    /// Identifier of the call.
    call_id: &'a str,
    /// `ok` or `tool-error`.
    outcome: &'static str,
    /// The tool's answer.
    result: CallResult<'a>,
    /// Elapsed time, milliseconds.
    duration_ms: f64,
    /// Thread time of the guest, milliseconds.
    cpu_ms: f64,
}

/// What a tool answered, secrets taken out.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult<'a> {
    /// What the model reads.
    content: Vec<Piece<'a>>,
    /// What the person reads, where it is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    for_user: Option<&'a str>,
    /// The structured output, valid against the tool's `returns`.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a RawValue>,
    /// True where nothing should be shown.
    silent: bool,
    /// True where the tool failed; `error` says more then.
    is_error: bool,
    /// The tool's own error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ToolError<'a>>,
}

/// A tool's own error.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolError<'a> {
    /// `invalid-arguments`, `not-found`, `unavailable` or `failed`.
    reason: &'static str,
    /// When it may be worth trying again, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u32>,
    /// More, in the tool's own shape.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a RawValue>,
}

/// One piece of content.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum Piece<'a> {
    /// Text.
    Text {
        /// The text.
        text: &'a str,
    },
    /// A picture.
    Image {
        /// Media type.
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
        /// Base64.
        #[schema(value_type = String)]
        #[serde(serialize_with = "base64_text")]
        data: &'a [u8],
    },
    /// Sound.
    Audio {
        /// Media type.
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
        /// Base64.
        #[schema(value_type = String)]
        #[serde(serialize_with = "base64_text")]
        data: &'a [u8],
    },
    /// A file of the workspace.
    File {
        /// Path as the tool sees it, such as `/workspace/report.pdf`.
        path: &'a str,
        /// Media type, where the tool names one.
        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
        mime_type: Option<&'a str>,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        caption: Option<&'a str>,
    },
    /// A large output that was kept back; `GET /v1/outputs/{reference}` has it for an hour.
    Kept {
        /// The reference.
        reference: &'a str,
    },
}

fn base64_text<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&base64::display::Base64Display::new(data, &STANDARD))
}

/// Decodes base64 with padding.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

impl<'a> CallAnswer<'a> {
    /// The answer of a tool.
    pub(crate) fn new(answer: &'a Answer, result: &'a CleanResult) -> Self {
        Self {
            call_id: &answer.id.0,
            outcome: answer.outcome.as_str(),
            result: CallResult::from(result),
            duration_ms: answer.wall.as_secs_f64() * 1e3,
            cpu_ms: answer.cpu.as_secs_f64() * 1e3,
        }
    }
}

impl<'a> From<&'a CleanResult> for CallResult<'a> {
    fn from(result: &'a CleanResult) -> Self {
        Self {
            content: result.for_model().iter().map(Piece::from).collect(),
            for_user: result.for_user(),
            structured: result.structured().and_then(raw),
            silent: result.silent(),
            is_error: result.error().is_some(),
            error: result.error().map(|error| ToolError {
                reason: error.reason.as_str(),
                retry_after_ms: error.retry_after_ms,
                details: error.details.as_deref().and_then(raw),
            }),
        }
    }
}

/// JSON text as it is. Text that is no JSON is left out rather than sent broken.
fn raw(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

impl<'a> From<&'a Content> for Piece<'a> {
    fn from(content: &'a Content) -> Self {
        match content {
            Content::Text(text) => Self::Text { text },
            Content::Image { mime_type, data } => Self::Image { mime_type, data },
            Content::Audio { mime_type, data } => Self::Audio { mime_type, data },
            Content::File { path, mime_type, caption } => {
                Self::File { path, mime_type: mime_type.as_deref(), caption: caption.as_deref() }
            }
            Content::Kept(reference) => Self::Kept { reference },
        }
    }
}

/// One step of progress, as an event of a stream.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressBody<'a> {
    /// Identifier of the call.
    pub call_id: &'a str,
    /// How much is done, never falling.
    pub done: f64,
    /// Of how much, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Who a token stands for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Me {
    /// The tenant.
    pub tenant: String,
    /// `owner`, `tenant-admin`, `operator`, `agent` or `viewer`.
    #[schema(value_type = String)]
    pub role: caisson_call::Role,
    /// Public identifier of the token.
    pub token_id: String,
    /// The agent that the token is bound to.
    pub agent: Option<String>,
    /// The user that the token is bound to.
    pub user: Option<String>,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn pieces_have_a_type_and_base64() {
        let png = Content::Image { mime_type: "image/png".into(), data: vec![1, 2, 3] };
        assert_eq!(
            serde_json::to_string(&Piece::from(&png)).unwrap(),
            r#"{"type":"image","mimeType":"image/png","data":"AQID"}"#
        );
        let file = Content::File { path: "/workspace/a".into(), mime_type: None, caption: None };
        assert_eq!(serde_json::to_string(&Piece::from(&file)).unwrap(), r#"{"type":"file","path":"/workspace/a"}"#);
        assert_eq!(
            serde_json::to_string(&Piece::from(&Content::Kept("r1".into()))).unwrap(),
            r#"{"type":"kept","reference":"r1"}"#
        );
    }

    #[test]
    fn structured_text_that_is_no_json_is_left_out() {
        assert!(raw("{\"a\":").is_none());
        assert_eq!(raw(" {\"a\": 1}").map(RawValue::get), Some("{\"a\": 1}"));
    }
}
