//! Cases: what can be written, what is said of mistakes, what comes of judging, rewriting and saving them.

mod saved;
mod updated;
mod without;

use std::sync::Arc;

use rulestep::case::judge::{self, CaseResult};
use rulestep::case::read::{Cases, read};
use rulestep::case::{Case, CaseSession, Fact};
use rulestep_base::session::Session;
use rulestep_base::source::Source;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::run::Mode;

/// Refunds need a check of the same order; nothing is paid twice.
pub const REFUND: &str = "\
tool: refund
preconditions:
  - requires_prior_tool: check
    resource: {bind_from: arguments, path: $.id}
    with_output: [{path: $.ok, equals: true}]
forbids_after: [refund]
";

/// A rule about sessions and a limit.
pub const RULES: &str =
    "rules:\n  - {type: require, tool: close}\n  - {type: max_calls, tool: check, max: 2}\n";

pub fn version(files: &[(&str, &str)]) -> Arc<Policy> {
    let file = |(name, text): &(&str, &str)| PolicyFile {
        name: format!("p/{name}").into(),
        relative: (*name).into(),
        text: (*text).into(),
        named: false,
    };
    let files: Vec<PolicyFile> = files.iter().map(file).collect();
    let loaded = Policy::load(&files, None);
    loaded.policy.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

pub fn policy() -> Arc<Policy> {
    version(&[("refund.yaml", REFUND), ("rules.yaml", RULES)])
}

/// A check of order 1, then refunds of orders 2 and 1.
pub const SESSION: &str = r#"session:
  tools: [{name: check}, {name: refund}]
  messages:
    - {role: assistant, tool_calls: [{name: check, arguments: {id: 1}}]}
    - {role: tool, content: {ok: true}}
    - {role: assistant, tool_calls: [{name: refund, arguments: {id: 2}}, {name: refund, arguments: {id: 1.0}}]}
    - {role: tool, content: paid}
    - {role: tool, content: paid}
"#;

/// A case file that expects this.
pub fn text(expect: &str) -> String {
    format!("policy: .\n{SESSION}expect:\n{expect}\n")
}

pub fn cases(name: &str, text: &str) -> Vec<Case> {
    let Cases { cases, diagnostics, .. } = read(&Source::new(name, text), true);
    assert!(!cases.is_empty(), "{diagnostics:#?}\n{text}");
    cases
}

pub fn session(case: &Case) -> &Arc<Session> {
    match &case.session {
        CaseSession::Inline(session) => session,
        CaseSession::InFile { .. } => panic!("the session is in a file"),
    }
}

pub fn judged(case: &Case, policy: &Arc<Policy>) -> CaseResult {
    let policy = judge::version(case, policy).unwrap();
    judge::judge(case, session(case), &policy)
}

/// `KEY: GOT` for everything that is not as expected.
fn unmet(expect: &str) -> Vec<String> {
    unmet_in(&text(expect), &policy())
}

fn unmet_in(text: &str, policy: &Arc<Policy>) -> Vec<String> {
    let cases = cases("a.case.yaml", text);
    let judged = judged(&cases[0], policy);
    let unmet = judged.answers.iter().filter(|answer| !answer.met).map(|answer| {
        let want = &cases[0].expect[answer.expectation].wants[answer.want];
        let got = match &answer.got {
            judge::Actual::Fact(Fact::Nothing) => "nothing".to_owned(),
            judge::Actual::Fact(Fact::Word(word)) => word.to_string(),
            judge::Actual::Fact(Fact::Number(number)) => number.to_string(),
            judge::Actual::Fact(Fact::Words(words)) => {
                words.iter().map(|word| &**word).collect::<Vec<_>>().join(" ")
            }
            other => format!("{other:?}"),
        };
        format!("{}: {got}", want.aspect.key())
    });
    unmet.collect()
}

#[test]
fn everything_that_can_be_expected_is_met_where_it_holds() {
    let expect = "
  - {call: 2.1, tool: refund, decision: deny, code: resource_unmatched, rule: refund.yaml#/preconditions/0}
  - {turn: 2, call: 1, rule: '#/preconditions/0', told: '[permission denied: resource_unmatched]', reason: null}
  - {index: 1, rule: p/refund.yaml#/preconditions/0, findings: [resource_unmatched]}
  - {call: '2.2', decision: allow, code: null, rule: ~, told:, findings: []}
  - {turn: 1, visible: [check], hidden: [refund], forbidden: [], tools: {refund: hidden, check: visible}}
  - {turn: 1, tools: {refund: prior_tool_missing}}
  - {turn: 2, visible: [refund, check]}
  - {rule: rules.yaml#/rules/0, outcome: violated, code: required_missing}
  - {rule: '#/rules/1', outcome: held, code: null}
  - status: stopped
    summary: {turns: 2, calls: 3, allow: 2, deny: 1, halt: 0, not_reached: 0, deny_counterfactual: 0, disagree: 1}";
    assert_eq!(unmet(expect), Vec::<String>::new());
}

#[test]
fn what_does_not_hold_is_told_with_what_came() {
    let cases = [
        ("{call: 2.1, decision: allow}", "decision: deny"),
        ("{call: 2.1, tool: check}", "tool: refund"),
        ("{call: 2.1, code: forbidden}", "code: resource_unmatched"),
        ("{call: 2.1, code: null}", "code: resource_unmatched"),
        ("{call: 2.1, rule: '#/preconditions/1'}", "rule: refund.yaml#/preconditions/0"),
        ("{call: 2.1, rule: fund.yaml#/preconditions/0}", "rule: refund.yaml#/preconditions/0"),
        ("{call: 2.1, told: no}", "told: [permission denied: resource_unmatched]"),
        ("{call: 2.1, findings: []}", "findings: resource_unmatched"),
        ("{call: 2.2, code: forbidden}", "code: nothing"),
        ("{call: 2.3, decision: allow}", "decision: NoCall"),
        ("{call: 9.1, decision: allow}", "decision: NoCall"),
        ("{index: 3, decision: allow}", "decision: NoCall"),
        ("{turn: 1, visible: [refund]}", "visible: check"),
        ("{turn: 1, hidden: []}", "hidden: refund"),
        ("{turn: 1, forbidden: [refund]}", "forbidden: "),
        ("{turn: 1, tools: {refund: visible}}", "refund: prior_tool_missing"),
        ("{turn: 1, tools: {refund: forbidden}}", "refund: prior_tool_missing"),
        ("{turn: 1, tools: {check: hidden}}", "check: visible"),
        ("{turn: 1, tools: {close: hidden}}", "close: NotOffered"),
        ("{turn: 3, visible: []}", "visible: NoTurn"),
        ("{rule: '#/rules/0', outcome: held}", "outcome: violated"),
        ("{rule: '#/rules/7', outcome: held}", "outcome: Rules(0)"),
        ("{rule: '#/preconditions/0', outcome: held}", "outcome: Rules(0)"),
        ("{status: pass}", "status: stopped"),
        ("{summary: {deny: 2}}", "deny: 1"),
    ];
    for (expect, told) in cases {
        assert_eq!(unmet(&format!("  {expect}")), [told], "{expect}");
    }
}

/// Exported, paid twice unchecked, mailed and looked: one allowed, two denied, one halted, one not reached.
const ENDED: &str = r"session:
  - {role: assistant, tool_calls: [{name: export, arguments: {}}]}
  - {role: tool, content: done}
  - {role: assistant, tool_calls: [{name: pay, arguments: {}}]}
  - {role: tool, content: paid}
  - {role: assistant, tool_calls: [{name: pay, arguments: {}}]}
  - {role: tool, content: paid}
  - {role: assistant, tool_calls: [{name: mail, arguments: {}}]}
  - {role: tool, content: sent}
  - {role: assistant, tool_calls: [{name: look, arguments: {}}]}
";

#[test]
fn every_count_and_the_reason_of_a_rule_are_compared() {
    let desk = "forbidden:\n  - {sequence: [export, mail], action: halt, reason: 'security:exfiltration', tellLLM: no}\n";
    let pay = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";
    let policy = version(&[("desk.yaml", desk), ("pay.yaml", pay)]);
    let unmet = |expect: &str| unmet_in(&format!("policy: .\n{ENDED}expect:\n  {expect}\n"), &policy);
    for (count, number) in [
        ("turns", 5),
        ("calls", 5),
        ("allow", 1),
        ("deny", 2),
        ("halt", 1),
        ("not_reached", 1),
        ("deny_counterfactual", 2),
        ("disagree", 4),
    ] {
        assert_eq!(unmet(&format!("{{summary: {{{count}: {number}}}}}")), Vec::<String>::new(), "{count}");
        assert_eq!(
            unmet(&format!("{{summary: {{{count}: {}}}}}", number + 1)),
            [format!("{count}: {number}")]
        );
    }
    assert_eq!(unmet("{call: 4.1, reason: 'security:exfiltration'}"), Vec::<String>::new());
    assert_eq!(unmet("{call: 4.1, reason: 'security'}"), ["reason: security:exfiltration"]);
    assert_eq!(unmet("{call: 4.1, reason: null}"), ["reason: security:exfiltration"]);
    assert_eq!(unmet("{call: 2.1, reason: 'security'}"), ["reason: nothing"]);
}

#[test]
fn mistakes_are_told_at_their_places() {
    let said = |text: &str| -> Vec<String> {
        let read = read(&Source::new("a.case.yaml", text), true);
        assert!(read.cases.is_empty(), "{text}");
        read.diagnostics.iter().map(ToString::to_string).collect()
    };
    let cases = [
        (
            "{call: 2, decision: deny}",
            "8:10: error[bad_value]: a call is named by its turn and its place in it, each from 1",
        ),
        (
            "{call: 0.1, decision: deny}",
            "8:10: error[bad_value]: a call is named by its turn and its place in it, each from 1",
        ),
        ("{turn: 0, visible: []}", "8:10: error[bad_value]: turns and calls are counted from 1"),
        ("{call: 1.1}", "8:3: error[missing_key]: the expectation is empty"),
        ("{}", "8:3: error[missing_key]: the expectation is empty"),
        ("[]", "8:3: error[bad_value]: the case expects nothing, so it tests nothing"),
        (
            "{call: 1.1, decison: deny, tool: x}",
            "8:15: error[unknown_key]: unknown key `decison`, did you mean `decision`?",
        ),
        ("{decision: deny}", "7:1: error[missing_key]: the key `call` is missing"),
        ("{visible: []}", "7:1: error[missing_key]: the key `turn` is missing"),
        (
            "{call: 1.1, decision: denied}",
            "8:25: error[bad_value]: `decision`: expected `allow`, `ask`, `deny`, `halt` or `not_reached`, found `denied`",
        ),
        (
            "{call: 1.1, code: resource_unmached}",
            "8:21: error[bad_value]: no rule gives the code `resource_unmached`",
        ),
        ("{call: 1.1, code: missing_file}", "8:21: error[bad_value]: no rule gives the code `missing_file`"),
        ("{turn: 1, tools: {refund: hiden}}", "8:29: error[bad_value]: no rule gives the code `hiden`"),
        ("{outcome: held}", "7:1: error[missing_key]: the key `rule` is missing"),
        (
            "{rule: a, status: fail}",
            "8:10: error[bad_value]: `status` and `summary` are those of the whole session",
        ),
        (
            "{rule: a, summary: {calls: 1}}",
            "8:10: error[bad_value]: `status` and `summary` are those of the whole session",
        ),
        ("{rule: a}", "8:3: error[missing_key]: the expectation is empty"),
        ("{summary: {denied: 1}, status: pass}", "8:14: error[unknown_key]: unknown key `denied`"),
        ("{call: 1.1, told: 7}", "8:21: error[wrong_type]: expected text for `told`, found a number"),
    ];
    // One line of messages, so that what is expected stands on the eighth.
    let before = "name: x\npolicy: .\nmode: enforce\ndescription: y\nsession:\n  - {role: user, content: hello}\nexpect:\n";
    for (expect, told) in cases {
        assert_eq!(said(&format!("{before}  {expect}\n")), [format!("a.case.yaml:{told}")], "{expect}");
    }
    let whole = [
        (
            "polcy: .\nsession: [{role: user, content: x}]\nexpect: {status: pass}\n",
            vec![
                "1:1: error[missing_key]: the key `policy` is missing",
                "1:1: error[unknown_key]: unknown key `polcy`, did you mean `policy`?",
            ],
        ),
        (
            "policy: []\nsession: {file: a.json, od: 1}\nexpect: {status: pass}\n",
            vec!["1:9: error[bad_value]: no policy is named", "2:25: error[unknown_key]: unknown key `od`"],
        ),
        (
            "policy: git:HEAD\nsession: []\nexpect: {status: pass}\n",
            vec![
                "1:9: error[bad_value]: a case refers to files and folders by their paths, not to `git:HEAD`",
                "2:10: error[bad_value]: the session has no message",
            ],
        ),
        (
            "policy: .\nsession: {messages: [], contxt: {}}\nexpect: {status: pass}\n",
            vec![
                "2:25: error[unknown_key]: unknown key `contxt`, did you mean `context`?",
                "2:10: error[bad_value]: the session has no message",
            ],
        ),
        (
            "policy: .\nsession: {mesages: []}\nexpect: {status: pass}\n",
            vec![
                "2:1: error[missing_key]: the key `messages` is missing",
                "2:11: error[unknown_key]: unknown key `mesages`, did you mean `messages`?",
            ],
        ),
        ("policy: .\nsession: hello: there\n", vec!["2:15: error[syntax]"]),
        ("milk: 2\n", vec!["error[not_a_case]: the file holds no case"]),
    ];
    for (text, told) in whole {
        let said: Vec<String> = said(text).into_iter().filter(|told| !told.contains("notice[")).collect();
        assert_eq!(said.len(), told.len(), "{said:#?}");
        for (said, told) in said.iter().zip(told) {
            assert!(said.contains(told), "{said}\n{told}");
        }
    }
}

/// A misspelt key of a message or a call would be a fact that nobody knows of.
#[test]
fn a_misspelt_key_of_a_session_is_an_error() {
    let read = |session: &str| {
        let text = format!("policy: .\nsession:\n{session}\nexpect: {{status: pass}}\n");
        let read = read(&Source::new("a.case.yaml", text), true);
        let told: Vec<String> = read.diagnostics.iter().map(ToString::to_string).collect();
        (read.cases.len(), told.into_iter().filter(|told| !told.contains("notice[")).collect::<Vec<_>>())
    };
    for (session, key, meant) in [
        ("  - {role: assistant, tool_calls: [{name: a, argumnts: {b: 1}}]}", "argumnts", "arguments"),
        (
            "  - {role: assistant, tool_calls: [{function: {name: a, argument: '{}'}}]}",
            "argument",
            "arguments",
        ),
        ("  - {role: assistant, toolcalls: [{name: a}]}", "toolcalls", "tool_calls"),
        ("  - {role: user, contnt: x}", "contnt", "content"),
        ("  - {role: tool, content: x, is_eror: true}", "is_eror", "is_error"),
        ("  {fils: [a], messages: [{role: user, content: x}]}", "fils", "files"),
        ("  - {role: assistant, content: x, alternatives: [{tool_calls: [{nam: a}]}]}", "nam", "name"),
    ] {
        let (cases, told) = read(session);
        let expected = format!("error[unknown_key]: unknown key `{key}`, did you mean `{meant}`?");
        assert!(cases == 0 && told.iter().any(|told| told.ends_with(&expected)), "{session}: {told:#?}");
    }
    // What a program writes besides is no mistake; anything else is worth a word.
    let (cases, told) = read("  - {role: user, content: x, type: message, usage: {in: 1}}");
    assert_eq!((cases, told.len()), (1, 0), "{told:#?}");
    let (cases, told) = read("  - {role: user, content: x, flavour: mint}");
    assert!(cases == 1 && told.len() == 1 && told[0].contains("warning[unknown_key]"), "{told:#?}");
}

#[test]
fn a_session_keeps_its_digits_and_its_lines() {
    let text = "policy: .\nsession:\n  now: 2026-05-04T10:00:00Z\n  context: {limit: 0.10000000000000000000000001}\n  messages:\n\n    - role: user\n      content: hi\n    # a call\n    - role: assistant\n      tool_calls:\n        - {name: pay, arguments: {amount: 9007199254740993, rate: 1.50}}\n    - role: tool\n      content: [oops\n]\nexpect: {status: pass}\n";
    let case = &cases("a.case.yaml", text)[0];
    let session = session(case);
    assert_eq!(
        session.calls[0].arguments.raw(),
        r#"{"amount":9007199254740993,"rate":1.50}"#.replace(' ', "")
    );
    assert_eq!(
        session.facts.context.as_ref().unwrap().to_string(),
        r#"{"limit":0.10000000000000000000000001}"#
    );
    assert_eq!(session.messages.iter().map(|message| message.line).collect::<Vec<_>>(), [7, 10, 13]);
    assert_eq!((&*session.id, &*session.origin.file), ("a.case", "a.case.yaml"));
}

#[test]
fn a_file_holds_several_cases_and_other_documents() {
    let text = format!(
        "{}---\ntool: x\n---\nname: other\nmode: shadow\npolicy: .\n{SESSION}expect: {{status: fail}}\n",
        text("  {status: stopped}")
    );
    let cases = cases("a.case.yaml", &text);
    let seen: Vec<_> = cases.iter().map(|case| (case.title(), case.index, case.mode, case.line())).collect();
    assert_eq!(seen, [("a".to_owned(), 0, Mode::Enforce, 1), ("other".to_owned(), 2, Mode::Shadow, 15)]);
    for case in &cases {
        assert!(judged(case, &policy()).passes());
    }
}

#[test]
fn cases_are_no_part_of_a_version() {
    let alone = version(&[("refund.yaml", REFUND)]);
    let case = text("  {status: stopped}");
    let files = [("refund.yaml", REFUND), ("refund.case.yaml", case.as_str())];
    let beside = version(&files);
    assert_eq!(beside.digest(), alone.digest());
    let file = |(name, text): (&str, &str), named| PolicyFile {
        name: name.into(),
        relative: name.into(),
        text: text.into(),
        named,
    };
    let loaded = Policy::load(&[file(files[0], false), file(files[1], false)], None);
    assert_eq!((loaded.cases.len(), loaded.diagnostics.len()), (1, 0));
    // Named itself, it should be a policy, and is none.
    let loaded = Policy::load(&[file(files[1], true)], None);
    assert!(loaded.policy.is_none());
    assert_eq!(loaded.diagnostics[0].message, "this is a case, not a policy");
    // A policy in one file with a case still counts.
    let mixed = format!("{REFUND}---\n{case}");
    let loaded = Policy::load(&[file(("mixed.yaml", &mixed), false)], None);
    assert_eq!(loaded.policy.unwrap().documents().len(), 1);
    // A broken case is told when it is run; what cannot be read behind one might have been a policy.
    let broken = "policy: .\nexpect: {call: 1.1\n";
    assert!(Policy::load(&[file(files[0], false), file(("b.yaml", broken), false)], None).policy.is_some());
    let hidden = format!("{case}---\ntool: [x\n---\na: b\n");
    assert!(Policy::load(&[file(("b.yaml", &hidden), false)], None).policy.is_none());
}

#[test]
fn hostile_texts_are_survived() {
    let deep = "[".repeat(5000);
    let texts = [
        format!("policy: .\nsession: {deep}\nexpect: {deep}\n"),
        "policy: .\nsession: &a [*a]\nexpect: [*a]\n".to_owned(),
        format!("policy: {}\nsession: x\nexpect: {{call: {}.1, decision: deny}}\n", "../".repeat(9000), "9".repeat(400)),
        "policy: .\nsession: [{role: assistant, tool_calls: [{name: x, arguments: {\"$serde_json::private::Number\": \"1\"}}]}]\nexpect: {call: 1.1, decision: allow}\n".to_owned(),
        "policy: \"\\u001b[31m\"\nsession: {messages: {}}\nexpect: {status: \"\\u202e\"}\n".to_owned(),
        "{\"policy\": \".\", \"session\": [{\"role\": \"user\"}], \"expect\": {\"summary\": {\"deny\": 1e999}}}".to_owned(),
    ];
    for text in &texts {
        for name in ["a.case.yaml", "a.case.json"] {
            let read = read(&Source::new(name, text.as_str()), true);
            for case in &read.cases {
                if let CaseSession::Inline(_) = case.session {
                    judged(case, &policy());
                }
            }
        }
    }
}
