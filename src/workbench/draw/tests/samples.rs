//! The panes for the other dialects: limits, deadlines, steps, recorded state, reasons by category.

use crate::workbench::testing::{press, sample, screen};

#[test]
fn counters_of_sequence_rules() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model = sample(width, height, "mono", "clinic/records.yaml", "ward.jsonl");
        press(&mut model, "J J J 5");
        insta::assert_snapshot!(format!("deadlines_{width}x{height}"), screen(&model));
    }
}

#[test]
fn counters_stand_in_the_decision_of_an_allowed_call() {
    let mut model = sample(80, 24, "mono", "clinic/records.yaml", "ward.jsonl");
    press(&mut model, "j j j 6");
    insta::assert_snapshot!("counted_80x24", screen(&model));
}

#[test]
fn limits_of_sequence_policies() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model = sample(width, height, "mono", "desk/analyst.yaml", "support-desk.jsonl");
        press(&mut model, "]s ]s ]s ]s");
        insta::assert_snapshot!(format!("limits_{width}x{height}"), screen(&model));
    }
}

#[test]
fn recorded_state_of_tool_policies() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut model =
            sample(width, height, "mono", "workspace/coding.yaml", "workspace-803-reset-and-restore.json");
        press(&mut model, "J J J 5");
        insta::assert_snapshot!(format!("recorded_{width}x{height}"), screen(&model));
    }
}

#[test]
fn findings_are_grouped_by_the_category_of_their_reason() {
    let mut model = sample(80, 24, "mono", "desk/analyst.yaml", "support-desk.jsonl");
    press(&mut model, "F");
    let mut groupings = Vec::new();
    for _ in 0..5 {
        groupings.push(
            screen(&model)
                .lines()
                .find_map(|line| line.split("Findings by ").nth(1)?.split(' ').next().map(str::to_owned)),
        );
        press(&mut model, "t");
    }
    let expected = ["session", "rule", "tool", "code", "reason"];
    assert_eq!(groupings.iter().flatten().collect::<Vec<_>>(), expected);
    press(&mut model, "t t t t");
    insta::assert_snapshot!("findings_by_reason_80x24", screen(&model));
}
