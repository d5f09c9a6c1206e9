//! Paths that no command may name: the gateway's own data.

use crate::shell::rules::look::{Folders, Look};
use crate::shell::rules::steps;
use crate::shell::{Language, Span, Word};

/// Denied paths and the exceptions from them.
#[derive(Clone, Debug, Default)]
pub struct PathDeny {
    denied: Vec<Place>,
    exempt: Vec<Place>,
    workspace: String,
}

/// A path of a setting.
#[derive(Clone, Debug)]
enum Place {
    /// Absolute, or from `~`.
    At(String),
    /// Steps that may stand anywhere, as `.data/` in any folder.
    Steps(String),
}

impl PathDeny {
    /// From a workspace (absolute) and paths. A path that is neither absolute nor from `~` denies its steps wherever they
    /// stand; as an exemption it counts below a denied path, below the workspace, and where a denied one of its kind begins it.
    #[must_use]
    pub fn new(workspace: &str, denied: &[&str], exempt: &[&str]) -> Self {
        let places = |paths: &[&str]| {
            let known = paths.iter().map(|path| path.trim()).filter(|path| !path.is_empty());
            known.map(Place::read).collect()
        };
        Self { denied: places(denied), exempt: places(exempt), workspace: steps::resolve(workspace, "/") }
    }

    /// Where commands start.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Whether a path (absolute, or from `~`) is denied, exemptions aside.
    fn denies(&self, path: &str) -> bool {
        self.denied.iter().any(|place| match place {
            Place::At(denied) => steps::may_be_within(path, denied),
            Place::Steps(steps) => has_run(path, steps),
        })
    }

    /// Whether a path lies under an exemption.
    fn exempts(&self, path: &str) -> bool {
        self.exempt.iter().any(|place| match place {
            Place::At(exempt) => surely_within(path, exempt),
            Place::Steps(steps) => {
                surely_within(path, &steps::resolve(steps, &self.workspace))
                    || self.denied.iter().any(|denied| match denied {
                        Place::At(denied) => surely_within(path, &steps::resolve(steps, denied)),
                        Place::Steps(denied) => {
                            steps.strip_prefix(denied.as_str()).is_some_and(|rest| rest.starts_with('/'))
                                && has_run(path, steps)
                        }
                    })
            }
        })
    }

    /// Whether a folder holds a denied path and lies outside of the workspace.
    fn holds(&self, folder: &str) -> bool {
        let inside = self.workspace != "/" && surely_within(folder, &self.workspace);
        !inside && self.denied.iter().any(|place| matches!(place, Place::At(denied) if steps::within(denied, folder)))
    }
}

impl Place {
    fn read(path: &str) -> Self {
        if path.starts_with(['/', '~']) {
            Self::At(steps::resolve(path, "/"))
        } else {
            Self::Steps(steps::resolve(path, "").trim_start_matches('/').to_owned())
        }
    }
}

/// Whether the steps of `run` stand side by side in a path.
fn has_run(path: &str, run: &str) -> bool {
    steps::has_steps(path, run)
}

/// As [`steps::within`], for what is known only: a pattern or an unknown part is never surely anywhere.
fn surely_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || place == "/")
}

/// Programs that go through whole folders.
const RECURSIVE: &[&str] = &[
    "find", "rg", "ag", "ack", "tar", "zip", "rsync", "du", "tree", "fd", "fdfind", "bfs", "gfind", "ncdu", "scp",
    "7z", "grep", "egrep", "fgrep", "cp", "ls", "mv", "chmod", "chown", "rm",
];

/// The first word that names a denied path without being exempt. One word that is not exempt is enough, whatever the others
/// are, and so is one that says `..` on its way.
pub(crate) fn check(deny: &PathDeny, look: &Look<'_>, folders: &Folders) -> Option<Span> {
    if deny.denied.is_empty() {
        return None;
    }
    let lists_below = |word: &Word| {
        let option = word.prefix();
        option == "--recursive" || (option.starts_with('-') && !option.starts_with("--") && option.contains('R'))
    };
    // `ls` alone names what is in a folder and goes into none.
    let recursive = RECURSIVE.contains(&look.name) && (look.name != "ls" || look.args().iter().any(lists_below));
    for named in &look.named {
        // Wherever `cd` may have gone, and the workspace.
        let path = steps::resolve(&named.path, &folders.workspace);
        let climbs = named.written.split('/').any(|step| step == "..");
        if climbs && passes(deny, &named.written, folders) {
            return Some(named.span);
        }
        let hit = deny.denies(&path)
            || (recursive && !named.redirected && deny.holds(&path) && named.written.contains(['/', '~', '.']));
        if hit && (climbs || !deny.exempts(&path)) {
            return Some(named.span);
        }
    }
    in_text(deny, look, folders)
}

/// The most steps of a path that climbs; nobody writes that many, and each is judged.
const MOST_STEPS: usize = 256;

/// Whether a path that says `..` goes through a denied one on its way: a link there would make it end elsewhere than it reads.
fn passes(deny: &PathDeny, written: &str, folders: &Folders) -> bool {
    if written.split('/').count() > MOST_STEPS {
        return true;
    }
    folders.current.iter().any(|base| {
        let mut path = if written.starts_with(['/', '~']) { String::new() } else { base.clone() };
        written.split('/').any(|step| {
            match step {
                "" | "." => return false,
                ".." => path.truncate(path.rfind('/').unwrap_or(0)),
                _ => {
                    if !step.starts_with('~') || !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(step);
                }
            }
            deny.denies(&path)
        })
    })
}

/// Denied paths within code, and within text that goes on to another program.
fn in_text(deny: &PathDeny, look: &Look<'_>, folders: &Folders) -> Option<Span> {
    let passes_on = !look.one.feeds.is_empty() || look.one.place != crate::shell::Place::Top;
    let text = if passes_on && matches!(look.name, "echo" | "printf" | "print") { look.args() } else { &[] };
    let code = look.code().filter(|code| code.language != Language::Shell).map(|code| code.word);
    text.iter()
        .chain(code)
        .chain(
            look.one
                .redirects
                .iter()
                .filter_map(|one| matches!(one.kind, crate::shell::RedirectKind::HereString).then_some(&one.target)),
        )
        .find(|word| {
            let text = steps::text_of(word, &folders.workspace);
            let breaks = |c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        '\'' | '"' | '`' | '(' | ')' | ',' | ';' | '<' | '>' | '{' | '}' | '[' | ']' | '=' | '|' | '&'
                    )
            };
            text.split(breaks).filter(|part| part.contains('/') || part.contains('.')).any(|part| {
                let path = steps::resolve(part, &folders.workspace);
                deny.denies(&path) && (part.contains("..") || !deny.exempts(&path))
            })
        })
        .map(|word| word.span)
}
