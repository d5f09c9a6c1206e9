use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use caisson_confine::{Ending, Ends, packets};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, oneshot};

use crate::kept::Kept;
use crate::wire::{self, End, Report};

/// How long process 1 may take to kill everything, before its container is taken away.
const COLLAPSE: Duration = Duration::from_secs(2);
/// How long a program may take to start. Long enough for a container whose other processes take all of its time; only one that stops
/// whoever would tell of it gets there.
const FIRST_WORD: Duration = Duration::from_secs(30);

/// A program's own socket.
#[derive(Debug)]
pub struct Control {
    socket: AsyncFd<OwnedFd>,
    killed: Notify,
}

impl Control {
    pub fn new(socket: OwnedFd) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self { socket: packets::watch(socket)?, killed: Notify::new() }))
    }

    async fn next(&self) -> Option<Report> {
        Report::read(&packets::next(&self.socket).await?.0)
    }

    /// The last word about a program, or nothing where it was killed.
    async fn last(&self, container: &Kept) -> Option<Report> {
        tokio::select! {
            report = self.next() => report,
            () = self.killed.notified() => match tokio::time::timeout(COLLAPSE, self.next()).await {
                Ok(report) => report,
                Err(_late) => {
                    container.destroy();
                    self.next().await
                }
            },
        }
    }
}

impl Ends for Control {
    fn terminate(&self) {
        let _gone = packets::send(self.socket.get_ref().as_fd(), wire::TERMINATE, &[]);
    }

    fn kill(&self) {
        // What comes from the other end is still read: its end says that everything is gone.
        let _gone = rustix::net::shutdown(self.socket.get_ref(), rustix::net::Shutdown::Write);
        self.killed.notify_one();
    }
}

/// Passes on the first word about a program, waits for the last one and for the end of everything.
pub async fn watch(
    container: Arc<Kept>,
    control: Arc<Control>,
    first: oneshot::Sender<Report>,
    tell: oneshot::Sender<Ending>,
) {
    let said = tokio::time::timeout(FIRST_WORD, control.next()).await.ok().flatten();
    if let Some(report) = said {
        // Where nobody waits any more, everything is being killed.
        let _nobody_waits = first.send(report);
    }
    let last = if said == Some(Report::Started) { control.last(&container).await } else { said };
    if last.is_none() {
        // Whoever stood over the program was killed or stopped, so what the program left cannot be told from the rest.
        container.destroy();
    }
    let ending = match last {
        Some(Report::Ended { end: End::Exited(0), .. }) => Ending::Exited(0),
        Some(Report::Ended { out_of_memory: true, .. }) => Ending::OutOfMemory,
        Some(Report::Ended { end: End::Exited(code), .. }) => Ending::Exited(code),
        Some(Report::Ended { end: End::Signalled(signal), .. }) => Ending::Signalled(signal),
        Some(Report::Started | Report::Gone | Report::Failed(..)) | None => Ending::Signalled(libc::SIGKILL),
    };
    container.touch();
    drop(container);
    let _nobody_waits = tell.send(ending);
}
