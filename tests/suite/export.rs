//! What leaves the program as a document: tickets, pages, pictures of the screen.

#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod page;
mod ticket;

use std::io::Cursor;
use std::sync::Arc;

use rulestep::report::account::Account;
use rulestep::report::words::ByTool;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording::{Options, open};
use serde_json::json;

/// Texts that would do something in a document that takes them for its own.
const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "</code></pre><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" x='",
    "` [link](http://x.y) `` ![](http://x.y/p.png) ```",
    "``` \n# heading\n- item | cell | cell",
    "@someone #12 www.example.com https://example.com <https://example.com>",
    "</style><style>*{display:none}</style>",
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "a\u{202e}b\u{200b}c\u{2066}d",
    "\u{1b}[31mred\u{7}\u{0}",
    "]]> <!-- --> <!DOCTYPE html> <?php ?>",
    "$x$ ~~gone~~ **bold** _soft_ \\",
    "   ",
    "`",
];

/// A session of one call a text, which is in its tool, its arguments, its result and the words around it, under a policy
/// that has it in a description.
fn hostile(text: &str) -> Replay {
    let arguments = json!({ text: text, "order_id": text }).to_string();
    let session = json!({"id": text, "messages": [
        {"role": "user", "content": text},
        {"role": "assistant", "content": text, "tool_calls": [{"id": "c", "function": {"name": "lookup", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "c", "content": text},
        {"role": "assistant", "tool_calls": [{"id": "d", "function": {"name": "refund", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "d", "content": text},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "e", "function": {"name": text, "arguments": text}}]},
    ]});
    let policy = json!({"tool": "refund", "preconditions": [
        {"requires_prior_tool": "check", "resource": {"bind_from": "arguments", "path": "$.order_id"}, "description": text},
        {"requires_prior_tool": "lookup", "with_output": [{"path": "$.x", "equals": text}]},
    ]});
    replay(
        &session.to_string(),
        &format!("# {}\n{policy}\n", text.replace('\n', " ").replace(char::is_control, "")),
    )
}

fn replay(session: &str, policy: &str) -> Replay {
    let read = open("s.json", Box::new(Cursor::new(session.to_owned().into_bytes())), &Options::default());
    let session = read.unwrap().next().unwrap();
    let text = policy.into();
    let loaded = Policy::load(
        &[PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text, named: true }],
        None,
    );
    let policy = loaded.policy.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    Replay::new(&Arc::new(session), &policy, Mode::Enforce)
}

/// What is said of every call.
fn accounts(replay: &Replay) -> Vec<Account> {
    let by_tool = ByTool::of(replay.session());
    let calls = replay.session().calls.iter().zip(replay.calls());
    calls.map(|(call, decided)| Account::of_call(replay, &by_tool, call, decided)).collect()
}
