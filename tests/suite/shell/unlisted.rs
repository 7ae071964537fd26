//! What nobody has listed is not known: tools without a row, and arguments under a name that no row has.

use rulestep_shell::facts::Table;
use rulestep_shell::matcher::Matcher;
use rulestep_shell::tool::{looks_at, of_call};
use rulestep_shell::{Act, Patterns, Root};
use serde_json::{Value, json};

use super::answer;

/// What is certainly or perhaps done to files that match: `perhaps reads, yes writes`; nothing where all answers are no.
fn done(tool: &str, arguments: &Value, pattern: &str) -> String {
    let line = of_call(tool, Some(arguments), &Root::default());
    let acts = [Act::Reads, Act::Writes, Act::Deletes].map(|act| {
        let said = format!("{:?}", answer(&Matcher::Touches(act, Patterns::new([pattern])), &line));
        (said.split('(').next().unwrap().to_lowercase(), act.name())
    });
    let acts = acts.iter().filter(|(said, _)| said != "no").map(|(said, act)| format!("{said} {act}"));
    acts.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_path_under_a_name_that_no_row_lists_is_perhaps_meant() {
    for (tool, arguments, expected) in [
        ("Read", json!({"file_path": "README.md", "extra_path": ".env"}), "perhaps reads"),
        ("Read", json!({"file_path": "README.md", "also": ["a", "./.env"]}), "perhaps reads"),
        ("Read", json!({"target": ".env"}), "perhaps reads"),
        ("Write", json!({"file_path": "README.md", "content": "x", "backup": ".env"}), "perhaps writes"),
        ("Delete", json!({"path": "README.md", "and": {"path": ".env"}}), "perhaps deletes"),
        ("Grep", json!({"pattern": "x", "path": "README.md", "second": ".env"}), "perhaps reads"),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch", "file": ".env"}),
            "perhaps writes, perhaps deletes",
        ),
        // Words are no paths, and what is written to a file, looked for or shown is none of the tool's files.
        ("Read", json!({"file_path": "README.md", "why": "to see what .env is"}), ""),
        ("Read", json!({"file_path": "README.md", "description": ".env", "pages": "1-5"}), ""),
        ("Write", json!({"file_path": ".gitignore", "content": ".env"}), ""),
        ("Edit", json!({"file_path": ".gitignore", "old_string": ".env", "new_string": "./.env"}), ""),
        ("Grep", json!({"pattern": ".env", "path": "README.md"}), ""),
        ("Glob", json!({"pattern": ".env"}), ""),
        ("WebFetch", json!({"url": "https://a.example/.env", "prompt": ".env"}), ""),
    ] {
        assert_eq!(done(tool, &arguments, ".env"), expected, "{tool} {arguments}");
    }
}

/// A value is shown as a reason, kept where a session is redacted, and asked of suggestions, if it can decide.
#[test]
fn what_may_decide_is_looked_at() {
    let looked = |tool: &str, arguments: Value| looks_at(&Table::default(), tool, Some(&arguments)).unwrap();
    assert_eq!(
        looked("Read", json!({"file_path": "a", "extra_path": ".env", "limit": 9})),
        ["file_path", "extra_path"]
    );
    assert_eq!(looked("Write", json!({"file_path": "a", "content": ".env"})), ["file_path"]);
    assert_eq!(looked("Bash", json!({"command": "rm x", "base_dir": "/etc"})), ["command", "base_dir"]);
    assert_eq!(looked("bash", json!({"command": "rm x", "mode": "async"})), ["command", "mode"]);
}

#[test]
fn a_tool_without_a_row_may_do_what_its_name_does_not_exclude() {
    for (tool, arguments, expected) in [
        ("mcp__fs__read_file", json!({"path": ".env"}), "perhaps reads"),
        (
            "mcp__fs__write_file",
            json!({"path": ".env", "content": "a b\nc"}),
            "perhaps reads, perhaps writes",
        ),
        (
            "mcp__fs__move_file",
            json!({"source": ".env", "destination": "b"}),
            "perhaps reads, perhaps writes, perhaps deletes",
        ),
        ("mcp__vault__rotate", json!({"file": ".env"}), "perhaps reads, perhaps writes, perhaps deletes"),
        ("mcp__fs__read_files", json!({"paths": "README.md\n.env\n"}), "perhaps reads"),
        (
            "mcp__x__apply",
            json!({"diff": "*** Begin Patch\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch\n"}),
            "perhaps writes",
        ),
        ("mcp__slack__post_message", json!({"text": "Please add\n.env\nto it"}), ""),
        ("mcp__fs__list_allowed", json!({}), ""),
    ] {
        assert_eq!(done(tool, &arguments, ".env"), expected, "{tool} {arguments}");
    }
}

#[test]
fn the_command_of_an_editor_and_the_folder_of_a_command_may_be_unknown() {
    for (arguments, expected) in [
        (json!({"command": "view", "path": ".env"}), "yes reads"),
        (json!({"command": "insert", "path": ".env"}), "yes writes"),
        (json!({"command": "peek", "path": ".env"}), "perhaps reads, perhaps writes"),
        (json!({"path": ".env"}), "perhaps reads, perhaps writes"),
    ] {
        assert_eq!(done("str_replace_editor", &arguments, ".env"), expected, "{arguments}");
    }
    for (arguments, expected) in [
        (json!({"command": "rm hosts", "workdir": "/etc"}), "yes deletes"),
        (json!({"command": "rm hosts", "base_dir": "/etc"}), "perhaps deletes"),
        (json!({"command": "rm hosts", "workdir": "src", "base_dir": "/etc"}), ""),
        (json!({"command": "rm /srv/hosts", "base_dir": "/etc"}), ""),
    ] {
        assert_eq!(done("Bash", &arguments, "/etc/**"), expected, "{arguments}");
    }
}

/// Agents write the same name in several ways.
#[test]
fn a_tool_is_known_in_every_spelling_of_its_name() {
    for tool in ["read_file", "ReadFile", "readfile", "read-file"] {
        assert_eq!(done(tool, &json!({"path": ".env"}), ".env"), "yes reads", "{tool}");
    }
    for tool in ["multiedit", "MultiEdit", "multi_edit"] {
        assert_eq!(done(tool, &json!({"filePath": ".env", "edits": []}), ".env"), "yes writes", "{tool}");
    }
}

/// A command that runs on has not succeeded when its call has.
#[test]
fn what_runs_on_is_not_proven() {
    let proven = |arguments: &Value| {
        of_call("bash", Some(arguments), &Root::default()).calls.iter().all(|call| call.proven)
    };
    assert!(proven(&json!({"command": "make test", "mode": "sync", "async": false})));
    for background in [
        json!({"mode": "async"}),
        json!({"async": true}),
        json!({"detach": true}),
        json!({"run_in_background": true}),
    ] {
        let mut arguments = json!({"command": "make test"});
        arguments.as_object_mut().unwrap().extend(background.as_object().unwrap().clone());
        assert!(!proven(&arguments), "{arguments}");
    }
}
