//! The first look at a JSON-RPC message, before rmcp reads it.
//!
//! rmcp parses the arguments of a call into a map, which silently keeps the last of two equal keys and rounds large numbers.
//! The registry wants the text as it was sent, so it is taken out here.

use rmcp::model::{ErrorCode, ErrorData};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The text of a call's arguments, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments(pub String);

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The arguments, where the message is a call that has some.
///
/// # Errors
/// The JSON-RPC error to answer: no JSON, a batch, or no object.
pub(crate) fn arguments(message: &[u8]) -> Result<Option<Arguments>, ErrorData> {
    if message.trim_ascii_start().starts_with(b"[") {
        return Err(invalid("batches are not served here; send one JSON-RPC message at a time".to_owned()));
    }
    let outer: Message<'_> = serde_json::from_slice(message).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            invalid(format!("this is no JSON-RPC message: {}", crate::origin::shown_long(&error.to_string())))
        }
        _ => ErrorData::new(ErrorCode::PARSE_ERROR, format!("this is no JSON: {error}"), None),
    })?;
    let (Some("tools/call"), Some(params)) = (outer.method.as_deref(), outer.params) else {
        return Ok(None);
    };
    let params: Params<'_> = serde_json::from_str(params.get()).map_err(|error| {
        ErrorData::invalid_params(format!("`params`: {}", crate::origin::shown_long(&error.to_string())), None)
    })?;
    Ok(params.arguments.map(|raw| Arguments(raw.get().to_owned())))
}

/// A message that cannot be served.
pub(crate) fn invalid(message: String) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
}

/// The answer to a message whose identifier could not be read.
pub(crate) fn error_without_id(error: &ErrorData) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error })).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_is_no_single_message_is_refused() {
        let code = |text: &str| arguments(text.as_bytes()).unwrap_err().code;
        assert_eq!(code(" [{}]"), ErrorCode::INVALID_REQUEST);
        assert_eq!(code("{\"method\": "), ErrorCode::PARSE_ERROR);
        assert_eq!(code("3"), ErrorCode::INVALID_REQUEST);
        assert_eq!(code(r#"{"method":"tools/call","method":"ping"}"#), ErrorCode::INVALID_REQUEST);
        assert_eq!(
            code(r#"{"method":"tools/call","params":{"arguments":{},"arguments":{}}}"#),
            ErrorCode::INVALID_PARAMS
        );
    }

    #[test]
    fn arguments_stay_as_they_were_sent() {
        let text = r#"{"id":1,"method":"tools/call","params":{"name":"calc","arguments":{"a":1.10,"a":2}}}"#;
        assert_eq!(arguments(text.as_bytes()).unwrap(), Some(Arguments(r#"{"a":1.10,"a":2}"#.into())));
        assert_eq!(arguments(br#"{"id":1,"method":"ping"}"#).unwrap(), None);
        assert_eq!(arguments(br#"{"id":1,"result":{}}"#).unwrap(), None);
    }
}
