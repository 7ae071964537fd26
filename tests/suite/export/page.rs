//! The page of `report`.

use std::collections::BTreeSet;

use html5gum::{Token, Tokenizer};
use insta::assert_snapshot;
use rstest::rstest;
use serde_json::{Value, json};

use super::HOSTILE;
use crate::cli::{ISSUE_REFUND, REFUND_124, folder, rulestep, run};

/// What a page may be made of. There is nothing among it that runs, loads, posts or leads away.
const ELEMENTS: &str = "html head meta title style body header main footer section h1 h2 h3 p strong span code pre br a ul ol \
                        li details summary dl dt dd div table caption thead tbody tr th td";
const ATTRIBUTES: &str = "lang charset http-equiv content name class id href scope open";
const VOID: [&str; 2] = ["meta", "br"];

/// Reads a page as a browser does; gives the text of it. Every element is one that a page is made of, and is closed where it
/// has to be.
fn read(page: &str) -> String {
    let (elements, attributes): (BTreeSet<&str>, BTreeSet<&str>) =
        (ELEMENTS.split_whitespace().collect(), ATTRIBUTES.split_whitespace().collect());
    let (mut open, mut text, mut ids, mut links) =
        (Vec::new(), String::new(), BTreeSet::new(), BTreeSet::new());
    for token in Tokenizer::new(page) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = String::from_utf8(tag.name.0).unwrap();
                assert!(elements.contains(&*name), "<{name}> in {page}");
                for (key, value) in tag.attributes {
                    let (key, value) =
                        (String::from_utf8(key.0).unwrap(), String::from_utf8(value.value.0).unwrap());
                    assert!(attributes.contains(&*key), "{key}={value:?} on <{name}>");
                    match &*key {
                        "id" => assert!(ids.insert(value.clone()), "two elements are {value}"),
                        "href" => drop(links.insert(value.strip_prefix('#').unwrap().to_owned())),
                        _ => {}
                    }
                }
                if !VOID.contains(&&*name) {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                let name = String::from_utf8(tag.name.0).unwrap();
                assert_eq!(open.pop().as_ref(), Some(&name), "</{name}> closes something else");
            }
            Token::String(part) => {
                if open.last().is_some_and(|name| name != "style") {
                    text.push_str(std::str::from_utf8(&part).unwrap());
                }
            }
            Token::Doctype(doctype) => assert_eq!(&doctype.name[..], b"html"),
            Token::Comment(_) => panic!("a comment"),
            Token::Error(error) => panic!("{error:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    assert!(links.is_subset(&ids), "{:?} lead nowhere", links.difference(&ids));
    text
}

fn page(files: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = rulestep(folder(files).path(), arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_session_is_one_page_that_says_why_a_call_was_stopped() {
    let files = [("contracts/refund.yaml", ISSUE_REFUND), ("s.json", REFUND_124)];
    let page = page(&files, &["report", "s.json"]);
    let text = read(&page);
    for part in [
        "1 call stopped in 1 session",
        "Eligibility must be checked for the same order",
        "contracts/refund.yaml:3",
        "✗ denied",
        "check_eligibility ran for order_id \"ORD-123\", not \"ORD-124\"",
        "requires_prior_tool: check_eligibility",
        "in an earlier turn, call check_eligibility for order_id \"ORD-124\"",
        "[permission denied: resource_unmatched]",
        "Please refund ORD-124",
        "Repeat this replay: rulestep replay s.json",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // What is above the fold: nothing else comes before the first stopped call.
    let first = page.find("<details class=\"finding\" open").unwrap();
    let main = &page[page.find("<main>").unwrap()..first];
    assert_snapshot!(main);
}

#[test]
fn recorded_text_and_policies_stay_text() {
    for (nth, text) in HOSTILE.into_iter().enumerate() {
        let arguments = json!({ text: text, "order_id": text }).to_string();
        let call =
            |id: &str, tool: &str| json!({"id": id, "function": {"name": tool, "arguments": arguments}});
        let session = json!({"id": format!("{text}{nth}"), "context": {"project": text}, "messages": [
            {"role": text, "content": text},
            {"role": "assistant", "content": text, "tool_calls": [call("a", "issue_refund"), call("b", text)]},
            {"role": "tool", "tool_call_id": "a", "content": text, "is_error": true},
            {"role": "tool", "tool_call_id": "nobody's", "content": text},
        ]});
        let policy = json!([{"tool": "issue_refund", "preconditions": [{"requires_prior_tool": "check", "description": text}]}]);
        let policy: String = policy.as_array().unwrap().iter().map(Value::to_string).collect();
        let files = [("contracts/p.yaml", &*policy), ("s.json", &session.to_string())];
        let page = page(&files, &["report", "s.json"]);
        let shown = read(&page);
        assert!(shown.contains("1 call stopped"), "{shown}");
        let hidden = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{200b}\u{2066}".contains(c);
        assert!(!page.contains(hidden), "{text:?}");
        // The text is there, as what it is.
        if text.starts_with("<script>") {
            assert!(shown.contains(text), "{shown}");
            assert!(!page.contains("<script"), "{page}");
        }
    }
}

/// One refund without a check, which is stopped, and a session that no rule minds.
fn refund(id: u32, stopped: bool) -> String {
    let tool = if stopped { "issue_refund" } else { "check_eligibility" };
    let call = json!({"id": "c", "function": {"name": tool, "arguments": format!("{{\"order_id\": \"ORD-{id}\"}}")}});
    json!({"id": format!("s-{id}"), "messages": [{"role": "assistant", "tool_calls": [call]}]}).to_string()
}

#[test]
fn many_sessions_make_a_page_of_bounded_size_that_says_what_it_leaves_out() {
    let sessions: String = (0..1200).map(|id| refund(id, id < 600) + "\n").collect();
    let files = [("contracts/refund.yaml", ISSUE_REFUND), ("s.jsonl", &*sessions)];
    let page = page(&files, &["report", "s.jsonl"]);
    let text = read(&page);
    for part in [
        "600 calls stopped in 1,200 sessions",
        "590 more findings of this rule are not shown here.",
        "This command lists all: rulestep replay s.jsonl --full",
        "Sessions with findings: 600",
        "100 more sessions not shown here.",
    ] {
        assert!(text.contains(part), "{part} is not in the page");
    }
    assert_eq!(page.matches("<details class=\"finding\"").count(), 10);
    assert!(page.len() < 1 << 20, "{} bytes", page.len());

    // One session with much in it, of which most is folded or left out.
    let call =
        |id: u32| json!({"id": format!("c{id}"), "function": {"name": "issue_refund", "arguments": "{}"}});
    let messages: Vec<Value> = (0..3000)
        .map(|id| json!({"role": "assistant", "content": "<".repeat(5_000), "tool_calls": [call(id)]}))
        .collect();
    let session = json!({"id": "long", "messages": messages}).to_string();
    let page =
        self::page(&[("contracts/refund.yaml", ISSUE_REFUND), ("s.json", &session)], &["report", "s.json"]);
    let text = read(&page);
    assert!(text.contains("rows of this session left out, as the page would become too large."));
    assert!(page.len() < 10 << 20, "{} bytes", page.len());
}

#[test]
fn the_same_input_makes_the_same_bytes() {
    let one = page(&[], &["report", "--samples", "--jobs", "1"]);
    let four = page(&[], &["report", "--samples", "--jobs", "4"]);
    assert!(one == four && one.len() > 10_000);
    read(&one);
}

#[rstest]
#[case::nothing_stopped(&refund(1, false), ISSUE_REFUND, "No call was stopped, and no session rule is violated.")]
#[case::stopped(&refund(1, true), ISSUE_REFUND, "1 call stopped in 1 session")]
#[case::no_rule_is_asked(&refund(1, false), "tool: other\nforbids_after: [other]\n", "No rule was checked for any call")]
#[case::half_read(
    "{\"id\": \"a\", \"messages\": [{\"role\": \"assistant\"}, 5]}",
    ISSUE_REFUND,
    "This report is incomplete"
)]
#[case::nothing_read("nothing", ISSUE_REFUND, "Nothing was judged")]
#[case::no_policy(&refund(1, true), "tool: [\n", "Nothing was judged")]
fn it_ends_as_a_replay_does_and_says_so(#[case] session: &str, #[case] policy: &str, #[case] says: &str) {
    let folder = folder(&[("contracts/p.yaml", policy), ("s.json", session)]);
    let code = |arguments: &[&str]| rulestep(folder.path(), arguments).output().unwrap().status.code();
    let wanted = code(&["replay", "s.json"]);
    assert_eq!(code(&["report", "s.json", "-o", "out/page.html"]), wanted);
    let page = std::fs::read_to_string(folder.path().join("out/page.html")).unwrap();
    let text = read(&page);
    assert!(text.contains(says), "{says} is not in\n{text}");
    assert_eq!(code(&["replay", "s.json", "--report", "html=again.html"]), wanted);
    assert_eq!(std::fs::read_to_string(folder.path().join("again.html")).unwrap(), page);
}

/// However many warnings come first: what is wrong with a file that could not be read is in the page.
#[test]
fn warnings_crowd_out_no_error() {
    let call = json!({"id": "a", "function": {"name": "note", "arguments": "{\"text\": "}});
    let warned = json!({"messages": [{"role": "assistant", "tool_calls": [call]}]}).to_string();
    let names: Vec<String> = (0..150).map(|nth| format!("s/{nth:03}.json")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*warned)).collect();
    files.extend([
        ("contracts/p.yaml", ISSUE_REFUND),
        ("s/run.json", REFUND_124),
        ("s/z.json", "{\"messages\": ["),
    ]);
    let page = page(&files, &["report", "s"]);
    let text = read(&page);
    let errors = page.find("error[damaged_line]").unwrap();
    assert!(
        page.find("id=\"problems\"").unwrap() < errors && errors < page.find("warning[").unwrap(),
        "{text}"
    );
    for part in ["1 error in recordings", "s/z.json", "50 more warnings not shown here."] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// Two sessions violate a rule, and one call is stopped: the call comes first.
#[test]
fn a_stopped_call_comes_before_session_rules_and_a_long_reason_is_short_and_whole() {
    let pattern = format!("^({}last)$", "some_long_name|".repeat(20));
    let rules = json!({"rules": [{"type": "after", "trigger": "check_eligibility", "within": 9,
        "then": {"tool": "confirm", "args_match": {"name": pattern}}, "description": "Checks are confirmed"}]});
    let sessions = [refund(1, false), refund(2, false), refund(3, true)].join("\n");
    let files = [
        ("contracts/a.yaml", &*rules.to_string()),
        ("contracts/b.yaml", ISSUE_REFUND),
        ("s.jsonl", &*sessions),
    ];
    let page = page(&files, &["report", "s.jsonl"]);
    let text = read(&page);
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part} is not in\n{text}"));
    assert!(place("1 call stopped, 2 session rules violated in 3 sessions") < place("✗ denied"), "{text}");
    assert!(place("✗ denied") < place("✗ violated"), "{text}");
    let why = &page[place("✗ violated")..];
    let headline = &why[why.find("<span class=\"why\">").unwrap()..why.find("Expected").unwrap()];
    assert!(headline.len() < 300 && headline.contains('…'), "{headline}");
    assert!(why[why.find("Why, in full").unwrap()..].contains(&pattern), "{text}");
}

#[test]
fn a_file_that_is_read_is_not_written_over() {
    let folder = folder(&[("contracts/p.yaml", ISSUE_REFUND), ("s/s.json", REFUND_124)]);
    for arguments in [["report", "s", "-o", "s/../s/s.json"], ["replay", "s", "--report", "html=s/s.json"]] {
        let seen = run(&folder, &arguments);
        assert!(
            seen.contains("exit 2") && seen.contains("`s/s.json` would be overwritten while it is read"),
            "{seen}"
        );
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("s/s.json")).unwrap(), REFUND_124);
}

#[test]
fn a_name_that_ends_in_md_asks_for_markdown() {
    let folder = folder(&[("contracts/refund.yaml", ISSUE_REFUND), ("s.json", REFUND_124)]);
    let seen = run(&folder, &["report", "s.json", "-o", "t.md"]);
    assert!(seen.starts_with("exit 1"), "{seen}");
    assert_snapshot!(std::fs::read_to_string(folder.path().join("t.md")).unwrap());
}

/// The recordings of everybody, where they are.
#[test]
fn every_recording_makes_a_page() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/traces");
    if !std::path::Path::new(traces).exists() {
        return crate::skipped::skipped("no recordings beside the project");
    }
    let page = page(&[("contracts/refund.yaml", ISSUE_REFUND)], &["report", traces]);
    assert!(read(&page).contains("Sessions"));
    assert!(page.len() < 20 << 20, "{} bytes", page.len());
}
