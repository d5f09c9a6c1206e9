//! Programs, grants and callers for tests.
#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

use caisson_call::TenantId;
use caisson_guard::shell::{Dialect, see};
use caisson_programs::{
    Asked, Caller, Cleared, Credential, CredentialKind, Decision, Draft, Fault, Grant, GrantSettings, Holder,
    KeywordRule, Place, Program, ProgramId, Refusal, Roster, decide,
};
use serde_json::{Value, json};

pub const TOKEN: &str = "ghp_0123456789abcdefghij";

pub fn tenant() -> TenantId {
    TenantId::new("acme").unwrap()
}

pub fn try_program(body: &Value) -> Result<Program, Vec<Fault>> {
    let (settings, env) = Draft::read(body)?.create(|name| Some(format!("/usr/bin/{name}")))?;
    Program::new(ProgramId::new(&format!("id-{}", settings.binary_name)), tenant(), settings, env)
}

pub fn program(body: &Value) -> Program {
    try_program(body).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// From a preset, granted to all, with the operator's word.
pub fn from_preset(name: &str) -> Program {
    let env = caisson_programs::preset(name).unwrap().required().into_iter().map(|name| (name, json!(TOKEN)));
    program(&json!({
        "preset": name, "is_global": true, "env": env.collect::<serde_json::Map<_, _>>(),
        "accepted_exposure": "the agents of this tenant are trusted with it",
    }))
}

pub fn grant(program: &Program, agent: &str, body: &Value) -> Grant {
    let (settings, env) = GrantSettings::read(body).unwrap();
    let env = env.unwrap_or_default().onto(None, "env").unwrap();
    Grant::new(program, agent, settings, env).unwrap()
}

pub fn credential(program: &Program, holder: Holder, body: &Value) -> Credential {
    let kind = CredentialKind::read(body, None).unwrap_or_else(|faults| panic!("{faults:?}"));
    kind.check(program).unwrap();
    Credential { program: program.id().clone(), holder, kind }
}

pub fn coder() -> Caller<'static> {
    Caller { agent: Some("coder"), channel: Some(("telegram", "42")), user: Some("ada") }
}

pub fn roster(programs: &[Program]) -> Roster {
    roster_with(programs, &[], &[], vec![])
}

pub fn roster_with(
    programs: &[Program],
    grants: &[Grant],
    credentials: &[Credential],
    keywords: Vec<KeywordRule>,
) -> Roster {
    Roster::new(&tenant(), programs, grants, credentials, keywords.into(), &coder())
}

pub fn run(text: &str, roster: &Roster) -> Decision {
    let seen = see(text, Dialect::default()).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    decide(&Asked { text, seen: &seen, input: false, variables: false }, roster)
}

pub fn refused(text: &str, roster: &Roster) -> Refusal {
    match run(text, roster) {
        Decision::Refused(refusal) => *refusal,
        other => panic!("`{text}` should be refused: {other:?}"),
    }
}

pub fn rule(text: &str, roster: &Roster) -> &'static str {
    refused(text, roster).rule.id()
}

pub fn cleared(text: &str, roster: &Roster) -> Cleared {
    match run(text, roster) {
        Decision::Run(cleared) => *cleared,
        Decision::Refused(refusal) => panic!("`{text}` should run: {refusal}"),
        Decision::Elsewhere => panic!("`{text}` should run with credentials"),
    }
}

pub fn elsewhere(text: &str, roster: &Roster) {
    let decision = run(text, roster);
    assert!(matches!(decision, Decision::Elsewhere), "`{text}`: {decision:?}");
}

pub fn place() -> Place {
    Place::new("/run/credentials", None).unwrap()
}

pub fn said(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
