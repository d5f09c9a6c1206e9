//! Arguments against size, duplicate keys and the tool's schema.

use super::find::Found;
use super::offered::Offered;
use caisson_call::{Fault, Refused};

/// Most bytes of arguments.
const MAX_BYTES: usize = 1 << 20;

/// Faults told at once.
const MAX_FAULTS: usize = 8;

/// A call whose arguments fit. Only [`arguments`] makes one.
pub(crate) struct Checked {
    pub(super) found: Found,
    /// As JSON text; keys are sorted, so equal arguments have equal text.
    pub(super) arguments: String,
}

pub(crate) fn arguments(offered: Offered) -> Result<Checked, Refused> {
    let Offered(found) = offered;
    let text = found.call.arguments.as_str();
    let text = if text.trim().is_empty() { "{}" } else { text };
    if text.len() > MAX_BYTES {
        return Err(whole(format!(
            "{} bytes, the limit is {MAX_BYTES}; put large data into a file or an attached input",
            text.len()
        )));
    }
    let arguments = caisson_contract::parse_json(text).map_err(|fault| Refused::InvalidArguments(vec![fault]))?;
    if !arguments.is_object() {
        return Err(whole("a JSON object is needed".into()));
    }
    let Some(schema) = found.tool.arguments() else {
        return Err(Refused::Unavailable { what: format!("the schema of `{}`", found.tool.name) });
    };
    if schema.is_valid(&arguments) {
        return Ok(Checked { found, arguments: arguments.to_string() });
    }
    let faults = schema
        .iter_errors(&arguments)
        .take(MAX_FAULTS)
        .map(|error| Fault { pointer: error.instance_path().to_string(), message: short(&error.to_string()) })
        .collect();
    Err(Refused::InvalidArguments(faults))
}

fn whole(message: String) -> Refused {
    Refused::InvalidArguments(vec![Fault { pointer: String::new(), message }])
}

/// A validator quotes what it did not like, which may be a megabyte.
fn short(message: &str) -> String {
    const MAX: usize = 300;
    if message.chars().count() <= MAX {
        return message.to_owned();
    }
    message.chars().take(MAX).chain(" …".chars()).collect()
}
