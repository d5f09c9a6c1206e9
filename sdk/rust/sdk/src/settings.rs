//! The plugin's settings, as the operator wrote them.

use serde::de::DeserializeOwned;

use crate::ToolError;

/// The settings, read into `T`. Give every field a default (`#[serde(default)]` on the struct): settings may be empty, and off
/// wasm they always are.
pub fn get<T: DeserializeOwned>() -> Result<T, ToolError> {
    read(&raw())
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, ToolError> {
    let json = if json.trim().is_empty() { "{}" } else { json };
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        ToolError::failed(format!(
            "the plugin's settings do not fit at `{path}`: {}; ask the operator to correct them",
            error.into_inner()
        ))
    })
}

/// The settings as a JSON object.
#[cfg(target_family = "wasm")]
pub fn raw() -> String {
    crate::export::wasm::host::settings::get()
}

/// The settings as a JSON object.
#[cfg(not(target_family = "wasm"))]
pub fn raw() -> String {
    "{}".to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[derive(serde::Deserialize, Default, Debug, PartialEq)]
    #[serde(default)]
    struct Settings {
        size: u8,
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = read::<Settings>(r#"{"size":900}"#).unwrap_err();
        assert!(error.message().contains("`size`"), "{error}");
    }

    #[test]
    fn nothing_is_the_default() {
        assert_eq!(read::<Settings>("").unwrap(), Settings::default());
        assert_eq!(get::<Settings>().unwrap(), Settings::default());
    }
}
