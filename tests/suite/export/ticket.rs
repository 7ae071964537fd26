//! A decision as Markdown.

use insta::assert_snapshot;
use pulldown_cmark::{Event, Options, Parser, Tag};
use rulestep::report::ticket::{decision, span};

use super::{HOSTILE, accounts, hostile, replay};

const SESSION: &str = r#"{"id": "refund-124", "messages": [
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "check", "arguments": "{\"order_id\": \"ORD-123\"}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "{\"eligible\": true}"},
    {"role": "assistant", "tool_calls": [{"id": "b", "function": {"name": "refund", "arguments": "{\"order_id\": \"ORD-124\"}"}}]},
    {"role": "tool", "tool_call_id": "b", "content": "ok"}]}"#;
const POLICY: &str = "\
tool: refund
preconditions:
  - requires_prior_tool: check
    resource: {bind_from: arguments, path: $.order_id}
    description: Eligibility must be checked for the same order
";

#[test]
fn a_stopped_call_says_why_by_which_rule_and_what_would_change_it() {
    let made = accounts(&replay(SESSION, POLICY));
    assert_snapshot!(decision(&made[1]), @r#"
    ##### ✗ denied: `refund(order_id: "ORD-124")`

    `check ran for order_id "ORD-123", not "ORD-124"` (`resource_unmatched`)

    - Rule: `Eligibility must be checked for the same order`, `p.yaml:3`
    - Where: session `refund-124`, turn 2, `s.json`
    - Value checked: `$.order_id is "ORD-124"`
    - Earlier calls: `turn 1: check, "ORD-123"`
    - What would change it: `call check for order_id "ORD-124" successfully in an earlier turn`
    - Message to the model: `[permission denied: resource_unmatched]`
    - In the recording: `it ran; this policy stops it`

    ```yaml
      - requires_prior_tool: check
        resource: {bind_from: arguments, path: $.order_id}
        description: Eligibility must be checked for the same order
    ```
    "#);
    assert_snapshot!(decision(&made[0]), @r#"
    ##### ✓ allowed: `check(order_id: "ORD-123")`

    No rule objects to this call.

    - Where: session `refund-124`, turn 1, `s.json`
    - In the recording: `it ran`
    "#);
}

/// Every extension is on: what any of them would make of recorded text is seen.
fn events(markdown: &str) -> Vec<Event<'_>> {
    Parser::new_ext(markdown, Options::all()).collect()
}

#[test]
fn recorded_text_is_code_and_nothing_else() {
    for text in HOSTILE {
        for account in accounts(&hostile(text)) {
            let markdown = decision(&account);
            let events = events(&markdown);
            for event in &events {
                match event {
                    Event::Start(
                        Tag::Heading { .. }
                        | Tag::Paragraph
                        | Tag::List(None)
                        | Tag::Item
                        | Tag::CodeBlock(_),
                    )
                    | Event::End(_)
                    | Event::Code(_)
                    | Event::Text(_)
                    | Event::SoftBreak => {}
                    other => panic!("{text:?} became {other:?} in\n{markdown}"),
                }
            }
            let headings = events.iter().filter(|event| matches!(event, Event::Start(Tag::Heading { .. })));
            assert_eq!(headings.count(), 1, "{markdown}");
            let outside = events.iter().scan(false, |block, event| {
                match event {
                    Event::Start(Tag::CodeBlock(_)) => *block = true,
                    Event::End(pulldown_cmark::TagEnd::CodeBlock) => *block = false,
                    _ => {}
                }
                Some(match event {
                    Event::Text(text) if !*block => text.to_string(),
                    _ => String::new(),
                })
            });
            let outside: String = outside.collect();
            for sign in ["@", "http", "www", "<", "script", "$", "`", "alert"] {
                assert!(!outside.contains(sign), "{sign} of {text:?} is outside of code: {outside}");
            }
            assert!(
                !markdown
                    .chars()
                    .any(|c| c.is_control() && c != '\n' || "\u{202e}\u{200b}\u{2066}".contains(c))
            );
        }
    }
}

#[test]
fn a_span_holds_what_it_was_given() {
    for text in HOSTILE.into_iter().chain(["``a", "a`", " a ", "`` ` ``", "", "a``b`c"]) {
        let line = rulestep_base::wording::line(text);
        let markdown = span(&line);
        let shown: Vec<String> = events(&markdown)
            .into_iter()
            .filter_map(|event| match event {
                Event::Code(text) => Some(text.to_string()),
                Event::Text(text) => panic!("{text} is outside of {markdown}"),
                _ => None,
            })
            .collect();
        let [shown] = &shown[..] else { panic!("{shown:?}") };
        assert!(
            *shown == line || shown.trim().is_empty() && line.trim().is_empty(),
            "{line:?} became {shown:?}"
        );
    }
}
