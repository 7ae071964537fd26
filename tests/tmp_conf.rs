use serde_json::{Value, json};
use std::sync::Arc;
use toolgate::engine::Mode;
use toolgate::monitor::StateItem;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay::Replay;
use toolgate::session::{
    Body, Origin, Session, Tool,
    build::{Builder, Mark},
};

fn session(v: &Value) -> Session {
    let mut b = Builder::new("s", Origin { file: "f".into(), index: 0, format: "native", line: 1 });
    if let Some(tools) = v["tools"].as_array() {
        b.offered(
            1,
            tools
                .iter()
                .map(|t| Tool {
                    name: t["name"].as_str().unwrap().into(),
                    description: None,
                    parameters: None,
                })
                .collect(),
        );
    }
    for m in v["messages"].as_array().unwrap() {
        let body = Body::json(&m["content"].to_string());
        match m["role"].as_str().unwrap() {
            "assistant" => {
                b.response(m["id"].as_str(), body, None);
                for c in m["tool_calls"].as_array().into_iter().flatten() {
                    b.call(
                        c["id"].as_str(),
                        c["function"]["name"].as_str().unwrap(),
                        Body::json(&c["function"]["arguments"].to_string()),
                        None,
                    );
                }
            }
            "tool" => {
                let mark =
                    Mark { error: m["is_error"] == true, refused: (m["refused"] == true).then_some("mark") };
                b.result(m["tool_call_id"].as_str(), body, mark, None);
            }
            r => b.said(r, body, None),
        }
    }
    if v["messages"].as_array().unwrap().iter().all(|m| m["role"] != "tool") {
        b.facts().results = toolgate::session::Results::Absent;
    }
    b.finish()
}

fn actual(r: &Replay) -> Value {
    let rules = r.policy().rules();
    let code = |rule, code: toolgate::diagnostic::code::Code| {
        let rule: &toolgate::monitor::Rule = rules.get(rule).unwrap();
        match rule.pointer.strip_prefix("/preconditions/") {
            Some(i) => json!({"code": code.as_str(), "precondition": i.parse::<u32>().unwrap()}),
            None => json!({"code": code.as_str()}),
        }
    };
    let n = r.session().turns.len() as u32;
    let mut out = vec![];
    for f in r.frames(1, n) {
        let visible: Vec<_> =
            f.narrowing.tools.iter().filter(|t| t.visible()).map(|t| t.tool.to_string()).collect();
        let hidden: serde_json::Map<_, _> = f
            .narrowing
            .tools
            .iter()
            .filter(|t| !t.visible())
            .map(|t| {
                let mut codes: Vec<_> = t.reasons.iter().map(|x| code(x.rule, x.code)).collect();
                codes.sort_by_key(|c| (c.get("precondition").is_some(), c["precondition"].as_u64()));
                (t.tool.to_string(), Value::Array(codes))
            })
            .collect();
        let mut forbidden: Vec<_> = f
            .state
            .iter()
            .filter_map(|s| match s {
                StateItem::Forbidden { tool, .. } => Some(tool.to_string()),
                _ => None,
            })
            .collect();
        forbidden.sort();
        let turn = r.session().turn(f.turn).unwrap();
        let calls: Vec<_> = r
            .session()
            .calls_of(turn)
            .iter()
            .map(|c| {
                let d = &r.call(c.at.index).unwrap().decision;
                let mut codes: Vec<_> = d.findings.iter().map(|x| code(x.rule, x.code)).collect();
                codes.sort_by_key(|c| (c.get("precondition").is_some(), c["precondition"].as_u64()));
                json!({"tool": &*c.tool, "decision": d.verdict.word(), "codes": codes})
            })
            .collect();
        out.push(json!({"visible": visible, "hidden": hidden, "forbidden": forbidden, "calls": calls}));
    }
    Value::Array(out)
}

#[test]
fn contracts() {
    let mut bad = 0;
    for line in include_str!("conformance/contracts.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let files: Vec<_> = case["contracts"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .map(|(i, c)| PolicyFile {
                name: format!("c{i:02}.json").into(),
                relative: format!("c{i:02}.json").into(),
                text: c.to_string().into(),
                named: true,
            })
            .collect();
        let loaded = Policy::load(&files, None);
        for d in &loaded.diagnostics {
            println!("{d}");
        }
        let policy = loaded.policy.unwrap();
        let s = Arc::new(session(&case["session"]));
        for (mode, name) in [(Mode::Enforce, "enforce"), (Mode::Shadow, "shadow")] {
            let r = Replay::new(&s, &policy, mode);
            let o = toolgate::replay::outcomes(&s, &policy, mode);
            assert_eq!(o.summary, r.summary());
            let a = actual(&r);
            if a != case["expect"][name] {
                bad += 1;
                if bad < 4 {
                    println!("{} {name}\n got {a}\nwant {}", case["id"], case["expect"][name]);
                }
            }
        }
    }
    assert_eq!(bad, 0);
}
