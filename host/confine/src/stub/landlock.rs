//! The second wall: the same view again as rules of Landlock, which hold for this process and all it starts whatever mounts
//! there are.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{At, Fault, Step, view};
use crate::plan::{Access, FILES, Network, Plan, WORKSPACE};

/// Enforces the rules of Landlock's version `abi`, all of them or an error.
pub fn restrict(plan: &Plan, abi: u8) -> Result<(), Fault> {
    if abi == 0 {
        // Only where the policy demands no version: the gateway starts nothing otherwise.
        return Ok(());
    }
    let abi = ABI::from(i32::from(abi));
    let status = rules(plan, abi).and_then(RulesetCreated::restrict_self).map_err(std::io::Error::other);
    match status.at(Step::Landlock, "restrict")?.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => {
            Err(std::io::Error::other("the kernel enforced less than it said")).at(Step::Landlock, "restrict")
        }
    }
}

fn rules(plan: &Plan, abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(abi))?;
    let net = AccessNet::from_all(abi);
    if !net.is_empty() {
        ruleset = ruleset.handle_access(net)?;
    }
    let scope = Scope::from_all(abi);
    if !scope.is_empty() {
        ruleset = ruleset.scope(scope)?;
    }
    let mut ruleset = ruleset.create()?.set_compatibility(CompatLevel::HardRequirement);
    // Names can be listed anywhere in the view; what they name has rules of its own.
    ruleset = beneath(ruleset, "/", AccessFs::ReadDir.into(), abi)?;
    for path in view::readable(plan) {
        ruleset = beneath(ruleset, &path.to_string_lossy(), AccessFs::from_read(abi), abi)?;
    }
    ruleset = beneath(ruleset, "/proc", AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::WriteFile, abi)?;
    ruleset = beneath(ruleset, FILES, AccessFs::ReadFile | AccessFs::ReadDir, abi)?;
    ruleset = beneath(ruleset, "/tmp", writable(abi), abi)?;
    let workspace = match plan.workspace {
        Access::ReadOnly => AccessFs::from_read(abi),
        Access::ReadWrite => writable(abi),
    };
    ruleset = beneath(ruleset, WORKSPACE, workspace, abi)?;
    for device in view::DEVICES {
        ruleset = beneath(ruleset, device, AccessFs::ReadFile | AccessFs::WriteFile, abi)?;
    }
    match plan.network {
        Network::Proxy { port } if net.contains(AccessNet::ConnectTcp) => {
            ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))
        }
        Network::Proxy { .. } | Network::None => Ok(ruleset),
    }
}

/// Everything but the making of devices.
fn writable(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// A rule for what is at `path`. What the machine does not have has no rule, and without one nothing is allowed.
fn beneath(
    ruleset: RulesetCreated,
    path: &str,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(ruleset) };
    let directory = std::fs::metadata(path).is_ok_and(|found| found.is_dir());
    let access = if directory { access } else { access & AccessFs::from_file(abi) };
    ruleset.add_rule(PathBeneath::new(descriptor, access))
}
