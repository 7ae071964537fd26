//! The `toolgate` program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate::cli::main(std::env::args_os())
}
