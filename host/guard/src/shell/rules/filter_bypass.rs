//! `filter_bypass`: expansions and settings that run or hide what nobody looks for.

use super::args::{Spec, one_of, operands, subcommand, values, written_option};
use super::destructive_tools::GIT;
use super::{Look, Rule, look, steps};
use crate::shell::{Group, Place, Span};

const GROUP: Group = Group::FilterBypass;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "filter_bypass.transformed",
        group: GROUP,
        sentence: "an expansion that evaluates its value runs what the value says; use the plain variable",
        programs: &[],
        matches: |look| {
            let first = look.seen.invocations.first().is_some_and(|one| std::ptr::eq(one, look.one));
            let evaluates =
                |operator: &str| operator.starts_with('@') && operator.contains(['P', 'E', 'A', 'K', 'a', 'k']);
            look.seen.parameters.iter().find(|one| first && evaluates(&one.operator)).map(|one| one.span)
        },
        denies: &["echo ${x@P}", "x='$(ls)'; echo ${x@P}", "echo \"${x@E}\"", "echo ${x@A}", "echo ${x@K}"],
        allows: &["echo ${x@Q}", "echo ${x@U}", "echo '${x@P}'", "echo ${x:-a}"],
    },
    Rule {
        id: "filter_bypass.decoded_word",
        group: GROUP,
        sentence: "a word that is decoded on the way hides what it names; write it in plain text",
        programs: &[
            "printf", "echo", "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "rev", "gbase64", "ascii85",
            "gpg",
        ],
        matches: decoded,
        denies: &[
            "F=$(echo \"L2V0Yy9zaGFkb3c=\" | base64 -d) && cat \"$F\"",
            "cat $(echo x | base64 --decode)",
            "cat $(xxd -r -p a)",
            "cat $(rev <<< x)",
            "x=`openssl base64 -d -in a`; cat $x",
            "cat $(base64 -di a)",
        ],
        allows: &[
            "base64 -d file.txt",
            "base64 -d a > b",
            "x=$(base64 a)",
            "echo aGk= | base64 -d",
            "rev a",
            "openssl base64 -d -in a -out b",
        ],
    },
    Rule {
        id: "filter_bypass.history",
        group: GROUP,
        sentence: "changing the history hides what was run, or puts lines into it",
        programs: &["history", "fc"],
        matches: |look| match look.name {
            "history" => written_option(look.args(), Spec { short: "d", long: &[] }, "sawrcdnp", &[]),
            _ => written_option(look.args(), Spec { short: "e", long: &[] }, "es", &[]),
        },
        denies: &["history -s x", "history -a", "history -w f", "history -c", "fc -s", "fc -e x"],
        allows: &["history", "history 10", "fc -l", "echo history -a"],
    },
    Rule {
        id: "filter_bypass.renamed_program",
        group: GROUP,
        sentence: "another name for a program hides it from the rules about it; run it by its own name",
        programs: &[
            "ln", "cp", "mv", "install", "link", "hash", "rsync", "cat", "tac", "head", "tail", "dd", "sed", "gsed",
            "pv", "base64", "gzip", "xz", "zstd", "bzip2", "xxd", "tee", "sponge", "strip", "objcopy", "tar", "cpio",
            "zip", "7z",
        ],
        matches: renamed,
        denies: &[
            "ln -s /bin/rm x",
            "cp /bin/bash ./x",
            "ln -s $(which sudo) x",
            "install -m 755 /usr/bin/curl y",
            "hash -p /bin/rm ls",
            "cat /bin/rm > x; ./x",
            "cat < /bin/rm > x",
            "tee x < /bin/rm",
            "head -c 99999999 /usr/bin/curl | tee x",
            "cp -r /bin x",
            "cd /bin && cp rm /workspace/x",
            "cp /bin/r? x",
            "strip -o x /bin/rm",
            "tar -cf x.tar /bin/rm",
        ],
        allows: &[
            "ln -s /usr/bin/python3 py",
            "cp /bin/ls x",
            "ln -s ../a/rm.md x",
            "cp rm x",
            "cat /bin/ls > x",
            "head -c 4 /bin/rm | od -c",
            "cat /bin/rm | wc -c",
            "strip -o x a.out",
        ],
    },
    Rule {
        id: "filter_bypass.git_setting",
        group: GROUP,
        sentence: "the setting makes git run a program; leave it as it is",
        programs: &["git"],
        matches: git_setting,
        denies: &[
            "git -c core.sshCommand=x fetch",
            "git -c alias.x='!ls' x",
            "git -c core.fsmonitor=x status",
            "git -c core.pager='sh -c ls' log",
            "git config core.hooksPath x",
            "git config --global alias.x '!ls'",
            "git -c protocol.ext.allow=always clone 'ext::sh -c ls'",
            "git clone 'ext::sh -c ls' a",
            "git config --add filter.x.smudge ls",
            "git -c \"$x\" log",
            "git --config-env=core.editor=X commit",
            "git --exec-path=x log",
            "git -c diff.external=x diff",
            "git -ccore.editor=x commit",
            "git config credential.helper '!ls'",
            "git config set core.pager x",
        ],
        allows: &[
            "git -c user.name=a commit",
            "git config user.email a@example.com",
            "git config --get core.pager",
            "git -c color.ui=false log",
            "git -c core.pager=cat log",
            "git config --list",
            "git clone https://example.com/a",
            "git -c alias.s=status s",
            "git config alias.st status",
        ],
    },
    Rule {
        id: "filter_bypass.git_program",
        group: GROUP,
        sentence: "the option makes git run a program; leave it out, or run the program itself",
        programs: &["git"],
        matches: git_program,
        denies: &[
            "git clone --upload-pack=x a b",
            "git fetch --upload-pack 'sh -c ls' a",
            "git push --receive-pack=x a",
            "git push --exec=x a",
            "git ls-remote --upload-pack=x a",
            "git rebase -x ls main",
            "git rebase --exec=ls main",
            "git difftool -x ls",
            "git grep -Ols x",
            "git grep --open-files-in-pager=ls x",
            "git archive --remote=x --exec=ls HEAD",
            "git clone -u x a",
            "git init --template=x",
            "git clone --template=x a",
            "git clone -c core.sshCommand=x a",
            "git difftool --extcmd=x",
        ],
        allows: &[
            "git clone https://example.com/a",
            "git rebase main",
            "git grep x",
            "git grep -n x",
            "git push -u origin a",
            "git fetch origin",
            "git log --exec-x",
        ],
    },
];

/// Languages that many projects link under another name.
const LINKED: &[&str] = &[
    "python", "node", "perl", "ruby", "php", "java", "gcc", "g++", "clang", "cc", "go", "cargo", "vim", "nvim", "git",
    "make",
];

/// Where the system's programs are.
const PROGRAM_FOLDERS: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Programs that show or pack what they read, so that it is another file only where that goes into one.
const SHOW: &[&str] = &[
    "cat", "tac", "head", "tail", "dd", "sed", "gsed", "pv", "base64", "gzip", "xz", "zstd", "bzip2", "xxd", "tee",
    "sponge",
];

/// A program of the system with rules of its own, or one that is looked up, as the source of a link or copy.
fn renamed(look: &Look<'_>) -> Option<Span> {
    if SHOW.contains(&look.name) && !is_kept(look) {
        return None;
    }
    let looked_up = |word: &&crate::shell::Word| {
        let looks_up =
            |one: &crate::shell::Invocation| matches!(one.name(), Some("which" | "command" | "type" | "whereis"));
        look::has_output(word) && look.within(word).any(looks_up)
    };
    let every = matches!(look.name, "mv" | "install" | "tee" | "sponge" | "gzip" | "xz" | "bzip2" | "link" | "hash");
    let named = look.named.iter().filter(|named| every || !named.writes);
    let of_system = named.into_iter().find(|named| is_ruled_program(&named.path)).map(|named| named.span);
    of_system.or_else(|| look.args().iter().find(looked_up).map(|word| word.span))
}

/// Whether a path is a program of the system that rules know, or may be, or holds all of them.
fn is_ruled_program(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    if PROGRAM_FOLDERS.contains(&path) {
        return true;
    }
    let Some((folder, last)) = path.rsplit_once('/') else { return false };
    let name = super::known_as(last);
    PROGRAM_FOLDERS.contains(&folder)
        && (!steps::is_plain(last) || super::is_known(&name) && !LINKED.contains(&name.as_str()))
}

/// Whether what an invocation prints goes into a file, by itself or by whoever reads it.
fn is_kept(look: &Look<'_>) -> bool {
    let writes = |one: &crate::shell::Invocation| {
        one.redirects.iter().any(|redirect| {
            redirect.kind.writes() && !redirect.target.prefix().starts_with("/dev/") && redirect.fd != Some(2)
        })
    };
    let reads = |index: &usize| look.seen.invocations.get(*index);
    writes(look.one)
        || look.named.iter().any(|named| named.writes && !named.redirected)
        || look.one.feeds.iter().filter_map(reads).any(|one| {
            writes(one) || matches!(one.name(), Some("tee" | "sponge" | "dd" | "install" | "base64" | "xxd" | "tar"))
        })
}

/// Decoders, where their output becomes words.
fn decoded(look: &Look<'_>) -> Option<Span> {
    if look.one.place != Place::Substitution {
        return None;
    }
    let decodes = match look.name {
        "rev" | "uudecode" => true,
        "xxd" => {
            written_option(look.args(), Spec { short: "cglos", long: &[] }, "r", &["revert"]).is_some()
                || look.args().iter().any(|word| word.known().is_some_and(|text| text.starts_with("-r")))
        }
        "printf" | "echo" => look.args().iter().any(|word| spells(word.prefix())),
        "openssl" => look.args().iter().any(|word| one_of(word, &["-d"])),
        "gpg" => written_option(look.args(), Spec { short: "or", long: &[] }, "d", &["decrypt"]).is_some(),
        _ => super::args::option(look.args(), Spec { short: "wb", long: &["wrap", "break"] }, "dD", &["decode"])
            .is_some(),
    };
    decodes.then(|| look.program())
}

/// `\x2f`, `\057`: letters by number.
fn spells(text: &str) -> bool {
    text.split('\\').skip(1).any(|after| after.starts_with(['x', 'u', 'U', '0', '1']))
}

/// Settings whose value is a program, by the beginning of their names (in lower case).
const RUNS: &[&str] = &[
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.fsmonitor",
    "core.hookspath",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "core.worktree",
    "diff.external",
    "sequence.editor",
    "credential.",
    "gpg.",
    "filter.",
    "merge.",
    "mergetool.",
    "difftool.",
    "pager.",
    "protocol.",
    "include.path",
    "includeif.",
    "uploadpack.",
    "receive.",
    "sendemail.",
    "browser.",
    "man.",
    "web.browser",
    "instaweb.",
    "remote.",
    "url.",
    "http.proxy",
    "init.templatedir",
    "trailer.",
    "interactive.difffilter",
    "ssh.variant",
    "submodule.",
    "hook.",
    "guitool.",
    "tar.",
    "imap.",
    "svn.",
    "trace2.",
];

/// Whether a setting with this value runs something.
fn runs(name: &str, value: Option<&str>) -> bool {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("alias.") {
        return value.is_none_or(|value| value.trim_start().starts_with('!'));
    }
    if lower.starts_with("diff.") && (lower.ends_with(".textconv") || lower.ends_with(".command")) {
        return true;
    }
    let plain = [
        "merge.ff",
        "merge.conflictstyle",
        "merge.tool",
        "remote.origin.url",
        "remote.pushdefault",
        "submodule.recurse",
        "merge.renames",
        "diff.renames",
        "gpg.format",
        "merge.log",
        "remote.origin.fetch",
    ];
    if plain.contains(&lower.as_str())
        || (lower.starts_with("remote.")
            && (lower.ends_with(".url") && !value.is_some_and(|value| value.contains("ext::"))))
    {
        return false;
    }
    let shows =
        matches!(lower.as_str(), "core.pager" | "core.editor" | "sequence.editor") || lower.starts_with("pager.");
    if shows
        && value.is_some_and(|value| {
            matches!(value, "" | "cat" | "less" | "true" | ":" | "false" | "vim" | "nano" | "vi" | "less -R" | "delta")
        })
    {
        return false;
    }
    RUNS.iter().any(|start| lower.starts_with(start))
}

fn git_setting(look: &Look<'_>) -> Option<Span> {
    if let Some(word) =
        look.args().iter().find(|word| word.literals().any(|text| text.contains("ext::")) && !is_message(look, word))
    {
        return Some(word.span);
    }
    let own: usize = subcommand(look.args(), GIT).map_or(look.args().len(), |(_, rest)| look.args().len() - rest.len());
    let before = look.args().get(..own).unwrap_or_default();
    for given in values(before, GIT, "c", &["config-env"]) {
        let (name, value) = given.text.split_once('=').unwrap_or((given.text, ""));
        if name.is_empty() || runs(name, given.whole.then_some(value)) {
            return Some(given.word.span);
        }
    }
    if let Some(word) = before.iter().find(|word| word.prefix().starts_with("--exec-path=")) {
        return Some(word.span);
    }
    let (word, rest) = subcommand(look.args(), GIT)?;
    if word.known() != Some("config") {
        return None;
    }
    let asks = written_option(
        rest,
        Spec { short: "f", long: &["file", "type", "default"] },
        "l",
        &["get", "get-all", "get-regexp", "list", "unset", "unset-all", "show-origin", "name-only"],
    )
    .is_some();
    let mut words = operands(rest, Spec { short: "f", long: &["file", "blob", "type", "default"] })
        .skip_while(|word| matches!(word.known(), Some("set" | "add")));
    let name = words.next()?;
    if asks || matches!(name.known(), Some("get" | "list" | "unset")) {
        return None;
    }
    let value = words.next()?;
    (name.prefix().is_empty() || runs(name.prefix(), value.known())).then_some(name.span)
}

fn is_message(look: &Look<'_>, word: &crate::shell::Word) -> bool {
    look.args().windows(2).any(|pair| matches!(pair, [option, value] if std::ptr::eq(value, word) && matches!(option.known(), Some("-m" | "--message" | "-am" | "-F" | "--grep" | "-S" | "-G"))))
        || word.prefix().starts_with("--message=")
}

fn git_program(look: &Look<'_>) -> Option<Span> {
    let packs = |word: &&crate::shell::Word| {
        ["--upload-pack", "--receive-pack"].iter().any(|name| word.prefix().starts_with(name))
            && !is_message(look, word)
    };
    if let Some(word) = look.args().iter().find(packs) {
        return Some(word.span);
    }
    let (word, rest) = subcommand(look.args(), GIT)?;
    let command = word.known().unwrap_or_default();
    let (letters, names): (&str, &[&str]) = match command {
        "clone" => ("u", &["upload-pack", "template"]),
        "init" => ("", &["template"]),
        "push" => ("", &["receive-pack", "exec"]),
        "rebase" => ("x", &["exec"]),
        "difftool" => ("x", &["extcmd"]),
        "mergetool" => ("", &[]),
        "grep" => ("O", &["open-files-in-pager"]),
        "archive" => ("", &["exec", "remote"]),
        "fetch" | "pull" | "ls-remote" | "fetch-pack" | "send-pack" | "remote" => {
            ("", &["upload-pack", "receive-pack", "exec"])
        }
        "daemon" | "shell" | "instaweb" | "web--browse" | "filter-branch" | "send-email" | "imap-send"
        | "http-backend" | "upload-pack" | "receive-pack" => return Some(word.span),
        _ => return None,
    };
    let spec = Spec {
        short: if command == "grep" { "efABCm" } else { "obcjeSX" },
        long: &["origin", "branch", "config", "depth", "reference", "onto", "strategy", "push-option"],
    };
    if command == "clone"
        && let Some(given) = values(rest, spec, "c", &["config"]).find(|given| {
            let (name, value) = given.text.split_once('=').unwrap_or((given.text, ""));
            runs(name, given.whole.then_some(value))
        })
    {
        return Some(given.word.span);
    }
    // `--exec` stands for itself only where no longer name of git's begins with it.
    written_option(rest, spec, letters, names).or_else(|| {
        rest.iter()
            .find(|word| look::has_output(word) && word.prefix().is_empty() && word.may_split())
            .map(|word| word.span)
    })
}
