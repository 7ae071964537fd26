//! What the cases of sequence policies and tool policies share: policies from JSON, sessions call by call.

use std::sync::Arc;

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Operation, Origin, Session};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use serde_json::Value;

/// A document under this name, with everything said of it.
pub fn loaded(name: &str, text: &str) -> LoadResult {
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
    Policy::load(&[file], None)
}

/// A document that loads.
pub fn policy(name: &str, text: &str) -> Arc<Policy> {
    let loaded = loaded(name, text);
    assert!(loaded.policy.is_some(), "does not load: {:#?}\n{text}", loaded.diagnostics);
    loaded.policy.unwrap()
}

/// The document with the dialect's name in it, so that an empty one is recognised.
pub fn of_dialect(dialect: &str, mut document: Value) -> String {
    document["dialect"] = dialect.into();
    document.to_string()
}

/// Everything said of a document: severity, code, line and column, message.
pub fn said(text: &str) -> Vec<String> {
    loaded("p.yaml", text).diagnostics.iter().map(ToString::to_string).collect()
}

/// A session built step by step.
pub struct Recording(Builder);

impl Recording {
    pub fn new() -> Recording {
        let origin = Origin { file: "case".into(), index: 0, format: "native", line: 1 };
        Recording(Builder::new("case", origin))
    }

    pub fn files(mut self, files: Option<Vec<String>>) -> Recording {
        self.0.facts().files = files;
        self
    }

    /// A turn of calls, each answered before the next one is decided.
    pub fn turn<'a>(mut self, calls: impl IntoIterator<Item = (&'a str, &'a Value, bool)>) -> Recording {
        self.0.response(None, Body::MISSING, None);
        let calls: Vec<_> = calls.into_iter().collect();
        for (tool, arguments, _) in &calls {
            self.0.call(None, tool, Body::json(&arguments.to_string()), None);
        }
        for (_, _, success) in &calls {
            let mark = Mark { error: !success, refused: None };
            self.0.result(None, Body::text("done"), mark, None);
        }
        self
    }

    /// A turn of calls without results.
    pub fn in_flight<'a>(mut self, calls: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Recording {
        self.0.response(None, Body::MISSING, None);
        for (tool, arguments) in calls {
            self.0.call(None, tool, Body::json(&arguments.to_string()), None);
        }
        self
    }

    pub fn operation(mut self, operation: Operation) -> Recording {
        self.0.operation(operation);
        self
    }

    pub fn finish(self) -> Arc<Session> {
        Arc::new(self.0.finish())
    }
}

/// The session as `replay --format json` writes it.
pub fn json(session: &Arc<Session>, policy: &Arc<Policy>, scope: rulestep::report::Scope) -> Value {
    let mode = rulestep_engine::run::Mode::Enforce;
    let judged = rulestep::report::Judged::new(Arc::clone(session), policy, mode, scope);
    let mut out = Vec::new();
    rulestep::report::json::session(&judged, scope, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}
