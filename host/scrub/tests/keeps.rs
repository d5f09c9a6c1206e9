//! What must stay as it is: taking it out would break the text and hide nothing.

use caisson_scrub::Scrubber;
use std::borrow::Cow;

fn kept(text: &str) {
    let scrubber = Scrubber::new();
    let cleaned = scrubber.clean_text(text);
    assert_eq!(cleaned, text);
    assert!(matches!(cleaned, Cow::Borrowed(_)), "a clean text is not copied");
}

#[test]
fn short_and_lookalike_tokens() {
    for text in [
        "sk-short",
        "AKIA1234",
        "AKIAIOSFODNN7EXAMPL",
        "task-force-one-two-three-four-five",
        "risk-abcdefghijklmnopqrstuvwxyz",
        "sk-learn-contrib-something-long",
        "hf_hub_download_with_retry_and_more",
        "npm_config_registry=https://registry.example",
        "the eyJ prefix starts a token",
        "a.b.c",
        "12:34:56.789",
        "1234567890:deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    ] {
        kept(text);
    }
}

#[test]
fn references_to_secrets() {
    for text in [
        "TOKEN=$(cat /run/secrets/token)",
        "export API_KEY=\"$(pass show key)\"",
        "PASSWORD=${DB_PASSWORD}",
        "TOKEN=$TOKEN_FROM_CI",
        "TOKEN=`cat /run/token.txt`",
        "SET TOKEN=%CI_JOB_TOKEN%",
        "password: {{ vault_password }}",
        "password: <your password>",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
        "postgres://user:$PASSWORD@db/app",
        "{\"password\": \"${DB_PASSWORD}\"}",
        "const token = process.env.TOKEN_VALUE;",
        "token = os.environ[\"TOKEN_VALUE\"]",
        "password=[REDACTED]",
        "password=********",
    ] {
        kept(text);
    }
}

#[test]
fn program_text_and_prose() {
    for text in [
        "fn login(token: AccessToken, password: &str) -> Result<(), Error> {",
        "let token = load_token(path)?;",
        "client = Client(token=access_token, password=password)",
        "self.token = refresh_token",
        "pub secret: Zeroizing<String>,",
        "use crate::token::TokenStream;",
        "invalid token: expected something else",
        "password: must be at least twelve characters",
        "<label for=\"password\">Password of the account</label>",
        "prompt(\"Password: \", hidden)",
        "max_tokens: 12345678",
        "{\"nextPageToken\": \"CAESBggDEgIIAQ12\"}",
        "KEYBOARD_LAYOUT=us-international",
        "SSH_KEY_FILE=/home/a/.ssh/id_ed25519",
        "https://example.com/a@b:c",
        "https://user@example.com:8443/path",
        "http://localhost:3000/x?y=z",
        "redis://localhost:6379/0",
        "basic understanding of internationalization",
        "-----BEGIN PRIVATE KEY----- is how such a file begins.",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "the quick brown fox jumps over the lazy dog",
    ] {
        kept(text);
    }
}

#[test]
fn hashes_and_identifiers() {
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for text in [
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709".to_owned(),
        "01890a5d-ac96-774b-bcce-b302099a8057".to_owned(),
        format!("sha256:{sha256}"),
        format!("image@sha256:{sha256}"),
        format!("{sha256}  notes.txt"),
        format!("{sha256} *notes.bin"),
        format!("checksum = \"{sha256}\""),
        format!("\"digest\": \"{sha256}\""),
        format!("z{sha256}"),
    ] {
        kept(&text);
        assert_eq!(Scrubber::new().with_long_hex(true).clean_text(&text), text);
    }
}
