//! Programs that start others in ways of their own.

use super::options::{Options, walk};
use super::unwrap::{joined, option_value};
use super::{Context, Scan};
use crate::shell::seen::{Input, Language, Source, Unparsed, Why, Word};

/// Options of `ssh` with a value.
const SSH: Options = Options {
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    values: "BbcDEeFIiJLlmOoPpQRSWw",
    attached: "",
    long_flags: &[],
    long_values: &[],
};

/// Settings of git whose value is a command.
const GIT_COMMANDS: [&str; 18] = [
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.fsmonitor",
    "core.gitproxy",
    "diff.external",
    "sequence.editor",
    "credential.helper",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "ssh.variant",
    "web.browser",
    "sendemail.smtpserver",
    "uploadpack.packobjectshook",
    "init.templatedir",
    "core.hookspath",
];

impl Scan {
    /// Programs with a way of their own; whether it was one.
    pub(super) fn special(
        &mut self,
        name: &str,
        index: usize,
        args: &[Word],
        cx: &Context<'_>,
    ) -> Result<bool, Unparsed> {
        match name {
            "find" | "gfind" | "bfs" => self.find(index, args, cx)?,
            "fd" | "fdfind" => self.fd(index, args, cx)?,
            "xargs" | "gxargs" => self.xargs(index, args, cx)?,
            "parallel" | "sem" => self.parallel(index, args, cx)?,
            "ssh" | "autossh" | "slogin" | "mosh" => self.ssh(index, args, cx)?,
            "tar" | "gtar" | "bsdtar" => self.tar(index, args, cx)?,
            "su" | "runuser" | "sg" => self.su(name, index, args, cx)?,
            "watch" => self.watch(index, args, cx)?,
            "capsh" => {
                let at = args.iter().position(|arg| arg.known() == Some("--"));
                let shell = args.first().map(|first| Word::known_text("bash", first.span));
                let rest = at.and_then(|at| args.get(at + 1..)).unwrap_or_default();
                self.start(index, shell.into_iter().chain(rest.iter().cloned()).collect(), cx)?;
            }
            "flock" => return self.flock(index, args, cx).map(|()| false),
            "env" => return self.split_string(index, args, cx),
            "git" => return self.git(index, args, cx).map(|()| false),
            "hyperfine" | "mispipe" | "pee" => {
                for code in args.iter().filter(|arg| !arg.prefix().starts_with('-')).take(16) {
                    self.shell_code(index, code.clone(), self.dialect, Input::Inherited, cx)?;
                }
            }
            "tmux" | "screen" | "xterm" | "gnome-terminal" | "konsole" => self.terminal(index, args, cx)?,
            "make" | "gmake" => self.make(index, args, cx)?,
            "at" | "batch" => self.shell_input(index, self.dialect, cx)?,
            _ => {
                if let Some((options, names)) = code_options(name) {
                    self.named(index, args, &options, names, cx)?;
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values of these options as shell code. `ssh -o` has a name before its value.
    fn named(
        &mut self,
        index: usize,
        args: &[Word],
        options: &Options,
        names: &[&str],
        cx: &Context<'_>,
    ) -> Result<(), Unparsed> {
        let Some(near) = args.first() else { return Ok(()) };
        // Options may stand behind operands.
        let mut rest = args;
        loop {
            let (found, starts) = walk(rest, options);
            for option in found.iter().filter(|one| names.contains(&one.name.as_str())) {
                let Some(value) = option.value(near) else { continue };
                let value = if option.name == "o" {
                    match command_setting(&value) {
                        Some(value) => value,
                        None => continue,
                    }
                } else {
                    value
                };
                let stdin = self.stdin_of(index);
                self.shell_code(index, value, self.dialect, stdin, cx)?;
            }
            let next = starts.first().map_or(rest.len(), |start| start + 1);
            match rest.get(next..) {
                Some(more) if !more.is_empty() => rest = more,
                _ => return Ok(()),
            }
        }
    }

    fn ssh(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        self.named(index, args, &SSH, &["o"], cx)?;
        let (_, starts) = walk(args, &SSH);
        let rest = starts.first().and_then(|start| args.get(start + 1..)).unwrap_or_default();
        let rest =
            if rest.first().and_then(Word::known) == Some("--") { rest.get(1..).unwrap_or_default() } else { rest };
        match joined(rest) {
            Some(text) => {
                let stdin = self.stdin_of(index);
                self.shell_code(index, text, self.dialect, stdin, cx)
            }
            None => self.shell_input(index, self.dialect, cx),
        }
    }

    fn tar(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let names = [
            "to-command",
            "use-compress-program",
            "rsh-command",
            "info-script",
            "new-volume-script",
            "rmt-command",
            "I",
            "F",
        ];
        let options = Options {
            values: "bCfFgHIKLNTVX",
            flags: "AcdrtuxzjJZaBhikmMnoOpPRsSvwWlGE",
            long_values: &[
                "to-command",
                "use-compress-program",
                "rsh-command",
                "info-script",
                "new-volume-script",
                "rmt-command",
                "file",
                "directory",
            ],
            ..Options::default()
        };
        self.named(index, args, &options, &names, cx)?;
        let action = ["--checkpoint-action=exec=", "exec="];
        for arg in args {
            if let Some(code) = arg.known().and_then(|text| action.iter().find_map(|prefix| text.strip_prefix(prefix)))
            {
                self.shell_code(index, Word::known_text(code, arg.span), self.dialect, Input::Inherited, cx)?;
            } else if arg.known().is_none() && arg.prefix().starts_with("--checkpoint-action") {
                self.code(index, Language::Shell, Source::Text(arg.clone()));
            }
        }
        Ok(())
    }

    fn su(&mut self, name: &str, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let options = Options {
            flags: "lmpPfhV",
            values: "cCgGsuwT",
            long_flags: &["login", "preserve-environment", "fast", "pty"],
            long_values: &[
                "command",
                "session-command",
                "group",
                "supp-group",
                "shell",
                "user",
                "whitelist-environment",
            ],
            ..Options::default()
        };
        self.named(index, args, &options, &["c", "C", "command", "session-command"], cx)?;
        let (found, starts) = walk(args, &options);
        if name == "runuser" && found.iter().any(|one| matches!(one.name.as_str(), "u" | "user")) {
            for start in starts {
                self.prefixed(index, args, start, false, cx)?;
            }
        } else if name == "sg" {
            if let Some(text) = args.get(1).filter(|word| word.known() != Some("-c")) {
                self.shell_code(index, text.clone(), self.dialect, Input::Inherited, cx)?;
            }
        } else if found.iter().all(|one| one.name != "c") {
            self.shell_input(index, self.dialect, cx)?;
        }
        Ok(())
    }

    fn watch(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let options = Options {
            flags: "bcdegtpxwrChv",
            values: "nqs",
            long_flags: &[
                "beep",
                "color",
                "no-color",
                "differences",
                "errexit",
                "chgexit",
                "no-title",
                "precise",
                "exec",
                "no-wrap",
                "no-rerun",
            ],
            long_values: &["interval", "equexit", "shotsdir"],
            ..Options::default()
        };
        let (_, starts) = walk(args, &options);
        for start in starts {
            if let Some(text) = joined(args.get(start..).unwrap_or_default()) {
                self.shell_code(index, text, self.dialect, Input::Inherited, cx)?;
            }
        }
        Ok(())
    }

    fn flock(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        match args
            .iter()
            .position(|arg| matches!(arg.known(), Some("-c" | "--command")))
            .and_then(|at| args.get(at + 1))
        {
            Some(text) => self.shell_code(index, text.clone(), self.dialect, Input::Inherited, cx),
            None => Ok(()),
        }
    }

    /// `env -S 'words'`; whether it stood there.
    fn split_string(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<bool, Unparsed> {
        let options = super::prefixes::prefix("env").map(|prefix| prefix.options).unwrap_or_default();
        let (found, starts) = walk(args, &options);
        let Some(near) = args.first() else { return Ok(false) };
        let split = found.iter().find(|one| matches!(one.name.as_str(), "S" | "split-string"));
        let Some(text) = split.and_then(|one| one.value(near)) else { return Ok(false) };
        let mut words = match text.known().and_then(split_words) {
            Some(words) => words.into_iter().map(|word| Word::known_text(word, text.span)).collect(),
            None => vec![Word::unknown(Why::Input, true, text.span)],
        };
        words.extend(starts.first().and_then(|start| args.get(*start..)).unwrap_or_default().iter().cloned());
        self.prefixed(index, &words, walk(&words, &options).1.first().copied().unwrap_or_default(), true, cx)?;
        Ok(true)
    }

    fn git(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.known().unwrap_or_else(|| arg.prefix());
            let code = match text {
                "-c" => rest.next().and_then(git_setting),
                "--exec" | "-x" | "--extcmd" | "--upload-pack" | "--receive-pack" | "--tree-filter"
                | "--index-filter" | "--msg-filter" | "--env-filter" | "--commit-filter" | "--parent-filter"
                | "--tag-name-filter" | "--setup" => rest.next().cloned(),
                // Its options stand behind it.
                "foreach" => {
                    let behind = rest.as_slice();
                    let own = |word: &&Word| matches!(word.known(), Some("-q" | "--quiet" | "--recursive" | "--"));
                    joined(behind.get(behind.iter().take_while(own).count()..).unwrap_or_default())
                }
                _ => match text.split_once('=') {
                    Some((
                        "--exec" | "--extcmd" | "--upload-pack" | "--receive-pack" | "--open-files-in-pager",
                        code,
                    )) => Some(Word::known_text(code, arg.span)),
                    Some(("--config-env", _)) => None,
                    _ => text.strip_prefix("ext::").map(|code| Word::known_text(code, arg.span)),
                },
            };
            if let Some(code) = code {
                self.shell_code(index, code, self.dialect, Input::Inherited, cx)?;
            }
        }
        Ok(())
    }

    fn terminal(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        // Where the command begins depends on the subcommand: every word that has a blank or follows an operand may be one.
        for (at, arg) in args.iter().enumerate().take(16) {
            match arg.known() {
                Some(text) if text.contains(' ') => {
                    self.shell_code(index, arg.clone(), self.dialect, Input::Inherited, cx)?
                }
                Some(
                    "-e" | "-x" | "--" | "-dm" | "-dmS" | "new" | "new-session" | "new-window" | "neww"
                    | "split-window" | "splitw" | "run" | "run-shell",
                ) => {
                    let (_, starts) = walk(args.get(at + 1..).unwrap_or_default(), &options("cdeEFnStxy"));
                    for start in starts {
                        self.prefixed(index, args, at + 1 + start, false, cx)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn make(&mut self, index: usize, args: &[Word], cx: &Context<'_>) -> Result<(), Unparsed> {
        for arg in args {
            let text = arg.known().unwrap_or_else(|| arg.prefix());
            if let Some(rule) = text.strip_prefix("--eval=") {
                self.code(index, Language::Make, Source::Text(Word::known_text(rule, arg.span)));
            } else if let Some(shell) = text.strip_prefix("SHELL=") {
                self.start(index, vec![Word::known_text(shell, arg.span)], cx)?;
            }
        }
        if let Some(rule) = option_value(args, &Options { long_values: &["eval"], ..options("CfIjlOoW") }, &["eval"]) {
            self.code(index, Language::Make, Source::Text(rule));
        }
        Ok(())
    }
}

fn options(values: &'static str) -> Options {
    Options { values, ..Options::default() }
}

/// Programs of which some options are shell code: all options that have a value, and those that are code.
fn code_options(name: &str) -> Option<(Options, &'static [&'static str])> {
    let with = |values, long_values| Options { values, long_values, ..Options::default() };
    Some(match name {
        "scp" | "sftp" => (SSH, &["S", "o"]),
        "rsync" => (with("eBTfM", &["rsh", "rsync-path"]), &["e", "rsh", "rsync-path"]),
        "script" | "nix-shell" => {
            let options = Options { flags: "aefq", ..with("cEImBOoTtpPA", &["command", "run", "packages"]) };
            (options, &["c", "command", "run"])
        }
        "npx" | "bunx" | "npm" => (with("cp", &["call", "package"]), &["c", "call"]),
        "vagrant" | "gcloud" => (with("c", &["command"]), &["c", "command"]),
        "sort" => (with("", &["compress-program"]), &["compress-program"]),
        "split" => (with("", &["filter"]), &["filter"]),
        "prove" => (with("eIPSj", &["exec", "lib", "jobs"]), &["e", "exec"]),
        "stap" | "bpftrace" => (with("cepxoImDdsvt", &[]), &["c"]),
        "asciinema" | "iwatch" => (with("ctimo", &["command", "title"]), &["c", "command"]),
        "ttyrec" | "termrec" => (with("e", &[]), &["e"]),
        "nodemon" => (with("xewd", &["exec", "ext", "watch", "delay"]), &["x", "exec"]),
        "watchman-make" => (with("pt", &["pattern", "target", "run"]), &["run"]),
        "svn" => {
            (with("mrF", &["editor-cmd", "diff-cmd", "diff3-cmd", "message"]), &["editor-cmd", "diff-cmd", "diff3-cmd"])
        }
        "rpm" => (with("", &["pipe"]), &["pipe"]),
        "ansible" | "ansible-console" => (options("aMmiefu"), &["a"]),
        _ => return None,
    })
}

/// The command of `ssh -o ProxyCommand=…` and its kin.
fn command_setting(value: &Word) -> Option<Word> {
    let Some(text) = value.known() else { return Some(value.clone()) };
    let (name, command) = text.split_once(['=', ' '])?;
    let commands = ["proxycommand", "localcommand", "knownhostscommand", "remotecommand", "proxyusefdpass"];
    commands.contains(&name.trim().to_ascii_lowercase().as_str()).then(|| Word::known_text(command.trim(), value.span))
}

/// The command of `git -c name=value`, where the setting is one that git runs.
fn git_setting(setting: &Word) -> Option<Word> {
    let Some(text) = setting.known() else { return Some(setting.clone()) };
    let (name, value) = text.split_once('=')?;
    let name = name.to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    let runs = GIT_COMMANDS.contains(&name.as_str())
        || matches!(
            last,
            "textconv"
                | "command"
                | "cmd"
                | "driver"
                | "clean"
                | "smudge"
                | "process"
                | "helper"
                | "uploadpack"
                | "receivepack"
                | "pager"
                | "editor"
                | "path"
                | "program"
                | "proxy"
        ) && !name.starts_with("http");
    let value = match value.strip_prefix('!') {
        Some(code) => code,
        None if name.starts_with("alias.") || !runs => return None,
        None => value,
    };
    Some(Word::known_text(value, setting.span))
}

/// Splits as `env -S` does, where only blanks and quotes stand in the text; none where more does.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (_, '\\' | '$' | '#') => return None,
            (None, _) if character.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}
