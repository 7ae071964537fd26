//! A gate's decision about a call, in the form of journals and of the native form.

use std::sync::Arc;

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::session::build::Builder;
use rulestep_base::session::live::{LiveDecision, Verdict};
use rulestep_base::session::{Body, Damage, TreeSeen};

/// Notes the recorded decision on the call that was added last, if `members` have one.
pub fn decided(builder: &mut Builder, members: &Members<'_>) {
    if !members.has("decision") {
        return;
    }
    match decision(members) {
        Some(live) => builder.decided(live),
        None => builder.damaged(unread()),
    }
}

/// The same for the native form, where it is a member of the call.
pub fn beside_call(builder: &mut Builder, call: &Members<'_>) {
    let Some(node) = call.get("live") else { return };
    match node.tried().members() {
        Some(live) if live.has("decision") => decided(builder, &live),
        _ => builder.damaged(unread()),
    }
}

/// No call is lost, but the call must not pass for one without a decision.
fn unread() -> Damage {
    Damage::from("what was decided live about a call cannot be read, and is left out")
}

fn decision(members: &Members<'_>) -> Option<LiveDecision> {
    let text = |key| members.try_get(key).and_then(Node::text);
    let word = text("decision")?;
    let shadow = match &*text("mode")? {
        "enforce" => false,
        "shadow" => true,
        _ => return None,
    };
    Some(LiveDecision {
        verdict: Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)?,
        shadow,
        runs: members.try_get("runs").and_then(Node::bool),
        findings: match members.try_get("findings") {
            Some(list) if list.kind() == Kind::List => Body::json(list.json()),
            _ => return None,
        },
        told: text("told").map(Arc::from),
        policy: text("policy").map(Arc::from)?,
        policy_fault: text("policy_fault").map(Arc::from),
        tree: match members.try_get("tree") {
            Some(tree) => Some(Arc::new(seen(tree)?)),
            None => None,
        },
        took: members.try_get("took").and_then(Node::number),
    })
}

/// What was seen of the session's tree. An unreadable tree is not taken for a complete one.
fn seen(tree: Node<'_>) -> Option<TreeSeen> {
    let members = tree.members()?;
    let sessions = members.get("sessions")?.items()?;
    Some(TreeSeen {
        sessions: sessions.into_iter().map(|id| id.text().map(Arc::from)).collect::<Option<_>>()?,
        missing: match members.get("missing") {
            Some(missing) => Some(missing.text().map(Arc::from)?),
            None => None,
        },
    })
}
