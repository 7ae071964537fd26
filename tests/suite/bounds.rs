//! What a policy, an event or a recording names, and what is computed for advice, has a bound; who meets it is told.

use std::fs;

use serde_json::json;

use crate::cli::{folder, rulestep, run};

/// Files that a document or a folder names need not be files that end.
#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_that_a_policy_names_is_not_read() {
    let suite = "tests: [{id: endless_order, metric: sequence_valid, policy: NAME}]\n";
    let files = folder(&[
        ("device.yaml", &suite.replace("NAME", "/dev/zero")),
        ("pipe.yaml", &suite.replace("NAME", "fifo")),
        ("all/one.yaml", "rules: [{type: require, tool: a}]\n"),
    ]);
    for name in ["fifo", "all/two.yaml"] {
        assert!(
            std::process::Command::new("mkfifo").arg(files.path().join(name)).status().unwrap().success()
        );
    }
    for policy in ["device.yaml", "pipe.yaml"] {
        let said = run(&files, &["check", policy]);
        assert!(said.contains("exit 2") && said.contains("it is not a regular file"), "{policy}: {said}");
    }
    // A folder lists no pipe.
    let said = run(&files, &["check", "all"]);
    assert!(!said.contains("exit 0") || said.contains("1 rule"), "{said}");
}

#[test]
fn a_policy_of_many_megabytes_is_an_error() {
    let files = folder(&[("large.yaml", "# no rule\n")]);
    fs::write(files.path().join("large.yaml"), vec![b'#'; (16 << 20) + 1]).unwrap();
    let said = run(&files, &["check", "large.yaml"]);
    assert!(said.contains("exit 2") && said.contains("more than 16 megabytes"), "{said}");
}

#[test]
fn a_path_that_goes_through_everything_again_and_again_is_an_error() {
    let policy = |path: &str| {
        format!(
            "{}\n",
            json!({"tool": "t", "preconditions": [{"requires_prior_tool": "p", "with_output": [{"path": path}]}]})
        )
    };
    let files = folder(&[("many.yaml", &policy("$..a..a..a..a")), ("few.yaml", &policy("$..a..a..a"))]);
    let said = run(&files, &["check", "many.yaml"]);
    assert!(said.contains("exit 1") && said.contains("more than 3 `..`"), "{said}");
    assert!(run(&files, &["check", "few.yaml"]).contains("exit 0"));
}

/// A rule that reads all that was said makes each step of a way as long as the way.
#[test]
fn a_way_out_that_is_long_to_look_for_is_given_up() {
    let files = folder(&[
        (
            "p/plan.yaml",
            "tool: mail\nconditions: [{type: liquid, liquid: \"{% assign m = messages | last %}{% if m.role == 'user' %}true{% endif %}\"}]\n",
        ),
        ("p/order.yaml", "policies: [{type: sequential_dependency, dependencies: {d: [c, mail]}}]\n"),
        (
            "s.jsonl",
            "{\"id\": \"s\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}, {\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"1\", \"function\": {\"name\": \"d\", \"arguments\": \"{}\"}}]}]}\n",
        ),
    ]);
    let said = run(&files, &["explain", "--at", "s:1.1", "-p", "p", "s.jsonl"]);
    assert!(
        said.contains("No way out was found with up to") && said.contains("a longer one may exist"),
        "{said}"
    );
}

/// Whoever writes a policy by a program may write it on one line: what is said of one rule does not cost the whole line.
#[test]
fn a_policy_on_one_line_is_reported_as_fast_as_one_on_many() {
    let rules = (1..4000)
        .map(|most| json!({"type": "max_calls", "tool": "t", "max": most, "id": format!("r{most}")}));
    let policy = json!({"version": "1", "rules": rules.collect::<Vec<_>>()}).to_string();
    let folder = folder(&[("p.yaml", &policy)]);
    let output = rulestep(folder.path(), &["check", "p.yaml"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.matches("warning[shadowed_rule]").count(), 3998);
    // The place is that in the line, and what is shown is around it.
    let columns =
        told.lines().filter_map(|line| line.trim().strip_prefix("--> p.yaml:1:")?.parse::<usize>().ok());
    assert_eq!(columns.max().map(|last| policy.len() - last < 100), Some(true));
    let longest = told.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 3000, "{longest}");
}
