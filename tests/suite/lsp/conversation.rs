//! An editor over every document that the conformance tests have: whatever is typed, the server answers, and in the end it
//! reports what `check` does. What it offers to change can be changed.

use std::sync::Arc;

use rulestep::lsp::evidence::{Problems, Recorded};
use rulestep::lsp::{Effect, Event, Server};
use rulestep::workspace::Version;
use rulestep_engine::policy::PolicyFile;
use rulestep_recording::{Options, open};

use super::*;

const FILE: &str = "/p/doc.yaml";
const URI: &str = "file:///p/doc.yaml";

struct Editor {
    server: Server,
    text: String,
    version: i32,
    /// The newest diagnostics of the file.
    told: Vec<Value>,
}

fn version(text: &str) -> Version {
    let file = PolicyFile { name: FILE.into(), relative: "doc.yaml".into(), text: text.into(), named: true };
    Version { files: vec![file], ..Version::default() }
}

impl Editor {
    fn open(text: &str) -> Editor {
        let mut editor =
            Editor { server: Server::new(Vec::new()), text: text.to_owned(), version: 1, told: Vec::new() };
        editor.ask("initialize", json!({"capabilities": {}}));
        let document = json!({"uri": URI, "languageId": "yaml", "version": 1, "text": text});
        editor.tell("textDocument/didOpen", json!({"textDocument": document}));
        editor
    }

    fn send(&mut self, event: Event) -> Option<Value> {
        let mut answer = None;
        for effect in self.server.handle(event) {
            match effect {
                Effect::Send(Message::Response(response)) => {
                    let response = serde_json::to_value(response).unwrap();
                    assert!(response.get("error").is_none(), "{response}");
                    answer = Some(response["result"].clone());
                }
                Effect::Send(Message::Notification(mut told)) if told.method.contains("publish") => {
                    self.told = told.params["diagnostics"].as_array_mut().map(std::mem::take).unwrap();
                }
                Effect::Read(folder) => {
                    let read = version(&self.text);
                    self.send(Event::Files(folder, read));
                }
                _ => {}
            }
        }
        answer
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(Event::Message(Notification { method: method.to_owned(), params }.into()));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = RequestId::from(1);
        self.send(Event::Message(Request { id, method: method.to_owned(), params }.into())).unwrap()
    }

    fn change(&mut self, change: Value) {
        self.version += 1;
        let document = json!({"uri": URI, "version": self.version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    fn actions(&mut self) -> Vec<Value> {
        let end = json!({"line": 1_000_000, "character": 0});
        let range = json!({"start": {"line": 0, "character": 0}, "end": end});
        let context = json!({"diagnostics": []});
        let asked = json!({"textDocument": {"uri": URI}, "range": range, "context": context});
        self.ask("textDocument/codeAction", asked).as_array().unwrap().clone()
    }

    fn shown(&self) -> Vec<String> {
        let shown = |told: &Value| {
            let start = &told["range"]["start"];
            format!("{}:{} {}", start["line"], start["character"], told["code"].as_str().unwrap())
        };
        let mut shown: Vec<String> = self.told.iter().map(shown).collect();
        shown.sort();
        shown
    }
}

/// What `check` reports of a text, with places as an editor counts them.
fn checked(text: &str) -> Vec<String> {
    let told = version(text).load(None).loaded.diagnostics;
    let known =
        told.iter().filter(|told| told.code.as_str() != "unrecognised_document" || told.help.is_some());
    let shown = |told: &rulestep_base::diagnostic::Diagnostic| {
        let at = match told.place() {
            Some(rulestep_base::diagnostic::Place::Text { source, span }) => {
                let before = &source.text()[..span.start];
                let line = before.rsplit('\n').next().unwrap();
                format!("{}:{}", before.matches('\n').count(), line.encode_utf16().count())
            }
            _ => "0:0".to_owned(),
        };
        format!("{at} {}", told.code.as_str())
    };
    let mut shown: Vec<String> = known.map(shown).collect();
    shown.sort();
    shown
}

/// Every document of the conformance tests, as text.
fn documents() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for name in [
        "agentfootprint",
        "assay",
        "assay-doc-only",
        "assay-extra",
        "contracts",
        "vapi",
        "vapi-silent",
        "weakincentives",
        "weakincentives_sessions",
    ] {
        let text = std::fs::read_to_string(format!("tests/conformance/{name}.jsonl")).unwrap();
        for (number, line) in text.lines().enumerate() {
            let case: Value = serde_json::from_str(line).unwrap();
            let mut documents = Vec::new();
            if let Some(contracts) = case["contracts"].as_array() {
                documents.extend(contracts.iter().cloned());
            } else if let Some(plan) = case.get("rejection_plan") {
                documents
                    .push(json!({"type": "function", "function": {"name": "𝒳_tool"}, "rejectionPlan": plan}));
            } else if let Some(policy) = case.get("policy") {
                documents.push(policy.clone());
            } else {
                let keys = ["version", "aliases", "rules", "policies", "existing_files"];
                let kept = keys.iter().filter_map(|key| Some(((*key).to_owned(), case.get(*key)?.clone())));
                documents.push(Value::Object(kept.collect()));
            }
            // As YAML, and on one line each as JSON.
            let written = |document: &Value| match number.is_multiple_of(2) {
                true => serde_yaml::to_string(document).unwrap(),
                false => format!("{document}\n"),
            };
            let text: Vec<String> = documents.iter().map(written).collect();
            all.push((format!("{name} {number}"), text.join("---\n")));
        }
    }
    assert!(all.len() > 1500);
    all
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (most.max(1) as u64)) as usize
    }
}

#[test]
fn whatever_is_typed_the_end_is_what_check_reports() {
    const TYPED: [&str; 10] = ["", "\n", ": ", "[", "}", "\"", "𝒳", "- tool: a\n", "\u{0}", "  "];
    const ASKED: [&str; 4] = ["completion", "hover", "definition", "references"];
    let (mut dice, mut policies, mut lenses) = (Dice(42), 0, 0);
    for (name, text) in documents() {
        // What is no policy gets nothing, until it is typed into one.
        if checked(&text).iter().any(|told| told.contains("unrecognised")) {
            continue;
        }
        let mut editor = Editor::open(&text);
        if version(&text).load(None).policy.is_ok() {
            policies += 1;
            assert_eq!(editor.shown(), checked(&text), "{name}, opened\n{text}");
        }
        for _ in 0..3 {
            let lines = text.lines().count() + 1;
            let line = dice.below(lines);
            let width = text.lines().nth(line).map_or(0, |line| line.encode_utf16().count()) + 2;
            let at = json!({"line": line, "character": dice.below(width)});
            let end = json!({"line": line + dice.below(2), "character": dice.below(width)});
            editor
                .change(json!({"range": {"start": at, "end": end}, "text": TYPED[dice.below(TYPED.len())]}));
            let mut asked = json!({"textDocument": {"uri": URI}, "position": at});
            let method = ASKED[dice.below(ASKED.len())];
            if method == "references" {
                asked["context"] = json!({"includeDeclaration": false});
            }
            editor.ask(&format!("textDocument/{method}"), asked);
        }
        editor.actions();
        let asked = json!({"textDocument": {"uri": URI}});
        lenses += editor.ask("textDocument/codeLens", asked).as_array().unwrap().len();
        editor.change(json!({"text": text}));
        assert_eq!(editor.shown(), checked(&text), "{name}, at the end\n{text}");
    }
    assert!(policies > 1000, "{policies}");
    assert_eq!(lenses, 0, "without recordings there is nothing to say above a rule");
}

/// A text with the edits of an action in it.
fn applied(text: &str, action: &Value) -> String {
    let offset = |place: &Value| {
        let (line, character) =
            (place["line"].as_u64().unwrap() as usize, place["character"].as_u64().unwrap() as usize);
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = 0;
        let inside = text[start..].chars().take_while(|c| {
            units += c.len_utf16();
            units <= character
        });
        start + inside.map(char::len_utf8).sum::<usize>()
    };
    let edits = action["edit"]["documentChanges"][0]["edits"].as_array().unwrap();
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| {
            (
                offset(&edit["range"]["start"]),
                offset(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

/// The policies in which the lints find something: every fix that is offered leads to a text that still loads, and in which
/// the server reports less.
#[test]
fn offered_fixes_apply_and_load() {
    let mut tried = 0;
    for entry in std::fs::read_dir("tests/fixtures/lint").unwrap() {
        let cases: Vec<Value> =
            serde_yaml::from_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        for text in cases.iter().filter_map(|case| case["policy"].as_str()) {
            let loads = version(text).load(None).policy.is_ok();
            let mut editor = Editor::open(text);
            for action in editor.actions() {
                let new = applied(text, &action);
                let mut after = Editor::open(&new);
                assert!(!loads || version(&new).load(None).policy.is_ok(), "{action}\n{new}");
                assert_eq!(after.shown(), checked(&new), "{new}");
                assert!(after.shown().len() < editor.shown().len(), "{action}\n{text}\n{new}");
                after.actions();
                tried += 1;
            }
        }
    }
    assert!(tried >= 15, "{tried}");
}

/// A rule that recordings suggest gets into the contract, with its support above it, and is not offered again.
#[test]
fn a_suggested_rule_is_added_to_a_contract() {
    let session = |number: u32| {
        let call = |id: &str, tool: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "name": tool, "arguments": {"order_id": number}}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": {"ok": !number.is_multiple_of(3)}});
        let tools = ["check_order", "issue_refund", "close_case"];
        let messages = tools.iter().flat_map(|tool| [call(tool, tool), result(tool)]);
        let text = json!({"id": number, "messages": messages.collect::<Vec<_>>()}).to_string();
        let read = open("s.json", Box::new(std::io::Cursor::new(text)), &Options::default()).unwrap();
        read.map(Arc::new).collect::<Vec<_>>()
    };
    let sessions: Vec<_> = (0..40).flat_map(session).collect();
    let recorded = Arc::new(Recorded::of(&sessions, Problems::default()));
    let tools: std::collections::BTreeSet<Arc<str>> =
        recorded.suggestions.iter().flat_map(|suggestion| suggestion.tools.iter().cloned()).collect();
    let mut tried = 0;
    for tool in tools {
        for text in [
            format!("tool: {tool}\npreconditions:\n  - requires_step_count: {{gte: 1}} # kept\n"),
            format!("{{tool: {tool}, forbids_after: [nothing_else]}}\n"),
        ] {
            let mut editor = Editor::open(&text);
            editor.send(Event::Recorded(Arc::clone(&recorded)));
            let offered = editor.actions();
            for action in &offered {
                let title = action["title"].as_str().unwrap();
                assert!(title.starts_with("add: "), "{title}");
                let new = applied(&text, action);
                let loaded = version(&new).load(None);
                let (before, after) = (version(&text).load(None).policy.unwrap(), loaded.policy.unwrap());
                assert!(after.rules().iter().count() > before.rules().iter().count(), "{new}");
                assert!(!text.contains("# kept") || new.contains("{gte: 1} # kept"), "{new}");
                let mut again = Editor::open(&new);
                again.send(Event::Recorded(Arc::clone(&recorded)));
                assert!(again.actions().iter().all(|action| action["title"] != title), "{title}\n{new}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 4, "{tried}");
}
