//! Lists, pipelines and commands, in the order of running.

use super::{Context, Scan};
use crate::shell::seen::{
    Assignment, Fault, Input, Invocation, MAX_WORDS, Place, Redirect, RedirectKind, Span, Unparsed, Word,
};
use crate::shell::syntax::{Body, Command, Compound, Joint, List, Part, RawAssignment, RawRedirect, RawWord};
use std::rc::Rc;

impl Scan {
    /// Follows a list; the text that it prints, where that is certain.
    pub(super) fn list(&mut self, list: &List, cx: &Context<'_>) -> Result<Option<String>, Unparsed> {
        let mut output = None;
        let mut before = Joint::Next;
        // Where the names stood when this chain of `&&` and `||` began, and before its first part that may be left out.
        let mut chain = self.values.mark();
        let mut optional = None;
        for item in &list.items {
            if matches!(before, Joint::Next | Joint::Background) {
                chain = self.values.mark();
                optional = None;
            }
            let mut cx = cx.clone();
            let here = self.values.mark();
            if before == Joint::And {
                cx.conditional = true;
                optional = optional.or(Some(here));
            } else if before == Joint::Or {
                cx.conditional = true;
                self.values.undo(optional.take().unwrap_or(here));
            }
            output = self.pipeline(&item.commands, &cx)?;
            match item.joint {
                Joint::Background => self.values.undo(chain),
                _ if before == Joint::Or => self.values.undo(here),
                Joint::Next => {
                    if let Some(mark) = optional.take() {
                        self.values.undo(mark);
                    }
                }
                _ => {}
            }
            before = item.joint;
        }
        Ok(if list.items.len() == 1 { output } else { None })
    }

    fn pipeline(&mut self, commands: &[Command], cx: &Context<'_>) -> Result<Option<String>, Unparsed> {
        let [only] = commands else { return self.pipes(commands, cx) };
        let index = self.command(only, cx)?;
        // Text matters only where somebody reads it.
        if cx.level == 0 { Ok(None) } else { Ok(self.printed(index, cx.piped.as_deref())) }
    }

    fn pipes(&mut self, commands: &[Command], cx: &Context<'_>) -> Result<Option<String>, Unparsed> {
        self.note(cx, "pipeline", || format!("{} commands", commands.len()));
        let mut cx = cx.clone();
        cx.depth += 1;
        for command in commands {
            let mark = self.values.mark();
            let start = self.invocations.len();
            let index = self.command(command, &cx)?;
            self.values.undo(mark);
            cx.piped = self.printed(index, cx.piped.as_deref()).map(Rc::from);
            cx.stdin = Input::Pipe(self.writers(start, &cx));
        }
        Ok(cx.piped.map(|text| text.to_string()))
    }

    fn printed(&self, index: Option<usize>, piped: Option<&str>) -> Option<String> {
        self.invocations.get(index?).and_then(|invocation| self.output(invocation, piped))
    }

    /// Follows a substitution; the text that it becomes, where that is certain.
    pub(in crate::shell) fn substitution(
        &mut self,
        list: &List,
        place: Place,
        cx: &Context<'_>,
    ) -> Result<Option<String>, Unparsed> {
        self.note(cx, if place == Place::Process { "process" } else { "substitution" }, String::new);
        let mut cx = cx.shared();
        cx.place = place;
        cx.level += 1;
        cx.depth += 1;
        let mark = self.values.mark();
        let output = self.list(list, &cx)?;
        self.values.undo(mark);
        Ok(output.map(|text| text.trim_end_matches('\n').to_owned()))
    }

    /// Follows a command; its invocation, where it is a plain one.
    fn command(&mut self, command: &Command, cx: &Context<'_>) -> Result<Option<usize>, Unparsed> {
        match &command.body {
            Body::Simple { assignments, words } => {
                let before = std::mem::take(&mut self.guessed);
                let index = self.simple(command, assignments, words, cx)?;
                let guessed = std::mem::replace(&mut self.guessed, before);
                if !guessed || self.defaults {
                    return Ok(Some(index));
                }
                // Both what is known for certain and what the defaults would make of it are listed.
                self.defaults = true;
                let other = self.simple(command, assignments, words, cx);
                self.defaults = false;
                self.guessed = before;
                other.map(|_| None)
            }
            Body::Compound { kind, words, lists } => {
                self.compound(command, kind, words, lists, cx)?;
                Ok(None)
            }
        }
    }

    fn simple(
        &mut self,
        command: &Command,
        assignments: &[RawAssignment],
        words: &[RawWord],
        cx: &Context<'_>,
    ) -> Result<usize, Unparsed> {
        let span = cx.span(command.span);
        let mut set = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let value = self.expand_one(&assignment.value, cx)?;
            set.push(Assignment { name: assignment.name.clone(), value, span: cx.span(assignment.span) });
        }
        let mut argv = Vec::with_capacity(words.len());
        for word in words {
            self.expand(word, cx, &mut argv)?;
        }
        let (redirects, stdin) = self.redirects(&command.redirects, cx)?;
        if argv.is_empty() && !self.defaults {
            for (raw, assignment) in assignments.iter().zip(&set) {
                let value = assignment.value.known().filter(|_| raw.plain).map(str::to_owned);
                self.assign(&assignment.name, value);
            }
        }
        self.check_values(&set)?;
        if let ([program], Some(stdin)) = (argv.as_slice(), &stdin)
            && program.basename() == Some("exec")
        {
            self.moved = Some(super::shared(stdin.clone()));
        }
        let mut argv = argv.into_iter();
        let invocation = Invocation {
            program: argv.next(),
            args: argv.collect(),
            assignments: set,
            redirects,
            stdin: stdin.unwrap_or_else(|| self.inherited(cx)),
            ..cx.invocation(span)
        };
        self.push(invocation, cx)
    }

    /// The standard input of the commands around.
    fn inherited(&self, cx: &Context<'_>) -> Input {
        match (&cx.stdin, &self.moved) {
            (Input::Inherited, Some(moved)) => moved.clone(),
            (stdin, _) => stdin.clone(),
        }
    }

    /// Where numbers are computed, the shell runs a substitution inside a value.
    pub(super) fn check_values(&mut self, set: &[Assignment]) -> Result<(), Unparsed> {
        let runs = |text: &str| text.contains("$(") || text.contains('`');
        match set.iter().find(|one| one.value.literals().any(runs)) {
            Some(one) if self.tally.computes => Err(Unparsed { fault: Fault::Expansion, span: one.span }),
            Some(one) => {
                self.runs_if_computed = Some(one.span);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Sets a name. A long value is not kept: values in values would grow without bound.
    pub(super) fn assign(&mut self, name: &str, value: Option<String>) {
        let value = value.filter(|value| value.len() <= MAX_WORDS);
        self.values.set(name, value);
    }

    /// Resolves redirections; the standard input that they set, if they do.
    fn redirects(&mut self, raw: &[RawRedirect], cx: &Context<'_>) -> Result<(Vec<Redirect>, Option<Input>), Unparsed> {
        let mut redirects = Vec::with_capacity(raw.len());
        let mut stdin = None;
        for one in raw {
            let start = self.invocations.len();
            let target = self.expand_one(&one.target, cx)?;
            if one.fd == Some(0) {
                stdin = Some(match one.kind {
                    RedirectKind::HereDocument => Input::Text(target.clone()),
                    RedirectKind::HereString => Input::Text(with_newline(target.clone())),
                    RedirectKind::Duplicate => match target.known() {
                        Some("-" | "0") => Input::Inherited,
                        // Whoever opened that descriptor.
                        _ => Input::Pipe(Vec::new()),
                    },
                    _ if matches!(one.target.parts.as_slice(), [Part::Process { writes: false, .. }]) => {
                        let inside = Context { level: cx.level + 1, ..cx.clone() };
                        Input::Process(self.writers(start, &inside))
                    }
                    _ => Input::File(target.clone()),
                });
            }
            redirects.push(Redirect { fd: one.fd, kind: one.kind, target, span: cx.span(one.span) });
        }
        Ok((redirects, stdin))
    }

    fn compound(
        &mut self,
        command: &Command,
        kind: &Compound,
        words: &[RawWord],
        lists: &[List],
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let span = cx.span(command.span);
        self.note(cx, kind.name(), || match kind {
            Compound::Function(name) => name.clone(),
            _ => String::new(),
        });
        let mut inside = cx.clone();
        inside.depth += 1;
        self.compound_redirects(&command.redirects, span, cx, &mut inside)?;
        for word in words {
            if *kind == Compound::For {
                self.expand(word, &inside, &mut Vec::new())?;
            } else {
                self.expand_one(word, &inside)?;
            }
        }
        if let Compound::Function(name) = kind {
            inside.place = Place::Function(name.clone());
        }
        inside = inside.shared();
        if matches!(kind, Compound::Function(_) | Compound::Coprocess) {
            // Whoever calls it, or writes to its pipe, decides what it reads.
            inside = inside.fed();
        }
        for (at, list) in lists.iter().enumerate() {
            let certain = match kind {
                Compound::Group | Compound::Subshell | Compound::Coprocess => true,
                Compound::If => at == 0,
                _ => false,
            };
            inside.conditional |= !certain;
            let mark = self.values.mark();
            self.list(list, &inside)?;
            if !(certain && matches!(kind, Compound::Group | Compound::If)) {
                self.values.undo(mark);
            }
        }
        Ok(())
    }

    /// Redirections of a compound command stand in an invocation of their own; its standard input is everybody's inside.
    fn compound_redirects(
        &mut self,
        raw: &[RawRedirect],
        span: Span,
        cx: &Context<'_>,
        inside: &mut Context<'_>,
    ) -> Result<(), Unparsed> {
        if raw.is_empty() {
            return Ok(());
        }
        let (redirects, stdin) = self.redirects(raw, cx)?;
        if let Some(stdin) = stdin {
            inside.piped = None;
            inside.stdin = stdin;
        }
        let invocation = Invocation { redirects, stdin: inside.stdin.clone(), ..cx.invocation(span) };
        self.push(invocation, inside).map(|_| ())
    }
}

/// A here-string ends with a new line.
fn with_newline(mut word: Word) -> Word {
    use crate::shell::seen::{Piece, Value};
    match &mut word.value {
        Value::Known(text) => text.push('\n'),
        Value::Partial(pieces) => pieces.push(Piece::Text("\n".to_owned())),
    }
    word
}
