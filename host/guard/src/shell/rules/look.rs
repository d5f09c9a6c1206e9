//! One program with all that its rules ask about.

use super::operands::{self, Named};
use super::written::{self, Files, Ran, What};
use super::{code, data_exfiltration, steps};
use crate::shell::{Input, Invocation, Language, RedirectKind, Seen, Source, Span, Why, Word};
use std::collections::HashSet;
use std::rc::Rc;

/// One program in its surroundings.
pub(crate) struct Look<'a> {
    /// It.
    pub one: &'a Invocation,
    /// Everything else.
    pub seen: &'a Seen,
    /// The text that all was seen in.
    pub text: &'a str,
    /// Its name as rules know it; empty where there is none.
    pub name: &'a str,
    /// What its words and redirections may name.
    pub named: Vec<Named<'a>>,
    /// The known text of its code.
    code: Vec<code::Text<'a>>,
    /// Where it runs.
    pub folders: &'a Folders,
    /// A file that it runs and that was written before it.
    pub ran: Option<Ran<'a>>,
    /// Whether what it reads, through any number of pipes, may come from a program that downloads.
    pub downloaded: bool,
    /// What the text sets variables to.
    set: Rc<Set<'a>>,
}

/// Which variables hold what other commands print, found once for all that ask.
struct Set<'a> {
    /// Set to what a command prints that does not only show what anybody knows.
    printed: HashSet<&'a str>,
    /// Set to processes that were found by their names.
    found: HashSet<&'a str>,
    /// Whether anything finds processes by their names.
    finds: bool,
}

impl<'a> Set<'a> {
    fn of(seen: &'a Seen) -> Self {
        let finds = seen.invocations.iter().any(finds_processes);
        let mut set = Self { printed: HashSet::new(), found: HashSet::new(), finds };
        for one in &seen.invocations {
            for assignment in one.assignments.iter().filter(|one| has_output(&one.value)) {
                let name = assignment.name.as_str();
                if !set.printed.contains(name) && !within(seen, &assignment.value).all(is_plain) {
                    set.printed.insert(name);
                }
                if finds && !set.found.contains(name) && within(seen, &assignment.value).any(finds_processes) {
                    set.found.insert(name);
                }
            }
            // What is read, or gone through by a loop, may be what was found.
            if finds && one.name() == Some("read") {
                set.found.extend(one.args.iter().filter_map(Word::known));
            }
        }
        if finds {
            let loops = seen.parameters.iter().filter(|one| one.operator == "in");
            set.found.extend(loops.map(|one| one.name.as_str()));
        }
        set
    }
}

/// Programs that find processes by what they are called. Who holds a port or a file is a process that was meant.
const FINDERS: &[&str] = &["pgrep", "pidof", "ps", "jps", "top", "pstree", "pkill"];

fn finds_processes(one: &Invocation) -> bool {
    one.name().is_some_and(|name| FINDERS.contains(&name))
}

fn is_plain(one: &Invocation) -> bool {
    one.name().is_some_and(|name| PLAIN_OUTPUT.contains(&name))
}

/// The programs whose output stands in a word.
fn within<'a>(seen: &'a Seen, word: &Word) -> impl Iterator<Item = &'a Invocation> + use<'a> {
    let (start, end) = (word.span.start, word.span.end);
    seen.invocations
        .iter()
        .filter(move |one| one.span.start > start && one.span.end < end && one.span.end > one.span.start)
}

/// Where a command runs.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// The workspace, absolute, without a slash at the end.
    pub workspace: String,
    /// Where `cd` may have gone so far, the workspace first. More than [`Folders::MOST`] are not followed.
    pub current: Vec<String>,
    /// The first invocation that they hold for.
    from: usize,
}

impl Folders {
    /// How many folders a relative word is judged against; a command that changes folder more often is judged by the first
    /// ones, and by the words themselves.
    const MOST: usize = 8;

    /// Follows a command from the workspace, which is resolved: one entry for the beginning, and one wherever a folder was added.
    pub(crate) fn along(workspace: &str, invocations: &[Invocation]) -> Vec<Self> {
        let mut all = vec![Self { current: vec![workspace.to_owned()], workspace: workspace.to_owned(), from: 0 }];
        for (index, one) in invocations.iter().enumerate() {
            if let Some(target) = folder_of(one)
                && let Some(last) = all.last()
                && let Some(next) = last.with(target, index)
            {
                all.push(next);
            }
        }
        all
    }

    /// With the folder that a word names, seen from each that was possible before; none where that adds nothing.
    fn with(&self, target: &Word, from: usize) -> Option<Self> {
        let text = steps::text_of(target, &self.workspace);
        let mut next = Self { from, ..self.clone() };
        for base in &self.current {
            let folder = steps::resolve(&text, base);
            if next.current.len() < Self::MOST && !next.current.contains(&folder) {
                next.current.push(folder);
            }
        }
        (next.current.len() > self.current.len()).then_some(next)
    }
}

/// The folder that an invocation goes to, or works in: `cd x`, `git -C x`.
fn folder_of(one: &Invocation) -> Option<&Word> {
    match one.name()? {
        "cd" | "pushd" => one.args.iter().find(|word| !word.prefix().starts_with('-')),
        "git" | "make" | "tar" | "env" => one.args.windows(2).find_map(|pair| match pair {
            [option, folder] if matches!(option.known(), Some("-C" | "--chdir" | "--directory")) => Some(folder),
            _ => None,
        }),
        _ => None,
    }
}

/// One look for each invocation, in one pass over them: what stands before is known when what comes after is looked at.
pub(crate) fn all<'a>(text: &'a str, seen: &'a Seen, names: &'a [String], folders: &'a [Folders]) -> Vec<Look<'a>> {
    let mut looks: Vec<Look<'a>> = Vec::with_capacity(seen.invocations.len());
    let mut files = Files::default();
    let set = Rc::new(Set::of(seen));
    let mut at = folders.iter().peekable();
    let mut here = at.next();
    for (index, (one, name)) in seen.invocations.iter().zip(names).enumerate() {
        while let Some(next) = at.next_if(|next| next.from <= index) {
            here = Some(next);
        }
        let Some(folders) = here else { break };
        let from = feeders_of(one).iter().filter_map(|feeder| looks.get(*feeder));
        let downloaded = from.into_iter().any(|look| look.downloaded || data_exfiltration::downloads(look.name));
        let named = operands::named(one, name, folders);
        let mut code: Vec<code::Text<'a>> = code::texts(one).collect();
        code.extend(statements(one, seen));
        let ran = files.ran(one, name, folders);
        if let Some(Ran { what: What::Text(text, word), language, .. }) = &ran
            && *language != Language::Shell
        {
            code.push(code::Text::new(*language, word, text.clone()));
        }
        let set = Rc::clone(&set);
        let look = Look { one, seen, text, name, named, code, folders, ran, downloaded, set };
        files.add(&look);
        looks.push(look);
    }
    looks
}

impl<'a> Look<'a> {
    /// Its arguments.
    pub(crate) fn args(&self) -> &'a [Word] {
        &self.one.args
    }

    /// Where its program stands.
    pub(crate) fn program(&self) -> Span {
        self.one.program.as_ref().map_or(self.one.span, |word| word.span)
    }

    /// The first thing named that fits.
    pub(crate) fn names(&self, fits: impl Fn(&Named<'_>) -> bool) -> Option<Span> {
        self.named.iter().find(|named| named.notable && fits(named)).map(|named| named.span)
    }

    /// Its code, as far as it is known.
    pub(crate) fn code(&self) -> impl Iterator<Item = &code::Text<'a>> {
        self.code.iter()
    }

    /// Whether its standard input comes from other programs.
    pub(crate) fn is_fed(&self) -> bool {
        matches!(self.one.stdin, Input::Pipe(_) | Input::Process(_))
    }

    /// The programs that write what it reads.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = &'a Invocation> {
        feeders_of(self.one).iter().filter_map(|index| self.seen.invocations.get(*index))
    }

    /// The programs whose output stands in a word.
    pub(crate) fn within(&self, word: &Word) -> impl Iterator<Item = &'a Invocation> + use<'a> {
        within(self.seen, word)
    }

    /// Whether a word holds a variable that was set, on the line, to what another command prints. Where that command only
    /// shows what anybody knows, it does not count.
    pub(crate) fn holds_output(&self, word: &Word) -> bool {
        word.unknowns().any(|why| matches!(why, Why::Variable(name) if self.set.printed.contains(name.as_str())))
    }

    /// Whether a word holds the number of a process that was found by its name.
    pub(crate) fn holds_found(&self, word: &Word) -> bool {
        self.set.finds
            && word.unknowns().any(|why| match why {
                Why::Variable(name) => self.set.found.contains(name.as_str()),
                Why::Input => true,
                Why::Substitution | Why::Limit => {
                    // What stands in backquotes does not show where.
                    let mut inner = self.within(word).peekable();
                    inner.peek().is_none() || inner.any(finds_processes)
                }
                _ => false,
            })
    }

    /// The here-string or here-document, if any.
    pub(crate) fn here(&self, kind: RedirectKind) -> Option<&'a Word> {
        self.one.redirects.iter().find(|redirect| redirect.kind == kind).map(|redirect| &redirect.target)
    }
}

/// What `echo` and `printf` hand to a database's client, where shells do not agree what that is: as written, and as spelled.
fn statements<'a>(one: &'a Invocation, seen: &'a Seen) -> Vec<code::Text<'a>> {
    let reads = one.code.iter().any(|code| code.language == Language::Sql && code.source == Source::Input);
    let writers = feeders_of(one).iter().filter_map(|index| seen.invocations.get(*index)).filter(|_| reads);
    let mut texts = Vec::new();
    for writer in writers.filter(|writer| matches!(writer.name(), Some("echo" | "printf"))) {
        texts.extend(writer.args.iter().map(|word| code::Text::new(Language::Sql, word, code::known_text(word))));
        if let Some(What::Text(text, word)) = written::printed(writer) {
            texts.push(code::Text::new(Language::Sql, word, text));
        }
    }
    texts
}

/// Programs whose output says nothing about files or the system.
pub(crate) const PLAIN_OUTPUT: &[&str] = &[
    "date", "echo", "printf", "seq", "expr", "basename", "dirname", "true", "jq", "tr", "cut", "sed", "head", "uuidgen",
];

fn feeders_of(one: &Invocation) -> &[usize] {
    match &one.stdin {
        Input::Pipe(indices) | Input::Process(indices) => indices,
        _ => &[],
    }
}

/// Whether any part of a word is the output of a program or comes from standard input.
pub(crate) fn has_output(word: &Word) -> bool {
    word.unknowns().any(|why| matches!(why, Why::Substitution | Why::Input | Why::Limit))
}
