//! Command lines that may run, and what they are given.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_programs::{BASE, Holder, Rule};
use common::{TOKEN, cleared, credential, elsewhere, from_preset, grant, place, program, roster, roster_with};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn one_plain_command_runs_as_the_registered_file_with_its_words() {
    let roster = roster(&[from_preset("gh")]);
    for (text, words) in [
        ("gh pr list", vec!["pr", "list"]),
        ("/usr/bin/gh pr list", vec!["pr", "list"]),
        ("  gh\tpr   list\n", vec!["pr", "list"]),
        ("gh --version", vec!["--version"]),
        ("g''h pr \"list\"", vec!["pr", "list"]),
        ("gh api --jq '.[] | select(.a > 1) && $x; `y`'", vec!["api", "--jq", ".[] | select(.a > 1) && $x; `y`"]),
        ("gh api repos/{owner}/{repo}/issues", vec!["api", "repos/{owner}/{repo}/issues"]),
        ("gh issue create --body 'two\nlines'", vec!["issue", "create", "--body", "two\nlines"]),
        ("gh issue create --title ''", vec!["issue", "create", "--title", ""]),
        ("gh pr view -- -1", vec!["pr", "view", "--", "-1"]),
    ] {
        let cleared = cleared(text, &roster);
        assert_eq!(cleared.arguments(), words, "{text}");
        let launch = cleared.prepare(&place()).unwrap();
        assert_eq!(
            (launch.program.as_str(), launch.arguments.as_slice()),
            ("/usr/bin/gh", words.map_strings().as_slice())
        );
    }
}

trait MapStrings {
    fn map_strings(&self) -> Vec<String>;
}

impl MapStrings for Vec<&str> {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|word| (*word).to_owned()).collect()
    }
}

#[test]
fn its_environment_is_the_base_and_its_credentials_and_nothing_prints_them() {
    let launch = cleared("gh pr list", &roster(&[from_preset("gh")])).prepare(&place()).unwrap();
    let base: BTreeMap<String, String> = ["PATH", "HOME", "LANG", "USER", "TMPDIR", "GATEWAY_KEY"]
        .map(|name| (name.to_owned(), "of-the-gateway".to_owned()))
        .into();
    let environment = launch.environment(&base);
    let names: Vec<&str> = environment.keys().map(String::as_str).collect();
    assert_eq!(names, ["GH_TOKEN", "HOME", "LANG", "PATH", "USER"]);
    assert_eq!(BASE.len() + 1, names.len());
    assert_eq!(environment.get("GH_TOKEN").unwrap().expose(), TOKEN);
    assert_eq!(launch.scrub.len(), 1);
    assert!(!format!("{launch:?} {environment:?}").contains(TOKEN));
    let audit = serde_json::to_string(&launch.injected).unwrap();
    assert!(audit.contains("GH_TOKEN") && !audit.contains(TOKEN), "{audit}");
}

#[test]
fn what_names_no_registered_program_is_not_its_matter() {
    let roster = roster(&[from_preset("gh"), from_preset("git")]);
    for text in
        ["ls", "echo gh pr list", "ghost x", "echo a | cat > b", "cat gh", "git status", "git add . && git commit -m x"]
    {
        elsewhere(text, &roster);
    }
    assert!(roster.registered().contains("gh") && roster.granted().contains("git"));
}

#[test]
fn a_grant_puts_its_own_in_place_of_the_programs() {
    let gh = program(&json!({
        "preset": "gh", "env": { "GH_TOKEN": TOKEN, "GH_HOST": { "kind": "value", "value": "a.example" } },
        "accepted_exposure": "trusted with this token",
    }));
    let narrow = roster_with(std::slice::from_ref(&gh), &[grant(&gh, "coder", &json!({}))], &[], vec![]);
    assert_eq!(common::rule("gh repo delete a/b", &narrow), "programs.denied-arguments");
    let own =
        json!({ "deny_args": [], "timeout_seconds": 5, "tips": "careful", "env": { "GH_TOKEN": "ghp_of_the_grant" } });
    let wide = roster_with(std::slice::from_ref(&gh), &[grant(&gh, "coder", &own)], &[], vec![]);
    let launch = cleared("gh repo delete a/b", &wide).prepare(&place()).unwrap();
    assert_eq!(launch.timeout, Duration::from_secs(5));
    // Variables of a grant stand in place of all of the program's.
    assert_eq!(launch.env.keys().collect::<Vec<_>>(), ["GH_TOKEN"]);
    assert_eq!(launch.env.get("GH_TOKEN").unwrap().expose(), "ghp_of_the_grant");
    assert_eq!(wide.tips().collect::<Vec<_>>(), [("gh", "careful")]);
    let empty = roster_with(std::slice::from_ref(&gh), &[grant(&gh, "coder", &json!({ "env": {} }))], &[], vec![]);
    assert_eq!(cleared("gh pr list", &empty).prepare(&place()).unwrap().env.len(), 2);
}

#[test]
fn the_users_credential_wins_over_the_channels_and_the_agents() {
    let gh = from_preset("gh");
    let of = |holder, token: &str| credential(&gh, holder, &json!({ "env": { "GH_TOKEN": token } }));
    let all = [
        of(Holder::User("ada".into()), "ghp_of_ada"),
        of(Holder::User("bob".into()), "ghp_of_bob"),
        of(Holder::Channel { instance: "telegram".into(), scope: "42".into() }, "ghp_of_the_channel"),
        of(Holder::Channel { instance: "telegram".into(), scope: "43".into() }, "ghp_of_another"),
        of(Holder::Agent("coder".into()), "ghp_of_the_agent"),
    ];
    let token = |credentials: &[caisson_programs::Credential]| {
        let roster = roster_with(std::slice::from_ref(&gh), &[], credentials, vec![]);
        let launch = cleared("gh pr list", &roster).prepare(&place()).unwrap();
        launch.env.get("GH_TOKEN").unwrap().expose().to_owned()
    };
    assert_eq!(token(&all[1..2]), TOKEN);
    assert_eq!(token(&all[3..4]), TOKEN);
    assert_eq!(token(&all[4..]), "ghp_of_the_agent");
    assert_eq!(token(&all[2..]), "ghp_of_the_channel");
    assert_eq!(token(&all), "ghp_of_ada");
}

#[test]
fn what_is_needed_and_missing_or_not_accepted_ends_before_anything_starts() {
    let without =
        program(&json!({ "preset": "gh", "is_global": true, "accepted_exposure": "trusted with this token" }));
    let refusal = cleared("gh pr list", &roster(&[without])).prepare(&place()).unwrap_err();
    assert_eq!((refusal.rule, refusal.about.as_str()), (Rule::EnvMissing, "GH_TOKEN"));
    let silent = program(&json!({ "preset": "gh", "is_global": true, "env": { "GH_TOKEN": TOKEN } }));
    let refusal = cleared("gh pr list", &roster(&[silent])).prepare(&place()).unwrap_err();
    assert_eq!(refusal.rule, Rule::Exposure);
    let open = program(
        &json!({ "binary_name": "rg", "is_global": true, "env": { "RG_X": { "kind": "value", "value": "1" } } }),
    );
    let launch = cleared("rg x", &roster(&[open])).prepare(&place()).unwrap();
    assert!(!launch.injected.exposed && launch.scrub.is_empty());
}

#[test]
fn a_variable_that_is_a_file_becomes_one() {
    let key = "{\n  \"private_key\": \"abc\"\n}";
    let gcloud = program(&json!({
        "preset": "gcloud", "is_global": true, "env": { "GOOGLE_APPLICATION_CREDENTIALS": key },
        "accepted_exposure": "trusted with this account",
    }));
    let launch = cleared("gcloud compute instances list", &roster(&[gcloud])).prepare(&place()).unwrap();
    let path = "/run/credentials/GOOGLE_APPLICATION_CREDENTIALS";
    assert_eq!(launch.env.get("GOOGLE_APPLICATION_CREDENTIALS").unwrap().expose(), path);
    assert_eq!((launch.files[0].path.as_str(), launch.files[0].contents.expose()), (path, key));
    assert_eq!(launch.scrub[0].expose(), key);
}
