//! Whether policy offers the tool to this very request.

use super::find::{Found, nearest, shown};
use crate::catalog::{Entry, Roster, Standing, Tool};
use crate::gateway::Inner;
use caisson_call::Refused;

/// A call that is offered its tool. Only [`offered`] makes one.
pub(crate) struct Offered(pub(super) Found);

/// Deny wins over everything; a held plugin's tools are not offered to anybody.
pub(crate) fn offered(inner: &Inner, roster: &Roster, found: Found) -> Result<Offered, Refused> {
    match withheld(inner, &found.tool, &found.standing) {
        None => Ok(Offered(found)),
        Some(rule) => Err(Refused::NotOffered {
            name: shown(&found.call.tool),
            rule,
            nearest: nearest(inner, roster, &found.tool.name),
        }),
    }
}

/// The rule that keeps a tool from a request, if one does.
pub(crate) fn why_not(inner: &Inner, entry: &Entry) -> Option<String> {
    withheld(inner, &entry.tool, &entry.standing)
}

fn withheld(inner: &Inner, tool: &Tool, standing: &Standing) -> Option<String> {
    if let Some(reason) = &standing.held {
        return Some(format!("plugin.held: {reason}"));
    }
    inner.policy.offered(&tool.name, &tool.plugin_name, &tool.spec.groups).err()
}

/// All tools that a request is offered, sorted by name.
pub(crate) fn offered_entries<'a>(inner: &'a Inner, roster: &'a Roster) -> impl Iterator<Item = &'a Entry> {
    roster.entries().filter(|entry| why_not(inner, entry).is_none())
}
