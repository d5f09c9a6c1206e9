//! The fifteen deny groups and who switches which of them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A deny group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Group {
    /// Removing and overwriting in bulk, disks, power.
    DestructiveOps,
    /// Sending data out; running what was just downloaded.
    DataExfiltration,
    /// A shell for somebody elsewhere.
    ReverseShell,
    /// Running text that nobody wrote as a command.
    CodeInjection,
    /// Becoming somebody else.
    PrivilegeEscalation,
    /// Writing to, or opening up, what belongs to the system; reading keys.
    DangerousPaths,
    /// Variables that make programs run other code.
    EnvInjection,
    /// Out of the sandbox.
    ContainerEscape,
    /// Mining.
    CryptoMining,
    /// Options and expansions that run programs where nobody looks for them.
    FilterBypass,
    /// Scanning networks, reaching other machines.
    NetworkRecon,
    /// Installing software.
    PackageInstall,
    /// Staying after the command has ended.
    Persistence,
    /// Ending or entering other processes.
    ProcessControl,
    /// Printing the environment.
    EnvDump,
}

impl Group {
    /// Every group, in the order in which they are asked.
    pub const ALL: [Self; 15] = [
        Self::DestructiveOps,
        Self::DataExfiltration,
        Self::ReverseShell,
        Self::CodeInjection,
        Self::PrivilegeEscalation,
        Self::DangerousPaths,
        Self::EnvInjection,
        Self::ContainerEscape,
        Self::CryptoMining,
        Self::FilterBypass,
        Self::NetworkRecon,
        Self::PackageInstall,
        Self::Persistence,
        Self::ProcessControl,
        Self::EnvDump,
    ];

    /// The name used in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DestructiveOps => "destructive_ops",
            Self::DataExfiltration => "data_exfiltration",
            Self::ReverseShell => "reverse_shell",
            Self::CodeInjection => "code_injection",
            Self::PrivilegeEscalation => "privilege_escalation",
            Self::DangerousPaths => "dangerous_paths",
            Self::EnvInjection => "env_injection",
            Self::ContainerEscape => "container_escape",
            Self::CryptoMining => "crypto_mining",
            Self::FilterBypass => "filter_bypass",
            Self::NetworkRecon => "network_recon",
            Self::PackageInstall => "package_install",
            Self::Persistence => "persistence",
            Self::ProcessControl => "process_control",
            Self::EnvDump => "env_dump",
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u8)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no group's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownGroup {
    /// The name, cut to 64 characters.
    pub name: String,
    /// The group whose name is most alike.
    pub nearest: Group,
}

impl fmt::Display for UnknownGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a deny group; the nearest is `{}`", self.name, self.nearest)
    }
}

impl std::error::Error for UnknownGroup {}

impl FromStr for Group {
    type Err = UnknownGroup;

    fn from_str(name: &str) -> Result<Self, UnknownGroup> {
        if let Some(group) = Self::ALL.into_iter().find(|group| group.as_str() == name) {
            return Ok(group);
        }
        // Comparing costs the product of both lengths, and the name is anybody's input.
        let name: String = name.chars().take(64).collect();
        let likeness = |group: &Self| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), group.as_str());
        let nearest =
            Self::ALL.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or(Self::DestructiveOps);
        Err(UnknownGroup { name, nearest })
    }
}

/// Which groups deny. The default denies all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switches {
    off: u16,
}

impl Default for Switches {
    fn default() -> Self {
        Self::all_on()
    }
}

impl Switches {
    /// Every group denies.
    #[must_use]
    pub fn all_on() -> Self {
        Self { off: 0 }
    }

    /// From the operator's map and the agent's, `true` for deny; the agent's wins for each key that it has, and what neither
    /// names denies.
    ///
    /// # Errors
    /// The first name, in either map, that is no group's.
    pub fn from_maps(global: &BTreeMap<String, bool>, agent: &BTreeMap<String, bool>) -> Result<Self, UnknownGroup> {
        let mut switches = Self::all_on();
        for (name, denies) in global.iter().chain(agent) {
            switches.set(name.parse()?, *denies);
        }
        Ok(switches)
    }

    /// Switches one group.
    pub fn set(&mut self, group: Group, denies: bool) {
        if denies {
            self.off &= !group.bit();
        } else {
            self.off |= group.bit();
        }
    }

    /// Whether a group denies.
    #[must_use]
    pub fn denies(self, group: Group) -> bool {
        self.off & group.bit() == 0
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn map(entries: &[(&str, bool)]) -> BTreeMap<String, bool> {
        entries.iter().map(|(name, denies)| ((*name).to_owned(), *denies)).collect()
    }

    #[test]
    fn an_unknown_group_is_an_error_that_names_the_nearest() {
        let error = Switches::from_maps(&map(&[("packge_install", false)]), &map(&[])).unwrap_err();
        assert_eq!(error.nearest, Group::PackageInstall);
        assert_eq!(error.to_string(), "`packge_install` is not a deny group; the nearest is `package_install`");
        assert!(Switches::from_maps(&map(&[]), &map(&[("*", false)])).is_err());
        assert!("Destructive_Ops".parse::<Group>().is_err());
        assert_eq!("x".repeat(1 << 20).parse::<Group>().unwrap_err().name.len(), 64);
    }

    #[test]
    fn the_agent_wins_for_each_key_and_the_rest_denies() {
        let global = map(&[("env_dump", false), ("persistence", false)]);
        let agent = map(&[("env_dump", true), ("package_install", false)]);
        let switches = Switches::from_maps(&global, &agent).unwrap();
        let off: Vec<Group> = Group::ALL.into_iter().filter(|group| !switches.denies(*group)).collect();
        assert_eq!(off, [Group::PackageInstall, Group::Persistence]);
    }

    #[test]
    fn every_name_is_read_back() {
        for group in Group::ALL {
            assert_eq!(group.as_str().parse(), Ok(group));
        }
    }
}
