//! Denied arguments, options that say too much, presets, and words that may stand in prose.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_programs::{KeywordRule, presets, try_out};
use common::{cleared, elsewhere, from_preset, program, roster, roster_with, rule};
use serde_json::{Value, json};

/// A program with these patterns alone.
fn with(name: &str, deny_args: Value, deny_verbose: Value) -> caisson_programs::Roster {
    roster(&[program(&json!({
        "binary_name": name, "is_global": true, "deny_args": deny_args, "deny_verbose": deny_verbose,
    }))])
}

#[test]
fn an_expression_is_found_whatever_options_stand_in_between() {
    let gh = with("gh", json!(["auth\\s+", "ssh-key", "repo\\s+delete", "^secret"]), json!([]));
    for text in [
        "gh auth",
        "gh auth token",
        "gh ssh-key list",
        "gh repo delete a/b",
        "gh repo --yes delete a/b",
        "gh repo -R a/b delete",
        "gh -R a/b repo delete",
        "gh 'repo\ndelete'",
        "gh repo\\ delete",
        "gh secret set A",
        "gh -R a/b secret set A",
    ] {
        assert_eq!(rule(text, &gh), "programs.denied-arguments", "{text}");
    }
    for text in ["gh pr list", "gh author", "gh repo view a/delete", "gh pr view secret"] {
        cleared(text, &gh);
    }
}

#[test]
fn words_are_a_command_and_not_a_text_that_speaks_of_it() {
    let gh = with(
        "gh",
        json!([{ "words": "repo delete" }, { "words": "api ** --method(=.*)?" }, { "words": "secret" }]),
        json!([]),
    );
    for text in [
        "gh repo delete",
        "gh REPO Delete a/b",
        "gh -R a/b repo delete",
        "gh repo --yes delete a/b",
        "gh repo -R a/b --yes -q delete a/b",
        "gh --flag repo -x delete",
        "gh api repos --method DELETE",
        "gh api a b c --method=DELETE",
        "gh secret",
        "gh secret set x",
    ] {
        assert_eq!(rule(text, &gh), "programs.denied-arguments", "{text}");
    }
    for text in [
        "gh issue create --title 'repo delete'",
        "gh issue create --body secret",
        "gh repo view delete",
        "gh pr list repo delete",
        "gh repo deleted",
        "gh api --methods x",
        "gh",
    ] {
        cleared(text, &gh);
    }
}

#[test]
fn an_option_that_says_too_much_is_found_with_its_value_and_in_short() {
    let tool = with("tool", json!([]), json!(["-v", "--verbose", "--verbosity=debug", "--log-http", "--debug"]));
    for text in [
        "tool -v",
        "tool -vv",
        "tool -vvv x",
        "tool -v=9",
        "tool -v9",
        "tool x --verbose",
        "tool --verbose=true",
        "tool --verbosity=debug",
        "tool --verbosity debug",
        "tool --log-http",
        "tool --debu",
        "tool --verb",
    ] {
        assert_eq!(rule(text, &tool), "programs.verbose", "{text}");
    }
    for text in [
        "tool --version",
        "tool -version",
        "tool --verbosity=info",
        "tool --verbosity info",
        "tool --body '-v is broken'",
        "tool --title '--verbose is broken'",
        "tool verbose",
        "tool --log-http-requests",
        "tool --dry",
    ] {
        cleared(text, &tool);
    }
}

#[test]
fn each_preset_denies_what_it_is_for_and_lets_its_twin_run() {
    for (name, denied, allowed) in [
        ("gh", "gh auth token", "gh issue create --title 'auth token is refused'"),
        ("gh", "gh ssh-key add k", "gh pr list"),
        ("gh", "gh gpg-key list", "gh api user"),
        ("gh", "gh repo delete a/b --yes", "gh repo view a/b"),
        ("gh", "gh secret set A -b x", "gh issue list --label secret"),
        ("gh", "gh extension install a/b", "gh search repos extension"),
        ("gh", "gh alias set x '!sh'", "gh pr checkout 1"),
        ("gh", "gh api -X POST user/keys -f key=x", "gh api repos/a/b/issues"),
        ("gh", "gh api --hostname evil.example user", "gh api --method GET user"),
        ("gh", "gh api user --verbose", "gh --version"),
        ("gcloud", "gcloud auth print-access-token", "gcloud compute instances list"),
        ("gcloud", "gcloud --project p auth list", "gcloud --project p run services list"),
        ("gcloud", "gcloud beta iam roles list", "gcloud beta run services list"),
        ("gcloud", "gcloud projects delete p", "gcloud projects list"),
        ("gcloud", "gcloud services disable x", "gcloud services list"),
        ("gcloud", "gcloud kms keys list", "gcloud storage ls"),
        ("gcloud", "gcloud compute instances list --log-http", "gcloud compute instances list --format=json"),
        ("gcloud", "gcloud storage ls --verbosity debug", "gcloud storage ls --verbosity error"),
        ("aws", "aws iam list-users", "aws s3 ls"),
        ("aws", "aws --region eu-central-1 iam list-users", "aws --region eu-central-1 s3 ls"),
        ("aws", "aws organizations list-accounts", "aws ec2 describe-instances"),
        ("aws", "aws sts assume-role --role-arn x", "aws sts get-caller-identity"),
        ("aws", "aws ec2 terminate-instances --instance-ids i", "aws ec2 describe-tags"),
        ("aws", "aws s3 ls --endpoint-url https://evil.example", "aws s3 ls s3://bucket"),
        ("aws", "aws s3 ls --endpoint=https://evil.example", "aws sagemaker describe-endpoint --endpoint-name e"),
        ("aws", "aws s3 ls --prof x", "aws s3 ls --page-size 5"),
        ("aws", "aws configure list", "aws logs tail g"),
        ("aws", "aws s3 ls --debug", "aws s3 ls --output json"),
        ("kubectl", "kubectl delete namespace x", "kubectl delete pod x"),
        ("kubectl", "kubectl -n a delete --wait=false ns x", "kubectl -n a delete --wait=false pod x"),
        ("kubectl", "kubectl delete pod/a node/b", "kubectl delete pod/a pod/b"),
        ("kubectl", "kubectl delete pods,nodes x", "kubectl delete pods,services x"),
        ("kubectl", "kubectl drain n", "kubectl get nodes"),
        ("kubectl", "kubectl cordon n", "kubectl describe node n"),
        ("kubectl", "kubectl config view --raw", "kubectl get configmaps"),
        ("kubectl", "kubectl get pods --kubeconfig=other", "kubectl get pods -o json"),
        ("kubectl", "kubectl get pods -v=9", "kubectl get pods -v=2"),
        ("terraform", "terraform destroy", "terraform plan"),
        ("terraform", "terraform -chdir=a apply -destroy", "terraform -chdir=a apply -auto-approve"),
        ("terraform", "terraform force-unlock 1", "terraform state list"),
        ("gws", "gws auth export", "gws drive files list"),
    ] {
        let roster = roster(&[from_preset(name)]);
        let id = rule(denied, &roster);
        assert!(id == "programs.denied-arguments" || id == "programs.verbose", "{denied}: {id}");
        cleared(allowed, &roster);
    }
    for preset in presets() {
        let program = from_preset(preset.name);
        assert_eq!(program.settings().timeout_seconds, preset.timeout_seconds);
        assert!(!preset.tips.is_empty() && !preset.description.is_empty());
    }
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    assert_eq!(names, ["aws", "gcloud", "gh", "git", "gws", "kubectl", "psql", "terraform"]);
}

#[test]
fn gits_preset_denies_configuration_also_where_no_credential_is_needed() {
    let git = roster(&[from_preset("git")]);
    for text in [
        "git config --global user.name x",
        "git config --system --list",
        "git config credential.helper store",
        "git config --local http.extraHeader x",
        "git config core.sshCommand x",
        "git -c http.proxy=x status",
        "git credential fill",
        "git credential-store get",
        "git daemon --export-all",
        "ls && git config --global a b",
    ] {
        assert_eq!(rule(text, &git), "programs.denied-arguments", "{text}");
    }
    for text in [
        "git config user.name x",
        "git config --get remote.origin.url",
        "git -c user.name=x commit -m daemon",
        "git log --grep credential",
    ] {
        elsewhere(text, &git);
    }
}

fn allowlist(change: Value) -> Vec<KeywordRule> {
    let mut rule = json!({
        "id": "github-content", "command": "gh",
        "subcommands": ["issue create", "issue edit", "pr create", "pr comment"],
        "args": ["--body", "--title"], "argPositions": [], "keywords": ["secret", "secrets", "token", "credential"],
        "reason": "Allow security vocabulary in GitHub issue and PR prose",
    });
    for (key, value) in change.as_object().unwrap() {
        rule[key] = value.clone();
    }
    KeywordRule::read_all(&json!([rule])).unwrap()
}

#[test]
fn keywords_are_let_into_prose_and_nowhere_else() {
    let gh = program(
        &json!({ "binary_name": "gh", "is_global": true, "deny_args": ["(?i)secret", "auth\\s+", { "words": "issue create hidden" }] }),
    );
    let with = |rules| roster_with(std::slice::from_ref(&gh), &[], &[], rules);
    let plain = with(vec![]);
    assert_eq!(rule("gh issue create --body 'secret rotation notes'", &plain), "programs.denied-arguments");
    let listed = with(allowlist(json!({})));
    for text in [
        "gh secret set TOKEN",
        "gh issue create secret",
        "gh issue create --label secret",
        "gh issue create --body-file secret",
        "gh issue list --body secret",
        "gh -R a/b issue create --body secret",
        "gh issue create --body secretive",
        "gh issue create --body my_secret",
        "gh issue create --body 'auth secret'",
        "gh issue create --body x --label secret",
        // The second word is no value.
        "gh issue create --body secret secret",
        "gh issue create --body= secret",
        "gh issue create hidden --body secret",
        "gh pr comment 1 --bodyx=secret",
    ] {
        assert_eq!(rule(text, &listed), "programs.denied-arguments", "{text}");
    }
    for text in [
        "gh issue create --body 'secret rotation notes'",
        "gh issue create --body='the SECRET, and secrets'",
        "gh pr comment 1 --title secret --body '(secret)'",
    ] {
        assert!(!cleared(text, &listed).prepare(&common::place()).unwrap().injected.keywords.is_empty(), "{text}");
    }
    let off = with(allowlist(json!({ "enabled": false })));
    assert_eq!(rule("gh issue create --body secret", &off), "programs.denied-arguments");
    let other = with(allowlist(json!({ "command": "git" })));
    assert_eq!(rule("gh issue create --body secret", &other), "programs.denied-arguments");
}

#[test]
fn a_position_is_counted_behind_the_subcommand_and_is_no_option() {
    let gh = program(&json!({ "binary_name": "gh", "is_global": true, "deny_args": ["secret"] }));
    let rules = allowlist(json!({ "args": [], "argPositions": [1] }));
    let listed = roster_with(&[gh], &[], &[], rules);
    for text in [
        "gh issue create secret x",
        "gh issue create a b secret",
        "gh issue create a --secret",
        "gh issue create a --x=secret",
    ] {
        assert_eq!(rule(text, &listed), "programs.denied-arguments", "{text}");
    }
    // What stands before a `=` is there once.
    for text in
        ["gh issue create a secret", "gh issue create a 'body=the secret is'", "gh issue create a 'secret=secret'"]
    {
        cleared(text, &listed);
    }
}

#[test]
fn what_was_let_through_is_told_by_rule_and_keyword() {
    let gh = program(&json!({ "binary_name": "gh", "is_global": true, "deny_args": ["secret"] }));
    let listed = roster_with(&[gh], &[], &[], allowlist(json!({})));
    let injected =
        cleared("gh issue create --body 'secret token'", &listed).prepare(&common::place()).unwrap().injected;
    let told: Vec<(&str, &str)> =
        injected.keywords.iter().map(|one| (one.rule.as_str(), one.keyword.as_str())).collect();
    assert_eq!(told, [("github-content", "secret"), ("github-content", "token")]);
}

#[test]
fn commands_are_tried_out_without_a_grant() {
    let gh = program(&json!({ "preset": "gh", "enabled": false }));
    let commands =
        ["gh auth token", "gh api user -v", "gh pr list | sh", "gh '", "gh pr list", "ls"].map(str::to_owned);
    let tried = try_out(&gh, &commands);
    let told: Vec<(bool, Option<&str>)> = tried.iter().map(|one| (one.allowed, one.matched_deny.as_deref())).collect();
    let denied = |pattern| (false, Some(pattern));
    assert_eq!(told, [denied("auth"), denied("-v"), (false, None), (false, None), (true, None), (true, None)]);
    assert!(tried.iter().all(|one| one.allowed == one.reason.is_none()));
    assert!(try_out(&from_preset("psql"), &["psql -l".to_owned()]).iter().all(|one| one.allowed));
}
