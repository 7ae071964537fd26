//! What the response to a call says of how the call ended.

use std::borrow::Cow;

use crate::recording::input::shallow::{Kind, Members, Node};
use crate::session::Body;

/// What a response says of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded.
    Ok,
    /// It failed, or says something that nobody can read.
    Failed,
    /// Readers may find either in it, so the call is not known to have succeeded.
    Unclear(&'static str),
}

/// What the response to a call holds, and how the call ended.
pub fn outcome(message: &Members<'_>) -> (Body, Ended) {
    let Some(error) = message.get("error") else {
        let Some(result) = message.get("result") else {
            let ended = match message.has("result") {
                true => Ended::Unclear("the result of a call is null"),
                false => Ended::Failed,
            };
            return (Body::MISSING, ended);
        };
        let Some(members) = result.members() else {
            return (Body::json(result.json()), Ended::Unclear("the result of a call is not an object"));
        };
        return (content(result, &members), marked(&members));
    };
    (Body::json(error.json()), Ended::Failed)
}

/// Whether a result says that its call failed. A mark that cannot be read is one of a failure.
fn marked(result: &Members<'_>) -> Ended {
    let alike = |name: &str| name.replace('_', "").eq_ignore_ascii_case(MARK);
    let mut marks = result.iter().filter(|(name, node)| alike(name) && node.kind() != Kind::Null);
    let (first, second) = (marks.next(), marks.next());
    match (first, second) {
        (None, _) => Ended::Ok,
        (Some(_), Some(_)) => Ended::Unclear("a result says twice whether it is an error (`isError`)"),
        (Some((_, mark)), None) if mark.json() == "false" => Ended::Ok,
        (Some((MARK, _)), None) => Ended::Failed,
        (Some(_), None) => Ended::Unclear("`isError` of a result is spelled in another way"),
    }
}

/// The member of a result that says whether its call failed.
const MARK: &str = "isError";

/// The same of a response that is read while it comes.
#[cfg(feature = "proxy")]
pub fn response(text: &str) -> (Body, Ended) {
    let message = Node::parse(text).ok().and_then(Node::members);
    message.map_or((Body::MISSING, Ended::Failed), |message| outcome(&message))
}

/// The content of a result; the whole of it where there is more than that.
fn content(result: Node<'_>, members: &Members<'_>) -> Body {
    let plain = members.names().all(|name| matches!(name, "content" | "isError" | "_meta"));
    match members.get("content").filter(|_| plain) {
        Some(content) => Body::json(content.json()),
        None => Body::json(result.json()),
    }
}

/// What the state of a task says of how its call ended. `None`: it goes on, or its result is still to be asked for.
pub fn of_task(task: &Members<'_>) -> Option<(Body, Ended)> {
    let told = task.get("result").is_some() || task.get("error").is_some();
    let status = task.get("status").and_then(Node::text);
    match status.as_deref() {
        Some("failed" | "cancelled") => {
            let content = if told { outcome(task).0 } else { Body::MISSING };
            Some((content, Ended::Failed))
        }
        Some("completed") | None => told.then(|| outcome(task)),
        Some(_) => None,
    }
}

/// How a call goes on whose response is not its result.
pub enum GoesOn<'a> {
    /// As a task of the server, which has this id.
    Task(Cow<'a, str>),
    /// The server asks something before it begins.
    Asks,
}

/// Whether a call goes on, as the result in its response says.
pub fn goes_on<'a>(result: &Members<'a>) -> Option<GoesOn<'a>> {
    let kind = result.get("resultType").and_then(Node::text);
    let inner = || result.get("task").and_then(Node::members)?.get("taskId")?.id();
    match kind.as_deref() {
        Some("input_required") => Some(GoesOn::Asks),
        // Without an id nobody will learn how it ends.
        Some("task") => {
            let task = result.get("taskId").and_then(Node::id).or_else(inner);
            Some(task.map_or(GoesOn::Asks, GoesOn::Task))
        }
        _ => inner().map(GoesOn::Task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_says_how_its_call_ended() {
        let ok = Some(Ended::Ok);
        for (task, expected) in [
            (r#"{"status": "working"}"#, None),
            (r#"{"status": "working", "result": null, "error": null}"#, None),
            (r#"{"status": "completed"}"#, None),
            (r#"{"status": "completed", "result": {"content": []}}"#, ok),
            (r#"{"status": "completed", "result": {"isError": true}}"#, Some(Ended::Failed)),
            (r#"{"status": "failed"}"#, Some(Ended::Failed)),
            (r#"{"status": "cancelled", "result": {"content": []}}"#, Some(Ended::Failed)),
            (r#"{"status": "another", "result": {"content": []}}"#, None),
            (r#"{"result": {"content": []}}"#, ok),
        ] {
            let members = Node::parse(task).unwrap().members().unwrap();
            assert_eq!(of_task(&members).map(|(_, ended)| ended), expected, "{task}");
        }
    }

    #[test]
    fn a_task_without_an_id_goes_on_as_well() {
        let how = |result: &str| {
            let members = Node::parse(result).unwrap().members().unwrap();
            goes_on(&members).map(|how| matches!(how, GoesOn::Task(_)))
        };
        assert_eq!(how(r#"{"resultType": "task", "taskId": "t"}"#), Some(true));
        assert_eq!(how(r#"{"resultType": "task", "task": {"taskId": "t"}}"#), Some(true));
        assert_eq!(how(r#"{"resultType": "task"}"#), Some(false));
        assert_eq!(how(r#"{"task": {"taskId": "t"}}"#), Some(true));
        assert_eq!(how(r#"{"content": []}"#), None);
    }
}
