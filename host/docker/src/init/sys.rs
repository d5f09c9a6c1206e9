//! The system calls that the standard library does not offer, each with one safe function. Declared by hand: this program has no
//! dependencies. All structures are those of 64-bit Linux.

use std::ffi::{CString, c_char, c_int, c_long, c_short, c_ulong, c_void};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

pub const SIGKILL: c_int = 9;
pub const SIGTERM: c_int = 15;
pub const SIGSTOP: c_int = 19;
const SIGCHLD: c_int = 17;
const NO_CHILD: i32 = 10;

/// The most bytes of a message; orders lie in a memory file.
const MAX_MESSAGE: usize = 64;
/// Bytes for a header and more descriptors than any message has.
const MAX_CONTROL: usize = 64;

/// One step of a filter of system calls.
#[repr(C)]
pub struct Step {
    pub code: u16,
    /// How many steps to leave out if the test is true.
    pub yes: u8,
    /// And if it is false.
    pub no: u8,
    pub value: u32,
}

/// Which side of a fork this is.
pub enum Side {
    Parent(i32),
    Child,
}

/// What was learned of children that ended.
pub enum Wait {
    /// This one did, with this status as the kernel encodes it.
    Ended(i32, i32),
    NoneEnded,
    NoChild,
}

#[repr(C)]
struct Program {
    length: u16,
    steps: *const Step,
}

#[repr(C)]
struct Vector {
    base: *mut c_void,
    length: usize,
}

#[repr(C)]
struct Message {
    name: *mut c_void,
    name_length: u32,
    vectors: *mut Vector,
    vector_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_int,
}

/// What comes beside a message: a header, then data. Aligned as the kernel wants it.
#[repr(C)]
struct Control {
    length: usize,
    level: c_int,
    kind: c_int,
    data: [c_int; (MAX_CONTROL - 16) / 4],
}

#[repr(C)]
struct Address {
    family: u16,
    path: [c_char; 108],
}

#[repr(C)]
struct Poll {
    descriptor: c_int,
    wanted: c_short,
    found: c_short,
}

#[repr(C)]
struct SignalSet([c_ulong; 16]);

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

#[expect(unsafe_code, reason = "declared as the C library has them")]
unsafe extern "C" {
    fn access(path: *const c_char, mode: c_int) -> c_int;
    #[link_name = "connect"]
    fn c_connect(socket: c_int, address: *const Address, length: u32) -> c_int;
    #[link_name = "fork"]
    fn c_fork() -> c_int;
    #[link_name = "kill"]
    fn c_kill(pid: c_int, signal: c_int) -> c_int;
    fn getrlimit(what: c_int, limit: *mut Limit) -> c_int;
    fn poll(descriptors: *mut Poll, count: c_ulong, timeout: c_int) -> c_int;
    fn prctl(what: c_int, ...) -> c_int;
    fn read(descriptor: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn recvmsg(socket: c_int, message: *mut Message, flags: c_int) -> isize;
    #[link_name = "send"]
    fn c_send(socket: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize;
    fn setrlimit(what: c_int, limit: *const Limit) -> c_int;
    fn setsid() -> c_int;
    fn signalfd(descriptor: c_int, signals: *const SignalSet, flags: c_int) -> c_int;
    fn sigprocmask(how: c_int, signals: *const SignalSet, before: *mut SignalSet) -> c_int;
    fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn umask(mask: u32) -> u32;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
}

fn check(result: c_int) -> Result<c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn control(what: c_int, value: c_long) -> Result<()> {
    #[expect(unsafe_code, reason = "calls of this kind take numbers only")]
    check(unsafe { prctl(what, value, 0 as c_long, 0 as c_long, 0 as c_long) }).map(drop)
}

/// Whether others of the same user may look into this process.
pub fn set_dumpable(dumpable: bool) -> Result<()> {
    control(4, dumpable.into())
}

/// Executing a file gives no rights any more, in this process and all that come of it.
pub fn set_no_new_privileges() -> Result<()> {
    control(38, 1)
}

/// Orphans below this process become its children.
pub fn become_subreaper() -> Result<()> {
    control(36, 1)
}

/// Installs a filter of system calls for this process and all that come of it.
pub fn filter_calls(steps: &[Step]) -> Result<()> {
    let length = u16::try_from(steps.len()).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    let program = Program { length, steps: steps.as_ptr() };
    #[expect(unsafe_code, reason = "passes a structure and steps that live until the call is done")]
    check(unsafe { prctl(22, 2 as c_long, &raw const program) }).map(drop)
}

/// Connects to a socket that keeps messages apart.
pub fn connect(path: &str) -> Result<OwnedFd> {
    const UNIX: u16 = 1;
    const SEQPACKET_CLOEXEC: c_int = 5 | 0o2_000_000;
    let mut address = Address { family: UNIX, path: [0; 108] };
    if path.len() >= address.path.len() {
        return Err(ErrorKind::InvalidInput.into());
    }
    for (to, from) in address.path.iter_mut().zip(path.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    #[expect(unsafe_code, reason = "makes a descriptor that nobody else owns")]
    let socket = unsafe { OwnedFd::from_raw_fd(check(socket(UNIX.into(), SEQPACKET_CLOEXEC, 0))?) };
    #[expect(unsafe_code, reason = "passes one structure with its size")]
    check(unsafe { c_connect(socket.as_raw_fd(), &raw const address, 110) })?;
    Ok(socket)
}

/// Sends one message.
pub fn send(socket: &OwnedFd, message: &[u8]) -> Result<()> {
    const NO_SIGNAL: c_int = 0x4000;
    #[expect(unsafe_code, reason = "passes a slice with its length")]
    let sent = unsafe { c_send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), NO_SIGNAL) };
    if sent < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Receives one message with its descriptors; an empty one means that the other end is gone.
pub fn receive(socket: &OwnedFd) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    const CLOSE_ON_EXEC: c_int = 0x4000_0000;
    const CUT_OFF: c_int = 0x8 | 0x20;
    const HEADER: usize = 16;
    let mut bytes = [0_u8; MAX_MESSAGE];
    let mut vector = Vector { base: bytes.as_mut_ptr().cast(), length: bytes.len() };
    let mut beside = Control { length: 0, level: 0, kind: 0, data: [-1; (MAX_CONTROL - HEADER) / 4] };
    let mut message = Message {
        name: std::ptr::null_mut(),
        name_length: 0,
        vectors: &raw mut vector,
        vector_count: 1,
        control: (&raw mut beside).cast(),
        control_length: MAX_CONTROL,
        flags: 0,
    };
    #[expect(unsafe_code, reason = "every buffer lives until the call is done and is passed with its length")]
    let read = unsafe { recvmsg(socket.as_raw_fd(), &raw mut message, CLOSE_ON_EXEC) };
    let Ok(read) = usize::try_from(read) else { return Err(Error::last_os_error()) };
    let mut descriptors = Vec::new();
    if message.control_length >= HEADER && (beside.level, beside.kind) == (1, 1) {
        let count = beside.length.saturating_sub(HEADER) / 4;
        for descriptor in beside.data.into_iter().take(count) {
            #[expect(unsafe_code, reason = "the kernel just made it for this process, so nobody else owns it")]
            descriptors.push(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
    }
    if message.flags & CUT_OFF != 0 {
        return Err(Error::other("a message that is too long"));
    }
    Ok((bytes.get(..read).unwrap_or_default().to_vec(), descriptors))
}

/// Which descriptors can be read or are at their end; waits for one, or at most `timeout`.
pub fn readable<const COUNT: usize>(descriptors: [RawFd; COUNT], timeout: Option<Duration>) -> Result<[bool; COUNT]> {
    const IN: c_short = 1;
    let mut polls = descriptors.map(|descriptor| Poll { descriptor, wanted: IN, found: 0 });
    let timeout = timeout.map_or(-1, |timeout| c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX));
    #[expect(unsafe_code, reason = "passes an array with its length")]
    let found = unsafe { poll(polls.as_mut_ptr(), polls.len() as c_ulong, timeout) };
    match check(found) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok([false; COUNT]),
        Err(error) => Err(error),
        Ok(_) => Ok(polls.map(|poll| poll.found != 0)),
    }
}

/// A descriptor that can be read when a child ended. The signal is blocked from now on.
pub fn child_signals() -> Result<OwnedFd> {
    const CLOEXEC_NONBLOCK: c_int = 0o2_004_000;
    let mut set = SignalSet([0; 16]);
    if let Some(first) = set.0.first_mut() {
        *first = 1 << (SIGCHLD - 1);
    }
    set_blocked(&set)?;
    #[expect(unsafe_code, reason = "passes a set, and makes a descriptor that nobody else owns")]
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(signalfd(-1, &raw const set, CLOEXEC_NONBLOCK))?))
    }
}

fn set_blocked(set: &SignalSet) -> Result<()> {
    const SET: c_int = 2;
    #[expect(unsafe_code, reason = "passes a set and asks for nothing back")]
    check(unsafe { sigprocmask(SET, &raw const *set, std::ptr::null_mut()) }).map(drop)
}

/// Takes what is there to be read of signals.
pub fn drain(signals: &OwnedFd) {
    let mut buffer = [0_u8; 1024];
    #[expect(unsafe_code, reason = "passes a buffer with its length")]
    unsafe {
        read(signals.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len());
    }
}

/// Forks. This program has one thread.
pub fn fork() -> Result<Side> {
    #[expect(unsafe_code, reason = "one thread, so the child may do whatever the parent may")]
    let pid = check(unsafe { c_fork() })?;
    Ok(if pid == 0 { Side::Child } else { Side::Parent(pid) })
}

/// A child that ended, if there is one by now.
pub fn wait_any() -> Result<Wait> {
    const NO_HANG: c_int = 1;
    let mut status = 0;
    #[expect(unsafe_code, reason = "passes one number by reference")]
    match check(unsafe { waitpid(-1, &raw mut status, NO_HANG) }) {
        Ok(0) => Ok(Wait::NoneEnded),
        Ok(pid) => Ok(Wait::Ended(pid, status)),
        Err(error) if error.raw_os_error() == Some(NO_CHILD) => Ok(Wait::NoChild),
        Err(error) => Err(error),
    }
}

/// Signals a process, if it is still there.
pub fn kill(pid: i32, signal: c_int) {
    #[expect(
        unsafe_code,
        reason = "passes numbers; below this process no number is used again before it was waited for"
    )]
    unsafe {
        c_kill(pid, signal);
    }
}

/// Makes this process one that has no terminal and leads a group, with no signal blocked.
pub fn new_session() -> Result<()> {
    set_blocked(&SignalSet([0; 16]))?;
    #[expect(unsafe_code, reason = "takes no memory")]
    check(unsafe { setsid() }).map(drop)
}

/// What is made from now on is closed to writing by others.
pub fn close_to_others() {
    #[expect(unsafe_code, reason = "takes no memory and cannot fail")]
    unsafe {
        umask(0o022);
    }
}

/// Bounds what each process may use from now on.
pub fn limit(open_files: u64, file_size: u64, cpu_seconds: u64) -> Result<()> {
    const CPU: c_int = 0;
    const FILE_SIZE: c_int = 1;
    const CORE: c_int = 4;
    const OPEN_FILES: c_int = 7;
    // One byte writes no core file and keeps the kernel from starting the machine's own handler of crashes, which runs outside.
    let limits = [
        (CORE, 1, 1),
        (OPEN_FILES, open_files, open_files),
        (FILE_SIZE, file_size, file_size),
        // The first tells a program, the second ends it.
        (CPU, cpu_seconds, cpu_seconds.saturating_add(1)),
    ];
    for (what, soft, hard) in limits {
        let mut now = Limit { soft: 0, hard: 0 };
        #[expect(unsafe_code, reason = "passes one structure by reference")]
        check(unsafe { getrlimit(what, &raw mut now) })?;
        // What the container has cannot be raised here.
        let limit = Limit { soft: soft.min(now.hard), hard: hard.min(now.hard) };
        #[expect(unsafe_code, reason = "passes one structure by reference")]
        check(unsafe { setrlimit(what, &raw const limit) })?;
    }
    Ok(())
}

/// Whether this user may write to a directory.
pub fn may_write(path: &str) -> bool {
    const WRITE: c_int = 2;
    #[expect(unsafe_code, reason = "passes a path that ends with NUL")]
    CString::new(path).is_ok_and(|path| unsafe { access(path.as_ptr(), WRITE) } == 0)
}
