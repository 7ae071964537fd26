//! Tool policies evaluated the naive way, and the engine held against that.
//!
//! The oracle keeps a list of what happened and reads it from the end for every question.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rulestep_base::session::Operation;
use rulestep_engine::dialect::tool_policies::explain::RecordState;
use rulestep_engine::monitor::StateItem;
use rulestep_engine::replay::{Replay, outcomes};
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::engine_mode;
use crate::naive::{MODES, Mode, list, strings};
use crate::policy_sessions::{
    Ending, Model, ModelCall, TOOLS, forks_agree, model, named_runs_agree, policy, saved_runs_agree,
};

// ---- The oracle -------------------------------------------------------------------------------------------------

#[derive(Clone)]
enum Happened<'a> {
    Started(usize, &'a ModelCall),
    Resolved(usize, &'a ModelCall, bool),
    Operation(&'a Operation),
}

struct Oracle<'a> {
    document: &'a Value,
    model: &'a Model,
    happened: Vec<Happened<'a>>,
    decisions: Vec<Value>,
    /// For each turn, the tools that are hidden at its start.
    hidden: Vec<BTreeSet<String>>,
}

type CaseSession = (BTreeSet<String>, BTreeSet<(String, String)>);

impl<'a> Oracle<'a> {
    fn judge(document: &'a Value, model: &'a Model, mode: Mode) -> Oracle<'a> {
        let (happened, decisions, hidden) = (Vec::new(), Vec::new(), Vec::new());
        let mut oracle = Oracle { document, model, happened, decisions, hidden };
        let mut in_flight: Vec<(usize, usize, &ModelCall, bool)> = Vec::new();
        let mut index = 0;
        for (number, turn) in model.turns.iter().enumerate() {
            oracle.happened.extend(turn.operations.iter().map(Happened::Operation));
            let hidden =
                TOOLS.iter().filter(|tool| oracle.against(tool, &Value::Null).any(|(_, _, denied)| denied));
            let hidden = hidden.map(|tool| (*tool).to_owned()).collect();
            oracle.hidden.push(hidden);
            for call in &turn.calls {
                let decision = oracle.decide(call);
                let runs = decision["denied"] == Value::Null || mode == Mode::Shadow;
                oracle.decisions.push(decision);
                let end = model.ending(call);
                if runs && end != Ending::Refused {
                    oracle.happened.push(Happened::Started(index, call));
                    match end {
                        Ending::Result { ok, late: 0 } => {
                            oracle.happened.push(Happened::Resolved(index, call, ok))
                        }
                        Ending::Result { ok, late } => in_flight.push((number + late, index, call, ok)),
                        Ending::Refused | Ending::Unknown => {}
                    }
                }
                index += 1;
            }
            let due = in_flight.extract_if(.., |(due, ..)| *due == number);
            oracle.happened.extend(due.map(|(_, index, call, ok)| Happened::Resolved(index, call, ok)));
        }
        oracle
    }

    /// "Policies are asked in order. The first denial decides"; the others that would have denied are kept.
    fn decide(&self, call: &ModelCall) -> Value {
        let against: Vec<(String, String, bool)> = self.against(call.tool, &call.arguments).collect();
        let denied: Vec<&(String, String, bool)> = against.iter().filter(|(_, _, denied)| *denied).collect();
        let pointers = |some: &[&(String, String, bool)]| -> Vec<String> {
            let mut pointers: Vec<String> = some.iter().map(|(pointer, ..)| pointer.clone()).collect();
            pointers.sort();
            pointers
        };
        if let Some((first, also)) = denied.split_first() {
            return json!({"denied": first.0, "also": pointers(also), "told": first.1});
        }
        // "each write allowed only for that reason bears the finding"
        let assumed: Vec<&(String, String, bool)> = against.iter().collect();
        json!({"denied": null, "assumed": pointers(&assumed)})
    }

    /// What each governing policy has to say: its pointer, the text, and whether it denies (else: it only assumes).
    fn against(&self, tool: &str, arguments: &Value) -> impl Iterator<Item = (String, String, bool)> {
        let mut against = Vec::new();
        let (tools, keys) = self.recorded(self.happened.len());
        for (pointer, policy) in self.governing(tool) {
            if policy["type"] == "sequential_dependency" {
                let mut missing = strings(&policy["dependencies"][tool]);
                missing.retain(|need| !tools.contains(need));
                missing.sort();
                missing.dedup();
                if !missing.is_empty() {
                    against.push((pointer, format!("Tool '{tool}' requires: {}", missing.join(", ")), true));
                }
                continue;
            }
            if !names(policy, "write_tools", tool) {
                continue;
            }
            let Some(path) = path_of(arguments) else {
                // A write that names no path is not checked, and says so.
                against.push((pointer, String::new(), false));
                continue;
            };
            let key = key_of(policy, path);
            let was_read = keys.iter().any(|(by, read)| names(policy, "read_tools", by) && *read == key);
            let text = format!("File '{path}' must be read before overwriting.");
            if self.exists(&fold(&key)) {
                if !was_read {
                    against.push((pointer, text, true));
                }
            } else if self.listed().is_none() && !was_read {
                against.push((pointer, text, false));
            }
        }
        against.into_iter()
    }

    /// "A tool is governed by the policies of the section that lists it, then by the prompt's policies."
    fn governing(&self, tool: &str) -> Vec<(String, &'a Value)> {
        let mut governing = Vec::new();
        let sections = self.document["sections"].as_array().into_iter().flatten().enumerate();
        for (number, section) in sections {
            if strings(&section["tools"]).iter().any(|name| name == tool) {
                let own = section["policies"].as_array().into_iter().flatten().enumerate();
                governing
                    .extend(own.map(|(at, policy)| (format!("/sections/{number}/policies/{at}"), policy)));
            }
        }
        let prompt = self.document["policies"].as_array().into_iter().flatten().enumerate();
        governing.extend(prompt.map(|(at, policy)| (format!("/policies/{at}"), policy)));
        governing
    }

    /// The recorded state after the first `count` things that happened.
    fn recorded(&self, count: usize) -> CaseSession {
        let Some(last) = count.checked_sub(1) else { return CaseSession::default() };
        match &self.happened[last] {
            Happened::Operation(Operation::Reset | Operation::Unknown(_)) => CaseSession::default(),
            // "an unknown name empties the state"
            Happened::Operation(Operation::Restore(name)) => {
                let taken = |happened: &Happened| matches!(happened, Happened::Operation(Operation::Snapshot(known)) if known == name);
                self.happened[..last].iter().rposition(taken).map(|at| self.recorded(at)).unwrap_or_default()
            }
            Happened::Resolved(_, call, true) => {
                let (mut tools, mut keys) = self.recorded(last);
                for (_, policy) in self.governing(call.tool) {
                    if policy["type"] == "sequential_dependency" {
                        tools.insert(call.tool.to_owned());
                    } else if let Some(path) = path_of(&call.arguments)
                        && names(policy, "read_tools", call.tool)
                    {
                        keys.insert((call.tool.to_owned(), key_of(policy, path)));
                    }
                }
                (tools, keys)
            }
            _ => self.recorded(last),
        }
    }

    fn listed(&self) -> Option<Vec<String>> {
        let own =
            self.model.files.as_ref().map(|files| files.iter().map(|file| (*file).to_owned()).collect());
        own.or_else(|| self.document.get("existing_files").map(strings))
    }

    /// "A directory that holds a file exists, and so does the root".
    fn exists(&self, path: &str) -> bool {
        let listed = self.listed().unwrap_or_default();
        let mut files: Vec<String> = listed.iter().map(|file| fold(file)).collect();
        // With a slash before it, a list may name a file as calls do, below a mount point.
        let policies = self.scopes().flat_map(|scope| scope["policies"].as_array().into_iter().flatten());
        for policy in policies.filter(|policy| policy["type"] == "read_before_write") {
            let below = listed.iter().filter(|file| file.starts_with('/'));
            files.extend(below.map(|file| fold(&key_of(policy, file))).filter(|file| !file.is_empty()));
        }
        for (at, happened) in self.happened.iter().enumerate() {
            match happened {
                // "A write's file exists from *started*; it is taken back when the result is `error`".
                Happened::Started(index, call) => {
                    let failed =
                        |later: &Happened| matches!(later, Happened::Resolved(of, _, false) if of == index);
                    if !self.happened[at..].iter().any(failed) {
                        files.extend(self.touched("write_tools", call));
                    }
                }
                // Unlisted, "a path is new unless an earlier call read it (`ok`) or wrote it".
                Happened::Resolved(_, call, true) if self.listed().is_none() => {
                    files.extend(self.touched("read_tools", call));
                }
                _ => {}
            }
        }
        let within = format!("{path}/");
        path.is_empty() || files.iter().any(|file| file == path || file.starts_with(&within))
    }

    /// The document, and its sections.
    fn scopes(&self) -> impl Iterator<Item = &Value> {
        [self.document].into_iter().chain(self.document["sections"].as_array().into_iter().flatten())
    }

    /// "each write policy that names the tool adds the file under its own mount"
    fn touched(&self, key: &str, call: &ModelCall) -> Vec<String> {
        let policies = self.scopes().flat_map(|scope| scope["policies"].as_array().into_iter().flatten());
        let naming =
            policies.filter(|policy| policy["type"] == "read_before_write" && names(policy, key, call.tool));
        naming.filter_map(|policy| Some(fold(&key_of(policy, path_of(&call.arguments)?)))).collect()
    }
}

/// Defaults: `read_file`; `write_file`, `edit_file`.
fn names(policy: &Value, key: &str, tool: &str) -> bool {
    match (policy.get(key), key) {
        (Some(tools), _) => strings(tools).iter().any(|name| name == tool),
        (None, "read_tools") => tool == "read_file",
        (None, _) => tool == "write_file" || tool == "edit_file",
    }
}

/// "`path` if that is a string, else `file_path` if that is a string, else none"
fn path_of(arguments: &Value) -> Option<&str> {
    arguments["path"].as_str().or(arguments["file_path"].as_str())
}

/// "all leading slashes removed; then, with a mount point, the mount point (its own leading slashes removed) cut off if
/// the key equals it or starts with it plus one slash"
fn key_of(policy: &Value, path: &str) -> String {
    let key = path.trim_start_matches('/');
    let mount = policy["mount_point"].as_str().unwrap_or_default();
    if mount.is_empty() {
        return key.to_owned();
    }
    let mount = mount.trim_start_matches('/');
    if key == mount {
        return String::new();
    }
    key.strip_prefix(&format!("{mount}/")).unwrap_or(key).to_owned()
}

/// "empty and `.` segments vanish and `..` removes the segment before it"
fn fold(path: &str) -> String {
    let kept = path.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    let folded = kept.fold(Vec::new(), |mut before, segment| {
        if segment == ".." {
            before.pop();
        } else {
            before.push(segment);
        }
        before
    });
    folded.join("/")
}

// ---- The engine in the same shape -------------------------------------------------------------------------------

fn written(replay: &Replay) -> Vec<Value> {
    let pointer = |rule| replay.policy().rules().get(rule).unwrap().pointer.to_string();
    let decisions = replay.calls().iter().map(|judged| {
        let findings = &judged.decision.findings;
        let mut pointers: Vec<String> = findings.iter().map(|finding| pointer(finding.rule)).collect();
        match judged.decision.deciding() {
            Some(deciding) => {
                pointers.remove(0);
                pointers.sort();
                json!({"denied": pointer(deciding.rule), "also": pointers, "told": judged.decision.told})
            }
            None => {
                let reports = ["existence_unknown", "path_unknown"];
                assert!(findings.iter().all(|finding| reports.contains(&finding.code.as_str())));
                pointers.sort();
                json!({"denied": null, "assumed": pointers})
            }
        }
    });
    decisions.collect()
}

fn recorded(state: &[StateItem]) -> CaseSession {
    let mut all = CaseSession::default();
    for item in state {
        if let StateItem::Kept { facts, .. } = item
            && let Some(RecordState { recorded, .. }) = facts.downcast_ref()
        {
            all.0.extend(recorded.tools().map(ToString::to_string));
            all.1.extend(recorded.keys().map(|(tool, key)| (tool.to_string(), key.to_string())));
        }
    }
    all
}

// ---- Documents --------------------------------------------------------------------------------------------------

fn documents() -> impl Strategy<Value = Value> {
    let prompt = vec(one_policy(), 0..4);
    let sections = vec((vec(one_policy(), 0..3), vec(select(&TOOLS[..]), 0..5)), 0..3);
    let existing = weighted(0.3, vec(select(vec!["a", "/d/e", "x/../b", "w"]), 0..3));
    (prompt, sections, existing)
        .prop_map(|(prompt, sections, existing)| {
            let mut listed = BTreeSet::new();
            let section = |(number, (policies, mut tools)): (usize, (Vec<Value>, Vec<&'static str>))| {
                tools.retain(|tool| listed.insert(*tool));
                json!({"id": format!("s{number}"), "parent": null, "tools": tools, "policies": policies})
            };
            let sections: Vec<Value> = sections.into_iter().enumerate().map(section).collect();
            let mut document = json!({"policies": prompt, "sections": sections});
            if let Some(existing) = existing {
                document["existing_files"] = json!(existing);
            }
            document
        })
        .boxed()
}

fn one_policy() -> BoxedStrategy<Value> {
    let needs = btree_map(select(&TOOLS[..]), vec(select(&TOOLS[..]), 0..3), 1..6);
    let tools = || weighted(0.3, vec(select(&TOOLS[..4]), 1..4));
    let mount = weighted(0.4, select(vec!["/w", "w", "/w/", "", "//w", "/"]));
    prop_oneof![
        needs.prop_map(|needs| json!({"type": "sequential_dependency", "dependencies": needs})),
        (tools(), tools(), mount).prop_map(|(read, write, mount)| {
            let mut policy = json!({"type": "read_before_write"});
            for (key, value) in
                [("read_tools", json!(read)), ("write_tools", json!(write)), ("mount_point", json!(mount))]
            {
                if !value.is_null() {
                    policy[key] = value;
                }
            }
            policy
        }),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn the_engine_answers_as_the_oracle(document in documents(), model in model()) {
        let (session, policy) = (model.record(), policy("tool_policy", &document));
        for (mode, name) in MODES {
            let replay = Replay::new(&session, &policy, engine_mode(mode));
            let oracle = Oracle::judge(&document, &model, mode);
            prop_assert_eq!(written(&replay), oracle.decisions.clone(), "{}", name);
            prop_assert_eq!(outcomes(&session, &policy, engine_mode(mode)).summary, replay.summary());
            prop_assert_eq!(recorded(&replay.state_end()), oracle.recorded(oracle.happened.len()), "{}", name);
            for (turn, expected) in oracle.hidden.iter().enumerate() {
                let frame = replay.frame(turn as u32 + 1).unwrap();
                let hidden: BTreeSet<String> =
                    frame.narrowing.tools.iter().filter(|tool| !tool.visible()).map(|tool| tool.tool.to_string()).collect();
                let offered = |tool: &&String| frame.narrowing.tools.iter().any(|known| *known.tool == ***tool);
                let expected: BTreeSet<String> = expected.iter().filter(offered).cloned().collect();
                prop_assert_eq!(hidden, expected, "{} turn {}", name, turn + 1);
            }
            forks_agree(&session, &policy, engine_mode(mode))?;
            saved_runs_agree(&session, &policy, engine_mode(mode))?;
            named_runs_agree(&session, &policy, engine_mode(mode))?;
        }
    }
}

/// The property says something only if the drawn pairs reach every answer often.
#[test]
fn the_generated_pairs_reach_every_answer() {
    let mut runner = TestRunner::deterministic();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut calls = 0;
    for _ in 0..1000 {
        let document = documents().new_tree(&mut runner).unwrap().current();
        let model = model().new_tree(&mut runner).unwrap().current();
        let oracle = Oracle::judge(&document, &model, Mode::Enforce);
        for decision in &oracle.decisions {
            calls += 1;
            let told = decision["told"].as_str().unwrap_or_default();
            let answer = match (told, list(&decision["assumed"]).is_empty()) {
                ("", true) => "allow",
                ("", false) => "assumed",
                (told, _) if told.starts_with("Tool") => "dependency",
                _ => "unread",
            };
            *counts.entry(answer).or_default() += 1;
            *counts.entry("also").or_default() += usize::from(!list(&decision["also"]).is_empty());
        }
        *counts.entry("hidden").or_default() +=
            oracle.hidden.iter().filter(|hidden| !hidden.is_empty()).count();
    }
    println!("{calls} calls: {counts:?}");
    for answer in ["allow", "assumed", "dependency", "unread", "also", "hidden"] {
        let times = counts.get(answer).copied().unwrap_or_default();
        assert!(times * 100 > calls, "{answer}: {times} of {calls}");
    }
}
