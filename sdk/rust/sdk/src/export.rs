//! The way from the contract's two functions to the author's: what `#[tool]` and `plugin!` expand to calls.

use crate::{Output, ToolError};

/// A tool as `#[tool]` describes it; the fields are those of the contract's record.
pub struct Description {
    /// Unique in the plugin.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: String,
    /// JSON Schema of the structured result.
    pub returns: Option<String>,
    /// Whether the effect is `read-only`.
    pub read_only: bool,
    /// Whether it answers at once and delivers later.
    pub deferred: bool,
    /// Whether a second equal call changes nothing more.
    pub idempotent: bool,
    /// How long an answer may be used again.
    pub cache_seconds: Option<u32>,
    /// Policy groups.
    pub groups: Vec<String>,
    /// A larger result is kept and shown in part.
    pub max_result_chars: Option<u32>,
}

impl Description {
    /// What the closed record has no field for, as a JSON object.
    #[cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "only the export uses it, and the tests"))]
    pub(crate) fn extra(&self) -> Option<String> {
        self.max_result_chars.map(|chars| format!(r#"{{"max-result-chars":{chars}}}"#))
    }
}

/// What `#[tool]` implements.
pub trait Tool {
    /// The tool's name.
    fn name() -> &'static str;
    /// All that `list-tools` says of it.
    fn describe() -> Description;
    /// Runs it with its arguments as JSON text.
    fn call(arguments: &str) -> Result<Output, ToolError>;
}

/// One tool of a plugin.
pub struct Entry {
    /// See [`Tool::name`].
    pub name: &'static str,
    /// See [`Tool::describe`].
    pub describe: fn() -> Description,
    /// See [`Tool::call`].
    pub call: fn(&str) -> Result<Output, ToolError>,
}

impl Entry {
    /// The entry of one tool.
    pub fn of<T: Tool>() -> Self {
        Self { name: T::name(), describe: T::describe, call: T::call }
    }
}

/// What `plugin!` implements.
pub trait Plugin {
    /// Every tool, in the order of the list.
    fn tools() -> Vec<Entry>;
}

/// Reads the arguments; the error names the place that does not fit.
pub fn parse<T: serde::de::DeserializeOwned>(arguments: &str) -> Result<T, ToolError> {
    let mut reader = serde_json::Deserializer::from_str(arguments);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.into_inner();
        let place = if path == "." { String::new() } else { format!(" at `{path}`") };
        ToolError::invalid_arguments(format!("the arguments do not fit{place}: {problem}"))
    })
}

/// The tool's answer as one type; what went wrong while it was put together comes out here.
pub fn finish<T: Into<Output>>(answer: Result<T, ToolError>) -> Result<Output, ToolError> {
    let mut output: Output = answer?.into();
    match output.fault.take() {
        Some(fault) => Err(fault),
        None => Ok(output),
    }
}

/// Calls the tool of that name.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "only the export uses it, and the tests"))]
pub(crate) fn dispatch<P: Plugin>(name: &str, arguments: &str) -> Result<Output, ToolError> {
    let tools = P::tools();
    match tools.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.call)(arguments),
        None => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            Err(ToolError::not_found(format!("this plugin has no tool `{name}`; it has {}", names.join(", "))))
        }
    }
}

/// Off wasm there is no one to export to; the list is still checked.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_plugin {
    ($plugin:ident) => {
        const _: fn() -> ::std::vec::Vec<$crate::__private::Entry> = <$plugin as $crate::__private::Plugin>::tools;
    };
}

#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_plugin {
    ($plugin:ident) => {
        impl $crate::__private::wasm::Guest for $plugin {
            fn list_tools() -> ::core::result::Result<::std::vec::Vec<$crate::__private::wasm::Tool>, $crate::__private::wasm::Error> {
                $crate::__private::wasm::list::<$plugin>()
            }
            fn call_tool(
                name: ::std::string::String,
                arguments: ::std::string::String,
            ) -> ::core::result::Result<$crate::__private::wasm::Output, $crate::__private::wasm::Error> {
                $crate::__private::wasm::call::<$plugin>(&name, &arguments)
            }
        }
        $crate::__private::wasm::export_bindings!($plugin with_types_in $crate::__private::wasm);
    };
}

#[cfg(target_family = "wasm")]
pub mod wasm;

#[cfg(test)]
mod tests;
