//! Expressions that are tried on what was recorded: what is found, what does not load and where, and what it may cost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rulestep::tester::{Answer, Language, State, Subject, test};
use rulestep_base::session::{Body, Session};
use rulestep_recording::{self as recording, Options};
use serde_json::json;

const COMMAND: &str = "cd src && git -C . push --force origin main; cat $FILE";

fn session() -> Arc<Session> {
    let call = |id: &str, tool: &str, arguments: serde_json::Value| {
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
            "function": {"name": tool, "arguments": arguments.to_string()}}]})
    };
    let result = |id: &str, content: &str| json!({"role": "tool", "tool_call_id": id, "content": content});
    let text = json!({"session_id": "s", "messages": [
        {"role": "user", "content": "Grüße, please book it. Yes, book it"},
        call("1", "check", json!({"order": {"id": "ORD-1", "a b": [1, 2, 2]}})),
        result("1", r#"{"eligible": true, "items": [{"id": "x"}, {"id": "y"}]}"#),
        call("2", "Bash", json!({"command": COMMAND, "timeout": 10})),
        result("2", "done"),
    ]})
    .to_string();
    let bytes = std::io::Cursor::new(text.into_bytes());
    let mut reading = recording::open("s.json", Box::new(bytes), &Options::default()).unwrap();
    Arc::new(reading.next().unwrap())
}

/// The session's first message, and the arguments and the result of its calls.
fn subject(what: &str) -> Subject {
    let session = session();
    let (check, bash) = (&session.calls[0], &session.calls[1]);
    let (body, call) = match what {
        "said" => (&session.messages[0].content, 0),
        "arguments" => (&check.arguments, 0),
        "result" => (&check.output, 0),
        "command" => (&bash.arguments, 1),
        _ => (&bash.output, 1),
    };
    let is_arguments = matches!(what, "arguments" | "command");
    let (body, call) = (body.clone(), Some(call));
    Subject { value: body.clone(), body, is_arguments, call, session: Arc::clone(&session) }
}

fn shown(answer: &Answer) -> Vec<String> {
    let part = |part: &rulestep::tester::Part| {
        let found: Vec<&str> = part.found.iter().map(|range| &part.text[range.clone()]).collect();
        if found.is_empty() {
            format!("{}={}", part.label, part.text)
        } else {
            format!("{}~{}", part.label, found.join("|"))
        }
    };
    answer.parts.iter().map(part).collect()
}

#[test]
fn each_language_finds_what_its_rules_find() {
    use Language::{Call, JavaScript, JsonPath, Liquid, Rust};
    use State::{Match, NoMatch, Unsure};
    let cases: &[(Language, &str, &str, State, &[&str])] = &[
        (JsonPath, "result", "$.eligible", Match, &["$.eligible=true"]),
        (
            JsonPath,
            "result",
            "$.items[*].id",
            Match,
            &["$['items'][0]['id']=\"x\"", "$['items'][1]['id']=\"y\""],
        ),
        (JsonPath, "arguments", "$.order['a b'][-1]", Match, &["$.order['a b'][-1]=2"]),
        (JsonPath, "result", "$.eligble", NoMatch, &[]),
        // Of a result that is no JSON, rules see one text; of such arguments, nothing.
        (JsonPath, "done", "$", Match, &["$=\"done\""]),
        (JsonPath, "done", "$.a", NoMatch, &[]),
        (JavaScript, "said", "book", Match, &["1~book|book"]),
        (JavaScript, "said", r"(?i)\byes\b|ü", Match, &["1~ü|Yes"]),
        (JavaScript, "said", "(?<=please )book", Match, &["1~book"]),
        (JavaScript, "said", "never", NoMatch, &[]),
        (Rust, "command", r"git.*push", Match, &["command:1~git -C . push"]),
        // Numbers are searched as they are written in JSON.
        (Rust, "command", r"^10$", Match, &["timeout:1~10"]),
        (Rust, "command", "rm", NoMatch, &[]),
        (Rust, "said", r"\p{Lu}", Match, &["1~G|Y"]),
        (Liquid, "arguments", "{{ messages.size == 1 }}", Match, &["1=true"]),
        (Liquid, "arguments", "{{ messages.size == 2 }}", NoMatch, &["1=false"]),
        (Liquid, "command", "{{ messages.size == 3 and messages[2].role == 'tool' }}", Match, &["1=true"]),
        (
            Liquid,
            "command",
            "{% if messages.size > 0 %}{{ messages | size }}{% else %}false{% endif %}",
            Unsure,
            &["1=3"],
        ),
        (
            Call,
            "command",
            "runs: {program: git, args: [push], flags: [f]}",
            Match,
            &["no=cd src", "yes~git -C . push --force origin main", "no=cat $FILE"],
        ),
        (Call, "command", "{runs: {program: git, args: [pull]}}", NoMatch, &[]),
        (Call, "command", "reads: '.env*'", Unsure, &[]),
        (Call, "command", "reaches: '*'", Match, &[]),
        (Call, "command", "agent: main", Match, &[]),
        (Call, "command", "agent: sub", NoMatch, &[]),
        // As rules read it: lists of programs and of questions, and hosts that are left out.
        (
            Call,
            "command",
            "runs: [{program: [hg, svn], args: [push]}, {program: [git, jj], args: [[pull, push]]}]",
            Match,
            &["no=cd src", "yes~git -C . push --force origin main", "no=cat $FILE"],
        ),
        (Call, "command", "{except: [localhost]}", Unsure, &[]),
        // What a tool without a command does is asked like any other call.
        (Call, "result", "ended: ok", Match, &["yes~check"]),
        (Call, "result", "reaches: '*'", Unsure, &[]),
        (Call, "result", "runs: {program: git}", NoMatch, &["no=check"]),
    ];
    for (language, what, expression, state, parts) in cases {
        let answer = test(*language, expression, &subject(what));
        let found = shown(&answer);
        assert_eq!(answer.state, *state, "{expression}: {answer:?}");
        assert!(parts.is_empty() || found == *parts, "{expression}: {found:?}");
    }
}

#[test]
fn what_does_not_load_is_refused_at_its_place() {
    use Language::{Call, JavaScript, JsonPath, Liquid, Rust};
    let cases = [
        (JsonPath, "eligible", Some(0)),
        (JsonPath, "$.a[", Some(4)),
        (JsonPath, "$.ä.b[?", Some(8)),
        (JsonPath, "$.a ", Some(3)),
        (JavaScript, "a(b", Some(1)),
        (JavaScript, "ü[z-a]", Some(3)),
        (Rust, "ab(c", Some(2)),
        (Rust, r"a\q", Some(1)),
        (Rust, "(?=a)", Some(0)),
        (Liquid, "{{ a | nope }}", Some(7)),
        (Liquid, "{% if %}", None),
        (Call, "runs: {prgram: git}", None),
        (Call, "runs: [git", None),
        (Call, "runs: {program: /bin/git}", None),
        (Call, "reads: []", None),
        (Call, "reach: '*'", None),
        (Call, "ended: soon", Some(7)),
        (Call, "{}", Some(0)),
    ];
    for (language, expression, place) in cases {
        let what = if language == Call { "command" } else { "result" };
        let answer = test(language, expression, &subject(what));
        assert_eq!(answer.state, State::Refused, "{expression}: {answer:?}");
        assert!(answer.parts.is_empty() && !answer.sentence.contains('\n'), "{expression}: {answer:?}");
        assert!(place.is_none() || answer.fault == place, "{expression}: {answer:?}");
        assert!(answer.fault.is_none_or(|at| expression.is_char_boundary(at)), "{expression}: {answer:?}");
    }
    for language in Language::ALL {
        assert_eq!(test(language, "", &subject("result")).state, State::Refused);
    }
    let nothing = Subject { call: None, ..subject("said") };
    assert_eq!(test(Call, "ended: ok", &nothing).state, State::Refused);
}

/// The text that the language sees, of this length.
fn long(text: &str, bytes: usize) -> Subject {
    let body = Body::text(text.repeat(bytes / text.len()));
    Subject { value: body.clone(), body, is_arguments: false, ..subject("said") }
}

#[test]
fn a_hostile_expression_or_body_ends_soon() {
    use Language::{JavaScript, JsonPath, Liquid, Rust};
    let wide = format!("[{}1]", "{\"a\":[1,2,3]},".repeat(20_000));
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let cases = [
        (JsonPath, "$..*..*..*..*..*..*..*..*".to_owned(), long(&deep, deep.len())),
        (JsonPath, "$..[?count(@..*..*) > count($..*..*)]".to_owned(), long(&wide, wide.len())),
        (JsonPath, format!("$..{}", "[*,*,*,*]".repeat(30)), long(&wide, wide.len())),
        (JsonPath, "$[?@ == $]".to_owned(), long(&wide, wide.len())),
        (JsonPath, format!("${}", "[".repeat(5_000)), long(&wide, wide.len())),
        (JsonPath, format!("$[?{}@.a", "(".repeat(5_000)), long(&wide, wide.len())),
        (JavaScript, "^(a+)+$".to_owned(), long("a", 100_000)),
        (JavaScript, r"(a*)*\1b".to_owned(), long("a", 100_000)),
        (JavaScript, String::new() + "a?".repeat(4_000).as_str(), long("a", 1_000_000)),
        (Rust, "[ab].+c|[ab]".to_owned(), long("ab", 2_000_000)),
        (Rust, r"(\w{1,40}){1,30}x".to_owned(), long("ab", 5_000_000)),
        (Rust, "x*".to_owned(), long("ab", 5_000_000)),
        (
            Liquid,
            "{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}".to_owned(),
            subject("said"),
        ),
        (Liquid, "{{ ".repeat(3_000), subject("said")),
        (Language::Call, format!("runs: {}", "[".repeat(9_000)), subject("command")),
    ];
    for (language, expression, subject) in cases {
        let begun = Instant::now();
        let answer = test(language, &expression, &subject);
        let (took, begins) = (begun.elapsed(), &expression[..expression.len().min(40)]);
        assert!(took < Duration::from_secs(20), "{begins} took {took:?}: {}", answer.sentence);
        assert!(answer.parts.len() <= rulestep::tester::MOST, "{begins}");
        assert!(answer.parts.iter().all(|part| part.text.len() <= 2_000), "{begins}");
        assert!(
            answer
                .parts
                .iter()
                .all(|part| part.found.iter().all(|range| part.text.get(range.clone()).is_some()))
        );
    }
}
