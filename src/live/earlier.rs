//! Finds the call of an event in the journal.

use serde_json::Value;

use super::agent::Answer;
use super::fault::Fault;
use super::journal::Journal;
use super::transcript::Tail;
use rulestep_base::session::{Body, Call, MessageKind, Outcome, Session};
use rulestep_engine::run::Mode;

/// A call that is proposed.
pub struct NewCall<'a> {
    /// Its id, if the agent has ids.
    pub id: Option<&'a str>,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Body,
    /// Whether it is of the same response as the call before, if known.
    pub sibling: Option<bool>,
}

/// Whether a call belongs to the journal's last turn.
pub fn is_sibling(journal: Option<&Session>, tail: Option<&Tail>, id: Option<&str>) -> bool {
    let Some((session, turn)) = journal.and_then(|session| Some((session, session.turns.last()?))) else {
        return false;
    };
    let later = session.messages.get(session.after(turn)).unwrap_or_default();
    if later.iter().any(|message| matches!(message.kind, MessageKind::Said)) {
        return false;
    }
    let calls = session.calls_of(turn);
    let ids = |kept: &dyn Fn(&Call, &str) -> bool| -> Vec<&str> {
        let ids = calls.iter().filter_map(|call| Some((call, call.id.as_deref()?)));
        ids.filter(|(call, id)| kept(call, id)).map(|(_, id)| id).collect()
    };
    let logged = tail.and_then(|tail| {
        // Of the calls of a Codex script, the log has only those that ran: a stopped call never gets a result there.
        let ends = ids(&|call, id| call.outcome != Outcome::Refused || tail.proposes(id));
        tail.is_sibling(id, &if ends.is_empty() { ids(&|_, _| true) } else { ends })
    });
    // Calls that are in flight together are of one response.
    logged.unwrap_or_else(|| calls.iter().any(|call| call.result.is_none()))
}

/// An earlier decision about this very call.
pub enum Earlier {
    /// With this answer.
    Own(Answer),
    /// By another policy, or one in shadow mode.
    AnotherPolicy,
}

/// Whether this very call was decided before: an event may come twice, and each policy decides a call once. A call that was decided
/// and is over is another one, though it has the same id: some models count theirs again in every response.
pub fn earlier(journal: &Journal, id: &str, call: &NewCall<'_>, judge: (&str, Mode)) -> Option<Earlier> {
    let record = journal.proposed(id)?;
    let same = record.get("tool")?.as_str() == Some(call.tool)
        && record.get("arguments") == Some(call.arguments.value().unwrap_or(&Value::Null));
    let text = record.get("told").and_then(Value::as_str).unwrap_or_default().to_owned();
    let stopped = record.get("runs").and_then(Value::as_bool) == Some(false);
    let is_open = if stopped { journal.is_last(id) } else { journal.waits_for(id) == Some(true) };
    if !same || !is_open {
        return None;
    }
    let (runs, verdict) = (record.get("runs")?.as_bool(), record.get("decision")?.as_str()?);
    let says = |key: &str| record.get(key).and_then(Value::as_str);
    if says("policy") == Some("") {
        // It was answered without a decision.
        return None;
    }
    if says("policy") != Some(judge.0) || says("mode") != Some(judge.1.word()) {
        return Some(Earlier::AnotherPolicy);
    }
    Some(Earlier::Own(match verdict {
        _ if runs == Some(true) => Answer::Silent,
        "ask" if runs.is_none() => Answer::Ask(text),
        "halt" | "not_reached" => Answer::Halt(text),
        _ => Answer::Deny(text),
    }))
}

/// The call of the journal that an event's result belongs to, if one waits. If the event has no id, it is the last call
/// of the tool with these arguments; calls that wait for longer were declined, or continue in the background. Without
/// arguments it is the waiting call of the tool, if there is only one.
pub fn resolved(
    journal: &Journal,
    id: Option<&str>,
    tool: &str,
    arguments: Option<&Body>,
) -> Result<Option<String>, Fault> {
    if let Some(id) = id {
        return Ok((journal.waits_for(id) == Some(true)).then(|| id.to_owned()));
    }
    if journal.is_new() {
        return Ok(None);
    }
    let session = journal.session("")?;
    let waits = |call: &&Call| call.result.is_none() && *call.tool == *tool;
    let mut waiting = session.calls.iter().filter(waits).rev();
    let call = match arguments {
        Some(arguments) => waiting.find(|call| call.arguments.value() == arguments.value()),
        None => waiting.next().filter(|_| waiting.next().is_none()),
    };
    Ok(call.and_then(|call| call.id.as_deref().map(str::to_owned)))
}
