//! What people see of a diagnostic.

use insta::assert_snapshot;
use rulestep::report::diagnostic::{Style, json as as_json, text};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::source::{Field, Source, Span, parse};
use serde_json::json;

/// All problems of a contract-like document, drawn.
fn drawn(source: &Source) -> String {
    let parsed = parse(source);
    let mut problems = parsed.problems;
    if let Some(document) = parsed.documents.first()
        && let Some(mut fields) = Field::document(document).fields(&mut problems)
    {
        fields.required("tool", &mut problems).and_then(|tool| tool.text(&mut problems));
        fields.list("preconditions", &mut problems, |item, out| {
            let mut item = item.fields(out)?;
            item.text("requires_prior_tool", out);
            item.mapping("resource", out);
            item.finish(out);
            Some(())
        });
        fields.list("forbids_after", &mut problems, |item, out| item.text(out));
        fields.finish(&mut problems);
    }
    let drawn = problems
        .into_iter()
        .map(|problem| text(&Diagnostic::from_problem(problem, source), Style::default()));
    drawn.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn problems_of_a_contract() {
    let source = Source::new(
        "contracts/issue_refund.yaml",
        "tool: 404\npreconditions:\n  - requires_prior_tool: check\n    resuorce: {path: $.id}\n  - \
         requires_prior_tool: true\nforbids_after: void_order\ntool: x\n",
    );
    assert_snapshot!(drawn(&source), @r#"
    error[duplicate_key]: the key `tool` is given twice
     --> contracts/issue_refund.yaml:7:1
      |
    1 | tool: 404
      | ---- given here first
    ...
    7 | tool: x
      | ^^^^

    error[wrong_type]: expected text for `tool`, found a number
     --> contracts/issue_refund.yaml:1:7
      |
    1 | tool: 404
      |       ^^^
      |
      = help: write it in quotes if it is meant as text

    error[unknown_key]: unknown key `resuorce`, did you mean `resource`?
     --> contracts/issue_refund.yaml:4:5
      |
    4 |     resuorce: {path: $.id}
      |     ^^^^^^^^
      |
      = help: known here: `requires_prior_tool`, `resource`

    error[wrong_type]: expected text for `requires_prior_tool`, found a boolean
     --> contracts/issue_refund.yaml:5:26
      |
    5 |   - requires_prior_tool: true
      |                          ^^^^
      |
      = help: write it in quotes if it is meant as text

    error[wrong_type]: expected a list for `forbids_after`, found text
     --> contracts/issue_refund.yaml:6:16
      |
    6 | forbids_after: void_order
      |                ^^^^^^^^^^
    "#);
}

#[test]
fn syntax_errors() {
    let unclosed = Source::new("a.yaml", "tool: deploy\nforbids_after: [deploy,\n");
    let tab = Source::new("b.yaml", "tool: deploy\npreconditions:\n\t- requires_prior_tool: x\n");
    let json = Source::new("c.json", "{\n  \"tool\": \"deploy\",\n}\n");
    let all: Vec<String> = [unclosed, tab, json]
        .iter()
        .flat_map(|source| {
            parse(source).problems.into_iter().map(|problem| Diagnostic::from_problem(problem, source))
        })
        .map(|diagnostic| text(&diagnostic, Style::default()))
        .collect();
    assert_snapshot!(all.join("\n\n"), @r#"
    error[syntax]: `[` is not closed
     --> a.yaml:2:16
      |
    2 | forbids_after: [deploy,
      |                ^

    error[syntax]: a tab is used for indentation
     --> b.yaml:3:1
      |
    3 |     - requires_prior_tool: x
      | ^^^^
      |
      = help: indent with spaces

    error[syntax]: a comma is not allowed before the closing bracket
     --> c.json:2:19
      |
    2 |   "tool": "deploy",
      |                   ^
      |
      = help: JSON has no comma there: take it out
    "#);
}

#[test]
fn two_files_and_a_long_block() {
    let first = Source::new("a/refund.yaml", "# one\ntool: refund\npreconditions: []\n");
    let second = Source::new("b/refund.yaml", "tool: refund\na: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
    let diagnostic = Diagnostic::error(code::DUPLICATE_CONTRACT, "two contracts for the tool `refund`")
        .at(&second, Span::new(0, second.text().len()))
        .label("the second")
        .related(&first, Span::new(12, 18), "the first")
        .help("merge them");
    assert_snapshot!(text(&diagnostic, Style::default()), @r#"
    error[duplicate_contract]: two contracts for the tool `refund`
     --> b/refund.yaml:1:1
      |
    1 | tool: refund
      | ^^^^^^^^^^^^ the second
      |
     ::: a/refund.yaml:2:7
      |
    2 | tool: refund
      |       ------ the first
      |
      = help: merge them
    "#);
}

#[test]
fn places_without_text() {
    let line =
        Diagnostic::warning(code::DAMAGED_LINE, "not JSON: expected `,` or `}`").on_line("log.jsonl", 31);
    let file = Diagnostic::error(code::MISSING_FILE, "no such file or folder").in_file("contrcts");
    let none = Diagnostic::notice(code::NO_ERRORS_MARKED, "no result is marked as failed")
        .help("see `--error-regex`");
    let all = [line, file, none].map(|diagnostic| text(&diagnostic, Style::default()));
    assert_snapshot!(all.join("\n\n"), @r#"
    warning[damaged_line]: not JSON: expected `,` or `}`
    --> log.jsonl:31

    error[missing_file]: no such file or folder
    --> contrcts

    notice[no_errors_marked]: no result is marked as failed
     |
     = help: see `--error-regex`
    "#);
}

#[test]
fn hostile_text_is_marked_and_breaks_no_line() {
    let source = Source::new("e\u{1b}[31mvil\n.yaml", "a: \"\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}z\"\n");
    let diagnostic = Diagnostic::error(code::BAD_VALUE, "bad `\u{1b}[2J\n\u{9b}error: fake`")
        .at(&source, Span::new(3, source.text().len() - 1))
        .label("x\ny\u{8}")
        .help("h\r\n\u{1b}c");
    let drawn = text(&diagnostic, Style::default());
    assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
    assert_snapshot!(drawn, @r#"
    error[bad_value]: bad `␛[2J␊¿error: fake`
     --> e␛[31mvil␊.yaml:1:4
      |
    1 | a: "␛]0;x␇¿31m��z"
      |    ^^^^^^^^^^^^^^^ x␊y␈
      |
      = help: h␍␊␛c
    "#);
    let coloured = text(&diagnostic, Style { color: true, width: 80 });
    let sequences = coloured.matches('\u{1b}').count();
    assert_eq!(coloured.matches("\u{1b}[").count(), sequences);
    assert!(!coloured.contains("\u{1b}[2J") && !coloured.contains("\u{1b}]"));
}

#[test]
fn as_json_objects() {
    let source = Source::new("a.yaml", "é: 1\né: 2\n");
    let problem = parse(&source).problems.remove(0);
    assert_eq!(
        as_json(&Diagnostic::from_problem(problem, &source)),
        json!({
            "code": "duplicate_key", "severity": "error", "message": "the key `é` is given twice", "help": null,
            "source": {"file": "a.yaml", "line": 2, "column": 1, "end_line": 2, "end_column": 2},
            "related": [{"file": "a.yaml", "line": 1, "column": 1, "end_line": 1, "end_column": 2,
                         "message": "given here first"}],
        })
    );
    let line = Diagnostic::new(code::DAMAGED_LINE, Severity::Warning, "m").on_line("l.jsonl", 3);
    assert_eq!(
        as_json(&line)["source"],
        json!({"file": "l.jsonl", "line": 3, "column": null, "end_line": null, "end_column": null})
    );
}

#[test]
fn colours_change_nothing_else() {
    let source = Source::new("a.yaml", "tol: x\n");
    let problem = parse(&source).documents;
    assert_eq!(problem.len(), 1);
    let diagnostic = Diagnostic::warning(code::UNKNOWN_KEY, "unknown key `tol`").at(&source, Span::new(0, 3));
    let coloured = text(&diagnostic, Style { color: true, ..Style::default() });
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_ne!(coloured, plain);
    assert_eq!(plain, text(&diagnostic, Style::default()));
}

#[test]
fn labels_far_apart_are_drawn_by_themselves() {
    let text = format!("tool: a\n{}tool: b\n", "# …\n".repeat(100));
    let source = Source::new("far.yaml", &*text);
    assert_snapshot!(drawn(&source), @r"
    error[duplicate_key]: the key `tool` is given twice
       --> far.yaml:102:1
        |
    102 | tool: b
        | ^^^^
        |
       ::: far.yaml:1:1
        |
      1 | tool: a
        | ---- given here first
    ");
}
