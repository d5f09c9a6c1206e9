//! `filter_bypass`, second part, continued: options and operands that start a program only with some of their values.

use super::Look;
use super::args::{Arg, Given, Spec, args, long_is, values};
use crate::shell::{Span, Word};

/// `-e ssh` is what rsync does anyway.
pub(super) fn rsync(words: &[Word]) -> Option<Span> {
    args(words, Spec { short: "efTB", long: &["rsh", "rsync-path"] }).find_map(|arg| match arg {
        Arg::Short('e', Some(value), word) | Arg::Long("rsh", Some(value), word)
            if value.text != "ssh" || !value.whole =>
        {
            Some(word.span)
        }
        Arg::Long(given, _, word) if given.len() >= 5 && long_is(given, "rsync-path") => Some(word.span),
        _ => None,
    })
}

/// Perl opens what it is given to read, and `ls|` or `|ls` is a program.
pub(super) fn piped_operand(look: &Look<'_>) -> Option<Span> {
    let is_code = |word: &Word| look.code().any(|code| code.word.span == word.span);
    let pipes = |word: &&Word| {
        let (first, last) = (word.prefix().trim_start(), word.literals().last().unwrap_or_default().trim_end());
        !first.starts_with('-') && (first.starts_with('|') || last.ends_with('|')) && !is_code(word)
    };
    look.args().iter().find(pipes).map(|word| word.span)
}

/// A picture of a cow is a program in Perl.
pub(super) fn cow_file(words: &[Word]) -> Option<Span> {
    values(words, Spec { short: "fWTe", long: &[] }, "f", &[])
        .find(|given| given.text.contains('/') || !given.whole)
        .map(|given| given.word.span)
}

/// Modules that are loaded before the script; what follows the script is the script's.
pub(super) fn preloads(words: &[Word]) -> Option<Span> {
    words.iter().take_while(|word| word.prefix().starts_with('-') || word.known().is_none()).find_map(|word| {
        let text = word.prefix();
        let name = text.split('=').next().unwrap_or_default();
        let loads = matches!(
            name,
            "-r" | "--require"
                | "--import"
                | "--loader"
                | "--experimental-loader"
                | "--preload"
                | "--env-file"
                | "--openssl-config"
        ) || name.starts_with("--inspect");
        loads.then_some(word.span)
    })
}

/// Settings of cargo under which it runs a program, or a file of settings, which may hold those.
pub(super) fn cargo_setting(words: &[Word]) -> Option<Span> {
    let runs = |given: &Given<'_>| {
        let name = given.text.split('=').next().unwrap_or_default().trim();
        let caches = |value: &str| matches!(value.trim_matches(['"', '\'', ' ']), "sccache" | "ccache" | "");
        let value = given.text.split_once('=').map(|(_, value)| value).unwrap_or_default();
        !given.text.contains('=')
            || !given.whole
            || ["target.", "alias.", "env.", "doc.", "credential", "registries.", "registry.", "unstable.", "host."]
                .iter()
                .any(|start| name.starts_with(start) && !(name.starts_with("target.") && name.ends_with("rustflags")))
            || (name.starts_with("build.rustc") || name.starts_with("build.rustdoc")) && !caches(value)
            || value.contains("linker=")
    };
    let own = words.split(|word| word.known() == Some("--")).next().unwrap_or_default();
    values(own, Spec { short: "pFjZC", long: &["config"] }, "", &["config"]).find(runs).map(|given| given.word.span)
}

/// Options of the Rust compiler that name a program or a library that it runs: `-C linker=./x`.
pub(super) fn compiler_option(words: &[Word]) -> Option<Span> {
    let mut before = "";
    words.iter().find_map(|word| {
        let text = word.prefix();
        let set = match (before, text) {
            ("-C" | "--codegen" | "-Z", value) => value,
            (_, value) => value.trim_start_matches("-C").trim_start_matches("--codegen=").trim_start_matches("-Z"),
        };
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        let plain = word.known().is_some() && !value.contains(['/', '\\', ' ', '$']);
        let runs = match name {
            "linker" => !plain,
            "codegen-backend" => true,
            "link-arg" | "link-args" => {
                value.contains("-fuse-ld=") && value.contains('/')
                    || value.starts_with("-B")
                    || value.contains("-wrapper")
            }
            "--runtool" | "--test-runtool" | "--test-builder" => true,
            _ => false,
        };
        before = if word.known().is_some() { text } else { "" };
        runs.then_some(word.span)
    })
}

/// PowerShell takes any beginning of `-EncodedCommand`.
pub(super) fn encoded(words: &[Word]) -> Option<Span> {
    let is_encoded = |word: &&Word| {
        let name = word.prefix().trim_start_matches(['-', '/']).to_ascii_lowercase();
        word.prefix().starts_with(['-', '/'])
            && !name.is_empty()
            && ("encodedcommand".starts_with(&name) || name == "ec")
    };
    words.iter().find(is_encoded).map(|word| word.span)
}
