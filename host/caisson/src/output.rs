//! What every command prints, and how it ends.

use crate::args::Cli;
use caisson_call::{Content, Outcome};
use caisson_registry::Answer;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// Sends the log to standard error: standard output belongs to results and, in `mcp`, to the protocol.
pub(crate) fn log(cli: &Cli) {
    let filter = EnvFilter::try_new(&cli.log).unwrap_or_else(|_| EnvFilter::new("warn"));
    // Colours only for a person: a log file or a collector would keep their codes.
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours).init();
}

/// Prints an error and gives the exit status of a bad request.
pub(crate) fn fail(cli: &Cli, error: &anyhow::Error) -> ExitCode {
    if cli.json {
        print(&json!({ "error": format!("{error:#}") }));
    } else {
        eprintln!("error: {error:#}");
    }
    ExitCode::from(2)
}

/// Prints a JSON document.
pub(crate) fn print(value: &Value) {
    println!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
}

/// A spinner for work that takes a while; silent where nobody watches.
pub(crate) fn spinner(cli: &Cli, text: &str) -> ProgressBar {
    if cli.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(text.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Prints how a call ended and maps the outcome to the exit status.
pub(crate) fn answer(cli: &Cli, answer: &Answer) -> ExitCode {
    if cli.json {
        print(&answer_json(answer));
    } else {
        answer_text(answer);
    }
    status(answer.outcome)
}

/// The exit status of an outcome.
pub(crate) fn status(outcome: Outcome) -> ExitCode {
    ExitCode::from(outcome.exit_status())
}

fn answer_text(answer: &Answer) {
    match &answer.body {
        Ok(result) => {
            for content in result.for_model() {
                match content {
                    Content::Text(text) if result.is_error() => eprintln!("{text}"),
                    Content::Text(text) => println!("{text}"),
                    Content::Image { mime_type, data } | Content::Audio { mime_type, data } => {
                        println!("[{mime_type}, {} bytes]", data.len())
                    }
                    Content::File { path, .. } => println!("[file {path}]"),
                    Content::Kept(reference) => println!("[kept output {reference}]"),
                }
            }
        }
        Err(refused) => eprintln!("{}: {}", answer.outcome.as_str(), refused.message()),
    }
}

fn answer_json(answer: &Answer) -> Value {
    let (outcome, wall, cpu) = (answer.outcome.as_str(), answer.wall.as_secs_f64(), answer.cpu.as_secs_f64());
    let (wall, cpu) = (wall * 1e3, cpu * 1e3);
    match &answer.body {
        Ok(result) => {
            let structured: Option<Value> = result.structured().and_then(|text| serde_json::from_str(text).ok());
            json!({ "outcome": outcome, "durationMs": wall, "cpuMs": cpu, "text": result.text(), "structured": structured })
        }
        Err(refused) => {
            json!({ "outcome": outcome, "durationMs": wall, "cpuMs": cpu, "message": refused.message() })
        }
    }
}
