//! From the raw result to the clean one; a refusal by a gate becomes the outcome where the tool failed over it.

use super::find::Found;
use crate::gateway::Inner;
use caisson_call::{Denial, Outcome, Refused};
use caisson_engine::Ran;
use caisson_scrub::{CleanResult, Secrets};

pub(crate) fn scrub(inner: &Inner, found: &Found, ran: Ran, secrets: &Secrets) -> Result<CleanResult, Refused> {
    log(inner, found, &ran.log, secrets);
    let raw = match ran.result {
        Ok(raw) => raw,
        // A tool that crashed over a refusal was refused; what it made of it is its own affair.
        Err(Refused::Trapped { why }) => {
            return Err(ran.denials.into_iter().next().map_or(Refused::Trapped { why }, refused));
        }
        Err(refused) => return Err(refused),
    };
    if raw.outcome() == Outcome::ToolError
        && let Some(denial) = ran.denials.into_iter().next()
    {
        return Err(refused(denial));
    }
    let clean = inner.scrubber.clean_with(raw, secrets);
    fits(found, &clean)?;
    Ok(clean)
}

fn refused(denial: Denial) -> Refused {
    match denial.approval {
        Some(id) => Refused::NeedsApproval { id },
        None => Refused::Denied(denial),
    }
}

/// A structured result must be what the tool said it would be: callers rely on it.
fn fits(found: &Found, clean: &CleanResult) -> Result<(), Refused> {
    let (Some(schema), Some(text)) = (found.tool.result(), clean.structured()) else { return Ok(()) };
    let fits = serde_json::from_str(text).is_ok_and(|value: serde_json::Value| schema.is_valid(&value));
    if fits {
        Ok(())
    } else {
        Err(Refused::Trapped { why: "its structured result does not fit the schema that it declares" })
    }
}

/// What the guest printed goes to the operator's log, scrubbed, line by line.
fn log(inner: &Inner, found: &Found, printed: &[u8], secrets: &Secrets) {
    if printed.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(printed);
    for line in inner.scrubber.clean_text_with(&text, secrets).lines() {
        tracing::info!(target: "guest", plugin = %found.tool.plugin_name, tool = %found.tool.name, call = %found.call.id.0, "{}", line.escape_debug());
    }
}
