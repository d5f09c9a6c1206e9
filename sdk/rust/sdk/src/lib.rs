//! Write a Caisson plugin in Rust: a function with an argument struct becomes a tool.
//!
//! ```
//! use caisson_sdk::{Output, ToolError, plugin, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Args {
//!     /// City name
//!     city: String,
//! }
//!
//! /// Greets a city.
//! #[tool(effect = "read-only", title = "Greeter", idempotent)]
//! fn greet(args: Args) -> Result<Output, ToolError> {
//!     Ok(Output::text(format!("Hello, {}", args.city)))
//! }
//!
//! plugin!(greet);
//! # fn main() {}
//! ```
//!
//! The function returns `Result<T, ToolError>` where `T` is a [`Output`], a `String`, a `&str` or [`Json`]. The doc comment is
//! what the model reads. Options of `#[tool]`, all optional:
//!
//! | option | meaning | default |
//! | --- | --- | --- |
//! | `effect = "read-only"` | the tool changes nothing; the host refuses whatever would | `"mutating"` |
//! | `name = "…"` | the tool's name | the function's |
//! | `title = "…"` | a title for people | none |
//! | `groups("web", …)` | policy groups | none |
//! | `idempotent` | a second equal call changes nothing more | no |
//! | `cache_seconds = N` | how long an answer may be used again | not at all |
//! | `deferred` | answers at once and delivers later | no |
//! | `max_result_chars = N` | more than this is kept and shown in part | the host's |
//! | `returns = T` | the type of the structured result, with `JsonSchema` | none |
//!
//! Everything outside a component's own memory is the host's to give: files come through plain `std::fs`, the rest through the
//! modules here, requests by [`http`], programs by [`exec`]. Off wasm (in `cargo test`) the host is not there: its calls answer
//! `unavailable`, and [`http`] reaches plain HTTP servers on loopback, so that a plugin's own tests can answer its requests from a
//! fixture.

pub mod call;
mod error;
pub mod exec;
mod export;
pub mod http;
pub mod inputs;
pub mod log;
mod output;
pub mod outputs;
mod schema;
pub mod secrets;
pub mod settings;

pub use caisson_sdk_macros::tool;
pub use error::{Reason, ToolError};
pub use output::{Content, Json, Output};
pub use {schemars, serde, serde_json};

/// Lists the plugin's tools and exports them: `plugin!(get_weather, forecasts::get_forecast);`, once in the crate.
#[macro_export]
macro_rules! plugin {
    ($($tool:path),+ $(,)?) => {
        const _: () = {
            /// The plugin, as the contract sees it.
            struct Plugin;
            impl $crate::__private::Plugin for Plugin {
                fn tools() -> ::std::vec::Vec<$crate::__private::Entry> {
                    ::std::vec![$($crate::__private::Entry::of::<$tool>()),+]
                }
            }
            $crate::__export_plugin!(Plugin);
        };
    };
}

/// For the macros only: nothing in here is part of the surface.
#[doc(hidden)]
pub mod __private {
    #[cfg(target_family = "wasm")]
    pub use crate::export::wasm;
    pub use crate::export::{Description, Entry, Plugin, Tool, finish, parse};
    pub use crate::schema::{no_arguments, schema_of};
}
