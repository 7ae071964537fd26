//! The sentences with which the published systems refuse a call, each once: dialects answer with them, and readers of
//! recordings recognise refused calls by them. A [`Test`] recognises refusals in other words.

use std::fmt;
use std::sync::Arc;

use super::body::Body;

/// WINK's answer for a policy without a message.
pub const BY_POLICY: &str = "Denied by policy.";
/// Vapi's answer for a rejection plan.
pub const BY_PLAN: &str = "Tool call rejected based on configured rejection plan";

/// Beginnings of Rulestep's own messages in a live session: the call is stopped, a person is asked, or no decision is
/// possible.
pub const STOPPED: &str = "Rulestep stopped this call: ";
/// See [`STOPPED`].
pub const ASKED: &str = "Rulestep asks about this call: ";
/// See [`STOPPED`].
pub const UNDECIDED: &str = "Rulestep could not decide this call: ";

const PERMISSION: &str = "[permission denied:";
const TOOL: &str = "Tool '";
const NOT_AVAILABLE: &str = "' is not available in this context.";
const REQUIRES: &str = "' requires: ";
const FILE: &str = "File '";
const NOT_READ: &str = "' must be read before overwriting.";

/// A call that is denied for the reason named by `code`.
pub fn permission_denied(code: &str) -> String {
    format!("{PERMISSION} {code}]")
}

/// agentfootprint: a call of a hidden tool.
pub fn not_available(tool: &str) -> String {
    format!("{TOOL}{tool}{NOT_AVAILABLE}")
}

/// WINK: a call of a tool before those it depends on.
pub fn requires(tool: &str, missing: &[&str]) -> String {
    format!("{TOOL}{tool}{REQUIRES}{}", missing.join(", "))
}

/// WINK: a write to an existing file that was not read.
pub fn not_read(path: &str) -> String {
    format!("{FILE}{path}{NOT_READ}")
}

/// Recognises by its text a result that is a refusal, for recordings whose gate has its own messages.
#[derive(Clone)]
pub struct Test(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Test {
    /// A result for which this holds is a refusal.
    pub fn new(refuses: impl Fn(&str) -> bool + Send + Sync + 'static) -> Test {
        Test(Arc::new(refuses))
    }

    /// The name under which this test recognises a text as a refusal.
    pub fn recognised(&self, text: &str) -> Option<&'static str> {
        (self.0)(text).then_some("the result matches `--refused-regex`")
    }
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Test")
    }
}

/// How a result is recognised as one of these sentences, for a call of `tool`.
///
/// A result that only quotes one, or that says it of another tool, is not a refusal.
pub fn recognised(result: &Body, tool: &str) -> Option<&'static str> {
    if may_be(result) { sentence(result.shown(), tool) } else { None }
}

/// Whether a result begins like one of these sentences.
pub fn may_be(result: &Body) -> bool {
    let sentences = [PERMISSION, BY_PLAN, BY_POLICY, FILE, TOOL, STOPPED, ASKED, UNDECIDED];
    match result.first_shown() {
        Some(first) if !sentences.iter().any(|begins| begins.as_bytes().first() == Some(&first)) => false,
        _ => sentences.into_iter().any(|begins| result.shows(begins)),
    }
}

fn sentence(text: &str, tool: &str) -> Option<&'static str> {
    if text.starts_with(PERMISSION) {
        return Some("the result begins with `[permission denied:`");
    }
    if [STOPPED, ASKED, UNDECIDED].iter().any(|begins| text.starts_with(begins)) {
        return Some("the result begins with the words of Rulestep's gate");
    }
    match text {
        BY_PLAN => return Some("the result is the published text of a rejection plan"),
        BY_POLICY => return Some("the result is the published text of a denial by policy"),
        _ => {}
    }
    if let Some(path) = text.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(NOT_READ)) {
        return is_path(path).then_some("the result is the published text of a file that was not read");
    }
    // The name is the call's own, so a quote in it does not end it.
    match text.strip_prefix(TOOL)?.strip_prefix(tool)? {
        NOT_AVAILABLE => Some("the result is the published text of a tool that is not available"),
        rest if rest.strip_prefix(REQUIRES).is_some_and(is_names) => {
            Some("the result is the published text of a dependency that is missing")
        }
        _ => None,
    }
}

/// One line, and no second sentence of the same kind: a report that lists several is not a refusal.
fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control) && !text.contains(FILE)
}

/// Names of tools, as [`requires`] joins them. Published names have no blanks, so the words of a sentence are not
/// names.
fn is_names(text: &str) -> bool {
    text.split(", ")
        .all(|name| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dialects_answer_is_recognised_for_the_tool_that_it_names() {
        for tool in ["build", "it's", "requires: x", "", "Tool 'a"] {
            for text in
                [not_available(tool), requires(tool, &["lint"]), requires(tool, &["lint", "s3.sync", "été"])]
            {
                assert!(sentence(&text, tool).is_some(), "{text}");
                assert_eq!(sentence(&text, "other"), None, "{text}");
            }
        }
        let by_gate = [STOPPED, ASKED, UNDECIDED].map(|begins| format!("{begins}Run the tests first."));
        for text in [BY_POLICY.to_owned(), BY_PLAN.to_owned(), permission_denied("x")].iter().chain(&by_gate)
        {
            assert!(sentence(text, "any").is_some(), "{text}");
        }
        for path in ["a.md", "/src/my notes.md", "it's.md", "C:\\x", "a' b"] {
            assert!(sentence(&not_read(path), "write").is_some(), "{path}");
        }
    }

    #[test]
    fn what_only_quotes_a_refusal_is_a_result() {
        for text in [
            "Tool 'build' requires: ",
            "Tool 'build' requires: lint, ",
            "Tool 'build' requires: a token in the environment",
            "Tool 'build' requires: lint\nTool 'build' requires: test",
            "Tool 'build' requires lint",
            "tool 'build' requires: lint",
            "Error: Tool 'build' requires: lint",
            "File '' must be read before overwriting.",
            "File 'a' must be read before overwriting",
            "File 'a' is new. File 'b' must be read before overwriting.",
            "File 'a\nb' must be read before overwriting.",
            "Note: File 'a' must be read before overwriting.",
            "Denied by policy",
            "Denied by policy. Ask an admin.",
            "Request 7: Denied by policy.",
            "denied by policy.",
            "\"Denied by policy.\"",
            "The log: Rulestep stopped this call: Run the tests first.",
            "Rulestep stopped two calls: Run the tests first.",
        ] {
            assert_eq!(sentence(text, "build"), None, "{text}");
        }
    }
}
