//! From bytes to sessions: the table of formats, recognition by shape, and streaming.
//!
//! Reads what it is given and opens nothing itself. A format is one row of [`FORMATS`] and one file in `format`.
//! `shape` holds what formats share (chat messages, spans, streams), `recognise` finds the format of a file, `reading` streams
//! sessions, `finish` completes them by their neighbours, and `overlooked` reports calls that no reader took for calls.
//! Imports run one way: `input` ← `contract` ← `shape` ← `format` ← the table and its users.

pub mod contract;
mod finish;
mod format;
mod input;
pub mod known;
mod mistaken;
mod overlooked;
mod reading;
mod recognise;
mod shape;
mod whole;

pub use contract::line::SessionLine;
pub use contract::parts::{Part, Parts};
pub use contract::{Format, Options, Others};
pub use finish::call_digest;
pub use format::codex_rollout::{SCRIPT_CALL as CODEX_SCRIPT_CALL, ended as codex_ended};
pub use format::mcp::{
    Ended as McpEnded, GoesOn as McpGoesOn, response as mcp_response, response_goes_on as mcp_goes_on,
    task_response as mcp_task,
};
pub use format::native::MEMBERS as SESSION_MEMBERS;
pub use input::wrong::may_hold_calls;
pub use reading::{Checkpoint, LineReader, Reading, Stretch, open, resume};
pub use recognise::KNOWN_FORMATS;
pub use shape::{command, status::Status};
pub use whole::{InvalidRecording, read};

/// Every format, in the order in which they are tried: the first that recognises a file reads it. The last one, whose
/// shape many others begin with, is tried when the whole sample of a file was seen.
pub static FORMATS: &[Format] = &[
    format::rulestep_live::FORMAT,
    format::claude_code::FORMAT,
    format::claude_code::QWEN,
    format::cursor_agent::FORMAT,
    format::codex_rollout::FORMAT,
    format::codex_exec::FORMAT,
    format::copilot_cli::FORMAT,
    format::opencode::FORMAT,
    format::vscode_chat::FORMAT,
    format::cline::FORMAT,
    format::amp::FORMAT,
    format::goose::FORMAT,
    format::pi::FORMAT,
    format::wink::FORMAT,
    format::cursor_transcript::FORMAT,
    format::sharegpt::FORMAT,
    format::vapi::FORMAT,
    format::adk::FORMAT,
    format::pydantic_ai::FORMAT,
    format::atif::FORMAT,
    format::managed_agents::FORMAT,
    format::claude_export::FORMAT,
    format::vercel_ai::FORMAT,
    format::gemini_api::FORMAT,
    format::gemini_cli::FORMAT,
    format::gemini_stream::FORMAT,
    format::langsmith::FORMAT,
    format::langfuse::FORMAT,
    format::openai_agents::FORMAT,
    format::mlflow::FORMAT,
    format::otel::FORMAT,
    format::jaeger::FORMAT,
    format::acp::FORMAT,
    format::mcp::FORMAT,
    format::inspect::FORMAT,
    format::assay::FORMAT,
    format::agentfootprint::FORMAT,
    format::tau_bench::FORMAT,
    format::tau2::FORMAT,
    format::swe_agent::FORMAT,
    format::mini_swe_agent::FORMAT,
    format::openhands::FORMAT,
    format::agentdojo::FORMAT,
    format::langchain_messages::FORMAT,
    format::bedrock::FORMAT,
    format::anthropic::FORMAT,
    format::openai_responses::FORMAT,
    format::openai_chat::FORMAT,
    #[cfg(test)]
    format::toy::FORMAT,
    format::native::FORMAT,
];

/// The table as Markdown, for the documentation.
pub fn markdown() -> String {
    let mut text = String::from("| `--from` | what it is | where it is, or how to get it |\n|---|---|---|\n");
    for Format { name, title, source, .. } in FORMATS {
        text.push_str(&format!("| `{name}` | {title} | {source} |\n"));
    }
    text
}

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
