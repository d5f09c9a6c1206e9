//! Files that a command writes and then runs: what was written is known here, or where it came from.

use super::dangerous_paths::WRITES;
use super::look::{Folders, Look};
use super::{code, recipes, steps};
use crate::shell::words;
use crate::shell::{Input, Invocation, Language, MAX_TEXT, Place, RedirectKind, Source, Span, Word};
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
    /// What the bodies of functions print.
    by_function: HashMap<&'a str, What<'a>>,
    /// Where the output of several commands goes.
    open: Vec<Open>,
    /// Code of other languages that may write files.
    codes: Vec<&'a Word>,
    /// How many bytes of scripts and of such code will still be looked at.
    left: usize,
}

impl Default for Files<'_> {
    /// Twice the longest command: a script that is written once and run a thousand times would be judged as often. What is
    /// beyond counts as what nobody can read.
    fn default() -> Self {
        Self {
            by_path: HashMap::new(),
            by_function: HashMap::new(),
            open: Vec::new(),
            codes: Vec::new(),
            left: 2 * MAX_TEXT,
        }
    }
}

/// A file to which all goes that the commands within a part of the text print: `{ …; } > file`, `exec > file`.
struct Open {
    within: Span,
    descriptor: u32,
    paths: Vec<String>,
}

/// The most such files; nobody writes that many, and each command is held against each.
const MOST_OPEN: usize = 8;

/// Programs that turn text into other text that nobody can read before.
const DECODERS: &[&str] = &[
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "rev", "gpg", "gunzip", "zcat", "gzip", "xz", "bzip2",
];

/// Programs that change text on its way.
const FILTERS: &[&str] =
    &["sed", "gsed", "tr", "awk", "gawk", "mawk", "perl", "ruby", "python", "cut", "jq", "envsubst", "m4"];

/// Programs that give a file another name or place.
const COPIERS: &[&str] = &["cp", "mv", "ln", "install", "link", "rsync", "cat", "tee"];

impl<'a> Files<'a> {
    /// The written file that an invocation runs: as an interpreter's script, as a program, or by a tool that looks for it.
    pub(crate) fn ran(&mut self, one: &'a Invocation, name: &str, folders: &Folders) -> Option<Ran<'a>> {
        if self.by_path.is_empty() && self.codes.is_empty() {
            return None;
        }
        let script = one.code.iter().find_map(|code| match &code.source {
            Source::File(word) => Some((word, Some(code.language))),
            _ => None,
        });
        let program = || one.program.as_ref().filter(|program| program.prefix().contains('/')).map(|word| (word, None));
        let Some((word, language)) = script.or_else(program) else { return self.ran_by_tool(one, name, folders) };
        let what = self.found(word, folders)?;
        let What::Text(text, from) = what else {
            return Some(Ran { what, language: language.unwrap_or(Language::Shell), span: word.span });
        };
        let (text, language) = match language {
            Some(language) => (text, language),
            None => as_program(text),
        };
        Some(Ran { what: What::Text(text, from), language, span: word.span })
    }

    /// What is known of the file that a word names.
    fn found(&mut self, word: &Word, folders: &Folders) -> Option<What<'a>> {
        if let Some(path) = word.known() {
            let paths = folders.current.iter().map(|base| steps::resolve(path, base));
            if let Some(path) = paths.into_iter().find(|path| self.by_path.contains_key(path)) {
                let what = self.by_path.get(&path)?;
                return Some(copy(&mut self.left, what));
            }
            return self.written_by_code(path).then_some(What::Decoded);
        }
        // A pattern may be any file that it fits.
        let text = steps::text_of(word, &folders.workspace);
        let last = steps::last_step(&text);
        if !self.affords(self.by_path.len()) {
            return Some(What::Decoded);
        }
        let (_, what) = self.by_path.iter().find(|(path, _)| steps::step_may_be(last, steps::last_step(path)))?;
        Some(copy(&mut self.left, what))
    }

    /// Whether code that writes files mentions a file of this name.
    fn written_by_code(&mut self, path: &str) -> bool {
        let name = steps::last_step(path);
        let codes = std::mem::take(&mut self.codes);
        let mentioned = codes.iter().any(|code| {
            let text = code::known_text(code);
            !self.affords(text.len()) || text.contains(name) && WRITES.iter().any(|call| text.contains(call))
        });
        self.codes = codes;
        mentioned
    }

    fn affords(&mut self, length: usize) -> bool {
        spend(&mut self.left, length)
    }

    /// A file that a tool looks for by itself: `make`'s makefile, a package's scripts.
    fn ran_by_tool(&mut self, one: &'a Invocation, name: &str, folders: &Folders) -> Option<Ran<'a>> {
        let words: Vec<&str> = one.args.iter().filter_map(Word::known).collect();
        let given = |options: &[&str]| -> Vec<String> {
            let behind = words.windows(2).filter_map(|pair| match pair {
                [option, value] if options.contains(option) => Some((*value).to_owned()),
                _ => None,
            });
            let attached = words.iter().filter_map(|word| {
                let rest = options.iter().find_map(|option| word.strip_prefix(option))?;
                let rest = rest.strip_prefix('=').unwrap_or(rest);
                (!rest.is_empty()).then(|| rest.to_owned())
            });
            behind.chain(attached).collect()
        };
        let (mut paths, defaults, language): (_, &[&str], _) = match name {
            "make" | "gmake" => {
                (given(&["-f", "--file", "--makefile"]), &["GNUmakefile", "makefile", "Makefile"], Language::Make)
            }
            "just" => (given(&["-f", "--justfile"]), &["justfile", "Justfile", ".justfile"], Language::Make),
            "npm" | "pnpm" | "yarn" | "bun" => (Vec::new(), &["package.json"], Language::Make),
            "rake" => (given(&["-f", "--rakefile"]), &["Rakefile", "rakefile"], Language::Ruby),
            "pytest" | "py.test" => (Vec::new(), &["conftest.py"], Language::Python),
            "python" if words.windows(2).any(|pair| pair == ["-m", "pytest"]) => {
                (Vec::new(), &["conftest.py"], Language::Python)
            }
            _ => return None,
        };
        paths.extend(defaults.iter().map(|path| (*path).to_owned()));
        let span = one.program.as_ref().map_or(one.span, |word| word.span);
        let what = paths.iter().find_map(|path| self.found(&Word::known_text(path.as_str(), span), folders))?;
        let What::Text(text, from) = what else { return Some(Ran { what, language, span }) };
        if language != Language::Make {
            return Some(Ran { what: What::Text(text, from), language, span });
        }
        let script = match name {
            "make" | "gmake" => recipes::make_script(&text, &words),
            "just" => recipes::just_script(&text),
            _ => recipes::package_script(&text),
        };
        let what = script.map_or(What::Decoded, |script| What::Text(Cow::Owned(script), from));
        Some(Ran { what, language: Language::Shell, span })
    }

    /// Adds what an invocation writes.
    pub(crate) fn add(&mut self, look: &Look<'a>) {
        self.add_code(look);
        self.add_open(look);
        let folders = look.folders;
        let resolved =
            |path: &str| -> Vec<String> { folders.current.iter().map(|base| steps::resolve(path, base)).collect() };
        let function = match &look.one.place {
            Place::Function(name) => Some(name.as_str()),
            _ => None,
        };
        let writes = look.one.redirects.iter().filter(|redirect| redirect.kind.writes());
        let by_name = look.downloaded || super::data_exfiltration::downloads(look.name) || COPIERS.contains(&look.name);
        if function.is_none() && self.open.is_empty() && !by_name && writes.clone().next().is_none() {
            return;
        }
        let Some(what) = self.what(look) else { return };
        let mut redirected = false;
        for redirect in writes {
            redirected |= redirect.fd == Some(1);
            let Some(path) = redirect.target.known() else { continue };
            let adds = matches!(redirect.kind, RedirectKind::Append | RedirectKind::AppendBoth);
            for path in resolved(path) {
                self.put(path, what.clone(), adds);
            }
        }
        if let Some(function) = function.filter(|_| !redirected) {
            merge(self.by_function.entry(function), what.clone());
        }
        if by_name {
            for named in look.named.iter().filter(|named| named.writes && !named.redirected) {
                self.put(steps::resolve(&named.path, &folders.workspace), what.clone(), false);
            }
        }
        // `wget URL`, `curl -O URL`: the file has the last name of the address.
        if super::data_exfiltration::downloads(look.name) {
            let addresses = look.args().iter().filter_map(Word::known).filter(|text| text.contains('/'));
            for address in addresses {
                let name = steps::last_step(address.split(['?', '#']).next().unwrap_or_default());
                self.by_path.entry(steps::resolve(name, &folders.workspace)).or_insert(What::Download);
            }
        }
        self.add_to_open(look, &what, redirected);
    }

    /// What is added to a file may be any part of it.
    fn put(&mut self, path: String, what: What<'a>, adds: bool) {
        if adds {
            merge(self.by_path.entry(path), what);
        } else {
            self.by_path.insert(path, what);
        }
    }

    /// Code of other languages may write files; shells and what only prints are read elsewhere.
    fn add_code(&mut self, look: &Look<'a>) {
        let writes = |language| {
            !matches!(language, Language::Shell | Language::Sed | Language::Sql | Language::Make | Language::Editor)
        };
        self.codes.extend(look.one.code.iter().filter_map(|code| match &code.source {
            Source::Text(word) if writes(code.language) => Some(word),
            _ => None,
        }));
    }

    /// Notes where the output of a compound command, or of all that follows, goes.
    fn add_open(&mut self, look: &Look<'a>) {
        let ends = match look.name {
            "" if look.one.program.is_none() => look.one.span.end,
            "exec" if look.args().is_empty() => usize::MAX,
            _ => return,
        };
        for redirect in look.one.redirects.iter().filter(|redirect| redirect.kind.writes()) {
            let (Some(path), Some(descriptor)) = (redirect.target.known(), redirect.fd) else { continue };
            if self.open.len() < MOST_OPEN {
                let paths = look.folders.current.iter().map(|base| steps::resolve(path, base)).collect();
                self.open.push(Open { within: Span::new(look.one.span.start, ends), descriptor, paths });
            }
        }
    }

    /// Adds what an invocation prints to the files that are open around it.
    fn add_to_open(&mut self, look: &Look<'a>, what: &What<'a>, redirected: bool) {
        let span = look.one.span;
        let duplicates = |to: u32| {
            look.one.redirects.iter().any(|redirect| {
                redirect.kind == RedirectKind::Duplicate && redirect.target.known() == Some(to.to_string().as_str())
            })
        };
        let reaches = |open: &&Open| {
            open.within.start <= span.start
                && span.end <= open.within.end
                && if open.descriptor == 1 {
                    !redirected && look.one.feeds.is_empty()
                } else {
                    duplicates(open.descriptor)
                }
        };
        let paths: Vec<String> = self.open.iter().filter(reaches).flat_map(|open| open.paths.clone()).collect();
        for path in paths {
            self.put(path, what.clone(), true);
        }
    }

    /// What an invocation prints or copies, as far as it matters.
    fn what(&mut self, look: &Look<'a>) -> Option<What<'a>> {
        if look.downloaded || super::data_exfiltration::downloads(look.name) {
            return Some(What::Download);
        }
        if let Some(what) = self.by_function.get(look.name) {
            return Some(copy(&mut self.left, what));
        }
        let fed = look.is_fed() || matches!(look.one.stdin, Input::Text(_));
        let by_path = &self.by_path;
        let copied = || {
            let sources = look.named.iter().filter(|named| !named.writes || matches!(look.name, "mv" | "install"));
            let folders = &look.folders.workspace;
            sources.into_iter().find_map(|named| by_path.get(&steps::resolve(&named.path, folders)))
        };
        match look.name {
            "cat" | "tee" if matches!(look.one.stdin, Input::Text(_)) => {
                let Input::Text(word) = &look.one.stdin else { return None };
                Some(What::Text(code::known_text(word), word))
            }
            "echo" | "printf" => printed(look.one),
            "tee" | "cat" => {
                let mut feeders = look.feeders();
                let fed = feeders.find_map(|from| match from.name() {
                    Some(name) if DECODERS.contains(&name) || FILTERS.contains(&name) => Some(What::Decoded),
                    Some("echo" | "printf") => printed(from),
                    Some("cat") => {
                        let paths = from.args.iter().filter_map(Word::known);
                        let bases = &look.folders.current;
                        let mut files = paths.flat_map(|path| bases.iter().map(|base| steps::resolve(path, base)));
                        let what = files.find_map(|path| by_path.get(&path))?;
                        Some(copy(&mut self.left, what))
                    }
                    _ => None,
                });
                fed.or_else(|| copied().map(|what| copy(&mut self.left, what)))
            }
            name if DECODERS.contains(&name) => Some(What::Decoded),
            name if FILTERS.contains(&name) && (fed || copied().is_some()) => Some(What::Decoded),
            name if COPIERS.contains(&name) => copied().map(|what| copy(&mut self.left, what)),
            _ => None,
        }
    }
}

fn spend(left: &mut usize, length: usize) -> bool {
    let rest = left.checked_sub(length);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// The same again, as long as so much may still be copied.
fn copy<'a>(left: &mut usize, what: &What<'a>) -> What<'a> {
    match what {
        What::Text(text, _) if !spend(left, text.len()) => What::Decoded,
        what => what.clone(),
    }
}

/// Text behind text is one text; anything else makes the whole of it what nobody knows.
fn merge<'a, K>(entry: std::collections::hash_map::Entry<'_, K, What<'a>>, what: What<'a>) {
    use std::collections::hash_map::Entry;
    match entry {
        Entry::Vacant(empty) => drop(empty.insert(what)),
        Entry::Occupied(mut full) => match (full.get_mut(), what) {
            (What::Text(before, _), What::Text(text, _)) => before.to_mut().push_str(&text),
            (before @ What::Text(..), what) => *before = what,
            _ => {}
        },
    }
}

/// What `echo` or `printf` prints. Where that depends on the shell, every escape is taken for what it spells.
pub(super) fn printed(one: &Invocation) -> Option<What<'_>> {
    let words: Vec<Cow<'_, str>> = one.args.iter().map(code::known_text).collect();
    let texts: Vec<&str> = words.iter().map(Cow::as_ref).collect();
    let known = one.args.iter().all(|word| word.known().is_some());
    let name = one.name()?;
    let text = words::printed(name, &texts).filter(|_| known).unwrap_or_else(|| match name {
        "printf" => spelled_out(&filled(&texts)),
        _ => {
            let options = |text: &&&str| {
                text.strip_prefix('-')
                    .is_some_and(|rest| !rest.is_empty() && rest.trim_matches(['n', 'e', 'E']).is_empty())
            };
            spelled_out(&(texts.iter().skip_while(options).copied().collect::<Vec<_>>().join(" ") + "\n"))
        }
    });
    Some(What::Text(Cow::Owned(text), one.args.first()?))
}

/// A format of `printf` with its arguments in place of what begins with `%`, and what is left of them behind.
fn filled(texts: &[&str]) -> String {
    let mut texts = texts.iter().copied();
    let mut out = String::new();
    let mut parts = texts.next().unwrap_or_default().split('%');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let kind = part.find(|c: char| c.is_ascii_alphabetic());
        match kind.and_then(|at| part.get(at + 1..)) {
            Some(rest) => {
                out.push_str(texts.next().unwrap_or_default());
                out.push_str(rest);
            }
            None => out.push_str(part),
        }
    }
    for text in texts {
        out.push_str(text);
    }
    out
}

/// A text with `\n`, `\057`, `\x2f` and their kin as what they stand for.
fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let (taken, value) = escape(rest);
        out.push(value);
        rest = rest.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// What stands behind a backslash: how many bytes it takes, and the character.
fn escape(rest: &str) -> (usize, char) {
    let number = |digits: &str, radix: u32| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let run = |from: usize, most: usize, radix: u32| {
        let digits = rest.get(from..).unwrap_or_default();
        let length = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let value = digits.get(..length).and_then(|digits| number(digits, radix))?;
        Some((from + length, value))
    };
    let found = match rest.chars().next() {
        Some('n') => Some((1, '\n')),
        Some('t') => Some((1, '\t')),
        Some('r') => Some((1, '\r')),
        Some('x') => run(1, 2, 16),
        Some('u') => run(1, 4, 16),
        Some('U') => run(1, 8, 16),
        Some('0'..='7') => run(0, if rest.starts_with('0') { 4 } else { 3 }, 8),
        Some(other) => Some((other.len_utf8(), other)),
        None => None,
    };
    found.unwrap_or((0, '\\'))
}

/// What the kernel makes of a script: its language by its first line. A program that is no interpreter is given the script's
/// name, behind what else that line says.
fn as_program(text: Cow<'_, str>) -> (Cow<'_, str>, Language) {
    let first = text.lines().next().unwrap_or_default();
    let language = language_of(&text);
    let Some(line) = first.strip_prefix("#!").filter(|_| language == Language::Shell) else { return (text, language) };
    let mut words = line.split_whitespace().peekable();
    let last = |word: &str| word.rsplit('/').next().map(str::to_owned).unwrap_or_default();
    // `env` starts what stands behind its options.
    while words.next_if(|word| matches!(last(word).as_str(), "env" | "-S" | "-i" | "-vS")).is_some() {}
    let words: Vec<&str> = words.collect();
    let program = words.first().map(|word| last(word)).unwrap_or_default();
    if program.ends_with("sh") || program.is_empty() {
        return (text, language);
    }
    (Cow::Owned(words.join(" ") + " ./script"), Language::Shell)
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
