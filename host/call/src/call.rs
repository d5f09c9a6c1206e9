//! What is called.

use crate::Principal;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// Identifier of one call, unique in the installation; UUID v7 in text form, so that it sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallId(pub Arc<str>);

/// Where a request comes from in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A person through a channel.
    #[default]
    Person,
    /// Another agent.
    Agent,
    /// A schedule.
    Cron,
    /// An incoming webhook.
    Webhook,
}

/// Whether a chat is with one person or with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerKind {
    /// One person.
    Direct,
    /// A group.
    Group,
}

/// What a request may assert about itself; nothing here grants anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct CallContext {
    /// Conversation, the key of rate limits and of the loop guard.
    pub session: Option<String>,
    /// Messaging channel.
    pub channel: Option<String>,
    /// Chat within the channel; part of the workspace where no user is known.
    pub chat: Option<String>,
    /// Direct or group.
    pub peer_kind: Option<PeerKind>,
    /// Team whose shared workspace the call works in.
    pub team: Option<String>,
    /// Project whose shared workspace the call works in, where no team is named.
    pub project: Option<String>,
    /// IANA time zone of the caller; UTC where absent.
    pub time_zone: Option<String>,
    /// Where the request comes from.
    pub origin: Origin,
}

/// One step of progress, as the guest reported it: untrusted text, scrubbed by the pipeline before it leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done, never falling.
    pub done: f64,
    /// Of how much, where known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// Takes progress; called from the task that runs the call, so it must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Tells a call that its caller went away. Cloned freely; `cancel` may be called from any thread.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<std::sync::atomic::AtomicBool>);

impl Cancel {
    /// Marks the call as given up by its caller.
    pub fn cancel(&self) {
        self.0.store(true, std::sync::atomic::Ordering::Release);
    }
    /// Whether the caller gave up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Acquire)
    }
}

/// One call as a door took it. `arguments` is the JSON text as received: parsed, and checked for size, duplicate keys and
/// schema, by the registry and by nobody before it.
#[derive(Clone)]
pub struct Call {
    /// Identifier.
    pub id: CallId,
    /// Who calls.
    pub principal: Principal,
    /// What the request asserts about itself.
    pub context: CallContext,
    /// The tool's name or an alias.
    pub tool: String,
    /// A JSON object as text, at most 1 MiB.
    pub arguments: String,
    /// Files that the caller attached: name, media type, bytes.
    pub inputs: Arc<[(String, String, Vec<u8>)]>,
    /// Where progress goes; `None` drops it.
    pub progress: Option<ProgressSink>,
    /// How long the call may wait for a person's answer; `None` where nobody could give one.
    pub patience: Option<Duration>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments and inputs may hold secrets, so only their sizes are shown.
        f.debug_struct("Call")
            .field("id", &self.id)
            .field("principal", &self.principal)
            .field("tool", &self.tool)
            .field("arguments_bytes", &self.arguments.len())
            .field("inputs", &self.inputs.len())
            .finish_non_exhaustive()
    }
}
