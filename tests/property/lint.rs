//! Fixes of findings: a safe one changes no verdict, and no fix changes a byte outside of its edits.

use std::sync::Arc;

use proptest::prelude::*;
use rulestep::workspace::Version;
use rulestep_base::diagnostic::{Diagnostic, Fix};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Verdict;
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::{engine_mode, read};
use crate::generate::pools;
use crate::generate_contracts::contracts;
use crate::generate_rules::document;
use crate::generate_sessions::session;
use crate::naive::MODES;

/// A document of sequence rules in which something is said twice or in vain; `picks` choose what.
fn spoiled(mut document: Value, picks: &[usize]) -> Value {
    let Some(rules) = document.get_mut("rules").and_then(Value::as_array_mut) else { return document };
    for pick in picks {
        let at = pick % (rules.len() + 1);
        let tool = |rule: &Value| rule.get("tool").and_then(Value::as_str).unwrap_or("read_file").to_owned();
        let rule = match (pick / 7 % 5, rules.get(pick % rules.len().max(1))) {
            (0 | 1, Some(rule)) => rule.clone(),
            (2, Some(rule)) => json!({"type": "max_calls", "tool": tool(rule), "max": 0}),
            (3, _) => json!({"type": "blocklist", "tools": []}),
            _ => json!({"type": "before", "first": "a", "then": "a"}),
        };
        rules.insert(at, rule);
    }
    if let Some(aliases) = document.get_mut("aliases").and_then(Value::as_object_mut) {
        aliases.insert("NobodyNamesThis".to_owned(), json!(["x", "y"]));
    }
    document
}

/// Sequence policies whose sequences cover each other more often than not.
fn sequences() -> impl Strategy<Value = Value> {
    let step = prop_oneof![
        Just(json!("read_file")),
        Just(json!("write_file")),
        Just(json!({"namePrefix": "read"})),
        Just(json!({"namePrefix": ""})),
    ];
    let action = prop_oneof![Just("deny"), Just("halt")];
    let rule = (prop::collection::vec(step, 1..4), action).prop_map(
        |(sequence, action)| json!({"sequence": sequence, "action": action, "reason": "security:x"}),
    );
    prop::collection::vec(rule, 1..5).prop_map(|rules| json!({"forbidden": rules}))
}

/// The documents as texts with comments: of JSON values one below the other, in flow style.
fn files(documents: &[Value]) -> Vec<PolicyFile> {
    let text = |(number, document): (usize, &Value)| {
        let name: Arc<str> = format!("{number}.yaml").into();
        let text = format!("# of number {number}\r\n{document:#} # last\r\n").replace(": []", ": [ ]");
        PolicyFile { relative: Arc::clone(&name), name, text: text.into(), named: true }
    };
    documents.iter().enumerate().map(text).collect()
}

fn found(files: &[PolicyFile]) -> (Option<Arc<Policy>>, Vec<Diagnostic>) {
    let loaded = Version { files: files.to_vec(), ..Version::default() }.load(None);
    (loaded.policy.ok(), loaded.loaded.diagnostics)
}

fn verdicts(policy: &Arc<Policy>, session: &Value) -> Vec<(Vec<Verdict>, String)> {
    let recorded = Arc::new(read(session));
    let of_mode = |(mode, _)| {
        let replay = Replay::new(&recorded, policy, engine_mode(mode));
        let calls = replay.calls().iter().map(|judged| judged.decision.verdict).collect();
        (calls, format!("{:?}", replay.status()))
    };
    MODES.into_iter().map(of_mode).collect()
}

/// What is left of a text without the edited parts.
fn kept(fix: &Fix) -> Vec<String> {
    let (mut kept, mut from) = (Vec::new(), 0);
    for (span, _) in &fix.edits {
        kept.push(fix.source.text()[from..span.start].to_owned());
        from = span.end;
    }
    kept.push(fix.source.text()[from..].to_owned());
    kept
}

/// What is put into the documents is found, and can be fixed.
#[test]
fn spoiled_documents_have_fixes() {
    let rules = json!({"aliases": {"Both": ["a", "b"]}, "rules": [{"type": "require", "tool": "Both"}]});
    let (_, told) = found(&files(&[spoiled(rules, &[0, 14, 21, 28])]));
    let codes: Vec<&str> = told
        .iter()
        .filter(|told| told.fix.as_ref().is_some_and(|fix| fix.is_safe))
        .map(|told| told.code.as_str())
        .collect();
    for code in ["duplicate_rule", "unused_alias"] {
        assert!(codes.contains(&code), "{code}: {told:#?}");
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn fixes_keep_verdicts_and_everything_around_them(
        ((rules, all, session), policy, picks) in (
            pools().prop_flat_map(|pools| (document(pools), contracts(pools), session(pools))),
            sequences(),
            prop::collection::vec(0usize..1000, 1..4),
        )
    ) {
        let mut documents = vec![spoiled(rules, &picks), policy];
        for mut contract in all {
            for key in ["preconditions", "forbids_after"] {
                if let Some(items) = contract.get_mut(key).and_then(Value::as_array_mut) {
                    items.extend(items.first().cloned());
                }
            }
            documents.push(contract);
        }
        let files = files(&documents);
        let (policy, told) = found(&files);
        let policy = policy.unwrap();
        let before = verdicts(&policy, &session);
        for found_one in &told {
            let Some(fix) = &found_one.fix else { continue };
            let text = fix.apply().unwrap();
            // Every piece around the edits is there, in its order, with the new texts between.
            let mut rest = text.as_str();
            for (piece, new) in kept(fix).iter().zip(fix.edits.iter().map(|(_, new)| new.as_str()).chain([""])) {
                rest = rest.strip_prefix(piece.as_str()).unwrap();
                rest = rest.strip_prefix(new).unwrap();
            }
            prop_assert!(rest.is_empty());
            prop_assert!(text.contains("# of number") && text.ends_with("# last\r\n"), "{}", text);
            if !fix.is_safe {
                continue;
            }
            let mut changed = files.clone();
            for file in changed.iter_mut().filter(|file| *file.name == *fix.source.name()) {
                file.text = text.as_str().into();
            }
            let (after, _) = found(&changed);
            prop_assert!(after.is_some(), "{}\n{}", found_one, text);
            prop_assert_eq!(&before, &verdicts(&after.unwrap(), &session), "{}\n{}", found_one, text);
        }
    }
}
