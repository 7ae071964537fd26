//! `explain facts`: the table of what programs and tools do.

use crate::cli::args::{Format, Policies};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::report::shell as shell_report;

/// What is known of programs and tools; with a policy, what it adds.
pub fn facts(policies: &Policies, format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let policy = input::named_policy(policies, screen)?;
    match (format, &policy) {
        (Format::Json, None) => {
            for row in shell_report::table_data() {
                writeln!(screen.out(), "{row}")?;
            }
        }
        (Format::Json, Some(policy)) => {
            for row in shell_report::added_data(policy) {
                writeln!(screen.out(), "{row}")?;
            }
        }
        (Format::Text, None) => shell_report::table(screen.out())?,
        (Format::Text, Some(policy)) => shell_report::added(policy, screen.out())?,
    }
    Ok(Exit::Clean)
}
