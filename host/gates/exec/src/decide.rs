//! The decision: effect, then what every layer grants, then the command scanner, then a person where the scanner asks for one. What may run
//! becomes a plan for the confinement.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is made once for a refused command and handed on at once; boxing it would cost more than moving it"
)]

use crate::approvals::{Answer, Approvals, MAX_ASKED, Place, Question, Runs, Unavailable, field};
use crate::bindings::caisson::host::exec::{Command, Options};
use crate::bindings::caisson::host::failures::Code;
use crate::programs::{Ground, Launched, Programs, launched};
use crate::settings::{ExecSettings, MAX_SECONDS};
use crate::{ExecCtx, OpenWorkspace};
use caisson_call::Ledger;
use caisson_confine::{Access as Workspace, Plan, Program, Stdin, WORKSPACE};
use caisson_contract::{Access, Capabilities, Effect, Hosts, HttpRule, LayerSource, Layers, MOUNT};
use caisson_docker::Sandbox;
use caisson_guard::shell::{Ask, Decision, Mode, Remember, Seen, Setting, judge, scan, see};
use caisson_programs::Asked;
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Characters of a command in a refusal and in the audit.
const MAX_SHOWN: usize = 200;

/// A command that may run. Only [`decide`] makes one.
pub(crate) struct Allowed {
    pub(crate) plan: Plan,
    /// Whether it may reach the proxy.
    pub(crate) network: bool,
    /// The container it runs in; on the host where there is none.
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) input: Vec<u8>,
    pub(crate) timeout: Duration,
    /// The command, escaped and short.
    pub(crate) shown: String,
    /// Where it is a program that is started with credentials.
    pub(crate) launched: Option<Launched>,
}

/// A command that may not run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) rule: String,
    /// The command, escaped and short.
    pub(crate) subject: String,
    /// What the rule says.
    pub(crate) why: String,
    /// The smallest change that would allow it; empty where nothing would.
    pub(crate) grant: String,
    /// The deny group, where one decided.
    pub(crate) group: Option<&'static str>,
    /// The part of the command that the rule is about, escaped and short.
    pub(crate) excerpt: String,
    /// The approval that the command waits for.
    pub(crate) approval: Option<String>,
}

impl Refusal {
    pub(crate) fn denied(rule: impl Into<String>, why: impl Into<String>, grant: impl Into<String>) -> Self {
        Self {
            code: Code::Denied,
            rule: rule.into(),
            subject: String::new(),
            why: why.into(),
            grant: grant.into(),
            group: None,
            excerpt: String::new(),
            approval: None,
        }
    }

    fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }
}

pub(crate) async fn decide(
    ctx: &ExecCtx,
    agent: Option<&str>,
    workspace: &OpenWorkspace<'_>,
    command: Command,
    options: Options,
) -> Result<Allowed, Refusal> {
    let shown = show(&command);
    decided(ctx, agent, workspace, command, options, &shown)
        .await
        .map_err(|refusal| Refusal { subject: format!("run `{shown}`"), ..refusal })
}

async fn decided(
    ctx: &ExecCtx,
    agent: Option<&str>,
    workspace: &OpenWorkspace<'_>,
    command: Command,
    options: Options,
    shown: &str,
) -> Result<Allowed, Refusal> {
    granted(&ctx.layers, &command)?;
    let access = workspace_access(&ctx.layers)?;
    let settings = ExecSettings::read(&ctx.settings, agent).map_err(|fault| {
        Refusal::denied("exec.settings", "the settings of this plugin cannot be read", format!("mending {fault}"))
    })?;
    let directory = directory(options.directory.as_deref())?;
    let mut setting = settings.setting(&seen_as(&directory), &ctx.executor.config.denied);
    let mut environment = ctx.executor.config.environment.clone();
    let mut variables = Vec::new();
    for variable in options.env {
        // As a shell would be told it: the rules about variables are the scanner's, and nobody is asked about one.
        let assignment = format!("{}={}", variable.name, quoted(&variable.value));
        let alone = Setting { mode: Mode::DenyGroups, ask: Ask::Off, ..setting.clone() };
        passed(scanned(&format!("{assignment} true"), None, &alone))?;
        variables.push(assignment);
        environment.insert(variable.name, variable.value);
    }
    let text = text_of(&command);
    // Containers have none.
    let network = settings.sandbox.is_none() && networked(&ctx.layers);
    let ground = Ground { in_container: settings.sandbox.is_some(), network };
    // What cannot be read is refused by the scanner, which says why.
    let seen = see(&text, setting.dialect).ok();
    let launched = match (ctx.programs.as_deref(), &seen) {
        (Some(programs), Some(seen)) => {
            let input = options.stdin.as_ref().is_some_and(|input| !input.is_empty());
            let asked = Asked { text: &text, seen, input, variables: !variables.is_empty() };
            registered(ctx, programs, &asked, ground, &mut setting).await?
        }
        _ => None,
    };
    let mut plan = Plan::new(program(command)?);
    plan.environment = environment;
    plan.directory = directory;
    plan.workspace = access;
    match &settings.sandbox {
        // The system that it sees is the image's.
        Some(sandbox) => plan.limits = sandbox.limits(),
        None => {
            plan.system.clone_from(&ctx.executor.config.system);
            plan.limits = ctx.executor.config.limits;
        }
    }
    if let Some(launched) = &launched {
        launched.fill(&mut plan, &ctx.executor.config);
    }
    plan.stdin = if options.stdin.is_some() { Stdin::Piped } else { Stdin::Empty };
    plan.check().map_err(|fault| invalid(fault.to_string()))?;
    let most = launched.as_ref().map(Launched::timeout);
    let timeout = timeout(options.timeout_ms, most.unwrap_or(settings.timeout))?;
    let timeout = most.map_or(timeout, |most| timeout.min(most));
    let (input, sandbox) = (options.stdin.unwrap_or_default(), settings.sandbox.clone());
    let allowed = Allowed { plan, network, sandbox, input, timeout, shown: shown.to_owned(), launched };
    match ctx.approvals.as_deref().filter(|_| settings.ask != Ask::Off) {
        None => passed(scanned(&text, seen.as_ref(), &setting))?,
        Some(approvals) => {
            let workspace = workspace().map_err(|error| {
                tracing::error!(%error, "the workspace of a command cannot be opened");
                unavailable("the workspace cannot be opened; try again later")
            })?;
            Asking {
                approvals,
                ctx,
                workspace,
                text: &text,
                seen: seen.as_ref(),
                variables: &variables,
                allowed: &allowed,
            }
            .judged(setting)
            .await?;
        }
    }
    Ok(allowed)
}

/// Whether it is started with credentials. The scanner is told in any case what is registered, and judges it as well.
async fn registered(
    ctx: &ExecCtx,
    programs: &dyn Programs,
    asked: &Asked<'_>,
    ground: Ground,
    setting: &mut Setting,
) -> Result<Option<Launched>, Refusal> {
    let roster = programs.roster().await.map_err(|Unavailable| {
        unavailable("which programs run with credentials cannot be read now, and this could be one; try again later")
    })?;
    setting.registered = roster.registered();
    setting.granted = roster.granted();
    launched(asked, &roster, ground, &ctx.executor.config)
}

/// A command that a person may be asked about.
struct Asking<'a> {
    approvals: &'a dyn Approvals,
    ctx: &'a ExecCtx,
    workspace: OwnedFd,
    text: &'a str,
    seen: Option<&'a Seen>,
    variables: &'a [String],
    allowed: &'a Allowed,
}

impl Asking<'_> {
    fn place(&self) -> Place<'_> {
        Place {
            config: &self.ctx.executor.config,
            directory: &self.allowed.plan.directory,
            workspace: &self.workspace,
            in_image: self.allowed.sandbox.is_some(),
        }
    }

    async fn judged(&self, setting: Setting) -> Result<(), Refusal> {
        // With variables or input of its own a command is another one than its words say, so it is neither remembered nor recognised. Nor is one
        // with credentials: what was approved of the same words may have been so when they had none.
        let plain = self.variables.is_empty() && self.allowed.input.is_empty() && self.allowed.launched.is_none();
        let remembered = if plain { self.approvals.remembered().await.map_err(no_approvals)? } else { Vec::new() };
        let setting = Setting { approver: true, remembered: self.place().still(remembered), ..setting };
        let Err(NotPassed { refusal, asks }) = scanned(self.text, self.seen, &setting) else { return Ok(()) };
        let Some(remember) = asks else { return Err(refusal) };
        let question = self.question(&refusal, remember, plain)?;
        let digest = question.digest.clone();
        // A person takes longer than a call may; the wait has an end of its own.
        let outside = Ledger::outside(&self.ctx.ledger);
        let answer = self.approvals.ask(question).await.map_err(no_approvals)?;
        drop(outside);
        if let Answer::Approved { id } = &answer {
            if self.digest()?.1 != digest {
                let why = "a file that the command runs was changed after the approval was asked for";
                return Err(Refusal::denied("exec.approval-changed", why, "a new approval: call again"));
            }
            self.ctx.ledger.note(format!("approval {id}"));
        }
        answered(answer, refusal)
    }

    fn question(&self, refusal: &Refusal, remember: BTreeSet<Remember>, plain: bool) -> Result<Question, Refusal> {
        let mut command = self.variables.iter().map(|assignment| format!("{assignment} ")).collect::<String>();
        command.push_str(self.text);
        if !self.allowed.input.is_empty() {
            command.push_str("\n[input] ");
            command.push_str(&String::from_utf8_lossy(&self.allowed.input));
        }
        if command.len() > MAX_ASKED {
            let why = format!("a command of more than {MAX_ASKED} bytes, input included, cannot be judged by a person");
            return Err(Refusal::denied("exec.approval-too-long", why, "a shorter command"));
        }
        let (programs, digest) = self.digest()?;
        let credentials = self.allowed.launched.as_ref();
        let with =
            credentials.map(|one| format!("; it runs with the credentials of `{}`", one.name())).unwrap_or_default();
        Ok(Question {
            command: command.escape_debug().to_string(),
            directory: seen_as(&self.allowed.plan.directory).escape_debug().to_string(),
            rule: refusal.rule.clone(),
            why: format!("{}{with}", refusal.why),
            excerpt: refusal.excerpt.clone(),
            programs,
            remember: if plain { self.place().to_remember(remember) } else { Vec::new() },
            digest,
        })
    }

    /// The programs of the command, and a digest of all that decides what runs.
    fn digest(&self) -> Result<(Vec<PathBuf>, String), Refusal> {
        let runs = match &self.allowed.launched {
            Some(launched) => Runs { programs: vec![launched.file().to_owned()], digest: launched.digest() },
            None => self.place().runs(self.text).map_err(|error| {
                let why = format!("what the command would run cannot be read: {error}");
                Refusal::denied(
                    "exec.approval-unreadable",
                    why,
                    "running something smaller, or a program of the system",
                )
            })?,
        };
        let plan = &self.allowed.plan;
        let mut hasher = blake3::Hasher::new();
        let image = self.allowed.sandbox.as_ref().map_or("", Sandbox::image);
        for part in [self.text, &plan.directory.to_string_lossy(), &runs.digest, image] {
            field(&mut hasher, part.as_bytes());
        }
        let shell = matches!(plan.program, Program::Shell(_));
        let writes = plan.workspace == Workspace::ReadWrite;
        field(&mut hasher, &[shell.into(), writes.into(), self.allowed.network.into()]);
        field(&mut hasher, &self.allowed.input);
        field(&mut hasher, &self.allowed.timeout.as_nanos().to_le_bytes());
        for assignment in self.variables {
            field(&mut hasher, assignment.as_bytes());
        }
        Ok((runs.programs, hasher.finalize().to_hex().to_string()))
    }
}

fn unavailable(why: &str) -> Refusal {
    Refusal::denied("exec.unavailable", why, "").coded(Code::Unavailable)
}

fn no_approvals(_: Unavailable) -> Refusal {
    unavailable("approvals cannot be read or kept now; try again later")
}

/// What a person said of it. `asked` is what the scanner would have said without one.
fn answered(answer: Answer, asked: Refusal) -> Result<(), Refusal> {
    let no =
        |rule: &str, why: String, grant: &str| Err(Refusal { group: asked.group, ..Refusal::denied(rule, why, grant) });
    match answer {
        Answer::Approved { .. } => Ok(()),
        Answer::Denied { id } => no(
            "exec.approval-denied",
            format!("a person denied it (approval `{id}`)"),
            "that person's approval: ask them first",
        ),
        Answer::Expired { id } => no(
            "exec.approval-expired",
            format!("nobody answered in time (approval `{id}`)"),
            "calling again once somebody can answer, with `caisson approvals` or the API",
        ),
        Answer::Full => no(
            "exec.approvals-full",
            "too many commands of this agent wait for a person already".into(),
            "an answer to one of those that wait",
        ),
        Answer::Waiting { id } => {
            let grant = format!("the approval `{id}`; call again with the same arguments once it is given");
            let waits = Refusal { grant, approval: Some(id), ..asked };
            Err(waits.coded(Code::NeedsApproval))
        }
    }
}

/// A refusal about a registered program.
pub(crate) fn denied_by(refusal: caisson_programs::Refusal) -> Refusal {
    let caisson_programs::Refusal { rule, program, about, grant, .. } = refusal;
    let what = [program.as_str(), about.as_str()].into_iter().filter(|part| !part.is_empty());
    let what = what.map(|part| format!("`{part}`")).collect::<Vec<_>>().join(": ");
    let why = if what.is_empty() { rule.sentence().to_owned() } else { format!("{} ({what})", rule.sentence()) };
    Refusal { excerpt: about, ..Refusal::denied(rule.id(), why, grant) }
}

fn invalid(why: String) -> Refusal {
    Refusal::denied("exec.invalid", why, "").coded(Code::Invalid)
}

/// What every layer says about this command, by effect first.
fn granted(layers: &Layers, command: &Command) -> Result<(), Refusal> {
    if layers.effect() == Effect::ReadOnly {
        let grant = "effect `mutating` in the tool's description";
        return Err(Refusal::denied(
            "exec.effect-read-only",
            "a tool whose effect is read-only runs no command",
            grant,
        ));
    }
    let allows = |capabilities: &Capabilities| match (&capabilities.exec, command) {
        (None, _) => Err(()),
        (Some(rule), Command::Shell(_)) => rule.shell.then_some(()).ok_or(()),
        (Some(rule), Command::Program(words)) => {
            let named = words.first().is_some_and(|program| rule.programs.contains(program));
            (rule.shell || named).then_some(()).ok_or(())
        }
    };
    let all = layers.all(|layer| allows(&layer.capabilities), || ());
    all.map(drop).map_err(|(source, ())| not_granted(source, command))
}

/// A network only where every layer gives commands one, and names a host to reach.
fn networked(layers: &Layers) -> bool {
    let named = |rule: &HttpRule| matches!(&rule.hosts, Hosts::List(hosts) if !hosts.is_empty());
    let of = |capabilities: &Capabilities| {
        capabilities.exec.as_ref().is_some_and(|rule| rule.network) && capabilities.http.iter().any(named)
    };
    layers.all(|layer| of(&layer.capabilities).then_some(()).ok_or(()), || ()).is_ok()
}

fn not_granted(source: LayerSource, command: &Command) -> Refusal {
    let line = match command {
        Command::Program(words) if !words.is_empty() => {
            format!("programs = [\"{}\"]", escaped(words.first().map(String::as_str).unwrap_or_default()))
        }
        Command::Program(_) | Command::Shell(_) => "shell = true".to_owned(),
    };
    let grant = format!("`{line}` under [capabilities.exec], declared and granted");
    Refusal::denied(format!("exec.not-{}", source.verb()), "this command is not granted", grant).coded(Code::NotGranted)
}

/// A command sees the workspace as a whole, so it runs only where all of it is granted.
fn workspace_access(layers: &Layers) -> Result<Workspace, Refusal> {
    let of = |capabilities: &Capabilities| match capabilities.files.get(MOUNT) {
        None => Err(("exec.no-workspace", "a command runs in the workspace, and none is granted")),
        Some(rule) if rule.paths.is_some() => {
            Err(("exec.workspace-narrowed", "a command sees the whole workspace, and only some paths are granted"))
        }
        Some(rule) => Ok(rule.access),
    };
    let access = layers.all(|layer| of(&layer.capabilities), || ("exec.no-workspace", "nothing is granted"));
    let access = access.map_err(|(_, (rule, why))| {
        let grant =
            format!("`\"{MOUNT}\" = \"read-write\"` (or `\"read\"`) under [capabilities.files], without `paths`");
        Refusal::denied(rule, why, grant).coded(Code::NotGranted)
    })?;
    let writes = access.iter().all(|access| *access == Access::ReadWrite);
    Ok(if writes { Workspace::ReadWrite } else { Workspace::ReadOnly })
}

/// Relative to the workspace; as guests also name it, `/workspace/…`.
fn directory(named: Option<&str>) -> Result<PathBuf, Refusal> {
    let named = Path::new(named.unwrap_or_default());
    let below = named.strip_prefix(WORKSPACE).unwrap_or(named);
    if below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Ok(below.components().filter(|part| matches!(part, Component::Normal(_))).collect());
    }
    let why = format!("the directory `{}` is not below the workspace", escaped(&named.to_string_lossy()));
    Err(Refusal::denied("exec.directory", why, "a plain path in the workspace, without `..`"))
}

/// A directory below the workspace as commands see it.
fn seen_as(directory: &Path) -> String {
    // Collected anew, since joining nothing leaves a slash at the end.
    Path::new(WORKSPACE).join(directory).components().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// What the scanner does not let pass.
struct NotPassed {
    refusal: Refusal,
    /// Where a person may decide: what an approval for good would be about, empty where it can only be given once.
    asks: Option<BTreeSet<Remember>>,
}

/// Of what nobody is asked about.
fn passed(scanned: Result<(), NotPassed>) -> Result<(), Refusal> {
    scanned.map_err(|not| not.refusal)
}

/// `seen` is what was seen of the text already.
fn scanned(text: &str, seen: Option<&Seen>, setting: &Setting) -> Result<(), NotPassed> {
    let verdict = match seen {
        Some(seen) => judge(text, seen, setting),
        None => scan(text, setting),
    };
    let rule = format!("exec.{}", verdict.rule);
    let excerpt = escaped(&verdict.excerpt);
    let why = format!("{} (`{excerpt}`)", verdict.sentence);
    let group = verdict.group.map(|group| group.as_str());
    let refusal = Refusal { group, excerpt, ..Refusal::denied(rule, why, verdict.grant) };
    match verdict.decision {
        Decision::Allow => Ok(()),
        Decision::Deny => Err(NotPassed { refusal, asks: None }),
        Decision::Ask => Err(NotPassed { refusal, asks: Some(verdict.remember.into_iter().collect()) }),
    }
}

/// What the scanner reads: for a program and its arguments, the line that a shell would read as just these words.
fn text_of(command: &Command) -> String {
    match command {
        Command::Shell(text) => text.clone(),
        Command::Program(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

/// Words that a shell reads as its own where they stand first.
const RESERVED: [&str; 21] = [
    "!", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while", "{", "}", "[[",
];

fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) && !RESERVED.contains(&word) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn program(command: Command) -> Result<Program, Refusal> {
    match command {
        Command::Shell(text) => Ok(Program::Shell(text)),
        Command::Program(words) => {
            let mut words = words.into_iter();
            let program = words.next().ok_or_else(|| invalid("no program is named".into()))?;
            Ok(Program::Command { program, arguments: words.collect() })
        }
    }
}

fn timeout(asked: Option<u32>, settings: Duration) -> Result<Duration, Refusal> {
    match asked {
        None => Ok(settings),
        Some(0) => Err(invalid("a timeout of 0 lets nothing run; leave it out for the default".into())),
        Some(millis) => Ok(Duration::from_millis(millis.into()).min(Duration::from_secs(MAX_SECONDS))),
    }
}

fn show(command: &Command) -> String {
    escaped(&text_of(command))
}

fn escaped(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use caisson_guard::shell::Dialect;

    #[test]
    fn words_are_read_by_the_scanner_as_they_are_given() {
        for words in [
            vec!["git", "commit", "-m", "it's $HOME; `rm -rf /`"],
            vec!["a b", "", "\"", "\\", "~", "*", "{a,b}", "x=y", "#"],
            // Quoted, a name is no assignment.
            vec!["x=y", "z"],
            vec!["if", "time", "!"],
        ] {
            let command = Command::Program(words.iter().map(|word| (*word).to_owned()).collect());
            let seen = see(&text_of(&command), Dialect::default());
            let read: Option<Vec<String>> = seen.ok().and_then(|seen| {
                let one = seen.invocations.first()?;
                let words = one.program.iter().chain(&one.args);
                words.map(|word| word.known().map(str::to_owned)).collect()
            });
            assert_eq!(read, Some(words.iter().map(|word| (*word).to_owned()).collect()), "{words:?}");
        }
    }

    #[test]
    fn what_is_shown_of_a_command_is_short_and_cannot_look_like_host_text() {
        let shown = show(&Command::Shell(format!("echo `id`\n\u{202e}{}", "x".repeat(5_000))));
        assert!(shown.starts_with("echo 'id'\\n\\u{202e}xxx") && shown.chars().count() < 300, "{shown}");
    }

    #[test]
    fn a_directory_is_below_the_workspace_or_refused() {
        for bad in ["..", "/etc", "a/../b", "/workspace/../etc", "/workspaces"] {
            assert_eq!(directory(Some(bad)).map_err(|no| no.rule), Err("exec.directory".to_owned()), "{bad}");
        }
        for (good, path) in [("", ""), ("a/b", "a/b"), ("/workspace", ""), ("/workspace/a", "a"), ("./a", "a")] {
            assert_eq!(directory(Some(good)), Ok(PathBuf::from(path)), "{good}");
        }
    }
}
