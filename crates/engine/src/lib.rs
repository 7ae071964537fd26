//! Which tool call of an AI agent may happen when: policies in five languages, decided live and replayed.
//!
//! # Embedding
//!
//! [`Policy`], [`Gate`], [`Turn`] and [`Decision`] are the front door:
//!
//! ```
//! use rulestep_engine::{Gate, Policy};
//! use serde_json::json;
//!
//! let policy = Policy::parse("deploy.yaml", "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}")?;
//! let mut gate = Gate::new(&policy);
//! let call = gate.turn().propose("deploy", json!({}));
//! assert!(!call.allowed());
//! assert_eq!(call.message(), Some("[permission denied: prior_tool_missing]"));
//! # Ok::<(), rulestep_engine::InvalidPolicy>(())
//! ```
//!
//! `examples/gate.rs` decides a loop of calls one after the other, `examples/siblings.rs` calls that run side by side,
//! `examples/tokio.rs` calls that are awaited, `examples/messages.rs` calls whose rules read messages.
//!
//! The items at the root of this crate are for embedders and change with the version. The other contents of the modules are for the
//! other crates of Rulestep: anything in them may change or go with any release.
//!
//! # Inside
//!
//! ```text
//! policy text ──► dialect::NAME ──► Unit ──► policy ──► run ──► replay | gate | way_out
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`monitor`] | the interface between dialects and the engine: `Unit` (rules) and `Monitor` (their running state); findings |
//! | [`condition`] | conditions on names and values that several dialects share: globs and paths |
//! | [`dialect`] | the table of policy languages, one folder each |
//! | [`policy`] | a version: documents, units, digest |
//! | [`run`] | `run::Run`: narrows, decides, and receives events |
//! | [`replay`] | a recorded session under a policy: every decision, any turn's frame |
//! | [`way_out`] | the shortest calls after which a stopped call is allowed, or why there are none |
//! | [`files`] | the files of a version, read from a folder or a revision: the only module that reads any |
//! | [`gate`] | the front door for programs that run an agent |
//!
//! Imports run one way: monitor ← condition ← dialect ← policy ← run ← replay ← way_out, files ← gate.

pub mod condition;
pub mod dialect;
pub mod files;
pub mod gate;
pub mod monitor;
pub mod policy;
pub mod replay;
pub mod run;
pub mod way_out;

pub use gate::{Gate, GatedCall, InvalidPolicy, Turn};
pub use monitor::finding::{Finding, RuleOutcome, RuleState};
pub use monitor::{CheckedValue, EarlierCall, Effect, Explanation, Line, LineState, Rule, RuleId, Rules};
pub use policy::Policy;
pub use rulestep_base::diagnostic::{Code, Diagnostic, Fix, Label, Place, Severity};
pub use rulestep_base::session::{Body, Call, CallRef, Facts, Form, Operation, Outcome, Session};
pub use rulestep_base::source::{Position, Source, Span};
pub use rulestep_base::wording::Sentence;
pub use run::{Decision, Halt, Verdict};
