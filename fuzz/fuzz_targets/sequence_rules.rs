//! Any text as sequence rules: loading ends, what loads judges every session, and what migrates means the same.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use toolgate::dialect::sequence_rules::migrate::migrate;
use toolgate::engine::Mode;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay::Replay;
use toolgate::session::build::{Builder, Mark};
use toolgate::session::{Body, Origin, Session};
use toolgate::source::Source;

/// Calls of tools `A` to `D`, some failed, some without a result, two a turn.
fn session() -> Session {
    let mut build = Builder::new("fuzz", Origin { file: "fuzz".into(), index: 0, format: "native", line: 1 });
    for call in 0..24_usize {
        if call % 2 == 0 {
            build.response(None, Body::MISSING, None);
        }
        let id = call.to_string();
        build.call(Some(&id), ["A", "B", "C", "D", "A", "C"][call % 6], Body::text(r#"{"a": "x", "b": 1}"#), None);
        if call % 5 != 3 {
            build.result(Some(&id), Body::text("{}"), Mark { error: call % 7 == 2, refused: None }, None);
        }
    }
    build.finish()
}

fuzz_target!(|text: &str| {
    let session = Arc::new(session());
    let load = |text: &str| {
        let file = PolicyFile { name: "r.yaml".into(), relative: "r.yaml".into(), text: text.into(), named: true };
        Policy::load(&[file], None).policy
    };
    let policy = load(text);
    if let Some(policy) = &policy {
        for mode in [Mode::Enforce, Mode::Shadow] {
            let replay = Replay::new(&session, policy, mode);
            assert!(replay.calls().iter().flat_map(|judged| &judged.decision.findings).all(|f| f.code.as_str() != "rule_fault"));
            let _ = replay.frame(6);
        }
    }
    if let Ok(migrated) = migrate(&Source::new("r.yaml", text)) {
        assert_eq!(migrate(&Source::new("r.yaml", migrated.text.as_str())).unwrap().changes, []);
        assert_eq!(policy.is_some(), load(&migrated.text).is_some());
    }
});
