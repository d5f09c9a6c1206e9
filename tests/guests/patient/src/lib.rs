//! Waits until its caller has gone, or for as long as it may.

use caisson_sdk::{Output, ToolError, call, plugin, tool};
use std::time::Duration;

/// Says that it waits, and once its caller has gone, that it knows.
#[tool(effect = "mutating")]
fn p_wait() -> Result<Output, ToolError> {
    note("waiting")?;
    while !call::cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    note("told")?;
    Ok(Output::text("told"))
}

/// Says that it waits, and goes on as if nothing had been said.
#[tool(effect = "mutating")]
fn p_ignore() -> Result<Output, ToolError> {
    note("waiting")?;
    while !call::cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    note("told")?;
    loop {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn note(name: &str) -> Result<(), ToolError> {
    std::fs::write(format!("/workspace/{name}"), "").map_err(|error| ToolError::failed(error.to_string()))
}

plugin!(p_wait, p_ignore);
