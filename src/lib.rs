//! The program `rulestep`: the command line, the workbench, the gate on an agent, the language server. Programs that run an agent
//! themselves depend on `rulestep-engine`, whose root is the front door.
//!
//! # Inside
//!
//! ```text
//! policy text ──► dialect::NAME ──► Unit ─────┐
//!                                             ├─► run ──► replay ──► compare ──► report | cli | workbench
//! recording ───► format::NAME ──────► Session
//! ```
//!
//! | crate | what it holds |
//! |---|---|
//! | `rulestep-base` | source, diagnostic, session, wording: what all others speak |
//! | `rulestep-template` | Liquid templates and JavaScript expressions |
//! | `rulestep-shell` | what a shell command does: its small calls, and what they read, write, delete and reach |
//! | `rulestep-recording` | bytes to sessions: the table of formats, what they share, recognition |
//! | `rulestep-engine` | dialects, policies, the run, replay, the way out, the gate |
//!
//! and on top of them here:
//!
//! | room | what it holds |
//! |---|---|
//! | `compare` | two versions over one session: what changes, and what only follows from a change |
//! | `witness` | the smallest part of a session that still shows something |
//! | `redact` | a session reduced to what rules look at |
//! | `what_if` | a session and a policy changed in memory |
//! | `explore` | questions about many sessions: which match a filter, what they say of every rule |
//! | `lint` | what is probably not meant in a version, also by what recordings say; which of it is reported |
//! | `suggest` | rules that recordings suggest, as policy documents |
//! | `tester` | an expression of a policy, tried on what was recorded while it is typed |
//! | `mutation` | policies weakened on purpose, to see whether cases notice |
//! | `stored` | sessions that leave memory and come back when something looks |
//! | `corpus` | very many sessions, judged side by side in their order |
//! | `case` | a session, a policy and what is expected: read, judged, rewritten, saved |
//! | `workspace` | what was opened: recordings, a version, a base; read again as they change |
//! | `report` | JSON, text, markdown: renders decisions and explanations, and knows no dialect |
//! | `files` | the only reader of files, and the watch over them |
//! | `live` | a policy at work on an agent: hooks, the journal of each session, the protocol for hosts, the proxy for MCP |
//! | `lsp` | the language server: what an editor asks, answered from its texts; reads no file itself |
//! | `cli` | one command a file: what was asked, an exit code |
//! | `workbench` | the screen: `update` changes `model` for a message and returns effects, `draw` shows it, `run` is the loop; a pane or a popup is a file |
//!
//! Imports run one way: base ← template, shell, recording ← engine ← compare ← report ← cli and workbench, with the rooms that ask
//! questions of recordings (`explore`, `lint`, `suggest`, …) between compare and report. The borders of the crates hold
//! the first part, a test that reads the `use` lines the rest. The rooms are public to the tests and benchmarks of this project, and
//! part of no interface.
//!
//! # What always holds
//!
//! 1. Nothing left of `report` prints, reads files or the environment, or asks the time. What a rule found is worded by its
//!    dialect, as an `Explanation`.
//! 2. A new dialect, format, kind of rule, command, report, pane, popup or agent is one new file (or folder) and a line in a table:
//!    `tests/README.md` ("What an addition touches") names both, and the test that holds it. What a program does is a row of data
//!    in `crates/shell/src/facts`.
//! 3. The engine is deterministic and total: the same session gives the same decisions, and no input makes it panic.
//!    Should a rule fail all the same, its calls are denied with `rule_fault`; a program built with `panic = "abort"` has
//!    no such net.
//! 4. Every finding names its rule, with its place in the text, and the calls it rests on.
//! 5. The cost of a call does not grow with the session: running state, never a rescan; a call asks only the units that its
//!    tool wakes.
//! 6. Reading gives a value *and* diagnostics, so a half-broken policy or recording still shows.
//! 7. Bodies stay as recorded, and are parsed when something first looks.
//! 8. In doubt a call is stopped: what is not known to have succeeded satisfies nothing, and what may have happened forbids.

pub mod case;
pub mod cli;
pub mod compare;
pub mod corpus;
pub mod explore;
pub mod files;
pub mod lint;
pub mod live;
pub mod lsp;
pub mod mutation;
pub mod redact;
pub mod report;
pub mod stored;
pub mod suggest;
pub mod tester;
pub mod what_if;
pub mod witness;
pub mod workbench;
pub mod workspace;

pub use cli::main;
