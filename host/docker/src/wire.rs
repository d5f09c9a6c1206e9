//! What gateway and process 1 of a container say to each other, over sockets that keep messages apart. The socket of a container
//! carries orders with descriptors, so that a program reads and writes pipes of the gateway's and nothing is copied on the way; each
//! program has a socket of its own for the rest.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use caisson_confine::{ChildStreams, Plan, Program, WORKSPACE, packets};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType};
use tokio::io::unix::AsyncFd;

/// Where process 1 and its socket stand in a container.
pub const FOLDER: &str = "/.caisson";
/// Names in that folder.
pub const INIT: &str = "init";
pub const SOCKET: &str = "socket";

/// To a program's own socket: everything gets SIGTERM. To end everything, the gateway closes its end.
pub const TERMINATE: &[u8] = b"T";

const ORDER: &[u8] = b"O";

/// What a container says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Whether the user in it may change the workspace.
    pub writable: bool,
    /// The device and number of the directory that is the workspace in it.
    pub workspace: (u64, u64),
}

/// What is said about a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// It runs.
    Started,
    /// Nothing runs: at this step, with this error number.
    Failed(Step, i32),
    /// It and all that it started were killed, as was asked for.
    Gone,
    /// It and all that it started have ended.
    Ended {
        end: End,
        /// Whether meanwhile the kernel killed a process of the container for want of memory.
        out_of_memory: bool,
    },
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signalled(i32),
}

/// What process 1 was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Order,
    Directory,
    Program,
}

impl Hello {
    pub fn read(message: &[u8]) -> Option<Self> {
        let (writable, rest) = message.split_first()?;
        let (device, number) = rest.split_at_checked(8)?;
        let read = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        Some(Self { writable: *writable == 1, workspace: (read(device)?, read(number)?) })
    }
}

impl Report {
    /// `None` for what no process 1 of ours says.
    pub fn read(message: &[u8]) -> Option<Self> {
        let number = |bytes: &[u8]| Some(i32::from_le_bytes(bytes.try_into().ok()?));
        match message {
            b"S" => Some(Self::Started),
            b"G" => Some(Self::Gone),
            [b'F', step, error @ ..] => {
                let step = match step {
                    b'd' => Step::Directory,
                    b'p' => Step::Program,
                    _ => Step::Order,
                };
                Some(Self::Failed(step, number(error)?))
            }
            [kind @ (b'X' | b'K'), out_of_memory, value @ ..] => {
                let value = number(value)?;
                let end = if *kind == b'X' { End::Exited(value) } else { End::Signalled(value) };
                Some(Self::Ended { end, out_of_memory: *out_of_memory == 1 })
            }
            _ => None,
        }
    }
}

/// Orders a program: its own socket, what it is, and its streams, of which no input means none.
pub async fn order(
    container: &AsyncFd<OwnedFd>,
    control: &OwnedFd,
    plan: &OwnedFd,
    ChildStreams { stdin, stdout, stderr }: &ChildStreams,
) -> io::Result<()> {
    let descriptors: Vec<BorrowedFd<'_>> =
        [control, plan, stdout, stderr].into_iter().chain(stdin).map(AsFd::as_fd).collect();
    loop {
        let mut ready = container.writable().await?;
        match ready.try_io(|socket| packets::send(socket.get_ref().as_fd(), ORDER, &descriptors)) {
            Ok(done) => return done,
            Err(_would_block) => {}
        }
    }
}

/// Whether the other end is still there. It has nothing to say where this is asked.
pub fn is_alive(socket: BorrowedFd<'_>) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    rustix::net::recv(socket, &mut [0; 1], flags).is_err_and(|error| error == Errno::AGAIN)
}

/// A socket that waits for one container, in a folder that the container is given.
pub fn listen(folder: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    // An address has room for some hundred bytes, and folders can be deeper.
    rustix::net::bind(&socket, &SocketAddrUnix::new(format!("{}/{SOCKET}", path_of(folder).display()))?)?;
    rustix::net::listen(&socket, 1)?;
    Ok(socket)
}

/// The first that comes.
pub async fn accept(listener: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    let listener = packets::watch(listener)?;
    loop {
        let mut ready = listener.readable().await?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match ready.try_io(|listener| Ok(rustix::net::accept_with(listener.get_ref(), flags)?)) {
            Ok(socket) => return packets::watch(socket?),
            Err(_would_block) => {}
        }
    }
}

/// A path that leads to what is open, whatever became of its name.
pub fn path_of(open: BorrowedFd<'_>) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", open.as_raw_fd()).into()
}

/// Puts what process 1 must know of a plan into a memory file, which has no size that a socket would refuse.
pub fn write_plan(plan: &Plan) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("plan", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(&words(plan))?;
    file.rewind()?;
    Ok(file.into())
}

fn words(plan: &Plan) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut word = |word: &[u8]| {
        bytes.extend_from_slice(word);
        bytes.push(0);
    };
    let (limits, variables) = (plan.limits, plan.environment.len() as u64);
    for number in [limits.open_files.into(), limits.file_size, limits.cpu_seconds.into(), variables] {
        word(number.to_string().as_bytes());
    }
    let directory = Path::new(WORKSPACE).join(&plan.directory);
    word(OsStr::as_bytes(directory.as_os_str()));
    for (name, value) in &plan.environment {
        word(name.as_bytes());
        word(value.as_bytes());
    }
    match &plan.program {
        Program::Shell(text) => ["/bin/sh", "-c", text].iter().for_each(|part| word(part.as_bytes())),
        Program::Command { program, arguments } => {
            word(program.as_bytes());
            arguments.iter().for_each(|argument| word(argument.as_bytes()));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_process_1_says_is_not_understood() {
        for bad in [&b""[..], b"X", b"X\0\0", b"X\0\0\0\0\0\0", b"F", b"Fd", b"Q\0\0\0\0\0"] {
            assert_eq!(Report::read(bad), None, "{bad:?}");
        }
        assert_eq!(Hello::read(&[1; 16]), None);
        assert_eq!(Hello::read(&[1; 18]), None);
    }

    #[test]
    fn what_process_1_says_is_understood() {
        assert_eq!(Report::read(b"S"), Some(Report::Started));
        assert_eq!(Report::read(b"Fd\x02\0\0\0"), Some(Report::Failed(Step::Directory, 2)));
        let ended = Report::Ended { end: End::Signalled(9), out_of_memory: true };
        assert_eq!(Report::read(b"K\x01\x09\0\0\0"), Some(ended));
        let mut hello = vec![1];
        hello.extend(7_u64.to_le_bytes());
        hello.extend(9_u64.to_le_bytes());
        assert_eq!(Hello::read(&hello), Some(Hello { writable: true, workspace: (7, 9) }));
    }

    #[test]
    fn a_plan_is_words() {
        let mut plan = Plan::new(Program::Shell("echo 'a b'".into()));
        plan.directory = "sub".into();
        plan.environment.insert("A".into(), "1".into());
        let text = String::from_utf8_lossy(&words(&plan)).into_owned();
        assert_eq!(text, "1024\x001073741824\x003600\x001\x00/workspace/sub\0A\x001\0/bin/sh\0-c\0echo 'a b'\0");
    }
}
