//! Rejection plans in every place where Vapi's API and documentation put tools.

use super::{check, errors, in_folder, rules};

const PLAN: &str = "rejectionPlan: {conditions: [{type: regex, regex: bye, target: {role: user, position: -1}, negate: true}]}";

#[test]
fn documents_as_published() {
    let group = "{type: group, operator: OR, conditions: [{type: regex, regex: '(?i)cancel'}, {type: liquid, liquid: \"{% assign m = messages | last: 1 %}{% if m %}true{% else %}false{% endif %}\"}]}";
    check(&[
        (
            "a.yaml",
            &format!("model:\n  provider: openai\n  model: gpt-4o\n  tools:\n  - {{type: endCall, {PLAN}}}"),
            "",
        ),
        ("a.yaml", &format!("type: transferCall\nrejectionPlan: {{conditions: [{group}]}}"), ""),
        (
            "a.json",
            "{\"type\": \"function\", \"function\": {\"name\": \"book\"}, \"server\": {\"url\": \"https://example.com\"}, \"rejectionPlan\": {\"conditions\": []}}",
            "",
        ),
        // Configurations without a plan are no mistake in a folder of configurations.
        (
            "book.yml",
            "type: function\nfunction: {name: book_appointment, description: Book it.}\nserver: {url: https://example.com}",
            "notice unrecognised_document",
        ),
        (
            "squad.yml",
            "name: Front Desk\nmembers: [{assistantId: receptionist}, {assistantId: scheduler}]",
            "1 notice no_rules",
        ),
        ("assistant.yml", "model: {provider: openai, model: gpt-4o}", "1 notice no_rules"),
    ]);
}

/// Where each plan is found, and for which tool.
#[test]
fn plans_are_found_wherever_tools_are() {
    let tool = format!("{{type: function, function: {{name: f}}, {PLAN}}}");
    for (text, place) in [
        (format!("{{type: function, function: {{name: f}}, {PLAN}}}"), ""),
        (format!("[{tool}]"), "/0"),
        (format!("tools: [{tool}]"), "/tools/0"),
        (format!("model: {{tools: [{tool}]}}"), "/model/tools/0"),
        (format!("'tools:append': [{tool}]"), "/tools:append/0"),
        (format!("model: {{functions: [{{name: f, {PLAN}}}]}}"), "/model/functions/0"),
        (format!("functions: [{{name: f, {PLAN}}}]"), "/functions/0"),
        (format!("assistant: {{model: {{tools: [{tool}]}}}}"), "/assistant/model/tools/0"),
        (format!("assistantOverrides: {{tools: [{tool}]}}"), "/assistantOverrides/tools/0"),
        (
            format!("members: [{{assistant: {{model: {{tools: [{tool}]}}}}}}]"),
            "/members/0/assistant/model/tools/0",
        ),
        (
            format!("members: [{{assistantId: x, assistantOverrides: {{model: {{tools: [{tool}]}}}}}}]"),
            "/members/0/assistantOverrides/model/tools/0",
        ),
        (
            format!("squad: {{membersOverrides: {{'tools:append': [{tool}]}}}}"),
            "/squad/membersOverrides/tools:append/0",
        ),
        (
            format!("members: [{{assistantDestinations: [{{type: assistant, tools: [{tool}]}}]}}]"),
            "/members/0/assistantDestinations/0/tools/0",
        ),
        (format!("hooks: [{{on: call.ending, do: [{{type: tool, tool: {tool}}}]}}]"), "/hooks/0/do/0/tool"),
        (format!("hooks: [{{on: call.ending, do: [{tool}]}}]"), "/hooks/0/do/0"),
        (format!("results: [{tool}]\nmetadata: {{totalItems: 1}}"), "/results/0"),
        (format!("results: [{{model: {{provider: openai, tools: [{tool}]}}}}]"), "/results/0/model/tools/0"),
        (format!("workflow: {{nodes: [{{name: n, type: tool, tool: {tool}}}]}}"), "/workflow/nodes/0/tool"),
        (format!("nodes: [{{name: n, type: tool, tool: {tool}}}]"), "/nodes/0/tool"),
        (
            format!("call: {{assistant: {{model: {{fallback: {{tools: [{tool}]}}}}}}}}"),
            "/call/assistant/model/fallback/tools/0",
        ),
        (format!("{{somewhere: {{new: {tool}}}}}"), "/somewhere/new"),
    ] {
        let loaded = in_folder("a.yaml", &text);
        assert_eq!(rules(&loaded), [format!("f a.yaml#{place}/rejectionPlan")], "{text}");
    }
    for kind in ["endCall", "transferCall", "dtmf", "apiRequest", "sms", "google.calendar.event.create"] {
        let loaded = in_folder("a.yaml", &format!("a: {{b: {{type: {kind}, {PLAN}}}}}"));
        assert_eq!(rules(&loaded), [format!("{kind} a.yaml#/a/b/rejectionPlan")]);
    }
    // A type that nobody knows yet, where only tools are.
    let loaded = in_folder("a.yaml", &format!("tools: [{{type: fax, {PLAN}}}]"));
    assert_eq!(rules(&loaded), ["fax a.yaml#/tools/0/rejectionPlan"]);
}

#[test]
fn plans_for_a_tool_need_no_more_than_its_name() {
    let conditions = "conditions: [{type: regex, regex: bye}]";
    for (text, ids) in [
        (format!("{{tool: f, {PLAN}}}"), vec!["f a.yaml#/rejectionPlan"]),
        (format!("{{tool: f, {conditions}}}"), vec!["f a.yaml#/conditions"]),
        (format!("{{tool: f, description: why, {conditions}}}"), vec!["f a.yaml#/conditions"]),
        (
            format!("[{{tool: f, {conditions}}}, {{tool: g, {PLAN}}}]"),
            vec!["f a.yaml#/0/conditions", "g a.yaml#/1/rejectionPlan"],
        ),
    ] {
        assert_eq!(rules(&in_folder("a.yaml", &text)), ids, "{text}");
    }
}

#[test]
fn a_plan_that_would_guard_nothing_is_an_error() {
    for (text, said) in [
        (format!("name: n\nnodes: [{{name: a, type: conversation, {PLAN}}}]"), "does not belong to a tool"),
        (
            format!("hooks: [{{do: [{{type: tool, tool: {{type: endCall}}, {PLAN}}}]}}]"),
            "does not belong to a tool",
        ),
        (
            format!("hooks: [{{do: [{{type: say, exact: hi, tool: {{name: x, {PLAN}}}}}]}}]"),
            "does not belong to a tool",
        ),
        (format!("model: {{provider: openai, model: gpt-4o, {PLAN}}}"), "does not belong to a tool"),
        (format!("type: function\nfunction: {{name: f, {PLAN}}}"), "beside `function`"),
        (
            format!("type: function\nfunction: {{name: f, parameters: {{{PLAN}}}}}"),
            "does not belong to a tool",
        ),
        (
            "{type: endCall, conditions: [{type: regex, regex: bye}]}".to_owned(),
            "write `rejectionPlan: {conditions: […]}`",
        ),
        (
            "tools: [{type: function, function: {name: f}, conditions: [{type: liquid, liquid: 'true'}]}]"
                .to_owned(),
            "write `rejectionPlan: {conditions: […]}`",
        ),
        ("conditions: [{type: regex, regex: bye}]".to_owned(), "`{tool: NAME, conditions: […]}`"),
        (PLAN.to_owned(), "has no name"),
        ("{type: endCall, rejectionplan: {conditions: []}}".to_owned(), "did you mean `rejectionPlan`?"),
        ("{tool: f, rejectonPlan: {conditions: []}}".to_owned(), "did you mean `rejectionPlan`?"),
        (format!("{{tool: f, {PLAN}, whn: x}}"), "unknown key `whn`"),
        (format!("{{tool: f, conditions: [], preconditions: [], {PLAN}}}"), "unknown key"),
    ] {
        let loaded = in_folder("a.yaml", &text);
        assert!(loaded.policy.is_none(), "{text} loads");
        let errors = errors(&loaded);
        assert!(errors.iter().any(|error| error.contains(said)), "{text}: {errors:#?}");
    }
    // Vapi has other plans.
    for plan in ["artifactPlan", "monitorPlan", "redactionPlan", "detectionPlan", "startSpeakingPlan"] {
        let loaded =
            in_folder("a.yaml", &format!("model: {{provider: openai, model: gpt-4o}}\n{plan}: {{}}\n"));
        assert_eq!(errors(&loaded), [""; 0], "{plan}");
    }
}

/// The measured system ignores keys that it does not know; a slip in one that it knows would change the plan.
#[test]
fn a_slip_in_a_plans_keys_is_an_error() {
    let of = |condition: &str| {
        in_folder("a.yaml", &format!("{{tool: f, rejectionPlan: {{conditions: [{condition}]}}}}"))
    };
    for slip in [
        "ngate: true",
        "Negate: true",
        "regexp: b",
        "targt: {}",
        "target: {positon: -1}",
        "target: {roles: user}",
    ] {
        let loaded = of(&format!("{{type: regex, regex: a, {slip}}}"));
        assert!(loaded.policy.is_none(), "{slip}");
    }
    for ignored in ["comment: why", "flags: i", "target: {pos: 1}", "id: 7"] {
        let loaded = of(&format!("{{type: regex, regex: a, {ignored}}}"));
        assert!(loaded.policy.is_some(), "{ignored}: {:?}", errors(&loaded));
        assert_eq!(loaded.diagnostics.len(), 1, "{ignored}");
    }
    assert!(in_folder("a.yaml", "{tool: f, rejectionPlan: {conditons: []}}").policy.is_none());
}
