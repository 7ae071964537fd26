//! Parts of objects that several files write.

use std::io::{self, Write};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use rulestep_base::session::write::Instant;
use rulestep_base::session::{Body, Session};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::{Document, Policy};

/// Writes a value and a line feed.
pub fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The identity of a session.
#[derive(Serialize)]
pub struct Named<'a> {
    id: &'a str,
    file: &'a str,
    index: usize,
    format: &'static str,
    title: Option<&'a str>,
    at: Option<Instant>,
    project: Option<&'a str>,
    context: Option<&'a Value>,
}

impl<'a> Named<'a> {
    pub fn of(session: &'a Session) -> Named<'a> {
        let origin = &session.origin;
        Named {
            id: &session.id,
            file: &origin.file,
            index: origin.index,
            format: origin.format,
            title: session.title.as_deref(),
            at: session.began.or(session.facts.now).map(Instant),
            project: session.project(),
            context: session.facts.context.as_ref(),
        }
    }
}

/// Arguments: the JSON value that was recorded, whether in place or as text; other text as text; null if there are
/// none.
pub struct BodyJson<'a>(pub &'a Body);

impl Serialize for BodyJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.value().serialize(serializer)
    }
}

/// The identity of a version.
#[derive(Serialize, Deserialize)]
pub struct Version {
    digest: String,
    documents: Vec<String>,
}

impl Version {
    pub fn of(policy: &Policy) -> Version {
        Version { digest: policy.digest().to_string(), documents: documents(policy.documents()) }
    }
}

/// The id of a rule in data.
pub fn id(rule: RuleId, policy: &Policy) -> &str {
    policy.rules().get(rule).map_or("", |rule| &rule.id)
}

/// The documents' names: the file, and the place in it if a file has several.
pub fn documents(documents: &[Document]) -> Vec<String> {
    let name = |document: &Document| match document.index {
        0 => document.source.name().to_owned(),
        index => format!("{}#{index}", document.source.name()),
    };
    documents.iter().map(name).collect()
}
