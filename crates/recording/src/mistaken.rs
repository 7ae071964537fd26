//! Files that are mistaken for recordings, or lie beside them: what they are, and what to open instead.

use crate::contract::Sample;
use crate::input::shallow::{Kind, Members, Node};

/// A file that is no recording.
pub struct Mistaken {
    /// What the file is.
    pub what: &'static str,
    /// What to do.
    pub instead: &'static str,
    is: fn(&Members<'_>) -> bool,
}

/// The kind of file, by its first objects.
pub fn known(sample: &Sample<'_>) -> Option<&'static Mistaken> {
    sample.objects().find_map(|value| KNOWN.iter().find(|file| (file.is)(value)))
}

static KNOWN: [Mistaken; 15] = [
    Mistaken {
        what: "a stream of LangGraph tasks, which holds no tool calls",
        instead: "export the messages of the thread",
        is: |value| {
            let record = text(value, "record_type");
            let is_task = value.any(&["task_ref", "task_name", "task_id"]).is_some();
            matches!(&*record, "task_start" | "task_result") && is_task
                || text(value, "schema").starts_with("langgraph.")
        },
    },
    Mistaken {
        what: "the Gemini CLI's list of prompts (`logs.json`), which holds no tool calls",
        instead: "open the sessions in `chats/` beside it",
        is: |value| {
            let said = value.get("message").is_some_and(|said| said.kind() == Kind::Text);
            said && text(value, "type") == "user" && value.has("sessionId") && value.has("messageId")
        },
    },
    Mistaken {
        what: "an item of an experiment, which holds no tool calls",
        instead: "export the trace that it was made from",
        is: |value| {
            let names = ["experiment_name", "dataset_name", "datasetRunId", "datasetItemId"];
            value.any(&names).is_some() && value.any(&["item_ref", "evaluations", "datasetItemId"]).is_some()
        },
    },
    Mistaken {
        what: "Claude Code's list of prompts (`history.jsonl`), which holds no tool calls",
        instead: "open the sessions in `projects/` beside it",
        is: |value| value.has("display") && value.has("pastedContents"),
    },
    Mistaken {
        what: "the Codex CLI's list of prompts (`history.jsonl`), which holds no tool calls",
        instead: "open the sessions in `sessions/` beside it",
        is: |value| {
            value.has("session_id") && value.has("ts") && value.has("text") && value.iter().count() == 3
        },
    },
    Mistaken {
        what: "a chat of VS Code as the log of its changes",
        instead: "export the chat with the command `Chat: Export Chat...`, and open what that writes",
        is: |value| {
            let whole = value.get("v").and_then(Node::members);
            value.get("kind").is_some_and(|kind| kind.json() == "0")
                && whole.is_some_and(|whole| whole.has("requests"))
        },
    },
    Mistaken {
        what: "one of the many files in which OpenCode keeps a session",
        instead: "write the session with `opencode export SESSION`, and open that",
        is: |value| {
            let id = text(value, "id");
            let begins = |start| id.starts_with(start);
            value.has("sessionID") && (begins("prt_") || begins("msg_"))
                || value.has("projectID") && begins("ses_")
        },
    },
    Mistaken {
        what: "a conversation as Cline shows it (`ui_messages.json`)",
        instead: "open `api_conversation_history.json` beside it",
        is: |value| {
            value.has("ts")
                && value.any(&["say", "ask"]).is_some()
                && is_one_of(value, "type", &["say", "ask"])
        },
    },
    Mistaken {
        what: "an answer of Rulestep in JSON, not a recording",
        instead: "open the recordings that it is about",
        is: |value| text(value, "schema").starts_with("rulestep."),
    },
    Mistaken {
        what: "the settings of an agent, not a recording",
        instead: "`rulestep explain formats` says where each agent keeps its sessions",
        is: |value| {
            let settings = ["permissions", "hooks", "mcpServers"];
            let is_group = |name: &&str| value.get(name).is_some_and(|group| group.kind() == Kind::Object);
            settings.iter().any(is_group) && !value.has("messages")
        },
    },
    Mistaken {
        what: "a lock file of npm, not a recording",
        instead: AWAY,
        is: |value| value.has("lockfileVersion"),
    },
    Mistaken {
        what: "the manifest of an npm package, not a recording",
        instead: AWAY,
        is: |value| {
            let parts = ["dependencies", "devDependencies", "scripts"];
            value.has("name") && value.any(&parts).is_some_and(|part| part.kind() == Kind::Object)
        },
    },
    Mistaken {
        what: "a description of an HTTP interface (OpenAPI), not a recording",
        instead: AWAY,
        is: |value| value.any(&["openapi", "swagger"]).is_some() && value.has("paths"),
    },
    Mistaken {
        what: "a JSON Schema, not a recording",
        instead: AWAY,
        is: |value| {
            text(value, "$schema").contains("json-schema.org")
                && value.any(&["properties", "$defs", "definitions", "$ref", "type"]).is_some()
        },
    },
    Mistaken {
        what: "a log in the SARIF format, not a recording",
        instead: AWAY,
        is: |value| value.has("runs") && text(value, "$schema").contains("sarif"),
    },
];

/// Advice for a file that has nothing to do with agents.
const AWAY: &str = "name the recordings alone, or a folder without it";

fn text<'a>(value: &Members<'a>, key: &str) -> std::borrow::Cow<'a, str> {
    value.get(key).and_then(Node::text).unwrap_or_default()
}

fn is_one_of(value: &Members<'_>, key: &str, words: &[&str]) -> bool {
    words.contains(&&*text(value, key))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::{Options, open};
    use rulestep_base::diagnostic::code;

    /// Each is recognised by its content, and a similar file with calls is not one of them.
    #[test]
    fn files_beside_recordings_are_named() {
        for (text, what) in [
            (
                r#"{"display": "go", "pastedContents": {}, "timestamp": 1, "project": "/w"}"#,
                "Claude Code's list",
            ),
            (r#"{"session_id": "a", "ts": 1, "text": "go"}"#, "Codex CLI's list"),
            (
                r#"{"kind": 0, "v": {"version": 3, "requests": [], "responderUsername": "GitHub Copilot"}}"#,
                "VS Code",
            ),
            (r#"{"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text"}"#, "OpenCode"),
            (r#"{"id": "ses_1", "projectID": "p", "title": "t", "version": "1"}"#, "OpenCode"),
            (r#"[{"ts": 1, "type": "say", "say": "text", "text": "go"}]"#, "Cline"),
            (r#"{"schema": "rulestep.replay/2", "sessions": []}"#, "answer of Rulestep"),
            (r#"{"permissions": {"allow": ["Bash(ls)"]}}"#, "settings of an agent"),
            (r#"{"mcpServers": {"a": {"command": "b"}}}"#, "settings of an agent"),
            (r#"{"name": "a", "lockfileVersion": 3}"#, "lock file"),
            (r#"{"name": "a", "scripts": {"test": "true"}}"#, "manifest"),
            (r#"{"openapi": "3.1.0", "paths": {}}"#, "OpenAPI"),
            (
                r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#,
                "JSON Schema",
            ),
        ] {
            let Err(told) = open("x.json", Box::new(Cursor::new(text.as_bytes())), &Options::default())
            else {
                panic!("{text} was read")
            };
            assert_eq!(told.code, code::NOT_A_SESSION, "{told:?}");
            assert!(told.message.contains(what) && told.help.is_some(), "{told:?}");
        }
    }
}
