//! The arguments of every command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Runs AI-agent tools as sealed WebAssembly components.
#[derive(Parser)]
#[command(name = "caisson", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print one JSON document instead of text for people.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to log to standard error, such as `info` or `caisson_engine=debug`; warnings of the gateway where nothing is given.
    // The MCP library logs clients' mistakes and the ends of streams as errors; the gateway says what an operator should know.
    #[arg(long, global = true, env = "CAISSON_LOG", default_value = "warn,rmcp=off", hide_default_value = true)]
    pub(crate) log: String,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the gateway: HTTP API and MCP on one address.
    Serve(ServeArgs),
    /// Serve MCP on standard input and output.
    Mcp(McpArgs),
    /// Start a plugin from a template.
    New(NewArgs),
    /// Build a plugin in a folder to one component file.
    Build(BuildArgs),
    /// Say whether a component would be installed, and what it asks for.
    Check(CheckArgs),
    /// Show a component file or an installed plugin.
    Inspect(InspectArgs),
    /// Call a tool: of a component file, with no gateway, or of a running gateway.
    Call(CallArgs),
    /// List the tools that a gateway offers.
    List(ListArgs),
    /// Install a component in a gateway.
    Upload(UploadArgs),
    /// Grant an installed plugin what it asks for, or part of it.
    Grant(GrantArgs),
    /// List the commands that wait for a person, and answer them.
    Approvals(ApprovalsArgs),
    /// Set up programs that run with credentials: register, grant, and give them credentials.
    Program(ProgramArgs),
    /// Say what would be decided, by which rule, and what would change it.
    Explain(ExplainArgs),
    /// Say what this machine gives and lacks.
    Doctor(DoctorArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Where a gateway keeps its state and what it allows.
#[derive(Args)]
pub(crate) struct StateArgs {
    /// Folder of database, keys, components, workspaces and machine code.
    #[arg(long, env = "CAISSON_DATA", default_value = "caisson-data")]
    pub(crate) data: PathBuf,
    /// Folder of the built-in tools' components; each `*.wasm` in it is installed.
    #[arg(long, env = "CAISSON_BUILT_IN")]
    pub(crate) built_in: Option<PathBuf>,
    /// Calls per session and hour.
    #[arg(long, env = "CAISSON_RATE_PER_HOUR", default_value_t = 150)]
    pub(crate) rate_per_hour: u32,
    #[command(flatten)]
    pub(crate) egress: EgressArgs,
    #[command(flatten)]
    pub(crate) containers: ContainerArgs,
}

/// The engine of containers that commands may run in.
#[derive(Args, Clone)]
pub(crate) struct ContainerArgs {
    /// Socket of a Docker engine for agents whose commands are to run in containers; without it such commands do not run.
    #[arg(long, env = "CAISSON_DOCKER_SOCKET")]
    pub(crate) docker_socket: Option<PathBuf>,
    /// Let the engine fetch images that it does not have.
    #[arg(long, env = "CAISSON_DOCKER_PULL_MISSING", requires = "docker_socket")]
    pub(crate) docker_pull_missing: bool,
}

/// Operator's exceptions for outgoing HTTP.
#[derive(Args, Clone)]
pub(crate) struct EgressArgs {
    /// Special addresses that tools may reach all the same, such as `10.1.0.0/16`; repeat for more.
    #[arg(long = "allow-cidr", env = "CAISSON_ALLOW_CIDR", value_delimiter = ',')]
    pub(crate) allow_cidr: Vec<ipnet::IpNet>,
    /// PEM file of one more certificate authority for outgoing HTTPS.
    #[arg(long, env = "CAISSON_EXTRA_CA")]
    pub(crate) extra_ca: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, env = "CAISSON_LISTEN", default_value = "127.0.0.1:7340")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Names that requests may have in `Host`, beside loopback; repeat for more.
    #[arg(long = "allow-host", env = "CAISSON_ALLOW_HOST", value_delimiter = ',')]
    pub(crate) allow_host: Vec<String>,
    /// Origins of browsers that may call; repeat for more.
    #[arg(long = "allow-origin", env = "CAISSON_ALLOW_ORIGIN", value_delimiter = ',')]
    pub(crate) allow_origin: Vec<String>,
}

#[derive(Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Tenant that the client acts for.
    #[arg(long, default_value = "default")]
    pub(crate) tenant: String,
    /// Agent that the client is.
    #[arg(long)]
    pub(crate) agent: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Language {
    /// Rust.
    Rust,
}

#[derive(Args)]
pub(crate) struct NewArgs {
    /// Name of the plugin: `[a-z][a-z0-9-]{0,63}`; also the folder.
    pub(crate) name: String,
    /// Language of the template.
    #[arg(long, value_enum, default_value = "rust")]
    pub(crate) lang: Language,
    /// Folder to make instead of `./NAME`.
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct BuildArgs {
    /// Folder of the plugin (where `caisson.toml` is).
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// A component file.
    pub(crate) component: PathBuf,
}

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// A component file, or the name of an installed plugin.
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

/// Which gateway, and as whom.
#[derive(Args)]
pub(crate) struct GatewayArgs {
    /// Address of the gateway.
    #[arg(long, env = "CAISSON_URL", default_value = "http://127.0.0.1:7340")]
    pub(crate) url: String,
    /// Bearer token.
    #[arg(long, env = "CAISSON_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
}

#[derive(Args)]
pub(crate) struct CallArgs {
    /// A component file followed by a tool, or a tool of a running gateway.
    #[arg(value_name = "[COMPONENT.wasm] TOOL [ARGUMENTS]", num_args = 1..=3, required = true)]
    pub(crate) words: Vec<String>,
    /// Workspace of a component file's call; a fresh temporary folder otherwise.
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// Settings of the plugin, a JSON object (component file only).
    #[arg(long)]
    pub(crate) settings: Option<String>,
    /// A secret as NAME=ENVIRONMENT_VARIABLE@scheme://host:port (component file only); repeat for more.
    #[arg(long)]
    pub(crate) secret: Vec<String>,
    /// Session that the call belongs to.
    #[arg(long)]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) egress: EgressArgs,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct ListArgs {
    /// List installed plugins instead of tools.
    #[arg(long)]
    pub(crate) plugins: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct UploadArgs {
    /// A component file.
    pub(crate) component: PathBuf,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct GrantArgs {
    /// Name of the plugin.
    pub(crate) plugin: String,
    /// Grant all that it declares.
    #[arg(long, conflicts_with_all = ["capabilities", "revoke"])]
    pub(crate) all: bool,
    /// Grant this: a JSON object of capabilities.
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) capabilities: Option<String>,
    /// Take the grant back.
    #[arg(long)]
    pub(crate) revoke: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) what: ApprovalsWhat,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Subcommand)]
pub(crate) enum ApprovalsWhat {
    /// Those that wait.
    List {
        /// Those that are over too.
        #[arg(long)]
        all: bool,
    },
    /// One with all that is known of it.
    Show {
        /// Identifier.
        id: String,
    },
    /// Let it run, this one time.
    Approve {
        /// Identifier.
        id: String,
        /// Let every command of the same shape run, by the same agent and plugin.
        #[arg(long)]
        always: bool,
    },
    /// Do not let it run.
    Deny {
        /// Identifier.
        id: String,
    },
    /// What was approved for good.
    Remembered,
    /// Forget an approval for good.
    Forget {
        /// Identifier.
        id: String,
    },
}

#[derive(Args)]
pub(crate) struct ProgramArgs {
    #[command(subcommand)]
    pub(crate) what: ProgramWhat,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

#[derive(Subcommand)]
pub(crate) enum ProgramWhat {
    /// Programs that are commonly registered, and their variables.
    Presets,
    /// Those that are registered.
    List,
    /// Register a program; no agent has it before it is granted.
    Add {
        /// A preset, or the name of a program that commands find.
        name: String,
        #[command(flatten)]
        set: ProgramSet,
    },
    /// Change a registered program; what is left out stays.
    Set {
        /// Name or identifier.
        program: String,
        #[command(flatten)]
        set: ProgramSet,
    },
    /// Remove a registered program with its grants and credentials.
    Remove {
        /// Name or identifier.
        program: String,
    },
    /// Say what would become of commands; nothing is run.
    Test {
        /// Name or identifier.
        program: String,
        /// Commands, each one word.
        #[arg(required = true)]
        commands: Vec<String>,
    },
    /// Grant it to an agent.
    Grant {
        /// Name or identifier.
        program: String,
        /// The agent.
        agent: String,
        /// What should differ for it, a JSON object such as `{"deny_args": []}`.
        #[arg(long)]
        settings: Option<String>,
        /// Take it from the agent although all others have it.
        #[arg(long)]
        off: bool,
    },
    /// Take a grant back.
    Revoke {
        /// Name or identifier.
        program: String,
        /// The agent.
        agent: String,
    },
    /// List, store or remove the credentials of an agent or a user.
    Credential(CredentialArgs),
}

/// What is set about a program.
#[derive(Args)]
pub(crate) struct ProgramSet {
    /// A secret variable as NAME=ENVIRONMENT_VARIABLE; repeat for more. The others stay.
    #[arg(long)]
    pub(crate) secret: Vec<String>,
    /// A variable that is no secret as NAME=VALUE; repeat for more. The others stay.
    #[arg(long)]
    pub(crate) value: Vec<String>,
    /// A secret variable whose value becomes a file, as NAME=FILE; repeat for more.
    #[arg(long)]
    pub(crate) file: Vec<String>,
    /// Why the program, and what it starts, may read its secrets: a sentence.
    #[arg(long)]
    pub(crate) accept_exposure: Option<String>,
    /// Anything else, a JSON object such as `{"timeout_seconds": 120}`.
    #[arg(long)]
    pub(crate) settings: Option<String>,
}

#[derive(Args)]
pub(crate) struct CredentialArgs {
    /// Name or identifier of the program.
    pub(crate) program: String,
    /// The agent whose they are.
    #[arg(long, required_unless_present = "user", conflicts_with = "user")]
    pub(crate) agent: Option<String>,
    /// The user whose they are.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Store this one: a JSON object such as `{"credential_type": "token", "host_scope": "github.com"}`.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) set: Option<String>,
    /// Environment variable that holds the secret of the one to store.
    #[arg(long, requires = "set")]
    pub(crate) secret: Option<String>,
    /// Remove all of them.
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    #[command(subcommand)]
    pub(crate) what: ExplainWhat,
}

#[derive(Subcommand)]
pub(crate) enum ExplainWhat {
    /// A path in a workspace, by really opening it through the files gate.
    Path {
        /// The path as a tool would give it.
        path: Option<String>,
        /// The workspace.
        #[arg(long)]
        workspace: PathBuf,
        /// Judge writing instead of reading.
        #[arg(long)]
        write: bool,
        /// Globs that the grant is narrowed to; repeat for more.
        #[arg(long = "granted")]
        granted: Vec<String>,
        /// Read JSON lines `{"input": …}` and answer each with one.
        #[arg(long)]
        jsonl: bool,
    },
    /// An outgoing HTTP request.
    Url {
        /// The URL.
        url: Option<String>,
        /// Method.
        #[arg(long, default_value = "GET")]
        method: String,
        /// Hosts that the grant names; any host where none is given.
        #[arg(long = "granted")]
        granted: Vec<String>,
        #[command(flatten)]
        egress: EgressArgs,
        /// Look names up and judge their addresses as well.
        #[arg(long)]
        resolve: bool,
        /// Read JSON lines `{"input": …}` and answer each with one.
        #[arg(long)]
        jsonl: bool,
    },
    /// A text that leaves the gateway: what is taken out of it.
    Scrub {
        /// The text, as one word.
        text: Option<String>,
        /// Take out every run of 64 and more hexadecimal digits too.
        #[arg(long)]
        long_hex: bool,
        /// Read JSON lines `{"input": …}` and answer each with one.
        #[arg(long)]
        jsonl: bool,
    },
    /// A shell command: how it is read and which rule decides.
    Shell(ShellArgs),
}

/// A command, and what the operator would have set.
#[derive(Args)]
pub(crate) struct ShellArgs {
    /// The command, as one word.
    pub(crate) command: Option<String>,
    /// Which programs may run.
    #[arg(long, value_enum, default_value = "deny-groups")]
    pub(crate) mode: ShellMode,
    /// An entry of the allowlist, such as `git status *`; repeat for more. None allows nothing.
    #[arg(long)]
    pub(crate) allow: Vec<String>,
    /// A workspace to look into: links that lead out of it count.
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// A path that no command may name; repeat for more.
    #[arg(long)]
    pub(crate) deny_path: Vec<String>,
    /// An exemption from those; repeat for more.
    #[arg(long)]
    pub(crate) exempt: Vec<String>,
    /// A program that runs with credentials, and is not granted; repeat for more.
    #[arg(long)]
    pub(crate) registered: Vec<String>,
    /// Read JSON lines `{"input": …, "mode": …}` and answer each with one.
    #[arg(long)]
    pub(crate) jsonl: bool,
}

/// Which programs may run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ShellMode {
    /// All that no rule denies.
    DenyGroups,
    /// One plain command of those listed.
    Allowlist,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) containers: ContainerArgs,
    /// Folder that the gateway would use.
    #[arg(long, env = "CAISSON_DATA", default_value = "caisson-data")]
    pub(crate) data: PathBuf,
}
