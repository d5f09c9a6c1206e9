//! The literals that a secret cannot do without, and what each stands for.

use crate::token::{Shape, Tail};

/// How much a name says that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// A password or key by its very name: every quoted value goes.
    Surely,
    /// A token, or a word of prose: only values of 8 characters and more.
    Likely,
}

/// A word that names how credentials follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Basic,
    Bearer,
}

/// What an anchor stands for.
pub(crate) enum Anchor {
    /// The fixed start of a vendor's token.
    Token(Shape),
    /// `eyJ`: a JSON Web Token.
    WebToken,
    /// The fixed part of an incoming webhook's address.
    Webhook,
    /// A name whose value is a secret: `password=`, `"token": `.
    Name(Strength),
    /// A word in the name of an environment variable.
    Variable,
    /// `Bearer …`, `Basic …`.
    Scheme(Scheme),
    /// `://`: a URL that may hold a password.
    Authority,
    /// `-----BEGIN`.
    PrivateKey,
}

const TOKENS: &[(&str, usize, Tail)] = &[
    // OpenAI, Anthropic and others who took over the form.
    ("sk-", 20, Tail::Dashed),
    ("ghp_", 30, Tail::Plain),
    ("gho_", 30, Tail::Plain),
    ("ghu_", 30, Tail::Plain),
    ("ghs_", 30, Tail::Plain),
    ("ghr_", 30, Tail::Plain),
    ("github_pat_", 22, Tail::Under),
    ("glpat-", 20, Tail::Dashed),
    ("AKIA", 16, Tail::Upper),
    ("ASIA", 16, Tail::Upper),
    ("AIza", 30, Tail::Dashed),
    ("ya29.", 20, Tail::Dotted),
    ("GOCSPX-", 20, Tail::Dashed),
    ("hf_", 20, Tail::Plain),
    ("r8_", 20, Tail::Plain),
    ("npm_", 30, Tail::Plain),
    ("shpat_", 24, Tail::Plain),
    ("shpca_", 24, Tail::Plain),
    ("shppa_", 24, Tail::Plain),
    ("shpss_", 24, Tail::Plain),
    ("xoxa-", 10, Tail::Dashed),
    ("xoxb-", 10, Tail::Dashed),
    ("xoxe-", 10, Tail::Dashed),
    ("xoxe.", 10, Tail::Dotted),
    ("xoxo-", 10, Tail::Dashed),
    ("xoxp-", 10, Tail::Dashed),
    ("xoxr-", 10, Tail::Dashed),
    ("xoxs-", 10, Tail::Dashed),
    ("xapp-", 20, Tail::Dashed),
    ("sk_live_", 10, Tail::Plain),
    ("sk_test_", 10, Tail::Plain),
    ("rk_live_", 10, Tail::Plain),
    ("rk_test_", 10, Tail::Plain),
    ("whsec_", 16, Tail::Base64),
    ("SG.", 40, Tail::Dotted),
    ("dop_v1_", 40, Tail::Plain),
    ("pypi-", 50, Tail::Dashed),
    ("hvs.", 20, Tail::Dashed),
    ("AGE-SECRET-KEY-", 50, Tail::Upper),
];

const SURE_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "api_key",
    "api-key",
    "apikey",
    "api key",
    "secret_key",
    "secret-key",
    "secretkey",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "private-key",
    "privatekey",
    "client_secret",
    "client-secret",
    "clientsecret",
    "access_token",
    "accesstoken",
    "refresh_token",
    "refreshtoken",
    "signing_key",
    "encryption_key",
    "accountkey",
    "shared_key",
];

const LIKELY_NAMES: &[&str] =
    &["token", "secret", "bearer", "authorization", "credential", "credentials", "passcode", "pwd"];

const VARIABLES: &[&str] = &[
    "KEY",
    "SECRET",
    "CREDENTIAL",
    "PRIVATE",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "DSN",
    "DATABASE_URL",
    "REDIS_URL",
    "MONGO_URI",
    "MONGODB_URI",
    "VIRTUAL_",
];

const WEBHOOKS: &[&str] = &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "/api/webhooks/"];

/// All literals, and beside each what it stands for. One literal may stand there twice, for two meanings.
pub(crate) fn all() -> (Vec<&'static str>, Vec<Anchor>) {
    let mut all: Vec<(&str, Anchor)> = Vec::new();
    all.extend(
        TOKENS
            .iter()
            .map(|(prefix, least, tail)| (*prefix, Anchor::Token(Shape { prefix, least: *least, tail: *tail }))),
    );
    all.extend(SURE_NAMES.iter().map(|name| (*name, Anchor::Name(Strength::Surely))));
    all.extend(LIKELY_NAMES.iter().map(|name| (*name, Anchor::Name(Strength::Likely))));
    all.extend(VARIABLES.iter().map(|word| (*word, Anchor::Variable)));
    all.extend(WEBHOOKS.iter().map(|part| (*part, Anchor::Webhook)));
    all.push(("eyJ", Anchor::WebToken));
    all.push(("bearer ", Anchor::Scheme(Scheme::Bearer)));
    all.push(("basic ", Anchor::Scheme(Scheme::Basic)));
    all.push(("://", Anchor::Authority));
    all.push(("-----BEGIN ", Anchor::PrivateKey));
    all.into_iter().unzip()
}

/// Whether a JSON key of this name holds a secret, and how surely.
pub(crate) fn name_strength(name: &str) -> Option<Strength> {
    let lower = name.to_ascii_lowercase();
    if crate::assign::is_harmless(lower.as_bytes()) {
        return None;
    }
    let ends = |names: &[&str]| names.iter().any(|end| lower.ends_with(end));
    if ends(SURE_NAMES) {
        Some(Strength::Surely)
    } else if ends(LIKELY_NAMES) {
        Some(Strength::Likely)
    } else {
        None
    }
}
