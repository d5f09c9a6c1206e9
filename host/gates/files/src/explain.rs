//! Which rule decides about a path, found by really opening it.

use crate::decide::{Refusal, Rules, Want};
use crate::error::{Fault, shorten};
use crate::resolve::{Ask, Place, below_mount, is_link};
use crate::workspace::Workspace;
use crate::{MOUNT, error};
use caisson_call::{Capability, Denial};
use caisson_contract::{Access, Capabilities, Layers};
use rustix::io::Errno;
use std::path::Path;

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A guest would get it.
    Allow,
    /// A guest would not: refused, or nothing of that name is there.
    Deny,
}

/// What the gate would do, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Yes or no.
    pub decision: Decision,
    /// Identifier of the rule that decided; `files.granted` where the answer is yes.
    pub rule: String,
    /// What was asked and what was found, as host text for a person.
    pub detail: String,
    /// The smallest change that would allow it; empty where nothing would.
    pub grant: String,
}

/// Says what a guest with these layers would get that opens `input` (relative to the workspace, or `/workspace/…`). It opens
/// through the gate, so links count; nothing is made or changed, in the write mode neither.
#[must_use]
pub fn explain(workspace: &Path, layers: &Layers, input: &str, mode: Access) -> Explanation {
    let rules = Rules::new(layers);
    let path = below_mount(input);
    let verb = if mode == Access::ReadWrite { "write" } else { "read" };
    match try_open(workspace, &rules, path, mode) {
        Ok(found) => Explanation {
            decision: Decision::Allow,
            rule: "files.granted".into(),
            detail: format!("{verb} {}: {found}", shown(path)),
            grant: String::new(),
        },
        Err(fault) => {
            let why = match &fault {
                Fault::Refused(_) => String::from("refused"),
                Fault::Os(errno) => std::io::Error::from(*errno).to_string(),
            };
            let refusal = refusal_of(fault);
            let denial = error::denial(verb, "", path, &refusal);
            Explanation {
                decision: Decision::Deny,
                rule: denial.rule,
                detail: format!("{}: {why}", denial.subject),
                grant: denial.grant,
            }
        }
    }
}

fn shown(path: &str) -> String {
    shorten(&format!("{MOUNT}/{path}"))
}

fn try_open(workspace: &Path, rules: &Rules, path: &str, mode: Access) -> Result<&'static str, Fault> {
    let write = mode == Access::ReadWrite;
    rules.mount(if write { Want::Write } else { Want::Read })?;
    let root = Workspace::at(workspace).open_root(false)?;
    let place = Place { root: &root, rules, base: &root.file };
    let ask = Ask { read: !write, write, follow: true, ..Ask::default() };
    match place.open(path, &ask) {
        Ok(opened) if opened.is_dir => Ok("a directory"),
        Ok(_) => Ok("a file"),
        Err(Fault::Os(Errno::ISDIR)) if write => {
            place.open(path, &Ask { read: true, follow: true, ..Ask::default() })?;
            Ok("a directory")
        }
        Err(Fault::Os(Errno::NOENT)) if write => {
            let parent = place.parent(path, Want::Write)?;
            match is_link(&parent.dir, &parent.name) {
                Err(Errno::NOENT) if !parent.slash => Ok("it would be made"),
                Ok(true) => Err(Refusal::fixed("files.dangling-link").into()),
                _ => Err(Errno::NOENT.into()),
            }
        }
        Err(other) => Err(other),
    }
}

/// A failure as a rule, where only rules are spoken.
pub(crate) fn refusal_of(fault: Fault) -> Refusal {
    match fault {
        Fault::Refused(refusal) => refusal,
        Fault::Os(Errno::NOENT | Errno::NOTDIR) => Refusal::fixed("files.not-found"),
        Fault::Os(Errno::ISDIR) => Refusal::fixed("files.not-a-file"),
        Fault::Os(Errno::INVAL | Errno::NAMETOOLONG | Errno::LOOP | Errno::ILSEQ) => Refusal::fixed("files.bad-name"),
        Fault::Os(_) => Refusal::fixed("files.unavailable"),
    }
}

/// The refusal of a manifest, grant or ceiling that names a mount which does not exist; asked when it is installed.
#[must_use]
pub fn unknown_mount(capabilities: &Capabilities) -> Option<Denial> {
    let mount = capabilities.files.keys().find(|mount| *mount != MOUNT)?;
    Some(Denial {
        capability: Capability::Files,
        rule: "files.mount-unknown".into(),
        subject: format!("mount {}", shorten(mount)),
        grant: format!("name the mount `{MOUNT}`; there is no other"),
        approval: None,
    })
}
