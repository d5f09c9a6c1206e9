//! What is known about common programs, so that nobody has to find it out.

use crate::fault::{Fault, nearest, shown};
use crate::pattern::PatternText;
use std::collections::BTreeSet;

/// A variable that a program takes its credentials from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it is, for whoever fills it in.
    pub description: &'static str,
    /// Whether the program gets a file with the value in it, and the variable its path.
    pub is_file: bool,
    /// Whether the program can do without.
    pub optional: bool,
}

/// A program that is commonly registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The program.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Its variables.
    pub variables: &'static [Variable],
    /// Commands that it may not be given, as words; see [`PatternText::Words`].
    pub deny_words: &'static [&'static str],
    /// Expressions that its arguments may not hold.
    pub deny_expressions: &'static [&'static str],
    /// Options that make it write too much.
    pub verbose: &'static [&'static str],
    /// Seconds that a run gets.
    pub timeout_seconds: u32,
    /// How to use it, for the model.
    pub tips: &'static str,
    /// How it gets its credentials.
    pub adapter: &'static str,
}

impl Preset {
    /// As patterns of a program.
    #[must_use]
    pub fn deny_args(&self) -> Vec<PatternText> {
        let words = self.deny_words.iter().map(|words| PatternText::words(*words));
        words.chain(self.deny_expressions.iter().map(|text| PatternText::Regex((*text).to_owned()))).collect()
    }

    /// As patterns of a program.
    #[must_use]
    pub fn deny_verbose(&self) -> Vec<PatternText> {
        self.verbose.iter().map(|text| PatternText::Regex((*text).to_owned())).collect()
    }

    /// Variables without which it does not run.
    #[must_use]
    pub fn required(&self) -> BTreeSet<String> {
        self.variables.iter().filter(|one| !one.optional).map(|one| one.name.to_owned()).collect()
    }

    /// Variables whose values become files.
    #[must_use]
    pub fn files(&self) -> BTreeSet<String> {
        self.variables.iter().filter(|one| one.is_file).map(|one| one.name.to_owned()).collect()
    }
}

/// Every preset, by name.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// A preset by its name.
///
/// # Errors
/// There is none; the nearest is named.
pub fn preset(name: &str) -> Result<&'static Preset, Fault> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let nearest = nearest(name, PRESETS.iter().map(|preset| preset.name)).unwrap_or_default();
        Fault::new("preset", format!("there is no preset `{}`; the nearest is `{nearest}`", shown(name)))
    })
}

const fn secret(name: &'static str, description: &'static str) -> Variable {
    Variable { name, description, is_file: false, optional: false }
}

const fn optional(name: &'static str, description: &'static str) -> Variable {
    Variable { name, description, is_file: false, optional: true }
}

const fn file(name: &'static str, description: &'static str) -> Variable {
    Variable { name, description, is_file: true, optional: false }
}

static PRESETS: [Preset; 8] = [
    Preset {
        name: "aws",
        description: "AWS command line",
        variables: &[
            secret("AWS_ACCESS_KEY_ID", "an access key's identifier"),
            secret("AWS_SECRET_ACCESS_KEY", "the access key"),
            optional("AWS_SESSION_TOKEN", "the session token of temporary keys"),
            optional("AWS_DEFAULT_REGION", "a region such as `eu-central-1`"),
        ],
        deny_words: &[
            "iam",
            "organizations",
            "configure",
            "sso",
            "sts (assume-role.*|get-session-token|get-federation-token)",
            "ec2 terminate-instances",
            // Other keys, which may come from a program that a configuration names, and other servers; abbreviated too.
            "** --(prof(i(le?)?)?|endpoint(-u(rl?)?)?|ca-b.*|no-verify.*)(=.*)?",
        ],
        deny_expressions: &[],
        verbose: &["--debug"],
        timeout_seconds: 60,
        tips: "Add `--output json` for structured output.",
        adapter: "passthrough",
    },
    Preset {
        name: "gcloud",
        description: "Google Cloud command line",
        variables: &[file("GOOGLE_APPLICATION_CREDENTIALS", "the JSON of a service account")],
        deny_words: &[
            "iam",
            "(alpha|beta|preview) (iam|auth|kms|config)",
            "(alpha|beta|preview) projects delete",
            "(alpha|beta|preview) services disable",
            "auth",
            "kms",
            "config",
            "projects delete",
            "services disable",
        ],
        deny_expressions: &[],
        verbose: &["--verbosity=debug", "--log-http"],
        timeout_seconds: 120,
        tips: "Add `--format=json` for structured output.",
        adapter: "passthrough",
    },
    Preset {
        name: "gh",
        description: "GitHub command line",
        variables: &[secret("GH_TOKEN", "a personal access token, or an app's")],
        deny_words: &[
            // `auth token` prints the token.
            "auth",
            "ssh-key",
            "gpg-key",
            "repo delete",
            "secret",
            // Commands of others, and a name for a shell command.
            "extensions?",
            "ext",
            "alias",
            "config",
            // Keys and secrets by their plain addresses.
            "api ** .*(/|^)(keys|gpg_keys|ssh_signing_keys|secrets)([/?].*)?",
            "api ** --hostname(=.*)?",
        ],
        deny_expressions: &[],
        verbose: &["--verbose", "-v"],
        timeout_seconds: 30,
        tips: "Add `--json FIELDS` for structured output.",
        adapter: "passthrough",
    },
    Preset {
        name: "git",
        description: "Git, with a token or a key for one host",
        variables: &[],
        deny_words: &[
            "config ** --(global|system|file)(=.*)?",
            "config ** -f.*",
            "config ** (credential|http|url|core\\.(sshcommand|hookspath|askpass|gitproxy)).*",
            "** -c (credential|http|core\\.sshcommand).*",
            "credential.*",
            "daemon",
        ],
        deny_expressions: &[],
        verbose: &[],
        timeout_seconds: 300,
        tips: "clone, fetch, pull, push and submodule are authenticated by the gateway; write no token into an address.",
        adapter: "git",
    },
    Preset {
        name: "gws",
        description: "Google Workspace command line",
        variables: &[
            Variable {
                optional: true,
                ..file("GOOGLE_WORKSPACE_CLI_CREDENTIALS_FILE", "exported credentials, as JSON")
            },
            optional("GOOGLE_WORKSPACE_CLI_TOKEN", "an access token"),
            optional("GOOGLE_WORKSPACE_CLI_CLIENT_ID", "an OAuth client's identifier"),
            optional("GOOGLE_WORKSPACE_CLI_CLIENT_SECRET", "an OAuth client's secret"),
        ],
        deny_words: &["auth"],
        deny_expressions: &[],
        verbose: &[],
        timeout_seconds: 120,
        tips: "`--params JSON` gives query parameters, `--json` a body, `--page-all` all pages. Prefer reading.",
        adapter: "passthrough",
    },
    Preset {
        name: "kubectl",
        description: "Kubernetes command line",
        variables: &[file("KUBECONFIG", "a cluster's configuration")],
        deny_words: &[
            "delete (.*,)?(namespaces?|ns|nodes?|no)(\\.v1)?\\.?([/,].*)?",
            "delete ** (namespaces?|ns|nodes?|no)/.*",
            "drain",
            "cordon",
            // Prints the credentials, or takes others, which may be a program to run.
            "config",
            "** --(kubeconfig|token|server|as|insecure-skip-tls-verify)(=.*)?",
            "** -s.*",
            "plugin",
        ],
        deny_expressions: &[],
        // From 8 on, headers are printed.
        verbose: &["-v=?([89]|[1-9][0-9])", "--v=([89]|[1-9][0-9])"],
        timeout_seconds: 60,
        tips: "Add `-o json` for structured output.",
        adapter: "passthrough",
    },
    Preset {
        name: "psql",
        description: "PostgreSQL's client, with a password for one server",
        variables: &[],
        deny_words: &[],
        deny_expressions: &["(?i)\\b(drop|truncate)\\b", "(?i)\\bcopy\\b.*\\bprogram\\b", "(?i)\\bpg_(read|write|ls)_"],
        verbose: &[],
        timeout_seconds: 60,
        tips: "Write `psql -c 'SELECT …'`; add `-A -t` for plain output, `--csv` for CSV.",
        adapter: "psql",
    },
    Preset {
        name: "terraform",
        description: "Terraform",
        variables: &[optional("TF_TOKEN_app_terraform_io", "a token of Terraform Cloud")],
        deny_words: &["destroy", "(apply|plan) ** --?destroy(=.*)?", "force-unlock", "login", "logout", "console"],
        deny_expressions: &[],
        verbose: &[],
        timeout_seconds: 300,
        tips: "Add `-json` for structured output.",
        adapter: "passthrough",
    },
];
