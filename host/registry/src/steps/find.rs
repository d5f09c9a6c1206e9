//! Alias to canonical name to tool.

use crate::catalog::{Entry, Plugin, Roster, Standing, Tool};
use crate::gateway::Inner;
use caisson_call::{Call, Refused};
use std::sync::Arc;

/// A call whose tool exists. Only [`find`] makes one.
pub(crate) struct Found {
    pub(crate) call: Call,
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) standing: Arc<Standing>,
}

/// Finds the tool; an unknown name is answered with the nearest that *are* offered, never others.
pub(crate) fn find(inner: &Inner, roster: &Roster, call: Call) -> Result<Found, Refused> {
    let name = caisson_policy::canonical(&call.tool);
    match roster.get(name).cloned() {
        Some(Entry { plugin, tool, standing }) => Ok(Found { plugin, tool, standing, call }),
        None => Err(Refused::UnknownTool { name: shown(&call.tool), nearest: nearest(inner, roster, name) }),
    }
}

/// The nearest of the offered tools, at most three.
pub(crate) fn nearest(inner: &Inner, roster: &Roster, name: &str) -> Vec<String> {
    let names: Vec<&str> = super::offered::offered_entries(inner, roster).map(|entry| &*entry.tool.name).collect();
    caisson_policy::nearest(name, &names)
}

/// A name from a request, short and without control characters.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
