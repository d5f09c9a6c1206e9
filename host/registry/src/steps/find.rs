//! Alias to canonical name to tool.

use crate::catalog::{Catalog, Plugin, Standing, Tool};
use crate::gateway::Inner;
use caisson_call::{Call, CallContext, Principal, Refused};
use std::sync::Arc;

/// A call whose tool exists. Only [`find`] makes one.
pub(crate) struct Found {
    pub(crate) call: Call,
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) standing: Arc<Standing>,
}

/// Finds the tool; an unknown name is answered with the nearest that *are* offered, never others.
pub(crate) fn find(inner: &Inner, catalog: &Catalog, call: Call) -> Result<Found, Refused> {
    let tenant = &call.principal.tenant;
    let name = caisson_policy::canonical(&call.tool);
    match catalog.tool(tenant, name) {
        Some((plugin, tool)) => {
            let standing = catalog.standing(tenant, plugin, inner.config.ceiling.as_ref());
            Ok(Found { plugin: Arc::clone(plugin), tool: Arc::clone(tool), standing, call })
        }
        None => Err(Refused::UnknownTool {
            name: shown(&call.tool),
            nearest: nearest(inner, catalog, &call.principal, &call.context, name),
        }),
    }
}

/// The nearest of the offered tools, at most three.
pub(crate) fn nearest(
    inner: &Inner,
    catalog: &Catalog,
    who: &Principal,
    context: &CallContext,
    name: &str,
) -> Vec<String> {
    let offered = super::offered::offered_names(inner, catalog, who, context);
    let names: Vec<&str> = offered.iter().map(|name| &**name).collect();
    caisson_policy::nearest(name, &names)
}

/// A name from a request, short and without control characters.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
