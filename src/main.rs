//! The `rulestep` program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    rulestep::main(std::env::args_os())
}
