//! Process 1 of a container: starts what the gateway orders and takes all of it down again.
//!
//! A program of its own, without any dependency and linked statically, since a container's image may hold nothing that it could
//! be linked with. It trusts nothing that runs beside it: programs are of the same user, so they can stop or kill whatever stands over
//! them but not process 1, which the kernel shields from its own namespace. What it cannot account for ends the container.

mod filter;
mod order;
mod supervise;
mod sys;

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::exit;

use sys::{Side, Wait};

/// Where the gateway waits for this process, until it was here.
const SOCKET: &str = "/.caisson/socket";
/// Where the workspace stands.
const WORKSPACE: &str = "/workspace";

fn main() {
    // Outside of any container: holds the user namespace that it was started in until its input ends.
    if std::env::args_os().nth(1).is_some_and(|word| word == "hold") {
        let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        return;
    }
    if let Err(error) = serve() {
        eprintln!("caisson-init: {error}");
        exit(1);
    }
}

fn serve() -> std::io::Result<()> {
    // Nobody of the same user looks into this process, its descriptors, or what is forked from it.
    sys::set_dumpable(false)?;
    sys::set_no_new_privileges()?;
    filter::install()?;
    sys::close_to_others();
    let children = sys::child_signals()?;
    let gateway = sys::connect(SOCKET)?;
    sys::send(&gateway, &hello()?)?;
    let mut supervisors = BTreeSet::new();
    loop {
        let [order, child] = sys::readable([gateway.as_raw_fd(), children.as_raw_fd()], None)?;
        if child {
            sys::drain(&children);
            while let Wait::Ended(pid, status) = sys::wait_any()? {
                // Whoever stands over a program ends with success, and only when nothing of it is left. An orphan here means
                // that one was killed.
                if !supervisors.remove(&pid) || status != 0 {
                    exit(2);
                }
            }
        }
        if order {
            let (bytes, descriptors) = sys::receive(&gateway)?;
            if bytes.is_empty() {
                return Ok(());
            }
            supervisors.extend(start(descriptors));
        }
    }
}

/// What the gateway checks: which directory is the workspace here, and whether this user may change it.
fn hello() -> std::io::Result<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let workspace = std::fs::metadata(WORKSPACE)?;
    let mut message = vec![u8::from(sys::may_write(WORKSPACE))];
    message.extend(workspace.dev().to_le_bytes());
    message.extend(workspace.ino().to_le_bytes());
    Ok(message)
}

/// Starts the process that stands over one program; nothing, once that is told, where the container is full.
fn start(descriptors: Vec<OwnedFd>) -> Option<i32> {
    match sys::fork() {
        Ok(Side::Parent(pid)) => Some(pid),
        Ok(Side::Child) => exit(supervise::run(descriptors)),
        Err(error) => {
            supervise::refuse(&descriptors, &error);
            None
        }
    }
}
