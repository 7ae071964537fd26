//! How a call ended, by the response to it.

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::session::Body;

/// How a call ended, by its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded.
    Ok,
    /// It failed, or the response is unreadable.
    Failed,
    /// Readers may find either in it, so the call is not known to have succeeded.
    Unclear(&'static str),
}

/// The content of the response to a call, and how the call ended.
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

/// The same for a response that is read as it arrives.
pub fn response(text: &str) -> (Body, Ended) {
    let message = Node::parse(text).ok().and_then(Node::members);
    message.map_or((Body::MISSING, Ended::Failed), |message| outcome(&message))
}

/// The content of a result, or the whole result if it has more.
fn content(result: Node<'_>, members: &Members<'_>) -> Body {
    let plain = members.names().all(|name| matches!(name, "content" | "isError" | "_meta"));
    match members.get("content").filter(|_| plain) {
        Some(content) => Body::json(content.json()),
        None => Body::json(result.json()),
    }
}

/// How a call ended, by the answer to a request about its task: `tasks/result`, or `tasks/get`, which has the state.
/// `None`: it is running, or its result is still to be requested.
pub fn of_task(message: &Members<'_>, result: bool) -> Option<(Body, Ended)> {
    let task = message.get("result").and_then(Node::members).unwrap_or_default();
    let is_state = task.has("taskId") && task.has("status");
    if result && !is_state {
        return Some(outcome(message));
    }
    let told = task.get("result").is_some() || task.get("error").is_some();
    let status = task.get("status").and_then(Node::text);
    match status.as_deref() {
        Some("failed" | "cancelled") => {
            let content = if told { outcome(&task).0 } else { outcome(message).0 };
            Some((content, Ended::Failed))
        }
        // That a task is over is not a result: it may have completed with a failure.
        Some("completed") | None => told.then(|| outcome(&task)),
        Some(_) => None,
    }
}

/// The same for an answer that is read as it arrives.
pub fn task_response(text: &str, result: bool) -> Option<(Body, Ended)> {
    of_task(&Node::parse(text).ok().and_then(Node::members)?, result)
}

/// How a call continues whose response is not its result.
#[derive(Debug, PartialEq, Eq)]
pub enum GoesOn {
    /// As a task of the server, which has this id. Without one, its outcome stays unknown.
    Task(Option<String>),
    /// The server asks something before it begins.
    Asks,
}

/// Whether a call continues, by the result in its response.
pub fn goes_on(message: &Members<'_>) -> Option<GoesOn> {
    let result = message.get("result").and_then(Node::members)?;
    let kind = result.get("resultType").and_then(Node::text);
    let inner = || result.get("task").and_then(Node::members)?.get("taskId")?.id();
    let own = || result.get("taskId").and_then(Node::id);
    match kind.as_deref() {
        Some("input_required") => Some(GoesOn::Asks),
        Some("task") => Some(GoesOn::Task(own().or_else(inner).map(String::from))),
        _ => inner().map(|task| GoesOn::Task(Some(task.into()))),
    }
}

/// The same for a response that is read as it arrives.
pub fn response_goes_on(text: &str) -> Option<GoesOn> {
    goes_on(&Node::parse(text).ok().and_then(Node::members)?)
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
            (r#"{"status": "completed", "result": null}"#, None),
            (r#"{"status": "completed", "result": {"content": []}}"#, ok),
            (r#"{"status": "completed", "result": {"isError": true}}"#, Some(Ended::Failed)),
            (r#"{"status": "failed"}"#, Some(Ended::Failed)),
            (r#"{"status": "cancelled", "result": {"content": []}}"#, Some(Ended::Failed)),
            (r#"{"status": "another", "result": {"content": []}}"#, None),
            (r#"{"result": {"content": []}}"#, ok),
        ] {
            let message = format!(r#"{{"result": {task}}}"#);
            let members = Node::parse(&message).unwrap().members().unwrap();
            assert_eq!(of_task(&members, false).map(|(_, ended)| ended), expected, "{task}");
        }
    }

    #[test]
    fn the_answer_to_a_question_about_a_task() {
        let ended = |message: &str, result| {
            let members = Node::parse(message).unwrap().members().unwrap();
            of_task(&members, result).map(|(_, ended)| ended)
        };
        // An unknown state says nothing of the task; that there is no result does.
        let refused = r#"{"error": {"code": -32602, "message": "slow down"}}"#;
        assert_eq!((ended(refused, false), ended(refused, true)), (None, Some(Ended::Failed)));
        let own = r#"{"result": {"status": "anything", "content": []}}"#;
        assert_eq!((ended(own, false), ended(own, true)), (None, Some(Ended::Ok)));
        let state = r#"{"result": {"taskId": "t", "status": "working"}}"#;
        assert_eq!((ended(state, false), ended(state, true)), (None, None));
    }

    #[test]
    fn a_task_without_an_id_goes_on_as_well() {
        let how = |result: &str| {
            let message = format!(r#"{{"result": {result}}}"#);
            goes_on(&Node::parse(&message).unwrap().members().unwrap())
        };
        let task = || Some(GoesOn::Task(Some("t".to_owned())));
        assert_eq!(how(r#"{"resultType": "task", "taskId": "t"}"#), task());
        assert_eq!(how(r#"{"resultType": "task", "task": {"taskId": "t"}}"#), task());
        assert_eq!(how(r#"{"resultType": "task"}"#), Some(GoesOn::Task(None)));
        assert_eq!(how(r#"{"task": {"taskId": "t"}}"#), task());
        assert_eq!(how(r#"{"resultType": "input_required"}"#), Some(GoesOn::Asks));
        assert_eq!(how(r#"{"content": []}"#), None);
    }
}
