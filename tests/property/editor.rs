//! Whatever is typed, the language server answers, and its copy of the text is the editor's.

use lsp_server::{Message, Notification, Request, RequestId};
use proptest::prelude::*;
use rulestep::lsp::{Effect, Event, Server};
use rulestep::workspace::Version;
use rulestep_base::diagnostic::Severity;
use rulestep_engine::dialect::DIALECTS;
use rulestep_engine::policy::{Policy, PolicyFile};
use serde_json::{Value, json};

const FILE: &str = "file:///work/policy.yaml";

/// An edit: two places as parts of the text, and what comes between them.
type Edit = (prop::sample::Index, prop::sample::Index, String);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let words = prop::sample::select(vec![
        "",
        "\n",
        "\r\n",
        "  ",
        "- ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "#",
        "|",
        "&a",
        "*a",
        "𝒳",
        "é",
        "\u{feff}",
        "$.a[0]",
        "tool: a\n",
        "preconditions:\n  - ",
        "rules: [{type: before, first: ",
        "dialect: contract\n",
        "---\n",
        "\t",
        "\0",
        "match",
    ]);
    let word = prop_oneof![8 => words.prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), word), 1..12)
}

/// The places of a text that an editor can name, with their bytes: lines and UTF-16 units, counted letter by letter.
fn places(text: &str) -> Vec<(u32, u32, usize)> {
    let (mut line, mut unit) = (0, 0);
    let mut found = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        // Between CR and LF is no place.
        if !(letter == '\n' && text[..at].ends_with('\r')) {
            found.push((line, unit, at));
        }
        let ends = letter == '\n' || letter == '\r' && letters.peek().is_none_or(|(_, next)| *next != '\n');
        if ends {
            (line, unit) = (line + 1, 0);
        } else if letter != '\r' {
            unit += letter.len_utf16() as u32;
        }
    }
    found.push((line, unit, text.len()));
    found
}

struct Editor {
    server: Server,
    asked: i32,
}

impl Editor {
    fn handle(&mut self, message: Message) -> Vec<Message> {
        let mut sent = Vec::new();
        let mut events = vec![Event::Message(message)];
        while let Some(event) = events.pop() {
            for effect in self.server.handle(event) {
                match effect {
                    Effect::Send(message) => sent.push(message),
                    Effect::Read(folder) => events.push(Event::Files(folder, Version::default())),
                    Effect::Open(_) | Effect::Count(..) | Effect::Exit(_) => {}
                }
            }
        }
        sent
    }

    fn tell(&mut self, method: &str, params: Value) -> Vec<Message> {
        self.handle(Notification { method: method.to_owned(), params }.into())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request = Request { id: RequestId::from(self.asked), method: method.to_owned(), params };
        let sent = self.handle(request.into());
        let answer = sent.iter().find(|message| matches!(message, Message::Response(_))).unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_edits_are_answered(dialect in 0..DIALECTS.len(), example in any::<prop::sample::Index>(), edits in edits()) {
        let examples: Vec<&str> = DIALECTS[dialect].reference.split("```yaml\n").skip(1).collect();
        let mut text = examples[example.index(examples.len())].split("```").next().unwrap().to_owned();
        let mut editor = Editor { server: Server::new(Vec::new()), asked: 0 };
        editor.ask("initialize", json!({"capabilities": {}}));
        let document = json!({"uri": FILE, "languageId": "yaml", "version": 0, "text": text});
        editor.tell("textDocument/didOpen", json!({"textDocument": document}));
        for (version, (one, other, new)) in (1..).zip(edits) {
            let all = places(&text);
            let (a, b) = (one.index(all.len()), other.index(all.len()));
            // Mostly little is replaced.
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 7));
            let (start, end) = (all[a], all[b]);
            let at = |place: (u32, u32, usize)| json!({"line": place.0, "character": place.1});
            let change = json!({"range": {"start": at(start), "end": at(end)}, "text": new});
            let sent = editor.tell("textDocument/didChange", json!({
                "textDocument": {"uri": FILE, "version": version}, "contentChanges": [change],
            }));
            text.replace_range(start.2..end.2, &new);
            // The errors are those of the text as the editor has it, so both have the same text.
            let file = PolicyFile {
                name: "/work/policy.yaml".into(),
                relative: "policy.yaml".into(),
                text: text.as_str().into(),
                named: false,
            };
            let expected = Policy::load(&[file], None).diagnostics;
            let expected = expected.iter().filter(|told| told.severity == Severity::Error).count();
            let published = sent.iter().find_map(|message| match message {
                Message::Notification(told) => told.params["diagnostics"].as_array().cloned(),
                _ => None,
            });
            let errors = published.unwrap().iter().filter(|told| told["severity"] == 1).count();
            prop_assert_eq!(errors, expected, "{}", text);
            let all = places(&text);
            let cursor = all[other.index(all.len())];
            let asked = json!({
                "textDocument": {"uri": FILE}, "position": at(cursor), "context": {"includeDeclaration": true, "diagnostics": [], "triggerKind": 1},
                "range": {"start": at(cursor), "end": at(cursor)},
            });
            for method in ["completion", "hover", "definition", "references", "codeLens", "codeAction"] {
                editor.ask(&format!("textDocument/{method}"), asked.clone());
            }
        }
    }
}
