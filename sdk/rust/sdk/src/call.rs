//! The call being served: for whom it is, how long it may take, how far it is.

/// For whom a call is; while tools are listed only `tenant` and `time_zone` are set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// Unique for each call.
    pub call_id: String,
    /// Always set.
    pub tenant: String,
    /// The agent that calls.
    pub agent: Option<String>,
    /// The person for whom it calls.
    pub user: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// Where the conversation happens.
    pub channel: Option<String>,
    /// Which conversation.
    pub chat: Option<String>,
    /// The caller's IANA time zone; `UTC` where none is known.
    pub time_zone: String,
    /// A JSON object that grows with the host.
    pub extra: Option<String>,
}

pub use place::{cancelled, context, progress, remaining_ms};

#[cfg(target_family = "wasm")]
mod place {
    use super::Context;
    use crate::export::wasm::host::call;

    /// For whom this call is.
    pub fn context() -> Context {
        let current = call::current();
        Context {
            call_id: current.call_id,
            tenant: current.tenant,
            agent: current.agent,
            user: current.user,
            session: current.session,
            channel: current.channel,
            chat: current.chat,
            time_zone: current.time_zone,
            extra: current.extra,
        }
    }

    /// How many milliseconds this call may still take.
    pub fn remaining_ms() -> u32 {
        call::remaining_ms()
    }

    /// Tells how far the call is: `done` of `total`, in any unit, with a line for the person.
    pub fn progress(done: f64, total: Option<f64>, message: Option<&str>) {
        call::progress(done, total, message);
    }

    /// Whether the caller has given up; only a plugin that asks for a grace period gets to see it.
    pub fn cancelled() -> bool {
        call::cancelled()
    }
}

#[cfg(not(target_family = "wasm"))]
mod place {
    use super::Context;

    /// For whom this call is. Off wasm: for nobody, in UTC.
    pub fn context() -> Context {
        Context { time_zone: "UTC".to_owned(), ..Context::default() }
    }

    /// How many milliseconds this call may still take. Off wasm there is no limit.
    pub fn remaining_ms() -> u32 {
        u32::MAX
    }

    /// Tells how far the call is: `done` of `total`, in any unit, with a line for the person. Off wasm nobody listens.
    pub fn progress(_done: f64, _total: Option<f64>, _message: Option<&str>) {}

    /// Whether the caller has given up; off wasm it never does.
    pub fn cancelled() -> bool {
        false
    }
}
