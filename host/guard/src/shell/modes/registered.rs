//! Programs that run with credentials.

use super::Setting;
use crate::shell::rules::Look;
use crate::shell::{Invocation, Span};

/// A registered program that is not granted, found under its own name wherever it stands: with folders, in any case, behind
/// wrappers (each of those has an invocation of its own), or named to a program that would start it.
pub(crate) fn ungranted(setting: &Setting, look: &Look<'_>) -> Option<(Span, String)> {
    if setting.registered.is_empty() {
        return None;
    }
    let held = |name: &str| {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        (setting.registered.contains(name) && !setting.granted.contains(name)).then(|| name.to_owned())
    };
    if let Some(name) = look.one.name().and_then(held) {
        return Some((look.program(), name));
    }
    // `ln -s /usr/bin/gh x`, `cp $(which gh) x`: another name for it.
    if makes_names(look.one) {
        let taken = look.args().iter().find_map(|word| Some((word.span, held(word.basename()?)?)));
        return taken
            .filter(|(span, _)| look.args().iter().any(|word| word.span == *span && word.prefix().contains('/')));
    }
    None
}

fn makes_names(one: &Invocation) -> bool {
    matches!(one.name(), Some("ln" | "cp" | "install" | "mv" | "hash" | "alias" | "link"))
}
