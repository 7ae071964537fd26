//! Cursor.

use serde_json::{Value, json};

use super::super::outcome::{self, Telling};
use super::event::{Event, Meaning, Wire, body, given, object};
use super::reply::Reply;
use super::spec::{AgentSpec, Answers, Ask, HookForm, Places, Switch, needed, possible};
use rulestep_base::session::Body;

const TELLING: Telling = Telling::Plain;

/// The row.
pub const SPEC: AgentSpec = AgentSpec {
    name: "cursor",
    // Its hooks cannot be turned off.
    places: Places {
        variable: None,
        off: None,
        folder: ".cursor",
        hooks: "hooks.json",
        switches: &[],
        managed: &[],
        key: "",
        switch: Switch::Json(|_| None),
    },
    form: HookForm {
        comments: false,
        groups: false,
        needs: Some(("version", "1")),
        // A hook that fails lets the call run, except with this.
        fails_closed: Some("failClosed"),
        no_background: false,
        timeout_unit: 1000.0,
        timeout_default: 60_000.0,
        disabling: &[],
    },
    events: &[
        // It covers every tool; with the events of single tools, a call would be decided twice.
        needed("preToolUse", Meaning::Call),
        needed("postToolUse", Meaning::Result),
        needed("postToolUseFailure", Meaning::Failure),
        needed("beforeSubmitPrompt", Meaning::Prompt),
        needed("sessionEnd", Meaning::End),
        possible("beforeShellExecution", Meaning::OwnCall(own)),
        possible("beforeMCPExecution", Meaning::OwnCall(own)),
        possible("beforeReadFile", Meaning::OwnCall(own)),
        possible("beforeTabFileRead", Meaning::OwnCall(own)),
        // It does not have the outcome of the command, so it proves nothing; `postToolUse` has it.
        possible("afterShellExecution", Meaning::OwnReport(|_, _| Some(Ok(Event::Nothing)))),
        possible("afterMCPExecution", Meaning::OwnReport(own)),
        possible("sessionStart", Meaning::Nothing),
        possible("subagentStart", Meaning::Nothing),
        possible("subagentStop", Meaning::Nothing),
        possible("preCompact", Meaning::Nothing),
        possible("stop", Meaning::Nothing),
        possible("afterAgentResponse", Meaning::Nothing),
        possible("afterAgentThought", Meaning::Nothing),
    ],
    session_key: "conversation_id",
    logs: None,
    telling: TELLING,
    answers: Answers {
        silent: "{}\n",
        ask: Some(Ask {
            about: |about| {
                let event = about.hook_event_name.as_deref();
                matches!(event, Some("beforeShellExecution" | "beforeMCPExecution"))
            },
            reply: |reason| answer("ask", reason),
        }),
        deny: |reason| answer("deny", reason),
        halt: |reason| answer("deny", reason),
    },
    after_install: None,
    trust: None,
    turned_off_by: None,
};

fn answer(permission: &str, reason: &str) -> Reply {
    Reply::says(&json!({"permission": permission, "user_message": reason, "agent_message": reason}))
}

/// Events whose name implies the tool.
fn own(name: &str, wire: &Wire<'_>) -> Option<Result<Event, String>> {
    let propose = |tool: &str, arguments: Result<Body, String>| {
        Some(arguments.map(|arguments| Event::Propose { id: None, tool: tool.to_owned(), arguments }))
    };
    match name {
        "beforeShellExecution" => {
            let command = given(name, "command", wire.command);
            propose("Shell", command.map(|command| object("command", command.get())))
        }
        "beforeMCPExecution" => {
            let input = given(name, "tool_input", wire.tool_input);
            propose(wire.tool_name.as_deref()?, input.map(|input| body(Some(input))))
        }
        "afterMCPExecution" => {
            let (tool, output) = (wire.tool_name.clone()?, body(wire.result_json));
            Some(Ok(match outcome::of(TELLING, &tool, &output) {
                Some(outcome) => {
                    let arguments = wire.tool_input.map(|input| body(Some(input)));
                    Event::Resolve { id: None, tool, arguments, outcome, output }
                }
                None => Event::Nothing,
            }))
        }
        _ => {
            let path = given(name, "file_path", wire.file_path.as_deref());
            propose("Read", path.map(|path| object("file_path", &Value::from(path).to_string())))
        }
    }
}
