//! `package_install`: installing software. Where an approver exists, it is asked instead.

use super::args::{Arg, Spec, args, only_help, subcommand};
use super::{Look, Rule};
use crate::shell::{Group, Span, Word};

const GROUP: Group = Group::PackageInstall;

pub(super) const SENTENCE: &str = "installing software brings in code that nobody here has read; ask for an approval";

pub(super) const RULES: &[Rule] = &[Rule {
    id: "package_install.manager",
    group: GROUP,
    sentence: SENTENCE,
    programs: &[
        "pip",
        "pipx",
        "uv",
        "conda",
        "mamba",
        "micromamba",
        "poetry",
        "pdm",
        "pipenv",
        "rye",
        "hatch",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "corepack",
        "apk",
        "apt",
        "apt-get",
        "aptitude",
        "dpkg",
        "yum",
        "dnf",
        "microdnf",
        "tdnf",
        "zypper",
        "rpm",
        "pacman",
        "yay",
        "paru",
        "brew",
        "port",
        "gem",
        "bundle",
        "bundler",
        "cargo",
        "go",
        "snap",
        "flatpak",
        "nix",
        "nix-env",
        "nix-shell",
        "composer",
        "dotnet",
        "nuget",
        "luarocks",
        "cpan",
        "cpanm",
        "opam",
        "cabal",
        "stack",
        "choco",
        "scoop",
        "winget",
        "emerge",
        "xbps-install",
        "pkg",
        "pkg_add",
        "asdf",
        "mise",
        "nvm",
        "fnm",
        "volta",
        "rustup",
        "sdk",
        "gh",
        "vcpkg",
        "conan",
        "tlmgr",
        "guix",
        "opkg",
        "swupd",
        "eopkg",
        "helm",
        "krew",
        "code",
        "dnf5",
        "slackpkg",
        "installpkg",
        "urpmi",
        "apt-fast",
        "gdebi",
        "alien",
        "installer",
        "softwareupdate",
        "mas",
        "spack",
        "pixi",
        "julia",
        "rvm",
        "rbenv",
        "pyenv",
        "jabba",
        "claude",
        "terraform-install",
        "devbox",
        "coursier",
        "add-apt-repository",
        "apt-add-repository",
        "apt-key",
    ],
    matches: manager,
    denies: &[
        "pip install x",
        "pip3 install x",
        "pip3.11 install x",
        "pip -q install x",
        "pip uninstall x",
        "pip download x",
        "pipx install x",
        "pipx run x",
        "uv pip install x",
        "uv add x",
        "uv tool install x",
        "uv tool run x",
        "conda install x",
        "poetry add x",
        "poetry install",
        "npm install",
        "npm init foo",
        "npm init -y @a/b",
        "npm audit fix",
        "go run example.com/x@latest",
        "go run -race example.com/x@v1.2.3 a",
        "npm i x",
        "npm ci",
        "npm uninstall x",
        "npm exec x",
        "npm add x",
        "npm --prefix d install x",
        "pnpm add x",
        "pnpm i",
        "pnpm dlx x",
        "yarn add x",
        "yarn",
        "yarn global add x",
        "yarn dlx x",
        "bun add x",
        "bun x y",
        "apk add x",
        "apk del x",
        "apt install x",
        "apt-get -y install x",
        "apt update",
        "apt remove x",
        "aptitude install x",
        "dpkg -i x.deb",
        "yum install x",
        "dnf -y install x",
        "zypper in x",
        "rpm -ivh x.rpm",
        "pacman -S x",
        "pacman -Syu",
        "brew install x",
        "brew upgrade",
        "port install x",
        "gem install x",
        "bundle install",
        "bundle",
        "cargo install x",
        "go install x@latest",
        "go get x",
        "snap install x",
        "flatpak install x",
        "nix-env -iA x",
        "nix profile install x",
        "nix run x",
        "nix-shell -p x",
        "composer require x",
        "dotnet tool install x",
        "dotnet add package x",
        "luarocks install x",
        "cpan x",
        "cpanm x",
        "opam install x",
        "cabal install x",
        "choco install x",
        "winget install x",
        "emerge x",
        "rustup toolchain install nightly",
        "gh extension install a/b",
        "/usr/bin/pip install x",
        "p''ip install x",
        "FOO=1 npm install x",
        "pip $x",
        "npm \"$x\" y",
        "nvm install 20",
    ],
    allows: &[
        "pip list",
        "pip --version",
        "pip show x",
        "pip freeze",
        "npm test",
        "npm run build",
        "npm ls",
        "npm init -y",
        "npm init -w packages/a",
        "npm exec --no -- tsc",
        "npm audit",
        "go run . a@b",
        "go run ./cmd/x",
        "pnpm run build",
        "yarn test",
        "yarn run build",
        "apt list --installed",
        "apt search x",
        "apt-cache show x",
        "dpkg -l",
        "rpm -qa",
        "pacman -Q",
        "pacman -Ss x",
        "brew list",
        "gem list",
        "bundle exec rspec",
        "cargo build",
        "cargo test",
        "cargo add x",
        "go build ./...",
        "go test ./...",
        "uv run pytest",
        "poetry run x",
        "echo pip install x",
        "git commit -m 'npm install x'",
        "grep 'apt install' README.md",
        "dotnet build",
        "nix build",
        "conda list",
        "npm view x",
        "composer validate",
        "bun test",
        "deno fmt",
    ],
}];

/// Programs, and the subcommands by which they install.
const COMMANDS: &[(&str, &str)] = &[
    ("pip", "install uninstall download wheel"),
    ("pipx", "install run inject upgrade reinstall uninstall install-all upgrade-all runpip"),
    ("uv rye pixi", "add sync remove install global"),
    ("conda mamba micromamba", "install create update upgrade remove uninstall"),
    ("poetry pdm pipenv hatch", "add install remove update sync upgrade uninstall"),
    (
        "npm",
        "install i in ins inst insta instal isnt isnta isntal isntall add a ci clean-install ic install-clean install-test it install-ci-test cit uninstall un unlink remove rm r update up upgrade udpate exec x link ln rebuild rb create innit audit-fix",
    ),
    ("pnpm", "add install i dlx remove rm uninstall un update up upgrade create link import install-test it env x"),
    ("yarn", "add install global dlx create remove upgrade up link import unplug"),
    ("bun", "add install i a x create c remove rm update link upgrade"),
    ("deno", "install add i upgrade remove uninstall"),
    ("corepack", "enable prepare install use up"),
    ("apk", "add del upgrade fix update"),
    (
        "apt apt-get aptitude apt-fast",
        "install remove purge autoremove autopurge upgrade full-upgrade dist-upgrade safe-upgrade build-dep reinstall update edit-sources satisfy source download dselect-upgrade",
    ),
    (
        "yum dnf dnf5 microdnf tdnf",
        "install remove erase update upgrade reinstall downgrade localinstall groupinstall group module swap autoremove distro-sync builddep copr in rm up update-minimal",
    ),
    (
        "zypper",
        "install in remove rm update up dup dist-upgrade patch addrepo ar install-new-recommends inr source-install si",
    ),
    ("brew", "install uninstall remove rm upgrade reinstall tap cask link bundle update autoremove"),
    (
        "port pkg opkg swupd eopkg slackpkg guix spack",
        "install uninstall remove delete upgrade update selfupdate bundle-add add autoremove",
    ),
    ("gem", "install i uninstall update fetch exec"),
    ("bundle bundler", "install add update remove i plugin"),
    ("cargo", "install uninstall binstall"),
    ("go", "install get"),
    (
        "snap flatpak choco scoop winget mas luarocks opam cabal stack vcpkg conan tlmgr krew asdf mise nvm fnm volta sdk rvm rbenv pyenv jabba code",
        "install uninstall remove update upgrade refresh i get use add plugin reinstall --install-extension",
    ),
    ("composer", "require install global update remove create-project"),
    ("nuget", "install update restore"),
    ("helm", "install upgrade plugin"),
    ("softwareupdate", "-i --install"),
];

/// Whether this subcommand of this program installs; one that is not known may.
fn installs(name: &str, command: &Word) -> bool {
    COMMANDS
        .iter()
        .filter(|(programs, _)| programs.split(' ').any(|program| program == name))
        .any(|(_, commands)| commands.split(' ').any(|listed| command.may_be(listed)))
}

/// Programs that install whatever they are called for.
const ALWAYS: &[&str] = &[
    "emerge",
    "xbps-install",
    "pkg_add",
    "cpan",
    "cpanm",
    "installpkg",
    "urpmi",
    "gdebi",
    "alien",
    "installer",
    "yay",
    "paru",
    "add-apt-repository",
    "apt-add-repository",
    "apt-key",
];

/// Options of package managers that take a value before the subcommand.
pub(super) const OWN: Spec = Spec {
    short: "Cot",
    long: &[
        "prefix",
        "registry",
        "dir",
        "cwd",
        "filter",
        "python",
        "log",
        "proxy",
        "cert",
        "cache-dir",
        "root",
        "color",
        "config",
        "manifest-path",
        "project",
        "directory",
        "workspace",
        "userconfig",
        "installroot",
        "releasever",
        "repository",
        "-C",
    ],
};

fn manager(look: &Look<'_>) -> Option<Span> {
    let (name, words) = (look.name, look.args());
    if only_help(words) {
        return None;
    }
    if ALWAYS.contains(&name) {
        let lists =
            words.iter().any(|word| matches!(word.known(), Some("-l" | "list" | "-Q" | "-Qs" | "-Ss" | "search")));
        return if words.is_empty() || lists { None } else { Some(look.program()) };
    }
    if matches!(name, "dpkg" | "rpm" | "pacman" | "nix-env" | "nix-shell") {
        return by_letters(name, words);
    }
    // Without a subcommand these install what the project lists; `uv run --with` installs on the way.
    let bare = matches!(name, "yarn" | "bundle" | "bundler") && words.iter().all(|word| word.prefix().starts_with('-'));
    let with = name == "uv" && words.iter().any(|word| word.known() == Some("--with"));
    if bare || with {
        return Some(look.program());
    }
    if let Some(span) = by_pairs(name, words) {
        return Some(span);
    }
    // `cargo +nightly install`.
    let toolchain = words.first().is_some_and(|word| word.prefix().starts_with('+'));
    let (word, rest) = subcommand(words.get(usize::from(toolchain)..).unwrap_or_default(), OWN)?;
    if name == "npm" && word.known() == Some("exec") && super::package_runners::only_local(rest) {
        return None;
    }
    if let Some(span) = by_operand(name, word, rest) {
        return Some(span);
    }
    let listed = installs(name, word);
    let option = name == "code" && words.iter().any(|word| word.prefix().starts_with("--install-extension"));
    (listed || option).then_some(word.span)
}

/// `dpkg -i`, `rpm -U`, `pacman -S`: what is done is a letter.
fn by_letters(name: &str, words: &[Word]) -> Option<Span> {
    args(words, Spec { short: "", long: &[] }).find_map(|arg| match arg {
        Arg::Short(letter, _, word) => {
            let text = word.prefix();
            let installs = match name {
                "dpkg" => matches!(letter, 'i' | 'r' | 'P') && text.len() == 2,
                "rpm" => matches!(letter, 'i' | 'U' | 'F' | 'e') && !text.contains('q') && !text.contains('V'),
                "pacman" => matches!(letter, 'S' | 'U' | 'R') && !text.contains(['s', 'i', 'l', 'g']),
                "nix-env" => matches!(letter, 'i' | 'u' | 'e'),
                _ => letter == 'p',
            };
            (installs && text.starts_with('-')).then_some(word.span)
        }
        Arg::Long(name, _, word) => matches!(
            name,
            "install"
                | "unpack"
                | "remove"
                | "purge"
                | "configure"
                | "upgrade"
                | "freshen"
                | "erase"
                | "sync"
                | "packages"
                | "uninstall"
                | "import"
        )
        .then_some(word.span),
        Arg::Open(word) => Some(word.span),
        Arg::Operand(_) => None,
    })
}

/// Subcommands that download and run what their operand names: `npm init foo` is `npx create-foo`, and a version behind a
/// package (`go run example.com/x@latest`) is one that the project does not have.
fn by_operand(name: &str, word: &Word, rest: &[Word]) -> Option<Span> {
    let (operand, _) =
        subcommand(rest, Spec { short: "w", long: &["workspace", "scope", "modfile", "tags", "ldflags", "exec"] })?;
    let runs = match (name, word.known()?) {
        ("npm", "init") => true,
        ("go", "run") => operand.prefix().contains('@'),
        _ => false,
    };
    runs.then_some(operand.span)
}

/// Programs, a first word, and the second words with which it installs; none where the first says all.
const PAIRS: &[(&str, &str, &str)] = &[
    ("nix", "profile", "install add upgrade remove"),
    ("nix", "run", ""),
    ("nix", "shell", ""),
    ("nix", "develop", ""),
    ("dotnet", "tool", "install update uninstall restore"),
    ("dotnet", "add", "package"),
    ("dotnet", "workload", "install update"),
    ("dotnet", "new", "install"),
    ("rustup", "toolchain", "install add uninstall"),
    ("rustup", "component", "add"),
    ("rustup", "target", "add"),
    ("rustup", "update", ""),
    ("rustup", "install", ""),
    ("rustup", "self", "update"),
    ("gh", "extension", "install upgrade"),
    ("gh", "ext", "install upgrade"),
    ("claude", "plugin", "install"),
    ("npm", "audit", "fix"),
    ("guix", "shell", ""),
    ("guix", "environment", ""),
    ("devbox", "add", ""),
    ("coursier", "launch", ""),
    ("uv", "pip", "install uninstall sync"),
    ("uv", "tool", "install run upgrade uninstall"),
    ("uv", "python", "install"),
    ("uv", "self", "update"),
];

fn by_pairs(name: &str, words: &[Word]) -> Option<Span> {
    let (first, rest) = subcommand(words, OWN)?;
    PAIRS.iter().filter(|(program, word, _)| *program == name && first.may_be(word)).find_map(|(_, _, seconds)| {
        if seconds.is_empty() || first.known().is_none() {
            return Some(first.span);
        }
        let (second, _) = subcommand(rest, OWN)?;
        seconds.split(' ').any(|listed| second.may_be(listed)).then_some(second.span)
    })
}
