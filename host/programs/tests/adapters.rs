//! What each adapter refuses, and what it gives.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_programs::{Credential, CredentialKind, Holder, HostScope, Launch, Place, Program, Roster, Rule, adapters};
use common::{cleared, credential, elsewhere, from_preset, place, program, refused, roster, roster_with, rule, said};
use serde_json::{Value, json};

const PAT: &str = "ghp_0123456789/@:%abc";

fn ada() -> Holder {
    Holder::User("ada".into())
}

fn with(name: &str, credentials: &[Value]) -> Roster {
    let program = from_preset(name);
    let credentials: Vec<Credential> = credentials.iter().map(|body| credential(&program, ada(), body)).collect();
    roster_with(&[program], &[], &credentials, vec![])
}

fn token(host: &str) -> Value {
    json!({ "credential_type": "token", "host_scope": host, "secret": PAT })
}

fn key(body: &str) -> String {
    format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n")
}

fn env<'l>(launch: &'l Launch, name: &str) -> &'l str {
    launch.env.get(name).unwrap_or_else(|| panic!("{name}")).expose()
}

/// Git's configuration as it is given, in order.
fn config(launch: &Launch) -> Vec<(String, String)> {
    let count: usize = env(launch, "GIT_CONFIG_COUNT").parse().unwrap();
    let of = |what: &str, index| env(launch, &format!("GIT_CONFIG_{what}_{index}")).to_owned();
    (0..count).map(|index| (of("KEY", index), of("VALUE", index))).collect()
}

#[test]
fn there_are_these_adapters_and_each_takes_its_own_credentials() {
    assert_eq!(adapters().collect::<Vec<_>>(), ["passthrough", "git", "psql"]);
    let refused =
        |program: &Program, body: Value| said(&CredentialKind::read(&body, None).unwrap().check(program).unwrap_err());
    assert!(refused(&from_preset("gh"), token("github.com")).contains("takes env"));
    assert!(
        refused(&from_preset("git"), json!({ "env": { "A": "secret-secret" } })).contains("takes token and ssh_key")
    );
    assert!(refused(&from_preset("psql"), token("github.com")).contains("takes pg_password"));
    assert!(
        refused(&from_preset("gh"), json!({ "env": { "LD_PRELOAD": "secret-secret" } })).contains("env.LD_PRELOAD")
    );
}

#[test]
fn credentials_are_read_strictly() {
    let key_of = |body: &str| json!({ "credential_type": "ssh_key", "host_scope": "github.com", "secret": body });
    let server = |key: &str, value: &str| {
        let mut body = json!({ "credential_type": "pg_password", "host_scope": "db.example.com", "user": "app", "secret": "s3cret-s3cret" });
        body[key] = json!(value);
        body
    };
    for (body, words) in [
        (json!({ "credential_type": "tokens" }), "`credential_type`"),
        (json!({ "credential_typ": "token" }), "the nearest is `credential_type`"),
        (json!({ "credential_type": "token", "secret": PAT }), "`host_scope`: this is needed"),
        (json!({ "credential_type": "token", "host_scope": "github.com" }), "`secret`: there is no secret to keep"),
        (json!({ "credential_type": "token", "host_scope": "github.com", "secret": "a b c d e f" }), "`secret`"),
        (json!({ "credential_type": "token", "host_scope": "github.com", "secret": "short" }), "`secret`"),
        (token("https://github.com/org"), "`host_scope`"),
        (token("user@github.com"), "`host_scope`"),
        (token("*.github.com"), "`host_scope`"),
        (token("ssh://github.com"), "`host_scope`"),
        (token(""), "`host_scope`"),
        (key_of("hunter2-hunter2"), "a private key in PEM form"),
        (key_of("-----BEGIN RSA PRIVATE KEY-----\nabc"), "cut off"),
        (key_of("-----BEGIN ENCRYPTED PRIVATE KEY-----\nabc\n-----END ENCRYPTED PRIVATE KEY-----"), "has a passphrase"),
        (key_of(&key("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nabc")), "has a passphrase"),
        // `openssh-key-v1`, then the cipher `aes256-ctr`.
        (
            key_of(
                "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHI=\n-----END OPENSSH PRIVATE KEY-----",
            ),
            "has a passphrase",
        ),
        (server("database", "a=b"), "`database`"),
        (server("database", "host=evil.example"), "`database`"),
        (server("user", "a:b"), "`user`"),
        (server("secret", "two\nlines-two"), "`secret`"),
    ] {
        let told = said(&CredentialKind::read(&body, None).err().unwrap_or_else(|| panic!("{body}")));
        assert!(told.contains(words), "{body}: {told}");
    }
    let open =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----\n";
    for body in [key_of(open), key_of(&key("abc")), token("GitHub.com"), server("database", "shop")] {
        let kind = CredentialKind::read(&body, None).unwrap();
        let again: Value = serde_json::from_str(kind.to_stored().expose()).unwrap();
        assert_eq!(CredentialKind::read(&again, None).unwrap(), kind);
        assert!(!format!("{kind:?}").contains("s3cret") && !format!("{kind:?}").contains(PAT));
    }
    // A secret that is left out stays.
    let old = CredentialKind::read(&token("github.com"), None).unwrap();
    let moved = json!({ "credential_type": "pat", "host_scope": "gitlab.com", "secret": "" });
    let moved = CredentialKind::read(&moved, Some(&old)).unwrap();
    assert!(moved.to_stored().expose().contains(PAT) && moved.host_scope() == "gitlab.com");
}

#[test]
fn a_host_scope_is_one_scheme_host_and_port() {
    let scope = HostScope::parse("GitHub.com.").unwrap();
    assert_eq!((scope.origin().as_str(), scope.to_string().as_str()), ("https://github.com", "github.com"));
    assert_eq!(HostScope::parse("bücher.example").unwrap().host(), "xn--bcher-kva.example");
    assert_eq!(HostScope::parse("git.example.com:443").unwrap(), HostScope::parse("git.example.com").unwrap());
    let target = |url| caisson_guard::Target::parse(url).unwrap();
    for other in [
        "http://github.com/",
        "https://github.com:8443/",
        "https://api.github.com/",
        "https://github.com.evil.example/",
    ] {
        assert!(!scope.covers(&target(other)), "{other}");
    }
    assert!(scope.covers(&target("https://GITHUB.com:443/a/b")));
}

#[test]
fn git_refuses_what_could_send_a_token_elsewhere() {
    let git = with("git", &[token("github.com")]);
    for text in [
        "git -c core.askPass=x fetch",
        "git --git-dir=/tmp/x fetch",
        "git --exec-path=/tmp fetch",
        "git -C a --config-env=a=b pull",
        "git clone -c core.gitProxy=x https://github.com/a/b",
        "git clone --config core.gitProxy=x https://github.com/a/b",
        "git clone --conf core.gitProxy=x https://github.com/a/b",
        "git clone -qc a=b https://github.com/a/b",
        "git clone --template=/tmp/x https://github.com/a/b",
        "git clone --temp /tmp/x https://github.com/a/b",
    ] {
        let id = rule(text, &git);
        let ids = ["programs.option", "programs.denied-arguments", "programs.starts-another"];
        assert!(ids.contains(&id), "{text}: {id}");
    }
    for text in [
        "git clone --upload-pack=./x a:b",
        "git fetch --upload-p ./x",
        "git push --receive-pack=x",
        "git push --exec=x",
        "git submodule foreach ls",
    ] {
        let id = rule(text, &git);
        assert!(id == "programs.option" || id == "programs.starts-another", "{text}: {id}");
    }
    for text in [
        "git clone https://user:pass@github.com/a/b",
        "git clone https://x-access-token@github.com/a/b",
        "git clone https://github.com@evil.example/a/b",
        "git clone 'https://github.com\\@evil.example/'",
        "git fetch git://github.com/a/b",
        "git clone file:///etc",
        "git push ftp://github.com/a",
        "git clone ssh://git@github.com/a/b",
        "git fetch https:///github.com/a",
        "git fetch remote-x::y",
    ] {
        let id = rule(text, &git);
        assert!(id == "programs.address" || id == "programs.starts-another", "{text}: {id}");
    }
    assert_eq!(refused("git push", &roster(&[from_preset("git")])).rule, Rule::CredentialMissing);
}

#[test]
fn git_is_an_ordinary_program_where_nothing_leaves_the_machine() {
    let git = with("git", &[token("github.com")]);
    for text in [
        "git status",
        "git add . && git commit -m 'fetch and push'",
        "git log | head",
        "env git status",
        "git remote add origin https://github.com/a/b",
        "git -c user.name=x commit -m y",
        "git --version",
        "git",
    ] {
        elsewhere(text, &git);
    }
    for text in ["git status && git push", "git push | cat", "git commit -m \"$(cat m)\"", "git $x", "git --what fetch"]
    {
        assert!(!rule(text, &git).is_empty());
    }
}

#[test]
fn gits_token_is_in_one_file_and_bound_to_its_host() {
    let git = with("git", &[token("github.com"), token("git.example.com:8443")]);
    let launch = cleared("git push origin HEAD", &git).prepare(&place()).unwrap();
    assert_eq!(launch.arguments, ["push", "origin", "HEAD"]);
    let config = config(&launch);
    let helpers: Vec<(&str, &str)> = config
        .iter()
        .filter(|(key, _)| key.starts_with("credential."))
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    let file = "store --file=/run/credentials/git-credentials";
    assert_eq!(helpers[0], ("credential.helper", ""));
    assert!(helpers.contains(&("credential.https://github.com.helper", file)));
    assert!(helpers.contains(&("credential.https://git.example.com:8443.helper", file)));
    assert!(config.contains(&("http.followRedirects".to_owned(), "false".to_owned())));
    assert!(
        launch.env.values().all(|value| !value.expose().contains("ghp_"))
            && launch.arguments.iter().all(|one| !one.contains("ghp_"))
    );
    let encoded = "https://x-access-token:ghp_0123456789%2F%40%3A%25abc@github.com\n";
    assert!(launch.files[0].contents.expose().contains(encoded), "{}", launch.files[0].contents.expose());
    assert_eq!((launch.files.len(), env(&launch, "GIT_ALLOW_PROTOCOL")), (1, "https"));
    assert!(launch.scrub.iter().any(|one| one.expose() == PAT));
    // An address says which host it is, and another host's token stays away; a foreign host gets none.
    let one = cleared("git clone https://git.example.com:8443/a", &git).prepare(&place()).unwrap();
    assert_eq!(one.injected.hosts, ["git.example.com:8443"]);
    let none = cleared("git clone https://gitlab.com/a/b", &git).prepare(&place()).unwrap();
    assert!(none.files.is_empty() && none.scrub.is_empty() && !none.injected.exposed);
}

#[test]
fn with_a_proxy_git_never_has_the_token() {
    let program = program(&json!({ "preset": "git", "is_global": true }));
    let token = credential(&program, ada(), &token("github.com"));
    let git = roster_with(&[program], &[], &[token], vec![]);
    let refusal = cleared("git push", &git).prepare(&place()).unwrap_err();
    assert_eq!(refusal.rule, Rule::Exposure);
    let proxied = Place::new("/run/credentials", Some("http://127.0.0.1:3128/k3y")).unwrap();
    let launch = cleared("git push", &git).prepare(&proxied).unwrap();
    let base = "url.http://127.0.0.1:3128/k3y/https/github.com/.insteadOf";
    assert!(config(&launch).contains(&(base.to_owned(), "https://github.com/".to_owned())));
    assert!(launch.files.is_empty() && !launch.injected.exposed);
    assert!(launch.env.values().all(|value| !value.expose().contains("ghp_")));
    assert_eq!(launch.proxied[0].scope.to_string(), "github.com");
    assert!(launch.proxied[0].authorization.expose().starts_with("Basic "));
    assert!(launch.scrub.iter().any(|one| one.expose() == PAT));
    for (files, proxy) in
        [("run", None), ("/run/a b", None), ("/run/", None), ("/run", Some("http://a/;x")), ("/run", Some("https://a"))]
    {
        assert!(Place::new(files, proxy).is_err(), "{files} {proxy:?}");
    }
}

#[test]
fn gits_key_is_used_with_its_host_alone() {
    let body = json!({ "credential_type": "ssh_key", "host_scope": "github.com", "secret": key("abc") });
    let git = with("git", &[body]);
    let launch = cleared("git clone git@github.com:a/b", &git).prepare(&place()).unwrap();
    assert_eq!(env(&launch, "GIT_SSH_COMMAND"), "ssh -F /run/credentials/git-ssh-config");
    let file = |name: &str| launch.files.iter().find(|file| file.path.ends_with(name)).unwrap().contents.expose();
    let settings = file("git-ssh-config");
    assert!(
        settings
            .starts_with("Host github.com\n  IdentityFile /run/credentials/git-key-0\nHost *\n  IdentityFile none\n"),
        "{settings}"
    );
    for line in ["IdentitiesOnly yes", "BatchMode yes", "StrictHostKeyChecking accept-new", "ForwardAgent no"] {
        assert!(settings.contains(line), "{line}");
    }
    assert!(file("git-key-0").ends_with("-----\n"));
    assert_eq!(env(&launch, "GIT_ALLOW_PROTOCOL"), "https:ssh");
    let other = cleared("git clone git@gitlab.com:a/b", &git).prepare(&place()).unwrap();
    assert!(other.files.is_empty() && !other.env.contains_key("GIT_SSH_COMMAND"));
}

fn psql(change: Value) -> Roster {
    let mut body = json!({
        "credential_type": "pg_password", "host_scope": "db.example.com", "user": "app", "database": "shop", "secret": "p:w\\x-p:w\\x",
    });
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    with("psql", &[body])
}

#[test]
fn psql_refuses_other_servers_files_and_its_own_commands() {
    let shop = psql(json!({}));
    for (text, id) in [
        ("psql -h evil.example -c 'select 1'", "programs.address"),
        ("psql --host=evil.example", "programs.address"),
        ("psql -hevil.example", "programs.address"),
        ("psql -p 6543", "programs.address"),
        ("psql -U postgres", "programs.address"),
        ("psql -d other", "programs.address"),
        ("psql -d 'host=evil.example'", "programs.address"),
        ("psql postgresql://evil.example/shop", "programs.address"),
        ("psql 'hostaddr=6.6.6.6 host=db.example.com'", "programs.address"),
        ("psql service=evil", "programs.address"),
        ("psql shop postgres", "programs.address"),
        ("psql -- 'host=evil.example'", "programs.address"),
        ("psql -f script.sql", "programs.option"),
        ("psql --file=script.sql", "programs.option"),
        ("psql --fil script.sql", "programs.option"),
        ("psql -o '|sh'", "programs.option"),
        ("psql -Ato '|sh'", "programs.option"),
        ("psql --output='|sh'", "programs.option"),
        ("psql -L log", "programs.option"),
        ("psql -v PROMPT1=x", "programs.option"),
        ("psql --set=x=y", "programs.option"),
        ("psql --hos=evil.example", "programs.option"),
        ("psql -s", "programs.option"),
        ("psql -c", "programs.option"),
        ("psql -c '\\! ls'", "programs.statement"),
        ("psql -c '\\copy t from program '\\''ls'\\'''", "programs.statement"),
        ("psql -c '\\i script.sql'", "programs.statement"),
        ("psql -c '\\o |sh'", "programs.statement"),
        ("psql -c '\\c host=evil.example'", "programs.statement"),
        ("psql -c '\\set x `ls`'", "programs.statement"),
        ("psql -c '\\dt `ls`'", "programs.statement"),
        ("psql -c '\\d t \\! ls'", "programs.statement"),
        ("psql -Atc '\\d :x'", "programs.statement"),
        ("psql --command='\\g |sh'", "programs.statement"),
        ("psql -c 'DROP TABLE t'", "programs.denied-arguments"),
        ("psql -c 'select 1; truncate t'", "programs.denied-arguments"),
        ("psql -c \"COPY t FROM PROGRAM 'ls'\"", "programs.denied-arguments"),
        ("psql -c 'copy t to\n/**/program/**/$$ls$$'", "programs.denied-arguments"),
        ("psql -c \"select pg_read_file('/etc/passwd')\"", "programs.denied-arguments"),
    ] {
        assert_eq!(rule(text, &shop), id, "{text}");
    }
    assert_eq!(rule("psql -l", &roster(&[from_preset("psql")])), "programs.credential-missing");
}

#[test]
fn psqls_password_is_in_a_file_that_names_the_server() {
    let launch = cleared("psql -At -c 'select 1'", &psql(json!({}))).prepare(&place()).unwrap();
    assert_eq!(launch.arguments, ["--no-psqlrc", "--no-password", "-At", "-c", "select 1"]);
    let file = &launch.files[0];
    assert_eq!(
        (file.path.as_str(), env(&launch, "PGPASSFILE")),
        ("/run/credentials/pgpass", "/run/credentials/pgpass")
    );
    assert_eq!(file.contents.expose(), "db.example.com:5432:shop:app:p\\:w\\\\x-p\\:w\\\\x\n");
    for (name, value) in [("PGHOST", "db.example.com"), ("PGPORT", "5432"), ("PGUSER", "app"), ("PGDATABASE", "shop")] {
        assert_eq!(env(&launch, name), value);
    }
    assert!(launch.scrub.iter().any(|one| one.expose() == "p:w\\x-p:w\\x"));
    for text in [
        "psql -h db.example.com -p 5432 -U app -d shop -c 'select 1'",
        "psql shop app",
        "psql --csv --command='select * from t'",
        "psql -Atqc 'select 1'",
        "psql -c '\\dt+ public.*' -c '\\l'",
        "psql -P pager=off -F ';' -l",
    ] {
        cleared(text, &psql(json!({})));
    }
    let any = psql(json!({ "database": "*", "port": 6543 }));
    let launch = cleared("psql -d other -c 'select 1'", &any).prepare(&place()).unwrap();
    assert!(launch.files[0].contents.expose().starts_with("db.example.com:6543:*:app:"));
    assert_eq!(rule("psql -d 'dbname=x host=evil.example'", &any), "programs.address");
}
