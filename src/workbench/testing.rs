//! Small sessions and policies for the workbench's own tests.

use std::sync::Arc;

use crate::engine::Mode;
use crate::policy::{Loaded, Policy, PolicyFile};
use crate::replay::Replay;
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Origin, Session};

pub const CONTRACT: &str = "\
# A refund needs an eligibility check of the same order.
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
    description: Eligibility must be checked for the same order
forbids_after: [void_order]
";

fn origin(file: &str) -> Origin {
    Origin { file: file.into(), index: 0, format: "native", line: 1 }
}

/// Three turns: a check of one order, refunds of that and of another one, a closing word.
pub fn refunds() -> Session {
    let mut made = Builder::new("refund-124", origin("sessions/refunds.json"));
    made.said("user", Body::text("Please refund ORD-123"), None);
    made.response(None, Body::text("Let me check that order."), None);
    made.call(Some("c1"), "check_eligibility", Body::text(r#"{"order_id": "ORD-123"}"#), None);
    made.result(Some("c1"), Body::text(r#"{"eligible": true, "reason": "within_policy"}"#), Mark::default(), None);
    made.said("user", Body::text("and refund ORD-124 too"), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("c2"), "issue_refund", Body::text(r#"{"order_id": "ORD-123", "amount": 20}"#), None);
    made.call(Some("c3"), "issue_refund", Body::text(r#"{"order_id": "ORD-124", "amount": 214.0}"#), None);
    made.result(Some("c2"), Body::text(r#"{"ok": true}"#), Mark::default(), None);
    made.result(Some("c3"), Body::text(r#"{"ok": true}"#), Mark::default(), None);
    made.response(None, Body::text("Both refunds are on their way."), None);
    made.finish()
}

/// A session that no rule minds.
pub fn clean() -> Session {
    let mut made = Builder::new("refund-121", origin("sessions/clean.json"));
    made.said("user", Body::text("What about ORD-1?"), None);
    made.response(None, Body::MISSING, None);
    made.call(Some("a"), "lookup_order", Body::text(r#"{"order_id": "ORD-1"}"#), None);
    made.result(Some("a"), Body::text("shipped"), Mark::default(), None);
    made.response(None, Body::text("It is on its way."), None);
    made.finish()
}

pub fn loaded(text: &str) -> Loaded {
    let file = PolicyFile {
        name: "contracts/issue_refund.yaml".into(),
        relative: "issue_refund.yaml".into(),
        text: text.into(),
        named: true,
    };
    Policy::load(&[file], None)
}

pub fn policy() -> Arc<Policy> {
    loaded(CONTRACT).policy.expect("the contract is valid")
}

pub fn replay(session: &Arc<Session>) -> Arc<Replay> {
    Arc::new(Replay::new(session, &policy(), Mode::Enforce))
}
