//! Files that a command writes and then runs: what was written is known here, or where it came from.

use super::look::Look;
use super::{code, steps};
use crate::shell::{Input, Invocation, Language, MAX_TEXT, RedirectKind, Source, Span, Word};
use std::borrow::Cow;
use std::collections::HashMap;

/// What was written into a file.
#[derive(Clone)]
pub(crate) enum What<'a> {
    /// This text, which stands in this word.
    Text(Cow<'a, str>, &'a Word),
    /// What a program downloaded.
    Download,
    /// What a program decoded.
    Decoded,
}

/// A file that was written before and is now run.
#[derive(Clone)]
pub(crate) struct Ran<'a> {
    /// What it holds.
    pub what: What<'a>,
    /// What it is run as.
    pub language: Language,
    /// Where it is run.
    pub span: Span,
}

/// The files written so far, by their paths.
pub(crate) struct Files<'a> {
    by_path: HashMap<String, What<'a>>,
    /// How many bytes of scripts will still be judged.
    left: usize,
}

impl Default for Files<'_> {
    /// Twice the longest command: a script that is written once and run a thousand times would be judged as often. What is
    /// beyond counts as what nobody can read.
    fn default() -> Self {
        Self { by_path: HashMap::new(), left: 2 * MAX_TEXT }
    }
}

/// Programs that turn text into other text that nobody can read before.
const DECODERS: &[&str] = &[
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "rev", "gpg", "gunzip", "zcat", "gzip", "xz", "bzip2",
];

impl<'a> Files<'a> {
    /// The written file that an invocation runs, as an interpreter's script or as a program.
    pub(crate) fn ran(&mut self, one: &'a Invocation, workspace: &str) -> Option<Ran<'a>> {
        if self.by_path.is_empty() {
            return None;
        }
        let script = one.code.iter().find_map(|code| match &code.source {
            Source::File(word) => Some((word, Some(code.language))),
            _ => None,
        });
        let program = || one.program.as_ref().filter(|program| program.prefix().contains('/')).map(|word| (word, None));
        let (word, language) = script.or_else(program)?;
        let what = self.by_path.get(&steps::resolve(word.known()?, workspace))?;
        let What::Text(text, _) = what else {
            return Some(Ran { what: what.clone(), language: language.unwrap_or(Language::Shell), span: word.span });
        };
        let language = language.unwrap_or_else(|| language_of(text));
        let within = self.left.checked_sub(text.len());
        self.left = within.unwrap_or(0);
        let what = if within.is_some() { what.clone() } else { What::Decoded };
        Some(Ran { what, language, span: word.span })
    }

    /// Adds what an invocation writes.
    pub(crate) fn add(&mut self, look: &Look<'a>) {
        let workspace = &look.folders.workspace;
        for redirect in look.one.redirects.iter().filter(|redirect| redirect.kind.writes()) {
            if let (Some(path), Some(what)) = (redirect.target.known(), what(look)) {
                let path = steps::resolve(path, workspace);
                // What is added to a file may be any part of it.
                match (self.by_path.get_mut(&path), what, redirect.kind) {
                    (
                        Some(What::Text(before, _)),
                        What::Text(text, _),
                        RedirectKind::Append | RedirectKind::AppendBoth,
                    ) => {
                        before.to_mut().push_str(&text);
                    }
                    (_, what, _) => {
                        self.by_path.insert(path, what);
                    }
                }
            }
        }
        let by_name = look.downloaded || super::data_exfiltration::downloads(look.name) || look.name == "tee";
        if !by_name {
            return;
        }
        for named in look.named.iter().filter(|named| named.writes && !named.redirected) {
            if let Some(what) = what(look) {
                self.by_path.insert(steps::resolve(&named.path, workspace), what);
            }
        }
        // `wget URL`, `curl -O URL`: the file has the last name of the address.
        if super::data_exfiltration::downloads(look.name) {
            let addresses = look.args().iter().filter_map(Word::known).filter(|text| text.contains('/'));
            for address in addresses {
                let name = steps::last_step(address.split(['?', '#']).next().unwrap_or_default());
                self.by_path.entry(steps::resolve(name, workspace)).or_insert(What::Download);
            }
        }
    }
}

/// What an invocation prints, as far as it matters.
fn what<'a>(look: &Look<'a>) -> Option<What<'a>> {
    if look.downloaded || super::data_exfiltration::downloads(look.name) {
        return Some(What::Download);
    }
    let decodes = |name: &str| DECODERS.contains(&name);
    match look.name {
        "cat" | "tee" if matches!(look.one.stdin, Input::Text(_)) => {
            let Input::Text(word) = &look.one.stdin else { return None };
            Some(What::Text(code::known_text(word), word))
        }
        "echo" | "printf" => {
            let text: Vec<Cow<'_, str>> = look.args().iter().map(code::known_text).collect();
            Some(What::Text(Cow::Owned(text.join(" ") + "\n"), look.args().first()?))
        }
        "tee" | "cat" => {
            let from = look.feeders().next()?;
            match from.name() {
                Some(name) if decodes(name) => Some(What::Decoded),
                Some("echo" | "printf") => {
                    let text: Vec<Cow<'_, str>> = from.args.iter().map(code::known_text).collect();
                    Some(What::Text(Cow::Owned(text.join(" ") + "\n"), from.args.first()?))
                }
                _ => None,
            }
        }
        name if decodes(name) => Some(What::Decoded),
        _ => None,
    }
}

/// The language of a script that is run as a program.
fn language_of(text: &str) -> Language {
    let first = text.lines().next().unwrap_or_default();
    let named = |name: &str| first.starts_with("#!") && first.contains(name);
    match () {
        () if named("python") => Language::Python,
        () if named("perl") => Language::Perl,
        () if named("ruby") => Language::Ruby,
        () if named("node") || named("deno") || named("bun") => Language::JavaScript,
        () if named("php") => Language::Php,
        () if named("awk") => Language::Awk,
        () => Language::Shell,
    }
}
