//! What is asked for: the command, where it runs, how long it may take.

use caisson_sdk::ToolError;
use caisson_sdk::exec::Command;
use std::time::Duration;

/// Where the host mounts the caller's workspace.
const WORKSPACE: &str = "/workspace";

const TIMEOUT: u32 = 60;
const MAX_TIMEOUT: u32 = 3_600;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Exec {
    /// Shell command, for example `grep -rn TODO src | head`
    #[schemars(length(min = 1))]
    command: String,
    /// Folder of the workspace to run in, for example `src`; the workspace itself by default
    directory: Option<String>,
    /// How many seconds it may take, 1 to 3600; 60 by default, unless the operator set another
    #[schemars(with = "Option<i64>")]
    timeout_seconds: Option<f64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Program {
    /// Program, for example `git`
    #[schemars(length(min = 1))]
    program: String,
    /// Its arguments, each as it is, for example `["log", "-n", "5"]`
    #[serde(default)]
    arguments: Vec<String>,
    /// Folder of the workspace to run in, for example `src`; the workspace itself by default
    directory: Option<String>,
    /// Text that it reads from its standard input; empty by default
    stdin: Option<String>,
    /// How many seconds it may take, 1 to 3600; 60 by default, unless the operator set another
    #[schemars(with = "Option<i64>")]
    timeout_seconds: Option<f64>,
}

/// What a call comes to.
#[derive(Debug)]
pub struct Asked {
    pub command: Command,
    /// Relative to the workspace; `None` is the workspace itself.
    pub directory: Option<String>,
    pub timeout: Duration,
}

impl Exec {
    /// `settings`: of this tool, as JSON.
    pub fn asked(self, settings: &str) -> Result<Asked, ToolError> {
        if self.command.trim().is_empty() {
            return Err(ToolError::invalid_arguments("`command` is empty; give a shell command, for example `ls -l`"));
        }
        Ok(Asked {
            command: Command::shell(self.command),
            directory: directory(self.directory.as_deref())?,
            timeout: timeout(self.timeout_seconds, settings)?,
        })
    }
}

impl Program {
    /// `settings`: of this tool, as JSON.
    pub fn asked(self, settings: &str) -> Result<Asked, ToolError> {
        if self.program.trim().is_empty() {
            return Err(ToolError::invalid_arguments("`program` is empty; give a program's name, for example `git`"));
        }
        let words = std::iter::once(self.program).chain(self.arguments);
        let command = self.stdin.into_iter().fold(Command::program(words), Command::stdin);
        Ok(Asked {
            command,
            directory: directory(self.directory.as_deref())?,
            timeout: timeout(self.timeout_seconds, settings)?,
        })
    }
}

/// The directory as the host takes it. Whether it may be used is decided there; here only what cannot be meant is told at once.
fn directory(asked: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(asked) = asked.map(str::trim) else { return Ok(None) };
    let inside = match asked.strip_prefix(WORKSPACE) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => asked,
    };
    let outside = |why: &str| {
        ToolError::invalid_arguments(format!(
            "`directory` is `{asked}`, which {why}; name a folder inside the workspace, for example `src`, or leave it out"
        ))
    };
    if inside.starts_with('/') || inside.starts_with('~') {
        return Err(outside("is outside the workspace"));
    }
    if inside.contains('\0') {
        return Err(outside("holds a zero byte"));
    }
    let mut depth = 0_i32;
    for segment in inside.split('/') {
        match segment {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return Err(outside("leads out of the workspace"));
        }
    }
    let here = inside.split('/').all(|segment| matches!(segment, "" | "."));
    Ok((!here).then(|| inside.to_owned()))
}

/// A number as JSON has it, so that `60.0`, which JSON Schema calls an integer, is one here too. The schema names no bounds: a refusal
/// by it would tell one of them, and this tells both.
fn timeout(asked: Option<f64>, settings: &str) -> Result<Duration, ToolError> {
    let seconds = match asked {
        None => set_timeout(settings),
        // A whole number within the range, so nothing is lost.
        Some(seconds) if seconds.fract() == 0.0 && (1.0..=f64::from(MAX_TIMEOUT)).contains(&seconds) => seconds as u32,
        Some(seconds) => {
            return Err(ToolError::invalid_arguments(format!(
                "`timeout_seconds` is {seconds}; use a whole number from 1 to {MAX_TIMEOUT}"
            )));
        }
    };
    Ok(Duration::from_secs(seconds.into()))
}

/// What the settings say: a whole number past the most is the most, and whatever else cannot be used is the default, since the
/// one who makes the call could not correct it.
fn set_timeout(settings: &str) -> u32 {
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap_or_default();
    let Some(set) = settings.get("timeout_seconds").and_then(serde_json::Value::as_f64) else { return TIMEOUT };
    if set.fract() != 0.0 || set < 1.0 {
        return TIMEOUT;
    }
    // A whole number within the range, so nothing is lost.
    set.min(f64::from(MAX_TIMEOUT)) as u32
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use caisson_sdk::Reason;

    fn exec(json: &str, settings: &str) -> Result<Asked, ToolError> {
        serde_json::from_str::<Exec>(json).unwrap().asked(settings)
    }

    #[test]
    fn a_timeout_out_of_range_is_refused_with_the_range() {
        for seconds in ["0", "-1", "3601", "1.5", "1000000000000"] {
            let error = exec(&format!(r#"{{"command":"ls","timeout_seconds":{seconds}}}"#), "{}").unwrap_err();
            assert_eq!(error.reason(), Reason::InvalidArguments);
            assert!(error.message().contains("from 1 to 3600") && error.message().contains(seconds), "{error}");
        }
        for (seconds, told) in [("1", 1), ("60", 60), ("60.0", 60), ("3600", 3_600)] {
            let asked = exec(&format!(r#"{{"command":"ls","timeout_seconds":{seconds}}}"#), "{}").unwrap();
            assert_eq!(asked.timeout, Duration::from_secs(told));
        }
    }

    #[test]
    fn settings_give_the_default_and_never_fail_the_call() {
        for (settings, seconds) in [
            ("", 60),
            ("{}", 60),
            ("nonsense", 60),
            ("[]", 60),
            (r#"{"timeout_seconds":120,"other":1}"#, 120),
            (r#"{"timeout_seconds":120.0}"#, 120),
            (r#"{"timeout_seconds":1}"#, 1),
            (r#"{"timeout_seconds":3600}"#, 3_600),
            (r#"{"timeout_seconds":3601}"#, 3_600),
            (r#"{"timeout_seconds":99999999999999999999999}"#, 3_600),
            (r#"{"timeout_seconds":0}"#, 60),
            (r#"{"timeout_seconds":-5}"#, 60),
            (r#"{"timeout_seconds":1.5}"#, 60),
            (r#"{"timeout_seconds":"90"}"#, 60),
            (r#"{"timeout_seconds":null}"#, 60),
        ] {
            let asked = exec(r#"{"command":"ls"}"#, settings).unwrap();
            assert_eq!(asked.timeout, Duration::from_secs(seconds), "{settings}");
            let asked = exec(r#"{"command":"ls","timeout_seconds":7}"#, settings).unwrap();
            assert_eq!(asked.timeout, Duration::from_secs(7), "{settings}");
        }
    }

    #[test]
    fn a_directory_outside_is_refused() {
        for outside in ["/", "/etc", "/workspaces", "/workspace/../etc", "..", "a/../..", "../workspace", "~", "a\0b"] {
            let error = directory(Some(outside)).unwrap_err();
            assert_eq!(error.reason(), Reason::InvalidArguments);
            assert!(error.message().contains(outside), "{error}");
        }
        for (inside, told) in [
            ("src", Some("src")),
            (" src ", Some("src")),
            ("/workspace/src/deep", Some("src/deep")),
            ("a/../b", Some("a/../b")),
            ("..a/b..", Some("..a/b..")),
            ("", None),
            (".", None),
            ("./", None),
            ("/workspace", None),
            ("/workspace/", None),
        ] {
            assert_eq!(directory(Some(inside)).unwrap().as_deref(), told, "{inside}");
        }
        assert_eq!(directory(None).unwrap(), None);
    }

    #[test]
    fn nothing_to_run_is_refused() {
        for empty in ["", " \n\t"] {
            let error = Exec { command: empty.into(), directory: None, timeout_seconds: None }.asked("").unwrap_err();
            assert!(error.message().contains("`command`"), "{error}");
            let program: Program = serde_json::from_value(serde_json::json!({"program": empty})).unwrap();
            assert!(program.asked("").unwrap_err().message().contains("`program`"));
        }
    }

    #[test]
    fn a_command_and_a_program_are_handed_on_as_they_are() {
        let asked = exec(r#"{"command":" a | b "}"#, "").unwrap();
        assert_eq!(asked.command, Command::shell(" a | b "));
        let json = r#"{"program":"git","arguments":["log","$HOME; rm"],"stdin":"in","directory":"src"}"#;
        let asked = serde_json::from_str::<Program>(json).unwrap().asked("").unwrap();
        assert_eq!(asked.command, Command::program(["git", "log", "$HOME; rm"]).stdin("in"));
        assert_eq!(asked.directory.as_deref(), Some("src"));
    }
}
