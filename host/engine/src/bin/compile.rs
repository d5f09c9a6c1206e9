//! The compile child on its own, for tests and for an operator who wants it under a profile of its own.

fn main() -> std::process::ExitCode {
    caisson_engine::compile_child()
}
