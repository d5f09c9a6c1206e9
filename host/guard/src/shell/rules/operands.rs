//! Which words of a command may name a path, and which of those it writes to.
//!
//! A word is judged whole, after `=`, after `@`, after `:`, and where it is an option with its value attached. What a
//! program takes for text (`echo`, a message, a pattern) names nothing.

use super::args::{Arg, PLAIN, Spec, args, long_is};
use super::look::Folders;
use super::{places, steps};
use crate::shell::{Invocation, Word};
use std::borrow::Cow;

/// Something that a command names.
pub(crate) struct Named<'a> {
    /// The path: absolute, from `~`, or relative where it is not known to leave the workspace's own notation.
    pub path: Cow<'a, str>,
    /// As written, marks for what is not known.
    pub written: Cow<'a, str>,
    /// Whether the command may create, change or remove it.
    pub writes: bool,
    /// Whether it is the target of a redirection.
    pub redirected: bool,
    /// Whether a rule about paths may have something to say about it.
    pub notable: bool,
    /// The word's place.
    pub span: crate::shell::Span,
}

/// What the words and redirections of an invocation name.
pub(crate) fn named<'a>(one: &'a Invocation, name: &str, folders: &Folders) -> Vec<Named<'a>> {
    let mut found = Collected { named: Vec::new(), folders };
    for redirect in &one.redirects {
        use crate::shell::RedirectKind as Kind;
        if !matches!(redirect.kind, Kind::Duplicate | Kind::HereDocument | Kind::HereString) {
            found.add(&redirect.target, redirect.kind.writes(), true);
        }
    }
    for assignment in &one.assignments {
        found.add(&assignment.value, false, false);
    }
    if let Some(program) = &one.program
        && program.prefix().contains('/')
    {
        found.add(program, false, false);
    }
    if TEXT_ONLY.contains(&name) {
        return found.named;
    }
    let text = text_words(&one.args, name);
    let written = Writes::of(&one.args, name);
    for (at, word) in one.args.iter().enumerate() {
        // Code is judged as code; it names paths in its own syntax.
        let is_code = one.code.iter().any(|code| matches!(&code.source, crate::shell::Source::Text(text) if text.span == word.span && text.value == word.value));
        if !text.contains(&at) && !is_code {
            found.add(word, written.covers(at, word), false);
        }
    }
    if let Writes::Last(last) = written {
        found.add_copies(&one.args, last);
    }
    found.named
}

struct Collected<'a, 'f> {
    named: Vec<Named<'a>>,
    folders: &'f Folders,
}

impl<'a> Collected<'a, '_> {
    fn add(&mut self, word: &'a Word, writes: bool, redirected: bool) {
        let text = steps::text_of(word, &self.folders.workspace);
        // Everything after a separator is a candidate of its own; a word with many of them is a list, of which the first
        // sixteen are judged one by one and the rest as one.
        let (mut starts, mut last) = (0, 0);
        for (at, c) in text.char_indices() {
            let next = at + c.len_utf8();
            // `/folder:/other`: what ends here is one too.
            if matches!(c, ':' | ',') && starts < 16 && at > last {
                self.push(&text, last, Some(at), word, writes, redirected);
            }
            let begins = match c {
                '=' | '@' | ':' | ',' => true,
                // `-C/folder`, `-ofile`.
                '-' if at == 0 => {
                    self.push(&text, 2.min(text.len()), None, word, writes, redirected);
                    // `-xzf/folder`.
                    if let Some(at) = text.find(['/', '~']) {
                        self.push(&text, at, None, word, writes, redirected);
                    }
                    false
                }
                _ => false,
            };
            if begins && starts < 16 {
                starts += 1;
                last = next;
                self.push(&text, next, None, word, writes, redirected);
            }
        }
        self.push(&text, 0, None, word, writes, redirected);
    }

    /// `cp .bashrc ~/` writes `~/.bashrc`: into a folder, each copy keeps its name.
    fn add_copies(&mut self, words: &'a [Word], last: usize) {
        let Some(target) = words.get(last) else { return };
        let folder = steps::text_of(target, &self.folders.workspace);
        if !folder.ends_with('/') && !matches!(folder.as_ref(), "~" | "." | "..") {
            return;
        }
        for word in words.iter().take(last).filter(|word| word.prefix().contains('.')) {
            let name = steps::text_of(word, &self.folders.workspace);
            let path: Cow<'a, str> =
                Cow::Owned(steps::resolve(&format!("{folder}/{}", steps::last_step(&name)), &self.folders.workspace));
            self.named.push(Named {
                notable: true,
                written: path.clone(),
                path,
                writes: true,
                redirected: false,
                span: word.span,
            });
        }
    }

    #[expect(clippy::ptr_arg, reason = "what is borrowed stays borrowed")]
    fn push(
        &mut self,
        text: &Cow<'a, str>,
        start: usize,
        end: Option<usize>,
        word: &'a Word,
        writes: bool,
        redirected: bool,
    ) {
        let written: Cow<'a, str> = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(start..end.unwrap_or(text.len())).unwrap_or_default()),
            Cow::Owned(text) => Cow::Owned(text.get(start..end.unwrap_or(text.len())).unwrap_or_default().to_owned()),
        };
        let written = strip_file_scheme(written);
        if written.is_empty() {
            return;
        }
        let dotted = written.contains("/.") || written.contains("//") || written.starts_with('.');
        let span = word.span;
        if written.starts_with(['/', '~']) {
            let path = if dotted { Cow::Owned(steps::resolve(&written, "/")) } else { written.clone() };
            self.named.push(Named { notable: true, path, written, writes, redirected, span });
            return;
        }
        for base in &self.folders.current {
            let path = if base == &self.folders.workspace && !written.contains("..") {
                written.clone()
            } else {
                Cow::Owned(steps::resolve(&written, base))
            };
            let notable = places::is_notable(&path);
            self.named.push(Named { notable, path, written: written.clone(), writes, redirected, span });
        }
    }
}

fn strip_file_scheme(text: Cow<'_, str>) -> Cow<'_, str> {
    let strip = |text: &str| {
        let scheme = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
        if scheme { text.get(7..).and_then(|rest| rest.find('/').map(|slash| slash + 7)) } else { None }
    };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(strip(text).and_then(|at| text.get(at..)).unwrap_or(text)),
        Cow::Owned(text) => match strip(&text).and_then(|at| text.get(at..)) {
            Some(rest) => Cow::Owned(rest.to_owned()),
            None => Cow::Owned(text),
        },
    }
}

/// Programs whose arguments are text, names or numbers, never paths that they open.
pub(crate) const TEXT_ONLY: &[&str] = &[
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "exit",
    "return",
    "sleep",
    "seq",
    "expr",
    "kill",
    "cal",
    "which",
    "type",
    "command",
    "whatis",
    "apropos",
    "help",
    "shift",
    "set",
    "unset",
    "jobs",
    "wait",
    "say",
    "figlet",
    "cowsay",
    "banner",
    "tr",
    "basename",
    "dirname",
    "trap",
    "yes",
    "print",
    "notify-send",
];

const GREP: Spec = Spec {
    short: "efABCmdDtTgjMr",
    long: &[
        "regexp",
        "file",
        "after-context",
        "before-context",
        "context",
        "max-count",
        "include",
        "exclude",
        "exclude-dir",
        "type",
        "glob",
        "color",
        "colour",
        "replace",
        "pre",
    ],
};
const SCRIPT: Spec = Spec { short: "efvFlEsd", long: &["expression", "file", "assign", "field-separator"] };
const JQ: Spec = Spec { short: "fL", long: &["from-file", "indent", "library-path"] };

/// The positions of words that are text to this program.
fn text_words(words: &[Word], name: &str) -> Vec<usize> {
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" => pattern_words(
            words,
            Spec { short: if name == "rg" { "efABCmdDtTgjMr" } else { "efABCmdD" }, ..GREP },
            "e",
            "regexp",
            "f",
        ),
        "sed" | "gsed" => pattern_words(words, Spec { short: "efEsl", ..SCRIPT }, "e", "expression", "f"),
        "awk" | "gawk" | "mawk" | "nawk" => pattern_words(words, SCRIPT, "e", "source", "f"),
        "jq" | "yq" | "gojq" | "jaq" => pattern_words(words, JQ, "", "arg", "f"),
        // A format, or a moment in words.
        "date" => {
            let mut text = after_options(words, &["-d", "--date", "-s", "--set", "-I"]);
            text.extend(positions(words, |text| text.starts_with('+')));
            text
        }
        "logger" => positions(words, |text| !text.starts_with('-') && !text.starts_with('/')),
        "find" | "gfind" => after_options(
            words,
            &[
                "-name", "-iname", "-regex", "-iregex", "-user", "-group", "-perm", "-printf", "-type", "-mtime",
                "-size",
            ],
        ),
        "git" | "hg" | "svn" | "gh" | "glab" => after_options(
            words,
            &[
                "-m",
                "--message",
                "-am",
                "-S",
                "-G",
                "--grep",
                "--author",
                "--title",
                "--body",
                "--notes",
                "-t",
                "-b",
                "--description",
                "--label",
                "-sm",
                "-asm",
            ],
        ),
        _ => Vec::new(),
    }
}

/// The pattern: the first operand, unless an option gives it.
fn pattern_words(words: &[Word], spec: Spec, letters: &str, long: &str, file: &str) -> Vec<usize> {
    let mut text = Vec::new();
    let mut given = false;
    let mut first = None;
    let at = |word: &Word| words.iter().position(|other| std::ptr::eq(other, word));
    for arg in args(words, spec) {
        match arg {
            Arg::Short(letter, value, _) if letters.contains(letter) => {
                given = true;
                text.extend(value.and_then(|value| at(value.word)));
            }
            Arg::Long(name, value, _) if long_is(name, long) => {
                given = true;
                text.extend(value.and_then(|value| at(value.word)));
            }
            Arg::Short(letter, ..) if file.contains(letter) => given = true,
            Arg::Operand(word) | Arg::Open(word) if first.is_none() => first = at(word),
            _ => {}
        }
    }
    if !given {
        text.extend(first);
    }
    text
}

/// The words after these options, and these options with a value of their own (`--message=…`).
fn after_options(words: &[Word], options: &[&str]) -> Vec<usize> {
    let mut text = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let known = word.prefix();
        if options.contains(&known) && word.known().is_some() {
            text.push(at + 1);
        } else if known.starts_with("--") && known.split_once('=').is_some_and(|(name, _)| options.contains(&name)) {
            text.push(at);
        }
    }
    text
}

/// Which arguments a program writes to.
enum Writes {
    None,
    /// Every operand.
    All,
    /// The last operand, and the values of options.
    Last(usize),
    /// The words at these positions.
    At(Vec<usize>),
}

impl Writes {
    fn of(words: &[Word], name: &str) -> Self {
        match name {
            "tee" | "touch" | "mkdir" | "rmdir" | "rm" | "unlink" | "shred" | "truncate" | "mkfifo" | "mknod"
            | "mv" | "patch" | "ed" | "ex" | "vi" | "vim" | "nvim" | "nano" | "emacs" | "chattr" | "script"
            | "sponge" | "setfacl" | "chmod" | "chown" | "chgrp" | "install" | "gzip" | "bzip2" | "xz" | "split"
            | "csplit" => Self::All,
            "cp" | "ln" | "rsync" | "scp" | "gcp" | "uniq" | "zip" | "xxd" | "cpio" => Self::copies(words),
            "dd" => Self::At(positions(words, |text| text.starts_with("of="))),
            "sed" | "gsed" | "perl" | "ruby" | "yq" if edits_in_place(words, name) => Self::All,
            "awk" | "gawk" if words.iter().any(|word| word.known() == Some("inplace")) => Self::All,
            "find" => Self::At(following(words, &["-fprint", "-fprintf", "-fprint0", "-fls"])),
            "tar" | "bsdtar" | "unzip" => Self::At(following(
                words,
                &["-C", "--directory", "-f", "-cf", "-czf", "-cjf", "-cJf", "-d", "cf", "czf", "--file"],
            )),
            "7z" | "7za" | "7zr" => Self::At(following(words, &["-o"])),
            "git" => match words.first().and_then(Word::known) {
                Some("clone" | "init" | "worktree" | "archive") => Self::All,
                _ => Self::At(following(words, &["-o", "--output"])),
            },
            "wget" => Self::At(following(
                words,
                &[
                    "-O",
                    "--output-document",
                    "-o",
                    "--output-file",
                    "-a",
                    "--append-output",
                    "-P",
                    "--directory-prefix",
                    "-qO",
                    "-nvO",
                ],
            )),
            "curl" => {
                let values = super::args::values(words, super::requests::CURL, "ocD", CURL_WRITES);
                let at = |word: &Word| words.iter().position(|other| std::ptr::eq(other, word));
                Self::At(values.filter_map(|value| at(value.word)).collect())
            }
            _ if NO_OUTPUT_OPTION.contains(&name) => Self::None,
            _ => Self::At(following(
                words,
                &["-o", "--output", "--out", "-out", "--output-file", "-O", "--outfile", "--log-file"],
            )),
        }
    }

    fn copies(words: &[Word]) -> Self {
        let folder = following(words, &["-t", "--target-directory"]);
        if folder.is_empty() {
            let operands = positions(words, |text| !text.starts_with('-'));
            operands.last().map_or(Self::None, |last| Self::Last(*last))
        } else {
            Self::At(folder)
        }
    }

    fn covers(&self, at: usize, word: &Word) -> bool {
        match self {
            Self::None => false,
            Self::All => !word.prefix().starts_with('-') || word.prefix().contains('='),
            Self::Last(last) => at == *last,
            Self::At(positions) => positions.contains(&at),
        }
    }
}

/// Where `curl` writes: output, cookies, headers, traces.
const CURL_WRITES: &[&str] = &[
    "output",
    "output-dir",
    "cookie-jar",
    "dump-header",
    "trace",
    "trace-ascii",
    "stderr",
    "hsts",
    "alt-svc",
    "etag-save",
    "libcurl",
];

/// Programs whose `-o` is something else.
const NO_OUTPUT_OPTION: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ls", "ps", "ssh", "mount", "set", "test", "[", "cut", "stat",
    "cat", "head", "tail", "wc", "cd", "pgrep", "pkill", "lsof", "df", "du", "file", "readlink", "realpath", "diff",
    "cmp", "od", "jq", "less",
];

fn positions(words: &[Word], fits: impl Fn(&str) -> bool) -> Vec<usize> {
    words.iter().enumerate().filter(|(_, word)| fits(word.prefix())).map(|(at, _)| at).collect()
}

/// The words that give these options their values, attached or following.
fn following(words: &[Word], options: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.prefix();
        if options.contains(&text) && word.known().is_some() {
            found.push(at + 1);
        } else if options.iter().any(|option| {
            text.strip_prefix(option).is_some_and(|rest| {
                rest.starts_with('=')
                    || (!option.starts_with("--") && !rest.is_empty() && option.starts_with('-') && option.len() == 2)
            })
        }) {
            found.push(at);
        }
    }
    found
}

/// `sed -i`, `perl -pi`, `ruby -i`, `yq -i`.
fn edits_in_place(words: &[Word], name: &str) -> bool {
    let short = if matches!(name, "perl" | "ruby") { "eEMmIFx" } else { "efl" };
    args(words, Spec { short, ..PLAIN }).any(|arg| match arg {
        Arg::Short('i', ..) => true,
        Arg::Long(given, ..) => long_is(given, "in-place") || long_is(given, "inplace"),
        _ => false,
    })
}
