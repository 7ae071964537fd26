//! Templates rendered here print what liquidjs printed, or are refused aloud and counted.

use std::collections::BTreeMap;
use std::path::Path;

use rulestep_template::liquid::{Scope, Template, Unevaluable, Value, parse};
use serde_json::Value as Json;

const STEPS: u64 = 1_000_000;

/// Refusals where liquidjs has an output, by kind; each kind is allowed for the reason beside it.
const ALLOWED: [(&str, &str); 5] = [
    ("half a surrogate pair", "no UTF-8 text holds it, and it is neither `true` nor `false`"),
    ("sorting 64 or more values", "the order contradicts itself: the result is the engine's merge sort"),
    ("the JavaScript property", "names of JavaScript's own methods on `forloop`, `nil`, `empty`, `blank`"),
    ("a named time zone in a year", "Node reads years before 100 back as others"),
    ("a date that is not written as", "what engines make of other texts is in no standard"),
];

fn globals(case: &Json) -> Result<BTreeMap<String, Value>, Unevaluable> {
    let mut globals = BTreeMap::new();
    for (name, value) in case.get("variables").and_then(Json::as_object).into_iter().flatten() {
        globals.insert(name.clone(), Value::from_json(value)?);
    }
    if let Some(now) = case.get("now") {
        globals.insert("now".to_owned(), Value::from_json(now)?);
    }
    if let Some(messages) = case.get("messages") {
        globals.insert("messages".to_owned(), Value::from_json(messages)?);
    }
    Ok(globals)
}

fn render(template: &str, case: &Json) -> Result<String, Unevaluable> {
    let globals = globals(case)?;
    let scope =
        Scope { globals: &|name| globals.get(name).cloned(), now: case.get("now").and_then(Json::as_i64) };
    parse(template)?.render(&scope, STEPS)
}

#[test]
fn agrees_with_liquidjs() {
    let path = std::env::var("LIQUID_ORACLE")
        .unwrap_or_else(|_| format!("{}/tests/conformance/liquid.jsonl", env!("CARGO_MANIFEST_DIR")));
    let (mut same, mut failing, mut wrong) = (0, 0, Vec::new());
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let template = case["template"].as_str().unwrap();
        let ours = render(template, &case);
        match (case.get("output").and_then(Json::as_str), ours) {
            (Some(theirs), Ok(ours)) if ours == theirs => same += 1,
            (None, Err(_)) if case.get("error").is_some() => failing += 1,
            (None, Err(Unevaluable::NotText)) => *refused.entry("half a surrogate pair").or_default() += 1,
            (Some(_), Err(error)) => {
                let kind = ALLOWED.iter().find(|(kind, _)| error.to_string().contains(kind));
                match kind {
                    Some((kind, _)) => *refused.entry(kind).or_default() += 1,
                    None => wrong.push(format!("{line}\n  refused: {error}")),
                }
            }
            (_, Ok(ours)) => wrong.push(format!("{line}\n  ours: {ours:?}")),
            (None, Err(error)) => wrong.push(format!("{line}\n  refused: {error}")),
        }
    }
    println!("{same} print the same, {failing} fail in both, refused: {refused:?}");
    let shown: Vec<&str> = wrong.iter().take(12).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), shown.join("\n"));
    assert!(same > 2_000);
}

/// All Liquid conditions under `condition`.
fn liquid_leaves<'c>(condition: &'c Json, found: &mut Vec<&'c str>) {
    if condition["type"] == "liquid" {
        found.extend(condition["liquid"].as_str());
    }
    for inner in condition["conditions"].as_array().into_iter().flatten() {
        liquid_leaves(inner, found);
    }
}

#[test]
fn evaluates_every_template_of_the_rejection_plans() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/vapi.jsonl");
    let cases = std::fs::read_to_string(path).unwrap();
    let (mut rendered, mut compared) = (0, 0);
    for line in cases.lines() {
        let mut case: Json = serde_json::from_str(line).unwrap();
        if let Some(now) = case["now"].as_str() {
            let now: jiff::Timestamp = now.parse().unwrap();
            case["now"] = now.as_millisecond().into();
        } else {
            case.as_object_mut().unwrap().remove("now");
        }
        let conditions = case["rejection_plan"]["conditions"].as_array().cloned().unwrap_or_default();
        for (place, condition) in conditions.iter().enumerate() {
            let mut leaves = Vec::new();
            liquid_leaves(condition, &mut leaves);
            for template in leaves {
                let printed = render(template, &case).unwrap();
                assert!(printed.trim() == "true" || printed.trim() == "false", "{template}: {printed:?}");
                rendered += 1;
                if condition["type"] == "liquid" && condition.get("negate").is_none() {
                    let expected = case["expect"]["matched"][place].as_bool().unwrap();
                    assert_eq!(printed.trim() == "true", expected, "{}: {template}", case["id"]);
                    compared += 1;
                }
            }
        }
    }
    println!("{rendered} templates rendered, {compared} compared with the verdict");
    assert!(compared > 50);
}

fn print(template: &str) -> Result<String, Unevaluable> {
    render(
        template,
        &serde_json::json!({ "variables": { "xs": [1, 2, 3, 4], "s": "text", "two": "2", "day": "now" } }),
    )
}

#[test]
fn last_with_a_count_gives_the_newest_in_order() {
    for (template, expected) in [
        ("{{ xs | last }}", "4"),
        ("{{ xs | last: 2 | json }}", "[3,4]"),
        ("{{ xs | last: 9 | json }}", "[1,2,3,4]"),
        ("{{ xs | last: 0 | json }}", "[]"),
        ("{{ xs | last: two | json }}", "[3,4]"),
        ("{{ missing | last: 2 | json }}", "[]"),
    ] {
        assert_eq!(print(template).as_deref(), Ok(expected), "{template}");
    }
    for template in
        ["{{ s | last: 2 }}", "{{ xs | last: -1 }}", "{{ xs | last: 1.5 }}", "{{ xs | last: missing }}"]
    {
        assert!(matches!(print(template), Err(Unevaluable::Unsupported { .. })), "{template}");
    }
}

#[test]
fn refuses_what_a_condition_cannot_mean() {
    for name in ["sample", "include", "render", "layout", "block"] {
        let template =
            if name == "sample" { "{{ xs | sample }}".to_owned() } else { format!("{{% {name} 'x' %}}") };
        assert_eq!(
            parse(&template).err().map(|error| error.to_string().contains(name)),
            Some(true),
            "{template}"
        );
    }
    assert_eq!(
        parse("é{{ 'a' | frobnicate }}").err(),
        Some(Unevaluable::UnknownFilter { name: "frobnicate".to_owned(), offset: 11 })
    );
    assert_eq!(
        parse("é{% frob %}").err(),
        Some(Unevaluable::UnknownTag { name: "frob".to_owned(), offset: 2 })
    );
    assert!(matches!(parse("a{% if s %}true").err(), Some(Unevaluable::Syntax { offset: 1, .. })));
}

#[test]
fn the_clock_is_that_of_the_session() {
    let at = |template: &str, now| {
        let globals = |name: &str| (name == "day").then(|| Value::text("now"));
        parse(template).unwrap().render(&Scope { globals: &globals, now }, STEPS)
    };
    let now = Some(1_781_519_405_678);
    assert_eq!(
        at("{{ 'now' | date: '%Y-%m-%d %H:%M:%S.%L' }}", now).as_deref(),
        Ok("2026-06-15 10:30:05.678")
    );
    assert_eq!(at("{{ day | date: '%s' }}", now).as_deref(), Ok("1781519405"));
    assert_eq!(at("{{ day | date: '%s' }}", None), Err(Unevaluable::NoClock));
    assert_eq!(at("{{ 'today' | date_to_string }}", None), Err(Unevaluable::NoClock));
}

#[test]
fn knows_which_templates_may_read_the_messages() {
    for (template, names) in [
        ("{{ messages.last.content }}", true),
        ("{% for m in messages %}{% endfor %}", true),
        ("{{ xs[messages.size] }}", true),
        ("{{ ['messages'] }}", true),
        ("{{ [s] }}", true),
        ("{{ (1..messages.size) }}", true),
        ("{{ xs | slice: messages.size }}", true),
        ("{{ xs | where_exp: 'x', 'x > messages.size' }}", true),
        ("{{ xs | where_exp: 'x', s }}", true),
        ("{% liquid\n echo messages\n%}", true),
        ("{% cycle messages: 1, 2 %}", true),
        ("{% case s %}{% when messages %}{% endcase %}", true),
        ("{{ s.messages }}", false),
        ("{{ xs | map: 'messages' }}", false),
        ("{{ xs | where: s, 1 }}", false),
        ("{{ xs[s] }}messages", false),
        ("{% raw %}{{ messages }}{% endraw %}{% comment %}{{ messages }}{% endcomment %}", false),
    ] {
        assert_eq!(parse(template).unwrap().names_messages(), names, "{template}");
    }
}

#[test]
fn a_variable_is_asked_for_once_and_only_when_read() {
    let asked = std::cell::RefCell::new(Vec::new());
    let globals = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        Some(Value::text("x"))
    };
    let template = parse("{% if a == b %}{{ a }}{{ a }}{% else %}{{ messages }}{% endif %}").unwrap();
    assert_eq!(template.render(&Scope { globals: &globals, now: None }, STEPS).as_deref(), Ok("xx"));
    assert_eq!(*asked.borrow(), ["a", "b"]);
}

/// Every hostile template ends, and says why it has no result.
#[test]
fn hostile_templates_end_within_their_budget() {
    let grow = |step: &str| {
        format!(
            "{{% assign a = 'x,x' | split: ',' %}}{{% for i in (1..1000) %}}{step}{{% endfor %}}{{{{ a }}}}"
        )
    };
    let nested = "{% if true %}".repeat(5_000) + &"{% endif %}".repeat(5_000);
    let templates = [
        "{% for a in (1..1000000000) %}{% for b in (1..1000000000) %}x{% endfor %}{% endfor %}".to_owned(),
        "{{ (1..1000000000000) | size }}".to_owned(),
        "{% assign x = 9007199254740992 %}{% assign y = x | plus: 4 %}{{ (x..y) | size }}".to_owned(),
        "{% tablerow i in (1..100000000) cols: 3 %}x{% endtablerow %}".to_owned(),
        "{{ 0 | date: '%99999999999d' }}{{ 0 | date: '%99999999999N' }}".to_owned(),
        grow("{% assign a = a | append: a %}"),
        grow("{% assign a = a | join: ',' | replace: 'x', a %}"),
        grow("{% assign a = a | join: a %}{% assign a = a | split: '' %}"),
        grow("{% assign b = '' | split: ',' | push: a | push: a %}{% assign a = b %}"),
        grow("{% assign a = a | concat: a %}"),
        grow("{% tablerow j in (1..1) cols: a %}{% assign a = tablerowloop %}{% endtablerow %}"),
        "{% assign e = \"x | where_exp: 'y', e\" %}{{ (1..3) | where_exp: 'x', e | size }}".to_owned(),
        format!("{{{{ a{} }}}}", "[a".repeat(50_000)),
        format!("{{{{ {} }}}}", "(".repeat(50_000)),
        format!("{{% {} %}}", "liquid ".repeat(2_000)),
        nested,
    ];
    for template in templates {
        let result = print(&template);
        let bounded = matches!(result, Err(Unevaluable::Budget | Unevaluable::Memory | Unevaluable::TooDeep));
        assert!(bounded, "{}: {result:?}", template.chars().take(80).collect::<String>());
    }
    assert_eq!(
        parse("{{ s }}{{ s }}").unwrap().render(&Scope { globals: &|_| None, now: None }, 1),
        Err(Unevaluable::Budget)
    );
}

#[test]
fn the_deepest_template_and_value_fit_on_a_small_stack() {
    let inside = "{% assign a = 'x' %}{% for i in (1..198) %}{% assign b = '' | split: ',' | push: a %}\
                  {% assign a = b %}{% endfor %}{{ a | json | size }}{{ a }}{{ a == a }}";
    let path = format!("{{{{ {}s{} }}}}", "xs[".repeat(50), "]".repeat(50));
    let template =
        format!("{}{inside}{path}{}", "{% for x in (1..1) %}".repeat(48), "{% endfor %}".repeat(48));
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || print(&template)).unwrap();
    assert_eq!(thread.join().unwrap().as_deref(), Ok("399xtrue"));
}

#[test]
fn templates_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Template>();
    shared::<Value>();
}
