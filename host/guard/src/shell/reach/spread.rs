//! Programs that start another one for each of many inputs.

use super::options::{Options, walk};
use super::unwrap::{joined, with_gaps};
use super::{Context, Scan};
use crate::shell::seen::{Input, Language, Source, Unparsed, Why, Word};

impl Scan {
    pub(super) fn find(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            if !matches!(arg.known(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
                continue;
            }
            let rest = args.get(at..).unwrap_or_default();
            let gap = |(place, word): (usize, &Word)| {
                let ends = word.known() == Some(";")
                    || word.known() == Some("+")
                        && place > 0
                        && rest.get(place - 1).and_then(Word::known) == Some("{}");
                ends.then_some(place)
            };
            let length = rest.iter().enumerate().find_map(gap).unwrap_or(rest.len());
            let words = rest.get(..length).unwrap_or_default().iter().map(|word| with_gaps(word, "{}")).collect();
            let cx = cx.shared();
            let stdin = super::shared(self.stdin_of(index));
            self.start_with(index, words, Vec::new(), stdin, cx.span(arg.span), &cx)?;
            at += length;
        }
        Ok(())
    }

    pub(super) fn fd(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let executes = |arg: &Word| matches!(arg.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
        let Some(at) = args.iter().position(executes) else { return Ok(()) };
        let rest = args.get(at + 1..).unwrap_or_default().iter().take_while(|word| word.known() != Some(";"));
        let mut words: Vec<Word> = rest.map(|word| with_gaps(word, "{}")).collect();
        if let Some(first) = words.first() {
            words.push(Word::unknown(Why::Input, false, first.span));
        }
        self.start(index, words, cx)
    }

    pub(super) fn xargs(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let options = Options {
            flags: "0oprtx",
            values: "aEILdnPsJRS",
            attached: "eil",
            long_flags: &[
                "null",
                "open-tty",
                "interactive",
                "no-run-if-empty",
                "verbose",
                "exit",
                "show-limits",
                "replace",
                "eof",
                "max-lines",
            ],
            long_values: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
        };
        let (found, starts) = walk(args, &options);
        let replaced = found.iter().find(|one| matches!(one.name.as_str(), "I" | "i" | "replace" | "J"));
        let marker = replaced.map(|one| {
            let word = one.word.and_then(Word::known).map(str::to_owned);
            one.rest.clone().or(word).unwrap_or_else(|| "{}".to_owned())
        });
        for start in starts {
            let mut words: Vec<Word> = args.get(start..).unwrap_or_default().to_vec();
            let Some(span) = words.first().map(|word| word.span) else { continue };
            match &marker {
                Some(marker) => words = words.iter().map(|word| with_gaps(word, marker)).collect(),
                None => words.push(Word::unknown(Why::Input, true, span)),
            }
            // What xargs reads, the program does not.
            let cx = Context { piped: None, ..cx.clone() };
            self.start_with(index, words, Vec::new(), Input::Inherited, cx.span(span), &cx)?;
        }
        Ok(())
    }

    pub(super) fn parallel(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let length = args.iter().position(|arg| arg.prefix().starts_with(":::")).unwrap_or(args.len());
        let args = args.get(..length).unwrap_or_default();
        let options = Options {
            flags: "0kmXqrtuv",
            values: "aICdEjLlnNPsS",
            long_values: &[
                "jobs",
                "arg-file",
                "colsep",
                "delimiter",
                "delay",
                "joblog",
                "results",
                "sshlogin",
                "timeout",
                "workdir",
                "tmpdir",
            ],
            ..Options::default()
        };
        let (_, starts) = walk(args, &options);
        for start in starts {
            let words = args.get(start..).unwrap_or_default();
            let Some(text) = joined(words) else {
                // Without a command, each line of input is one.
                self.code(index, Language::Shell, Source::Input);
                continue;
            };
            match text.known() {
                Some(source)
                    if words.len() == 1 && source.contains([';', '|', '&', '$', '`', '<', '>', '(', '\'', '"']) =>
                {
                    self.shell_code(index, text, self.dialect, Input::Inherited, cx)?;
                }
                _ => {
                    let split = |word: &Word| match word.known() {
                        Some(text) => text.split_whitespace().map(|part| Word::known_text(part, word.span)).collect(),
                        None => vec![word.clone()],
                    };
                    let mut words: Vec<Word> =
                        words.iter().flat_map(split).map(|word| with_gaps(&word, "{}")).collect();
                    words.push(Word::unknown(Why::Input, true, text.span));
                    self.start(index, words, cx)?;
                }
            }
        }
        Ok(())
    }
}
