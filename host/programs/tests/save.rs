//! What may be saved, and what is said about the rest.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_programs::{
    CredentialKind, Draft, Env, EnvDraft, GrantSettings, KeywordRule, Kind, Program, Secret, check_commands,
};
use common::{TOKEN, program, said, try_program};
use serde_json::{Value, json};

fn wrong(body: &Value) -> String {
    said(&try_program(body).err().unwrap_or_else(|| panic!("{body} should be refused")))
}

#[test]
fn what_is_misspelt_is_named_with_the_nearest() {
    for (body, words) in [
        (json!({ "preset": "gh", "deny_arg": [] }), "`deny_arg`: there is no such key; the nearest is `deny_args`"),
        (json!({ "preset": "gh", "timeout": 5 }), "the nearest is `timeout_seconds`"),
        (json!({ "preset": "hg" }), "there is no preset `hg`; the nearest is `gh`"),
        (json!({ "preset": "gh", "adapter_name": "gti" }), "there is no adapter `gti`; the nearest is `git`"),
        (json!({ "preset": "gh", "adapter_name": "" }), "there is no adapter ``"),
        (
            json!({ "preset": "gh", "env": { "GH_TOKEN": { "kinds": "value", "value": "x" } } }),
            "`env.GH_TOKEN.kinds`: there is no such key; the nearest is `kind`",
        ),
        (json!({ "preset": "gh", "deny_args": [{ "word": "x" }] }), "`deny_args`: a list of expressions"),
        (json!([]), "an object is needed"),
    ] {
        assert!(wrong(&body).contains(words), "{body}: {}", wrong(&body));
    }
}

#[test]
fn every_field_has_its_rule_and_all_faults_are_told_at_once() {
    for (body, words) in [
        (json!({}), "`binary_name`: a name such as `gh`, or a preset, is needed"),
        (json!({ "binary_name": "GH" }), "`binary_name`"),
        (json!({ "binary_name": "gh.exe" }), "`binary_name`"),
        (json!({ "binary_name": "../gh", "binary_path": "/usr/bin/gh" }), "`binary_name`"),
        (json!({ "binary_name": "gh", "binary_path": "gh" }), "`binary_path`: an absolute path"),
        (json!({ "binary_name": "gh", "binary_path": "/usr/bin/../bin/gh" }), "`binary_path`: a path without"),
        (json!({ "binary_name": "gh", "binary_path": "/usr//bin/gh" }), "`binary_path`: a path without"),
        (json!({ "binary_name": "gh", "binary_path": "/usr/bin/git" }), "must have the name of the program"),
        (json!({ "binary_name": "gh", "binary_path": "/tmp/gh" }), "others write below `/tmp`"),
        (json!({ "binary_name": "gh", "binary_path": "/workspace/bin/gh" }), "others write below `/workspace`"),
        (json!({ "preset": "gh", "timeout_seconds": 0 }), "`timeout_seconds`: a whole number from 1 to 3600"),
        (json!({ "preset": "gh", "timeout_seconds": 3601 }), "`timeout_seconds`: a whole number from 1 to 3600"),
        (json!({ "preset": "gh", "timeout_seconds": 1.5 }), "`timeout_seconds`: a whole number from 1 to 3600"),
        (json!({ "preset": "gh", "deny_args": ["("] }), "`deny_args[0]`: this is no regular expression"),
        (json!({ "preset": "gh", "deny_args": ["a", "(?=b)"] }), "`deny_args[1]`"),
        (json!({ "preset": "gh", "deny_args": ["(\\w{1000}){1000}"] }), "repeat less"),
        (json!({ "preset": "gh", "deny_args": [""] }), "`deny_args[0]`: a pattern of 1 to 256"),
        (json!({ "preset": "gh", "deny_args": [{ "words": "a (" }] }), "`deny_args[0]`"),
        (json!({ "preset": "gh", "deny_verbose": [{ "words": "a" }] }), "`deny_verbose[0]`"),
        (json!({ "preset": "gh", "deny_args": "auth" }), "`deny_args`: a list"),
        (json!({ "preset": "gh", "accepted_exposure": "yes" }), "`accepted_exposure`: say in a sentence"),
        (json!({ "preset": "gh", "file_env": ["LD_PRELOAD"] }), "`file_env.LD_PRELOAD`"),
        (json!({ "preset": "gh", "env": [] }), "`env`: an object of variables"),
        (json!({ "preset": "gh", "env": { "A": ["x"] } }), "`env.A`: a text, or an object"),
        (
            json!({ "preset": "gh", "env": { "A": { "kind": "secret", "value": "x" } } }),
            "`env.A.kind`: `sensitive` or `value`",
        ),
        (json!({ "preset": "gh", "env": { "A": "" } }), "`env.A`: there is no value to keep"),
        (json!({ "preset": "gh", "env": { "A": "short" } }), "`env.A`: a secret of fewer than 6"),
        (json!({ "preset": "gh", "env": { "A": "two\nlines" } }), "`env.A`: the value has a line break"),
        (json!({ "preset": "gh", "env": { "A": "x".repeat(4_097) } }), "`env.A`: the value is longer"),
        (json!({ "preset": "gh", "env": { "a-b": "secret-secret" } }), "`env.a-b`: a variable's name"),
        (json!({ "preset": "gh", "env": {}, "encrypted_env": {} }), "`encrypted_env`: this is the older name"),
    ] {
        assert!(wrong(&body).contains(words), "{body}: {}", wrong(&body));
    }
    let many = wrong(
        &json!({ "preset": "gh", "timeout_seconds": 0, "adapter_name": "x", "env": { "LD_X": "secret-secret" } }),
    );
    assert_eq!(many.lines().count(), 3, "{many}");
    let fifty: serde_json::Map<_, _> = (0..51).map(|n| (format!("A{n}"), json!("secret-secret"))).collect();
    assert!(wrong(&json!({ "preset": "gh", "env": fifty })).contains("at most 50"));
}

#[test]
fn names_that_choose_code_or_trust_are_no_variables_of_a_program() {
    for name in [
        "PATH",
        "HOME",
        "USER",
        "SHELL",
        "PWD",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "CAISSON_KEY",
        "GOCLAW_GATEWAY_TOKEN",
        "NPM_CONFIG_REGISTRY",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_EXEC_PATH",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_COUNT",
        "SSH_AUTH_SOCK",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PERL5LIB",
        "RUBYOPT",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "IFS",
        "PAGER",
        "EDITOR",
        "JAVA_TOOL_OPTIONS",
        "SSLKEYLOGFILE",
        "http_proxy",
        "1A",
        "A B",
        "A=B",
        "",
    ] {
        let body = json!({ "preset": "gh", "env": { name: "secret-secret" } });
        assert!(wrong(&body).contains("`env."), "{name}: {}", wrong(&body));
    }
    for name in [
        "GH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "TF_TOKEN_app_terraform_io",
        "KUBECONFIG",
        "PGDATABASE",
        "_X",
        "ENVIRONMENT",
    ] {
        program(&json!({ "preset": "gh", "env": { name: "secret-secret" } }));
    }
}

#[test]
fn a_fault_never_repeats_a_value() {
    let secret = "ghp_in_the_wrong_place";
    for body in [
        json!({ "preset": "gh", "timeout_seconds": secret }),
        json!({ "preset": "gh", "enabled": secret }),
        json!({ "preset": "gh", "deny_args": secret }),
        json!({ "preset": "gh", "env": secret }),
        json!({ "preset": "gh", "env": { "A": { "kind": secret, "value": secret } } }),
        json!({ "preset": "gh", "env": { "A": [secret] } }),
        json!({ "preset": "gh", "env": { "LD_PRELOAD": secret } }),
    ] {
        assert!(!wrong(&body).contains(secret), "{}", wrong(&body));
    }
    let kind = |body: Value| said(&CredentialKind::read(&body, None).unwrap_err());
    assert!(
        !kind(json!({ "credential_type": "ssh_key", "host_scope": "a.example", "secret": secret })).contains(secret)
    );
    assert!(!kind(json!({ "credential_type": secret })).contains(secret));
    assert!(Env::from_stored(&Secret::new(secret), "env").is_err_and(|faults| !said(&faults).contains(secret)));
}

#[test]
fn the_older_forms_are_read() {
    let gh = program(&json!({
        "binary_name": "gh", "encrypted_env": { "GH_TOKEN": TOKEN, "NUMBER": 1_234_567, "TRUTH": { "kind": "value", "value": true } },
        "deny_args": ["auth\\s+", "ssh-key"], "timeout_seconds": 30,
        "tips": "GitHub CLI. Available: gh api, gh repo, gh issue, etc.",
    }));
    assert_eq!(gh.env().get("GH_TOKEN").unwrap().kind, Kind::Sensitive);
    assert_eq!(gh.env().get("NUMBER").unwrap().value.expose(), "1234567");
    assert_eq!(gh.env().get("TRUTH").unwrap().kind, Kind::Value);
    let stored = Env::from_stored(&Secret::new(format!(r#"{{"GH_TOKEN":"{TOKEN}"}}"#)), "env").unwrap();
    assert_eq!(stored.get("GH_TOKEN").unwrap(), gh.env().get("GH_TOKEN").unwrap());
    assert_eq!(Env::from_stored(&gh.env().to_stored(), "env").unwrap(), *gh.env());
    assert!(Env::from_stored(&Secret::new("not json"), "env").is_err());
    // Nobody gets a program with credentials by default, nor keeps one by an unknown adapter.
    assert!(!gh.settings().is_global && gh.settings().adapter_name == "passthrough");
}

#[test]
fn a_secret_is_masked_and_kept_and_never_turned_into_a_value() {
    let old = program(&json!({ "preset": "gh", "env": {
        "GH_TOKEN": TOKEN, "GH_HOST": { "kind": "value", "value": "a.example" }, "OTHER": "other-secret",
    } }));
    let view = serde_json::to_value(old.env().view()).unwrap();
    assert_eq!(
        view,
        json!({
            "GH_TOKEN": { "kind": "sensitive", "value": "***" }, "OTHER": { "kind": "sensitive", "value": "***" },
            "GH_HOST": { "kind": "value", "value": "a.example" },
        })
    );
    let change = |body: Value| Draft::read(&body).unwrap().change(&old);
    // What GET gave comes back by PUT.
    assert_eq!(change(json!({ "env": view })).unwrap().1, *old.env());
    let (_, env) = change(json!({ "env": { "GH_TOKEN": { "kind": "sensitive", "value": "" }, "GH_HOST": { "kind": "value", "value": "" } } })).unwrap();
    assert_eq!(env.get("GH_TOKEN"), old.env().get("GH_TOKEN"));
    assert!(env.get("OTHER").is_none() && env.get("GH_HOST").unwrap().value.expose().is_empty());
    let shown = change(json!({ "env": { "GH_TOKEN": { "kind": "value", "value": "***" } } }));
    assert!(shown.is_err() || shown.unwrap().1.get("GH_TOKEN").unwrap().value.expose() != TOKEN);
    assert!(said(&change(json!({ "env": { "NEW": "" } })).unwrap_err()).contains("`env.NEW`"));
    // A value becomes a secret, and stays one.
    let (_, env) = change(json!({ "env": { "GH_HOST": { "kind": "sensitive", "value": "***" } } })).unwrap();
    assert_eq!(env.get("GH_HOST").unwrap().kind, Kind::Sensitive);
    assert_eq!(env.get("GH_HOST").unwrap().value.expose(), "a.example");
}

#[test]
fn a_change_keeps_what_it_does_not_name() {
    let old = program(
        &json!({ "preset": "gh", "accepted_exposure": "trusted with this token", "env": { "GH_TOKEN": TOKEN } }),
    );
    let change = |body: Value| Draft::read(&body).unwrap().change(&old);
    let (settings, env) = change(json!({ "tips": "new" })).unwrap();
    assert_eq!((settings.tips.as_str(), &env), ("new", old.env()));
    assert_eq!(settings.deny_args, old.settings().deny_args);
    assert!(change(json!({ "accepted_exposure": "" })).unwrap().0.accepted_exposure.is_none());
    assert!(said(&change(json!({ "binary_name": "git" })).unwrap_err()).contains("the name stays"));
    assert!(said(&change(json!({ "preset": "git" })).unwrap_err()).contains("`preset`"));
    let stored = serde_json::to_value(old.settings()).unwrap();
    let again = Program::new(old.id().clone(), common::tenant(), serde_json::from_value(stored).unwrap(), env);
    assert_eq!(again.unwrap().settings(), old.settings());
}

#[test]
fn grants_are_read_as_strictly() {
    assert!(said(&GrantSettings::read(&json!({ "deny_arg": [] })).unwrap_err()).contains("the nearest is `deny_args`"));
    assert!(said(&GrantSettings::read(&json!({ "timeout_seconds": "x" })).unwrap_err()).contains("`timeout_seconds`"));
    let gh = program(&json!({ "preset": "gh" }));
    let bad = caisson_programs::Grant::new(
        &gh,
        "coder",
        GrantSettings {
            timeout_seconds: Some(0),
            deny_args: Some(vec![caisson_programs::PatternText::Regex("(".into())]),
            ..GrantSettings::default()
        },
        EnvDraft::read(&json!({ "LD_PRELOAD": "secret-secret" }), "env").unwrap().onto(None, "env").unwrap(),
    );
    let bad = said(&bad.unwrap_err());
    assert!(["env.LD_PRELOAD", "timeout_seconds", "deny_args[0]"].iter().all(|at| bad.contains(at)), "{bad}");
    let (settings, env) = GrantSettings::read(&json!({ "deny_args": null, "env": null })).unwrap();
    assert!(settings.deny_args.is_none() && env.is_none());
}

#[test]
fn keyword_rules_are_read_as_strictly() {
    let rule = |key: &str, value: Value| {
        let mut rule = json!({
            "id": "github-content", "command": "gh", "subcommands": ["issue create"], "args": ["--body"],
            "keywords": ["secret"], "reason": "words of security in issues",
        });
        rule[key] = value;
        json!([rule])
    };
    for (key, value, words) in [
        ("keyword", json!(["x"]), "[0].keyword`: there is no such key; the nearest is `keywords`"),
        ("subcommands", json!([]), "[0].subcommands`"),
        ("subcommands", json!(["-R a"]), "[0].subcommands`"),
        ("subcommands", json!("issue create"), "[0].subcommands`: a list"),
        ("args", json!([]), "lets nothing through"),
        ("args", json!(["body"]), "[0].args`: at most 64 options"),
        ("argPositions", json!([-1]), "[0].argPositions`: a list of whole numbers"),
        ("keywords", json!([]), "[0].keywords`"),
        ("keywords", json!(["."]), "[0].keywords`"),
        ("reason", json!(" "), "[0].reason`"),
        ("command", json!("/usr/bin/gh"), "[0].command`"),
    ] {
        let told = said(&KeywordRule::read_all(&rule(key, value)).unwrap_err());
        assert!(told.contains(words), "{key}: {told}");
    }
    assert!(said(&KeywordRule::read_all(&json!([{}])).unwrap_err()).contains("this is needed"));
    let rules = KeywordRule::read_all(&rule("enabled", json!(true))).unwrap();
    assert!(
        said(&check_commands(&rules, &["git", "ghx"])).contains("no program `gh` is registered; the nearest is `ghx`")
    );
    assert!(check_commands(&rules, &["gh"]).is_empty());
}
