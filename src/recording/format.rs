//! One file for each format: a fold from values to sessions.

pub mod agentdojo;
pub mod agentfootprint;
pub mod anthropic;
pub mod assay;
pub mod bedrock;
pub mod claude_code;
pub mod codex_exec;
pub mod codex_rollout;
pub mod cursor_agent;
pub mod gemini_cli;
pub mod gemini_stream;
pub mod inspect;
pub mod jaeger;
pub mod langchain_messages;
pub mod langfuse;
pub mod langsmith;
pub mod mcp;
pub mod mini_swe_agent;
pub mod native;
pub mod openai_agents;
pub mod openai_chat;
pub mod openai_responses;
pub mod openhands;
pub mod otel;
pub mod rulestep_live;
pub mod swe_agent;
pub mod tau2;
pub mod tau_bench;
#[cfg(test)]
pub mod toy;
pub mod vercel_ai;
