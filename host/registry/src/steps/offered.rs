//! Whether policy offers the tool to this very request.

use super::find::{Found, nearest, shown};
use crate::catalog::{Catalog, Plugin, Tool};
use crate::gateway::Inner;
use caisson_call::{CallContext, Principal, Refused};
use std::sync::Arc;

/// A call that is offered its tool. Only [`offered`] makes one.
pub(crate) struct Offered(pub(super) Found);

/// Deny wins over everything; a held plugin's tools are not offered to anybody.
pub(crate) fn offered(inner: &Inner, catalog: &Catalog, found: Found) -> Result<Offered, Refused> {
    match why_not(inner, catalog, &found.call.principal, &found.plugin, &found.tool) {
        None => Ok(Offered(found)),
        Some(rule) => Err(Refused::NotOffered {
            name: shown(&found.call.tool),
            rule,
            nearest: nearest(inner, catalog, &found.call.principal, &found.call.context, &found.tool.name),
        }),
    }
}

/// The rule that keeps a tool from a request, if one does.
pub(crate) fn why_not(
    inner: &Inner,
    catalog: &Catalog,
    who: &Principal,
    plugin: &Plugin,
    tool: &Tool,
) -> Option<String> {
    let standing = catalog.standing(&who.tenant, plugin, inner.config.ceiling.as_ref());
    if let Some(reason) = &standing.held {
        return Some(format!("plugin.held: {reason}"));
    }
    inner.policy.offered(&tool.name, &tool.plugin_name, &tool.spec.groups).err()
}

/// Names of all tools that a request is offered.
pub(crate) fn offered_names(
    inner: &Inner,
    catalog: &Catalog,
    who: &Principal,
    _context: &CallContext,
) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = catalog
        .plugins_of(&who.tenant)
        .flat_map(|plugin| plugin.tools.iter().map(move |tool| (plugin, tool)))
        .filter(|(plugin, tool)| why_not(inner, catalog, who, plugin, tool).is_none())
        .map(|(_, tool)| Arc::clone(&tool.name))
        .collect();
    names.sort();
    names
}
