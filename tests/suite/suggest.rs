//! Rules that recordings suggest: each holds where it was found, and says what it rests on.

mod actions;

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use rulestep::suggest::document::{Document, documents};
use rulestep::suggest::{Bounds, Candidate, Claim, Side, Suggestion, suggest};
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use rulestep_recording::{Options, open};
use serde_json::{Value, json};

use crate::cli::rulestep;
use crate::sessions::recorded::traces;

/// One session: each step is a turn with one call and its result.
fn session(id: usize, steps: &[(&str, Value, Value)]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for (at, (tool, arguments, result)) in steps.iter().enumerate() {
        let call = json!({"id": at.to_string(), "type": "function",
            "function": {"name": tool, "arguments": arguments.to_string()}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": at.to_string(), "content": result.to_string()}));
    }
    json!({"id": format!("s{id}"), "messages": messages}).to_string()
}

fn read(lines: &[String]) -> Vec<Arc<Session>> {
    let text = lines.join("\n");
    open("native.jsonl", Box::new(Cursor::new(text.into_bytes())), &Options::default())
        .unwrap()
        .map(Arc::new)
        .collect()
}

fn said(suggestions: &[Suggestion]) -> Vec<String> {
    suggestions.iter().map(rulestep::report::suggest::sentence).collect()
}

fn candidates(suggestions: &[Suggestion]) -> Vec<Candidate> {
    let of = |suggestion: &Suggestion| {
        let claim = suggestion.claim.clone();
        suggestion
            .tools
            .iter()
            .map(move |tool| Candidate { tool: Arc::clone(tool), claim: claim.clone() })
            .collect::<Vec<_>>()
    };
    suggestions.iter().flat_map(of).collect()
}

/// The policy that all suggestions are together; no document is odd.
fn policy(suggestions: &[Suggestion]) -> Arc<Policy> {
    let candidates = candidates(suggestions);
    let documents = documents(&candidates.iter().collect::<Vec<_>>());
    let files: Vec<_> = documents.iter().map(Document::file).collect();
    let loaded = Policy::load(&files, None);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let policy = loaded.policy.unwrap();
    assert_eq!(policy.rules().iter().count(), candidates.len());
    policy
}

fn stopped(policy: &Arc<Policy>, sessions: &[Arc<Session>]) -> usize {
    let of = |session| {
        let replay = Replay::new(session, policy, Mode::Enforce);
        replay.calls().iter().filter(|call| call.decision.verdict != Verdict::Allow).count()
    };
    sessions.iter().map(of).sum()
}

fn refunds(count: usize) -> Vec<String> {
    let one = |id: usize| {
        let (good, bad) = (json!({"order_id": format!("O-{id}")}), json!({"order_id": format!("P-{id}")}));
        let mut steps = vec![
            ("check", bad, json!({"eligible": false, "shop": "north"})),
            ("check", good.clone(), json!({"eligible": true, "shop": "north"})),
            ("refund", good.clone(), json!({"receipt": format!("R-{id}")})),
        ];
        if id.is_multiple_of(2) {
            steps.push(("mail", json!({"receipt": format!("R-{id}")}), json!("sent")));
        }
        session(id, &steps)
    };
    (0..count).map(one).collect()
}

#[test]
fn what_all_calls_have_before_them_is_suggested() {
    let sessions = read(&refunds(60));
    let suggestions = suggest(&sessions, &Bounds::default()).rules;
    assert_eq!(
        said(&suggestions),
        [
            "refund needs an earlier check with the same order_id",
            "mail needs an earlier refund that returned this call's receipt",
        ]
        .map(|text| text
            .replace("that returned this call's receipt", "whose result has this call's receipt as receipt"))
        .into_iter()
        .chain([
            "refund needs an earlier check with the same order_id, and a result with eligible = true"
                .to_owned(),
            "mail and refund run at most once per session".to_owned(),
        ])
        .collect::<Vec<_>>()
    );
    let counts: Vec<_> = suggestions.iter().map(|s| (s.calls, s.sessions, s.against)).collect();
    assert_eq!(counts, [(60, 60, 0), (30, 30, 0), (60, 60, 0), (90, 60, 0)]);
    assert_eq!(stopped(&policy(&suggestions), &sessions), 0);
    // What every result says anyway is no condition.
    assert!(suggestions.iter().all(|suggestion| !format!("{:?}", suggestion.claim).contains("north")));
}

#[test]
fn one_call_against_it_takes_a_rule_back() {
    let mut lines = refunds(24);
    lines.push(session(99, &[("refund", json!({"order_id": "Q"}), json!({"receipt": "X"}))]));
    let sessions = read(&lines);
    let strict = suggest(&sessions, &Bounds::default()).rules;
    assert!(
        strict.iter().all(|s| !matches!(&s.claim, Claim::Needs(need) if &*need.prior == "check")),
        "{strict:?}"
    );
    let lenient = suggest(&sessions, &Bounds { against: 1, ..Bounds::default() }).rules;
    let needs =
        lenient.iter().find(|s| matches!(&s.claim, Claim::Needs(need) if &*need.prior == "check")).unwrap();
    assert_eq!((needs.calls, needs.against), (24, 1));
    let first = needs.extent.first.as_ref().unwrap();
    assert_eq!(&*first.session, "s99");
}

/// A tool whose name no policy can have takes its own rules with it, and no other.
#[test]
fn what_no_document_can_say_is_left_out_alone_and_named() {
    let mut lines = refunds(60);
    for at in 0..60 {
        let order = json!({"order_id": format!("S{at}")});
        let star = |name| (name, order.clone(), json!({"ok": true}));
        lines.push(session(100 + at, &[star("check"), star("ship*")]));
    }
    let found = suggest(&read(&lines), &Bounds::default());
    assert!(
        said(&found.rules).iter().any(|said| said.starts_with("refund needs an earlier check")),
        "{found:?}"
    );
    assert!(
        !found.refused.is_empty()
            && found.refused.iter().all(|refused| format!("{refused:?}").contains("ship*"))
    );
    assert_eq!(suggest(&read(&refunds(60)), &Bounds::default()).refused, []);
}

#[test]
fn too_few_observations_suggest_nothing() {
    assert_eq!(suggest(&read(&refunds(9)), &Bounds::default()).rules, []);
    assert!(!suggest(&read(&refunds(9)), &Bounds { support: 9, ..Bounds::default() }).rules.is_empty());
    assert_eq!(suggest(&read(&refunds(24)), &Bounds { most: 1, ..Bounds::default() }).rules.len(), 1);
    assert_eq!(suggest(&[], &Bounds::default()).rules, []);
}

#[test]
fn a_value_that_never_changes_binds_nothing() {
    let one = |id| {
        let region = json!({"region": "eu-1"});
        session(id, &[("list", region.clone(), json!("ok")), ("deploy", region, json!("ok"))])
    };
    let sessions = read(&(0..40).map(one).collect::<Vec<_>>());
    assert_eq!(suggest(&sessions, &Bounds::default()).rules, []);
}

#[test]
fn calls_of_the_same_response_and_failed_calls_are_not_before() {
    let one = |id: usize| {
        let call = |number: usize, tool: &str| {
            json!({"id": number.to_string(), "type": "function",
                "function": {"name": tool, "arguments": json!({"key": format!("K{id}")}).to_string()}})
        };
        let messages = json!([
            {"role": "assistant", "tool_calls": [call(1, "look"), call(2, "act")]},
            {"role": "tool", "tool_call_id": "1", "content": "fine"},
            {"role": "tool", "tool_call_id": "2", "content": "done"},
        ]);
        json!({"id": id.to_string(), "messages": messages}).to_string()
    };
    assert_eq!(suggest(&read(&(0..40).map(one).collect::<Vec<_>>()), &Bounds::default()).rules, []);
}

/// Names that YAML, file systems and paths take for something else.
#[test]
fn any_name_can_be_written() {
    let names = [
        "no",
        "a/b",
        "A/B",
        "tool: x",
        "'quoted\"",
        "löschen ☃",
        "line\nbreak",
        "#1",
        "- x",
        "{y}",
        "CON",
        "a_b",
    ];
    let keys = ["order id", "a.b", "it's", "\"q\"", "ключ", "$", "x]y", "0"];
    for (index, key) in keys.into_iter().enumerate() {
        let one = |id: usize| {
            let mut arguments = serde_json::Map::new();
            arguments.insert(key.to_owned(), json!(format!("V-{id}-{index}")));
            let arguments = Value::Object(arguments);
            let first = [("check: it", arguments.clone(), json!({"state of things": "a: b"}))];
            let other = [("check: it", json!({}), json!({"state of things": "c"}))];
            let acts = names.map(|name| (name, arguments.clone(), json!("ok")));
            session(id, &first.into_iter().chain(other).chain(acts).collect::<Vec<_>>())
        };
        let sessions = read(&(0..12).map(one).collect::<Vec<_>>());
        let suggestions = suggest(&sessions, &Bounds::default()).rules;
        let needs = suggestions.iter().filter(|s| matches!(s.claim, Claim::Needs(_)));
        assert!(needs.map(|s| s.tools.len()).max().unwrap_or(0) > 1, "{key}: {suggestions:?}");
        assert_eq!(stopped(&policy(&suggestions), &sessions), 0, "{key}");
    }
}

#[test]
fn orders_of_tau_bench_need_a_look_at_the_same_order() {
    let Some(traces) = traces(".") else { return };
    let sessions = opened(&traces.join("tau-bench/retail-tool-calling.json"));
    let suggestions = suggest(&sessions, &Bounds::default()).rules;
    assert!((1..=15).contains(&suggestions.len()), "{suggestions:#?}");
    assert!(suggestions.iter().all(|suggestion| suggestion.against == 0));
    let orders = suggestions.first().unwrap();
    let Claim::Needs(need) = &orders.claim else { panic!("{orders:?}") };
    let shared = need.shared.as_ref().unwrap();
    let found = (&*need.prior, &*shared.path, shared.side);
    assert_eq!(found, ("get_order_details", "$.order_id", Side::Arguments));
    assert_eq!((orders.calls, orders.tools.len()), (141, 6));
    assert_eq!(stopped(&policy(&suggestions), &sessions), 0);

    let coding = traces.join("claude-code");
    let files = crate::traces::files(&coding);
    let sessions: Vec<_> = files.iter().flat_map(|file| opened(file)).collect();
    let suggestions = suggest(&sessions, &Bounds::default()).rules;
    assert!(
        said(&suggestions).contains(&"Edit needs an earlier Read with the same file_path".to_owned()),
        "{suggestions:?}"
    );
}

/// How many suggestions of one half of the sessions hold in the other: the figure of `docs/authoring.md`.
#[test]
fn suggestions_hold_in_sessions_that_were_held_out() {
    let Some(traces) = traces(".") else { return };
    let (mut all, mut survived) = (0, 0);
    let corpora =
        [vec!["tau-bench/retail-tool-calling.json"], vec!["tau-bench/airline-gpt-4o-trials-0-1.json"]];
    for corpus in corpora {
        let sessions: Vec<_> = corpus.iter().flat_map(|file| opened(&traces.join(file))).collect();
        for odd in [0, 1] {
            let (own, other): (Vec<_>, Vec<_>) =
                sessions.iter().cloned().enumerate().partition(|(at, _)| at % 2 == odd);
            let halves =
                [own, other].map(|half| half.into_iter().map(|(_, session)| session).collect::<Vec<_>>());
            for suggestion in suggest(&halves[0], &Bounds::default()).rules {
                all += 1;
                let holds = stopped(&policy(std::slice::from_ref(&suggestion)), &halves[1]) == 0;
                println!("{} {}", if holds { "holds" } else { "fails" }, said(&[suggestion])[0]);
                survived += usize::from(holds);
            }
        }
    }
    println!("{survived} of {all}");
    assert!(all >= 8 && survived * 4 >= all * 3, "{survived} of {all}");
}

fn opened(path: &Path) -> Vec<Arc<Session>> {
    let file = std::fs::File::open(path).unwrap();
    open(&*path.to_string_lossy(), Box::new(std::io::BufReader::new(file)), &Options::default())
        .unwrap()
        .map(Arc::new)
        .collect()
}

#[test]
fn the_command_writes_policies_that_load() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.jsonl"), refunds(60).join("\n")).unwrap();
    let run = |arguments: &[&str]| rulestep(folder.path(), arguments).output().unwrap();
    let output = run(&["suggest", "s.jsonl", "-o", "found"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    insta::assert_snapshot!("suggest_text", String::from_utf8(output.stdout).unwrap());
    let written = std::fs::read_to_string(folder.path().join("found/refund.yaml")).unwrap();
    insta::assert_snapshot!("suggest_document", written);
    let check = run(&["check", "found"]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");
    // Nothing that somebody may have changed is overwritten.
    let again = run(&["suggest", "s.jsonl", "-o", "found"]);
    assert_eq!(again.status.code(), Some(2));
    let json = run(&["suggest", "s.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["schema"], "rulestep.suggestions/1");
    assert_eq!(json["suggestions"][0]["claim"], "needs");
    assert_eq!(json["suggestions"][2]["result"], json!({"path": "$.eligible", "equals": true}));
    assert_eq!(json["documents"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.jsonl"), refunds(24).join("\n") + "\n{broken").unwrap();
    let run =
        |arguments: &[&str]| rulestep(folder.path(), &[&["suggest"], arguments].concat()).output().unwrap();
    let output = run(&["s.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("not everything was looked at"), "{output:?}");
    assert_eq!(run(&["s.jsonl", "--where", "is:stopped"]).status.code(), Some(2));
    assert_eq!(run(&[]).status.code(), Some(2));
}
