//! One program with all that its rules ask about.

use super::operands::{self, Named};
use super::{code, places};
use crate::shell::{Input, Invocation, RedirectKind, Seen, Span, Why, Word};

/// One program in its surroundings.
pub(crate) struct Look<'a> {
    /// It.
    pub one: &'a Invocation,
    /// Everything else.
    pub seen: &'a Seen,
    /// Its name as rules know it; empty where there is none.
    pub name: &'a str,
    /// What its words and redirections may name.
    pub named: Vec<Named<'a>>,
    /// Where it runs.
    pub folders: &'a Folders,
}

/// Where a command runs.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// The workspace, absolute, without a slash at the end.
    pub workspace: String,
    /// Where `cd` may have gone so far, the workspace first. More than [`Folders::MOST`] are not followed.
    pub current: Vec<String>,
}

impl Folders {
    /// How many folders a relative word is judged against; a command that changes folder more often is judged by the first
    /// ones, and by the words themselves.
    const MOST: usize = 8;

    /// A command that starts in the workspace.
    pub(crate) fn new(workspace: &str) -> Self {
        let workspace = places::resolve(workspace, "/");
        Self { current: vec![workspace.clone()], workspace }
    }

    /// Follows `cd`, `pushd` and the folder options of `git`, `make`, `tar` and `env`.
    pub(crate) fn follow(&mut self, one: &Invocation) {
        let Some(name) = one.name() else { return };
        let target = match name {
            "cd" | "pushd" => one.args.iter().find(|word| !word.prefix().starts_with('-')),
            "git" | "make" | "tar" | "env" => one.args.windows(2).find_map(|pair| match pair {
                [option, folder] if matches!(option.known(), Some("-C" | "--chdir" | "--directory")) => Some(folder),
                _ => None,
            }),
            _ => None,
        };
        let Some(target) = target else { return };
        let text = places::text_of(target, &self.workspace);
        let reached: Vec<String> = self.current.iter().map(|base| places::resolve(&text, base)).collect();
        for folder in reached {
            if self.current.len() < Self::MOST && !self.current.contains(&folder) {
                self.current.push(folder);
            }
        }
    }
}

impl<'a> Look<'a> {
    /// Reads what the words of an invocation name.
    pub(crate) fn new(one: &'a Invocation, seen: &'a Seen, name: &'a str, folders: &'a Folders) -> Self {
        let named = operands::named(one, name, folders);
        Self { one, seen, name, named, folders }
    }

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
        self.named.iter().find(|named| fits(named)).map(|named| named.span)
    }

    /// The known text of its code, with what each is written in.
    pub(crate) fn code(&self) -> impl Iterator<Item = code::Text<'a>> {
        code::texts(self.one)
    }

    /// Whether its standard input comes from other programs.
    pub(crate) fn is_fed(&self) -> bool {
        matches!(self.one.stdin, Input::Pipe(_) | Input::Process(_))
    }

    /// The programs that may have written what it reads, through any number of pipes.
    pub(crate) fn feeders(&self) -> Vec<&'a Invocation> {
        let mut found: Vec<usize> = Vec::new();
        let mut rest: Vec<usize> = feeders_of(self.one).to_vec();
        while let Some(index) = rest.pop() {
            if found.contains(&index) {
                continue;
            }
            found.push(index);
            if let Some(one) = self.seen.invocations.get(index) {
                rest.extend_from_slice(feeders_of(one));
            }
        }
        found.into_iter().filter_map(|index| self.seen.invocations.get(index)).collect()
    }

    /// The programs whose output stands in a word.
    pub(crate) fn within(&self, word: &Word) -> impl Iterator<Item = &'a Invocation> {
        let (start, end) = (word.span.start, word.span.end);
        self.seen
            .invocations
            .iter()
            .filter(move |one| one.span.start > start && one.span.end < end && one.span.end > one.span.start)
    }

    /// Whether a word holds a variable that was set, earlier on the line, to what another command prints. Where that command
    /// only shows what anybody knows, it does not count.
    pub(crate) fn holds_output(&self, word: &Word) -> bool {
        let plain = |one: &Invocation| one.name().is_some_and(|name| PLAIN_OUTPUT.contains(&name));
        word.unknowns().any(|why| {
            let Why::Variable(name) = why else { return false };
            self.seen
                .invocations
                .iter()
                .flat_map(|one| &one.assignments)
                .any(|set| set.name == *name && has_output(&set.value) && !self.within(&set.value).all(plain))
        })
    }

    /// The here-string or here-document, if any.
    pub(crate) fn here(&self, kind: RedirectKind) -> Option<&'a Word> {
        self.one.redirects.iter().find(|redirect| redirect.kind == kind).map(|redirect| &redirect.target)
    }
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
