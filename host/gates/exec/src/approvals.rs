//! Asking a person: what is asked, by whom it is answered, and what the answer is bound to.

use crate::executor::ExecConfig;
use async_trait::async_trait;
use caisson_confine::WORKSPACE;
use caisson_guard::shell::{Dialect, Remember, Source, see};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Most bytes of a command that a person is asked about: what cannot be read at a glance is not approved.
pub(crate) const MAX_ASKED: usize = 4 << 10;

/// Most bytes of one file that a command runs, where an approval is bound to its content.
const MAX_FILE: u64 = 64 << 20;

/// A command that waits for a person.
#[derive(Clone, Debug)]
pub struct Question {
    /// The whole command with its variables and input, escaped.
    pub command: String,
    /// Where it starts, as commands see it: `/workspace/…`.
    pub directory: String,
    /// The rule that asks.
    pub rule: String,
    /// What the rule says.
    pub why: String,
    /// The part of the command that the rule is about, escaped and short.
    pub excerpt: String,
    /// The files that its programs' names stand for now.
    pub programs: Vec<PathBuf>,
    /// What an approval for good would be about; empty where it can only be given once.
    pub remember: Vec<Remembered>,
    /// Hex digest of all that decides what would run: words, variables, input, directory, access, deadline, and the programs with the content of
    /// those that lie in the workspace.
    pub digest: String,
}

/// One program with the shape of its arguments, approved for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The program as written.
    pub program: String,
    /// Its wrappers, options, subcommand and code as they are, and `*` for other arguments.
    pub shape: String,
    /// The file that its name stood for when it was approved: another file of that name is another program.
    pub path: PathBuf,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A person said yes; the approval is used up.
    Approved {
        /// Identifier of the approval.
        id: String,
    },
    /// A person said no.
    Denied {
        /// Identifier of the approval.
        id: String,
    },
    /// Nobody answered in time.
    Expired {
        /// Identifier of the approval.
        id: String,
    },
    /// Nobody answered yet, and the call waits no longer.
    Waiting {
        /// Identifier of the approval.
        id: String,
    },
    /// Too many questions of this caller wait already.
    Full,
}

/// Whoever keeps what decides about commands cannot answer now; what needs it does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what decides about commands cannot be read or written now")]
pub struct Unavailable;

/// Those who approve commands, for the principal, the component and the arguments of one call.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// What was approved for good.
    ///
    /// # Errors
    /// Where it cannot be read.
    async fn remembered(&self) -> Result<Vec<Remembered>, Unavailable>;

    /// Asks, and waits as long as the call may.
    ///
    /// # Errors
    /// Where the question cannot be kept.
    async fn ask(&self, question: Question) -> Result<Answer, Unavailable>;
}

/// Where names of programs are looked up.
pub(crate) struct Place<'a> {
    pub(crate) config: &'a ExecConfig,
    /// Below the workspace.
    pub(crate) directory: &'a Path,
    pub(crate) workspace: &'a OwnedFd,
    /// Whether names are looked up in an image, of which nothing is known here.
    pub(crate) in_image: bool,
}

/// What a command would run, as far as an approval is bound to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// The files of its programs outside the workspace.
    pub(crate) programs: Vec<PathBuf>,
    /// Hex digest of them, and of the content of every file in the workspace that it runs.
    pub(crate) digest: String,
}

impl Place<'_> {
    /// The file of the system that a name stands for, through links. In its confinement a command sees the same one, since the system is all
    /// that it sees of the host.
    pub(crate) fn resolve(&self, program: &str) -> Option<PathBuf> {
        if self.in_image {
            return None;
        }
        let absolute = || Some(PathBuf::from(program)).filter(|path| path.is_absolute());
        let found = if program.contains('/') { absolute() } else { self.config.look_up(program) };
        self.config.within(&found?)
    }

    /// Those of what was approved for good whose name still stands for the same file.
    pub(crate) fn still(&self, remembered: Vec<Remembered>) -> BTreeSet<Remember> {
        let same = |one: &Remembered| self.resolve(&one.program).is_some_and(|path| path == one.path);
        let seen = |one: Remembered| Remember { program: one.program, shape: one.shape };
        remembered.into_iter().filter(same).map(seen).collect()
    }

    /// With each program's file; nothing where one has none that stays what it is.
    pub(crate) fn to_remember(&self, asked: BTreeSet<Remember>) -> Vec<Remembered> {
        let with_path = |Remember { program, shape }| {
            let path = self.resolve(&program)?;
            Some(Remembered { program, shape, path })
        };
        asked.into_iter().map(with_path).collect::<Option<_>>().unwrap_or_default()
    }

    /// # Errors
    /// What cannot be read of it.
    pub(crate) fn runs(&self, command: &str) -> std::io::Result<Runs> {
        let Ok(seen) = see(command, Dialect::default()) else { return Ok(Runs::default()) };
        let mut named = BTreeSet::new();
        for one in &seen.invocations {
            named.extend(one.program.as_ref().and_then(|word| word.known()).map(str::to_owned));
            for code in &one.code {
                if let Source::File(word) = &code.source {
                    named.extend(word.known().map(|name| format!("./{name}")));
                }
            }
        }
        let mut hasher = blake3::Hasher::new();
        let mut programs = Vec::new();
        for name in named {
            field(&mut hasher, name.as_bytes());
            if let Some(path) = self.resolve(&name) {
                field(&mut hasher, path.as_os_str().as_encoded_bytes());
                programs.push(path);
            } else if let Some(content) = self.content(&name)? {
                field(&mut hasher, content.as_bytes());
            }
        }
        Ok(Runs { programs, digest: hasher.finalize().to_hex().to_string() })
    }

    /// Digest of a file in the workspace; none where there is no such file.
    fn content(&self, name: &str) -> std::io::Result<Option<blake3::Hash>> {
        let name = name.strip_prefix("./").filter(|rest| rest.starts_with('/')).unwrap_or(name);
        let path = match Path::new(name).strip_prefix(WORKSPACE) {
            Ok(below) => below.to_owned(),
            Err(_) => self.directory.join(name),
        };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let Ok(file) = openat2(self.workspace.as_fd(), &path, flags, Mode::empty(), within) else { return Ok(None) };
        let file = std::fs::File::from(file);
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut hasher = blake3::Hasher::new();
        let read = hasher.update_reader((&file).take(MAX_FILE + 1))?.count();
        if read > MAX_FILE {
            return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "a file that it runs is too large"));
        }
        Ok(Some(hasher.finalize()))
    }
}

/// One field of what is hashed, with its length before it, so that two fields never read as one.
pub(crate) fn field(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}
