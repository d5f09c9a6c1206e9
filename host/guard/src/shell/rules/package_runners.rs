//! `package_install`, second part: runners of packages, and languages that install by a module of theirs.

use super::args::{one_of, only_help, subcommand};
use super::package_install::{OWN, SENTENCE};
use super::{Look, Rule};
use crate::shell::{Group, Span, Word};

const GROUP: Group = Group::PackageInstall;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "package_install.runner",
        group: GROUP,
        // What lies in the project is not looked at here, and where the tool is not there, the registry's package of the same
        // name is run: `npx tsc` is not the compiler.
        sentence: "the command downloads a package and runs it; a tool of the project is run by `npx --no-install TOOL`",
        programs: &[
            "npx",
            "uvx",
            "pnpx",
            "bunx",
            "pkgx",
            "dlx",
            "jbang",
            "cargo-binstall",
            "easy_install",
            "ensurepip",
            "get-pip.py",
            "npm-cli",
            "nbx",
            "degit",
            "create-react-app",
        ],
        matches: |look| {
            let local = matches!(look.name, "npx" | "bunx") && only_local(look.args());
            if local || only_help(look.args()) || look.args().is_empty() { None } else { Some(look.program()) }
        },
        denies: &[
            "npx tsc",
            "npx -y --no-install-x cowsay",
            "npx cowsay --no-install",
            "npx cowsay",
            "npx -y cowsay",
            "uvx ruff",
            "bunx x",
            "pnpx x",
            "easy_install x",
            "env npx x",
        ],
        allows: &[
            "npx --no-install tsc",
            "npx --no tsc -p .",
            "bunx --no-install tsc",
            "npx --version",
            "echo npx x",
            "ls npx",
        ],
    },
    Rule {
        id: "package_install.python_module",
        group: GROUP,
        sentence: SENTENCE,
        programs: &["python", "py", "pypy", "perl", "ruby", "rscript", "r"],
        matches: module,
        denies: &[
            "python -m pip install x",
            "python3 -m pip install x",
            "python3.12 -mpip install x",
            "python -m ensurepip",
            "python setup.py install",
            "perl -MCPAN -e 1",
            "python3 -I -m pip install x",
            "python -m easy_install x",
            "python3 -m pipx run x",
            "Rscript -e 'install.packages(\"x\")'",
        ],
        allows: &[
            "python -m pip list",
            "python3 -m pytest",
            "python3 -m venv .venv",
            "python setup.py test",
            "python3 -c 'print(\"pip install\")'",
        ],
    },
];

/// Whether a runner is told, before what it runs, to download nothing.
pub(super) fn only_local(words: &[Word]) -> bool {
    words
        .iter()
        .map_while(Word::known)
        .take_while(|text| text.starts_with('-'))
        .any(|text| matches!(text, "--no-install" | "--no"))
}

fn module(look: &Look<'_>) -> Option<Span> {
    let words = look.args();
    for (at, word) in words.iter().enumerate() {
        let text = word.prefix();
        let (module, rest) = if text == "-m"
            || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('m') && text.len() <= 4)
        {
            (words.get(at + 1).map(Word::prefix), words.get(at + 2..))
        } else if let Some(attached) = text.strip_prefix("-m").filter(|attached| !attached.is_empty()) {
            (Some(attached), words.get(at + 1..))
        } else {
            (None, None)
        };
        match module {
            Some("ensurepip" | "easy_install" | "pipx" | "conda") => return Some(word.span),
            Some("pip") => {
                let (command, _) = subcommand(rest.unwrap_or_default(), OWN)?;
                return one_of(command, &["install", "uninstall", "download", "wheel"]).then_some(command.span);
            }
            _ => {}
        }
        if text.ends_with("setup.py") {
            return words
                .get(at + 1..)?
                .iter()
                .find(|word| one_of(word, &["install", "develop", "easy_install"]))
                .map(|word| word.span);
        }
        if text == "-MCPAN"
            || (matches!(look.name, "rscript" | "r")
                && ["install.packages", "install_github", "BiocManager"].iter().any(|call| text.contains(call)))
        {
            return Some(word.span);
        }
    }
    None
}
