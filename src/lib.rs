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
//! | crate | content |
//! |---|---|
//! | `rulestep-base` | source, diagnostic, session, wording: the types that all others share |
//! | `rulestep-template` | Liquid templates and JavaScript expressions |
//! | `rulestep-shell` | the effects of a shell command: its small calls, the files they read, write and delete, the hosts they reach |
//! | `rulestep-recording` | bytes to sessions: the table of formats, their common parts, recognition |
//! | `rulestep-engine` | dialects, policies, the run, replay, the way out, the gate |
//!
//! The modules of this crate use them:
//!
//! | module | content |
//! |---|---|
//! | `compare` | two versions over one session: the changed decisions, primary and downstream |
//! | `witness` | the smallest part of a session that still shows something, such as a change |
//! | `redact` | a session reduced to the parts that rules read |
//! | `what_if` | a session and a policy changed in memory |
//! | `explore` | questions about many sessions: which match a filter, how they exercise each rule |
//! | `lint` | probable mistakes in a version, some of them found with recordings; the levels at which they are reported |
//! | `suggest` | rules that recordings suggest, as policy documents |
//! | `tester` | an expression of a policy, tried on recorded values while it is typed |
//! | `mutation` | policies weakened on purpose, to see whether cases notice |
//! | `stored` | sessions that leave memory and are read back when needed |
//! | `corpus` | very many sessions, judged side by side in their order |
//! | `case` | a session, a policy and the expected decisions: read, judged, rewritten, saved |
//! | `workspace` | the opened recordings, version and base; read again as they change |
//! | `report` | JSON, text, markdown: renders decisions and explanations, and knows no dialect |
//! | `files` | the only reader of files, and the watch over them |
//! | `live` | a policy that governs an agent: hooks, the journal of each session, the protocol for hosts, the proxy for MCP |
//! | `lsp` | the language server: an editor's requests, answered from its texts; reads no file itself |
//! | `cli` | one command a file: from arguments to an exit code |
//! | `workbench` | the screen: `update` changes `model` for a message and returns effects, `draw` shows it, `run` is the loop; a pane or a popup is a file |
//!
//! Imports run one way: base ← template, shell, recording ← engine ← compare ← report ← cli and workbench, with the
//! modules that ask questions of recordings (`explore`, `lint`, `suggest`, …) between compare and report. The borders
//! of the crates enforce the first part, a test that reads the `use` lines the rest. The modules are public for the
//! tests and benchmarks of this project, and part of no interface.
//!
//! # Invariants
//!
//! 1. Nothing left of `report` prints, reads files or the environment, or asks the time. A dialect words the findings of its
//!    rules, as an `Explanation`.
//! 2. A new dialect, format, kind of rule, command, report, pane, popup or agent is one new file (or folder) and a line in a table:
//!    `tests/README.md` ("What an addition touches") names both, and the test that holds it. The effects of a program are a row of data
//!    in `crates/shell/src/facts`.
//! 3. The engine is deterministic and total: the same session gives the same decisions, and no input makes it panic.
//!    If a rule panics all the same, its calls are denied with `rule_fault`; a program built with `panic = "abort"` lacks
//!    this protection.
//! 4. Every finding names its rule, with its place in the text, and the calls it rests on.
//! 5. The cost of a call does not grow with the session: running state, never a rescan; a call asks only the units that
//!    watch its tool.
//! 6. Reading gives a value *and* diagnostics, so a half-broken policy or recording is still shown.
//! 7. Bodies stay as recorded, and are parsed when first read.
//! 8. In doubt a call is stopped: a call that is not known to have succeeded satisfies no rule, and one that may have happened
//!    counts against later calls.

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
