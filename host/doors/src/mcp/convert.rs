//! What the registry shows, in MCP's words.

use crate::problem::milliseconds;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use caisson_call::{Content, Refused};
use caisson_contract::Effect;
use caisson_registry::{Answer, ToolView};
use caisson_scrub::CleanResult;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject, MetaObject, Resource, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool.
pub(super) fn tool(view: &ToolView) -> Tool {
    let read_only = view.effect == Effect::ReadOnly;
    // What a tool reaches is its grant's matter and may change; `open_world` and `destructive` say what is possible.
    let annotations = ToolAnnotations::from_raw(
        view.title.as_deref().map(str::to_owned),
        Some(read_only),
        Some(!read_only),
        Some(view.idempotent),
        Some(true),
    );
    let mut tool = Tool::new(view.name.to_string(), view.description.to_string(), object(&view.parameters));
    tool.title = view.title.as_deref().map(str::to_owned);
    tool.output_schema = view.returns.as_ref().map(object);
    tool.annotations = Some(annotations);
    tool.meta = Some(plugin_meta(view));
    tool
}

fn plugin_meta(view: &ToolView) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert("caisson/plugin".into(), view.plugin.as_ref().into());
    meta.insert("caisson/plugin-version".into(), view.plugin_version.as_ref().into());
    if view.deferred {
        meta.insert("caisson/deferred".into(), true.into());
    }
    meta
}

/// A schema is an object; the registry holds plugins to that at install.
fn object(schema: &Arc<Value>) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// How a call ended. A refusal is an error of the tool, so that the model reads it and can do something about it; only a
/// tool that does not exist is an error of the protocol, as MCP asks.
pub(super) fn answer(answer: &Answer) -> Result<CallToolResult, ErrorData> {
    let mut meta = MetaObject::new();
    meta.insert("caisson/call".into(), answer.id.0.as_ref().into());
    match &answer.body {
        Ok(clean) => Ok(result(clean, meta)),
        Err(refused) => refusal(refused, meta),
    }
}

fn result(clean: &CleanResult, mut meta: MetaObject) -> CallToolResult {
    let mut content: Vec<ContentBlock> = clean.for_model().iter().map(block).collect();
    let structured = clean.structured();
    if let (true, Some(text)) = (content.is_empty(), structured) {
        // Clients from before structured output read the text.
        content.push(ContentBlock::text(text));
    }
    let mut result = match clean.error() {
        None => CallToolResult::success(content),
        Some(error) => {
            meta.insert("caisson/outcome".into(), "tool-error".into());
            meta.insert("caisson/reason".into(), error.reason.as_str().into());
            if let Some(wait) = error.retry_after_ms {
                meta.insert("caisson/retry-after-ms".into(), wait.into());
            }
            if let Some(details) = error.details.as_deref().and_then(|text| serde_json::from_str(text).ok()) {
                meta.insert("caisson/details".into(), details);
            }
            CallToolResult::error(content)
        }
    };
    result.structured_content = structured.and_then(|text| serde_json::from_str(text).ok());
    if let Some(text) = clean.for_user() {
        meta.insert("caisson/for-user".into(), text.into());
    }
    if clean.silent() {
        meta.insert("caisson/silent".into(), true.into());
    }
    result.meta = Some(meta);
    result
}

fn block(content: &Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text.as_str()),
        Content::Image { mime_type, data } => ContentBlock::image(STANDARD.encode(data), mime_type.as_str()),
        Content::Audio { mime_type, data } => ContentBlock::audio(STANDARD.encode(data), mime_type.as_str()),
        Content::File { path, mime_type, caption } => {
            ContentBlock::resource_link(link(path, mime_type.clone(), caption.clone()))
        }
        Content::Kept(reference) => {
            ContentBlock::text(format!("[a large output was kept back; its reference is `{reference}`]"))
        }
    }
}

/// A file of the workspace. The scheme is our own: `file:` would name a file on the client's machine.
fn link(path: &str, mime_type: Option<String>, caption: Option<String>) -> Resource {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut link = Resource::new(format!("caisson://{}", encode_path(path)), name);
    link.mime_type = mime_type;
    link.description = caption;
    link
}

/// Percent-encodes what RFC 3986 does not allow in a path.
fn encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn refusal(refused: &Refused, mut meta: MetaObject) -> Result<CallToolResult, ErrorData> {
    if let Refused::UnknownTool { nearest, .. } = refused {
        return Err(ErrorData::invalid_params(refused.message(), Some(json!({ "nearest": nearest }))));
    }
    let mut put = |key: &str, value: Value| drop(meta.insert(format!("caisson/{key}"), value));
    put("outcome", refused.outcome().as_str().into());
    match refused {
        Refused::NotOffered { rule, nearest, .. } => {
            put("rule", rule.as_str().into());
            put("nearest", nearest.clone().into());
        }
        Refused::InvalidArguments(faults) => put("faults", json!(faults)),
        Refused::Denied(denial) => {
            put("capability", denial.capability.as_str().into());
            put("rule", denial.rule.as_str().into());
            put("subject", denial.subject.as_str().into());
            if !denial.grant.is_empty() {
                put("grant", denial.grant.as_str().into());
            }
        }
        Refused::NeedsApproval { id } => put("approval-id", id.as_str().into()),
        Refused::RateLimited { retry_after } | Refused::Overloaded { retry_after } => {
            put("retry-after-ms", milliseconds(*retry_after).into());
        }
        Refused::OverBudget(budget) => put("budget", budget.as_str().into()),
        Refused::Trapped { why } => put("trap", (*why).into()),
        Refused::AbiMismatch { has, wants } => {
            put("has", has.as_str().into());
            put("wants", wants.as_str().into());
        }
        Refused::UnknownTool { .. }
        | Refused::Cancelled
        | Refused::Deadline
        | Refused::OutOfCpu
        | Refused::OutOfMemory
        | Refused::Conflict
        | Refused::Unavailable { .. } => {}
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(refused.message())]);
    result.meta = Some(meta);
    Ok(result)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]
    use super::*;
    use caisson_call::{CallId, Capability, Denial, Fault};
    use std::time::Duration;

    fn refused(refused: Refused) -> Result<Value, ErrorData> {
        let ended = Answer {
            id: CallId("c1".into()),
            outcome: refused.outcome(),
            body: Err(refused),
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
        };
        answer(&ended).map(|result| serde_json::to_value(result).unwrap())
    }

    #[test]
    fn an_unknown_tool_is_an_error_of_the_protocol_and_names_the_nearest() {
        let error = refused(Refused::UnknownTool { name: "cacl".into(), nearest: vec!["calc".into()] }).unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert_eq!(error.data.unwrap(), json!({"nearest": ["calc"]}));
    }

    #[test]
    fn other_refusals_are_errors_that_the_model_reads() {
        let denial = Denial {
            capability: Capability::Files,
            rule: "files.not-granted".into(),
            subject: "/workspace/a".into(),
            grant: "files./workspace = \"read\"".into(),
            approval: None,
        };
        let result = refused(Refused::Denied(denial)).unwrap();
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("`files.not-granted`"));
        assert_eq!(result["_meta"]["caisson/outcome"], "denied");
        assert_eq!(result["_meta"]["caisson/rule"], "files.not-granted");
        assert_eq!(result["_meta"]["caisson/grant"], "files./workspace = \"read\"");
        assert_eq!(result["_meta"]["caisson/call"], "c1");

        let fault = Fault { pointer: "/city".into(), message: "is missing".into() };
        let result = refused(Refused::InvalidArguments(vec![fault])).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["_meta"]["caisson/faults"][0]["pointer"], "/city");
    }

    #[test]
    fn content_keeps_its_kind() {
        let value = |content: Content| serde_json::to_value(block(&content)).unwrap();
        assert_eq!(
            value(Content::Audio { mime_type: "audio/wav".into(), data: vec![1, 2, 3] }),
            json!({"type": "audio", "mimeType": "audio/wav", "data": "AQID"})
        );
        let file =
            Content::File { path: "/workspace/a b%.pdf".into(), mime_type: None, caption: Some("A report".into()) };
        assert_eq!(
            value(file),
            json!({"type": "resource_link", "uri": "caisson:///workspace/a%20b%25.pdf", "name": "a b%.pdf", "description": "A report"})
        );
        assert!(value(Content::Kept("r7".into()))["text"].as_str().unwrap().contains("`r7`"));
    }

    #[test]
    fn annotations_follow_the_effect() {
        let view = |effect| ToolView {
            name: "calc".into(),
            title: Some("Calculator".into()),
            description: "Adds".into(),
            parameters: Arc::new(json!({"type": "object"})),
            returns: None,
            effect,
            idempotent: true,
            deferred: false,
            groups: Arc::new([]),
            plugin: "text".into(),
            plugin_version: "1.0.0".into(),
            built_in: true,
        };
        let hints = |effect| serde_json::to_value(tool(&view(effect))).unwrap()["annotations"].clone();
        assert_eq!(
            hints(Effect::ReadOnly),
            json!({"title": "Calculator", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true})
        );
        assert_eq!(hints(Effect::Mutating)["destructiveHint"], true);
        assert_eq!(hints(Effect::Mutating)["readOnlyHint"], false);
    }
}
