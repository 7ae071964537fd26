//! From bytes to sessions: the table of formats, recognition by shape, and streaming.
//!
//! Reads from what it is given and opens nothing itself. A format is one row of [`FORMATS`] and one file; its
//! `Reader` gets the values of the file one after the other and makes sessions of them with
//! [`Builder`]. At most one value of the file, and the sessions it makes, are in memory at once.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::build::Builder;
use super::refusal;
use crate::diagnostic::Diagnostic;

mod agentdojo;
mod agentfootprint;
mod anthropic;
mod assay;
mod bedrock;
mod blocks;
mod callless;
mod chat;
mod claude_code;
mod codex_exec;
mod codex_rollout;
mod cursor_agent;
mod digest;
mod exchange;
mod finish;
mod gemini_cli;
mod gemini_stream;
mod inspect;
mod interleaved;
mod items;
mod jaeger;
mod langchain;
mod langchain_messages;
mod langfuse;
mod langsmith;
mod looks;
mod mcp;
mod mini_swe_agent;
mod native;
mod open;
mod openai_agents;
mod openai_chat;
mod openai_responses;
mod openhands;
mod otel;
mod out;
mod python;
mod reading;
mod recognise;
mod setting;
mod shallow;
mod spans;
mod stream;
mod swe_agent;
mod tau2;
mod tau_bench;
mod text;
mod time;
mod uncalled;
mod units;
mod unknown;
mod vercel_ai;

use out::Out;
pub use reading::{Piece, Reading, open};
use recognise::Sample;
use setting::Setting;
use shallow::{Members, Node};

/// A kind of recording.
pub struct Format {
    /// Name for `--from` and for the output.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Whether a file of it that has calls and no result is one that does not record results.
    absent_without_results: bool,
    /// Whether the beginning of a file is one.
    recognise: fn(&Sample<'_>) -> bool,
    /// A new reader for one file.
    reader: fn(&Setting) -> Box<dyn Reader>,
}

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

/// Tells by its text whether a result is a failure.
pub type ErrorTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Opens the same input once more, from its beginning.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

/// How to read.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, where it is not to be recognised.
    pub format: Option<&'static Format>,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// For refusals that are neither marked nor published, whatever else their results are marked as.
    pub refused: Option<refusal::Test>,
    /// It is a part that somebody chose of a session, as in a case: a result whose call is not in it is no loss.
    pub excerpt: bool,
    /// The file is still being written: its end proves nothing, and an unfinished last value is no damage.
    pub following: bool,
    /// How to look ahead in the input, where that is possible: whether a file that begins with many calls and no result
    /// has one later is then known at once. Without it, such calls are `unknown`.
    pub again: Option<Again>,
    /// A session longer than this many bytes of text may be handed on in parts, see [`Reading::piece`]. That needs
    /// `again`; sessions are whole without it.
    pub parts_beyond: Option<usize>,
}

/// A format's own part: makes sessions of one file's values.
trait Reader: Send {
    /// The next value.
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out);

    /// Something stood here that is no value.
    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        out.diagnostic(diagnostic);
    }

    /// The file's end.
    fn end(&mut self, _out: &mut Out) {}

    /// The session that is being read, where what its builder holds is so for good as far as can be known. A reader that
    /// holds back what it reads gives its builder what is beyond `most` bytes of that.
    fn long(&mut self, _most: usize) -> Option<&mut Builder> {
        None
    }
}

/// One value of a file.
struct Unit<'a> {
    node: Node<'a>,
    /// The members, where it is an object; else none.
    members: Members<'a>,
    /// Line where it begins, from 1.
    line: u32,
    /// The list at the top of the file that it stands in, from 0.
    list: Option<u32>,
    /// What is already known to be wrong with it.
    diagnostics: Vec<Diagnostic>,
}

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
