//! What must go.

use caisson_scrub::{REDACTED, Scrubber};

/// Each secret must be gone whole from the text around it, and the text around it must stay.
fn gone(before: &str, secret: &str, after: &str) {
    let text = format!("{before}{secret}{after}");
    let cleaned = Scrubber::new().clean_text(&text).into_owned();
    assert_eq!(cleaned, format!("{before}{REDACTED}{after}"));
}

#[test]
fn tokens_of_vendors() {
    for secret in [
        "sk-proj-abc123def456ghi789jkl012mno345pqr678",
        "sk-abcdefghijklmnopqrstuvwx",
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx",
        "hf_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5ab",
        "r8_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5abcdefg",
        "shpat_0123456789abcdef0123456789abcdef",
        "ya29.a0AfExamplea0AfExamplea0AfExamplea0AfExample",
        "ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij",
        "gho_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij",
        "github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz",
        "glpat-AbCdEfGhIjKlMnOpQrSt",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA-1234567890abcdefghijklmnopqrstu",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "xoxb-123456789012-abcdefghijkl",
        "xoxp-1234567890-abc",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
        "123456789:ABCdefGHIjklMNOpqrSTUvwxYZ012345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.",
    ] {
        gone("", secret, "");
        gone("before ", secret, " after");
        gone("(", secret, ")");
        gone("\"", secret, "\",");
        gone("/* é */ \\n", secret, "\nnext line");
    }
}

#[test]
fn names_and_their_values() {
    for (before, secret, after) in [
        ("password=", "hunter2hunter2", "\n"),
        ("password: ", "correcthorse", "\nuser: bob"),
        ("PASSWORD=", "Tr0ub4dor&3", ""),
        ("api_key = ", "abcdef1234567890", ""),
        ("api-key: ", "abcdef1234567890", ", x"),
        ("{\"password\": \"", "x", "\"}"),
        ("{\"token\":\"", "abcdefgh", "\"}"),
        ("{\\\"password\\\": \\\"", "x y", "\\\"}"),
        ("'client_secret': '", "with \"quotes\" and spaces", "'"),
        ("Authorization: Basic ", "dXNlcjpwYXNzd29yZDEyMw==", ""),
        ("-H 'Authorization: Bearer ", "abc.def-ghi_123", "'"),
        ("\"Authorization\": \"token ", "abcdefgh12", "\""),
        ("got Bearer ", "abcdefghijk1234567890", "."),
        ("Basic ", "dXNlcjpwYXNzd29yZDEyMw==", ""),
        ("https://x.example/?access_token=", "abc123def456", "&page=2"),
        ("tool --password ", "hunter2hunter2", " --verbose"),
        ("tool --api-key=", "hunter2hunter2", " --verbose"),
        ("MY_SECRET_KEY=", "verysecretvalue", " cmd"),
        ("export AWS_SECRET_ACCESS_KEY=\"", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\""),
        ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\n"),
        ("\"SecretAccessKey\": \"", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\""),
        ("AccountKey=", "abcdefghijklmnopqrstuvwx==", ";EndpointSuffix=x"),
        ("VIRTUAL_HOST=", "a.example", "\n"),
        ("DSN=", "user:pw@tcp(db)/x", " z"),
        ("SENTRY_DSN=", "12345678", ""),
        ("token: `", "abcdefgh1234", "`"),
        ("password_hash: x\npassword: ", "$argon2id$v=19$m=1,t=2,p=1$c2FsdA$aGFzaA", "\n"),
    ] {
        gone(before, secret, after);
    }
}

#[test]
fn addresses_with_passwords() {
    gone("", "postgres://user:pass@db.internal:5432/app?sslmode=require", " up");
    gone("url: ", "mongodb+srv://u:p%40ss@cluster.example/db", "\n");
    gone("\"", "amqp://guest:guest@mq/vhost", "\"");
    gone("", "redis://:secretpw@cache:6379/0", "");
    gone("", "mysql://root:pa/ss?w#rd@db/app", " x");
    gone("jdbc:", "postgresql://bob:hunter2@db/app", " x");
    gone("git clone https://", "bob:ghx123", "@git.example/r.git");
    gone("https://hooks.slack.com/services/", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", " posted");
    gone("https://discord.com/api/webhooks/", "123456789012345678/abcDEF_ghi-jkl", "\n");
    gone("DATABASE_URL=", "postgres://localhost/app", "\n");
}

#[test]
fn private_keys() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEowIBAAKCAQEA1234567890+/abcdefgh==\nAAAA\n-----END RSA PRIVATE KEY-----";
    gone("key:\n", key, "\nafter");
    gone("{\"k\":\"", &key.replace('\n', "\\n"), "\"}");
    gone("", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\nAAAA", "");
}

#[test]
fn long_hexadecimal_keys_where_the_operator_wants_it() {
    let key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let strict = Scrubber::new().with_long_hex(true);
    let check = |before: &str, secret: &str, after: &str| {
        let text = format!("{before}{secret}{after}");
        assert_eq!(strict.clean_text(&text), format!("{before}{REDACTED}{after}"));
        assert_eq!(Scrubber::new().clean_text(&text), text);
    };
    check("", key, "");
    check("x = ", &format!("{key}{key}"), " y");
    check("dump ", &key.repeat(100), " y");
    check(&"-".repeat(63), key, &"-".repeat(63));
    for shift in 0..130 {
        check(&" ".repeat(shift), key, " ");
    }
}

#[test]
fn several_in_one_text_go_each() {
    let text = "a sk-abcdefghijklmnopqrstuvwx b password=hunter2hunter2 c AKIAIOSFODNN7EXAMPLE";
    assert_eq!(Scrubber::new().clean_text(text), "a [REDACTED] b password=[REDACTED] c [REDACTED]");
}
