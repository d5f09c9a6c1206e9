//! The plugin's log: lines on stderr, which the host keeps for the plugin's author and never shows to the model.

/// A line for whoever looks for a fault.
pub fn debug(message: impl std::fmt::Display) {
    line("debug", &message);
}

/// A line about what happened.
pub fn info(message: impl std::fmt::Display) {
    line("info", &message);
}

/// A line about what may be wrong.
pub fn warn(message: impl std::fmt::Display) {
    line("warn", &message);
}

/// A line about what is wrong.
pub fn error(message: impl std::fmt::Display) {
    line("error", &message);
}

fn line(level: &str, message: &dyn std::fmt::Display) {
    use std::io::Write;
    // A log that is full or closed must not end the call.
    let _ = writeln!(std::io::stderr(), "{level}: {message}");
}
