//! `diff` against the difference of two separate replays, on real recordings: one rule removed, tightened, loosened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::rulestep;

const KINDS: [&str; 12] = [
    "newly_allowed",
    "newly_blocked",
    "harder",
    "softer",
    "other_reason",
    "now_reached",
    "now_unreached",
    "newly_visible",
    "newly_hidden",
    "outcome_changed",
    "newly_reported",
    "no_longer_reported",
];

/// An edit of one rule of a set, and which rule of the base a rule of the new set is where its pointer says another.
struct Edit {
    name: &'static str,
    contracts: Vec<Value>,
    moved: BTreeMap<String, Option<String>>,
}

#[test]
fn a_diff_is_the_difference_of_two_replays() {
    let sources = super::sources();
    // Among the last tests to begin, and the longest: both modes at once, so that no core waits for the other.
    let (enforce, shadow) = std::thread::scope(|scope| {
        let shadow = scope.spawn(|| differences(&sources, "shadow"));
        (differences(&sources, "enforce"), shadow.join().unwrap())
    });
    let mut found = enforce;
    for (kind, count) in shadow {
        *found.entry(kind).or_default() += count;
    }
    println!("{found:?}");
    for kind in ["newly_allowed", "newly_blocked", "other_reason", "newly_visible", "newly_hidden"] {
        assert!(found.contains_key(kind), "{kind}: {found:?}");
    }
}

/// Compares each diff in this mode with the difference of two replays; how often each kind of change was seen.
fn differences(sources: &[(PathBuf, Vec<Value>)], mode: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::<String, u64>::new();
    for (traces, case) in
        sources.iter().flat_map(|(traces, cases)| cases.iter().map(move |case| (traces, case)))
    {
        let base = case["contracts"].as_array().unwrap().clone();
        let file = case["file"].as_str().unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("base"), &base);
        let old = replayed(traces, file, &folder.path().join("base"), mode);
        for edit in [removed(&base), tightened(&base), loosened(&base)] {
            let name = format!("{file} {} {mode} {}", case["policy"], edit.name);
            let new = folder.path().join(edit.name);
            write(&new, &edit.contracts);
            let young = replayed(traces, file, &new, mode);
            let actual = diffed(traces, file, &folder.path().join("base"), &new, mode);
            assert_eq!(old.len(), actual.len(), "{name}");
            for ((old, young), actual) in old.iter().zip(&young).zip(&actual) {
                assert_eq!(old["session"], actual["session"], "{name}");
                let expected = difference(old, young, &edit, mode);
                let mut actual = actual["changes"].as_array().unwrap().clone();
                assert!(actual.is_sorted_by_key(order), "{name} {actual:#?}");
                actual.iter_mut().for_each(anywhere);
                for change in &actual {
                    *found.entry(change["kind"].as_str().unwrap().to_owned()).or_default() += 1;
                }
                // Of a call the change has what the replay has; what a rule is called depends on the folder.
                for change in &mut actual {
                    change.as_object_mut().unwrap().remove("rule_name");
                }
                let sorted = |mut changes: Vec<Value>| {
                    changes.sort_by_key(Value::to_string);
                    changes
                };
                assert_eq!(sorted(actual), sorted(expected), "{name} {}", old["session"]);
            }
        }
    }
    found
}

fn order(change: &Value) -> (usize, bool) {
    let kind = KINDS.iter().position(|kind| change["kind"] == *kind).unwrap();
    (kind, change["origin"] == "downstream")
}

// ---- Edits ------------------------------------------------------------------------------------------------------

fn first_with(contracts: &[Value], key: &str) -> Option<usize> {
    contracts.iter().position(|contract| contract[key].as_array().is_some_and(|rules| !rules.is_empty()))
}

/// Without its first precondition, or its first tool that is forbidden later.
fn removed(base: &[Value]) -> Edit {
    let mut contracts = base.to_vec();
    let key = if first_with(base, "preconditions").is_some() { "preconditions" } else { "forbids_after" };
    let at = first_with(base, key).unwrap();
    let rules = contracts[at][key].as_array_mut().unwrap();
    rules.remove(0);
    let moved = (0..rules.len()).map(|new| {
        let pointer = |index: usize| format!("{at:02}.json#/{key}/{index}");
        (pointer(new), Some(pointer(new + 1)))
    });
    let moved = moved.collect();
    if rules.is_empty() {
        contracts[at].as_object_mut().unwrap().remove(key);
    }
    // A contract without any rule is an error: it says nothing.
    if contracts[at].as_object().unwrap().len() == 1 {
        contracts[at]["forbids_after"] = json!(["no such tool"]);
    }
    Edit { name: "removed", contracts, moved }
}

/// Its first precondition asks for completed turns as well; without one, another tool is forbidden later.
fn tightened(base: &[Value]) -> Edit {
    let mut contracts = base.to_vec();
    match first_with(base, "preconditions") {
        Some(at) => contracts[at]["preconditions"][0]["requires_step_count"] = json!({"gte": 6}),
        None => {
            let at = first_with(base, "forbids_after").unwrap();
            let tool = contracts[at]["tool"].clone();
            contracts[at]["forbids_after"].as_array_mut().unwrap().push(tool);
        }
    }
    Edit { name: "tightened", contracts, moved: BTreeMap::new() }
}

/// Its first bound precondition is not bound any more; without one, the first precondition asks for one turn alone.
fn loosened(base: &[Value]) -> Edit {
    let mut contracts = base.to_vec();
    let mut rules = contracts.iter_mut().flat_map(|contract| {
        let rules = contract.get_mut("preconditions").and_then(Value::as_array_mut);
        rules.into_iter().flatten()
    });
    let mut edited = false;
    for rule in rules.by_ref() {
        let rule = rule.as_object_mut().unwrap();
        edited = rule.remove("resource").is_some() || rule.remove("with_output").is_some();
        if edited {
            break;
        }
    }
    if !edited {
        match first_with(base, "preconditions") {
            Some(at) => contracts[at]["preconditions"][0] = json!({"requires_step_count": {"gte": 1}}),
            None => {
                let at = first_with(base, "forbids_after").unwrap();
                contracts[at]["forbids_after"] = json!(["no such tool"]);
            }
        }
    }
    Edit { name: "loosened", contracts, moved: BTreeMap::new() }
}

fn write(folder: &Path, contracts: &[Value]) {
    std::fs::create_dir(folder).unwrap();
    for (number, contract) in contracts.iter().enumerate() {
        std::fs::write(folder.join(format!("{number:02}.json")), contract.to_string()).unwrap();
    }
}

// ---- The program ------------------------------------------------------------------------------------------------

fn objects(traces: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = rulestep(traces, arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().unwrap() < 2, "{arguments:?}: {told}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn replayed(traces: &Path, file: &str, policy: &Path, mode: &str) -> Vec<Value> {
    let policy = policy.to_str().unwrap();
    let arguments = ["replay", "-q", file, "-p", policy, "--format", "json", "--mode", mode];
    let mut sessions = objects(traces, &arguments);
    let totals = sessions.pop().unwrap();
    assert_eq!(totals["totals"]["sessions"], sessions.len());
    sessions
}

/// The sessions; the totals are held against them.
fn diffed(traces: &Path, file: &str, base: &Path, new: &Path, mode: &str) -> Vec<Value> {
    let (base, new) = (base.to_str().unwrap(), new.to_str().unwrap());
    let mut lines =
        objects(traces, &["diff", "-q", file, "-p", new, "-b", base, "--format", "json", "--mode", mode]);
    let totals = lines.pop().unwrap()["totals"].take();
    let changes: Vec<&Value> = lines.iter().flat_map(|line| line["changes"].as_array().unwrap()).collect();
    assert_eq!(totals["sessions"], lines.len());
    // What is said of tools that the recording neither lists nor calls is counted apart.
    let (inferred, others): (Vec<&Value>, Vec<&Value>) =
        changes.iter().partition(|change| change["inferred"] == true);
    assert_eq!((&totals["changes"], &totals["inferred"]), (&json!(others.len()), &json!(inferred.len())));
    for kind in KINDS {
        assert_eq!(totals[kind], others.iter().filter(|change| change["kind"] == kind).count(), "{kind}");
    }
    lines
}

/// The rule without the folder it was read from.
fn anywhere(change: &mut Value) {
    if let Some(rule) = change["rule"].as_str() {
        change["rule"] = json!(file_of(rule));
    }
}

fn file_of(rule: &str) -> String {
    let start = rule.find(".json#").map_or(0, |end| rule[..end].rfind('/').map_or(0, |slash| slash + 1));
    rule[start..].to_owned()
}

// ---- The difference ---------------------------------------------------------------------------------------------

fn difference(old: &Value, young: &Value, edit: &Edit, mode: &str) -> Vec<Value> {
    let enforce = mode == "enforce";
    let (mut changes, mut parted) = (Vec::new(), false);
    let (turns, others) = (old["turns"].as_array().unwrap(), young["turns"].as_array().unwrap());
    // Beyond the turn of the first disagreement with the recording nothing is evidence.
    let frontier = |turns: &[Value]| {
        let calls = turns.iter().flat_map(|turn| turn["calls"].as_array().unwrap());
        let first = calls.into_iter().find(|call| enforce && call["agrees"] == false);
        first.map_or(u64::MAX, |call| call["turn"].as_u64().unwrap())
    };
    let evidence = frontier(turns).min(frontier(others));
    // These logs list no tools: only those that some call names were there for certain.
    let proposed: BTreeSet<&str> = turns
        .iter()
        .flat_map(|turn| turn["calls"].as_array().unwrap())
        .map(|call| call["tool"].as_str().unwrap())
        .collect();
    for (old, young) in turns.iter().zip(others) {
        let turn = old["turn"].as_u64().unwrap();
        let origin = |parted: bool| if parted { "downstream" } else { "primary" };
        let (hidden, now_hidden) = (hidden(old), hidden(young));
        let mut tools: Vec<&String> = hidden.keys().chain(now_hidden.keys()).collect();
        tools.sort();
        tools.dedup();
        for tool in tools {
            let (base, new, kind, rule) = match (hidden.get(tool), now_hidden.get(tool)) {
                (Some(rule), None) => ("hidden", "visible", "newly_visible", rule),
                (None, Some(rule)) => ("visible", "hidden", "newly_hidden", rule),
                _ => continue,
            };
            let mut change = json!({
                "turn": turn, "call": null, "index": null, "tool": tool, "arguments": null, "at": null,
                "base": base, "new": new, "kind": kind,
                "origin": origin(parted), "rule": rule, "counterfactual": turn > evidence,
            });
            if !proposed.contains(tool.as_str()) {
                change["inferred"] = json!(true);
            }
            changes.push(change);
        }
        let calls = old["calls"].as_array().unwrap().iter().zip(young["calls"].as_array().unwrap());
        for (old, young) in calls {
            let rule = |call: &Value| call["findings"][0]["rule"].as_str().map(file_of);
            let (base, new) = (old["decision"].as_str().unwrap(), young["decision"].as_str().unwrap());
            let kind = match (base, new) {
                ("deny", "allow") => Some(("newly_allowed", rule(old))),
                ("allow", "deny") => Some(("newly_blocked", rule(young))),
                ("deny", "deny") => {
                    let ours = rule(young).unwrap();
                    let was = edit.moved.get(&ours).cloned().unwrap_or(Some(ours.clone()));
                    let same = was == rule(old) && old["findings"][0]["code"] == young["findings"][0]["code"];
                    (!same).then_some(("other_reason", Some(ours)))
                }
                ("allow", "allow") => None,
                other => panic!("contracts do not decide {other:?}"),
            };
            if let Some((kind, rule)) = kind {
                changes.push(json!({
                    "turn": turn, "call": old["call"], "index": old["index"], "tool": old["tool"],
                    "arguments": old["arguments"], "at": old["at"], "base": base, "new": new, "kind": kind, "origin": origin(parted), "rule": rule,
                    "counterfactual": old["counterfactual"] == true || young["counterfactual"] == true,
                }));
            }
            parted |= enforce && base != new && old["recorded"] != "refused";
        }
    }
    let explained = |change: &Value| change["kind"] == "newly_allowed" || change["kind"] == "newly_blocked";
    if old["status"] != young["status"] && !changes.iter().any(explained) {
        changes.push(json!({
            "turn": null, "call": null, "index": null, "tool": null, "arguments": null, "at": null, "base": old["status"], "new": young["status"],
            "kind": "outcome_changed", "origin": if parted { "downstream" } else { "primary" }, "rule": null,
            "counterfactual": false,
        }));
    }
    changes
}

/// The hidden tools of a turn with the first rule that hides each.
fn hidden(turn: &Value) -> BTreeMap<String, String> {
    let hidden = turn["tools"]["hidden"].as_array().unwrap().iter();
    let rule = |tool: &Value| file_of(tool["reasons"][0]["rule"].as_str().unwrap());
    hidden.map(|tool| (tool["tool"].as_str().unwrap().to_owned(), rule(tool))).collect()
}
