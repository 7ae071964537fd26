//! `rulestep new` and `rulestep init`: what they write is right as it is, and nothing that is there is changed.

use std::fs;

use rulestep_engine::dialect::DIALECTS;

use super::*;

fn files(folder: &TempDir) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![folder.path().to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.push(path.strip_prefix(folder.path()).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    all.sort();
    all
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn is_clean(folder: &TempDir, arguments: &[&str]) -> String {
    let seen = run(folder, arguments);
    assert!(
        seen.starts_with("exit 0") && !seen.contains("warning") && !seen.contains("notice["),
        "{arguments:?} {seen}"
    );
    seen
}

#[test]
fn each_example_loads_alone_and_with_the_others() {
    let folder = folder(&[]);
    for dialect in DIALECTS {
        let seen = run(&folder, &["new", dialect.name]);
        let file = format!("contracts/{}.yaml", dialect.name);
        assert!(seen.starts_with("exit 0") && seen.contains(&format!("wrote {file}\n")), "{seen}");
        let checked = is_clean(&folder, &["check", &file]);
        assert!(checked.contains("1 document, ") && checked.contains("nothing wrong"), "{checked}");
        // The line by which editors find the schema leads to it, from where the document is.
        let text = read(&folder, &file);
        let first = text.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=").unwrap();
        assert_eq!(read(&folder, &format!("contracts/{first}")), dialect.schema);
        assert!(text.contains(&format!("`rulestep explain {}`", dialect.name)), "{text}");
        assert!(run(&folder, &["explain", dialect.name]).starts_with("exit 0"));
        // It is not empty talk: some rule is in it, and each is commented.
        assert!(text.lines().filter(|line| line.trim_start().starts_with('#')).count() >= 4, "{text}");
    }
    is_clean(&folder, &["new", "case"]);
    is_clean(&folder, &["test", "contracts/example.case.yaml"]);
    is_clean(&folder, &["test", "contracts"]);
    let checked = is_clean(&folder, &["check", "contracts"]);
    assert!(checked.contains("5 documents, ") && checked.contains("1 case"), "{checked}");
    // Each case and rule of the examples does something.
    is_clean(&folder, &["test", "contracts/example.case.yaml", "--mutate"]);
}

/// The examples of `new` are about other tools than the policies of `init`, so both can be in one folder.
#[test]
fn examples_load_beside_what_init_wrote() {
    for set in [&[][..], &["coding"], &["support"]] {
        let folder = folder(&[]);
        is_clean(&folder, &[&["init"], set].concat());
        for dialect in DIALECTS {
            let seen = run(&folder, &["new", dialect.name]);
            assert!(seen.starts_with("exit 0") && !seen.contains("do not load"), "{set:?} {seen}");
        }
        let seen = run(&folder, &["check", "contracts"]);
        assert!(!seen.contains("error["), "{set:?} {seen}");
        is_clean(&folder, &["test", "contracts"]);
    }
    // A second example of the same kind is about the same tool, and that is said.
    let folder = folder(&[]);
    run(&folder, &["new", "contract"]);
    let seen = run(&folder, &["new", "contract", "contracts/second.yaml"]);
    let said = "the policies in contracts do not load until the new file is edited: ";
    assert!(seen.starts_with("exit 0") && seen.contains(said) && seen.contains("`close_account`"), "{seen}");
}

#[test]
fn nothing_is_overwritten_and_no_half_is_left() {
    let folder =
        folder(&[("contracts/contract.yaml", "tool: mine\n"), ("p/issue_refund.case.yaml", "mine\n")]);
    let seen = run(&folder, &["new", "contract"]);
    assert!(seen.starts_with("exit 2") && seen.contains("contracts/contract.yaml already exists"), "{seen}");
    let seen = run(&folder, &["init", "-o", "p"]);
    assert!(seen.starts_with("exit 2") && seen.contains("p/issue_refund.case.yaml already exists"), "{seen}");
    assert_eq!(files(&folder), ["contracts/contract.yaml", "p/issue_refund.case.yaml"]);
    assert_eq!(read(&folder, "contracts/contract.yaml"), "tool: mine\n");
    for (arguments, said) in [
        (&["new", "contrakt"][..], "did you mean `contract`?"),
        (&["new", "contract", "a.json"], "`a.json` is not named as a YAML file"),
        (&["init", "codings"], "did you mean `coding`?"),
        (&["init", "coding", "--sessions", "a.jsonl"], "cannot be used with"),
    ] {
        let seen = run(&folder, arguments);
        assert!(seen.starts_with("exit 2") && seen.contains(said), "{seen}");
    }
    let seen = run(&folder, &["new", "tool_policy", "deep/er/mine.yaml"]);
    assert!(seen.contains("wrote deep/er/mine.yaml\n"), "{seen}");
    is_clean(&folder, &["check", "deep"]);
}

/// The policies that come with the program are right where they are written, and each rule has a case.
#[test]
fn a_set_of_policies_is_written_with_its_cases() {
    for set in ["coding", "support"] {
        let folder = folder(&[]);
        is_clean(&folder, &["init", set]);
        is_clean(&folder, &["check", "contracts"]);
        let seen = run(&folder, &["test", "--mutate", "contracts"]);
        let counts = seen.split(" removals noticed").next().unwrap().lines().last().unwrap();
        let (noticed, all) = counts.split_once(" of ").unwrap();
        assert!(noticed == all && noticed.parse::<u32>().unwrap() > 5, "{set}: {seen}");
    }
}

#[test]
fn a_folder_is_set_up() {
    let folder = folder(&[]);
    is_clean(&folder, &["init"]);
    assert_eq!(
        files(&folder),
        [
            "contracts/.schemas/contract.schema.json",
            "contracts/issue_refund.case.yaml",
            "contracts/issue_refund.yaml",
            "contracts/rulestep.toml"
        ]
    );
    is_clean(&folder, &["check", "contracts"]);
    is_clean(&folder, &["test", "contracts"]);
    // The case notices when a rule is removed.
    let mutated = run(&folder, &["test", "--mutate", "contracts"]);
    assert!(mutated.starts_with("exit 0"), "{mutated}");
    // The settings are read: what they set can be set differently.
    let settings = read(&folder, "contracts/rulestep.toml");
    fs::write(folder.path().join("contracts/rulestep.toml"), settings + "no_such_code = \"deny\"\n").unwrap();
    assert!(run(&folder, &["check", "contracts"]).contains("no_such_code"));
}

/// Sessions in which each refund has a check of the same order before it.
fn sessions(count: usize) -> String {
    let session = |number: usize| {
        format!(
            r#"{{"id": "s{number}", "messages": [
{{"role": "assistant", "tool_calls": [{{"id": "a", "name": "check_eligibility", "arguments": {{"order_id": "O-{number}"}}}}]}},
{{"role": "tool", "tool_call_id": "a", "content": {{"eligible": true}}}},
{{"role": "assistant", "tool_calls": [{{"id": "b", "name": "issue_refund", "arguments": {{"order_id": "O-{number}"}}}}]}},
{{"role": "tool", "tool_call_id": "b", "content": "done"}}]}}"#
        )
        .replace('\n', "")
    };
    (0..count).map(session).collect::<Vec<_>>().join("\n")
}

#[test]
fn recordings_bring_the_rules_that_they_suggest() {
    let folder = folder(&[("many.jsonl", &sessions(40)), ("few.jsonl", &sessions(2)), ("none.jsonl", "{")]);
    let seen = run(&folder, &["init", "--sessions", "many.jsonl"]);
    assert!(seen.starts_with("exit 0") && seen.contains("wrote contracts/issue_refund.yaml\n"), "{seen}");
    let contract = read(&folder, "contracts/issue_refund.yaml");
    assert!(
        contract.starts_with("# yaml-language-server: $schema=.schemas/contract.schema.json\n# Suggested"),
        "{contract}"
    );
    // Nothing is enforced until somebody says so.
    let rules = contract.matches("requires_prior_tool").count() + contract.matches("{tool: ").count();
    assert!(contract.contains("\ntool: issue_refund\n") && rules > 1, "{contract}");
    assert_eq!(contract.matches("mode: shadow").count(), rules + 1, "{contract}");
    assert!(
        contract.contains("requires_prior_tool: check_eligibility") && contract.contains("40 of 40"),
        "{contract}"
    );
    is_clean(&folder, &["check", "contracts"]);
    is_clean(&folder, &["test", "contracts"]);
    assert!(run(&folder, &["replay", "many.jsonl"]).starts_with("exit 0"));
    // Too few to suggest anything: that is said, and the example is written.
    let seen = run(&folder, &["init", "-o", "few", "--sessions", "few.jsonl"]);
    assert!(
        seen.starts_with("exit 0") && seen.contains("suggest no rule, so an example is written"),
        "{seen}"
    );
    assert!(read(&folder, "few/issue_refund.yaml").contains("A contract:"));
    // What cannot be read suggests nothing, and is not passed over.
    let seen = run(&folder, &["init", "-o", "none", "--sessions", "none.jsonl"]);
    assert!(seen.starts_with("exit 2") && seen.contains("nothing was written"), "{seen}");
    assert!(!folder.path().join("none").exists());
}
