//! Results that may have been refusals.

use super::{count, name, rule_name};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::CountedRefusals;

/// Most characters of a text that the advice repeats: enough to know it by.
const ENOUGH: usize = 48;

/// The notice that results are a rule's message to the model, with both ways to read them.
#[must_use]
pub fn counted_refusal(counted: &CountedRefusals, policy: &Policy, session: &Session) -> Diagnostic {
    let rule = policy.rules().get(counted.rule).map(rule_name).unwrap_or_default();
    let (tool, at) = (name(&counted.tool), counted.first);
    let place = format!("turn {} call {}", at.turn, at.call);
    let result = if counted.failed { "a failed call" } else { "a success" };
    let message = match counted.calls {
        1 => format!(
            "the result of `{tool}` ({place}) is the text that the rule `{rule}` tells the model: it is read as {result} and counts, but may have been a refusal"
        ),
        calls => format!(
            "{}, the first of `{tool}` ({place}), are the text that the rule `{rule}` tells the model: each is read as {result} and counts, but may have been a refusal",
            count(calls, "result")
        ),
    };
    let notice = Diagnostic::notice(code::REFUSAL_COUNTED, message);
    let file = std::sync::Arc::clone(&session.origin.file);
    let notice = match counted.line {
        0 => notice.in_file(file),
        line => notice.on_line(file, u64::from(line)),
    };
    let text = &counted.text;
    let start: String = text.lines().next().unwrap_or_default().chars().take(ENOUGH).collect();
    let end = if start.len() == text.len() { r"\s*$" } else { "" };
    notice.help(format!(
        "if it was a refusal, this makes it one: `--refused-regex {}`",
        shell(&format!("^{}{end}", regex::escape(&start)))
    ))
}

/// One word of a shell.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
