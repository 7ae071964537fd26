//! The `toolgate` program: arguments in, exit code out.
fn main() {}
