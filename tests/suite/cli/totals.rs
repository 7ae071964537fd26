//! What closes a replay: the totals object, the last lines, and equal findings as one block.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CLEAN, folder, run};

const PAY: &str = "\
tool: pay
preconditions: [{requires_prior_tool: check, description: Nothing is paid unchecked}]
";
/// One session violates it: no call of it is stopped.
const RULES: &str = "\
version: \"1\"
name: closing
rules: [{type: require, tool: close_case}]
";
const DESK: &str = "\
forbidden:
  - {sequence: [export, mail], action: halt, reason: 'security:exfiltration', tellLLM: no}
";

fn call(id: &str, tool: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
}

fn session(id: &str, turns: &[&[(&str, &str)]]) -> String {
    let mut messages = Vec::new();
    for (turn, calls) in turns.iter().enumerate() {
        let ids: Vec<String> = (0..calls.len()).map(|call| format!("{turn}-{call}")).collect();
        let calls = ids.iter().zip(*calls).map(|(id, (tool, arguments))| call(id, tool, arguments));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()}));
        messages.extend(ids.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": "ok"})));
    }
    json!({"id": id, "messages": messages}).to_string()
}

fn sessions() -> TempDir {
    let twice = session(
        "twice",
        &[&[("pay", "{\"n\": 1}")], &[("pay", "{\"n\": 2}"), ("pay", "{\"n\": 3}")], &[("close_case", "{}")]],
    );
    let ended = session("ended", &[&[("export", "{}")], &[("mail", "{}")], &[("close_case", "{}")]]);
    let open = session("open", &[&[("look", "{}")]]);
    folder(&[
        ("p/pay.yaml", PAY),
        ("p/desk.yaml", DESK),
        ("p/rules.yaml", RULES),
        ("s/1.json", &twice),
        ("s/2.json", &ended),
        ("s/3.json", &open),
        ("s/4.json", &CLEAN.replace("issue_refund", "close_case")),
        ("s/notes.txt", "not a recording"),
    ])
}

fn closing(folder: &TempDir, arguments: &[&str]) -> Value {
    let told = run(folder, &[&["replay", "--format", "json"], arguments].concat());
    let line = told.split("--- stderr").next().unwrap().lines().last().unwrap();
    serde_json::from_str(line).unwrap()
}

#[test]
fn the_last_object_adds_everything_up() {
    let folder = sessions();
    let told = closing(&folder, &["s", "-p", "p"]);
    assert_eq!(told["schema"], "rulestep.replay/2");
    let totals = &told["totals"];
    for (key, expected) in [
        ("sessions", 4),
        ("deny", 3),
        ("deny_counterfactual", 2),
        ("halt", 1),
        ("not_reached", 1),
        ("skipped", 1),
    ] {
        assert_eq!(totals[key], expected, "{key} {totals:#}");
    }
    let pay = &totals["by_rule"][0];
    assert_eq!(
        *pay,
        json!({"rule": "p/pay.yaml#/preconditions/0", "name": "Nothing is paid unchecked",
            "source": {"file": "p/pay.yaml", "line": 2, "column": 17},
            "stopped": 3, "counterfactual": 2, "violated": 0, "sessions": 1})
    );
    assert_eq!(totals["by_code"]["prior_tool_missing"], 3);
    assert_eq!(totals["by_reason"], json!({"security": 1}));
    assert_eq!(
        totals["by_tool"]["pay"],
        json!({"calls": 3, "allow": 0, "deny": 3, "halt": 0, "not_reached": 0})
    );
    // Every stopped call and every violated rule has a rule and a code.
    let sum = |list: &str, keys: &[&str]| -> u64 {
        let each = |entry: &Value| keys.iter().map(|key| entry[*key].as_u64().unwrap()).sum::<u64>();
        match &totals[list] {
            Value::Array(list) => list.iter().map(each).sum(),
            Value::Object(map) if keys.is_empty() => map.values().filter_map(Value::as_u64).sum(),
            map => map.as_object().unwrap().values().map(each).sum(),
        }
    };
    let number = |key: &str| totals[key].as_u64().unwrap();
    assert_eq!(sum("by_rule", &["stopped"]), number("deny") + number("halt"));
    assert_eq!(sum("by_rule", &["violated"]), number("violated_rules"));
    assert_eq!(sum("by_code", &[]), number("deny") + number("halt") + number("violated_rules"));
    assert_eq!(sum("by_tool", &["calls"]), number("calls"));
}

/// `--summary` judges without evidence, and must come to the same.
#[test]
fn a_summary_has_the_same_totals() {
    let folder = sessions();
    for mode in ["enforce", "shadow"] {
        let named = ["s", "-p", "p", "--mode", mode];
        assert_eq!(
            closing(&folder, &named),
            closing(&folder, &[&named[..], &["--summary"]].concat()),
            "{mode}"
        );
        let samples = ["--samples", "--mode", mode];
        let whole = closing(&folder, &samples);
        assert_eq!(whole, closing(&folder, &[&samples[..], &["--summary"]].concat()), "{mode}");
        assert!(whole["totals"]["violated_rules"].as_u64() > Some(0), "{whole:#}");
    }
}

#[test]
fn a_summary_names_the_rules_that_are_violated() {
    let folder = sessions();
    let told = run(&folder, &["replay", "s/3.json", "-p", "p", "--summary", "--format", "json"]);
    let line: Value = serde_json::from_str(told.lines().nth(2).unwrap()).unwrap();
    assert_eq!(line["session"]["id"], "open");
    assert_eq!(line["rules"][0]["rule"], "p/rules.yaml#/rules/0");
    assert_eq!(line["rules"][0]["outcome"], "violated");
    assert_eq!(line["rules"].as_array().unwrap().len(), 1);
    assert_eq!(line.get("turns"), None);
    let text = run(&folder, &["replay", "s/3.json", "-p", "p", "--summary"]);
    assert!(text.contains("      violated  close_case required"), "{text}");
}

#[test]
fn the_last_lines_say_what_by_rule_code_reason_and_tool() {
    let folder = sessions();
    for more in [&[][..], &["--summary"]] {
        let text = run(&folder, &[&["replay", "-q", "s", "-p", "p"], more].concat());
        let last: Vec<&str> = text.split("--- stderr").next().unwrap().lines().collect();
        let last = &last[last.len() - 8..];
        assert_eq!(
            last,
            [
                "by rule    3 calls in 1 session (2 counterfactual)  Nothing is paid unchecked  p/pay.yaml:2",
                "           violated in 3 sessions                   close_case required  p/rules.yaml:3",
                "           1 call in 1 session                      no export, then mail  p/desk.yaml:2",
                "by code    prior_tool_missing 3, required_missing 3, sequence_forbidden 1",
                "by reason  security 1",
                "by tool    pay 3, mail 1",
                "diagnostics: 1 notice",
                "4 sessions, 8 turns, 8 calls: 3 allowed, 3 denied, 1 halted (2 of the stopped are counterfactual), 1 not reached; \
                 3 session rules violated; 5 decisions differ from the recording; 1 file skipped",
            ],
            "{text}"
        );
    }
}

#[test]
fn equal_findings_of_a_session_are_one_block() {
    let turns: Vec<&[(&str, &str)]> = vec![&[
        ("pay", "{\"order\": \"A\"}"),
        ("pay", "{\"order\": \"B\"}"),
        ("look", "{}"),
        ("pay", "{\"order\": \"C\"}"),
    ]];
    let folder = folder(&[("p.yaml", PAY), ("s.json", &session("many", &turns))]);
    let text = run(&folder, &["replay", "-q", "s.json", "-p", "p.yaml"]);
    assert_eq!(text.matches("because").count(), 1, "{text}");
    assert!(text.contains("prior_tool_missing  (3 calls)"), "{text}");
    assert!(text.contains("      also at   turn 1 call 2  pay(order: \"B\")\n"), "{text}");
    assert!(text.contains("                turn 1 call 4  pay(order: \"C\")\n"), "{text}");
    assert_eq!(
        run(&folder, &["replay", "-q", "s.json", "-p", "p.yaml", "--full"]).matches("because").count(),
        3
    );
}

/// A rule that only reports stops nothing, and is no reason to say nothing.
#[test]
fn reported_calls_are_counted() {
    let [look, pay] = [("look", "{}"), ("pay", "{}")];
    let turns: [&[(&str, &str)]; 4] = [&[look], &[pay], &[pay], &[look]];
    for (options, counted, by_rule, name) in [
        (
            "effect: report",
            "4 allowed, none stopped, 2 reported",
            "2 calls reported",
            "violated (only reported): ",
        ),
        (
            "mode: shadow",
            "4 allowed, none stopped; 2 calls would be stopped",
            "2 calls would be stopped outside shadow mode",
            "violated (shadow mode): ",
        ),
        (
            "effect: ask",
            "2 allowed, 2 asked about, none stopped",
            "2 calls asked about, violated in 1 session (not enforced)",
            "violated (asked about): ",
        ),
    ] {
        let rule = format!(
            "rules:\n  - {{type: never, call: {{tool: pay}}, {options}, description: Nobody pays}}\n"
        );
        let folder = folder(&[("p.yaml", &rule), ("s.json", &session("s", &turns))]);
        for scope in [&[][..], &["--summary"]] {
            let told = run(&folder, &[&["replay", "s.json", "-p", "p.yaml"], scope].concat());
            assert!(told.contains(&format!("1 session, 4 turns, 4 calls: {counted}")), "{told}");
            assert!(told.contains(&format!("by rule    {by_rule}")), "{told}");
            assert!(!told.contains("never violated"), "{told}");
            if scope.is_empty() {
                assert!(told.contains(&format!("{name}Nobody pays")), "{told}");
            }
            let arguments = [&["s.json", "-p", "p.yaml"], scope].concat();
            let totals = &closing(&folder, &arguments)["totals"];
            let reported = options == "effect: report";
            assert_eq!(totals.get("reported"), reported.then_some(&json!(2)), "{totals:#}");
            assert_eq!(totals["by_rule"][0].get("reported"), reported.then_some(&json!(2)), "{totals:#}");
        }
    }
}

/// Rules that only report, or are in shadow mode, are counted too: a session that violates them is not one without findings.
#[test]
fn violated_rules_that_are_not_enforced_are_counted() {
    let rules = "rules:\n  - {type: require, tool: close_case, effect: report, id: closes}\n  \
                 - {type: require, tool: log, mode: shadow, id: logs}\n";
    let files = folder(&[("p.yaml", rules), ("s.json", &session("open", &[&[("look", "{}")]]))]);
    let told = closing(&files, &["s.json", "-p", "p.yaml"]);
    let totals = &told["totals"];
    assert_eq!(totals["unenforced_rules"], 2, "{totals:#}");
    assert_eq!((&totals["violated_rules"], &totals["objected"]), (&json!(0), &json!(0)));
    let rows: Vec<&Value> =
        totals["by_rule"].as_array().unwrap().iter().map(|row| &row["unenforced"]).collect();
    assert_eq!(rows, [1, 1]);
    assert_eq!(closing(&files, &["s.json", "-p", "p.yaml", "--summary"]), {
        let mut told = told.clone();
        told["totals"] = totals.clone();
        told
    });
    let text = run(&files, &["replay", "s.json", "-p", "p.yaml"]);
    assert!(text.contains("none stopped; 2 session rules violated (not enforced)"), "{text}");
    assert!(text.contains("violated in 1 session (not enforced)  closes"), "{text}");
    let github = run(&files, &["replay", "s.json", "-p", "p.yaml", "--format", "github"]);
    assert!(
        github.contains("no call stopped, 2 session rules violated (not enforced) in 1 session"),
        "{github}"
    );
    let page = run(&files, &["report", "s.json", "-p", "p.yaml", "--markdown"]);
    assert!(page.contains("2 session rules violated (not enforced)"), "{page}");
    let html =
        run(&files, &["replay", "s.json", "-p", "p.yaml", "--format", "json", "--report", "html=r.html"]);
    let html = html + &std::fs::read_to_string(files.path().join("r.html")).unwrap();
    assert!(html.contains("session rules violated (not enforced)"), "{html}");
}

/// What stops nothing is counted like what stops a call, and what cannot be counted is said.
#[test]
fn every_breakdown_adds_up_to_the_totals() {
    let rules = "rules:\n\
        \x20 - {id: few, type: max_calls, tool: look, max: 1, effect: report}\n\
        \x20 - {id: seen, type: blocklist, tools: [look], mode: shadow}\n\
        \x20 - {id: ask, type: blocklist, tools: [pay], effect: ask}\n\
        \x20 - {id: no, type: blocklist, tools: [nuke]}\n";
    let calls: &[(&str, &str)] =
        &[("look", "{}"), ("look", "{}"), ("pay", "{}"), ("nuke", "{}"), ("x", "{\"a\": 1, \"a\": 2}")];
    let files = folder(&[("p.yaml", rules), ("s.json", &session("s", &[calls]))]);
    let totals = closing(&files, &["s.json", "-p", "p.yaml"])["totals"].clone();
    assert_eq!((&totals["deny"], &totals["would_stop"], &totals["ask"]), (&json!(2), &json!(2), &json!(1)));
    // The rule that only reports does so beside one in shadow mode.
    assert_eq!(totals["by_rule"].as_array().unwrap().iter().filter(|row| row["reported"] == 1).count(), 1);
    let summary = closing(&files, &["s.json", "-p", "p.yaml", "--summary"])["totals"].clone();
    assert_eq!(summary, totals);
    for by in ["rule", "code", "reason", "tool", "session"] {
        let arguments = ["replay", "s.json", "-p", "p.yaml", "--by", by, "--format", "json"];
        let told = run(&files, &arguments);
        let line = told.lines().find(|line| line.starts_with('{')).unwrap();
        let told: Value = serde_json::from_str(line).unwrap();
        let sum = |key: &str| {
            let rows = told["rows"].as_array().unwrap();
            rows.iter().map(|row| row[key].as_u64().unwrap_or_default()).sum::<u64>()
        };
        assert_eq!(sum("stopped") + told["not_counted"].as_u64().unwrap_or_default(), 2, "{by} {told:#}");
        if by != "reason" {
            assert_eq!((sum("asked"), sum("would_stop")), (1, 2), "{by} {told:#}");
        }
        if matches!(by, "rule" | "code") {
            assert_eq!((sum("reported"), told["not_counted"].as_u64()), (1, Some(1)), "{by} {told:#}");
            assert_eq!(sum("unenforced"), totals["unenforced_rules"].as_u64().unwrap(), "{by} {told:#}");
        }
    }
    let text = run(&files, &["replay", "s.json", "-p", "p.yaml", "--by", "rule"]);
    assert!(text.contains("stopped  violated  asked about  shadow rule  reported  not enforced"), "{text}");
    assert!(
        text.contains("not counted: 1 call denied with arguments that no rule can decide about"),
        "{text}"
    );
}

/// A test fails for what fails the run: a call that a person is asked about does not.
#[test]
fn a_build_server_fails_for_what_fails_the_run() {
    let asked = session("asked", &[&[("pay", "{}")]]);
    let unclear = session("unclear", &[&[("x", "{\"a\": 1, \"a\": 2}")]]);
    let files = folder(&[
        ("p.yaml", "{tool: pay, preconditions: [{requires_prior_tool: check, effect: ask}]}"),
        ("asked.json", &asked),
        ("unclear.json", &unclear),
    ]);
    for (file, exit, failures, level) in [
        ("asked.json", "exit 0\n", "failures=\"0\"", "notice"),
        ("unclear.json", "exit 1\n", "failures=\"1\"", "error"),
    ] {
        let told = |format: &str| run(&files, &["replay", file, "-p", "p.yaml", "--format", format]);
        let junit = told("junit");
        assert!(junit.starts_with(exit) && junit.contains(failures), "{junit}");
        let title = if file == "asked.json" { "asked about" } else { "denied" };
        assert!(told("github").contains(&format!("::{level} ")), "{}", told("github"));
        assert!(told("sarif").contains(&format!("{title}: ")), "{}", told("sarif"));
        assert!(told("markdown").contains(title), "{}", told("markdown"));
    }
}

/// Rules that are off wherever anybody looked, also after results were merged.
#[test]
fn the_totals_name_rules_that_are_off_in_every_session() {
    let rules = "rules:\n  - {type: blocklist, tools: [look], when: {context.role: admin}}\n  - {type: blocklist, tools: [nuke]}\n";
    let of = |id: &str, context: &str| {
        session(id, &[&[("look", "{}")]]).replacen('{', &format!("{{\"context\": {context}, "), 1)
    };
    let files = folder(&[
        ("p.yaml", rules),
        ("1.json", &of("1", "{\"role\": \"user\"}")),
        ("2.json", &of("2", "{\"role\": \"guest\"}")),
        ("3.json", &of("3", "{}")),
    ]);
    let off = |sessions: &[&str]| {
        closing(&files, &[sessions, &["-p", "p.yaml"]].concat())["totals"].get("rules_off").cloned()
    };
    let first = Some(json!(["p.yaml#/rules/0"]));
    assert_eq!(off(&["1.json"]), first);
    assert_eq!(off(&["1.json", "2.json"]), first);
    // Without a role the rule applies.
    assert_eq!(off(&["1.json", "3.json"]), None);
    let save = |name: &str, sessions: &[&str]| {
        let told = run(&files, &[&["replay"], sessions, &["-p", "p.yaml", "--format", "json"]].concat());
        let lines: Vec<&str> = told.lines().filter(|line| line.starts_with('{')).collect();
        std::fs::write(files.path().join(name), lines.join("\n")).unwrap();
    };
    save("a.out", &["1.json"]);
    save("b.out", &["2.json"]);
    save("c.out", &["3.json"]);
    for (results, expected) in [(["a.out", "b.out"], first), (["a.out", "c.out"], None)] {
        let told = run(&files, &[&["merge"], &results[..]].concat());
        let line = told.lines().rfind(|line| line.starts_with('{')).unwrap();
        let totals: Value = serde_json::from_str(line).unwrap();
        assert_eq!(totals["totals"].get("rules_off").cloned(), expected, "{told}");
    }
}

/// A program that reads the totals learns that the policy is probably not what is meant.
#[test]
fn the_totals_say_what_is_wrong_with_the_policy() {
    let rules = "rules:\n  - {type: blocklist, tools: [lok], when: {context.vip: yes}}\n  - {type: never, call: nuke}\n";
    let session = session("open", &[&[("look", "{}")]]).replacen('{', "{\"context\": {\"vip\": true}, ", 1);
    let files = folder(&[
        ("p.yaml", rules),
        ("s.json", &session),
        ("q.yaml", "{rules: [{type: never, call: look}]}"),
    ]);
    let totals = &closing(&files, &["s.json", "-p", "p.yaml"])["totals"];
    assert_eq!(totals["policy_warnings"], 1, "{totals:#}");
    assert_eq!(totals["unseen_tools"], json!(["lok", "nuke"]));
    let text = run(&files, &["replay", "s.json", "-p", "p.yaml"]);
    for said in
        ["is a text, which never equals the value true", "no recording has the text \"yes\" at `context.vip`"]
    {
        assert!(text.contains(said), "{said}\n{text}");
    }
    let totals = &closing(&files, &["s.json", "-p", "q.yaml"])["totals"];
    assert!(totals.get("policy_warnings").is_none() && totals.get("unseen_tools").is_none(), "{totals:#}");
}
