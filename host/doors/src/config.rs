//! What the operator decides about the doors.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Most bytes of a JSON body. The arguments alone may have 1 MiB, which the registry checks; the rest is for attached files
/// (base64) and the envelope.
pub const MAX_JSON_BYTES: usize = 2 << 20;

/// Configuration of the doors.
#[derive(Clone, Debug)]
pub struct DoorsConfig {
    /// Names that the `Host` header may have beside the loopback names, with or without a port: `gateway.example.com`,
    /// `gateway.example.com:8443`. Without a port any port is meant.
    pub allowed_hosts: Vec<String>,
    /// Origins that a browser may send, such as `https://console.example.com`. A request without `Origin` is not from a
    /// browser's page and passes; one with an origin that is not listed never does.
    pub allowed_origins: Vec<String>,
    /// Components that may be uploaded at once; each is held in memory whole.
    pub max_uploads: usize,
    /// Longest wait for the next piece of a request body.
    pub body_idle: Duration,
    /// Longest time for a whole request body.
    pub body_total: Duration,
    /// Longest time for the head of a request, and the longest idle time of a connection that is kept alive.
    pub header_timeout: Duration,
    /// Pause between comments on a silent event stream, which find out that the client went away.
    pub keep_alive: Duration,
    /// Ends every open event stream and session once it is cancelled; [`serve`](crate::serve) does that when it stops.
    pub stopping: CancellationToken,
}

impl Default for DoorsConfig {
    /// Loopback names only, no browser origin.
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            // 512 MiB at worst with the registry's own limit of 64 MiB.
            max_uploads: 8,
            // A client on a bad line pauses for seconds; one that pauses longer holds a connection for nothing.
            body_idle: Duration::from_secs(15),
            // 64 MiB at 220 KiB/s.
            body_total: Duration::from_secs(300),
            header_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            stopping: CancellationToken::new(),
        }
    }
}
