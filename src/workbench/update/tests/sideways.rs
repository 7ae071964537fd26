//! Text that is wider than its pane, or broken over two rows: nothing of it is out of reach.

use super::*;

const LONG: &str = "\
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    description: the eligibility of an order is checked before it is refunded, because whoever asks may not have bought it at all, or may have returned it long ago, THE END
";

fn long(width: u16, height: u16) -> Model {
    let mut model = judged(width, height, "mono", loaded(LONG), vec![refunds()]);
    press(&mut model, "j");
    model
}

/// The rows of a pane inside its frame.
fn inside(model: &Model, pane: Pane) -> Vec<String> {
    let inner = model.layout().inner(pane).expect("it is on screen");
    let buf = drawn(model);
    let row = |y: u16| (inner.left()..inner.right()).map(|x| buf[(x, y)].symbol()).collect();
    (inner.top()..inner.bottom()).map(row).collect()
}

fn last_line(model: &Model) -> String {
    let rows = inside(model, Pane::Policy);
    rows.into_iter().find(|row| row.contains(" 4 ")).expect("the line of the description")
}

#[test]
fn a_line_wider_than_its_pane_is_read_by_scrolling() {
    for (width, height) in [(120, 40), (80, 24), (58, 14), (40, 8)] {
        let mut model = long(width, height);
        press(&mut model, "7");
        assert!(last_line(&model).trim_end().ends_with('…'), "{}", screen(&model));
        press(&mut model, "h");
        assert_eq!(note(&model), "this is the left edge");
        press(&mut model, "l");
        let line = last_line(&model);
        assert!(line.contains(" 4 …") && !line.contains("description:"), "{line}");
        let mut seen = String::new();
        for _ in 0..20 {
            press(&mut model, "Right");
            seen.push_str(&last_line(&model));
        }
        assert!(last_line(&model).contains("THE END"), "{}", screen(&model));
        assert!(seen.contains("bought it"), "{seen}");
        assert_eq!(note(&model), "this is where the longest row ends");
        for _ in 0..20 {
            press(&mut model, "Left");
        }
        assert!(last_line(&model).contains("description: the el"), "{}", screen(&model));
    }
    let mut model = long(120, 40);
    press(&mut model, "7 l");
    insta::assert_snapshot!("sideways_120x40", screen(&model));
}

#[test]
fn every_pane_scrolls_or_says_that_nothing_is_cut() {
    for pane in Pane::ALL {
        for (width, height) in [(120, 40), (80, 24), (40, 8)] {
            let mut model = long(width, height);
            press(&mut model, &pane.number().to_string());
            let (cut, before) = (pane.is_cut(&model), inside(&model, pane));
            let edge = |row: &String| row.ends_with('…');
            assert!(cut || !before.iter().any(edge), "{pane:?} {width}: {before:#?}");
            press(&mut model, "l");
            assert_eq!(note(&model).is_empty(), cut, "{pane:?} {width}: {}", note(&model));
            assert_eq!(model.out(pane) > 0, cut, "{pane:?} {width}");
            press(&mut model, "h");
            assert_eq!(inside(&model, pane), before, "{pane:?} {width}");
        }
    }
}

#[test]
fn arguments_are_gone_through_from_end_to_end() {
    let mut made = refunding();
    let note = (0..60).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    made.call(
        None,
        "issue_refund",
        Body::text(format!(r#"{{"note": "{note}", "order_id": "ORD-9"}}"#)),
        None,
    );
    let mut model = opened(80, 24, "mono", vec![made.finish()]);
    press(&mut model, "G");
    let mut seen = String::new();
    for _ in 0..40 {
        seen.push_str(&inside(&model, Pane::Transcript).join(" "));
        press(&mut model, "l");
    }
    for n in 0..60 {
        assert!(seen.contains(&format!("word{n}")), "word{n}");
    }
    let rows = inside(&model, Pane::Transcript);
    assert!(rows.iter().any(|row| row.contains("✗")), "the verdict stays: {rows:#?}");
}

#[test]
fn other_content_begins_at_the_left_edge() {
    let scrolled = |keys: &str| {
        let mut model = long(120, 40);
        press(&mut model, "7 l");
        assert!(model.out(Pane::Policy) > 0);
        press(&mut model, keys);
        model.out(Pane::Policy)
    };
    assert!(scrolled("j") > 0, "the cursor makes no difference");
    assert_eq!(scrolled("z"), 0, "the pane has another width");
    let mut model = long(120, 40);
    press(&mut model, "7 l");
    let edited = LONG.replace("THE END", "another end");
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&edited)), at: "12:05:00".to_owned() });
    assert_eq!(model.out(Pane::Policy), 0);
    let mut model = opened(40, 8, "mono", vec![refunds(), clean()]);
    press(&mut model, "2 j l");
    assert!(model.out(Pane::Transcript) > 0);
    press(&mut model, "j");
    assert!(model.out(Pane::Transcript) > 0, "{}", screen(&model));
    press(&mut model, "}");
    assert_eq!(model.out(Pane::Transcript), 0);
}

#[test]
fn what_is_found_beyond_the_edge_is_brought_into_view() {
    for (width, height) in [(120, 40), (58, 14), (40, 8)] {
        let mut model = long(width, height);
        press(&mut model, "7 gg /");
        typed(&mut model, "the end");
        press(&mut model, "Enter");
        assert!(last_line(&model).contains("THE END"), "{}", screen(&model));
        press(&mut model, "/");
        typed(&mut model, "requires");
        press(&mut model, "Enter");
        assert!(screen(&model).contains("- requires_prior_tool"), "{}", screen(&model));
    }
}

/// A body of one long line, in which this is at every place of the line once.
fn body(width: u16, before: usize) -> Model {
    let text = format!("{}needle found{}", "x".repeat(before), " y".repeat(300));
    let mut made = refunding();
    made.said("user", Body::text(text), None);
    let mut model = opened(width, 24, "mono", vec![made.finish()]);
    press(&mut model, "G b");
    model
}

/// The text of the screen that is drawn in reverse or in bold inside the frame: with the theme `mono`, what was found.
fn marked(model: &Model) -> String {
    use ratatui::style::Modifier;
    let inner = crate::workbench::layout::shrink(model.layout().overlay);
    let buf = drawn(model);
    let found = model.theme.style(crate::workbench::theme::Role::MatchCurrent).add_modifier;
    let cells =
        (inner.top()..inner.bottom()).flat_map(|y| (inner.left()..inner.right()).map(move |x| (x, y)));
    let plain = model.theme.style(crate::workbench::theme::Role::Cursor).add_modifier;
    let other = model.theme.style(crate::workbench::theme::Role::Match).add_modifier;
    let marks = |style: Modifier| {
        let all = style.contains(found) && !found.is_empty();
        all || (style.contains(other) && !other.difference(plain).is_empty())
    };
    cells.filter(|at| marks(buf[*at].modifier)).map(|at| buf[at].symbol()).collect()
}

#[test]
fn what_is_found_is_marked_across_the_rows_it_is_broken_over() {
    for width in [40, 57, 80] {
        let row = usize::from(width);
        for before in (row - 22..row + 2).step_by(2).chain([0]).chain(188..203) {
            let mut model = body(width, before);
            press(&mut model, "/");
            typed(&mut model, "NEEDLE found");
            press(&mut model, "Enter");
            let marked = marked(&model);
            assert_eq!(marked.replace(' ', ""), "needlefound", "{width} {before}\n{}", screen(&model));
            press(&mut model, "gg n");
            assert!(note(&model).starts_with("1 of 1"), "{}", note(&model));
        }
    }
    let mut model = body(80, 72);
    press(&mut model, "/");
    typed(&mut model, "needle found");
    press(&mut model, "Enter");
    insta::assert_snapshot!("found_across_rows_80x24", screen(&model));
}

#[test]
fn a_long_place_is_found_and_seen_whole_where_there_is_room() {
    let mut model = body(80, 190);
    let wanted = format!("needle found{}", " y".repeat(200));
    press(&mut model, "/");
    typed(&mut model, &wanted);
    press(&mut model, "Enter");
    assert!(note(&model).starts_with("1 of 1"), "{}", note(&model));
    assert_eq!(marked(&model).replace(' ', ""), wanted.replace(' ', ""), "{}", screen(&model));
}

/// A session and two loads of a policy in which everything is long: a name of a file, arguments, a rule, a line of YAML.
fn wide(width: u16, height: u16) -> Model {
    let mut made = refunding();
    let note: String = (0..60).map(|n| format!("word{n} ")).collect();
    made.call(
        None,
        "issue_refund",
        Body::text(format!(r#"{{"order_id": "ORD-9", "note": "{note}"}}"#)),
        None,
    );
    let long = format!("{LONG}    resource: {{bind_from: arguments, path: $.order_id}}\n");
    let edited = long.replace("been returned", "come back").replace("THE END", "THE OTHER END");
    let mut model = judged(width, height, "mono", loaded(&long), vec![made.finish()]);
    feed(&mut model, Msg::Policy { loaded: Box::new(loaded(&edited)), at: "12:05:00".to_owned() });
    read_all(&mut model);
    with_cases(&mut model, &[("a-case-of-a-long-name-in-a-long-folder", "nothing: {that: is a case}\n")]);
    press(&mut model, "dl ]f");
    model
}

/// The rows of the topmost overlay inside its frame.
fn over(model: &Model) -> Vec<String> {
    let inner = crate::workbench::layout::shrink(model.layout().overlay);
    let buf = drawn(model);
    let row = |y: u16| (inner.left()..inner.right()).map(|x| buf[(x, y)].symbol()).collect();
    (inner.top()..inner.bottom()).map(row).collect()
}

#[test]
fn every_popup_shows_the_whole_of_its_rows() {
    // The ends of what is long, where the popup shows it.
    let overlays: [(&str, &[&str]); 10] = [
        ("F", &["word59", "bought it"]),
        ("F t", &["word59"]),
        ("O", &["bought it"]),
        ("I", &[]),
        ("C", &[]),
        ("!", &[]),
        ("dt", &["THE END", "THE OTHER END", "description:"]),
        ("?", &[]),
        ("7 K", &["Example"]),
        ("G T $ . n o t e Enter", &["word59"]),
    ];
    for (width, height) in [(200, 60), (120, 40), (80, 24), (58, 14), (40, 8)] {
        for (keys, ends) in overlays {
            let mut model = wide(width, height);
            press(&mut model, keys);
            assert!(!model.dialog.overlays.is_empty(), "{keys}: {}", note(&model));
            let len = model.dialog.popup().unwrap().len(&model);
            let before = over(&model);
            let mut seen: Vec<String> = Vec::new();
            let mut steps = 0;
            for row in 0..len.min(60) {
                press(&mut model, &"Left ".repeat(steps));
                steps = 0;
                if row > 0 {
                    press(&mut model, "Down");
                }
                seen.extend(over(&model));
                while note(&model).is_empty() && steps < 60 {
                    press(&mut model, "Right");
                    steps += 1;
                    seen.extend(over(&model));
                }
                assert!(steps < 60, "{keys} {width}: {}", screen(&model));
                let rows = over(&model);
                assert!(!rows.iter().any(|row| row.ends_with('…')), "{keys} {width}: {rows:#?}");
                steps = steps.saturating_sub(1);
                press(&mut model, "Ctrl-l");
                model.dialog.note = None;
            }
            for end in ends {
                assert!(
                    seen.iter().any(|row| row.contains(end)),
                    "{keys} {width}: {end}\n{seen:#?}\n{}",
                    screen(&model)
                );
            }
            press(&mut model, "g g");
            press(&mut model, &"Left ".repeat(70));
            assert_eq!(over(&model), before, "{keys} {width}");
            assert_eq!(note(&model), "this is the left edge");
        }
    }
}

#[test]
fn a_popup_begins_at_its_left_edge() {
    let mut model = wide(80, 24);
    press(&mut model, "F l");
    assert!(model.scrolled() > 0 && model.dialog.out() > 0);
    press(&mut model, "?");
    assert_eq!(model.scrolled(), 0, "it lies over the one that is scrolled");
    press(&mut model, "q");
    assert!(model.scrolled() > 0, "the same rows at the same place");
    press(&mut model, "q F");
    assert_eq!(model.scrolled(), 0, "it is opened again");
}
