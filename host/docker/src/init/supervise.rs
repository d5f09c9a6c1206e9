//! The process that stands over one program. Whatever the program starts stays below it, also what has left its session: orphans come
//! to the nearest ancestor that reaps for others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::order::Order;
use super::sys::{self, Wait};

/// What the gateway says when all is to end by itself. To kill all, it closes its end.
const TERMINATE: &[u8] = b"T";
/// How long to wait for the kernel to take down what was killed, before looking again.
const AGAIN: Duration = Duration::from_millis(5);
/// How often at most those that were found are stopped and more are looked for: more than a tree of processes can grow while
/// its stopped ones use up what the container may have.
const ROUNDS: usize = 64;

/// Starts a program and stays until nothing of it is left. Returns the status to end with.
pub fn run(descriptors: Vec<OwnedFd>) -> i32 {
    let mut descriptors = descriptors.into_iter();
    let (Some(control), Some(order), Some(stdout), Some(stderr)) =
        (descriptors.next(), descriptors.next(), descriptors.next(), descriptors.next())
    else {
        return 0;
    };
    let streams = Streams { stdin: descriptors.next(), stdout, stderr };
    // A signal mask and a descriptor of process 1's are inherited; this process has its own.
    let started = sys::child_signals().map_err(|error| fault(b'o', &error)).and_then(|children| {
        let killed = killed_for_memory();
        Ok((start(order, streams)?, children, killed))
    });
    match started {
        Err(message) => {
            let _gone = sys::send(&control, &message);
            0
        }
        Ok((program, children, killed)) => {
            let _gone = sys::send(&control, b"S");
            let status = match watch(program, &control, &children) {
                Ok(status) => status,
                // What is not known is not said, and what is left is killed by whoever sees that this process failed.
                Err(_) => return 1,
            };
            if end_all(&children).is_err() {
                return 1;
            }
            let last = status.map_or_else(|| b"G".to_vec(), |status| ending(status, killed_for_memory() > killed));
            let _gone = sys::send(&control, &last);
            0
        }
    }
}

/// Tells the gateway that a program cannot be started.
pub fn refuse(descriptors: &[OwnedFd], error: &io::Error) {
    if let Some(control) = descriptors.first() {
        let _gone = sys::send(control, &fault(b'o', error));
    }
}

struct Streams {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

fn start(order: OwnedFd, streams: Streams) -> Result<i32, Vec<u8>> {
    sys::become_subreaper().map_err(|error| fault(b'o', &error))?;
    let order = Order::read(order.into()).map_err(|error| fault(b'o', &error))?;
    std::env::set_current_dir(&order.directory).map_err(|error| fault(b'd', &error))?;
    let limits = (order.open_files, order.file_size, order.cpu_seconds);
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment)
        .stdin(streams.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    #[expect(unsafe_code, reason = "between fork and exec: makes system calls and touches no memory but its own stack")]
    unsafe {
        command.pre_exec(move || {
            sys::new_session()?;
            sys::limit(limits.0, limits.1, limits.2)
        });
    }
    let child = command.spawn().map_err(|error| fault(b'p', &error))?;
    i32::try_from(child.id()).map_err(|_| fault(b'o', &io::Error::from(ErrorKind::InvalidData)))
}

/// Until the program ends: its status; or until the gateway goes: nothing.
fn watch(program: i32, control: &OwnedFd, children: &OwnedFd) -> io::Result<Option<i32>> {
    loop {
        let [said, child] = sys::readable([control.as_raw_fd(), children.as_raw_fd()], None)?;
        if child {
            sys::drain(children);
            while let Wait::Ended(pid, status) = sys::wait_any()? {
                if pid == program {
                    return Ok(Some(status));
                }
            }
        }
        if said {
            match sys::receive(control) {
                Ok((message, _)) if message == TERMINATE => {
                    descendants()?.into_iter().for_each(|pid| sys::kill(pid, sys::SIGTERM));
                }
                Ok(_) | Err(_) => return Ok(None),
            }
        }
    }
}

/// Kills whatever is below this process and waits until it is gone.
fn end_all(children: &OwnedFd) -> io::Result<()> {
    loop {
        let mut found = BTreeSet::new();
        // What is stopped starts nothing more, so that none slips away between being found and being killed.
        for _ in 0..ROUNDS {
            let before = found.len();
            for pid in descendants()? {
                if found.insert(pid) {
                    sys::kill(pid, sys::SIGSTOP);
                }
            }
            if found.len() == before {
                break;
            }
        }
        found.into_iter().for_each(|pid| sys::kill(pid, sys::SIGKILL));
        loop {
            match sys::wait_any()? {
                Wait::Ended(..) => {}
                Wait::NoChild => return Ok(()),
                Wait::NoneEnded => break,
            }
        }
        sys::readable([children.as_raw_fd()], Some(AGAIN))?;
        sys::drain(children);
    }
}

/// All processes below this one, by what the kernel says of their parents.
fn descendants() -> io::Result<Vec<i32>> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // One that is gone by now has no file.
        let Some(parent) = fs::read(format!("/proc/{pid}/stat")).ok().and_then(|stat| parent(&stat)) else { continue };
        children.entry(parent).or_default().push(pid);
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let (mut all, mut next) = (Vec::new(), vec![own]);
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        all.extend(&below);
        next.extend(below);
    }
    Ok(all)
}

/// The parent in a line such as `7 (a name (of) any) S 1 …`.
fn parent(stat: &[u8]) -> Option<i32> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// How many processes of the container the kernel has killed for want of memory, in either version of control groups.
fn killed_for_memory() -> u64 {
    let files = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];
    let text = files.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
}

fn ending(status: i32, out_of_memory: bool) -> Vec<u8> {
    let signal = status & 0x7f;
    let (kind, value) = if signal == 0 { (b'X', status >> 8 & 0xff) } else { (b'K', signal) };
    let mut message = vec![kind, u8::from(out_of_memory)];
    message.extend(value.to_le_bytes());
    message
}

fn fault(step: u8, error: &io::Error) -> Vec<u8> {
    let mut message = vec![b'F', step];
    message.extend(error.raw_os_error().unwrap_or_default().to_le_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn a_name_cannot_pass_for_the_rest_of_the_line() {
        assert_eq!(parent(b"7 (sh) S 3 7 7 0"), Some(3));
        assert_eq!(parent(b"7 (a) S 1 (b\n) R 4 7"), Some(4));
        assert_eq!(parent(b"7 sh S 3"), None);
    }
}
