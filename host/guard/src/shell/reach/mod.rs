//! From the tree to everything that may start: commands in the order of running, then whatever their words start.

mod commands;
mod interpreters;
mod languages;
mod options;
mod prefixes;
mod remote;
mod shells;
mod spread;
mod unwrap;
mod wrappers;

use super::seen::{
    Dialect, Fault, Input, Invocation, MAX_TEXT, MAX_WORDS, MAX_WRAPPERS, Node, Place, Seen, Span, Unparsed, Via, Word,
};
use super::syntax::{self, RawWord, Tally};
use super::words::Values;
use std::rc::Rc;

/// The most writers that a reader of a pipe is told, and the other way round: with thousands on each side, the pairs would
/// outgrow the text. A reader with any writer whose text is not known is fed by something unknown, whoever else writes.
const MOST_PEERS: usize = 64;

/// How many bytes expansions and code inside words may come to, for each byte of the text.
const GROWTH: usize = 8;

/// Follows one reading of a text.
pub(super) struct Scan {
    pub(super) dialect: Dialect,
    pub(super) tally: Tally,
    pub(super) values: Values,
    /// Whether braces are expanded.
    pub(super) braces: bool,
    /// Bytes that expansions may still add.
    pub(super) budget: usize,
    /// Bytes of code inside words that may still be read.
    code_budget: usize,
    /// Words that expansions made.
    pub(super) expanded: usize,
    /// Words that wrappers handed on.
    copied: usize,
    /// Where a value holds a substitution that would run if a number were computed from it.
    pub(super) runs_if_computed: Option<Span>,
    /// The standard input that `exec` left to what follows.
    moved: Option<Input>,
    /// Whether a default of `${name:-…}` was left open since this was last cleared.
    pub(super) guessed: bool,
    /// Whether such defaults are taken.
    pub(super) defaults: bool,
    invocations: Vec<Invocation>,
    /// For each invocation, how many substitutions it stands in.
    levels: Vec<usize>,
    outline: Option<Vec<Node>>,
}

/// Where evaluation stands.
#[derive(Clone)]
pub(super) struct Context<'s> {
    /// Bodies of the here-documents of this text.
    pub(super) bodies: &'s [RawWord],
    place: Place,
    via: Vec<Via>,
    conditional: bool,
    stdin: Input,
    /// The text of the pipe on standard input, where it is known.
    piped: Option<Rc<str>>,
    level: usize,
    depth: usize,
    outer: Option<Span>,
}

impl<'s> Context<'s> {
    /// The same context for commands that read one after another: once the first has read a part, nobody knows what the text is
    /// that the next one gets.
    pub(super) fn shared(&self) -> Context<'s> {
        Context { stdin: shared(self.stdin.clone()), piped: None, ..self.clone() }
    }

    /// An invocation of nothing yet, in this context.
    fn invocation(&self, span: Span) -> Invocation {
        Invocation {
            program: None,
            args: Vec::new(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: Input::default(),
            feeds: Vec::new(),
            via: self.via.clone(),
            code: Vec::new(),
            place: self.place.clone(),
            conditional: self.conditional,
            span,
        }
    }

    /// The same context, fed by somebody who is not known.
    pub(super) fn fed(&self) -> Context<'s> {
        Context { stdin: Input::Pipe(Vec::new()), piped: None, ..self.clone() }
    }

    /// The span to show for something of this text.
    pub(super) fn span(&self, span: Span) -> Span {
        self.outer.unwrap_or(span)
    }
}

/// A standard input that several commands read.
fn shared(stdin: Input) -> Input {
    match stdin {
        Input::Text(_) => Input::Pipe(Vec::new()),
        other => other,
    }
}

/// Reads a text and follows it. The outline is made only where a person asks, since it repeats the text.
pub(super) fn see(text: &str, dialect: Dialect, outline: bool) -> Result<(Seen, Vec<Node>), Unparsed> {
    let first = if dialect == Dialect::Posix { Dialect::Posix } else { Dialect::Bash };
    let mut scan = Scan::new(text, first, outline);
    scan.whole(text)?;
    let differs = scan.tally.differs && dialect == Dialect::Either;
    let mut seen = scan.finish();
    let outline = scan.outline.take().unwrap_or_default();
    if differs {
        let mut other = Scan::new(text, Dialect::Posix, false);
        other.whole(text)?;
        merge(&mut seen, other.finish());
    }
    Ok((seen, outline))
}

/// Adds the second reading behind the first.
fn merge(seen: &mut Seen, other: Seen) {
    let shift = seen.invocations.len();
    let moved = |indices: &mut Vec<usize>| indices.iter_mut().for_each(|index| *index += shift);
    for mut invocation in other.invocations {
        moved(&mut invocation.feeds);
        if let Input::Pipe(writers) | Input::Process(writers) = &mut invocation.stdin {
            moved(writers);
        }
        invocation.via.iter_mut().for_each(|via| via.invocation += shift);
        seen.invocations.push(invocation);
    }
    seen.uses.extend(other.uses);
    seen.parameters.extend(other.parameters);
    seen.steps += other.steps;
}

impl Scan {
    fn new(text: &str, dialect: Dialect, outline: bool) -> Self {
        let budget = GROWTH * text.len().min(MAX_TEXT) + 1024;
        Self {
            dialect,
            tally: Tally::default(),
            values: Values::default(),
            braces: dialect != Dialect::Posix,
            budget,
            code_budget: budget,
            expanded: 0,
            copied: 0,
            runs_if_computed: None,
            moved: None,
            guessed: false,
            defaults: false,
            invocations: Vec::new(),
            levels: Vec::new(),
            outline: outline.then(Vec::new),
        }
    }

    fn whole(&mut self, text: &str) -> Result<(), Unparsed> {
        let script = syntax::read(text, self.dialect, None, &mut self.tally)?;
        let cx = Context {
            bodies: &script.bodies,
            place: Place::Top,
            via: Vec::new(),
            conditional: false,
            stdin: Input::Inherited,
            piped: None,
            level: 0,
            depth: 0,
            outer: None,
        };
        self.list(&script.list, &cx).map(|_| ())
    }

    fn finish(&mut self) -> Seen {
        Seen {
            invocations: std::mem::take(&mut self.invocations),
            uses: std::mem::take(&mut self.tally.uses),
            parameters: std::mem::take(&mut self.tally.parameters),
            steps: self.tally.steps,
        }
    }

    /// Notes an invocation, links it to whoever feeds it, and follows what it starts.
    fn push(&mut self, invocation: Invocation, cx: &Context<'_>) -> Result<usize, Unparsed> {
        let index = self.invocations.len();
        if let Some(program) = invocation.program.as_ref().filter(|word| !word.literals().all(str::is_ascii)) {
            return Err(Unparsed { fault: Fault::ProgramNotAscii, span: program.span });
        }
        if let Input::Pipe(writers) | Input::Process(writers) = &invocation.stdin {
            for writer in writers {
                if let Some(writer) = self.invocations.get_mut(*writer).filter(|writer| writer.feeds.len() < MOST_PEERS)
                {
                    writer.feeds.push(index);
                }
            }
        }
        self.note(cx, "runs", || invocation.to_string());
        self.tally.steps += 1 + invocation.args.len();
        self.invocations.push(invocation);
        self.levels.push(cx.level);
        self.unwrap(index, cx)?;
        Ok(index)
    }

    /// The invocations since `start` that write to the same place as this context.
    fn writers(&self, start: usize, cx: &Context<'_>) -> Vec<usize> {
        let here = self.levels.get(start..).unwrap_or_default().iter().enumerate();
        here.filter(|(_, level)| **level == cx.level).map(|(at, _)| start + at).take(MOST_PEERS).collect()
    }

    /// Adds a line to the outline.
    fn note(&mut self, cx: &Context<'_>, kind: &'static str, text: impl FnOnce() -> String) {
        if let Some(outline) = &mut self.outline {
            outline.push(Node { depth: cx.depth, kind, text: text() });
        }
    }

    /// An invocation of a program that another one starts, with these words.
    pub(super) fn start(&mut self, by: usize, words: Vec<Word>, cx: &Context<'_>) -> Result<(), Unparsed> {
        let Some(wrapper) = self.invocations.get(by) else { return Ok(()) };
        let (stdin, span) = (wrapper.stdin.clone(), wrapper.span);
        self.start_with(by, words, Vec::new(), stdin, span, cx)
    }

    fn start_with(
        &mut self,
        by: usize,
        mut words: Vec<Word>,
        assignments: Vec<super::seen::Assignment>,
        stdin: Input,
        span: Span,
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        if words.is_empty() {
            return Ok(());
        }
        self.copied += words.len();
        if self.copied > MAX_WRAPPERS * MAX_WORDS {
            return Err(Unparsed { fault: Fault::TooManyWords, span });
        }
        let cx = self.inside(by, cx)?;
        let program = words.remove(0);
        let invocation = Invocation { program: Some(program), args: words, assignments, stdin, ..cx.invocation(span) };
        self.push(invocation, &cx).map(|_| ())
    }

    /// The context of what a wrapper starts.
    fn inside<'s>(&self, by: usize, cx: &Context<'s>) -> Result<Context<'s>, Unparsed> {
        let wrapper = self.invocations.get(by);
        let span = wrapper.map(|wrapper| wrapper.span).unwrap_or_default();
        if cx.via.len() >= MAX_WRAPPERS {
            return Err(Unparsed { fault: Fault::TooDeep, span });
        }
        let name = wrapper.and_then(Invocation::name).unwrap_or_default().to_owned();
        let mut cx = cx.clone();
        cx.via.push(Via { invocation: by, name });
        cx.depth += 1;
        Ok(cx)
    }
}
