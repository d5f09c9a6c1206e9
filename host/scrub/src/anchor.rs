//! The literals that a secret cannot do without, and what each stands for.

use crate::finder::Literal;
use crate::provider::{PROVIDERS, Provider};
use crate::tail::Alphabet;
use crate::token::Scheme;

/// How much a name says that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// A password or key by its very name: every quoted value goes.
    Surely,
    /// A token, or a word of prose: only values of 8 characters and more.
    Likely,
    /// A word of many uses: only what nobody would write by hand.
    Perhaps,
}

/// What an anchor stands for.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    /// The fixed start of a service's key.
    Token(&'static Provider),
    /// `eyJ`: a JSON Web Token.
    WebToken,
    /// The fixed part of an incoming webhook's address.
    Webhook,
    /// A digit, a colon and a capital: a Telegram bot's token.
    Bot,
    /// A number in base64: a Discord bot's token.
    Discord,
    /// `.atlasv1.`
    Atlas,
    /// A name whose value is a secret: `password=`, `"token": `.
    Name(Strength),
    /// A word in the name of an environment variable.
    Variable,
    /// `Bearer …`, `Basic …`.
    Scheme(Scheme),
    /// An option that takes `user:password` or a password.
    UserOption,
    /// `jdbc:oracle:thin:user/password@…`
    Thin,
    /// `://`: a URL that may hold a password.
    Authority,
    /// `-----BEGIN`.
    PrivateKey,
}

const SURE_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "api_key",
    "api-key",
    "apikey",
    "api key",
    "secret_key",
    "secret_key_base",
    "secretkeybase",
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
    "auth_token",
    "authtoken",
    "signing_key",
    "signingkey",
    "encryption_key",
    "encryptionkey",
    "rapidapi-key",
    "accountkey",
    "sharedaccesskey",
    "shared_key",
    "webhook_secret",
    "signing_secret",
    "app_secret",
    "_pass",
    "-pass",
    "appsecret",
];

const LIKELY_NAMES: &[&str] =
    &["token", "secret", "bearer", "authorization", "credential", "credentials", "passcode", "pwd"];

const PERHAPS_NAMES: &[&str] =
    &["key", "auth", "pass", "sig", "signature", "cookie", "session", "sessionid", "session_id"];

const VARIABLES: &[&str] = &[
    "KEY",
    "SECRET",
    "CREDENTIAL",
    "PRIVATE",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "_PASS",
    "DSN",
    "DATABASE_URL",
    "REDIS_URL",
    "MONGO_URI",
    "MONGODB_URI",
    "VIRTUAL_",
];

const WEBHOOKS: &[(&str, &str)] = &[
    ("hooks.slack.com/services/", "slack-webhook"),
    ("hooks.slack.com/workflows/", "slack-webhook"),
    ("hooks.slack.com/triggers/", "slack-webhook"),
    ("/api/webhooks/", "discord-webhook"),
    ("webhook.office.com/webhookb2/", "teams-webhook"),
    ("outlook.office.com/webhook/", "teams-webhook"),
];

/// All literals, and beside each what it stands for and its class. One literal may stand there twice, for two meanings.
pub(crate) fn all() -> (Vec<Literal>, Vec<(Anchor, &'static str)>) {
    let mut all: Vec<(&'static str, bool, Anchor, &'static str)> = Vec::new();
    let names = [(SURE_NAMES, Strength::Surely), (LIKELY_NAMES, Strength::Likely), (PERHAPS_NAMES, Strength::Perhaps)];
    for (words, strength) in names {
        let class = if strength == Strength::Perhaps { "high-entropy" } else { "assignment" };
        all.extend(words.iter().map(|name| (*name, true, Anchor::Name(strength), class)));
    }
    all.extend(PROVIDERS.iter().map(|row| (row.prefix, false, Anchor::Token(row), row.class)));
    all.extend(VARIABLES.iter().map(|word| (*word, false, Anchor::Variable, "variable")));
    all.extend(WEBHOOKS.iter().map(|(part, class)| (*part, true, Anchor::Webhook, *class)));
    all.extend(BOTS.iter().map(|gram| (*gram, false, Anchor::Bot, "telegram")));
    all.extend(DISCORD.iter().map(|gram| (*gram, false, Anchor::Discord, "discord")));
    all.extend([
        ("eyJ", false, Anchor::WebToken, "jwt"),
        (".atlasv1.", false, Anchor::Atlas, "terraform"),
        ("bearer ", true, Anchor::Scheme(Scheme::Bearer), "bearer"),
        ("basic ", true, Anchor::Scheme(Scheme::Basic), "basic"),
        ("FlyV1 ", false, Anchor::Scheme(Scheme::Own), "fly"),
        ("Bot ", false, Anchor::Scheme(Scheme::Own), "discord"),
        (" -u", false, Anchor::UserOption, "basic"),
        (" -U", false, Anchor::UserOption, "basic"),
        (" -p", false, Anchor::UserOption, "option"),
        (" -a", false, Anchor::UserOption, "option"),
        ("--user", false, Anchor::UserOption, "basic"),
        ("--proxy-user", false, Anchor::UserOption, "basic"),
        ("oracle:thin:", true, Anchor::Thin, "connection-string"),
        ("://", false, Anchor::Authority, "connection-string"),
        ("-----BEGIN ", false, Anchor::PrivateKey, "private-key"),
    ]);
    let literal = |text, any_case, anchor| Literal { text, any_case, next: after(anchor) };
    all.into_iter().map(|(text, any_case, anchor, class)| (literal(text, any_case, anchor), (anchor, class))).unzip()
}

/// What must follow an anchor.
fn after(anchor: Anchor) -> Option<Alphabet> {
    match anchor {
        Anchor::Token(row) => Some(row.alphabet),
        Anchor::WebToken | Anchor::Bot => Some(Alphabet::Dashed),
        Anchor::Discord => Some(Alphabet::Plain),
        _ => None,
    }
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
    } else if ends(PERHAPS_NAMES) {
        Some(Strength::Perhaps)
    } else {
        None
    }
}

/// A digit, a colon and a capital.
#[rustfmt::skip]
const BOTS: &[&str] = &[
    "0:A", "0:B", "0:C", "0:D", "0:E", "0:F", "0:G", "0:H", "0:I", "0:J", "0:K", "0:L", "0:M", "0:N",
    "0:O", "0:P", "0:Q", "0:R", "0:S", "0:T", "0:U", "0:V", "0:W", "0:X", "0:Y", "0:Z", "1:A", "1:B",
    "1:C", "1:D", "1:E", "1:F", "1:G", "1:H", "1:I", "1:J", "1:K", "1:L", "1:M", "1:N", "1:O", "1:P",
    "1:Q", "1:R", "1:S", "1:T", "1:U", "1:V", "1:W", "1:X", "1:Y", "1:Z", "2:A", "2:B", "2:C", "2:D",
    "2:E", "2:F", "2:G", "2:H", "2:I", "2:J", "2:K", "2:L", "2:M", "2:N", "2:O", "2:P", "2:Q", "2:R",
    "2:S", "2:T", "2:U", "2:V", "2:W", "2:X", "2:Y", "2:Z", "3:A", "3:B", "3:C", "3:D", "3:E", "3:F",
    "3:G", "3:H", "3:I", "3:J", "3:K", "3:L", "3:M", "3:N", "3:O", "3:P", "3:Q", "3:R", "3:S", "3:T",
    "3:U", "3:V", "3:W", "3:X", "3:Y", "3:Z", "4:A", "4:B", "4:C", "4:D", "4:E", "4:F", "4:G", "4:H",
    "4:I", "4:J", "4:K", "4:L", "4:M", "4:N", "4:O", "4:P", "4:Q", "4:R", "4:S", "4:T", "4:U", "4:V",
    "4:W", "4:X", "4:Y", "4:Z", "5:A", "5:B", "5:C", "5:D", "5:E", "5:F", "5:G", "5:H", "5:I", "5:J",
    "5:K", "5:L", "5:M", "5:N", "5:O", "5:P", "5:Q", "5:R", "5:S", "5:T", "5:U", "5:V", "5:W", "5:X",
    "5:Y", "5:Z", "6:A", "6:B", "6:C", "6:D", "6:E", "6:F", "6:G", "6:H", "6:I", "6:J", "6:K", "6:L",
    "6:M", "6:N", "6:O", "6:P", "6:Q", "6:R", "6:S", "6:T", "6:U", "6:V", "6:W", "6:X", "6:Y", "6:Z",
    "7:A", "7:B", "7:C", "7:D", "7:E", "7:F", "7:G", "7:H", "7:I", "7:J", "7:K", "7:L", "7:M", "7:N",
    "7:O", "7:P", "7:Q", "7:R", "7:S", "7:T", "7:U", "7:V", "7:W", "7:X", "7:Y", "7:Z", "8:A", "8:B",
    "8:C", "8:D", "8:E", "8:F", "8:G", "8:H", "8:I", "8:J", "8:K", "8:L", "8:M", "8:N", "8:O", "8:P",
    "8:Q", "8:R", "8:S", "8:T", "8:U", "8:V", "8:W", "8:X", "8:Y", "8:Z", "9:A", "9:B", "9:C", "9:D",
    "9:E", "9:F", "9:G", "9:H", "9:I", "9:J", "9:K", "9:L", "9:M", "9:N", "9:O", "9:P", "9:Q", "9:R",
    "9:S", "9:T", "9:U", "9:V", "9:W", "9:X", "9:Y", "9:Z",
];

/// What two digits of a number begin with in base64.
#[rustfmt::skip]
const DISCORD: &[&str] = &[
    "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE", "MjI", "MjM",
    "MjQ", "MjU", "MjY", "Mjc", "Mjg", "Mjk", "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc",
    "Mzg", "Mzk", "NDA", "NDE", "NDI", "NDM", "NDQ", "NDU", "NDY", "NDc", "NDg", "NDk", "NTA", "NTE",
    "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc", "NTg", "NTk", "NjA", "NjE", "NjI", "NjM", "NjQ", "NjU",
    "NjY", "Njc", "Njg", "Njk", "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk",
    "ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk", "OTA", "OTE", "OTI", "OTM",
    "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
];
