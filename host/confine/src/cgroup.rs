//! Control groups, by hand: each program gets a group of its own under the gateway's, in version 1 one per controller.

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::given::Answer;
use crate::plan::Limits;

/// Groups of ours are called this, then the gateway's process id, then a number.
const PREFIX: &str = "caisson";

const HOW: &str = "run the gateway as root, or under systemd with `Delegate=yes` and `DelegateSubgroup=gateway`";

/// Where groups can be made.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    memory: Option<Base>,
    processes: Option<Base>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Base {
    path: PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The group of one program at a time. Removed when dropped, by when its processes must have ended.
#[derive(Debug)]
pub struct Group {
    folders: Vec<PathBuf>,
    memory: Option<Base>,
    processes: Option<PathBuf>,
    /// Memory and processes, as last set.
    limits: Option<(u64, u32)>,
    /// How many processes the kernel had ended for want of memory when last asked.
    killed: u64,
}

impl Groups {
    /// Finds where groups can be made, by making one.
    pub fn find() -> (Self, Answer, Answer) {
        let (own, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
        let find = |controller, file: &str| -> Result<Base, String> {
            let bases = bases(&own, &mounts, controller);
            let mut why = format!("the `{controller}` controller is not mounted");
            for base in bases {
                sweep(&base.path);
                match base.try_out(controller, file) {
                    Ok(()) => return Ok(base),
                    Err(error) => why = format!("no group can be made in `{}`: {error}", base.path.display()),
                }
            }
            Err(why)
        };
        let (memory, processes) = (find("memory", "memory.max"), find("pids", "pids.max"));
        let answer = |found: &Result<Base, String>| match found {
            Ok(_) => Answer::Yes,
            Err(why) => Answer::No { why: why.clone(), how: HOW.into() },
        };
        let answers = (answer(&memory), answer(&processes));
        (Self { memory: memory.ok(), processes: processes.ok() }, answers.0, answers.1)
    }

    /// Whether memory is bounded by a group.
    pub fn bounds_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Makes a group, and for each of its folders the file that takes a process in.
    pub fn make(&self) -> io::Result<(Group, Vec<OwnedFd>)> {
        let name = name();
        let mut group = Group { folders: Vec::new(), memory: None, processes: None, limits: None, killed: 0 };
        if let Some(base) = &self.memory {
            let path = group.folder(base.path.join(&name))?;
            group.memory = Some(Base { path, version: base.version });
        }
        if let Some(base) = &self.processes {
            group.processes = Some(group.folder(base.path.join(&name))?);
        }
        let mut entries = Vec::new();
        for folder in &group.folders {
            entries.push(fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs"))?.into());
        }
        Ok((group, entries))
    }
}

impl Group {
    fn folder(&mut self, path: PathBuf) -> io::Result<PathBuf> {
        if !self.folders.contains(&path) {
            fs::create_dir(&path)?;
            self.folders.push(path.clone());
        }
        Ok(path)
    }

    /// Sets the limits for what runs next.
    pub fn limit(&mut self, limits: &Limits) -> io::Result<()> {
        let wanted = Some((limits.memory, limits.processes));
        if self.limits == wanted {
            return Ok(());
        }
        if let Some(Base { path, version }) = &self.memory {
            limit_memory(path, *version, limits.memory)?;
        }
        if let Some(path) = &self.processes {
            // The keeper and init are two of them.
            fs::write(path.join("pids.max"), (u64::from(limits.processes) + 2).to_string())?;
        }
        self.limits = wanted;
        Ok(())
    }

    /// Whether the kernel ended a process of this group for want of memory since this was asked last.
    pub fn ran_out_of_memory(&mut self) -> bool {
        let Some(memory) = &self.memory else { return false };
        let file = match memory.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = fs::read_to_string(memory.path.join(file)).unwrap_or_default();
        let killed = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0);
        std::mem::replace(&mut self.killed, killed) < killed
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // What cannot be removed yet is swept at the next start.
            let _busy = fs::remove_dir(folder);
        }
    }
}

impl Base {
    fn try_out(&self, controller: &str, file: &str) -> io::Result<()> {
        if self.version == Version::Two {
            delegate(&self.path, controller)?;
        }
        let folder = self.path.join(name());
        fs::create_dir(&folder)?;
        let file = if self.version == Version::One && controller == "memory" { "memory.limit_in_bytes" } else { file };
        let writable = fs::OpenOptions::new().write(true).open(folder.join(file)).map(drop);
        let entry = fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs")).map(drop);
        fs::remove_dir(&folder)?;
        writable.and(entry)
    }
}

fn limit_memory(folder: &Path, version: Version, bytes: u64) -> io::Result<()> {
    let bytes = bytes.to_string();
    match version {
        Version::One => {
            // The limit with swap is never below the one without, so it is lifted first.
            write_if_there(&folder.join("memory.memsw.limit_in_bytes"), "-1")?;
            fs::write(folder.join("memory.limit_in_bytes"), &bytes)?;
            write_if_there(&folder.join("memory.memsw.limit_in_bytes"), &bytes)
        }
        Version::Two => {
            fs::write(folder.join("memory.max"), &bytes)?;
            write_if_there(&folder.join("memory.swap.max"), "0")
        }
    }
}

/// A machine without swap accounting lacks the file, and then there is nothing to bound.
fn write_if_there(file: &Path, text: &str) -> io::Result<()> {
    match fs::OpenOptions::new().write(true).open(file) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Lets groups below `path` have the controller.
fn delegate(path: &Path, controller: &str) -> io::Result<()> {
    let given = fs::read_to_string(path.join("cgroup.subtree_control"))?;
    if given.split_whitespace().any(|name| name == controller) {
        return Ok(());
    }
    fs::write(path.join("cgroup.subtree_control"), format!("+{controller}"))
}

/// The folders in which a group with this controller might be made: the gateway's own, and in version 2 the one above, since
/// there a group with processes has no groups below it.
fn bases(own: &str, mounts: &str, controller: &str) -> Vec<Base> {
    let mut bases = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let version = if controllers.is_empty() { Version::Two } else { Version::One };
        if version == Version::One && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        let Some(folder) = mounted(mounts, version, controller, path) else { continue };
        if version == Version::Two {
            let has = fs::read_to_string(folder.join("cgroup.controllers")).unwrap_or_default();
            if !has.split_whitespace().any(|name| name == controller) {
                continue;
            }
            let above = folder.parent().filter(|above| above.join("cgroup.controllers").exists()).map(Path::to_owned);
            bases.extend(above.map(|path| Base { path, version }));
        }
        bases.insert(0, Base { path: folder, version });
    }
    bases
}

/// Where the group `path` is found, by `/proc/self/mountinfo`.
fn mounted(mounts: &str, version: Version, controller: &str, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let right = match version {
            Version::One => kind == "cgroup" && options.split(',').any(|option| option == controller),
            Version::Two => kind == "cgroup2",
        };
        let below = Path::new(path).strip_prefix(root).ok()?;
        right.then(|| Path::new(point).join(below))
    })
}

/// Removes the empty groups that gateways which are gone have left.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let mut parts = name.to_str().unwrap_or_default().split('-');
        let (prefix, pid) = (parts.next(), parts.next().and_then(|pid| pid.parse::<u32>().ok()));
        if let (Some(PREFIX), Some(pid)) = (prefix, pid)
            && !Path::new("/proc").join(pid.to_string()).exists()
        {
            let _busy = fs::remove_dir(entry.path());
        }
    }
}

fn name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{PREFIX}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const MOUNTS: &str = "\
30 25 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 25 0:27 /outer /sys/fs/cgroup/pids rw,relatime shared:3 - cgroup cgroup rw,pids
32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn a_group_outside_of_what_is_mounted_is_not_found() {
        assert_eq!(mounted(MOUNTS, Version::One, "pids", "/other"), None);
        assert_eq!(mounted(MOUNTS, Version::One, "pids", "/outer/a"), Some("/sys/fs/cgroup/pids/a".into()));
        assert_eq!(mounted(MOUNTS, Version::One, "cpu", "/"), None);
        assert_eq!(mounted(MOUNTS, Version::Two, "memory", "/a"), Some("/sys/fs/cgroup/unified/a".into()));
    }

    #[test]
    fn version_1_is_found_by_its_controller() {
        let own = "8:pids:/outer/gateway\n4:memory:/gateway\n0::/";
        let found = bases(own, MOUNTS, "memory");
        assert!(
            found.contains(&Base { path: "/sys/fs/cgroup/memory/gateway".into(), version: Version::One }),
            "{found:?}"
        );
        assert!(bases("4:cpu:/", MOUNTS, "memory").is_empty());
    }

    #[test]
    fn version_2_is_found_where_the_controllers_are_and_one_above() {
        let hierarchy = tempfile::tempdir().unwrap();
        let own = hierarchy.path().join("service/gateway");
        fs::create_dir_all(&own).unwrap();
        let mounts = format!("32 25 0:28 / {} rw - cgroup2 cgroup2 rw", hierarchy.path().display());
        assert_eq!(bases("0::/service/gateway", &mounts, "memory"), []);
        fs::write(own.join("cgroup.controllers"), "cpu pids\n").unwrap();
        assert_eq!(bases("0::/service/gateway", &mounts, "memory"), []);
        for folder in [own.as_path(), own.parent().unwrap()] {
            fs::write(folder.join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        }
        let found = bases("0::/service/gateway", &mounts, "memory");
        assert_eq!(
            found.iter().map(|base| base.path.as_path()).collect::<Vec<_>>(),
            [own.as_path(), own.parent().unwrap()]
        );
        assert!(found.iter().all(|base| base.version == Version::Two));
    }

    #[test]
    fn a_controller_is_handed_down_only_where_it_is_not_yet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cgroup.subtree_control");
        fs::write(&file, "cpu memory\n").unwrap();
        delegate(folder.path(), "memory").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "cpu memory\n");
        delegate(folder.path(), "pids").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "+pids");
    }

    #[test]
    fn a_kill_is_blamed_once() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Base { path: folder.path().to_owned(), version: Version::Two };
        let mut group = Group { folders: Vec::new(), memory: Some(memory), processes: None, limits: None, killed: 0 };
        assert!(!group.ran_out_of_memory());
        fs::write(folder.path().join("memory.events"), "oom 3\noom_kill 2\noom_group_kill 0\n").unwrap();
        assert!(group.ran_out_of_memory());
        assert!(!group.ran_out_of_memory());
    }
}
