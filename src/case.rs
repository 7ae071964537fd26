//! Cases: a session, a policy, and what is expected of the two. A YAML (or JSON) document that is kept beside policies.
//!
//! ```yaml
//! name: a refund for another order
//! policy: .                          # a path, relative to the case file's folder; a document; or a list of both
//! without: [desk.yaml#/limits/pay]   # rules that are switched off
//! mode: enforce                      # or shadow
//! session:                           # a native session; or its messages alone; or {file: PATH, id: ID}
//!   messages:
//!     - {role: assistant, tool_calls: [{name: check_eligibility, arguments: {order_id: ORD-123}}]}
//!     - {role: tool, content: '{"eligible": true}'}
//!     - {role: assistant, tool_calls: [{name: issue_refund, arguments: {order_id: ORD-124}}]}
//! expect:                            # one expectation or a list of them
//!   - {call: 2.1, decision: deny, code: resource_unmatched}      # turn and call in the turn, from 1; 2.3.1: in choice 3
//!   - {turn: 1, tools: {issue_refund: hidden, check_eligibility: visible}}
//!   - {rule: desk.yaml#/rules/0, outcome: held}
//!   - {status: stopped, summary: {deny: 1}}
//! ```
//!
//! This room opens no file: the caller resolves references.

mod inline;
pub mod judge;
pub mod read;
mod spelling;
pub mod update;
pub mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use rulestep_base::session::{AlternativeRef, Session};
use rulestep_base::source::{Source, Span};
use rulestep_engine::policy::PolicyFile;
use rulestep_engine::run::Mode;

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The text it is in.
    pub source: Source,
    /// Place in the file, from 0.
    pub index: usize,
    /// Its span in the text.
    pub span: Span,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its purpose.
    pub description: Option<Arc<str>>,
    /// The policy: paths, relative to the file's folder. Empty only if there are documents in the case itself.
    pub policy: Vec<Reference>,
    /// Policy documents that are written in the case itself, each at its own place of the text.
    pub documents: Vec<PolicyFile>,
    /// Rules of it that are switched off, by the ends of their ids.
    pub without: Vec<Reference>,
    /// The session.
    pub session: CaseSession,
    /// The mode it is judged in.
    pub mode: Mode,
    /// The expectations. Never empty.
    pub expect: Vec<Expectation>,
}

/// Something that a case names: a path, relative to the folder of the case's file, or a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The path, or the end of a rule's id.
    pub path: Arc<str>,
    /// Its span in the text.
    pub span: Span,
}

/// The session of a case.
#[derive(Debug, Clone)]
pub enum CaseSession {
    /// Written in the case itself.
    Inline(Arc<Session>),
    /// A session of a recording.
    InFile {
        /// The recording.
        file: Reference,
        /// Which of its sessions; `None`: its only one.
        id: Option<Arc<str>>,
    },
}

/// An expectation about one subject.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The subject.
    pub subject: Subject,
    /// The wants, key by key. Never empty.
    pub wants: Vec<Want>,
}

/// The subject of an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A call.
    Call(Place),
    /// The beginning of a turn, from 1.
    Turn(u32),
    /// A rule about sessions: the end of its id, from a `/` or `#` on.
    Rule(Arc<str>),
    /// The session as a whole.
    Session,
}

/// The place of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Turn and call in the turn, each from 1.
    In {
        /// The turn.
        turn: u32,
        /// The call in it.
        call: u32,
    },
    /// Index in the session, from 0.
    Index(u32),
    /// In a choice that was not taken.
    NotTaken(AlternativeRef),
}

/// One key of an expectation.
#[derive(Debug, Clone)]
pub struct Want {
    /// The property.
    pub aspect: Aspect,
    /// The expected value.
    pub expected: Fact,
    /// The span of the key in the text.
    pub key_span: Span,
}

/// A property that can be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aspect {
    /// A call's tool.
    Tool,
    /// The decision about a call.
    Decision,
    /// The code of the finding that decided; nothing for a call that is allowed or not reached.
    Code,
    /// The rule of that finding, by the end of its id.
    Rule,
    /// The message to the model instead of a result.
    Told,
    /// That finding's own reason.
    Reason,
    /// The codes of all findings about a call.
    Findings,
    /// The tools that are visible in a turn.
    Visible,
    /// The tools that are hidden in a turn.
    Hidden,
    /// The tools that are forbidden in a turn.
    Forbidden,
    /// Whether this tool is `visible` or `hidden` in a turn, or a code by which it is hidden.
    Offered(Arc<str>),
    /// The session's status.
    Status,
    /// A counter of the session's summary, by its name.
    Count(&'static str),
    /// The outcome of a session rule.
    Outcome,
    /// Why it is violated.
    Violation,
}

/// An answer, expected or given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// None.
    Nothing,
    /// A word, a name or a text.
    Word(Arc<str>),
    /// Names or codes, in no order.
    Words(BTreeSet<Arc<str>>),
    /// A number.
    Number(u64),
}

impl Fact {
    /// As it is written in a case.
    pub fn to_json(&self) -> Value {
        match self {
            Fact::Nothing => Value::Null,
            Fact::Word(word) => (&**word).into(),
            Fact::Words(words) => words.iter().map(|word| &**word).collect(),
            Fact::Number(number) => (*number).into(),
        }
    }
}

impl Case {
    /// Its name for people: its own, else its file's name without the endings, with its index if it is not the first.
    pub fn title(&self) -> String {
        if let Some(name) = &self.name {
            return name.to_string();
        }
        let stem = stem(self.source.name());
        if self.index == 0 { stem.to_owned() } else { format!("{stem}#{}", self.index) }
    }

    /// The line it begins on, from 1.
    pub fn line(&self) -> u32 {
        self.source.position(self.span.start).line
    }
}

impl Aspect {
    /// Its key in a case.
    pub fn key(&self) -> &str {
        match self {
            Aspect::Tool => "tool",
            Aspect::Decision => "decision",
            Aspect::Code | Aspect::Violation => "code",
            Aspect::Rule => "rule",
            Aspect::Told => "told",
            Aspect::Reason => "reason",
            Aspect::Findings => "findings",
            Aspect::Visible => "visible",
            Aspect::Hidden => "hidden",
            Aspect::Forbidden => "forbidden",
            Aspect::Offered(tool) => tool,
            Aspect::Status => "status",
            Aspect::Count(name) => name,
            Aspect::Outcome => "outcome",
        }
    }
}

/// The last part of a path, up to its first dot.
pub fn stem(path: &str) -> &str {
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    last.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(last)
}
