//! Which tool call of an AI agent may happen when: decided live, replayed over recordings, shown and compared.
//!
//! # Embedding
//!
//! [`Policy`], [`Gate`], [`Turn`] and [`Decision`] are the front door. With `default-features = false` nothing else is
//! compiled than what they need:
//!
//! ```
//! use rulestep::{Gate, Policy};
//! use serde_json::json;
//!
//! let policy = Policy::parse("deploy.yaml", "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}")?;
//! let mut gate = Gate::new(&policy);
//! let call = gate.turn().propose("deploy", json!({}));
//! assert!(!call.allowed());
//! assert_eq!(call.message(), Some("[permission denied: prior_tool_missing]"));
//! # Ok::<(), rulestep::InvalidPolicy>(())
//! ```
//!
//! `examples/gate.rs` decides a loop of calls one after the other, `examples/siblings.rs` calls that run side by side,
//! `examples/tokio.rs` calls that are awaited, `examples/messages.rs` calls whose rules look at what was said.
//!
//! # Inside
//!
//! For those who change the crate; none of the rooms is public.
//!
//! ```text
//! policy text ──► dialect::NAME ──► Unit ─────┐
//!                                             ├─► engine ──► replay ──► compare ──► report | cli | workbench
//! recording ───► recording::format::NAME ──► Session
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `source` | text with a name, spans, and documents in which every key and value knows its place; `source::edit` changes a text in place |
//! | `diagnostic` | what people see about a text or a recording; the one table of codes with their pages |
//! | `session` | one recorded run: messages, turns, calls, outcomes |
//! | `recording` | bytes to sessions: the table of formats, what they share, recognition |
//! | `wording` | the parts of sentences: recorded text made safe for a screen, names, numbers, lists |
//! | `monitor` | what a dialect gives the engine: `Unit` (rules) and `Monitor` (their running state); findings |
//! | `condition` | what several dialects ask of names and values: globs and paths |
//! | `shell` | what a shell command does: its small calls, and what they read, write, delete and reach |
//! | `dialect` | the table of policy languages, one folder each |
//! | `policy` | a version: documents, units, digest |
//! | `engine` | `engine::Run`: narrows, decides, and hears what happened |
//! | `replay` | a recorded session under a policy: every decision, any turn's frame |
//! | `compare` | two versions over one session: what changes, and what only follows from a change |
//! | `witness` | the smallest part of a session that still shows something |
//! | `way_out` | the shortest calls after which a stopped call is allowed, or why there are none |
//! | `redact` | a session reduced to what rules look at |
//! | `what_if` | a session and a policy changed in memory |
//! | `explore` | questions about many sessions: which match a filter, what they say of every rule |
//! | `lint` | what is probably not meant in a version, also by what recordings say; which of it is reported |
//! | `suggest` | rules that recordings suggest, as policy documents |
//! | `tester` | an expression of a policy, tried on what was recorded while it is typed |
//! | `mutation` | policies weakened on purpose, to see whether cases notice |
//! | `case` | a session, a policy and what is expected: read, judged, rewritten, saved |
//! | `workspace` | what was opened: recordings, a version, a base; read again as they change |
//! | `report` | JSON, text, markdown: renders decisions and explanations, and knows no dialect |
//! | `files` | the only reader of files, and the watch over them |
//! | `gate` | the front door for programs that run an agent |
//! | `live` | a policy at work on an agent: hooks, the journal of each session, the protocol for hosts, the proxy for MCP |
//! | `lsp` | the language server: what an editor asks, answered from its texts; reads no file itself |
//! | `cli`, `workbench` | the program |
//!
//! Imports run one way: source ← diagnostic ← session ← wording ← monitor ← condition, shell ← dialect ← policy ← engine ← replay ← compare ←
//! report ← cli and workbench. A test reads the `use` lines and holds this.
//!
//! # What always holds
//!
//! 1. Nothing left of `report` prints, reads files or the environment, or asks the time. What a rule found is worded by its
//!    dialect, as an [`Explanation`].
//! 2. A new dialect, format, kind of rule, verb or output is one new file (or folder) and a line in a table.
//! 3. The engine is deterministic and total: the same session gives the same decisions, and no input makes it panic.
//!    Should a rule fail all the same, its calls are denied with `rule_fault`; a program built with `panic = "abort"` has
//!    no such net.
//! 4. Every finding names its rule, with its place in the text, and the calls it rests on.
//! 5. The cost of a call does not grow with the session: running state, never a rescan; a call asks only the units that its
//!    tool wakes.
//! 6. Reading gives a value *and* diagnostics, so a half-broken policy or recording still shows.
//! 7. Bodies stay as recorded, and are parsed when something first looks.
//! 8. In doubt a call is stopped: what is not known to have succeeded satisfies nothing, and what may have happened forbids.

#![cfg_attr(
    not(any(feature = "tui", feature = "internals")),
    expect(dead_code, unused_imports, reason = "the whole program shows what nobody uses")
)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;
pub use diagnostic::{Code, Diagnostic, Fix, Label, Place, Severity};
pub use engine::{Decision, Halt, Verdict};
#[cfg(feature = "recordings")]
pub use gate::InvalidRecording;
pub use gate::{Gate, GatedCall, InvalidPolicy, Turn};
pub use monitor::finding::{Finding, RuleOutcome, RuleState};
pub use monitor::{CheckedValue, EarlierCall, Effect, Explanation, Line, LineState, Rule, RuleId, Rules};
pub use policy::Policy;
pub use session::{Body, Call, CallRef, Facts, Form, Operation, Outcome, Session};
pub use source::{Position, Source, Span};
pub use wording::Sentence;

#[cfg(all(feature = "recordings", any(feature = "cli", feature = "internals")))]
mod case;
#[cfg(feature = "cli")]
mod cli;
#[cfg(any(feature = "cli", feature = "internals"))]
mod compare;
mod condition;
mod diagnostic;
mod dialect;
mod engine;
#[cfg(feature = "cli")]
mod explore;
mod files;
mod gate;
#[cfg(feature = "cli")]
mod lint;
#[cfg(feature = "cli")]
mod live;
#[cfg(feature = "lsp")]
mod lsp;
mod monitor;
#[cfg(feature = "cli")]
mod mutation;
mod policy;
#[cfg(feature = "recordings")]
mod recording;
#[cfg(any(feature = "cli", feature = "internals"))]
mod redact;
mod replay;
#[cfg(feature = "cli")]
mod report;
mod session;
#[cfg(feature = "shell")]
#[cfg_attr(
    not(feature = "internals"),
    expect(dead_code, unused_imports, reason = "no policy language asks what a command does yet")
)]
mod shell;
mod source;
#[cfg(feature = "cli")]
mod suggest;
#[cfg(feature = "tui")]
mod tester;
#[cfg(any(feature = "cli", feature = "internals"))]
mod way_out;
#[cfg(any(feature = "cli", feature = "internals"))]
mod what_if;
#[cfg(any(feature = "cli", feature = "internals"))]
mod witness;
mod wording;
#[cfg(feature = "tui")]
mod workbench;
#[cfg(feature = "cli")]
mod workspace;

/// The rooms, open to this project's own tests, benchmarks and fuzz targets. Not part of the interface: anything in it may
/// change or go with any release.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    macro_rules! rooms {
        ($($(#[$when:meta])? $room:ident)*) => {
            $($(#[$when])? pub mod $room { pub use crate::$room::*; })*
        };
    }

    rooms! {
        compare condition diagnostic dialect engine files gate monitor policy redact replay session source way_out what_if witness
        wording
        #[cfg(feature = "recordings")] case
        #[cfg(feature = "recordings")] recording
        #[cfg(feature = "shell")] shell
        #[cfg(feature = "cli")] cli
        #[cfg(feature = "cli")] explore
        #[cfg(feature = "cli")] lint
        #[cfg(feature = "cli")] report
        #[cfg(feature = "cli")] live
        #[cfg(feature = "lsp")] lsp
        #[cfg(feature = "cli")] suggest
        #[cfg(feature = "tui")] tester
        #[cfg(feature = "cli")] workspace
        #[cfg(feature = "tui")] workbench
    }
}
