//! The stub: started by the gateway with a socket as its standard input, confines itself, becomes the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    caisson_confine::stub::main()
}
