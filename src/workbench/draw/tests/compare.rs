//! Frames of two versions side by side, on common screen sizes.

use super::dump;
use crate::compare::Base;
use crate::workbench::message::Msg;
use crate::workbench::model::{Chosen, Model};
use crate::workbench::testing::*;

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (58, 14)];

/// As the sample contract, but any order's check is enough, and a lookup needs one too.
const BASE: &str = "\
# A refund needs an eligibility check.
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    with_output: [{path: $.eligible, equals: true}]
    description: Eligibility must be checked for the order
forbids_after: [void_order, close_account]
---
tool: lookup_order
preconditions: [{requires_prior_tool: check_eligibility}]
";

fn model(width: u16, height: u16, theme: &str) -> Model {
    let mut model = opened(width, height, theme, vec![refunds(), clean()]);
    read_all(&mut model);
    let base = Base::Version(loaded(BASE).policy.expect("a policy"));
    press(&mut model, "db");
    typed(&mut model, "git:HEAD");
    press(&mut model, "Enter");
    feed(&mut model, Msg::Base { name: "git:HEAD".to_owned(), read: Ok(base) });
    press(&mut model, "]f");
    model
}

#[test]
fn both_versions_in_every_pane() {
    for (width, height) in SIZES {
        for theme in ["mono", "harbor"] {
            let model = model(width, height, theme);
            insta::assert_snapshot!(format!("compare_{width}x{height}_{theme}"), dump(&model));
        }
    }
}

#[test]
fn each_pane_split_alone() {
    for (width, height) in SIZES {
        for pane in 3..=8 {
            let mut model = model(width, height, "mono");
            press(&mut model, &format!("{pane} z"));
            insta::assert_snapshot!(format!("compare_pane_{pane}_{width}x{height}"), screen(&model));
        }
    }
}

#[test]
fn the_texts_of_both_versions() {
    for (width, height) in SIZES {
        let mut model = model(width, height, "harbor");
        press(&mut model, "dt");
        insta::assert_snapshot!(format!("texts_{width}x{height}"), dump(&model));
    }
}

#[test]
fn asking_for_a_base_and_for_a_load() {
    let mut model = model(80, 24, "mono");
    press(&mut model, "db");
    insta::assert_snapshot!("base_80x24", screen(&model));
    press(&mut model, "Esc");
    for (at, text) in [("12:04:31", BASE), ("12:05:02", CONTRACT)] {
        feed(&mut model, Msg::Policy { loaded: Box::new(loaded(text)), at: at.to_owned() });
    }
    press(&mut model, "dl");
    insta::assert_snapshot!("loads_80x24", screen(&model));
}

#[test]
fn the_recording_as_the_base() {
    let mut model = opened(80, 24, "mono", vec![refunds(), clean()]);
    model.basis.compare.base = Some(Chosen { name: "recorded".to_owned(), base: Base::Recorded });
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(BASE)), at: "12:04:31".to_owned() });
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(CONTRACT)), at: "12:05:02".to_owned() });
    press(&mut model, "]f");
    insta::assert_snapshot!("compare_recorded_80x24", screen(&model));
}

#[test]
fn a_screen_of_two_versions_is_ascii_where_that_is_asked_for() {
    for width in [120, 60] {
        let mut model = model(width, 40, "mono");
        model.theme.glyphs = crate::workbench::theme::GlyphSet::Ascii;
        for keys in ["2", "6 z", "z 7 z", "z 8", "dt"] {
            press(&mut model, keys);
            assert!(screen(&model).is_ascii(), "{keys}: {}", screen(&model));
        }
    }
}

/// A pane shows the same about a version as when that version decides alone.
#[test]
fn the_base_shows_what_it_would_show_alone() {
    use crate::compare::Side;
    use crate::workbench::layout::Pane;
    use crate::workbench::pane::of_version;
    let mut both = model(120, 40, "mono");
    let mut alone = judged(120, 40, "mono", loaded(BASE), vec![refunds(), clean()]);
    let mut compared = 0;
    for keys in ["1 gg 2 gg", "1 G 2 gg"] {
        press(&mut both, keys);
        press(&mut alone, keys);
        for _ in 0..both.derived.rows.len() {
            for pane in [Pane::Tools, Pane::Forbidden, Pane::Preconditions, Pane::Decision] {
                let [base, alone] = [both.seen(Side::Base), alone.seen(Side::New)].map(|seen| {
                    of_version(pane, seen, 60).iter().map(|line| line.plain()).collect::<Vec<_>>()
                });
                assert!(!base.is_empty());
                assert_eq!(base, alone, "{pane:?}");
                compared += 1;
            }
            press(&mut both, "Down");
            press(&mut alone, "Down");
        }
    }
    assert!(compared > 40);
}
