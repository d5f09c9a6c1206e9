use serde::{Deserialize, Serialize};

/// Whether the machine gives something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It was tried and works.
    Yes,
    /// It was tried and does not.
    No {
        /// What the kernel said, as a sentence.
        why: String,
        /// What a person can do about it.
        how: String,
    },
}

/// What this machine gives for confinement, found by trying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The kernel's release, such as `6.18.44`.
    pub kernel: String,
    /// Whether the gateway is root and gives what it starts a user of its own.
    pub as_root: bool,
    /// Each kind of namespace by its name: `user`, `mount`, `pid`, `network`, `ipc`, `uts`, `cgroup`.
    pub namespaces: Vec<(String, Answer)>,
    /// The version of Landlock's interface; 0 where it is missing or off.
    pub landlock: u8,
    /// Whether system calls can be filtered.
    pub seccomp: Answer,
    /// Whether a whole confinement was set up and a program ran in it.
    pub confinement: Answer,
    /// Whether a control group bounds memory.
    pub memory_group: Answer,
    /// Whether a control group bounds processes. A limit of the confinement's own user does without one.
    pub process_group: Answer,
}

impl Given {
    pub(crate) fn has_namespace(&self, kind: &str) -> bool {
        self.namespaces.iter().any(|(name, answer)| name == kind && *answer == Answer::Yes)
    }
}

/// What a policy demands of a machine beyond the confinement itself, which is always demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Demand {
    /// The least version of Landlock's interface, 0 for none. At 4 it bounds TCP too, at 6 signals and abstract sockets.
    pub landlock: u8,
    /// Whether memory must be bounded over all processes together, by a control group.
    pub memory_group: bool,
    /// Whether processes must be bounded by a control group.
    pub process_group: bool,
}

impl Default for Demand {
    /// Landlock 2, the first under which a file can be renamed into another directory, as most build tools do; control groups
    /// where the machine gives them, resource limits where it does not.
    fn default() -> Self {
        Self { landlock: 2, memory_group: false, process_group: false }
    }
}

/// A demand that this machine does not meet. Nothing runs until it does or the demand is changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this machine cannot confine programs as demanded: {what}; {how}")]
pub struct Lacking {
    /// What is missing and why.
    pub what: String,
    /// How to get it.
    pub how: String,
}

impl Demand {
    /// Holds the demand against what the machine gives.
    ///
    /// # Errors
    /// The first thing that is [`Lacking`].
    pub fn check(&self, given: &Given) -> Result<(), Lacking> {
        let namespaces = given.namespaces.iter().filter(|(name, _)| name != "cgroup");
        for (name, answer) in namespaces {
            met(&format!("no {name} namespaces"), answer)?;
        }
        met("no filter of system calls", &given.seccomp)?;
        if given.landlock < self.landlock {
            return Err(Lacking {
                what: format!("Landlock `{}` is demanded and the kernel has `{}`", self.landlock, given.landlock),
                how: "take a kernel of 5.19 or later (6.7 for `4`, 6.12 for `6`) with `landlock` in its `lsm=` list, or demand less".into(),
            });
        }
        met("a trial run failed", &given.confinement)?;
        if self.memory_group {
            met("no control group for memory", &given.memory_group)?;
        }
        if self.process_group {
            met("no control group for processes", &given.process_group)?;
        }
        Ok(())
    }
}

fn met(what: &str, answer: &Answer) -> Result<(), Lacking> {
    match answer {
        Answer::Yes => Ok(()),
        Answer::No { why, how } => Err(Lacking { what: format!("{what} ({why})"), how: how.clone() }),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn no() -> Answer {
        Answer::No { why: "not permitted".into(), how: "permit it".into() }
    }

    fn all() -> Given {
        Given {
            kernel: "6.1.0".into(),
            as_root: false,
            namespaces: ["user", "mount", "cgroup"].map(|name| (name.to_owned(), Answer::Yes)).into(),
            landlock: 2,
            seccomp: Answer::Yes,
            confinement: Answer::Yes,
            memory_group: no(),
            process_group: no(),
        }
    }

    #[test]
    fn whatever_is_missing_is_named_with_the_way_to_get_it() {
        let user = Given { namespaces: vec![("user".into(), no())], ..all() };
        let lacking = Demand::default().check(&user).unwrap_err();
        assert_eq!(lacking, Lacking { what: "no user namespaces (not permitted)".into(), how: "permit it".into() });
        for given in
            [Given { seccomp: no(), ..all() }, Given { landlock: 1, ..all() }, Given { confinement: no(), ..all() }]
        {
            Demand::default().check(&given).unwrap_err();
        }
        Demand::default().check(&all()).unwrap();
    }

    #[test]
    fn control_groups_are_missed_only_where_they_are_demanded() {
        Demand { memory_group: true, ..Demand::default() }.check(&all()).unwrap_err();
        Demand { process_group: true, ..Demand::default() }.check(&all()).unwrap_err();
        let given = Given { memory_group: Answer::Yes, process_group: Answer::Yes, ..all() };
        Demand { landlock: 2, memory_group: true, process_group: true }.check(&given).unwrap();
    }
}
