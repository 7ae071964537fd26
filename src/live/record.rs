//! The lines of a journal. `recording::format::rulestep_live` reads them back as a session.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use rulestep_base::session::{Body, Form, Millis, TreeSeen};
use rulestep_engine::monitor::Explanation;
use rulestep_engine::run::{Decision, Mode, Verdict};

/// The version of the journal's form.
pub const SCHEMA: &str = "rulestep.live/1";

/// One line. Each is complete by itself, and a line that is cut off is not a record.
#[derive(Debug, Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record<'a> {
    /// The journal begins.
    Opened(Opened<'a>),
    /// The line before this one was cut off when its writer was stopped, so it was never answered.
    Repaired,
    /// The model answers again: what is proposed from here on is one response.
    Turn {
        /// When.
        at: Option<Millis>,
        /// Bytes of the transcript that are in the journal already.
        transcript: u64,
    },
    /// A message.
    Said {
        /// The role; `assistant` belongs to the latest turn.
        role: &'a str,
        /// The content.
        content: Json<'a>,
        /// When.
        at: Option<Millis>,
    },
    /// A call was decided, or is known to have been made without being decided.
    Proposed(Proposed<'a>),
    /// The outcome of a call.
    Resolved {
        /// The call.
        id: &'a str,
        /// `ok`, `error` or `refused`.
        outcome: &'static str,
        /// Its result.
        output: Json<'a>,
        /// When.
        at: Option<Millis>,
    },
    /// The agent ended the session.
    Closed {
        /// When.
        at: Option<Millis>,
    },
}

/// The beginning of a journal.
#[derive(Debug, Serialize)]
pub struct Opened<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The agent.
    pub agent: &'a str,
    /// The session's id.
    pub session: &'a str,
    /// The session that started it, for a subagent.
    pub parent: Option<&'a str>,
    /// When.
    pub at: Option<Millis>,
    /// The environment, as far as rules may know it.
    pub context: Option<Value>,
    /// The variables of templates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Map<String, Value>>,
    /// The files that exist at the start, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Why the beginning of the session is not known.
    pub middle: Option<&'a str>,
}

/// A call.
#[derive(Debug, Serialize)]
pub struct Proposed<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Json<'a>,
    /// When.
    pub at: Option<Millis>,
    /// The working directory of the call, if the agent gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// The decision; `None`: the call was made without one.
    #[serde(flatten)]
    pub judged: Option<Judged<'a>>,
}

/// Where a policy was read, so that it is found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyPlace {
    /// The version as the user named it.
    pub version: String,
    /// The working folder at that time.
    pub folder: String,
}

impl PolicyPlace {
    /// A version named here.
    pub fn here(spec: &str) -> PolicyPlace {
        let folder = std::env::current_dir().unwrap_or_default().display().to_string();
        PolicyPlace { version: spec.to_owned(), folder }
    }

    /// The version as it is to be named here; `None`: it is one of another folder's repository.
    pub fn named_here(&self) -> Option<String> {
        let here = std::env::current_dir().unwrap_or_default();
        match (self.version.starts_with("git:"), here == Path::new(&self.folder)) {
            (_, true) => Some(self.version.clone()),
            (true, false) => None,
            (false, false) => Some(Path::new(&self.folder).join(&self.version).display().to_string()),
        }
    }
}

/// The decision about a call.
#[derive(Debug, Serialize)]
pub struct Judged<'a> {
    /// The verdict.
    pub decision: Verdict,
    /// The mode.
    pub mode: &'static str,
    /// Whether the agent may run the call; null: a person decides.
    pub runs: Option<bool>,
    /// The findings against the call.
    pub findings: &'a [Explanation],
    /// The message to the model instead of a result.
    pub told: Option<&'a str>,
    /// Digest of the policy.
    pub policy: &'a str,
    /// Where the policy was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_from: Option<&'a PolicyPlace>,
    /// Why an earlier version of the policy decided.
    pub policy_fault: Option<&'a str>,
    /// The other sessions of the tree, if the policy looks at whole trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<&'a TreeSeen>,
    /// Milliseconds from the event's arrival to the decision.
    pub took: f64,
}

impl<'a> Judged<'a> {
    /// The recorded part of a decision. `asks`: a person can be asked.
    pub fn new(
        decision: &'a Decision,
        findings: &'a [Explanation],
        told: Option<&'a str>,
        mode: Mode,
        asks: bool,
    ) -> Self {
        Judged {
            decision: decision.verdict,
            mode: mode.word(),
            runs: match decision.verdict {
                _ if mode == Mode::Shadow => Some(true),
                Verdict::Ask if asks => None,
                verdict => Some(verdict == Verdict::Allow),
            },
            findings,
            told,
            policy: "",
            policy_from: None,
            policy_fault: None,
            tree: None,
            took: 0.0,
        }
    }
}

impl Record<'_> {
    /// The line, with its line feed.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}

/// A body as it was recorded: JSON stays the JSON it was, to the last digit.
pub struct Json<'a>(pub &'a Body);

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.form() {
            None => serializer.serialize_none(),
            Some(Form::Text) => serializer.serialize_str(self.0.raw()),
            // A line feed between two values would end the record.
            Some(Form::Json) => match RawValue::from_string(self.0.raw().replace(['\n', '\r'], " ")) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_str(self.0.raw()),
            },
        }
    }
}
