//! What holds for any input.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use caisson_guard::shell::{Dialect, see};
use caisson_programs::{Asked, CredentialKind, Decision, Draft, HostScope, KeywordRule, decide};
use common::{from_preset, program, roster, roster_with, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Words that need no quotes.
fn word() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9./:@-]{0,8}"
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a command is refused for its arguments.
fn is_denied(text: &str, roster: &caisson_programs::Roster) -> bool {
    matches!(run(text, roster), Decision::Refused(refusal) if refusal.rule.id() == "programs.denied-arguments")
}

proptest! {
    #[test]
    fn nothing_panics_and_what_runs_is_what_was_written(text in "\\PC{0,80}") {
        let roster = roster(&[from_preset("gh"), from_preset("git"), from_preset("psql")]);
        for text in [text.clone(), format!("gh {text}"), format!("git push {text}"), format!("psql -c {}", quoted(&text))] {
            if let Ok(seen) = see(&text, Dialect::default()) {
                let decision = decide(&Asked { text: &text, seen: &seen, input: false, variables: false }, &roster);
                if let Decision::Run(cleared) = decision {
                    prop_assert_eq!(seen.invocations.len(), 1);
                    prop_assert!(seen.uses.is_empty());
                    let words: Vec<&str> = seen.invocations[0].args.iter().map(|word| word.known().unwrap()).collect();
                    prop_assert_eq!(cleared.arguments(), words);
                }
            }
        }
    }

    #[test]
    fn options_and_their_values_between_the_words_hide_no_command(
        before in proptest::collection::vec(("-{1,2}[a-z]{1,6}", proptest::option::of(word())), 0..4),
        between in proptest::collection::vec(("-{1,2}[a-z]{1,6}", proptest::option::of(word())), 0..4),
        after in proptest::collection::vec(word(), 0..3),
    ) {
        let options = |list: &[(String, Option<String>)]| {
            list.iter().flat_map(|(option, value)| std::iter::once(option.clone()).chain(value.clone())).collect::<Vec<_>>().join(" ")
        };
        let text = format!("tool {} repo {} delete {}", options(&before), options(&between), after.join(" "));
        let tool = roster(&[program(&json!({ "binary_name": "tool", "is_global": true, "deny_args": [{ "words": "repo delete" }] }))]);
        // A value that is a program's name reads as one that is started, which is refused too, by another rule.
        prop_assert!(matches!(run(&text, &tool), Decision::Refused(_)), "{}", text);
    }

    #[test]
    fn a_text_of_one_argument_is_no_command(prose in "[a-z ;|&$<>()*~]{0,40}") {
        let tool = roster(&[program(&json!({ "binary_name": "tool", "is_global": true, "deny_args": [{ "words": "repo delete" }] }))]);
        let text = format!("tool issue create --body {}", quoted(&format!("{prose} repo delete")));
        prop_assert!(matches!(run(&text, &tool), Decision::Run(_)), "{}", text);
    }

    #[test]
    fn an_expression_that_matches_the_joined_arguments_denies(words in proptest::collection::vec(word(), 1..6), at in 0usize..6) {
        let needle = words.get(at % words.len()).unwrap().clone();
        let tool = roster(&[program(&json!({ "binary_name": "tool", "is_global": true, "deny_args": [regex_escape(&needle)] }))]);
        let text = format!("tool {}", words.join(" "));
        prop_assert!(is_denied(&text, &tool));
    }

    #[test]
    fn keywords_take_out_words_and_never_let_another_denied_word_through(
        prose in proptest::collection::vec(prop_oneof![Just("secret".to_owned()), word()], 0..6),
        denied in any::<bool>(),
    ) {
        let rules = KeywordRule::read_all(&json!([{
            "id": "r", "command": "tool", "subcommands": ["issue create"], "args": ["--body"], "keywords": ["secret"], "reason": "prose",
        }])).unwrap();
        let tool = program(&json!({ "binary_name": "tool", "is_global": true, "deny_args": ["secret", "zzz-denied"] }));
        let listed = roster_with(&[tool], &[], &[], rules);
        let mut body = prose.join(" ");
        if denied {
            body.push_str(" zzz-denied");
        }
        // Words that hold the keyword as a part are not it.
        prop_assume!(prose.iter().all(|word| word == "secret" || !word.contains("secret")));
        let text = format!("tool issue create --body {}", quoted(&body));
        prop_assert_eq!(is_denied(&text, &listed), denied, "{}", text);
        let elsewhere = format!("tool issue create --label {}", quoted(&format!("{body} secret")));
        prop_assert!(is_denied(&elsewhere, &listed));
    }

    #[test]
    fn a_scope_that_is_read_is_written_as_it_is_read(text in "\\PC{0,40}") {
        if let Ok(scope) = HostScope::parse(&text) {
            prop_assert_eq!(HostScope::parse(&scope.to_string()).unwrap(), scope);
        }
    }

    #[test]
    fn bodies_of_any_shape_are_read_or_refused(text in "\\PC{0,60}", key in "[a-z_]{0,16}", number in any::<i64>()) {
        for value in [json!(text), json!(number), json!([text]), json!({ key.clone(): text })] {
            let body = json!({ key.clone(): value });
            let _ = Draft::read(&body).map(|draft| draft.create(|_| None));
            let _ = CredentialKind::read(&body, None);
            let _ = KeywordRule::read_all(&Value::Array(vec![body]));
        }
    }
}

/// The words of [`word`] hold these special characters only.
fn regex_escape(text: &str) -> String {
    text.replace('.', "\\.").replace('-', "\\-")
}

#[test]
fn a_long_command_costs_time_in_proportion_to_its_length() {
    // An expression on which an engine with backtracking would not end.
    let tool = program(&json!({
        "binary_name": "tool", "is_global": true,
        "deny_args": ["(a+)+$x", "(a|aa)+b", { "words": "** ** ** ** ** ** b" }],
    }));
    let text = format!("tool {}", "a ".repeat(4_000)).trim_end().to_owned();
    assert!(matches!(run(&text, &roster(std::slice::from_ref(&tool))), Decision::Run(_)));
    let text = format!("tool {}", "a".repeat(30_000));
    assert!(matches!(run(&text, &roster(&[tool])), Decision::Run(_)));
}
