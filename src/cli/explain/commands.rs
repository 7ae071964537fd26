//! `explain shell` and `explain facts`: what commands do, and the table that says so.

use std::sync::Arc;

use crate::cli::args::{self, Format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::policy::Policy;
use crate::report::shell as shell_report;
use crate::shell;

/// What a shell command does, by what the policy knows of programs where one is named.
pub fn shell(command: &str, asked: &args::Explain, screen: &mut Screen) -> Result<Exit, Failure> {
    let facts = named_policy(asked, screen)?.map(|policy| policy.facts(None)).unwrap_or_default();
    let read = shell::read(command, &shell::Root { facts, ..shell::Root::default() });
    match asked.format {
        Format::Json => writeln!(screen.out(), "{}", shell_report::data(command, &read))?,
        Format::Text => shell_report::text(&read, screen.out())?,
    }
    Ok(Exit::Clean)
}

/// The policy, where one is named.
fn named_policy(asked: &args::Explain, screen: &mut Screen) -> Result<Option<Arc<Policy>>, Failure> {
    let named = !asked.policies.policy.is_empty();
    named.then(|| input::policy(&asked.policies, false, screen)).transpose()
}

/// What is known of programs and tools; with a policy, what it adds.
pub fn facts(asked: &args::Explain, screen: &mut Screen) -> Result<Exit, Failure> {
    let policy = named_policy(asked, screen)?;
    match (asked.format, &policy) {
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
