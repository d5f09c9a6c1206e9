//! Sockets that keep messages apart and carry descriptors, between a gateway and what stands over a program of its.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use tokio::io::unix::AsyncFd;

/// The most bytes of one message. A plan can be larger and travels in a memory file.
const MAX_MESSAGE: usize = 4096;
/// The most descriptors of one message.
const MAX_DESCRIPTORS: usize = 8;

/// Sends `message` and descriptors in one piece.
///
/// # Errors
/// What the system says, or more than 8 descriptors.
pub fn send(socket: BorrowedFd<'_>, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    sendmsg(socket, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// One message and its descriptors; an empty message means that the other end is gone.
///
/// # Errors
/// What the system says.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    bytes.truncate(got.bytes);
    let mut descriptors = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = part {
            descriptors.extend(given);
        }
    }
    Ok((bytes, descriptors))
}

/// A socket pair that keeps messages apart, closed on exec.
///
/// # Errors
/// What the system says.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Makes a socket one that the runtime waits for.
///
/// # Errors
/// What the system or the runtime says.
pub fn watch(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    #[expect(
        unsafe_code,
        reason = "the descriptor is owned by what is returned and is not replaced or closed before it"
    )]
    unsafe { AsyncFd::register(socket) }.map_err(Into::into)
}

/// The next message and its descriptors; `None` when the other end is gone.
pub async fn next(socket: &AsyncFd<OwnedFd>) -> Option<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        let mut ready = socket.readable().await.ok()?;
        match ready.try_io(|socket| receive(socket.get_ref().as_fd())) {
            Ok(Ok(message)) => return Some(message).filter(|(bytes, _)| !bytes.is_empty()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(_)) => return None,
            Err(_would_block) => {}
        }
    }
}
