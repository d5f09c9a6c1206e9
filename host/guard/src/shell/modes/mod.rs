//! What beside the deny groups decides about a command: the operator's settings.

mod allowlist;
mod ask;
mod paths;
mod registered;

use super::{Dialect, Switches};
pub use allowlist::{Allowlist, EntryInvalid};
pub use ask::{Ask, Remember};
pub use paths::PathDeny;
use std::collections::BTreeSet;

pub(crate) use allowlist::{Miss, check as check_allowlist};
pub(crate) use ask::{approved, remember};
pub(crate) use paths::check as check_paths;
pub(crate) use registered::ungranted;

/// All that decides about a command beside its text.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which shell will read it.
    pub dialect: Dialect,
    /// Which deny groups deny.
    pub switches: Switches,
    /// Which programs may run at all.
    pub mode: Mode,
    /// When a person is asked.
    pub ask: Ask,
    /// Whether there is a person to ask; where not, what would be asked is denied.
    pub approver: bool,
    /// What was approved for good.
    pub remembered: BTreeSet<Remember>,
    /// Paths that no command may name.
    pub paths: PathDeny,
    /// Programs, in lower case and without folders, that run with credentials and only where granted.
    pub registered: BTreeSet<String>,
    /// Those of them that are granted here.
    pub granted: BTreeSet<String>,
}

impl Default for Setting {
    /// Every group denies, nobody is asked, the workspace is `/workspace`.
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            switches: Switches::all_on(),
            mode: Mode::DenyGroups,
            ask: Ask::Off,
            approver: false,
            remembered: BTreeSet::new(),
            paths: PathDeny::new("/workspace", &[], &[]),
            registered: BTreeSet::new(),
            granted: BTreeSet::new(),
        }
    }
}

/// Which programs may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All that no rule denies.
    #[default]
    DenyGroups,
    /// One plain command of those listed, and no rule may deny it. An empty list allows nothing.
    Allowlist(Allowlist),
}
