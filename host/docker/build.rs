//! Compiles process 1 of containers: without dependencies and statically, which Cargo does for a whole target or not at all.
#![expect(clippy::unwrap_used, reason = "a build may stop")]

use std::env::var_os;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/init");
    let out = PathBuf::from(var_os("OUT_DIR").unwrap()).join("init");
    let mut rustc = Command::new(var_os("RUSTC").unwrap());
    rustc
        .args(["src/init/main.rs", "--edition=2024", "--crate-name=caisson_init", "--target"])
        .arg(var_os("TARGET").unwrap());
    for option in ["target-feature=+crt-static", "panic=abort", "opt-level=s", "lto=fat", "strip=symbols"] {
        rustc.args(["-C", option]);
    }
    if let Some(linker) = var_os("RUSTC_LINKER") {
        let mut option = std::ffi::OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    let done = rustc.arg("-o").arg(&out).status().unwrap();
    assert!(
        done.success(),
        "process 1 of containers could not be linked statically: it needs the C library as an archive (`libc6-dev`, `glibc-static`)"
    );
}
