//! The version rule: what a component is built against must be something that this host has.
//!
//! The engine's linker matches a name within a track (`0.MINOR` or `MAJOR`) to whatever is registered there and compares no
//! further, so a component that needs a later function of the track would fail in the middle of its life. It is compared here,
//! at upload: older within the track is served, newer and other tracks are refused with both versions named.

use crate::value::shown;
use semver::Version;
use std::fmt;

/// A component wants something that this host lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component wants `{wants}`, this host has `{has}`")]
pub struct AbiMismatch {
    /// The nearest that the host has, such as `caisson:host@0.1.0`; `nothing of that name` where it has none.
    pub has: String,
    /// What the component wants, as it names it.
    pub wants: String,
}

/// One package that the host serves, with its interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPackage {
    /// Such as `wasi:http`.
    pub name: String,
    /// First version of the track that is served.
    pub from: Version,
    /// Latest that is served.
    pub to: Version,
    /// Interfaces that may be imported.
    pub interfaces: Vec<String>,
}

/// Everything that this host serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInterfaces {
    packages: Vec<HostPackage>,
}

impl HostInterfaces {
    /// A list of packages; the same name may stand there once for each track.
    #[must_use]
    pub fn new(packages: Vec<HostPackage>) -> Self {
        Self { packages }
    }

    /// What this build links.
    #[must_use]
    pub fn current() -> Self {
        let wasi = |name: &str, interfaces: &[&str]| package(name, [0, 2, 0], [0, 2, 12], interfaces);
        Self::new(vec![
            package("caisson:plugin", [0, 1, 0], [0, 1, 0], &["plugin-types", "tools"]),
            package(
                "caisson:host",
                [0, 1, 0],
                [0, 1, 0],
                &[
                    "failures",
                    "settings",
                    "call",
                    "exec",
                    "secrets",
                    "documents",
                    "tools",
                    "outputs",
                    "data",
                    "inputs",
                    "schedule",
                    "runtime",
                    "pages",
                ],
            ),
            wasi("wasi:io", &["error", "poll", "streams"]),
            wasi("wasi:clocks", &["monotonic-clock", "wall-clock"]),
            wasi("wasi:random", &["random", "insecure", "insecure-seed"]),
            wasi(
                "wasi:cli",
                &[
                    "environment",
                    "exit",
                    "stdin",
                    "stdout",
                    "stderr",
                    "terminal-input",
                    "terminal-output",
                    "terminal-stdin",
                    "terminal-stdout",
                    "terminal-stderr",
                ],
            ),
            wasi("wasi:filesystem", &["types", "preopens"]),
            wasi(
                "wasi:sockets",
                &[
                    "network",
                    "instance-network",
                    "ip-name-lookup",
                    "tcp",
                    "tcp-create-socket",
                    "udp",
                    "udp-create-socket",
                ],
            ),
            wasi("wasi:http", &["types", "outgoing-handler"]),
        ])
    }

    /// The packages.
    #[must_use]
    pub fn packages(&self) -> &[HostPackage] {
        &self.packages
    }
}

fn package(name: &str, from: [u64; 3], to: [u64; 3], interfaces: &[&str]) -> HostPackage {
    let version = |[major, minor, patch]: [u64; 3]| Version::new(major, minor, patch);
    HostPackage {
        name: name.into(),
        from: version(from),
        to: version(to),
        interfaces: interfaces.iter().map(|i| (*i).to_owned()).collect(),
    }
}

/// Compares what a component imports and exports with what the host has. Of exports only `caisson:` and `wasi:` ones are
/// compared; others are the component's own.
///
/// # Errors
/// The first import or export that the host lacks.
pub fn check_versions(imports: &[String], exports: &[String], host: &HostInterfaces) -> Result<(), AbiMismatch> {
    for import in imports {
        check_import(import, host)?;
    }
    exports.iter().try_for_each(|export| check_export(export, host))
}

/// Whether a component exports the tools interface of a version that the host has; otherwise its functions are tools by
/// themselves.
#[must_use]
pub fn exports_tools(exports: &[String]) -> bool {
    exports.iter().any(|export| {
        Name::parse(export).is_some_and(|name| name.package == "caisson:plugin" && name.interface == "tools")
    })
}

fn check_import(import: &str, host: &HostInterfaces) -> Result<(), AbiMismatch> {
    let Some(name) = Name::parse(import) else {
        return Err(mismatch("interfaces of packages, such as `wasi:io/streams@0.2.12`".replace('`', ""), import));
    };
    let package = track(&name, host, import)?;
    if !package.interfaces.iter().any(|interface| interface == name.interface) {
        return Err(mismatch(format!("{package} without that interface"), import));
    }
    Ok(())
}

fn check_export(export: &str, host: &HostInterfaces) -> Result<(), AbiMismatch> {
    let Some(name) = Name::parse(export) else { return Ok(()) };
    let theirs = name.package.starts_with("caisson:") || host.packages.iter().any(|p| p.name == name.package);
    if !theirs {
        return Ok(());
    }
    track(&name, host, export).map(|_| ())
}

/// The host's package of the name's track.
fn track<'h>(name: &Name<'_>, host: &'h HostInterfaces, wants: &str) -> Result<&'h HostPackage, AbiMismatch> {
    let mut packages = host.packages.iter().filter(|p| p.name == name.package).peekable();
    if packages.peek().is_none() {
        return Err(mismatch("nothing of that name".into(), wants));
    }
    let has: Vec<String> = packages.clone().map(HostPackage::to_string).collect();
    let serves = |package: &&HostPackage| {
        name.version.as_ref().is_some_and(|wanted| {
            // A draft is closed to every other version, also of its own track.
            let exact = !wanted.pre.is_empty() || !package.to.pre.is_empty();
            if exact {
                *wanted == package.to
            } else {
                same_track(wanted, &package.to) && *wanted >= package.from && *wanted <= package.to
            }
        })
    };
    packages.find(serves).ok_or_else(|| mismatch(has.join(", "), wants))
}

fn same_track(a: &Version, b: &Version) -> bool {
    a.major == b.major && (a.major != 0 || a.minor == b.minor)
}

fn mismatch(has: String, wants: &str) -> AbiMismatch {
    AbiMismatch { has, wants: shown(wants) }
}

impl fmt::Display for HostPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to {
            write!(f, "{}@{}", self.name, self.to)
        } else {
            write!(f, "{}@{} to {}", self.name, self.from, self.to)
        }
    }
}

/// `namespace:package/interface@version`.
struct Name<'n> {
    package: &'n str,
    interface: &'n str,
    version: Option<Version>,
}

impl<'n> Name<'n> {
    fn parse(name: &'n str) -> Option<Self> {
        let (path, version) = match name.split_once('@') {
            Some((path, version)) => (path, Some(Version::parse(version).ok()?)),
            None => (name, None),
        };
        let (package, interface) = path.split_once('/')?;
        package.contains(':').then_some(Self { package, interface, version })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn import(name: &str) -> Result<(), AbiMismatch> {
        check_versions(&[name.into()], &[], &HostInterfaces::current())
    }

    fn export(name: &str) -> Result<(), AbiMismatch> {
        check_versions(&[], &[name.into()], &HostInterfaces::current())
    }

    #[test]
    fn what_the_host_lacks_is_refused_with_both_versions() {
        for (name, has) in [
            ("caisson:host/settings@0.2.0", "caisson:host@0.1.0"),
            ("caisson:host/settings@0.1.7", "caisson:host@0.1.0"),
            ("caisson:host/settings@0.1.0-draft.1", "caisson:host@0.1.0"),
            ("caisson:host/settings@1.0.0", "caisson:host@0.1.0"),
            ("caisson:host/settings", "caisson:host@0.1.0"),
            ("caisson:host/teleport@0.1.0", "caisson:host@0.1.0 without that interface"),
            ("caisson:plugin/plugin-types@0.2.0", "caisson:plugin@0.1.0"),
            ("wasi:http/types@0.3.0", "wasi:http@0.2.0 to 0.2.12"),
            ("wasi:http/types@0.2.13", "wasi:http@0.2.0 to 0.2.12"),
            ("wasi:http/types@0.2.0-rc-2023-11-10", "wasi:http@0.2.0 to 0.2.12"),
            ("wasi:http/incoming-handler@0.2.0", "wasi:http@0.2.0 to 0.2.12 without that interface"),
            ("wasi:keyvalue/store@0.2.0-draft", "nothing of that name"),
            ("other:package/thing@1.0.0", "nothing of that name"),
            ("plain-name", "interfaces of packages, such as wasi:io/streams@0.2.12"),
            ("caisson:host/settings@nonsense", "interfaces of packages, such as wasi:io/streams@0.2.12"),
        ] {
            assert_eq!(import(name).unwrap_err(), AbiMismatch { has: has.into(), wants: name.into() });
        }
        for name in
            ["caisson:plugin/tools@0.2.0", "caisson:plugin/tools", "caisson:other/x@0.1.0", "wasi:cli/run@0.3.0"]
        {
            assert_eq!(export(name).unwrap_err().wants, name);
        }
    }

    #[test]
    fn what_the_host_has_and_older_within_the_track_is_served() {
        for name in [
            "caisson:host/settings@0.1.0",
            "caisson:plugin/plugin-types@0.1.0",
            "wasi:io/streams@0.2.0",
            "wasi:cli/environment@0.2.9",
            "wasi:http/outgoing-handler@0.2.12",
            "wasi:sockets/ip-name-lookup@0.2.6",
        ] {
            assert_eq!(import(name), Ok(()), "{name}");
        }
        for name in ["caisson:plugin/tools@0.1.0", "run", "my:own/api@7.0.0", "wasi:cli/run@0.2.3"] {
            assert_eq!(export(name), Ok(()), "{name}");
        }
        assert!(exports_tools(&["caisson:plugin/tools@0.1.0".into()]) && !exports_tools(&["run".into()]));
    }

    #[test]
    fn a_later_host_serves_older_components_of_its_tracks() {
        let later = HostInterfaces::new(vec![
            package("caisson:host", [0, 1, 0], [0, 1, 4], &["settings"]),
            package("caisson:host", [0, 2, 0], [0, 2, 1], &["settings"]),
        ]);
        for (name, ok) in [
            ("@0.1.0", true),
            ("@0.1.4", true),
            ("@0.1.5", false),
            ("@0.2.1", true),
            ("@0.2.2", false),
            ("@0.3.0", false),
        ] {
            assert_eq!(check_versions(&[format!("caisson:host/settings{name}")], &[], &later).is_ok(), ok, "{name}");
        }
    }
}
