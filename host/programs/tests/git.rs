//! Real git and ssh with what the adapter gives: a credential goes to its host and to no other.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_programs::{Holder, Launch, Place, Roster};
use common::{cleared, credential, from_preset, roster_with};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

const PAT: &str = "ghp_0123456789/@:%abc";

/// `x-access-token` and the token, as a server gets them.
const BASIC: &str = "Basic eC1hY2Nlc3MtdG9rZW46Z2hwXzAxMjM0NTY3ODkvQDolYWJj";

/// What a server does.
#[derive(Clone)]
enum Does {
    /// Serves a repository's files to whoever has the token.
    Guards(PathBuf),
    /// Serves them to all, below a path.
    Opens(PathBuf, &'static str),
    /// Asks everybody for a credential and is content with none.
    Asks,
    /// Sends everybody on.
    Redirects(String),
}

/// A path that was asked for, and the credential that came with it.
type Request = (String, Option<String>);

/// A server of one test, on loopback. Its thread ends with the test's process.
struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    fn start(does: Does) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(&stream, &does, &record);
            }
        });
        Self { port, seen }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    fn credentials(&self) -> Vec<String> {
        self.seen().into_iter().filter_map(|(_, credential)| credential).collect()
    }
}

fn answer(mut stream: &TcpStream, does: &Does, record: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut credential) = (String::new(), None);
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("authorization")
        {
            credential = Some(value.trim().to_owned());
        }
    }
    record.lock().unwrap().push((path.clone(), credential.clone()));
    let (status, more, body) = match does {
        Does::Guards(root) if credential.as_deref() == Some(BASIC) => file(&root.join(path.trim_start_matches('/'))),
        Does::Guards(_) | Does::Asks => {
            ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n".to_owned(), vec![])
        }
        Does::Opens(root, below) => file(&root.join(path.strip_prefix(below).unwrap_or("none"))),
        Does::Redirects(to) => ("302 Found", format!("Location: {to}{path}?service=git-upload-pack\r\n"), vec![]),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)
}

fn file(path: &Path) -> (&'static str, String, Vec<u8>) {
    match fs::read(path) {
        Ok(body) => ("200 OK", String::new(), body),
        Err(_) => ("404 Not Found", String::new(), vec![]),
    }
}

/// A folder for one test: `served/repo.git` with one commit, and room for what the program is given.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(ground.path("credentials")).unwrap();
        fs::create_dir(ground.path("home")).unwrap();
        ground.git(&["init", "-q", "source"]);
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        ground.git(&[&["-C", "source"], &identity[..], &["commit", "-q", "--allow-empty", "-m", "first"]].concat());
        ground.git(&["clone", "-q", "--bare", "source", "served/repo.git"]);
        // For a server of plain files.
        ground.git(&["-C", "served/repo.git", "update-server-info"]);
        ground
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn place(&self, proxy: Option<&str>) -> Place {
        Place::new(self.path("credentials").to_str().unwrap(), proxy).unwrap()
    }

    fn base(&self) -> BTreeMap<String, String> {
        let home = self.path("home").to_str().unwrap().to_owned();
        [("PATH", std::env::var("PATH").unwrap()), ("HOME", home), ("LANG", "C".to_owned()), ("USER", "x".to_owned())]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// Git for the test itself.
    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path()).env_clear().envs(self.base()).env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs a launch as a gateway would.
    fn run(&self, launch: &Launch) -> Output {
        for file in &launch.files {
            let _ = fs::remove_file(&file.path);
            let mut made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file.path).unwrap();
            made.write_all(file.contents.expose().as_bytes()).unwrap();
        }
        let mut git = Command::new("git");
        git.current_dir(self.folder.path()).env_clear().args(&launch.arguments);
        for (name, value) in launch.environment(&self.base()) {
            git.env(name, value.expose());
        }
        git.output().unwrap()
    }
}

fn with_token(scope: &str) -> Roster {
    let git = from_preset("git");
    let body = json!({ "credential_type": "token", "host_scope": scope, "secret": PAT });
    let token = credential(&git, Holder::User("ada".into()), &body);
    roster_with(&[git], &[], &[token], vec![])
}

fn went_well(output: &Output) -> bool {
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(!String::from_utf8_lossy(&told).contains("ghp_"), "the token is in what git says");
    output.status.success()
}

#[test]
fn a_server_that_asks_for_it_does_not_get_another_hosts_token() {
    let ground = Ground::new();
    let (own, other) = (Server::start(Does::Guards(ground.path("served"))), Server::start(Does::Asks));
    let git = with_token(&own.origin());
    ground.git(&["init", "-q", "work"]);
    ground.git(&["-C", "work", "remote", "add", "origin", &format!("{}/repo.git", other.origin())]);
    // The remote is known by name only, so the token is there: git itself must keep it from that server.
    let launch = cleared("git -C work fetch origin", &git).prepare(&ground.place(None)).unwrap();
    assert!(launch.injected.exposed && !went_well(&ground.run(&launch)));
    assert!(!other.seen().is_empty() && other.credentials().is_empty(), "{:?}", other.seen());
    let named = format!("git clone {}/repo.git copy", other.origin().replace("127.0.0.1", "localhost"));
    let launch = cleared(&named, &git).prepare(&ground.place(None)).unwrap();
    assert!(!launch.injected.exposed && !went_well(&ground.run(&launch)));
    assert!(other.credentials().is_empty());
}

#[test]
fn a_redirect_takes_no_token_along() {
    let ground = Ground::new();
    let other = Server::start(Does::Asks);
    let own = Server::start(Does::Redirects(other.origin()));
    let launch = cleared(&format!("git clone {}/repo.git copy", own.origin()), &with_token(&own.origin()));
    let launch = launch.prepare(&ground.place(None)).unwrap();
    assert!(launch.injected.exposed && !went_well(&ground.run(&launch)));
    assert!(!own.seen().is_empty() && other.credentials().is_empty(), "{:?}", other.seen());
    // Even where a repository asks for redirects to be followed, more precisely than anybody can overrule.
    ground.git(&["init", "-q", "work"]);
    ground.git(&["-C", "work", "remote", "add", "origin", &format!("{}/repo.git", own.origin())]);
    let key = format!("http.{}/repo.git.followRedirects", own.origin());
    ground.git(&["-C", "work", "config", &key, "true"]);
    let launch = cleared("git -C work fetch origin", &with_token(&own.origin())).prepare(&ground.place(None)).unwrap();
    assert!(!went_well(&ground.run(&launch)));
    assert!(!other.seen().is_empty() && other.credentials().is_empty(), "{:?}", other.seen());
}

#[test]
fn a_repositorys_configuration_names_no_helper_hook_or_other_host() {
    let ground = Ground::new();
    let (own, other) = (Server::start(Does::Guards(ground.path("served"))), Server::start(Does::Asks));
    let git = with_token(&own.origin());
    ground.git(&["init", "-q", "work"]);
    let stolen = ground.path("stolen");
    let thief = ground.path("thief");
    fs::write(&thief, format!("#!/bin/sh\nenv > {0}\ncat >> {0}\n", stolen.display())).unwrap();
    fs::set_permissions(&thief, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = ground.path("work/.git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-merge", "reference-transaction", "post-checkout"] {
        fs::copy(&thief, hooks.join(hook)).unwrap();
    }
    let program = format!("!{}", thief.display());
    let config = |key: &str, value: &str| ground.git(&["-C", "work", "config", "--add", key, value]);
    config("remote.origin.url", &format!("{}/repo.git", own.origin()));
    config("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    config("credential.helper", &program);
    config(&format!("credential.{}.helper", own.origin()), &program);
    config("core.askPass", thief.to_str().unwrap());
    config("core.sshCommand", thief.to_str().unwrap());
    config("core.fsmonitor", thief.to_str().unwrap());
    let launch = cleared("git -C work fetch origin", &git).prepare(&ground.place(None)).unwrap();
    let output = ground.run(&launch);
    assert!(went_well(&output), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!stolen.exists(), "{}", fs::read_to_string(&stolen).unwrap());
    assert!(own.credentials().iter().all(|credential| credential == BASIC) && !own.credentials().is_empty());
    // Another address for the same remote.
    config(&format!("url.{}/.insteadOf", other.origin()), &format!("{}/", own.origin()));
    assert!(!went_well(&ground.run(&launch)));
    assert!(!other.seen().is_empty() && other.credentials().is_empty(), "{:?}", other.seen());
}

#[test]
fn the_own_host_gets_the_token_when_it_asks() {
    let ground = Ground::new();
    let own = Server::start(Does::Guards(ground.path("served")));
    let url = format!("{}/repo.git", own.origin());
    let without = cleared(&format!("git clone {url} copy"), &with_token("http://127.0.0.2:1"));
    assert!(!went_well(&ground.run(&without.prepare(&ground.place(None)).unwrap())));
    let launch =
        cleared(&format!("git clone {url} copy"), &with_token(&own.origin())).prepare(&ground.place(None)).unwrap();
    let output = ground.run(&launch);
    assert!(went_well(&output), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(own.credentials().iter().any(|credential| credential == BASIC), "{:?}", own.seen());
    let config = fs::read_to_string(ground.path("copy/.git/config")).unwrap();
    assert!(!config.contains("ghp_") && config.contains(&url), "{config}");
}

#[test]
fn through_the_proxy_git_works_and_has_nothing() {
    let ground = Ground::new();
    let proxy = Server::start(Does::Opens(ground.path("served"), "/k3y/https/git.invalid/"));
    let git = with_token("git.invalid");
    let place = ground.place(Some(&format!("{}/k3y", proxy.origin())));
    let launch = cleared("git clone https://git.invalid/repo.git copy", &git).prepare(&place).unwrap();
    assert!(launch.files.is_empty() && !launch.injected.exposed);
    let output = ground.run(&launch);
    assert!(went_well(&output), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(proxy.credentials().is_empty());
    assert_eq!(launch.proxied[0].authorization.expose(), BASIC);
    let config = fs::read_to_string(ground.path("copy/.git/config")).unwrap();
    assert!(config.contains("https://git.invalid/repo.git") && !config.contains("k3y"), "{config}");
}

#[test]
fn ssh_uses_the_key_for_its_host_alone() {
    let ground = Ground::new();
    let git = from_preset("git");
    let key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n";
    let body = json!({ "credential_type": "ssh_key", "host_scope": "git.invalid", "secret": key });
    let key = credential(&git, Holder::User("ada".into()), &body);
    let git = roster_with(&[git], &[], &[key], vec![]);
    let launch = cleared("git fetch origin", &git).prepare(&ground.place(None)).unwrap();
    let config = launch.files.iter().find(|file| file.path.ends_with("git-ssh-config")).unwrap();
    fs::write(&config.path, config.contents.expose()).unwrap();
    let settings = |host: &str| {
        // `-G` only tells what would be used.
        let output = Command::new("ssh").args(["-G", "-F", &config.path, host]).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let (Some(other), Some(own)) = (settings("other.invalid"), settings("git.invalid")) else {
        eprintln!("skipped: ssh is not installed");
        return;
    };
    assert!(!other.contains("git-key-0") && other.contains("identityfile none"), "{other}");
    assert!(own.contains("credentials/git-key-0"), "{own}");
    for line in ["identitiesonly yes", "batchmode yes", "forwardagent no"] {
        assert!(own.contains(line), "{line}: {own}");
    }
}
