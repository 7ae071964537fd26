//! From bytes to sessions: the table of formats, recognition by shape, and streaming.
//!
//! Reads from what it is given and opens nothing itself. A format is one row of [`FORMATS`] and one file in `format`. Imports
//! run one way: `input` ← `contract` ← `shape` ← `format` ← the table and what asks it.

mod callless;
pub mod contract;
mod finish;
mod format;
mod input;
mod reading;
mod recognise;
mod shape;

pub use contract::{Format, Options};
use format::{
    agentdojo, agentfootprint, anthropic, assay, bedrock, claude_code, codex_exec, codex_rollout,
    cursor_agent, gemini_cli, gemini_stream, inspect, jaeger, langchain_messages, langfuse, langsmith, mcp,
    mini_swe_agent, native, openai_agents, openai_chat, openai_responses, openhands, otel, swe_agent,
    tau_bench, tau2, vercel_ai,
};
pub use reading::{Reading, open};

/// Every format, in the order in which they are asked: the first that recognises a file reads it. The last one, whose
/// shape many others begin with, is asked when the whole sample of a file was seen.
pub static FORMATS: &[Format] = &[
    claude_code::FORMAT,
    claude_code::QWEN,
    cursor_agent::FORMAT,
    codex_rollout::FORMAT,
    codex_exec::FORMAT,
    vercel_ai::FORMAT,
    gemini_cli::FORMAT,
    gemini_stream::FORMAT,
    langsmith::FORMAT,
    langfuse::FORMAT,
    openai_agents::FORMAT,
    otel::FORMAT,
    jaeger::FORMAT,
    mcp::FORMAT,
    inspect::FORMAT,
    assay::FORMAT,
    agentfootprint::FORMAT,
    tau_bench::FORMAT,
    tau2::FORMAT,
    swe_agent::FORMAT,
    mini_swe_agent::FORMAT,
    openhands::FORMAT,
    agentdojo::FORMAT,
    langchain_messages::FORMAT,
    bedrock::FORMAT,
    anthropic::FORMAT,
    openai_responses::FORMAT,
    openai_chat::FORMAT,
    native::FORMAT,
];

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
