//! Reports for build servers: several in one run, of every format, and also where nothing could be judged.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::{CLEAN, CLOSE_CASE, ISSUE_REFUND, REFUND_124, folder, run};

const FORMATS: [&str; 6] = ["text", "json", "markdown", "junit", "sarif", "github"];

fn versions() -> TempDir {
    folder(&[
        ("v1/issue_refund.yaml", ISSUE_REFUND),
        ("v1/close_case.yaml", CLOSE_CASE),
        ("v2/close_case.yaml", CLOSE_CASE),
        ("broken/p.yaml", "tool: issue_refund\npreconditions: [{requires_prior: x}]\n"),
        ("sessions/a.json", REFUND_124),
        ("sessions/b.json", CLEAN),
    ])
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// With a report of each format.
fn with_reports(folder: &TempDir, arguments: &[&str]) -> String {
    let reports: Vec<String> =
        FORMATS.iter().flat_map(|format| ["--report".to_owned(), format!("{format}=out/{format}")]).collect();
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    run(folder, &[arguments, &reports].concat())
}

fn stdout(told: &str) -> String {
    told.split_once("--- stdout\n").unwrap().1.split("--- stderr").next().unwrap().to_owned()
}

/// What the schema of SARIF 2.1.0 asks for in the parts that are written here.
fn check_sarif(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "rulestep");
    let rules = driver["rules"].as_array().unwrap();
    let place = |location: &Value| {
        let physical = &location["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.contains([' ', '\\']) && !uri.starts_with("git:"), "{uri}");
        assert!(physical["region"]["startLine"].as_u64() > Some(0), "{location}");
        (uri.to_owned(), physical["region"]["startLine"].as_u64().unwrap())
    };
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[..at].contains(id), "{id} twice");
        assert!(rules[at]["shortDescription"]["text"].is_string());
    }
    for result in run["results"].as_array().unwrap() {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        result["locations"].as_array().unwrap().iter().for_each(|at| drop(place(at)));
        // A change of a session's status is about no rule: it has the recording alone.
        result["relatedLocations"].as_array().into_iter().flatten().for_each(|at| drop(place(at)));
    }
    let invocation = &run["invocations"][0];
    assert!(invocation["executionSuccessful"].is_boolean());
    for note in invocation["toolExecutionNotifications"].as_array().unwrap() {
        assert!(note["message"]["text"].is_string() && note["level"].is_string());
    }
    log
}

#[test]
fn a_run_writes_several_reports() {
    let folder = versions();
    for arguments in [
        &["replay", "sessions", "-p", "v1"][..],
        &["diff", "sessions", "-p", "v2", "-b", "v1"],
        &["diff", "sessions", "-p", "v1", "-b", "v2"],
    ] {
        let told = with_reports(&folder, arguments);
        assert!(told.starts_with("exit 1\n"), "{told}");
        for format in FORMATS {
            // Each is what `--format` writes.
            let alone = run(&folder, &[arguments, &["--format", format]].concat());
            let strip = |text: &str| -> String {
                text.lines().filter(|line| !line.contains("timestamp")).collect::<Vec<_>>().join("\n")
            };
            assert_eq!(strip(&read(&folder, &format!("out/{format}"))), strip(&stdout(&alone)), "{format}");
        }
        assert!(read(&folder, "out/junit").contains("<failure"), "{arguments:?}");
        let log = check_sarif(&read(&folder, "out/sarif"));
        let result = &log["runs"][0]["results"][0];
        let uri = |list: &str| result[list][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
        assert_eq!(uri("locations"), "v1/issue_refund.yaml", "{arguments:?}");
        assert_eq!(uri("relatedLocations"), "sessions/a.json");
        let named = &log["runs"][0]["tool"]["driver"]["rules"][0]["shortDescription"]["text"];
        assert_eq!(named, "Eligibility must be checked for the same order");
        let annotation = read(&folder, "out/github");
        let first = annotation.lines().next().unwrap();
        assert!(first.starts_with("::error file=v1/issue_refund.yaml,line=3,col=5,title="), "{first}");
        assert!(first.contains("issue_refund(order_id%3A \"ORD-124\")"), "{first}");
        let markdown = read(&folder, "out/markdown");
        assert!(markdown.starts_with("<!-- rulestep -->\n### rulestep: "), "{markdown}");
        assert!(markdown.contains("\nAgain with `rulestep "), "{markdown}");
    }
}

#[test]
fn reports_are_written_when_a_version_does_not_load() {
    let folder = versions();
    for arguments in [
        &["replay", "sessions", "-p", "broken"][..],
        &["diff", "sessions", "-p", "broken", "-b", "v1"],
        &["diff", "sessions", "-p", "v1", "-b", "broken"],
    ] {
        let _ = fs::remove_dir_all(folder.path().join("out"));
        let told = with_reports(&folder, arguments);
        assert!(told.starts_with("exit 2\n") && stdout(&told).is_empty(), "{told}");
        for format in FORMATS {
            let report = read(&folder, &format!("out/{format}"));
            assert!(report.contains("does not load, so nothing was judged"), "{format}: {report}");
            assert!(report.contains("broken/p.yaml"), "{format}: {report}");
        }
        assert!(read(&folder, "out/junit").contains("<error"));
        let log = check_sarif(&read(&folder, "out/sarif"));
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        assert!(read(&folder, "out/github").starts_with("::error file=broken/p.yaml,line=2,title="));
        let junit = run(&folder, &[arguments, &["--format", "junit"]].concat());
        assert!(stdout(&junit).contains("<error"), "{junit}");
    }
    // Nor is one empty when nothing could be read.
    let told = with_reports(&folder, &["replay", "v1", "-p", "v1"]);
    assert!(told.starts_with("exit 2\n"), "{told}");
    for format in FORMATS {
        assert!(read(&folder, &format!("out/{format}")).contains("no session could be read"), "{format}");
    }
}

#[test]
fn nothing_fails_where_none_is_asked_to() {
    let folder = versions();
    let told = |more: &[&str]| run(&folder, &[&["diff", "sessions", "-p", "v2", "-b", "v1"], more].concat());
    assert!(told(&["--fail-on", "none"]).starts_with("exit 0\n"));
    assert!(
        told(&["--fail-on", "none", "--format", "github"]).contains("::notice file=v1/issue_refund.yaml")
    );
    assert!(told(&["--fail-on", "none,newly_allowed"]).starts_with("exit 2\n"));
    for (report, said) in [
        ("markdown", "`--report markdown` names no file"),
        ("pdf=x", "there is no report `pdf`"),
        ("junit=", "`--report junit=` names no file"),
    ] {
        let told = told(&["--report", report]);
        assert!(told.starts_with("exit 2\n") && told.contains(said), "{told}");
    }
    assert!(told(&["--report", "json=x", "--report", "text=x"]).starts_with("exit 2\n"));
    let summary = run(&folder, &["replay", "sessions", "-p", "v1", "--summary", "--report", "sarif=x"]);
    assert!(summary.starts_with("exit 2\n") && summary.contains("has no findings"), "{summary}");
}

/// A recorded text that ends its line must not be able to give the runner an order.
#[test]
fn recorded_text_cannot_order_the_runner_about() {
    let hostile = REFUND_124.replace("ORD-124\\\"}", "x\\\\n::stop-commands::y\\\\n%0A,title=z\\\"}");
    let folder = versions();
    fs::write(folder.path().join("sessions/a.json"), hostile).unwrap();
    let told = stdout(&run(&folder, &["replay", "sessions", "-p", "v1", "--format", "github"]));
    assert!(told.contains("stop-commands"), "{told}");
    for line in told.lines() {
        assert!(line.starts_with("::error ") || line.starts_with("::notice "), "{told}");
        assert_eq!(
            line.matches("::").count() - line.matches("::stop").count() - line.matches("commands::").count(),
            2,
            "{line}"
        );
    }
}

#[test]
fn a_comment_is_no_longer_than_github_takes() {
    let rules: String = (0..200)
        .map(|number| format!("---\ntool: t{number}\npreconditions: [{{requires_prior_tool: never_{number}, description: {}}}]\n", "long ".repeat(40)))
        .collect();
    let calls: Vec<String> = (0..200)
        .map(|number| format!("{{\"id\": \"c{number}\", \"function\": {{\"name\": \"t{number}\", \"arguments\": \"{{}}\"}}}}"))
        .collect();
    let session =
        format!("{{\"messages\": [{{\"role\": \"assistant\", \"tool_calls\": [{}]}}]}}", calls.join(","));
    let folder = folder(&[("new.yaml", &rules), ("old.yaml", CLOSE_CASE), ("s.json", &session)]);
    for arguments in
        [&["diff", "s.json", "-p", "new.yaml", "-b", "old.yaml"][..], &["replay", "s.json", "-p", "new.yaml"]]
    {
        let told = stdout(&run(&folder, &[arguments, &["--format", "markdown"]].concat()));
        assert!(told.chars().count() <= 65_536 && told.len() > 40_000, "{}", told.len());
        assert!(told.contains("not shown"), "{told}");
        assert!(
            told.trim_end().ends_with("-p new.yaml`") || told.trim_end().ends_with("-b old.yaml`"),
            "the end is there"
        );
        assert_eq!(told.matches("<details>").count(), told.matches("</details>").count());
    }
}

/// A session that is read and a file whose end is lost; in a folder, also what is no recording and a file without anything.
const CUT: &str = "{\"id\": \"cut\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}, \
    {\"role\": \"assistant\", \"content\": \"Hello\"}]}\n{\"id\": \"lost\", \"messages\": [{\"ro";

/// Build servers show the tests: where all of them pass, nothing seems to be wrong.
#[test]
fn what_is_not_read_whole_is_no_passing_test() {
    let files = [
        ("p/issue_refund.yaml", ISSUE_REFUND),
        ("s/clean.json", CLEAN),
        ("s/cut.jsonl", CUT),
        ("s/garbage.json", "remember the milk"),
        ("s/nothing.json", ""),
    ];
    let folder = folder(&files);
    let error =
        "<testcase name=\"the recording is read completely\" classname=\"s/cut.jsonl\">\n            <error";
    for verb in [&["replay"][..], &["diff", "-b", "p"]] {
        let junit = |arguments: &[&str]| {
            run(&folder, &[verb, arguments, &["-p", "p", "--format", "junit", "-q"]].concat())
        };
        let told = junit(&["s/clean.json"]);
        assert!(told.starts_with("exit 0\n") && !told.contains("read completely"), "{told}");
        let told = junit(&["s/cut.jsonl"]);
        assert!(told.starts_with("exit 2\n") && told.contains(error), "{told}");
        assert!(told.contains("tests=\"2\" skipped=\"0\" failures=\"0\" errors=\"1\""), "{told}");
        assert!(told.contains("error[damaged_record]: "), "{told}");
        let told = junit(&["s"]);
        assert!(told.contains("tests=\"5\" skipped=\"2\" failures=\"0\" errors=\"1\""), "{told}");
        let told = junit(&["s", "--strict"]);
        assert!(told.contains("tests=\"5\" skipped=\"0\" failures=\"0\" errors=\"3\""), "{told}");
        assert!(
            told.contains("<error message=\"the file is not JSON: it begins with `remember the milk`"),
            "{told}"
        );
        // Where no session is left, that is what did not come about.
        let told = junit(&["s/garbage.json"]);
        assert!(told.contains("<testcase name=\"a session can be read\">\n            <error"), "{told}");
        let told = junit(&["s/clean.json", "--where", "tool:nowhere"]);
        assert!(told.contains("<testcase name=\"a session is chosen\">\n            <error"), "{told}");
        for (format, strict, wanted) in [
            ("sarif", &[][..], "1 error in recordings: not everything was read"),
            ("sarif", &["--strict"], "\"executionSuccessful\": false"),
            ("github", &["--strict"], "::warning title=rulestep::"),
            ("github", &[], "2 files skipped"),
        ] {
            let told = run(&folder, &[verb, &["s", "-p", "p", "--format", format], strict].concat());
            assert!(told.contains(wanted), "{format} {told}");
        }
    }
    // Without a damaged one it is `--strict` alone that fails.
    fs::remove_file(folder.path().join("s/cut.jsonl")).unwrap();
    for (strict, exit, level, successful) in [
        (&[][..], "exit 0\n", "::notice title=rulestep::", "\"executionSuccessful\": true"),
        (&["--strict"], "exit 2\n", "::warning title=rulestep::", "\"executionSuccessful\": false"),
    ] {
        let told = |format| run(&folder, &[&["replay", "s", "-p", "p", "--format", format], strict].concat());
        assert!(told("github").starts_with(exit) && told("github").contains(level), "{}", told("github"));
        assert!(told("sarif").contains(successful), "{}", told("sarif"));
    }
}
