//! The calls that have no safe wrapper elsewhere, each with one.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which side of a fork this is.
pub enum Side {
    Parent(Pid),
    Child,
}

/// The namespaces that every program gets of its own, but that of mounts: it is a copy of what is mounted, and so is made at the
/// last moment.
pub const NAMESPACES: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// Forks, with the child in new namespaces. The caller has one thread.
pub fn fork(namespaces: i32) -> io::Result<Side> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // The order of the arguments after the stack differs between machines, but all are null.
    #[expect(unsafe_code, reason = "without CLONE_VM this is fork; the stub has one thread, so the child may allocate")]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(check(pid)?).ok().and_then(Pid::from_raw) {
        Some(pid) => Ok(Side::Parent(pid)),
        None => Ok(Side::Child),
    }
}

/// Moves this process into a namespace of its own, of users or of mounts.
pub fn enter_new(namespace: UnshareFlags) -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "no caller unshares the descriptor table, which is what makes the general call unsafe"
    )]
    unsafe { rustix::thread::unshare_unsafe(namespace) }.map_err(Into::into)
}

/// Sets attributes of a mount, private from now on; of all mounts below it too where `recursive`.
pub fn set_mount(tree: BorrowedFd<'_>, set: u64, recursive: bool, owners: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: if owners.is_some() { set | libc::MOUNT_ATTR_IDMAP } else { set },
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: owners.map_or(0, |descriptor| u64::try_from(descriptor.as_raw_fd()).unwrap_or(0)),
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    #[expect(unsafe_code, reason = "passes one structure with its size")]
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(done).map(drop)
}

/// What [`close_from`] does with the descriptors.
#[derive(Clone, Copy)]
pub enum Close {
    Now,
    OnExec,
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: u32, when: Close) -> io::Result<()> {
    let flags = match when {
        Close::Now => 0,
        Close::OnExec => libc::CLOSE_RANGE_CLOEXEC,
    };
    #[expect(unsafe_code, reason = "`Now` is used before anything owns a descriptor; `OnExec` leaves all open")]
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) };
    check(done).map(drop)
}

/// Blocks SIGCHLD and returns a descriptor that can be read when a child ended.
pub fn child_signals() -> io::Result<OwnedFd> {
    #[expect(unsafe_code, reason = "a signal set on the stack, filled before it is used")]
    let descriptor: RawFd = unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()).into())?;
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    check(descriptor.into())?;
    #[expect(unsafe_code, reason = "just made, owned by nobody")]
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Gives every signal its default again, since a program inherits which are ignored. The kernel's own call, since the C
/// library keeps two to itself and would leave them as they were.
pub fn default_signals() {
    /// The kernel's structure: handler, flags, restorer, mask; all zero is the default.
    static DEFAULT: [u64; 4] = [0; 4];
    for signal in 1..=64 {
        #[expect(
            unsafe_code,
            reason = "sets no handler, so no code of ours can run in one; those that may not be set fail"
        )]
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const DEFAULT, 0_usize, size_of::<u64>());
        }
    }
}

/// Blocks no signal any more.
pub fn unblock_signals() -> io::Result<()> {
    #[expect(unsafe_code, reason = "a signal set on the stack, filled before it is used")]
    let done = unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut())
    };
    check(done.into()).map(drop)
}

/// Signals every process that this one may signal, but itself. Only for process 1 of a namespace.
pub fn terminate_all() {
    #[expect(unsafe_code, reason = "takes no memory; the namespace of process 1 bounds what is reached")]
    unsafe {
        libc::kill(-1, libc::SIGTERM);
    }
}

/// Brings up the loopback device of this network namespace.
pub fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    #[expect(unsafe_code, reason = "an all-zero request is a valid one")]
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    #[expect(unsafe_code, reason = "passes the structure that this request takes")]
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    check(done.into()).map(drop)
}

/// Ends this process at once, without running what a normal end would, in a process that shares its memory's past.
pub fn exit(code: i32) -> ! {
    #[expect(unsafe_code, reason = "does not return")]
    unsafe {
        libc::_exit(code)
    }
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The version of Landlock's interface that the crate and the kernel share; 0 for none.
pub fn landlock_version() -> u8 {
    /// The newest that the rules are written for.
    const KNOWN: libc::c_long = 6;
    const ASK: libc::c_long = 1;
    #[expect(unsafe_code, reason = "asks for a number and passes no memory")]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, ASK) };
    u8::try_from(version.clamp(0, KNOWN)).unwrap_or(0)
}

/// Whether a filter of system calls can be installed that ends a process.
pub fn can_kill_by_filter() -> io::Result<()> {
    const IS_AVAILABLE: libc::c_long = 2;
    let action: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    #[expect(unsafe_code, reason = "passes one number by reference")]
    let done = unsafe { libc::syscall(libc::SYS_seccomp, IS_AVAILABLE, 0, &raw const action) };
    check(done).map(drop)
}
