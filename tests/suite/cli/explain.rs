//! `rulestep explain`, `completions` and `man`.

use insta::assert_snapshot;
use rulestep::internals::dialect::{self, DIALECTS};

use super::{refunds, run};

#[test]
fn a_page() {
    assert_snapshot!(run(&refunds(), &["explain", "resource_unmatched"]));
}

#[test]
fn every_code_has_a_page() {
    let folder = refunds();
    let list = run(&folder, &["explain"]);
    for page in dialect::codes() {
        assert!(list.contains(&format!("  {}  ", page.code)) || list.contains(&format!("  {} ", page.code)));
    }
    let data = run(&folder, &["explain", "--format", "json"]);
    let lines = |key: &str| data.lines().filter(|line| line.starts_with(&format!("{{\"{key}\":"))).count();
    assert_eq!((lines("code"), lines("dialect")), (dialect::codes().count(), DIALECTS.len()));
}

/// What all dialects share is a page, and each of its parts is one: reviewed here, like the command-line reference.
#[test]
fn the_semantics_and_its_topics() {
    let folder = refunds();
    let page = run(&folder, &["explain", "semantics"]);
    assert_snapshot!(page);
    let topics: Vec<&str> =
        page.lines().filter(|line| line.starts_with(|c: char| c.is_uppercase())).collect();
    assert!(topics.len() >= 10, "{topics:?}");
    let list = run(&folder, &["explain"]);
    for topic in topics {
        let name = topic.to_lowercase().replace(' ', "-");
        assert!(list.contains(&name), "{name} is not listed");
        let part = run(&folder, &["explain", &name]);
        let text = part.strip_prefix("exit 0\n--- stdout\n").and_then(|part| part.split("--- stderr").next());
        assert!(text.is_some_and(|text| !text.is_empty() && page.contains(text.trim_end())), "{part}");
    }
    let data = run(&folder, &["explain", "modes", "--format", "json"]);
    assert!(data.contains("{\"topic\":\"modes\",\"text\":\"`enforce` is the default."), "{data}");
}

#[test]
fn schemas_are_printed() {
    let folder = refunds();
    for dialect in DIALECTS {
        let seen = run(&folder, &["schema", dialect.name]);
        assert!(
            seen.starts_with("exit 0\n--- stdout\n{\n  \"$schema\": \"https://json-schema.org/"),
            "{seen}"
        );
        assert_eq!(seen, run(&folder, &["schema", dialect.plural()]));
    }
    assert_snapshot!(run(&folder, &["schema", "contarct"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no policy language `contarct`
      help: did you mean `contract`?
    ");
}

/// The page of a dialect is the same text for people and for programs, and examples stand apart.
#[test]
fn the_page_of_a_dialect() {
    let folder = refunds();
    let page = run(&folder, &["explain", "sequence_policies"]);
    assert_eq!(page, run(&folder, &["explain", "sequence_policy"]));
    assert!(page.starts_with("exit 0\n--- stdout\n  Sequence policies: "), "{page}");
    assert!(
        page.contains("\n\nA limit (`limits.*`)\n\n  - `maxPerSession`: a whole number from 0"),
        "{page}"
    );
    assert!(page.contains("\n\n      id: support-agent\n") && !page.contains("```") && !page.contains("**"));
    let data = run(&folder, &["explain", "sequence-policies", "--format", "json"]);
    assert!(data.contains("{\"dialect\":\"sequence_policy\",\"title\":\"sequence policies: "), "{data}");
}

#[test]
fn the_nearest_code_is_named() {
    assert_snapshot!(run(&refunds(), &["explain", "resorce_unmatched"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no code, dialect or topic `resorce_unmatched`
      help: did you mean `resource_unmatched`?
    ");
}

#[test]
fn a_decision() {
    assert_snapshot!(run(&refunds(), &["explain", "--at", "refund-124:2.1", "sessions"]));
}

#[test]
fn a_decision_as_data() {
    let seen = run(&refunds(), &["explain", "--at", "sessions/a.json#0:2.1", "sessions", "--format", "json"]);
    assert!(seen.starts_with("exit 0\n--- stdout\n{\"schema\":\"rulestep.explain/1\""), "{seen}");
}

#[test]
fn calls_that_are_not_there() {
    let folder = refunds();
    let at = |at| run(&folder, &["explain", "--at", at, "sessions"]);
    assert_snapshot!(["refund-124", "nobody:1.1", "refund-124:9.1", "refund-124:2.2"].map(at).join("\n"));
}

/// The beginning of an id is enough where no other begins so; what is not there is answered by what is.
#[test]
fn ids_may_be_cut_and_misspelt() {
    let folder = refunds();
    let at = |at| run(&folder, &["explain", "--at", at, "sessions", "sample.jsonl"]);
    let ids = ["chat-1", "chat-2", "chat-3", "chat-4", "chat-5", "chat-6"];
    let lines: String = ids
        .map(|id| {
            format!("{{\"id\": \"{id}\", \"messages\": [{{\"role\": \"user\", \"content\": \"x\"}}]}}\n")
        })
        .concat();
    std::fs::write(folder.path().join("sample.jsonl"), lines).unwrap();
    assert_eq!(at("refu:2.1"), at("refund-124:2.1"));
    assert_snapshot!(["chat:1.1", "refnd-124:1.1", "zzz:1.1", "refund:1.3"].map(at).join("\n"));
}

#[test]
fn a_name_that_means_several() {
    let folder = refunds();
    assert_snapshot!(run(&folder, &["explain", "--at", "clean:1.1", "sessions", "sessions/b.json"]));
}

#[test]
fn completions_and_manual_pages_come_from_the_arguments() {
    let folder = refunds();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(run(&folder, &["completions", shell]).contains("error-regex"), "{shell}");
    }
    assert!(run(&folder, &["man"]).contains("replay"));
    assert!(run(&folder, &["man", "replay"]).contains("\\-\\-summary"));
    assert!(run(&folder, &["man", "nothing"]).starts_with("exit 2"));
}

/// The entry of a key, for people and for programs.
#[test]
fn the_entry_of_a_key() {
    let folder = refunds();
    assert_snapshot!(run(&folder, &["explain", "contracts.preconditions[0].match"]));
    let data = run(&folder, &["explain", "contract.preconditions.match", "--format", "json"]);
    let line = data.split_once("--- stdout\n").unwrap().1.split_once("\n--- stderr").unwrap().0;
    let entry: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(entry["key"], "contract.preconditions.match");
    assert_eq!(entry["default"], "`newest` with a `resource`, else `any`");
    assert_eq!((&entry["type"], &entry["presence"]), (&"`newest` or `any`".into(), &"default".into()));
    assert!(entry["difference"].as_str().unwrap().starts_with("an addition by Rulestep"), "{data}");
    assert!(entry["example"].as_str().unwrap().contains("match: newest"), "{data}");
    let all = run(&folder, &["explain", "sequence_rule.rules.then", "--format", "json"]);
    assert_eq!(all.matches("\"name\":\"then\"").count(), 3, "{all}");
    assert_snapshot!(run(&folder, &["explain", "contract.preconditions.requires_prior_tol"]), @r"
    exit 2
    --- stdout
    --- stderr
    error: contracts have no key `preconditions.requires_prior_tol`
      help: did you mean `contract.preconditions.requires_prior_tool`?
    ");
    // Of a key at the wrong place, the right place is named.
    let misplaced = run(&folder, &["explain", "contract.with_output"]);
    assert!(misplaced.contains("did you mean `contract.preconditions.with_output`?"), "{misplaced}");
    assert!(
        run(&folder, &["explain", "contract.colour"]).contains("help: `rulestep explain contract` lists")
    );
}

/// Shells complete what can be explained.
#[test]
fn explain_is_completed() {
    for shell in ["bash", "zsh"] {
        let script = run(&refunds(), &["completions", shell]);
        for word in ["contract.preconditions.match", "resource_unmatched", "sequence_rule.rules.before.first"]
        {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
