//! The names of secrets. Their values never come to a plugin: the host puts them into requests at the boundary.

/// Whether the secret that the manifest declares under this name has a value; any other name is `false`.
pub fn exists(name: &str) -> bool {
    #[cfg(target_family = "wasm")]
    {
        crate::export::wasm::host::secrets::exists(name)
    }
    #[cfg(not(target_family = "wasm"))]
    {
        let _ = name;
        false
    }
}
